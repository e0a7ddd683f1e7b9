//! Ray streams: rays that traverse the tree together, whatever their directions, and singly where
//! few are left.
//!
//! An entry that waits in the stack is a node with the mask of the rays that meet it, as in
//! Barringer & Akenine-Möller, "Dynamic Ray Stream Traversal" (2014). A node's boxes are tested ray
//! by ray, as by the kernel for single rays; but the tests of one node do not wait for each other,
//! its boxes are loaded once, and there is one branch for all rays instead of one each. Below a
//! mask of [`FEW`] rays, each continues by itself.

use super::super::ray::{BATCH, FAR_PAD, Hit, HitBatch, RayBatch, lanes};
use super::super::wide::intersect::ShearedBatch;
use super::super::wide::lanes::{Isa, Lanes, Simd, Work};
use super::super::wide::layout::{Block, WideLink, WideNode};
use super::super::wide::single::{self, Start};
use super::super::wide::slabs::SlabsBatch;
use super::super::wide::statistics::NoRecorder;
use super::super::wide::{STACK, WideBvh, WideTree};
use super::{GROUP, GROUPS, Left};
use std::cell::RefCell;

/// The most rays that leave the others, to continue by themselves.
///
/// Millions of rays a second by `shadewright bench rays` through the 8-wide tree with AVX-512, for
/// 0, 1, 2, 3, 4, 6, 8, 12: diffuse rays in Sponza 4.16, 4.44, 4.63, 4.69, 4.71, 4.78, 4.80, 4.80,
/// from the bunny 8.70, 8.94, 9.10, 9.12, 9.16, 9.16, 9.15, 9.06; ambient occlusion of the dragon
/// 5.05, 5.32, 5.39, 5.48, 5.51, 5.50, 5.41, 5.34.
const FEW: u32 = 4;

thread_local! {
    /// The state of a stream, 28 KiB: kept, because to clear it for each batch took longer than to
    /// trace the first ray.
    static STATE: RefCell<Box<TraversalState>> = RefCell::new(Box::new(TraversalState {
        stream: RayStream {
            slabs: SlabsBatch::NONE,
            sheared: ShearedBatch::NONE,
            best: [Hit { t: 0.0, u: 0.0, v: 0.0, prim: 0 }; BATCH],
            far: [0.0; BATCH],
            present: 0,
            found: 0,
        },
        stack: [Entry { key: 0, rays: 0 }; STACK],
        own_stack: [0; STACK],
    }));
}

/// Traces some rays of a batch for their closest hits; the hits of others are left alone. Those in
/// `left.hit` have a hit already.
#[inline]
pub fn closest_hits(tree: WideTree<'_>, isa: Isa, rays: &RayBatch, left: Left, hits: &mut HitBatch) {
    STATE.with_borrow_mut(|state| isa.run(ClosestHits { tree, rays, left, hits, state }));
}

/// The mask of those of some rays of a batch that hit something.
#[inline]
pub fn any_hits(tree: WideTree<'_>, isa: Isa, rays: &RayBatch, left: u64) -> u64 {
    STATE.with_borrow_mut(|state| isa.run(AnyHits { tree, rays, left, state }))
}

struct ClosestHits<'a> {
    tree: WideTree<'a>,
    rays: &'a RayBatch,
    left: Left,
    hits: &'a mut HitBatch,
    state: &'a mut TraversalState,
}

impl Work for ClosestHits<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Self { tree, rays, left, hits, state } = self;
        state.stream.gather::<S::Sixteen>(rays, left.rays);
        state.stream.start_from(left.hit & left.rays, hits);
        match tree {
            WideTree::Four(tree) => traverse::<4, S, S::Four, false>(tree, rays, state),
            WideTree::Eight(tree) => traverse::<8, S, S::Eight, false>(tree, rays, state),
        }
        for i in lanes(left.rays) {
            hits.set(i, (state.stream.found >> i & 1 != 0).then_some(state.stream.best[i]));
        }
    }
}

struct AnyHits<'a> {
    tree: WideTree<'a>,
    rays: &'a RayBatch,
    left: u64,
    state: &'a mut TraversalState,
}

impl Work for AnyHits<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<S: Simd>(self) -> u64 {
        let Self { tree, rays, left, state } = self;
        state.stream.gather::<S::Sixteen>(rays, left);
        match tree {
            WideTree::Four(tree) => traverse::<4, S, S::Four, true>(tree, rays, state),
            WideTree::Eight(tree) => traverse::<8, S, S::Eight, true>(tree, rays, state),
        }
        state.stream.found
    }
}

/// A stream, and the stacks of its traversal.
struct TraversalState {
    stream: RayStream,
    stack: [Entry; STACK],
    own_stack: [u64; STACK],
}

/// The rays of a batch, with their best hits.
struct RayStream {
    slabs: SlabsBatch,
    sheared: ShearedBatch,
    best: [Hit; BATCH],
    /// The best hits' distances, padded.
    far: [f32; BATCH],
    /// The rays that are to be traced and may hit something, as bits.
    present: u64,
    /// The rays that hit something, as bits.
    found: u64,
}

