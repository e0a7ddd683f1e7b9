//! `--model rtp` and other ray-tracing hardware: a render through the model, and its report.

use super::super::args::{SimulateArgs, Size};
use super::super::backend::{rpu_options, set_up_process};
use super::super::charts;
use super::super::compare;
use super::super::failure::Failure;
use super::super::input::{job_of, open_project};
use super::super::judgment::{Judgment, Side, check_judgment_without_variances};
use super::super::output::print_json;
use super::super::progress::with_progress;
use super::super::run::program::Form;
use super::super::sampler;
use super::{SIMULATING, heat_map, print_scale, read_config_with};
use rayon::prelude::*;
use serde_json::json;
use shadewright::image::Image;
use shadewright::image::file as image_file;
use shadewright::machines::array;
use shadewright::machines::array::statistics::Ending;
use shadewright::machines::models::RaySimulator;
use shadewright::machines::peripheral::{self, Choice};
use shadewright::machines::pipeline;
use shadewright::machines::rays::capacity;
use shadewright::machines::rays::model::Model as Polygons;
use shadewright::machines::rays::recording::{Recording, Subject, Traced};
use shadewright::machines::rays::sections::tests_of_pixels;
use shadewright::machines::report::Report;
use shadewright::render::adaptive::AdaptiveSampler;
use shadewright::render::rpu::{Loaded, draw};
use shadewright::render::{Backend, Job, Progress, RenderError};
use shadewright::text::settings::SettingsError;
use std::time::Instant;

/// Sizes of grids that `--sweep` goes through.
const SWEEP: [u32; 19] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20, 24, 32];

/// Renders the scene through the model and prints the report.
pub fn run(args: &SimulateArgs, hardware: RaySimulator) -> Result<(), Failure> {
    check(args)?;
    set_up_process(&args.cpu)?;
    let (_, state) = open_project(&args.scene)?;
    let job = job_of(&args.scene, &state)?;
    let fail = |e: RenderError| Failure::render(&e, &job.program.sources);
    let program = &job.program;
    let options = rpu_options(&args.scene);
    let loaded = Loaded::with_options(&program.module, program.constants.vectors(), program.surface_entries, &options);
    let loaded = loaded.map_err(fail)?.in_format(args.hardware.format);
    let polygons = Polygons::from_job(&state.scene, &job, &loaded).map_err(fail)?;
    let settings = sampler::settings(&args.sampler);
    let adaptive = settings.map(|settings| sampler::sampler(&job, &state.scene, settings)).transpose()?;
    let simulation = Simulation { args, job: &job, loaded: &loaded, polygons: &polygons, sampler: adaptive.as_ref() };
    let (image, heat, report) = match hardware {
        RaySimulator::Peripheral(choice) => simulation.peripheral(choice),
        RaySimulator::Pipeline => simulation.pipeline(),
        RaySimulator::Array => simulation.array(),
    }?;
    if let Some(path) = &args.out {
        image_file::write(path, &image)?;
    }
    charts::write(args.charts.as_deref(), &report)?;
    let most = args.heatmap.as_deref().map(|path| heat_map(path, heat.size, &heat.values)).transpose()?;
    let judgment = args.check.map(|backend| simulation.judge(&image, backend)).transpose()?;
    if args.json {
        let mut document = report.json();
        if let Some(most) = most {
            document["heatmap"] = json!({ "black": 0, "brightest": most });
        }
        if let Some(judgment) = &judgment {
            document["check"] = judgment.json().into();
        }
        print_json(&document)?;
    } else {
        println!("{}", report.text());
        if let (Some(most), Some(path)) = (most, &args.heatmap) {
            print_scale(path, heat.what, most as f64);
        }
        if let Some(judgment) = &judgment {
            println!("\n{judgment}");
        }
    }
    judgment.map_or(Ok(()), |judgment| judgment.outcome())
}

/// Refuses what the model cannot do, before anything is rendered.
fn check(args: &SimulateArgs) -> Result<(), Failure> {
    if args.scene.file.scene.as_deref().is_some_and(|path| Form::from_path(path).is_some()) {
        return Err(Failure::input("error: programs of the RPU do not run on this hardware: name a scene"));
    }
    for path in args.heatmap.iter().chain(&args.out) {
        image_file::check_writable(path)?;
    }
    charts::make_folder(args.charts.as_deref())?;
    check_judgment_without_variances(&args.judge, "a hardware model's image has none")
}

/// The result of a hardware model: the image, the data of the heat map, and the report.
type Rendered = (Image, Heat, Report);

/// Data of a heat map.
struct Heat {
    /// The meaning of a value.
    what: &'static str,
    /// Columns and rows.
    size: [u32; 2],
    /// The values, row by row.
    values: Vec<u64>,
}

impl Heat {
    /// The tests of each pixel.
    fn tests(recording: &Recording) -> Self {
        let Image { width, height, .. } = recording.image;
        Self { what: "tests of polygons a pixel", size: [width, height], values: tests_of_pixels(recording) }
    }
}

/// A hardware model and its scene.
struct Simulation<'a> {
    args: &'a SimulateArgs,
    job: &'a Job,
    loaded: &'a Loaded,
    polygons: &'a Polygons,
    sampler: Option<&'a AdaptiveSampler>,
}

