//! The kernel that advances all rays of a batch alternately, each at its own node of the tree.
//!
//! Every ray goes the way that it would go alone. But where the [single](super::single)-ray kernel
//! waits, for memory, for the sorting of children or for a branch that was not foreseen, the steps
//! of the next rays here depend on none of that: the processor overlaps them. A pass does one node
//! for each ray that is at a node, and then one block for each that is at a block; what a ray needs
//! next is prefetched meanwhile. It pays for rays that run apart; close ones find their nodes in
//! the cache anyway.

use super::super::ray::{BATCH, FAR_PAD, Hit, HitBatch, RayBatch};
use super::intersect::Sheared;
use super::lanes::{Isa, Lanes, Simd, Work};
use super::layout::{Block, WideLink};
use super::slabs::Slabs;
use super::{STACK, WideBvh, WideTree};
use std::cell::RefCell;
use std::hint::select_unpredictable;

thread_local! {
    /// The stacks of a batch, 222 KiB of which little is touched: kept because they are too large
    /// to clear for each batch.
    static STACKS: RefCell<Box<[Stack]>> = RefCell::new(vec![Stack::EMPTY; BATCH].into());
}

/// Traces the active rays of a batch for their closest hits; the hits of inactive rays are left
/// alone.
#[inline]
pub fn closest_hits(tree: WideTree<'_>, isa: Isa, rays: &RayBatch, hits: &mut HitBatch) {
    STACKS.with_borrow_mut(|stacks| isa.run(ClosestHits { tree, rays, hits, stacks }));
}

/// The mask of the active rays of a batch that hit something.
#[inline]
pub fn any_hits(tree: WideTree<'_>, isa: Isa, rays: &RayBatch) -> u64 {
    STACKS.with_borrow_mut(|stacks| isa.run(AnyHits { tree, rays, stacks }))
}

struct ClosestHits<'a> {
    tree: WideTree<'a>,
    rays: &'a RayBatch,
    hits: &'a mut HitBatch,
    stacks: &'a mut [Stack],
}

impl Work for ClosestHits<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let mut paths = [Path::default(); BATCH];
        let found = match self.tree {
            WideTree::Four(tree) => traverse::<4, S, S::Four, false>(tree, self.rays, &mut paths, self.stacks),
            WideTree::Eight(tree) => traverse::<8, S, S::Eight, false>(tree, self.rays, &mut paths, self.stacks),
        };
        for i in self.rays.active_lanes() {
            self.hits.set(i, (found >> i & 1 != 0).then_some(paths[i].best));
        }
    }
}

struct AnyHits<'a> {
    tree: WideTree<'a>,
    rays: &'a RayBatch,
    stacks: &'a mut [Stack],
}

impl Work for AnyHits<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<S: Simd>(self) -> u64 {
        let mut paths = [Path::default(); BATCH];
        match self.tree {
            WideTree::Four(tree) => traverse::<4, S, S::Four, true>(tree, self.rays, &mut paths, self.stacks),
            WideTree::Eight(tree) => traverse::<8, S, S::Eight, true>(tree, self.rays, &mut paths, self.stacks),
        }
    }
}

/// A ray on its way.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Path {
    slabs: Slabs,
    /// `best.t` with the padding of far distances.
    t_far: f32,
    /// Entries on its stack.
    top: u32,
    /// Where it is: a [`WideLink`], or [`END`].
    link: u32,
    triangles: Sheared,
    best: Hit,
}

/// The links that wait for a ray, and the distances at which their boxes are entered. At the bottom
/// is [`END`].
#[derive(Clone)]
struct Stack {
    near: [f32; STACK],
    links: [u32; STACK],
}

impl Stack {
    /// The stack before the root.
    const EMPTY: Self = Self { near: [0.0; STACK], links: [END; STACK] };
}

/// The link at the end of a ray's way: that of the last block there could be.
const END: u32 = !(u32::MAX >> 1);

/// The rays that are at nodes and those that are at blocks. A ray is in one queue at most, so
/// neither overflows: the place after the last is for a ray that is written but does not count.
struct Queues {
    at_nodes: [u8; BATCH + 1],
    nodes: usize,
    at_blocks: [u8; BATCH + 1],
    blocks: usize,
}

