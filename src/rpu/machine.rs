//! The functional machine: runs a program for a block of threads at a time.
//!
//! It takes an [`Executable`], the constants of a frame, a memory image and a [`Tracer`], and changes the registers of a
//! [`Block`]. It schedules the groups of a block; what an instruction does is the executor's. It keeps no time; what it promises is the bits.
//!
//! # How threads of a block stay together
//!
//! A *group* is the lanes of a block with the same code address, call depth and stack window. One group runs at a time, all its
//! lanes with each instruction. Where a condition divides it, of all groups the one deepest in calls runs, then the lowest in code
//! address, until it meets or passes another: so groups meet again where their paths join. Lanes do not affect each
//! other, so the bits do not depend on which lanes share a block.
//!
//! Threads of different lengths leave lanes idle. [`Machine::run_refilled`] gives lanes that have ended to other threads, which catch up with the rest where
//! a loop begins, as their addresses are lower: path regeneration (Novák, Havran & Dachsbacher 2010, "Path Regeneration for Interactive Path Tracing").
//!
//! # Memory
//!
//! Addresses below 2³¹ are vectors of the image, which is read only. From 2³¹ on, a thread has its own scratch memory; `A.w` starts with its
//! first address. It, like all registers and the stack, starts as zeros.

use super::block::Block;
use super::decode::{DecodedControl, Executable, Flow};
use super::executor::{Executor, Group};
use super::isa::{Component, Reg};
use super::texture::{MAX_TEXEL_STORES, Texture};
use super::tracing::Tracer;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use thiserror::Error;

/// First address of a thread's scratch memory.
pub const SCRATCH_BASE: u32 = 1 << 31;

/// Lanes that have ended before others take their place. Of a path-traced Cornell box, 25 lanes of 64 are active in the mean without others, 40 with them; with 1 or 16 in the place of this number 0.4 less or 0.8 less.
const REFILL: u32 = 8;

/// What takes the results of threads that have ended, and gives their lanes to others: it is told the lanes that are free, puts arguments into the block, and says in which of these lanes
/// threads start. The lanes' registers are as their last thread left them.
pub type Supply<'s> = dyn FnMut(&mut Block, u64) -> u64 + 's;

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
    /// A block stored more texels than its log holds.
    #[error("instruction {pc}: more than {MAX_TEXEL_STORES} texels were stored in one run")]
    TooManyTexels {
        /// Where.
        pc: u32,
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
    /// The textures that `texload` and `texstore` name by number.
    pub textures: &'a [Texture],
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
    ///
    /// # Errors
    /// [`MachineError`] when a thread exceeds one of [`Limits`], leaves the program or its scratch memory, or the run is stopped.
    pub fn run(&self, block: &mut Block, entry: u32, active: u64) -> Result<RunReport, MachineError> {
        self.start(block, entry, active, None)
    }

    /// Runs threads from a code address until all have returned and there are no others.
    ///
    /// # Errors
    /// As [`Machine::run`].
    pub fn run_refilled(
        &self,
        block: &mut Block,
        entry: u32,
        supply: &mut Supply<'_>,
    ) -> Result<RunReport, MachineError> {
        let active = supply(block, u64::MAX);
        self.start(block, entry, active, Some(supply))
    }

    fn start(
        &self,
        block: &mut Block,
        entry: u32,
        active: u64,
        supply: Option<&mut Supply<'_>>,
    ) -> Result<RunReport, MachineError> {
        block.begin();
        block.prepare(&self.program.steps, self.constants);
        let mut run = Run {
            machine: self,
            block,
            executor: Executor::new(self),
            current: Group { mask: active, pc: entry, depth: 0, window: 0 },
            waiting: Vec::new(),
            limit: u32::MAX,
            refill: supply.map(|supply| Refill { supply, entry, turn: self.last_loop(entry), parted: false, ended: 0 }),
            report: RunReport::default(),
        };
        run.finish()?;
        Ok(run.report)
    }

    /// The loop of the function at an address that ends last.
    fn last_loop(&self, entry: u32) -> Option<Range<u32>> {
        let mut last = None;
        // Instructions up to here belong to the function: jumps lead to it.
        let mut reach = entry;
        for (pc, instr) in (entry..).zip(self.program.code.iter().skip(entry as usize)) {
            if let Flow::Always(DecodedControl::Jmp(target)) | Flow::If(DecodedControl::Jmp(target)) = instr.flow {
                match target <= pc {
                    true => last = Some(target..pc + 1),
                    false => reach = reach.max(target),
                }
            }
            let leaves = matches!(instr.flow, Flow::Always(DecodedControl::Jmp(_) | DecodedControl::Return));
            if leaves && pc >= reach {
                break;
            }
        }
        last
    }

    /// Runs one thread from a code address with some of its registers set, each to four bit patterns, the others 0. The registers
    /// that it leaves are in lane 0 of the block.
    ///
    /// # Errors
    /// As [`Machine::run`].
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

impl Group {
    /// Which of two goes first: deepest in calls, then lowest code address; the window only tells groups apart.
    fn key(&self) -> (std::cmp::Reverse<u32>, u32, u32) {
        (std::cmp::Reverse(self.depth), self.pc, self.window)
    }
}

/// A run of a block.
struct Run<'m, 'b, 's> {
    machine: &'m Machine<'m>,
    block: &'b mut Block,
    executor: Executor<'m>,
    current: Group,
    waiting: Vec<Group>,
    /// The lowest code address at which another group of the current depth waits.
    limit: u32,
    /// Where other threads come from, if there are others.
    refill: Option<Refill<'b, 's>>,
    report: RunReport,
}

