//! The z test on path-traced images: images that differ by their seeds alone pass, and a wrong
//! renderer is found at a stated number of samples.
//!
//! `SHADEWRIGHT_MEASURE=N cargo test --test render significance:: -- --nocapture` measures with N seeds: how
//! often equal scenes differ, how far each sample pattern's z is from that of independent samples, and
//! the smallest power of two of samples with which each wrong renderer is found by all seeds.

use crate::common::repository;
use shadewright::compare::Significance;
use shadewright::compare::significance::{DEFAULT_SIGNIFICANCE, Estimate, Pair, test};
use shadewright::image::{Image, Variance};
use shadewright::program::{LinkOptions, link};
use shadewright::render::film::Film;
use shadewright::render::progressive::{Pass, Progressive};
use shadewright::render::rpu::{RpuProgressive, RpuRenderer};
use shadewright::render::sampling::{Pattern, Sampling};
use shadewright::render::{DEFAULT_BUDGET, Job, Window, prepare};
use shadewright::scene::{self, OpenOptions};
use shadewright::text::source::SourceMap;
use std::fs;
use std::sync::atomic::AtomicBool;

/// Diffuse reflection that keeps a part of the light.
const WORN: &str = "
class Worn : Surface;
public color diffuse = color(0.5);
public float kept = 1.;
void BSDF() {
    rt_BSDFValue = color(0.);
    if (is_lit() && dot(facing(), rt_LightDirection) > 0.)
        rt_BSDFValue = kept * diffuse / PI;
}
";

/// The content of the scene, a box of diffuse walls around a shelf under a light.
#[derive(Clone, Copy)]
struct Content {
    /// The factor of the walls' BSDF.
    walls: f32,
    /// That of the shelf.
    shelf: f32,
    /// How often the small lamp is there.
    lamps: usize,
    /// Bounces.
    depth: u32,
    clamp: f32,
}

const RIGHT: Content = Content { walls: 1.0, shelf: 1.0, lamps: 1, depth: 5, clamp: 0.0 };

/// A wrong renderer.
struct Wrong {
    name: &'static str,
    content: Content,
    /// Samples with which an image of 64×64 pixels shows it, measured with ten seeds.
    samples: u32,
}

const WRONG: [Wrong; 5] = [
    Wrong { name: "all BSDFs off by 1 %", content: Content { walls: 0.99, shelf: 0.99, ..RIGHT }, samples: 512 },
    Wrong { name: "the shelf's BSDF off by 10 %", content: Content { shelf: 0.9, ..RIGHT }, samples: 2048 },
    Wrong { name: "a lamp counted twice", content: Content { lamps: 2, ..RIGHT }, samples: 16 },
    Wrong { name: "indirect light clamped at 2", content: Content { clamp: 2.0, ..RIGHT }, samples: 16 },
    Wrong { name: "a lost bounce", content: Content { depth: 4, ..RIGHT }, samples: 256 },
];

impl Content {
    fn scene(&self, size: u32) -> String {
        let wall = |kept: f32, color: &str, corners: &str| {
            let class = "Surface \"worn.rtsl:Worn\"";
            format!("{class} \"color diffuse\" [{color}] \"float kept\" [{kept}]\nPolygon \"P\" [{corners}]\n")
        };
        let Self { walls, shelf, lamps, depth, clamp } = *self;
        let mut text = format!(
            "Format {size} {size} 1\nProjection \"perspective\" \"fov\" [36]\n\
             Integrator \"path\" \"p\" \"int maxPathLength\" [{depth}] \"float clamp\" [{clamp}]\n\
             Translate 0 -1 3.9\nWorldBegin\n"
        );
        for lamp in 0..lamps {
            text +=
                &format!("LightSource \"pointlight\" {lamp} \"point from\" [0.7 0.5 0.3] \"float intensity\" [0.02]\n");
        }
        text += &wall(walls, "0.7 0.7 0.7", "-1 0 0 -1 0 2 1 0 2 1 0 0");
        text += &wall(walls, "0.7 0.7 0.7", "-1 2 0 1 2 0 1 2 2 -1 2 2");
        text += &wall(walls, "0.7 0.7 0.7", "-1 0 2 -1 2 2 1 2 2 1 0 2");
        text += &wall(walls, "0.6 0.1 0.1", "-1 0 0 -1 2 0 -1 2 2 -1 0 2");
        text += &wall(walls, "0.1 0.5 0.2", "1 0 0 1 0 2 1 2 2 1 2 0");
        text += &wall(shelf, "0.4 0.4 0.9", "-0.6 0.8 0.6 -0.6 0.8 1.4 0.2 0.8 1.4 0.2 0.8 0.6");
        text += "Surface \"pbr.rtsl:Emitter\" \"color radiance\" [4 3 2] \"float one_sided\" [0]\n\
                 Polygon \"P\" [-0.5 1.9 0.5 0.5 1.9 0.5 0.5 1.9 1.5 -0.5 1.9 1.5]\nWorldEnd\n";
        text
    }
}

/// A scene that renders on the RPU by any seed.
struct Renderer {
    job: Job,
    renderer: RpuProgressive,
}

/// An image with its variances.
type Rendered = (Image, Variance);

