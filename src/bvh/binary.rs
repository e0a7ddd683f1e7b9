//! Scalar traversal of the binary tree: the CPU counterpart of `wgsl/traverse.wgsl`, operation for operation.
//!
//! It is the reference of the wide traversal and of the GPU kernel, which must give the same hits.

use super::builder::Bvh;
use super::node::{Child, Link, STACK};
use super::ray::{FAR_PAD, Hit, Ray};

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

/// Distance at which a ray enters a child's box, or infinity where it misses the box on `(t_min, t_far)`.
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
    if near <= far * FAR_PAD { near } else { f32::INFINITY }
}

/// Walks the tree, near child first, and gives every leaf it reaches to `leaf`, which returns the new far end of the ray's
/// interval, or `None` to stop.
#[inline]
fn walk(bvh: &Bvh, ray: &Ray, mut leaf: impl FnMut(u32, u32) -> Option<f32>) {
    let inv = ray.inv_dir();
    let mut t_far = ray.t_max;
    let mut stack = [(0u32, 0f32); STACK];
    let mut top = 0;
    let mut node = 0u32;
    loop {
        let children = &bvh.nodes()[node as usize].children;
        let near = [0, 1].map(|i| enter(&children[i], ray, &inv, t_far));
        let first = usize::from(near[1] < near[0]);
        let mut next = None;
        for i in [first, 1 - first] {
            if near[i] == f32::INFINITY || near[i] > t_far * FAR_PAD {
                continue;
            }
            match children[i].link() {
                Link::Leaf { first, count } => match leaf(first, count) {
                    Some(far) => t_far = far,
                    None => return,
                },
                Link::Inner(index) if next.is_none() => next = Some(index),
                Link::Inner(index) => {
                    stack[top] = (index, near[i]);
                    top += 1;
                }
            }
        }
        node = match next {
            Some(index) => index,
            None => loop {
                if top == 0 {
                    return;
                }
                top -= 1;
                let (index, near) = stack[top];
                if near <= t_far * FAR_PAD {
                    break index;
                }
            },
        };
    }
}

/// The nearest hit with `t_min < t < t_max`; of hits at equal `t` the one with the lowest primitive index.
pub fn closest_hit(bvh: &Bvh, ray: &Ray) -> Option<Hit> {
    let mut best = ray.unhit();
    let mut found = false;
    walk(bvh, ray, |first, count| {
        for triangle in &bvh.triangles()[first as usize..(first + count) as usize] {
            if let Some(hit) = triangle.intersect(ray, &best) {
                best = hit;
                found = true;
            }
        }
        Some(best.t)
    });
    found.then_some(best)
}

/// Whether there is any hit with `t_min < t < t_max`.
pub fn any_hit(bvh: &Bvh, ray: &Ray) -> bool {
    let start = ray.unhit();
    let mut found = false;
    walk(bvh, ray, |first, count| {
        found = bvh.triangles()[first as usize..(first + count) as usize]
            .iter()
            .any(|triangle| triangle.intersect(ray, &start).is_some());
        (!found).then_some(ray.t_max)
    });
    found
}
