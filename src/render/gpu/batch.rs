//! Batches: the work of an executor's paths. A batch has items, each of which runs the entry a
//! number of times (`iterations`); `wgsl/refill.wgsl` assigns them to paths on the device. This
//! file owns the paths' buffers and knows no sections.

use super::device::{Gpu, Layout};
use crate::RenderError;
use crate::batches::Batches;
use bytemuck::{Pod, Zeroable};
use shadewright_bvh::kernels::{Kernel, join};
use shadewright_codegen::wgsl::WORKGROUP_SIZE;
use wgpu::BufferUsages;

/// The code that the scheduling kernels share.
const BATCH_WGSL: Kernel = Kernel::named("batch.wgsl");

/// The kernels' source.
const REFILL_WGSL: Kernel = Kernel::named("refill.wgsl");

/// Which invocations reserve space in buffers together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
    /// The invocations of a subgroup, where the device has subgroup operations.
    Subgroup,
    /// Each invocation for itself.
    Single,
}

impl Lanes {
    /// The best that the device has.
    pub fn for_device(gpu: &Gpu) -> Self {
        if gpu.has_subgroups() { Self::Subgroup } else { Self::Single }
    }

    /// A kernel's source with what it builds on.
    pub fn complete(self, kernel: Kernel) -> String {
        let lanes = match self {
            Self::Subgroup => Kernel::named("lanes_subgroup.wgsl"),
            Self::Single => Kernel::named("lanes_single.wgsl"),
        };
        join(&[BATCH_WGSL, lanes, kernel])
    }
}

/// Words of state of a path: program counter, stack pointer, budget, item and run.
const STATE_WORDS: u64 = 5;

/// Words of arguments that one batch may have: 32 MiB, of the binding of 128 MiB that every adapter
/// gives.
pub(super) const MAX_ARGUMENT_WORDS: u64 = 8 << 20;

/// Items that one batch may have: their film is 64 MiB.
pub(super) const MAX_ITEMS: u32 = 4 << 20;

/// Where the results of a batch go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Results {
    /// They stay in the paths' frames: for batches of one run for each item and no more items than
    /// paths.
    #[default]
    Stay = 0,
    /// The first four words are summed, item by item, for each batch of the pixel's samples.
    Sum = 1,
    /// The same, and the first sums continue those that [`Paths::set_sums`] brought.
    AddToSums = 2,
}

/// Which samples of a pixel the runs of an item are. The default is the only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleNumbers {
    /// The number of the first.
    pub first: u32,
    /// Samples of a pixel, from 1 to 65,536.
    pub all: u32,
}

impl Default for SampleNumbers {
    fn default() -> Self {
        Self { first: 0, all: 1 }
    }
}

impl SampleNumbers {
    /// Both numbers as the kernels take them.
    pub fn word(self) -> u32 {
        (self.first & 0xffff) | (self.all.clamp(1, 1 << 16) - 1) << 16
    }

    /// The sums of an item with this number of runs: one for each batch of samples ([`Batches`]).
    pub fn sums(self, iterations: u32) -> u32 {
        let batches = Batches::new(self.all);
        batches.batch(self.first + iterations.max(1) - 1) - batches.batch(self.first) + 1
    }
}

/// Work for an executor: every item runs the entry `iterations` times, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The entry's section.
    pub entry: u32,
    /// Back edges and calls that a run may take.
    pub budget: u32,
    /// The number of items.
    pub items: u32,
    /// Runs of each, at least 1.
    pub iterations: u32,
    /// Words of a run's arguments.
    pub argument_words: u32,
    /// Word `k` of run `t` of item `i` at `(t · argument_words + k) · items + i`.
    pub arguments: &'a [u32],
    /// Where the results go.
    pub results: Results,
    /// Which samples the runs are.
    pub samples: SampleNumbers,
}

