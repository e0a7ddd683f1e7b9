//! The worker threads of the window: one that reads scenes, one for each back end that draws,
//! one that probes pixels, one that looks where the back ends differ, one that lists the compiled
//! forms of shaders, one that simulates the ray tracing array, one that specializes programs.
//!
//! [`Workers::send`] takes [`Command`]s and never waits: of each kind the newest replaces those
//! that were not carried out. [`Workers::poll`] gives the [`Event`]s since the last call; a
//! function wakes whoever polls. Threads with nothing to do sleep. Nothing here knows a window: the
//! tests, and whoever wants to watch a scene without one, use it as the window does.
//!
//! | file | holds |
//! |---|---|
//! | [`message`] | commands and events |
//! | `loading` | the thread that keeps a project up to date |
//! | `drawing` | the rendering thread of a back end |
//! | `probing` | the thread that probes pixels |
//! | `diverging` | the thread that looks where the back ends differ |
//! | `inspecting` | the thread that lists compiled shaders |
//! | `simulating` | the thread that simulates the ray tracing array |
//! | `requests` | the latest request for these four |
//! | `slot` | the latest request for a rendering thread |
//! | `specializing` | the thread that specializes programs |
//! | `schedule` | which pass comes next |
//! | `outbox` | events on their way out |

mod diverging;
mod drawing;
mod inspecting;
mod loading;
pub mod message;
mod outbox;
mod probing;
mod requests;
mod schedule;
mod simulating;
mod slot;
mod specializing;
#[cfg(test)]
mod tests;

pub use message::{Command, Diverged, Event, Probed, Shown};
pub use outbox::Wake;

use crate::array::ArrayRequest;
use drawing::{Opens, WorkerContext};
use loading::Request;
use outbox::Outbox;
use requests::Requests;
use shadewright_base::cache::DiskCache;
use shadewright_project as project;
use shadewright_project::InstanceId;
use shadewright_render::rpu::RpuRenderer;
use shadewright_render::{Backend, BackendOptions};
use slot::Slot;
use specializing::LatestState;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// How the threads do their work.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// How scenes are read and linked.
    pub project: project::ProjectOptions,
    /// Part of the name of the GPU adapter to draw on; `None` for the best one.
    pub adapter: Option<String>,
    /// Back edges and calls that a sample may take.
    pub budget: u32,
    /// Where compiled programs are kept.
    pub cache: Option<DiskCache>,
}

impl From<&super::ViewerOptions> for WorkerOptions {
    fn from(options: &super::ViewerOptions) -> Self {
        let super::ViewerOptions { project, adapter, budget, cache, .. } = options.clone();
        Self { project, adapter, budget, cache }
    }
}

/// The worker threads. Dropping it ends them.
pub struct Workers {
    outbox: Arc<Outbox>,
    /// One for each of [`Backend::INTERACTIVE`], in its order.
    slots: [Arc<Slot>; Backend::INTERACTIVE.len()],
    loader: Sender<Request>,
    prober: Arc<Requests<probing::ProbeRequest>>,
    diverger: Arc<Requests<diverging::DivergeRequest>>,
    inspector: Arc<Requests<InstanceId>>,
    simulator: Arc<Requests<ArrayRequest>>,
    specializer: Arc<LatestState>,
    /// The threads that have devices.
    drawing: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts the threads. They call `wake` when there is something to poll.
    pub fn start(options: WorkerOptions, wake: Wake) -> Self {
        let WorkerOptions { mut project, adapter, budget, cache } = options;
        // Views and edits change while the scene is shown: at first they are data.
        let facts = project.specialize.for_any_view();
        project.specialize = facts.for_edits();
        let outbox = Arc::new(Outbox::new(wake));
        let slots = Backend::INTERACTIVE.map(|_| Arc::<Slot>::default());
        let (loader, requests) = channel();
        let look = loader.clone();
        let prober = Arc::new(Requests::default());
        let diverger: Arc<Requests<diverging::DivergeRequest>> = Arc::default();
        let inspector = Arc::new(Requests::default());
        let simulator = Arc::new(Requests::default());
        let specializer = Arc::new(LatestState::default());

        let (events, drawn_by) = (outbox.clone(), slots.clone());
        let (asked, asked_for_code, asked_for_array) = (prober.clone(), inspector.clone(), simulator.clone());
        let latest = specializer.clone();
        let asked_for_divergence = diverger.clone();
        std::thread::spawn(move || {
            let share = |state: &Arc<project::ProjectState>| {
                drawn_by.iter().for_each(|slot| slot.change(|request| request.state = Some(state.clone())));
                asked.set_state(state.clone());
                asked_for_divergence.set_state(state.clone());
                asked_for_code.set_state(state.clone());
                asked_for_array.set_state(state.clone());
                latest.set(state.clone());
            };
            loading::run(&requests, look, &project, &events, &share);
        });
        let (events, asked) = (outbox.clone(), prober.clone());
        std::thread::spawn(move || probing::run(&asked, &events, budget));
        let (events, asked) = (outbox.clone(), inspector.clone());
        std::thread::spawn(move || inspecting::run(&asked, &events, budget));
        let (events, asked) = (outbox.clone(), simulator.clone());
        std::thread::spawn(move || simulating::run(&asked, &events, budget));
        let (events, latest) = (outbox.clone(), specializer.clone());
        std::thread::spawn(move || specializing::run(&latest, facts, &events));

        // The threads of the process build BVHs meanwhile, and compute what the GPU needs: the RPU
        // has its own.
        let own_threads = Some(rayon::current_num_threads());
        let rpu = RpuRenderer::new().with_cache(cache);
        let options = BackendOptions { adapter, own_threads, rpu, ..BackendOptions::default() };
        let draw = |backend: Backend| {
            let slot = |backend: Backend| slots[backend.index()].clone();
            // A GPU compiles for long and can be lost; the RPU does neither.
            let deputy = backend.info().uses_gpu.then(|| slot(Backend::RPU));
            let context = WorkerContext { backend, slot: slot(backend), deputy, outbox: outbox.clone(), budget };
            let options = options.clone();
            let open: Opens = Box::new(move || backend.progressive(&options));
            std::thread::spawn(move || drawing::run(context, open))
        };
        let mut drawing: Vec<_> = Backend::INTERACTIVE.map(draw).into();
        let (events, asked) = (outbox.clone(), diverger.clone());
        drawing.push(std::thread::spawn(move || diverging::run(&asked, &events, &options, budget)));
        Self { outbox, slots, loader, prober, diverger, inspector, simulator, specializer, drawing }
    }

