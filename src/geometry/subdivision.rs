//! Subdivision surfaces, by the crate `opensubdiv-rs`: Catmull–Clark, Loop and bilinear, with
//! creases, corners and holes.
//!
//! A mesh is refined as a whole, a level at a time, and its vertices are moved to the limit
//! surface. Normals are the mean of those of the triangles around a vertex, on each side of a
//! crease that is still sharp.

use super::dice::Metric;
use super::normals::face_normal;
use glam::{DVec3, Vec2, Vec3};
use opensubdiv_rs::far::{
    FVarChannelDescriptor, PrimvarRefiner, TopologyDescriptor, TopologyLevel, TopologyRefiner, TopologyRefinerFactory,
    UniformOptions,
};
use opensubdiv_rs::sdc::{FVarLinearInterpolation, Options, SchemeType, VtxBoundaryInterpolation};
use opensubdiv_rs::vtr::TopologyError;
use std::collections::HashMap;
use thiserror::Error;

/// Most levels of refinement.
const MAX_LEVEL: usize = 7;

/// Fewest, where the mesh allows.
const LEAST_LEVEL: usize = 2;

/// Most vertices of a face, and most faces at a vertex: work grows with the square of these.
const MAX_AROUND: usize = 4096;

/// Sharpness from which on a crease never softens.
const SHARPEST: f32 = 10.0;

/// The rules by which a mesh is refined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Catmull & Clark 1978: faces of any size.
    #[default]
    CatmullClark,
    /// Loop 1987: triangles.
    Loop,
    /// Faces stay as they are.
    Bilinear,
}

/// The behavior of the surface at the rim of the mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// It ends before: faces at the rim are holes.
    #[default]
    None,
    /// It ends in curves along the rim.
    Edges,
    /// It does so, and goes through the mesh's corners.
    EdgesAndCorners,
}

/// A mesh to be refined.
#[derive(Clone, Debug, Default)]
pub struct Cage {
    /// How.
    pub scheme: Scheme,
    /// The behavior at the rim.
    pub boundary: Boundary,
    /// For each face, its vertices.
    pub counts: Vec<u32>,
    /// The points of all of them, in range.
    pub indices: Vec<u32>,
    /// The points.
    pub points: Vec<Vec3>,
    /// Faces that are left out.
    pub holes: Vec<u32>,
    /// Edges, by their ends, and how sharp they are.
    pub creases: Vec<([u32; 2], f32)>,
    /// Points and how sharp they are.
    pub corners: Vec<(u32, f32)>,
}

/// A mesh that cannot be refined.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CageError {
    /// A face, an edge or a point that is not as it should be.
    #[error("{0}")]
    Topology(String),
    /// A face with very many vertices.
    #[error("face {face} has {count} vertices; {MAX_AROUND} at most are supported")]
    Face {
        /// The number of the face.
        face: usize,
        /// The number of its vertices.
        count: u32,
    },
    /// A point in very many faces.
    #[error("point {point} is in {count} faces; {MAX_AROUND} at most are supported")]
    Point {
        /// The number of the point.
        point: usize,
        /// The number of its faces.
        count: u32,
    },
    /// More triangles than allowed at the least level.
    #[error("too many faces")]
    TooMany,
}

impl From<TopologyError> for CageError {
    fn from(e: TopologyError) -> Self {
        let text = match e {
            TopologyError::DegenerateFace { face, size } => {
                format!("face {face} has {size} vertices, and needs 3 at least")
            }
            TopologyError::VertexIndexOutOfRange { face, vertex } => {
                format!("face {face} names the point {vertex}, which is not there")
            }
            TopologyError::RepeatedVertexInFace { face, vertex } => {
                format!("face {face} names the point {vertex} more than once")
            }
            TopologyError::NonTriangularFaceForLoop { face, size } => {
                format!("face {face} has {size} vertices; the scheme `loop` takes triangles only")
            }
            TopologyError::CreaseEdgeNotFound { vertices: [a, b] } => {
                format!("a crease goes from point {a} to point {b}, where there is no edge")
            }
            TopologyError::InvalidDescriptorIndex { what, index } => format!("there is no {what} {index}"),
            other => other.to_string(),
        };
        Self::Topology(text)
    }
}

