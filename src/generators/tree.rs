//! The interface of an acceleration structure to a traversal, as the traversal library of
//! Pérard-Gayot ("Generating Renderers", 2021, §2.2) has it: a BVH gives nodes and primitives, a
//! node gives boxes and links, primitives are intersected.
//!
//! Implementations are static: a generator calls them, and only what they append to the [`KernelBuilder`]
//! is left in the program.

use super::stage::{Flag, Idiom, KernelBuilder};
use shadewright_bvh::ray::{FAR_PAD, TINY_DIR};
use shadewright_ir::{Type, Value};

/// A link of no child. Links are `i32`: a node's is not negative, a leaf's is below −1.
pub const DONE: i32 = -1;

/// A ray, with what boxes are tested with.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    /// Where `t = 0`, `vec3`.
    pub origin: Value,
    /// Direction, `vec3`.
    pub dir: Value,
    /// Reciprocal direction, `vec3`, finite.
    pub inv: Value,
    /// Lower end of `t`, `f32`, not negative.
    pub t_min: Value,
    /// The axes along which the ray goes down.
    pub octant: [Flag; 3],
}

impl Ray {
    /// Prepares a ray for boxes.
    pub fn new(s: &mut KernelBuilder, origin: Value, dir: Value, t_min: Value) -> Self {
        let inv = s.b.first_components(dir).map(|d| {
            let (size, tiny) = (s.b.abs(d), s.b.f32(TINY_DIR));
            let is_small = s.less(size, tiny);
            let (bits, sign_bit) = (s.bits(d, Type::I32), s.b.i32(i32::MIN));
            let (sign, tiny) = (s.b.iand(bits, sign_bit), s.bits(tiny, Type::I32));
            let least = s.b.ior(sign, tiny);
            let least = s.bits(least, Type::F32);
            let away = s.select(is_small, least, d);
            s.b.rcp(away)
        });
        let octant = inv.map(|inv| match s.idiom() {
            Idiom::Select => {
                let zero = s.b.f32(0.0);
                s.less(inv, zero)
            }
            Idiom::Mask => s.sign(inv),
        });
        let inv = s.b.compose(&inv);
        Self { origin, dir, inv, t_min, octant }
    }
}

/// A box: the corners that a ray meets first and last on each axis, `vec3`.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Where the ray enters.
    pub near: Value,
    /// Where it leaves.
    pub far: Value,
}

/// The best hit so far.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    /// Distance, `f32`; at first the upper end of `t`.
    pub t: Value,
    /// Barycentric weight of the second vertex, `f32`.
    pub u: Value,
    /// Barycentric weight of the third vertex, `f32`.
    pub v: Value,
    /// The primitive's index, `u32`; at first one that loses ties.
    pub prim: Value,
}

/// An acceleration structure.
pub trait Bvh {
    /// The type of the nodes.
    type Node: Node;
    /// The type of the primitives in the leaves.
    type Prim: Prim;

    /// Loads the node that a link leads to.
    fn node(&self, s: &mut KernelBuilder, link: Value) -> Self::Node;
    /// Loads the primitives that a link to a leaf begins with.
    fn prim(&self, s: &mut KernelBuilder, link: Value) -> Self::Prim;
    /// A link to what a leaf has after those; to an empty leaf where there is nothing.
    fn rest(&self, s: &mut KernelBuilder, link: Value) -> Value;
    /// True if a link is to a leaf with primitives.
    fn is_valid(&self, s: &mut KernelBuilder, link: Value) -> Flag;
}

