//! The translator: the state of a translation, and the values in its registers.
//!
//! The modules that translate a kind of instruction extend [`Translator`]; [`super::translate`]
//! calls them.

use super::assembler::{Assembler, Label, VectorOperand as At, fixed, memory};
use super::cache::Cache;
use super::context::{COLUMN, Exit, FRAME_HEAD};
use super::functions::Function;
use super::liveness::{Columns, Liveness};
use super::stubs::Stub;
use super::vectors::Vectors;
use crate::column;
use crate::decode::DecodedProgram;
use crate::step::ValueLocation;
use iced_x86::{Code, Instruction, Register};
use std::collections::BTreeMap;

/// Bytes of a way out of the code.
const BYTES_OF_WAY_OUT: usize = 48;

/// A way out of a function's code, written after it.
pub(super) struct WayOut {
    pub label: Label,
    pub exit: Exit,
    pub pc: u32,
    pub resume: Option<Label>,
}

/// The state of a translation.
pub(super) struct Translator<'p> {
    pub program: &'p DecodedProgram,
    pub isa: &'static dyn Vectors,
    pub a: Assembler,
    pub cache: Cache,
    /// The number of pool columns.
    pub pool: usize,
    pub entries: BTreeMap<u32, Label>,
    pub leave: Label,
    pub outs: Vec<WayOut>,
    /// Where the code of each instruction begins, and the instruction's address; none for what is
    /// behind a function's.
    pub lines: Vec<(usize, Option<u32>)>,
    /// Code that is written out of the way: for a condition that seldom holds.
    pub stubs: Vec<Stub>,
    /// About how many bytes of code that will be.
    pub bytes_of_stubs: usize,
}

/// A function that is being translated.
pub(super) struct Body<'f> {
    pub function: &'f Function,
    pub liveness: Liveness,
    /// Labels of the items, and of the end.
    pub items: Vec<Label>,
    /// Labels of blocks' bodies, for jumps back with all lanes that go there.
    pub tops: Vec<Label>,
    pub frame: i32,
    /// The header of the loop that ends last.
    pub last_loop: Option<usize>,
}

impl Body<'_> {
    pub(super) fn slot(&self, slot: usize) -> i32 {
        FRAME_HEAD + 4 * slot as i32
    }
}

impl Translator<'_> {
    /// A label that leaves the code.
    pub(super) fn way_out(&mut self, exit: Exit, pc: u32, resume: Option<Label>) -> Label {
        let label = self.a.label();
        self.outs.push(WayOut { label, exit, pc, resume });
        label
    }

    /// True if the code takes more than some bytes, with what is still to be written.
    pub(super) fn is_above(&self, most: usize) -> bool {
        self.a.len() + self.bytes_of_stubs + BYTES_OF_WAY_OUT * self.outs.len() > most
    }

    /// Writes code later, out of the way.
    pub(super) fn later(&mut self, stub: Stub) {
        self.bytes_of_stubs += stub.bytes();
        self.stubs.push(stub);
    }

    /// Adds lanes to those that wait.
    pub(super) fn wait(&mut self, body: &Body<'_>, slot: usize, lanes: Register) {
        self.a.put(Instruction::with2(Code::Or_rm32_r32, memory(fixed::FRAME, body.slot(slot)), lanes));
    }

    /// Where a column is in memory.
    pub(super) fn address(&self, c: u16) -> (Register, i32) {
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

    pub(super) fn store(&mut self, c: u16, register: Register) {
        let (base, at) = self.address(c);
        self.isa.store_active(&mut self.a, base, at, register);
    }

    /// The register of a value.
    pub(super) fn value(&mut self, place: ValueLocation) -> Register {
        if let Some(register) = self.cache.find(place) {
            return register;
        }
        let register = self.take();
        let from = self.in_memory(place);
        self.isa.load(&mut self.a, register, from);
        self.cache.loaded(place, register);
        register
    }

    pub(super) fn in_memory(&self, place: ValueLocation) -> At {
        match place {
            ValueLocation::Pool(n) => At::Memory(fixed::FILE, COLUMN * (n as i32 - self.pool as i32)),
            ValueLocation::Column(c) => {
                let (base, at) = self.address(c);
                At::Memory(base, at)
            }
        }
    }

    /// A value as an operand: a constant stays in memory.
    pub(super) fn operand(&mut self, place: ValueLocation) -> At {
        match place {
            ValueLocation::Pool(_) => self.cache.find(place).map_or(self.in_memory(place), At::Register),
            ValueLocation::Column(_) => At::Register(self.value(place)),
        }
    }

    /// Stores new values that are live.
    pub(super) fn flush(&mut self, live: &Columns) {
        let dirty: Vec<(u16, Register)> = self.cache.dirty().collect();
        for (c, register) in dirty {
            if live.contains(c) {
                self.store(c, register);
            }
            self.cache.stored(c);
        }
    }
}
