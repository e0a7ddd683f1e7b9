//! Visibility attributes: the words of an object's record that hold them, and the beginning of its
//! surface entry.
//!
//! Traversal ignores visibility: an invisible object is hit, and is transparent during shading. The
//! integrator continues the ray after it, and so do the library's functions that search for the
//! first surface or compute transmittance (`lang/stdlib/rays.sl`). Programs of scenes without such
//! objects have no code for it.

use crate::records::visibility::{CAMERA, kinds_of_mode};
use shadewright_generators::transport::MATTE;
use shadewright_ir::abi::Intrinsic;
use shadewright_ir::{Const, Control, Function, FunctionBuilder, Type, Value};
use shadewright_scene::{HitMode, Visibility};

/// `rays.selective() -> f32`: whether rays must check visibility.
pub fn selective_function(is_selective: bool) -> Function {
    let mut b = FunctionBuilder::linker(Intrinsic::RaySelective);
    b.result("return", Type::F32);
    let is_selective = b.f32(if is_selective { 1.0 } else { 0.0 });
    b.ret(vec![is_selective]);
    b.finish()
}

/// The beginning of a surface entry: rays for which the object is invisible get no color and no
/// opacity, and those that compute transmittance get what `transmittance` returns for their mode.
/// The builder continues with the others.
pub fn begin(
    b: &mut FunctionBuilder,
    visible: Visibility,
    ray: Value,
    transmittance: impl Fn(&mut FunctionBuilder, HitMode),
) {
    for (kind, is_visible) in (CAMERA..).zip([visible.camera, visible.specular, visible.diffuse]) {
        if !is_visible {
            for_rays_of_kinds(b, ray, &[kind], |b| {
                let zero = b.constant(Const::zero(Type::Vec3));
                b.ret(vec![zero, zero]);
            });
        }
    }
    for mode in [HitMode::Color, HitMode::Shader] {
        for_rays_of_kinds(b, ray, &kinds_of_mode(visible, mode), |b| transmittance(b, mode));
    }
}

/// The color that a surface entry returns: that of matte objects is marked for camera rays.
pub fn color(b: &mut FunctionBuilder, visible: Visibility, ray: Value, color: Value) -> Value {
    if !visible.matte {
        return color;
    }
    let is_camera = is_of_kind(b, ray, CAMERA);
    let matte = b.vec3([MATTE; 3]);
    b.select(is_camera, matte, color)
}

/// Code that returns, for rays of some kinds; the builder continues with the others.
pub fn for_rays_of_kinds(b: &mut FunctionBuilder, ray: Value, kinds: &[u16], write: impl FnOnce(&mut FunctionBuilder)) {
    let is_kind = kinds.iter().fold(None, |so_far, &kind| {
        let is_this = is_of_kind(b, ray, kind);
        Some(so_far.map_or(is_this, |is_other| b.or(is_other, is_this)))
    });
    let Some(is_kind) = is_kind else { return };
    b.leave_if(is_kind, write);
}

/// True if a ray is of a kind.
pub fn is_of_kind(b: &mut FunctionBuilder, ray: Value, kind: u16) -> Value {
    let (kind, found) = (b.f32(kind.into()), b.extract(ray, 3));
    b.eq(found, kind)
}
