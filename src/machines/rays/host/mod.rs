//! The host computer and the hardware behind two queues (Ullner 1983, §2.3.1), replayed in time.
//!
//! The first queue has rays for the hardware, the second its results. The host runs two tasks: when
//! there are results it shades one, which may give the sample's next ray; otherwise it emits the
//! vision ray of the next sample. Rays of different samples do not depend on each other, so results
//! come in any order. Rays that find the first queue full wait in the host's memory, and it emits no
//! vision rays meanwhile: then the two queues cannot block each other.

pub mod config;

use super::calendar::Calendar;
use super::events::{Picoseconds, Queue, picoseconds};
use super::ray::RayKind;
use super::recording::{Recording, Traced};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The times of the host's tasks, in microseconds, and the capacities of its queues.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct HostTimes {
    /// Making a vision ray.
    pub emit: f64,
    /// Shading a hit or a miss, with the ray that follows from it.
    pub shade: f64,
    /// Taking notice of a shadow ray's result.
    pub shadow: f64,
    /// Rays that the first queue holds.
    pub rays: u32,
    /// Results that the second queue holds.
    pub results: u32,
}

/// The times that a ray takes in the hardware model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// From its start until the hardware takes the next ray.
    pub occupancy: Picoseconds,
    /// From its start until its result.
    pub latency: Picoseconds,
}

/// How a replay went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Until the last sample is done.
    pub total: Picoseconds,
    /// The host works.
    pub host_busy: Picoseconds,
    /// The hardware is occupied by rays.
    pub hardware_busy: Picoseconds,
    /// The hardware waits for room in the second queue.
    pub hardware_blocked: Picoseconds,
    /// Most rays in the first queue.
    pub rays_peak: usize,
    /// Most results in the second.
    pub results_peak: usize,
    /// Most rays that wait in the host's memory.
    pub waiting_peak: usize,
    /// Most samples that are started and not done.
    pub samples_peak: usize,
    /// Results that come after one of a sample that was started later.
    pub out_of_order: u64,
}

enum Event {
    /// The host's task ends.
    HostDone(Task),
    /// The hardware can take a ray.
    HardwareFree,
    /// A ray's result is ready.
    Ready(Ray),
}

/// A ray by its sample and its number among the sample's rays.
#[derive(Clone, Copy)]
struct Ray {
    sample: usize,
    number: u32,
}

enum Task {
    Emit(usize),
    Shade(Ray),
}

struct Replay<'a, S> {
    recording: &'a Recording,
    times: HostTimes,
    service: S,
    agenda: Calendar<Event>,
    rays: Queue<Ray>,
    results: Queue<Ray>,
    /// Rays for which the first queue has no room.
    waiting: VecDeque<Ray>,
    /// Results for which the second has none.
    blocked: VecDeque<Ray>,
    blocked_since: Picoseconds,
    host_idle: bool,
    hardware_idle: bool,
    /// The time of the last result: results leave in the order of their rays.
    last_result: Picoseconds,
    next_sample: usize,
    active: usize,
    latest: usize,
    timeline: Timeline,
}

/// Replays a recording; `service` gives what a ray takes.
pub fn replay(recording: &Recording, times: HostTimes, service: impl Fn(&Traced) -> Service) -> Timeline {
    let mut replay = Replay {
        recording,
        times,
        service,
        agenda: Calendar::default(),
        rays: Queue::new(times.rays.max(1) as usize),
        results: Queue::new(times.results.max(1) as usize),
        waiting: VecDeque::new(),
        blocked: VecDeque::new(),
        blocked_since: 0,
        host_idle: true,
        hardware_idle: true,
        last_result: 0,
        next_sample: 0,
        active: 0,
        latest: 0,
        timeline: Timeline::default(),
    };
    replay.run();
    replay.timeline
}

