//! Dependency flags (Węgrzanowski 2006, §10, §13.6): finds for each instruction of a program the
//! earlier ones of its thread that must have finished before it may issue ([`Waits`]), given the
//! timing model's latencies; or checks the flags that a program has.
//!
//! An instruction waits for the results that it reads (read after write), and for those that it
//! overwrites where they could finish after its own (write after write). It never waits for a read
//! of what it writes (write after read): sources are read at issue. Flags change time, never
//! values.
//!
//! # Data flow
//!
//! For each component of each register, the analysis computes at which distances, counted in issued
//! instructions, its last writers may be still unfinished, along all paths through the code;
//! distances beyond [`Waits::MAX_DISTANCE`] are one. At the start of a function and after a call
//! nothing is known, and the first instruction that reads or writes a register waits for
//! everything. A wait completes the instructions at its distances for all registers. Latencies
//! matter only for the order of two writers.

use crate::isa::{Arith, Base, Component, Condition, Control, Instr, Mask, Primary, Program, Reg, Src, Waits};
use crate::latencies::Latencies;
use thiserror::Error;

/// Registers with dependencies: 16 general ones, 4 inputs, `S`, `A`, three of the hit, 8 of the
/// stack.
const ROWS: usize = 33;

/// An instruction that could issue before something that it depends on has finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("instruction {address} depends on earlier ones that its flags do not name: it must also wait for {missing:?}")]
pub struct Uncovered {
    /// The instruction.
    pub address: usize,
    /// The instructions that it would have to wait for in addition.
    pub missing: Waits,
}

/// The flags of a program. Registers in `junk` are never read after a write, so no instruction
/// waits for them.
pub fn flags(program: &Program, junk: &[Reg], latencies: &Latencies) -> Vec<Waits> {
    Flow::new(program, junk, latencies, None).needs()
}

/// Checks that the flags of a program cover what its instructions depend on. Flags that are not set
/// cover nothing.
///
/// # Errors
/// The first instruction that does not wait for something.
pub fn check(program: &Program, junk: &[Reg], latencies: &Latencies) -> Result<(), Uncovered> {
    let unset = vec![Waits::NONE; program.code.len()];
    let given = if program.waits.len() == program.code.len() { &program.waits } else { &unset };
    let needs = Flow::new(program, junk, latencies, Some(given)).needs();
    let missing = |(address, (need, given)): (usize, (&Waits, &Waits))| {
        (!given.covers(*need)).then_some(Uncovered { address, missing: Waits(need.0 & !given.0) })
    };
    needs.iter().zip(given).enumerate().find_map(missing).map_or(Ok(()), Err)
}

/// The last writers of a component that may not have finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Pending {
    /// Their distances.
    at: u16,
    /// The longest latency among them, in cycles.
    latency: u32,
}

impl Pending {
    const UNKNOWN: Pending = Pending { at: u16::MAX, latency: u32::MAX };

    fn join(&mut self, other: Pending) -> bool {
        let joined = Pending { at: self.at | other.at, latency: self.latency.max(other.latency) };
        std::mem::replace(self, joined) != joined
    }

    /// True if a result that is there after `latency` cycles could be there before these.
    fn outlasts(self, latency: u32) -> bool {
        self.at != 0 && self.latency > latency.saturating_add(self.at.trailing_zeros() + 1)
    }
}

/// The pending results in each component of each register at one point of the code.
type PendingResults = [[Pending; 4]; ROWS];

/// The registers that an instruction reads and writes.
struct Effect {
    reads: Vec<(usize, Mask)>,
    writes: Vec<(usize, Mask)>,
    latency: u32,
}

/// The analysis of one program.
struct Flow<'a> {
    program: &'a Program,
    effects: Vec<Effect>,
    /// Flags to assume; the needed ones where there are none.
    given: Option<&'a [Waits]>,
    /// For each instruction that starts a block, its block.
    block_at: Vec<Option<usize>>,
    /// The pending results where each block starts, once it is known to be reached.
    starts: Vec<Option<Box<PendingResults>>>,
}

