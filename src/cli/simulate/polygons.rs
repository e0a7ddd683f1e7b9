//! `--machine scan-line-tree` and the other machines for polygons: an image or a line drawing, and a
//! report.

use super::super::args::{
    BackendChoice, ColorSource, FloatFormat, Model, SamplerChoice, ShadingInterpolation, SimulateArgs,
};
use super::super::backend::{progressive, rpu_options, rpu_renderer, set_up_process};
use super::super::charts;
use super::super::failure::Failure;
use super::super::input::{job_of, open_project};
use super::super::judgement::{Judgement, check_judgement};
use super::super::output::print_json;
use super::super::run::program::Form;
use super::read_config_with;
use shadewright::image::Image;
use shadewright::image::file as image_file;
use shadewright::machines::polygons::model::Model as Polygons;
use shadewright::machines::polygons::{painted, prior};
use shadewright::machines::report::Report;
use shadewright::program::{LinkOptions, link};
use shadewright::project::State;
use shadewright::render::rpu::Loaded;
use shadewright::render::{Backend, Job, RenderError, prepare};
use shadewright::text::settings::SettingsError;
use shadewright::text::source::SourceMap;
use std::sync::atomic::AtomicBool;

/// Runs the machine on the scene, writes what it draws and prints the report.
pub fn run(args: &SimulateArgs) -> Result<(), Failure> {
    if args.print_config {
        print!("{}", default_text(args.model));
        return Ok(());
    }
    check(args)?;
    set_up_process(&args.machine)?;
    let (_, state) = open_project(&args.scene)?;
    let job = job_of(&args.scene, &state)?;
    let model = model(args, &state, &job)?;
    let machine = Machine { args, job: &job, state: &state, model: &model };
    let (image, report) = machine.prior()?;
    if let Some(path) = &args.out {
        image_file::write(path, &image)?;
    }
    charts::write(args.charts.as_deref(), &report)?;
    let judgement = args.check.map(|backend| machine.judge(&image, backend)).transpose()?;
    if args.judge.json {
        let mut document = report.json();
        if let Some(judgement) = &judgement {
            document["check"] = judgement.json().into();
        }
        print_json(&document)?;
    } else {
        println!("{}", report.text());
        if let Some(judgement) = &judgement {
            println!("\n{judgement}");
        }
    }
    judgement.map_or(Ok(()), |judgement| judgement.outcome())
}

/// Refuses what the machine cannot do, before anything is rendered.
fn check(args: &SimulateArgs) -> Result<(), Failure> {
    if args.scene.scene.as_deref().is_some_and(|path| Form::of(path).is_some()) {
        return Err(Failure::input("error: programs of the RPU do not run on this machine: name a scene"));
    }
    let options = [
        (args.cells.is_some(), "--cells is for --machine rtp-grid"),
        (args.nodes.is_some() || args.mapping.is_some(), "--nodes and --mapping are for --machine array"),
        (args.measure_host, "--measure-host is for the ray tracing peripheral and pipeline"),
        (
            args.heatmap.is_some(),
            "--heatmap is for machines with a cost for each pixel: rpu, and those that trace rays",
        ),
        (args.format != FloatFormat::F32, "--format is for machines whose shaders run on the RPU"),
        (args.world.is_some() || !args.set.is_empty(), "--in and --set are for programs of the RPU"),
        (
            args.sampler.sampler == SamplerChoice::Adaptive,
            "machines for polygons sample every pixel alike: use --sampler uniform, with --spp N",
        ),
        (args.scene.crop.is_some(), "--crop: machines for polygons show the whole image"),
    ];
    Failure::of_options(&options, |why| format!("error: {why}"))?;
    side(args)?;
    if let Some(path) = &args.out {
        image_file::check_writable(path)?;
    }
    charts::make_folder(args.charts.as_deref())?;
    check_judgement(&args.judge)
}

/// Samples along the side of a pixel: 1 unless `--spp` asks for more.
fn side(args: &SimulateArgs) -> Result<u32, Failure> {
    let count = args.scene.spp.unwrap_or(1);
    let side = count.isqrt();
    match side * side == count && side <= 16 {
        true => Ok(side),
        false => Err(Failure::input("error: --spp: machines for polygons have 1, 4, 9, 16, … 256 samples in a pixel")),
    }
}

