//! The stage: appends to the function that is being generated.
//!
//! A [`Value`] is *dynamic*: it is known when the generated program runs. Numbers, vectors and
//! closures of Rust are *static*: they are gone then. [`Flag`] is either: what is statically known
//! is decided while the program is generated, and leaves no branch.

use shadewright_ir::{BlockId, Const, FunctionBuilder, Op, Type, Value, Variable};
use std::sync::Arc;

/// How decisions without a branch are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Idiom {
    /// As `select` of a truth value: for machines that have such an instruction.
    Select,
    /// By masks of 32 bits and bitwise operations: for the RPU, which has no `select` and whose
    /// branches end blocks of straight code.
    Mask,
}

/// A truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// Known when the program is generated.
    Known(bool),
    /// A `bool` of the program.
    Bool(Value),
    /// An `i32` of the program, 0 or −1.
    Mask(Value),
}

/// A function under construction.
#[derive(Debug)]
pub struct Stage {
    builder: FunctionBuilder,
    idiom: Idiom,
}

impl Stage {
    /// Continues a function of which the parameters and results are declared.
    pub fn new(builder: FunctionBuilder, idiom: Idiom) -> Self {
        Self { builder, idiom }
    }

    /// The function, to be returned from.
    pub fn into_builder(self) -> FunctionBuilder {
        self.builder
    }

    /// How decisions are written.
    pub fn idiom(&self) -> Idiom {
        self.idiom
    }

    // --- values ---

    /// A constant `f32`.
    pub fn float(&mut self, x: f32) -> Value {
        self.builder.f32(x)
    }

    /// A constant.
    pub fn constant(&mut self, constant: Const) -> Value {
        self.builder.constant(constant)
    }

    /// A constant `i32`.
    pub fn int(&mut self, x: i32) -> Value {
        self.builder.constant(Const::I32(x))
    }

    /// A constant `vec3`.
    pub fn vec3(&mut self, v: [f32; 3]) -> Value {
        self.builder.constant(Const::Vec3(v))
    }

    /// An operation whose operands determine its one result.
    pub fn op<const N: usize>(&mut self, op: Op, args: [Value; N]) -> Value {
        self.builder.op(op, &args)
    }

    /// The same 32 bits as a value of another type.
    pub fn bits(&mut self, value: Value, ty: Type) -> Value {
        match self.builder.ty(value) == ty {
            true => value,
            false => self.builder.op_as(Op::Bitcast, &[value], ty),
        }
    }

    /// A component of a vector.
    pub fn part(&mut self, vector: Value, index: usize) -> Value {
        self.builder.op(Op::Extract(index as u8), &[vector])
    }

    /// The three components of a `vec3`.
    pub fn parts(&mut self, vector: Value) -> [Value; 3] {
        [0, 1, 2].map(|i| self.part(vector, i))
    }

    /// A `vec3` of its components.
    pub fn compose(&mut self, parts: [Value; 3]) -> Value {
        self.op(Op::Compose, parts)
    }

    /// A `vec3` of three equal components.
    pub fn splat(&mut self, x: Value) -> Value {
        self.op_as(Op::Splat, [x], Type::Vec3)
    }

    /// Calls a function of the module, or of the text around the generated one.
    pub fn call(&mut self, name: impl Into<Arc<str>>, args: &[Value], results: &[Type]) -> Vec<Value> {
        self.builder.call(name, args.to_vec(), results)
    }

    /// An operation with any number of results.
    pub fn inst(&mut self, op: Op, args: &[Value], results: &[Type]) -> Vec<Value> {
        self.builder.inst(op, args.to_vec(), results)
    }

    /// The memory vector at `address + offset`.
    pub fn load(&mut self, address: Value, offset: u32) -> Value {
        self.op(Op::Load(offset), [address])
    }

    /// Program constant `k`.
    pub fn uniform(&mut self, k: u32) -> Value {
        self.op(Op::Uniform(k), [])
    }

    // --- variables and arrays ---

    /// A variable with this value.
    pub fn variable(&mut self, value: Value) -> Variable {
        let variable = self.builder.variable(self.builder.ty(value));
        self.builder.write(variable, value);
        variable
    }

