//! An image rendered in passes that can be interrupted: after the last whole pass it has that many
//! samples, and the rest can be rendered later, with bit-identical results.

use super::RenderError;
use super::film::Film;
use super::progressive::{Pass, Progressive};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Passes grow as long as they take less than this.
const LONG: Duration = Duration::from_secs(2);

/// The callback of [`draw`]: gets the film before and after a pass, and the number of samples in
/// each pixel.
pub type After<'a> = &'a mut dyn FnMut([&Film; 2], u32) -> ControlFlow<()>;

/// Renders some samples of a loaded job into a film that holds those before them, and calls `after`
/// with every whole pass, which may end the rendering. Returns the number of the next sample: below
/// the end of the range where `after` ended it, or `stop` was set. The film then holds whole passes; an
/// interrupted first pass is kept as it is.
///
/// # Errors
/// The errors of the renderer.
pub fn draw(
    progressive: &mut dyn Progressive,
    film: &mut Film,
    samples: Range<u32>,
    stop: &AtomicBool,
    after: After<'_>,
) -> Result<u32, RenderError> {
    let Range { start, end } = samples;
    let (mut done, mut count) = (start, 1);
    while done < end {
        let whole = film.clone();
        let begin = Instant::now();
        count = count.min(end - done);
        match progressive.draw(Pass { step: 1, first: done, count }, film, stop) {
            Ok(()) => {}
            Err(RenderError::Stopped) => {
                if done > start {
                    *film = whole;
                }
                return Ok(done);
            }
            Err(error) => return Err(error),
        }
        done += count;
        if after([&whole, film], done).is_break() {
            break;
        }
        if begin.elapsed() < LONG {
            count *= 2;
        }
    }
    Ok(done)
}

/// The standard error of the means of a film, estimated from two sets of its samples: those in the
/// film `before`, and those since. The root mean square over pixels and color channels.
pub fn error(before: &Film, film: &Film) -> f64 {
    let mut sum = 0.0;
    for (first, all) in before.pixels().zip(film.pixels()) {
        let [one, whole] = [first.weight, all.weight].map(f64::from);
        let other = whole - one;
        if one > 0.0 && other > 0.0 {
            for (&x, &y) in first.sum.iter().zip(&all.sum).take(3) {
                let (x, y) = (f64::from(x), f64::from(y));
                // The difference of the means has variance σ² (1/n + 1/m), the mean of all samples
                // σ²/(n + m).
                sum += (x / one - (y - x) / other).powi(2) * one * other / (whole * whole);
            }
        }
    }
    (sum / (3 * film.pixel_count().max(1)) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Renderer;
    use crate::progressive::checks::job_of;
    use crate::rpu::{RpuProgressive, RpuRenderer};
    use shadewright_image::Image;
    use std::sync::atomic::Ordering;

    /// The image where rendering is stopped after this many samples, and then resumed.
    fn stopped_after(samples: u32) -> Image {
        let job = job_of("sepia", 20, 11, [4, 3]);
        let mut progressive = RpuProgressive::new(RpuRenderer::new());
        progressive.load(&job).unwrap();
        let mut film = Film::with_samples(20, 11, 12).unwrap();
        let stop = AtomicBool::new(false);
        let mut after = |_: [&Film; 2], done| {
            stop.store(done >= samples, Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        let done = draw(&mut progressive, &mut film, 0..12, &stop, &mut after).unwrap();
        assert!(done >= samples);
        assert!(film.pixels().all(|pixel| pixel.weight == done as f32));
        stop.store(false, Ordering::Relaxed);
        assert_eq!(
            draw(&mut progressive, &mut film, done..12, &stop, &mut |_, _| ControlFlow::Continue(())).unwrap(),
            12
        );
        progressive.finish(&film, 1, &stop).unwrap()
    }

    #[test]
    fn a_image_that_was_stopped_goes_on_to_the_same_bits() {
        let whole = RpuRenderer::new().render(&job_of("sepia", 20, 11, [4, 3]), &|_| {}).unwrap();
        for samples in [1, 3, 12] {
            assert_eq!(stopped_after(samples), whole, "{samples}");
        }
    }

    #[test]
    fn the_error_is_that_of_independent_samples() {
        // Uniform random numbers have the standard deviation 1/√12, the mean of 64 an eighth of it.
        let mut x = 1u32;
        let mut number = || {
            x = shadewright_base::random::hash(x.wrapping_add(0x9e37_79b9));
            shadewright_base::random::unit(x)
        };
        let mut film = Film::with_samples(40, 40, 64).unwrap();
        let mut pass = |film: &mut Film, index| {
            (0..1600).for_each(|at| film.add_sample(at % 40, at / 40, index, [0; 4].map(|_| number())));
        };
        (0..24).for_each(|index| pass(&mut film, index));
        let before = film.clone();
        (24..64).for_each(|index| pass(&mut film, index));
        let expected = (1.0f64 / 12.0).sqrt() / 8.0;
        let found = error(&before, &film);
        assert!((found / expected - 1.0).abs() < 0.05, "{found}, not {expected}");
        assert_eq!(error(&film, &film), 0.0);
    }

    #[test]
    fn what_is_stopped_at_once_has_no_samples() {
        let job = job_of("sepia", 20, 11, [2, 2]);
        let mut progressive = RpuProgressive::new(RpuRenderer::new());
        progressive.load(&job).unwrap();
        let mut film = Film::new(20, 11).unwrap();
        let done =
            draw(&mut progressive, &mut film, 0..4, &AtomicBool::new(true), &mut |_, _| ControlFlow::Continue(()));
        assert_eq!(done.unwrap(), 0);
    }
}
