//! Splitting processors (figure 3-25): a stream becomes two, for the left and the right half of the
//! screen, both in coordinates of a full screen.
//!
//! The printed program doubles both ends of a segment. Neighbors whose ends are a step apart are
//! then two apart, and whatever is behind them shows as a sliver between: a root would merge a
//! hidden segment once for each. Here a right end covers both halves of its last step.

use super::segment::{End, STEPS, Segment};

/// The first step of the right half.
const HALF: i32 = STEPS / 2;

/// A segment's parts in the two halves. `bits` are the fraction bits of parameters.
pub fn split(segment: &Segment, bits: u32) -> [Option<Segment>; 2] {
    let [left, right] = [i32::from(segment.left.x), i32::from(segment.right.x)];
    if right < HALF {
        return [Some(scaled(segment, 0)), None];
    }
    if left >= HALF {
        return [None, Some(scaled(segment, HALF))];
    }
    let parts = [segment.up_to(HALF - 1, bits), segment.from(HALF, bits)];
    [Some(scaled(&parts[0], 0)), Some(scaled(&parts[1], HALF))]
}

fn scaled(segment: &Segment, origin: i32) -> Segment {
    let place = |end: End, last: i32| End { x: (2 * (i32::from(end.x) - origin) + last) as u16, ..end };
    Segment { left: place(segment.left, 0), right: place(segment.right, 1), ..*segment }
}

#[cfg(test)]
mod tests {
    use super::super::merge::merge;
    use super::super::segment::tests::segment;
    use super::*;

    #[test]
    fn segments_go_to_their_half_and_one_that_straddles_goes_to_both() {
        let spans = |x: [u16; 2]| split(&segment(0, x, [0; 2], 1), 12).map(|s| s.map(|s| [s.left.x, s.right.x]));
        assert_eq!(spans([100, 2047]), [Some([200, 4095]), None]);
        assert_eq!(spans([2048, 4095]), [None, Some([0, 4095])]);
        assert_eq!(spans([2000, 3000]), [Some([4000, 4095]), Some([0, 1905])]);
        let [a, b] = split(&segment(0, [0, 4000], [0, 4000], 1), 12);
        assert_eq!((a.map(|s| s.right.z), b.map(|s| s.left.z)), (Some(2047), Some(2048)));
    }

    #[test]
    fn neighbors_stay_neighbors_and_as_printed_they_let_what_is_behind_through() {
        let near = [segment(0, [0, 99], [10; 2], 1), segment(0, [100, 200], [10; 2], 2)];
        let far = segment(0, [0, 200], [50; 2], 3);
        let printed = |s: &Segment| {
            let double = |end: End| End { x: 2 * end.x, ..end };
            Segment { left: double(s.left), right: double(s.right), ..*s }
        };
        let here = |s: &Segment| split(s, 12)[0].expect("it is on the left");
        let sources = |half: &dyn Fn(&Segment) -> Segment| {
            let mut out = Vec::new();
            merge(&near.each_ref().map(half), &[half(&far)], 12, &mut out, &mut Vec::new());
            out.iter().map(|s| s.source).collect::<Vec<_>>()
        };
        assert_eq!(sources(&here), [1, 2]);
        assert_eq!(sources(&printed), [1, 3, 2]);
    }
}
