//! Which polygon goes to which leaf, in which group (§3.3.5, §3.3.6).

use super::config::{Spread, Tree};
use crate::polygons::model::Polygon;
use glam::Vec3;
use shadewright_base::random::hash;

/// The polygons of a group's leaves. Leaves that follow each other are in different subtrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The polygons of each leaf, from top to bottom of the screen.
    pub leaves: Vec<Vec<u32>>,
}

/// Polygons as the front end leaves them, with the scan lines that they cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The polygon.
    pub polygon: u32,
    /// The first line, and the one after the last.
    pub lines: [i32; 2],
}

/// Spreads polygons over the leaves of as many groups as needed.
pub fn groups(chosen: &[Covered], polygons: &[Polygon], tree: &Tree, bucket_sort: bool) -> Vec<Group> {
    let leaves = if bucket_sort { stacked(chosen) } else { chosen.iter().map(|c| vec![c.polygon]).collect() };
    let ordered = spread(leaves, polygons, tree);
    let limit = tree.leaves.max(1) as usize;
    // Groups of about the same size.
    let count = ordered.len().div_ceil(limit).max(1);
    let size = ordered.len().div_ceil(count).max(1);
    let mut groups: Vec<Group> = ordered.chunks(size).map(|leaves| Group { leaves: leaves.to_vec() }).collect();
    if groups.is_empty() {
        groups.push(Group { leaves: Vec::new() });
    }
    if tree.spread == Spread::Order {
        groups.iter_mut().for_each(in_order);
    }
    groups
}

/// Several polygons for a leaf, each above the next: as few leaves as possible, since a polygon goes
/// to a leaf that is free on its first line if there is one.
fn stacked(chosen: &[Covered]) -> Vec<Vec<u32>> {
    let mut sorted = chosen.to_vec();
    sorted.sort_by_key(|c| (c.lines[0], c.polygon));
    let mut leaves: Vec<Vec<u32>> = Vec::new();
    let mut free = std::collections::BTreeSet::new();
    for covered in sorted {
        let [first, end] = covered.lines;
        let earliest = free.first().copied().filter(|&(line, _): &(i32, usize)| line <= first);
        let leaf = match earliest {
            Some(entry) => {
                free.remove(&entry);
                entry.1
            }
            None => {
                leaves.push(Vec::new());
                leaves.len() - 1
            }
        };
        leaves[leaf].push(covered.polygon);
        free.insert((end, leaf));
    }
    leaves
}

/// Orders leaves so that any that follow each other can go to different subtrees.
fn spread(leaves: Vec<Vec<u32>>, polygons: &[Polygon], tree: &Tree) -> Vec<Vec<u32>> {
    let first = |leaf: &[u32]| leaf.first().copied().unwrap_or(0);
    let mut keyed: Vec<(u64, Vec<u32>)> = match tree.spread {
        Spread::Order => return leaves,
        Spread::Random => leaves.into_iter().map(|leaf| (u64::from(hash(first(&leaf))), leaf)).collect(),
        Spread::Cells => {
            let middle = |polygon: u32| {
                let polygon = polygons.get(polygon as usize);
                polygon.map_or(Vec3::ZERO, |p| p.corners.iter().sum::<Vec3>() / 4.0)
            };
            let middles: Vec<Vec3> = leaves.iter().map(|leaf| middle(first(leaf))).collect();
            let bounds = middles.iter().fold((Vec3::MAX, Vec3::MIN), |(low, high), &m| (low.min(m), high.max(m)));
            let cells = tree.cells as f32;
            let cell = |point: Vec3| {
                let place = ((point - bounds.0) / (bounds.1 - bounds.0).max(Vec3::splat(f32::MIN_POSITIVE)) * cells)
                    .clamp(Vec3::ZERO, Vec3::splat(cells - 1.0));
                let [x, y, z] = place.to_array().map(|p| p as u64);
                (z * u64::from(tree.cells) + y) * u64::from(tree.cells) + x
            };
            leaves.into_iter().zip(middles).map(|(leaf, middle)| (cell(middle), leaf)).collect()
        }
    };
    // Within a cell at random: the rows of meshes would meet the same subtrees in every cell.
    keyed.sort_by_cached_key(|(key, leaf)| (*key, hash(first(leaf)), first(leaf)));
    keyed.into_iter().map(|(_, leaf)| leaf).collect()
}