/// A node.
pub trait Node {
    /// The box of child `i`, its corners as `ray` meets them.
    fn ordered_bbox(&self, s: &mut KernelBuilder, i: usize, ray: &Ray) -> Bounds;
    /// The link to child `i`.
    fn child(&self, i: usize) -> Value;
    /// How many children there are, some of which may be absent: their boxes are not entered.
    fn arity(&self) -> usize;
    /// The distance at which a ray enters each child's box, and whether it does before `t_far`.
    fn enter(&self, s: &mut KernelBuilder, ray: &Ray, t_far: Value) -> Vec<(Value, Flag)> {
        (0..self.arity())
            .map(|i| {
                let bounds = self.ordered_bbox(s, i, ray);
                enter(s, ray, bounds, t_far)
            })
            .collect()
    }
}

/// Primitives that are tested together.
pub trait Prim {
    /// A ray, with what primitives are tested with.
    type Ray;

    /// How many there are, some of which may be absent.
    fn size(&self) -> usize;
    /// Tests primitive `i`; where it is hit nearer than `best`, or as near and with a lower index,
    /// runs `on_hit` with the hit.
    fn intersect(
        &self,
        s: &mut KernelBuilder,
        i: usize,
        ray: &Self::Ray,
        best: Hit,
        on_hit: &mut dyn FnMut(&mut KernelBuilder, Hit),
    );
}

/// A test of a ray against a triangle.
pub trait Intersector {
    /// A ray, prepared.
    type Ray;

    /// Prepares a ray.
    fn prepare(&self, s: &mut KernelBuilder, ray: &Ray) -> Self::Ray;
    /// Tests a triangle; as [`Prim::intersect`].
    fn intersect(
        &self,
        s: &mut KernelBuilder,
        triangle: &Triangle,
        ray: &Self::Ray,
        best: Hit,
        on_hit: &mut dyn FnMut(&mut KernelBuilder, Hit),
    );
}

/// A triangle, as an [`Intersector`] takes it.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    /// Three vertices, `vec3`.
    pub vertices: [Value; 3],
    /// The primitive's index, `u32`.
    pub prim: Value,
    /// [`shadewright_bvh::CULL_BACK`] or 0, `u32`.
    pub flags: Value,
}

/// The distance at which a ray enters a box, below 0 where it may start within, and whether it does
/// before `t_far`: Kay & Kajiya's
/// slabs with Ize's padding, as `bvh::binary`.
pub fn enter(s: &mut KernelBuilder, ray: &Ray, bounds: Bounds, t_far: Value) -> (Value, Flag) {
    let [near, far] = [bounds.near, bounds.far].map(|corner| {
        let way = s.b.sub(corner, ray.origin);
        let distances = s.b.mul(way, ray.inv);
        s.b.first_components(distances)
    });
    enter_between(s, ray, near, far, t_far)
}

/// The same from the distances to the planes that the ray meets first and last on each axis.
pub fn enter_between(
    s: &mut KernelBuilder,
    ray: &Ray,
    near: [Value; 3],
    far: [Value; 3],
    t_far: Value,
) -> (Value, Flag) {
    let pad = s.b.f32(FAR_PAD);
    match s.idiom() {
        Idiom::Select => {
            let (xy, z) = (s.max(near[0], near[1]), s.max(near[2], ray.t_min));
            let near = s.max(xy, z);
            let (xy, z) = (s.min(far[0], far[1]), s.min(far[2], t_far));
            let far = s.min(xy, z);
            let padded = s.b.mul(far, pad);
            let beyond = s.nearer(padded, near);
            (near, s.not(beyond))
        }
        // A minimum is five operations: the ends of the ray are tested by signs, and it begins at 0,
        // not at t_min. A box that it leaves in between is entered for nothing.
        Idiom::Mask => {
            let (xy, xy_far) = (s.max(near[0], near[1]), s.min(far[0], far[1]));
            let (near, far) = (s.max(xy, near[2]), s.min(xy_far, far[2]));
            let beyond = [far, t_far].map(|end| {
                let padded = s.b.mul(end, pad);
                s.b.sub(padded, near)
            });
            let missed = s.any_sign(&[beyond[0], beyond[1], far]);
            (near, s.not(missed))
        }
    }
}
