//! Simulated time, and queues with their statistics.
//!
//! Times are whole picoseconds, so that sums do not depend on their order; 2⁶⁴ of them are 213 days.

use std::collections::VecDeque;

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

    /// True if another item has room.
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

    /// True if it holds nothing.
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
    fn a_full_queue_gives_an_item_back() {
        let mut queue = Queue::new(2);
        assert_eq!([queue.push(1), queue.push(2), queue.push(3)], [Ok(()), Ok(()), Err(3)]);
        assert_eq!((queue.pop(), queue.len(), queue.peak()), (Some(1), 1, 2));
    }
}
