//! The megakernel executor: runs a program whose sections and BVH traversal are in one kernel
//! (`codegen::wgsl::compile_megakernel`), one invocation for each path.
//!
//! It takes the same data and batches as the wavefront executor and gives the same results, bit for
//! bit where the device fuses no operations. A dispatch runs a range of a batch's items. Two bounds
//! keep dispatches short, as drivers reset a device that does not answer for seconds: the steps of
//! a path before it yields (`wgsl/section/megakernel.wgsl`), and the number of paths, which adapts
//! to the time of earlier dispatches.

use super::batch::{Batch, Paths, Status};
use super::device::{Gpu, PATIENCE};
use super::executor::{ExecutorStats, OnProgress, PathExecutor, ProgramData, Setup, paths_that_fit, trap_of};
use super::pipelines::{Kernel, Pipelines};
use super::profile::{Profile, Recorder, Stamps};
use super::submission_size::SubmissionSize;
use super::wavefront::Compute;
use crate::RenderError;
use crate::report::KernelTimes;
use shadewright_bvh::gpu::kernel::{self, Layout, Leaves, Levels, Store};
use shadewright_codegen::wgsl::{DISPATCH_ROW, megakernel_binding as binding};
use shadewright_codegen::wgsl::{MEGAKERNEL_RAY_WORDS, Megakernel, MegakernelWave, Trap, WORKGROUP_SIZE};
use std::fmt::Debug;
use std::ops::Deref;
use std::time::Instant;
use wgpu::{BufferBindingType, BufferUsages};

/// Steps of a path in one dispatch on hardware. A step waits for memory once, half a microsecond at
/// most: 10 ms.
const HARDWARE_STEPS: u32 = 1 << 14;

/// Bytes of a status.
const STATUS_BYTES: u64 = size_of::<Status>() as u64;

/// Steps of a path in the first dispatch, whose cost is unknown.
const FIRST_STEPS: u32 = 1 << 10;

impl<'a> From<&'a Megakernel> for Kernel<'a> {
    fn from(kernel: &'a Megakernel) -> Self {
        Self { name: "the megakernel", wgsl: &kernel.wgsl, entry_point: &kernel.entry_point }
    }
}

/// The most words of frames that a path keeps in private memory. WGSL guarantees 8 KiB to a
/// function's variables; half of them are for frames, the rays and hits of a path take up to 1.5
/// KiB besides, the stack of the traversal half a KiB. None are private where a driver compiles
/// such arrays slowly.
pub(super) fn max_private_words(gpu: &Gpu) -> u32 {
    if gpu.quirks().slow_private_arrays { 0 } else { 1024 }
}

/// The text that traces the megakernel's rays:
/// [`shadewright_codegen::wgsl::MegakernelOptions::traversal`].
pub(super) fn traversal(levels: Levels, leaves: Leaves) -> String {
    let nodes = Store::Buffer.declare("stored_nodes", binding::TREE);
    let triangles = Store::Buffer.declare("stored_triangles", binding::TREE + 1);
    [nodes, triangles, kernel::answer(levels, leaves)].concat()
}

/// The pipelines of megakernels.
pub(super) fn pipelines(gpu: &Gpu) -> Pipelines {
    let uniform = BufferBindingType::Uniform;
    let read = BufferBindingType::Storage { read_only: true };
    let written = BufferBindingType::Storage { read_only: false };
    let bindings = [
        (binding::PARAMS, uniform),
        (binding::WAVE, uniform),
        (binding::STATE, written),
        (binding::FRAMES, written),
        (binding::ARGUMENTS, read),
        (binding::MEMORY, read),
        (binding::STATUS, written),
        (binding::FILM, written),
        (binding::TREE, read),
        (binding::TREE + 1, read),
    ];
    Pipelines::new(gpu.layout_of("megakernel", &bindings))
}

/// A program in one kernel on the GPU, with room for many paths. `C` is how it holds the device:
/// borrowed, or as an `Arc`.
#[derive(Debug)]
pub struct MegakernelExecutor<C> {
    compute: C,
    data: ProgramData,
    pipeline: wgpu::ComputePipeline,
    paths: Paths,
    wave: wgpu::Buffer,
    nodes: wgpu::Buffer,
    triangles: wgpu::Buffer,
    status_back: wgpu::Buffer,
    profile: Option<(Profile, Stamps)>,
    size: SubmissionSize,
    /// Steps of a path in one dispatch, and the steps of an iteration of the loop over sections.
    steps: u32,
    turn_steps: u32,
    stats: ExecutorStats,
}

