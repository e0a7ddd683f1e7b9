//! The program that prepares polygons for the scan converters (figure 3-15): it finds the leftmost
//! of the topmost vertices, and sends the vertices of the left and of the right side from top to
//! bottom, each with the slopes of the edge above it.
//!
//! Scan lines are numbered from the top, so here y grows downwards. The figure looks for the
//! smallest y, walks towards smaller y from there, and sends slopes that point upwards.
//! A side ends at the bottom vertex, which is found together with the topmost: comparing positions
//! in lists, unlike depths on the screen, does not depend on rounding.

use super::instructions::{Condition, Instruction as I, Scale, at, operand};
use super::layout::{CLIPPED, INPUTS, LISTS, ONE, WORK, X, Y, Z, field};

/// Positions in the list: the topmost vertex, the bottom one, and the current one.
const TOP: u8 = WORK;
const BOTTOM: u8 = WORK + 1;
const POSITION: u8 = WORK + 4;
/// From a vertex to the next of its side: 1 or −1.
const DIRECTION: u8 = WORK + 2;
/// Sides that are still to be sent.
const SIDES: u8 = WORK + 3;
/// Words for sums.
const WORD: u8 = WORK + 5;
const OTHER: u8 = WORK + 6;
/// The values that were sent of the vertex before: y, x, z and the fields.
const LAST: u8 = WORK + 7;

const LIST: u8 = LISTS[0];

/// Prepares polygons with so many fields.
pub fn program(fields: usize) -> Vec<I> {
    let mut body = find();
    body.extend(orient());
    body.extend([I::Literal(0.0), I::Store(at(SIDES)), I::Load(at(INPUTS)), I::Shutdown(Condition::NotPositive)]);
    body.extend([I::Literal(2.0), I::Store(at(SIDES)), I::Reset, I::LoadIndex(0, at(TOP))]);
    // The top and the bottom vertex belong to both sides.
    for _ in 0..CLIPPED + 2 {
        body.extend(send(fields));
        body.extend(advance());
    }
    body
}

/// Finds the topmost and the bottom vertex.
fn find() -> Vec<I> {
    let [place, vertex, top, bottom] = [0, 1, 2, 3];
    let in_list = [I::Load(at(INPUTS)), I::SubtractIndex(place), I::Shutdown(Condition::NotPositive)];
    let mut body = vec![I::SetIndex(place, 0), I::StoreIndex(place, at(TOP)), I::StoreIndex(place, at(BOTTOM))];
    body.extend([I::LoadIndex(top, at(LIST)), I::LoadIndex(bottom, at(LIST)), I::Increment(place)]);
    for _ in 1..CLIPPED {
        body.extend(in_list);
        body.push(I::LoadIndex(vertex, operand(LIST, place)));
        let to_top = [I::StoreIndex(place, at(TOP)), I::LoadIndex(top, operand(LIST, place)), I::Reset];
        // On the same line as the topmost and to its left.
        body.extend([I::Load(operand(Y, vertex)), I::Subtract(operand(Y, top)), I::Shutdown(Condition::NotZero)]);
        body.extend([I::Load(operand(X, vertex)), I::Subtract(operand(X, top)), I::Shutdown(Condition::NotNegative)]);
        body.extend(to_top);
        body.extend(in_list);
        body.extend([I::Load(operand(Y, vertex)), I::Subtract(operand(Y, top)), I::Shutdown(Condition::NotNegative)]);
        body.extend(to_top);
        body.extend(in_list);
        body.extend([
            I::Load(operand(Y, bottom)),
            I::Subtract(operand(Y, vertex)),
            I::Shutdown(Condition::NotNegative),
        ]);
        body.extend([I::StoreIndex(place, at(BOTTOM)), I::LoadIndex(bottom, operand(LIST, place)), I::Reset]);
        body.push(I::Increment(place));
    }
    body
}

