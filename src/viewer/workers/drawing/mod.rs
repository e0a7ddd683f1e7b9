//! A rendering thread: takes the latest request, renders it pass by pass, and sends every image. It
//! sleeps when idle.
//!
//! Knows a back end only as [`Progressive`]. New code may need compilation first, on other threads;
//! meanwhile the previous image stays, and the other back end renders in this one's place. A program
//! that is specialized for the scene takes the place of the general one between two passes, once it is
//! compiled: nobody waits for it.

#[cfg(test)]
mod tests;

use super::message::{Event, Shown};
use super::outbox::Outbox;
use super::schedule::{Plan, Speed};
use super::slot::{Slot, Taken, sampling};
use shadewright_base::text::diagnostics;
use shadewright_ir::Module;
use shadewright_project::{ProjectState, View};
use shadewright_render::Backend;
use shadewright_render::film::Film;
use shadewright_render::progressive::{BackgroundCompilation, Progressive};
use shadewright_render::sampling::Sampling;
use shadewright_render::{Job, RenderError, Window};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Polling interval for kernel compilation.
const LOOK_AT_PREPARATION: Duration = Duration::from_millis(10);

/// Opens the renderer, again after a device loss.
pub type Opens = Box<dyn Fn() -> Result<Box<dyn Progressive>, RenderError> + Send>;

/// The state that a rendering thread shares with others.
pub struct WorkerContext {
    /// Which back end it is.
    pub backend: Backend,
    /// The latest request.
    pub slot: Arc<Slot>,
    /// The thread that renders in its place while it cannot.
    pub deputy: Option<Arc<Slot>>,
    /// Where its events go.
    pub outbox: Arc<Outbox>,
    /// Back edges and calls that a sample may take.
    pub budget: u32,
}

impl Drop for WorkerContext {
    /// A thread that panics reports it.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let message = "an internal error ended its thread".to_string();
            self.outbox.send(Event::BackendFailed(self.backend, message));
            self.stand_in(true);
        }
    }
}

impl WorkerContext {
    /// Switches the deputy on or off.
    fn stand_in(&self, on: bool) {
        if let Some(deputy) = &self.deputy {
            deputy.change(|request| request.stands_in = on);
        }
    }
}

/// Renders requests until the slot is closed.
pub fn run(context: WorkerContext, open: Opens) {
    let slot = context.slot.clone();
    let mut thread = Thread {
        context,
        open,
        renderer: None,
        lost: None,
        kernels: 0,
        code: None,
        is_specialized: false,
        speed: Speed::default(),
        film: Film::default(),
        drawn: None,
        abandoned: None,
        swap: None,
    };
    let mut done = None;
    while let Some(taken) = slot.take(done, None) {
        done = None;
        match thread.advance(&taken) {
            Ok(Next::More) => {}
            Ok(Next::Nothing) => done = Some(taken.number),
            Err(RenderError::Stopped) => thread.drawn = None,
            Err(error) => {
                thread.fail(&taken, &error);
                done = Some(taken.number);
            }
        }
    }
    thread.context.stand_in(false);
}

/// True if there is more to draw.
enum Next {
    More,
    Nothing,
}

struct Thread {
    context: WorkerContext,
    open: Opens,
    renderer: Option<Box<dyn Progressive>>,
    /// How often the user had asked to try again when the back end was lost, and the kernels then.
    lost: Option<(u32, u64)>,
    /// The [`ProjectState::kernels`] that the back end was opened with.
    kernels: u64,
    /// The code that is loaded.
    code: Option<Arc<Module>>,
    /// True if that is specialized for the scene.
    is_specialized: bool,
    speed: Speed,
    film: Film,
    /// The content of the film; `None` after an aborted pass.
    drawn: Option<Drawn>,
    /// An abandoned preparation that has not ended yet.
    abandoned: Option<Box<dyn BackgroundCompilation>>,
    /// The specialized program that is being compiled, or is.
    swap: Option<Swap>,
}

/// The compilation of a specialized program.
struct Swap {
    code: Arc<Module>,
    /// `None` where there is nothing to wait for.
    compilation: Option<Box<dyn BackgroundCompilation>>,
    /// True if it does not compile: it is then not used.
    failed: bool,
}

impl Swap {
    fn is_over(&self) -> bool {
        self.compilation.as_ref().is_none_or(|compilation| compilation.is_finished())
    }
}

