//! Weights of squares in the pixels around them: integrals of the pixel filter.

use crate::filter;
use shadewright_scene::PixelFilter;

/// Points along each side of a table's cell at which the filter is evaluated.
const POINTS: i64 = 4;

/// Most cells along a side of a table.
const MAX_SIDE: f32 = 1024.0;

/// Integrals of a pixel filter over squares of the lattice. A unit of the lattice is `1 / 2^depth`
/// of a pixel.
#[derive(Clone, Debug)]
pub struct Weights {
    /// Lattice units of a pixel's side.
    pixel: i64,
    /// Lattice units of a cell's side, 1 unless the filter is very wide.
    cell: i64,
    /// The table's left and upper border, from the upper left corner of the pixel, in cells.
    first: [i64; 2],
    /// Cells across and down.
    size: [i64; 2],
    /// Sums over all cells above and to the left of each corner of a cell (Crow 1984), in units of a
    /// pixel's area.
    sums: Vec<f64>,
}

impl Weights {
    /// The table of a filter on the lattice of a depth.
    pub fn new(filter: PixelFilter, depth: u32) -> Self {
        let width = filter.width[0].max(filter.width[1]);
        let table = (0..=depth).rev().find(|&t| width * (1 << t) as f32 <= MAX_SIDE).unwrap_or(0);
        let cells = 1i64 << table;
        let border = filter.width.map(|w| {
            let half = 0.5 * f64::from(w);
            let at = |share: f64| share * cells as f64;
            [at(0.5 - half).floor() as i64, at(0.5 + half).ceil() as i64]
        });
        let first = border.map(|[first, _]| first);
        let size = border.map(|[first, end]| end - first);
        let row = (size[0] + 1) as usize;
        let mut sums = vec![0.0; row * (size[1] + 1) as usize];
        for y in 0..size[1] as usize {
            let mut of_row = 0.0;
            for x in 0..size[0] as usize {
                of_row += mean(filter, [first[0] + x as i64, first[1] + y as i64], cells);
                sums[(y + 1) * row + x + 1] = sums[y * row + x + 1] + of_row / (cells * cells) as f64;
            }
        }
        Self { pixel: 1 << depth, cell: 1 << (depth - table), first, size, sums }
    }

    /// Pixels to the left and above, and as many to the right and below, whose squares a pixel needs.
    pub fn margin(&self) -> [u32; 2] {
        let cells = self.pixel / self.cell;
        self.first.map(|first| u32::try_from((-first + cells - 1) / cells).unwrap_or(0))
    }

    /// The first pixel and the one after the last, along an axis, in which a square has a weight;
    /// pixels and squares are counted from the same origin.
    pub fn pixels(&self, axis: usize, start: u32, side: u32) -> [i64; 2] {
        let [low, high] = [self.first[axis], self.first[axis] + self.size[axis]].map(|border| border * self.cell);
        let (start, end) = (i64::from(start), i64::from(start) + i64::from(side));
        let first = (start - high).div_euclid(self.pixel) + 1;
        let last = -(low - end).div_euclid(self.pixel);
        [first, last]
    }

    /// The weight in a pixel of a square whose upper left corner is at these coordinates from the
    /// pixel's.
    pub fn weight(&self, [x, y]: [i64; 2], side: u32) -> f64 {
        let side = i64::from(side);
        let [left, top] = [x, y].map(|start| start.div_euclid(self.cell));
        let cells = (side / self.cell).max(1);
        // Squares smaller than a cell have their share of it.
        let share = if side < self.cell { (side * side) as f64 / (self.cell * self.cell) as f64 } else { 1.0 };
        let sum = |x: i64, y: i64| {
            let clamped = |at: i64, axis: usize| (at - self.first[axis]).clamp(0, self.size[axis]);
            self.sums[(clamped(y, 1) * (self.size[0] + 1) + clamped(x, 0)) as usize]
        };
        let (right, bottom) = (left + cells, top + cells);
        share * (sum(right, bottom) - sum(left, bottom) - sum(right, top) + sum(left, top))
    }
}

/// The mean of a filter over a cell, of which there are `cells` along a pixel.
fn mean(filter: PixelFilter, [column, row]: [i64; 2], cells: i64) -> f64 {
    let at = |cell: i64, i: i64| (cell as f64 + (i as f64 + 0.5) / POINTS as f64) / cells as f64 - 0.5;
    let points = (0..POINTS).flat_map(|j| (0..POINTS).map(move |i| (i, j)));
    let sum: f64 = points.map(|(i, j)| filter::value(filter, at(column, i), at(row, j))).sum();
    sum / (POINTS * POINTS) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_scene::FilterKind;

    fn filter(kind: FilterKind, width: f32) -> PixelFilter {
        PixelFilter { kind, width: [width, width] }
    }

    #[test]
    fn the_box_of_a_pixel_weights_squares_by_their_area() {
        let weights = Weights::new(PixelFilter::default(), 3);
        assert_eq!(weights.margin(), [0, 0]);
        assert_eq!(
            (weights.weight([0, 0], 8), weights.weight([4, 6], 2), weights.weight([7, 7], 1)),
            (1.0, 1.0 / 16.0, 1.0 / 64.0)
        );
        assert_eq!((weights.weight([8, 0], 8), weights.weight([-8, 0], 8)), (0.0, 0.0));
        assert_eq!((weights.pixels(0, 40, 8), weights.pixels(1, 47, 1)), ([5, 6], [5, 6]));
    }

    #[test]
    fn a_box_of_two_pixels_reaches_half_of_each_neighbor() {
        let weights = Weights::new(filter(FilterKind::Box, 2.0), 1);
        assert_eq!(weights.margin(), [1, 1]);
        assert_eq!(weights.weight([-2, 0], 2), 0.5);
        assert_eq!((weights.weight([-2, 0], 1), weights.weight([-1, 0], 1)), (0.0, 0.25));
        // The left half of pixel 5 lies in pixels 4 and 5, its right half in 5 and 6.
        assert_eq!(
            (weights.pixels(0, 10, 1), weights.pixels(0, 11, 1), weights.pixels(0, 10, 2)),
            ([4, 6], [5, 7], [4, 7])
        );
    }

    #[test]
    fn weights_of_all_squares_of_one_size_have_the_same_sum() {
        for (name, kind) in FilterKind::ALL {
            let weights = Weights::new(filter(kind, 3.3), 3);
            let sum = |side: u32| -> f64 {
                let starts = || (-32..32).step_by(side as usize);
                starts().flat_map(|y| starts().map(move |x| [x, y])).map(|at| weights.weight(at, side)).sum()
            };
            assert!((sum(8) - sum(1)).abs() < 1e-9 && sum(1) > 0.1, "{name}: {} {}", sum(8), sum(1));
        }
    }

    #[test]
    fn squares_smaller_than_a_cell_of_a_wide_table_have_their_share() {
        let weights = Weights::new(filter(FilterKind::Gaussian, 64.0), 6);
        assert_eq!((weights.cell, weights.margin()), (4, [32, 32]));
        let whole = weights.weight([0, 0], 64);
        let parts: f64 = (0..64 * 64).map(|i| weights.weight([i % 64, i / 64], 1)).sum();
        assert!((parts / whole - 1.0).abs() < 1e-9 && whole > 0.9, "{parts} {whole}");
    }
}
