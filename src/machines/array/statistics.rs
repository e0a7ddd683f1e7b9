//! The counts of a simulation.

use super::mapping::Layout;
use super::message::MessageKind;
use super::unit::Counts;
use crate::rays::events::{Picoseconds, microseconds};
use serde::Serialize;

/// How a simulation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The array announced the end.
    Announced,
    /// Nodes wait for each other's buffers.
    Deadlock,
    /// Nothing is left to do, but counts differ for ever, as messages were lost.
    Unnoticed,
}

/// The activity of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    /// The processor and the intersection unit work.
    Both,
    /// The processor works.
    Processor,
    /// The intersection unit works.
    Unit,
    /// Neither, while messages wait for links or buffers.
    Waiting,
    /// It has nothing.
    Idle,
}

/// The time of a node, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct NodeTime {
    /// Processor and unit.
    pub both: f64,
    /// The processor alone.
    pub processor: f64,
    /// The intersection unit alone.
    pub unit: f64,
    /// Nothing, while messages wait for links or buffers.
    pub waiting: f64,
    /// Nothing to do.
    pub idle: f64,
}

impl NodeTime {
    /// Of the whole time, the part in which the processor or the unit works.
    pub fn busy(&self) -> f64 {
        let busy = self.both + self.processor + self.unit;
        busy / (busy + self.waiting + self.idle).max(f64::MIN_POSITIVE)
    }
}

/// A node's counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct NodeCounts {
    /// The time by activity.
    pub time: NodeTime,
    /// Rays that came to its cells, once for each visit.
    pub rays: u64,
    /// Rays from the eye that entered space in them.
    pub entered: u64,
    /// Cells that they were in.
    pub cells: u64,
    /// Tests of the intersection unit.
    pub tests: u64,
    /// Hits that it shaded.
    pub hits: u64,
    /// Most buffers in use.
    pub buffers_peak: u16,
    /// Most messages that waited for the processor.
    pub arrived_peak: u16,
    /// Most rays that waited for the intersection unit.
    pub rays_peak: u16,
    /// Most messages that waited for one link.
    pub link_peak: u16,
}

/// A link's counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkCounts {
    /// Messages of rays.
    pub messages: u64,
    /// Words, those of control messages included.
    pub words: u64,
    /// Picoseconds in which it was in use.
    pub busy: Picoseconds,
}

/// Messages of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KindCounts {
    /// Made.
    pub made: u64,
    /// Sent over a link: hops.
    pub hops: u64,
    /// Most hops of a ray in space; 0 of messages on fixed routes.
    pub most_hops: u32,
}

/// The effects of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FaultCounts {
    /// Transfers with errors.
    pub dropped: u64,
    /// Transfers that came twice.
    pub repeated: u64,
    /// Transfers again after a time without an acknowledgement.
    pub sent_again: u64,
    /// Messages that were lost on links.
    pub lost_on_links: u64,
    /// Messages that were taken twice.
    pub taken_twice: u64,
    /// Nodes that died.
    pub deaths: u64,
    /// Rays and records that dead nodes held.
    pub lost_in_nodes: u64,
    /// Messages that were destroyed at the edge of a dead node.
    pub lost_at_nodes: u64,
    /// Samples that dead nodes had not begun.
    pub samples_not_begun: u64,
    /// Samples of dead nodes' blocks of the frame buffer.
    pub samples_lost: u64,
    /// Polygons that only dead nodes had.
    pub polygons_lost: u64,
    /// Samples that were begun again.
    pub samples_again: u64,
    /// Messages that were thrown away for it.
    pub thrown_away: u64,
}

