//! FLIP, a perceptual difference (Andersson et al. 2020, "ꟻLIP: A Difference Evaluator for
//! Alternating Images").
//!
//! Takes two images in display space, rounds them to 8-bit codes and gives an error of 0 to 1 a
//! pixel: how visible the difference is when the images alternate, at 67 pixels a degree of the
//! visual field (a 0.7 m wide 3840-pixel screen seen from 0.7 m). The computation is the authors'
//! own, bound by the `nv-flip` crate.

use nv_flip::{DEFAULT_PIXELS_PER_DEGREE, FlipImageRgb8};

use super::display::{DisplayImage, Strip};

/// The FLIP error of every measured pixel of a strip, 0..=1, row by row from the top.
#[must_use]
pub fn errors(strip: &Strip) -> Vec<f32> {
    let image = |image: &DisplayImage| FlipImageRgb8::with_data(image.width, image.height, &image.rgb8());
    let errors = nv_flip::flip(image(&strip.first), image(&strip.second), DEFAULT_PIXELS_PER_DEGREE).to_vec();
    strip.measured(&errors).to_vec()
}

/// The mean of an error map, summed in order in double precision.
#[must_use]
pub fn mean(error_map: &[f32]) -> f64 {
    error_map.iter().map(|&error| f64::from(error)).sum::<f64>() / error_map.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::test_images::flat;
    use shadewright_image::Image;

    fn error_map(a: &Image, b: &Image) -> Vec<f32> {
        Strip::all(a, b).flat_map(|strip| errors(&strip)).collect()
    }

    #[test]
    fn the_map_is_bright_where_the_images_differ() {
        let (a, mut b) = (flat(64, 64, 90), flat(64, 64, 90));
        for y in 4..12 {
            for x in 4..12 {
                b.rgba[y * 64 + x] = [1.0, 0.0, 0.0, 1.0];
            }
        }
        let map = error_map(&a, &b);
        assert!(map[8 * 64 + 8] > 0.5);
        assert_eq!(map[50 * 64 + 50], 0.0);
        assert!(map.iter().all(|error| (0.0..=1.0).contains(error)));
    }

    #[test]
    fn black_against_white_is_the_largest_error() {
        let map = error_map(&flat(64, 64, 0), &flat(64, 64, 255));
        // Inside, where no filter reaches over the border: flat images have no features, so the
        // color error is all.
        assert!((map[32 * 64 + 32] - 0.97).abs() < 0.03, "{}", map[32 * 64 + 32]);
    }

    #[test]
    fn a_shift_of_mid_gray_by_one_code_is_an_error_of_three_hundredths() {
        assert!((mean(&error_map(&flat(64, 64, 128), &flat(64, 64, 129))) - 0.03).abs() < 0.001);
    }

    #[test]
    fn the_mean_is_the_mean() {
        assert_eq!(mean(&[0.0, 0.5, 1.0, 0.5]), 0.5);
    }
}
