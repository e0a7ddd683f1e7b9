//! The cells of the graph's operations.

use super::align::Value;
use super::build::{Builder, is_constant, needed};
use super::cells::{CellKind, Gate, Pattern, Relation, Sum};
use super::netlist::Net;
use super::timing::Time;
use crate::circuit::graph::{Comparison, Constant, Node, NodeId, Op, PortId};
use crate::circuit::ports::PortKind;
use shadewright_base::bits::Bits;
use shadewright_base::text::diagnostics::Diagnostic;

/// Most cycles of the language's `delay`.
const MAX_DELAY: u32 = 1 << 16;

/// How a constant follows a control wire, if it can.
pub(super) fn pattern(value: &Bits, width: u32) -> Option<Pattern> {
    if !value.any() {
        Some(Pattern::Zero)
    } else if *value == Bits::from_u128(1, width) {
        Some(Pattern::One)
    } else if !value.not(width).any() {
        Some(Pattern::Ones)
    } else {
        None
    }
}

/// The cells of a node whose inputs have theirs.
///
/// # Errors
/// Values without a size, and operations that no cell does.
pub(super) fn build(b: &mut Builder, id: NodeId) -> Result<(), Diagnostic> {
    let node = b.circuit.node(id);
    let outputs = match &node.op {
        Op::Reset => start(b, node),
        // Constants get their cells where they are used.
        Op::Constant(_) => return constant_tail(b, id),
        Op::Add => sum(b, node, Sum::Add)?,
        Op::Sub => sum(b, node, Sum::Subtract)?,
        Op::Mul => {
            let width = b.size(node.outputs[0])?;
            simple(b, node, CellKind::Multiply { width })?
        }
        Op::And => simple(b, node, CellKind::Gate(Gate::And))?,
        Op::Or => simple(b, node, CellKind::Gate(Gate::Or))?,
        Op::Eqv => simple(b, node, CellKind::Gate(Gate::Xnor))?,
        Op::Not => simple(b, node, CellKind::Not)?,
        Op::Compare(comparison) => compare(b, node, *comparison)?,
        Op::Extract { high, low } => extract(b, id, *high, *low)?,
        Op::Resize => resize(b, id)?,
        Op::Concat => concat(b, node)?,
        Op::IfYes => switch(b, id, true)?,
        Op::IfNo => switch(b, id, false)?,
        Op::Merge => merge(b, node)?,
        Op::Case(labels) => case(b, node, labels)?,
        Op::Open(_) => vec![b.value(node.inputs[0])?],
        Op::Get(port) => get(b, node, *port)?,
        Op::Put(port) => put(b, node, *port)?,
        Op::Ready(port) => probe(b, node, *port, 2)?,
        Op::Waiting(port) => probe(b, node, *port, 3)?,
        Op::Wait(..) => gather(b, node)?,
        Op::Delay(_, cycles) if *cycles > MAX_DELAY => {
            let message = format!("a delay of {cycles} cycles is longer than {MAX_DELAY}");
            return Err(Diagnostic::error(message).at(node.span, "here"));
        }
        Op::Delay(_, cycles) => {
            let token = b.value(node.inputs[0])?;
            vec![b.aligner.delay(token, *cycles, node.span)]
        }
        Op::Fetch(port) => fetch(b, node, *port)?,
        Op::Store(port) => store(b, node, *port)?,
        // What is never computed has no net; an error is where it is used.
        Op::Print(_) | Op::Undefined(_) => return Ok(()),
        Op::LoopMerge(_) => return Err(Diagnostic::error("a loop begins without its heads").at(node.span, "here")),
    };
    for (output, value) in node.outputs.iter().zip(outputs) {
        b.values[output.0 as usize] = Some(value);
    }
    Ok(())
}

/// The inputs of a node, beginning in the same cycle. Constants among them are triggered by the
/// other ones.
fn gather(b: &mut Builder, node: &Node) -> Result<Vec<Value>, Diagnostic> {
    let mut variable = Vec::new();
    for input in needed(b.circuit, node) {
        variable.push((input, b.value(input)?));
    }
    let values: Vec<Value> = variable.iter().map(|(_, value)| *value).collect();
    let aligned = b.aligner.align(&values, node.span);
    if variable.len() == node.inputs.len() {
        return Ok(aligned);
    }
    let mut gathered = Vec::new();
    for &input in &node.inputs {
        let known = variable.iter().position(|(id, _)| *id == input).map(|index| aligned[index]);
        gathered.push(match known {
            // A constant takes a cycle.
            Some(value) => b.aligner.delay(value, 1, node.span),
            None => {
                let width = b.size(input)?;
                let same = aligned.iter().find(|value| b.aligner.length(value.net) == width);
                let trigger = same.or(aligned.first()).copied();
                b.constant(input, trigger.ok_or_else(|| no_operand(node))?)?
            }
        });
    }
    Ok(gathered)
}

