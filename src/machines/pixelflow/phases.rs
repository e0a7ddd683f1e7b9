//! Running the shaders of a region together (Olano 1998, §4.5.4).
//!
//! The shaders of a region run one after the other, each for its pixels. At a call that shaders
//! share (a light, the Phong phase, a texture lookup) a shader waits. When all wait, the call that
//! most wait for runs once, for the pixels of all of them: m shaders and n lights take n executions
//! of lights, as in figure 4.19. A shared function may itself call for lights and lookups, and waits
//! for them like a shader.
//!
//! Lookups run before other calls. So shaders are cut at their lookups: between two calls for lights
//! the first lookups of all shaders are one phase, then the second ones, and what waits for a light
//! is the same as if nobody looked up anything. Each shader gives the address of its texture, the
//! place and the area there, as it puts the texture's ID and the coordinates into "magic" parameters
//! in the thesis.
//!
//! A shared function has its frame above the bytes that any of its callers uses, the "high water
//! mark" of the thesis. Arguments that do not lie at one place for all callers are copied there.

use super::memory::{Address, Memory};
use super::prepare::{is_compare, is_light, is_lookup, is_phase};
use super::task::{Call, Fault, Holder, Step, Task, World};
use super::widths::for_type;
use shadewright_ir::Loc;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Time and executions of the phases, in picoseconds of the SIMD array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Shaders before their first shared call.
    pub before: u64,
    /// Lights.
    pub lights: u64,
    /// The other shared functions: the Phong phase.
    pub shared: u64,
    /// Shaders between calls of lights and the like: the bodies of `illuminance`.
    pub illuminance: u64,
    /// Shaders after the last of these calls.
    pub after: u64,
    /// Texture lookups.
    pub lookups: u64,
    /// Texture lookups if each shader or shared function made its own.
    pub separate_lookups: u64,
    /// The time of lookups, at most, in which lights and the code between them can run: that of
    /// lookups for which only shaders wait that have not called for a light.
    pub overlap: u64,
    /// Executions of lookups.
    pub lookup_runs: u64,
    /// Executions of lookups if each shader or shared function made its own.
    pub separate_lookup_runs: u64,
    /// Executions of lights.
    pub light_runs: u64,
    /// Executions of lights if each shader ran its own.
    pub separate_light_runs: u64,
    /// Executions of other shared functions, and if each shader ran its own.
    pub shared_runs: u64,
    /// See `shared_runs`.
    pub separate_shared_runs: u64,
}

impl Phases {
    /// Adds those of another region.
    pub fn add(&mut self, other: &Phases) {
        self.before += other.before;
        self.lights += other.lights;
        self.shared += other.shared;
        self.illuminance += other.illuminance;
        self.after += other.after;
        self.lookups += other.lookups;
        self.separate_lookups += other.separate_lookups;
        self.overlap += other.overlap;
        self.lookup_runs += other.lookup_runs;
        self.separate_lookup_runs += other.separate_lookup_runs;
        self.light_runs += other.light_runs;
        self.separate_light_runs += other.separate_light_runs;
        self.shared_runs += other.shared_runs;
        self.separate_shared_runs += other.separate_shared_runs;
    }

    /// All time.
    pub fn time(&self) -> u64 {
        self.before + self.lookups + self.with_lights() + self.after
    }

    /// The time between the first call of a light or the like and the last one.
    fn with_lights(&self) -> u64 {
        self.lights + self.shared + self.illuminance
    }
}

/// A shader or a shared function.
struct Running {
    task: Task,
    state: ShaderState,
    /// The shaders that it runs for.
    shaders: u64,
    /// Of a shared function, for whom it runs.
    shared: Option<Shared>,
    /// The time at its last call of a light or the like, and whether there was one.
    counted: u64,
    has_waited: bool,
}

impl Running {
    fn new(task: Task, shaders: u64, shared: Option<Shared>) -> Self {
        Self { task, state: ShaderState::Ready, shaders, shared, counted: 0, has_waited: false }
    }
}

/// A shared function.
struct Shared {
    name: Arc<str>,
    /// Who waits for it.
    waiting: Vec<usize>,
    /// Where its results come to lie; `None` for those that are uniform.
    results: Vec<Option<Address>>,
    /// The time that it takes if each that waits runs its own, where several wait for a lookup.
    separate: Option<u64>,
    /// True if only shaders wait that have not called for a light.
    is_early: bool,
}

enum ShaderState {
    Ready,
    Waiting(Call),
    Done,
}

/// The key of the work that a waiting shader can share with others: the function, and the number of
/// the light or the name of the shadow map. With maps of their own pixels would read more words
/// that say where the four texels of a comparison lie than texels.
type Key = (Arc<str>, Option<u32>);

