//! How far a render may be from its reference, and the comparison of the two.

use crate::compare::significance::{self, Estimate, LEAST_BATCHES, Pair};
use crate::compare::verdict::{Check, Relation};
use crate::compare::{CompareError, Metric, Report, Tolerance, Verdict, compare};
use crate::image::file::Format;
use crate::image::rendering::Rendering;
use crate::image::{Image, file};
use std::fmt;
use thiserror::Error;

/// How far a render may be from its reference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Criterion {
    /// [`Tolerance::default`].
    #[default]
    Default,
    /// Every pixel has the same bits. With a reference of integers, the bits of the render as a
    /// file of the reference's format.
    Exact,
    /// A metric is within a threshold.
    Metric(Metric, f64),
}

impl Criterion {
    /// Whether it looks at the variances of pixels.
    pub fn needs_variances(self) -> bool {
        matches!(self, Criterion::Metric(Metric::Z, _))
    }

    /// Judges a comparison.
    fn judge(self, report: &Report, different: u64) -> Verdict {
        match self {
            Criterion::Default => Tolerance::default().judge(report),
            Criterion::Metric(metric, threshold) => metric.judge(report, threshold),
            Criterion::Exact => {
                let check = Check {
                    name: "pixels with other bits".to_string(),
                    value: different as f64,
                    relation: Relation::AtMost,
                    limit: 0.0,
                    passed: different == 0,
                };
                let passed = check.passed && report.non_finite == [0, 0];
                Verdict { passed, checks: vec![check], non_finite: report.non_finite }
            }
        }
    }
}

/// As the list writes it.
impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Criterion::Default => f.write_str("default"),
            Criterion::Exact => f.write_str("exact"),
            Criterion::Metric(metric, threshold) => write!(f, "{metric} {threshold}"),
        }
    }
}

/// Why a render and its reference cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Incomparable {
    /// Their sizes or channels differ.
    #[error(transparent)]
    Images(#[from] CompareError),
    /// One of them has no variances, or from too few batches of samples.
    #[error(
        "{0} has no variances for the metric z: they need an .exr file, {LEAST_BATCHES} samples per pixel or more, and no imager"
    )]
    NoVariances(&'static str),
}

/// A render beside its reference.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Every metric.
    pub report: Report,
    /// Whether the render is near enough.
    pub verdict: Verdict,
    /// The number of pixels that have not the same bits.
    pub different: u64,
    criterion: Criterion,
}

impl Comparison {
    /// Compares a render with its reference, which was read from a file of the format.
    ///
    /// # Errors
    /// When their sizes or channels differ, or the criterion needs variances that they do not have.
    pub fn of(
        render: &Rendering,
        reference: &Rendering,
        format: Format,
        criterion: Criterion,
    ) -> Result<Self, Incomparable> {
        let (image, expected) = (&render.image, &reference.image);
        let mut report = compare(expected, image)?;
        if let Criterion::Metric(Metric::Z, level) = criterion {
            let pair = Pair::Independent(estimate(reference, "the reference")?, estimate(render, "the render")?);
            report.significance = Some(significance::test(&pair, level));
        }
        let different = different(image, expected);
        if criterion == Criterion::Exact && different > 0 && format != Format::Exr {
            // What the reference would be if it were made of this render.
            let stored = file::to_bytes(image, format).ok().and_then(|bytes| file::of_bytes(&bytes, format).ok());
            if let Some(stored) = stored.filter(|stored| self::different(stored, expected) == 0) {
                let report = compare(expected, &stored)?;
                let non_finite = [report.non_finite[0], image.count_non_finite() as u64];
                let report = Report { non_finite, ..report };
                return Ok(Self { verdict: criterion.judge(&report, 0), report, different: 0, criterion });
            }
        }
        Ok(Self { verdict: criterion.judge(&report, different), report, different, criterion })
    }

    /// Why the render is not near enough: the checks that fail, in one line. Empty if it is.
    pub fn reason(&self) -> String {
        let failed = self.verdict.checks.iter().filter(|check| !check.passed);
        let mut reasons: Vec<String> = failed
            .map(|Check { name, value, relation, limit, .. }| match self.criterion {
                Criterion::Exact => {
                    let (pixels, most) = (self.report.pixels(), number(self.report.max_linear));
                    format!("{value} of {pixels} pixels have other bits, which differ by up to {most}")
                }
                _ => format!("{name} is {}, must be {relation} {limit}", number(*value)),
            })
            .collect();
        let [reference, render] = self.report.non_finite;
        for (count, of) in [(render, "the render"), (reference, "the reference")] {
            if count > 0 {
                reasons.push(format!("{count} pixels of {of} are NaN or infinite"));
            }
        }
        reasons.join("; ")
    }
}

/// What a test of the means takes of an image.
fn estimate<'a>(of: &'a Rendering, name: &'static str) -> Result<Estimate<'a>, Incomparable> {
    match &of.variance {
        Some(variance) if variance.batches >= LEAST_BATCHES => Ok(Estimate { image: &of.image, variance }),
        _ => Err(Incomparable::NoVariances(name)),
    }
}

