//! Translates control flow: jumps, calls and returns of some or all lanes.

use super::assembler::{Label, VectorOperand as At, fixed, memory};
use super::context::{Exit, FRAME_HEAD, VECTOR, at};
use super::functions::Block;
use super::liveness::Columns;
use super::stubs::{Jump, Stub};
use super::translator::{Body, Translator};
use super::vectors::{NumberKind, Order};
use crate::decode::DecodedControl;
use crate::isa::Component;
use crate::step::Operand;
use iced_x86::{Code, Instruction, MemoryOperand, Register};

impl Translator<'_> {
    /// Where the code continues after a block when no lane is left in it.
    fn after(&self, body: &Body<'_>, block: usize) -> Label {
        body.items[body.function.blocks[block].item + 1]
    }

    /// Where the code continues when all lanes of a block jump to a later item, and whether that is
    /// where they go: else they wait for it.
    fn leads(&self, body: &Body<'_>, from: usize, to: usize) -> (Label, bool) {
        match body.function.is_direct(body.function.blocks[from].item, to) {
            true => (body.items[to], true),
            false => (self.after(body, from), false),
        }
    }

    /// Jumps with all lanes to a later item, or lets them wait for it.
    fn go(&mut self, body: &Body<'_>, from: usize, to: usize, slot: Option<usize>) {
        let (next, direct) = self.leads(body, from, to);
        match direct {
            true => self.a.jump(Code::Jmp_rel32_64, next),
            false => self.all_wait(body, slot, next),
        }
    }

    /// Lets all lanes wait (or return, without a slot), and continues elsewhere.
    fn all_wait(&mut self, body: &Body<'_>, slot: Option<usize>, next: Label) {
        if let Some(slot) = slot {
            self.wait(body, slot, fixed::MASK);
        }
        self.a.xor_32(fixed::MASK, fixed::MASK);
        self.a.jump(Code::Jmp_rel32_64, next);
    }

    /// A control operation of all lanes.
    pub(super) fn always(&mut self, body: &Body<'_>, number: usize, pc: u32, control: DecodedControl, live: &Columns) {
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
                    None => self.all_wait(body, slot, self.after(body, number)),
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
    pub(super) fn conditional(
        &mut self,
        body: &Body<'_>,
        number: usize,
        pc: u32,
        control: DecodedControl,
        falls: &Columns,
    ) {
        let function = body.function;
        match control {
            DecodedControl::Jmp(target) => {
                let Some(to) = function.block_at(target) else { return };
                let Block { item, slot, .. } = function.blocks[to].clone();
                let live = body.liveness.before[to];
                if target > pc {
                    let leads = self.leads(body, number, item);
                    return self.jump_some(&live, slot, leads, None);
                }
                let Some(single) = function.ends_loop(pc, target) else {
                    let leads = (self.after(body, number), false);
                    return self.jump_some(&live, slot, leads, Some(pc));
                };
                let done = self.begin_split(body, pc, &live.union(*falls));
                self.a.jump(Code::Jmp_rel32_64, if single { body.tops[to] } else { body.items[item] });
                self.a.place(done);
            }
            DecodedControl::Return => {
                let leads = self.leads(body, number, function.items.len());
                self.jump_some(&Columns::all(), None, leads, None);
            }
            DecodedControl::Call { target, push } => {
                let done = self.begin_split(body, pc, &Columns::all());
                self.call(body, pc, push, target);
                self.a.place(done);
            }
            DecodedControl::CallReg { address, push } => {
                let done = self.begin_split(body, pc, &Columns::all());
                self.call_register(body, pc, push, &address);
                self.a.place(done);
            }
        }
    }

    /// Continues with the lanes in `eax`, and counts their backward jump or call; the others wait for
    /// the next instruction. Without lanes, the code continues at the label.
    fn begin_split(&mut self, body: &Body<'_>, pc: u32, live: &Columns) -> Label {
        self.flush(live);
        self.cache.clear();
        let done = self.a.label();
        self.a.test_32(Register::EAX);
        self.a.jump(Code::Je_rel32_64, done);
        self.a.xor_32(fixed::MASK, Register::EAX);
        match body.function.block_at(pc + 1).and_then(|next| body.function.blocks[next].slot) {
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
        self.spend(pc);
        done
    }

    /// Jumps with the lanes in `eax`, if there are any; the others continue.
    fn jump_some(&mut self, live: &Columns, slot: Option<usize>, (all, direct): (Label, bool), spends: Option<u32>) {
        let stores = self.cache.dirty().filter(|(c, _)| live.contains(*c)).collect();
        let (label, back) = (self.a.label(), self.a.label());
        self.a.test_32(Register::EAX);
        self.a.jump(Code::Jne_rel32_64, label);
        self.a.place(back);
        self.later(Stub::Jump(Jump { label, stores, slot, all, direct, spends, back }));
    }

    pub(super) fn write_jump(&mut self, body: &Body<'_>, jump: Jump) {
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
        self.isa.compare(&mut self.a, eax, NumberKind::Signed, Order::Equal, targets, At::Register(same));
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
}
