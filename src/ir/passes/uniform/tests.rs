//! Splits as text, and random programs whose parts compute what the whole does.

use super::super::testing::module;
use super::*;
use crate::random::{self, Random, Shape};
use crate::{Const, EmptyWorld, Limits, eval, verify};

/// Splits `f`, whose parameters of these names are uniform.
fn split_of(module: &Module, uniform: &[&str]) -> Option<Split> {
    let is_uniform = |p: &Param| uniform.contains(&&*p.name);
    let input = |n| Arc::from(format!("uniform.{n}"));
    split(module, "f", is_uniform, "f.rest".into(), input, &TargetInfo::DEFAULT)
}

/// The parts beside the functions of the module.
fn linked(module: &Module, split: &Split) -> Module {
    let mut all = Module { locs: split.locs.clone(), ..module.clone() };
    all.functions.push(split.rest.clone());
    all.functions.extend(split.stages.iter().map(|s| s.function.clone()).chain(split.callees.iter().cloned()));
    if let Err(errors) = verify(&all) {
        panic!("{errors:?}\n{all}");
    }
    all
}

/// The results of the rest for arguments of the whole, with what the stages give.
fn run(linked: &Module, split: &Split, args: &[Const]) -> Vec<Const> {
    let results: Vec<Vec<Const>> = split
        .stages
        .iter()
        .map(|stage| {
            let own: Vec<Const> = stage.params.iter().map(|&p| args[p].clone()).collect();
            eval(linked, &stage.function.name, &own, &mut EmptyWorld, Limits::default()).expect("a stage runs")
        })
        .collect();
    let vector = |pieces: &Vec<Piece>| {
        let words: Vec<u32> = pieces.iter().flat_map(|p| results[p.stage][p.result].bits()).collect();
        Const::Vec4(std::array::from_fn(|i| f32::from_bits(words.get(i).copied().unwrap_or(0))))
    };
    let args: Vec<Const> = args.iter().cloned().chain(split.inputs.iter().map(vector)).collect();
    eval(linked, &split.rest.name, &args, &mut EmptyWorld, Limits::default()).expect("the rest runs")
}

/// The text of the rest and of the stages.
fn parts(text: &str, uniform: &[&str]) -> Option<String> {
    let module = module(text);
    let split = split_of(&module, uniform)?;
    linked(&module, &split);
    let functions = std::iter::once(split.rest).chain(split.stages.into_iter().map(|s| s.function)).map(|mut f| {
        super::super::renumber::renumber(&mut f);
        f
    });
    Some(Module { functions: functions.collect(), locs: split.locs }.to_string())
}

#[test]
fn what_uniform_parameters_determine_is_computed_apart() {
    let text = "fn f(v0 x: f32, v1 a: f32, v2 b: f32) -> (return: f32) {
b0:
  v3: f32 = mul v1, v2
  v4: f32 = rsq v3
  v5: f32 = mul v0, v4
  ret v5
}";
    assert_eq!(
        parts(text, &["a", "b"]).expect("it is split"),
        "fn f.rest(v0 x: f32, v1 a: f32, v2 b: f32, v3 uniform.0: implicit vec4) -> (return: f32) {
b0:
  v4: f32 = extract.x v3
  v5: f32 = mul v0, v4
  ret v5
}

linker fn f.rest.0(v0 a: implicit f32, v1 b: implicit f32) -> (value.0: f32) {
b0:
  v2: f32 = mul v0, v1
  v3: f32 = rsq v2
  ret v3
}
"
    );
    assert_eq!(parts(text, &[]), None);
    assert_eq!(parts(text, &["x"]), None);
}

#[test]
fn values_that_depend_on_different_parameters_have_stages_of_their_own_and_share_a_vector() {
    let text = "fn f(v0 x: f32, v1 a: f32, v2 b: f32) -> (return: f32) {
b0:
  v3: f32 = rsq v1
  v4: f32 = rsq v2
  v5: f32 = mul v0, v3
  v6: f32 = add v5, v4
  ret v6
}";
    let split = split_of(&module(text), &["a", "b"]).expect("it is split");
    assert_eq!(split.stages.iter().map(|s| &s.params[..]).collect::<Vec<_>>(), [[1], [2]]);
    assert_eq!(split.inputs.len(), 1);
    assert_eq!(split.inputs[0].len(), 2);
}

