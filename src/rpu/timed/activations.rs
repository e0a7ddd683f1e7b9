//! Reconvergence: which threads executed a call together, so that they reconverge at its return.
//!
//! A chunk that has diverged is reassembled at a function's return (Węgrzanowski 2006, §2). A
//! subchunk that returns waits until all threads that executed the call with it have returned too;
//! then they continue as one. Threads that an indirect call sends to different functions reconverge
//! as well: they share the return address. The first function of a thread has no caller: threads
//! end one by one.

use super::history::{History, Until};
use super::subchunk::Subchunk;
use crate::executor::Group;
use crate::lanes::{BLOCK, lanes_of};

/// The calls of a block's threads that have not returned, by depth.
#[derive(Debug, Default)]
pub(super) struct Activations(Vec<Row>);

/// The calls at one depth.
#[derive(Debug)]
struct Row {
    /// For each lane, the lanes that executed the call together.
    members: [u64; BLOCK],
    /// For the lowest lane of those, the threads that have returned.
    returned: [Returned; BLOCK],
}

/// Threads that wait at the return address for others.
#[derive(Debug, Clone, Copy)]
struct Returned {
    lanes: u64,
    /// When all that they issued has finished.
    finished: Until,
    ready: Until,
    stack_from: u32,
}

impl Returned {
    const NONE: Returned = Returned { lanes: 0, finished: Until::START, ready: Until::START, stack_from: 0 };
}

impl Activations {
    /// The lanes in `mask` call from `depth`.
    pub fn enter(&mut self, depth: u32, mask: u64) {
        let depth = depth as usize;
        if self.0.len() <= depth {
            self.0.resize_with(depth + 1, || Row { members: [0; BLOCK], returned: [Returned::NONE; BLOCK] });
        }
        let row = &mut self.0[depth];
        lanes_of(mask).for_each(|lane| row.members[lane] = mask);
        row.returned[mask.trailing_zeros() as usize % BLOCK] = Returned::NONE;
    }

    /// Records that a subchunk has returned to the depth of its group. When it was the last,
    /// returns all of them as one subchunk.
    pub fn reconverge(&mut self, subchunk: Subchunk) -> Option<Subchunk> {
        let Group { mask, depth, .. } = subchunk.group;
        let row = &mut self.0[depth as usize];
        let members = row.members[mask.trailing_zeros() as usize % BLOCK];
        if members == mask {
            return Some(subchunk);
        }
        let returned = &mut row.returned[members.trailing_zeros() as usize % BLOCK];
        returned.lanes |= mask;
        returned.finished = returned.finished.max(subchunk.history.all());
        returned.ready = returned.ready.max(subchunk.ready);
        returned.stack_from = returned.stack_from.max(subchunk.stack_from);
        (returned.lanes == members).then(|| Subchunk {
            group: Group { mask: members, ..subchunk.group },
            ready: returned.ready,
            history: History::after(returned.finished),
            stack_from: returned.stack_from,
            ..subchunk
        })
    }
}
