//! The index of a trace: which event of a message follows which, and what was there at every
//! [`SPACING`]th event.
//!
//! The last event of a message says all of where it is, so the messages that exist after the first
//! `n` events are those of these events whose message has no later one among them, and did not end.
//! A snapshot lists such events at one position; the state at any other is found from the snapshot
//! before it and fewer than [`SPACING`] events.

use shadewright_machines::array::mapping::Layout;
use shadewright_machines::array::message::MessageKind;
use shadewright_machines::array::trace::{Happening, Trace, TraceEvent};
use std::mem::replace;

/// Events between two snapshots.
pub const SPACING: usize = 4096;

/// The number of an event that is not known: later than all.
pub const UNKNOWN: u32 = u32::MAX;

/// How often each happened in a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeEvents {
    /// Rays from the eye that it emitted.
    pub emitted: u32,
    /// Messages that its hits made.
    pub made: u32,
    /// Messages that left over its links.
    pub left: u32,
    /// Messages that arrived.
    pub arrived: u32,
    /// Rays that its intersection unit took.
    pub tested: u32,
    /// Rays that hit.
    pub hits: u32,
    /// Rays that ended without a hit that is shaded.
    pub ended: u32,
    /// Results that it added to its part of the frame buffer.
    pub shown: u32,
    /// Messages that were lost.
    pub lost: u32,
}

impl NodeEvents {
    fn add(&mut self, happening: Happening) {
        let count = match happening {
            Happening::Emitted => &mut self.emitted,
            Happening::Made => &mut self.made,
            Happening::Left(_) => &mut self.left,
            Happening::Arrived => &mut self.arrived,
            Happening::Tested => &mut self.tested,
            Happening::Hit => &mut self.hits,
            Happening::Ended => &mut self.ended,
            Happening::Shown => &mut self.shown,
            Happening::Lost => &mut self.lost,
        };
        *count += 1;
    }
}

/// The state of the array at a position in the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The last event of each message that exists, in the order of the events.
    pub messages: Vec<u32>,
    /// The counts of each node.
    pub nodes: Vec<NodeEvents>,
}

/// The index of a trace.
#[derive(Clone, Debug)]
pub struct Index {
    /// For each event, the next of its message. Its own number if the message is no more after it;
    /// [`UNKNOWN`] if the trace ends before.
    next: Vec<u32>,
    snapshots: Vec<Snapshot>,
}

impl Index {
    /// The index of a trace.
    pub fn new(layout: &Layout, trace: &Trace) -> Self {
        let next = successors(layout, trace);
        let mut index = Self { next, snapshots: Vec::new() };
        let mut snapshot = Snapshot { messages: Vec::new(), nodes: vec![NodeEvents::default(); layout.nodes()] };
        for (number, events) in trace.events.chunks(SPACING).enumerate() {
            let next = index.advance(&snapshot, number * SPACING, events);
            index.snapshots.push(replace(&mut snapshot, next));
        }
        index.snapshots.push(snapshot);
        index
    }

    /// The next event of the message of an event: none where it is no more, [`UNKNOWN`] where the
    /// trace does not have it.
    pub fn next(&self, event: u32) -> Option<u32> {
        Some(self.next[event as usize]).filter(|&next| next != event)
    }

    /// Returns the state after the first `position` of the events.
    pub fn at(&self, events: &[TraceEvent], position: usize) -> Snapshot {
        let position = position.min(events.len());
        let first = position / SPACING * SPACING;
        self.advance(&self.snapshots[position / SPACING], first, &events[first..position])
    }

    /// Returns the state some events after a snapshot; the first of them has the number `first`.
    fn advance(&self, from: &Snapshot, first: usize, events: &[TraceEvent]) -> Snapshot {
        let end = (first + events.len()) as u32;
        let candidates = from.messages.iter().copied().chain(first as u32..end);
        let messages = candidates.filter(|&event| self.next[event as usize] >= end).collect();
        let mut nodes = from.nodes.clone();
        for event in events {
            if let Some(node) = nodes.get_mut(usize::from(event.node)) {
                node.add(event.happening);
            }
        }
        Snapshot { messages, nodes }
    }
}

/// Messages of one ray that can exist at a time: the ray itself, its result, its look-up in a map,
/// and the copy of its pixel.
const MESSAGES: usize = 4;

fn message(event: &TraceEvent) -> usize {
    let number = match event.kind {
        MessageKind::New | MessageKind::Vision | MessageKind::Shadow => 0,
        MessageKind::Result => 1,
        MessageKind::MapRequest | MessageKind::MapReply => 2,
        MessageKind::Copy => 3,
    };
    event.ray as usize * MESSAGES + number
}

/// The node that has a message after an event of it.
fn node_after(layout: &Layout, event: &TraceEvent) -> Option<u16> {
    match event.happening {
        Happening::Left(direction) => layout.neighbor(event.node, direction),
        _ => Some(event.node),
    }
}

/// The next event of each event's message.
///
/// Some ends have no event: an answer of a map that is used, a ray that passes space by, what is
/// thrown away when the array begins again. Such messages are no more after their last event.
fn successors(layout: &Layout, trace: &Trace) -> Vec<u32> {
    let rays = trace.events.iter().map(|event| event.ray as usize + 1).max().unwrap_or(0);
    let mut latest = vec![UNKNOWN; rays * MESSAGES];
    let mut next = Vec::with_capacity(trace.events.len());
    for (number, event) in trace.events.iter().enumerate() {
        let number = number as u32;
        let before = replace(&mut latest[message(event)], number);
        if before != UNKNOWN && next[before as usize] == UNKNOWN {
            let goes_on = !matches!(event.happening, Happening::Emitted | Happening::Made)
                && node_after(layout, &trace.events[before as usize]) == Some(event.node);
            next[before as usize] = if goes_on { number } else { before };
        }
        let is_end = matches!(event.happening, Happening::Hit | Happening::Ended | Happening::Shown | Happening::Lost);
        next.push(if is_end { number } else { UNKNOWN });
    }
    if trace.left_out == 0 {
        for (number, next) in next.iter_mut().enumerate().filter(|(_, next)| **next == UNKNOWN) {
            *next = number as u32;
        }
    }
    next
}
