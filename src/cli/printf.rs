//! The output of shaders' `printf` in a render.

use super::failure::Failure;
use shadewright::probe::printf::{Printed, printed};
use shadewright::probe::{self, Subject};
use shadewright::project::State;
use shadewright::render::Job;

/// Greatest number of `printf` calls whose output is printed.
const MAX_OUTPUTS: usize = 10_000;

/// Prints the output of the shaders' `printf` in the order of the pixels: to standard output, or to
/// standard error if standard output is JSON.
pub fn print(state: &State, job: &Job, json: bool) -> Result<(), Failure> {
    if !job.program.prints {
        return Ok(());
    }
    let linked = state.link_again(&probe::link_options(state.link_options()), &mut ());
    let linked = linked.map_err(|f| Failure::diagnostics(&f.diagnostics, &f.sources))?;
    let debug = probe::with_data_of(&linked, &job.program);
    let subject = Subject { scene: &state.scene, program: &debug, bvh: &job.bvh };
    let Printed { outputs, truncated } = printed(&subject, job.window, job.sampling, job.budget, MAX_OUTPUTS);
    for output in outputs {
        if json { eprint!("{output}") } else { print!("{output}") }
    }
    if truncated {
        eprintln!("warning: the shaders call printf more than {MAX_OUTPUTS} times; further output is omitted");
    }
    Ok(())
}
