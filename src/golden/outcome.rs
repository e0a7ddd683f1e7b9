//! The outcome of each image: the record that the report, the JUnit file and the next run read.

use super::list::Case;
use super::tolerance::{Comparison, number, value_of};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;

/// How an image stands, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// There is no image, or its reference cannot be read.
    Error,
    /// It is not near enough to its reference.
    Failed,
    /// It has no reference.
    New,
    /// It became the reference.
    Blessed,
    /// It is near enough to its reference.
    Passed,
}

impl Status {
    /// All, the worst first.
    pub const ALL: [Status; 5] = [Status::Error, Status::Failed, Status::New, Status::Blessed, Status::Passed];

    /// The name, for people and for programs.
    pub fn name(self) -> &'static str {
        match self {
            Status::Error => "error",
            Status::Failed => "failed",
            Status::New => "new",
            Status::Blessed => "blessed",
            Status::Passed => "passed",
        }
    }

    /// True if all is well.
    pub fn is_good(self) -> bool {
        matches!(self, Status::Blessed | Status::Passed)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why there is no image, or nothing to compare it with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The scene, its files or the options are wrong.
    Scene,
    /// There is no device, or it failed.
    Device,
    /// The process ended by a signal, or in a way that it never should.
    Crash,
    /// It took too long.
    Timeout,
    /// The reference cannot be read.
    Reference,
}

impl Cause {
    /// The exit status of the program: 2 for wrong input, 3 for the device.
    pub fn exit_status(self) -> u8 {
        match self {
            Cause::Scene | Cause::Reference => 2,
            Cause::Device | Cause::Crash | Cause::Timeout => 3,
        }
    }
}

/// One number of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Number {
    /// The name of the measured quantity.
    pub name: String,
    /// The value.
    pub value: String,
    /// The limit that it must keep, if it is judged.
    pub limit: Option<String>,
    /// True if it is.
    pub passed: Option<bool>,
}

/// An image that was rendered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Render {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Samples per pixel, as `render --json` prints them.
    pub spp: Value,
    /// The device, for people.
    pub device: String,
    /// How long the process took, in seconds.
    pub seconds: f64,
}

/// The outcome of an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How it stands.
    pub status: Status,
    /// Why, in one line; empty for an image that passed.
    pub reason: String,
    /// For errors.
    pub cause: Option<Cause>,
    /// The render, if there is one.
    pub render: Option<Render>,
    /// How long an attempt without an image took, in seconds.
    pub failed_after: f64,
    /// The text that the process printed to standard error.
    pub messages: String,
    /// The numbers of the comparison; none where nothing was compared.
    pub numbers: Vec<Number>,
    /// The findings of a test of the means of noisy images, in lines; empty where none was made.
    pub details: String,
    /// The same as `shadewright diff --json` prints them: `report` and `verdict`; null where nothing
    /// was compared.
    pub comparison: Value,
}

impl Outcome {
    /// An image that could not be rendered.
    pub fn error(cause: Cause, reason: impl Into<String>, messages: impl Into<String>, seconds: f64) -> Self {
        Self {
            status: Status::Error,
            reason: reason.into(),
            cause: Some(cause),
            render: None,
            failed_after: seconds,
            messages: messages.into(),
            numbers: Vec::new(),
            details: String::new(),
            comparison: Value::Null,
        }
    }

    /// An image that is not compared yet.
    pub fn rendered(render: Render, messages: impl Into<String>) -> Self {
        Self { status: Status::New, cause: None, render: Some(render), ..Self::error(Cause::Scene, "", messages, 0.0) }
    }

    /// The same image with its reference.
    pub fn compared(&self, comparison: &Comparison) -> Self {
        let passed = comparison.verdict.passed;
        Self {
            status: if passed { Status::Passed } else { Status::Failed },
            reason: comparison.reason(),
            cause: None,
            numbers: numbers(comparison),
            details: comparison.report.significance.iter().map(ToString::to_string).collect(),
            comparison: serde_json::json!({ "report": comparison.report, "verdict": comparison.verdict }),
            ..self.clone()
        }
    }

    /// The same image, with which nothing was compared.
    pub fn not_compared(&self, status: Status, cause: Option<Cause>, reason: impl Into<String>) -> Self {
        let (numbers, details, comparison) = (Vec::new(), String::new(), Value::Null);
        Self { status, cause, reason: reason.into(), numbers, details, comparison, ..self.clone() }
    }

    /// How long it took, in seconds.
    pub fn seconds(&self) -> f64 {
        self.render.as_ref().map_or(self.failed_after, |render| render.seconds)
    }
}

