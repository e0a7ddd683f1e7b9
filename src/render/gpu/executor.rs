//! Executors: what runs a program for many paths on the GPU. [`WavefrontExecutor`] runs a kernel
//! for each section in rounds, [`MegakernelExecutor`] one kernel with all sections.
//!
//! [`WavefrontExecutor`]: super::wavefront::WavefrontExecutor
//! [`MegakernelExecutor`]: super::megakernel::MegakernelExecutor

use super::batch::{Batch, MAX_ARGUMENT_WORDS, MAX_ITEMS, Paths, Results, SampleNumbers};
use super::device::Gpu;
use super::pipelines::PipelineCounts;
use crate::RenderError;
use crate::report::KernelTimes;
use shadewright_bvh::TwoLevel;
use shadewright_bvh::two_level::procedural::ProceduralBvh;
use shadewright_codegen::wgsl::{
    Interface, PARAMS_UNIFORMS, Params, RESULT_WORDS, ShaderStart, Trap, TrapCode, WORKGROUP_SIZE,
};
use shadewright_ir::Module;
use shadewright_program::memory::PlacedRecord;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::time::Duration;
use wgpu::BufferUsages;

/// The most that the frames, and the rays, of all paths take together. Fewer paths are in flight
/// when a program needs more for each.
const MAX_PATH_BYTES: u64 = 64 << 20;

/// The data that an executor is made for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup<'a> {
    /// Where each shader starts.
    pub shader_starts: &'a [ShaderStart],
    /// Rays that a path may trace at once.
    pub rays_per_path: u32,
    /// Words of frames a path has.
    pub frame_words: u32,
    /// Words for the record of a sample, after the frames of all paths: see [`super::samples`]. 0
    /// for programs that record nothing.
    pub record_words: u32,
    /// The memory image.
    pub memory: &'a [[u32; 4]],
    /// Address of the first triangle record.
    pub triangles: u32,
    /// The program constants.
    pub constants: &'a [[f32; 4]; PARAMS_UNIFORMS],
    /// The instances' primitives, in order.
    pub placed: &'a [PlacedRecord],
    /// The triangles and instances that rays hit.
    pub tree: &'a TwoLevel,
    /// True if the traversal kernel is specialized for them.
    pub tree_is_known: bool,
    /// The procedural primitives.
    pub procedural: &'a ProceduralBvh,
    /// Paths wanted in flight; there may be fewer.
    pub paths: u32,
}

/// Statistics of an executor.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExecutorStats {
    /// Sections of the program.
    pub sections: u32,
    /// Paths in flight.
    pub paths: u32,
    /// Frame words a path.
    pub frame_words: u32,
    /// Pipelines created and reused.
    pub kernels: PipelineCounts,
    /// Making the pipelines.
    pub pipelines: Duration,
    /// Batches run.
    pub waves: u64,
    /// Rounds submitted.
    pub rounds: u64,
    /// Submissions of rounds.
    pub submissions: u64,
}

/// Called with the number of runs that have finished; returns whether to continue.
pub(super) type OnProgress<'t> = &'t mut dyn FnMut(u32) -> ControlFlow<()>;

/// A program on the GPU with room for many paths.
pub(super) trait PathExecutor: Debug + Send {
    /// The device.
    fn gpu(&self) -> &Gpu;

    /// The paths' buffers.
    fn path_buffers(&self) -> &Paths;

    /// The executor's statistics.
    fn stats(&self) -> ExecutorStats;

    /// The time of the kernels so far.
    fn times(&self) -> KernelTimes;

    /// Resets the kernel times.
    fn restart_times(&mut self);

