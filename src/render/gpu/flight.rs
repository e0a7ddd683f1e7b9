//! Keeping the device busy: groups of rounds are submitted ahead of what the host knows. Each group's status is copied to a small buffer of its own, which the
//! host waits for while later groups run; those behind the end of a batch are empty. This file knows neither kernels nor programs.

use super::batch::{Paths, Status};
use super::device::{Gpu, PATIENCE, Pending};
use super::machine::Told;
use super::pace::Pace;
use super::profile::{Profile, Recorded, Recorder, Stamps};
use crate::render::RenderError;
use crate::render::report::KernelTimes;
use std::collections::VecDeque;
use std::time::Instant;

/// Groups of rounds that are submitted before the host waits for the first of them.
const IN_FLIGHT: usize = 3;

/// What a group records: so many rounds of the paths, before them the start of the batch when the last argument says so.
pub(super) type Record<'a> = &'a mut dyn FnMut(&mut Recorder<'_>, &Paths, u32, bool);

/// Bytes of a status, the first part of what a group copies.
const STATUS_BYTES: u64 = size_of::<Status>() as u64;

/// The groups of one machine.
#[derive(Debug)]
pub(super) struct Flight {
    free: Vec<Slot>,
    pace: Pace,
    profile: Option<Profile>,
    /// Steps of a round.
    steps: usize,
    counts: FlightCounts,
}

/// What a group needs of its own.
#[derive(Debug)]
struct Slot {
    /// What it copies its status and stamps to.
    copy: wgpu::Buffer,
    stamps: Option<Stamps>,
}

/// What was submitted so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlightCounts {
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

impl Flight {
    /// For a machine of so many paths. With the names of the steps that are recorded, they are timed. A round has up to `steps` of them.
    pub fn new(gpu: &Gpu, paths: u32, steps: usize, names: Option<Vec<String>>) -> Result<Self, RenderError> {
        let profile = names.and_then(|names| Profile::new(gpu, names));
        let bytes = STATUS_BYTES + if profile.is_some() { Profile::BYTES } else { 0 };
        let slot = |_| {
            let stamps = profile.as_ref().map(|profile| profile.stamps(gpu)).transpose()?;
            Ok(Slot { copy: gpu.readback("the status' copy", bytes)?, stamps })
        };
        let free = (0..IN_FLIGHT).map(slot).collect::<Result<_, RenderError>>()?;
        Ok(Self { free, pace: Pace::new(paths), profile, steps, counts: FlightCounts::default() })
    }

    /// The time of the steps, where they are timed.
    pub fn times(&self) -> Option<KernelTimes> {
        self.profile.as_ref().map(Profile::times)
    }

    /// The times begin anew.
    pub fn restart_times(&mut self) {
        if let Some(profile) = &mut self.profile {
            profile.restart();
        }
    }

    /// Paths that a round should run at most.
    pub fn take(&self) -> u32 {
        self.pace.take()
    }

    /// What was submitted so far.
    pub fn counts(&self) -> FlightCounts {
        self.counts
    }

    /// Submits what `record` records until no path is live or one trapped. `what` names a group of so many rounds for errors;
    /// `progress` is told now and then how many turns have finished, and may say that no more are wanted.
    ///
    /// # Errors
    /// When the device fails; [`RenderError::Stopped`] when no more turns were wanted.
    pub fn run(
        &mut self,
        gpu: &Gpu,
        paths: &mut Paths,
        record: Record<'_>,
        what: &dyn Fn(u32) -> String,
        progress: Told<'_>,
    ) -> Result<Status, RenderError> {
        gpu.check()?;
        let mut flying = VecDeque::with_capacity(IN_FLIGHT);
        let mut last = Instant::now();
        let mut first = true;
        let status = loop {
            while let Some(slot) = self.free.pop() {
                flying.push_back(self.submit(gpu, paths, slot, first, record));
                first = false;
            }
            let Some(group) = flying.pop_front() else {
                return Err(RenderError::Device("an earlier failure left no room for rounds in flight".to_string()));
            };
            let (rounds, take) = (group.rounds, group.take);
            let status = self.land(gpu, group, what)?;
            let wanted = progress(status.done);
            if status.trap != 0 || status.live == 0 {
                break Ok(status);
            }
            if wanted.is_break() {
                break Err(RenderError::Stopped);
            }
            self.pace.learn(rounds, take, last.elapsed(), status.live);
            last = Instant::now();
            paths.set_take(gpu, self.pace.take());
        };
        for group in flying {
            self.land(gpu, group, what)?;
        }
        if let Some(profile) = &mut self.profile {
            profile.pause();
        }
        status
    }

    /// Submits a group.
    fn submit(&mut self, gpu: &Gpu, paths: &Paths, slot: Slot, first: bool, record: Record<'_>) -> Group {
        let mut rounds = self.pace.rounds();
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

    /// Waits for a group, and says how things stand after it.
    fn land(&mut self, gpu: &Gpu, group: Group, what: &dyn Fn(u32) -> String) -> Result<Status, RenderError> {
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
