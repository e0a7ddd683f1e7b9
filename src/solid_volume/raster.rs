//! Rays along an axis of the world, with all their hits.

use super::surface::Surface;
use glam::Vec3;
use rayon::prelude::*;
use serde::Serialize;
use shadewright_bvh::binary::{Crossing, all_hits};
use shadewright_bvh::{Bvh, Ray};

/// How often a ray is cast that leaves the body more or less often than it enters it: one that meets
/// an edge hits both faces there.
const ATTEMPTS: usize = 8;

/// How far the next attempt lies from the one before, in cells.
const SHIFT: f64 = 1.0 / 128.0;

/// An axis of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

impl Axis {
    /// All three.
    pub const ALL: [Self; 3] = [Self::X, Self::Y, Self::Z];
}

/// The result of the rays of a raster.
#[derive(Clone, Debug, Serialize)]
pub struct Raster {
    /// The direction of the rays.
    pub axis: Axis,
    /// The volume.
    pub volume: f64,
    /// How many rays there are.
    pub rays: u64,
    /// How many of them do not leave the body as often as they enter it, wherever in their cell they
    /// lie: these count no length.
    pub unbalanced: u64,
}

/// Casts rays through the centers of about `rays` nearly square cells, which cover the body's
/// bounds: the volume is the sum of the lengths within the body, times the area of a cell (Ullner
/// 1983, §2.1).
pub fn cast(bvh: &Bvh, surface: &Surface, axis: Axis, rays: u32) -> Raster {
    let across = [Axis::ALL[(axis as usize + 1) % 3], Axis::ALL[(axis as usize + 2) % 3]];
    let (low, high) = surface.extent(axis);
    let ends = across.map(|axis| surface.extent(axis));
    let [width, height] = ends.map(|(low, high)| high - low);
    let columns = ((f64::from(rays) * width / height).sqrt().round() as u32).clamp(1, rays.max(1));
    let rows = (rays / columns).max(1);
    let cell = [width / f64::from(columns), height / f64::from(rows)];
    let margin = (high - low).max(width).max(height) / 16.0;
    let length_at = |row: u32, column: u32, crossings: &mut Vec<Crossing>| {
        let attempt = |attempt: usize| {
            // Not the center itself, which lies on the diagonals of symmetric meshes.
            let at = [0, 1].map(|i| {
                let shift = SHIFT * (attempt as f64 + generic(attempt)[i] - 0.5);
                ends[i].0 + cell[i] * (f64::from([column, row][i]) + 0.5 + shift)
            });
            let mut origin = Vec3::ZERO;
            origin[axis as usize] = (low - margin) as f32;
            [0, 1].into_iter().for_each(|i| origin[across[i] as usize] = at[i] as f32);
            Ray::new(origin, Vec3::AXES[axis as usize])
        };
        (0..ATTEMPTS).find_map(|k| {
            all_hits(bvh, &attempt(k), crossings);
            length_within(surface, crossings)
        })
    };
    let of_row = |row: u32| {
        let mut crossings = Vec::new();
        let mut sums = (0.0, 0);
        for column in 0..columns {
            match length_at(row, column, &mut crossings) {
                Some(length) => sums.0 += length,
                None => sums.1 += 1,
            }
        }
        sums
    };
    let by_row: Vec<(f64, u64)> = (0..rows).into_par_iter().map(of_row).collect();
    Raster {
        axis,
        volume: by_row.iter().map(|row| row.0).sum::<f64>() * cell[0] * cell[1],
        rays: u64::from(columns) * u64::from(rows),
        unbalanced: by_row.iter().map(|row| row.1).sum(),
    }
}

/// The length at which a ray is in positive net volume, in lengths of its direction; `None` where
/// the net volume is not zero after its last crossing.
fn length_within(surface: &Surface, crossings: &[Crossing]) -> Option<f64> {
    let (mut net, mut since, mut length) = (0, 0.0, 0.0);
    for crossing in crossings {
        let t = f64::from(crossing.t);
        if net > 0 {
            length += t - since;
        }
        net += if surface.enters(crossing) { 1 } else { -1 };
        since = t;
    }
    (net == 0).then_some(length)
}

/// The members of a sequence that fills the unit square evenly, on no line that meshes have
/// (Roberts 2018, the sequence R₂).
pub fn generic(index: usize) -> [f64; 2] {
    const STEP: [f64; 2] = [0.754_877_666_246_692_8, 0.569_840_290_998_053_2];
    STEP.map(|step| (0.5 + step * (index as f64 + 1.0)).fract())
}
