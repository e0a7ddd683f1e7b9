//! Steps: the operations of instructions, one component at a time. A program's arithmetic is a list
//! of them, which its [recorder](crate::recorder) makes.
//!
//! A step has the numbers of its columns in the register file and the [`Kernels`] that compute it;
//! what kernels do is the [arithmetic](crate::arith)'s.

use crate::column;
use crate::isa::{Component, Multiplier, Op, Ranges, STACK_WINDOW, SpecialOp};
use crate::lanes::Column;
use std::sync::{Arc, OnceLock};

/// The column of a component: of a register, of the stack for the window at its bottom, or of the
/// pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(u32);

impl Slot {
    const STACK: u32 = 1 << 31;
    const POOL: u32 = 1 << 30;

    /// A column that is not on the stack.
    pub fn register(column: u16) -> Slot {
        Slot(column.into())
    }

    /// A column on the stack.
    pub fn stack(column: u16) -> Slot {
        Slot(u32::from(column) | Slot::STACK)
    }

    /// An entry of the pool.
    pub fn pool(index: u32) -> Slot {
        Slot(index | Slot::POOL)
    }

    /// A component of the register whose first component this is.
    pub fn component(self, c: Component) -> Slot {
        Slot(self.0 + c.index() as u32)
    }

    /// True if it moves with the window.
    #[inline(always)]
    pub fn is_on_stack(self) -> bool {
        self.0 & Slot::STACK != 0
    }

    /// Where it is, with a pool of `pool` columns.
    pub fn place(self, pool: usize) -> ValueLocation {
        ValueLocation::new(self.column(pool), pool)
    }

    /// The index of the column in a file that begins with a pool of `pool` columns, for the window
    /// at the stack's bottom.
    #[inline(always)]
    pub fn column(self, pool: usize) -> usize {
        let number = (self.0 & (Slot::POOL - 1)) as usize;
        if self.0 & Slot::POOL != 0 { number } else { number + pool }
    }
}

/// Where a value is: in the pool, or in a column of the registers and the stack, for the window at
/// the stack's bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueLocation {
    Pool(usize),
    Column(u16),
}

impl ValueLocation {
    fn new(column: usize, pool: usize) -> ValueLocation {
        column.checked_sub(pool).map_or(ValueLocation::Pool(column), |column| ValueLocation::Column(column as u16))
    }
}

/// A value that all lanes have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Uniform {
    /// A component of a constant register: its number among all.
    Constant(u8),
    /// A bit pattern.
    Literal(u32),
}

/// A source: the columns of its four positions, and their multiplier.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operand {
    pub slots: [Slot; 4],
    pub multiplier: Multiplier,
}

/// The computation of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// The pattern of its source.
    Copy,
    /// An operation. Those of dot products have sources `a.x, b.x, a.y, b.y` and so on.
    Op(Op),
    /// The source clamped to [0, 1].
    Saturate,
    /// A special function of its source.
    Special(SpecialOp),
}

/// The modifiers that a step's sources need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Modify {
    Nothing,
    /// Flip signs.
    Sign,
    /// Flip signs and scale.
    Scale,
    /// Negate integers.
    Negate,
}

/// A source's multiplier in the form in which it is applied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Modifier {
    /// The highest bit to negate.
    pub sign: u32,
    pub factor: f32,
}

impl From<Multiplier> for Modifier {
    fn from(Multiplier { negate, scale }: Multiplier) -> Modifier {
        Modifier { sign: u32::from(negate) << 31, factor: scale.factor() }
    }
}

/// Computes a step for the active lanes, in the file that begins at the given column.
///
/// # Safety
/// The file has the step's columns, and the CPU has the instruction set that the kernel is compiled
/// for.
pub(super) type Kernel = unsafe fn(*const Column, &Step, u64);

/// The functions that compute a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernels {
    /// For any mask.
    pub some: Kernel,
    /// For all lanes; ignores the mask.
    pub all: Kernel,
}

/// Most sources of a step.
const SOURCES: usize = 8;

/// One component of a result, ready to be computed.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub kernels: Kernels,
    /// The index of its column in the file, as are those of its sources.
    to: u32,
    from: [u32; SOURCES],
    /// Of each of the operation's sources.
    pub modifiers: [Modifier; 3],
    /// Which columns move with the stack window: bit 0 for the result's, then those of the sources.
    moving: u16,
    task: Task,
    modify: Modify,
}

impl Step {
    /// A step with slots in place of columns, until [`Steps::new`] resolves them.
    pub fn new(
        kernels: Kernels,
        (task, modify): (Task, Modify),
        to: Slot,
        sources: &[Slot],
        operands: &[Operand],
    ) -> Step {
        let mut from = [sources[0].0; SOURCES];
        from.iter_mut().zip(sources).for_each(|(to, source)| *to = source.0);
        let mut modifiers = [Modifier::from(Multiplier::ONE); 3];
        modifiers.iter_mut().zip(operands).for_each(|(to, operand)| *to = operand.multiplier.into());
        Step { kernels, to: to.0, from, modifiers, moving: 0, task, modify }
    }

