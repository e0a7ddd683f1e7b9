//! Bounding volume hierarchies and their traversal.
//!
//! One traversal serves the oriented boxes, the octree and the BVH, as one microprogram of the
//! auxiliary processor would: it tests the volumes of all children of a node, then descends into
//! the nearest that the ray enters. The peripheral as it is tests a volume by its six faces, one of
//! which "a ray that passes through a bounding parallelepiped must intersect" unless it starts
//! inside (Ullner 1983, §2.3.4): six intersections for what is one test here. Volumes that the ray
//! enters beyond its best hit are pruned. Unlike in the grid it does not matter which volume a hit
//! lies in.

use super::bounds::Bounds;
use super::line::{Line, slabs};
use super::{Structure, StructureError, Visitor};
use crate::rays::ray::Request;

/// Entries of a ray's stack. An octree of 18 levels needs 127.
pub const STACK: usize = 128;

/// Children that a node has at most.
pub const MOST_CHILDREN: usize = 8;

/// A convex volume that a ray can be tested against.
pub trait Volume {
    /// The `t` at which the line enters the volume, 0 if it starts inside. `None` if it misses the
    /// volume, or enters it beyond `best`.
    fn enter(&self, line: &Line, best: f32) -> Option<f32>;
}

impl Volume for Bounds {
    #[inline]
    fn enter(&self, line: &Line, best: f32) -> Option<f32> {
        slabs(self.min, self.max, line.origin, line.inverse, best)
    }
}

/// The contents of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The nodes `first .. first + count`, 1 to [`MOST_CHILDREN`], behind their parent.
    Nodes {
        /// Index of the first child.
        first: u32,
        /// Number of children.
        count: u32,
    },
    /// The polygons that entries `first .. first + count` of the list name.
    Polygons {
        /// The first entry.
        first: u32,
        /// Number of entries.
        count: u32,
    },
}

/// A node: a volume and what is in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node<V> {
    /// Contains all hits of the polygons below, with the [margin](Bounds::margin).
    pub volume: V,
    /// The contents: child nodes, or polygons.
    pub content: Content,
}

/// A tree of volumes over polygons.
#[derive(Clone, Debug)]
pub struct Hierarchy<V> {
    nodes: Vec<Node<V>>,
    polygons: Vec<u32>,
}

impl<V> Hierarchy<V> {
    /// A tree of these nodes, root first, whose leaves name entries of `polygons`: indices into the
    /// hardware's memory. Without nodes it has no polygons.
    ///
    /// # Errors
    /// [`StructureError::NoTree`] if a node other than the root is not the child of exactly one
    /// node before it, has no children or too many, or names entries that are not there.
    /// [`StructureError::TooDeep`] if [`STACK`] entries do not suffice for every ray.
    pub fn new(nodes: Vec<Node<V>>, polygons: Vec<u32>) -> Result<Self, StructureError> {
        let mut has_parent = vec![false; nodes.len()];
        // Entries that the traversal needs below each node, from the last node to the first.
        let mut needed = vec![1usize; nodes.len()];
        for (index, node) in nodes.iter().enumerate().rev() {
            let no_tree = StructureError::NoTree { node: index as u32 };
            match node.content {
                Content::Polygons { first, count } => {
                    if first as usize + count as usize > polygons.len() {
                        return Err(no_tree);
                    }
                }
                Content::Nodes { first, count } => {
                    let (first, count) = (first as usize, count as usize);
                    let is_possible = (1..=MOST_CHILDREN).contains(&count) && first > index;
                    if !is_possible || first + count > nodes.len() || has_parent[first..first + count].contains(&true) {
                        return Err(no_tree);
                    }
                    has_parent[first..first + count].fill(true);
                    let deepest = needed[first..first + count].iter().max().copied().unwrap_or(1);
                    needed[index] = deepest + count - 1;
                }
            }
        }
        if let Some(orphan) = has_parent.iter().skip(1).position(|has| !has) {
            return Err(StructureError::NoTree { node: orphan as u32 + 1 });
        }
        match needed.first() {
            Some(&needed) if needed > STACK => Err(StructureError::TooDeep { needed, available: STACK }),
            _ => Ok(Self { nodes, polygons }),
        }
    }

