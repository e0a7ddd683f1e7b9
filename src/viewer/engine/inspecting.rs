//! The thread that lists what becomes of shaders.

use super::message::Event;
use super::outbox::Outbox;
use super::questions::{Questions, Subject};
use crate::inspect::{Inspection, Prepared, prepare};
use crate::project::InstanceId;
use std::sync::Arc;

/// Answers questions until it shall end: first with what a shader becomes, then with what it costs too. The last shader is kept, to be measured again.
pub fn run(questions: &Questions<InstanceId>, outbox: &Outbox, budget: u32) {
    let mut kept: Option<Prepared> = None;
    let send = |inspection: Inspection| outbox.send(Event::Inspected(Arc::new(inspection)));
    while let Some(Subject { state, view, question: instance, .. }) = questions.next() {
        let prepared = match kept.take().filter(|prepared| prepared.is_of(&state, instance)) {
            Some(prepared) => Ok(prepared),
            None => prepare(&state, instance),
        };
        match prepared {
            Ok(prepared) => {
                send(prepared.inspection(None));
                send(prepared.inspection(Some(prepared.measure(&state, &view, budget))));
                kept = Some(prepared);
            }
            Err(error) => outbox.send(Event::InspectFailed(error.to_string())),
        }
    }
}
