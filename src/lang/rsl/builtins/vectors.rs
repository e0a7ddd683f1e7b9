//! Components, lengths and matrices (RISpec 3.2, sections 15.2 to 15.4).

use super::super::matrices;
use super::{Row, row};
use shadewright_ir::{FunctionBuilder, Value};

/// The rows of the functions for components, lengths and matrices.
pub(super) const ROWS: &[Row] = &[
    row("xcomp", "f:v", |b, a| vec![b.extract(a[0], 0)]),
    row("ycomp", "f:v", |b, a| vec![b.extract(a[0], 1)]),
    row("zcomp", "f:v", |b, a| vec![b.extract(a[0], 2)]),
    row("xcomp", "f:c", |b, a| vec![b.extract(a[0], 0)]),
    row("ycomp", "f:c", |b, a| vec![b.extract(a[0], 1)]),
    row("zcomp", "f:c", |b, a| vec![b.extract(a[0], 2)]),
    row("comp", "f:cf", comp),
    row("comp", "f:vf", comp),
    row("setxcomp", "x:&pf", |b, a| vec![b.insert(a[0], a[1], 0)]),
    row("setxcomp", "x:&vf", |b, a| vec![b.insert(a[0], a[1], 0)]),
    row("setxcomp", "x:&nf", |b, a| vec![b.insert(a[0], a[1], 0)]),
    row("setxcomp", "x:&cf", |b, a| vec![b.insert(a[0], a[1], 0)]),
    row("setycomp", "x:&pf", |b, a| vec![b.insert(a[0], a[1], 1)]),
    row("setycomp", "x:&vf", |b, a| vec![b.insert(a[0], a[1], 1)]),
    row("setycomp", "x:&nf", |b, a| vec![b.insert(a[0], a[1], 1)]),
    row("setycomp", "x:&cf", |b, a| vec![b.insert(a[0], a[1], 1)]),
    row("setzcomp", "x:&pf", |b, a| vec![b.insert(a[0], a[1], 2)]),
    row("setzcomp", "x:&vf", |b, a| vec![b.insert(a[0], a[1], 2)]),
    row("setzcomp", "x:&nf", |b, a| vec![b.insert(a[0], a[1], 2)]),
    row("setzcomp", "x:&cf", |b, a| vec![b.insert(a[0], a[1], 2)]),
    row("setcomp", "x:&cff", setcomp),
    row("setcomp", "x:&pff", setcomp),
    row("setcomp", "x:&vff", setcomp),
    row("setcomp", "x:&nff", setcomp),
    row("comp", "f:mff", matrices::component),
    row("setcomp", "x:&mfff", matrices::set_component),
    row("determinant", "f:m", |b, a| vec![matrices::determinant(b, a[0])]),
    row("translate", "m:mv", matrices::translate),
    row("scale", "m:mv", matrices::scale),
    row("length", "f:v", |b, a| vec![b.length(a[0])]),
    row("distance", "f:pp", |b, a| vec![b.distance(a[0], a[1])]),
    row("normalize", "v:v", |b, a| vec![b.normalize(a[0])]),
];

/// Component `i` of a triple: below 1 the first, from 2 on the last.
pub fn comp(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let parts = [0, 1, 2].map(|i| b.extract(args[0], i));
    let (one, two) = (b.f32(1.0), b.f32(2.0));
    let below_one = b.lt(args[1], one);
    let below_two = b.lt(args[1], two);
    let last = b.select(below_two, parts[1], parts[2]);
    vec![b.select(below_one, parts[0], last)]
}

/// A triple with another component `i`.
pub fn setcomp(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let changed = [0, 1, 2].map(|i| b.insert(args[0], args[2], i));
    let (one, two) = (b.f32(1.0), b.f32(2.0));
    let below_one = b.lt(args[1], one);
    let below_two = b.lt(args[1], two);
    let last = b.select(below_two, changed[1], changed[2]);
    vec![b.select(below_one, changed[0], last)]
}
