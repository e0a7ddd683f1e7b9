//! Geometry requests: their arguments, their primitive variables, and the way of a shape into the scene.

use super::super::{MAX_TRIANGLES, MeshSpace, Object, Projection};
use super::archive::outside_world;
use super::args::Args;
use super::params::{Class, Param, Type, read_params};
use super::reader::Reader;
use crate::geometry::assemble::assemble;
use crate::geometry::polygon::{newell_normal, triangulate};
use crate::geometry::quadric::{Quadric, segments_for};
use crate::geometry::{Channel, Faces, NormalMap};
use crate::lang::diag::Diagnostic;
use glam::{Mat4, Vec2, Vec3, Vec4};
use std::ops::{Add, Mul};
use std::sync::Arc;

/// Where an object comes from.
pub struct Source<'a> {
    /// Its name, unless an attribute gives one.
    pub name: &'a str,
    /// Whether its normals are the surface's own, which follow the orientation, and not given by the scene.
    pub computed_normals: bool,
}

/// Takes faces from object space to the scene, with the current attributes; or to the retained object that is being defined.
pub fn add_object(
    r: &mut Reader<'_>,
    args: &Args<'_, '_>,
    source: Source<'_>,
    mut faces: Faces,
) -> Result<(), Diagnostic> {
    let m = r.state.transform;
    let mirrored = m.determinant() < 0.0;
    let left_handed = (m.determinant() * r.scene.camera.world_to_camera.determinant()) > 0.0;
    let attributes = r.state.attributes.clone();
    let inside = attributes.orientation.is_inside(left_handed);
    for p in &mut faces.points {
        *p = m.transform_point3(*p);
    }
    if let Some(bad) = faces.points.iter().position(|p| !p.is_finite()) {
        return Err(args
            .error(format!("point {bad} has no finite place in the world"))
            .hint("the transform around it overflows"));
    }
    if mirrored != inside {
        reverse(&mut faces);
    }
    let outside_map = NormalMap::new(m);
    let normal_map = if inside && source.computed_normals { outside_map.reversed() } else { outside_map };
    let world_normal = |n: &mut Vec3| *n = normal_map.apply(*n);
    match &mut faces.normals {
        Channel::Absent => {}
        Channel::Constant(n) => world_normal(n),
        Channel::PerTriangle(v) | Channel::PerPoint(v) | Channel::PerCorner { values: v, .. } => {
            v.iter_mut().for_each(world_normal);
        }
    }
    let computed_normals = source.computed_normals || faces.normals == Channel::Absent;
    let color = take_constant(&mut faces.colors);
    let opacity = take_constant(&mut faces.opacities);
    r.triangles += faces.triangles.len();
    if r.triangles > MAX_TRIANGLES {
        r.fatal(args.error(format!("the scene has more than {MAX_TRIANGLES} triangles")));
        return Ok(());
    }
    let made = assemble(faces, attributes.crease_angle);
    if made.dropped > 0 {
        let (count, span) = r.zero_area.unwrap_or((0, args.whole_span()));
        r.zero_area = Some((count + made.dropped, span));
    }
    let mut mesh = made.mesh;
    if mesh.triangles.is_empty() {
        return Ok(());
    }
    if r.retained.is_open() {
        // An instance has a colour of its own: what the primitive brings stays with its triangles.
        let everywhere = |v: Option<Vec3>| v.map_or_else(Vec::new, |v| vec![v; mesh.triangles.len()]);
        let (colors, opacities) = (everywhere(color), everywhere(opacity));
        mesh.triangle_colors.extend(colors);
        mesh.triangle_opacities.extend(opacities);
        r.retained.add(mesh, computed_normals);
        return Ok(());
    }
    r.scene.objects.push(Object {
        name: attributes.name.unwrap_or_else(|| source.name.to_string()),
        surface: attributes.surface,
        attributes: attributes.own,
        lights: attributes.lights,
        sides: attributes.sides,
        color: color.unwrap_or(attributes.color),
        opacity: opacity.unwrap_or(attributes.opacity),
        mesh: Arc::new(mesh),
        mesh_space: MeshSpace::World,
        object_to_world: Mat4::IDENTITY,
    });
    Ok(())
}

