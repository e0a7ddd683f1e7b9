//! The film: where samples of a render are summed, and the [`Image`] it resolves to.
//!
//! Takes linear RGBA samples (color premultiplied by alpha) in any number of passes and gives
//! their weighted mean for each pixel, and the variance of that mean. It knows nothing of cameras,
//! back ends or file formats. Each pixel is summed in the order of its samples, so a renderer that
//! keeps that order gets the same bits at any thread count.

use super::batches::Batches;
use super::filter::FilterSampler;
use super::sampling::Pattern;
use bytemuck::{Pod, Zeroable};
use shadewright_image::{Channels, Image, SizeError, Variance, check_size};
use shadewright_program::Program;
use shadewright_scene::{Exposure, FilmOptions};

/// How a scene's samples become its image. The default is a box filter, without exposure.
#[derive(Debug, Clone, Default)]
pub struct FilmSettings {
    /// The pixel filter.
    pub filter: FilterSampler,
    /// The exposure, applied before the imager.
    pub exposure: Exposure,
    /// True if samples have times, so that each pixel takes its samples in an order of its own.
    pub moves: bool,
    /// True if the camera reads no positions on the lens: they are the center then.
    pub is_pinhole: bool,
    /// The sampling pattern over the pixel and the lens.
    pub pattern: Pattern,
}

impl FilmSettings {
    /// The settings of a scene with this program.
    #[must_use]
    pub fn new(options: &FilmOptions, program: &Program) -> Self {
        Self {
            filter: FilterSampler::new(options.filter),
            exposure: options.exposure,
            moves: options.moves || program.reads_time(),
            is_pinhole: !program.reads_lens(),
            pattern: Pattern::default(),
        }
    }

    /// The image of a film's means, exposed: `(gain · x)^(1/gamma)` for each color (RISpec 3.2,
    /// §4.1.2). Under a gamma that is not 1, what is below zero becomes zero.
    #[must_use]
    pub fn develop(&self, film: &Film) -> Image {
        self.expose(film.resolve())
    }

    /// The image of these means, exposed: see [`FilmSettings::develop`].
    #[must_use]
    pub fn expose(&self, mut image: Image) -> Image {
        if self.exposure == Exposure::default() {
            return image;
        }
        for [r, g, b, _] in &mut image.rgba {
            [*r, *g, *b] = [*r, *g, *b].map(|x| self.exposed(x));
        }
        image
    }

    fn exposed(&self, x: f32) -> f32 {
        let Exposure { gain, gamma } = self.exposure;
        if gamma == 1.0 { gain * x } else { (gain * x).max(0.0).powf(1.0 / gamma) }
    }

    /// The variances of [`FilmSettings::develop`]'s image, from those of a film with these means:
    /// multiplied by the square of the exposure's derivative (the delta method).
    #[must_use]
    pub fn develop_variance(&self, means: &Image, mut variance: Variance) -> Variance {
        let Exposure { gain, gamma } = self.exposure;
        if self.exposure == Exposure::default() {
            return variance;
        }
        for (variance, mean) in variance.rgb.iter_mut().zip(&means.rgba) {
            for (variance, &x) in variance.iter_mut().zip(mean) {
                // y = (g x)^(1/γ) has the derivative y / (γ x), which is g where γ is 1.
                let slope = match gamma {
                    1.0 => gain,
                    _ if gain * x > 0.0 => self.exposed(x) / (gamma * x),
                    _ => 0.0,
                };
                *variance *= slope * slope;
            }
        }
        variance
    }
}

/// The sum of one pixel's samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct FilmPixel {
    /// Weighted sum of the samples' premultiplied linear color and of their alpha.
    pub sum: [f32; 4],
    /// Sum of the weights.
    pub weight: f32,
}

