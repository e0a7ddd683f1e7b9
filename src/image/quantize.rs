//! Quantization of linear values to the integers of an image file, by `Quantize` of RIB (RISpec
//! 3.2, §4.1.2).
//!
//! Takes an [`Image`] and the scene's [`Quantize`] settings, and gives samples of 16 bits in the
//! order of the file. A value `x` becomes `clamp(round(one · x + dither · random), min, max)` with
//! `random` from -1 to 1, where `x` is encoded as sRGB for colors, as in all files of whole
//! numbers, and as it is for alpha. It knows nothing of file formats. The random numbers belong to
//! the pixel and channel, so an image is the same at any number of threads.

use super::Image;
use super::color::encode_srgb_beyond_white;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use shadewright_base::random::hash;

/// `Quantize`: a value `x` becomes `one · x` with noise of up to `dither` either way, rounded, and
/// clamped to `min` and `max`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantize {
    /// The value that white becomes, above 0.
    pub one: f32,
    /// The smallest number, not below 0.
    pub min: f32,
    /// The largest number, at most [`Quantize::LARGEST`], not below `min`.
    pub max: f32,
    /// The amplitude of the noise, not negative.
    pub dither: f32,
}

impl Quantize {
    /// The largest number that an image file holds: 16 bits.
    pub const LARGEST: f32 = 65_535.0;

    /// True if its numbers need more than eight bits.
    pub fn is_deep(self) -> bool {
        self.max > 255.0
    }
}

/// The samples of an image, row by row: red, green, blue, and of an image that is not opaque also
/// alpha, by which the colors are then divided.
pub fn samples(image: &Image, quantize: Quantize) -> Vec<u16> {
    let alpha = !image.is_opaque();
    let pixels = image.rgba.par_iter().enumerate();
    let codes = pixels.flat_map_iter(|(i, &[r, g, b, a])| {
        let over = match alpha {
            true if a > 0.0 => 1.0 / a,
            true => 0.0,
            false => 1.0,
        };
        let colors = [r, g, b].map(|x| encode_srgb_beyond_white(x * over));
        let channels = [colors[0], colors[1], colors[2], a].into_iter().take(if alpha { 4 } else { 3 });
        channels.zip(0..).map(move |(value, channel)| code(value, quantize, noise(i as u32, channel)))
    });
    codes.collect()
}

/// The whole number of a value, with noise from -1 to 1. NaN gives the smallest.
fn code(value: f32, Quantize { one, min, max, dither }: Quantize, noise: f32) -> u16 {
    // `max` drops NaN.
    (one * value + dither * noise + 0.5).floor().max(min).min(max) as u16
}

/// The noise of a pixel's channel, in [-1, 1).
fn noise(pixel: u32, channel: u32) -> f32 {
    // The high 24 bits, as a number in [0, 2).
    (hash(hash(pixel) ^ channel) >> 8) as f32 / 8_388_608.0 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::{decode_srgb, encode_srgb};

    const BYTES: Quantize = Quantize { one: 255.0, min: 0.0, max: 255.0, dither: 0.0 };

    fn image(rgba: Vec<[f32; 4]>) -> Image {
        Image::new(rgba.len() as u32, 1, rgba).unwrap()
    }

    #[test]
    fn values_are_scaled_rounded_and_clamped() {
        // Colors whose encoding is 0.5, 1 and 0: 0.5 · 1023 = 511.5, and halves are rounded up.
        let gray = image(vec![[decode_srgb(0.5), 1.0, 0.0, 1.0]]);
        let tens = Quantize { one: 1023.0, min: 0.0, max: 1023.0, dither: 0.0 };
        assert_eq!(samples(&gray, tens), [512, 1023, 0]);
        let narrow = Quantize { one: 200.0, min: 16.0, max: 150.0, dither: 0.0 };
        assert_eq!(samples(&gray, narrow), [100, 150, 16]);
    }

    #[test]
    fn room_above_one_holds_what_is_lighter_than_white() {
        let bright = image(vec![[2.0, 100.0, -1.0, 1.0]]);
        let room = Quantize { one: 128.0, min: 0.0, max: 255.0, dither: 0.0 };
        // The curve continues: 1.055 · 2^(1/2.4) - 0.055 = 1.35326, times 128.
        assert_eq!(samples(&bright, room), [173, 255, 0]);
    }

    #[test]
    fn colors_are_divided_by_an_alpha_that_is_kept() {
        let half = decode_srgb(0.5);
        let clear = image(vec![[half * 0.25, 0.0, 0.0, 0.25], [0.0; 4], [f32::NAN, 0.0, 0.0, f32::NAN]]);
        assert_eq!(samples(&clear, BYTES), [128, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn without_dither_bytes_are_those_of_the_usual_encoding() {
        for i in 0..1000 {
            let x = i as f32 / 1000.0;
            let expected = u16::from(super::super::color::quantize8(encode_srgb(x)));
            assert_eq!(samples(&image(vec![[x, x, x, 1.0]]), BYTES), [expected; 3]);
        }
    }

    #[test]
    fn dither_keeps_the_mean_and_stays_within_its_amplitude() {
        // A gray between two codes: 100.25. With noise of half a step either way, a quarter of the
        // pixels gets the upper code.
        let gray = decode_srgb(100.25 / 255.0);
        let many = image(vec![[gray, gray, gray, 1.0]; 20_000]);
        let codes = samples(&many, Quantize { dither: 0.5, ..BYTES });
        assert!(codes.iter().all(|c| [100, 101].contains(c)));
        let share = codes.iter().filter(|c| **c == 101).count() as f64 / codes.len() as f64;
        // Three standard deviations of 60,000 draws.
        assert!((share - 0.25).abs() < 3.0 * (0.25f64 * 0.75 / 60_000.0).sqrt(), "{share}");
        assert_eq!(codes, samples(&many, Quantize { dither: 0.5, ..BYTES }));
    }
}
