//! Statistics of a timed run.

use serde::Serialize;

/// Why a processor issued nothing in a cycle: what the chunk waited for that could issue first
/// afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The result of an addition, product, integer operation or conversion.
    Arithmetic,
    /// The result of `_rcp` or `_rsq`.
    Special,
    /// A vector from memory.
    Load,
    /// A texel.
    Texture,
    /// A hit.
    Trace,
    /// The condition of a jump, call or return, or the new code address.
    Control,
    /// The stack: vectors that a call moves to memory, or a return back.
    Stack,
    /// The functional unit for `_rcp` and `_rsq` is busy.
    SpecialBusy,
    /// Memory is busy.
    MemoryBusy,
    /// The texture unit is busy.
    TextureBusy,
    /// The tracing unit is busy.
    TraceBusy,
    /// There are too few chunks: the work runs out.
    Drain,
}

impl Cause {
    /// Every cause, in the order of reports.
    pub const ALL: [Cause; 12] = [
        Cause::Arithmetic,
        Cause::Special,
        Cause::Load,
        Cause::Texture,
        Cause::Trace,
        Cause::Control,
        Cause::Stack,
        Cause::SpecialBusy,
        Cause::MemoryBusy,
        Cause::TextureBusy,
        Cause::TraceBusy,
        Cause::Drain,
    ];

    /// The name in reports: what is waited for.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Arithmetic => "arithmetic",
            Cause::Special => "rcp and rsq",
            Cause::Load => "loads",
            Cause::Texture => "textures",
            Cause::Trace => "traces",
            Cause::Control => "branches",
            Cause::Stack => "stack in memory",
            Cause::SpecialBusy => "busy rcp/rsq unit",
            Cause::MemoryBusy => "busy memory",
            Cause::TextureBusy => "busy texture unit",
            Cause::TraceBusy => "busy tracing unit",
            Cause::Drain => "too few chunks",
        }
    }
}

/// Cycles in which nothing was issued, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stalls([u64; Cause::ALL.len()]);

impl Stalls {
    /// The cycles of a cause.
    pub fn cycles(&self, cause: Cause) -> u64 {
        self.0[cause as usize]
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The causes with their cycles, those that occurred, most first.
    pub fn ranked(&self) -> Vec<(Cause, u64)> {
        let mut causes: Vec<_> = Cause::ALL.into_iter().map(|c| (c, self.cycles(c))).filter(|(_, n)| *n > 0).collect();
        causes.sort_by_key(|&(cause, cycles)| (std::cmp::Reverse(cycles), cause));
        causes
    }

    /// Adds cycles to a cause.
    pub fn add(&mut self, cause: Cause, cycles: u64) {
        self.0[cause as usize] += cycles;
    }
}

impl std::ops::AddAssign for Stalls {
    fn add_assign(&mut self, other: Stalls) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += b);
    }
}

/// The counts at one code address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AtPc {
    /// Issue slots.
    pub issued: u64,
    /// Threads, summed over those slots.
    pub threads: u64,
    /// Cycles until it could issue, when nothing else could.
    pub stalls: Stalls,
}

impl AtPc {
    /// Issue slots and stalls together: summed over all code addresses, the cycles of all
    /// processors.
    pub fn cycles(&self) -> u64 {
        self.issued + self.stalls.total()
    }
}

impl std::ops::AddAssign for AtPc {
    fn add_assign(&mut self, other: AtPc) {
        self.issued += other.issued;
        self.threads += other.threads;
        self.stalls += other.stalls;
    }
}

