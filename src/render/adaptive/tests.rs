//! Adaptive sampling of synthetic color fields, and of scenes.

use super::small::Region;
use super::*;
use crate::rpu::{RpuProgressive, RpuRenderer};
use crate::sampling::Sampling;
use crate::{DEFAULT_BUDGET, prepare};
use shadewright_base::text::source::SourceMap;
use shadewright_program::{LinkOptions, link};
use shadewright_scene::{FilterKind, OpenOptions, open_builtin, open_bytes};
use std::collections::HashSet;

/// Opaque gray.
fn gray(value: f32) -> [f32; 4] {
    [value, value, value, 1.0]
}

/// The film of a field, with its statistics and the positions that were asked for, in order.
fn sampled(sampler: &AdaptiveSampler, field: impl Fn(Vec2) -> [f32; 4]) -> (Film, Statistics, Vec<Vec2>) {
    let mut asked = Vec::new();
    let mut colors = |positions: &[Vec2]| {
        asked.extend_from_slice(positions);
        Ok(positions.iter().map(|&position| field(position)).collect())
    };
    let (film, statistics) = sampler.film(&mut colors, &|_| {}).unwrap();
    (film, statistics, asked)
}

fn plain(width: u32, height: u32, depth: u32) -> AdaptiveSampler {
    AdaptiveSampler::plain(Window::whole(width, height), Settings { threshold: 0.1, depth })
}

/// The red channel of a film's pixel.
fn red(film: &Film, x: u32, y: u32) -> f32 {
    film.pixel(x, y).mean()[0]
}

fn assert_distinct(positions: &[Vec2]) {
    let distinct: HashSet<_> = positions.iter().map(|p| p.to_array().map(f32::to_bits)).collect();
    assert_eq!(distinct.len(), positions.len(), "positions are traced once");
}

#[test]
fn a_constant_takes_the_corners_of_its_pixels() {
    let (film, statistics, asked) = sampled(&plain(1, 1, 4), |_| gray(0.3));
    assert_eq!(asked, [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]].map(Vec2::from));
    assert_eq!(statistics, Statistics { pixels: 1, samples: 4, most: 4, subdivided: 0, forced: 0 });
    assert_eq!((red(&film, 0, 0), film.pixel(0, 0).weight), (0.3, 1.0));
    let (_, statistics, _) = sampled(&plain(20, 10, 4), |_| gray(0.3));
    assert_eq!((statistics.samples, statistics.subdivided), (21 * 11, 0));
}

#[test]
fn an_edge_is_divided_along_its_length_and_nowhere_else() {
    // x = 3.3 lies between the lattice's columns 3.25 and 3.375 of depth 3.
    let edge = |p: Vec2| gray(if p.x < 3.3 { 1.0 } else { 0.0 });
    let (film, statistics, asked) = sampled(&plain(8, 2, 3), edge);
    assert_eq!((red(&film, 2, 0), red(&film, 4, 0)), (1.0, 0.0));
    // Squares left of the edge are white, those across it half white.
    assert_eq!(red(&film, 3, 1), 0.25 + 0.5 * 0.125);
    assert_eq!((statistics.subdivided, statistics.forced), (2, 0));
    assert_distinct(&asked);
    assert!(asked.iter().all(|p| p.fract() == Vec2::ZERO || (3.0..=4.0).contains(&p.x)));
    // New points of the lattices around the edge, in three columns each: 9, 17 and 33.
    assert_eq!((statistics.samples, asked.len()), (9 * 3 + 9 + 17 + 33, 86));
    let mean = statistics.mean();
    assert!((mean - asked.len() as f64 / 16.0).abs() < 1e-12 && mean < 6.0, "{mean}");
}

#[test]
fn the_depth_bounds_the_samples_of_a_pixel() {
    // No two neighbors of any lattice are alike.
    let noise = |p: Vec2| {
        gray(shadewright_base::random::unit(shadewright_base::random::hash(
            p.x.to_bits() ^ p.y.to_bits().rotate_left(16),
        )))
    };
    for depth in 0..=3 {
        let sampler = AdaptiveSampler::plain(Window::whole(3, 3), Settings { threshold: 0.0, depth });
        let (_, statistics, asked) = sampled(&sampler, noise);
        let side = (1 << depth) + 1;
        assert_eq!(statistics.most, side * side);
        assert_eq!(statistics.samples, u64::from((3 * (side - 1) + 1).pow(2)));
        assert_distinct(&asked);
    }
}

