//! Passes change no image: each of them, and all of them, can be switched off.

use shadewright::image::Image;
use shadewright::ir::passes::{PASSES, Pipeline};
use shadewright::program::{LinkOptions, link};
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Renderer, Window, prepare};
use shadewright::scene::{self, OpenOptions};
use shadewright::text::source::SourceMap;
use std::path::Path;

/// Width and height of the images.
const SIZE: (u32, u32) = (32, 24);

/// The image of a scene in `assets/scenes`, compiled with the passes that `--passes` would choose.
fn image(name: &str, passes: &str) -> Image {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes").join(name);
    let options = OpenOptions {
        size: Some(SIZE),
        allow_read: vec![Path::new(env!("CARGO_MANIFEST_DIR")).into()],
        ..OpenOptions::default()
    };
    let mut sources = SourceMap::new();
    let scene = scene::open(&path, &options, &mut sources).expect("the scene can be read").scene;
    let pipeline = Pipeline::parse(passes).expect("a list of passes");
    let options = LinkOptions { pipeline, ..Default::default() };
    let program = link(&scene, sources, &options).unwrap_or_else(|e| panic!("{}", e.diagnostics.render(&e.sources)));
    let sampling = Sampling { strata: [1, 1], seed: 0 };
    let window = Window::whole(SIZE.0, SIZE.1);
    let job = prepare(program, &scene, window, sampling, DEFAULT_BUDGET).expect("the job can be made");
    RpuRenderer::new().render(&job, &|_| {}).unwrap_or_else(|e| panic!("{name} with passes `{passes}`: {e}"))
}

#[test]
fn a_image_stays_the_same_whichever_pass_is_switched_off() {
    for name in ["glass.rib", "mirrors.rib"] {
        let reference = image(name, "all");
        assert!(reference.rgba.iter().any(|p| *p != reference.rgba[0]), "{name} is one flat colour");
        let without = PASSES.iter().map(|p| format!("-{}", p.name));
        for passes in without.chain(["none".to_string()]) {
            // Compared as numbers: passes may change the sign of a zero.
            assert!(image(name, &passes).rgba == reference.rgba, "{name} differs with passes `{passes}`");
        }
    }
}