impl<'a> Flow<'a> {
    fn new(program: &'a Program, junk: &[Reg], latencies: &Latencies, given: Option<&'a [Waits]>) -> Flow<'a> {
        let effects = program.code.iter().map(|instr| effect(instr, junk, latencies)).collect();
        let mut leaders = vec![false; program.code.len()];
        let mut lead = |address: usize| {
            if let Some(leader) = leaders.get_mut(address) {
                *leader = true;
            }
        };
        lead(0);
        program.entries.iter().for_each(|e| lead(e.address as usize));
        for (address, instr) in program.code.iter().enumerate() {
            if instr.control().is_some() {
                lead(address + 1);
            }
            instr.target().into_iter().for_each(|t| lead(t as usize));
        }
        let mut blocks = 0;
        let block_at = leaders
            .into_iter()
            .map(|leads| {
                blocks += usize::from(leads);
                leads.then(|| blocks - 1)
            })
            .collect();
        Flow { program, effects, given, block_at, starts: vec![None; blocks] }
    }

    /// The waits that every instruction needs; none where it is unreachable.
    fn needs(mut self) -> Vec<Waits> {
        let mut needs = vec![Waits::NONE; self.program.code.len()];
        let mut work = Vec::new();
        let roots: Vec<usize> = self.program.entries.iter().map(|e| e.address as usize).chain([0]).collect();
        for root in roots {
            self.enter(root, &[[Pending::UNKNOWN; 4]; ROWS], &mut work);
        }
        while let Some(start) = work.pop() {
            self.block(start, &mut needs, &mut work);
        }
        needs
    }

    /// Joins what may be pending into the state at the start of a block; a block whose state
    /// changes continues the worklist.
    fn enter(&mut self, address: usize, state: &PendingResults, work: &mut Vec<usize>) {
        let Some(block) = self.block_at.get(address).copied().flatten() else { return };
        let changed = match &mut self.starts[block] {
            Some(known) => known
                .iter_mut()
                .flatten()
                .zip(state.iter().flatten())
                .fold(false, |changed, (k, &s)| k.join(s) | changed),
            unknown => {
                *unknown = Some(Box::new(*state));
                true
            }
        };
        if changed {
            work.push(address);
        }
    }

    /// Propagates the state through a block.
    fn block(&mut self, start: usize, needs: &mut [Waits], work: &mut Vec<usize>) {
        let Some(mut state) = self.block_at[start].and_then(|b| self.starts[b].as_deref().copied()) else { return };
        for address in start..self.program.code.len() {
            if address > start && self.block_at[address].is_some() {
                return self.enter(address, &state, work);
            }
            let effect = &self.effects[address];
            let need = effect.needs(&state);
            needs[address] = need;
            let waits = self.given.map_or(need, |given| given[address]);
            effect.issue(&mut state, waits);
            let instr = &self.program.code[address];
            let Some(control) = instr.control() else { continue };
            let unknown = [[Pending::UNKNOWN; 4]; ROWS];
            let falls_through = matches!(instr.condition(), Some(Condition::Any(..) | Condition::All(..)));
            match control {
                Control::Jmp(target) => self.enter(target as usize, &state, work),
                Control::Call { target, .. } => {
                    self.enter(target as usize, &unknown, work);
                    self.enter(address + 1, &unknown, work);
                }
                Control::CallReg { .. } => self.enter(address + 1, &unknown, work),
                Control::Return => {}
            }
            if falls_through {
                self.enter(address + 1, &state, work);
            }
            return;
        }
    }
}

impl Effect {
    /// The waits that the instruction needs.
    fn needs(&self, state: &PendingResults) -> Waits {
        let pending = |list: &[(usize, Mask)], matters: &dyn Fn(Pending) -> bool| {
            let components = list.iter().flat_map(|&(row, mask)| mask.components().map(move |c| state[row][c.index()]));
            components.filter(|&p| matters(p)).fold(0, |all, p| all | p.at)
        };
        Waits(pending(&self.reads, &|_| true) | pending(&self.writes, &|p| p.outlasts(self.latency)))
    }

    /// Issues it after what it waits for.
    fn issue(&self, state: &mut PendingResults, waits: Waits) {
        for pending in state.iter_mut().flatten() {
            let at = pending.at & !waits.0;
            // Every distance grows by one; the last one includes all beyond.
            pending.at = at << 1 | at & 1 << Waits::MAX_DISTANCE;
            if pending.at == 0 {
                pending.latency = 0;
            }
        }
        for &(row, mask) in &self.writes {
            mask.components().for_each(|c| state[row][c.index()] = Pending { at: 1, latency: self.latency });
        }
    }
}

