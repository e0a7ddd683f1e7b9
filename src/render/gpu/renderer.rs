//! [`GpuRenderer`]: pictures by the section machine.
//!
//! The picture is cut into bands of as many pixels as there are paths. For every sample a wave runs the camera entry on the band, one path a
//! pixel; the samples are summed on the GPU, the sums read back once a band. The imager, where there is one, runs in a wave on the
//! means. Positions, sums and means are those of the CPU's `Sampling` and `Film`.

use super::accumulate::BandFilm;
use super::section_machine::{Compute, ComputeError, MachineStats, SectionMachine, Setup};
use super::tiles::tiled_pixels;
use super::trap::trap_error;
use crate::codegen::wgsl::{self, GpuProgram};
use crate::program::{CAMERA_ENTRY, IMAGER_ENTRY, surface_entry};
use crate::render::film::{Film, FilmPixel, Picture};
use crate::render::{Job, Progress, RenderError, Renderer};
use glam::Vec2;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Paths in flight on hardware.
const HARDWARE_PATHS: u32 = 1 << 18;
/// Paths in flight on a software driver: enough that the fixed cost of a round is small, few enough that progress shows.
const SOFTWARE_PATHS: u32 = 1 << 16;
/// Words of a picture's pixel: colour and alpha.
const PIXEL_WORDS: u32 = 4;

/// Where the time of the last picture went.
#[derive(Clone, Copy, Debug, Default)]
pub struct GpuStats {
    /// Compiling the program to kernels.
    pub compile: Duration,
    /// Making pipelines and buffers.
    pub setup: Duration,
    /// Running waves.
    pub render: Duration,
    /// What the machine did.
    pub machine: MachineStats,
}

/// Renders on a GPU.
#[derive(Debug)]
pub struct GpuRenderer {
    compute: Compute,
    stats: GpuStats,
}

impl GpuRenderer {
    /// Opens the best adapter, or the best whose name contains `adapter`, whatever the case.
    ///
    /// # Errors
    /// When there is no such adapter, or it refuses the kernels.
    pub fn new(adapter: Option<&str>) -> Result<Self, ComputeError> {
        Ok(Self { compute: Compute::new(adapter)?, stats: GpuStats::default() })
    }

    /// The device, to run functions on.
    pub fn compute(&self) -> &Compute {
        &self.compute
    }

    /// Where the time of the last picture went.
    pub fn stats(&self) -> GpuStats {
        self.stats
    }
}

impl Renderer for GpuRenderer {
    fn describe(&self) -> String {
        let adapter = self.compute.gpu().adapter();
        format!("GPU: {} ({}, {})", adapter.name, adapter.kind, adapter.api)
    }

    fn render(&mut self, job: &Job, progress: Progress<'_>) -> Result<Picture, RenderError> {
        let mut film = Film::new(job.window.width, job.window.height)?;
        let start = Instant::now();
        let program = compile(job)?;
        let compiled = Instant::now();
        let machine = SectionMachine::new(&self.compute, &setup(&self.compute, job, &program))?;
        let waves = Waves::new(&self.compute, job, &program, machine)?;
        let ready = Instant::now();
        let (picture, machine) = waves.render(&mut film, progress)?;
        self.stats = GpuStats { compile: compiled - start, setup: ready - compiled, render: ready.elapsed(), machine };
        Ok(picture)
    }
}

/// The kernels of the job's entries.
fn compile(job: &Job) -> Result<GpuProgram, RenderError> {
    let entries: Vec<&str> = if job.program.has_imager { vec![CAMERA_ENTRY, IMAGER_ENTRY] } else { vec![CAMERA_ENTRY] };
    let shaders = (0..job.program.surface_entries).map(surface_entry).collect();
    wgsl::compile(&job.program.module, &entries, &wgsl::Options { shaders })
        .map_err(|e| RenderError::Unsupported { machine: "the GPU", reason: e.to_string() })
}

fn setup<'a>(compute: &Compute, job: &'a Job, program: &'a GpuProgram) -> Setup<'a> {
    let wanted = if compute.gpu().is_hardware() { HARDWARE_PATHS } else { SOFTWARE_PATHS };
    let pixels = u64::from(job.window.width) * u64::from(job.window.height);
    let max_depth = job.program.constants[6][3] as u32;
    Setup {
        sections: &program.sections,
        shader_entries: &program.interface.shader_entries,
        rays_per_path: program.interface.max_rays_per_path,
        frame_words: program.interface.stack_words(max_depth),
        memory: &job.program.memory.vectors,
        triangles: job.program.memory.triangles,
        constants: &job.program.constants,
        tree: &job.bvh,
        paths: pixels.min(u64::from(wanted)) as u32,
    }
}

/// The waves of one picture.
struct Waves<'a> {
    compute: &'a Compute,
    job: &'a Job,
    program: &'a GpuProgram,
    machine: SectionMachine<'a>,
    film: BandFilm,
    /// Waves of the whole picture, for the progress.
    total: u64,
}

