//! From points, triangles and data of any class to a [`Mesh`].
//!
//! Zero-area triangles are dropped and counted, missing normals computed, and points split where a
//! value differs between the triangles around them.

use super::mesh::Mesh;
use super::normals::{face_normal, split_at_creases};
use super::primvar::{Primvar, Variable};
use glam::{Vec2, Vec3};

/// How many vertices at one point are compared before a new one is made without looking further. It
/// bounds the work at a point with very many triangles; the only harm is a vertex stored twice.
const MAX_COMPARED: usize = 32;

/// Values given over a mesh, by where they may differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Channel<T> {
    /// None given.
    #[default]
    Absent,
    /// One for the whole mesh.
    Constant(T),
    /// One a triangle.
    PerTriangle(Vec<T>),
    /// One a point.
    PerPoint(Vec<T>),
    /// Each corner of each triangle names one of `values`.
    PerCorner {
        /// For each triangle, its corners' values.
        indices: Vec<[u32; 3]>,
        /// The values that the indices point into.
        values: Vec<T>,
    },
}

/// The parts that a mesh is assembled from. All indices are in range and all channels as long as
/// their class asks.
#[derive(Clone, Debug, Default)]
pub struct Faces {
    /// Positions, finite.
    pub points: Vec<Vec3>,
    /// Point indices.
    pub triangles: Vec<[u32; 3]>,
    /// Normals of any length; computed with creases where absent.
    pub normals: Channel<Vec3>,
    /// `s, t`
    pub st: Channel<Vec2>,
    /// `u, v`
    pub uv: Channel<Vec2>,
    /// `Cs`
    pub colors: Channel<Vec3>,
    /// `Os`
    pub opacities: Channel<Vec3>,
    /// Other variables, for the parameters of shaders.
    pub variables: Vec<Variable>,
    /// True if they stand for ribbons ([`Mesh::ribbons`]).
    pub ribbons: bool,
    /// True if normals have length 1, and are kept bit for bit: to normalize them again may change
    /// their last bits.
    pub unit_normals: bool,
}

/// A mesh and what was left out of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Assembled {
    /// The mesh, with unit normals.
    pub mesh: Mesh,
    /// Number of zero-area triangles that were dropped.
    pub dropped: usize,
}

/// Makes the mesh; `crease_angle` in degrees matters where there are no normals.
pub fn assemble(mut faces: Faces, crease_angle: f32) -> Assembled {
    let dropped = drop_zero_area(&mut faces);
    let computed = matches!(faces.normals, Channel::Absent);
    if computed {
        split_for_normals(&mut faces, crease_angle);
    }
    let (ribbons, are_unit) = (faces.ribbons, faces.unit_normals);
    let mut mesh = Mesh { ribbons, ..if needs_split(&faces) { split(faces) } else { keep(faces) } };
    if !computed && !are_unit {
        make_unit(&mut mesh);
    }
    Assembled { mesh, dropped }
}

impl<T: Copy> Channel<T> {
    /// Leaves out the values of the triangles that are not kept.
    fn retain(&mut self, keep: &[bool]) {
        let mut flags = keep.iter();
        let mut kept = || flags.next().copied().unwrap_or(false);
        match self {
            Channel::PerTriangle(values) => values.retain(|_| kept()),
            Channel::PerCorner { indices, .. } => indices.retain(|_| kept()),
            _ => {}
        }
    }

    fn varies_at_point(&self) -> bool {
        matches!(self, Channel::PerTriangle(_) | Channel::PerCorner { .. })
    }

    /// The value at a corner of a triangle whose point is `point`; `None` when absent.
    pub fn at(&self, triangle: usize, corner: usize, point: u32) -> Option<T> {
        match self {
            Channel::Absent => None,
            Channel::Constant(v) => Some(*v),
            Channel::PerTriangle(v) => Some(v[triangle]),
            Channel::PerPoint(v) => Some(v[point as usize]),
            Channel::PerCorner { indices, values } => Some(values[indices[triangle][corner] as usize]),
        }
    }

    /// The values at points, `count` of them, where they do not vary around a point.
    fn into_points(self, count: usize) -> Vec<T> {
        match self {
            Channel::PerPoint(values) => values,
            Channel::Constant(value) => vec![value; count],
            _ => Vec::new(),
        }
    }

