//! Nodes that die, and what the array does about it.

use super::{Engine, Event, Load};
use crate::array::config::{Config, Recovery};
use crate::array::mapping::Direction;
use crate::array::protocol::Network;
use crate::array::routes::{Routes, buddy};
use crate::array::trace::Happening;
use crate::array::workload::Workload;
use crate::rays::arithmetic::Operations;
use crate::rays::events::{Picoseconds, picoseconds};

/// The most ranks that messages have before and after the deaths of a configuration: with recovery a
/// node needs as many buffers. `None` if they are too many.
pub(super) fn most_ranks(config: &Config, load: &Workload) -> Option<u16> {
    let layout = config.layout();
    let mut dead = vec![false; layout.nodes()];
    let mut most = 0;
    for death in &config.faults.deaths {
        dead[usize::from(layout.at([death[0] as u16, death[1] as u16]))] = true;
        if config.reliability.recovery == Recovery::On && dead.iter().any(|&d| !d) {
            most = most.max(super::ranks(config, load, &Routes::new(&layout, &dead))?.count());
        }
    }
    Some(most)
}

impl<O: Operations> Engine<'_, O> {
    /// A node dies, with everything in it.
    pub(super) fn die(&mut self, number: u32) {
        let [column, row, _] = self.config.faults.deaths[number as usize];
        let node = self.network.layout.at([column as u16, row as u16]);
        let index = usize::from(node);
        if self.sites[index].dead {
            return;
        }
        let leaving = self.sites[index].sending.iter().filter(|s| matches!(s, Some(Load::Message(..)))).count();
        // What it sends ends in the middle: the receiver gives the buffer back.
        for direction in Direction::ALL {
            let load = self.sites[index].sending[direction as usize].take();
            if let (Some(Load::Message(..)), Some(other)) = (load, self.network.neighbor(node, direction)) {
                self.sites[usize::from(other)].node.release();
            }
            // And what is sent to it does not come.
            let Some(other) = self.network.neighbor(node, direction) else { continue };
            let back = direction.opposite() as usize;
            if let Some(Load::Message(..)) = self.sites[usize::from(other)].sending[back].take() {
                self.sites[usize::from(other)].node.release();
                self.statistics.faults.lost_at_nodes += 1;
            }
        }
        let site = &mut self.sites[index];
        let held = u64::from(site.node.used).max(leaving as u64);
        self.statistics.faults.deaths += 1;
        self.statistics.faults.lost_in_nodes += held;
        self.statistics.faults.samples_not_begun += site.node.pending.len() as u64;
        *site = super::Site { dead: true, meter: site.meter, ..super::Site::default() };
        let now = self.agenda.now();
        self.sites[index].meter.set(now, super::Activity::Idle);
        self.refresh(node);
        for direction in Direction::ALL {
            if let Some(other) = self.network.neighbor(node, direction) {
                self.refresh(other);
            }
        }
        match self.config.reliability.recovery {
            Recovery::Off => self.lose(node),
            Recovery::On => {
                // The news goes from node to node like a control message.
                let hop = self.times.handshake + self.times.route;
                let news = hop * Picoseconds::from(self.network.routes.farthest());
                self.after(picoseconds(self.config.reliability.detect) + news, Event::Restart);
            }
        }
        for direction in Direction::ALL {
            if let Some(other) = self.network.neighbor(node, direction) {
                self.settle(other);
            }
        }
    }

    /// Without copies the node's block of the frame buffer is gone, and polygons that no other node
    /// has.
    fn lose(&mut self, node: u16) {
        for sample in 0..self.world.load.samples.len() as u32 {
            if self.world.first_owner(sample) == node {
                self.colors[sample as usize] = [0.0; 4];
                self.statistics.faults.samples_lost += 1;
            }
        }
        self.statistics.faults.polygons_lost += self.only_in(|n| n == node);
    }

    /// Polygons that only such nodes have.
    fn only_in(&self, is_gone: impl Fn(u16) -> bool) -> u64 {
        let mut places = std::collections::BTreeMap::<u32, bool>::new();
        for cell in 0..self.network.layout.cell_count() as u32 {
            let gone = is_gone(self.network.layout.node(self.network.layout.cell(cell)));
            for &polygon in self.space.list(cell) {
                *places.entry(polygon).or_insert(true) &= gone;
            }
        }
        places.values().filter(|&&gone| gone).count() as u64
    }

    /// Destroys the messages for a dead node, as those that leave the array's edge.
    pub(super) fn destroy(&mut self, node: u16, direction: Direction) {
        let site = &mut self.sites[usize::from(node)];
        let lost: Vec<_> = site.node.out[direction as usize].drain(..).collect();
        site.control.retain(|(to, _)| *to != direction);
        self.offers[usize::from(node)][direction as usize] = super::Offer::Nothing;
        for (_, item) in lost {
            self.sites[usize::from(node)].node.release();
            self.statistics.faults.lost_at_nodes += 1;
            self.note(node, &item, Happening::Lost);
        }
    }

    /// All nodes know of the deaths: they throw their rays away, and incomplete samples are begun
    /// again.
    pub(super) fn restart(&mut self) {
        let layout = self.network.layout;
        let dead: Vec<bool> = self.sites.iter().map(|site| site.dead).collect();
        if dead.iter().all(|&d| d) {
            return;
        }
        self.era += 1;
        let routes = Routes::new(&layout, &dead);
        // There are few enough, as [`most_ranks`] has seen.
        let ranks = super::ranks(self.config, self.world.load, &routes).unwrap_or(self.network.ranks);
        let mut occupied = self.network.occupied().to_vec();
        self.network = Network::new(layout, routes, ranks, self.network.admission, self.network.buffers);
        self.statistics.ranks = self.statistics.ranks.max(self.network.ranks.count());
        for site in self.sites.iter_mut() {
            self.statistics.faults.thrown_away += u64::from(site.node.used);
            *site = super::Site { dead: site.dead, meter: site.meter, ..super::Site::default() };
        }
        self.offers.fill(<[super::Offer; 4]>::default());
        // Copies are with buddies; what both had is lost.
        let is_lost = |node: u16| {
            let other = buddy(&layout, node);
            dead[usize::from(node)] && other.is_none_or(|n| dead[usize::from(n)])
        };
        let mut lost = 0;
        for cell in 0..layout.cell_count() as u32 {
            if is_lost(layout.node(layout.cell(cell))) {
                lost += u64::from(std::mem::replace(&mut occupied[cell as usize], false));
            }
        }
        self.network.set_occupied(occupied);
        if lost > 0 {
            self.statistics.faults.polygons_lost = self.only_in(is_lost);
        }
        self.world.hosts = (0..layout.nodes() as u16).map(|node| self.network.routes.host(node)).collect();
        let mut again = vec![false; self.world.load.samples.len()];
        for (sample, again) in again.iter_mut().enumerate() {
            let owner = usize::from(self.world.first_owner(sample as u32));
            let started = self.world.load.samples[sample].root.is_some();
            *again = started && self.ledger.restarts(sample as u32, dead[owner]);
            if *again {
                self.colors[sample] = self.world.load.samples[sample].direct;
                self.statistics.faults.samples_again += 1;
            }
        }
        self.begin(|sample| again[sample as usize]);
    }
}
