//! Routing, and the geometry that comes of it.
//!
//! The chip is a stack of slots. Each slot has ground, φ2, tracks for signals, φ1 and the supply as
//! horizontal metal lines (Ullner 1983, Figure C-34), and the cells hang on them. Wires run
//! vertically in polysilicon in the channels between the columns of cells, and horizontally in
//! metal, through the cells where they pass a column: the slots are made as high as the most such
//! wires need.
//!
//! The tracks of a slot are two for inputs, two for outputs, and pairs for wires that pass, of which
//! columns with an even number use the first and those with an odd number the second. So no two
//! wires meet a channel at the same height from both sides, and the left-edge algorithm fills its
//! vertical tracks without constraints.

use super::geometry::{CellBox, Layer, Layout, LayoutOptions, PinPlace, Rect, Wire};
use super::place::{Placement, place};
use super::sizes;
use crate::circuit::serial::netlist::Netlist;
use shadewright_base::text::diagnostics::Diagnostic;
use std::collections::BTreeMap;

/// λ of a signal's metal line, which is as wide as a contact.
const LINE: i64 = 4;
/// λ between the middles of two horizontal tracks.
const PITCH: i64 = 7;
/// λ between the middles of two vertical tracks.
const COLUMN_PITCH: i64 = 6;
/// λ of a supply line.
const SUPPLY: i64 = 8;
/// λ between lines.
const GAP: i64 = 3;
/// λ of the vertical lines of the clocks.
const CLOCK: i64 = 4;
/// Tracks of a slot for the pins of cells.
const PIN_TRACKS: i64 = 4;
/// λ between the edge of a channel and its outermost vertical track.
const EDGE: i64 = 6;

/// The most rectangles of a layout.
const MAX_RECTS: usize = 8_000_000;

/// Rectangles of a wire where it ends at a pin, and where it passes a column, at most.
const RECTS_OF_TERMINAL: usize = 6;
/// As [`RECTS_OF_TERMINAL`], where it passes a column: in both channels beside that.
const RECTS_OF_FEED: usize = 11;

/// A point where a wire enters a channel: at its left or right edge, in a slot, on a track.
#[derive(Clone, Copy, Debug)]
struct Terminal {
    channel: usize,
    right: bool,
    slot: usize,
    track: i64,
}

/// A wire that passes a column.
#[derive(Clone, Copy, Debug)]
struct Feed {
    column: usize,
    slot: usize,
    pair: i64,
}

/// The terminals and the feeds of a wire.
#[derive(Clone, Debug, Default)]
struct Path {
    terminals: Vec<Terminal>,
    feeds: Vec<Feed>,
}

/// Places the cells of a netlist and routes its wires.
///
/// # Errors
/// A layout that is too large.
pub fn place_and_route(netlist: &Netlist, options: LayoutOptions) -> Result<Layout, Diagnostic> {
    if netlist.cells.is_empty() {
        return Ok(Layout::default());
    }
    let plans = counts(netlist.cells.len()).into_iter().filter_map(|count| Plan::new(netlist, count, options));
    let Some(plan) = plans.min_by(|a, b| a.cost(options).total_cmp(&b.cost(options))) else {
        return Err(Diagnostic::error(format!("the layout has more than {MAX_RECTS} rectangles")));
    };
    let Plan { placement, paths, floor, tracks } = plan;
    let used = sizes::wires(netlist);
    let mut layout = Layout { size: [floor.right, floor.top], ..Layout::default() };
    draw_cells(&mut layout, netlist, &placement, &used, &floor);
    draw_wires(&mut layout, &paths, &tracks, &floor);
    draw_supply(&mut layout, &floor);
    Ok(layout)
}

/// Numbers of columns that are tried: all small ones, then in steps of a sixth; of a large netlist
/// only some near a square.
fn counts(cells: usize) -> Vec<usize> {
    let near = (cells as f64).sqrt() as usize;
    let (low, high) = if cells > 4000 { (near / 2, near) } else { (1, (4 * near).min(cells)) };
    let mut counts = Vec::new();
    let mut count = low.max(1);
    while count <= high {
        counts.push(count);
        count += (count / 6).max(1);
    }
    counts
}

/// A placement, and the places of its wires.
struct Plan {
    placement: Placement,
    paths: BTreeMap<Wire, Path>,
    floor: Floor,
    /// The vertical track of each wire in each channel.
    tracks: BTreeMap<(Wire, usize), i64>,
}

