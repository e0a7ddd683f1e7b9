use super::super::testing::{check_module, module};
use super::*;
use crate::abi::EntryPoint;
use crate::random::{self, Random, Shape};
use crate::{Const, EmptyWorld, FunctionBuilder, FunctionKind, Limits, Type, eval};

fn expanded(module: &mut Module) -> usize {
    expand(module).changes
}

#[test]
fn a_product_is_differentiated_by_the_product_rule_and_only_where_it_is_asked_for() {
    check_module(
        expanded,
        "entry main(v0 u: f32, v1 w: f32) -> (return: f32) {
b0:
  v2: f32 = mul v0, v1
  v3: f32 = du v2
  v4: f32 = mul v0, v0
  v5: f32 = add v3, v4
  ret v5
}",
        "entry main(v0 u: f32, v1 w: f32) -> (return: f32) {
b0:
  v6: f32 = const 1.0
  v7: f32 = const 0.0
  v2: f32 = mul v0, v1
  v8: f32 = mul v6, v1
  v9: f32 = mul v7, v1
  v4: f32 = mul v0, v0
  v5: f32 = add v8, v4
  ret v5
}",
    );
}

#[test]
fn seeds_leave_their_values_where_nothing_asks_for_derivatives() {
    check_module(
        expanded,
        "fn f(v0 x: f32, v1 y: f32) -> (return: f32) {
b0:
  v2: f32 = seed v0, v1, v1
  v3: f32 = seed v2, v1, v1
  v4: f32 = neg v3
  ret v4
}",
        "fn f(v0 x: f32, v1 y: f32) -> (return: f32) {
b0:
  v4: f32 = neg v0
  ret v4
}",
    );
}

#[test]
fn a_call_goes_to_a_copy_that_takes_and_gives_derivatives() {
    check_module(
        expanded,
        "fn double(v0 x: f32, v1 k: f32) -> (return: f32) {
b0:
  v2: f32 = add v0, v0
  ret v2
}
entry main(v0 v: f32, v1 k: f32) -> (return: f32) {
b0:
  v2: f32 = call double(v0, v1)
  v3: f32 = call double(v1, v1)
  v4: f32 = add v2, v3
  v5: f32 = dv v4
  ret v5
}",
        "fn double(v0 x: f32, v1 k: f32) -> (return: f32) {
b0:
  v2: f32 = add v0, v0
  ret v2
}

entry main(v0 v: f32, v1 k: f32) -> (return: f32) {
b0:
  v6: f32 = const 0.0
  v7: f32 = const 1.0
  v2: f32, v8: f32, v9: f32 = call double.derived0(v0, v1, v6, v7)
  v3: f32 = call double(v1, v1)
  v4: f32 = add v2, v3
  ret v9
}

fn double.derived0(v0 x: f32, v1 k: f32, v3 x.du: implicit f32, v4 x.dv: implicit f32) -> (return: f32, return.du: f32, return.dv: f32) {
b0:
  v2: f32 = add v0, v0
  v5: f32 = add v3, v3
  v6: f32 = add v4, v4
  ret v2, v5, v6
}",
    );
}

/// The results of `main(u, v)` once derivatives are expanded.
#[track_caller]
fn results(text: &str, u: f32, v: f32) -> Vec<f32> {
    let mut m = module(text);
    assert!(expand(&mut m).changes > 0);
    crate::verify(&m).unwrap_or_else(|e| panic!("{e:?}\n{m}"));
    let results =
        eval(&m, "main", &[Const::F32(u), Const::F32(v)], &mut EmptyWorld, Limits::default()).expect("it runs");
    results.iter().flat_map(|c| c.floats().unwrap_or_default().to_vec()).collect()
}

/// A function of u and v whose body computes `v9`, with its derivatives.
fn body(text: &str) -> String {
    format!(
        "entry main(v0 u: f32, v1 v: f32) -> (du: f32, dv: f32) {{
  slot s0 a: f32[2]
b0:
  v2: f32 = const 2.0
{text}
  v30: f32 = du v9
  v31: f32 = dv v9
  ret v30, v31
}}"
    )
}

