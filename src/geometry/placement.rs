//! Meshes transformed, flipped and joined: instancing of one shape.

use super::mesh::Mesh;
use super::primvar::PrimvarPlace;
use glam::{DMat3, Mat4, Vec2, Vec3};

/// How normals follow a transform: its inverse transpose up to a positive factor, which exists also
/// where there is no inverse.
#[derive(Clone, Copy, Debug)]
pub struct NormalMap(DMat3);

impl NormalMap {
    /// For positions that follow `m`. A mirroring `m` does not turn a surface inside out.
    pub fn new(m: Mat4) -> Self {
        let linear = DMat3::from_mat4(m.as_dmat4());
        let [x, y, z] = [linear.x_axis, linear.y_axis, linear.z_axis];
        Self(DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y)) * linear.determinant().signum())
    }

    /// The same to the other side.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self(-self.0)
    }

    /// Where a normal goes; of length 1, or 0 where it vanishes.
    pub fn apply(&self, normal: Vec3) -> Vec3 {
        (self.0 * normal.as_dvec3()).normalize_or_zero().as_vec3()
    }

    /// The images of the axes, scaled by one factor so that the longest has length 1.
    pub fn axes(&self) -> [Vec3; 3] {
        let longest = self.longest();
        [self.0.x_axis, self.0.y_axis, self.0.z_axis]
            .map(|a| if longest > 0.0 { (a / longest).as_vec3() } else { Vec3::ZERO })
    }

    /// The factor that makes of [`NormalMap::axes`] the columns of the inverse transpose; 0 where
    /// there is none.
    pub fn axes_scale(&self) -> f32 {
        // The columns here are those of the cofactor matrix times the determinant's sign, and their
        // determinant is the square of the transform's.
        let determinant = self.0.determinant().abs().sqrt();
        if determinant > 0.0 { (self.longest() / determinant) as f32 } else { 0.0 }
    }

    fn longest(&self) -> f64 {
        [self.0.x_axis, self.0.y_axis, self.0.z_axis].iter().map(|a| a.length()).fold(0.0, f64::max)
    }
}

impl Mesh {
    /// The mesh moved by an affine transform. Its geometric normals stay on the side that they
    /// point to, in a mirror too.
    #[must_use]
    pub fn transformed(&self, m: Mat4) -> Mesh {
        let normals = NormalMap::new(m);
        let mut moved = self.clone();
        moved.positions.iter_mut().for_each(|p| *p = m.transform_point3(*p));
        moved.normals.iter_mut().for_each(|n| *n = normals.apply(*n));
        moved.primvars.iter_mut().for_each(|v| v.transform(m));
        if m.determinant() < 0.0 {
            moved.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        moved
    }

    /// The mesh inside out: its geometric normals point to the other side, and with `turn_normals`
    /// the shading normals too. Ribbons ([`Mesh::ribbons`]) have no inside.
    #[must_use]
    pub fn inside_out(&self, turn_normals: bool) -> Mesh {
        let mut turned = self.clone();
        if self.ribbons {
            return turned;
        }
        turned.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        if turn_normals {
            turned.normals.iter_mut().for_each(|n| *n = -*n);
        }
        turned
    }

    /// True if two meshes can be joined: they bring colors for the same things, and variables of
    /// the same kinds, those of the whole mesh with equal values. Ribbons are joined to ribbons.
    pub fn is_alike(&self, other: &Mesh) -> bool {
        let colors = |m: &Mesh| {
            [&m.vertex_colors, &m.vertex_opacities, &m.triangle_colors, &m.triangle_opacities]
                .map(|values| values.is_empty())
        };
        self.ribbons == other.ribbons
            && colors(self) == colors(other)
            && self.primvars.len() == other.primvars.len()
            && self.primvars.iter().zip(&other.primvars).all(|(a, b)| {
                let same = a.kind == b.kind && a.place == b.place;
                same && (a.place != PrimvarPlace::Constant || a.values == b.values)
            })
    }

    /// Adds the triangles of `other`, which is alike ([`Mesh::is_alike`]), after its own.
    pub fn append(&mut self, other: Mesh) {
        let (count, added) = (self.positions.len() as u32, other.positions.len() as u32);
        // Texture coordinates that one of them leaves to a default are written out.
        if !(self.st.is_empty() && other.st.is_empty()) {
            let missing: Vec<Vec2> = (self.st.len() as u32..count).map(|i| self.st_at(i)).collect();
            self.st.extend(missing);
            self.st.extend((0..added).map(|i| other.st_at(i)));
        }
        if !(self.uv.is_empty() && other.uv.is_empty()) {
            self.uv.resize(count as usize, Vec2::ZERO);
            self.uv.extend((0..added).map(|i| other.uv_at(i)));
        }
        self.positions.extend(other.positions);
        self.normals.extend(other.normals);
        self.vertex_colors.extend(other.vertex_colors);
        self.vertex_opacities.extend(other.vertex_opacities);
        self.triangle_colors.extend(other.triangle_colors);
        self.triangle_opacities.extend(other.triangle_opacities);
        let varying = |place: PrimvarPlace| place != PrimvarPlace::Constant;
        for (own, added) in self.primvars.iter_mut().zip(other.primvars).filter(|(own, _)| varying(own.place)) {
            own.append(added);
        }
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|i| i + count)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A triangle in z = 0 whose geometric normal is +z, with a shading normal that leans.
    fn triangle() -> Mesh {
        Mesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            normals: vec![Vec3::new(0.6, 0.0, 0.8); 3],
            triangles: vec![[0, 1, 2]],
            ..Mesh::default()
        }
    }

