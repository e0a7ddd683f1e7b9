//! An image on the timed simulator.
//!
//! Takes a [`Job`] as the renderer does and gives the same image, with statistics and the cost of
//! each pixel.

use super::calls::Calls;
use super::frame::Frame;
use super::loaded::Loaded;
use super::passes::imager_inputs;
use super::{SceneTracer, cause};
use crate::film::Film;
use crate::progressive::Pass;
use crate::{Job, Progress, RenderError, Window};
use shadewright_image::Image;
use shadewright_program::{CAMERA_ENTRY, IMAGER_ENTRY};
use shadewright_rpu::timed::{Config, Stats};
use std::sync::atomic::AtomicBool;

/// The result of a simulation.
#[derive(Debug)]
pub struct Simulation {
    /// The image, the same bits as the renderer's.
    pub image: Image,
    /// Statistics of the run.
    pub stats: Stats,
    /// Issue slots that each pixel took, row by row, in parts of [`shadewright_rpu::timed::SLOT_PARTS`].
    /// They add up to all issue slots.
    pub cost: Vec<u64>,
}

/// Renders a job on the timed simulator.
///
/// # Errors
/// As rendering.
pub fn simulate(
    job: &Job,
    loaded: &Loaded,
    config: &Config,
    progress: Progress<'_>,
) -> Result<Simulation, RenderError> {
    let stop = AtomicBool::new(false);
    let data = loaded.data(&job.program.memory.vectors).with_uniforms(job.program.constants.vectors());
    let tracer = SceneTracer::for_job(job, loaded, &data, &stop)?;
    let context = loaded.execution_context(&data, &tracer, job.budget, &stop);
    let timing = loaded.timing(config);
    let call = |function: &'static str| {
        let (context, timing) = (&context, &timing);
        move |calls: &mut dyn Calls| loaded.run_timed(context, timing, function, calls, &job.program.module)
    };
    let Window { width, height, .. } = job.window;
    let at = |x: u32, y: u32| y as usize * width as usize + x as usize;
    let frame = Frame { width, height, samples: job.sampling.count(), processors: config.processors.count, progress };
    let mut film = Film::with_samples(width, height, job.sampling.count())?;
    let mut cost = vec![0; at(0, height)];

    let pass = Pass::whole(job.sampling);
    let sample = |x, y, index| pass.sample(job.window, job.sampling, &job.film, [x, y], index);
    let words = job.program.camera_arguments();
    let input = |x, y, index| sample(x, y, index).arguments().into_iter().take(words).map(f32::to_bits).collect();
    // The samples of a pixel come in their order.
    let mut taken = vec![0; cost.len()];
    let mut output = |x, y, rgba, slots| {
        let index = taken[at(x, y)];
        film.add_weighted(x, y, index, rgba, sample(x, y, index).weight);
        taken[at(x, y)] += 1;
        cost[at(x, y)] += slots;
    };
    let run = frame.run(&stop, &input, &mut output, call(CAMERA_ENTRY));
    let mut stats = cause(run, &tracer, loaded, job)?;
    let mut image = job.film.develop(&film);
    if job.program.has_imager {
        let mut rgba = image.rgba.clone();
        let input = |x, y, _| imager_inputs(job, &image, pass.step, [x, y]).to_vec();
        let mut output = |x, y, value, slots| {
            rgba[at(x, y)] = value;
            cost[at(x, y)] += slots;
        };
        let frame = Frame { samples: 1, ..frame };
        stats.then(&frame.run(&stop, &input, &mut output, call(IMAGER_ENTRY))?);
        image.rgba = rgba;
    }
    Ok(Simulation { image, stats, cost })
}
