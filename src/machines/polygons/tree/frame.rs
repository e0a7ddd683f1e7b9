//! A group of polygons through a tree, some scan lines at a time.

use super::flow::{self, Layer, Line};
use super::scan::{Converter, Edges};
use super::segment::Segment;
use super::shape::Shape;
use super::timing::{Display, Network, Times};
use crate::rays::events::Picoseconds;
use rayon::prelude::*;

/// Scan lines whose segments are in memory at once.
const AT_ONCE: u32 = 32;

/// A leaf's scan converter with its polygons, from top to bottom.
#[derive(Clone, Debug)]
struct Leaf {
    position: u32,
    polygons: std::vec::IntoIter<Edges>,
    current: Option<Converter>,
    slope_bits: u32,
}

impl Leaf {
    /// The segments on lines before `end`.
    fn segments(&mut self, end: u32, mut each: impl FnMut(Segment)) {
        loop {
            let Some(converter) = &mut self.current else {
                let Some(edges) = self.polygons.next() else { return };
                self.current = Some(Converter::new(edges, self.slope_bits));
                continue;
            };
            if converter.line() >= end as i32 {
                return;
            }
            match converter.segment() {
                Some(segment) => each(segment),
                None => self.current = None,
            }
        }
    }
}

/// The leaves of a group, with what they hold.
#[derive(Clone, Debug)]
pub struct Leaves {
    leaves: Vec<Leaf>,
}

impl Leaves {
    /// The polygons of each leaf of a tree; leaves beyond the tree's are left out.
    pub fn new(shape: &Shape, polygons: Vec<Vec<Edges>>, slope_bits: u32) -> Self {
        let leaf = |(leaf, polygons): (u32, Vec<Edges>)| Leaf {
            position: shape.position(leaf),
            polygons: polygons.into_iter(),
            current: None,
            slope_bits,
        };
        let mut leaves: Vec<Leaf> = (0..shape.leaves).zip(polygons).map(leaf).collect();
        leaves.sort_by_key(|leaf| leaf.position);
        Self { leaves }
    }

    /// The same leaves in another tree.
    pub fn placed(&self, from: &Shape, to: &Shape) -> Self {
        let mut leaves = self.leaves.clone();
        // Reversing the bits again gives the number of the leaf.
        for leaf in &mut leaves {
            leaf.position = to.position(from.position(leaf.position));
        }
        leaves.sort_by_key(|leaf| leaf.position);
        Self { leaves }
    }

    /// Leaves that hold a polygon.
    pub fn occupied(&self) -> u64 {
        self.leaves.iter().filter(|leaf| leaf.polygons.len() > 0).count() as u64
    }
}

/// The results of a group.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Sums by layer.
    pub layers: Vec<Layer>,
    /// For each layer, the time for which its units were at work, and waited for room.
    pub busy: Vec<Picoseconds>,
    /// See [`Summary::busy`].
    pub blocked: Vec<Picoseconds>,
    /// When the last line ended.
    pub end: Picoseconds,
    /// Lines that were late at a root.
    pub missed: u64,
    /// The longest delay.
    pub latest: Picoseconds,
    /// Segments that splitters sent into a full queue.
    pub overflows: u64,
    /// The most segments in a splitter's queue.
    pub deepest: u64,
    /// The most segments of a line over all roots, and at one root.
    pub most: [u64; 2],
}

/// The display's times for an image of so many scan lines.
pub fn beam(frame: Picoseconds, lines: u32, lead: u32) -> Display {
    let line = frame / u64::from(lines.max(1));
    Display::Beam { line, lead: line * u64::from(lead) }
}

/// Sends a group through a tree, and calls `roots` with some scan lines at a time: the number of the
/// first, and all strips of each.
///
/// # Errors
/// The errors of `roots`.
pub fn run<E>(
    shape: &Shape,
    mut leaves: Leaves,
    lines: u32,
    (times, display, bits): (Times, Display, u32),
    mut roots: impl FnMut(u32, Vec<Vec<Vec<Segment>>>) -> Result<(), E>,
) -> Result<Summary, E> {
    let mut network = Network::new(shape, times, display);
    let mut summary = Summary { layers: vec![Layer::default(); shape.layers() as usize], ..Summary::default() };
    for first in (0..lines).step_by(AT_ONCE as usize) {
        let end = (first + AT_ONCE).min(lines);
        let mut inputs: Vec<Vec<(u32, Segment)>> = vec![Vec::new(); (end - first) as usize];
        for leaf in &mut leaves.leaves {
            let position = leaf.position;
            leaf.segments(end, |segment| {
                if let Some(line) = u32::from(segment.y).checked_sub(first).and_then(|y| inputs.get_mut(y as usize)) {
                    line.push((position, segment));
                }
            });
        }
        let done: Vec<Line> = inputs.par_iter().map(|inputs| flow::line(shape, inputs, bits)).collect();
        for line in &done {
            network.line(shape, line);
            summary.layers.iter_mut().zip(&line.layers).for_each(|(sum, more)| sum.add(more));
            let counts = || line.roots.iter().map(|strip| strip.len() as u64);
            summary.most[0] = summary.most[0].max(counts().sum());
            summary.most[1] = summary.most[1].max(counts().max().unwrap_or(0));
        }
        roots(first, done.into_iter().map(|line| line.roots).collect())?;
    }
    Ok(Summary {
        end: network.end(),
        missed: network.missed,
        latest: network.latest,
        overflows: network.overflows,
        deepest: network.deepest,
        busy: network.busy,
        blocked: network.blocked,
        ..summary
    })
}
