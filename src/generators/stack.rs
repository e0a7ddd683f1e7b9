//! The links that wait on a walk, the latest of them in registers.
//!
//! A page is a few links. Where the registers are full or empty a page goes to memory or comes back,
//! in a loop around the others: back ends that execute a loop for several rays at once go through
//! everything in its body. A page that goes before the registers are full has [`DONE`] at its end.

use super::stage::{Flag, KernelBuilder};
use super::tree::DONE;
use shadewright_ir::{SlotId, Type, Value, Variable};

/// Links in a vector of memory.
const ROW: usize = 4;

/// Where pages are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pages {
    /// In an array of the generated function.
    Array,
    /// With the functions `keep_page(n, a, b, c, d)` and `kept_page(n)` of the text around the
    /// generated function.
    Surrounding,
}

/// The size of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackSize {
    /// Links in registers: at least a page.
    pub registers: usize,
    /// Links that are pushed before there must be room again.
    pub pushed: usize,
    /// Links that wait at most.
    pub links: usize,
}

impl StackSize {
    /// Links of a page: more than are pushed at once, so that each has one at least.
    fn page(self) -> usize {
        ROW * (1 + (self.pushed - 1) / ROW)
    }

    /// Vectors of memory.
    fn rows(self) -> usize {
        let page = self.page();
        self.links.div_ceil(page + 1 - self.pushed) * (page / ROW)
    }
}

/// A stack of links. [`DONE`] stands for none.
#[derive(Debug)]
pub struct Stack {
    registers: Vec<Variable>,
    size: StackSize,
    /// Vectors in memory.
    rows: Variable,
    array: Option<SlotId>,
}

impl Stack {
    /// An empty stack.
    pub fn new(s: &mut KernelBuilder, size: StackSize, pages: Pages) -> Self {
        let (done, zero) = (s.b.i32(DONE), s.b.i32(0));
        let registers = (0..size.registers).map(|_| s.b.variable_with(done)).collect();
        let array = (pages == Pages::Array).then(|| s.b.slot("pages", Type::Vec4, size.rows() as u32));
        Self { registers, size, rows: s.b.variable_with(zero), array }
    }

    /// True if as many links can be pushed as its size says.
    pub fn has_room(&self, s: &mut KernelBuilder) -> Flag {
        let last = s.b.read(self.registers[self.registers.len() - self.size.pushed]);
        let done = s.b.i32(DONE);
        s.equal(last, done)
    }

    /// Pushes a link; there must be room.
    pub fn push(&self, s: &mut KernelBuilder, link: Value) {
        let mut moved = link;
        for &register in &self.registers {
            let next = s.b.read(register);
            s.b.write(register, moved);
            moved = next;
        }
    }

    /// Takes the latest link in registers, or [`DONE`].
    pub fn pop(&self, s: &mut KernelBuilder) -> Value {
        let mut moved = s.b.i32(DONE);
        for &register in self.registers.iter().rev() {
            let next = s.b.read(register);
            s.b.write(register, moved);
            moved = next;
        }
        moved
    }

    /// Makes room, and gives the link to continue from: this one, or where it is [`DONE`] the
    /// latest that waits in memory; [`DONE`] when none does.
    pub fn turn_page(&self, s: &mut KernelBuilder, link: Value) -> Value {
        let has_room = self.has_room(s);
        let full = s.not(has_room);
        s.when(full, |s| {
            let page = &self.registers[self.registers.len() - self.size.page()..];
            let done = s.b.i32(DONE);
            // The latest links of the page go last, to come back first.
            for row in page.chunks(ROW).rev() {
                let links: Vec<Value> = row.iter().map(|&register| s.b.read(register)).collect();
                self.keep(s, &links);
                row.iter().for_each(|&register| s.b.write(register, done));
            }
        });
        let next = s.b.variable_with(link);
        let (done, zero, count) = (s.b.i32(DONE), s.b.i32(0), s.b.read(self.rows));
        let (stuck, waiting) = (s.equal(link, done), s.less(zero, count));
        let back = s.and(stuck, waiting);
        s.when(back, |s| {
            for row in self.registers[..self.size.page()].chunks(ROW) {
                let links = self.kept(s);
                row.iter().zip(links).for_each(|(&register, link)| s.b.write(register, link));
            }
            let link = self.pop(s);
            s.b.write(next, link);
        });
        s.b.read(next)
    }

    fn keep(&self, s: &mut KernelBuilder, links: &[Value]) {
        let (count, one) = (s.b.read(self.rows), s.b.i32(1));
        let number = s.bits(count, Type::U32);
        match self.array {
            Some(array) => {
                let floats: Vec<Value> = links.iter().map(|&link| s.bits(link, Type::F32)).collect();
                let page = s.b.compose(&[floats[0], floats[1], floats[2], floats[3]]);
                s.b.slot_store(array, number, page);
            }
            None => {
                let words = links.iter().map(|&link| s.bits(link, Type::U32));
                let args: Vec<Value> = std::iter::once(number).chain(words.collect::<Vec<_>>()).collect();
                s.b.call("keep_page", args.to_vec(), &[]);
            }
        }
        let count = s.b.iadd(count, one);
        s.b.write(self.rows, count);
    }

    fn kept(&self, s: &mut KernelBuilder) -> [Value; ROW] {
        let (count, one) = (s.b.read(self.rows), s.b.i32(1));
        let count = s.b.isub(count, one);
        s.b.write(self.rows, count);
        let number = s.bits(count, Type::U32);
        match self.array {
            Some(array) => {
                let page = s.b.slot_load(array, number);
                std::array::from_fn(|i| {
                    let link = s.b.extract(page, i as u8);
                    s.bits(link, Type::I32)
                })
            }
            None => {
                let words = s.b.call("kept_page", vec![number], &[Type::U32; ROW]);
                std::array::from_fn(|i| s.bits(words[i], Type::I32))
            }
        }
    }
}
