//! `shadewright merge PARTS… -o OUT`: joins the parts of an image.

use super::args::{BackendChoice, Cli, Command, Devices, MergeArgs, RenderArgs, SceneArgs, parse};
use super::backend::{progressive, rpu_renderer, set_up_process};
use super::failure::Failure;
use super::input::{job_of, open_project};
use super::output::print_json;
use super::record;
use super::render::is_exr;
use anyhow::Context;
use serde_json::json;
use shadewright::disk;
use shadewright::image::channels::Header;
use shadewright::image::rendering::Rendering;
use shadewright::image::{Image, SizeError, file as image_file};
use shadewright::render::Backend;
use shadewright::render::film::{Film, FilmPixel, FilmSettings};
use shadewright::render::part::{PartError, PartFile, PartRecord, join, plan};
use shadewright::render::record::to_json;
use shadewright::scene::Exposure;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Joins the parts and writes the image.
pub fn run(args: &MergeArgs) -> Result<(), Failure> {
    let target = image_file::check_writable(&args.out)?;
    set_up_process(&args.cpu)?;
    let parts = records(&files(&args.parts)?)?;
    if let Some((path, _)) = parts.iter().find(|(path, _)| path.canonicalize().is_ok_and(|path| path == target)) {
        return Err(Failure::input(format!("error: -o: `{}` is one of the parts; name another file", path.display())));
    }
    let named: Vec<_> = parts.iter().map(|(path, record)| (path.display().to_string(), record.clone())).collect();
    let plan = plan(&named).map_err(|problems| {
        let lines: Vec<_> = problems.iter().map(|problem| format!("error: {problem}")).collect();
        Failure::input(lines.join("\n"))
    })?;
    for [used, other] in &plan.duplicates {
        eprintln!("note: `{}` has the same samples as `{}`", named[*other].0, named[*used].0);
    }
    let first = &parts[0].1;
    let joined = join(&plan, first, |number| read(&parts[number].0))?;
    let [gain, gamma] = first.part.exposure;
    let settings = FilmSettings { exposure: Exposure { gain, gamma }, ..FilmSettings::default() };
    let image = match first.part.imager {
        true => after_imager(args, first, &parts[0].0, &joined.means)?,
        false => settings.expose(joined.means.clone()),
    };
    let variance = joined.variance.map(|variance| settings.develop_variance(&joined.means, variance));
    let mut record = first.record.clone();
    record.device = Vec::from_iter(plan.devices).join(", ");
    if is_exr(&args.out) {
        let record = Some(to_json(&record).context("writing the record")?);
        Rendering { image, variance, aovs: joined.aovs, record }.write(&args.out)?;
    } else {
        if !joined.aovs.is_empty() {
            eprintln!("note: the layers of the parts are written to .exr files only");
        }
        image_file::write_quantized(&args.out, &image, first.part.quantize)?;
    }
    let [x0, y0, x1, y1] = record.window;
    let (width, height, count) = (x1 - x0, y1 - y0, plan.order.len());
    if args.json {
        let path = args.out.display().to_string();
        return print_json(&json!({
            "path": path, "width": width, "height": height, "parts": count, "spp": record.samples,
            "backend": record.backend, "device": record.device,
        }));
    }
    let plural = if count == 1 { "" } else { "s" };
    eprintln!(
        "wrote {}, {width}×{height}, {} spp, from {count} part{plural} rendered on {} ({})",
        args.out.display(),
        record.samples,
        record.backend,
        record.device
    );
    Ok(())
}

/// The files of the arguments: those of a folder in the order of their names.
fn files(paths: &[PathBuf]) -> Result<Vec<(PathBuf, bool)>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push((path.clone(), true));
            continue;
        }
        let failure = |e: std::io::Error| Failure::input(format!("error: cannot read `{}`: {e}", path.display()));
        let mut found = Vec::new();
        for entry in std::fs::read_dir(path).map_err(failure)? {
            let file = entry.map_err(failure)?.path();
            if is_exr(&file) && file.is_file() {
                found.push((file, false));
            }
        }
        if found.is_empty() {
            return Err(Failure::input(format!("error: the folder `{}` has no .exr files", path.display())));
        }
        found.sort();
        files.append(&mut found);
    }
    Ok(files)
}

/// The records of the parts. Files of a folder that are no parts are left out, and reported; those that
/// were named are errors.
fn records(files: &[(PathBuf, bool)]) -> Result<Vec<(PathBuf, PartRecord)>, Failure> {
    let mut parts = Vec::new();
    let mut errors = Vec::new();
    for (path, is_named) in files {
        match record(path) {
            Ok(record) => parts.push((path.clone(), record)),
            Err(Unread::Part(PartError::Foreign)) if !is_named => {
                eprintln!("note: `{}` is left out: it is not a part of an image", path.display());
            }
            Err(Unread::Part(error)) => errors.push(format!("error: `{}`: {error}", path.display())),
            Err(Unread::File(error)) => errors.push(format!("error: cannot read `{}`: {error}", path.display())),
        }
    }
    match errors.is_empty() {
        true => Ok(parts),
        false => Err(Failure::input(errors.join("\n"))),
    }
}

/// Why a part was not read.
enum Unread {
    File(std::io::Error),
    Part(PartError),
}

