//! The protocol by which a node handles messages: a state machine without time.
//!
//! A node has buffers, and each item (a message, or the record of a hit that still has messages to
//! send) is in one of them, in one of five places: it waits for the processor, for the intersection
//! unit, for a link, for the answer to a question about a map, or it is in hand. The functions of
//! [`Node`] are the steps that the state machine can take; which of several possible steps is next
//! is the business of the caller. The [simulation](super::engine) takes them in the order of its
//! clocks, the search (`check.rs`) in all orders.
//!
//! Buffers are given by [rank](super::ranks). A hit needs no buffer beyond its ray's: the buffer
//! becomes the record, which makes its messages one at a time, each when there is a buffer for it,
//! and is the last of them itself.

use super::mapping::{Direction, Heading, Layout};
use super::message::{Item, MessageKind};
use super::ranks::{Admission, Ranks};
use super::routes::Routes;
use std::collections::VecDeque;

/// The layout, routes and tables that all nodes know.
#[derive(Clone, Debug)]
pub struct Network {
    /// Nodes and cells.
    pub layout: Layout,
    /// Ways between nodes.
    pub routes: Routes,
    /// Ranks of messages.
    pub ranks: Ranks,
    /// Who gets a buffer.
    pub admission: Admission,
    /// Buffers of a node.
    pub buffers: u16,
    /// The node that works on each cell.
    hosts: Vec<u16>,
    /// The [place](Layout::place) of each cell.
    places: Vec<[u16; 3]>,
    /// Which cells have polygons.
    occupied: Vec<bool>,
    /// Where each node's links lead.
    neighbors: Vec<[Option<u16>; 4]>,
}

impl Network {
    /// Tables for an array all of whose cells have polygons.
    pub fn new(layout: Layout, routes: Routes, ranks: Ranks, admission: Admission, buffers: u16) -> Self {
        let hosts = (0..layout.cell_count() as u32).map(|cell| routes.host(layout.node(layout.cell(cell)))).collect();
        let places = (0..layout.cell_count() as u32).map(|cell| layout.place(layout.cell(cell))).collect();
        let occupied = vec![true; layout.cell_count()];
        let links = |node| Direction::ALL.map(|direction| layout.neighbor(node, direction));
        let neighbors = (0..layout.nodes() as u16).map(links).collect();
        Self { layout, routes, ranks, admission, buffers, hosts, places, occupied, neighbors }
    }

    /// Sets which cells have polygons.
    pub fn set_occupied(&mut self, occupied: Vec<bool>) {
        self.occupied = occupied;
    }

    /// Which cells have polygons.
    pub fn occupied(&self) -> &[bool] {
        &self.occupied
    }

    /// The node that works on a cell.
    #[inline]
    pub fn host(&self, cell: u32) -> u16 {
        self.hosts[cell as usize]
    }

    /// The node at the other end of a link.
    #[inline]
    pub fn neighbor(&self, node: u16, direction: Direction) -> Option<u16> {
        self.neighbors[usize::from(node)][direction as usize]
    }

    /// The rank of an item at a node.
    #[inline]
    pub fn rank(&self, item: &Item, node: u16) -> u16 {
        self.rank_with(item, self.routes.distance(node, item.to).unwrap_or(0))
    }

    /// The rank of an item at a node with so many links left to where it goes.
    #[inline]
    fn rank_with(&self, item: &Item, left: u16) -> u16 {
        self.ranks.rank(item, left, || self.layout.progress_at(self.places[item.cell as usize], item.heading))
    }
}

/// A message that follows from a hit, or from a ray that leaves space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A look-up in a map, at the node that has it. The record waits for the answer.
    LookUp(u16),
    /// A color for the pixel.
    Result,
    /// Another ray, which starts where this one ended.
    Ray(u32),
}

/// The behavior of the rays. The simulation takes it from a scene, the search from small examples.
pub trait Rays {
    /// The cell where a ray enters space, and its heading; `None` if it passes by.
    fn entry(&self, ray: u32) -> Option<(u32, Heading)>;
    /// Vision or shadow.
    fn kind(&self, ray: u32) -> MessageKind;
    /// The node of the ray's pixel.
    fn owner(&self, ray: u32) -> u16;
    /// The message of this number that follows when the ray has come to its end; `None` after the
    /// last.
    fn part(&self, ray: u32, number: u16) -> Option<Part>;
}

/// How a ray left a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// It goes on in this cell.
    Next(u32),
    /// It has come to its end: a vision ray by a hit, any ray by leaving space or by its limit.
    End,
    /// Nothing follows from it: a shadow ray is blocked.
    Gone,
}

/// The state of an item after it was placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// It waits in the node.
    Kept,
    /// It was a result at its pixel, or a copy where it belongs.
    Delivered,
    /// It has no way to where it goes, or nothing follows from it.
    Gone,
}

