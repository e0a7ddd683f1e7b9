//! Rendering in passes: interruption, checkpoints with `--resume`, and `--target-error`.

use super::args::RenderArgs;
use super::backend::progressive;
use super::failure::Failure;
use super::interrupt;
use super::progress::{Work, with_progress};
use super::record;
use super::render::Drawn;
use anyhow::Context;
use shadewright::disk;
use shadewright::image::file as image_file;
use shadewright::image::{SizeError, Variance};
use shadewright::render::checkpoint;
use shadewright::render::film::Film;
use shadewright::render::record::Subject;
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::{Job, RenderError, passes};
use shadewright::scene::Scene;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Fewest samples per pixel for an error estimate.
const MIN_SAMPLES: u32 = 15;

/// Time between checkpoints.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(60);

/// An empty film for a job, which estimates variances where they can be known afterwards: an imager
/// changes them in ways of its own.
pub fn film_of(job: &Job) -> Result<Film, SizeError> {
    let film = Film::with_samples(job.window.width, job.window.height, job.sampling.count())?;
    Ok(if job.program.has_imager { film } else { film.with_variance() })
}

/// The variances of a job's image, of which a film has the samples below `end`.
pub fn variance_of(job: &Job, film: &Film, end: u32) -> Option<Variance> {
    let variance = film.variance(end)?;
    Some(job.film.develop_variance(&film.resolve(), variance))
}

/// Renders an image of a scene without motion, in passes.
pub fn draw(args: &RenderArgs, job: &Job, scene: &Scene, rpu: RpuRenderer) -> Result<Drawn, Failure> {
    let failure = |e: RenderError| Failure::render(&e, &job.program.sources);
    let stop = interrupt::watched()?;
    let (mut renderer, device) = progressive(args.backend, args.devices(), rpu)?;
    let start = Instant::now();
    let mut film = film_of(job).map_err(|e| failure(e.into()))?;
    let saved = args
        .output
        .resume
        .as_deref()
        .map(|path| Checkpoint { path, subject: record::subject(args, job, scene, &device) });
    let all = job.sampling.count();
    let before = match &saved {
        Some(saved) => saved.read(&mut film)?,
        None => 0,
    };
    renderer.load(job).map_err(failure)?;
    let mut written = Instant::now();
    let mut trouble = None;
    let mut is_good = false;
    let shown = Work { what: "rendering", samples: Some(all) };
    let done = with_progress(shown, |progress| {
        progress(before as f32 / all as f32);
        let mut after = |[before, film]: [&Film; 2], done: u32| {
            progress(done as f32 / all as f32);
            let target = args.target_error.filter(|_| done >= MIN_SAMPLES);
            if target.is_some_and(|target| passes::error(before, film) <= target) {
                is_good = true;
                return ControlFlow::Break(());
            }
            if let Some(saved) = saved.as_ref().filter(|_| done < all && written.elapsed() > CHECKPOINT_INTERVAL) {
                trouble = saved.write(film, done).err().or(trouble.take());
                written = Instant::now();
            }
            ControlFlow::Continue(())
        };
        passes::draw(&mut *renderer, &mut film, before..all, stop, &mut after)
    });
    let done = done.map_err(failure)?;
    let interrupted = done < all && !is_good;
    let mut is_saved = false;
    if let Some(saved) = saved.as_ref().filter(|_| interrupted && 0 < done) {
        let written = saved.write(&film, done);
        is_saved = written.is_ok();
        trouble = written.err().or(trouble);
    }
    // The image is worth more than its checkpoint.
    if let Some(trouble) = trouble {
        eprintln!("warning: {trouble}");
    }
    if done == 0 && film.pixels().all(|pixel| pixel.weight == 0.0) {
        return Err(Failure::interrupted("interrupted before the first sample: no image was written"));
    }
    let image = renderer.finish(&film, 1, &AtomicBool::new(false)).map_err(failure)?;
    let (report, time) = (renderer.report(), start.elapsed());
    let variance = variance_of(job, &film, done);
    Ok(Drawn { image, variance, device, report, time, samples: done, adaptive: None, interrupted, is_saved })
}

/// The failure of an interrupted render, whose image so far is in `out`.
pub fn interrupted(args: &RenderArgs, out: &Path, drawn: &Drawn, all: u32) -> Failure {
    let (out, done) = (out.display(), drawn.samples);
    let so_far = match done {
        0 => format!("interrupted in the first sample: `{out}` has the pixels so far"),
        _ => format!("interrupted after {done} of {all} samples a pixel: `{out}` has the image so far"),
    };
    Failure::interrupted(match &args.output.resume {
        Some(file) if drawn.is_saved => format!("{so_far}; run the command again to resume from `{}`", file.display()),
        _ => so_far,
    })
}

/// Refuses a checkpoint that cannot be written, or that is one of the images itself: these are
/// given as [`image_file::check_writable`] gives them.
pub fn check(checkpoint: &Path, images: &[PathBuf]) -> Result<(), Failure> {
    if images.contains(&image_file::check_replaceable(checkpoint)?) {
        let path = checkpoint.display();
        return Err(Failure::input(format!(
            "error: --resume: `{path}` is the image itself\n  = help: a checkpoint is a file of its own, which is removed when the image is complete"
        )));
    }
    Ok(())
}

/// A checkpoint file.
struct Checkpoint<'a> {
    path: &'a Path,
    subject: Subject,
}

impl Checkpoint<'_> {
    /// Reads the file into the film, if it exists. Returns the number of samples per pixel.
    fn read(&self, film: &mut Film) -> Result<u32, Failure> {
        // More bytes than a checkpoint of the image has are not read.
        let most = checkpoint::bytes_of(film) + 1;
        let bytes = match disk::start(self.path, most) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(Failure::input(format!("error: cannot read `{}`: {error}", self.path.display()))),
        };
        checkpoint::from_bytes(&bytes, self.subject, film).map_err(|error| {
            let path = self.path.display();
            Failure::input(format!(
                "error: cannot resume from `{path}`: {error}\n  = help: delete it or name another file to start again"
            ))
        })
    }

    fn write(&self, film: &Film, samples: u32) -> Result<(), Failure> {
        Ok(image_file::write_bytes(self.path, &checkpoint::to_bytes(self.subject, film, samples))?)
    }
}

/// Removes the checkpoint of a complete image.
pub fn forget(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing `{}`", path.display())).map_err(Failure::from)
        }
        _ => Ok(()),
    }
}
