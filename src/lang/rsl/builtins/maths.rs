//! Mathematics (RISpec 3.2, section 15.1), as far as single operations express it, and the
//! intrinsics that the rest is written with.

use super::{Row, built, library, number, row, text};
use shadewright_ir::{FunctionBuilder, Op, Value};

/// The rows of the mathematical functions.
pub(super) const ROWS: &[Row] = &[
    row("abs", "f:f", |b, a| vec![b.op(Op::Abs, a)]),
    row("floor", "f:f", |b, a| vec![b.op(Op::Floor, a)]),
    row("sqrt", "f:f", |b, a| vec![b.op(Op::Sqrt, a)]),
    row("inversesqrt", "f:f", |b, a| vec![b.op(Op::Rsq, a)]),
    row("min", "f:ff*", |b, a| fold(b, Op::Min, a)),
    row("min", "c:cc*", |b, a| fold(b, Op::Min, a)),
    row("min", "p:pp*", |b, a| fold(b, Op::Min, a)),
    row("min", "v:vv*", |b, a| fold(b, Op::Min, a)),
    row("min", "n:nn*", |b, a| fold(b, Op::Min, a)),
    row("max", "f:ff*", |b, a| fold(b, Op::Max, a)),
    row("max", "c:cc*", |b, a| fold(b, Op::Max, a)),
    row("max", "p:pp*", |b, a| fold(b, Op::Max, a)),
    row("max", "v:vv*", |b, a| fold(b, Op::Max, a)),
    row("max", "n:nn*", |b, a| fold(b, Op::Max, a)),
    row("Du", "f:f", |b, a| vec![b.op(Op::Du, a)]),
    row("Du", "c:c", |b, a| vec![b.op(Op::Du, a)]),
    row("Du", "v:p", |b, a| vec![b.op(Op::Du, a)]),
    row("Du", "v:v", |b, a| vec![b.op(Op::Du, a)]),
    row("Du", "v:n", |b, a| vec![b.op(Op::Du, a)]),
    row("Dv", "f:f", |b, a| vec![b.op(Op::Dv, a)]),
    row("Dv", "c:c", |b, a| vec![b.op(Op::Dv, a)]),
    row("Dv", "v:p", |b, a| vec![b.op(Op::Dv, a)]),
    row("Dv", "v:v", |b, a| vec![b.op(Op::Dv, a)]),
    row("Dv", "v:n", |b, a| vec![b.op(Op::Dv, a)]),
    library("filterstep", "f:fff", "__filterstep").with(&[text("filter", "catmull-rom"), number("width", 1.0)]),
    library("filterstep", "f:ff", "__filterstep_of").with(&[text("filter", "catmull-rom"), number("width", 1.0)]),
    row("__sat", "f:f", |b, a| vec![b.op(Op::Sat, a)]),
    row("__frac", "f:f", |b, a| vec![b.op(Op::Frac, a)]),
    built("__scaled", "f:ff", "__scaled"),
    built("__exponent", "f:f", "__exponent"),
    built("__mantissa", "f:f", "__mantissa"),
    built("__unit_exponent", "f:f", "__unit_exponent"),
    built("__unit_mantissa", "f:f", "__unit_mantissa"),
];

fn fold(b: &mut FunctionBuilder, op: Op, args: &[Value]) -> Vec<Value> {
    let mut value = args[0];
    for &next in &args[1..] {
        value = b.op(op.clone(), &[value, next]);
    }
    vec![value]
}
