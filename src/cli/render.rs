//! `shadewright render [SCENE] -o OUT`, also written `shadewright [SCENE] --render OUT`; the window
//! where there is no `OUT`.

use super::args::{Frames, RenderArgs, SceneArgs, SimulateArgs};
use super::backend::{progressive, renderer, rpu_renderer, set_up_process};
use super::checkpoint::{film_of, variance_of};
use super::device::Device;
use super::failure::Failure;
use super::frames::Sequence;
use super::input::{job_of, open_project, refreshed};
use super::judgment::{self, Judgment, Named, Side, check_judgment};
use super::messages::Problems;
use super::output::{print_json, print_json_text};
use super::progress::{Work, with_progress};
use super::sampler::{self, Samples};
use super::stats::{Images, RenderStats};
use super::{aov, bake, checkpoint, frames, part, printf, record, simulate, viewer, watch};
use anyhow::Context;
use serde_json::{Map, Value, json};
use shadewright::image::rendering::Rendering;
use shadewright::image::{Image, Variance, file as image_file};
use shadewright::project::{Project, ProjectState};
use shadewright::render::adaptive::{Settings, Statistics};
use shadewright::render::film::Film;
use shadewright::render::progressive::Progressive;
use shadewright::render::record::to_json;
use shadewright::render::report::Report;
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::{Job, RenderError, depth, motion};
use shadewright::scene::{Display, Integrator};
use shadewright::text::log::FileLog;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Renders the scene into a file, or frames of it into files.
pub fn run(mut args: RenderArgs) -> Result<(), Failure> {
    let begin = Instant::now();
    // Images that are compared are of scenes without errors.
    args.scene.file.strict |= args.compare.is_some() && !args.lenient;
    let args = &args;
    let adaptive = sampler::settings(&args.sampler);
    let Some(out) = &args.render else { return viewer::run(args) };
    if let Some(model) = args.model {
        return simulate::polygons::draw(&SimulateArgs::from_render(args, out), model);
    }
    if out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg")) {
        return Err(Failure::input(format!(
            "error: {}: SVG is for line drawings\nhint: add --model hidden-line, or name an image: .png .exr .hdr .pnm",
            out.display()
        )));
    }
    let images = args.output.preview.iter().chain([out]).map(|file| image_file::check_writable(file));
    let images = images.collect::<Result<Vec<_>, _>>()?;
    if let Some(checkpoint) = &args.output.resume {
        checkpoint::check(checkpoint, &images)?;
    }
    check_judgment(&args.judge)?;
    // Before the first use of the thread pool, by readers of some image formats.
    set_up_process(&args.cpu)?;
    if args.output.watch {
        return watch::run(args, out);
    }
    if args.output.part.is_some() && !is_exr(out) {
        return Err(Failure::input(format!(
            "error: {}: a part is an .exr file: --part keeps sums of floats",
            out.display()
        )));
    }
    let is_single = args.output.part.is_some()
        || args.compare.is_some()
        || args.output.preview.is_some()
        || args.stats
        || args.output.resume.is_some();
    let Sequence { frames, shadow_maps, .. } = frames::sequence(&args.scene, is_single)?;
    if is_single && !frames.is_empty() {
        return Err(Failure::input(
            "error: --compare, --part, --preview, --resume and --stats are options of a single image, and --frames renders several; give one frame",
        ));
    }
    let mut scene = args.scene.clone();
    let mut read = FileLog::default();
    for frame in shadow_maps {
        scene.moment.frames = Some(Frames { first: frame, last: frame });
        let (project, state) = open_project(&scene)?;
        read.extend(&project.log());
        if let Some(display) = shadow_map(&state) {
            scene.rendered.extend(depths(&state, &display.name, None)?);
        }
    }
    if frames.is_empty() {
        scene.moment.frames = args.scene.moment.frames;
        if let Some(share) = args.output.part {
            return part::run(args, &scene, share, out, begin);
        }
        return one(args, &scene, adaptive, out, begin, &mut read).map(drop);
    }
    // Each prints a line.
    for frame in frames {
        scene.moment.frames = Some(Frames { first: frame, last: frame });
        // Later frames of the file may use it, as a texture or a shadow map.
        let out = frames::file_of(out, frame);
        scene.rendered.extend(one(args, &scene, adaptive, &out, Instant::now(), &mut read)?);
    }
    Ok(())
}

