//! The intersection unit of a node: nine pipeline stages that share one memory port (Ullner 1983,
//! fig. 2-28).
//!
//! | stage | does | memory |
//! |---|---|---|
//! | 1 | follows the pointer to the next polygon | pointer |
//! | 2 | fetches the parameters of `t` | 4 words |
//! | 3 | computes `t`; drops the polygon if there is none, or it is not nearer than the best | |
//! | 4 | computes `p_r` | |
//! | 5 | fetches the parameters of `u` | 8 words |
//! | 6 | computes `u`; drops the polygon if it is outside | |
//! | 7 | fetches the parameters of `v` | 8 words |
//! | 8 | computes `v`; drops the polygon if it is outside | |
//! | 9 | keeps the nearest, and tells stage 3 its `t` | |
//!
//! The port is 16 bits wide: a word of 32 bits takes two accesses, and each access goes to the latest
//! stage that wants one. An arithmetic stage takes a polygon every `interval` and has its result
//! after as many operations as lie behind one another in it. A fetching stage is free again when the
//! next stage has taken the polygon. Between stages 2 and 5 there are `slots` polygons at most, so
//! that those that pass stage 3 find a place to wait for the port.
//!
//! [`Unit::run`] simulates the passage of one ray through a list of polygons access by access, but
//! takes runs of accesses of one stage in one step. What stage 3 knows of the best `t` is what stage
//! 9 had found by then: polygons that are on the way between them are dropped later or not at all,
//! and cost their fetches.
//!
//! Primitives that are no polygons pass the same stages. Stage 2 fetches all of their words, stage 3
//! has an intersector for them beside that of `t`, which takes a quadric or an edge at a time, and
//! the stages of `u` and `v` let them pass.

use crate::rays::events::Picoseconds;
use crate::rays::polygon::WORDS;
use crate::rays::surfaces::Slots;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Words of a polygon that stage 2 fetches.
const WORDS_OF_DISTANCE: u32 = 4;

/// True if polygons are dropped as soon as it is known that the ray does not hit them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kill {
    /// They are.
    #[default]
    Early,
    /// All twenty words of each are fetched, as the peripheral does.
    Never,
}

/// The unit's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitTimes {
    /// An access to memory.
    pub cycle: Picoseconds,
    /// Accesses of stages 1, 2, 5 and 7.
    pub accesses: [u32; 4],
    /// Time from taking a polygon to its result, of stages 3, 4, 6 and 8.
    pub latency: [Picoseconds; 4],
    /// Time from taking a primitive that is no polygon to its result, for one quadric or edge.
    pub surface_latency: Picoseconds,
    /// Time between two polygons in an arithmetic stage.
    pub interval: Picoseconds,
    /// Polygons between stages 2 and 5; at least 1.
    pub slots: usize,
    /// True if polygons are dropped early.
    pub kill: Kill,
}

/// The polygons of a list as a ray meets them. Asked in the order of the stages.
pub trait Tests {
    /// `t`, if there is one that is not negative.
    fn distance(&mut self, polygon: u32) -> Option<f32>;
    /// `u`, if it is in range; the point is that of the distance.
    fn u(&mut self, polygon: u32, t: f32) -> Option<f32>;
    /// `v`, if it is in range.
    fn v(&mut self, polygon: u32, t: f32) -> Option<f32>;
    /// Of a primitive that is no polygon: its words, and what its test takes. `distance` is all of it.
    fn surface(&self, _primitive: u32) -> Option<(u32, Slots)> {
        None
    }
}

/// The nearest hit: the place in the list, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Place in the list.
    pub place: u32,
    /// Distance in units of the ray's direction.
    pub t: f32,
    /// Position on the polygon.
    pub u: f32,
    /// Position on the polygon.
    pub v: f32,
}

/// The counts of the work on a ray.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Primitives that stage 1 read.
    pub tests: u64,
    /// Dropped by stage 3.
    pub no_distance: u64,
    /// Dropped by stage 6.
    pub outside_u: u64,
    /// Dropped by stage 8.
    pub outside_v: u64,
    /// Hits that came to stage 9.
    pub hits: u64,
    /// Accesses to memory.
    pub accesses: u64,
    /// Primitives that are no polygons, of those.
    pub surfaces: u64,
    /// Their words.
    pub surface_words: u64,
    /// Their hits that came to stage 9.
    pub surface_hits: u64,
    /// Quadrics that stage 3 tested.
    pub quadrics: u64,
    /// Edges of general polygons that it tested.
    pub edges: u64,
}

