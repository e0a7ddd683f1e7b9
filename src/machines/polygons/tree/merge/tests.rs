//! Merging against brute force at every step of the screen.

use super::super::segment::STEPS;
use super::super::segment::tests::segment;
use super::*;
use proptest::prelude::*;

fn merged(a: &[Segment], b: &[Segment]) -> (Vec<Segment>, Vec<Step>) {
    let (mut out, mut steps) = (Vec::new(), Vec::new());
    merge(a, b, 12, &mut out, &mut steps);
    (out, steps)
}

fn spans(stream: &[Segment]) -> Vec<(u32, u16, u16)> {
    stream.iter().map(|s| (s.source, s.left.x, s.right.x)).collect()
}

/// The depth of a segment at a step, before any rounding.
fn depth(s: &Segment, x: i32) -> f64 {
    let [x0, x1] = [f64::from(s.left.x), f64::from(s.right.x)];
    let t = if x1 > x0 { (f64::from(x) - x0) / (x1 - x0) } else { 0.0 };
    f64::from(s.left.z) + t * (f64::from(s.right.z) - f64::from(s.left.z))
}

fn covers(s: &Segment, x: i32) -> bool {
    (i32::from(s.left.x)..=i32::from(s.right.x)).contains(&x)
}

/// Checks a merged line at every step: what is shown is the nearest of the originals within
/// `tolerance`, something is shown exactly where an original is, and nothing overlaps.
fn check(out: &[Segment], originals: &[Segment], tolerance: f64) {
    for pair in out.windows(2) {
        assert!((pair[0].y, pair[0].right.x) < (pair[1].y, pair[1].left.x), "{pair:?} overlap");
    }
    assert!(out.iter().all(|s| s.left.x <= s.right.x), "{out:?}");
    for x in 0..STEPS {
        let shown = out.iter().find(|s| covers(s, x));
        let at: Vec<&Segment> = originals.iter().filter(|s| covers(s, x)).collect();
        let Some(shown) = shown else {
            assert!(at.is_empty(), "a surface is dropped at {x}");
            continue;
        };
        let nearest = at.iter().map(|s| depth(s, x)).fold(f64::MAX, f64::min);
        let of_shown = at.iter().filter(|s| s.source == shown.source).map(|s| depth(s, x)).fold(f64::MAX, f64::min);
        assert!(of_shown <= nearest + tolerance, "at {x}: {of_shown} is shown before {nearest}");
        assert!((depth(shown, x) - of_shown).abs() <= tolerance, "at {x}: broken to {}", depth(shown, x));
    }
}

#[test]
fn the_six_steps_take_the_cases_of_the_figures() {
    let behind = segment(0, [100, 500], [2000, 2000], 1);
    let cases = |b: Segment| {
        let (out, steps) = merged(&[behind], &[b]);
        (spans(&out), steps.iter().map(|s| s.case).collect::<Vec<_>>())
    };
    use Case::*;
    // Figure 3-18: apart.
    assert_eq!(cases(segment(0, [501, 600], [0; 2], 2)).1, [Disjoint, Disjoint]);
    // Figures 3-19 and 3-21: in front, and seen on both sides.
    let (out, steps) = cases(segment(0, [200, 300], [1000; 2], 2));
    assert_eq!(out, [(1, 100, 199), (2, 200, 300), (1, 301, 500)]);
    assert_eq!(steps, [Overlapping, Overlapping, Disjoint]);
    // Figure 3-20: intersecting at step 300.
    let (out, steps) = cases(segment(0, [200, 400], [3000, 1000], 2));
    assert_eq!(out, [(1, 100, 300), (2, 301, 400), (1, 401, 500)]);
    assert_eq!(steps, [Intersecting, Overlapping, Disjoint]);
    // Hidden altogether.
    assert_eq!(cases(segment(0, [200, 400], [3000; 2], 2)), (vec![(1, 100, 500)], vec![Hidden, Disjoint]));
    // On another line.
    assert_eq!(cases(segment(1, [0, 400], [0; 2], 2)).1, [Disjoint, Disjoint]);
}

