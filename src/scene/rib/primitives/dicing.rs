//! Dicing: the attributes that control how finely primitives are tessellated, and the camera that
//! they are diced for.

use super::super::args::Args;
use super::super::reader::Reader;
use crate::geometry::basis::{B_SPLINE, BEZIER, Basis, CATMULL_ROM, HERMITE, POWER};
use crate::geometry::dice::Metric;
use crate::geometry::trim::Trim;
use crate::text::diagnostics::Diagnostic;
use glam::Vec2;
use std::sync::Arc;

/// Maximum number of triangles of one diced primitive.
pub const MAX_DICED: usize = 1 << 22;

/// Maximum distance of triangles from the true surface, in pixels, at a shading rate of 1.
const FLATNESS: f32 = 0.1;

/// Edge length in pixels that retained objects are diced for, since their instances may have any
/// size.
const RETAINED_PIXELS: f64 = 120.0;

/// The dicing attributes of parametric surfaces and curves.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceAttributes {
    /// `Basis`: along u and v, each with its step.
    pub basis: [(Basis, usize); 2],
    /// `TextureCoordinates`: `s, t` at the corners (0,0), (1,0), (0,1), (1,1) of the unit square.
    pub texture_coordinates: Option<[Vec2; 4]>,
    /// `GeometricApproximation "flatness"`, in pixels.
    pub flatness: Option<f32>,
    /// `TrimCurve`, for NURBS; without loops there is none.
    pub trim: Arc<Trim>,
}

impl Default for SurfaceAttributes {
    /// RISpec 3.2, table 4.4.
    fn default() -> Self {
        Self { basis: [(BEZIER, 3); 2], texture_coordinates: None, flatness: None, trim: Arc::default() }
    }
}

impl SurfaceAttributes {
    /// How far from the true surface triangles may be, in pixels, at a shading rate. A pixel that
    /// may be shaded as a whole has room for a tenth of it.
    fn flatness(&self, shading_rate: f32) -> f64 {
        f64::from(self.flatness.unwrap_or(FLATNESS * shading_rate.sqrt()))
    }
}

/// The dicing settings for the current object space.
pub fn metric(r: &Reader<'_>) -> Metric {
    let attributes = &r.state.attributes;
    let flatness = attributes.surfaces.flatness(attributes.own.shading_rate);
    if r.retained.is_open() {
        return Metric::of_any_size(RETAINED_PIXELS, flatness);
    }
    r.scene.camera.metric(r.scene.format, r.state.transform, flatness)
}

/// The error for a primitive that would become too many triangles.
pub fn too_fine(args: &Args<'_, '_>) -> Diagnostic {
    args.error(format!("more than {MAX_DICED} triangles are needed for this primitive"))
        .hint("a larger ShadingRate, or GeometricApproximation \"flatness\", makes do with fewer")
}

/// `Basis uname ustep vname vstep`, each basis by its name or as a matrix.
pub fn basis(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    for k in 0..2 {
        let basis = if args.next_is_string()? {
            let name = args.string("a basis")?;
            let known = [
                ("bezier", BEZIER),
                ("b-spline", B_SPLINE),
                ("catmull-rom", CATMULL_ROM),
                ("hermite", HERMITE),
                ("power", POWER),
            ];
            let Some((_, basis)) = known.iter().find(|(n, _)| *n == name) else {
                return Err(args
                    .error(format!("there is no basis `{name}`"))
                    .hint("there are: bezier, b-spline, catmull-rom, hermite, power; or give a matrix of 16 numbers"));
            };
            *basis
        } else {
            let numbers = args.numbers::<16>("a basis, as its name or a matrix of 16 numbers")?;
            std::array::from_fn(|row| std::array::from_fn(|column| numbers[4 * row + column]))
        };
        let step = args.integer("the basis's step")?;
        if !(1..=4).contains(&step) {
            return Err(args.error(format!("a step of {step} is not possible")).hint("steps are 1 to 4"));
        }
        r.state.attributes.surfaces.basis[k] = (basis, step as usize);
    }
    Ok(())
}

/// `TextureCoordinates s1 t1 s2 t2 s3 t3 s4 t4`
pub fn texture_coordinates(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let numbers = args.numbers::<8>("the texture coordinates of four corners")?;
    let corner = |k: usize| Vec2::new(numbers[2 * k], numbers[2 * k + 1]);
    r.state.attributes.surfaces.texture_coordinates = Some(std::array::from_fn(corner));
    Ok(())
}

/// `ShadingRate size`
pub fn shading_rate(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let rate = args.number("an area in pixels")?;
    if rate <= 0.0 {
        return Err(args.error("the shading rate must be above 0"));
    }
    Arc::make_mut(&mut r.state.attributes.own).shading_rate = rate;
    Ok(())
}

/// `GeometricApproximation "flatness"|"motionfactor" value`
pub fn geometric_approximation(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let kind = args.string("a kind of approximation")?;
    let value = args.number("its value")?;
    match kind.as_str() {
        "flatness" if value > 0.0 => r.state.attributes.surfaces.flatness = Some(value),
        "flatness" => return Err(args.error("the flatness must be above 0")),
        // Moving objects are diced like static ones.
        "motionfactor" => {}
        _ => {
            return Err(args
                .error(format!("there is no approximation `{kind}`"))
                .hint("use \"flatness\" or \"motionfactor\""));
        }
    }
    Ok(())
}
