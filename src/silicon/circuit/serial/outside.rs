//! The other side of the pads: the environment of a simulation, bit by bit.

use super::cells::Side;
use super::netlist::Pads;
use super::ports::Pins;
use super::step::Wire;
use crate::circuit::functional::Environment;
use shadewright_base::bits::Bits;
use shadewright_base::bits::storage;

/// Flags, words, counters and pins of an [`Outside`].
pub(super) type OutsideState = (bool, Bits, u32, Bits, u32, Option<Bits>, Pins, bool);

/// The other side of a port. It reacts in the cycle after it sees a pad.
#[derive(Debug)]
pub(super) struct Outside {
    pads: Pads,
    /// True if the chip has asked for a word that has not come.
    asked: bool,
    /// The word that enters, and its bits that have not.
    entering: Bits,
    left: u32,
    /// The word that leaves, and its bits that have.
    leaving: Bits,
    count: u32,
    /// A word that has left, and that the environment does not accept yet.
    kept: Option<Bits>,
    /// The pads as the chip sees them.
    pub pins: Pins,
    /// True if a word did not come when the chip expects it: at a port without a handshake.
    pub starved: bool,
    /// The words that have entered, in order, while there was room.
    pub entered: Vec<Bits>,
    /// Bits of words for which there is room in `entered`.
    room: u64,
    /// The words that have left, in order, with the cycle.
    pub left_words: Vec<(u64, Bits)>,
}

impl Outside {
    /// The other side of `pads`, which notes so many bits of the words that enter.
    pub fn new(pads: &Pads, room: u64, environment: &mut dyn Environment) -> Self {
        let zero = || Bits::zero(pads.width);
        let mut outside = Self {
            pads: pads.clone(),
            asked: false,
            entering: zero(),
            left: 0,
            leaving: zero(),
            count: 0,
            kept: None,
            pins: Pins::default(),
            starved: false,
            entered: Vec::new(),
            room,
            left_words: Vec::new(),
        };
        outside.show(environment, 0);
        outside
    }

    /// The state that decides how it goes on, without the words of the environment.
    pub fn state(&self) -> OutsideState {
        let Self { asked, entering, left, leaving, count, kept, pins, starved, .. } = self;
        (*asked, entering.clone(), *left, leaving.clone(), *count, kept.clone(), pins.clone(), *starved)
    }

    /// The levels that the chip sees in a cycle.
    fn show(&mut self, environment: &mut dyn Environment, cycle: u64) {
        self.pins.ready = match self.pads.side {
            Side::SerialIn | Side::SyncIn => environment.ready(self.pads.port, cycle),
            _ => self.kept.is_none() && environment.waiting(self.pads.port, cycle),
        };
    }

    /// Lets a parallel port sample its pads.
    pub fn sample(&mut self, environment: &mut dyn Environment, cycle: u64) {
        self.pins.bits = environment.get(self.pads.port, cycle);
        self.starved = self.pins.bits.is_none();
        if let Some(word) = self.pins.bits.clone() {
            self.note(word);
        }
    }

    /// Notes a word that has entered.
    fn note(&mut self, word: Bits) {
        if let Some(room) = self.room.checked_sub(storage(self.pads.width)) {
            self.room = room;
            self.entered.push(word);
        }
    }

    /// One cycle, in which the chip drives these pads. Whether a word passes.
    pub fn step(&mut self, driven: &Pins, environment: &mut dyn Environment, cycle: u64) -> bool {
        let mut active = driven.take || driven.word.control || driven.bits.is_some();
        match self.pads.side {
            Side::SerialIn | Side::SyncIn => {
                self.asked |= driven.take;
                if self.asked
                    && let Some(word) = environment.get(self.pads.port, cycle)
                {
                    (self.entering, self.left, self.asked) = (word.clone(), self.pads.width, false);
                    self.note(word);
                }
                self.starved = self.asked && self.pads.side == Side::SyncIn;
                active |= self.left > 0;
                let index = self.pads.width - self.left;
                self.pins.word = Wire::bit(self.left > 0, self.left > 0 && self.entering.get(index));
                self.left = self.left.saturating_sub(1);
            }
            Side::Parallel => {
                self.pins.bits = None;
                self.kept = driven.bits.clone().or(self.kept.take());
            }
            Side::SerialOut | Side::SyncOut | Side::Internal => self.collect(driven.word),
        }
        if let Some(word) = self.kept.take() {
            active = true;
            if environment.put(self.pads.port, &word, cycle) {
                self.left_words.push((cycle, word));
            } else {
                self.kept = Some(word);
            }
        }
        self.show(environment, cycle + 1);
        active
    }

    /// One bit that leaves; the word is kept after its last bit.
    fn collect(&mut self, wire: Wire) {
        if wire.control {
            if wire.data {
                self.leaving = Bits::bit(true).concat(&self.leaving, self.count, self.pads.width);
            }
            self.count += 1;
        } else if self.count > 0 {
            self.count = 0;
            self.kept = Some(std::mem::replace(&mut self.leaving, Bits::zero(self.pads.width)));
        }
    }
}
