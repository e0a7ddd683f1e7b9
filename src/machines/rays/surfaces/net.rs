//! The region that quadrics of positive and negative volume enclose within a box (Ullner 1983,
//! §2.1): "the point of visibility is where the ray first enters a region of positive net volume".
//! All hits are kept, those behind the ray's origin too, and sorted.

use super::placement::LocalRay;
use super::quadric::{Middle, Quadric};
use crate::rays::arithmetic::Operations;

/// Most quadrics of a net volume.
pub const MOST: usize = 8;

/// Quadrics with the signs of their volumes.
#[derive(Clone, Debug, PartialEq)]
pub struct Net {
    /// Each quadric, below 0 inside, and by how much the net volume is more there.
    pub terms: Vec<(Quadric, f32)>,
}

/// A change of the net volume.
#[derive(Clone, Copy, Default)]
struct Change {
    t: f32,
    by: f32,
}

impl Net {
    /// The nearest hit that `counts`.
    pub fn hit<O: Operations>(&self, ops: O, ray: &LocalRay, counts: impl Fn(&f32) -> bool) -> Option<f32> {
        let [near, far] = slab(ops, ray)?;
        let mut changes = [Change::default(); 2 * MOST];
        let mut count = 0;
        let mut net = 0.0;
        let middle = Middle::new(ops, ray);
        for &(quadric, sign) in &self.terms {
            let at = quadric.crossings(ops, ray, &middle);
            let [first, second] = at.t;
            // True if the ray comes from inside, infinitely far behind its origin.
            let is_inside = match first.is_nan() && second.is_nan() {
                true => at.c < 0.0,
                false => at.a < 0.0 || (at.a == 0.0 && at.b > 0.0),
            };
            net += if is_inside { sign } else { 0.0 };
            let mut by = if is_inside { -sign } else { sign };
            let sorted = if second < first { [second, first] } else { [first, second] };
            for t in sorted.into_iter().filter(|t| !t.is_nan()) {
                // Sorted by insertion, as the hits come.
                let place = changes[..count].iter().position(|c| t < c.t).unwrap_or(count);
                changes.copy_within(place..count, place + 1);
                changes[place] = Change { t, by };
                count += 1;
                by = -by;
            }
        }
        let mut rest = changes[..count].iter();
        let before = rest.as_slice().iter().take_while(|c| c.t < near).count();
        net += rest.by_ref().take(before).map(|c| c.by).sum::<f32>();
        if net > 0.0 && counts(&near) {
            return Some(near);
        }
        for &Change { t, by } in rest.take_while(|c| c.t <= far) {
            let was = net;
            net += by;
            if (was > 0.0) != (net > 0.0) && counts(&t) {
                return Some(t);
            }
        }
        (net > 0.0 && counts(&far)).then_some(far)
    }
}

/// The distances at which a ray enters the box and leaves it (Kay & Kajiya 1986): 3 divisions, 6
/// sums and 6 products.
fn slab<O: Operations>(ops: O, ray: &LocalRay) -> Option<[f32; 2]> {
    let (mut near, mut far) = (f32::NEG_INFINITY, f32::INFINITY);
    for axis in 0..3 {
        let (origin, direction) = (ray.origin[axis], ray.direction[axis]);
        let inverse = ops.divide(1.0, direction);
        if inverse.is_nan() {
            if origin.abs() > 1.0 {
                return None;
            }
            continue;
        }
        let [a, b] = [-1.0, 1.0].map(|side| ops.mul(ops.sub(side, origin), inverse));
        (near, far) = (near.max(a.min(b)), far.min(a.max(b)));
    }
    (near <= far && far >= 0.0).then_some([near, far])
}
