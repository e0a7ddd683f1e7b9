//! An image drawn in passes that somebody may stop: what is there after the last whole pass is as good as that many samples, and the rest can be drawn later, to the same bits.

use super::film::Film;
use super::progressive::{Pass, Progressive};
use super::{Job, RenderError};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Passes grow as long as they take less than this.
const LONG: Duration = Duration::from_secs(2);

/// What `after` of [`draw`] gets: the film before a pass and behind it, and how many samples a pixel there are.
pub type After<'a> = &'a mut dyn FnMut([&Film; 2], u32) -> ControlFlow<()>;

/// Draws the samples of a loaded job from `done` on into a film that holds those before, and tells `after` of every whole pass, which may call it the last. Gives the number of samples: less than all where that was so, or somebody
/// set `stop`. The film then holds whole passes, but of the first pass what there is.
///
/// # Errors
/// Those of the machine.
pub fn draw(
    machine: &mut dyn Progressive,
    job: &Job,
    film: &mut Film,
    mut done: u32,
    stop: &AtomicBool,
    after: After<'_>,
) -> Result<u32, RenderError> {
    let all = job.sampling.count();
    let mut count = 1;
    while done < all {
        let whole = film.clone();
        let begin = Instant::now();
        count = count.min(all - done);
        match machine.draw(Pass { step: 1, first: done, count }, film, stop) {
            Ok(()) => {}
            Err(RenderError::Stopped) => {
                if done > 0 {
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

/// The standard error of the means of a film, as far as two parts of its samples tell: one is in the film as it was `before`, the other came since. The root of the mean square over pixels and colours.
pub fn error(before: &Film, film: &Film) -> f64 {
    let mut sum = 0.0;
    for (first, all) in before.pixels().iter().zip(film.pixels()) {
        let [one, whole] = [first.weight, all.weight].map(f64::from);
        let other = whole - one;
        if one > 0.0 && other > 0.0 {
            for (&x, &y) in first.sum.iter().zip(&all.sum).take(3) {
                let (x, y) = (f64::from(x), f64::from(y));
                // Both means scatter by their numbers: σ² (1/n + 1/m), that of all by σ²/(n + m).
                sum += (x / one - (y - x) / other).powi(2) * one * other / (whole * whole);
            }
        }
    }
    (sum / (3 * film.pixels().len().max(1)) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Image;
    use crate::render::Renderer;
    use crate::render::progressive::checks::job_of;
    use crate::render::rpu::{RpuProgressive, RpuRenderer};
    use std::sync::atomic::Ordering;

    /// The image where drawing is stopped behind so many samples, and then goes on.
    fn stopped_after(samples: u32) -> Image {
        let job = job_of("sepia", 20, 11, [4, 3]);
        let mut machine = RpuProgressive::new(RpuRenderer::new());
        machine.load(&job).unwrap();
        let mut film = Film::new(20, 11).unwrap();
        let stop = AtomicBool::new(false);
        let mut after = |_: [&Film; 2], done| {
            stop.store(done >= samples, Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        let done = draw(&mut machine, &job, &mut film, 0, &stop, &mut after).unwrap();
        assert!(done >= samples);
        assert!(film.pixels().iter().all(|pixel| pixel.weight == done as f32));
        stop.store(false, Ordering::Relaxed);
        assert_eq!(
            draw(&mut machine, &job, &mut film, done, &stop, &mut |_, _| ControlFlow::Continue(())).unwrap(),
            12
        );
        machine.finish(&film, 1, &stop).unwrap()
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
        // Uniform numbers from 0 to 1 scatter by 1/√12, the mean of 64 by an eighth of it.
        let mut x = 1u32;
        let mut number = || {
            x = crate::random::hash(x.wrapping_add(0x9e37_79b9));
            crate::random::unit(x)
        };
        let mut film = Film::new(40, 40).unwrap();
        let mut pass = |film: &mut Film| film.add_pass(&[[0; 4]; 1600].map(|p| p.map(|_| number())));
        (0..24).for_each(|_| pass(&mut film));
        let before = film.clone();
        (0..40).for_each(|_| pass(&mut film));
        let expected = (1.0f64 / 12.0).sqrt() / 8.0;
        let found = error(&before, &film);
        assert!((found / expected - 1.0).abs() < 0.05, "{found}, not {expected}");
        assert_eq!(error(&film, &film), 0.0);
    }

    #[test]
    fn what_is_stopped_at_once_has_no_samples() {
        let job = job_of("sepia", 20, 11, [2, 2]);
        let mut machine = RpuProgressive::new(RpuRenderer::new());
        machine.load(&job).unwrap();
        let mut film = Film::new(20, 11).unwrap();
        let done =
            draw(&mut machine, &job, &mut film, 0, &AtomicBool::new(true), &mut |_, _| ControlFlow::Continue(()));
        assert_eq!(done.unwrap(), 0);
    }
}
