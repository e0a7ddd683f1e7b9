//! Arithmetic as a list of steps: the operations of instructions, one component at a time.
//!
//! A [`Recorder`] takes arithmetic instructions and appends equivalent steps, in an order in which
//! no component is overwritten before it is read; where no order allows that, results go through
//! temporary columns. It resolves registers to columns, collects constants and literals in a pool,
//! and returns the tests of conditions. It knows neither control flow nor how a step is computed
//! ([`super::arith`]).

use super::arith::{Kernels, Mode};
use super::column;
use super::isa::{
    Arith, Component, Condition, DstReg, IsaError, Mask, Multiplier, Op, OpClass, Ranges, Reg, STACK_WINDOW, Scale,
    SpecialOp, Split, Src, Swizzle,
};
use std::collections::HashMap;
use std::ops::Range;
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
    fn stack(column: u16) -> Slot {
        Slot(u32::from(column) | Slot::STACK)
    }

    /// An entry of the pool.
    fn pool(index: u32) -> Slot {
        Slot(index | Slot::POOL)
    }

    /// A component of the register whose first component this is.
    fn component(self, c: Component) -> Slot {
        Slot(self.0 + c.index() as u32)
    }

    /// True if it moves with the window.
    #[inline(always)]
    pub fn is_on_stack(self) -> bool {
        self.0 & Slot::STACK != 0
    }

    /// Where it is, with a pool of `pool` columns.
    pub fn place(self, pool: usize) -> Place {
        Place::of(self.column(pool), pool)
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
pub(super) enum Place {
    Pool(usize),
    Column(u16),
}

impl Place {
    fn of(column: usize, pool: usize) -> Place {
        column.checked_sub(pool).map_or(Place::Pool(column), |column| Place::Column(column as u16))
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
    pub fn source(&self, source: usize, pool: usize) -> Place {
        Place::of(self.from(source), pool)
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

    /// Computes in another mode from now on.
    pub fn set_mode(&mut self, mode: Mode) {
        self.moved.iter_mut().for_each(|list| *list = OnceLock::new());
        self.list.iter_mut().for_each(|step| step.kernels = mode.kernels(step.task, step.modify));
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

/// Steps of a program, at most: 704 MiB. A word of the binary form can make eight.
const MAX_STEPS: usize = 1 << 23;
/// Constants and literals of a program, at most: 64 MiB in each block.
const MAX_POOL: usize = 1 << 18;

/// Turns arithmetic instructions into steps.
pub(super) struct Recorder {
    mode: Mode,
    /// The steps, with slots in place of columns.
    steps: Vec<Step>,
    pool: Vec<Uniform>,
    slots: HashMap<Uniform, Slot>,
}

impl Recorder {
    /// A recorder of steps for a mode.
    pub fn new(mode: Mode) -> Recorder {
        Recorder { mode, steps: Vec::new(), pool: Vec::new(), slots: HashMap::new() }
    }

    /// True if the program so far is not too large.
    ///
    /// # Errors
    /// An error that names what there is too much of.
    pub fn check_size(&self) -> Result<(), IsaError> {
        self.check_within(MAX_STEPS, MAX_POOL)
    }

    fn check_within(&self, steps: usize, pool: usize) -> Result<(), IsaError> {
        if self.steps.len() > steps {
            return Err(IsaError::TooManySteps(steps));
        }
        if self.pool.len() > pool { Err(IsaError::TooManyLiterals(pool)) } else { Ok(()) }
    }

    /// All steps.
    pub fn finish(self) -> Steps {
        let Recorder { steps: mut list, pool, .. } = self;
        list.iter_mut().for_each(|step| step.resolve(pool.len()));
        let reach = pool.len() + usize::from(column::STACK) + 4 * usize::from(STACK_WINDOW);
        let windows = MOVED_WINDOWS.min(MOVED_STEPS / list.len().max(1));
        Steps { list, moved: vec![OnceLock::new(); windows], pool: pool.into(), reach }
    }

    /// The columns of a source's positions.
    pub fn operand(&mut self, src: &Src) -> Operand {
        let (reg, swizzle, multiplier) = match *src {
            Src::Literal(bits) => {
                return Operand { slots: [self.uniform(Uniform::Literal(bits)); 4], multiplier: Multiplier::ONE };
            }
            Src::Reg { reg, swizzle, multiplier } => (reg, swizzle, multiplier),
        };
        let slot = match reg {
            Reg::C(n) => {
                let slots = swizzle.0.map(|c| self.uniform(Uniform::Constant(4 * n + c.index() as u8)));
                return Operand { slots, multiplier };
            }
            Reg::HitTri => return Operand { slots: [Slot::register(column::HIT_TRI); 4], multiplier },
            Reg::HitObj => return Operand { slots: [Slot::register(column::HIT_OBJ); 4], multiplier },
            Reg::R(n) => Slot::register(4 * u16::from(n)),
            Reg::I(n) => Slot::register(column::INPUT + 4 * u16::from(n)),
            Reg::Special => Slot::register(column::SPECIAL),
            Reg::A => Slot::register(column::ADDRESS),
            Reg::Hit => Slot::register(column::HIT),
            Reg::Stack(n) => Slot::stack(column::STACK + 4 * u16::from(n)),
        };
        Operand { slots: swizzle.0.map(|c| slot.component(c)), multiplier }
    }

    fn uniform(&mut self, uniform: Uniform) -> Slot {
        *self.slots.entry(uniform).or_insert_with(|| {
            self.pool.push(uniform);
            Slot::pool(self.pool.len() as u32 - 1)
        })
    }

    /// Appends an instruction; returns its steps and tests.
    pub fn arith(&mut self, arith: &Arith, condition: Option<Condition>) -> (Range<u32>, Option<Box<Tests>>) {
        let first = self.steps.len() as u32;
        let tested = condition.map_or(Mask::NONE, tested);
        let results = self.record(arith, None, tested);
        let tests = condition.and_then(|condition| tests(condition, &[(arith, Mask::XYZW, results)]));
        (first..self.steps.len() as u32, tests)
    }

    /// The same for a split.
    pub fn split(&mut self, split: &Split, condition: Option<Condition>) -> (Range<u32>, Option<Box<Tests>>) {
        let start = self.steps.len() as u32;
        let [one, two] = split.halves();
        let [of_one, of_two] = [split.kind.first(), split.kind.second()];
        let tested = condition.map_or(Mask::NONE, tested);
        let [tested_one, tested_two] = [tested.intersection(of_one), tested.intersection(of_two)];
        let (first, second);
        if !reads(two, one) {
            first = self.record(one, None, tested_one);
            second = self.record(two, None, tested_two);
        } else if !reads(one, two) {
            second = self.record(two, None, tested_two);
            first = self.record(one, None, tested_one);
        } else {
            let hidden = Slot::register(column::HALF);
            first = self.record(one, Some(hidden), tested_one);
            second = self.record(two, None, tested_two);
            let to = destination(one.dst.reg);
            one.dst.mask.components().for_each(|c| self.copy(hidden.component(c), to.component(c)));
        }
        let halves = [(one, of_one, first), (two, of_two, second)];
        let tests = condition.and_then(|condition| tests(condition, &halves));
        (start..self.steps.len() as u32, tests)
    }

    /// Appends the steps of an operation, which writes to its destination or to a temporary;
    /// returns the columns of the result's components that are written or tested.
    fn record(&mut self, arith: &Arith, hidden: Option<Slot>, tested: Mask) -> [Slot; 4] {
        let mask = arith.dst.mask;
        let special = if arith.special.is_some() { Mask::W } else { Mask::NONE };
        let needed = mask.union(special).union(tested);
        let aside = if reads_written(arith, needed) { needed } else { needed.without(mask) };
        let to = hidden.unwrap_or(destination(arith.dst.reg));
        let results = Component::ALL.map(|c| {
            let register = if aside.contains(c) { Slot::register(column::RESULT) } else { to };
            register.component(c)
        });
        let itself = Src::reg(Reg::from(arith.dst.reg));
        let direct = hidden.is_none() && !arith.sat && arith.special.is_none() && aside.is_empty();
        if direct && arith.op == Op::Mov && arith.src[0] == itself {
            return results;
        }
        let operands = arith.src.map(|src| self.operand(&src));
        self.compute(arith, &operands[..arith.op.arity()], needed, &results);
        if let Some(special) = arith.special {
            let to = Slot::register(column::SPECIAL);
            let value = results[Component::W.index()];
            self.for_each(
                mask,
                |c| to.component(c),
                |recorder, to| {
                    recorder.push(Task::Special(special), to, &[value], &[]);
                },
            );
        }
        aside.intersection(mask).components().for_each(|c| self.copy(results[c.index()], to.component(c)));
        results
    }

    /// Computes the needed components of an operation's result, saturated if it says so.
    fn compute(&mut self, arith: &Arith, operands: &[Operand], needed: Mask, results: &[Slot; 4]) {
        let task = match arith.op {
            Op::Mov if operands[0].multiplier == Multiplier::ONE && !arith.sat && arith.special.is_none() => Task::Copy,
            op => Task::Op(op),
        };
        let saturate = |recorder: &mut Recorder, slot: Slot| {
            if arith.sat {
                recorder.push(Task::Saturate, slot, &[slot], &[]);
            }
        };
        if arith.op.class() == OpClass::Dot {
            let from: Vec<Slot> =
                Component::ALL.iter().flat_map(|c| operands.iter().map(|o| o.slots[c.index()])).collect();
            self.for_each(
                needed,
                |c| results[c.index()],
                |recorder, to| {
                    recorder.push(task, to, &from, operands);
                    saturate(recorder, to);
                },
            );
            return;
        }
        for c in needed.components() {
            let from: Vec<Slot> = operands.iter().map(|o| o.slots[c.index()]).collect();
            self.push(task, results[c.index()], &from, operands);
            saturate(self, results[c.index()]);
        }
    }

    /// Computes the first component of a set, and copies it to the others.
    fn for_each(&mut self, set: Mask, slot: impl Fn(Component) -> Slot, compute: impl FnOnce(&mut Recorder, Slot)) {
        let mut slots = set.components().map(slot);
        let Some(first) = slots.next() else { return };
        compute(self, first);
        slots.for_each(|to| self.copy(first, to));
    }

    fn copy(&mut self, from: Slot, to: Slot) {
        self.push(Task::Copy, to, &[from], &[]);
    }

    fn push(&mut self, task: Task, to: Slot, sources: &[Slot], operands: &[Operand]) {
        let modify = modify(task, operands);
        let mut from = [sources[0].0; SOURCES];
        from.iter_mut().zip(sources).for_each(|(to, source)| *to = source.0);
        let mut modifiers = [Modifier::from(Multiplier::ONE); 3];
        modifiers.iter_mut().zip(operands).for_each(|(to, operand)| *to = operand.multiplier.into());
        let kernels = self.mode.kernels(task, modify);
        self.steps.push(Step { kernels, to: to.0, from, modifiers, moving: 0, task, modify });
    }
}

/// The kind of modification that an operation's sources need.
fn modify(task: Task, operands: &[Operand]) -> Modify {
    if operands.iter().all(|o| o.multiplier == Multiplier::ONE) {
        Modify::Nothing
    } else if matches!(task, Task::Op(op) if op.reads_integers()) {
        Modify::Negate
    } else if operands.iter().all(|o| o.multiplier.scale == Scale::One) {
        Modify::Sign
    } else {
        Modify::Scale
    }
}

/// The first component of a register that is written.
fn destination(reg: DstReg) -> Slot {
    match reg {
        DstReg::R(n) => Slot::register(4 * u16::from(n)),
        DstReg::Stack(n) => Slot::stack(column::STACK + 4 * u16::from(n)),
        DstReg::A => Slot::register(column::ADDRESS),
    }
}

/// The components that a condition tests.
fn tested(condition: Condition) -> Mask {
    match condition {
        Condition::Always => Mask::NONE,
        Condition::Any(mask, _) | Condition::All(mask, _) => mask,
    }
}

/// The tests of a condition on operations, each with the components that it writes and the columns
/// of its result.
fn tests(condition: Condition, parts: &[(&Arith, Mask, [Slot; 4])]) -> Option<Box<Tests>> {
    let (all, mask, ranges) = match condition {
        Condition::Always => return None,
        Condition::Any(mask, ranges) => (false, mask, ranges),
        Condition::All(mask, ranges) => (true, mask, ranges),
    };
    let of_part = |&(arith, own, slots): &(&Arith, Mask, [Slot; 4])| {
        let integer = arith.op.writes_integer();
        let components = Component::ALL.into_iter().filter(move |&c| mask.intersection(own).contains(c));
        components.map(move |c| Test { slot: slots[c.index()], ranges, integer })
    };
    let each: Vec<Test> = parts.iter().flat_map(of_part).collect();
    Some(Box::new(Tests { all, each }))
}

/// True if an operation reads a register that another one writes.
fn reads(arith: &Arith, writer: &Arith) -> bool {
    arith.sources().iter().any(|src| match *src {
        Src::Reg { reg, .. } => reg == Reg::from(writer.dst.reg) || (reg == Reg::Special && writer.special.is_some()),
        Src::Literal(_) => false,
    })
}

/// True if a needed component of the result reads a component of the destination that is written
/// before it. `w` counts where only a special function or a condition needs it.
fn reads_written(arith: &Arith, needed: Mask) -> bool {
    let dst = Reg::from(arith.dst.reg);
    arith.op.class() != OpClass::Dot
        && arith.sources().iter().any(|src| match src {
            Src::Reg { reg, swizzle: Swizzle(from), .. } if *reg == dst => needed.components().any(|c| {
                let from = from[c.index()];
                from < c && arith.dst.mask.contains(from)
            }),
            Src::Reg { .. } | Src::Literal(_) => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Executable;
    use crate::isa::{Dst, Instr, Primary, Program};
    use crate::simd::InstructionSet;

    /// Copies a literal to components of `R0`.
    fn copy(literal: u32, mask: Mask) -> Arith {
        Arith::new(Op::Mov, Dst { reg: DstReg::R(0), mask }, &[Src::Literal(literal)])
    }

    #[test]
    fn components_that_a_program_computes_are_bounded() {
        let mut recorder = Recorder::new(Mode::F32(InstructionSet::detect()));
        let (steps, _) = recorder.arith(&copy(7, Mask::XYZW), None);
        assert_eq!(steps, 0..4);
        let pool = recorder.pool.len();
        assert_eq!(recorder.check_within(4, pool), Ok(()));
        assert_eq!(recorder.check_within(3, pool), Err(IsaError::TooManySteps(3)));
        assert_eq!(recorder.check_within(4, pool - 1), Err(IsaError::TooManyLiterals(pool - 1)));
        assert_eq!(MAX_STEPS, 8_388_608);
    }

    #[test]
    fn a_program_reads_at_most_262144_literals_and_constants() {
        let copies = (0..=262_144).map(|literal| Instr::Primary(Primary::Arith(copy(literal, Mask::W))));
        let program = Program { code: copies.collect(), ..Program::default() };
        assert_eq!(Executable::new(&program).err(), Some(IsaError::TooManyLiterals(262_144)));
    }
}
