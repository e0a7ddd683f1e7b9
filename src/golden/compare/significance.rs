//! The test that two noisy images have the same means: Student's t-test of every pixel, and of blocks of
//! pixels at several scales, with Šidák's correction for the number of tests.
//!
//! Takes two images with the variances of their pixels and gives a [`Significance`]: a probability,
//! and the regions that differ. A single pixel has little power. Pixels are independent, so the
//! variances of a block's pixels add up, and the mean of a block of n pixels shows a shift that is
//! √n times smaller.
//!
//! The test of a block is Welch's (1947), with the degrees of freedom of the Welch–Satterthwaite
//! equation. Three things make it hold for images, whose noise is far from normal:
//!
//! - Where the numbers of samples differ, a rare bright sample that only the larger one had makes
//!   the means differ and leaves the smaller one's variance at nothing. So a variance is not taken
//!   below what the other image predicts ([`Model::statistic`]).
//! - A pixel's variance from few batches can be small by chance, or nothing where a sample is one of
//!   two values. For the test of the pixel itself it is not taken below the mean of the 3×3 pixels
//!   around it.
//! - Back ends round differently, and sums of more samples are less exact: a difference counts from
//!   [`ROUNDING`] of the value on, and [`SUMMATION`] for each sample.

use super::regions::{self, Region};
use super::student::{MOST_DEGREES, critical_value, two_sided_p};
use rayon::prelude::*;
use serde::Serialize;
use shadewright_image::{Channels, Image, Variance, is_finite};
use std::fmt;

/// The significance unless another is asked for: of a hundred comparisons of equal scenes, one fails.
pub const DEFAULT_SIGNIFICANCE: f64 = 0.01;

/// The fewest batches, and so samples, that an image is tested with.
pub const LEAST_BATCHES: u32 = 16;

/// The share of a value that rounding may change: a hundred times what separates a software driver from
/// the RPU (`docs/comparing.md` has the measurements).
const ROUNDING: f64 = 1e-5;

/// The share of a value that is lost in a sum of single precision, for each sample: 2⁻³⁰. Means of
/// constants in 16 batches are off by 6.1·10⁻⁵ at most with 65536 samples, and by 1.1·10⁻⁶ with 1024.
const SUMMATION: f64 = 1.0 / (1 << 30) as f64;

/// Values below this share of the image's mean round like it.
const DARK: f64 = 1e-2;

/// Blocks of the next scale have this many of the last along each side.
const STEP: usize = 4;

/// An image with the variances of its pixels.
#[derive(Clone, Copy, Debug)]
pub struct Estimate<'a> {
    /// The means.
    pub image: &'a Image,
    /// Their variances, of as many pixels.
    pub variance: &'a Variance,
}

/// Two images of one size, to be tested for equal means.
#[derive(Clone, Copy, Debug)]
pub enum Pair<'a> {
    /// Rendered with random numbers that are independent. Where they are the same the test still
    /// holds, with less power.
    Independent(Estimate<'a>, Estimate<'a>),
    /// Rendered with the same random numbers.
    Paired {
        /// The means of the first.
        first: &'a Image,
        /// The means of the second.
        second: &'a Image,
        /// The variances of the pixels' differences.
        variance: &'a Variance,
    },
}

impl<'a> Pair<'a> {
    fn images(&self) -> [&'a Image; 2] {
        match *self {
            Self::Independent(first, second) => [first.image, second.image],
            Self::Paired { first, second, .. } => [first, second],
        }
    }

    fn variances(&self) -> [Option<&'a Variance>; 2] {
        match *self {
            Self::Independent(first, second) => [Some(first.variance), Some(second.variance)],
            Self::Paired { variance, .. } => [Some(variance), None],
        }
    }
}

