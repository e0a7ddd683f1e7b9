//! Translates programs: control flow, calls, and the instructions that are not arithmetic.

use super::assembler::{Assembler, Label, Place as At, fixed, memory};
use super::cache::Cache;
use super::context::{Exit, FRAME_HEAD, at, constant};
use super::functions::{Block, Function, Item};
use super::liveness::{Columns, LiveInBlock, Liveness};
use super::vectors::{Binary, Kind, Order, Vectors, constant_place};
use crate::rpu::block::column;
use crate::rpu::decode::{DecodedControl, DecodedProgram, Flow, Work};
use crate::rpu::isa::{Component, Multiplier};
use crate::rpu::lanes::BLOCK;
use crate::rpu::machine::SCRATCH_BASE;
use crate::rpu::step::{Operand, Place, Test, Tests};
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a column, and of a vector of the stack.
const COLUMN: i32 = 4 * BLOCK as i32;
const VECTOR: i32 = 4 * COLUMN;

/// Instructions that are translated at most, those that several functions share counted for each.
const MOST_INSTRUCTIONS: usize = 1 << 19;

/// A translated program, before it is placed in memory.
pub(super) struct Translation {
    pub bytes: Vec<u8>,
    /// Where each translated function begins, by its code address.
    pub entries: BTreeMap<u32, usize>,
    pub functions: Vec<Translated>,
    /// The code that enters other code, and the one that ends the outermost function.
    pub enter: usize,
    pub ended: usize,
}

/// A translated function.
#[derive(Debug)]
pub(super) struct Translated {
    pub function: Function,
    /// Bytes of its frame.
    pub frame: i32,
    /// Where each item begins, and the function's end.
    pub items: Vec<usize>,
}

/// A way out of a function's code, written after it.
struct WayOut {
    label: Label,
    exit: Exit,
    pc: u32,
    resume: Option<Label>,
}

pub(super) struct Translator<'p> {
    pub(super) program: &'p DecodedProgram,
    pub(super) isa: &'static dyn Vectors,
    pub(super) a: Assembler,
    pub(super) cache: Cache,
    /// The number of pool columns.
    pub(super) pool: usize,
    entries: BTreeMap<u32, Label>,
    leave: Label,
    outs: Vec<WayOut>,
    /// What is written out of the way: a condition that seldom holds.
    stubs: Vec<Stub>,
}

/// Code that is written after a function's.
enum Stub {
    Jump(Jump),
    Load(Load),
    Slow(Slow),
}

/// Lanes that jump: their way out of a block.
struct Jump {
    label: Label,
    /// Columns to store for them, with their registers.
    stores: Vec<(u16, Register)>,
    /// The slot where they wait, unless they return.
    slot: Option<usize>,
    /// Where the code continues when none stays, and whether that is where they go.
    all: Label,
    direct: bool,
    /// The address of a backward jump, which is counted.
    spends: Option<u32>,
    back: Label,
}

/// A load from several addresses, or from scratch memory.
struct Load {
    gather: Label,
    beyond: Label,
    slow: Slow,
    to: u16,
    offset: i16,
    /// 0 for one vector, 1 for four.
    quad: i32,
    /// The addresses without the offset, and a free register.
    bases: Register,
    other: Register,
    results: Vec<Register>,
}

/// An access that the engine makes.
struct Slow {
    label: Label,
    done: Label,
    pc: u32,
    /// New values, and all that are in registers, which a call loses.
    spills: Vec<(u16, Register)>,
    kept: Vec<(Place, Register)>,
}

/// A function that is being translated.
struct Body<'f> {
    function: &'f Function,
    liveness: Liveness,
    /// Labels of the items, and of the end.
    items: Vec<Label>,
    /// Labels of blocks' bodies, for jumps back with all lanes that go there.
    tops: Vec<Label>,
    frame: i32,
}

impl Body<'_> {
    fn slot(&self, slot: usize) -> i32 {
        FRAME_HEAD + 4 * slot as i32
    }
}

/// Bytes of a function's frame: a multiple of 16.
fn frame_size(function: &Function) -> i32 {
    (FRAME_HEAD + 4 * function.slots as i32 + 15) & !15
}

/// The largest frame.
pub(super) fn largest_frame(functions: &[Translated]) -> i32 {
    functions.iter().map(|f| f.frame).max().unwrap_or(0)
}

