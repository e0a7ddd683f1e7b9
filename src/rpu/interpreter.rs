//! The interpreter: the engine that runs the decoded program as it is.
//!
//! It runs everywhere, and is the oracle for other engines. It schedules the groups of a block;
//! what an instruction does is the executor's ([`super::executor`]). It keeps no time: that is
//! [`super::timed`].
//!
//! # Divergence
//!
//! A *group* is the lanes of a block with the same code address, call depth and stack window. One
//! group runs at a time, all its lanes with each instruction. Where a condition makes a group
//! diverge, the group deepest in calls runs next, then the one at the lowest code address, until it
//! reaches or passes the address of another: so lanes reconverge where their paths join.
//!
//! Threads of different lengths leave lanes idle. In a refilled batch, lanes that have ended start
//! other threads, which catch up with the rest where a loop begins, as their addresses are lower:
//! path regeneration (Novák, Havran & Dachsbacher 2010, "Path Regeneration for Interactive Path
//! Tracing").

use crate::block::Block;
use crate::decode::{DecodedControl, DecodedProgram, Flow};
use crate::executor::{Executor, Group};
use crate::format::Format;
use crate::interface::{Code, Engine, EngineInfo, Unsupported};
use crate::launch::{Launch, Supply, Threads};
use crate::limits::{ExecutionError, RunReport};
use crate::simd::InstructionSet;
use std::ops::Range;
use std::sync::Arc;

/// Lanes that must have ended before other threads start in them. Of a path-traced Cornell box, 25
/// lanes of 64 are active in the mean without refilling, 40 with it; with a threshold of 1 or 16 it
/// is 0.4 or 0.8 fewer.
const REFILL: u32 = 8;

/// Runs decoded programs instruction by instruction, each on all lanes of a group.
#[derive(Debug, Clone, Copy)]
pub struct Interpreter;

/// The interpreter, which runs every program on every CPU.
pub static INTERPRETER: EngineInfo = EngineInfo {
    name: "interpreter",
    description: "runs decoded programs on 64 lanes, 16 an instruction step",
    runs_with: || InstructionSet::detect().name(),
    available: || Ok(()),
    formats: &[Format::F32, Format::F24],
    engine: &Interpreter,
};

impl Engine for Interpreter {
    fn load(&self, _: &Arc<DecodedProgram>) -> Result<Arc<dyn Code>, Unsupported> {
        Ok(Arc::new(Interpreter))
    }
}

impl Code for Interpreter {
    fn run(
        &self,
        launch: &Launch<'_>,
        block: &mut Block,
        entry: u32,
        threads: Threads<'_, '_>,
    ) -> Result<RunReport, ExecutionError> {
        let (mask, supply) = threads.begin(block);
        block.begin();
        block.prepare(&launch.program.steps, launch.constants);
        let mut run = Run::new(launch, block, entry, supply);
        run.current = Group { mask, pc: entry, depth: 0, window: 0 };
        run.finish()
    }
}

/// Continues a run that another engine began: with its groups, and the lanes that have ended in
/// a refilled batch.
pub(super) fn resume(
    launch: &Launch<'_>,
    block: &mut Block,
    entry: u32,
    groups: Vec<Group>,
    supply: Option<&mut Supply<'_>>,
) -> Result<RunReport, ExecutionError> {
    let running = groups.iter().fold(0, |all, group| all | group.mask);
    let mut run = Run::new(launch, block, entry, supply);
    if let Some(refill) = &mut run.refill {
        refill.ended = !running;
    }
    groups.into_iter().for_each(|group| run.waiting_add(group));
    run.reschedule();
    run.refill();
    run.finish()
}

/// The loop of the function at an address that ends last.
fn last_loop(program: &DecodedProgram, entry: u32) -> Option<Range<u32>> {
    let mut last = None;
    // Instructions up to here belong to the function: jumps lead to it.
    let mut reach = entry;
    for (pc, instr) in (entry..).zip(program.code.iter().skip(entry as usize)) {
        if let Some(target) = instr.flow.jump_target() {
            match target <= pc {
                true => last = Some(target..pc + 1),
                false => reach = reach.max(target),
            }
        }
        if instr.flow.never_falls_through() && pc >= reach {
            break;
        }
    }
    last
}

impl Group {
    /// The order in which groups run: deepest in calls, then lowest code address; the window only
    /// makes keys distinct.
    fn key(&self) -> (std::cmp::Reverse<u32>, u32, u32) {
        (std::cmp::Reverse(self.depth), self.pc, self.window)
    }
}

/// A run of a block.
struct Run<'m, 'b, 's> {
    program: &'m DecodedProgram,
    block: &'b mut Block,
    executor: Executor<'m>,
    current: Group,
    waiting: Vec<Group>,
    /// The lowest code address at which another group of the current depth waits.
    limit: u32,
    /// Where more threads come from, in a refilled batch.
    refill: Option<Refill<'b, 's>>,
    report: RunReport,
}

