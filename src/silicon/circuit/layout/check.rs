//! The check of a layout: what its geometry connects, and the design rules.
//!
//! [`extract`] looks at rectangles alone, not at the wires that they belong to. [`check`] compares
//! what they connect with the netlist, in both directions, and tests widths, distances and contacts.

use super::geometry::{CUT_MARGIN, Layer, Layout, Rect, Wire};
use crate::circuit::serial::netlist::Netlist;
use std::collections::BTreeMap;

/// The λ of a band of rectangles that are compared with one another.
const BAND: i64 = 16;

/// The errors of a layout, a line each, at most [`MAX_ERRORS`].
pub type Errors = Vec<String>;

/// Errors that are listed.
pub const MAX_ERRORS: usize = 20;

/// A disjoint-set forest.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// Rectangles of one layer by bands, across their longer direction.
struct Bands<'a> {
    rects: &'a [Rect],
    axis: usize,
    bands: BTreeMap<i64, Vec<usize>>,
}

impl<'a> Bands<'a> {
    fn new(rects: &'a [Rect], layer: Layer) -> Self {
        // Metal is horizontal: its bands are of y. Polysilicon is vertical.
        let axis = if layer == Layer::Metal { 1 } else { 0 };
        let mut bands: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        for (index, rect) in rects.iter().enumerate().filter(|(_, rect)| rect.layer == layer) {
            let [low, high] = [rect.edges[axis], rect.edges[axis + 2]].map(|edge| edge.div_euclid(BAND));
            for band in low..=high {
                bands.entry(band).or_default().push(index);
            }
        }
        for band in bands.values_mut() {
            band.sort_by_key(|&index| (rects[index].edges[1 - axis], index));
        }
        Self { rects, axis, bands }
    }

    /// All pairs whose distance is less than `distance`, each once or more, with that distance.
    fn near(&self, distance: i64, mut visit: impl FnMut(usize, usize, i64)) {
        let along = 1 - self.axis;
        let mut last: &[usize] = &[];
        let mut last_key = i64::MIN;
        for (&key, band) in &self.bands {
            self.within(band, band, along, distance, &mut visit);
            if last_key + 1 == key {
                self.within(last, band, along, distance, &mut visit);
                self.within(band, last, along, distance, &mut visit);
            }
            (last, last_key) = (band, key);
        }
    }

    /// Pairs of one of `first` and one of `second` that begins no earlier.
    fn within(
        &self,
        first: &[usize],
        second: &[usize],
        along: usize,
        distance: i64,
        visit: &mut impl FnMut(usize, usize, i64),
    ) {
        for &a in first {
            let [start, end] = [self.rects[a].edges[along], self.rects[a].edges[along + 2]];
            let from = second.partition_point(|&b| self.rects[b].edges[along] < start);
            for &b in second[from..].iter().take_while(|&&b| self.rects[b].edges[along] < end + distance) {
                let apart = apart(&self.rects[a], &self.rects[b]);
                if a != b && apart < distance {
                    visit(a, b, apart);
                }
            }
        }
    }

    /// A rectangle that holds a point.
    fn at(&self, point: [i64; 2]) -> Option<usize> {
        let band = self.bands.get(&point[self.axis].div_euclid(BAND))?;
        let end = band.partition_point(|&index| self.rects[index].edges[1 - self.axis] <= point[1 - self.axis]);
        band[..end].iter().rev().copied().find(|&index| holds(&self.rects[index].edges, point, 0))
    }
}

/// True if the edges hold a point with a margin.
fn holds(edges: &[i64; 4], point: [i64; 2], margin: i64) -> bool {
    edges[0] + margin <= point[0]
        && point[0] <= edges[2] - margin
        && edges[1] + margin <= point[1]
        && point[1] <= edges[3] - margin
}

/// The distance of two rectangles in the direction in which they are farther apart; 0 if they touch.
fn apart(a: &Rect, b: &Rect) -> i64 {
    let gap = |axis: usize| (a.edges[axis].max(b.edges[axis]) - a.edges[axis + 2].min(b.edges[axis + 2])).max(0);
    gap(0).max(gap(1))
}

/// The connections between rectangles: for each one, the lowest rectangle that it is connected
/// with. Rectangles of a layer are connected where they touch; a contact cut connects metal and
/// polysilicon.
pub fn extract(rects: &[Rect]) -> Vec<usize> {
    let mut sets = Sets((0..rects.len()).collect());
    let layers = [Layer::Metal, Layer::Poly].map(|layer| Bands::new(rects, layer));
    for bands in &layers {
        bands.near(1, |a, b, apart| {
            if apart == 0 {
                sets.join(a, b);
            }
        });
    }
    for (index, rect) in rects.iter().enumerate().filter(|(_, rect)| rect.layer == Layer::Cut) {
        let middle = [(rect.edges[0] + rect.edges[2]) / 2, (rect.edges[1] + rect.edges[3]) / 2];
        for bands in &layers {
            if let Some(other) = bands.at(middle) {
                sets.join(index, other);
            }
        }
    }
    (0..rects.len()).map(|index| sets.find(index)).collect()
}

