//! The thread that looks into pixels.

use super::message::{Event, Probed};
use super::outbox::Outbox;
use super::slot::sampling;
use crate::ir::Module;
use crate::probe::{self, Probe};
use crate::program::Program;
use crate::project::{State, View};
use crate::render::sampling::Sampling;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What the thread is asked, and what it is asked about. The newest question replaces the others.
#[derive(Debug, Default)]
pub struct Questions {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    state: Option<Arc<State>>,
    view: Option<View>,
    samples: Option<u32>,
    question: Option<Question>,
    quit: bool,
}

#[derive(Clone, Copy, Debug)]
struct Question {
    pixel: [u32; 2],
    sample: u32,
}

impl Questions {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Questions are about this scene from now on.
    pub fn set_state(&self, state: Arc<State>) {
        self.lock().state = Some(state);
        self.changed.notify_all();
    }

    /// Questions are about this view from now on.
    pub fn set_view(&self, view: View) {
        self.lock().view = Some(view);
        self.changed.notify_all();
    }

    /// So many samples a pixel are taken from now on, or as many as the scene says.
    pub fn set_samples(&self, samples: Option<u32>) {
        self.lock().samples = samples;
    }

    /// There is no scene any more.
    pub fn forget(&self) {
        let mut inner = self.lock();
        (inner.state, inner.view, inner.question) = (None, None, None);
    }

    /// What is a sample of a pixel made of?
    pub fn ask(&self, pixel: [u32; 2], sample: u32) {
        self.lock().question = Some(Question { pixel, sample });
        self.changed.notify_all();
    }

    /// The thread shall end.
    pub fn quit(&self) {
        self.lock().quit = true;
        self.changed.notify_all();
    }
}

impl Questions {
    /// Waits for a question about a scene. `None` when the thread shall end.
    fn next(&self) -> Option<Subject> {
        let waits = |inner: &mut Inner| !inner.quit && inner.subject().is_none();
        let mut inner = self.changed.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        let subject = inner.subject().filter(|_| !inner.quit)?;
        inner.question = None;
        Some(subject)
    }
}

impl Inner {
    fn subject(&self) -> Option<Subject> {
        let (state, view, question) = (self.state.clone()?, self.view.clone()?, self.question?);
        let sampling = sampling(&state, self.samples);
        Some(Subject { state, view, sampling, question })
    }
}

/// A question with what it is about.
struct Subject {
    state: Arc<State>,
    view: View,
    sampling: Sampling,
    question: Question,
}

/// Answers questions until it shall end. The program for it is linked when the first question about a scene comes, and kept.
pub fn run(questions: &Questions, outbox: &Outbox, budget: u32) {
    let mut linked: Option<Linked> = None;
    while let Some(subject) = questions.next() {
        let result = answer(&subject, &mut linked, budget);
        let Subject { state, view, question: Question { pixel, sample }, .. } = subject;
        outbox.send(Event::Probed(Arc::new(Probed { pixel, sample, state: state.version, view, result })));
    }
}

/// A program for the debugger, and the code that it stands for.
struct Linked {
    code: Arc<Module>,
    program: Program,
}

fn answer(subject: &Subject, linked: &mut Option<Linked>, budget: u32) -> Result<Probe, String> {
    let Subject { state, view, sampling, question } = subject;
    let job = state.job(view, *sampling, budget);
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
    let sample = probe::Sample { pixel: question.pixel, number: question.sample, sampling: *sampling, budget };
    probe::probe(&subject, &sample).map_err(|e| e.to_string())
}