impl<S: Fn(&Traced) -> Service> Replay<'_, S> {
    fn run(&mut self) {
        self.start_host();
        while let Some(event) = self.agenda.pop() {
            match event {
                Event::HostDone(task) => {
                    self.host_idle = true;
                    self.finish(&task);
                }
                Event::HardwareFree => self.hardware_idle = true,
                Event::Ready(ray) => {
                    if let Err(ray) = self.results.push(ray) {
                        if self.blocked.is_empty() {
                            self.blocked_since = self.agenda.now();
                        }
                        self.blocked.push_back(ray);
                    }
                }
            }
            self.start_host();
            self.start_hardware();
        }
        self.timeline.total = self.agenda.now();
        self.timeline.rays_peak = self.rays.peak();
        self.timeline.results_peak = self.results.peak();
    }

    fn finish(&mut self, task: &Task) {
        let (sample, next) = match *task {
            Task::Emit(sample) => (sample, 0),
            Task::Shade(ray) => (ray.sample, ray.number + 1),
        };
        if next < self.recording.samples[sample].count {
            self.waiting.push_back(Ray { sample, number: next });
            self.timeline.waiting_peak = self.timeline.waiting_peak.max(self.waiting.len());
        } else {
            self.active -= 1;
        }
    }

    /// Moves rays to the first queue, and gives the host its next task.
    fn start_host(&mut self) {
        while let Some(ray) = self.waiting.pop_front() {
            if let Err(ray) = self.rays.push(ray) {
                self.waiting.push_front(ray);
                break;
            }
        }
        if !self.host_idle {
            return;
        }
        let (task, time) = if let Some(ray) = self.results.pop() {
            if let Some(blocked) = self.blocked.pop_front() {
                // There is room: the result before it was taken.
                self.results.push(blocked).ok();
                if self.blocked.is_empty() {
                    self.timeline.hardware_blocked += self.agenda.now() - self.blocked_since;
                }
            }
            self.timeline.out_of_order += u64::from(ray.sample < self.latest);
            self.latest = self.latest.max(ray.sample);
            let time = match self.traced(ray).request.kind {
                RayKind::Nearest => self.times.shade,
                RayKind::Any => self.times.shadow,
            };
            (Task::Shade(ray), time)
        } else if self.waiting.is_empty() && self.rays.has_room() && self.next_sample < self.recording.samples.len() {
            let sample = self.next_sample;
            self.next_sample += 1;
            self.active += 1;
            self.timeline.samples_peak = self.timeline.samples_peak.max(self.active);
            (Task::Emit(sample), self.times.emit)
        } else {
            return;
        };
        let time = picoseconds(time);
        self.host_idle = false;
        self.timeline.host_busy += time;
        self.agenda.after(time, Event::HostDone(task));
    }

    fn start_hardware(&mut self) {
        if !self.hardware_idle || !self.blocked.is_empty() {
            return;
        }
        let Some(ray) = self.rays.pop() else { return };
        let Service { occupancy, latency } = (self.service)(self.traced(ray));
        let now = self.agenda.now();
        self.hardware_idle = false;
        self.timeline.hardware_busy += occupancy;
        self.last_result = self.last_result.max(now + latency);
        self.agenda.after(occupancy, Event::HardwareFree);
        self.agenda.after(self.last_result - now, Event::Ready(ray));
        // Its place in the queue is free.
        self.start_host();
    }

    fn traced(&self, ray: Ray) -> &Traced {
        &self.recording.get(&self.recording.samples[ray.sample])[ray.number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rays::ray::Request;
    use crate::rays::recording::{SampleRays, Work};
    use glam::Vec3;
    use shadewright_image::Image;
    use shadewright_render::rpu::traced::SampleNumber;

    /// Samples of so many rays each, the last of each a shadow ray.
    fn recording(counts: &[u32]) -> Recording {
        let image = Image::new(1, 1, vec![[0.0; 4]]).expect("an image");
        let mut recording = Recording { image, samples: Vec::new(), rays: Vec::new() };
        for &count in counts {
            let sample = SampleNumber { pixel: [0, 0], index: 0 };
            recording.samples.push(SampleRays { sample, first: recording.rays.len() as u32, count });
            for number in 0..count {
                let kind = if number + 1 == count { RayKind::Any } else { RayKind::Nearest };
                let request = Request { origin: Vec3::ZERO, direction: Vec3::Z, limit: 1.0, kind };
                recording.rays.push(Traced { request, hit: None, work: Work::default() });
            }
        }
        recording
    }

    const TIMES: HostTimes = HostTimes { emit: 1.0, shade: 2.0, shadow: 0.5, rays: 4, results: 4 };

    #[test]
    fn one_sample_takes_the_sum_of_its_parts() {
        let service = |_: &Traced| Service { occupancy: picoseconds(3.0), latency: picoseconds(10.0) };
        let timeline = replay(&recording(&[3]), TIMES, service);
        // Emit, three rays, two shaded, one shadow ray.
        assert_eq!(timeline.total, picoseconds(1.0 + 3.0 * 10.0 + 2.0 * 2.0 + 0.5));
        assert_eq!(timeline.host_busy, picoseconds(1.0 + 4.0 + 0.5));
        assert_eq!(timeline.hardware_busy, picoseconds(9.0));
    }

    #[test]
    fn the_slower_of_host_and_hardware_sets_the_rate() {
        let recording = recording(&[2; 200]);
        let hardware =
            |us: f64| move |_: &Traced| Service { occupancy: picoseconds(us), latency: picoseconds(us + 5.0) };
        let slow = replay(&recording, TIMES, hardware(20.0));
        let busy = 400.0 * 20.0;
        assert!((busy..busy + 40.0).contains(&(slow.total as f64 * 1e-6)), "{slow:?}");
        let fast = replay(&recording, TIMES, hardware(0.1));
        assert_eq!(fast.host_busy, picoseconds(200.0 * 3.5));
        assert!(fast.total <= fast.host_busy + picoseconds(20.0), "{fast:?}");
        assert!(fast.out_of_order == 0 || fast.samples_peak > 1);
    }

    #[test]
    fn full_queues_on_both_sides_come_to_an_end() {
        let times = HostTimes { rays: 1, results: 1, ..TIMES };
        let counts: Vec<u32> = (0..300).map(|i| i % 5).collect();
        let service = |_: &Traced| Service { occupancy: picoseconds(0.01), latency: picoseconds(30.0) };
        let timeline = replay(&recording(&counts), times, service);
        let shaded: f64 = counts.iter().map(|&n| 1.0 + if n > 0 { 2.0 * f64::from(n - 1) + 0.5 } else { 0.0 }).sum();
        assert_eq!(timeline.host_busy, picoseconds(shaded));
        assert!(timeline.hardware_blocked > 0 && timeline.out_of_order > 0 && timeline.samples_peak > 1);
        assert_eq!((timeline.rays_peak, timeline.results_peak), (1, 1));
    }
}
