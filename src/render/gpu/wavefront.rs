//! The wavefront executor: runs the section kernels of a program for many paths at once
//! (`docs/internals/gpu.md`, "Sections").
//!
//! It takes a program's kernels, a memory image, a BVH, and batches of work: an entry with the
//! arguments of every run. It gives the entry's results, or sums of them. It knows nothing of
//! cameras or pixels.

use super::batch::{Batch, Lanes, Paths, RefillKernels};
use super::device::{Gpu, OpenError};
use super::executor::{ExecutorStats, OnProgress, PathExecutor, ProgramData, Setup, paths_that_fit, trap_of};
use super::megakernel;
use super::pipelines::Pipelines;
use super::profile::Recorder;
use super::schedule::{Schedule, ScheduleKernels};
use super::submissions::SubmissionQueue;
use super::traversal::{ProceduralOnDevice, RayBuffers, TraversalKernels, Tree};
use super::warm_up::section_layout;
use crate::RenderError;
use crate::report::KernelTimes;
use shadewright_bvh::gpu::kernel::Variant;
use shadewright_codegen::wgsl::{SectionKernel, Trap};
use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use wgpu::BufferUsages;

/// The steps of a round after the sections, by their names in a profile.
const FIXED_STEPS: [&str; 3] = ["traversal", "sort", "film and refill"];

/// How often those occur in a round.
const ROUND_STEPS: usize = 4;

/// A device with the kernels that every program needs.
#[derive(Debug)]
pub struct Compute {
    pub(super) gpu: Gpu,
    pub(super) refill: RefillKernels,
    pub(super) schedule: ScheduleKernels,
    pub(super) traversal: TraversalKernels,
    /// The pipelines of section kernels.
    pub(super) sections: Pipelines,
    /// The pipelines of megakernels.
    pub(super) megakernels: Pipelines,
    /// True if kernels are timed.
    profiling: AtomicBool,
    /// True if the wavefront executor sorts paths by section.
    sorting: AtomicBool,
    /// True if the kernels that every program needs have been warmed up.
    pub(super) exercised: AtomicBool,
}

/// Why a device could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ComputeError {
    /// It could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It does not take the kernels.
    #[error(transparent)]
    Kernels(#[from] RenderError),
}

impl Compute {
    /// Opens the best adapter, or the best with `adapter` in its name, and makes the kernels.
    ///
    /// # Errors
    /// When there is no such adapter, or it refuses.
    pub fn new(adapter: Option<&str>) -> Result<Self, ComputeError> {
        let gpu = Gpu::open(adapter)?;
        let lanes = Lanes::for_device(&gpu);
        let refill = RefillKernels::new(&gpu, lanes)?;
        let schedule = ScheduleKernels::new(&gpu, lanes)?;
        let traversal = TraversalKernels::new(&gpu, Variant::default());
        let sections = Pipelines::new(section_layout(&gpu));
        let megakernels = megakernel::pipelines(&gpu);
        let (profiling, sorting, exercised) = (AtomicBool::new(false), AtomicBool::new(true), AtomicBool::new(false));
        Ok(Self { gpu, refill, schedule, traversal, sections, megakernels, profiling, sorting, exercised })
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// True if executors time their kernels.
    pub(super) fn profiling(&self) -> bool {
        self.profiling.load(Ordering::Relaxed)
    }

    /// Chooses the traversal kernel of executors made from now on.
    pub fn set_traversal(&self, variant: Variant) {
        self.traversal.set_variant(variant);
    }

    /// True if executors made from now on time their kernels.
    pub fn set_profiling(&self, on: bool) {
        self.profiling.store(on, Ordering::Relaxed);
    }

    /// True if wavefront executors made from now on sort paths by section, the default. Without,
    /// every section that has a path is dispatched over all paths: the same results, to measure the
    /// effect of sorting.
    pub fn set_sorting(&self, on: bool) {
        self.sorting.store(on, Ordering::Relaxed);
    }
}

/// A program on the GPU with room for many paths. `C` is how it holds the device: borrowed, or as
/// an `Arc`.
#[derive(Debug)]
pub struct WavefrontExecutor<C> {
    compute: C,
    data: ProgramData,
    pipelines: Vec<wgpu::ComputePipeline>,
    bound: wgpu::BindGroup,
    paths: Paths,
    schedule: Schedule,
    tree: Tree,
    submissions: SubmissionQueue,
    stats: ExecutorStats,
    /// The sections, for errors.
    names: String,
}

/// Sections that an error names.
const SECTIONS_NAMED: usize = 4;

/// The names of the sections that run in a round, for errors.
fn name_sections(kernels: &[SectionKernel]) -> String {
    let mut names: Vec<_> = kernels.iter().take(SECTIONS_NAMED).map(|kernel| format!("`{}`", kernel.name)).collect();
    match kernels.len().saturating_sub(SECTIONS_NAMED) {
        0 => {}
        1 => names.push("another section".to_string()),
        others => names.push(format!("{others} other sections")),
    }
    names.join(", ")
}

impl<C: Deref<Target = Compute>> WavefrontExecutor<C> {
    /// Makes pipelines and buffers.
    ///
    /// # Errors
    /// When something does not fit the device, or the device fails.
    pub fn new(compute: C, kernels: &[SectionKernel], setup: &Setup<'_>) -> Result<Self, RenderError> {
        Self::with_procedural(compute, kernels, None, setup)
    }

