//! Vectorized functions give, on every back end, what each lane gives alone.
//!
//! The GPU part needs an adapter (Mesa's software driver will do) and fails without one.

use shadewright::abi::EntryPoint;
use shadewright::ir::passes::Pipeline;
use shadewright::ir::passes::vectorize::{Vectorized, vectorize};
use shadewright::ir::{Const, FunctionKind, Module, parse};
use shadewright::render::BackendOptions;
use shadewright::render::call::{RunnerInfo, runners, values};
use shadewright::text::source::FileId;
use shadewright::uniformity::Uniformity;

/// The module of a text, whose function `f` is an entry.
fn module(text: &str) -> Module {
    let mut module = parse(text, FileId(0)).unwrap_or_else(|d| panic!("{d:?}"));
    module.function_mut("f").expect("there is an `f`").kind = FunctionKind::Entry(EntryPoint::Other);
    module
}

/// The results of each lane on a runner, of the function as it was made and after the passes.
fn results(v: &Vectorized, row: &RunnerInfo, lanes: &[Vec<Const>]) -> [Vec<Vec<Const>>; 2] {
    let runner = row.open(&BackendOptions::default());
    let runner = runner.expect("this test needs a GPU adapter; the software driver of Mesa (lavapipe) will do");
    [Pipeline::none(), Pipeline::default()].map(|passes| {
        let mut module = v.module.clone();
        module.functions.iter_mut().filter(|f| f.name != v.name).for_each(|f| f.kind = FunctionKind::Function);
        passes.run(&mut module, &mut ()).expect("the passes keep the rules");
        let words = runner.run(&module, &v.name, &[v.arguments(lanes)]);
        let words = words.unwrap_or_else(|e| panic!("{}: {e}", row.name));
        let function = module.function(&v.name).expect("it is an entry");
        v.lane_results(&values(function, &words[0]))
    })
}

/// Asserts what the lanes of a program give on every machine.
fn check(text: &str, params: &[Uniformity], lanes: &[Vec<Const>], expected: &[Vec<Const>]) -> Vectorized {
    let v = vectorize(&module(text), "f", lanes.len() as u32, params).unwrap_or_else(|e| panic!("{e}"));
    for row in runners().into_iter().filter(|row| !row.compiles_slowly) {
        if row.uses_gpu {
            crate::common::adapter();
        }
        for found in results(&v, &row, lanes) {
            assert_eq!(found, expected, "{}\n{}", row.name, v.module);
        }
    }
    v
}

#[test]
fn operations_between_lanes_give_the_table_of_the_thesis() {
    let text =
        "fn f(v0 i: u32) -> (any3: bool, any2: bool, all2: bool, all0: bool, ballot: u32, moved: u32, one: u32) {
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
    let lanes: Vec<Vec<Const>> = (0..4).map(|i| vec![Const::U32(i)]).collect();
    let lane = |l: usize| {
        let truth = [false, true, false, true].map(Const::Bool);
        [&truth[..], &[0b1100, [2, 3, 0, 1][l], 2].map(Const::U32)[..]].concat()
    };
    let expected: Vec<Vec<Const>> = (0..4).map(lane).collect();
    for uniformity in [Uniformity::LANE, Uniformity::Varying] {
        check(text, &[uniformity], &lanes, &expected);
    }
}

/// Two loops, of which the inner one breaks out of both.
#[test]
fn a_lane_breaks_out_of_two_loops_while_others_stay() {
    let text = "fn f(v0 i: i32) -> (count: i32) {
b0:
  v1: i32 = const 0
  v2: i32 = const 1
  v3: i32 = const 4
  jump b1(v1, v1)
b1(v4: i32, v5: i32):
  v6: bool = ilt v5, v3
  br v6, b2(v4, v1), b5(v4)
b2(v7: i32, v8: i32):
  v9: bool = ilt v8, v3
  br v9, b3, b4
b3:
  v10: i32 = iadd v7, v2
  v11: i32 = imul v5, v8
  v12: i32 = iadd v8, v2
  v13: bool = ilt v0, v11
  br v13, b5(v10), b2(v10, v12)
b4:
  v14: i32 = iadd v5, v2
  jump b1(v7, v14)
b5(v15: i32):
  ret v15
}";
    let count = |i: i32| {
        let mut count = 0;
        for a in 0..4 {
            for b in 0..4 {
                count += 1;
                if a * b > i {
                    return count;
                }
            }
        }
        count
    };
    let starts = [-1, 0, 3, 9];
    let lanes = starts.map(|i| vec![Const::I32(i)]);
    check(text, &[Uniformity::Varying], &lanes, &starts.map(|i| vec![Const::I32(count(i))]));
}

