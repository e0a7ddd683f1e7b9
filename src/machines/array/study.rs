//! The array against the peripheral: how much of the speed that memory allows an array reaches, how
//! the mappings of space bear the eye's position, and how the speed grows with the nodes (Ullner
//! 1983, §2.5.3).
//!
//! All simulations have the same [`Workload`], so tables compare arrays and not images.
//!
//! **Peripherals.** The thesis compares rates of fetching: "to equal this performance, a ray
//! tracing array would need forty processors". So the unit of speed is a peripheral that is always
//! busy. It makes three tests of polygons in a microsecond. An array is worth its own tests in a
//! microsecond, over the time of the whole image, divided by three ([`Statistics::peripherals`]).

use super::config::{Array, Axis, Config, NextRay, NodeTimes, UnitConfig};
use super::engine::{ArrayError, simulate};
use super::estimate::by_bandwidth;
use super::mapping::Mapping;
use super::report::sizes_report;
use super::statistics::{Ending, Statistics};
use super::unit::Kill;
use super::workload::Workload;
use crate::rays::model::Model;
use crate::report::{Cell, Report, Section};
use rayon::prelude::*;
use shadewright_render::Progress;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The arrays of the comparison by memory: "forty processors" are a peripheral, and an array of a
/// hundred has 250 % of its bandwidth.
const COMPARED: [([u16; 2], Mapping); 3] =
    [([8, 5], Mapping::Plain), ([8, 5], Mapping::Torus), ([10, 10], Mapping::Plain)];

/// The mappings, of figures 2-26, 2-31 and 2-32.
const MAPPINGS: [(&str, Mapping); 3] = [("plain", Mapping::Plain), ("skew", Mapping::Skew), ("torus", Mapping::Torus)];

/// Sides of the square array whose mappings are compared, that of figure 2-25.
const MAPPED_SIDE: u16 = 8;

/// Sides of the square arrays of one to 1024 nodes.
pub const SIDES: [u16; 6] = [1, 2, 4, 8, 16, 32];

/// The cells that these have in common: a node of a small array has a block of them. With as many
/// cells as nodes, a larger array would also test fewer polygons.
const CELLS: [u16; 3] = [32, 32, 16];

/// Hardware of which something takes no time.
struct Simplified {
    name: &'static str,
    simplify: fn(&mut Config),
}

/// From memory alone to the whole hardware: each has what the one before leaves out.
const MODELS: [Simplified; 5] = [
    Simplified {
        name: "memory alone, all 20 words for each test",
        simplify: |config| {
            memory_alone(config);
            config.unit.kill = Kill::Never;
        },
    },
    Simplified { name: "memory alone, tests end early", simplify: memory_alone },
    Simplified {
        name: "with arithmetic, the next ray behind",
        simplify: |config| {
            without_processor(config);
            config.unit.next_ray = NextRay::Behind;
        },
    },
    Simplified { name: "with arithmetic, a ray at a time", simplify: without_processor },
    Simplified { name: "with the microprocessor's times, and its buffers", simplify: ray_at_a_time },
];

/// Accesses to memory of a test that fetches all: 20 words of two accesses.
const ACCESSES: u64 = 40;

/// The rays of an image, and the scene that they are traced in.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The rays.
    pub rays: &'a Workload,
    /// The scene.
    pub model: &'a Model,
}

/// Simulates all arrays of the study. Of the configuration, the nodes and cells are replaced, and
/// no node dies.
///
/// # Errors
/// When the scene or the rays do not fit the hardware.
pub fn report(subject: &Subject<'_>, config: &Config, progress: Progress<'_>) -> Result<Report, ArrayError> {
    let mut base = config.clone();
    base.faults.deaths.clear();
    let study =
        Study { subject: *subject, base, progress, done: AtomicUsize::new(0), unannounced: AtomicUsize::new(0) };
    let mut report = Report::default();
    report.sections.push(study.bandwidth()?);
    report.sections.push(study.mappings()?);
    report.append(study.sizes()?);
    let unannounced = study.unannounced.into_inner();
    if unannounced > 0 {
        report.notes.push(format!(
            "{unannounced} of {} arrays did not announce the end of the image: their numbers are those of a part of it.",
            Study::RUNS
        ));
    }
    Ok(report)
}

/// The simulations of a study.
struct Study<'a> {
    subject: Subject<'a>,
    base: Config,
    progress: Progress<'a>,
    done: AtomicUsize,
    /// Simulations that deadlocked, or lost messages.
    unannounced: AtomicUsize,
}

