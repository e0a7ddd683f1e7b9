//! What the cells do in one cycle.
//!
//! [`step`] takes the wires at a cell's inputs and computes its registers and the wires at its
//! outputs in the next cycle. The Verilog modules of [`crate::circuit::verilog`] do the same in the
//! same cycles.

use super::cells::{Bits, Gate, Kind, Pattern, Relation, Sum};
use std::collections::VecDeque;

/// The wires of a net in one cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wire {
    /// The data wire.
    pub data: bool,
    /// The control wire.
    pub control: bool,
}

impl Wire {
    /// A control wire alone.
    pub fn level(control: bool) -> Self {
        Self { data: false, control }
    }

    /// A bit of a word if `control`, otherwise nothing.
    pub fn bit(control: bool, data: bool) -> Self {
        Self { data: data && control, control }
    }
}

/// The registers of a cell.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The shift register of a [`Kind::Shift`] or [`Kind::Hold`]; the oldest bit in front.
    chain: VecDeque<Wire>,
    /// Bits that are yet to be given or were taken.
    bits: Bits,
    /// A second operand, or a partial sum.
    other: Bits,
    /// A third one.
    third: Bits,
    /// Bits that are yet to follow, or that passed.
    count: u32,
    /// The control of the last cycle.
    previous: bool,
    /// A carry, a condition, or whether a word is awaited.
    flag: bool,
    /// The last bit.
    last: bool,
}

impl State {
    /// The registers of a cell after the reset.
    pub fn new(kind: &Kind) -> Self {
        let chain = match kind {
            Kind::Shift { length } => vec![Wire::default(); (*length as usize).saturating_sub(1)],
            Kind::Hold { width } => vec![Wire::default(); *width as usize],
            _ => Vec::new(),
        };
        let flag = matches!(kind, Kind::Sum { sum: Sum::Subtract, .. } | Kind::Compare { .. });
        Self { chain: chain.into(), flag, ..Self::default() }
    }
}

/// A rule of the timing discipline that was broken: the compiler inserted too few delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A word came while the one before it still was there.
    Collision,
    /// The words of two inputs did not come in the same cycle, or were not as wide.
    Misaligned,
}

/// One cycle of a cell that is no port.
///
/// # Errors
/// A rule of the timing discipline that its inputs broke.
pub fn step(kind: &Kind, state: &mut State, inputs: &[Wire], outputs: &mut [Wire]) -> Result<(), Fault> {
    match kind {
        Kind::Start => {
            outputs[0] = Wire::level(!state.previous);
            state.previous = true;
        }
        Kind::Constant { value, width } => constant(state, *value, *width, inputs[0].control, &mut outputs[0])?,
        Kind::Along(pattern) => {
            let first = inputs[0].control && !state.previous;
            let bit = match pattern {
                Pattern::Zero => false,
                Pattern::One => first,
                Pattern::Ones => true,
            };
            outputs[0] = Wire::bit(inputs[0].control, bit);
            state.previous = inputs[0].control;
        }
        Kind::Sum { sum, .. } => return add(*sum, state, inputs, outputs),
        Kind::Not => outputs[0] = Wire::bit(inputs[0].control, !inputs[0].data),
        Kind::Gate(gate) => {
            let (a, b) = (inputs[0].data, inputs[1].data);
            let bit = match gate {
                Gate::And => a && b,
                Gate::Or => a || b,
                Gate::Xor => a != b,
                Gate::Xnor => a == b,
            };
            outputs[0] = Wire::bit(both(inputs)?, bit);
        }
        Kind::Multiply { .. } => return multiply(state, inputs, outputs),
        Kind::Compare { relation, signed } => return compare(*relation, *signed, state, inputs, outputs),
        Kind::Slice { low, high } => {
            let inside = state.count >= *low && state.count <= *high;
            outputs[0] = Wire::bit(inputs[0].control && inside, inputs[0].data);
            state.count = if inputs[0].control { state.count + 1 } else { 0 };
        }
        Kind::Extend { by, signed } => return extend(*by, *signed, state, inputs[0], &mut outputs[0]),
        Kind::Switch { pass } => return switch(*pass, state, inputs, outputs),
        Kind::Concatenate | Kind::Merge => return merge(inputs, &mut outputs[0]),
        Kind::Decode { width, labels } => decode(*width, labels, state, inputs[0], outputs),
        Kind::Shift { .. } => {
            state.chain.push_back(inputs[0]);
            outputs[0] = state.chain.pop_front().unwrap_or_default();
        }
        Kind::Hold { .. } => return hold(state, inputs, outputs),
        Kind::LastOf { members } => {
            let (members, busy) = inputs.split_at(*members as usize);
            let all = members.iter().all(|wire| wire.control) && !busy.iter().any(|wire| wire.control);
            let any = members.iter().any(|wire| wire.control);
            state.flag = all || (state.flag && any);
            outputs[0] = Wire::level(state.flag);
        }
        Kind::Pending => {
            let end = state.previous && !inputs[1].control;
            state.flag = (state.flag || inputs[0].control || inputs[1].control) && !end;
            state.previous = inputs[1].control;
            outputs[0] = Wire::level(state.flag);
        }
        Kind::Get => get(state, inputs, outputs),
        Kind::Put => {
            outputs[0] = inputs[0];
            outputs[1] = Wire::level(state.flag && inputs[1].control);
            state.flag = (state.flag || inputs[0].control) && !inputs[1].control;
        }
        Kind::Send => {
            outputs[0] = inputs[0];
            outputs[1] = Wire::level(state.previous && !inputs[0].control);
            state.previous = inputs[0].control;
        }
        Kind::Probe => {
            outputs[0] = Wire::bit(inputs[0].control, inputs[1].control);
            outputs[1] = Wire::level(inputs[0].control);
        }
        Kind::Port { .. } => {}
    }
    Ok(())
}

