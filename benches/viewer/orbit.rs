//! The time from a new view to its image, as the viewer's worker threads render it.

use crate::common::{diagnostics, median, rounded};
use anyhow::anyhow;
use glam::Vec2;
use serde_json::{Value, json};
use shadewright::project::{ProjectState, Source, View};
use shadewright::render::gpu::has_hardware_adapter;
use shadewright::render::{Backend, DEFAULT_BUDGET};
use shadewright::scene::builtin;
use shadewright::viewer::camera::Navigation;
use shadewright::viewer::workers::{Command, Event, Shown, WorkerOptions, Workers};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Views of an orbit, each until its image is complete.
const VIEWS: usize = 24;

/// Views that follow each other while the camera is dragged, and the time between two of them.
const DRAGGED_VIEWS: usize = 60;
const DRAG: Duration = Duration::from_micros(16_667);

/// Views before the first that is measured: the renderer adapts to its speed.
const UNCOUNTED: usize = 4;

/// The longest time to wait for an image.
const PATIENCE: Duration = Duration::from_secs(600);

/// Rotation of the camera from one view to the next, as fractions of the image height.
const TURN: Vec2 = Vec2::new(0.04, 0.01);

/// The viewer's worker threads, and the signal that wakes the measuring thread.
struct Desk {
    workers: Workers,
    woken: Arc<(Mutex<bool>, Condvar)>,
}

impl Desk {
    fn new(adapter: Option<&str>) -> Self {
        let woken: Arc<(Mutex<bool>, Condvar)> = Arc::default();
        let waking = woken.clone();
        let wake = Arc::new(move || {
            *lock(&waking.0) = true;
            waking.1.notify_all();
        });
        let adapter = adapter.map(str::to_string);
        let options = WorkerOptions { project: Default::default(), adapter, budget: DEFAULT_BUDGET, cache: None };
        Self { workers: Workers::start(options, wake), woken }
    }

    /// Waits for events until then; returns as soon as there are some.
    fn events(&mut self, until: Instant) -> Vec<Event> {
        let time = until.saturating_duration_since(Instant::now());
        let woken = lock(&self.woken.0);
        let waited = self.woken.1.wait_timeout_while(woken, time, |woken| !*woken);
        *waited.unwrap_or_else(std::sync::PoisonError::into_inner).0 = false;
        self.workers.poll()
    }

    /// The first event for which `find` returns a value.
    fn wait_for<T>(&mut self, mut find: impl FnMut(&Event) -> Option<T>) -> anyhow::Result<T> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            for event in self.events(until) {
                match &event {
                    Event::Broken(failure) => return Err(diagnostics(&failure.diagnostics, &failure.sources)),
                    Event::BackendFailed(backend, message) => {
                        return Err(anyhow!("the {} failed: {message}", backend.name()));
                    }
                    _ => {}
                }
                if let Some(found) = find(&event) {
                    return Ok(found);
                }
            }
        }
        Err(anyhow!("no image within {} s", PATIENCE.as_secs()))
    }

    /// The next image of a back end for which `is_it` holds.
    fn image(&mut self, backend: Backend, is_it: impl Fn(&Shown) -> bool) -> anyhow::Result<Arc<Shown>> {
        self.wait_for(|event| match event {
            Event::Image(shown) if shown.backend == backend && is_it(shown) => Some(shown.clone()),
            _ => None,
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Times of a back end, in milliseconds.
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

/// Measures each back end, and prints a table unless `quiet`.
///
/// # Errors
/// When the scene has errors, or a back end fails.
pub fn orbit(mesh: Option<&Path>, adapter: Option<&str>, quiet: bool) -> anyhow::Result<Value> {
    let source = match mesh {
        Some(path) => Source::File(path.to_path_buf()),
        None => Source::BuiltIn(builtin::DEFAULT_SCENE.to_string()),
    };
    let mut desk = Desk::new(adapter);
    desk.workers.send(Command::Samples(Some(1)));
    desk.workers.send(Command::Open(source));
    let state = desk.wait_for(|event| match event {
        Event::Loaded(state) => Some(state.clone()),
        _ => None,
    })?;
    let mut backends = vec![Backend::RPU];
    if adapter.is_some() || has_hardware_adapter() {
        backends.push(Backend::GPU);
    }
    let rows = backends.into_iter().map(|backend| measure(&mut desk, &state, backend));
    let rows = rows.collect::<anyhow::Result<Vec<Value>>>()?;
    let format = state.scene.format;
    if !quiet {
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
            print!("{:<8}", row["backend"].as_str().unwrap_or("?"));
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
        "backends": rows,
    }))
}

/// Orbits with one back end, first view by view, then while dragging.
fn measure(desk: &mut Desk, state: &ProjectState, backend: Backend) -> anyhow::Result<Value> {
    let format = state.scene.format;
    let mut navigation = Navigation::new(&state.scene.camera, state.scene.bounds());
    let mut next = || {
        navigation.orbit(TURN);
        View { camera: navigation.camera().clone(), format }
    };
    let mut times = Times::default();
    desk.workers.send(Command::Draw(vec![backend]));
    let mut device = String::new();
    for number in 0..UNCOUNTED + VIEWS {
        let view = next();
        let start = Instant::now();
        desk.workers.send(Command::Look(view.clone()));
        let first = desk.image(backend, |shown| shown.view == view)?;
        let first_time = start.elapsed();
        if !first.is_finished() {
            desk.image(backend, |shown| shown.view == view && shown.is_finished())?;
        }
        device = first.described.to_string();
        if number >= UNCOUNTED {
            times.first.push(milliseconds(first_time));
            times.full.push(milliseconds(start.elapsed()));
            times.steps.push(f64::from(first.step));
        }
    }
    let mut last = Instant::now();
    let mut due = last;
    for _ in 0..DRAGGED_VIEWS {
        due += DRAG;
        desk.workers.send(Command::Look(next()));
        while Instant::now() < due {
            for event in desk.events(due) {
                if matches!(&event, Event::Image(shown) if shown.backend == backend) {
                    times.gaps.push(milliseconds(last.elapsed()));
                    last = Instant::now();
                }
            }
        }
    }
    let worst = |times: &[f64]| times.iter().copied().fold(0.0, f64::max);
    let gaps =
        if times.gaps.is_empty() { vec![f64::from(DRAGGED_VIEWS as u32) * milliseconds(DRAG)] } else { times.gaps };
    Ok(json!({
        "backend": backend.name(),
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
