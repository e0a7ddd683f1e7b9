//! Executes expressions.

use super::blocks::{Datum, Key, Poison};
use super::numbers::{self, Number};
use super::{CARRY, Executor, ports};
use crate::circuit::graph::{Constant, Op, ValueId};
use crate::language::ast::{BinaryOp, Expr, ExprKind, Ident, UnaryOp};
use shadewright_base::bits::{Bits, MAX_WIDTH};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use shadewright_base::tokens::Parse;
use std::rc::Rc;
use std::sync::Arc;

impl<'a> Executor<'a> {
    /// The values of expressions; a call may give several values.
    pub(super) fn expressions(&mut self, all: &'a [Expr]) -> Parse<Vec<Datum>> {
        let mut data = Vec::new();
        for value in all {
            data.extend(self.values(value)?);
        }
        Ok(data)
    }

    /// The one value of an expression.
    pub(super) fn expression(&mut self, value: &'a Expr) -> Parse<Datum> {
        let mut data = self.values(value)?;
        match (data.pop(), data.len()) {
            (Some(datum), 0) => Ok(datum),
            (None, _) => self.error(value.span, "this gives no value, and one is needed", "no value"),
            (_, more) => {
                let message = format!("this gives {} values, and one is needed", more + 1);
                self.error(value.span, message, "several values")
            }
        }
    }

    /// The word of an expression: a number becomes a node.
    pub(super) fn word(&mut self, value: &'a Expr) -> Parse<ValueId> {
        let datum = self.expression(value)?;
        self.as_word(datum, value.span)
    }

    pub(super) fn as_word(&mut self, datum: Datum, span: Span) -> Parse<ValueId> {
        match datum {
            Datum::Word(value) => Ok(value),
            Datum::Number(number) => Ok(self.materialize(&number, self.here, span)),
            _ => self.error(span, "a number is needed, and this is a port", "a port"),
        }
    }

    /// The number of an expression that must be known while compiling, within limits.
    pub(super) fn known(&mut self, value: &'a Expr, least: u32, most: u32) -> Parse<u32> {
        let number = match self.expression(value)? {
            Datum::Number(number) => number.index(),
            _ => {
                return self.error(
                    value.span,
                    "this must be known while compiling",
                    "depends on the inputs of the circuit",
                );
            }
        };
        match number {
            Some(number) if (least as i128..=most as i128).contains(&number) => Ok(number as u32),
            _ => self.error(value.span, format!("this must be from {least} to {most}"), "out of range"),
        }
    }

    /// The values of an expression.
    pub(super) fn values(&mut self, value: &'a Expr) -> Parse<Vec<Datum>> {
        self.nested(value.span, |executor| executor.evaluate(value))
    }