impl RayStream {
    /// Takes some rays of a batch.
    #[inline(always)]
    fn gather<L: Lanes<16>>(&mut self, rays: &RayBatch, left: u64) {
        (self.present, self.found) = (0, 0);
        let mut group = 0;
        while group < GROUPS {
            if left >> (group * GROUP) & 0xffff != 0 {
                self.present |= u64::from(self.slabs.prepare::<L>(rays, group)) << (group * GROUP);
                self.sheared.prepare::<L>(rays, group);
            }
            group += 1;
        }
        self.present &= left;
        let mut left = self.present;
        while left != 0 {
            let i = left.trailing_zeros() as usize % BATCH;
            left &= left - 1;
            self.best[i] = Hit { t: rays.t_max[i], u: 0.0, v: 0.0, prim: 0 };
            self.far[i] = rays.t_max[i] * FAR_PAD;
        }
    }

    /// Takes over hits that some of the rays have.
    #[inline(always)]
    fn start_from(&mut self, mut hit: u64, hits: &HitBatch) {
        while hit != 0 {
            let i = hit.trailing_zeros() as usize % BATCH;
            hit &= hit - 1;
            if let Some(best) = hits.hit(i) {
                (self.best[i], self.far[i]) = (best, best.t * FAR_PAD);
                self.found |= 1 << i;
            }
        }
    }
}

/// An entry of the stack: a distance in the upper half and a link in the lower one, and the rays,
/// as bits.
#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    rays: u64,
}

/// Finds the hits of all rays, nearest box first; with `ANY`, any.
#[inline(always)]
fn traverse<const W: usize, S: Simd, L: Lanes<W>, const ANY: bool>(
    tree: &WideBvh<W>,
    rays: &RayBatch,
    state: &mut TraversalState,
) {
    let TraversalState { stream, stack, own_stack } = state;
    let mut top = 0;
    let mut now = Entry { key: u64::from(WideLink::Node(0).encode()), rays: stream.present };
    loop {
        let link = now.key as u32;
        match WideLink::decode(link) {
            WideLink::Node(_) if now.rays.count_ones() <= FEW => {
                let mut left = now.rays;
                while left != 0 {
                    let i = left.trailing_zeros() as usize % BATCH;
                    left &= left - 1;
                    let (slabs, sheared) = (&stream.slabs.get(rays, i), &stream.sheared.get(rays, i));
                    let start = Start { link, slabs, sheared };
                    if single::descend::<W, L, ANY, NoRecorder>(
                        tree,
                        start,
                        &mut stream.best[i],
                        own_stack,
                        &mut NoRecorder,
                    ) {
                        stream.found |= 1 << i;
                        stream.far[i] = stream.best[i].t * FAR_PAD;
                    }
                }
            }
            WideLink::Node(index) => {
                let node = &tree.nodes[index as usize];
                let (met, near) = enter::<W, S, L, ANY>(node, rays, stream, now.rays);
                let base = top;
                let mut slot = 0;
                while slot < W {
                    if met[slot] != 0 {
                        match WideLink::decode(node.links[slot]) {
                            WideLink::Node(index) => S::prefetch(&tree.nodes[index as usize]),
                            WideLink::Block(index) => S::prefetch(&tree.blocks[index as usize]),
                        }
                        let key = u64::from(near[slot].to_bits()) << 32 | u64::from(node.links[slot]);
                        let mut place = top;
                        while !ANY && place > base && stack[place - 1].key < key {
                            stack[place] = stack[place - 1];
                            place -= 1;
                        }
                        stack[place] = Entry { key, rays: met[slot] };
                        top += 1;
                    }
                    slot += 1;
                }
            }
            WideLink::Block(index) => intersect::<W, L>(&tree.blocks[index as usize], rays, stream, now.rays),
        }
        loop {
            if top == 0 {
                return;
            }
            top -= 1;
            now = stack[top];
            if ANY {
                now.rays &= !stream.found;
            }
            if now.rays != 0 {
                break;
            }
        }
    }
}

/// For each child the rays that meet its box, as bits, and the least distance at which one does.
#[inline(always)]
fn enter<const W: usize, S: Simd, L: Lanes<W>, const ANY: bool>(
    node: &WideNode<W>,
    rays: &RayBatch,
    stream: &RayStream,
    mut left: u64,
) -> ([u64; 8], [f32; W]) {
    let mut met = [0u8; BATCH];
    let mut least = L::splat(f32::MAX);
    while left != 0 {
        let i = left.trailing_zeros() as usize % BATCH;
        left &= left - 1;
        let (mask, near) = stream.slabs.get(rays, i).enter::<W, L>(node, stream.far[i]);
        met[i] = L::bits(mask) as u8;
        if !ANY {
            least = L::select(mask, near.min(least), least);
        }
    }
    (S::columns(&met), least.max(L::splat(0.0)).store())
}

/// Tests rays against the triangles of a block.
#[inline(always)]
fn intersect<const W: usize, L: Lanes<W>>(block: &Block<W>, rays: &RayBatch, stream: &mut RayStream, mut left: u64) {
    while left != 0 {
        let i = left.trailing_zeros() as usize % BATCH;
        left &= left - 1;
        if stream.sheared.get(rays, i).intersect::<W, L>(block, &mut stream.best[i]) {
            stream.found |= 1 << i;
            stream.far[i] = stream.best[i].t * FAR_PAD;
        }
    }
}