#[test]
fn the_elements_that_lanes_sum_up_are_reduced_and_extracted() {
    let text = "fn f(v0 x: f32) -> (sum: f32, largest: f32, most: f32) {
b0:
  v1: u32 = const 1
  v2: u32 = const 2
  v3: u32 = const 0
  v4: f32 = call lanes.shuffle.f32(v0, v1)
  v5: f32 = max v0, v4
  v6: f32 = call lanes.shuffle.f32(v5, v2)
  v7: f32 = max v5, v6
  v8: f32 = call lanes.extract.f32(v7, v3)
  v9: f32 = call lanes.add.f32(v0)
  ret v9, v7, v8
}";
    let lanes = [3.0, 9.0, -4.0, 5.0].map(|x| vec![Const::F32(x)]);
    let expected: [Vec<Const>; 4] = std::array::from_fn(|_| [13.0, 9.0, 9.0].map(Const::F32).to_vec());
    let v = check(text, &[Uniformity::Varying], &lanes, &expected);
    assert_eq!(v.results.iter().map(|s| s.is_uniform()).collect::<Vec<_>>(), [true, false, true]);
}

/// A box filter of an image whose border is clamped. `size` is uniform: where it is a constant, the
/// image is one texel, and folding leaves nothing of the tests of the border.
#[test]
fn an_image_filter_on_a_constant_image_has_no_tests_of_its_border() {
    let filter = |size: &str| {
        format!(
            "inline fn texel(v0 x: i32, v1 size: i32) -> (value: f32) {{
b0:
  v2: i32 = const 0
  v3: i32 = const 1
  v4: bool = ilt v3, v1
  br v4, b1, b3(v2)
b1:
  v5: bool = ilt v0, v2
  br v5, b3(v2), b2
b2:
  v6: i32 = isub v1, v3
  v7: bool = ilt v6, v0
  br v7, b3(v6), b3(v0)
b3(v8: i32):
  v9: f32 = to_float v8
  ret v9
}}

fn f(v0 x: i32, v1 n: i32) -> (value: f32) {{
b0:
  v2: i32 = const 1
{size}
  v3: i32 = isub v0, v2
  v4: f32 = call texel(v3, v10)
  v5: f32 = call texel(v0, v10)
  v6: i32 = iadd v0, v2
  v7: f32 = call texel(v6, v10)
  v8: f32 = add v4, v5
  v9: f32 = add v8, v7
  ret v9
}}"
        )
    };
    let lanes: Vec<Vec<Const>> = (0..4).map(|i| vec![Const::I32(i), Const::I32(3)]).collect();
    let uniformities = [Uniformity::affine(1), Uniformity::UNIFORM];
    let expected = [1.0, 3.0, 5.0, 6.0].map(|x| vec![Const::F32(x)]);
    check(&filter("  v10: i32 = imul v1, v2"), &uniformities, &lanes, &expected);
    let v = check(
        &filter("  v10: i32 = iadd v2, v2\n  v11: i32 = isub v10, v2").replace(", v10)", ", v11)"),
        &uniformities,
        &lanes,
        &vec![vec![Const::F32(0.0)]; 4],
    );
    let mut module = v.module.clone();
    Pipeline::default().run(&mut module, &mut ()).expect("the passes keep the rules");
    let made = module.function(&v.name).expect("it is an entry");
    assert_eq!((made.blocks.len(), made.inst_count()), (1, 1), "{made}");
}
