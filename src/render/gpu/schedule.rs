//! The scheduler of the wavefront executor, the host side of `wgsl/schedule.wgsl`: its kernels,
//! bind groups, and the steps of a round. It knows only the next section of a path.

use super::batch::{Lanes, Paths};
use super::device::{Gpu, Layout};
use super::traversal::Trace;
use crate::RenderError;
use shadewright_bvh::kernels::Kernel;
use shadewright_codegen::wgsl::WORKGROUP_SIZE;
use wgpu::BufferUsages;

/// The kernels' source.
const SCHEDULE_WGSL: Kernel = Kernel::named("schedule.wgsl");

/// Paths for each invocation of the kernels over all paths.
const PATHS_EACH: u32 = 8;

/// The most queues that are sorted in workgroup memory.
const LOCAL_BINS: u32 = 1024;

/// Bytes of a dispatch's size.
const DISPATCH_BYTES: u64 = 12;

/// The kernels, for any program.
#[derive(Debug)]
pub(super) struct ScheduleKernels {
    /// Of the kernels over all paths. Their dispatch is indirect from a buffer that the others
    /// write, so they must not bind it.
    over_paths: Layout,
    /// Of the kernels that write dispatch sizes.
    over_queues: Layout,
    count: wgpu::ComputePipeline,
    scatter: wgpu::ComputePipeline,
    count_many: wgpu::ComputePipeline,
    scatter_many: wgpu::ComputePipeline,
    line_up: wgpu::ComputePipeline,
    scan: wgpu::ComputePipeline,
    shoot: wgpu::ComputePipeline,
}

impl ScheduleKernels {
    pub fn new(gpu: &Gpu, lanes: Lanes) -> Result<Self, RenderError> {
        let over_paths = gpu.layout_at("schedule of paths", &[1, 5, 6].map(|at| (at, false)));
        let over_queues = gpu.layout_at("schedule of queues", &[5, 6, 7, 8, 9, 10].map(|at| (at, false)));
        let source = lanes.complete(SCHEDULE_WGSL);
        let names = ["count", "scatter", "count_many", "scatter_many", "line_up"];
        let [count, scatter, count_many, scatter_many, line_up] =
            gpu.pipelines("schedule", &source, &over_paths.pipeline, names)?;
        let [scan, shoot] = gpu.pipelines("schedule", &source, &over_queues.pipeline, ["scan", "shoot"])?;
        Ok(Self { over_paths, over_queues, count, scatter, count_many, scatter_many, line_up, scan, shoot })
    }
}

/// The scheduler's own buffers for one program.
#[derive(Debug)]
pub(super) struct Schedule {
    sections: u32,
    sorted: bool,
    groups: wgpu::Buffer,
    path_groups: wgpu::Buffer,
    over_paths: wgpu::BindGroup,
    over_queues: wgpu::BindGroup,
}

impl Schedule {
    /// Makes the buffers for these paths, which queue rays in `ray_queue`.
    pub fn new(
        gpu: &Gpu,
        kernels: &ScheduleKernels,
        paths: &Paths,
        ray_queue: &wgpu::Buffer,
    ) -> Result<Self, RenderError> {
        let sections = paths.params().sections;
        let queues = u64::from(sections) + 1;
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
        let bins = gpu.buffer("scheduler bins", 8 * queues, storage)?;
        let dispatched = storage | BufferUsages::INDIRECT;
        let groups = gpu.buffer("dispatch sizes", DISPATCH_BYTES * (queues + 1), dispatched)?;
        let path_groups = gpu.buffer("dispatch sizes over paths", DISPATCH_BYTES, dispatched)?;
        let (uniform, queue) = (paths.uniform(), paths.queue());
        let over_paths = gpu.bind_at(&kernels.over_paths, &[(0, uniform), (1, paths.state()), (5, &bins), (6, queue)]);
        let buffers = [
            (0, uniform),
            (5, &bins),
            (6, queue),
            (7, paths.status()),
            (8, &groups),
            (9, &path_groups),
            (10, ray_queue),
        ];
        let over_queues = gpu.bind_at(&kernels.over_queues, &buffers);
        let sorted = paths.params().sorted != 0;
        Ok(Self { sections, sorted, groups, path_groups, over_paths, over_queues })
    }

