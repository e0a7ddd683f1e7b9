//! Scalar traversal of the binary tree: the CPU counterpart of `wgsl/traverse/while_while.wgsl`,
//! operation for operation.
//!
//! It is the reference of the wide traversal and of the GPU kernel, which must give the same hits.

use super::node::{Child, Link, STACK};
use super::ray::{FAR_PAD, Hit, Ray};
use super::tree::Bvh;
use super::triangle::{CULL_BACK, LeafTriangle};

/// `a` if it is smaller, else `b`: the `minps` of x86, which every traversal uses.
#[inline]
fn min(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// `a` if it is larger, else `b`.
#[inline]
fn max(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// A distance that no box is entered at.
const OUTSIDE: f32 = f32::MAX;

/// Distance at which a ray enters a child's box, or [`OUTSIDE`] where it misses the box on `(t_min,
/// t_far)`.
///
/// Kay & Kajiya's slabs (1986) with Ize's padding (2013) on the far distance.
#[inline]
fn enter(child: &Child, ray: &Ray, inv: &[f32; 3], t_far: f32) -> f32 {
    let x0 = (child.min[0] - ray.origin.x) * inv[0];
    let x1 = (child.max[0] - ray.origin.x) * inv[0];
    let y0 = (child.min[1] - ray.origin.y) * inv[1];
    let y1 = (child.max[1] - ray.origin.y) * inv[1];
    let z0 = (child.min[2] - ray.origin.z) * inv[2];
    let z1 = (child.max[2] - ray.origin.z) * inv[2];
    let near = max(max(min(x0, x1), min(y0, y1)), max(min(z0, z1), ray.t_min));
    let far = min(min(max(x0, x1), max(y0, y1)), min(max(z0, z1), t_far));
    if near <= far * FAR_PAD { near } else { OUTSIDE }
}

/// The links that wait, with the distances at which their boxes are entered.
struct Stack {
    entries: [(u32, f32); STACK],
    top: usize,
}

impl Stack {
    fn push(&mut self, link: u32, near: f32) {
        self.entries[self.top] = (link, near);
        self.top += 1;
    }

    /// The latest link whose box is not beyond `t_far`.
    fn pop(&mut self, t_far: f32) -> Option<Link> {
        while self.top > 0 {
            self.top -= 1;
            let (link, near) = self.entries[self.top];
            if near <= t_far * FAR_PAD {
                return Some(Link::decode(link));
            }
        }
        None
    }
}

/// The best hit that `ray` finds, nearest child first; with `any`, the first that it meets.
fn traverse(bvh: &Bvh, ray: &Ray, any: bool) -> Option<Hit> {
    let (inv, shear) = (ray.inv_dir(), ray.shear());
    let mut stack = Stack { entries: [(0, 0.0); STACK], top: 0 };
    let mut best = ray.unhit();
    let mut found = false;
    let mut next = Some(Link::Inner(0));
    while let Some(link) = next {
        match link {
            Link::Inner(index) => {
                let [a, b] = &bvh.nodes()[index as usize].children;
                let left = enter(a, ray, &inv, best.t);
                let right = enter(b, ray, &inv, best.t);
                let (near, far) = if right < left { (b, a) } else { (a, b) };
                if max(left, right) < OUTSIDE {
                    stack.push(far.link, max(left, right));
                }
                next = if min(left, right) < OUTSIDE { Some(near.link()) } else { stack.pop(best.t) };
            }
            Link::Leaf { first, count } => {
                for triangle in &bvh.triangles()[first as usize..(first + count) as usize] {
                    if let Some(hit) = triangle.intersect(ray, &shear, &best) {
                        best = hit;
                        found = true;
                    }
                }
                next = if any && found { None } else { stack.pop(best.t) };
            }
        }
    }
    found.then_some(best)
}

/// The nearest hit with `t_min < t < t_max`; of hits at equal `t` the one with the lowest primitive
/// index.
pub fn closest_hit(bvh: &Bvh, ray: &Ray) -> Option<Hit> {
    traverse(bvh, ray, false)
}

/// True if there is any hit with `t_min < t < t_max`.
pub fn any_hit(bvh: &Bvh, ray: &Ray) -> bool {
    traverse(bvh, ray, true).is_some()
}

/// Where a ray meets a surface, and from which side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Distance in units of the ray's direction.
    pub t: f32,
    /// Index of the triangle in the input of the build.
    pub prim: u32,
    /// True if the ray comes from the side from which the triangle's vertices run
    /// counter-clockwise (in a right-handed space).
    pub enters: bool,
}

/// All hits with `t_min < t < t_max`, in place of what `crossings` holds: by `t`, of equal `t` by
/// primitive index, each triangle once. The culling flags of triangles are ignored.
///
/// The sides are those of the watertight test: along a ray that meets no edge or vertex, those of a
/// closed surface alternate as the surface encloses the ray.
pub fn all_hits(bvh: &Bvh, ray: &Ray, crossings: &mut Vec<Crossing>) {
    let (inv, shear, unhit) = (ray.inv_dir(), ray.shear(), ray.unhit());
    crossings.clear();
    let mut stack = Stack { entries: [(0, 0.0); STACK], top: 0 };
    let mut next = Some(Link::Inner(0));
    while let Some(link) = next {
        match link {
            Link::Inner(index) => {
                let [a, b] = &bvh.nodes()[index as usize].children;
                let [left, right] = [a, b].map(|child| enter(child, ray, &inv, ray.t_max));
                if left < OUTSIDE && right < OUTSIDE {
                    stack.push(b.link, right);
                }
                next = match (left < OUTSIDE, right < OUTSIDE) {
                    (true, _) => Some(a.link()),
                    (false, true) => Some(b.link()),
                    (false, false) => stack.pop(ray.t_max),
                };
            }
            Link::Leaf { first, count } => {
                for triangle in &bvh.triangles()[first as usize..(first + count) as usize] {
                    let sided = |flags| LeafTriangle { flags, ..*triangle }.intersect(ray, &shear, &unhit);
                    if let Some(hit) = sided(0) {
                        let enters = sided(CULL_BACK).is_some();
                        crossings.push(Crossing { t: hit.t, prim: hit.prim, enters });
                    }
                }
                next = stack.pop(ray.t_max);
            }
        }
    }
    crossings.sort_unstable_by(|a, b| a.t.total_cmp(&b.t).then(a.prim.cmp(&b.prim)));
    // A triangle that the builder split lies in several leaves.
    crossings.dedup_by_key(|crossing| crossing.prim);
}