/// How many items were made, and how many are no more. Counts of whole nodes and sums of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tally {
    /// Made, the node's own pixels included.
    pub born: u64,
    /// Gone.
    pub died: u64,
}

/// An item in hand: the processor or the intersection unit works on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The item.
    pub item: Item,
    /// True if it is the record of a hit, of which the next message is made.
    pub is_record: bool,
    /// True if a buffer for that message is set aside.
    reserved: bool,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Node {
    /// The number of the node.
    pub index: u16,
    /// Buffers in use, those for messages that are on their way in included.
    pub used: u16,
    /// Messages that the processor has to look at.
    pub arrived: VecDeque<Item>,
    /// Records of hits.
    pub records: Vec<Item>,
    /// Rays for the intersection unit.
    pub rays: VecDeque<Item>,
    /// Rays in cells without polygons, for the processor.
    pub passing: VecDeque<Item>,
    /// Messages for each link, with their rank at the other end: by rank, and of one rank the one that
    /// came first last, so that the next to be sent is the last of all.
    pub out: [Vec<(u16, Item)>; 4],
    /// Records that wait for the answer of a map.
    pub asking: Vec<Item>,
    /// Rays that the node has still to emit.
    pub pending: VecDeque<u32>,
    /// Items made and gone.
    pub tally: Tally,
}

impl Node {
    /// A node that has to emit these rays.
    pub fn new(index: u16, pending: VecDeque<u32>) -> Self {
        let tally = Tally { born: pending.len() as u64, died: 0 };
        Self { index, pending, tally, ..Self::default() }
    }

    /// True if it has nothing to do and nothing in its buffers.
    pub fn is_idle(&self) -> bool {
        self.used == 0 && self.pending.is_empty()
    }

    /// True if it would give a buffer to a message of this rank.
    pub fn admits(&self, network: &Network, rank: u16) -> bool {
        let free = network.buffers.saturating_sub(self.used);
        network.admission.admits(free, rank, network.ranks.count())
    }

    /// Sets a buffer aside for a message that is coming in.
    pub fn reserve(&mut self) {
        self.used += 1;
    }

    /// Gives back a buffer whose message did not come, or is thrown away.
    pub fn release(&mut self) {
        self.used -= 1;
    }

    /// Takes a message into the buffer that was set aside for it.
    pub fn arrive(&mut self, item: Item) {
        self.arrived.push_back(item);
    }

    /// The next ray that the node emits, as a message; `None` when there is none, or no buffer for
    /// it.
    pub fn next_emission(&self, network: &Network, rays: &impl Rays) -> Option<Item> {
        let &ray = self.pending.front()?;
        let entry = rays.entry(ray);
        let (cell, heading) = entry.unwrap_or((NOWHERE, [true; 3]));
        let to = if entry.is_some() { network.host(cell) } else { self.index };
        let item = Item { kind: MessageKind::New, ray, cell, to, from: self.index, generation: 0, heading, part: 0 };
        self.admits(network, network.rank(&item, self.index)).then_some(item)
    }

    /// Takes the ray of [`next_emission`](Self::next_emission) in hand.
    pub fn begin_emission(&mut self, item: Item) -> Task {
        self.pending.pop_front();
        self.used += 1;
        Task { item, is_record: false, reserved: false }
    }

    /// True if the next message of a record can be made: the last needs no buffer.
    pub fn can_make(&self, network: &Network, rays: &impl Rays, record: &Item) -> bool {
        match self.part_of(rays, record) {
            Some((item, false)) => self.admits(network, network.rank(&item, self.index)),
            _ => true,
        }
    }

    /// Takes an arrived message in hand.
    pub fn begin_arrived(&mut self, position: usize) -> Task {
        in_hand(self.arrived.remove(position))
    }

    /// Takes a record in hand, of which [`can_make`](Self::can_make) says that it can go on.
    pub fn begin_record(&mut self, rays: &impl Rays, position: usize) -> Task {
        let item = self.records.remove(position);
        let reserved = matches!(self.part_of(rays, &item), Some((_, false)));
        self.used += u16::from(reserved);
        Task { item, is_record: true, reserved }
    }

    /// Takes a ray in hand for the intersection unit.
    pub fn begin_ray(&mut self, position: usize) -> Task {
        in_hand(self.rays.remove(position))
    }

    /// The processor is done with what it had in hand.
    pub fn finish(&mut self, network: &Network, rays: &impl Rays, task: Task) -> Placed {
        let mut item = task.item;
        if !task.is_record {
            return self.place(network, rays, item);
        }
        match self.part_of(rays, &item) {
            None => self.die(),
            // The record becomes its last message.
            Some((last, true)) => self.place(network, rays, last),
            Some((message, false)) => {
                self.tally.born += 1;
                item.part += 1;
                if message.kind == MessageKind::MapRequest { &mut self.asking } else { &mut self.records }.push(item);
                self.place(network, rays, message)
            }
        }
    }

