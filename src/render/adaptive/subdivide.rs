//! Subdivision: from the corners of pixels to the samples and weights of a film.
//!
//! Rows of pixels are sampled in bands, so that memory is bounded. Pixels that are to be divided wait
//! until there are many; a group of them is then divided level by level. The samples on the borders
//! between a group and the pixels after it are kept until those are done.

use super::contrast::contrast;
use super::lattice::{Key, Known, key, point};
use super::weights::Weights;
use super::{AdaptiveSampler, Colors};
use crate::film::Film;
use crate::{Progress, RenderError};
use glam::Vec2;
use shadewright_bvh::raysets::place_in_tile;

/// Positions that are requested at once, at most.
const AT_ONCE: usize = 1 << 19;

/// Squares of the deepest level that are divided at once, at most: they and their samples take some
/// 200 bytes each.
const MOST_SQUARES: usize = 1 << 19;

/// Pixels along the sides of the tiles in whose order corners are requested.
const TILE: u32 = 8;

/// Counts of one image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Pixels of the window.
    pub pixels: u64,
    /// Samples traced.
    pub samples: u64,
    /// The most samples in one pixel, those on its border included.
    pub most: u32,
    /// Pixels that were divided.
    pub subdivided: u64,
    /// Divided pixels whose corners are similar: small objects lie over them.
    pub forced: u64,
}

impl Statistics {
    /// Samples traced for each pixel: less than those in it, as neighbors share samples.
    pub fn mean(&self) -> f64 {
        self.samples as f64 / self.pixels.max(1) as f64
    }
}

/// A square that is to be divided.
#[derive(Clone, Copy, Debug)]
struct Square {
    /// Column and row of its upper left corner on the lattice.
    at: [u32; 2],
    /// The pixel's index in the group.
    pixel: u32,
    /// The colors of its corners, row by row.
    corners: [[f32; 4]; 4],
}

/// A pixel of a group.
#[derive(Clone, Copy, Debug)]
struct Pixel {
    /// Column and row.
    at: [u32; 2],
    /// Samples in it.
    samples: u32,
}

/// An image that is being sampled. Pixels and the lattice are counted from the upper left corner of
/// the window with the filter's margin.
struct Subdivision<'a, 'c> {
    sampler: &'a AdaptiveSampler,
    weights: Weights,
    /// Pixels of the margin, across and down.
    margin: [u32; 2],
    /// Pixels of the window with its margin.
    size: [u32; 2],
    colors: Colors<'c>,
    film: Film,
    statistics: Statistics,
    /// Samples on borders of pixels that are not done.
    shared: Known,
    /// The pixels that wait, and their squares.
    pixels: Vec<Pixel>,
    squares: Vec<Square>,
}

/// Samples the window: see [`AdaptiveSampler::film`].
pub fn film(
    sampler: &AdaptiveSampler,
    colors: Colors<'_>,
    progress: Progress<'_>,
) -> Result<(Film, Statistics), RenderError> {
    let window = sampler.window;
    let film = Film::new(window.width, window.height)?;
    let weights = Weights::new(sampler.filter, sampler.settings.depth);
    let margin = weights.margin();
    let size = [window.width + 2 * margin[0], window.height + 2 * margin[1]];
    let statistics = Statistics { pixels: film.pixel_count() as u64, most: 4, ..Statistics::default() };
    let (shared, pixels, squares) = Default::default();
    let mut run = Subdivision { sampler, weights, margin, size, colors, film, statistics, shared, pixels, squares };
    run.image(progress)?;
    Ok((run.film, run.statistics))
}

impl Subdivision<'_, '_> {
    /// Samples all pixels, band by band.
    fn image(&mut self, progress: Progress<'_>) -> Result<(), RenderError> {
        let [width, height] = self.size;
        let row = width as usize + 1;
        let band = (AT_ONCE / row) as u32 / TILE * TILE;
        // At most so many that all squares below them can be held.
        let group = (MOST_SQUARES >> (2 * self.sampler.settings.depth.saturating_sub(1))).max(1);
        let mut above = self.corners([0, 1])?;
        for first in (0..height).step_by(band.max(TILE) as usize) {
            let end = height.min(first + band.max(TILE));
            let rows = self.corners([first + 1, end + 1])?;
            let of_row = |y: u32| match y.checked_sub(first + 1) {
                None => &above[..],
                Some(y) => &rows[y as usize * row..][..row],
            };
            for y in first..end {
                let (upper, lower) = (of_row(y), of_row(y + 1));
                for x in 0..width as usize {
                    self.pixel([x as u32, y], [upper[x], upper[x + 1], lower[x], lower[x + 1]]);
                    if self.pixels.len() >= group {
                        self.divide(y)?;
                    }
                }
                progress((y + 1) as f32 / height as f32);
            }
            above = rows[rows.len() - row..].to_vec();
        }
        self.divide(height)
    }

