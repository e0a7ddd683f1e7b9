//! `Patch`, `PatchMesh` and `NuPatch` (RISpec 3.2, §5.2 and §5.3).

use super::super::args::Args;
use super::super::params::{PrimvarClass, Type};
use super::super::reader::Reader;
use super::dicing::{count, metric, too_fine};
use super::quadrics::texture_corners;
use super::variables::{Blend, ClassMap, Spread, Variables};
use super::{Source, add_object};
use glam::{Vec2, Vec4};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::basis::{BasisError, Direction};
use shadewright_geometry::tensor::{Diced, Site, Surface};
use shadewright_geometry::{Channel, Faces};

/// Most control points along one direction.
const MAX_CONTROL_POINTS: usize = 1 << 20;

/// Of which polynomials a patch is made.
#[derive(Clone, Copy, PartialEq)]
enum Degree {
    Bilinear,
    Bicubic,
}

fn degree(args: &mut Args<'_, '_>) -> Result<Degree, Diagnostic> {
    match args.string("\"bilinear\" or \"bicubic\"")?.as_str() {
        "bilinear" => Ok(Degree::Bilinear),
        "bicubic" => Ok(Degree::Bicubic),
        other => {
            Err(args.error(format!("there is no type of patch `{other}`")).hint("use \"bilinear\" or \"bicubic\""))
        }
    }
}

/// `Patch type`: one patch of 4 or 16 control points.
pub fn patch(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let degree = degree(args)?;
    let vars = Variables::read(r, args)?;
    let direction = |k: usize| match degree {
        Degree::Bilinear => Direction::linear(2, false),
        Degree::Bicubic => Direction::cubic(r.state.attributes.surfaces.basis[k].0, 1, 4, false),
    };
    let [u, v] = [direction(0), direction(1)].map(|d| d.map_err(|e| args.error(e.to_string())));
    surface(r, args, vars, [u?, v?], false)
}

/// `PatchMesh type nu uwrap nv vwrap`: patches that share control points.
pub fn patch_mesh(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let degree = degree(args)?;
    let mut directions = Vec::new();
    for (k, name) in ["u", "v"].into_iter().enumerate() {
        let count = control_count(args, name)?;
        let wrap = args.string("\"periodic\" or \"nonperiodic\"")?;
        let periodic = match wrap.as_str() {
            "periodic" => true,
            "nonperiodic" => false,
            _ => {
                return Err(args
                    .error(format!("a mesh cannot wrap as `{wrap}`"))
                    .hint("use \"periodic\" or \"nonperiodic\""));
            }
        };
        let (basis, step) = r.state.attributes.surfaces.basis[k];
        let made = match degree {
            Degree::Bilinear => Direction::linear(count, periodic),
            Degree::Bicubic => Direction::cubic(basis, step, count, periodic),
        };
        directions.push(made.map_err(|e| wrong_direction(args, name, &e))?);
    }
    let vars = Variables::read(r, args)?;
    surface(r, args, vars, two(directions), false)
}

/// `NuPatch nu uorder uknot umin umax nv vorder vknot vmin vmax`
pub fn nu_patch(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let mut directions = Vec::new();
    for name in ["u", "v"] {
        let count = control_count(args, name)?;
        let order = args.integer("the order")?.max(0) as usize;
        let (knots, _) = args.float_values()?;
        let range = (args.number("the least parameter")?, args.number("the greatest parameter")?);
        directions.push(Direction::nurbs(order, &knots, count, range).map_err(|e| wrong_direction(args, name, &e))?);
    }
    let vars = Variables::read(r, args)?;
    surface(r, args, vars, two(directions), true)
}

/// How values of a class are blended at sites of a surface.
type Blending = fn(&Surface, &[Site], &[f32], usize) -> Vec<f32>;

fn control_count(args: &mut Args<'_, '_>, direction: &str) -> Result<usize, Diagnostic> {
    let count = args.integer("a number of control points")?;
    match usize::try_from(count) {
        Ok(count) if count <= MAX_CONTROL_POINTS => Ok(count),
        _ => Err(args
            .error(format!("{count} control points along {direction}"))
            .hint(format!("at most {MAX_CONTROL_POINTS} are possible"))),
    }
}

fn two(directions: Vec<Direction>) -> [Direction; 2] {
    let mut directions = directions.into_iter();
    std::array::from_fn(|_| directions.next().expect("two directions were read"))
}

fn wrong_direction(args: &Args<'_, '_>, name: &str, error: &BasisError) -> Diagnostic {
    args.error(format!("along {name}: {error}"))
}

