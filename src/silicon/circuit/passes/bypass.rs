//! Values that a loop does not change go around it (C.10, figure C-21).
//!
//! A head whose second input is the head itself, behind conditions, gives the same value in each
//! iteration. What leaves the loop by the opposite of the one condition that lets it repeat is the
//! value from before the loop. A head that never gets a second value makes its
//! loop no loop.

use super::substitute::Substitution;
use crate::circuit::graph::{Circuit, Op};

/// Leads values around loops; whether any were.
pub fn run(circuit: &mut Circuit) -> bool {
    let mut substitution = Substitution::new(circuit);
    let mut once = vec![false; circuit.loops.len()];
    for (_, node) in circuit.nodes() {
        if let Op::LoopMerge(id) = node.op {
            once[id.0 as usize] |= matches!(circuit.source(node.inputs[1]).op, Op::Undefined(_));
        }
    }
    let users = circuit.users();
    for (_, node) in circuit.nodes() {
        let Op::LoopMerge(id) = node.op else { continue };
        let (first, next, head) = (node.inputs[0], node.inputs[1], node.outputs[0]);
        if once[id.0 as usize] {
            substitution.replace(head, first);
            continue;
        }
        let back = circuit.source(next);
        let Some(exit) = opposite(&back.op).filter(|_| back.inputs[1] == head) else { continue };
        for (user, _) in &users[head.0 as usize] {
            let user = circuit.node(*user);
            if user.op == exit && user.inputs == back.inputs {
                substitution.replace(user.outputs[0], first);
            }
        }
    }
    substitution.apply(circuit)
}

fn opposite(op: &Op) -> Option<Op> {
    match op {
        Op::IfYes => Some(Op::IfNo),
        Op::IfNo => Some(Op::IfYes),
        _ => None,
    }
}
