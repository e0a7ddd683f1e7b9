//! Tests that every implementation of [`Progressive`] passes, and their jobs.

use super::{Pass, Progressive, middle};
use crate::film::Film;
use crate::sampling::Sampling;
use crate::{DEFAULT_BUDGET, Job, RenderError, Renderer, Window, prepare};
use glam::Vec2;
use shadewright_base::text::source::SourceMap;
use shadewright_image::Image;
use shadewright_ir::abi::frame::FrameConstants;
use shadewright_program::{LinkOptions, link};
use shadewright_scene::{OpenOptions, open_builtin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A built-in scene at this size; "sepia" has an imager.
pub fn job_of(scene: &str, width: u32, height: u32, strata: [u32; 2]) -> Job {
    let mut sources = SourceMap::new();
    let options = OpenOptions { size: Some((width, height)), ..OpenOptions::default() };
    let scene = open_builtin(scene, &options, &mut sources).expect("a built-in scene").scene;
    let program = link(&scene, sources, &LinkOptions::default()).expect("its shaders compile");
    prepare(program, &scene, Window::whole(width, height), Sampling { strata, seed: 3 }, DEFAULT_BUDGET)
        .expect("it fits")
}

/// Draws passes into one film and finishes it.
pub fn drawn(progressive: &mut dyn Progressive, job: &Job, passes: &[Pass]) -> Image {
    let [width, height] = passes[0].size(job.window);
    let film = Film::with_samples(width, height, job.sampling.count());
    let (mut film, stop) = (film.unwrap(), AtomicBool::new(false));
    for &pass in passes {
        progressive.draw(pass, &mut film, &stop).unwrap();
    }
    progressive.finish(&film, passes[0].step, &stop).unwrap()
}

/// Equal as bit patterns.
fn assert_same_bits(found: &Image, expected: &Image) {
    let bits = |p: &Image| p.rgba.iter().flatten().map(|c| c.to_bits()).collect::<Vec<_>>();
    assert_eq!((found.width, found.height), (expected.width, expected.height));
    assert!(bits(found) == bits(expected), "the images differ");
}

/// Passes give the renderer's image, however the samples are divided among them.
pub fn passes_in_order_make_the_render(progressive: &mut dyn Progressive, renderer: &mut dyn Renderer) {
    let job = job_of("sepia", 37, 23, [4, 2]);
    progressive.load(&job).unwrap();
    let expected = renderer.render(&job, &|_| {}).unwrap();
    for counts in [&[8][..], &[1, 4, 3], &[1; 8]] {
        let starts = counts.iter().scan(0, |next, &count| {
            *next += count;
            Some(*next - count)
        });
        let passes: Vec<_> = starts.zip(counts).map(|(first, &count)| Pass { step: 1, first, count }).collect();
        assert_same_bits(&drawn(progressive, &job, &passes), &expected);
    }
}

/// A pixel of a coarse pass is what an image of one sample a pixel has in the middle of its block,
/// where that is the middle of a pixel.
pub fn a_coarse_pass_samples_the_middle_of_its_blocks(progressive: &mut dyn Progressive) {
    let job = job_of("sepia", 33, 21, [1, 1]);
    progressive.load(&job).unwrap();
    let full = drawn(progressive, &job, &[Pass::whole(job.sampling)]);
    let coarse = drawn(progressive, &job, &[Pass::coarse(3)]);
    assert_eq!((coarse.width, coarse.height), (11, 7));
    for y in 0..7 {
        for x in 0..11 {
            let at = middle(job.window, 3, [x, y]);
            let pixel = full.rgba[at.y as usize * 33 + at.x as usize];
            assert_eq!(coarse.rgba[(y * 11 + x) as usize], pixel, "block {x}, {y}");
        }
    }
}

/// The colors at the centers of pixels are an image of one sample a pixel, in whatever order they are
/// asked for.
pub fn colors_are_those_of_samples_in_the_same_positions(progressive: &mut dyn Progressive) {
    let job = job_of("quadrics", 33, 21, [1, 1]);
    progressive.load(&job).unwrap();
    let image = drawn(progressive, &job, &[Pass::whole(job.sampling)]);
    let order: Vec<usize> = (0..33 * 21).map(|i| i * 100 % (33 * 21)).collect();
    let positions: Vec<_> = order.iter().map(|i| Vec2::new((i % 33) as f32 + 0.5, (i / 33) as f32 + 0.5)).collect();
    let stop = AtomicBool::new(false);
    let colors = progressive.colors(&positions, &stop).unwrap();
    let expected: Vec<_> = order.iter().map(|&i| image.rgba[i]).collect();
    assert!(colors == expected, "the colors differ");
    assert!(progressive.colors(&[], &stop).unwrap().is_empty());
    stop.store(true, Ordering::Relaxed);
    assert!(matches!(progressive.colors(&positions, &stop), Err(RenderError::Stopped)));
}

/// A count of a report.
fn count(progressive: &dyn Progressive, name: &str) -> u64 {
    progressive.report().counts.iter().find(|c| c.name == name).expect("it is counted").count
}

/// Another camera takes other program constants and nothing else; other shading data no other code.
/// `loaded_again` is how many programs are loaded when the first one comes back after another.
pub fn what_is_the_same_stays_loaded(
    progressive: &mut dyn Progressive,
    renderer: &mut dyn Renderer,
    loaded_again: u64,
) {
    let first = job_of("sepia", 24, 16, [1, 1]);
    let mut moved = first.clone();
    moved.program.constants.camera_origin[0] += 0.25;
    moved.window = Window::whole(31, 9);
    let [width, height] = [31.0, 9.0];
    moved.program.constants = FrameConstants {
        width,
        height,
        inverse_width: 1.0 / width,
        inverse_height: 1.0 / height,
        ..moved.program.constants
    };
    let mut repainted = moved.clone();
    let memory = Arc::make_mut(&mut repainted.program.memory);
    for vector in &mut memory.vectors {
        for word in vector.iter_mut().filter(|word| **word == 0.7f32.to_bits()) {
            *word = 0.1f32.to_bits();
        }
    }
    let other = job_of("noise", 24, 16, [1, 1]);
    let jobs = [&first, &moved, &repainted, &other, &first];
    for (job, loaded) in jobs.into_iter().zip([[1, 1], [1, 1], [1, 2], [2, 3], [loaded_again, 4]]) {
        progressive.load(job).unwrap();
        let expected = renderer.render(job, &|_| {}).unwrap();
        assert_same_bits(&drawn(progressive, job, &[Pass::whole(job.sampling)]), &expected);
        assert_eq!([count(progressive, "programs loaded"), count(progressive, "memory images loaded")], loaded);
    }
}

/// A pass that is stopped ends soon, and the next one works.
pub fn a_pass_that_is_stopped_ends_soon(progressive: &mut dyn Progressive) {
    let job = job_of("sepia", 640, 480, [32, 32]);
    progressive.load(&job).unwrap();
    let stop = AtomicBool::new(true);
    let mut film = Film::with_samples(640, 480, job.sampling.count()).unwrap();
    assert!(matches!(progressive.draw(Pass::whole(job.sampling), &mut film, &stop), Err(RenderError::Stopped)));
    stop.store(false, Ordering::Relaxed);
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
        });
        let start = Instant::now();
        let ended = progressive.draw(Pass::whole(job.sampling), &mut film, &stop);
        // The whole pass would take minutes: this bounds nothing but that.
        assert!(start.elapsed() < Duration::from_secs(30));
        ended
    });
    assert!(matches!(ended, Err(RenderError::Stopped)), "{ended:?}");
    let small = job_of("sepia", 24, 16, [1, 1]);
    progressive.load(&small).unwrap();
    let whole = Pass::whole(small.sampling);
    assert_eq!(drawn(progressive, &small, &[whole]), drawn(progressive, &small, &[whole]));
}

/// Without a job there is an error, not an image.
pub fn nothing_is_drawn_before_a_job_is_loaded(progressive: &mut dyn Progressive) {
    let mut film = Film::new(2, 2).unwrap();
    assert!(progressive.draw(Pass::coarse(1), &mut film, &AtomicBool::new(false)).is_err());
}
