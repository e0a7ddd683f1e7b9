//! The recorder: makes the list of [steps](crate::step) of a program's arithmetic.
//!
//! A [`Recorder`] takes arithmetic instructions and appends equivalent steps, in an order in which
//! no component is overwritten before it is read; where no order allows that, results go through
//! temporary columns. It resolves registers to columns, collects constants and literals in a pool,
//! and returns the tests of conditions. It knows neither control flow nor how a step is computed.

use crate::arith::Mode;
use crate::column;
use crate::isa::{
    Arith, Component, Condition, DstReg, IsaError, Mask, Multiplier, Op, OpClass, Reg, Scale, Split, Src, Swizzle,
};
use crate::step::{Modify, Operand, Slot, Step, Steps, Task, Test, Tests, Uniform};
use std::collections::HashMap;
use std::ops::Range;

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
        Steps::new(self.steps, self.pool)
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
        let kernels = self.mode.kernels(task, modify);
        self.steps.push(Step::new(kernels, (task, modify), to, sources, operands));
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
