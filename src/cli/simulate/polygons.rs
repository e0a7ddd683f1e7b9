//! `--model scan-line-tree` and other polygon hardware: an image or a line drawing, and a
//! report.

use super::super::args::{BackendChoice, SimulateArgs};
use super::super::backend::{progressive, rpu_options, rpu_renderer, set_up_process};
use super::super::charts;
use super::super::failure::Failure;
use super::super::input::{job_of, open_project};
use super::super::judgment::{Judgment, Side, check_judgment_without_variances};
use super::super::output::print_json;
use super::super::progress::{Work, with_progress};
use super::super::run::program::Form;
use super::{SIMULATING, read_config_with};
use shadewright::image::Image;
use shadewright::image::file as image_file;
use shadewright::machines::models::PolygonSimulator;
use shadewright::machines::polygons::model::Model as Polygons;
use shadewright::machines::polygons::scene_model::{Colors, Interpolation};
use shadewright::machines::polygons::tree::config as tree_config;
use shadewright::machines::polygons::{hidden_lines, painted, prior, tree};
use shadewright::machines::report::Report;
use shadewright::program::{LinkOptions, link};
use shadewright::project::ProjectState;
use shadewright::render::rpu::Loaded;
use shadewright::render::{Backend, Job, Progress, RenderError, Window, prepare};
use shadewright::scene::Format;
use shadewright::text::settings::SettingsError;
use shadewright::text::source::SourceMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs the model on the scene, writes what it draws and prints the report.
pub fn run(args: &SimulateArgs, hardware: PolygonSimulator) -> Result<(), Failure> {
    check(args, hardware)?;
    let (state, job) = open(args)?;
    let simulation = Simulation { hardware, args, job: &job, state: &state };
    let Drawn { model, image, report, svg } = simulation.run()?;
    write(args, &image, svg.as_deref())?;
    charts::write(args.charts.as_deref(), &report)?;
    let judgment = args.check.map(|backend| simulation.judge(&model, &image, backend)).transpose()?;
    if args.json {
        let mut document = report.json();
        if let Some(judgment) = &judgment {
            document["check"] = judgment.json().into();
        }
        print_json(&document)?;
    } else {
        println!("{}", report.text());
        if let Some(judgment) = &judgment {
            println!("\n{judgment}");
        }
    }
    judgment.map_or(Ok(()), |judgment| judgment.outcome())
}

/// Draws the scene into a file.
pub fn draw(args: &SimulateArgs, hardware: PolygonSimulator) -> Result<(), Failure> {
    check(args, hardware)?;
    let (state, job) = open(args)?;
    let simulation = Simulation { hardware, args, job: &job, state: &state };
    let (image, svg) = match simulation.hardware {
        PolygonSimulator::HiddenLines => simulation.drawing()?,
        _ => (simulation.run()?.image, None),
    };
    write(args, &image, svg.as_deref())?;
    if let Some(out) = &args.out {
        eprintln!("wrote {}, {}×{}", out.display(), image.width, image.height);
    }
    Ok(())
}

/// Opens the scene.
fn open(args: &SimulateArgs) -> Result<(Arc<ProjectState>, Job), Failure> {
    set_up_process(&args.cpu)?;
    let (_, state) = open_project(&args.scene)?;
    let job = job_of(&args.scene, &state)?;
    Ok((state, job))
}

/// Writes what was drawn to the file that the arguments name.
fn write(args: &SimulateArgs, image: &Image, svg: Option<&str>) -> Result<(), Failure> {
    match (&args.out, svg) {
        (None, _) => {}
        (Some(path), Some(svg)) if is_svg(path) => image_file::write_bytes(path, svg.as_bytes())?,
        (Some(path), _) => image_file::write(path, image)?,
    }
    Ok(())
}

/// Refuses what the model cannot do, before anything is rendered.
fn check(args: &SimulateArgs, hardware: PolygonSimulator) -> Result<(), Failure> {
    if args.scene.file.scene.as_deref().is_some_and(|path| Form::from_path(path).is_some()) {
        return Err(Failure::input("error: programs of the RPU do not run on this hardware: name a scene"));
    }
    let draws_lines = hardware == PolygonSimulator::HiddenLines;
    if args.charts.is_some() && !args.hardware.sweep && hardware != PolygonSimulator::ScanLineTree {
        return Err(Failure::input("error: --charts shows what --sweep finds on this hardware: add --sweep"));
    }
    side(args)?;
    match &args.out {
        Some(path) if draws_lines && is_svg(path) => image_file::check_replaceable(path).map(drop)?,
        Some(path) => image_file::check_writable(path).map(drop)?,
        None => {}
    }
    charts::make_folder(args.charts.as_deref())?;
    check_judgment_without_variances(&args.judge, "a hardware model's image has none")
}

