//! The thread that follows a pixel's samples to the first value at which the machines differ.

use super::message::{Diverged, Event};
use super::outbox::Outbox;
use super::requests::{Requests, Subject};
use super::slot::sampling;
use crate::ir::Module;
use crate::probe;
use crate::probe::diverge::{self, DivergeError, Divergence, Machine};
use crate::program::Program;
use crate::project::State;
use crate::render::samples::SampleRunner;
use crate::render::{Backend, BackendOptions, RenderError};
use std::sync::Arc;

/// Column and row in the view's format.
pub type DivergeRequest = [u32; 2];

/// The machines, which are opened when the first request comes, and kept.
struct Opened {
    runners: [Box<dyn SampleRunner>; 2],
}

/// A program with the names of variables, and the code that it stands for.
struct Linked {
    code: Arc<Module>,
    program: Option<Program>,
}

/// Answers requests until it shall end. One whose scene is no longer the shown one is given up
/// without an answer. The devices are closed when this returns.
pub fn run(requests: &Requests<DivergeRequest>, outbox: &Outbox, options: &BackendOptions, budget: u32) {
    let (mut opened, mut linked) = (None, None);
    while let Some(subject) = requests.next() {
        let is_wanted = || requests.is_about(&subject.state);
        let result = answer(&subject, &mut opened, &mut linked, options, budget, &is_wanted);
        let result = match result {
            Err(DivergeError::Stopped) => continue,
            Err(error) => {
                // A device that failed is opened again.
                opened = None;
                Err(error.to_string())
            }
            Ok(found) => {
                let text = found.text();
                Ok((found, text))
            }
        };
        let Subject { state, view, request: pixel, .. } = subject;
        outbox.send(Event::Diverged(Arc::new(Diverged { pixel, state: state.version, view, result })));
    }
}

fn answer(
    subject: &Subject<DivergeRequest>,
    opened: &mut Option<Opened>,
    linked: &mut Option<Linked>,
    options: &BackendOptions,
    budget: u32,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Divergence, DivergeError> {
    let Subject { state, view, samples, request } = subject;
    let sampling = sampling(state, *samples);
    let job = match state.specialised() {
        Some(program) => state.job_of(program, view, sampling, budget),
        None => state.job(view, sampling, budget),
    };
    let opened = match opened {
        Some(opened) => opened,
        None => opened.insert(open(options)?),
    };
    let of_other = |linked: &Linked| !Arc::ptr_eq(&linked.code, &job.program.module);
    if linked.as_ref().is_none_or(of_other) {
        *linked = Some(Linked { code: job.program.module.clone(), program: with_names(state) });
    }
    let debug = linked.as_ref().and_then(|linked| linked.program.as_ref());
    let subject = diverge::Subject { job: &job, scene: &state.scene, debug, is_wanted };
    let [gpu, rpu] = &mut opened.runners;
    let [first, second] = Backend::INTERACTIVE.map(|backend| backend.name().to_string());
    let machines = [Machine { name: first, runner: &mut **gpu }, Machine { name: second, runner: &mut **rpu }];
    diverge::diverge(subject, machines, *request, None)
}

fn open(options: &BackendOptions) -> Result<Opened, DivergeError> {
    let failed = |backend: Backend| {
        move |error: RenderError| DivergeError::Render { machine: backend.name().to_string(), error }
    };
    let [first, second] = Backend::INTERACTIVE.map(|backend| backend.samples(options).map_err(failed(backend)));
    Ok(Opened { runners: [first?, second?] })
}

/// The scene's program for a debugger, if it links.
fn with_names(state: &State) -> Option<Program> {
    state.link_again(&probe::link_options(state.link_options()), &mut ()).ok()
}
