//! Removes nodes that no port and no debug output depends on (C.9).
//!
//! Operations on ports count for themselves, those on memories if something depends on them. A
//! store counts if a fetch through the other port of its memory does.

use super::substitute::Substitution;
use crate::circuit::graph::{Circuit, MemoryId, NodeId, Op, PortId};
use crate::circuit::ports::PortKind;

/// Removes dead nodes; whether there are any.
pub fn run(circuit: &mut Circuit) -> bool {
    let mut live = vec![false; circuit.nodes().len()];
    let mut work: Vec<NodeId> = Vec::new();
    let mut stores = vec![Vec::new(); circuit.memories.len()];
    for (id, node) in circuit.nodes() {
        if let Op::Store(port) = node.op
            && let Some(memory) = memory(circuit, port)
        {
            stores[memory.0 as usize].push(id);
        }
        let acts = matches!(
            node.op,
            Op::Reset
                | Op::Get(_)
                | Op::Put(_)
                | Op::Ready(_)
                | Op::Waiting(_)
                | Op::Wait(..)
                | Op::Delay(..)
                | Op::Print(_)
        );
        let starts = node.inputs.iter().all(|input| !matches!(circuit.source(*input).op, Op::Undefined(_)));
        if acts && starts {
            work.push(id);
        }
    }
    while let Some(id) = work.pop() {
        if std::mem::replace(&mut live[id.0 as usize], true) {
            continue;
        }
        let node = circuit.node(id);
        work.extend(node.inputs.iter().map(|input| circuit.value(*input).node));
        if let Op::Fetch(port) = node.op
            && let Some(memory) = memory(circuit, port)
        {
            work.append(&mut stores[memory.0 as usize]);
        }
    }
    let all = live.iter().all(|live| *live);
    if !all {
        circuit.retain(|id, _| live[id.0 as usize]);
    }
    !all
}

fn memory(circuit: &Circuit, port: PortId) -> Option<MemoryId> {
    match circuit.port(port).kind {
        PortKind::Memory(memory) => Some(memory),
        _ => None,
    }
}

/// Removes debug output; what only it depends on is dead.
pub fn remove_prints(circuit: &mut Circuit) {
    let mut substitution = Substitution::new(circuit);
    let prints = |node: &crate::circuit::graph::Node| matches!(node.op, Op::Print(_));
    for (_, node) in circuit.nodes().filter(|(_, node)| prints(node)) {
        substitution.replace(node.outputs[0], node.inputs[0]);
    }
    substitution.apply(circuit);
    circuit.retain(|_, node| !prints(node));
}
