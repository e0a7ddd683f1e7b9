//! Finds the uniformity of a program's values, and which of its branches diverge.

use super::graph::{Graph, Loops};
use super::lattice::{Operand, Rule, Uniformity};

/// A program in SSA form, as the analysis sees it. Values are numbers.
///
/// Every use of a value is dominated by its definition. All lanes enter the first node together,
/// and reconverge where the paths of a branch at which they diverged join.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// The uniformity of the values that nothing defines, such as parameters of the program, and
    /// the first uniformity of arrays; `None` for all others.
    pub given: Vec<Option<Uniformity>>,
    /// The bits of values that are constants.
    pub constants: Vec<Option<u32>>,
    /// The nodes; the first is the entry.
    pub nodes: Vec<Node>,
    /// The number of lanes.
    pub lanes: u32,
}

/// Steps that run one after the other.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Values that each edge to the node gives.
    pub params: Vec<u32>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The value that decides which edge is taken, when there are several.
    pub condition: Option<u32>,
    /// Where it leads to.
    pub edges: Vec<Edge>,
    /// True if lanes that enter the program at different times join here.
    pub is_mixed: bool,
}

/// A way from a node to another.
#[derive(Clone, Debug, Default)]
pub struct Edge {
    /// The other node.
    pub to: u32,
    /// One value for each of its parameters.
    pub args: Vec<u32>,
}

/// An operation.
///
/// The result of [`Rule::Store`] is an array, of which there is one for each lane: it is uniform
/// while each store writes a uniform element at a uniform index with all lanes.
#[derive(Clone, Debug)]
pub struct Step {
    /// The rule of the operation.
    pub rule: Rule,
    /// The operands.
    pub args: Vec<u32>,
    /// The values that it defines, or the array that it stores to.
    pub results: Vec<u32>,
}

/// The results of the analysis.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The uniformity of each value among the lanes that compute it together; `None` for values
    /// that are never computed.
    pub values: Vec<Option<Uniformity>>,
    /// True if lanes diverge at the end of each node.
    pub diverges: Vec<bool>,
    /// True if a branch that diverges decides which lanes run each node: it runs under a mask.
    pub is_masked: Vec<bool>,
    /// For each node, the closest other node that every path from it to an exit passes; for one at
    /// which lanes diverge, the one at which they reconverge.
    pub reconvergence: Vec<Option<u32>>,
    /// The loops.
    pub loops: Loops,
    /// True if lanes leave each loop in different iterations.
    pub leaves_apart: Vec<bool>,
    /// The graph.
    pub graph: Graph,
    /// The node that defines each value.
    definitions: Vec<Option<u32>>,
}

impl Solution {
    /// The uniformity of a value where a node uses it. Lanes that left a loop in different
    /// iterations took different values with them.
    pub fn at(&self, value: u32, node: u32) -> Option<Uniformity> {
        let uniformity = self.values[value as usize]?;
        Some(if self.is_left_apart(value, node) { Uniformity::Varying } else { uniformity })
    }

    /// True if a value is defined in a loop that lanes leave in different iterations, and a node is
    /// after it.
    pub fn is_left_apart(&self, value: u32, node: u32) -> bool {
        let Some(definition) = self.definitions[value as usize] else { return false };
        let outside = self.loops.around(definition).take_while(|l| !self.loops.holds(*l, node));
        outside.into_iter().any(|l| self.leaves_apart[l as usize])
    }

    /// The node that defines a value.
    pub fn definition(&self, value: u32) -> Option<u32> {
        self.definitions[value as usize]
    }
}

