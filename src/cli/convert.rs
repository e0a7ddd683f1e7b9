//! `shadewright convert IN OUT`: a scene in another format, and whether it looks the same.

use super::args::{BackendChoice, ConvertArgs};
use super::backend::open;
use super::checkpoint::{film_of, variance_of};
use super::failure::Failure;
use super::input::refreshed;
use super::judgment::{Judgment, Side, check_judgment};
use super::messages::messages;
use super::output::print_json;
use super::progress::{Work, with_progress};
use serde_json::{Map, Value, json};
use shadewright::export::{self, Exported, Format, export};
use shadewright::image::file as image_file;
use shadewright::image::{Image, Variance};
use shadewright::project::{OptionEdits, Project, ProjectOptions, Source};
use shadewright::render::sampling::Sampling;
use shadewright::render::{Backend, BackendOptions, DEFAULT_BUDGET, RenderError};
use shadewright::scene::{self, OpenOptions, Scene, builtin};
use shadewright::text::source::SourceMap;
use std::path::Path;

/// Pixels on the longer side of the images that are compared.
const CHECKED_SIDE: u32 = 160;

/// Converts the scene, and compares if that is asked for.
pub fn run(args: &ConvertArgs) -> Result<(), Failure> {
    let format = Format::from_path(&args.out).map_err(|e| refused(&e))?;
    check_judgment(&args.judge)?;
    for path in [Some(&args.out), args.difference.as_ref()].into_iter().flatten() {
        image_file::check_replaceable(path)?;
    }
    let (scene, exported) = converted(args)?;
    eprint!("{}", exported.diagnostics.render(&exported.sources));
    if args.strict && exported.losses > 0 {
        let losses = if exported.losses == 1 { "loss" } else { "losses" };
        let message = format!("error: {} {losses}, and no file is written; --strict asks for that", exported.losses);
        return Err(Failure::input(message));
    }
    exported.write().map_err(|e| refused(&e))?;
    let judgment = args.check.then(|| check(args, &scene)).transpose()?;
    if args.json {
        print_json(&summary(args, format, &exported, judgment.as_ref()).into())?;
    } else {
        for file in &exported.files {
            println!("wrote {}, {} bytes", file.path.display(), file.bytes.len());
        }
        judgment.iter().for_each(|judgment| println!("{judgment}"));
    }
    judgment.map_or(Ok(()), |judgment| judgment.outcome())
}

/// The name of the built-in scene that a path names, where there is no such file.
pub fn built_in(path: &Path) -> Option<&'static str> {
    let name = path.to_str().filter(|_| !path.exists())?;
    builtin::SCENES.iter().map(|(known, _)| *known).find(|known| *known == name)
}

fn refused(error: &export::ExportError) -> Failure {
    Failure::input(format!("error: {error}"))
}

/// Reads the scene and converts it, in memory.
fn converted(args: &ConvertArgs) -> Result<(Scene, Exported), Failure> {
    let mut sources = SourceMap::new();
    let opened = source_of(&args.scene).open(&open_options(args), &mut sources);
    let opened = opened.map_err(|d| Failure::diagnostics(&d, &sources))?;
    eprint!("{}", opened.diagnostics.render(&sources));
    let options = export::ExportOptions { shader_paths: args.shaders.shader_paths.clone() };
    let exported = export(&opened.scene, sources, &args.out, &options).map_err(|e| refused(&e))?;
    Ok((opened.scene, exported))
}

fn source_of(path: &Path) -> Source {
    match built_in(path) {
        Some(name) => Source::BuiltIn(name.to_string()),
        None => Source::File(path.to_path_buf()),
    }
}

fn open_options(args: &ConvertArgs) -> OpenOptions {
    OpenOptions {
        allow_read: args.access.allow_read.clone(),
        frame: args.frame,
        seconds: args.time,
        animation: args.animation.clone(),
        allow_run: args.access.allow_run,
        integrator: args.integrator,
        strict: args.strict,
        max_triangles: Some(args.limit.max_triangles),
        ..OpenOptions::default()
    }
}

