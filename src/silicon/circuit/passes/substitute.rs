//! Values that take the place of others.

use crate::circuit::graph::{Circuit, NodeId, ValueId};

/// For each value, the one that takes its place.
pub struct Substitution {
    target: Vec<ValueId>,
    changed: bool,
}

impl Substitution {
    /// Each value stays.
    pub fn new(circuit: &Circuit) -> Self {
        Self { target: circuit.values().map(|(id, _)| id).collect(), changed: false }
    }

    /// The value that stands for another in the end.
    pub fn resolve(&mut self, value: ValueId) -> ValueId {
        let mut end = value;
        while let Some(next) = self.target.get(end.0 as usize).filter(|next| **next != end) {
            end = *next;
        }
        // Shorten the way for the next time.
        let mut at = value;
        while at != end {
            at = std::mem::replace(&mut self.target[at.0 as usize], end);
        }
        end
    }

    /// Lets `by` take the place of `value`. Not if they stand for the same.
    pub fn replace(&mut self, value: ValueId, by: ValueId) {
        let by = self.resolve(by);
        if by != value {
            self.target[value.0 as usize] = by;
            self.changed = true;
        }
    }

    /// A value that has been added to the circuit since stands for itself.
    pub fn grow(&mut self, circuit: &Circuit) {
        let known = self.target.len();
        self.target.extend(circuit.values().skip(known).map(|(id, _)| id));
    }

    /// Replaces the inputs of all nodes; whether any value is replaced.
    pub fn apply(mut self, circuit: &mut Circuit) -> bool {
        if !self.changed {
            return false;
        }
        let nodes: Vec<(NodeId, Vec<ValueId>)> = circuit.nodes().map(|(id, node)| (id, node.inputs.clone())).collect();
        for (id, inputs) in nodes {
            for (index, input) in inputs.into_iter().enumerate() {
                let by = self.resolve(input);
                if by != input {
                    circuit.set_input(id, index, by);
                }
            }
        }
        true
    }
}
