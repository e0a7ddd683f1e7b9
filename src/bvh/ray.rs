//! Rays and hits, one at a time and in batches, and the constants of the robust slab test.
//!
//! `t` is in units of the ray's direction, which need not be normalized; its longest component
//! should be above 2⁻⁶⁴.

use glam::Vec3;

/// The most rays that a batch holds, and the number of bits in its mask.
pub const BATCH: usize = 64;

/// The primitive index of no primitive.
pub const NO_PRIM: u32 = u32::MAX;

/// Direction components nearer to zero than this are replaced by it, with their sign, before they
/// are inverted for the slab test: so `inv` is finite and `0 * inf` cannot arise. The ray–triangle
/// test sees the direction itself. 2⁻¹⁰⁰.
pub const TINY_DIR: f32 = f32::from_bits((127 - 100) << 23);

/// Factor on the far distance of the slab test: 1 + 10·2⁻²³. It covers the three roundings on
/// either side of the comparison (2·γ₃ in Ize, "Robust BVH Ray Traversal", 2013) and leaves room
/// for the rounding of a hit's own `t`, so that a hit at equal `t` in a neighboring box is still
/// found.
pub const FAR_PAD: f32 = 1.0 + 10.0 * f32::EPSILON;

/// A ray and the open interval of `t` it looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Where `t = 0`.
    pub origin: Vec3,
    /// Direction, of any length.
    pub dir: Vec3,
    /// Hits have `t > t_min`; not negative.
    pub t_min: f32,
    /// Hits have `t < t_max`.
    pub t_max: f32,
}

impl Ray {
    /// A ray over `0 < t < f32::MAX`.
    pub fn new(origin: Vec3, dir: Vec3) -> Self {
        Self { origin, dir, t_min: 0.0, t_max: f32::MAX }
    }

    /// The state before any hit: `t = t_max`, and a primitive index that no primitive is below, so
    /// that ties with `t_max` lose. Its `prim` means nothing.
    pub(super) fn unhit(&self) -> Hit {
        Hit { t: self.t_max, u: 0.0, v: 0.0, prim: 0 }
    }

    /// The transformation of the ray–triangle test.
    #[inline]
    pub fn shear(&self) -> Shear {
        let d = self.dir.to_array();
        let size = self.dir.abs();
        let kz = match size {
            _ if size.x >= size.y && size.x >= size.z => 0,
            _ if size.y >= size.z => 1,
            _ => 2,
        };
        let axes = [(kz + 1) % 3, (kz + 2) % 3, kz];
        let sz = 1.0 / d[kz];
        Shear { axes, sx: d[axes[0]] * sz, sy: d[axes[1]] * sz, sz }
    }

    /// The reciprocal direction of the slab test; finite unless the direction is not.
    #[inline]
    pub fn inv_dir(&self) -> [f32; 3] {
        self.dir.to_array().map(|d| {
            let away = if d.abs() < TINY_DIR { TINY_DIR.copysign(d) } else { d };
            1.0 / away
        })
    }
}

/// The transform of the ray–triangle test's vertices to a space where the ray starts at the origin
/// and runs along z (Woop, Benthin & Wald 2013): a translation, a rotation of the axes that makes
/// the direction's largest component z, and a shear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shear {
    /// The components of the world that become x, y and z. z's is that of the direction's largest
    /// component, the lowest of several; x and y follow it cyclically.
    pub axes: [usize; 3],
    /// Shear of x: the direction's x over its z.
    pub sx: f32,
    /// Shear of y.
    pub sy: f32,
    /// The reciprocal of the direction's z. NaN or infinite for directions that are zero or not
    /// finite, which then hit nothing.
    pub sz: f32,
}

impl Shear {
    /// A point in that space; its z is not yet multiplied by [`sz`](Self::sz).
    #[inline]
    pub fn apply(&self, point: &[f32; 3], origin: Vec3) -> [f32; 3] {
        let [kx, ky, kz] = self.axes;
        let z = point[kz] - origin[kz];
        [(point[kx] - origin[kx]) - self.sx * z, (point[ky] - origin[ky]) - self.sy * z, z]
    }
}