/// The number of pixels that have not the same bits.
fn different(a: &Image, b: &Image) -> u64 {
    if (a.width, a.height) != (b.width, b.height) {
        return a.rgba.len().max(b.rgba.len()) as u64;
    }
    let pixels = a.rgba.iter().zip(&b.rgba);
    pixels.filter(|(a, b)| differ(a, b)).count() as u64
}

/// Whether two pixels have not the same bits.
pub(super) fn differ(a: &[f32; 4], b: &[f32; 4]) -> bool {
    a.map(f32::to_bits) != b.map(f32::to_bits)
}

/// A number for people: whole numbers as they are, others with six digits that count.
pub fn number(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 {
        return format!("{value}");
    }
    if !value.is_finite() {
        return value.to_string();
    }
    if value.abs() < 1e-4 {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::test_images::{flat, textured};
    use crate::image::Variance;

    fn judged(render: &Image, reference: &Image, criterion: Criterion) -> Comparison {
        let [render, reference] = [render, reference].map(|image| Rendering::from(image.clone()));
        Comparison::of(&render, &reference, Format::Exr, criterion).expect("images of one size")
    }

    #[test]
    fn exact_takes_the_same_bits_and_nothing_else() {
        let reference = textured(8, 8);
        let mut render = reference.clone();
        assert!(judged(&render, &reference, Criterion::Exact).verdict.passed);
        render.rgba[3][1] = f32::from_bits(render.rgba[3][1].to_bits() + 1);
        let comparison = judged(&render, &reference, Criterion::Exact);
        assert_eq!((comparison.verdict.passed, comparison.different), (false, 1));
        let reason = comparison.reason();
        assert!(reason.starts_with("1 of 64 pixels have other bits, which differ by up to "), "{reason}");
        assert!(judged(&render, &reference, Criterion::Default).verdict.passed);
    }

    #[test]
    fn exact_compares_with_a_reference_of_integers_what_a_file_of_its_format_would_hold() {
        let render = textured(8, 8);
        let mut brighter = render.clone();
        brighter.rgba[0][0] += 1e-5;
        for format in [Format::Png, Format::Pnm] {
            let bytes = file::to_bytes(&render, format).expect("it can be written");
            let reference = Rendering::from(file::of_bytes(&bytes, format).expect("it can be read"));
            let of = |image: &Image| {
                Comparison::of(&image.clone().into(), &reference, format, Criterion::Exact).expect("one size")
            };
            assert!(of(&render).verdict.passed && of(&brighter).verdict.passed, "{format}");
            let mut other = render.clone();
            other.rgba[0][0] += 0.1;
            assert!(!of(&other).verdict.passed, "{format}");
        }
    }

    #[test]
    fn pixels_that_are_not_finite_fail_every_criterion_even_if_both_images_have_them() {
        let mut image = flat(4, 4, 90);
        image.rgba[0][0] = f32::NAN;
        for criterion in [Criterion::Exact, Criterion::Default, Criterion::Metric(Metric::Max, 1.0)] {
            let comparison = judged(&image, &image, criterion);
            assert!(!comparison.verdict.passed, "{criterion}");
            assert!(comparison.reason().contains("1 pixels of the render are NaN or infinite"), "{criterion}");
        }
    }

    #[test]
    fn noise_is_within_the_metric_z_and_a_shift_is_not() {
        let noisy = |shift: f32, seed: u32| {
            let mut image = flat(16, 16, 128);
            for (i, pixel) in image.rgba.iter_mut().enumerate() {
                let noise = (i as u32 ^ seed).wrapping_mul(2_654_435_761) >> 16 & 0xff;
                let value = 0.2 + shift + (noise as f32 / 255.0 - 0.5) * 0.02;
                *pixel = [value, value, value, 1.0];
            }
            let rgb = vec![[0.006_f32.powi(2); 3]; image.rgba.len()];
            Rendering { variance: Some(Variance { rgb, batches: 16, samples: 64 }), ..image.into() }
        };
        let of = |render: &Rendering| {
            Comparison::of(render, &noisy(0.0, 1), Format::Exr, Criterion::Metric(Metric::Z, 0.01))
        };
        let passes = |render: &Rendering| of(render).expect("it has variances").verdict.passed;
        assert!(passes(&noisy(0.0, 77)) && !passes(&noisy(0.01, 77)));
        let plain = Rendering { variance: None, ..noisy(0.0, 1) };
        assert_eq!(of(&plain).err(), Some(Incomparable::NoVariances("the render")));
    }

    #[test]
    fn numbers_have_as_many_digits_as_people_read() {
        assert_eq!(
            [0.0, 3.0, 0.25, 0.001, 1.5e-7, 34.123_456_78].map(number),
            ["0", "3", "0.25", "0.001", "1.500e-7", "34.123457"]
        );
        assert_eq!(number(f64::INFINITY), "inf");
    }
}