    /// The value of a variable here.
    pub fn get(&mut self, variable: Variable) -> Value {
        self.builder.read(variable)
    }

    /// Gives a variable a value from here on.
    pub fn set(&mut self, variable: Variable, value: Value) {
        self.builder.write(variable, value);
    }

    /// An array of the function's, for [`Op::SlotLoad`] and [`Op::SlotStore`].
    pub fn array(&mut self, name: &str, ty: Type, len: u32) -> shadewright_ir::SlotId {
        self.builder.slot(name, ty, len)
    }

    /// An operation whose result has this type.
    pub fn op_as<const N: usize>(&mut self, op: Op, args: [Value; N], ty: Type) -> Value {
        self.builder.op_as(op, &args, ty)
    }

    /// An operation without a result.
    pub fn effect<const N: usize>(&mut self, op: Op, args: [Value; N]) {
        self.builder.effect(op, &args);
    }

    // --- truth values ---

    /// True if `a < b`, of floats or integers; false where a float is NaN.
    pub fn less(&mut self, a: Value, b: Value) -> Flag {
        let op = if self.builder.ty(a) == Type::F32 { Op::Lt } else { Op::ILt };
        Flag::Bool(self.op(op, [a, b]))
    }

    /// True if `a <= b`, of floats; false where one is NaN.
    pub fn at_most(&mut self, a: Value, b: Value) -> Flag {
        Flag::Bool(self.op(Op::Le, [a, b]))
    }

    /// True if `a = b`, of floats or integers.
    pub fn equal(&mut self, a: Value, b: Value) -> Flag {
        let op = if self.builder.ty(a) == Type::F32 { Op::Eq } else { Op::IEq };
        Flag::Bool(self.op(op, [a, b]))
    }

    /// True if a distance is below another, as cheaply as the idiom allows. Neither is NaN; of two
    /// infinities of one sign either may count as the lower one.
    pub fn nearer(&mut self, a: Value, b: Value) -> Flag {
        match self.idiom {
            // Floats that are not both negative are ordered as their bits are.
            Idiom::Select => {
                let (a, b) = (self.bits(a, Type::I32), self.bits(b, Type::I32));
                self.less(a, b)
            }
            Idiom::Mask => {
                let difference = self.op(Op::Sub, [a, b]);
                self.sign(difference)
            }
        }
    }

    /// True if the sign bit of a float or an integer is set, as a mask.
    pub fn sign(&mut self, value: Value) -> Flag {
        let bits = self.bits(value, Type::I32);
        let places = self.int(31);
        Flag::Mask(self.op(Op::IShr, [bits, places]))
    }

    /// True if one of the sign bits of these floats is set, as a mask.
    pub fn any_sign(&mut self, values: &[Value]) -> Flag {
        let bits = values.iter().map(|&value| self.bits(value, Type::I32));
        let bits: Vec<Value> = bits.collect();
        let all = bits.into_iter().reduce(|a, b| self.op(Op::IOr, [a, b]));
        all.map_or(Flag::Known(false), |bits| self.sign(bits))
    }

    /// The truth value as a `bool`.
    pub fn bool(&mut self, flag: Flag) -> Value {
        match flag {
            Flag::Known(known) => self.builder.constant(Const::Bool(known)),
            Flag::Bool(value) => value,
            Flag::Mask(mask) => {
                let zero = self.int(0);
                self.op(Op::ILt, [mask, zero])
            }
        }
    }

    /// Both.
    pub fn and(&mut self, a: Flag, b: Flag) -> Flag {
        match (a, b) {
            (Flag::Known(false), _) | (_, Flag::Known(false)) => Flag::Known(false),
            (Flag::Known(true), other) | (other, Flag::Known(true)) => other,
            (Flag::Mask(a), Flag::Mask(b)) => Flag::Mask(self.op(Op::IAnd, [a, b])),
            (a, b) => {
                let (a, b) = (self.bool(a), self.bool(b));
                Flag::Bool(self.op(Op::And, [a, b]))
            }
        }
    }