/// A refined mesh.
pub struct Refined {
    refiner: TopologyRefiner,
    /// Points of the limit surface.
    pub points: Vec<Vec3>,
    /// Triangles of it.
    pub triangles: Vec<[u32; 3]>,
    /// The face of the cage that each triangle is part of.
    pub faces: Vec<u32>,
    /// The number of the normal at each corner of each triangle; none of the bilinear scheme.
    pub normal_indices: Vec<[u32; 3]>,
    /// Normals, unit.
    pub normals: Vec<Vec3>,
    /// Numbers of values at each corner of each triangle: of those of faces' vertices, and of those
    /// of points that are blended linearly.
    pub corner_values: [Vec<[u32; 3]>; 2],
}

/// The channels of values at faces' corners: those of faces' vertices, and points'.
const OF_CORNERS: usize = 0;
const OF_POINTS: usize = 1;

impl Cage {
    /// Refines the mesh until it is as flat as the metric asks, or has `limit` triangles.
    ///
    /// # Errors
    /// A mesh that cannot be refined, or has more than `limit` triangles then, or more than `room`.
    pub fn refine(mut self, metric: &Metric, limit: usize, room: usize) -> Result<Refined, CageError> {
        self.check()?;
        self.leave_out_the_rim();
        // A face with n vertices becomes n quads, a triangle of Loop's scheme four triangles; each
        // a quarter at each level more.
        let first: usize = if self.scheme == Scheme::Loop { 4 * self.counts.len() } else { 2 * self.indices.len() };
        let triangles = |level: usize| first.saturating_mul(1 << (2 * (level - 1)));
        if triangles(1) > limit {
            return Err(CageError::TooMany);
        }
        let wanted = if self.scheme == Scheme::Bilinear { 1 } else { self.level(metric) };
        let level = (1..=wanted).rev().find(|&l| triangles(l) <= limit).unwrap_or(1);
        let level = metric.lower(level).max(1);
        if triangles(level) > room {
            return Err(CageError::TooMany);
        }
        let refiner = self.refiner(level)?;
        Ok(self.refined(refiner))
    }

    fn check(&self) -> Result<(), CageError> {
        if let Some(face) = self.counts.iter().position(|&n| n as usize > MAX_AROUND) {
            return Err(CageError::Face { face, count: self.counts[face] });
        }
        let mut around = vec![0u32; self.points.len()];
        self.indices.iter().for_each(|&i| around[i as usize] += 1);
        match around.iter().position(|&n| n as usize > MAX_AROUND) {
            Some(point) => Err(CageError::Point { point, count: around[point] }),
            None => Ok(()),
        }
    }

    /// The corners of each face.
    fn faces(&self) -> impl Iterator<Item = &[u32]> {
        let mut rest = self.indices.as_slice();
        self.counts.iter().map(move |&n| {
            let (face, others) = rest.split_at(n as usize);
            rest = others;
            face
        })
    }

    /// Makes holes of the faces at the rim, where the surface is to end before it.
    fn leave_out_the_rim(&mut self) {
        if self.boundary != Boundary::None || self.scheme == Scheme::Bilinear {
            return;
        }
        let mut uses: HashMap<[u32; 2], u32> = HashMap::new();
        let edges = |face: &[u32]| -> Vec<[u32; 2]> {
            (0..face.len()).map(|k| (face[k], face[(k + 1) % face.len()])).map(|(a, b)| [a.min(b), a.max(b)]).collect()
        };
        self.faces().flat_map(edges).for_each(|e| *uses.entry(e).or_default() += 1);
        let mut at_rim = vec![false; self.points.len()];
        uses.iter().filter(|(_, n)| **n == 1).flat_map(|(e, _)| e).for_each(|&i| at_rim[i as usize] = true);
        let rim: Vec<u32> =
            (0u32..).zip(self.faces()).filter(|(_, f)| f.iter().any(|&i| at_rim[i as usize])).map(|f| f.0).collect();
        self.holes.extend(rim);
    }

