//! Meshes of any size made by rule, for measurements: the same mesh for the same number of
//! triangles, everywhere.
//!
//! Up to ten million triangles and a little beyond are meant; the meshes lie about the origin and
//! are about a unit wide.

use super::assemble::Faces;
use glam::{Quat, Vec3};

/// A wavy sheet of at least `triangles` triangles, at most a row more: coherent, all of one size,
/// nothing behind anything.
pub fn sheet(triangles: usize) -> Faces {
    let side = ((triangles as f64 / 2.0).sqrt().ceil() as u32).max(1);
    let row = side + 1;
    let position = |i: u32| {
        let (x, y) = ((i % row) as f32 / side as f32, (i / row) as f32 / side as f32);
        Vec3::new(x - 0.5, 0.02 * ((31.0 * x).sin() * (23.0 * y).cos()), y - 0.5)
    };
    let triangles = (0..side * side).flat_map(|q| {
        let a = q / side * row + q % side;
        [[a, a + row, a + 1], [a + 1, a + row, a + row + 1]]
    });
    Faces { points: (0..row * row).map(position).collect(), triangles: triangles.collect(), ..Faces::default() }
}

/// Turned boxes, planks and blobs of very different sizes, some through others, that fill a cube;
/// at least `triangles` triangles, at most a blob more. Rays through it meet little that is where
/// its neighbors are.
pub fn clutter(triangles: usize) -> Faces {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut faces = Faces::default();
    let blob = blob();
    let cube = cube();
    // Things are as many as they are small: their share of the space stays the same at any number.
    let things = (triangles as f32 / MEAN_TRIANGLES).max(1.0);
    let usual = 0.5 / things.max(64.0).cbrt();
    while faces.triangles.len() < triangles {
        // One in eight is a blob, three in eight are planks; sizes are spread over a factor of 32,
        // most of them small.
        let kind = (random.unit() * 8.0) as u32;
        let size = usual * 0.25 * 32f32.powf(random.unit().powi(3));
        let stretch = match kind {
            0 => Vec3::ONE,
            1..=3 => Vec3::new(4.0, 0.3, 0.1),
            _ => Vec3::new(0.5 + random.unit(), 0.5 + random.unit(), 0.5 + random.unit()),
        };
        let turn = Quat::from_xyzw(random.signed(), random.signed(), random.signed(), 0.25 + random.unit()).normalize();
        let place = Vec3::new(random.unit(), random.unit(), random.unit()) - 0.5;
        let shape = if kind == 0 { &blob } else { &cube };
        let base = faces.points.len() as u32;
        faces.points.extend(shape.points.iter().map(|&p| place + turn * (p * stretch * size)));
        faces.triangles.extend(shape.triangles.iter().map(|t| t.map(|i| base + i)));
    }
    faces
}

/// Triangles of a thing of the clutter, on average: a blob's 512 and a box's 12.
const MEAN_TRIANGLES: f32 = (512.0 + 7.0 * 12.0) / 8.0;

/// A box with sides of length 1, seen from outside.
fn cube() -> Faces {
    let points = (0..8).map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32) - 0.5).collect();
    let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = sides.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Faces { points, triangles, ..Faces::default() }
}

/// Cuts each triangle on the unit sphere into four; the middles of the edges move onto the sphere.
pub(super) fn quartered(points: &mut Vec<Vec3>, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut middles = std::collections::HashMap::new();
    let mut middle = |a: u32, b: u32| {
        *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
            points.push((points[a as usize] + points[b as usize]).normalize());
            points.len() as u32 - 1
        })
    };
    let mut quarters = |&[a, b, c]: &[u32; 3]| {
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    };
    triangles.iter().flat_map(&mut quarters).collect()
}

/// A dented ball: an octahedron, subdivided three times.
fn blob() -> Faces {
    let mut points = vec![Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z];
    let mut triangles: Vec<[u32; 3]> =
        vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
    for _ in 0..3 {
        triangles = quartered(&mut points, &triangles);
    }
    let dented = |p: &Vec3| *p * (0.5 + 0.15 * (5.0 * p.x).sin() * (4.0 * p.y).cos() * (6.0 * p.z).sin());
    Faces { points: points.iter().map(dented).collect(), triangles, ..Faces::default() }
}

/// Steele, Lea & Flood's SplitMix (2014).
struct Random(u64);

impl Random {
    /// 0 up to but not including 1.
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 40) as f32 / (1u64 << 24) as f32
    }

    /// −1 up to but not including 1.
    fn signed(&mut self) -> f32 {
        self.unit() * 2.0 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meshes_have_the_triangles_asked_for_and_no_index_out_of_range() {
        for count in [1, 2, 18, 1000, 100_000] {
            for (mesh, most) in
                [(sheet(count), count + (4.0 * (count as f64).sqrt()) as usize + 4), (clutter(count), count + 511)]
            {
                assert!((count..=most).contains(&mesh.triangles.len()), "{} for {count}", mesh.triangles.len());
                assert!(mesh.triangles.iter().flatten().all(|&i| (i as usize) < mesh.points.len()));
                assert!(mesh.points.iter().all(|p| p.is_finite() && p.abs().max_element() < 4.0));
            }
        }
    }

    #[test]
    fn no_triangle_is_without_area() {
        for mesh in [sheet(5000), clutter(20_000)] {
            for corners in &mesh.triangles {
                let [a, b, c] = corners.map(|i| mesh.points[i as usize].as_dvec3());
                assert!((b - a).cross(c - a).length() > 0.0);
            }
        }
    }

    #[test]
    fn boxes_and_blobs_are_closed_and_seen_from_outside() {
        for shape in [cube(), blob()] {
            let mut edges = std::collections::BTreeMap::new();
            for &[a, b, c] in &shape.triangles {
                for (from, to) in [(a, b), (b, c), (c, a)] {
                    *edges.entry((from.min(to), from.max(to))).or_insert(0) += if from < to { 1 } else { -1 };
                }
                let [a, b, c] = [a, b, c].map(|i| shape.points[i as usize]);
                assert!((b - a).cross(c - a).dot(a + b + c) > 0.0);
            }
            assert!(edges.values().all(|&uses| uses == 0));
        }
    }

    #[test]
    fn the_clutter_is_the_same_each_time_and_mixes_sizes() {
        let mesh = clutter(10_000);
        assert_eq!(mesh.points, clutter(10_000).points);
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| mesh.points[i as usize]);
            (b - a).cross(c - a).length()
        };
        let mut areas: Vec<f32> = mesh.triangles.iter().map(area).collect();
        areas.sort_by(f32::total_cmp);
        assert!(areas[areas.len() * 99 / 100] > 100.0 * areas[areas.len() / 4]);
    }
}