fn no_operand(node: &Node) -> Diagnostic {
    Diagnostic::error("this operation has no operand").at(node.span, "here")
}

fn nets(values: &[Value]) -> Vec<Net> {
    values.iter().map(|value| value.net).collect()
}

fn start(b: &mut Builder, node: &Node) -> Vec<Value> {
    let time = Time { anchor: b.aligner.anchors.after(&[]), offset: 0 };
    b.cell(CellKind::Start, &[], time, &[(0, 0)], node)
}

/// A word that only triggers a constant that is shorter is at work after the constant.
fn constant_tail(b: &mut Builder, id: NodeId) -> Result<(), Diagnostic> {
    let node = b.circuit.node(id);
    if let (Some(&trigger), &[output]) = (node.inputs.first(), &node.outputs[..]) {
        let value = b.value(trigger)?;
        if b.aligner.length(value.net) > b.size(output)? {
            b.busy.push((id, value.net));
        }
    }
    Ok(())
}

/// A cell with one result, as wide as the node's, a cycle after its operands.
fn simple(b: &mut Builder, node: &Node, kind: CellKind) -> Result<Vec<Value>, Diagnostic> {
    let operands = gather(b, node)?;
    let width = b.size(node.outputs[0])?;
    Ok(b.cell(kind, &nets(&operands), operands[0].time, &[(width, 1)], node))
}

fn sum(b: &mut Builder, node: &Node, sum: Sum) -> Result<Vec<Value>, Diagnostic> {
    let operands = gather(b, node)?;
    let width = b.size(node.outputs[0])?;
    let carry = !b.users[node.outputs[1].0 as usize].is_empty();
    let mut outputs = vec![(width, 1)];
    if carry {
        outputs.push((1, width + 1));
    }
    Ok(b.cell(CellKind::Sum { sum, carry }, &nets(&operands), operands[0].time, &outputs, node))
}

fn compare(b: &mut Builder, node: &Node, comparison: Comparison) -> Result<Vec<Value>, Diagnostic> {
    let operands = gather(b, node)?;
    let relation = match comparison {
        Comparison::Equal => Relation::Equal,
        Comparison::NotEqual => Relation::NotEqual,
        Comparison::Less => Relation::Less,
        Comparison::LessEqual => Relation::LessEqual,
        Comparison::Greater => Relation::Greater,
        Comparison::GreaterEqual => Relation::GreaterEqual,
    };
    let length = b.aligner.length(operands[0].net);
    Ok(b.cell(CellKind::Compare { relation }, &nets(&operands), operands[0].time, &[(1, length + 1)], node))
}

fn extract(b: &mut Builder, id: NodeId, high: u32, low: u32) -> Result<Vec<Value>, Diagnostic> {
    let node = b.circuit.node(id);
    let word = b.value(node.inputs[0])?;
    let width = b.aligner.length(word.net);
    if low == 0 && high + 1 == width {
        return Ok(vec![word]);
    }
    if high + 1 < width {
        b.busy.push((id, word.net));
    }
    Ok(b.cell(CellKind::Slice { low, high }, &[word.net], word.time, &[(high - low + 1, low + 1)], node))
}

fn resize(b: &mut Builder, id: NodeId) -> Result<Vec<Value>, Diagnostic> {
    let node = b.circuit.node(id);
    let to = b.size(node.outputs[0])?;
    let word = b.value(node.inputs[0])?;
    let from = b.aligner.length(word.net);
    if to <= from {
        return extract(b, id, to - 1, 0);
    }
    let kind = CellKind::Extend { by: to - from, signed: true };
    Ok(b.cell(kind, &[word.net], word.time, &[(to, 1)], node))
}

