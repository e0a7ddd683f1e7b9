//! The scheduler of the section machine, as `wgsl/schedule.wgsl` implements it: which kernels there are, what they bind, and how the
//! steps of a round are recorded. It knows paths only by the section that they wait for.

use super::device::{Gpu, Layout};
use crate::codegen::wgsl::WORKGROUP_SIZE;
use crate::render::RenderError;
use bytemuck::{Pod, Zeroable};
use wgpu::BufferUsages;

/// The kernels' source.
const SCHEDULE_WGSL: &str = include_str!("../../../wgsl/schedule.wgsl");

/// Paths that an invocation of the sorting kernels takes.
const PATHS_EACH: u32 = 8;

/// The kernels' uniform buffer: what a wave is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct WaveParams {
    /// Paths that there is room for, the stride of everything stored a path.
    pub paths: u32,
    /// Paths of this wave.
    pub started: u32,
    /// The section that they start with.
    pub entry: u32,
    /// Back edges and calls that each may take.
    pub budget: u32,
    /// Sections of the program.
    pub sections: u32,
    /// Zero.
    pub reserved: [u32; 3],
}

/// What the host reads after some rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Status {
    /// Zero, or the word of a [`crate::codegen::wgsl::Trap`].
    pub trap: u32,
    /// Paths that have not finished.
    pub live: u32,
}

/// The kernels, for any program.
#[derive(Debug)]
pub(super) struct ScheduleKernels {
    layout: Layout,
    start: wgpu::ComputePipeline,
    count: wgpu::ComputePipeline,
    scan: wgpu::ComputePipeline,
    scatter: wgpu::ComputePipeline,
    shoot: wgpu::ComputePipeline,
}

impl ScheduleKernels {
    pub fn new(gpu: &Gpu) -> Result<Self, RenderError> {
        let layout = gpu.layout("schedule", &[false; 7]);
        let entry_points = ["start", "count", "scan", "scatter", "shoot"];
        let [start, count, scan, scatter, shoot] =
            gpu.pipelines("schedule", SCHEDULE_WGSL, &layout.pipeline, entry_points)?;
        Ok(Self { layout, start, count, scan, scatter, shoot })
    }
}

/// The buffers of the machine that the scheduler reads or writes beside its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared<'a> {
    pub state: &'a wgpu::Buffer,
    pub frames: &'a wgpu::Buffer,
    pub ray_queue: &'a wgpu::Buffer,
    pub status: &'a wgpu::Buffer,
}

/// The scheduler's own buffers for one program.
#[derive(Debug)]
pub(super) struct Schedule {
    sections: u32,
    params: wgpu::Buffer,
    queue: wgpu::Buffer,
    groups: wgpu::Buffer,
    bound: wgpu::BindGroup,
}

impl Schedule {
    /// Makes the buffers for so many sections and paths.
    pub fn new(
        gpu: &Gpu,
        kernels: &ScheduleKernels,
        sections: u32,
        paths: u32,
        shared: Shared<'_>,
    ) -> Result<Self, RenderError> {
        let (sections_64, paths_64) = (u64::from(sections), u64::from(paths));
        let params = gpu.buffer(
            "wave parameters",
            size_of::<WaveParams>() as u64,
            BufferUsages::UNIFORM | BufferUsages::COPY_DST,
        )?;
        let bins = gpu.buffer("scheduler bins", 8 * sections_64, BufferUsages::STORAGE)?;
        let queue = gpu.buffer(
            "section queues",
            4 * (2 * sections_64 + paths_64),
            BufferUsages::STORAGE | BufferUsages::COPY_SRC,
        )?;
        let groups = gpu.buffer(
            "dispatch sizes",
            12 * (sections_64 + 1),
            BufferUsages::STORAGE | BufferUsages::INDIRECT | BufferUsages::COPY_SRC,
        )?;
        let buffers = [&params, shared.state, shared.frames, &bins, &queue, &groups, shared.ray_queue, shared.status];
        let bound = gpu.bind(&kernels.layout, &buffers);
        Ok(Self { sections, params, queue, groups, bound })
    }

    /// The queue that section kernels read.
    pub fn queue(&self) -> &wgpu::Buffer {
        &self.queue
    }

    /// Says what the next wave is. It holds for commands submitted later.
    pub fn set_wave(&self, gpu: &Gpu, wave: &WaveParams) {
        gpu.queue().write_buffer(&self.params, 0, bytemuck::bytes_of(wave));
    }

