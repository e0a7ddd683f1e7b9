//! Messages: what is wrong, where, and all of it in one run.

use super::*;

fn errors(source: &str) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add("test.pfman", None, source);
    match compile(&mut sources, file, &FrontEndOptions::default()) {
        Ok(_) => panic!("it compiles: {source}"),
        Err(d) => d.render(&sources),
    }
}

#[track_caller]
fn says(source: &str, expected: &str) {
    let text = errors(source);
    assert!(text.contains(expected), "{text}");
}

/// An error in the statements of a function of a float and a uniform one.
#[track_caller]
fn statement_says(code: &str, expected: &str) {
    says(&format!("float f(varying float x, uniform float u) {{ {code} return 0; }}"), expected);
}

#[test]
fn types_ranks_and_lengths() {
    statement_says("float a[3] = {1, 2};", "a value of type unsigned fixed<2,0>[2] is not one of type float[3]");
    statement_says("float a[3] = x;", "an array is written with its elements");
    statement_says("float a[2] = {1, 2}, b[3] = {1, 2, 3}; x = a * b;", "no operator `*` for float[2] and float[3]");
    statement_says("float a[2] = {1, 2}; x = a + x;", "no operator `+` for float[2] and float");
    statement_says("float a[2][3]; a = 1 / a;", "equal lengths");
    statement_says("float a[2] = {1, {1, 2}};", "elements are of equal lengths");
    statement_says("float a[3]; x = a[3];", "the index 3 of 3 elements");
    statement_says("float a[3]; x = a[0][1];", "2 indices");
    statement_says("x = x & 1;", "numbers in fixed point");
    statement_says("if ({1, 2}) x = 1;", "a condition is a number");
    statement_says("x = f(x);", "no function `f` takes (varying float)");
    statement_says("x = sin({{1, 2}, {3, 4}});", "`sin` does not take");
}

#[test]
fn a_function_has_at_most_1024_parameters() {
    let parameters: Vec<String> = (0..1025).map(|i| format!("float p{i}")).collect();
    says(&format!("float f({}) {{ return p0; }}", parameters.join(", ")), "`f` has more than 1024 parameters");
}

#[test]
fn fixed_point() {
    statement_says("fixed<4,0> a = 100;", "100 does not fit in `fixed<4,0>`");
    statement_says("unsigned fixed<8,8> c = 1.0;", "between 0 and 0.99609375");
    statement_says("fixed<32,0> a;", "33 bits with its sign");
    statement_says("unsigned fixed<33,0> a;", "size of a `fixed` type is 33");
    statement_says("unsigned float a;", "belong to `fixed` types");
}

#[test]
fn uniform_and_varying() {
    statement_says("u = x;", "the uniform variable `u` is given a varying value");
    statement_says("uniform float a = x * u;", "the uniform variable `a` is given a varying value");
    statement_says("uniform float a; if (x > 0) a = 1;", "changed where a condition varies");
    says("float g(uniform float a) { return a; } float f(varying float x) { return g(x); }", "no function `g` takes");
    says("uniform float f(varying float x) { return x; }", "returns a varying value");
}

#[test]
fn names_and_definitions() {
    says("typedef float Point[3]; float Point(float x) { return x; }", "the function `Point` has the name of a type");
    says("typedef float P3[3]; float f(float P3) { return 0; }", "the parameter `P3` has the name of a type");
    says("typedef float P3[3]; float f() { float P3; return 0; }", "the variable `P3` has the name of a type");
    says("float f() { typedef float P3[3]; return 0; }", "outside of functions");
    says("float f(float x) { return 0; } uniform float f(float y) { return 1; }", "defined twice");
    says("float f(float x) { return 0; } void f(float y) { }", "differs from its other declaration in its result");
    says("float f() { return g(); } float g();", "declared, and not defined");
    says("float f() { return lenght({1, 2}); }", "did you mean `length`?");
    says("float f(float colors) { return color; }", "did you mean `colors`?");
    says("float f(float n) { return n * f(n); }", "unconditional recursion");
    says("extern \"C C++\" float f() { return 0; }", "both `C` and `C++`");
    says("extern \"C++\" float f(varying float x) { return x; }", "uniform values only");
    says("primitive p() {}", "no primitive functions");
    says("surface s(float k = 1) {} float f() { return s(1); }", "shaders are not called");
    says("float x = 1;", "only functions, shaders and types");
    says("surface s(float a, b) {}", "expected the type of a parameter");
    says("surface s(float k = sin(1)) { }", "a constant");
    says("light l() { illuminance() {} }", "not in a light");
    says("surface s() { px_rc_co = px_rc_cl; }", "within `illuminance` only");
    says("surface s(transform_as_plane float p[3]) { }", "is not for float[3]");
    says("", "defines no shader");
}

#[test]
fn all_errors_are_found_in_one_run() {
    let text = errors(
        "float f(varying float x) {
            fixed<4,0> a = 99;
            y = 1;
            float b[2] = x;
            return b;
        }
        surface s() { foo(); px_rc_co = 1; }",
    );
    for expected in
        ["99 does not fit", "unknown variable `y`", "float[2]", "unknown function `foo`", "not one of type float[3]"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn strange_texts_are_errors_and_no_panics() {
    let deep = format!("float f() {{ return {}1{}; }}", "(".repeat(5000), ")".repeat(5000));
    let long = format!("float f(float x) {{ return {}; }}", vec!["x"; 5000].join("+"));
    for source in [
        "typedef",
        "float f(",
        "float f() {",
        "float f() { return {}; }",
        "float f() { float a[0]; }",
        "float f() { float a[9999]; }",
        "fixed<> f() {}",
        "fixed<1,999> f() {}",
        "float f() { x++; }",
        "float f() { 1 = 2; }",
        "float f() { return \"a\"; }",
        "void f() { return f() + 1; }",
        "surface s(unit float x) {}",
        "surface s() { texture(1, 2, 3); }",
        "surface s(float s[2], float t) { break; }",
        "}{",
        &deep,
        &long,
    ] {
        errors(source);
    }
}

#[test]
fn functions_of_the_host() {
    let tanh = "extern \"C\" float tanh(float x);";
    let with = |code: &str| format!("{tanh} float f(varying float x, uniform float u) {{ {code} return 0; }}");
    says(&with("x = tanh(x);"), "no function `tanh` takes (varying float)");
    says(&with("x = tanh({u, u});"), "no function `tanh` takes (float[2])");
    says(
        "extern \"C\" float tanh(float x, float y);float f() { return 0; }",
        "the host's function is float tanh(float)",
    );
    says("extern \"C\" fixed<8,8> tanh(float x); float f() { return 0; }", "the host's function is float tanh(float)");
    says("extern \"C\" float tanh(varying float x); float f() { return 0; }", "uniform values only");
    says("extern \"C\" float zeta(float x); float f() { return zeta(2); }", "the host has no function `zeta`");
    // What is not the host's is a function of another file.
    says("extern \"inline\" float tanh(float x); float f() { return tanh(2); }", "declared, and not defined");
}