    /// The same for a scene with procedural primitives: `intersections` is the text of their
    /// intersection shaders.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn with_procedural(
        compute: C,
        kernels: &[SectionKernel],
        intersections: Option<Arc<str>>,
        setup: &Setup<'_>,
    ) -> Result<Self, RenderError> {
        let gpu = &compute.gpu;
        let each = [
            ("the frames of a workgroup's paths", 4 * u64::from(setup.frame_words)),
            ("the rays of a workgroup's paths", 32 * u64::from(setup.rays_per_path)),
        ];
        let count = paths_that_fit(setup.paths, &each, gpu.max_storage_bytes())?;
        let all = |bytes: u64| bytes * u64::from(count);
        let storage = BufferUsages::STORAGE;
        let sections = kernels.len() as u32;
        let mut paths = Paths::new(gpu, &compute.refill, count, [setup.frame_words, setup.record_words], sections)?;
        paths.set_sorted(compute.sorting.load(Ordering::Relaxed));
        let rays = gpu.buffer("the ray buffer", all(32 * u64::from(setup.rays_per_path)), storage)?;
        let hits = gpu.buffer("the hit buffer", all(16 * u64::from(setup.rays_per_path)), storage)?;
        let ray_queue = gpu.buffer("the ray queue", 4 + all(4 * u64::from(setup.rays_per_path)), storage)?;
        let data = ProgramData::new(gpu, setup, count)?;
        let schedule = Schedule::new(gpu, &compute.schedule, &paths, &ray_queue)?;
        let ray_buffers = RayBuffers { rays: &rays, hits: &hits, queue: &ray_queue };
        let procedural = intersections.map(|text| ProceduralOnDevice {
            text,
            procedural: setup.procedural,
            params: &data.params,
            memory: &data.memory,
            trap: paths.status(),
        });
        let tree = Tree::for_scene(gpu, &compute.traversal, setup.tree, ray_buffers, procedural, setup.tree_is_known)?;
        let (state, frames, status) = (paths.state(), paths.frames(), paths.status());
        let buffers = [&data.params, state, frames, &rays, &hits, &data.memory, &ray_queue, status, paths.queue()];
        let bound = gpu.bind(compute.sections.layout(), &buffers);
        let start = Instant::now();
        let (pipelines, counts) = compute.sections.get(gpu, kernels)?;
        let stats = ExecutorStats {
            sections,
            paths: count,
            frame_words: setup.frame_words,
            kernels: counts,
            pipelines: start.elapsed(),
            ..Default::default()
        };
        let names = compute.profiling().then(|| {
            let sections = kernels.iter().map(|section| section.name.clone());
            sections.chain(FIXED_STEPS.map(String::from)).collect()
        });
        let submissions = SubmissionQueue::new(gpu, count, kernels.len() + ROUND_STEPS, names)?;
        gpu.check()?;
        let names = name_sections(kernels);
        Ok(Self { compute, data, pipelines, bound, paths, schedule, tree, submissions, stats, names })
    }
}

impl<C: Deref<Target = Compute> + Debug + Send> PathExecutor for WavefrontExecutor<C> {
    fn gpu(&self) -> &Gpu {
        &self.compute.gpu
    }

