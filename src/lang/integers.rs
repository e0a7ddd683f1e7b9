//! Arithmetic of integers that the IR has no operation for.

use shadewright_ir::{FunctionBuilder, Type, Value};

/// `x / y` of integers, towards zero. Single precision gives the quotient up to some hundreds,
/// a second division the rest of that, and a last step corrects the rounding error. By 0 it is
/// what comes out.
pub fn quotient(b: &mut FunctionBuilder, x: Value, y: Value) -> Value {
    let divisor = b.to_float(y);
    let inverse = b.rcp(divisor);
    let mut left = x;
    let mut sum = b.i32(0);
    for _ in 0..2 {
        let float = b.to_float(left);
        let part = b.mul(float, inverse);
        let part = b.to_int(part, Type::I32);
        sum = b.iadd(sum, part);
        let product = b.imul(sum, y);
        left = b.isub(x, product);
    }
    // The remainder has the sign of x and is less than y: one step at most is missing.
    let [zero, one, minus_one] = [0, 1, -1].map(|n| b.i32(n));
    let both = b.ixor(left, y);
    let differ = b.ilt(both, zero);
    let towards = b.select(differ, minus_one, one);
    let signs = b.ixor(left, x);
    let is_beyond = b.ilt(signs, zero);
    let is_none = b.ieq(left, zero);
    let is_some = b.not(is_none);
    let is_beyond = b.and(is_beyond, is_some);
    let size = |b: &mut FunctionBuilder, v: Value| {
        let negative = b.isub(zero, v);
        let is_negative = b.ilt(v, zero);
        b.select(is_negative, negative, v)
    };
    let (rest, by) = (size(b, left), size(b, y));
    let is_less = b.ilt(rest, by);
    let is_whole = b.not(is_less);
    let wrong = b.or(is_beyond, is_whole);
    let corrected = b.iadd(sum, towards);
    b.select(wrong, corrected, sum)
}