/// Statistics of one or several processors.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    /// Cycles until the last processor was done.
    pub cycles: u64,
    /// Cycles of all processors together, each until it was done itself.
    pub processor_cycles: u64,
    /// Processors that ran.
    pub processors: u32,
    /// Instructions issued, each for a chunk or a subchunk: issue slots used.
    pub issued: u64,
    /// Instructions issued times the threads that were active.
    pub executed: u64,
    /// Cycles in which nothing was issued.
    pub stalls: Stalls,
    /// Times that a processor issued for another subchunk than before.
    pub switches: u64,
    /// Times that threads of a chunk diverged.
    pub divergences: u64,
    /// Times that subchunks reconverged at a return.
    pub reconvergences: u64,
    /// Chunks run.
    pub chunks: u64,
    /// Threads run.
    pub threads: u64,
    /// `trace` instructions issued.
    pub traces: u64,
    /// Rays traced.
    pub rays: u64,
    /// The most calls that had not returned.
    pub call_depth: u32,
    /// The most vectors of data stack that a thread reached, the window included.
    pub stack_depth: u32,
    /// Stack vectors written to memory because the stack was full, summed over threads.
    pub spilled: u64,
    /// Stack vectors read back, summed over threads.
    pub restored: u64,
    /// By code address.
    pub at: Vec<AtPc>,
}

impl Stats {
    /// Issue slots used, as a share of all: 0 to 1.
    pub fn utilization(&self) -> f64 {
        ratio(self.issued, self.processor_cycles)
    }

    /// Instructions of single threads that a processor completes in a cycle: 0 to 4.
    pub fn ipc(&self) -> f64 {
        ratio(self.executed, self.processor_cycles)
    }

    /// Active threads an instruction: 1 to 4. This is the coherence of chunks.
    pub fn active_threads(&self) -> f64 {
        ratio(self.executed, self.issued)
    }

    /// Adds the statistics of processors that ran at the same time.
    pub fn beside(&mut self, other: &Stats) {
        let cycles = self.cycles.max(other.cycles);
        let processors = self.processors + other.processors;
        self.then(other);
        (self.cycles, self.processors) = (cycles, processors);
    }

    /// Adds the statistics of the same processors, run afterwards.
    pub fn then(&mut self, other: &Stats) {
        self.cycles += other.cycles;
        self.processors = self.processors.max(other.processors);
        self.processor_cycles += other.processor_cycles;
        self.issued += other.issued;
        self.executed += other.executed;
        self.stalls += other.stalls;
        self.switches += other.switches;
        self.divergences += other.divergences;
        self.reconvergences += other.reconvergences;
        self.chunks += other.chunks;
        self.threads += other.threads;
        self.traces += other.traces;
        self.rays += other.rays;
        self.call_depth = self.call_depth.max(other.call_depth);
        self.stack_depth = self.stack_depth.max(other.stack_depth);
        self.spilled += other.spilled;
        self.restored += other.restored;
        self.at.resize(self.at.len().max(other.at.len()), AtPc::default());
        self.at.iter_mut().zip(&other.at).for_each(|(a, b)| *a += *b);
    }
}

fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(cycles: u64, issued: u64) -> Stats {
        Stats { cycles, processor_cycles: cycles, processors: 1, issued, ..Stats::default() }
    }

    #[test]
    fn processors_side_by_side_take_the_time_of_the_slowest() {
        let mut both = stats(100, 90);
        both.beside(&stats(60, 30));
        assert_eq!((both.cycles, both.processors, both.processor_cycles), (100, 2, 160));
        assert_eq!(both.utilization(), 120.0 / 160.0);
        both.then(&stats(10, 10));
        assert_eq!((both.cycles, both.processors), (110, 2));
    }

    #[test]
    fn causes_are_ranked_by_their_cycles_and_named_differently() {
        let mut stalls = Stalls::default();
        stalls.add(Cause::Load, 3);
        stalls.add(Cause::Trace, 8);
        assert_eq!(stalls.ranked(), [(Cause::Trace, 8), (Cause::Load, 3)]);
        assert_eq!(stalls.total(), 11);
        let names: std::collections::HashSet<_> = Cause::ALL.iter().map(|c| c.name()).collect();
        assert_eq!(names.len(), Cause::ALL.len());
        assert!(Cause::ALL.iter().enumerate().all(|(i, c)| *c as usize == i));
    }
}
