//! Tests of the library's mathematics: how exact it is against double precision, which the page
//! about the language states, and random numbers, whose functions give more than their value.

use shadewright::ir::abi::EntryPoint;

use shadewright::ir::passes::Pipeline;
use shadewright::ir::{Const, FunctionKind};
use shadewright::lang::FrontEndOptions;
use shadewright::lang::rsl::compile;
use shadewright::render::call::{FunctionRunner, Rpu};
use shadewright::text::source::SourceMap;

/// Arguments of a test, evenly spread over a range.
const SAMPLES: u32 = 4000;

/// The largest error of a function of one float over a range: relative for values above 1, else
/// absolute.
fn largest_error(call: &str, range: [f32; 2], exact: fn(f64) -> f64) -> (f64, f32) {
    let points: Vec<f32> =
        (0..=SAMPLES).map(|i| range[0] + (range[1] - range[0]) * (i as f32 / SAMPLES as f32)).collect();
    errors(call, &points, exact, |e, of| e / of.abs().max(1.0))
}

/// The same for arguments from one power of ten to another, and relative errors.
fn largest_relative_error(call: &str, powers: [f32; 2], exact: fn(f64) -> f64) -> (f64, f32) {
    let power = |i: u32| powers[0] + (powers[1] - powers[0]) * (i as f32 / SAMPLES as f32);
    let points: Vec<f32> = (0..=SAMPLES).map(|i| 10f64.powf(power(i).into()) as f32).collect();
    errors(call, &points, exact, |e, of| e / of.abs())
}

/// The first word of what `f` gives for each of some arguments, on the RPU.
fn results(source: String, arguments: &[Vec<Const>]) -> Vec<f32> {
    let mut sources = SourceMap::new();
    let file = sources.add("t.sl", None, source);
    let mut module = compile(&mut sources, file, &FrontEndOptions::default()).expect("it compiles").module;
    module.function_mut("f").expect("there is f").kind = FunctionKind::Entry(EntryPoint::Other);
    Pipeline::default().run(&mut module, &mut ()).expect("the passes run");
    let results = Rpu::default().run(&module, "f", arguments).expect("it runs");
    results.iter().map(|words| f32::from_bits(words[0])).collect()
}

fn errors(call: &str, points: &[f32], exact: fn(f64) -> f64, measure: fn(f64, f64) -> f64) -> (f64, f32) {
    let arguments: Vec<Vec<Const>> = points.iter().map(|x| vec![Const::F32(*x)]).collect();
    let results = results(format!("float f(float x) {{ return {call}; }}"), &arguments);
    let errors = points.iter().zip(&results).map(|(x, got)| {
        let expected = exact(f64::from(*x));
        (measure((f64::from(*got) - expected).abs(), expected), *x)
    });
    errors.max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are points")
}

#[track_caller]
fn within(what: &str, (error, at): (f64, f32), most: f64) {
    assert!(error <= most, "{what} is off by {error:.2e} at {at}; {most:.0e} is stated");
}

#[test]
fn trigonometric_functions_are_as_exact_as_is_stated() {
    for range in [[-7.0, 7.0], [-12_868.0, 12_868.0]] {
        within("sin", largest_error("sin(x)", range, f64::sin), 2e-7);
        within("cos", largest_error("cos(x)", range, f64::cos), 2e-7);
    }
    within("tan", largest_error("tan(x)", [-1.5, 1.5], f64::tan), 5e-7);
    within("asin", largest_error("asin(x)", [-1.0, 1.0], f64::asin), 4e-7);
    within("acos", largest_error("acos(x)", [-1.0, 1.0], f64::acos), 4e-7);
    within("atan", largest_error("atan(x)", [-50.0, 50.0], f64::atan), 4e-7);
    within("atan", largest_error("atan(x, -2)", [-9.0, 9.0], |x| x.atan2(-2.0)), 4e-7);
}

#[test]
fn exponentials_and_logarithms_are_as_exact_as_is_stated() {
    within("exp", largest_relative_error("exp(x)", [-3.0, 1.94], f64::exp), 3e-7);
    within("exp", largest_relative_error("exp(-x)", [-3.0, 1.94], |x| (-x).exp()), 3e-7);
    within("exp2", largest_relative_error("exp2(x)", [-3.0, 2.1], f64::exp2), 1e-7);
    within("exp2", largest_relative_error("exp2(-x)", [-3.0, 2.1], |x| (-x).exp2()), 1e-7);
    within("log", largest_error("log(x)", [0.5, 4.0], f64::ln), 2e-7);
    within("log2", largest_relative_error("log2(x)", [-37.9, 38.5], f64::log2), 2e-7);
    let log = |e: (f64, f32)| within("log", e, 2e-7);
    log(largest_relative_error("log(x)", [-37.9, -1.0], f64::ln));
    log(largest_relative_error("log(x)", [1.0, 38.5], f64::ln));
    within("pow", largest_relative_error("pow(x, 1.7)", [-5.8, 5.8], |x| x.powf(1.7f32.into())), 5e-6);
    within("pow", largest_relative_error("pow(x, -3)", [-3.3, 3.3], |x| x.powi(-3)), 5e-6);
}

