//! The report on a render through the pipeline.

use super::config::Config;
use super::simulate::Simulation;
use crate::rays::events::microseconds;
use crate::rays::graph::Graph;
use crate::rays::model::Model;
use crate::rays::sections;
use crate::report::{Cell, Report, Section, entry};

/// Bytes of a word.
const WORD_BYTES: u64 = 4;

/// The report of a simulation.
pub fn report(simulation: &Simulation, model: &Model, config: &Config) -> Report {
    let Simulation { recording, totals, host, timeline, processors, .. } = simulation;
    let rays = totals.rays().max(1);
    let tick = config.tick();
    let latency = tick * f64::from(*processors);
    let hop = u64::from(config.links.words) * WORD_BYTES;
    let hardware = Section::entries(
        "hardware",
        "pipeline",
        vec![
            entry(
                "processors",
                "processors",
                *processors,
                format!("{} of them with a polygon, a quadric or an edge", simulation.held),
            ),
            entry(
                "chips",
                "chips",
                u64::from(*processors) * u64::from(config.processors.chips),
                "t and p_r, u, v each one",
            ),
            entry("words", "ray description", config.links.words, "words, each on a wire of its own").published(13u64),
            entry("tick_us", "tick", tick, "us from one ray description to the next").published(5.0),
            entry("latency_us", "latency", latency, format!("us through {processors} processors; 5 ms for 1000")),
            entry("load_us", "load", simulation.load, "us to shift the polygons in"),
        ],
    );
    let useful = 100.0 * simulation.useful();
    let time = Section::entries(
        "time",
        "the pipeline alone",
        vec![
            entry(
                "ray_us",
                "ray",
                simulation.full / rays as f64,
                "us when the pipeline is always full, filling it included",
            ),
            entry("image_s", "image", simulation.full * 1e-6, "s"),
            entry("frame_s", "512 by 512 vision rays", 512.0 * 512.0 * tick * 1e-6, "s").published(1.3),
            entry("rays_per_second", "rays a second", 1e6 / tick, ""),
            entry(
                "useful_percent",
                "useful tests",
                Cell::Number(useful, 3),
                "% of the processors' tests that change a ray",
            ),
            entry(
                "operations_per_ray",
                "arithmetic a ray",
                u64::from(*processors) * Graph::intersector().operations() as u64,
                "operations",
            ),
            entry("link_bytes_per_ray", "links a ray", u64::from(*processors) * hop, "bytes, over all links"),
        ],
    );
    let busy = Section::entries(
        "limits",
        "what limits it",
        vec![
            entry(
                "processor_busy_percent",
                "processors busy",
                Cell::Number(100.0 * simulation.busy(), 2),
                "% with the host",
            ),
            entry("host_needed_us", "host needed", tick, "us for a ray and its result, to keep the pipeline full"),
            entry("host_us", "host", microseconds(timeline.host_busy) / rays as f64, "us for a ray and its result"),
        ],
    );
    Report {
        sections: vec![
            sections::scene(model, &recording.image),
            hardware,
            sections::rays(totals),
            time,
            sections::host(host, timeline, totals),
            busy,
        ],
        charts: Vec::new(),
        notes: vec![sections::left_out(model)],
    }
}
