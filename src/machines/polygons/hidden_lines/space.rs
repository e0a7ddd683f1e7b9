//! The hardware's coordinates: x, y and the depth from −1 to 1 in its number format, with the depth
//! stretched over what the scene has, and how far planes are kept behind the corners of polygons.

use super::config::Numbers;
use super::numbers::Format;
use crate::polygons::model::View;
use glam::{DVec3, Vec4Swizzles};

/// How screen coordinates become the hardware's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Space {
    /// The number format.
    pub format: Format,
    /// The least and the greatest depth on the screen.
    depths: [f64; 2],
    /// The error of a corner's position that is allowed for, in x and y from −1 to 1.
    guard: [f64; 2],
    /// The same in depth is the length of `steps[0] − z·steps[1]`.
    steps: [f64; 2],
    /// The same in last places.
    guard_units: f64,
}

impl Space {
    /// The space of a view whose polygons have these depths.
    pub fn new(view: &View, depths: [f64; 2], numbers: &Numbers) -> Self {
        let pixels = view.size.map(|n| f64::from(n.max(1)));
        let guard = pixels.map(|n| 2.0 * numbers.guard / n);
        // A step along the direction of view as long as the guard is on the screen: its depth `Z/w` changes by
        // `|Z' − z·w'|/w`, and its length is `guard·w/|x'|`, where `x'`, `Z'` and `w'` are rows of the matrix.
        let [x, z, w] = [0, 2, 3].map(|k| view.to_clip.row(k).xyz().as_dvec3());
        let forward = if w.length() > 1e-6 * z.length() { w } else { z }.normalize_or_zero();
        let scale = guard[0] / x.length().max(f64::MIN_POSITIVE);
        let steps = [scale * z.dot(forward), scale * w.dot(forward)];
        let format = Format::with_bits(numbers.bits);
        Self { format, depths, guard, steps, guard_units: f64::from(numbers.guard_units) }
    }

    /// A screen position in the hardware's coordinates.
    pub fn place(&self, screen: DVec3) -> DVec3 {
        let [near, _] = self.depths;
        let depth = (screen.z - near) * self.stretch() - 1.0;
        DVec3::new(screen.x, screen.y, depth).map(|value| self.format.coordinate(value))
    }

    /// A place in the hardware's coordinates on the screen, x and y from −1 to 1.
    pub fn on_screen(&self, place: DVec3) -> [f64; 2] {
        [place.x / self.format.one(), place.y / self.format.one()]
    }

    /// By how much depths are stretched.
    fn stretch(&self) -> f64 {
        let [near, far] = self.depths;
        2.0 / (far - near).max(1e-12)
    }

    /// How far a corner at this depth of the screen may be misplaced, in the hardware's coordinates
    /// without bits.
    pub fn guard(&self, depth: f64) -> DVec3 {
        let step = (self.steps[0] - depth * self.steps[1]).abs() * self.stretch();
        DVec3::new(self.guard[0], self.guard[1], step)
    }

    /// The last places by which a plane is kept behind corners, with bits.
    pub fn guard_units(&self) -> f64 {
        self.guard_units
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::super::scenes::view;
    use super::*;

    #[test]
    fn depths_of_the_scene_fill_the_range() {
        let numbers = Config::parse("[numbers]\nbits = 16").expect("a configuration").numbers;
        let space = Space::new(&view(), [0.5, 0.75], &numbers);
        assert_eq!(space.place(DVec3::new(-1.0, 1.0, 0.5)), DVec3::new(-32767.0, 32767.0, -32767.0));
        assert_eq!(space.place(DVec3::new(0.0, 0.0, 0.75)).z, 32767.0);
    }

    #[test]
    fn the_guard_is_a_step_of_the_same_length_along_the_view() {
        let numbers = Config::default().numbers;
        let space = Space::new(&view(), [0.0, 1.0], &numbers);
        let depth = |z: f64| {
            let clip = view().to_clip.as_dmat4() * DVec3::new(0.0, 0.0, z).extend(1.0);
            clip.z / clip.w
        };
        // At a distance of 4, a pixel of 200 in a right angle is a twenty-fifth.
        let step = numbers.guard / 25.0;
        let expected = 2.0 * (depth(4.0 + step) - depth(4.0));
        let guard = space.guard(depth(4.0));
        assert!((guard.z / expected - 1.0).abs() < 0.01, "{guard} {expected}");
        assert!((guard.x - numbers.guard / 100.0).abs() < 1e-9);
    }
}