    /// The nodes, root first.
    pub fn nodes(&self) -> &[Node<V>] {
        &self.nodes
    }

    /// The lists of the leaves.
    pub fn polygons(&self) -> &[u32] {
        &self.polygons
    }
}

/// Nodes that wait, with the `t` at which their volumes are entered.
struct Stack {
    entries: [(u32, f32); STACK],
    top: usize,
}

impl Stack {
    /// Adds a node in its place among those above `bottom`: the nearest on top, of equally near
    /// ones that of the lowest index, if nodes are added in ascending order.
    #[inline]
    fn insert(&mut self, bottom: usize, index: u32, near: f32) {
        let mut place = self.top;
        while place > bottom && self.entries[place - 1].1 <= near {
            self.entries[place] = self.entries[place - 1];
            place -= 1;
        }
        self.entries[place] = (index, near);
        self.top += 1;
    }

    /// The top node, if its volume is not beyond `best`, or the next that is not.
    #[inline]
    fn pop(&mut self, best: f32) -> Option<u32> {
        while self.top > 0 {
            self.top -= 1;
            let (index, near) = self.entries[self.top];
            if near <= best {
                return Some(index);
            }
        }
        None
    }
}

impl<V: Volume> Structure for Hierarchy<V> {
    fn visit<W: Visitor>(&self, request: &Request, visitor: &mut W) {
        let (Some(line), Some(root)) = (Line::new(request), self.nodes.first()) else {
            return;
        };
        let mut best = request.limit;
        let mut stack = Stack { entries: [(0, 0.0); STACK], top: 0 };
        visitor.boxes(1);
        if let Some(near) = root.volume.enter(&line, best) {
            stack.insert(0, 0, near);
        }
        while let Some(index) = stack.pop(best) {
            match self.nodes[index as usize].content {
                Content::Nodes { first, count } => {
                    visitor.boxes(count);
                    let bottom = stack.top;
                    let children = &self.nodes[first as usize..(first + count) as usize];
                    for (child, node) in (first..).zip(children) {
                        if let Some(near) = node.volume.enter(&line, best) {
                            stack.insert(bottom, child, near);
                        }
                    }
                }
                Content::Polygons { first, count } => {
                    visitor.cell(count);
                    for &polygon in &self.polygons[first as usize..(first + count) as usize] {
                        best = visitor.polygon(polygon);
                        if best < 0.0 {
                            return;
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::oriented::OrientedBox;
    use super::super::samples::{Random, faces, request};
    use super::*;
    use glam::{DVec3, Vec3};

    fn node(content: Content) -> Node<Bounds> {
        Node { volume: Bounds { min: Vec3::ZERO, max: Vec3::ONE }, content }
    }

    fn leaf(first: u32, count: u32) -> Node<Bounds> {
        node(Content::Polygons { first, count })
    }

    fn inner(first: u32, count: u32) -> Node<Bounds> {
        node(Content::Nodes { first, count })
    }

    #[test]
    fn nodes_that_are_no_tree_are_refused() {
        let refused = |nodes: Vec<Node<Bounds>>| Hierarchy::new(nodes, vec![0, 1]).err();
        let no_tree = |node| Some(StructureError::NoTree { node });
        assert_eq!(refused(vec![inner(1, 2), leaf(0, 1), leaf(1, 1)]), None);
        assert_eq!(refused(vec![inner(0, 1)]), no_tree(0), "a node is its own child");
        assert_eq!(refused(vec![inner(1, 2), leaf(0, 1)]), no_tree(0), "a child is not there");
        assert_eq!(refused(vec![inner(1, 1), leaf(1, 2)]), no_tree(1), "an entry is not there");
        assert_eq!(refused(vec![inner(1, 0), leaf(0, 1)]), no_tree(0), "a node without children");
        assert_eq!(refused(vec![inner(1, 1), leaf(0, 1), leaf(0, 1)]), no_tree(2), "a second root");
        let shared = vec![inner(1, 2), inner(3, 1), inner(3, 1), leaf(0, 1)];
        assert_eq!(refused(shared), no_tree(1), "a child of two nodes");
    }

    #[test]
    fn a_tree_that_is_too_deep_for_the_stack_is_refused() {
        let chain = |levels: u32| {
            let mut nodes: Vec<_> = (0..levels).flat_map(|level| [leaf(0, 1), inner(2 * level + 2, 2)]).collect();
            nodes.remove(0);
            nodes.extend([leaf(0, 1), leaf(0, 1)]);
            // The first of each two is a leaf, the second goes on.
            for (index, node) in nodes.iter_mut().enumerate() {
                if let Content::Nodes { first, .. } = &mut node.content {
                    *first = index as u32 + 1;
                }
            }
            Hierarchy::new(nodes, vec![0])
        };
        assert!(chain(STACK as u32 - 1).is_ok());
        let needed = STACK + 1;
        assert_eq!(chain(STACK as u32).err(), Some(StructureError::TooDeep { needed, available: STACK }));
    }

    /// Where a ray enters a volume by the test of the hardware: it hits a face, or starts inside.
    fn enter_by_faces(faces: &[[Vec3; 4]; 6], request: &Request) -> Option<f64> {
        let (origin, direction) = (request.origin.as_dvec3(), request.direction.as_dvec3());
        let middle = faces.iter().flatten().map(|corner| corner.as_dvec3()).sum::<DVec3>() / 24.0;
        let mut nearest: Option<f64> = None;
        let mut is_inside = true;
        for face in faces {
            let [a, b, c, d] = face.map(|corner| corner.as_dvec3());
            let outward = (c - a).cross(d - b) * (c - a).cross(d - b).dot(a - middle).signum();
            is_inside &= outward.dot(origin - a) <= 0.0;
            let t = outward.dot(a - origin) / outward.dot(direction);
            let point = origin + t * direction;
            let is_in = [(a, b), (b, c), (c, d), (d, a)]
                .iter()
                .all(|(p, q)| (*q - *p).cross(point - *p).dot((c - a).cross(d - b)) >= 0.0);
            if t >= 0.0 && is_in {
                nearest = Some(nearest.map_or(t, |nearest| nearest.min(t)));
            }
        }
        if is_inside { Some(0.0) } else { nearest }
    }

    #[test]
    fn the_slabs_say_what_the_six_faces_say() {
        let mut random = Random::new(7);
        let (mut entered, mut differ) = (0, 0);
        for _ in 0..4000 {
            let (p, q) = (random.point(), random.point());
            let aligned = Bounds { min: p.min(q), max: p.max(q) };
            let Bounds { min, max } = aligned;
            let turned = OrientedBox { center: (min + max) * 0.5, axes: Vec3::AXES, half: (max - min) * 0.5 };
            let oriented = random.oriented();
            let origin = random.point() * 1.5;
            let ray = request(origin, random.point() - origin);
            let line = Line::new(&ray).unwrap();
            let both = [
                (aligned.enter(&line, f32::INFINITY), faces(&turned)),
                (oriented.enter(&line, f32::INFINITY), faces(&oriented)),
            ];
            for (ours, faces) in both {
                match (ours, enter_by_faces(&faces, &ray)) {
                    (Some(ours), Some(theirs)) => {
                        assert!((f64::from(ours) - theirs).abs() < 1e-4 * theirs.max(1.0), "{ours} {theirs} {ray:?}");
                        entered += 1;
                    }
                    (None, None) => {}
                    _ => differ += 1,
                }
            }
        }
        assert!(entered > 1500, "{entered}");
        assert!(differ <= 2, "rays along an edge may differ by rounding, not {differ}");
    }
}
