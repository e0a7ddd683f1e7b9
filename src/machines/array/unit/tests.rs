//! The unit against closed forms, and against a simulation that goes tick by tick.

use super::*;
use shadewright_base::random::{hash, unit};

/// Polygons with given results.
struct List(Vec<(f32, bool, bool)>);

impl Tests for List {
    fn distance(&mut self, polygon: u32) -> Option<f32> {
        Some(self.0[polygon as usize].0).filter(|t| *t >= 0.0)
    }
    fn u(&mut self, polygon: u32, _: f32) -> Option<f32> {
        self.0[polygon as usize].1.then_some(0.5)
    }
    fn v(&mut self, polygon: u32, _: f32) -> Option<f32> {
        self.0[polygon as usize].2.then_some(0.25)
    }
}

/// A cycle is one tick; an operation is fifteen, as 5 µs are of 1/3 µs.
const TIMES: UnitTimes = UnitTimes {
    cycle: 1,
    accesses: [2, 8, 16, 16],
    latency: [60, 30, 105, 105],
    surface_latency: 200,
    interval: 15,
    slots: 8,
    kill: Kill::Early,
};

fn run(times: &UnitTimes, list: &[(f32, bool, bool)], goal: Goal) -> Passage {
    Unit::default().run(times, list.len() as u32, f32::INFINITY, goal, &mut List(list.to_vec()))
}

#[test]
fn one_polygon_takes_the_sum_of_the_stages() {
    let passage = run(&TIMES, &[(1.0, true, true)], Goal::Nearest);
    assert_eq!(passage.latency, 2 + 8 + 60 + 30 + 16 + 105 + 16 + 105);
    assert_eq!((passage.front, passage.counts.accesses), (10, 42));
    assert_eq!(passage.nearest, Some(Nearest { place: 0, t: 1.0, u: 0.5, v: 0.25 }));
    let passage = run(&TIMES, &[(-1.0, true, true)], Goal::Nearest);
    assert_eq!((passage.latency, passage.counts.accesses), (70, 10));
    assert_eq!(run(&TIMES, &[], Goal::Nearest).latency, 0);
}

#[test]
fn memory_or_arithmetic_sets_the_rate() {
    let rate = |times: &UnitTimes, polygon: (f32, bool, bool)| {
        let time = |n: usize| run(times, &vec![polygon; n], Goal::Nearest).latency as f64;
        (time(2000) - time(1000)) / 1000.0
    };
    // Polygons that end at stage 3: its arithmetic, slower than the ten accesses.
    assert_eq!(rate(&TIMES, (-1.0, true, true)), 15.0);
    // At stage 6 and at stage 8: 26 and 42 accesses.
    // At stage 6 and at stage 8: 26 and 42 accesses, and what the port is idle while polygons that
    // all pass stage 3 come in bursts.
    let between = |rate: f64, low: f64, high: f64| assert!((low..high).contains(&rate), "{rate}");
    between(rate(&TIMES, (1.0, false, true)), 26.0, 31.0);
    between(rate(&TIMES, (1.0, true, false)), 42.0, 46.0);
    let fast = UnitTimes { interval: 1, ..TIMES };
    assert_eq!(rate(&fast, (-1.0, true, true)), 10.0);
    let never = UnitTimes { kill: Kill::Never, ..TIMES };
    between(rate(&never, (-1.0, true, true)), 42.0, 46.0);
}

#[test]
fn the_best_distance_comes_back_too_late_for_polygons_that_are_on_the_way() {
    let mut list = vec![(1.0, true, true)];
    list.extend(vec![(2.0, true, true); 100]);
    let passage = run(&TIMES, &list, Goal::Nearest);
    let counts = passage.counts;
    // Some behind the first are fetched whole, and come to stage 9 for nothing.
    assert!((5..30).contains(&counts.hits), "{counts:?}");
    assert_eq!(counts.hits + counts.no_distance, 101);
    assert_eq!(passage.nearest.map(|n| n.place), Some(0));
}

#[test]
fn a_ray_for_any_hit_ends_with_the_first() {
    let mut list = vec![(-1.0, true, true); 10];
    list.push((3.0, true, true));
    list.extend(vec![(2.0, true, true); 1000]);
    let passage = run(&TIMES, &list, Goal::Any);
    assert_eq!(passage.nearest.map(|n| n.place), Some(10));
    assert!(passage.counts.tests < 60);
}

