//! The GPU's own transcendental functions, in place of those of the standard library that the linker
//! marked so ([`Inlining::Native`]).

use super::code::{Code, Expr};
use naga::{Expression, MathFunction as Math};
use shadewright_ir::abi::library;
use shadewright_ir::{Function, Inlining};

/// Functions of the library and of WGSL that compute the same where WGSL says what its own does.
/// Others (`atan` of two arguments, `pow`, `log` to a base) call these.
const FUNCTIONS: [(&str, Math); 10] = [
    ("sin", Math::Sin),
    ("cos", Math::Cos),
    ("tan", Math::Tan),
    ("asin", Math::Asin),
    ("acos", Math::Acos),
    ("atan.f.f", Math::Atan),
    ("exp", Math::Exp),
    ("exp2", Math::Exp2),
    ("log.f.f", Math::Log),
    ("log2", Math::Log2),
];

/// The GPU's own function that takes the place of this one.
pub(super) fn native_math(func: &Function) -> Option<Math> {
    let rows = || FUNCTIONS.iter().find(|(name, _)| *func.name == *library::name(name));
    (func.inlining == Inlining::Native).then(rows)?.map(|(_, own)| *own)
}

/// The value of the GPU's own function. The library clamps what arc sine and arc cosine take, so
/// that rounding never makes them undefined.
pub(super) fn call(code: &mut Code, own: Math, x: Expr) -> Expr {
    let x = match own {
        Math::Asin | Math::Acos => {
            let (low, high) = (code.f32(-1.0), code.f32(1.0));
            code.expr(Expression::Math { fun: Math::Clamp, arg: x, arg1: Some(low), arg2: Some(high), arg3: None })
        }
        _ => x,
    };
    code.math(own, x)
}
