//! Computes what is known, and removes conditionals that are decided or change nothing (C.10).
//!
//! | pattern | becomes |
//! |---|---|
//! | an operation on constants | a constant |
//! | `ifYes(1, v)`, `ifNo(0, v)` | `v` |
//! | `ifYes(0, v)`, `ifNo(1, v)` | undefined |
//! | an operation on something undefined | undefined; a `merge` of it is a merge of the rest |
//! | `merge(ifYes(c, v), ifNo(c, v))`, and the same of a `case` | `v` |
//! | `ifYes(c, constant)` | the constant, triggered by `ifYes(c, trigger)` |
//! | `merge(constant, constant)` of equal ones | the constant, triggered by a merge of the triggers |
//! | bits of bits, all bits, bits of one half of a concatenation, `NOT NOT v`, `v + 0`, … | `v`, or bits of it |

use super::substitute::Substitution;
use crate::circuit::evaluate::{Sizes, evaluate};
use crate::circuit::graph::{Circuit, Constant, DataKind, NodeId, Op, ValueId};
use shadewright_base::bits::Bits;
use shadewright_base::text::source::Span;

/// Folds; whether anything changed.
pub fn run(circuit: &mut Circuit) -> bool {
    let mut folding = Folding { substitution: Substitution::new(circuit), circuit, changed: false };
    let nodes: Vec<NodeId> = folding.circuit.nodes().map(|(id, _)| id).collect();
    for id in nodes {
        folding.node(id);
    }
    let Folding { circuit, substitution, changed } = folding;
    substitution.apply(circuit) | changed
}

struct Folding<'a> {
    circuit: &'a mut Circuit,
    substitution: Substitution,
    /// True if a node got other inputs.
    changed: bool,
}

