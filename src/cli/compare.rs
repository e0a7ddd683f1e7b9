//! `shadewright compare SCENE`: two machines, one verdict.

use super::args::{BackendChoice, CompareArgs};
use super::backend::{open, renderer, rpu_renderer, set_up_process};
use super::device::Device;
use super::failure::Failure;
use super::input::prepare_job;
use super::judgement::{check_judgement, judge};
use super::progress::{Work, with_progress};
use shadewright::image::file as image_file;
use shadewright::render::BackendOptions;
use std::path::{Path, PathBuf};

/// Renders on both and judges the difference.
pub fn run(mut args: CompareArgs) -> Result<(), Failure> {
    args.scene.for_judgement();
    let args = &args;
    for path in args.out.iter().chain(&args.images) {
        image_file::check_writable(path)?;
    }
    check_judgement(&args.judge)?;
    set_up_process(&args.machine)?;
    let (job, _) = prepare_job(&args.scene)?;
    let mut images = Vec::new();
    for backend in args.between.0 {
        let name = backend.name();
        let rpu = rpu_renderer(&args.scene);
        // Options of the GPU are for the side that uses one.
        let (mut machine, device) = match backend.info().uses_gpu {
            true => renderer(BackendChoice::Named(backend), &args.machine, rpu)?,
            false => {
                let options = BackendOptions { rpu, ..BackendOptions::default() };
                (open(backend.renderer(&options))?, Device::of(backend, None))
            }
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
