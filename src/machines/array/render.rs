//! A job's image by the array: its rays from the shaders, their way through the nodes, and what the
//! frame buffer has in the end.

use super::config::Config;
use super::engine::{self, ArrayError, Simulation};
use super::workload::{Way, Workload};
use crate::peripheral::{self, Choice, Peripheral, chooser};
use crate::rays::model::Model;
use crate::rays::recording::{Recording, Subject, record};
use crate::rays::tree::{self, RayTree, Settings};
use crate::rays::volumes::StructureError;
use shadewright_image::Image;
use shadewright_render::rpu::Loaded;
use shadewright_render::rpu::traced::Samples;
use shadewright_render::{Job, Progress, RenderError};

/// The name of the hardware model in messages.
const NAME: &str = "the ray tracing array";

/// The rays of a job, from which arrays of any size make its image.
#[derive(Debug)]
pub struct Rays {
    /// The rays as the array is given them.
    pub workload: Workload,
    /// Sums over the tree; `None` where rays return.
    pub tree: Option<tree::Totals>,
    /// Where rays return, the image: their hits are those of the array.
    recording: Option<Recording>,
    /// Why rays return, where they do.
    pub why_answers: Option<String>,
}

/// An image by the array.
#[derive(Debug)]
pub struct Rendered {
    /// The image.
    pub image: Image,
    /// The simulation.
    pub simulation: Simulation,
}

/// Runs a job's shaders: a tree of rays with colors, or, for shaders whose result is no sum over
/// their rays, the rays in the order in which they wait for each other.
///
/// # Errors
/// As rendering.
pub fn rays(
    job: &Job,
    loaded: &Loaded,
    model: &Model,
    config: &Config,
    progress: Progress<'_>,
) -> Result<Rays, RenderError> {
    let failed = |e: StructureError| RenderError::Model { model: NAME, reason: e.to_string() };
    // Any structure gives the hits that the nodes find.
    let hierarchy = chooser(Choice::Bvh, model, 1, &peripheral::Config::default()).map_err(failed)?;
    let finder = Peripheral::new(model, hierarchy, config.unit.arithmetic);
    let size = [job.window.width, job.window.height];
    let settings = Settings { threshold: config.image.threshold };
    let grown = match model.leaves_some() {
        true => {
            let reason = "the host intersects some procedural primitives".to_string();
            Err(RenderError::Unsupported { backend: NAME, reason })
        }
        false => tree::grow(job, &finder, &|found| model.resolve(found), settings, progress),
    };
    let why_answers = match grown {
        Ok(tree) if tree.totals.nonaffine == 0 => {
            let workload = Workload::from_tree(&tree, size);
            return Ok(Rays { workload, tree: Some(tree.totals), recording: None, why_answers: None });
        }
        Ok(RayTree { totals, .. }) => {
            format!("at {} of {} hits the color is no sum over the rays", totals.nonaffine, totals.shaded)
        }
        Err(RenderError::Unsupported { reason, .. }) => reason,
        Err(error) => return Err(error),
    };
    let recording = record(&Subject { job, loaded, model, sampler: None }, &finder, progress)?;
    let workload = Workload::from_recording(&recording, size);
    Ok(Rays { workload, tree: None, recording: Some(recording), why_answers: Some(why_answers) })
}

/// Makes the image of a job with an array.
///
/// # Errors
/// When the scene or the rays do not fit the hardware.
pub fn render(
    job: &Job,
    loaded: &Loaded,
    model: &Model,
    rays: &Rays,
    config: &Config,
) -> Result<Rendered, RenderError> {
    let failed = |e: ArrayError| RenderError::Model { model: NAME, reason: e.to_string() };
    let simulation = engine::simulate(&rays.workload, model, config).map_err(failed)?;
    let image = match (&rays.recording, rays.workload.way) {
        (Some(recording), Way::Answers) => recording.image.clone(),
        _ => {
            let samples = Samples::new(job);
            let mut film = samples.film()?;
            let numbers = (0..samples.blocks()).flat_map(|block| samples.block(block).samples).flatten();
            for (number, color) in numbers.zip(&simulation.colors) {
                samples.expose(&mut film, number, *color);
            }
            samples.develop(&film, loaded)?
        }
    };
    Ok(Rendered { image, simulation })
}