/// Whether both of two inputs carry a bit.
fn both(inputs: &[Wire]) -> Result<bool, Fault> {
    match (inputs[0].control, inputs[1].control) {
        (true, true) => Ok(true),
        (false, false) => Ok(false),
        _ => Err(Fault::Misaligned),
    }
}

fn constant(state: &mut State, value: Bits, width: u32, trigger: bool, output: &mut Wire) -> Result<(), Fault> {
    if trigger && !state.previous {
        if state.count > 0 {
            return Err(Fault::Collision);
        }
        (state.bits, state.count) = (value, width);
    }
    *output = Wire::bit(state.count > 0, state.bits & 1 == 1);
    state.bits >>= 1;
    state.count = state.count.saturating_sub(1);
    state.previous = trigger;
    Ok(())
}

/// A sum: `flag` is the carry, which is 1 before the first bit of a difference.
fn add(sum: Sum, state: &mut State, inputs: &[Wire], outputs: &mut [Wire]) -> Result<(), Fault> {
    let control = both(inputs)?;
    let (a, b) = (inputs[0].data, inputs[1].data != (sum == Sum::Subtract));
    outputs[0] = Wire::bit(control, a ^ b ^ state.flag);
    if let Some(carry) = outputs.get_mut(1) {
        *carry = Wire::bit(state.previous && !control, state.flag);
    }
    state.flag =
        if control { (a && b) || (state.flag && (a || b)) } else { sum == Sum::Subtract };
    state.previous = control;
    Ok(())
}

/// The product, low half: `bits` and `other` are the operands' bits so far, `third` the partial
/// sum, whose lowest bit is the next one of the product.
fn multiply(state: &mut State, inputs: &[Wire], outputs: &mut [Wire]) -> Result<(), Fault> {
    let control = both(inputs)?;
    if !control {
        (state.bits, state.other, state.third, state.count) = (0, 0, 0, 0);
        outputs[0] = Wire::default();
        return Ok(());
    }
    let (a, b) = (inputs[0].data, inputs[1].data);
    if a {
        state.third = state.third.wrapping_add(state.other);
    }
    let place = 1u128.checked_shl(state.count).unwrap_or(0);
    state.bits |= if a { place } else { 0 };
    state.other |= if b { place } else { 0 };
    if b {
        state.third = state.third.wrapping_add(state.bits);
    }
    outputs[0] = Wire::bit(true, state.third & 1 == 1);
    state.third >>= 1;
    state.count += 1;
    Ok(())
}

