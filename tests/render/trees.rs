//! Trees change no image: whichever builder made one, rays hit the same triangles at the same
//! places.

use shadewright::bvh::Quality;
use shadewright::image::Image;
use shadewright::program::{LinkOptions, link};
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Renderer, Window, default_quality, prepare_with_quality};
use shadewright::scene::{self, OpenOptions};
use shadewright::text::source::SourceMap;
use std::path::Path;

/// Width and height of the images.
const SIZE: (u32, u32) = (64, 48);

fn image(name: &str, tree: Option<Quality>) -> Image {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes").join(name);
    let options = OpenOptions {
        size: Some(SIZE),
        allow_read: vec![Path::new(env!("CARGO_MANIFEST_DIR")).into()],
        ..OpenOptions::default()
    };
    let mut sources = SourceMap::new();
    let scene = scene::open(&path, &options, &mut sources).expect("the scene can be read").scene;
    let program = link(&scene, sources, &LinkOptions::default()).expect("the shaders compile");
    let sampling = Sampling { strata: [1, 1], seed: 0 };
    let window = Window::whole(SIZE.0, SIZE.1);
    let job =
        prepare_with_quality(program, &scene, window, sampling, DEFAULT_BUDGET, tree).expect("the job can be made");
    RpuRenderer::new().render(&job, &|_| {}).expect("the scene renders")
}

#[test]
fn a_image_is_the_same_with_every_tree() {
    for name in ["glass.rib", "quadrics.rib"] {
        let reference = image(name, None);
        assert!(reference.rgba.iter().any(|p| *p != reference.rgba[0]), "{name} is one flat color");
        for quality in Quality::ALL {
            let bits = |image: &Image| image.rgba.iter().map(|p| p.map(f32::to_bits)).collect::<Vec<_>>();
            assert!(bits(&image(name, Some(quality))) == bits(&reference), "{name}, {quality:?}");
        }
    }
}

#[test]
fn the_more_samples_a_triangle_gets_the_better_is_its_tree() {
    let trees = [1_000, 100_000, 10_000_000].map(|samples| default_quality(10_000, samples));
    assert_eq!(trees, [Quality::Fast, Quality::Sah, Quality::Spatial]);
    assert_eq!(default_quality(0, 0), Quality::Spatial);
    assert_eq!(default_quality(usize::MAX, u64::MAX - 1), Quality::Fast);
}