/// The high word begins when the low one ends (§C.13).
fn concat(b: &mut Builder, node: &Node) -> Result<Vec<Value>, Diagnostic> {
    let [high, low] = node.inputs[..] else { return Err(no_operand(node)) };
    let width = b.size(node.outputs[0])?;
    let above = b.size(high)?;
    let zero = matches!(&b.circuit.source(high).op, Op::Constant(Constant::Word(word)) if !word.any());
    if zero && !is_constant(b.circuit, low) {
        let word = b.value(low)?;
        return Ok(b.cell(CellKind::Extend { by: above, signed: false }, &[word.net], word.time, &[(width, 1)], node));
    }
    let constants = is_constant(b.circuit, high) || is_constant(b.circuit, low);
    let (first, second) = (b.value_unless(constants, low)?, b.value_unless(constants, high)?);
    let below = width - above;
    let (low, high) = match (first, second) {
        (Some(low), Some(high)) if low.time.anchor == high.time.anchor => {
            let start = low.time.offset.max(high.time.offset.saturating_sub(below));
            let low = b.aligner.delay(low, start - low.time.offset, node.span);
            (low, b.aligner.delay(high, start + below - high.time.offset, node.span))
        }
        _ => {
            let both = gather(b, node)?;
            (both[1], b.aligner.delay(both[0], below, node.span))
        }
    };
    Ok(b.cell(CellKind::Concatenate, &[high.net, low.net], low.time, &[(width, 1)], node))
}

/// `ifYes` and `ifNo`. What it drops may come after all that an iteration keeps, so it is at work
/// until the end of its word, unless its opposite keeps the same word.
fn switch(b: &mut Builder, id: NodeId, pass: bool) -> Result<Vec<Value>, Diagnostic> {
    let node = b.circuit.node(id);
    let operands = gather(b, node)?;
    let [condition, value] = operands[..] else { return Err(no_operand(node)) };
    let raw = if is_constant(b.circuit, node.inputs[0]) { condition } else { b.value(node.inputs[0])? };
    let opposite = if pass { Op::IfNo } else { Op::IfYes };
    let kept = b.users[node.inputs[0].0 as usize].iter().any(|user| {
        let other = b.circuit.node(*user);
        other.op == opposite && other.inputs == node.inputs
    });
    if !kept || is_constant(b.circuit, node.inputs[1]) {
        let pending = b.cell(CellKind::Pending, &[raw.net, value.net], value.time, &[(0, 1)], node);
        b.busy.push((id, pending[0].net));
    }
    let width = b.aligner.netlist.width(value.net);
    Ok(b.cell(CellKind::Switch { pass }, &[condition.net, value.net], value.time, &[(width, 1)], node))
}

/// The end of a conditional. If all branches take a known time, they are made to take the same.
fn merge(b: &mut Builder, node: &Node) -> Result<Vec<Value>, Diagnostic> {
    let mut values = Vec::new();
    for &input in &node.inputs {
        if !matches!(b.circuit.source(input).op, Op::Undefined(_)) {
            values.push(b.value(input)?);
        }
    }
    let Some(last) = values.iter().copied().max_by_key(|value| value.time.offset) else { return Err(no_operand(node)) };
    let same = values.iter().all(|value| value.time.anchor == last.time.anchor);
    let width = b.aligner.netlist.width(last.net);
    let registers: u32 = values.iter().map(|value| last.time.offset.saturating_sub(value.time.offset)).sum();
    let time = if same && registers <= 2 * width + 8 {
        for value in &mut values {
            *value = b.aligner.delay(*value, last.time.offset - value.time.offset, node.span);
        }
        last.time
    } else {
        let times: Vec<Time> = values.iter().map(|value| value.time).collect();
        Time { anchor: b.aligner.anchors.after_any(&times), offset: 0 }
    };
    Ok(b.cell(CellKind::Merge, &nets(&values), time, &[(width, 1)], node))
}

fn case(b: &mut Builder, node: &Node, labels: &[Constant]) -> Result<Vec<Value>, Diagnostic> {
    let word = b.value(node.inputs[0])?;
    let width = b.aligner.length(word.net);
    let mut bits = Vec::new();
    for label in labels {
        match label {
            Constant::Word(label) => bits.push(label.clone()),
            Constant::Number(_) => {
                return Err(Diagnostic::error("the size of a label is not known").at(node.span, "here"));
            }
        }
    }
    let outputs = vec![(1, width + 1); labels.len() + 1];
    Ok(b.cell(CellKind::Decode { width, labels: bits }, &[word.net], word.time, &outputs, node))
}

/// The cell of a port; a channel's is that of its input end.
fn port_cell(b: &Builder, port: PortId) -> PortId {
    match b.circuit.port(port).kind {
        PortKind::InternalOut { peer, .. } => peer,
        _ => port,
    }
}

fn missing(node: &Node) -> Diagnostic {
    Diagnostic::error("this port has no cell").at(node.span, "here")
}

