//! How far a render may be from its reference, and the comparison of the two.

use crate::compare::significance::{self, Estimate, LEAST_BATCHES, Pair};
use crate::compare::verdict::{Check, Probability, Relation};
use crate::compare::{CompareError, Metric, Report, Tolerance, Verdict, compare};
use shadewright_image::file::Format;
use shadewright_image::rendering::Rendering;
use shadewright_image::{Image, file};
use std::fmt;
use thiserror::Error;

/// How far a render may be from its reference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Criterion {
    /// [`Tolerance::default`].
    #[default]
    Default,
    /// Every pixel has the same bits, those of a file of the reference's format.
    Exact,
    /// A metric is within a threshold.
    Metric(Metric, f64),
}

impl Criterion {
    /// True if it looks at the variances of pixels.
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
    NoVariances(Side),
}

/// One of two images that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The image that is expected.
    Reference,
    /// The image that is judged.
    Render,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Reference => "the reference",
            Side::Render => "the render",
        })
    }
}

/// A render beside its reference.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Every metric.
    pub report: Report,
    /// True if the render is near enough.
    pub verdict: Verdict,
    /// The number of pixels that have not the same bits.
    pub different: u64,
    /// The image that was compared in place of the render: the render as a file of the reference's
    /// format holds it, where that rounds.
    pub stored: Option<Image>,
    criterion: Criterion,
}

impl Comparison {
    /// Compares a render with its reference, which was read from a file of the format. Where the
    /// format rounds, as those of 8 bits do, the render is rounded in the same way before, but for the
    /// test of the means: a render equals the file that was made of it.
    ///
    /// # Errors
    /// When their sizes or channels differ, or the criterion needs variances that they do not have.
    pub fn new(
        render: &Rendering,
        reference: &Rendering,
        format: Format,
        criterion: Criterion,
    ) -> Result<Self, Incomparable> {
        let expected = &reference.image;
        let stored = (!criterion.needs_variances()).then(|| stored(&render.image, expected, format)).flatten();
        let image = stored.as_ref().unwrap_or(&render.image);
        let mut report = compare(expected, image)?;
        if let Criterion::Metric(Metric::Z, level) = criterion {
            let render = estimate(render, Side::Render)?;
            let pair = Pair::Independent(estimate(reference, Side::Reference)?, render);
            report.significance = Some(significance::test(&pair, level));
        }
        let different = different(image, expected);
        Ok(Self { verdict: criterion.judge(&report, different), report, different, stored, criterion })
    }