impl Simulation<'_> {
    fn fail(&self) -> impl Fn(RenderError) -> Failure + Copy + '_ {
        |e| Failure::render(&e, &self.job.program.sources)
    }

    /// A configuration from the file that the arguments name.
    fn config<T: Default>(&self, parse: impl Fn(&str) -> Result<T, SettingsError>) -> Result<T, Failure> {
        self.args.hardware.config.as_deref().map_or(Ok(T::default()), |path| read_config_with(path, parse))
    }

    fn subject(&self) -> Subject<'_> {
        Subject { job: self.job, loaded: self.loaded, model: self.polygons, sampler: self.sampler }
    }

    fn peripheral(&self, choice: Choice) -> Result<Rendered, Failure> {
        let mut config = self.config(peripheral::Config::parse)?;
        if let Some(cells) = self.args.rays.cells {
            config.grid.cells = cells;
        }
        let measured = self.measured()?;
        let run = |progress: Progress<'_>| peripheral::simulate(&self.subject(), choice, &config, measured, progress);
        let simulation = with_progress(SIMULATING, run).map_err(self.fail())?;
        let mut report = peripheral::report(&simulation, self.polygons, &config);
        let (times, waits) = (peripheral::RayTimes::new(&config), config.intersector.waits);
        let service = |ray: &Traced| times.service(waits, &ray.work).occupancy;
        let more = capacity::sections(&simulation.recording, self.polygons, config.memory, &service);
        report.sections.extend(more.map_err(self.fail())?);
        if self.args.hardware.sweep {
            let points = peripheral::sweep(&simulation.recording, self.polygons, &config, &SWEEP);
            let points = points.map_err(self.fail())?;
            report.append(peripheral::sweep_report(&points, &simulation, self.polygons, &config));
        }
        let heat = Heat::tests(&simulation.recording);
        Ok((simulation.recording.image, heat, report))
    }

    fn pipeline(&self) -> Result<Rendered, Failure> {
        let config = self.config(pipeline::Config::parse)?;
        let measured = self.measured()?;
        let run = |progress: Progress<'_>| pipeline::simulate(&self.subject(), &config, measured, progress);
        let simulation = with_progress(SIMULATING, run).map_err(self.fail())?;
        let report = pipeline::report(&simulation, self.polygons, &config);
        let heat = Heat::tests(&simulation.recording);
        Ok((simulation.recording.image, heat, report))
    }

    fn array(&self) -> Result<Rendered, Failure> {
        let mut config = self.config(array::config::Config::parse)?;
        if let Some(Size(columns, rows)) = self.args.rays.nodes {
            config = config.with_sides([columns, rows]).map_err(|e| Failure::input(format!("error: --nodes: {e}")))?;
        }
        if let Some(mapping) = self.args.rays.mapping {
            config.array.mapping = mapping;
        }
        let sides: &[u16] = if self.args.hardware.sweep { &array::study::SIDES } else { &[] };
        let of_side = |&side: &u16| {
            let array = config.clone().with_sides([side.into(); 2]);
            array.map_err(|e| Failure::input(format!("error: --sweep: an array of {side}x{side} nodes: {e}")))
        };
        let swept = sides.iter().map(of_side).collect::<Result<Vec<_>, Failure>>()?;
        let (fail, job, loaded) = (self.fail(), self.job, self.loaded);
        let run = |progress: Progress<'_>| array::render::rays(job, loaded, self.polygons, &config, progress);
        let rays = with_progress(SIMULATING, run).map_err(fail)?;
        let rendered = array::render::render(job, loaded, self.polygons, &rays, &config).map_err(fail)?;
        let statistics = &rendered.simulation.statistics;
        if statistics.ending != Ending::Announced {
            eprintln!("warning: the array did not announce the end of the image, which may be incomplete");
        }
        let mut report = array::report::report(&rendered, &rays, self.polygons, &config);
        if self.args.hardware.sweep {
            let run = |config: &array::config::Config| {
                let rendered = array::render::render(job, loaded, self.polygons, &rays, config)?;
                Ok(rendered.simulation.statistics)
            };
            let runs: Result<Vec<_>, RenderError> = swept.par_iter().map(run).collect();
            report.append(array::report::sizes_report(&runs.map_err(fail)?));
        }
        let heat = Heat {
            what: "thousandths of the time in which a node is busy",
            size: statistics.sides.map(u32::from),
            values: array::report::busy_of_nodes(statistics),
        };
        Ok((rendered.image, heat, report))
    }

    /// With `--measure-host`, the time of a sample on one core of this computer, rays included, in
    /// microseconds.
    fn measured(&self) -> Result<Option<f64>, Failure> {
        if !self.args.rays.measure_host {
            return Ok(None);
        }
        let start = Instant::now();
        draw(self.job, self.loaded, &|_| {}).map_err(self.fail())?;
        let busy = start.elapsed().as_secs_f64() * rayon::current_num_threads() as f64;
        let pixels = f64::from(self.job.window.width) * f64::from(self.job.window.height);
        let sample = 1e6 * busy / (pixels * f64::from(self.job.sampling.count())).max(1.0);
        eprintln!("a core of this computer renders a sample in {sample:.2} us");
        Ok(Some(sample))
    }

    /// Renders the job on a back end, and compares.
    fn judge(&self, image: &Image, backend: Backend) -> Result<Judgment, Failure> {
        let other = compare::render(&self.args.scene, &self.args.gpu, backend, self.job, self.sampler)?;
        let (image, other) = (rounded(image), rounded(&other));
        Judgment::new(Side::from_render(&image), Side::from_render(&other), &self.args.judge, None)
    }
}

/// The image with pixels that are opaque but for rounding made opaque: an image without transparency
/// counts as one without alpha, and the sums of an array may be a bit off 1.
fn rounded(image: &Image) -> Image {
    let mut image = image.clone();
    let alpha = image.rgba.iter_mut().map(|pixel| &mut pixel[3]);
    alpha.filter(|alpha| (**alpha - 1.0).abs() < 1e-3).for_each(|alpha| *alpha = 1.0);
    image
}
