//! Primitive variables, from RIB to the parameters of shaders: every class and type, on plain
//! objects and on instances.

use shadewright::image::Image;
use shadewright::program::{LinkOptions, Program, link};
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Job, Renderer, Window, prepare};
use shadewright::scene::{Current, OpenOptions, Scene, open};
use shadewright::text::source::SourceMap;
use std::fs;
use tempfile::TempDir;

/// A scene and the shader `show`, linked.
fn linked(shader: &str, rib: &str) -> (Scene, Program, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("show.sl"), shader).expect("a writable folder");
    let path = folder.path().join("scene.rib");
    fs::write(&path, rib).expect("a writable folder");
    let mut sources = SourceMap::new();
    let scene = open(&path, &OpenOptions { current: Some(Current::World), ..OpenOptions::default() }, &mut sources)
        .unwrap_or_else(|e| panic!("{}", e.render(&sources)))
        .scene;
    let program = link(&scene, sources, &LinkOptions::default())
        .unwrap_or_else(|e| panic!("{}", e.diagnostics.render(&e.sources)));
    (scene, program, folder)
}

/// The image of a scene whose every link is without a remark.
fn image(shader: &str, rib: &str) -> Image {
    let (scene, program, _folder) = linked(shader, rib);
    let warnings = program.diagnostics.render(&program.sources);
    assert!(warnings.is_empty(), "{warnings}");
    let window = Window::whole(scene.format.width, scene.format.height);
    let sampling = Sampling { strata: scene.pixel_samples, seed: 0 };
    let job: Job = prepare(program, &scene, window, sampling, DEFAULT_BUDGET).expect("a small scene");
    RpuRenderer::new().render(&job, &|_| {}).expect("an image")
}

/// Draws two squares that fill the image, from x = -1 to 0 and on to 1, moved away and back again,
/// with `variables`; a shader with the parameters `params` must find `error` to be 0 everywhere.
fn holds_everywhere(params: &str, error: &str, variables: &str) {
    let shader = format!("surface show({params}) {{ color error = {error}; Ci = error + 0.5; Oi = 1; }}");
    let rib = format!(
        "Format 16 16 1 PixelSamples 1 1 Projection \"orthographic\" ScreenWindow -1 1 -1 1 Translate 0 0 5 WorldBegin \
         Surface \"show\" Translate 3 0 0 Scale 2 1 1 \
         PointsPolygons [4 4] [0 1 4 3 1 2 5 4] \"P\" [-2 -1 0 -1.5 -1 0 -1 -1 0 -2 1 0 -1.5 1 0 -1 1 0] {variables} \
         WorldEnd"
    );
    let image = image(&shader, &rib);
    for pixel in &image.rgba {
        let is_close = pixel[..3].iter().all(|c| (c - 0.5).abs() < 1e-4);
        assert!(is_close && pixel[3] == 1.0, "{params} {variables}: {pixel:?}");
    }
}

#[test]
fn varying_values_are_linear_over_a_face() {
    holds_everywhere("varying float f = 9", "f - xcomp(P)", "\"varying float f\" [-1 0 1 -1 0 1]");
    holds_everywhere("varying float f = 9", "f - xcomp(P)", "\"vertex integer f\" [-1 0 1 -1 0 1]");
    holds_everywhere(
        "varying color c = 9",
        "c - color(xcomp(P), ycomp(P), 0.25)",
        "\"varying color c\" [-1 -1 0.25 0 -1 0.25 1 -1 0.25 -1 1 0.25 0 1 0.25 1 1 0.25]",
    );
}

#[test]
fn values_of_faces_and_of_the_whole_primitive_reach_the_shader() {
    let left = "(xcomp(P) < 0 ? 1 : 0)";
    holds_everywhere("varying float f = 9", &format!("f - {left}"), "\"uniform float f\" [1 0]");
    holds_everywhere("uniform float f = 9", "f - 3", "\"constant float f\" [3]");
    holds_everywhere("color c = 9", "c - color(1, 2, 3)", "\"constant color c\" [1 2 3]");
    holds_everywhere("varying float f = 9", &format!("f - 4 + {left}"), "\"facevarying float f\" [3 3 3 3 4 4 4 4]");
}

