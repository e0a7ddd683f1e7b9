use super::*;
use shadewright_ir::Op;
use shadewright_ir::abi::{Intrinsic, library};
use shadewright_ir::verify::verify;

mod compatibility;
mod functions;
mod objects;
mod rays;
mod spaces;

fn compile_text(source: &str) -> (Result<ShaderUnit, Diagnostics>, SourceMap) {
    let mut sources = SourceMap::new();
    let file = sources.add("t.sl", None, source);
    (compile(&mut sources, file, &FrontEndOptions::default()), sources)
}

fn unit(source: &str) -> ShaderUnit {
    let (result, sources) = compile_text(source);
    let unit = result.unwrap_or_else(|d| panic!("{}", d.render(&sources)));
    if let Err(errors) = verify(&unit.module) {
        panic!("{source}\n{errors:#?}");
    }
    unit
}

fn errors(source: &str) -> String {
    let (result, sources) = compile_text(source);
    result.err().map_or_else(|| panic!("{source} compiles"), |d| d.render(&sources))
}

#[test]
fn every_standard_shader_compiles() {
    for name in stdlib::shader_names() {
        let unit = unit(stdlib::shader_source(name).expect("a source"));
        assert_eq!(&*unit.shaders[0].name, name);
        assert!(unit.warnings.is_empty(), "{name}: {:?}", unit.warnings);
    }
}

#[test]
fn the_camera_and_the_integrator_compile() {
    let mut sources = SourceMap::new();
    let unit = compile_library(&mut sources, &["__camera"], &FrontEndOptions::default())
        .unwrap_or_else(|d| panic!("{}", d.render(&sources)));
    let camera = unit.module.function(library::CAMERA).expect("the camera");
    assert_eq!(
        (camera.params.len(), camera.results.len()),
        (9, 2),
        "x, y, the place on the lens, whether anything is clipped and matte, the sample's pixel and number, and the start value of the output"
    );
    verify(&unit.module).expect("a valid module");
}

#[test]
fn the_two_programs_of_the_thesis_compile_as_written() {
    // Węgrzanowski 2006, §12.1 and §12.2.
    let main = include_str!("../../../../tests/thesis/main.sl");
    let depth = include_str!("../../../../tests/thesis/depth.sl");
    let lit = include_str!("../../../../tests/thesis/lit.sl");
    let inputs = |unit: &ShaderUnit| {
        let f = unit.module.function("s").expect("the core");
        f.params.iter().map(|p| p.name.to_string()).collect::<Vec<_>>()
    };
    // An opacity that nobody sets is the surface's own.
    assert_eq!(inputs(&unit(&format!("{depth}\n{main}"))), ["E", "Os", "P"]);
    assert_eq!(inputs(&unit(&format!("{lit}\n{main}"))), ["Cs", "I", "N", "Os", "P"]);
}

