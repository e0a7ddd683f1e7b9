//! The image: samples of scan lines, and pixels from samples by a weighted filter (§3.3.5).

use super::config::{Filter, ImageOptions};
use super::segment::STEPS;
use shadewright_image::Image;

/// A color and the share of it that polygons cover.
pub type Color = [f32; 4];

/// Samples of the image, filtered across and not yet down.
#[derive(Debug)]
pub struct Film {
    size: [u32; 2],
    samples: [u32; 2],
    filter: Filter,
    /// For each scan line a color for each column of pixels.
    lines: Vec<Color>,
}

impl Film {
    /// A film for an image.
    pub fn new(size: [u32; 2], options: &ImageOptions) -> Self {
        let lines = (size[1] * options.samples[1]) as usize;
        Self { size, samples: options.samples, filter: options.filter, lines: vec![[0.0; 4]; size[0] as usize * lines] }
    }

    /// Samples of a scan line.
    pub fn width(&self) -> usize {
        (self.size[0] * self.samples[0]) as usize
    }

    /// Scan lines.
    pub fn height(&self) -> u32 {
        self.size[1] * self.samples[1]
    }

    /// The step at which a sample is, on the whole screen.
    pub fn step(&self, sample: usize) -> i32 {
        ((2 * sample as u64 + 1) * STEPS as u64 / (2 * self.width() as u64)) as i32
    }

    /// The rows of colors of some scan lines, which can be filled at the same time.
    pub fn rows(&mut self, first: u32) -> std::slice::ChunksMut<'_, Color> {
        let width = self.size[0] as usize;
        self.lines[first as usize * width..].chunks_mut(width)
    }

    /// Filters the samples of a line across.
    pub fn across(samples: &[Color], per_pixel: u32, filter: Filter, row: &mut [Color]) {
        resample(samples.len(), per_pixel, filter, row.len(), |pixel, sample, weight| {
            for (sum, value) in row[pixel].iter_mut().zip(samples[sample]) {
                *sum += weight * value;
            }
        });
    }

    /// The image.
    pub fn develop(&self) -> Vec<Color> {
        let width = self.size[0] as usize;
        let mut pixels = vec![[0.0; 4]; width * self.size[1] as usize];
        let height = self.height() as usize;
        resample(height, self.samples[1], self.filter, self.size[1] as usize, |row, line, weight| {
            let from = &self.lines[line * width..(line + 1) * width];
            for (pixel, color) in pixels[row * width..(row + 1) * width].iter_mut().zip(from) {
                pixel.iter_mut().zip(color).for_each(|(sum, value)| *sum += weight * value);
            }
        });
        pixels
    }

    /// The image as a file has it.
    ///
    /// # Errors
    /// When it is too large.
    pub fn image(&self) -> Result<Image, shadewright_image::SizeError> {
        Image::new(self.size[0], self.size[1], self.develop())
    }
}

/// Calls `add` with the weight of each sample in each pixel. The weights of a pixel sum to 1.
fn resample(samples: usize, per_pixel: u32, filter: Filter, pixels: usize, mut add: impl FnMut(usize, usize, f32)) {
    let n = per_pixel as usize;
    for pixel in 0..pixels {
        let (first, end) = match filter {
            Filter::Box => (pixel * n, (pixel + 1) * n),
            Filter::Triangle => ((pixel * n).saturating_sub(n / 2), ((pixel + 1) * n + n / 2).min(samples)),
        };
        let weight = |sample: usize| match filter {
            Filter::Box => 1.0,
            Filter::Triangle => {
                let distance = (sample as f32 + 0.5) / n as f32 - (pixel as f32 + 0.5);
                (1.0 - distance.abs()).max(0.0)
            }
        };
        let total: f32 = (first..end).map(weight).sum();
        for sample in first..end {
            add(pixel, sample, weight(sample) / total);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(per_pixel: u32, filter: Filter) -> Vec<Vec<(usize, f32)>> {
        let mut found = vec![Vec::new(); 4];
        resample(4 * per_pixel as usize, per_pixel, filter, 4, |pixel, sample, weight| {
            found[pixel].push((sample, weight));
        });
        found
    }

    #[test]
    fn the_weights_of_a_pixel_sum_to_one_and_are_those_of_the_filter() {
        for (n, filter) in [(1, Filter::Box), (4, Filter::Box), (1, Filter::Triangle), (4, Filter::Triangle)] {
            for pixel in weights(n, filter) {
                assert!((pixel.iter().map(|w| w.1).sum::<f32>() - 1.0).abs() < 1e-6);
            }
        }
        assert_eq!(weights(1, Filter::Triangle)[1], [(1, 1.0)]);
        assert_eq!(weights(2, Filter::Box)[1], [(2, 0.5), (3, 0.5)]);
        let tent = &weights(2, Filter::Triangle)[1];
        assert_eq!(tent.iter().map(|w| w.0).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert!(tent[1].1 > tent[0].1 && (tent[1].1 - tent[2].1).abs() < 1e-6);
    }

    #[test]
    fn samples_are_in_the_middle_of_their_part_of_the_line() {
        let options = ImageOptions { samples: [2, 1], ..super::super::config::Config::default().image };
        let film = Film::new([256, 4], &options);
        assert_eq!([film.step(0), film.step(1), film.step(511)], [4, 12, 4092]);
    }
}
