//! Visibility attributes: the words of an object's record that hold them, and the kinds of rays.

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
/// [`crate::synthesize::gather_outputs`] are the kinds after it.
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

/// True if an object is invisible to some rays or transmits light, so that rays which compute
/// transmittance must check visibility.
pub fn is_selective(visible: Visibility) -> bool {
    words(visible) != [0; 3]
}

/// True if a scene has matte objects.
pub fn has_matte(scene: &Scene) -> bool {
    scene.objects.iter().any(|o| o.attributes.visibility.matte)
}

/// The kinds of rays that get their transmittance by a hit mode.
pub fn kinds_of_mode(visible: Visibility, mode: HitMode) -> Vec<u16> {
    let kinds = hit_modes(visible).into_iter().filter(|&(_, is_visible, own)| is_visible && own == mode);
    kinds.map(|(kind, ..)| kind.into()).collect()
}

/// True if the object's surface shader is evaluated for transmittance.
pub fn is_shaded_for_transmittance(visible: Visibility) -> bool {
    !kinds_of_mode(visible, HitMode::Shader).is_empty()
}