/// Where a ray meets a triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hit {
    /// Distance in units of the ray's direction.
    pub t: f32,
    /// Barycentric weight of the second vertex.
    pub u: f32,
    /// Barycentric weight of the third vertex.
    pub v: f32,
    /// Index of the triangle in the input of the build.
    pub prim: u32,
}

/// Up to [`BATCH`] rays in structure of arrays; fields as in [`Ray`].
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct RayBatch {
    /// Origins, x.
    pub ox: [f32; BATCH],
    /// Origins, y.
    pub oy: [f32; BATCH],
    /// Origins, z.
    pub oz: [f32; BATCH],
    /// Directions, x.
    pub dx: [f32; BATCH],
    /// Directions, y.
    pub dy: [f32; BATCH],
    /// Directions, z.
    pub dz: [f32; BATCH],
    /// Lower ends of `t`.
    pub t_min: [f32; BATCH],
    /// Upper ends of `t`.
    pub t_max: [f32; BATCH],
    /// Bit `i` is set where ray `i` is to be traced.
    pub active: u64,
}

impl Default for RayBatch {
    fn default() -> Self {
        let zero = [0.0; BATCH];
        Self { ox: zero, oy: zero, oz: zero, dx: zero, dy: zero, dz: zero, t_min: zero, t_max: zero, active: 0 }
    }
}

/// The indices of the bits that are set in a mask, in order.
#[inline]
pub fn lanes(mask: u64) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        (lane < BATCH).then_some(lane)
    })
}

impl RayBatch {
    /// Ray `i` (below [`BATCH`]), active or not.
    #[inline]
    pub fn ray(&self, i: usize) -> Ray {
        Ray {
            origin: Vec3::new(self.ox[i], self.oy[i], self.oz[i]),
            dir: Vec3::new(self.dx[i], self.dy[i], self.dz[i]),
            t_min: self.t_min[i],
            t_max: self.t_max[i],
        }
    }

    /// The indices of the active rays, in order.
    #[inline]
    pub fn active_lanes(&self) -> impl Iterator<Item = usize> + use<> {
        lanes(self.active)
    }

    /// Makes `ray` ray `i` (below [`BATCH`]) of the batch and sets its active bit.
    #[inline]
    pub fn set(&mut self, i: usize, ray: &Ray) {
        [self.ox[i], self.oy[i], self.oz[i]] = ray.origin.to_array();
        [self.dx[i], self.dy[i], self.dz[i]] = ray.dir.to_array();
        self.t_min[i] = ray.t_min;
        self.t_max[i] = ray.t_max;
        self.active |= 1 << i;
    }
}

/// The hits of a [`RayBatch`], in structure of arrays.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct HitBatch {
    /// Distances; −1 for a miss.
    pub t: [f32; BATCH],
    /// Weights of the second vertices; 0 for a miss.
    pub u: [f32; BATCH],
    /// Weights of the third vertices; 0 for a miss.
    pub v: [f32; BATCH],
    /// Primitive indices; [`NO_PRIM`] for a miss.
    pub prim: [u32; BATCH],
}

impl Default for HitBatch {
    fn default() -> Self {
        Self { t: [-1.0; BATCH], u: [0.0; BATCH], v: [0.0; BATCH], prim: [NO_PRIM; BATCH] }
    }
}

impl HitBatch {
    /// The hit of ray `i` (below [`BATCH`]).
    #[inline]
    pub fn hit(&self, i: usize) -> Option<Hit> {
        (self.prim[i] != NO_PRIM).then(|| Hit { t: self.t[i], u: self.u[i], v: self.v[i], prim: self.prim[i] })
    }

    /// Records the hit or miss of ray `i` (below [`BATCH`]).
    #[inline]
    pub fn set(&mut self, i: usize, hit: Option<Hit>) {
        let hit = hit.unwrap_or(Hit { t: -1.0, u: 0.0, v: 0.0, prim: NO_PRIM });
        self.t[i] = hit.t;
        self.u[i] = hit.u;
        self.v[i] = hit.v;
        self.prim[i] = hit.prim;
    }
}
