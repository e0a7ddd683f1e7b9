//! Where the image lies on the screen: fitted into its space, or magnified and moved, always on
//! whole pixels of the screen.
//!
//! [`Framing`] is what the user chose; [`Placement`] is what that comes to for a space and a size
//! of image. Plain geometry: nothing here draws or reads input.

use crate::model::Resolution;
use egui::{Pos2, Rect, Vec2, pos2, vec2};
use shadewright_scene::Format;
use std::ops::Range;

/// Pixels of the screen that a pixel of the image may take up.
const LARGEST: f32 = 64.0;

/// Pixels of the screen in a pixel of the image from which pixels are drawn as squares of whole
/// pixels of the screen.
pub const SHARP: f32 = 2.0;

/// How much the image is magnified, and about which point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Framing {
    /// Pixels of the screen in a pixel of the image; `None` while the image is fitted into its
    /// space.
    scale: Option<f32>,
    /// The point of the image in the middle of the space, in shares of its size.
    center: Vec2,
}

impl Default for Framing {
    fn default() -> Self {
        Self { scale: None, center: vec2(0.5, 0.5) }
    }
}

impl Framing {
    /// True if the image is magnified.
    pub fn is_magnified(&self) -> bool {
        self.scale.is_some()
    }

    /// Magnifies by a factor about a point of the screen; what lies there stays there. An image
    /// that is no larger than fitted is fitted.
    pub fn magnify(&mut self, factor: f32, about: Pos2, now: &Placement) {
        let scale = self.scale.unwrap_or(now.fit) * factor;
        if !scale.is_finite() {
            return;
        }
        let most = LARGEST.max(now.fit);
        if scale <= now.fit * 1.001 {
            *self = Self::default();
            return;
        }
        // The way to the point from the middle, which, unlike the image's corner, is not on a whole
        // pixel: rounding would add up.
        let way = (about - now.space.center()) * now.pixels_per_point;
        let scale = scale.min(most);
        self.scale = Some(scale);
        self.center += way / now.image_size(now.scale) - way / now.image_size(whole(scale));
    }

    /// Moves the image by a way on the screen, in points.
    pub fn shift(&mut self, by: Vec2, now: &Placement) {
        if self.is_magnified() {
            self.center -= by / now.rect.size();
        }
    }

    /// Where the image lies. The point in the middle is moved so that no space is empty that the
    /// image could fill.
    pub fn place(&mut self, space: Rect, pixels_per_point: f32, format: Format, resolution: Resolution) -> Placement {
        let room = space.size() * pixels_per_point;
        let whole_image = vec2(format.width as f32 * format.pixel_aspect, format.height as f32);
        let fit = (room.x / whole_image.x).min(room.y / whole_image.y).max(f32::MIN_POSITIVE);
        // An image with fewer pixels than there is room for is enlarged only when that is why it
        // has fewer.
        let fit = if resolution == Resolution::Half { fit } else { fit.min(1.0) };
        let scale = match self.scale {
            Some(scale) if scale > fit => whole(scale),
            _ => fit,
        };
        let mut placement = Placement { space, rect: space, pixels_per_point, format, scale, fit };
        let size = placement.image_size(scale);
        let keep = |center: f32, room: f32, size: f32| {
            let half = 0.5 * room / size;
            if half >= 0.5 { 0.5 } else { center.clamp(half, 1.0 - half) }
        };
        self.center = vec2(keep(self.center.x, room.x, size.x), keep(self.center.y, room.y, size.y));
        let corner = space.center().to_vec2() * pixels_per_point - self.center * size;
        let corner = vec2(corner.x.round(), corner.y.round());
        let size = vec2(size.x.round(), size.y.round());
        placement.rect = Rect::from_min_size((corner / pixels_per_point).to_pos2(), size / pixels_per_point);
        placement
    }
}

/// A scale at which pixels are squares of whole pixels of the screen, where they are large enough
/// for that to matter.
fn whole(scale: f32) -> f32 {
    if scale >= SHARP { scale.round() } else { scale }
}

