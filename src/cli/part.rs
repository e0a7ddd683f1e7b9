//! `render --part`: a share of an image.

use super::args::{Crop, RenderArgs, SceneArgs};
use super::backend::{progressive, rpu_renderer};
use super::failure::Failure;
use super::input::{job_of, open_project};
use super::messages::Problems;
use super::output::print_json;
use super::progress::with_progress;
use super::render::{draw_shutter, rendering, shadow_map};
use super::{aov, bake, interrupt, printf, record};
use serde_json::json;
use shadewright::disk;
use shadewright::image::file as image_file;
use shadewright::render::batches::Batches;
use shadewright::render::film::Film;
use shadewright::render::part::{Content, PartFile, PartInfo, PartRecord, Share, difference};
use shadewright::render::{Job, RenderError, Window, passes};
use std::io::BufReader;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::time::Instant;

/// Renders a share of an image into a file.
///
/// # Errors
/// As rendering; an interruption leaves no file.
pub fn run(args: &RenderArgs, scene: &SceneArgs, share: Share, out: &Path, begin: Instant) -> Result<(), Failure> {
    let (mut project, state) = open_project(scene)?;
    if shadow_map(&state).is_some() && scene.moment.frames.is_some() {
        return Err(Failure::input(
            "error: --part: this frame is a shadow map, which is rendered at once; remove --part",
        ));
    }
    let whole = job_of(scene, &state)?;
    let names = aov::wanted(args, &state.scene.film, out)?;
    let batches = Batches::new(whole.sampling.count());
    let (window, own) =
        share.split(whole.window, batches).map_err(|e| Failure::input(format!("error: --part: {e}")))?;
    let Window { x, y, width, height } = window;
    let mut tile = scene.clone();
    tile.camera.crop = Some(Crop([x, y, x + width, y + height]));
    let job = job_of(&tile, &state)?;
    let failure = |e: RenderError| Failure::render(&e, &job.program.sources);
    let mut film = empty(&job, share, &own).map_err(|e| failure(e.into()))?;
    let samples = batches.range(own.start).start..batches.range(own.end - 1).end;
    let rpu = rpu_renderer(scene).in_format(args.format);
    let stop = interrupt::watched()?;
    let (mut renderer, device) = progressive(args.backend, args.devices(), rpu.clone())?;
    let hashes = record::subject_of_shutter(args, &whole, &state.scene, &project, &device);
    let kept = if job.program.has_imager { 1 } else { batches.count() };
    let image = record::record(args, scene, &whole, &device, hashes, kept, &names);
    let folder = std::env::current_dir().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
    let info = PartInfo {
        quantize: state.scene.film.quantize,
        imager: job.program.has_imager,
        // The record is text: a name that is not cannot be repeated.
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        folder,
        ..PartInfo::new(share, window, &job.film)
    };
    let record = PartRecord { record: image, part: info };
    if args.output.reuse && is_there(out, &record) {
        return keep(args, out, share);
    }
    if job.film.moves {
        draw_shutter(&mut *renderer, &tile, &mut project, &job, samples.clone(), &mut film, stop)?;
    } else {
        renderer.load(&job).map_err(failure)?;
        let count = samples.len() as f32;
        let drawn = with_progress(rendering(&job), |progress| {
            let mut after = |_: [&Film; 2], done: u32| {
                progress((done - samples.start) as f32 / count);
                ControlFlow::Continue(())
            };
            passes::draw(&mut *renderer, &mut film, samples.clone(), stop, &mut after)
        });
        if drawn.map_err(failure)? < samples.end {
            return Err(Failure::interrupted("interrupted: no part was written"));
        }
    }
    let aovs = match share.has_first_samples() {
        true => aov::draw(&names, args, &tile, &mut project, &state, rpu.clone())?,
        false => Vec::new(),
    };
    let baked = match share.place() {
        0 => bake::draw(args, scene, &mut project, &state, rpu)?,
        _ => Vec::new(),
    };
    let part = PartFile { record, content: Content::from_film(film, share), aovs };
    let bytes = part.encode().map_err(|e| Failure::input(format!("error: {}: {e}", out.display())))?;
    // A part that is there is kept by --reuse: what belongs to it must be there before.
    bake::write(&baked, out);
    image_file::write_bytes(out, &bytes)?;
    if share.has_first_samples() {
        printf::print(&state, &job, args.json)?;
    }
    let problems = Problems::from_diagnostics(&state.diagnostics);
    let seconds = begin.elapsed().as_secs_f64();
    if args.json {
        let mut document = json!({
            "path": out.display().to_string(),
            "part": share.to_string(),
            "window": [x, y, x + width, y + height],
            "samples": [samples.start, samples.end],
            "bytes": bytes.len(),
            "seconds": (seconds * 1e3).round() / 1e3,
        });
        for more in [device.json(), problems.json().into()] {
            if let (Some(document), serde_json::Value::Object(mut more)) = (document.as_object_mut(), more) {
                document.append(&mut more);
            }
        }
        return print_json(&document);
    }
    let range = describe(&samples, batches);
    eprintln!(
        "wrote {}, {share}: {width}×{height} pixels at {x},{y}, {range}, {seconds:.2} s on the {device}",
        out.display()
    );
    eprint!("{problems}");
    Ok(())
}

/// True if a file is this part, undamaged.
fn is_there(out: &Path, record: &PartRecord) -> bool {
    let there = disk::open(out).ok().and_then(|file| PartFile::decode(&mut BufReader::new(file)).ok());
    there.is_some_and(|there| {
        there.record.part.share == record.part.share && difference(&there.record, record).is_none()
    })
}

/// Reports a part that was kept.
fn keep(args: &RenderArgs, out: &Path, share: Share) -> Result<(), Failure> {
    if args.json {
        let path = out.display().to_string();
        return print_json(&json!({ "path": path, "part": share.to_string(), "kept": true }));
    }
    eprintln!("kept {}, {share}: it is there already", out.display());
    Ok(())
}

fn describe(samples: &Range<u32>, batches: Batches) -> String {
    match samples.len() as u32 == batches.samples() {
        true => format!("{} spp", samples.len()),
        false => format!("samples {} to {} of {}", samples.start + 1, samples.end, batches.samples()),
    }
}

/// An empty film for the share's batches.
fn empty(job: &Job, share: Share, own: &Range<u32>) -> Result<Film, shadewright::image::SizeError> {
    let Window { width, height, .. } = job.window;
    match share.has_all_samples() {
        true => super::checkpoint::film_of(job),
        false => Film::for_share(width, height, job.sampling.count(), own.start),
    }
}