/// Samples along the side of a pixel: 1 unless `--spp` asks for more.
fn side(args: &SimulateArgs) -> Result<u32, Failure> {
    let count = args.scene.sampling.spp.unwrap_or(1);
    let side = count.isqrt();
    match side * side == count && side <= 16 {
        true => Ok(side),
        false => Err(Failure::input("error: --spp: polygon hardware has 1, 4, 9, 16, … 256 samples in a pixel")),
    }
}

/// Where the colors of a line drawing come from: black lines need no shaders.
fn colors_of(config: &hidden_lines::Config) -> Colors {
    match config.drawing.color {
        hidden_lines::Color::Black => Colors::Hardware,
        hidden_lines::Color::Object => Colors::Shaders,
    }
}

/// True if a file's name asks for SVG.
fn is_svg(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"))
}

/// Most samples of an image on hardware with depth buffers: 2.4 GB of them.
const MOST_SAMPLES: u64 = 1 << 26;

/// Refuses more samples than there is memory for.
fn check_samples(format: Format, side: u32) -> Result<(), Failure> {
    let samples = u64::from(format.width) * u64::from(format.height) * u64::from(side * side);
    match samples <= MOST_SAMPLES {
        true => Ok(()),
        false => Err(Failure::input(format!(
            "error: the image has {samples} samples, and the model has memory for {MOST_SAMPLES}\nhint: a smaller --size or --spp"
        ))),
    }
}

/// The result of a hardware model for a scene.
struct Drawn {
    /// The polygons that it showed, as a model.
    model: Polygons,
    image: Image,
    report: Report,
    /// A line drawing as SVG.
    svg: Option<String>,
}

/// A hardware model and its scene.
struct Simulation<'a> {
    hardware: PolygonSimulator,
    args: &'a SimulateArgs,
    job: &'a Job,
    state: &'a ProjectState,
}

