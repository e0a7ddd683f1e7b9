use super::{VectorizeError, Vectorized, vectorize};
use crate::passes::{Pipeline, lanes, testing::module};
use crate::random::{self, Random};
use crate::{Const, EmptyWorld, Limits, Module, Type, eval, verify};
use proptest::prelude::*;
use shadewright_base::uniformity::Uniformity;

/// Vectorizes function `f`.
fn vector(m: &Module, width: u32, params: &[Uniformity]) -> Vectorized {
    let v = vectorize(m, "f", width, params).unwrap_or_else(|e| panic!("{e}\n{m}"));
    let mut all = v.module.clone();
    lanes::define(&mut all);
    verify(&all).unwrap_or_else(|e| panic!("{e:?}\n{all}"));
    v
}

/// The results of each lane.
fn run(v: &Vectorized, lanes: &[Vec<Const>]) -> Vec<Vec<Const>> {
    let results = eval(&v.module, &v.name, &v.arguments(lanes), &mut EmptyWorld, Limits::default());
    v.lane_results(&results.unwrap_or_else(|e| panic!("{e}\n{}", v.module)))
}

/// The results of each lane run alone.
fn run_alone(m: &Module, lanes: &[Vec<Const>]) -> Vec<Vec<Const>> {
    let one = |args: &Vec<Const>| eval(m, "f", args, &mut EmptyWorld, Limits::default()).expect("it ends");
    lanes.iter().map(one).collect()
}

/// Asserts that lanes of a program give what each gives alone.
#[track_caller]
fn check(text: &str, params: &[Uniformity], lanes: &[Vec<Const>]) -> Vectorized {
    let m = module(text);
    let v = vector(&m, lanes.len() as u32, params);
    assert_eq!(run(&v, lanes), run_alone(&m, lanes), "{}", v.module);
    v
}

/// Lanes of one `i32` each.
fn integers(values: &[i32]) -> Vec<Vec<Const>> {
    values.iter().map(|i| vec![Const::I32(*i)]).collect()
}

/// Operations between the lanes 0, 1, 2 and 3, as in the thesis (§1.2.3).
const BETWEEN: &str =
    "fn f(v0 i: u32) -> (any3: bool, any2: bool, all2: bool, all0: bool, ballot: u32, shuffle: u32, extract: u32) {
b0:
  v1: u32 = const 0
  v2: u32 = const 1
  v3: u32 = const 2
  v4: u32 = const 3
  v5: bool = ilt v4, v0
  v6: bool = call lanes.any(v5)
  v7: bool = ilt v3, v0
  v8: bool = call lanes.any(v7)
  v9: bool = call lanes.all(v7)
  v10: bool = ilt v0, v1
  v11: bool = not v10
  v12: bool = call lanes.all(v11)
  v13: bool = ilt v2, v0
  v14: u32 = call lanes.ballot(v13)
  v15: u32 = call lanes.shuffle.u32(v0, v3)
  v16: u32 = call lanes.extract.u32(v0, v3)
  ret v6, v8, v9, v12, v14, v15, v16
}";

#[test]
fn operations_between_lanes_give_the_table_of_the_thesis() {
    for uniformity in [Uniformity::LANE, Uniformity::affine(1), Uniformity::Varying] {
        let v = vector(&module(BETWEEN), 4, &[uniformity]);
        let lanes: Vec<Vec<Const>> = (0..4).map(|i| vec![Const::U32(i)]).collect();
        for (lane, results) in run(&v, &lanes).into_iter().enumerate() {
            let truth = [false, true, false, true].map(Const::Bool);
            let words = [0b1100, [2, 3, 0, 1][lane], 2].map(Const::U32);
            assert_eq!(results, [&truth[..], &words[..]].concat());
        }
        let uniform = v.results.iter().map(|s| s.is_uniform()).collect::<Vec<_>>();
        assert_eq!(uniform, [true, true, true, true, true, false, true]);
    }
}