/// The display of a scene that is a shadow map.
pub fn shadow_map(state: &ProjectState) -> Option<&Display> {
    match state.scene.film.displays.as_slice() {
        [display] if display.is_depth() => Some(display),
        _ => None,
    }
}

/// Files that a frame leaves for later ones, by the names of its displays, and by those that
/// shaders bake into.
type Rendered = Vec<(String, Arc<[u8]>)>;

/// Renders the depths of a frame whose display is a shadow map. They are written to `.exr` files
/// only.
fn depths(state: &ProjectState, name: &str, out: Option<&Path>) -> Result<Rendered, Failure> {
    let map = depth::draw(&state.scene, &state.bvh);
    let bytes = map.encode().map_err(|e| Failure::input(format!("error: {name}: {e}")))?;
    if let Some(out) = out.filter(|out| out.extension().is_some_and(|e| e.eq_ignore_ascii_case("exr"))) {
        image_file::write_bytes(out, &bytes)?;
        eprintln!("wrote {}, {}×{}, the shadow map `{name}`", out.display(), map.width, map.height);
    } else {
        eprintln!("rendered the shadow map `{name}` for later frames, {}×{}", map.width, map.height);
    }
    eprint!("{}", Problems::from_diagnostics(&state.diagnostics));
    Ok(vec![(name.to_string(), bytes.into())])
}

/// Renders one image. `read` has the files of the frames before it, and gets those of this one.
fn one(
    args: &RenderArgs,
    scene: &SceneArgs,
    adaptive: Option<Settings>,
    out: &Path,
    begin: Instant,
    read: &mut FileLog,
) -> Result<Rendered, Failure> {
    let reference = args.compare.as_deref().map(|path| judgment::read(path, &args.judge, args.limit)).transpose()?;
    let (mut project, state) = open_project(scene)?;
    read.extend(&project.log());
    let displays = &state.scene.film.displays;
    if let (Some(display), Some(_)) = (shadow_map(&state), scene.moment.frames) {
        return depths(&state, &display.name, Some(out));
    }
    let job = job_of(scene, &state)?;
    let names = aov::wanted(args, &state.scene.film, out)?;
    let rpu = rpu_renderer(scene).in_format(args.format);
    let mut first = None;
    if let Some(file) = &args.output.preview {
        let image = rpu.first_image(&job).map_err(|e| Failure::render(&e, &job.program.sources))?;
        image_file::write(file, &image)?;
        first = Some(begin.elapsed());
    }
    let drawn = match (adaptive, job.film.moves) {
        (Some(settings), _) => sampler::draw(args, &job, &state.scene, settings, rpu.clone())?,
        (None, true) if args.output.resume.is_some() || args.target_error.is_some() => {
            return Err(Failure::input(
                "error: --resume and --target-error do not support motion blur, and this scene changes while the shutter is open",
            ));
        }
        (None, true) => draw_moving(args, scene, &mut project, &job, rpu.clone())?,
        (None, false) if args.stats => draw(args, &job, rpu.clone())?,
        (None, false) => checkpoint::draw(args, &job, &state.scene, rpu.clone())?,
    };
    if state.scene.clamp > 0.0 && state.scene.integrator == Integrator::Path {
        let most = state.scene.clamp;
        eprintln!(
            "--clamp: the indirect radiance of each path sample is held to {most}; the image may be darker than without it"
        );
    }
    if drawn.interrupted {
        image_file::write_quantized(out, &drawn.image, state.scene.film.quantize)?;
        return Err(checkpoint::interrupted(args, out, &drawn, job.sampling.count()));
    }
    let beside = aov::draw(&names, args, scene, &mut project, &state, rpu.clone())?;
    let baked = bake::draw(args, scene, &mut project, &state, rpu)?;
    let end = Instant::now();
    if is_exr(out) {
        let batches = drawn.variance.as_ref().map_or(1, |variance| variance.batches);
        let hashes = record::subject_of_shutter(args, &job, &state.scene, &project, &drawn.device);
        let record = record::record(args, scene, &job, &drawn.device, hashes, batches, &names);
        let record = to_json(&record).context("writing the record")?;
        let (image, variance) = (drawn.image.clone(), drawn.variance.clone());
        Rendering { image, variance, aovs: beside, record: Some(record) }.write(out)?;
    } else {
        image_file::write_quantized(out, &drawn.image, state.scene.film.quantize)?;
    }
    let mut left = bake::write(&baked, out);
    args.output.resume.as_deref().map_or(Ok(()), checkpoint::forget)?;
    printf::print(&state, &job, args.json)?;
    let full = begin.elapsed();
    let images = Images { first: first.unwrap_or(full), full };
    let written = Written {
        path: out,
        samples: drawn.samples_of_pixel(),
        time: full,
        device: &drawn.device,
        image: &drawn.image,
    };
    let Drawn { report, time, .. } = &drawn;
    let stats = args
        .stats
        .then(|| RenderStats::new(&job, written.device, report.clone(), &state, *time, end.elapsed(), images))
        .map(|stats| stats.with_sampler(drawn.adaptive));
    let not_finite = drawn.image.count_non_finite();
    if not_finite > 0 {
        eprintln!("warning: {not_finite} pixels are NaN or infinite: a shader divides by 0, or takes a root of less");
    }
    let rendered = Side::new("the rendered image", &drawn.image, drawn.variance.as_ref());
    let judged = |reference: &Named| Judgment::new(reference.side(), rendered, &args.judge, None);
    let judgment = reference.as_ref().map(judged).transpose()?;
    let problems = Problems::from_diagnostics(&state.diagnostics);
    if args.json {
        let mut document = written.json();
        document.append(&mut problems.json());
        document.insert("files".to_string(), files(read));
        if let Some(judgment) = &judgment {
            document.append(&mut judgment.json());
        }
        if let Some(stats) = &stats {
            document.insert("stats".to_string(), serde_json::to_value(stats).context("writing JSON")?);
        }
        match args.scene.moment.frames {
            // A line for each image.
            Some(Frames { first, last }) if first != last => print_json_text(&Value::from(document).to_string()),
            _ => print_json(&document.into())?,
        }
    } else {
        eprintln!("{written}");
        if let Some(stats) = &stats {
            eprint!("{stats}");
        }
        if let Some(judgment) = &judgment {
            println!("{judgment}");
        }
        eprint!("{problems}");
    }
    judgment.map_or(Ok(()), |judgment| judgment.outcome())?;
    if let Some(display) = displays.first().filter(|_| scene.moment.frames.is_some()) {
        left.push((display.name.clone(), image_file::to_exr(&drawn.image)?.into()));
    }
    Ok(left)
}

