//! Ranks of messages: why the array cannot deadlock.
//!
//! The thesis lets nodes copy messages into each other's memory and says nothing of what happens when
//! that memory is full. Two neighbors that are both full of rays for each other then wait for ever.
//! The array here has a structured buffer pool (Merlin & Schweitzer 1980, "Deadlock avoidance in
//! store-and-forward networks"), extended to messages that make others:
//!
//! 1. Every message in a buffer has a *rank*, 0 to `count − 1`. Each time that a ray or something that
//!    follows from it needs another buffer, the rank there is higher than that in the buffer before.
//! 2. A node gives a buffer to a message of rank `r` only if at least `count − 1 − r` others stay
//!    free.
//! 3. Of the messages that wait for a link, the one of the highest rank is offered.
//!
//! # No message waits for ever
//!
//! A node has at least `count` buffers. Claim: everything of rank `r` or more leaves its buffer, for
//! every `r`. By induction from the highest rank down; suppose that it holds above `r`, and that an
//! item of rank `r` stays for ever. Results at their owners and replies at their askers are consumed
//! where they are; the processor and the intersection unit take every item some time. So the item
//! waits for a buffer, at a node `w`, where it would have a rank `s > r` (1), or it is the record of a
//! hit that waits for the reply to a request, which has a higher rank and so arrives (by the
//! assumption). After some time all items above `r` that `w` held have left, and what comes in
//! transfers has come; others of such ranks may keep coming, but each leaves. Take the last moment
//! at which `w` gave a buffer to an item of rank `r` or less that still is there. At least
//! `count − 1 − r` stayed free then (2), and all later items are of ranks above `r`. If they leave
//! and the item is offered a buffer whenever one is freed, then it sees `count − 1 − r` free buffers,
//! which is at least `count − s`: one for itself and `count − 1 − s` more, as (2) wants. Only items of
//! higher rank can be taken before it, at the link (3) or at the node, and as they come from a finite
//! number of rays, there is a last one. If `w` never gave a buffer to any that is still there, all
//! `count` are free. ∎
//!
//! A message that changes its kind or its cell without a new buffer may have the same rank or a
//! higher one, which leaves the proof as it is. The exhaustive search of `check`
//! finds the same for a small array, with the code that the simulation runs.
//!
//! # Ranks
//!
//! | messages | rank | number of ranks |
//! |---|---|---|
//! | new | links gone | `farthest + 1` |
//! | vision, and records of hits, per generation | links gone in space | `walk · detour` |
//! | shadow | the same | `walk · detour` |
//! | result | links gone | `farthest + 1` |
//! | copy of a pixel, with recovery | links gone | `farthest + 1` |
//! | map request, map reply: after the last vision | links gone | 2 · (`farthest` + 1) |
//!
//! A ray never turns, so it crosses at most `walk − 1` links in space, and how many of them it has
//! crossed follows from its cell ([`Layout::progress`]): a message needs no counter. An array of
//! 8 × 8 nodes in a torus with 16 layers has 198 ranks for rays of five generations, and 198 buffers
//! of 13 words are 10 KB of a node's 128.

use super::mapping::Layout;
use super::message::{Item, MessageKind};
use super::routes::Routes;

/// The ranks of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    farthest: u16,
    walk: u16,
    detour: u16,
    generations: u16,
    copies: u16,
}

impl Ranks {
    /// Ranks for rays of so many generations: 1 when there are only rays from the eye. `None` if there
    /// would be more than 2¹⁵, so more buffers than a node can have.
    pub fn new(layout: &Layout, routes: &Routes, generations: u16) -> Option<Self> {
        let (farthest, walk, detour) = (routes.farthest(), layout.longest_walk(), routes.detour());
        let generations = generations.max(1);
        let [ways, steps] = [[farthest + 1, 4], [walk, detour]].map(|[a, b]| u64::from(a) * u64::from(b));
        let bound = ways + steps * (u64::from(generations) + 1);
        (bound < 1 << 15).then_some(Self { farthest, walk, detour, generations, copies: 0 })
    }

    /// With ranks for copies of pixels.
    pub fn with_copies(self) -> Self {
        Self { copies: self.farthest + 1, ..self }
    }

    /// Number of ranks: the fewest buffers that a node needs.
    pub fn count(&self) -> u16 {
        let ways = self.farthest + 1;
        self.shadows() + (self.steps() + ways + self.copies).max(2 * ways)
    }