/// Compares a layout with its netlist and with the design rules.
///
/// # Errors
/// The parts that differ, or break a rule.
pub fn check(layout: &Layout, netlist: &Netlist) -> Result<(), Errors> {
    let mut errors = Vec::new();
    let sets = extract(&layout.rects);
    connections(layout, netlist, &sets, &mut errors);
    rules(&layout.rects, &sets, &mut errors);
    boxes(layout, &mut errors);
    errors.truncate(MAX_ERRORS);
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Pins of one wire are connected, and those of different wires are not.
fn connections(layout: &Layout, netlist: &Netlist, sets: &[usize], errors: &mut Errors) {
    let metal = Bands::new(&layout.rects, Layer::Metal);
    let mut by_wire: BTreeMap<Wire, usize> = BTreeMap::new();
    let mut by_set: BTreeMap<usize, Wire> = BTreeMap::new();
    let mut meet = |wire: Wire, set: usize, errors: &mut Errors| {
        if *by_wire.entry(wire).or_insert(set) != set {
            errors.push(format!("{wire:?} is open"));
        }
        let other = *by_set.entry(set).or_insert(wire);
        if other != wire {
            errors.push(format!("{wire:?} and {other:?} are connected"));
        }
    };
    let mut pins: Vec<Vec<Wire>> = vec![Vec::new(); netlist.cells.len()];
    for cell in &layout.boxes {
        for pin in &cell.pins {
            pins[cell.cell as usize].push(pin.wire);
            match metal.at(pin.at) {
                Some(rect) => meet(pin.wire, sets[rect], errors),
                None => errors.push(format!("{:?} does not reach {} {}", pin.wire, cell.kind, cell.cell)),
            }
        }
    }
    for (index, rect) in layout.rects.iter().enumerate() {
        if matches!(rect.wire, Wire::Power | Wire::Ground | Wire::Clock(_)) {
            meet(rect.wire, sets[index], errors);
        }
    }
    let readers = netlist.readers();
    for (index, cell) in netlist.cells.iter().enumerate() {
        let controls = pins[index].iter().filter(|wire| matches!(wire, Wire::Control(_)));
        let read = cell.outputs.iter().filter(|net| !readers[net.index()].is_empty());
        if controls.count() != cell.inputs.len() + read.count() {
            errors.push(format!("cell {index} has other pins than in the netlist"));
        }
    }
}

/// Widths, distances and contacts.
fn rules(rects: &[Rect], sets: &[usize], errors: &mut Errors) {
    let layers = [Layer::Metal, Layer::Poly].map(|layer| (layer, Bands::new(rects, layer)));
    for (layer, bands) in &layers {
        bands.near(layer.spacing(), |a, b, apart| {
            if sets[a] != sets[b] {
                errors.push(format!("{:?} and {:?} are {apart} λ apart", rects[a], rects[b]));
            }
        });
    }
    for rect in rects {
        let [left, bottom, right, top] = rect.edges;
        if (right - left).min(top - bottom) < rect.layer.width() {
            errors.push(format!("{rect:?} is too narrow"));
        }
        if rect.layer == Layer::Cut {
            for (layer, bands) in &layers {
                let corners = [[left, bottom], [right, top]];
                let middle = [(left + right) / 2, (bottom + top) / 2];
                let band = bands.bands.get(&middle[bands.axis].div_euclid(BAND));
                let surrounded = band
                    .into_iter()
                    .flatten()
                    .any(|&index| corners.iter().all(|corner| holds(&rects[index].edges, *corner, CUT_MARGIN)));
                if !surrounded {
                    errors.push(format!("{layer:?} does not surround {rect:?}"));
                }
            }
        }
    }
}

/// Boxes do not overlap, and no polysilicon crosses one.
fn boxes(layout: &Layout, errors: &mut Errors) {
    let overlap = |a: &[i64; 4], b: &[i64; 4]| a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
    let mut sorted: Vec<&[i64; 4]> = layout.boxes.iter().map(|cell| &cell.edges).collect();
    sorted.sort();
    for (index, a) in sorted.iter().enumerate() {
        for b in sorted[index + 1..].iter().take_while(|b| b[0] < a[2]) {
            if overlap(a, b) {
                errors.push(format!("the boxes {a:?} and {b:?} overlap"));
            }
        }
    }
    let widest = sorted.iter().map(|edges| edges[2] - edges[0]).max().unwrap_or(0);
    for rect in layout.rects.iter().filter(|rect| rect.layer == Layer::Poly) {
        let from = sorted.partition_point(|edges| edges[0] < rect.edges[0] - widest);
        if sorted[from..].iter().take_while(|edges| edges[0] < rect.edges[2]).any(|edges| overlap(edges, &rect.edges)) {
            errors.push(format!("{rect:?} crosses a cell"));
        }
    }
}
