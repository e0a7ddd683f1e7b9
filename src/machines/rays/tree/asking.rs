//! The tracer of a block of shaders to whose rays the hardware answers: what each lane asks for,
//! and which answers it gets.

use super::exploring::AtHit;
use super::lookups::Lookup;
use super::probe::{Called, Probe};
use crate::rays::ray::{ModelHit, RayKind};
use crate::rays::recording::{Finder, Work, request};
use shadewright_base::random::{hash, unit};
use shadewright_bvh::Ray;
use shadewright_bvh::ray::lanes;
use shadewright_render::rpu::SceneTracer;
use shadewright_rpu::tracing::{HitBlock, RayBlock, Tracer};
use std::sync::{Mutex, PoisonError};

/// The last kind of rays that ask a surface for a color or its opacity; later kinds ask for other
/// values.
const LAST_KIND: f32 = 5.0;

/// The purpose of a ray, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Purpose {
    /// No surface was called for it yet.
    Unknown,
    /// It asks for a distance, and what it hits.
    Query,
    /// It asks for a color.
    Color(Called),
    /// It asks how much light is left, surface by surface.
    Shadow(Called),
    /// It asks whether anything is in the way.
    Occlusion,
}

/// A ray that a lane asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// The ray.
    pub ray: Ray,
    /// The purpose of the ray, as far as is known.
    pub purpose: Purpose,
    /// The hit, if there is one.
    pub found: Option<ModelHit>,
    /// The work of finding the hit.
    pub work: Work,
}

impl Asked {
    /// The distance that the shader gets: that of the hit; of a miss, one that no surface has.
    fn distance(&self) -> f32 {
        self.found.map_or(f32::MAX, |found| found.t + self.ray.t_min)
    }
}

/// The answers to the rays of a lane. Colors and transmittances are 0 where nothing else is said,
/// and shadow rays are blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// All are 0.
    Dark,
    /// All occlusion rays arrive.
    Lit,
    /// That of one ray is 1.
    One(usize),
    /// One ray sees through what it hits, and then hits nothing, so that the shader adds the
    /// background itself.
    Background(usize),
    /// Random numbers from 0 to 1; whole ones for rays that are blocked or not.
    Mixed {
        /// Of the random numbers.
        seed: u32,
        /// True if the components of an answer are the same.
        is_gray: bool,
    },
}

impl Answers {
    fn color(self, number: usize, component: u32) -> f32 {
        match self {
            Answers::Dark | Answers::Lit | Answers::Background(_) => 0.0,
            Answers::One(one) => f32::from(u8::from(one == number)),
            Answers::Mixed { seed, is_gray } => {
                let component = if is_gray { 0 } else { component };
                unit(hash(seed ^ hash(number as u32 * 3 + component + 1)))
            }
        }
    }

    /// The answer to a ray.
    pub fn to(self, number: usize, asked: &Asked) -> [f32; 3] {
        match asked.purpose {
            Purpose::Occlusion if self == Answers::Lit => [1.0; 3],
            Purpose::Occlusion => [self.color(number, 0).round(); 3],
            _ => [0, 1, 2].map(|component| self.color(number, component)),
        }
    }
}

/// The answers that the rays of a lane get.
#[derive(Clone, Debug)]
pub enum Script<'a> {
    /// The answers of the scene, as in a render.
    Truth,
    /// To write down the rays: of these numbers are queries, which get the real hits. The
    /// others get [`Answers::Lit`].
    Discover(Vec<usize>),
    /// To rays that are known.
    Answer(&'a [Asked], Answers),
}

/// The rays and lookups that a lane has asked for.
#[derive(Clone, Debug)]
pub struct Lane<'a> {
    script: Script<'a>,
    /// The rays, where they are written down.
    pub asked: Vec<Asked>,
    /// The lookups in maps.
    pub lookups: Vec<Lookup>,
    /// The number of the next known ray.
    next: usize,
    /// True if the lane asked for other rays than are known.
    pub strayed: bool,
    /// The last ray that got a color, at which distance, and whether it was for one.
    last: Option<(Ray, f32, bool)>,
    /// The hit that it has, and the number of the surface.
    hit: (AtHit, u32),
}

