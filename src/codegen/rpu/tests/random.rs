//! Random programs and programs with more live values than registers, each compared with the
//! evaluator.

use super::{check_module, check_with, module};
use crate::rpu::{RpuOptions, compile};
use shadewright_ir::{Const, FunctionBuilder, FunctionKind, Module, Op, SlotId, Type, Value, Variable, verify};
use shadewright_rpu::isa::{Instr, Primary};
use std::fmt::Write;

/// A small generator of random numbers (Steele, Lea & Flood 2014, "SplitMix").
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    fn float(&mut self) -> f32 {
        (self.below(33) as f32 - 16.0) * 0.25
    }
}

/// Writes a random function: variables of every type, assigned and read in branches, loops, calls
/// and arrays.
struct Writer<'a> {
    b: FunctionBuilder,
    random: &'a mut Random,
    floats: Vec<Variable>,
    vectors: Vec<Variable>,
    quads: Vec<Variable>,
    integers: Vec<Variable>,
    truths: Vec<Variable>,
    slot: SlotId,
    /// A function `(f32, vec3) → (vec3, f32)` that may be called.
    callee: Option<&'a str>,
    statements: usize,
}

impl Writer<'_> {
    fn read(&mut self, ty: Type) -> Value {
        let list = match ty {
            Type::F32 => &self.floats,
            Type::Vec3 => &self.vectors,
            Type::Vec4 => &self.quads,
            Type::U32 => &self.integers,
            _ => &self.truths,
        };
        let variable = *self.random.pick(list);
        self.b.read(variable)
    }

    fn float(&mut self) -> Value {
        match self.random.below(8) {
            0 => {
                let x = self.random.float();
                self.b.f32(x)
            }
            1 | 2 => {
                let (v, k) = (self.read(Type::Vec3), self.random.below(3) as u8);
                self.b.extract(v, k)
            }
            3 => {
                let (v, k) = (self.read(Type::Vec4), self.random.below(4) as u8);
                self.b.extract(v, k)
            }
            _ => self.read(Type::F32),
        }
    }

    fn vector(&mut self) -> Value {
        match self.random.below(6) {
            0 => {
                let c = [0; 3].map(|_| self.random.float());
                self.b.constant(Const::Vec3(c))
            }
            1 => {
                let x = self.float();
                self.b.splat(x, Type::Vec3)
            }
            2 => {
                let parts = [0; 3].map(|_| self.float());
                self.b.compose(&parts)
            }
            _ => self.read(Type::Vec3),
        }
    }

    fn truth(&mut self) -> Value {
        match self.random.below(5) {
            0 => self.read(Type::Bool),
            1 => {
                let (x, y) = (self.read(Type::U32), self.read(Type::U32));
                let op = self.random.pick(&[Op::ILt, Op::IEq]).clone();
                self.b.op(op, &[x, y])
            }
            2 => {
                let (x, y) = (self.compare(), self.read(Type::Bool));
                let op = self.random.pick(&[Op::And, Op::Or]).clone();
                let both = self.b.op(op, &[x, y]);
                if self.random.below(2) == 0 { self.b.not(both) } else { both }
            }
            _ => self.compare(),
        }
    }

    fn compare(&mut self) -> Value {
        let (x, y) = (self.float(), self.float());
        let op = self.random.pick(&[Op::Lt, Op::Le, Op::Eq, Op::Ne]).clone();
        self.b.op(op, &[x, y])
    }

    fn assign(&mut self) {
        match self.random.below(9) {
            0..=2 => {
                let unary = [Op::Neg, Op::Abs, Op::Rcp, Op::Rsq, Op::Sqrt, Op::Frac, Op::Floor, Op::Sat];
                let binary = [Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::Add, Op::Mul];
                let x = self.float();
                let value = match self.random.below(5) {
                    0 => {
                        let op = self.random.pick(&unary).clone();
                        self.b.op(op, &[x])
                    }
                    1 => {
                        let (v, w) = (self.vector(), self.vector());
                        self.b.dot(v, w)
                    }
                    2 => {
                        let (c, y) = (self.truth(), self.float());
                        self.b.select(c, x, y)
                    }
                    _ => {
                        let (y, op) = (self.float(), self.random.pick(&binary).clone());
                        self.b.op(op, &[x, y])
                    }
                };
                let to = *self.random.pick(&self.floats);
                self.b.write(to, value);
            }
            3..=5 => {
                let binary = [Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::Cross];
                let v = self.vector();
                let value = match self.random.below(5) {
                    0 => {
                        let op = self.random.pick(&[Op::Neg, Op::Abs, Op::Sat, Op::Frac, Op::Rcp]).clone();
                        self.b.op(op, &[v])
                    }
                    1 => {
                        let (c, w) = (self.truth(), self.vector());
                        self.b.select(c, v, w)
                    }
                    2 => {
                        let (x, k) = (self.float(), self.random.below(3) as u8);
                        self.b.insert(v, x, k)
                    }
                    _ => {
                        let (w, op) = (self.vector(), self.random.pick(&binary).clone());
                        self.b.op(op, &[v, w])
                    }
                };
                let to = *self.random.pick(&self.vectors);
                self.b.write(to, value);
            }
            6 => {
                let ops = [Op::IAdd, Op::ISub, Op::IMul, Op::IAnd, Op::IOr, Op::IXor, Op::IShl, Op::IShr];
                let (x, y, op) = (self.read(Type::U32), self.read(Type::U32), self.random.pick(&ops).clone());
                let value = self.b.op(op, &[x, y]);
                let to = *self.random.pick(&self.integers);
                self.b.write(to, value);
            }
            7 => {
                let value = self.truth();
                let to = *self.random.pick(&self.truths);
                self.b.write(to, value);
            }
            _ => {
                let parts = [0; 4].map(|_| self.float());
                let value = match self.random.below(3) {
                    0 => {
                        let seven = self.b.u32(7);
                        let at = self.read(Type::U32);
                        let at = self.b.iand(at, seven);
                        let at = self.b.bitcast(at, Type::Ref);
                        self.b.load(at, 12)
                    }
                    1 => {
                        let k = self.random.below(6) as u32;
                        self.b.uniform(k)
                    }
                    _ => self.b.compose(&parts),
                };
                let to = *self.random.pick(&self.quads);
                self.b.write(to, value);
            }
        }
    }

    fn statement(&mut self, depth: usize) {
        self.statements = self.statements.saturating_sub(1);
        match self.random.below(if depth == 0 { 7 } else { 10 }) {
            0..=4 => self.assign(),
            5 => {
                let (i, v) = (self.read(Type::U32), self.vector());
                if self.random.below(2) == 0 {
                    self.b.slot_store(self.slot, i, v);
                } else {
                    let value = self.b.slot_load(self.slot, i);
                    let to = *self.random.pick(&self.vectors);
                    self.b.write(to, value);
                }
            }
            6 => {
                let Some(callee) = self.callee else { return };
                let (x, v) = (self.float(), self.vector());
                let results = self.b.call(callee, vec![x, v], &[Type::Vec3, Type::F32]);
                let (to, also) = (*self.random.pick(&self.vectors), *self.random.pick(&self.floats));
                self.b.write(to, results[0]);
                self.b.write(also, results[1]);
            }
            7 | 8 => {
                let c = self.truth();
                let (then, otherwise, join) = (self.b.block(), self.b.block(), self.b.block());
                self.b.branch(c, then, otherwise);
                for block in [then, otherwise] {
                    self.b.enter(block);
                    self.body(depth - 1);
                    self.b.jump(join, vec![]);
                }
                self.b.enter(join);
            }
            _ => {
                let i = self.b.variable(Type::U32);
                let zero = self.b.u32(0);
                self.b.write(i, zero);
                let (head, body, exit) = (self.b.block(), self.b.block(), self.b.block());
                self.b.jump(head, vec![]);
                self.b.switch_to(head);
                let rounds = self.random.below(4) as u32;
                let (now, end) = (self.b.read(i), self.b.u32(rounds));
                let c = self.b.ilt(now, end);
                self.b.branch(c, body, exit);
                self.b.enter(body);
                self.body(depth - 1);
                let (now, one) = (self.b.read(i), self.b.u32(1));
                let next = self.b.iadd(now, one);
                self.b.write(i, next);
                self.b.jump(head, vec![]);
                self.b.seal(head);
                self.b.enter(exit);
            }
        }
    }

    fn body(&mut self, depth: usize) {
        for _ in 0..2 + self.random.below(5) {
            if self.statements > 0 {
                self.statement(depth);
            }
        }
    }
}

