//! Visibility attributes: the words of an object's record that hold them, and the beginning of its
//! surface entry.
//!
//! Traversal ignores visibility: an invisible object is hit, and is transparent during shading. The
//! integrator continues the ray after it, and so do the library's functions that search for the
//! first surface or compute transmittance (`lang/stdlib/rays.sl`). Programs of scenes without such
//! objects have no code for it.

use shadewright_generators::transport::MATTE;
use shadewright_ir::abi::Intrinsic;
use shadewright_ir::{Const, Function, FunctionBuilder, Op, Type, Value};
use shadewright_scene::{HitMode, Scene, Visibility};

/// The kind of camera rays, as surface entries and the library know it.
pub const CAMERA: u16 = 0;
/// The kind of rays of `gather` and `indirectdiffuse`; shaders also see this kind for those after
/// [`LAST_REPORTED`].
pub const DIFFUSE: u8 = 2;
/// The kind of shadow rays, which compute transmittance.
pub const TRANSMISSION: u8 = 3;
/// The last kind of rays that shaders see (`ray.kind`).
pub const LAST_REPORTED: u8 = 4;
/// The kind of rays of `occlusion`, which compute transmittance. Those of
/// [`crate::synthesise::gather_outputs`] are the kinds after it.
pub const OCCLUSION: u8 = 5;

/// The words after the entry number of an object's record, as floats: the transmittance for shadow
/// rays (0 opaque, 1 transparent, 2 as its surface entry returns for rays of kind 3), whether the
/// object is invisible to rays of kind 1, and the transmittance for rays of kind 2 and of
/// `occlusion`, with kind 5.
pub fn words(visible: Visibility) -> [u32; 3] {
    let transmittance = |is_visible: bool, mode: HitMode| match (is_visible, mode) {
        (false, _) => 1.0f32,
        (true, HitMode::Opaque) => 0.0,
        (true, HitMode::Color | HitMode::Shader) => 2.0,
    };
    let [transmission, diffuse] = hit_modes(visible).map(|(_, is_visible, mode)| transmittance(is_visible, mode));
    [transmission, if visible.specular { 0.0 } else { 1.0 }, diffuse].map(f32::to_bits)
}

/// The kinds of rays that compute transmittance, whether the object is visible to them, and the hit
/// mode then.
fn hit_modes(visible: Visibility) -> [(u8, bool, HitMode); 2] {
    let mode = visible.hit_mode.unwrap_or_default();
    let diffuse = visible.diffuse_hit_mode.unwrap_or(mode);
    [(TRANSMISSION, visible.transmission, mode), (OCCLUSION, visible.diffuse, diffuse)]
}

/// Whether an object is invisible to some rays or transmits light, so that rays which compute
/// transmittance must check visibility.
pub fn is_selective(visible: Visibility) -> bool {
    words(visible) != [0; 3]
}

/// `rays.selective() -> f32`: whether rays must check visibility.
pub fn selective_function(is_selective: bool) -> Function {
    let mut b = FunctionBuilder::linker(Intrinsic::RaySelective);
    b.result("return", Type::F32);
    let is_selective = b.f32(if is_selective { 1.0 } else { 0.0 });
    b.ret(vec![is_selective]);
    b.finish()
}

/// Whether a scene has matte objects.
pub fn has_matte(scene: &Scene) -> bool {
    scene.objects.iter().any(|o| o.attributes.visibility.matte)
}

/// The kinds of rays that get their transmittance by a hit mode.
fn kinds_of_mode(visible: Visibility, mode: HitMode) -> Vec<u16> {
    let kinds = hit_modes(visible).into_iter().filter(|&(_, is_visible, own)| is_visible && own == mode);
    kinds.map(|(kind, ..)| kind.into()).collect()
}

/// Whether the object's surface shader is evaluated for transmittance.
pub fn is_shaded_for_transmittance(visible: Visibility) -> bool {
    !kinds_of_mode(visible, HitMode::Shader).is_empty()
}

/// The beginning of a surface entry: rays for which the object is invisible get no colour and no
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

/// The colour that a surface entry returns: that of matte objects is marked for camera rays.
pub fn color(b: &mut FunctionBuilder, visible: Visibility, ray: Value, color: Value) -> Value {
    if !visible.matte {
        return color;
    }
    let is_camera = is_of_kind(b, ray, CAMERA);
    let matte = b.constant(Const::Vec3([MATTE; 3]));
    b.op(Op::Select, &[is_camera, matte, color])
}

/// Code that returns, for rays of some kinds; the builder continues with the others.
pub fn for_rays_of_kinds(b: &mut FunctionBuilder, ray: Value, kinds: &[u16], write: impl FnOnce(&mut FunctionBuilder)) {
    let is_kind = kinds.iter().fold(None, |so_far, &kind| {
        let is_this = is_of_kind(b, ray, kind);
        Some(so_far.map_or(is_this, |is_other| b.op(Op::Or, &[is_other, is_this])))
    });
    let Some(is_kind) = is_kind else { return };
    let (matching, others) = (b.block(), b.block());
    b.branch(is_kind, matching, others);
    b.seal(matching);
    b.seal(others);
    b.switch_to(matching);
    write(b);
    b.switch_to(others);
}

/// Whether a ray is of a kind.
pub fn is_of_kind(b: &mut FunctionBuilder, ray: Value, kind: u16) -> Value {
    let (kind, found) = (b.f32(kind.into()), b.op(Op::Extract(3), &[ray]));
    b.op(Op::Eq, &[found, kind])
}
