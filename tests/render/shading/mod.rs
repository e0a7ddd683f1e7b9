//! Shaders of every kind and what they ask of the renderer: scenes of one pixel whose color is
//! worked out by hand, on the evaluator, the RPU and the GPU.
//!
//! The GPU part needs an adapter (Mesa's software driver will do) and fails without one.

mod classes;
mod coshaders;
mod film;
mod habits;
mod illumination;
mod kinds;
mod lengths;
mod lights;
mod rays;
mod ribbons;
mod spaces;
mod state;
mod visibility;

use classes::CLASSES;
use coshaders::COSHADERS;
use film::FILM;
use habits::HABITS;
use illumination::ILLUMINATION;
use kinds::KINDS;
use lengths::LENGTHS;
use lights::LIGHTS;
use rays::RAYS;
use ribbons::RIBBONS;
use shadewright::probe;
use shadewright::program::{LinkOptions, Program, link};
use shadewright::render::gpu::GpuRenderer;
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Job, Renderer, Window, prepare};
use shadewright::scene::{OpenOptions, Scene, open};
use shadewright::text::source::SourceMap;
use spaces::SPACES;
use state::STATE;
use std::fs;
use std::process::Command;
use visibility::VISIBILITY;

/// A scene of one pixel. The camera looks along z from the origin, orthographically; a surface that
/// it should see lies around (0, 0, z).
struct Case {
    name: &'static str,
    /// A shader file: all shaders of the scene, each found under its own name.
    shaders: &'static [(&'static str, &'static str)],
    /// The requests before `WorldBegin`.
    options: &'static str,
    /// The requests in the world.
    world: &'static str,
    /// Red, green and blue, premultiplied, and the coverage.
    expected: [f32; 4],
    /// The greatest error of a component.
    tolerance: f32,
}

impl Case {
    /// A case without options whose surface is opaque.
    const fn opaque(
        name: &'static str,
        shaders: &'static [(&'static str, &'static str)],
        world: &'static str,
        [r, g, b]: [f32; 3],
    ) -> Self {
        Self { name, shaders, options: "", world, expected: [r, g, b, 1.0], tolerance: 1e-6 }
    }
}

/// A square of side 4 around (0, 0, 4) that faces the camera.
const SQUARE: &str = "Polygon \"P\" [-2 -2 4  -2 2 4  2 2 4  2 -2 4] \"st\" [0 0 0 1 1 1 1 0]";

fn all() -> impl Iterator<Item = &'static Case> {
    [KINDS, CLASSES, COSHADERS, FILM, HABITS, ILLUMINATION, LENGTHS, LIGHTS, STATE, RAYS, RIBBONS, SPACES, VISIBILITY]
        .into_iter()
        .flatten()
}

/// Reads and links a case; `debug` for the evaluator.
fn read(case: &Case, debug: bool) -> Result<(Scene, Program), String> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in case.shaders {
        fs::write(folder.path().join(format!("{name}.sl")), text).expect("a writable folder");
    }
    let path = folder.path().join("scene.rib");
    let world = rays::with_wall(case.world).replace("SQUARE", SQUARE);
    let text = format!(
        "Format 1 1 1\nPixelSamples 1 1\nOption \"shading\" \"string current\" [\"world\"]\n\
        Projection \"orthographic\"\n{}\nWorldBegin\n{world}\nWorldEnd\n",
        case.options
    );
    fs::write(&path, text).expect("a writable folder");
    let mut sources = SourceMap::new();
    let opened = open(&path, &OpenOptions::default(), &mut sources).map_err(|errors| errors.render(&sources))?;
    let options = LinkOptions::default();
    let linked = match debug {
        true => probe::link(&opened.scene, sources, &options),
        false => link(&opened.scene, sources, &options),
    };
    let program = linked.map_err(|e| e.diagnostics.render(&e.sources))?;
    match program.diagnostics.is_empty() {
        true => Ok((opened.scene, program)),
        false => Err(program.diagnostics.render(&program.sources)),
    }
}

fn job(case: &Case, debug: bool) -> Result<(Scene, Job), String> {
    let (scene, program) = read(case, debug)?;
    let sampling = Sampling { strata: [1, 1], seed: 0 };
    let job = prepare(program, &scene, Window::whole(1, 1), sampling, DEFAULT_BUDGET).map_err(|e| e.to_string())?;
    Ok((scene, job))
}