fn record(path: &Path) -> Result<PartRecord, Unread> {
    let mut reader = BufReader::new(disk::open(path).map_err(Unread::File)?);
    let header = Header::read(&mut reader).map_err(|e| Unread::Part(PartError::Damaged(e.to_string())))?;
    PartRecord::from_header(&header).map_err(Unread::Part)
}

/// A part could not be joined.
struct Unjoined(Failure);

impl From<SizeError> for Unjoined {
    fn from(error: SizeError) -> Self {
        Self(Failure::input(format!("error: {error}")))
    }
}

impl From<Unjoined> for Failure {
    fn from(Unjoined(failure): Unjoined) -> Self {
        failure
    }
}

fn read(path: &Path) -> Result<PartFile, Unjoined> {
    let failure = |e: &dyn std::fmt::Display| Unjoined(Failure::input(format!("error: `{}`: {e}", path.display())));
    let file = disk::open(path).map_err(|e| failure(&e))?;
    PartFile::decode(&mut BufReader::new(file)).map_err(|e| failure(&e))
}

/// The image after the scene's imager shader, which runs on the backend of the parts.
fn after_imager(args: &MergeArgs, first: &PartRecord, part: &Path, means: &Image) -> Result<Image, Failure> {
    let mut rendered = command_of(first).ok_or_else(|| {
        Failure::input(format!(
            "error: the scene has an imager shader, and the command of `{}` cannot be repeated to run it",
            part.display()
        ))
    })?;
    let named =
        args.scene.clone().or(rendered.scene.file.scene.take().map(|scene| Path::new(&first.part.folder).join(scene)));
    rendered.scene.file.scene = named;
    permit(&mut rendered.scene, args, Path::new(&first.part.folder));
    let (_, state) = open_project(&rendered.scene).map_err(|failure| {
        Failure::input(format!(
            "{failure}\nerror: the scene has an imager shader, which runs on the joined image: name the scene with --scene"
        ))
    })?;
    let job = job_of(&rendered.scene, &state)?;
    let failure = |e| Failure::render(&e, &job.program.sources);
    let rpu = rpu_renderer(&rendered.scene).in_format(rendered.format);
    let backend = Backend::named(&first.record.backend).map_or(BackendChoice::Auto, |backend| match backend {
        Backend::RPU_F24 => BackendChoice::Named(Backend::RPU),
        backend => BackendChoice::Named(backend),
    });
    if args.engine.engine.is_some() && backend != BackendChoice::Named(Backend::RPU) {
        return Err(Failure::input(format!(
            "error: --engine is an option of the RPU, and the parts were rendered on {}; remove it",
            first.record.backend
        )));
    }
    let mut gpu = args.gpu.clone();
    gpu.adapter.adapter = gpu.adapter.adapter.or(rendered.gpu.adapter.adapter.clone());
    gpu.schedule = gpu.schedule.or(rendered.gpu.schedule);
    let (mut renderer, device) = progressive(backend, Devices { gpu: &gpu, engine: args.engine }, rpu)?;
    let hashes = record::subject(&rendered, &job, &state.scene, &device);
    let same_scene = job.film.moves || hashes.scene == first.record.hashes.scene;
    if !same_scene || hashes.program != first.record.hashes.program {
        return Err(Failure::input(
            "error: the scene has changed since the parts were rendered, and its imager shader runs on the joined image; render the parts again",
        ));
    }
    if hashes.backend != first.record.hashes.backend {
        return Err(Failure::input(format!(
            "error: the parts were rendered on {}, and here is {}: the scene's imager shader runs on the joined image, and computes other bits here\nhint: merge where the parts were rendered, or choose the device with --adapter",
            first.record.device,
            device.recorded()
        )));
    }
    renderer.load(&job).map_err(failure)?;
    let mut film = Film::new(means.width, means.height).map_err(|e| failure(e.into()))?;
    for (at, &sum) in (0..).zip(&means.rgba) {
        film.set_batch_sum(at % means.width, at / means.width, 0, FilmPixel { sum, weight: 1.0 });
    }
    renderer.finish(&film, 1, &AtomicBool::new(false)).map_err(failure)
}

/// Gives a scene the permissions of this command, in place of those of a part's: a part is a file of
/// somebody else. Its folders of shaders that lie in the scene's own need none.
fn permit(scene: &mut SceneArgs, args: &MergeArgs, folder_of_part: &Path) {
    let own = scene.file.scene.as_deref().and_then(|scene| image_file::folder_of(scene).canonicalize().ok());
    let is_own = |folder: &PathBuf| {
        let real = folder.canonicalize().ok();
        real.zip(own.as_ref()).is_some_and(|(real, own)| real.starts_with(own))
    };
    scene.file.access = args.access.clone();
    let of_part = std::mem::replace(&mut scene.shaders, args.shaders.clone()).shader_paths;
    let folders = of_part.into_iter().map(|folder| folder_of_part.join(folder));
    scene.shaders.shader_paths.extend(folders.filter(is_own));
}

/// The arguments that a part was rendered with.
fn command_of(part: &PartRecord) -> Option<RenderArgs> {
    match parse(&part.part.command).ok()? {
        Cli { command: Some(Command::Render(render)), .. } => Some(*render),
        Cli { command: None, render } => Some(render),
        Cli { .. } => None,
    }
}