/// A comparison: `flag` is whether all bits are equal so far, `last` whether the first operand is
/// the smaller one if the last bit is no sign, `bits` the same if it is one.
fn compare(
    relation: Relation,
    signed: bool,
    state: &mut State,
    inputs: &[Wire],
    outputs: &mut [Wire],
) -> Result<(), Fault> {
    let control = both(inputs)?;
    let (a, b) = (inputs[0].data, inputs[1].data);
    if control {
        let before = state.last;
        if a != b {
            state.flag = false;
            state.last = b;
            state.bits = u128::from(a);
        } else {
            state.bits = u128::from(before);
        }
        outputs[0] = Wire::default();
    } else {
        let (equal, less) = (state.flag, if signed { state.bits == 1 } else { state.last });
        let result = match relation {
            Relation::Equal => equal,
            Relation::NotEqual => !equal,
            Relation::Less => less,
            Relation::LessEqual => less || equal,
            Relation::Greater => !less && !equal,
            Relation::GreaterEqual => !less,
        };
        outputs[0] = Wire::bit(state.previous, result);
        (state.flag, state.last, state.bits) = (true, false, 0);
    }
    state.previous = control;
    Ok(())
}

fn extend(by: u32, signed: bool, state: &mut State, input: Wire, output: &mut Wire) -> Result<(), Fault> {
    if input.control {
        if state.count > 0 {
            return Err(Fault::Collision);
        }
        *output = input;
        state.last = input.data;
    } else {
        if state.previous {
            state.count = by;
        }
        *output = Wire::bit(state.count > 0, signed && state.last);
        state.count = state.count.saturating_sub(1);
    }
    state.previous = input.control;
    Ok(())
}

/// `ifYes` and `ifNo`: `flag` is whether the present word passes.
fn switch(pass: bool, state: &mut State, inputs: &[Wire], outputs: &mut [Wire]) -> Result<(), Fault> {
    if inputs[0].control != (inputs[1].control && !state.previous) {
        return Err(Fault::Misaligned);
    }
    if inputs[0].control {
        state.flag = inputs[0].data == pass;
    }
    outputs[0] = Wire::bit(inputs[1].control && state.flag, inputs[1].data);
    state.previous = inputs[1].control;
    Ok(())
}

fn merge(inputs: &[Wire], output: &mut Wire) -> Result<(), Fault> {
    if inputs.iter().filter(|wire| wire.control).count() > 1 {
        return Err(Fault::Collision);
    }
    *output = inputs.iter().copied().find(|wire| wire.control).unwrap_or_default();
    Ok(())
}

fn decode(width: u32, labels: &[Bits], state: &mut State, input: Wire, outputs: &mut [Wire]) {
    let end = state.previous && !input.control;
    let mut none = true;
    for (output, label) in outputs.iter_mut().zip(labels) {
        let equal = state.bits == *label;
        none &= !equal;
        *output = Wire::bit(end, equal);
    }
    if let Some(output) = outputs.get_mut(labels.len()) {
        *output = Wire::bit(end, none);
    }
    if input.control {
        if !state.previous {
            state.bits = 0;
        }
        state.bits = state.bits >> 1 | u128::from(input.data) << (width - 1);
    }
    state.previous = input.control;
}

/// A stoppable shift register: `flag` is whether it gives its word.
fn hold(state: &mut State, inputs: &[Wire], outputs: &mut [Wire]) -> Result<(), Fault> {
    let head = state.chain.front().copied().unwrap_or_default();
    let go = head.control && (state.flag || inputs[1].control);
    outputs[0] = if go { head } else { Wire::default() };
    if !head.control || go {
        state.chain.pop_front();
        state.chain.push_back(inputs[0]);
    } else if inputs[0].control {
        return Err(Fault::Collision);
    }
    state.flag = go;
    let next = state.chain.front().copied().unwrap_or_default();
    outputs[1] = Wire::level(next.control && !go);
    Ok(())
}

/// One word of a port: `flag` is whether it is awaited.
fn get(state: &mut State, inputs: &[Wire], outputs: &mut [Wire]) {
    let (token, word) = (inputs[0], inputs[1]);
    let mine = state.flag && word.control;
    let end = state.previous && !word.control;
    outputs[0] = Wire::bit(mine, word.data);
    outputs[1] = Wire::level(end);
    outputs[2] = token;
    state.previous = mine;
    state.flag = token.control || (state.flag && !end);
}
