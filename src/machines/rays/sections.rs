//! Sections that the reports of the ray-tracing hardware share.

use super::events::microseconds;
use super::graph::{Graph, surface_operations};
use super::host::{HostTimes, Timeline};
use super::model::Model;
use super::recording::{Recording, Totals};
use super::surfaces::Shape;
use crate::report::{Cell, Entry, Section, entry};
use shadewright_image::Image;

/// The scene in the hardware's memory.
pub fn scene(model: &Model, image: &Image) -> Section {
    let area = model.area();
    let polygons = "planar convex quadrilaterals and triangles";
    let mut entries = vec![entry("polygons", "polygons", model.polygons.len(), polygons)];
    let mut what = "sum over the polygons, in squares of the scene's unit";
    if !model.surfaces.is_empty() {
        entries.push(entry("surfaces", "other surfaces", model.surfaces.len(), surfaces(model)));
        what = "sum over the polygons and a side of the box of each surface, in squares of the scene's unit";
    }
    let pixels = u64::from(image.width) * u64::from(image.height);
    entries.extend([
        entry("objects", "meshes", model.objects.len(), ""),
        entry("area", "area", area, what),
        entry("pixels", "pixels", pixels, ""),
    ]);
    Section::entries("scene", "scene", entries)
}

/// The counts of the surfaces by kind, as text.
fn surfaces(model: &Model) -> String {
    let mut counts = [0; 3];
    for placed in &model.surfaces {
        let kind = match placed.surface.shape {
            Shape::Quadric(_) => 0,
            Shape::Net(_) => 1,
            Shape::General(_) => 2,
        };
        counts[kind] += 1;
    }
    let [quadrics, nets, polygons] = counts;
    format!("{quadrics} quadrics, {nets} net volumes, {polygons} general polygons")
}

/// The arithmetic operations of all rays, of which so many `intersections` are those of polygons.
pub fn operations(totals: &Totals, intersections: u64) -> f64 {
    let polygons = intersections as f64 * Graph::intersector().operations() as f64;
    polygons + surface_operations(totals.quadrics, totals.edges)
}

/// The rays, and the work that each is on average.
pub fn rays(totals: &Totals) -> Section {
    let rays = totals.rays().max(1) as f64;
    let mean = |count: u64| count as f64 / rays;
    let mut entries = vec![
        entry("vision", "vision rays", totals.vision, ""),
        entry("shadow", "shadow rays", totals.shadow, ""),
        entry("secondary", "reflection, refraction", totals.secondary, ""),
        entry("hits", "rays that hit", totals.hits, ""),
        entry("tests_per_ray", "tests a ray", mean(totals.tests), "intersections of a ray with a polygon, n_i"),
        entry("updates_per_ray", "nearer hits a ray", mean(totals.updates), "tests that found one"),
    ];
    let mut push = |entry: Entry, count: u64| {
        if count > 0 {
            entries.push(entry);
        }
    };
    let cells = mean(totals.cells);
    push(entry("cells_per_ray", "cells a ray", cells, "subvolumes that it enters, n_d"), totals.cells);
    let occupied = mean(totals.occupied);
    push(entry("occupied_per_ray", "occupied cells a ray", occupied, "those with polygons, n_c"), totals.occupied);
    let quadrics = mean(totals.quadrics);
    push(
        entry("quadrics_per_ray", "quadrics a ray", quadrics, "intersections of a ray with a quadric"),
        totals.quadrics,
    );
    push(entry("edges_per_ray", "edges a ray", mean(totals.edges), "of general polygons"), totals.edges);
    push(entry("boxes_per_ray", "boxes a ray", mean(totals.boxes), "bounding volumes that are tested"), totals.boxes);
    Section::entries("rays", "rays", entries)
}

/// The host and the queues between it and the hardware.
pub fn host(times: &HostTimes, timeline: &Timeline, totals: &Totals) -> Section {
    let share = |part: u64| Cell::Number(100.0 * part as f64 / timeline.total.max(1) as f64, 1);
    let per_ray = microseconds(timeline.total) / totals.rays().max(1) as f64;
    Section::entries(
        "host",
        "with the host",
        vec![
            entry("emit_us", "vision ray", times.emit, "us on the host"),
            entry("shade_us", "hit or miss", times.shade, "us on the host, lighting included"),
            entry("shadow_us", "shadow ray's result", times.shadow, "us on the host"),
            entry("image_s", "image", microseconds(timeline.total) * 1e-6, "s"),
            entry("ray_us", "ray", per_ray, "us"),
            entry("host_busy_percent", "host busy", share(timeline.host_busy), "%"),
            entry("hardware_busy_percent", "hardware busy", share(timeline.hardware_busy), "%"),
            entry(
                "hardware_blocked_percent",
                "hardware blocked",
                share(timeline.hardware_blocked),
                "% the second queue is full",
            ),
            entry("rays_peak", "rays queued", timeline.rays_peak, format!("at most, of {}", times.rays)),
            entry("results_peak", "results queued", timeline.results_peak, format!("at most, of {}", times.results)),
            entry("waiting_peak", "rays waiting", timeline.waiting_peak, "at most, in the host's memory"),
            entry("samples_peak", "samples started", timeline.samples_peak, "at most at a time"),
            entry("out_of_order", "results out of order", timeline.out_of_order, "after one of a later sample"),
        ],
    )
}

/// A note on the parts of the scene that the hardware model does not hold.
pub fn left_out(model: &Model) -> String {
    match model.left_out.is_empty() {
        true => "left out: nothing".to_string(),
        false => format!("left out: {}", model.left_out.join("; ")),
    }
}

/// The cost of every pixel: tests of polygons, quadrics and edges for its rays, row by row, summed over its samples.
pub fn tests_of_pixels(recording: &Recording) -> Vec<u64> {
    let width = recording.image.width as usize;
    let mut cost = vec![0; width * recording.image.height as usize];
    for sample in &recording.samples {
        let [x, y] = sample.sample.pixel;
        let tests = recording.get(sample).iter().map(|ray| u64::from(ray.work.tests + ray.work.slots.all()));
        cost[y as usize * width + x as usize] += tests.sum::<u64>();
    }
    cost
}
