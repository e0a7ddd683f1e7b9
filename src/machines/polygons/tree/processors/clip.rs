//! The program that clips polygons to the six planes (figures 3-12 and 3-13), one after the other.
//!
//! Lists hold the numbers of vertices. An edge that crosses the plane is noted while the list is
//! read; the intersections, of which a convex polygon has at most two, are computed afterwards.
//!
//! The figures note edges that enter the visible volume and forget those that leave it. Here an edge
//! crosses if the distances of its ends have opposite signs. A vertex on the plane is visible, and
//! stands for the crossing itself.

use super::instructions::{Condition, Instruction as I, Operand, at, operand};
use super::layout::{COUNT, CROSSING, CROSSINGS, INPUTS, LISTS, MADE, ONE, OUTPUTS, W, WORK, X, Y, Z, field};

/// The distances of the vertex and of the one before, and the parameter of an intersection.
const DISTANCE: u8 = WORK;
const BEFORE: u8 = WORK + 1;
const PARAMETER: u8 = WORK + 2;
/// A number that goes from one index register to another.
const NUMBER: u8 = WORK + 3;

/// Index registers: the place in the list, the vertex, the vertex before, and where something goes.
const PLACE: u8 = 0;
const VERTEX: u8 = 1;
const PREVIOUS: u8 = 2;
const NEXT: u8 = 3;

/// The planes, in the order of figures 3-12 and 3-13.
const PLANES: [Plane; 6] = [
    Plane { array: X, sign: Sign::Below },
    Plane { array: X, sign: Sign::Above },
    Plane { array: Y, sign: Sign::Below },
    Plane { array: Y, sign: Sign::Above },
    Plane { array: Z, sign: Sign::Front },
    Plane { array: Z, sign: Sign::Below },
];

/// A plane.
#[derive(Clone, Copy)]
struct Plane {
    array: u8,
    sign: Sign,
}

/// The bound that a coordinate is compared with.
#[derive(Clone, Copy)]
enum Sign {
    /// At most `w`.
    Below,
    /// At least `−w`.
    Above,
    /// At least 0.
    Front,
}

impl Plane {
    /// Instructions that load the distance of a vertex; it is not negative inside.
    fn distance(self, index: u8) -> Vec<I> {
        match self.sign {
            Sign::Below => vec![I::Load(operand(W, index)), I::Subtract(operand(self.array, index))],
            Sign::Above => vec![I::Load(operand(W, index)), I::Add(operand(self.array, index))],
            Sign::Front => vec![I::Load(operand(self.array, index))],
        }
    }
}

/// Clips against all planes. The polygon is then in the first list.
pub fn program(fields: usize) -> Vec<I> {
    let mut body = vec![I::Load(at(COUNT)), I::Store(at(INPUTS)), I::SetIndex(PLACE, 0)];
    for corner in 0..4 {
        body.extend([I::StoreIndex(PLACE, at(LISTS[0] + corner)), I::Increment(PLACE)]);
    }
    body.push(I::StoreIndex(PLACE, at(MADE)));
    for (number, plane) in PLANES.into_iter().enumerate() {
        let [from, to] = [LISTS[number % 2], LISTS[(number + 1) % 2]];
        body.extend(start(plane, from));
        for _ in 0..4 + number {
            body.extend(look(plane, from, to));
        }
        for _ in 0..2 {
            body.extend(intersect(plane, fields));
        }
        body.extend([I::Load(at(OUTPUTS)), I::Store(at(INPUTS))]);
    }
    body
}

/// Empties the output list, and takes the last vertex as the one before the first.
fn start(plane: Plane, from: u8) -> Vec<I> {
    let mut body = vec![I::Literal(0.0), I::Store(at(OUTPUTS)), I::Store(at(CROSSINGS)), I::SetIndex(PLACE, 0)];
    body.extend([I::LoadIndex(NEXT, at(INPUTS)), I::Decrement(NEXT), I::LoadIndex(PREVIOUS, operand(from, NEXT))]);
    body.extend(plane.distance(PREVIOUS));
    body.push(I::Store(at(BEFORE)));
    body
}

/// Looks at one vertex, and at the edge that leads to it.
fn look(plane: Plane, from: u8, to: u8) -> Vec<I> {
    let in_list = [I::Load(at(INPUTS)), I::SubtractIndex(PLACE), I::Shutdown(Condition::NotPositive)];
    let mut body = in_list.to_vec();
    body.push(I::LoadIndex(VERTEX, operand(from, PLACE)));
    body.extend(plane.distance(VERTEX));
    body.extend([I::Store(at(DISTANCE)), I::Multiply(at(BEFORE)), I::Shutdown(Condition::NotNegative)]);
    // The edge crosses the plane: its new vertex is noted.
    body.extend([I::LoadIndex(NEXT, at(CROSSINGS)), I::StoreIndex(VERTEX, operand(CROSSING[0], NEXT))]);
    body.extend([I::StoreIndex(PREVIOUS, operand(CROSSING[1], NEXT)), I::Load(at(MADE))]);
    body.extend([I::Store(operand(CROSSING[2], NEXT)), I::Increment(NEXT), I::StoreIndex(NEXT, at(CROSSINGS))]);
    body.extend([I::LoadIndex(NEXT, at(OUTPUTS)), I::Store(operand(to, NEXT))]);
    body.extend([I::Add(at(ONE)), I::Store(at(MADE)), I::Increment(NEXT), I::StoreIndex(NEXT, at(OUTPUTS)), I::Reset]);
    body.extend(in_list);
    body.extend([I::Load(at(DISTANCE)), I::Shutdown(Condition::Negative)]);
    // The vertex is visible.
    body.extend([I::LoadIndex(NEXT, at(OUTPUTS)), I::StoreIndex(VERTEX, operand(to, NEXT)), I::Increment(NEXT)]);
    body.extend([I::StoreIndex(NEXT, at(OUTPUTS)), I::Reset]);
    body.extend([I::Load(at(DISTANCE)), I::Store(at(BEFORE)), I::StoreIndex(VERTEX, at(NUMBER))]);
    body.extend([I::LoadIndex(PREVIOUS, at(NUMBER)), I::Increment(PLACE)]);
    body
}

/// Computes the intersection that was noted last.
fn intersect(plane: Plane, fields: usize) -> Vec<I> {
    let mut body = vec![I::Load(at(CROSSINGS)), I::Shutdown(Condition::NotPositive)];
    body.extend([I::LoadIndex(PLACE, at(CROSSINGS)), I::Decrement(PLACE), I::StoreIndex(PLACE, at(CROSSINGS))]);
    body.extend((0..3).map(|k| I::LoadIndex([VERTEX, PREVIOUS, NEXT][k], operand(CROSSING[k], PLACE))));
    body.extend(plane.distance(PREVIOUS));
    body.push(I::Store(at(BEFORE)));
    body.extend(plane.distance(VERTEX));
    body.extend([I::Store(at(DISTANCE)), I::Load(at(BEFORE)), I::Subtract(at(DISTANCE)), I::Store(at(PARAMETER))]);
    body.extend([I::Load(at(BEFORE)), I::Divide(at(PARAMETER)), I::Store(at(PARAMETER))]);
    for array in [X, Y, Z, W].into_iter().chain((0..fields).map(field)) {
        let element = |index: u8| -> Operand { operand(array, index) };
        body.extend([I::Load(element(VERTEX)), I::Subtract(element(PREVIOUS)), I::Multiply(at(PARAMETER))]);
        body.extend([I::Add(element(PREVIOUS)), I::Store(element(NEXT))]);
    }
    body.push(I::Reset);
    body
}
