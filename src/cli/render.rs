//! `shadewright [SCENE] --render OUT`.

use super::args::RenderArgs;
use super::common::{check_judgement, judge, prepare_job, renderer, rpu_options, set_threads};
use super::exit::Failure;
use super::progress::with_bar;
use crate::render::image_file;
use crate::render::rpu::RpuRenderer;
use std::time::Instant;

/// Renders the scene into a file.
pub fn run(args: &RenderArgs) -> Result<(), Failure> {
    if let Some(scene) = args.scene.scene.as_ref().filter(|s| !s.exists()) {
        let name = scene.display();
        return Err(Failure::input(format!(
            "error: cannot find `{name}`: it is neither a file nor a subcommand (see `shadewright --help`)"
        )));
    }
    let Some(out) = &args.render else {
        return Err(Failure::input(
            "the viewer is not there yet: name a picture to render with `--render OUT.png`\n\
             (try `shadewright --render picture.png`, or `shadewright --help`)",
        ));
    };
    image_file::check_writable(out)?;
    check_judgement(&args.judge)?;
    // Before anything uses threads: reading some picture formats does.
    set_threads(&args.machine)?;
    let reference = args.compare.as_deref().map(image_file::read).transpose()?;
    let (job, times) = prepare_job(&args.scene)?;
    let rpu = RpuRenderer::with_options(rpu_options(&args.scene)).in_format(args.format.into());
    let mut renderer = renderer(args.backend, &args.machine, rpu)?;
    let start = Instant::now();
    let picture = with_bar("rendering", |progress| renderer.render(&job, progress))
        .map_err(|e| Failure::render(&e, &job.program.sources))?;
    let render = start.elapsed();
    let start = Instant::now();
    image_file::write(out, &picture)?;
    if args.stats {
        let memory = job.program.memory.bytes() + job.bvh.stats().bytes;
        eprintln!("machine        {}", renderer.describe());
        eprintln!("triangles      {}", job.bvh.stats().triangles);
        eprintln!("scene data     {:.1} MiB", memory as f64 / (1 << 20) as f64);
        let phases = [
            ("open", times.open),
            ("compile", times.link),
            ("tree", times.tree),
            ("render", render),
            ("write", start.elapsed()),
        ];
        for (name, time) in phases {
            eprintln!("{name:<14} {:.1} ms", time.as_secs_f64() * 1000.0);
        }
    }
    match reference {
        Some(reference) => judge(&reference, &picture, &args.judge, None),
        None => Ok(()),
    }
}