impl FilmPixel {
    /// Adds a sample, or a sum of samples, that has been multiplied by its weight already: 1 for a
    /// sample under a box filter.
    pub fn add(&mut self, weighted: [f32; 4], weight: f32) {
        for (sum, value) in self.sum.iter_mut().zip(weighted) {
            *sum += value;
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
/// The samples of a pixel arrive in their order. Those of a batch ([`Batches`]) are summed one after
/// the other, and so are the sums of the batches: batches that different processes rendered make the
/// bits of the whole image. The spread of their means gives the variance of the pixel's mean.
///
/// Non-finite samples are summed like any other: a wrong pixel stays visible (see
/// `golden::compare`, which counts them).
///
/// The default film has no pixels: it is for [`Film::restart`].
#[derive(Debug, Clone, Default)]
pub struct Film {
    width: u32,
    height: u32,
    batches: Batches,
    /// The first batch of this film.
    first: u32,
    /// Which samples begin a batch other than the film's first, by their numbers.
    begins: Vec<bool>,
    /// The sums of the batches before the current one.
    sums: Vec<FilmPixel>,
    /// The sums of the current batch. Empty where there is one batch: `sums` holds it.
    current: Vec<FilmPixel>,
    /// For each pixel and color channel, the sum over the batches before of `n (m − M)²`: n is the
    /// number of samples of a batch, m their mean and M that of all of them. Empty unless the film
    /// keeps it.
    spread: Vec<[f32; 3]>,
    /// The sums of the batches before the current one, each for itself, if the film keeps them.
    kept: Option<Vec<Vec<FilmPixel>>>,
}

impl Film {
    /// An empty film of one batch: for samples that are not numbered.
    ///
    /// # Errors
    /// When [`check_size`] refuses the size; nothing has been allocated then.
    pub fn new(width: u32, height: u32) -> Result<Self, SizeError> {
        Self::with_samples(width, height, 1)
    }

    /// An empty film for an image with `samples` samples for each pixel.
    ///
    /// # Errors
    /// The errors of [`Film::new`].
    pub fn with_samples(width: u32, height: u32, samples: u32) -> Result<Self, SizeError> {
        let mut film = Self::default();
        film.restart(width, height, samples)?;
        Ok(film)
    }

    /// An empty film for the samples of the batches from `first` on, of which it keeps the sums, each
    /// for itself: see [`Film::into_batches`].
    ///
    /// # Errors
    /// The errors of [`Film::new`].
    pub fn for_share(width: u32, height: u32, samples: u32, first: u32) -> Result<Self, SizeError> {
        let mut film = Self::with_samples(width, height, samples)?;
        film.first = first;
        let before = film.batches.range(first).start as usize;
        film.begins.iter_mut().take(before + 1).for_each(|begins| *begins = false);
        film.kept = Some(Vec::new());
        Ok(film)
    }

    /// The film also estimates the variances of its pixels. To call before the first sample.
    #[must_use]
    pub fn with_variance(mut self) -> Self {
        self.spread = vec![[0.0; 3]; self.sums.len()];
        self
    }

    /// Empties the film and gives it another size and number of samples; its memory is used again. It
    /// estimates no variances.
    ///
    /// # Errors
    /// When [`check_size`] refuses the size. The film is as it was then.
    pub fn restart(&mut self, width: u32, height: u32, samples: u32) -> Result<(), SizeError> {
        let pixels = check_size(width, height)?;
        let batches = Batches::new(samples);
        (self.width, self.height, self.batches, self.first) = (width, height, batches, 0);
        self.begins.clear();
        self.begins.resize(samples as usize, false);
        (1..batches.count()).for_each(|batch| self.begins[batches.range(batch).start as usize] = true);
        let current = if batches.count() > 1 { pixels } else { 0 };
        for (pixels, count) in [(&mut self.sums, pixels), (&mut self.current, current)] {
            pixels.clear();
            pixels.resize(count, FilmPixel::default());
        }
        self.spread.clear();
        self.kept = None;
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

    /// The number of pixels.
    #[must_use]
    pub fn pixel_count(&self) -> usize {
        self.sums.len()
    }

    /// How the samples are divided into batches.
    #[must_use]
    pub fn batches(&self) -> Batches {
        self.batches
    }

    /// The sums of all pixels, row by row from the top.
    pub fn pixels(&self) -> impl ExactSizeIterator<Item = FilmPixel> + Clone {
        (0..self.sums.len()).map(|at| self.sum_at(at))
    }

    /// The sum of the pixel in column `x` of row `y`.
    ///
    /// # Panics
    /// When the pixel lies outside the film.
    #[must_use]
    pub fn pixel(&self, x: u32, y: u32) -> FilmPixel {
        self.sum_at(self.place(x, y))
    }

    fn sum_at(&self, at: usize) -> FilmPixel {
        let mut pixel = self.sums[at];
        if let Some(current) = self.current.get(at) {
            pixel.add(current.sum, current.weight);
        }
        pixel
    }

    /// Adds sample `index` of the pixel in column `x` of row `y`, with a weight of 1.
    ///
    /// # Panics
    /// When the pixel lies outside the film.
    pub fn add_sample(&mut self, x: u32, y: u32, index: u32, rgba: [f32; 4]) {
        self.add_weighted(x, y, index, rgba, 1.0);
    }

    /// Adds sample `index` of a pixel, which has been multiplied by its weight already.
    ///
    /// # Panics
    /// When the pixel lies outside the film.
    pub fn add_weighted(&mut self, x: u32, y: u32, index: u32, weighted: [f32; 4], weight: f32) {
        let at = self.place(x, y);
        if self.begins_batch(index) {
            self.end_batch(at, index);
        }
        self.current_of(at).add(weighted, weight);
    }

    /// The sum so far of the batch that sample `index` of a pixel belongs to; zero where that is its
    /// first.
    ///
    /// # Panics
    /// When the pixel lies outside the film.
    pub fn batch_sum(&mut self, x: u32, y: u32, index: u32) -> FilmPixel {
        let at = self.place(x, y);
        if self.begins_batch(index) { FilmPixel::default() } else { *self.current_of(at) }
    }

    /// Sets the sum of the batch that sample `index` of a pixel belongs to: of the samples that
    /// [`Film::batch_sum`] gave, of this one, and of others of the batch.
    ///
    /// # Panics
    /// When the pixel lies outside the film.
    pub fn set_batch_sum(&mut self, x: u32, y: u32, index: u32, sum: FilmPixel) {
        let at = self.place(x, y);
        if self.begins_batch(index) {
            self.end_batch(at, index);
        }
        *self.current_of(at) = sum;
    }

    /// Adds the sum of a whole batch to every pixel.
    ///
    /// # Panics
    /// When `sums` does not hold one for each pixel, or batches are missing before this one.
    pub fn add_batch(&mut self, batch: u32, sums: &[FilmPixel]) {
        assert_eq!(sums.len(), self.sums.len(), "one sum a pixel");
        let first = self.batches.range(batch).start;
        for (at, sum) in sums.iter().enumerate() {
            if self.begins_batch(first) {
                self.end_batch(at, first);
            }
            *self.current_of(at) = *sum;
        }
    }

    fn place(&self, x: u32, y: u32) -> usize {
        assert!(x < self.width, "column {x} of a film {} wide", self.width);
        y as usize * self.width as usize + x as usize
    }

    fn begins_batch(&self, index: u32) -> bool {
        self.begins.get(index as usize).copied().unwrap_or(false)
    }

    fn current_of(&mut self, at: usize) -> &mut FilmPixel {
        if self.current.is_empty() { &mut self.sums[at] } else { &mut self.current[at] }
    }

    /// Ends the batch before sample `index`, which begins the next.
    fn end_batch(&mut self, at: usize, index: u32) {
        let batch = self.batches.batch(index) - 1;
        let ended = std::mem::take(&mut self.current[at]);
        if let Some(spread) = self.spread.get_mut(at) {
            let range = self.batches.range(batch);
            let before = range.start - self.batches.range(self.first).start;
            widen(spread, &self.sums[at], before, &ended, range.len() as u32);
        }
        if let Some(kept) = &mut self.kept {
            let place = (batch - self.first) as usize;
            if kept.len() <= place {
                kept.resize(place + 1, vec![FilmPixel::default(); self.sums.len()]);
            }
            kept[place][at] = ended;
        }
        self.sums[at].add(ended.sum, ended.weight);
    }

    /// The image so far; the film can accumulate more.
    #[must_use]
    pub fn resolve(&self) -> Image {
        Image {
            width: self.width,
            height: self.height,
            rgba: self.pixels().map(|pixel| pixel.mean()).collect(),
            channels: Channels::Rgba,
        }
    }

    /// The variances of the pixels' means, where each pixel has the samples below `end`: the method of
    /// batch means (Schmeiser 1982, "Batch size effects in the analysis of simulation output"), with
    /// the weighted variance of batches of unequal size. `None` where the film keeps no variance, or
    /// has fewer than two batches.
    ///
    /// Samples of a stratified pattern or a low-discrepancy sequence vary less than independent ones:
    /// there the estimate is too large.
    #[must_use]
    pub fn variance(&self, end: u32) -> Option<Variance> {
        let start = self.batches.range(self.first).start;
        let last = self.batches.batch(end.checked_sub(1)?);
        let batches = (last + 1).checked_sub(self.first)?;
        if self.spread.is_empty() || batches < 2 {
            return None;
        }
        let last = self.batches.range(last).start;
        let count = (end - start) as f32;
        let divisor = count * (batches - 1) as f32;
        let of_pixel = |(at, spread): (usize, &[f32; 3])| {
            let mut spread = *spread;
            widen(&mut spread, &self.sums[at], last - start, &self.current[at], end - last);
            // The spread is that of sums over numbers of samples; a mean is a sum over weights, which
            // are fewer where some are negative. They have nearly the same sum in every pixel.
            let scale = (count / self.sum_at(at).weight).powi(2);
            spread.map(|s| s / divisor * scale)
        };
        let rgb = self.spread.iter().enumerate().map(of_pixel).collect();
        Some(Variance { rgb, batches, samples: end - start })
    }

    /// The sums of the batches of a film that keeps them ([`Film::for_share`]), each for itself and in
    /// order: for each pixel, row by row from the top.
    #[must_use]
    pub fn into_batches(self) -> Vec<Vec<FilmPixel>> {
        let last = if self.current.is_empty() { self.sums } else { self.current };
        let mut batches = self.kept.unwrap_or_default();
        batches.push(last);
        batches
    }

    /// Bytes of [`Film::state`].
    #[must_use]
    pub fn state_len(&self) -> usize {
        size_of::<FilmPixel>() * (self.sums.len() + self.current.len()) + size_of::<[f32; 3]>() * self.spread.len()
    }

    /// Returns the content of the film as little-endian floats: for a checkpoint.
    pub fn state(&self) -> impl Iterator<Item = [u8; 4]> {
        let planes: [&[f32]; 3] =
            [bytemuck::cast_slice(&self.sums), bytemuck::cast_slice(&self.current), self.spread.as_flattened()];
        planes.into_iter().flatten().map(|float| float.to_le_bytes())
    }

    /// Restores a state of [`Film::state_len`] bytes.
    ///
    /// # Panics
    /// When there are fewer bytes.
    pub fn set_state(&mut self, bytes: &[u8]) {
        let planes: [&mut [f32]; 3] = [
            bytemuck::cast_slice_mut(&mut self.sums),
            bytemuck::cast_slice_mut(&mut self.current),
            self.spread.as_flattened_mut(),
        ];
        let mut words = bytes.as_chunks::<4>().0.iter();
        for float in planes.into_iter().flatten() {
            *float = f32::from_le_bytes(*words.next().expect("a whole state"));
        }
    }
}

/// Adds a batch of `count` samples to the spread of a pixel, whose sum had `before` samples (West
/// 1979, "Updating mean and variance estimates: an improved method").
fn widen(spread: &mut [f32; 3], sum: &FilmPixel, before: u32, batch: &FilmPixel, count: u32) {
    if before == 0 {
        return;
    }
    let [before, count] = [before, count].map(|n| n as f32);
    for (channel, spread) in spread.iter_mut().enumerate() {
        let (old, added) = (sum.sum[channel], batch.sum[channel]);
        let mean = added / count;
        *spread += count * (mean - old / before) * (mean - (old + added) / (before + count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::random::{hash, unit};

    /// Adds a sample to each pixel.
    fn add_pass(film: &mut Film, index: u32, samples: &[[f32; 4]]) {
        for (at, &sample) in (0..).zip(samples) {
            film.add_sample(at % film.width(), at / film.width(), index, sample);
        }
    }

    /// A random number of a pixel's sample.
    fn number(at: u32, index: u32) -> f32 {
        unit(hash(at ^ hash(index)))
    }

    /// A film of random numbers.
    fn random_film(width: u32, samples: u32) -> Film {
        let mut film = Film::with_samples(width, 1, samples).unwrap().with_variance();
        for index in 0..samples {
            add_pass(&mut film, index, &(0..width).map(|at| [number(at, index); 4]).collect::<Vec<_>>());
        }
        film
    }

    #[test]
    fn batches_of_different_films_make_the_bits_of_one() {
        for (samples, cuts) in [(100, &[0, 3, 4, 16][..]), (16, &[0, 8, 16]), (5, &[0, 1, 2, 5]), (1, &[0, 1])] {
            let whole = random_film(9, samples);
            let mut joined = Film::with_samples(9, 1, samples).unwrap().with_variance();
            for cut in cuts.windows(2) {
                let mut share = Film::for_share(9, 1, samples, cut[0]).unwrap();
                let batches = share.batches();
                for index in batches.range(cut[0]).start..batches.range(cut[1] - 1).end {
                    add_pass(&mut share, index, &(0..9).map(|at| [number(at, index); 4]).collect::<Vec<_>>());
                }
                for (batch, sums) in (cut[0]..).zip(share.into_batches()) {
                    joined.add_batch(batch, &sums);
                }
            }
            assert_eq!(joined.resolve(), whole.resolve(), "{samples}");
            assert_eq!(joined.variance(samples), whole.variance(samples), "{samples}");
        }
    }

    #[test]
    fn the_variance_is_that_of_the_mean_of_independent_samples() {
        for samples in [16, 50, 64, 100] {
            let variance = random_film(2000, samples).variance(samples).unwrap();
            assert_eq!(variance.batches, 16);
            let mean = variance.rgb.iter().map(|v| f64::from(v[1])).sum::<f64>() / 2000.0;
            let expected = 1.0 / 12.0 / f64::from(samples);
            assert!((mean / expected - 1.0).abs() < 0.03, "{samples}: {mean}, not {expected}");
        }
    }

    #[test]
    fn negative_weights_make_means_vary_more() {
        let mut film = Film::with_samples(2000, 1, 64).unwrap().with_variance();
        for index in 0..64 {
            let weight = if index % 4 == 3 { -1.0 } else { 1.0 };
            (0..2000).for_each(|x| film.add_weighted(x, 0, index, [weight * number(x, index); 4], weight));
        }
        let variance = film.variance(64).unwrap();
        let mean = variance.rgb.iter().map(|v| f64::from(v[1])).sum::<f64>() / 2000.0;
        // Weights of 48 − 16 = 32: 64 variances of 1/12 over the square of that.
        assert!((mean * 12.0 * 16.0 - 1.0).abs() < 0.03, "{mean}");
    }

    #[test]
    fn a_film_that_ends_early_has_the_variance_of_its_samples() {
        let mut film = Film::with_samples(2000, 1, 100).unwrap().with_variance();
        assert_eq!(film.variance(0), None);
        for index in 0..40 {
            add_pass(&mut film, index, &(0..2000).map(|at| [number(at, index); 4]).collect::<Vec<_>>());
        }
        let variance = film.variance(40).unwrap();
        assert_eq!(variance.batches, 7);
        let mean = variance.rgb.iter().map(|v| f64::from(v[0])).sum::<f64>() / 2000.0;
        assert!((mean * 12.0 * 40.0 - 1.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn a_film_of_one_sample_has_no_variance() {
        assert_eq!(random_film(3, 1).variance(1), None);
        assert_eq!(Film::with_samples(3, 1, 16).unwrap().variance(16), None);
    }

    #[test]
    fn sums_of_batches_set_at_once_are_those_of_their_samples() {
        let expected = random_film(3, 40);
        let mut film = Film::with_samples(3, 1, 40).unwrap().with_variance();
        for samples in [0..2, 2..4, 4..5].into_iter().chain((5..40).map(|i| i..i + 1)) {
            for at in 0..3 {
                let mut sum = film.batch_sum(at, 0, samples.start);
                samples.clone().for_each(|index| sum.add([number(at, index); 4], 1.0));
                film.set_batch_sum(at, 0, samples.start, sum);
            }
        }
        assert_eq!((film.resolve(), film.variance(40)), (expected.resolve(), expected.variance(40)));
    }

    #[test]
    fn variances_are_exposed_like_their_means() {
        let settings = |gamma| FilmSettings { exposure: Exposure { gain: 3.0, gamma }, ..FilmSettings::default() };
        let means = Image::new(1, 1, vec![[0.2, 0.4, -1.0, 1.0]]).unwrap();
        let variance = Variance { rgb: vec![[1e-6; 3]], batches: 16, samples: 16 };
        assert_eq!(settings(1.0).develop_variance(&means, variance.clone()).rgb, [[9e-6; 3]]);
        let found = settings(2.0).develop_variance(&means, variance).rgb[0];
        // The derivative of √(3 x) is √(3 / x) / 2.
        for (found, expected) in found.into_iter().zip([3e-6 / 0.8, 3e-6 / 1.6, 0.0]) {
            assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        }
    }

    #[test]
    fn a_pixel_is_the_mean_of_its_samples() {
        let mut film = Film::with_samples(2, 1, 2).unwrap();
        add_pass(&mut film, 0, &[[1.0, 0.0, 0.5, 1.0], [0.25; 4]]);
        add_pass(&mut film, 1, &[[0.0, 2.0, 0.5, 0.0], [0.75; 4]]);
        assert_eq!(film.resolve().rgba, [[0.5, 1.0, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5]]);
    }

    #[test]
    fn a_film_that_starts_again_is_empty_in_its_new_size() {
        let mut film = Film::default();
        film.restart(2, 1, 4).unwrap();
        film.add_sample(1, 0, 0, [1.0; 4]);
        assert!(film.restart(0, 1, 4).is_err());
        assert_eq!(film.resolve().rgba, [[0.0; 4], [1.0; 4]]);
        film.restart(1, 3, 1).unwrap();
        assert_eq!((film.width(), film.height(), film.resolve().rgba), (1, 3, vec![[0.0; 4]; 3]));
    }

    #[test]
    fn weights_count() {
        let mut pixel = FilmPixel::default();
        pixel.add([3.0; 4], 3.0);
        pixel.add([0.0; 4], 1.0);
        assert_eq!(pixel.mean(), [0.75; 4]);
    }

    #[test]
    fn a_sample_of_weight_minus_one_takes_its_color_away() {
        let mut film = Film::new(1, 1).unwrap();
        for (color, weight) in [(1.0, 1.0), (1.0, 1.0), (0.5, -1.0)] {
            film.add_weighted(0, 0, 0, [color * weight; 4], weight);
        }
        assert_eq!(film.resolve().rgba, [[1.5; 4]]);
    }

    #[test]
    fn exposure_multiplies_and_then_takes_the_root() {
        let mut film = Film::new(2, 1).unwrap();
        add_pass(&mut film, 0, &[[0.125, 0.5, 0.0, 0.5], [-1.0, 2.0, 0.0, 1.0]]);
        let settings = FilmSettings { exposure: Exposure { gain: 2.0, gamma: 2.0 }, ..FilmSettings::default() };
        assert_eq!(settings.develop(&film).rgba, [[0.5, 1.0, 0.0, 0.5], [0.0, 2.0, 0.0, 1.0]]);
        let gain = FilmSettings { exposure: Exposure { gain: 3.0, gamma: 1.0 }, ..FilmSettings::default() };
        assert_eq!(gain.develop(&film).rgba, [[0.375, 1.5, 0.0, 0.5], [-3.0, 6.0, 0.0, 1.0]]);
        assert_eq!(FilmSettings::default().develop(&film), film.resolve());
    }

    #[test]
    fn a_pixel_without_samples_is_transparent_black() {
        let mut film = Film::new(1, 2).unwrap();
        film.add_sample(0, 1, 0, [1.0; 4]);
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
