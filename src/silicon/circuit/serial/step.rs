//! The work of the cells in one cycle.
//!
//! [`step`] takes the wires at a cell's inputs and computes its registers and the wires at its
//! outputs in the next cycle. The Verilog modules of [`crate::circuit::verilog`] do the same in the
//! same cycles.

use super::cells::{CellKind, Gate, Pattern, Relation, Sum};
use shadewright_base::bits::Bits;
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellState {
    /// The shift register of a [`CellKind::Shift`] or [`CellKind::Hold`]; the oldest bit in front.
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
    /// The last bit, or whether the first operand is less if no bit is a sign.
    last: bool,
    /// True if it is less if the last bit is a sign.
    signed: bool,
}

impl CellState {
    /// The registers of a cell after the reset.
    pub fn new(kind: &CellKind) -> Self {
        let chain = match kind {
            CellKind::Shift { length } => vec![Wire::default(); (*length as usize).saturating_sub(1)],
            CellKind::Hold { width } => vec![Wire::default(); *width as usize],
            _ => Vec::new(),
        };
        let flag = matches!(kind, CellKind::Sum { sum: Sum::Subtract, .. } | CellKind::Compare { .. });
        let zero = || Bits::zero(1);
        Self {
            chain: chain.into(),
            bits: zero(),
            other: zero(),
            third: zero(),
            count: 0,
            previous: false,
            flag,
            last: false,
            signed: false,
        }
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

/// One cycle of a cell that is neither a port nor a memory.
///
/// # Errors
/// A rule of the timing discipline that its inputs broke.
pub fn step(kind: &CellKind, state: &mut CellState, inputs: &[Wire], outputs: &mut [Wire]) -> Result<(), Fault> {
    match kind {
        CellKind::Start => {
            outputs[0] = Wire::level(!state.previous);
            state.previous = true;
        }
        CellKind::Constant { value, width } => constant(state, value, *width, inputs[0].control, &mut outputs[0])?,
        CellKind::Along(pattern) => {
            let first = inputs[0].control && !state.previous;
            let bit = match pattern {
                Pattern::Zero => false,
                Pattern::One => first,
                Pattern::Ones => true,
            };
            outputs[0] = Wire::bit(inputs[0].control, bit);
            state.previous = inputs[0].control;
        }
        CellKind::Sum { sum, .. } => return add(*sum, state, inputs, outputs),
        CellKind::Not => outputs[0] = Wire::bit(inputs[0].control, !inputs[0].data),
        CellKind::Gate(gate) => {
            let (a, b) = (inputs[0].data, inputs[1].data);
            let bit = match gate {
                Gate::And => a && b,
                Gate::Or => a || b,
                Gate::Xor => a != b,
                Gate::Xnor => a == b,
            };
            outputs[0] = Wire::bit(both(inputs), bit);
            return aligned(inputs);
        }
        CellKind::Multiply { width } => return multiply(*width, state, inputs, outputs),
        CellKind::Compare { relation } => return compare(*relation, state, inputs, outputs),
        CellKind::Slice { low, high } => {
            let inside = state.count >= *low && state.count <= *high;
            outputs[0] = Wire::bit(inputs[0].control && inside, inputs[0].data);
            state.count = if inputs[0].control { state.count + 1 } else { 0 };
        }
        CellKind::Extend { by, signed } => return extend(*by, *signed, state, inputs[0], &mut outputs[0]),
        CellKind::Switch { pass } => return switch(*pass, state, inputs, outputs),
        CellKind::Concatenate | CellKind::Merge => return merge(inputs, &mut outputs[0]),
        CellKind::Decode { width, labels } => decode(*width, labels, state, inputs[0], outputs),
        CellKind::Shift { .. } => {
            state.chain.push_back(inputs[0]);
            outputs[0] = state.chain.pop_front().unwrap_or_default();
        }
        CellKind::Hold { .. } => return hold(state, inputs, outputs),
        CellKind::LastOf { members } => {
            let (members, busy) = inputs.split_at(*members as usize);
            let all = members.iter().all(|wire| wire.control) && !busy.iter().any(|wire| wire.control);
            let any = members.iter().any(|wire| wire.control);
            state.flag = all || (state.flag && any);
            outputs[0] = Wire::level(state.flag);
        }
        CellKind::Pending => {
            let end = state.previous && !inputs[1].control;
            state.flag = (state.flag || inputs[0].control || inputs[1].control) && !end;
            state.previous = inputs[1].control;
            outputs[0] = Wire::level(state.flag);
        }
        CellKind::Get => {
            get(state, inputs, &mut outputs[..2]);
            outputs[2] = inputs[0];
        }
        CellKind::Fetch => {
            get(state, inputs, &mut outputs[..2]);
            outputs[2] = inputs[0];
        }
        CellKind::Store => {
            (outputs[0], outputs[1]) = (inputs[0], inputs[1]);
            let active = inputs[0].control || inputs[1].control;
            outputs[2] = Wire::level(state.previous && !active);
            state.previous = active;
        }
        CellKind::Put => {
            outputs[0] = inputs[0];
            outputs[1] = Wire::level(state.flag && inputs[1].control);
            state.flag = (state.flag || inputs[0].control) && !inputs[1].control;
        }
        CellKind::Send => {
            outputs[0] = inputs[0];
            outputs[1] = Wire::level(state.previous && !inputs[0].control);
            state.previous = inputs[0].control;
        }
        CellKind::Probe => {
            outputs[0] = Wire::bit(inputs[0].control, inputs[1].control);
            outputs[1] = Wire::level(inputs[0].control);
        }
        CellKind::Port { .. } | CellKind::Memory { .. } => {}
    }
    Ok(())
}

/// True if both of two inputs carry a bit.
fn both(inputs: &[Wire]) -> bool {
    inputs[0].control && inputs[1].control
}

/// Two inputs carry bits in the same cycles.
fn aligned(inputs: &[Wire]) -> Result<(), Fault> {
    if inputs[0].control == inputs[1].control { Ok(()) } else { Err(Fault::Misaligned) }
}

/// A constant: `count` bits are yet to be given.
fn constant(state: &mut CellState, value: &Bits, width: u32, trigger: bool, output: &mut Wire) -> Result<(), Fault> {
    if trigger && !state.previous {
        if state.count > 0 {
            return Err(Fault::Collision);
        }
        state.count = width;
    }
    *output = Wire::bit(state.count > 0, value.get(width - state.count));
    state.count = state.count.saturating_sub(1);
    state.previous = trigger;
    Ok(())
}

/// A sum: `flag` is the carry, which is 1 before the first bit of a difference.
fn add(sum: Sum, state: &mut CellState, inputs: &[Wire], outputs: &mut [Wire]) -> Result<(), Fault> {
    let control = both(inputs);
    let (a, b) = (inputs[0].data, inputs[1].data != (sum == Sum::Subtract));
    outputs[0] = Wire::bit(control, a ^ b ^ state.flag);
    if let Some(carry) = outputs.get_mut(1) {
        *carry = Wire::bit(state.previous && !control, state.flag);
    }
    state.flag = if control { (a && b) || (state.flag && (a || b)) } else { sum == Sum::Subtract };
    state.previous = control;
    aligned(inputs)
}

/// The product, low half: `bits` and `other` are the operands' bits so far, `third` the partial
/// sum, whose lowest bit is the next one of the product.
fn multiply(width: u32, state: &mut CellState, inputs: &[Wire], outputs: &mut [Wire]) -> Result<(), Fault> {
    if !both(inputs) {
        let zero = || Bits::zero(width);
        (state.bits, state.other, state.third, state.count) = (zero(), zero(), zero(), 0);
        outputs[0] = Wire::default();
        return aligned(inputs);
    }
    let (a, b) = (inputs[0].data, inputs[1].data);
    if a {
        state.third = state.third.add(&state.other, width).0;
    }
    if a {
        state.bits = Bits::bit(true).concat(&state.bits, state.count, width);
    }
    if b {
        state.other = Bits::bit(true).concat(&state.other, state.count, width);
        state.third = state.third.add(&state.bits, width).0;
    }
    outputs[0] = Wire::bit(true, state.third.get(0));
    state.third = state.third.extract(1, width);
    state.count += 1;
    Ok(())
}

/// A comparison: `flag` is whether all bits are equal so far.
fn compare(relation: Relation, state: &mut CellState, inputs: &[Wire], outputs: &mut [Wire]) -> Result<(), Fault> {
    let control = both(inputs);
    let (a, b) = (inputs[0].data, inputs[1].data);
    if control {
        let before = state.last;
        if a != b {
            state.flag = false;
            state.last = b;
            state.signed = a;
        } else {
            state.signed = before;
        }
        outputs[0] = Wire::default();
    } else {
        let (equal, less) = (state.flag, state.signed);
        let result = match relation {
            Relation::Equal => equal,
            Relation::NotEqual => !equal,
            Relation::Less => less,
            Relation::LessEqual => less || equal,
            Relation::Greater => !less && !equal,
            Relation::GreaterEqual => !less,
        };
        outputs[0] = Wire::bit(state.previous, result);
        (state.flag, state.last, state.signed) = (true, false, false);
    }
    state.previous = control;
    aligned(inputs)
}

fn extend(by: u32, signed: bool, state: &mut CellState, input: Wire, output: &mut Wire) -> Result<(), Fault> {
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
fn switch(pass: bool, state: &mut CellState, inputs: &[Wire], outputs: &mut [Wire]) -> Result<(), Fault> {
    let begins = inputs[1].control && !state.previous;
    if begins {
        state.flag = inputs[0].control && inputs[0].data == pass;
    }
    outputs[0] = Wire::bit(inputs[1].control && state.flag, inputs[1].data);
    state.previous = inputs[1].control;
    if inputs[0].control == begins { Ok(()) } else { Err(Fault::Misaligned) }
}

fn merge(inputs: &[Wire], output: &mut Wire) -> Result<(), Fault> {
    if inputs.iter().filter(|wire| wire.control).count() > 1 {
        return Err(Fault::Collision);
    }
    *output = inputs.iter().copied().find(|wire| wire.control).unwrap_or_default();
    Ok(())
}

/// True if a word has each of the labels: `bits` is the word so far, `count` its bits.
fn decode(width: u32, labels: &[Bits], state: &mut CellState, input: Wire, outputs: &mut [Wire]) {
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
            (state.bits, state.count) = (Bits::zero(width), 0);
        }
        if input.data {
            state.bits = Bits::bit(true).concat(&state.bits, state.count, width);
        }
        state.count += 1;
    }
    state.previous = input.control;
}

/// A stoppable shift register: `flag` is whether it gives its word.
fn hold(state: &mut CellState, inputs: &[Wire], outputs: &mut [Wire]) -> Result<(), Fault> {
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
fn get(state: &mut CellState, inputs: &[Wire], outputs: &mut [Wire]) {
    let (token, word) = (inputs[0], inputs[1]);
    let mine = state.flag && word.control;
    let end = state.previous && !word.control;
    outputs[0] = Wire::bit(mine, word.data);
    outputs[1] = Wire::level(end);
    state.previous = mine;
    state.flag = token.control || (state.flag && !end);
}
