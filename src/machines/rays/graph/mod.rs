//! The intersector as a dataflow graph: how many devices it has, and how long its pipeline is
//! (Ullner 1983, §2.3.2, §2.3.4, figs. 2-14 to 2-17).
//!
//! The graph is recorded from the code that the simulators run ([`super::intersector`]) over an
//! arithmetic whose numbers are indices of nodes, so its counts are those of the code.

pub mod lighting;

use std::sync::{Mutex, PoisonError};

use super::arithmetic::{OPERATIONS_PER_MICROSECOND, Operations, StageCounts};
use super::intersector::{self, IntersectorRay};
use super::polygon::{Case, Coordinate, Polygon};
use super::surfaces::general;
use super::surfaces::placement::{self, LocalRay, Placement};
use super::surfaces::quadric::{self, Middle, Quadric};

/// The kind of a node: an input, a wire, or an arithmetic device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// A word of the polygon or of the ray.
    Input,
    /// An inverted sign bit, or an exponent less one: a wire.
    Negation,
    /// A multiplier.
    Multiplier,
    /// An adder or subtracter.
    Adder,
    /// A divider with a Newton step.
    LongDivider,
    /// A divider with a table only.
    ShortDivider,
    /// A square root.
    Root,
}

impl Device {
    /// Stages of the pipeline that it takes.
    fn stages(self, stages: &StageCounts) -> u32 {
        match self {
            Device::Input | Device::Negation => 0,
            Device::Multiplier => stages.mul,
            Device::Adder => stages.add,
            Device::LongDivider => stages.long_division,
            Device::ShortDivider => stages.short_division,
            Device::Root => stages.root,
        }
    }

    /// True if it counts as an arithmetic operation.
    fn is_operation(self) -> bool {
        !matches!(self, Device::Input | Device::Negation)
    }
}

/// A node of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The kind of the node.
    pub device: Device,
    /// The nodes that it takes its operands from, all with lower indices; twice the same for a
    /// device with one operand. The node itself for an input.
    pub operands: [u32; 2],
}

/// Arithmetic as a graph. Nodes follow their operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// All nodes.
    pub nodes: Vec<Node>,
    /// The nodes of the results.
    pub ends: Vec<u32>,
}

/// The intersection of a ray and a polygon as a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The graph.
    pub flow: Flow,
    /// The node of `t`.
    pub t: u32,
    /// The nodes of `p_r`.
    pub point: [u32; 3],
    /// The nodes of the three values for `u`: the quotient and the two roots.
    pub u: [u32; 3],
    /// The same for `v`.
    pub v: [u32; 3],
}

impl Graph {
    /// Records the intersector.
    pub fn intersector() -> Graph {
        let recorder = Mutex::new(Vec::new());
        let ops = Recording(&recorder);
        let vector = || [0; 3].map(|_| ops.record(Device::Input, None));
        let scalar = || ops.record(Device::Input, None);
        // The case is of no consequence: both branches are recorded.
        let coordinate = || Coordinate { case: Case::Parallel, n: vector(), d1: scalar(), m: vector(), d0: scalar() };
        let polygon = Polygon { n_p: vector(), d_p: scalar(), u: coordinate(), v: coordinate(), one_sided: false };
        let ray = IntersectorRay { r0: vector(), forward: vector(), backward: vector() };
        let t = intersector::distance(ops, &polygon, &ray).t;
        let point = intersector::point(ops, &ray, t);
        let values = |equation: &Coordinate| {
            let planes = intersector::planes(ops, equation, point);
            let [a, b] = intersector::roots(ops, planes);
            [intersector::quotient(ops, planes), a, b].map(index)
        };
        let (u, v) = (values(&polygon.u), values(&polygon.v));
        let flow = Flow::recorded(recorder, [u, v].concat());
        Graph { flow, t: index(t), point: point.map(index), u, v }
    }

    /// How many devices of that kind there are.
    pub fn count(&self, device: Device) -> usize {
        self.flow.count(device)
    }

    /// How many operations are computed at once when the pipeline is full.
    pub fn operations(&self) -> usize {
        self.flow.operations()
    }

    /// Stages of the pipeline of the whole intersector.
    pub fn stages(&self, stages: &StageCounts) -> u32 {
        self.flow.stages(stages)
    }

    /// Microseconds from the first stage to the result.
    pub fn latency(&self, stages: &StageCounts) -> f64 {
        f64::from(self.stages(stages)) / OPERATIONS_PER_MICROSECOND
    }

    /// Millions of floating-point operations a second when the pipeline is full.
    pub fn mflops(&self) -> f64 {
        self.operations() as f64 * OPERATIONS_PER_MICROSECOND
    }
}