    /// Moves values per point to the vertices that lie at `points`.
    fn gather(&mut self, points: &[u32]) {
        if let Channel::PerPoint(values) = self {
            *values = points.iter().map(|&p| values[p as usize]).collect();
        }
    }
}

fn drop_zero_area(faces: &mut Faces) -> usize {
    let has_area = |t: &[u32; 3]| face_normal(t.map(|i| faces.points[i as usize])) != Vec3::ZERO;
    let keep: Vec<bool> = faces.triangles.iter().map(has_area).collect();
    let dropped = keep.iter().filter(|k| !**k).count();
    if dropped > 0 {
        let mut flags = keep.iter();
        faces.triangles.retain(|_| flags.next().copied().unwrap_or(false));
        faces.normals.retain(&keep);
        faces.st.retain(&keep);
        faces.uv.retain(&keep);
        faces.colors.retain(&keep);
        faces.opacities.retain(&keep);
        faces.variables.iter_mut().for_each(|v| v.at.retain(&keep));
    }
    dropped
}

/// Splits the points at creases, so that the computed normals are per point.
fn split_for_normals(faces: &mut Faces, crease_angle: f32) {
    let split = split_at_creases(&faces.points, &faces.triangles, crease_angle);
    faces.points = split.points.iter().map(|&p| faces.points[p as usize]).collect();
    faces.st.gather(&split.points);
    faces.uv.gather(&split.points);
    faces.colors.gather(&split.points);
    faces.opacities.gather(&split.points);
    faces.variables.iter_mut().for_each(|v| v.at.gather(&split.points));
    faces.triangles = split.corners;
    faces.normals = Channel::PerPoint(split.normals);
}

fn needs_split(faces: &Faces) -> bool {
    faces.normals.varies_at_point()
        || faces.st.varies_at_point()
        || faces.uv.varies_at_point()
        || matches!(faces.colors, Channel::PerCorner { .. })
        || matches!(faces.opacities, Channel::PerCorner { .. })
        || faces.variables.iter().any(|v| matches!(v.at, Channel::PerCorner { .. }))
}

fn keep(faces: Faces) -> Mesh {
    let count = faces.points.len();
    let (triangle_colors, vertex_colors) = by_triangle_or_vertex(faces.colors, count);
    let (triangle_opacities, vertex_opacities) = by_triangle_or_vertex(faces.opacities, count);
    Mesh {
        positions: faces.points,
        normals: faces.normals.into_points(count),
        st: faces.st.into_points(count),
        uv: faces.uv.into_points(count),
        vertex_colors,
        vertex_opacities,
        triangle_colors,
        triangle_opacities,
        triangles: faces.triangles,
        primvars: faces.variables.into_iter().map(keep_variable).collect(),
        ..Mesh::default()
    }
}

/// The variable of a mesh whose vertices are the points.
fn keep_variable(mut variable: Variable) -> Primvar {
    let at = match &mut variable.at {
        Channel::PerPoint(at) => std::mem::take(at),
        _ => Vec::new(),
    };
    variable.into_primvar(at.into_iter())
}

fn by_triangle_or_vertex(channel: Channel<Vec3>, points: usize) -> (Vec<Vec3>, Vec<Vec3>) {
    match channel {
        Channel::PerTriangle(values) => (values, Vec::new()),
        other => (Vec::new(), other.into_points(points)),
    }
}

/// All that a vertex carries beside its point.
#[derive(Clone, Copy, PartialEq)]
struct Vertex {
    normal: Option<Vec3>,
    st: Option<Vec2>,
    uv: Option<Vec2>,
    color: Option<Vec3>,
    opacity: Option<Vec3>,
}