/// The numbers of a comparison: those that are judged first.
fn numbers(comparison: &Comparison) -> Vec<Number> {
    let report = &comparison.report;
    let judged = comparison.verdict.checks.iter().map(|check| Number {
        name: check.name.clone(),
        value: value_of(check),
        limit: Some(format!("{} {}", check.relation, check.limit)),
        passed: Some(check.passed),
    });
    let plain = |name: &str, value: String| Number { name: name.to_string(), value, limit: None, passed: None };
    let [reference, render] = report.non_finite;
    let others = [
        plain("FLIP mean", number(report.flip_mean)),
        plain("SSIM", number(report.ssim)),
        plain("PSNR", format!("{} dB", number(report.difference.psnr()))),
        plain("RMSE", number(report.difference.rmse)),
        plain("mean error", number(report.difference.mean)),
        plain("max error", number(report.difference.max)),
        plain("max linear error", number(report.max_linear)),
        plain("pixels with other bits", format!("{} of {}", comparison.different, report.pixels())),
        Number {
            passed: Some(report.non_finite == [0, 0]),
            limit: Some("0".to_string()),
            ..plain("NaN or infinite pixels", format!("{reference} in the reference, {render} in the render"))
        },
    ];
    let mut numbers: Vec<Number> = judged.collect();
    for other in others {
        if !numbers.iter().any(|own| own.name == other.name) {
            numbers.push(other);
        }
    }
    numbers
}

/// An image with its outcome, as reports show it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The image.
    pub case: Case,
    /// The name of its folder in the output.
    pub id: String,
    /// The outcome.
    pub outcome: Outcome,
    /// True if it was not rendered again.
    pub unchanged: bool,
    /// The command that renders it, in the list's folder.
    pub command: String,
}

/// Names for folders, one for each image and back end: lower case letters, digits, dots, hyphens and
/// underscores. Those that would be alike end in a hash.
pub fn ids(cases: &[Case]) -> Vec<String> {
    let mut seen: HashSet<String> = HashSet::new();
    let mut alike: HashSet<String> = HashSet::new();
    let plain = |case: &Case| {
        let text = format!("{}-{}", case.name, case.backend).to_lowercase();
        let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' };
        // Shorter than any file system's limit, and no hidden file.
        text.trim_start_matches('.').chars().map(safe).take(120).collect::<String>()
    };
    for case in cases {
        let id = plain(case);
        if !seen.insert(id.clone()) {
            alike.insert(id);
        }
    }
    let of = |case: &Case| {
        let id = plain(case);
        if !alike.contains(&id) {
            return id;
        }
        let mut hasher = shadewright_base::cache::KeyHasher::new("golden id");
        hasher.text(&case.name);
        hasher.text(&case.backend);
        format!("{id}-{}", &hasher.finish().to_string()[..12])
    };
    cases.iter().map(of).collect()
}

/// Most characters of a name of [`ids`]: those of a case, and its hash.
const MAX_ID: usize = 120 + 1 + 12;

/// True if a text is a name as [`ids`] makes them: one folder, which is not hidden.
pub fn is_id(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '_');
    (1..=MAX_ID).contains(&text.len()) && !text.starts_with('.') && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::Facts;
    use crate::tolerance::Criterion;

    fn case(name: &str) -> Case {
        Case {
            name: name.to_string(),
            scene: "a.rib".into(),
            frame: None,
            options: Vec::new(),
            backend: "rpu".to_string(),
            reference: "a.exr".into(),
            criterion: Criterion::Exact,
            facts: Facts::default(),
            fault: None,
        }
    }

    #[test]
    fn ids_are_names_of_files_and_never_alike() {
        let cases = ["glass", "scenes/glass", "scenes_glass", "Scenes_glass", "../../etc", "a b<c>"].map(case);
        let ids = ids(&cases);
        assert_eq!((&*ids[0], &*ids[5]), ("glass-rpu", "a_b_c_-rpu"));
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), cases.len());
        assert!(ids.iter().all(|id| !id.starts_with('.') && !id.contains('/')), "{ids:?}");
        assert!(ids[1].starts_with("scenes_glass-rpu-") && ids[1] == super::ids(&cases)[1]);
    }

    #[test]
    fn outcomes_survive_the_way_through_a_file() {
        let render = Render { size: [4, 3], spp: 4.into(), device: "RPU".into(), seconds: 0.1 + 0.2 };
        let outcome = Outcome::rendered(render, "warning: \u{1b}[0m");
        let text = serde_json::to_string(&outcome).expect("it can be written");
        assert_eq!(serde_json::from_str::<Outcome>(&text).expect("it can be read"), outcome);
    }
}