    fn evaluate(&mut self, value: &'a Expr) -> Parse<Vec<Datum>> {
        let span = value.span;
        let datum = match &value.kind {
            ExprKind::Number(bits, width) => self.literal(bits, *width, span)?,
            ExprKind::Name(name) => {
                let key = self.key(name);
                if self.lookup(key, self.here).is_none()
                    && let Some(definition) = self.macros.get(name)
                {
                    return self.expand(&self.program.macros[*definition], &[], span);
                }
                self.variable(name, span)?
            }
            ExprKind::Call(name, arguments) => return self.call(name, arguments, span),
            ExprKind::Attribute(port, name, arguments) => return self.attribute(port, name, arguments, span),
            ExprKind::Slice(inner, high, low) => self.slice(inner, high, low.as_deref(), span)?,
            ExprKind::Sized(inner, size) => self.sized(inner, size, span)?,
            ExprKind::Unary(op, inner) => self.unary(*op, inner, span)?,
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, span)?,
            ExprKind::If(condition, then, otherwise) => return self.if_expression(condition, then, otherwise, span),
            ExprKind::Case(cases) => return self.case_expression(cases, span),
        };
        Ok(vec![datum])
    }

    fn literal(&mut self, bits: &Bits, width: u32, span: Span) -> Parse<Datum> {
        match bits.to_u128().and_then(|number| i128::try_from(number).ok()) {
            Some(number) => Ok(Datum::Number(Number::Free(number))),
            None => {
                let message = format!("a number of {width} bits needs a size");
                let d = Diagnostic::error(message).at(span, "too large without one");
                self.fail(d.hint(format!("write `{}#{width}`", bits.unsigned())))
            }
        }
    }

    fn call(&mut self, name: &Ident, arguments: &'a [Expr], span: Span) -> Parse<Vec<Datum>> {
        if ports::is_built_in(&name.name) {
            return self.create(name, arguments, span);
        }
        match self.macros.get(&name.name) {
            Some(definition) => self.expand(&self.program.macros[*definition], arguments, span),
            None => {
                let known = self.macros.keys().map(|known| &**known).chain(ports::BUILT_IN);
                let near = shadewright_base::text::diagnostics::closest(&name.name, known).map(str::to_string);
                let d = Diagnostic::error(format!("unknown macro `{}`", name.name)).at(name.span, "not defined");
                self.fail(match near {
                    Some(near) => d.hint(format!("did you mean `{near}`?")),
                    None => d,
                })
            }
        }
    }

    fn slice(&mut self, inner: &'a Expr, high: &'a Expr, low: Option<&'a Expr>, span: Span) -> Parse<Datum> {
        let datum = self.expression(inner)?;
        let high = self.known(high, 0, MAX_WIDTH - 1)?;
        let low = match low {
            Some(low) => self.known(low, 0, MAX_WIDTH - 1)?,
            None => high,
        };
        if low > high {
            let d = Diagnostic::error(format!("bits {high} to {low}: the higher one comes first"));
            return self.fail(d.at(span, format!("write `[{low}:{high}]`")));
        }
        if let Datum::Number(number) = &datum {
            return match number.slice(high, low) {
                Ok(number) => Ok(Datum::Number(number)),
                Err(problem) => self.error(span, problem, "no such bit"),
            };
        }
        let value = self.as_word(datum, inner.span)?;
        match self.circuit.value(value).size {
            Some(size) if high >= size => {
                self.error(span, format!("bit {high} of a word of {size} bits"), "no such bit")
            }
            _ => Ok(Datum::Word(self.circuit.add_value(Op::Extract { high, low }, &[value], span))),
        }
    }

    fn sized(&mut self, inner: &'a Expr, size: &'a Expr, span: Span) -> Parse<Datum> {
        let size = self.size(size)?;
        let resized = match &inner.kind {
            ExprKind::Number(bits, width) if *width <= size => Ok(Number::Sized(bits.extract(0, size), size)),
            ExprKind::Number(bits, _) => Err(format!("the number {} does not fit {size} bits", bits.unsigned())),
            _ => match self.expression(inner)? {
                Datum::Number(number) => number.resized(size),
                datum => {
                    let value = self.as_word(datum, inner.span)?;
                    if self.circuit.value(value).size == Some(size) {
                        return Ok(Datum::Word(value));
                    }
                    let output = self.circuit.add_value(Op::Resize, &[value], span);
                    self.circuit.set_size(output, size);
                    return Ok(Datum::Word(output));
                }
            },
        };
        match resized {
            Ok(number) => Ok(Datum::Number(number)),
            Err(problem) => self.error(span, problem, "too small"),
        }
    }

    fn unary(&mut self, op: UnaryOp, inner: &'a Expr, span: Span) -> Parse<Datum> {
        let datum = self.expression(inner)?;
        if let Datum::Number(number) = &datum {
            let result = match op {
                UnaryOp::Negate => number.negated(),
                UnaryOp::Plus => Ok(number.clone()),
                UnaryOp::Not => Ok(number.complement()),
            };
            return match result {
                Ok(number) => Ok(Datum::Number(number)),
                Err(problem) => self.error(span, problem, "too large"),
            };
        }
        let value = self.as_word(datum, inner.span)?;
        Ok(Datum::Word(match op {
            UnaryOp::Plus => value,
            UnaryOp::Not => self.node(Op::Not, &[value], span),
            UnaryOp::Negate => {
                let zero = self.materialize(&Number::Free(0), self.here, span);
                self.node(Op::Sub, &[zero, value], span)
            }
        }))
    }

    fn binary(&mut self, op: BinaryOp, left: &'a Expr, right: &'a Expr, span: Span) -> Parse<Datum> {
        let (a, b) = (self.expression(left)?, self.expression(right)?);
        let op = match op {
            BinaryOp::Add => Op::Add,
            BinaryOp::Sub => Op::Sub,
            BinaryOp::Mul => Op::Mul,
            BinaryOp::And => Op::And,
            BinaryOp::Or => Op::Or,
            BinaryOp::Eqv => Op::Eqv,
            BinaryOp::Concat => Op::Concat,
            BinaryOp::Compare(comparison) => Op::Compare(comparison),
        };
        let has_carry = matches!(op, Op::Add | Op::Sub);
        if let (Datum::Number(a), Datum::Number(b)) = (&a, &b) {
            match numbers::binary(&op, a, b) {
                Ok(None) => {}
                Ok(Some((number, carry))) => {
                    if has_carry {
                        let carry = carry.map_or(Datum::Poison(Rc::new(Poison::NoCarry)), Datum::Number);
                        self.assign_carry(carry);
                    }
                    return Ok(Datum::Number(number));
                }
                Err(problem) => return self.error(span, problem, "not possible"),
            }
        }
        let inputs = [self.as_word(a, left.span)?, self.as_word(b, right.span)?];
        if op == Op::Concat {
            return self.concat(inputs, span);
        }
        let output = self.node(op, &inputs, span);
        if has_carry {
            let carry = self.circuit.source(output).outputs[1];
            self.assign_carry(Datum::Word(carry));
        }
        Ok(Datum::Word(output))
    }

    fn assign_carry(&mut self, datum: Datum) {
        let name: Arc<str> = CARRY.into();
        let key = self.key(&name);
        self.define(key, datum);
    }

    fn concat(&mut self, inputs: [ValueId; 2], span: Span) -> Parse<Datum> {
        let sizes = inputs.map(|input| self.circuit.value(input).size);
        let output = self.circuit.add_value(Op::Concat, &inputs, span);
        if let [Some(high), Some(low)] = sizes {
            if high + low > MAX_WIDTH {
                return self.error(span, format!("a word has at most {MAX_WIDTH} bits"), "too many bits");
            }
            self.circuit.set_size(output, high + low);
        }
        Ok(Datum::Word(output))
    }

    /// A condition: known, or a word of one bit.
    pub(super) fn condition(&mut self, value: &'a Expr) -> Parse<Result<bool, ValueId>> {
        let datum = self.expression(value)?;
        if let Datum::Number(number) = &datum {
            return match number.truth() {
                Some(truth) => Ok(Ok(truth)),
                None => self.error(value.span, "a condition is one bit: 0 or 1", "not one bit"),
            };
        }
        let word = self.as_word(datum, value.span)?;
        match self.circuit.value(word).size {
            None | Some(1) => Ok(Err(word)),
            Some(size) => {
                let d = Diagnostic::error(format!("a condition is one bit, and this has {size}"));
                self.fail(d.at(value.span, "not one bit").hint("compare it: `~= 0`"))
            }
        }
    }

    /// A label of a `CASE`.
    pub(super) fn label(&mut self, value: &'a Expr) -> Parse<Number> {
        match self.expression(value)? {
            Datum::Number(number) => Ok(number),
            _ => self.error(value.span, "the number of a case must be known while compiling", "not known"),
        }
    }

    /// A number as the graph has it.
    pub(super) fn constant(number: &Number) -> Constant {
        match number {
            Number::Free(number) => Constant::Number(*number),
            Number::Sized(bits, _) => Constant::Word(bits.clone()),
        }
    }

    /// A key that no variable has.
    pub(super) fn temporary(&mut self) -> Key {
        self.temporaries += 1;
        Key::Temporary(self.temporaries)
    }
}
