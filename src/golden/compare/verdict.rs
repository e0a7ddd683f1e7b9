//! Verdicts: whether a [`Report`] is good enough, by the default tolerance or by one chosen metric.
//!
//! Takes reports and limits and gives pass or fail with each check spelled out. It measures nothing
//! itself.

use std::fmt;

use serde::Serialize;

use super::report::Report;
use super::significance::DEFAULT_SIGNIFICANCE;

/// How far apart two images of the same thing may be. All of its checks must pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// The mean FLIP error must be below this.
    pub flip_mean: f64,
    /// Levels of an 8-bit file (0..=255) above which a pixel's difference counts.
    pub levels: u8,
    /// The share (0..=1) of pixels that differ by more than `levels` must be below this.
    pub over_threshold_share: f64,
}

/// Two renders of one scene on two back ends: FLIP mean below 0.01, and fewer than 0.1 % of pixels
/// over 4/255.
///
/// The back ends run the same arithmetic, so only rounding (fused multiply-adds, a driver's square
/// root) may distinguish them: the share leaves room for pixels on edges, where a ray may fall on
/// the other side. FLIP's scale is steep: mid-gray off by one level everywhere is a mean of 0.030,
/// by four levels 0.079 (the first is a test in [`super::flip`]), so 0.01 lets about a third of the
/// pixels round to the neighboring level.
impl Default for Tolerance {
    fn default() -> Self {
        Self { flip_mean: 0.01, levels: 4, over_threshold_share: 0.001 }
    }
}

impl Tolerance {
    /// Judges a report. Pixels that are not finite fail it whatever the limits are. Where there is a
    /// test of significance, it must pass, too.
    #[must_use]
    pub fn judge(&self, report: &Report) -> Verdict {
        let below = |name: String, value: f64, limit: f64| Check {
            name,
            value,
            relation: Relation::Below,
            limit,
            passed: value < limit,
        };
        let mut checks = vec![
            below("FLIP mean".into(), report.flip_mean, self.flip_mean),
            below(
                format!("share of pixels over {}/255", self.levels),
                report.share_over(self.levels),
                self.over_threshold_share,
            ),
        ];
        checks.extend(report.significance.as_ref().map(|tested| Metric::Z.check(report, tested.significance)));
        Verdict::new(report, checks)
    }
}

/// A single metric to judge by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Metric {
    /// Mean FLIP error, 0 to 1; lower is better.
    Flip,
    /// Root mean square error in display space, 0 to 1; lower is better.
    Rmse,
    /// Peak signal-to-noise ratio in decibels; higher is better.
    Psnr,
    /// Structural similarity, up to 1; higher is better.
    Ssim,
    /// Largest error of any channel in display space, 0 to 1; lower is better.
    Max,
    /// Mean absolute error in display space, 0 to 1; lower is better.
    Mean,
    /// Probability that images with the same means differ as much somewhere, by a test of their
    /// variances; higher is better.
    Z,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 7] = [Self::Flip, Self::Rmse, Self::Psnr, Self::Ssim, Self::Max, Self::Mean, Self::Z];

    /// The metric's name as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Flip => "flip",
            Self::Rmse => "rmse",
            Self::Psnr => "psnr",
            Self::Ssim => "ssim",
            Self::Max => "max",
            Self::Mean => "mean",
            Self::Z => "z",
        }
    }

    /// The metric's value in a report; NaN for that of a test that was not made.
    #[must_use]
    pub fn value(self, report: &Report) -> f64 {
        match self {
            Self::Flip => report.flip_mean,
            Self::Rmse => report.difference.rmse,
            Self::Psnr => report.difference.psnr(),
            Self::Ssim => report.ssim,
            Self::Max => report.difference.max,
            Self::Mean => report.difference.mean,
            Self::Z => report.significance.as_ref().map_or(f64::NAN, |significance| significance.p),
        }
    }

    /// The threshold unless another is asked for, where there is one.
    #[must_use]
    pub fn default_threshold(self) -> Option<f64> {
        (self == Self::Z).then_some(DEFAULT_SIGNIFICANCE)
    }

    /// True if more of it means that the images are more alike.
    #[must_use]
    pub fn higher_is_better(self) -> bool {
        matches!(self, Self::Psnr | Self::Ssim | Self::Z)
    }

    /// True if a value is at least as good as the threshold; NaN never is.
    #[must_use]
    pub fn passes(self, value: f64, threshold: f64) -> bool {
        if self.higher_is_better() { value >= threshold } else { value <= threshold }
    }

    /// Judges a report by this metric alone. Pixels that are not finite fail it whatever the
    /// threshold is.
    #[must_use]
    pub fn judge(self, report: &Report, threshold: f64) -> Verdict {
        Verdict::new(report, vec![self.check(report, threshold)])
    }

    fn check(self, report: &Report, threshold: f64) -> Check {
        let value = self.value(report);
        Check {
            name: if self == Self::Z { P_OF_Z.into() } else { self.name().into() },
            value,
            relation: if self.higher_is_better() { Relation::AtLeast } else { Relation::AtMost },
            limit: threshold,
            passed: self.passes(value, threshold),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name of the check by [`Metric::Z`].
const P_OF_Z: &str = "p of the z test";

/// The relation to its limit that a value must have to pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Less than the limit.
    Below,
    /// The limit or less.
    AtMost,
    /// The limit or more.
    AtLeast,
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Below => "below",
            Self::AtMost => "at most",
            Self::AtLeast => "at least",
        })
    }
}

