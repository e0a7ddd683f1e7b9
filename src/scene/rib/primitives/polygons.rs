//! `Polygon`, `GeneralPolygon`, `PointsPolygons` and `PointsGeneralPolygons` (RISpec 3.2, §5.1).

use super::super::args::Args;
use super::super::params::{PrimvarClass, Type};
use super::super::reader::Reader;
use super::dicing::count_listed;
use super::variables::{ClassMap, Spread, Variables, projected};
use super::{Source, add_object};
use glam::Vec3;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use shadewright_geometry::polygon::{newell_normal, triangulate, triangulate_loops};
use shadewright_geometry::{Channel, Faces};

/// `Polygon`: one face, flat unless it brings normals.
pub fn polygon(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let vars = Variables::read(r, args)?;
    let points = positions(args, &vars)?;
    if points.len() < 3 {
        return Err(args.error(format!("a polygon needs at least 3 vertices, this has {}", points.len())));
    }
    let corners = (0..points.len() as u32).collect();
    polygons(r, args, vars, Polygons { loops: vec![1], counts: vec![points.len() as u32], corners, points }, true)
}

/// `GeneralPolygon [counts]`: one face, its outline and holes one after the other.
pub fn general_polygon(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let counts = args.integer_values()?;
    let vars = Variables::read(r, args)?;
    let points = positions(args, &vars)?;
    let counts = check_counts(args, counts, points.len(), "points")?;
    let corners = (0..points.len() as u32).collect();
    polygons(r, args, vars, Polygons { loops: vec![counts.len() as u32], counts, corners, points }, true)
}

/// `PointsPolygons`: many faces over shared points.
pub fn points_polygons(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let counts = args.integer_values()?;
    let indices = args.integer_values()?;
    let vars = Variables::read(r, args)?;
    let points = positions(args, &vars)?;
    let (counts, corners) = usable_faces(r, args, counts, indices, points.len())?;
    polygons(r, args, vars, Polygons { loops: vec![1; counts.len()], counts, corners, points }, false)
}

/// The counts and indices of faces, as far as they fit. What does not is reported: faces beyond the
/// indices are left out, and those with too few vertices or with points that are not there have no
/// area.
fn usable_faces(
    r: &mut Reader<'_>,
    args: &Args<'_, '_>,
    (counts, counts_span): (Vec<i32>, Span),
    (indices, indices_span): (Vec<i32>, Span),
    points: usize,
) -> Result<(Vec<u32>, Vec<u32>), Diagnostic> {
    let (name, announced) = (args.request, counts.len());
    if let Some((face, n)) = counts.iter().enumerate().find(|(_, n)| **n < 3) {
        let d = Diagnostic::error(format!("{name}: face {face} has {n} vertices, and needs 3 at least"));
        r.error(d.at(counts_span, "in these counts"));
    }
    let total: i64 = counts.iter().map(|&n| i64::from(n)).sum();
    let (mut counts, mut end) = (counts, 0usize);
    if let Some(bad) = counts.iter().position(|&n| match usize::try_from(n) {
        Ok(n) if n <= indices.len() - end => {
            end += n;
            false
        }
        _ => true,
    }) {
        counts.truncate(bad);
    }
    if total != indices.len() as i64 {
        let text = format!("{name}: the faces have {total} vertices, but there are {} indices", indices.len());
        r.error(Diagnostic::error(text).at(counts_span, format!("{announced} faces")));
    }
    if let Some(i) = indices[..end].iter().find(|&&i| i < 0 || i as usize >= points) {
        let text = format!("{name}: index {i} is out of range: there are {points} points");
        r.error(Diagnostic::error(text).at(indices_span, "in these indices").hint("indices count from 0"));
    }
    if counts.is_empty() || points == 0 {
        return Err(args.error("no face is left"));
    }
    let counts: Vec<u32> = counts.into_iter().map(|n| n as u32).collect();
    let mut corners: Vec<u32> = indices[..end].iter().map(|&i| u32::try_from(i).unwrap_or(u32::MAX)).collect();
    let mut rest = corners.as_mut_slice();
    for &n in &counts {
        let (face, others) = rest.split_at_mut(n as usize);
        if face.iter().any(|&i| i as usize >= points) {
            face.fill(0);
        }
        rest = others;
    }
    Ok((counts, corners))
}

