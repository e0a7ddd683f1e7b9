//! Keeping the device busy: groups of rounds are submitted ahead of what the host knows. Each group's status is copied to a small buffer of its own, which the
//! host waits for while later groups run; those behind the end of a batch are empty. This file knows neither kernels nor programs.

use super::batch::{Paths, Status};
use super::device::{Gpu, PATIENCE, Pending};
use super::pace::Pace;
use crate::render::RenderError;
use std::collections::VecDeque;
use std::time::Instant;

/// Groups of rounds that are submitted before the host waits for the first of them.
const IN_FLIGHT: usize = 3;

/// What a group records: so many rounds of the paths, before them the start of the batch when the last argument says so.
pub(super) type Record<'a> = &'a mut dyn FnMut(&mut wgpu::ComputePass<'_>, &Paths, u32, bool);

/// The groups of one machine.
#[derive(Debug)]
pub(super) struct Flight {
    /// What groups copy their status to, those that no group in flight uses.
    free: Vec<wgpu::Buffer>,
    pace: Pace,
    counts: FlightCounts,
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
    status: wgpu::Buffer,
    rounds: u32,
    take: u32,
}

impl Flight {
    /// For a machine of so many paths.
    pub fn new(gpu: &Gpu, paths: u32) -> Result<Self, RenderError> {
        let copy = |_| gpu.readback("the status' copy", size_of::<Status>() as u64);
        let free = (0..IN_FLIGHT).map(copy).collect::<Result<_, _>>()?;
        Ok(Self { free, pace: Pace::new(paths), counts: FlightCounts::default() })
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
    /// `progress` is told now and then how many turns have finished.
    ///
    /// # Errors
    /// When the device fails.
    pub fn run(
        &mut self,
        gpu: &Gpu,
        paths: &mut Paths,
        record: Record<'_>,
        what: &dyn Fn(u32) -> String,
        progress: &mut dyn FnMut(u32),
    ) -> Result<Status, RenderError> {
        let mut flying = VecDeque::with_capacity(IN_FLIGHT);
        let mut last = Instant::now();
        let mut first = true;
        let status = loop {
            while let Some(copy) = self.free.pop() {
                flying.push_back(self.submit(gpu, paths, copy, first, record));
                first = false;
            }
            let Some(group) = flying.pop_front() else {
                return Err(RenderError::Device("an earlier failure left no room for rounds in flight".to_string()));
            };
            let (rounds, take) = (group.rounds, group.take);
            let status = self.land(gpu, group, what)?;
            progress(status.done);
            if status.trap != 0 || status.live == 0 {
                break status;
            }
            self.pace.learn(rounds, take, last.elapsed(), status.live);
            last = Instant::now();
            paths.set_take(gpu, self.pace.take());
        };
        for group in flying {
            self.land(gpu, group, what)?;
        }
        Ok(status)
    }

    /// Submits a group, whose status goes to `copy`.
    fn submit(&mut self, gpu: &Gpu, paths: &Paths, copy: wgpu::Buffer, first: bool, record: Record<'_>) -> Group {
        let rounds = self.pace.rounds();
        let mut commands = gpu.device().create_command_encoder(&Default::default());
        record(&mut commands.begin_compute_pass(&Default::default()), paths, rounds, first);
        let bytes = size_of::<Status>() as u64;
        commands.copy_buffer_to_buffer(paths.status(), 0, &copy, 0, bytes);
        self.counts.rounds += u64::from(rounds);
        self.counts.submissions += 1;
        let pending = gpu.submit(commands, &copy, bytes);
        Group { pending, status: copy, rounds, take: paths.params().take }
    }

    /// Waits for a group, and says how things stand after it.
    fn land(&mut self, gpu: &Gpu, group: Group, what: &dyn Fn(u32) -> String) -> Result<Status, RenderError> {
        let read = |words: &[u32]| bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words[..4]));
        let status = gpu.finish(group.pending, PATIENCE, || what(group.rounds), read)?;
        self.free.push(group.status);
        Ok(status)
    }
}
