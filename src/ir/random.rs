//! Random well-typed programs, for tests that compare the evaluator with passes and back ends.
//!
//! A program is one function `f` (with helpers that it calls) of `x, y: f32`, `i, j: i32`, `u:
//! u32`, `p: vec3` and `c: bool`. It ends on every input: loops have fixed trip counts. All floats
//! stay finite and of moderate size, reciprocals and roots have arguments away from zero, and no
//! float's bits are looked at, so that the sign of a zero cannot matter.

use super::{Const, Function, FunctionBuilder, FunctionKind, Module, Op, SlotId, Type, Value, Variable};
use crate::abi::EntryPoint;
use std::sync::Arc;

/// A sequence of pseudo-random numbers: SplitMix64 (Steele, Lea, Flood: "Fast Splittable
/// Pseudorandom Number Generators", 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; `n` is at least 1.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    /// A number in `[-4, 4)`, often a whole one.
    pub fn float(&mut self) -> f32 {
        match self.below(3) {
            0 => self.below(8) as f32 - 4.0,
            _ => (self.bits() >> 40) as f32 / (1 << 21) as f32 - 4.0,
        }
    }
}

/// The contents that a random program may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// About how many statements it has.
    pub statements: usize,
    /// True if floats are computed with; integers and truth values always are.
    pub floats: bool,
    /// True if there are array slots.
    pub slots: bool,
    /// True if other functions are called.
    pub calls: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self { statements: 30, floats: true, slots: true, calls: true }
    }
}

/// Parameters of every program's `f`.
const PARAMS: [(&str, Type); 7] = [
    ("x", Type::F32),
    ("y", Type::F32),
    ("i", Type::I32),
    ("j", Type::I32),
    ("u", Type::U32),
    ("p", Type::Vec3),
    ("c", Type::Bool),
];

/// Results of every program's `f`: the last values of its variables.
const RESULTS: [(&str, Type); 6] = [
    ("float", Type::F32),
    ("int", Type::I32),
    ("unsigned", Type::U32),
    ("vector", Type::Vec3),
    ("truth", Type::Bool),
    ("other", Type::Vec4),
];

/// Deepest nesting of loops and conditionals.
const MAX_DEPTH: usize = 3;

/// A module whose function `f` is an entry.
pub fn module(random: &mut Random, shape: Shape) -> Module {
    let mut module = Module::new();
    let helpers: Vec<Arc<str>> = if shape.calls { vec!["g".into(), "h".into()] } else { Vec::new() };
    for (i, name) in helpers.iter().enumerate() {
        let small = Shape { statements: shape.statements / 4 + 1, ..shape };
        module.functions.push(function(random, small, name, FunctionKind::Function, &helpers[..i]));
    }
    module.functions.push(function(random, shape, "f", FunctionKind::Entry(EntryPoint::Other), &helpers));
    module
}

/// Arguments for `f`.
pub fn arguments(random: &mut Random) -> Vec<Const> {
    PARAMS.map(|(_, ty)| constant(random, ty)).to_vec()
}

fn constant(random: &mut Random, ty: Type) -> Const {
    match ty {
        Type::Bool => Const::Bool(random.below(2) == 1),
        Type::I32 if random.below(4) == 0 => Const::I32(random.bits() as i32),
        Type::U32 if random.below(4) == 0 => Const::U32(random.bits() as u32),
        Type::I32 => Const::I32(random.below(9) as i32 - 4),
        Type::U32 => Const::U32(random.below(9) as u32),
        _ => {
            let parts: Vec<f32> = (0..ty.words()).map(|_| random.float()).collect();
            Const::from_floats(&parts).unwrap_or(Const::zero(ty))
        }
    }
}

