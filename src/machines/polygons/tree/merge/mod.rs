//! Merging processors (§3.3.3): two streams of segments that do not overlap become one, without what
//! is hidden.
//!
//! Integer arithmetic is exact, but for the parameters of breaks, which have as many fraction bits
//! as the hardware's quotients. Three of the printed formulas are not those that work:
//!
//! - The key that finds the first visible segment is `(y, x, z)`; the text puts z before x.
//! - In figure 3-22, `b_O = x_OL − x_OR`, as `b_V` is; the printed sign is the opposite.
//! - At an intersection, the visible segment remains up to the step at which it is still in front,
//!   and both right parts begin at the next. The printed parts leave that step to a segment that is
//!   then discarded, or to a sliver.

use super::segment::Segment;

/// The configurations of two segments that a step of the algorithm finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// The visible segment ends before the other begins, or there is no other.
    Disjoint,
    /// The segments overlap; one is broken.
    Overlapping,
    /// The other segment is hidden, and discarded.
    Hidden,
    /// The segments intersect.
    Intersecting,
}

impl Case {
    /// All.
    pub const ALL: [Self; 4] = [Self::Disjoint, Self::Overlapping, Self::Hidden, Self::Intersecting];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disjoint => "non-overlapping",
            Self::Overlapping => "overlapping",
            Self::Hidden => "hidden",
            Self::Intersecting => "intersecting",
        }
    }
}

/// The action of a step of a merging processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The configuration.
    pub case: Case,
    /// The input whose segment is used up: 0 or 1.
    pub taken: Option<u8>,
    /// True if a segment goes to the output.
    pub emitted: bool,
}

/// Devices of a merging processor (figure 3-22): the multiplications of its first stage, which are
/// ten for tests and two more for intersections, or those of its last, which are one for z and each
/// field of three breaks.
pub fn multipliers(fields: u32) -> u32 {
    (3 * (1 + fields)).max(12)
}

/// Dividers of a merging processor: one for each break.
pub const DIVIDERS: u32 = 3;

/// The line of a segment in the plane of its scan line: `a x + b z + c > 0` in front of it.
#[derive(Clone, Copy)]
struct Line {
    a: i64,
    b: i64,
    c: i64,
}

impl Line {
    fn through([x1, z1]: [i64; 2], [x2, z2]: [i64; 2]) -> Self {
        Self { a: z2 - z1, b: x1 - x2, c: x2 * z1 - x1 * z2 }
    }

    fn from_segment(s: &Segment) -> Self {
        Self::through(left(s), right(s))
    }

    fn at(self, [x, z]: [i64; 2]) -> i64 {
        self.a * x + self.b * z + self.c
    }
}

fn left(s: &Segment) -> [i64; 2] {
    [s.left.x.into(), s.left.z.into()]
}

fn right(s: &Segment) -> [i64; 2] {
    [s.right.x.into(), s.right.z.into()]
}

/// The order in which left ends are scanned.
fn key(s: &Segment) -> (u16, u16, u16) {
    (s.y, s.left.x, s.left.z)
}

/// The result of the five tests; `visible` is the first of the two segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MergeResult {
    /// Step 2: the visible segment ends first.
    Apart,
    /// Step 3: the visible segment disappears behind the left end of the other.
    Covered,
    /// Step 4: they intersect; the visible one is in front up to this step.
    Crossing(i32),
    /// Step 5: the other protrudes on the right.
    Protruding,
    /// Step 6: the other is hidden.
    Behind,
}

fn examine(visible: &Segment, other: &Segment) -> MergeResult {
    if (visible.y, visible.right.x) < (other.y, other.left.x) {
        return MergeResult::Apart;
    }
    let line = Line::from_segment(visible);
    if line.at(left(other)) > 0 && visible.left.x < other.left.x {
        return MergeResult::Covered;
    }
    let across = Line::through(left(other), right(visible));
    if line.at(right(other)) > 0 && across.at(right(other)) > 0 {
        let other_line = Line::from_segment(other);
        let numerator = line.b * other_line.c - other_line.b * line.c;
        let denominator = line.a * other_line.b - other_line.a * line.b;
        if denominator != 0 {
            // The last step at which the visible segment is in front: the quotient rounded down. It is
            // within both segments, as the other is in front at one's right end and not at its own left.
            let floor = (numerator * denominator.signum()).div_euclid(denominator.abs());
            let last = right(visible)[0].min(right(other)[0]) - 1;
            if (left(other)[0]..=last).contains(&floor) {
                return MergeResult::Crossing(floor as i32);
            }
        }
    }
    if visible.right.x < other.right.x { MergeResult::Protruding } else { MergeResult::Behind }
}

/// Merges two streams, and says what each step did. `bits` are the fraction bits of parameters.
pub fn merge(a: &[Segment], b: &[Segment], bits: u32, out: &mut Vec<Segment>, steps: &mut Vec<Step>) {
    let mut inputs = [a.iter().copied(), b.iter().copied()];
    let mut heads = [inputs[0].next(), inputs[1].next()];
    let mut first = 0;
    while let [Some(one), Some(two)] = heads {
        let pair = [one, two];
        // At equal keys the designations stay.
        if key(&pair[1 - first]) < key(&pair[first]) {
            first = 1 - first;
        }
        let [visible, other] = [pair[first], pair[1 - first]];
        let mut step = |case, taken: Option<usize>, emitted| {
            steps.push(Step { case, taken: taken.map(|side| side as u8), emitted });
        };
        match examine(&visible, &other) {
            MergeResult::Apart => {
                out.push(visible);
                heads[first] = inputs[first].next();
                step(Case::Disjoint, Some(first), true);
            }
            MergeResult::Covered => {
                let x = i32::from(other.left.x);
                out.push(visible.up_to(x - 1, bits));
                heads[first] = Some(visible.from(x, bits));
                step(Case::Overlapping, None, true);
                first = 1 - first;
            }
            MergeResult::Crossing(x) => {
                out.push(visible.up_to(x, bits));
                heads[first] = Some(visible.from(x + 1, bits));
                heads[1 - first] = Some(other.from(x + 1, bits));
                step(Case::Intersecting, None, true);
                first = 1 - first;
            }
            MergeResult::Protruding => {
                out.push(visible);
                heads[1 - first] = Some(other.from(i32::from(visible.right.x) + 1, bits));
                heads[first] = inputs[first].next();
                step(Case::Overlapping, Some(first), true);
            }
            MergeResult::Behind => {
                heads[1 - first] = inputs[1 - first].next();
                step(Case::Hidden, Some(1 - first), false);
            }
        }
    }
    for side in 0..2 {
        while let Some(segment) = heads[side] {
            out.push(segment);
            steps.push(Step { case: Case::Disjoint, taken: Some(side as u8), emitted: true });
            heads[side] = inputs[side].next();
        }
    }
}

#[cfg(test)]
mod tests;