/// The outcome of the test. `Display` gives it in lines, with the [`PRINTED`] regions that differ most.
#[derive(Clone, Debug, Serialize)]
pub struct Significance {
    /// The significance that was asked for.
    pub significance: f64,
    /// True if the images had the same random numbers.
    pub paired: bool,
    /// The smallest probability of any test, corrected for the number of tests: the probability that
    /// images with the same means differ as much somewhere.
    pub p: f64,
    /// Sides of the blocks in pixels, the smallest first. The last is the whole image.
    pub sides: Vec<u32>,
    /// The number of tests: one for each block of each scale, and each channel.
    pub tests: u64,
    /// Pixels without a finite value and variance, which were not tested.
    pub untested: u64,
    /// The regions that differ: at most [`regions::MOST`], the least probable first.
    pub regions: Vec<Region>,
    /// How many regions differ.
    pub region_count: u64,
    /// For each pixel, row by row from the top, the statistic of the block that it differs most in,
    /// over its critical value: above 1 where the second image is significantly brighter, below −1
    /// where it is significantly darker.
    #[serde(skip)]
    pub map: Vec<f32>,
}

/// Regions that are printed.
const PRINTED: usize = 10;

impl Significance {
    /// The map in colors: red where the second image is brighter, blue where it is darker. Up to the
    /// critical value they grow from black to half of their brightness; beyond it they are bright, and
    /// nearer to white the more it is exceeded, up to eight times.
    ///
    /// # Panics
    /// When the size is not that of the images, a mistake of the caller.
    #[must_use]
    pub fn image(&self, width: u32, height: u32) -> Image {
        let colored = |&ratio: &f32| {
            let (strength, paleness) = match ratio.abs() {
                ratio if ratio < 1.0 => (0.2 * ratio, 0.0),
                ratio => (1.0, ratio.log2().min(3.0) / 4.0),
            };
            let pale = strength * paleness;
            let [warm, cold] = if ratio > 0.0 { [strength, pale] } else { [pale, strength] };
            [warm, pale, cold, 1.0]
        };
        assert_eq!(self.map.len(), width as usize * height as usize, "the size of the map");
        Image { width, height, rgba: self.map.iter().map(colored).collect(), channels: Channels::Rgb }
    }
}

impl fmt::Display for Significance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides: Vec<String> = self.sides.iter().map(ToString::to_string).collect();
        let of = if self.paired { "the same random numbers" } else { "independent random numbers" };
        writeln!(f, "z test        {} tests in blocks of {} pixels, {of}", self.tests, sides.join(", "))?;
        if self.untested > 0 {
            writeln!(f, "not tested    {} pixels", self.untested)?;
        }
        write!(f, "regions       {} differ", self.region_count)?;
        for region in self.regions.iter().take(PRINTED) {
            write!(f, "\n  {region}")?;
        }
        match self.region_count.saturating_sub(PRINTED as u64) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

/// Sums over the pixels of a block, of one channel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    /// Second less first.
    difference: f64,
    /// The difference that rounding may make.
    rounding: f64,
    /// Of each image.
    variances: [f64; 2],
    /// Their squares.
    squares: [f64; 2],
}

impl Sums {
    /// Sets the variance of an image's pixel. Estimates of nothing are below zero by a rounding.
    fn set_variance(&mut self, image: usize, variance: f64) {
        let variance = variance.max(0.0);
        self.variances[image] = variance;
        self.squares[image] = variance * variance;
    }

    fn add(&mut self, other: &Self) {
        self.difference += other.difference;
        self.rounding += other.rounding;
        for image in 0..2 {
            self.variances[image] += other.variances[image];
            self.squares[image] += other.squares[image];
        }
    }
}

/// A channel's statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Statistic {
    /// 0 for red, 1 for green, 2 for blue.
    pub channel: usize,
    /// Student's t.
    pub t: f64,
    pub degrees: f64,
    /// t over its critical value.
    pub ratio: f64,
    pub is_significant: bool,
}

/// The values that the statistics of all blocks have in common.
struct Model {
    /// Of each image's variances.
    degrees: [f64; 2],
    /// Samples of the first image over those of the second.
    ratio: f64,
}

