//! Channels inside a circuit.

use super::simulator::Unit;
use shadewright_base::bits::Bits;
use std::collections::VecDeque;

/// A channel between two ends. What a cycle sees is its state at the end of the last one.
#[derive(Clone, PartialEq, Eq)]
pub struct Channel {
    /// Words in it.
    pub words: VecDeque<Bits>,
    /// Words that it holds at most.
    pub capacity: usize,
    /// A `get` that waits.
    pub getter: Option<Unit>,
    /// A `put` that waits.
    pub putter: Option<Unit>,
}

impl Channel {
    /// An empty channel.
    pub fn new(capacity: u32) -> Self {
        Self { words: VecDeque::new(), capacity: capacity as usize, getter: None, putter: None }
    }

    /// True if a `get` can take a word.
    pub fn has_word(&self) -> bool {
        !self.words.is_empty() || (self.capacity == 0 && self.putter.is_some())
    }

    /// True if a `put` can give a word.
    pub fn has_room(&self) -> bool {
        match self.capacity {
            0 => self.getter.is_some(),
            capacity => self.words.len() < capacity,
        }
    }
}