/// Makes a vertex for each different set of values at a point, in the order that the triangles
/// first use them.
fn split(mut faces: Faces) -> Mesh {
    const NONE: u32 = u32::MAX;
    let triangle_colors = take_per_triangle(&mut faces.colors);
    let triangle_opacities = take_per_triangle(&mut faces.opacities);
    let mut mesh = Mesh { triangle_colors, triangle_opacities, ..Mesh::default() };
    let mut vertices: Vec<Vertex> = Vec::new();
    // For each vertex, which value of each interpolated variable it has.
    let stride = faces.variables.iter().filter(|v| v.is_interpolated()).count();
    let (mut values, mut here): (Vec<u32>, Vec<u32>) = (Vec::new(), vec![0; stride]);
    let mut first = vec![NONE; faces.points.len()];
    let mut next: Vec<u32> = Vec::new();
    for (t, triangle) in faces.triangles.iter().enumerate() {
        let mut out = [0; 3];
        for (k, &point) in triangle.iter().enumerate() {
            let vertex = Vertex {
                normal: faces.normals.at(t, k, point),
                st: faces.st.at(t, k, point),
                uv: faces.uv.at(t, k, point),
                color: faces.colors.at(t, k, point),
                opacity: faces.opacities.at(t, k, point),
            };
            let interpolated = faces.variables.iter().filter(|v| v.is_interpolated());
            for (slot, v) in here.iter_mut().zip(interpolated) {
                *slot = v.at.at(t, k, point).unwrap_or(0);
            }
            let mut candidate = first[point as usize];
            let mut compared = 0;
            let differs = |i: usize| vertices[i] != vertex || values[i * stride..][..stride] != *here;
            while candidate != NONE && compared < MAX_COMPARED && differs(candidate as usize) {
                candidate = next[candidate as usize];
                compared += 1;
            }
            if candidate == NONE || compared == MAX_COMPARED {
                candidate = vertices.len() as u32;
                vertices.push(vertex);
                values.extend_from_slice(&here);
                mesh.positions.push(faces.points[point as usize]);
                next.push(first[point as usize]);
                first[point as usize] = candidate;
            }
            out[k] = candidate;
        }
        mesh.triangles.push(out);
    }
    mesh.normals = vertices.iter().filter_map(|v| v.normal).collect();
    mesh.st = vertices.iter().filter_map(|v| v.st).collect();
    mesh.uv = vertices.iter().filter_map(|v| v.uv).collect();
    mesh.vertex_colors = vertices.iter().filter_map(|v| v.color).collect();
    mesh.vertex_opacities = vertices.iter().filter_map(|v| v.opacity).collect();
    let mut column = 0;
    for variable in faces.variables {
        let own = column;
        column += usize::from(variable.is_interpolated());
        mesh.primvars.push(variable.into_primvar(values.iter().skip(own).step_by(stride.max(1)).copied()));
    }
    mesh
}

fn take_per_triangle(channel: &mut Channel<Vec3>) -> Vec<Vec3> {
    match channel {
        Channel::PerTriangle(values) => {
            let values = std::mem::take(values);
            *channel = Channel::Absent;
            values
        }
        _ => Vec::new(),
    }
}

/// Normalizes given normals; a zero one becomes the normal of a triangle that uses it.
fn make_unit(mesh: &mut Mesh) {
    let mut missing = false;
    for n in &mut mesh.normals {
        *n = n.as_dvec3().normalize_or_zero().as_vec3();
        missing |= *n == Vec3::ZERO;
    }
    if !missing {
        return;
    }
    for t in 0..mesh.triangles.len() {
        let normal = face_normal(mesh.corners(t));
        for i in mesh.triangles[t] {
            let n = &mut mesh.normals[i as usize];
            if *n == Vec3::ZERO {
                *n = normal;
            }
        }
    }
    for n in mesh.normals.iter_mut().filter(|n| **n == Vec3::ZERO) {
        *n = Vec3::Z;
    }
}

#[cfg(test)]
mod tests {
    use super::super::primvar::{PrimvarKind, PrimvarPlace, PrimvarType, PrimvarValues};
    use super::*;

