//! What a thread is asked about the scene that is shown.

use crate::project::{State, View};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What the thread is asked, and what it is asked about. The newest question replaces the others.
#[derive(Debug)]
pub struct Questions<Q> {
    inner: Mutex<Inner<Q>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Inner<Q> {
    state: Option<Arc<State>>,
    view: Option<View>,
    samples: Option<u32>,
    question: Option<Q>,
    quit: bool,
}

/// A question with what it is about.
pub struct Subject<Q> {
    /// The scene.
    pub state: Arc<State>,
    /// Where it is seen from.
    pub view: View,
    /// Samples a pixel, or as many as the scene says.
    pub samples: Option<u32>,
    /// The question.
    pub question: Q,
}

impl<Q> Default for Questions<Q> {
    fn default() -> Self {
        let inner = Inner { state: None, view: None, samples: None, question: None, quit: false };
        Self { inner: Mutex::new(inner), changed: Condvar::new() }
    }
}

impl<Q> Questions<Q> {
    fn lock(&self) -> MutexGuard<'_, Inner<Q>> {
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

    /// Asks.
    pub fn ask(&self, question: Q) {
        self.lock().question = Some(question);
        self.changed.notify_all();
    }

    /// The thread shall end.
    pub fn quit(&self) {
        self.lock().quit = true;
        self.changed.notify_all();
    }

    /// Waits for a question about a scene. `None` when the thread shall end.
    pub fn next(&self) -> Option<Subject<Q>> {
        let has_all = |inner: &Inner<Q>| inner.state.is_some() && inner.view.is_some() && inner.question.is_some();
        let waits = |inner: &mut Inner<Q>| !inner.quit && !has_all(inner);
        let mut inner = self.changed.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        if inner.quit {
            return None;
        }
        let (state, view, question) = (inner.state.clone()?, inner.view.clone()?, inner.question.take()?);
        Some(Subject { state, view, samples: inner.samples, question })
    }
}