    /// Sends a command.
    pub fn send(&self, command: Command) {
        match command {
            Command::Open(source) => {
                // What is drawn is closed; the new scene's view comes when it is loaded.
                self.slots.iter().for_each(|slot| slot.change(|request| (request.state, request.view) = (None, None)));
                self.outbox.drop_images();
                self.prober.forget();
                self.diverger.forget();
                self.inspector.forget();
                self.simulator.forget();
                self.request(Request::Open(source));
            }
            Command::Reload => self.request(Request::Look),
            Command::SetParameter { instance, name, value } => {
                self.request(Request::SetParameter(instance, name, value));
            }
            Command::SetOptions(edits) => self.request(Request::SetOptions(edits)),
            Command::CutFor(view) => self.request(Request::CutFor(view)),
            Command::Look(view) => {
                self.slots.iter().for_each(|slot| slot.change(|request| request.view = Some(view.clone())));
                self.prober.set_view(view.clone());
                self.diverger.set_view(view.clone());
                self.inspector.set_view(view.clone());
                self.simulator.set_view(view);
            }
            Command::Draw(backends) => {
                for (backend, slot) in Backend::INTERACTIVE.into_iter().zip(&self.slots) {
                    slot.change(|request| request.wanted = backends.contains(&backend));
                }
            }
            Command::Samples(samples) => {
                self.slots.iter().for_each(|slot| slot.change(|request| request.samples = samples));
                self.prober.set_samples(samples);
                self.diverger.set_samples(samples);
            }
            Command::TimeKernels(on) => self.slots.iter().for_each(|slot| slot.change(|request| request.timed = on)),
            Command::Retry(backend) => self.slots[backend.index()].change(|request| request.tries += 1),
            Command::Probe { pixel, sample } => self.prober.ask(probing::ProbeRequest { pixel, sample }),
            Command::Diverge(pixel) => self.diverger.ask(pixel),
            Command::EndDivergence => self.diverger.withdraw(),
            Command::Inspect(instance) => self.inspector.ask(instance),
            Command::Simulate(request) => self.simulator.ask(request),
        }
    }

    /// The events since the last call, in order.
    pub fn poll(&mut self) -> Vec<Event> {
        self.outbox.take()
    }

    fn request(&self, request: Request) {
        // The thread ends only when this workers does.
        let _ = self.loader.send(request);
    }
}

impl Drop for Workers {
    /// Ends the threads that have devices, and waits for them: these must not outlive the program.
    /// The others end when what they do is done.
    fn drop(&mut self) {
        self.slots.iter().for_each(|slot| slot.quit());
        self.prober.quit();
        self.diverger.quit();
        self.inspector.quit();
        self.simulator.quit();
        self.specializer.quit();
        self.request(Request::End);
        for thread in self.drawing.drain(..) {
            // A panic is already reported.
            let _ = thread.join();
        }
    }
}
