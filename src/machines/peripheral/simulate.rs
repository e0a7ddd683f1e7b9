//! A render through the peripheral, and its time.

use super::config::{Config, Waits};
use super::search::{Choice, Chooser, Peripheral, chooser, recommended_cells};
use crate::rays::events::{microseconds, picoseconds};
use crate::rays::host::{HostTimes, Service, Timeline, replay};
use crate::rays::model::Model;
use crate::rays::recording::{Finder, Recording, Subject, Totals, Work, record};
use rayon::prelude::*;
use shadewright_render::{Progress, RenderError};

/// A render through the peripheral.
#[derive(Debug)]
pub struct Simulation {
    /// How it chooses polygons.
    pub choice: Choice,
    /// Cells on an axis of its grid.
    pub cells: u32,
    /// The image and the rays.
    pub recording: Recording,
    /// Sums over the rays.
    pub totals: Totals,
    /// The host's times.
    pub host: HostTimes,
    /// The replay with the host.
    pub timeline: Timeline,
    /// The sum of what rays occupy the peripheral for, in microseconds, for each of [`Waits`].
    pub occupied: [f64; 3],
}

/// The ways to wait, in the order of [`Simulation::occupied`].
pub const WAITS: [Waits; 3] = [Waits::Ray, Waits::Cell, Waits::Never];

/// Renders through the peripheral. `measured` is the time of a sample on a real host in
/// microseconds, which replaces the configured times.
///
/// # Errors
/// As rendering; when the structure cannot be built.
pub fn simulate(
    subject: &Subject<'_>,
    choice: Choice,
    config: &Config,
    measured: Option<f64>,
    progress: Progress<'_>,
) -> Result<Simulation, RenderError> {
    let model = subject.model;
    let cells = match config.grid.cells {
        0 => recommended_cells(model, config),
        cells => cells,
    };
    let peripheral = Peripheral::new(model, built(choice, model, cells, config)?, config.intersector.arithmetic);
    let recording = record(subject, &peripheral, progress)?;
    let totals = recording.totals();
    let host = config.host.times(&config.lighting, &totals, measured);
    let times = RayTimes::new(config);
    let timeline = replay(&recording, host, |ray| times.service(config.intersector.waits, &ray.work));
    let occupied = times.occupied(recording.rays.iter().map(|ray| &ray.work));
    Ok(Simulation { choice, cells, recording, totals, host, timeline, occupied })
}

/// The structure, or why there is none.
fn built(choice: Choice, model: &Model, cells: u32, config: &Config) -> Result<Chooser, RenderError> {
    chooser(choice, model, cells, config)
        .map_err(|e| RenderError::Model { model: "the ray tracing peripheral", reason: e.to_string() })
}

/// The times of the hardware's parts, in microseconds: what a replay needs for each ray. The
/// latency comes from the graph of the intersector, so it is computed once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayTimes {
    /// Moving to the next cell.
    step: f64,
    /// From one intersection to the next.
    test: f64,
    /// Intersections of a box.
    box_tests: f64,
    /// From the start of an intersection to its result.
    latency: f64,
    /// The same for primitives that are no polygons.
    surface_latency: f64,
}

impl RayTimes {
    /// The times of a configuration.
    pub fn new(config: &Config) -> Self {
        let (step, test) = (config.grid.step, 1.0 / config.intersector.rate);
        Self {
            step,
            test,
            box_tests: f64::from(config.boxes.intersections),
            latency: config.latency(),
            surface_latency: config.surface_latency(),
        }
    }

    /// The times that a ray takes.
    pub fn service(&self, waits: Waits, work: &Work) -> Service {
        let slots = f64::from(work.tests + work.slots.all());
        let intersections = slots + f64::from(work.boxes) * self.box_tests;
        let busy = f64::from(work.cells) * self.step + intersections * self.test;
        let latency = if work.slots.all() > 0 { self.latency.max(self.surface_latency) } else { self.latency };
        let whole = busy + latency * if waits == Waits::Cell { f64::from(work.waits.max(1)) } else { 1.0 };
        let occupancy = if waits == Waits::Never { busy } else { whole };
        Service { occupancy: picoseconds(occupancy), latency: picoseconds(whole) }
    }

    /// The time for which rays occupy the hardware model, together, in microseconds, for each of
    /// [`WAITS`].
    fn occupied<'a>(&self, works: impl Iterator<Item = &'a Work> + Clone) -> [f64; 3] {
        WAITS.map(|waits| microseconds(works.clone().map(|work| self.service(waits, work).occupancy).sum()))
    }
}

/// One number of cells of a sweep, as means over the rays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepPoint {
    /// Cells on an axis, n_s.
    pub cells: u32,
    /// Cells that a ray enters, n_d.
    pub entered: f64,
    /// Entered cells with polygons, n_c.
    pub occupied: f64,
    /// Primitives that are tested, n_i.
    pub tests: f64,
    /// The time of a ray in microseconds, t_r, for each of [`WAITS`].
    pub time: [f64; 3],
}

/// The same rays through grids of other sizes.
///
/// # Errors
/// When a grid cannot be built.
pub fn sweep(
    recording: &Recording,
    model: &Model,
    config: &Config,
    sizes: &[u32],
) -> Result<Vec<SweepPoint>, RenderError> {
    let (count, times) = (recording.rays.len().max(1) as f64, RayTimes::new(config));
    let point = |&cells: &u32| {
        let grid = built(Choice::Grid, model, cells, config)?;
        let peripheral = Peripheral::new(model, grid, config.intersector.arithmetic);
        let works: Vec<Work> = recording.rays.par_iter().map(|ray| peripheral.find(&ray.request).1).collect();
        let sum = |of: fn(&Work) -> u32| works.iter().map(|w| u64::from(of(w))).sum::<u64>() as f64 / count;
        Ok(SweepPoint {
            cells,
            entered: sum(|w| w.cells),
            occupied: sum(|w| w.occupied),
            tests: sum(|w| w.tests + w.slots.all()),
            time: times.occupied(works.iter()).map(|time| time / count),
        })
    };
    sizes.iter().map(point).collect()
}
