//! The thread that probes pixels.

use super::message::{Event, Probed};
use super::outbox::Outbox;
use super::requests::{Requests, Subject};
use super::slot::sampling;
use shadewright_ir::Module;
use shadewright_program::Program;
use shadewright_project::probe::{self, Probe};
use std::sync::Arc;

/// A sample to probe.
#[derive(Clone, Copy, Debug)]
pub struct ProbeRequest {
    /// Column and row in the view's format.
    pub pixel: [u32; 2],
    /// Which of the pixel's samples.
    pub sample: u32,
}

/// Answers requests until it shall end. The program for it is linked when the first request about a
/// scene comes, and kept.
pub fn run(requests: &Requests<ProbeRequest>, outbox: &Outbox, budget: u32) {
    let mut linked: Option<Linked> = None;
    while let Some(subject) = requests.next() {
        let result = answer(&subject, &mut linked, budget);
        let Subject { state, view, request: ProbeRequest { pixel, sample }, .. } = subject;
        outbox.send(Event::Probed(Arc::new(Probed { pixel, sample, state: state.version, view, result })));
    }
}

/// A program for the debugger, and the code that it stands for.
struct Linked {
    code: Arc<Module>,
    program: Program,
}

fn answer(subject: &Subject<ProbeRequest>, linked: &mut Option<Linked>, budget: u32) -> Result<Probe, String> {
    let Subject { state, view, samples, request, .. } = subject;
    let sampling = sampling(state, *samples);
    let job = state.job(view, sampling, budget);
    let debug = match linked.take().filter(|linked| Arc::ptr_eq(&linked.code, &job.program.module)) {
        Some(linked) => linked,
        None => {
            let sources = state.program.sources.clone();
            let program = probe::link(&state.scene, sources, state.link_options())
                .map_err(|e| e.diagnostics.render(&e.sources))?;
            Linked { code: job.program.module.clone(), program }
        }
    };
    let debug = linked.insert(debug);
    let program = probe::with_data_of(&debug.program, &job.program);
    let subject = probe::Subject { scene: &state.scene, program: &program, bvh: &state.bvh };
    let sample = probe::Sample { pixel: request.pixel, number: request.sample, sampling, budget };
    probe::probe(&subject, &sample).map_err(|e| e.to_string())
}