    /// Records the sorting of paths by section. The `first` sort of a batch, with its number of
    /// paths, ignores which paths were live before.
    pub fn sort(&self, kernels: &ScheduleKernels, pass: &mut wgpu::ComputePass<'_>, first: Option<u32>) {
        let over_paths = |pass: &mut wgpu::ComputePass<'_>, pipeline| {
            pass.set_bind_group(0, &self.over_paths, &[]);
            pass.set_pipeline(pipeline);
            match first {
                Some(in_use) => pass.dispatch_workgroups(in_use.div_ceil(WORKGROUP_SIZE * PATHS_EACH), 1, 1),
                None => pass.dispatch_workgroups_indirect(&self.path_groups, 0),
            }
        };
        let [count, scatter] = if self.sections < LOCAL_BINS {
            [&kernels.count, &kernels.scatter]
        } else {
            [&kernels.count_many, &kernels.scatter_many]
        };
        over_paths(pass, count);
        pass.set_bind_group(0, &self.over_queues, &[]);
        pass.set_pipeline(&kernels.scan);
        pass.dispatch_workgroups(1, 1, 1);
        if self.sorted {
            over_paths(pass, scatter);
        } else if first.is_some() {
            over_paths(pass, &kernels.line_up);
        }
    }

    /// The buffer and byte offset of the indirect dispatch of refilling.
    pub fn refill_groups(&self) -> (&wgpu::Buffer, u64) {
        (&self.groups, DISPATCH_BYTES * u64::from(self.sections))
    }

    /// Records the dispatch of a section over its paths. The bind group of the sections must be
    /// set.
    pub fn run_section(&self, section: u32, pipeline: &wgpu::ComputePipeline, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(pipeline);
        pass.dispatch_workgroups_indirect(&self.groups, DISPATCH_BYTES * u64::from(section));
    }

    /// Records the kernel that sizes the traversal's dispatch.
    pub fn shoot(&self, kernels: &ScheduleKernels, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_bind_group(0, &self.over_queues, &[]);
        pass.set_pipeline(&kernels.shoot);
        pass.dispatch_workgroups(1, 1, 1);
    }

    /// The rays that [`Schedule::shoot`] made a dispatch for.
    pub fn queued_rays(&self) -> Trace<'_> {
        Trace::Queued(&self.groups, DISPATCH_BYTES * (u64::from(self.sections) + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::{Batch, RefillKernels, Results, SampleNumbers};
    use super::super::layouts::parsed;
    use super::*;
    use shadewright_bvh::gpu::MAX_GROUPS;
    use shadewright_codegen::wgsl::FINISHED;

    struct Bench {
        gpu: Gpu,
        kernels: ScheduleKernels,
        schedule: Schedule,
        paths: Paths,
        ray_queue: wgpu::Buffer,
    }

    impl Bench {
        /// A wavefront with `started` of `count` paths in use, of which a round runs `take`.
        fn new(lanes: Lanes, sections: u32, count: u32, started: u32, take: u32) -> Self {
            Self::with_order(lanes, sections, count, started, take, true)
        }

        fn with_order(lanes: Lanes, sections: u32, count: u32, started: u32, take: u32, sorted: bool) -> Self {
            let gpu = Gpu::open(None).expect("these tests need a GPU adapter; the software driver of Mesa will do");
            let kernels = ScheduleKernels::new(&gpu, lanes).unwrap();
            let refill = RefillKernels::new(&gpu, lanes).unwrap();
            let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
            let ray_queue = gpu.buffer("rays", 4 + 4 * u64::from(count), usage).unwrap();
            let mut paths = Paths::new(&gpu, &refill, count, [32, 0], sections).unwrap();
            paths.set_sorted(sorted);
            let schedule = Schedule::new(&gpu, &kernels, &paths, &ray_queue).unwrap();
            let batch = Batch {
                entry: 0,
                budget: 1,
                items: started,
                iterations: 1,
                argument_words: 0,
                arguments: &[],
                results: Results::Stay,
                samples: SampleNumbers::default(),
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

        /// Sorts paths of these program counters, twice, and compares every section's range of the
        /// queue with the expected paths.
        fn sorts(&self, counters: &[u32]) {
            self.gpu.queue().write_buffer(self.paths.state(), 0, bytemuck::cast_slice(counters));
            self.gpu.queue().write_buffer(&self.ray_queue, 0, bytemuck::bytes_of(&77_u32));
            let params = self.paths.params();
            // The second sorting finds the bins as the first left them, and is dispatched by what
            // it said.
            self.record(|pass| self.schedule.sort(&self.kernels, pass, Some(params.in_use)));
            self.record(|pass| self.schedule.sort(&self.kernels, pass, None));
            let (queue, groups) = (self.words(self.paths.queue()), self.words(&self.schedule.groups));
            let of_queue = |number: u32| if number == params.sections { FINISHED } else { number };
            let started = &counters[..params.in_use as usize];
            let (mut waiting, mut running) = (0, 0);
            for number in 0..=params.sections {
                let expected: Vec<u32> =
                    (0..params.in_use).filter(|&path| started[path as usize] == of_queue(number)).collect();
                let [count, first] = [0, 1].map(|k| queue[2 * number as usize + k] as usize);
                let mut found = queue[first..first + count].to_vec();
                found.sort_unstable();
                found.dedup();
                assert_eq!(found.len(), count, "queue {number}");
                assert!(found.iter().all(|path| expected.contains(path)), "queue {number}");
                if number == params.sections {
                    assert_eq!(found, expected, "those whose iteration is over");
                } else {
                    waiting += expected.len();
                    running += count;
                }
                let at = 3 * number as usize;
                assert_eq!(groups[at..at + 3], [(count as u32).div_ceil(WORKGROUP_SIZE), 1, 1]);
            }
            // The queue of paths whose run has ended is among the others, so fewer may run than
            // could; but never none.
            assert!(running <= params.take as usize && (running > 0 || waiting == 0), "{running} of {waiting}");
            assert!(params.take < params.in_use || running == waiting, "{running} of {waiting}");
            let live = started.iter().filter(|&&pc| pc < params.sections || pc == FINISHED).count() as u32;
            self.finds_live(live);
        }

        fn finds_live(&self, live: u32) {
            assert_eq!(self.words(self.paths.status())[1], live);
            assert_eq!(self.words(&self.ray_queue)[0], 0);
            let all = self.paths.params().in_use.div_ceil(WORKGROUP_SIZE * PATHS_EACH);
            assert_eq!(self.words(&self.schedule.path_groups)[..3], [if live > 0 { all } else { 0 }, 1, 1]);
        }
    }

    fn scattered(paths: u32, choices: u32) -> Vec<u32> {
        (0..paths).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 7) % choices).collect()
    }

    const BOTH: [Lanes; 2] = [Lanes::Single, Lanes::Subgroup];

    #[test]
    fn paths_are_sorted_by_section() {
        for lanes in BOTH {
            let bench = Bench::new(lanes, 7, 4096, 4000, 4096);
            let mut counters = scattered(4096, 10);
            counters.iter_mut().filter(|pc| **pc == 7).for_each(|pc| *pc = FINISHED);
            bench.sorts(&counters);
            bench.sorts(&vec![3; 4096]);
            bench.sorts(&vec![FINISHED; 4096]);
            bench.sorts(&vec![FINISHED - 1; 4096]);
        }
    }

    #[test]
    fn programs_of_many_sections_are_sorted_too() {
        for lanes in BOTH {
            Bench::new(lanes, 600, 2048, 2048, 2048).sorts(&scattered(2048, 600));
            Bench::new(lanes, 2000, 2048, 2048, 2048).sorts(&scattered(2048, 2000));
        }
    }

    #[test]
    fn a_round_takes_no_more_paths_than_it_may() {
        for lanes in BOTH {
            let bench = Bench::new(lanes, 300, 2048, 2000, 700);
            bench.sorts(&scattered(2048, 300));
            bench.sorts(&scattered(2048, 2));
            bench.sorts(&vec![299; 2048]);
        }
    }

    #[test]
    fn unsorted_queues_of_sections_that_have_paths_hold_all() {
        let bench = Bench::with_order(Lanes::Subgroup, 5, 2048, 1000, 2048, false);
        let counters: Vec<u32> = (0..2048).map(|path| if path % 2 == 0 { 1 } else { FINISHED }).collect();
        bench.gpu.queue().write_buffer(bench.paths.state(), 0, bytemuck::cast_slice(&counters));
        bench.record(|pass| bench.schedule.sort(&bench.kernels, pass, Some(1000)));
        bench.record(|pass| bench.schedule.sort(&bench.kernels, pass, None));
        let queue = bench.words(bench.paths.queue());
        assert_eq!(queue[..12], [0, 12, 1000, 12, 0, 12, 0, 12, 0, 12, 1000, 12]);
        assert!(queue[12..].iter().zip(0..1000).all(|(&found, path)| found == path));
        bench.finds_live(1000);
    }

    #[test]
    fn after_a_trap_nothing_is_run_any_more() {
        let bench = Bench::new(Lanes::Subgroup, 5, 256, 256, 256);
        bench.gpu.queue().write_buffer(bench.paths.status(), 0, bytemuck::bytes_of(&0x0100_0001_u32));
        bench.gpu.queue().write_buffer(bench.paths.state(), 0, bytemuck::cast_slice(&scattered(256, 5)));
        bench.record(|pass| bench.schedule.sort(&bench.kernels, pass, Some(256)));
        let groups = bench.words(&bench.schedule.groups);
        assert!((0..=5).all(|queue| groups[3 * queue] == 0), "{groups:?}");
        bench.finds_live(0);
        assert_eq!(bench.words(bench.paths.status())[0], 0x0100_0001);
    }

    #[test]
    fn the_traversal_is_dispatched_over_all_rays() {
        let bench = Bench::new(Lanes::Single, 2, 64, 64, 64);
        for rays in [0, 1, 64, 65, 64 * MAX_GROUPS, 64 * MAX_GROUPS + 1] {
            bench.gpu.queue().write_buffer(&bench.ray_queue, 0, bytemuck::bytes_of(&rays));
            bench.record(|pass| bench.schedule.shoot(&bench.kernels, pass));
            let groups = bench.words(&bench.schedule.groups);
            let [x, y, z] = [groups[9], groups[10], groups[11]];
            assert!(x <= MAX_GROUPS && y <= MAX_GROUPS && z == 1);
            assert!(x * y * WORKGROUP_SIZE >= rays, "{rays}");
        }
    }

    #[test]
    fn constants_are_the_kernels() {
        parsed(&Lanes::Single.complete(SCHEDULE_WGSL));
        for line in [
            format!("const MAX_GROUPS: u32 = {MAX_GROUPS}u;"),
            format!("const PATHS_EACH: u32 = {PATHS_EACH}u;"),
            format!("const LOCAL_BINS: u32 = {LOCAL_BINS}u;"),
        ] {
            assert!(SCHEDULE_WGSL.text().contains(&line), "{line}");
        }
    }
}
