//! Baking: the functions by which `bake3d` and `bake` leave what they write, and what a renderer
//! has to know to read it.
//!
//! A program that is linked for [`Output::Baked`](super::outputs::Output::Baked) returns to camera
//! rays, in place of `Ci`, one part of what the shader bakes; program constant 10 says in its last
//! component which. So one program serves all parts, and its image has the values themselves: it
//! has one sample a pixel, and every surface is opaque for it.

use crate::collect::Collected;
use crate::collect::primvars::strings_by_name;
use crate::collect::string_origins::{instances, strings_to};
use shadewright_ir::abi::frame::slots;
use shadewright_ir::abi::{BakeCall, Intrinsic};
use shadewright_ir::{Const, Function, FunctionBuilder, Module, Op, Type, string_id};
use shadewright_scene::Scene;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The calls that bake in the shaders of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baking {
    /// The calls, each with the number of its first part.
    pub calls: Vec<(BakeCall, u32)>,
    /// The names of the files, by their identifiers.
    pub files: BTreeMap<u32, Arc<str>>,
}

impl Baking {
    /// Finds the calls and files by which the shaders of a module of cores bake.
    pub fn new(module: &Module, scene: &Scene, collected: &Collected) -> Self {
        let insts = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
        if !insts.into_iter().any(|i| matches!(&i.op, Op::Call(name) if Intrinsic::BakeFile.is(name))) {
            return Self::default();
        }
        let variables = strings_by_name(scene);
        let strings = |callee| strings_to(module, &callee, instances(scene, collected), &variables);
        let texts: BTreeSet<Arc<str>> = strings(Intrinsic::BakePart).into_keys().collect();
        let mut next = 0;
        let calls = texts.iter().filter_map(|text| BakeCall::parse(text)).map(|call| {
            let first = next;
            next += call.parts() as u32;
            (call, first)
        });
        let calls = calls.collect();
        let files = strings(Intrinsic::BakeFile).into_keys().map(|name| (string_id(&name), name)).collect();
        Self { calls, files }
    }

    /// True if nothing is baked.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The functions of a program that bakes, or of one that does not (`active`).
    pub fn functions(&self, active: bool) -> Vec<Function> {
        vec![file(), self.part(active)]
    }

    /// [`Intrinsic::BakePart`].
    fn part(&self, active: bool) -> Function {
        let mut b = FunctionBuilder::linker(Intrinsic::BakePart);
        b.result("return", Type::Vec3);
        let call = b.param("call", Type::String);
        let part = b.param("part", Type::F32);
        let value = b.param("value", Type::Vec3);
        let before = b.param("before", Type::Vec3);
        if !active {
            b.ret(vec![before]);
            return b.finish();
        }
        let mut first = b.f32(-f32::MAX);
        for (known, number) in &self.calls {
            let known = b.constant(Const::String(known.to_string().into()));
            let is_it = b.ieq(call, known);
            let number = b.f32(*number as f32);
            first = b.select(is_it, number, first);
        }
        let number = b.add(first, part);
        let wanted = b.frame(slots::BAKED_PART);
        let is_wanted = b.eq(number, wanted);
        let chosen = b.select(is_wanted, value, before);
        b.ret(vec![chosen]);
        b.finish()
    }
}

/// [`Intrinsic::BakeFile`]: every float is a whole number below 2¹⁶, which no back end changes.
fn file() -> Function {
    let mut b = FunctionBuilder::linker(Intrinsic::BakeFile);
    b.result("return", Type::Vec3);
    let name = b.param("file", Type::String);
    let id = b.bitcast(name, Type::U32);
    let [low_bits, width] = [0xffff, 16].map(|x| b.u32(x));
    let low = b.iand(id, low_bits);
    let high = b.ishr(id, width);
    let [low, high] = [low, high].map(|half| b.to_float(half));
    let one = b.f32(1.0);
    let parts = b.compose(&[low, high, one]);
    b.ret(vec![parts]);
    b.finish()
}

/// The identifier of a file from the part that [`Intrinsic::BakeFile`] makes; `None` where nothing
/// was baked.
pub fn file_of(part: [f32; 3]) -> Option<u32> {
    let [low, high, is_there] = part;
    (is_there == 1.0).then_some(low as u32 | (high as u32) << 16)
}
