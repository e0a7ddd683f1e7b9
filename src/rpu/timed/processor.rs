//! One processor of the timing model: a group of four simple processors that issues one
//! instruction a cycle for one chunk.
//!
//! It schedules: which chunk issues in which cycle. The executor does what the instruction says, so
//! the bits are the engines'.

use super::activations::Activations;
use super::chunk::{CHUNK, Chunk, SLOT_PARTS, Source};
use super::history::{History, Until};
use super::stats::{AtPc, Cause, Stats};
use super::subchunk::Subchunk;
use super::timing::{Timing, Unit};
use crate::block::Block;
use crate::decode::{DecodedControl, Flow};
use crate::executor::{Executor, Group};
use crate::isa::STACK_WINDOW;
use crate::lanes::{BLOCK, lanes_of};
use crate::launch::Launch;
use crate::limits::ExecutionError;

/// Chunks that share a block.
const SLOTS: usize = BLOCK / CHUNK;

/// A chunk that is resident.
#[derive(Debug, Clone, Copy, Default)]
struct Resident {
    number: u64,
    /// Threads that have not ended, as lanes of the block; 0 when the slot is empty.
    running: u64,
}

/// The chunks of one block. A subchunk has the index of its lowest lane.
struct Bank {
    block: Block,
    subchunks: Vec<Subchunk>,
    /// The subchunks that can run: that have not ended and do not wait for others at a return.
    runnable: u64,
    residents: [Resident; SLOTS],
    activations: Activations,
    cost: [u64; BLOCK],
}

/// A processor during a run.
pub(super) struct Processor<'m, 's> {
    launch: &'m Launch<'m>,
    timing: &'m Timing,
    source: &'s mut dyn Source,
    entry: u32,
    executor: Executor<'m>,
    banks: Vec<Bank>,
    cycle: u64,
    /// When each functional unit can take an instruction.
    free: [u64; Unit::COUNT],
    /// The subchunk that issued last, as an index over all banks.
    current: usize,
    /// Chunks that are resident.
    resident: u32,
    /// True if the source has no more.
    exhausted: bool,
    stats: Stats,
}

impl<'m, 's> Processor<'m, 's> {
    pub fn new(
        launch: &'m Launch<'m>,
        timing: &'m Timing,
        entry: u32,
        source: &'s mut dyn Source,
    ) -> Processor<'m, 's> {
        let empty = Subchunk {
            group: Group { mask: 0, pc: entry, depth: 0, window: 0 },
            ready: Until::START,
            unit: None,
            history: History::after(Until::START),
            stack_from: 0,
        };
        let bank = |_| {
            let mut block = Block::new();
            block.prepare(&launch.program.steps, launch.constants);
            Bank {
                block,
                subchunks: vec![empty; BLOCK],
                runnable: 0,
                residents: [Resident::default(); SLOTS],
                activations: Activations::default(),
                cost: [0; BLOCK],
            }
        };
        let banks = (timing.config.chunks.resident as usize).div_ceil(SLOTS);
        let at = vec![AtPc::default(); timing.costs.len()];
        Processor {
            launch,
            timing,
            source,
            entry,
            executor: Executor::new(launch),
            banks: (0..banks).map(bank).collect(),
            cycle: 0,
            free: [0; Unit::COUNT],
            current: 0,
            resident: 0,
            exhausted: false,
            stats: Stats { processors: 1, at, ..Stats::default() },
        }
    }

    /// Runs until the source has no more chunks and all have ended.
    pub fn run(mut self) -> Result<Stats, ExecutionError> {
        for slot in 0..self.timing.config.chunks.resident as usize {
            self.start(slot / SLOTS, slot % SLOTS)?;
        }
        while let Some(index) = self.choose() {
            self.stats.switches += u64::from(index != self.current);
            self.current = index;
            self.issue(index / BLOCK, index % BLOCK)?;
            self.cycle += 1;
        }
        self.stats.cycles = self.cycle;
        self.stats.processor_cycles = self.cycle;
        self.stats.rays = self.executor.rays;
        Ok(self.stats)
    }

    /// Puts the next chunk of the source into a slot.
    fn start(&mut self, bank: usize, slot: usize) -> Result<(), ExecutionError> {
        let first = CHUNK * slot;
        let lanes = ((1 << CHUNK) - 1) << first;
        let b = &mut self.banks[bank];
        let threads = loop {
            if self.exhausted {
                return Ok(());
            }
            b.block.reset_lanes(lanes);
            match self.source.start(&mut Chunk { block: &mut b.block, first }) {
                None => self.exhausted = true,
                Some(threads) if threads & 15 != 0 => break threads & 15,
                Some(_) => {}
            }
        };
        let mask = u64::from(threads) << first;
        b.residents[slot] = Resident { number: self.stats.chunks, running: mask };
        b.cost[first..first + CHUNK].fill(0);
        self.stats.chunks += 1;
        self.stats.threads += u64::from(threads.count_ones());
        self.resident += 1;
        let subchunk = Subchunk {
            group: Group { mask, pc: self.entry, depth: 0, window: 0 },
            ready: Until { cycle: self.cycle, cause: Cause::Control },
            unit: None,
            history: History::after(Until::START),
            stack_from: 0,
        };
        self.schedule(bank, subchunk)
    }