impl<C: Deref<Target = Compute>> MegakernelExecutor<C> {
    /// Makes the pipeline and buffers.
    ///
    /// # Errors
    /// When something does not fit the device, or the device fails.
    pub fn new(compute: C, kernel: &Megakernel, setup: &Setup<'_>) -> Result<Self, RenderError> {
        let gpu = &compute.gpu;
        let words = setup.frame_words.saturating_add(MEGAKERNEL_RAY_WORDS * setup.rays_per_path);
        let each = [("the frames of a workgroup's paths", 4 * u64::from(words))];
        let count = paths_that_fit(setup.paths, &each, gpu.max_storage_bytes())?;
        let paths = Paths::new(gpu, &compute.refill, count, [words, 0], kernel.sections)?;
        let tables = setup.tree.gpu_tables_with(Layout::Binary, setup.procedural);
        let start = Instant::now();
        let (pipelines, kernels) = compute.megakernels.get(gpu, std::slice::from_ref(kernel))?;
        let made = start.elapsed();
        let uniform = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let profile = if compute.profiling() { Profile::new(gpu, vec!["megakernel".to_string()]) } else { None };
        let profile = profile.map(|profile| profile.stamps(gpu).map(|stamps| (profile, stamps))).transpose()?;
        let stamp_bytes = if profile.is_some() { Profile::BYTES } else { 0 };
        // A driver that bounds the loop iterations of a dispatch counts those of all loops, also of
        // lanes that run other sections.
        let (steps, turn_steps) = match gpu.max_loop_iterations() {
            u32::MAX => (HARDWARE_STEPS, 1),
            iterations => (iterations / 4, kernel.loops),
        };
        let executor = Self {
            pipeline: pipelines.into_iter().next().ok_or_else(|| RenderError::Device("no pipeline".to_string()))?,
            paths,
            data: ProgramData::new(gpu, setup, count)?,
            wave: gpu.buffer("dispatch parameters", size_of::<MegakernelWave>() as u64, uniform)?,
            nodes: gpu.upload("the BVH's nodes", &tables.nodes, BufferUsages::STORAGE)?,
            triangles: gpu.upload("the BVH's triangles", &tables.triangles, BufferUsages::STORAGE)?,
            status_back: gpu.readback("the status' copy", STATUS_BYTES + stamp_bytes)?,
            profile,
            size: SubmissionSize::new(count),
            steps,
            turn_steps,
            stats: ExecutorStats {
                sections: kernel.sections,
                paths: count,
                frame_words: setup.frame_words,
                kernels,
                pipelines: made,
                ..Default::default()
            },
            compute,
        };
        executor.compute.gpu.check()?;
        Ok(executor)
    }

    /// The bind group for the current batch, whose buffers may be new.
    fn bind(&self) -> wgpu::BindGroup {
        let buffers = [
            (binding::PARAMS, &self.data.params),
            (binding::WAVE, &self.wave),
            (binding::STATE, self.paths.state()),
            (binding::FRAMES, self.paths.frames()),
            (binding::ARGUMENTS, self.paths.arguments()),
            (binding::MEMORY, &self.data.memory),
            (binding::STATUS, self.paths.status()),
            (binding::FILM, self.paths.film()),
            (binding::TREE, &self.nodes),
            (binding::TREE + 1, &self.triangles),
        ];
        self.compute.gpu.bind_at(self.compute.megakernels.layout(), &buffers)
    }

    /// Runs one dispatch; returns its status.
    fn dispatch(&mut self, bound: &wgpu::BindGroup, wave: &MegakernelWave) -> Result<Status, RenderError> {
        let gpu = &self.compute.gpu;
        gpu.queue().write_buffer(&self.wave, 0, bytemuck::bytes_of(wave));
        gpu.queue().write_buffer(self.paths.status(), 0, bytemuck::bytes_of(&Status::default()));
        let mut commands = gpu.device().create_command_encoder(&Default::default());
        let mut recorder =
            Recorder::new(&mut commands, self.profile.as_ref().map(|(profile, stamps)| (profile, stamps)));
        recorder.step(0, |pass| {
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, bound, &[]);
            let row = DISPATCH_ROW.min(wave.count.next_multiple_of(WORKGROUP_SIZE));
            pass.dispatch_workgroups(row / WORKGROUP_SIZE, wave.count.div_ceil(row), 1);
        });
        let recorded = recorder.finish(&self.status_back, STATUS_BYTES);
        commands.copy_buffer_to_buffer(self.paths.status(), 0, &self.status_back, 0, STATUS_BYTES);
        let pending = gpu.submit(commands, &self.status_back, self.status_back.size());
        let what = || format!("a dispatch of {} paths", wave.count);
        let profile = &mut self.profile;
        gpu.finish(pending, PATIENCE, what, |words| {
            let (status, stamps) = words.split_at(STATUS_BYTES as usize / 4);
            if let Some((profile, _)) = profile {
                profile.learn(&recorded, stamps);
            }
            bytemuck::pod_read_unaligned(bytemuck::cast_slice(status))
        })
    }
}