impl Simulation<'_> {
    fn run(&self) -> Result<Drawn, Failure> {
        match self.hardware {
            PolygonSimulator::ScanLineTree => self.tree(),
            PolygonSimulator::HiddenLines => self.hidden_lines(),
            PolygonSimulator::Prior(kind) => self.prior(kind),
        }
    }

    /// A configuration from the file that the arguments name.
    fn config<T: Default>(&self, parse: impl Fn(&str) -> Result<T, SettingsError>) -> Result<T, Failure> {
        self.args.hardware.config.as_deref().map_or(Ok(T::default()), |path| read_config_with(path, parse))
    }

    /// The scene's polygons with colors; those of the command line win over these.
    fn model(&self, colors: Colors, interpolation: Interpolation) -> Result<Polygons, Failure> {
        let (args, job) = (self.args, self.job);
        let fail = |e: RenderError| Failure::render(&e, &job.program.sources);
        let program = &job.program;
        let options = rpu_options(&args.scene);
        let loaded =
            Loaded::with_options(&program.module, program.constants.vectors(), program.surface_entries, &options);
        let colors = args.polygons.colors.unwrap_or(colors);
        let interpolation = args.polygons.interpolation.unwrap_or(interpolation);
        Polygons::from_job(&self.state.scene, job, &loaded.map_err(fail)?, colors, interpolation).map_err(fail)
    }

    fn tree(&self) -> Result<Drawn, Failure> {
        let mut config = self.config(tree::Config::parse)?;
        let image = &mut config.image;
        if let Some(colors) = self.args.polygons.colors {
            image.shading = match colors {
                Colors::Shaders => tree_config::Shading::Shader,
                Colors::Hardware => tree_config::Shading::Hardware,
            };
        }
        if let Some(interpolation) = self.args.polygons.interpolation {
            image.interpolation = match interpolation {
                Interpolation::Constant => tree_config::Interpolation::Flat,
                Interpolation::Smooth => tree_config::Interpolation::Smooth,
            };
        }
        config.study.sweep |= self.args.hardware.sweep;
        let image = &mut config.image;
        if self.args.scene.sampling.spp.is_some() {
            image.samples = [side(self.args)?; 2];
        }
        let colors = match image.shading {
            tree_config::Shading::Hardware => Colors::Hardware,
            tree_config::Shading::Shader => Colors::Shaders,
        };
        let interpolation = match image.interpolation {
            tree_config::Interpolation::Flat => Interpolation::Constant,
            tree_config::Interpolation::Smooth => Interpolation::Smooth,
        };
        let model = self.model(colors, interpolation)?;
        let run = |progress: Progress<'_>| tree::simulate(&model, &config, progress);
        let simulation = with_progress(SIMULATING, run).map_err(|e| Failure::input(format!("error: {e}")))?;
        let report = tree::report(&simulation, &model, &config);
        Ok(Drawn { model, image: simulation.image, report, svg: None })
    }

    /// The configuration of line drawings; options of the command line win.
    fn style(&self) -> Result<hidden_lines::Config, Failure> {
        let mut config = self.config(hidden_lines::Config::parse)?;
        let (style, args) = (&mut config.drawing, &self.args.polygons.drawing);
        if let Some(edges) = args.edges {
            style.edges = edges;
        }
        if let Some(hidden) = args.hidden_lines {
            style.hidden = hidden;
        }
        style.stroke_width = args.stroke_width.map_or(style.stroke_width, f64::from);
        match (0.01..=1000.0).contains(&style.stroke_width) {
            true => Ok(config),
            false => Err(Failure::input("error: --stroke-width: a width is from 0.01 to 1000 pixels")),
        }
    }

    /// The names of the scene's objects, where they have one.
    fn names(&self) -> Vec<Option<String>> {
        let objects = self.state.scene.objects.iter();
        objects.map(|object| Some(object.name.to_string()).filter(|name| !name.is_empty())).collect()
    }

    fn hidden_lines(&self) -> Result<Drawn, Failure> {
        let config = self.style()?;
        let model = self.model(colors_of(&config), Interpolation::Constant)?;
        let names = self.names();
        let run = |progress: Progress<'_>| hidden_lines::simulate(&model, &names, &config, progress);
        let simulation = with_progress(SIMULATING, run).map_err(|e| Failure::input(format!("error: {e}")))?;
        let report = hidden_lines::report(&simulation, &model, &config);
        let (image, svg) = self.files(&simulation.drawing)?;
        Ok(Drawn { model, image, report, svg })
    }

    /// The line drawing alone, without the hardware's time.
    fn drawing(&self) -> Result<(Image, Option<String>), Failure> {
        let config = self.style()?;
        let model = self.model(colors_of(&config), Interpolation::Constant)?;
        let names = self.names();
        let run = |progress: Progress<'_>| hidden_lines::render(&model, &names, &config, progress);
        let drawing = with_progress(Work { what: "drawing", samples: None }, run);
        self.files(&drawing.map_err(|e| Failure::input(format!("error: {e}")))?)
    }

    /// A line drawing as an image and as SVG.
    fn files(&self, drawing: &hidden_lines::Drawing) -> Result<(Image, Option<String>), Failure> {
        let image = hidden_lines::image(drawing).map_err(|e| Failure::input(format!("error: {e}")))?;
        Ok((image, Some(hidden_lines::svg(drawing, &self.state.scene.name))))
    }

    /// The model for an image of all samples, each a pixel.
    fn sampled(&self, model: &Polygons, side: u32) -> Polygons {
        let mut model = model.clone();
        model.view.size = model.view.size.map(|size| size.saturating_mul(side));
        model
    }

    /// Hardware with depth buffers.
    fn prior(&self, kind: prior::PriorModel) -> Result<Drawn, Failure> {
        let config = self.config(prior::Config::parse)?;
        let side = side(self.args)?;
        check_samples(self.state.scene.format, side)?;
        let model = self.model(Colors::default(), Interpolation::default())?;
        let sampled = self.sampled(&model, side);
        let fail = |e| Failure::input(format!("error: {e}"));
        let simulation = prior::simulate(&sampled, kind, &config).map_err(fail)?;
        let mut report = prior::report(&simulation, &sampled, &config);
        report.append(prior::comparison(&sampled, &config).map_err(fail)?);
        if self.args.hardware.sweep {
            report.append(prior::sweep(&sampled, &config).map_err(fail)?);
        }
        let image = painted::reduced(&simulation.image, side).map_err(fail)?;
        Ok(Drawn { model, image, report, svg: None })
    }

    /// Compares with a back end's image of the same polygons and colors, at the same samples.
    fn judge(&self, model: &Polygons, image: &Image, backend: Backend) -> Result<Judgment, Failure> {
        let (scene, own) = (&self.state.scene, self.job);
        let painted = model.painted(&scene.camera, scene.format);
        let program = link(&painted, SourceMap::new(), &LinkOptions::default())
            .map_err(|e| Failure::diagnostics(&e.diagnostics, &e.sources))?;
        let [width, height] = model.view.size;
        let job = prepare(program, &painted, Window::whole(width, height), own.sampling, own.budget);
        let job = job.map_err(|e| Failure::input(format!("error: {e}")))?;
        let side = side(self.args)?;
        let size = model.view.size;
        let rpu = rpu_renderer(&self.args.scene);
        let (mut renderer, device) = progressive(BackendChoice::Named(backend), (&self.args.gpu).into(), rpu)?;
        eprintln!("{}: {device}, the same polygons and colors", backend.name());
        let fail = |e: RenderError| Failure::render(&e, &job.program.sources);
        renderer.load(&job).map_err(fail)?;
        let colors = renderer.colors(&painted::positions(size, side), &AtomicBool::new(false)).map_err(fail)?;
        let other = painted::image(size, side, &colors).map_err(|e| Failure::input(format!("error: {e}")))?;
        Judgment::new(Side::from_render(image), Side::from_render(&other), &self.args.judge, None)
    }
}