    /// Either.
    pub fn or(&mut self, a: Flag, b: Flag) -> Flag {
        match (a, b) {
            (Flag::Known(true), _) | (_, Flag::Known(true)) => Flag::Known(true),
            (Flag::Known(false), other) | (other, Flag::Known(false)) => other,
            (Flag::Mask(a), Flag::Mask(b)) => Flag::Mask(self.op(Op::IOr, [a, b])),
            (a, b) => {
                let (a, b) = (self.bool(a), self.bool(b));
                Flag::Bool(self.op(Op::Or, [a, b]))
            }
        }
    }

    /// The opposite.
    pub fn not(&mut self, flag: Flag) -> Flag {
        match flag {
            Flag::Known(known) => Flag::Known(!known),
            Flag::Bool(value) => Flag::Bool(self.op(Op::Not, [value])),
            Flag::Mask(mask) => {
                let all = self.int(-1);
                Flag::Mask(self.op(Op::IXor, [mask, all]))
            }
        }
    }

    /// True if all flags hold: `all` of the lanes of a packet.
    pub fn all(&mut self, flags: &[Flag]) -> Flag {
        flags.iter().fold(Flag::Known(true), |sum, &flag| self.and(sum, flag))
    }

    /// True if one of the flags holds: `any` of the lanes of a packet.
    pub fn any(&mut self, flags: &[Flag]) -> Flag {
        flags.iter().fold(Flag::Known(false), |sum, &flag| self.or(sum, flag))
    }

    /// `yes` where the flag holds, else `no`.
    pub fn select(&mut self, flag: Flag, yes: Value, no: Value) -> Value {
        match flag {
            Flag::Known(known) => [no, yes][usize::from(known)],
            Flag::Bool(condition) => self.op(Op::Select, [condition, yes, no]),
            Flag::Mask(mask) => {
                let ty = self.builder.ty(yes);
                let (yes, no) = (self.bits(yes, Type::I32), self.bits(no, Type::I32));
                let difference = self.op(Op::IXor, [yes, no]);
                let kept = self.op(Op::IAnd, [difference, mask]);
                let value = self.op(Op::IXor, [no, kept]);
                self.bits(value, ty)
            }
        }
    }

    /// The lower distance; as [`Stage::nearer`].
    pub fn min(&mut self, a: Value, b: Value) -> Value {
        let first = self.nearer(a, b);
        self.select(first, a, b)
    }

    /// The greater distance; as [`Stage::nearer`].
    pub fn max(&mut self, a: Value, b: Value) -> Value {
        let first = self.nearer(a, b);
        self.select(first, b, a)
    }

    // --- control ---

    /// Runs `then` where the flag holds.
    pub fn when(&mut self, flag: Flag, then: impl FnOnce(&mut Self)) {
        if let Flag::Known(known) = flag {
            return if known {
                then(self)
            };
        }
        let condition = self.bool(flag);
        let (yes, after) = (self.builder.block(), self.builder.block());
        self.builder.branch(condition, yes, after);
        self.enter(yes);
        then(self);
        self.builder.jump(after, vec![]);
        self.enter(after);
    }

    /// Runs `then` where the flag holds, else `otherwise`.
    pub fn choose(&mut self, flag: Flag, then: impl FnOnce(&mut Self), otherwise: impl FnOnce(&mut Self)) {
        if let Flag::Known(known) = flag {
            return if known { then(self) } else { otherwise(self) };
        }
        let condition = self.bool(flag);
        let (yes, no, after) = (self.builder.block(), self.builder.block(), self.builder.block());
        self.builder.branch(condition, yes, no);
        self.enter(yes);
        then(self);
        self.builder.jump(after, vec![]);
        self.enter(no);
        otherwise(self);
        self.builder.jump(after, vec![]);
        self.enter(after);
    }

