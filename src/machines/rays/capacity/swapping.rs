//! Ray swapping: one subvolume is resident, and rays that leave it wait on the disk.
//!
//! "When a ray enters a subvolume whose contents are currently on disk, instead of fetching the
//! subvolume from disk, the new approach stores the ray on the disk" (Ullner 1983, §2.6). The next
//! subvolume to load is the one for which most rays wait, of several the first.

use super::{Capacity, POLYGON_BYTES, Subvolumes, share};
use crate::rays::events::{Picoseconds, picoseconds};
use crate::rays::recording::{Recording, Traced};

/// Bytes of a ray on the disk: type, pixel, origin, direction and color.
pub const RAY_BYTES: u64 = 48;

/// How a replay with ray swapping went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swapped {
    /// Subvolumes that were loaded.
    pub loads: u64,
    /// Rays that were written to the disk, and read again.
    pub spilled: u64,
    /// Bytes to and from the disk.
    pub bytes: u64,
    /// Most rays on the disk at a time.
    pub peak: u64,
    /// Time in which the hardware computes.
    pub busy: Picoseconds,
    /// Time of the disk.
    pub disk: Picoseconds,
}

impl Swapped {
    /// The time until the image is complete: computing and the disk, one after the other.
    pub fn total(&self) -> Picoseconds {
        self.busy + self.disk
    }
}

/// A ray that is not done: its sample, its number there, its path and where it is.
struct Waiting {
    sample: usize,
    number: u32,
    path: Vec<u32>,
    at: usize,
}

/// Replays a recording; `service` gives the time that a ray takes with the scene in memory.
pub fn replay(
    recording: &Recording,
    subvolumes: &Subvolumes,
    capacity: Capacity,
    service: &dyn Fn(&Traced) -> Picoseconds,
) -> Swapped {
    let mut result = Swapped::default();
    let mut waiting: Vec<Vec<Waiting>> = subvolumes.polygons.iter().map(|_| Vec::new()).collect();
    let mut on_disk = 0u64;
    // Vision rays are made when their subvolume is loaded: they do not wait on the disk.
    for sample in 0..recording.samples.len() {
        if let Some(ray) = next(recording, subvolumes, sample, 0) {
            waiting[ray.path[0] as usize].push(ray);
        }
    }
    let mut fresh: Vec<usize> = waiting.iter().map(Vec::len).collect();
    let most = |waiting: &[Vec<Waiting>]| {
        let longest = waiting.iter().map(Vec::len).max().filter(|&n| n > 0)?;
        waiting.iter().position(|w| w.len() == longest)
    };
    while let Some(subvolume) = most(&waiting) {
        let polygons = subvolumes.polygons[subvolume];
        let rays = std::mem::take(&mut waiting[subvolume]);
        let read = (rays.len() - std::mem::take(&mut fresh[subvolume]).min(rays.len())) as u64;
        on_disk -= read;
        result.loads += 1;
        let mut bytes = u64::from(polygons) * POLYGON_BYTES + read * RAY_BYTES;
        for mut ray in rays {
            // The ray, and those that follow from it, as long as they stay here.
            loop {
                while ray.path.get(ray.at) == Some(&(subvolume as u32)) {
                    let first = recording.samples[ray.sample].first;
                    result.busy += share(recording, (first + ray.number) as usize, ray.path.len(), service);
                    ray.at += 1;
                }
                if let Some(&to) = ray.path.get(ray.at) {
                    waiting[to as usize].push(ray);
                    result.spilled += 1;
                    on_disk += 1;
                    bytes += RAY_BYTES;
                    break;
                }
                match next(recording, subvolumes, ray.sample, ray.number + 1) {
                    Some(following) => ray = following,
                    None => break,
                }
            }
        }
        result.peak = result.peak.max(on_disk);
        result.bytes += bytes;
        result.disk += picoseconds(capacity.seek) + capacity.transfer(bytes);
    }
    result
}

/// The sample's first ray from a number on that enters a subvolume.
fn next(recording: &Recording, subvolumes: &Subvolumes, sample: usize, number: u32) -> Option<Waiting> {
    let rays = recording.get(&recording.samples[sample]);
    (number..rays.len() as u32).find_map(|number| {
        let path = subvolumes.path(&rays[number as usize]);
        (!path.is_empty()).then_some(Waiting { sample, number, path, at: 0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rays::capacity::paging;
    use crate::rays::capacity::tests::{CAPACITY, crossing};

    #[test]
    fn every_ray_is_traced_once_and_no_ray_stays_on_the_disk() {
        let (recording, subvolumes) = crossing(200, 1);
        let all: u32 = subvolumes.polygons.iter().sum();
        let swapped = replay(&recording, &subvolumes, CAPACITY, &|_| 12_000);
        let whole = Capacity { polygons: all, ..CAPACITY };
        let paged = paging::replay(&recording, &subvolumes, whole, &|_| 12_000).expect("it fits");
        assert_eq!(swapped.busy, paged.busy);
        assert!(swapped.spilled > 0 && swapped.peak > 0 && swapped.peak <= swapped.spilled);
    }

    #[test]
    fn rays_that_are_all_done_in_one_subvolume_load_it_once() {
        let (recording, _) = crossing(50, 1);
        let (_, one) = crossing(50, 1);
        let whole = Subvolumes {
            polygons: vec![one.polygons.iter().sum()],
            ..Subvolumes::new(&super::super::tests::model(), 1).expect("a subvolume")
        };
        let swapped = replay(&recording, &whole, CAPACITY, &|_| 12_000);
        assert_eq!((swapped.loads, swapped.spilled), (1, 0));
    }
}
