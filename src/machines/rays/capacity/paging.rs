//! Demand paging with prefetch: subvolumes come from the disk when a ray enters them.
//!
//! Some samples are under way at a time; one whose ray enters a subvolume that is not resident is
//! suspended, and the others go on. Vision rays come in a fixed order, so their subvolumes can be
//! fetched before they are needed: those that the vision ray of a later sample would enter if it went
//! as far as the present one.

use super::{Capacity, POLYGON_BYTES, Subvolumes, share};
use crate::rays::events::Picoseconds;
use crate::rays::recording::{Recording, Traced};
use std::collections::VecDeque;

/// How a replay with paging went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paged {
    /// Subvolumes that rays entered, one after the other.
    pub visits: u64,
    /// Visits for which a ray was suspended.
    pub misses: u64,
    /// Subvolumes that were loaded on demand.
    pub demand_loads: u64,
    /// Subvolumes that were prefetched.
    pub prefetches: u64,
    /// Of those, the ones that a ray entered before they were evicted.
    pub useful_prefetches: u64,
    /// Bytes from the disk.
    pub bytes: u64,
    /// Time in which the hardware computes.
    pub busy: Picoseconds,
    /// Time until the last sample is done.
    pub total: Picoseconds,
}

/// A subvolume does not fit into the memory by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a subvolume has {polygons} polygons and the memory holds {memory}: use more subvolumes or more memory")]
pub struct TooLarge {
    /// Polygons of the largest subvolume.
    pub polygons: u32,
    /// Polygons that the memory holds.
    pub memory: u32,
}

/// A sample that is under way.
struct Active {
    sample: usize,
    /// The number of its ray, among the sample's.
    number: u32,
    path: Vec<u32>,
    at: usize,
    /// True if it was counted as suspended where it is.
    suspended: bool,
}

/// A subvolume's place in memory.
#[derive(Clone, Copy, Default)]
struct Page {
    resident: bool,
    /// It is in the disk's queue, or on its way.
    wanted: bool,
    last_used: u64,
    prefetched: bool,
}

struct Replay<'a> {
    recording: &'a Recording,
    subvolumes: &'a Subvolumes,
    capacity: Capacity,
    service: &'a dyn Fn(&Traced) -> Picoseconds,
    pages: Vec<Page>,
    used: u64,
    active: Vec<Active>,
    next_sample: usize,
    demand: VecDeque<u32>,
    ahead: VecDeque<u32>,
    /// The subvolume on its way, and when it arrives.
    loading: Option<(u32, Picoseconds)>,
    now: Picoseconds,
    clock: u64,
    result: Paged,
}

/// Replays a recording; `service` gives the time that a ray takes with the scene in memory.
///
/// # Errors
/// When a subvolume is larger than the memory.
pub fn replay(
    recording: &Recording,
    subvolumes: &Subvolumes,
    capacity: Capacity,
    service: &dyn Fn(&Traced) -> Picoseconds,
) -> Result<Paged, TooLarge> {
    let memory = capacity.polygons;
    let polygons = subvolumes.polygons.iter().copied().max().unwrap_or(0);
    if polygons > memory {
        return Err(TooLarge { polygons, memory });
    }
    let mut replay = Replay {
        recording,
        subvolumes,
        capacity,
        service,
        pages: vec![Page::default(); subvolumes.polygons.len()],
        used: 0,
        active: Vec::new(),
        next_sample: 0,
        demand: VecDeque::new(),
        ahead: VecDeque::new(),
        loading: None,
        now: 0,
        clock: 0,
        result: Paged::default(),
    };
    replay.run();
    Ok(replay.result)
}