    /// The colors at the corners of pixels, row by row, for a range of rows of corners. They are
    /// requested tile by tile.
    fn corners(&mut self, [first, end]: [u32; 2]) -> Result<Vec<[f32; 4]>, RenderError> {
        let width = self.size[0] + 1;
        let mut points = Vec::with_capacity(width as usize * (end - first) as usize);
        for top in (first..end).step_by(TILE as usize) {
            for left in (0..width).step_by(TILE as usize) {
                let places = (0..(TILE * TILE) as usize).map(place_in_tile);
                let places = places.map(|[x, y]| [left + x as u32, top + y as u32]);
                points.extend(places.filter(|&[x, y]| x < width && y < end));
            }
        }
        let depth = self.sampler.settings.depth;
        let positions: Vec<_> = points.iter().map(|at| self.position(at.map(|k| k << depth))).collect();
        let mut colors = vec![[0.0; 4]; points.len()];
        for (&[x, y], color) in points.iter().zip(self.trace(&positions)?) {
            colors[(y - first) as usize * width as usize + x as usize] = color;
        }
        Ok(colors)
    }

    /// Adds a pixel to the film, or to those that wait.
    fn pixel(&mut self, at: [u32; 2], corners: [[f32; 4]; 4]) {
        let depth = self.sampler.settings.depth;
        let square = Square { at: at.map(|k| k << depth), pixel: self.pixels.len() as u32, corners };
        let differs = self.differs(&square);
        if depth == 0 || !(differs || self.is_forced(&square, at, 1 << depth)) {
            return self.add(&square, 1 << depth);
        }
        if self.is_inside(at) {
            self.statistics.subdivided += 1;
            self.statistics.forced += u64::from(!differs);
        }
        self.squares.push(square);
        self.pixels.push(Pixel { at, samples: 4 });
    }

    /// Divides the pixels that wait, level by level. Those of the rows before `row` are done then.
    fn divide(&mut self, row: u32) -> Result<(), RenderError> {
        let depth = self.sampler.settings.depth;
        let mut squares = std::mem::take(&mut self.squares);
        let mut pixels = std::mem::take(&mut self.pixels);
        for level in 1..=depth {
            let half = 1 << (depth - level);
            let known = self.midpoints(&squares, &mut pixels, half)?;
            let mut smaller = Vec::new();
            for square in &squares {
                for square in parts(square, &known, half) {
                    let at = pixels[square.pixel as usize].at;
                    if level < depth && (self.differs(&square) || self.is_forced(&square, at, half)) {
                        smaller.push(square);
                    } else {
                        self.add(&square, half);
                    }
                }
            }
            let on_border = |[x, y]: [u32; 2]| y >= row << depth && [x, y].iter().any(|k| k.trailing_zeros() >= depth);
            let new: Vec<_> = known.iter().filter(|(key, _)| on_border(point(*key))).collect();
            let new: Vec<_> = new.into_iter().filter(|(key, _)| self.shared.get(*key).is_none()).collect();
            self.shared.extend(new);
            squares = smaller;
            if squares.is_empty() {
                break;
            }
        }
        self.shared.retain(|[_, y]| y >= row << depth);
        let inside = pixels.iter().filter(|pixel| self.is_inside(pixel.at));
        self.statistics.most = inside.map(|pixel| pixel.samples).fold(self.statistics.most, u32::max);
        Ok(())
    }

    /// The samples in the middle of squares and of their sides, of which `half` is a half: those that
    /// are shared with pixels done before, and new ones. Counts them for their pixels.
    fn midpoints(&mut self, squares: &[Square], pixels: &mut [Pixel], half: u32) -> Result<Known, RenderError> {
        let middle = |square: &Square| MIDPOINTS.map(|offset| (midpoint(square.at, offset, half), square.pixel));
        let mut needed: Vec<(Key, u32)> = squares.iter().flat_map(middle).collect();
        needed.sort_unstable();
        needed.dedup();
        needed.iter().for_each(|(_, pixel)| pixels[*pixel as usize].samples += 1);
        needed.dedup_by_key(|(key, _)| *key);
        let mut known = Known::default();
        let mut new = Vec::new();
        let mut old = Vec::new();
        for (key, _) in needed {
            match self.shared.get(key) {
                Some(color) => old.push((key, color)),
                None => new.push(key),
            }
        }
        let positions: Vec<_> = new.iter().map(|&key| self.position(point(key))).collect();
        let colors = self.trace(&positions)?;
        known.extend(old.into_iter().chain(new.into_iter().zip(colors)));
        Ok(known)
    }