impl Counts {
    /// Polygons of the primitives that were tested.
    pub fn polygons(&self) -> u64 {
        self.tests - self.surfaces.min(self.tests)
    }

    /// Hits on polygons.
    pub fn polygon_hits(&self) -> u64 {
        self.hits - self.surface_hits
    }

    /// Words that were fetched, where a pointer has so many, and their part of all parameters of what
    /// was tested. A word takes two accesses.
    pub fn words(&self, pointer_words: u32) -> (u64, f64) {
        let words = (self.accesses / 2).saturating_sub(u64::from(pointer_words) * self.tests);
        (words, words as f64 / (WORDS as u64 * self.polygons() + self.surface_words).max(1) as f64)
    }

    /// Adds others.
    pub fn add(&mut self, other: &Counts) {
        self.tests += other.tests;
        self.no_distance += other.no_distance;
        self.outside_u += other.outside_u;
        self.outside_v += other.outside_v;
        self.hits += other.hits;
        self.accesses += other.accesses;
        self.surfaces += other.surfaces;
        self.surface_words += other.surface_words;
        self.surface_hits += other.surface_hits;
        self.quadrics += other.quadrics;
        self.edges += other.edges;
    }
}

/// A ray's passage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passage {
    /// Until the result is known.
    pub latency: Picoseconds,
    /// Until stage 2 has fetched the last polygon and the next ray could follow.
    pub front: Picoseconds,
    /// The counts of the work on the ray.
    pub counts: Counts,
    /// The nearest hit below the bound.
    pub nearest: Option<Nearest>,
}

/// A polygon on its way, with the time at which it comes out of a stage.
#[derive(Clone, Copy)]
struct Moving {
    time: Picoseconds,
    place: u32,
    t: f32,
    u: f32,
}

/// Stages that fetch, in the order of their priority.
#[derive(Clone, Copy, PartialEq)]
enum Fetch {
    V,
    U,
    T,
    Pointer,
}

/// A fetching stage: what it fetches, and when it can take another.
#[derive(Clone, Copy, Default)]
struct Port {
    busy: Option<(Moving, u32)>,
    free_at: Picoseconds,
}

/// The unit. Keeps its lists from ray to ray.
#[derive(Default)]
pub struct Unit {
    /// In stages 3, 6 and 8, and before stages 5 and 7.
    in_t: VecDeque<Moving>,
    in_u: VecDeque<Moving>,
    in_v: VecDeque<Moving>,
    before_u: VecDeque<Moving>,
    before_v: VecDeque<Moving>,
    /// Distances that stage 9 has sent to stage 3, with the time of their arrival.
    feedback: VecDeque<(Picoseconds, f32)>,
}

/// The state of a run.
struct Run<'a, T> {
    unit: &'a mut Unit,
    times: &'a UnitTimes,
    tests: &'a mut T,
    now: Picoseconds,
    count: u32,
    next: u32,
    /// A polygon whose pointer stage 1 has.
    pointed: Option<u32>,
    ports: [Port; 4],
    /// When stages 3, 6 and 8 can take another.
    arithmetic: [Picoseconds; 3],
    between: usize,
    /// The best that stage 3 knows, and that of stage 9.
    known: f32,
    best: f32,
    any: bool,
    end: Picoseconds,
    passage: Passage,
}

impl Unit {
    /// Sends a ray through a list of `count` polygons: the nearest hit below `bound`, or with `any`
    /// the first that is found.
    pub fn run(&mut self, times: &UnitTimes, count: u32, bound: f32, goal: Goal, tests: &mut impl Tests) -> Passage {
        for list in [&mut self.in_t, &mut self.in_u, &mut self.in_v, &mut self.before_u, &mut self.before_v] {
            list.clear();
        }
        self.feedback.clear();
        let passage = Passage { latency: 0, front: 0, counts: Counts::default(), nearest: None };
        let mut run = Run {
            unit: self,
            times,
            tests,
            now: 0,
            count,
            next: 0,
            pointed: None,
            ports: [Port::default(); 4],
            arithmetic: [0; 3],
            between: 0,
            known: bound,
            best: bound,
            any: goal == Goal::Any,
            end: 0,
            passage,
        };
        run.go();
        run.passage
    }
}

