//! Uniform code on the host: the same image with and without it, what runs when a parameter
//! changes, parameters that vary after all, and code that never ends.

use serde_json::Value;
use shadewright::program::UniformCounts;
use shadewright::project::{Outcome, Project, ProjectOptions, Source};
use shadewright::scene::ParamValue;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Uniform code of every kind: a loop, a choice, a matrix, functions, a value of each type.
const SHADER: &str = "
float power(float x; float n) { float i, y = 1; for (i = 0; i < n; i += 1) y *= x; return y; }
surface many(uniform float exponent = 5, gain = 0.7, angle = 0.3; color tint = color(1, 0.5, 0.25);
             point corner = point(0.1, 0.2, 0.3); varying float lift = 0.25; string name = \"a\"; matrix m = 2)
{
    uniform float octave, sum = 0, weight = 1;
    for (octave = 0; octave < exponent; octave += 1) {
        sum += weight;
        weight *= gain;
    }
    color c = tint;
    if (angle > 0.2)
        c = tint * cos(angle) + color(sin(angle), 0.1, 0.2);
    else
        c = tint / 3;
    vector axis = normalize(vector(cos(angle), sin(angle), gain));
    point moved = transform(m, corner * 2);
    float f = abs(axis . normalize(N)) * power(gain, exponent) + power(lift, 2) + pow(gain, 0.3) * s;
    if (xcomp(P) > 0)
        f += sqrt(gain) * t;
    Ci = c * f / sum + color(moved) * 0.05 * (name == \"a\" ? 1 : 2);
    Oi = 1;
}";

const SCENE: &str = "Format 24 24 1 PixelSamples 1 1 Projection \"orthographic\" ScreenWindow -1 1 -1 1 \
Option \"shading\" \"string current\" [\"world\"] Translate 0 0 5 WorldBegin \
Surface \"many\" PARAMETERS Sphere 0.9 -0.9 0.9 360 WorldEnd\n";

fn write(folder: &Path, shader: &str, scene: &str) {
    fs::write(folder.join("many.sl"), shader).expect("a writable folder");
    fs::write(folder.join("scene.rib"), scene).expect("a writable folder");
}

/// The pixels, as bits, of the image that a back end renders with these passes.
fn image(folder: &Path, backend: &str, passes: &str, scene: &str) -> Vec<[u32; 4]> {
    let name = format!("{backend}{passes}.exr");
    let args =
        ["render", scene, "-o", &name, "--backend", backend, "--passes", passes, "--spp", "1", "--size", "24x18"];
    let output = crate::common::shadewright(folder, &args);
    assert!(output.status.success(), "{}", crate::common::stderr(&output));
    crate::common::pixels(&folder.join(name))
}

#[test]
fn an_image_has_the_same_bits_wherever_uniform_code_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let variants = ["", "\"float exponent\" 0", "\"float angle\" 0.1 \"string name\" \"b\"", "\"float gain\" -0.5"];
    for parameters in variants {
        write(folder.path(), SHADER, &SCENE.replace("PARAMETERS", parameters));
        for backend in ["rpu", "gpu"] {
            let all = image(folder.path(), backend, "all", "scene.rib");
            assert_eq!(all, image(folder.path(), backend, "-uniform", "scene.rib"), "{backend} {parameters}");
        }
    }
}

#[test]
fn objects_of_classes_have_the_same_image_under_both_integrators() {
    let folder = tempfile::tempdir().expect("a folder");
    for scene in ["assets/rtsl/cornell.rib", "assets/pfman/languages.rib"] {
        let scene = crate::common::repository(scene);
        let scene = scene.to_str().expect("text");
        let all = image(folder.path(), "rpu", "all", scene);
        assert_eq!(all, image(folder.path(), "rpu", "-uniform", scene), "{scene}");
    }
}

#[test]
fn a_parameter_that_varies_over_the_primitive_is_computed_with_at_each_hit() {
    let folder = tempfile::tempdir().expect("a folder");
    let square = "PointsPolygons [4] [0 1 2 3] \"P\" [-1 -1 0  1 -1 0  1 1 0  -1 1 0] \"varying float lift\" [0 1 2 3]";
    let two = format!("{square} \"constant float gain\" [0.9]");
    for primitive in [square, &two] {
        let scene = SCENE.replace("PARAMETERS Sphere 0.9 -0.9 0.9 360", primitive);
        write(folder.path(), SHADER, &scene);
        let all = image(folder.path(), "rpu", "all", "scene.rib");
        assert_eq!(all, image(folder.path(), "rpu", "-uniform", "scene.rib"));
    }
}

#[test]
fn uniform_code_that_never_ends_is_ended_by_the_budget_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let shader = "surface many(float step = 0)
{
    float x = 0;
    while (x < 1)
        x += step;
    Ci = Cs * x * sqrt(x + 3);
}";
    write(folder.path(), shader, &SCENE.replace("PARAMETERS", ""));
    let args = ["render", "scene.rib", "-o", "image.png", "--backend", "rpu", "--spp", "1", "--size", "4x4"];
    let output = crate::common::shadewright(folder.path(), &args);
    let text = crate::common::stderr(&output);
    assert!(text.contains("many.sl:5:") && text.contains("budget"), "{text}");
    // With another step the loop ends, and the host runs it.
    write(folder.path(), shader, &SCENE.replace("PARAMETERS", "\"float step\" 0.25"));
    let output = crate::common::shadewright(folder.path(), &args);
    assert!(
        output.status.success() && !crate::common::stderr(&output).contains("budget"),
        "{}",
        crate::common::stderr(&output)
    );
}