    /// The colors at positions.
    fn trace(&mut self, positions: &[Vec2]) -> Result<Vec<[f32; 4]>, RenderError> {
        let mut colors = Vec::with_capacity(positions.len());
        for positions in positions.chunks(AT_ONCE) {
            colors.extend((self.colors)(positions)?);
        }
        self.statistics.samples += positions.len() as u64;
        Ok(colors)
    }

    /// The raster position of a point. Exact, as are all of its steps: images have at most 2¹⁴ pixels
    /// a side.
    fn position(&self, at: [u32; 2]) -> Vec2 {
        let window = self.sampler.window;
        let scale = 1.0 / (1u32 << self.sampler.settings.depth) as f32;
        let along = |start: u32, margin: u32, at: u32| start as f32 - margin as f32 + at as f32 * scale;
        Vec2::new(along(window.x, self.margin[0], at[0]), along(window.y, self.margin[1], at[1]))
    }

    /// True if a pixel lies inside the window.
    fn is_inside(&self, [x, y]: [u32; 2]) -> bool {
        let inside = |at: u32, margin: u32, size: u32| (margin..size - margin).contains(&at);
        inside(x, self.margin[0], self.size[0]) && inside(y, self.margin[1], self.size[1])
    }

    /// True if the corners of a square differ.
    fn differs(&self, square: &Square) -> bool {
        contrast(&square.corners, self.sampler.exposure) > self.sampler.settings.threshold
    }

    /// True if a small object may lie between the corners of a square of pixel `pixel`.
    fn is_forced(&self, square: &Square, pixel: [u32; 2], side: u32) -> bool {
        if self.sampler.small.is_empty() {
            return false;
        }
        let window = self.sampler.window;
        let along = |start: u32, axis: usize| i64::from(start) + i64::from(pixel[axis]) - i64::from(self.margin[axis]);
        let low = self.position(square.at);
        let high = self.position(square.at.map(|k| k + side));
        self.sampler.small.force([along(window.x, 0), along(window.y, 1)], [low, high])
    }

    /// Adds the mean of a square's corners to the film.
    fn add(&mut self, square: &Square, side: u32) {
        let [a, b, c, d] = square.corners;
        let mean: [f32; 4] = std::array::from_fn(|k| 0.25 * ((a[k] + b[k]) + (c[k] + d[k])));
        let [columns, rows] = [0, 1].map(|axis| {
            let [first, end] = self.weights.pixels(axis, square.at[axis], side);
            let margin = i64::from(self.margin[axis]);
            first.max(margin)..end.min(i64::from(self.size[axis]) - margin)
        });
        let depth = self.sampler.settings.depth;
        let from = |axis: usize, pixel: i64| i64::from(square.at[axis]) - (pixel << depth);
        for row in rows {
            for column in columns.clone() {
                let weight = self.weights.weight([from(0, column), from(1, row)], side) as f32;
                if weight != 0.0 {
                    let [x, y] = [(column, 0), (row, 1)].map(|(at, axis)| (at - i64::from(self.margin[axis])) as u32);
                    self.film.add_weighted(x, y, 0, mean.map(|channel| channel * weight), weight);
                }
            }
        }
    }
}

/// Offsets of the midpoints of a square, in halves of its side: the upper side, the left side, the
/// middle, the right side, the lower side.
const MIDPOINTS: [[u32; 2]; 5] = [[1, 0], [0, 1], [1, 1], [2, 1], [1, 2]];

/// The number of the point at an offset.
fn midpoint([x, y]: [u32; 2], [dx, dy]: [u32; 2], half: u32) -> Key {
    key(x + dx * half, y + dy * half)
}

/// The four parts of a square.
fn parts(square: &Square, known: &Known, half: u32) -> [Square; 4] {
    let [a, b, c, d] = square.corners;
    // All midpoints of the squares of a level have been sampled.
    let [above, left, middle, right, below] =
        MIDPOINTS.map(|offset| known.get(midpoint(square.at, offset, half)).unwrap_or_default());
    let [x, y] = square.at;
    let part =
        |dx: u32, dy: u32, corners: [[f32; 4]; 4]| Square { at: [x + dx * half, y + dy * half], corners, ..*square };
    [
        part(0, 0, [a, above, left, middle]),
        part(1, 0, [above, b, middle, right]),
        part(0, 1, [left, middle, c, below]),
        part(1, 1, [middle, right, below, d]),
    ]
}
