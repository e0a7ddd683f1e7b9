//! What the cells of ports do in one cycle, and what is at the other side of the pads.

use super::cells::{Bits, Side};
use super::step::{Fault, Wire};
use std::collections::VecDeque;

/// The pads of a port in one cycle; a port uses those that its side needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// Serial: the word that passes.
    pub word: Wire,
    /// In: the other side has a word. Out: it accepts one.
    pub ready: bool,
    /// Parallel: the bits.
    pub bits: Bits,
    /// In: the chip takes a word.
    pub take: bool,
    /// Parallel, out: the bits are new.
    pub strobe: bool,
}

/// The registers of a port.
#[derive(Clone, Debug, Default)]
pub struct PortState {
    taken: Bits,
    count: u32,
    words: VecDeque<Bits>,
    given: Bits,
    left: u32,
    giving: bool,
    asked: bool,
    strobe: bool,
}

/// The sizes of a port.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// What is outside.
    pub side: Side,
    /// Bits of a word.
    pub width: u32,
    /// Words of room.
    pub buffer: u32,
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
    outside: Pins,
    outputs: &mut [Wire],
) -> Result<Pins, Fault> {
    if puts.iter().filter(|wire| wire.control).count() > 1 {
        return Err(Fault::Collision);
    }
    let input = puts.iter().copied().find(|wire| wire.control).unwrap_or_default();
    let request = requests.iter().any(|wire| wire.control);
    if size.side == Side::SerialIn {
        outputs[0] = outside.word;
        outputs[2] = Wire::level(outside.ready);
        return Ok(Pins { take: request, ..Pins::default() });
    }
    let parallel = matches!(size.side, Side::ParallelIn | Side::ParallelOut | Side::Parallel);
    let full = state.count == size.width;
    if full && input.control {
        return Err(Fault::Collision);
    }
    let room = size.buffer as usize;
    let there = if parallel {
        outside.ready
    } else if room > 0 {
        !state.words.is_empty()
    } else {
        full
    };
    let load = state.asked && there && state.left == 0 && !state.giving;
    let push = !parallel && room > 0 && full && state.words.len() < room;
    let leave = if parallel { full } else { push || (load && room == 0) };
    if load {
        let kept = if parallel { Some(outside.bits) } else { state.words.pop_front() };
        state.given = kept.unwrap_or(state.taken);
        state.left = size.width;
    }
    if push {
        state.words.push_back(state.taken);
    }
    state.strobe = parallel && full;
    let driven = state.taken;
    if leave {
        state.count = 0;
    } else if input.control {
        if state.count == 0 {
            state.taken = 0;
        }
        state.taken |= Bits::from(input.data) << state.count;
        state.count += 1;
    }
    state.giving = state.left > 0;
    outputs[0] = Wire::bit(state.giving, state.given & 1 == 1);
    state.given >>= 1;
    state.left = state.left.saturating_sub(1);
    state.asked = if size.side == Side::SerialOut { outside.ready } else { (state.asked && !load) || request };
    outputs[1] = Wire::level(leave);
    let available = if parallel { outside.ready } else { state.count == size.width || !state.words.is_empty() };
    outputs[2] = Wire::level(available);
    outputs[3] = Wire::level(state.asked);
    Ok(Pins { word: outputs[0], take: parallel && load, strobe: state.strobe, bits: driven, ready: false })
}