impl Renderer {
    fn new(content: &Content, size: u32) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the scene");
        let path = folder.path().join("scene.rib");
        fs::write(&path, content.scene(size)).expect("the folder can be written");
        let library = fs::read_to_string(repository("assets/rtsl/pbr.rtsl")).expect("it is part of the repository");
        fs::write(folder.path().join("worn.rtsl"), library + WORN).expect("the folder can be written");
        let mut sources = SourceMap::new();
        let scene = scene::open(&path, &OpenOptions::default(), &mut sources).expect("the scene is right").scene;
        let linking = LinkOptions { shader_paths: vec![repository("assets/rtsl")], ..LinkOptions::default() };
        let program = link(&scene, sources, &linking).expect("its classes compile");
        let sampling = Sampling { strata: [4, 4], seed: 0 };
        let job = prepare(program, &scene, Window::whole(size, size), sampling, DEFAULT_BUDGET);
        Self { job: job.expect("it is small"), renderer: RpuProgressive::new(RpuRenderer::new()) }
    }

    fn render(&mut self, samples: u32, seed: u32, pattern: Pattern) -> Rendered {
        self.job.sampling = Sampling { strata: Sampling::strata_of(samples), seed };
        self.job.film.pattern = pattern;
        self.renderer.load(&self.job).expect("it compiles");
        let Window { width, height, .. } = self.job.window;
        let mut film = Film::with_samples(width, height, samples).expect("it is small").with_variance();
        self.renderer.draw(Pass::whole(self.job.sampling), &mut film, &AtomicBool::new(false)).expect("it ends");
        (film.resolve(), film.variance(samples).expect("the film has it"))
    }
}

fn tested(first: &Rendered, second: &Rendered) -> Significance {
    let [first, second] = [first, second].map(|(image, variance)| Estimate { image, variance });
    test(&Pair::Independent(first, second), DEFAULT_SIGNIFICANCE)
}

/// The mean of all colors of an image.
fn mean((image, _): &Rendered) -> f64 {
    image.rgba.iter().flat_map(|rgba| &rgba[..3]).map(|&x| f64::from(x)).sum::<f64>() / (3 * image.rgba.len()) as f64
}

/// How many seeds to measure with, where that is asked for.
fn measured() -> Option<u32> {
    let count = std::env::var("SHADEWRIGHT_MEASURE").ok()?;
    Some(count.parse().expect("SHADEWRIGHT_MEASURE is a number of seeds"))
}

#[test]
fn images_that_differ_by_their_seeds_pass() {
    let mut renderer = Renderer::new(&RIGHT, 64);
    let pairs = measured().unwrap_or(8);
    for samples in [16, 64] {
        for pattern in [Pattern::Stratified, Pattern::Sobol] {
            let mut failed = 0;
            // Squares of z over all pixels: their mean is 1 where variances are those of the means.
            let (mut squares, mut count) = (0.0, 0.0);
            for pair in 0..pairs {
                let [first, second] = [0, 1].map(|k| renderer.render(samples, 2 * pair + k, pattern));
                failed += u32::from(tested(&first, &second).p < DEFAULT_SIGNIFICANCE);
                for (at, (a, b)) in first.0.rgba.iter().zip(&second.0.rgba).enumerate() {
                    let variance = first.1.rgb[at][1] + second.1.rgb[at][1];
                    if variance > 0.0 {
                        squares += f64::from((a[1] - b[1]).powi(2) / variance);
                        count += 1.0;
                    }
                }
            }
            let spread = (squares / count).sqrt();
            println!("{samples:4} samples, {pattern:?}: {failed} of {pairs} pairs differ; z spreads by {spread:.3}");
            assert!(failed <= 1 + pairs / 50, "{failed} of {pairs} with {samples} samples, {pattern:?}");
        }
    }
}

#[test]
fn a_wrong_renderer_is_found() {
    let mut right = Renderer::new(&RIGHT, 64);
    for Wrong { name, content, samples } in &WRONG {
        let mut wrong = Renderer::new(content, 64);
        let mut found = |samples, seeds| {
            let of_seed = |seed| {
                let pair = [
                    right.render(samples, 2 * seed, Pattern::Stratified),
                    wrong.render(samples, 2 * seed + 1, Pattern::Stratified),
                ];
                let found = tested(&pair[0], &pair[1]);
                (found.p, found.regions.first().cloned(), mean(&pair[1]) / mean(&pair[0]) - 1.0)
            };
            (0..seeds).map(of_seed).collect::<Vec<_>>()
        };
        if let Some(seeds) = measured() {
            for samples in (4..=12).map(|k| 1 << k) {
                let all = found(samples, seeds);
                let count = all.iter().filter(|(p, ..)| *p < DEFAULT_SIGNIFICANCE).count();
                let change = all.iter().map(|(.., change)| change).sum::<f64>() / f64::from(seeds);
                println!(
                    "{name}: {count} of {seeds} with {samples} samples; the image's mean changes by {:.3} %",
                    100.0 * change
                );
                if count == all.len() {
                    break;
                }
            }
        } else {
            let (p, region, _) = found(*samples, 1).remove(0);
            assert!(p < DEFAULT_SIGNIFICANCE, "{name} with {samples} samples: p {p}, {region:?}");
        }
    }
}