/// The text of a machine's default configuration.
fn default_text(_: Model) -> &'static str {
    prior::DEFAULT_TEXT
}

/// The scene's polygons with their colours.
fn model(args: &SimulateArgs, state: &State, job: &Job) -> Result<Polygons, Failure> {
    let fail = |e: RenderError| Failure::render(&e, &job.program.sources);
    let program = &job.program;
    let options = rpu_options(&args.scene);
    let loaded = Loaded::with_options(&program.module, &program.constants, program.surface_entries, &options);
    let colors = args.colors.unwrap_or(ColorSource::Shaders);
    let interpolation = args.interpolation.unwrap_or(ShadingInterpolation::Smooth);
    let loaded = loaded.map_err(fail)?;
    Polygons::of_job(&state.scene, job, &loaded, colors.into(), interpolation.into()).map_err(fail)
}

/// A machine and its scene.
struct Machine<'a> {
    args: &'a SimulateArgs,
    job: &'a Job,
    state: &'a State,
    model: &'a Polygons,
}

impl Machine<'_> {
    /// A configuration from the file that the arguments name.
    fn config<T: Default>(&self, parse: impl Fn(&str) -> Result<T, SettingsError>) -> Result<T, Failure> {
        self.args.config.as_deref().map_or(Ok(T::default()), |path| read_config_with(path, parse))
    }

    /// The model for an image of all samples, each a pixel.
    fn sampled(&self, side: u32) -> Polygons {
        let mut model = self.model.clone();
        model.view.size = model.view.size.map(|size| size.saturating_mul(side));
        model
    }

    /// A machine with depth buffers.
    fn prior(&self) -> Result<(Image, Report), Failure> {
        let config = self.config(prior::Config::parse)?;
        let kind = match self.args.model {
            Model::Parke => prior::Kind::Parke,
            Model::Hybrid => prior::Kind::Hybrid,
            Model::PixelPlanes => prior::Kind::PixelPlanes,
            Model::Demetrescu => prior::Kind::Demetrescu,
            _ => prior::Kind::Fuchs,
        };
        let side = side(self.args)?;
        let model = self.sampled(side);
        let fail = |e| Failure::input(format!("error: {e}"));
        let simulation = prior::simulate(&model, kind, &config).map_err(fail)?;
        let mut report = prior::report(&simulation, &model, &config);
        report.append(prior::comparison(&model, &config).map_err(fail)?);
        if self.args.sweep {
            report.append(prior::sweep(&model, &config).map_err(fail)?);
        }
        let image = painted::reduced(&simulation.image, side).map_err(fail)?;
        Ok((image, report))
    }

    /// Compares with a back end's image of the same polygons and colours, at the same samples.
    fn judge(&self, image: &Image, backend: Backend) -> Result<Judgement, Failure> {
        let (scene, own) = (&self.state.scene, self.job);
        let painted = self.model.painted(&scene.camera, scene.format);
        let program = link(&painted, SourceMap::new(), &LinkOptions::default())
            .map_err(|e| Failure::diagnostics(&e.diagnostics, &e.sources))?;
        let job = prepare(program, &painted, own.window, own.sampling, own.budget);
        let job = job.map_err(|e| Failure::input(format!("error: {e}")))?;
        let side = side(self.args)?;
        let size = self.model.view.size;
        let rpu = rpu_renderer(&self.args.scene);
        let (mut machine, device) = progressive(BackendChoice::Named(backend), &self.args.machine, rpu)?;
        eprintln!("{}: {device}, the same polygons and colors", backend.name());
        let fail = |e: RenderError| Failure::render(&e, &job.program.sources);
        machine.load(&job).map_err(fail)?;
        let colors = machine.colors(&painted::positions(size, side), &AtomicBool::new(false)).map_err(fail)?;
        let other = painted::image(size, side, &colors).map_err(|e| Failure::input(format!("error: {e}")))?;
        Judgement::of(image, &other, &self.args.judge, None)
    }
}
