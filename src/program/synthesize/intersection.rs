//! The intersection entries of procedural primitives, which rays call in place of a triangle test.

use crate::collect::instances::unpack;
use crate::collect::procedural::PrimitiveCores;
use crate::layout::procedural::BLOCK_VECTORS;
use crate::synthesize::surface_state::frame_value;
use shadewright_ir::abi::{EntryPoint, input};
use shadewright_ir::{Const, Function, FunctionBuilder, Type};

/// `@intersect.N(orig, dir, t_min, t_max, block) -> (t)`.
pub fn intersect(number: usize, cores: &PrimitiveCores) -> Function {
    let mut b = FunctionBuilder::entry(EntryPoint::Intersection(number as u32));
    let [origin, direction] = ["orig", "dir"].map(|name| b.param(name, Type::Vec3));
    let [t_min, t_max] = ["t_min", "t_max"].map(|name| b.param(name, Type::F32));
    let block = b.param("block", Type::Ref);
    b.result("t", Type::F32);
    let core = &cores.intersect;
    let outputs = core.call(&mut b, &core.shader.core, |b, slot, param| match (slot, &*param.name) {
        (Some(slot), _) => unpack(b, param.ty, |b, k| b.load(block, BLOCK_VECTORS + slot + k)),
        (None, input::RAY_ORIGIN) => origin,
        (None, input::RAY_DIRECTION) => direction,
        (None, input::RAY_T_MIN) => t_min,
        (None, input::RAY_T) => t_max,
        (None, name) => frame_value(b, name).unwrap_or_else(|| b.constant(Const::zero(param.ty))),
    });
    let t = outputs.get("t").unwrap_or(t_max);
    let is_hit = b.lt(t, t_max);
    let miss = b.f32(-1.0);
    let t = b.select(is_hit, t, miss);
    b.ret(vec![t]);
    b.finish()
}
