//! The RPU with the hardware's 24-bit floats: close to single precision, and the same in both modes
//! of the RPU.

use shadewright::image::Image;
use shadewright::program::{LinkOptions, link};
use shadewright::render::rpu::{Loaded, RpuRenderer, draw, simulate};
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Job, Renderer, Window, prepare};
use shadewright::rpu::format::Format;
use shadewright::rpu::simd::InstructionSet;
use shadewright::rpu::timed::Config;
use shadewright::scene::{self, OpenOptions};
use shadewright::text::source::SourceMap;

/// Width and height of the images; odd, so that blocks at the edges are not full.
const SIZE: (u32, u32) = (37, 29);

fn job(name: &str) -> Job {
    let options =
        OpenOptions { size: Some(SIZE), allow_read: vec![crate::common::repository("")], ..OpenOptions::default() };
    let mut sources = SourceMap::new();
    let path = crate::common::repository("assets/scenes").join(name);
    let scene = scene::open(&path, &options, &mut sources).expect("the scene can be read").scene;
    let program = link(&scene, sources, &LinkOptions::default()).expect("the scene can be linked");
    let window = Window { x: 0, y: 0, width: SIZE.0, height: SIZE.1 };
    prepare(program, &scene, window, Sampling { strata: [1, 1], seed: 0 }, DEFAULT_BUDGET).expect("the job can be made")
}

fn render(job: &Job, format: Format) -> Image {
    RpuRenderer::new().in_format(format).render(job, &|_| {}).expect("renders")
}

fn bits(image: &Image) -> Vec<[u32; 4]> {
    image.rgba.iter().map(|pixel| pixel.map(f32::to_bits)).collect()
}

/// The number of pixels in which some channel differs by more than a bound. Both images must be of
/// finite numbers.
fn different(a: &Image, b: &Image, bound: f32) -> usize {
    assert!(a.rgba.iter().chain(&b.rgba).flatten().all(|x| x.is_finite()));
    let is_different = |(p, q): (&[f32; 4], &[f32; 4])| p.iter().zip(q).any(|(x, y)| (x - y).abs() > bound);
    a.rgba.iter().zip(&b.rgba).filter(|&pair| is_different(pair)).count()
}

#[test]
fn quadrics_in_24_bits_differ_visibly_at_few_edges() {
    let job = job("quadrics.rib");
    let (wide, narrow) = (render(&job, Format::F32), render(&job, Format::F24));
    assert_ne!(bits(&wide), bits(&narrow));
    // Measured of 1073 pixels: two on edges differ, by 0.043 and 0.025, and the others by 8.8e-5 at
    // most.
    let (edges, far) = (different(&wide, &narrow, 2e-4), different(&wide, &narrow, 1.0 / 16.0));
    assert!(edges <= 4 && far == 0, "{edges} pixels differ, {far} of them by a 16th");
}

#[test]
fn both_modes_of_the_rpu_give_the_same_24_bit_image() {
    let job = job("sepia.rib");
    let program = &job.program;
    let loaded = Loaded::new(&program.module, program.constants.vectors(), program.surface_entries).expect("compiles");
    let timed = simulate(&job, &loaded.in_format(Format::F24), &Config::default(), &|_| {}).expect("runs").image;
    assert_eq!(bits(&timed), bits(&render(&job, Format::F24)));
}

#[test]
fn every_instruction_set_of_the_processor_draws_the_same_image() {
    let job = job("noise.rib");
    let program = &job.program;
    let expected = bits(&render(&job, Format::F32));
    for set in InstructionSet::all() {
        let loaded =
            Loaded::new(&program.module, program.constants.vectors(), program.surface_entries).expect("compiles");
        let image = draw(&job, &loaded.with_instruction_set(set), &|_| {}).expect("renders");
        assert_eq!(bits(&image), expected, "{}", set.name());
    }
}

#[test]
fn comparing_number_formats_is_one_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let args = ["compare", "--size", "32x24", "--between", "rpu,rpu-f24", "--images", "p.png"];
    // Measured: 67.0 dB.
    let judged =
        crate::common::shadewright(folder.path(), &[&args[..], &["--metric", "psnr", "--threshold", "65"]].concat());
    assert!(judged.status.success(), "{}", crate::common::stderr(&judged));
    assert!(folder.path().join("p-rpu.png").exists() && folder.path().join("p-rpu-f24.png").exists());
    let wrong =
        crate::common::shadewright(folder.path(), &["--render", "p.png", "--format", "f24", "--backend", "gpu"]);
    assert_eq!(wrong.status.code(), Some(2));
}
