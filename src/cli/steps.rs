//! Drawing that may be interrupted, and goes on where `--resume` names a file.

use super::args::{RenderArgs, SamplePattern};
use super::common::progressive;
use super::exit::Failure;
use super::interrupt;
use super::progress::{Work, with_progress};
use super::render::Drawn;
use anyhow::Context;
use shadewright::image::file as image_file;
use shadewright::render::checkpoint::{self, Subject};
use shadewright::render::film::Film;
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::{Job, RenderError, steps};
use shadewright::scene::Scene;
use std::hash::Hash;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Samples a pixel below which their scatter says little.
const FEWEST: u32 = 15;

/// How long samples lie in memory alone.
const KEPT_EVERY: Duration = Duration::from_secs(60);

/// Draws an image of what stands still, in passes.
pub fn draw(args: &RenderArgs, job: &Job, scene: &Scene, rpu: RpuRenderer) -> Result<Drawn, Failure> {
    let failure = |e: RenderError| Failure::render(&e, &job.program.sources);
    if args.target_error.is_some() && args.scene.pattern != SamplePattern::Sobol {
        return Err(Failure::input(
            "error: --target-error needs --pattern sobol: the first strata of a pixel cover only a part of it",
        ));
    }
    let stop = interrupt::watched()?;
    let (mut machine, device) = progressive(args.backend, &args.machine, rpu)?;
    let start = Instant::now();
    let mut film = Film::new(job.window.width, job.window.height).map_err(|e| failure(e.into()))?;
    let kept = args.resume.as_deref().map(|path| {
        let name = machine.describe();
        // The RPU also tells its threads, which change nothing.
        let name = name.split(',').next().unwrap_or_default();
        let code = format!("{name} {:?} {:?} {:?}", args.format, args.scene.passes, args.scene.convention);
        Kept { path, subject: Subject::of(job, shapes(scene), &code) }
    });
    let all = job.sampling.count();
    let before = match &kept {
        Some(kept) => kept.read(&mut film)?,
        None => 0,
    };
    machine.load(job).map_err(failure)?;
    let mut written = Instant::now();
    let mut trouble = None;
    let mut is_good = false;
    let shown = Work { what: "rendering", samples: Some(all) };
    let done = with_progress(shown, |progress| {
        progress(before as f32 / all as f32);
        let mut after = |[before, film]: [&Film; 2], done: u32| {
            progress(done as f32 / all as f32);
            let target = args.target_error.filter(|_| done >= FEWEST);
            if target.is_some_and(|target| steps::error(before, film) <= target) {
                is_good = true;
                return ControlFlow::Break(());
            }
            if let Some(kept) = kept.as_ref().filter(|_| done < all && written.elapsed() > KEPT_EVERY) {
                trouble = kept.write(film, done).err().or(trouble.take());
                written = Instant::now();
            }
            ControlFlow::Continue(())
        };
        steps::draw(&mut *machine, job, &mut film, before, stop, &mut after)
    });
    let done = done.map_err(failure)?;
    if let Some(trouble) = trouble {
        eprintln!("warning: {trouble}");
    }
    let interrupted = (done < all && !is_good).then_some(done);
    if let Some(kept) = kept.as_ref().filter(|_| interrupted.is_some() && 0 < done) {
        kept.write(&film, done)?;
    }
    if done == 0 && film.pixels().iter().all(|pixel| pixel.weight == 0.0) {
        return Err(Failure::interrupted("interrupted before there was a sample: no image was written"));
    }
    let image = machine.finish(&film, 1, &AtomicBool::new(false)).map_err(failure)?;
    Ok(Drawn {
        image,
        device,
        report: machine.report(),
        time: start.elapsed(),
        samples: done,
        interrupted: interrupted.is_some(),
    })
}

/// What an interrupted render says and leaves: the image is in `out`.
pub fn interrupted(args: &RenderArgs, out: &Path, done: u32, all: u32) -> Failure {
    let out = out.display();
    let so_far = match done {
        0 => format!("interrupted within the first sample: `{out}` has what was drawn"),
        _ => format!("interrupted after {done} of {all} samples a pixel: `{out}` has the image so far"),
    };
    Failure::interrupted(match &args.resume {
        Some(file) if done > 0 => format!("{so_far}, and the same command goes on from `{}`", file.display()),
        _ => so_far,
    })
}

/// A file of samples.
struct Kept<'a> {
    path: &'a Path,
    subject: Subject,
}

impl Kept<'_> {
    /// Reads the file into the film, if there is one: how many samples a pixel there are.
    fn read(&self, film: &mut Film) -> Result<u32, Failure> {
        let bytes = match std::fs::read(self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(Failure::input(format!("error: cannot read `{}`: {error}", self.path.display()))),
        };
        checkpoint::from_bytes(&bytes, self.subject, film).map_err(|error| {
            let path = self.path.display();
            Failure::input(format!(
                "error: cannot go on from `{path}`: {error}\n  = help: another name, or none, begins anew"
            ))
        })
    }

    fn write(&self, film: &Film, samples: u32) -> Result<(), Failure> {
        Ok(image_file::write_bytes(self.path, &checkpoint::to_bytes(self.subject, film, samples))?)
    }
}

/// Removes the file of an image that is complete.
pub fn forget(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing `{}`", path.display())).map_err(Failure::from)
        }
        _ => Ok(()),
    }
}

/// A hash of where things are, which a job has only as trees.
fn shapes(scene: &Scene) -> u64 {
    checkpoint::hashed(|h| {
        for object in &scene.objects {
            object.object_to_world.to_cols_array().map(f32::to_bits).hash(h);
            object.mesh.positions.iter().for_each(|p| p.to_array().map(f32::to_bits).hash(h));
            object.mesh.triangles.hash(h);
        }
    })
}
