//! Traversal of the tree over instances by a batch of rays, and of the instances' own BVHs.
//!
//! All rays go together, as a mask, and each box is tested once: a mask of many rays is tested
//! lane by lane in straight code that the compiler makes vectors of, one of few rays ray by ray.
//! Rays that enter an instance are a batch of its own, so that the mesh's tree can choose its kernel.

use super::super::node::{Child, Link, STACK};
use super::super::ray::{BATCH, FAR_PAD, HitBatch, RayBatch, lanes};
use super::instance::Instance;
use super::upper::Upper;

/// Masks of at most so many rays are gone through ray by ray.
const FEW: u32 = 8;

/// Rays on their way through the upper tree.
pub(super) struct Walk<'a> {
    upper: &'a Upper,
    rays: &'a RayBatch,
    inv: [[f32; BATCH]; 3],
    /// The origins, moved up and down by what rounding may do: the planes of a box's lower side are
    /// seen from `above`, those of its upper side from `below`.
    above: [[f32; BATCH]; 3],
    below: [[f32; BATCH]; 3],
    /// Nothing from here on matters.
    far: [f32; BATCH],
}

impl<'a> Walk<'a> {
    /// `known` is the distance of a hit that is known already.
    pub fn new(upper: &'a Upper, rays: &'a RayBatch, known: impl Fn(usize) -> Option<f32>) -> Self {
        let zero = [[0.0; BATCH]; 3];
        let mut traversal = Self { upper, rays, inv: zero, above: zero, below: zero, far: [0.0; BATCH] };
        for i in rays.active_lanes() {
            let ray = rays.ray(i);
            let pad = upper.reach().from_origin(ray.origin);
            for (axis, inv) in ray.inv_dir().into_iter().enumerate() {
                traversal.inv[axis][i] = inv;
                traversal.above[axis][i] = ray.origin[axis] + pad;
                traversal.below[axis][i] = ray.origin[axis] - pad;
            }
            traversal.far[i] = known(i).unwrap_or(ray.t_max);
        }
        traversal
    }

    /// Replaces the hits by those with instances that are nearer, or as near and lower in number.
    /// `test` finds the hits within an instance, for all active rays.
    pub fn closest(mut self, hits: &mut HitBatch, mut test: impl FnMut(&Instance, &RayBatch, &mut HitBatch)) {
        let (mut inside, mut found) = (RayBatch::default(), HitBatch::default());
        self.visit(|traversal, instance, mask| {
            // A hit at equal `t` may be lower in number: the interval is open, so it ends one step
            // beyond what is known.
            let t_max = |i: usize, hits: &HitBatch| {
                if hits.hit(i).is_some() { traversal.far[i].next_up() } else { traversal.far[i] }
            };
            traversal.enter(instance, mask, &mut inside, |i| t_max(i, hits));
            test(instance, &inside, &mut found);
            for i in inside.active_lanes() {
                let Some(mut hit) = found.hit(i) else { continue };
                hit.prim += instance.first;
                if hits.hit(i).is_none_or(|known| hit.t < known.t || hit.prim < known.prim) {
                    traversal.far[i] = hit.t;
                    hits.set(i, Some(hit));
                }
            }
            0
        });
    }

    /// The rays that any instance is in the way of: `test` returns those that hit something within
    /// one.
    pub fn any(mut self, mut test: impl FnMut(&Instance, &RayBatch) -> u64) -> u64 {
        let mut inside = RayBatch::default();
        self.visit(|traversal, instance, mask| {
            traversal.enter(instance, mask, &mut inside, |i| traversal.far[i]);
            test(instance, &inside)
        })
    }

