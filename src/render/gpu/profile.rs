//! Kernel times by the device's clock: timestamp queries around the steps of a pass, read back with
//! the status of the group that recorded them. Without profiling nothing is written.

use super::device::{Clock, Gpu};
use crate::RenderError;
use crate::report::{KernelTime, KernelTimes};
use std::time::Duration;
use wgpu::{BufferUsages, CommandEncoder, ComputePass};

/// Timestamps of one group of rounds at most: what WebGPU allows in a query set.
const STAMPS: u32 = 4096;

/// The timestamps of the groups in flight, and the times of earlier ones.
#[derive(Debug)]
pub(super) struct Profile {
    clock: Clock,
    /// Nanoseconds of a tick.
    period: f64,
    steps: Vec<StepTime>,
    idle: f64,
    /// When the last group ended, in ticks.
    last: Option<u64>,
}

#[derive(Clone, Debug)]
struct StepTime {
    name: String,
    /// Nanoseconds.
    time: f64,
    longest: f64,
    dispatches: u64,
}

/// The query set of a group.
#[derive(Debug)]
pub(super) struct Stamps {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
}

/// The steps that a group has recorded, one for each pair of timestamps.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    steps: Vec<u32>,
}

impl Profile {
    /// For steps of these names. `None` when the device has no clock.
    pub fn new(gpu: &Gpu, names: Vec<String>) -> Option<Self> {
        let clock = gpu.clock()?;
        let step = |name| StepTime { name, time: 0.0, longest: 0.0, dispatches: 0 };
        let steps = names.into_iter().map(step).collect();
        Some(Self { clock, period: f64::from(gpu.queue().get_timestamp_period()), steps, idle: 0.0, last: None })
    }

    /// Room for the stamps of a group.
    pub fn stamps(&self, gpu: &Gpu) -> Result<Stamps, RenderError> {
        let set = gpu.device().create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("timestamps"),
            ty: wgpu::QueryType::Timestamp,
            count: STAMPS,
        });
        let usage = BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC;
        Ok(Stamps { set, resolved: gpu.buffer("the timestamps", Self::BYTES, usage)? })
    }

    /// Bytes of a group's stamps.
    pub const BYTES: u64 = 8 * STAMPS as u64;

    /// The most rounds of `steps` steps whose stamps have room.
    pub fn rounds(steps: usize) -> u32 {
        (STAMPS / 2 / (steps as u32).max(1)).max(1)
    }

    /// Takes the stamps of a group that has run: pairs of words.
    pub fn learn(&mut self, recorded: &Recorded, words: &[u32]) {
        let stamp = |at: usize| u64::from(words[2 * at]) | (u64::from(words[2 * at + 1]) << 32);
        for (at, &step) in recorded.steps.iter().enumerate() {
            let (begin, end) = (stamp(2 * at), stamp(2 * at + 1));
            let time = end.saturating_sub(begin) as f64 * self.period;
            let step = &mut self.steps[step as usize];
            step.time += time;
            step.longest = step.longest.max(time);
            step.dispatches += 1;
            if let (0, Some(last)) = (at, self.last) {
                self.idle += begin.saturating_sub(last) as f64 * self.period;
            }
            self.last = Some(end);
        }
    }

    /// Resets all times.
    pub fn restart(&mut self) {
        self.pause();
        self.idle = 0.0;
        for step in &mut self.steps {
            (step.time, step.longest, step.dispatches) = (0.0, 0.0, 0);
        }
    }

    /// The time until the next group is no gap: the host had nothing to submit.
    pub fn pause(&mut self) {
        self.last = None;
    }

    /// The times so far, the longest kernel first.
    pub fn times(&self) -> KernelTimes {
        let time = |nanoseconds: f64| Duration::from_secs_f64(nanoseconds * 1.0e-9);
        let mut kernels: Vec<_> = self
            .steps
            .iter()
            .filter(|step| step.dispatches > 0)
            .map(|step| KernelTime {
                name: step.name.clone(),
                time: time(step.time),
                longest: time(step.longest),
                dispatches: step.dispatches,
            })
            .collect();
        kernels.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.name.cmp(&b.name)));
        KernelTimes::Measured { kernels, idle: time(self.idle) }
    }
}

