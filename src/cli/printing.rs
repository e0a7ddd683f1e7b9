//! What the shaders of a rendered image print.

use super::exit::Failure;
use shadewright::probe::printing::{Printed, printed};
use shadewright::probe::{self, Subject};
use shadewright::project::State;
use shadewright::render::Job;

/// Most texts of an image that are printed.
const MAX_TEXTS: usize = 10_000;

/// Prints the texts of the shaders' `printf`, in the order of the pixels: to standard output, or to standard error where that has JSON.
pub fn print(state: &State, job: &Job, json: bool) -> Result<(), Failure> {
    if !job.program.prints {
        return Ok(());
    }
    let linked = state.link_again(&probe::link_options(state.link_options()), &mut ());
    let linked = linked.map_err(|f| Failure::diagnostics(&f.diagnostics, &f.sources))?;
    let debug = probe::with_data_of(&linked, &job.program);
    let subject = Subject { scene: &state.scene, program: &debug, bvh: &job.bvh };
    let Printed { texts, truncated } = printed(&subject, job.window, job.sampling, job.budget, MAX_TEXTS);
    for text in texts {
        if json { eprint!("{text}") } else { print!("{text}") }
    }
    if truncated {
        eprintln!("warning: the shaders print more than {MAX_TEXTS} texts; the others are left out");
    }
    Ok(())
}