/// Where the image lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// The space that it has, in points.
    pub space: Rect,
    /// All of the image, in points; it may reach beyond the space.
    pub rect: Rect,
    /// Pixels of the screen in a point.
    pub pixels_per_point: f32,
    /// The image's size in its own pixels.
    pub format: Format,
    /// Pixels of the screen in the height of a pixel of the image.
    pub scale: f32,
    /// The scale at which the image is fitted into its space.
    fit: f32,
}

impl Placement {
    /// The part of the image that can be seen, in points.
    pub fn visible(&self) -> Rect {
        self.rect.intersect(self.space)
    }

    /// How many times as large as fitted the image is.
    pub fn magnification(&self) -> f32 {
        self.scale / self.fit
    }

    /// A point of the screen in shares of the image's size.
    pub fn share_at(&self, at: Pos2) -> Vec2 {
        (at - self.rect.min) / self.rect.size().max(Vec2::splat(f32::MIN_POSITIVE))
    }

    /// The pixel at a point of the screen, if the image is visible there.
    pub fn pixel_at(&self, at: Pos2) -> Option<[u32; 2]> {
        let share = self.share_at(at);
        let along = |share: f32, pixels: u32| ((share * pixels as f32).max(0.0) as u32).min(pixels.saturating_sub(1));
        let pixel = [along(share.x, self.format.width), along(share.y, self.format.height)];
        self.visible().contains(at).then_some(pixel)
    }

    /// Where pixels from `first` to before `end` lie, in points.
    pub fn pixels(&self, first: [u32; 2], end: [u32; 2]) -> Rect {
        let corner = |[x, y]: [u32; 2]| {
            let share = vec2(x as f32 / self.format.width as f32, y as f32 / self.format.height as f32);
            self.rect.min + share * self.rect.size()
        };
        Rect::from_min_max(corner(first), corner(end))
    }

    /// The columns and rows of blocks of `step`×`step` pixels that can be seen.
    pub fn visible_blocks(&self, step: u32) -> [Range<u32>; 2] {
        let visible = self.visible();
        let (low, high) = (self.share_at(visible.min), self.share_at(visible.max));
        let along = |low: f32, high: f32, pixels: u32| {
            let block = |share: f32| share.clamp(0.0, 1.0) * pixels as f32 / step as f32;
            block(low).floor() as u32..block(high).ceil() as u32
        };
        [along(low.x, high.x, self.format.width), along(low.y, high.y, self.format.height)]
    }

    /// A length across the screen, in points, on a whole pixel of it.
    pub fn snap(&self, x: f32) -> f32 {
        (x * self.pixels_per_point).round() / self.pixels_per_point
    }

    /// The image's size on the screen at a scale, in pixels of the screen.
    fn image_size(&self, scale: f32) -> Vec2 {
        vec2(self.format.width as f32 * self.format.pixel_aspect, self.format.height as f32) * scale
    }
}

