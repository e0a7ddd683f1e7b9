//! IR for operations on vectors that the languages share.

use crate::ir::{FunctionBuilder, Op, Type, Value};

/// A vector of length 1 in the same direction; the zero vector stays.
pub fn normalize(b: &mut FunctionBuilder, v: Value) -> Value {
    let square = b.op(Op::Dot, &[v, v]);
    let zero = b.f32(0.0);
    let is_zero = b.op(Op::Eq, &[square, zero]);
    let inverse = b.op(Op::Rsq, &[square]);
    let inverse = b.op_as(Op::Splat, &[inverse], Type::Vec3);
    let unit = b.op(Op::Mul, &[v, inverse]);
    b.op(Op::Select, &[is_zero, v, unit])
}
