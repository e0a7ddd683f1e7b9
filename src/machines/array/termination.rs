//! How the array knows that the image is complete: termination detection, which the thesis leaves
//! open ("until it runs out of rays to be traced", §2.5.1).
//!
//! Every node counts the items that were made in it and those that ended in it ([`Tally`]); its
//! pixels count as made at the start. An item that moves changes no count, so a message on a link is
//! still one that was made and has not ended. The array is done when the sums over all nodes are
//! equal; but the nodes cannot be read at one moment. As in Mattern's four-counter method (1987,
//! "Algorithms for distributed termination detection"), the sums are taken twice, one after the other:
//! a *round* asks all nodes, down a tree of links whose root is the node that the host is attached to,
//! and adds the answers up on the way back. The root announces the end when as many items were made,
//! by a round's sum, as had ended by the sum of the round before.
//!
//! **Never early.** Between two rounds there is a moment `t` that is after all readings of the first
//! and before all of the second. Counts only grow, and nothing ends that was not made. So
//! `died(first) ≤ died(t) ≤ born(t) ≤ born(second)`. If the first and the last are equal, all are, and
//! at `t` there is no item in the array. Without items nothing makes items: there never will be one.
//!
//! **Always at last.** A node answers when it is idle. Everything leaves its buffers
//! ([`ranks`](super::ranks)), so every node answers some time and rounds come to their ends. After the
//! last item has ended, the counts stay the same, and the second round from then on announces it.
//!
//! The control messages have memory of their own in every node (a node has at most one of them from
//! each of its tree's links), so they wait for no buffer.

use super::protocol::Tally;

/// A control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Control {
    /// A round starts.
    Ask,
    /// The sums of a node and all below it.
    Count(Tally),
}

/// A node's part in the rounds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Counting {
    /// Nodes below it in the tree.
    children: u16,
    /// How many of them have answered.
    answers: u16,
    sum: Tally,
    /// True if a round asks the node, and it has not answered.
    asked: bool,
    /// At the root: what had ended by the round before.
    previous: Option<u64>,
}

/// The action of a node when it has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Sends the sums to the node above it.
    Up(Tally),
    /// The root starts another round.
    Again,
    /// The root announces that there are no more rays.
    Done,
}

impl Counting {
    /// A node with so many below it.
    pub fn new(children: u16) -> Self {
        Self { children, ..Self::default() }
    }

    /// A round asks the node, which passes it on to the nodes below.
    pub fn ask(&mut self) {
        self.asked = true;
    }

    /// An answer from below.
    pub fn answer(&mut self, tally: Tally) {
        self.answers += 1;
        self.sum = sum(self.sum, tally);
    }

    /// True if all have answered that the node waits for, so that it [counts](Self::count) as soon as
    /// it is idle.
    pub fn is_ready(&self) -> bool {
        self.asked && self.answers == self.children
    }

    /// Adds the node's own counts, when it is ready and idle.
    pub fn count(&mut self, own: Tally, is_root: bool) -> Counted {
        let total = sum(self.sum, own);
        (self.asked, self.answers, self.sum) = (false, 0, Tally::default());
        if !is_root {
            return Counted::Up(total);
        }
        let is_done = self.previous == Some(total.born);
        self.previous = Some(total.died);
        if is_done { Counted::Done } else { Counted::Again }
    }
}

fn sum(a: Tally, b: Tally) -> Tally {
    Tally { born: a.born + b.born, died: a.died + b.died }
}
