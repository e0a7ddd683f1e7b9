//! Runs translated programs: the vectors of a block, one after the other, until each waits for rays
//! or has ended; then their rays, all at once.

use super::context::{Context, Exit, FrameHead, inside};
use super::functions::{self, Item};
use super::memory::Executable;
use super::translate::Translated;
use crate::block::{Block, Frame, Pointers};
use crate::column;
use crate::decode::{DecodedProgram, Work};
use crate::executor::{Executor, Group};
use crate::interpreter;
use crate::isa::MAX_PUSH;
use crate::lanes::BLOCK;
use crate::launch::{Launch, Supply};
use crate::limits::{ExecutionError, RunReport};
use std::sync::atomic::Ordering;

/// Bytes of a column, and of a vector of the stack.
const COLUMN: usize = super::context::COLUMN as usize;
const VECTOR: usize = super::context::VECTOR as usize;

/// Bytes of the frames of a block's vectors, at most: calls that go deeper are the interpreter's.
const MOST_FRAMES: usize = 64 << 20;

/// A vector of a quarter of its lanes has room for other threads.
const IDLE_SHARE: u32 = 4;

/// The next action of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VectorState {
    /// Goes on at an address.
    Ready(u64),
    /// Waits for rays, then continues at an address.
    Waits(u64),
    Ended,
}

/// A vector: lanes that run together.
struct Vector {
    /// The first lane.
    first: usize,
    /// Words of its frames, and the offset of the top one in bytes.
    frames: Vec<u64>,
    frame: usize,
    /// Vectors between the stack's bottom and the window's.
    window: u32,
    depth: u32,
    mask: u32,
    state: VectorState,
    /// The code address where it is.
    pc: u32,
    /// True if it may start other threads.
    refills: bool,
}

impl Vector {
    /// A frame's fixed part, and where its slots are.
    fn head(&mut self, at: usize) -> &mut FrameHead {
        let head = &mut self.frames[at / 8..(at + size_of::<FrameHead>()) / 8];
        // SAFETY: a frame begins at a multiple of 16 bytes and is at least as long as its fixed
        // part, which is plain words.
        unsafe { &mut *head.as_mut_ptr().cast::<FrameHead>() }
    }

    /// The lanes that wait in a slot.
    fn slot(&mut self, at: usize, slot: usize) -> &mut u32 {
        let word = at + size_of::<FrameHead>() + 4 * slot;
        let pair = &mut self.frames[word / 8..][..1];
        // SAFETY: the word is one half of the pair.
        unsafe { &mut *pair.as_mut_ptr().cast::<u32>().add(word / 4 % 2) }
    }

    /// The lanes of a mask, as lanes of the block.
    fn lanes(&self, mask: u32) -> u64 {
        u64::from(mask) << self.first
    }
}

/// The data that the functions that generated code calls work on.
struct Host<'m> {
    executor: Executor<'m>,
    program: &'m DecodedProgram,
    /// The block, `S0.x` of the running vector's first lane for the window at the stack's bottom,
    /// and that lane.
    block: *mut Block,
    stack: *mut u8,
    first: usize,
    error: Option<ExecutionError>,
}