impl Plan {
    /// None where that would be more than [`MAX_RECTS`].
    fn new(netlist: &Netlist, count: usize, options: LayoutOptions) -> Option<Self> {
        let placement = place(netlist, count, options);
        let mut paths = terminals(netlist, &placement, &sizes::wires(netlist));
        if rects(&paths) > MAX_RECTS {
            return None;
        }
        let pairs = feed(&mut paths, &placement);
        let mut floor = Floor::new(netlist, &placement, &pairs);
        let (tracks, counts) = channels(&paths, &floor, placement.columns.len() + 1);
        floor.set_channels(&counts);
        Some(Self { placement, paths, floor, tracks })
    }

    /// The area, and how far the shape is from the one that is wanted.
    fn cost(&self, options: LayoutOptions) -> f64 {
        let (width, height) = (self.floor.right as f64, self.floor.top as f64);
        (width * height).ln() + 0.7 * (width / height / options.aspect.clamp(0.1, 10.0)).ln().abs()
    }
}

/// The terminals of each wire at the pins of cells.
fn terminals(netlist: &Netlist, placement: &Placement, used: &[[bool; 2]]) -> BTreeMap<Wire, Path> {
    let mut paths: BTreeMap<Wire, Path> = BTreeMap::new();
    for cell in 0..netlist.cells.len() {
        let column = placement.column[cell];
        for (side, wires) in sizes::pins(netlist, cell, used).into_iter().enumerate() {
            for (pin, wire) in wires.into_iter().enumerate() {
                paths.entry(wire).or_default().terminals.push(Terminal {
                    channel: column + side,
                    right: side == 0,
                    slot: placement.slot[cell] + pin / 2,
                    track: (pin % 2 + 2 * side) as i64,
                });
            }
        }
    }
    paths
}

/// The rectangles of all wires, at most, before any of them has its places.
fn rects(paths: &BTreeMap<Wire, Path>) -> usize {
    let of_path = |path: &Path| {
        let channels = path.terminals.iter().map(|terminal| terminal.channel);
        let (first, last) = (channels.clone().min().unwrap_or(0), channels.max().unwrap_or(0));
        RECTS_OF_TERMINAL * path.terminals.len() + RECTS_OF_FEED * (last - first)
    };
    paths.values().map(of_path).sum()
}

/// Where wires pass columns, and the pairs of tracks that each slot needs for that. A wire passes in
/// the slot where it makes the least way, among those that have room already if one is near.
fn feed(paths: &mut BTreeMap<Wire, Path>, placement: &Placement) -> Vec<i64> {
    let slots = placement.height.max(1);
    let mut pairs = vec![0i64; slots];
    let mut taken = vec![vec![0i64; slots]; placement.columns.len()];
    for path in paths.values_mut() {
        let (mut first, mut last) = (usize::MAX, 0);
        for terminal in &path.terminals {
            (first, last) = (first.min(terminal.channel), last.max(terminal.channel));
        }
        let mut wished: Vec<usize> = path.terminals.iter().map(|terminal| terminal.slot).collect();
        wished.sort_unstable();
        let Some(&wish) = wished.get(wished.len() / 2) else { continue };
        let mut at = wish;
        for (column, taken) in taken.iter_mut().enumerate().take(last).skip(first) {
            let cost = |slot: usize| {
                let grows = if taken[slot] >= pairs[slot] { 6 } else { 0 };
                slot.abs_diff(at) + slot.abs_diff(wish) + grows + taken[slot] as usize / 2
            };
            let best = (0..slots).min_by_key(|&slot| cost(slot)).unwrap_or(0);
            path.feeds.push(Feed { column, slot: best, pair: taken[best] });
            taken[best] += 1;
            pairs[best] = pairs[best].max(taken[best]);
            at = best;
        }
    }
    pairs
}

/// Where slots and columns are.
struct Floor {
    /// The bottom of each slot.
    slots: Vec<i64>,
    /// Signal tracks of each slot.
    tracks: Vec<i64>,
    /// The width of each column.
    widths: Vec<i64>,
    /// The left edge of each channel; then the right edge of the last one.
    channels: Vec<i64>,
    /// The right edge of each channel.
    ends: Vec<i64>,
    top: i64,
    right: i64,
}

