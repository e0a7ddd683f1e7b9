//! Times of small networks, which can be computed by hand.

mod stepped;

use super::super::flow;
use super::super::segment::Segment;
use super::super::segment::tests::segment;
use super::*;
use crate::rays::events::microseconds;
use shadewright_base::random::hash;

/// Runs lines of disjoint segments, `width` steps apart, through a tree with a leaf for each.
fn run(shape: &Shape, lines: u16, spans: impl Fn(u16, u32) -> Option<[u16; 2]>, config: &Config) -> Network {
    let mut network = Network::new(shape, Times::new(config), Display::Free);
    for y in 0..lines {
        let mut leaves: Vec<(u32, Segment)> = (0..shape.leaves)
            .filter_map(|k| Some((shape.position(k), segment(y, spans(y, k)?, [100; 2], k))))
            .collect();
        leaves.sort_by_key(|&(position, _)| position);
        network.line(shape, &flow::line(shape, &leaves, 12));
    }
    network
}

fn spread(count: u32) -> impl Fn(u16, u32) -> Option<[u16; 2]> {
    let pitch = 4096 / count;
    move |_, k| Some([(k * pitch) as u16, (k * pitch + pitch / 2) as u16])
}

#[test]
fn a_chain_of_units_takes_the_sum_of_its_times_once_and_then_that_of_the_slowest() {
    // Two leaves, one merger: it needs 3 for a segment, after the first transfers.
    let network = run(&Shape::new(2, 0), 100, spread(2), &Config::default());
    // The first segment is sent at 1.8, arrives at 3.6, and is merged at 6.6; a transfer follows.
    let first = 1.8 + 1.8 + 3.0 + 3.0 + 1.8;
    assert!((microseconds(network.ends[0]) - first).abs() < 1e-6, "{:?}", network.ends[0]);
    let steady = microseconds(network.ends[99] - network.ends[98]);
    assert!((steady - 6.0).abs() < 1e-6, "{steady}");
}

#[test]
fn the_root_limits_a_tree_and_splitting_doubles_what_it_takes() {
    let config = Config::default();
    let per_line = |split: u32| {
        let network = run(&Shape::new(64, split), 40, spread(64), &config);
        assert_eq!(network.overflows, 0);
        microseconds(network.ends[39] - network.ends[20]) / 19.0
    };
    // 64 segments through one root of 3 each.
    assert!((per_line(0) - 192.0).abs() < 1.0, "{}", per_line(0));
    let [two, four] = [per_line(1), per_line(2)];
    assert!((90.0..110.0).contains(&two), "{two}");
    assert!((45.0..62.0).contains(&four), "{four}");
}

#[test]
fn without_marks_of_lines_two_splitters_wait_for_each_other() {
    // All of the first subtree's segments go left, and all of the second's right. A merger goes on
    // when both inputs have a segment, or have ended. No time is needed to see where this leads.
    let (segments, room) = (100, 11);
    let [mut sent, mut taken] = [[0; 2]; 2];
    loop {
        let before = (sent, taken);
        for side in 0..2 {
            // The splitter's other output is empty as long as it has segments for this one.
            if sent[side] < segments && sent[side] - taken[side] < room {
                sent[side] += 1;
            }
            let other_ended = sent[1 - side] == segments;
            if taken[side] < sent[side] && other_ended {
                taken[side] += 1;
            }
        }
        if (sent, taken) == before {
            break;
        }
    }
    assert_eq!((sent, taken), ([room; 2], [0; 2]));
}

#[test]
fn short_queues_of_splitters_overflow_where_a_lines_worth_does_not() {
    // Each leaf has 16 segments of a line in one half and none in the other: the first subtree on
    // the left, the second on the right, and on the next line the other way round.
    let shape = Shape::new(32, 1);
    let side = |y: u16, k: u32| {
        let start = if (k + u32::from(y)).is_multiple_of(2) { 0 } else { 2048 };
        let x = start + (k / 2 * 128) as u16;
        Some([x, x + 100])
    };
    let with = |queue: u32| {
        let mut config = Config::default();
        (config.splitters.queue, config.mergers.queue) = (queue, 0);
        run(&shape, 30, side, &config)
    };
    let [short, enough] = [with(1), with(16)];
    assert_eq!(enough.overflows, 0);
    assert!(enough.end() <= short.end());
    assert!(short.overflows > 0 && enough.deepest <= 16, "{} {}", short.overflows, enough.deepest);
}

