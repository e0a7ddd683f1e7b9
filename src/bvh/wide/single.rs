//! The kernel that traces one ray after another: a node's boxes or a block's triangles in the
//! lanes.

use super::super::ray::{FAR_PAD, Hit, HitBatch, Ray, RayBatch, lanes};
use super::intersect::Sheared;
use super::lanes::{Array, Isa, Lanes, Simd, Work};
use super::layout::WideLink;
use super::slabs::Slabs;
use super::statistics::{NoRecorder, Recorder, TraversalStats};
use super::{STACK, WideBvh, WideTree};

/// Traces the rays of a batch in `mask` for their closest hits; the hits of others are left alone.
#[inline]
pub fn closest_hits(tree: WideTree<'_>, isa: Isa, rays: &RayBatch, mask: u64, hits: &mut HitBatch) {
    isa.run(ClosestHits { tree, rays, mask, hits });
}

/// The rays of a batch in `mask` that hit something, as bits.
#[inline]
pub fn any_hits(tree: WideTree<'_>, isa: Isa, rays: &RayBatch, mask: u64) -> u64 {
    isa.run(AnyHits { tree, rays, mask })
}

/// Replaces `best` by the nearest hit of `ray` if that is nearer, or as near and lower in index;
/// whether it did. The ray's own `t_max` does not count.
#[inline]
pub fn closest_into(tree: WideTree<'_>, isa: Isa, ray: &Ray, best: &mut Hit) -> bool {
    isa.run(ClosestInto { tree, ray, best, stack: &mut [0; STACK] })
}

/// True if `ray` hits anything.
#[inline]
pub fn occluded(tree: WideTree<'_>, isa: Isa, ray: &Ray) -> bool {
    isa.run(Occluded { tree, ray, stack: &mut [0; STACK] })
}

/// Counts the steps of the active rays of a batch on the way to their closest hits, or to any hit
/// with `ANY`.
pub fn count<const ANY: bool>(tree: WideTree<'_>, rays: &RayBatch) -> TraversalStats {
    let mut counts = TraversalStats::default();
    let stack = &mut [0; STACK];
    for i in rays.active_lanes() {
        let ray = rays.ray(i);
        let best = &mut ray.unhit();
        counts.rays += 1;
        match tree {
            WideTree::Four(tree) => traverse::<4, Array<4>, ANY, TraversalStats>(tree, &ray, best, stack, &mut counts),
            WideTree::Eight(tree) => traverse::<8, Array<8>, ANY, TraversalStats>(tree, &ray, best, stack, &mut counts),
        };
    }
    counts
}

struct ClosestHits<'a> {
    tree: WideTree<'a>,
    rays: &'a RayBatch,
    mask: u64,
    hits: &'a mut HitBatch,
}

impl Work for ClosestHits<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let stack = &mut [0; STACK];
        for i in lanes(self.mask) {
            let ray = self.rays.ray(i);
            let mut best = ray.unhit();
            let found = ClosestInto { tree: self.tree, ray: &ray, best: &mut best, stack }.run::<S>();
            self.hits.set(i, found.then_some(best));
        }
    }
}

struct AnyHits<'a> {
    tree: WideTree<'a>,
    rays: &'a RayBatch,
    mask: u64,
}

impl Work for AnyHits<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<S: Simd>(self) -> u64 {
        let (mut hit, stack) = (0, &mut [0; STACK]);
        for i in lanes(self.mask) {
            let ray = self.rays.ray(i);
            hit |= u64::from(Occluded { tree: self.tree, ray: &ray, stack }.run::<S>()) << i;
        }
        hit
    }
}

struct ClosestInto<'a> {
    tree: WideTree<'a>,
    ray: &'a Ray,
    best: &'a mut Hit,
    stack: &'a mut [u64; STACK],
}

impl Work for ClosestInto<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self) -> bool {
        match self.tree {
            WideTree::Four(tree) => {
                traverse::<4, S::Four, false, NoRecorder>(tree, self.ray, self.best, self.stack, &mut NoRecorder)
            }
            WideTree::Eight(tree) => {
                traverse::<8, S::Eight, false, NoRecorder>(tree, self.ray, self.best, self.stack, &mut NoRecorder)
            }
        }
    }
}

