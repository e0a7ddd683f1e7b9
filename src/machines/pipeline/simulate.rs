//! A render through the pipeline, and its time.

use super::config::Config;
use crate::peripheral::{Chooser, Peripheral};
use crate::rays::events::{microseconds, picoseconds};
use crate::rays::host::{HostTimes, Service, Timeline, replay};
use crate::rays::recording::{Recording, Subject, Totals, record};
use crate::rays::volumes::All;
use shadewright_render::{Progress, RenderError};

/// Words of a polygon that is loaded: its parameters and its number.
const POLYGON_WORDS: f64 = 21.0;

/// A render through the pipeline.
#[derive(Debug)]
pub struct Simulation {
    /// The image and the rays.
    pub recording: Recording,
    /// Sums over the rays.
    pub totals: Totals,
    /// Intersection processors.
    pub processors: u32,
    /// Processors among them that hold a polygon, a quadric or an edge.
    pub held: u32,
    /// The host's times.
    pub host: HostTimes,
    /// The replay with the host.
    pub timeline: Timeline,
    /// Shifting the polygons in, in microseconds.
    pub load: f64,
    /// The time of all rays when the pipeline is always full, in microseconds.
    pub full: f64,
}

/// Renders through the pipeline. `measured` is the time of a sample on a real host in microseconds,
/// which replaces the configured times.
///
/// # Errors
/// As rendering; when there are more polygons than processors.
pub fn simulate(
    subject: &Subject<'_>,
    config: &Config,
    measured: Option<f64>,
    progress: Progress<'_>,
) -> Result<Simulation, RenderError> {
    let model = subject.model;
    // A quadric takes a processor, and so does an edge of a general polygon.
    let held = model.polygons.len() as u32 + model.slots().all();
    let processors = if config.processors.count == 0 { held } else { config.processors.count };
    if held > processors {
        let what = if model.surfaces.is_empty() { "polygons" } else { "polygons, quadrics and edges" };
        let reason = format!("{held} {what} need as many processors, and there are {processors}");
        return Err(RenderError::Model { model: "the ray tracing pipeline", reason });
    }
    // A processor tests what it holds against every ray, as the peripheral does one after the other.
    let all = All { polygons: model.len() as u32 };
    let peripheral = Peripheral::new(model, Chooser::All(all), config.processors.arithmetic);
    let recording = record(subject, &peripheral, progress)?;
    let totals = recording.totals();
    let host = config.host.times(&config.lighting, &totals, measured);
    let tick = picoseconds(config.tick());
    let latency = tick * u64::from(processors.max(1));
    let timeline = replay(&recording, host, |_| Service { occupancy: tick, latency });
    let load = f64::from(processors) * config.tick() * POLYGON_WORDS / f64::from(config.links.words);
    let full = microseconds(tick * totals.rays() + latency);
    Ok(Simulation { recording, totals, processors, held, host, timeline, load, full })
}

impl Simulation {
    /// Tests of real polygons that changed a ray description, as a share of all tests that the
    /// processors do.
    pub fn useful(&self) -> f64 {
        self.totals.updates as f64 / (self.totals.rays() as f64 * f64::from(self.processors)).max(1.0)
    }

    /// The share of the processors' time in which they have a ray.
    pub fn busy(&self) -> f64 {
        self.timeline.hardware_busy as f64 / self.timeline.total.max(1) as f64
    }
}
