//! The parts of a node that have clocks, and what happens in them.

use crate::array::config::Config;
use crate::array::mapping::Direction;
use crate::array::message::Item;
use crate::array::protocol::{Crossing, Node, Task};
use crate::array::reliable::{Receiver, Sender};
use crate::array::statistics::Meter;
use crate::array::termination::{Control, Counting};
use crate::rays::events::{Picoseconds, picoseconds};
use std::collections::VecDeque;

/// An event of the simulation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A processor's task is done.
    Processor(u16),
    /// An intersection unit can take another ray.
    UnitFree(u16),
    /// The result of its ray is known.
    UnitResult(u16),
    /// A transfer ends.
    Link(u16, Direction),
    /// The root begins a round.
    Round,
    /// A node dies: a number of the list of deaths.
    Death(u32),
    /// All know of the deaths.
    Restart,
}

/// The job of a processor.
#[derive(Clone, Copy, Debug)]
pub(super) enum Job {
    /// A step of the protocol.
    Task(Task),
    /// The work that follows from the result of the unit.
    Crossed(Item, Crossing),
}

/// A ray in an intersection unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passing {
    pub item: Item,
    pub found: IntersectionResult,
    /// From the time at which the unit can take another ray until the result.
    pub rest: Picoseconds,
    /// The memory's time that others had taken when the ray began, and how much of what they took
    /// since delays the ray, and has been added.
    pub stolen: Picoseconds,
    pub share: f64,
    pub added: Picoseconds,
}

/// The result of an intersection unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntersectionResult {
    pub crossing: Crossing,
    pub cells: u32,
}

/// The load of a link.
#[derive(Clone, Copy, Debug)]
pub(super) enum Load {
    /// A message, its number, and its words.
    Message(Item, u16, u32),
    Control(Control),
}

/// The item that a link could send next. The links' ends look at this instead of the sender's
/// queues: most of the times that they look there is nothing, and the nodes of a large array do not
/// fit into caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Offer {
    /// Nothing, or the link is in use.
    #[default]
    Nothing,
    Control,
    /// A message of this rank at the other end.
    Message(u16),
}

/// A node with its clocked parts.
#[derive(Default)]
pub(super) struct Site {
    pub node: Node,
    pub counting: Counting,
    pub job: Option<Job>,
    pub unit: Option<Passing>,
    /// Rays whose results are not known yet, and those that wait for the processor.
    pub draining: VecDeque<(Item, IntersectionResult)>,
    pub found: VecDeque<(Item, IntersectionResult)>,
    pub sending: [Option<Load>; 4],
    /// Control messages that wait, and for which link.
    pub control: Vec<(Direction, Control)>,
    /// Sequence numbers, of what is sent and of what comes in from that direction.
    pub senders: [Sender; 4],
    pub receivers: [Receiver; 4],
    pub transfers: [u32; 4],
    /// Samples that are begun and not done, where rays return.
    pub open: u64,
    /// Time of the memory that the processor and the ports took from the unit.
    pub stolen: Picoseconds,
    pub meter: Meter,
    pub dead: bool,
    /// Buffers in use when it was last looked whether messages can come in.
    pub seen_used: u16,
}

impl Site {
    /// The item that the link in a direction could send next.
    #[inline]
    pub fn offer(&self, direction: Direction) -> Offer {
        let port = direction as usize;
        if self.sending[port].is_some() {
            return Offer::Nothing;
        }
        if self.control.iter().any(|(to, _)| *to == direction) {
            return Offer::Control;
        }
        self.node.offer(direction).map_or(Offer::Nothing, |(_, rank)| Offer::Message(rank))
    }
}

/// The tasks' times.
pub(super) struct Times {
    pub route: Picoseconds,
    pub cell: Picoseconds,
    pub emit: Picoseconds,
    pub shade: Picoseconds,
    pub make: Picoseconds,
    pub deliver: Picoseconds,
    pub look_up: Picoseconds,
    pub handshake: Picoseconds,
    pub pause: Picoseconds,
}

impl Times {
    /// The times of a configuration.
    pub fn new(config: &Config) -> Self {
        let node = &config.node;
        Self {
            route: picoseconds(node.route),
            cell: picoseconds(node.cell),
            emit: picoseconds(node.emit),
            shade: picoseconds(node.shade),
            make: picoseconds(node.make),
            deliver: picoseconds(node.deliver),
            look_up: picoseconds(node.look_up),
            handshake: picoseconds(config.link.handshake),
            pause: picoseconds(config.link.pause),
        }
    }
}