/// Executes an instruction's work: see [`super::context::Work`].
extern "sysv64" fn work(context: *mut Context, pc: u32, mask: u32) -> u32 {
    // SAFETY: generated code gives the context that it was entered with, whose `run` is a host that
    // nothing else uses while the code runs.
    let (context, host) = unsafe { (&mut *context, &mut *(*context).run.cast::<Host<'_>>()) };
    let window = (context.window.addr() - host.stack.addr()) / VECTOR;
    let mask = u64::from(mask) << host.first;
    let group = Group { mask, pc, depth: context.depth, window: window as u32 };
    // SAFETY: the block outlives the run, and only generated code uses it meanwhile, which waits.
    let block = unsafe { &mut *host.block };
    let done = host.executor.work(block, &host.program.code[pc as usize].work, group);
    context.reaches(block.scratch_pointer(), host.first);
    match done {
        Ok(_) => 0,
        Err(error) => {
            host.error = Some(error);
            1
        }
    }
}

/// A run of a block.
pub(super) struct Run<'m, 's, 'b> {
    launch: &'m Launch<'m>,
    code: &'m Executable,
    width: usize,
    block: &'b mut Block,
    context: Box<Context>,
    host: Host<'m>,
    vectors: Vec<Vector>,
    entry: u32,
    /// The address of the entry's code.
    start: u64,
    last_loop: Option<LastLoop>,
    supply: Option<&'b mut Supply<'s>>,
}

/// The loop of the entry that ends last.
struct LastLoop {
    /// The slot of its header, its address, and its code address.
    slot: usize,
    header: u64,
    pc: u32,
    /// The address of the code behind the loop.
    behind: u64,
}

impl LastLoop {
    fn find(code: &Executable, entry: u32) -> Option<LastLoop> {
        let Translated { function, items, .. } = code.functions.iter().find(|f| f.function.entry == entry)?;
        let header = function.last_loop()?;
        let end = function.items.iter().position(|item| *item == Item::LoopEnd(header))?;
        let functions::Block { slot, item, start, .. } = &function.blocks[header];
        let address = |item: usize| code.address(items[item]);
        Some(LastLoop { slot: (*slot)?, header: address(*item), pc: *start, behind: address(end + 1) })
    }
}

impl<'m, 's, 'b> Run<'m, 's, 'b> {
    /// A run of the lanes in `active`, in vectors of `width`. The block is prepared.
    pub fn new(
        launch: &'m Launch<'m>,
        code: &'m Executable,
        width: usize,
        block: &'b mut Block,
        entry: u32,
        active: u64,
        supply: Option<&'b mut Supply<'s>>,
    ) -> Self {
        let mut context = Box::new(Context::new(work));
        context.stop = std::ptr::from_ref(launch.stop).cast();
        context.entries = code.entries().as_ptr();
        context.image = launch.memory.as_ptr();
        context.depth_limit = launch.limits.call_depth;
        context.budget = launch.limits.budget;
        context.code_len = code.entries().len() as u32;
        // Scratch memory begins at 2³¹.
        context.inside = inside(launch.memory.len().min(1 << 31));
        // Two of the largest, which has a word for each two instructions at most, fit in any case.
        let words = (4 * code.largest_frame()).min(MOST_FRAMES / (BLOCK / width)) / 8;
        let start = code.entries()[entry as usize];
        let refills = supply.is_some();
        let last_loop = if refills { LastLoop::find(code, entry) } else { None };
        let vectors = (0..BLOCK / width)
            .map(|n| {
                let first = n * width;
                let mask = (active >> first) as u32 & ((1 << width) - 1);
                let mut vector = Vector {
                    first,
                    frames: if mask == 0 { Vec::new() } else { vec![0; words] },
                    frame: 0,
                    window: 0,
                    depth: 0,
                    mask,
                    state: if mask == 0 { VectorState::Ended } else { VectorState::Ready(start) },
                    pc: entry,
                    refills,
                };
                if mask != 0 {
                    *vector.head(0) = FrameHead { resume: code.ended(), mask, ..FrameHead::default() };
                }
                vector
            })
            .collect();
        let (executor, program) = (Executor::new(launch), launch.program);
        let null = std::ptr::null_mut();
        let host = Host { executor, program, block: std::ptr::null_mut(), stack: null, first: 0, error: None };
        Run { launch, code, width, block, context, host, vectors, entry, start, last_loop, supply }
    }

    /// Runs all threads to their end.
    pub fn finish(mut self) -> Result<RunReport, ExecutionError> {
        loop {
            for number in 0..self.vectors.len() {
                while let VectorState::Ready(at) = self.vectors[number].state {
                    if self.advance(number, at)? {
                        return self.interpret(number);
                    }
                }
            }
            if !self.trace() {
                break;
            }
        }
        let Executor { rays, bad_loads, .. } = self.host.executor;
        Ok(RunReport { rays, bad_loads, ..RunReport::default() })
    }

    /// Runs a vector from an address until it waits or ends, or its code leaves for another reason.
    /// Returns whether it is at a call that the interpreter makes: the function is not translated, or
    /// has no room for its frame.
    fn advance(&mut self, number: usize, at: u64) -> Result<bool, ExecutionError> {
        let Pointers { file, window_end, spent } = self.block.pointers();
        let vector = &mut self.vectors[number];
        let Vector { first, .. } = *vector;
        let stack = file.wrapping_add(4 * first + COLUMN * usize::from(column::STACK));
        let frames = vector.frames.as_mut_ptr().cast::<u8>();
        let host = &mut self.host;
        (host.block, host.stack, host.first) = (std::ptr::from_mut(self.block), stack, first);
        let context = &mut *self.context;
        context.file = file;
        context.lanes = file.wrapping_add(4 * first);
        context.window = stack.wrapping_add(VECTOR * vector.window as usize);
        context.window_end = stack.wrapping_add(VECTOR * window_end as usize);
        context.frame = frames.wrapping_add(vector.frame);
        context.frame_end = frames.wrapping_add(8 * vector.frames.len() - self.code.largest_frame());
        context.spent = spent.wrapping_add(first);
        context.reaches(self.block.scratch_pointer(), first);
        (context.mask, context.depth) = (vector.mask, vector.depth);
        let threads = vector.head(0).mask.count_ones();
        let room = (self.width as u32 / IDLE_SHARE).max(1);
        context.idle_below = if vector.refills { 1 + threads as i32 - room as i32 } else { 0 };
        context.run = std::ptr::from_mut(host).cast();
        // SAFETY: the pointers lead to the block, whose stack does not grow while the code runs,
        // to the vector's frames and to the execution context; the address is of this code.
        unsafe { self.code.enter(context, at) };
        vector.frame = context.frame.addr() - frames.addr();
        vector.window = ((context.window.addr() - stack.addr()) / VECTOR) as u32;
        (vector.mask, vector.depth, vector.pc) = (context.mask, context.depth, context.pc);
        let (pc, window) = (vector.pc, vector.window);
        match Exit::from_number(context.exit) {
            Some(Exit::Trace) => vector.state = VectorState::Waits(context.resume),
            Some(Exit::Ended) => {
                vector.depth = 0;
                self.ended(number);
            }
            Some(Exit::Idle) => {
                let resume = context.resume;
                self.idle(number, resume);
            }
            Some(Exit::Grow) => {
                vector.state = VectorState::Ready(context.resume);
                let (bytes, largest) = (8 * vector.frames.len(), self.code.largest_frame());
                if vector.frame + 2 * largest > bytes {
                    if 2 * bytes > MOST_FRAMES / self.vectors.len() {
                        return Ok(true);
                    }
                    self.vectors[number].frames.resize(bytes / 4, 0);
                }
                // No deeper than the calls that are allowed.
                let deepest = self.launch.limits.call_depth.saturating_mul(u32::from(MAX_PUSH));
                self.block.reach((2 * window + u32::from(MAX_PUSH)).min(deepest));
            }
            Some(Exit::Untranslated) => return Ok(true),
            Some(Exit::Budget) => {
                self.launch.stop.store(true, Ordering::Relaxed);
                return Err(ExecutionError::Budget { pc, budget: self.launch.limits.budget });
            }
            Some(Exit::CallDepth) => {
                return Err(ExecutionError::CallDepth { pc, limit: self.launch.limits.call_depth });
            }
            Some(Exit::BadCall) => return Err(ExecutionError::BadCall { pc, target: context.target }),
            Some(Exit::PastEnd) => return Err(ExecutionError::PastEnd { pc }),
            Some(Exit::Failed) | Some(Exit::Stopped) | None => {
                return Err(self.host.error.take().unwrap_or(ExecutionError::Stopped));
            }
        }
        Ok(false)
    }

    /// Traces the rays of all vectors that wait; `false` when none does.
    fn trace(&mut self) -> bool {
        let Host { executor, program, .. } = &mut self.host;
        for vector in &mut self.vectors {
            let VectorState::Waits(resume) = vector.state else { continue };
            if let Work::Trace(sources) = &program.code[vector.pc as usize].work {
                let Vector { window, depth, pc, .. } = *vector;
                let mask = vector.lanes(vector.mask);
                let lanes = vector.first..vector.first + self.width;
                executor.add_rays(self.block, Group { mask, pc, depth, window }, lanes, sources);
            }
            vector.state = VectorState::Ready(resume);
            vector.pc += 1;
        }
        executor.trace_rays(self.block)
    }

    /// Takes the results of a vector's threads that have ended and starts others, or lets those go
    /// on that wait in the last loop.
    fn ended(&mut self, number: usize) {
        let vector = &mut self.vectors[number];
        let held = self.last_loop.as_ref().map_or(0, |last| *vector.slot(0, last.slot));
        let mut new = 0;
        if let Some(supply) = &mut self.supply {
            let done = vector.head(0).mask & !held;
            new = (supply(self.block, vector.lanes(done)) >> vector.first) as u32;
            vector.refills &= new != 0;
        }
        vector.head(0).mask = held | new;
        vector.mask = new;
        vector.state = match (&self.last_loop, new, held) {
            (_, 0, 0) => VectorState::Ended,
            (Some(last), 0, _) => {
                vector.pc = last.pc;
                VectorState::Ready(last.header)
            }
            _ => {
                vector.pc = self.entry;
                VectorState::Ready(self.start)
            }
        };
    }

    /// Runs the lanes to their end that have left the last loop; those in it wait.
    fn idle(&mut self, number: usize, resume: u64) {
        let vector = &mut self.vectors[number];
        match &self.last_loop {
            Some(last) => {
                *vector.slot(0, last.slot) |= vector.mask;
                vector.mask = 0;
                vector.state = VectorState::Ready(last.behind);
            }
            None => vector.state = VectorState::Ready(resume),
        }
    }

    /// Continues on the interpreter, which makes the call that a vector is at.
    fn interpret(mut self, calls: usize) -> Result<RunReport, ExecutionError> {
        let executor = &mut self.host.executor;
        let mut groups = Vec::new();
        let with_frames = |(_, vector): &(usize, &mut Vector)| !vector.frames.is_empty();
        for (number, vector) in self.vectors.iter_mut().enumerate().filter(with_frames) {
            let (mut at, mut depth, mut window) = (0, 0, 0);
            loop {
                let FrameHead { function, pc, push, mask, .. } = *vector.head(at);
                let Translated { function, .. } = &self.code.functions[function as usize];
                // The lanes that have not returned from this call.
                let mut inside = 0;
                for block in &function.blocks {
                    let Some(slot) = block.slot else { continue };
                    let mask = *vector.slot(at, slot);
                    inside |= mask;
                    groups.push(Group { mask: vector.lanes(mask), pc: block.start, depth, window });
                }
                for (pc, slot) in function.rests() {
                    let mask = *vector.slot(at, slot);
                    inside |= mask;
                    if mask != 0 {
                        let group = Group { mask: vector.lanes(mask), pc, depth, window };
                        groups.extend(executor.enter_call(self.block, group)?);
                    }
                }
                let next = at + function.frame_size() as usize;
                let is_top = at == vector.frame;
                inside |= if is_top { vector.mask } else { vector.head(next).mask };
                if depth > 0 {
                    let mask = vector.lanes(mask & !inside);
                    groups.push(Group { mask, pc, depth: depth - 1, window: window - push });
                }
                if is_top {
                    break;
                }
                at = next;
                let FrameHead { pc, push, mask, .. } = *vector.head(at);
                window += push;
                let frame = Frame { pc, push: push as u8 };
                self.block.push_frame(depth, vector.lanes(mask), frame, window);
                depth += 1;
            }
            if vector.state != VectorState::Ended {
                let top = Group { mask: vector.lanes(vector.mask), pc: vector.pc, depth, window };
                match number == calls {
                    true => groups.extend(executor.enter_call(self.block, top)?),
                    false => groups.push(top),
                }
            }
        }
        groups.retain(|group| group.mask != 0);
        self.block.counted_outside();
        let supply = self.supply.take();
        let report = interpreter::resume(self.launch, self.block, self.entry, groups, supply)?;
        Ok(RunReport { rays: report.rays + executor.rays, bad_loads: report.bad_loads | executor.bad_loads, ..report })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asm::assemble;
    use crate::isa::{Component, Reg};
    use crate::native::best;
    use crate::native::translate::translate;
    use crate::{self as rpu, EmptyScene, Limits};
    use shadewright_base::text::source::FileId;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn frames_take_at_most_64_mebibytes_and_then_the_interpreter_runs_the_calls() {
        const DEPTH: u32 = 9000;
        let Some(vectors) = best() else { return };
        let places: String = (0..500).map(|i| format!("add R2, R2, 1.0 + jmp l{i}, or x (<0)\nl{i}:\n")).collect();
        let text = format!(
            "call f push 1
            return
            f: iadd R1.w, R1.w, #1
            icmp R15.w, R1.w, #{DEPTH} + jmp deeper, w (<0)
            jmp behind
            deeper: call f push 1
            behind: add R15, R4, -1.0 + jmp places, or x (>=0)
            iadd R3.w, R3.w, #1
            return
            places: {places}return"
        );
        let program = assemble(&text, FileId(0)).expect("it assembles").program;
        let program = rpu::Executable::new(&program).expect("it is valid");
        let decoded = program.decoded();
        let Ok(code) = Executable::new(translate(decoded, vectors), decoded.code.len()) else { return };
        let launch = Launch {
            program: decoded,
            constants: &[[0; 4]; 32],
            memory: &[],
            textures: &[],
            shaders: &[],
            tracer: &EmptyScene,
            limits: Limits::default(),
            stop: &AtomicBool::new(false),
        };
        let mut block = Block::new();
        block.begin();
        block.prepare(&decoded.steps, launch.constants);
        let mut run = Run::new(&launch, &code, vectors.lanes(), &mut block, 0, u64::MAX, None);
        let mut is_left = false;
        while let VectorState::Ready(at) = run.vectors[0].state
            && !is_left
        {
            is_left = run.advance(0, at).expect("it keeps its limits");
        }
        let bytes = 8 * run.vectors[0].frames.len();
        assert!(is_left && bytes <= MOST_FRAMES / run.vectors.len(), "{bytes} bytes");
        run.interpret(0).expect("it runs to its end");
        assert_eq!([0, 63].map(|lane| block.get(Reg::R(3), Component::W, lane)), [DEPTH; 2]);
    }
}
