//! When the words of a net begin (Ullner 1983, §C.13, "delays").
//!
//! A time is an *anchor* and a number of cycles after it. Two times of the same anchor differ by a
//! number that is known. An anchor stands for an event that comes after a variable delay: a port
//! has a word, a loop starts an iteration, stoppable registers are released. An anchor is known to
//! come some cycles or more after others; so a time can be known to follow another one.

use std::collections::BTreeMap;

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Anchor(u32);

/// Cycles after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    /// The event.
    pub anchor: Anchor,
    /// Cycles.
    pub offset: u32,
}

impl Time {
    /// A later time.
    pub fn later(self, cycles: u32) -> Self {
        Self { offset: self.offset.saturating_add(cycles), ..self }
    }
}

/// All events: for each one those that it follows, and by how many cycles at least.
#[derive(Clone, Debug, Default)]
pub struct Anchors {
    follows: Vec<BTreeMap<Anchor, u32>>,
    earliest: Vec<u32>,
}

impl Anchors {
    /// A new event that follows all of these times.
    pub fn after(&mut self, times: &[Time]) -> Anchor {
        let mut follows = BTreeMap::new();
        let mut earliest = 0;
        for &time in times {
            earliest = earliest.max(self.earliest(time));
            for (anchor, cycles) in self.before(time) {
                let entry = follows.entry(anchor).or_insert(cycles);
                *entry = cycles.max(*entry);
            }
        }
        self.push(follows, earliest)
    }

    /// A new event that follows one of these times, it is not known which one: the end of a
    /// conditional.
    pub fn after_any(&mut self, times: &[Time]) -> Anchor {
        let mut all: Option<BTreeMap<Anchor, u32>> = None;
        let mut earliest = 0;
        for &time in times {
            earliest = earliest.max(self.earliest(time));
            let before = self.before(time);
            all = Some(match all {
                None => before,
                Some(all) => all
                    .into_iter()
                    .filter_map(|(anchor, cycles)| Some((anchor, cycles.min(*before.get(&anchor)?))))
                    .collect(),
            });
        }
        self.push(all.unwrap_or_default(), earliest)
    }

    fn push(&mut self, follows: BTreeMap<Anchor, u32>, earliest: u32) -> Anchor {
        self.follows.push(follows);
        self.earliest.push(earliest);
        Anchor(self.follows.len() as u32 - 1)
    }

    /// The events that a time follows, its own among them, and by how many cycles at least.
    fn before(&self, time: Time) -> BTreeMap<Anchor, u32> {
        let mut before: BTreeMap<Anchor, u32> = self.follows[time.anchor.0 as usize]
            .iter()
            .map(|(&anchor, cycles)| (anchor, cycles.saturating_add(time.offset)))
            .collect();
        before.insert(time.anchor, time.offset);
        before
    }

    /// By how many cycles a time follows an event at least; none if that is not known.
    pub fn lead(&self, time: Time, anchor: Anchor) -> Option<u32> {
        if time.anchor == anchor {
            return Some(time.offset);
        }
        self.follows[time.anchor.0 as usize].get(&anchor).map(|cycles| cycles.saturating_add(time.offset))
    }

    /// The cycle of a time when all variable delays are zero (§C.13, "placement").
    pub fn earliest(&self, time: Time) -> u32 {
        self.earliest[time.anchor.0 as usize].saturating_add(time.offset)
    }
}
