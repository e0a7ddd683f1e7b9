//! Which columns of the block hold a value that is read later.
//!
//! A column counts as read by everything that leaves the function: its callers, its callees and
//! the threads' owner may read any.

use super::functions::{Block, Function};
use crate::column;
use crate::decode::{DecodedControl, DecodedInstr, DecodedProgram, Work};
use crate::isa::STACK_WINDOW;
use crate::step::{Operand, Step, ValueLocation};

/// Columns from `R0.x` to the top of the stack window.
pub(super) const COLUMNS: u16 = column::STACK + 4 * STACK_WINDOW as u16;

const WORDS: usize = (COLUMNS as usize).div_ceil(64);

/// Rounds over a function until nothing changes: one more than its loops are nested. A program
/// whose jumps back form a long chain would need as many as it has jumps; all is live in it.
const MOST_ROUNDS: usize = 64;

/// A set of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Columns([u64; WORDS]);

impl Columns {
    /// All but the temporaries of single instructions.
    pub fn all() -> Columns {
        let mut all = Columns::default();
        (0..COLUMNS).filter(|c| !(column::RESULT..column::STACK).contains(c)).for_each(|c| all.insert(c));
        all
    }

    pub fn insert(&mut self, column: u16) {
        self.0[usize::from(column) / 64] |= 1 << (column % 64);
    }

    pub fn remove(&mut self, column: u16) {
        self.0[usize::from(column) / 64] &= !(1 << (column % 64));
    }

    pub fn contains(&self, column: u16) -> bool {
        self.0[usize::from(column) / 64] >> (column % 64) & 1 != 0
    }

    pub fn union(mut self, other: Columns) -> Columns {
        self.0.iter_mut().zip(other.0).for_each(|(to, from)| *to |= from);
        self
    }
}

/// The columns live before each instruction of a block, and after the last.
pub(super) type LiveInBlock = Vec<Columns>;

/// The live columns of a function.
pub(super) struct Liveness {
    /// Before each block.
    pub before: Vec<Columns>,
}

/// The columns of a step's sources.
pub(super) fn sources(step: &Step, pool: usize) -> impl Iterator<Item = u16> + '_ {
    (0..step.arity()).filter_map(move |n| match step.source(n, pool) {
        ValueLocation::Pool(_) => None,
        ValueLocation::Column(c) => Some(c),
    })
}

/// The columns of some positions of an operand.
pub(super) fn operand_columns(operand: &Operand, positions: usize, pool: usize) -> impl Iterator<Item = u16> + '_ {
    operand.slots[..positions].iter().filter_map(move |slot| match slot.place(pool) {
        ValueLocation::Pool(_) => None,
        ValueLocation::Column(c) => Some(c),
    })
}

/// The columns that an instruction's work reads besides arithmetic, and those that it writes.
pub(super) fn effects(work: &Work, pool: usize) -> (Columns, Columns) {
    let (mut reads, mut writes) = (Columns::default(), Columns::default());
    let mut read =
        |operand: &Operand, positions| operand_columns(operand, positions, pool).for_each(|c| reads.insert(c));
    match work {
        Work::Nothing | Work::Arith { .. } => {}
        Work::Trace([orig, dir, arg]) => {
            read(orig, 3);
            read(dir, 3);
            read(arg, 4);
            (column::HIT..column::RESULT).for_each(|c| writes.insert(c));
        }
        Work::Load { to, count, base, .. } => {
            (*to..to + 4 * count).for_each(|c| writes.insert(c));
            reads.insert(*base);
        }
        Work::Store { base, src, .. } => {
            read(src, 4);
            reads.insert(*base);
        }
        Work::TexLoad { to, coord, .. } => {
            read(coord, 2);
            (*to..to + 4).for_each(|c| writes.insert(c));
        }
        Work::TexStore { coord, src, .. } => {
            read(coord, 2);
            read(src, 4);
        }
    }
    (reads, writes)
}

/// The columns that are live between an instruction's work and its control operation, given those
/// that are live where it falls through or jumps.
pub(super) fn after_work(instr: &DecodedInstr, after: Columns) -> Columns {
    match instr.flow.control() {
        Some(DecodedControl::Return | DecodedControl::Call { .. } | DecodedControl::CallReg { .. }) => {
            Columns::all().union(after)
        }
        Some(DecodedControl::Jmp(_)) | None => after,
    }
}

/// The columns that are live before an instruction, given those that are live after it.
fn before(program: &DecodedProgram, instr: &DecodedInstr, after: Columns) -> Columns {
    let pool = program.steps.pool.len();
    let mut live = after_work(instr, after);
    if let Work::Arith { steps, tests } = &instr.work {
        for test in tests.iter().flat_map(|tests| &tests.each) {
            if let ValueLocation::Column(c) = test.slot.place(pool) {
                live.insert(c);
            }
        }
        for step in program.steps.list[steps.start as usize..steps.end as usize].iter().rev() {
            live.remove(step.target(pool));
            sources(step, pool).for_each(|c| live.insert(c));
        }
        return live;
    }
    let (reads, writes) = effects(&instr.work, pool);
    live.0.iter_mut().zip(writes.0).for_each(|(live, written)| *live &= !written);
    live.union(reads)
}

impl Liveness {
    /// Of a function.
    pub fn new(program: &DecodedProgram, function: &Function) -> Liveness {
        let mut liveness = Liveness { before: vec![Columns::default(); function.blocks.len()] };
        for _ in 0..MOST_ROUNDS {
            let mut changed = false;
            for (i, block) in function.blocks.iter().enumerate().rev() {
                let live = liveness.in_block(program, function, block)[0];
                changed |= live != liveness.before[i];
                liveness.before[i] = live;
            }
            if !changed {
                return liveness;
            }
        }
        liveness.before.fill(Columns::all());
        liveness
    }

    /// The columns that are live before the block at an address; all, where there is none.
    pub fn at(&self, function: &Function, start: u32) -> Columns {
        function.block_at(start).map_or(Columns::all(), |block| self.before[block])
    }

    /// The columns that are live before each instruction of a block, and after the last.
    pub fn in_block(&self, program: &DecodedProgram, function: &Function, block: &Block) -> LiveInBlock {
        let mut live = match program.code[block.end as usize - 1].flow.never_falls_through() {
            true => Columns::default(),
            false => self.at(function, block.end),
        };
        let mut all = vec![live];
        for instr in program.code[block.start as usize..block.end as usize].iter().rev() {
            if let Some(target) = instr.flow.jump_target() {
                live = live.union(self.at(function, target));
            }
            live = before(program, instr, live);
            all.push(live);
        }
        all.reverse();
        all
    }
}
