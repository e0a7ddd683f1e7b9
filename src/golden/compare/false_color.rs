//! False colors: a value of 0..=1 as a color that grows brighter with it, from black over violet
//! and orange to pale yellow.
//!
//! The ramp is a table of display-space colors, joined by straight lines; its luma rises
//! everywhere, so it reads in gray as well. Small errors matter most, so the position on the ramp
//! is the square root of the value.

use shadewright_image::color::decode_srgb;

/// sRGB codes at equal steps of the ramp.
const RAMP: [[u8; 3]; 7] =
    [[0, 0, 0], [38, 16, 84], [104, 24, 122], [176, 44, 104], [232, 90, 60], [250, 168, 70], [254, 250, 205]];

/// The linear color of a value; values outside 0..=1 are clamped.
pub fn color(value: f32) -> [f32; 3] {
    let position = value.clamp(0.0, 1.0).sqrt() * (RAMP.len() - 1) as f32;
    let step = (position as usize).min(RAMP.len() - 2);
    let fraction = position - step as f32;
    std::array::from_fn(|channel| {
        let from = f32::from(RAMP[step][channel]);
        let to = f32::from(RAMP[step + 1][channel]);
        decode_srgb((from + (to - from) * fraction) / 255.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luma(value: f32) -> f32 {
        let [r, g, b] = color(value);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    #[test]
    fn the_ramp_runs_from_black_to_pale_yellow_and_always_rises() {
        assert_eq!(color(0.0), [0.0; 3]);
        assert!(luma(1.0) > 0.9);
        for i in 0..1000 {
            let (here, next) = (i as f32 / 1000.0, (i + 1) as f32 / 1000.0);
            assert!(luma(next) > luma(here), "falls at {here}");
        }
    }

    #[test]
    fn an_error_at_the_default_tolerance_can_be_seen() {
        assert!(color(0.01).iter().any(|&x| x > 0.02));
    }

    #[test]
    fn values_outside_are_clamped() {
        assert_eq!(color(-1.0), color(0.0));
        assert_eq!(color(2.0), color(1.0));
    }
}
