//! `shadewright probe --diverge A,B`: the first value at which two back ends differ.

use super::args::{AdapterArgs, Between, GpuArgs, ProbeArgs, TraversalArgs};
use super::backend::{open, rpu_renderer, set_up_process, side};
use super::failure::Failure;
use super::input::{job_of, open_project};
use super::output::print_json;
use shadewright::probe::diverge::{self, DivergeError, NamedRunner, Subject};
use shadewright::probe::{self, AbsentSample};
use shadewright::render::Backend;
use shadewright::text::source::SourceMap;

/// Follows a sample and prints where the back ends differ. A difference is a failed comparison.
pub fn run(args: &ProbeArgs, between: Between) -> Result<(), Failure> {
    let GpuArgs { adapter: AdapterArgs { adapter }, schedule, traversal: TraversalArgs { traversal } } = &args.gpu;
    let given =
        [(adapter.is_some(), "--adapter"), (schedule.is_some(), "--schedule"), (traversal.is_some(), "--traversal")];
    if between.0.iter().all(|backend| !backend.info().uses_gpu) {
        Failure::for_options(&given, |option| {
            format!("error: {option} is about a GPU, and neither back end of --diverge uses one; remove it")
        })?;
    }
    set_up_process(&args.cpu)?;
    let mut scene = args.scene.clone();
    scene.file.strict = !args.lenient;
    let (_, state) = open_project(&scene)?;
    let job = job_of(&scene, &state)?;
    // Variables have names in a program for debuggers; the rendered one does without.
    let debug = state.link_again(&probe::link_options(state.link_options()), &mut ()).ok();
    let subject = Subject {
        job: &job,
        scene: &state.scene,
        debug: debug.as_ref(),
        is_wanted: &|| true,
        progress: &|what| eprintln!("{what}"),
    };
    let open_side = |backend: Backend| {
        let (backend, options) = side(backend, &args.gpu, rpu_renderer(&scene))?;
        let runner = open(backend.samples(&options))?;
        eprintln!("{}: {}", backend.name(), runner.describe());
        Ok::<_, Failure>(runner)
    };
    let [a, b] = between.0;
    let [mut first, mut second] = [open_side(a)?, open_side(b)?];
    let runners = [
        NamedRunner { name: a.name().to_string(), runner: &mut *first },
        NamedRunner { name: b.name().to_string(), runner: &mut *second },
    ];
    let found = diverge::diverge(subject, runners, args.pixel.0, args.sample);
    let found = found.map_err(|e| refused(e, &job.program.sources))?;
    if args.json {
        print_json(&found.json())?;
    } else {
        print!("{}", found.text());
    }
    if found.is_equal() { Ok(()) } else { Err(Failure::different("")) }
}

fn refused(error: DivergeError, sources: &SourceMap) -> Failure {
    let hint = match &error {
        DivergeError::Absent(AbsentSample::Sample { .. }) => "--spp N sets the number of samples",
        DivergeError::Absent(AbsentSample::Pixel { .. }) => {
            "--size WxH sets the size of the image; with --crop, pixels count from the corner of the window"
        }
        DivergeError::Motion => "a scene without motion blur can be followed: close the shutter, or remove what moves",
        DivergeError::Stopped => return Failure::input(format!("error: {error}")),
        DivergeError::Render { runner, error } => {
            eprintln!("{runner}:");
            return Failure::render(error, sources);
        }
    };
    Failure::input(format!("error: {error}\nhint: {hint}"))
}