#[test]
fn lanes_of_a_loop_leave_it_when_they_are_done() {
    // The sum of 1 to i.
    let text = "fn f(v0 i: i32) -> (sum: i32) {
b0:
  v1: i32 = const 0
  v2: i32 = const 1
  jump b1(v1, v0)
b1(v3: i32, v4: i32):
  v5: bool = ilt v1, v4
  br v5, b2, b3
b2:
  v6: i32 = iadd v3, v4
  v7: i32 = isub v4, v2
  jump b1(v6, v7)
b3:
  ret v3
}";
    check(text, &[Uniformity::Varying], &integers(&[3, 0, 7, -2]));
    check(text, &[Uniformity::affine(2)], &integers(&[1, 3, 5, 7]));
    let v = check(text, &[Uniformity::UNIFORM], &integers(&[5, 5]));
    assert!(v.results[0].is_uniform());
    assert_eq!(v.module.function(&v.name).map(|f| f.blocks.len()), Some(4), "{}", v.module);
}

/// Two loops, of which the inner one breaks out of both: `i` decides when.
const NESTED_BREAK: &str = "fn f(v0 i: i32) -> (count: i32, outer: i32) {
b0:
  v1: i32 = const 0
  v2: i32 = const 1
  v3: i32 = const 5
  jump b1(v1, v1)
b1(v4: i32, v5: i32):
  v6: bool = ilt v5, v3
  br v6, b2(v4, v1), b7(v4)
b2(v7: i32, v8: i32):
  v9: bool = ilt v8, v3
  br v9, b3, b6
b3:
  v10: i32 = iadd v7, v2
  v11: i32 = imul v5, v8
  v12: bool = ilt v0, v11
  br v12, b7(v10), b4
b4:
  v13: bool = ieq v8, v0
  br v13, b6, b5
b5:
  v14: i32 = iadd v8, v2
  jump b2(v10, v14)
b6:
  v15: i32 = iadd v5, v2
  jump b1(v7, v15)
b7(v16: i32):
  ret v16, v5
}";

#[test]
fn a_lane_breaks_out_of_two_loops_while_others_stay() {
    for uniformity in [Uniformity::Varying, Uniformity::affine(3)] {
        check(NESTED_BREAK, &[uniformity], &integers(&[0, 3, 6, 9, 12, 15, 18, 21]));
    }
    check(NESTED_BREAK, &[Uniformity::Varying], &integers(&[100, 2]));
}

#[test]
fn lanes_continue_an_outer_loop_from_an_inner_one_without_an_end_of_its_own() {
    let text = "fn f(v0 i: i32, v1 n: i32) -> (sum: i32) {
b0:
  v2: i32 = const 0
  v3: i32 = const 1
  jump b1(v2, v2)
b1(v4: i32, v5: i32):
  jump b2(v4, v5)
b2(v6: i32, v7: i32):
  v8: i32 = iadd v6, v3
  v9: bool = ilt v1, v8
  br v9, b4, b3
b3:
  v10: i32 = iand v8, v0
  v11: bool = ieq v10, v2
  v12: i32 = iadd v7, v8
  br v11, b5, b2(v8, v12)
b5:
  v13: i32 = imul v12, v0
  jump b1(v8, v13)
b4:
  ret v7
}";
    let lanes: Vec<Vec<Const>> = [1, 2, 3, 5].iter().map(|i| vec![Const::I32(*i), Const::I32(9)]).collect();
    check(text, &[Uniformity::Varying, Uniformity::UNIFORM], &lanes);
    check(text, &[Uniformity::Varying, Uniformity::Varying], &lanes);
}

