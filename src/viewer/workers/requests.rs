//! The latest request to a thread about the shown scene.

use shadewright_project::{ProjectState, View};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The latest request and its subject; a new request replaces the previous one.
#[derive(Debug)]
pub struct Requests<Q> {
    inner: Mutex<Inner<Q>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Inner<Q> {
    state: Option<Arc<ProjectState>>,
    view: Option<View>,
    samples: Option<u32>,
    request: Option<Q>,
    /// Requests that were sent or withdrawn so far.
    number: u64,
    quit: bool,
}

/// A request with its subject.
pub struct Subject<Q> {
    /// The scene.
    pub state: Arc<ProjectState>,
    /// The view.
    pub view: View,
    /// Samples a pixel, or as many as the scene says.
    pub samples: Option<u32>,
    /// The request.
    pub request: Q,
    number: u64,
}

impl<Q> Default for Requests<Q> {
    fn default() -> Self {
        let inner = Inner { state: None, view: None, samples: None, request: None, number: 0, quit: false };
        Self { inner: Mutex::new(inner), changed: Condvar::new() }
    }
}

impl<Q> Requests<Q> {
    fn lock(&self) -> MutexGuard<'_, Inner<Q>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the scene.
    pub fn set_state(&self, state: Arc<ProjectState>) {
        self.lock().state = Some(state);
        self.changed.notify_all();
    }

    /// Sets the view.
    pub fn set_view(&self, view: View) {
        self.lock().view = Some(view);
        self.changed.notify_all();
    }

    /// Sets the samples per pixel; `None` for the scene's.
    pub fn set_samples(&self, samples: Option<u32>) {
        self.lock().samples = samples;
    }

    /// Clears the scene.
    pub fn forget(&self) {
        let mut inner = self.lock();
        (inner.state, inner.view, inner.request) = (None, None, None);
    }

    /// Sends a request.
    pub fn ask(&self, request: Q) {
        let mut inner = self.lock();
        (inner.request, inner.number) = (Some(request), inner.number + 1);
        drop(inner);
        self.changed.notify_all();
    }

    /// Withdraws the request, whether it waits or is answered at the moment.
    pub fn withdraw(&self) {
        let mut inner = self.lock();
        (inner.request, inner.number) = (None, inner.number + 1);
    }

    /// True if this is still the latest request, about the scene that is shown, and the thread shall
    /// not end.
    pub fn is_latest(&self, subject: &Subject<Q>) -> bool {
        self.is_about(&subject.state) && self.lock().number == subject.number
    }

    /// True if the scene is shown from there.
    pub fn is_from(&self, view: &View) -> bool {
        self.lock().view.as_ref() == Some(view)
    }

    /// True if this is the scene that is shown, and the thread shall not end.
    pub fn is_about(&self, state: &Arc<ProjectState>) -> bool {
        let inner = self.lock();
        !inner.quit && inner.state.as_ref().is_some_and(|current| Arc::ptr_eq(current, state))
    }

    /// Ends the thread.
    pub fn quit(&self) {
        self.lock().quit = true;
        self.changed.notify_all();
    }

    /// Waits for a request about a scene. `None` when the thread shall end.
    pub fn next(&self) -> Option<Subject<Q>> {
        let has_all = |inner: &Inner<Q>| inner.state.is_some() && inner.view.is_some() && inner.request.is_some();
        let waits = |inner: &mut Inner<Q>| !inner.quit && !has_all(inner);
        let mut inner = self.changed.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        if inner.quit {
            return None;
        }
        let (state, view, request) = (inner.state.clone()?, inner.view.clone()?, inner.request.take()?);
        Some(Subject { state, view, samples: inner.samples, request, number: inner.number })
    }
}
