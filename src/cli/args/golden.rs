//! Arguments of `golden`.

use super::*;
use clap::{Args, ValueEnum};
use shadewright::render::Backend;
use std::path::PathBuf;

/// Folder of the output where none is named.
pub const DEFAULT_OUT: &str = "golden-report";

/// `golden`.
#[derive(Debug, Args)]
pub struct GoldenArgs {
    /// A folder of scenes with references, or a list of them (.toml); of a folder with a golden.toml,
    /// that list
    #[arg(value_name = "FOLDER|LIST.toml")]
    pub path: PathBuf,
    /// Only images whose names match this pattern (* ? [a-z] **); may be repeated
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// Make the renders that differ, and those without a reference, the new references
    #[arg(long)]
    pub bless: bool,
    /// Render unchanged images, too
    #[arg(long)]
    pub force: bool,
    /// Render on these backends, whatever the list says; may be repeated
    #[arg(long = "backend", alias = "machine", value_name = "BACKEND", value_delimiter = ',', value_parser = backends(), ignore_case = true, help_heading = heading::BACKEND)]
    pub backends: Vec<Backend>,
    /// Renders at the same time; those on a GPU wait for each other. By default one per core, at most 4
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = heading::BACKEND)]
    pub jobs: Option<u16>,
    /// Stop a render that takes longer
    #[arg(long, value_name = "SECONDS", default_value_t = 1800, value_parser = clap::value_parser!(u32).range(1..), help_heading = heading::BACKEND)]
    pub timeout: u32,
    /// Folder for the report, the renders and the state of the next run
    #[arg(short, long, value_name = "DIR", default_value = DEFAULT_OUT, help_heading = heading::OUTPUT)]
    pub out: PathBuf,
    /// The report, one HTML page; report.html in the folder by default
    #[arg(long, value_name = "FILE.html", help_heading = heading::OUTPUT)]
    pub report: Option<PathBuf>,
    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE.xml", help_heading = heading::OUTPUT)]
    pub junit: Option<PathBuf>,
    /// Print annotations for a change; those of GitHub where GITHUB_ACTIONS is `true`
    #[arg(long, value_enum, value_name = "SERVICE", help_heading = heading::OUTPUT)]
    pub annotations: Option<Annotations>,
    /// Print the results as JSON
    #[arg(long, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
}

/// Services that show annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Annotations {
    /// Workflow commands of GitHub Actions
    Github,
    /// No annotations
    None,
}