/// A project of the scene, and a function that sets a number of the surface.
struct Edited {
    project: Project,
    _folder: tempfile::TempDir,
}

impl Edited {
    fn new() -> (Self, UniformCounts) {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), SHADER, &SCENE.replace("PARAMETERS", ""));
        let mut project = Project::new(Source::File(folder.path().join("scene.rib")), ProjectOptions::default());
        let Outcome::Ready(state) = project.refresh() else { panic!("the scene opens") };
        let counts = state.program.uniform;
        (Self { project, _folder: folder }, counts)
    }

    /// Sets a parameter; returns the counts of the uniform code that runs, and the shading data
    /// afterwards.
    fn set(&mut self, name: &str, value: f32) -> (UniformCounts, Arc<shadewright::program::MemoryImage>) {
        let state = self.project.state().expect("a state").clone();
        let surface = state.parameters.instances.iter().find(|i| i.shader == "many").expect("the surface");
        let value = Some(ParamValue::Float(vec![value]));
        match self.project.set_parameter(surface.id, name, value) {
            Ok(Outcome::Ready(state)) => (state.program.uniform, state.program.memory.clone()),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_change_runs_only_the_uniform_code_that_depends_on_it() {
    let (mut edited, first) = Edited::new();
    assert_eq!((first.shaders, first.reuses > 0), (1, true), "{first:?}");
    assert!(first.runs == first.stages && first.stages > 3, "{first:?}");
    // Nothing is computed from `lift` alone but its square.
    let (counts, raised) = edited.set("lift", 0.5);
    assert_eq!(counts.runs, 1, "{counts:?}");
    // Both color and direction depend on the angle, with different other parameters.
    let (counts, turned) = edited.set("angle", 1.25);
    assert!(counts.runs > 0 && counts.runs < first.stages, "{counts:?}");
    assert_ne!(raised, turned);
    // What was computed before is known.
    let (counts, back) = edited.set("angle", 0.3);
    assert_eq!((counts.runs, back), (0, raised), "{counts:?}");
}

#[test]
fn statistics_count_uniform_code() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), SHADER, &SCENE.replace("PARAMETERS", ""));
    let args =
        ["scene.rib", "--size", "8x8", "--spp", "1", "--render", "a.png", "--backend", "rpu", "--stats", "--json"];
    let output = crate::common::shadewright(folder.path(), &args);
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let uniform = &document["stats"]["uniform"];
    assert!(uniform["stages"].as_u64() > Some(0) && uniform["stages"] == uniform["runs"], "{uniform}");
    let off = crate::common::shadewright(folder.path(), &[&args[..], &["--passes", "-uniform"]].concat());
    let document: Value = serde_json::from_slice(&off.stdout).expect("one JSON document");
    assert_eq!(document["stats"]["uniform"]["stages"], 0);
}

#[test]
fn no_line_of_a_constructor_is_executed_for_samples() {
    let folder = tempfile::tempdir().expect("a folder");
    let classes = "class Stripes : rt_Material;
private color first;
private vec3 second;
private float scale;
void constructor(color a, vec3 b, float count) {
    float squared = count * count;
    first = a * sqrt(squared + 1.);
    second = normalize(b) * cos(count);
    scale = pow(squared, 0.25) * 3.;
}
void shade() {
    float band = fract(rt_HitPoint.x * scale);
    rt_SampleColor = mix(first, color(second), band);
}
";
    fs::write(folder.path().join("stripes.rtsl"), classes).expect("a writable folder");
    let scene = "Format 24 24 1 Projection \"orthographic\" ScreenWindow -1 1 -1 1 Translate 0 0 5 WorldBegin \
        Surface \"stripes.rtsl:Stripes\" \"color a\" [0.1 0.2 0.3] \"vector b\" [1 0.5 0.2] \"float count\" 2 \
        Sphere 0.9 -0.9 0.9 360 WorldEnd\n";
    fs::write(folder.path().join("scene.rib"), scene).expect("a writable folder");
    let executed = |passes: &str| -> Vec<u64> {
        let args = ["simulate", "scene.rib", "--size", "16x16", "--spp", "1", "--json", "--passes", passes];
        let output = crate::common::shadewright(folder.path(), &args);
        assert!(output.status.success(), "{}", crate::common::stderr(&output));
        let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
        let lines = document["lines"].as_array().expect("a list").clone();
        let names = lines.iter().filter_map(|l| l["name"].as_str());
        names.filter_map(|name| name.split_once("stripes.rtsl:")?.1.parse().ok()).collect()
    };
    let constructor = 5..=8u64;
    let (all, without) = (executed("all"), executed("-uniform"));
    assert!(without.iter().any(|line| constructor.contains(line)), "{without:?}");
    assert!(all.iter().any(|line| *line > 9) && !all.iter().any(|line| constructor.contains(line)), "{all:?}");
}