/// The uniform buffer of the scheduling kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct BatchParams {
    /// Paths that there is room for, the stride of everything stored a path.
    pub paths: u32,
    /// Paths in use.
    pub in_use: u32,
    /// The section that a run starts with.
    pub entry: u32,
    /// Back edges and calls that a run may take.
    pub budget: u32,
    /// Sections of the program.
    pub sections: u32,
    /// The most paths that a round runs.
    pub take: u32,
    /// Items.
    pub items: u32,
    /// Runs of each.
    pub iterations: u32,
    /// Words of a run's arguments.
    pub argument_words: u32,
    /// A [`Results`].
    pub film: u32,
    /// 0 where every section is dispatched over all paths.
    pub sorted: u32,
    /// [`SampleNumbers::word`].
    pub samples: u32,
}

/// The progress that the host reads after some rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Status {
    /// Zero, or the word of a [`shadewright_codegen::wgsl::Trap`].
    pub trap: u32,
    /// Paths that have not finished.
    pub live: u32,
    /// Runs that have finished.
    pub done: u32,
    /// Items that have been assigned to paths.
    pub taken: u32,
}

/// The kernels, for any program.
#[derive(Debug)]
pub(super) struct RefillKernels {
    layout: Layout,
    start: wgpu::ComputePipeline,
    refill: wgpu::ComputePipeline,
}

impl RefillKernels {
    pub fn new(gpu: &Gpu, lanes: Lanes) -> Result<Self, RenderError> {
        let buffers = [(1, false), (2, false), (3, true), (4, false), (6, false), (7, false)];
        let layout = gpu.layout_at("refill", &buffers);
        let source = lanes.complete(REFILL_WGSL);
        let [start, refill] = gpu.pipelines("refill", &source, &layout.pipeline, ["start", "refill"])?;
        Ok(Self { layout, start, refill })
    }
}

/// The paths of one executor and the batch that they run.
#[derive(Debug)]
pub(super) struct Paths {
    params: BatchParams,
    /// Sums of each item of the batch.
    sums: u32,
    uniform: wgpu::Buffer,
    state: wgpu::Buffer,
    frames: wgpu::Buffer,
    status: wgpu::Buffer,
    arguments: wgpu::Buffer,
    film: wgpu::Buffer,
    queue: wgpu::Buffer,
    bound: wgpu::BindGroup,
}

impl Paths {
    /// Room for `paths` paths with frames of `frame_words` words, for a program of `sections`
    /// sections; after the frames there are `record_words` words.
    pub fn new(
        gpu: &Gpu,
        kernels: &RefillKernels,
        paths: u32,
        [frame_words, record_words]: [u32; 2],
        sections: u32,
    ) -> Result<Self, RenderError> {
        let all = |words: u64| 4 * words * u64::from(paths);
        let (storage, copied) = (BufferUsages::STORAGE, BufferUsages::COPY_SRC | BufferUsages::COPY_DST);
        let params = BatchParams { paths, sections, take: paths, sorted: 1, ..Default::default() };
        let uniform = gpu.buffer(
            "batch parameters",
            size_of::<BatchParams>() as u64,
            BufferUsages::UNIFORM | BufferUsages::COPY_DST,
        )?;
        let state = gpu.buffer("the paths' state", all(STATE_WORDS), storage | copied)?;
        let frames = gpu.buffer(
            "the paths' frames",
            all(u64::from(frame_words)) + 4 * u64::from(record_words),
            storage | copied,
        )?;
        let status = gpu.buffer("the status", size_of::<Status>() as u64, storage | copied)?;
        let arguments = gpu.buffer("the arguments", 0, storage | copied)?;
        let film = gpu.buffer("the film", 0, storage | copied)?;
        let heads = 2 * (u64::from(sections) + 1);
        let queue = gpu.buffer("section queues", 4 * heads + all(1), storage | copied)?;
        let bound = bind(gpu, kernels, [&uniform, &state, &frames, &arguments, &film, &queue, &status]);
        Ok(Self { params, sums: 1, uniform, state, frames, status, arguments, film, queue, bound })
    }

