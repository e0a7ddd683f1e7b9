//! The 8-wide tree that the CPU traces: collapsed from the binary one, a node's eight boxes or a leaf's eight triangles
//! tested at once.
//!
//! Made by [`Bvh::build`](super::Bvh::build) from nodes and triangles of the binary tree (Dammertz, Hanika & Keller, "Shallow Bounding Volume
//! Hierarchies", 2008; Wald, Benthin & Boulos, "Getting Rid of Packets", 2008). The code is generic over the lanes' implementation; it
//! does each test's operations in the order of [`binary`](super::binary), and so gives the same hits.

use super::lanes::{Lanes, Portable};
use super::node::{Child, Link, MAX_DEPTH, Node};
use super::ray::{FAR_PAD, Hit, HitBatch, Ray, RayBatch, Shear};
use super::triangle::{CULL_BACK, LeafTriangle, settle_edges};
use rayon::prelude::*;

/// Boxes a node and triangles a block.
const WIDTH: usize = 8;
/// Entries in the stack: a level leaves at most seven siblings behind and enters with one.
const STACK: usize = MAX_DEPTH as usize * (WIDTH - 1) + 1;
/// The bit of a link that says it leads to a block of triangles.
const BLOCK: u32 = 1 << 31;

/// An inner node; 256 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
struct WideNode {
    /// The planes of eight boxes: lower x, y, z, upper x, y, z. An absent child has an inverted, infinite box.
    planes: [[f32; WIDTH]; 6],
    /// Index of a node, or with [`BLOCK`] of a block.
    links: [u32; WIDTH],
}

impl WideNode {
    const EMPTY: Self = {
        let (low, high) = ([f32::INFINITY; WIDTH], [f32::NEG_INFINITY; WIDTH]);
        Self { planes: [low, low, low, high, high, high], links: [BLOCK; WIDTH] }
    };
}

/// A leaf of up to eight triangles; 352 bytes. Absent ones have corners that are NaN, which nothing hits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
struct Block {
    /// Coordinates of the three vertices: x, y, z of all triangles.
    corners: [[[f32; WIDTH]; 3]; 3],
    prim: [u32; WIDTH],
    /// Bit `i` is set where triangle `i` is one-sided.
    culled: u32,
}

impl Block {
    fn new(triangles: &[LeafTriangle]) -> Self {
        let mut block = Self { corners: [[[f32::NAN; WIDTH]; 3]; 3], prim: Default::default(), culled: 0 };
        for (i, t) in triangles.iter().enumerate() {
            for (corner, place) in block.corners.iter_mut().zip([t.a, t.b, t.c]) {
                (0..3).for_each(|axis| corner[axis][i] = place[axis]);
            }
            block.prim[i] = t.prim;
            block.culled |= (t.flags & CULL_BACK) << i;
        }
        block
    }
}

/// The tree.
#[derive(Debug)]
pub struct WideBvh {
    nodes: Vec<WideNode>,
    blocks: Vec<Block>,
}

impl WideBvh {
    /// Collapses a binary tree whose parents come before their children and whose leaves are in order. A subtree of up to eight
    /// triangles becomes one block; otherwise the child with the largest surface is opened until there are eight.
    pub(super) fn new(nodes: &[Node], triangles: &[LeafTriangle]) -> Self {
        let ranges = Ranges::new(nodes);
        let mut wide = Vec::new();
        let mut blocks: Vec<(u32, u32)> = Vec::new();
        // Binary nodes that become wide ones, in the order of their places in `wide`.
        let mut queue = std::collections::VecDeque::from([0u32]);
        let mut queued = 1;
        while let Some(root) = queue.pop_front() {
            let mut node = WideNode::EMPTY;
            for (slot, child) in open(nodes, &ranges, root).into_iter().enumerate() {
                for axis in 0..3 {
                    node.planes[axis][slot] = child.min[axis];
                    node.planes[3 + axis][slot] = child.max[axis];
                }
                let (first, count) = ranges.of(child.link());
                node.links[slot] = match child.link() {
                    Link::Inner(index) if count > WIDTH as u32 => {
                        queue.push_back(index);
                        queued += 1;
                        queued - 1
                    }
                    _ => {
                        blocks.push((first, count));
                        BLOCK | (blocks.len() - 1) as u32
                    }
                };
            }
            wide.push(node);
        }
        let block = |&(first, count): &(u32, u32)| Block::new(&triangles[first as usize..(first + count) as usize]);
        Self { nodes: wide, blocks: blocks.par_iter().map(block).collect() }
    }