/// Finds the uniformity of the values of a flow. `call` gives that of the results of a call, by the
/// number of its [`Rule::Call`] and the uniformity of its arguments; `None` for results that are
/// not known to be computed yet.
///
/// Everything in a program with irreducible control flow is varying.
pub fn solve(flow: &Flow, mut call: impl FnMut(usize, &[Uniformity]) -> Vec<Option<Uniformity>>) -> Solution {
    let edges = flow.nodes.iter().map(|n| n.edges.iter().map(|e| e.to).collect()).collect();
    let graph = Graph::new(edges);
    let count = flow.nodes.len();
    let loops = graph.loops();
    let mut solver = Solver {
        flow,
        is_join: vec![false; count],
        choices: choices(flow),
        solution: Solution {
            values: flow.given.clone(),
            diverges: vec![false; count],
            is_masked: vec![false; count],
            reconvergence: graph.post_dominators(),
            leaves_apart: vec![false; loops.all.len()],
            loops,
            graph,
            definitions: definitions(flow),
        },
    };
    if solver.solution.loops.is_irreducible {
        solver.give_up();
        return solver.solution;
    }
    loop {
        while solver.propagate(&mut call) {}
        if !solver.diverge() {
            return solver.solution;
        }
    }
}

/// The node that defines each value.
fn definitions(flow: &Flow) -> Vec<Option<u32>> {
    let mut definitions = vec![None; flow.given.len()];
    for (node, number) in flow.nodes.iter().zip(0..) {
        let stored = |s: &&Step| s.rule != Rule::Store;
        let results = node.steps.iter().filter(stored).flat_map(|s| &s.results);
        node.params.iter().chain(results).for_each(|v| definitions[*v as usize] = Some(number));
    }
    definitions
}

/// For each parameter of each node, whether edges give it different values.
fn choices(flow: &Flow) -> Vec<Vec<bool>> {
    let mut first: Vec<Vec<Option<u32>>> = flow.nodes.iter().map(|n| vec![None; n.params.len()]).collect();
    let mut choices: Vec<Vec<bool>> = flow.nodes.iter().map(|n| vec![false; n.params.len()]).collect();
    for edge in flow.nodes.iter().flat_map(|n| &n.edges) {
        let to = edge.to as usize;
        for (n, (&param, &arg)) in flow.nodes[to].params.iter().zip(&edge.args).enumerate() {
            // A loop may hand a parameter on to itself.
            if arg == param {
                continue;
            }
            let known = *first[to][n].get_or_insert(arg);
            choices[to][n] |= known != arg;
        }
    }
    choices
}

struct Solver<'a> {
    flow: &'a Flow,
    /// True if edges give different values to each parameter of each node.
    choices: Vec<Vec<bool>>,
    /// True if lanes join at each node that came to it on different paths.
    is_join: Vec<bool>,
    solution: Solution,
}

