//! Measurements of a material under light from all sides: its albedo by integration and by
//! sampling, and how its samples lie by what its density says.

use super::material::{Material, Sample, View};
use rayon::prelude::*;
use std::f32::consts::TAU;

/// How many directions are drawn.
const SAMPLES: u32 = 2048;
/// Parts of the cosine, and of the turn around the normal.
const BINS: [usize; 2] = [12, 12];
/// Where along each side of a bin its integral is read (Gauss and Legendre).
const POINTS: [f64; 2] = [0.211_324_865_405_187_1, 0.788_675_134_594_812_9];
/// How often a bin is divided in four.
const DIVISIONS: usize = 4;

/// A material as it is seen along one direction.
pub struct Measured {
    /// The integral of the density over all directions: the share of samples that are neither exact
    /// nor without a direction.
    pub drawn: f64,
    /// The integral of BSDF and cosine; radiance that refraction bundles counts as what it was.
    pub albedo: f64,
    /// The same by samples, exact ones included, and the deviation of this mean.
    pub estimate: [f64; 2],
    /// The same without those.
    pub scattered: [f64; 2],
    /// χ² of the samples against the density, and the freedom that it has.
    pub chi_square: [f64; 2],
    /// The brightest sample.
    pub largest: f64,
}

/// Random numbers: PCG (O'Neill 2014), output RXS-M-XS.
pub struct Random(pub u32);

impl Random {
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = ((self.0 >> ((self.0 >> 28) + 4)) ^ self.0).wrapping_mul(277_803_737);
        (((word >> 22) ^ word) >> 8) as f32 / 16_777_216.0
    }
}

/// The direction at a cosine and an angle, in the frame of the place.
fn at(cosine: f64, turn: f64) -> [f32; 3] {
    let radius = (1.0 - cosine * cosine).max(0.0).sqrt();
    [(radius * turn.cos()) as f32, (radius * turn.sin()) as f32, cosine as f32]
}

impl Measured {
    /// Measures `material` with the densities of `density`, which are its own but where a test
    /// wants wrong ones.
    pub fn new(material: &Material, density: &Material, view: View) -> Measured {
        let bundled = |z: f32| if z < 0.0 { material.beyond(view).powi(2) } else { 1.0 };
        let integrand = |cosine: f64, turn: f64| {
            let direction = at(cosine, turn);
            let value = material.value(view, direction) * f64::from(bundled(direction[2])) * cosine.abs();
            [density.density(view, direction), value]
        };
        let numbers: Vec<(usize, usize)> = (0..BINS[0]).flat_map(|i| (0..BINS[1]).map(move |k| (i, k))).collect();
        let integrals: Vec<[f64; 2]> = numbers
            .par_iter()
            .map(|&(i, k)| {
                let size = [2.0 / BINS[0] as f64, f64::from(TAU) / BINS[1] as f64];
                integral(&integrand, [-1.0 + i as f64 * size[0], k as f64 * size[1]], size, DIVISIONS)
            })
            .collect();
        let draw = |number: u32| {
            let mut random = Random(number.wrapping_mul(0x9E37_79B9) ^ 0x0051_F15E);
            random.next();
            let sample = material.sample(view, [random.next(), random.next()]);
            let Sample { direction, exactly } = sample;
            let exact = f64::from(exactly);
            if exact > 0.0 {
                return (None, exact * f64::from(bundled(direction[2])));
            }
            if direction == [0.0; 3] {
                return (None, 0.0);
            }
            let length = direction.iter().map(|x| x * x).sum::<f32>().sqrt();
            assert!((length - 1.0).abs() < 1e-4, "{}: {direction:?} is of length {length}", material.name);
            let value = material.value(view, direction) * f64::from(bundled(direction[2]) * direction[2].abs());
            let density = density.density(view, direction);
            let turn = direction[1].atan2(direction[0]).rem_euclid(TAU) / TAU;
            let part = |x: f32, n: usize| ((x * n as f32) as usize).min(n - 1);
            let bin = part(0.5 * (direction[2] + 1.0), BINS[0]) * BINS[1] + part(turn, BINS[1]);
            let weight = if density > 0.0 { value / density } else { 0.0 };
            assert!(weight.is_finite(), "{}: the weight of {direction:?} is {weight}", material.name);
            (Some(bin), weight)
        };
        let drawn: Vec<(Option<usize>, f64)> = (0..SAMPLES).into_par_iter().map(draw).collect();
        let mut counts = vec![0.0; integrals.len()];
        drawn.iter().filter_map(|d| d.0).for_each(|bin| counts[bin] += 1.0);
        let n = f64::from(SAMPLES);
        let expected: Vec<f64> = integrals.iter().map(|x| x[0] * n).collect();
        Measured {
            drawn: integrals.iter().map(|x| x[0]).sum(),
            albedo: integrals.iter().map(|x| x[1]).sum(),
            estimate: mean(&drawn.iter().map(|d| d.1).collect::<Vec<_>>()),
            scattered: mean(&drawn.iter().map(|d| d.0.map_or(0.0, |_| d.1)).collect::<Vec<_>>()),
            chi_square: chi_square(&counts, &expected, n),
            largest: drawn.iter().map(|d| d.1).fold(0.0, f64::max),
        }
    }

