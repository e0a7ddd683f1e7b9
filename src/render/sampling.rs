//! Sampling patterns over pixel and lens. Integer hashing gives every back end the same samples.

use super::film::FilmSettings;
use super::filter::FilterSampler;
use super::sobol;
use glam::Vec2;
use shadewright_base::named::{Named, Row};
use shadewright_base::random::{hash, unit};
use shadewright_bvh::kernel::Isa;
use shadewright_bvh::wide::lanes::{Simd, Work};

/// The sampling pattern of a pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pattern {
    /// Jittered: one sample in each stratum of the pixel, and one in each of the lens.
    #[default]
    Stratified,
    /// An Owen-scrambled Sobol sequence, best with a power of two of samples.
    Sobol,
}

impl Named for Pattern {
    const TABLE: &'static [Row<Self>] = &[
        ("stratified", "One sample in each stratum of the pixel", Self::Stratified),
        ("sobol", "A scrambled Sobol sequence, best with a power of two samples", Self::Sobol),
    ];
}

/// The samples of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Strata a pixel in x and y, each with one sample.
    pub strata: [u32; 2],
    /// The seed of the jitter.
    pub seed: u32,
}

impl Sampling {
    /// Samples a pixel.
    pub fn count(&self) -> u32 {
        self.strata[0] * self.strata[1]
    }

    /// The samples of pixel `(x, y)`, placed by the film's filter.
    pub fn pixel<'a>(&self, film: &'a FilmSettings, x: u32, y: u32) -> PixelSamples<'a> {
        const TIME: u32 = 0x7469_6d65;
        let order = |of: u32| pixel_hash(x, y, self.seed ^ of);
        PixelSamples {
            sampling: *self,
            film,
            at: [x, y],
            seed: hash(self.seed),
            pixel: order(0) >> 8,
            time: order(TIME),
            place: order(PLACE),
            lens: order(LENS),
        }
    }

    /// Sample `index` of pixel `(x, y)`, placed by the film's filter.
    pub fn sample(&self, film: &FilmSettings, x: u32, y: u32, index: u32) -> CameraSample {
        self.pixel(film, x, y).sample(index)
    }

    /// The camera's arguments for some samples: as those of [`Sampling::sample`].
    pub fn arguments(&self, film: &FilmSettings, numbers: &Numbers, arguments: &mut Arguments) {
        let together = !film.moves && film.is_pinhole;
        match film.filter {
            FilterSampler::Box(size) if together && self.count() < DIVISIBLE => {
                let pattern = film.pattern;
                Isa::best().run(Together { sampling: *self, pattern, size, numbers, arguments });
            }
            _ => {
                arguments.count = numbers.count;
                let mut last: Option<PixelSamples<'_>> = None;
                for (i, ([x, y], index)) in numbers.iter().enumerate() {
                    let pixel = match last {
                        Some(pixel) if pixel.at == [x, y] => pixel,
                        _ => *last.insert(self.pixel(film, x, y)),
                    };
                    arguments.set(i, &pixel.sample(index));
                }
            }
        }
    }

    /// A point of the unit square within stratum `index`.
    fn stratified(&self, index: u32, key: u32) -> Vec2 {
        let [nx, ny] = self.strata;
        let jitter = Vec2::new(unit(key), unit(hash(key)));
        let stratum = Vec2::new((index % nx) as f32, (index / nx) as f32);
        (stratum + jitter) / Vec2::new(nx as f32, ny as f32)
    }

    /// The strata of `count` samples: as square as its factors allow.
    pub fn strata_of(count: u32) -> [u32; 2] {
        let mut ny = (f64::from(count)).sqrt() as u32;
        while ny > 1 && !count.is_multiple_of(ny) {
            ny -= 1;
        }
        [count / ny.max(1), ny.max(1)]
    }
}

/// The most samples that are made together.
pub const TOGETHER: usize = 64;

/// Pixels and numbers of some samples.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// Pixels, across and down.
    pub x: [u32; TOGETHER],
    /// The same.
    pub y: [u32; TOGETHER],
    /// Indices among the samples of their pixels.
    pub index: [u32; TOGETHER],
    /// How many there are.
    pub count: usize,
}

impl Default for Numbers {
    fn default() -> Self {
        let zero = [0; TOGETHER];
        Self { x: zero, y: zero, index: zero, count: 0 }
    }
}

impl Numbers {
    /// Appends a sample; there is room for [`TOGETHER`].
    pub fn push(&mut self, [x, y]: [u32; 2], index: u32) {
        (self.x[self.count], self.y[self.count], self.index[self.count]) = (x, y, index);
        self.count += 1;
    }

