use super::{ModuleUniformity, listing};
use crate::eval::{Observer, eval_observed};
use crate::passes::{Pipeline, testing::module};
use crate::random::{self, Random};
use crate::{BlockId, Const, EmptyWorld, Inst, Limits, Loc, Module, Op, Value};
use proptest::prelude::*;
use shadewright_base::uniformity::Uniformity;
use shadewright_base::uniformity::graph::Loops;
use std::collections::HashMap;
use std::sync::Arc;

fn analyzed(m: &Module, params: &[Uniformity]) -> ModuleUniformity {
    ModuleUniformity::new(m, "f", params, 4).expect("the function is there")
}

#[test]
fn a_listing_says_what_lanes_share() {
    let text = "fn g(v0 i: i32, v1 a: ref) -> (x: f32) {
b0:
  v2: i32 = const 4
  v3: ref = bitcast v0
  v4: vec4 = load v3, 0
  v5: vec4 = load v1, 1
  v6: f32 = extract.x v4
  v7: bool = ilt v0, v2
  br v7, b1, b2(v6)
b1:
  v8: f32 = extract.y v5
  jump b2(v8)
b2(v9: f32):
  ret v9
}

fn f(v0 i: i32, v1 a: ref) -> (x: f32, y: f32) {
b0:
  v2: f32 = call g(v0, v1)
  v3: i32 = const 3
  v4: f32 = call g(v3, v1)
  ret v2, v4
}";
    let m = module(text);
    let expected = "; f(affine(1), uniform) -> (varying, uniform)
fn f(v0 i: i32, v1 a: ref) -> (x: f32, y: f32) {
b0:
  v2: f32 = call g(v0, v1)                               ; varying
  v3: i32 = const 3                                      ; uniform
  v4: f32 = call g(v3, v1)                               ; uniform
  ret v2, v4
}

; g(affine(1), uniform) -> (varying)
fn g(v0 i: i32, v1 a: ref) -> (x: f32) {
b0:
  v2: i32 = const 4                                      ; uniform
  v3: ref = bitcast v0                                   ; affine(1)
  v4: vec4 = load v3, 0                                  ; varying; consecutive
  v5: vec4 = load v1, 1                                  ; uniform; one address
  v6: f32 = extract.x v4                                 ; varying
  v7: bool = ilt v0, v2                                  ; varying
  br v7, b1, b2(v6)                                      ; divergent
b1:                                                      ; masked
  v8: f32 = extract.y v5                                 ; uniform
  jump b2(v8)
b2(v9: f32):                                             ; varying
  ret v9
}

; g(uniform, uniform) -> (uniform)
fn g(v0 i: i32, v1 a: ref) -> (x: f32) {
b0:
  v2: i32 = const 4                                      ; uniform
  v3: ref = bitcast v0                                   ; uniform
  v4: vec4 = load v3, 0                                  ; uniform; one address
  v5: vec4 = load v1, 1                                  ; uniform; one address
  v6: f32 = extract.x v4                                 ; uniform
  v7: bool = ilt v0, v2                                  ; uniform
  br v7, b1, b2(v6)                                      ; uniform
b1:
  v8: f32 = extract.y v5                                 ; uniform
  jump b2(v8)
b2(v9: f32):                                             ; uniform
  ret v9
}
";
    assert_eq!(listing(&m, &analyzed(&m, &[Uniformity::affine(1), Uniformity::UNIFORM])), expected);
}

#[test]
fn a_recursive_function_is_a_fixed_point() {
    let text = "fn g(v0 n: i32, v1 x: f32) -> (a: i32, b: f32) {
b0:
  v2: i32 = const 0
  v3: i32 = const 1
  v4: bool = ilt v2, v0
  br v4, b1, b2(v0, v1)
b1:
  v5: i32 = isub v0, v3
  v6: i32, v7: f32 = call g(v5, v1)
  jump b2(v6, v7)
b2(v8: i32, v9: f32):
  ret v8, v9
}

