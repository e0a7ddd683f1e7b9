//! The film: where samples of a render are summed, and the [`Image`] it resolves to.
//!
//! Takes linear RGBA samples (colour premultiplied by alpha) in any number of passes and gives
//! their weighted mean for each pixel. It knows nothing of cameras, back ends or file formats. Each
//! pixel is summed in the order in which its samples arrive, so a renderer that keeps that order
//! gets the same bits at any thread count.

use super::filter::FilterSampler;
use super::sampling::Pattern;
use crate::image::{Channels, Image, SizeError, check_size};
use crate::program::Program;
use crate::scene::{Exposure, FilmOptions};

/// How a scene's samples become its image. The default is a box filter, without exposure.
#[derive(Debug, Clone, Default)]
pub struct FilmSettings {
    /// The pixel filter.
    pub filter: FilterSampler,
    /// The exposure, applied before the imager.
    pub exposure: Exposure,
    /// Whether samples have times, so that each pixel takes its samples in an order of its own.
    pub moves: bool,
    /// Whether the camera reads no positions on the lens: they are the centre then.
    pub is_pinhole: bool,
    /// The sampling pattern over the pixel and the lens.
    pub pattern: Pattern,
}

impl FilmSettings {
    /// The settings of a scene with this program.
    #[must_use]
    pub fn of(options: &FilmOptions, program: &Program) -> Self {
        Self {
            filter: FilterSampler::new(options.filter),
            exposure: options.exposure,
            moves: options.moves || program.reads_time(),
            is_pinhole: !program.reads_lens(),
            pattern: Pattern::default(),
        }
    }

    /// The image of a film's means, exposed: `(gain · x)^(1/gamma)` for each colour (RISpec 3.2,
    /// §4.1.2). Under a gamma that is not 1, what is below zero becomes zero.
    #[must_use]
    pub fn develop(&self, film: &Film) -> Image {
        let mut image = film.resolve();
        let Exposure { gain, gamma } = self.exposure;
        if self.exposure == Exposure::default() {
            return image;
        }
        let exposed = |x: f32| if gamma == 1.0 { gain * x } else { (gain * x).max(0.0).powf(1.0 / gamma) };
        for [r, g, b, _] in &mut image.rgba {
            [*r, *g, *b] = [*r, *g, *b].map(exposed);
        }
        image
    }
}

/// The sum of one pixel's samples.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FilmPixel {
    /// Weighted sum of the samples' premultiplied linear colour and of their alpha.
    pub sum: [f32; 4],
    /// Sum of the weights.
    pub weight: f32,
}

impl FilmPixel {
    /// Adds a sample: premultiplied linear colour and alpha, with its weight (1 for a box filter).
    pub fn add(&mut self, rgba: [f32; 4], weight: f32) {
        for (sum, value) in self.sum.iter_mut().zip(rgba) {
            *sum += value * weight;
        }
        self.weight += weight;
    }

    /// The weighted mean of the samples so far; transparent black when there are none.
    #[must_use]
    pub fn mean(&self) -> [f32; 4] {
        if self.weight == 0.0 {
            return [0.0; 4];
        }
        self.sum.map(|sum| sum / self.weight)
    }
}

/// The accumulating image of a render.
///
/// Non-finite samples are summed like any other: a wrong pixel stays visible (see
/// [`crate::compare`], which counts them).
///
/// The default film has no pixels: it is for [`Film::restart`].
#[derive(Debug, Clone, Default)]
pub struct Film {
    width: u32,
    height: u32,
    pixels: Vec<FilmPixel>,
}

impl Film {
    /// An empty film.
    ///
    /// # Errors
    /// When [`check_size`] refuses the size; nothing has been allocated then.
    pub fn new(width: u32, height: u32) -> Result<Self, SizeError> {
        let pixels = check_size(width, height)?;
        Ok(Self { width, height, pixels: vec![FilmPixel::default(); pixels] })
    }

    /// Empties the film and gives it another size; its memory is used again.
    ///
    /// # Errors
    /// When [`check_size`] refuses the size. The film is as it was then.
    pub fn restart(&mut self, width: u32, height: u32) -> Result<(), SizeError> {
        let pixels = check_size(width, height)?;
        (self.width, self.height) = (width, height);
        self.pixels.clear();
        self.pixels.resize(pixels, FilmPixel::default());
        Ok(())
    }

    /// Width in pixels.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// All pixels, row by row from the top.
    #[must_use]
    pub fn pixels(&self) -> &[FilmPixel] {
        &self.pixels
    }

    /// All pixels, row by row from the top; split them to let several threads add at once.
    pub fn pixels_mut(&mut self) -> &mut [FilmPixel] {
        &mut self.pixels
    }

    /// Adds one sample of weight 1 to the pixel in column `x` of row `y`.
    ///
    /// # Panics
    /// When the pixel lies outside the film.
    pub fn add_sample(&mut self, x: u32, y: u32, rgba: [f32; 4]) {
        assert!(x < self.width, "column {x} of a film {} wide", self.width);
        let index = y as usize * self.width as usize + x as usize;
        self.pixels[index].add(rgba, 1.0);
    }

