//! The files that `bake` writes: samples of a texture as text, and the image that they make.
//!
//! A line has the texture coordinates `s` and `t`, from 0 to 1, and one or three numbers; `#`
//! begins a comment. That is the form of BMRT and Aqsis.

use super::{MAX_POINTS, PointCloudError};
use shadewright_image::{Channels, Image};
use std::fmt::Write;

/// The first line of files that are written here.
pub const FIRST_LINE: &[u8] = b"# s t value\n";

/// The largest side of the image that samples make.
const MAX_SIDE: u32 = 2048;

/// Samples of a texture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// How many numbers a value has: 1 or 3.
    pub channels: usize,
    /// `s` and `t` of each sample.
    pub places: Vec<[f32; 2]>,
    /// [`Samples::channels`] numbers a sample.
    pub values: Vec<f32>,
}

impl Samples {
    /// Adds a sample; one that is not finite, or has another number of values, is left out.
    pub fn push(&mut self, place: [f32; 2], values: &[f32]) {
        if place.iter().chain(values).all(|x| x.is_finite()) && values.len() == self.channels {
            self.places.push(place);
            self.values.extend(values);
        }
    }

    /// The text of a file. A number's shortest form gives the number back.
    pub fn encode(&self) -> String {
        let mut text = String::from_utf8_lossy(FIRST_LINE).into_owned();
        for ([s, t], values) in self.places.iter().zip(self.values.chunks(self.channels.max(1))) {
            let _ = write!(text, "{s} {t}");
            for v in values {
                let _ = write!(text, " {v}");
            }
            text.push('\n');
        }
        text
    }

    /// The samples in a text.
    ///
    /// # Errors
    /// When a line has other words than three or five numbers, lines differ in their number, or
    /// there are more than [`MAX_POINTS`] lines.
    pub fn decode(bytes: &[u8]) -> Result<Self, PointCloudError> {
        let text =
            std::str::from_utf8(bytes).map_err(|_| PointCloudError::Corrupt("the file is no text".to_string()))?;
        let mut samples = Self::default();
        let mut row = [0.0f32; 5];
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let mut count = 0;
            for word in line.split_whitespace() {
                let wrong = |what: String| PointCloudError::Corrupt(format!("line {}: {what}", number + 1));
                let place = row.get_mut(count).ok_or_else(|| wrong("more than five numbers".to_string()))?;
                *place = word.parse().map_err(|_| wrong(format!("`{word}` is not a number")))?;
                count += 1;
            }
            if count == 0 {
                continue;
            }
            if samples.channels == 0 && matches!(count, 3 | 5) {
                samples.channels = count - 2;
            }
            if samples.channels == 0 || count != samples.channels + 2 {
                let message =
                    format!("line {}: s, t and one or three numbers are expected, as in other lines", number + 1);
                return Err(PointCloudError::Corrupt(message));
            }
            samples.push([row[0], row[1]], &row[2..count]);
            if samples.places.len() > MAX_POINTS {
                return Err(PointCloudError::TooLarge(samples.places.len() as u64));
            }
        }
        if samples.places.is_empty() {
            return Err(PointCloudError::Corrupt("there are no samples".to_string()));
        }
        Ok(samples)
    }

    /// The side of the image that the samples make: a power of two, with about one texel a sample.
    pub fn side(&self) -> u32 {
        let side = (self.places.len() as f64).sqrt().round() as u32;
        side.next_power_of_two().clamp(16, MAX_SIDE)
    }

    /// The samples as an image of `side`² texels: a texel is the mean of the samples around it,
    /// weighted by nearness. Texels without samples are interpolated from coarser images, which
    /// have some (Gortler et al. 1996, "The Lumigraph", §3.4: pull and push).
    pub fn image(&self, side: u32) -> Image {
        let n = side as usize;
        // Sums of weighted colors, and of weights.
        let mut sums = vec![[0.0f32; 4]; n * n];
        for (&[s, t], values) in self.places.iter().zip(self.values.chunks(self.channels.max(1))) {
            if !(0.0..=1.0).contains(&s) || !(0.0..=1.0).contains(&t) {
                continue;
            }
            let [r, g, b] = if let [r, g, b] = *values { [r, g, b] } else { [values[0]; 3] };
            let [x, y] = [s, t].map(|x| x * side as f32 - 0.5);
            for (i, j) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let (column, row) = (x.floor() as i64 + i, y.floor() as i64 + j);
                if !(0..n as i64).contains(&column) || !(0..n as i64).contains(&row) {
                    continue;
                }
                let weight = (1.0 - (x - column as f32).abs()) * (1.0 - (y - row as f32).abs());
                let sum = &mut sums[row as usize * n + column as usize];
                [r, g, b, 1.0].iter().zip(sum).for_each(|(x, sum)| *sum += weight * x);
            }
        }
        let means = filled(sums, n);
        let rgba = means.into_iter().map(|[r, g, b]| [r, g, b, 1.0]).collect();
        let channels = if self.channels == 1 { Channels::Gray } else { Channels::Rgb };
        Image { width: side, height: side, rgba, channels }
    }
}

