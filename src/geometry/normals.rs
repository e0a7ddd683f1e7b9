//! Shading normals for meshes that bring none.
//!
//! At each point, the triangles around it are joined across shared edges whose faces meet at no
//! more than the crease angle; each group gets one normal, the mean of its faces' normals weighted
//! by the angle that each face has there (Thürmer and Wüthrich 1998), and one vertex. The work
//! grows linearly with the mesh (a point with many triangles costs a sort of its edges), and the
//! result does not depend on the number of threads.

use glam::Vec3;
use rayon::prelude::*;

/// The crease angle, in degrees, of a mesh that names none.
pub const DEFAULT_CREASE_ANGLE: f32 = 40.0;

/// Points handled by one task.
const CHUNK: usize = 8192;

/// Vertices made by splitting points at creases.
#[derive(Clone, Debug, PartialEq)]
pub struct CreasedVertices {
    /// The point that each vertex lies at, ascending.
    pub points: Vec<u32>,
    /// The unit normal of each vertex.
    pub normals: Vec<Vec3>,
    /// For each triangle, its corners' vertices.
    pub corners: Vec<[u32; 3]>,
}

/// The unit normal of a triangle; zero when it has no area.
pub fn face_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    let a = a.as_dvec3();
    (b.as_dvec3() - a).cross(c.as_dvec3() - a).normalize_or_zero().as_vec3()
}

/// A triangle's normal at each of its corners, weighted by the angle there.
pub fn corner_normals([a, b, c]: [Vec3; 3], face_normal: Vec3) -> [Vec3; 3] {
    [(a, b, c), (b, c, a), (c, a, b)].map(|(at, u, v)| face_normal * angle(at, u, v))
}

/// The angle at a point between the ways to two others, in radians.
pub fn angle(at: Vec3, u: Vec3, v: Vec3) -> f32 {
    let (u, v) = ((u - at).normalize_or_zero(), (v - at).normalize_or_zero());
    u.cross(v).length().atan2(u.dot(v))
}

/// Splits the points of a mesh at creases sharper than `crease_angle` degrees and gives every
/// vertex its normal. Points that no triangle uses get no vertex.
pub fn split_at_creases(points: &[Vec3], triangles: &[[u32; 3]], crease_angle: f32) -> CreasedVertices {
    let face_normals: Vec<Vec3> = triangles.par_iter().map(|t| face_normal(t.map(|i| points[i as usize]))).collect();
    let (starts, incidence) = corners_by_point(points.len(), triangles);
    let mesh = Incidence {
        points,
        triangles,
        face_normals: &face_normals,
        starts: &starts,
        corners: &incidence,
        // A little slack, so that a crease angle of 180 joins everything.
        cos_crease: crease_angle.clamp(0.0, 180.0).to_radians().cos() - 1e-6,
    };
    let chunks: Vec<Chunk> =
        (0..points.len().div_ceil(CHUNK)).into_par_iter().map(|c| mesh.split_chunk(c * CHUNK)).collect();

    let mut out = CreasedVertices { points: Vec::new(), normals: Vec::new(), corners: vec![[0; 3]; triangles.len()] };
    let total = chunks.iter().map(|c| c.normals.len()).sum();
    out.points.reserve_exact(total);
    out.normals.reserve_exact(total);
    let mut entry = 0;
    for chunk in chunks {
        let base = out.normals.len() as u32;
        for group in chunk.groups {
            let corner = incidence[entry] as usize;
            out.corners[corner / 3][corner % 3] = base + group;
            entry += 1;
        }
        out.points.extend(chunk.points);
        out.normals.extend(chunk.normals);
    }
    out
}

/// The corners (three times the triangle plus 0, 1 or 2) at each point, as one list with the
/// point's start in it.
fn corners_by_point(points: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; points + 1];
    for &i in triangles.iter().flatten() {
        starts[i as usize + 1] += 1;
    }
    for i in 0..points {
        starts[i + 1] += starts[i];
    }
    let mut fill = starts.clone();
    let mut corners = vec![0u32; 3 * triangles.len()];
    for (corner, &i) in triangles.iter().flatten().enumerate() {
        let slot = &mut fill[i as usize];
        corners[*slot as usize] = corner as u32;
        *slot += 1;
    }
    (starts, corners)
}

/// The groups of a range of points.
#[derive(Default)]
struct Chunk {
    points: Vec<u32>,
    normals: Vec<Vec3>,
    /// For each corner of the range, in order, its group, counted from the chunk's first.
    groups: Vec<u32>,
}

struct Incidence<'a> {
    points: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    face_normals: &'a [Vec3],
    starts: &'a [u32],
    corners: &'a [u32],
    cos_crease: f32,
}

