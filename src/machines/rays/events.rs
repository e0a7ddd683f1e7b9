//! Simulated time: an agenda of events in a fixed order, and queues with their statistics.
//!
//! Times are whole picoseconds, so that sums do not depend on their order; 2⁶⁴ of them are 213 days.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A time or a duration in picoseconds.
pub type Picoseconds = u64;

/// Picoseconds of so many microseconds; at least 0.
pub fn picoseconds(microseconds: f64) -> Picoseconds {
    (microseconds * 1e6).round().max(0.0) as Picoseconds
}

/// Microseconds of so many picoseconds.
pub fn microseconds(time: Picoseconds) -> f64 {
    time as f64 * 1e-6
}

/// What happens when. Events of the same time come in the order in which they were added.
#[derive(Debug)]
pub struct Agenda<E> {
    heap: BinaryHeap<Reverse<(Picoseconds, u64, usize)>>,
    /// Events by slot, and the slots that are free.
    events: Vec<Option<E>>,
    free: Vec<usize>,
    added: u64,
    now: Picoseconds,
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), events: Vec::new(), free: Vec::new(), added: 0, now: 0 }
    }
}

impl<E> Agenda<E> {
    /// The time of the last event that was taken.
    pub fn now(&self) -> Picoseconds {
        self.now
    }

    /// Adds an event after a delay.
    pub fn after(&mut self, delay: Picoseconds, event: E) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.events.push(None);
            self.events.len() - 1
        });
        self.events[slot] = Some(event);
        self.heap.push(Reverse((self.now + delay, self.added, slot)));
        self.added += 1;
    }

    /// Takes the next event, and advances the time to it.
    pub fn pop(&mut self) -> Option<E> {
        let Reverse((time, _, slot)) = self.heap.pop()?;
        self.now = time;
        self.free.push(slot);
        self.events[slot].take()
    }

    /// Events that are still to come.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether none is to come.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

/// A first-in first-out queue that keeps the most that it held.
#[derive(Debug)]
pub struct Queue<T> {
    items: VecDeque<T>,
    capacity: usize,
    peak: usize,
}

impl<T> Queue<T> {
    /// An empty queue.
    pub fn new(capacity: usize) -> Self {
        Self { items: VecDeque::new(), capacity, peak: 0 }
    }

    /// Whether another item has room.
    pub fn has_room(&self) -> bool {
        self.items.len() < self.capacity
    }

    /// Adds an item, or gives it back when there is no room.
    ///
    /// # Errors
    /// The item.
    pub fn push(&mut self, item: T) -> Result<(), T> {
        if !self.has_room() {
            return Err(item);
        }
        self.items.push_back(item);
        self.peak = self.peak.max(self.items.len());
        Ok(())
    }

    /// Takes the oldest item.
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// Items that it holds.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The most items that it held.
    pub fn peak(&self) -> usize {
        self.peak
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_at_one_time_in_the_order_of_adding() {
        let mut agenda = Agenda::default();
        for (delay, name) in [(5, 'c'), (3, 'a'), (5, 'd'), (3, 'b')] {
            agenda.after(delay, name);
        }
        let mut seen = Vec::new();
        while let Some(event) = agenda.pop() {
            seen.push((agenda.now(), event));
            if event == 'a' {
                agenda.after(0, 'x');
            }
        }
        assert_eq!(seen, [(3, 'a'), (3, 'b'), (3, 'x'), (5, 'c'), (5, 'd')]);
        assert!(agenda.is_empty());
    }

    #[test]
    fn a_full_queue_gives_an_item_back() {
        let mut queue = Queue::new(2);
        assert_eq!([queue.push(1), queue.push(2), queue.push(3)], [Ok(()), Ok(()), Err(3)]);
        assert_eq!((queue.pop(), queue.len(), queue.peak()), (Some(1), 1, 2));
    }
}