/// The same unit, tick by tick: each stage is looked at in every tick.
fn by_ticks(times: &UnitTimes, list: &[(f32, bool, bool)]) -> (u64, Counts, Option<u32>) {
    let accesses = times.accesses.map(u64::from);
    let (mut counts, mut best, mut nearest) = (Counts::default(), f32::INFINITY, None);
    let (mut sent, mut end) = (Vec::new(), 0);
    let (mut next, mut pointed) = (0, None);
    // For stages 7, 5, 2, 1: what is fetched and how much is left; when the stage is free.
    let (mut busy, mut free) = ([None::<(usize, u64)>; 4], [0u64; 4]);
    let mut started = [-(times.interval as i64); 3];
    let [mut in_t, mut in_u, mut in_v] = [(); 3].map(|()| VecDeque::<(u64, usize)>::new());
    let [mut before_u, mut before_v] = [(); 2].map(|()| VecDeque::<(u64, usize)>::new());
    let mut between = 0;
    for now in 0.. {
        while in_v.front().is_some_and(|m| m.0 <= now) {
            let (time, i) = in_v.pop_front().unwrap();
            end = end.max(time);
            if list[i].2 {
                counts.hits += 1;
                if list[i].0 < best {
                    (best, nearest) = (list[i].0, Some(i as u32));
                    sent.push((time, best));
                }
            } else {
                counts.outside_v += 1;
            }
        }
        while in_u.front().is_some_and(|m| m.0 <= now) {
            let (time, i) = in_u.pop_front().unwrap();
            if list[i].1 {
                before_v.push_back((time, i));
            } else {
                counts.outside_u += 1;
                end = end.max(time);
            }
        }
        while in_t.front().is_some_and(|m| m.0 <= now) {
            let (time, i) = in_t.pop_front().unwrap();
            let known = sent.iter().filter(|s| s.0 <= time).map(|s| s.1).fold(f32::INFINITY, f32::min);
            if (0.0..known).contains(&list[i].0) {
                before_u.push_back((time + times.latency[1], i));
            } else {
                counts.no_distance += 1;
                between -= 1;
                end = end.max(time);
            }
        }
        for stage in 0..4 {
            if busy[stage].is_some() || free[stage] > now {
                continue;
            }
            busy[stage] = match stage {
                0 if before_v.front().is_some_and(|m| m.0 <= now) => before_v.pop_front().map(|m| (m.1, accesses[3])),
                1 if before_u.front().is_some_and(|m| m.0 <= now) => {
                    // It starts, and makes room, only with its first access.
                    before_u.front().map(|m| (m.1, accesses[2]))
                }
                2 if pointed.is_some() && between < times.slots => pointed.map(|i| (i, accesses[1])),
                3 if next < list.len() && pointed.is_none() => Some((next, accesses[0])),
                _ => None,
            };
        }
        let Some(stage) = (0..4).find(|&s| busy[s].is_some()) else {
            let flows = [&in_t, &in_u, &in_v, &before_u, &before_v];
            if next == list.len() && pointed.is_none() && flows.iter().all(|f| f.is_empty()) {
                break;
            }
            continue;
        };
        let (i, left) = busy[stage].unwrap();
        counts.accesses += 1;
        if stage == 1 && left == accesses[2] {
            before_u.pop_front();
            between -= 1;
        }
        if stage == 2 && left == accesses[1] {
            pointed = None;
            between += 1;
        }
        if stage == 3 && left == accesses[0] {
            next += 1;
            counts.tests += 1;
        }
        busy[stage] = (left > 1).then_some((i, left - 1));
        // Stages that have not begun may have to wait once more.
        for other in 0..4 {
            let whole = [accesses[3], accesses[2], accesses[1], accesses[0]][other];
            if other != stage && busy[other].is_some_and(|b| b.1 == whole) {
                if other == 0 {
                    before_v.push_front((now, busy[other].unwrap().0));
                }
                busy[other] = None;
            }
        }
        if left == 1 {
            let done = now + 1;
            let mut compute = |k: usize, latency: u64, list: &mut VecDeque<(u64, usize)>| {
                let start = (done as i64).max(started[k] + times.interval as i64);
                started[k] = start;
                list.push_back((start as u64 + latency, i));
                start as u64
            };
            match stage {
                0 => free[0] = compute(2, times.latency[3], &mut in_v),
                1 => free[1] = compute(1, times.latency[2], &mut in_u),
                2 => free[2] = compute(0, times.latency[0], &mut in_t),
                _ => pointed = Some(i),
            }
        }
    }
    (end, counts, nearest)
}

#[test]
fn runs_of_accesses_are_those_of_a_simulation_tick_by_tick() {
    let mut seed = 0u32;
    let mut random = || {
        seed += 1;
        unit(hash(seed))
    };
    for case in 0..300 {
        let times = UnitTimes { slots: 1 + case % 9, interval: [1, 4, 15][case % 3], ..TIMES };
        let chance = random();
        let polygon = |_| (random() * 2.0 - 0.6, random() < chance, random() < chance);
        let list: Vec<_> = (0..case % 60).map(polygon).collect();
        let passage = run(&times, &list, Goal::Nearest);
        let (end, counts, nearest) = by_ticks(&times, &list);
        assert_eq!((passage.latency, passage.counts), (end.max(passage.front), counts), "case {case}: {times:?}");
        assert_eq!(passage.nearest.map(|n| n.place), nearest);
    }
}