#[test]
fn lanes_search_a_tree_apart() {
    // The elements 10, 20 … 70 as a sorted tree in an array; a search steps down from the root.
    let store: String = (0..7)
        .map(|k| {
            let tree = [40, 20, 60, 10, 30, 50, 70];
            format!(
                "  v{}: u32 = const {k}\n  v{}: i32 = const {}\n  slot_store s0, v{}, v{}\n",
                20 + k,
                30 + k,
                tree[k],
                20 + k,
                30 + k
            )
        })
        .collect();
    let text = format!(
        "fn f(v0 key: i32) -> (found: bool, at: u32, steps: u32) {{
  slot s0 elems: i32[7]
b0:
{store}  jump b1(v20, v20)
b1(v1: u32, v2: u32):
  v3: bool = ilt v1, v40
  br v3, b2, b5
b2:
  v4: i32 = slot_load s0, v1
  v5: u32 = iadd v2, v21
  v6: bool = ieq v4, v0
  br v6, b6, b3
b3:
  v7: bool = ilt v0, v4
  v8: u32 = iadd v1, v1
  br v7, b4(v21), b4(v22)
b4(v9: u32):
  v10: u32 = iadd v8, v9
  jump b1(v10, v5)
b5:
  v11: bool = const false
  ret v11, v20, v2
b6:
  v12: bool = const true
  ret v12, v1, v5
}}"
    )
    .replace("jump b1(v20, v20)", "v40: u32 = const 7\n  jump b1(v20, v20)");
    let v = check(&text, &[Uniformity::Varying], &integers(&[40, 10, 70, 35, 30, 0, 99, 50]));
    // All lanes store the same elements: there is one tree.
    assert_eq!(v.module.function(&v.name).map(|f| f.slots.len()), Some(1));
}

#[test]
fn a_recursive_function_runs_for_the_lanes_that_call_it() {
    let text = "fn fib(v0 n: i32) -> (return: i32) {
b0:
  v1: i32 = const 1
  v2: i32 = const 2
  v3: bool = ilt v0, v2
  br v3, b2(v0), b1
b1:
  v4: i32 = isub v0, v1
  v5: i32 = call fib(v4)
  v6: i32 = isub v0, v2
  v7: i32 = call fib(v6)
  v8: i32 = iadd v5, v7
  jump b2(v8)
b2(v9: i32):
  ret v9
}

fn f(v0 n: i32) -> (return: i32) {
b0:
  v1: i32 = call fib(v0)
  ret v1
}";
    check(text, &[Uniformity::Varying], &integers(&[1, 9, 0, 6]));
    let v = check(text, &[Uniformity::UNIFORM], &integers(&[8, 8]));
    assert!(v.results[0].is_uniform());
}

#[test]
fn a_function_is_made_once_for_each_signature() {
    let text = "fn g(v0 a: f32, v1 b: f32) -> (sum: f32) {
b0:
  v2: f32 = add v0, v1
  ret v2
}

fn f(v0 x: f32, v1 y: f32) -> (p: f32, q: f32, r: f32) {
b0:
  v2: f32 = call g(v0, v0)
  v3: f32 = call g(v1, v0)
  v4: f32 = call g(v3, v2)
  v5: f32 = call g(v2, v2)
  ret v3, v4, v5
}";
    let lanes: Vec<Vec<Const>> = [1.0, 2.5].iter().map(|x| vec![Const::F32(0.5), Const::F32(*x)]).collect();
    let v = check(text, &[Uniformity::UNIFORM, Uniformity::Varying], &lanes);
    let names: Vec<&str> = v.module.functions.iter().map(|f| &*f.name).collect();
    assert_eq!(names, ["g", "f", "f.x2.uv", "g.x2.uu", "g.x2.vu"]);
}

#[test]
fn a_reduction_by_shuffles_is_varying_until_a_lane_is_extracted() {
    let text = "fn f(v0 x: f32) -> (sum: f32, one: f32, whole: f32) {
b0:
  v1: u32 = const 1
  v2: u32 = const 2
  v3: u32 = const 0
  v4: f32 = call lanes.shuffle.f32(v0, v1)
  v5: f32 = max v0, v4
  v6: f32 = call lanes.shuffle.f32(v5, v2)
  v7: f32 = max v5, v6
  v8: f32 = call lanes.extract.f32(v7, v3)
  v9: f32 = call lanes.max.f32(v0)
  ret v7, v8, v9
}";
    let v = vector(&module(text), 4, &[Uniformity::Varying]);
    assert_eq!(v.results.iter().map(|s| s.is_uniform()).collect::<Vec<_>>(), [false, true, true]);
    let lanes: Vec<Vec<Const>> = [3.0, 9.0, -4.0, 5.0].iter().map(|x| vec![Const::F32(*x)]).collect();
    assert_eq!(run(&v, &lanes), vec![vec![Const::F32(9.0); 3]; 4]);
}