impl<'a> Waves<'a> {
    fn new(
        compute: &'a Compute,
        job: &'a Job,
        program: &'a GpuProgram,
        machine: SectionMachine<'a>,
    ) -> Result<Self, RenderError> {
        let film = BandFilm::new(&compute.gpu, &compute.accumulate, machine.paths(), machine.frames())?;
        let pixels = u64::from(job.window.width) * u64::from(job.window.height);
        let each = u64::from(job.sampling.count()) + u64::from(job.program.has_imager);
        let total = pixels.div_ceil(u64::from(machine.paths())) * each;
        Ok(Self { compute, job, program, machine, film, total })
    }

    fn render(mut self, film: &mut Film, progress: Progress<'_>) -> Result<(Picture, MachineStats), RenderError> {
        let mut pixels = tiled_pixels(film.width(), film.height());
        loop {
            let band: Vec<_> = pixels.by_ref().take(self.machine.paths() as usize).collect();
            if band.is_empty() {
                break;
            }
            self.sample_band(&band, film, progress)?;
        }
        let mut picture = film.resolve();
        if self.job.program.has_imager {
            let mut pixels = tiled_pixels(film.width(), film.height());
            loop {
                let band: Vec<_> = pixels.by_ref().take(self.machine.paths() as usize).collect();
                if band.is_empty() {
                    break;
                }
                self.image_band(&band, &mut picture, progress)?;
            }
        }
        Ok((picture, self.machine.stats()))
    }

    /// Takes every sample of a band's pixels.
    fn sample_band(&mut self, band: &[[u32; 2]], film: &mut Film, progress: Progress<'_>) -> Result<(), RenderError> {
        let (window, sampling) = (self.job.window, self.job.sampling);
        let pixels = band.len() as u32;
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        for sample in 0..sampling.count() {
            band.par_iter()
                .map(|&[x, y]| words(sampling.position(window.x + x, window.y + y, sample)))
                .unzip_into_vecs(&mut xs, &mut ys);
            self.run(CAMERA_ENTRY, &[&xs, &ys], pixels, progress)?;
            self.film.add(&self.compute.gpu, &self.compute.accumulate, pixels, sample == 0);
        }
        let sums = self.film.sums(&self.compute.gpu, pixels)?;
        let weight = sampling.count() as f32;
        let width = film.width() as usize;
        for (&[x, y], sum) in band.iter().zip(sums) {
            film.pixels_mut()[y as usize * width + x as usize] = FilmPixel { sum, weight };
        }
        Ok(())
    }

    /// Runs the imager on a band's pixels.
    fn image_band(
        &mut self,
        band: &[[u32; 2]],
        picture: &mut Picture,
        progress: Progress<'_>,
    ) -> Result<(), RenderError> {
        let window = self.job.window;
        let width = picture.width as usize;
        let index = |[x, y]: [u32; 2]| y as usize * width + x as usize;
        let position = |[x, y]: [u32; 2]| Vec2::new((window.x + x) as f32, (window.y + y) as f32) + 0.5;
        let (xs, ys): (Vec<_>, Vec<_>) = band.iter().map(|&pixel| words(position(pixel))).unzip();
        let channel =
            |k: usize| -> Vec<u32> { band.iter().map(|&pixel| picture.rgba[index(pixel)][k].to_bits()).collect() };
        let rgba = [0, 1, 2, 3].map(channel);
        let rows = [&xs[..], &ys, &rgba[0], &rgba[1], &rgba[2], &rgba[3]];
        self.run(IMAGER_ENTRY, &rows, band.len() as u32, progress)?;
        let results = self.machine.results(PIXEL_WORDS, band.len() as u32)?;
        for (path, &pixel) in band.iter().enumerate() {
            picture.rgba[index(pixel)] = [0, 1, 2, 3].map(|k| f32::from_bits(results[k][path]));
        }
        Ok(())
    }

    fn run(&mut self, entry: &str, rows: &[&[u32]], paths: u32, progress: Progress<'_>) -> Result<(), RenderError> {
        let section = self.program.interface.entry_section.get(entry).copied().ok_or_else(|| {
            RenderError::Unsupported { machine: "the GPU", reason: format!("it has no entry {entry}") }
        })?;
        let budget = self.job.budget.min(self.compute.gpu().max_loop_turns());
        if let Some(trap) = self.machine.run(section, rows, paths, budget)? {
            return Err(trap_error(
                trap,
                &self.program.interface,
                &self.job.program.module,
                budget,
                self.machine.stats().frame_words,
            ));
        }
        progress(self.machine.stats().waves as f32 / self.total as f32);
        Ok(())
    }
}

fn words(position: Vec2) -> (u32, u32) {
    (position.x.to_bits(), position.y.to_bits())
}
