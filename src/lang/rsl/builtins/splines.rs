//! Curves through control values (RISpec 3.2, section 15.1).

use super::{Row, row};
use crate::ir::{FunctionBuilder, Op, Type, Value};

/// What is here.
pub(super) const ROWS: &[Row] = &[
    row("spline", "f:fffff*", spline),
    row("spline", "c:fcccc*", spline),
    row("spline", "p:fpppp*", spline),
    row("spline", "v:fvvvv*", spline),
];

/// Catmull–Rom interpolation (Catmull & Rom 1974): `value` in 0..1 runs from the second control value to the last but one.
fn spline(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let (value, control) = (args[0], &args[1..]);
    let ty = b.ty(control[0]);
    let slot = b.slot("spline", ty, control.len() as u32);
    for (i, &c) in control.iter().enumerate() {
        let index = b.u32(i as u32);
        b.effect(Op::SlotStore(slot), &[index, c]);
    }
    let spans = control.len() - 3;
    let count = b.f32(spans as f32);
    let last = b.f32((spans - 1) as f32);
    let inside = b.op(Op::Sat, &[value]);
    let x = b.op(Op::Mul, &[inside, count]);
    let floor = b.op(Op::Floor, &[x]);
    let span = b.op(Op::Min, &[floor, last]);
    let t = b.op(Op::Sub, &[x, span]);
    let first = b.op_as(Op::ToInt, &[span], Type::U32);
    let p: Vec<Value> = (0..4)
        .map(|i| {
            let offset = b.u32(i);
            let index = b.op(Op::IAdd, &[first, offset]);
            b.op_as(Op::SlotLoad(slot), &[index], ty)
        })
        .collect();
    // p1 + t/2·((p2−p0) + t·((2p0 − 5p1 + 4p2 − p3) + t·(3(p1−p2) + p3 − p0)))
    let widen = |b: &mut FunctionBuilder, v: Value| if ty == Type::F32 { v } else { b.op_as(Op::Splat, &[v], ty) };
    let constant = |b: &mut FunctionBuilder, x: f32| {
        let c = b.f32(x);
        widen(b, c)
    };
    let t = widen(b, t);
    let scaled = |b: &mut FunctionBuilder, k: f32, v: Value| {
        let k = constant(b, k);
        b.op(Op::Mul, &[k, v])
    };
    let slope = b.op(Op::Sub, &[p[2], p[0]]);
    let two_p0 = scaled(b, 2.0, p[0]);
    let five_p1 = scaled(b, 5.0, p[1]);
    let four_p2 = scaled(b, 4.0, p[2]);
    let q = b.op(Op::Sub, &[two_p0, five_p1]);
    let q = b.op(Op::Add, &[q, four_p2]);
    let quadratic = b.op(Op::Sub, &[q, p[3]]);
    let middle = b.op(Op::Sub, &[p[1], p[2]]);
    let c = scaled(b, 3.0, middle);
    let c = b.op(Op::Add, &[c, p[3]]);
    let cubic = b.op(Op::Sub, &[c, p[0]]);
    let sum = b.op(Op::Mul, &[t, cubic]);
    let sum = b.op(Op::Add, &[quadratic, sum]);
    let sum = b.op(Op::Mul, &[t, sum]);
    let sum = b.op(Op::Add, &[slope, sum]);
    let half = scaled(b, 0.5, t);
    let sum = b.op(Op::Mul, &[half, sum]);
    vec![b.op(Op::Add, &[p[1], sum])]
}
