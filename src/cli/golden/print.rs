//! The output of `golden`: a line for each image as it is finished, and a summary.

use super::super::args::{DEFAULT_OUT, GoldenArgs};
use super::super::failure::Failure;
use super::super::output::print_json;
use super::renders::json;
use serde_json::{Map, Value};
use shadewright::golden::annotations::harmless;
use shadewright::golden::list::Case;
use shadewright::golden::outcome::{Entry, Status};
use shadewright::golden::page::{Header, counted, counts};
use shadewright::golden::state::Output;
use shadewright::text::shell;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Most lines of the messages of an image that could not be rendered.
const MAX_LINES: usize = 40;

/// Most characters of a column of names.
const MAX_NAME: usize = 48;

/// Prints for people; nothing where programs read the results.
pub struct Printer<'a> {
    args: &'a GoldenArgs,
    /// The messages that were printed last: another back end often has the same.
    messages: RefCell<String>,
    cases: &'a [(Case, String)],
    /// Widths of the columns.
    name: usize,
    backend: usize,
}

impl<'a> Printer<'a> {
    /// Columns for these images.
    pub fn new(args: &'a GoldenArgs, cases: &'a [(Case, String)]) -> Self {
        let width = |of: fn(&Case) -> &str| cases.iter().map(|(case, _)| of(case).chars().count()).max().unwrap_or(0);
        let (name, backend) = (width(|case| &case.name).min(MAX_NAME), width(|case| &case.backend));
        Self { args, messages: RefCell::default(), cases, name, backend }
    }

    /// An image that is rendered and compared. With `--bless`, it waits for [`Printer::line`].
    pub fn finished(&self, entry: &Entry) {
        if !self.args.bless {
            self.line(entry);
        }
    }

    /// A line for an image, and the messages of one that could not be rendered.
    pub fn line(&self, entry: &Entry) {
        if self.args.json {
            return;
        }
        let Entry { case, outcome, .. } = entry;
        let time = if entry.unchanged { "unchanged".to_string() } else { format!("{:.1} s", outcome.seconds()) };
        let (name, backend, status) = (&case.name, &case.backend, outcome.status.name());
        let (names, backends) = (self.name, self.backend);
        let line = format!("{status:<7}  {name:<names$}  {backend:<backends$}  {time:<9}  {}", outcome.reason);
        println!("{}", harmless(line.trim_end()));
        if outcome.status == Status::Error && *self.messages.borrow() != outcome.messages {
            let lines: Vec<&str> = outcome.messages.trim_end().lines().collect();
            let shown = lines.len().min(MAX_LINES);
            eprintln!("{}", harmless(&lines[..shown].join("\n")));
            if shown < lines.len() {
                eprintln!("({} more lines are in the report)", lines.len() - shown);
            }
            self.messages.replace(outcome.messages.clone());
        }
    }

    /// Prints the number of images that are done, and the one that has been rendered longest.
    pub fn waiting(&self, running: &[Option<Instant>], done: usize) {
        let longest = running.iter().enumerate().filter_map(|(i, begun)| Some((begun.as_ref()?.elapsed(), i))).max();
        if let Some((time, number)) = longest {
            let (case, _) = &self.cases[number];
            let count = self.cases.len();
            eprintln!(
                "{done} of {count} done; rendering {} on {} for {:.0} s",
                case.name,
                case.backend,
                time.as_secs_f64()
            );
        }
    }

    /// A render that did not become a reference.
    pub fn refused(&self, entry: &Entry, why: &str) {
        eprintln!("not blessed: {} on {}: {}", entry.case.name, entry.case.backend, harmless(why));
    }

    /// Prints the results so far of a run that was interrupted, for programs.
    ///
    /// # Errors
    /// When the results cannot be written as JSON.
    pub fn interrupted(&self, entries: &[Entry], left: &[PathBuf], header: &Header) -> Result<(), Failure> {
        if self.args.json { self.document(entries, left, None, header) } else { Ok(()) }
    }

    /// Prints the results for programs. Without a report the run was interrupted.
    fn document(
        &self,
        entries: &[Entry],
        left: &[PathBuf],
        report: Option<&Path>,
        header: &Header,
    ) -> Result<(), Failure> {
        let output = Output::new(&self.args.out);
        let by_status: Map<String, Value> =
            counts(entries).iter().map(|(status, count)| (status.name().to_string(), (*count).into())).collect();
        let passed = report.is_some() && entries.iter().all(|entry| entry.outcome.status.is_good());
        let junit = self.args.junit.as_ref().filter(|_| report.is_some());
        print_json(&serde_json::json!({
            "passed": passed,
            "interrupted": report.is_none(),
            "counts": by_status,
            "source": header.source,
            "folder": header.folder,
            "started": format!("{}Z", header.started),
            "seconds": (header.seconds * 1e3).round() / 1e3,
            "report": report.map(|path| path.display().to_string()),
            "junit": junit.map(|path| path.display().to_string()),
            "notes": header.notes,
            "leftover": left.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
            "images": entries.iter().map(|entry| json(entry, &output)).collect::<Vec<_>>(),
        }))
    }

    /// The end of a run.
    ///
    /// # Errors
    /// When the results cannot be written as JSON.
    pub fn end(&self, entries: &[Entry], left: &[PathBuf], report: &Path, header: &Header) -> Result<(), Failure> {
        if self.args.json {
            return self.document(entries, left, Some(report), header);
        }
        let counts = counts(entries);
        let parts = counts.iter().filter(|(_, count)| *count > 0).map(|(status, count)| counted(*count, *status));
        let parts: Vec<String> = parts.collect();
        let unchanged = entries.iter().filter(|entry| entry.unchanged).count();
        let same = match unchanged {
            0 => String::new(),
            n if n == entries.len() => " (all unchanged: nothing was rendered)".to_string(),
            n => format!(" ({n} unchanged)"),
        };
        println!("{}{same}, {:.1} s", parts.join(", "), header.seconds);
        println!("report: {}", report.display());
        let count = |wanted| counts.iter().find(|(status, _)| *status == wanted).map_or(0, |(_, count)| *count);
        let (failed, new) = (count(Status::Failed), count(Status::New));
        if failed + new > 0 && !self.args.bless {
            let mut words = vec!["shadewright".to_string(), "golden".to_string(), self.args.path.display().to_string()];
            if self.args.out != Path::new(DEFAULT_OUT) {
                words.extend(["--out".to_string(), self.args.out.display().to_string()]);
            }
            words.push("--bless".to_string());
            let what = match (failed, new) {
                (0, _) => {
                    "nothing to compare with: look at the new renders in the report; then make them the references"
                }
                (_, 0) => "look at them in the report; if they are right, make them the references",
                _ => "look at them in the report; make those that are right the references",
            };
            eprintln!("hint: {what}: {}", shell::words(&words));
            eprintln!("hint: `--only NAME` blesses one image");
        }
        Ok(())
    }
}