impl Floor {
    fn new(netlist: &Netlist, placement: &Placement, pairs: &[i64]) -> Self {
        let tracks: Vec<i64> = pairs.iter().map(|pairs| PIN_TRACKS + 2 * pairs).collect();
        let mut slots = Vec::new();
        let mut y = GAP;
        for tracks in &tracks {
            slots.push(y);
            y += Self::height(*tracks) + GAP;
        }
        let widths = placement
            .columns
            .iter()
            .map(|column| {
                column.iter().map(|cell| sizes::size(&netlist.cells[*cell as usize].kind).0).max().unwrap_or(0)
            })
            .collect();
        Self { slots, tracks, widths, channels: Vec::new(), ends: Vec::new(), top: y, right: 0 }
    }

    /// The height of a slot: supply, clock, signals, clock, supply.
    fn height(tracks: i64) -> i64 {
        2 * SUPPLY + 2 * (LINE + GAP) + GAP + tracks * PITCH
    }

    /// The channels, given how many vertical tracks each has.
    fn set_channels(&mut self, tracks: &[i64]) {
        // At the left, the vertical lines of the supply and of the clocks.
        let mut x = GAP + 2 * SUPPLY + 2 * (CLOCK + 2 * GAP) + GAP;
        for (index, tracks) in tracks.iter().enumerate() {
            self.channels.push(x);
            x += 2 * EDGE + COLUMN_PITCH * tracks;
            self.ends.push(x);
            x += self.widths.get(index).copied().unwrap_or(0);
        }
        self.right = x + GAP + 2 * SUPPLY + GAP;
    }

    /// The middle of a signal track.
    fn track(&self, slot: usize, track: i64) -> i64 {
        self.slots[slot] + SUPPLY + GAP + LINE + GAP + track * PITCH + LINE / 2
    }

    /// The middle of the track of a wire that passes a column.
    fn passing(&self, feed: Feed) -> i64 {
        self.track(feed.slot, PIN_TRACKS + 2 * feed.pair + (feed.column % 2) as i64)
    }

    /// The middle of a vertical track.
    fn vertical(&self, channel: usize, track: i64) -> i64 {
        self.channels[channel] + EDGE + COLUMN_PITCH * track + COLUMN_PITCH / 2
    }
}

/// The heights at which a wire enters a channel, from the left and from the right.
fn entries(path: &Path, floor: &Floor) -> BTreeMap<usize, Vec<(bool, i64)>> {
    let mut entries: BTreeMap<usize, Vec<(bool, i64)>> = BTreeMap::new();
    for terminal in &path.terminals {
        let y = floor.track(terminal.slot, terminal.track);
        entries.entry(terminal.channel).or_default().push((terminal.right, y));
    }
    for feed in &path.feeds {
        let y = floor.passing(*feed);
        entries.entry(feed.column).or_default().push((true, y));
        entries.entry(feed.column + 1).or_default().push((false, y));
    }
    entries
}

/// The vertical track of each wire in each channel, and how many tracks each channel has: the
/// left-edge algorithm.
fn channels(paths: &BTreeMap<Wire, Path>, floor: &Floor, count: usize) -> (BTreeMap<(Wire, usize), i64>, Vec<i64>) {
    let mut spans: Vec<Vec<(i64, i64, Wire)>> = vec![Vec::new(); count];
    for (&wire, path) in paths {
        for (channel, entries) in entries(path, floor) {
            let low = entries.iter().map(|entry| entry.1).min().unwrap_or(0);
            let high = entries.iter().map(|entry| entry.1).max().unwrap_or(0);
            spans[channel].push((low, high, wire));
        }
    }
    let mut chosen = BTreeMap::new();
    let mut counts = Vec::new();
    for (channel, mut spans) in spans.into_iter().enumerate() {
        spans.sort_unstable();
        let mut ends: Vec<i64> = Vec::new();
        for (low, high, wire) in spans {
            let track = ends.iter().position(|end| *end < low).unwrap_or(ends.len());
            if track == ends.len() {
                ends.push(high);
            } else {
                ends[track] = high;
            }
            chosen.insert((wire, channel), track as i64);
        }
        counts.push(ends.len() as i64);
    }
    (chosen, counts)
}

