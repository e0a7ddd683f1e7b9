//! Translates what is neither arithmetic nor control: loads, stores, rays and textures.

use super::assembler::{Label, VectorOperand as At, fixed, memory};
use super::context::{COLUMN, Exit, VECTOR, at};
use super::liveness::Columns;
use super::stubs::{Load, Slow, Stub};
use super::translator::Translator;
use super::vectors::{Binary, NumberKind, Order};
use crate::isa::Multiplier;
use crate::limits::SCRATCH_BASE;
use crate::step::{Operand, ValueLocation};
use iced_x86::{Code, Instruction, Register};

impl Translator<'_> {
    /// Waits for rays.
    pub(super) fn trace(&mut self, pc: u32, live: &Columns) {
        self.flush(live);
        self.cache.clear();
        let resume = self.a.label();
        let out = self.way_out(Exit::Trace, pc, Some(resume));
        self.a.jump(Code::Jmp_rel32_64, out);
        self.a.place(resume);
    }

    /// Executes an instruction's work by a call of the engine.
    pub(super) fn call_work(&mut self, pc: u32, live: &Columns) {
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
    pub(super) fn load(
        &mut self,
        pc: u32,
        (to, count): (u16, u16),
        (base, offset): (u16, i16),
        live: &Columns,
        after: &Columns,
    ) {
        let words = 4 * usize::from(count);
        if words + 4 > self.isa.registers().len() {
            return self.call_work(pc, live);
        }
        let bases = self.value(ValueLocation::Column(base));
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
        // Before what a call of the engine keeps is chosen: it overwrites these columns in memory,
        // and copies of their old values may share their registers.
        (to..to + words as u16).for_each(|c| self.cache.forget(c));
        let (spills, kept) = (self.cache.dirty().collect(), self.cache.in_memory_after_spills());
        for (i, &register) in results.iter().enumerate().filter(|(i, _)| is_live(*i)) {
            self.cache.define(to + i as u16, register);
        }
        self.cache.unpin();
        let slow = Slow { label: slow, done, pc, spills, kept };
        self.later(Stub::Load(Load { gather, beyond, slow, to, offset, quad, bases, other, results }));
    }

    /// The address of a load or store in `ecx`, where all active lanes have the same; a jump,
    /// where not. Changes `eax`.
    fn uniform_address(&mut self, bases: Register, other: Register, offset: i16, different: Label) {
        let [eax, ecx] = [Register::EAX, Register::ECX];
        self.isa.first_active(&mut self.a, ecx, bases, other);
        self.isa.splat(&mut self.a, other, ecx);
        self.isa.compare(&mut self.a, eax, NumberKind::Signed, Order::NotEqual, bases, At::Register(other));
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
    pub(super) fn store_vector(&mut self, pc: u32, base: u16, offset: i16, src: &Operand, live: &Columns) {
        if src.multiplier != Multiplier::ONE {
            return self.call_work(pc, live);
        }
        let bases = self.value(ValueLocation::Column(base));
        let other = self.take();
        let values = src.slots.map(|slot| self.value(slot.place(self.pool)));
        let [slow, done] = std::array::from_fn(|_| self.a.label());
        self.uniform_address(bases, other, offset, slow);
        self.scratch_address(0, slow);
        for (i, value) in values.into_iter().enumerate() {
            self.isa.store_active(&mut self.a, Register::RCX, COLUMN * i as i32, value);
        }
        self.a.place(done);
        let (spills, kept) = (self.cache.dirty().collect(), self.cache.in_memory_after_spills());
        self.cache.unpin();
        self.later(Stub::Slow(Slow { label: slow, done, pc, spills, kept }));
    }

    pub(super) fn write_load(&mut self, load: Load) {
        let Load { gather, beyond, slow, to, offset, quad, bases, other, results } = load;
        self.a.place(gather);
        let [eax, ecx, rcx] = [Register::EAX, Register::ECX, Register::RCX];
        self.a.put(Instruction::with2(Code::Mov_r32_imm32, ecx, i32::from(offset)));
        self.isa.splat(&mut self.a, other, ecx);
        self.isa.binary(&mut self.a, Binary::IntegerAdd, other, other, At::Register(bases));
        self.isa.zero_inactive(&mut self.a, other, other);
        self.isa.broadcast(&mut self.a, results[0], fixed::CONTEXT, at::INSIDE + 4 * quad);
        let y = At::Register(results[0]);
        self.isa.compare(&mut self.a, eax, NumberKind::Unsigned, Order::GreaterOrEqual, other, y);
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
        let loads =
            results.iter().enumerate().map(|(i, &register)| (ValueLocation::Column(to + i as u16), register)).collect();
        self.write_slow(slow, loads);
    }

    /// Executes an instruction's work by a call of the engine, and continues with all values in the
    /// registers where they were, and some more.
    pub(super) fn write_slow(&mut self, slow: Slow, more: Vec<(ValueLocation, Register)>) {
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