/// The image that is rendered, and how.
struct Subject {
    state: Arc<ProjectState>,
    view: View,
    sampling: Sampling,
    timed: bool,
}

impl Subject {
    /// True if a finished image of the other equals one of this up to noise.
    fn looks_like(&self, other: &Subject) -> bool {
        self.state.version == other.state.version && self.view == other.view
    }
}

impl PartialEq for Subject {
    fn eq(&self, other: &Subject) -> bool {
        self.looks_like(other) && self.sampling == other.sampling && self.timed == other.timed
    }
}

/// A subject and its progress.
struct Drawn {
    subject: Subject,
    plan: Plan,
}

impl Thread {
    /// Draws one pass.
    fn advance(&mut self, taken: &Taken) -> Result<Next, RenderError> {
        let Some((state, view)) = taken.request.subject() else { return Ok(Next::Nothing) };
        if self.lost == Some((taken.request.tries, state.kernels)) {
            return Ok(Next::Nothing);
        }
        let sampling = sampling(state, taken.request.samples);
        let subject = Subject { state: state.clone(), view: view.clone(), sampling, timed: taken.request.timed };
        if self.drawn.as_ref().is_some_and(|drawn| drawn.subject == subject) {
            self.swap_code(&subject)?;
        } else if !self.begin(subject)? {
            return Ok(Next::More);
        }
        let (Some(drawn), Some(renderer)) = (&mut self.drawn, &mut self.renderer) else { return Ok(Next::Nothing) };
        let Some(pass) = drawn.plan.next(&self.speed) else { return Ok(Next::Nothing) };
        let slot = &self.context.slot;
        let Some(stop) = slot.begin(taken.number, drawn.plan.is_new()) else { return Ok(Next::More) };
        let window = Window::whole(view.format.width, view.format.height);
        if drawn.plan.begins_film() {
            let [width, height] = pass.size(window);
            self.film.restart(width, height, sampling.count())?;
        }
        let start = Instant::now();
        let result = renderer.draw(pass, &mut self.film, stop);
        let result = result.and_then(|()| renderer.finish(&self.film, pass.step, stop));
        let time = start.elapsed();
        let is_wanted = slot.end(state.version);
        if matches!(result, Err(RenderError::Stopped)) {
            self.speed.learn_at_least(pass, window, time);
        }
        let image = Arc::new(result?);
        self.speed.learn(pass, window, time);
        drawn.plan.drew(pass);
        if !is_wanted {
            return Ok(Next::More);
        }
        self.context.outbox.send(Event::Image(Arc::new(Shown {
            backend: self.context.backend,
            described: renderer.describe().into(),
            state: state.version,
            specialized: self.is_specialized,
            view: view.clone(),
            image,
            step: pass.step,
            samples: drawn.plan.samples(),
            wanted: sampling.count(),
            pass: time,
            since_change: taken.since.elapsed(),
            report: Arc::new(renderer.report()),
        })));
        self.context.stand_in(false);
        Ok(Next::More)
    }

    /// Loads the subject. False when a newer request arrives first.
    fn begin(&mut self, subject: Subject) -> Result<bool, RenderError> {
        let old = self.drawn.take();
        let Subject { state, view, sampling, timed } = &subject;
        if self.kernels != state.kernels && self.renderer.as_ref().is_some_and(|renderer| renderer.uses_kernels()) {
            (self.renderer, self.code, self.swap) = (None, None, None);
        }
        if self.renderer.is_none() {
            self.context.stand_in(true);
            self.kernels = state.kernels;
            self.renderer = Some((self.open)()?);
            self.lost = None;
        }
        let specialized = self.specialized_job(&subject);
        let is_specialized = specialized.is_some();
        let job = specialized.unwrap_or_else(|| state.job(view, *sampling, self.context.budget));
        let is_loaded = self.code.as_ref().is_some_and(|code| Arc::ptr_eq(code, &job.program.module));
        if is_specialized && !is_loaded {
            self.speed = Speed::default();
        } else if !is_loaded {
            if !self.is_rid_of_abandoned(state) {
                return Ok(false);
            }
            let Some(renderer) = &mut self.renderer else { return Ok(false) };
            if let Some(preparation) = renderer.prepare(&job) {
                self.context.stand_in(true);
                if !self.wait_for(&*preparation, state) {
                    preparation.cancel();
                    self.abandoned = Some(preparation);
                    return Ok(false);
                }
                preparation.wait()?;
            }
            self.speed = Speed::default();
        }
        if let Some(renderer) = &mut self.renderer {
            renderer.set_profiling(*timed);
        }
        self.load(&job, is_specialized)?;
        let plan = Plan::new(job.window, sampling.count());
        let is_there = |old: Drawn| old.subject.looks_like(&subject) && old.plan.samples() > 0;
        let plan = if old.is_some_and(is_there) { plan.without_coarse_passes() } else { plan };
        self.drawn = Some(Drawn { subject, plan });
        Ok(true)
    }

