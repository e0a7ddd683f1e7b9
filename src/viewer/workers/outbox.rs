//! Queue of events to the window: bounded, because only the latest of each kind is kept.

use super::message::Event;
use shadewright_render::Backend;
use std::mem::discriminant;
use std::sync::{Arc, Mutex, PoisonError};

/// A function that wakes the thread that polls.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The queue of events.
pub struct Outbox {
    waiting: Mutex<Vec<Event>>,
    wake: Wake,
}

impl Outbox {
    /// An empty one. Whoever polls is woken by `wake` when there is something.
    pub fn new(wake: Wake) -> Self {
        Self { waiting: Mutex::default(), wake }
    }

    /// The function that wakes whoever polls.
    #[cfg(test)]
    pub fn wake(&self) -> Wake {
        self.wake.clone()
    }

    /// Queues an event, replacing older ones that it supersedes.
    pub fn send(&self, event: Event) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let was_empty = waiting.is_empty();
        waiting.retain(|old| !outdates(&event, old));
        waiting.push(event);
        drop(waiting);
        if was_empty {
            (self.wake)();
        }
    }

    /// Takes all events, in order.
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes out all images: what they show is closed.
    pub fn drop_images(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|event| !matches!(event, Event::Image(_)));
    }
}

/// The back end of an event.
fn machine(event: &Event) -> Option<Backend> {
    match event {
        Event::Image(shown) => Some(shown.machine),
        Event::Preparing { machine, .. } | Event::BackendFailed(machine, _) => Some(*machine),
        _ => None,
    }
}

/// True if a new event supersedes an old one.
fn outdates(new: &Event, old: &Event) -> bool {
    let is_about_scene = |event: &Event| matches!(event, Event::Busy(_) | Event::Loaded(_) | Event::Broken(_));
    let is_about_array =
        |event: &Event| matches!(event, Event::Simulating(_) | Event::Simulated(_) | Event::SimulationFailed { .. });
    let is_about_code = |event: &Event| matches!(event, Event::Inspected(_) | Event::InspectFailed(_));
    match new {
        Event::Loaded(_) => is_about_scene(old),
        Event::Inspected(_) | Event::InspectFailed(_) => is_about_code(old),
        Event::Simulated(_) | Event::SimulationFailed { .. } => is_about_array(old),
        // What was loaded before it broke is still what is shown.
        Event::Broken(_) => is_about_scene(old) && !matches!(old, Event::Loaded(_)),
        Event::Image(_) | Event::BackendFailed(..) => {
            machine(old) == machine(new) && !matches!((new, old), (Event::BackendFailed(..), Event::Image(_)))
        }
        _ => discriminant(new) == discriminant(old) && machine(new) == machine(old),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn names(events: &[Event]) -> Vec<String> {
        events.iter().map(|event| format!("{event:?}")).collect()
    }

    fn outbox() -> (Outbox, Arc<AtomicUsize>) {
        let woken = Arc::new(AtomicUsize::new(0));
        let count = woken.clone();
        (Outbox::new(Arc::new(move || _ = count.fetch_add(1, Ordering::Relaxed))), woken)
    }

    #[test]
    fn only_the_newest_of_a_kind_is_told() {
        let (outbox, _) = outbox();
        for n in 0..1000 {
            outbox.send(Event::Busy(n.to_string()));
            outbox.send(Event::Preparing { machine: Backend::GPU, done: 1, of: 2 });
            outbox.send(Event::Refused(n.to_string()));
        }
        outbox.send(Event::BackendFailed(Backend::RPU, "lost".to_string()));
        outbox.send(Event::BackendFailed(Backend::GPU, "lost".to_string()));
        let expected =
            ["Busy(\"999\")", "Refused(\"999\")", "BackendFailed(rpu, \"lost\")", "BackendFailed(gpu, \"lost\")"];
        assert_eq!(names(&outbox.take()), expected);
        assert!(outbox.take().is_empty());
    }

    #[test]
    fn who_polls_is_woken_once_for_all_that_waits() {
        let (outbox, woken) = outbox();
        outbox.send(Event::Busy("reading".to_string()));
        outbox.send(Event::Preparing { machine: Backend::GPU, done: 1, of: 2 });
        assert_eq!(woken.load(Ordering::Relaxed), 1);
        outbox.take();
        outbox.send(Event::Preparing { machine: Backend::GPU, done: 1, of: 2 });
        assert_eq!(woken.load(Ordering::Relaxed), 2);
    }
}