impl Model {
    /// Student's t and its degrees of freedom.
    ///
    /// Where images have equal means because they are images of the same, their samples vary
    /// equally, and the variances can be pooled. Weighted by the samples of each image, the pooled
    /// variance is that of Welch with the images' variances exchanged and scaled to the other's
    /// number of samples. The larger of both counts; for equal numbers of samples they are equal.
    fn statistic(&self, sums: &Sums) -> (f64, f64) {
        let [first, second] = sums.variances;
        let of_scales = |scales: [f64; 2]| {
            let variance = scales[0] * first + scales[1] * second;
            let term = |image: usize| (scales[image].powi(2) * sums.squares[image]) / self.degrees[image];
            (variance, term(0) + term(1))
        };
        let (welch, pooled) = (of_scales([1.0, 1.0]), of_scales([self.ratio, 1.0 / self.ratio]));
        let (variance, terms) = if pooled.0 > welch.0 { pooled } else { welch };
        let excess = (sums.difference.abs() - sums.rounding).max(0.0);
        if excess == 0.0 || variance == 0.0 {
            let t = if excess == 0.0 { 0.0 } else { f64::INFINITY };
            return (t.copysign(sums.difference), self.least_degrees());
        }
        let degrees = (variance * variance / terms).max(self.least_degrees());
        ((excess / variance.sqrt()).copysign(sums.difference), degrees)
    }

    fn least_degrees(&self) -> f64 {
        self.degrees[0].min(self.degrees[1])
    }
}

/// The tests of one scale.
struct Scale {
    /// How many tests probabilities are corrected for: those of this scale, times the number of scales.
    exponent: f64,
    /// The probability that is significant for one test.
    p: f64,
    /// Critical values, by degrees of freedom.
    critical: Vec<(f64, f64)>,
}

impl Scale {
    /// Scales share the significance equally, and so do the tests of a scale: coarse blocks are few,
    /// and would pay for the number of pixels otherwise. By Šidák's inequality (1967) the
    /// correction holds for dependent tests, too.
    fn new(significance: f64, tests: u64, scales: usize, least_degrees: f64) -> Self {
        let exponent = tests as f64 * scales as f64;
        let p = -((-significance).ln_1p() / exponent).exp_m1();
        let mut critical = Vec::new();
        let mut degrees = least_degrees;
        while degrees < 2.0 * MOST_DEGREES {
            critical.push((degrees, critical_value(p, degrees)));
            degrees *= 2.0;
        }
        Self { exponent, p, critical }
    }

    /// The statistic of a block that differs most, if it has any.
    fn worst(&self, model: &Model, sums: &[Sums; 3]) -> Statistic {
        let statistics = [0, 1, 2].map(|channel| {
            let (t, degrees) = model.statistic(&sums[channel]);
            let (ratio, is_significant) = self.judge(t, degrees);
            Statistic { channel, t, degrees, ratio, is_significant }
        });
        let [red, green, blue] = statistics;
        let worse = |a: Statistic, b: Statistic| if b.ratio.abs() > a.ratio.abs() { b } else { a };
        worse(worse(red, green), blue)
    }

    /// The ratio of a statistic to its critical value, and whether it is significant: both agree.
    fn judge(&self, t: f64, degrees: f64) -> (f64, bool) {
        let next = self.critical.partition_point(|&(node, _)| node <= degrees).max(1);
        let (low, at_low) = self.critical[next - 1];
        let (high, at_high) = self.critical.get(next).copied().unwrap_or((low, at_low));
        // Critical values are nearly linear in the reciprocal of the degrees of freedom.
        let share = if high > low { (1.0 / low - 1.0 / degrees.max(low)) / (1.0 / low - 1.0 / high) } else { 0.0 };
        let ratio = t / (at_low + (at_high - at_low) * share.min(1.0));
        let is_significant = match t.abs() {
            t if t >= at_low => true,
            t if t < at_high => false,
            t => two_sided_p(t, degrees) <= self.p,
        };
        let below = 1.0 - f64::from(f32::EPSILON);
        let bounded = if is_significant { ratio.abs().max(1.0) } else { ratio.abs().min(below) };
        (bounded.copysign(t), is_significant)
    }
}

/// A block of pixels: the sums of all of them, and of those in no smaller block that differs.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    all: [Sums; 3],
    rest: [Sums; 3],
    /// True if `rest` is less than `all`.
    is_reduced: bool,
}

impl Block {
    fn add(&mut self, other: &Self) {
        for channel in 0..3 {
            self.all[channel].add(&other.all[channel]);
            self.rest[channel].add(&other.rest[channel]);
        }
        self.is_reduced |= other.is_reduced;
    }