/// The row of a register; none for constants.
fn row(reg: Reg) -> Option<usize> {
    Some(match reg {
        Reg::R(n) => usize::from(n),
        Reg::I(n) => 16 + usize::from(n),
        Reg::Special => 20,
        Reg::A => 21,
        Reg::Hit => 22,
        Reg::HitTri => 23,
        Reg::HitObj => 24,
        Reg::Stack(n) => 25 + usize::from(n),
        Reg::C(_) => return None,
    })
}

fn effect(instr: &Instr, junk: &[Reg], latencies: &Latencies) -> Effect {
    let mut effect = Effect { reads: Vec::new(), writes: Vec::new(), latency: latencies.instruction(instr) };
    let tested = instr.condition().map_or(Mask::NONE, Condition::mask);
    match instr {
        Instr::Split(split, _) => {
            effect.arith(&split.first, tested.intersection(split.kind.first()));
            effect.arith(&split.second, tested.intersection(split.kind.second()));
        }
        _ => instr.ariths().for_each(|arith| effect.arith(arith, tested)),
    }
    match instr.primary() {
        Some(Primary::Trace { orig, dir, arg }) => {
            effect.read(orig, Mask::XYZ);
            effect.read(dir, Mask::XYZ);
            effect.read(arg, Mask::XYZW);
            [Reg::Hit, Reg::HitTri, Reg::HitObj].into_iter().for_each(|reg| effect.write(reg, Mask::XYZW));
        }
        Some(Primary::Load { to, base, .. }) => {
            effect.base(base);
            effect.write(Reg::I(to), Mask::XYZW);
        }
        Some(Primary::Load4 { base, .. }) => {
            effect.base(base);
            (0..4).for_each(|n| effect.write(Reg::I(n), Mask::XYZW));
        }
        Some(Primary::Store { base, src, .. }) => {
            effect.base(base);
            effect.read(src, Mask::XYZW);
        }
        Some(Primary::TexLoad { to, coord, .. }) => {
            effect.read(coord, Mask::from_bits(0b0011));
            effect.write(Reg::I(to), Mask::XYZW);
        }
        Some(Primary::TexStore { coord, src, .. }) => {
            effect.read(coord, Mask::from_bits(0b0011));
            effect.read(src, Mask::XYZW);
        }
        Some(Primary::Arith(_)) | None => {}
    }
    if let Some(Control::CallReg { reg, component, .. }) = instr.control() {
        effect.read(Src::component(reg, component), Mask::W);
    }
    let waited_for = |&(row_of, _): &(usize, Mask)| !junk.iter().any(|&reg| row(reg) == Some(row_of));
    effect.reads.retain(waited_for);
    effect.writes.retain(waited_for);
    effect
}

impl Effect {
    fn read(&mut self, src: Src, positions: Mask) {
        if let Src::Reg { reg, swizzle, .. } = src
            && let Some(row) = row(reg)
        {
            let read = positions.components().fold(Mask::NONE, |m, p| m.union(swizzle.0[p.index()].into()));
            self.reads.push((row, read));
        }
    }

    fn write(&mut self, reg: Reg, mask: Mask) {
        self.writes.extend(row(reg).map(|row| (row, mask)));
    }

    fn base(&mut self, base: Base) {
        match base {
            Base::A(c) => self.read(Src::component(Reg::A, c), Mask::from(Component::W)),
            Base::HitTri => self.read(Src::reg(Reg::HitTri), Mask::XYZW),
            Base::HitObj => self.read(Src::reg(Reg::HitObj), Mask::XYZW),
        }
    }