    /// Records the start of a wave of `started` paths; [`Schedule::sort`] follows.
    pub fn start(&self, kernels: &ScheduleKernels, pass: &mut wgpu::ComputePass<'_>, started: u32) {
        pass.set_bind_group(0, &self.bound, &[]);
        pass.set_pipeline(&kernels.start);
        pass.dispatch_workgroups(started.div_ceil(WORKGROUP_SIZE), 1, 1);
    }

    /// Records the sorting of `started` paths by section.
    pub fn sort(&self, kernels: &ScheduleKernels, pass: &mut wgpu::ComputePass<'_>, started: u32) {
        let groups = started.div_ceil(WORKGROUP_SIZE * PATHS_EACH);
        pass.set_bind_group(0, &self.bound, &[]);
        pass.set_pipeline(&kernels.count);
        pass.dispatch_workgroups(groups, 1, 1);
        pass.set_pipeline(&kernels.scan);
        pass.dispatch_workgroups(1, 1, 1);
        pass.set_pipeline(&kernels.scatter);
        pass.dispatch_workgroups(groups, 1, 1);
    }

    /// Records each section over its paths. The bind group of the sections must be bound.
    pub fn run_sections(&self, pipelines: &[wgpu::ComputePipeline], pass: &mut wgpu::ComputePass<'_>) {
        for (section, pipeline) in pipelines.iter().enumerate() {
            pass.set_pipeline(pipeline);
            pass.dispatch_workgroups_indirect(&self.groups, 12 * section as u64);
        }
    }

    /// Records the making of the traversal's dispatch.
    pub fn shoot(&self, kernels: &ScheduleKernels, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_bind_group(0, &self.bound, &[]);
        pass.set_pipeline(&kernels.shoot);
        pass.dispatch_workgroups(1, 1, 1);
    }

    /// Records the dispatch of the bound pipeline over the ray queue.
    pub fn dispatch_rays(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.dispatch_workgroups_indirect(&self.groups, 12 * u64::from(self.sections));
    }
}

#[cfg(test)]
mod tests {
    use super::super::layouts::{parsed, struct_size};
    use super::*;
    use crate::bvh::gpu::MAX_GROUPS;
    use crate::codegen::wgsl::{FINISHED, RESULT_WORDS};

    struct Bench {
        gpu: Gpu,
        kernels: ScheduleKernels,
        schedule: Schedule,
        state: wgpu::Buffer,
        frames: wgpu::Buffer,
        ray_queue: wgpu::Buffer,
        status: wgpu::Buffer,
        wave: WaveParams,
    }

    impl Bench {
        fn new(wave: WaveParams) -> Self {
            let gpu = Gpu::open(None).expect("these tests need a GPU adapter; the software driver of Mesa will do");
            let kernels = ScheduleKernels::new(&gpu).unwrap();
            let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
            let paths = u64::from(wave.paths);
            let state = gpu.buffer("state", 12 * paths, usage).unwrap();
            let frames = gpu.buffer("frames", 4 * 32 * paths, usage).unwrap();
            let ray_queue = gpu.buffer("rays", 4 * (1 + paths), usage).unwrap();
            let status = gpu.buffer("status", 8, usage).unwrap();
            let shared = Shared { state: &state, frames: &frames, ray_queue: &ray_queue, status: &status };
            let schedule = Schedule::new(&gpu, &kernels, wave.sections, wave.paths, shared).unwrap();
            schedule.set_wave(&gpu, &wave);
            Self { kernels, schedule, state, frames, ray_queue, status, wave, gpu }
        }

