//! Vertices that lie at the same place are welded: they are moved as one.
//!
//! A mesh has several vertices at a position where its normals or its parameters jump, and meshes
//! that meet have one each. What their shader makes of them may differ a little, or much; what is
//! stored is the mean, for all of them.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use shadewright_geometry::Mesh;
use shadewright_geometry::normals::{corner_normals, face_normal};

/// Triangles whose normals are held before they are added up.
const AT_ONCE: usize = 1 << 16;

/// Which vertices belong together; vertices are numbered through all meshes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Groups {
    /// For each vertex, the number of its group.
    of: Vec<u32>,
    /// The number of groups.
    count: usize,
}

/// The vertices of meshes, in groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Weld {
    /// Groups of vertices with the same position and shader.
    pub places: Groups,
    /// Groups of vertices that have the same normal, too: the surface is smooth from one to the
    /// other.
    pub sides: Groups,
}

/// The key that distinguishes vertices: the shader that moves them, the bits of the position, those
/// of the normal.
type Key = (u32, [u32; 3], [u32; 3]);

impl Weld {
    /// Of meshes, each with the number of the shader that moves it.
    pub fn new(meshes: &[Mesh], shaders: &[u32]) -> Self {
        // Zeros of both signs are one.
        let bits = |v: Vec3| (v + Vec3::ZERO).to_array().map(f32::to_bits);
        let key =
            |shader: u32, mesh: &Mesh, i: usize| -> Key { (shader, bits(mesh.positions[i]), bits(mesh.normals[i])) };
        let vertices = meshes.iter().zip(shaders);
        let keys = vertices.flat_map(|(mesh, &shader)| (0..mesh.positions.len()).map(move |i| key(shader, mesh, i)));
        let mut sorted: Vec<(Key, u32)> = keys.zip(0..).collect();
        sorted.par_sort_unstable();
        let (mut places, mut sides) = (vec![0; sorted.len()], vec![0; sorted.len()]);
        let (mut place, mut side) = (0, 0);
        for (i, &((shader, position, normal), vertex)) in sorted.iter().enumerate() {
            if let Some(&((last_shader, last_position, last_normal), _)) = i.checked_sub(1).and_then(|i| sorted.get(i))
            {
                let same_place = (shader, position) == (last_shader, last_position);
                place += u32::from(!same_place);
                side += u32::from(!same_place || normal != last_normal);
            }
            (places[vertex as usize], sides[vertex as usize]) = (place, side);
        }
        let count = |last: u32| if sorted.is_empty() { 0 } else { last as usize + 1 };
        Self { places: Groups { of: places, count: count(place) }, sides: Groups { of: sides, count: count(side) } }
    }
}

impl Groups {
    /// Gives every vertex the mean of its group's values. Equal values stay what they are, to the
    /// bit.
    pub fn average(&self, values: &mut [Vec3]) {
        let mut sums = vec![(DVec3::ZERO, 0u32); self.count];
        for (value, &group) in values.iter().zip(&self.of) {
            let (sum, number) = &mut sums[group as usize];
            *sum += value.as_dvec3();
            *number += 1;
        }
        for (value, &group) in values.iter_mut().zip(&self.of) {
            let (sum, number) = sums[group as usize];
            *value = (sum / f64::from(number)).as_vec3();
        }
    }