/// Finds the direction of the left side: the neighbors of the topmost vertex lie on both sides.
fn orient() -> Vec<I> {
    let [place, next, top, previous] = [0, 1, 2, 3];
    let mut body = vec![I::LoadIndex(place, at(TOP)), I::Increment(place), I::Load(at(INPUTS))];
    body.extend([I::SubtractIndex(place), I::Shutdown(Condition::NotZero), I::SetIndex(place, 0), I::Reset]);
    body.extend([I::LoadIndex(next, operand(LIST, place)), I::LoadIndex(place, at(TOP)), I::Load(at(TOP))]);
    body.extend([I::Shutdown(Condition::NotZero), I::LoadIndex(place, at(INPUTS)), I::Reset]);
    body.extend([I::Decrement(place), I::LoadIndex(previous, operand(LIST, place))]);
    let difference = |array: u8, index: u8| [I::Load(operand(array, index)), I::Subtract(operand(array, top))];
    for (word, factors) in [(WORD, [(X, previous), (Y, next)]), (OTHER, [(Y, previous), (X, next)])] {
        body.extend(difference(factors[0].0, factors[0].1));
        body.push(I::Store(at(word)));
        body.extend(difference(factors[1].0, factors[1].1));
        body.extend([I::Multiply(at(word)), I::Store(at(word))]);
    }
    body.extend([I::Literal(1.0), I::Store(at(DIRECTION)), I::Load(at(WORD)), I::Subtract(at(OTHER))]);
    body.extend([I::Shutdown(Condition::NotNegative), I::Literal(-1.0), I::Store(at(DIRECTION)), I::Reset]);
    body
}

/// Sends the current vertex, and shuts down the processors that have sent all.
fn send(fields: usize) -> Vec<I> {
    let [place, vertex] = [0, 1];
    let mut body =
        vec![I::Load(at(SIDES)), I::Shutdown(Condition::NotPositive), I::LoadIndex(vertex, operand(LIST, place))];
    body.extend([I::Load(operand(Y, vertex)), I::Quantize(Scale::Line), I::Store(at(OTHER)), I::Send]);
    // The reciprocal of the scan lines that the edge spans.
    body.extend([I::Subtract(at(LAST)), I::Store(at(WORD)), I::Load(at(ONE)), I::Divide(at(WORD))]);
    body.extend([I::Store(at(WORD)), I::Load(at(OTHER)), I::Store(at(LAST))]);
    let fields = (0..fields).map(|number| (field(number), Scale::Field));
    let values = [(X, Scale::Across), (Z, Scale::Depth)].into_iter().chain(fields);
    for (last, (array, scale)) in (LAST + 1..).zip(values) {
        body.extend([I::Load(operand(array, vertex)), I::Quantize(scale), I::Store(at(OTHER)), I::Send]);
        body.extend([I::Subtract(at(last)), I::Multiply(at(WORD)), I::SendSlope]);
        body.extend([I::Load(at(OTHER)), I::Store(at(last))]);
    }
    body
}

/// Goes on to the next vertex of the side, or at the bottom to the top of the other side.
fn advance() -> Vec<I> {
    let place = 0;
    let mut body = vec![I::StoreIndex(place, at(POSITION)), I::Load(at(BOTTOM)), I::SubtractIndex(place)];
    body.extend([I::Shutdown(Condition::NotZero), I::Load(at(SIDES)), I::Subtract(at(ONE)), I::Store(at(SIDES))]);
    body.extend([I::Load(at(DIRECTION)), I::Negate, I::Store(at(DIRECTION))]);
    body.extend([I::Load(at(TOP)), I::Subtract(at(DIRECTION)), I::Store(at(POSITION)), I::Reset]);
    // Positions wrap around at both ends of the list.
    body.extend([I::Load(at(POSITION)), I::Add(at(DIRECTION)), I::Store(at(POSITION))]);
    body.extend([I::Shutdown(Condition::NotNegative), I::Add(at(INPUTS)), I::Store(at(POSITION)), I::Reset]);
    body.extend([I::Load(at(POSITION)), I::Subtract(at(INPUTS)), I::Shutdown(Condition::Negative)]);
    body.extend([I::Store(at(POSITION)), I::Reset, I::LoadIndex(place, at(POSITION))]);
    body
}