#[test]
fn only_active_lanes_count_between_lanes() {
    let text = "fn f(v0 i: i32) -> (any: bool, all: bool, ballot: u32, sum: i32, least: i32) {
b0:
  v1: i32 = const 2
  v2: i32 = const 5
  v3: bool = const false
  v4: u32 = const 0
  v5: bool = ilt v0, v1
  br v5, b2(v3, v3, v4, v1, v1), b1
b1:
  v6: bool = ieq v0, v2
  v7: bool = call lanes.any(v6)
  v8: bool = not v5
  v9: bool = call lanes.all(v8)
  v10: u32 = call lanes.ballot(v9)
  v11: i32 = call lanes.add.i32(v0)
  v12: i32 = call lanes.min.i32(v0)
  jump b2(v7, v9, v10, v11, v12)
b2(v13: bool, v14: bool, v15: u32, v16: i32, v17: i32):
  ret v13, v14, v15, v16, v17
}";
    let v = vector(&module(text), 4, &[Uniformity::Varying]);
    let results = run(&v, &integers(&[1, 5, 0, 3]));
    let expected = |lane: usize| match lane {
        1 | 3 => vec![Const::Bool(true), Const::Bool(true), Const::U32(0b1010), Const::I32(8), Const::I32(3)],
        _ => vec![Const::Bool(false), Const::Bool(false), Const::U32(0), Const::I32(2), Const::I32(2)],
    };
    assert_eq!(results, (0..4).map(expected).collect::<Vec<_>>());
}

#[test]
fn a_number_of_lanes_to_move_by_may_be_a_parameter() {
    let text = "fn f(v0 x: i32, v1 by: u32) -> (moved: i32, one: i32) {
b0:
  v2: i32 = call lanes.shuffle.i32(v0, v1)
  v3: i32 = call lanes.extract.i32(v0, v1)
  ret v2, v3
}";
    let v = vector(&module(text), 8, &[Uniformity::Varying, Uniformity::UNIFORM]);
    for by in [0u32, 3, 7, 9] {
        let lanes: Vec<Vec<Const>> = (0..8).map(|l| vec![Const::I32(10 + l), Const::U32(by)]).collect();
        let lane = |l: u32| Const::I32(10 + ((l + by) % 8) as i32);
        assert_eq!(run(&v, &lanes), (0..8).map(|l| vec![lane(l), lane(0)]).collect::<Vec<_>>());
    }
    let refused = vectorize(&module(text), "f", 8, &[Uniformity::Varying, Uniformity::Varying]);
    let message = refused.map(|v| v.name).expect_err("it is refused").to_string();
    assert_eq!(
        message,
        "`f` cannot be vectorized: `v2: i32 = call lanes.shuffle.i32(v0, v1)` needs a uniform number of lanes"
    );
}

