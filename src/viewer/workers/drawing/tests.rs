//! A drawing thread with a scripted renderer.

use super::*;
use glam::Vec2;
use shadewright_image::Image;
use shadewright_project::{Outcome, Project, Source};
use shadewright_render::Job;
use shadewright_render::progressive::Pass;
use shadewright_render::report::Report;
use shadewright_scene::Format;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread::JoinHandle;

const PATIENCE: Duration = Duration::from_secs(60);

/// The outcome of the next pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Success,
    /// The device is lost.
    Loss,
    /// A shader does not end.
    Endless,
    Panic,
}

/// Draws black images.
struct Fake {
    fate: Arc<Mutex<Fate>>,
}

impl Progressive for Fake {
    fn describe(&self) -> String {
        "fake".to_string()
    }

    fn uses_kernels(&self) -> bool {
        true
    }

    fn load(&mut self, _: &Job) -> Result<(), RenderError> {
        Ok(())
    }

    fn draw(&mut self, _: Pass, _: &mut Film, _: &AtomicBool) -> Result<(), RenderError> {
        let fate = *self.fate.lock().unwrap();
        match fate {
            Fate::Success => Ok(()),
            Fate::Loss => Err(RenderError::Device("it was unplugged".to_string())),
            Fate::Endless => Err(RenderError::Budget { budget: 7, span: None }),
            Fate::Panic => panic!("as scripted"),
        }
    }

    fn colors(&mut self, positions: &[Vec2], _: &AtomicBool) -> Result<Vec<[f32; 4]>, RenderError> {
        Ok(vec![[0.0; 4]; positions.len()])
    }

    fn finish(&mut self, film: &Film, _: u32, _: &AtomicBool) -> Result<Image, RenderError> {
        Ok(film.resolve())
    }

    fn report(&self) -> Report {
        Report::default()
    }
}

/// A drawing thread and all around it.
struct Bench {
    slot: Arc<Slot>,
    deputy: Arc<Slot>,
    outbox: Arc<Outbox>,
    fate: Arc<Mutex<Fate>>,
    opened: Arc<AtomicUsize>,
    woken: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Bench {
    /// A thread that has something to draw, which will go that way.
    fn new(fate: Fate) -> Self {
        let woken: Arc<(Mutex<bool>, Condvar)> = Arc::default();
        let waking = woken.clone();
        let outbox = Arc::new(Outbox::new(Arc::new(move || {
            *waking.0.lock().unwrap() = true;
            waking.1.notify_all();
        })));
        let (slot, deputy): (Arc<Slot>, Arc<Slot>) = Default::default();
        let fate = Arc::new(Mutex::new(fate));
        let opened = Arc::new(AtomicUsize::new(0));
        let (given, count) = (fate.clone(), opened.clone());
        let open: Opens = Box::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(Box::new(Fake { fate: given.clone() }))
        });
        let context = WorkerContext {
            machine: Backend::GPU,
            slot: slot.clone(),
            deputy: Some(deputy.clone()),
            outbox: outbox.clone(),
            budget: 7,
        };
        let thread = Some(std::thread::spawn(move || run(context, open)));
        let bench = Self { slot, deputy, outbox, fate, opened, woken, thread };
        let mut project = Project::new(Source::BuiltIn("sepia".to_string()), Default::default());
        let Outcome::Ready(state) = project.refresh() else { panic!("a built-in scene") };
        bench.look(16);
        bench.slot.change(|request| (request.state, request.wanted) = (Some(state), true));
        bench
    }

    fn look(&self, width: u32) {
        let format = Format { width, height: 8, pixel_aspect: 1.0 };
        self.slot.change(|request| request.view = Some(View { camera: Default::default(), format }));
    }

    /// Another state, of other kernels. Gives its version.
    fn edit_kernels(&self) -> u64 {
        let mut version = 0;
        self.slot.change(|request| {
            let mut state = (**request.state.as_ref().expect("there is one")).clone();
            (state.version, state.kernels) = (state.version + 1, state.kernels + 1);
            version = state.version;
            request.state = Some(Arc::new(state));
        });
        version
    }

    /// The first image or failure.
    fn outcome(&self) -> Result<Arc<Shown>, String> {
        loop {
            for event in self.outbox.take() {
                match event {
                    Event::Image(shown) => return Ok(shown),
                    Event::BackendFailed(_, message) => return Err(message),
                    _ => {}
                }
            }
            let woken = self.woken.0.lock().unwrap();
            let (mut woken, waited) = self.woken.1.wait_timeout_while(woken, PATIENCE, |woken| !*woken).unwrap();
            assert!(!waited.timed_out(), "nothing came");
            *woken = false;
        }
    }

    /// True if the deputy draws, once it has the message.
    fn assert_stands_in(&self, expected: bool) {
        let start = Instant::now();
        while self.deputy.take(None, None).expect("it goes on").request.stands_in != expected {
            assert!(start.elapsed() < PATIENCE);
            std::thread::yield_now();
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.slot.quit();
        // A panic was part of the test.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[test]
fn a_device_that_is_lost_is_replaced_by_its_deputy_and_opened_again_when_the_user_says_so() {
    let bench = Bench::new(Fate::Loss);
    assert_eq!(bench.outcome().unwrap_err(), "error: it was unplugged");
    bench.assert_stands_in(true);
    *bench.fate.lock().unwrap() = Fate::Success;
    // Another view does not open it.
    bench.look(24);
    bench.slot.change(|request| request.tries += 1);
    assert_eq!(bench.outcome().unwrap().view.format.width, 24);
    bench.assert_stands_in(false);
    assert_eq!(bench.opened.load(Ordering::Relaxed), 2);
}

#[test]
fn edited_kernels_open_the_device_anew_and_one_that_they_had_broken_too() {
    let bench = Bench::new(Fate::Loss);
    bench.outcome().unwrap_err();
    *bench.fate.lock().unwrap() = Fate::Success;
    for opened in [2, 3] {
        let version = bench.edit_kernels();
        while bench.outcome().unwrap().state != version {}
        assert_eq!(bench.opened.load(Ordering::Relaxed), opened);
    }
}

#[test]
fn a_failure_of_a_shader_ends_with_the_next_view_on_the_same_device() {
    let bench = Bench::new(Fate::Endless);
    assert_eq!(bench.outcome().unwrap_err(), "error: a shader did not end within 7 loop iterations and calls");
    *bench.fate.lock().unwrap() = Fate::Success;
    bench.look(24);
    assert_eq!(bench.outcome().unwrap().view.format.width, 24);
    bench.assert_stands_in(false);
    assert_eq!(bench.opened.load(Ordering::Relaxed), 1);
}

#[test]
fn a_thread_that_panics_tells_so() {
    let bench = Bench::new(Fate::Panic);
    assert_eq!(bench.outcome().unwrap_err(), "an internal error ended its thread");
    bench.assert_stands_in(true);
}

#[test]
fn a_finished_image_is_not_drawn_again() {
    let bench = Bench::new(Fate::Success);
    while !bench.outcome().unwrap().is_finished() {}
    bench.look(16);
    bench.slot.change(|request| request.stands_in = true);
    std::thread::sleep(Duration::from_millis(50));
    assert!(bench.outbox.take().is_empty());
}