#[test]
fn the_printed_key_drops_what_is_scanned_first() {
    // The text's key has z before x: the near segment on the right is taken for the first visible.
    let printed = |s: &Segment| (s.y, s.left.z, s.left.x);
    let [far, near] = [segment(0, [0, 100], [3000; 2], 1), segment(0, [200, 300], [10; 2], 2)];
    assert!(printed(&near) < printed(&far));
    // It ends after the other begins, so that the test of step 2 takes the two to overlap.
    assert!((near.y, near.right.x) >= (far.y, far.left.x));
    assert_eq!(spans(&merged(&[far], &[near]).0), [(1, 0, 100), (2, 200, 300)]);
}

#[test]
fn the_printed_sign_puts_intersections_elsewhere() {
    let [v, o] = [segment(0, [0, 400], [1000; 2], 1), segment(0, [0, 400], [2000, 0], 2)];
    let crossing = |sign: i64| {
        let (v, o) = (Line::from_segment(&v), Line::from_segment(&o));
        let b_o = sign * o.b;
        (v.b * o.c - b_o * v.c) as f64 / (v.a * b_o - o.a * v.b) as f64
    };
    assert_eq!(crossing(1), 200.0);
    assert_eq!(crossing(-1), 600.0);
}

#[test]
fn the_printed_parts_of_an_intersection_leave_a_step_that_no_segment_covers() {
    // V up to x − 1, V from x, O from x + 1; after exchanging the names, the new other segment begins
    // before the visible one, and step 6 discards it as hidden.
    let [v, o] = [segment(0, [0, 400], [1000; 2], 1), segment(0, [0, 400], [2000, 0], 2)];
    let x = 200;
    let [emitted, rest, shown] = [v.up_to(x - 1, 12), v.from(x, 12), o.from(x + 1, 12)];
    assert_eq!(examine(&shown, &rest), MergeResult::Behind);
    assert!(![emitted, shown].iter().any(|s| covers(s, x)));
    let (out, _) = merged(&[v], &[o]);
    assert!((0..=400).all(|x| out.iter().any(|s| covers(s, x))));
}

/// Segments on one line that do not overlap.
fn stream(first: u32) -> impl Strategy<Value = Vec<Segment>> {
    let part = (0u16..300, 0u16..600, 0u16..4096, 0u16..4096);
    proptest::collection::vec(part, 0..8).prop_map(move |parts| {
        let mut x = 0u16;
        let mut stream = Vec::new();
        for (number, (gap, length, z0, z1)) in (first..).zip(parts) {
            let start = x + gap;
            let end = start + length;
            if end >= STEPS as u16 {
                break;
            }
            let z1 = if length == 0 { z0 } else { z1 };
            stream.push(segment(0, [start, end], [z0, z1], number));
            x = end + 1;
        }
        stream
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_merger_shows_the_nearest_surface_at_every_step(a in stream(0), b in stream(100)) {
        let (out, steps) = merged(&a, &b);
        check(&out, &[a.clone(), b.clone()].concat(), 4.0);
        // Every input is used up once, and every emission is an output.
        let taken = |side: u8| steps.iter().filter(|s| s.taken == Some(side)).count();
        prop_assert_eq!([taken(0), taken(1)], [a.len(), b.len()]);
        prop_assert_eq!(steps.iter().filter(|s| s.emitted).count(), out.len());
    }

    #[test]
    fn a_tree_of_mergers_drops_no_surface(
        streams in proptest::array::uniform4((stream(0), stream(100), stream(200), stream(300)))
    ) {
        let mut level: Vec<Vec<Segment>> = Vec::new();
        for (k, (a, b, c, d)) in (0u32..).zip(streams) {
            let renumber = |s: Vec<Segment>| -> Vec<Segment> {
                s.into_iter().map(|s| Segment { source: s.source + 1000 * k, ..s }).collect()
            };
            level.extend([a, b, c, d].map(renumber));
        }
        let originals = level.concat();
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| merged(&pair[0], &pair[1]).0).collect();
        }
        check(&level[0], &originals, 8.0);
    }
}
