//! Following samples of pictures: on every scene of the repository, the colour that the evaluator finds is the picture's, to the bit.

mod common;

use common::repository;
use shadewright::bvh::TwoLevel;
use shadewright::lang::source::SourceMap;
use shadewright::probe::{self, Probe, Sample, Subject};
use shadewright::program::{LinkOptions, Program, link};
use shadewright::render::film::{Film, Picture};
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Renderer, Window, prepare};
use shadewright::scene::{self, OpenOptions, Scene};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SAMPLING: Sampling = Sampling { strata: [2, 2], seed: 3 };
const SIZE: (u32, u32) = (24, 18);

/// A scene, its picture without its imager, and its program for a debugger.
struct Opened {
    scene: Scene,
    picture: Picture,
    program: Program,
    bvh: Arc<TwoLevel>,
}

fn open(path: &Path) -> Opened {
    let mut sources = SourceMap::new();
    let options = OpenOptions { size: Some(SIZE), ..OpenOptions::default() };
    let mut scene = scene::open(path, &options, &mut sources).expect("the scene can be read").scene;
    scene.imager = None;
    let linked = link(&scene, sources.clone(), &LinkOptions::default()).expect("the shaders compile");
    let job = prepare(linked, &scene, Window::whole(SIZE.0, SIZE.1), SAMPLING, DEFAULT_BUDGET).expect("a job");
    let picture = RpuRenderer::new().render(&job, &|_| {}).expect("it renders");
    let debug = probe::link(&scene, sources, &LinkOptions::default()).expect("it links for a debugger too");
    assert_eq!(debug.memory.vectors, job.program.memory.vectors, "{}: the data is the same", path.display());
    let program = probe::with_data_of(&debug, &job.program);
    Opened { scene, picture, program, bvh: job.bvh }
}

impl Opened {
    fn probe(&self, pixel: [u32; 2], number: u32) -> Probe {
        let subject = Subject { scene: &self.scene, program: &self.program, bvh: &self.bvh };
        let sample = Sample { pixel, number, sampling: SAMPLING, budget: DEFAULT_BUDGET };
        probe::probe(&subject, &sample).expect("the sample exists")
    }
}

fn scenes() -> Vec<PathBuf> {
    let files = std::fs::read_dir(repository("assets/scenes")).expect("the scenes").map(|f| f.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|f| f.extension().is_some_and(|e| e == "rib")).collect();
    files.sort();
    assert!(files.len() > 5);
    files
}

#[test]
fn the_colour_of_a_followed_pixel_is_the_pictures_to_the_bit() {
    for path in scenes() {
        let opened = open(&path);
        for pixel in [[12, 9], [5, 12], [17, 13], [0, 0]] {
            let mut film = Film::new(1, 1).expect("a pixel");
            for number in 0..SAMPLING.count() {
                let probe = opened.probe(pixel, number);
                let [r, g, b] = probe.color;
                film.add_sample(0, 0, [r, g, b, probe.alpha]);
            }
            let drawn = opened.picture.rgba[(pixel[1] * SIZE.0 + pixel[0]) as usize];
            assert_eq!(film.resolve().rgba[0].map(f32::to_bits), drawn.map(f32::to_bits), "{} {pixel:?}", path.display());
        }
    }
}
