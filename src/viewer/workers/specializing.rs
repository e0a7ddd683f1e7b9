//! The thread that specializes programs: once nothing has changed for a while, it links the scene
//! again with its parameters as constants.
//!
//! The rendering threads take such a program from its [`ProjectState`] when they begin a view
//! ([`ProjectState::specialized`]). An edit makes a new state, which has none: its program has parameters
//! as data, so a parameter that is dragged never waits for the compiler.

use super::message::Event;
use super::outbox::Outbox;
use shadewright_program::{LinkOptions, Specialize};
use shadewright_project::ProjectState;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a scene must stay as it is.
const REST: Duration = Duration::from_millis(300);

/// The latest state, for the thread.
#[derive(Debug, Default)]
pub struct LatestState {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    /// One that is not specialized yet.
    state: Option<Arc<ProjectState>>,
    quit: bool,
}

impl LatestState {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the state.
    pub fn set(&self, state: Arc<ProjectState>) {
        self.lock().state = Some(state);
        self.changed.notify_all();
    }

    /// Ends the thread.
    pub fn quit(&self) {
        self.lock().quit = true;
        self.changed.notify_all();
    }

    /// Waits for a state that has been the latest for [`REST`]; `None` when the thread shall end.
    fn rested(&self) -> Option<Arc<ProjectState>> {
        let waits = |inner: &mut Inner| !inner.quit && inner.state.is_none();
        let mut inner = self.changed.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        loop {
            let version = inner.state.as_ref().map(|state| state.version);
            let is_same = |inner: &mut Inner| !inner.quit && inner.state.as_ref().map(|s| s.version) == version;
            let waited = self.changed.wait_timeout_while(inner, REST, is_same).unwrap_or_else(PoisonError::into_inner);
            inner = waited.0;
            if inner.quit {
                return None;
            }
            if waited.1.timed_out() {
                return inner.state.take();
            }
        }
    }
}

/// Specializes every state that rests for these facts, until it is closed.
pub fn run(states: &LatestState, facts: Specialize, outbox: &Outbox) {
    while let Some(state) = states.rested() {
        let options = LinkOptions { specialize: facts, ..state.link_options().clone() };
        if options.specialize == state.link_options().specialize {
            continue;
        }
        let start = Instant::now();
        // What fails to link once more keeps the program that it has.
        if let Ok(program) = state.link_again(&options, &mut ()) {
            state.specialize(program);
            outbox.send(Event::Specialized { state: state.version, time: start.elapsed() });
        }
    }
}
