//! The array in time: the [protocol](super::protocol)'s steps in the order of the nodes' clocks.
//!
//! A node has a processor, an intersection unit, and a port in each direction to send and to receive.
//! The processor does one task at a time: first what the unit has found, then messages that have come,
//! then records of hits, and when there is nothing else it emits the next ray of its pixels. The unit
//! takes rays in the order in which they came. A link carries one message at a time from one memory to
//! the other, two accesses of 16 bits for each word at either end; those accesses, and a part of the
//! processor's time, delay the intersection unit, which has what is left of the memory.
//!
//! The simulation is a function of its inputs: events of one time come in the order in which they were
//! made.

mod faults;
mod links;
mod parts;
mod work;

use super::config::{Config, Recovery};
use super::mapping::Direction;
use super::message::{Item, MessageKind};
use super::phases::{Phases, phases};
use super::protocol::{Network, Node};
use super::ranks::{Admission, Ranks};
use super::recovery::Ledger;
use super::routes::Routes;
use super::space::Space;
use super::statistics::{Activity, Ending, Statistics};
use super::termination::Counting;
use super::trace::{Happening, Trace, TraceEvent};
use super::unit::{Unit, UnitTimes};
use super::workload::Workload;
use super::world::World;
use crate::rays::arithmetic::{self, Commercial, Custom, Ieee, Operations};
use crate::rays::calendar::Calendar;
use crate::rays::events::{Picoseconds, microseconds, picoseconds};
use crate::rays::model::Model;
use crate::rays::volumes::StructureError;
use parts::{Event, IntersectionResult, Job, Load, Offer, Passing, Site, Times};
use std::collections::VecDeque;

/// Buffers of a node beyond those that it needs, if the configuration has no number.
const SPARE: u16 = 256;

/// Why an array cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArrayError {
    /// The scene does not fit into cells.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// It would deadlock.
    #[error("`node.buffers` is {buffers}, and messages of {needed} ranks need as many; use {needed} or more, or 0")]
    TooFewBuffers {
        /// Ranks.
        needed: u16,
        /// Buffers.
        buffers: u16,
    },
    /// More ranks than a number of buffers can be.
    #[error("{generations} generations of rays are too many for this array")]
    TooManyGenerations {
        /// Of the workload.
        generations: u16,
    },
    /// Shares of samples are used up.
    #[error("too many hits one after the other for `reliability.recovery`")]
    Shares,
}

/// An image by the array.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The times and counts of the simulation.
    pub statistics: Statistics,
    /// The sum of the results of each sample, as the frame buffer has them; that of the shaders'
    /// tree, but for the order of the sums. Not used where rays return.
    pub colors: Vec<[f32; 4]>,
    /// Events for an animation.
    pub trace: Trace,
    /// Loading and sorting the scene before.
    pub phases: Phases,
}

/// Simulates an array with a model.
///
/// # Errors
/// When the scene or the rays do not fit the hardware.
pub fn simulate(load: &Workload, model: &Model, config: &Config) -> Result<Simulation, ArrayError> {
    match config.unit.arithmetic {
        arithmetic::Unit::Commercial => with(load, model, config, Commercial),
        arithmetic::Unit::Custom => with(load, model, config, Custom),
        arithmetic::Unit::Ieee => with(load, model, config, Ieee),
    }
}

fn with<O: Operations>(
    load: &Workload,
    model: &Model,
    config: &Config,
    operations: O,
) -> Result<Simulation, ArrayError> {
    let space = Space::new(config.layout(), config.array.depth, operations, model)?;
    Ok(Engine::new(load, &space, config)?.run())
}

struct Engine<'a, O> {
    config: &'a Config,
    times: Times,
    unit_times: UnitTimes,
    network: Network,
    space: &'a Space<'a, O>,
    world: World<'a>,
    sites: Vec<Site>,
    /// The item that each link of each node could send next.
    offers: Vec<[Offer; 4]>,
    unit: Unit,
    agenda: Calendar<(u32, Event)>,
    /// Grows when all that is under way is thrown away.
    era: u32,
    root: u16,
    ending: Option<Ending>,
    last_result: Picoseconds,
    colors: Vec<[f32; 4]>,
    ledger: Ledger,
    hops: Vec<u16>,
    statistics: Statistics,
    trace: Trace,
}

