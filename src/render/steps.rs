//! A picture drawn in passes that somebody may stop: what is there after the last whole pass is as good as that many samples, and the rest can be drawn later, to the same bits.

use super::film::Film;
use super::progressive::{Pass, Progressive};
use super::{Job, RenderError};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Passes grow as long as they take less than this.
const LONG: Duration = Duration::from_secs(2);

/// Draws the samples of a loaded job from `done` on into a film that holds those before, and tells `after` of every whole pass how many there are. Gives their number: less than all where somebody
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
    after: &mut dyn FnMut(&Film, u32),
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
        after(film, done);
        if begin.elapsed() < LONG {
            count *= 2;
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::progressive::checks::job_of;
    use crate::render::rpu::{RpuProgressive, RpuRenderer};
    use crate::render::{Renderer, film::Picture};
    use std::sync::atomic::Ordering;

    /// The picture where drawing is stopped behind so many samples, and then goes on.
    fn stopped_after(samples: u32) -> Picture {
        let job = job_of("sepia", 20, 11, [4, 3]);
        let mut machine = RpuProgressive::new(RpuRenderer::new());
        machine.load(&job).unwrap();
        let mut film = Film::new(20, 11).unwrap();
        let stop = AtomicBool::new(false);
        let mut after = |_: &Film, done| stop.store(done >= samples, Ordering::Relaxed);
        let done = draw(&mut machine, &job, &mut film, 0, &stop, &mut after).unwrap();
        assert!(done >= samples);
        assert!(film.pixels().iter().all(|pixel| pixel.weight == done as f32));
        stop.store(false, Ordering::Relaxed);
        assert_eq!(draw(&mut machine, &job, &mut film, done, &stop, &mut |_, _| {}).unwrap(), 12);
        machine.finish(&film, 1, &stop).unwrap()
    }

    #[test]
    fn a_picture_that_was_stopped_goes_on_to_the_same_bits() {
        let whole = RpuRenderer::new().render(&job_of("sepia", 20, 11, [4, 3]), &|_| {}).unwrap();
        for samples in [1, 3, 12] {
            assert_eq!(stopped_after(samples), whole, "{samples}");
        }
    }

    #[test]
    fn what_is_stopped_at_once_has_no_samples() {
        let job = job_of("sepia", 20, 11, [2, 2]);
        let mut machine = RpuProgressive::new(RpuRenderer::new());
        machine.load(&job).unwrap();
        let mut film = Film::new(20, 11).unwrap();
        let done = draw(&mut machine, &job, &mut film, 0, &AtomicBool::new(true), &mut |_, _| {});
        assert_eq!(done.unwrap(), 0);
    }
}
