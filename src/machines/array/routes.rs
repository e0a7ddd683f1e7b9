//! Ways through the array: from every node to every other, around nodes that are dead.
//!
//! A message goes to its destination along one of the shortest paths, by rows first. In an array
//! without dead nodes a node can work the way out from the two positions; with dead ones it needs a
//! table of one byte for each destination. Both give the same ways.

use super::mapping::{Direction, Layout};
use std::collections::VecDeque;

/// No way.
const NONE: u16 = u16::MAX;

/// Bits of a way's length; the longest has fewer links than there are nodes.
const LENGTH_BITS: u32 = 14;

/// The length of a way.
const LENGTH: u16 = (1 << LENGTH_BITS) - 1;

/// The array as messages see it. Computed once, and again when a node dies.
#[derive(Clone, Debug)]
pub struct Routes {
    nodes: usize,
    /// The way from `a` to `b` at `b·nodes + a`: how many links it has, and in the upper bits the first
    /// of them, as a number of [`Direction::ALL`]. In one word, as simulations of large arrays wait for
    /// this table to come from memory.
    ways: Vec<u16>,
    /// The live nodes at the other ends of each node's links, [`NONE`] where there is none: most steps
    /// of rays are there, and need not look into the large table.
    near: Vec<[u16; 4]>,
    /// For each node the live one that does its work.
    hosts: Vec<u16>,
    farthest: u16,
    detour: u16,
}

impl Routes {
    /// The ways among the nodes that are not `dead`, a list of as many as there are nodes. At least
    /// one of them lives.
    pub fn new(layout: &Layout, dead: &[bool]) -> Self {
        let nodes = layout.nodes();
        let (mut ways, mut distances) = (vec![NONE; nodes * nodes], vec![NONE; nodes]);
        let (mut queue, mut farthest) = (VecDeque::new(), 0);
        let alive = |node: u16| !dead.get(usize::from(node)).copied().unwrap_or(false);
        let links_of = |node: u16| Direction::ALL.map(|d| layout.neighbor(node, d).filter(|&other| alive(other)));
        let links: Vec<[Option<u16>; 4]> = (0..nodes as u16).map(links_of).collect();
        for target in (0..nodes as u16).filter(|&n| alive(n)) {
            distances.fill(NONE);
            distances[usize::from(target)] = 0;
            queue.push_back(target);
            while let Some(node) = queue.pop_front() {
                let next = distances[usize::from(node)] + 1;
                for other in links[usize::from(node)].into_iter().flatten() {
                    if distances[usize::from(other)] == NONE {
                        distances[usize::from(other)] = next;
                        queue.push_back(other);
                    }
                }
            }
            let ways = &mut ways[usize::from(target) * nodes..][..nodes];
            for ((way, &distance), links) in ways.iter_mut().zip(&distances).zip(&links) {
                if distance == NONE {
                    continue;
                }
                farthest = farthest.max(distance);
                let is_nearer =
                    |n: &Option<u16>| n.is_some_and(|n| distances[usize::from(n)].wrapping_add(1) == distance);
                let first = links.iter().position(is_nearer).unwrap_or(0);
                *way = distance | (first as u16) << LENGTH_BITS;
            }
        }
        let near_of = |(node, links): (usize, &[Option<u16>; 4])| {
            links.map(|link| link.filter(|_| alive(node as u16)).unwrap_or(NONE))
        };
        let near = links.iter().enumerate().map(near_of).collect();
        let mut routes = Self { nodes, ways, near, hosts: Vec::new(), farthest, detour: 1 };
        routes.hosts = (0..nodes as u16).map(|node| host(layout, node, &alive)).collect();
        routes.detour = routes.longest_step(layout);
        routes
    }

    /// The node that does the work of `node`: itself, unless it is dead.
    pub fn host(&self, node: u16) -> u16 {
        self.hosts[usize::from(node)]
    }

    /// Links on the way; `None` when there is no way.
    #[inline]
    pub fn distance(&self, from: u16, to: u16) -> Option<u16> {
        let way = self.ways[usize::from(to) * self.nodes + usize::from(from)];
        (way != NONE).then_some(way & LENGTH)
    }

    /// Where the way goes first; `None` when it has no link or there is none.
    #[inline]
    pub fn first(&self, from: u16, to: u16) -> Option<Direction> {
        self.step(from, to).map(|(direction, _)| direction)
    }

