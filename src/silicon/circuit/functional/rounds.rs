//! When a loop may go round: when nothing of the last round is left.
//!
//! A conditional drops values, and those may come late: after all that the loop keeps. If the next
//! round began then, its values would meet those of the last one, and a merge would take them in the
//! wrong order. So a loop goes on only when no arc after its beginning holds a token, except those
//! to its own heads.

use super::simulator::FunctionalSimulator;
use crate::circuit::graph::{Circuit, LoopId, Op, ValueId};

/// For each value, the loops that have begun whenever it is there, whichever way conditionals go.
pub fn inside(circuit: &Circuit) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new(); circuit.values().len()];
    for of in 0..circuit.loops.len() as u32 {
        let reached = after(circuit, LoopId(of));
        for (loops, _) in all.iter_mut().zip(reached).filter(|(_, reached)| *reached) {
            loops.push(of);
        }
    }
    all
}

/// The values that come only after a loop has begun.
fn after(circuit: &Circuit, of: LoopId) -> Vec<bool> {
    let mut reached = vec![false; circuit.values().len()];
    let mut begun = vec![false; circuit.loops.len()];
    begun[of.0 as usize] = true;
    // Nodes are nearly in order: few passes reach all.
    loop {
        let mut changed = false;
        for (_, node) in circuit.nodes() {
            let at = |value: &ValueId| reached[value.0 as usize];
            let now = match node.op {
                Op::LoopMerge(id) => {
                    begun[id.0 as usize] |= node.inputs.first().is_some_and(at);
                    begun[id.0 as usize]
                }
                Op::Merge => node.inputs.iter().all(at),
                _ => node.inputs.iter().any(at),
            };
            for output in node.outputs.iter().filter(|_| now) {
                changed |= !std::mem::replace(&mut reached[output.0 as usize], true);
            }
        }
        if !changed {
            return reached;
        }
    }
}

impl FunctionalSimulator<'_> {
    /// A token of a value comes; `to` is the loop of whose heads it is the next value, if it is one.
    pub fn arrive(&mut self, value: ValueId, to: Option<u32>) {
        for of in self.inside[value.0 as usize].iter().filter(|of| Some(**of) != to) {
            self.flight[*of as usize] += 1;
        }
    }

    /// A token of a value goes.
    pub fn leave(&mut self, value: ValueId, to: Option<u32>) {
        let nodes = self.circuit.nodes().len() as u32;
        for i in 0..self.inside[value.0 as usize].len() {
            let of = self.inside[value.0 as usize][i];
            if Some(of) != to {
                self.flight[of as usize] -= 1;
                if self.flight[of as usize] == 0 {
                    self.wake(nodes + of);
                }
            }
        }
    }

    /// The loop of whose heads an arc holds the next value.
    pub fn next_of(&self, arc: usize) -> Option<u32> {
        let arc = &self.arcs[arc];
        (arc.side == 1).then(|| arc.unit - self.circuit.nodes().len() as u32)
    }
}