#[test]
fn all_errors_of_a_file_are_told_with_their_lines() {
    let text = errors(
        "surface s(float Kd = 1) {\n  Ci = fooo(P);\n  float x = P;\n  Oi = Kb;\n  x = \"a\" + 1;\n}\nfloat f(float x) { return (1,2,3); }",
    );
    for part in ["t.sl:2:8", "t.sl:3:13", "t.sl:4:8", "t.sl:5:7", "t.sl:7:27"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(text.contains("unknown function `fooo`") && text.contains("did you mean `Kd`?"), "{text}");
}

/// Evaluates `f` of a source on float and triple arguments.
fn run(source: &str, args: &[shadewright_ir::Const]) -> Vec<shadewright_ir::Const> {
    let unit = unit(source);
    let mut world = shadewright_ir::eval::EmptyWorld;
    shadewright_ir::eval::eval(&unit.module, "f", args, &mut world, shadewright_ir::eval::Limits::default())
        .expect("a value")
}

#[test]
fn chains_of_a_hundred_thousand_operators_compile_and_run() {
    let source = format!("float f(float a) {{ return {}; }}", vec!["a"; 100_000].join("+"));
    assert_eq!(run(&source, &[shadewright_ir::Const::F32(1.0)]), [shadewright_ir::Const::F32(100_000.0)]);
    let test = vec!["g(a) > 0"; 5_000].join(" && ");
    let source = format!("float f(float a) {{ if ({test}) return 1; return 2; }} float g(float x) {{ return x; }}");
    assert_eq!(run(&source, &[shadewright_ir::Const::F32(1.0)]), [shadewright_ir::Const::F32(1.0)]);
}

#[test]
fn a_function_that_calls_itself_on_every_path_is_refused() {
    let text = errors("float f(float x) { return x < 0 ? f(x + 1) : f(x - 1); }");
    assert!(text.contains("unconditional recursion of `f`") && text.contains("reached on every path"), "{text}");
    let text = errors("float f(float x) { return g(x); } float g(float x) { return f(x); }");
    assert!(text.contains("through `g`"), "{text}");
    unit("float f(float x) { if (x < 0) return 0; return f(x - 1); }");
    unit("float f(float x) { while (1) { x += 1; } return x; }");
}

#[test]
fn an_ambiguous_call_lists_its_candidates() {
    let text =
        errors("float g(point p) { return 1; } float g(normal n) { return 2; } float f(vector v) { return g(v); }");
    assert!(text.contains("ambiguous"), "{text}");
    assert!(text.contains("candidate: float g(point)") && text.contains("candidate: float g(normal)"), "{text}");
}

#[test]
fn mistakes_are_explained() {
    for (source, part) in [
        ("float f(color c) { return c; }", "`comp(…, 0)`"),
        ("float f(color c; vector v) { if (c > v) return 1; return 0; }", "compare lengths or components"),
        ("float f(string s) { return s + 1; }", "no operator `+` for `string` and `float`"),
        ("float f(float x) { return normalizes(x); }", "did you mean `normalize`?"),
        ("light l() { illuminance(P) { } }", "surface and volume shaders"),
        ("surface s() { illuminate(P) { } }", "light shaders only"),
        ("float f() { break; }", "`break` outside of a loop"),
        ("float f(float x) { while (x > 0) { break 2; } return x; }", "no such loop"),
        ("surface s() { return 1; }", "a shader returns no value"),
        ("float f() { return; }", "needs a value of type float"),
        ("void g(output float x) { x = 1; } float f() { g(1 + 2); return 0; }", "must be a variable"),
        ("color f() { return color \"marble\" (1,2,3); }", "unknown color system \"marble\""),
        ("float f(matrix m) { return m + 2; }", "no operator `+` for `matrix` and `float`"),
        ("float f(matrix m) { return m * 2; }", "expected a float, found a matrix"),
        ("point f(matrix m; point p) { return m * p; }", "`transform` applies a matrix"),
        ("float f(float x) { return pow(x); }", "candidate: float pow(float, float)"),
        ("float f(float x) { return (x > 0) ? x : \"a\"; }", "two values of one type, not a float and a string"),
        ("float f(float x) { 1 = x; }", "the left side of `=` must be a variable"),
        ("", "defines no shader and no function"),
    ] {
        let text = errors(source);
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn a_shader_tells_its_parameters_and_their_defaults() {
    let unit = unit(stdlib::shader_source("spotlight").expect("a source"));
    let shader = &unit.shaders[0];
    assert_eq!((shader.kind, shader.light), (ShaderKind::Light, Some(LightKind::Positional)));
    let names: Vec<&str> = shader.params.iter().map(|p| &*p.name).collect();
    assert_eq!(names[..3], ["intensity", "lightcolor", "from"]);
    let from = unit.module.function("spotlight.default.from").expect("a default");
    let inputs: Vec<&str> = from.params.iter().map(|p| &*p.name).collect();
    assert_eq!(inputs, ["space.shader.o", "space.shader.x", "space.shader.y", "space.shader.z"]);
    let core = unit.module.function("spotlight").expect("a core");
    let results: Vec<&str> = core.results.iter().map(|r| &*r.name).collect();
    assert_eq!(results, ["L", "Cl", "Ol"]);
    assert_eq!(&*core.params.last().expect("parameters").name, "Ps");
}

#[test]
fn the_deepest_nesting_that_parses_also_compiles() {
    let cases = [("g(", ")", 250), ("-(1+", ")", 120), ("a > 0 ? 1 : (", ")", 120), ("float (", ")", 120)];
    for (open, close, depth) in cases {
        let source = format!(
            "float g(float x) {{ return x; }} float f(float a) {{ return {}a{}; }}",
            open.repeat(depth),
            close.repeat(depth)
        );
        unit(&source);
    }
}

#[test]
fn illuminance_sums_the_lights_that_are_not_blocked() {
    use shadewright_ir::eval::{Hit, Limits, World, eval};
    use shadewright_ir::{Const, FunctionBuilder, FunctionKind, Type};
    /// Blocks rays that go down.
    struct Floor;
    impl World for Floor {
        fn occluded(&mut self, _: [f32; 3], direction: [f32; 3], _: [f32; 4]) -> bool {
            direction[1] < 0.0
        }
        fn trace(&mut self, _: [f32; 3], direction: [f32; 3], _: [f32; 4]) -> Hit {
            if direction[1] < 0.0 { Hit { uvts: [0.0, 0.0, 1.0, 0.0], ..Hit::MISS } } else { Hit::MISS }
        }
    }
    let mut unit = unit(
        "color f(point P; normal N) {
            color sum = 0;
            illuminance (P, N, PI / 2) { if (comp(Cl, 0) > 90) continue; sum += Cl * (L . N); if (comp(sum, 0) > 1000) break; }
            return sum;
        }",
    );
    // Twenty lights, so two batches: light i shines with color i, even ones from above, odd ones
    // from below.
    let mut count = FunctionBuilder::new(Intrinsic::LightCount, FunctionKind::Function);
    count.result("return", Type::U32);
    let twenty = count.u32(20);
    count.ret(vec![twenty]);
    let mut sample = FunctionBuilder::new(Intrinsic::LightSample, FunctionKind::Function);
    let i = sample.param("i", Type::U32);
    sample.param("Ps", Type::Vec3);
    sample.param("Ns", Type::Vec3);
    for (name, ty) in [("L", Type::Vec3), ("Cl", Type::Vec3), ("t_max", Type::F32)] {
        sample.result(name, ty);
    }
    let (one, far, up) = (sample.u32(1), sample.f32(1e30), sample.f32(2.0));
    let odd = sample.iand(i, one);
    let odd = sample.to_float(odd);
    let four = sample.f32(4.0);
    let down = sample.mul(odd, four);
    let y = sample.sub(up, down);
    let zero = sample.f32(0.0);
    let l = sample.compose(&[zero, y, zero]);
    let color = sample.to_float(i);
    let color = sample.splat(color, Type::Vec3);
    sample.ret(vec![l, color, far]);
    unit.module.functions.extend([count.finish(), sample.finish()]);
    let core = unit.module.function("f").expect("the function");
    assert_eq!(core.params.len(), 3, "the declared ones and the surface's own normal");
    let v = Const::Vec3;
    let args = [v([0.0; 3]), v([0.0, 1.0, 0.0]), v([0.0, 1.0, 0.0])];
    let result = eval(&unit.module, "f", &args, &mut Floor, Limits::default()).expect("a color");
    // The even lights 0 to 18 sum to 90; L · N is 2.
    assert_eq!(result, [v([180.0; 3])]);
}

#[test]
fn transcendental_functions_are_close_to_the_exact_values() {
    use shadewright_ir::Const;
    use shadewright_ir::eval::{EmptyWorld, Limits, eval};
    type Exact = fn(f64) -> f64;
    // Range, and the largest error: relative for values above 1, else absolute.
    let cases: [(&str, Exact, f64, f64, f64); 8] = [
        ("sin(x)", f64::sin, -100.0, 100.0, 1e-6),
        ("cos(x)", f64::cos, -100.0, 100.0, 1e-6),
        ("asin(x)", f64::asin, -1.0, 1.0, 1e-6),
        ("acos(x)", f64::acos, -1.0, 1.0, 1e-6),
        ("atan(x)", f64::atan, -50.0, 50.0, 1e-6),
        ("exp(x)", f64::exp, -80.0, 80.0, 1e-6),
        ("log(x)", f64::ln, 1e-3, 1e4, 1e-6),
        ("pow(x, 2.5)", |x| x.powf(2.5), 0.0, 50.0, 3e-6),
    ];
    for (call, exact, low, high, bound) in cases {
        let unit = unit(&format!("float f(float x) {{ return {call}; }}"));
        for i in 0..=300 {
            let x = (low + (high - low) * i as f64 / 300.0) as f32;
            let result =
                eval(&unit.module, "f", &[Const::F32(x)], &mut EmptyWorld, Limits::default()).expect("a value");
            let got = result[0].floats().expect("a float")[0] as f64;
            let wanted = exact(x as f64);
            assert!((got - wanted).abs() <= bound * wanted.abs().max(1.0), "{call} at {x}: {got}, exactly {wanted}");
        }
    }
}

#[test]
fn arrays_that_are_used_wrongly_are_told_with_what_to_write_instead() {
    let of = |body: &str| {
        errors(&format!("float g(float a[2]) {{ return a[0]; }}\nfloat f(float x) {{\n{body}\nreturn 0; }}"))
    };
    for (body, message) in [
        ("float a;\nreturn a[0];", "`a` is a float and cannot be indexed"),
        ("float a[2];\nreturn a;", "expected a float, found a float[2]"),
        ("float a[2];\nreturn a[0][1];", "of type float[2] and does not take 2 indices"),
        ("float a[2];\na += 1;", "compound assignment to the array `a`"),
        ("float a[2] = {1, 2, 3};", "3 values are too many for float[2]"),
        ("float a[2] = 1;", "expected float[2], found float"),
        ("float a[3];\nreturn g(a);", "no function `g` takes (float[3])"),
        ("float a[x];", "the length of an array must be a constant"),
        ("float a[0];", "must be from 1 to 1024"),
        ("float a[2]; point b[2];\na = b;", "expected float[2], found point[2]"),
        ("matrix m = 1;\nreturn m[1];", "an element of a matrix takes two indices"),
        ("if (arraylength(x) > 1) return 1;", "unknown function `arraylength`"),
    ] {
        let text = of(body);
        assert!(text.contains(message), "{body}: {text}");
    }
    let unit = unit("float f() { float a[2] = {1, 2}; return a[2]; }");
    assert!(unit.warnings.iter().any(|d| d.message.contains("`a` has 2 elements, 0 to 1")));
}

#[test]
fn errors_in_a_function_for_arrays_of_any_length_are_told_once_and_also_when_nobody_calls_it() {
    let source = "float g(float a[]) { return b; }\n";
    let used = "float f() { float x[1], y[2]; return g(x) + g(y); }";
    for text in [errors(source), errors(&format!("{source}{used}"))] {
        assert_eq!(text.matches("unknown variable `b`").count(), 1, "{text}");
    }
}

#[test]
fn an_array_parameter_of_a_shader_is_a_parameter_of_the_core_for_each_element() {
    let unit =
        unit("surface s(float a[3] = {1, 2, 3}; color c[2]; output string t[1] = {\"x\"}) { Ci = c[1] * a[2]; }");
    let core = unit.module.function("s").expect("the core");
    let names: Vec<&str> = core.params.iter().map(|p| &*p.name).collect();
    assert_eq!(names, ["a.0", "a.1", "a.2", "c.0", "c.1", "t.0", "Os"]);
    let defaults = unit.module.function("s.default.a").expect("the default");
    assert_eq!(defaults.results.len(), 3);
    assert_eq!(unit.shaders[0].params[1].ty.to_string(), "color[2]");
}

#[test]
fn no_two_functions_of_the_library_have_one_name() {
    let mut sources = SourceMap::new();
    let ast = library_ast(&mut sources).expect("the library is right");
    let program = Program::new(&ast, 0);
    let written = program.functions.iter().map(|f| f.ir_name.to_string());
    let built = [
        stdlib::noise::functions(),
        stdlib::bits::functions(),
        stdlib::sampling::functions(),
        stdlib::texture::functions(),
    ];
    let mut names: Vec<String> = written.chain(built.concat().iter().map(|f| f.name.to_string())).collect();
    names.sort_unstable();
    let twice: Vec<&String> = names.windows(2).filter(|w| w[0] == w[1]).map(|w| &w[0]).collect();
    assert!(twice.is_empty(), "{twice:?}");
}
