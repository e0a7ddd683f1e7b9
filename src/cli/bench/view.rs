//! `bench view`: how soon an image is there after the camera has moved, as the window's worker threads draw it.

use super::{median, rounded};
use crate::cli::args::BenchArgs;
use crate::cli::exit::Failure;
use crate::cli::progress::{Work, with_progress};
use glam::Vec2;
use serde_json::{Value, json};
use shadewright::project::{Source, State, View};
use shadewright::render::Backend;
use shadewright::render::DEFAULT_BUDGET;
use shadewright::render::gpu::has_hardware_adapter;
use shadewright::scene::builtin;
use shadewright::viewer::camera::Navigation;
use shadewright::viewer::engine::{Command, Engine, Event, Options, Shown};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Views of an orbit, each let be until its image is complete.
const VIEWS: usize = 24;

/// Views that follow each other while the camera is dragged, and the time between two of them.
const DRAGGED_VIEWS: usize = 60;
const DRAG: Duration = Duration::from_micros(16_667);

/// Views that a machine draws before any is measured: it learns how fast it is.
const UNCOUNTED: usize = 4;

/// How long an image may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// How far the camera turns from one view to the next, in shares of the image's height.
const TURN: Vec2 = Vec2::new(0.04, 0.01);

/// The worker threads, and what wakes the one that measures.
struct Desk {
    engine: Engine,
    woken: Arc<(Mutex<bool>, Condvar)>,
}

impl Desk {
    fn new(args: &BenchArgs) -> Self {
        let woken: Arc<(Mutex<bool>, Condvar)> = Arc::default();
        let waking = woken.clone();
        let wake = Arc::new(move || {
            *lock(&waking.0) = true;
            waking.1.notify_all();
        });
        let adapter = args.machine.adapter.clone();
        let options = Options { project: Default::default(), adapter, budget: DEFAULT_BUDGET };
        Self { engine: Engine::start(options, wake), woken }
    }

    /// The events that come until then; fewer when there are some before.
    fn events(&mut self, until: Instant) -> Vec<Event> {
        let time = until.saturating_duration_since(Instant::now());
        let woken = lock(&self.woken.0);
        let waited = self.woken.1.wait_timeout_while(woken, time, |woken| !*woken);
        *waited.unwrap_or_else(std::sync::PoisonError::into_inner).0 = false;
        self.engine.poll()
    }

