//! The dominator tree of a function's reachable blocks, dominance queries, the back edges that make
//! loops, and post-dominators.

use super::{BlockId, Function};
use shadewright_base::uniformity::graph::{Graph, depth_first, immediate_dominators};

/// The dominator tree. It describes the function as it was when the tree was made.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// Reachable blocks in reverse postorder.
    order: Vec<BlockId>,
    /// Position in `order`, for each block; `u32::MAX` for unreachable ones.
    position: Vec<u32>,
    /// Immediate dominator of each block; itself for the entry and for unreachable blocks.
    idom: Vec<BlockId>,
    /// Numbers of a depth-first walk of the tree: a block dominates those whose interval lies in
    /// its own.
    interval: Vec<(u32, u32)>,
    children: Vec<Vec<BlockId>>,
}

impl Dominators {
    /// Computes the tree.
    pub fn new(func: &Function) -> Self {
        let order = func.reverse_postorder();
        let count = func.blocks.len();
        let mut position = vec![u32::MAX; count];
        for (i, b) in order.iter().enumerate() {
            position[b.0 as usize] = i as u32;
        }
        let preds = func.predecessors();
        let before: Vec<Vec<u32>> = order
            .iter()
            .map(|b| preds[b.0 as usize].iter().map(|p| position[p.0 as usize]).filter(|&p| p != u32::MAX).collect())
            .collect();
        let idom_at = immediate_dominators(&before);
        let mut idom: Vec<BlockId> = func.block_ids().collect();
        let mut children: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        for (i, &b) in order.iter().enumerate().skip(1) {
            let parent = order[idom_at[i].unwrap_or(0) as usize];
            idom[b.0 as usize] = parent;
            children[parent.0 as usize].push(b);
        }
        let numbers: Vec<Vec<u32>> = children.iter().map(|list| list.iter().map(|b| b.0).collect()).collect();
        let interval = depth_first(&numbers);
        Self { order, position, idom, interval, children }
    }

    /// Reachable blocks in reverse postorder, the entry first.
    pub fn order(&self) -> &[BlockId] {
        &self.order
    }

    /// True if control can reach the block.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.position[block.0 as usize] != u32::MAX
    }

    /// Position in reverse postorder; `None` for unreachable blocks.
    pub fn position(&self, block: BlockId) -> Option<u32> {
        Some(self.position[block.0 as usize]).filter(|&p| p != u32::MAX)
    }

    /// The closest strict dominator; `None` for the entry and unreachable blocks.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        Some(self.idom[block.0 as usize]).filter(|&d| d != block)
    }

    /// The blocks that `block` dominates immediately, in reverse postorder.
    pub fn children(&self, block: BlockId) -> &[BlockId] {
        &self.children[block.0 as usize]
    }

    /// True if every path from the entry to `b` passes `a`; a block dominates itself. False when
    /// either is unreachable.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let ((start, end), (b_start, b_end)) = (self.interval[a.0 as usize], self.interval[b.0 as usize]);
        self.is_reachable(a) && self.is_reachable(b) && start <= b_start && b_end <= end
    }

    /// Edges that lead backwards or nowhere in reverse postorder: every cycle has at least one. In
    /// a reducible function their targets dominate their sources.
    pub fn back_edges(&self, func: &Function) -> Vec<(BlockId, BlockId)> {
        let mut edges = Vec::new();
        for &from in &self.order {
            for target in func.block(from).term.targets() {
                if self.is_back_edge(from, target.block) {
                    edges.push((from, target.block));
                }
            }
        }
        edges
    }

    /// True if an edge leads backwards in reverse postorder (or from a block to itself).
    pub fn is_back_edge(&self, from: BlockId, to: BlockId) -> bool {
        self.position[to.0 as usize] <= self.position[from.0 as usize]
    }
}

/// The graph of a function's blocks.
pub fn graph(func: &Function) -> Graph {
    Graph::new(func.blocks.iter().map(|b| b.term.targets().map(|t| t.block.0).collect()).collect())
}

/// For each block, the closest other block that every path from it to a return passes; `None` where
/// it returns before, or never.
pub fn post_dominators(func: &Function) -> Vec<Option<BlockId>> {
    graph(func).post_dominators().into_iter().map(|b| b.map(BlockId)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FunctionKind, Target, Terminator, Type, Value};

    /// A function with one condition whose block `i` goes to the blocks of `edges[i]`.
    fn graph(edges: &[&[u32]]) -> Function {
        let mut f = Function { values: vec![Type::Bool], ..Function::new("g", FunctionKind::Function) };
        let target = |b: &u32| Target { block: BlockId(*b), args: vec![] };
        for e in edges {
            let id = f.new_block();
            f.block_mut(id).term = match e {
                [] => Terminator::Return(vec![]),
                [a] => Terminator::Jump(target(a)),
                [a, b, ..] => Terminator::Branch(Value(0), target(a), target(b)),
            };
        }
        f
    }

    /// Dominance by its definition: `b` cannot be reached when `a` is taken away.
    fn dominates_slowly(f: &Function, a: BlockId, b: BlockId) -> bool {
        let mut seen = vec![false; f.blocks.len()];
        let mut stack = vec![BlockId(0)];
        while let Some(x) = stack.pop() {
            if x != a && !std::mem::replace(&mut seen[x.0 as usize], true) {
                stack.extend(f.block(x).term.targets().map(|t| t.block));
            }
        }
        !seen[b.0 as usize]
    }

    #[test]
    fn dominance_is_that_of_the_definition_on_loops_joins_and_irreducible_graphs() {
        let graphs: [&[&[u32]]; 5] = [
            &[&[1, 2], &[3], &[3], &[]],
            &[&[1], &[2, 3], &[1], &[]],
            &[&[1, 2], &[2], &[1, 3], &[]],
            &[&[1, 5], &[2, 3], &[4], &[4], &[1, 5], &[]],
            &[&[1], &[1, 2], &[]],
        ];
        for edges in graphs {
            let f = graph(edges);
            let d = Dominators::new(&f);
            for a in f.block_ids() {
                for b in f.block_ids() {
                    assert_eq!(d.dominates(a, b), dominates_slowly(&f, a, b), "{edges:?} {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn an_unreachable_block_is_not_in_the_tree() {
        let f = graph(&[&[2], &[2], &[]]);
        let d = Dominators::new(&f);
        assert!(!d.is_reachable(BlockId(1)));
        assert!(!d.dominates(BlockId(1), BlockId(2)));
        assert_eq!(d.immediate(BlockId(2)), Some(BlockId(0)));
        assert_eq!(d.children(BlockId(0)), [BlockId(2)]);
    }

    #[test]
    fn a_loop_has_a_back_edge_to_its_head() {
        let f = graph(&[&[1], &[2, 3], &[1], &[]]);
        assert_eq!(Dominators::new(&f).back_edges(&f), vec![(BlockId(2), BlockId(1))]);
    }

    #[test]
    fn a_long_chain_of_blocks_takes_no_recursion() {
        let n = 100_000u32;
        let edges: Vec<Vec<u32>> = (0..n).map(|i| if i + 1 < n { vec![i + 1] } else { vec![] }).collect();
        let edges: Vec<&[u32]> = edges.iter().map(|e| &e[..]).collect();
        let f = graph(&edges);
        assert!(Dominators::new(&f).dominates(BlockId(1), BlockId(n - 1)));
    }
}
