//! Graphs of control flow: dominance, loops, and what a branch that diverges does to the nodes
//! after it. Nodes are numbers; the first is the entry.

use std::collections::{BTreeSet, HashMap};

/// A graph of control flow.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Where each node leads to, once for each edge.
    pub successors: Vec<Vec<u32>>,
    /// Which nodes lead to each, once for each edge.
    pub predecessors: Vec<Vec<u32>>,
    /// Reachable nodes in reverse postorder.
    pub order: Vec<u32>,
    /// The position of each node in `order`; `None` for unreachable ones.
    pub position: Vec<Option<u32>>,
}

/// The region and the joins where lanes diverge at a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The nodes that run before all lanes reconverge: those between the branch and the node at
    /// which its paths join, in reverse postorder.
    pub region: Vec<u32>,
    /// The nodes at which lanes that diverged meet: different paths from the branch join there.
    pub joins: Vec<u32>,
}

/// The natural loops of a graph.
#[derive(Clone, Debug)]
pub struct Loops {
    /// The loops, inner ones before those around them.
    pub all: Vec<Loop>,
    /// The innermost loop that holds each node.
    pub innermost: Vec<Option<u32>>,
    /// True if some cycle is entered at several nodes: then it is no natural loop.
    pub is_irreducible: bool,
}

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Where it is entered.
    pub header: u32,
    /// The loop around it.
    pub parent: Option<u32>,
}

impl Graph {
    /// The graph with these edges.
    pub fn new(successors: Vec<Vec<u32>>) -> Graph {
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (from, to) in successors.iter().enumerate() {
            to.iter().for_each(|t| predecessors[*t as usize].push(from as u32));
        }
        let order = postorder(&successors, 0).into_iter().rev().collect::<Vec<u32>>();
        let mut position = vec![None; successors.len()];
        order.iter().zip(0..).for_each(|(node, at)| position[*node as usize] = Some(at));
        Graph { successors, predecessors, order, position }
    }

    /// For each node, the closest other node that every path from it to an exit passes; `None`
    /// where it exits before, or never does. Exits are reachable nodes that lead nowhere.
    pub fn post_dominators(&self) -> Vec<Option<u32>> {
        let exit = self.successors.len();
        let mut back = self.predecessors.clone();
        back.push(self.order.iter().copied().filter(|n| self.successors[*n as usize].is_empty()).collect());
        let order: Vec<u32> = postorder(&back, exit as u32).into_iter().rev().collect();
        let mut position = vec![None; exit + 1];
        order.iter().zip(0..).for_each(|(node, at)| position[*node as usize] = Some(at));
        let after = |node: &u32| match self.successors.get(*node as usize) {
            Some(next) if next.is_empty() => vec![0],
            Some(next) => next.iter().filter_map(|t| position[*t as usize]).collect(),
            None => Vec::new(),
        };
        let closest = immediate_dominators(&order.iter().map(after).collect::<Vec<Vec<u32>>>());
        let node = |at: u32| Some(order[at as usize]).filter(|node| *node != exit as u32);
        (0..exit).map(|n| position[n].and_then(|at| closest[at as usize]).and_then(node)).collect()
    }

    /// The nodes that are reached from `branch` before the node at which all paths from it join, if
    /// there is one; in reverse postorder.
    pub fn region(&self, branch: u32, meet: Option<u32>) -> Vec<u32> {
        let mut region = BTreeSet::new();
        let mut work = self.successors[branch as usize].clone();
        while let Some(node) = work.pop() {
            if Some(node) != meet
                && let Some(at) = self.position[node as usize]
                && region.insert((at, node))
            {
                work.extend(&self.successors[node as usize]);
            }
        }
        region.into_iter().map(|(_, node)| node).collect()
    }

    /// The region and the joins where lanes diverge at `branch`, given the node at which all paths
    /// from it join, if there is one.
    pub fn split(&self, branch: u32, meet: Option<u32>) -> Split {
        let region = self.region(branch, meet);
        let joins = self.joins(branch, &region, meet);
        Split { region, joins }
    }

