//! The output of shaders' `printf` in a render.

use super::failure::Failure;
use shadewright::probe::printf::{Printed, printed};
use shadewright::probe::{self, Subject};
use shadewright::project::ProjectState;
use shadewright::render::Job;

/// Greatest number of `printf` calls whose output is printed.
const MAX_OUTPUTS: usize = 10_000;

/// The start of each line that a shader prints: it is no message of the program, whatever it says.
const PREFIX: &str = "printf: ";

/// Marks the lines of texts that follow each other.
#[derive(Default)]
struct Lines {
    is_within: bool,
}

impl Lines {
    fn add(&mut self, text: &str) -> String {
        let mut marked = String::with_capacity(text.len() + PREFIX.len());
        for line in text.split_inclusive('\n') {
            if !self.is_within {
                marked += PREFIX;
            }
            marked += line;
            self.is_within = !line.ends_with('\n');
        }
        marked
    }

    fn is_at_start(&self) -> bool {
        !self.is_within
    }
}

/// Prints the output of the shaders' `printf` in the order of the pixels: to standard output, or to
/// standard error if standard output is JSON.
pub fn print(state: &ProjectState, job: &Job, json: bool) -> Result<(), Failure> {
    if !job.program.prints {
        return Ok(());
    }
    let linked = state.link_again(&probe::link_options(state.link_options()), &mut ());
    let linked = linked.map_err(|f| Failure::diagnostics(&f.diagnostics, &f.sources))?;
    let debug = probe::with_data_of(&linked, &job.program);
    let subject = Subject { scene: &state.scene, program: &debug, bvh: &job.bvh };
    let Printed { outputs, truncated } = printed(&subject, job.window, job.sampling, job.budget, MAX_OUTPUTS);
    let mut lines = Lines::default();
    for output in &outputs {
        let text = lines.add(output);
        if json { eprint!("{text}") } else { print!("{text}") }
    }
    if !lines.is_at_start() {
        if json { eprint!("\n") } else { print!("\n") }
    }
    if truncated {
        eprintln!("warning: the shaders call printf more than {MAX_OUTPUTS} times; further output is omitted");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_that_a_shader_prints_is_marked() {
        let mut lines = Lines::default();
        assert_eq!(lines.add("a"), "printf: a");
        assert_eq!(lines.add("b\nerror: c\n\n"), "b\nprintf: error: c\nprintf: \n");
        assert!(lines.is_at_start());
        assert_eq!(lines.add("openjd_fail: d"), "printf: openjd_fail: d");
        assert!(!lines.is_at_start());
    }
}
