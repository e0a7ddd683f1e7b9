//! Pixel filters, by filter importance sampling (Ernst, Stamminger & Greiner 2006).
//!
//! A sample belongs to one pixel, so pixels are independent of each other on any back end and in
//! any order. Sample positions are distributed over the filter's support with a pdf proportional to
//! its magnitude; samples in negative lobes have the weight −1, and their share is that of the
//! lobes. The alternative is to weight uniform samples: under a gaussian of width 2 most weights
//! would be nearly zero, and samples cannot be shared with neighbors.
//!
//! The host computes the tables in double precision and the positions in single, so every back end
//! gets the same bits.

use glam::Vec2;
use shadewright_scene::{FilterKind, PixelFilter};
use std::f64::consts::PI;
use std::sync::Arc;

/// Cells along each side of a table. A gaussian's standard deviation, the mean of `x²`, is then
/// right to 0.1 %.
const CELLS: usize = 64;

/// The value of a filter at `(x, y)` pixels from its center, up to a factor.
///
/// The formulas are those of RISpec 3.2, §4.1.1 (`RiBoxFilter` and the others), each scaled to the
/// width that the scene gives, and for those that the specification does not print: Mitchell &
/// Netravali 1988, eq. 8; Harris 1978, table 1 (four terms, −92 dB); the radial `J1(πr)/πr`, which
/// is the spectrum of a disk. `sinc` is windowed by a cosine that reaches zero at the edge of the
/// support.
pub fn value(filter: PixelFilter, x: f64, y: f64) -> f64 {
    let [half_width, half_height] = filter.width.map(|w| 0.5 * f64::from(w));
    // Within the support both lie in -1..=1.
    let (u, v) = (x / half_width, y / half_height);
    if u.abs() > 1.0 || v.abs() > 1.0 {
        return 0.0;
    }
    let product = |f: &dyn Fn(f64) -> f64| f(u) * f(v);
    match filter.kind {
        FilterKind::Box => 1.0,
        FilterKind::Triangle => product(&|t| 1.0 - t.abs()),
        FilterKind::Gaussian => (-2.0 * (u * u + v * v)).exp(),
        FilterKind::CatmullRom => catmull_rom(2.0 * u.hypot(v)),
        FilterKind::Mitchell => product(&|t| mitchell(2.0 * t.abs())),
        FilterKind::BlackmanHarris => product(&blackman_harris),
        FilterKind::Sinc => {
            let along = |distance: f64, share: f64| sinc(PI * distance) * (0.5 * PI * share).cos();
            along(x, u) * along(y, v)
        }
        FilterKind::Bessel => jinc(PI * x.hypot(y)) * (0.5 * PI * u.hypot(v).min(1.0)).cos(),
    }
}

/// By the distance from the middle; zero from 2 on.
fn catmull_rom(r: f64) -> f64 {
    match r {
        r if r < 1.0 => (3.0 * r - 5.0) * r * r + 2.0,
        r if r < 2.0 => ((5.0 - r) * r - 8.0) * r + 4.0,
        _ => 0.0,
    }
}

fn mitchell(t: f64) -> f64 {
    const B: f64 = 1.0 / 3.0;
    const C: f64 = 1.0 / 3.0;
    if t < 1.0 {
        ((12.0 - 9.0 * B - 6.0 * C) * t - 18.0 + 12.0 * B + 6.0 * C) * t * t + 6.0 - 2.0 * B
    } else {
        (((-B - 6.0 * C) * t + 6.0 * B + 30.0 * C) * t - 12.0 * B - 48.0 * C) * t + 8.0 * B + 24.0 * C
    }
}

/// Over -1..=1.
fn blackman_harris(t: f64) -> f64 {
    let a = PI * (t + 1.0);
    0.35875 - 0.48829 * a.cos() + 0.14128 * (2.0 * a).cos() - 0.01168 * (3.0 * a).cos()
}

fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-6 { 1.0 } else { x.sin() / x }
}

/// `2 J1(x) / x`, which is 1 at 0.
fn jinc(x: f64) -> f64 {
    if x < 1e-6 { 1.0 } else { 2.0 * bessel_j1(x) / x }
}

/// The Bessel function of order 1 for `x ≥ 0`, by its integral `1/π ∫₀^π cos(θ − x sin θ) dθ`. The
/// trapezoidal rule is exact there to double precision with more than `x + 20` points (the
/// integrand is periodic); filters are at most 64 pixels wide, so `x` is below 150.
fn bessel_j1(x: f64) -> f64 {
    const POINTS: u32 = 200;
    let at = |i: u32| {
        let theta = PI * (f64::from(i) + 0.5) / f64::from(POINTS);
        (theta - x * theta.sin()).cos()
    };
    (0..POINTS).map(at).sum::<f64>() / f64::from(POINTS)
}