    /// True if paths are sorted by section. Where they are not, every section that has a path is
    /// dispatched over all of them, in their order, whatever `take` is: to measure the effect of
    /// sorting.
    pub fn set_sorted(&mut self, sorted: bool) {
        self.params.sorted = u32::from(sorted);
    }

    /// The queues of the sections, then the queue of paths whose run has ended.
    pub fn queue(&self) -> &wgpu::Buffer {
        &self.queue
    }

    /// The batch's parameters: binding 0 of the scheduling kernels.
    pub fn uniform(&self) -> &wgpu::Buffer {
        &self.uniform
    }

    /// Program counters, stack pointers, budgets, items and runs.
    pub fn state(&self) -> &wgpu::Buffer {
        &self.state
    }

    /// The frames, which hold the results in their first words.
    pub fn frames(&self) -> &wgpu::Buffer {
        &self.frames
    }

    /// The arguments of the current batch. They may be elsewhere in the next one.
    pub fn arguments(&self) -> &wgpu::Buffer {
        &self.arguments
    }

    /// The film of the current batch. It may be elsewhere in the next one.
    pub fn film(&self) -> &wgpu::Buffer {
        &self.film
    }

    /// A [`Status`].
    pub fn status(&self) -> &wgpu::Buffer {
        &self.status
    }

    /// The parameters of the current batch.
    pub fn params(&self) -> &BatchParams {
        &self.params
    }

    /// Sets the batch, of which a round runs no more than `take` paths. [`Paths::start`] follows.
    ///
    /// # Errors
    /// When it does not fit the device.
    ///
    /// # Panics
    /// When there are fewer arguments than the batch needs, or its results should stay and have no
    /// place: mistakes of the caller.
    pub fn set_batch(
        &mut self,
        gpu: &Gpu,
        kernels: &RefillKernels,
        batch: &Batch<'_>,
        take: u32,
    ) -> Result<(), RenderError> {
        let words = u64::from(batch.items) * u64::from(batch.iterations) * u64::from(batch.argument_words);
        let arguments = &batch.arguments[..words as usize];
        let paths = self.params.paths;
        let stays = batch.results == Results::Stay;
        assert!(!stays || (batch.items <= paths && batch.iterations == 1), "no place for the results");
        self.sums = batch.samples.sums(batch.iterations);
        let film = if stays { 0 } else { 16 * u64::from(batch.items) * u64::from(self.sums) };
        self.reserve(gpu, kernels, 4 * words, film)?;
        if !arguments.is_empty() {
            gpu.queue().write_buffer(&self.arguments, 0, bytemuck::cast_slice(arguments));
        }
        self.params = BatchParams {
            in_use: batch.items.min(paths),
            entry: batch.entry,
            budget: batch.budget,
            take,
            items: batch.items,
            iterations: batch.iterations,
            argument_words: batch.argument_words,
            film: batch.results as u32,
            samples: batch.samples.word(),
            ..self.params
        };
        gpu.queue().write_buffer(&self.uniform, 0, bytemuck::bytes_of(&self.params));
        Ok(())
    }

    /// Sets the first sums of the items of the next batch, with [`Results::AddToSums`]. That batch has
    /// up to `count` sums for each.
    ///
    /// # Errors
    /// When they do not fit the device.
    pub fn set_sums(
        &mut self,
        gpu: &Gpu,
        kernels: &RefillKernels,
        sums: &[[f32; 4]],
        count: u32,
    ) -> Result<(), RenderError> {
        self.reserve(gpu, kernels, 0, size_of_val(sums) as u64 * u64::from(count))?;
        gpu.queue().write_buffer(&self.film, 0, bytemuck::cast_slice(sums));
        Ok(())
    }

    /// From the next submission on, a round runs no more than `take` paths.
    pub fn set_take(&mut self, gpu: &Gpu, take: u32) {
        if take != self.params.take {
            self.params.take = take;
            gpu.queue().write_buffer(&self.uniform, 0, bytemuck::bytes_of(&self.params));
        }
    }