    /// The samples, in order.
    pub fn iter(&self) -> impl Iterator<Item = ([u32; 2], u32)> + '_ {
        (0..self.count).map(|i| ([self.x[i], self.y[i]], self.index[i]))
    }
}

/// The arguments of the camera's entry for some samples, word by word.
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    /// As [`CameraSample::arguments`], each for all samples.
    pub words: [[f32; TOGETHER]; CAMERA_ARGUMENTS],
    /// How many samples there are.
    pub count: usize,
}

impl Default for Arguments {
    fn default() -> Self {
        Self { words: [[0.0; TOGETHER]; CAMERA_ARGUMENTS], count: 0 }
    }
}

impl Arguments {
    /// Sets those of a sample.
    pub fn set(&mut self, i: usize, sample: &CameraSample) {
        self.words.iter_mut().zip(sample.arguments()).for_each(|(to, word)| to[i] = word);
    }
}

/// Samples of a camera without a lens, by the operations of [`PixelSamples::sample`]: many at a time,
/// as the compiler makes vector instructions of loops.
///
/// A scene with one ray a sample spent a ninth of its time on samples one by one.
struct Together<'a> {
    sampling: Sampling,
    pattern: Pattern,
    /// The size of the filter's box.
    size: Vec2,
    numbers: &'a Numbers,
    arguments: &'a mut Arguments,
}

/// Indices below this are divided as floats without an error: half of one is more than a rounding.
const DIVISIBLE: u32 = 1 << 22;

impl Work for Together<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Self { sampling, pattern, size, numbers: Numbers { x, y, index, count }, arguments } = self;
        let [across, down] = sampling.strata.map(|n| n as f32);
        let seed = hash(sampling.seed);
        let [to_x, to_y, lens_x, lens_y, weight, pixel, number] = &mut arguments.words;
        match pattern {
            _ if sampling.count() <= 1 => (*to_x, *to_y) = ([0.5; TOGETHER], [0.5; TOGETHER]),
            Pattern::Stratified => {
                for i in 0..TOGETHER {
                    let key = pixel_hash(x[i], y[i], index[i] ^ seed);
                    let row = ((index[i] as f32 + 0.5) / across).floor();
                    let column = index[i] as f32 - row * across;
                    (to_x[i], to_y[i]) = ((column + unit(key)) / across, (row + unit(hash(key))) / down);
                }
            }
            Pattern::Sobol => {
                for i in 0..TOGETHER {
                    let place = sobol::point(index[i], pixel_hash(x[i], y[i], sampling.seed ^ PLACE));
                    (to_x[i], to_y[i]) = (place.x, place.y);
                }
            }
        }
        // A box of one pixel is the identity, without rounding.
        if size != Vec2::ONE {
            for (to, size) in [(&mut *to_x, size.x), (&mut *to_y, size.y)] {
                to.iter_mut().for_each(|to| *to = (*to - 0.5) * size + 0.5);
            }
        }
        for i in 0..TOGETHER {
            to_x[i] += x[i] as f32;
            to_y[i] += y[i] as f32;
            pixel[i] = (pixel_hash(x[i], y[i], sampling.seed) >> 8) as f32;
            number[i] = index[i] as f32;
        }
        (*lens_x, *lens_y, *weight) = ([0.0; TOGETHER], [0.0; TOGETHER], [1.0; TOGETHER]);
        arguments.count = *count;
    }
}

/// A hash of a pixel and another number.
#[inline]
fn pixel_hash(x: u32, y: u32, of: u32) -> u32 {
    hash(x ^ hash(y ^ hash(of)))
}

/// Tells the positions on the lens from others in hashes.
const LENS: u32 = 0x6c65_6e73;
/// The same of positions in the pixel.
const PLACE: u32 = 0x706c_6163;

/// The samples of one pixel: what they share is computed once.
#[derive(Clone, Copy, Debug)]
pub struct PixelSamples<'a> {
    sampling: Sampling,
    film: &'a FilmSettings,
    at: [u32; 2],
    /// A hash of the seed.
    seed: u32,
    /// Hashes of the pixel: its own, and those of dimensions of its samples.
    pixel: u32,
    time: u32,
    place: u32,
    lens: u32,
}