    /// Tests it and takes it out of the larger blocks if what is left of it differs. Gives the
    /// statistics of all its pixels, and of what was left.
    fn test(&mut self, scale: &Scale, model: &Model) -> [Statistic; 2] {
        let all = scale.worst(model, &self.all);
        let rest = if self.is_reduced { scale.worst(model, &self.rest) } else { all };
        if rest.is_significant {
            self.rest = [Sums::default(); 3];
            self.is_reduced = true;
        }
        [all, rest]
    }
}

/// The blocks of one scale, tested.
#[derive(Debug)]
pub(super) struct Tested {
    /// Side of a block in pixels.
    pub side: usize,
    /// Blocks across.
    pub columns: usize,
    /// The ratio of each block's statistic to its critical value, of the pixels that no smaller block
    /// was named for; beyond ±1 the block is named.
    pub ratios: Vec<f32>,
    /// The blocks that are named, by their number.
    pub named: Vec<(usize, Named)>,
    /// The statistic of all pixels of a block that differs most.
    worst: Statistic,
    /// How many tests its probabilities are corrected for.
    exponent: f64,
}

/// A block that differs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub statistic: Statistic,
    /// True if the second image is brighter, over all channels.
    pub is_brighter: bool,
}

impl Tested {
    fn new(side: usize, columns: usize, scale: &Scale) -> Self {
        let none = Statistic { channel: 0, t: 0.0, degrees: 1.0, ratio: 0.0, is_significant: false };
        let exponent = scale.exponent;
        Self { side, columns, ratios: Vec::new(), named: Vec::new(), worst: none, exponent }
    }

    /// The probability of a statistic, corrected for the number of tests.
    pub fn corrected_p(&self, statistic: &Statistic) -> f64 {
        let p = two_sided_p(statistic.t, statistic.degrees);
        -(self.exponent * (-p).ln_1p()).exp_m1()
    }

    /// Tests the next block, and gives whether it is named.
    fn push(&mut self, block: &mut Block, scale: &Scale, model: &Model) -> bool {
        let before = block.rest;
        let [all, rest] = block.test(scale, model);
        if all.ratio.abs() > self.worst.ratio.abs() {
            self.worst = all;
        }
        if rest.is_significant {
            let is_brighter = before.iter().map(|sums| sums.difference).sum::<f64>() > 0.0;
            self.named.push((self.ratios.len(), Named { statistic: rest, is_brighter }));
        }
        self.ratios.push(rest.ratio as f32);
        rest.is_significant
    }

    fn append(&mut self, other: Self) {
        let before = self.ratios.len();
        self.ratios.extend(other.ratios);
        self.named.extend(other.named.into_iter().map(|(number, named)| (before + number, named)));
        if other.worst.ratio.abs() > self.worst.ratio.abs() {
            self.worst = other.worst;
        }
    }
}

