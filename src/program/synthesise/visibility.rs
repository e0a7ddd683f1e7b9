//! What rays see of objects that not all rays see: the words of an object's record that say so, and the beginning of its surface entry.
//!
//! An object that a ray does not see is hit all the same, and then has no opacity: the integrator goes on behind it, and so do the library's functions that look for the first surface or for
//! what shines through (`lang/stdlib/rays.sl`). Programs of scenes without such objects have nothing of this.

use crate::ir::{Const, Function, FunctionBuilder, Op, Type, Value};
use crate::lang::rsl::RAYS_SELECTIVE;
use crate::scene::{HitMode, Scene, Visibility};

/// The kind of camera rays, as surface entries and the library know it.
pub const CAMERA: u16 = 0;
/// The kind of rays of `gather` and `indirectdiffuse`: what shaders are told of those behind [`LAST_TOLD`], too.
pub const DIFFUSE: u8 = 2;
/// The kind of rays that ask how much light gets through.
pub const TRANSMISSION: u8 = 3;
/// The last kind of rays that shaders are told of (`ray.kind`).
pub const LAST_TOLD: u8 = 4;
/// The kind of rays of `occlusion` that ask how much light gets through. What [`crate::program::synthesise::gather_outputs`] ask are kinds behind it.
pub const OCCLUSION: u8 = 5;

/// `Ci` of a matte object for rays of the camera: it hides what is behind it by its `Oi`, and counts for nothing. The integrator knows it.
const MATTE_COLOR: f32 = -f32::MAX;

/// The words behind the shader entry of an object's record, as floats: how it lets light through (0 not at all, 1 unhindered, 2 as its shader entry says for rays of kind 3),
/// whether rays of kind 1 pass it, and for those of kind 2 and of `occlusion` as the first, with kind 5.
pub fn words(seen: Visibility) -> [u32; 3] {
    let lets_through = |seen: bool, mode: HitMode| match (seen, mode) {
        (false, _) => 1.0f32,
        (true, HitMode::Opaque) => 0.0,
        (true, HitMode::Color | HitMode::Shader) => 2.0,
    };
    let [transmission, diffuse] = hit_modes(seen).map(|(_, seen, mode)| lets_through(seen, mode));
    [transmission, if seen.specular { 0.0 } else { 1.0 }, diffuse].map(f32::to_bits)
}

/// The kinds of rays that ask how much light gets through, whether they see the object, and what they find then.
fn hit_modes(seen: Visibility) -> [(u8, bool, HitMode); 2] {
    let diffuse = seen.diffuse_hit_mode.unwrap_or(seen.hit_mode);
    [(TRANSMISSION, seen.transmission, seen.hit_mode), (OCCLUSION, seen.diffuse, diffuse)]
}

/// Whether rays that only ask what lies on their way must look at who sees what.
pub fn is_selective(scene: &Scene) -> bool {
    scene.objects.iter().any(|o| words(o.attributes.visibility) != [0; 3])
}

/// `rays.selective() -> f32`: whether they must.
pub fn selective_function(scene: &Scene) -> Function {
    let mut b = FunctionBuilder::linker(RAYS_SELECTIVE);
    b.result("return", Type::F32);
    let answer = b.f32(if is_selective(scene) { 1.0 } else { 0.0 });
    b.ret(vec![answer]);
    b.finish()
}

/// Whether the camera must tell matte objects from others.
pub fn has_matte(scene: &Scene) -> bool {
    scene.objects.iter().any(|o| o.attributes.visibility.matte)
}

/// The kinds of rays that get what a hit mode finds.
fn kinds_that_find(seen: Visibility, mode: HitMode) -> Vec<u16> {
    let asking = hit_modes(seen).into_iter().filter(|&(_, seen, found)| seen && found == mode);
    asking.map(|(kind, ..)| kind.into()).collect()
}

/// Whether the object's surface shader is asked for how much light gets through it.
pub fn asks_shader(seen: Visibility) -> bool {
    !kinds_that_find(seen, HitMode::Shader).is_empty()
}

/// The beginning of a surface entry: rays that do not see the object get no colour and no opacity, and those that ask how much light gets through get what `answer` returns for their mode.
/// What follows is for the others.
pub fn begin(b: &mut FunctionBuilder, seen: Visibility, ray: Value, answer: impl Fn(&mut FunctionBuilder, HitMode)) {
    for (kind, is_seen) in (CAMERA..).zip([seen.camera, seen.specular, seen.diffuse]) {
        if !is_seen {
            for_rays_of_kinds(b, ray, &[kind], |b| {
                let nothing = b.constant(Const::zero(Type::Vec3));
                b.ret(vec![nothing, nothing]);
            });
        }
    }
    for mode in [HitMode::Color, HitMode::Shader] {
        for_rays_of_kinds(b, ray, &kinds_that_find(seen, mode), |b| answer(b, mode));
    }
}

/// The end of a surface entry: what it gives for its colour.
pub fn color(b: &mut FunctionBuilder, seen: Visibility, ray: Value, color: Value) -> Value {
    if !seen.matte {
        return color;
    }
    let is_camera = is_of_kind(b, ray, CAMERA);
    let matte = b.constant(Const::Vec3([MATTE_COLOR; 3]));
    b.op(Op::Select, &[is_camera, matte, color])
}

/// Code that returns, for rays of some kinds; the builder goes on with the others.
pub fn for_rays_of_kinds(
    b: &mut FunctionBuilder,
    ray: Value,
    kinds: &[u16],
    answer: impl FnOnce(&mut FunctionBuilder),
) {
    let is_kind = kinds.iter().fold(None, |so_far, &kind| {
        let is_this = is_of_kind(b, ray, kind);
        Some(so_far.map_or(is_this, |is_other| b.op(Op::Or, &[is_other, is_this])))
    });
    let Some(is_kind) = is_kind else { return };
    let (those, others) = (b.block(), b.block());
    b.branch(is_kind, those, others);
    b.seal(those);
    b.seal(others);
    b.switch_to(those);
    answer(b);
    b.switch_to(others);
}

/// Whether a ray is of a kind.
pub fn is_of_kind(b: &mut FunctionBuilder, ray: Value, kind: u16) -> Value {
    let (kind, found) = (b.f32(kind.into()), b.op(Op::Extract(3), &[ray]));
    b.op(Op::Eq, &[found, kind])
}
