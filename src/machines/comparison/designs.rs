//! The cost of a ray on each hardware model, from simulations of one image.

use super::design::{Design, Units};
use crate::array::config::Config as ArrayConfig;
use crate::array::statistics::Statistics;
use crate::models::{self, RaySimulator, Simulator};
use crate::peripheral;
use crate::pipeline;
use crate::pixelflow;
use crate::rays::capacity::POLYGON_BYTES;
use crate::rays::events::{Picoseconds, microseconds};
use crate::rays::graph::{Graph, surface_operations};
use crate::rays::model::Model;
use crate::rays::recording::Totals;
use crate::rays::sections;
use shadewright_render::rpu::breakdown::Breakdown;
use shadewright_rpu::timed::Stats;

/// Bytes of a ray description in the pipeline.
const HOP_BYTES: f64 = 52.0;
/// Bytes of a word.
const WORD_BYTES: f64 = 4.0;
/// Components of the RPU's instructions.
const COMPONENTS: f64 = 4.0;
/// Bytes of a vector that the RPU loads or stores.
const VECTOR_BYTES: f64 = 16.0;
/// Instructions that a MC68000 of 8 MHz executes in a microsecond, as the array's times assume.
const MC68000: f64 = 0.7;
/// Operations of the ray–box test with slabs: six differences, six products, ten minima and maxima
/// (Kay & Kajiya 1986).
const SLAB_OPERATIONS: f64 = 22.0;
/// Operations of the ray–triangle test of Woop, Benthin & Wald 2013: three transformed corners, three
/// edge functions, the distance, a division.
const TRIANGLE_OPERATIONS: f64 = 47.0;
/// Bytes of a box of a binary tree, and of a triangle.
const BOX_BYTES: f64 = 32.0;
const TRIANGLE_BYTES: f64 = 48.0;
/// Instructions of PixelFlow's pixels in a microsecond (Olano 1998, §4.1).
const PIXELFLOW_CLOCK: f64 = 100.0;

fn rate(rays: u64, total: Picoseconds) -> f64 {
    1e6 * rays as f64 / microseconds(total).max(1e-9)
}

fn scene_bytes(model: &Model) -> f64 {
    model.bytes() as f64
}

/// A peripheral, with the boxes that its structure tests.
pub fn peripheral(
    name: &str,
    simulation: &peripheral::Simulation,
    model: &Model,
    config: &peripheral::Config,
) -> Design {
    let totals = &simulation.totals;
    let rays = totals.rays().max(1) as f64;
    let boxes = totals.boxes * u64::from(config.boxes.intersections);
    let intersections = totals.tests + boxes;
    Design {
        name: name.to_string(),
        then: Some(rate(totals.rays(), simulation.timeline.total)),
        operations: sections::operations(totals, intersections) / rays,
        bytes: (totals.words as f64 * WORD_BYTES + boxes as f64 * POLYGON_BYTES as f64) / rays,
        scene: scene_bytes(model),
        wires: peripheral::BUS_BYTES,
        busy: 1.0,
        units: Units::Chip,
    }
}

/// A traversal kernel on a GPU with our BVH: the boxes and triangles that a simulation with that
/// structure counts, tested as GPUs do. `then` is its speed on this computer, if it was measured.
pub fn kernel(totals: &Totals, model: &Model, then: Option<f64>) -> Design {
    let rays = totals.rays().max(1) as f64;
    let (boxes, tests) = (totals.boxes as f64 / rays, totals.slots() as f64 / rays);
    Design {
        name: "GPU kernel, our BVH".to_string(),
        then,
        operations: boxes * SLAB_OPERATIONS + tests * TRIANGLE_OPERATIONS,
        bytes: boxes * BOX_BYTES + tests * TRIANGLE_BYTES,
        scene: model.len() as f64 * (TRIANGLE_BYTES + 2.0 * BOX_BYTES),
        wires: 0.0,
        busy: 1.0,
        units: Units::Chip,
    }
}

