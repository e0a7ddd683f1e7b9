//! Display space: what two images look like on a screen, the common input of the metrics.
//!
//! Takes linear premultiplied images and gives sRGB-encoded values in 0..=1. Colour stays
//! premultiplied, which is the image over black; alpha is clamped and not encoded. Nothing here
//! judges.

use rayon::prelude::*;

use crate::image::Image;
use crate::image::color::{encode_srgb, quantize8};

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

/// What a pixel that is not finite becomes in the first and in the second image.
const BLACK: [f32; 4] = [0.0; 4];
const WHITE: [f32; 4] = [1.0; 4];

impl DisplayImage {
    /// Both images as displayed, and the number of pixels of each that hold a NaN or an infinity.
    ///
    /// Such a pixel becomes black in the first result and white in the second, whichever image it
    /// is in, so that it counts as the largest difference everywhere and no metric can be poisoned
    /// by it.
    #[must_use]
    pub fn pair(first: &Image, second: &Image) -> (Self, Self, [u64; 2]) {
        let (shown_first, shown_second) = first
            .rgba
            .par_iter()
            .zip(&second.rgba)
            .map(|(a, b)| if is_finite(a) && is_finite(b) { (encode(a), encode(b)) } else { (BLACK, WHITE) })
            .unzip();
        let shown = |image: &Image, rgba| Self { width: image.width, height: image.height, rgba };
        (shown(first, shown_first), shown(second, shown_second), [count_non_finite(first), count_non_finite(second)])
    }

    /// The colour as 8-bit codes, three bytes a pixel.
    #[must_use]
    pub fn rgb8(&self) -> Vec<u8> {
        self.rgba.iter().flat_map(|&[r, g, b, _]| [r, g, b].map(quantize8)).collect()
    }
}

/// Whether all four values are finite.
#[must_use]
pub fn is_finite(rgba: &[f32; 4]) -> bool {
    rgba.iter().all(|x| x.is_finite())
}

fn encode(&[r, g, b, a]: &[f32; 4]) -> [f32; 4] {
    [encode_srgb(r), encode_srgb(g), encode_srgb(b), a.clamp(0.0, 1.0)]
}

fn count_non_finite(image: &Image) -> u64 {
    image.rgba.iter().filter(|rgba| !is_finite(rgba)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::test_images::flat;

    #[test]
    fn codes_come_back_as_they_were() {
        let (shown, _, _) = DisplayImage::pair(&flat(1, 1, 77), &flat(1, 1, 200));
        assert_eq!(shown.rgb8(), [77; 3]);
        assert!((shown.rgba[0][0] - 77.0 / 255.0).abs() < 1e-6);
    }

    #[test]
    fn a_pixel_that_is_not_finite_in_either_is_black_against_white() {
        let (mut a, mut b) = (flat(3, 1, 77), flat(3, 1, 77));
        a.rgba[0][2] = f32::NAN;
        b.rgba[1][3] = f32::INFINITY;
        let (first, second, counts) = DisplayImage::pair(&a, &b);
        assert_eq!(counts, [1, 1]);
        assert_eq!(first.rgba[..2], [BLACK; 2]);
        assert_eq!(second.rgba[..2], [WHITE; 2]);
        assert_eq!(first.rgba[2], second.rgba[2]);
    }
}