impl PixelSamples<'_> {
    /// Sample `index`.
    pub fn sample(&self, index: u32) -> CameraSample {
        const FILTER: u32 = 0x6669_6c74;
        let Self { sampling, film, at: [x, y], .. } = *self;
        let count = sampling.count().max(1);
        let index = if film.moves { permuted(index, count, self.time) } else { index };
        let rank = if film.filter.is_signed() { permuted(index, count, hash(self.time ^ FILTER)) } else { index };
        let key = match film.pattern {
            Pattern::Stratified => pixel_hash(x, y, index ^ self.seed),
            Pattern::Sobol => 0,
        };
        let (place, weight) = film.filter.place(self.place(index, key), rank, count);
        CameraSample {
            raster: Vec2::new(x as f32, y as f32) + place,
            lens: if film.is_pinhole { Vec2::ZERO } else { self.lens(index, key) },
            weight,
            pixel: self.pixel,
            index,
        }
    }

    /// The position of sample `index` in the unit square of the pixel: jittered within its stratum
    /// (Cook, Porter, Carpenter 1984); at the center when there is one sample.
    fn place(&self, index: u32, key: u32) -> Vec2 {
        if self.sampling.count() <= 1 {
            return Vec2::splat(0.5);
        }
        match self.film.pattern {
            Pattern::Stratified => self.sampling.stratified(index, key),
            Pattern::Sobol => sobol::point(index, self.place),
        }
    }

    /// The position of sample `index` on the lens, a disk of radius 1. Strata of the unit square are
    /// mapped to the disk (Shirley & Chiu 1997), in an order of its own for each pixel, which
    /// decorrelates lens and pixel positions.
    fn lens(&self, index: u32, key: u32) -> Vec2 {
        to_disk(match self.film.pattern {
            Pattern::Stratified => {
                let index = permuted(index, self.sampling.count().max(1), self.lens);
                self.sampling.stratified(index, hash(key ^ LENS))
            }
            Pattern::Sobol => sobol::point(index, self.lens),
        })
    }
}

/// A sample of the camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraSample {
    /// Raster position in pixels.
    pub raster: Vec2,
    /// Position on the lens, in radii.
    pub lens: Vec2,
    /// The filter weight: 1, or −1 where the filter is negative.
    pub weight: f32,
    /// A hash of the pixel, below 2²⁴.
    pub pixel: u32,
    /// The sample's index in its pixel, saturated at 2²⁴.
    pub index: u32,
}

/// Most arguments of the camera's entry, a word each.
pub const CAMERA_ARGUMENTS: usize = 7;

impl CameraSample {
    /// A sample through the center of the lens.
    pub fn central(raster: Vec2) -> Self {
        let pixel = hash(raster.x.to_bits() ^ hash(raster.y.to_bits())) >> 8;
        Self { raster, lens: Vec2::ZERO, weight: 1.0, pixel, index: 0 }
    }

    /// The arguments of the camera's entry, of which a program takes as many as it has parameters:
    /// position, lens, weight, pixel, index.
    pub fn arguments(&self) -> [f32; CAMERA_ARGUMENTS] {
        let [pixel, index] = [self.pixel, self.index].map(|n| n as f32);
        [self.raster.x, self.raster.y, self.lens.x, self.lens.y, self.weight, pixel, index]
    }
}

/// The concentric map from the unit square to the disk of radius 1, which preserves area (Shirley &
/// Chiu 1997).
fn to_disk(place: Vec2) -> Vec2 {
    let square = 2.0 * place - 1.0;
    if square == Vec2::ZERO {
        return Vec2::ZERO;
    }
    let quarter = std::f32::consts::FRAC_PI_4;
    let (radius, angle) = if square.x.abs() > square.y.abs() {
        (square.x, quarter * (square.y / square.x))
    } else {
        (square.y, 2.0 * quarter - quarter * (square.x / square.y))
    };
    radius * Vec2::from_angle(angle)
}

