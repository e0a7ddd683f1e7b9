//! The scheduler of the section machine, as `wgsl/schedule.wgsl` implements it: which kernels there are, what they bind, and how the
//! steps of a round are recorded. It knows paths only by the section that they wait for.

use super::batch::{Paths, with_batch};
use super::device::{Gpu, Layout};
use crate::codegen::wgsl::WORKGROUP_SIZE;
use crate::render::RenderError;
use wgpu::BufferUsages;

/// The kernels' source.
const SCHEDULE_WGSL: &str = with_batch!("schedule.wgsl");

/// Paths that an invocation of the kernels over all paths takes.
const PATHS_EACH: u32 = 8;

/// The kernels, for any program.
#[derive(Debug)]
pub(super) struct ScheduleKernels {
    /// Of the kernels that go over all paths. They are dispatched by a buffer that the others write, so they must not bind it.
    over_paths: Layout,
    /// Of the kernels that decide what is dispatched.
    over_sections: Layout,
    count: wgpu::ComputePipeline,
    scatter: wgpu::ComputePipeline,
    scan: wgpu::ComputePipeline,
    shoot: wgpu::ComputePipeline,
}

impl ScheduleKernels {
    pub fn new(gpu: &Gpu) -> Result<Self, RenderError> {
        let over_paths = gpu.layout_at("schedule of paths", &[1, 5, 6].map(|at| (at, false)));
        let over_sections = gpu.layout_at("schedule of sections", &[5, 6, 7, 8, 9, 10].map(|at| (at, false)));
        let [count, scatter] = gpu.pipelines("schedule", SCHEDULE_WGSL, &over_paths.pipeline, ["count", "scatter"])?;
        let [scan, shoot] = gpu.pipelines("schedule", SCHEDULE_WGSL, &over_sections.pipeline, ["scan", "shoot"])?;
        Ok(Self { over_paths, over_sections, count, scatter, scan, shoot })
    }
}

/// The scheduler's own buffers for one program.
#[derive(Debug)]
pub(super) struct Schedule {
    sections: u32,
    queue: wgpu::Buffer,
    groups: wgpu::Buffer,
    path_groups: wgpu::Buffer,
    over_paths: wgpu::BindGroup,
    over_sections: wgpu::BindGroup,
}

impl Schedule {
    /// Makes the buffers for these paths, which shoot rays into `ray_queue`.
    pub fn new(
        gpu: &Gpu,
        kernels: &ScheduleKernels,
        paths: &Paths,
        ray_queue: &wgpu::Buffer,
    ) -> Result<Self, RenderError> {
        let sections = paths.params().sections;
        let (sections_64, paths_64) = (u64::from(sections), u64::from(paths.params().paths));
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
        let bins = gpu.buffer("scheduler bins", 12 * sections_64, storage)?;
        let queue = gpu.buffer("section queues", 4 * (2 * sections_64 + paths_64), storage)?;
        let dispatched = storage | BufferUsages::INDIRECT;
        let groups = gpu.buffer("dispatch sizes", 12 * (sections_64 + 1), dispatched)?;
        let path_groups = gpu.buffer("dispatch sizes over paths", 12, dispatched)?;
        let uniform = paths.uniform();
        let over_paths = gpu.bind_at(&kernels.over_paths, &[(0, uniform), (1, paths.state()), (5, &bins), (6, &queue)]);
        let over_sections = gpu.bind_at(
            &kernels.over_sections,
            &[
                (0, uniform),
                (5, &bins),
                (6, &queue),
                (7, paths.status()),
                (8, &groups),
                (9, &path_groups),
                (10, ray_queue),
            ],
        );
        Ok(Self { sections, queue, groups, path_groups, over_paths, over_sections })
    }

    /// The queue that section kernels read.
    pub fn queue(&self) -> &wgpu::Buffer {
        &self.queue
    }

    /// The dispatch of kernels that go over all paths: empty when no path is live.
    pub fn path_groups(&self) -> &wgpu::Buffer {
        &self.path_groups
    }

