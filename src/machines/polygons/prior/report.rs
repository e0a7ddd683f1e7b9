//! Reports of the designs: what one did, other sizes of it, and all of them beside each other.

use super::blocks::{self, Arrangement};
use super::config::{Config, Pattern};
use super::{Costs, PriorModel, Simulation, pixel_planes, simulate};
use crate::polygons::model::Model;
use crate::polygons::raster::RasterPolygon;
use crate::polygons::screen::screen_polygons;
use crate::report::{Cell, Chart, Entry, Report, Section, entry};
use rayon::prelude::*;
use shadewright_base::plot::{Axis, Curve, Lines};
use shadewright_image::SizeError;

/// Frames a second of real-time hardware (§3).
const FRAMES: f64 = 30.0;

/// Most processors of a sweep, as a power of two.
const MOST: u32 = 10;

/// A design's costs beside the others'.
struct Row {
    name: String,
    /// Microseconds for an image.
    time: f64,
    processors: u64,
    chips: Option<u64>,
    /// The share of the time in which processors work for the image.
    utilization: f64,
    bytes: u64,
}

impl Row {
    fn new(simulation: &Simulation, config: &Config) -> Self {
        let name = simulation.kind.name().to_string();
        let (width, height) = (simulation.image.width, simulation.image.height);
        match &simulation.costs {
            Costs::Blocks(arrangement, costs) => {
                let processors = u64::from(arrangement.processors) << arrangement.levels;
                let utilization = costs.busy / (costs.time * processors as f64).max(f64::MIN_POSITIVE);
                Self { name, time: costs.time, processors, chips: None, utilization, bytes: costs.bytes }
            }
            Costs::PixelPlanes(costs) => Self {
                name,
                time: costs.time(&config.pixel_planes),
                processors: u64::from(width) * u64::from(height),
                chips: Some(pixel_planes::chips([width, height], &config.pixel_planes)),
                utilization: useful(costs.pixels, costs.polygons, [width, height]),
                bytes: costs.bits.div_ceil(8),
            },
            Costs::Stream(costs) => Self {
                name,
                time: costs.time,
                processors: costs.processors,
                chips: None,
                utilization: useful(costs.pixels, costs.processors * costs.passes, [width, height]),
                bytes: costs.bytes,
            },
        }
    }
}

/// The share of pixels within polygons where every pixel meets every polygon.
fn useful(pixels: u64, polygons: u64, [width, height]: [u32; 2]) -> f64 {
    pixels as f64 / (polygons as f64 * f64::from(width) * f64::from(height)).max(1.0)
}

/// The report on a simulation.
pub fn report(simulation: &Simulation, model: &Model, config: &Config) -> Report {
    let row = Row::new(simulation, config);
    let scene = vec![
        entry("polygons", "polygons", model.polygons.len(), "in the scene"),
        entry("sent", "sent", simulation.polygons, "in the view, clipped by the host"),
        entry("pixels", "pixels", pixels(simulation), "in the image"),
    ];
    let mut hardware = vec![
        entry("processors", "processors", row.processors, ""),
        entry("time_us", "time of an image", row.time, "us"),
        entry("frames", "images a second", per_second(row.time), ""),
        entry(
            "real_time_polygons",
            "polygons in a thirtieth of a second",
            in_real_time(simulation, row.time, config),
            "at this rate",
        ),
        entry("utilization", "utilization", row.utilization, "share of the processors' time"),
        entry("bytes", "bytes", row.bytes, "over buses and links"),
    ];
    match &simulation.costs {
        Costs::Blocks(arrangement, costs) => hardware.extend(block_entries(arrangement, costs)),
        Costs::PixelPlanes(costs) => hardware.extend(plane_entries(costs, simulation, config)),
        Costs::Stream(costs) => hardware.extend(vec![
            entry("passes", "passes", costs.passes, ""),
            entry("tick_us", "time of a pixel", costs.tick, "us, from one processor to the next"),
            entry("latency_us", "latency", costs.latency, "us, for a pixel through all processors"),
            entry("tests", "depths compared", costs.pixels, "pixels within polygons"),
            entry("replaced", "pixels replaced", costs.replaced, ""),
        ]),
    }
    let mut notes =
        vec!["Times of processors and links are assumptions: --print-config has the reason of each.".to_string()];
    if simulation.kind == PriorModel::PixelPlanes {
        let bits = 2 + simulation.image.width.max(simulation.image.height).ilog2();
        if bits > config.pixel_planes.edge {
            notes.push(format!(
                "A distance in this image needs {bits} bits before the point: pixel-planes.edge is too small."
            ));
        }
    }
    notes.extend(left_out(model));
    let sections = vec![Section::entries("scene", "scene", scene), Section::entries("hardware", row.name, hardware)];
    Report { sections, notes, ..Report::default() }
}

