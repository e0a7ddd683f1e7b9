//! The results of functions, and the programs that are refused.

use super::types::{Fixed, Scalar, Type};
use super::{Pfman, compile};
use crate::Language;
use crate::language::FrontEndOptions;
use crate::unit::{LightKind, ShaderUnit};
use proptest::prelude::*;
use shadewright_base::text::source::SourceMap;
use shadewright_ir::{self as ir, Const, EmptyWorld, Limits, Module, eval};

mod errors;
mod fixed;
mod shaders;

fn unit(source: &str) -> ShaderUnit {
    let mut sources = SourceMap::new();
    let file = sources.add("test.pfman", None, source);
    let unit = compile(&mut sources, file, &FrontEndOptions::default());
    unit.unwrap_or_else(|d| panic!("{}", d.render(&sources)))
}

fn module(source: &str) -> Module {
    let unit = unit(source);
    ir::verify(&unit.module).expect("the module is sound");
    unit.module
}

/// The numbers that the function `f` of a file gives.
fn run(source: &str, args: &[Const]) -> Vec<f64> {
    let module = module(source);
    let results = eval(&module, "f", args, &mut EmptyWorld, Limits::default()).expect("it runs");
    results.iter().flat_map(numbers).collect()
}

fn numbers(value: &Const) -> Vec<f64> {
    match value {
        Const::I32(x) => vec![f64::from(*x)],
        Const::U32(x) => vec![f64::from(*x)],
        Const::Bool(x) => vec![f64::from(u8::from(*x))],
        other => other.floats().unwrap_or_default().iter().map(|x| f64::from(*x)).collect(),
    }
}

/// The value of an expression of the floats `x` and `y`.
fn value(expression: &str, x: f32, y: f32) -> f64 {
    let source = format!("float f(float x, float y) {{ return {expression}; }}");
    run(&source, &[Const::F32(x), Const::F32(y)])[0]
}

/// Operators bind as figure 4.2 says, which is not C's way.
#[test]
fn operators_bind_as_in_the_figure() {
    assert_eq!(value("x + y * 2", 1.0, 3.0), 7.0);
    assert_eq!(value("(x - y) - 1", 1.0, 3.0), -3.0);
    assert_eq!(value("x - y - 1", 1.0, 3.0), -3.0);
    // `&` and `|` bind more tightly than shifts and comparisons.
    assert_eq!(value("6 & 3 == 2", 0.0, 0.0), 1.0);
    assert_eq!(value("1 << 2 | 1", 0.0, 0.0), 8.0);
    // `^` binds more tightly than `*`, and `&` less tightly than `+`.
    assert_eq!(value("2 * 3 ^ 1", 0.0, 0.0), 4.0);
    assert_eq!(value("4 + 2 & 3", 0.0, 0.0), 2.0);
    // A prefix binds more tightly than a cast, and that more tightly than `^`.
    assert_eq!(value("(fixed<8,0>) -x", 2.75, 0.0), -2.0);
    assert_eq!(value("x > 0 && y < 0 || 1", 0.0, 0.0), 1.0);
    assert_eq!(value("x > 0 ? 1 : y > 0 ? 2 : 3", 0.0, 1.0), 2.0);
    assert_eq!(value("(x, y)", 1.0, 2.0), 2.0);
}

#[test]
fn assignments_are_expressions_and_steps_give_the_value_before_or_after() {
    let source = "float f(float x, float y) {
        float a, b;
        a = b = x;
        a += b++;
        b *= 2;
        b -= --a;
        return a * 100 + b;
    }";
    // a = 3 + 3 = 6, b = 4; b = 8; a = 5, b = 3.
    assert_eq!(run(source, &[Const::F32(3.0), Const::F32(0.0)]), [503.0]);
}

#[test]
fn loops_and_conditions_are_those_of_c() {
    let source = "float f(float n, float y) {
        float sum = 0, i = 0;
        do { i++; if (i == 3) continue; sum += i; } until (i >= n);
        while (1) { sum += 100; if (sum > y) break; }
        for (int_t k = 0; k < 4; k++) sum += 0.5;
        return sum;
    }";
    let source = format!("typedef fixed<15,0> int_t;\n{source}");
    // 1 + 2 + 4 + 5 = 12; 112, 212; 214.
    assert_eq!(run(&source, &[Const::F32(5.0), Const::F32(150.0)]), [214.0]);
    // The first turn runs whatever the condition.
    assert_eq!(run(&source, &[Const::F32(-1.0), Const::F32(0.0)]), [103.0]);
}