/// Renders the scene and what was made of it, and compares.
fn check(args: &ConvertArgs, scene: &Scene) -> Result<Judgment, Failure> {
    let size = args.size.map_or_else(|| checked_size(scene.format), |size| [size.0, size.1]);
    let before = rendered(args, source_of(&args.scene), open_options(args), "the scene", size)?;
    // The new file is read as it is; a path tracer is asked for where the file cannot say so.
    let integrator = Some(scene.integrator);
    let open = OpenOptions { integrator, strict: args.strict, ..OpenOptions::default() };
    let open = OpenOptions { max_triangles: Some(args.limit.max_triangles), ..open };
    let after = rendered(args, Source::File(args.out.clone()), open, "the converted scene", size)?;
    let before = Side::new("the scene's image", &before.0, before.1.as_ref());
    let after = Side::new("the converted scene's image", &after.0, after.1.as_ref());
    Judgment::new(before, after, &args.judge, args.difference.as_deref())
}

/// A small size of the scene's shape.
fn checked_size(format: scene::Format) -> [u32; 2] {
    let longer = format.width.max(format.height);
    let scaled = |side: u32| (u64::from(side) * u64::from(CHECKED_SIDE) / u64::from(longer)).max(1) as u32;
    if longer <= CHECKED_SIDE { [format.width, format.height] } else { [format.width, format.height].map(scaled) }
}

/// An image, and the variances of its pixels where they are known.
type Rendered = (Image, Option<Variance>);

/// An image of a scene. Curved surfaces are diced for the scene's own size, as in the conversion.
fn rendered(
    args: &ConvertArgs,
    source: Source,
    open_with: OpenOptions,
    what: &str,
    size: [u32; 2],
) -> Result<Rendered, Failure> {
    let shader_paths = args.shaders.shader_paths.clone();
    let mut project =
        Project::new(source, ProjectOptions { open: open_with, shader_paths, ..ProjectOptions::default() });
    let strata = Sampling::strata_of(args.spp);
    let edits = OptionEdits { size: Some(size), pixel_samples: Some(strata), ..OptionEdits::default() };
    project.set_options(edits).map_err(|e| Failure::input(format!("error: --size: {e}")))?;
    let state = refreshed(&mut project)?;
    let job = state.job(&state.view(), Sampling { strata, seed: 0 }, DEFAULT_BUDGET);
    let backend = match args.backend {
        BackendChoice::Auto => Backend::automatic(None),
        BackendChoice::Named(backend) => backend,
    };
    let mut renderer = open(backend.renderer(&BackendOptions::default()))?;
    let failure = |e: RenderError| Failure::render(&e, &job.program.sources);
    let mut film = film_of(&job).map_err(|e| failure(e.into()))?;
    let samples = job.sampling.count();
    let shown = Work { what, samples: Some(samples) };
    let image = with_progress(shown, |progress| renderer.render_into(&job, &mut film, progress)).map_err(failure)?;
    Ok((image, variance_of(&job, &film, samples)))
}

/// A summary of the conversion, as JSON.
fn summary(args: &ConvertArgs, format: Format, exported: &Exported, judgment: Option<&Judgment>) -> Map<String, Value> {
    let files = exported.files.iter();
    let files: Vec<_> =
        files.map(|file| json!({ "path": file.path.display().to_string(), "bytes": file.bytes.len() })).collect();
    let mut summary = judgment.map(Judgment::json).unwrap_or_default();
    summary.insert("scene".to_string(), args.scene.display().to_string().into());
    summary.insert("format".to_string(), format.to_string().into());
    summary.insert("files".to_string(), files.into());
    summary.insert("losses".to_string(), exported.losses.into());
    summary.insert("diagnostics".to_string(), messages(&exported.diagnostics, &exported.sources));
    summary
}
