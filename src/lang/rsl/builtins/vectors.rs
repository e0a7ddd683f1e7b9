//! Components, lengths and matrices (RISpec 3.2, sections 15.2 to 15.4).

use super::super::matrices;
use super::{Row, row};
use shadewright_ir::emitter::normalize;
use shadewright_ir::{FunctionBuilder, Op, Value};

/// The rows of the functions for components, lengths and matrices.
pub(super) const ROWS: &[Row] = &[
    row("xcomp", "f:v", |b, a| vec![b.op(Op::Extract(0), a)]),
    row("ycomp", "f:v", |b, a| vec![b.op(Op::Extract(1), a)]),
    row("zcomp", "f:v", |b, a| vec![b.op(Op::Extract(2), a)]),
    row("xcomp", "f:c", |b, a| vec![b.op(Op::Extract(0), a)]),
    row("ycomp", "f:c", |b, a| vec![b.op(Op::Extract(1), a)]),
    row("zcomp", "f:c", |b, a| vec![b.op(Op::Extract(2), a)]),
    row("comp", "f:cf", comp),
    row("comp", "f:vf", comp),
    row("setxcomp", "x:&pf", |b, a| vec![b.op(Op::Insert(0), a)]),
    row("setxcomp", "x:&vf", |b, a| vec![b.op(Op::Insert(0), a)]),
    row("setxcomp", "x:&nf", |b, a| vec![b.op(Op::Insert(0), a)]),
    row("setxcomp", "x:&cf", |b, a| vec![b.op(Op::Insert(0), a)]),
    row("setycomp", "x:&pf", |b, a| vec![b.op(Op::Insert(1), a)]),
    row("setycomp", "x:&vf", |b, a| vec![b.op(Op::Insert(1), a)]),
    row("setycomp", "x:&nf", |b, a| vec![b.op(Op::Insert(1), a)]),
    row("setycomp", "x:&cf", |b, a| vec![b.op(Op::Insert(1), a)]),
    row("setzcomp", "x:&pf", |b, a| vec![b.op(Op::Insert(2), a)]),
    row("setzcomp", "x:&vf", |b, a| vec![b.op(Op::Insert(2), a)]),
    row("setzcomp", "x:&nf", |b, a| vec![b.op(Op::Insert(2), a)]),
    row("setzcomp", "x:&cf", |b, a| vec![b.op(Op::Insert(2), a)]),
    row("setcomp", "x:&cff", setcomp),
    row("setcomp", "x:&pff", setcomp),
    row("setcomp", "x:&vff", setcomp),
    row("setcomp", "x:&nff", setcomp),
    row("comp", "f:mff", matrices::component),
    row("setcomp", "x:&mfff", matrices::set_component),
    row("determinant", "f:m", |b, a| vec![matrices::determinant(b, a[0])]),
    row("translate", "m:mv", matrices::translate),
    row("scale", "m:mv", matrices::scale),
    row("length", "f:v", |b, a| vec![length(b, a[0])]),
    row("distance", "f:pp", |b, a| {
        let d = b.op(Op::Sub, a);
        vec![length(b, d)]
    }),
    row("normalize", "v:v", |b, a| vec![normalize(b, a[0])]),
];

/// The length of a vector.
fn length(b: &mut FunctionBuilder, v: Value) -> Value {
    let square = b.op(Op::Dot, &[v, v]);
    b.op(Op::Sqrt, &[square])
}

/// Component `i` of a triple: below 1 the first, from 2 on the last.
pub fn comp(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let parts = [0, 1, 2].map(|i| b.op(Op::Extract(i), &args[..1]));
    let (one, two) = (b.f32(1.0), b.f32(2.0));
    let below_one = b.op(Op::Lt, &[args[1], one]);
    let below_two = b.op(Op::Lt, &[args[1], two]);
    let last = b.op(Op::Select, &[below_two, parts[1], parts[2]]);
    vec![b.op(Op::Select, &[below_one, parts[0], last])]
}

/// A triple with another component `i`.
pub fn setcomp(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let changed = [0, 1, 2].map(|i| b.op(Op::Insert(i), &[args[0], args[2]]));
    let (one, two) = (b.f32(1.0), b.f32(2.0));
    let below_one = b.op(Op::Lt, &[args[1], one]);
    let below_two = b.op(Op::Lt, &[args[1], two]);
    let last = b.op(Op::Select, &[below_two, changed[1], changed[2]]);
    vec![b.op(Op::Select, &[below_one, changed[0], last])]
}