/// `PointsGeneralPolygons [loops] [counts] [indices]`: many faces with holes over shared points.
pub fn points_general_polygons(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let (loops, loops_span) = args.integer_values()?;
    let counts = args.integer_values()?;
    let indices = args.integer_values()?;
    let vars = Variables::read(r, args)?;
    let name = args.request;
    if let Some((face, n)) = loops.iter().enumerate().find(|(_, n)| **n < 1) {
        return Err(Diagnostic::error(format!("{name}: face {face} has {n} loops, and needs 1 at least"))
            .at(loops_span, "in these numbers"));
    }
    let total: i64 = loops.iter().map(|&n| i64::from(n)).sum();
    if total != counts.0.len() as i64 {
        let found = counts.0.len();
        return Err(Diagnostic::error(format!("{name}: the faces have {total} loops, but there are {found} counts"))
            .at(counts.1, format!("expected {total}, found {found}"))
            .also(loops_span, format!("{} faces", loops.len())));
    }
    let counts = check_counts(args, counts, indices.0.len(), "indices")?;
    let points = positions(args, &vars)?;
    let corners = check_indices(args, indices, points.len())?;
    let loops = loops.into_iter().map(|n| n as u32).collect();
    polygons(r, args, vars, Polygons { loops, counts, corners, points }, false)
}

/// Numbers of vertices that make up all that there are.
pub fn check_counts(
    args: &Args<'_, '_>,
    (counts, span): (Vec<i32>, Span),
    there_are: usize,
    what: &str,
) -> Result<Vec<u32>, Diagnostic> {
    let name = args.request;
    if let Some((face, n)) = counts.iter().enumerate().find(|(_, n)| **n < 3) {
        return Err(Diagnostic::error(format!("{name}: face {face} has {n} vertices, and needs 3 at least"))
            .at(span, "in these counts"));
    }
    let total: i64 = counts.iter().map(|&n| i64::from(n)).sum();
    if total != there_are as i64 {
        let text = format!("{name}: the faces have {total} vertices, but there are {there_are} {what}");
        return Err(Diagnostic::error(text).at(span, format!("{} faces", counts.len())));
    }
    Ok(counts.into_iter().map(|n| n as u32).collect())
}

/// Numbers of points that exist.
pub fn check_indices(
    args: &Args<'_, '_>,
    (indices, span): (Vec<i32>, Span),
    points: usize,
) -> Result<Vec<u32>, Diagnostic> {
    if let Some(i) = indices.iter().find(|&&i| i < 0 || i as usize >= points) {
        let text = format!("{}: index {i} is out of range: there are {points} points", args.request);
        return Err(Diagnostic::error(text).at(span, "in these indices").hint("indices count from 0"));
    }
    Ok(indices.into_iter().map(|i| i as u32).collect())
}

/// The points of a request that has a position for each: `P`, or `Pw` divided.
pub fn positions(args: &Args<'_, '_>, vars: &Variables) -> Result<Vec<Vec3>, Diagnostic> {
    let Some(p) = &vars.positions else {
        return Err(args.error("no positions").hint("give \"P\" [x y z …]"));
    };
    let size = p.declaration.size();
    if p.declaration.ty == Type::Float {
        return Err(args.error("positions as `Pz` are heights over patches only").hint("give \"P\" [x y z …]"));
    }
    if !matches!(p.declaration.class, PrimvarClass::Vertex | PrimvarClass::Varying) {
        let text =
            format!("`{}` must be `vertex {}`, not `{}`", p.name, p.declaration.ty.name(), p.declaration.describe());
        return Err(Diagnostic::error(text).at(p.name_span, "of the wrong class"));
    }
    if p.values.len() % size != 0 {
        let text =
            format!("{}: `{}` has {} numbers, which is no multiple of {size}", args.request, p.name, p.values.len());
        let count = if size == 3 { "three" } else { "four" };
        return Err(Diagnostic::error(text).at(p.value_span, format!("expected {count} numbers a point")));
    }
    let numbers = if p.declaration.ty == Type::HPoint { projected(&p.floats()) } else { p.floats() };
    let points: Vec<Vec3> = numbers.chunks_exact(3).map(Vec3::from_slice).collect();
    match points.iter().position(|p| !p.is_finite()) {
        Some(bad) => Err(args.error(format!("point {bad} is not finite")).hint("its weight is 0")),
        None => Ok(points),
    }
}