struct Occluded<'a> {
    tree: WideTree<'a>,
    ray: &'a Ray,
    stack: &'a mut [u64; STACK],
}

impl Work for Occluded<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self) -> bool {
        let best = &mut self.ray.unhit();
        match self.tree {
            WideTree::Four(tree) => {
                traverse::<4, S::Four, true, NoRecorder>(tree, self.ray, best, self.stack, &mut NoRecorder)
            }
            WideTree::Eight(tree) => {
                traverse::<8, S::Eight, true, NoRecorder>(tree, self.ray, best, self.stack, &mut NoRecorder)
            }
        }
    }
}

/// A link that waits and the distance at which its box is entered, as one integer that orders by
/// distance: the bits of floats that are not negative do.
#[inline(always)]
fn entry(near: f32, link: u32) -> u64 {
    u64::from(near.to_bits()) << 32 | u64::from(link)
}

/// A ray, prepared, and the part of a tree that it is to be traced through.
#[derive(Clone, Copy)]
pub struct Start<'a> {
    /// The [`WideLink`] of the part.
    pub link: u32,
    /// The ray for boxes.
    pub slabs: &'a Slabs,
    /// The ray for triangles.
    pub sheared: &'a Sheared,
}

/// Replaces `best` by the nearest hit that `ray` finds, nearest child first; with `ANY`, by the
/// first that it meets. Whether there was one.
#[inline(always)]
fn traverse<const W: usize, L: Lanes<W>, const ANY: bool, T: Recorder>(
    tree: &WideBvh<W>,
    ray: &Ray,
    best: &mut Hit,
    stack: &mut [u64; STACK],
    tally: &mut T,
) -> bool {
    let Some(slabs) = Slabs::new(ray) else { return false };
    let start = Start { link: WideLink::Node(0).encode(), slabs: &slabs, sheared: &Sheared::new(ray) };
    descend::<W, L, ANY, T>(tree, start, best, stack, tally)
}

/// As [`traverse`], in a part of the tree.
#[inline(always)]
pub fn descend<const W: usize, L: Lanes<W>, const ANY: bool, T: Recorder>(
    tree: &WideBvh<W>,
    start: Start<'_>,
    best: &mut Hit,
    stack: &mut [u64; STACK],
    tally: &mut T,
) -> bool {
    let Start { mut link, slabs, sheared } = start;
    let mut found = false;
    let mut top = 0;
    let mut t_far = best.t * FAR_PAD;
    loop {
        match WideLink::decode(link) {
            WideLink::Node(index) => {
                let node = &tree.nodes[index as usize];
                let (mask, near) = slabs.enter::<W, L>(node, t_far);
                let mut hits = L::bits(mask);
                tally.node(hits.count_ones());
                if hits != 0 {
                    let near = near.store();
                    let first = hits.trailing_zeros() as usize % W;
                    hits &= hits - 1;
                    if hits == 0 {
                        link = node.links[first];
                        continue;
                    }
                    // Insertion keeps the new entries sorted, the nearest on top.
                    let base = top;
                    stack[top] = entry(near[first], node.links[first]);
                    top += 1;
                    while hits != 0 {
                        let slot = hits.trailing_zeros() as usize % W;
                        hits &= hits - 1;
                        let new = entry(near[slot], node.links[slot]);
                        let mut place = top;
                        while place > base && stack[place - 1] < new {
                            stack[place] = stack[place - 1];
                            place -= 1;
                        }
                        stack[place] = new;
                        top += 1;
                    }
                    top -= 1;
                    link = stack[top] as u32;
                    continue;
                }
            }
            WideLink::Block(index) => {
                let block = &tree.blocks[index as usize];
                tally.block(block);
                if sheared.intersect::<W, L>(block, best) {
                    found = true;
                    if ANY {
                        return true;
                    }
                    t_far = best.t * FAR_PAD;
                }
            }
        }
        loop {
            if top == 0 {
                return found;
            }
            top -= 1;
            if f32::from_bits((stack[top] >> 32) as u32) <= t_far {
                link = stack[top] as u32;
                break;
            }
        }
    }
}
