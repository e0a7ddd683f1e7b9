//! `bench ray-machines`: the published numbers of ray-tracing hardware beside ours, the array against
//! the peripheral, and all models on the same images.
//!
//! All numbers are simulated, and the same on every computer, but those of the row of the GPU kernel:
//! its rays a second are measured on the GPU, or the software driver, of this one.

use super::backends::scene_args;
use crate::cli::args::{RayModelsArgs, SceneArgs, Size};
use crate::cli::backend::gpu_renderer;
use crate::cli::charts;
use crate::cli::failure::Failure;
use crate::cli::input::{job_of, open_project, prepare_job};
use crate::cli::output::print_json;
use crate::cli::progress::{Work, with_progress};
use crate::cli::simulate::read_config_with;
use serde_json::{Map, Value, json};
use shadewright::machines::array::study::{self, Subject};
use shadewright::machines::comparison::{self, Assumptions, Design, designs};
use shadewright::machines::peripheral::{self, Choice};
use shadewright::machines::rays::model::Model;
use shadewright::machines::rays::recording::{self, Totals};
use shadewright::machines::report::Report;
use shadewright::machines::{array, pipeline, pixelflow};
use shadewright::render::rpu::breakdown::{Breakdown, Places};
use shadewright::render::rpu::{Loaded, simulate};
use shadewright::render::{Job, Progress, RenderError, Renderer, Schedule};
use shadewright::rpu::timed;
use shadewright::scene::Shadows;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The scenes of the repository that are measured.
const SCENES: [&str; 3] = ["assets/machines/cubes-83.rib", "assets/scenes/mirrors.rib", "assets/scenes/quadrics.rib"];

/// Prints the estimate, the study of the array on the first scene, and the comparison of every scene.
pub fn run(args: &RayModelsArgs) -> Result<(), Failure> {
    if args.print_assumptions {
        print!("{}", comparison::DEFAULT_TEXT);
        return Ok(());
    }
    let read = |path: &Path| read_config_with(path, Assumptions::parse);
    let today = args.assumptions.as_deref().map_or(Ok(Assumptions::default()), read)?;
    charts::make_folder(args.charts.as_deref())?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scenes: Vec<PathBuf> = match args.scenes.is_empty() {
        true => SCENES.iter().map(|scene| folder.join(scene)).collect(),
        false => args.scenes.clone(),
    };
    let mut document = Map::new();
    show(args, "estimate", &peripheral::estimate_report(), &mut document)?;
    for (number, path) in scenes.iter().enumerate() {
        let scene = Opened::new(path, args.size)?;
        let Size(columns, rows) = args.nodes;
        let config = array::config::Config::default().with_sides([columns, rows]);
        let config = config.map_err(|e| Failure::input(format!("error: --nodes: {e}")))?;
        let rays = scene.array_rays(&config)?;
        if number == 0 {
            show(args, "array", &scene.study(&config, &rays)?, &mut document)?;
        }
        let designs = scene.designs(args, &today, &config, &rays)?;
        show(args, &scene.name, &comparison::report(&scene.name, &designs, &today), &mut document)?;
    }
    if args.json {
        document.insert("assumptions".to_string(), json!(today));
        print_json(&Value::Object(document))?;
    }
    Ok(())
}

/// Prints a report, or keeps it for the document, and writes its charts.
fn show(args: &RayModelsArgs, name: &str, report: &Report, document: &mut Map<String, Value>) -> Result<(), Failure> {
    charts::write(args.charts.as_deref(), report)?;
    match args.json {
        true => drop(document.insert(name.to_string(), report.json())),
        false => println!("{}\n", report.text()),
    }
    Ok(())
}

/// A scene that is ready to be rendered.
struct Opened {
    args: SceneArgs,
    name: String,
    job: Job,
    loaded: Loaded,
    model: Model,
}