/// True if a path is that of an OpenEXR file.
pub fn is_exr(path: &Path) -> bool {
    image_file::Format::from_path(path).is_ok_and(|format| format == image_file::Format::Exr)
}

/// An image that was rendered to a file.
struct Written<'a> {
    path: &'a Path,
    /// Samples per pixel.
    samples: Samples,
    /// From the start of the command, or of the frame.
    time: Duration,
    device: &'a Device,
    image: &'a Image,
}

impl Written<'_> {
    fn json(&self) -> Map<String, Value> {
        let mut object = json!({
            "path": self.path.display().to_string(),
            "width": self.image.width,
            "height": self.image.height,
            "spp": self.samples.json(),
            "seconds": (self.time.as_secs_f64() * 1e3).round() / 1e3,
        });
        let mut device = self.device.json();
        let mut fields = Map::new();
        for part in [&mut object, &mut device] {
            fields.append(part.as_object_mut().unwrap_or(&mut Map::new()));
        }
        fields
    }
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, seconds) = (self.path.display(), self.time.as_secs_f64());
        let digits = if seconds < 1.0 { 2 } else { 1 };
        let Image { width, height, .. } = self.image;
        write!(f, "wrote {path}, {width}×{height}, {}, {seconds:.digits$} s on the {}", self.samples, self.device)
    }
}

/// An image, and how it was rendered.
pub struct Drawn {
    /// The image, or the samples so far.
    pub image: Image,
    /// The variances of its pixels, where they are known.
    pub variance: Option<Variance>,
    /// Where it was rendered.
    pub device: Device,
    /// The renderer's report.
    pub report: Report,
    /// How long rendering took.
    pub time: Duration,
    /// Samples per pixel that it has.
    pub samples: u32,
    /// The statistics of the adaptive sampler, instead.
    pub adaptive: Option<Statistics>,
    /// True if rendering was interrupted.
    pub interrupted: bool,
    /// True if a checkpoint has the samples so far.
    pub is_saved: bool,
}

