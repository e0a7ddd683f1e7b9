//! The flow through a tree on one scan line: the segments of the roots, and what each unit did.
//!
//! Segments of different lines never meet, so lines are independent but for the time that they take.

use super::merge::{Case, Step, merge};
use super::segment::Segment;
use super::shape::{Shape, Stream, Unit, UnitKind, stream};
use super::split::split;
use std::ops::Range;

/// The action of a unit on the head of its input, or inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A scan converter emits a segment.
    Convert,
    /// A step of a merging processor.
    Merge(Step),
    /// A splitting processor passes a segment on to the left, to the right, or to both.
    Split([bool; 2]),
}

/// The work of a unit on a line.
#[derive(Clone, Debug)]
pub struct Work {
    /// The unit.
    pub unit: Unit,
    /// The inputs; a splitter has one, and a scan converter none.
    pub inputs: [Option<Stream>; 2],
    /// The actions, as a range of [`Line::actions`].
    pub actions: Range<u32>,
}

/// Sums over the units of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// Segments that came in.
    pub inputs: u64,
    /// Segments that went out.
    pub outputs: u64,
    /// Steps of merging processors by [`Case`]. A splitter's passes and breaks are the first two.
    pub steps: [u64; 4],
}

impl Layer {
    /// Adds the sums of another line.
    pub fn add(&mut self, other: &Self) {
        self.inputs += other.inputs;
        self.outputs += other.outputs;
        self.steps.iter_mut().zip(other.steps).for_each(|(sum, more)| *sum += more);
    }
}

/// A scan line in a tree.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// The segments of each strip.
    pub roots: Vec<Vec<Segment>>,
    /// The units that had segments, from the leaves to the roots.
    pub work: Vec<Work>,
    /// The actions of the units.
    pub actions: Vec<Action>,
    /// Sums by layer.
    pub layers: Vec<Layer>,
}

/// The segments of a stream.
struct Lane {
    node: u32,
    stream: Stream,
    segments: Vec<Segment>,
}

/// Sends a line through a tree: at most one segment for each leaf, in the order of their
/// [positions](Shape::position).
pub fn line(shape: &Shape, leaves: &[(u32, Segment)], bits: u32) -> Line {
    let mut line = Line { layers: vec![Layer::default(); shape.layers() as usize], ..Line::default() };
    let mut lanes = Vec::with_capacity(leaves.len());
    for &(position, segment) in leaves {
        let unit = shape.unit(0, position);
        line.note(0, unit, [None; 2], [Action::Convert], 0, 1);
        lanes.push(Lane { node: position, stream: stream(unit, 0), segments: vec![segment] });
    }
    let mut steps = Vec::new();
    for level in 1..=shape.levels - shape.split {
        lanes = line.level(shape, level, lanes, bits, &mut steps);
    }
    let mut strips: Vec<Lane> = Vec::new();
    for node in 0..shape.strips() {
        let stream = shape.output(shape.levels - shape.split, node).unwrap_or(Stream::MAX);
        strips.push(Lane { node, stream, segments: Vec::new() });
    }
    for lane in lanes {
        let node = lane.node as usize;
        strips[node] = lane;
    }
    for stage in 1..=shape.split {
        strips = line.stage(shape, stage, strips, bits, &mut steps);
    }
    line.roots = strips.into_iter().map(|lane| lane.segments).collect();
    line
}

impl Line {
    fn note(
        &mut self,
        layer: u32,
        unit: Unit,
        inputs: [Option<Stream>; 2],
        actions: impl IntoIterator<Item = Action>,
        taken: usize,
        emitted: usize,
    ) {
        let start = self.actions.len() as u32;
        self.actions.extend(actions);
        let actions = start..self.actions.len() as u32;
        let sums = &mut self.layers[layer as usize];
        sums.inputs += taken as u64;
        sums.outputs += emitted as u64;
        for action in &self.actions[start as usize..] {
            match action {
                Action::Convert => {}
                Action::Merge(step) => sums.steps[step.case as usize] += 1,
                Action::Split(sides) => sums.steps[usize::from(*sides == [true; 2])] += 1,
            }
        }
        self.work.push(Work { unit, inputs, actions });
    }