/// The boxes, and the lines from pins to the edge of their column.
fn draw_cells(layout: &mut Layout, netlist: &Netlist, placement: &Placement, used: &[[bool; 2]], floor: &Floor) {
    for (index, cell) in netlist.cells.iter().enumerate() {
        let column = placement.column[index];
        let (left, width) = (floor.ends[column], sizes::size(&cell.kind).0);
        let (first, last) = (placement.slot[index], placement.slot[index] + placement.slots[index] - 1);
        let top = floor.slots[last] + Floor::height(floor.tracks[last]);
        let edges = [left, floor.slots[first], left + width, top];
        let mut pins = Vec::new();
        for (side, wires) in sizes::pins(netlist, index, used).into_iter().enumerate() {
            for (pin, wire) in wires.into_iter().enumerate() {
                let y = floor.track(first + pin / 2, (pin % 2 + 2 * side) as i64);
                pins.push(PinPlace { wire, at: [if side == 0 { left } else { left + width }, y] });
                let (edge, end) = (left + width, left + floor.widths[column]);
                if side == 1 && edge < end {
                    line(layout, wire, [edge, end], y);
                }
            }
        }
        layout.cell_area += width * (top - edges[1]);
        let (kind, name) = (cell.kind.name(), cell.name.clone());
        layout.boxes.push(CellBox { cell: index as u32, kind, name, edges, pins });
    }
}

/// A horizontal line.
fn line(layout: &mut Layout, wire: Wire, x: [i64; 2], y: i64) {
    layout.rects.push(Rect::new(Layer::Metal, wire, x, [y - LINE / 2, y + LINE / 2]));
    layout.wire_length += (x[1] - x[0]).abs();
}

/// A contact of metal and polysilicon.
fn contact(layout: &mut Layout, wire: Wire, x: i64, y: i64) {
    for (layer, half) in [(Layer::Metal, 2), (Layer::Poly, 2), (Layer::Cut, 1)] {
        layout.rects.push(Rect::new(layer, wire, [x - half, x + half], [y - half, y + half]));
    }
}

fn draw_wires(layout: &mut Layout, paths: &BTreeMap<Wire, Path>, tracks: &BTreeMap<(Wire, usize), i64>, floor: &Floor) {
    for (&wire, path) in paths {
        for (channel, entries) in entries(path, floor) {
            let Some(&track) = tracks.get(&(wire, channel)) else { continue };
            let x = floor.vertical(channel, track);
            let low = entries.iter().map(|entry| entry.1).min().unwrap_or(0);
            let high = entries.iter().map(|entry| entry.1).max().unwrap_or(0);
            layout.rects.push(Rect::new(Layer::Poly, wire, [x - 1, x + 1], [low, high]));
            layout.wire_length += high - low;
            for (right, y) in entries {
                let edge = if right { floor.ends[channel] } else { floor.channels[channel] };
                line(layout, wire, [x, edge], y);
                contact(layout, wire, x, y);
            }
        }
        for feed in &path.feeds {
            let left = floor.ends[feed.column];
            line(layout, wire, [left, left + floor.widths[feed.column]], floor.passing(*feed));
        }
    }
}

/// The supply and the clocks: lines through all slots; the supply from both sides, as two combs, and
/// the clocks from vertical lines at the left.
fn draw_supply(layout: &mut Layout, floor: &Floor) {
    let (left, right) = (GAP, floor.right - GAP);
    let clocks = [0, 1].map(|clock| left + 2 * SUPPLY + GAP + clock * (CLOCK + 2 * GAP) + CLOCK / 2);
    let end = right - 2 * SUPPLY - GAP;
    for (slot, bottom) in floor.slots.iter().enumerate() {
        let top = bottom + Floor::height(floor.tracks[slot]);
        let mut metal = |wire, x: [i64; 2], y: [i64; 2]| layout.rects.push(Rect::new(Layer::Metal, wire, x, y));
        metal(Wire::Ground, [left + 2 * SUPPLY + GAP, right], [*bottom, bottom + SUPPLY]);
        metal(Wire::Power, [left, end], [top - SUPPLY, top]);
        let second = bottom + SUPPLY + GAP;
        let first = top - SUPPLY - GAP - LINE;
        for (clock, y) in [(0, first), (1, second)] {
            let x = clocks[clock];
            let wire = Wire::Clock(clock as u8 + 1);
            layout.rects.push(Rect::new(Layer::Metal, wire, [x, end], [y, y + LINE]));
            contact(layout, wire, x, y + LINE / 2);
        }
    }
    layout.rects.push(Rect::new(Layer::Metal, Wire::Power, [left, left + 2 * SUPPLY], [GAP, floor.top - GAP]));
    layout.rects.push(Rect::new(Layer::Metal, Wire::Ground, [right - 2 * SUPPLY, right], [GAP, floor.top - GAP]));
    for (clock, x) in clocks.into_iter().enumerate() {
        let x = [x - CLOCK / 2, x + CLOCK / 2];
        layout.rects.push(Rect::new(Layer::Poly, Wire::Clock(clock as u8 + 1), x, [GAP, floor.top - GAP]));
    }
}
