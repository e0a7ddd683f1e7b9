//! `Curves` and `Points` (RISpec 3.2, §5.6 and §5.7).
//!
//! Curves are flat ribbons, oriented by `N`, or facing the ray origin without it; points are
//! spheres. Widths are those of `width` or `constantwidth`, and 1 without.

use super::super::args::Args;
use super::super::params::{Param, PrimvarClass};
use super::super::reader::Reader;
use super::dicing::{count, metric, too_fine};
use super::polygons::positions;
use super::variables::{Blend, ClassMap, Spread, Variables};
use super::{Source, add_object};
use glam::Vec3;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::basis::Direction;
use shadewright_geometry::curves::{Curve, Rings};
use shadewright_geometry::particles::spheres;
use shadewright_geometry::tensor::Diced;
use shadewright_geometry::{Channel, Faces};
use std::collections::HashMap;

/// `Curves type [counts] wrap`
pub fn curves(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let cubic = match args.string("\"linear\" or \"cubic\"")?.as_str() {
        "linear" => false,
        "cubic" => true,
        other => {
            let text = format!("there is no type of curve `{other}`");
            return Err(args.error(text).hint("use \"linear\" or \"cubic\""));
        }
    };
    let (counts, counts_span) = args.integer_values()?;
    let periodic = match args.string("\"periodic\" or \"nonperiodic\"")?.as_str() {
        "periodic" => true,
        "nonperiodic" => false,
        other => {
            let text = format!("a curve cannot wrap as `{other}`");
            return Err(args.error(text).hint("use \"periodic\" or \"nonperiodic\""));
        }
    };
    let vars = Variables::read(r, args)?;
    let points = positions(args, &vars)?;
    // RISpec 3.2, §5.6: the v basis.
    let (basis, step) = r.state.attributes.surfaces.basis[1];
    let mut courses: HashMap<i32, Direction> = HashMap::new();
    let mut total = 0i64;
    for (number, &count) in counts.iter().enumerate() {
        total += i64::from(count.max(0));
        if courses.contains_key(&count) {
            continue;
        }
        let size = count.max(0) as usize;
        if size > points.len() {
            break;
        }
        let made =
            if cubic { Direction::cubic(basis, step, size, periodic) } else { Direction::linear(size, periodic) };
        let course = made.map_err(|e| args.error(format!("curve {number}: {e}")))?;
        courses.insert(count, course);
    }
    if total != points.len() as i64 {
        let text = format!("Curves: the curves have {total} control points, but there are {} points", points.len());
        return Err(Diagnostic::error(text).at(counts_span, format!("{} curves", counts.len())));
    }
    let (mut first, mut first_varying) = (0, 0);
    let all: Vec<Curve<'_>> = counts
        .iter()
        .map(|count| {
            let curve = Curve { course: &courses[count], first, first_varying };
            first += curve.course.count();
            first_varying += curve.course.segment_ends();
            curve
        })
        .collect();
    r.admit_geometry(args.span);
    let metric = metric(r);
    let Some(rings) = Rings::cut(&all, &points, &metric, r.budget.room()) else { return too_fine(r, args) };
    along_curves(r, args, vars, &CutCurves { all, points, rings, metric, varying: first_varying })
}

/// Curves and the rings that they are cut at.
struct CutCurves<'a> {
    all: Vec<Curve<'a>>,
    points: Vec<Vec3>,
    rings: Rings,
    metric: shadewright_geometry::dice::Metric,
    /// Number of values of class varying.
    varying: usize,
}

