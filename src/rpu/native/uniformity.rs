//! The values that the lanes of a function have in common, as far as the program shows it: the
//! addresses of loads and stores, and the conditions of jumps.
//!
//! A function is described as a flow of the uniformity analysis ([`shadewright_base::uniformity`]):
//! columns become values in SSA form. What a function is called with is varying, and so is what its
//! callees leave; constants are uniform, and what is computed of them alone. Lanes reconverge as
//! the solver expects where each jump to a lower address leads to the header of a natural loop
//! around it; other functions are not described. In a function at an entry point, threads that
//! start in lanes that others have left join those at the header of the last loop.

use super::functions::Function;
use super::liveness::{self, COLUMNS, Liveness};
use crate::column;
use crate::decode::{DecodedControl, DecodedInstr, DecodedProgram, Flow as Control, Work};
use crate::isa::Op;
use crate::limits::SCRATCH_BASE;
use crate::step::{Modify, Step as Arithmetic, Task, Uniform, ValueLocation};
use shadewright_base::uniformity::{Edge, Flow, Node, Rule, Solution, Step, Uniformity, solve};
use std::collections::{BTreeMap, BTreeSet};

/// Nodes of a function that is described: each takes half a kilobyte.
const MOST_NODES: usize = 1 << 12;

/// The value of columns of which nothing is known; those of the pool follow.
const UNKNOWN: u32 = 0;

/// The facts that are known of a function's instructions, by their addresses.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Known {
    /// Loads and stores with the same address in all lanes.
    pub addresses: BTreeSet<u32>,
    /// Jumps, calls and returns that all lanes take, or none.
    pub branches: BTreeSet<u32>,
}

impl Known {
    /// The facts that are known of a function; none, where it cannot be described.
    pub(super) fn new(program: &DecodedProgram, function: &Function, liveness: &Liveness) -> Known {
        let mut builder = Builder::new(program, function, liveness);
        if builder.starts.len() > MOST_NODES {
            return Known::default();
        }
        builder.build();
        let solution = solve(&builder.flow, |_, _| Vec::new());
        if !builder.is_in_order(&solution) {
            return Known::default();
        }
        let is_uniform = |(_, (node, value)): &(&u32, &(u32, u32))| {
            // Nodes that nothing reaches have no uniformity.
            solution.at(*value, *node).is_some_and(Uniformity::is_uniform)
        };
        let addresses = builder.addresses.iter().filter(is_uniform).map(|(pc, _)| *pc).collect();
        let branches = builder.conditions.iter().filter(is_uniform).map(|(pc, _)| *pc).collect();
        Known { addresses, branches }
    }
}

/// Describes a function.
struct Builder<'p> {
    program: &'p DecodedProgram,
    function: &'p Function,
    liveness: &'p Liveness,
    flow: Flow,
    /// The first addresses of the nodes. The last node is the function's end.
    starts: Vec<u32>,
    /// The value of each column at the end of each node that has been described.
    ends: Vec<Option<Vec<u32>>>,
    /// The columns of each node's parameters.
    params: Vec<Vec<u16>>,
    /// The nodes and values of addresses and conditions, by the addresses of instructions.
    addresses: BTreeMap<u32, (u32, u32)>,
    conditions: BTreeMap<u32, (u32, u32)>,
}

impl<'p> Builder<'p> {
    fn new(program: &'p DecodedProgram, function: &'p Function, liveness: &'p Liveness) -> Self {
        let mut starts = BTreeSet::new();
        for block in &function.blocks {
            starts.insert(block.start);
            let controls = (block.start..block.end).filter(|pc| program.code[*pc as usize].flow.control().is_some());
            starts.extend(controls.map(|pc| pc + 1).filter(|pc| *pc < block.end));
        }
        let starts: Vec<u32> = starts.into_iter().collect();
        let count = starts.len();
        let mut builder = Builder {
            program,
            function,
            liveness,
            flow: Flow { lanes: 1, ..Flow::default() },
            starts,
            ends: vec![None; count],
            params: vec![Vec::new(); count],
            addresses: BTreeMap::new(),
            conditions: BTreeMap::new(),
        };
        builder.value(Some(Uniformity::Varying), None);
        for uniform in program.steps.pool.iter() {
            let literal = if let Uniform::Literal(bits) = uniform { Some(*bits) } else { None };
            builder.value(Some(literal.map_or(Uniformity::UNIFORM, Uniformity::constant)), literal);
        }
        builder
    }