#[test]
fn operations_have_the_derivatives_of_calculus() {
    for (text, u, v, expected) in [
        // u − v·u
        ("  v3: f32 = mul v1, v0\n  v9: f32 = sub v0, v3", 3.0, 5.0, [-4.0, -3.0]),
        // 1/(2v): −1/(2v²)
        ("  v3: f32 = mul v1, v2\n  v9: f32 = rcp v3", 0.0, 2.0, [0.0, -0.125]),
        // 1/√u: −½·u^(−3/2)
        ("  v9: f32 = rsq v0", 4.0, 0.0, [-0.0625, 0.0]),
        // √(u·v): v/(2√(uv)), u/(2√(uv))
        ("  v3: f32 = mul v0, v1\n  v9: f32 = sqrt v3", 8.0, 2.0, [0.25, 1.0]),
        // The slope of the root at 0 counts as 0.
        ("  v9: f32 = sqrt v0", 0.0, 0.0, [0.0, 0.0]),
        ("  v9: f32 = abs v0", -3.0, 0.0, [-1.0, 0.0]),
        ("  v9: f32 = frac v0", 3.25, 0.0, [1.0, 0.0]),
        ("  v9: f32 = floor v0", 3.25, 0.0, [0.0, 0.0]),
        ("  v9: f32 = min v0, v1", 3.0, 2.0, [0.0, 1.0]),
        ("  v9: f32 = min v0, v2", 1.0, 0.0, [1.0, 0.0]),
        ("  v9: f32 = max v0, v1", 3.0, 2.0, [1.0, 0.0]),
        ("  v9: f32 = sat v0", 0.5, 0.0, [1.0, 0.0]),
        ("  v9: f32 = sat v0", 1.5, 0.0, [0.0, 0.0]),
        ("  v3: bool = lt v0, v1\n  v9: f32 = select v3, v0, v1", 1.0, 2.0, [1.0, 0.0]),
        // (u, v, 2)·(v, v, u) = uv + v² + 2u
        (
            "  v3: vec3 = compose v0, v1, v2\n  v4: vec3 = compose v1, v1, v0\n  v9: f32 = dot v3, v4",
            3.0,
            5.0,
            [7.0, 13.0],
        ),
        // ((u, v, 2) × (v, 2, u)).z = 2u − v²
        (
            "  v3: vec3 = compose v0, v1, v2\n  v4: vec3 = compose v1, v2, v0\n  v5: vec3 = cross v3, v4\n  v9: f32 = extract.z v5",
            3.0,
            5.0,
            [2.0, -10.0],
        ),
        (
            "  v3: vec2 = splat v0\n  v4: vec2 = insert.x v3, v1\n  v5: vec2 = neg v4\n  v9: f32 = dot v5, v4",
            3.0,
            5.0,
            [-6.0, -10.0],
        ),
        // Integers do not change.
        ("  v3: i32 = to_int v0\n  v4: f32 = to_float v3\n  v9: f32 = mul v4, v1", 3.5, 5.0, [0.0, 3.0]),
        // An array: a[1] = u², a[0] = 2.
        (
            "  v3: u32 = const 1\n  v4: u32 = const 0\n  v5: f32 = mul v0, v0\n  slot_store s0, v3, v5\n  slot_store s0, v4, v2\n  v6: f32 = slot_load s0, v3\n  v7: f32 = slot_load s0, v4\n  v9: f32 = mul v6, v7",
            3.0,
            5.0,
            [12.0, 0.0],
        ),
    ] {
        assert_eq!(results(&body(text), u, v), expected, "{text}");
    }
}

#[test]
fn what_a_seed_says_of_its_arguments_derivatives_counts() {
    let text = "fn steep(v0 x: f32) -> (return: f32) {
b0:
  v1: f32 = const 3.0
  v2: f32 = du v0
  v3: f32 = dv v0
  v4: f32 = mul v2, v1
  v5: f32 = mul v3, v1
  v6: f32 = seed v0, v4, v5
  ret v6
}
entry main(v0 u: f32, v1 v: f32) -> (du: f32, dv: f32) {
b0:
  v2: f32 = mul v0, v1
  v3: f32 = call steep(v2)
  v4: f32 = du v3
  v5: f32 = dv v3
  ret v4, v5
}";
    assert_eq!(results(text, 3.0, 5.0), [15.0, 9.0]);
}

#[test]
fn a_loop_carries_derivatives_around() {
    // u⁴ by three products.
    let text = "entry main(v0 u: f32, v1 v: f32) -> (du: f32, dv: f32) {
b0:
  v2: u32 = const 0
  v3: u32 = const 1
  v4: u32 = const 3
  jump b1(v2, v0)
b1(v5: u32, v6: f32):
  v7: bool = ilt v5, v4
  br v7, b2, b3
b2:
  v8: f32 = mul v6, v0
  v9: u32 = iadd v5, v3
  jump b1(v9, v8)
b3:
  v10: f32 = du v6
  v11: f32 = dv v6
  ret v10, v11
}";
    assert_eq!(results(text, 2.0, 1.0), [32.0, 0.0]);
}

#[test]
fn a_function_that_calls_itself_is_differentiated_once() {
    let text = "fn power(v0 x: f32, v1 n: u32) -> (return: f32) {
b0:
  v2: u32 = const 1
  v3: bool = ilt v1, v2
  br v3, b1, b2
b1:
  v4: f32 = const 1.0
  ret v4
b2:
  v5: u32 = isub v1, v2
  v6: f32 = call power(v0, v5)
  v7: f32 = mul v6, v0
  ret v7
}
entry main(v0 u: f32, v1 v: f32) -> (du: f32, dv: f32) {
b0:
  v2: u32 = const 4
  v3: f32 = call power(v0, v2)
  v4: f32 = du v3
  v5: f32 = dv v3
  ret v4, v5
}";
    assert_eq!(results(text, 2.0, 1.0), [32.0, 0.0]);
    let mut m = module(text);
    expand(&mut m);
    assert_eq!(m.functions.len(), 3);
}