#[test]
fn a_thin_line_between_the_corners_is_found_because_it_is_forced() {
    // A line 1 long and 0.15 wide: no corner of a pixel lies on it.
    let (from, along) = (Vec2::new(1.0, 1.45), Vec2::new(0.8, 0.6));
    let is_on = |p: Vec2| (0.0..=1.0).contains(&(p - from).dot(along)) && (p - from).dot(along.perp()).abs() < 0.075;
    let line = |p: Vec2| gray(if is_on(p) { 1.0 } else { 0.0 });
    let sampler = plain(8, 8, 4);
    let (_, unforced, _) = sampled(&sampler, line);
    assert_eq!(unforced.subdivided, 0, "the corners do not see it");
    let ends = [from, from + along];
    let corners = ends.map(|end| [-0.075, 0.075].map(|d| end + d * along.perp())).concat();
    let small = SmallObjects::new(vec![Region::from_points(&corners).unwrap()], [8, 8]);
    let (film, statistics, _) = sampled(&AdaptiveSampler { small, ..sampler }, line);
    assert!(statistics.forced > 0 && statistics.forced <= statistics.subdivided, "{statistics:?}");
    let area: f32 = film.pixels().map(|pixel| pixel.mean()[0]).sum();
    assert!((area / 0.15 - 1.0).abs() < 0.15, "an area of 0.15, not {area}");
}

#[test]
fn groups_and_bands_share_their_samples() {
    // At depth 6 a group has 512 pixels: here are 2,000, all of them divided a little.
    let stripes = |p: Vec2| gray(if (p.x * 0.5).fract() < 0.45 { 1.0 } else { 0.0 });
    let sampler = AdaptiveSampler::plain(Window::whole(50, 40), Settings { threshold: 0.1, depth: 6 });
    let (film, statistics, asked) = sampled(&sampler, stripes);
    assert_distinct(&asked);
    assert_eq!(statistics.subdivided, 2000);
    for y in 0..40 {
        assert_eq!(red(&film, 10, y), red(&film, 12, 0), "row {y}");
    }
}

#[test]
fn a_window_has_the_pixels_of_the_whole_image() {
    let field = |p: Vec2| gray(if (p - Vec2::new(11.3, 8.7)).length() < 6.0 { 0.9 } else { 0.1 });
    let settings = Settings { threshold: 0.05, depth: 3 };
    let (whole, ..) = sampled(&AdaptiveSampler::plain(Window::whole(24, 18), settings), field);
    let window = Window { x: 5, y: 3, width: 9, height: 7 };
    let (part, ..) = sampled(&AdaptiveSampler::plain(window, settings), field);
    for y in 0..7 {
        for x in 0..9 {
            let [found, expected] = [(&part, x, y), (&whole, x + 5, y + 3)].map(|(film, x, y)| film.pixel(x, y));
            assert_eq!(found, expected, "{x}, {y}");
        }
    }
}

#[test]
fn every_filter_keeps_constants_and_the_middle_of_an_edge() {
    for (name, kind) in FilterKind::ALL {
        for width in [1.0, 2.0, 3.5] {
            let filter = PixelFilter { kind, width: [width, width] };
            let sampler = AdaptiveSampler { filter, ..plain(9, 3, 4) };
            let (film, statistics, asked) = sampled(&sampler, |_| gray(0.5));
            assert!(film.pixels().all(|pixel| (pixel.mean()[0] - 0.5).abs() < 1e-5), "{name} {width}");
            let margin = (0.5 * width - 0.5).ceil() as usize;
            assert_eq!((statistics.pixels, asked.len()), (27, (10 + 2 * margin) * (4 + 2 * margin)), "{name} {width}");
            // An edge through the middle of a pixel is half on either side of it.
            let edge = |p: Vec2| gray(0.5 - 0.5 * (p.x - 4.5).partial_cmp(&0.0).map_or(0.0, |side| side as i8 as f32));
            let (film, ..) = sampled(&sampler, edge);
            let [left, middle, right] = [3, 4, 5].map(|x| red(&film, x, 1));
            assert!((middle - 0.5).abs() < 1e-3 && (left + right - 1.0).abs() < 1e-3, "{name} {width}: {middle}");
            assert!(left > 0.7 && right < 0.3, "{name} {width}: {left} {right}");
        }
    }
}