impl Drawn {
    fn samples_of_pixel(&self) -> Samples {
        self.adaptive.map_or(Samples::Uniform(self.samples), Samples::Adaptive)
    }
}

/// Renders a scene without motion.
fn draw(args: &RenderArgs, job: &Job, rpu: RpuRenderer) -> Result<Drawn, Failure> {
    let (mut renderer, device) = renderer(args.backend, args.devices(), rpu)?;
    renderer.set_profiling(args.stats);
    let start = Instant::now();
    let failure = |e: RenderError| Failure::render(&e, &job.program.sources);
    let mut film = film_of(job).map_err(|e| failure(e.into()))?;
    let image = with_progress(rendering(job), |progress| renderer.render_into(job, &mut film, progress));
    let image = image.map_err(failure)?;
    let (report, samples) = (renderer.report(), job.sampling.count());
    Ok(Drawn {
        image,
        variance: variance_of(job, &film, samples),
        device,
        report,
        time: start.elapsed(),
        samples,
        adaptive: None,
        interrupted: false,
        is_saved: false,
    })
}

/// The files that an image depends on: those that were read, with a hash of their content; those that
/// were looked for and are missing, whose `content` is null; and folders that were searched, written
/// `folder/*.sl`, with a hash of the names that were found.
fn files(log: &FileLog) -> Value {
    let file = |path: &Path, content: Option<u64>| {
        let hash = content.map(|hash| format!("{hash:016x}"));
        json!({ "path": path.display().to_string(), "content": hash })
    };
    let lists = log.listings().map(|(folder, extension, hash)| (folder.join(format!("*.{extension}")), hash));
    let files = log.contents().map(|(path, content)| file(path, content));
    files.chain(lists.map(|(path, hash)| file(&path, Some(hash)))).collect()
}

/// The progress that a render shows.
pub fn rendering(job: &Job) -> Work<'static> {
    Work { what: "rendering", samples: Some(job.sampling.count()) }
}

/// Renders a scene with motion, one time sample after the other.
fn draw_moving(
    args: &RenderArgs,
    scene: &SceneArgs,
    project: &mut Project,
    job: &Job,
    rpu: RpuRenderer,
) -> Result<Drawn, Failure> {
    let (mut renderer, device) = progressive(args.backend, args.devices(), rpu)?;
    renderer.set_profiling(args.stats);
    let failure = |e: RenderError| Failure::render(&e, &job.program.sources);
    let mut film = film_of(job).map_err(|e| failure(e.into()))?;
    let start = Instant::now();
    let (samples, stop) = (job.sampling.count(), AtomicBool::new(false));
    draw_shutter(&mut *renderer, scene, project, job, 0..samples, &mut film, &stop)?;
    let image = renderer.finish(&film, 1, &stop).map_err(failure)?;
    Ok(Drawn {
        image,
        variance: variance_of(job, &film, samples),
        device,
        report: renderer.report(),
        time: start.elapsed(),
        samples,
        adaptive: None,
        interrupted: false,
        is_saved: false,
    })
}

/// Renders some samples of a scene with motion into a film.
///
/// # Errors
/// The errors of the scene and of the renderer; an interruption where `stop` was set.
pub fn draw_shutter(
    renderer: &mut dyn Progressive,
    scene: &SceneArgs,
    project: &mut Project,
    job: &Job,
    samples: Range<u32>,
    film: &mut Film,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    /// An error of the scene or of rendering.
    enum Problem {
        Scene(Failure),
        Render(RenderError),
    }
    impl From<RenderError> for Problem {
        fn from(error: RenderError) -> Self {
            Problem::Render(error)
        }
    }
    let mut job_at = |share: f32| -> Result<Job, Problem> {
        project.set_time(share);
        refreshed(project).and_then(|state| job_of(scene, &state)).map_err(Problem::Scene)
    };
    let slices = motion::time_samples(job.sampling.count());
    let drawn = with_progress(rendering(job), |progress| {
        motion::draw_into(renderer, slices, samples, film, &mut job_at, stop, progress)
    });
    drawn.map_err(|problem| match problem {
        Problem::Scene(failure) => failure,
        Problem::Render(RenderError::Stopped) => Failure::interrupted("interrupted: no image was written"),
        Problem::Render(error) => Failure::render(&error, &job.program.sources),
    })
}