    /// A level of mergers.
    fn level(&mut self, shape: &Shape, level: u32, lanes: Vec<Lane>, bits: u32, steps: &mut Vec<Step>) -> Vec<Lane> {
        let mut above = Vec::with_capacity(lanes.len());
        let mut lanes = lanes.into_iter().peekable();
        while let Some(lane) = lanes.next() {
            let node = lane.node / 2;
            let partner = lanes.next_if(|next| next.node / 2 == node);
            if !shape.merges(level, node) {
                above.push(Lane { node, ..lane });
                continue;
            }
            let empty = |child: u32| {
                let stream = shape.output(level - 1, child).unwrap_or(Stream::MAX);
                Lane { node: child, stream, segments: Vec::new() }
            };
            let pair = match partner {
                Some(partner) => [lane, partner],
                None if lane.node.is_multiple_of(2) => [lane, empty(2 * node + 1)],
                None => [empty(2 * node), lane],
            };
            above.push(Lane { node, ..self.merge(shape.unit(level, node), level, pair, bits, steps) });
        }
        above
    }

    /// A stage of splitters and mergers.
    fn stage(&mut self, shape: &Shape, stage: u32, strips: Vec<Lane>, bits: u32, steps: &mut Vec<Step>) -> Vec<Lane> {
        let layer = shape.stage(stage);
        let mut halves: Vec<[Lane; 2]> = Vec::with_capacity(strips.len());
        for (number, lane) in (0..).zip(strips) {
            let unit = shape.unit(layer, number);
            let parts: Vec<[Option<Segment>; 2]> = lane.segments.iter().map(|s| split(s, bits)).collect();
            let side = |k: usize| -> Vec<Segment> { parts.iter().filter_map(|pair| pair[k]).collect() };
            let sides = [side(0), side(1)];
            if !parts.is_empty() {
                let actions = parts.iter().map(|pair| Action::Split(pair.map(|s| s.is_some())));
                let emitted = sides[0].len() + sides[1].len();
                self.note(layer, unit, [Some(lane.stream), None], actions, parts.len(), emitted);
            }
            let mut side = 0;
            halves.push(sides.map(|segments| {
                side += 1;
                Lane { node: number, stream: stream(unit, side - 1), segments }
            }));
        }
        // A group of two, each with half as many strips.
        let half = 1usize << (stage - 1);
        let mut joined = Vec::with_capacity(halves.len());
        for number in 0..halves.len() {
            let (group, strip) = (number / (2 * half), number % (2 * half));
            let pair = [2 * group, 2 * group + 1].map(|below| {
                let lane = &mut halves[below * half + strip / 2][strip % 2];
                Lane { node: lane.node, stream: lane.stream, segments: std::mem::take(&mut lane.segments) }
            });
            let unit = shape.unit(layer + 1, number as u32);
            let lane = if pair.iter().all(|lane| lane.segments.is_empty()) {
                Lane { node: 0, stream: stream(unit, 0), segments: Vec::new() }
            } else {
                self.merge(unit, layer + 1, pair, bits, steps)
            };
            joined.push(Lane { node: number as u32, ..lane });
        }
        joined
    }

    /// A merging processor.
    fn merge(&mut self, unit: Unit, layer: u32, pair: [Lane; 2], bits: u32, steps: &mut Vec<Step>) -> Lane {
        let inputs = [&pair[0], &pair[1]].map(|lane| (lane.stream != Stream::MAX).then_some(lane.stream));
        let [a, b] = pair.map(|lane| lane.segments);
        let taken = a.len() + b.len();
        let copy = |side: u8| Step { case: Case::Disjoint, taken: Some(side), emitted: true };
        steps.clear();
        let segments = match (a.is_empty(), b.is_empty()) {
            (false, false) => {
                let mut out = Vec::with_capacity(taken + 4);
                merge(&a, &b, bits, &mut out, steps);
                out
            }
            (_, true) => {
                steps.extend(a.iter().map(|_| copy(0)));
                a
            }
            (true, _) => {
                steps.extend(b.iter().map(|_| copy(1)));
                b
            }
        };
        self.note(layer, unit, inputs, steps.iter().map(|&step| Action::Merge(step)), taken, segments.len());
        Lane { node: 0, stream: stream(unit, 0), segments }
    }
}