    fn path_buffers(&self) -> &Paths {
        &self.paths
    }

    fn stats(&self) -> ExecutorStats {
        let counts = self.submissions.counts();
        ExecutorStats { rounds: counts.rounds, submissions: counts.submissions, ..self.stats }
    }

    fn times(&self) -> KernelTimes {
        let asked = self.compute.profiling();
        self.submissions.times().unwrap_or(if asked { KernelTimes::Unavailable } else { KernelTimes::None })
    }

    fn restart_times(&mut self) {
        self.submissions.restart_times();
    }

    fn replace_data(&mut self, setup: &Setup<'_>, new_memory: bool) -> bool {
        self.data.replace(&self.compute.gpu, setup, new_memory)
    }

    fn set_sums(&mut self, sums: &[[f32; 4]], count: u32) -> Result<(), RenderError> {
        self.paths.set_sums(&self.compute.gpu, &self.compute.refill, sums, count)
    }

    fn run_batch(&mut self, batch: &Batch<'_>, progress: OnProgress<'_>) -> Result<Option<Trap>, RenderError> {
        let Compute { gpu, refill, schedule, .. } = &*self.compute;
        self.paths.set_batch(gpu, refill, batch, self.submissions.take())?;
        self.stats.waves += 1;
        let names = &self.names;
        let (bound, pipelines, tree, queues) = (&self.bound, &self.pipelines, &self.tree, &self.schedule);
        let [trace, sort, refilling] = [0, 1, 2].map(|step| pipelines.len() as u32 + step);
        let (groups, at) = queues.refill_groups();
        let mut record = |recorder: &mut Recorder<'_>, paths: &Paths, rounds: u32, first: bool| {
            if first {
                recorder.step(refilling, |pass| paths.start(refill, pass));
                recorder.step(sort, |pass| queues.sort(schedule, pass, Some(paths.params().in_use)));
            }
            for _ in 0..rounds {
                for (section, pipeline) in (0..).zip(pipelines) {
                    recorder.step(section, |pass| {
                        pass.set_bind_group(0, bound, &[]);
                        queues.run_section(section, pipeline, pass);
                    });
                }
                recorder.step(sort, |pass| queues.shoot(schedule, pass));
                recorder.step(trace, |pass| tree.trace(pass, queues.queued_rays()));
                recorder.step(refilling, |pass| paths.refill(refill, pass, groups, at));
                recorder.step(sort, |pass| queues.sort(schedule, pass, None));
            }
        };
        let what = |rounds| format!("{rounds} rounds of {names}");
        let status = self.submissions.run(gpu, &mut self.paths, &mut record, &what, progress)?;
        trap_of(status.trap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use shadewright_bvh::two_level::procedural::ProceduralBvh;
    use shadewright_bvh::{BuildOptions, Bvh, Triangle};
    use shadewright_codegen::wgsl::{FINISHED, PARAMS_UNIFORMS, ShaderStart, TrapCode};
    use std::sync::LazyLock;

    static COMPUTE: LazyLock<Compute> = LazyLock::new(|| {
        Compute::new(None).expect("these tests need a GPU adapter; the software driver of Mesa will do")
    });

    /// The declarations of what every section of `codegen::wgsl` binds.
    const BINDINGS: &str = "
        struct Params {
            paths: u32, frame_words: u32, triangles: u32, memory_len: u32, shader_table: u32, shader_count: u32, zero: u32,
            placed_count: u32, uniforms: array<vec4<f32>, 16>,
        }
        struct RayQueue { count: atomic<u32>, items: array<u32> }
        struct Trap { word: atomic<u32> }
        @group(0) @binding(0) var<uniform> params: Params;
        @group(0) @binding(1) var<storage, read_write> state: array<u32>;
        @group(0) @binding(2) var<storage, read_write> frames: array<u32>;
        @group(0) @binding(3) var<storage, read_write> rays: array<vec4<f32>>;
        @group(0) @binding(4) var<storage, read_write> hits: array<vec4<f32>>;
        @group(0) @binding(5) var<storage, read> memory: array<vec4<u32>>;
        @group(0) @binding(6) var<storage, read_write> ray_queue: RayQueue;
        @group(0) @binding(7) var<storage, read_write> trap: Trap;
        @group(0) @binding(8) var<storage, read> queue: array<u32>;
        fn finish(path: u32) { state[path] = 0xffffffffu; }";

    /// A section that runs `body` for its `path`.
    fn section(number: u32, body: &str) -> SectionKernel {
        let wgsl = format!(
            "{BINDINGS}
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                if id.x >= queue[2u * {number}u] {{ return; }}
                let path = queue[queue[2u * {number}u + 1u] + id.x];
                if state[path] != {number}u {{ return; }}
                let W = params.paths;
                {body}
            }}"
        );
        SectionKernel {
            name: format!("section {number}"),
            entry_point: "main".to_string(),
            module: super::super::layouts::parsed(&wgsl),
            wgsl,
            frame_words: 1,
        }
    }

    fn start(section: u32) -> ShaderStart {
        ShaderStart { section, ..ShaderStart::default() }
    }

    fn executor(sections: &[SectionKernel], paths: u32) -> WavefrontExecutor<&'static Compute> {
        executor_on(&COMPUTE, sections, paths)
    }

    /// A wall at z = 5, and the memory of a vector.
    fn executor_on<'c>(compute: &'c Compute, sections: &[SectionKernel], paths: u32) -> WavefrontExecutor<&'c Compute> {
        let corner = |x: f32, y: f32| Vec3::new(x, y, 5.0);
        let wall = Triangle::new(corner(0.0, 0.0), corner(100.0, 0.0), corner(0.0, 100.0));
        let tree = Bvh::build(&[wall], &BuildOptions::default()).unwrap();
        let mut constants = [[0.0; 4]; PARAMS_UNIFORMS];
        constants[15] = [0.25, 0.0, 0.0, 0.0];
        let setup = Setup {
            shader_starts: &[7, 8].map(start),
            rays_per_path: 1,
            frame_words: 24,
            record_words: 0,
            memory: &[[11, 12, 13, 14]],
            triangles: 0,
            constants: &constants,
            placed: &[],
            tree: &tree.into(),
            tree_is_known: false,
            procedural: &ProceduralBvh::default(),
            paths,
        };
        WavefrontExecutor::new(compute, sections, &setup).unwrap()
    }

    /// Shoots a ray along z from x, y = argument, then gives the distance or, for a miss, counts
    /// the argument down and tries again.
    fn shooting() -> [SectionKernel; 2] {
        let shoot = section(
            0,
            "let x = bitcast<f32>(frames[17u * W + path]);
            rays[2u * path] = vec4<f32>(x, 1.0, 0.0, 0.0);
            rays[2u * path + 1u] = vec4<f32>(0.0, 0.0, 1.0, 1000.0);
            ray_queue.items[atomicAdd(&ray_queue.count, 1u)] = path;
            state[path] = 1u;",
        );
        let resume = section(
            1,
            "let x = bitcast<f32>(frames[17u * W + path]);
            if hits[path].z < 0.0 {
                frames[17u * W + path] = bitcast<u32>(x - 10.0);
                state[path] = 0u;
            } else {
                frames[path] = bitcast<u32>(hits[path].z);
                frames[W + path] = bitcast<u32>(x);
                finish(path);
            }",
        );
        [shoot, resume]
    }

    #[test]
    fn paths_that_take_different_numbers_of_rounds_all_finish() {
        let mut executor = executor(&shooting(), 1000);
        assert_eq!(executor.paths(), 1024);
        let xs: Vec<u32> = (0..900).map(|i| (i as f32 * 0.5 + 0.25).to_bits()).collect();
        assert_eq!(executor.run(0, &[&xs], 900, 1000).unwrap(), None);
        let rows = executor.results(2, 900).unwrap();
        for (i, &x) in xs.iter().enumerate() {
            let mut expected = f32::from_bits(x);
            while expected > 99.0 {
                expected -= 10.0;
            }
            assert_eq!([rows[0][i], rows[1][i]].map(f32::from_bits), [5.0, expected], "path {i}");
        }
    }

    #[test]
    fn a_wave_leaves_nothing_behind_for_the_next() {
        let mut executor = executor(&shooting(), 64);
        for count in [64, 3, 64] {
            let xs = vec![150.5_f32.to_bits(); count];
            assert_eq!(executor.run(0, &[&xs], count as u32, 10).unwrap(), None);
            let rows = executor.results(2, count as u32).unwrap();
            assert_eq!(rows, [vec![5.0_f32.to_bits(); count], vec![90.5_f32.to_bits(); count]]);
        }
        assert_eq!(executor.stats().waves, 3);
    }

    #[test]
    fn a_section_sees_memory_shader_table_constants_and_budget() {
        let body = "frames[path] = memory[0].y;
            frames[W + path] = memory[params.shader_table + 1u].x;
            frames[2u * W + path] = bitcast<u32>(params.uniforms[15].x);
            frames[3u * W + path] = state[2u * W + path];
            finish(path);";
        let mut executor = executor(&[section(0, body)], 64);
        assert_eq!(executor.run(0, &[], 1, 99).unwrap(), None);
        assert_eq!(executor.results(4, 1).unwrap(), [[12], [8], [0.25_f32.to_bits()], [99]]);
    }

    #[test]
    fn a_trap_ends_the_wave_and_is_forgotten_by_the_next() {
        let body = "if frames[17u * W + path] == 1u { atomicMax(&trap.word, 0x01000005u); }
            finish(path);";
        let mut executor = executor(&[section(0, body)], 64);
        let trap = Trap { code: TrapCode::Budget, location: 5 };
        assert_eq!(executor.run(0, &[&[0, 1, 0]], 3, 9).unwrap(), Some(trap));
        assert_eq!(executor.run(0, &[&[0, 0, 0]], 3, 9).unwrap(), None);
    }

    #[test]
    fn a_scene_beyond_the_limit_is_refused_with_the_numbers() {
        let limit = COMPUTE.gpu.max_storage_bytes();
        let memory = vec![[0; 4]; usize::try_from(limit / 16).expect("a limit in memory's range")];
        let tree = Bvh::build(&[], &BuildOptions::default()).unwrap();
        let setup = Setup {
            shader_starts: &[start(0)],
            rays_per_path: 1,
            frame_words: 20,
            record_words: 0,
            memory: &memory,
            triangles: 0,
            constants: &[[0.0; 4]; PARAMS_UNIFORMS],
            placed: &[],
            tree: &tree.into(),
            tree_is_known: false,
            procedural: &ProceduralBvh::default(),
            paths: 64,
        };
        let error = WavefrontExecutor::new(&*COMPUTE, &[], &setup).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the scene's shading data needs {} bytes; this device allows {limit}", limit + 16)
        );
    }

    #[test]
    fn an_entry_of_no_section_finishes_nothing_and_runs_nothing() {
        let mut executor = executor(&[section(0, "finish(path);")], 64);
        assert_eq!(executor.run(FINISHED, &[], 10, 1).unwrap(), None);
    }

    #[test]
    fn a_device_that_is_lost_between_batches_is_an_error() {
        let compute = Compute::new(None).unwrap();
        let mut executor = executor_on(&compute, &[section(0, "finish(path);")], 64);
        assert_eq!(executor.run(0, &[], 10, 1).unwrap(), None);
        compute.gpu.device().destroy();
        for _ in 0..2 {
            let error = executor.run(0, &[], 10, 1).unwrap_err();
            assert!(matches!(&error, RenderError::Device(text) if text.contains("was lost")), "{error}");
        }
    }

    #[test]
    fn errors_name_some_sections() {
        let kernels: Vec<_> = (0..7).map(|number| section(number, "finish(path);")).collect();
        assert_eq!(name_sections(&kernels[..2]), "`section 0`, `section 1`");
        assert!(name_sections(&kernels).ends_with("`section 3`, 3 other sections"));
    }

    #[test]
    fn unsorted_paths_do_the_same() {
        let compute = Compute::new(None).unwrap();
        compute.set_sorting(false);
        let xs: Vec<u32> = (0..900).map(|i| (i as f32 * 0.5 + 0.25).to_bits()).collect();
        let mut unsorted = executor_on(&compute, &shooting(), 1000);
        let mut sorted = executor(&shooting(), 1000);
        assert_eq!(unsorted.run(0, &[&xs], 900, 1000).unwrap(), None);
        assert_eq!(sorted.run(0, &[&xs], 900, 1000).unwrap(), None);
        assert_eq!(unsorted.results(2, 900).unwrap(), sorted.results(2, 900).unwrap());
    }
}
