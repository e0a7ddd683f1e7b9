//! Links: transfers of messages and of control messages, and what can go wrong with them.
//!
//! Errors and repetitions happen to messages only. Control messages are a few words; they are taken to
//! be protected in any case, as counts that are lost would end the rounds, and not show in the image.

use super::{Engine, Event, Load, Offer};
use crate::array::config::{Links, Recovery};
use crate::array::mapping::Direction;
use crate::array::message::{CONTROL_WORDS, MessageKind, RECOVERY_WORDS, Results, SEQUENCE_WORDS, words};
use crate::array::protocol::Tally;
use crate::array::reliable::Taken;
use crate::array::statistics::Ending;
use crate::array::termination::{Control, Counted};
use crate::array::trace::Happening;
use crate::array::workload::Way;
use crate::rays::arithmetic::Operations;
use crate::rays::events::{Picoseconds, picoseconds};
use shadewright_base::random::{hash, unit};

/// The fate of a transfer.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Arrives,
    Dropped,
    Repeated,
}

impl<O: Operations> Engine<'_, O> {
    /// Starts a transfer, if the link is free and there is something that the other end takes.
    pub(super) fn start_link(&mut self, node: u16, direction: Direction) {
        let (index, port) = (usize::from(node), direction as usize);
        let offer = self.offers[index][port];
        debug_assert_eq!(offer, self.sites[index].offer(direction));
        if offer == Offer::Nothing {
            return;
        }
        let Some(other) = self.network.neighbor(node, direction) else { return };
        if self.sites[usize::from(other)].dead {
            self.destroy(node, direction);
            return;
        }
        let controls = &mut self.sites[index].control;
        if let Some(position) = controls.iter().position(|(to, _)| *to == direction) {
            let (_, control) = controls.remove(position);
            self.transfer(node, direction, other, Load::Control(control), CONTROL_WORDS);
            return;
        }
        let Offer::Message(rank) = offer else { return };
        if !self.sites[usize::from(other)].node.admits(&self.network, rank) {
            return;
        }
        let Some((position, _)) = self.sites[index].node.offer(direction) else { return };
        self.sites[usize::from(other)].node.reserve();
        let site = &mut self.sites[index];
        let item = site.node.begin_sending(direction, position);
        let number = site.senders[port].number();
        let mut size = words(item.kind, self.config.link.results);
        // A hit for its shader: t, u, v and the polygon instead of three colors.
        let is_short = item.kind == MessageKind::Result && self.config.link.results == Results::Short;
        size += u32::from(is_short && self.world.load.way == Way::Answers);
        size += match (self.config.reliability.links, self.config.reliability.recovery) {
            (_, Recovery::On) => RECOVERY_WORDS,
            (Links::Acknowledged, Recovery::Off) => SEQUENCE_WORDS,
            (Links::Bare, Recovery::Off) => 0,
        };
        let ray = item.ray as usize;
        let kind = &mut self.statistics.kinds[item.kind as usize];
        kind.hops += 1;
        if item.kind.walks() {
            self.hops[ray] = self.hops[ray].saturating_add(1);
            kind.most_hops = kind.most_hops.max(u32::from(self.hops[ray]));
        }
        self.statistics.links[index][port].messages += 1;
        self.note(node, &item, Happening::Left(direction));
        self.transfer(node, direction, other, Load::Message(item, number, size), size);
    }

    /// Sees what a node's links could send next.
    pub(super) fn refresh(&mut self, node: u16) {
        let site = &self.sites[usize::from(node)];
        self.offers[usize::from(node)] = Direction::ALL.map(|direction| site.offer(direction));
    }

    /// A transfer of so many words begins.
    fn transfer(&mut self, node: u16, direction: Direction, other: u16, load: Load, words: u32) {
        let memory = 2 * Picoseconds::from(words) * self.unit_times.cycle;
        for end in [node, other] {
            self.sites[usize::from(end)].stolen += memory;
        }
        let time = self.times.handshake + memory;
        let site = &mut self.sites[usize::from(node)];
        site.sending[direction as usize] = Some(load);
        site.transfers[direction as usize] += 1;
        self.offers[usize::from(node)][direction as usize] = Offer::Nothing;
        let link = &mut self.statistics.links[usize::from(node)][direction as usize];
        link.words += u64::from(words);
        link.busy += time;
        self.after(time, Event::Link(node, direction));
    }

    /// A transfer ends.
    pub(super) fn transferred(&mut self, node: u16, direction: Direction) {
        let (index, port) = (usize::from(node), direction as usize);
        let Some(other) = self.network.neighbor(node, direction) else { return };
        let Some(load) = self.sites[index].sending[port].take() else { return };
        self.offers[index][port] = self.sites[index].offer(direction);
        let fate = self.fate(node, direction);
        match load {
            Load::Control(control) => self.control(other, control),
            Load::Message(item, number, size) => {
                let acknowledged = self.config.reliability.links == Links::Acknowledged;
                let counts = &mut self.statistics.faults;
                counts.dropped += u64::from(fate == Fate::Dropped);
                counts.repeated += u64::from(fate == Fate::Repeated);
                if fate == Fate::Dropped && acknowledged {
                    // No acknowledgement comes: again, after a time, with both buffers as they are.
                    counts.sent_again += 1;
                    let wait = picoseconds(self.config.reliability.timeout);
                    let again = 2 * Picoseconds::from(size) * self.unit_times.cycle + self.times.handshake;
                    self.sites[index].sending[port] = Some(load);
                    self.sites[index].transfers[port] += 1;
                    self.offers[index][port] = Offer::Nothing;
                    self.statistics.links[index][port].words += u64::from(size);
                    self.statistics.links[index][port].busy += again;
                    self.after(wait + again, Event::Link(node, direction));
                    return;
                }
                self.sites[index].node.release();
                let back = direction.opposite() as usize;
                let copies = 1 + u32::from(fate == Fate::Repeated);
                let receiver = &mut self.sites[usize::from(other)];
                if fate == Fate::Dropped {
                    receiver.node.release();
                    self.statistics.faults.lost_on_links += 1;
                    self.note(other, &item, Happening::Lost);
                } else if acknowledged {
                    let taken = (0..copies).filter(|_| receiver.receivers[back].take(number) == Taken::Fresh).count();
                    match taken {
                        0 => receiver.node.release(),
                        _ => receiver.node.arrive(item),
                    }
                    self.sites[index].senders[port].acknowledged(number);
                } else {
                    receiver.node.arrive(item);
                    if copies > 1 && receiver.node.admits(&self.network, self.network.rank(&item, other)) {
                        receiver.node.reserve();
                        receiver.node.arrive(item);
                        self.statistics.faults.taken_twice += 1;
                    }
                }
                if fate != Fate::Dropped {
                    self.note(other, &item, Happening::Arrived);
                }
            }
        }
        self.settle(node);
        self.settle(other);
    }

    /// True if this transfer has errors: by hash of the link and of how many it carried before.
    fn fate(&self, node: u16, direction: Direction) -> Fate {
        let faults = &self.config.faults;
        if faults.drop == 0.0 && faults.repeat == 0.0 {
            return Fate::Arrives;
        }
        let transfers = self.sites[usize::from(node)].transfers[direction as usize];
        let link = u32::from(node) * 4 + direction as u32;
        let chance = f64::from(unit(hash(hash(hash(faults.seed) ^ link) ^ transfers)));
        match chance {
            chance if chance < faults.drop => Fate::Dropped,
            chance if chance < faults.drop + faults.repeat => Fate::Repeated,
            _ => Fate::Arrives,
        }
    }

    /// A round of termination detection asks a node and those below it.
    pub(super) fn ask(&mut self, node: u16) {
        self.sites[usize::from(node)].counting.ask();
        let below: Vec<Direction> = self.below(node).collect();
        for direction in below {
            self.sites[usize::from(node)].control.push((direction, Control::Ask));
        }
        self.refresh(node);
        self.settle(node);
    }

    fn control(&mut self, node: u16, control: Control) {
        match control {
            Control::Ask => self.ask(node),
            Control::Count(tally) => self.sites[usize::from(node)].counting.answer(tally),
        }
    }

    /// A node gives its counts to the round, when it can.
    pub(super) fn count(&mut self, node: u16) {
        let site = &mut self.sites[usize::from(node)];
        if !site.counting.is_ready() || !site.node.is_idle() {
            return;
        }
        match site.counting.count(site.node.tally, node == self.root) {
            Counted::Up(tally) => {
                if let Some(up) = self.network.routes.first(node, self.root) {
                    site.control.push((up, Control::Count(tally)));
                    self.offers[usize::from(node)][up as usize] = site.offer(up);
                    self.start_link(node, up);
                }
            }
            Counted::Again => {
                self.statistics.rounds += 1;
                if self.agenda.is_empty() && self.is_lost() {
                    self.ending = Some(Ending::Unnoticed);
                }
                self.after(self.times.pause, Event::Round);
            }
            Counted::Done => {
                self.statistics.rounds += 1;
                self.ending = Some(Ending::Announced);
            }
        }
    }

    /// True if nothing is left to do although the counts differ: no round can ever announce the end. A
    /// host would lose its patience.
    fn is_lost(&self) -> bool {
        let live = || self.sites.iter().filter(|site| !site.dead);
        let is_idle = live().all(|site| site.node.is_idle() && site.sending.iter().all(Option::is_none));
        let sum = |of: fn(&Tally) -> u64| live().map(|site| of(&site.node.tally)).sum::<u64>();
        is_idle && sum(|tally| tally.born) != sum(|tally| tally.died)
    }

    /// The links down the tree of termination detection: to the nodes whose way to the root starts
    /// here.
    pub(super) fn below(&self, node: u16) -> impl Iterator<Item = Direction> + '_ {
        let is_below = move |direction: &Direction| {
            let other = self.network.neighbor(node, *direction);
            other.is_some_and(|n| self.network.routes.first(n, self.root) == Some(direction.opposite()))
        };
        Direction::ALL.into_iter().filter(is_below)
    }
}