/// A word from a port. When it comes is known only if the port is synchronous.
fn get(b: &mut Builder, node: &Node, port: PortId) -> Result<Vec<Value>, Diagnostic> {
    let token = b.value(node.inputs[0])?;
    let width = b.circuit.port(port).width;
    let word = b.ports.get(&port_cell(b, port)).ok_or_else(|| missing(node))?.outputs[0];
    let kind = b.circuit.port(port).kind;
    let time = match kind {
        PortKind::SyncSerIn { .. } => token.time.later(5),
        PortKind::SyncParIn | PortKind::SyncParIo => token.time.later(4),
        _ => Time { anchor: b.aligner.anchors.after(&[token.time.later(4)]), offset: 0 },
    };
    let outputs = b.cell(CellKind::Get, &[token.net, word], time, &[(width, 0), (0, width), (0, 0)], node);
    let id = port_cell(b, port);
    if let Some(cell) = b.ports.get_mut(&id) {
        cell.gets.push(outputs[2].net);
    }
    Ok(outputs)
}

/// A word for a port. When the port has it is known only if the port is synchronous.
fn put(b: &mut Builder, node: &Node, port: PortId) -> Result<Vec<Value>, Diagnostic> {
    let operands = gather(b, node)?;
    let [_, word] = operands[..] else { return Err(no_operand(node)) };
    let id = port_cell(b, port);
    let width = b.circuit.port(port).width;
    let done = b.ports.get(&id).ok_or_else(|| missing(node))?.outputs[1];
    let token = match b.circuit.port(port).kind {
        PortKind::SyncSerOut | PortKind::SyncParOut | PortKind::SyncParIo => {
            b.cell(CellKind::Send, &[word.net], word.time, &[(width, 1), (0, width + 1)], node)
        }
        _ => {
            let anchor = b.aligner.anchors.after(&[word.time.later(width + 3)]);
            let mut outputs = b.cell(CellKind::Put, &[word.net, done], word.time, &[(width, 1), (0, 0)], node);
            outputs[1].time = Time { anchor, offset: 0 };
            outputs
        }
    };
    if let Some(cell) = b.ports.get_mut(&id) {
        cell.puts.push(token[0].net);
    }
    Ok(vec![token[1]])
}

/// `ready` or `waiting`: output `level` of the port's cell.
fn probe(b: &mut Builder, node: &Node, port: PortId, level: usize) -> Result<Vec<Value>, Diagnostic> {
    let token = b.value(node.inputs[0])?;
    let level = b.ports.get(&port_cell(b, port)).ok_or_else(|| missing(node))?.outputs[level];
    Ok(b.cell(CellKind::Probe, &[token.net, level], token.time, &[(1, 1), (0, 1)], node))
}

/// The net of a memory port's words.
fn memory_word(b: &Builder, node: &Node, port: PortId) -> Result<Net, Diagnostic> {
    let PortKind::Memory(memory) = b.circuit.port(port).kind else { return Err(missing(node)) };
    let index = b.memory_ports(memory.0).iter().position(|other| *other == port);
    let cell = b.memories.get(&memory.0).zip(index).and_then(|((_, outputs), index)| outputs.get(index));
    cell.copied().ok_or_else(|| missing(node))
}

fn fetch(b: &mut Builder, node: &Node, port: PortId) -> Result<Vec<Value>, Diagnostic> {
    let operands = gather(b, node)?;
    let [_, address] = operands[..] else { return Err(no_operand(node)) };
    let (bits, width) = (b.aligner.length(address.net), b.circuit.port(port).width);
    let word = memory_word(b, node, port)?;
    let outputs = [(width, bits + 3), (0, bits + 3 + width), (bits, 1)];
    let mut values = b.cell(CellKind::Fetch, &[address.net, word], address.time, &outputs, node);
    b.accesses.entry(port).or_default().fetches.push(values[2].net);
    values.truncate(2);
    Ok(values)
}

fn store(b: &mut Builder, node: &Node, port: PortId) -> Result<Vec<Value>, Diagnostic> {
    let operands = gather(b, node)?;
    let [_, address, word] = operands[..] else { return Err(no_operand(node)) };
    let (bits, width) = (b.aligner.length(address.net), b.aligner.length(word.net));
    let outputs = [(bits, 1), (width, 1), (0, bits.max(width) + 1)];
    let values = b.cell(CellKind::Store, &[address.net, word.net], address.time, &outputs, node);
    b.accesses.entry(port).or_default().stores.push((values[0].net, values[1].net));
    Ok(vec![values[2]])
}
