//! Differences channel by channel: mean, largest, root mean square, PSNR, and a histogram in 8-bit
//! levels.
//!
//! Takes images in display space and gives sums over all channels of all pixels. Alpha is included
//! only when it is not 1 everywhere. [`max_linear`] alone looks at linear values.

use rayon::prelude::*;

use super::display::Strip;
use shadewright_image::color::quantize8;
use shadewright_image::{Image, is_finite};

/// The differences between two images in display space, where black to white is 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Mean of the absolute differences of all channels.
    pub mean: f64,
    /// The largest of them.
    pub max: f64,
    /// Root of the mean of their squares.
    pub rmse: f64,
    /// Number of pixels by the largest difference of their channels, in levels of the 8-bit codes
    /// (0..=255).
    pub pixels_by_levels: Vec<u64>,
}

impl Difference {
    /// Peak signal-to-noise ratio in decibels: `20 log10(1 / rmse)`; infinite for equal images.
    #[must_use]
    pub fn psnr(&self) -> f64 {
        // The negated logarithm would give -0 and an infinity of the wrong sign for no error at
        // all.
        if self.rmse == 0.0 { f64::INFINITY } else { -20.0 * self.rmse.log10() }
    }
}

/// Sums of one row; rows are added in order, so that the result does not depend on the number of
/// threads.
#[derive(Clone, Debug)]
pub struct RowSums {
    absolute: f64,
    squared: f64,
    max: f64,
    pixels_by_levels: [u64; 256],
}

impl Difference {
    /// The differences of two images of which these are all rows, over three channels or,
    /// `with_alpha`, over four.
    #[must_use]
    pub fn from_rows(rows: &[RowSums], width: u32, with_alpha: bool) -> Self {
        let mut difference = Difference { mean: 0.0, max: 0.0, rmse: 0.0, pixels_by_levels: vec![0; 256] };
        for row in rows {
            difference.mean += row.absolute;
            difference.rmse += row.squared;
            difference.max = difference.max.max(row.max);
            for (total, count) in difference.pixels_by_levels.iter_mut().zip(row.pixels_by_levels) {
                *total += count;
            }
        }
        let values = (rows.len() * width as usize * channels(with_alpha)) as f64;
        difference.mean /= values;
        difference.rmse = (difference.rmse / values).sqrt();
        difference
    }
}

/// Measures the rows of a strip.
#[must_use]
pub fn rows(strip: &Strip, with_alpha: bool) -> Vec<RowSums> {
    let width = strip.first.width as usize;
    let [first, second] = [&strip.first, &strip.second].map(|image| strip.measured(&image.rgba));
    first
        .par_chunks(width)
        .zip(second.par_chunks(width))
        .map(|(first, second)| measure_row(first, second, channels(with_alpha)))
        .collect()
}

fn channels(with_alpha: bool) -> usize {
    if with_alpha { 4 } else { 3 }
}

fn measure_row(first: &[[f32; 4]], second: &[[f32; 4]], channels: usize) -> RowSums {
    let mut sums = RowSums { absolute: 0.0, squared: 0.0, max: 0.0, pixels_by_levels: [0; 256] };
    for (a, b) in first.iter().zip(second) {
        let mut levels = 0;
        for (&a, &b) in a[..channels].iter().zip(&b[..channels]) {
            let difference = (f64::from(a) - f64::from(b)).abs();
            sums.absolute += difference;
            sums.squared += difference * difference;
            sums.max = sums.max.max(difference);
            levels = levels.max(quantize8(a).abs_diff(quantize8(b)));
        }
        sums.pixels_by_levels[usize::from(levels)] += 1;
    }
    sums
}

/// The largest absolute difference of any linear channel value, alpha included, over the pixels
/// that are finite in both images.
#[must_use]
pub fn max_linear(first: &Image, second: &Image) -> f64 {
    let pixels = first.rgba.iter().zip(&second.rgba);
    pixels
        .filter(|(a, b)| is_finite(a) && is_finite(b))
        .flat_map(|(a, b)| a.iter().zip(b))
        .map(|(&a, &b)| (f64::from(a) - f64::from(b)).abs())
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::test_images::flat;
    use shadewright_image::color::decode_srgb8;

    fn measured(a: &Image, b: &Image, with_alpha: bool) -> Difference {
        let sums: Vec<RowSums> = Strip::all(a, b).flat_map(|strip| rows(&strip, with_alpha)).collect();
        Difference::from_rows(&sums, a.width, with_alpha)
    }

    #[test]
    fn one_channel_of_one_pixel_gives_the_numbers_worked_out_by_hand() {
        // Of 2 x 2 pixels with 3 channels, one value differs by 51/255 = 0.2.
        let (a, mut b) = (flat(2, 2, 100), flat(2, 2, 100));
        b.rgba[3][1] = decode_srgb8(151);
        let difference = measured(&a, &b, false);
        assert!((difference.mean - 0.2 / 12.0).abs() < 1e-7);
        assert!((difference.max - 0.2).abs() < 1e-6);
        assert!((difference.rmse - (0.04_f64 / 12.0).sqrt()).abs() < 1e-7);
        // 10 log10(12 / 0.04)
        assert!((difference.psnr() - 24.771_212_547).abs() < 1e-4);
        assert_eq!(difference.pixels_by_levels[0], 3);
        assert_eq!(difference.pixels_by_levels[51], 1);
    }

    #[test]
    fn alpha_enters_only_when_asked() {
        let (a, mut b) = (flat(1, 1, 0), flat(1, 1, 0));
        b.rgba[0][3] = 0.5;
        assert_eq!(measured(&a, &b, false).max, 0.0);
        let with_alpha = measured(&a, &b, true);
        assert_eq!((with_alpha.max, with_alpha.mean), (0.5, 0.125));
    }

    #[test]
    fn a_difference_of_exactly_n_codes_is_n_levels_for_all_codes() {
        for code in 0..=251 {
            let difference = measured(&flat(1, 1, code), &flat(1, 1, code + 4), false);
            assert_eq!(difference.pixels_by_levels[4], 1, "{code}");
        }
    }

    #[test]
    fn only_the_linear_maximum_sees_beyond_white() {
        let (mut a, mut b) = (flat(1, 1, 0), flat(1, 1, 0));
        a.rgba[0] = [5.0, 1.0, 1.0, 1.0];
        b.rgba[0] = [2.0, 1.0, 1.0, 1.0];
        assert_eq!(measured(&a, &b, false).max, 0.0);
        assert_eq!(max_linear(&a, &b), 3.0);
    }
}