/// The parts of the scene that the model does not have, as sentences.
fn left_out(model: &Model) -> Vec<String> {
    model.left_out.iter().map(|what| format!("left out: {what}")).collect()
}

fn pixels(simulation: &Simulation) -> u64 {
    u64::from(simulation.image.width) * u64::from(simulation.image.height)
}

/// Images a second, each of which takes so many microseconds.
fn per_second(time: f64) -> Cell {
    if time > 0.0 { (1e6 / time).into() } else { Cell::None }
}

/// Polygons that the hardware shows in a thirtieth of a second at the rate of this scene.
fn in_real_time(simulation: &Simulation, time: f64, config: &Config) -> Cell {
    let frame = 1e6 / FRAMES;
    match &simulation.costs {
        // Its time is that of the pixels; polygons add the way through their processors.
        Costs::Stream(costs) => {
            let processors = frame / costs.tick - pixels(simulation) as f64;
            let held = f64::from(config.demetrescu.processors);
            let processors = if held > 0.0 { processors.min(held) } else { processors };
            (processors.max(0.0) as u64).into()
        }
        _ if time > 0.0 => ((simulation.polygons as f64 * frame / time) as u64).into(),
        _ => Cell::None,
    }
}

fn block_entries(arrangement: &Arrangement, costs: &blocks::Costs) -> Vec<Entry> {
    let per_polygon = costs.parts as f64 / (1u64 << arrangement.levels) as f64;
    vec![
        entry("blocks", "blocks", 1u64 << arrangement.levels, "of the image, at the leaves of the tree"),
        entry("sharing", "processors of a block", arrangement.processors, "which share out its pixels"),
        entry("parts", "parts of polygons", costs.parts, "that blocks took"),
        entry("parts_per_block", "parts of a block", per_polygon, "mean"),
        entry("tests", "depths compared", costs.pixels, "pixels within polygons"),
        entry("shaded", "pixels stored", costs.shaded, "visible so far"),
        entry("busiest", "busiest processor", costs.busiest / costs.time.max(1e-9), "share of the time"),
        entry(
            "busiest_splitter",
            "busiest splitter",
            costs.busiest_splitter / costs.time.max(1e-9),
            "share of the time",
        ),
        entry("queue", "longest queue", costs.queue, "polygons before a splitter or a block"),
    ]
}

fn plane_entries(costs: &pixel_planes::Costs, simulation: &Simulation, config: &Config) -> Vec<Entry> {
    let planes = &config.pixel_planes;
    let size = [simulation.image.width, simulation.image.height];
    let of_quad = pixel_planes::cycles(4, planes);
    vec![
        entry("chips", "chips", pixel_planes::chips(size, planes), "for this image"),
        entry("chips_512", "chips for 512 by 512", pixel_planes::chips([512; 2], planes), "").published(512u64),
        entry("cut", "polygons after cutting", costs.polygons, "where colors are not linear"),
        entry("edges", "edges", costs.edges, ""),
        entry("cycles", "cycles of a quadrilateral", of_quad, ""),
        entry("rate", "quadrilaterals a second", 1e6 / (of_quad as f64 * planes.cycle), "").published(30_000u64),
        entry("tests", "pixels within polygons", costs.pixels, ""),
    ]
}

