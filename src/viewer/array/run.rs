//! A simulation of the shown scene: what is asked for, and what is kept of the result.

use super::frame::Contributions;
use super::playback::Playback;
use shadewright_base::text::settings::SettingsError;
use shadewright_machines::array::config::Config;
use shadewright_machines::array::mapping::Mapping;
use shadewright_machines::array::render::{Rays, Rendered, rays, render};
use shadewright_machines::array::statistics::Statistics;
use shadewright_machines::rays::model::Model as Polygons;
use shadewright_project::{ProjectState, View};
use shadewright_render::rpu::Loaded;
use shadewright_render::sampling::Sampling;
use shadewright_scene::Format;
use std::ops::RangeInclusive;

/// Nodes on a side of the array that can be asked for.
pub const SIDES: [u16; 7] = [2, 3, 4, 6, 8, 12, 16];

/// The width of the image, in pixels, that can be asked for.
pub const WIDTHS: RangeInclusive<u32> = 8..=128;

/// The most events that are kept: 64 MB with their index.
const MOST_EVENTS: u32 = 2_000_000;

/// The settings of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayRequest {
    /// Nodes in a row and in a column, one of [`SIDES`].
    pub side: u16,
    /// Which cells of space a node has.
    pub mapping: Mapping,
    /// Width of the image, within [`WIDTHS`]; its shape is that of the view.
    pub width: u32,
}

impl Default for ArrayRequest {
    fn default() -> Self {
        Self { side: 8, mapping: Mapping::Plain, width: 48 }
    }
}

impl ArrayRequest {
    /// The image's format for a view: of the view's shape, neither side longer than [`WIDTHS`] ends.
    fn format(&self, view: &View) -> Format {
        let most = *WIDTHS.end();
        let aspect = view.format.frame_aspect();
        let width = (self.width.clamp(1, most) as f32).min(most as f32 * aspect);
        let side = |x: f32| (x.round() as u32).clamp(1, most);
        Format { width: side(width), height: side(width / aspect), pixel_aspect: 1.0 }
    }

    fn config(&self) -> Result<Config, SettingsError> {
        let mut config = Config::default().with_sides([u32::from(self.side); 2])?;
        config.array.mapping = self.mapping;
        config.trace.events = MOST_EVENTS;
        Ok(config)
    }
}

/// A part of the work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArrayPhase {
    /// Shaders run for the rays; the part that is done, 0 to 1.
    Rays(f32),
    /// The array is simulated.
    Array,
    /// The trace is indexed.
    Index,
}

/// A simulation.
#[derive(Clone, Debug)]
pub struct ArrayRun {
    /// The request that the simulation answers.
    pub request: ArrayRequest,
    /// [`ProjectState::version`] of the scene.
    pub state: u64,
    /// The view, in the size of the simulated image.
    pub view: View,
    /// The course of the simulation.
    pub playback: Playback,
    /// The contributions to the frame buffer, and their times.
    pub contributions: Contributions,
    /// The simulation's statistics, to its end.
    pub statistics: Statistics,
    /// Why rays return to their pixels, where they do.
    pub why_answers: Option<String>,
}

/// Simulates the array on a scene, one sample a pixel. `goes_on` is asked between the stages, and
/// told of their progress; `None` when it says no.
///
/// # Errors
/// As rendering, in words for the user.
pub fn simulate(
    state: &ProjectState,
    view: &View,
    request: ArrayRequest,
    budget: u32,
    goes_on: &(dyn Fn(ArrayPhase) -> bool + Sync),
) -> Result<Option<ArrayRun>, String> {
    let view = View { camera: view.camera.clone(), format: request.format(view) };
    let config = request.config().map_err(|e| e.to_string())?;
    let job = state.job(&view, Sampling { strata: Sampling::strata_of(1), seed: 0 }, budget);
    let fail = |e: shadewright_render::RenderError| e.to_string();
    let program = &job.program;
    let loaded = Loaded::new(&program.module, program.constants.vectors(), program.surface_entries).map_err(fail)?;
    let polygons = Polygons::from_job(&state.scene, &job, &loaded).map_err(fail)?;
    if !goes_on(ArrayPhase::Rays(0.0)) {
        return Ok(None);
    }
    let progress = |done: f32| {
        goes_on(ArrayPhase::Rays(done));
    };
    let rays: Rays = rays(&job, &loaded, &polygons, &config, &progress).map_err(fail)?;
    if !goes_on(ArrayPhase::Array) {
        return Ok(None);
    }
    let Rendered { image, simulation, .. } = render(&job, &loaded, &polygons, &rays, &config).map_err(fail)?;
    if !goes_on(ArrayPhase::Index) {
        return Ok(None);
    }
    let contributions = Contributions::new(&rays.workload, &simulation.trace.events, &image);
    let playback = Playback::new(config.layout(), simulation.trace);
    let statistics = simulation.statistics;
    let why_answers = rays.why_answers;
    Ok(Some(ArrayRun { request, state: state.version, view, playback, contributions, statistics, why_answers }))
}