/// How lanes that have ended start other threads.
struct Refill<'b, 's> {
    supply: &'b mut Supply<'s>,
    /// Where threads start.
    entry: u32,
    /// The last loop of the function there, if it has one: new threads reconverge with running ones
    /// in it.
    last_loop: Option<Range<u32>>,
    /// True if some lanes have just left it while others stayed.
    diverged: bool,
    /// Lanes that have ended since the supply was last called.
    ended: u64,
}

impl Refill<'_, '_> {
    /// True if of lanes that diverge to these two addresses the first stay in the loop and the
    /// others leave it.
    fn diverge(&self, stay: u32, leave: u32) -> bool {
        self.last_loop.as_ref().is_some_and(|last| last.contains(&stay) && leave >= last.end)
    }

    /// The group that runs to its end ahead of the usual order, so that its lanes are free: it has
    /// just left the loop that the other group, the only one, is in.
    fn due(&mut self, groups: &[Group]) -> Option<usize> {
        let just = std::mem::take(&mut self.diverged);
        let [a, b] = groups else { return None };
        let left = |stays: &Group, leaves: &Group| {
            let lanes = (leaves.mask | self.ended).count_ones();
            stays.depth == 0 && leaves.depth == 0 && self.diverge(stays.pc, leaves.pc) && lanes >= REFILL
        };
        [left(b, a), left(a, b)].into_iter().position(|left| just && left)
    }
}

impl<'m, 'b, 's> Run<'m, 'b, 's> {
    /// A run of a prepared block, without threads yet.
    fn new(launch: &'m Launch<'m>, block: &'b mut Block, entry: u32, supply: Option<&'b mut Supply<'s>>) -> Self {
        let program = launch.program;
        Run {
            program,
            block,
            executor: Executor::new(launch),
            current: Group { mask: 0, pc: entry, depth: 0, window: 0 },
            waiting: Vec::new(),
            limit: u32::MAX,
            refill: supply.map(|supply| Refill {
                supply,
                entry,
                last_loop: last_loop(program, entry),
                diverged: false,
                ended: 0,
            }),
            report: RunReport::default(),
        }
    }

    fn finish(mut self) -> Result<RunReport, ExecutionError> {
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
        Ok(self.report)
    }

    /// Runs the current group, or the part of it that runs first where lanes jump, up to a call or
    /// a return that some of its lanes take: returns it with these lanes, which are still in the
    /// group. `None` where the group has reached one that waits.
    fn straight(&mut self) -> Result<Option<(DecodedControl, u64)>, ExecutionError> {
        let program = self.program;
        // The fields of the group are local variables: reading it whole after a change of one waits
        // for memory. That was half of the time of the branches of `cargo bench --bench rpu --
        // shading`.
        let (group, mut limit) = (self.current, self.limit);
        let (mut pc, mut mask) = (group.pc, group.mask);
        let mut lanes = u64::from(mask.count_ones());
        let (mut issued, mut executed) = (0, 0);
        let taken = loop {
            let Some(instr) = program.code.get(pc as usize) else { return Err(ExecutionError::PastEnd { pc }) };
            let here = Group { mask, pc, ..group };
            let mut diverged = false;
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
                            diverged = refill.diverge(pc, target.max(next));
                            refill.diverged |= diverged;
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
            if pc >= limit || diverged {
                break None;
            }
        };
        self.report.issued += issued;
        self.report.executed += executed;
        self.current = Group { mask, pc, ..group };
        Ok(taken)
    }

    /// Moves the current group as a control operation says.
    fn control(&mut self, control: DecodedControl) -> Result<(), ExecutionError> {
        match self.executor.control(self.block, control, self.current)? {
            Some(group) => self.current = group,
            None => {
                let ended = std::mem::take(&mut self.current.mask);
                if let Some(refill) = &mut self.refill {
                    refill.ended |= ended;
                }
            }
        }
        while let Some(group) = self.executor.diverged.pop() {
            self.waiting_add(group);
        }
        Ok(())
    }

    /// Starts other threads in lanes that have ended, once there are [`REFILL`] of them.
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

    /// Adds a group to those that wait, merged with one of the same key.
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
        if !goes_on || self.refill.as_ref().is_some_and(|refill| refill.diverged) {
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
        // Groups that another engine left may be at one address with different windows: one goes ahead.
        let ahead = |w: &&Group| w.depth == self.current.depth && w.pc > self.current.pc;
        let same_depth = self.waiting.iter().filter(ahead);
        self.limit = same_depth.map(|w| w.pc).min().unwrap_or(u32::MAX);
    }
}