    /// Two triangles of the unit square.
    fn square() -> Faces {
        Faces {
            points: vec![Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            ..Faces::default()
        }
    }

    #[test]
    fn values_per_point_need_no_further_vertices() {
        let colors = vec![Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE];
        let out = assemble(Faces { colors: Channel::PerPoint(colors.clone()), ..square() }, 40.0);
        assert_eq!(out.mesh.vertex_colors, colors);
        assert_eq!(out.mesh.normals, [Vec3::Z; 4]);
        assert_eq!(out.dropped, 0);
    }

    #[test]
    fn values_per_corner_split_only_the_points_where_they_differ() {
        let st = Channel::PerCorner {
            indices: vec![[0, 1, 2], [3, 2, 1]],
            values: vec![Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y],
        };
        let mesh = assemble(Faces { st, ..square() }, 40.0).mesh;
        assert_eq!(mesh.positions.len(), 5);
        assert_eq!(mesh.triangles, [[0, 1, 2], [3, 2, 4]]);
        assert_eq!(mesh.st, [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y, Vec2::X]);
        assert_eq!(mesh.normals.len(), 5);
    }

    #[test]
    fn colors_per_triangle_stay_with_the_triangles_that_are_kept() {
        let mut faces = square();
        faces.triangles.insert(1, [0, 1, 1]);
        faces.colors = Channel::PerTriangle(vec![Vec3::X, Vec3::Y, Vec3::Z]);
        let out = assemble(faces, 40.0);
        assert_eq!(out.dropped, 1);
        assert_eq!(out.mesh.triangle_colors, [Vec3::X, Vec3::Z]);
        assert_eq!(out.mesh.triangles.len(), 2);
    }

    #[test]
    fn given_normals_are_made_unit_and_zero_ones_replaced() {
        let normals = Channel::PerPoint(vec![2.0 * Vec3::X, Vec3::ZERO, 1e-30 * Vec3::Y, Vec3::Z]);
        let mesh = assemble(Faces { normals, ..square() }, 40.0).mesh;
        assert_eq!(mesh.normals, [Vec3::X, Vec3::Z, Vec3::Y, Vec3::Z]);
    }

    /// A variable of one number that is its own number in the table, at the places of `at`.
    fn numbered(at: Channel<u32>) -> Variable {
        let kind = PrimvarKind { name: "x".into(), ty: PrimvarType::Float, array: None };
        Variable { kind, values: PrimvarValues::Numbers((0..8).map(|i| i as f32).collect()), at }
    }

    #[test]
    fn variables_follow_the_triangles_and_the_corners_that_they_are_given_for() {
        let corners = Channel::PerCorner { indices: vec![[0, 1, 2], [3, 2, 1]], values: (4..8).collect() };
        let variables = vec![
            numbered(Channel::Constant(3)),
            numbered(Channel::PerTriangle(vec![6, 7])),
            numbered(Channel::PerPoint(vec![1, 2, 3, 4])),
            numbered(corners),
        ];
        let mesh = assemble(Faces { variables, ..square() }, 40.0).mesh;
        assert_eq!(mesh.triangles, [[0, 1, 2], [3, 2, 4]]);
        let values: Vec<_> = mesh.primvars.iter().map(|p| (p.place, p.values.clone())).collect();
        let numbers = |v: &[f32]| PrimvarValues::Numbers(v.to_vec());
        assert_eq!(
            values,
            [
                (PrimvarPlace::Constant, numbers(&[3.0])),
                (PrimvarPlace::Triangles, numbers(&[6.0, 7.0])),
                (PrimvarPlace::Vertices, numbers(&[1.0, 2.0, 3.0, 1.0, 4.0])),
                (PrimvarPlace::Vertices, numbers(&[4.0, 5.0, 6.0, 7.0, 5.0])),
            ]
        );
    }

    #[test]
    fn variables_per_point_stay_with_points_that_creases_split() {
        let points = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let variables = vec![numbered(Channel::PerPoint(vec![0, 1, 2, 3]))];
        let faces = Faces { points, triangles: vec![[0, 1, 2], [0, 3, 1]], variables, ..Faces::default() };
        let mesh = assemble(faces, 40.0).mesh;
        assert_eq!(mesh.positions.len(), 6);
        for (i, p) in mesh.positions.iter().enumerate() {
            assert_eq!(mesh.primvars[0].numbers(i), [p.dot(Vec3::new(1.0, 2.0, 3.0))]);
        }
    }

    #[test]
    fn a_mesh_of_nothing_but_lines_is_empty() {
        let mut faces = square();
        faces.triangles = vec![[0, 0, 1], [1, 1, 1]];
        let out = assemble(faces, 40.0);
        assert_eq!((out.dropped, out.mesh.triangles.len()), (2, 0));
    }
}