    /// The first event of which `find` makes something.
    fn wait_for<T>(&mut self, mut find: impl FnMut(&Event) -> Option<T>) -> Result<T, Failure> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            for event in self.events(until) {
                match &event {
                    Event::Broken(failure) => return Err(Failure::diagnostics(&failure.diagnostics, &failure.sources)),
                    Event::MachineFailed(machine, message) => {
                        return Err(Failure::device(format!("error: the {} failed: {message}", machine.name())));
                    }
                    _ => {}
                }
                if let Some(found) = find(&event) {
                    return Ok(found);
                }
            }
        }
        Err(Failure::device(format!("error: no image came within {} s", PATIENCE.as_secs())))
    }

    /// The next image of a machine that is as asked.
    fn image(&mut self, machine: Backend, is_it: impl Fn(&Shown) -> bool) -> Result<Arc<Shown>, Failure> {
        self.wait_for(|event| match event {
            Event::Image(shown) if shown.machine == machine && is_it(shown) => Some(shown.clone()),
            _ => None,
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What was measured of a machine, in milliseconds.
#[derive(Default)]
struct Times {
    /// From a view to its first image, and to one of all its pixels.
    first: Vec<f64>,
    full: Vec<f64>,
    /// Blocks of the first image.
    steps: Vec<f64>,
    /// Between two images while the camera is dragged.
    gaps: Vec<f64>,
}

/// `bench view`: each machine in turn.
pub fn orbit(args: &BenchArgs) -> Result<Value, Failure> {
    let source = match &args.mesh {
        Some(path) => Source::File(path.clone()),
        None => Source::BuiltIn(builtin::DEFAULT_SCENE.to_string()),
    };
    let mut desk = Desk::new(args);
    desk.engine.send(Command::Samples(Some(1)));
    desk.engine.send(Command::Open(source));
    let state = desk.wait_for(|event| match event {
        Event::Loaded(state) => Some(state.clone()),
        _ => None,
    })?;
    let mut machines = vec![Backend::RPU];
    if args.machine.adapter.is_some() || has_hardware_adapter() {
        machines.push(Backend::GPU);
    }
    let steps = (machines.len() * (UNCOUNTED + VIEWS + 1)) as f32;
    let mut done = 0.0;
    let rows = with_progress(Work { what: "views", samples: None }, |progress| {
        let mut rows = Vec::new();
        for machine in machines {
            rows.push(measure(&mut desk, &state, machine, &mut || {
                done += 1.0;
                progress(done / steps);
            })?);
        }
        Ok::<_, Failure>(rows)
    })?;
    let format = state.scene.format;
    if !args.json {
        println!(
            "{}, {}x{}, {} triangles: milliseconds from a new view to its image",
            state.scene.name,
            format.width,
            format.height,
            state.scene.triangle_count()
        );
        let heads = ["first", "worst", "blocks", "full", "worst", "dragged", "worst"];
        print!("{:<8}", "");
        heads.iter().for_each(|head| print!(" {head:>8}"));
        println!();
        for row in &rows {
            print!("{:<8}", row["machine"].as_str().unwrap_or("?"));
            let keys = [
                "first_ms",
                "first_worst_ms",
                "first_step",
                "full_ms",
                "full_worst_ms",
                "drag_gap_ms",
                "drag_gap_worst_ms",
            ];
            keys.iter().for_each(|key| print!(" {:>8.1}", row[key].as_f64().unwrap_or(0.0)));
            println!("  {}", row["device"].as_str().unwrap_or("?"));
        }
    }
    Ok(json!({
        "scene": state.scene.name,
        "triangles": state.scene.triangle_count(),
        "width": format.width,
        "height": format.height,
        "machines": rows,
    }))
}

/// Orbits with one machine, first view by view, then without rest.
fn measure(desk: &mut Desk, state: &State, machine: Backend, step_done: &mut dyn FnMut()) -> Result<Value, Failure> {
    let format = state.scene.format;
    let mut navigation = Navigation::new(&state.scene.camera, state.scene.bounds());
    let mut next = || {
        navigation.orbit(TURN);
        View { camera: navigation.camera().clone(), format }
    };
    let mut times = Times::default();
    desk.engine.send(Command::Draw(vec![machine]));
    let mut device = String::new();
    for number in 0..UNCOUNTED + VIEWS {
        let view = next();
        let start = Instant::now();
        desk.engine.send(Command::Look(view.clone()));
        let first = desk.image(machine, |shown| shown.view == view)?;
        let first_time = start.elapsed();
        if !first.is_finished() {
            desk.image(machine, |shown| shown.view == view && shown.is_finished())?;
        }
        device = first.described.to_string();
        if number >= UNCOUNTED {
            times.first.push(milliseconds(first_time));
            times.full.push(milliseconds(start.elapsed()));
            times.steps.push(f64::from(first.step));
        }
        step_done();
    }
    let mut last = Instant::now();
    let mut due = last;
    for _ in 0..DRAGGED_VIEWS {
        due += DRAG;
        desk.engine.send(Command::Look(next()));
        while Instant::now() < due {
            for event in desk.events(due) {
                if matches!(&event, Event::Image(shown) if shown.machine == machine) {
                    times.gaps.push(milliseconds(last.elapsed()));
                    last = Instant::now();
                }
            }
        }
    }
    step_done();
    let worst = |times: &[f64]| times.iter().copied().fold(0.0, f64::max);
    let gaps =
        if times.gaps.is_empty() { vec![f64::from(DRAGGED_VIEWS as u32) * milliseconds(DRAG)] } else { times.gaps };
    Ok(json!({
        "machine": machine.name(),
        "device": device,
        "first_ms": rounded(median(times.first.clone())),
        "first_worst_ms": rounded(worst(&times.first)),
        "first_step": rounded(median(times.steps)),
        "full_ms": rounded(median(times.full.clone())),
        "full_worst_ms": rounded(worst(&times.full)),
        "drag_gap_ms": rounded(median(gaps.clone())),
        "drag_gap_worst_ms": rounded(worst(&gaps)),
    }))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
