//! Programs that are specialized for a scene: the same image, less code, and code that follows an
//! edit of what was constant.

use shadewright::image::file as image_file;
use shadewright::program::{Program, Specialize};
use shadewright::project::{Outcome, Project, ProjectOptions, ProjectState, Source};
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Renderer};
use shadewright::scene::ParamValue;
use std::fs;
use std::path::Path;

const MODES: [&str; 4] = ["types", "none", "constants", "all"];

/// A choice, a loop and calls that parameters decide.
const SHADER: &str = "
float fold(float x; float times) { float i, y = x; for (i = 0; i < times; i += 1) y = abs(y - 0.4) * 1.5; return y; }
surface folded(uniform float times = 3, style = 1; color tint = color(1, 0.5, 0.25); string name = \"a\")
{
    float f = fold(s + t, times);
    if (style == 1)
        f = mix(f, noise(8 * P), 0.5);
    else if (style == 2)
        f *= pow(abs(normalize(N) . normalize(I)), times);
    Ci = tint * f * (name == \"a\" ? 1 : 0.5) + diffuse(faceforward(normalize(N), I));
    Oi = 1;
}";

/// Two spheres of one shader, which have some parameters in common.
const SCENE: &str = "Format 24 24 1 PixelSamples 1 1 Projection \"orthographic\" ScreenWindow -2 2 -2 2 \
Translate 0 0 5 WorldBegin LightSource \"distantlight\" 1 \
Surface \"folded\" \"float style\" 2 \"string name\" \"b\" \
AttributeBegin Translate -1 0 0 Sphere 0.9 -0.9 0.9 360 AttributeEnd \
Surface \"folded\" \"float style\" 2 \"string name\" \"b\" \"color tint\" [0 0.9 0.3] \
Translate 1 0 0 Sphere 0.9 -0.9 0.9 360 WorldEnd\n";

fn write(folder: &Path) {
    fs::write(folder.join("folded.sl"), SHADER).expect("a writable folder");
    fs::write(folder.join("scene.rib"), SCENE).expect("a writable folder");
}

#[test]
fn a_program_is_compiled_once_and_found_on_disk_afterwards() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let cache = folder.path().join("cache");
    let render = |name: &str, mode: &str| {
        let args = ["render", "scene.rib", "-o", name, "--backend", "rpu", "--specialize", mode, "--size", "24x18"];
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_shadewright"));
        let output = command.args(args).current_dir(folder.path()).env("SHADEWRIGHT_CACHE", &cache).output();
        let output = output.expect("the program was built with the tests");
        assert!(output.status.success(), "{}", crate::common::stderr(&output));
        let files = fs::read_dir(&cache).expect("a folder").count();
        (image_file::read(&folder.path().join(name)).expect("an image").rgba, files)
    };
    let (first, one) = render("first.exr", "types");
    let (again, still_one) = render("again.exr", "types");
    let (other, two) = render("other.exr", "all");
    assert_eq!((one, still_one, two), (1, 1, 2));
    assert!(first == again && first == other);
    // What is damaged is compiled again.
    for entry in fs::read_dir(&cache).expect("a folder") {
        fs::write(entry.expect("a file").path(), "damaged").expect("a writable file");
    }
    assert!(render("mended.exr", "types").0 == first);
}

/// The colors of the image that a back end renders in a mode.
fn image(folder: &Path, backend: &str, mode: &str, scene: &str) -> Vec<[f32; 4]> {
    let name = format!("{backend}-{mode}.exr");
    let args =
        ["render", scene, "-o", &name, "--backend", backend, "--specialize", mode, "--spp", "1", "--size", "24x18"];
    let output = crate::common::shadewright(folder, &args);
    assert!(output.status.success(), "{}", crate::common::stderr(&output));
    image_file::read(&folder.join(name)).expect("an image").rgba
}

#[test]
fn an_image_has_the_same_bits_however_its_program_is_specialized() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let own = "scene.rib".to_string();
    let scenes = [
        "assets/rtsl/cornell.rib",
        "assets/rtsl/primitives.rib",
        "assets/scenes/primvars.rib",
        "assets/scenes/displaced.rib",
        "assets/scenes/instances.rib",
        "assets/scenes/showcase.rib",
        "assets/scenes/textures.rib",
    ];
    let of_repository = scenes.map(|scene| crate::common::repository(scene).to_string_lossy().into_owned());
    for scene in std::iter::once(own).chain(of_repository) {
        let [types, others @ ..] = MODES.map(|mode| image(folder.path(), "rpu", mode, &scene));
        for (other, mode) in others.iter().zip(&MODES[1..]) {
            assert!(types == *other, "{scene} {mode}");
        }
    }
}

#[test]
fn on_the_gpu_the_driver_may_round_products_with_constants_differently_and_nothing_else_differs() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let [types, others @ ..] = MODES.map(|mode| image(folder.path(), "gpu", mode, "scene.rib"));
    // What is known of the BVH changes the traversal kernel alone.
    let [none, bvh] = ["none", "bvh"].map(|facts| image(folder.path(), "gpu", facts, "scene.rib"));
    assert!(none == bvh);
    for other in others {
        let differences = types.as_flattened().iter().zip(other.as_flattened()).map(|(a, b)| (a - b).abs());
        assert!(differences.fold(0.0, f32::max) <= 4.0 * f32::EPSILON);
    }
}