/// The answer to a ray.
enum Reply {
    /// There is nothing.
    Miss,
    /// Something is in the way.
    Blocked,
    /// A surface of this color at this distance.
    Color([f32; 3], f32),
    /// A surface at this distance that is not seen.
    Clear(f32),
    /// The answer of the scene.
    Truth,
}

impl<'a> Lane<'a> {
    /// One that has asked nothing yet, at a hit.
    pub fn new(script: Script<'a>, hit: AtHit) -> Self {
        let (asked, lookups) = (Vec::new(), Vec::new());
        Self { script, asked, lookups, next: 0, strayed: false, last: None, hit: (hit, 0) }
    }

    /// Stores the contents of the lane's registers of the hit after a ray.
    fn remember(&mut self, hits: &HitBlock, lane: usize) {
        let HitBlock { found, shader, tri, obj } = hits;
        let uvt = [found.u[lane], found.v[lane], found.t[lane]];
        self.hit = (AtHit { uvt, records: [tri[lane], obj[lane]] }, shader[lane]);
    }

    /// The inverse.
    fn restore(&self, hits: &mut HitBlock, lane: usize) {
        let (AtHit { uvt: [u, v, t], records: [triangle, object] }, surface) = self.hit;
        (hits.found.u[lane], hits.found.v[lane], hits.found.t[lane]) = (u, v, t);
        (hits.tri[lane], hits.obj[lane], hits.shader[lane]) = (triangle, object, surface);
    }

    fn reply(&mut self, ray: &Ray, kind: RayKind, finder: &impl Finder, deepest: f32) -> Reply {
        if let Some(called) = Called::by(ray) {
            self.mark(called, deepest);
            return Reply::Miss;
        }
        // A shadow ray that a surface lets through continues after it: the answer was for all of it.
        let goes_on = |(last, t, is_marked): (Ray, f32, bool)| is_marked && is_same(&last, ray) && ray.t_min == t;
        if kind == RayKind::Nearest && self.last.is_some_and(goes_on) {
            return Reply::Miss;
        }
        self.last = None;
        match &self.script {
            Script::Truth => Reply::Truth,
            Script::Discover(queries) => {
                let number = self.asked.len();
                let is_query = queries.contains(&number) || self.asked.last().is_some_and(|last| last.is_before(ray));
                self.discover(ray, kind, is_query, finder)
            }
            &Script::Answer(known, answers) => self.answer(ray, kind, known, answers),
        }
    }

    /// Learns what the last ray was for.
    fn mark(&mut self, called: Called, deepest: f32) {
        if let Some((_, _, is_marked)) = &mut self.last {
            *is_marked = true;
        }
        let Script::Discover(_) = self.script else { return };
        let Some(last) = self.asked.last_mut() else { return };
        if last.purpose == Purpose::Unknown && called.kind <= LAST_KIND {
            last.purpose = if called.depth > deepest { Purpose::Shadow(called) } else { Purpose::Color(called) };
        }
    }

    fn discover(&mut self, ray: &Ray, kind: RayKind, is_query: bool, finder: &impl Finder) -> Reply {
        let mut asked = Asked { ray: *ray, purpose: Purpose::Query, found: None, work: Work::default() };
        if is_query && kind == RayKind::Nearest {
            self.asked.push(asked);
            return Reply::Truth;
        }
        (asked.found, asked.work) = finder.find(&request(ray, kind).0);
        asked.purpose = if kind == RayKind::Any { Purpose::Occlusion } else { Purpose::Unknown };
        self.asked.push(asked);
        self.told(&asked, Answers::Lit.to(self.asked.len() - 1, &asked))
    }

    fn answer(&mut self, ray: &Ray, kind: RayKind, known: &[Asked], answers: Answers) -> Reply {
        let is_it = |asked: &Asked| {
            let is_any = asked.purpose == Purpose::Occlusion;
            is_any == (kind == RayKind::Any) && asked.ray == *ray
        };
        let Some(skipped) = known[self.next..].iter().position(is_it) else {
            self.strayed = true;
            return if kind == RayKind::Any { Reply::Blocked } else { Reply::Miss };
        };
        self.strayed |= skipped != 0;
        let number = self.next + skipped;
        self.next = number + 1;
        let asked = &known[number];
        match asked.purpose {
            Purpose::Query | Purpose::Unknown => Reply::Truth,
            _ => {
                let color = answers.to(number, asked);
                match (self.told(asked, color), answers) {
                    (Reply::Color(_, t), Answers::Background(one)) if one == number => Reply::Clear(t),
                    (reply, _) => reply,
                }
            }
        }
    }