/// The part of a texture that holds pixels of the image: one that was drawn in blocks may reach
/// beyond the border.
pub fn covered(format: Format, blocks: [u32; 2], step: u32) -> Rect {
    let share = |pixels: u32, blocks: u32| pixels as f32 / (blocks * step).max(1) as f32;
    Rect::from_min_max(Pos2::ZERO, pos2(share(format.width, blocks[0]), share(format.height, blocks[1])))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Format = Format { width: 200, height: 100, pixel_aspect: 1.0 };

    fn space() -> Rect {
        Rect::from_min_size(pos2(10.3, 20.0), vec2(200.0, 150.0))
    }

    fn placed(framing: &mut Framing) -> Placement {
        framing.place(space(), 1.0, FORMAT, Resolution::Fit)
    }

    #[test]
    fn a_fitted_image_has_a_pixel_of_the_screen_for_each_of_its_own() {
        for pixels_per_point in [1.0, 1.25, 2.0] {
            let size = vec2(200.0, 100.0) / pixels_per_point;
            let space = Rect::from_min_size(pos2(10.3, 20.7), size + vec2(3.3, 17.9));
            let placement = Framing::default().place(space, pixels_per_point, FORMAT, Resolution::Fit);
            assert_eq!(placement.scale, 1.0);
            assert!((placement.rect.size() - size).length() < 1e-3);
            let corner = placement.rect.min.to_vec2() * pixels_per_point;
            assert!((corner - corner.round()).length() < 1e-3, "{corner}");
        }
    }

    #[test]
    fn a_image_that_is_too_large_is_made_smaller_and_half_of_one_larger() {
        let small = Rect::from_min_size(Pos2::ZERO, vec2(100.0, 100.0));
        assert_eq!(Framing::default().place(small, 1.0, FORMAT, Resolution::Scene).scale, 0.5);
        let large = Rect::from_min_size(Pos2::ZERO, vec2(400.0, 400.0));
        assert_eq!(Framing::default().place(large, 1.0, FORMAT, Resolution::Scene).scale, 1.0);
        assert_eq!(Framing::default().place(large, 1.0, FORMAT, Resolution::Half).scale, 2.0);
    }

    #[test]
    fn what_lies_under_the_pointer_stays_there_while_it_is_magnified() {
        let mut framing = Framing::default();
        let space = Rect::from_min_size(pos2(10.0, 20.0), vec2(200.0, 100.0));
        let place = |framing: &mut Framing| framing.place(space, 1.0, FORMAT, Resolution::Fit);
        let about = place(&mut framing).rect.min + vec2(60.5, 30.5);
        for _ in 0..40 {
            let before = place(&mut framing);
            assert_eq!(before.pixel_at(about), Some([60, 30]), "{}", before.scale);
            framing.magnify(1.1, about, &before);
        }
        let placement = place(&mut framing);
        assert!(placement.scale > 30.0 && placement.scale.fract() == 0.0, "{}", placement.scale);
        let pixel = placement.pixels([60, 30], [61, 31]);
        assert!((pixel.width() - placement.scale).abs() < 1e-2);
        assert!(pixel.contains(about));
    }

    #[test]
    fn magnification_ends_at_64_and_at_the_fitted_image() {
        let mut framing = Framing::default();
        let about = space().center();
        for (factor, scale) in [(1e9, 64.0), (1e-9, 1.0)] {
            let now = placed(&mut framing);
            framing.magnify(factor, about, &now);
            assert_eq!(placed(&mut framing).scale, scale);
        }
        assert_eq!(framing, Framing::default());
        let now = placed(&mut framing);
        framing.magnify(f32::NAN, about, &now);
        assert_eq!(framing, Framing::default());
    }

    #[test]
    fn a_magnified_image_follows_the_pointer_and_leaves_no_space_empty() {
        let mut framing = Framing::default();
        let now = placed(&mut framing);
        framing.magnify(8.0, space().center(), &now);
        let before = placed(&mut framing);
        framing.shift(vec2(16.0, -8.0), &before);
        let after = placed(&mut framing);
        assert!((after.rect.min - before.rect.min - vec2(16.0, -8.0)).length() <= 1.0);
        framing.shift(vec2(1e6, 1e6), &after);
        let end = placed(&mut framing);
        assert!(end.rect.contains_rect(end.space.shrink(1.0)), "{end:?}");
        assert_eq!(end.pixel_at(end.space.min + vec2(1.0, 1.0)), Some([0, 0]));
    }

    #[test]
    fn only_what_can_be_seen_counts_as_blocks() {
        let mut framing = Framing::default();
        assert_eq!(placed(&mut framing).visible_blocks(8), [0..25, 0..13]);
        let now = placed(&mut framing);
        framing.magnify(50.0, now.rect.min, &now);
        let [columns, rows] = placed(&mut framing).visible_blocks(1);
        assert!(columns.len() <= 5 && rows.len() <= 4, "{columns:?} {rows:?}");
    }

    #[test]
    fn a_coarse_image_covers_only_a_part_of_its_blocks() {
        let whole = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
        assert_eq!(covered(FORMAT, [200, 100], 1), whole);
        assert_eq!(covered(FORMAT, [25, 13], 8).max, pos2(1.0, 100.0 / 104.0));
    }
}