#[test]
fn what_has_no_meaning_for_several_lanes_is_refused_by_name() {
    let refused = |text: &str| vectorize(&module(text), "f", 4, &[]).map(|v| v.name).expect_err("it is refused");
    let hit = "fn f() -> (h: vec4) {\nb0:\n  v0: vec4 = hit\n  ret v0\n}";
    let message = "`f` cannot be vectorized: `v0: vec4 = hit` reads the current hit, of which a thread has one";
    assert_eq!(refused(hit).to_string(), message);
    let ray = "fn f() -> (b: bool) {
b0:
  v0: vec3 = const (0.0, 0.0, 1.0)
  v1: vec4 = const (0.0, 1.0, 0.0, 0.0)
  v2: bool = occluded v0, v0, v1
  ret v2
}";
    let message = "`f` cannot be vectorized: `v2: bool = occluded v0, v0, v1` may suspend the thread";
    assert_eq!(refused(ray).to_string(), message);
    let endless = "fn f() {\nb0:\n  jump b1\nb1:\n  jump b1\n}";
    assert_eq!(refused(endless), VectorizeError::NeverReturns { function: "f".into() });
    let m = module("fn f() {\nb0:\n  ret\n}");
    for width in [0, 3, 64] {
        assert_eq!(vectorize(&m, "f", width, &[]).map(|v| v.name), Err(VectorizeError::Width { width }));
    }
    assert!(matches!(
        vectorize(&m, "f", 2, &[Uniformity::UNIFORM]),
        Err(VectorizeError::Parameters { params: 0, given: 1, .. })
    ));
    assert!(matches!(vectorize(&m, "g", 2, &[]), Err(VectorizeError::NoFunction { .. })));
}

/// The uniformity of the parameters of a random program, and arguments of it.
fn random_lanes(random: &mut Random, width: u32) -> (Vec<Uniformity>, Vec<Vec<Const>>) {
    let mut lanes: Vec<Vec<Const>> = (0..width).map(|_| random::arguments(random)).collect();
    let first = lanes[0].clone();
    let uniformities = first.iter().enumerate().map(|(n, c)| {
        let stride = [0, 1, 3][random.below(3)];
        let uniformity = match random.below(3) {
            0 => Uniformity::UNIFORM,
            1 if c.ty().is_integer() => Uniformity::affine(stride),
            _ => return Uniformity::Varying,
        };
        for (l, args) in lanes.iter_mut().enumerate() {
            let base = c.bits()[0];
            args[n] = match uniformity.is_uniform() {
                true => c.clone(),
                false => Const::from_bits(c.ty(), &[base.wrapping_add(stride * l as u32)]),
            };
        }
        uniformity
    });
    (uniformities.collect(), lanes)
}

fn bits(results: &[Vec<Const>]) -> Vec<Vec<u32>> {
    results.iter().map(|lane| lane.iter().flat_map(Const::bits).collect()).collect()
}

/// Asserts that a random program gives the bits of each lane run alone.
fn check_random(seed: u64, statements: usize, width: u32) {
    let mut random = Random::new(seed);
    let mut m = random::module(&mut random, random::Shape { statements, ..random::Shape::default() });
    if seed.is_multiple_of(2) {
        Pipeline::default().run(&mut m, &mut ()).expect("the passes keep the rules");
    }
    for _ in 0..2 {
        let (uniformities, lanes) = random_lanes(&mut random, width);
        let v = vector(&m, width, &uniformities);
        let (vector, alone) = (run(&v, &lanes), run_alone(&m, &lanes));
        assert_eq!(
            bits(&vector),
            bits(&alone),
            "seed {seed}, {width} lanes, {uniformities:?}\non {lanes:?}\n{}",
            v.module
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn lanes_of_random_programs_give_the_bits_of_each_run_alone(seed: u64, width in 0u32..4) {
        check_random(seed, 30, 1 << width);
    }
}

#[test]
fn lanes_of_large_random_programs_do_so_too() {
    for seed in 0..6 {
        check_random(seed, 300, 4);
    }
}

#[test]
fn matrices_are_rows() {
    let text = "fn f(v0 m: mat4, v1 x: f32) -> (row: vec4) {
b0:
  v2: vec4 = extract.x v0
  v3: vec4 = splat v1
  v4: vec4 = add v2, v3
  ret v4
}";
    let m = module(text);
    let v = vector(&m, 2, &[Uniformity::UNIFORM, Uniformity::Varying]);
    let matrix = Const::from_floats(&std::array::from_fn::<f32, 16, _>(|i| i as f32)).expect("a matrix");
    let lanes = [1.0, 2.0].map(|x| vec![matrix.clone(), Const::F32(x)]);
    assert_eq!(run(&v, &lanes), run_alone(&m, &lanes));
    assert_eq!(matrix.ty(), Type::Mat4);
}