    fn arith(&mut self, arith: &Arith, tested: Mask) {
        let special = if arith.special.is_some() { Mask::W } else { Mask::NONE };
        let needed = arith.dst.mask.union(special).union(tested);
        for (i, &src) in arith.sources().iter().enumerate() {
            self.read(src, arith.op.positions(i, needed));
        }
        self.write(arith.dst.reg.into(), arith.dst.mask);
        if arith.special.is_some() {
            self.write(Reg::Special, arith.dst.mask);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asm::assemble;
    use crate::timed::Config;
    use shadewright_base::text::source::FileId;

    fn program(text: &str) -> Program {
        assemble(text, FileId(0)).unwrap_or_else(|e| panic!("{e:?}")).program
    }

    fn flags_of(text: &str, junk: &[Reg]) -> Vec<Waits> {
        flags(&program(text), junk, &Config::default().latencies)
    }

    fn at(distances: &[u32]) -> Waits {
        distances.iter().fold(Waits::NONE, |all, &d| all.union(Waits::at(d)))
    }

    #[test]
    fn a_reader_waits_for_the_writers_of_the_components_that_it_reads() {
        let waits =
            flags_of("mov R0, 1.0\nmov R1.x, 2.0\nmov R1.y, 3.0\nadd R2.x, R1.y, R0.x\nadd R3, R1.x, 1.0\nreturn", &[]);
        // Nothing is known at the start; the first instruction settles it.
        assert_eq!(waits, [Waits::ALL, Waits::NONE, Waits::NONE, at(&[1, 3]), at(&[3]), Waits::NONE]);
    }

    #[test]
    fn a_write_after_a_read_waits_for_nothing_and_one_after_a_slower_write_for_that() {
        let waits = flags_of("mov R0, 1.0\nmul R1, R0, R0\nmov R0, 2.0\nmul R2, R0, R0\nmov R2, 1.0\nreturn", &[]);
        assert_eq!(waits, [Waits::ALL, at(&[1]), Waits::NONE, at(&[1]), at(&[1]), Waits::NONE]);
    }

    #[test]
    fn no_instruction_waits_for_junk() {
        let text = "mov R0, 1.0\nmul R15, R0, R0\nmov R15, R0\nreturn";
        assert_eq!(flags_of(text, &[Reg::R(15)])[2], Waits::NONE);
        assert_eq!(flags_of(text, &[])[2], at(&[1]));
    }

    #[test]
    fn after_a_call_the_first_reader_waits_for_everything() {
        let waits = flags_of(
            "mov R0, 1.0 + call L0 push 0, always\nadd R1, R0, 1.0\nreturn\nL0:\nmov R0, R0 + return always",
            &[],
        );
        assert_eq!(waits, [Waits::ALL, Waits::ALL, Waits::NONE, Waits::ALL]);
    }

    #[test]
    fn distances_of_all_ways_into_a_loop_count_and_far_ones_are_one() {
        let filler = "mov R3, 1.0\n".repeat(14);
        let text = format!(
            "mov R0, 1.0\nload I0, A.w, 0\nL0:\nadd R1, I0, R0\n{filler}add R0.x, R1, 1.0 + jmp L0 and x (<0)\nreturn"
        );
        let waits = flags_of(&text, &[]);
        assert_eq!(waits[2], at(&[1, 2]));
        // R1 was written 15 slots earlier.
        assert_eq!(waits[17], at(&[15]));
        let text = format!("mov R0, 1.0\n{filler}mov R3, 1.0\nmov R3, 1.0\nadd R1, R0, R0\nreturn");
        assert_eq!(flags_of(&text, &[])[17], at(&[16]));
        assert!(at(&[16]).older());
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(64))]

        #[test]
        fn the_flags_that_are_found_cover_every_dependency(mut program in crate::arbitrary::any_program()) {
            let latencies = Config::default().latencies;
            program.waits = flags(&program, &[], &latencies);
            proptest::prop_assert_eq!(check(&program, &[], &latencies), Ok(()));
        }
    }

    #[test]
    fn flags_that_leave_out_a_dependency_are_refused() {
        let latencies = Config::default().latencies;
        let mut program = program("mov R0, 1.0\nmov R1, 2.0\nadd R2, R0, R1\nreturn");
        assert_eq!(check(&program, &[], &latencies).map_err(|e| e.address), Err(0));
        program.waits = flags(&program, &[], &latencies);
        assert_eq!(check(&program, &[], &latencies), Ok(()));
        program.waits[2] = at(&[2]);
        assert_eq!(check(&program, &[], &latencies), Err(Uncovered { address: 2, missing: at(&[1]) }));
        program.waits[2] = Waits::ALL;
        assert_eq!(check(&program, &[], &latencies), Ok(()), "waiting too long is not wrong");
    }
}
