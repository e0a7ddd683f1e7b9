//! An instance as rays meet it: its box in the world and its transform, and how far rounding may
//! carry a ray.
//!
//! # Rounding
//!
//! Let `A` be the linear part of the transform to the object, `T` the place of the object's origin
//! in the world, `o` the ray's origin, `u` = 2⁻²⁴. The moved origin is off by at most `5u(|A||o| +
//! |A||T|)` in each component and the moved direction by `4u|A||d|`, the rounding of the
//! transform's own numbers included. A hit at `t` was thus found at most `κu(5|o| + 5|T| + 4t|d|)`
//! from where the ray passes in the world, with `κ = ‖|A⁻¹||A|‖∞` and largest components for norms;
//! and `t|d|` is at most `|o| + |b|` for a hit in a box with corners up to `b`. The boxes of
//! instances are padded by [`PAD`] = 16u times `κ(|T| + |b|)`, and for each ray by 16u times `κ|o|`
//! more: almost twice the bound.

use super::super::ray::Ray;
use bytemuck::{Pod, Zeroable};
use glam::{DMat3, DVec3, Mat4, Vec3};

/// Share of the distances that a box is padded by.
const PAD: f64 = 16.0 / (1u64 << 24) as f64;

/// An instance. 80 bytes, five vectors of the GPU's instance buffer.
///
/// | bytes | field |
/// |---|---|
/// | 0..12, 12..16 | the box's minimum in the world, which mesh, or of a procedural primitive its data |
/// | 16..28, 28..32 | the box's maximum, number of the first primitive |
/// | 32..80 | the transform from the world to the object, three rows of four |
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Instance {
    /// Lower corner of the box around the mesh in the world, padded.
    pub min: [f32; 3],
    /// Index of the mesh; on the GPU, of the root node of its BVH. Of a procedural primitive, the
    /// argument `data` of its intersection shader.
    pub tree: u32,
    /// Upper corner of the box.
    pub max: [f32; 3],
    /// Primitive index of the mesh's first triangle in this place.
    pub first: u32,
    /// World to object: the coordinate `i` is `rows[i] · (x, y, z, 1)`.
    pub rows: [[f32; 4]; 3],
}

/// How far beyond the boxes the rays must look: this times the largest component of a ray's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reach(pub f32);

impl Instance {
    /// The instance of what has these bounds in its own space (`None`: an empty mesh, which nothing
    /// hits); `None` when the transform has no inverse or something is not finite.
    pub fn new(object_to_world: Mat4, bounds: Option<(Vec3, Vec3)>, tree: u32, first: u32) -> Option<Self> {
        let to_world = object_to_world.as_dmat4();
        let (low, high) = bounds.unwrap_or_default();
        let corner =
            |i: usize| DVec3::from_array([0, 1, 2].map(|a| f64::from(if i >> a & 1 == 0 { low[a] } else { high[a] })));
        let corners = (0..8).map(|i| to_world.transform_point3(corner(i)));
        let (min, max) = corners.map(|p| (p, p)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let pad = PAD
            * condition(object_to_world)?
            * (to_world.w_axis.truncate().abs().max_element() + min.abs().max(max.abs()).max_element());
        // A step outwards makes up for the rounding of the corners themselves.
        let instance = Self {
            min: (min - pad).as_vec3().to_array().map(f32::next_down),
            tree,
            max: (max + pad).as_vec3().to_array().map(f32::next_up),
            first,
            rows: world_to_object(object_to_world),
        };
        let numbers = instance.min.iter().chain(&instance.max).chain(instance.rows.iter().flatten());
        numbers.copied().all(f32::is_finite).then_some(instance)
    }

    /// The ray in the object's space, with the same `t`. The order of the operations is part of the
    /// contract with the kernels.
    #[inline]
    pub fn ray_to_object(&self, ray: &Ray) -> Ray {
        let point = |r: &[f32; 4], p: Vec3| ((r[0] * p.x + r[1] * p.y) + r[2] * p.z) + r[3];
        let vector = |r: &[f32; 4], v: Vec3| (r[0] * v.x + r[1] * v.y) + r[2] * v.z;
        let [x, y, z] = &self.rows;
        let origin = Vec3::new(point(x, ray.origin), point(y, ray.origin), point(z, ray.origin));
        let dir = Vec3::new(vector(x, ray.dir), vector(y, ray.dir), vector(z, ray.dir));
        Ray { origin, dir, ..*ray }
    }
}

/// The rows of the matrix from the world to an object that stands there: the coordinate `i` is
/// `rows[i] · (x, y, z, 1)`.
pub fn world_to_object(object_to_world: Mat4) -> [[f32; 4]; 3] {
    let to_object = object_to_world.as_dmat4().inverse();
    [0, 1, 2].map(|i| to_object.row(i).as_vec4().to_array())
}

impl Reach {
    /// For rays that may meet any of these.
    pub fn from_placements(placements: impl Iterator<Item = Mat4>) -> Self {
        let worst = placements.filter_map(condition).fold(1.0, f64::max);
        Self((PAD * worst) as f32)
    }

    /// How far a ray from there may be carried away.
    #[inline]
    pub fn from_origin(self, origin: Vec3) -> f32 {
        self.0 * origin.x.abs().max(origin.y.abs()).max(origin.z.abs())
    }
}

/// `‖|A⁻¹||A|‖∞` of a placement: 1 for a scale along the axes, up to 3 for a rotation; `None`
/// without an inverse.
fn condition(object_to_world: Mat4) -> Option<f64> {
    let to_world = DMat3::from_mat4(object_to_world.as_dmat4());
    let magnitudes = |m: DMat3| DMat3::from_cols(m.x_axis.abs(), m.y_axis.abs(), m.z_axis.abs());
    let product = magnitudes(to_world) * magnitudes(to_world.inverse());
    let worst = (product * DVec3::ONE).max_element();
    (to_world.determinant() != 0.0 && worst.is_finite()).then_some(worst)
}
