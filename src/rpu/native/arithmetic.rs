//! Translates arithmetic, step by step: the operations of [`crate::arith`] in the same order,
//! so that every result has the interpreter's bits.

use super::assembler::VectorOperand as At;
use super::context::constant;
use super::translator::Translator;
use super::vectors::{Binary, NumberKind, Shift, Unary, constant_place};
use crate::isa::{Op, OpClass, SpecialOp};
use crate::step::{Modify, Step, Task, Uniform, ValueLocation};
use iced_x86::Register;

impl Translator<'_> {
    /// One step.
    pub(super) fn step(&mut self, step: &Step) {
        let (task, _) = step.task();
        if task == Task::Copy && step.source(0, self.pool) == ValueLocation::Column(step.target(self.pool)) {
            return;
        }
        let result = match task {
            Task::Copy => self.value(step.source(0, self.pool)),
            Task::Saturate => {
                let x = self.value(step.source(0, self.pool));
                // The second source where the first is NaN, or −0.
                let above = self.binary(Binary::Max, x, constant_place(constant::ZERO));
                self.binary(Binary::Min, above, constant_place(constant::ONE))
            }
            Task::Special(SpecialOp::Rcp) => {
                let x = self.operand(step.source(0, self.pool));
                let one = self.constant(constant::ONE);
                self.binary(Binary::Div, one, x)
            }
            Task::Special(SpecialOp::Rsq) => {
                let x = self.operand(step.source(0, self.pool));
                let root = self.unary(Unary::Sqrt, x);
                let one = self.constant(constant::ONE);
                self.binary(Binary::Div, one, At::Register(root))
            }
            Task::Op(op) if op.class() == OpClass::Dot => self.dot(step),
            Task::Op(op) => self.operation(step, op),
        };
        self.cache.define(step.target(self.pool), result);
    }

    fn operation(&mut self, step: &Step, op: Op) -> Register {
        let simple = match op {
            Op::Add => Some(Binary::Add),
            Op::Mul => Some(Binary::Mul),
            Op::Iadd => Some(Binary::IntegerAdd),
            Op::Imul => Some(Binary::IntegerMul),
            Op::Iand => Some(Binary::And),
            Op::Ior => Some(Binary::Or),
            Op::Ixor => Some(Binary::Xor),
            _ => None,
        };
        if let Some(simple) = simple {
            let x = self.modified(step, 0);
            let y = self.modified_operand(step, 1);
            return self.binary(simple, x, y);
        }
        match op {
            Op::Mad => {
                let x = self.modified(step, 0);
                let y = self.modified_operand(step, 1);
                let product = self.binary(Binary::Mul, x, y);
                self.cache.unpin_others(&[product]);
                let z = self.modified_operand(step, 2);
                self.binary(Binary::Add, product, z)
            }
            Op::Frac => {
                let x = self.modified(step, 0);
                let floor = self.unary(Unary::Floor, At::Register(x));
                let minus = self.binary(Binary::Xor, floor, constant_place(constant::SIGN));
                self.binary(Binary::Add, x, At::Register(minus))
            }
            Op::Ishl => self.shift(step, Shift::Left, Binary::ShiftLeft),
            Op::Ishr => self.shift(step, Shift::Right, Binary::ShiftRight),
            Op::Iasr => self.shift(step, Shift::SignRight, Binary::ShiftSignRight),
            Op::Irev => {
                let x = self.modified(step, 0);
                self.reversed(x)
            }
            Op::Icmp => self.order(step, NumberKind::Signed),
            Op::Ucmp => self.order(step, NumberKind::Unsigned),
            Op::Ftoi | Op::Ftou | Op::Utof => {
                let x = self.modified(step, 0);
                let to = self.take();
                match op {
                    Op::Ftoi => self.isa.to_signed(&mut self.a, to, x),
                    Op::Ftou => self.isa.to_unsigned(&mut self.a, to, x),
                    _ => self.isa.unsigned_to_float(&mut self.a, to, x),
                }
                to
            }
            Op::Itof => {
                let x = self.modified_operand(step, 0);
                self.unary(Unary::FromSigned, x)
            }
            // A move with a modifier; dot products are not here, and the rest is above.
            _ => self.modified(step, 0),
        }
    }

    /// Products of pairs added up from the left; the last source of an odd number is added.
    fn dot(&mut self, step: &Step) -> Register {
        let mut sum = None;
        for n in (0..step.arity()).step_by(2) {
            let term = if n + 1 < step.arity() {
                let x = self.modified(step, n);
                let y = self.modified_operand(step, n + 1);
                At::Register(self.binary(Binary::Mul, x, y))
            } else {
                self.modified_operand(step, n)
            };
            let total = match (sum, term) {
                (Some(sum), term) => self.binary(Binary::Add, sum, term),
                (None, At::Register(term)) => term,
                (None, At::Memory(..)) => self.modified(step, n),
            };
            self.cache.unpin_others(&[total]);
            sum = Some(total);
        }
        sum.unwrap_or_else(|| self.constant(constant::ZERO))
    }

    fn order(&mut self, step: &Step, kind: NumberKind) -> Register {
        let x = self.modified(step, 0);
        let y = self.modified_operand(step, 1);
        let to = self.take();
        self.isa.order(&mut self.a, kind, to, x, y);
        to
    }

    fn shift(&mut self, step: &Step, by_constant: Shift, by_lanes: Binary) -> Register {
        let x = self.modified(step, 0);
        if let (ValueLocation::Pool(n), (_, Modify::Nothing)) = (step.source(1, self.pool), step.task())
            && let Some(Uniform::Literal(by)) = self.program.steps.pool.get(n)
        {
            let to = self.take();
            self.isa.shift(&mut self.a, by_constant, to, x, (by & 31) as u8);
            return to;
        }
        let by = self.modified(step, 1);
        let by = self.binary(Binary::And, by, constant_place(constant::SHIFT));
        self.binary(by_lanes, x, At::Register(by))
    }

    /// The bits of each word in reverse: the bytes by a shuffle, the halves of each by tables.
    fn reversed(&mut self, x: Register) -> Register {
        let bytes = self.binary(Binary::Shuffle, x, constant_place(constant::REVERSED_BYTES));
        let low = self.binary(Binary::And, bytes, constant_place(constant::LOW_NIBBLES));
        let shifted = self.take();
        self.isa.shift(&mut self.a, Shift::Right, shifted, bytes, 4);
        let high = self.binary(Binary::And, shifted, constant_place(constant::LOW_NIBBLES));
        self.cache.unpin_others(&[low, high]);
        let table = self.constant(constant::REVERSED_HIGH);
        let low = self.binary(Binary::Shuffle, table, At::Register(low));
        let table = self.constant(constant::REVERSED_LOW);
        let high = self.binary(Binary::Shuffle, table, At::Register(high));
        self.binary(Binary::Or, low, At::Register(high))
    }

    /// A source with its modifier, in a register.
    pub(super) fn modified(&mut self, step: &Step, source: usize) -> Register {
        match self.modified_operand(step, source) {
            At::Register(register) => register,
            At::Memory(..) => self.value(step.source(source, self.pool)),
        }
    }

    /// A source with its modifier.
    pub(super) fn modified_operand(&mut self, step: &Step, source: usize) -> At {
        let place = step.source(source, self.pool);
        let (task, modify) = step.task();
        let is_dot = matches!(task, Task::Op(op) if op.class() == OpClass::Dot);
        let by = step.modifiers[if is_dot { source % 2 } else { source }];
        let (negative, factor) = match modify {
            Modify::Nothing => (false, 1.0),
            Modify::Sign | Modify::Negate => (by.sign != 0, 1.0),
            Modify::Scale => (by.sign != 0, by.factor),
        };
        if modify == Modify::Negate && negative {
            let x = self.value(place);
            let zero = self.constant(constant::ZERO);
            return At::Register(self.binary(Binary::IntegerSub, zero, At::Register(x)));
        }
        let mut operand = if negative || factor != 1.0 { At::Register(self.value(place)) } else { self.operand(place) };
        if let (true, At::Register(x)) = (negative, operand) {
            operand = At::Register(self.binary(Binary::Xor, x, constant_place(constant::SIGN)));
        }
        let scale = [(0.5, constant::HALF), (2.0, constant::TWO), (4.0, constant::FOUR)];
        if let (Some((_, scale)), At::Register(x)) = (scale.into_iter().find(|(f, _)| *f == factor), operand) {
            operand = At::Register(self.binary(Binary::Mul, x, constant_place(scale)));
        }
        operand
    }

    fn constant(&mut self, number: usize) -> Register {
        let to = self.take();
        self.isa.load(&mut self.a, to, constant_place(number));
        to
    }

    fn binary(&mut self, op: Binary, x: Register, y: At) -> Register {
        let to = self.take();
        self.isa.binary(&mut self.a, op, to, x, y);
        to
    }

    fn unary(&mut self, op: Unary, x: At) -> Register {
        let to = self.take();
        self.isa.unary(&mut self.a, op, to, x);
        to
    }
}