    /// The reply that gives an answer.
    fn told(&mut self, asked: &Asked, color: [f32; 3]) -> Reply {
        if asked.purpose == Purpose::Occlusion {
            return if color[0] > 0.0 { Reply::Miss } else { Reply::Blocked };
        }
        let t = asked.distance();
        self.last = Some((asked.ray, t, false));
        Reply::Color(color, t)
    }

    /// The numbers of the rays for which no surface was called: they are queries.
    pub fn unknown(&self) -> Vec<usize> {
        let is_query = |a: &Asked| matches!(a.purpose, Purpose::Unknown | Purpose::Query);
        self.asked.iter().enumerate().filter(|(_, a)| is_query(a)).map(|(number, _)| number).collect()
    }

    /// True if some of them were not told the truth.
    pub fn is_unsure(&self) -> bool {
        self.asked.iter().any(|a| a.purpose == Purpose::Unknown)
    }
}

impl Asked {
    /// True if a ray continues this query.
    fn is_before(&self, ray: &Ray) -> bool {
        self.purpose == Purpose::Query && is_same(&self.ray, ray) && ray.t_min > self.ray.t_min
    }
}

/// True if two rays differ in their ends only.
fn is_same(a: &Ray, b: &Ray) -> bool {
    (a.origin, a.dir) == (b.origin, b.dir)
}

/// The tracer of a block.
pub struct Asker<'a, 'b, F> {
    /// How the hardware finds hits.
    pub finder: &'a F,
    /// The program.
    pub probe: &'a Probe,
    /// The tracer of the scene.
    pub scene: &'a SceneTracer<'a>,
    /// The lanes, as many as run. The hardware calls from one thread at a time.
    pub lanes: Mutex<Vec<Lane<'b>>>,
}

impl<'b, F> Asker<'_, 'b, F> {
    /// The lanes after the run.
    pub fn into_lanes(self) -> Vec<Lane<'b>> {
        self.lanes.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F> Asker<'_, '_, F> {
    fn hit_probe(&self, hits: &mut HitBlock, lane: usize, t: f32, [first, second, third]: [f32; 3], object: u32) {
        (hits.found.t[lane], hits.found.u[lane], hits.found.v[lane]) = (t, first, second);
        (hits.tri[lane], hits.obj[lane], hits.shader[lane]) = (third.to_bits(), object, self.probe.surface);
    }
}

impl<F: Finder> Tracer for Asker<'_, '_, F> {
    fn trace(&self, block: &mut RayBlock, hits: &mut HitBlock) {
        let mut running = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut truthful = 0;
        for lane in lanes(block.rays.active) {
            let Some(state) = running.get_mut(lane) else { continue };
            let ray = block.rays.ray(lane);
            if let Some(lookup) = Lookup::by(&ray) {
                state.lookups.push(lookup);
                state.restore(hits, lane);
                continue;
            }
            let kind = if block.any >> lane & 1 != 0 { RayKind::Any } else { RayKind::Nearest };
            match state.reply(&ray, kind, self.finder, self.probe.deepest) {
                Reply::Miss => {}
                Reply::Blocked => hits.found.t[lane] = 0.0,
                Reply::Color(color, t) => self.hit_probe(hits, lane, t, color, self.probe.objects[0]),
                Reply::Clear(t) => self.hit_probe(hits, lane, t, [0.0; 3], self.probe.objects[1]),
                Reply::Truth => truthful |= 1u64 << lane,
            }
            state.remember(hits, lane);
        }
        if truthful == 0 {
            return;
        }
        let mut there = HitBlock::default();
        block.rays.active = truthful;
        self.scene.trace(block, &mut there);
        for lane in lanes(truthful) {
            hits.found.t[lane] = there.found.t[lane];
            hits.found.u[lane] = there.found.u[lane];
            hits.found.v[lane] = there.found.v[lane];
            (hits.shader[lane], hits.tri[lane], hits.obj[lane]) =
                (there.shader[lane], there.tri[lane], there.obj[lane]);
            running.iter_mut().skip(lane).take(1).for_each(|state| state.remember(hits, lane));
        }
    }
}