    /// The same, and how many links are left after that one.
    #[inline]
    pub fn step(&self, from: u16, to: u16) -> Option<(Direction, u16)> {
        if let Some(near) = self.near[usize::from(from)].iter().position(|&node| node == to) {
            return Some((Direction::ALL[near], 0));
        }
        let way = self.ways[usize::from(to) * self.nodes + usize::from(from)];
        let left = (way & LENGTH).checked_sub(1).filter(|_| way != NONE)?;
        Some((Direction::ALL[usize::from(way >> LENGTH_BITS)], left))
    }

    /// The longest way.
    pub fn farthest(&self) -> u16 {
        self.farthest
    }

    /// The longest way between the hosts of two cells that touch: 1, unless nodes are dead.
    pub fn detour(&self) -> u16 {
        self.detour
    }

    fn longest_step(&self, layout: &Layout) -> u16 {
        let pairs = (0..self.nodes as u16)
            .flat_map(|a| Direction::ALL.into_iter().filter_map(move |d| Some((a, layout.neighbor(a, d)?))));
        let ways = pairs.filter_map(|(a, b)| self.distance(self.host(a), self.host(b)));
        ways.max().unwrap_or(1).max(1)
    }
}

/// A node's buddy, which has a copy of what it keeps: its first neighbor.
pub fn buddy(layout: &Layout, node: u16) -> Option<u16> {
    Direction::ALL.into_iter().find_map(|direction| layout.neighbor(node, direction))
}

/// The first that lives of a node, its buddy, the buddy's buddy and so on; else the first that
/// lives.
fn host(layout: &Layout, node: u16, alive: &impl Fn(u16) -> bool) -> u16 {
    let mut host = node;
    for _ in 0..layout.nodes() {
        if alive(host) {
            return host;
        }
        let others = Direction::ALL.into_iter().filter_map(|d| layout.neighbor(host, d));
        host = others.clone().find(|&n| alive(n)).or_else(|| others.clone().next()).unwrap_or(host);
    }
    (0..layout.nodes() as u16).find(|&n| alive(n)).unwrap_or(node)
}

#[cfg(test)]
mod tests {
    use super::super::mapping::Mapping;
    use super::*;

    fn walk(layout: &Layout, routes: &Routes, from: u16, to: u16) -> Vec<u16> {
        let mut path = vec![from];
        let mut node = from;
        while let Some(direction) = routes.first(node, to) {
            node = layout.neighbor(node, direction).expect("a link");
            path.push(node);
        }
        path
    }

    #[test]
    fn messages_go_by_rows_first_and_around_the_torus_when_that_is_shorter() {
        let layout = Layout { mapping: Mapping::Plain, sides: [4, 4], cells: [4, 4, 4] };
        let routes = Routes::new(&layout, &[]);
        assert_eq!(walk(&layout, &routes, 0, 10), [0, 1, 2, 6, 10]);
        assert_eq!(routes.farthest(), 6);
        let torus = Layout { mapping: Mapping::Torus, ..layout };
        let routes = Routes::new(&torus, &[]);
        assert_eq!(walk(&torus, &routes, 0, 15), [0, 3, 15]);
        assert_eq!((routes.farthest(), routes.detour()), (4, 1));
    }

    #[test]
    fn every_way_is_as_long_as_its_distance() {
        for mapping in [Mapping::Plain, Mapping::Skew, Mapping::Torus] {
            let layout = Layout { mapping, sides: [5, 3], cells: [5, 3, 5] };
            for dead in [None, Some(0), Some(7)] {
                let dead: Vec<bool> = (0..15).map(|n| Some(n) == dead).collect();
                let routes = Routes::new(&layout, &dead);
                for from in (0..15).filter(|&n| !dead[usize::from(n)]) {
                    for to in (0..15).filter(|&n| !dead[usize::from(n)]) {
                        let path = walk(&layout, &routes, from, to);
                        assert_eq!(path.last(), Some(&to));
                        assert_eq!(path.len() as u16 - 1, routes.distance(from, to).expect("a way"));
                        assert!(path.iter().all(|&n| !dead[usize::from(n)]));
                    }
                }
            }
        }
    }

    #[test]
    fn a_neighbor_does_a_dead_nodes_work_and_steps_to_it_may_take_more_links() {
        let layout = Layout { mapping: Mapping::Plain, sides: [4, 4], cells: [4, 4, 4] };
        let mut dead = vec![false; 16];
        dead[5] = true;
        let routes = Routes::new(&layout, &dead);
        assert_eq!((routes.host(5), routes.host(6)), (6, 6));
        assert_eq!(buddy(&layout, 5), Some(6));
        // From node 4 to the cells of node 5, which node 6 keeps: around node 5.
        assert_eq!(routes.detour(), 4);
    }
}
