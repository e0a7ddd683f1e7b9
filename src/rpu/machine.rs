//! The functional machine: runs a program for a block of threads at a time.
//!
//! It takes an [`Executable`], the constants of a frame, a memory image and a [`Tracer`], and changes the registers of a
//! [`Block`]. It keeps no time; what it promises is the bits.
//!
//! # How threads of a block stay together
//!
//! A *group* is the lanes of a block with the same code address, call depth and stack window. One group runs at a time, all its
//! lanes with each instruction. Where a condition divides it, of all groups the one deepest in calls runs, then the lowest in code
//! address, until it meets or passes another: so groups meet again where their paths join. Lanes do not affect each
//! other, so the bits do not depend on which lanes share a block.
//!
//! # Memory
//!
//! Addresses below 2³¹ are vectors of the image, which is read only. From 2³¹ on, a thread has its own scratch memory; `A.w` starts with its
//! first address. It, like all registers and the stack, starts as zeros.

use super::arith::{self, Simd};
use super::block::{Block, Frame};
use super::decode::{DecodedControl, Executable, Flow, Operand, Work, column};
use super::isa::{Component, Reg};
use super::lanes::{BLOCK, Column, GROUP, GROUPS, Lanes, groups_of, lanes_of};
use super::tracing::{HitBlock, RayBlock, Tracer};
use std::sync::atomic::{AtomicBool, Ordering};
use thiserror::Error;

/// First address of a thread's scratch memory.
pub const SCRATCH_BASE: u32 = 1 << 31;

/// Bounds of a run, for each thread.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Backward jumps and calls.
    pub budget: u32,
    /// Calls that have not returned.
    pub call_depth: u32,
    /// Vectors of scratch memory.
    pub scratch: u32,
}

impl Default for Limits {
    /// A million backward jumps and calls, ten thousand calls deep, 16384 vectors (256 KiB) of scratch.
    fn default() -> Limits {
        Limits { budget: 1_000_000, call_depth: 10_000, scratch: 1 << 14 }
    }
}

/// Why a run ended early. `pc` is the code address of the instruction that could not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MachineError {
    /// A thread used up its budget of backward jumps and calls.
    #[error("instruction {pc}: the thread did not end within {budget} backward jumps and calls")]
    Budget {
        /// Where.
        pc: u32,
        /// The budget.
        budget: u32,
    },
    /// Too many calls without a return.
    #[error("instruction {pc}: calls are nested more than {limit} deep")]
    CallDepth {
        /// Where.
        pc: u32,
        /// The limit.
        limit: u32,
    },
    /// A call to an address outside the program, such as the shader of a miss.
    #[error("instruction {pc}: call to {target:#x}, which is outside the program")]
    BadCall {
        /// Where.
        pc: u32,
        /// The address.
        target: u32,
    },
    /// A store outside the thread's scratch memory.
    #[error("instruction {pc}: store to {address:#x}, outside the thread's scratch memory")]
    BadStore {
        /// Where.
        pc: u32,
        /// The address.
        address: u32,
    },
    /// The last instruction of the program did not jump or return.
    #[error("execution ran past the end of the program at {pc}")]
    PastEnd {
        /// The address after the last instruction.
        pc: u32,
    },
    /// Somebody raised the stop flag.
    #[error("the run was stopped")]
    Stopped,
}

/// What a run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunReport {
    /// Instructions issued, each for a group of lanes.
    pub issued: u64,
    /// Instructions times the lanes that they were issued for.
    pub executed: u64,
    /// Rays traced.
    pub rays: u64,
    /// Lanes that loaded from outside the image and their scratch memory; they got zeros.
    pub bad_loads: u64,
}

/// A program with what it runs on; shared by all threads of a frame.
#[derive(Clone, Copy)]
pub struct Machine<'a> {
    /// The program.
    pub program: &'a Executable,
    /// `C0` to `C31`.
    pub constants: &'a [[u32; 4]; 32],
    /// The memory image.
    pub memory: &'a [[u32; 4]],
    /// The code address of each shader number that the tracer can answer.
    pub shaders: &'a [u32],
    /// What traces rays.
    pub tracer: &'a dyn Tracer,
    /// Bounds on each thread.
    pub limits: Limits,
    /// When set, runs end with [`MachineError::Stopped`] at their next backward jump or call. A run that exceeds its budget sets it.
    pub stop: &'a AtomicBool,
}