impl Replay<'_> {
    fn run(&mut self) {
        loop {
            while self.active.len() < self.capacity.samples as usize && self.start_sample() {}
            if self.active.is_empty() {
                break;
            }
            self.arrive();
            let ready = self.active.iter().position(|a| self.pages[a.path[a.at] as usize].resident);
            match ready {
                Some(index) => self.step(index),
                None => self.wait(),
            }
        }
        self.result.total = self.now;
    }

    /// Starts the next sample that has a ray which enters a subvolume.
    fn start_sample(&mut self) -> bool {
        while self.next_sample < self.recording.samples.len() {
            let sample = self.next_sample;
            self.next_sample += 1;
            self.look_ahead(sample);
            let mut active = Active { sample, number: 0, path: Vec::new(), at: 0, suspended: false };
            if self.find_path(&mut active) {
                self.active.push(active);
                return true;
            }
        }
        false
    }

    /// The path of the sample's first ray from its present one on that enters a subvolume.
    fn find_path(&self, active: &mut Active) -> bool {
        let rays = self.recording.get(&self.recording.samples[active.sample]);
        while let Some(ray) = rays.get(active.number as usize) {
            (active.path, active.at, active.suspended) = (self.subvolumes.path(ray), 0, false);
            if !active.path.is_empty() {
                return true;
            }
            active.number += 1;
        }
        false
    }

    /// Asks for the subvolumes of a later vision ray.
    fn look_ahead(&mut self, sample: usize) {
        let first = |sample: usize| {
            let sample = self.recording.samples.get(sample)?;
            self.recording.get(sample).first()
        };
        let (Some(present), Some(later)) = (first(sample), first(sample + self.capacity.prefetch as usize)) else {
            return;
        };
        if self.capacity.prefetch == 0 {
            return;
        }
        let end = present.hit.map_or(f32::INFINITY, |hit| hit.t);
        for subvolume in self.subvolumes.path_to(later, end) {
            let page = &mut self.pages[subvolume as usize];
            if !page.resident && !page.wanted {
                page.wanted = true;
                self.ahead.push_back(subvolume);
            }
        }
    }

    /// Takes in what has arrived, and gives the disk its next task.
    fn arrive(&mut self) {
        if let Some((subvolume, at)) = self.loading
            && at <= self.now
        {
            self.loading = None;
            let page = &mut self.pages[subvolume as usize];
            (page.resident, page.wanted, page.last_used) = (true, false, self.clock);
        }
        for active in &mut self.active {
            let subvolume = active.path[active.at];
            let page = &mut self.pages[subvolume as usize];
            if page.resident {
                continue;
            }
            if !active.suspended {
                active.suspended = true;
                self.result.misses += 1;
            }
            // One that waits for its prefetch goes before the others.
            let is_ahead = page.wanted && self.ahead.contains(&subvolume);
            if !page.wanted || is_ahead {
                page.wanted = true;
                self.ahead.retain(|&other| other != subvolume);
                self.demand.push_back(subvolume);
            }
        }
        if self.loading.is_some() {
            return;
        }
        let demanded = self.demand.front().copied();
        let Some(subvolume) = demanded.or_else(|| self.ahead.front().copied()) else { return };
        if !self.make_room(self.subvolumes.polygons[subvolume as usize], demanded.is_some()) {
            return;
        }
        let polygons = self.subvolumes.polygons[subvolume as usize];
        self.pages[subvolume as usize].prefetched = demanded.is_none();
        match demanded {
            Some(_) => {
                self.demand.pop_front();
                self.result.demand_loads += 1;
            }
            None => {
                self.ahead.pop_front();
                self.result.prefetches += 1;
            }
        }
        self.used += u64::from(polygons);
        self.result.bytes += u64::from(polygons) * POLYGON_BYTES;
        self.loading = Some((subvolume, self.now + self.capacity.load(polygons)));
    }

    /// Evicts the subvolumes that were used longest ago, but not those that rays are in. Whether
    /// there is room then.
    fn make_room(&mut self, polygons: u32, is_demanded: bool) -> bool {
        let needed: Vec<u32> = self.active.iter().map(|a| a.path[a.at]).collect();
        while self.used + u64::from(polygons) > u64::from(self.capacity.polygons) {
            let candidates =
                (0..self.pages.len() as u32).filter(|s| self.pages[*s as usize].resident && !needed.contains(s));
            let Some(oldest) = candidates.min_by_key(|&s| self.pages[s as usize].last_used) else { return false };
            // What a prefetch would push out may not be younger than the samples that are under way.
            if !is_demanded && self.clock - self.pages[oldest as usize].last_used < u64::from(self.capacity.samples) {
                return false;
            }
            self.pages[oldest as usize] = Page::default();
            self.used -= u64::from(self.subvolumes.polygons[oldest as usize]);
        }
        true
    }

    /// A ray passes the subvolume that it is in.
    fn step(&mut self, index: usize) {
        let active = &mut self.active[index];
        let sample = &self.recording.samples[active.sample];
        let page = &mut self.pages[active.path[active.at] as usize];
        self.clock += 1;
        page.last_used = self.clock;
        self.result.useful_prefetches += u64::from(std::mem::take(&mut page.prefetched));
        let ray = (sample.first + active.number) as usize;
        let time = share(self.recording, ray, active.path.len(), self.service);
        self.now += time;
        self.result.busy += time;
        self.result.visits += 1;
        active.at += 1;
        active.suspended = false;
        if active.at < active.path.len() {
            return;
        }
        let mut active = self.active.remove(index);
        active.number += 1;
        if self.find_path(&mut active) {
            self.active.insert(index, active);
        }
    }

    /// No sample can go on before the disk has delivered.
    fn wait(&mut self) {
        if let Some((_, at)) = self.loading {
            self.now = self.now.max(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rays::capacity::tests::{CAPACITY, crossing};

    const TICK: Picoseconds = 1000;

    #[test]
    fn a_memory_that_holds_everything_loads_each_subvolume_once() {
        let (recording, subvolumes) = crossing(40, 1);
        let all: u32 = subvolumes.polygons.iter().sum();
        let capacity = Capacity { polygons: all, prefetch: 0, ..CAPACITY };
        let paged = replay(&recording, &subvolumes, capacity, &|_| TICK).expect("it fits");
        let entered = subvolumes.polygons.iter().filter(|n| **n > 0).count() as u64;
        assert!(paged.demand_loads <= entered && paged.demand_loads > 0);
        assert!(paged.total >= paged.busy && paged.visits >= 40);
    }

    #[test]
    fn less_memory_loads_more_and_prefetch_takes_waits_away() {
        let (recording, subvolumes) = crossing(400, 37);
        let all: u32 = subvolumes.polygons.iter().sum();
        let run = |polygons: u32, prefetch: u32| {
            let capacity = Capacity { polygons, prefetch, ..CAPACITY };
            replay(&recording, &subvolumes, capacity, &|_| 50 * TICK).expect("it fits")
        };
        let largest: u32 = subvolumes.polygons.iter().copied().max().unwrap_or(0);
        let (large, small) = (run(all, 0), run(5 * largest, 0));
        assert!(small.bytes > large.bytes, "{small:?} {large:?}");
        assert_eq!((small.visits, small.busy), (large.visits, large.busy));
        // Vision rays go slowly from one side to the other.
        let (recording, subvolumes) = crossing(400, 1);
        let run = |prefetch: u32| {
            let capacity = Capacity { polygons: all, prefetch, ..CAPACITY };
            replay(&recording, &subvolumes, capacity, &|_| 50 * TICK).expect("it fits")
        };
        let (large, ahead) = (run(0), run(40));
        assert!(ahead.misses < large.misses && ahead.useful_prefetches > 0, "{ahead:?} {large:?}");
        assert!(ahead.total <= large.total);
    }

    #[test]
    fn a_subvolume_larger_than_the_memory_is_an_error() {
        let (recording, subvolumes) = crossing(4, 1);
        let capacity = Capacity { polygons: 0, ..CAPACITY };
        assert!(replay(&recording, &subvolumes, capacity, &|_| TICK).is_err());
    }
}