/// The result of `f` where its random numbers start at `state`.
fn with_state(source: &str, state: f32) -> f32 {
    results(source.to_string(), &[vec![Const::F32(state)]])[0]
}

#[test]
fn random_numbers_differ_and_lie_in_their_range() {
    let source = "float f() {
        float a = random();
        float b = random();
        color c = random();
        point p = random();
        float differ = a != b && comp(c, 0) != b && comp(c, 0) != comp(c, 1) && comp(c, 2) != xcomp(p) ? 1 : 0;
        return differ == 1 && a >= 0 && a < 1 && comp(c, 2) < 1 && zcomp(p) < 1 ? 1 : 0;
    }";
    for state in [0.0, 5.0, 16_777_215.0] {
        assert_eq!(with_state(source, state), 1.0, "from {state}");
    }
}

#[test]
fn random_numbers_fill_their_range_evenly() {
    let moment = |of: &str| {
        let source = format!(
            "float f() {{ float i, s = 0; for (i = 0; i < 4000; i += 1) {{ float x = random(); s += {of}; }} return s / 4000; }}"
        );
        with_state(&source, 77.0)
    };
    // Mean 1/2 and mean square 1/3, within three standard deviations of 4000 numbers; one in ten
    // below a tenth.
    assert!((moment("x") - 0.5).abs() < 0.014, "{}", moment("x"));
    assert!((moment("x * x") - 1.0 / 3.0).abs() < 0.015, "{}", moment("x * x"));
    assert!((moment("x < 0.1 ? 1 : 0") - 0.1).abs() < 0.015, "{}", moment("x < 0.1 ? 1 : 0"));
}

#[test]
fn noise_deviates_as_far_in_all_dimensions() {
    // Places that fill cells evenly, far from each other (Roberts, "The Unreasonable Effectiveness
    // of Quasirandom Sequences").
    let steps = [41.856_675, 29.733_892, 21.549_7, 15.618_034].map(Const::F32);
    let declarations = "float a, b, c, d";
    let statistics = |call: &str, of: &str| {
        let source = format!(
            "float f({declarations}) {{
                float i, s = 0;
                for (i = 0; i < 6000; i += 1) {{
                    float x = mod(i * a, 8191), y = mod(i * b, 8179), z = mod(i * c, 8171), w = mod(i * d, 8167);
                    float v = {call};
                    s += {of};
                }}
                return s / 6000;
            }}"
        );
        f64::from(results(source, &[steps.to_vec()])[0])
    };
    let calls = [
        "noise(x)",
        "noise(x, y)",
        "noise(point (x, y, z))",
        "noise(point (x, y, z), w)",
        "comp(color noise(point (x, y, z)), 1)",
        "pnoise(x, 8191)",
        "pnoise(x, y, 400, 300)",
        "pnoise(point (x, y, z), point (400, 300, 200))",
    ];
    for call in calls {
        let (mean, square) = (statistics(call, "v"), statistics(call, "(v - 0.5) * (v - 0.5)"));
        assert!((mean - 0.5).abs() < 0.006, "{call}: a mean of {mean}");
        assert!((square.sqrt() - 0.12).abs() < 0.004, "{call}: a deviation of {}", square.sqrt());
        let clamped = statistics(call, "v <= 0 || v >= 1 ? 1 : 0");
        assert!(clamped < 1e-3, "{call}: {clamped} of all values are clamped");
    }
}

#[test]
fn a_called_function_goes_on_with_the_random_numbers() {
    assert_eq!(
        with_state("float g() { return random(); } float f() { float a = g(); return a == g() ? 1 : 0; }", 5.0),
        0.0
    );
}

#[test]
fn a_shader_starts_its_random_numbers_by_its_position() {
    let mut sources = SourceMap::new();
    let file = sources.add("t.sl", None, "surface s() { Ci = random(); } light l() { solar() Cl = random(); }");
    let unit = compile(&mut sources, file, &FrontEndOptions::default()).expect("it compiles");
    let inputs = |name: &str| -> Vec<String> {
        let core = unit.module.function(name).expect("the core");
        core.params.iter().map(|p| p.name.to_string()).collect()
    };
    assert_eq!(inputs("s"), ["Os", "P"]);
    assert!(inputs("l").contains(&"Ps".to_string()), "{:?}", inputs("l"));
}
