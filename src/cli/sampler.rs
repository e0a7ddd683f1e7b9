//! `--sampler adaptive`.

use super::args::{RenderArgs, SamplerArgs, SamplerChoice};
use super::backend::progressive;
use super::failure::Failure;
use super::interrupt;
use super::progress::{Work, with_progress};
use super::render::Drawn;
use shadewright::image::Image;
use shadewright::render::adaptive::{AdaptiveSampler, Settings, Statistics};
use shadewright::render::progressive::Progressive;
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::{Job, RenderError};
use shadewright::scene::Scene;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The settings of the adaptive sampler; `None` for the uniform one.
pub fn settings(args: &SamplerArgs) -> Option<Settings> {
    let Settings { threshold, depth, .. } = Settings::default();
    (args.sampler == SamplerChoice::Adaptive).then(|| Settings {
        threshold: args.sampler_threshold.unwrap_or(threshold),
        depth: args.sampler_depth.unwrap_or(depth),
    })
}

/// The sampler of a job that was made from `scene`.
///
/// # Errors
/// When the scene needs several samples for each position.
pub fn sampler(job: &Job, scene: &Scene, settings: Settings) -> Result<AdaptiveSampler, Failure> {
    AdaptiveSampler::new(job, scene, settings).map_err(|reason| {
        Failure::input(format!(
            "error: --sampler adaptive takes one sample for each position, and {reason}\n\
             hint: render the scene with --sampler uniform and --spp N"
        ))
    })
}

/// Renders a job with a progressive renderer.
///
/// # Errors
/// The errors of the renderer.
pub fn image(
    sampler: &AdaptiveSampler,
    renderer: &mut dyn Progressive,
    job: &Job,
    what: &str,
    stop: &AtomicBool,
) -> Result<(Image, Statistics), RenderError> {
    with_progress(Work { what, samples: None }, |progress| sampler.draw(renderer, job, stop, progress))
}

/// Renders an image.
///
/// # Errors
/// The errors of the scene and of the renderer, and an interruption.
pub fn draw(
    args: &RenderArgs,
    job: &Job,
    scene: &Scene,
    settings: Settings,
    rpu: RpuRenderer,
) -> Result<Drawn, Failure> {
    let sampler = sampler(job, scene, settings)?;
    let stop = interrupt::watched()?;
    let (mut renderer, device) = progressive(args.backend, args.devices(), rpu)?;
    renderer.set_profiling(args.stats);
    let start = Instant::now();
    let (image, statistics) = image(&sampler, &mut *renderer, job, "rendering", stop).map_err(|error| match error {
        RenderError::Stopped => Failure::interrupted("interrupted: no image was written"),
        error => Failure::render(&error, &job.program.sources),
    })?;
    let (report, time) = (renderer.report(), start.elapsed());
    Ok(Drawn {
        image,
        variance: None,
        device,
        report,
        time,
        samples: 1,
        adaptive: Some(statistics),
        interrupted: false,
        is_saved: false,
    })
}

/// Samples for each pixel.
#[derive(Clone, Copy, Debug)]
pub enum Samples {
    /// As many in each.
    Uniform(u32),
    /// By the adaptive sampler.
    Adaptive(Statistics),
}

impl Samples {
    /// Their mean, rounded to a thousandth.
    pub fn json(self) -> serde_json::Value {
        match self {
            Samples::Uniform(count) => count.into(),
            Samples::Adaptive(statistics) => ((statistics.mean() * 1e3).round() / 1e3).into(),
        }
    }
}

impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Samples::Uniform(count) => write!(f, "{count} spp"),
            Samples::Adaptive(statistics) => {
                let share = 100.0 * statistics.subdivided as f64 / statistics.pixels.max(1) as f64;
                write!(f, "{:.2} spp on average ({share:.1} % of pixels subdivided)", statistics.mean())
            }
        }
    }
}
