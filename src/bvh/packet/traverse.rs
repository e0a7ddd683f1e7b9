//! Traversal by packets: nodes and blocks nearest first, each for the groups whose frusta meet it.

use super::super::ray::{BATCH, HitBatch, RayBatch};
use super::super::wide::lanes::{Simd, Work};
use super::super::wide::layout::WideLink;
use super::super::wide::{STACK, WideBvh, WideTree};
use super::frustum::Frusta;
use super::rays::{Alike, PacketRays};
use super::{GROUP, GROUPS, Left, Scene};

/// How many pairs of a block's triangles and groups are worth looking at the triangles' edges,
/// where the rays have one origin.
///
/// Millions of primary rays a second by `shadewright bench rays` for 4, 8, 12 and never: Sponza
/// 39.5, 39.3, 36.6, 30.8; dragon 27.3, 28.3, 28.6, 29.4; bunny 70, 71, 70, 73.
const EDGES: u32 = 8;

/// Which frusta are tried.
#[derive(Clone, Copy)]
pub struct Limits {
    /// The fewest rays of a packet.
    pub rays: u32,
    /// The greatest width of a group's frustum at depth one, beyond that at its start.
    pub width: f32,
    /// How often frusta are tested against a node, counted twice, or a group of rays against a
    /// triangle.
    pub effort: u32,
}

impl Limits {
    /// True if a batch is worth a closer look: not if already its first two rays are too far from
    /// each other.
    ///
    /// The check saves 5 % of the time of ambient occlusion and diffuse rays, which are as good as
    /// never traced in frusta.
    #[inline(always)]
    fn may_hold(&self, rays: &RayBatch) -> bool {
        let first = rays.active.trailing_zeros() as usize;
        let second = (rays.active & rays.active.wrapping_sub(1)).trailing_zeros() as usize;
        if second >= BATCH || first / GROUP != second / GROUP || self.width == f32::INFINITY {
            return true;
        }
        let (a, b) = (rays.ray(first).shear(), rays.ray(second).shear());
        a.axes == b.axes && (a.sx - b.sx).abs() <= self.width && (a.sy - b.sy).abs() <= self.width
    }
}

/// Traces frusta for closest hits; what it gives are the rays that are left.
pub struct ClosestHits<'a> {
    /// The scene that is traced.
    pub scene: Scene<'a>,
    /// The limits beyond which rays are left.
    pub limits: Limits,
    /// The rays.
    pub rays: &'a RayBatch,
    /// Where the hits go.
    pub hits: &'a mut HitBatch,
}

impl Work for ClosestHits<'_> {
    type Output = Left;

    #[inline(always)]
    fn run<S: Simd>(self) -> Left {
        let Self { scene, limits, rays, hits } = self;
        match scene.tree {
            WideTree::Four(tree) => trace::<4, S, false>(tree, scene.reach, limits, rays, hits),
            WideTree::Eight(tree) => trace::<8, S, false>(tree, scene.reach, limits, rays, hits),
        }
    }
}

/// Traces frusta for any hits; what it gives are the rays that are left and, elsewhere than in
/// [`ClosestHits`], all that hit something, which are not left.
pub struct AnyHits<'a> {
    /// The scene that is traced.
    pub scene: Scene<'a>,
    /// The limits beyond which rays are left.
    pub limits: Limits,
    /// The rays.
    pub rays: &'a RayBatch,
}

impl Work for AnyHits<'_> {
    type Output = Left;

    #[inline(always)]
    fn run<S: Simd>(self) -> Left {
        let Self { scene, limits, rays } = self;
        match scene.tree {
            WideTree::Four(tree) => trace::<4, S, true>(tree, scene.reach, limits, rays, &mut HitBatch::default()),
            WideTree::Eight(tree) => trace::<8, S, true>(tree, scene.reach, limits, rays, &mut HitBatch::default()),
        }
    }
}

/// Traces the active rays in packets.
#[inline(always)]
fn trace<const W: usize, S: Simd, const ANY: bool>(
    tree: &WideBvh<W>,
    reach: f32,
    limits: Limits,
    rays: &RayBatch,
    hits: &mut HitBatch,
) -> Left {
    if !limits.may_hold(rays) {
        return Left { rays: rays.active, hit: 0 };
    }
    let mut packet = PacketRays::<S::Sixteen>::none();
    let mut frusta = Frusta::<S::Sixteen>::none();
    let mut result = Left { rays: 0, hit: 0 };
    let mut waiting = rays.active;
    while waiting != 0 {
        let Some(alike) = Alike::first::<S::Sixteen>(rays, waiting) else {
            result.rays |= waiting & waiting.wrapping_neg();
            waiting &= waiting - 1;
            continue;
        };
        // The others are hardly more alike.
        if alike.mask.count_ones() < limits.rays {
            result.rays |= waiting;
            break;
        }
        waiting &= !alike.mask;
        let hull = packet.take(rays, alike, reach).filter(|hull| hull.width() <= limits.width);
        let Some(hull) = hull else {
            result.rays |= alike.mask;
            continue;
        };
        frusta.wrap::<W>(&hull);
        let done = traverse::<W, S, ANY>(tree, &mut packet, &mut frusta, limits.effort);
        let found = packet.found() & alike.mask;
        if ANY {
            result.hit |= found;
            result.rays |= if done { 0 } else { alike.mask & !found };
            continue;
        }
        packet.give(alike.mask, hits);
        if !done {
            result.rays |= alike.mask;
            result.hit |= found;
        }
    }
    result
}

