//! The report on a render through the peripheral, and the estimate beside it.

use super::analysis::{self, Scene};
use super::config::Config;
use super::search::{Choice, estimated_scene};
use super::simulate::{Simulation, SweepPoint};
use crate::rays::graph::{Device, Flow, Graph};
use crate::rays::model::Model;
use crate::rays::sections;
use crate::report::{Body, Cell, Chart, Entry, Report, Section, entry};
use shadewright_base::plot::{Axis, Curve, Lines};

/// Bytes of a ray and its result on the host's bus: two points and the shadow flag, 25; whether there
/// is a hit, the polygon, the point, the coordinates and t, 29.
pub const BUS_BYTES: f64 = 25.0 + 29.0;
/// Bytes of a word.
const WORD_BYTES: f64 = 4.0;

/// The report of a simulation.
pub fn report(simulation: &Simulation, model: &Model, config: &Config) -> Report {
    let Simulation { choice, recording, totals, host, timeline, .. } = simulation;
    let mut report = Report::default();
    report.sections.push(sections::scene(model, &recording.image));
    report.sections.push(hardware(simulation, model, config));
    report.sections.push(sections::rays(totals));
    report.sections.push(time(simulation, config));
    report.sections.push(sections::host(host, timeline, totals));
    if *choice == Choice::Grid && !model.is_empty() {
        report.sections.push(grid_estimate(simulation, model, config));
    }
    report.notes.push(sections::left_out(model));
    report
}

/// The hardware's fixed numbers.
fn hardware(simulation: &Simulation, model: &Model, config: &Config) -> Section {
    let is_default = config.intersector == Config::default().intersector;
    let beside = |entry: Entry, number: f64| if is_default { entry.published(number) } else { entry };
    let name = match simulation.choice {
        Choice::All => "every polygon for every ray".to_string(),
        Choice::Grid => format!("a grid of {} cells on each axis", simulation.cells),
        Choice::Boxes => "a hierarchy of oriented bounding boxes".to_string(),
        Choice::Octree => "an octree".to_string(),
        Choice::Bvh => "our bounding volume hierarchy".to_string(),
    };
    let graph = Graph::intersector();
    let [products, sums, long, short, roots] =
        [Device::Multiplier, Device::Adder, Device::LongDivider, Device::ShortDivider, Device::Root]
            .map(|d| graph.count(d));
    let devices = format!("{products} products, {sums} sums, {} divisions, {roots} square roots", long + short);
    let mut section = Section::entries(
        "hardware",
        format!("peripheral: {name}"),
        vec![
            entry("operations", "operations at once", graph.operations(), devices).published(54u64),
            beside(entry("stages", "stages", config.stages(), "of the pipeline"), 17.0),
            beside(entry("test_us", "test", 1.0 / config.intersector.rate, "us from one to the next"), 1.0 / 3.0),
            beside(entry("latency_us", "latency", config.latency(), "us"), 5.6),
            beside(entry("megaflops", "arithmetic", config.megaflops(), "million operations a second, at most"), 162.0),
            entry("memory_bytes", "primitive memory", model.bytes(), "bytes in 20 memories"),
        ],
    );
    if let (false, Body::Entries(entries)) = (model.surfaces.is_empty(), &mut section.body) {
        let [quadric, edge] = Flow::surfaces().map(|flow| flow.operations());
        let rate = config.intersector.rate;
        entries.extend([
            entry("quadric_operations", "for a quadric", quadric, "operations at once, in an intersector of its own"),
            entry("edge_operations", "for an edge", edge, "operations at once, in another"),
            entry("surface_latency_us", "their latency", config.surface_latency(), "us, of the longer"),
            entry(
                "surface_megaflops",
                "their arithmetic",
                (quadric + edge) as f64 * rate,
                "million operations a second, at most",
            ),
        ]);
    }
    section
}

fn time(simulation: &Simulation, config: &Config) -> Section {
    let totals = &simulation.totals;
    let rays = totals.rays().max(1) as f64;
    let [ray, cell, never] = simulation.occupied;
    let per_ray = |time: f64| Cell::from(time / rays);
    let words = totals.words as f64 * WORD_BYTES / rays;
    let intersections = totals.tests + totals.boxes * u64::from(config.boxes.intersections);
    let operations = sections::operations(totals, intersections);
    Section::entries(
        "time",
        "the peripheral alone",
        vec![
            entry("ray_us", "ray", per_ray(ray), "us when the pipeline empties after each ray, t_r"),
            entry("ray_cell_us", "", per_ray(cell), "us when it empties after each occupied cell or box, too"),
            entry("ray_full_us", "", per_ray(never), "us when it never empties"),
            entry("image_s", "image", ray * 1e-6, "s, all rays one after the other"),
            entry("rays_per_second", "rays a second", 1e6 * rays / ray.max(1e-9), ""),
            entry("operations_per_ray", "arithmetic a ray", operations / rays, "operations"),
            entry("memory_bytes_per_ray", "memory a ray", words, "bytes of primitives"),
            entry("bus_bytes_per_ray", "host bus a ray", BUS_BYTES, "bytes"),
        ],
    )
}

/// The scene as the estimate sees it, from a simulation: the distance that a ray travels follows
/// from the cells that it enters.
fn estimated(simulation: &Simulation, model: &Model, config: &Config) -> Scene {
    let entered = simulation.totals.cells as f64 / simulation.totals.rays().max(1) as f64;
    estimated_scene(model, config, (entered - 1.0) / f64::from(simulation.cells.saturating_sub(1).max(1)))
}