impl Incidence<'_> {
    fn split_chunk(&self, first: usize) -> Chunk {
        let mut chunk = Chunk::default();
        let (mut parent, mut edges) = (Vec::new(), Vec::new());
        for point in first..(first + CHUNK).min(self.points.len()) {
            let corners = &self.corners[self.starts[point] as usize..self.starts[point + 1] as usize];
            self.join(corners, &mut parent, &mut edges);
            self.emit(point as u32, corners, &parent, &mut chunk);
        }
        chunk
    }

    /// Fills `parent` with a forest over `corners`: a corner's root is the first corner of its
    /// group.
    fn join(&self, corners: &[u32], parent: &mut Vec<u32>, edges: &mut Vec<(u32, u32)>) {
        parent.clear();
        parent.extend(0..corners.len() as u32);
        edges.clear();
        for (local, &corner) in corners.iter().enumerate() {
            let (t, k) = (corner as usize / 3, corner as usize % 3);
            edges.push((self.triangles[t][(k + 1) % 3], local as u32));
            edges.push((self.triangles[t][(k + 2) % 3], local as u32));
        }
        edges.sort_unstable();
        for pair in edges.windows(2) {
            let [(end_a, a), (end_b, b)] = [pair[0], pair[1]];
            let normal = |local: u32| self.face_normals[corners[local as usize] as usize / 3];
            if end_a == end_b && normal(a).dot(normal(b)) >= self.cos_crease {
                let (ra, rb) = (root(parent, a), root(parent, b));
                parent[ra.max(rb) as usize] = ra.min(rb);
            }
        }
    }

    fn emit(&self, point: u32, corners: &[u32], parent: &[u32], chunk: &mut Chunk) {
        let base = chunk.groups.len();
        let first_group = chunk.normals.len();
        for (local, &corner) in corners.iter().enumerate() {
            let root = find(parent, local as u32) as usize;
            let group = if root == local {
                chunk.points.push(point);
                chunk.normals.push(Vec3::ZERO);
                chunk.normals.len() as u32 - 1
            } else {
                chunk.groups[base + root]
            };
            chunk.groups.push(group);
            chunk.normals[group as usize] += self.weighted_normal(corner as usize);
        }
        for group in first_group..chunk.normals.len() {
            chunk.normals[group] = chunk.normals[group].try_normalize().unwrap_or_else(|| {
                let local = chunk.groups[base..].iter().position(|&g| g as usize == group).unwrap_or(0);
                self.face_normals[corners[local] as usize / 3]
            });
        }
    }

    /// A corner's face normal times the angle in the corner.
    fn weighted_normal(&self, corner: usize) -> Vec3 {
        let (t, k) = (corner / 3, corner % 3);
        let at = |i: usize| self.points[self.triangles[t][(k + i) % 3] as usize];
        self.face_normals[t] * angle(at(0), at(1), at(2))
    }
}

/// The root of `i`, halving the path to it.
fn root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        parent[i as usize] = parent[parent[i as usize] as usize];
        i = parent[i as usize];
    }
    i
}

fn find(parent: &[u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        i = parent[i as usize];
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let points = (0..8).map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32)).collect();
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        (points, quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
    }

    #[test]
    fn a_cube_is_flat_under_a_crease_angle_below_ninety_degrees() {
        let (points, triangles) = cube();
        let split = split_at_creases(&points, &triangles, 40.0);
        assert_eq!(split.points.len(), 24);
        for (t, corners) in triangles.iter().zip(&split.corners) {
            let expected = face_normal(t.map(|i| points[i as usize]));
            for (k, &v) in corners.iter().enumerate() {
                assert_eq!(split.points[v as usize], t[k]);
                assert!(split.normals[v as usize].distance(expected) < 1e-6);
            }
        }
    }

    #[test]
    fn a_cube_is_round_under_a_larger_crease_angle_and_leans_to_no_diagonal() {
        let (points, triangles) = cube();
        let split = split_at_creases(&points, &triangles, 100.0);
        assert_eq!(split.points, (0..8).collect::<Vec<_>>());
        for (n, p) in split.normals.iter().zip(&points) {
            assert!(n.distance((*p - Vec3::splat(0.5)).normalize()) < 1e-6, "{n} at {p}");
        }
    }

    #[test]
    fn a_fan_of_many_triangles_shares_one_normal_at_its_tip() {
        let n = 20_000;
        let mut points = vec![Vec3::Z];
        points.extend((0..n).map(|i| {
            let a = i as f32 * std::f32::consts::TAU / n as f32;
            Vec3::new(a.cos(), a.sin(), 0.0)
        }));
        let triangles: Vec<_> = (0..n).map(|i| [0, i + 1, (i + 1) % n + 1]).collect();
        let split = split_at_creases(&points, &triangles, 30.0);
        assert_eq!(split.points.len(), points.len());
        assert!(split.normals[0].distance(Vec3::Z) < 1e-3);
    }

    #[test]
    fn parts_that_touch_in_a_point_only_keep_their_own_normals() {
        let points = [Vec3::ZERO, Vec3::X, Vec3::Y, -Vec3::X, -Vec3::Y + 0.1 * Vec3::Z];
        let split = split_at_creases(&points, &[[0, 1, 2], [0, 3, 4]], 180.0);
        assert_eq!(split.points, [0, 0, 1, 2, 3, 4]);
    }

    #[test]
    fn unused_points_get_no_vertex() {
        let points = [Vec3::ZERO, Vec3::splat(9.0), Vec3::X, Vec3::Y];
        let split = split_at_creases(&points, &[[0, 2, 3]], 40.0);
        assert_eq!(split.points, [0, 2, 3]);
        assert_eq!(split.corners, [[0, 1, 2]]);
    }
}
