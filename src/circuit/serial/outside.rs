//! What is at the other side of the pads: words that enter, and words that leave.

use super::cells::Side;
use super::netlist::Pads;
use super::ports::Pins;
use super::step::Wire;
use crate::circuit::Bits;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The words that enter each port, by the port's name. All of them wait from the start.
pub type Stimuli = BTreeMap<Arc<str>, Vec<Bits>>;

/// The other side of a port. It reacts in the cycle after it sees a pad.
#[derive(Debug)]
pub(super) struct Outside {
    side: Side,
    width: u32,
    /// Words that are yet to enter.
    words: VecDeque<Bits>,
    /// The word that enters, and its bits that have not.
    entering: Bits,
    left: u32,
    /// The word that leaves, and its bits that have.
    leaving: Bits,
    count: u32,
    /// What the chip sees.
    pub pins: Pins,
    /// Whether it has no word that may be taken at any time, as the chip expects it.
    pub starved: bool,
}

impl Outside {
    /// The other side of `pads`, with words that enter.
    pub fn new(pads: &Pads, words: &[Bits]) -> Self {
        let words: VecDeque<Bits> = words.iter().cloned().collect();
        let zero = || Bits::zero(pads.width);
        let mut outside = Self {
            side: pads.side,
            width: pads.width,
            words,
            entering: zero(),
            left: 0,
            leaving: zero(),
            count: 0,
            pins: Pins::default(),
            starved: false,
        };
        outside.show();
        outside
    }

    /// The levels that the chip sees.
    fn show(&mut self) {
        match self.side {
            Side::SerialIn | Side::SyncIn => self.pins.ready = !self.words.is_empty(),
            Side::Parallel => self.pins.bits = self.words.front().cloned(),
            Side::SerialOut | Side::SyncOut | Side::Internal => self.pins.ready = true,
        }
    }

    /// One cycle: takes what the chip drives, returns a word that has left.
    pub fn step(&mut self, driven: &Pins) -> Option<Bits> {
        let word = match self.side {
            Side::SerialIn | Side::SyncIn => {
                self.starved |= self.side == Side::SyncIn && driven.take && self.words.is_empty();
                if driven.take
                    && let Some(word) = self.words.pop_front()
                {
                    (self.entering, self.left) = (word, self.width);
                }
                let index = self.width - self.left;
                self.pins.word = Wire::bit(self.left > 0, self.left > 0 && self.entering.get(index));
                self.left = self.left.saturating_sub(1);
                None
            }
            Side::Parallel => {
                if driven.take {
                    self.words.pop_front();
                }
                self.starved |= self.words.is_empty();
                driven.bits.clone()
            }
            Side::SerialOut | Side::SyncOut | Side::Internal => self.collect(driven.word),
        };
        self.show();
        word
    }

    /// One bit that leaves; the word, after its last bit.
    fn collect(&mut self, wire: Wire) -> Option<Bits> {
        if wire.control {
            if wire.data {
                self.leaving = Bits::bit(true).concat(&self.leaving, self.count, self.width);
            }
            self.count += 1;
            return None;
        }
        if self.count == 0 {
            return None;
        }
        self.count = 0;
        Some(std::mem::replace(&mut self.leaving, Bits::zero(self.width)))
    }

    /// Whether a word passes the pads.
    pub fn active(&self, driven: &Pins) -> bool {
        self.left > 0 || self.count > 0 || driven.take || driven.word.control || driven.bits.is_some()
    }
}