#[test]
fn errors_of_the_callback_end_the_sampling() {
    let sampler = plain(4, 4, 2);
    let stopped = sampler.film(&mut |_| Err(RenderError::Stopped), &|_| {});
    assert!(matches!(stopped, Err(RenderError::Stopped)));
}

/// A job of a RIB text at this size, and its scene.
fn job_of(text: &str, size: (u32, u32)) -> (Job, Scene) {
    let mut sources = SourceMap::new();
    let options = OpenOptions { size: Some(size), ..OpenOptions::default() };
    let opened = match text.strip_prefix('@') {
        Some(name) => open_builtin(name, &options, &mut sources),
        None => open_bytes("test.rib", text.as_bytes().to_vec(), &options, &mut sources),
    };
    let scene = opened.expect("a scene").scene;
    let program = link(&scene, sources, &LinkOptions::default()).expect("its shaders compile");
    let sampling = Sampling { strata: [1, 1], seed: 0 };
    let window = Window::whole(size.0, size.1);
    (prepare(program, &scene, window, sampling, DEFAULT_BUDGET).expect("it fits"), scene)
}

#[test]
fn an_image_does_not_depend_on_the_number_of_threads() {
    let (job, scene) = job_of("@sepia", (40, 30));
    let sampler = AdaptiveSampler::new(&job, &scene, Settings::default()).unwrap();
    let draw = |threads: usize| {
        let mut rpu = RpuProgressive::new(RpuRenderer::new()).on_own_threads(threads).unwrap();
        sampler.draw(&mut rpu, &job, &AtomicBool::new(false), &|_| {}).unwrap()
    };
    let (image, statistics) = draw(1);
    assert!(statistics.subdivided > 10 && statistics.mean() > 1.2, "{statistics:?}");
    assert_eq!(draw(3), (image, statistics));
}

#[test]
fn the_pixels_of_a_small_sphere_are_divided() {
    let text = "Projection \"perspective\" \"fov\" [90]\nTranslate 0 0 4\nWorldBegin\nSurface \"constant\"\n\
        TransformBegin Translate 0.13 0.07 0 Sphere 0.05 -0.05 0.05 360 TransformEnd\n\
        TransformBegin Translate -2 0 0 Sphere 1 -1 1 360 TransformEnd\nWorldEnd\n";
    // A pixel is 0.25 wide at the spheres: the corners around the small one see past it.
    let (job, scene) = job_of(text, (32, 32));
    let sampler = AdaptiveSampler::new(&job, &scene, Settings { threshold: 0.1, depth: 5 }).unwrap();
    let mut rpu = RpuProgressive::new(RpuRenderer::new());
    let mut draw = |sampler: &AdaptiveSampler| sampler.draw(&mut rpu, &job, &AtomicBool::new(false), &|_| {}).unwrap();
    let (image, statistics) = draw(&sampler);
    let covered = image.rgba[15 * 32 + 16][3];
    let area = std::f32::consts::PI * 0.2f32.powi(2);
    // As triangles it is smaller than the disk.
    assert!((0.7..1.05).contains(&(covered / area)), "{covered}, not {area}");
    assert_eq!(statistics.forced, 1);
    let (image, statistics) = draw(&AdaptiveSampler { small: SmallObjects::default(), ..sampler });
    assert_eq!((image.rgba[15 * 32 + 16][3], statistics.forced), (0.0, 0));
}

#[test]
fn scenes_that_need_random_samples_are_refused() {
    let new = |head: &str| {
        let text =
            format!("{head}\nProjection \"perspective\"\nTranslate 0 0 4\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\n");
        let (job, scene) = job_of(&text, (8, 8));
        AdaptiveSampler::new(&job, &scene, Settings::default()).map(drop)
    };
    assert_eq!(new(""), Ok(()));
    assert_eq!(new("DepthOfField 2 1 4"), Err(Unsupported::Lens));
    let moves = "Shutter 0 1\nMotionBegin [0 1] Translate 0 0 0 Translate 1 0 0 MotionEnd";
    assert_eq!(new(moves), Err(Unsupported::Motion));
}