impl Study<'_> {
    /// How many simulations there are.
    const RUNS: usize = MODELS.len() * COMPARED.len() + 3 * MAPPINGS.len() + SIDES.len();

    fn with_array(&self, [columns, rows]: [u16; 2], mapping: Mapping) -> Config {
        let array = Array { columns, rows, cells: [0; 3], mapping, ..self.base.array };
        Config { array, ..self.base.clone() }
    }

    fn run(&self, configs: &[Config]) -> Result<Vec<Statistics>, ArrayError> {
        let Subject { rays, model } = self.subject;
        let one = |config: &Config| {
            let simulation = simulate(rays, model, config)?;
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.progress)(done as f32 / Self::RUNS as f32);
            let is_announced = simulation.statistics.ending == Ending::Announced;
            self.unannounced.fetch_add(usize::from(!is_announced), Ordering::Relaxed);
            Ok(simulation.statistics)
        };
        configs.par_iter().map(one).collect()
    }

    /// From the bandwidth of the memories to the whole hardware.
    fn bandwidth(&self) -> Result<Section, ArrayError> {
        let nodes = |sides: [u16; 2]| u32::from(sides[0]) * u32::from(sides[1]);
        let mut published: Vec<Cell> = vec!["by memory bandwidth, as published".into()];
        published.extend(COMPARED.map(|(sides, _)| Cell::Number(by_bandwidth(nodes(sides)), 2)));
        published.extend([Cell::None, Cell::None]);
        let mut configs = Vec::new();
        for model in MODELS {
            configs.extend(COMPARED.map(|(sides, mapping)| {
                let mut config = self.with_array(sides, mapping);
                (model.simplify)(&mut config);
                config
            }));
        }
        let runs = self.run(&configs)?;
        let mut rows = vec![published];
        for (model, runs) in MODELS.iter().zip(runs.chunks(COMPARED.len())) {
            let mut row: Vec<Cell> = vec![model.name.into()];
            row.extend(runs.iter().map(|run| Cell::Number(run.peripherals(), 2)));
            let [first, ..] = runs else { continue };
            let whole = ACCESSES * first.unit.polygons() + 2 * first.unit.surface_words;
            let accesses = first.unit.accesses as f64 / whole.max(1) as f64;
            row.extend([accesses, first.unit_busy()].map(|share| Cell::Number(100.0 * share, 0)));
            rows.push(row);
        }
        let columns = [
            ("model", ""),
            ("nodes_40_plain", "40 nodes, plain"),
            ("nodes_40_torus", "40 nodes, torus"),
            ("nodes_100_plain", "100 nodes, plain"),
            ("accesses_percent", "accesses (%)"),
            ("units_busy_percent", "units busy (%)"),
        ];
        let title = "array: how many peripherals it is worth (accesses of 40 a test, and units: of 40 nodes, plain)";
        Ok(Section::table("bandwidth", title, &columns, rows))
    }

    /// The mappings before an eye in front of the array, at its side and above it (figs. 2-29 to
    /// 2-32). The array is turned and not the camera: of an image that is seen along the axis z, z
    /// lies in depth, along the rows of nodes, or along their columns.
    fn mappings(&self) -> Result<Section, ArrayError> {
        let mut configs = Vec::new();
        for (_, mapping) in MAPPINGS {
            configs.extend([Axis::Z, Axis::X, Axis::Y].map(|depth| {
                let mut config = self.with_array([MAPPED_SIDE; 2], mapping);
                config.array.depth = depth;
                config
            }));
        }
        let runs = self.run(&configs)?;
        let row = |((name, _), runs): (&(&str, Mapping), &[Statistics])| {
            let of_run = |run: &Statistics| [Cell::Number(run.total * 1e-3, 0), Cell::Number(run.imbalance(), 2)];
            let mut row: Vec<Cell> = vec![(*name).into()];
            row.extend(runs.iter().flat_map(of_run));
            row
        };
        let columns = [
            ("mapping", "mapping"),
            ("front_ms", "z: front (ms)"),
            ("front_imbalance", "busiest/mean"),
            ("side_ms", "x: side (ms)"),
            ("side_imbalance", "busiest/mean"),
            ("above_ms", "y: above (ms)"),
            ("above_imbalance", "busiest/mean"),
        ];
        let rows = MAPPINGS.iter().zip(runs.chunks(3)).map(row).collect();
        let title = format!("array of {MAPPED_SIDE} by {MAPPED_SIDE} nodes: an image, by the axis in depth");
        Ok(Section::table("mappings", title, &columns, rows))
    }

    fn sizes(&self) -> Result<Report, ArrayError> {
        let config = |side| {
            let mut config = self.with_array([side; 2], Mapping::Plain);
            config.array.cells = CELLS;
            config
        };
        let mut report = sizes_report(&self.run(&SIDES.map(config))?);
        let [x, y, z] = CELLS;
        report.sections.iter_mut().for_each(|section| section.title = format!("arrays of {x}x{y}x{z} cells"));
        Ok(report)
    }
}