    /// Makes a subchunk runnable at its code address.
    fn schedule(&mut self, bank: usize, mut subchunk: Subchunk) -> Result<(), ExecutionError> {
        prepare(self.timing, &mut subchunk)?;
        let lane = subchunk.group.mask.trailing_zeros() as usize % BLOCK;
        let bank = &mut self.banks[bank];
        bank.subchunks[lane] = subchunk;
        bank.runnable |= 1 << lane;
        Ok(())
    }

    /// When a subchunk can issue, and why not before.
    fn earliest(&self, subchunk: &Subchunk) -> Until {
        match subchunk.unit {
            Some(unit) => subchunk.ready.max(Until { cycle: self.free[unit as usize], cause: unit.cause() }),
            None => subchunk.ready,
        }
    }

    /// The subchunk that issues next: the one that issued last if it can, else the first that can
    /// in circular order after it. Where none can, the processor stalls.
    fn choose(&mut self) -> Option<usize> {
        let (bank, lane) = (self.current / BLOCK, self.current % BLOCK);
        if self.banks[bank].runnable >> lane & 1 != 0
            && self.earliest(&self.banks[bank].subchunks[lane]).cycle <= self.cycle
        {
            return Some(self.current);
        }
        let mut first: Option<(Until, usize)> = None;
        let after = u64::MAX.checked_shl(lane as u32 + 1).unwrap_or(0);
        let count = self.banks.len();
        // The current bank comes first with the lanes after the current one, and last with those up
        // to it.
        for step in 0..=count {
            let bank = (bank + step) % count;
            let mask = if step == 0 {
                after
            } else if step == count {
                !after
            } else {
                u64::MAX
            };
            for lane in lanes_of(self.banks[bank].runnable & mask) {
                let earliest = self.earliest(&self.banks[bank].subchunks[lane]);
                if earliest.cycle <= self.cycle {
                    return Some(bank * BLOCK + lane);
                }
                if first.is_none_or(|(until, _)| earliest.cycle < until.cycle) {
                    first = Some((earliest, bank * BLOCK + lane));
                }
            }
        }
        let (until, index) = first?;
        let cause = if self.resident < self.timing.config.chunks.resident { Cause::Drain } else { until.cause };
        let pc = self.banks[index / BLOCK].subchunks[index % BLOCK].group.pc;
        self.stats.stalls.add(cause, until.cycle - self.cycle);
        self.stats.at[pc as usize].stalls.add(cause, until.cycle - self.cycle);
        self.cycle = until.cycle;
        Some(index)
    }

    /// Issues the next instruction of a subchunk.
    fn issue(&mut self, bank: usize, lane: usize) -> Result<(), ExecutionError> {
        let program = self.launch.program;
        let b = &mut self.banks[bank];
        let subchunk = &mut b.subchunks[lane];
        let group = subchunk.group;
        let pc = group.pc as usize;
        let (instr, cost) = (&program.code[pc], self.timing.costs[pc]);
        let threads = group.mask.count_ones();
        self.stats.issued += 1;
        self.stats.executed += u64::from(threads);
        self.stats.at[pc].issued += 1;
        self.stats.at[pc].threads += u64::from(threads);
        lanes_of(group.mask).for_each(|lane| b.cost[lane] += SLOT_PARTS / u64::from(threads));
        let passed = self.executor.work(&mut b.block, &instr.work, group)?;
        let finish = self.cycle + u64::from(cost.latency);
        subchunk.history.push(Until { cycle: finish, cause: cost.waiting });
        subchunk.ready = Until { cycle: self.cycle + 1, cause: Cause::Control };
        if let Some(unit) = cost.unit {
            let busy = if cost.per_thread { cost.busy * threads } else { cost.busy };
            self.free[unit as usize] = self.cycle + u64::from(busy);
            self.stats.traces += u64::from(unit == Unit::Trace);
        }
        let (control, taken, known) = match instr.flow {
            Flow::Next => (None, 0, subchunk.ready.cycle),
            Flow::Always(control) => {
                (Some(control), group.mask, self.cycle + u64::from(self.timing.config.latencies.control))
            }
            // The thread's next address is known once the condition is.
            Flow::If(control) => (Some(control), passed, finish),
        };
        subchunk.ready.cycle = known;
        let Some(control) = control.filter(|_| taken != 0) else {
            subchunk.group.pc += 1;
            return prepare(self.timing, subchunk);
        };
        let here = *subchunk;
        b.runnable &= !(1 << lane);
        let stay = group.mask & !taken;
        if stay != 0 {
            self.stats.divergences += 1;
            self.schedule(bank, Subchunk { group: Group { mask: stay, pc: group.pc + 1, ..group }, ..here })?;
        }
        self.control(bank, Subchunk { group: Group { mask: taken, ..group }, ..here }, control)
    }

