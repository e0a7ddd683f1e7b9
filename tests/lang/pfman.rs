//! pfman as a user meets it: scenes that name its files, and the commands that take them.

use crate::common::{shadewright, stderr};
use shadewright::image::file;
use shadewright::ir::{HostFunction, HostFunctions};
use shadewright::project::{Outcome, Project, ProjectOptions, Source};
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Renderer};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const TOOLS: &str = "float half(float x) { return x / 2; }
surface red(uniform float amount = 1) { px_rc_co = {amount, half(amount), 0}; }
";

fn folder(scene: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: String| fs::write(folder.path().join(name), text).expect("it can be written");
    put("tools.pfman", TOOLS.to_string());
    let head = "Format 8 6 1\nPixelSamples 1 1\nProjection \"perspective\"\nTranslate 0 0 2\nWorldBegin\n";
    put("s.rib", format!("{head}{scene}\nSphere 1 -1 1 360\nWorldEnd\n"));
    folder
}

/// The middle pixel of the scene and what is said, rendered with more arguments.
fn rendered(folder: &Path, more: &[&str]) -> ([f32; 4], String) {
    let args = [&["s.rib", "--render", "s.exr", "--backend", "rpu"], more].concat();
    let output = shadewright(folder, &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let image = file::read(&folder.join("s.exr")).expect("an image");
    (image.rgba[3 * 8 + 4], stderr(&output))
}

#[test]
fn a_scene_names_a_shader_of_a_file_or_a_file_with_one() {
    for name in ["tools.pfman:red", "tools.pfman"] {
        let folder = folder(&format!("Surface \"{name}\" \"amount\" [0.5]"));
        let (pixel, said) = rendered(folder.path(), &["--strict"]);
        assert_eq!(pixel, [0.5, 0.25, 0.0, 1.0], "{said}");
    }
    // Opacity counts as in the other languages: both sides of the sphere are seen.
    let folder = folder("Opacity [0.5 0.5 0.5] Surface \"tools.pfman:red\"");
    assert_eq!(rendered(folder.path(), &["--strict"]).0, [0.75, 0.375, 0.0, 0.75]);
}

#[test]
fn what_is_wrong_is_said_and_the_scene_is_shown() {
    let folder = folder("Surface \"tools.pfman:blue\"");
    assert!(rendered(folder.path(), &[]).1.contains("it defines: surface red"));
    fs::write(folder.path().join("tools.pfman"), "surface red() { px_rc_co = 1 +; }").expect("it can be written");
    let said = rendered(folder.path(), &[]).1;
    assert!(said.contains("expected an expression") && said.contains("tools.pfman:1:31"), "{said}");
}

#[test]
fn commands_take_its_files() {
    let folder = folder("");
    let run = |args: &[&str]| {
        let output = shadewright(folder.path(), args);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output))
    };
    let (status, said) = run(&["compile", "tools.pfman", "--emit", "types"]);
    assert!(status == Some(0) && said.contains("x / 2"), "{said}");
    for form in ["ast", "ir", "rpu", "wgsl", "report"] {
        let (status, said) = run(&["compile", "tools.pfman", "--emit", form]);
        assert!(status == Some(0) && !said.is_empty(), "{form}: {said}");
    }
    let (status, said) = run(&["compile", "."]);
    assert!(status == Some(0) && said.contains("1 of 1 files compile"), "{said}");
    let (status, said) = run(&["run", "tools.pfman", "half", "3", "--on", "rpu"]);
    assert!(status == Some(0) && said.contains("1.5"), "{said}");
    fs::write(folder.path().join("a.sl"), "surface a() { Ci = 1; }").expect("it can be written");
    let (status, said) = run(&["compile", "a.sl", "--emit", "types"]);
    assert!(status == Some(2) && said.contains("RSL has none"), "{said}");
}

/// Calls functions of the host with a parameter, a constant and an array.
const HOST: &str = "extern \"C\" float tanh(float x);
extern \"C++\" uniform float[3] ramp(float x, float ends[3]);
surface s(uniform float k = 0.5) {
    uniform float ends[3] = {k, 2 * k, 1};
    px_rc_co = ramp(tanh(k), ends);
}
";

#[test]
fn a_program_registers_functions_that_shaders_call_with_their_parameters() {
    let ramp = HostFunction::new(&[1, 3], 3, |x| vec![x[1] * x[0], x[2] * x[0], x[3] * x[0]]);
    let folder = folder("Surface \"host.pfman:s\" \"k\" [0.25]");
    fs::write(folder.path().join("host.pfman"), HOST).expect("it can be written");
    let options = ProjectOptions { host: HostFunctions::default().with("ramp", ramp), ..ProjectOptions::default() };
    let mut project = Project::new(Source::File(folder.path().join("s.rib")), options);
    let state = match project.refresh() {
        Outcome::Ready(state) => state,
        other => panic!("{other:?}"),
    };
    let job = state.job(&state.view(), Sampling { strata: [1, 1], seed: 0 }, DEFAULT_BUDGET);
    let image = RpuRenderer::new().render(&job, &|_| {}).expect("an image");
    let tanh = 0.25f32.tanh();
    assert_eq!(image.rgba[3 * 8 + 4], [0.25 * tanh, 0.5 * tanh, tanh, 1.0]);
}

#[test]
fn what_the_host_does_not_have_or_cannot_know_is_an_error_with_its_line() {
    let folder = folder("Surface \"host.pfman:s\"");
    let said = |text: &str| {
        fs::write(folder.path().join("host.pfman"), text).expect("it can be written");
        rendered(folder.path(), &[]).1
    };
    let text = said(HOST);
    assert!(text.contains("the host has no function `ramp`") && text.contains("host.pfman:5"), "{text}");
    let varying = "extern \"C\" float tanh(float x);\nsurface s() {\n  px_rc_co = tanh(px_shader_texcoord[0]);\n}\n";
    let text = said(varying);
    assert!(text.contains("no function `tanh` takes (varying") && text.contains("host.pfman:3"), "{text}");
}