    /// Records the sorting of paths by section. The `first` of a batch does not rely on what was live before.
    pub fn sort(&self, kernels: &ScheduleKernels, pass: &mut wgpu::ComputePass<'_>, first: Option<u32>) {
        let over_paths = |pass: &mut wgpu::ComputePass<'_>, pipeline| {
            pass.set_bind_group(0, &self.over_paths, &[]);
            pass.set_pipeline(pipeline);
            match first {
                Some(in_use) => pass.dispatch_workgroups(in_use.div_ceil(WORKGROUP_SIZE * PATHS_EACH), 1, 1),
                None => pass.dispatch_workgroups_indirect(&self.path_groups, 0),
            }
        };
        over_paths(pass, &kernels.count);
        pass.set_bind_group(0, &self.over_sections, &[]);
        pass.set_pipeline(&kernels.scan);
        pass.dispatch_workgroups(1, 1, 1);
        over_paths(pass, &kernels.scatter);
    }

    /// Records a section over its paths. The bind group of the sections must be bound.
    pub fn run_section(&self, section: u32, pipeline: &wgpu::ComputePipeline, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(pipeline);
        pass.dispatch_workgroups_indirect(&self.groups, 12 * u64::from(section));
    }

    /// Records the making of the traversal's dispatch.
    pub fn shoot(&self, kernels: &ScheduleKernels, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_bind_group(0, &self.over_sections, &[]);
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
    use super::super::batch::{Batch, RefillKernels, Results};
    use super::super::layouts::parsed;
    use super::*;
    use crate::bvh::gpu::MAX_GROUPS;
    use crate::codegen::wgsl::FINISHED;

    struct Bench {
        gpu: Gpu,
        kernels: ScheduleKernels,
        schedule: Schedule,
        paths: Paths,
        ray_queue: wgpu::Buffer,
    }

    impl Bench {
        /// A machine with `started` of `count` paths in use, of which a round runs `take`.
        fn new(sections: u32, count: u32, started: u32, take: u32) -> Self {
            let gpu = Gpu::open(None).expect("these tests need a GPU adapter; the software driver of Mesa will do");
            let kernels = ScheduleKernels::new(&gpu).unwrap();
            let refill = RefillKernels::new(&gpu).unwrap();
            let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
            let ray_queue = gpu.buffer("rays", 4 + 4 * u64::from(count), usage).unwrap();
            let mut paths = Paths::new(&gpu, &refill, count, 32, sections).unwrap();
            let schedule = Schedule::new(&gpu, &kernels, &paths, &ray_queue).unwrap();
            let batch = Batch {
                entry: 0,
                budget: 1,
                items: started,
                turns: 1,
                argument_words: 0,
                arguments: &[],
                results: Results::Stay,
            };
            paths.set_batch(&gpu, &refill, &batch, take).unwrap();
            Self { gpu, kernels, schedule, paths, ray_queue }
        }

        fn record(&self, steps: impl FnOnce(&mut wgpu::ComputePass<'_>)) {
            let mut commands = self.gpu.device().create_command_encoder(&Default::default());
            steps(&mut commands.begin_compute_pass(&Default::default()));
            self.gpu.queue().submit([commands.finish()]);
        }

        fn words(&self, buffer: &wgpu::Buffer) -> Vec<u32> {
            self.gpu
                .copy_back("copy", buffer.size(), |c, to| c.copy_buffer_to_buffer(buffer, 0, to, 0, to.size()))
                .unwrap()
        }

        /// Sorts paths of these program counters, twice, and compares every section's part of the queue with what it must be.
        fn sorts(&self, counters: &[u32]) {
            self.gpu.queue().write_buffer(self.paths.state(), 0, bytemuck::cast_slice(counters));
            self.gpu.queue().write_buffer(&self.ray_queue, 0, bytemuck::bytes_of(&77_u32));
            let params = self.paths.params();
            // The second sorting finds the bins as the first left them, and is dispatched by what it said.
            self.record(|pass| self.schedule.sort(&self.kernels, pass, Some(params.in_use)));
            self.record(|pass| self.schedule.sort(&self.kernels, pass, None));
            let (queue, groups) = (self.words(&self.schedule.queue), self.words(&self.schedule.groups));
            let started = &counters[..params.in_use as usize];
            let mut room = params.take as usize;
            for section in 0..params.sections {
                let expected: Vec<u32> = (0..params.in_use).filter(|&path| started[path as usize] == section).collect();
                let [count, first] = [0, 1].map(|k| queue[2 * section as usize + k] as usize);
                let mut found = queue[first..first + count].to_vec();
                found.sort_unstable();
                found.dedup();
                assert_eq!(found.len(), expected.len().min(room), "section {section}");
                assert!(found.iter().all(|path| expected.contains(path)), "section {section}");
                room -= count;
                let at = 3 * section as usize;
                assert_eq!(groups[at..at + 3], [(count as u32).div_ceil(WORKGROUP_SIZE), 1, 1]);
            }
            let live = started.iter().filter(|&&pc| pc < params.sections).count() as u32;
            assert_eq!(self.words(self.paths.status())[1], live);
            assert_eq!(self.words(&self.ray_queue)[0], 0);
            let all = params.in_use.div_ceil(WORKGROUP_SIZE * PATHS_EACH);
            assert_eq!(self.words(&self.schedule.path_groups)[..3], [if live > 0 { all } else { 0 }, 1, 1]);
        }
    }

    fn scattered(paths: u32, choices: u32) -> Vec<u32> {
        (0..paths).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 7) % choices).collect()
    }

    #[test]
    fn paths_are_sorted_by_section() {
        let bench = Bench::new(7, 4096, 4000, 4096);
        let mut counters = scattered(4096, 9);
        counters.iter_mut().filter(|pc| **pc >= 7).for_each(|pc| *pc = FINISHED);
        bench.sorts(&counters);
        bench.sorts(&vec![3; 4096]);
        bench.sorts(&vec![FINISHED; 4096]);
    }

    #[test]
    fn programs_of_many_sections_are_sorted_too() {
        Bench::new(600, 2048, 2048, 2048).sorts(&scattered(2048, 600));
    }

    #[test]
    fn a_round_takes_no_more_paths_than_it_may() {
        let bench = Bench::new(300, 2048, 2000, 700);
        bench.sorts(&scattered(2048, 300));
        bench.sorts(&scattered(2048, 2));
        bench.sorts(&vec![299; 2048]);
    }

    #[test]
    fn after_a_trap_nothing_is_run_any_more() {
        let bench = Bench::new(5, 256, 256, 256);
        bench.gpu.queue().write_buffer(bench.paths.status(), 0, bytemuck::bytes_of(&0x0100_0001_u32));
        bench.gpu.queue().write_buffer(bench.paths.state(), 0, bytemuck::cast_slice(&scattered(256, 5)));
        bench.record(|pass| bench.schedule.sort(&bench.kernels, pass, Some(256)));
        let groups = bench.words(&bench.schedule.groups);
        assert!((0..5).all(|section| groups[3 * section] == 0), "{groups:?}");
        assert_eq!(bench.words(&bench.schedule.path_groups)[0], 0);
        assert_eq!(bench.words(bench.paths.status())[..2], [0x0100_0001, 0]);
    }

    #[test]
    fn the_traversal_is_dispatched_over_all_rays() {
        let bench = Bench::new(2, 64, 64, 64);
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
    fn constants_are_the_kernels() {
        parsed(SCHEDULE_WGSL);
        for line in [
            format!("const GROUP: u32 = {WORKGROUP_SIZE}u;"),
            format!("const MAX_GROUPS: u32 = {MAX_GROUPS}u;"),
            format!("const PATHS_EACH: u32 = {PATHS_EACH}u;"),
            format!("const FINISHED: u32 = {FINISHED:#x}u;"),
        ] {
            assert!(SCHEDULE_WGSL.contains(&line), "{line}");
        }
    }
}
