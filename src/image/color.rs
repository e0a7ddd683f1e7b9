//! The sRGB transfer function, the only conversion between linear and display values.
//!
//! Takes and gives single channel values; it knows nothing of images or files. Linear and encoded
//! values both have 0 for black and 1 for white. Formulas: IEC 61966-2-1:1999, §5.2 and §5.3 (the
//! piecewise curve, not a plain power). Code 255 is white, code 0 black.

/// The sRGB encoding of a linear value: 0..=1 maps onto 0..=1, monotonically.
///
/// Values outside are clamped first, because a display shows nothing beyond them; NaN gives 0.
#[must_use]
pub fn encode_srgb(linear: f32) -> f32 {
    // `min` would make white of NaN.
    if linear.is_nan() {
        return 0.0;
    }
    encode_srgb_beyond_white(linear.min(1.0))
}

/// [`encode_srgb`] whose curve continues beyond white.
#[must_use]
pub fn encode_srgb_beyond_white(linear: f32) -> f32 {
    // NaN gives 0 too.
    let x = linear.max(0.0);
    if x <= 0.003_130_8 {
        12.92 * x
    } else if x == 1.0 {
        // The rounded formula misses white by an ulp.
        1.0
    } else {
        1.055 * x.powf(1.0 / 2.4) - 0.055
    }
}

/// The linear value of an sRGB-encoded one; the inverse of [`encode_srgb`] on 0..=1.
#[must_use]
pub fn decode_srgb(encoded: f32) -> f32 {
    if encoded <= 0.040_45 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

/// The 8-bit sRGB code of a linear value, rounded to the nearest code, halves up.
#[must_use]
pub fn encode_srgb8(linear: f32) -> u8 {
    quantize8(encode_srgb(linear))
}

/// The linear value of an 8-bit sRGB code. `encode_srgb8` gives the same code back.
#[must_use]
pub fn decode_srgb8(code: u8) -> f32 {
    decode_srgb(f32::from(code) / 255.0)
}

/// A value of 0..=1 as the nearest of 256 levels, halves up; values outside are clamped, NaN gives
/// 0.
#[must_use]
pub fn quantize8(value: f32) -> u8 {
    // The cast truncates, saturates and turns NaN into 0.
    (value * 255.0 + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_256_codes_survive_the_way_to_linear_and_back() {
        for code in 0..=255 {
            assert_eq!(encode_srgb8(decode_srgb8(code)), code);
        }
    }

    #[test]
    fn the_curve_has_the_standards_values() {
        // Middle gray and the end of the linear piece, worked out in double precision.
        assert!((encode_srgb(0.18) - 0.461_356_1).abs() < 1e-6);
        assert!((decode_srgb(0.5) - 0.214_041_14).abs() < 1e-6);
        assert!((encode_srgb(0.002) - 0.025_84).abs() < 1e-7);
        assert_eq!(encode_srgb(0.0), 0.0);
        assert_eq!(encode_srgb(1.0), 1.0);
    }

    #[test]
    fn the_curve_never_decreases_across_its_joint() {
        let mut last = 0.0;
        for i in 0..=10_000 {
            let encoded = encode_srgb(i as f32 / 10_000.0);
            assert!(encoded >= last, "falls at {i}");
            last = encoded;
        }
    }

    #[test]
    fn values_that_no_display_shows_are_clamped() {
        assert_eq!(encode_srgb8(-1.0), 0);
        assert_eq!(encode_srgb8(f32::NAN), 0);
        assert_eq!(encode_srgb8(f32::NEG_INFINITY), 0);
        assert_eq!(encode_srgb8(7.0), 255);
        assert_eq!(encode_srgb8(f32::INFINITY), 255);
    }

    #[test]
    fn quantizing_rounds_halves_up() {
        assert_eq!(quantize8(0.5 / 255.0), 1);
        assert_eq!(quantize8(0.49 / 255.0), 0);
        assert_eq!(quantize8(254.5 / 255.0), 255);
    }
}