    /// Executes a control operation of a subchunk that is not runnable meanwhile.
    fn control(&mut self, bank: usize, mut subchunk: Subchunk, control: DecodedControl) -> Result<(), ExecutionError> {
        let before = subchunk.group;
        let b = &mut self.banks[bank];
        let Some(group) = self.executor.control(&mut b.block, control, before)? else {
            return self.end(bank, before.mask);
        };
        if group.depth < before.depth {
            // All threads of a subchunk executed the same calls, so they return to one address.
            let Some(mut joined) = b.activations.reconverge(Subchunk { group, ..subchunk }) else { return Ok(()) };
            self.stats.reconvergences += u64::from(joined.group.mask != before.mask);
            self.uncover_stack(&mut joined);
            return self.schedule(bank, joined);
        }
        if group.depth > before.depth {
            b.activations.enter(before.depth, before.mask);
            subchunk.group = Group { mask: before.mask, ..group };
            self.cover_stack(&mut subchunk);
        }
        self.schedule(bank, Subchunk { group, ..subchunk })?;
        while let Some(group) = self.executor.diverged.pop() {
            self.stats.divergences += 1;
            self.schedule(bank, Subchunk { group, ..subchunk })?;
        }
        Ok(())
    }

    /// Makes room for the window of a called function: where the stack is full, its bottom goes to
    /// memory.
    fn cover_stack(&mut self, subchunk: &mut Subchunk) {
        let Group { mask, depth, window, .. } = subchunk.group;
        let top = window + u32::from(STACK_WINDOW);
        self.stats.call_depth = self.stats.call_depth.max(depth);
        self.stats.stack_depth = self.stats.stack_depth.max(top);
        let vectors = (top - subchunk.stack_from).saturating_sub(self.timing.config.stack.vectors);
        if vectors > 0 {
            subchunk.stack_from += vectors;
            self.stats.spilled += u64::from(vectors) * u64::from(mask.count_ones());
            let done = self.move_vectors(vectors);
            subchunk.ready = subchunk.ready.max(Until { cycle: done, cause: Cause::Stack });
        }
    }

    /// Brings back from memory what the window of a function that was returned to needs.
    fn uncover_stack(&mut self, subchunk: &mut Subchunk) {
        let Group { mask, window, .. } = subchunk.group;
        let vectors = subchunk.stack_from.saturating_sub(window);
        if vectors > 0 {
            subchunk.stack_from = window;
            self.stats.restored += u64::from(vectors) * u64::from(mask.count_ones());
            let done = self.move_vectors(vectors) + u64::from(self.timing.config.latencies.load);
            subchunk.ready = subchunk.ready.max(Until { cycle: done, cause: Cause::Stack });
        }
    }

    /// Occupies memory with a number of vectors once it is free; returns the cycle at which it has
    /// taken the last.
    fn move_vectors(&mut self, vectors: u32) -> u64 {
        let free = &mut self.free[Unit::Memory as usize];
        *free = (*free).max(self.cycle) + u64::from(vectors) * u64::from(self.timing.config.intervals.memory);
        *free
    }

    /// Ends threads. Where they were the last of their chunk, the next chunk takes its slot at
    /// once.
    fn end(&mut self, bank: usize, mask: u64) -> Result<(), ExecutionError> {
        let slot = mask.trailing_zeros() as usize % BLOCK / CHUNK;
        let b = &mut self.banks[bank];
        let resident = &mut b.residents[slot];
        resident.running &= !mask;
        if resident.running != 0 {
            return Ok(());
        }
        let (number, first) = (resident.number, CHUNK * slot);
        let cost = std::array::from_fn(|i| b.cost[first + i]);
        self.source.finish(number, &Chunk { block: &mut b.block, first }, cost);
        self.resident -= 1;
        self.start(bank, slot)
    }
}

/// Finds when a subchunk's next instruction can issue, as far as earlier instructions decide that.
fn prepare(timing: &Timing, subchunk: &mut Subchunk) -> Result<(), ExecutionError> {
    let pc = subchunk.group.pc;
    let cost = timing.costs.get(pc as usize).ok_or(ExecutionError::PastEnd { pc })?;
    subchunk.unit = cost.unit;
    subchunk.ready = subchunk.ready.max(subchunk.history.wait(cost.waits));
    Ok(())
}
