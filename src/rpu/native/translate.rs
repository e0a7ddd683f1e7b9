//! Translates programs, function by function and block by block.

use super::assembler::{Assembler, Label, fixed, memory};
use super::cache::Cache;
use super::context::{Exit, at};
use super::functions::{Function, Item};
use super::liveness::{self, LiveInBlock, Liveness};
use super::stubs::Stub;
use super::translator::{Body, Translator, WayOut};
use super::vectors::Vectors;
use crate::decode::{DecodedControl, DecodedProgram, Flow, Work};
use iced_x86::{Code, Instruction, Register};
use std::collections::{BTreeMap, BTreeSet};

/// Instructions that are translated at most, those that several functions share counted for each.
const MOST_INSTRUCTIONS: usize = 1 << 19;

/// Bytes of code that are generated at most, with what is still to be written for what seldom
/// happens. A load of four vectors, eight bytes of the binary form, takes 4000.
const MOST_BYTES: usize = 64 << 20;

/// A translated program, before it is placed in memory.
pub(super) struct Translation {
    pub bytes: Vec<u8>,
    /// Where each translated function begins, by its code address.
    pub entries: BTreeMap<u32, usize>,
    pub functions: Vec<Translated>,
    /// Functions beyond the limit.
    pub left_out: Vec<u32>,
    /// Where the code of each instruction begins, and the instruction's address; none for what is
    /// behind a function's.
    pub lines: Vec<(usize, Option<u32>)>,
    /// The code that enters other code, and the one that ends the outermost function.
    pub enter: usize,
    pub ended: usize,
}

/// A translated function.
#[derive(Debug)]
pub(super) struct Translated {
    pub function: Function,
    /// Where each item begins, and the function's end.
    pub items: Vec<usize>,
}

/// The largest frame.
pub(super) fn largest_frame(functions: &[Translated]) -> i32 {
    functions.iter().map(|f| f.function.frame_size()).max().unwrap_or(0)
}

/// Translates a program. Functions beyond a limit are left out.
pub(super) fn translate(program: &DecodedProgram, isa: &'static dyn Vectors) -> Translation {
    // Programs without entry points start at their first instruction.
    let mut starts = BTreeSet::from_iter(program.entries.keys().copied().chain([0]));
    starts.extend(program.code.iter().filter_map(|instr| match instr.flow.control() {
        Some(DecodedControl::Call { target, .. }) => Some(target),
        _ => None,
    }));
    let mut left = MOST_INSTRUCTIONS;
    let mut functions = Vec::new();
    let mut left_out = Vec::new();
    let mut starts = starts.into_iter();
    for start in starts.by_ref() {
        let function = Function::at(&program.code, start);
        if function.len() == 0 {
            continue;
        }
        let Some(rest) = left.checked_sub(function.len()) else {
            left_out.push(start);
            break;
        };
        left = rest;
        functions.push(function);
    }
    left_out.extend(starts);
    let entries: Vec<u32> = functions.iter().map(|function| function.entry).collect();
    loop {
        match attempt(program, isa, functions, MOST_BYTES) {
            Ok(translation) => {
                let beyond = &entries[translation.functions.len()..];
                return Translation { left_out: [beyond, &left_out].concat(), ..translation };
            }
            // Those functions fit, as a call to one that is left out takes less code.
            Err(fitting) => functions = fitting,
        }
    }
}

/// Translates functions, unless that takes more than some bytes: then it returns those that fit.
fn attempt(
    program: &DecodedProgram,
    isa: &'static dyn Vectors,
    mut functions: Vec<Function>,
    most: usize,
) -> Result<Translation, Vec<Function>> {
    let mut a = Assembler::new();
    let leave = a.label();
    let entries = functions.iter().map(|f| (f.entry, a.label())).collect();
    let mut translator = Translator {
        program,
        isa,
        a,
        cache: Cache::new(isa.registers()),
        pool: program.steps.pool.len(),
        entries,
        leave,
        outs: Vec::new(),
        lines: Vec::new(),
        stubs: Vec::new(),
        bytes_of_stubs: 0,
    };
    let (enter, ended) = translator.edges();
    let mut items = Vec::with_capacity(functions.len());
    for (number, function) in functions.iter().enumerate() {
        match translator.function(function, number as u32, most) {
            Some(labels) => items.push(labels),
            None => {
                functions.truncate(number);
                return Err(functions);
            }
        }
    }
    let place = |label: Label| translator.a.position(label).expect("translated");
    let entries = translator.entries.iter().map(|(&pc, &label)| (pc, place(label))).collect();
    let functions = functions
        .into_iter()
        .zip(items)
        .map(|(function, items)| Translated { function, items: items.into_iter().map(place).collect() })
        .collect();
    let lines = translator.lines;
    Ok(Translation { entries, functions, left_out: Vec::new(), lines, enter, ended, bytes: translator.a.finish() })
}

