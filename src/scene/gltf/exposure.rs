//! Exposure: scenes with photometric light units would be overexposed.
//!
//! A light of 1000 watts leaves some programs as 54,000 candela, sunlight is 100,000 lux. The
//! exposure maps a white surface under such light to white, with a warning.

use crate::Exposure;
use glam::Vec3;
use std::f32::consts::PI;

/// A light, as far as it makes a scene bright.
#[derive(Clone, Copy, Debug)]
pub struct Lamp {
    /// The position; `None` for a distant light.
    pub at: Option<Vec3>,
    /// Candela, or lux of a distant light, of its brightest channel.
    pub intensity: f32,
}

/// A white surface in the middle may be so many times as bright as white before the image is
/// exposed for it: three stops, which a scene that is made for the screen stays below.
const BRIGHTEST: f32 = 8.0;

/// The exposure for a scene that fills a box, where its lights are too bright for the usual one;
/// with about how many lux they make there.
pub fn choose(lamps: &[Lamp], low: Vec3, high: Vec3) -> Option<(Exposure, f32)> {
    let (center, radius) = (0.5 * (low + high), 0.5 * low.distance(high));
    let lux = |lamp: &Lamp| match lamp.at {
        // A light within the scene is about half as far from most of it as the middle is from its
        // border.
        Some(at) => lamp.intensity / at.distance(center).max(0.5 * radius).max(f32::MIN_POSITIVE).powi(2),
        None => lamp.intensity,
    };
    let lux: f32 = lamps.iter().map(lux).sum();
    let gain = PI / lux;
    // Lambert: light of π lux makes white one candela a square meter bright.
    (lux > BRIGHTEST * PI && gain > 0.0).then(|| (Exposure { gain, ..Exposure::default() }, lux))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sunlight_is_exposed_for_and_light_for_the_screen_is_not() {
        let choose = |lamps: &[Lamp]| choose(lamps, -Vec3::ONE, Vec3::ONE);
        assert_eq!(choose(&[]), None);
        assert_eq!(choose(&[Lamp { at: None, intensity: 3.0 }]), None);
        let (exposure, lux) = choose(&[Lamp { at: None, intensity: 100_000.0 }]).unwrap();
        assert_eq!((exposure.gain, lux), (PI / 100_000.0, 100_000.0));
        // 54,000 candela at a distance of 30.
        let (_, lux) = choose(&[Lamp { at: Some(30.0 * Vec3::Y), intensity: 54_000.0 }]).unwrap();
        assert_eq!(lux, 60.0);
        assert_eq!(choose(&[Lamp { at: None, intensity: f32::INFINITY }]), None);
    }
}