    /// Records the start of the batch.
    pub fn start(&self, kernels: &RefillKernels, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_bind_group(0, &self.bound, &[]);
        pass.set_pipeline(&kernels.start);
        // One group at least: it resets the status.
        pass.dispatch_workgroups(self.params.in_use.div_ceil(WORKGROUP_SIZE).max(1), 1, 1);
    }

    /// Records the refilling of paths whose run has ended, dispatched indirectly from byte `at` of
    /// `groups`.
    pub fn refill(&self, kernels: &RefillKernels, pass: &mut wgpu::ComputePass<'_>, groups: &wgpu::Buffer, at: u64) {
        pass.set_bind_group(0, &self.bound, &[]);
        pass.set_pipeline(&kernels.refill);
        pass.dispatch_workgroups_indirect(groups, at);
    }

    /// The sums of the last batch: of all items for the first batch of samples, then the next.
    ///
    /// # Errors
    /// When the device fails.
    pub fn sums(&self, gpu: &Gpu) -> Result<Vec<[f32; 4]>, RenderError> {
        let bytes = 16 * u64::from(self.params.items) * u64::from(self.sums);
        gpu.copy_back("the film's copy", bytes, |commands, back| {
            commands.copy_buffer_to_buffer(&self.film, 0, back, 0, bytes);
        })
        .map(|words| bytemuck::cast_slice(&words).to_vec())
    }

    /// The results of the last batch, whose results stayed: `words` rows of `count` words each.
    ///
    /// # Errors
    /// When the device fails.
    pub fn results(&self, gpu: &Gpu, words: u32, count: u32) -> Result<Vec<Vec<u32>>, RenderError> {
        let row = 4 * u64::from(count);
        if row == 0 {
            return Ok(vec![Vec::new(); words as usize]);
        }
        let copied = gpu.copy_back("the results' copy", row * u64::from(words), |commands, back| {
            for k in 0..u64::from(words) {
                let at = 4 * k * u64::from(self.params.paths);
                commands.copy_buffer_to_buffer(&self.frames, at, back, k * row, row);
            }
        })?;
        Ok(copied.chunks(count as usize).map(<[u32]>::to_vec).collect())
    }

    /// Makes the buffers of arguments and film at least this large. What the film held is lost when
    /// it grows.
    fn reserve(&mut self, gpu: &Gpu, kernels: &RefillKernels, arguments: u64, film: u64) -> Result<(), RenderError> {
        if arguments <= self.arguments.size() && film <= self.film.size() {
            return Ok(());
        }
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        if arguments > self.arguments.size() {
            self.arguments = gpu.buffer("the arguments", arguments, usage)?;
        }
        if film > self.film.size() {
            self.film = gpu.buffer("the film", film, usage)?;
        }
        let Self { uniform, state, frames, status, arguments, film, queue, .. } = &*self;
        self.bound = bind(gpu, kernels, [uniform, state, frames, arguments, film, queue, status]);
        Ok(())
    }
}

/// Binds parameters, state, frames, arguments, film, queue and status.
fn bind(gpu: &Gpu, kernels: &RefillKernels, buffers: [&wgpu::Buffer; 7]) -> wgpu::BindGroup {
    let numbers = [0, 1, 2, 3, 4, 6, 7];
    let pairs: Vec<_> = numbers.into_iter().zip(buffers).collect();
    gpu.bind_at(&kernels.layout, &pairs)
}

#[cfg(test)]
mod tests {
    use super::super::layouts::{parsed, struct_size};
    use super::*;
    use crate::batches::MAX_BATCHES;
    use crate::film::FilmPixel;
    use shadewright_codegen::wgsl::{FINISHED, RESULT_WORDS};

    /// The program counter of a path that has nothing to do.
    const RESTING: u32 = 0xffff_fffe;

    /// Paths with their kernels, and a dispatch over all of them.
    struct Bench {
        gpu: Gpu,
        kernels: RefillKernels,
        paths: Paths,
        over_all: wgpu::Buffer,
    }

    impl Bench {
        fn new(paths: u32) -> Self {
            Self::with_lanes(paths, Lanes::Single)
        }