    /// Normals for meshes whose vertices have moved to `moved`: in each group one, the mean of
    /// those of all triangles around it by the angle that each has there. They are on the side of
    /// the triangles that the meshes' own normals are on. 0 where there is none. Only the triangles
    /// of meshes whose numbers are `wanted` count.
    pub fn normals(&self, meshes: &[Mesh], moved: &[Vec3], wanted: impl Fn(usize) -> bool) -> Vec<Vec3> {
        let mut sums = vec![Vec3::ZERO; self.count];
        let mut first = 0;
        for (number, mesh) in meshes.iter().enumerate() {
            let (positions, groups) = (&moved[first..], &self.of[first..]);
            let weighted = |t: &[u32; 3]| {
                let corners = t.map(|i| positions[i as usize]);
                let side = face_normal(t.map(|i| mesh.positions[i as usize]));
                let normals = corner_normals(corners, face_normal(corners));
                let turned =
                    |k: usize| if side.dot(mesh.normals[t[k] as usize]) < 0.0 { -normals[k] } else { normals[k] };
                [0, 1, 2].map(turned)
            };
            for triangles in mesh.triangles.chunks(AT_ONCE).filter(|_| wanted(number)) {
                let normals: Vec<[Vec3; 3]> = triangles.par_iter().map(weighted).collect();
                for (corner, normal) in triangles.iter().flatten().zip(normals.iter().flatten()) {
                    sums[groups[*corner as usize] as usize] += normal;
                }
            }
            first += mesh.positions.len();
        }
        self.of.iter().map(|&group| sums[group as usize].normalize_or_zero()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square of two triangles in z = 0 from x to x + 1, with a normal.
    fn square(x: f32, normal: Vec3) -> Mesh {
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        Mesh {
            positions: corners.map(|[dx, y]| Vec3::new(x + dx, y, if x == 0.0 { 0.0 } else { -0.0 })).to_vec(),
            normals: vec![normal; 4],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            ..Mesh::default()
        }
    }

    #[test]
    fn vertices_at_one_place_get_the_mean_whichever_mesh_they_are_of() {
        let meshes = [square(0.0, Vec3::Z), square(1.0, Vec3::X), square(1.0, Vec3::Z)];
        let weld = Weld::new(&meshes, &[0, 0, 1]);
        assert_eq!((weld.places.count, weld.sides.count), (6 + 4, 8 + 4));
        let mut heights: Vec<Vec3> = (0..12).map(|i| Vec3::Z * i as f32).collect();
        weld.places.average(&mut heights);
        let z: Vec<f32> = heights.iter().map(|v| v.z).collect();
        // Vertex 1 of the first is vertex 0 of the second, and 2 is 3; the third is moved by
        // another shader.
        assert_eq!(z, [0.0, 2.5, 4.5, 3.0, 2.5, 5.0, 6.0, 4.5, 8.0, 9.0, 10.0, 11.0]);
    }

    #[test]
    fn means_of_equal_values_are_the_value() {
        let meshes = [square(0.0, Vec3::Z), square(0.0, Vec3::X), square(0.0, Vec3::Y)];
        let mut values = vec![Vec3::new(0.1, 1e-30, 3e7); 12];
        let before = values.clone();
        Weld::new(&meshes, &[0; 3]).places.average(&mut values);
        assert_eq!(values, before);
    }

    #[test]
    fn normals_are_smooth_where_they_were_and_stay_on_their_side() {
        // The second square is lifted at its far end; its own normals point down.
        let meshes = [square(0.0, Vec3::Z), square(1.0, Vec3::Z), square(5.0, -Vec3::Z)];
        let mut moved: Vec<Vec3> = meshes.iter().flat_map(|m| m.positions.clone()).collect();
        moved[5].z = 1.0;
        moved[6].z = 1.0;
        let normals = Weld::new(&meshes, &[0; 3]).sides.normals(&meshes, &moved, |_| true);
        let (flat, slope) = (Vec3::Z, Vec3::new(-1.0, 0.0, 1.0).normalize());
        assert!(normals[0].distance(flat) < 1e-6 && normals[5].distance(slope) < 1e-6);
        let between = (flat + slope).normalize();
        assert!(normals[1].distance(between) < 1e-3 && normals[1] == normals[4], "{}", normals[1]);
        assert!(normals[8].distance(-flat) < 1e-6);
        // With a crease between them each keeps its own.
        let meshes = [square(0.0, Vec3::Z), square(1.0, Vec3::new(0.1, 0.0, 1.0).normalize())];
        let normals = Weld::new(&meshes, &[0; 2]).sides.normals(&meshes, &moved[..8], |_| true);
        assert!(normals[1].distance(flat) < 1e-6 && normals[4].distance(slope) < 1e-6);
    }
}
