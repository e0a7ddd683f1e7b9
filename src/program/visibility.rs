//! What rays see of objects that not all rays see: the words of an object's record that say so, and the beginning of its surface entry.
//!
//! An object that a ray does not see is hit all the same, and then has no opacity: the integrator goes on behind it, and so do the library's functions that look for the first surface or for
//! what shines through (`lang/stdlib/rays.sl`). Programs of scenes without such objects have nothing of this.

use crate::ir::{Const, Function, FunctionBuilder, FunctionKind, Op, Type, Value};
use crate::lang::rsl::RAYS_SELECTIVE;
use crate::scene::{HitMode, Scene, Visibility};

/// The kind of camera rays, as surface entries and the library know it (`ray.kind`).
const CAMERA: u8 = 0;
/// The kind of rays that ask how much light gets through.
const TRANSMISSION: u8 = 3;

/// `Ci` of a matte object for rays of the camera: it hides what is behind it by its `Oi`, and counts for nothing. The integrator knows it.
const MATTE_COLOR: f32 = -f32::MAX;

/// The words behind the shader entry of an object's record, as floats: how it lets light through (0 not at all, 1 unhindered, 2 as its shader entry says for rays of kind 3),
/// and whether rays of kinds 1 and 2 pass it.
pub fn words(seen: Visibility) -> [u32; 3] {
    let transmission = match (seen.transmission, seen.hit_mode) {
        (false, _) => 1.0,
        (true, HitMode::Opaque) => 0.0,
        (true, HitMode::Color | HitMode::Shader) => 2.0,
    };
    let hidden = |seen: bool| if seen { 0.0f32 } else { 1.0 };
    [transmission, hidden(seen.specular), hidden(seen.diffuse)].map(f32::to_bits)
}

/// Whether rays that only ask what lies on their way must look at who sees what.
pub fn is_selective(scene: &Scene) -> bool {
    scene.objects.iter().any(|o| words(o.attributes.visibility) != [0; 3])
}

/// `rays.selective() -> f32`: whether they must.
pub fn selective_function(scene: &Scene) -> Function {
    let mut b = FunctionBuilder::new(RAYS_SELECTIVE, FunctionKind::Function);
    b.result("return", Type::F32);
    let answer = b.f32(if is_selective(scene) { 1.0 } else { 0.0 });
    b.ret(vec![answer]);
    b.finish()
}

/// Whether the camera must tell matte objects from others.
pub fn has_matte(scene: &Scene) -> bool {
    scene.objects.iter().any(|o| o.attributes.visibility.matte)
}

/// Whether the object's surface entry is asked for how much light gets through it.
pub fn asks_entry(seen: Visibility) -> bool {
    seen.transmission && seen.hit_mode != HitMode::Opaque
}

/// The beginning of a surface entry: rays that do not see the object get no colour and no opacity, and those that ask how much light gets through get what `answer` returns.
/// What follows is for the others.
pub fn begin(b: &mut FunctionBuilder, seen: Visibility, ray: Value, answer: impl FnOnce(&mut FunctionBuilder)) {
    for (kind, is_seen) in (CAMERA..).zip([seen.camera, seen.specular, seen.diffuse]) {
        if !is_seen {
            for_rays_of_kind(b, ray, kind, |b| {
                let nothing = b.constant(Const::zero(Type::Vec3));
                b.ret(vec![nothing, nothing]);
            });
        }
    }
    if asks_entry(seen) {
        for_rays_of_kind(b, ray, TRANSMISSION, answer);
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

/// Code that returns, for rays of one kind; the builder goes on with the others.
fn for_rays_of_kind(b: &mut FunctionBuilder, ray: Value, kind: u8, answer: impl FnOnce(&mut FunctionBuilder)) {
    let (those, others) = (b.block(), b.block());
    let is_kind = is_of_kind(b, ray, kind);
    b.branch(is_kind, those, others);
    b.seal(those);
    b.seal(others);
    b.switch_to(those);
    answer(b);
    b.switch_to(others);
}

fn is_of_kind(b: &mut FunctionBuilder, ray: Value, kind: u8) -> Value {
    let (kind, found) = (b.f32(kind.into()), b.op(Op::Extract(3), &[ray]));
    b.op(Op::Eq, &[found, kind])
}
