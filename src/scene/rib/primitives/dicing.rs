//! Dicing: the attributes that control how finely primitives are tessellated, and the camera that
//! they are diced for.

use super::super::args::Args;
use super::super::reader::Reader;
use super::variables::Variables;
use crate::listed_triangles;
use glam::Vec2;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::basis::{B_SPLINE, BEZIER, Basis, CATMULL_ROM, HERMITE, POWER};
use shadewright_geometry::dice::{MAX_HALVINGS, Metric, halved};
use shadewright_geometry::trim::Trim;
use std::sync::Arc;

/// Maximum number of triangles of one diced primitive.
pub const MAX_DICED: usize = 1 << 22;

/// A diced primitive counts as so many triangles at least, and a listed one: each is an object with
/// a mesh of its own.
const LEAST_DICED: usize = 16;
const LEAST_LISTED: usize = 4;

/// Bytes of a name that the reader keeps, with what it stands for, beside its text.
pub const OF_NAME: usize = 160;

/// The bytes of a triangle, with its part of all structures.
const BYTES_OF_TRIANGLE: usize = 330;

/// So many vectors of variables at each vertex count as much as the triangles.
const VECTORS: usize = 8;

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

/// How many triangles a scene has, and may have.
///
/// They are counted while the scene is read. Where they become too many, it is read again with all
/// rates halved ([`Budget::next`]): all curved surfaces are then diced alike. Where the rates are
/// as low as can be, what does not fit is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The number of triangles that the user allows.
    most: usize,
    /// The number of triangles that the files read so far allow besides.
    listed: usize,
    made: usize,
    /// Bytes of shaders, attributes and names.
    kept: usize,
    /// True if any of them was diced.
    diced: bool,
    /// How often all rates are halved.
    halvings: u32,
    exceeded: bool,
}

impl Budget {
    /// For so many triangles at most, and what the scene's files list besides.
    pub fn new(most: usize) -> Self {
        Self { most, listed: 0, made: 0, kept: 0, diced: false, halvings: 0, exceeded: false }
    }

    /// The budget to read the scene with again, where this one did not suffice.
    pub fn next(self) -> Option<Self> {
        self.exceeded.then(|| Self { halvings: self.halvings + 1, ..Self::new(self.most) })
    }

    /// Makes room for what a file of so many bytes may list.
    pub fn read(&mut self, bytes: usize) {
        self.listed = self.listed.saturating_add(listed_triangles(bytes as u64));
    }

    /// A rate of quadrics as often halved as all rates are.
    pub fn halve(&self, rate: u32) -> u32 {
        halved(rate, self.halvings)
    }

    fn limit(&self) -> usize {
        self.most.saturating_add(self.listed)
    }

    /// Most triangles of the next primitive.
    pub fn room(&self) -> usize {
        self.left().min(MAX_DICED)
    }

    fn left(&self) -> usize {
        self.limit().saturating_sub(self.made).saturating_sub(self.kept / BYTES_OF_TRIANGLE)
    }

    /// The warning where rates are halved.
    pub fn warning(&self) -> Option<Diagnostic> {
        let message = format!(
            "the scene would have more than {} triangles: its curved surfaces are diced {} times as coarsely as the \
             image asks",
            self.limit(),
            1u32 << self.halvings
        );
        (self.halvings > 0).then(|| hinted(Diagnostic::warning(message)))
    }
}

/// Adds a hint on what to do about too many triangles.
fn hinted(d: Diagnostic) -> Diagnostic {
    d.hint("--max-triangles N allows more; each takes some 330 bytes of memory")
}

/// Counts the triangles of a primitive that is diced, before memory is taken for its variables.
/// False where there is no room for them: then it is to be left out.
pub fn count(r: &mut Reader<'_>, args: &Args<'_, '_>, triangles: usize, vars: &Variables) -> bool {
    r.budget.diced = true;
    counted(r, args, triangles.max(LEAST_DICED) + triangles * vars.vectors() / VECTORS)
}

/// Counts the triangles that a request or a file lists, as [`count`] does.
pub fn count_listed(r: &mut Reader<'_>, args: &Args<'_, '_>, triangles: usize) -> bool {
    counted(r, args, triangles.max(LEAST_LISTED))
}

fn counted(r: &mut Reader<'_>, args: &Args<'_, '_>, triangles: usize) -> bool {
    let fits = triangles <= r.budget.left();
    if fits {
        r.budget.made += triangles;
    } else {
        exceed(r, args);
    }
    fits
}

/// Counts memory that a request takes beside geometry, for shaders, attributes and names, by the
/// triangles for which it would do. False where there is no room for it: then nothing is to be kept.
pub fn keep(r: &mut Reader<'_>, args: &Args<'_, '_>, bytes: usize) -> bool {
    let fits = bytes.div_ceil(BYTES_OF_TRIANGLE) <= r.budget.left();
    if fits {
        r.budget.kept += bytes;
    } else {
        exceed(r, args);
    }
    fits
}

/// Handles a primitive that does not fit what is left of the budget.
fn exceed(r: &mut Reader<'_>, args: &Args<'_, '_>) {
    let error = hinted(args.error(format!("with it the scene has more than {} triangles", r.budget.limit())));
    if r.is_strict() {
        r.fatal(error);
    } else if r.budget.diced && r.budget.halvings < MAX_HALVINGS {
        r.budget.exceeded = true;
        r.stop();
    } else {
        let error = error.hint("it is left out, and all else that there is no room for");
        let also = format!("shaders, attributes and names count, too: {BYTES_OF_TRIANGLE} bytes as a triangle");
        r.error_once("budget", error.hint(also));
    }
}

/// The dicing settings for the current object space.
pub fn metric(r: &Reader<'_>) -> Metric {
    let attributes = &r.state.attributes;
    let flatness = attributes.surfaces.flatness(attributes.own.shading_rate);
    let metric = match r.retained.is_open() {
        true => Metric::for_any_size(RETAINED_PIXELS, flatness),
        false => r.scene.camera.metric(r.scene.format, r.state.transform, flatness),
    };
    metric.halved(r.budget.halvings)
}

/// Handles a primitive that would become more triangles than [`Budget::room`].
///
/// # Errors
/// Where it is too many by itself.
pub fn too_fine(r: &mut Reader<'_>, args: &Args<'_, '_>) -> Result<(), Diagnostic> {
    if r.budget.room() < MAX_DICED {
        exceed(r, args);
        return Ok(());
    }
    Err(args
        .error(format!("more than {MAX_DICED} triangles are needed for this primitive"))
        .hint("a larger ShadingRate, or GeometricApproximation \"flatness\", makes do with fewer"))
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