fn f(v0 n: i32, v1 x: f32) -> (a: i32, b: f32) {
b0:
  v2: i32, v3: f32 = call g(v0, v1)
  ret v2, v3
}";
    let m = module(text);
    let results = |params: [Uniformity; 2]| {
        let uniformity = analyzed(&m, &params);
        uniformity.root().results().iter().map(|s| s.is_uniform()).collect::<Vec<_>>()
    };
    assert_eq!(results([Uniformity::UNIFORM, Uniformity::Varying]), [true, false]);
    assert_eq!(results([Uniformity::UNIFORM, Uniformity::UNIFORM]), [true, true]);
    assert_eq!(results([Uniformity::Varying, Uniformity::UNIFORM]), [false, false]);
}

#[test]
fn a_recursive_function_whose_stride_grows_comes_to_an_end() {
    let text = "fn f(v0 n: i32) -> (a: i32) {
b0:
  v1: i32 = const 3
  v2: i32 = imul v0, v1
  v3: bool = ieq v0, v1
  br v3, b1, b2(v2)
b1:
  v4: i32 = call f(v2)
  jump b2(v4)
b2(v5: i32):
  ret v5
}";
    let m = module(text);
    let uniformity = analyzed(&m, &[Uniformity::affine(1)]);
    assert_eq!(uniformity.root().results(), [Uniformity::Varying]);
    assert!(uniformity.all().len() < 40, "{}", uniformity.all().len());
}

/// The module in which each block and each value of `f` is recorded by `debug`.
fn recorded(m: &Module) -> Module {
    let mut m = m.clone();
    let func = m.function_mut("f").expect("the function is there");
    let flag = func.new_value(crate::Type::Bool);
    let debug =
        |name: String, v: Value| Inst { op: Op::Debug(name.into()), args: vec![v], results: vec![], loc: Loc::NONE };
    for id in func.block_ids() {
        let block = func.block_mut(id);
        let mut insts = Vec::new();
        if id.0 == 0 {
            let op = Op::Const(Const::Bool(true));
            insts.push(Inst { op, args: vec![], results: vec![flag], loc: Loc::NONE });
        }
        insts.push(debug(format!("b{}", id.0), flag));
        insts.extend(block.params.iter().map(|p| debug(format!("v{}", p.0), *p)));
        for inst in std::mem::take(&mut block.insts) {
            let results = inst.results.clone();
            insts.push(inst);
            insts.extend(results.into_iter().map(|r| debug(format!("v{}", r.0), r)));
        }
        block.insts = insts;
    }
    m
}

/// A value, and the iteration of each loop around its definition.
type Instance = (u32, Vec<u32>);

/// Records what each value is in each iteration.
struct Recorder<'a> {
    loops: &'a Loops,
    depth: usize,
    block: Option<u32>,
    iterations: Vec<u32>,
    seen: HashMap<Instance, Vec<u32>>,
}

impl Observer for Recorder<'_> {
    fn enter(&mut self, _: usize, _: &[Const]) {
        self.depth += 1;
    }

    fn leave(&mut self, _: &[Const], _: Loc) {
        self.depth -= 1;
    }

    fn variable(&mut self, name: &Arc<str>, value: &Const, _: Loc) {
        if self.depth != 1 {
            return;
        }
        let number: u32 = name[1..].parse().expect("a number");
        if name.starts_with('v') {
            let block = self.block.expect("a value is in a block");
            let iterations = self.loops.around(block).map(|l| self.iterations[l as usize]).collect();
            self.seen.insert((number, iterations), value.bits());
            return;
        }
        let before = self.block.replace(number);
        for (l, one) in self.loops.all.iter().enumerate().filter(|(_, one)| one.header == number) {
            debug_assert_eq!(one.header, number);
            let is_next = before.is_some_and(|b| self.loops.holds(l as u32, b));
            self.iterations[l] = if is_next { self.iterations[l] + 1 } else { 0 };
        }
    }
}