        fn with_lanes(paths: u32, lanes: Lanes) -> Self {
            let gpu = Gpu::open(None).expect("these tests need a GPU adapter; the software driver of Mesa will do");
            let kernels = RefillKernels::new(&gpu, lanes).unwrap();
            let paths = Paths::new(&gpu, &kernels, paths, [24, 0], 1).unwrap();
            let over_all = gpu.upload("groups", bytemuck::cast_slice(&[1, 1, 1]), BufferUsages::INDIRECT).unwrap();
            Self { gpu, kernels, paths, over_all }
        }

        fn start(&mut self, batch: &Batch<'_>) {
            self.paths.set_batch(&self.gpu, &self.kernels, batch, u32::MAX).unwrap();
            self.record(|pass| self.paths.start(&self.kernels, pass));
        }

        /// Refills the paths that have finished.
        fn refill(&self) {
            let state = self.words(self.paths.state());
            let stride = self.paths.params().paths;
            let finished: Vec<u32> = (0..stride).filter(|&path| state[path as usize] == FINISHED).collect();
            // The program has one section: the queue of paths whose run has ended is the second.
            let queue = [&[0, 0, finished.len() as u32, 4], &finished[..]].concat();
            self.gpu.queue().write_buffer(self.paths.queue(), 0, bytemuck::cast_slice(&queue));
            self.record(|pass| self.paths.refill(&self.kernels, pass, &self.over_all, 0));
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

        fn status(&self) -> Status {
            bytemuck::pod_read_unaligned(bytemuck::cast_slice(&self.words(self.paths.status())[..4]))
        }

        /// Ends the runs of the paths that `ends` selects, each with its argument and three others
        /// as results.
        fn end_runs(&self, ends: impl Fn(usize) -> bool) {
            let stride = self.paths.params().paths as usize;
            let (mut state, mut frames) = (self.words(self.paths.state()), self.words(self.paths.frames()));
            for path in (0..stride).filter(|&path| ends(path)) {
                if state[path] != 0 {
                    continue;
                }
                let argument = f32::from_bits(frames[(RESULT_WORDS as usize + 1) * stride + path]);
                sample(argument).iter().enumerate().for_each(|(k, x)| frames[k * stride + path] = x.to_bits());
                state[path] = FINISHED;
            }
            self.gpu.queue().write_buffer(self.paths.state(), 0, bytemuck::cast_slice(&state));
            self.gpu.queue().write_buffer(self.paths.frames(), 0, bytemuck::cast_slice(&frames));
        }
    }

    fn sample(argument: f32) -> [f32; 4] {
        [argument, argument / 3.0, 0.1 - argument, 1.0]
    }

    fn argument(iteration: u32, item: u32) -> f32 {
        (iteration * 37 + item * 11) as f32 / 7.0
    }

    #[test]
    fn a_path_starts_at_the_entry_with_an_empty_stack() {
        let mut bench = Bench::new(128);
        let arguments: Vec<u32> = (0..200).collect();
        bench.start(&Batch {
            entry: 5,
            budget: 1234,
            items: 100,
            iterations: 1,
            argument_words: 2,
            arguments: &arguments,
            results: Results::Stay,
            samples: SampleNumbers::default(),
        });
        let state = bench.words(bench.paths.state());
        assert!(state[..100].iter().all(|&pc| pc == 5));
        assert!(state[128..228].iter().all(|&sp| sp == RESULT_WORDS + 1));
        assert!(state[256..356].iter().all(|&budget| budget == 1234));
        let frames = bench.words(bench.paths.frames());
        let row = |k: u32| &frames[(RESULT_WORDS + k) as usize * 128..][..100];
        assert!(row(0).iter().all(|&pc| pc == FINISHED));
        assert_eq!([row(1), row(2)].concat(), arguments);
        assert_eq!(bench.status(), Status { taken: 100, ..Default::default() });
    }

    #[test]
    fn items_are_summed_turn_by_turn_whenever_paths_finish() {
        for lanes in [Lanes::Single, Lanes::Subgroup] {
            items_are_summed_by(lanes);
        }
    }