#[test]
fn a_value_that_a_varying_branch_chooses_stays_and_what_it_chooses_between_goes() {
    let text = "fn f(v0 x: f32, v1 a: f32) -> (return: f32) {
b0:
  v2: f32 = const 0.0
  v3: bool = lt v0, v2
  br v3, b1, b2
b1:
  v4: f32 = rsq v1
  jump b3(v4)
b2:
  v5: f32 = rcp v1
  jump b3(v5)
b3(v6: f32):
  ret v6
}";
    let split = split_of(&module(text), &["a"]).expect("it is split");
    assert_eq!((split.stages.len(), split.inputs[0].len()), (1, 2));
    assert_eq!(split.stages[0].function.blocks.len(), 1);
}

#[test]
fn a_uniform_loop_is_run_by_the_stage_alone() {
    let text = "fn f(v0 x: f32, v1 n: i32) -> (return: f32) {
b0:
  v2: i32 = const 0
  v3: f32 = const 1.0
  v4: i32 = const 1
  v5: f32 = const 0.5
  jump b1(v2, v3)
b1(v6: i32, v7: f32):
  v8: bool = ilt v6, v1
  br v8, b2, b3
b2:
  v9: i32 = iadd v6, v4
  v10: f32 = mul v7, v5
  jump b1(v9, v10)
b3:
  v11: f32 = mul v0, v7
  ret v11
}";
    let split = split_of(&module(text), &["n"]).expect("it is split");
    assert_eq!(split.rest.blocks.len(), 1, "{split:?}");
    assert_eq!(run(&linked(&module(text), &split), &split, &[Const::F32(3.0), Const::I32(4)]), [Const::F32(0.1875)]);
}

#[test]
fn a_value_of_each_iteration_stays_in_a_loop_with_varying_code() {
    let text = "fn f(v0 x: f32, v1 n: i32, v2 a: f32) -> (return: f32) {
b0:
  v3: i32 = const 0
  v4: f32 = const 0.0
  v5: i32 = const 1
  jump b1(v3, v4, v2)
b1(v6: i32, v7: f32, v8: f32):
  v9: bool = ilt v6, v1
  br v9, b2, b3
b2:
  v10: i32 = iadd v6, v5
  v11: f32 = mul v8, v0
  v12: f32 = add v7, v11
  v13: f32 = rsq v2
  v14: f32 = mul v8, v13
  jump b1(v10, v12, v14)
b3:
  ret v7
}";
    let module = module(text);
    let split = split_of(&module, &["n", "a"]).expect("the root is");
    assert_eq!((split.inputs.len(), split.inputs[0].len(), split.inputs[0][0].ty), (1, 1, Type::F32));
    let args = [Const::F32(2.0), Const::I32(3), Const::F32(0.25)];
    let whole = eval(&module, "f", &args, &mut EmptyWorld, Limits::default()).expect("it runs");
    assert_eq!(run(&linked(&module, &split), &split, &args), whole);
}

#[test]
fn a_loop_whose_values_nothing_needs_stays_where_it_was() {
    let text = "fn f(v0 x: f32, v1 a: f32, v2 n: f32) -> (return: f32) {
b0:
  v9: f32 = mul v1, v1
  v3: f32 = add v9, v1
  v4: f32 = rsq v3
  jump b1(v2)
b1(v5: f32):
  v6: bool = lt v5, v1
  br v6, b2, b3
b2:
  v7: f32 = mul v5, v1
  jump b1(v7)
b3:
  v8: f32 = mul v0, v4
  ret v8
}";
    let split = split_of(&module(text), &["n", "a"]).expect("the root is");
    assert_eq!(split.stages[0].params, [1]);
    assert!(split.rest.blocks.len() > 1);
}

