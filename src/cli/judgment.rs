//! Compares two images by `--metric` and `--threshold`.

use super::args::{JudgeArgs, PixelLimit};
use super::failure::Failure;
use super::output::print_json;
use shadewright::compare::significance::{self, DEFAULT_SIGNIFICANCE, Estimate, LEAST_BATCHES, Pair};
use shadewright::compare::{self, Metric, Tolerance, Verdict};
use shadewright::image::file as image_file;
use shadewright::image::rendering::{self, Rendering};
use shadewright::image::{Image, Variance};
use std::fmt;
use std::path::Path;

/// Refuses, before anything is rendered, a metric without the threshold that it is judged by, and a
/// threshold that cannot be.
pub fn check_judgment(args: &JudgeArgs) -> Result<(), Failure> {
    match (args.metric, args.threshold) {
        (Some(metric), None) if metric.default_threshold().is_none() => {
            Err(Failure::input(format!("error: --metric {metric} needs --threshold X to judge by")))
        }
        (Some(Metric::Z), Some(p)) if !(p > 0.0 && p < 1.0) => Err(Failure::input(format!(
            "error: --threshold {p}: that of --metric z is a probability, above 0 and below 1; 0.01 by default"
        ))),
        _ => Ok(()),
    }
}

/// [`check_judgment`] where one of the images has no variances, as `what` says.
pub fn check_judgment_without_variances(args: &JudgeArgs, what: &str) -> Result<(), Failure> {
    match args.metric {
        Some(Metric::Z) => Err(Failure::input(format!("error: --metric z needs the variances of pixels: {what}"))),
        _ => check_judgment(args),
    }
}

/// An image from a file.
pub struct Named {
    name: String,
    rendering: Rendering,
}

impl Named {
    /// As one of two images that are compared.
    pub fn side(&self) -> Side<'_> {
        Side::new(&self.name, &self.rendering.image, self.rendering.variance.as_ref())
    }
}

/// Reads an image that is compared, with the variances of its pixels where they are needed.
pub fn read(path: &Path, args: &JudgeArgs, limit: PixelLimit) -> Result<Named, Failure> {
    let rendering = match args.metric {
        Some(Metric::Z) => rendering::read(path, limit.max_pixels)?,
        _ => image_file::read_within(path, limit.max_pixels)?.into(),
    };
    Ok(Named { name: format!("`{}`", path.display()), rendering })
}

/// One of two images that are compared.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// A description of the image, for messages.
    name: &'a str,
    image: &'a Image,
    variance: Option<&'a Variance>,
}

impl<'a> Side<'a> {
    /// An image, what it is, and the variances of its pixels where they are known.
    pub fn new(name: &'a str, image: &'a Image, variance: Option<&'a Variance>) -> Self {
        Self { name, image, variance }
    }

    /// The image of a hardware model, or one that it is compared with.
    pub fn from_render(image: &'a Image) -> Self {
        Self::new("the model's image", image, None)
    }

    /// The estimate that the z test takes.
    fn estimate(self) -> Result<Estimate<'a>, Failure> {
        let Self { name, image, variance } = self;
        let problem = match variance {
            Some(variance) if variance.batches >= LEAST_BATCHES => return Ok(Estimate { image, variance }),
            Some(variance) => {
                format!("has {} batches of samples, too few for --metric z", variance.batches)
            }
            None => "has no variances, which --metric z needs".to_string(),
        };
        Err(Failure::input(format!(
            "error: {name} {problem}\nhint: {LEAST_BATCHES} samples per pixel or more, in an .exr file, and no imager: `shadewright SCENE --spp {LEAST_BATCHES} --render FILE.exr`"
        )))
    }
}

/// Prints a judgment, and fails when the images differ too much.
pub fn conclude(judgment: &Judgment, as_json: bool) -> Result<(), Failure> {
    if as_json {
        print_json(&judgment.json().into())?;
    } else {
        println!("{judgment}");
    }
    judgment.outcome()
}

/// How two images compare.
pub struct Judgment {
    report: compare::Report,
    verdict: Verdict,
}

impl Judgment {
    /// Compares two images, and writes where they differ to `difference`.
    pub fn new(first: Side, second: Side, args: &JudgeArgs, difference: Option<&Path>) -> Result<Self, Failure> {
        let pair = match args.metric {
            Some(Metric::Z) => Some(Pair::Independent(first.estimate()?, second.estimate()?)),
            _ => None,
        };
        Self::from_pair(first.image, second.image, pair.as_ref(), args, difference)
    }

    /// [`Judgment::new`] with the z test of a pair, beside the default tolerances or by itself.
    pub fn from_pair(
        first: &Image,
        second: &Image,
        pair: Option<&Pair<'_>>,
        args: &JudgeArgs,
        difference: Option<&Path>,
    ) -> Result<Self, Failure> {
        check_judgment(args)?;
        if let Some(path) = difference {
            image_file::check_writable(path)?;
        }
        let mut report = compare::compare(first, second).map_err(|e| Failure::input(format!("error: {e}")))?;
        let threshold = |metric: Metric| args.threshold.or(metric.default_threshold());
        let level = args.metric.and_then(threshold).unwrap_or(DEFAULT_SIGNIFICANCE);
        report.significance = pair.map(|pair| significance::test(pair, level));
        let verdict = match args.metric.and_then(|metric| Some((metric, threshold(metric)?))) {
            Some((metric, threshold)) => metric.judge(&report, threshold),
            None => Tolerance::default().judge(&report),
        };
        if let Some(path) = difference {
            let significance = report.significance_image().filter(|_| args.metric == Some(Metric::Z));
            image_file::write(path, &significance.unwrap_or_else(|| report.difference_image()))?;
        }
        Ok(Self { report, verdict })
    }

    /// An object with `report` and `verdict`.
    pub fn json(&self) -> serde_json::Map<String, serde_json::Value> {
        [("report", serde_json::json!(self.report)), ("verdict", serde_json::json!(self.verdict))]
            .map(|(name, value)| (name.to_string(), value))
            .into_iter()
            .collect()
    }

    /// Fails when the images differ too much.
    pub fn outcome(&self) -> Result<(), Failure> {
        if self.verdict.passed { Ok(()) } else { Err(Failure::different("")) }
    }
}

impl fmt::Display for Judgment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.report, self.verdict)
    }
}
