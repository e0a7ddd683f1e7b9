//! `shadewright check SCENE…`: all that is wrong with scenes, without rendering them.

use super::args::CheckArgs;
use super::failure::Failure;
use super::messages::{Problems, messages};
use super::output::print_json_text;
use serde_json::json;
use shadewright::project::{Outcome, Project, ProjectOptions, ProjectState, Source};
use shadewright::render::sampling::Sampling;
use shadewright::render::{Backend, BackendOptions};
use shadewright::scene::OpenOptions;
use shadewright::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright::text::source::SourceMap;
use std::path::Path;

/// Checks the scenes, in their order.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    let mut refused = 0;
    for path in &args.scenes {
        let (diagnostics, sources) = check(args, path);
        let problems = Problems::from_diagnostics(&diagnostics);
        refused += usize::from(diagnostics.has_errors());
        if args.json {
            let mut object = problems.json();
            object.insert("scene".to_string(), path.display().to_string().into());
            object.insert("diagnostics".to_string(), messages(&diagnostics, &sources));
            print_json_text(&json!(object).to_string());
            continue;
        }
        eprint!("{}", diagnostics.render(&sources));
        let (errors, warnings) = (diagnostics.error_count(), diagnostics.warning_count());
        match (errors, warnings) {
            (0, 0) => println!("{}: ok", path.display()),
            _ => println!("{}: errors: {errors}, warnings: {warnings}", path.display()),
        }
    }
    match refused {
        0 => Ok(()),
        _ if args.json => Err(Failure::input("")),
        1 => Err(Failure::input("1 scene has errors")),
        _ => Err(Failure::input(format!("{refused} scenes have errors"))),
    }
}

/// Reads, links and compiles a scene for all back ends.
fn check(args: &CheckArgs, path: &Path) -> (Diagnostics, SourceMap) {
    let open = OpenOptions {
        allow_read: args.access.allow_read.clone(),
        allow_run: args.access.allow_run,
        ..OpenOptions::default()
    };
    let (shader_paths, specialize) =
        (args.shaders.shader_paths.clone(), args.specialize.specialize.unwrap_or_default());
    let options = ProjectOptions { open, shader_paths, specialize, ..ProjectOptions::default() };
    let mut project = Project::new(Source::File(path.to_path_buf()), options);
    match project.refresh() {
        Outcome::Ready(state) => (compiled(&state), state.program.sources.clone()),
        Outcome::Broken(failure) => (failure.diagnostics.clone(), failure.sources.clone()),
        Outcome::Unchanged => (Diagnostic::error("nothing was read").into(), SourceMap::new()),
    }
}

/// The messages of a scene that could be linked, and those of the compilers of the back ends.
fn compiled(state: &ProjectState) -> Diagnostics {
    let mut diagnostics = state.diagnostics.clone();
    let sampling = Sampling { strata: state.scene.pixel_samples, seed: 0 };
    let job = state.job(&state.view(), sampling, shadewright::render::DEFAULT_BUDGET);
    for backend in [Backend::GPU, Backend::RPU] {
        if let Err(error) = backend.check(&job, &BackendOptions::default()) {
            diagnostics.push(error.diagnostic());
        }
    }
    diagnostics
}
