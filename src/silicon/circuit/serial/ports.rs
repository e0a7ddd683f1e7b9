//! The work of the cells of ports in one cycle, and the pads that the other side sees.

use super::cells::Side;
use super::step::{Fault, Wire};
use shadewright_base::bits::Bits;
use std::collections::VecDeque;

/// The pads of a port in one cycle; a port uses those that its side needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// Serial: the word that passes.
    pub word: Wire,
    /// In: the other side has a word. Out: it accepts one.
    pub ready: bool,
    /// Parallel: the bits, when they are sampled or driven.
    pub bits: Option<Bits>,
    /// In: the chip takes a word.
    pub take: bool,
}

/// A register that takes a word bit by bit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Receiver {
    bits: Bits,
    count: u32,
    width: u32,
}

impl Receiver {
    fn new(width: u32) -> Self {
        Self { bits: Bits::zero(width), count: 0, width }
    }

    fn full(&self) -> bool {
        self.count == self.width
    }

    fn take(&mut self, wire: Wire) {
        if !wire.control {
            return;
        }
        if wire.data {
            self.bits = Bits::bit(true).concat(&self.bits, self.count, self.width);
        }
        self.count += 1;
    }

    /// The word, and room for the next one.
    fn empty(&mut self) -> Bits {
        self.count = 0;
        std::mem::replace(&mut self.bits, Bits::zero(self.width))
    }
}

/// A register that gives a word bit by bit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sender {
    bits: Bits,
    left: u32,
    width: u32,
    giving: bool,
}

impl Sender {
    fn new(width: u32) -> Self {
        Self { bits: Bits::zero(width), left: 0, width, giving: false }
    }

    /// True if a word may begin: a cycle lies between two of them.
    fn idle(&self) -> bool {
        self.left == 0 && !self.giving
    }

    fn load(&mut self, word: Bits) {
        (self.bits, self.left) = (word, self.width);
    }

    fn give(&mut self) -> Wire {
        self.giving = self.left > 0;
        let bit = Wire::bit(self.giving, self.giving && self.bits.get(self.width - self.left));
        self.left = self.left.saturating_sub(1);
        bit
    }
}

/// The registers of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortState {
    receiver: Receiver,
    words: VecDeque<Bits>,
    sender: Sender,
    asked: bool,
}

impl PortState {
    /// True if a parallel port samples its pads in this cycle.
    pub fn samples(&self) -> bool {
        self.asked && self.sender.idle()
    }

    /// The registers after the reset.
    pub fn new(width: u32) -> Self {
        Self { receiver: Receiver::new(width), words: VecDeque::new(), sender: Sender::new(width), asked: false }
    }
}

/// The sizes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The other end of the port.
    pub side: Side,
    /// Words of room.
    pub buffer: u32,
}

/// The one of several nets that carries a word.
fn one(wires: &[Wire]) -> Result<Wire, Fault> {
    if wires.iter().filter(|wire| wire.control).count() > 1 {
        return Err(Fault::Collision);
    }
    Ok(wires.iter().copied().find(|wire| wire.control).unwrap_or_default())
}

/// One cycle of a port: takes the wires of its inputs and the pads that the other side drives, and
/// gives its outputs and the pads that it drives.
///
/// # Errors
/// Two words at a time, or one before the port was done with the last one.
pub fn step(
    size: Size,
    state: &mut PortState,
    puts: &[Wire],
    requests: &[Wire],
    outside: &Pins,
    outputs: &mut [Wire],
) -> Result<Pins, Fault> {
    let input = one(puts)?;
    let request = requests.iter().any(|wire| wire.control);
    match size.side {
        Side::SerialIn | Side::SyncIn => {
            outputs[0] = outside.word;
            outputs[2] = Wire::level(outside.ready);
            Ok(Pins { take: request, ..Pins::default() })
        }
        Side::SyncOut => {
            outputs[0] = input;
            Ok(Pins { word: input, ..Pins::default() })
        }
        Side::Parallel => parallel(state, input, request, outside, outputs),
        Side::Internal | Side::SerialOut => channel(size, state, input, request, outside, outputs),
    }
}

