//! A drawing as an image of pixels, with smooth lines.

use super::config::Background;
use super::drawing::Drawing;
use super::svg::{DASHED_WIDTH, DASHES};
use glam::DVec2;
use shadewright_image::color::decode_srgb;
use shadewright_image::{Image, SizeError, check_size};

/// The lines while they are drawn: how much of each pixel they cover, and in which color.
struct Canvas {
    width: usize,
    height: usize,
    cover: Vec<(f32, [u8; 3])>,
}

/// The drawing as an image, with smooth lines.
///
/// A pixel is covered as its center is within half the line's width, with a slope of a pixel; where
/// lines meet, by the one that covers most of it. Colors mix as displays and browsers mix them, in
/// sRGB codes.
///
/// # Errors
/// When the size is none of an image.
pub fn image(drawing: &Drawing) -> Result<Image, SizeError> {
    let [width, height] = drawing.size;
    let pixels = check_size(width, height)?;
    let mut canvas = Canvas { width: width as usize, height: height as usize, cover: vec![(0.0, [0; 3]); pixels] };
    for group in &drawing.groups {
        for line in &group.hidden {
            for dash in dashes(line, DASHES.map(|part| part * drawing.stroke_width)) {
                canvas.stroke(dash, DASHED_WIDTH * drawing.stroke_width, group.color);
            }
        }
        for line in &group.visible {
            for pair in line.windows(2) {
                canvas.stroke([pair[0], pair[1]], drawing.stroke_width, group.color);
            }
        }
    }
    let paper = if drawing.background == Background::White { 1.0 } else { 0.0 };
    let pixel = |(cover, color): (f32, [u8; 3])| {
        let mix = |code: u8| match drawing.background {
            Background::White => decode_srgb(1.0 + cover * (f32::from(code) / 255.0 - 1.0)),
            Background::None => cover * decode_srgb(f32::from(code) / 255.0),
        };
        let [r, g, b] = color.map(mix);
        [r, g, b, cover + (1.0 - cover) * paper]
    };
    Image::new(width, height, canvas.cover.into_iter().map(pixel).collect())
}

impl Canvas {
    /// Draws a straight line.
    fn stroke(&mut self, [from, to]: [DVec2; 2], width: f64, color: [u8; 3]) {
        let reach = 0.5 * width + 0.5;
        let along = to - from;
        let squared = along.length_squared();
        let (top, bottom) = (from.y.min(to.y) - reach, from.y.max(to.y) + reach);
        // Casts saturate: what is outside the image is cut off.
        for row in (top.floor() as usize)..(bottom.ceil() as usize).min(self.height) {
            let y = row as f64 + 0.5;
            // The part of the line that is near the row.
            let at = |y: f64| if along.y == 0.0 { 0.0 } else { (y - from.y) / along.y };
            let (a, b) = if along.y.abs() < 1e-9 { (0.0, 1.0) } else { (at(y - reach), at(y + reach)) };
            let [first, last] = [a.min(b), a.max(b)].map(|t| from.x + along.x * t.clamp(0.0, 1.0));
            let (left, right) = (first.min(last) - reach, first.max(last) + reach);
            for column in (left.floor() as usize)..(right.ceil() as usize).min(self.width) {
                let point = DVec2::new(column as f64 + 0.5, y);
                let t = if squared > 0.0 { ((point - from).dot(along) / squared).clamp(0.0, 1.0) } else { 0.0 };
                let distance = point.distance(from + along * t);
                let cover = ((reach - distance).clamp(0.0, 1.0) * width.min(1.0)) as f32;
                if let Some(pixel) = self.cover.get_mut(row * self.width + column)
                    && cover > pixel.0
                {
                    *pixel = (cover, color);
                }
            }
        }
    }
}

/// The dashes of a polyline, by the lengths of a dash and the gap after it.
fn dashes(line: &[DVec2], [dash, gap]: [f64; 2]) -> Vec<[DVec2; 2]> {
    let mut found = Vec::new();
    let period = dash + gap;
    let mut begun = 0.0;
    for pair in line.windows(2) {
        let length = pair[0].distance(pair[1]);
        let at = |along: f64| pair[0].lerp(pair[1], (along / length.max(1e-9)).clamp(0.0, 1.0));
        let first = (begun / period).floor() as i64;
        let last = ((begun + length) / period).floor() as i64;
        for number in first..=last {
            let start = (number as f64 * period - begun).max(0.0);
            let end = (number as f64 * period + dash - begun).min(length);
            if start < end {
                found.push([at(start), at(end)]);
            }
        }
        begun += length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Group;
    use super::*;

    fn drawing(background: Background) -> Drawing {
        let line = |points: &[[f64; 2]]| points.iter().map(|&p| p.into()).collect();
        let group = Group {
            object: 0,
            name: None,
            color: [0, 0, 0],
            visible: vec![line(&[[1.0, 2.5], [9.0, 2.5]])],
            hidden: vec![line(&[[0.0, 6.5], [10.0, 6.5]])],
        };
        Drawing { size: [10, 8], groups: vec![group], stroke_width: 1.0, background }
    }

    #[test]
    fn a_line_on_the_centers_of_pixels_covers_them() {
        let image = image(&drawing(Background::White)).expect("an image");
        let at = |x: usize, y: usize| image.rgba[10 * y + x];
        assert_eq!(at(5, 2), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(at(5, 3), [1.0; 4]);
        // Dashes of 3 and gaps of 3, as thick as 0.6 pixels.
        assert!(at(1, 6)[0] < 0.3 && at(4, 6)[0] == 1.0 && at(7, 6)[0] < 0.3, "{:?}", at(1, 6));
    }

    #[test]
    fn a_transparent_image_has_alpha_at_lines_only() {
        let image = image(&drawing(Background::None)).expect("an image");
        assert_eq!(image.rgba[25], [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(image.rgba[0], [0.0; 4]);
    }

    #[test]
    fn a_line_that_leaves_the_image_is_cut_off() {
        let mut drawing = drawing(Background::White);
        drawing.groups[0].visible = vec![vec![DVec2::new(-50.0, -20.0), DVec2::new(60.0, 24.0)]];
        let image = image(&drawing).expect("an image");
        assert!(image.rgba[0][0] < 0.1 && image.rgba[79][0] == 1.0);
    }
}