    /// Why the render is not near enough: the checks that fail, in one line. Empty if it is.
    pub fn reason(&self) -> String {
        let failed = self.verdict.checks.iter().filter(|check| !check.passed);
        let mut reasons: Vec<String> = failed
            .map(|check| {
                let Check { name, relation, limit, .. } = check;
                if self.criterion == Criterion::Exact {
                    let (pixels, most) = (self.report.pixels(), number(self.report.max_linear));
                    return format!("{} of {pixels} pixels have other bits, which differ by up to {most}", check.value);
                }
                format!("{name} is {}, must be {relation} {limit}", value_of(check))
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

/// The estimate that a test of the means takes of an image.
fn estimate<'a>(of: &'a Rendering, side: Side) -> Result<Estimate<'a>, Incomparable> {
    match &of.variance {
        Some(variance) if variance.batches >= LEAST_BATCHES => Ok(Estimate { image: &of.image, variance }),
        _ => Err(Incomparable::NoVariances(side)),
    }
}

/// An image as a file of a format holds it. `None` where that is the image itself, or says less of it:
/// OpenEXR, a pixel that is not finite, an alpha that the format has not, or a reference that was not
/// rounded in this way, such as one of 16 bits.
fn stored(image: &Image, reference: &Image, format: Format) -> Option<Image> {
    let through = |image: &Image| {
        let bytes = file::to_bytes(image, format).ok()?;
        let stored = file::decode_bytes(&bytes, format).ok()?;
        let has_alpha = image.channels.has_alpha() && !image.is_opaque();
        (stored.channels.has_alpha() || !has_alpha).then_some(stored)
    };
    if format == Format::Exr || image.count_non_finite() > 0 {
        return None;
    }
    let is_rounded = || through(reference).is_some_and(|again| different(&again, reference) == 0);
    (format == Format::Hdr || is_rounded()).then(|| through(image)).flatten()
}

/// The number of pixels that have not the same bits.
fn different(a: &Image, b: &Image) -> u64 {
    if (a.width, a.height) != (b.width, b.height) {
        return a.rgba.len().max(b.rgba.len()) as u64;
    }
    let pixels = a.rgba.iter().zip(&b.rgba);
    pixels.filter(|(a, b)| differ(a, b)).count() as u64
}

/// True if two pixels have not the same bits.
pub(super) fn differ(a: &[f32; 4], b: &[f32; 4]) -> bool {
    a.map(f32::to_bits) != b.map(f32::to_bits)
}

/// The value of a check for people.
pub fn value_of(check: &Check) -> String {
    match check.is_probability() {
        true => Probability(check.value).to_string(),
        false => number(check.value),
    }
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
    use shadewright_image::Variance;

    fn judged(render: &Image, reference: &Image, criterion: Criterion) -> Comparison {
        let [render, reference] = [render, reference].map(|image| Rendering::from(image.clone()));
        Comparison::new(&render, &reference, Format::Exr, criterion).expect("images of one size")
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

    /// An image with every alpha between nothing and all.
    fn translucent() -> Image {
        let mut image = textured(16, 16);
        for (i, [r, g, b, a]) in image.rgba.iter_mut().enumerate() {
            let alpha = i as f32 / 255.0;
            (*r, *g, *b, *a) = (*r * alpha, *g * alpha, *b * alpha, alpha);
        }
        image
    }

    /// The image that a file of a format holds.
    fn through(image: &Image, format: Format) -> Image {
        let bytes = file::to_bytes(image, format).expect("it can be written");
        file::decode_bytes(&bytes, format).expect("it can be read")
    }

    #[test]
    fn a_render_passes_against_a_file_of_itself_by_every_metric_whatever_the_format_rounds() {
        let mut dark = textured(16, 16);
        dark.rgba.iter_mut().for_each(|[r, g, b, _]| (*r, *g, *b) = (*r * 0.013, *g * 0.017, *b * 0.011));
        let within = [Metric::Flip, Metric::Rmse, Metric::Max, Metric::Mean].map(|m| Criterion::Metric(m, 0.0));
        for format in [Format::Png, Format::Pnm, Format::Hdr] {
            let translucent = Some(translucent()).filter(|_| format == Format::Png);
            for render in [Some(textured(16, 16)), Some(dark.clone()), translucent].into_iter().flatten() {
                let reference = Rendering::from(through(&render, format));
                let of = |image: &Image, criterion| {
                    Comparison::new(&image.clone().into(), &reference, format, criterion).expect("one size")
                };
                for criterion in within.into_iter().chain([Criterion::Exact, Criterion::Default]) {
                    let comparison = of(&render, criterion);
                    assert!(comparison.verdict.passed, "{format} {criterion}: {}", comparison.reason());
                }
                let mut other = render.clone();
                other.rgba[255][0] += 0.1;
                assert!(!of(&other, Criterion::Exact).verdict.passed, "{format}");
            }
        }
    }

    #[test]
    fn an_alpha_that_the_format_of_the_reference_has_not_is_no_match() {
        for format in [Format::Pnm, Format::Hdr] {
            let reference = Rendering::from(through(&translucent(), format));
            let error = Comparison::new(&translucent().into(), &reference, format, Criterion::Default).err();
            assert!(matches!(error, Some(Incomparable::Images(CompareError::ChannelMismatch { .. }))), "{format}");
        }
    }

    #[test]
    fn a_reference_of_more_than_8_bits_is_compared_with_all_bits_of_the_render() {
        let fine = textured(8, 8);
        let comparison = Comparison::new(
            &fine.clone().into(),
            &Rendering::from(Image {
                rgba: fine.rgba.iter().map(|&[r, g, b, a]| [r * 0.999, g, b, a]).collect(),
                ..fine
            }),
            Format::Png,
            Criterion::Exact,
        );
        let comparison = comparison.expect("images of one size");
        assert!(comparison.stored.is_none() && !comparison.verdict.passed);
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
            Comparison::new(render, &noisy(0.0, 1), Format::Exr, Criterion::Metric(Metric::Z, 0.01))
        };
        let passes = |render: &Rendering| of(render).expect("it has variances").verdict.passed;
        assert!(passes(&noisy(0.0, 77)) && !passes(&noisy(0.01, 77)));
        let plain = Rendering { variance: None, ..noisy(0.0, 1) };
        assert_eq!(of(&plain).err(), Some(Incomparable::NoVariances(Side::Render)));
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