/// A project of the scene, specialized so, and its state.
fn project(folder: &Path, specialize: Specialize) -> (Project, std::sync::Arc<ProjectState>) {
    write(folder);
    let mut project = Project::new(
        Source::File(folder.join("scene.rib")),
        ProjectOptions { specialize, ..ProjectOptions::default() },
    );
    let Outcome::Ready(state) = project.refresh() else { panic!("the scene opens") };
    (project, state)
}

fn instructions(program: &Program) -> usize {
    program.module.functions.iter().map(|f| f.inst_count()).sum()
}

#[test]
fn what_objects_have_in_common_goes_from_the_code_and_all_of_it_takes_more_entries() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = |specialize| project(folder.path(), specialize).1.program.clone();
    let [types, constants, all] = [Specialize::TYPES, Specialize::CONSTANTS, Specialize::ALL].map(of);
    assert_eq!([&types, &constants, &all].map(|p| p.surface_entries), [1, 1, 2]);
    // The branches that the style decides, and the noise of one of them, are gone.
    assert!(
        4 * instructions(&constants) < 3 * instructions(&types),
        "{} {}",
        instructions(&constants),
        instructions(&types)
    );
}

#[test]
fn an_edit_of_a_constant_changes_the_image() {
    let folder = tempfile::tempdir().expect("a folder");
    let images = [Specialize::TYPES, Specialize::CONSTANTS, Specialize::ALL].map(|specialize| {
        let (mut project, state) = project(folder.path(), specialize);
        let image = |state: &ProjectState| {
            let job = state.job(&state.view(), Sampling { strata: [1, 1], seed: 0 }, DEFAULT_BUDGET);
            RpuRenderer::new().render(&job, &|_| {}).expect("it renders").rgba
        };
        let before = image(&state);
        let surface = state.parameters.instances.iter().find(|i| i.shader == "folded").expect("the surface").id;
        let value = Some(ParamValue::Float(vec![1.0]));
        let Ok(Outcome::Ready(state)) = project.set_parameter(surface, "style", value) else { panic!("an edit") };
        let after = image(&state);
        assert_ne!(before, after, "{specialize:?}");
        after
    });
    assert!(images[0] == images[1] && images[0] == images[2]);
}

#[test]
fn the_ir_and_the_report_say_what_specialization_removes() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let emitted = |file: &str, mode: &str, form: &str| {
        let output =
            crate::common::shadewright(folder.path(), &["compile", file, "--specialize", mode, "--emit", form]);
        assert!(output.status.success(), "{}", crate::common::stderr(&output));
        String::from_utf8(output.stdout).expect("text")
    };
    // The default of `style` is 1.
    let ir = emitted("folded.sl", "constants", "ir");
    assert!(ir.starts_with("; specialized for constants: functions "), "{ir}");
    assert!(ir.contains("; gone: folded.sl:8: else if (style == 2)\n"), "{ir}");
    // The loop is unrolled, and the rest is IR that parses.
    assert!(ir.contains("loops 4 to 0"), "{ir}");
    let program: String = ir.lines().filter(|l| !l.starts_with(';')).map(|l| format!("{l}\n")).collect();
    assert!(shadewright::ir::parse(&program, shadewright::text::source::FileId(0)).is_ok());
    // In the scene it is 2.
    let report = emitted("scene.rib", "all", "report");
    assert!(report.contains("gone: folded.sl:6: if (style == 1)\n"), "{report}");
    assert!(!report.contains("folded.sl:9: "), "{report}");
    let nothing = emitted("scene.rib", "none", "report");
    assert!(!nothing.contains("gone: "), "{nothing}");
}

#[test]
fn a_recursion_that_does_not_end_is_reported_with_the_chain_of_its_calls() {
    let folder = tempfile::tempdir().expect("a folder");
    let shader = "float count(float n, x) { if (x > n) return count(n + 1, x); return n; }\n\
surface endless() { Ci = count(3, 10 * s); Oi = 1; }\n";
    fs::write(folder.path().join("endless.sl"), shader).expect("a writable folder");
    let args = ["compile", "endless.sl", "--specialize", "constants", "--emit", "report"];
    let output = crate::common::shadewright(folder.path(), &args);
    assert!(output.status.success(), "{}", crate::common::stderr(&output));
    let message = crate::common::stderr(&output);
    assert!(message.contains("warning: specialization of a recursion does not end"), "{message}");
    assert!(message.contains("endless.sl:1:"), "{message}");
    assert!(message.contains("count(n = 4.0)") && message.contains(" → "), "{message}");
}

#[test]
fn facts_are_chosen_one_by_one_and_an_unknown_one_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let types = image(folder.path(), "rpu", "types", "scene.rib");
    for facts in
        ["lights", "layouts", "parameters", "zeros", "light-parameters", "camera,image", "all,-zeros", "limits,bvh"]
    {
        assert!(types == image(folder.path(), "rpu", facts, "scene.rib"), "{facts}");
    }
    let output =
        crate::common::shadewright(folder.path(), &["scene.rib", "--render", "a.png", "--specialize", "lamps"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(crate::common::stderr(&output).contains("there is no fact `lamps`; modes are none, types"));
}
