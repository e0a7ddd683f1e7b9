//! The operations that wait at the end of a simulation.

use super::simulator::FunctionalSimulator;
use crate::circuit::graph::{NodeId, Op};
use shadewright_base::text::source::Span;

/// An operation on a port that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The place in the program.
    pub span: Span,
    /// The operation that waits and what it waits for, as text.
    pub what: String,
    /// True if it waits for an input of the circuit.
    pub is_external_input: bool,
}

impl FunctionalSimulator<'_> {
    /// Operations that have their inputs and cannot go on.
    pub fn waits(&self) -> Vec<Wait> {
        let has_inputs = |id: NodeId| self.empty[id.0 as usize][0] == 0 && self.blocked[id.0 as usize] == 0;
        let nodes =
            self.circuit.nodes().filter(|(id, node)| matches!(node.op, Op::Get(_) | Op::Put(_)) && has_inputs(*id));
        nodes
            .map(|(_, node)| {
                let (Op::Get(port) | Op::Put(port)) = node.op else { unreachable!("filtered above") };
                let (port, is_get) = (self.circuit.port(port), matches!(node.op, Op::Get(_)));
                let what = match (is_get, port.kind.is_external()) {
                    (true, true) => format!("`{}.get` waits for a word", port.name),
                    (true, false) => format!("`{}.get` waits for a `put` at the other end", port.name),
                    (false, true) => format!("`{}.put` waits until the word is taken", port.name),
                    (false, false) => format!("`{}.put` waits for a `get` at the other end", port.name),
                };
                Wait { span: node.span, what, is_external_input: is_get && port.kind.is_external() }
            })
            .collect()
    }
}