    /// Ranks of a ray in space.
    fn steps(&self) -> u16 {
        self.walk * self.detour
    }

    fn shadows(&self) -> u16 {
        self.farthest + 1 + self.generations * self.steps()
    }

    /// The rank of an item in a buffer of a node that has `left` links left to where it goes;
    /// `progress` is that of a ray in its cell.
    #[inline]
    pub fn rank(&self, item: &Item, left: u16, progress: impl FnOnce() -> u16) -> u16 {
        let way = self.farthest - left.min(self.farthest);
        let step = || {
            let last = self.detour - 1;
            progress() * self.detour + last - left.min(last)
        };
        match item.kind {
            MessageKind::New => way,
            MessageKind::Vision => {
                let generation = u16::from(item.generation).min(self.generations - 1);
                self.farthest + 1 + generation * self.steps() + step()
            }
            MessageKind::Shadow => self.shadows() + step(),
            MessageKind::Result => self.shadows() + self.steps() + way,
            MessageKind::Copy => self.shadows() + self.steps() + self.farthest + 1 + way,
            MessageKind::MapRequest => self.shadows() + way,
            MessageKind::MapReply => self.shadows() + self.farthest + 1 + way,
        }
    }
}

/// To whom a node gives its buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Admission {
    /// By rank, so that messages do not wait for each other.
    #[default]
    Ranked,
    /// To everyone as long as there are any, which deadlocks.
    FirstCome,
}

impl Admission {
    /// True if a message of this rank gets one of the `free` buffers.
    pub fn admits(self, free: u16, rank: u16, ranks: u16) -> bool {
        match self {
            Self::Ranked => free >= ranks.saturating_sub(rank),
            Self::FirstCome => free > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mapping::Mapping;
    use super::*;

    #[test]
    fn the_higher_the_rank_the_fewer_buffers_need_be_free() {
        let admits = |free, rank| Admission::Ranked.admits(free, rank, 10);
        assert!(admits(10, 0) && !admits(9, 0) && admits(1, 9) && !admits(0, 9));
        assert!(admits(u16::MAX, 9));
    }

    fn torus() -> (Layout, Routes, Ranks) {
        let layout = Layout { mapping: Mapping::Torus, sides: [8, 8], cells: [8, 8, 16] };
        let routes = Routes::new(&layout, &[]);
        let ranks = Ranks::new(&layout, &routes, 5).expect("few");
        (layout, routes, ranks)
    }

    #[test]
    fn a_torus_of_sixty_four_nodes_has_198_ranks() {
        let (.., ranks) = torus();
        assert_eq!((ranks.count(), ranks.with_copies().count()), (198, 207));
    }

    #[test]
    fn ranks_grow_with_every_kind_and_stay_below_their_number() {
        let (layout, routes, ranks) = torus();
        let item = Item {
            kind: MessageKind::New,
            ray: 0,
            cell: layout.index([3, 3, 3]),
            to: layout.node([3, 3, 3]),
            from: 0,
            generation: 0,
            heading: [true; 3],
            part: 0,
        };
        let at = |item: Item, node: u16| {
            let left = routes.distance(node, item.to).expect("a way");
            ranks.rank(&item, left, || layout.progress(layout.cell(item.cell), item.heading))
        };
        let vision = |generation| at(Item { kind: MessageKind::Vision, generation, ..item }, item.to);
        let route: Vec<u16> = [at(item, 0), at(item, item.to), vision(0), vision(1), vision(4)]
            .into_iter()
            .chain([MessageKind::Shadow, MessageKind::Result].map(|kind| at(Item { kind, ..item }, item.to)))
            .collect();
        assert!(route.is_sorted_by(|a, b| a < b), "{route:?}");
        assert_eq!(route.last(), Some(&(ranks.count() - 1)));
        let [request, reply] =
            [MessageKind::MapRequest, MessageKind::MapReply].map(|kind| at(Item { kind, ..item }, item.to));
        assert!(vision(4) < request && request < reply && reply < ranks.count());
    }

    #[test]
    fn buffers_are_kept_for_higher_ranks() {
        assert!(Admission::Ranked.admits(10, 0, 10) && !Admission::Ranked.admits(9, 0, 10));
        assert!(Admission::Ranked.admits(1, 9, 10) && !Admission::Ranked.admits(0, 9, 10));
        assert!(Admission::FirstCome.admits(1, 0, 10) && !Admission::FirstCome.admits(0, 9, 10));
    }
}