    /// Replaces the program constants and, where it is new, the memory image. Returns false and
    /// changes nothing where its size differs.
    fn replace_data(&mut self, setup: &Setup<'_>, new_memory: bool) -> bool;

    /// Sets the first sums of the items of the next batch, which has up to `count` sums for each.
    ///
    /// # Errors
    /// When they do not fit the device.
    fn set_sums(&mut self, sums: &[[f32; 4]], count: u32) -> Result<(), RenderError>;

    /// Runs a batch. `progress` is called from time to time with the number of runs that have
    /// finished, and may stop the batch.
    ///
    /// # Errors
    /// When the batch does not fit the device, or the device fails; [`RenderError::Stopped`] when
    /// `progress` stops the batch.
    ///
    /// # Panics
    /// When there are fewer arguments than the batch needs, or its results should stay and have no
    /// place: mistakes of the caller.
    fn run_batch(&mut self, batch: &Batch<'_>, progress: OnProgress<'_>) -> Result<Option<Trap>, RenderError>;

    /// Paths in flight: the most runs of an entry whose results can stay.
    fn paths(&self) -> u32 {
        self.stats().paths
    }

    /// The number of items of a batch, and of runs of each, where every item has `iterations` runs
    /// with `argument_words` words: as many runs as leave work for every path.
    fn batch_size(&self, iterations: u32, argument_words: u32) -> (u32, u32) {
        let runs = MAX_ARGUMENT_WORDS / u64::from(argument_words.max(1));
        let iterations = u64::from(iterations).min((runs / u64::from(self.paths())).max(1));
        let items = (runs / iterations).min(u64::from(MAX_ITEMS));
        (items as u32, iterations as u32)
    }

    /// Runs the function whose entry section is `entry` on paths `0..started`. `arguments` are
    /// rows, each of `started` words. Each path may take `budget` back edges and calls.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// When `started` is more than [`PathExecutor::paths`] or a row is shorter: mistakes of the
    /// caller.
    fn run(
        &mut self,
        entry: u32,
        arguments: &[&[u32]],
        started: u32,
        budget: u32,
    ) -> Result<Option<Trap>, RenderError> {
        let rows: Vec<u32> = arguments.iter().flat_map(|row| &row[..started as usize]).copied().collect();
        let batch = Batch {
            entry,
            budget,
            items: started,
            iterations: 1,
            argument_words: arguments.len() as u32,
            arguments: &rows,
            results: Results::Stay,
            samples: SampleNumbers::default(),
        };
        self.run_batch(&batch, &mut |_| ControlFlow::Continue(()))
    }

    /// The results of the last batch, whose results stayed: `words` rows of `started` words each.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// When `words` is more than the result area has.
    fn results(&self, words: u32, started: u32) -> Result<Vec<Vec<u32>>, RenderError> {
        assert!(words <= RESULT_WORDS, "{words} words of results");
        self.path_buffers().results(self.gpu(), words, started)
    }

    /// The sums of the last batch, whose results were summed: of all items for the first batch of
    /// samples, then for the next.
    ///
    /// # Errors
    /// When the device fails.
    fn sums(&self) -> Result<Vec<[f32; 4]>, RenderError> {
        self.path_buffers().sums(self.gpu())
    }
}

/// The trap that a status word stands for.
///
/// # Errors
/// When no kernel writes such a word.
pub(super) fn trap_of(word: u32) -> Result<Option<Trap>, RenderError> {
    let unknown = || RenderError::Device(format!("a kernel left the trap {word:#x}"));
    if word == 0 { Ok(None) } else { Trap::from_word(word).map(Some).ok_or_else(unknown) }
}

/// The error of a trap, with its source location in `module`, from which the program of `interface`
/// was compiled.
pub(super) fn trap_error(trap: Trap, interface: &Interface, module: &Module, budget: u32, limit: u32) -> RenderError {
    let span = interface.locations.get(trap.location as usize).and_then(|&loc| module.span(loc));
    match trap.code {
        TrapCode::Budget => RenderError::Budget { budget, span },
        TrapCode::Stack => RenderError::StackOverflow { limit, span },
    }
}

/// The number of paths in flight: `wanted`, or fewer when that does not fit; whole workgroups.
/// `each` lists the resources of a path by name, for errors, with their bytes.
pub(super) fn paths_that_fit(wanted: u32, each: &[(&'static str, u64)], limit: u64) -> Result<u32, RenderError> {
    let limit = limit.min(MAX_PATH_BYTES);
    let mut paths = u64::from(wanted.max(1).next_multiple_of(WORKGROUP_SIZE));
    for &(what, bytes) in each {
        paths = paths.min(limit / bytes.max(1));
        if paths < u64::from(WORKGROUP_SIZE) {
            return Err(RenderError::TooLarge { what, needed: bytes * u64::from(WORKGROUP_SIZE), limit });
        }
    }
    Ok(paths as u32 / WORKGROUP_SIZE * WORKGROUP_SIZE)
}

/// The buffers that all paths of a program read: the scene's shading data, and the program
/// parameters.
#[derive(Debug)]
pub(super) struct ProgramData {
    /// The memory image, followed by the shader table and the table of instances.
    pub memory: wgpu::Buffer,
    /// A [`Params`].
    pub params: wgpu::Buffer,
    /// Vectors of the image, and instances.
    sizes: [usize; 2],
    paths: u32,
}

impl ProgramData {
    /// Uploads all of it, for `paths` paths.
    pub fn new(gpu: &Gpu, setup: &Setup<'_>, paths: u32) -> Result<Self, RenderError> {
        let (image, table) = (size_of_val(setup.memory) as u64, table(setup));
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let memory = gpu.buffer("the scene's shading data", image + size_of_val(&table[..]) as u64, usage)?;
        let params = params(setup, paths);
        let params = gpu.upload("program parameters", bytemuck::bytes_of(&params), BufferUsages::UNIFORM)?;
        let data = Self { memory, params, sizes: [setup.memory.len(), setup.placed.len()], paths };
        data.write_memory(gpu, setup);
        Ok(data)
    }

    /// Replaces the program constants and, where it is new, the shading data, for the batches that
    /// follow. Returns false and changes nothing where its size differs.
    pub fn replace(&self, gpu: &Gpu, setup: &Setup<'_>, new_memory: bool) -> bool {
        if self.sizes != [setup.memory.len(), setup.placed.len()] {
            return false;
        }
        gpu.queue().write_buffer(&self.params, 0, bytemuck::bytes_of(&params(setup, self.paths)));
        if new_memory {
            self.write_memory(gpu, setup);
        }
        true
    }

    fn write_memory(&self, gpu: &Gpu, setup: &Setup<'_>) {
        gpu.queue().write_buffer(&self.memory, 0, bytemuck::cast_slice(setup.memory));
        gpu.queue().write_buffer(&self.memory, size_of_val(setup.memory) as u64, bytemuck::cast_slice(&table(setup)));
    }
}

/// The tables that follow the memory image: the shader table, then the instances.
fn table(setup: &Setup<'_>) -> Vec<[u32; 4]> {
    let shaders = setup.shader_starts.iter().map(|start| [start.section, start.resume, start.trap, 0]);
    let placed = setup.placed.iter().map(|p| [p.first, p.triangles, p.object, 0]);
    shaders.chain(placed).collect()
}

/// The content of a program's uniform buffer for `paths` paths.
fn params(setup: &Setup<'_>, paths: u32) -> Params {
    let memory_len = setup.memory.len() as u32;
    Params {
        paths,
        frame_words: setup.frame_words,
        triangles: setup.triangles,
        memory_len,
        shader_table: memory_len,
        shader_count: setup.shader_starts.len() as u32,
        zero: 0,
        placed_count: setup.placed.len() as u32,
        uniforms: *setup.constants,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitting(frame_words: u64, rays: u64, paths: u32) -> Result<u32, String> {
        let each = [("the frames of a workgroup's paths", 4 * frame_words), ("the rays", 32 * rays)];
        paths_that_fit(paths, &each, 128 << 20).map_err(|e| e.to_string())
    }

    #[test]
    fn large_frames_leave_room_for_fewer_paths() {
        assert_eq!(fitting(32, 1, 100_000), Ok(100_032));
        assert_eq!(fitting(1024, 1, 100_000), Ok(16_384));
        assert_eq!(fitting(32, 1000, 100_000), Ok(2_048));
        let error = "the frames of a workgroup's paths needs 128000000 bytes; this device allows 67108864";
        assert_eq!(fitting(500_000, 1, 1), Err(error.to_string()));
    }

    #[test]
    fn a_word_that_no_kernel_writes_is_an_error() {
        assert_eq!(trap_of(0).unwrap(), None);
        assert!(trap_of(0xff00_0000).is_err());
    }
}