    /// Calls `enter` with the instances whose boxes rays meet, near ones first as far as the first
    /// ray can tell, and the mask of these rays. Rays that it returns are done; so are all that it
    /// ever returned, at the end.
    fn visit(&mut self, mut enter: impl FnMut(&mut Self, &Instance, u64) -> u64) -> u64 {
        let upper = self.upper;
        let nodes = upper.nodes();
        let mut done = 0;
        // Each level leaves one entry and adds two.
        let mut stack: [(&Child, u64); STACK + 2] = [(&nodes[0].children[0], 0); STACK + 2];
        stack[0] = (&nodes[0].children[1], self.rays.active);
        stack[1] = (&nodes[0].children[0], self.rays.active);
        let mut top = 2;
        while top > 0 {
            top -= 1;
            let (child, waiting) = stack[top];
            let mask = self.meets(child, waiting & !done);
            if mask == 0 {
                continue;
            }
            match child.link() {
                Link::Inner(index) => {
                    let [a, b] = &nodes[index as usize].children;
                    let (near, far) =
                        if self.is_behind(b, a, mask.trailing_zeros() as usize) { (b, a) } else { (a, b) };
                    stack[top] = (far, mask);
                    stack[top + 1] = (near, mask);
                    top += 2;
                }
                Link::Leaf { first, count } => {
                    for instance in &upper.instances()[first as usize..(first + count) as usize] {
                        let mask = mask & !done;
                        if mask != 0 {
                            done |= enter(self, instance, mask) & mask;
                        }
                    }
                }
            }
        }
        done
    }

    /// True if ray `lane` comes to the middle of `a` before that of `b`.
    fn is_behind(&self, a: &Child, b: &Child, lane: usize) -> bool {
        let rays = self.rays;
        let dir = [rays.dx[lane], rays.dy[lane], rays.dz[lane]];
        (0..3).map(|k| dir[k] * ((b.min[k] + b.max[k]) - (a.min[k] + a.max[k]))).sum::<f32>() > 0.0
    }

    /// The rays of `mask` that meet a box before their far ends.
    fn meets(&self, child: &Child, mask: u64) -> u64 {
        if mask.count_ones() <= FEW {
            return lanes(mask).fold(0, |met, i| met | u64::from(self.meets_lane(child, i)) << i);
        }
        let mut met = [0u8; BATCH];
        for (i, met) in met.iter_mut().enumerate() {
            *met = u8::from(self.meets_lane(child, i));
        }
        mask & bits_of(&met)
    }

    /// Kay & Kajiya's slabs (1986) with Ize's padding (2013) on the far distance.
    #[inline(always)]
    fn meets_lane(&self, child: &Child, i: usize) -> bool {
        let slab = |axis: usize| {
            let lower = (child.min[axis] - self.above[axis][i]) * self.inv[axis][i];
            let upper = (child.max[axis] - self.below[axis][i]) * self.inv[axis][i];
            (lesser(lower, upper), greater(lower, upper))
        };
        let [(x0, x1), (y0, y1), (z0, z1)] = [slab(0), slab(1), slab(2)];
        let near = greater(greater(x0, y0), greater(z0, self.rays.t_min[i]));
        let far = lesser(lesser(x1, y1), lesser(z1, self.far[i]));
        near <= far * FAR_PAD
    }

    /// The rays of `mask` in the instance's space.
    fn enter(&self, instance: &Instance, mask: u64, inside: &mut RayBatch, t_max: impl Fn(usize) -> f32) {
        inside.active = mask;
        if mask.count_ones() <= FEW {
            for i in lanes(mask) {
                let ray = instance.ray_to_object(&self.rays.ray(i));
                inside.set(i, &ray);
                inside.t_max[i] = t_max(i);
            }
            return;
        }
        for i in 0..BATCH {
            let ray = instance.ray_to_object(&self.rays.ray(i));
            inside.set(i, &ray);
        }
        inside.active = mask;
        lanes(mask).for_each(|i| inside.t_max[i] = t_max(i));
    }
}

#[inline(always)]
fn lesser(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Bit `i` of the result is byte `i`, which is 0 or 1.
fn bits_of(bytes: &[u8; BATCH]) -> u64 {
    let eights = bytes.as_chunks::<8>().0.iter().enumerate();
    // The product's top byte gathers the lowest bit of each byte; no two of its terms meet.
    eights.fold(0, |bits, (k, eight)| {
        bits | (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * k)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_gathered_in_order() {
        for pattern in [0, 1, 1 << 63, u64::MAX, 0x8421_1248_f00d_cafe] {
            let bytes = std::array::from_fn(|i| (pattern >> i & 1) as u8);
            assert_eq!(bits_of(&bytes), pattern);
        }
    }
}