    fn items_are_summed_by(lanes: Lanes) {
        let mut bench = Bench::with_lanes(64, lanes);
        let items = 300;
        // Batches of the samples: 0 and 1, 2 to 4, 5 and 6, and so on.
        let all = 40;
        let batches = Batches::new(all);
        // The first sums are discarded; the last two batches continue the sums before.
        for (samples, results) in
            [(9..13, Results::Sum), (0..4, Results::Sum), (4..8, Results::AddToSums), (8..9, Results::AddToSums)]
        {
            let arguments: Vec<u32> = samples
                .clone()
                .flat_map(|sample| (0..items).map(move |item| argument(sample, item).to_bits()))
                .collect();
            let numbers = SampleNumbers { first: samples.start, all };
            let iterations = samples.len() as u32;
            let sum = |samples: std::ops::Range<u32>, item| {
                let mut sum = FilmPixel::default();
                samples.for_each(|index| sum.add(sample(argument(index, item)), 1.0));
                sum.sum
            };
            if results == Results::AddToSums {
                let begun = batches.range(batches.batch(samples.start)).start;
                let before: Vec<_> = (0..items).map(|item| sum(begun..samples.start, item)).collect();
                let count = numbers.sums(iterations);
                bench.paths.set_sums(&bench.gpu, &bench.kernels, &before, count).unwrap();
            }
            bench.start(&Batch {
                entry: 0,
                budget: 1,
                items,
                iterations,
                argument_words: 1,
                arguments: &arguments,
                results,
                samples: numbers,
            });
            for round in 0.. {
                assert!(round < 100, "{:?}", bench.status());
                bench.end_runs(|path| path % 3 != round % 3);
                bench.refill();
                if bench.status().done == items * iterations {
                    break;
                }
            }
            let start = |part: &std::ops::Range<u32>| match results {
                Results::AddToSums if part.start == samples.start => batches.range(batches.batch(part.start)).start,
                _ => part.start,
            };
            let expected: Vec<_> = batches
                .split(samples.clone())
                .flat_map(|part| (0..items).map(move |item| sum(start(&part)..part.end, item)))
                .collect();
            assert_eq!(bench.paths.sums(&bench.gpu).unwrap(), expected, "{samples:?}");
            assert!(bench.words(bench.paths.state())[..64].iter().all(|&pc| pc == RESTING));
        }
    }

    #[test]
    fn a_batch_has_a_sum_for_each_batch_of_samples() {
        let sums = |first, all, iterations| SampleNumbers { first, all }.sums(iterations);
        assert_eq!([sums(0, 1, 1), sums(0, 64, 64), sums(2, 64, 3), sums(65_535, 65_536, 1)], [1, 16, 2, 1]);
        assert_eq!(SampleNumbers { first: 65_535, all: 65_536 }.word(), u32::MAX);
    }

    #[test]
    fn layouts_and_constants_are_the_kernels() {
        let source = Lanes::Single.complete(REFILL_WGSL);
        let module = parsed(&source);
        assert_eq!(struct_size(&module, "Batch"), size_of::<BatchParams>());
        assert_eq!(struct_size(&module, "Status"), size_of::<Status>());
        for line in [
            format!("const GROUP: u32 = {WORKGROUP_SIZE}u;"),
            format!("const FINISHED: u32 = {FINISHED:#x}u;"),
            format!("const RESTING: u32 = {RESTING:#x}u;"),
            format!("const RESULT_WORDS: u32 = {RESULT_WORDS}u;"),
            format!("const FILM_NONE: u32 = {}u;", Results::Stay as u32),
            format!("const FILM_STARTS: u32 = {}u;", Results::Sum as u32),
            format!("const FILM_ADDS: u32 = {}u;", Results::AddToSums as u32),
            format!("const MAX_BATCHES: u32 = {MAX_BATCHES}u;"),
        ] {
            assert!(source.contains(&line), "{line}");
        }
    }
}
