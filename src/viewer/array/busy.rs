//! When the intersection units had rays, from a trace.
//!
//! A trace has the time at which a unit takes a ray, and that of the next event of the ray, which is
//! also after the processor has looked at it. A unit that has no other ray by then counts as busy
//! until that event, so its part of the time is an upper bound.

use super::snapshots::{Index, UNKNOWN};
use shadewright_machines::array::trace::{Happening, TraceEvent};
use shadewright_machines::rays::events::Picoseconds;

/// A ray in a unit.
#[derive(Clone, Copy, Debug)]
struct Passage {
    start: Picoseconds,
    end: Picoseconds,
    /// The unit's busy time before it.
    before: Picoseconds,
}

/// The rays in each node's unit, in the order of time.
#[derive(Clone, Debug)]
pub struct Busy {
    passages: Vec<Vec<Passage>>,
}

impl Busy {
    /// The passages of a trace's events.
    pub fn new(nodes: usize, events: &[TraceEvent], index: &Index) -> Self {
        let last = events.last().map_or(0, |event| event.time);
        let mut passages = vec![Vec::<Passage>::new(); nodes];
        for (number, event) in events.iter().enumerate().filter(|(_, event)| event.happening == Happening::Tested) {
            let Some(passages) = passages.get_mut(usize::from(event.node)) else { continue };
            let end = match index.next(number as u32) {
                Some(UNKNOWN) => last,
                Some(next) => events[next as usize].time,
                None => event.time,
            };
            let before = passages.last_mut().map_or(0, |passage| {
                passage.end = passage.end.min(event.time);
                passage.before + passage.end - passage.start
            });
            passages.push(Passage { start: event.time, end, before });
        }
        Self { passages }
    }

    /// A unit's busy time from the start until a time.
    pub fn until(&self, node: u16, time: Picoseconds) -> Picoseconds {
        let passages = &self.passages[usize::from(node)];
        let begun = passages.partition_point(|passage| passage.start <= time);
        passages[..begun].last().map_or(0, |passage| passage.before + passage.end.min(time) - passage.start)
    }

    /// The part of the time between two times in which a unit is busy, 0 to 1.
    pub fn share(&self, node: u16, from: Picoseconds, to: Picoseconds) -> f32 {
        let busy = self.until(node, to).saturating_sub(self.until(node, from));
        (busy as f64 / to.saturating_sub(from).max(1) as f64) as f32
    }
}
