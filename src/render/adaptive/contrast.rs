//! The difference between the corner samples of a square, about as the eye sees it.
//!
//! Linear colors are compared by their square roots, which is within a few percent of the transfer
//! function of a display: a difference in the dark is visible where one of the same size in the light
//! is not. Values above white are compared, too; images may be developed later.

use shadewright_scene::Exposure;

/// The value that non-finite values are compared as: alike, and different from all others.
const NON_FINITE: f32 = 1e18;

/// The greatest difference between any two corners: in alpha, and in the square roots of the exposed
/// colors. Never NaN.
pub fn contrast(corners: &[[f32; 4]; 4], exposure: Exposure) -> f32 {
    let mut least = [f32::INFINITY; 4];
    let mut most = [f32::NEG_INFINITY; 4];
    for corner in corners {
        let [r, g, b, alpha] = *corner;
        let [r, g, b] = [r, g, b].map(|value| brightness(value, exposure));
        let alpha = if alpha.is_finite() { alpha } else { NON_FINITE };
        for (channel, value) in [r, g, b, alpha].into_iter().enumerate() {
            least[channel] = least[channel].min(value);
            most[channel] = most[channel].max(value);
        }
    }
    least.into_iter().zip(most).map(|(least, most)| most - least).fold(0.0, f32::max)
}

/// The square root of an exposed linear value.
fn brightness(value: f32, Exposure { gain, gamma }: Exposure) -> f32 {
    let exposed = (gain * value).max(0.0);
    let exposed = if gamma == 1.0 { exposed } else { exposed.powf(1.0 / gamma) };
    if value.is_finite() && exposed.is_finite() { exposed.sqrt() } else { NON_FINITE }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red_contrast(reds: [f32; 4]) -> f32 {
        contrast(&reds.map(|red| [red, 0.0, 0.0, 1.0]), Exposure::default())
    }

    #[test]
    fn equal_corners_do_not_differ() {
        assert_eq!(red_contrast([0.3; 4]), 0.0);
    }

    #[test]
    fn a_step_in_the_dark_counts_more_than_one_in_the_light() {
        let (dark, light) = (red_contrast([0.0, 0.04, 0.0, 0.0]), red_contrast([0.96, 1.0, 1.0, 1.0]));
        assert!((dark - 0.2).abs() < 1e-6 && light < 0.03, "{dark} {light}");
    }

    #[test]
    fn alpha_is_compared_as_it_is() {
        let corners = [0.5, 0.5, 0.75, 0.5].map(|alpha| [0.0, 0.0, 0.0, alpha]);
        assert_eq!(contrast(&corners, Exposure::default()), 0.25);
    }

    #[test]
    fn values_that_are_not_finite_differ_from_all_others_and_not_from_each_other() {
        assert_eq!(red_contrast([f32::NAN, f32::INFINITY, f32::NAN, f32::NEG_INFINITY]), 0.0);
        assert!(red_contrast([1e9, f32::NAN, 1e9, 1e9]) > 1e9);
    }

    #[test]
    fn exposure_comes_before_the_comparison() {
        let corners = [0.0, 0.25, 0.25, 0.0].map(|red| [red, 0.0, 0.0, 1.0]);
        assert_eq!(contrast(&corners, Exposure { gain: 4.0, gamma: 1.0 }), 1.0);
        assert_eq!(contrast(&corners, Exposure { gain: 1.0, gamma: 2.0 }), 0.5f32.sqrt());
    }
}
