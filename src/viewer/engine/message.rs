//! What the window tells the worker threads, and what they tell it.

use crate::image::Image;
use crate::inspect::Inspection;
use crate::probe::Probe;
use crate::project::{Failure, InstanceId, OptionEdits, Source, State, View};
use crate::render::report::Report;
use crate::scene::ParamValue;
use std::sync::Arc;
use std::time::Duration;

/// One of the two that draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Machine {
    /// Compute shaders.
    Gpu,
    /// The software ray processing unit.
    Rpu,
}

impl Machine {
    /// Both.
    pub const ALL: [Machine; 2] = [Machine::Gpu, Machine::Rpu];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Machine::Gpu => "GPU",
            Machine::Rpu => "RPU",
        }
    }
}

/// A wish of the window's. The latest of a kind wins; none blocks.
#[derive(Clone, Debug)]
pub enum Command {
    /// Shows another scene.
    Open(Source),
    /// Reads everything again.
    Reload,
    /// Gives a parameter a value, or the scene's again.
    SetParameter {
        /// Whose.
        instance: InstanceId,
        /// Which.
        name: String,
        /// What; `None` for the scene's own.
        value: Option<ParamValue>,
    },
    /// Gives the scene's options these values; those that are `None` are the scene's own.
    SetOptions(OptionEdits),
    /// Looks from there.
    Look(View),
    /// Cuts displaced surfaces for the view from there.
    CutFor(View),
    /// Says which machines draw.
    Draw(Vec<Machine>),
    /// Takes at most so many samples a pixel; `None` as many as the scene asks for.
    Samples(Option<u32>),
    /// Whether the time of every kernel is measured.
    TimeKernels(bool),
    /// Tries a machine again that failed.
    Retry(Machine),
    /// Finds out what a sample of a pixel is made of.
    Probe {
        /// Column and row in the view's format.
        pixel: [u32; 2],
        /// Which of the pixel's samples.
        sample: u32,
    },
    /// Lists what becomes of the shader of an instance, and measures it.
    Inspect(InstanceId),
}

/// News of the worker threads.
#[derive(Clone, Debug)]
pub enum Event {
    /// Something is being read, compiled or built.
    Busy(String),
    /// A scene is ready.
    Loaded(Arc<State>),
    /// The scene as it is now cannot be drawn; the last state stays.
    Broken(Arc<Failure>),
    /// An edit was refused, and nothing has changed.
    Refused(String),
    /// A machine has drawn.
    Image(Arc<Shown>),
    /// A machine gets ready for a program; its last image stays.
    Preparing {
        /// Which.
        machine: Machine,
        /// Kernels that are ready.
        done: usize,
        /// Kernels that there will be; 0 as long as that is not known.
        of: usize,
    },
    /// A machine cannot draw: why, with the source line where there is one.
    MachineFailed(Machine, String),
    /// A sample was looked into.
    Probed(Arc<Probed>),
    /// What becomes of a shader.
    Inspected(Arc<Inspection>),
    /// Why that is not known.
    InspectFailed(String),
}

/// What was found out about a sample.
#[derive(Clone, Debug)]
pub struct Probed {
    /// Column and row in the view's format.
    pub pixel: [u32; 2],
    /// Which of the pixel's samples, from 0.
    pub sample: u32,
    /// [`State::version`] of the scene.
    pub state: u64,
    /// Where it was seen from.
    pub view: View,
    /// What became of it, or why that cannot be told.
    pub result: Result<Probe, String>,
}

/// An image as far as it is.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Who drew it.
    pub machine: Machine,
    /// The machine and its device, for people.
    pub described: Arc<str>,
    /// [`State::version`] of what it shows.
    pub state: u64,
    /// Where it is seen from.
    pub view: View,
    /// The image: of every `step`th pixel in x and y.
    pub image: Arc<Image>,
    /// 1 of the full resolution.
    pub step: u32,
    /// Samples a pixel so far.
    pub samples: u32,
    /// Samples a pixel that it will have.
    pub wanted: u32,
    /// How long the pass took.
    pub pass: Duration,
    /// From the change of the view or the scene to this image.
    pub since_change: Duration,
    /// Where the machine's time went.
    pub report: Arc<Report>,
}

impl Shown {
    /// Whether nothing is left to draw.
    pub fn is_finished(&self) -> bool {
        self.step == 1 && self.samples >= self.wanted
    }
}
