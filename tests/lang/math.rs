//! The transcendental functions of the standard library: their coefficients are those of the fit,
//! and their errors are within what docs/math.md states.
//!
//! `SHADEWRIGHT_MATH_EVERY=1` measures every float of the folded domains; a thinned set is measured
//! otherwise.

#[path = "../../benches/math/fit.rs"]
#[allow(dead_code, reason = "the benchmark prints more of it")]
mod fit;
#[path = "../../benches/math/functions.rs"]
#[allow(dead_code, reason = "the benchmark prints more of it")]
mod functions;
#[path = "../../benches/math/measure.rs"]
#[allow(dead_code, reason = "the benchmark measures costs, too")]
mod measure;

use functions::{EXACT, FAST, FUNCTIONS};
use shadewright::lang::stdlib::SOURCES;

/// Places at which a polynomial is compared with its function.
const SAMPLES: u32 = 1 << 18;

/// The text of a function of the library.
fn text_of(file: &str, holder: &str) -> &'static str {
    let source = SOURCES.iter().find(|(name, _)| *name == file).expect("the file").1;
    let name = holder.split('.').next().expect("a name");
    // `log` of one argument is defined before that of two.
    let start = source.find(&format!("float {name}(")).unwrap_or_else(|| panic!("`{name}` is not in {file}"));
    let rest = &source[start..];
    &rest[..rest.find("}\n").map_or(rest.len(), |end| end + 2)]
}

/// The constants of the Horner scheme of `p` in a text, from the highest order on.
fn horner(text: &str) -> Vec<f32> {
    let of_line = |line: &str| {
        let line = line.trim().trim_end_matches(';');
        let start = line.strip_prefix("float p = ");
        let next = || line.strip_prefix("p = p * z ").or_else(|| line.strip_prefix("p = p * r "));
        start.or_else(next).map(|number| number.replace("+ ", "").replace("- ", "-").parse().expect("a number"))
    };
    text.lines().filter_map(of_line).collect()
}

/// The number of units of the last place between two floats of one sign.
fn steps(a: f32, b: f32) -> u32 {
    a.to_bits().abs_diff(b.to_bits())
}

#[test]
fn the_librarys_coefficients_are_those_of_the_fit() {
    for exact in &EXACT {
        let fitted: Vec<f32> = exact.form.fit().into_iter().rev().collect();
        let held = horner(text_of("exact.sl", exact.holder));
        // `exp` writes the term of first order as a number, too.
        assert!(held.len() >= fitted.len(), "{}: {held:?}", exact.holder);
        assert!(held[fitted.len()..].iter().all(|&c| c == 1.0), "{}: {held:?}", exact.holder);
        // Another mathematical library may round a coefficient to the float beside.
        let is_near = fitted.iter().zip(&held).all(|(a, b)| steps(*a, *b) <= 1);
        assert!(is_near, "{}: the fit gives {fitted:?}, the library has {held:?}", exact.holder);
    }
}

#[test]
fn the_cubics_of_the_fast_set_are_hermites() {
    for fast in &FAST {
        let text = text_of("fast.sl", fast.holder);
        for c in fast.coefficients() {
            let shown = if c.fract() == 0.0 { format!("{}", c.abs()) } else { format!("{:?}", c.abs()) };
            assert!(text.contains(&shown), "{}: {shown} is not in\n{text}", fast.holder);
        }
    }
}

#[test]
fn polynomials_are_as_exact_as_single_precision() {
    for exact in &EXACT {
        let coefficients = horner(text_of("exact.sl", exact.holder));
        let coefficients: Vec<f32> = coefficients[..exact.form.terms].iter().rev().copied().collect();
        let error = exact.form.largest_error(&coefficients, SAMPLES);
        assert!(error < (-24f64).exp2(), "{}: {error:.2e}", exact.holder);
        // One term less would not do.
        let shorter = fit::Form { terms: exact.form.terms - 1, ..exact.form };
        let error = shorter.largest_error(&shorter.fit(), SAMPLES);
        assert!(error > (-25f64).exp2(), "{}: {error:.2e} with one term less", exact.holder);
    }
}

#[test]
fn fast_functions_have_the_value_and_slope_at_the_ends_of_their_domains() {
    for fast in &FAST {
        let c = fit::hermite(fast.ends);
        for [x, value, slope] in fast.ends {
            let (p, derivative) = (c[0] + x * (c[1] + x * (c[2] + x * c[3])), c[1] + x * (2.0 * c[2] + x * 3.0 * c[3]));
            assert!(
                (p - value).abs() < 1e-12 && (derivative - slope).abs() < 1e-12,
                "{}: {p} {derivative}",
                fast.holder
            );
        }
    }
}

#[test]
fn errors_of_single_precision_are_within_what_is_stated() {
    let every = std::env::var("SHADEWRIGHT_MATH_EVERY").map_or(4093, |n| n.parse().expect("a number"));
    for function in &FUNCTIONS {
        let errors = measure::errors(function, function.call, every).expect("it runs");
        assert!(errors.count > 1000, "{}: {} arguments", function.name, errors.count);
        assert!(errors.ulps <= function.ulps, "{}: {errors:?}", function.name);
        let fast = measure::errors(function, &measure::fast(function.call), every).expect("it runs");
        assert!(fast.visible <= 0.11, "{}: {fast:?}", function.name);
    }
}

/// The command's renders of the scene with many transcendental functions.
#[cfg(feature = "gpu")]
mod backends {
    use serde_json::Value;
    use shadewright::image::Image;
    use std::path::Path;
    use std::process::{Command, Output};

    const SCENE: &str = "benches/math/scene/waves.rib";

    fn shadewright(arguments: &[&str]) -> Output {
        let output = Command::new(env!("CARGO_BIN_EXE_shadewright"))
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn image(folder: &Path, backend: &str, math: &str) -> Image {
        let path = folder.join(format!("{backend}-{math}.exr"));
        let out = path.to_str().expect("a path");
        shadewright(&["render", SCENE, "-o", out, "--size", "96x96", "--backend", backend, "--math", math]);
        shadewright::image::file::read(&path).expect("an image")
    }

    #[test]
    fn both_back_ends_compute_the_same_unless_the_gpus_own_functions_are_asked_for() {
        for math in ["exact", "fast"] {
            let output = shadewright(&["compare", SCENE, "--size", "96x96", "--math", math, "--json"]);
            let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            let difference = report["report"]["rmse"].as_f64().expect("a number");
            assert!(difference < 2e-4, "--math {math}: {difference:.1e}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let [exact, native] = ["exact", "native"].map(|math| image(folder.path(), "rpu", math));
        assert!(exact == native, "the RPU has no functions of its own");
        let images = ["exact", "fast", "native"].map(|math| image(folder.path(), "gpu", math));
        assert!(images[0] != images[1] && images[0] != images[2], "the GPU takes no notice");
    }
}
