//! `shadewright compare SCENE`: two machines, one verdict.

use super::args::{BackendChoice, CompareArgs, MachineArgs, SceneArgs};
use super::backend::{open, progressive, renderer, rpu_renderer, set_up_process};
use super::device::Device;
use super::failure::Failure;
use super::input::{job_of, open_project};
use super::judgement::{check_judgement, judge};
use super::progress::{Work, with_progress};
use super::sampler::{self, Samples};
use shadewright::image::Image;
use shadewright::image::file as image_file;
use shadewright::render::adaptive::AdaptiveSampler;
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::{Backend, BackendOptions, Job};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Renders on both and judges the difference.
pub fn run(mut args: CompareArgs) -> Result<(), Failure> {
    args.scene.for_judgement();
    let args = &args;
    for path in args.out.iter().chain(&args.images) {
        image_file::check_writable(path)?;
    }
    check_judgement(&args.judge)?;
    let settings = sampler::settings(&args.sampler, &args.scene)?;
    set_up_process(&args.machine)?;
    let (_, state) = open_project(&args.scene)?;
    let job = job_of(&args.scene, &state)?;
    let sampler = settings.map(|settings| sampler::sampler(&job, &state.scene, settings)).transpose()?;
    let mut images = Vec::new();
    for backend in args.between.0 {
        let image = render(&args.scene, &args.machine, backend, &job, sampler.as_ref())?;
        if let Some(path) = &args.images {
            image_file::write(&with_suffix(path, backend.name()), &image)?;
        }
        images.push(image);
    }
    judge(&images[0], &images[1], &args.judge, args.out.as_deref())
}

/// Renders a job on a back end, with a sampler or the job's own samples, and prints the device.
pub fn render(
    scene: &SceneArgs,
    machine: &MachineArgs,
    backend: Backend,
    job: &Job,
    sampler: Option<&AdaptiveSampler>,
) -> Result<Image, Failure> {
    match sampler {
        Some(sampler) => adaptive(scene, machine, backend, job, sampler),
        None => uniform(scene, machine, backend, job),
    }
}

/// Renders with the same number of samples in every pixel.
fn uniform(scene: &SceneArgs, options: &MachineArgs, backend: Backend, job: &Job) -> Result<Image, Failure> {
    let rpu = rpu_renderer(scene);
    // Options of the GPU are for the side that uses one.
    let (mut machine, device) = match backend.info().uses_gpu {
        true => renderer(BackendChoice::Named(backend), options, rpu)?,
        false => (open(backend.renderer(&of_rpu(rpu)))?, Device::of(backend, None)),
    };
    let name = backend.name();
    eprintln!("{name}: {device}");
    let shown = Work { what: name, samples: Some(job.sampling.count()) };
    let image = with_progress(shown, |progress| machine.render(job, progress));
    image.map_err(|e| Failure::render(&e, &job.program.sources))
}

/// Renders with the adaptive sampler.
fn adaptive(
    scene: &SceneArgs,
    options: &MachineArgs,
    backend: Backend,
    job: &Job,
    sampler: &AdaptiveSampler,
) -> Result<Image, Failure> {
    let rpu = rpu_renderer(scene);
    let (mut machine, device) = match backend.info().uses_gpu {
        true => progressive(BackendChoice::Named(backend), options, rpu)?,
        false => (open(backend.progressive(&of_rpu(rpu)))?, Device::of(backend, None)),
    };
    let name = backend.name();
    let image = sampler::image(sampler, &mut *machine, job, name, &AtomicBool::new(false));
    let (image, statistics) = image.map_err(|e| Failure::render(&e, &job.program.sources))?;
    eprintln!("{name}: {device}, {}", Samples::Adaptive(statistics));
    Ok(image)
}

/// Options of a back end that is the RPU.
fn of_rpu(rpu: RpuRenderer) -> BackendOptions {
    BackendOptions { rpu, ..BackendOptions::default() }
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