impl<'a, O: Operations> Engine<'a, O> {
    fn new(load: &'a Workload, space: &'a Space<'a, O>, config: &'a Config) -> Result<Self, ArrayError> {
        let layout = space.layout;
        let world = World::new(load, space, config).ok_or(ArrayError::Shares)?;
        let routes = Routes::new(&layout, &[]);
        let too_many = || ArrayError::TooManyGenerations { generations: load.generations };
        let ranks = ranks(config, load, &routes).ok_or_else(too_many)?;
        let needed = faults::most_ranks(config, load).ok_or_else(too_many)?.max(ranks.count());
        let buffers = match config.node.buffers {
            0 => needed + SPARE,
            buffers => buffers,
        };
        if config.node.admission == Admission::Ranked && buffers < needed {
            return Err(ArrayError::TooFewBuffers { needed, buffers });
        }
        let mut network = Network::new(layout, routes, ranks, config.node.admission, buffers);
        network.set_occupied((0..layout.cell_count() as u32).map(|cell| !space.list(cell).is_empty()).collect());
        let mut statistics = Statistics::new(&layout);
        (statistics.ranks, statistics.buffers, statistics.dark) = (ranks.count(), buffers, world.dark);
        Ok(Self {
            config,
            times: Times::new(config),
            unit_times: config.unit_times(),
            sites: Vec::new(),
            offers: vec![Default::default(); layout.nodes()],
            network,
            space,
            unit: Unit::default(),
            agenda: Calendar::default(),
            era: 0,
            root: 0,
            ending: None,
            last_result: 0,
            colors: load.samples.iter().map(|sample| sample.direct).collect(),
            ledger: Ledger::new(load.samples.len()),
            hops: vec![0; load.rays.len()],
            statistics,
            trace: Trace::new(config.trace.events as usize),
            world,
        })
    }

    fn run(mut self) -> Simulation {
        let nodes = self.network.layout.nodes();
        self.sites = (0..nodes).map(|_| Site::default()).collect();
        for (number, &[.., time]) in self.config.faults.deaths.iter().enumerate() {
            self.agenda.after(picoseconds(time), (0, Event::Death(number as u32)));
        }
        self.begin(|_| true);
        while self.ending.is_none() {
            let Some((era, event)) = self.agenda.pop() else { break };
            if era == self.era || matches!(event, Event::Death(_)) {
                self.handle(event);
            }
        }
        self.finish()
    }

    /// Gives every live node its samples, those that `begins` chooses, and starts it.
    fn begin(&mut self, begins: impl Fn(u32) -> bool) {
        let mut pending = vec![VecDeque::new(); self.sites.len()];
        for (index, sample) in self.world.load.samples.iter().enumerate() {
            if let Some(root) = sample.root.filter(|_| begins(index as u32)) {
                pending[usize::from(self.world.owner_of(index as u32))].push_back(root);
            }
        }
        self.root = self.sites.iter().position(|site| !site.dead).unwrap_or(0) as u16;
        for (index, pending) in pending.into_iter().enumerate() {
            let children = self.below(index as u16).count() as u16;
            let site = &mut self.sites[index];
            site.node = Node::new(index as u16, pending);
            site.counting = Counting::new(children);
        }
        self.ask(self.root);
        for node in 0..self.sites.len() as u16 {
            self.settle(node);
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Processor(node) => self.processor_done(node),
            Event::UnitFree(node) => self.unit_free(node),
            Event::UnitResult(node) => {
                let site = &mut self.sites[usize::from(node)];
                let result = site.draining.pop_front();
                site.found.extend(result);
                self.settle(node);
            }
            Event::Link(node, direction) => self.transferred(node, direction),
            Event::Round => self.ask(self.root),
            Event::Death(number) => self.die(number),
            Event::Restart => self.restart(),
        }
    }