    /// The level at which the pieces of curves on the surface are flat enough, judged by how far
    /// points are from the middle of their neighbors.
    fn level(&self, metric: &Metric) -> usize {
        let mut sums = vec![(DVec3::ZERO, 0.0f64); self.points.len()];
        for face in self.faces() {
            for (k, &i) in face.iter().enumerate() {
                let next = face[(k + 1) % face.len()];
                for (from, to) in [(i, next), (next, i)] {
                    let (sum, count) = &mut sums[from as usize];
                    (*sum, *count) = (*sum + self.points[to as usize].as_dvec3(), *count + 1.0);
                }
            }
        }
        let bend = |(p, (sum, count)): (&Vec3, &(DVec3, f64))| {
            let p = p.as_dvec3();
            // Twice the distance from the middle of two neighbors is a second difference.
            let second = 2.0 * (*sum / *count - p).length();
            if *count > 0.0 { metric.pixels(p, second, second) } else { 0.0 }
        };
        let bend = self.points.iter().zip(&sums).map(bend).filter(|b| b.is_finite()).fold(0.0, f64::max);
        // A piece is an eighth of its second difference from the curve, and each level quarters
        // that.
        let level = (bend / (8.0 * metric.flatness())).max(1.0).log(4.0).ceil() as usize;
        level.clamp(LEAST_LEVEL, MAX_LEVEL)
    }

    fn refiner(&self, level: usize) -> Result<TopologyRefiner, CageError> {
        let counts: Vec<usize> = self.counts.iter().map(|&n| n as usize).collect();
        let edges: Vec<[u32; 2]> = self.creases.iter().map(|c| c.0).collect();
        let sharpness = |s: f32| s.clamp(0.0, SHARPEST);
        let edge_sharpness: Vec<f32> = self.creases.iter().map(|c| sharpness(c.1)).collect();
        let points: Vec<u32> = self.corners.iter().map(|c| c.0).collect();
        let point_sharpness: Vec<f32> = self.corners.iter().map(|c| sharpness(c.1)).collect();
        let corners: Vec<u32> = (0..self.indices.len() as u32).collect();
        let channels = [
            FVarChannelDescriptor::new(corners.len(), &corners),
            FVarChannelDescriptor::new(self.points.len(), &self.indices),
        ];
        let descriptor = TopologyDescriptor::new(self.points.len(), &counts, &self.indices)
            .with_creases(&edges, &edge_sharpness)
            .with_corners(&points, &point_sharpness)
            .with_holes(&self.holes)
            .with_fvar_channels(&channels);
        let scheme = match self.scheme {
            Scheme::CatmullClark => SchemeType::Catmark,
            Scheme::Loop => SchemeType::Loop,
            Scheme::Bilinear => SchemeType::Bilinear,
        };
        let boundary = match self.boundary {
            Boundary::EdgesAndCorners => VtxBoundaryInterpolation::EdgeAndCorner,
            // Where the rim is left out, it does not matter how it would end.
            Boundary::Edges | Boundary::None => VtxBoundaryInterpolation::EdgeOnly,
        };
        let options = Options::new()
            .with_vtx_boundary_interpolation(boundary)
            .with_fvar_linear_interpolation(FVarLinearInterpolation::All);
        let mut refiner = TopologyRefinerFactory::create(descriptor, scheme, options)?;
        refiner.refine_uniform(UniformOptions::new(level));
        Ok(refiner)
    }