/// Records the steps of a group, each with its stamps where there are any.
pub(super) struct Recorder<'a> {
    commands: &'a mut CommandEncoder,
    /// The pass that steps share.
    pass: Option<ComputePass<'static>>,
    stamps: Option<(&'a Stamps, Clock)>,
    recorded: Recorded,
}

impl<'a> Recorder<'a> {
    /// Records into `commands`; with the stamps that `profile` asks for when there is one.
    pub fn new(commands: &'a mut CommandEncoder, profile: Option<(&'a Profile, &'a Stamps)>) -> Self {
        let stamps = profile.map(|(profile, stamps)| (stamps, profile.clock));
        Self { commands, pass: None, stamps, recorded: Recorded::default() }
    }

    /// Records the dispatches of a step, numbered as in [`Profile::new`].
    pub fn step(&mut self, step: u32, record: impl FnOnce(&mut ComputePass<'_>)) {
        let first = 2 * self.recorded.steps.len() as u32;
        let stamps = self.stamps.filter(|_| first + 1 < STAMPS);
        let Some((Stamps { set, .. }, clock)) = stamps else {
            return record(self.shared_pass());
        };
        self.recorded.steps.push(step);
        match clock {
            Clock::InsidePasses => {
                let pass = self.shared_pass();
                pass.write_timestamp(set, first);
                record(pass);
                pass.write_timestamp(set, first + 1);
            }
            Clock::AroundPasses => {
                self.pass = None;
                let (begin, end) = (Some(first), Some(first + 1));
                let writes = wgpu::ComputePassTimestampWrites {
                    query_set: set,
                    beginning_of_pass_write_index: begin,
                    end_of_pass_write_index: end,
                };
                let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes: Some(writes) };
                record(&mut self.commands.begin_compute_pass(&descriptor));
            }
        }
    }

    /// Ends the group: its stamps go to `copy`, from byte `at` on.
    pub fn finish(mut self, copy: &wgpu::Buffer, at: u64) -> Recorded {
        self.pass = None;
        if let Some((stamps, _)) = self.stamps {
            let count = 2 * self.recorded.steps.len() as u32;
            self.commands.resolve_query_set(&stamps.set, 0..count, &stamps.resolved, 0);
            self.commands.copy_buffer_to_buffer(&stamps.resolved, 0, copy, at, 8 * u64::from(count));
        }
        self.recorded
    }

    fn shared_pass(&mut self) -> &mut ComputePass<'static> {
        let commands = &mut *self.commands;
        self.pass.get_or_insert_with(|| commands.begin_compute_pass(&Default::default()).forget_lifetime())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// Takes long enough to be seen by any clock.
    const WGSL: &str = "
        @group(0) @binding(0) var<uniform> iterations: vec4<u32>;
        @group(0) @binding(1) var<storage, read_write> words: array<u32>;
        @compute @workgroup_size(64) fn work(@builtin(global_invocation_id) id: vec3<u32>) {
            var x = id.x;
            for (var i = 0u; i < iterations.x; i++) { x = x * 0x9e3779b9u + i; }
            words[id.x] = x;
        }";

    #[test]
    fn stamps_are_the_times_of_the_steps_that_recorded_them() {
        let step = |name: &str| StepTime { name: name.to_string(), time: 0.0, longest: 0.0, dispatches: 0 };
        let steps = ["short", "never", "long"].map(step).to_vec();
        let mut profile = Profile { clock: Clock::InsidePasses, period: 2.0, steps, idle: 0.0, last: None };
        // Stamps are longer than a word.
        let words = |stamps: &[u64]| -> Vec<u32> {
            stamps
                .iter()
                .map(|stamp| stamp + (7 << 32))
                .flat_map(|stamp| [stamp as u32, (stamp >> 32) as u32])
                .collect()
        };
        let recorded = Recorded { steps: vec![0, 2, 0] };
        let kernel = |name: &str, [time, longest]: [u64; 2], dispatches| {
            let [time, longest] = [time, longest].map(Duration::from_nanos);
            KernelTime { name: name.to_string(), time, longest, dispatches }
        };
        profile.learn(&recorded, &words(&[100, 105, 105, 1105, 1110, 1120]));
        let kernels = vec![kernel("long", [2000, 2000], 1), kernel("short", [30, 20], 2)];
        assert_eq!(profile.times(), KernelTimes::Measured { kernels, idle: Duration::ZERO });
        // Nothing ran for 80 ticks between two groups; what goes before a pause is none of its own.
        profile.learn(&recorded, &words(&[1200, 1201, 1201, 1202, 1202, 1203]));
        profile.pause();
        profile.learn(&recorded, &words(&[5000, 5001, 5001, 5002, 5002, 5003]));
        let kernels = vec![kernel("long", [2004, 2000], 3), kernel("short", [38, 20], 6)];
        assert_eq!(profile.times(), KernelTimes::Measured { kernels, idle: Duration::from_nanos(160) });
        profile.restart();
        assert_eq!(profile.times(), KernelTimes::Measured { kernels: Vec::new(), idle: Duration::ZERO });
    }