    /// Runs `body` once, and again as long as the flag that it gives holds.
    pub fn repeat(&mut self, body: impl FnOnce(&mut Self) -> Flag) {
        let (head, after) = (self.builder.block(), self.builder.block());
        self.builder.jump(head, vec![]);
        self.builder.switch_to(head);
        match body(self) {
            Flag::Known(true) => self.builder.jump(head, vec![]),
            Flag::Known(false) => self.builder.jump(after, vec![]),
            again => {
                let condition = self.bool(again);
                self.builder.branch(condition, head, after);
            }
        }
        self.builder.seal(head);
        self.enter(after);
    }

    fn enter(&mut self, block: BlockId) {
        self.builder.seal(block);
        self.builder.switch_to(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_ir::abi::EntryPoint;
    use shadewright_ir::eval::{EmptyWorld, Limits, eval};
    use shadewright_ir::{FunctionKind, Module};

    /// The result of a function of one `f32`, generated by `body`.
    fn run(idiom: Idiom, x: f32, body: impl FnOnce(&mut Stage, Value) -> Value) -> (Const, Module) {
        let mut builder = FunctionBuilder::new("f", FunctionKind::Entry(EntryPoint::Other));
        builder.result("return", Type::F32);
        let param = builder.param("x", Type::F32);
        let mut stage = Stage::new(builder, idiom);
        let result = body(&mut stage, param);
        let mut builder = stage.into_builder();
        builder.ret(vec![result]);
        let module = Module { functions: vec![builder.finish()], ..Module::new() };
        shadewright_ir::verify(&module).expect("a valid module");
        let results = eval(&module, "f", &[Const::F32(x)], &mut EmptyWorld, Limits::default()).expect("it ends");
        (results[0].clone(), module)
    }

    #[test]
    fn distances_are_ordered_alike_in_both_idioms() {
        for idiom in [Idiom::Select, Idiom::Mask] {
            for (a, b) in [(1.0, 2.0), (2.0, 1.0), (-3.0, 0.5), (0.25, -7.0), (f32::MAX, 1.0), (f32::INFINITY, 3.0)] {
                let (least, _) = run(idiom, a, |s, x| {
                    let b = s.float(b);
                    s.min(x, b)
                });
                let (most, _) = run(idiom, a, |s, x| {
                    let b = s.float(b);
                    s.max(x, b)
                });
                assert_eq!((least, most), (Const::F32(a.min(b)), Const::F32(a.max(b))), "{idiom:?}");
            }
        }
    }

    #[test]
    fn what_is_known_statically_leaves_no_branch() {
        let (result, module) = run(Idiom::Select, 3.0, |s, x| {
            let sum = s.variable(x);
            let never = s.and(Flag::Known(false), Flag::Bool(x));
            s.when(never, |s| s.set(sum, x));
            s.when(Flag::Known(true), |s| {
                let now = s.get(sum);
                let twice = s.op(Op::Add, [now, x]);
                s.set(sum, twice);
            });
            s.get(sum)
        });
        assert_eq!(result, Const::F32(6.0));
        assert_eq!(module.functions[0].blocks.len(), 1);
    }

    #[test]
    fn one_of_two_branches_runs() {
        for (x, expected) in [(-1.0, 10.0), (1.0, 20.0)] {
            let (result, _) = run(Idiom::Select, x, |s, x| {
                let value = s.variable(x);
                let negative = s.sign(x);
                let set = |s: &mut Stage, to| {
                    let to = s.float(to);
                    s.set(value, to);
                };
                s.choose(negative, |s| set(s, 10.0), |s| set(s, 20.0));
                s.choose(Flag::Known(false), |s| set(s, 30.0), |_| {});
                s.get(value)
            });
            assert_eq!(result, Const::F32(expected));
        }
    }

    #[test]
    fn a_loop_runs_its_body_once_at_least() {
        for (x, expected) in [(0.3, 1.3), (9.0, 10.0), (-2.5, 0.5)] {
            let (result, _) = run(Idiom::Mask, x, |s, x| {
                let value = s.variable(x);
                s.repeat(|s| {
                    let (now, one) = (s.get(value), s.float(1.0));
                    let next = s.op(Op::Add, [now, one]);
                    s.set(value, next);
                    s.sign(next)
                });
                s.get(value)
            });
            assert_eq!(result, Const::F32(expected));
        }
    }
}
