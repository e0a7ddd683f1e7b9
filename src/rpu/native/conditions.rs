//! Translates conditions: tests of results, to the lanes for which they hold, as bits.

use super::assembler::{VectorOperand as At, fixed};
use super::context::constant;
use super::liveness::Columns;
use super::translator::Translator;
use super::vectors::{NumberKind, Order, constant_place};
use crate::isa::Op;
use crate::step::{Step, Task, Test, Tests, ValueLocation};
use iced_x86::{Code, Instruction, Register};

impl Translator<'_> {
    /// The test of a comparison whose result is read by the test alone.
    pub(super) fn fusible(&self, steps: &[Step], tests: &Tests, after: &Columns) -> Option<(NumberKind, Test)> {
        let ([test], [.., last]) = (&tests.each[..], steps) else { return None };
        let kind = match last.task() {
            (Task::Op(Op::Icmp), _) => NumberKind::Signed,
            (Task::Op(Op::Ucmp), _) => NumberKind::Unsigned,
            _ => return None,
        };
        let result = last.target(self.pool);
        let is_tested = test.integer && test.slot.place(self.pool) == ValueLocation::Column(result);
        (is_tested && !after.contains(result)).then_some((kind, *test))
    }

    /// Sets the bits of `eax` for a comparison instruction and its test.
    pub(super) fn fused(&mut self, step: &Step, kind: NumberKind, test: Test) {
        let x = self.modified(step, 0);
        let y = self.modified_operand(step, 1);
        self.integer_test(Register::EAX, kind, test, x, y);
    }

    /// Sets the bits of `eax` for the active lanes for which a condition holds.
    pub(super) fn tests(&mut self, tests: &Tests) {
        for (n, test) in tests.each.iter().enumerate() {
            let to = if n == 0 { Register::EAX } else { Register::ECX };
            let x = self.value(test.slot.place(self.pool));
            if test.integer {
                self.integer_test(to, NumberKind::Signed, *test, x, constant_place(constant::ZERO));
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
    fn integer_test(&mut self, to: Register, kind: NumberKind, test: Test, x: Register, y: At) {
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
            self.isa.compare(&mut self.a, part, NumberKind::Float, order, x, y);
            if n > 0 {
                self.a.put(Instruction::with2(join, to, part));
            }
        }
    }
}