impl Translator<'_> {
    /// The code that is entered from outside and leaves to there.
    fn edges(&mut self) -> (usize, usize) {
        use Register::{R12, R13, R14, R15, RBP, RBX, RDI, RSI, RSP};
        let saved = [RBX, RBP, R12, R13, R14, R15];
        let enter = self.a.len();
        for register in saved {
            self.a.put(Instruction::with1(Code::Push_r64, register));
        }
        // Calls need the stack aligned to 16.
        self.a.add_64(RSP, -8);
        self.a.put(Instruction::with2(Code::Mov_r64_rm64, fixed::CONTEXT, RDI));
        self.a.load_64(fixed::FILE, fixed::CONTEXT, at::FILE);
        self.a.load_64(fixed::LANES, fixed::CONTEXT, at::LANES);
        self.a.load_64(fixed::WINDOW, fixed::CONTEXT, at::WINDOW);
        self.a.load_64(fixed::FRAME, fixed::CONTEXT, at::FRAME);
        self.a.load(fixed::MASK, fixed::CONTEXT, at::MASK);
        self.isa.activate(&mut self.a, fixed::MASK);
        self.a.put(Instruction::with1(Code::Jmp_rm64, RSI));
        let ended = self.a.len();
        self.a.store_constant(fixed::CONTEXT, at::EXIT, Exit::Ended as u32);
        self.a.place(self.leave);
        self.a.store_64(fixed::CONTEXT, at::WINDOW, fixed::WINDOW);
        self.a.store_64(fixed::CONTEXT, at::FRAME, fixed::FRAME);
        self.a.store(fixed::CONTEXT, at::MASK, fixed::MASK);
        self.a.put(Ok(Instruction::with(Code::VEX_Vzeroupper)));
        self.a.add_64(RSP, 8);
        for register in saved.into_iter().rev() {
            self.a.put(Instruction::with1(Code::Pop_r64, register));
        }
        self.a.put(Ok(Instruction::with(Code::Retnq)));
        (enter, ended)
    }

    /// Translates a function; `None` when all code would take more than `most` bytes.
    fn function(&mut self, function: &Function, number: u32, most: usize) -> Option<Vec<Label>> {
        let liveness = Liveness::new(self.program, function);
        let items: Vec<Label> = (0..=function.items.len()).map(|_| self.a.label()).collect();
        let tops = function.blocks.iter().map(|_| self.a.label()).collect();
        let body =
            Body { function, liveness, items, tops, frame: function.frame_size(), last_loop: function.last_loop() };
        self.a.place(self.entries[&function.entry]);
        self.a.store_constant(fixed::FRAME, at::HEAD_FUNCTION, number);
        let first = function.block_at(function.entry).map_or(0, |block| function.blocks[block].item);
        if first != 0 {
            self.a.jump(Code::Jmp_rel32_64, body.items[first]);
        }
        for (item, what) in function.items.iter().enumerate() {
            self.a.place(body.items[item]);
            match *what {
                Item::Block(block) => self.block(&body, block, most),
                Item::LoopEnd(header) => self.loop_end(&body, item, header),
            }
            if self.is_above(most) {
                return None;
            }
        }
        self.a.place(body.items[function.items.len()]);
        self.lines.push((self.a.len(), None));
        self.a.load(fixed::MASK, fixed::FRAME, at::HEAD_MASK);
        self.a.put(Instruction::with2(Code::Sub_rm32_imm32, memory(fixed::CONTEXT, at::DEPTH), 1));
        self.a.put(Instruction::with1(Code::Jmp_rm64, memory(fixed::FRAME, at::HEAD_RESUME)));
        self.write_stubs(&body);
        for WayOut { label, exit, pc, resume } in std::mem::take(&mut self.outs) {
            self.a.place(label);
            self.a.store_constant(fixed::CONTEXT, at::EXIT, exit as u32);
            self.a.store_constant(fixed::CONTEXT, at::PC, pc);
            if let Some(resume) = resume {
                self.a.address(Register::RAX, resume);
                self.a.store_64(fixed::CONTEXT, at::RESUME, Register::RAX);
            }
            self.a.jump(Code::Jmp_rel32_64, self.leave);
        }
        (!self.is_above(most)).then_some(body.items)
    }

    /// Goes back to a loop's header when lanes wait there.
    fn loop_end(&mut self, body: &Body<'_>, item: usize, header: usize) {
        if body.function.is_single(header) {
            return;
        }
        let waiting = body.function.blocks[header].slot.map(|slot| body.slot(slot)).unwrap_or_default();
        let done = self.a.label();
        self.a.put(Instruction::with2(Code::Cmp_rm32_imm8, memory(fixed::FRAME, waiting), 0));
        self.a.jump(Code::Je_rel32_64, done);
        if let Some(Item::Block(next)) = body.function.items.get(item + 1)
            && let Some(slot) = body.function.blocks[*next].slot
        {
            self.wait(body, slot, fixed::MASK);
        }
        self.a.xor_32(fixed::MASK, fixed::MASK);
        self.a.jump(Code::Jmp_rel32_64, body.items[body.function.blocks[header].item]);
        self.a.place(done);
    }

    fn block(&mut self, body: &Body<'_>, number: usize, most: usize) {
        let block = &body.function.blocks[number];
        self.cache.clear();
        if let Some(slot) = block.slot {
            let slot = memory(fixed::FRAME, body.slot(slot));
            self.a.put(Instruction::with2(Code::Or_r32_rm32, fixed::MASK, slot));
            self.a.put(Instruction::with2(Code::Mov_rm32_imm32, slot, 0));
        } else {
            self.a.test_32(fixed::MASK);
        }
        self.a.jump(Code::Je_rel32_64, body.items[body.function.after_idle(block.item)]);
        self.a.place(body.tops[number]);
        if body.last_loop == Some(number) {
            self.check_idle(block.start);
        }
        self.isa.activate(&mut self.a, fixed::MASK);
        let live = body.liveness.in_block(self.program, body.function, block);
        for (i, pc) in (block.start..block.end).enumerate() {
            self.instruction(body, number, pc, &live, i);
            if self.is_above(most) {
                return;
            }
        }
        if !self.program.code[block.end as usize - 1].flow.never_falls_through() {
            self.flush(&live[live.len() - 1]);
            if body.function.block_at(block.end).is_none() {
                // The program ends without a return.
                let out = self.way_out(Exit::PastEnd, block.end, None);
                self.a.test_32(fixed::MASK);
                self.a.jump(Code::Jne_rel32_64, out);
            }
        }
    }

    /// Leaves the code when so few lanes are in the loop that others could start.
    fn check_idle(&mut self, pc: u32) {
        let top = self.a.label();
        let out = self.way_out(Exit::Idle, pc, Some(top));
        self.a.put(Instruction::with2(Code::Cmp_rm32_imm8, memory(fixed::CONTEXT, at::DEPTH), 0));
        self.a.jump(Code::Jne_rel32_64, top);
        self.a.put(Instruction::with2(Code::Popcnt_r32_rm32, Register::EAX, fixed::MASK));
        self.a.put(Instruction::with2(Code::Cmp_r32_rm32, Register::EAX, memory(fixed::CONTEXT, at::IDLE_BELOW)));
        self.a.jump(Code::Jl_rel32_64, out);
        self.a.place(top);
    }

    fn instruction(&mut self, body: &Body<'_>, number: usize, pc: u32, live: &LiveInBlock, i: usize) {
        let instr = &self.program.code[pc as usize];
        self.lines.push((self.a.len(), Some(pc)));
        let after = match instr.flow.jump_target() {
            Some(target) => live[i + 1].union(body.liveness.at(body.function, target)),
            None => live[i + 1],
        };
        let after = liveness::after_work(instr, after);
        let mut tested = false;
        match &instr.work {
            Work::Nothing => {}
            Work::Arith { steps, tests } => {
                let steps = &self.program.steps.list[steps.start as usize..steps.end as usize];
                let fused = tests.as_deref().and_then(|tests| self.fusible(steps, tests, &after));
                let (plain, last) = steps.split_at(steps.len() - usize::from(fused.is_some()));
                for step in plain {
                    self.step(step);
                    self.cache.unpin();
                }
                if let (Some((kind, test)), [step]) = (fused, last) {
                    self.fused(step, kind, test);
                    tested = true;
                } else if let Some(tests) = tests {
                    self.tests(tests);
                    tested = true;
                }
                self.cache.unpin();
            }
            Work::Trace(_) => self.trace(pc, &live[i]),
            Work::Load { to, count, base, offset } => self.load(pc, (*to, *count), (*base, *offset), &live[i], &after),
            Work::Store { base, offset, src } => self.store_vector(pc, *base, *offset, src, &live[i]),
            Work::TexLoad { .. } | Work::TexStore { .. } => self.call_work(pc, &live[i]),
        }
        self.cache.retain(|c| after.contains(c));
        match (instr.flow, tested) {
            (Flow::Next, _) => {}
            (Flow::Always(control), _) => self.always(body, number, pc, control, &after),
            (Flow::If(control), true) => self.conditional(body, number, pc, control, &live[i + 1]),
            (Flow::If(_), false) => {}
        }
    }

    fn write_stubs(&mut self, body: &Body<'_>) {
        while let Some(stub) = self.stubs.pop() {
            self.bytes_of_stubs -= stub.bytes();
            match stub {
                Stub::Jump(jump) => self.write_jump(body, jump),
                Stub::Load(load) => self.write_load(load),
                Stub::Slow(slow) => self.write_slow(slow, Vec::new()),
            }
        }
    }
}