/// Tests whether two images have the same means.
///
/// # Panics
/// When the images differ in size or have no pixels, or a variance has another number of pixels or
/// fewer than two batches: mistakes of the caller.
#[must_use]
pub fn test(pair: &Pair<'_>, significance: f64) -> Significance {
    let [first, second] = pair.images();
    let (width, height) = (first.width as usize, first.height as usize);
    assert_eq!((first.width, first.height), (second.width, second.height), "the sizes of both images");
    assert!(width > 0 && height > 0, "an image without pixels");
    let variances = pair.variances();
    for variance in variances.into_iter().flatten() {
        assert_eq!(variance.rgb.len(), width * height, "a variance for each pixel");
        assert!(variance.batches > 1, "a variance of {} batches", variance.batches);
    }
    let field = Field::new(first, second, variances);
    let degrees = variances.map(|v| v.map_or(f64::MAX, |v| f64::from(v.batches - 1)));
    let samples = variances.map(|v| v.map_or(1.0, |v| f64::from(v.samples.max(1))));
    let ratio = if variances[1].is_some() { samples[0] / samples[1] } else { 1.0 };
    let model = Model { degrees, ratio };

    let mut sides = vec![1];
    while sides[sides.len() - 1] < width.max(height) {
        sides.push(sides[sides.len() - 1] * STEP);
    }
    let tests_of = |side: usize| 3 * (width.div_ceil(side) * height.div_ceil(side)) as u64;
    let scale_of = |side| Scale::new(significance, tests_of(side), sides.len(), model.least_degrees());

    let (pixels, mut blocks, untested) = test_pixels(&field, &scale_of(1), &model);
    let mut scales = vec![pixels];
    for &side in &sides[1..] {
        let scale = scale_of(side);
        let mut tested = Tested::new(side, width.div_ceil(side), &scale);
        for block in &mut blocks {
            tested.push(block, &scale, &model);
        }
        blocks = joined(&blocks, tested.columns);
        scales.push(tested);
    }
    let map = regions::map(&scales, width, height);
    let (regions, region_count) = regions::regions(&scales, first, second);
    let of_scales = scales.iter().map(|scale| scale.corrected_p(&scale.worst));
    let p = of_scales.chain(regions.iter().map(|region| region.p)).fold(f64::INFINITY, f64::min);
    Significance {
        significance,
        paired: variances[1].is_none(),
        p,
        tests: sides.iter().map(|&side| tests_of(side)).sum(),
        sides: sides.iter().map(|&side| side.min(width.max(height)) as u32).collect(),
        untested,
        regions,
        region_count,
        map,
    }
}

/// Blocks of [`STEP`] times the side.
fn joined(blocks: &[Block], columns: usize) -> Vec<Block> {
    let wide = columns.div_ceil(STEP);
    let mut larger = vec![Block::default(); wide * (blocks.len() / columns).div_ceil(STEP)];
    for (number, block) in blocks.iter().enumerate() {
        larger[number / columns / STEP * wide + number % columns / STEP].add(block);
    }
    larger
}

/// Tests pixels, and gives the blocks of the next scale, and how many pixels were not tested.
fn test_pixels(field: &Field<'_>, scale: &Scale, model: &Model) -> (Tested, Vec<Block>, u64) {
    let (width, height) = (field.width, field.height);
    let strip = |first_row: usize| {
        let rows = first_row..(first_row + STEP).min(height);
        let mut tested = Tested::new(1, width, scale);
        let mut blocks = vec![Block::default(); width.div_ceil(STEP)];
        let mut untested = 0;
        for y in rows {
            for x in 0..width {
                let sums = field.pixel(x, y);
                untested += u64::from(sums.is_none());
                let sums = sums.unwrap_or_default();
                let smoothed = field.smoothed(sums, x, y);
                let mut pixel = Block { all: smoothed, rest: smoothed, is_reduced: false };
                let is_named = tested.push(&mut pixel, scale, model);
                pixel.all = sums;
                if !is_named {
                    pixel.rest = sums;
                }
                blocks[x / STEP].add(&pixel);
            }
        }
        (tested, blocks, untested)
    };
    let rows: Vec<usize> = (0..height).step_by(STEP).collect();
    let strips: Vec<_> = rows.into_par_iter().map(strip).collect();
    let (mut all, mut blocks, mut untested) = (Tested::new(1, width, scale), Vec::new(), 0);
    for (tested, more, count) in strips {
        all.append(tested);
        blocks.extend(more);
        untested += count;
    }
    (all, blocks, untested)
}

