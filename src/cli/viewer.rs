//! `shadewright [SCENE]`: the window.

use super::args::{BackendChoice, RenderArgs};
use super::backend::set_up_process;
use super::cache;
use super::failure::Failure;
use super::input::{project_options, source_of};
use super::output::print_json;
use shadewright::program::Specialize;
use shadewright::project;
use shadewright::render::Backend;
use shadewright::viewer::{self, ViewerError};

/// Opens the window and waits until it is closed.
pub fn run(args: &RenderArgs) -> Result<(), Failure> {
    set_up_process(&args.cpu)?;
    let source = source_of(&args.scene);
    let mut project = project::ProjectOptions { kernels: true, ..project_options(&args.scene)? };
    (project.open.strict, project.open.headlight) = (false, true);
    project.specialize = args.scene.compiler.specialize.specialize.unwrap_or(Specialize::CONSTANTS);
    let backend = match args.backend {
        BackendChoice::Auto => None,
        BackendChoice::Named(backend) if Backend::INTERACTIVE.contains(&backend) => Some(backend),
        BackendChoice::Named(backend) => {
            let name = backend.name();
            return Err(Failure::input(format!("error: the viewer has no --backend {name}: add --render OUT.png")));
        }
    };
    let options = viewer::ViewerOptions {
        source,
        project,
        backend,
        adapter: args.gpu.adapter.adapter.clone(),
        samples: args.scene.sampling.spp,
        budget: args.scene.compiler.budget,
        cache: cache::usual(),
    };
    let statistics = viewer::run(options).map_err(|error| match error {
        ViewerError::NoDisplay(_) | ViewerError::Screen(_) => Failure::device(format!("error: {error}")),
    })?;
    if args.stats {
        let milliseconds = |time: std::time::Duration| time.as_secs_f64() * 1e3;
        let (median, p99) = (milliseconds(statistics.median), milliseconds(statistics.slowest_percent));
        if args.json {
            print_json(&serde_json::json!({ "frames": statistics.frames, "median_ms": median, "p99_ms": p99 }))?;
        } else {
            println!(
                "{} frames of the interface: {median:.2} ms half of them, {p99:.2} ms 99 of 100",
                statistics.frames
            );
        }
    }
    Ok(())
}