impl Folding<'_> {
    fn node(&mut self, id: NodeId) {
        let node = self.circuit.node(id);
        let (op, outputs, span) = (node.op.clone(), node.outputs.clone(), node.span);
        let inputs: Vec<ValueId> = node.inputs.clone().iter().map(|input| self.substitution.resolve(*input)).collect();
        match op {
            Op::Reset | Op::Undefined(_) | Op::Constant(_) if inputs.is_empty() => {}
            Op::Merge => self.merge(id, &inputs, outputs[0], span),
            Op::LoopMerge(_) if self.is_undefined(inputs[0]) => self.undefined(&outputs, span),
            Op::LoopMerge(_) => {}
            _ if inputs.iter().any(|input| self.is_undefined(*input)) => self.undefined(&outputs, span),
            Op::IfYes | Op::IfNo => self.gate(&op, inputs[0], inputs[1], outputs[0], span),
            Op::Case(labels) => self.case(&labels, inputs[0], &outputs, span),
            _ => self.operation(&op, &inputs, &outputs, span),
        }
    }

    fn source(&self, value: ValueId) -> (&Op, &[ValueId]) {
        let node = self.circuit.source(value);
        (&node.op, &node.inputs)
    }

    fn is_undefined(&self, value: ValueId) -> bool {
        matches!(self.source(value).0, Op::Undefined(_))
    }

    fn size(&self, value: ValueId) -> u32 {
        self.circuit.value(value).size.unwrap_or(1)
    }

    /// The word of a constant, and what triggers it.
    fn constant(&mut self, value: ValueId) -> Option<(Bits, ValueId)> {
        let trigger = match self.source(value) {
            (Op::Constant(Constant::Word(bits)), [trigger]) => (bits.clone(), *trigger),
            _ => return None,
        };
        Some((trigger.0, self.substitution.resolve(trigger.1)))
    }

    fn add(&mut self, op: Op, inputs: &[ValueId], size: Option<u32>, span: Span) -> ValueId {
        let output = self.circuit.add_value(op, inputs, span);
        if let Some(size) = size {
            self.circuit.set_size(output, size);
        }
        self.substitution.grow(self.circuit);
        output
    }

    fn replace_by_constant(&mut self, value: ValueId, bits: Bits, trigger: ValueId, span: Span) {
        let size = self.circuit.value(value).size;
        let output = self.add(Op::Constant(Constant::Word(bits)), &[trigger], size, span);
        self.substitution.replace(value, output);
    }

    fn undefined(&mut self, outputs: &[ValueId], span: Span) {
        for output in outputs {
            let (kind, size) = (self.circuit.value(*output).kind, self.circuit.value(*output).size);
            let by = self.add(Op::Undefined(kind), &[], size, span);
            self.substitution.replace(*output, by);
        }
    }

    fn merge(&mut self, id: NodeId, inputs: &[ValueId], output: ValueId, span: Span) {
        let defined: Vec<ValueId> = inputs.iter().copied().filter(|input| !self.is_undefined(*input)).collect();
        match defined[..] {
            [] => return self.undefined(&[output], span),
            [one] => return self.substitution.replace(output, one),
            _ => {}
        }
        if defined.len() < inputs.len() {
            self.circuit.set_op(id, Op::Merge, defined.clone());
            self.changed = true;
        }
        if let Some(value) = self.unchanged(&defined) {
            return self.substitution.replace(output, value);
        }
        let constants: Option<Vec<(Bits, ValueId)>> = defined.iter().map(|input| self.constant(*input)).collect();
        let Some(constants) = constants else { return };
        let (bits, trigger) = constants[0].clone();
        let like = (self.circuit.value(trigger).kind, self.circuit.value(trigger).size);
        let alike = constants.iter().all(|(other, trigger)| {
            let trigger = self.circuit.value(*trigger);
            *other == bits && (trigger.kind, trigger.size) == like
        });
        if alike {
            let triggers: Vec<ValueId> = constants.into_iter().map(|(_, trigger)| trigger).collect();
            let trigger = self.add(Op::Merge, &triggers, like.1, span);
            self.replace_by_constant(output, bits, trigger, span);
        }
    }

    /// The one value that passes all the branches of a conditional.
    fn unchanged(&mut self, inputs: &[ValueId]) -> Option<ValueId> {
        let mut gates = Vec::new();
        for input in inputs {
            let (yes, condition, value) = match self.source(*input) {
                (Op::IfYes, [condition, value]) => (true, *condition, *value),
                (Op::IfNo, [condition, value]) => (false, *condition, *value),
                _ => return None,
            };
            gates.push((yes, self.substitution.resolve(condition), self.substitution.resolve(value)));
        }
        let (_, condition, value) = gates[0];
        if gates.iter().any(|gate| gate.2 != value) {
            return None;
        }
        if let [(yes, one, _), (no, other, _)] = gates[..]
            && one == other
            && yes != no
        {
            return Some(value);
        }
        let Op::Case(labels) = &self.circuit.source(condition).op else { return None };
        let case = self.circuit.value(condition).node;
        let size = self.size(self.circuit.node(case).inputs[0]);
        let mut passed: Vec<u32> = Vec::new();
        for (yes, condition, _) in &gates {
            let condition = self.circuit.value(*condition);
            if !yes || condition.node != case {
                return None;
            }
            passed.push(condition.index);
        }
        passed.sort_unstable();
        passed.dedup();
        let complete = size < 32 && labels.len() == 1 << size;
        (passed.len() + usize::from(complete) > labels.len()).then_some(value)
    }

    fn gate(&mut self, op: &Op, condition: ValueId, value: ValueId, output: ValueId, span: Span) {
        if let Some((bits, _)) = self.constant(condition) {
            match bits.any() == (*op == Op::IfYes) {
                true => self.substitution.replace(output, value),
                false => self.undefined(&[output], span),
            }
        } else if let Some((bits, trigger)) = self.constant(value) {
            let size = self.circuit.value(trigger).size;
            let trigger = self.add(op.clone(), &[condition, trigger], size, span);
            self.replace_by_constant(output, bits, trigger, span);
        }
    }

    fn case(&mut self, labels: &[Constant], selector: ValueId, outputs: &[ValueId], span: Span) {
        let Some((bits, trigger)) = self.constant(selector) else { return };
        let taken = labels.iter().position(|label| *label == Constant::Word(bits.clone())).unwrap_or(labels.len());
        for (i, output) in outputs.iter().enumerate() {
            self.replace_by_constant(*output, Bits::bit(i == taken), trigger, span);
        }
    }

    fn operation(&mut self, op: &Op, inputs: &[ValueId], outputs: &[ValueId], span: Span) {
        let is_word = |value: &ValueId| self.circuit.value(*value).kind == DataKind::Word;
        if inputs.is_empty() || inputs.len() > 2 || !inputs.iter().all(is_word) {
            return;
        }
        let constants: Vec<Option<(Bits, ValueId)>> = inputs.iter().map(|input| self.constant(*input)).collect();
        if let Some((a, trigger)) = &constants[0]
            && constants.iter().all(Option::is_some)
        {
            let b = constants.get(1).and_then(Option::as_ref).map(|(b, _)| b);
            let size = |i: usize| inputs.get(i).map_or(0, |input| self.size(*input));
            let sizes = Sizes { inputs: [size(0), size(1)], output: self.size(outputs[0]) };
            let Some((word, carry)) = evaluate(op, a, b, sizes) else { return };
            for (output, word) in outputs.iter().zip([Some(word), carry].into_iter().flatten()) {
                self.replace_by_constant(*output, word, *trigger, span);
            }
            return;
        }
        if let [Some((bits, _)), None] | [None, Some((bits, _))] = &constants[..] {
            let first = constants[0].is_some();
            let other = inputs[usize::from(first)];
            return self.identity(op, first, bits, other, outputs, span);
        }
        match op {
            Op::Extract { high, low } => self.extract(*high, *low, inputs[0], outputs[0], span),
            Op::Resize if self.size(inputs[0]) == self.size(outputs[0]) => {
                self.substitution.replace(outputs[0], inputs[0]);
            }
            Op::Not => {
                if let (Op::Not, [inner]) = self.source(inputs[0]) {
                    let inner = *inner;
                    self.substitution.replace(outputs[0], inner);
                }
            }
            _ => {}
        }
    }

    /// An operation on a word and a constant, which is the first operand or the second.
    fn identity(&mut self, op: &Op, first: bool, bits: &Bits, other: ValueId, outputs: &[ValueId], span: Span) {
        let size = self.size(other);
        let (zero, ones) = (!bits.any(), *bits == Bits::zero(size).not(size));
        match op {
            Op::Add if zero => {
                self.substitution.replace(outputs[0], other);
                self.replace_by_constant(outputs[1], Bits::bit(false), other, span);
            }
            Op::Sub if zero && !first => {
                self.substitution.replace(outputs[0], other);
                self.replace_by_constant(outputs[1], Bits::bit(true), other, span);
            }
            Op::Mul | Op::And if zero => self.replace_by_constant(outputs[0], bits.clone(), other, span),
            Op::Or if ones => self.replace_by_constant(outputs[0], bits.clone(), other, span),
            Op::Mul if *bits == Bits::from_u128(1, size) => self.substitution.replace(outputs[0], other),
            Op::And | Op::Eqv if ones => self.substitution.replace(outputs[0], other),
            Op::Or if zero => self.substitution.replace(outputs[0], other),
            _ => {}
        }
    }

    fn extract(&mut self, high: u32, low: u32, input: ValueId, output: ValueId, span: Span) {
        let (mut bits, mut from) = ([high, low], input);
        while let Some((inner, shift)) = self.inner_bits(from, bits) {
            bits = bits.map(|bit| (bit as i64 + shift) as u32);
            from = self.substitution.resolve(inner);
        }
        let [high, low] = bits;
        if low == 0 && high + 1 == self.size(from) {
            self.substitution.replace(output, from);
        } else if from != input {
            let by = self.add(Op::Extract { high, low }, &[from], Some(high - low + 1), span);
            self.substitution.replace(output, by);
        }
    }

    /// Where bits of a word come from, and by how much they move there, if the word is put together
    /// from others.
    fn inner_bits(&self, word: ValueId, [high, low]: [u32; 2]) -> Option<(ValueId, i64)> {
        match self.source(word) {
            (Op::Extract { low: inner, .. }, [from]) => Some((*from, *inner as i64)),
            (Op::Concat, [upper, lower]) => {
                let split = self.size(*lower);
                match (low >= split, high < split) {
                    (true, _) => Some((*upper, -(split as i64))),
                    (_, true) => Some((*lower, 0)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
