//! `shadewright run FILE FUNCTION ARGS…`: a shader function, or an entry point of a program of the
//! RPU, once or once a pixel.

mod function;
pub mod program;
mod registers;

use super::args::RunArgs;
use super::backend::set_up_process;
use super::failure::Failure;
use super::output::print_json_text;
use anyhow::Context;
use serde_json::{Map, Value, json};
use shadewright::image::file as image_file;
use shadewright::rpu::timed::Stats;
use std::path::Path;

/// The output of a run: texts as they come, or with `--json` one record at the end.
struct Output {
    record: Option<Map<String, Value>>,
}

impl Output {
    /// Prints a text, or puts a value into the record under a name.
    fn part(&mut self, name: &str, value: Value, text: &str) {
        match &mut self.record {
            Some(record) => {
                record.insert(name.to_string(), value);
            }
            None => println!("{text}"),
        }
    }

    /// How long the timed simulator took.
    fn times(&mut self, stats: &Stats) {
        let value = json!({
            "cycles": stats.cycles,
            "issued": stats.issued,
            "utilization": stats.utilization(),
            "active_threads": stats.active_threads(),
            "switches": stats.switches,
            "rays": stats.rays,
        });
        let text = format!(
            "{} cycles for {} instructions of {:.2} threads each: {:.1} % of the issue slots; {} switches, {} rays",
            stats.cycles,
            stats.issued,
            stats.active_threads(),
            100.0 * stats.utilization(),
            stats.switches,
            stats.rays,
        );
        self.part("timed", value, &text);
    }

    /// Prints the record, if there is something in it.
    fn finish(self) -> Result<(), Failure> {
        if let Some(record) = self.record.filter(|r| !r.is_empty()) {
            print_json_text(&serde_json::to_string_pretty(&record).context("writing JSON")?);
        }
        Ok(())
    }
}

/// Runs what the file holds: a program of the RPU where its name ends in `.rpuasm` or `.rpubin`,
/// else functions of the shading language.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    if let Some(out) = &args.out {
        image_file::check_writable(out)?;
    }
    set_up_process(&args.cpu)?;
    let path = Path::new(&args.file);
    let mut output = Output { record: args.json.then(Map::new) };
    match program::Form::from_path(path) {
        Some(form) => program::run(args, path, form, &mut output),
        None => function::run(args, &mut output),
    }?;
    output.finish()
}