/// The arithmetic operations of so many quadrics and edges of general polygons.
pub fn surface_operations(quadrics: u64, edges: u64) -> f64 {
    let [quadric, edge] = Flow::surfaces().map(|flow| flow.operations() as f64);
    quadrics as f64 * quadric + edges as f64 * edge
}

impl Flow {
    /// The arithmetic of a test of a quadric ([`Quadric::hits`]), the placement included.
    pub fn quadric() -> Flow {
        let recorder = Mutex::new(Vec::new());
        let ops = Recording(&recorder);
        let local = placed(ops);
        let quadric = Quadric { words: [0; quadric::WORDS].map(|_| ops.record(Device::Input, None)) };
        let middle = Middle::new(ops, &local);
        let hits = quadric.crossings(ops, &local, &middle).t;
        let points = hits.map(|t| placement::along(ops, local.origin, local.direction, t));
        let ends = points.into_iter().flatten().map(index).collect();
        Flow::recorded(recorder, ends)
    }

    /// The arithmetic of an edge of a general polygon, with the planes and the placement before all
    /// edges, and the hit after them ([`General::hit`](super::surfaces::general::General::hit)).
    pub fn edge() -> Flow {
        let recorder = Mutex::new(Vec::new());
        let ops = Recording(&recorder);
        let vector = || [0; 3].map(|_| ops.record(Device::Input, None));
        let local = placed(ops);
        let (from, to) = (vector(), vector());
        let planes = general::Planes::new(ops, &local, [from, to]);
        let [from, to] = [from, to].map(|corner| general::corner(ops, &local, &planes, corner));
        let crossing = general::crossing(ops, &planes, &from, &to);
        let known = general::Crossing { place: vector(), away: ops.record(Device::Input, None) };
        let t = general::between(ops, &local, &crossing, &known);
        Flow::recorded(recorder, vec![index(t)])
    }

    /// The flows of the primitives that are no polygons: of a quadric and of an edge.
    pub fn surfaces() -> [Flow; 2] {
        [Flow::quadric(), Flow::edge()]
    }

    fn recorded(recorder: Mutex<Vec<Node>>, ends: Vec<u32>) -> Flow {
        Flow { nodes: recorder.into_inner().unwrap_or_else(PoisonError::into_inner), ends }
    }

    /// How many devices of that kind there are.
    pub fn count(&self, device: Device) -> usize {
        self.nodes.iter().filter(|node| node.device == device).count()
    }

    /// How many operations are computed at once when the pipeline is full.
    pub fn operations(&self) -> usize {
        self.nodes.iter().filter(|node| node.device.is_operation()).count()
    }

    /// Operations from the inputs to the last of those nodes, on the longest path.
    pub fn depth_of(&self, nodes: &[u32]) -> u32 {
        self.longest(nodes, |device| u32::from(device.is_operation()))
    }

    /// Logical stages.
    pub fn depth(&self) -> u32 {
        self.depth_of(&self.ends)
    }

    /// Stages of the pipeline from the inputs to the last of those nodes.
    pub fn stages_of(&self, nodes: &[u32], stages: &StageCounts) -> u32 {
        self.longest(nodes, |device| device.stages(stages))
    }

    /// Stages of the pipeline.
    pub fn stages(&self, stages: &StageCounts) -> u32 {
        self.stages_of(&self.ends, stages)
    }

    /// The greatest sum of weights on a path to one of those nodes.
    fn longest(&self, ends: &[u32], weight: impl Fn(Device) -> u32) -> u32 {
        let mut lengths: Vec<u32> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let length = |operand: u32| lengths.get(operand as usize).copied().unwrap_or(0);
            let before = node.operands.map(length).into_iter().max().unwrap_or(0);
            lengths.push(before + weight(node.device));
        }
        ends.iter().filter_map(|&end| lengths.get(end as usize).copied()).max().unwrap_or(0)
    }
}

/// A ray in the space of a surface's box, with the arithmetic that takes it there.
fn placed(ops: Recording<'_>) -> LocalRay {
    let vector = || [0; 3].map(|_| ops.record(Device::Input, None));
    let ray = IntersectorRay { r0: vector(), forward: vector(), backward: [0.0; 3] };
    let row = || [0; 4].map(|_| ops.record(Device::Input, None));
    Placement { rows: [row(), row(), row()] }.local(ops, &ray)
}

/// The index of a node, from the number that stands for it.
fn index(number: f32) -> u32 {
    number as u32
}

/// An arithmetic of nodes: each operation adds one, and its result is the node's index.
#[derive(Clone, Copy)]
struct Recording<'a>(&'a Mutex<Vec<Node>>);

impl Recording<'_> {
    fn record(self, device: Device, operands: Option<[f32; 2]>) -> f32 {
        let mut nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = nodes.len() as u32;
        nodes.push(Node { device, operands: operands.map_or([own; 2], |operands| operands.map(index)) });
        own as f32
    }
}

