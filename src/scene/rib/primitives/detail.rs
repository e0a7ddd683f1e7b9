//! Levels of detail: `Detail`, `DetailRange` and `RelativeDetail` (RISpec 3.2, §4.2.12).
//!
//! A model's size on the image chooses among its representations. Where two of them would be
//! blended, the one is shown whose share is larger: a ray meets a surface or does not.

use super::super::super::Projection;
use super::super::args::Args;
use super::super::reader::Reader;
use glam::Vec3;
use shadewright_base::text::diagnostics::Diagnostic;

/// `RI_INFINITY`
const INFINITE: f32 = 1e38;

/// The attributes that choose a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detail {
    /// The area of the model on the image, in pixels, before `RelativeDetail`.
    pub area: f32,
    /// The areas between which primitives are shown; the first belongs to them.
    pub shown: (f32, f32),
}

impl Default for Detail {
    /// RISpec 3.2, table 4.4.
    fn default() -> Self {
        Self { area: f32::INFINITY, shown: (0.0, f32::INFINITY) }
    }
}

impl Detail {
    /// True if primitives are shown, on an image whose detail is this many times as large.
    pub fn is_shown(&self, relative: f32) -> bool {
        let area = self.area * relative;
        self.shown.0 <= area && (area < self.shown.1 || self.shown.1 >= INFINITE)
    }
}

/// `Detail [xmin xmax ymin ymax zmin zmax]`: the size of a box around the model.
pub fn detail(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let bound: [f32; 6] = args.numbers("a box of six numbers")?;
    r.state.attributes.detail.area = area(r, bound);
    Ok(())
}

/// `DetailRange minvisible lowertransition uppertransition maxvisible`
pub fn detail_range(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let range @ [least, lower, upper, most] = args.numbers("four sizes")?;
    if !range.is_sorted() {
        return Err(args
            .error("the sizes must ascend")
            .hint("they are minvisible, lowertransition, uppertransition, maxvisible"));
    }
    r.state.attributes.detail.shown = (0.5 * least + 0.5 * lower, 0.5 * upper + 0.5 * most);
    Ok(())
}

/// `RelativeDetail factor`
pub fn relative_detail(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let factor = args.number("a factor")?;
    if factor < 0.0 {
        return Err(args.error("the factor must not be negative"));
    }
    r.relative_detail = factor;
    Ok(())
}

/// `Bound [xmin xmax ymin ymax zmin zmax]`: it promises where primitives are, which is seen anyway.
pub fn bound(_: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    args.numbers::<6>("a box of six numbers").map(|_| ())
}

/// The area in pixels of the rectangle around a box on the image; infinite where the box reaches
/// behind the camera.
fn area(r: &Reader<'_>, [x0, x1, y0, y1, z0, z1]: [f32; 6]) -> f32 {
    let to_camera = r.scene.camera.world_to_camera * r.state.transform;
    let perspective = matches!(r.scene.camera.projection, Projection::Perspective { .. });
    let frame = r.frame;
    let pixels = Vec3::new(
        0.5 * r.scene.format.width as f32 / frame.half_width,
        0.5 * r.scene.format.height as f32 / frame.half_height,
        0.0,
    );
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for k in 0..8 {
        let pick = |bit: usize, a: f32, b: f32| if k >> bit & 1 == 0 { a } else { b };
        let p = to_camera.transform_point3(Vec3::new(pick(0, x0, x1), pick(1, y0, y1), pick(2, z0, z1)));
        if perspective && p.z <= 0.0 {
            return f32::INFINITY;
        }
        let p = if perspective { p / p.z } else { p } * pixels;
        (low, high) = (low.min(p), high.max(p));
    }
    (high.x - low.x) * (high.y - low.y)
}
