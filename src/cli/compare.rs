//! `shadewright compare SCENE`: two back ends, one verdict.

use super::args::{CompareArgs, GpuArgs, SceneArgs, Seeds};
use super::backend::{open, rpu_renderer, set_up_process, side};
use super::device::Device;
use super::failure::Failure;
use super::input::{job_of, open_project};
use super::judgment::{Judgment, check_judgment, conclude};
use super::progress::{Work, with_progress};
use super::sampler::{self, Samples};
use shadewright::compare::Metric;
use shadewright::compare::significance::{Estimate, LEAST_BATCHES, Pair};
use shadewright::image::file as image_file;
use shadewright::image::{Image, Variance};
use shadewright::render::adaptive::AdaptiveSampler;
use shadewright::render::film::{Film, FilmPixel};
use shadewright::render::progressive::{Pass, Progressive};
use shadewright::render::{Backend, Job, RenderError};
use shadewright::scene::Integrator;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Renders on both and judges the difference.
pub fn run(mut args: CompareArgs) -> Result<(), Failure> {
    if args.seeds.is_some() {
        // Noise would exceed the tolerances.
        args.judge.metric.get_or_insert(Metric::Z);
    }
    let args = &args;
    for path in args.out.iter().chain(&args.images) {
        image_file::check_writable(path)?;
    }
    check_judgment(&args.judge)?;
    let settings = sampler::settings(&args.sampler);
    if settings.is_some() && args.judge.metric == Some(Metric::Z) {
        return Err(Failure::input(
            "error: --sampler adaptive does not support --metric z: its pixels have no variances",
        ));
    }
    set_up_process(&args.cpu)?;
    let (_, state) = open_project(&args.scene)?;
    let job = job_of(&args.scene, &state)?;
    let sampler = settings.map(|settings| sampler::sampler(&job, &state.scene, settings)).transpose()?;
    let seeds = args.seeds.map_or([args.scene.sampling.seed; 2], |Seeds(seeds)| seeds);
    let jobs = seeds.map(|seed| {
        let mut job = job.clone();
        job.sampling.seed = seed;
        job
    });
    let batched = match sampler {
        None if is_tested(args, &job, state.scene.integrator)? => Some(Batched::render(args, &jobs)?),
        _ => None,
    };
    let images = match &batched {
        Some(batched) => batched.images.clone(),
        None => {
            let [a, b] =
                [0, 1].map(|side| render(&args.scene, &args.gpu, args.between.0[side], &jobs[side], sampler.as_ref()));
            [a?, b?]
        }
    };
    if let Some(path) = &args.images {
        let [a, b] = args.between.0.map(Backend::name);
        let names = if a == b { [format!("{a}-1"), format!("{b}-2")] } else { [a.to_string(), b.to_string()] };
        for (name, image) in names.iter().zip(&images) {
            image_file::write(&with_suffix(path, name), image)?;
        }
    }
    let pair = batched.as_ref().map(Batched::pair);
    conclude(&Judgment::from_pair(&images[0], &images[1], pair.as_ref(), &args.judge, args.out.as_deref())?, args.json)
}

/// True if the images are tested for equal means: where that is asked for, and by default where paths
/// are traced by random numbers and both back ends compute in the same format.
///
/// # Errors
/// When that is asked for, and there are too few samples.
fn is_tested(args: &CompareArgs, job: &Job, integrator: Integrator) -> Result<bool, Failure> {
    let samples = job.sampling.count();
    let [a, b] = args.between.0.map(|backend| backend.info().format);
    match args.judge.metric {
        Some(Metric::Z) if samples < LEAST_BATCHES => Err(Failure::input(format!(
            "error: {samples} samples per pixel are too few for --metric z; add --spp {LEAST_BATCHES}, or more"
        ))),
        Some(metric) => Ok(metric == Metric::Z),
        None if integrator != Integrator::Path || a != b => Ok(false),
        None if samples < LEAST_BATCHES => {
            eprintln!(
                "no test of the means: {samples} samples per pixel are too few; --spp {LEAST_BATCHES}, or more, adds it"
            );
            Ok(false)
        }
        None => Ok(true),
    }
}

/// Two images that were rendered batch by batch, alternately.
struct Batched {
    /// The finished images.
    images: [Image; 2],
    /// The means of their samples, before exposure and imager.
    means: [Image; 2],
    tested: Tested,
}

/// The variances of two images.
enum Tested {
    /// The variance of the differences of images with the same random numbers.
    Paired(Variance),
    /// The variances of images with different seeds.
    Independent([Variance; 2]),
}

