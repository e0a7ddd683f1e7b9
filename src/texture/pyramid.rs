//! Mip maps (Williams 1983): an image and its halves, down to one texel.
//!
//! Each level is the average of the one before over exactly the area of its texels, in linear light
//! and premultiplied, so that the mean of the image stays the same whatever its size: where a side
//! is odd, three texels share in one.

use rayon::prelude::*;
use shadewright_image::Image;

/// Largest magnitude of a texel: averages of such values stay finite.
const MAX_TEXEL: f32 = 1e30;

/// One level: `width * height` texels, rows from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Texels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Linear red, green, blue, premultiplied; alpha.
    pub texels: Vec<[f32; 4]>,
}

/// An image's levels, the finest first, the last of one texel.
#[derive(Clone, Debug, PartialEq)]
pub struct Pyramid {
    /// The levels; at least one.
    pub levels: Vec<Level>,
    /// Channels of the file, 1 to 4; a gray one's value stands in red, green and blue.
    pub channels: u32,
}

impl Pyramid {
    /// The mip map of an image. Texels that are not finite become 0 (NaN) or ±10³⁰.
    pub fn new(image: Image) -> Self {
        let channels = image.channels.count();
        let mut texels = image.rgba;
        texels
            .par_iter_mut()
            .flatten()
            .for_each(|x| *x = if x.is_nan() { 0.0 } else { x.clamp(-MAX_TEXEL, MAX_TEXEL) });
        let mut levels = vec![Level { width: image.width, height: image.height, texels }];
        while let Some(next) = levels.last().and_then(Level::half) {
            levels.push(next);
        }
        Self { levels, channels }
    }

    /// The same texture without its finest level; `None` when there is only one.
    pub fn without_finest(&self) -> Option<Self> {
        let levels = self.levels.get(1..).filter(|l| !l.is_empty())?;
        Some(Self { levels: levels.to_vec(), channels: self.channels })
    }
}

impl Level {
    /// The next level: both sides halved, rounded down, at least 1; `None` behind a single texel.
    fn half(&self) -> Option<Self> {
        if self.width == 1 && self.height == 1 {
            return None;
        }
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let (old, wide, high) = (self.width as usize, width as usize, height as usize);
        let mut texels = vec![[0.0; 4]; wide * high];
        let columns = shares(self.width, width);
        let rows = shares(self.height, height);
        texels.par_chunks_mut(wide).zip(rows.par_iter()).for_each(|(out, row)| {
            for (texel, column) in out.iter_mut().zip(&columns) {
                for &(y, share) in row {
                    let mut sum = [0.0; 4];
                    for &(x, share) in column {
                        let from = &self.texels[y * old + x];
                        (0..4).for_each(|c| sum[c] += share * from[c]);
                    }
                    (0..4).for_each(|c| texel[c] += share * sum[c]);
                }
            }
        });
        Some(Self { width, height, texels })
    }
}

/// For each of `to` equal parts of an axis, which of `from` equal parts it overlaps, and how much
/// of itself.
fn shares(from: u32, to: u32) -> Vec<Vec<(usize, f32)>> {
    let (n, m) = (u64::from(from), u64::from(to));
    let part = |i: u64| {
        // In units of which the axis has n * m.
        let (start, end) = (i * n, (i + 1) * n);
        let overlapped = start / m..end.div_ceil(m);
        let share = |j: u64| (end.min((j + 1) * m) - start.max(j * m)) as f32 / n as f32;
        overlapped.map(|j| (j as usize, share(j))).collect()
    };
    (0..m).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_image::Channels;

    fn gray(width: u32, height: u32, value: impl Fn(u32, u32) -> f32) -> Pyramid {
        let at = |i: u32| {
            let v = value(i % width, i / width);
            [v, v, v, 1.0]
        };
        Pyramid::new(Image { width, height, rgba: (0..width * height).map(at).collect(), channels: Channels::Gray })
    }

    #[test]
    fn sides_are_halved_and_rounded_down_to_one_texel() {
        let sizes: Vec<_> = gray(7, 2, |_, _| 0.0).levels.iter().map(|l| (l.width, l.height)).collect();
        assert_eq!(sizes, [(7, 2), (3, 1), (1, 1)]);
    }

    #[test]
    fn four_texels_become_their_mean() {
        let p = gray(2, 2, |x, y| (x + 2 * y) as f32);
        assert_eq!(p.levels[1].texels, [[1.5, 1.5, 1.5, 1.0]]);
    }

    #[test]
    fn three_texels_in_a_row_become_one_third_each() {
        let p = gray(3, 1, |x, _| [1.0, 2.0, 6.0][x as usize]);
        assert!((p.levels[1].texels[0][0] - 3.0).abs() < 1e-6);
    }

    #[test]
    fn a_texel_of_half_an_odd_side_takes_its_exact_area() {
        // Five texels in two parts of 2.5: (2 + 0.5 of the middle) / 2.5.
        let p = gray(5, 1, |x, _| [1.0, 1.0, 3.5, 0.0, 0.0][x as usize]);
        assert!((p.levels[1].texels[0][0] - (2.0 + 1.75) / 2.5).abs() < 1e-6);
        assert!((p.levels[1].texels[1][0] - 1.75 / 2.5).abs() < 1e-6);
    }

    #[test]
    fn the_mean_survives_every_size() {
        for (width, height) in [(13, 9), (64, 3), (1, 17), (31, 31)] {
            let p = gray(width, height, |x, y| ((x * 7 + y * 13) % 11) as f32);
            let first = &p.levels[0].texels;
            let mean = first.iter().map(|t| t[0]).sum::<f32>() / first.len() as f32;
            let last = p.levels.last().unwrap();
            assert_eq!(last.texels.len(), 1);
            assert!((last.texels[0][0] - mean).abs() < 1e-4, "{width} x {height}: {} {mean}", last.texels[0][0]);
        }
    }

    #[test]
    fn texels_that_are_not_finite_spoil_no_average() {
        let p = gray(2, 1, |x, _| [f32::NAN, f32::INFINITY][x as usize]);
        assert_eq!(p.levels[0].texels[0][0], 0.0);
        assert!(p.levels[1].texels[0][0].is_finite());
    }
}