impl Machine<'_> {
    /// Runs the threads in `active` from a code address until each has returned. Their registers start as the block has them:
    /// see [`Block::reset`]. Registers of other lanes do not change. After an error the registers are unspecified.
    pub fn run(&self, block: &mut Block, entry: u32, active: u64) -> Result<RunReport, MachineError> {
        block.begin();
        let constants: [u32; 128] = std::array::from_fn(|i| self.constants[i / 4][i % 4]);
        let start = Lockstep { mask: active, pc: entry, depth: 0, window: 0 };
        let mut run = Run {
            machine: self,
            block,
            constants,
            simd: Simd::detect(),
            current: start,
            waiting: Vec::new(),
            limit: u32::MAX,
            report: RunReport::default(),
        };
        run.finish()?;
        Ok(run.report)
    }

    /// Runs one thread from a code address with some of its registers set, each to four bit patterns, the others 0. The registers
    /// that it leaves are in lane 0 of the block.
    pub fn run_single(&self, entry: u32, registers: &[(Reg, [u32; 4])]) -> Result<(Block, RunReport), MachineError> {
        let mut block = Block::new();
        for (reg, values) in registers {
            for (component, bits) in Component::ALL.into_iter().zip(*values) {
                block.set(*reg, component, 0, bits);
            }
        }
        let report = self.run(&mut block, entry, 1)?;
        Ok((block, report))
    }
}

/// Lanes that run together.
#[derive(Debug, Clone, Copy)]
struct Lockstep {
    mask: u64,
    pc: u32,
    depth: u32,
    /// Bottom of the stack window.
    window: u32,
}

impl Lockstep {
    /// Which of two goes first: deepest in calls, then lowest code address; the window only tells groups apart.
    fn key(&self) -> (std::cmp::Reverse<u32>, u32, u32) {
        (std::cmp::Reverse(self.depth), self.pc, self.window)
    }
}

/// A run of a block.
struct Run<'m, 'b> {
    machine: &'m Machine<'m>,
    block: &'b mut Block,
    constants: [u32; 128],
    simd: Simd,
    current: Lockstep,
    waiting: Vec<Lockstep>,
    /// The lowest code address at which another group of the current depth waits.
    limit: u32,
    report: RunReport,
}

impl Run<'_, '_> {
    fn finish(&mut self) -> Result<(), MachineError> {
        let program = self.machine.program;
        while self.current.mask != 0 {
            let pc = self.current.pc;
            let Some(instr) = program.code.get(pc as usize) else { return Err(MachineError::PastEnd { pc }) };
            self.report.issued += 1;
            self.report.executed += u64::from(self.current.mask.count_ones());
            self.block.count(pc, self.current.mask);
            let passed = self.work(&instr.work)?;
            match instr.flow {
                Flow::Next => {
                    self.current.pc += 1;
                    if self.current.pc >= self.limit {
                        self.reschedule();
                    }
                }
                Flow::Always(control) => {
                    self.control(control)?;
                    self.reschedule();
                }
                Flow::If(control) => {
                    let stay = self.current.mask & !passed;
                    if passed == 0 {
                        self.current.pc += 1;
                        if self.current.pc >= self.limit {
                            self.reschedule();
                        }
                        continue;
                    }
                    if stay != 0 {
                        self.waiting_add(Lockstep { mask: stay, pc: pc + 1, ..self.current });
                        self.current.mask = passed;
                    }
                    self.control(control)?;
                    self.reschedule();
                }
            }
        }
        Ok(())
    }

    /// Does what an instruction does besides control; gives the lanes for which its condition holds.
    fn work(&mut self, work: &Work) -> Result<u64, MachineError> {
        let registers = self.block.registers(&self.constants, self.current.window);
        match work {
            Work::Nothing => {}
            Work::Arith(arith) => return Ok(arith::execute(self.simd, registers, arith, self.current.mask)),
            Work::Trace(sources) => self.trace(sources),
            Work::Load { to, count, base, offset } => self.load(*to, *count, *base, *offset),
            Work::Store { base, offset, src } => self.store(*base, *offset, src)?,
        }
        Ok(0)
    }

    /// Puts a group among those that wait, with those of its kind.
    fn waiting_add(&mut self, group: Lockstep) {
        match self.waiting.iter_mut().find(|w| w.key() == group.key()) {
            Some(waiting) => waiting.mask |= group.mask,
            None => self.waiting.push(group),
        }
    }

    /// Chooses the group that runs next.
    fn reschedule(&mut self) {
        if self.waiting.is_empty() {
            self.limit = u32::MAX;
            return;
        }
        if self.current.mask != 0 {
            self.waiting_add(self.current);
        }
        let first = (0..self.waiting.len()).min_by_key(|&i| self.waiting[i].key());
        if let Some(first) = first {
            self.current = self.waiting.swap_remove(first);
        }
        let same_depth = self.waiting.iter().filter(|w| w.depth == self.current.depth);
        self.limit = same_depth.map(|w| w.pc).min().unwrap_or(u32::MAX);
    }