#[test]
fn arrays_are_vectors_matrices_and_tensors() {
    let f =
        |code: &str| run(&format!("float f(float x, float y) {{ {code} }}"), &[Const::F32(2.0), Const::F32(3.0)])[0];
    assert_eq!(f("float a[3] = {1, x, y}; return a * a;"), 14.0);
    assert_eq!(f("float m[2][3] = {{1, 2, 3}, {4, 5, 6}}; return (m * {1, x, y})[1];"), 32.0);
    assert_eq!(f("float m[2][3] = {{1, 2, 3}, {4, 5, 6}}; return ({x, y} * m)[2];"), 24.0);
    assert_eq!(f("float[3] m[2] = {{1, 2, 3}, {4, 5, 6}}; float v[3] = m[1]; return v[0] + m[0][2];"), 7.0);
    assert_eq!(f("float v[3] = {1, 0, 0} ^ {0, 1, 0}; return v[2];"), 1.0);
    assert_eq!(f("return {x, 1} ^ {y, 4};"), 5.0);
    assert_eq!(f("float w[4][4] = {1, 2, 3, 4} ^ {5, 6, 7, x}; return w[1][3] + w[3][1];"), 0.0);
    assert_eq!(f("float m[2][2] = {{x, 1}, {1, y}}; float i[2][2] = 1 / m; return i[0][0] * 5;"), 3.0);
    assert_eq!(f("float m[3][3] = {{0, 1, 0}, {1, 0, 0}, {0, 0, x}}; return ({1, 2, 4} / m)[2];"), 2.0);
    assert_eq!(f("return (-{1, 2, 3} * x)[1];"), -4.0);
    assert_eq!(f("return {1, 2} == {1, x} && {1, 2} != {2, 2};"), 1.0);
    // c[i][j][k][l] = sum of a[i][j][m] b[m][k][l].
    let tensors = "float a[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
        float c[2][2][2][2] = a * a;
        return c[1][0][1][1];";
    assert_eq!(f(tensors), 5.0 * 4.0 + 6.0 * 8.0);
}

#[test]
fn elements_are_chosen_and_changed_by_any_index() {
    let source = "float f(float x, float y) {
        float a[3] = {1, 2, 3}, m[2][3], t[2];
        fixed<8,0> i = x, j = y;
        a[i] = 10;
        m[j] = a;
        m[j][i] += 5;
        t[j] = m[j][0] + m[j][1] + m[j][2];
        return t[j] + a[2];
    }";
    assert_eq!(run(source, &[Const::F32(1.0), Const::F32(1.0)]), [1.0 + 15.0 + 3.0 + 3.0]);
    // Beyond the last element the nearest is read, and nothing is written.
    assert_eq!(run(source, &[Const::F32(7.0), Const::F32(0.0)]), [1.0 + 2.0 + 3.0 + 3.0]);
}

#[test]
fn the_function_that_fits_best_is_called() {
    let source = "
        float g(float x) { return 1; }
        float g(fixed<8,8> x) { return 2; }
        float g(fixed<16,8> x) { return 3; }
        float g(float x[3]) { return 4; }
        float h(uniform float x) { return 10; }
        float h(varying float x) { return 20; }
        float f(float x, float y) {
            fixed<8,8> a = x;
            fixed<12,8> b = x;
            uniform float u = 1;
            return g(x) * 1000 + g(a) * 100 + g(b) * 10 + g({x, y, 1}) + h(u) + h(x) * 100;
        }";
    assert_eq!(run(source, &[Const::F32(0.5), Const::F32(0.0)]), [1000.0 + 200.0 + 30.0 + 4.0 + 10.0 + 2000.0]);
}

#[test]
fn prototypes_recursion_and_outputs() {
    let source = "
        extern \"inline static\" float fib(float n);
        void split(float x, output float whole, output float rest) { whole = floor(x); rest = x - whole; }
        float f(float x, float y) {
            float a, b[2];
            split(y, a, b[1]);
            return fib(x) + a * 100 + b[1];
        }
        float fib(float n) { if (n < 2) return n; else return fib(n - 1) + fib(n - 2); }";
    assert_eq!(run(source, &[Const::F32(7.0), Const::F32(2.25)]), [13.0 + 200.0 + 0.25]);
}

#[test]
fn built_in_functions_take_numbers_and_arrays() {
    assert!((value("sin(x) * sin(x) + cos(x) * cos(x)", 0.7, 0.0) - 1.0).abs() < 1e-6);
    assert!((value("exp2(x) + log2(8)", 3.0, 0.0) - 11.0).abs() < 1e-5);
    assert_eq!(value("length({3, 4}) + length({0, 3, 4}) + distance({1, 1, 1}, {1, 1, 3})", 0.0, 0.0), 12.0);
    assert_eq!(value("clamp(x, 0, 1) + max(x, y) + min({x, y, 1}, {5, 5, 0})[2]", 3.0, 4.0), 5.0);
    assert_eq!(value("mix({0, 0, 0}, {1, 2, 3}, 0.5)[2] + smoothstep(0, 1, x)", 0.5, 0.0), 2.0);
    assert!(value("normalize({0, x, 0, 0})[1] + faceforward({0, 0, 1}, {0, 0, 1})[2]", 5.0, 0.0).abs() < 1e-6);
    assert!((value("filterstep(0.5, x, 0.1)", 0.9, 0.0) - 1.0).abs() < 1e-6);
    let noise = value("noise(x) + noise(x, y) + noise({x, y, 0.5}) + noise({x, y, 1, 2})", 0.3, 0.6);
    assert!((0.0..4.0).contains(&noise));
}

#[test]
fn the_listing_has_the_types_of_the_figure() {
    let source = "void f() {
        fixed<10,10> x = 0, y = 0;
        fixed<15,12> z = 0, r;
        r = x*y + z;
    }";
    let mut sources = SourceMap::new();
    let file = sources.add("figure.pfman", None, source);
    let text = Pfman.types(&mut sources, file, &FrontEndOptions::default()).expect("it has types").expect("no errors");
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    let row = |code: &str| rows.iter().find(|r| r[1..].join(" ").starts_with(code)).expect("a row").join(" ");
    assert!(row("x*y fixed").ends_with("fixed<20,20> fixed<12,12>, 2 bytes"), "{text}");
    assert!(row("x*y + z").ends_with("fixed<24,20> fixed<15,12>, 2 bytes"), "{text}");
}
