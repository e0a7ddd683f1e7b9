//! Mathematics (RISpec 3.2, section 15.1), as far as single operations express it, and the
//! intrinsics that the rest is written with.

use super::{Row, built, library, number, row, text};
use shadewright_ir::{FunctionBuilder, Op, Value};

/// The rows of the mathematical functions.
pub(super) const ROWS: &[Row] = &[
    row("abs", "f:f", |b, a| vec![b.abs(a[0])]),
    row("floor", "f:f", |b, a| vec![b.floor(a[0])]),
    row("sqrt", "f:f", |b, a| vec![b.sqrt(a[0])]),
    row("inversesqrt", "f:f", |b, a| vec![b.rsq(a[0])]),
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
    row("Du", "f:f", |b, a| vec![b.du(a[0])]),
    row("Du", "c:c", |b, a| vec![b.du(a[0])]),
    row("Du", "v:p", |b, a| vec![b.du(a[0])]),
    row("Du", "v:v", |b, a| vec![b.du(a[0])]),
    row("Du", "v:n", |b, a| vec![b.du(a[0])]),
    row("Dv", "f:f", |b, a| vec![b.dv(a[0])]),
    row("Dv", "c:c", |b, a| vec![b.dv(a[0])]),
    row("Dv", "v:p", |b, a| vec![b.dv(a[0])]),
    row("Dv", "v:v", |b, a| vec![b.dv(a[0])]),
    row("Dv", "v:n", |b, a| vec![b.dv(a[0])]),
    library("filterstep", "f:fff", "__filterstep").with(&[text("filter", "catmull-rom"), number("width", 1.0)]),
    library("filterstep", "f:ff", "__filterstep_of").with(&[text("filter", "catmull-rom"), number("width", 1.0)]),
    row("__sat", "f:f", |b, a| vec![b.sat(a[0])]),
    row("__frac", "f:f", |b, a| vec![b.frac(a[0])]),
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
