//! The few library functions that look at the bits of a float: the rest is written in RSL.

use crate::ir::{Class, Const, Function, FunctionBuilder, FunctionKind, Op, Type, Value};

/// All of them: `std.__exp2i`, `std.__exponent`, `std.__mantissa`, each from a float to a float.
pub fn functions() -> Vec<Function> {
    vec![
        function("std.__exp2i", exp2i),
        function("std.__exponent", |b, x| split(b, x)[0]),
        function("std.__mantissa", |b, x| split(b, x)[1]),
    ]
}

fn function(name: &'static str, body: impl Fn(&mut FunctionBuilder, Value) -> Value) -> Function {
    let mut b = FunctionBuilder::new(name, FunctionKind::Function);
    b.result("return", Type::F32);
    let x = b.param("x", Type::F32, Class::Varying);
    let result = body(&mut b, x);
    b.ret(vec![result]);
    b.finish()
}

fn i32(b: &mut FunctionBuilder, x: i32) -> Value {
    b.constant(Const::I32(x))
}

/// 2ⁿ for a whole `n` in −126..127, which the caller sees to.
fn exp2i(b: &mut FunctionBuilder, n: Value) -> Value {
    let n = b.op_as(Op::ToInt, &[n], Type::I32);
    let bias = i32(b, 127);
    let n = b.op(Op::IAdd, &[n, bias]);
    let shift = i32(b, 23);
    let bits = b.op(Op::IShl, &[n, shift]);
    b.op_as(Op::Bitcast, &[bits], Type::F32)
}

/// The exponent `e` and mantissa `m` of a positive normal float: `x = m·2ᵉ` with `m` in [√½, √2).
fn split(b: &mut FunctionBuilder, x: Value) -> [Value; 2] {
    /// The bits of √½ (0x3f3504f3): subtracting them moves the boundary between exponents there.
    const ROOT_HALF: i32 = 0x3f35_04f3;
    let bits = b.op_as(Op::Bitcast, &[x], Type::I32);
    let root = i32(b, ROOT_HALF);
    let moved = b.op(Op::ISub, &[bits, root]);
    let shift = i32(b, 23);
    let exponent = b.op(Op::IShr, &[moved, shift]);
    let scaled = b.op(Op::IShl, &[exponent, shift]);
    let mantissa = b.op(Op::ISub, &[bits, scaled]);
    let mantissa = b.op_as(Op::Bitcast, &[mantissa], Type::F32);
    let exponent = b.op(Op::ToFloat, &[exponent]);
    [exponent, mantissa]
}
