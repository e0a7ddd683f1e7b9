//! The dependences between the instructions of a straight piece of code (Węgrzanowski 2006, §9,
//! §13.6): takes instructions on the RPU's registers, gives a graph whose edges say how many cycles
//! after one instruction another may issue.
//!
//! A read after a write waits for the result. A write after a read only keeps the order, and may
//! share a slot with it, since sources are read before anything is written. A write after a write
//! waits where the earlier result comes later. Writes to the junk register order nothing. It knows
//! nothing of slots and pairs.

use super::vcode::{MInst, MOp, PHYSICAL_NODES};
use shadewright_rpu::isa::Mask;

/// Number of cells: the components of the places that are tracked, and the thread's memory.
pub const CELLS: usize = 4 * PHYSICAL_NODES + 1;

/// The cell that stands for the thread's own memory.
const MEMORY: usize = CELLS - 1;

/// The cells of components of a node of [`super::vcode::RegisterOperand::node`].
pub fn cells(node: usize, mask: Mask) -> impl Iterator<Item = usize> {
    mask.components().map(move |c| 4 * node + c.index()).filter(|&cell| cell < MEMORY)
}

/// The cells that an instruction reads and writes.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Read, each once.
    pub reads: Vec<usize>,
    /// Written, each once.
    pub writes: Vec<usize>,
}

impl Access {
    /// The accesses of an instruction; `tested` are the positions that a paired condition looks at.
    pub fn new(inst: &MInst, tested: Mask) -> Access {
        let mut access = Access::default();
        inst.for_each_use(tested, |place, mask| {
            access.reads.extend(place.node().into_iter().flat_map(|n| cells(n, mask)));
        });
        inst.for_each_def(|place, mask| {
            access.writes.extend(place.node().into_iter().flat_map(|n| cells(n, mask)));
        });
        match inst.op {
            MOp::Load { scratch: true, .. } => access.reads.push(MEMORY),
            // Records stay in order as stores do.
            MOp::Store { .. } | MOp::Record { .. } => access.writes.push(MEMORY),
            _ => {}
        }
        for list in [&mut access.reads, &mut access.writes] {
            list.sort_unstable();
            list.dedup();
        }
        access
    }
}

/// An order between two instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The later instruction.
    pub to: usize,
    /// How many cycles after the earlier one it may issue; 0 where both may share a slot.
    pub delay: u32,
}

/// The orders among instructions. Edges go from lower to higher numbers.
#[derive(Clone, Debug)]
pub struct Graph {
    /// For each instruction, those that wait for it.
    pub successors: Vec<Vec<Edge>>,
    /// For each instruction, the number of those that it waits for.
    pub waiting: Vec<usize>,
    /// For each instruction, the cycle before which it has nothing to read.
    pub earliest: Vec<u32>,
}

impl Graph {
    /// Builds the graph. `latencies` are cycles from issue to result; `available` says for each
    /// cell in which cycle its value from before the piece can be read.
    pub fn new(accesses: &[Access], latencies: &[u32], available: &[u32]) -> Graph {
        let n = accesses.len();
        let mut last_write: Vec<Option<usize>> = vec![None; CELLS];
        let mut reads_since: Vec<Vec<usize>> = vec![Vec::new(); CELLS];
        let mut graph = Graph { successors: vec![Vec::new(); n], waiting: vec![0; n], earliest: vec![0; n] };
        // For the current instruction: whom it waits for, and how long.
        let mut before: Vec<(usize, u32)> = Vec::new();
        for (j, access) in accesses.iter().enumerate() {
            before.clear();
            for &cell in &access.reads {
                match last_write[cell] {
                    Some(i) => before.push((i, if cell == MEMORY { 1 } else { latencies[i] })),
                    None => graph.earliest[j] = graph.earliest[j].max(available[cell]),
                }
                reads_since[cell].push(j);
            }
            for &cell in &access.writes {
                before.extend(reads_since[cell].drain(..).filter(|&i| i != j).map(|i| (i, 0)));
                match last_write[cell].replace(j) {
                    Some(i) => before.push((i, if latencies[i] > latencies[j] { latencies[i] } else { 1 })),
                    None if available[cell] > latencies[j] => {
                        graph.earliest[j] = graph.earliest[j].max(available[cell]);
                    }
                    None => {}
                }
            }
            // One edge for each pair, with the longest delay.
            before.sort_unstable_by_key(|&(i, delay)| (i, std::cmp::Reverse(delay)));
            before.dedup_by_key(|(i, _)| *i);
            for &(i, delay) in &before {
                graph.successors[i].push(Edge { to: j, delay });
            }
            graph.waiting[j] = before.len();
        }
        graph
    }

    /// For each instruction, the cycles from its issue to the end of the longest chain of results
    /// that starts with it, where the piece ends when all `weights` after the issues are over.
    pub fn paths(&self, weights: &[u32]) -> Vec<u32> {
        let mut path = weights.to_vec();
        for i in (0..path.len()).rev() {
            let after = self.successors[i].iter().map(|e| path[e.to] + e.delay).max();
            path[i] = path[i].max(after.unwrap_or(0));
        }
        path
    }
}
