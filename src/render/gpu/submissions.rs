//! The submission queue, which keeps the device busy: groups of rounds are submitted ahead. Each
//! group's status is copied to a small buffer of its own, which the host waits for while later
//! groups run; groups after the end of a batch do nothing. This file knows neither kernels nor
//! programs.

use super::batch::{Paths, Status};
use super::device::{Gpu, PATIENCE, Pending};
use super::executor::OnProgress;
use super::profile::{Profile, Recorded, Recorder, Stamps};
use super::submission_size::SubmissionSize;
use crate::RenderError;
use crate::report::KernelTimes;
use std::collections::VecDeque;
use std::time::Instant;

/// Groups of rounds that are submitted before the host waits for the first of them.
const IN_FLIGHT: usize = 3;

/// Records a group: a number of rounds of the paths, after the start of the batch where the last
/// argument is true.
pub(super) type Record<'a> = &'a mut dyn FnMut(&mut Recorder<'_>, &Paths, u32, bool);

/// Bytes of a status, the first part of what a group copies.
const STATUS_BYTES: u64 = size_of::<Status>() as u64;

/// The submissions of one executor.
#[derive(Debug)]
pub(super) struct SubmissionQueue {
    free: Vec<Slot>,
    size: SubmissionSize,
    profile: Option<Profile>,
    /// Steps of a round.
    steps: usize,
    counts: SubmissionCounts,
}

/// The buffers of a group.
#[derive(Debug)]
struct Slot {
    /// The copy of its status and timestamps.
    copy: wgpu::Buffer,
    stamps: Option<Stamps>,
}

/// Counts of submissions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SubmissionCounts {
    /// Rounds.
    pub rounds: u64,
    /// Groups of them.
    pub submissions: u64,
}

/// A group in flight.
#[derive(Debug)]
struct Group {
    pending: Pending,
    slot: Slot,
    recorded: Recorded,
    rounds: u32,
    take: u32,
}

impl SubmissionQueue {
    /// For `paths` paths. Where `names` has the names of the recorded steps, they are timed. A
    /// round has up to `steps` of them.
    pub fn new(gpu: &Gpu, paths: u32, steps: usize, names: Option<Vec<String>>) -> Result<Self, RenderError> {
        let profile = names.and_then(|names| Profile::new(gpu, names));
        let bytes = STATUS_BYTES + if profile.is_some() { Profile::BYTES } else { 0 };
        let slot = |_| {
            let stamps = profile.as_ref().map(|profile| profile.stamps(gpu)).transpose()?;
            Ok(Slot { copy: gpu.readback("the status' copy", bytes)?, stamps })
        };
        let free = (0..IN_FLIGHT).map(slot).collect::<Result<_, RenderError>>()?;
        Ok(Self { free, size: SubmissionSize::new(paths), profile, steps, counts: SubmissionCounts::default() })
    }

    /// The time of the steps, where they are timed.
    pub fn times(&self) -> Option<KernelTimes> {
        self.profile.as_ref().map(Profile::times)
    }

    /// Resets the times.
    pub fn restart_times(&mut self) {
        if let Some(profile) = &mut self.profile {
            profile.restart();
        }
    }

    /// Paths that a round should run at most.
    pub fn take(&self) -> u32 {
        self.size.take()
    }

    /// Counts of submissions.
    pub fn counts(&self) -> SubmissionCounts {
        self.counts
    }

    /// Submits what `record` records until no path is live or one trapped. `what` describes a group
    /// with that many rounds, for errors; `progress` is called from time to time with the number of
    /// runs that have finished, and may stop the batch.
    ///
    /// # Errors
    /// When the device fails; [`RenderError::Stopped`] when `progress` stops the batch.
    pub fn run(
        &mut self,
        gpu: &Gpu,
        paths: &mut Paths,
        record: Record<'_>,
        what: &dyn Fn(u32) -> String,
        progress: OnProgress<'_>,
    ) -> Result<Status, RenderError> {
        gpu.check()?;
        let mut in_flight = VecDeque::with_capacity(IN_FLIGHT);
        let mut last = Instant::now();
        let mut first = true;
        let status = loop {
            while let Some(slot) = self.free.pop() {
                in_flight.push_back(self.submit(gpu, paths, slot, first, record));
                first = false;
            }
            let Some(group) = in_flight.pop_front() else {
                return Err(RenderError::Device("an earlier failure left no room for rounds in flight".to_string()));
            };
            let (rounds, take) = (group.rounds, group.take);
            let status = self.wait_for(gpu, group, what)?;
            let wanted = progress(status.done);
            if status.trap != 0 || status.live == 0 {
                break Ok(status);
            }
            if wanted.is_break() {
                break Err(RenderError::Stopped);
            }
            self.size.adapt(rounds, take, last.elapsed(), status.live);
            last = Instant::now();
            paths.set_take(gpu, self.size.take());
        };
        for group in in_flight {
            self.wait_for(gpu, group, what)?;
        }
        if let Some(profile) = &mut self.profile {
            profile.pause();
        }
        status
    }

    /// Submits a group.
    fn submit(&mut self, gpu: &Gpu, paths: &Paths, slot: Slot, first: bool, record: Record<'_>) -> Group {
        let mut rounds = self.size.rounds();
        if self.profile.is_some() {
            rounds = rounds.min(Profile::rounds(self.steps));
        }
        let mut commands = gpu.device().create_command_encoder(&Default::default());
        let mut recorder = Recorder::new(&mut commands, self.profile.as_ref().zip(slot.stamps.as_ref()));
        record(&mut recorder, paths, rounds, first);
        let recorded = recorder.finish(&slot.copy, STATUS_BYTES);
        commands.copy_buffer_to_buffer(paths.status(), 0, &slot.copy, 0, STATUS_BYTES);
        self.counts.rounds += u64::from(rounds);
        self.counts.submissions += 1;
        let pending = gpu.submit(commands, &slot.copy, slot.copy.size());
        Group { pending, slot, recorded, rounds, take: paths.params().take }
    }

    /// Waits for a group; returns the status after it.
    fn wait_for(&mut self, gpu: &Gpu, group: Group, what: &dyn Fn(u32) -> String) -> Result<Status, RenderError> {
        let profile = &mut self.profile;
        let read = |words: &[u32]| {
            let (status, stamps) = words.split_at(STATUS_BYTES as usize / 4);
            if let Some(profile) = profile {
                profile.learn(&group.recorded, stamps);
            }
            bytemuck::pod_read_unaligned(bytemuck::cast_slice(status))
        };
        let status = gpu.finish(group.pending, PATIENCE, || what(group.rounds), read)?;
        self.free.push(group.slot);
        Ok(status)
    }
}
