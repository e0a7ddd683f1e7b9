//! The processor and the intersection unit of a node.

use super::{Engine, Event, IntersectionResult, Job, Passing};
use crate::array::config::{NextRay, Recovery};
use crate::array::message::{Item, MessageKind};
use crate::array::protocol::{Crossing, Part, Placed, Rays};
use crate::array::recovery::WHOLE;
use crate::array::routes::buddy;
use crate::array::space::VisitEnd;
use crate::array::trace::Happening;
use crate::array::unit::Passage;
use crate::array::workload::Way;
use crate::rays::arithmetic::Operations;
use crate::rays::events::Picoseconds;

impl<O: Operations> Engine<'_, O> {
    /// Gives the processor its next task, if it has none.
    pub(super) fn start_processor(&mut self, node: u16) {
        let index = usize::from(node);
        if self.sites[index].job.is_some() {
            return;
        }
        let Some((job, time)) = self.next_job(node) else { return };
        let site = &mut self.sites[index];
        site.job = Some(job);
        site.stolen += (time as f64 * self.config.node.memory_share) as Picoseconds;
        self.after(time, Event::Processor(node));
    }

    fn next_job(&mut self, node: u16) -> Option<(Job, Picoseconds)> {
        let site = &mut self.sites[usize::from(node)];
        if let Some((item, found)) = site.found.pop_front() {
            return Some((Job::Crossed(item, found.crossing), self.times.cell * Picoseconds::from(found.cells)));
        }
        if let Some(item) = site.node.passing.pop_front() {
            // There is nothing for the unit.
            let (found, _) = self.visit(node, &item);
            return Some((Job::Crossed(item, found.crossing), self.times.cell * Picoseconds::from(found.cells)));
        }
        if !site.node.arrived.is_empty() {
            let task = site.node.begin_arrived(0);
            let work = match task.item.kind {
                MessageKind::Result | MessageKind::Copy if task.item.to == node => self.times.deliver,
                MessageKind::MapRequest if task.item.to == node => self.times.look_up,
                _ => 0,
            };
            return Some((Job::Task(task), self.times.route + work));
        }
        let (network, world) = (&self.network, &self.world);
        if let Some(position) = site.node.records.iter().position(|r| site.node.can_make(network, world, r)) {
            let task = site.node.begin_record(world, position);
            let is_hit = task.item.part == 0 && world.load.rays[task.item.ray as usize].kind == MessageKind::Vision;
            let shade = if is_hit && world.load.way == Way::Results { self.times.shade } else { 0 };
            return Some((Job::Task(task), self.times.make + shade));
        }
        if world.load.way == Way::Answers && self.in_work(node) >= u64::from(self.config.image.samples) {
            return None;
        }
        let site = &mut self.sites[usize::from(node)];
        let item = site.node.next_emission(&self.network, &self.world)?;
        let task = site.node.begin_emission(item);
        let begun = u64::from(self.is_root(item.ray));
        self.sites[usize::from(node)].open += begun;
        self.made(MessageKind::New);
        self.note(node, &item, Happening::Emitted);
        Some((Job::Task(task), self.times.emit))
    }

    /// Where rays return: a node's samples that are begun and not done. New samples wait behind
    /// those, whose next rays are put before them.
    fn in_work(&self, node: u16) -> u64 {
        let site = &self.sites[usize::from(node)];
        match site.node.pending.front() {
            Some(&ray) if self.is_root(ray) => site.open,
            _ => 0,
        }
    }

    fn is_root(&self, ray: u32) -> bool {
        let load = self.world.load;
        load.samples[load.rays[ray as usize].sample as usize].root == Some(ray)
    }

    pub(super) fn processor_done(&mut self, node: u16) {
        let site = &mut self.sites[usize::from(node)];
        let Some(job) = site.job.take() else { return };
        match job {
            Job::Crossed(item, crossing) => {
                let happening = match crossing {
                    Crossing::Next(_) => None,
                    Crossing::End => Some(Happening::Hit),
                    Crossing::Gone => Some(Happening::Ended),
                };
                let placed = site.node.crossed(&self.network, &self.world, item, crossing);
                if let Some(happening) = happening {
                    self.note(node, &item, happening);
                }
                self.placed(node, &item, placed);
            }
            Job::Task(task) => {
                if task.is_record {
                    self.count_part(node, &task.item);
                }
                let placed = self.sites[usize::from(node)].node.finish(&self.network, &self.world, task);
                // Of a record it can be delivered only the result that it makes.
                let kind = if task.is_record { MessageKind::Result } else { task.item.kind };
                self.placed(node, &Item { kind, ..task.item }, placed);
            }
        }
        self.refresh(node);
        self.settle(node);
        self.record_queues(node);
    }

    /// Counts the message that a record makes.
    fn count_part(&mut self, node: u16, record: &Item) {
        let Some(part) = self.world.part(record.ray, record.part) else { return };
        let (kind, ray) = match part {
            Part::LookUp(_) => (MessageKind::MapRequest, record.ray),
            Part::Result => (MessageKind::Result, record.ray),
            Part::Ray(ray) => (self.world.kind(ray), ray),
        };
        self.made(kind);
        if kind == MessageKind::MapRequest {
            self.made(MessageKind::MapReply);
        }
        self.statistics.nodes[usize::from(node)].hits +=
            u64::from(record.part == 0 && self.world.kind(record.ray) == MessageKind::Vision);
        self.note(node, &Item { kind, ray, ..*record }, Happening::Made);
    }

    /// Handles an item that was placed in its node.
    fn placed(&mut self, node: u16, item: &Item, placed: Placed) {
        if placed != Placed::Delivered {
            return;
        }
        self.last_result = self.agenda.now();
        self.note(node, item, Happening::Shown);
        let ray = &self.world.load.rays[item.ray as usize];
        let sample = ray.sample;
        if item.kind == MessageKind::Copy {
            self.ledger.copied(sample);
            return;
        }
        let share = match self.world.load.way {
            Way::Results => {
                let color = &mut self.colors[sample as usize];
                color.iter_mut().zip(ray.direct).for_each(|(sum, part)| *sum += part);
                self.world.shares.get(item.ray as usize).copied().unwrap_or(0)
            }
            Way::Answers => match self.world.next(item.ray) {
                Some(next) => {
                    let node = &mut self.sites[usize::from(node)].node;
                    node.pending.push_front(next);
                    node.tally.born += 1;
                    0
                }
                None => {
                    let open = &mut self.sites[usize::from(node)].open;
                    *open = open.saturating_sub(1);
                    WHOLE
                }
            },
        };
        let recovers = self.config.reliability.recovery == Recovery::On;
        if recovers && self.ledger.returns(sample, share) {
            self.send_copy(node, item);
        }
    }

    /// Sends the color of a complete sample to the node's buddy.
    fn send_copy(&mut self, node: u16, item: &Item) {
        let other = buddy(&self.network.layout, self.world.first_owner(self.world.load.rays[item.ray as usize].sample));
        let Some(to) = other.map(|n| self.network.routes.host(n)).filter(|&n| n != node) else { return };
        self.made(MessageKind::Copy);
        let copy = Item { kind: MessageKind::Copy, to, ..*item };
        self.sites[usize::from(node)].node.replace(&self.network, &self.world, copy);
    }

    /// Gives the intersection unit its next ray, if it can take one.
    pub(super) fn start_unit(&mut self, node: u16) {
        let site = &mut self.sites[usize::from(node)];
        if site.unit.is_some() {
            return;
        }
        let Some(item) = site.node.rays.pop_front() else { return };
        let (found, passage) = self.visit(node, &item);
        self.note(node, &item, Happening::Tested);
        let fetching = passage.counts.accesses * self.unit_times.cycle;
        let occupied = match self.config.unit.next_ray {
            NextRay::Drained => passage.latency,
            // The port has fetched all that the ray needs, as if the next ray's fetches filled its gaps.
            NextRay::Behind => passage.front.max(fetching),
        };
        let site = &mut self.sites[usize::from(node)];
        site.unit = Some(Passing {
            item,
            found,
            rest: passage.latency.saturating_sub(occupied),
            stolen: site.stolen,
            share: fetching as f64 / occupied.max(1) as f64,
            added: 0,
        });
        self.after(occupied, Event::UnitFree(node));
    }

    /// The unit is done, unless others have had the memory meanwhile.
    pub(super) fn unit_free(&mut self, node: u16) {
        let site = &mut self.sites[usize::from(node)];
        let Some(passing) = &mut site.unit else { return };
        let delay = ((site.stolen - passing.stolen) as f64 * passing.share.min(1.0)) as Picoseconds;
        if delay > passing.added {
            let more = delay - passing.added;
            passing.added = delay;
            self.after(more, Event::UnitFree(node));
            return;
        }
        let Passing { item, found, rest, .. } = *passing;
        site.unit = None;
        site.draining.push_back((item, found));
        self.after(rest, Event::UnitResult(node));
        self.settle(node);
    }

    /// A ray's way through the cells of a node, and the unit's part of it.
    fn visit(&mut self, node: u16, item: &Item) -> (IntersectionResult, Passage) {
        let ray = &self.world.load.rays[item.ray as usize];
        let times = (&self.unit_times, self.config.unit.bound);
        let network = &self.network;
        let is_here = |cell: u32| network.host(cell) == node;
        let visit = self.space.visit(&ray.request, item.cell, &mut self.unit, times, is_here);
        let counts = &mut self.statistics.nodes[usize::from(node)];
        counts.rays += 1;
        let enters = self.world.entry(item.ray).is_some_and(|(cell, _)| cell == item.cell);
        counts.entered += u64::from(item.generation == 0 && item.kind == MessageKind::Vision && enters);
        counts.cells += u64::from(visit.cells);
        counts.tests += visit.passage.counts.tests;
        self.statistics.unit.add(&visit.passage.counts);
        let is_shadow = item.kind == MessageKind::Shadow;
        let crossing = match visit.end {
            VisitEnd::Next(cell) => Crossing::Next(cell),
            VisitEnd::Hit(_) if is_shadow && !self.world.follows(item.ray) => Crossing::Gone,
            VisitEnd::Hit(_) | VisitEnd::Left => Crossing::End,
        };
        if !matches!(visit.end, VisitEnd::Next(_)) {
            self.statistics.rays += 1;
            let agrees = match (visit.end, ray.hit) {
                (VisitEnd::Hit(found), Some(hit)) => is_shadow || (found.index, found.t) == (hit.index, hit.t),
                (VisitEnd::Left, None) => true,
                _ => false,
            };
            self.statistics.mismatches += u64::from(!agrees);
        }
        (IntersectionResult { crossing, cells: visit.cells }, visit.passage)
    }
}