/// Samples a filter.
#[derive(Clone, Debug)]
pub enum FilterSampler {
    /// Uniformly over a box of this size in pixels.
    Box(Vec2),
    /// In proportion to the filter's magnitude.
    Table(Arc<FilterTable>),
}

impl Default for FilterSampler {
    fn default() -> Self {
        Self::new(PixelFilter::default())
    }
}

impl FilterSampler {
    /// The sampler of a filter.
    pub fn new(filter: PixelFilter) -> Self {
        match filter.kind {
            FilterKind::Box => Self::Box(Vec2::from_array(filter.width)),
            _ => Self::Table(Arc::new(FilterTable::new(filter))),
        }
    }

    /// True if some samples have the weight −1.
    pub fn is_signed(&self) -> bool {
        matches!(self, Self::Table(table) if table.negative.is_some())
    }

    /// Warps a point of the unit square, one of a pixel's `count` uniform samples, to a position
    /// relative to the pixel's upper left corner, in pixels, with the sample's weight: 1 or −1.
    /// `rank` is the sample's index in some order of the pixel's samples: the first ones go to the
    /// negative lobes, so that the weights of a pixel have a constant sum.
    pub fn place(&self, unit: Vec2, rank: u32, count: u32) -> (Vec2, f32) {
        match self {
            // The unit box is the identity, without rounding.
            Self::Box(Vec2::ONE) => (unit, 1.0),
            Self::Box(size) => ((unit - 0.5) * *size + 0.5, 1.0),
            Self::Table(table) => {
                let (offset, weight) = table.place(unit, rank, count);
                (offset + 0.5, weight)
            }
        }
    }
}

/// A tabulated filter, its positive and negative parts apart.
#[derive(Clone, Debug)]
pub struct FilterTable {
    positive: Part,
    /// The negative part, and its share of the filter's magnitude.
    negative: Option<(Part, f32)>,
}

impl FilterTable {
    fn new(filter: PixelFilter) -> Self {
        let middle = |i: usize, width: f32| ((i as f64 + 0.5) / CELLS as f64 - 0.5) * f64::from(width);
        let values: Vec<f64> = (0..CELLS * CELLS)
            .map(|i| value(filter, middle(i % CELLS, filter.width[0]), middle(i / CELLS, filter.width[1])))
            .collect();
        let part = |sign: f64| -> Vec<f64> { values.iter().map(|v| (sign * v).max(0.0)).collect() };
        let (positive, negative) = (part(1.0), part(-1.0));
        let [above, below] = [&positive, &negative].map(|part| part.iter().sum::<f64>());
        Self {
            positive: Part::new(filter.width, &positive),
            negative: (below > 0.0).then(|| (Part::new(filter.width, &negative), (below / (above + below)) as f32)),
        }
    }

    fn place(&self, unit: Vec2, rank: u32, count: u32) -> (Vec2, f32) {
        match &self.negative {
            // Fewer than half, or the weights would sum to zero.
            Some((part, share)) if rank < ((share * count as f32).round() as u32).min(count.saturating_sub(1) / 2) => {
                (part.place(unit), -1.0)
            }
            _ => (self.positive.place(unit), 1.0),
        }
    }
}

/// A piecewise-constant distribution over the support: the marginal CDF of rows, and the
/// conditional CDF of cells in each row.
#[derive(Clone, Debug)]
struct Part {
    width: [f32; 2],
    /// The CDF of rows, from 0 to 1.
    rows: Vec<f32>,
    /// The CDF of cells within each row.
    cells: Vec<f32>,
}

impl Part {
    fn new(width: [f32; 2], values: &[f64]) -> Self {
        let rows: Vec<f64> = values.chunks(CELLS).map(|row| row.iter().sum()).collect();
        Self { width, rows: shares(&rows), cells: values.chunks(CELLS).flat_map(shares).collect() }
    }

    fn place(&self, unit: Vec2) -> Vec2 {
        let (row, down) = invert(&self.rows, unit.y);
        let (column, across) = invert(&self.cells[row * (CELLS + 1)..][..=CELLS], unit.x);
        let along = |cell: usize, within: f32, width: f32| ((cell as f32 + within) / CELLS as f32 - 0.5) * width;
        Vec2::new(along(column, across, self.width[0]), along(row, down, self.width[1]))
    }
}

/// The CDF of a list of weights, with both ends. All zeros give a uniform distribution.
fn shares(parts: &[f64]) -> Vec<f32> {
    let total: f64 = parts.iter().sum();
    let mut before = 0.0;
    let mut out = vec![0.0];
    for (i, part) in parts.iter().enumerate() {
        before += part;
        out.push(if total > 0.0 { before / total } else { (i + 1) as f64 / parts.len() as f64 } as f32);
    }
    out
}