impl Solver<'_> {
    fn give_up(&mut self) {
        self.solution.values.fill(Some(Uniformity::Varying));
        self.solution.is_masked.fill(true);
        for (diverges, node) in self.solution.diverges.iter_mut().zip(&self.flow.nodes) {
            *diverges = node.edges.len() > 1;
        }
    }

    /// Raises the uniformity of a value to one that covers another.
    fn raise(&mut self, value: u32, uniformity: Uniformity) -> bool {
        let old = &mut self.solution.values[value as usize];
        let new = old.map_or(uniformity, |old| old.join(uniformity));
        old.replace(new) != Some(new)
    }

    /// One round over all nodes; whether it changed something.
    fn propagate(&mut self, call: &mut impl FnMut(usize, &[Uniformity]) -> Vec<Option<Uniformity>>) -> bool {
        let flow = self.flow;
        let mut changed = false;
        let mut raised = Vec::new();
        for node in self.solution.graph.order.clone() {
            let Node { steps, edges, .. } = &flow.nodes[node as usize];
            for step in steps {
                changed |= self.step(node, step, call);
            }
            for edge in edges {
                let to = edge.to;
                let target = &flow.nodes[to as usize];
                for ((&param, &arg), is_choice) in target.params.iter().zip(&edge.args).zip(&self.choices[to as usize])
                {
                    // Lanes that leave a loop on the edge did so in their own iterations.
                    let Some(uniformity) = self.solution.at(arg, to) else { continue };
                    let differs = target.is_mixed || (self.is_join[to as usize] && *is_choice);
                    raised.push((param, if differs { Uniformity::Varying } else { uniformity }));
                }
            }
            for (param, uniformity) in raised.drain(..) {
                changed |= self.raise(param, uniformity);
            }
        }
        changed
    }

    fn step(
        &mut self,
        node: u32,
        step: &Step,
        call: &mut impl FnMut(usize, &[Uniformity]) -> Vec<Option<Uniformity>>,
    ) -> bool {
        let uniformities: Option<Vec<Uniformity>> = step.args.iter().map(|a| self.solution.at(*a, node)).collect();
        let Some(uniformities) = uniformities else { return false };
        let mut changed = false;
        match step.rule {
            Rule::Call(number) => {
                for (&result, uniformity) in step.results.iter().zip(call(number, &uniformities)) {
                    changed |= uniformity.is_some_and(|uniformity| self.raise(result, uniformity));
                }
            }
            Rule::Store => {
                let is_uniform = !self.solution.is_masked[node as usize] && uniformities.iter().all(|s| s.is_uniform());
                let uniformity = if is_uniform { Uniformity::UNIFORM } else { Uniformity::Varying };
                step.results.iter().for_each(|array| changed |= self.raise(*array, uniformity));
            }
            rule => {
                let operand = |(arg, uniformity): (&u32, &Uniformity)| Operand {
                    uniformity: *uniformity,
                    constant: self.flow.constants[*arg as usize],
                };
                let operands: Vec<Operand> = step.args.iter().zip(&uniformities).map(operand).collect();
                let uniformity = rule.apply(&operands, self.flow.lanes);
                step.results.iter().for_each(|result| changed |= self.raise(*result, uniformity));
            }
        }
        changed
    }

    /// Marks what follows from branches that are found to diverge; whether there are new ones.
    fn diverge(&mut self) -> bool {
        let mut found = false;
        for node in self.solution.graph.order.clone() {
            let Some(condition) = self.flow.nodes[node as usize].condition else { continue };
            let is_varying = self.solution.at(condition, node).is_some_and(|s| !s.is_uniform());
            if !is_varying || std::mem::replace(&mut self.solution.diverges[node as usize], true) {
                continue;
            }
            found = true;
            let join = self.reconvergence_of(node);
            self.solution.reconvergence[node as usize] = join;
            let split = self.solution.graph.split(node, join);
            split.joins.iter().for_each(|join| self.is_join[*join as usize] = true);
            split.region.iter().for_each(|inside| self.solution.is_masked[*inside as usize] = true);
            let around: Vec<u32> = self.solution.loops.around(node).collect();
            for l in around {
                let mut reached = split.region.iter().chain(&join);
                let leaves = join.is_none() || !reached.all(|n| self.solution.loops.holds(l, *n));
                self.solution.leaves_apart[l as usize] |= leaves;
            }
        }
        found
    }

    /// The closest node at which all paths from a branch join, such that they stay in each loop
    /// around both: lanes that begin the next iteration of an outer loop would else come to the
    /// header of an inner one together with those that stayed in that.
    fn reconvergence_of(&self, node: u32) -> Option<u32> {
        let Solution { graph, loops, reconvergence, .. } = &self.solution;
        let mut join = reconvergence[node as usize];
        while let Some(at) = join {
            let region = graph.region(node, join);
            let is_closed = |l: u32| region.iter().all(|n| loops.holds(l, *n));
            if loops.around(node).filter(|l| loops.holds(*l, at)).all(is_closed) {
                break;
            }
            join = reconvergence[at as usize];
        }
        join
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow of nodes given as `(params, steps, condition, edges)`, with the `given` uniformity.
    type Text<'a> = (&'a [u32], &'a [(Rule, &'a [u32], u32)], Option<u32>, &'a [(u32, &'a [u32])]);

    fn flow(given: &[Option<Uniformity>], nodes: &[Text<'_>]) -> Flow {
        let node = |(params, steps, condition, edges): &Text<'_>| Node {
            params: params.to_vec(),
            steps: steps.iter().map(|(r, a, v)| Step { rule: *r, args: a.to_vec(), results: vec![*v] }).collect(),
            condition: *condition,
            edges: edges.iter().map(|(to, args)| Edge { to: *to, args: args.to_vec() }).collect(),
            is_mixed: false,
        };
        let constants = vec![None; given.len()];
        Flow { given: given.to_vec(), constants, nodes: nodes.iter().map(node).collect(), lanes: 8 }
    }

    const UNIFORM: Option<Uniformity> = Some(Uniformity::UNIFORM);
    const VARYING: Option<Uniformity> = Some(Uniformity::Varying);

    fn solved(flow: &Flow) -> Solution {
        solve(flow, |_, _| Vec::new())
    }

    #[test]
    fn a_value_joined_after_a_branch_that_diverges_is_varying() {
        for (condition, joined) in [(UNIFORM, UNIFORM), (VARYING, VARYING)] {
            let text: &[Text<'_>] = &[
                (&[], &[], Some(0), &[(1, &[]), (2, &[])]),
                (&[], &[], None, &[(3, &[1])]),
                (&[], &[], None, &[(3, &[2])]),
                (&[3], &[], None, &[]),
            ];
            let s = solved(&flow(&[condition, UNIFORM, UNIFORM, None], text));
            assert_eq!(s.values[3], joined);
            assert_eq!(s.is_masked, [false, condition == VARYING, condition == VARYING, false]);
        }
    }

    #[test]
    fn a_counter_is_uniform_in_a_loop_that_lanes_leave_apart_and_varying_after_it() {
        // v1 counts; v0 decides, together with it, when a lane leaves.
        let text: &[Text<'_>] = &[
            (&[], &[(Rule::Given(Uniformity::UNIFORM), &[], 4)], None, &[(1, &[4])]),
            (&[1], &[(Rule::Pure, &[1, 0], 2)], Some(2), &[(2, &[]), (3, &[])]),
            (&[], &[(Rule::Add, &[1, 4], 3)], None, &[(1, &[3])]),
            (&[], &[(Rule::Copy, &[1], 5)], None, &[]),
        ];
        let s = solved(&flow(&[VARYING, None, None, None, None, None], text));
        assert_eq!((s.values[1], s.at(1, 2), s.at(1, 3), s.values[5]), (UNIFORM, UNIFORM, VARYING, VARYING));
        assert_eq!(s.leaves_apart, [true]);
        let s = solved(&flow(&[UNIFORM, None, None, None, None, None], text));
        assert_eq!((s.at(1, 3), s.leaves_apart), (UNIFORM, vec![false]));
    }

    #[test]
    fn an_array_is_uniform_until_a_lane_stores_alone() {
        for (index, expected) in [(UNIFORM, UNIFORM), (VARYING, VARYING)] {
            let text: &[Text<'_>] = &[(&[], &[(Rule::Store, &[0, 1], 2), (Rule::Pure, &[1, 2], 3)], None, &[])];
            let s = solved(&flow(&[index, UNIFORM, UNIFORM, None], text));
            assert_eq!((s.values[2], s.values[3]), (expected, expected));
        }
    }

    #[test]
    fn lanes_of_different_times_have_nothing_in_common() {
        let text: &[Text<'_>] = &[(&[], &[], None, &[(1, &[0])]), (&[1], &[], None, &[])];
        let mut f = flow(&[UNIFORM, None], text);
        assert_eq!(solved(&f).values[1], UNIFORM);
        f.nodes[1].is_mixed = true;
        assert_eq!(solved(&f).values[1], VARYING);
    }

    #[test]
    fn all_is_varying_where_control_flow_is_irreducible() {
        let text: &[Text<'_>] = &[
            (&[], &[], Some(0), &[(1, &[]), (2, &[])]),
            (&[], &[], Some(0), &[(2, &[]), (3, &[])]),
            (&[], &[], None, &[(1, &[])]),
            (&[], &[(Rule::Copy, &[0], 1)], None, &[]),
        ];
        let s = solved(&flow(&[UNIFORM, None], text));
        assert_eq!(s.values, [VARYING, VARYING]);
        assert_eq!(s.diverges, [true, true, false, false]);
    }
}