fn function(random: &mut Random, name: &str, callee: Option<&str>, variables: usize) -> shadewright_ir::Function {
    let mut b = FunctionBuilder::new(name, FunctionKind::Function);
    b.result("v", Type::Vec3);
    b.result("x", Type::F32);
    let x = b.param("x", Type::F32);
    let v = b.param("v", Type::Vec3);
    let slot = b.slot("a", Type::Vec3, 3 + random.below(9) as u32);
    let mut make = |ty, n: usize| -> Vec<Variable> { (0..n).map(|_| b.variable(ty)).collect() };
    let (floats, vectors) = (make(Type::F32, variables), make(Type::Vec3, variables));
    let (quads, integers, truths) = (make(Type::Vec4, 2), make(Type::U32, 3), make(Type::Bool, 2));
    for (i, (&f, &w)) in floats.iter().zip(&vectors).enumerate() {
        let k = b.f32(i as f32 * 0.5 - 1.0);
        let k3 = b.splat(k, Type::Vec3);
        let (value, vector) = (b.add(x, k), b.mul(v, k3));
        b.write(f, value);
        b.write(w, vector);
    }
    for (i, &n) in integers.iter().enumerate() {
        let value = b.u32(i as u32 * 5 + 1);
        b.write(n, value);
    }
    let mut w = Writer { b, random, floats, vectors, quads, integers, truths, slot, callee, statements: 60 };
    for _ in 0..6 {
        w.body(3);
    }
    // All variables count in the result.
    let (mut sum, mut total) = (x, v);
    for i in 0..w.floats.len() {
        let (f, u) = (w.b.read(w.floats[i]), w.b.read(w.vectors[i]));
        sum = w.b.add(sum, f);
        total = w.b.sub(total, u);
    }
    for i in 0..w.integers.len() {
        let n = w.b.read(w.integers[i]);
        let n = w.b.to_float(n);
        sum = w.b.add(sum, n);
    }
    let q = w.b.read(w.quads[0]);
    let q = w.b.dot(q, q);
    let q = w.b.min(q, sum);
    w.b.ret(vec![total, q]);
    w.b.finish()
}