/// One value held against its limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// The name of the checked quantity, for people.
    pub name: String,
    /// The value that was measured.
    pub value: f64,
    /// The relation to the limit that it had to have.
    pub relation: Relation,
    /// The limit.
    pub limit: f64,
    /// True if it was.
    pub passed: bool,
}

impl Check {
    /// True if the value is a probability, of which 0 means less than can be computed.
    #[must_use]
    pub fn is_probability(&self) -> bool {
        self.name == P_OF_Z
    }
}

/// The outcome of a judgment. `Display` says it in one line for each check, the outcome first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// True if all checks passed and all pixels are finite.
    pub passed: bool,
    /// Every check, passed or not.
    pub checks: Vec<Check>,
    /// Pixels with a NaN or an infinity, in the first and in the second image.
    pub non_finite: [u64; 2],
}

impl Verdict {
    fn new(report: &Report, checks: Vec<Check>) -> Self {
        let finite = report.non_finite == [0, 0];
        Self { passed: finite && checks.iter().all(|check| check.passed), checks, non_finite: report.non_finite }
    }
}

/// A number with six decimals, or in scientific notation where they would all be 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Short(pub f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            x if x != 0.0 && x.abs() < 1e-5 => write!(f, "{x:.2e}"),
            x => write!(f, "{x:.6}"),
        }
    }
}

/// A probability: as [`Short`], and one that is too small for its type as that.
#[derive(Clone, Copy, Debug)]
pub struct Probability(pub f64);

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0.0 => f.write_str("less than 1e-300"),
            p => Short(p).fmt(f),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.passed { "PASS" } else { "FAIL" })?;
        for check in &self.checks {
            let mark = if check.passed { "ok  " } else { "FAIL" };
            let Check { name, value, relation, limit, .. } = check;
            let value = match check.is_probability() {
                true => Probability(*value).to_string(),
                false => Short(*value).to_string(),
            };
            write!(f, "\n  {mark} {name} is {value}, must be {relation} {limit}")?;
        }
        let [first, second] = self.non_finite;
        if self.non_finite != [0, 0] {
            write!(f, "\n  FAIL {first} pixels of the first image and {second} of the second are NaN or infinite")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::compare::test_images::flat;
    use shadewright_image::Image;

    /// A flat image with `changed` of 100 × 100 pixels lighter by 5 levels.
    fn with_changed(changed: usize) -> Image {
        let mut image = flat(100, 100, 100);
        image.rgba[..changed].fill(flat(1, 1, 105).rgba[0]);
        image
    }

    #[test]
    fn the_default_tolerance_takes_fewer_than_one_pixel_in_a_thousand() {
        let tolerance = Tolerance::default();
        let judged = |changed| {
            let report = compare(&with_changed(0), &with_changed(changed)).unwrap();
            assert!(report.flip_mean < tolerance.flip_mean);
            tolerance.judge(&report).passed
        };
        assert!(judged(9));
        assert!(!judged(10));
    }

    #[test]
    fn the_default_tolerance_refuses_a_shift_of_the_whole_image_below_the_levels() {
        let report = compare(&flat(64, 64, 100), &flat(64, 64, 101)).unwrap();
        assert_eq!(report.share_over(4), 0.0);
        assert!(!Tolerance::default().judge(&report).passed);
    }

    #[test]
    fn a_threshold_is_met_when_reached_in_the_metrics_own_direction() {
        assert!(Metric::Rmse.passes(0.1, 0.1));
        assert!(!Metric::Rmse.passes(0.2, 0.1));
        assert!(Metric::Psnr.passes(f64::INFINITY, 30.0));
        assert!(!Metric::Psnr.passes(29.9, 30.0));
        assert!(Metric::Ssim.passes(0.95, 0.95));
        assert!(!Metric::Max.passes(f64::NAN, 1.0));
        assert!(!Metric::Ssim.passes(f64::NAN, 0.0));
    }

    #[test]
    fn the_command_line_names_are_the_metrics_own() {
        use clap::ValueEnum as _;
        for metric in Metric::ALL {
            assert_eq!(Metric::from_str(metric.name(), false), Ok(metric));
            assert_eq!(metric.to_possible_value().unwrap().get_name(), metric.name());
        }
        assert!(Metric::from_str("dssim", false).is_err());
    }

    #[test]
    fn a_verdict_spells_out_each_check() {
        let report = compare(&with_changed(0), &with_changed(10_000)).unwrap();
        let text = Tolerance::default().judge(&report).to_string();
        assert!(text.starts_with("FAIL\n"), "{text}");
        assert!(text.ends_with("\n  FAIL share of pixels over 4/255 is 1.000000, must be below 0.001"), "{text}");
        let text = Metric::Psnr.judge(&report, 30.0).to_string();
        assert!(text.starts_with("PASS\n  ok   psnr is 34."), "{text}");
    }

    #[test]
    fn small_numbers_are_told_from_nothing() {
        assert_eq!(
            [0.0, 0.25, 1e-5, 3.21e-9].map(|x| Short(x).to_string()),
            ["0.000000", "0.250000", "0.000010", "3.21e-9"]
        );
        assert_eq!([0.0, 3.21e-9].map(|x| Probability(x).to_string()), ["less than 1e-300", "3.21e-9"]);
    }

    #[test]
    fn a_verdict_tells_of_pixels_that_are_not_finite() {
        let mut image = flat(10, 10, 7);
        image.rgba[4][0] = f32::NAN;
        let report = compare(&flat(10, 10, 7), &image).unwrap();
        let verdict = Metric::Max.judge(&report, 1.0);
        assert!(!verdict.passed);
        assert!(
            verdict.to_string().ends_with("FAIL 0 pixels of the first image and 1 of the second are NaN or infinite")
        );
    }
}
