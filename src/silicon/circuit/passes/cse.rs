//! Merges nodes that compute the same (C.13): one operation, the same inputs.
//!
//! Operations on ports and memories are never merged, nor are heads of loops. Conditionals are, so
//! that one value passes a condition once.

use super::substitute::Substitution;
use crate::circuit::graph::{Circuit, Comparison, NodeId, Op, ValueId};
use std::collections::HashMap;

/// Merges nodes; whether any were.
pub fn run(circuit: &mut Circuit) -> bool {
    let mut substitution = Substitution::new(circuit);
    // A node comes after its inputs except around loops, so that one walk finds chains.
    let mut seen: HashMap<(Op, Vec<ValueId>, Option<u32>), NodeId> = HashMap::new();
    for (id, node) in circuit.nodes() {
        if !is_pure(&node.op) {
            continue;
        }
        let mut inputs: Vec<ValueId> = node.inputs.iter().map(|input| substitution.resolve(*input)).collect();
        if commutes(&node.op) {
            inputs.sort_unstable();
        }
        let size = circuit.value(node.outputs[0]).size;
        let first = *seen.entry((node.op.clone(), inputs, size)).or_insert(id);
        if first != id {
            for (output, other) in node.outputs.iter().zip(&circuit.node(first).outputs) {
                substitution.replace(*output, *other);
            }
        }
    }
    substitution.apply(circuit)
}

fn is_pure(op: &Op) -> bool {
    match op {
        Op::Constant(_) | Op::Add | Op::Sub | Op::Mul | Op::And | Op::Or | Op::Eqv | Op::Not | Op::Compare(_) => true,
        Op::Extract { .. } | Op::Resize | Op::Concat | Op::IfYes | Op::IfNo | Op::Merge | Op::Case(_) => true,
        Op::Reset | Op::Undefined(_) | Op::LoopMerge(_) | Op::Open(_) | Op::Get(_) | Op::Put(_) => false,
        Op::Ready(_) | Op::Waiting(_) | Op::Wait(..) | Op::Delay(..) | Op::Fetch(_) | Op::Store(_) | Op::Print(_) => {
            false
        }
    }
}

fn commutes(op: &Op) -> bool {
    match op {
        Op::Add | Op::Mul | Op::And | Op::Or | Op::Eqv | Op::Merge => true,
        Op::Compare(comparison) => matches!(comparison, Comparison::Equal | Comparison::NotEqual),
        _ => false,
    }
}
