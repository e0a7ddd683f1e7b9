//! The cells of a grid.

use crate::rays::volumes::StructureError;
use crate::rays::volumes::bounds::Bounds;
use glam::DVec3;

/// The most cells on an axis: their numbers are exact as floats.
const MOST_ON_AXIS: u32 = 1 << 16;

/// The most cells: 256 MiB of starts of lists.
const MOST_CELLS: u64 = 1 << 26;

/// Equal cells on each axis of a box. Plane `i` of axis `k`, 0 to `n_k`, lies at `min_k + size_k·i`
/// (Ullner 1983, App. B); cells are counted from 0, while the thesis counts them from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    pub(super) min: [f32; 3],
    pub(super) size: [f32; 3],
    pub(super) counts: [u32; 3],
    margin: f32,
    bounds: Bounds,
}

impl Lattice {
    /// Divides a box, enlarged by its [margin](Bounds::margin), into `counts` cells along x, y and
    /// z.
    ///
    /// # Errors
    /// [`StructureError::Cells`] without a cell, beyond 2¹⁶ cells on an axis or 2²⁶ in all;
    /// [`StructureError::Coordinates`] if the box [is not valid](Bounds::is_valid).
    pub fn new(bounds: Bounds, counts: [u32; 3]) -> Result<Self, StructureError> {
        let cells = counts.iter().map(|&n| u64::from(n)).product::<u64>();
        if counts.iter().any(|n| !(1..=MOST_ON_AXIS).contains(n)) || cells > MOST_CELLS {
            return Err(StructureError::Cells { counts });
        }
        if !bounds.is_valid() {
            return Err(StructureError::Coordinates);
        }
        let margin = bounds.margin();
        let Bounds { min, max } = bounds.grown(margin);
        // Rounded up, so that the last plane is not before the end of the box.
        let size = [0, 1, 2].map(|k| ((f64::from(max[k]) - f64::from(min[k])) / f64::from(counts[k])) as f32);
        Ok(Self { min: min.to_array(), size: size.map(f32::next_up), counts, margin, bounds })
    }

    /// The number of cells on each axis.
    pub fn counts(&self) -> [u32; 3] {
        self.counts
    }

    /// The number of cells.
    pub fn cells(&self) -> usize {
        self.counts.iter().map(|&n| n as usize).product()
    }

    /// The box that is divided, without the margin.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// By how much cells are enlarged for overlap tests.
    pub fn margin(&self) -> f32 {
        self.margin
    }

    /// The number of a cell, with x fastest.
    #[inline]
    pub fn index(&self, [x, y, z]: [u32; 3]) -> usize {
        let [columns, rows, _] = self.counts.map(|n| n as usize);
        x as usize + columns * (y as usize + rows * z as usize)
    }

    /// The coordinate of a plane between cells, 0 to the number of cells.
    pub fn plane(&self, axis: usize, index: u32) -> f64 {
        f64::from(self.min[axis]) + f64::from(self.size[axis]) * f64::from(index)
    }

    /// The cell of a point; of a point outside, the nearest.
    pub fn cell_of(&self, point: DVec3) -> [u32; 3] {
        [0, 1, 2].map(|k| {
            let along = (point[k] - f64::from(self.min[k])) / f64::from(self.size[k]);
            (along.max(0.0) as u32).min(self.counts[k] - 1)
        })
    }
}