    /// The nodes of a region, and the one after it, that different paths from the branch reach.
    ///
    /// Each edge of the branch has a label, which nodes pass on; a node that is given two is a
    /// join, and passes on its own.
    fn joins(&self, branch: u32, region: &[u32], meet: Option<u32>) -> Vec<u32> {
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Label {
            Edge(usize),
            Join(u32),
        }
        let mut labels: HashMap<u32, Label> = HashMap::new();
        let mut joins = BTreeSet::new();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &node in region.iter().chain(&meet) {
                let edges = self.successors[branch as usize].iter().enumerate();
                let own = edges.filter(|(_, to)| **to == node).map(|(edge, _)| Label::Edge(edge));
                let before = self.predecessors[node as usize].iter().filter(|p| **p != branch);
                // Lanes leave the node at which all paths join together.
                let inside = before.filter(|p| Some(**p) != meet).filter_map(|p| labels.get(p).copied());
                let mut given = own.chain(inside);
                let Some(first) = given.next() else { continue };
                let is_join = joins.contains(&node) || given.any(|other| other != first);
                let label = if is_join { Label::Join(node) } else { first };
                if is_join {
                    joins.insert(node);
                }
                changed |= labels.insert(node, label) != Some(label);
            }
        }
        joins.into_iter().collect()
    }

    /// The natural loops.
    pub fn loops(&self) -> Loops {
        let count = self.successors.len();
        let before = |node: &u32| self.predecessors[*node as usize].iter().filter_map(|p| self.position[*p as usize]);
        let tree = immediate_dominators(&self.order.iter().map(|n| before(n).collect()).collect::<Vec<Vec<u32>>>());
        let interval = intervals(&tree);
        let dominates = |a: u32, b: u32| {
            let ((start, end), (inner, inner_end)) = (interval[a as usize], interval[b as usize]);
            start <= inner && inner_end <= end
        };
        let mut loops = Loops { all: Vec::new(), innermost: vec![None; count], is_irreducible: false };
        for at in (0..self.order.len() as u32).rev() {
            let header = self.order[at as usize];
            let back = self.predecessors[header as usize].iter().copied();
            let back: Vec<u32> = back.filter(|p| self.position[*p as usize].is_some_and(|p| p >= at)).collect();
            loops.is_irreducible |= !back.iter().all(|p| self.position[*p as usize].is_some_and(|p| dominates(at, p)));
            if !back.is_empty() {
                loops.add(self, header, back);
            }
        }
        loops
    }
}

impl Loops {
    /// Adds the loop with this header, and the nodes from which its back edges come. Those inside
    /// it have been added before.
    fn add(&mut self, graph: &Graph, header: u32, mut work: Vec<u32>) {
        let number = self.all.len() as u32;
        self.all.push(Loop { header, parent: None });
        let mut seen = BTreeSet::from([header]);
        while let Some(node) = work.pop() {
            // A loop inside counts as one node: its header.
            let inner = self.outermost(node);
            if inner == Some(number) {
                continue;
            }
            let node = inner.map_or(node, |inner| self.all[inner as usize].header);
            if !seen.insert(node) || graph.position[node as usize].is_none() {
                continue;
            }
            match inner {
                Some(inner) => self.all[inner as usize].parent = Some(number),
                None => self.innermost[node as usize] = Some(number),
            }
            work.extend(&graph.predecessors[node as usize]);
        }
        match self.innermost[header as usize] {
            Some(inner) => self.all[inner as usize].parent = Some(number),
            None => self.innermost[header as usize] = Some(number),
        }
    }

    /// The outermost loop so far that holds a node.
    fn outermost(&self, node: u32) -> Option<u32> {
        let mut at = self.innermost[node as usize]?;
        while let Some(parent) = self.all[at as usize].parent {
            at = parent;
        }
        Some(at)
    }

    /// The loops that hold a node, from the innermost to the outermost.
    pub fn around(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.innermost[node as usize], |l| self.all[*l as usize].parent)
    }

    /// True if a loop holds a node.
    pub fn holds(&self, number: u32, node: u32) -> bool {
        self.around(node).any(|l| l == number)
    }
}

