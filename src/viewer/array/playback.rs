//! The trace of a simulation, and the state of the array at any time of it.
//!
//! A state is a function of a position, the number of events that have happened, and of a time, by
//! which messages on links are part of their way. It depends on nothing else, so it is the same
//! however the position was reached. Finding one takes fewer than
//! [`SPACING`](super::snapshots::SPACING) events, whatever the length of the trace.

use super::busy::Busy;
use super::snapshots::{Index, NodeEvents, UNKNOWN};
use shadewright_machines::array::mapping::{Direction, Layout};
use shadewright_machines::array::message::MessageKind;
use shadewright_machines::array::trace::{Happening, Trace, TraceEvent};
use shadewright_machines::rays::events::Picoseconds;

/// A simulation that can be played.
#[derive(Clone, Debug)]
pub struct Playback {
    layout: Layout,
    trace: Trace,
    index: Index,
    busy: Busy,
}

/// Where a message is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MessageLocation {
    /// In a node: it waits, or is worked on.
    Node(u16),
    /// On a link.
    Link {
        /// The node that sends it.
        from: u16,
        /// The link.
        direction: Direction,
        /// The part of the transfer's time that has passed, 0 to 1.
        done: f32,
    },
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message {
    /// Index of its ray in the workload.
    pub ray: u32,
    /// The kind of message.
    pub kind: MessageKind,
    /// Where it is.
    pub place: MessageLocation,
}

/// The array at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayState {
    /// The messages, in the order of their last events.
    pub messages: Vec<Message>,
    /// The events that have happened in each node.
    pub nodes: Vec<NodeEvents>,
}

impl Playback {
    /// Indexes the trace of a simulation.
    pub fn new(layout: Layout, trace: Trace) -> Self {
        let index = Index::new(&layout, &trace);
        let busy = Busy::new(layout.nodes(), &trace.events, &index);
        Self { layout, trace, index, busy }
    }

    /// The nodes.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The events, in the order of time.
    pub fn events(&self) -> &[TraceEvent] {
        &self.trace.events
    }

    /// Events that the trace does not have, all of them later.
    pub fn left_out(&self) -> u64 {
        self.trace.left_out
    }

    /// The time of the last event.
    pub fn end(&self) -> Picoseconds {
        self.trace.events.last().map_or(0, |event| event.time)
    }

    /// When the intersection units had rays.
    pub fn busy(&self) -> &Busy {
        &self.busy
    }

    /// The number of events until a time, those at that time included.
    pub fn position(&self, time: Picoseconds) -> usize {
        self.trace.events.partition_point(|event| event.time <= time)
    }

    /// The state after the first `position` events. Messages on links are where they are at `time`.
    pub fn state(&self, position: usize, time: Picoseconds) -> ArrayState {
        let found = self.index.at(&self.trace.events, position);
        let messages = found.messages.iter().map(|&event| self.message(event, time)).collect();
        ArrayState { messages, nodes: found.nodes }
    }

    /// The message of an event after which it exists.
    fn message(&self, number: u32, time: Picoseconds) -> Message {
        let TraceEvent { time: since, ray, node, kind, happening } = self.trace.events[number as usize];
        let place = match happening {
            Happening::Left(direction) => {
                let until = match self.index.next(number) {
                    Some(next) if next != UNKNOWN => self.trace.events[next as usize].time,
                    // It arrives after the end of the trace.
                    _ => self.end(),
                };
                let done = time.saturating_sub(since) as f64 / until.saturating_sub(since).max(1) as f64;
                MessageLocation::Link { from: node, direction, done: done.min(1.0) as f32 }
            }
            _ => MessageLocation::Node(node),
        };
        Message { ray, kind, place }
    }
}

impl ArrayState {
    /// The number of messages in each node, by kind in the order of [`MessageKind::ALL`].
    pub fn waiting(&self) -> Vec<[u32; MessageKind::ALL.len()]> {
        let mut waiting = vec![[0; MessageKind::ALL.len()]; self.nodes.len()];
        for message in &self.messages {
            if let MessageLocation::Node(node) = message.place {
                waiting[usize::from(node)][message.kind as usize] += 1;
            }
        }
        waiting
    }

    /// Messages of each kind on links, in the order of [`MessageKind::ALL`].
    pub fn on_links(&self) -> [u32; MessageKind::ALL.len()] {
        let mut counts = [0; MessageKind::ALL.len()];
        for message in self.messages.iter().filter(|message| matches!(message.place, MessageLocation::Link { .. })) {
            counts[message.kind as usize] += 1;
        }
        counts
    }
}