/// Asserts that what a random program's analysis calls uniform or affine is so, in the lanes that
/// compute it in the same iterations.
fn check_sound(seed: u64) -> (usize, usize) {
    let mut random = Random::new(seed);
    let mut m = random::module(&mut random, random::Shape::default());
    if seed.is_multiple_of(2) {
        Pipeline::default().run(&mut m, &mut ()).expect("the passes keep the rules");
    }
    let first = random::arguments(&mut random);
    let is_varying: Vec<bool> = first.iter().map(|_| random.below(3) == 0).collect();
    let params: Vec<Uniformity> = first
        .iter()
        .zip(&is_varying)
        .map(|(c, varying)| match (varying, c.ty().is_integer()) {
            (true, _) => Uniformity::Varying,
            (false, true) => Uniformity::affine(2),
            (false, false) => Uniformity::UNIFORM,
        })
        .collect();
    let uniformity = analyzed(&m, &params);
    let root = uniformity.root();
    let recorded = recorded(&m);
    let mut seen: Vec<HashMap<Instance, Vec<u32>>> = Vec::new();
    for lane in 0..4u32 {
        let other = random::arguments(&mut random);
        let arg = |n: usize| match params[n] {
            Uniformity::Varying => other[n].clone(),
            Uniformity::Affine { stride, .. } if stride > 0 => {
                Const::from_bits(first[n].ty(), &[first[n].bits()[0].wrapping_add(stride * lane)])
            }
            Uniformity::Affine { .. } => first[n].clone(),
        };
        let args: Vec<Const> = (0..first.len()).map(arg).collect();
        let loops = &root.solution().loops;
        let iterations = vec![0; loops.all.len()];
        let mut recorder = Recorder { loops, depth: 0, block: None, iterations, seen: HashMap::new() };
        eval_observed(&recorded, "f", &args, &mut EmptyWorld, Limits::default(), &mut recorder).expect("it ends");
        seen.push(recorder.seen);
    }
    let (mut known, mut all) = (0, 0);
    for (lane, own) in seen.iter().enumerate().skip(1) {
        for (instance, value) in own {
            all += 1;
            let Uniformity::Affine { stride, .. } = root.get(Value(instance.0)) else { continue };
            let Some(other) = seen[0].get(instance) else { continue };
            known += 1;
            let expected: Vec<u32> = other.iter().map(|w| w.wrapping_add(stride.wrapping_mul(lane as u32))).collect();
            assert_eq!(*value, expected, "seed {seed}, {instance:?} in lane {lane}\n{}", listing(&m, &uniformity));
        }
    }
    (known, all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_called_uniform_has_equal_bits_in_all_lanes_that_compute_it(seed: u64) {
        check_sound(seed);
    }
}

#[test]
fn a_good_part_of_the_values_of_random_programs_is_known() {
    let counts: Vec<(usize, usize)> = (0..60).map(check_sound).collect();
    let known: usize = counts.iter().map(|c| c.0).sum();
    let all: usize = counts.iter().map(|c| c.1).sum();
    assert!(known * 4 > all, "{known} of {all}");
}

#[test]
fn blocks_that_only_some_lanes_run_are_masked() {
    let text = "fn f(v0 c: bool) -> (x: f32) {
b0:
  v1: f32 = const 1.0
  v2: f32 = const 2.0
  br v0, b1, b2(v1)
b1:
  jump b2(v2)
b2(v3: f32):
  ret v3
}";
    let m = module(text);
    for (uniformity, expected) in [(Uniformity::Varying, true), (Uniformity::UNIFORM, false)] {
        let uniformity = analyzed(&m, &[uniformity]);
        let root = uniformity.root();
        assert_eq!((root.is_masked(BlockId(1)), root.diverges(BlockId(0))), (expected, expected));
        assert_eq!(root.get(Value(3)).is_uniform(), !expected);
    }
}
