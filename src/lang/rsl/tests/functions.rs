//! Nested functions, and the syntax of old files.

use super::*;
use shadewright_ir::Const::F32;
use shadewright_ir::abi::Input;

fn number(source: &str, x: f32) -> f32 {
    match run(source, &[F32(x)])[0] {
        F32(x) => x,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn a_function_within_another_is_called_like_any() {
    let source = "float f(float x) { float twice(float y) { return 2 * y; } return twice(x) + twice(1); }";
    assert_eq!(number(source, 3.0), 8.0);
    let two = "float g(float x) { float h(float y) { return y + 1; } return h(x); }
               float f(float x) { float h(float y) { return 10 * y; } return h(g(x)); }";
    assert_eq!(number(two, 3.0), 40.0, "each has its own");
    let hidden =
        errors("float g(float x) { float h(float y) { return y; } return h(x); } float f(float x) { return h(x); }");
    assert!(hidden.contains("unknown function `h`"), "{hidden}");
}

#[test]
fn extern_names_a_variable_of_the_function_around() {
    let source = "float f(float x) { float sum = x; void add(float y) { extern float sum; sum += y; } add(2); add(3); return sum; }";
    assert_eq!(number(source, 1.0), 6.0);
    let beside = "float f(float x) {
        float n = x;
        float bump() { extern float n; n += 1; return n; }
        float twice() { return bump() + bump(); }
        return 100 * twice() + n;
    }";
    assert_eq!(number(beside, 1.0), 503.0, "bump gives 2 and 3");
    let array = "float f(float x) { float a[2] = {1, 2}; void set(float y) { extern float a[2]; a[1] = y; } set(x); return a[1]; }";
    assert_eq!(number(array, 7.0), 7.0);
    let wrong = errors("float f(float x) { color c = x; void g() { extern float c; c = 1; } g(); return 1; }");
    assert!(wrong.contains("`c` is of type color, not float"), "{wrong}");
}

#[test]
fn old_files_compile() {
    for source in [
        "float f(float a, b; float c;);\nfloat g(float x) { return f(x, 1, 2,); }\nfloat f(float a, b; float c;) { return a + b + c; }",
        "surface s(float Kd = 1, Ks = .5; roughness = 1e-1; color c = 0.5;) { extern point N; point NN = normalize(N); Ci = c * (NN . I);; }",
        "surface s(float noise = noise(3)) { float sin = sin(noise); Ci = sin; }",
        "surface s(output varying float a = 0; varying output float b = 0; uniform float c = 1) { a = u; b = c; P += N; N = Ng; Ci += Oi; }",
        "surface s() { float a = 1,; Ci = a; }",
        "#if 0\nDon't read \"this\n#endif\nsurface s() { Ci = 1; }",
        "surface s(string t = \"a\" \"b\\n\") { if (t != \"\") Ci = 1.; }",
        "surface s() {\r\n#define TWICE(x, y) \\\r\n  ((x) * 2 + \\\r\n   (y))\r\n  Ci = TWICE(1, .5);\r\n}\r\n",
        "#pragma nolint\n#line 7 \"x.sl\"\n#define GLUE(a, b) a##b\nsurface s() { float ab = 1; Ci = GLUE(a, b); }",
    ] {
        unit(source);
    }
}

#[test]
fn strings_of_an_instance_are_linker_constants() {
    let constant = unit(
        "float f() { string s = concat(\"a\", \"b\", \"c\"); if (s == \"abc\") return match(\"b\", s); return 0; }",
    );
    let world = &mut shadewright_ir::eval::EmptyWorld;
    let value = shadewright_ir::eval::eval(&constant.module, "f", &[], world, shadewright_ir::eval::Limits::default());
    assert_eq!(value.expect("a value"), [F32(1.0)]);
    let source = "surface s(string base = \"wood\"; float frame = 3) {
        string name = format(\"%s.%03d\", base, frame);
        string file = concat(name, \".tex\");
        if (file == \"wood.003.tex\" && match(\"^wood\", base) == 1) Ci = 1;
    }";
    let unit = unit(source);
    let core = unit.module.function("s").expect("the core");
    let inputs: Vec<&str> =
        core.params.iter().map(|p| &*p.name).filter(|n| matches!(Input::parse(n), Input::String(_))).collect();
    assert_eq!((inputs.len(), unit.shaders[0].strings.len()), (2, 3), "the name alone is used by nothing else");
    let parameter = |name: &str| match name {
        "base" => Some(shadewright_ir::Const::String("wood".into())),
        _ => Some(F32(3.0)),
    };
    let strings: Vec<_> = unit.shaders[0].strings.iter().map(|t| t.value(&parameter)).collect();
    assert_eq!(strings[1], Some(shadewright_ir::Const::String("wood.003.tex".into())));
    let triples = super::unit(
        "float f() { string s = format(\"%.1c|%.0p|%c\", color (1, -2, 0.5), (1, 2, 3), color 1);
            return match(\"^1.0 -2.0 0.5.1 2 3.1.000000 1.000000 1.000000$\", s); }",
    );
    let value = shadewright_ir::eval::eval(&triples.module, "f", &[], world, shadewright_ir::eval::Limits::default());
    assert_eq!(value.expect("a value"), [F32(1.0)]);
    for (source, message) in [
        ("surface s() { Ci = match(\"(a\", \"a\"); }", "the pattern \"(a\" is not a regular expression"),
        ("surface s() { Ci = match(\"a\"); }", "`match` takes 2 arguments, not 1"),
        ("surface s() { string t = concat(\"a\", 1); }", "expected a string, found a float"),
    ] {
        let text = errors(source);
        assert!(text.contains(message), "{source}: {text}");
    }
    super::unit("float match(float x) { return x; } float f(float x) { return match(x); }");
}

#[test]
fn what_is_left_out_is_named_by_one_error() {
    for (source, message) in [
        ("surface s() { Ci = readbin(\"a\", P, N); }", "`readbin` is not supported: shaders read no files"),
        (
            "plugin \"noises\";\nsurface s() { Ci = voronoise(P); }",
            "functions of plugins such as \"noises\" are not supported",
        ),
    ] {
        let text = errors(source);
        assert!(text.contains(message) && text.matches("error:").count() == 1, "{source}: {text}");
    }
}

#[test]
fn what_a_uniform_variable_takes_may_be_worked_out_of_uniform_values() {
    unit(
        "float f(float x; uniform float n) { uniform float y = x * n; return y; } surface s(float k = 1) { uniform float b = f(k, 2); Ci = b; }",
    );
    unit(
        "float g(float x) { return x; } surface s(float k = 1) { uniform float b = k > 0 && g(k) > 1; uniform float c = !b; Ci = b + c; }",
    );
}

#[test]
fn functions_of_the_user_hide_only_those_of_the_library_that_take_the_same() {
    let source = "float clamp(string s) { return 7; } float f(float x) { return 10 * clamp(\"a\") + clamp(x, 0, 1); }";
    assert_eq!(number(source, 0.5), 70.5);
}

#[test]
fn a_variable_that_hides_a_parameter_is_told_where_it_is_of_the_body_itself() {
    let source = "surface s(float Kd = 1, Ks = 0.5;) {\n  float Kd = 0.5 * Kd;\n  color Ks;\n  Ci = Kd + Ks;\n}\n";
    let (result, sources) = compile_text(source);
    let text = result.expect("it is no error").warnings.render(&sources);
    for part in [
        "warning: `Kd` shadows a parameter",
        "t.sl:2:9",
        "surface s(float Kd = 1",
        "a new variable",
        "the parameter",
        "remove the type to assign to the parameter, as in `Kd = …`",
        "warning: `Ks` shadows a parameter",
        "t.sl:3:9",
        "remove the declaration to use the parameter",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert_eq!(text.matches("warning: ").count(), 2, "{text}");
    let clean = "float f(float x) { float y = x; if (x > 0) { float x = 2; y += x; } return y; }\n\
                 float g(float y) { float x; return f(x) + y; }\n\
                 surface s(float x = 1;) { extern point P; float i; for (i = 0; i < 3; i += 1) { float x = i; Ci += x; } }";
    assert!(unit(clean).warnings.is_empty());
}
