//! Scenes that are larger than the hardware's memory (Ullner 1983, §2.6): a recording replayed with
//! the scene on a disk, cut into subvolumes.
//!
//! A subvolume is resident as a whole or not at all. [`paging`] brings the subvolumes to the rays,
//! [`swapping`] the rays to the subvolumes.

pub mod paging;
mod sections;
pub mod swapping;

pub use sections::sections;

use super::events::{Picoseconds, picoseconds};
use super::grid::{Grid, Lattice, Walk};
use super::model::Model;
use super::polygon::WORDS;
use super::ray::RayKind;
use super::recording::{Recording, Traced};
use super::volumes::StructureError;
use super::volumes::bounds::Bounds;
use serde::{Deserialize, Serialize};
use shadewright_base::text::settings::SettingsError;

/// Most entries in the lists of the subvolumes together.
const MOST_ENTRIES: usize = 1 << 27;

/// Bytes of a polygon on the disk: its parameters.
pub const POLYGON_BYTES: u64 = 4 * WORDS as u64;

/// The memory, the subvolumes and the disk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Capacity {
    /// Polygons that the memory holds; 0 for all.
    pub polygons: u32,
    /// Subvolumes on an axis.
    pub subvolumes: u32,
    /// Samples that are traced at a time: while one waits for the disk, others go on.
    pub samples: u32,
    /// How many samples ahead the subvolumes of vision rays are fetched; 0 for none.
    pub prefetch: u32,
    /// Until the disk has found a subvolume, in microseconds.
    pub seek: f64,
    /// Bytes that the disk transfers in a microsecond.
    pub rate: f64,
}

impl Capacity {
    /// Checks the range of every number.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn check(&self) -> Result<(), SettingsError> {
        SettingsError::check("memory.subvolumes", self.subvolumes, 1, 64)?;
        SettingsError::check("memory.samples", self.samples, 1, 1 << 16)?;
        SettingsError::check("memory.prefetch", self.prefetch, 0, 1 << 20)?;
        SettingsError::check("memory.seek", self.seek, 0.0, 1e9)?;
        SettingsError::check("memory.rate", self.rate, 1e-6, 1e9)
    }

    /// The time of transferring so many bytes.
    fn transfer(&self, bytes: u64) -> Picoseconds {
        picoseconds(bytes as f64 / self.rate)
    }

    /// The time of loading a subvolume with so many polygons.
    fn load(&self, polygons: u32) -> Picoseconds {
        picoseconds(self.seek) + self.transfer(u64::from(polygons) * POLYGON_BYTES)
    }
}

/// A scene cut into subvolumes.
#[derive(Debug)]
pub struct Subvolumes {
    lattice: Lattice,
    /// The polygons' memory that each subvolume takes.
    pub polygons: Vec<u32>,
}

impl Subvolumes {
    /// The subvolumes of a model, so many on each axis.
    ///
    /// # Errors
    /// When there are too many, or there is no polygon.
    pub fn new(model: &Model, on_axis: u32) -> Result<Self, StructureError> {
        let extents = model.extents();
        let lattice = Lattice::new(Bounds::around(&extents)?, [on_axis; 3])?;
        let grid = Grid::new(lattice, &extents, MOST_ENTRIES)?;
        let cell = |index: u32| [index % on_axis, index / on_axis % on_axis, index / on_axis / on_axis];
        let weight = |list: &[u32]| list.iter().map(|&primitive| model.weight(primitive)).sum();
        let polygons = (0..on_axis.pow(3)).map(|index| weight(grid.polygons(cell(index)))).collect();
        Ok(Self { lattice, polygons })
    }

    /// The subvolumes with polygons that a ray enters up to its hit, in order.
    pub fn path(&self, ray: &Traced) -> Vec<u32> {
        let end = match (ray.hit, ray.request.kind) {
            (Some(hit), RayKind::Nearest | RayKind::Any) => hit.t,
            (None, _) => ray.request.limit,
        };
        self.path_to(ray, end)
    }

    /// The same up to a distance.
    fn path_to(&self, ray: &Traced, end: f32) -> Vec<u32> {
        let mut path = Vec::new();
        let Some(mut walk) = Walk::start(&self.lattice, &ray.request) else { return path };
        loop {
            let [x, y, z] = walk.cell();
            let on_axis = self.lattice.counts()[0];
            let index = x + on_axis * (y + on_axis * z);
            if self.polygons[index as usize] > 0 {
                path.push(index);
            }
            if walk.settles(end) || walk.advance().is_none() {
                return path;
            }
        }
    }
}

/// The time for which the hardware model computes on a ray in each subvolume of its path.
fn share(recording: &Recording, ray: usize, parts: usize, service: &dyn Fn(&Traced) -> Picoseconds) -> Picoseconds {
    service(&recording.rays[ray]) / parts.max(1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rays::polygon::{Polygon, Sides};
    use crate::rays::ray::{ModelHit, Request};
    use crate::rays::recording::{SampleRays, Work};
    use glam::Vec3;
    use shadewright_image::Image;
    use shadewright_render::rpu::traced::SampleNumber;

    pub const CAPACITY: Capacity =
        Capacity { polygons: 1000, subvolumes: 4, samples: 4, prefetch: 0, seek: 0.01, rate: 100.0 };

    /// Squares across the z axis at sixteen depths, four to a depth.
    pub fn model() -> Model {
        let mut model = Model::default();
        for square in 0..64u32 {
            let (x, y) = ((square % 2) as f32 * 2.0, (square / 2 % 2) as f32 * 2.0);
            let at = |u: f32, v: f32| Vec3::new(x + 1.9 * u, y + 1.9 * v, (square / 4) as f32 * 0.25);
            let corners = [at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)];
            model.add_polygon(Polygon::from_quad(corners, Sides::Two).expect("a square"), corners);
        }
        model
    }

    /// Samples whose vision rays cross the squares from one side to the other, and whose second rays
    /// come back. From one sample to the next, x goes on by `step` places.
    pub fn crossing(samples: u32, step: u32) -> (Recording, Subvolumes) {
        let image = Image::new(1, 1, vec![[0.0; 4]]).expect("an image");
        let mut recording = Recording { image, samples: Vec::new(), rays: Vec::new() };
        for number in 0..samples {
            let x = 4.0 * (number * step % samples) as f32 / samples as f32;
            let sample = SampleNumber { pixel: [0, 0], index: number };
            recording.samples.push(SampleRays { sample, first: 2 * number, count: 2 });
            for (z, direction) in [(-1.0, Vec3::Z), (5.0, -Vec3::Z)] {
                let (origin, limit) = (Vec3::new(x, 1.0, z), f32::INFINITY);
                let request = Request { origin, direction, limit, kind: RayKind::Nearest };
                let hit = (number % 3 == 0).then_some(ModelHit { index: 0, t: 3.0, point: [0.0; 3] });
                recording.rays.push(Traced { request, hit, work: Work::default() });
            }
        }
        (recording, Subvolumes::new(&model(), 4).expect("subvolumes"))
    }

    #[test]
    fn the_path_of_a_ray_ends_at_its_hit() {
        let (recording, subvolumes) = crossing(6, 1);
        let (short, long) = (subvolumes.path(&recording.rays[0]), subvolumes.path(&recording.rays[2]));
        assert!(short.len() < long.len() && long.len() == 4, "{short:?} {long:?}");
        assert!(long.windows(2).all(|pair| pair[1] == pair[0] + 16), "{long:?}");
    }
}