impl<C: Deref<Target = Compute> + Debug + Send> PathExecutor for MegakernelExecutor<C> {
    fn gpu(&self) -> &Gpu {
        &self.compute.gpu
    }

    fn path_buffers(&self) -> &Paths {
        &self.paths
    }

    fn stats(&self) -> ExecutorStats {
        self.stats
    }

    fn times(&self) -> KernelTimes {
        match &self.profile {
            Some((profile, _)) => profile.times(),
            None if self.compute.profiling() => KernelTimes::Unavailable,
            None => KernelTimes::None,
        }
    }

    fn restart_times(&mut self) {
        if let Some((profile, _)) = &mut self.profile {
            profile.restart();
        }
    }

    fn replace_data(&mut self, setup: &Setup<'_>, new_memory: bool) -> bool {
        self.data.replace(&self.compute.gpu, setup, new_memory)
    }

    fn set_sums(&mut self, sums: &[[f32; 4]], count: u32) -> Result<(), RenderError> {
        self.paths.set_sums(&self.compute.gpu, &self.compute.refill, sums, count)
    }

    fn run_batch(&mut self, batch: &Batch<'_>, progress: OnProgress<'_>) -> Result<Option<Trap>, RenderError> {
        self.paths.set_batch(&self.compute.gpu, &self.compute.refill, batch, self.size.take())?;
        let bound = self.bind();
        self.stats.waves += 1;
        let (mut first, mut done) = (0, 0);
        while first < batch.items {
            let mut wave = MegakernelWave {
                first,
                count: self.size.take().min(batch.items - first),
                entry: batch.entry,
                budget: batch.budget,
                items: batch.items,
                iterations: batch.iterations,
                argument_words: batch.argument_words,
                film: batch.results as u32,
                samples: batch.samples.word(),
                steps: if self.stats.rounds == 0 { FIRST_STEPS } else { self.steps },
                turn_steps: self.turn_steps,
                ..Default::default()
            };
            let mut live = wave.count;
            loop {
                let start = Instant::now();
                let status = self.dispatch(&bound, &wave)?;
                self.stats.rounds += 1;
                self.stats.submissions += 1;
                if status.trap != 0 {
                    return trap_of(status.trap);
                }
                done += status.done;
                if progress(done).is_break() {
                    return Err(RenderError::Stopped);
                }
                self.size.adapt(1, wave.count, start.elapsed(), live);
                live = status.live;
                if live == 0 {
                    break;
                }
                wave = MegakernelWave { resumed: 1, steps: self.steps, ..wave };
            }
            first += wave.count;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::batch::{Results, SampleNumbers};
    use glam::Vec3;
    use shadewright_base::text::source::FileId;
    use shadewright_bvh::two_level::procedural::ProceduralBvh;
    use shadewright_bvh::{BuildOptions, Bvh, Triangle};
    use shadewright_codegen::wgsl::{MegakernelOptions, PARAMS_UNIFORMS, WgslOptions, compile_megakernel};
    use shadewright_ir::parse;
    use std::ops::ControlFlow;
    use std::sync::LazyLock;

    static COMPUTE: LazyLock<Compute> = LazyLock::new(|| {
        Compute::new(None).expect("these tests need a GPU adapter; the software driver of Mesa will do")
    });

    /// Shoots along z at x = 1 to n, at least once; the sum of the distances, and the last.
    const PROGRAM: &str = "
entry main(v0 n: f32) -> (sum: f32, t: f32) {
b0:
  v1: f32 = const 0
  jump b1(v1, v1)
b1(v2: f32, v3: f32):
  v4: f32 = const 1
  v5: f32 = add v2, v4
  v6: vec3 = compose v5, v1, v1
  v7: vec3 = compose v1, v1, v4
  v8: f32 = const 1000
  v9: vec4 = compose v1, v8, v1, v1
  trace v6, v7, v9
  v10: vec4 = hit
  v11: f32 = extract.z v10
  v12: f32 = add v3, v11
  v13: bool = lt v5, v0
  br v13, b1(v5, v12), b2
b2:
  ret v12, v11
}
";

    /// Triangles at z = n over x = n, for n from 0 to 63; the executor for `PROGRAM` over them,
    /// with frames in the kernel's own memory or in storage.
    fn executor(private: bool) -> (MegakernelExecutor<&'static Compute>, u32) {
        let at = |n: u32, x: f32, y: f32| Vec3::new(n as f32 + x, y, n as f32);
        let triangles: Vec<_> =
            (0..64).map(|n| Triangle::new(at(n, -0.25, -0.25), at(n, 0.5, -0.25), at(n, -0.25, 0.5))).collect();
        let tree = Bvh::build(&triangles, &BuildOptions::default()).unwrap().into();
        let module = parse(PROGRAM, FileId(0)).unwrap_or_else(|e| panic!("{e:?}"));
        let max_private_words = if private { 1024 } else { 0 };
        let options =
            MegakernelOptions { depth: 1, max_private_words, traversal: &traversal(Levels::One, Leaves::Triangles) };
        let kernel = compile_megakernel(&module, &["main"], &WgslOptions::default(), &options).unwrap();
        assert_eq!(kernel.private_frames, private);
        let mut memory = vec![[0; 4]; 2];
        memory.extend((0..64).map(|_| [0, 0, 0, 1]));
        memory[1] = [0, 0, 0, 1];
        let setup = Setup {
            shader_starts: &[],
            rays_per_path: kernel.interface.max_rays_per_path,
            frame_words: kernel.frame_words,
            record_words: 0,
            memory: &memory,
            triangles: 2,
            placed: &[],
            constants: &[[0.0; 4]; PARAMS_UNIFORMS],
            tree: &tree,
            tree_is_known: false,
            procedural: &ProceduralBvh::default(),
            paths: 64,
        };
        let executor = MegakernelExecutor::new(&*COMPUTE, &kernel, &setup).unwrap();
        (executor, kernel.interface.entry_section["main"])
    }

    fn sum(n: u32) -> f32 {
        (0..=n).map(|i| i as f32).sum()
    }

    #[test]
    fn paths_that_dispatches_leave_go_on_where_they_were() {
        for private in [false, true] {
            let (mut executor, entry) = executor(private);
            let ns: Vec<u32> = (1..50).map(|n| (n as f32).to_bits()).collect();
            for steps in [1 << 14, 100] {
                executor.steps = steps;
                let before = executor.stats().rounds;
                assert_eq!(executor.run(entry, &[&ns], 49, 10_000).unwrap(), None);
                let rows = executor.results(2, 49).unwrap();
                for n in 1..50 {
                    let found = [rows[0][n as usize - 1], rows[1][n as usize - 1]].map(f32::from_bits);
                    assert_eq!(found, [sum(n), n as f32], "{n}, in {steps} steps, private: {private}");
                }
                assert!(steps > 100 || executor.stats().rounds > before + 1, "nothing was left");
            }
        }
    }

    #[test]
    fn more_items_than_paths_run_all_their_turns_into_the_film() {
        let (mut executor, entry) = executor(false);
        assert_eq!(executor.paths(), 64);
        let (items, iterations) = (150, 3);
        let n = |iteration: u32, item: u32| 1 + (item + iteration) % 40;
        let arguments: Vec<u32> = (0..iterations)
            .flat_map(|iteration| (0..items).map(move |item| (n(iteration, item) as f32).to_bits()))
            .collect();
        let batch = Batch {
            entry,
            budget: 10_000,
            items,
            iterations,
            argument_words: 1,
            arguments: &arguments,
            results: Results::Sum,
            samples: SampleNumbers::default(),
        };
        for steps in [1 << 14, 300] {
            executor.steps = steps;
            let mut last = 0;
            let mut on_progress = |done| {
                last = done;
                ControlFlow::Continue(())
            };
            assert_eq!(executor.run_batch(&batch, &mut on_progress).unwrap(), None);
            assert_eq!(last, items * iterations);
            let sums = executor.sums().unwrap();
            for item in 0..items {
                let expected: f32 = (0..iterations).map(|iteration| sum(n(iteration, item))).sum();
                assert_eq!(sums[item as usize][0], expected, "item {item}");
            }
        }
    }

    #[test]
    fn a_trap_ends_the_batch_and_is_forgotten_by_the_next() {
        let (mut executor, entry) = executor(false);
        let ns = [1.0_f32, 63.0].map(f32::to_bits);
        assert!(executor.run(entry, &[&ns], 2, 20).unwrap().is_some());
        assert_eq!(executor.run(entry, &[&ns], 2, 10_000).unwrap(), None);
    }

    #[test]
    fn no_paths_are_no_work() {
        let (mut executor, entry) = executor(false);
        assert_eq!(executor.run(entry, &[&[]], 0, 10).unwrap(), None);
        assert_eq!(executor.results(2, 0).unwrap(), vec![Vec::<u32>::new(); 2]);
    }
}