/// The goal of a ray.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The nearest hit.
    Nearest,
    /// Any.
    Any,
}

impl<T: Tests> Run<'_, T> {
    fn go(&mut self) {
        loop {
            if self.take_results() {
                break;
            }
            if let Some(stage) = [Fetch::V, Fetch::U, Fetch::T, Fetch::Pointer].into_iter().find(|&s| self.is_ready(s))
            {
                self.fetch(stage);
            } else if let Some(time) = self.wake(Fetch::Pointer) {
                self.now = time;
            } else {
                break;
            }
        }
        self.passage.latency = self.end.max(self.passage.front);
    }

    /// Takes what has come out of the arithmetic stages by now. True when the ray has what it looks
    /// for.
    fn take_results(&mut self) -> bool {
        while let Some(moving) = pop_by(&mut self.unit.in_v, self.now) {
            self.end = self.end.max(moving.time);
            let v = self.tests.v(moving.place, moving.t).filter(|_| !moving.u.is_nan());
            let Some(v) = v else {
                self.passage.counts.outside_v += u64::from(!moving.u.is_nan());
                continue;
            };
            self.passage.counts.hits += 1;
            self.passage.counts.surface_hits += u64::from(self.tests.surface(moving.place).is_some());
            if moving.t < self.best {
                self.best = moving.t;
                let Moving { place, t, u, .. } = moving;
                self.passage.nearest = Some(Nearest { place, t, u, v });
                if self.any {
                    return true;
                }
                self.unit.feedback.push_back((moving.time, moving.t));
            }
        }
        while let Some(moving) = pop_by(&mut self.unit.in_u, self.now) {
            let u = if moving.t.is_nan() { None } else { self.tests.u(moving.place, moving.t) };
            if u.is_none() {
                self.passage.counts.outside_u += u64::from(!moving.t.is_nan());
                self.end = self.end.max(moving.time);
            }
            if u.is_some() || self.times.kill == Kill::Never {
                self.unit.before_v.push_back(Moving { u: u.unwrap_or(f32::NAN), ..moving });
            }
        }
        while let Some(moving) = pop_by(&mut self.unit.in_t, self.now) {
            while let Some((_, t)) = self.unit.feedback.pop_front_if(|(time, _)| *time <= moving.time) {
                self.known = t;
            }
            let t = self.tests.distance(moving.place).filter(|&t| t < self.known);
            if t.is_none() {
                self.passage.counts.no_distance += u64::from(self.tests.surface(moving.place).is_none());
                self.end = self.end.max(moving.time);
            }
            if t.is_some() || self.times.kill == Kill::Never {
                let time = moving.time + self.times.latency[1];
                self.unit.before_u.push_back(Moving { time, t: t.unwrap_or(f32::NAN), ..moving });
            } else {
                self.between -= 1;
            }
        }
        false
    }

    /// True if a stage wants an access now.
    fn is_ready(&self, stage: Fetch) -> bool {
        let port = &self.ports[stage as usize];
        let comes = |list: &VecDeque<Moving>| list.front().is_some_and(|m| m.time <= self.now);
        port.busy.is_some()
            || (port.free_at <= self.now
                && match stage {
                    Fetch::V => comes(&self.unit.before_v),
                    Fetch::U => comes(&self.unit.before_u),
                    Fetch::T => self.pointed.is_some() && self.between < self.times.slots,
                    Fetch::Pointer => self.next < self.count && self.pointed.is_none(),
                })
    }

    /// When something next may change for a stage or one of higher priority.
    #[inline]
    fn wake(&self, stage: Fetch) -> Option<Picoseconds> {
        let mut wake = Picoseconds::MAX;
        let mut at = |time: Picoseconds| {
            if time > self.now {
                wake = wake.min(time);
            }
        };
        let (unit, ports) = (&self.unit, &self.ports);
        let mut comes = |list: &VecDeque<Moving>, free_at: Picoseconds| {
            if let Some(first) = list.front() {
                at(first.time.max(free_at));
            }
        };
        comes(&unit.before_v, ports[Fetch::V as usize].free_at);
        comes(&unit.in_u, 0);
        comes(&unit.in_v, 0);
        if stage as usize >= Fetch::U as usize {
            comes(&unit.before_u, ports[Fetch::U as usize].free_at);
            comes(&unit.in_t, 0);
        }
        if stage as usize >= Fetch::T as usize && self.pointed.is_some() {
            at(ports[Fetch::T as usize].free_at);
        }
        (wake < Picoseconds::MAX).then_some(wake)
    }

    /// Gives a stage the port, until its fetch is complete or another stage may want it.
    fn fetch(&mut self, stage: Fetch) {
        let mut port = self.ports[stage as usize];
        let (moving, left) = port.busy.take().unwrap_or_else(|| {
            let moving = match stage {
                Fetch::V => self.unit.before_v.pop_front().unwrap_or(Moving::new(0)),
                Fetch::U => {
                    self.between -= 1;
                    self.unit.before_u.pop_front().unwrap_or(Moving::new(0))
                }
                Fetch::T => {
                    self.between += 1;
                    Moving::new(self.pointed.take().unwrap_or(0))
                }
                Fetch::Pointer => {
                    self.passage.counts.tests += 1;
                    self.next += 1;
                    Moving::new(self.next - 1)
                }
            };
            (moving, self.accesses(stage, moving.place))
        });
        let until =
            self.wake(stage).map_or(u64::from(left), |time| (time - self.now).div_ceil(self.times.cycle.max(1)));
        let run = until.clamp(1, u64::from(left).max(1)).min(u64::from(left));
        self.now += run * self.times.cycle;
        self.passage.counts.accesses += run;
        if run < u64::from(left) {
            port.busy = Some((moving, left - run as u32));
        } else {
            let latency = self.times.latency;
            port.free_at = match stage {
                Fetch::Pointer => {
                    self.pointed = Some(moving.place);
                    self.now
                }
                Fetch::T => self.compute(0, latency[0], moving),
                Fetch::U => self.compute(1, latency[2], moving),
                Fetch::V => self.compute(2, latency[3], moving),
            };
        }
        self.ports[stage as usize] = port;
    }

    /// The memory accesses of a stage for a primitive. Stage 2 fetches all of one that is no
    /// polygon.
    fn accesses(&self, stage: Fetch, place: u32) -> u32 {
        let [pointer, t, u, v] = self.times.accesses;
        let polygon = match stage {
            Fetch::Pointer => return pointer,
            Fetch::T => t,
            Fetch::U => u,
            Fetch::V => v,
        };
        match self.tests.surface(place) {
            None => polygon,
            Some((words, _)) if stage == Fetch::T => words * (t / WORDS_OF_DISTANCE).max(1),
            Some(_) => 0,
        }
    }

    /// Hands a primitive to the arithmetic stage after a fetch, as soon as that can take it: then.
    fn compute(&mut self, stage: usize, latency: Picoseconds, moving: Moving) -> Picoseconds {
        let interval = self.times.interval;
        // One that is no polygon passes stage 3 piece by piece, and the others at once.
        let (pieces, latency) = match (self.tests.surface(moving.place), stage) {
            (None, _) => (1, latency),
            (Some((words, slots)), 0) => {
                self.passage.counts.surfaces += 1;
                self.passage.counts.surface_words += u64::from(words);
                self.passage.counts.quadrics += u64::from(slots.quadrics);
                self.passage.counts.edges += u64::from(slots.edges);
                (u64::from(slots.all().max(1)), self.times.surface_latency)
            }
            (Some(_), _) => (0, 0),
        };
        let start = self.now.max(self.arithmetic[stage]);
        let last = start + interval * pieces.saturating_sub(1);
        self.arithmetic[stage] = start + interval * pieces;
        let unit = &mut *self.unit;
        let list = match stage {
            0 => &mut unit.in_t,
            1 => &mut unit.in_u,
            _ => &mut unit.in_v,
        };
        // Results leave a stage in the order in which they came.
        let time = list.back().map_or(0, |before| before.time).max(last + latency);
        list.push_back(Moving { time, ..moving });
        if stage == 0 && moving.place + 1 == self.count {
            self.passage.front = last;
        }
        start
    }
}

impl Moving {
    fn new(place: u32) -> Self {
        Self { time: 0, place, t: 0.0, u: 0.0 }
    }
}

/// Takes the first of a list if it is out by now.
fn pop_by(list: &mut VecDeque<Moving>, now: Picoseconds) -> Option<Moving> {
    list.pop_front_if(|moving| moving.time <= now)
}

#[cfg(test)]
mod tests;