/// The image of `index` under permutation `order` of `count` elements (Kensler 2013, "Correlated
/// multi-jittered sampling", listing 1).
fn permuted(index: u32, count: u32, order: u32) -> u32 {
    let mask = count.next_power_of_two() - 1;
    let mut i = index;
    loop {
        i ^= order;
        i = i.wrapping_mul(0xe170_893d);
        i ^= order >> 16;
        i ^= (i & mask) >> 4;
        i ^= order >> 8;
        i = i.wrapping_mul(0x0929_eb3f);
        i ^= order >> 23;
        i ^= (i & mask) >> 1;
        i = i.wrapping_mul(1 | order >> 27);
        i = i.wrapping_mul(0x6935_fa69);
        i ^= (i & mask) >> 11;
        i = i.wrapping_mul(0x74dc_b303);
        i ^= (i & mask) >> 2;
        i = i.wrapping_mul(0x9e50_1cc3);
        i ^= (i & mask) >> 2;
        i = i.wrapping_mul(0xc860_a3df);
        i &= mask;
        i ^= i >> 5;
        if i < count {
            return (i.wrapping_add(order)) % count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_lies_in_its_own_stratum() {
        let sampling = Sampling { strata: [4, 2], seed: 7 };
        for index in 0..8 {
            let p = sampling.sample(&FilmSettings::default(), 3, 5, index).raster - Vec2::new(3.0, 5.0);
            assert_eq!(((p.x * 4.0) as u32, (p.y * 2.0) as u32), (index % 4, index / 4));
        }
    }

    #[test]
    fn samples_of_a_sobol_sequence_are_even_in_every_direction() {
        let sampling = Sampling { strata: [4, 4], seed: 7 };
        let film = FilmSettings { pattern: Pattern::Sobol, ..FilmSettings::default() };
        let samples: Vec<_> = (0..16).map(|i| sampling.sample(&film, 3, 5, i)).collect();
        for [nx, ny] in [[16.0, 1.0], [8.0, 2.0], [4.0, 4.0], [1.0, 16.0]] {
            let mut fields: Vec<_> = samples.iter().map(|s| s.raster - Vec2::new(3.0, 5.0)).collect();
            fields.iter_mut().for_each(|p| *p = (*p * Vec2::new(nx, ny)).floor());
            fields.sort_by(|a, b| a.to_array().partial_cmp(&b.to_array()).expect("numbers"));
            fields.dedup();
            assert_eq!(fields.len(), 16, "{nx} × {ny}");
        }
        // Pixel and lens positions are uncorrelated: of the samples on a half of the lens, a half
        // lies in each half of the pixel.
        let right = samples.iter().filter(|s| s.lens.x > 0.0);
        assert_eq!(right.clone().count(), 8);
        assert!((1..8).contains(&right.filter(|s| s.raster.x > 3.5).count()));
    }

    #[test]
    fn samples_made_together_are_those_made_one_by_one() {
        let filters = [FilterSampler::Box(Vec2::ONE), FilterSampler::Box(Vec2::new(2.0, 1.5))];
        for (strata, filter) in [[1, 1], [7, 1], [3, 2], [8, 8], [64, 64]]
            .into_iter()
            .flat_map(|s| filters.iter().map(move |filter| (s, filter.clone())))
        {
            let sampling = Sampling { strata, seed: 7 };
            let mut numbers = Numbers::default();
            (0..40u32).for_each(|i| numbers.push([i * 37, 1000 - i], i * 97 % sampling.count()));
            for (is_pinhole, pattern) in
                [(true, Pattern::Stratified), (true, Pattern::Sobol), (false, Pattern::Stratified)]
            {
                let film = FilmSettings { filter: filter.clone(), is_pinhole, pattern, ..FilmSettings::default() };
                let mut arguments = Arguments::default();
                sampling.arguments(&film, &numbers, &mut arguments);
                assert_eq!(arguments.count, 40);
                for (i, ([x, y], index)) in numbers.iter().enumerate() {
                    let alone = sampling.sample(&film, x, y, index).arguments().map(f32::to_bits);
                    assert_eq!(arguments.words.map(|word| word[i].to_bits()), alone, "{strata:?}, sample {i}");
                }
            }
        }
    }

    #[test]
    fn one_sample_is_in_the_middle() {
        let sampling = Sampling { strata: [1, 1], seed: 7 };
        assert_eq!(sampling.sample(&FilmSettings::default(), 1, 2, 0).raster, Vec2::new(1.5, 2.5));
    }

    #[test]
    fn an_order_has_every_place_once() {
        for count in [1, 2, 6, 16, 25] {
            for order in [0, 1, 0xdead_beef] {
                let mut places: Vec<_> = (0..count).map(|i| permuted(i, count, order)).collect();
                places.sort_unstable();
                assert!(places.into_iter().eq(0..count), "{count} in order {order}");
            }
        }
    }

    #[test]
    fn lens_samples_fill_the_disk_evenly() {
        // The mean of the square of the radius over a disk is a half; of a quarter of the samples
        // each coordinate is positive.
        let sampling = Sampling { strata: [64, 64], seed: 1 };
        let samples: Vec<_> = (0..4096).map(|i| sampling.sample(&FilmSettings::default(), 7, 9, i).lens).collect();
        let mean = samples.iter().map(|p| p.length_squared()).sum::<f32>() / 4096.0;
        assert!((mean - 0.5).abs() < 5e-3 && samples.iter().all(|p| p.length() <= 1.0), "{mean}");
        let quadrant = samples.iter().filter(|p| p.x > 0.0 && p.y > 0.0).count();
        assert!((1000..1048).contains(&quadrant), "{quadrant}");
    }

    #[test]
    fn strata_multiply_to_the_count() {
        for (count, strata) in [(1, [1, 1]), (4, [2, 2]), (6, [3, 2]), (7, [7, 1]), (16, [4, 4])] {
            assert_eq!(Sampling::strata_of(count), strata);
        }
    }
}