fn function(random: &mut Random, shape: Shape, name: &str, kind: FunctionKind, callees: &[Arc<str>]) -> Function {
    let mut b = FunctionBuilder::new(name, kind);
    let mut values: Vec<Value> = PARAMS.iter().map(|&(name, ty)| b.param(name, ty)).collect();
    let variables: Vec<Variable> = RESULTS
        .iter()
        .map(|&(name, ty)| {
            b.result(name, ty);
            let variable = b.variable(ty);
            let start = b.constant(constant(random, ty));
            values.push(start);
            b.write(variable, start);
            variable
        })
        .collect();
    let slots = match shape.slots {
        true => vec![
            (b.slot("floats", Type::F32, 4), Type::F32, 4),
            (b.slot("one", Type::Vec3, 1), Type::Vec3, 1),
            (b.slot("ints", Type::I32, 3), Type::I32, 3),
        ],
        false => Vec::new(),
    };
    let mut g = Generator { random, b, shape, variables, slots, callees };
    let count = g.shape.statements;
    g.statements(&mut values, count, 0);
    let Generator { mut b, variables, .. } = g;
    let results = variables.iter().map(|&v| b.read(v)).collect();
    b.ret(results);
    b.finish()
}

struct Generator<'a> {
    random: &'a mut Random,
    b: FunctionBuilder,
    shape: Shape,
    /// One for each of [`RESULTS`].
    variables: Vec<Variable>,
    slots: Vec<(SlotId, Type, u32)>,
    callees: &'a [Arc<str>],
}