    fn value(&mut self, given: Option<Uniformity>, constant: Option<u32>) -> u32 {
        self.flow.given.push(given);
        self.flow.constants.push(constant);
        self.flow.given.len() as u32 - 1
    }

    fn node_at(&self, pc: u32) -> Option<u32> {
        self.starts.binary_search(&pc).ok().map(|node| node as u32)
    }

    /// The instructions of a node.
    fn range(&self, node: usize) -> std::ops::Range<u32> {
        let start = self.starts[node];
        let block = self.function.blocks.partition_point(|b| b.start <= start) - 1;
        let end = self.function.blocks[block].end;
        start..self.starts.get(node + 1).map_or(end, |next| end.min(*next))
    }

    /// Where a node leads to: the other way of a condition first.
    fn targets(&self, node: usize) -> Vec<u32> {
        let end = self.starts.len() as u32;
        let range = self.range(node);
        let flow = self.program.code[range.end as usize - 1].flow;
        let next = self.node_at(range.end).unwrap_or(end);
        let to = |control: DecodedControl| match control {
            DecodedControl::Jmp(target) => self.node_at(target).unwrap_or(end),
            DecodedControl::Return => end,
            DecodedControl::Call { .. } | DecodedControl::CallReg { .. } => next,
        };
        match flow {
            Control::Next => vec![next],
            Control::Always(control) => vec![to(control)],
            Control::If(control) if to(control) == next => vec![next],
            Control::If(control) => vec![to(control), next],
        }
    }

    fn build(&mut self) {
        let count = self.starts.len();
        let entry = self.node_at(self.function.entry).unwrap_or(0) as usize;
        let own = self.function.entry;
        let starts_threads = own == 0 || self.program.entries.contains_key(&own);
        let last_loop = self.function.last_loop().filter(|_| starts_threads);
        let mixed = last_loop.map(|block| self.function.blocks[block].start);
        let mut successors: Vec<Vec<u32>> = (0..count).map(|node| self.targets(node)).collect();
        successors.push(Vec::new());
        // The entry is the first node of the graph: a node ahead of all leads to it.
        self.flow.nodes = vec![Node::default(); count + 2];
        let graph = shadewright_base::uniformity::Graph::new(
            std::iter::once(vec![entry as u32 + 1])
                .chain(successors.iter().map(|to| to.iter().map(|t| t + 1).collect()))
                .collect(),
        );
        self.flow.nodes[0].edges = vec![Edge { to: entry as u32 + 1, args: Vec::new() }];
        for at in graph.order.iter().filter(|n| **n > 0 && (**n as usize) <= count) {
            let node = *at as usize - 1;
            let before = &graph.predecessors[*at as usize];
            let one = if let [one] = before[..] { one.checked_sub(1) } else { None };
            let inherited = one.and_then(|one| self.ends[one as usize].clone());
            let start = inherited.unwrap_or_else(|| self.joined(node, node == entry));
            self.flow.nodes[node + 1].is_mixed = mixed == Some(self.starts[node]);
            self.describe(node, start);
            let edges = successors[node].iter().map(|to| Edge { to: to + 1, args: Vec::new() });
            self.flow.nodes[node + 1].edges = edges.collect();
        }
        self.pass();
    }

    /// The columns at a node that several lead to: each that is read later is a parameter. At the
    /// function's entry nothing is known.
    fn joined(&mut self, node: usize, is_entry: bool) -> Vec<u32> {
        let mut columns = vec![UNKNOWN; usize::from(COLUMNS)];
        if is_entry {
            return columns;
        }
        let live = self.liveness.at(self.function, self.starts[node]);
        let live: Vec<u16> = (0..COLUMNS).filter(|c| live.contains(*c)).collect();
        for &c in &live {
            columns[usize::from(c)] = self.value(None, None);
        }
        self.flow.nodes[node + 1].params = live.iter().map(|c| columns[usize::from(*c)]).collect();
        self.params[node] = live;
        columns
    }

    /// Gives each edge the values of its target's parameters.
    fn pass(&mut self) {
        for node in 0..self.starts.len() {
            let Some(columns) = &self.ends[node] else { continue };
            for edge in &mut self.flow.nodes[node + 1].edges {
                let params = self.params.get(edge.to as usize - 1);
                edge.args = params.into_iter().flatten().map(|c| columns[usize::from(*c)]).collect();
            }
        }
    }

