//! The thread that lists the compiled forms of shaders.

use super::message::Event;
use super::outbox::Outbox;
use super::requests::{Requests, Subject};
use shadewright_project::InstanceId;
use shadewright_project::inspect::{Inspection, Prepared, prepare};
use std::sync::Arc;

/// Serves requests until it is closed: first the listings, then the cost as well. The last shader
/// is kept, to be measured again.
pub fn run(requests: &Requests<InstanceId>, outbox: &Outbox, budget: u32) {
    let mut kept: Option<Prepared> = None;
    let send = |inspection: Inspection| outbox.send(Event::Inspected(Arc::new(inspection)));
    while let Some(Subject { state, view, request: instance, .. }) = requests.next() {
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