    /// Resolves the slots that it was recorded with, now that the size of the pool is known.
    fn resolve(&mut self, pool: usize) {
        let columns = std::iter::once(&mut self.to).chain(&mut self.from);
        for (i, column) in columns.enumerate() {
            let slot = Slot(*column);
            self.moving |= u16::from(slot.is_on_stack()) << i;
            *column = slot.column(pool) as u32;
        }
    }

    /// The number of the result's column.
    #[inline(always)]
    pub fn to(&self) -> usize {
        self.to as usize
    }

    /// The number of a source's column.
    #[inline(always)]
    pub fn from(&self, source: usize) -> usize {
        self.from[source] as usize
    }

    /// The computation, and the modifiers of the sources.
    pub fn task(&self) -> (Task, Modify) {
        (self.task, self.modify)
    }

    /// The number of its sources.
    pub fn arity(&self) -> usize {
        match self.task {
            Task::Copy | Task::Saturate | Task::Special(_) => 1,
            Task::Op(Op::Dp2h) => 5,
            Task::Op(Op::Dp3) => 6,
            Task::Op(Op::Dp3h) => 7,
            Task::Op(Op::Dp4) => 8,
            Task::Op(op) => op.arity(),
        }
    }

    /// Where a source is, with a pool of `pool` columns.
    pub fn source(&self, source: usize, pool: usize) -> ValueLocation {
        ValueLocation::new(self.from(source), pool)
    }

    /// The column of the result, with a pool of `pool` columns.
    pub fn target(&self, pool: usize) -> u16 {
        (self.to() - pool) as u16
    }

    /// The same for a window `window` columns above the stack's bottom.
    pub fn moved(&self, window: usize) -> Step {
        let mut step = self.clone();
        let columns = std::iter::once(&mut step.to).chain(&mut step.from);
        for (i, column) in columns.enumerate() {
            *column += u32::from(self.moving >> i & 1) * window as u32;
        }
        step
    }
}

/// All arithmetic of a program.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    pub list: Vec<Step>,
    /// The constants and literals that the program reads: the first columns of the file.
    pub pool: Arc<[Uniform]>,
    /// The list for windows above the stack's bottom, made when one is first needed.
    moved: Vec<OnceLock<Vec<Step>>>,
    /// The least number of columns in a file while the window is at the stack's bottom: no step's
    /// column lies beyond.
    reach: usize,
}

/// Steps that are kept for windows above the stack's bottom, at most: 23 MiB.
const MOVED_STEPS: usize = 1 << 18;
/// Windows for which they are kept, at most.
const MOVED_WINDOWS: usize = 64;

impl Steps {
    /// The steps of a program in their order, and what their slots in the pool hold.
    pub fn new(mut list: Vec<Step>, pool: Vec<Uniform>) -> Steps {
        list.iter_mut().for_each(|step| step.resolve(pool.len()));
        let reach = pool.len() + usize::from(column::STACK) + 4 * usize::from(STACK_WINDOW);
        let windows = MOVED_WINDOWS.min(MOVED_STEPS / list.len().max(1));
        Steps { list, moved: vec![OnceLock::new(); windows], pool: pool.into(), reach }
    }

    /// The least number of columns in a file for a window `window` columns above the stack's
    /// bottom.
    #[inline(always)]
    pub fn reach(&self, window: usize) -> usize {
        self.reach + window
    }

    /// The list for a window `window` columns above the stack's bottom, if lists are kept for it.
    #[inline(always)]
    pub fn moved(&self, window: usize) -> Option<&[Step]> {
        if window == 0 {
            return Some(&self.list);
        }
        let make = || self.list.iter().map(|step| step.moved(window)).collect();
        self.moved.get(window / 4 - 1).map(|list| list.get_or_init(make).as_slice())
    }

    /// Computes every step with other kernels from now on.
    pub fn set_kernels(&mut self, kernels: impl Fn(Task, Modify) -> Kernels) {
        self.moved.iter_mut().for_each(|list| *list = OnceLock::new());
        self.list.iter_mut().for_each(|step| step.kernels = kernels(step.task, step.modify));
    }
}

/// A condition on results.
#[derive(Debug, Clone)]
pub(super) struct Tests {
    /// True if all must hold, not one.
    pub all: bool,
    pub each: Vec<Test>,
}

/// A test of one component.
#[derive(Debug, Clone, Copy)]
pub(super) struct Test {
    pub slot: Slot,
    pub ranges: Ranges,
    pub integer: bool,
}