    /// The tree's size in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.blocks[..])
    }

    /// Traces the active rays of a batch for their closest hits; the hits of inactive rays are left alone.
    pub fn closest_hits(&self, rays: &RayBatch, hits: &mut HitBatch) {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = super::avx2::Avx2::detect() {
            return avx2.closest_hits(self, rays, hits);
        }
        self.closest_hits_portable(rays, hits);
    }

    /// The mask of the active rays of a batch that hit something.
    pub fn any_hits(&self, rays: &RayBatch) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = super::avx2::Avx2::detect() {
            return avx2.any_hits(self, rays);
        }
        self.any_hits_portable(rays)
    }

    /// [`closest_hits`](Self::closest_hits) in portable code, to the same bits.
    pub fn closest_hits_portable(&self, rays: &RayBatch, hits: &mut HitBatch) {
        closest_hits_in::<Portable>(self, rays, hits);
    }

    /// [`any_hits`](Self::any_hits) in portable code.
    pub fn any_hits_portable(&self, rays: &RayBatch) -> u64 {
        any_hits_in::<Portable>(self, rays)
    }
}

/// The triangles below each node of the binary tree, `first` and count.
struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    fn new(nodes: &[Node]) -> Self {
        let mut ranges = Self(vec![(0, 0); nodes.len()]);
        for (index, node) in nodes.iter().enumerate().rev() {
            let [left, right] = [0, 1].map(|side| ranges.of(node.children[side].link()));
            ranges.0[index] = (left.0, left.1 + right.1);
        }
        ranges
    }

    fn of(&self, link: Link) -> (u32, u32) {
        match link {
            Link::Leaf { first, count } => (first, count),
            Link::Inner(index) => self.0[index as usize],
        }
    }
}

/// The children of the wide node that replaces a binary one, with everything below them.
fn open(nodes: &[Node], ranges: &Ranges, root: u32) -> Vec<Child> {
    let present = |child: &Child| ranges.of(child.link()).1 > 0;
    let mut children = Vec::with_capacity(WIDTH);
    children.extend(nodes[root as usize].children.into_iter().filter(present));
    while children.len() < WIDTH {
        let openable = children.iter().enumerate().filter_map(|(slot, child)| match child.link() {
            Link::Inner(index) if ranges.of(child.link()).1 > WIDTH as u32 => Some((slot, index, half_area(child))),
            _ => None,
        });
        let Some((slot, index, _)) = openable.max_by(|a, b| a.2.total_cmp(&b.2)) else { break };
        let [left, right] = nodes[index as usize].children;
        children[slot] = left;
        children.push(right);
    }
    children
}

fn half_area(child: &Child) -> f32 {
    let [x, y, z] = std::array::from_fn(|axis| child.max[axis] - child.min[axis]);
    (x * y + y * z) + z * x
}

// Functions that are always inlined, where closures and `map` would read better: those stay functions of their own, without
// the processor features of the code around them, and pass registers through memory.

#[inline(always)]
fn splat3<L: Lanes>([x, y, z]: [f32; 3]) -> [L; 3] {
    [L::splat(x), L::splat(y), L::splat(z)]
}

/// The lanes in which an edge function is zero.
#[inline(always)]
fn zeros<L: Lanes>(edges: [L; 3]) -> u32 {
    let zero = L::splat(0.0);
    !edges.iter().fold(u32::MAX, |all, edge| all & L::bits(edge.ne(zero)))
}

