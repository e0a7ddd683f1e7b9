//! Which threads entered a function together, so that they can leave it together.
//!
//! A chunk that divides is reassembled at a function's return (Węgrzanowski 2006, §2). Here a part that returns waits until all threads that executed the
//! call with it have returned too; then they go on as one. Threads that a call through a register sends to different functions count as having
//! entered one: they have one return address. The first function of a thread has no caller: threads end one by one.

use super::history::{History, Until};
use super::processor::Part;
use crate::rpu::executor::Group;
use crate::rpu::lanes::{BLOCK, lanes_of};

/// The calls of a block's threads that have not returned, by depth.
#[derive(Debug, Default)]
pub(super) struct Activations(Vec<Row>);

/// The calls at one depth.
#[derive(Debug)]
struct Row {
    /// For each lane, the lanes that executed the call together.
    members: [u64; BLOCK],
    /// For the lowest lane of those, who has returned.
    returned: [Returned; BLOCK],
}

/// Threads that wait at the return address.
#[derive(Debug, Clone, Copy)]
struct Returned {
    lanes: u64,
    /// When all that they issued has finished.
    finished: Until,
    ready: Until,
    stack_from: u32,
}

impl Returned {
    const NOBODY: Returned = Returned { lanes: 0, finished: Until::START, ready: Until::START, stack_from: 0 };
}

impl Activations {
    /// The lanes in `mask` call from `depth`.
    pub fn enter(&mut self, depth: u32, mask: u64) {
        let depth = depth as usize;
        if self.0.len() <= depth {
            self.0.resize_with(depth + 1, || Row { members: [0; BLOCK], returned: [Returned::NOBODY; BLOCK] });
        }
        let row = &mut self.0[depth];
        lanes_of(mask).for_each(|lane| row.members[lane] = mask);
        row.returned[mask.trailing_zeros() as usize % BLOCK] = Returned::NOBODY;
    }

    /// A part has returned to the depth that its group says. When it was the last, gives all of them as one part.
    pub fn arrive(&mut self, part: Part) -> Option<Part> {
        let Group { mask, depth, .. } = part.group;
        let row = &mut self.0[depth as usize];
        let members = row.members[mask.trailing_zeros() as usize % BLOCK];
        if members == mask {
            return Some(part);
        }
        let returned = &mut row.returned[members.trailing_zeros() as usize % BLOCK];
        returned.lanes |= mask;
        returned.finished = returned.finished.max(part.history.all());
        returned.ready = returned.ready.max(part.ready);
        returned.stack_from = returned.stack_from.max(part.stack_from);
        (returned.lanes == members).then(|| Part {
            group: Group { mask: members, ..part.group },
            ready: returned.ready,
            history: History::after(returned.finished),
            stack_from: returned.stack_from,
            ..part
        })
    }
}
