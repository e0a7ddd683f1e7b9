//! The latest request to a rendering thread: a new request replaces the old one and aborts the
//! current pass where that loses nothing.

use shadewright_project::{ProjectState, View};
use shadewright_render::sampling::Sampling;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Minimum time before a new view aborts the first pass of the previous one, so that images keep
/// appearing during fast motion.
const FIRST_PASS_IS_SAFE: Duration = Duration::from_millis(150);

/// A request to render.
#[derive(Clone, Debug, Default)]
pub struct DrawRequest {
    /// The scene.
    pub state: Option<Arc<ProjectState>>,
    /// The view.
    pub view: Option<View>,
    /// Samples a pixel, instead of the scene's.
    pub samples: Option<u32>,
    /// True if the time of every kernel is measured.
    pub timed: bool,
    /// True if this back end's image is visible.
    pub wanted: bool,
    /// True if this back end renders in place of one that cannot.
    pub stands_in: bool,
    /// How often the user asked to try again.
    pub tries: u32,
}

impl DrawRequest {
    /// The scene and its view, if there is something to draw.
    pub fn subject(&self) -> Option<(&Arc<ProjectState>, &View)> {
        if self.wanted || self.stands_in { self.state.as_ref().zip(self.view.as_ref()) } else { None }
    }

    fn is_same_scene(&self, other: &DrawRequest) -> bool {
        version(self) == version(other) && self.subject().is_some() == other.subject().is_some()
    }

    fn is_same(&self, other: &DrawRequest) -> bool {
        self.is_same_scene(other)
            && self.view == other.view
            && self.samples == other.samples
            && self.timed == other.timed
            && self.tries == other.tries
            && self.wanted == other.wanted
    }
}

/// Where samples lie: so many a pixel, or as many as the scene says.
pub fn sampling(state: &ProjectState, samples: Option<u32>) -> Sampling {
    Sampling { strata: samples.map_or(state.scene.pixel_samples, Sampling::strata_of), seed: 0 }
}

fn version(request: &DrawRequest) -> Option<u64> {
    request.state.as_ref().map(|state| state.version)
}

/// The slot for the latest request between two threads.
#[derive(Debug, Default)]
pub struct Slot {
    inner: Mutex<Inner>,
    changed: Condvar,
    stop: AtomicBool,
}

#[derive(Debug, Default)]
struct Inner {
    request: DrawRequest,
    /// Rises with every change.
    number: u64,
    /// When what is to be seen changed last.
    since: Option<Instant>,
    /// Since when the first pass of a view has been under way.
    first_pass: Option<Instant>,
    quit: bool,
}

/// A request as taken by its thread.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The request.
    pub request: DrawRequest,
    /// The number of the request.
    pub number: u64,
    /// When it was made.
    pub since: Instant,
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the request. A pass under way ends if nobody wants its scene any more, or its view
    /// and it is not the first of that.
    pub fn change(&self, change: impl FnOnce(&mut DrawRequest)) {
        let mut inner = self.lock();
        let old = inner.request.clone();
        change(&mut inner.request);
        if inner.request.is_same(&old) {
            return;
        }
        inner.number += 1;
        inner.since = Some(Instant::now());
        let is_safe = inner.first_pass.is_some_and(|since| since.elapsed() < FIRST_PASS_IS_SAFE);
        if !inner.request.is_same_scene(&old) || !is_safe {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.changed.notify_all();
    }

    /// Ends the thread.
    pub fn quit(&self) {
        self.lock().quit = true;
        self.stop.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// The request. With the number of one that needs nothing more, waits for another, at most so
    /// long if at all. `None` when the thread shall end.
    pub fn take(&self, done: Option<u64>, at_most: Option<Duration>) -> Option<Taken> {
        let mut inner = self.lock();
        let waits = |inner: &mut Inner| !inner.quit && done == Some(inner.number);
        inner = match at_most {
            Some(time) => {
                let waited = self.changed.wait_timeout_while(inner, time, waits);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.changed.wait_while(inner, waits).unwrap_or_else(PoisonError::into_inner),
        };
        let since = inner.since.unwrap_or_else(Instant::now);
        (!inner.quit).then(|| Taken { request: inner.request.clone(), number: inner.number, since })
    }

    /// A pass for this request begins, the first of its view or not. `None` when there is a newer
    /// request; else what ends the pass.
    pub fn begin(&self, number: u64, is_first: bool) -> Option<&AtomicBool> {
        let mut inner = self.lock();
        if inner.quit || inner.number != number {
            return None;
        }
        inner.first_pass = is_first.then(Instant::now);
        self.stop.store(false, Ordering::Relaxed);
        Some(&self.stop)
    }

    /// The pass has ended. Whether its scene, the state of this version, is still wanted; another
    /// view of it may be.
    pub fn end(&self, drawn: u64) -> bool {
        let mut inner = self.lock();
        inner.first_pass = None;
        version(&inner.request) == Some(drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_scene::{Camera, Format};

    fn look(slot: &Slot, width: u32) {
        let format = Format { width, ..Format::default() };
        slot.change(|request| request.view = Some(View { camera: Camera::default(), format }));
    }

    fn is_stopped(slot: &Slot) -> bool {
        slot.stop.load(Ordering::Relaxed)
    }

    #[test]
    fn the_newest_wish_wins_and_the_same_again_is_none() {
        let slot = Slot::default();
        look(&slot, 1);
        look(&slot, 2);
        let taken = slot.take(None, None).unwrap();
        assert_eq!(taken.request.view.as_ref().unwrap().format.width, 2);
        look(&slot, 2);
        assert_eq!(slot.take(Some(taken.number), Some(Duration::ZERO)).unwrap().number, taken.number);
    }

    #[test]
    fn a_new_view_ends_a_later_pass_but_not_the_first_one() {
        let slot = Slot::default();
        for (is_first, stopped) in [(true, false), (false, true)] {
            look(&slot, 1);
            let number = slot.take(None, None).unwrap().number;
            assert!(slot.begin(number, is_first).is_some());
            look(&slot, 2);
            assert_eq!(is_stopped(&slot), stopped);
            assert!(!slot.end(1), "there is no scene");
            assert!(slot.begin(number, is_first).is_none(), "there is a newer request");
        }
    }

    #[test]
    fn a_back_end_that_nobody_looks_at_any_more_ends_even_its_first_pass() {
        let source = shadewright_project::Source::BuiltIn("sepia".to_string());
        let mut project = shadewright_project::Project::new(source, Default::default());
        let shadewright_project::Outcome::Ready(state) = project.refresh() else { panic!("a built-in scene") };
        let slot = Slot::default();
        slot.change(|request| (request.state, request.wanted) = (Some(state), true));
        look(&slot, 1);
        let number = slot.take(None, None).unwrap().number;
        assert!(slot.begin(number, true).is_some());
        look(&slot, 2);
        assert!(!is_stopped(&slot));
        slot.change(|request| request.wanted = false);
        assert!(is_stopped(&slot));
    }

    #[test]
    fn a_thread_that_waits_is_told_to_end() {
        let slot = Arc::new(Slot::default());
        let waiting = slot.clone();
        let number = slot.take(None, None).unwrap().number;
        let thread = std::thread::spawn(move || waiting.take(Some(number), None).is_none());
        slot.quit();
        assert!(thread.join().unwrap());
        assert!(is_stopped(&slot) && slot.begin(number, true).is_none());
    }
}