/// Checks a color against the expected one.
fn check(case: &Case, got: [f32; 4]) -> Result<(), String> {
    let close = got.iter().zip(&case.expected).all(|(g, e)| (g - e).abs() <= case.tolerance);
    if close { Ok(()) } else { Err(format!("{got:?}, expected {:?}", case.expected)) }
}

fn run(mut color: impl FnMut(&Case) -> Result<[f32; 4], String>) {
    let results = all().map(|case| (case.name, color(case).and_then(|got| check(case, got))));
    let wrong: Vec<String> = results.filter_map(|(name, r)| r.err().map(|e| format!("{name}: {e}"))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_evaluator_gives_the_colors_that_are_worked_out() {
    run(|case| {
        let (scene, job) = job(case, true)?;
        let subject = probe::Subject { scene: &scene, program: &job.program, bvh: &job.bvh };
        let sample = probe::Sample { pixel: [0, 0], number: 0, sampling: job.sampling, budget: DEFAULT_BUDGET };
        let probed = probe::probe(&subject, &sample).map_err(|e| e.to_string())?;
        if let Some(stopped) = probed.failure {
            return Err(stopped.message);
        }
        let ([r, g, b], alpha) = probed.imaged.unwrap_or((probed.color, probed.alpha));
        Ok([r, g, b, alpha])
    });
}

#[test]
fn the_rpu_gives_the_colors_that_are_worked_out() {
    run(|case| Ok(RpuRenderer::new().render(&job(case, false)?.1, &|_| ()).map_err(|e| e.to_string())?.rgba[0]));
}

#[test]
fn the_gpu_gives_the_colors_that_are_worked_out() {
    let mut gpu = GpuRenderer::new(None).expect("an adapter");
    run(|case| Ok(gpu.render(&job(case, false)?.1, &|_| ()).map_err(|e| e.to_string())?.rgba[0]));
}

#[test]
fn what_only_printing_asks_for_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a writable folder");
    let shader = "surface speak() { printf(\"%.2f %.2f %p %.1f %p %.1f\\n\", s, t, E, raydepth, transform(\"shader\", P), 2 * s); Oi = 1; Ci = 1; }";
    write("speak.sl", shader);
    let world = format!("Translate 0 0 1 Surface \"speak\" Translate 0 0 -1 {SQUARE}");
    write(
        "scene.rib",
        &format!("Format 1 1 1\nPixelSamples 1 1\nProjection \"orthographic\"\nWorldBegin\n{world}\nWorldEnd\n"),
    );
    let args = ["scene.rib", "--backend", "rpu", "--render", "out.exr"];
    let command = Command::new(env!("CARGO_BIN_EXE_shadewright")).args(args).current_dir(&folder).output();
    let output = command.expect("the program was built with the tests");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = "printf: 0.50 0.50 0.000000 0.000000 0.000000 0.0 0.000000 0.000000 3.000000 1.0\n";
    assert_eq!(text, expected, "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_shaders_print_comes_out_in_the_order_of_the_pixels() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a writable folder");
    write(
        "speak.sl",
        "surface speak(string word = \"none\";) {
            matrix m = 2;
            printf(\"%s %.1f %c %m%%\\n\", word, xcomp(P), color (0.5, 1, 2), m);
            Oi = 1; Ci = 1;
        }",
    );
    write(
        "scene.rib",
        "Format 3 1 1\nPixelSamples 1 1\nProjection \"orthographic\"\nScreenWindow -3 3 -1 1\nWorldBegin\n\
         Surface \"speak\" \"string word\" [\"left\"] Polygon \"P\" [-4 -1 1  -4 1 1  -1 1 1  -1 -1 1]\n\
         Surface \"speak\" \"string word\" [\"right\"] Polygon \"P\" [1 -1 1  1 1 1  4 1 1  4 -1 1]\nWorldEnd\n",
    );
    let run = |more: &[&str]| {
        let args = ["scene.rib", "--backend", "rpu", "--render", "out.exr"];
        let command =
            Command::new(env!("CARGO_BIN_EXE_shadewright")).args(args).args(more).current_dir(&folder).output();
        let output = command.expect("the program was built with the tests");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("plain text")
    };
    let line = |word: &str, x: &str| {
        let diagonal: Vec<String> =
            (0..16).map(|i| if i % 5 == 0 { "2.000000" } else { "0.000000" }.to_string()).collect();
        format!("printf: {word} {x} 0.500000 1.000000 2.000000 {}%\n", diagonal.join(" "))
    };
    assert_eq!(run(&[]), line("left", "-2.0") + &line("right", "2.0"));
    assert_eq!(run(&["--threads", "1"]), run(&["--threads", "2"]));
}
