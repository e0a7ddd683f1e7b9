//! Scan conversion processors (§3.3.2): from the edge lists of a polygon to its segments.
//!
//! An entry of an edge list is a vertex, and the slopes per scan line of the edge above it. Two
//! trackers add the slopes of the left and of the right side.
//!
//! The thesis gives all numbers of an entry 12 bits. A slope in whole steps is wrong by up to half a
//! step on each scan line, which adds up to a sixteenth of the screen over 512 of them; slopes have
//! fraction bits here, and so have the trackers.

use super::segment::{End, FIELDS, STEPS, Segment};

/// Values of an entry beside y: x, z and the fields.
const VALUES: usize = 2 + FIELDS;

/// A vertex of an edge list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    line: i32,
    values: [u16; VALUES],
    /// Per scan line, with fraction bits; meaningless in the first entry of a list.
    slopes: [i32; VALUES],
}

/// The edge lists of a polygon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    left: Vec<Entry>,
    right: Vec<Entry>,
    /// The polygon.
    pub source: u32,
}

impl Edges {
    /// The lists that a transformation and clipping processor sent: `None` if the polygon covers no
    /// scan line.
    pub fn received(words: &[i32], fields: usize, source: u32) -> Option<Self> {
        let size = 1 + 2 * (2 + fields);
        let entry = |words: &[i32]| {
            let mut entry = Entry { line: words[0], values: [0; VALUES], slopes: [0; VALUES] };
            for (k, pair) in words[1..].chunks_exact(2).enumerate().take(VALUES) {
                entry.values[k] = pair[0].clamp(0, i32::from(u16::MAX)) as u16;
                entry.slopes[k] = pair[1];
            }
            entry
        };
        let mut entries: Vec<Entry> = words.chunks_exact(size).map(entry).collect();
        let lines = || entries.iter().map(|e| e.line);
        let (top, bottom) = (lines().min()?, lines().max()?);
        // The second list begins where y falls back to the top.
        let second = 1 + entries.windows(2).position(|pair| pair[1].line < pair[0].line)?;
        let right = entries.split_off(second);
        (top < bottom).then_some(Self { left: entries, right, source })
    }

    /// The scan lines that it covers: the first, and the one after the last.
    pub fn lines(&self) -> [i32; 2] {
        let first = self.left.first().map_or(0, |e| e.line);
        let bottom = |list: &[Entry]| list.iter().map(|e| e.line).max().unwrap_or(first);
        [first, bottom(&self.left).min(bottom(&self.right))]
    }

    /// Entries of both lists.
    pub fn entries(&self) -> usize {
        self.left.len() + self.right.len()
    }
}

/// One side of a polygon on the current scan line.
#[derive(Clone, Debug)]
struct Tracker {
    values: [i64; VALUES],
    slopes: [i32; VALUES],
    /// Where the edge ends, and which entry that is.
    bottom: i32,
    next: usize,
}

impl Tracker {
    /// Takes the entry at which the edge ends, and the slopes of the one after it. False if there is
    /// none.
    fn turn(&mut self, list: &[Entry], slope_bits: u32) -> bool {
        let (Some(at), Some(next)) = (list.get(self.next), list.get(self.next + 1)) else { return false };
        self.values = at.values.map(|value| i64::from(value) << slope_bits);
        self.slopes = next.slopes;
        self.bottom = next.line;
        self.next += 1;
        true
    }

    fn end(&self, slope_bits: u32) -> End {
        let half = 1i64 << slope_bits >> 1;
        let value = |k: usize, largest: i64| ((self.values[k] + half) >> slope_bits).clamp(0, largest) as u16;
        let x = value(0, i64::from(STEPS) - 1);
        let fields = std::array::from_fn(|k| value(2 + k, i64::from(STEPS) - 1));
        End { x, z: value(1, i64::from(u16::MAX)), fields }
    }

    fn advance(&mut self) {
        self.values.iter_mut().zip(self.slopes).for_each(|(value, slope)| *value += i64::from(slope));
    }
}

/// A scan converter with a polygon.
#[derive(Clone, Debug)]
pub struct Converter {
    edges: Edges,
    line: i32,
    left: Tracker,
    right: Tracker,
    slope_bits: u32,
}

