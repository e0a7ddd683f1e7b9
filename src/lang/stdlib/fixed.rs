//! Fixed-point arithmetic that takes more than an instruction: the upper half of a product, a
//! quotient of more digits than a register holds, and the square root.

use shadewright_ir::abi::library;
use shadewright_ir::{Control, Function, FunctionBuilder, Type};

/// The upper 32 bits of the product of two numbers: `(u32, u32) → u32`.
pub const HIGH_PRODUCT: &str = "__high_product";
/// The same of numbers with signs: `(i32, i32) → i32`.
pub const SIGNED_HIGH_PRODUCT: &str = "__signed_high_product";
/// The lower 32 bits of `⌊a · 2ᵏ / b⌋`: `(u32 a, u32 b, u32 k) → u32`; 0 where `b` is 0.
pub const QUOTIENT: &str = "__long_quotient";
/// `⌊√x⌋`: `(u32) → u32`.
pub const ROOT: &str = "__whole_root";

/// All of them.
pub fn functions() -> Vec<Function> {
    vec![high_product(), signed_high_product(), quotient(), root()]
}

fn begin(name: &str, result: Type) -> FunctionBuilder {
    let mut b = FunctionBuilder::library(library::name(name));
    b.result("return", result);
    b
}

/// From the products of halves of 16 bits.
fn high_product() -> Function {
    let mut b = begin(HIGH_PRODUCT, Type::U32);
    let factors = ["a", "b"].map(|name| b.param(name, Type::U32));
    let (half, mask) = (b.u32(16), b.u32(0xffff));
    let [(al, ah), (bl, bh)] = factors.map(|x| (b.iand(x, mask), b.ishr(x, half)));
    let [low, first, second, high] = [(al, bl), (ah, bl), (al, bh), (ah, bh)].map(|(x, y)| b.imul(x, y));
    let mut middle = b.ishr(low, half);
    let mut sum = high;
    for part in [first, second] {
        let (lower, upper) = (b.iand(part, mask), b.ishr(part, half));
        middle = b.iadd(middle, lower);
        sum = b.iadd(sum, upper);
    }
    let carry = b.ishr(middle, half);
    let sum = b.iadd(sum, carry);
    b.ret(vec![sum]);
    b.finish()
}

/// That of the bits as numbers without signs, less each factor where the other is negative.
fn signed_high_product() -> Function {
    let mut b = begin(SIGNED_HIGH_PRODUCT, Type::I32);
    let factors = ["a", "b"].map(|name| b.param(name, Type::I32));
    let bits = factors.map(|x| b.bitcast(x, Type::U32));
    let high = b.call(library::name(HIGH_PRODUCT), bits.to_vec(), &[Type::U32])[0];
    let mut high = b.bitcast(high, Type::I32);
    let zero = b.i32(0);
    for (x, other) in [(factors[0], factors[1]), (factors[1], factors[0])] {
        let is_negative = b.ilt(x, zero);
        let less = b.select(is_negative, other, zero);
        high = b.isub(high, less);
    }
    b.ret(vec![high]);
    b.finish()
}

/// Long division, a bit a turn.
fn quotient() -> Function {
    let mut b = begin(QUOTIENT, Type::U32);
    let [dividend, divisor, zeros] = ["a", "b", "k"].map(|name| b.param(name, Type::U32));
    let [zero, one, top, bits] = [0, 1, 31, 32].map(|x| b.u32(x));
    let [left, rest, quotient, turn] = [dividend, zero, zero, zero].map(|start| b.variable_with(start));
    let turns = b.iadd(bits, zeros);
    let is_unfinished = |b: &mut FunctionBuilder| {
        let number = b.read(turn);
        b.ilt(number, turns)
    };
    let digit = |b: &mut FunctionBuilder| {
        let x = b.read(left);
        let digit = b.ishr(x, top);
        let x = b.ishl(x, one);
        b.write(left, x);
        let before = b.read(rest);
        // A rest of 33 bits is larger than any divisor.
        let carry = b.ishr(before, top);
        let is_large = b.ieq(carry, one);
        let after = b.ishl(before, one);
        let after = b.ior(after, digit);
        let is_less = b.ilt(after, divisor);
        let is_whole = b.not(is_less);
        let fits = b.or(is_large, is_whole);
        let difference = b.isub(after, divisor);
        let after = b.select(fits, difference, after);
        b.write(rest, after);
        let q = b.read(quotient);
        let q = b.ishl(q, one);
        let digit = b.select(fits, one, zero);
        let q = b.ior(q, digit);
        b.write(quotient, q);
        let number = b.read(turn);
        let next = b.iadd(number, one);
        b.write(turn, next);
    };
    b.loop_while(is_unfinished, digit);
    let q = b.read(quotient);
    let is_zero = b.ieq(divisor, zero);
    let q = b.select(is_zero, zero, q);
    b.ret(vec![q]);
    b.finish()
}

/// Digit by digit, two bits of the number for each of the root.
fn root() -> Function {
    let mut b = begin(ROOT, Type::U32);
    let mut left = b.param("x", Type::U32);
    let mut root = b.u32(0);
    let one = b.u32(1);
    for place in (0..16).rev() {
        let bit = b.u32(1 << (2 * place));
        let tried = b.ior(root, bit);
        let is_less = b.ilt(left, tried);
        let rest = b.isub(left, tried);
        let without = b.ishr(root, one);
        let with = b.ior(without, bit);
        left = b.select(is_less, left, rest);
        root = b.select(is_less, without, with);
    }
    b.ret(vec![root]);
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use shadewright_ir::{Const, EmptyWorld, Limits, Module, eval};

    fn run(name: &str, args: &[Const]) -> Const {
        let mut module = Module::new();
        module.functions = functions();
        let results = eval(&module, &library::name(name), args, &mut EmptyWorld, Limits::default());
        results.expect("it runs").remove(0)
    }

    proptest! {
        #[test]
        fn they_are_exact(a: u32, b: u32, k in 0u32..32, sign: i32, other: i32) {
            let (x, y) = (u64::from(a), u64::from(b));
            let unsigned = run(HIGH_PRODUCT, &[Const::U32(a), Const::U32(b)]);
            prop_assert_eq!(unsigned, Const::U32(((x * y) >> 32) as u32));
            let signed = run(SIGNED_HIGH_PRODUCT, &[Const::I32(sign), Const::I32(other)]);
            prop_assert_eq!(signed, Const::I32(((i64::from(sign) * i64::from(other)) >> 32) as i32));
            let expected = (x << k).checked_div(y).unwrap_or(0) as u32;
            let quotient = run(QUOTIENT, &[Const::U32(a), Const::U32(b), Const::U32(k)]);
            prop_assert_eq!(quotient, Const::U32(expected));
            prop_assert_eq!(run(ROOT, &[Const::U32(a)]), Const::U32(a.isqrt()));
        }
    }
}
