//! The links that wait on a walk, the latest of them in registers.
//!
//! A page is four links. Where the registers are full or empty a page goes to memory or comes back,
//! in a loop around the others: machines that execute a loop for several rays at once go through
//! everything in its body.

use super::stage::{Flag, Stage};
use super::tree::DONE;
use crate::bvh::node::STACK;
use crate::ir::{Op, SlotId, Type, Value, Variable};

/// Links in a page.
const PAGE: usize = 4;

/// Where pages lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pages {
    /// In an array of the generated function.
    Array,
    /// With the functions `keep_page(n, a, b, c, d)` and `kept_page(n)` of the text around the
    /// generated function.
    Surrounding,
}

/// A stack of links. [`DONE`] stands for none.
#[derive(Debug)]
pub struct Stack {
    registers: Vec<Variable>,
    pages: Variable,
    array: Option<SlotId>,
}

impl Stack {
    /// An empty stack with that many links in registers: at least one page.
    pub fn new(s: &mut Stage, registers: usize, pages: Pages) -> Self {
        let (done, zero) = (s.int(DONE), s.int(0));
        let registers = (0..registers.max(PAGE)).map(|_| s.variable(done)).collect();
        let array = (pages == Pages::Array).then(|| s.array("pages", Type::Vec4, (STACK / PAGE) as u32));
        Self { registers, pages: s.variable(zero), array }
    }

    /// Whether a link can be pushed.
    pub fn has_room(&self, s: &mut Stage) -> Flag {
        let last = s.get(self.registers[self.registers.len() - 1]);
        let done = s.int(DONE);
        s.equal(last, done)
    }

    /// Pushes a link; there must be room.
    pub fn push(&self, s: &mut Stage, link: Value) {
        let mut moved = link;
        for &register in &self.registers {
            let next = s.get(register);
            s.set(register, moved);
            moved = next;
        }
    }

    /// Takes the latest link in registers, or [`DONE`].
    pub fn pop(&self, s: &mut Stage) -> Value {
        let mut moved = s.int(DONE);
        for &register in self.registers.iter().rev() {
            let next = s.get(register);
            s.set(register, moved);
            moved = next;
        }
        moved
    }

    /// Makes room, and gives the link to continue from: this one, or where it is [`DONE`] the
    /// latest that waits in memory; [`DONE`] when none does.
    pub fn turn_page(&self, s: &mut Stage, link: Value) -> Value {
        let has_room = self.has_room(s);
        let full = s.not(has_room);
        s.when(full, |s| {
            let oldest = &self.registers[self.registers.len() - PAGE..];
            let links: Vec<Value> = oldest.iter().map(|&register| s.get(register)).collect();
            self.keep(s, &links);
            let done = s.int(DONE);
            oldest.iter().for_each(|&register| s.set(register, done));
        });
        let next = s.variable(link);
        let (done, zero, count) = (s.int(DONE), s.int(0), s.get(self.pages));
        let (stuck, waiting) = (s.equal(link, done), s.less(zero, count));
        let back = s.and(stuck, waiting);
        s.when(back, |s| {
            let links = self.kept(s);
            self.registers.iter().zip(links).for_each(|(&register, link)| s.set(register, link));
            let link = self.pop(s);
            s.set(next, link);
        });
        s.get(next)
    }

    fn keep(&self, s: &mut Stage, links: &[Value]) {
        let (count, one) = (s.get(self.pages), s.int(1));
        let number = s.bits(count, Type::U32);
        match self.array {
            Some(array) => {
                let floats: Vec<Value> = links.iter().map(|&link| s.bits(link, Type::F32)).collect();
                let page = s.op(Op::Compose, [floats[0], floats[1], floats[2], floats[3]]);
                s.effect(Op::SlotStore(array), [number, page]);
            }
            None => {
                let words = links.iter().map(|&link| s.bits(link, Type::U32));
                let args: Vec<Value> = std::iter::once(number).chain(words.collect::<Vec<_>>()).collect();
                s.call("keep_page", &args, &[]);
            }
        }
        let count = s.op(Op::IAdd, [count, one]);
        s.set(self.pages, count);
    }

    fn kept(&self, s: &mut Stage) -> [Value; PAGE] {
        let (count, one) = (s.get(self.pages), s.int(1));
        let count = s.op(Op::ISub, [count, one]);
        s.set(self.pages, count);
        let number = s.bits(count, Type::U32);
        match self.array {
            Some(array) => {
                let page = s.op_as(Op::SlotLoad(array), [number], Type::Vec4);
                std::array::from_fn(|i| {
                    let link = s.part(page, i);
                    s.bits(link, Type::I32)
                })
            }
            None => {
                let words = s.call("kept_page", &[number], &[Type::U32; PAGE]);
                std::array::from_fn(|i| s.bits(words[i], Type::I32))
            }
        }
    }
}