/// A channel: words wait until they are asked for.
fn channel(
    size: Size,
    state: &mut PortState,
    input: Wire,
    request: bool,
    outside: &Pins,
    outputs: &mut [Wire],
) -> Result<Pins, Fault> {
    let full = state.receiver.full();
    if full && input.control {
        return Err(Fault::Collision);
    }
    let room = size.buffer as usize;
    let there = if room > 0 { !state.words.is_empty() } else { full };
    let load = state.asked && there && state.sender.idle();
    let push = room > 0 && full && state.words.len() < room;
    if load && let Some(word) = state.words.pop_front() {
        state.sender.load(word);
    }
    let leave = push || (load && room == 0);
    if push {
        let word = state.receiver.empty();
        state.words.push_back(word);
    } else if leave {
        let word = state.receiver.empty();
        state.sender.load(word);
    } else {
        state.receiver.take(input);
    }
    state.asked = if size.side == Side::SerialOut { outside.ready } else { (state.asked && !load) || request };
    outputs[0] = state.sender.give();
    outputs[1] = Wire::level(leave);
    outputs[2] = Wire::level(state.receiver.full() || !state.words.is_empty());
    outputs[3] = Wire::level(state.asked);
    Ok(Pins { word: outputs[0], ..Pins::default() })
}

/// Parallel pads: a request samples them, a word drives them.
fn parallel(
    state: &mut PortState,
    input: Wire,
    request: bool,
    outside: &Pins,
    outputs: &mut [Wire],
) -> Result<Pins, Fault> {
    let full = state.receiver.full();
    if full && input.control {
        return Err(Fault::Collision);
    }
    let sampled = outside.bits.as_ref().filter(|_| state.samples());
    let load = sampled.is_some();
    if let Some(word) = sampled {
        state.sender.load(word.clone());
    }
    let bits = full.then(|| state.receiver.empty());
    state.receiver.take(input);
    state.asked = (state.asked && !load) || request;
    outputs[0] = state.sender.give();
    outputs[1] = Wire::level(full);
    Ok(Pins { take: load, bits, ..Pins::default() })
}

/// A memory, with a receiver of addresses and a sender of words for each port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryState {
    words: Vec<Bits>,
    ports: Vec<MemoryPort>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct MemoryPort {
    fetch: Receiver,
    store: Receiver,
    word: Receiver,
    sender: Sender,
}

impl MemoryState {
    /// The memory after the reset.
    pub fn new(words: &[Bits], width: u32, address: u32, ports: usize) -> Self {
        let port = MemoryPort {
            fetch: Receiver::new(address),
            store: Receiver::new(address),
            word: Receiver::new(width),
            sender: Sender::new(width),
        };
        Self { words: words.to_vec(), ports: vec![port; ports] }
    }
}

/// One cycle of a memory whose ports have as many fetches and stores as `ports` states.
///
/// # Errors
/// Two words at a time for one register.
pub fn memory(
    state: &mut MemoryState,
    ports: &[(u32, u32)],
    mut inputs: &[Wire],
    outputs: &mut [Wire],
) -> Result<(), Fault> {
    // What a port fetches is what the memory held before this cycle's stores.
    let mut stored = Vec::new();
    for ((port, &(fetches, stores)), output) in state.ports.iter_mut().zip(ports).zip(outputs) {
        let (addresses, rest) = inputs.split_at(fetches as usize);
        let (written, rest) = rest.split_at(2 * stores as usize);
        inputs = rest;
        let (at, words): (Vec<Wire>, Vec<Wire>) = written.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
        if port.fetch.full() {
            let address = port.fetch.empty().to_u128().and_then(|address| usize::try_from(address).ok());
            let word = address.and_then(|address| state.words.get(address)).cloned();
            port.sender.load(word.unwrap_or(Bits::zero(port.word.width)));
        }
        port.fetch.take(one(addresses)?);
        if port.store.full() && port.word.full() {
            let address = port.store.empty().to_u128().and_then(|address| usize::try_from(address).ok());
            let word = port.word.empty();
            stored.extend(address.map(|address| (address, word)));
        }
        port.store.take(one(&at)?);
        port.word.take(one(&words)?);
        *output = port.sender.give();
    }
    for (address, word) in stored {
        if let Some(place) = state.words.get_mut(address) {
            *place = word;
        }
    }
    Ok(())
}
