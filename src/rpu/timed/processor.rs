//! One processor of the timed machine: a group of four simple processors that issues one instruction a cycle for one chunk.
//!
//! It schedules: which chunk issues in which cycle. What the instruction does is the executor's, so the bits are those of the functional machine.

use super::activations::Activations;
use super::chunk::{CHUNK, Chunk, SLOT_PARTS, Source};
use super::history::{History, Until};
use super::stats::{AtPc, Cause, Stats};
use super::timing::{Timing, Unit};
use crate::rpu::block::Block;
use crate::rpu::decode::{DecodedControl, Flow};
use crate::rpu::executor::{Executor, Group};
use crate::rpu::isa::STACK_WINDOW;
use crate::rpu::lanes::{BLOCK, lanes_of};
use crate::rpu::machine::{Machine, MachineError};

/// Chunks that share a block.
const SLOTS: usize = BLOCK / CHUNK;

/// A chunk, or the threads of one that have parted from the others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub group: Group,
    /// What its next instruction depends on; the units aside.
    pub ready: Until,
    /// The unit that its next instruction needs.
    pub unit: Option<Unit>,
    pub history: History,
    /// The lowest vector of its data stack that is not in memory.
    pub stack_from: u32,
}

/// A chunk that is resident.
#[derive(Debug, Clone, Copy, Default)]
struct Resident {
    number: u64,
    /// Threads that have not ended, as lanes of the block; 0 when nobody is here.
    running: u64,
}

/// The chunks of one block. A part stands at the number of its lowest lane.
struct Bank {
    block: Block,
    parts: Vec<Part>,
    /// The parts that can run: that have not ended and do not wait for others at a return.
    runnable: u64,
    residents: [Resident; SLOTS],
    activations: Activations,
    cost: [u64; BLOCK],
}

/// A processor during a run.
pub(super) struct Processor<'m, 's> {
    machine: &'m Machine<'m>,
    timing: &'m Timing,
    source: &'s mut dyn Source,
    entry: u32,
    executor: Executor<'m>,
    banks: Vec<Bank>,
    cycle: u64,
    /// When each unit can take an instruction.
    free: [u64; Unit::COUNT],
    /// The part that issued last, as a number over all banks.
    current: usize,
    /// Chunks that are resident.
    resident: u32,
    /// Whether the source has no more.
    exhausted: bool,
    stats: Stats,
}

