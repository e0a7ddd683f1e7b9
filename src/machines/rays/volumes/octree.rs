//! An octree: "the eight subvolumes formed by the three planes that pass through the center of the
//! modeling space … divided in a similar manner until the number of surfaces contained within each
//! subvolume is reduced to some manageable value" (Ullner 1983, §2.3.4, of Reddy & Rubin,
//! "Representation of Three-Dimensional Objects", 1978).
//!
//! A polygon is in the list of every cell that it meets. Cells without polygons are not stored.
//! Where many polygons meet, or cells are smaller than the room that polygons need for their hits,
//! a division separates nothing: it is not made if its polygons would be in [`SHARED`] of the eight
//! parts on average.

use super::bounds::{Bounds, growth};
use super::hierarchy::{Content, Hierarchy, Node};
use super::outline::Outline;
use super::{Shape, StructureError};
use std::collections::VecDeque;

/// The most times that space is halved on an axis. The traversal's stack would allow 18.
pub const MOST_LEVELS: u32 = 16;

/// The parts of eight that a polygon is in on average where a division is not worth it. A plane
/// through a cell's middle is in 4 to 7.
pub const SHARED: usize = 6;

/// When a cell is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OctreeOptions {
    /// Cells with more polygons are divided.
    pub most: usize,
    /// Up to so many times, at most [`MOST_LEVELS`].
    pub levels: u32,
    /// The most entries that the lists of all cells may have, while and after the tree is built, and
    /// the most nodes.
    pub limit: usize,
}

impl Default for OctreeOptions {
    /// 8 polygons, 8 levels, 2²⁶ entries.
    fn default() -> Self {
        Self { most: 8, levels: 8, limit: 1 << 26 }
    }
}

/// A cell that is still to be divided.
struct Pending {
    node: usize,
    cell: Bounds,
    polygons: Vec<u32>,
    level: u32,
}

/// The octree over polygons and other primitives.
///
/// # Errors
/// When there are no polygons, a coordinate is not finite or beyond
/// [`LARGEST`](super::bounds::LARGEST), or there are more entries or nodes than the options allow.
pub fn build<P: Outline>(polygons: &[P], options: &OctreeOptions) -> Result<Hierarchy<Bounds>, StructureError> {
    let around = Bounds::around(polygons)?;
    let margin = around.margin();
    let space = around.grown(margin);
    let leaf = |cell: Bounds| Node { volume: cell.grown(margin), content: Content::Polygons { first: 0, count: 0 } };
    let mut nodes = vec![leaf(space)];
    let mut lists: Vec<u32> = Vec::new();
    let all: Vec<u32> = (0..polygons.len() as u32).collect();
    let mut entries = all.len();
    let mut pending = VecDeque::from([Pending { node: 0, cell: space, polygons: all, level: 0 }]);
    while let Some(Pending { node, cell, polygons: own, level }) = pending.pop_front() {
        if entries > options.limit {
            return Err(StructureError::TooManyEntries { limit: options.limit });
        }
        if nodes.len() > options.limit {
            return Err(StructureError::TooManyNodes { limit: options.limit });
        }
        let is_dividable = own.len() > options.most && level < options.levels.min(MOST_LEVELS);
        let parts = is_dividable.then(|| divided(polygons, &own, cell, margin));
        let Some(parts) = parts.filter(|parts| parts.iter().map(Vec::len).sum::<usize>() < SHARED * own.len()) else {
            nodes[node].content = Content::Polygons { first: lists.len() as u32, count: own.len() as u32 };
            lists.extend(own);
            continue;
        };
        entries -= own.len();
        let first = nodes.len();
        for (part, list) in parts.into_iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            let cell = octant(cell, part);
            entries += list.len();
            pending.push_back(Pending { node: nodes.len(), cell, polygons: list, level: level + 1 });
            nodes.push(leaf(cell));
        }
        nodes[node].content = Content::Nodes { first: first as u32, count: (nodes.len() - first) as u32 };
    }
    Hierarchy::new(nodes, lists)
}

