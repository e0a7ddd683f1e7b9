//! Ray streams: rays that traverse the tree together, whatever their directions, and singly where
//! few are left.
//!
//! What waits in the stack is a node with the mask of the rays that meet it, as in Barringer &
//! Akenine-Möller, "Dynamic Ray Stream Traversal" (2014). A node's boxes are tested ray by ray, as
//! by the kernel for single rays; but the tests of one node do not wait for each other, its boxes
//! are loaded once, and there is one branch for all rays instead of one each. Below a mask of
//! [`FEW`] rays, each continues by itself.

use super::super::ray::{BATCH, FAR_PAD, Hit, HitBatch, RayBatch};
use super::super::wide::intersect::Sheared;
use super::super::wide::lanes::{Lanes, Simd, Work};
use super::super::wide::layout::{Block, WideLink, WideNode};
use super::super::wide::single::{self, Start};
use super::super::wide::slabs::Slabs;
use super::super::wide::statistics::NoRecorder;
use super::super::wide::{STACK, WideBvh, WideTree};

/// The most rays that leave the others, to continue by themselves.
///
/// Millions of rays a second by `bench traversal` through the 8-wide tree with AVX-512, for 0, 1,
/// 2, 3, 4, 6, 8, 12: diffuse rays in Sponza 4.16, 4.44, 4.63, 4.69, 4.71, 4.78, 4.80, 4.80, from
/// the bunny 8.70, 8.94, 9.10, 9.12, 9.16, 9.16, 9.15, 9.06; ambient occlusion of the dragon 5.05,
/// 5.32, 5.39, 5.48, 5.51, 5.50, 5.41, 5.34.
const FEW: u32 = 4;

/// [`closest_hits`](super::stream_closest_hits) as work.
pub struct ClosestHits<'a> {
    /// What is traced.
    pub tree: WideTree<'a>,
    /// The rays.
    pub rays: &'a RayBatch,
    /// Those of the rays for which `hits` has a hit already, as bits.
    pub hit: u64,
    /// Where the hits go.
    pub hits: &'a mut HitBatch,
}

impl Work for ClosestHits<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Self { tree, rays, hit, hits } = self;
        let mut stream = RayStream::gather(rays);
        stream.start_from(hit, hits);
        match tree {
            WideTree::Four(tree) => traverse::<4, S, S::Four, false>(tree, &mut stream),
            WideTree::Eight(tree) => traverse::<8, S, S::Eight, false>(tree, &mut stream),
        }
        for i in rays.active_lanes() {
            hits.set(i, (stream.found >> i & 1 != 0).then_some(stream.best[i]));
        }
    }
}

/// [`any_hits`](super::stream_any_hits) as work.
pub struct AnyHits<'a> {
    /// What is traced.
    pub tree: WideTree<'a>,
    /// The rays.
    pub rays: &'a RayBatch,
}

impl Work for AnyHits<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<S: Simd>(self) -> u64 {
        let Self { tree, rays } = self;
        let mut stream = RayStream::gather(rays);
        match tree {
            WideTree::Four(tree) => traverse::<4, S, S::Four, true>(tree, &mut stream),
            WideTree::Eight(tree) => traverse::<8, S, S::Eight, true>(tree, &mut stream),
        }
        stream.found
    }
}

/// The rays of a batch, with their best hits.
struct RayStream {
    slabs: [Slabs; BATCH],
    sheared: [Sheared; BATCH],
    best: [Hit; BATCH],
    /// The best hits' distances, padded.
    far: [f32; BATCH],
    /// The rays that are to be traced and may hit something, as bits.
    present: u64,
    /// The rays that hit something, as bits.
    found: u64,
}

impl RayStream {
    #[inline(always)]
    fn gather(rays: &RayBatch) -> Self {
        let miss = Hit { t: 0.0, u: 0.0, v: 0.0, prim: 0 };
        let mut stream = Self {
            slabs: [Slabs::default(); BATCH],
            sheared: [Sheared::default(); BATCH],
            best: [miss; BATCH],
            far: [0.0; BATCH],
            present: 0,
            found: 0,
        };
        for i in rays.active_lanes() {
            let ray = rays.ray(i);
            let Some(slabs) = Slabs::new(&ray) else { continue };
            stream.slabs[i] = slabs;
            stream.sheared[i] = Sheared::new(&ray);
            stream.best[i] = ray.unhit();
            stream.far[i] = ray.t_max * FAR_PAD;
            stream.present |= 1 << i;
        }
        stream
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

/// What waits: a distance in the upper half and a link in the lower one, and the rays, as bits.
#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    rays: u64,
}

/// Finds the hits of all rays, nearest box first; with `ANY`, any.
#[inline(always)]
fn traverse<const W: usize, S: Simd, L: Lanes<W>, const ANY: bool>(tree: &WideBvh<W>, stream: &mut RayStream) {
    let mut stack = [Entry { key: 0, rays: 0 }; STACK];
    let mut own_stack = [0; STACK];
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
                    let start = Start { link, slabs: &stream.slabs[i], sheared: &stream.sheared[i] };
                    if single::descend::<W, L, ANY, NoRecorder>(
                        tree,
                        start,
                        &mut stream.best[i],
                        &mut own_stack,
                        &mut NoRecorder,
                    ) {
                        stream.found |= 1 << i;
                        stream.far[i] = stream.best[i].t * FAR_PAD;
                    }
                }
            }
            WideLink::Node(index) => {
                let node = &tree.nodes[index as usize];
                let (met, near) = enter::<W, S, L, ANY>(node, stream, now.rays);
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
            WideLink::Block(index) => intersect::<W, L, ANY>(&tree.blocks[index as usize], stream, now.rays),
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
    stream: &RayStream,
    mut rays: u64,
) -> ([u64; 8], [f32; W]) {
    let mut met = [0u8; BATCH];
    let mut least = L::splat(f32::MAX);
    while rays != 0 {
        let i = rays.trailing_zeros() as usize % BATCH;
        rays &= rays - 1;
        let (mask, near) = stream.slabs[i].enter::<W, L>(node, stream.far[i]);
        met[i] = L::bits(mask) as u8;
        if !ANY {
            least = L::select(mask, near.min(least), least);
        }
    }
    (S::columns(&met), least.max(L::splat(0.0)).store())
}

/// Tests rays against the triangles of a block.
#[inline(always)]
fn intersect<const W: usize, L: Lanes<W>, const ANY: bool>(block: &Block<W>, stream: &mut RayStream, mut rays: u64) {
    while rays != 0 {
        let i = rays.trailing_zeros() as usize % BATCH;
        rays &= rays - 1;
        if stream.sheared[i].intersect::<W, L>(block, &mut stream.best[i]) {
            stream.found |= 1 << i;
            stream.far[i] = stream.best[i].t * FAR_PAD;
        }
    }
}