impl Generator<'_> {
    /// Statements that may use `values`, all of which are defined here.
    fn statements(&mut self, values: &mut Vec<Value>, count: usize, depth: usize) {
        let mut left = count;
        while left > 0 {
            left -= 1;
            match self.random.below(10) {
                0 if depth < MAX_DEPTH && left > 2 => {
                    let inside = self.random.below(left / 2 + 1);
                    left -= inside;
                    self.conditional(values, inside, depth);
                }
                1 if depth < MAX_DEPTH && left > 2 => {
                    let inside = self.random.below(left / 2 + 1);
                    left -= inside;
                    self.repetition(values, inside, depth);
                }
                2 | 3 => self.assignment(values),
                4 if !self.slots.is_empty() => self.slot_access(values),
                5 if depth == 0 && !self.callees.is_empty() => self.call(values),
                6 => {
                    let k = self.random.below(self.variables.len());
                    values.push(self.b.read(self.variables[k]));
                }
                _ => {
                    let ty = self.any_type();
                    let v = self.expression(values, ty);
                    values.push(v);
                }
            }
        }
    }

    fn any_type(&mut self) -> Type {
        let all =
            [Type::I32, Type::U32, Type::Bool, Type::F32, Type::Vec3, Type::F32, Type::Vec3, Type::Vec4, Type::Vec2];
        let count = if self.shape.floats { all.len() } else { 3 };
        all[self.random.below(count)]
    }

    /// A value of a type: one that exists, or a new constant.
    fn pick(&mut self, values: &[Value], ty: Type) -> Value {
        // Recent values, so that chains grow long and large programs are made in linear time.
        let recent = &values[values.len().saturating_sub(64)..];
        let fitting: Vec<Value> = recent.iter().copied().filter(|&v| self.b.ty(v) == ty).collect();
        match fitting.is_empty() || self.random.below(5) == 0 {
            true => {
                let c = constant(self.random, ty);
                self.b.constant(c)
            }
            false => {
                let back = self.random.below(fitting.len()).min(self.random.below(fitting.len()));
                fitting[fitting.len() - 1 - back]
            }
        }
    }

    fn expression(&mut self, values: &[Value], ty: Type) -> Value {
        match ty {
            Type::Bool => self.truth(values),
            Type::I32 | Type::U32 => self.integer(values, ty),
            _ => self.float(values, ty),
        }
    }

    fn integer(&mut self, values: &[Value], ty: Type) -> Value {
        let a = self.pick(values, ty);
        let two = [Op::IAdd, Op::ISub, Op::IMul, Op::IAnd, Op::IOr, Op::IXor, Op::IShl, Op::IShr];
        match self.random.below(two.len() + 4) {
            8 => {
                let (c, b) = (self.pick(values, Type::Bool), self.pick(values, ty));
                self.b.select(c, a, b)
            }
            9 => {
                let other = self.pick(values, if ty == Type::I32 { Type::U32 } else { Type::I32 });
                self.b.bitcast(other, ty)
            }
            10 if self.shape.floats => {
                let x = self.pick(values, Type::F32);
                self.b.to_int(x, ty)
            }
            11 => self.b.ireverse(a),
            k => {
                let b = self.pick(values, ty);
                self.b.op(two[k % two.len()].clone(), &[a, b])
            }
        }
    }

    fn truth(&mut self, values: &[Value]) -> Value {
        let compares_floats = self.shape.floats && self.random.below(2) == 0;
        if compares_floats {
            let (a, b) = (self.pick(values, Type::F32), self.pick(values, Type::F32));
            let op = [Op::Lt, Op::Le, Op::Eq, Op::Ne][self.random.below(4)].clone();
            return self.b.op(op, &[a, b]);
        }
        match self.random.below(6) {
            0 => {
                let a = self.pick(values, Type::Bool);
                self.b.not(a)
            }
            k @ 1..=3 => {
                let (a, b) = (self.pick(values, Type::Bool), self.pick(values, Type::Bool));
                self.b.op([Op::And, Op::Or, Op::IEq][k - 1].clone(), &[a, b])
            }
            k => {
                let ty = if self.random.below(2) == 0 { Type::I32 } else { Type::U32 };
                let (a, b) = (self.pick(values, ty), self.pick(values, ty));
                self.b.op([Op::ILt, Op::IEq][k - 4].clone(), &[a, b])
            }
        }
    }

    /// An expression of floats, brought back to a moderate size.
    fn float(&mut self, values: &[Value], ty: Type) -> Value {
        let raw = self.raw_float(values, ty);
        self.bounded(raw, ty)
    }

    /// `max(min(v, 64), -64)`.
    fn bounded(&mut self, v: Value, ty: Type) -> Value {
        let limit = |x: f32| Const::from_floats(&[x; 4][..ty.words() as usize]).unwrap_or(Const::zero(ty));
        let high = self.b.constant(limit(64.0));
        let low = self.b.constant(limit(-64.0));
        let v = self.b.min(v, high);
        self.b.max(v, low)
    }

    fn raw_float(&mut self, values: &[Value], ty: Type) -> Value {
        let a = self.pick(values, ty);
        match self.random.below(if ty == Type::F32 { 17 } else { 15 }) {
            k @ 0..=4 => {
                let b = self.pick(values, ty);
                self.b.op([Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max][k].clone(), &[a, b])
            }
            k @ 5..=8 => self.b.op([Op::Neg, Op::Abs, Op::Floor, Op::Sat][k - 5].clone(), &[a]),
            9 => self.b.frac(a),
            k @ 10..=12 => {
                // Away from zero and positive.
                let least =
                    self.b.constant(Const::from_floats(&[0.25; 4][..ty.words() as usize]).unwrap_or(Const::zero(ty)));
                let positive = self.b.abs(a);
                let positive = self.b.max(positive, least);
                self.b.op([Op::Rcp, Op::Rsq, Op::Sqrt][k - 10].clone(), &[positive])
            }
            13 => {
                let (c, b) = (self.pick(values, Type::Bool), self.pick(values, ty));
                self.b.select(c, a, b)
            }
            14 => self.shuffle(values, a, ty),
            15 => {
                let integer = [Type::I32, Type::U32][self.random.below(2)];
                let i = self.pick(values, integer);
                self.b.to_float(i)
            }
            _ => {
                let vector = [Type::Vec2, Type::Vec3, Type::Vec4][self.random.below(3)];
                let (v, w) = (self.pick(values, vector), self.pick(values, vector));
                let lane = self.random.below(vector.words() as usize) as u8;
                match self.random.below(2) {
                    0 => self.b.extract(v, lane),
                    _ => self.b.dot(v, w),
                }
            }
        }
    }

    /// Moves components about.
    fn shuffle(&mut self, values: &[Value], a: Value, ty: Type) -> Value {
        if ty == Type::F32 {
            return a;
        }
        let lanes = ty.words() as usize;
        match self.random.below(4) {
            0 => {
                let x = self.pick(values, Type::F32);
                self.b.splat(x, ty)
            }
            1 => {
                let x = self.pick(values, Type::F32);
                let lane = self.random.below(lanes) as u8;
                self.b.insert(a, x, lane)
            }
            2 if ty == Type::Vec3 => {
                let b = self.pick(values, ty);
                self.b.cross(a, b)
            }
            _ => {
                let from_vector = self.random.below(2) == 0;
                let parts: Vec<Value> = (0..lanes)
                    .map(|i| match from_vector {
                        true => self.b.extract(a, i as u8),
                        false => self.pick(values, Type::F32),
                    })
                    .collect();
                self.b.compose(&parts)
            }
        }
    }

    fn assignment(&mut self, values: &[Value]) {
        let k = self.random.below(RESULTS.len());
        let ty = RESULTS[k].1;
        if self.shape.floats || ty.lanes().is_none() {
            let v = self.expression(values, ty);
            self.b.write(self.variables[k], v);
        }
    }

    fn slot_access(&mut self, values: &mut Vec<Value>) {
        let (slot, ty, len) = self.slots[self.random.below(self.slots.len())];
        let index = match self.random.below(3) {
            0 => self.pick(values, Type::U32),
            _ => {
                let i = self.random.below(len as usize + 1) as u32;
                self.b.u32(i)
            }
        };
        match self.random.below(2) {
            0 => {
                let v = self.pick(values, ty);
                self.b.slot_store(slot, index, v);
            }
            _ => values.push(self.b.slot_load(slot, index)),
        }
    }

    fn call(&mut self, values: &mut Vec<Value>) {
        let name = self.callees[self.random.below(self.callees.len())].clone();
        let args = PARAMS.map(|(_, ty)| self.pick(values, ty)).to_vec();
        let results = self.b.call(name, args, &RESULTS.map(|r| r.1));
        values.extend(results);
    }

    fn conditional(&mut self, values: &mut [Value], count: usize, depth: usize) {
        let condition = self.truth(values);
        let (then, otherwise, join) = (self.b.block(), self.b.block(), self.b.block());
        self.b.branch(condition, then, otherwise);
        for (block, count) in [(then, count), (otherwise, count / 2)] {
            self.b.enter(block);
            self.statements(&mut values.to_vec(), count, depth + 1);
            self.b.jump(join, vec![]);
        }
        self.b.enter(join);
    }

    /// A loop of one to four rounds, with a way out in the middle.
    fn repetition(&mut self, values: &mut [Value], count: usize, depth: usize) {
        let counter = self.b.variable(Type::I32);
        let rounds = self.random.below(4) as i32 + 1;
        let rounds = self.b.constant(Const::I32(rounds));
        self.b.write(counter, rounds);
        let (head, body, rest, exit) = (self.b.block(), self.b.block(), self.b.block(), self.b.block());
        self.b.jump(head, vec![]);
        self.b.switch_to(head);
        let now = self.b.read(counter);
        let zero = self.b.constant(Const::I32(0));
        let goes_on = self.b.ilt(zero, now);
        self.b.branch(goes_on, body, exit);
        self.b.enter(body);
        let one = self.b.constant(Const::I32(1));
        let fewer = self.b.isub(now, one);
        self.b.write(counter, fewer);
        let mut inside = values.to_vec();
        inside.push(now);
        self.statements(&mut inside, count / 2, depth + 1);
        let leaves = self.truth(&inside);
        self.b.branch(leaves, exit, rest);
        self.b.enter(rest);
        self.statements(&mut inside, count - count / 2, depth + 1);
        self.b.jump(head, vec![]);
        self.b.seal(head);
        self.b.enter(exit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::{PASSES, Pipeline};
    use crate::{EmptyWorld, EvalError, Limits, eval, parse, verify};
    use proptest::prelude::*;
    use shadewright_base::text::source::FileId;

    fn run(module: &Module, args: &[Const]) -> Result<Vec<Const>, EvalError> {
        eval(module, "f", args, &mut EmptyWorld, Limits::default())
    }

    /// Results as bits, zeros without their sign: that simplification may change.
    fn comparable(results: &[Const]) -> Vec<u32> {
        results.iter().flat_map(Const::bits).map(|b| if b == 0x8000_0000 { 0 } else { b }).collect()
    }

    /// Asserts that a pipeline changes no result of the program of a seed.
    fn check(seed: u64, pipeline: &Pipeline) {
        let mut random = Random::new(seed);
        let original = module(&mut random, Shape::default());
        let mut optimized = original.clone();
        pipeline.run(&mut optimized, &mut ()).unwrap_or_else(|e| panic!("{e}\n{original}\n{optimized}"));
        for _ in 0..4 {
            let args = arguments(&mut random);
            let (before, after) = (run(&original, &args).expect("it ends"), run(&optimized, &args).expect("it ends"));
            assert_eq!(comparable(&before), comparable(&after), "on {args:?}\n{original}\nbecame\n{optimized}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn random_programs_keep_the_rules_and_give_finite_results(seed: u64) {
            let mut random = Random::new(seed);
            let m = module(&mut random, Shape::default());
            prop_assert_eq!(verify(&m), Ok(()));
            let results = run(&m, &arguments(&mut random)).expect("it ends");
            let mut floats = results.iter().filter_map(Const::floats).flatten();
            prop_assert!(floats.all(|x| x.is_finite()), "{:?}", results);
        }

        #[test]
        fn random_programs_print_and_parse_back(seed: u64) {
            let m = module(&mut Random::new(seed), Shape::default());
            let text = m.to_string();
            let parsed = parse(&text, FileId(0)).expect("what is printed can be parsed");
            prop_assert_eq!(parsed.to_string(), text);
        }

        #[test]
        fn every_pass_keeps_the_results_of_random_programs(seed: u64, pass in 0..PASSES.len()) {
            check(seed, &Pipeline::parse(PASSES[pass].name).expect("a pass"));
        }

        #[test]
        fn the_pipeline_keeps_the_results_of_random_programs(seed: u64) {
            check(seed, &Pipeline::default());
        }

        #[test]
        fn leaving_out_a_pass_keeps_the_results_of_random_programs(seed: u64, pass in 0..PASSES.len()) {
            check(seed, &Pipeline::parse(&format!("-{}", PASSES[pass].name)).expect("a pass"));
        }
    }

    #[test]
    fn the_pipeline_makes_random_programs_smaller() {
        let (mut before, mut after) = (0, 0);
        for seed in 0..50 {
            let mut m = module(&mut Random::new(seed), Shape { calls: false, ..Shape::default() });
            before += m.functions[0].inst_count();
            Pipeline::default().run(&mut m, &mut ()).expect("the passes keep the rules");
            after += m.functions[0].inst_count();
        }
        assert!(after * 10 < before * 9, "{before} instructions became {after}");
    }

    #[test]
    fn a_program_of_fifty_thousand_instructions_goes_through_all_passes() {
        let shape = Shape { statements: 12_000, ..Shape::default() };
        let mut m = module(&mut Random::new(1), shape);
        let count: usize = m.functions.iter().map(Function::inst_count).sum();
        assert!(count > 30_000, "{count}");
        let report = Pipeline::default().run(&mut m, &mut ()).expect("the passes keep the rules");
        assert!(report.rounds <= Pipeline::default().max_rounds);
    }
}