/// One ray is in the intersection unit at a time, as in the thesis.
fn ray_at_a_time(config: &mut Config) {
    config.unit = UnitConfig { kill: Kill::Early, next_ray: NextRay::Drained, ..config.unit };
}

/// The work of the microprocessor takes no time, of itself and of the memory; nor do handshakes and
/// the pointers of lists. There are buffers for the rays of all pixels, which such nodes emit at
/// once.
fn without_processor(config: &mut Config) {
    ray_at_a_time(config);
    config.node = NodeTimes {
        route: 0.0,
        cell: 0.0,
        emit: 0.0,
        shade: 0.0,
        make: 0.0,
        deliver: 0.0,
        look_up: 0.0,
        memory_share: 0.0,
        buffers: u16::MAX,
        ..config.node
    };
    config.link.handshake = 0.0;
    config.unit.pointer_words = 0;
}

/// Accesses to memory are all that takes time: those of tests, and of messages.
fn memory_alone(config: &mut Config) {
    without_processor(config);
    config.unit = UnitConfig { operation: 0.0, interval: 0.0, next_ray: NextRay::Behind, ..config.unit };
}

#[cfg(test)]
mod tests {
    use super::super::tests::{FRONT, cubes, workload};
    use super::*;
    use crate::report::Body;

    /// The numbers of a table's rows.
    fn numbers(report: &Report, key: &str) -> Vec<Vec<f64>> {
        let section = report.sections.iter().find(|section| section.key == key).expect("a section");
        let Body::Table { rows, .. } = &section.body else { panic!("{key} is no table") };
        let number = |cell: &Cell| match cell {
            Cell::Number(value, _) => Some(*value),
            Cell::Count(value) => Some(*value as f64),
            Cell::Text(_) | Cell::None => None,
        };
        rows.iter().map(|row| row.iter().filter_map(number).collect()).collect()
    }

    #[test]
    fn each_part_of_the_hardware_that_is_simulated_takes_from_the_speed_that_memory_allows() {
        let scene = cubes(40, 0.15);
        let config = Config::parse("faults.deaths = [[7, 7, 0]]").expect("numbers");
        let rays = workload(&scene, &config, 24, FRONT, 2);
        let subject = Subject { rays: &rays, model: &scene };
        let done = std::sync::Mutex::new(Vec::new());
        let report = report(&subject, &config, &|part| done.lock().expect("no panic").push(part)).expect("it runs");

        let done = done.into_inner().expect("no panic");
        assert_eq!((done.len(), done.iter().copied().fold(0.0, f32::max)), (Study::RUNS, 1.0));
        let [published, never, early, behind, drained, whole] = numbers(&report, "bandwidth").try_into().expect("six");
        assert_eq!(published, [1.0, 1.0, 2.5]);
        for array in 0..COMPARED.len() {
            let column = [&published, &never, &early, &behind, &drained, &whole].map(|row| row[array]);
            assert!(column[1] < column[0] && column[1] < column[2], "{column:?}");
            assert!(column[2..].is_sorted_by(|a, b| a > b), "{column:?}");
        }
        assert!(report.notes.is_empty(), "{:?}", report.notes);
        // Of a test that ends early less is fetched.
        assert!(never[3] == 100.0 && early[3] < 75.0);

        // From the side, rays enter a plain array at the nodes of one column.
        let [plain, skew, torus] = numbers(&report, "mappings").try_into().expect("three");
        assert!(plain[2] > plain[0] && skew[2] < plain[2] && torus[2] < plain[2], "{plain:?} {skew:?} {torus:?}");

        let sizes = numbers(&report, "sizes");
        let times: Vec<f64> = sizes.iter().map(|row| row[1]).collect();
        assert!(sizes.len() == SIDES.len() && times[..4].is_sorted_by(|a, b| a > b), "{times:?}");
    }
}