impl Operations for Recording<'_> {
    fn mul(self, a: f32, b: f32) -> f32 {
        self.record(Device::Multiplier, Some([a, b]))
    }

    fn add(self, a: f32, b: f32) -> f32 {
        self.record(Device::Adder, Some([a, b]))
    }

    fn sub(self, a: f32, b: f32) -> f32 {
        self.record(Device::Adder, Some([a, b]))
    }

    fn neg(self, a: f32) -> f32 {
        self.record(Device::Negation, Some([a, a]))
    }

    fn divide(self, a: f32, b: f32) -> f32 {
        self.record(Device::LongDivider, Some([a, b]))
    }

    fn divide_short(self, a: f32, b: f32) -> f32 {
        self.record(Device::ShortDivider, Some([a, b]))
    }

    fn sqrt(self, a: f32) -> f32 {
        self.record(Device::Root, Some([a, a]))
    }

    fn half(self, a: f32) -> f32 {
        self.record(Device::Negation, Some([a, a]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rays::arithmetic::Adder;
    use crate::rays::polygon::WORDS;

    #[test]
    fn the_intersector_has_54_operations() {
        let graph = Graph::intersector();
        assert_eq!(graph.count(Device::Multiplier), 23);
        assert_eq!(graph.count(Device::Adder), 26);
        assert_eq!(graph.count(Device::LongDivider), 1);
        assert_eq!(graph.count(Device::ShortDivider), 2);
        assert_eq!(graph.count(Device::Root), 2);
        assert_eq!(graph.operations(), 54);
        assert_eq!(graph.mflops(), 162.0);
    }

    #[test]
    fn it_reads_every_word_of_the_polygon_and_the_ray() {
        let graph = Graph::intersector();
        assert_eq!(graph.count(Device::Input), WORDS + 9);
        for (own, node) in graph.flow.nodes.iter().enumerate().filter(|(_, node)| node.device == Device::Input) {
            let own = own as u32;
            assert_eq!(node.operands, [own; 2]);
            assert!(graph.flow.nodes.iter().any(|node| node.device != Device::Input && node.operands.contains(&own)));
        }
    }

    #[test]
    fn it_has_thirteen_logical_stages() {
        let graph = Graph::intersector();
        assert_eq!(graph.flow.depth_of(&[graph.t]), 4);
        assert_eq!(graph.flow.depth_of(&graph.point), 4 + 2);
        assert_eq!(graph.flow.depth_of(&graph.u), 4 + 2 + 7);
        assert_eq!(graph.flow.depth_of(&graph.v), 4 + 2 + 7);
        assert_eq!(graph.flow.depth(), 13);
    }

    #[test]
    fn its_pipeline_has_17_or_33_stages() {
        let graph = Graph::intersector();
        let shifters = StageCounts::commercial(Adder::BarrelShifter);
        let multipliers = StageCounts::commercial(Adder::Multiplier);
        assert_eq!(graph.stages(&shifters), 17);
        assert_eq!(graph.stages(&multipliers), 33);
        assert!((graph.latency(&shifters) - 5.67).abs() < 0.01);
        assert_eq!(graph.latency(&multipliers), 11.0);
        assert_eq!(graph.flow.stages_of(&[graph.t], &shifters), 7);
        assert_eq!(graph.flow.stages_of(&graph.point, &shifters), 9);
    }

    #[test]
    fn the_two_coordinates_are_found_side_by_side() {
        let graph = Graph::intersector();
        let shifters = StageCounts::commercial(Adder::BarrelShifter);
        assert_eq!(graph.flow.stages_of(&graph.u, &shifters), graph.flow.stages_of(&graph.v, &shifters));
        // The quotient is ready before the roots are.
        assert!(graph.flow.stages_of(&graph.u[..1], &shifters) < graph.flow.stages_of(&graph.u[1..], &shifters));
    }

    #[test]
    fn surfaces_have_intersectors_of_these_operations() {
        let counts = |flow: &Flow| {
            let divisions = flow.count(Device::LongDivider) + flow.count(Device::ShortDivider);
            let [products, sums, roots] = [Device::Multiplier, Device::Adder, Device::Root].map(|d| flow.count(d));
            [products, sums, divisions, roots]
        };
        let (quadric, edge) = (Flow::quadric(), Flow::edge());
        assert_eq!((counts(&quadric), quadric.operations()), ([62, 58, 4, 1], 125));
        assert_eq!((counts(&edge), edge.operations()), ([51, 54, 3, 0], 108));
        assert_eq!(quadric.count(Device::Input), 6 + placement::WORDS + quadric::WORDS);
    }
}