impl Converter {
    /// One that begins a frame.
    pub fn new(edges: Edges, slope_bits: u32) -> Self {
        let line = edges.lines()[0];
        let tracker = || Tracker { values: [0; VALUES], slopes: [0; VALUES], bottom: line, next: 0 };
        Self { line, left: tracker(), right: tracker(), edges, slope_bits }
    }

    /// The scan line of the next segment.
    pub fn line(&self) -> i32 {
        self.line
    }

    /// The next segment; `None` at the bottom.
    pub fn segment(&mut self) -> Option<Segment> {
        // Horizontal edges end where they begin.
        while self.left.bottom <= self.line {
            if !self.left.turn(&self.edges.left, self.slope_bits) {
                return None;
            }
        }
        while self.right.bottom <= self.line {
            if !self.right.turn(&self.edges.right, self.slope_bits) {
                return None;
            }
        }
        let [a, b] = [self.left.end(self.slope_bits), self.right.end(self.slope_bits)];
        // Rounding can exchange the sides of narrow polygons.
        let [left, right] = if a.x <= b.x { [a, b] } else { [b, a] };
        let segment = Segment { y: self.line.clamp(0, STEPS) as u16, left, right, source: self.edges.source };
        self.left.advance();
        self.right.advance();
        self.line += 1;
        Some(segment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of lists without fields: line, x and its slope.
    fn edges(left: &[[i32; 3]], right: &[[i32; 3]]) -> Option<Edges> {
        let words: Vec<i32> = left.iter().chain(right).flat_map(|&[y, x, dx]| [y, x, dx, 100, 0]).collect();
        Edges::received(&words, 0, 3)
    }

    fn spans(edges: Edges, slope_bits: u32) -> Vec<[u16; 3]> {
        let mut converter = Converter::new(edges, slope_bits);
        std::iter::from_fn(|| converter.segment()).map(|s| [s.y, s.left.x, s.right.x]).collect()
    }

    #[test]
    fn a_triangle_grows_by_its_slopes_and_ends_before_its_bottom_line() {
        let edges = edges(&[[2, 100, 0], [5, 70, -10]], &[[2, 100, 0], [5, 160, 20]]).expect("edges");
        assert_eq!(edges.lines(), [2, 5]);
        assert_eq!(spans(edges, 0), [[2, 100, 100], [3, 90, 120], [4, 80, 140]]);
    }

    #[test]
    fn horizontal_edges_are_passed_over_at_the_top() {
        let square = edges(&[[4, 10, 0], [6, 10, 0]], &[[4, 10, 0], [4, 90, 0], [6, 90, 0], [6, 10, 0]]);
        assert_eq!(spans(square.expect("edges"), 0), [[4, 10, 90], [5, 10, 90]]);
    }

    #[test]
    fn sides_change_their_edges_at_different_lines() {
        let kite = edges(&[[0, 50, 0], [2, 40, -5], [4, 50, 5]], &[[0, 50, 0], [1, 60, 10], [4, 51, -3]]);
        assert_eq!(spans(kite.expect("edges"), 0), [[0, 50, 50], [1, 45, 60], [2, 40, 57], [3, 45, 54]]);
    }

    #[test]
    fn a_polygon_between_two_lines_has_no_segments() {
        assert_eq!(edges(&[[4, 10, 0], [4, 20, 0]], &[[4, 10, 0], [4, 20, 0]]), None);
        assert_eq!(edges(&[], &[]), None);
    }

    #[test]
    fn slopes_of_twelve_bits_drift_and_slopes_with_fractions_do_not() {
        // From step 0 to 1228 over 512 lines: 2.4 steps a line.
        let long = |bits: u32| {
            let slope = (2.4 * f64::from(1u32 << bits)).round() as i32;
            let list = [[0, 0, 0], [512, 1228, slope]];
            spans(edges(&list, &list).expect("edges"), bits).last().map(|s| i32::from(s[1]))
        };
        let exact = (2.4 * 511.0) as i32;
        assert!((long(12).expect("lines") - exact).abs() <= 1);
        // As printed, the edge is off by 25 of 512 pixels at its bottom.
        assert!((long(0).expect("lines") - exact).abs() > 200);
    }
}