/// The pipeline, which holds a model.
pub fn pipeline(simulation: &pipeline::Simulation, model: &Model) -> Design {
    let (units, slots) = (f64::from(simulation.processors), model.slots());
    let surfaces = surface_operations(slots.quadrics.into(), slots.edges.into());
    // On average; spare processors are those of polygons.
    let of_polygons = units - f64::from(slots.all());
    let operations = (of_polygons * Graph::intersector().operations() as f64 + surfaces) / units.max(1.0);
    Design {
        name: models::title(Simulator::Rays(RaySimulator::Pipeline)).to_string(),
        then: Some(rate(simulation.totals.rays(), simulation.timeline.total)),
        operations: units * operations,
        bytes: 0.0,
        scene: 0.0,
        wires: units * HOP_BYTES,
        busy: 1.0,
        units: Units::Chain { units, operations },
    }
}

/// An array, which needs not make all of the image's `rays`: some never enter the scene, and some have
/// no color.
pub fn array(statistics: &Statistics, rays: u64, model: &Model, config: &ArrayConfig) -> Design {
    let rays = rays.max(1) as f64;
    let graph = Graph::intersector();
    // Operations up to t, up to u, and all: what a killed test has done.
    let whole = graph.operations() as f64;
    let coordinate = 18.0;
    let [to_t, to_u] = [whole - 2.0 * coordinate - 6.0, whole - coordinate];
    let unit = &statistics.unit;
    let operations = unit.no_distance as f64 * to_t
        + unit.outside_u as f64 * to_u
        + (unit.outside_v + unit.polygon_hits()) as f64 * whole;
    let operations = operations + surface_operations(unit.quadrics, unit.edges);
    let processor: f64 = statistics.nodes.iter().map(|node| node.time.both + node.time.processor).sum();
    let words: u64 = statistics.links.iter().flatten().map(|link| link.words).sum();
    Design {
        name: format!("array, {} by {}", config.array.columns, config.array.rows),
        then: Some(1e6 * rays / statistics.total.max(1e-9)),
        operations: operations / rays,
        bytes: unit.words(config.unit.pointer_words).0 as f64 * WORD_BYTES / rays,
        scene: scene_bytes(model),
        wires: words as f64 * WORD_BYTES / rays,
        busy: statistics.busy(),
        units: Units::Nodes { instructions: processor * MC68000 / rays },
    }
}

/// The RPU: shading, and what its unit that traces rays does with our BVH, of which `totals` are the
/// counts. `clock` is in megahertz.
pub fn rpu(stats: &Stats, breakdown: &Breakdown, clock: f64, totals: &Totals, model: &Model) -> Design {
    let rays = stats.rays.max(1) as f64;
    let memory =
        breakdown.operations.iter().filter(|row| row.name.starts_with("load") || row.name.starts_with("store"));
    let vectors: u64 = memory.map(|row| row.at.threads * if row.name.starts_with("load4") { 4 } else { 1 }).sum();
    let tracing = kernel(totals, model, None);
    Design {
        name: "RPU, with shading".to_string(),
        then: Some(clock * 1e6 * rays / stats.cycles.max(1) as f64),
        operations: stats.executed as f64 * COMPONENTS / rays + tracing.operations,
        bytes: vectors as f64 * VECTOR_BYTES / rays + tracing.bytes,
        scene: tracing.scene,
        wires: 0.0,
        busy: stats.utilization(),
        units: Units::Chip,
    }
}

/// PixelFlow, which traces no rays: visible samples stand for rays, operations are of eight bits.
pub fn pixelflow(frame: &pixelflow::Frame, times: &pixelflow::Times, samples: u64, scene: f64) -> Design {
    let pixels = f64::from(times.region.width) * f64::from(times.region.height);
    let regions: Picoseconds = frame.regions.iter().sum();
    let samples = samples.max(1) as f64;
    Design {
        name: "PixelFlow, shading alone".to_string(),
        then: Some(1e6 * samples / microseconds(regions).max(1e-9)),
        operations: microseconds(regions) * PIXELFLOW_CLOCK * pixels / samples,
        bytes: f64::from(frame.transfer()),
        scene,
        wires: f64::from(frame.transfer()),
        busy: frame.shaded as f64 / (pixels * frame.regions.len().max(1) as f64),
        units: Units::Chip,
    }
}