impl<'m, 's> Processor<'m, 's> {
    pub fn new(
        machine: &'m Machine<'m>,
        timing: &'m Timing,
        entry: u32,
        source: &'s mut dyn Source,
    ) -> Processor<'m, 's> {
        let nobody = Part {
            group: Group { mask: 0, pc: entry, depth: 0, window: 0 },
            ready: Until::START,
            unit: None,
            history: History::after(Until::START),
            stack_from: 0,
        };
        let bank = |_| {
            let mut block = Block::new();
            block.prepare(&machine.program.decoded().steps, machine.constants);
            Bank {
                block,
                parts: vec![nobody; BLOCK],
                runnable: 0,
                residents: [Resident::default(); SLOTS],
                activations: Activations::default(),
                cost: [0; BLOCK],
            }
        };
        let banks = (timing.config.chunks.resident as usize).div_ceil(SLOTS);
        let at = vec![AtPc::default(); timing.costs.len()];
        Processor {
            machine,
            timing,
            source,
            entry,
            executor: Executor::new(machine),
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
    pub fn run(mut self) -> Result<Stats, MachineError> {
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
    fn start(&mut self, bank: usize, slot: usize) -> Result<(), MachineError> {
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
        let part = Part {
            group: Group { mask, pc: self.entry, depth: 0, window: 0 },
            ready: Until { cycle: self.cycle, cause: Cause::Control },
            unit: None,
            history: History::after(Until::START),
            stack_from: 0,
        };
        self.place(bank, part)
    }

    /// Lets a part run from its code address on.
    fn place(&mut self, bank: usize, mut part: Part) -> Result<(), MachineError> {
        prepare(self.timing, &mut part)?;
        let lane = part.group.mask.trailing_zeros() as usize % BLOCK;
        let bank = &mut self.banks[bank];
        bank.parts[lane] = part;
        bank.runnable |= 1 << lane;
        Ok(())
    }

    /// When a part can issue, and why not before.
    fn earliest(&self, part: &Part) -> Until {
        match part.unit {
            Some(unit) => part.ready.max(Until { cycle: self.free[unit as usize], cause: unit.cause() }),
            None => part.ready,
        }
    }

    /// The part that issues next: the one that issued last if it can, else the first that can in the order after it. Where none can, time passes.
    fn choose(&mut self) -> Option<usize> {
        let (bank, lane) = (self.current / BLOCK, self.current % BLOCK);
        if self.banks[bank].runnable >> lane & 1 != 0
            && self.earliest(&self.banks[bank].parts[lane]).cycle <= self.cycle
        {
            return Some(self.current);
        }
        let mut first: Option<(Until, usize)> = None;
        let after = u64::MAX.checked_shl(lane as u32 + 1).unwrap_or(0);
        let count = self.banks.len();
        // The current bank comes first with the lanes behind the current one, and last with those up to it.
        for turn in 0..=count {
            let bank = (bank + turn) % count;
            let mask = if turn == 0 {
                after
            } else if turn == count {
                !after
            } else {
                u64::MAX
            };
            for lane in lanes_of(self.banks[bank].runnable & mask) {
                let earliest = self.earliest(&self.banks[bank].parts[lane]);
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
        let pc = self.banks[index / BLOCK].parts[index % BLOCK].group.pc;
        self.stats.stalls.add(cause, until.cycle - self.cycle);
        self.stats.at[pc as usize].stalls.add(cause, until.cycle - self.cycle);
        self.cycle = until.cycle;
        Some(index)
    }

    /// Issues the next instruction of a part.
    fn issue(&mut self, bank: usize, lane: usize) -> Result<(), MachineError> {
        let program = self.machine.program.decoded();
        let b = &mut self.banks[bank];
        let part = &mut b.parts[lane];
        let group = part.group;
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
        part.history.push(Until { cycle: finish, cause: cost.waiting });
        part.ready = Until { cycle: self.cycle + 1, cause: Cause::Control };
        if let Some(unit) = cost.unit {
            let busy = if cost.per_thread { cost.busy * threads } else { cost.busy };
            self.free[unit as usize] = self.cycle + u64::from(busy);
            self.stats.traces += u64::from(unit == Unit::Trace);
        }
        let (control, taken, known) = match instr.flow {
            Flow::Next => (None, 0, part.ready.cycle),
            Flow::Always(control) => {
                (Some(control), group.mask, self.cycle + u64::from(self.timing.config.latencies.control))
            }
            // The thread's next address is known once the condition is.
            Flow::If(control) => (Some(control), passed, finish),
        };
        part.ready.cycle = known;
        let Some(control) = control.filter(|_| taken != 0) else {
            part.group.pc += 1;
            return prepare(self.timing, part);
        };
        let here = *part;
        b.runnable &= !(1 << lane);
        let stay = group.mask & !taken;
        if stay != 0 {
            self.stats.divisions += 1;
            self.place(bank, Part { group: Group { mask: stay, pc: group.pc + 1, ..group }, ..here })?;
        }
        self.control(bank, Part { group: Group { mask: taken, ..group }, ..here }, control)
    }

    /// Moves a part, which stands nowhere, as a control operation says.
    fn control(&mut self, bank: usize, mut part: Part, control: DecodedControl) -> Result<(), MachineError> {
        let before = part.group;
        let b = &mut self.banks[bank];
        let Some(group) = self.executor.control(&mut b.block, control, before)? else {
            return self.end(bank, before.mask);
        };
        if group.depth < before.depth {
            // All threads of a part came through the same calls, so they return to one place.
            let Some(mut joined) = b.activations.arrive(Part { group, ..part }) else { return Ok(()) };
            self.stats.reassemblies += u64::from(joined.group.mask != before.mask);
            self.uncover_stack(&mut joined);
            return self.place(bank, joined);
        }
        if group.depth > before.depth {
            b.activations.enter(before.depth, before.mask);
            part.group = Group { mask: before.mask, ..group };
            self.cover_stack(&mut part);
        }
        self.place(bank, Part { group, ..part })?;
        while let Some(group) = self.executor.divided.pop() {
            self.stats.divisions += 1;
            self.place(bank, Part { group, ..part })?;
        }
        Ok(())
    }

    /// Makes room for the window of a called function: where the stack is full, its bottom goes to memory.
    fn cover_stack(&mut self, part: &mut Part) {
        let Group { mask, depth, window, .. } = part.group;
        let top = window + u32::from(STACK_WINDOW);
        self.stats.call_depth = self.stats.call_depth.max(depth);
        self.stats.stack_depth = self.stats.stack_depth.max(top);
        let vectors = (top - part.stack_from).saturating_sub(self.timing.config.stack.vectors);
        if vectors > 0 {
            part.stack_from += vectors;
            self.stats.spilled += u64::from(vectors) * u64::from(mask.count_ones());
            let done = self.move_vectors(vectors);
            part.ready = part.ready.max(Until { cycle: done, cause: Cause::Stack });
        }
    }

    /// Brings back from memory what the window of a function that was returned to needs.
    fn uncover_stack(&mut self, part: &mut Part) {
        let Group { mask, window, .. } = part.group;
        let vectors = part.stack_from.saturating_sub(window);
        if vectors > 0 {
            part.stack_from = window;
            self.stats.restored += u64::from(vectors) * u64::from(mask.count_ones());
            let done = self.move_vectors(vectors) + u64::from(self.timing.config.latencies.load);
            part.ready = part.ready.max(Until { cycle: done, cause: Cause::Stack });
        }
    }

    /// Occupies memory with a number of vectors, from when it is free; gives when it has taken the last.
    fn move_vectors(&mut self, vectors: u32) -> u64 {
        let free = &mut self.free[Unit::Memory as usize];
        *free = (*free).max(self.cycle) + u64::from(vectors) * u64::from(self.timing.config.intervals.memory);
        *free
    }

    /// Ends threads. Where they were the last of their chunk, the next takes its place at once.
    fn end(&mut self, bank: usize, mask: u64) -> Result<(), MachineError> {
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

/// Finds when a part's next instruction can issue, as far as earlier instructions decide that.
fn prepare(timing: &Timing, part: &mut Part) -> Result<(), MachineError> {
    let pc = part.group.pc;
    let cost = timing.costs.get(pc as usize).ok_or(MachineError::PastEnd { pc })?;
    part.unit = cost.unit;
    part.ready = part.ready.max(part.history.wait(cost.waits));
    Ok(())
}
