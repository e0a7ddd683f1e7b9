//! The thread that simulates the ray tracing array.

use super::message::Event;
use super::outbox::Outbox;
use super::requests::{Requests, Subject};
use crate::array::run::simulate;
use crate::array::{ArrayPhase, ArrayRequest};
use std::sync::Arc;

/// Serves requests until it is closed. One whose scene is no longer the shown one is given up
/// between two stages, without an answer: the window asks again for the new scene.
pub fn run(requests: &Requests<ArrayRequest>, outbox: &Outbox, budget: u32) {
    while let Some(Subject { state, view, request, .. }) = requests.next() {
        let goes_on = |stage: ArrayPhase| {
            let is_current = requests.is_about(&state);
            if is_current {
                outbox.send(Event::Simulating(stage));
            }
            is_current
        };
        let result = simulate(&state, &view, request, budget, &goes_on);
        let event = match result {
            Ok(None) => continue,
            Ok(Some(run)) => Event::Simulated(Arc::new(run)),
            Err(message) => Event::SimulationFailed { state: state.version, message },
        };
        outbox.send(event);
    }
}