    /// The stamps of three steps on a device, in nanoseconds, and how long all took by the host's
    /// clock. Which step takes longer is not looked at: on a busy machine any of them may wait.
    fn stamps_of_a_device(clock: Clock) -> (Vec<f64>, Duration) {
        let gpu = Gpu::open(None).expect("these tests need a GPU adapter; the software driver of Mesa will do");
        let layout = gpu.layout("work", &[false]);
        let [pipeline] = gpu.pipelines("work", WGSL, &layout.pipeline, ["work"]).unwrap();
        let iterations =
            gpu.upload("iterations", bytemuck::cast_slice(&[1000, 0, 0, 0]), BufferUsages::UNIFORM).unwrap();
        let words = gpu.buffer("words", 4 * 6400, BufferUsages::STORAGE).unwrap();
        let bound = gpu.bind(&layout, &[&iterations, &words]);
        let names = ["much", "never", "little"].map(String::from).to_vec();
        let mut profile = Profile::new(&gpu, names).expect("an adapter with timestamps");
        profile.clock = clock;
        let stamps = profile.stamps(&gpu).unwrap();
        let copy = gpu.readback("stamps", Profile::BYTES).unwrap();
        let begin = Instant::now();
        let mut commands = gpu.device().create_command_encoder(&Default::default());
        let mut recorder = Recorder::new(&mut commands, Some((&profile, &stamps)));
        for (step, groups) in [(0, 100), (2, 1), (0, 100)] {
            recorder.step(step, |pass| {
                pass.set_bind_group(0, &bound, &[]);
                pass.set_pipeline(&pipeline);
                pass.dispatch_workgroups(groups, 1, 1);
            });
        }
        let recorded = recorder.finish(&copy, 0);
        assert_eq!(recorded.steps, [0, 2, 0]);
        let time = |words: &[u32]| (u64::from(words[0]) | (u64::from(words[1]) << 32)) as f64 * profile.period;
        gpu.read(commands, &copy, Profile::BYTES, |words| {
            (words[..12].chunks_exact(2).map(time).collect(), begin.elapsed())
        })
        .unwrap()
    }

    #[test]
    fn steps_are_timed_within_a_pass_and_around_passes() {
        for clock in [Clock::InsidePasses, Clock::AroundPasses] {
            let (stamps, wall) = stamps_of_a_device(clock);
            assert!(stamps.is_sorted(), "{clock:?}: {stamps:?}");
            let times = [0, 2, 4].map(|at| stamps[at + 1] - stamps[at]);
            assert!(times.iter().all(|time| *time > 0.0), "{clock:?}: {stamps:?}");
            let total = times.iter().sum::<f64>() * 1e-9;
            assert!(total <= wall.as_secs_f64(), "{clock:?}: {stamps:?} in {wall:?}");
        }
    }

    #[test]
    fn steps_beyond_the_room_for_stamps_are_recorded_without() {
        let gpu = Gpu::open(None).expect("these tests need a GPU adapter; the software driver of Mesa will do");
        let profile = Profile::new(&gpu, vec!["nothing".to_string()]).expect("an adapter with timestamps");
        let stamps = profile.stamps(&gpu).unwrap();
        let copy = gpu.readback("stamps", Profile::BYTES).unwrap();
        let mut commands = gpu.device().create_command_encoder(&Default::default());
        let mut recorder = Recorder::new(&mut commands, Some((&profile, &stamps)));
        let mut recordings = 0;
        for _ in 0..STAMPS {
            recorder.step(0, |_| recordings += 1);
        }
        let recorded = recorder.finish(&copy, 0);
        assert_eq!((recordings, recorded.steps.len()), (STAMPS, STAMPS as usize / 2));
        gpu.read(commands, &copy, Profile::BYTES, |_| ()).unwrap();
    }
}