/// Translates a program. Functions beyond a limit are left out.
pub(super) fn translate(program: &DecodedProgram, isa: &'static dyn Vectors) -> Translation {
    // Programs without entry points start at their first instruction.
    let mut starts = BTreeSet::from_iter(program.entries.iter().copied().chain([0]));
    starts.extend(program.code.iter().filter_map(|instr| match instr.flow {
        Flow::Always(DecodedControl::Call { target, .. }) | Flow::If(DecodedControl::Call { target, .. }) => {
            Some(target)
        }
        _ => None,
    }));
    let mut left = MOST_INSTRUCTIONS;
    let mut functions = Vec::new();
    for start in starts {
        let function = Function::at(&program.code, start);
        if function.len() == 0 {
            continue;
        }
        let Some(rest) = left.checked_sub(function.len()) else { break };
        left = rest;
        functions.push(function);
    }
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
        stubs: Vec::new(),
    };
    let (enter, ended) = translator.edges();
    let bodies: Vec<(Function, i32, Vec<Label>)> = functions
        .into_iter()
        .enumerate()
        .map(|(number, function)| {
            let items = translator.function(&function, number as u32);
            let frame = frame_size(&function);
            (function, frame, items)
        })
        .collect();
    let place = |label: Label| translator.a.position(label).expect("translated");
    let entries = translator.entries.iter().map(|(&pc, &label)| (pc, place(label))).collect();
    let functions = bodies
        .into_iter()
        .map(|(function, frame, items)| Translated { function, frame, items: items.into_iter().map(place).collect() })
        .collect();
    Translation { entries, functions, enter, ended, bytes: translator.a.finish() }
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

    /// A label that leaves the code.
    fn way_out(&mut self, exit: Exit, pc: u32, resume: Option<Label>) -> Label {
        let label = self.a.label();
        self.outs.push(WayOut { label, exit, pc, resume });
        label
    }

    fn function(&mut self, function: &Function, number: u32) -> Vec<Label> {
        let liveness = Liveness::of(self.program, function);
        let items: Vec<Label> = (0..=function.items.len()).map(|_| self.a.label()).collect();
        let tops = function.blocks.iter().map(|_| self.a.label()).collect();
        let body = Body { function, liveness, items, tops, frame: frame_size(function) };
        self.a.place(self.entries[&function.entry]);
        self.a.store_constant(fixed::FRAME, at::HEAD_FUNCTION, number);
        let first = function.block_at(function.entry).map_or(0, |block| function.blocks[block].item);
        if first != 0 {
            self.a.jump(Code::Jmp_rel32_64, body.items[first]);
        }
        for (item, what) in function.items.iter().enumerate() {
            self.a.place(body.items[item]);
            match *what {
                Item::Block(block) => self.block(&body, block),
                Item::LoopEnd(header) => self.loop_end(&body, item, header),
            }
        }
        self.a.place(body.items[function.items.len()]);
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
        body.items
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

    /// Adds lanes to those that wait.
    fn wait(&mut self, body: &Body<'_>, slot: usize, lanes: Register) {
        self.a.put(Instruction::with2(Code::Or_rm32_r32, memory(fixed::FRAME, body.slot(slot)), lanes));
    }

    fn block(&mut self, body: &Body<'_>, number: usize) {
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
        if body.function.last_loop() == Some(number) {
            self.check_idle(block.start);
        }
        self.isa.activate(&mut self.a, fixed::MASK);
        let live = body.liveness.in_block(self.program, body.function, block);
        for (i, pc) in (block.start..block.end).enumerate() {
            self.instruction(body, number, pc, &live, i);
        }
        let last = self.program.code[block.end as usize - 1].flow;
        let ended = matches!(last, Flow::Always(DecodedControl::Jmp(_) | DecodedControl::Return));
        if !ended {
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

    /// Where a column is in memory.
    fn address(&self, c: u16) -> (Register, i32) {
        match c.checked_sub(column::STACK) {
            None => (fixed::LANES, COLUMN * i32::from(c)),
            Some(c) => (fixed::WINDOW, COLUMN * i32::from(c)),
        }
    }

    /// A register for a new value.
    pub(super) fn take(&mut self) -> Register {
        let (register, lost) = self.cache.take();
        for c in lost {
            self.store(c, register);
        }
        register
    }

    fn store(&mut self, c: u16, register: Register) {
        let (base, at) = self.address(c);
        self.isa.store_active(&mut self.a, base, at, register);
    }

    /// The register of a value.
    pub(super) fn value(&mut self, place: Place) -> Register {
        if let Some(register) = self.cache.find(place) {
            return register;
        }
        let register = self.take();
        let from = self.in_memory(place);
        self.isa.load(&mut self.a, register, from);
        self.cache.loaded(place, register);
        register
    }

    fn in_memory(&self, place: Place) -> At {
        match place {
            Place::Pool(n) => At::Memory(fixed::FILE, COLUMN * (n as i32 - self.pool as i32)),
            Place::Column(c) => {
                let (base, at) = self.address(c);
                At::Memory(base, at)
            }
        }
    }

    /// A value as an operand: a constant stays in memory.
    pub(super) fn operand(&mut self, place: Place) -> At {
        match place {
            Place::Pool(_) => self.cache.find(place).map_or(self.in_memory(place), At::Register),
            Place::Column(_) => At::Register(self.value(place)),
        }
    }

    /// Stores new values that are live.
    fn flush(&mut self, live: &Columns) {
        let dirty: Vec<(u16, Register)> = self.cache.dirty().collect();
        for (c, register) in dirty {
            if live.contains(c) {
                self.store(c, register);
            }
            self.cache.stored(c);
        }
    }

    fn instruction(&mut self, body: &Body<'_>, number: usize, pc: u32, live: &LiveInBlock, i: usize) {
        let instr = &self.program.code[pc as usize];
        let after = match super::functions::jump_target(instr.flow) {
            Some(target) => live[i + 1].union(body.liveness.at(body.function, target)),
            None => live[i + 1],
        };
        let leaves = matches!(
            instr.flow,
            Flow::Always(DecodedControl::Return | DecodedControl::Call { .. } | DecodedControl::CallReg { .. })
                | Flow::If(DecodedControl::Return | DecodedControl::Call { .. } | DecodedControl::CallReg { .. })
        );
        let after = if leaves { Columns::all() } else { after };
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

    /// The test of a comparison whose result is read by the test alone.
    fn fusible(&self, steps: &[crate::rpu::step::Step], tests: &Tests, after: &Columns) -> Option<(Kind, Test)> {
        use crate::rpu::isa::Op;
        use crate::rpu::step::Task;
        let ([test], [.., last]) = (&tests.each[..], steps) else { return None };
        let kind = match last.task() {
            (Task::Op(Op::Icmp), _) => Kind::Signed,
            (Task::Op(Op::Ucmp), _) => Kind::Unsigned,
            _ => return None,
        };
        let result = last.target(self.pool);
        let is_tested = test.integer && test.slot.place(self.pool) == Place::Column(result);
        (is_tested && !after.contains(result)).then_some((kind, *test))
    }

    /// Sets the bits of `eax` for a comparison instruction and its test.
    fn fused(&mut self, step: &crate::rpu::step::Step, kind: Kind, test: Test) {
        let x = self.modified(step, 0);
        let y = self.modified_operand(step, 1);
        self.integer_test(Register::EAX, kind, test, x, y);
    }

    /// Sets the bits of `eax` for the active lanes for which a condition holds.
    fn tests(&mut self, tests: &Tests) {
        for (n, test) in tests.each.iter().enumerate() {
            let to = if n == 0 { Register::EAX } else { Register::ECX };
            let x = self.value(test.slot.place(self.pool));
            if test.integer {
                self.integer_test(to, Kind::Signed, *test, x, constant_place(constant::ZERO));
            } else {
                self.float_test(to, *test, x);
            }
            if n > 0 {
                let code = if tests.all { Code::And_r32_rm32 } else { Code::Or_r32_rm32 };
                self.a.put(Instruction::with2(code, Register::EAX, Register::ECX));
            }
            self.cache.unpin();
        }
    }

    /// The test of an integer, or of how one compares with another.
    fn integer_test(&mut self, to: Register, kind: Kind, test: Test, x: Register, y: At) {
        let bits = test.ranges.bits();
        let order = match (bits & 1 != 0, bits & 2 != 0, bits & 8 != 0) {
            (false, false, false) => return self.a.xor_32(to, to),
            (true, true, true) => return self.a.move_32(to, fixed::MASK),
            (true, false, false) => Order::Less,
            (false, true, false) => Order::Equal,
            (false, false, true) => Order::Greater,
            (true, true, false) => Order::LessOrEqual,
            (false, true, true) => Order::GreaterOrEqual,
            (true, false, true) => Order::NotEqual,
        };
        self.isa.compare(&mut self.a, to, kind, order, x, y);
    }

    fn float_test(&mut self, to: Register, test: Test, x: Register) {
        let (zero, one) = (constant_place(constant::ZERO), constant_place(constant::ONE));
        let bits = test.ranges.bits();
        let mut parts: Vec<(Order, At)> = match bits & 0b0111 {
            0b0001 => vec![(Order::Less, zero)],
            0b0010 => vec![(Order::Equal, zero)],
            0b0011 => vec![(Order::LessOrEqual, zero)],
            0b0111 => vec![(Order::Less, one)],
            _ => Vec::new(),
        };
        if bits & 8 != 0 {
            parts.push((Order::GreaterOrEqual, one));
        }
        let both = match bits {
            0b1110 => Some(vec![(Order::GreaterOrEqual, zero)]),
            0b1111 => Some(vec![(Order::Ordered, zero)]),
            0b0110 => Some(vec![(Order::GreaterOrEqual, zero), (Order::Less, one)]),
            _ => None,
        };
        let (parts, join) = match both {
            Some(both) => (both, Code::And_r32_rm32),
            None => (parts, Code::Or_r32_rm32),
        };
        for (n, (order, y)) in parts.into_iter().enumerate() {
            let part = if n == 0 { to } else { Register::EDX };
            self.isa.compare(&mut self.a, part, Kind::Float, order, x, y);
            if n > 0 {
                self.a.put(Instruction::with2(join, to, part));
            }
        }
    }

    /// Where the code continues after a block when no lane is left in it.
    fn after(&self, body: &Body<'_>, block: usize) -> Label {
        body.items[body.function.blocks[block].item + 1]
    }

    /// Jumps with all lanes to a later item, or lets them wait for it.
    fn go(&mut self, body: &Body<'_>, from: usize, to: usize, slot: Option<usize>) {
        if body.function.is_direct(body.function.blocks[from].item, to) {
            self.a.jump(Code::Jmp_rel32_64, body.items[to]);
            return;
        }
        if let Some(slot) = slot {
            self.wait(body, slot, fixed::MASK);
        }
        self.a.xor_32(fixed::MASK, fixed::MASK);
        self.a.jump(Code::Jmp_rel32_64, self.after(body, from));
    }

    /// A control operation of all lanes.
    fn always(&mut self, body: &Body<'_>, number: usize, pc: u32, control: DecodedControl, live: &Columns) {
        self.flush(live);
        self.cache.clear();
        let function = body.function;
        match control {
            DecodedControl::Jmp(target) => {
                let Some(to) = function.block_at(target) else { return };
                let Block { item, slot, .. } = function.blocks[to].clone();
                if target > pc {
                    return self.go(body, number, item, slot);
                }
                self.spend(pc);
                match function.ends_loop(pc, target) {
                    Some(true) => self.a.jump(Code::Jmp_rel32_64, body.tops[to]),
                    Some(false) => self.a.jump(Code::Jmp_rel32_64, body.items[item]),
                    None => {
                        slot.into_iter().for_each(|slot| self.wait(body, slot, fixed::MASK));
                        self.a.xor_32(fixed::MASK, fixed::MASK);
                        self.a.jump(Code::Jmp_rel32_64, self.after(body, number));
                    }
                }
            }
            DecodedControl::Return => self.go(body, number, function.items.len(), None),
            DecodedControl::Call { target, push } => {
                self.spend(pc);
                self.call(body, pc, push, target);
            }
            DecodedControl::CallReg { address, push } => {
                self.spend(pc);
                self.call_register(body, pc, push, &address);
            }
        }
    }

    /// A control operation of the lanes whose bits are set in `eax`.
    fn conditional(&mut self, body: &Body<'_>, number: usize, pc: u32, control: DecodedControl, falls: &Columns) {
        let function = body.function;
        let next = function.block_at(pc + 1).and_then(|next| function.blocks[next].slot);
        match control {
            DecodedControl::Jmp(target) => {
                let Some(to) = function.block_at(target) else { return };
                let Block { item, slot, .. } = function.blocks[to].clone();
                let live = body.liveness.before[to];
                let Some(single) = (target <= pc).then(|| function.ends_loop(pc, target)).flatten() else {
                    let direct = target > pc && function.is_direct(function.blocks[number].item, item);
                    let all = if direct { body.items[item] } else { self.after(body, number) };
                    return self.jump_some(&live, slot, all, direct, (target <= pc).then_some(pc));
                };
                self.flush(&live.union(*falls));
                self.cache.clear();
                let done = self.a.label();
                self.a.test_32(Register::EAX);
                self.a.jump(Code::Je_rel32_64, done);
                self.leave_waiting(body, pc, next);
                self.spend(pc);
                self.a.jump(Code::Jmp_rel32_64, if single { body.tops[to] } else { body.items[item] });
                self.a.place(done);
            }
            DecodedControl::Return => {
                let end = function.items.len();
                let direct = function.is_direct(function.blocks[number].item, end);
                let all = if direct { body.items[end] } else { self.after(body, number) };
                self.jump_some(&Columns::all(), None, all, direct, None);
            }
            DecodedControl::Call { .. } | DecodedControl::CallReg { .. } => {
                self.flush(&Columns::all());
                self.cache.clear();
                let done = self.a.label();
                self.a.test_32(Register::EAX);
                self.a.jump(Code::Je_rel32_64, done);
                self.leave_waiting(body, pc, next);
                self.spend(pc);
                match control {
                    DecodedControl::CallReg { address, push } => self.call_register(body, pc, push, &address),
                    DecodedControl::Call { target, push } => self.call(body, pc, push, target),
                    DecodedControl::Jmp(_) | DecodedControl::Return => {}
                }
                self.a.place(done);
            }
        }
    }

    /// Goes on with the lanes in `eax`; the others wait for the next instruction.
    fn leave_waiting(&mut self, body: &Body<'_>, pc: u32, next: Option<usize>) {
        self.a.xor_32(fixed::MASK, Register::EAX);
        match next {
            Some(slot) => self.wait(body, slot, fixed::MASK),
            None => {
                // There is no next instruction.
                let out = self.way_out(Exit::PastEnd, pc + 1, None);
                self.a.test_32(fixed::MASK);
                self.a.jump(Code::Jne_rel32_64, out);
            }
        }
        self.a.move_32(fixed::MASK, Register::EAX);
        self.isa.activate(&mut self.a, fixed::MASK);
    }

    /// Jumps with the lanes in `eax`, if there are any; the others continue.
    fn jump_some(&mut self, live: &Columns, slot: Option<usize>, all: Label, direct: bool, spends: Option<u32>) {
        let stores = self.cache.dirty().filter(|(c, _)| live.contains(*c)).collect();
        let (label, back) = (self.a.label(), self.a.label());
        self.a.test_32(Register::EAX);
        self.a.jump(Code::Jne_rel32_64, label);
        self.a.place(back);
        self.stubs.push(Stub::Jump(Jump { label, stores, slot, all, direct, spends, back }));
    }

    fn write_stubs(&mut self, body: &Body<'_>) {
        while let Some(stub) = self.stubs.pop() {
            match stub {
                Stub::Jump(jump) => self.write_jump(body, jump),
                Stub::Load(load) => self.write_load(load),
                Stub::Slow(slow) => self.write_slow(slow, Vec::new()),
            }
        }
    }

    fn write_jump(&mut self, body: &Body<'_>, jump: Jump) {
        let Jump { label, stores, slot, all, direct, spends, back } = jump;
        self.a.place(label);
        if !stores.is_empty() || spends.is_some() {
            self.isa.activate(&mut self.a, Register::EAX);
            for (c, register) in stores {
                self.store(c, register);
            }
        }
        if let Some(pc) = spends {
            self.spend(pc);
        }
        if direct {
            self.a.put(Instruction::with2(Code::Cmp_r32_rm32, Register::EAX, fixed::MASK));
            self.a.jump(Code::Je_rel32_64, all);
        }
        if let Some(slot) = slot {
            self.wait(body, slot, Register::EAX);
        }
        self.a.xor_32(fixed::MASK, Register::EAX);
        if !direct {
            self.a.jump(Code::Je_rel32_64, all);
        }
        self.isa.activate(&mut self.a, fixed::MASK);
        self.a.jump(Code::Jmp_rel32_64, back);
    }

    /// Counts a backward jump or call of the active lanes. Changes `rcx`.
    fn spend(&mut self, pc: u32) {
        let stopped = self.way_out(Exit::Stopped, pc, None);
        let above = self.way_out(Exit::Budget, pc, None);
        self.a.load_64(Register::RCX, fixed::CONTEXT, at::STOP);
        self.a.put(Instruction::with2(Code::Cmp_rm8_imm8, MemoryOperand::with_base(Register::RCX), 0));
        self.a.jump(Code::Jne_rel32_64, stopped);
        self.a.load_64(Register::RCX, fixed::CONTEXT, at::SPENT);
        self.isa.spend(&mut self.a, Register::RCX, above);
    }

    /// Calls a function.
    fn call(&mut self, body: &Body<'_>, pc: u32, push: u8, target: u32) {
        let Some(&label) = self.entries.get(&target) else {
            let out = self.way_out(Exit::Untranslated, pc, None);
            return self.a.jump(Code::Jmp_rel32_64, out);
        };
        let retry = self.a.label();
        self.a.place(retry);
        self.check_depth(pc);
        let after = self.push_frame(body, pc, push, retry);
        self.a.jump(Code::Jmp_rel32_64, label);
        self.pop_frame(body, push, after);
    }

    fn check_depth(&mut self, pc: u32) {
        let out = self.way_out(Exit::CallDepth, pc, None);
        self.a.load(Register::EDX, fixed::CONTEXT, at::DEPTH);
        self.a.put(Instruction::with2(Code::Cmp_r32_rm32, Register::EDX, memory(fixed::CONTEXT, at::DEPTH_LIMIT)));
        self.a.jump(Code::Jae_rel32_64, out);
    }

    /// Makes the frame of a call, after which the code continues at the label. Changes `rdx`.
    fn push_frame(&mut self, body: &Body<'_>, pc: u32, push: u8, retry: Label) -> Label {
        let grow = self.way_out(Exit::Grow, pc, Some(retry));
        let (rdx, shift) = (Register::RDX, VECTOR * i32::from(push));
        for (base, by, end) in [(fixed::WINDOW, shift, at::WINDOW_END), (fixed::FRAME, body.frame, at::FRAME_END)] {
            self.a.put(Instruction::with2(Code::Lea_r64_m, rdx, memory(base, by)));
            self.a.put(Instruction::with2(Code::Cmp_r64_rm64, rdx, memory(fixed::CONTEXT, end)));
            self.a.jump(Code::Ja_rel32_64, grow);
        }
        self.a.put(Instruction::with2(Code::Add_rm32_imm32, memory(fixed::CONTEXT, at::DEPTH), 1));
        let after = self.a.label();
        self.a.store(fixed::FRAME, body.frame + at::HEAD_MASK, fixed::MASK);
        self.a.store_constant(fixed::FRAME, body.frame + at::HEAD_PC, pc + 1);
        self.a.store_constant(fixed::FRAME, body.frame + at::HEAD_PUSH, u32::from(push));
        self.a.address(rdx, after);
        self.a.store_64(fixed::FRAME, body.frame + at::HEAD_RESUME, rdx);
        self.a.add_64(fixed::FRAME, body.frame);
        self.a.add_64(fixed::WINDOW, shift);
        after
    }

    fn pop_frame(&mut self, body: &Body<'_>, push: u8, after: Label) {
        self.a.place(after);
        // Slots of frames to come start as zeros.
        for at in (0..FRAME_HEAD).step_by(8) {
            self.a.put(Instruction::with2(Code::Mov_rm64_imm32, memory(fixed::FRAME, at), 0));
        }
        self.a.add_64(fixed::FRAME, -body.frame);
        self.a.add_64(fixed::WINDOW, -VECTOR * i32::from(push));
        self.isa.activate(&mut self.a, fixed::MASK);
    }

    /// Calls the function that each lane has in a register, one function after the other.
    fn call_register(&mut self, body: &Body<'_>, pc: u32, push: u8, address: &Operand) {
        let (dispatch, retry, done) = (self.a.label(), self.a.label(), self.a.label());
        let rest = body.slot(body.function.rest_slot(pc).unwrap_or_default());
        let next = body.function.block_at(pc + 1).and_then(|next| body.function.blocks[next].slot);
        let [eax, ecx, rax, rcx] = [Register::EAX, Register::ECX, Register::RAX, Register::RCX];
        self.check_depth(pc);
        self.a.place(dispatch);
        let targets = self.value(address.slots[Component::X.index()].place(self.pool));
        let same = self.take();
        self.isa.first_active(&mut self.a, ecx, targets, same);
        self.a.store(fixed::CONTEXT, at::TARGET, ecx);
        self.isa.splat(&mut self.a, same, ecx);
        self.isa.compare(&mut self.a, eax, Kind::Signed, Order::Equal, targets, At::Register(same));
        self.cache.clear();
        self.a.xor_32(fixed::MASK, eax);
        self.a.store(fixed::FRAME, rest, fixed::MASK);
        self.a.move_32(fixed::MASK, eax);
        self.a.place(retry);
        self.a.load(ecx, fixed::CONTEXT, at::TARGET);
        let bad = self.way_out(Exit::BadCall, pc, None);
        self.a.put(Instruction::with2(Code::Cmp_r32_rm32, ecx, memory(fixed::CONTEXT, at::CODE_LEN)));
        self.a.jump(Code::Jae_rel32_64, bad);
        self.a.load_64(rax, fixed::CONTEXT, at::ENTRIES);
        self.a.put(Instruction::with2(Code::Mov_r64_rm64, rax, MemoryOperand::with_base_index_scale(rax, rcx, 8)));
        let untranslated = self.way_out(Exit::Untranslated, pc, None);
        self.a.put(Instruction::with2(Code::Test_rm64_r64, rax, rax));
        self.a.jump(Code::Je_rel32_64, untranslated);
        let after = self.push_frame(body, pc, push, retry);
        self.a.put(Instruction::with1(Code::Jmp_rm64, rax));
        self.pop_frame(body, push, after);
        self.a.load(eax, fixed::FRAME, rest);
        self.a.test_32(eax);
        self.a.jump(Code::Je_rel32_64, done);
        self.a.store_constant(fixed::FRAME, rest, 0);
        match next {
            Some(slot) => self.wait(body, slot, fixed::MASK),
            None => {
                let out = self.way_out(Exit::PastEnd, pc + 1, None);
                self.a.jump(Code::Jmp_rel32_64, out);
            }
        }
        self.a.move_32(fixed::MASK, eax);
        self.isa.activate(&mut self.a, fixed::MASK);
        self.a.jump(Code::Jmp_rel32_64, dispatch);
        self.a.place(done);
    }

    /// Waits for rays.
    fn trace(&mut self, pc: u32, live: &Columns) {
        self.flush(live);
        self.cache.clear();
        let resume = self.a.label();
        let out = self.way_out(Exit::Trace, pc, Some(resume));
        self.a.jump(Code::Jmp_rel32_64, out);
        self.a.place(resume);
    }

    /// Executes an instruction's work by a call of the engine.
    fn call_work(&mut self, pc: u32, live: &Columns) {
        self.flush(live);
        self.cache.clear();
        self.put_call(pc);
    }

    fn put_call(&mut self, pc: u32) {
        let failed = self.way_out(Exit::Failed, pc, None);
        self.a.store_64(fixed::CONTEXT, at::WINDOW, fixed::WINDOW);
        self.a.put(Instruction::with2(Code::Mov_r64_rm64, Register::RDI, fixed::CONTEXT));
        self.a.put(Instruction::with2(Code::Mov_r32_imm32, Register::ESI, pc));
        self.a.move_32(Register::EDX, fixed::MASK);
        self.a.put(Ok(Instruction::with(Code::VEX_Vzeroupper)));
        self.a.put(Instruction::with1(Code::Call_rm64, memory(fixed::CONTEXT, at::WORK)));
        self.a.test_32(Register::EAX);
        self.a.jump(Code::Jne_rel32_64, failed);
        self.isa.activate(&mut self.a, fixed::MASK);
    }

    /// Loads vectors from each lane's address: in the image, unless one lies outside.
    fn load(&mut self, pc: u32, (to, count): (u16, u16), (base, offset): (u16, i16), live: &Columns, after: &Columns) {
        let words = 4 * usize::from(count);
        if words + 4 > self.isa.registers().len() {
            return self.call_work(pc, live);
        }
        let bases = self.value(Place::Column(base));
        let other = self.take();
        let results: Vec<Register> = (0..words).map(|_| self.take()).collect();
        let [ecx, rcx] = [Register::ECX, Register::RCX];
        let quad = i32::from(count != 1);
        let [gather, beyond, slow, done] = std::array::from_fn(|_| self.a.label());
        self.uniform_address(bases, other, offset, gather);
        self.a.put(Instruction::with2(Code::Cmp_r32_rm32, ecx, memory(fixed::CONTEXT, at::INSIDE + 4 * quad)));
        self.a.jump(Code::Jae_rel32_64, beyond);
        self.a.put(Instruction::with2(Code::Shl_rm64_imm8, rcx, 4));
        self.a.put(Instruction::with2(Code::Add_r64_rm64, rcx, memory(fixed::CONTEXT, at::IMAGE)));
        let is_live = |i: usize| after.contains(to + i as u16);
        for (i, &register) in results.iter().enumerate().filter(|(i, _)| is_live(*i)) {
            self.isa.broadcast(&mut self.a, register, rcx, 4 * i as i32);
        }
        self.a.place(done);
        let spills = self.cache.dirty().collect();
        let kept = self.cache.all();
        for (i, &register) in results.iter().enumerate() {
            match is_live(i) {
                true => self.cache.define(to + i as u16, register),
                false => self.cache.forget(to + i as u16),
            }
        }
        self.cache.unpin();
        let slow = Slow { label: slow, done, pc, spills, kept };
        self.stubs.push(Stub::Load(Load { gather, beyond, slow, to, offset, quad, bases, other, results }));
    }

    /// The address of a load or store in `ecx`, where all active lanes have the same; a jump,
    /// where not. Changes `eax`.
    fn uniform_address(&mut self, bases: Register, other: Register, offset: i16, different: Label) {
        let [eax, ecx] = [Register::EAX, Register::ECX];
        self.isa.first_active(&mut self.a, ecx, bases, other);
        self.isa.splat(&mut self.a, other, ecx);
        self.isa.compare(&mut self.a, eax, Kind::Signed, Order::NotEqual, bases, At::Register(other));
        self.a.test_32(eax);
        self.a.jump(Code::Jne_rel32_64, different);
        self.a.put(Instruction::with2(Code::Add_rm32_imm32, ecx, i32::from(offset)));
    }

    /// The address in scratch memory for the one in `ecx`, in `rcx`; a jump, where it is not there.
    fn scratch_address(&mut self, quad: i32, outside: Label) {
        let [ecx, rcx] = [Register::ECX, Register::RCX];
        self.a.put(Instruction::with2(Code::Sub_rm32_imm32, ecx, SCRATCH_BASE));
        self.a.put(Instruction::with2(Code::Cmp_r32_rm32, ecx, memory(fixed::CONTEXT, at::INSIDE_SCRATCH + 4 * quad)));
        self.a.jump(Code::Jae_rel32_64, outside);
        self.a.put(Instruction::with2(Code::Shl_rm64_imm8, rcx, VECTOR.ilog2()));
        self.a.put(Instruction::with2(Code::Add_r64_rm64, rcx, memory(fixed::CONTEXT, at::SCRATCH_MEMORY)));
    }

    /// Stores a vector to scratch memory: where all lanes have one address, in place.
    fn store_vector(&mut self, pc: u32, base: u16, offset: i16, src: &Operand, live: &Columns) {
        if src.multiplier != Multiplier::ONE {
            return self.call_work(pc, live);
        }
        let bases = self.value(Place::Column(base));
        let other = self.take();
        let values = src.slots.map(|slot| self.value(slot.place(self.pool)));
        let [slow, done] = std::array::from_fn(|_| self.a.label());
        self.uniform_address(bases, other, offset, slow);
        self.scratch_address(0, slow);
        for (i, value) in values.into_iter().enumerate() {
            self.isa.store_active(&mut self.a, Register::RCX, COLUMN * i as i32, value);
        }
        self.a.place(done);
        let (spills, kept) = (self.cache.dirty().collect(), self.cache.all());
        self.cache.unpin();
        self.stubs.push(Stub::Slow(Slow { label: slow, done, pc, spills, kept }));
    }

    fn write_load(&mut self, load: Load) {
        let Load { gather, beyond, slow, to, offset, quad, bases, other, results } = load;
        self.a.place(gather);
        let [eax, ecx, rcx] = [Register::EAX, Register::ECX, Register::RCX];
        self.a.put(Instruction::with2(Code::Mov_r32_imm32, ecx, i32::from(offset)));
        self.isa.splat(&mut self.a, other, ecx);
        self.isa.binary(&mut self.a, Binary::IntegerAdd, other, other, At::Register(bases));
        self.isa.zero_inactive(&mut self.a, other, other);
        self.isa.broadcast(&mut self.a, results[0], fixed::CONTEXT, at::INSIDE + 4 * quad);
        let y = At::Register(results[0]);
        self.isa.compare(&mut self.a, eax, Kind::Unsigned, Order::GreaterOrEqual, other, y);
        self.a.test_32(eax);
        self.a.jump(Code::Jne_rel32_64, slow.label);
        self.a.load_64(rcx, fixed::CONTEXT, at::IMAGE);
        self.isa.scatter_indices(&mut self.a, other);
        for (i, to) in results.chunks_exact(4).enumerate() {
            if let Ok(to) = to.try_into() {
                self.isa.gather(&mut self.a, to, rcx, 16 * i as i32);
            }
        }
        self.a.jump(Code::Jmp_rel32_64, slow.done);
        self.a.place(beyond);
        self.scratch_address(quad, slow.label);
        for (i, &register) in results.iter().enumerate() {
            self.isa.load(&mut self.a, register, At::Memory(rcx, COLUMN * i as i32));
        }
        self.a.jump(Code::Jmp_rel32_64, slow.done);
        let loads = results.iter().enumerate().map(|(i, &register)| (Place::Column(to + i as u16), register)).collect();
        self.write_slow(slow, loads);
    }

    /// Executes an instruction's work by a call of the engine, and continues with all values in the
    /// registers where they were, and some more.
    fn write_slow(&mut self, slow: Slow, more: Vec<(Place, Register)>) {
        let Slow { label, done, pc, spills, kept } = slow;
        self.a.place(label);
        for (c, register) in spills {
            self.store(c, register);
        }
        self.put_call(pc);
        for (place, register) in kept.into_iter().chain(more) {
            let from = self.in_memory(place);
            self.isa.load(&mut self.a, register, from);
        }
        self.a.jump(Code::Jmp_rel32_64, done);
    }
}