/// Layers by what their units are, for reports: the name, and the level or stage.
pub fn layer_name(shape: &Shape, layer: u32) -> String {
    let tree = shape.levels - shape.split;
    match shape.kind(layer) {
        UnitKind::Converters => "scan converters".to_string(),
        UnitKind::Mergers => format!("mergers, level {layer}"),
        UnitKind::Splitters => format!("splitters, stage {}", (layer - tree).div_ceil(2)),
        UnitKind::StageMergers => format!("mergers, stage {}", (layer - tree).div_ceil(2)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::segment::STEPS;
    use super::super::segment::tests::segment;
    use super::*;
    use shadewright_base::random::hash;

    /// Random segments for most of a tree's leaves.
    fn leaves(shape: &Shape, seed: u32) -> Vec<(u32, Segment)> {
        let part = |k: u32| {
            let r = |j: u32, n: u32| (hash(seed * 7919 + k * 16 + j) % n) as u16;
            let start = r(0, 4000);
            let end = (start + r(1, 900)).min(4095);
            (shape.position(k), segment(3, [start, end], [r(2, 4096), r(3, 4096)], k))
        };
        let mut leaves: Vec<_> = (0..shape.leaves).filter(|k| !hash(seed + k).is_multiple_of(5)).map(part).collect();
        leaves.sort_by_key(|&(position, _)| position);
        leaves
    }

    /// The source that each step of the whole screen shows.
    fn shown(shape: &Shape, line: &Line) -> Vec<Option<u32>> {
        let strip = |x: i32| (x >> (12 - shape.split)) as usize;
        let place = |x: i32| ((x << shape.split) & (STEPS - 1)) as u16;
        (0..STEPS)
            .map(|x| {
                let at = place(x);
                let root = &line.roots[strip(x)];
                root.iter().find(|s| (s.left.x..=s.right.x).contains(&at)).map(|s| s.source)
            })
            .collect()
    }

    #[test]
    fn split_trees_show_what_whole_trees_show() {
        for (seed, count) in [(1, 9), (2, 40), (3, 100)] {
            let whole = Shape::new(count, 0);
            let expected = shown(&whole, &super::line(&whole, &leaves(&whole, seed), 12));
            assert!(expected.iter().filter(|s| s.is_some()).count() > 2000);
            for split in 1..=6 {
                let shape = Shape::new(count, split);
                let found = shown(&shape, &super::line(&shape, &leaves(&shape, seed), 12));
                let different = expected.iter().zip(&found).filter(|(a, b)| a != b).count();
                // Where surfaces are within a unit of each other, rounded breaks may show either.
                assert!(different < 80, "{split} levels: {different} of {STEPS}");
                let holes = expected.iter().zip(&found).filter(|(a, b)| a.is_some() != b.is_some()).count();
                assert_eq!(holes, 0, "{split} levels");
            }
        }
    }

    #[test]
    fn layers_pass_on_what_the_layer_below_gives() {
        let shape = Shape::new(70, 3);
        let leaves = leaves(&shape, 5);
        let line = super::line(&shape, &leaves, 12);
        assert_eq!(line.layers[0].outputs, leaves.len() as u64);
        let last = line.layers.last().expect("layers");
        assert_eq!(last.outputs, line.roots.iter().map(|r| r.len() as u64).sum::<u64>());
        // With 70 leaves, wires skip the first level only.
        for pair in line.layers.windows(2).skip(2) {
            assert_eq!(pair[0].outputs, pair[1].inputs);
        }
    }

    #[test]
    fn an_empty_line_has_no_work() {
        let shape = Shape::new(5, 2);
        let line = super::line(&shape, &[], 12);
        assert!(line.work.is_empty() && line.roots.iter().all(Vec::is_empty));
        assert_eq!(line.roots.len(), 4);
    }
}