/// [`settle_edges`] in every lane.
fn settle_edges_in_lanes<L: Lanes>([u, v, w]: [L; 3], a: [L; 2], b: [L; 2], c: [L; 2]) -> [L; 3] {
    let mut edges = [u, v, w].map(L::store);
    let [a, b, c] = [a, b, c].map(|corner| corner.map(L::store));
    for i in 0..WIDTH {
        let at = |corner: &[[f32; WIDTH]; 2]| [corner[0][i], corner[1][i]];
        let settled = settle_edges([edges[0][i], edges[1][i], edges[2][i]], at(&a), at(&b), at(&c));
        (0..3).for_each(|k| edges[k][i] = settled[k]);
    }
    edges.map(|edge| L::load(&edge))
}

/// A ray in every lane.
struct RayLanes<L> {
    origin: [L; 3],
    inv: [L; 3],
    shear: Shear,
    t_min: L,
    /// For each axis the plane of a node, of six, that the ray meets first, and the other.
    near: [usize; 3],
    far: [usize; 3],
}

impl<L: Lanes> RayLanes<L> {
    #[inline(always)]
    fn new(ray: &Ray) -> Self {
        let inv = ray.inv_dir();
        let near = [0, 1, 2].map(|axis| if inv[axis] < 0.0 { axis + 3 } else { axis });
        Self {
            origin: splat3(ray.origin.to_array()),
            inv: splat3(inv),
            shear: ray.shear(),
            t_min: L::splat(ray.t_min),
            near,
            far: [0, 1, 2].map(|axis| (near[axis] + 3) % 6),
        }
    }

    /// The distances to one of the six planes of every child, which is across `axis`.
    #[inline(always)]
    fn to_plane(&self, node: &WideNode, plane: usize, axis: usize) -> L {
        // Always below six: the remainder lets the compiler see it.
        L::load(&node.planes[plane % 6]).sub(self.origin[axis]).mul(self.inv[axis])
    }

    /// The children whose boxes the ray meets before `t_far`, as bits, and the distances at which it enters them.
    ///
    /// The operations are those of the binary slab test; the ray's signs choose what `min` and `max` choose there.
    #[inline(always)]
    fn enter(&self, node: &WideNode, t_far: f32) -> (u32, L) {
        let near = self.to_plane(node, self.near[0], 0).max(self.to_plane(node, self.near[1], 1));
        let near = near.max(self.to_plane(node, self.near[2], 2).max(self.t_min));
        let far = self.to_plane(node, self.far[0], 0).min(self.to_plane(node, self.far[1], 1));
        let far = far.min(self.to_plane(node, self.far[2], 2).min(L::splat(t_far)));
        (L::bits(near.le(far.mul(L::splat(FAR_PAD)))), near)
    }

    /// The corners of a block's triangles in the space of the ray–triangle test.
    #[inline(always)]
    fn shear(&self, corner: &[[f32; WIDTH]; 3]) -> [L; 3] {
        let [kx, ky, kz] = self.shear.axes;
        // Always below three: the remainder lets the compiler see it.
        let [x, y, z] = [L::load(&corner[kx % 3]), L::load(&corner[ky % 3]), L::load(&corner[kz % 3])];
        let z = z.sub(self.origin[kz % 3]);
        let x = x.sub(self.origin[kx % 3]).sub(L::splat(self.shear.sx).mul(z));
        let y = y.sub(self.origin[ky % 3]).sub(L::splat(self.shear.sy).mul(z));
        [x, y, z]
    }