/// Below this weight a texel takes the rest from the coarser image.
const ENOUGH: f32 = 0.25;

/// The means of sums of colors and weights on a square of `n`² texels, a power of two.
fn filled(sums: Vec<[f32; 4]>, n: usize) -> Vec<[f32; 3]> {
    let coarser = (n > 1).then(|| {
        let half = n / 2;
        let mut pulled = vec![[0.0f32; 4]; half * half];
        for (at, sum) in sums.iter().enumerate() {
            let (x, y) = (at % n, at / n);
            let into = &mut pulled[y / 2 * half + x / 2];
            sum.iter().zip(into).for_each(|(x, into)| *into += x);
        }
        (filled(pulled, half), half)
    });
    let mean = |at: usize| {
        let [r, g, b, weight] = sums[at];
        let own = if weight > 0.0 { [r, g, b].map(|x| x / weight) } else { [0.0; 3] };
        let share = (weight / ENOUGH).min(1.0);
        match &coarser {
            Some((means, half)) if share < 1.0 => {
                let below = bilinear(means, *half, at % n, at / n);
                std::array::from_fn(|i| own[i] * share + below[i] * (1.0 - share))
            }
            _ => own,
        }
    };
    (0..n * n).map(mean).collect()
}

/// The coarser image at the center of a texel of the finer one.
fn bilinear(means: &[[f32; 3]], side: usize, x: usize, y: usize) -> [f32; 3] {
    let neighbors = |at: usize| {
        // The center lies a quarter of a coarse texel from that of the texel that holds it.
        let (near, other) =
            (at / 2, if at.is_multiple_of(2) { (at / 2).saturating_sub(1) } else { (at / 2 + 1).min(side - 1) });
        [(near, 0.75), (other, 0.25)]
    };
    let mut value = [0.0; 3];
    for (row, by_row) in neighbors(y) {
        for (column, by_column) in neighbors(x) {
            let mean = means[row * side + column];
            (0..3).for_each(|i| value[i] += mean[i] * by_row * by_column);
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of a ramp on a grid of `n`².
    fn ramp(n: usize) -> Samples {
        let mut samples = Samples { channels: 1, ..Samples::default() };
        for i in 0..n * n {
            let [s, t] = [i % n, i / n].map(|i| (i as f32 + 0.5) / n as f32);
            samples.push([s, t], &[2.0 * s + t]);
        }
        samples
    }

    #[test]
    fn a_text_gives_the_samples_back() {
        let samples = ramp(3);
        assert_eq!(Samples::decode(samples.encode().as_bytes()), Ok(samples));
        let color = Samples { channels: 3, places: vec![[0.5, 0.25]], values: vec![1.0, -2.0, 1e-7] };
        assert_eq!(Samples::decode(color.encode().as_bytes()), Ok(color));
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, message) in [
            ("75 0.25\n", "line 1: s, t and one or three numbers are expected, as in other lines"),
            ("0 0 1\n0 0\n", "line 2: s, t and one or three numbers are expected, as in other lines"),
            ("0 0 1\n0 0 1 2 3", "line 2: s, t and one or three numbers are expected, as in other lines"),
            ("# only words\n0 0 x", "line 2: `x` is not a number"),
            ("0 0 1 2 3 4", "line 1: more than five numbers"),
            ("# nothing\n\n", "there are no samples"),
        ] {
            assert_eq!(Samples::decode(text.as_bytes()), Err(PointCloudError::Corrupt(message.to_string())));
        }
        // What is not finite is left out.
        assert_eq!(Samples::decode(b"0 0 nan\n1 1 2\n").unwrap().places, [[1.0, 1.0]]);
    }

    #[test]
    fn the_image_of_a_ramp_is_the_ramp() {
        let image = ramp(64).image(32);
        for (at, pixel) in image.rgba.iter().enumerate() {
            let [s, t] = [at % 32, at / 32].map(|i| (i as f32 + 0.5) / 32.0);
            let inside = [s, t].iter().all(|x| (0.05..0.95).contains(x));
            let bound = if inside { 1e-5 } else { 0.03 };
            assert!((pixel[0] - (2.0 * s + t)).abs() < bound, "{s} {t}: {pixel:?}");
        }
    }

    #[test]
    fn holes_are_filled_from_around() {
        let mut samples = ramp(64);
        let inside = |place: &[f32; 2]| place.iter().all(|x| (0.4..0.6).contains(x));
        let kept: Vec<bool> = samples.places.iter().map(|p| !inside(p)).collect();
        let mut keep = kept.iter();
        samples.values.retain(|_| *keep.next().unwrap_or(&true));
        samples.places.retain(|p| !inside(p));
        let middle = samples.image(32).rgba[16 * 32 + 16];
        assert!((middle[0] - 1.5).abs() < 0.2 && middle[3] == 1.0, "{middle:?}");
    }
}
