//! The thread that follows a pixel's samples to the first value at which the back ends differ.

use super::message::{Diverged, Event};
use super::outbox::Outbox;
use super::requests::{Requests, Subject};
use super::slot::sampling;
use shadewright_ir::Module;
use shadewright_program::Program;
use shadewright_project::ProjectState;
use shadewright_project::probe;
use shadewright_project::probe::diverge::{self, DivergeError, Divergence, NamedRunner};
use shadewright_render::samples::SampleRunner;
use shadewright_render::{Backend, BackendOptions, RenderError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Column and row in the view's format.
pub type DivergeRequest = [u32; 2];

/// Time after which a run that is no longer wanted is stopped.
const PATIENCE: Duration = Duration::from_millis(50);

/// The runners of the back ends, which are opened when the first request comes, and kept.
type Opened = [Box<dyn SampleRunner>; 2];

/// A program with the names of variables, and the code that it stands for.
struct Linked {
    code: Arc<Module>,
    program: Option<Program>,
}

/// Answers requests until it shall end. One that is no longer the latest, or whose scene is no longer
/// the shown one, is given up without an answer; where the view changes meanwhile, the answer says
/// so. The devices are closed when this returns.
pub fn run(requests: &Requests<DivergeRequest>, outbox: &Outbox, options: &BackendOptions, budget: u32) {
    let (mut opened, mut linked) = (None, None);
    let stop = Arc::<AtomicBool>::default();
    while let Some(subject) = requests.next() {
        let is_wanted = || requests.is_latest(&subject) && requests.is_from(&subject.view);
        stop.store(false, Ordering::Relaxed);
        let result = watched(&is_wanted, &stop, || {
            answer(&subject, &mut opened, &mut linked, options, budget, &is_wanted, &stop)
        });
        let result = match result {
            Err(DivergeError::Stopped) if !requests.is_latest(&subject) => continue,
            Err(DivergeError::Stopped) => Err("This pixel's view is no longer shown.".to_string()),
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

/// Runs `work`, and sets `stop` when its answer is no longer wanted.
fn watched<T>(is_wanted: &(dyn Fn() -> bool + Sync), stop: &AtomicBool, work: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        // Dropped when the work ends, by a panic, too: then the other thread does.
        let (_working, ended) = channel::<()>();
        scope.spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(PATIENCE) {
                stop.fetch_or(!is_wanted(), Ordering::Relaxed);
            }
        });
        work()
    })
}

fn answer(
    subject: &Subject<DivergeRequest>,
    opened: &mut Option<Opened>,
    linked: &mut Option<Linked>,
    options: &BackendOptions,
    budget: u32,
    is_wanted: &dyn Fn() -> bool,
    stop: &Arc<AtomicBool>,
) -> Result<Divergence, DivergeError> {
    let Subject { state, view, samples, request, .. } = subject;
    let sampling = sampling(state, *samples);
    let job = match state.specialized() {
        Some(program) => state.job_of(program, view, sampling, budget),
        None => state.job(view, sampling, budget),
    };
    let [gpu, rpu] = match opened {
        Some(opened) => opened,
        None => opened.insert(open(options, stop)?),
    };
    let of_other = |linked: &Linked| !Arc::ptr_eq(&linked.code, &job.program.module);
    if linked.as_ref().is_none_or(of_other) {
        *linked = Some(Linked { code: job.program.module.clone(), program: with_names(state) });
    }
    let debug = linked.as_ref().and_then(|linked| linked.program.as_ref());
    let subject = diverge::Subject { job: &job, scene: &state.scene, debug, is_wanted, progress: &|_| {} };
    let [first, second] = Backend::INTERACTIVE.map(|backend| backend.name().to_string());
    let runners = [NamedRunner { name: first, runner: &mut **gpu }, NamedRunner { name: second, runner: &mut **rpu }];
    diverge::diverge(subject, runners, *request, None)
}

fn open(options: &BackendOptions, stop: &Arc<AtomicBool>) -> Result<Opened, DivergeError> {
    let failed =
        |backend: Backend| move |error: RenderError| DivergeError::Render { runner: backend.name().to_string(), error };
    let [first, second] = Backend::INTERACTIVE.map(|backend| {
        let mut runner = backend.samples(options).map_err(failed(backend))?;
        runner.stop_by(stop);
        Ok::<_, DivergeError>(runner)
    });
    Ok([first?, second?])
}

/// The scene's program for a debugger, if it links.
fn with_names(state: &ProjectState) -> Option<Program> {
    state.link_again(&probe::link_options(state.link_options()), &mut ()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_is_no_longer_wanted_is_told_to_stop() {
        let stop = AtomicBool::new(false);
        watched(&|| true, &stop, || std::thread::sleep(2 * PATIENCE));
        assert!(!stop.load(Ordering::Relaxed), "it is wanted");
        // It would never end otherwise.
        watched(&|| false, &stop, || {
            while !stop.load(Ordering::Relaxed) {
                std::thread::yield_now()
            }
        });
    }
}