fn surface(
    r: &mut Reader<'_>,
    args: &Args<'_, '_>,
    vars: Variables,
    [u, v]: [Direction; 2],
    trimmed: bool,
) -> Result<(), Diagnostic> {
    r.admit_geometry(args.span);
    let points = control_points(args, &vars, &u, &v)?;
    let surface = Surface::new(u, v, &points);
    let metric = metric(r);
    let Some(mut diced) = surface.dice(&metric, r.budget.room()) else { return too_fine(r, args) };
    let trim = &r.state.attributes.surfaces.trim;
    if trimmed && !trim.loops.is_empty() {
        diced = surface.trimmed(diced, trim, &metric);
    }
    if !count(r, args, diced.triangles.len(), &vars) {
        return Ok(());
    }
    let Diced { sites, points, normals, uv, triangles, patches } = diced;
    let mut faces = Faces { triangles, normals: Channel::PerPoint(normals), ..Faces::default() };
    if let Some(corners) = r.state.attributes.surfaces.texture_coordinates {
        faces.st = texture_corners(&corners, &uv);
    }
    let [in_u, in_v] = surface.patches();
    let patch_count = in_u * in_v;
    let ends = surface.u.segment_ends() * surface.v.segment_ends();
    let everywhere = Channel::PerPoint((0..points.len() as u32).collect());
    let at = if patch_count == 1 { Channel::Constant(0) } else { Channel::PerTriangle(patches) };
    let (surface, sites) = (&surface, &sites);
    let map = |count: usize, meaning: &'static str, how: Blending| {
        let blend: Blend<'_> = Box::new(move |values, width| how(surface, sites, values, width));
        ClassMap { count, meaning, blend: Some(blend), at: everywhere.clone() }
    };
    let corners = || map(4 * patch_count, "one value a corner of each patch", Surface::blend_face_varying);
    let control = surface.u.count() * surface.v.count();
    let spread = Spread {
        uniform: ClassMap { count: patch_count, meaning: "one value a patch", blend: None, at },
        varying: map(ends, "one value a corner of the patches", Surface::blend_varying),
        vertex: map(control, "one value a control point", Surface::blend_vertex),
        face_varying: corners(),
        face_vertex: corners(),
    };
    let computed_normals = !vars.has_normals();
    // RISpec 3.2, §5: of a NURBS u and v are the parameters that its knots are given in.
    let scaled = |x: f32, (from, to): (f64, f64)| (from + f64::from(x) * (to - from)) as f32;
    let [across, along] = [surface.u.range(), surface.v.range()];
    faces.uv = Channel::PerPoint(uv.iter().map(|p| Vec2::new(scaled(p.x, across), scaled(p.y, along))).collect());
    vars.lay(r, &spread, &mut faces);
    faces.points = points;
    add_object(r, args, Source { name: args.request, computed_normals }, faces)
}

/// The homogeneous control points: `P`, `Pw`, or heights `Pz` over the unit square.
fn control_points(
    args: &Args<'_, '_>,
    vars: &Variables,
    u: &Direction,
    v: &Direction,
) -> Result<Vec<Vec4>, Diagnostic> {
    let Some(p) = &vars.positions else {
        return Err(args.error("no positions").hint("give \"P\" [x y z …], \"Pw\" [x y z w …] or \"Pz\" [z …]"));
    };
    if !matches!(p.declaration.class, PrimvarClass::Vertex | PrimvarClass::Varying) {
        let text =
            format!("`{}` must be `vertex {}`, not `{}`", p.name, p.declaration.ty.name(), p.declaration.describe());
        return Err(Diagnostic::error(text).at(p.name_span, "of the wrong class"));
    }
    p.expect(u.count().saturating_mul(v.count()), "one value a control point")?;
    let numbers = p.floats();
    let last = |n: usize| (n - 1) as f32;
    let points: Vec<Vec4> = match p.declaration.ty {
        Type::HPoint => numbers.chunks_exact(4).map(Vec4::from_slice).collect(),
        Type::Point => numbers.chunks_exact(3).map(|p| Vec4::new(p[0], p[1], p[2], 1.0)).collect(),
        _ => {
            let place = |k: usize| {
                Vec2::new((k % u.count()) as f32 / last(u.count()), (k / u.count()) as f32 / last(v.count()))
            };
            numbers.iter().enumerate().map(|(k, &z)| place(k).extend(z).extend(1.0)).collect()
        }
    };
    match points.iter().position(|p| p.w <= 0.0) {
        Some(bad) => {
            Err(args.error(format!("control point {bad} has the weight {}", points[bad].w)).hint("weights are above 0"))
        }
        None => Ok(points),
    }
}
