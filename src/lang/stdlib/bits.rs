//! The library functions that need the bits of a float, or integers; the others are written in RSL.

use shadewright_ir::abi::library;
use shadewright_ir::{Function, FunctionBuilder, Op, Type, Value};

use super::noise;

/// The bits of √½, the least mantissa of `__mantissa`.
const ROOT_HALF: i32 = 0x3f35_04f3;
/// The bits of 1, that of `__unit_mantissa`.
const ONE: i32 = 0x3f80_0000;

/// All of them: [`library::SEED`]; `std.__extent`, `(vec3, vec3) → f32`; `std.__scaled`,
/// `(f32 x, f32 n) → f32`; and `std.__exponent`, `std.__mantissa`, `std.__unit_exponent`,
/// `std.__unit_mantissa`, `std.__next_random`, `std.__scrambled`, each from a float to a float.
pub fn functions() -> Vec<Function> {
    vec![
        seed(),
        extent(),
        function(library::NEXT_RANDOM, next_random),
        function(library::SCRAMBLED, scrambled),
        scaled(),
        function(&library::name("__exponent"), |b, x| split(b, x, ROOT_HALF)[0]),
        function(&library::name("__mantissa"), |b, x| mantissa(b, x, ROOT_HALF)),
        function(&library::name("__unit_exponent"), |b, x| split(b, x, ONE)[0]),
        function(&library::name("__unit_mantissa"), |b, x| mantissa(b, x, ONE)),
    ]
}

fn function(name: &str, body: impl Fn(&mut FunctionBuilder, Value) -> Value) -> Function {
    let mut b = FunctionBuilder::library(name);
    b.result("return", Type::F32);
    let x = b.param("x", Type::F32);
    let result = body(&mut b, x);
    b.ret(vec![result]);
    b.finish()
}

/// x·2ⁿ for a positive `x` and a whole `n`, by the sum of the exponents, which the caller keeps in
/// the range of normal numbers. It changes with `x` alone.
fn scaled() -> Function {
    let mut b = FunctionBuilder::library(library::name("__scaled"));
    b.result("return", Type::F32);
    let [x, n] = ["x", "n"].map(|name| b.param(name, Type::F32));
    let bits = b.bitcast(x, Type::I32);
    let n = b.to_int(n, Type::I32);
    let shift = b.i32(23);
    let n = b.ishl(n, shift);
    let bits = b.iadd(bits, n);
    let scaled = b.bitcast(bits, Type::F32);
    let result = changing_as(&mut b, scaled, x);
    b.ret(vec![result]);
    b.finish()
}

/// `y`, which is `x` times a power of two that is constant but for jumps.
fn changing_as(b: &mut FunctionBuilder, y: Value, x: Value) -> Value {
    let inverse = b.rcp(x);
    let scale = b.mul(y, inverse);
    let [by_u, by_v] = [Op::Du, Op::Dv].map(|op| {
        let change = b.op(op, &[x]);
        b.mul(change, scale)
    });
    b.seed(y, by_u, by_v)
}

/// The mantissa, which changes as x/2ᵉ does: between the jumps of the exponent.
fn mantissa(b: &mut FunctionBuilder, x: Value, least: i32) -> Value {
    let mantissa = split(b, x, least)[1];
    changing_as(b, mantissa, x)
}

/// The exponent `e` and mantissa `m` of a positive normal float: `x = m·2ᵉ`, where `m` is at least
/// the float of these bits and less than twice that. Subtracting the bits moves the boundary
/// between exponents there.
fn split(b: &mut FunctionBuilder, x: Value, least: i32) -> [Value; 2] {
    let bits = b.bitcast(x, Type::I32);
    let least = b.i32(least);
    let moved = b.isub(bits, least);
    let shift = b.i32(23);
    let exponent = b.ishr(moved, shift);
    let scaled = b.ishl(exponent, shift);
    let mantissa = b.isub(bits, scaled);
    let mantissa = b.bitcast(mantissa, Type::F32);
    let exponent = b.to_float(exponent);
    [exponent, mantissa]
}

/// How large the scalar product of two vectors is, from 0 to below 1.5; that where it is infinite,
/// and more where it is not a number, as it is if a component is. It looks at bits, since compilers of
/// WGSL may take it that comparisons see numbers alone: those without the sign's, half as large,
/// are a number's whatever they stand for.
fn extent() -> Function {
    let mut b = FunctionBuilder::library(library::name("__extent"));
    b.result("return", Type::F32);
    let vectors = ["a", "b"].map(|name| b.param(name, Type::Vec3));
    let product = b.dot(vectors[0], vectors[1]);
    let bits = b.bitcast(product, Type::U32);
    let [one, two] = [1, 2].map(|shift| b.u32(shift));
    let unsigned = b.ishl(bits, one);
    let half = b.ishr(unsigned, two);
    let extent = b.bitcast(half, Type::F32);
    b.ret(vec![extent]);
    b.finish()
}

/// A hash of the bits of a position.
fn seed() -> Function {
    let mut b = FunctionBuilder::library(library::SEED);
    b.result("return", Type::F32);
    let p = b.param("p", Type::Vec3);
    let mut hash = b.u32(0);
    for axis in 0..3 {
        let x = b.extract(p, axis);
        let bits = b.bitcast(x, Type::U32);
        let mixed = b.ixor(hash, bits);
        hash = noise::round(&mut b, mixed);
    }
    let state = upper_bits(&mut b, hash);
    b.ret(vec![state]);
    b.finish()
}

/// The upper 24 bits of a number, as a float.
fn upper_bits(b: &mut FunctionBuilder, bits: Value) -> Value {
    let shift = b.u32(8);
    let bits = b.ishr(bits, shift);
    b.to_float(bits)
}

/// The next whole number below 2²⁴ of a sequence that meets all of them: a linear congruence, with
/// the multiplier 1 + 4k and the odd increment of Hull and Dobell 1962.
fn next_random(b: &mut FunctionBuilder, state: Value) -> Value {
    let state = b.to_int(state, Type::U32);
    let [factor, increment, mask] = [1_140_671_485, 12_820_163, 0x00ff_ffff].map(|c| b.u32(c));
    let product = b.imul(state, factor);
    let sum = b.iadd(product, increment);
    let next = b.iand(sum, mask);
    b.to_float(next)
}

/// A number in [0, 1) that a whole one below 2²⁴ stands for.
fn scrambled(b: &mut FunctionBuilder, state: Value) -> Value {
    let state = b.to_int(state, Type::U32);
    let hash = noise::round(b, state);
    let hash = noise::round(b, hash);
    let whole = upper_bits(b, hash);
    let scale = b.f32(1.0 / (1u32 << 24) as f32);
    b.mul(whole, scale)
}