/// Turns every triangle around.
fn reverse(faces: &mut Faces) {
    fn corners<T>(channel: &mut Channel<T>) {
        if let Channel::PerCorner { indices, .. } = channel {
            indices.iter_mut().for_each(|t| t.swap(1, 2));
        }
    }
    faces.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    corners(&mut faces.normals);
    corners(&mut faces.st);
    corners(&mut faces.uv);
    corners(&mut faces.colors);
    corners(&mut faces.opacities);
}

fn take_constant(channel: &mut Channel<Vec3>) -> Option<Vec3> {
    match channel {
        Channel::Constant(v) => {
            let v = *v;
            *channel = Channel::Absent;
            Some(v)
        }
        _ => None,
    }
}

/// The primitive variables of a primitive that the renderer uses.
#[derive(Default)]
struct Variables {
    n: Option<Param>,
    cs: Option<Param>,
    os: Option<Param>,
    s: Option<Param>,
    t: Option<Param>,
    st: Option<Param>,
    p: Option<Param>,
}

impl Variables {
    fn read(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<Self, Diagnostic> {
        let mut out = Self::default();
        for p in read_params(args, &r.declarations)? {
            let (slot, types, size): (_, &[Type], _) = match p.name.as_str() {
                "P" => (&mut out.p, &[Type::Point], 3),
                "N" | "Np" => (&mut out.n, &[Type::Normal, Type::Vector, Type::Point], 3),
                "Cs" => (&mut out.cs, &[Type::Color], 3),
                "Os" => (&mut out.os, &[Type::Color], 3),
                "s" => (&mut out.s, &[Type::Float], 1),
                "t" => (&mut out.t, &[Type::Float], 1),
                "st" => (&mut out.st, &[Type::Float], 2),
                "Pz" | "Pw" => {
                    return Err(args
                        .error(format!("positions as `{}` are not supported", p.name))
                        .hint("give \"P\" [x y z …]"));
                }
                _ => {
                    r.warn_once(
                        &format!("variable {}", p.name),
                        Diagnostic::warning(format!("the primitive variable `{}` is not used", p.name))
                            .at(p.name_span, "skipped"),
                    );
                    continue;
                }
            };
            if !types.contains(&p.declaration.ty) || p.declaration.size() != size {
                let array = if size == 2 { "[2]" } else { "" };
                return Err(Diagnostic::error(format!(
                    "`{}` must be a {}{array}, not `{}`",
                    p.name,
                    types[0].name(),
                    p.declaration.describe()
                ))
                .at(p.name_span, "of the wrong type"));
            }
            *slot = Some(p);
        }
        Ok(out)
    }
}

/// `Polygon`: one face, flat unless it brings normals.
pub fn polygon(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let vars = Variables::read(r, args)?;
    let points = vars.p.as_ref().map_or(0, |p| p.values.len() / 3);
    if vars.p.is_some() && points < 3 {
        return Err(args.error(format!("a polygon needs at least 3 vertices, this has {points}")));
    }
    let corners = (0..points as u32).collect();
    polygons(r, args, vars, vec![points as u32], corners, true)
}

/// `PointsPolygons`: many faces over shared points.
pub fn points_polygons(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let (counts, counts_span) = args.integer_values()?;
    let (indices, indices_span) = args.integer_values()?;
    let vars = Variables::read(r, args)?;
    if let Some((face, n)) = counts.iter().enumerate().find(|(_, n)| **n < 3) {
        return Err(Diagnostic::error(format!("PointsPolygons: face {face} has {n} vertices, and needs 3 at least"))
            .at(counts_span, "in these counts"));
    }
    let total: i64 = counts.iter().map(|&n| i64::from(n)).sum();
    if total != indices.len() as i64 {
        return Err(Diagnostic::error(format!(
            "PointsPolygons: the faces have {total} vertices, but there are {} indices",
            indices.len()
        ))
        .at(indices_span, format!("expected {total}, found {}", indices.len()))
        .also(counts_span, format!("{} faces", counts.len())));
    }
    let points = vars.p.as_ref().map_or(0, |p| p.values.len() / 3);
    let out_of_range = indices.iter().find(|&&i| i < 0 || i as usize >= points);
    if let (Some(i), true) = (out_of_range, vars.p.is_some()) {
        return Err(Diagnostic::error(format!("PointsPolygons: index {i} is out of range: there are {points} points"))
            .at(indices_span, "in these indices")
            .hint("indices count from 0"));
    }
    let unsigned = |v: Vec<i32>| v.into_iter().map(|i| i as u32).collect();
    polygons(r, args, vars, unsigned(counts), unsigned(indices), false)
}

/// How many values each class has over some polygons, and which triangles come from where.
struct PolygonMap {
    faces: usize,
    points: usize,
    /// For each triangle, its face.
    face_of: Vec<u32>,
    /// For each triangle, the face-vertices of its corners.
    corners: Vec<[u32; 3]>,
    face_vertices: usize,
}

fn polygons(
    r: &mut Reader<'_>,
    args: &Args<'_, '_>,
    vars: Variables,
    counts: Vec<u32>,
    indices: Vec<u32>,
    lone: bool,
) -> Result<(), Diagnostic> {
    if !r.takes_geometry() {
        return Err(outside_world(args));
    }
    let Some(p) = &vars.p else {
        return Err(args.error("no positions").hint("give \"P\" [x y z …]"));
    };
    if !matches!(p.declaration.class, Class::Vertex | Class::Varying) {
        return Err(Diagnostic::error(format!("`P` must be `vertex point`, not `{}`", p.declaration.describe()))
            .at(p.name_span, "of the wrong class"));
    }
    if p.values.len() % 3 != 0 {
        return Err(Diagnostic::error(format!(
            "{}: `P` has {} numbers, which is no multiple of 3",
            args.request,
            p.values.len()
        ))
        .at(p.value_span, "expected three numbers a point"));
    }
    let points = p.triples();
    let mut map = PolygonMap {
        faces: counts.len(),
        points: points.len(),
        face_of: Vec::new(),
        corners: Vec::new(),
        face_vertices: indices.len(),
    };
    let mut start = 0;
    let (mut positions, mut cut) = (Vec::new(), Vec::new());
    for (face, &n) in counts.iter().enumerate() {
        positions.clear();
        positions.extend(indices[start as usize..(start + n) as usize].iter().map(|&i| points[i as usize]));
        cut.clear();
        triangulate(&positions, &mut cut).map_err(|e| args.error(format!("face {face}: {e}")))?;
        map.corners.extend(cut.iter().map(|t| t.map(|k| start + k)));
        map.face_of.extend(std::iter::repeat_n(face as u32, cut.len()));
        start += n;
    }
    let mut faces = Faces {
        triangles: map.corners.iter().map(|t| t.map(|k| indices[k as usize])).collect(),
        normals: map.channel(vars.n.as_ref(), triple)?,
        colors: map.channel(vars.cs.as_ref(), triple)?,
        opacities: map.channel(vars.os.as_ref(), triple)?,
        // RISpec 3.2, §5.1: u, v of a polygon are x, y in object space.
        uv: Channel::PerPoint(points.iter().map(|p| p.truncate()).collect()),
        ..Faces::default()
    };
    faces.st = map.texture_coordinates(&vars, &faces)?;
    let computed_normals = lone && faces.normals == Channel::Absent;
    if computed_normals {
        faces.normals = Channel::Constant(newell_normal(&positions));
    }
    faces.points = points;
    add_object(r, args, Source { name: args.request, computed_normals }, faces)
}

fn triple(v: &[f32]) -> Vec3 {
    Vec3::from_slice(v)
}

impl PolygonMap {
    /// How many values a class has.
    fn check(&self, p: &Param) -> Result<(), Diagnostic> {
        match p.declaration.class {
            Class::Constant => p.expect(1, "one value for the primitive"),
            Class::Uniform => p.expect(self.faces, "one value a face"),
            Class::Varying | Class::Vertex => p.expect(self.points, "one value a point of `P`"),
            Class::FaceVarying => p.expect(self.face_vertices, "one value a vertex of each face"),
        }
    }