fn key(call: &Call) -> Key {
    let number = match call.args.first() {
        Some(Holder::Uniform(word)) if is_light(&call.name) || is_compare(&call.name) => Some(*word),
        _ => None,
    };
    (call.name.clone(), number)
}

/// Runs shaders on disjoint pixels of a region to their ends. Lights leave their results from byte
/// `light_area` on. Returns the phases and the time of each shader alone.
///
/// # Errors
/// See [`Fault`].
pub fn run(
    shaders: Vec<Task>,
    world: &World<'_>,
    memory: &mut Memory,
    light_area: u32,
) -> Result<(Vec<Task>, Phases), Fault> {
    let mut phases = Phases::default();
    let mut early = 0;
    let count = shaders.len();
    let mut all: Vec<Running> = shaders.into_iter().map(|task| Running::new(task, 1, None)).collect();
    loop {
        let mut at = 0;
        while at < all.len() {
            if !matches!(all[at].state, ShaderState::Ready) {
                at += 1;
                continue;
            }
            let running = &mut all[at];
            let step = match running.task.run(world, memory, &is_phase)? {
                // The stage does not end with a lookup.
                Step::Call(call) if is_lookup(&call.name) => {
                    running.state = ShaderState::Waiting(call);
                    at += 1;
                    continue;
                }
                step => step,
            };
            let spent = running.task.time - running.counted;
            running.counted = running.task.time;
            let of = match (&running.shared, &step, running.has_waited) {
                (Some(shared), ..) if is_light(&shared.name) => &mut phases.lights,
                (Some(shared), ..) if is_lookup(&shared.name) => {
                    phases.separate_lookups += shared.separate.unwrap_or(spent);
                    early += if shared.is_early { spent } else { 0 };
                    &mut phases.lookups
                }
                (Some(_), ..) => &mut phases.shared,
                (None, Step::Done, true) => &mut phases.after,
                (None, Step::Call(_), true) => &mut phases.illuminance,
                (None, ..) => &mut phases.before,
            };
            *of += spent;
            match step {
                Step::Call(call) => {
                    running.has_waited = true;
                    running.state = ShaderState::Waiting(call);
                }
                Step::Done => {
                    running.state = ShaderState::Done;
                    let shared = running.shared.take();
                    let returned = running.task.returned.clone();
                    if let Some(shared) = shared {
                        deliver(&mut all, memory, &shared, &returned);
                        while all.len() > count && all.last().is_some_and(|r| matches!(r.state, ShaderState::Done)) {
                            all.pop();
                        }
                        // Those who waited come before it.
                        at = 0;
                        continue;
                    }
                }
            }
            at += 1;
        }
        let mut waiting: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (i, running) in all.iter().enumerate() {
            if let ShaderState::Waiting(call) = &running.state
                && !all.iter().any(|r| r.shared.as_ref().is_some_and(|s| s.waiting.contains(&i)))
            {
                waiting.entry(key(call)).or_default().push(i);
            }
        }
        // Lookups before all else, and then the first of those for which most shaders wait.
        let weight = |who: &[usize]| who.iter().map(|&i| all[i].shaders).sum::<u64>();
        let rank = |(key, who): &(&Key, &Vec<usize>)| (is_lookup(&key.0), weight(who));
        let most = waiting.iter().map(|entry| rank(&entry)).max();
        let Some((_, who)) = waiting.iter().find(|entry| Some(rank(entry)) == most) else { break };
        let batch = share(&all, who, world, memory, light_area)?;
        if let Some(shared) = &batch.shared {
            let (runs, separate, callers) = if is_light(&shared.name) {
                (&mut phases.light_runs, &mut phases.separate_light_runs, batch.shaders)
            } else if is_lookup(&shared.name) {
                (&mut phases.lookup_runs, &mut phases.separate_lookup_runs, shared.waiting.len() as u64)
            } else {
                (&mut phases.shared_runs, &mut phases.separate_shared_runs, batch.shaders)
            };
            *runs += 1;
            *separate += callers;
        }
        all.push(batch);
    }
    phases.overlap = early.min(phases.with_lights());
    all.truncate(count);
    Ok((all.into_iter().map(|r| r.task).collect(), phases))
}

