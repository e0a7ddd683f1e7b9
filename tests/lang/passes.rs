//! The passes of the compiler: each changes some program of these scenes, and none changes an
//! image.

use shadewright::image::Image;
use shadewright::ir::Module;
use shadewright::ir::passes::{Observer, PASSES, Pass, Pipeline};
use shadewright::program::{LinkOptions, Program, Specialize, link_observed};
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Renderer, Window, prepare};
use shadewright::scene::{self, OpenOptions, Scene};
use shadewright::text::source::SourceMap;
use std::collections::BTreeMap;
use std::path::Path;

/// The scenes, by their paths in the repository. The last has the code that the first two lack.
const SCENES: [&str; 3] = ["assets/scenes/glass.rib", "assets/scenes/mirrors.rib", "tests/passes/scene.rib"];

/// The default, and the mode that gives the pass `variants` most to do.
const MODES: [Specialize; 2] = [Specialize::TYPES, Specialize::ALL];

/// Width and height of the images.
const SIZE: (u32, u32) = (32, 24);

/// The changes of each pass.
#[derive(Default)]
struct Changes(BTreeMap<&'static str, usize>);

impl Observer for Changes {
    fn after(&mut self, pass: &Pass, _round: usize, _module: &Module, changes: usize) {
        *self.0.entry(pass.name).or_default() += changes;
    }
}

/// A scene, and its program compiled with the passes that `--passes` would choose.
fn linked(name: &str, passes: &str, specialize: Specialize, observer: &mut dyn Observer) -> (Scene, Program) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let options = OpenOptions { size: Some(SIZE), allow_read: vec![root.into()], ..OpenOptions::default() };
    let mut sources = SourceMap::new();
    let scene = scene::open(&root.join(name), &options, &mut sources).expect("the scene can be read").scene;
    let pipeline = Pipeline::parse(passes).expect("a list of passes");
    let options = LinkOptions { pipeline, specialize, ..Default::default() };
    let program = link_observed(&scene, sources, &options, observer);
    let program = program.unwrap_or_else(|e| panic!("{}", e.diagnostics.render(&e.sources)));
    (scene, program)
}

fn image(name: &str, passes: &str, specialize: Specialize) -> Image {
    let (scene, program) = linked(name, passes, specialize, &mut ());
    let sampling = Sampling { strata: [1, 1], seed: 0 };
    let window = Window::whole(SIZE.0, SIZE.1);
    let job = prepare(program, &scene, window, sampling, DEFAULT_BUDGET).expect("the job can be made");
    RpuRenderer::new().render(&job, &|_| {}).unwrap_or_else(|e| panic!("{name} with passes `{passes}`: {e}"))
}

#[test]
fn every_pass_changes_some_scene() {
    let mut changes = Changes::default();
    for (name, mode) in SCENES.iter().flat_map(|name| MODES.map(|mode| (name, mode))) {
        let (_, program) = linked(name, "all", mode, &mut changes);
        *changes.0.entry("uniform").or_default() += program.uniform.values;
    }
    let idle: Vec<_> =
        PASSES.iter().map(|p| p.name).filter(|name| changes.0.get(name).is_none_or(|n| *n == 0)).collect();
    assert!(idle.is_empty(), "{idle:?} change nothing: add code for them to tests/passes; all: {:?}", changes.0);
}

#[test]
fn an_image_stays_the_same_whichever_pass_is_switched_off() {
    for (name, mode) in SCENES.iter().flat_map(|name| MODES.map(|mode| (name, mode))) {
        let reference = image(name, "all", mode);
        assert!(reference.rgba.iter().flatten().all(|x| x.is_finite()), "{name} has colors that are not finite");
        assert!(reference.rgba.iter().any(|p| *p != reference.rgba[0]), "{name} is one flat color");
        let without = PASSES.iter().map(|p| format!("-{}", p.name));
        for passes in without.chain(["none".to_string()]) {
            // Compared as numbers: passes may change the sign of a zero.
            assert!(
                image(name, &passes, mode).rgba == reference.rgba,
                "{name} differs with passes `{passes}`, {mode:?}"
            );
        }
    }
}
