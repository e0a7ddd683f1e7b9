//! Display space: what two images look like on a screen, the common input of the metrics.
//!
//! Takes linear premultiplied images and gives sRGB-encoded values in 0..=1, a strip of rows at a
//! time. Color stays premultiplied, which is the image over black; alpha is clamped and not
//! encoded. Nothing here judges.

use rayon::prelude::*;
use std::ops::Range;

use shadewright_image::color::{encode_srgb, quantize8};
use shadewright_image::{Image, is_finite};

/// An image in display space: every value is in 0..=1.
#[derive(Debug, Clone)]
pub struct DisplayImage {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// sRGB-encoded red, green and blue, and alpha, row by row from the top.
    pub rgba: Vec<[f32; 4]>,
}

/// The colors of a pixel that is not finite, in the first and in the second image.
const BLACK: [f32; 4] = [0.0; 4];
const WHITE: [f32; 4] = [1.0; 4];

/// Rows of two images of one size as displayed.
///
/// Metrics that look at a pixel's surroundings find [`Strip::MARGIN`] rows beside those that they
/// measure, or the image's border.
#[derive(Debug, Clone)]
pub struct Strip {
    /// The first image.
    pub first: DisplayImage,
    /// The second.
    pub second: DisplayImage,
    /// The rows that are measured: of all strips, each row of the images is one of one strip.
    pub measured: Range<usize>,
}

impl Strip {
    /// Rows beside the measured ones: more than any metric's window reaches. FLIP's reaches 10 at 67
    /// pixels a degree.
    pub const MARGIN: usize = 16;

    /// Pixels of a strip without its margins. FLIP takes some 150 bytes for each.
    const PIXELS: usize = 1 << 20;

    /// The strips of two images, from the top.
    pub fn all<'a>(first: &'a Image, second: &'a Image) -> impl Iterator<Item = Strip> + 'a {
        Self::strips(first, second, (Self::PIXELS / first.width as usize).max(1))
    }

    fn strips<'a>(first: &'a Image, second: &'a Image, rows: usize) -> impl Iterator<Item = Strip> + 'a {
        let height = first.height as usize;
        (0..height).step_by(rows).map(move |top| {
            let all = top.saturating_sub(Self::MARGIN)..(top + rows + Self::MARGIN).min(height);
            let measured = top - all.start..(top + rows).min(height) - all.start;
            let (first, second) = pair(first, second, all);
            Strip { first, second, measured }
        })
    }

    /// The values of the measured rows among those of all pixels of the strip.
    pub fn measured<'a, T>(&self, values: &'a [T]) -> &'a [T] {
        let width = self.first.width as usize;
        &values[self.measured.start * width..self.measured.end * width]
    }
}

/// Rows of both images as displayed.
///
/// A pixel with a NaN or an infinity becomes black in the first result and white in the second,
/// whichever image it is in, so that it counts as the largest difference everywhere and no metric
/// can be poisoned by it.
fn pair(first: &Image, second: &Image, rows: Range<usize>) -> (DisplayImage, DisplayImage) {
    let width = first.width as usize;
    let pixels = rows.start * width..rows.end * width;
    let (shown_first, shown_second) = first.rgba[pixels.clone()]
        .par_iter()
        .zip(&second.rgba[pixels])
        .map(|(a, b)| if is_finite(a) && is_finite(b) { (encode(a), encode(b)) } else { (BLACK, WHITE) })
        .unzip();
    let shown = |rgba| DisplayImage { width: first.width, height: rows.len() as u32, rgba };
    (shown(shown_first), shown(shown_second))
}

impl DisplayImage {
    /// The color as 8-bit codes, three bytes a pixel.
    #[must_use]
    pub fn rgb8(&self) -> Vec<u8> {
        self.rgba.iter().flat_map(|&[r, g, b, _]| [r, g, b].map(quantize8)).collect()
    }
}

fn encode(&[r, g, b, a]: &[f32; 4]) -> [f32; 4] {
    [encode_srgb(r), encode_srgb(g), encode_srgb(b), a.clamp(0.0, 1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::test_images::{flat, textured};
    use crate::compare::{flip, ssim};

    #[test]
    fn strips_measure_what_the_whole_does() {
        let a = textured(30, 100);
        let mut b = a.clone();
        for (i, rgba) in b.rgba.iter_mut().enumerate() {
            rgba[i % 3] *= 1.0 - (i * 7919 % 13) as f32 / 20.0;
        }
        let rows = |rows| -> (Vec<f64>, Vec<f32>) {
            let strips: Vec<Strip> = Strip::strips(&a, &b, rows).collect();
            assert_eq!(strips.iter().map(|s| s.measured.len()).sum::<usize>(), 100);
            (strips.iter().flat_map(ssim::rows).collect(), strips.iter().flat_map(flip::errors).collect())
        };
        let whole = rows(100);
        for height in [1, 7, 40] {
            assert!(rows(height) == whole, "strips of {height} rows");
        }
    }

    #[test]
    fn codes_come_back_as_they_were() {
        let (shown, _) = pair(&flat(1, 1, 77), &flat(1, 1, 200), 0..1);
        assert_eq!(shown.rgb8(), [77; 3]);
        assert!((shown.rgba[0][0] - 77.0 / 255.0).abs() < 1e-6);
    }

    #[test]
    fn a_pixel_that_is_not_finite_in_either_is_black_against_white() {
        let (mut a, mut b) = (flat(3, 1, 77), flat(3, 1, 77));
        a.rgba[0][2] = f32::NAN;
        b.rgba[1][3] = f32::INFINITY;
        let (first, second) = pair(&a, &b, 0..1);
        assert_eq!(first.rgba[..2], [BLACK; 2]);
        assert_eq!(second.rgba[..2], [WHITE; 2]);
        assert_eq!(first.rgba[2], second.rgba[2]);
    }
}
