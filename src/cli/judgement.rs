//! Compares two images by `--metric` and `--threshold`.

use super::args::JudgeArgs;
use super::failure::Failure;
use super::output::print_json;
use shadewright::compare::{self, Tolerance, Verdict};
use shadewright::image::Image;
use shadewright::image::file as image_file;
use std::fmt;
use std::path::Path;

/// Refuses, before anything is rendered, a metric without the threshold that it is judged by.
pub fn check_judgement(args: &JudgeArgs) -> Result<(), Failure> {
    match (args.metric, args.threshold) {
        (Some(metric), None) => {
            let name = metric.to_string().to_lowercase();
            Err(Failure::input(format!("error: --metric {name} needs --threshold X to judge by")))
        }
        _ => Ok(()),
    }
}

/// Compares two images, prints the report and the verdict, and fails when they differ too much.
pub fn judge(a: &Image, b: &Image, args: &JudgeArgs, difference: Option<&Path>) -> Result<(), Failure> {
    let judgement = Judgement::of(a, b, args, difference)?;
    if args.json {
        print_json(&judgement.json().into())?;
    } else {
        println!("{judgement}");
    }
    judgement.outcome()
}

/// How two images compare.
pub struct Judgement {
    report: compare::Report,
    verdict: Verdict,
}

impl Judgement {
    /// Compares two images, and writes where they differ to `difference`.
    pub fn of(a: &Image, b: &Image, args: &JudgeArgs, difference: Option<&Path>) -> Result<Self, Failure> {
        check_judgement(args)?;
        if let Some(path) = difference {
            image_file::check_writable(path)?;
        }
        let report = compare::compare(a, b).map_err(|e| Failure::input(format!("error: {e}")))?;
        let verdict = match (args.metric, args.threshold) {
            (Some(metric), Some(threshold)) => metric.judge(&report, threshold),
            _ => Tolerance::default().judge(&report),
        };
        if let Some(path) = difference {
            image_file::write(path, &report.difference_image())?;
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

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.report, self.verdict)
    }
}