    /// Adds one sample that has been multiplied by its weight already.
    ///
    /// # Panics
    /// When the pixel lies outside the film.
    pub fn add_weighted(&mut self, x: u32, y: u32, weighted: [f32; 4], weight: f32) {
        assert!(x < self.width, "column {x} of a film {} wide", self.width);
        let pixel = &mut self.pixels[y as usize * self.width as usize + x as usize];
        pixel.add(weighted, 1.0);
        pixel.weight += weight - 1.0;
    }

    /// Adds one sample of weight 1 to every pixel.
    ///
    /// # Panics
    /// When `samples` does not hold one sample a pixel.
    pub fn add_pass(&mut self, samples: &[[f32; 4]]) {
        assert_eq!(samples.len(), self.pixels.len(), "one sample a pixel");
        for (pixel, sample) in self.pixels.iter_mut().zip(samples) {
            pixel.add(*sample, 1.0);
        }
    }

    /// The image so far; the film can accumulate more.
    #[must_use]
    pub fn resolve(&self) -> Image {
        Image {
            width: self.width,
            height: self.height,
            rgba: self.pixels.iter().map(FilmPixel::mean).collect(),
            channels: Channels::Rgba,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_is_the_mean_of_its_samples() {
        let mut film = Film::new(2, 1).unwrap();
        film.add_pass(&[[1.0, 0.0, 0.5, 1.0], [0.25; 4]]);
        film.add_pass(&[[0.0, 2.0, 0.5, 0.0], [0.75; 4]]);
        assert_eq!(film.resolve().rgba, [[0.5, 1.0, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5]]);
    }

    #[test]
    fn a_film_that_starts_again_is_empty_in_its_new_size() {
        let mut film = Film::default();
        film.restart(2, 1).unwrap();
        film.add_sample(1, 0, [1.0; 4]);
        assert!(film.restart(0, 1).is_err());
        assert_eq!(film.resolve().rgba, [[0.0; 4], [1.0; 4]]);
        film.restart(1, 3).unwrap();
        assert_eq!((film.width(), film.height(), film.resolve().rgba), (1, 3, vec![[0.0; 4]; 3]));
    }

    #[test]
    fn weights_count() {
        let mut pixel = FilmPixel::default();
        pixel.add([1.0; 4], 3.0);
        pixel.add([0.0; 4], 1.0);
        assert_eq!(pixel.mean(), [0.75; 4]);
    }

    #[test]
    fn a_sample_of_weight_minus_one_takes_its_color_away() {
        let mut film = Film::new(1, 1).unwrap();
        for (color, weight) in [(1.0, 1.0), (1.0, 1.0), (0.5, -1.0)] {
            film.add_weighted(0, 0, [color * weight; 4], weight);
        }
        assert_eq!(film.resolve().rgba, [[1.5; 4]]);
    }

    #[test]
    fn exposure_multiplies_and_then_takes_the_root() {
        let mut film = Film::new(2, 1).unwrap();
        film.add_pass(&[[0.125, 0.5, 0.0, 0.5], [-1.0, 2.0, 0.0, 1.0]]);
        let settings = FilmSettings { exposure: Exposure { gain: 2.0, gamma: 2.0 }, ..FilmSettings::default() };
        assert_eq!(settings.develop(&film).rgba, [[0.5, 1.0, 0.0, 0.5], [0.0, 2.0, 0.0, 1.0]]);
        let gain = FilmSettings { exposure: Exposure { gain: 3.0, gamma: 1.0 }, ..FilmSettings::default() };
        assert_eq!(gain.develop(&film).rgba, [[0.375, 1.5, 0.0, 0.5], [-3.0, 6.0, 0.0, 1.0]]);
        assert_eq!(FilmSettings::default().develop(&film), film.resolve());
    }

    #[test]
    fn a_pixel_without_samples_is_transparent_black() {
        let mut film = Film::new(1, 2).unwrap();
        film.add_sample(0, 1, [1.0; 4]);
        assert_eq!(film.resolve().rgba, [[0.0; 4], [1.0; 4]]);
    }

    #[test]
    fn a_huge_film_is_refused_with_its_numbers() {
        let error = Film::new(100_000, 100_000).unwrap_err();
        assert_eq!(
            error.to_string(),
            "an image of 100000 x 100000 pixels has 10000000000 pixels; the limit is 268435456 (for example 16384 x 16384)"
        );
        assert!(check_size(u32::MAX, u32::MAX).is_err());
        assert_eq!(check_size(16_384, 16_384), Ok(1 << 28));
    }

    #[test]
    fn an_empty_film_is_refused() {
        let error = Film::new(640, 0).unwrap_err();
        assert_eq!(error.to_string(), "an image of 640 x 0 pixels is empty; width and height must be at least 1");
    }

    #[test]
    fn only_alpha_1_everywhere_is_opaque() {
        let mut image = Image::new(1, 2, vec![[0.0, 0.0, 0.0, 1.0]; 2]).unwrap();
        assert!(image.is_opaque());
        image.rgba[1][3] = 0.5;
        assert!(!image.is_opaque());
    }
}
