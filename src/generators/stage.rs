//! The stage: decides what is known while a function is generated.
//!
//! A [`Value`] is *dynamic*: it is known when the generated program runs. Numbers, vectors and
//! closures of Rust are *static*: they are gone then. [`Flag`] is either: what is statically known
//! is decided while the program is generated, and leaves no branch. Everything else is the
//! builder's.

use shadewright_ir::{Condition, Control, FunctionBuilder, Type, Value};

/// How decisions without a branch are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Idiom {
    /// As `select` of a truth value: for back ends that have such an instruction.
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

/// A function under construction, and how its decisions are written.
#[derive(Debug)]
pub struct KernelBuilder {
    /// The builder of the function.
    pub b: FunctionBuilder,
    idiom: Idiom,
}

impl Control for KernelBuilder {
    fn builder(&mut self) -> &mut FunctionBuilder {
        &mut self.b
    }
}

impl KernelBuilder {
    /// Continues a function of which the parameters and results are declared.
    pub fn new(builder: FunctionBuilder, idiom: Idiom) -> Self {
        Self { b: builder, idiom }
    }

    /// The function, to be returned from.
    pub fn into_builder(self) -> FunctionBuilder {
        self.b
    }

    /// How decisions are written.
    pub fn idiom(&self) -> Idiom {
        self.idiom
    }

    /// The same 32 bits as a value of a type; the value itself where it has the type.
    pub fn bits(&mut self, value: Value, ty: Type) -> Value {
        if self.b.ty(value) == ty { value } else { self.b.bitcast(value, ty) }
    }

    // --- truth values ---

    /// True if `a < b`, of floats or integers; false where a float is NaN.
    pub fn less(&mut self, a: Value, b: Value) -> Flag {
        let is_float = self.b.ty(a) == Type::F32;
        Flag::Bool(if is_float { self.b.lt(a, b) } else { self.b.ilt(a, b) })
    }

    /// True if `a <= b`, of floats; false where one is NaN.
    pub fn at_most(&mut self, a: Value, b: Value) -> Flag {
        Flag::Bool(self.b.le(a, b))
    }