    /// Replaces `best` by the block's nearest hit if that is nearer, or as near and lower in index; whether it did.
    ///
    /// The operations of [`LeafTriangle::intersect`]. A ray's permutation of the axes only chooses what is loaded.
    #[inline(always)]
    fn intersect(&self, block: &Block, best: &mut Hit) -> bool {
        let zero = L::splat(0.0);
        let [a, b, c] = &block.corners;
        let ([ax, ay, az], [bx, by, bz], [cx, cy, cz]) = (self.shear(a), self.shear(b), self.shear(c));
        let u = cx.mul(by).sub(cy.mul(bx));
        let v = ax.mul(cy).sub(ay.mul(cx));
        let w = bx.mul(ay).sub(by.mul(ax));
        // Of NaNs, `min` and `max` give the second operand, w: the determinant is then NaN as well, and no t is nearer.
        let inside = |[u, v, w]: [L; 3]| L::bits(zero.le(u.min(v).min(w))) | L::bits(u.max(v).max(w).le(zero));
        let mut edges = [u, v, w];
        let mut within = inside(edges);
        if within == 0 {
            return false;
        }
        if within & zeros(edges) != 0 {
            edges = settle_edges_in_lanes(edges, [ax, ay], [bx, by], [cx, cy]);
            within = inside(edges);
        }
        let [u, v, w] = edges;
        let det = u.add(v).add(w);
        let inv = L::splat(1.0).div(det);
        let sz = L::splat(self.shear.sz);
        let t = u.mul(az).add(v.mul(bz)).add(w.mul(cz)).mul(sz).mul(inv);
        let nearer = L::and(self.t_min.lt(t), t.le(L::splat(best.t)));
        let mut hits = within & L::bits(L::and(det.ne(zero), nearer));
        if hits & block.culled != 0 {
            hits &= !(L::bits(det.mul(sz).lt(zero)) & block.culled);
        }
        if hits == 0 {
            return false;
        }
        let (t, u, v) = (t.store(), v.mul(inv).store(), w.mul(inv).store());
        let mut replaced = false;
        while hits != 0 {
            let i = hits.trailing_zeros() as usize % WIDTH;
            hits &= hits - 1;
            if t[i] < best.t || (t[i] == best.t && block.prim[i] < best.prim) {
                *best = Hit { t: t[i], u: u[i], v: v[i], prim: block.prim[i] };
                replaced = true;
            }
        }
        replaced
    }
}

/// A link that waits and the distance at which its box is entered, as one integer that orders by distance: the bits of
/// floats that are not negative do.
#[inline(always)]
fn entry(near: f32, link: u32) -> u64 {
    u64::from(near.to_bits()) << 32 | u64::from(link)
}

/// The best hit that `ray` finds, nearest child first; with `ANY`, the first that it meets.
#[inline(always)]
fn traverse<L: Lanes, const ANY: bool>(bvh: &WideBvh, ray: &Ray, stack: &mut [u64; STACK]) -> Option<Hit> {
    let lanes = RayLanes::<L>::new(ray);
    let mut best = ray.unhit();
    let mut found = false;
    let mut top = 0;
    let mut link = 0u32;
    loop {
        if link & BLOCK == 0 {
            let node = &bvh.nodes[link as usize];
            let (mut hits, near) = lanes.enter(node, best.t);
            if hits != 0 {
                let near = near.store();
                let first = hits.trailing_zeros() as usize % WIDTH;
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
                    let slot = hits.trailing_zeros() as usize % WIDTH;
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
        } else if lanes.intersect(&bvh.blocks[(link & !BLOCK) as usize], &mut best) {
            found = true;
            if ANY {
                return Some(best);
            }
        }
        loop {
            if top == 0 {
                return found.then_some(best);
            }
            top -= 1;
            if f32::from_bits((stack[top] >> 32) as u32) <= best.t * FAR_PAD {
                link = stack[top] as u32;
                break;
            }
        }
    }
}

/// [`WideBvh::closest_hits`] with one kind of lanes; inlined so that it is compiled for the caller's processor features.
#[inline(always)]
pub(super) fn closest_hits_in<L: Lanes>(bvh: &WideBvh, rays: &RayBatch, hits: &mut HitBatch) {
    let mut stack = [0; STACK];
    for i in rays.active_lanes() {
        hits.set(i, traverse::<L, false>(bvh, &rays.ray(i), &mut stack));
    }
}

/// [`WideBvh::any_hits`] with one kind of lanes; inlined so that it is compiled for the caller's processor features.
#[inline(always)]
pub(super) fn any_hits_in<L: Lanes>(bvh: &WideBvh, rays: &RayBatch) -> u64 {
    let mut stack = [0; STACK];
    let mut mask = 0;
    for i in rays.active_lanes() {
        mask |= u64::from(traverse::<L, true>(bvh, &rays.ray(i), &mut stack).is_some()) << i;
    }
    mask
}