/// `f` calls `g`, whose uniform code has two stages with results of different sizes.
const CALLER: &str = "fn g(v0 x: f32, v1 a: f32, v2 p: vec3) -> (return: f32) {
b0:
  v3: f32 = rsq v1
  v4: f32 = rcp v1
  v5: f32 = const 0.0
  v6: bool = lt v0, v5
  br v6, b1, b2
b1:
  v7: vec3 = mul v2, v2
  v8: f32 = dot v7, v2
  v9: f32 = mul v8, v3
  jump b3(v9)
b2:
  v10: vec3 = splat v0
  v11: vec3 = cross v2, v2
  v12: vec3 = add v11, v2
  v29: vec3 = mul v12, v12
  v30: vec3 = add v29, v2
  v31: vec3 = mul v30, v30
  v32: vec3 = add v31, v2
  v33: vec3 = mul v32, v32
  v34: vec3 = add v33, v2
  v13: f32 = dot v34, v10
  v14: f32 = sub v13, v4
  jump b3(v14)
b3(v15: f32):
  v16: f32 = mul v15, v0
  v17: f32 = mul v16, v16
  v18: f32 = add v17, v16
  v19: f32 = sub v18, v17
  v20: f32 = frac v19
  v21: f32 = add v20, v17
  v22: f32 = mul v21, v19
  v23: f32 = frac v22
  v24: f32 = sub v23, v20
  v25: f32 = mul v24, v24
  v26: f32 = frac v25
  v27: f32 = add v26, v15
  v28: f32 = mul v27, v24
  ret v28
}

fn f(v0 x: f32, v1 a: f32, v2 p: vec3) -> (return: f32) {
b0:
  v3: f32 = call g(v0, v1, v2)
  v4: f32 = call g(v3, v1, v2)
  v5: f32 = add v3, v4
  ret v5
}";

#[test]
fn a_function_with_some_uniform_arguments_is_split_for_them() {
    let module = module(CALLER);
    let split = split_of(&module, &["a", "p"]).expect("it is split");
    let parts = linked(&module, &split);
    assert!(parts.function("g.vuu").is_some(), "{parts}");
    for x in [-0.75, 0.5] {
        let args = [Const::F32(x), Const::F32(0.3), Const::Vec3([0.5, 2.0, -0.25])];
        let whole = eval(&module, "f", &args, &mut EmptyWorld, Limits::default()).expect("it runs");
        assert_eq!(run(&parts, &split, &args), whole, "{parts}");
    }
    // Two operations are less than another argument of the calls.
    assert!(split_of(&module, &["a"]).is_none());
}

#[test]
fn memory_rays_and_program_constants_are_varying() {
    let text = "fn f(v0 a: ref, v1 b: f32) -> (return: vec4) {
b0:
  v2: vec4 = load v0, 0
  v3: vec4 = uniform 1
  v4: vec4 = mul v2, v3
  v5: vec4 = splat v1
  v6: vec4 = mul v4, v5
  ret v6
}";
    assert_eq!(parts(text, &["a", "b"]), None);
}

#[test]
fn the_parts_of_random_programs_compute_what_the_whole_does() {
    let mut splits = 0;
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let module = random::module(&mut random, Shape::default());
        let names = ["x", "y", "i", "j", "u", "p", "c"];
        let uniform: Vec<&str> = names.into_iter().filter(|_| random.below(3) > 0).collect();
        let Some(split) = split_of(&module, &uniform) else { continue };
        splits += 1;
        let parts = linked(&module, &split);
        for stage in &split.stages {
            let params = stage.params.iter().map(|&p| names[p]);
            assert!(params.clone().all(|p| uniform.contains(&p)), "seed {seed}");
        }
        for _ in 0..4 {
            let args = random::arguments(&mut random);
            let whole = eval(&module, "f", &args, &mut EmptyWorld, Limits::default()).expect("it ends");
            let same = run(&parts, &split, &args);
            let is_equal = whole.iter().zip(&same).all(|(a, b)| a == b || a.bits() == b.bits());
            assert!(is_equal, "seed {seed}: {whole:?} {same:?}\n{parts}");
        }
    }
    assert!(splits > 60, "{splits}");
}