    /// Starts whatever can start at a node and on the links from and to it.
    fn settle(&mut self, node: u16) {
        let index = usize::from(node);
        if self.sites[index].dead {
            return;
        }
        self.start_unit(node);
        self.start_processor(node);
        let site = &mut self.sites[index];
        let has_freed = site.node.used < site.seen_used;
        site.seen_used = site.node.used;
        for direction in Direction::ALL {
            self.start_link(node, direction);
            if let Some(other) = self.network.neighbor(node, direction).filter(|_| has_freed) {
                self.start_link(other, direction.opposite());
            }
        }
        self.count(node);
        let now = self.agenda.now();
        let site = &mut self.sites[index];
        let activity = match (site.job.is_some(), site.unit.is_some()) {
            (true, true) => Activity::Both,
            (true, false) => Activity::Processor,
            (false, true) => Activity::Unit,
            (false, false) if site.node.is_idle() => Activity::Idle,
            (false, false) => Activity::Waiting,
        };
        site.meter.set(now, activity);
        let counts = &mut self.statistics.nodes[index];
        raise(&mut counts.buffers_peak, usize::from(site.node.used));
        raise(&mut counts.arrived_peak, site.node.arrived.len());
    }

    /// Records the longest queues of those that grow only by what the processor does.
    fn record_queues(&mut self, node: u16) {
        let Node { rays, passing, out, .. } = &self.sites[usize::from(node)].node;
        let counts = &mut self.statistics.nodes[usize::from(node)];
        raise(&mut counts.rays_peak, rays.len() + passing.len());
        raise(&mut counts.link_peak, out.iter().map(Vec::len).max().unwrap_or(0));
    }

    fn after(&mut self, delay: Picoseconds, event: Event) {
        self.agenda.after(delay, (self.era, event));
    }

    fn note(&mut self, node: u16, item: &Item, happening: Happening) {
        let time = self.agenda.now();
        self.trace.add(TraceEvent { time, ray: item.ray, node, kind: item.kind, happening });
    }

    fn finish(mut self) -> Simulation {
        let now = self.agenda.now();
        for (site, counts) in self.sites.iter_mut().zip(&mut self.statistics.nodes) {
            counts.time = site.meter.times(now);
        }
        let left = |site: &Site| u64::from(site.node.used) + site.node.pending.len() as u64;
        let statistics = &mut self.statistics;
        statistics.left = self.sites.iter().map(left).sum();
        let faults = &statistics.faults;
        let is_whole = faults.deaths + faults.lost_on_links == 0;
        statistics.ending = self.ending.unwrap_or(match statistics.left {
            1.. if is_whole => Ending::Deadlock,
            _ => Ending::Unnoticed,
        });
        statistics.total = microseconds(now);
        statistics.last_result = microseconds(self.last_result);
        let (words, [width, height]) = (self.space.words(), self.world.load.size);
        let pixels = u64::from(width) * u64::from(height);
        let phases = phases(self.config, &words, pixels, self.statistics.buffers, |cell| self.space.list(cell));
        Simulation { statistics: self.statistics, colors: self.colors, trace: self.trace, phases }
    }

    fn made(&mut self, kind: MessageKind) {
        self.statistics.kinds[kind as usize].made += 1;
    }
}

/// Raises a peak to the length that a queue has.
fn raise(peak: &mut u16, length: usize) {
    *peak = (*peak).max(length as u16);
}

/// The ranks of a workload's messages; `None` if they are too many.
fn ranks(config: &Config, load: &Workload, routes: &Routes) -> Option<Ranks> {
    let ranks = Ranks::new(&config.layout(), routes, load.generations)?;
    Some(match config.reliability.recovery {
        Recovery::On => ranks.with_copies(),
        Recovery::Off => ranks,
    })
}