/// An entry of the stack: from the top, 31 bits of the depth at which its box starts (the bits of
/// floats that are not negative are in order), 29 of the link, which the rest of its bits repeat,
/// and one a group.
#[inline(always)]
fn entry(depth: f32, link: u32, groups: u32) -> u64 {
    u64::from(depth.to_bits()) << 33 | u64::from(link & 0x1fff_ffff) << 4 | u64::from(groups)
}

/// The link of an entry.
#[inline(always)]
fn link(entry: u64) -> WideLink {
    WideLink::decode((((entry >> 4) as u32) << 3).cast_signed().wrapping_shr(3).cast_unsigned())
}

/// The groups that meet child `slot`, one bit a group, of bits as [`Frusta::enter`] gives them.
#[inline(always)]
fn groups<const W: usize>(met: u32, slot: usize) -> u32 {
    let mut groups = 0;
    let mut group = 0;
    while group < GROUPS {
        groups |= (met >> (group * W + slot) & 1) << group;
        group += 1;
    }
    groups
}

/// All children of the groups of an entry, as [`Frusta::enter`] numbers them.
#[inline(always)]
fn everything_of<const W: usize>(entry: u64) -> u32 {
    let mut all = 0;
    let mut group = 0;
    while group < GROUPS {
        all |= ((entry as u32 >> group & 1) * ((1 << W) - 1)) << (group * W);
        group += 1;
    }
    all
}

/// Finds the hits of a packet's rays, nearest box first; with `ANY`, any. Whether it came to an end
/// within the effort.
#[inline(always)]
fn traverse<const W: usize, S: Simd, const ANY: bool>(
    tree: &WideBvh<W>,
    packet: &mut PacketRays<S::Sixteen>,
    frusta: &mut Frusta<S::Sixteen>,
    effort: u32,
) -> bool {
    let mut left = effort;
    let mut stack = [0u64; STACK];
    let mut top = 0;
    let mut now = entry(0.0, WideLink::Node(0).encode(), (1 << GROUPS) - 1);
    loop {
        match link(now) {
            WideLink::Node(index) => {
                let node = &tree.nodes[index as usize];
                left = left.saturating_sub(2);
                let (met, starts) = frusta.enter(node);
                let met = met & everything_of::<W>(now);
                let mut children = groups_merged::<W>(met);
                if children != 0 {
                    // Insertion keeps the new entries sorted, the nearest on top.
                    let base = top;
                    while children != 0 {
                        let slot = children.trailing_zeros() as usize % W;
                        children &= children - 1;
                        let child = node.links[slot];
                        match WideLink::decode(child) {
                            WideLink::Node(index) => S::prefetch(&tree.nodes[index as usize]),
                            WideLink::Block(index) => S::prefetch(&tree.blocks[index as usize]),
                        }
                        let new = entry(starts[slot], child, groups::<W>(met, slot));
                        let mut place = top;
                        while place > base && stack[place - 1] < new {
                            stack[place] = stack[place - 1];
                            place -= 1;
                        }
                        stack[place] = new;
                        top += 1;
                    }
                    top -= 1;
                    now = stack[top];
                    continue;
                }
            }
            WideLink::Block(index) => {
                let block = &tree.blocks[index as usize];
                let mut met = frusta.meet(block) & everything_of::<W>(now);
                if let Some(origin) = packet.origin()
                    && met.count_ones() >= EDGES
                {
                    met &= frusta.meet_edges(block, origin);
                }
                left = left.saturating_sub(met.count_ones());
                let mut hit = false;
                while met != 0 {
                    let pair = met.trailing_zeros() as usize;
                    met &= met - 1;
                    hit |= packet.intersect::<W, ANY>(pair / W % GROUPS, block, pair % W);
                }
                if hit {
                    frusta.set_end::<W>(&packet.end());
                }
            }
        }
        if left == 0 {
            return false;
        }
        loop {
            if top == 0 {
                return true;
            }
            top -= 1;
            if f32::from_bits((stack[top] >> 33) as u32) <= frusta.depth() {
                now = stack[top];
                break;
            }
        }
    }
}

/// The children that any group meets.
#[inline(always)]
fn groups_merged<const W: usize>(met: u32) -> u32 {
    let mut any = 0;
    let mut group = 0;
    while group < GROUPS {
        any |= met >> (group * W);
        group += 1;
    }
    any & ((1 << W) - 1)
}