    /// The intersection unit is done with a ray.
    pub fn crossed(&mut self, network: &Network, rays: &impl Rays, mut item: Item, crossing: Crossing) -> Placed {
        match crossing {
            Crossing::Next(cell) => {
                item.cell = cell;
                item.to = network.host(cell);
                self.place(network, rays, item)
            }
            Crossing::End => self.end(rays, item),
            Crossing::Gone => self.die(),
        }
    }

    /// The message of the highest rank that waits for a link, and its rank at the other end.
    pub fn offer(&self, direction: Direction) -> Option<(usize, u16)> {
        let waiting = &self.out[direction as usize];
        waiting.last().map(|&(rank, _)| (waiting.len() - 1, rank))
    }

    /// Takes a message out of the queue of a link. Its buffer stays in use until it is
    /// [`sent`](Self::release).
    pub fn begin_sending(&mut self, direction: Direction, position: usize) -> Item {
        self.out[direction as usize].remove(position).1
    }

    /// Puts a message into the buffer of one that has just been delivered, and follows from it.
    pub fn replace(&mut self, network: &Network, rays: &impl Rays, item: Item) -> Placed {
        self.used += 1;
        self.tally.born += 1;
        self.place(network, rays, item)
    }

    /// Puts an item where it goes next.
    pub fn place(&mut self, network: &Network, rays: &impl Rays, mut item: Item) -> Placed {
        if item.to != self.index {
            let Some((direction, left)) = network.routes.step(self.index, item.to) else { return self.die() };
            let rank = network.rank_with(&item, left);
            let waiting = &mut self.out[direction as usize];
            let position = waiting.partition_point(|&(other, _)| other < rank);
            waiting.insert(position, (rank, item));
            return Placed::Kept;
        }
        match item.kind {
            MessageKind::New if item.cell == NOWHERE => self.end(rays, item),
            MessageKind::New | MessageKind::Vision | MessageKind::Shadow => {
                if item.kind == MessageKind::New {
                    item.kind = rays.kind(item.ray);
                }
                let waiting = if network.occupied[item.cell as usize] { &mut self.rays } else { &mut self.passing };
                waiting.push_back(item);
                Placed::Kept
            }
            MessageKind::Result | MessageKind::Copy => {
                self.die();
                Placed::Delivered
            }
            MessageKind::MapRequest => {
                let to = item.from;
                self.place(network, rays, Item { kind: MessageKind::MapReply, to, ..item })
            }
            MessageKind::MapReply => {
                let record = self.asking.iter().position(|r| (r.ray, r.part) == (item.ray, item.part));
                self.die();
                if let Some(record) = record {
                    let record = self.asking.swap_remove(record);
                    self.records.push(record);
                }
                Placed::Kept
            }
        }
    }

    /// A ray has come to its end: its buffer becomes the record of what follows.
    fn end(&mut self, rays: &impl Rays, item: Item) -> Placed {
        if rays.part(item.ray, 0).is_none() {
            return self.die();
        }
        self.records.push(Item { part: 0, cell: item.cell, kind: MessageKind::Vision, ..item });
        Placed::Kept
    }

    fn die(&mut self) -> Placed {
        self.used -= 1;
        self.tally.died += 1;
        Placed::Gone
    }

    /// The next message of a record, and whether it is the last; `None` when there is none.
    fn part_of(&self, rays: &impl Rays, record: &Item) -> Option<(Item, bool)> {
        let part = rays.part(record.ray, record.part)?;
        let is_last = rays.part(record.ray, record.part + 1).is_none();
        let item = match part {
            Part::LookUp(to) => {
                // The record is still needed when the answer comes.
                let request =
                    Item { kind: MessageKind::MapRequest, to, from: self.index, part: record.part + 1, ..*record };
                return Some((request, false));
            }
            Part::Result => Item { kind: MessageKind::Result, to: rays.owner(record.ray), ..*record },
            // It starts in the cell of the hit, wherever its origin is rounded to.
            Part::Ray(ray) => Item {
                kind: rays.kind(ray),
                ray,
                generation: record.generation.saturating_add(1),
                heading: rays.entry(ray).map_or(record.heading, |(_, heading)| heading),
                part: 0,
                ..*record
            },
        };
        Some((item, is_last))
    }
}

/// A message that is taken in hand, of a position at which there is one.
fn in_hand(item: Option<Item>) -> Task {
    Task { item: item.expect("an item at this position"), is_record: false, reserved: false }
}

/// The cell of rays that pass space by.
pub const NOWHERE: u32 = u32::MAX;