impl Opened {
    fn new(path: &Path, size: Size) -> Result<Self, Failure> {
        let args = scene_args(path, size, None);
        let (_, state) = open_project(&args)?;
        let job = job_of(&args, &state)?;
        let fail = |e: RenderError| Failure::render(&e, &job.program.sources);
        let program = &job.program;
        let loaded =
            Loaded::new(&program.module, program.constants.vectors(), program.surface_entries).map_err(fail)?;
        let model = Model::from_job(&state.scene, &job, &loaded).map_err(fail)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { args, name, job, loaded, model })
    }

    fn fail(&self) -> impl Fn(RenderError) -> Failure + Copy + '_ {
        |e| Failure::render(&e, &self.job.program.sources)
    }

    fn shown(&self) -> Work<'_> {
        Work { what: &self.name, samples: None }
    }

    /// The rays that arrays are given.
    fn array_rays(&self, config: &array::config::Config) -> Result<array::render::Rays, Failure> {
        let run = |progress: Progress<'_>| array::render::rays(&self.job, &self.loaded, &self.model, config, progress);
        with_progress(self.shown(), run).map_err(self.fail())
    }

    /// The study of the array.
    fn study(&self, config: &array::config::Config, rays: &array::render::Rays) -> Result<Report, Failure> {
        let subject = Subject { rays: &rays.workload, model: &self.model };
        let run = |progress: Progress<'_>| study::report(&subject, config, progress);
        let report = with_progress(Work { what: "arrays", samples: None }, run);
        report.map_err(|e| Failure::input(format!("error: {}: {e}", self.name)))
    }

    /// The designs on the scene.
    fn designs(
        &self,
        args: &RayModelsArgs,
        today: &Assumptions,
        array: &array::config::Config,
        rays: &array::render::Rays,
    ) -> Result<Vec<Design>, Failure> {
        let Self { job, loaded, model, .. } = self;
        let (fail, shown) = (self.fail(), self.shown());
        let subject = recording::Subject { job, loaded, model, sampler: None };
        let mut found = Vec::new();
        let config = peripheral::Config::default();
        let run =
            |choice: Choice, progress: Progress<'_>| peripheral::simulate(&subject, choice, &config, None, progress);
        let mut totals = None;
        for (choice, name) in
            [(Choice::All, "peripheral"), (Choice::Grid, "peripheral, grid"), (Choice::Bvh, "peripheral, our BVH")]
        {
            let simulation = with_progress(shown, |progress| run(choice, progress)).map_err(fail)?;
            found.push(designs::peripheral(name, &simulation, model, &config));
            totals = Some(simulation.totals);
        }
        let run = |progress: Progress<'_>| pipeline::simulate(&subject, &pipeline::Config::default(), None, progress);
        found.push(designs::pipeline(&with_progress(shown, run).map_err(fail)?, model));
        let count = totals.map_or(0, |totals: Totals| totals.rays());
        let rendered = array::render::render(job, loaded, model, rays, array).map_err(fail)?;
        found.push(designs::array(&rendered.simulation.statistics, count, model, array));
        found.push(shading(&self.args, shown, job.program.memory.bytes() as f64)?);
        if let Some(totals) = totals {
            found.push(rpu(job, loaded, shown, today, (&totals, model)).map_err(fail)?);
            let seconds = gpu_seconds(args, job).map_err(fail)?;
            found.push(designs::kernel(&totals, model, seconds.map(|s| totals.rays() as f64 / s)));
        }
        Ok(found)
    }
}

/// The timed RPU.
fn rpu(
    job: &Job,
    loaded: &Loaded,
    shown: Work<'_>,
    today: &Assumptions,
    (totals, model): (&Totals, &Model),
) -> Result<Design, RenderError> {
    let config = timed::Config::default();
    let simulation = with_progress(shown, |progress| simulate(job, loaded, &config, progress))?;
    let places = Places::from_compiled(loaded.program(), &job.program.module, &job.program.sources);
    let breakdown = Breakdown::new(&simulation.stats, &places);
    Ok(designs::rpu(&simulation.stats, &breakdown, today.processor.rpu_then, totals, model))
}

/// PixelFlow, which has no rays to look for shadows with.
fn shading(scene: &SceneArgs, shown: Work<'_>, bytes: f64) -> Result<Design, Failure> {
    let mut scene = scene.clone();
    (scene.compiler.passes, scene.integrator.shadows) = (Some("none".to_string()), Shadows::Off);
    let (job, _) = prepare_job(&scene)?;
    let times = pixelflow::Times::default();
    let frame = with_progress(shown, |progress| pixelflow::render(&job, &times, progress));
    let frame = frame.map_err(|e| Failure::render(&e, &job.program.sources))?;
    let samples = u64::from(job.window.width) * u64::from(job.window.height);
    Ok(designs::pixelflow(&frame, &times, samples, bytes))
}

/// Seconds of a frame on the GPU, after one that is not counted; `None` where there is no adapter.
fn gpu_seconds(args: &RayModelsArgs, job: &Job) -> Result<Option<f64>, RenderError> {
    let Ok(mut renderer) = gpu_renderer(&args.adapter, args.traversal, Schedule::Wavefront) else { return Ok(None) };
    eprintln!("the GPU kernel is measured on {}", renderer.describe());
    renderer.render(job, &|_| {})?;
    let start = Instant::now();
    renderer.render(job, &|_| {})?;
    Ok(Some(start.elapsed().as_secs_f64()))
}