/// How lanes that end are given to other threads.
struct Refill<'b, 's> {
    supply: &'b mut Supply<'s>,
    /// Where threads start.
    entry: u32,
    /// The last loop of the function there, where threads join those that they find, if it has a loop.
    turn: Option<Range<u32>>,
    /// Whether some lanes have just left it while others stayed.
    parted: bool,
    /// Lanes that have ended since others were asked for.
    ended: u64,
}

impl Refill<'_, '_> {
    /// Whether lanes that part for these two addresses leave the loop and stay in it.
    fn parts(&self, stay: u32, leave: u32) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.contains(&stay) && leave >= turn.end)
    }

    /// Which of all groups is to end before the one that goes first, so that its lanes are free: it has just left the loop that the other, the only one, is in.
    fn due(&mut self, groups: &[Group]) -> Option<usize> {
        let just = std::mem::take(&mut self.parted);
        let [a, b] = groups else { return None };
        let left = |stays: &Group, leaves: &Group| {
            let lanes = (leaves.mask | self.ended).count_ones();
            stays.depth == 0 && leaves.depth == 0 && self.parts(stays.pc, leaves.pc) && lanes >= REFILL
        };
        [left(b, a), left(a, b)].into_iter().position(|left| just && left)
    }
}

impl Run<'_, '_, '_> {
    fn finish(&mut self) -> Result<(), MachineError> {
        while self.current.mask != 0 {
            if let Some((control, passed)) = self.straight()? {
                let stay = self.current.mask & !passed;
                if stay != 0 {
                    self.waiting_add(Group { mask: stay, pc: self.current.pc + 1, ..self.current });
                    self.current.mask = passed;
                }
                self.control(control)?;
            }
            self.reschedule();
            self.refill();
        }
        self.report.rays = self.executor.rays;
        self.report.bad_loads = self.executor.bad_loads;
        Ok(())
    }

    /// Runs the current group, or what of it goes first where lanes jump, up to a call or a return that some of its lanes take: gives it, and these lanes; the
    /// group is still there. `None` where the group has come to one that waits.
    fn straight(&mut self) -> Result<Option<(DecodedControl, u64)>, MachineError> {
        let program = self.machine.program;
        // The parts of the group are kept apart from it: to read it whole after a change of one waits for memory. That was half of the time of
        // `bench shading`'s branches.
        let (group, mut limit) = (self.current, self.limit);
        let (mut pc, mut mask) = (group.pc, group.mask);
        let mut lanes = u64::from(mask.count_ones());
        let (mut issued, mut executed) = (0, 0);
        let taken = loop {
            let Some(instr) = program.code.get(pc as usize) else { return Err(MachineError::PastEnd { pc }) };
            let here = Group { mask, pc, ..group };
            let mut parted = false;
            if instr.run > 0 {
                let end = limit.min(pc + instr.run);
                if self.block.is_profiled() {
                    (pc..end).for_each(|pc| self.block.count(pc, mask));
                }
                self.executor.run(self.block, pc, end, here);
                issued += u64::from(end - pc);
                executed += u64::from(end - pc) * lanes;
                pc = end;
            } else {
                self.block.count(pc, mask);
                let passed = self.executor.work(self.block, &instr.work, here)?;
                issued += 1;
                executed += lanes;
                let (control, passed) = match instr.flow {
                    Flow::Always(control) => (Some(control), mask),
                    Flow::If(control) => (Some(control), passed),
                    Flow::Next => (None, 0),
                };
                match control {
                    None => pc += 1,
                    Some(_) if passed == 0 => pc += 1,
                    Some(DecodedControl::Jmp(target)) => {
                        if target <= pc {
                            self.executor.spend(self.block, Group { mask: passed, ..here })?;
                        }
                        let (stay, next) = (mask & !passed, pc + 1);
                        if group.depth == 0
                            && let Some(refill) = &mut self.refill
                        {
                            parted = refill.parts(pc, target.max(next));
                            refill.parted |= parted;
                        }
                        if stay == 0 {
                            pc = target;
                        } else {
                            let (first, later) = if target < next { (passed, stay) } else { (stay, passed) };
                            let wait = target.max(next);
                            self.waiting_add(Group { mask: later, pc: wait, ..group });
                            (mask, pc, limit) = (first, target.min(next), limit.min(wait));
                            lanes = u64::from(mask.count_ones());
                        }
                    }
                    Some(control) => break Some((control, passed)),
                }
            }
            if pc >= limit || parted {
                break None;
            }
        };
        self.report.issued += issued;
        self.report.executed += executed;
        self.current = Group { mask, pc, ..group };
        Ok(taken)
    }

    /// Moves the current group as a control operation says.
    fn control(&mut self, control: DecodedControl) -> Result<(), MachineError> {
        match self.executor.control(self.block, control, self.current)? {
            Some(group) => self.current = group,
            None => {
                let ended = std::mem::take(&mut self.current.mask);
                if let Some(refill) = &mut self.refill {
                    refill.ended |= ended;
                }
            }
        }
        while let Some(group) = self.executor.divided.pop() {
            self.waiting_add(group);
        }
        Ok(())
    }

    /// Starts other threads in lanes that have ended, once these are enough.
    fn refill(&mut self) {
        let Some(Refill { supply, entry, ended, .. }) = &mut self.refill else { return };
        if *ended == 0 || (ended.count_ones() < REFILL && self.current.mask != 0) {
            return;
        }
        let (mask, pc) = (supply(self.block, std::mem::take(ended)), *entry);
        if mask != 0 {
            self.waiting_add(Group { mask, pc, depth: 0, window: 0 });
            self.reschedule();
        }
    }

    /// Puts a group among those that wait, with those of its kind.
    fn waiting_add(&mut self, group: Group) {
        match self.waiting.iter_mut().find(|w| w.key() == group.key()) {
            Some(waiting) => waiting.mask |= group.mask,
            None => self.waiting.push(group),
        }
    }

    /// Chooses the group that runs next.
    fn reschedule(&mut self) {
        let first_of = |waiting: &[Group]| (0..waiting.len()).min_by_key(|&i| waiting[i].key());
        let Some(first) = first_of(&self.waiting) else {
            self.limit = u32::MAX;
            return;
        };
        let goes_on = self.current.mask != 0 && self.current.key() < self.waiting[first].key();
        if !goes_on || self.refill.as_ref().is_some_and(|refill| refill.parted) {
            if self.current.mask != 0 {
                self.waiting_add(self.current);
            }
            if let Some(due) = self.refill.as_mut().and_then(|refill| refill.due(&self.waiting)) {
                self.current = self.waiting.swap_remove(due);
                self.limit = u32::MAX;
                return;
            }
            if let Some(first) = first_of(&self.waiting) {
                self.current = self.waiting.swap_remove(first);
            }
        }
        let same_depth = self.waiting.iter().filter(|w| w.depth == self.current.depth);
        self.limit = same_depth.map(|w| w.pc).min().unwrap_or(u32::MAX);
    }
}

#[cfg(test)]
mod tests;