impl Batched {
    /// Renders a job on each back end. With the same random numbers on both, most noise is equal: the
    /// differences of the batches show smaller ones than the images do.
    fn render(args: &CompareArgs, jobs: &[Job; 2]) -> Result<Self, Failure> {
        let failure = |e: RenderError| Failure::render(&e, &jobs[0].program.sources);
        let mut renderers = Vec::new();
        for (backend, job) in args.between.0.into_iter().zip(jobs) {
            let (mut renderer, device) = progressive_on(&args.scene, &args.gpu, backend)?;
            eprintln!("{}: {device}", backend.name());
            renderer.load(job).map_err(failure)?;
            renderers.push(renderer);
        }
        let (window, samples) = (jobs[0].window, jobs[0].sampling.count());
        let film = || {
            let film = Film::with_samples(window.width, window.height, samples).map(Film::with_variance);
            film.map_err(|e| failure(e.into()))
        };
        let (mut films, mut differences) = ([film()?, film()?], film()?);
        let is_paired = args.seeds.is_none();
        let stop = AtomicBool::new(false);
        let [a, b] = args.between.0.map(Backend::name);
        let what = format!("{a} and {b}");
        let batches = differences.batches();
        let steps = (2 * batches.count()) as f32;
        let drawn = with_progress(Work { what: &what, samples: Some(samples) }, |progress| {
            for batch in 0..batches.count() {
                let range = batches.range(batch);
                let pass = Pass { step: 1, first: range.start, count: range.len() as u32 };
                let mut sums = [Vec::new(), Vec::new()];
                for (side, renderer) in renderers.iter_mut().enumerate() {
                    let mut film = Film::for_share(window.width, window.height, samples, batch)?;
                    renderer.draw(pass, &mut film, &stop)?;
                    sums[side] = film.into_batches().pop().unwrap_or_default();
                    films[side].add_batch(batch, &sums[side]);
                    progress((2 * batch + side as u32 + 1) as f32 / steps);
                }
                if is_paired {
                    let pixels = sums[0].iter().zip(&sums[1]);
                    let all: Vec<FilmPixel> = pixels.map(|(first, second)| difference(first, second)).collect();
                    differences.add_batch(batch, &all);
                }
            }
            Ok(())
        });
        drawn.map_err(failure)?;
        let mut finish = |side: usize| renderers[side].finish(&films[side], 1, &stop).map_err(failure);
        let images = [finish(0)?, finish(1)?];
        let variance = |film: &Film| film.variance(samples).ok_or_else(|| Failure::input("error: too few samples"));
        let tested = match is_paired {
            true => Tested::Paired(variance(&differences)?),
            false => Tested::Independent([variance(&films[0])?, variance(&films[1])?]),
        };
        Ok(Self { images, means: films.map(|film| film.resolve()), tested })
    }

    /// The pair of images that the test takes.
    fn pair(&self) -> Pair<'_> {
        let [first, second] = &self.means;
        match &self.tested {
            Tested::Paired(variance) => Pair::Paired { first, second, variance },
            Tested::Independent([a, b]) => {
                Pair::Independent(Estimate { image: first, variance: a }, Estimate { image: second, variance: b })
            }
        }
    }
}

/// The difference of a pixel's sums in a batch. The weights of both are those of the same samples.
fn difference(first: &FilmPixel, second: &FilmPixel) -> FilmPixel {
    FilmPixel { sum: std::array::from_fn(|channel| second.sum[channel] - first.sum[channel]), weight: first.weight }
}

/// Renders a job on a back end, with a sampler or the job's own samples, and prints the device.
pub fn render(
    scene: &SceneArgs,
    gpu: &GpuArgs,
    backend: Backend,
    job: &Job,
    sampler: Option<&AdaptiveSampler>,
) -> Result<Image, Failure> {
    match sampler {
        Some(sampler) => adaptive(scene, gpu, backend, job, sampler),
        None => uniform(scene, gpu, backend, job),
    }
}

/// Renders with the same number of samples in every pixel.
fn uniform(scene: &SceneArgs, gpu: &GpuArgs, backend: Backend, job: &Job) -> Result<Image, Failure> {
    let (opened, options) = side(backend, gpu, rpu_renderer(scene))?;
    let mut renderer = open(opened.renderer(&options))?;
    let device = Device::new(opened, renderer.adapter());
    let name = backend.name();
    eprintln!("{name}: {device}");
    let shown = Work { what: name, samples: Some(job.sampling.count()) };
    let image = with_progress(shown, |progress| renderer.render(job, progress));
    image.map_err(|e| Failure::render(&e, &job.program.sources))
}

/// Renders with the adaptive sampler.
fn adaptive(
    scene: &SceneArgs,
    gpu: &GpuArgs,
    backend: Backend,
    job: &Job,
    sampler: &AdaptiveSampler,
) -> Result<Image, Failure> {
    let (mut renderer, device) = progressive_on(scene, gpu, backend)?;
    let name = backend.name();
    let image = sampler::image(sampler, &mut *renderer, job, name, &AtomicBool::new(false));
    let (image, statistics) = image.map_err(|e| Failure::render(&e, &job.program.sources))?;
    eprintln!("{name}: {device}, {}", Samples::Adaptive(statistics));
    Ok(image)
}

/// A back end that renders in passes, and its device.
fn progressive_on(
    scene: &SceneArgs,
    gpu: &GpuArgs,
    backend: Backend,
) -> Result<(Box<dyn Progressive>, Device), Failure> {
    let (opened, options) = side(backend, gpu, rpu_renderer(scene))?;
    let renderer = open(opened.progressive(&options))?;
    let device = Device::new(opened, renderer.adapter());
    Ok((renderer, device))
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
    fn the_back_end_goes_before_the_extension() {
        assert_eq!(with_suffix(Path::new("a/b.c.png"), "gpu"), Path::new("a/b.c-gpu.png"));
    }
}