/// A shared function for all that wait for it.
fn share(
    all: &[Running],
    who: &[usize],
    world: &World<'_>,
    memory: &mut Memory,
    light_area: u32,
) -> Result<Running, Fault> {
    let call = |i: usize| match &all[i].state {
        ShaderState::Waiting(call) => Some(call),
        _ => None,
    };
    let calls: Vec<&Call> = who.iter().filter_map(|&i| call(i)).collect();
    let name = calls[0].name.clone();
    let mut separate = None;
    if is_lookup(&name) && calls.len() > 1 {
        let mut sum = 0;
        for call in &calls {
            let mut copy = memory.clone();
            let (mut alone, _) = begin(&[call], world, &mut copy, light_area)?;
            alone.run(world, &mut copy, &|_, _| false)?;
            sum += alone.time;
        }
        separate = Some(sum);
    }
    let (task, results) = begin(&calls, world, memory, light_area)?;
    let is_early = who.iter().all(|&i| all[i].shared.is_none() && !all[i].has_waited);
    let shaders = who.iter().map(|&i| all[i].shaders).sum();
    let shared = Shared { name, waiting: who.to_vec(), results, separate, is_early };
    Ok(Running::new(task, shaders, Some(shared)))
}

/// One execution of a function for several calls of it, and where its results come to lie.
fn begin(
    calls: &[&Call],
    world: &World<'_>,
    memory: &mut Memory,
    light_area: u32,
) -> Result<(Task, Vec<Option<Address>>), Fault> {
    let first = calls[0];
    let mut free = calls.iter().map(|c| c.mark).max().unwrap_or(0);
    let index = world.compiler.module().function(&first.name);
    let (params, results): (Vec<_>, Vec<_>) = match index {
        Some(f) => (f.params.iter().map(|p| p.ty).collect(), f.results.iter().map(|r| r.ty).collect()),
        None => (Vec::new(), Vec::new()),
    };
    let mut args = Vec::new();
    for (k, ty) in params.into_iter().enumerate() {
        let uniform = |c: &&Call| match c.args.get(k) {
            Some(Holder::Uniform(word)) => Some(*word),
            _ => None,
        };
        let common = uniform(&first).filter(|word| calls.iter().all(|c| uniform(c) == Some(*word)));
        if let Some(word) = common {
            args.push(Holder::Uniform(word));
            continue;
        }
        // What lies at one place for all callers, as the position and the normal do, stays there.
        let place = |c: &&Call| match c.args.get(k) {
            Some(Holder::Memory(address)) => Some(*address),
            _ => None,
        };
        if let Some(address) = place(&first).filter(|a| calls.iter().all(|c| place(c) == Some(*a))) {
            args.push(Holder::Memory(address));
            continue;
        }
        let to = Address { first: free, width: for_type(ty) };
        free += u32::from(to.width.bytes);
        memory.reserve(free).map_err(|_| Fault::Memory(Loc::NONE))?;
        for c in calls {
            let row = match c.args[k] {
                Holder::Uniform(word) => vec![word; c.lanes.len()],
                Holder::Memory(from) => memory.load(from, &c.lanes),
            };
            memory.store(to, &c.lanes, &row);
        }
        args.push(Holder::Memory(to));
    }
    let mut area = light_area;
    let mut places = Vec::new();
    for (k, ty) in results.into_iter().enumerate() {
        let width = for_type(ty);
        // A color and a direction; how far a shadow would be looked for is not needed.
        let at = if is_light(&first.name) && k < 6 { &mut area } else { &mut free };
        places.push(Some(Address { first: *at, width }));
        *at += u32::from(width.bytes);
    }
    let mut lanes: Vec<u32> = calls.iter().flat_map(|c| c.lanes.iter().copied()).collect();
    lanes.sort_unstable();
    let varying: Vec<bool> = args.iter().map(|a| matches!(a, Holder::Memory(_))).collect();
    let code = world.compiler.function(&first.name, &varying, false).ok_or(Fault::Depth(Loc::NONE))?;
    let results: Vec<Option<Address>> = places.iter().zip(&code.results).map(|(p, v)| p.filter(|_| *v)).collect();
    memory.reserve(free + code.allocation.frame).map_err(|_| Fault::Memory(Loc::NONE))?;
    let mut task = Task::new(code, args, results.clone(), Rc::new(lanes), free, world.budget);
    if let Some(time) = world.times.function(&first.name) {
        task.take(time);
    }
    Ok((task, results))
}

/// Gives the results of a shared function to those who waited.
fn deliver(all: &mut [Running], memory: &mut Memory, shared: &Shared, returned: &[u32]) {
    for &i in &shared.waiting {
        let ShaderState::Waiting(call) = std::mem::replace(&mut all[i].state, ShaderState::Ready) else { continue };
        let rows: Vec<Vec<u32>> = shared
            .results
            .iter()
            .zip(returned)
            .map(|(from, word)| match from {
                Some(from) => memory.load(*from, &call.lanes),
                None => vec![*word; call.lanes.len()],
            })
            .collect();
        for (to, row) in call.results.iter().zip(rows) {
            if let Some(to) = to {
                memory.store(*to, &call.lanes, &row);
            }
        }
        all[i].task.resume(&[]);
    }
}