/// Puts leaves side by side in the order of the scene.
fn in_order(group: &mut Group) {
    let shape = super::shape::Shape::new(group.leaves.len() as u32, 0);
    let mut places: Vec<u32> = (0..shape.leaves).collect();
    places.sort_by_key(|&leaf| shape.position(leaf));
    let mut leaves = vec![Vec::new(); group.leaves.len()];
    for (place, leaf) in places.into_iter().zip(std::mem::take(&mut group.leaves)) {
        leaves[place as usize] = leaf;
    }
    group.leaves = leaves;
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::*;

    fn chosen(count: u32, lines: impl Fn(u32) -> [i32; 2]) -> Vec<Covered> {
        (0..count).map(|polygon| Covered { polygon, lines: lines(polygon) }).collect()
    }

    fn polygons(count: u32) -> Vec<Polygon> {
        let polygon = |k: u32| Polygon {
            // Two clusters: even numbers on the left, odd on the right.
            corners: [Vec3::new(if k.is_multiple_of(2) { 0.0 } else { 10.0 }, k as f32 * 1e-3, 0.0); 4],
            count: 4,
            normals: [Vec3::Z; 4],
            reflectance: Vec3::ONE,
            colors: [Vec3::ONE; 4],
            object: 0,
        };
        (0..count).map(polygon).collect()
    }

    fn tree(text: &str) -> Tree {
        Config::parse(&format!("[tree]\n{text}")).expect("settings").tree
    }

    #[test]
    fn groups_hold_every_polygon_once_and_no_more_than_there_are_leaves() {
        for spread in ["random", "cells", "order"] {
            let tree = tree(&format!("leaves = 30\nspread = \"{spread}\""));
            let groups = groups(&chosen(100, |_| [0, 9]), &polygons(100), &tree, false);
            assert_eq!(groups.len(), 4);
            assert!(groups.iter().all(|g| g.leaves.len() <= 30));
            let mut all: Vec<u32> = groups.iter().flat_map(|g| g.leaves.concat()).collect();
            all.sort_unstable();
            assert_eq!(all, (0..100).collect::<Vec<_>>());
        }
    }

    #[test]
    fn cells_are_dealt_out_evenly_over_the_subtrees() {
        let tree = tree("spread = \"cells\"\ncells = 2");
        let groups = groups(&chosen(64, |_| [0, 9]), &polygons(64), &tree, false);
        // Leaf k is in subtree k mod 4: each has as many of the left as of the right cluster.
        for subtree in 0..4 {
            let of = groups[0].leaves.iter().skip(subtree).step_by(4).flatten();
            assert_eq!(of.filter(|&&p| p.is_multiple_of(2)).count(), 8);
        }
    }

    #[test]
    fn a_bucket_sort_stacks_polygons_that_are_above_each_other() {
        // Four columns of ten polygons.
        let lines = |k: u32| [(k / 4 * 10) as i32, (k / 4 * 10 + 10) as i32];
        let chosen = chosen(40, lines);
        let groups = groups(&chosen, &polygons(40), &tree("leaves = 100"), true);
        assert_eq!(groups[0].leaves.len(), 4);
        for leaf in &groups[0].leaves {
            let ends: Vec<[i32; 2]> = leaf.iter().map(|&p| lines(p)).collect();
            assert!(ends.windows(2).all(|pair| pair[0][1] <= pair[1][0]), "{ends:?}");
        }
    }

    #[test]
    fn the_order_of_the_scene_puts_neighbors_into_one_subtree() {
        let groups = groups(&chosen(16, |_| [0, 9]), &polygons(16), &tree("spread = \"order\""), false);
        let shape = super::super::shape::Shape::new(16, 0);
        let mut placed: Vec<(u32, u32)> =
            (0u32..).zip(&groups[0].leaves).map(|(leaf, p)| (shape.position(leaf), p[0])).collect();
        placed.sort_unstable();
        assert!(placed.iter().all(|(position, polygon)| position == polygon));
    }
}