    /// Loads a job whose code is compiled.
    fn load(&mut self, job: &Job, is_specialized: bool) -> Result<(), RenderError> {
        self.code = None;
        if let Some(renderer) = &mut self.renderer {
            renderer.load(job)?;
            self.code = Some(job.program.module.clone());
            self.is_specialized = is_specialized;
        }
        Ok(())
    }

    /// Between two passes of an image: the program that is specialized for the scene draws the rest,
    /// once it is compiled. Both compute the same image.
    fn swap_code(&mut self, subject: &Subject) -> Result<(), RenderError> {
        if self.is_specialized {
            return Ok(());
        }
        self.specialized_job(subject).map_or(Ok(()), |job| self.load(&job, true))
    }

    /// The job of the program that is specialized for the subject's scene, if that is linked and
    /// compiled. Otherwise its compilation begins, and the general program draws meanwhile.
    fn specialized_job(&mut self, subject: &Subject) -> Option<Job> {
        let Subject { state, view, sampling, .. } = subject;
        let job = state.job_of(state.specialized()?, view, *sampling, self.context.budget);
        let code = &job.program.module;
        if self.code.as_ref().is_some_and(|loaded| Arc::ptr_eq(loaded, code)) {
            return Some(job);
        }
        match &mut self.swap {
            Some(swap) if Arc::ptr_eq(&swap.code, code) => {
                if !swap.is_over() {
                    return None;
                }
                swap.failed |= swap.compilation.take().is_some_and(|compilation| compilation.wait().is_err());
                (!swap.failed).then_some(job)
            }
            // One of an earlier state: it ends before the next one begins.
            Some(swap) if !swap.is_over() => {
                swap.compilation.iter().for_each(|compilation| compilation.cancel());
                None
            }
            _ => {
                let compilation = self.renderer.as_ref()?.compile_ahead(&job);
                let is_ready = compilation.is_none();
                self.swap = Some(Swap { code: code.clone(), compilation, failed: false });
                is_ready.then_some(job)
            }
        }
    }

    /// Waits until an abandoned preparation has ended: quick successive edits would otherwise each
    /// start threads. False when another state is requested first, or none.
    fn is_rid_of_abandoned(&mut self, state: &ProjectState) -> bool {
        let Some(abandoned) = self.abandoned.take() else { return true };
        let is_over = self.wait_for(&*abandoned, state);
        if !is_over {
            self.abandoned = Some(abandoned);
        }
        is_over
    }

    /// Waits until the kernels for a state are compiled. False when another state is requested
    /// first, or none.
    fn wait_for(&self, preparation: &dyn BackgroundCompilation, state: &ProjectState) -> bool {
        let mut seen = None;
        let mut reported = None;
        while !preparation.is_finished() {
            let progress @ [done, of] = preparation.progress();
            if reported != Some(progress) {
                reported = Some(progress);
                self.context.outbox.send(Event::Preparing { backend: self.context.backend, done, of });
            }
            let Some(taken) = self.context.slot.take(seen, Some(LOOK_AT_PREPARATION)) else { return false };
            if taken.request.subject().is_none_or(|(wanted, _)| wanted.version != state.version) {
                return false;
            }
            seen = Some(taken.number);
        }
        true
    }

    /// Reports a failure. A failed device is reopened on the user's request; other failures may go
    /// away with another scene or view.
    fn fail(&mut self, taken: &Taken, error: &RenderError) {
        self.drawn = None;
        self.code = None;
        let text = match &taken.request.state {
            Some(state) => diagnostics::render(&error.diagnostic(), &state.program.sources),
            None => error.to_string(),
        };
        if matches!(error, RenderError::Device(_)) {
            self.renderer = None;
            self.lost = taken.request.state.as_ref().map(|state| (taken.request.tries, state.kernels));
        }
        self.context.outbox.send(Event::BackendFailed(self.context.backend, text.trim_end().to_string()));
        self.context.stand_in(true);
    }
}
