//! The course of a simulation for an animation: what happened to which ray, where and when.

use super::mapping::Direction;
use super::message::MessageKind;

/// The kind of an event of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A ray from the eye was made.
    Emitted,
    /// It was made at a hit.
    Made,
    /// A transfer over a link began.
    Left(Direction),
    /// It came to the node.
    Arrived,
    /// The intersection unit took the ray.
    Tested,
    /// The ray hit.
    Hit,
    /// The ray left space, or a shadow ray was blocked.
    Ended,
    /// A result was added to the frame buffer.
    Shown,
    /// It was lost.
    Lost,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// When, in picoseconds.
    pub time: u64,
    /// Index of the ray in the workload.
    pub ray: u32,
    /// In which node.
    pub node: u16,
    /// The kind of the message.
    pub kind: MessageKind,
    /// The kind of the event.
    pub happening: Happening,
}

/// The first events of a simulation, in the order of time.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The events.
    pub events: Vec<TraceEvent>,
    /// The number of events that were not kept.
    pub left_out: u64,
    most: usize,
}

impl Trace {
    /// A trace of at most so many events.
    pub fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// Adds an event.
    #[inline]
    pub fn add(&mut self, event: TraceEvent) {
        if self.events.len() < self.most {
            self.events.push(event);
        } else {
            self.left_out += u64::from(self.most > 0);
        }
    }
}
