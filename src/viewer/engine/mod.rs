//! The worker threads: one reads and compiles, one draws.
//!
//! The window sends [`Command`]s and polls [`Event`]s; neither waits.

mod message;

pub use message::{Command, Event, Machine, Shown};

use crate::project::{self, Outcome, Project, State, View};
use crate::render::Window;
use crate::render::film::Film;
use crate::render::progressive::{Pass, Progressive};
use crate::render::rpu::RpuProgressive;
use crate::render::sampling::Sampling;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

/// How to start.
#[derive(Clone, Debug)]
pub struct Options {
    /// How scenes are read and linked.
    pub project: project::Options,
    /// Back edges and calls that a sample may take.
    pub budget: u32,
}

impl From<&super::Options> for Options {
    fn from(options: &super::Options) -> Self {
        Self { project: options.project.clone(), budget: options.budget }
    }
}

/// The window's end of the worker threads.
pub struct Engine {
    commands: Sender<Command>,
    events: Receiver<Event>,
}

impl Engine {
    /// Starts the threads. They call `wake` when they have news.
    pub fn start(options: Options, wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        let (commands, inbox) = channel();
        let (outbox, events) = channel();
        std::thread::spawn(move || {
            let mut worker = Worker { options, wake, outbox, project: None, state: None, view: None };
            while let Ok(command) = inbox.recv() {
                worker.obey(command);
            }
        });
        Self { commands, events }
    }

    /// Asks for something.
    pub fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }

    /// The news since the last call.
    pub fn poll(&mut self) -> Vec<Event> {
        self.events.try_iter().collect()
    }
}

struct Worker {
    options: Options,
    wake: Arc<dyn Fn() + Send + Sync>,
    outbox: Sender<Event>,
    project: Option<Project>,
    state: Option<Arc<State>>,
    view: Option<View>,
}

impl Worker {
    fn tell(&self, event: Event) {
        let _ = self.outbox.send(event);
        (self.wake)();
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Open(source) => {
                let mut project = Project::new(source, self.options.project.clone());
                let outcome = project.refresh();
                self.project = Some(project);
                self.take(outcome);
            }
            Command::SetParameter { instance, name, value } => {
                if let Some(Ok(outcome)) = self.project.as_mut().map(|p| p.set_parameter(instance, &name, value)) {
                    self.take(outcome);
                }
            }
            Command::SetOptions(edits) => {
                if let Some(Ok(outcome)) = self.project.as_mut().map(|p| p.set_options(edits)) {
                    self.take(outcome);
                }
            }
            Command::Look(view) => {
                self.view = Some(view);
                self.draw();
            }
            _ => {}
        }
    }

    fn take(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Unchanged => {}
            Outcome::Ready(state) => {
                self.state = Some(state.clone());
                self.tell(Event::Loaded(state));
                self.draw();
            }
            Outcome::Broken(failure) => self.tell(Event::Broken(failure)),
        }
    }

    fn draw(&mut self) {
        let (Some(state), Some(view)) = (&self.state, &self.view) else { return };
        let start = Instant::now();
        let sampling = Sampling { strata: [1, 1], seed: 0 };
        let job = state.job(view, sampling, self.options.budget);
        let mut machine = RpuProgressive::new(crate::render::rpu::RpuRenderer::new());
        let stop = AtomicBool::new(false);
        let window = Window::whole(view.format.width, view.format.height);
        for step in [4, 1] {
            let pass = Pass { step, first: 0, count: 1 };
            let [width, height] = pass.size(window);
            let Ok(mut film) = Film::new(width, height) else { return };
            let drawn = machine.load(&job).and_then(|()| machine.draw(pass, &mut film, &stop));
            match drawn.and_then(|()| machine.finish(&film, step, &stop)) {
                Ok(picture) => self.tell(Event::Picture(Arc::new(Shown {
                    machine: Machine::Rpu,
                    described: machine.describe().into(),
                    state: state.version,
                    view: view.clone(),
                    picture: Arc::new(picture),
                    step,
                    samples: 1,
                    wanted: 1,
                    pass: start.elapsed(),
                    since_change: start.elapsed(),
                    report: Arc::new(machine.report()),
                }))),
                Err(error) => self.tell(Event::MachineFailed(Machine::Rpu, error.to_string())),
            }
        }
    }
}