/// The cell of a CDF in which `unit` lies, and the position in it, from 0 to 1.
fn invert(shares: &[f32], unit: f32) -> (usize, f32) {
    let part = shares.partition_point(|&s| s <= unit).clamp(1, shares.len() - 1) - 1;
    let (from, to) = (shares[part], shares[part + 1]);
    (part, if to > from { ((unit - from) / (to - from)).clamp(0.0, 1.0) } else { 0.5 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(kind: FilterKind, width: f32) -> PixelFilter {
        PixelFilter { kind, width: [width, width] }
    }

    /// The mean of `f` over the samples of a fine grid, by their weights.
    fn mean(sampler: &FilterSampler, f: impl Fn(Vec2) -> f32) -> f64 {
        let n = 256;
        let (mut sum, mut weights) = (0.0, 0.0);
        for i in 0..n * n {
            let unit = Vec2::new((i % n) as f32 + 0.5, (i / n) as f32 + 0.5) / n as f32;
            let (place, weight) = sampler.place(unit, (i as u32).wrapping_mul(40_503) % (n * n) as u32, (n * n) as u32);
            sum += f64::from(f(place - 0.5) * weight);
            weights += f64::from(weight);
        }
        sum / weights
    }

    #[test]
    fn filters_have_the_values_of_their_formulas() {
        let at = |kind, width, x, y| value(filter(kind, width), x, y);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        close(at(FilterKind::Box, 2.0, 0.9, 0.9), 1.0);
        close(at(FilterKind::Triangle, 2.0, 0.5, 0.0), 0.5);
        close(at(FilterKind::Gaussian, 2.0, 1.0, 0.0), (-2.0f64).exp());
        close(at(FilterKind::CatmullRom, 4.0, 1.0, 0.0), 0.0);
        close(at(FilterKind::CatmullRom, 4.0, 1.5, 0.0), -0.125);
        close(at(FilterKind::Mitchell, 4.0, 1.0, 0.0) / at(FilterKind::Mitchell, 4.0, 0.0, 0.0), 1.0 / 16.0);
        close(at(FilterKind::BlackmanHarris, 4.0, 0.0, 0.0), 1.0);
        close(at(FilterKind::Sinc, 4.0, 0.0, 1.0), 0.0);
        close(at(FilterKind::Bessel, 4.0, 0.0, 0.0), 1.0);
        close(at(FilterKind::Box, 2.0, 1.1, 0.0), 0.0);
    }

    #[test]
    fn the_bessel_function_has_its_first_zero_and_its_maximum() {
        assert!(bessel_j1(3.831_705_970_207_512).abs() < 1e-12);
        assert!((bessel_j1(1.841_183_781_340_659) - 0.581_865_224_281_169_5).abs() < 1e-9);
    }

    #[test]
    fn samples_spread_as_the_filter_does() {
        // The variance of a triangle of half-width h is h²/6, of a box of width w is w²/12.
        for (kind, width, variance) in [(FilterKind::Triangle, 2.0, 1.0 / 6.0), (FilterKind::Box, 3.0, 0.75)] {
            let sampler = FilterSampler::new(filter(kind, width));
            let found = mean(&sampler, |p| p.x * p.x);
            assert!((found / variance - 1.0).abs() < 2e-3, "{kind:?}: {found} is not {variance}");
            assert!(mean(&sampler, |p| p.y).abs() < 1e-3);
        }
    }

    #[test]
    fn negative_lobes_count_against_the_rest() {
        // All odd moments vanish; catmull-rom and mitchell sharpen, so the second moment is small
        // beside the width.
        for (name, kind) in FilterKind::ALL {
            let sampler = FilterSampler::new(filter(kind, 4.0));
            assert!(mean(&sampler, |p| p.x).abs() < 1e-3, "{name}");
            assert_eq!(sampler.is_signed(), kind.has_negative_lobes(), "{name}");
            for count in [1, 2, 3, 4, 16, 25] {
                let sum: f32 = (0..count).map(|rank| sampler.place(Vec2::splat(0.3), rank, count).1).sum();
                assert!(sum >= 1.0, "{name}: {count} samples weigh {sum}");
            }
        }
    }

    #[test]
    fn every_place_lies_in_the_support() {
        for (name, kind) in FilterKind::ALL {
            let sampler = FilterSampler::new(PixelFilter { kind, width: [2.0, 4.0] });
            let units = [Vec2::ZERO, Vec2::splat(0.999_999_94), Vec2::new(0.0, 0.5)];
            for (unit, rank) in units.into_iter().flat_map(|unit| [(unit, 0), (unit, 99)]) {
                let (place, _) = sampler.place(unit, rank, 100);
                let offset = (place - 0.5).abs();
                assert!(offset.x <= 1.0 && offset.y <= 2.0, "{name}: {unit} goes to {place}");
            }
        }
    }
}