    /// Moves the current group as a control operation says.
    fn control(&mut self, control: DecodedControl) -> Result<(), MachineError> {
        let pc = self.current.pc;
        match control {
            DecodedControl::Jmp(target) => {
                if target <= pc {
                    self.spend()?;
                }
                self.current.pc = target;
            }
            DecodedControl::Call { target, push } => {
                self.spend()?;
                self.push_frame(push)?;
                self.enter(self.current.mask, target, push);
            }
            DecodedControl::CallReg { address, push } => {
                self.spend()?;
                self.push_frame(push)?;
                self.call_register(&address, push)?;
            }
            DecodedControl::Return => self.leave(),
        }
        Ok(())
    }

    /// Counts a backward jump or call of the current lanes.
    fn spend(&mut self) -> Result<(), MachineError> {
        let (pc, budget) = (self.current.pc, self.machine.limits.budget);
        if self.machine.stop.load(Ordering::Relaxed) {
            return Err(MachineError::Stopped);
        }
        if self.block.spend(self.current.mask, budget) {
            self.machine.stop.store(true, Ordering::Relaxed);
            return Err(MachineError::Budget { pc, budget });
        }
        Ok(())
    }

    /// Records the return address and shift of a call.
    fn push_frame(&mut self, push: u8) -> Result<(), MachineError> {
        let Lockstep { mask, pc, depth, window } = self.current;
        let limit = self.machine.limits.call_depth;
        if depth >= limit {
            return Err(MachineError::CallDepth { pc, limit });
        }
        self.block.push_frame(depth, mask, Frame { pc: pc + 1, push }, window + u32::from(push));
        Ok(())
    }

    /// Makes the lanes in `mask` the current group, inside the called function.
    fn enter(&mut self, mask: u64, target: u32, push: u8) {
        let Lockstep { depth, window, .. } = self.current;
        self.current = Lockstep { mask, pc: target, depth: depth + 1, window: window + u32::from(push) };
    }

    /// Calls the function that each lane has in a register; lanes with different functions part.
    fn call_register(&mut self, address: &Operand, push: u8) -> Result<(), MachineError> {
        let caller = self.current;
        let registers = self.block.registers(&self.constants, caller.window);
        let targets = registers.read(address, 0).to_array();
        let mut rest = caller.mask;
        while rest != 0 {
            let target = targets[rest.trailing_zeros() as usize];
            if target as usize >= self.machine.program.code.len() {
                return Err(MachineError::BadCall { pc: caller.pc, target });
            }
            let same = lanes_of(rest).filter(|&lane| targets[lane] == target).fold(0, |m, lane| m | 1 << lane);
            rest &= !same;
            self.current = caller;
            self.enter(same, target, push);
            if rest != 0 {
                self.waiting_add(self.current);
            }
        }
        Ok(())
    }

    /// Returns the current lanes to their callers; those at depth 0 end.
    fn leave(&mut self) {
        let Lockstep { mask, depth, window, .. } = self.current;
        if depth == 0 {
            self.current.mask = 0;
            return;
        }
        let mut rest = mask;
        while rest != 0 {
            let (frame, same) = self.block.frame(depth - 1, rest);
            rest &= !same;
            self.current =
                Lockstep { mask: same, pc: frame.pc, depth: depth - 1, window: window - u32::from(frame.push) };
            if rest != 0 {
                self.waiting_add(self.current);
            }
        }
    }

    fn load(&mut self, to: u16, count: u16, base: u16, offset: i16) {
        let mask = self.current.mask;
        let offset = i32::from(offset) as u32;
        if let Some(base) = self.block.column(base).uniform(mask) {
            for i in 0..count {
                self.load_uniform(to + 4 * i, base.wrapping_add(offset).wrapping_add(u32::from(i)));
            }
            return;
        }
        for i in 0..count {
            for (k, bits) in groups_of(mask) {
                let addresses = self.block.column(base).group(k, GROUPS - 1);
                let mut vectors = [Lanes::ZERO; 4];
                for lane in (0..GROUP).filter(|lane| bits >> lane & 1 != 0) {
                    let address = addresses.0[lane].wrapping_add(offset).wrapping_add(u32::from(i));
                    let value = match self.machine.memory.get(address as usize) {
                        Some(value) if address < SCRATCH_BASE => *value,
                        _ => self.load_scratch(address, GROUP * k + lane),
                    };
                    for (c, word) in value.into_iter().enumerate() {
                        vectors[c].0[lane] = word;
                    }
                }
                for (c, lanes) in vectors.into_iter().enumerate() {
                    self.block.column(to + 4 * i + c as u16).write_group(k, lanes, bits);
                }
            }
        }
    }