/// The nodes that are reached from one, each after those that it leads to (but for cycles).
fn postorder(successors: &[Vec<u32>], from: u32) -> Vec<u32> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    let mut stack = Vec::new();
    if let Some(first) = seen.get_mut(from as usize) {
        *first = true;
        stack.push((from, 0));
    }
    while let Some((node, next)) = stack.last_mut() {
        let target = successors[*node as usize].get(*next).copied();
        *next += 1;
        match target {
            Some(t) if !std::mem::replace(&mut seen[t as usize], true) => stack.push((t, 0)),
            Some(_) => {}
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}

/// The immediate dominator of each node of a graph, by its position in reverse postorder from the
/// first node, which has itself; none for what the first node does not reach. `before` are the
/// predecessors of each.
///
/// Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005, §2.2 (semi-NCA):
/// chains of conditionals, each in the `else` of the one before, are as fast as others.
pub fn immediate_dominators(before: &[Vec<u32>]) -> Vec<Option<u32>> {
    let mut found: Vec<Option<u32>> = vec![None; before.len()];
    let Some(first) = found.first_mut() else { return found };
    *first = Some(0);
    let Walk { order, number, parent } = Walk::new(before);
    let mut forest = Forest {
        ancestor: parent.clone(),
        label: (0..order.len() as u32).collect(),
        semi: (0..order.len() as u32).collect(),
        path: Vec::new(),
    };
    for i in (1..order.len() as u32).rev() {
        let known = before[order[i as usize] as usize].iter().map(|&p| number[p as usize]).filter(|&p| p != UNSEEN);
        let semi = known.map(|p| forest.lowest(p, i + 1)).chain([parent[i as usize]]).min();
        forest.semi[i as usize] = semi.unwrap_or(0);
    }
    let mut closest = parent;
    for i in 1..order.len() {
        while closest[i] > forest.semi[i] {
            closest[i] = closest[closest[i] as usize];
        }
        found[order[i] as usize] = Some(order[closest[i] as usize]);
    }
    found
}

/// The number of a node that is not reached.
const UNSEEN: u32 = u32::MAX;

/// A depth-first walk from node 0.
struct Walk {
    /// The nodes in the order in which they are reached.
    order: Vec<u32>,
    /// For each node, its place in `order`.
    number: Vec<u32>,
    /// For each place in `order`, that of the node from which it was reached.
    parent: Vec<u32>,
}

impl Walk {
    fn new(before: &[Vec<u32>]) -> Walk {
        let mut after: Vec<Vec<u32>> = vec![Vec::new(); before.len()];
        for (node, before) in before.iter().enumerate() {
            before.iter().for_each(|&p| after[p as usize].push(node as u32));
        }
        let mut walk = Walk { order: vec![0], number: vec![UNSEEN; before.len()], parent: vec![0] };
        walk.number[0] = 0;
        let mut stack = vec![(0u32, 0usize)];
        while let Some((node, next)) = stack.last_mut() {
            let from = *node;
            let Some(&to) = after[from as usize].get(*next) else {
                stack.pop();
                continue;
            };
            *next += 1;
            if walk.number[to as usize] == UNSEEN {
                walk.number[to as usize] = walk.order.len() as u32;
                walk.parent.push(walk.number[from as usize]);
                walk.order.push(to);
                stack.push((to, 0));
            }
        }
        walk
    }
}

/// The part of a walk's tree whose semidominators are known, with compressed paths; by places in the
/// walk's order.
struct Forest {
    ancestor: Vec<u32>,
    /// The node with the lowest semidominator on the way that was compressed.
    label: Vec<u32>,
    semi: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The lowest semidominator on the way up from a node, while that is in the forest: from `linked`
    /// on.
    fn lowest(&mut self, node: u32, linked: u32) -> u32 {
        let mut top = node;
        while self.ancestor[top as usize] >= linked {
            self.path.push(top);
            top = self.ancestor[top as usize];
        }
        let mut best = self.label[top as usize];
        while let Some(below) = self.path.pop() {
            self.ancestor[below as usize] = self.ancestor[top as usize];
            let own = self.label[below as usize];
            if self.semi[best as usize] < self.semi[own as usize] {
                self.label[below as usize] = best;
            } else {
                best = own;
            }
        }
        self.semi[best as usize]
    }
}

/// Entry and exit numbers of a depth-first walk of a tree of dominators, by position: a node
/// dominates those whose interval lies in its own.
fn intervals(tree: &[Option<u32>]) -> Vec<(u32, u32)> {
    let mut children = vec![Vec::new(); tree.len()];
    for (node, parent) in tree.iter().enumerate().skip(1) {
        children[parent.unwrap_or(0) as usize].push(node as u32);
    }
    depth_first(&children)
}

/// Entry and exit numbers of a depth-first walk from node 0 of a tree.
pub fn depth_first(children: &[Vec<u32>]) -> Vec<(u32, u32)> {
    let mut interval = vec![(0, 0); children.len()];
    let mut clock = 1;
    let mut stack = Vec::new();
    if let Some(first) = interval.first_mut() {
        first.0 = clock;
        stack.push((0u32, 0usize));
    }
    while let Some((node, next)) = stack.last_mut() {
        clock += 1;
        let node = *node as usize;
        match children[node].get(*next) {
            Some(&child) => {
                *next += 1;
                interval[child as usize].0 = clock;
                stack.push((child, 0));
            }
            None => {
                interval[node].1 = clock;
                stack.pop();
            }
        }
    }
    interval
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[&[u32]]) -> Graph {
        Graph::new(edges.iter().map(|e| e.to_vec()).collect())
    }

    /// The split at a branch.
    fn split(graph: &Graph, branch: u32) -> Split {
        graph.split(branch, graph.post_dominators()[branch as usize])
    }

    #[test]
    fn paths_of_a_conditional_meet_after_it() {
        let g = graph(&[&[1, 2], &[3], &[3], &[]]);
        assert_eq!(split(&g, 0), Split { region: split(&g, 0).region, joins: vec![3] });
        let mut region = split(&g, 0).region;
        region.sort();
        assert_eq!(region, [1, 2]);
    }

    #[test]
    fn what_a_conditional_holds_is_no_join_of_its_lanes() {
        // Lanes diverge at 0; 1 branches within one of the paths and joins at 4.
        let g = graph(&[&[1, 5], &[2, 3], &[4], &[4], &[6], &[6], &[]]);
        assert_eq!(split(&g, 0).joins, [6]);
        assert_eq!(split(&g, 1).joins, [4]);
    }

    #[test]
    fn lanes_that_stay_in_a_loop_do_not_meet_others_at_its_header() {
        // 1 is the header, and leaves to 3.
        let g = graph(&[&[1], &[2, 3], &[1], &[]]);
        assert!(split(&g, 1).joins.is_empty());
        // A second way out, from 2, to the same node.
        let g = graph(&[&[1], &[2, 3], &[1, 3], &[]]);
        assert_eq!(split(&g, 2).joins, [3]);
        // Two ways back.
        let g = graph(&[&[1], &[2, 5], &[3, 4], &[1], &[1], &[]]);
        assert_eq!(split(&g, 2).joins, [1]);
    }

    #[test]
    fn both_edges_to_one_node_meet_there() {
        assert_eq!(split(&graph(&[&[1, 1], &[]]), 0).joins, [1]);
    }

    #[test]
    fn loops_are_found_with_those_around_them() {
        // 1..=4 is a loop around 2..=3.
        let g = graph(&[&[1], &[2, 5], &[3, 4], &[2], &[1], &[]]);
        let loops = g.loops();
        assert!(!loops.is_irreducible);
        let of = |node: u32| loops.around(node).map(|l| loops.all[l as usize].header).collect::<Vec<u32>>();
        assert_eq!(
            [of(0), of(1), of(2), of(3), of(4), of(5)],
            [vec![], vec![1], vec![2, 1], vec![2, 1], vec![1], vec![]]
        );
        let own = graph(&[&[1], &[1, 2], &[]]).loops();
        assert_eq!((own.all.len(), own.innermost[1]), (1, Some(0)));
    }

    #[test]
    fn a_cycle_with_two_entries_is_irreducible() {
        assert!(graph(&[&[1, 2], &[2, 3], &[1], &[]]).loops().is_irreducible);
    }

    #[test]
    fn a_node_that_never_exits_has_no_post_dominator() {
        let g = graph(&[&[1, 2], &[1], &[]]);
        assert_eq!(g.post_dominators(), [Some(2), None, None]);
    }
}
