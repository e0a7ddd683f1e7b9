//! `shadewright [SCENE] --render OUT`, and the window where there is no `OUT`.

use super::args::RenderArgs;
use super::common::{Judgement, check_judgement, prepare_job, print_json, renderer, rpu_options, set_threads};
use super::exit::Failure;
use super::progress::with_bar;
use super::stats::{Pictures, RenderStats};
use super::{viewer, watch};
use crate::render::image_file;
use crate::render::rpu::RpuRenderer;
use anyhow::Context;
use std::time::Instant;

/// Renders the scene into a file.
pub fn run(args: &RenderArgs) -> Result<(), Failure> {
    let begin = Instant::now();
    if let Some(scene) = args.scene.scene.as_ref().filter(|s| !s.exists()) {
        let name = scene.display();
        return Err(Failure::input(format!(
            "error: cannot find `{name}`: it is neither a file nor a subcommand (see `shadewright --help`)"
        )));
    }
    let Some(out) = &args.render else { return viewer::run(args) };
    for file in args.preview.iter().chain([out]) {
        image_file::check_writable(file)?;
    }
    check_judgement(&args.judge)?;
    // Before anything uses threads: reading some picture formats does.
    set_threads(&args.machine)?;
    if args.watch {
        return watch::run(args, out);
    }
    let reference = args.compare.as_deref().map(image_file::read).transpose()?;
    let (job, times) = prepare_job(&args.scene)?;
    let rpu = RpuRenderer::with_options(rpu_options(&args.scene)).in_format(args.format.into());
    let failed = |e| Failure::render(&e, &job.program.sources);
    let mut first = None;
    if let Some(file) = &args.preview {
        image_file::write(file, &rpu.first_picture(&job).map_err(failed)?)?;
        first = Some(begin.elapsed());
    }
    let mut renderer = renderer(args.backend, &args.machine, rpu)?;
    renderer.set_profiling(args.stats);
    let start = Instant::now();
    let picture = with_bar("rendering", |progress| renderer.render(&job, progress)).map_err(failed)?;
    let rendered = Instant::now();
    image_file::write(out, &picture)?;
    let full = begin.elapsed();
    let pictures = Pictures { first: first.unwrap_or(full), full };
    let stats =
        args.stats.then(|| RenderStats::of(&job, &*renderer, times, rendered - start, rendered.elapsed(), pictures));
    let judgement = reference.map(|reference| Judgement::of(&reference, &picture, &args.judge, None)).transpose()?;
    if args.judge.json {
        let mut document = judgement.as_ref().map_or_else(|| serde_json::json!({}), Judgement::json);
        if let Some(stats) = &stats {
            document["stats"] = serde_json::to_value(stats).context("writing JSON")?;
        }
        if stats.is_some() || judgement.is_some() {
            print_json(&document)?;
        }
    } else {
        if let Some(stats) = &stats {
            eprint!("{stats}");
        }
        if let Some(judgement) = &judgement {
            println!("{judgement}");
        }
    }
    judgement.map_or(Ok(()), |judgement| judgement.outcome())
}