/// The results of a simulation.
#[derive(Clone, Debug, Serialize)]
pub struct Statistics {
    /// How it ended.
    pub ending: Ending,
    /// Until the announcement, or until nothing happened any more, in microseconds.
    pub total: f64,
    /// Until the last result was in the frame buffer, in microseconds.
    pub last_result: f64,
    /// Rounds of termination detection.
    pub rounds: u64,
    /// Items that were still in the array at the end: 0 unless faults confused the counts.
    pub left: u64,
    /// Nodes in a row and in a column.
    pub sides: [u16; 2],
    /// Each node, row by row.
    pub nodes: Vec<NodeCounts>,
    /// Each node's links: east, west, south, north; zero where there is none.
    pub links: Vec<[LinkCounts; 4]>,
    /// Messages by kind, in the order of [`MessageKind::ALL`].
    pub kinds: [KindCounts; 7],
    /// The counts of the intersection units.
    pub unit: Counts,
    /// Rays that came to an end: hits and misses.
    pub rays: u64,
    /// Rays whose hit in hardware is not the one that its shader saw.
    pub mismatches: u64,
    /// Rays that were not made because they were too dark.
    pub dark: u64,
    /// Ranks of messages: the fewest buffers that work.
    pub ranks: u16,
    /// Buffers of each node.
    pub buffers: u16,
    /// The effects of faults.
    pub faults: FaultCounts,
}

impl Statistics {
    pub(super) fn new(layout: &Layout) -> Self {
        let nodes = layout.nodes();
        Self {
            ending: Ending::Unnoticed,
            total: 0.0,
            last_result: 0.0,
            rounds: 0,
            left: 0,
            sides: layout.sides,
            nodes: vec![NodeCounts::default(); nodes],
            links: vec![[LinkCounts::default(); 4]; nodes],
            kinds: [KindCounts::default(); 7],
            unit: Counts::default(),
            rays: 0,
            mismatches: 0,
            dark: 0,
            ranks: 0,
            buffers: 0,
            faults: FaultCounts::default(),
        }
    }

    /// The counts of a kind of message.
    pub fn kind(&self, kind: MessageKind) -> &KindCounts {
        &self.kinds[kind as usize]
    }

    /// The mean of the nodes' busy parts of the time, 0 to 1.
    pub fn busy(&self) -> f64 {
        self.nodes.iter().map(|node| node.time.busy()).sum::<f64>() / self.nodes.len().max(1) as f64
    }

    /// The mean of the intersection units' busy parts of the time, 0 to 1.
    pub fn unit_busy(&self) -> f64 {
        let busy: f64 = self.nodes.iter().map(|node| node.time.both + node.time.unit).sum();
        busy / (self.total * self.nodes.len() as f64).max(f64::MIN_POSITIVE)
    }

    /// How much busier the busiest node is than the mean: 1 when all are alike.
    pub fn imbalance(&self) -> f64 {
        let most = self.nodes.iter().map(|node| node.time.busy()).fold(0.0, f64::max);
        most / self.busy().max(f64::MIN_POSITIVE)
    }

    /// How many times as many tests in its time as a peripheral, which makes three in a microsecond
    /// (Ullner 1983, §2.3.3): of polygons, quadrics and edges.
    pub fn peripherals(&self) -> f64 {
        let Counts { quadrics, edges, .. } = self.unit;
        (self.unit.polygons() + quadrics + edges) as f64 / 3.0 / self.total.max(f64::MIN_POSITIVE)
    }

    /// The busiest link's part of the time in use, 0 to 1.
    pub fn busiest_link(&self) -> f64 {
        let most = self.links.iter().flatten().map(|link| link.busy).max().unwrap_or(0);
        microseconds(most) / self.total.max(f64::MIN_POSITIVE)
    }
}

/// Adds up what a node does over time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    since: Picoseconds,
    activity: Activity,
    sums: [Picoseconds; 5],
}

impl Default for Meter {
    fn default() -> Self {
        Self { since: 0, activity: Activity::Idle, sums: [0; 5] }
    }
}

impl Meter {
    /// The node does this from now on.
    #[inline]
    pub fn set(&mut self, now: Picoseconds, activity: Activity) {
        if activity != self.activity {
            self.sums[self.activity as usize] += now - self.since;
            (self.since, self.activity) = (now, activity);
        }
    }

    /// The sums until now.
    pub fn times(&mut self, now: Picoseconds) -> NodeTime {
        self.sums[self.activity as usize] += now - self.since;
        self.since = now;
        let [both, processor, unit, waiting, idle] = self.sums.map(microseconds);
        NodeTime { both, processor, unit, waiting, idle }
    }
}
