//! Strongly connected components of a directed graph: which blocks lie in loops, which functions
//! are recursive.
//!
//! Tarjan: "Depth-First Search and Linear Graph Algorithms", 1972, without recursion.

/// The components of a graph of nodes `0..n`.
#[derive(Clone, Debug)]
pub struct Components {
    /// Component of each node. A component's number is larger than those it leads to.
    pub of: Vec<u32>,
    /// Nodes of each component: in order, every edge between components leads to an earlier one.
    pub members: Vec<Vec<u32>>,
    cyclic: Vec<bool>,
}

impl Components {
    /// Computes the components; `edges[i]` are the nodes that `i` leads to.
    pub fn new(edges: &[Vec<u32>]) -> Self {
        const NEW: u32 = u32::MAX;
        let n = edges.len();
        let (mut index, mut low) = (vec![NEW; n], vec![0u32; n]);
        let (mut of, mut members, mut open) = (vec![NEW; n], Vec::<Vec<u32>>::new(), Vec::new());
        let mut clock = 0;
        for root in 0..n as u32 {
            if index[root as usize] != NEW {
                continue;
            }
            let mut stack = vec![(root, 0usize)];
            while let Some((node, next)) = stack.last_mut() {
                let v = *node as usize;
                if *next == 0 {
                    (index[v], low[v]) = (clock, clock);
                    clock += 1;
                    open.push(v as u32);
                }
                let edge = edges[v].get(*next).map(|&w| w as usize);
                *next += 1;
                match edge {
                    Some(w) if index[w] == NEW => stack.push((w as u32, 0)),
                    Some(w) if of[w] == NEW => low[v] = low[v].min(index[w]),
                    Some(_) => {}
                    None => {
                        if low[v] == index[v] {
                            let start = open.iter().rposition(|&o| o as usize == v).unwrap_or(0);
                            let component: Vec<u32> = open.drain(start..).collect();
                            component.iter().for_each(|&m| of[m as usize] = members.len() as u32);
                            members.push(component);
                        }
                        stack.pop();
                        if let Some(&(parent, _)) = stack.last() {
                            low[parent as usize] = low[parent as usize].min(low[v]);
                        }
                    }
                }
            }
        }
        let is_cycle = |m: &Vec<u32>| m.len() > 1 || edges[m[0] as usize].contains(&m[0]);
        let cyclic = members.iter().map(is_cycle).collect();
        Self { of, members, cyclic }
    }

    /// True if the node lies on a cycle.
    pub fn is_cyclic(&self, node: usize) -> bool {
        self.cyclic[self.of[node] as usize]
    }
}

impl super::Function {
    /// The components of the blocks' graph.
    pub fn components(&self) -> Components {
        let edges: Vec<Vec<u32>> = self.blocks.iter().map(|b| b.term.targets().map(|t| t.block.0).collect()).collect();
        Components::new(&edges)
    }
}

impl super::Module {
    /// The components of the call graph, by function index. Calls of functions that the module does
    /// not hold are no edges.
    pub fn call_components(&self) -> Components {
        let index = self.index();
        let calls = |f: &super::Function| {
            let insts = f.blocks.iter().flat_map(|b| &b.insts);
            let callees = insts.filter_map(|i| if let super::Op::Call(name) = &i.op { index.get(name) } else { None });
            callees.map(|&c| c as u32).collect()
        };
        Components::new(&self.functions.iter().map(calls).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_on_a_common_cycle_share_a_component() {
        let c = Components::new(&[vec![1], vec![2, 3], vec![1], vec![4], vec![4], vec![0]]);
        assert_eq!(c.of[1], c.of[2]);
        assert_ne!(c.of[0], c.of[1]);
        let cyclic: Vec<bool> = (0..6).map(|n| c.is_cyclic(n)).collect();
        assert_eq!(cyclic, [false, true, true, false, true, false]);
    }

    #[test]
    fn a_component_comes_after_those_it_leads_to() {
        let edges = [vec![1, 2], vec![3], vec![3], vec![1]];
        let c = Components::new(&edges);
        for (from, targets) in edges.iter().enumerate() {
            assert!(targets.iter().all(|&to| c.of[to as usize] <= c.of[from]));
        }
    }

    #[test]
    fn a_long_chain_takes_no_recursion() {
        let n = 200_000;
        let edges: Vec<Vec<u32>> = (0..n).map(|i| vec![(i + 1) % n]).collect();
        assert_eq!(Components::new(&edges).members.len(), 1);
    }
}