/// Hardware of other sizes on the same polygons: Fuchs's, Parke's and all hybrids of 1 to 1024
/// processors; the time of an image in milliseconds.
///
/// # Errors
/// When the image's size is out of range.
pub fn sweep(model: &Model, config: &Config) -> Result<Report, SizeError> {
    let (size, background) = (model.view.size, model.background);
    let screen = screen_polygons(model, |polygon, corner| polygon.colors[corner]);
    let polygons: Vec<RasterPolygon> = screen.iter().map(|polygon| RasterPolygon::new(polygon, size)).collect();
    let pattern = config.fuchs.pattern;
    let run = |arrangement: Arrangement| Ok(blocks::run(&polygons, size, background, &arrangement, config)?.1);
    let all: Vec<(u32, u32)> = (0..=MOST).flat_map(|count| (0..=count).map(move |levels| (count, levels))).collect();
    let times = all.par_iter().map(|&(count, levels)| {
        Ok(run(Arrangement { levels, processors: 1 << (count - levels), pattern })?.time * 1e-3)
    });
    let times: Vec<f64> = times.collect::<Result<_, SizeError>>()?;
    let time =
        |count: u32, levels: u32| all.iter().position(|&at| at == (count, levels)).map_or(f64::NAN, |i| times[i]);
    let rows = (0..=MOST).map(|count| {
        let best = (0..=count).min_by(|&a, &b| time(count, a).total_cmp(&time(count, b))).unwrap_or(0);
        vec![
            (1u64 << count).into(),
            time(count, 0).into(),
            (time(0, 0) / time(count, 0)).into(),
            time(count, count).into(),
            (time(0, 0) / time(count, count)).into(),
            best.into(),
            time(count, best).into(),
        ]
    });
    let columns = [
        ("processors", "processors"),
        ("fuchs_ms", "Fuchs ms"),
        ("fuchs_speed_up", "speed-up"),
        ("parke_ms", "Parke ms"),
        ("parke_speed_up", "speed-up"),
        ("levels", "best levels"),
        ("hybrid_ms", "hybrid ms"),
    ];
    let mut sections =
        vec![Section::table("sweep", "hardware of other sizes, time of an image", &columns, rows.collect())];
    let of_patterns = [1, 2, 3, 6].map(|count| {
        let time = |pattern| Ok(run(Arrangement { levels: 0, processors: 1 << count, pattern })?.time * 1e-3);
        let times = [Pattern::Grid, Pattern::Transposed, Pattern::Lattice].map(time);
        let cells = times.into_iter().map(|time: Result<f64, SizeError>| time.map(Cell::from));
        let first = std::iter::once(Ok(Cell::from(1u64 << count)));
        first.chain(cells).collect::<Result<Vec<Cell>, SizeError>>()
    });
    let columns =
        [("processors", "processors"), ("grid", "grid ms"), ("transposed", "transposed ms"), ("lattice", "lattice ms")];
    let rows = of_patterns.into_iter().collect::<Result<Vec<_>, SizeError>>()?;
    sections.push(Section::table("patterns", "patterns of Fuchs's design", &columns, rows));
    let curve = |name: &str, time: &dyn Fn(u32) -> f64| Curve {
        name: name.to_string(),
        points: (0..=MOST).map(|count| [f64::from(1u32 << count), time(count)]).collect(),
    };
    let best = |count: u32| (0..=count).map(|levels| time(count, levels)).fold(f64::INFINITY, f64::min);
    let svg = Lines {
        title: "Time of an image".to_string(),
        x: Axis { label: "processors".to_string(), logarithmic: true },
        y: Axis { label: "ms".to_string(), logarithmic: true },
        curves: vec![
            curve("Fuchs", &|count| time(count, 0)),
            curve("Parke", &|count| time(count, count)),
            curve("best hybrid", &best),
        ],
    }
    .svg();
    Ok(Report { sections, charts: vec![Chart { name: "processors".to_string(), svg }], notes: Vec::new() })
}

/// All designs on the same polygons.
///
/// # Errors
/// When the image's size is out of range.
pub fn comparison(model: &Model, config: &Config) -> Result<Report, SizeError> {
    let rows = PriorModel::all().map(|kind| Ok(Row::new(&simulate(model, kind, config)?, config)));
    let rows = rows.collect::<Result<Vec<Row>, SizeError>>()?;
    let cells = rows.into_iter().map(|row| {
        vec![
            row.name.into(),
            (row.time * 1e-3).into(),
            per_second(row.time),
            row.processors.into(),
            row.chips.map_or(Cell::None, Cell::from),
            row.utilization.into(),
            row.bytes.into(),
        ]
    });
    let columns = [
        ("design", "design"),
        ("time_ms", "time ms"),
        ("frames", "images/s"),
        ("processors", "processors"),
        ("chips", "chips"),
        ("utilization", "utilization"),
        ("bytes", "bytes"),
    ];
    Ok(Report {
        sections: vec![Section::table(
            "designs",
            "designs with depth buffers on these polygons",
            &columns,
            cells.collect(),
        )],
        ..Report::default()
    })
}
