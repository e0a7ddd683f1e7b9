//! The program of the perspective division (figure 3-14).

use super::instructions::{Condition, Instruction as I, at, operand};
use super::layout::{CLIPPED, INPUTS, LISTS, W, X, Y, Z};

/// Divides the positions of the vertices by `w`.
pub fn program() -> Vec<I> {
    let [place, vertex] = [0, 1];
    let mut body = vec![I::SetIndex(place, 0)];
    for _ in 0..CLIPPED {
        body.extend([I::Load(at(INPUTS)), I::SubtractIndex(place), I::Shutdown(Condition::NotPositive)]);
        body.push(I::LoadIndex(vertex, operand(LISTS[0], place)));
        for array in [X, Y, Z] {
            body.extend([
                I::Load(operand(array, vertex)),
                I::Divide(operand(W, vertex)),
                I::Store(operand(array, vertex)),
            ]);
        }
        body.push(I::Increment(place));
    }
    body.push(I::Reset);
    body
}