#[test]
fn points_vectors_and_normals_are_moved_with_the_primitive() {
    let places = "-2 -1 0 -1.5 -1 0 -1 -1 0 -2 1 0 -1.5 1 0 -1 1 0";
    holds_everywhere("varying point q = 9", "color(q - P)", &format!("\"vertex point q\" [{places}]"));
    let weighted = "-4 -2 0 2 -3 -2 0 2 -2 -2 0 2 -4 2 0 2 -3 2 0 2 -2 2 0 2";
    holds_everywhere("varying point q = 9", "color(q - P)", &format!("\"vertex hpoint q\" [{weighted}]"));
    holds_everywhere(
        "vector w = 9; uniform normal m = 9",
        "color(w - vector(2, 1, 3)) + color(m - normal(0.5, 1, 3))",
        "\"constant vector w\" [1 1 3] \"constant normal m\" [1 1 3]",
    );
}

#[test]
fn strings_and_matrices_reach_the_shader() {
    let left = "(xcomp(P) < 0 ? 1 : 0)";
    holds_everywhere("string label = \"\"", "(label == \"yes\") ? 0 : 1", "\"constant string label\" [\"yes\"]");
    holds_everywhere(
        "varying string label = \"\"",
        &format!("((label == \"one\") ? 1 : 0) - {left}"),
        "\"uniform string label\" [\"one\" \"two\"]",
    );
    let matrix = |x: i32| format!("1 0 0 0 0 1 0 0 0 0 1 0 {x} 0 0 1 ");
    let matrices: String = [-1, 0, 1, -1, 0, 1].into_iter().map(matrix).collect();
    holds_everywhere(
        "varying matrix m = 1",
        "comp(m, 3, 0) - xcomp(P) + comp(m, 0, 0) - 1 + comp(m, 2, 3)",
        &format!("\"varying matrix m\" [{matrices}]"),
    );
}

/// A sphere with values at its corners, instanced often enough to stay shared.
#[test]
fn instances_take_their_mesh_s_variables_into_the_world() {
    let beads = "Translate 100 0 0 Sphere 0.5 -0.5 0.5 360 \"varying point q\" [0 0 0 1 0 0 0 1 0 1 1 0] \
                 \"uniform float f\" [1] \"constant vector w\" [1 2 3] \"varying normal m\" [1 2 3 1 2 3 1 2 3 1 2 3] ";
    let shader = "surface show(varying point q = 9; varying normal m = 9; uniform float f = 9; vector w = 9) {
        color e = color(q - point \"object\" (u, v, 0)) + color(m - normal \"object\" (1, 2, 3)) + (f - 1);
        Ci = e + 0.5; Oi = 1; }";
    let object = format!("ObjectBegin 1 {} Translate -1300 0 0 {beads} ObjectEnd", beads.repeat(12));
    let instance = |i: u32| {
        format!(
            "AttributeBegin Translate {} 0 0 Rotate {i} 1 2 3 Scale 2 1 0.5 ObjectInstance 1 AttributeEnd\n",
            f64::from(i) * 0.125 - 1.0
        )
    };
    let rib = format!(
        "Format 24 16 1 PixelSamples 1 1 Projection \"orthographic\" ScreenWindow -1 1 -1 1 Translate 0 0 500 {object}\n\
         WorldBegin Surface \"show\" {} WorldEnd",
        (0..16).map(instance).collect::<String>()
    );
    let (scene, ..) = linked(shader, &rib);
    assert!(scene.has_instances());
    let image = image(shader, &rib);
    let seen = image.rgba.iter().filter(|p| p[3] == 1.0).count();
    assert!(seen > 60, "only {seen} pixels show an instance");
    for pixel in image.rgba.iter().filter(|p| p[3] == 1.0) {
        assert!(pixel[..3].iter().all(|c| (c - 0.5).abs() < 1e-2), "{pixel:?}");
    }
}

#[test]
fn what_does_not_fit_a_parameter_is_told_with_its_line_and_the_default_stays() {
    let shader = "surface show(varying color c = 0.25; float f = 1) { Ci = c; Oi = 1; }";
    let rib = "Format 4 4 1 Projection \"orthographic\" Translate 0 0 5\nWorldBegin Surface \"show\"\n\
               Polygon \"P\" [-2 -2 0 2 -2 0 0 2 0] \"varying vector c\" [1 1 1 1 1 1 1 1 1] \"varying float f\" [1 2 3]\n\
               WorldEnd";
    let (_, program, _folder) = linked(shader, rib);
    let text = program.diagnostics.render(&program.sources);
    assert!(text.contains("the primitive variable `c` is a vector, but the shader's parameter is a color"), "{text}");
    assert!(text.contains("`f` varies over the primitive, but the shader's parameter is uniform"), "{text}");
    assert!(text.contains("varying float f") && text.contains(":3:1"), "{text}");
}