    /// χ² that a right density exceeds in one of `tests × 1000` runs (Wilson and Hilferty 1931, and
    /// a bound of the normal distribution's tail).
    pub fn bound(&self, tests: usize) -> f64 {
        let p = 0.001 / tests as f64;
        let t = (-2.0 * p.ln()).sqrt();
        // Abramowitz and Stegun 1964, 26.2.23.
        let z = t
            - (2.515_517 + 0.802_853 * t + 0.010_328 * t * t)
                / (1.0 + 1.432_788 * t + 0.189_269 * t * t + 0.001_308 * t * t * t);
        let k = self.chi_square[1].max(1.0);
        k * (1.0 - 2.0 / (9.0 * k) + z * (2.0 / (9.0 * k)).sqrt()).powi(3)
    }
}

/// The mean of numbers and its deviation.
fn mean(numbers: &[f64]) -> [f64; 2] {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    [mean, (variance / n).sqrt()]
}

/// χ² and its freedom; bins in which less than five samples are expected count together, as do
/// samples without a density.
fn chi_square(counts: &[f64], expected: &[f64], n: f64) -> [f64; 2] {
    let mut small = [0.0; 2];
    let mut sum = 0.0;
    let mut bins = 0.0;
    let mut add = |count: f64, expected: f64| {
        sum += (count - expected).powi(2) / expected;
        bins += 1.0;
    };
    for (&count, &expected) in counts.iter().zip(expected) {
        if expected < 5.0 {
            small = [small[0] + count, small[1] + expected];
        } else {
            add(count, expected);
        }
    }
    let others = [n - counts.iter().sum::<f64>(), n - expected.iter().sum::<f64>()];
    for [count, expected] in [small, others] {
        // Where nothing is expected, integration leaves a little.
        if count > 0.0 || expected > 0.005 * n {
            add(count, expected.max(0.5));
        }
    }
    [sum, bins - 1.0]
}

/// The integral over a bin, divided where its parts say something else than the whole.
fn integral(f: &dyn Fn(f64, f64) -> [f64; 2], from: [f64; 2], size: [f64; 2], divisions: usize) -> [f64; 2] {
    let rule = |from: [f64; 2], size: [f64; 2]| {
        let mut sum = [0.0; 2];
        for (x, y) in POINTS.iter().flat_map(|&x| POINTS.map(|y| (x, y))) {
            let value = f(from[0] + x * size[0], from[1] + y * size[1]);
            sum = [sum[0] + value[0], sum[1] + value[1]];
        }
        sum.map(|x| 0.25 * x * size[0] * size[1])
    };
    let whole = rule(from, size);
    if divisions == 0 {
        return whole;
    }
    let half = size.map(|x| 0.5 * x);
    let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
    let corner = |c: [f64; 2]| [from[0] + c[0] * half[0], from[1] + c[1] * half[1]];
    let parts = corners.map(|c| rule(corner(c), half));
    let sum = parts.iter().fold([0.0; 2], |s, x| [s[0] + x[0], s[1] + x[1]]);
    if (0..2).all(|i| (sum[i] - whole[i]).abs() < 2e-5 + 2e-3 * whole[i].abs()) {
        return sum;
    }
    let parts = corners.map(|c| integral(f, corner(c), half, divisions - 1));
    parts.iter().fold([0.0; 2], |s, x| [s[0] + x[0], s[1] + x[1]])
}
