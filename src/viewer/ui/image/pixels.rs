//! Marks over single pixels: their values where they are large enough, a frame around the one under
//! the pointer, a cross on the one that was picked.

use super::framing::Placement;
use crate::develop::{Look, develop};
use egui::text::{LayoutJob, TextFormat};
use egui::{Align, Align2, Color32, FontId, Painter, Pos2, Rect, Stroke, StrokeKind};
use shadewright_image::Image;

/// Pixels of the screen in the side of a block from which its values stand in it.
const READABLE: f32 = 28.0;

/// Pixels of the screen in a pixel from which the one under the pointer is framed.
const FRAMED: f32 = 4.0;

/// Writes the values of red, green and blue into the blocks of an image that can be seen within
/// `clip`, once they are large enough.
pub fn values(painter: &Painter, placement: &Placement, image: &Image, step: u32, look: Look) {
    let side = placement.scale * step as f32;
    if side < READABLE {
        return;
    }
    let font = FontId::monospace((side / 3.6).min(14.0 * placement.pixels_per_point) / placement.pixels_per_point);
    let [columns, rows] = placement.visible_blocks(step);
    let seen = painter.clip_rect();
    for y in rows {
        for x in columns.clone() {
            let block = placement.pixels([x * step, y * step], [(x + 1) * step, (y + 1) * step]);
            if !seen.intersects(block) {
                continue;
            }
            let Some(&rgba) = image.rgba.get((y * image.width + x) as usize).filter(|_| x < image.width) else {
                continue;
            };
            let color = readable_on(rgba, look);
            let [r, g, b, _] = rgba.map(short);
            let text = TextFormat { font_id: font.clone(), color, ..Default::default() };
            let mut job = LayoutJob::single_section(format!("{r}\n{g}\n{b}"), text);
            job.halign = Align::Center;
            let galley = painter.layout_job(job);
            let at = block.center() - egui::vec2(0.0, 0.5 * galley.size().y);
            painter.galley(at, galley, color);
        }
    }
}

/// Black or white: what can be read on a pixel.
fn readable_on(rgba: [f32; 4], look: Look) -> Color32 {
    let pixel = Image::new(1, 1, vec![rgba]);
    let luma = |r: u8, g: u8, b: u8| 0.3 * f32::from(r) + 0.59 * f32::from(g) + 0.11 * f32::from(b);
    let is_light = pixel.is_ok_and(|pixel| develop(&pixel, look, 1, luma).iter().any(|luma| *luma > 127.0));
    if is_light { Color32::BLACK } else { Color32::WHITE }
}

/// A number in at most four characters, five with a sign: `0.53`, `12.3`, `417`, `2e4`.
fn short(x: f32) -> String {
    let size = x.abs();
    if !x.is_finite() {
        return if x.is_nan() {
            "NaN"
        } else if x > 0.0 {
            "inf"
        } else {
            "-inf"
        }
        .to_string();
    }
    match size {
        0.0 => "0".to_string(),
        s if s < 0.005 => format!("{x:.0e}"),
        s if s < 9.995 => format!("{x:.2}"),
        s if s < 99.95 => format!("{x:.1}"),
        s if s < 9_999.5 => format!("{x:.0}"),
        _ => format!("{x:.0e}"),
    }
}

/// A line that can be seen on any color: white between black.
fn outline(painter: &Painter, rect: Rect, pixel: f32) {
    painter.rect_stroke(rect, 0.0, Stroke::new(3.0 * pixel, Color32::BLACK), StrokeKind::Outside);
    painter.rect_stroke(rect.expand(pixel), 0.0, Stroke::new(pixel, Color32::WHITE), StrokeKind::Outside);
}

/// Frames the pixel under the pointer, once it is large enough to be distinguished from its
/// neighbors.
pub fn frame(painter: &Painter, placement: &Placement, [x, y]: [u32; 2]) {
    if placement.scale >= FRAMED {
        outline(painter, placement.pixels([x, y], [x + 1, y + 1]), 1.0 / placement.pixels_per_point);
    }
}

/// Marks the pixel that was picked.
pub fn cross(painter: &Painter, placement: &Placement, [x, y]: [u32; 2]) {
    let pixel = placement.pixels([x, y], [x + 1, y + 1]);
    // The lines leave the pixel and a little around it free.
    let (inner, length) = (0.5 * pixel.width().max(pixel.height()) + 3.0, 10.0);
    let center = Pos2::new(placement.snap(pixel.center().x), placement.snap(pixel.center().y));
    let width = 1.0 / placement.pixels_per_point;
    for (color, width, extra) in [(Color32::BLACK, 3.0 * width, width), (Color32::WHITE, width, 0.0)] {
        for way in [Align2::LEFT_CENTER, Align2::RIGHT_CENTER, Align2::CENTER_TOP, Align2::CENTER_BOTTOM] {
            let way = way.to_sign();
            let ends = [center + way * (inner - extra), center + way * (inner + length + extra)];
            painter.line_segment(ends, Stroke::new(width, color));
        }
    }
    if placement.scale >= FRAMED {
        outline(painter, pixel, width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_whatever_they_are() {
        let cases = [
            (0.0, "0"),
            (0.532, "0.53"),
            (-0.532, "-0.53"),
            (9.999, "10.0"),
            (12.34, "12.3"),
            (99.99, "100"),
            (417.4, "417"),
            (23_456.0, "2e4"),
            (0.0003, "3e-4"),
            (f32::NAN, "NaN"),
            (f32::NEG_INFINITY, "-inf"),
        ];
        for (x, text) in cases {
            assert_eq!(short(x), text);
        }
    }

    #[test]
    fn values_can_be_read_on_dark_and_on_light_pixels() {
        let on = |gray: f32, stops: f32| readable_on([gray, gray, gray, 1.0], Look { stops, ..Look::default() });
        assert_eq!(on(0.02, 0.0), Color32::WHITE);
        assert_eq!(on(0.9, 0.0), Color32::BLACK);
        assert_eq!(on(0.02, 5.0), Color32::BLACK);
        assert_eq!(on(f32::NAN, 0.0), Color32::WHITE);
    }
}