fn grid_estimate(simulation: &Simulation, model: &Model, config: &Config) -> Section {
    let scene = estimated(simulation, model, config);
    let at = scene.at(simulation.cells);
    let rays = simulation.totals.rays().max(1) as f64;
    let mean = |count: u64| count as f64 / rays;
    let totals = &simulation.totals;
    let rows = vec![
        vec!["cells a ray, n_d".into(), mean(totals.cells).into(), at.cells_visited.into()],
        vec!["occupied cells a ray, n_c".into(), mean(totals.occupied).into(), at.occupied_visited.into()],
        vec!["tests of all kinds, n_i".into(), mean(totals.slots()).into(), at.tests.into()],
        vec!["time of a ray, t_r (us)".into(), (simulation.occupied[0] / rays).into(), at.time.into()],
    ];
    let title = format!("estimate (area {:.3}, distance {:.3} of the scene's box)", scene.area, scene.distance);
    Section::table("estimate", title, &[("what", ""), ("simulated", "simulated"), ("estimated", "estimated")], rows)
}

/// A sweep over the cells of a grid: a table, and the charts of figures 2-19 to 2-22.
pub fn sweep_report(points: &[SweepPoint], simulation: &Simulation, model: &Model, config: &Config) -> Report {
    let scene = estimated(simulation, model, config);
    let row = |p: &SweepPoint| {
        let mut row: Vec<Cell> = vec![p.cells.into(), p.entered.into(), p.occupied.into(), p.tests.into()];
        row.extend(p.time.map(Cell::from));
        row.push(scene.at(p.cells).time.into());
        row
    };
    let columns = [
        ("cells", "n_s"),
        ("entered", "n_d"),
        ("occupied", "n_c"),
        ("tests", "n_i"),
        ("ray_us", "t_r (us)"),
        ("ray_cell_us", "waits a cell"),
        ("ray_full_us", "never waits"),
        ("estimate_us", "estimate"),
    ];
    let table = Section::table("sweep", "cells on an axis", &columns, points.iter().map(row).collect());
    let best = points.iter().min_by(|a, b| a.time[0].total_cmp(&b.time[0]));
    let mut report = Report::default();
    report.sections.push(table);
    if let (Some(best), Some(one)) = (best, points.iter().find(|p| p.cells == 1)) {
        report.sections.push(Section::entries(
            "best",
            "the best grid",
            vec![
                entry("cells", "cells on an axis", best.cells, ""),
                entry("ray_us", "ray", best.time[0], "us"),
                entry("speed_up", "speed-up", one.time[0] / best.time[0], "against one cell"),
            ],
        ));
    }
    let curve = |name: &str, of: &dyn Fn(&SweepPoint) -> f64| Curve {
        name: name.to_string(),
        points: points.iter().map(|p| [f64::from(p.cells), of(p)]).collect(),
    };
    let times = vec![curve("simulated", &|p| p.time[0]), curve("estimated", &|p| scene.at(p.cells).time)];
    let chart = |file: &str, title: &str, label: &str, logarithmic: bool, curves: Vec<Curve>| Chart {
        name: format!("grid-{file}"),
        svg: Lines {
            title: title.to_string(),
            x: Axis { label: "cells on an axis".into(), ..Axis::default() },
            y: Axis { label: label.into(), logarithmic },
            curves,
        }
        .svg(),
    };
    report.charts = vec![
        chart("time", "Time to trace a ray (figures 2-18, 2-19)", "us", true, times),
        chart("cells", "Cells that a ray enters (figure 2-20)", "cells", false, vec![curve("n_d", &|p| p.entered)]),
        chart("tests", "Tests of a ray (figure 2-21)", "tests", true, vec![curve("n_i", &|p| p.tests)]),
    ];
    report
}

/// The published estimate: the curve of figure 2-18 and its minimum.
pub fn estimate_report() -> Report {
    let scene = analysis::Scene::PUBLISHED;
    let sizes: Vec<u32> = (1..=32).collect();
    let rows = sizes.iter().map(|&cells| {
        let at = scene.at(cells);
        vec![
            cells.into(),
            at.cells_visited.into(),
            at.occupied.into(),
            at.occupied_visited.into(),
            at.tests.into(),
            at.time.into(),
        ]
    });
    let columns = [
        ("cells", "n_s"),
        ("visited", "n_d"),
        ("occupied", "n_o"),
        ("occupied_visited", "n_c"),
        ("tests", "n_i"),
        ("ray_us", "t_r (us)"),
    ];
    let best = analysis::best(&scene, 64);
    let all = scene.test * scene.polygons;
    let curve = |name: &str| Curve {
        name: name.to_string(),
        points: sizes.iter().map(|&n| [f64::from(n), scene.at(n).time]).collect(),
    };
    let chart = Lines {
        title: "Estimated time of a ray: 1000 polygons (figure 2-18)".to_string(),
        x: Axis { label: "cells on an axis".into(), ..Axis::default() },
        y: Axis { label: "us".into(), logarithmic: true },
        curves: vec![curve("t_r")],
    };
    let pixels = f64::from(512 * 512);
    Report {
        sections: vec![
            Section::table("curve", "the estimate, figure 2-18", &columns, rows.collect()),
            Section::entries(
                "minimum",
                "its minimum",
                vec![
                    entry("cells", "cells on an axis", best.cells, "").published(11u64),
                    entry("ray_us", "ray", best.time, "us").published(14.3),
                    entry("speed_up", "speed-up", all / best.time, "against testing every polygon").published(24.0),
                    entry("all_us", "ray without a grid", all, "us for 1000 polygons").published(333.0),
                    entry("image_s", "image without a grid", pixels * all * 1e-6, "s for 512 by 512 rays")
                        .published(90.0),
                ],
            ),
        ],
        charts: vec![Chart { name: "estimate".into(), svg: chart.svg() }],
        notes: Vec::new(),
    }
}