/// The lists of the eight parts of a cell, ascending like the cell's own.
fn divided<P: Outline>(polygons: &[P], own: &[u32], cell: Bounds, margin: f32) -> [Vec<u32>; 8] {
    let mut parts: [Vec<u32>; 8] = Default::default();
    for &polygon in own {
        let corners = &polygons[polygon as usize];
        let shape = Shape::new(corners);
        let reach = f64::from(margin + growth(corners));
        for (part, list) in parts.iter_mut().enumerate() {
            let Bounds { min, max } = octant(cell, part);
            if shape.meets(min.as_dvec3() - reach, max.as_dvec3() + reach) {
                list.push(polygon);
            }
        }
    }
    parts
}

/// An eighth of a cell: bit `k` of `part` says whether it is the upper half on axis `k`.
fn octant(cell: Bounds, part: usize) -> Bounds {
    let center = (cell.min + cell.max) * 0.5;
    let mut octant = cell;
    for axis in 0..3 {
        if part >> axis & 1 == 0 {
            octant.max[axis] = center[axis];
        } else {
            octant.min[axis] = center[axis];
        }
    }
    octant
}

#[cfg(test)]
mod tests {
    use super::super::samples::Random;
    use super::*;
    use glam::Vec3;

    #[test]
    fn cells_are_divided_until_few_polygons_are_left_or_the_levels_are_used_up() {
        let polygons = Random::new(3).soup(400, 0.1);
        let tree = build(&polygons, &OctreeOptions { most: 6, levels: 12, ..OctreeOptions::default() }).unwrap();
        let counts = || {
            tree.nodes().iter().filter_map(|node| match node.content {
                Content::Polygons { count, .. } => Some(count),
                Content::Nodes { .. } => None,
            })
        };
        assert!(counts().all(|count| (1..=6).contains(&count)), "{:?}", counts().max());
        let flat = build(&polygons, &OctreeOptions { most: 6, levels: 0, ..OctreeOptions::default() }).unwrap();
        assert_eq!((flat.nodes().len(), flat.polygons().len()), (1, 400));
    }

    #[test]
    fn polygons_that_share_a_corner_are_bounded_in_number_and_not_in_depth() {
        // More than eight polygons meet at a point, and no division separates them.
        let fan: Vec<[Vec3; 4]> = (0..20)
            .map(|i| {
                let (sin, cos) = (i as f32).sin_cos();
                let tip = Vec3::new(cos, sin, 1.0);
                [Vec3::ZERO, tip, tip + Vec3::new(-sin, cos, 0.0) * 0.1, Vec3::new(-sin, cos, 0.0) * 0.1]
            })
            .collect();
        let options = OctreeOptions { most: 8, levels: 40, limit: 100_000 };
        assert!(build(&fan, &options).is_ok());
        let options = OctreeOptions { limit: 30, ..options };
        assert_eq!(build(&fan, &options).err(), Some(StructureError::TooManyEntries { limit: 30 }));
    }

    #[test]
    fn cells_within_cells_are_bounded_in_number() {
        // Two near each other in the corner of a large space: most divisions do not separate them.
        let square = |at: Vec3, side: f32| [Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y].map(|c| at + c * side);
        let mut polygons: Vec<[Vec3; 4]> = (0..2).map(|i| square(Vec3::Z * (1e-7 * i as f32), 1e-6)).collect();
        polygons.push(square(Vec3::splat(0.9), 0.1));
        let options = OctreeOptions { most: 1, levels: 16, limit: 5 };
        assert_eq!(build(&polygons, &options).err(), Some(StructureError::TooManyNodes { limit: 5 }));
        assert!(build(&polygons, &OctreeOptions { limit: 200, ..options }).unwrap().nodes().len() > 5);
    }
}