/// The values and variances of all pixels.
struct Field<'a> {
    width: usize,
    height: usize,
    images: [&'a [[f32; 4]]; 2],
    variances: [Option<&'a [[f32; 3]]>; 2],
    /// The share of a value that rounding may change.
    rounding: f64,
    /// The value that darker ones round like.
    dark: f64,
}

impl<'a> Field<'a> {
    fn new(first: &'a Image, second: &'a Image, variances: [Option<&'a Variance>; 2]) -> Self {
        let images = [&first.rgba[..], &second.rgba[..]];
        let rows = images.iter().flat_map(|rgba| rgba.chunks(first.width as usize));
        let of_row = |row: &[[f32; 4]]| {
            let finite = row.iter().filter(|rgba| is_finite(rgba));
            finite.flat_map(|rgba| &rgba[..3]).map(|&x| f64::from(x).abs()).sum::<f64>()
        };
        let total: f64 = rows.map(of_row).sum();
        let mean = total / (6 * first.rgba.len()) as f64;
        let most_samples = variances.into_iter().flatten().map(|variance| variance.samples).max();
        let rounding = ROUNDING + SUMMATION * f64::from(most_samples.unwrap_or(0));
        let variances = variances.map(|v| v.map(|v| &v.rgb[..]));
        let (width, height) = (first.width as usize, first.height as usize);
        Self { width, height, images, variances, rounding, dark: DARK * mean }
    }

    /// The sums of a pixel; `None` where it has a value or a variance that is not finite.
    fn pixel(&self, x: usize, y: usize) -> Option<[Sums; 3]> {
        let at = y * self.width + x;
        let [first, second] = self.images.map(|rgba| rgba[at]);
        if !is_finite(&first) || !is_finite(&second) {
            return None;
        }
        let mut sums = [Sums::default(); 3];
        for channel in 0..3 {
            let [a, b] = [first, second].map(|rgba| f64::from(rgba[channel]));
            let sum = &mut sums[channel];
            sum.difference = b - a;
            sum.rounding = self.rounding * a.abs().max(b.abs()).max(self.dark);
        }
        for (image, variances) in self.variances.iter().enumerate() {
            let Some(variances) = variances else { continue };
            for (sums, &variance) in sums.iter_mut().zip(&variances[at]) {
                if !variance.is_finite() {
                    return None;
                }
                sums.set_variance(image, f64::from(variance));
            }
        }
        Some(sums)
    }

    /// The sums of a pixel with variances that are at least the mean around it.
    fn smoothed(&self, mut sums: [Sums; 3], x: usize, y: usize) -> [Sums; 3] {
        for (image, variances) in self.variances.iter().enumerate() {
            let Some(variances) = variances else { continue };
            let around = self.mean_around(variances, x, y);
            for (sums, around) in sums.iter_mut().zip(around) {
                sums.set_variance(image, sums.variances[image].max(around));
            }
        }
        sums
    }

    /// The mean of the finite variances of the 3×3 pixels around one.
    fn mean_around(&self, variances: &[[f32; 3]], x: usize, y: usize) -> [f64; 3] {
        let (mut sums, mut counts) = ([0.0; 3], [0.0; 3]);
        for y in y.saturating_sub(1)..(y + 2).min(self.height) {
            for x in x.saturating_sub(1)..(x + 2).min(self.width) {
                for (channel, &variance) in variances[y * self.width + x].iter().enumerate() {
                    if variance.is_finite() {
                        sums[channel] += f64::from(variance);
                        counts[channel] += 1.0;
                    }
                }
            }
        }
        std::array::from_fn(|channel| sums[channel] / f64::max(counts[channel], 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::random::{hash, unit};

    /// A distribution: a sample of a pixel from three independent uniform random numbers.
    type Sample = fn([f32; 3]) -> f32;

    const EXPONENTIAL: Sample = |u| -(u[0].max(1e-9)).ln();
    const NORMAL: Sample = |u| 10.0 + (-2.0 * u[0].max(1e-9).ln()).sqrt() * (std::f32::consts::TAU * u[1]).cos();
    const COIN: Sample = |u| if u[0] < 0.5 { 1.0 } else { 0.0 };
    const SELDOM: Sample = |u| if u[0] < 0.01 { 1.0 } else { 0.0 };

    /// An image whose samples have a distribution, and its variances by 16 batches.
    fn rendered([width, height]: [u32; 2], samples: u32, seed: u32, sample: Sample) -> (Image, Variance) {
        let channel = |pixel: u32, channel: u32| {
            let mut key = hash(seed ^ hash(pixel ^ hash(channel)));
            let mut next = || {
                key = hash(key);
                unit(key)
            };
            let mut batches = [0.0_f64; 16];
            for batch in &mut batches {
                let of_batch = samples / 16;
                *batch = (0..of_batch).map(|_| f64::from(sample([next(), next(), next()]))).sum::<f64>()
                    / f64::from(of_batch);
            }
            let mean = batches.iter().sum::<f64>() / 16.0;
            let variance = batches.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 15.0 / 16.0;
            (mean as f32, variance as f32)
        };
        let (mut rgba, mut rgb) = (Vec::new(), Vec::new());
        for pixel in 0..width * height {
            let [(r, red), (g, green), (b, blue)] = [0, 1, 2].map(|c| channel(pixel, c));
            rgba.push([r, g, b, 1.0]);
            rgb.push([red, green, blue]);
        }
        (Image::new(width, height, rgba).unwrap(), Variance { rgb, batches: 16, samples })
    }

    fn independent(first: &(Image, Variance), second: &(Image, Variance)) -> Significance {
        let [first, second] = [first, second].map(|(image, variance)| Estimate { image, variance });
        test(&Pair::Independent(first, second), DEFAULT_SIGNIFICANCE)
    }

    /// How many of `trials` pairs of equal distributions differ.
    fn false_positives(trials: u32, [first, second]: [u32; 2], sample: Sample) -> usize {
        let differs = |seed: &u32| {
            let render = |samples, seed| rendered([16, 16], samples, seed, sample);
            let pair = [render(first, 2 * seed), render(second, 2 * seed + 1)];
            independent(&pair[0], &pair[1]).p < DEFAULT_SIGNIFICANCE
        };
        (0..trials).filter(differs).count()
    }

    #[test]
    fn equal_distributions_differ_as_seldom_as_the_significance_says() {
        // At 1 %, 9 of 300 are exceeded by chance once in 900 times; the seeds are fixed.
        for (name, sample) in [("normal", NORMAL), ("exponential", EXPONENTIAL), ("coin", COIN), ("seldom", SELDOM)] {
            let count = false_positives(300, [16, 16], sample);
            assert!(count <= 9, "{count} of 300: {name}");
        }
    }

    #[test]
    fn rare_bright_samples_that_only_the_longer_render_has_are_no_difference() {
        for (name, sample) in [("exponential", EXPONENTIAL), ("seldom", SELDOM)] {
            let count = false_positives(60, [16, 512], sample) + false_positives(60, [512, 16], sample);
            assert!(count <= 4, "{count} of 120: {name}");
        }
    }

    #[test]
    fn a_shift_of_one_percent_is_found_where_it_is() {
        let mut shifted = rendered([128, 64], 64, 4, NORMAL);
        for (at, rgba) in shifted.0.rgba.iter_mut().enumerate() {
            if (at % 128) >= 64 {
                rgba[1] *= 1.01;
            }
        }
        let found = independent(&rendered([128, 64], 64, 3, NORMAL), &shifted);
        assert!(found.p < 1e-10, "{}", found.p);
        let [region] = &found.regions[..] else { panic!("{:?}", found.regions) };
        assert_eq!((region.x, region.y, region.width, region.height), (64, 0, 64, 64));
        assert_eq!((region.pixels, region.channel), (64 * 64, "green"));
        assert!(region.z > 0.0 && (region.percent.unwrap() - 1.0).abs() < 0.1, "{region:?}");
        assert_eq!(found.map.len(), 128 * 64);
        assert!(found.map[..64].iter().all(|&ratio| ratio.abs() < 1.0));
        assert!(found.map[64..128].iter().all(|&ratio| ratio >= 1.0));
    }

    #[test]
    fn a_wrong_pixel_is_named_and_the_blocks_around_it_are_not() {
        let first = rendered([70, 50], 16, 1, NORMAL);
        let mut second = rendered([70, 50], 16, 2, NORMAL);
        second.0.rgba[20 * 70 + 33] = [2000.0, 10.0, 10.0, 1.0];
        let found = independent(&first, &second);
        let [region] = &found.regions[..] else { panic!("{:?}", found.regions) };
        assert_eq!((region.x, region.y, region.pixels, region.block), (33, 20, 1, 1));
        assert_eq!(found.sides, [1, 4, 16, 64, 70]);
        assert_eq!(found.tests, 3 * (3500 + 18 * 13 + 5 * 4 + 2 + 1));
    }

    #[test]
    fn regions_with_opposite_signs_are_apart() {
        let first = rendered([64, 32], 64, 1, NORMAL);
        let mut second = rendered([64, 32], 64, 2, NORMAL);
        for (at, rgba) in second.0.rgba.iter_mut().enumerate() {
            let factor = if at % 64 < 32 { 1.1 } else { 0.9 };
            rgba[..3].iter_mut().for_each(|x| *x *= factor);
        }
        let found = independent(&first, &second);
        let signs: Vec<bool> = found.regions.iter().map(|region| region.z > 0.0).collect();
        assert_eq!(found.region_count, 2, "{:?}", found.regions);
        assert_ne!(signs[0], signs[1]);
        assert!(found.regions.iter().all(|region| region.pixels == 1024));
    }

    #[test]
    fn means_without_variance_differ_beyond_rounding_alone() {
        let flat = |value: f32| {
            let image = Image::new(5, 3, vec![[value, value, value, 1.0]; 15]).unwrap();
            (image, Variance { rgb: vec![[0.0; 3]; 15], batches: 16, samples: 16 })
        };
        assert_eq!(independent(&flat(0.5), &flat(0.5)).p, 1.0);
        assert_eq!(independent(&flat(0.5), &flat(0.500004)).p, 1.0);
        let found = independent(&flat(0.5), &flat(0.5001));
        assert_eq!((found.p, found.region_count, found.regions[0].pixels), (0.0, 1, 15));
        // Nothing compared with nothing.
        assert_eq!(independent(&flat(0.0), &flat(0.0)).p, 1.0);
        assert_eq!(independent(&flat(0.0), &flat(1e-30)).p, 0.0);
    }

    #[test]
    fn a_pixel_that_is_not_finite_is_left_out() {
        let first = rendered([8, 8], 16, 1, NORMAL);
        let mut second = rendered([8, 8], 16, 2, NORMAL);
        second.0.rgba[9][2] = f32::NAN;
        second.1.rgb[30][0] = f32::INFINITY;
        let found = independent(&first, &second);
        assert_eq!(found.untested, 2);
        assert!(found.p > DEFAULT_SIGNIFICANCE);
    }

    #[test]
    fn an_image_of_one_pixel_has_one_scale() {
        let found = independent(&rendered([1, 1], 16, 1, NORMAL), &rendered([1, 1], 16, 2, NORMAL));
        assert_eq!((&found.sides[..], found.tests), (&[1][..], 3));
        assert!(found.p > DEFAULT_SIGNIFICANCE);
        let other = rendered([1, 1], 16, 2, |u| 1.0 + NORMAL(u) / 10.0);
        let found = independent(&rendered([1, 1], 16, 1, NORMAL), &other);
        assert_eq!((found.region_count, found.regions[0].block), (1, 1));
    }

    #[test]
    fn the_order_of_the_images_changes_signs_alone() {
        let (first, second) = (rendered([20, 20], 64, 1, NORMAL), rendered([20, 20], 16, 2, |u| NORMAL(u) * 1.02));
        let (forth, back) = (independent(&first, &second), independent(&second, &first));
        assert!(forth.p < DEFAULT_SIGNIFICANCE && (forth.p / back.p - 1.0).abs() < 1e-6, "{} {}", forth.p, back.p);
        assert!(forth.map.iter().zip(&back.map).all(|(a, b)| (a + b).abs() < 1e-5));
    }

    #[test]
    fn differences_of_equal_random_numbers_show_more() {
        // The second image is the first times 1.002: far below the noise of either.
        let first = rendered([32, 32], 16, 1, EXPONENTIAL);
        let scaled = |x: f32| x * 1.002;
        let second = Image { rgba: first.0.rgba.iter().map(|rgba| rgba.map(scaled)).collect(), ..first.0.clone() };
        assert!(independent(&first, &(second.clone(), first.1.clone())).p > DEFAULT_SIGNIFICANCE);
        let squared = 0.002_f32.powi(2);
        let variance = Variance { rgb: first.1.rgb.iter().map(|v| v.map(|v| v * squared)).collect(), ..first.1 };
        let pair = Pair::Paired { first: &first.0, second: &second, variance: &variance };
        let found = test(&pair, DEFAULT_SIGNIFICANCE);
        assert!(found.paired && found.p < 1e-6, "{}", found.p);
    }
}