    fn describe(&mut self, node: usize, mut columns: Vec<u32>) {
        let program = self.program;
        let range = self.range(node);
        for pc in range.clone() {
            let instr = &program.code[pc as usize];
            self.work(node, pc, instr, &mut columns);
            let condition = self.condition(node, instr, &columns);
            if let (Control::If(_), Some(condition)) = (instr.flow, condition) {
                self.conditions.insert(pc, (node as u32 + 1, condition));
                let parts = self.targets(node).len() > 1;
                self.flow.nodes[node + 1].condition = Some(condition).filter(|_| parts);
            }
            if let Some(DecodedControl::Call { push, .. } | DecodedControl::CallReg { push, .. }) = instr.flow.control()
            {
                // A callee's window begins after what is pushed.
                let kept = column::STACK + 4 * u16::from(push);
                let is_kept = |c: usize| (column::STACK..kept).contains(&(c as u16));
                columns.iter_mut().enumerate().filter(|(c, _)| !is_kept(*c)).for_each(|(_, value)| *value = UNKNOWN);
            }
        }
        self.ends[node] = Some(columns);
    }

    /// Describes the work of an instruction besides control.
    fn work(&mut self, node: usize, pc: u32, instr: &DecodedInstr, columns: &mut [u32]) {
        let pool = self.program.steps.pool.len();
        match &instr.work {
            Work::Arith { steps, .. } => {
                let program = self.program;
                for step in &program.steps.list[steps.start as usize..steps.end as usize] {
                    let args = (0..step.arity()).map(|n| source(step.source(n, pool), columns)).collect();
                    columns[usize::from(step.target(pool))] = self.step(node, rule(step), args);
                }
            }
            Work::Load { to, count, base, offset } => {
                let address = columns[usize::from(*base)];
                self.addresses.insert(pc, (node as u32 + 1, address));
                // Scratch memory is each lane's own: what is there is unknown.
                let literal =
                    self.flow.constants[address as usize].map(|bits| bits.wrapping_add_signed(i32::from(*offset)));
                let is_image = literal.is_some_and(|address| address < SCRATCH_BASE - 4);
                let uniformity = if is_image { Uniformity::UNIFORM } else { Uniformity::Varying };
                let loaded = self.step(node, Rule::Given(uniformity), Vec::new());
                columns[usize::from(*to)..usize::from(to + 4 * count)].fill(loaded);
            }
            Work::Store { base, .. } => {
                self.addresses.insert(pc, (node as u32 + 1, columns[usize::from(*base)]));
            }
            other => {
                let (_, writes) = liveness::effects(other, pool);
                (0..COLUMNS).filter(|c| writes.contains(*c)).for_each(|c| columns[usize::from(c)] = UNKNOWN);
            }
        }
    }

    /// The value that decides whether lanes take a control operation.
    fn condition(&mut self, node: usize, instr: &DecodedInstr, columns: &[u32]) -> Option<u32> {
        let Work::Arith { tests: Some(tests), .. } = &instr.work else { return None };
        let pool = self.program.steps.pool.len();
        let args = tests.each.iter().map(|test| source(test.slot.place(pool), columns)).collect();
        Some(self.step(node, Rule::Pure, args))
    }

    fn step(&mut self, node: usize, rule: Rule, args: Vec<u32>) -> u32 {
        let result = self.value(None, None);
        self.flow.nodes[node + 1].steps.push(Step { rule, args, results: vec![result] });
        result
    }

    /// True if each jump to a lower address leads back to the header of a loop around it.
    fn is_in_order(&self, solution: &Solution) -> bool {
        let loops = &solution.loops;
        let is_back = |from: u32, to: u32| {
            loops.all.iter().enumerate().any(|(l, one)| one.header == to && loops.holds(l as u32, from))
        };
        let edges = (1..=self.starts.len() as u32)
            .flat_map(|from| self.flow.nodes[from as usize].edges.iter().map(move |edge| (from, edge.to)));
        !loops.is_irreducible && edges.filter(|(from, to)| to <= from).all(|(from, to)| is_back(from, to))
    }
}

/// The value of a source.
fn source(place: ValueLocation, columns: &[u32]) -> u32 {
    match place {
        ValueLocation::Pool(n) => 1 + n as u32,
        ValueLocation::Column(c) => columns.get(usize::from(c)).copied().unwrap_or(UNKNOWN),
    }
}

/// The rule for the computation of a step.
fn rule(step: &Arithmetic) -> Rule {
    match step.task() {
        (Task::Copy, Modify::Nothing) => Rule::Copy,
        (Task::Op(Op::Iadd), Modify::Nothing) => Rule::Add,
        _ => Rule::Pure,
    }
}
