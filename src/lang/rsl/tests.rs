use super::*;
use crate::ir::verify::verify;

fn compile_text(source: &str) -> (Result<Unit, Diagnostics>, SourceMap) {
    let mut sources = SourceMap::new();
    let file = sources.add("t.sl", None, source);
    (compile(&mut sources, file, &Options::default()), sources)
}

fn unit(source: &str) -> Unit {
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
    }
}

#[test]
fn the_camera_and_the_integrator_compile() {
    let mut sources = SourceMap::new();
    let unit = compile_library(&mut sources, &["__camera"]).unwrap_or_else(|d| panic!("{}", d.render(&sources)));
    let camera = unit.module.function(stdlib::CAMERA_FUNCTION).expect("the camera");
    assert_eq!((camera.params.len(), camera.results.len()), (3, 2), "x, y and the start value of the output");
    verify(&unit.module).expect("a valid module");
}

#[test]
fn the_two_programs_of_the_thesis_compile_as_written() {
    // Węgrzanowski 2006, §12.1 and §12.2.
    let main = "color m(point P) {
        point orig = (0.0, 0.0, 0.0);
        vector dir0 = (0.0, 0.0, 1.0);
        vector diri = (2.0, -2.0, 0.0);
        vector s = (0.5, 0.5, 0.0);
        vector dir = normalize(dir0 + (P - s) * diri);

        return trace(orig, dir);
    }";
    let depth = "surface s() {
        float dist = distance(P, E);
        float g = 1.8 - dist;
        float rb = 1.0 - g;
        Ci = (rb, g, rb);
    }";
    let lit = "surface s() {
        vector norm = N;
        if (norm . I > 0)
            norm = -norm;

        vector light_source = vector(-0.2, 0.5, 0.0);
        vector hit_to_light = normalize(light_source - P);
        float uf = clamp(norm . hit_to_light, 0, 1);
        float i  = clamp(0.6 * uf + 0.4, 0, 1);
        Ci = Cs * i;
    }";
    let inputs = |unit: &Unit| {
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
fn run(source: &str, args: &[crate::ir::Const]) -> Vec<crate::ir::Const> {
    let unit = unit(source);
    let mut world = crate::ir::eval::EmptyWorld;
    crate::ir::eval::eval(&unit.module, "f", args, &mut world, crate::ir::eval::Limits::default()).expect("a value")
}

#[test]
fn chains_of_a_hundred_thousand_operators_compile_and_run() {
    let source = format!("float f(float a) {{ return {}; }}", vec!["a"; 100_000].join("+"));
    assert_eq!(run(&source, &[crate::ir::Const::F32(1.0)]), [crate::ir::Const::F32(100_000.0)]);
    let test = vec!["g(a) > 0"; 5_000].join(" && ");
    let source = format!("float f(float a) {{ if ({test}) return 1; return 2; }} float g(float x) {{ return x; }}");
    assert_eq!(run(&source, &[crate::ir::Const::F32(1.0)]), [crate::ir::Const::F32(1.0)]);
}