    /// True if `a = b`, of floats or integers.
    pub fn equal(&mut self, a: Value, b: Value) -> Flag {
        let is_float = self.b.ty(a) == Type::F32;
        Flag::Bool(if is_float { self.b.eq(a, b) } else { self.b.ieq(a, b) })
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
                let difference = self.b.sub(a, b);
                self.sign(difference)
            }
        }
    }

    /// True if the sign bit of a float or an integer is set, as a mask.
    pub fn sign(&mut self, value: Value) -> Flag {
        let bits = self.bits(value, Type::I32);
        let places = self.b.i32(31);
        Flag::Mask(self.b.ishr(bits, places))
    }

    /// True if one of the sign bits of these floats is set, as a mask.
    pub fn any_sign(&mut self, values: &[Value]) -> Flag {
        let bits = values.iter().map(|&value| self.bits(value, Type::I32));
        let bits: Vec<Value> = bits.collect();
        let all = bits.into_iter().reduce(|a, b| self.b.ior(a, b));
        all.map_or(Flag::Known(false), |bits| self.sign(bits))
    }

    /// The truth value as a `bool`.
    pub fn bool(&mut self, flag: Flag) -> Value {
        match flag {
            Flag::Known(known) => self.b.bool(known),
            Flag::Bool(value) => value,
            Flag::Mask(mask) => {
                let zero = self.b.i32(0);
                self.b.ilt(mask, zero)
            }
        }
    }

    /// Both.
    pub fn and(&mut self, a: Flag, b: Flag) -> Flag {
        match (a, b) {
            (Flag::Known(false), _) | (_, Flag::Known(false)) => Flag::Known(false),
            (Flag::Known(true), other) | (other, Flag::Known(true)) => other,
            (Flag::Mask(a), Flag::Mask(b)) => Flag::Mask(self.b.iand(a, b)),
            (a, b) => {
                let (a, b) = (self.bool(a), self.bool(b));
                Flag::Bool(self.b.and(a, b))
            }
        }
    }

    /// Either.
    pub fn or(&mut self, a: Flag, b: Flag) -> Flag {
        match (a, b) {
            (Flag::Known(true), _) | (_, Flag::Known(true)) => Flag::Known(true),
            (Flag::Known(false), other) | (other, Flag::Known(false)) => other,
            (Flag::Mask(a), Flag::Mask(b)) => Flag::Mask(self.b.ior(a, b)),
            (a, b) => {
                let (a, b) = (self.bool(a), self.bool(b));
                Flag::Bool(self.b.or(a, b))
            }
        }
    }

    /// The opposite.
    pub fn not(&mut self, flag: Flag) -> Flag {
        match flag {
            Flag::Known(known) => Flag::Known(!known),
            Flag::Bool(value) => Flag::Bool(self.b.not(value)),
            Flag::Mask(mask) => {
                let all = self.b.i32(-1);
                Flag::Mask(self.b.ixor(mask, all))
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
            Flag::Bool(condition) => self.b.select(condition, yes, no),
            Flag::Mask(mask) => {
                let ty = self.b.ty(yes);
                let (yes, no) = (self.bits(yes, Type::I32), self.bits(no, Type::I32));
                let difference = self.b.ixor(yes, no);
                let kept = self.b.iand(difference, mask);
                let value = self.b.ixor(no, kept);
                self.bits(value, ty)
            }
        }
    }

    /// The lower distance; as [`KernelBuilder::nearer`].
    pub fn min(&mut self, a: Value, b: Value) -> Value {
        let first = self.nearer(a, b);
        self.select(first, a, b)
    }

    /// The greater distance; as [`KernelBuilder::nearer`].
    pub fn max(&mut self, a: Value, b: Value) -> Value {
        let first = self.nearer(a, b);
        self.select(first, b, a)
    }

    // --- control ---

    /// Runs `then` where the flag holds.
    pub fn when(&mut self, flag: Flag, then: impl FnOnce(&mut Self)) {
        let condition = self.condition(flag);
        self.if_then(condition, then);
    }

    /// Runs `then` where the flag holds, else `otherwise`.
    pub fn choose(&mut self, flag: Flag, then: impl FnOnce(&mut Self), otherwise: impl FnOnce(&mut Self)) {
        let condition = self.condition(flag);
        self.if_else(condition, then, otherwise);
    }

    /// Runs `body` once, and again as long as the flag that it gives holds.
    pub fn repeat(&mut self, body: impl FnOnce(&mut Self) -> Flag) {
        Control::repeat(self, |s| {
            let again = body(s);
            s.condition(again)
        });
    }

    /// The flag as a condition of the builder.
    fn condition(&mut self, flag: Flag) -> Condition {
        match flag {
            Flag::Known(known) => Condition::Known(known),
            other => Condition::Holds(self.bool(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_ir::Const;
    use shadewright_ir::abi::EntryPoint;
    use shadewright_ir::eval::{EmptyWorld, Limits, eval};
    use shadewright_ir::{FunctionKind, Module};

    /// The result of a function of one `f32`, generated by `body`.
    fn run(idiom: Idiom, x: f32, body: impl FnOnce(&mut KernelBuilder, Value) -> Value) -> (Const, Module) {
        let mut builder = FunctionBuilder::new("f", FunctionKind::Entry(EntryPoint::Other));
        builder.result("return", Type::F32);
        let param = builder.param("x", Type::F32);
        let mut stage = KernelBuilder::new(builder, idiom);
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
                    let b = s.b.f32(b);
                    s.min(x, b)
                });
                let (most, _) = run(idiom, a, |s, x| {
                    let b = s.b.f32(b);
                    s.max(x, b)
                });
                assert_eq!((least, most), (Const::F32(a.min(b)), Const::F32(a.max(b))), "{idiom:?}");
            }
        }
    }

    #[test]
    fn what_is_known_statically_leaves_no_branch() {
        let (result, module) = run(Idiom::Select, 3.0, |s, x| {
            let sum = s.b.variable_with(x);
            let never = s.and(Flag::Known(false), Flag::Bool(x));
            s.when(never, |s| s.b.write(sum, x));
            s.when(Flag::Known(true), |s| {
                let now = s.b.read(sum);
                let twice = s.b.add(now, x);
                s.b.write(sum, twice);
            });
            s.b.read(sum)
        });
        assert_eq!(result, Const::F32(6.0));
        assert_eq!(module.functions[0].blocks.len(), 1);
    }

    #[test]
    fn one_of_two_branches_runs() {
        for (x, expected) in [(-1.0, 10.0), (1.0, 20.0)] {
            let (result, _) = run(Idiom::Select, x, |s, x| {
                let value = s.b.variable_with(x);
                let negative = s.sign(x);
                let set = |s: &mut KernelBuilder, to| {
                    let to = s.b.f32(to);
                    s.b.write(value, to);
                };
                s.choose(negative, |s| set(s, 10.0), |s| set(s, 20.0));
                s.choose(Flag::Known(false), |s| set(s, 30.0), |_| {});
                s.b.read(value)
            });
            assert_eq!(result, Const::F32(expected));
        }
    }

    #[test]
    fn a_loop_runs_its_body_once_at_least() {
        for (x, expected) in [(0.3, 1.3), (9.0, 10.0), (-2.5, 0.5)] {
            let (result, _) = run(Idiom::Mask, x, |s, x| {
                let value = s.b.variable_with(x);
                s.repeat(|s| {
                    let (now, one) = (s.b.read(value), s.b.f32(1.0));
                    let next = s.b.add(now, one);
                    s.b.write(value, next);
                    s.sign(next)
                });
                s.b.read(value)
            });
            assert_eq!(result, Const::F32(expected));
        }
    }
}