impl Queues {
    /// Queues ray `i` up for where it is. Branches here would be mispredicted: that costs a seventh
    /// of the rate.
    #[inline(always)]
    fn push(&mut self, i: usize, link: u32) {
        let at_block = (link as i32) < 0;
        self.at_nodes[self.nodes] = i as u8;
        self.at_blocks[self.blocks] = i as u8;
        self.nodes += usize::from(!at_block);
        self.blocks += usize::from(at_block & (link != END));
    }
}

impl Path {
    /// Takes the next link from the stack that is not beyond the best hit.
    #[inline(always)]
    fn pop<const ANY: bool>(&mut self, stack: &Stack) {
        let mut top = self.top as usize - 1;
        // Nothing gets nearer in a search for any hit.
        while !ANY && stack.near[top] > self.t_far {
            top -= 1;
        }
        self.top = top as u32;
        self.link = stack.links[top];
    }
}

/// Fetches what a link leads to, as much as a block has: that is the larger.
#[inline(always)]
fn prefetch<const W: usize, S: Simd>(tree: &WideBvh<W>, link: u32) {
    let node: *const u8 = tree.nodes.as_ptr().wrapping_add(link as usize).cast();
    let block: *const u8 = tree.blocks.as_ptr().wrapping_add(!link as usize).cast();
    S::prefetch(select_unpredictable((link as i32) < 0, block, node).cast::<Block<W>>());
}

/// The rays that hit something, as bits; their best hits are in `paths`. With `ANY` a ray's first
/// hit ends it.
#[inline(always)]
fn traverse<const W: usize, S: Simd, L: Lanes<W>, const ANY: bool>(
    tree: &WideBvh<W>,
    rays: &RayBatch,
    paths: &mut [Path; BATCH],
    stacks: &mut [Stack],
) -> u64 {
    let mut queues = Queues { at_nodes: [0; BATCH + 1], nodes: 0, at_blocks: [0; BATCH + 1], blocks: 0 };
    let mut found = 0u64;
    for i in rays.active_lanes() {
        let ray = rays.ray(i);
        let Some(slabs) = Slabs::new(&ray) else { continue };
        let best = ray.unhit();
        let link = WideLink::Node(0).encode();
        paths[i] = Path { slabs, t_far: best.t * FAR_PAD, top: 1, link, triangles: Sheared::new(&ray), best };
        queues.push(i, link);
    }
    while queues.nodes + queues.blocks > 0 {
        let count = std::mem::take(&mut queues.nodes);
        for place in 0..count {
            let i = queues.at_nodes[place] as usize % BATCH;
            let (path, stack) = (&mut paths[i], &mut stacks[i]);
            let node = &tree.nodes[path.link as usize];
            let (mask, near) = path.slabs.enter::<W, L>(node, path.t_far);
            let top = path.top as usize;
            let entered = L::bits(mask);
            let links = stack.links[top..].first_chunk_mut().expect("room");
            let nears: &mut [f32; W] = stack.near[top..].first_chunk_mut().expect("room");
            if ANY || entered & entered.wrapping_sub(1) == 0 {
                L::pack(mask, &node.links, links);
                if !ANY {
                    nears[0] = 0.0;
                }
            } else {
                near.sort(mask, &node.links, nears, links);
            }
            path.top += entered.count_ones();
            path.pop::<ANY>(stack);
            queues.push(i, path.link);
            prefetch::<W, S>(tree, path.link);
        }
        let count = std::mem::take(&mut queues.blocks);
        for place in 0..count {
            let i = queues.at_blocks[place] as usize % BATCH;
            let (path, stack) = (&mut paths[i], &mut stacks[i]);
            if path.triangles.intersect::<W, L>(&tree.blocks[!path.link as usize], &mut path.best) {
                found |= 1 << i;
                if ANY {
                    continue;
                }
                path.t_far = path.best.t * FAR_PAD;
            }
            path.pop::<ANY>(stack);
            queues.push(i, path.link);
            prefetch::<W, S>(tree, path.link);
        }
    }
    found
}