fn along_curves(
    r: &mut Reader<'_>,
    args: &Args<'_, '_>,
    mut vars: Variables,
    curves: &CutCurves<'_>,
) -> Result<(), Diagnostic> {
    let CutCurves { all, points, rings, metric, varying } = curves;
    let at_rings = |param: &Param| -> Result<Vec<f32>, Diagnostic> {
        let width = param.declaration.size();
        let values = param.floats();
        Ok(match param.declaration.class {
            PrimvarClass::Constant => {
                param.expect(1, "one value for all curves")?;
                values.repeat(rings.rings.len())
            }
            PrimvarClass::Uniform => {
                param.expect(all.len(), "one value a curve")?;
                let of = |curve: u32| &values[curve as usize * width..][..width];
                rings.rings.iter().flat_map(|ring| of(ring.curve)).copied().collect()
            }
            PrimvarClass::Varying | PrimvarClass::FaceVarying => {
                param.expect(*varying, "one value an end of each segment")?;
                rings.blend_varying(all, &values, width)
            }
            PrimvarClass::Vertex | PrimvarClass::FaceVertex => {
                param.expect(points.len(), "one value a control point")?;
                rings.blend_vertex(all, &values, width)
            }
        })
    };
    let widths = match width_of(&mut vars)? {
        Some(param) => at_rings(&param)?,
        None => vec![1.0; rings.rings.len()],
    };
    let facing = vars.take("N").or_else(|| vars.take("Np")).map(|p| at_rings(&p)).transpose()?;
    let facing: Option<Vec<Vec3>> = facing.map(|n| n.chunks_exact(3).map(Vec3::from_slice).collect());
    let tubes = rings.surround(all, points, &widths, facing.as_deref(), metric, r.budget.room());
    let Some(tubes) = tubes else { return too_fine(r, args) };
    let ring_of = tubes.ring_of;
    let map = |count: usize, meaning, vertex: bool| {
        let blend: Blend<'_> = Box::new(move |values, width| {
            if vertex { rings.blend_vertex(all, values, width) } else { rings.blend_varying(all, values, width) }
        });
        ClassMap { count, meaning, blend: Some(blend), at: Channel::PerPoint(ring_of.clone()) }
    };
    let ends = || map(*varying, "one value an end of each segment", false);
    let controls = || map(points.len(), "one value a control point", true);
    let patches = tubes.shape.patches.clone();
    let uniform = if all.len() == 1 { Channel::Constant(0) } else { Channel::PerTriangle(patches) };
    let spread = Spread {
        uniform: ClassMap { count: all.len(), meaning: "one value a curve", blend: None, at: uniform },
        varying: ends(),
        vertex: controls(),
        face_varying: ends(),
        face_vertex: controls(),
    };
    place(r, args, vars, &spread, Faces { ribbons: facing.is_none(), ..faces(tubes.shape) })
}

/// The parameter that says how wide curves or points are.
fn width_of(vars: &mut Variables) -> Result<Option<Param>, Diagnostic> {
    let param = vars.take("width").or_else(|| vars.take("constantwidth"));
    match param {
        Some(p) if p.declaration.size() != 1 || p.floats().is_empty() => {
            let text = format!("`{}` must be a float, not `{}`", p.name, p.declaration.describe());
            Err(Diagnostic::error(text).at(p.name_span, "of the wrong type"))
        }
        other => Ok(other),
    }
}

/// `Points`
pub fn points(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let mut vars = Variables::read(r, args)?;
    let centers = positions(args, &vars)?;
    r.admit_geometry(args.span);
    let widths = match width_of(&mut vars)? {
        None => vec![1.0; centers.len()],
        Some(p) => {
            let single = matches!(p.declaration.class, PrimvarClass::Constant | PrimvarClass::Uniform);
            p.expect(
                if single { 1 } else { centers.len() },
                if single { "one value for all" } else { "one value a point" },
            )?;
            if single { p.floats().repeat(centers.len()) } else { p.floats() }
        }
    };
    let Some(made) = spheres(&centers, &widths, &metric(r), r.budget.room()) else { return too_fine(r, args) };
    let each = || ClassMap {
        count: centers.len(),
        meaning: "one value a point",
        blend: None,
        at: Channel::PerTriangle(made.patches.clone()),
    };
    let spread = Spread {
        uniform: ClassMap { count: 1, meaning: "one value for all points", blend: None, at: Channel::Constant(0) },
        varying: each(),
        vertex: each(),
        face_varying: each(),
        face_vertex: each(),
    };
    place(r, args, vars, &spread, faces(made))
}

fn faces(shape: Diced) -> Faces {
    let Diced { points, normals, uv, triangles, .. } = shape;
    let uv = if uv.is_empty() { Channel::Absent } else { Channel::PerPoint(uv) };
    Faces { triangles, normals: Channel::PerPoint(normals), uv, points, ..Faces::default() }
}

/// Takes a shape with its variables to the scene.
fn place(
    r: &mut Reader<'_>,
    args: &Args<'_, '_>,
    vars: Variables,
    spread: &Spread<'_>,
    mut faces: Faces,
) -> Result<(), Diagnostic> {
    if !count(r, args, faces.triangles.len(), &vars) {
        return Ok(());
    }
    let computed_normals = !vars.has_normals();
    vars.lay(r, spread, &mut faces);
    add_object(r, args, Source { name: args.request, computed_normals }, faces)
}