    /// Loads one vector from the same address for all current lanes.
    fn load_uniform(&mut self, to: u16, address: u32) {
        let mask = self.current.mask;
        let value = match self.machine.memory.get(address as usize) {
            Some(value) if address < SCRATCH_BASE => *value,
            _ => match self.scratch_index(address).map(|index| self.block.scratch(index)) {
                Some(Some(vector)) => {
                    for (c, column) in vector.iter().enumerate() {
                        self.block.column(to + c as u16).copy_from(column, mask);
                    }
                    return;
                }
                Some(None) => [0; 4],
                None => {
                    self.report.bad_loads |= mask;
                    [0; 4]
                }
            },
        };
        for (c, bits) in value.into_iter().enumerate() {
            self.block.column(to + c as u16).fill_masked(bits, mask);
        }
    }

    /// A vector of a lane's scratch memory; zeros outside it.
    fn load_scratch(&mut self, address: u32, lane: usize) -> [u32; 4] {
        match self.scratch_index(address) {
            Some(index) => self.block.scratch(index).map_or([0; 4], |v| [0, 1, 2, 3].map(|c| v[c].get(lane))),
            None => {
                self.report.bad_loads |= 1 << lane;
                [0; 4]
            }
        }
    }

    /// The place in scratch memory of an address there.
    fn scratch_index(&self, address: u32) -> Option<usize> {
        let index = address.checked_sub(SCRATCH_BASE)?;
        (index < self.machine.limits.scratch).then_some(index as usize)
    }

    fn store(&mut self, base: u16, offset: i16, src: &Operand) -> Result<(), MachineError> {
        let Lockstep { mask, pc, window, .. } = self.current;
        let offset = i32::from(offset) as u32;
        let registers = self.block.registers(&self.constants, window);
        let values: [Column; 4] = std::array::from_fn(|c| registers.read(src, c));
        let address = |base: u32| base.wrapping_add(offset);
        let uniform = self.block.column(base).uniform(mask);
        if let Some(base) = uniform {
            let address = address(base);
            let index = self.scratch_index(address).ok_or(MachineError::BadStore { pc, address })?;
            for (to, from) in self.block.scratch_mut(index).iter().zip(&values) {
                to.copy_from(from, mask);
            }
            return Ok(());
        }
        let bases = self.block.column(base).to_array();
        for lane in lanes_of(mask) {
            let address = address(bases[lane]);
            let index = self.scratch_index(address).ok_or(MachineError::BadStore { pc, address })?;
            for (to, from) in self.block.scratch_mut(index).iter().zip(&values) {
                to.set(lane, from.get(lane));
            }
        }
        Ok(())
    }

    fn trace(&mut self, [orig, dir, arg]: &[Operand; 3]) {
        let mask = self.current.mask;
        let registers = self.block.registers(&self.constants, self.current.window);
        let mut rays = RayBlock { active: mask, ..RayBlock::empty() };
        for c in 0..3 {
            registers.read_floats(orig, c, &mut rays.orig[c]);
            registers.read_floats(dir, c, &mut rays.dir[c]);
        }
        let parts = [&mut rays.t_min, &mut rays.t_max, &mut rays.any, &mut rays.time];
        parts.into_iter().enumerate().for_each(|(c, to)| registers.read_floats(arg, c, to));
        let mut hits = HitBlock::misses();
        self.machine.tracer.trace(&rays, &mut hits);
        self.report.rays += u64::from(mask.count_ones());
        let code: [u32; BLOCK] = std::array::from_fn(|lane| {
            if hits.t[lane] < 0.0 {
                return 0;
            }
            self.machine.shaders.get(hits.shader[lane] as usize).copied().unwrap_or(u32::MAX)
        });
        let floats = [&hits.u, &hits.v, &hits.t];
        for (i, values) in floats.into_iter().enumerate() {
            self.block.column(column::HIT + i as u16).write_masked(|lane| values[lane].to_bits(), mask);
        }
        for (i, values) in [&code, &hits.tri, &hits.obj].into_iter().enumerate() {
            self.block.column(column::HIT + 3 + i as u16).write_masked(|lane| values[lane], mask);
        }
    }
}

#[cfg(test)]
mod tests;