fn rows() -> Vec<Vec<Const>> {
    (0..16)
        .map(|i| {
            let x = i as f32 * 0.75 - 4.0;
            vec![Const::F32(x), Const::Vec3([x * 0.5, 1.0 - x, 0.25 * x * x])]
        })
        .collect()
}

#[test]
fn random_programs_match_the_evaluator_to_the_bit() {
    for seed in 0..32 {
        let mut random = Random(seed);
        let mut m = Module::new();
        let variables = 2 + random.below(8);
        m.functions.push(function(&mut random, "g", None, 3));
        // Half of the programs have a function between, which is called and calls.
        let callee = if seed % 2 == 0 { "g" } else { "h" };
        if seed % 2 != 0 {
            m.functions.push(function(&mut random, "h", Some("g"), 4));
        }
        m.functions.push(function(&mut random, "f", Some(callee), variables));
        verify(&m).expect("the generator keeps the rules");
        // Every option set on some, the two extremes on all.
        if seed % 16 == 0 { check_module(&m, &rows()) } else { check_with(&m, &rows(), &super::extremes()) }
    }
}

/// `n` vectors and `n` scalars that all live at once, across a call when `call` holds, in a loop
/// that runs twice.
fn crowded(n: usize, call: bool) -> String {
    let mut text = String::from("fn g(v0 x: f32, v1 v: vec3) -> (v: vec3, x: f32) {\nb0:\n");
    text += "  v2: vec3 = splat v0\n  v3: vec3 = add v2, v1\n  v4: f32 = extract.y v3\n  ret v3, v4\n}\n";
    text += "fn f(v0 x: f32, v1 v: vec3) -> (v: vec3, x: f32) {\nb0:\n  v2: u32 = const 0\n";
    text += "  jump b1(v2, v0, v1)\nb1(v3: u32, v4: f32, v5: vec3):\n";
    let mut next = 10;
    let (mut scalars, mut vectors) = (Vec::new(), Vec::new());
    for i in 0..n {
        let _ = writeln!(text, "  v{next}: f32 = const {:?}", i as f32 * 0.5 + 0.25);
        let _ = writeln!(text, "  v{}: f32 = mul v4, v{next}", next + 1);
        let _ = writeln!(text, "  v{}: vec3 = splat v{}", next + 2, next + 1);
        let _ = writeln!(text, "  v{}: vec3 = mul v5, v{}", next + 3, next + 2);
        scalars.push(next + 1);
        vectors.push(next + 3);
        next += 4;
    }
    let (mut sum, mut total) = (4, 5);
    // All are needed now, and again below.
    for (s, v) in scalars.iter().zip(&vectors) {
        let _ = writeln!(text, "  v{next}: f32 = add v{sum}, v{s}\n  v{}: vec3 = add v{total}, v{v}", next + 1);
        (sum, total) = (next, next + 1);
        next += 2;
    }
    if call {
        let _ = writeln!(text, "  v{next}: vec3, v{}: f32 = call g(v{sum}, v{total})", next + 1);
        (total, sum) = (next, next + 1);
        next += 2;
    }
    // In reverse, so that the first made is needed last.
    for (s, v) in scalars.iter().rev().zip(vectors.iter().rev()) {
        let _ = writeln!(text, "  v{next}: f32 = sub v{sum}, v{s}");
        let _ = writeln!(text, "  v{}: vec3 = sub v{v}, v{total}", next + 1);
        (sum, total) = (next, next + 1);
        next += 2;
    }
    let _ = writeln!(text, "  v{next}: u32 = const 1\n  v{}: u32 = iadd v3, v{next}", next + 1);
    let _ = writeln!(text, "  v{}: bool = ilt v3, v{next}", next + 2);
    let _ = writeln!(text, "  br v{}, b1(v{}, v{sum}, v{total}), b2", next + 2, next + 1);
    let _ = writeln!(text, "b2:\n  ret v{total}, v{sum}\n}}");
    text
}

fn stores(text: &str) -> usize {
    let program = compile(&module(text), &RpuOptions::default()).expect("it compiles").program;
    program.code.iter().filter(|i| matches!(i, Instr::Primary(Primary::Store { .. }))).count()
}

#[test]
fn values_beyond_the_registers_go_to_the_stack_window_and_then_to_memory() {
    for n in [6, 12, 20, 40] {
        for call in [false, true] {
            check_with(&module(&crowded(n, call)), &rows(), &super::extremes());
        }
    }
    assert_eq!(stores(&crowded(12, false)), 0, "registers suffice");
    assert_eq!(stores(&crowded(20, false)), 0, "the stack window is free without a call");
    assert_eq!(stores(&crowded(6, true)), 0, "the stack window holds what lives across the call");
    assert!(stores(&crowded(40, true)) > 0, "the rest is in memory");
}