#[test]
fn a_derivative_taken_within_a_function_is_that_of_its_argument() {
    let text = "fn slope(v0 x: f32) -> (return: f32) {
b0:
  v1: f32 = mul v0, v0
  v2: f32 = du v1
  ret v2
}
entry main(v0 u: f32, v1 v: f32) -> (a: f32, b: f32) {
b0:
  v2: f32 = const 3.0
  v3: f32 = mul v0, v2
  v4: f32 = call slope(v3)
  v5: f32 = call slope(v2)
  ret v4, v5
}";
    // (3u)² has the slope 18u.
    assert_eq!(results(text, 2.0, 0.0), [36.0, 0.0]);
}

#[test]
fn derivatives_of_derivatives_and_of_what_rays_bring_are_0_and_rays_are_told() {
    let text = "entry main(v0 u: f32, v1 v: f32) -> (a: f32, b: vec3) {
b0:
  v2: f32 = mul v0, v0
  v3: f32 = du v2
  v4: f32 = du v3
  v5: vec3 = splat v0
  v6: vec3, v7: vec3 = call_shader v5, v5, v0
  v8: vec3 = dv v6
  ret v4, v8
}";
    let mut m = module(text);
    assert_eq!(expand(&mut m).rays.len(), 1);
    assert_eq!(results(text, 2.0, 1.0), [0.0; 4]);
}

/// A random program with an entry `main(u, v, …)` that gives `f`'s results and their derivatives by
/// `x` = u and `y` = v.
fn differentiated(random: &mut Random) -> Module {
    let mut m = random::module(random, Shape::default());
    let f = m.function_mut("f").expect("every program has it");
    f.kind = FunctionKind::Function;
    let (params, types): (Vec<_>, Vec<Type>) = (f.params.clone(), f.results.iter().map(|r| r.ty).collect());
    let mut b = FunctionBuilder::new("main", FunctionKind::Entry(EntryPoint::Other));
    let args = params.iter().map(|p| {
        let name = match &*p.name {
            "x" => "u",
            "y" => "v",
            _ => "other",
        };
        b.param(name, p.ty)
    });
    let args = args.collect();
    let results = b.call("f", args, &types);
    let floats: Vec<_> = results.into_iter().zip(types).filter(|(_, ty)| ty.lanes().is_some()).collect();
    let mut returned = Vec::new();
    for (op, name) in [(None, "value"), (Some(Op::Du), "du"), (Some(Op::Dv), "dv")] {
        for &(v, ty) in &floats {
            b.result(name, ty);
            returned.push(op.clone().map_or(v, |op| b.op(op, &[v])));
        }
    }
    b.ret(returned);
    m.functions.push(b.finish());
    m
}

#[test]
fn derivatives_of_random_programs_are_the_limits_of_differences() {
    let mut random = Random::new(11);
    let (mut compared, mut changing) = (0, 0);
    for _ in 0..300 {
        let mut m = differentiated(&mut random);
        expand(&mut m);
        crate::verify(&m).unwrap_or_else(|e| panic!("{e:?}\n{m}"));
        let args = random::arguments(&mut random);
        let run = |x: f32, y: f32| -> Vec<f64> {
            let mut args = args.clone();
            for (arg, change) in args.iter_mut().zip([x, y]) {
                *arg = Const::F32(arg.floats().map_or(0.0, |f| f[0]) + change);
            }
            let results = eval(&m, "main", &args, &mut EmptyWorld, Limits::default()).expect("it runs");
            results.iter().flat_map(|c| c.floats().unwrap_or_default().to_vec()).map(f64::from).collect()
        };
        let here = run(0.0, 0.0);
        let n = here.len() / 3;
        for direction in 0..2 {
            let difference = |h: f32| -> Vec<f64> {
                let (x, y) = if direction == 0 { (h, 0.0) } else { (0.0, h) };
                let (more, less) = (run(x, y), run(-x, -y));
                more.iter().zip(&less).take(n).map(|(a, b)| (a - b) / (2.0 * f64::from(h))).collect()
            };
            let (wide, narrow) = (difference(1.0 / 64.0), difference(1.0 / 256.0));
            for i in 0..n {
                let close =
                    |a: f64, b: f64, by: f64| (a - b).abs() <= by * a.abs().max(b.abs()).max(here[i].abs()).max(1.0);
                // Where differences do not agree with each other there is a jump, a kink or much
                // curvature.
                if close(wide[i], narrow[i], 2e-3) {
                    let derivative = here[n * (direction + 1) + i];
                    assert!(close(narrow[i], derivative, 1e-2), "{derivative}, difference {}\n{m}", narrow[i]);
                    compared += 1;
                    changing += usize::from(derivative != 0.0);
                }
            }
        }
    }
    // Most places are smooth, and enough of them not flat.
    assert!(compared > 3000 && changing > 20, "{compared} compared, {changing} of them not 0");
}
