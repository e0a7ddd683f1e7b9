//! Arithmetic of integers that the IR has no operation for.

use shadewright_ir::{Const, FunctionBuilder, Op, Type, Value};

/// `x / y` of integers, towards zero. Single precision gives the quotient up to some hundreds,
/// a second division the rest of that, and a last step corrects the rounding error. By 0 it is
/// what comes out.
pub fn quotient(b: &mut FunctionBuilder, x: Value, y: Value) -> Value {
    let divisor = b.op(Op::ToFloat, &[y]);
    let inverse = b.op(Op::Rcp, &[divisor]);
    let mut left = x;
    let mut sum = b.constant(Const::I32(0));
    for _ in 0..2 {
        let float = b.op(Op::ToFloat, &[left]);
        let part = b.op(Op::Mul, &[float, inverse]);
        let part = b.op_as(Op::ToInt, &[part], Type::I32);
        sum = b.op(Op::IAdd, &[sum, part]);
        let product = b.op(Op::IMul, &[sum, y]);
        left = b.op(Op::ISub, &[x, product]);
    }
    // The remainder has the sign of x and is less than y: one step at most is missing.
    let [zero, one, minus_one] = [0, 1, -1].map(|n| b.constant(Const::I32(n)));
    let both = b.op(Op::IXor, &[left, y]);
    let differ = b.op(Op::ILt, &[both, zero]);
    let towards = b.op(Op::Select, &[differ, minus_one, one]);
    let signs = b.op(Op::IXor, &[left, x]);
    let is_beyond = b.op(Op::ILt, &[signs, zero]);
    let is_none = b.op(Op::IEq, &[left, zero]);
    let is_some = b.op(Op::Not, &[is_none]);
    let is_beyond = b.op(Op::And, &[is_beyond, is_some]);
    let size = |b: &mut FunctionBuilder, v: Value| {
        let negative = b.op(Op::ISub, &[zero, v]);
        let is_negative = b.op(Op::ILt, &[v, zero]);
        b.op(Op::Select, &[is_negative, negative, v])
    };
    let (rest, by) = (size(b, left), size(b, y));
    let is_less = b.op(Op::ILt, &[rest, by]);
    let is_whole = b.op(Op::Not, &[is_less]);
    let wrong = b.op(Op::Or, &[is_beyond, is_whole]);
    let corrected = b.op(Op::IAdd, &[sum, towards]);
    b.op(Op::Select, &[wrong, corrected, sum])
}