/// Faces over points; all numbers are in range.
struct Polygons {
    /// For each face, how many loops it has: its outline and holes.
    loops: Vec<u32>,
    /// For each loop, its vertices.
    counts: Vec<u32>,
    /// The points of all of them, loop after loop.
    corners: Vec<u32>,
    points: Vec<Vec3>,
}

fn polygons(
    r: &mut Reader<'_>,
    args: &Args<'_, '_>,
    vars: Variables,
    polygons: Polygons,
    lone: bool,
) -> Result<(), Diagnostic> {
    r.admit_geometry(args.span);
    let Polygons { loops, counts, corners: indices, points } = polygons;
    // For each triangle, its face and the face-vertices of its corners.
    let (mut face_of, mut corners): (Vec<u32>, Vec<[u32; 3]>) = Default::default();
    // The vertices of a lone face's outline.
    let outline = counts.first().map_or(0, |&n| n as usize);
    let (mut start, mut counts) = (0, counts.as_slice());
    let (mut positions, mut cut) = (Vec::new(), Vec::new());
    for (face, &n) in loops.iter().enumerate() {
        let (own, others) = counts.split_at(n as usize);
        counts = others;
        let n: u32 = own.iter().sum();
        positions.clear();
        positions.extend(indices[start as usize..(start + n) as usize].iter().map(|&i| points[i as usize]));
        cut.clear();
        if n < 3 {
            // Reported before: a face without area.
        } else if own.len() == 1 {
            triangulate(&positions, &mut cut).map_err(|e| args.error(format!("face {face}: {e}")))?;
        } else {
            triangulate_loops(&positions, own, &mut cut)
                .ok_or_else(|| args.error(format!("face {face} is too large to be cut into triangles")))?;
        }
        corners.extend(cut.iter().map(|t| t.map(|k| start + k)));
        face_of.extend(std::iter::repeat_n(face as u32, cut.len()));
        start += n;
    }
    if !count_listed(r, args, corners.len()) {
        return Ok(());
    }
    let spread = over_polygons(loops.len(), points.len(), indices.len(), face_of, &corners);
    let mut faces = Faces {
        triangles: corners.iter().map(|t| t.map(|k| indices[k as usize])).collect(),
        // RISpec 3.2, §5.1: u, v of a polygon are x, y in object space.
        uv: Channel::PerPoint(points.iter().map(|p| p.truncate()).collect()),
        ..Faces::default()
    };
    vars.lay(r, &spread, &mut faces);
    let computed_normals = lone && faces.normals == Channel::Absent;
    if computed_normals {
        faces.normals = Channel::Constant(newell_normal(&positions[..outline]));
    }
    faces.points = points;
    add_object(r, args, Source { name: args.request, computed_normals }, faces)
}

/// Where values belong on polygons, whose triangles have these faces and these face-vertices for
/// corners.
pub fn over_polygons(
    faces: usize,
    points: usize,
    face_vertices: usize,
    face_of: Vec<u32>,
    corners: &[[u32; 3]],
) -> Spread<'static> {
    let uniform = if faces == 1 { Channel::Constant(0) } else { Channel::PerTriangle(face_of) };
    let at_points = || ClassMap {
        count: points,
        meaning: "one value a point of `P`",
        blend: None,
        at: Channel::PerPoint((0..points as u32).collect()),
    };
    let at_corners = || {
        let values = (0..face_vertices as u32).collect();
        let at = Channel::PerCorner { indices: corners.to_vec(), values };
        ClassMap { count: face_vertices, meaning: "one value a vertex of each face", blend: None, at }
    };
    Spread {
        uniform: ClassMap { count: faces, meaning: "one value a face", blend: None, at: uniform },
        varying: at_points(),
        vertex: at_points(),
        face_varying: at_corners(),
        face_vertex: at_corners(),
    }
}