    #[test]
    fn a_mirror_does_not_turn_a_surface_inside_out() {
        for m in [Mat4::from_scale(Vec3::new(-2.0, 1.0, 1.0)), Mat4::from_scale(Vec3::new(2.0, 1.0, 1.0))] {
            let moved = triangle().transformed(m);
            assert!(moved.scaled_normal(0).z > 0.0);
            assert!(moved.normals[0].z > 0.0 && moved.normals[0].x * m.x_axis.x > 0.0);
        }
        let below = triangle().transformed(Mat4::from_scale(Vec3::new(1.0, 1.0, -1.0)));
        assert!(below.scaled_normal(0).z < 0.0 && below.normals[0].z < 0.0);
    }

    #[test]
    fn normals_stay_perpendicular_under_uneven_scales() {
        let slope = Vec3::new(1.0, 1.0, 0.0);
        let m = Mat4::from_scale(Vec3::new(4.0, 1.0, 1.0));
        let moved = NormalMap::new(m).apply(Vec3::new(1.0, -1.0, 0.0));
        assert!(moved.dot(m.transform_vector3(slope)).abs() < 1e-6);
        let [x, y, z] = NormalMap::new(m).axes();
        assert_eq!((x.length().max(y.length()).max(z.length()), x.x * 4.0), (1.0, y.y));
    }

    #[test]
    fn scaled_axes_are_the_inverse_transpose() {
        let m = Mat4::from_scale(Vec3::new(4.0, -1.0, 0.5)) * Mat4::from_rotation_z(0.3);
        let map = NormalMap::new(m);
        let inverse = m.inverse().transpose();
        for (axis, expected) in map.axes().into_iter().zip([inverse.x_axis, inverse.y_axis, inverse.z_axis]) {
            assert!((axis * map.axes_scale()).distance(expected.truncate()) < 1e-6);
        }
    }

    #[test]
    fn inside_out_turns_computed_normals_and_leaves_given_ones() {
        let turned = triangle().inside_out(true);
        assert_eq!((turned.scaled_normal(0), turned.normals[0].z), (-Vec3::Z, -0.8));
        assert_eq!(triangle().inside_out(false).normals[0].z, 0.8);
    }

    #[test]
    fn joined_meshes_keep_their_data_apart() {
        let mut mesh = triangle();
        let lifted = triangle().transformed(Mat4::from_translation(Vec3::Z));
        mesh.append(Mesh { uv: vec![Vec2::X, Vec2::Y, Vec2::ONE], ..lifted.clone() });
        assert_eq!(mesh.triangles, [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(mesh.corners(1), lifted.corners(0));
        assert_eq!((mesh.uv_at(2), mesh.uv_at(5), mesh.st_at(4)), (Vec2::ZERO, Vec2::ONE, Vec2::Y));
        assert!(mesh.st.is_empty());
    }
}