        fn record(&self, steps: impl FnOnce(&mut wgpu::ComputePass<'_>)) {
            let mut commands = self.gpu.device().create_command_encoder(&Default::default());
            steps(&mut commands.begin_compute_pass(&Default::default()));
            self.gpu.queue().submit([commands.finish()]);
        }

        fn words(&self, buffer: &wgpu::Buffer) -> Vec<u32> {
            let back = self.gpu.readback("copy", buffer.size()).unwrap();
            let mut commands = self.gpu.device().create_command_encoder(&Default::default());
            commands.copy_buffer_to_buffer(buffer, 0, &back, 0, buffer.size());
            self.gpu.read(commands, &back, buffer.size(), <[u32]>::to_vec).unwrap()
        }

        /// Sorts paths of these program counters, twice, and compares every section's part of the queue with what it must be.
        fn sorts(&self, counters: &[u32]) {
            self.gpu.queue().write_buffer(&self.state, 0, bytemuck::cast_slice(counters));
            self.gpu.queue().write_buffer(&self.ray_queue, 0, bytemuck::bytes_of(&77_u32));
            // The second sorting finds the bins as the first left them.
            for _ in 0..2 {
                self.record(|pass| self.schedule.sort(&self.kernels, pass, self.wave.started));
            }
            let (queue, groups) = (self.words(&self.schedule.queue), self.words(&self.schedule.groups));
            let started = &counters[..self.wave.started as usize];
            for section in 0..self.wave.sections {
                let expected: Vec<u32> =
                    (0..self.wave.started).filter(|&path| started[path as usize] == section).collect();
                let [count, first] = [0, 1].map(|k| queue[2 * section as usize + k] as usize);
                let mut found = queue[first..first + count].to_vec();
                found.sort_unstable();
                assert_eq!(found, expected, "section {section}");
                let at = 3 * section as usize;
                assert_eq!(groups[at..at + 3], [(count as u32).div_ceil(WORKGROUP_SIZE), 1, 1]);
            }
            let live = started.iter().filter(|&&pc| pc < self.wave.sections).count() as u32;
            assert_eq!(self.words(&self.status)[1], live);
            assert_eq!(self.words(&self.ray_queue)[0], 0);
        }
    }

    fn scattered(paths: u32, choices: u32) -> Vec<u32> {
        (0..paths).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 7) % choices).collect()
    }

    #[test]
    fn paths_are_sorted_by_section() {
        let bench = Bench::new(WaveParams { paths: 4096, started: 4000, sections: 7, ..Default::default() });
        let mut counters = scattered(4096, 9);
        counters.iter_mut().filter(|pc| **pc >= 7).for_each(|pc| *pc = FINISHED);
        bench.sorts(&counters);
        bench.sorts(&vec![3; 4096]);
        bench.sorts(&vec![FINISHED; 4096]);
    }

    #[test]
    fn programs_of_many_sections_are_sorted_too() {
        let bench = Bench::new(WaveParams { paths: 2048, started: 2048, sections: 600, ..Default::default() });
        bench.sorts(&scattered(2048, 600));
    }

    #[test]
    fn a_path_starts_at_the_entry_with_an_empty_stack() {
        let wave = WaveParams { paths: 128, started: 100, entry: 5, budget: 1234, sections: 6, ..Default::default() };
        let bench = Bench::new(wave);
        bench.record(|pass| bench.schedule.start(&bench.kernels, pass, 100));
        let state = bench.words(&bench.state);
        assert!(state[..100].iter().all(|&pc| pc == 5));
        assert!(state[128..228].iter().all(|&sp| sp == RESULT_WORDS + 1));
        assert!(state[256..356].iter().all(|&budget| budget == 1234));
        let frames = bench.words(&bench.frames);
        let back = RESULT_WORDS as usize * 128;
        assert!(frames[back..back + 100].iter().all(|&pc| pc == FINISHED));
    }

    #[test]
    fn the_traversal_is_dispatched_over_all_rays() {
        let bench = Bench::new(WaveParams { paths: 64, started: 64, sections: 2, ..Default::default() });
        for rays in [0, 1, 64, 65, 64 * MAX_GROUPS, 64 * MAX_GROUPS + 1] {
            bench.gpu.queue().write_buffer(&bench.ray_queue, 0, bytemuck::bytes_of(&rays));
            bench.record(|pass| bench.schedule.shoot(&bench.kernels, pass));
            let groups = bench.words(&bench.schedule.groups);
            let [x, y, z] = [groups[6], groups[7], groups[8]];
            assert!(x <= MAX_GROUPS && y <= MAX_GROUPS && z == 1);
            assert!(x * y * WORKGROUP_SIZE >= rays, "{rays}");
        }
    }

    #[test]
    fn layouts_and_constants_are_the_kernels() {
        let module = parsed(SCHEDULE_WGSL);
        assert_eq!(struct_size(&module, "Params"), size_of::<WaveParams>());
        assert_eq!(struct_size(&module, "Status"), size_of::<Status>());
        for line in [
            format!("const GROUP: u32 = {WORKGROUP_SIZE}u;"),
            format!("const MAX_GROUPS: u32 = {MAX_GROUPS}u;"),
            format!("const PATHS_EACH: u32 = {PATHS_EACH}u;"),
            format!("const FINISHED: u32 = {FINISHED:#x}u;"),
            format!("const RESULT_WORDS: u32 = {RESULT_WORDS}u;"),
        ] {
            assert!(SCHEDULE_WGSL.contains(&line), "{line}");
        }
    }
}
