//! The functions by which a program declares that vectors have length 1, as RTSL's `unit` does.
//!
//! They return their argument, and [`shadewright_ir::passes::unit_vectors`] takes their results for unit
//! vectors. A program for a debugger has functions that print where that is wrong.

use crate::unit::{PRINTF, PRINTF_VALUE};
use shadewright_ir::abi::library;
use shadewright_ir::{Condition, Const, Control, Function, FunctionBuilder, Type, Value};

/// The types of vectors.
const TYPES: [Type; 3] = [Type::Vec2, Type::Vec3, Type::Vec4];

/// By how much the square of the length may differ from 1: half of that, the length.
const TOLERANCE: f32 = 1.0e-3;

/// All of them.
pub fn functions() -> Vec<Function> {
    TYPES.map(|ty| function(&library::unit(ty), ty, |_, _| {})).to_vec()
}

/// The same for one place in the source, under another name: it prints where the length is not 1.
pub fn checked(name: &str, ty: Type, place: &str) -> Function {
    function(name, ty, |b, v| {
        let square = b.dot(v, v);
        let [one, tolerance] = [1.0, TOLERANCE].map(|x| b.f32(x));
        let difference = b.sub(square, one);
        let difference = b.abs(difference);
        let is_unit = b.le(difference, tolerance);
        b.if_then(Condition::Fails(is_unit), |b| {
            let length = b.sqrt(square);
            b.debug(format!("{PRINTF_VALUE}f"), length);
            let place = place.replace('%', "%%");
            let message = format!("{place}: this vector is declared `unit`, and its length is %f\n");
            let message = b.constant(Const::String(message.into()));
            b.debug(PRINTF, message);
        });
    })
}

fn function(name: &str, ty: Type, check: impl Fn(&mut FunctionBuilder, Value)) -> Function {
    let mut b = FunctionBuilder::library(name);
    b.result("return", ty);
    let v = b.param("v", ty);
    check(&mut b, v);
    b.ret(vec![v]);
    b.finish()
}