    fn refined(&self, refiner: TopologyRefiner) -> Refined {
        let level = refiner.level(refiner.max_level());
        let mut origin: Vec<u32> = (0..self.counts.len() as u32).collect();
        for step in 1..=refiner.max_level() {
            let refinement = refiner.refinement(step);
            let parent = |f: usize| origin[refinement.child_face_parent_face(f) as usize];
            origin = (0..refiner.level(step).num_faces()).map(parent).collect();
        }
        let numbers: Vec<f32> = self.points.iter().flat_map(|p| p.to_array()).collect();
        let points: Vec<Vec3> = limit(&refiner, &numbers, 3).chunks_exact(3).map(Vec3::from_slice).collect();
        let (normal_of, normals) =
            if self.scheme == Scheme::Bilinear { Default::default() } else { normals(&level, &points) };
        let (mut triangles, mut faces, mut normal_indices): (Vec<[u32; 3]>, Vec<u32>, Vec<[u32; 3]>) =
            Default::default();
        let mut corner_values: [Vec<[u32; 3]>; 2] = Default::default();
        let mut first = 0;
        for (f, &origin) in origin.iter().enumerate() {
            let vertices = level.face_vertices(f);
            let start = first;
            first += vertices.len();
            if level.is_face_hole(f) {
                continue;
            }
            let values = [OF_CORNERS, OF_POINTS].map(|channel| level.face_fvar_values(f, channel));
            for k in 1..vertices.len() - 1 {
                let corners = [0, k, k + 1];
                let triangle = corners.map(|c| vertices[c]);
                if face_normal(triangle.map(|i| points[i as usize])) == Vec3::ZERO {
                    continue;
                }
                triangles.push(triangle);
                faces.push(origin);
                if !normal_of.is_empty() {
                    normal_indices.push(corners.map(|c| normal_of[start + c]));
                }
                for (values, out) in values.iter().zip(&mut corner_values) {
                    out.push(corners.map(|c| values[c]));
                }
            }
        }
        Refined { refiner, points, triangles, faces, normal_indices, normals, corner_values }
    }
}

impl Refined {
    /// Values of class vertex, `width` numbers each, at the points.
    pub fn blend_vertex(&self, values: &[f32], width: usize) -> Vec<f32> {
        limit(&self.refiner, values, width)
    }

    /// Values of faces' vertices, blended linearly: those that the first of
    /// [`Refined::corner_values`] counts.
    pub fn blend_corners(&self, values: &[f32], width: usize) -> Vec<f32> {
        self.blend_linear(OF_CORNERS, values, width)
    }

    /// Values of points, blended linearly: those that the second of [`Refined::corner_values`]
    /// counts.
    pub fn blend_points(&self, values: &[f32], width: usize) -> Vec<f32> {
        self.blend_linear(OF_POINTS, values, width)
    }

    fn blend_linear(&self, channel: usize, values: &[f32], width: usize) -> Vec<f32> {
        let primvars = PrimvarRefiner::new(&self.refiner);
        by_fours(values, width, |mut values: Vec<[f32; 4]>| {
            for level in 1..=self.refiner.max_level() {
                let mut next = vec![[0.0; 4]; self.refiner.level(level).num_fvar_values(channel)];
                primvars.interpolate_face_varying(level, channel, &values, &mut next);
                values = next;
            }
            values
        })
    }
}

/// Values at the cage's points where the points of the last level lie on the limit surface.
fn limit(refiner: &TopologyRefiner, values: &[f32], width: usize) -> Vec<f32> {
    let primvars = PrimvarRefiner::new(refiner);
    by_fours(values, width, |mut values: Vec<[f32; 4]>| {
        for level in 1..=refiner.max_level() {
            let mut next = vec![[0.0; 4]; refiner.level(level).num_vertices()];
            primvars.interpolate(level, &values, &mut next);
            values = next;
        }
        let mut limit = values.clone();
        primvars.limit(&values, &mut limit);
        limit
    })
}

/// Blends values of `width` numbers four of them at a time.
fn by_fours(values: &[f32], width: usize, blend: impl Fn(Vec<[f32; 4]>) -> Vec<[f32; 4]>) -> Vec<f32> {
    let mut out: Vec<f32> = Vec::new();
    for first in (0..width).step_by(4) {
        let count = (width - first).min(4);
        let four = |v: &[f32]| std::array::from_fn(|k| if k < count { v[first + k] } else { 0.0 });
        let blended = blend(values.chunks_exact(width).map(four).collect());
        out.resize(blended.len() * width, 0.0);
        for (out, four) in out.chunks_exact_mut(width).zip(&blended) {
            out[first..first + count].copy_from_slice(&four[..count]);
        }
    }
    out
}