#[test]
fn late_lines_are_missed() {
    let shape = Shape::new(16, 0);
    let lines = |line: f64| {
        let display = Display::Beam { line: picoseconds(line), lead: picoseconds(130.0) };
        let mut network = Network::new(&shape, Times::new(&Config::default()), display);
        for y in 0..50 {
            let spans = spread(16);
            let mut leaves: Vec<(u32, Segment)> =
                (0..16).filter_map(|k| Some((shape.position(k), segment(y, spans(y, k)?, [100; 2], k)))).collect();
            leaves.sort_by_key(|&(position, _)| position);
            network.line(&shape, &flow::line(&shape, &leaves, 12));
        }
        network.missed
    };
    // Sixteen segments take the root 48.
    assert_eq!(lines(65.0), 0);
    assert!(lines(40.0) > 30);
}

/// Random segments of most leaves on each of some lines.
fn random_lines(shape: &Shape, seed: u32) -> Vec<flow::Line> {
    let line = |y: u32| {
        let part = |k: u32| {
            let r = |j: u32, n: u32| (hash(hash(seed * 97 + y) + k * 8 + j) % n) as u16;
            let start = r(0, 4000);
            let span = [start, (start + r(1, 1500)).min(4095)];
            (r(2, 4) > 0).then(|| (shape.position(k), segment(y as u16, span, [r(3, 4096), r(4, 4096)], k)))
        };
        let mut leaves: Vec<(u32, Segment)> = (0..shape.leaves).filter_map(part).collect();
        leaves.sort_by_key(|&(position, _)| position);
        flow::line(shape, &leaves, 12)
    };
    (0..12).map(line).collect()
}

#[test]
fn all_segments_arrive_however_short_the_queues_are() {
    for split in 0..4 {
        for queues in [[0, 1], [0, 3], [2, 11], [60, 200]] {
            let shape = Shape::new(40, split);
            let mut config = Config::default();
            [config.mergers.queue, config.splitters.queue] = queues;
            let mut network = Network::new(&shape, Times::new(&config), Display::Free);
            let (mut expected, mut overflows) = (0, 0);
            for line in random_lines(&shape, 5 + split) {
                network.line(&shape, &line);
                assert!(network.progress.iter().all(|unit| unit.done), "{split} levels, queues {queues:?}");
                expected += line.roots.iter().map(|root| root.len() as u64).sum::<u64>();
                overflows = network.overflows;
            }
            let roots = shape.layers() - 1;
            let sent = (0..shape.strips()).map(|k| network.channels[2 * shape.unit(roots, k) as usize].sent);
            assert_eq!(sent.sum::<u64>(), expected);
            // A queue of a line's segments never fills up in a circle.
            assert!(queues[1] < 200 || overflows == 0);
        }
    }
}

#[test]
fn longer_queues_are_never_slower() {
    let shape = Shape::new(64, 0);
    let end = |queue: u32| {
        let mut config = Config::default();
        config.mergers.queue = queue;
        let mut network = Network::new(&shape, Times::new(&config), Display::Free);
        random_lines(&shape, 3).iter().for_each(|line| network.line(&shape, line));
        network.end()
    };
    let ends = [0, 1, 2, 8, 64].map(end);
    assert!(ends.windows(2).all(|pair| pair[1] <= pair[0]), "{ends:?}");
    assert!(ends[4] < ends[0]);
}

#[test]
fn times_are_those_of_a_clock_that_steps_through_all_of_them() {
    // All times are multiples of 0.3.
    let tick = 0.3;
    for (split, queues) in [(0, [0, 1]), (0, [2, 1]), (1, [0, 40]), (2, [1, 40]), (3, [2, 40])] {
        let shape = Shape::new(24, split);
        let mut config = Config::default();
        [config.mergers.queue, config.splitters.queue] = queues;
        let lines = random_lines(&shape, 11 + split);
        let mut network = Network::new(&shape, Times::new(&config), Display::Free);
        lines.iter().for_each(|line| network.line(&shape, line));
        assert_eq!(network.overflows, 0);
        let steps = stepped::Steps {
            cases: [10, 20, 20, 50],
            pass: 10,
            split: 20,
            transfer: 6,
            capacity: queues[0] as usize + 1,
            splitter: queues[1] as usize,
        };
        let mut latest = 0.0;
        for (line, (end, expected)) in network.ends.iter().zip(stepped::ends(&lines, steps)).enumerate() {
            latest = f64::max(latest, expected as f64 * tick);
            let found = microseconds(*end);
            assert!((found - latest).abs() < 1e-3, "line {line}, {split} levels, {queues:?}: {found} {latest}");
        }
    }
}