    fn channel<T: Copy>(&self, p: Option<&Param>, convert: fn(&[f32]) -> T) -> Result<Channel<T>, Diagnostic> {
        let Some(p) = p else { return Ok(Channel::Absent) };
        self.check(p)?;
        let values: Vec<T> = p.floats().chunks_exact(p.declaration.size()).map(convert).collect();
        Ok(match p.declaration.class {
            Class::Constant => Channel::Constant(values[0]),
            Class::Uniform if self.faces == 1 => Channel::Constant(values[0]),
            Class::Uniform => Channel::PerTriangle(self.face_of.iter().map(|&f| values[f as usize]).collect()),
            Class::Varying | Class::Vertex => Channel::PerPoint(values),
            Class::FaceVarying => Channel::PerCorner { indices: self.corners.clone(), values },
        })
    }

    /// `st`, or `s` and `t`, each standing in for `u` and `v` where it is given alone.
    fn texture_coordinates(&self, vars: &Variables, faces: &Faces) -> Result<Channel<Vec2>, Diagnostic> {
        if vars.st.is_some() {
            return self.channel(vars.st.as_ref(), Vec2::from_slice);
        }
        let s = self.channel(vars.s.as_ref(), |v| v[0])?;
        let t = self.channel(vars.t.as_ref(), |v| v[0])?;
        if s == Channel::Absent && t == Channel::Absent {
            return Ok(Channel::Absent);
        }
        if let (Channel::PerPoint(s), Channel::PerPoint(t)) = (&s, &t) {
            return Ok(Channel::PerPoint(s.iter().zip(t).map(|(&s, &t)| Vec2::new(s, t)).collect()));
        }
        let mut values = Vec::with_capacity(3 * faces.triangles.len());
        for (triangle, points) in faces.triangles.iter().enumerate() {
            for (corner, &point) in points.iter().enumerate() {
                let uv = faces.uv.at(triangle, corner, point).unwrap_or_default();
                let s = s.at(triangle, corner, point).unwrap_or(uv.x);
                let t = t.at(triangle, corner, point).unwrap_or(uv.y);
                values.push(Vec2::new(s, t));
            }
        }
        let indices = (0..faces.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        Ok(Channel::PerCorner { indices, values })
    }
}

/// `Sphere radius zmin zmax thetamax`
pub fn sphere(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [radius, z_min, z_max, theta_max] = args.numbers("radius, zmin, zmax and thetamax")?;
    quadric(r, args, Quadric::Sphere { radius, z_min, z_max, theta_max })
}

/// `Cylinder radius zmin zmax thetamax`
pub fn cylinder(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [radius, z_min, z_max, theta_max] = args.numbers("radius, zmin, zmax and thetamax")?;
    quadric(r, args, Quadric::Cylinder { radius, z_min, z_max, theta_max })
}

/// `Cone height radius thetamax`
pub fn cone(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [height, radius, theta_max] = args.numbers("height, radius and thetamax")?;
    quadric(r, args, Quadric::Cone { height, radius, theta_max })
}

/// `Disk height radius thetamax`
pub fn disk(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [height, radius, theta_max] = args.numbers("height, radius and thetamax")?;
    quadric(r, args, Quadric::Disk { height, radius, theta_max })
}

fn quadric(r: &mut Reader<'_>, args: &mut Args<'_, '_>, quadric: Quadric) -> Result<(), Diagnostic> {
    let vars = Variables::read(r, args)?;
    if !r.takes_geometry() {
        return Err(outside_world(args));
    }
    if quadric.radius() == 0.0 {
        return Err(args.error("the radius must not be 0"));
    }
    let mut faces = quadric.tessellate(segments(r, quadric));
    let uv = match &faces.uv {
        Channel::PerPoint(uv) => uv.clone(),
        _ => Vec::new(),
    };
    if let Some(n) = bilinear(vars.n.as_ref(), &uv, triple)? {
        faces.normals = n;
    }
    faces.colors = bilinear(vars.cs.as_ref(), &uv, triple)?.unwrap_or_default();
    faces.opacities = bilinear(vars.os.as_ref(), &uv, triple)?.unwrap_or_default();
    let along = |p: Option<&Param>| -> Result<Option<Vec<f32>>, Diagnostic> {
        Ok(bilinear(p, &uv, |v| v[0])?.map(|c| (0..uv.len()).filter_map(|i| c.at(0, 0, i as u32)).collect()))
    };
    if let Some(st) = bilinear(vars.st.as_ref(), &uv, Vec2::from_slice)? {
        faces.st = st;
    } else if vars.s.is_some() || vars.t.is_some() {
        let (s, t) = (along(vars.s.as_ref())?, along(vars.t.as_ref())?);
        let pick = |values: &Option<Vec<f32>>, i: usize, default: f32| values.as_ref().map_or(default, |v| v[i]);
        let at = |(i, uv): (usize, &Vec2)| Vec2::new(pick(&s, i, uv.x), pick(&t, i, uv.y));
        faces.st = Channel::PerPoint(uv.iter().enumerate().map(at).collect());
    }
    let computed_normals = vars.n.is_none();
    add_object(r, args, Source { name: args.request, computed_normals }, faces)
}

/// A quadric's variable: one value, or four at the corners `(u, v)` = (0,0), (1,0), (0,1), (1,1).
fn bilinear<T>(p: Option<&Param>, uv: &[Vec2], convert: fn(&[f32]) -> T) -> Result<Option<Channel<T>>, Diagnostic>
where
    T: Copy + Add<Output = T> + Mul<f32, Output = T>,
{
    let Some(p) = p else { return Ok(None) };
    let single = matches!(p.declaration.class, Class::Constant | Class::Uniform);
    p.expect(if single { 1 } else { 4 }, if single { "one value for the primitive" } else { "one value a corner" })?;
    let values: Vec<T> = p.floats().chunks_exact(p.declaration.size()).map(convert).collect();
    if single {
        return Ok(Some(Channel::Constant(values[0])));
    }
    let at = |uv: &Vec2| {
        let low = values[0] * (1.0 - uv.x) + values[1] * uv.x;
        let high = values[2] * (1.0 - uv.x) + values[3] * uv.x;
        low * (1.0 - uv.y) + high * uv.y
    };
    Ok(Some(Channel::PerPoint(uv.iter().map(at).collect())))
}

/// The radius on the picture that quadrics of a retained object are cut for, whose instances may have any size: a sixth of the picture's height.
const RETAINED_RADIUS: f32 = 1.0 / 6.0;

/// How finely to cut a quadric, from its size on the picture.
fn segments(r: &Reader<'_>, quadric: Quadric) -> u32 {
    if r.retained.is_open() {
        return segments_for(RETAINED_RADIUS * r.scene.format.height as f32);
    }
    let m = r.state.transform;
    let scale = [m.x_axis, m.y_axis, m.z_axis].map(Vec4::truncate).map(Vec3::length).into_iter().fold(0.0, f32::max);
    let (centre, bound) = quadric.bounding_sphere();
    let depth = r.scene.camera.world_to_camera.transform_point3(m.transform_point3(centre)).z;
    let nearest = match r.scene.camera.projection {
        Projection::Orthographic => 1.0,
        // A shape around or behind the camera may still be seen in a mirror: its own size stands for its distance.
        Projection::Perspective { .. } => (depth - bound * scale).max(0.25 * bound * scale),
    };
    let pixels_per_unit = 0.5 * r.scene.format.height as f32 / (r.frame.half_height * nearest);
    segments_for(quadric.radius() * scale * pixels_per_unit)
}