/// For each corner of each face the number of its normal, and the normals: the mean of the faces'
/// around a vertex, weighted by area, between edges that are sharp.
fn normals(level: &TopologyLevel<'_>, points: &[Vec3]) -> (Vec<u32>, Vec<Vec3>) {
    let mut starts = Vec::with_capacity(level.num_faces());
    let mut corners = 0u32;
    for f in 0..level.num_faces() {
        starts.push(corners);
        corners += level.face_vertices(f).len() as u32;
    }
    let corner = |f: u32, vertex: u32| {
        let at = level.face_vertices(f as usize).iter().position(|&v| v == vertex).unwrap_or(0);
        starts[f as usize] + at as u32
    };
    let mut parent: Vec<u32> = (0..corners).collect();
    fn root(parent: &mut [u32], mut i: u32) -> u32 {
        while parent[i as usize] != i {
            parent[i as usize] = parent[parent[i as usize] as usize];
            i = parent[i as usize];
        }
        i
    }
    for e in 0..level.num_edges() {
        let faces = level.edge_faces(e);
        let &[one, other] = faces else { continue };
        if level.edge_sharpness(e) > 0.0 || level.is_face_hole(one as usize) || level.is_face_hole(other as usize) {
            continue;
        }
        for vertex in level.edge_vertices(e) {
            let (a, b) = (root(&mut parent, corner(one, vertex)), root(&mut parent, corner(other, vertex)));
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    let mut sums = vec![DVec3::ZERO; corners as usize];
    for f in 0..level.num_faces() {
        let vertices = level.face_vertices(f);
        let at = |k: usize| points[vertices[k % vertices.len()] as usize].as_dvec3();
        for k in 0..vertices.len() {
            let (before, after) = (at(k + vertices.len() - 1) - at(k), at(k + 1) - at(k));
            sums[root(&mut parent, starts[f] + k as u32) as usize] += after.cross(before);
        }
    }
    let mut numbers = vec![u32::MAX; corners as usize];
    let mut normals = Vec::new();
    let of_corner = (0..corners)
        .map(|c| {
            let root = root(&mut parent, c) as usize;
            if numbers[root] == u32::MAX {
                numbers[root] = normals.len() as u32;
                normals.push(sums[root].normalize_or_zero().as_vec3());
            }
            numbers[root]
        })
        .collect();
    (of_corner, normals)
}

/// `u, v` at the corners of a face: of the unit square for four, else of a circle in it.
pub fn corner_parameters(count: u32) -> Vec<Vec2> {
    if count == 4 {
        return vec![Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
    }
    let angle = |k: u32| k as f32 / count as f32 * std::f32::consts::TAU;
    (0..count).map(|k| Vec2::splat(0.5) + 0.5 * Vec2::from_angle(angle(k))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DMat4;

    fn metric(flatness: f64) -> Metric {
        Metric::for_camera(DMat4::from_translation(DVec3::Z * 10.0), 1000.0, true, flatness)
    }

    /// A cube from -1 to 1, its faces seen from outside.
    fn cube() -> Cage {
        let points = (0..8).map(|i| Vec3::from_array([0, 1, 2].map(|k| if i >> k & 1 == 0 { -1.0 } else { 1.0 })));
        Cage {
            counts: vec![4; 6],
            indices: vec![0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4, 2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5],
            points: points.collect(),
            ..Cage::default()
        }
    }

    /// A flat sheet of `n × n` unit squares.
    fn sheet(n: u32) -> Cage {
        let row = n + 1;
        let quad = |k: u32| {
            let a = k / n * row + k % n;
            [a, a + 1, a + row + 1, a + row]
        };
        Cage {
            counts: vec![4; (n * n) as usize],
            indices: (0..n * n).flat_map(quad).collect(),
            points: (0..row * row).map(|i| Vec3::new((i % row) as f32, (i / row) as f32, 0.0)).collect(),
            ..Cage::default()
        }
    }

    fn area(mesh: &Refined) -> f64 {
        let twice = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| mesh.points[i as usize].as_dvec3());
            (b - a).cross(c - a).length()
        };
        mesh.triangles.iter().map(twice).sum::<f64>() / 2.0
    }

    fn open_edges(mesh: &Refined) -> usize {
        let mut edges: HashMap<(u32, u32), i32> = HashMap::new();
        for t in &mesh.triangles {
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                *edges.entry((a.min(b), a.max(b))).or_default() += 1;
            }
        }
        edges.values().filter(|n| **n == 1).count()
    }

    #[test]
    fn the_limit_of_a_cube_s_corner_is_where_the_rules_put_it() {
        let mesh = cube().refine(&metric(0.1), 1 << 20, usize::MAX).unwrap();
        assert_eq!(open_edges(&mesh), 0);
        // Halstead, Kass & DeRose 1993, appendix A: (n² v + 4 Σ e + Σ f) / (n (n + 5)). Of a cube's
        // corner v the three edge neighbors add up to v, and the three across its faces to -v: (9
        // + 4 - 1) / 24.
        let farthest = mesh.points.iter().map(|p| p.max_element().min(p.y).min(p.z).min(p.x)).fold(0.0, f32::max);
        assert!((farthest - 0.5).abs() < 1e-5, "{farthest}");
    }

    #[test]
    fn normals_point_outwards_and_are_smooth() {
        let mesh = cube().refine(&metric(0.1), 1 << 20, usize::MAX).unwrap();
        for (t, numbers) in mesh.triangles.iter().zip(&mesh.normal_indices) {
            let face = face_normal(t.map(|i| mesh.points[i as usize]));
            for (i, n) in t.iter().zip(numbers) {
                let normal = mesh.normals[*n as usize];
                assert!(normal.dot(face) > 0.95 && normal.dot(mesh.points[*i as usize]) > 0.0);
            }
        }
        assert_eq!(mesh.normals.len(), mesh.points.len());
    }

    #[test]
    fn sharp_edges_keep_a_cube_a_cube_with_its_six_normals() {
        let mut cage = cube();
        let faces: Vec<Vec<u32>> = cage.faces().map(<[u32]>::to_vec).collect();
        for f in &faces {
            cage.creases.extend((0..4).map(|k| ([f[k], f[(k + 1) % 4]], 10.0)));
        }
        let mesh = cage.refine(&metric(0.1), 1 << 20, usize::MAX).unwrap();
        assert!((area(&mesh) - 24.0).abs() < 1e-3, "{}", area(&mesh));
        let axes = mesh.normals.iter().filter(|n| n.abs().max_element() > 0.9999).count();
        assert_eq!(axes, mesh.normals.len());
    }

    #[test]
    fn half_sharp_edges_lie_between_smooth_and_sharp_ones() {
        let areas = [0.0, 1.0, 2.0, 10.0].map(|sharpness| {
            let mut cage = cube();
            let faces: Vec<Vec<u32>> = cage.faces().map(<[u32]>::to_vec).collect();
            for f in &faces {
                cage.creases.extend((0..4).map(|k| ([f[k], f[(k + 1) % 4]], sharpness)));
            }
            area(&cage.refine(&metric(0.2), 1 << 20, usize::MAX).unwrap())
        });
        assert!(areas.windows(2).all(|a| a[0] + 0.5 < a[1]), "{areas:?}");
    }

    #[test]
    fn the_rim_is_left_out_or_kept_and_its_corners_round_or_sharp() {
        let area_with =
            |boundary| area(&Cage { boundary, ..sheet(4) }.refine(&metric(0.1), 1 << 20, usize::MAX).unwrap());
        assert!((area_with(Boundary::None) - 4.0).abs() < 1e-4);
        assert!((area_with(Boundary::EdgesAndCorners) - 16.0).abs() < 1e-4);
        let round = area_with(Boundary::Edges);
        assert!(round < 15.99 && round > 15.0, "{round}");
    }

    #[test]
    fn holes_are_left_out_and_corners_reached() {
        let cage = Cage { holes: vec![4], boundary: Boundary::EdgesAndCorners, ..sheet(3) };
        let mesh = cage.refine(&metric(0.1), 1 << 20, usize::MAX).unwrap();
        assert!((area(&mesh) - 8.0).abs() < 1e-4);
        let peak = Cage { corners: vec![(7, 10.0)], ..cube() }.refine(&metric(0.1), 1 << 20, usize::MAX).unwrap();
        assert!(peak.points.iter().any(|p| p.distance(Vec3::ONE) < 1e-5));
    }

    #[test]
    fn loop_s_scheme_takes_triangles_to_a_smooth_surface() {
        let octahedron = Cage {
            scheme: Scheme::Loop,
            counts: vec![3; 8],
            indices: (0..4u32).flat_map(|i| [i, (i + 1) % 4, 4, (i + 1) % 4, i, 5]).collect(),
            points: vec![Vec3::X, Vec3::Y, -Vec3::X, -Vec3::Y, Vec3::Z, -Vec3::Z],
            ..Cage::default()
        };
        let mesh = octahedron.refine(&metric(0.1), 1 << 20, usize::MAX).unwrap();
        assert_eq!(open_edges(&mesh), 0);
        // Loop 1987: the limit of a vertex of valence 4 is (v + χ Σ e) / (1 + 4χ), χ = 1 / (3/(8β)
        // + 4) with β = (5/8 - (3/8)²)/4 = 31/256; the neighbors' sum is 0.
        let beta = 31.0 / 256.0;
        let chi = 1.0 / (3.0 / (8.0 * beta) + 4.0);
        let top = mesh.points.iter().map(|p| f64::from(p.z)).fold(0.0, f64::max);
        assert!((top - (1.0 - 4.0 * chi)).abs() < 1e-5, "{top}");
        let cage = Cage { scheme: Scheme::Loop, ..cube() };
        assert!(cage.refine(&metric(0.1), 1 << 20, usize::MAX).is_err());
    }

    #[test]
    fn values_of_every_class_are_blended_as_it_asks() {
        let cage = Cage { boundary: Boundary::EdgesAndCorners, ..sheet(2) };
        let xs: Vec<f32> = cage.points.iter().flat_map(|p| [p.x, p.y, 1.0, 2.0, p.x + p.y]).collect();
        let corner_xs: Vec<f32> = cage.indices.iter().map(|&i| cage.points[i as usize].x).collect();
        let points = cage.points.clone();
        let mesh = cage.refine(&metric(0.1), 1 << 20, usize::MAX).unwrap();
        for (p, v) in mesh.points.iter().zip(mesh.blend_vertex(&xs, 5).chunks(5)) {
            assert!((v[0] - p.x).abs() < 1e-5 && (v[4] - p.x - p.y).abs() < 1e-5 && (v[2] - 1.0).abs() < 1e-5);
        }
        let point_xs: Vec<f32> = points.iter().map(|p| p.x).collect();
        let blended = [mesh.blend_corners(&corner_xs, 1), mesh.blend_points(&point_xs, 1)];
        let row: Vec<usize> = (0..mesh.triangles.len()).collect();
        for (values, at) in blended.iter().zip(&mesh.corner_values) {
            for &t in &row {
                // The limit moves points a little along the surface; the linear values stay with
                // their faces.
                let face = mesh.faces[t] % 2;
                for i in at[t] {
                    assert!((face as f32..=face as f32 + 1.0).contains(&values[i as usize]));
                }
            }
        }
    }

    #[test]
    fn meshes_that_are_no_surfaces_are_refined_or_refused_but_never_worse() {
        let fin = Cage {
            counts: vec![3; 3],
            indices: vec![0, 1, 2, 0, 1, 3, 0, 1, 4],
            points: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, -Vec3::Y],
            boundary: Boundary::Edges,
            ..Cage::default()
        };
        assert!(fin.refine(&metric(0.1), 1 << 20, usize::MAX).is_ok());
        let twice = Cage {
            counts: vec![4],
            indices: vec![0, 1, 0, 2],
            points: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            ..Cage::default()
        };
        assert!(matches!(twice.refine(&metric(0.1), 1 << 20, usize::MAX), Err(CageError::Topology(_))));
        let crease = Cage { creases: vec![([0, 7], 1.0)], ..cube() };
        assert!(crease.refine(&metric(0.1), 1 << 20, usize::MAX).is_err());
        let nothing = Cage::default().refine(&metric(0.1), 1 << 20, usize::MAX);
        assert!(nothing.is_ok_and(|m| m.triangles.is_empty()));
        assert_eq!(cube().refine(&metric(0.1), 47, usize::MAX).err(), Some(CageError::TooMany));
        assert!(sheet(10).refine(&metric(0.001), 1000, usize::MAX).is_ok_and(|m| m.triangles.len() <= 1000));
        let fan = Cage {
            counts: vec![5000],
            indices: (0..5000).collect(),
            points: vec![Vec3::ZERO; 5000],
            ..Cage::default()
        };
        assert!(matches!(fan.refine(&metric(0.1), 1 << 20, usize::MAX), Err(CageError::Face { .. })));
    }
}
