//! The film of a band on the GPU: the sum of each pixel's samples, by `wgsl/accumulate.wgsl`.

use super::device::{Gpu, Layout};
use crate::codegen::wgsl::WORKGROUP_SIZE;
use crate::render::RenderError;
use bytemuck::{Pod, Zeroable};
use wgpu::BufferUsages;

/// The kernel's source.
const ACCUMULATE_WGSL: &str = include_str!("../../../wgsl/accumulate.wgsl");

/// The kernel's uniform buffer.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Params {
    paths: u32,
    pixels: u32,
    first: u32,
    reserved: u32,
}

/// The kernel.
#[derive(Debug)]
pub(super) struct AccumulateKernel {
    layout: Layout,
    pipeline: wgpu::ComputePipeline,
}

impl AccumulateKernel {
    pub fn new(gpu: &Gpu) -> Result<Self, RenderError> {
        let layout = gpu.layout("accumulate", &[true, false]);
        let [pipeline] = gpu.pipelines("accumulate", ACCUMULATE_WGSL, &layout.pipeline, ["accumulate"])?;
        Ok(Self { layout, pipeline })
    }
}

/// The sums of the pixels of a band; pixel `i` is that of path `i`.
#[derive(Debug)]
pub(super) struct BandFilm {
    paths: u32,
    params: wgpu::Buffer,
    sums: wgpu::Buffer,
    back: wgpu::Buffer,
    bound: wgpu::BindGroup,
}

impl BandFilm {
    /// Room for a pixel a path of a machine with these frames.
    pub fn new(gpu: &Gpu, kernel: &AccumulateKernel, paths: u32, frames: &wgpu::Buffer) -> Result<Self, RenderError> {
        let bytes = 16 * u64::from(paths);
        let usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let params = gpu.buffer("film parameters", size_of::<Params>() as u64, usage)?;
        let sums = gpu.buffer("the film", bytes, BufferUsages::STORAGE | BufferUsages::COPY_SRC)?;
        let back = gpu.readback("the film's copy", bytes)?;
        let bound = gpu.bind(&kernel.layout, &[&params, frames, &sums]);
        Ok(Self { paths, params, sums, back, bound })
    }

    /// Adds a wave's results, or replaces the sums by them when the wave is the band's `first`.
    pub fn add(&self, gpu: &Gpu, kernel: &AccumulateKernel, pixels: u32, first: bool) {
        let params = Params { paths: self.paths, pixels, first: u32::from(first), reserved: 0 };
        gpu.queue().write_buffer(&self.params, 0, bytemuck::bytes_of(&params));
        let mut commands = gpu.device().create_command_encoder(&Default::default());
        let mut pass = commands.begin_compute_pass(&Default::default());
        pass.set_bind_group(0, &self.bound, &[]);
        pass.set_pipeline(&kernel.pipeline);
        pass.dispatch_workgroups(pixels.div_ceil(WORKGROUP_SIZE), 1, 1);
        drop(pass);
        gpu.queue().submit([commands.finish()]);
    }

    /// The sums of the first `pixels` pixels.
    pub fn sums(&self, gpu: &Gpu, pixels: u32) -> Result<Vec<[f32; 4]>, RenderError> {
        let bytes = 16 * u64::from(pixels);
        let mut commands = gpu.device().create_command_encoder(&Default::default());
        commands.copy_buffer_to_buffer(&self.sums, 0, &self.back, 0, bytes);
        gpu.read(commands, &self.back, bytes, |words| bytemuck::cast_slice(words).to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::super::layouts::{parsed, struct_size};
    use super::*;
    use crate::render::film::FilmPixel;

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!(struct_size(&parsed(ACCUMULATE_WGSL), "Params"), size_of::<Params>());
    }

    #[test]
    fn waves_are_summed_as_the_cpus_film_does() {
        let gpu = Gpu::open(None).expect("these tests need a GPU adapter; the software driver of Mesa will do");
        let kernel = AccumulateKernel::new(&gpu).unwrap();
        let (paths, pixels) = (128_usize, 100_usize);
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let frames = gpu.buffer("frames", 16 * paths as u64, usage).unwrap();
        let film = BandFilm::new(&gpu, &kernel, paths as u32, &frames).unwrap();
        let mut expected = vec![FilmPixel::default(); pixels];
        // The first band is there to be forgotten.
        for (band, wave) in [(0, 0), (1, 0), (1, 1), (1, 2)] {
            let sample = |i: usize, k: usize| (i * 7 + k * 3 + wave * 5 + band) as f32 / 3.0;
            let rows: Vec<f32> = (0..4 * paths).map(|at| sample(at % paths, at / paths)).collect();
            gpu.queue().write_buffer(&frames, 0, bytemuck::cast_slice(&rows));
            film.add(&gpu, &kernel, pixels as u32, wave == 0);
            if band == 1 {
                expected.iter_mut().enumerate().for_each(|(i, p)| p.add([0, 1, 2, 3].map(|k| sample(i, k)), 1.0));
            }
        }
        let expected: Vec<_> = expected.iter().map(|p| p.sum).collect();
        assert_eq!(film.sums(&gpu, pixels as u32).unwrap(), expected);
    }
}
