//! `shadewright compare SCENE`: two machines, one verdict.

use super::args::{Backend, CompareArgs, Side};
use super::common::{check_judgement, judge, prepare_job, renderer, rpu_options, set_threads};
use super::exit::Failure;
use super::progress::{Work, with_progress};
use shadewright::image::file as image_file;
use shadewright::render::rpu::RpuRenderer;
use std::path::{Path, PathBuf};

/// Renders on both and judges the difference.
pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    for path in args.out.iter().chain(&args.images) {
        image_file::check_writable(path)?;
    }
    check_judgement(&args.judge)?;
    set_threads(&args.machine)?;
    let (job, _) = prepare_job(&args.scene)?;
    let mut images = Vec::new();
    for side in args.between.0 {
        let name = side.name();
        let rpu = RpuRenderer::with_options(rpu_options(&args.scene));
        let (mut machine, device) = match side {
            Side::Gpu => renderer(Backend::Gpu, &args.machine, rpu)?,
            Side::Rpu(format) => renderer(Backend::Rpu, &args.machine, rpu.in_format(format))?,
        };
        eprintln!("{name}: {device}");
        let shown = Work { what: name, samples: Some(job.sampling.count()) };
        let image = with_progress(shown, |progress| machine.render(&job, progress))
            .map_err(|e| Failure::render(&e, &job.program.sources))?;
        if let Some(path) = &args.images {
            image_file::write(&with_suffix(path, name), &image)?;
        }
        images.push(image);
    }
    judge(&images[0], &images[1], &args.judge, args.out.as_deref())
}

/// `dir/name.ext` with `-suffix` before the extension.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{suffix}.{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_goes_before_the_extension() {
        assert_eq!(with_suffix(Path::new("a/b.c.png"), "gpu"), Path::new("a/b.c-gpu.png"));
    }
}
