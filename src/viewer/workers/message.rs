//! Messages between the window and the worker threads.

use crate::array::{ArrayPhase, ArrayRequest, ArrayRun};
use shadewright_image::Image;
use shadewright_project::inspect::Inspection;
use shadewright_project::probe::Probe;
use shadewright_project::probe::diverge::Divergence;
use shadewright_project::{Failure, InstanceId, OptionEdits, ProjectState, Source, View};
use shadewright_render::Backend;
use shadewright_render::report::Report;
use shadewright_scene::ParamValue;
use std::sync::Arc;
use std::time::Duration;

/// A command from the window. The latest of a kind wins; none blocks.
#[derive(Clone, Debug)]
pub enum Command {
    /// Shows another scene.
    Open(Source),
    /// Reloads everything.
    Reload,
    /// Sets a parameter, or resets it to the scene's value.
    SetParameter {
        /// Whose.
        instance: InstanceId,
        /// Which.
        name: String,
        /// The value; `None` for the scene's own.
        value: Option<ParamValue>,
    },
    /// Sets the scene's options; `None` keeps the scene's own value.
    SetOptions(OptionEdits),
    /// Sets the view.
    Look(View),
    /// Dices displaced surfaces for this view.
    CutFor(View),
    /// Sets which back ends render.
    Draw(Vec<Backend>),
    /// Sets the maximum samples per pixel; `None` for the scene's.
    Samples(Option<u32>),
    /// True if the time of every kernel is measured.
    TimeKernels(bool),
    /// Retries a failed back end.
    Retry(Backend),
    /// Probes a sample of a pixel.
    Probe {
        /// Column and row in the view's format.
        pixel: [u32; 2],
        /// Which of the pixel's samples.
        sample: u32,
    },
    /// Follows the samples of a pixel, by column and row in the view's format, to where the back ends
    /// differ.
    Diverge([u32; 2]),
    /// Gives that up.
    EndDivergence,
    /// Lists the compiled forms of an instance's shader, and measures its cost.
    Inspect(InstanceId),
    /// Simulates the ray tracing array on the scene.
    Simulate(ArrayRequest),
}

/// An event from the worker threads.
#[derive(Clone, Debug)]
pub enum Event {
    /// Something is being read, compiled or built.
    Busy(String),
    /// A scene is ready.
    Loaded(Arc<ProjectState>),
    /// The current scene cannot be rendered; the last state stays.
    Broken(Arc<Failure>),
    /// An edit was refused, and nothing has changed.
    Refused(String),
    /// A back end has rendered an image.
    Image(Arc<Shown>),
    /// A back end compiles a program; its last image stays.
    Preparing {
        /// Which.
        backend: Backend,
        /// Kernels that are ready.
        done: usize,
        /// Kernels that there will be; 0 as long as that is not known.
        of: usize,
    },
    /// A back end cannot render: the error, with its source line if known.
    BackendFailed(Backend, String),
    /// A sample was probed.
    Probed(Arc<Probed>),
    /// The samples of a pixel were followed.
    Diverged(Arc<Diverged>),
    /// The compiled forms of a shader.
    Inspected(Arc<Inspection>),
    /// The error of an inspection.
    InspectFailed(String),
    /// The array is being simulated.
    Simulating(ArrayPhase),
    /// The array was simulated.
    Simulated(Arc<ArrayRun>),
    /// It cannot be.
    SimulationFailed {
        /// [`ProjectState::version`] of the scene.
        state: u64,
        /// Why.
        message: String,
    },
    /// A program that is specialized for the scene is ready for the next view.
    Specialized {
        /// [`ProjectState::version`] of the scene.
        state: u64,
        /// How long linking took.
        time: Duration,
    },
}

/// The probe of a sample.
#[derive(Clone, Debug)]
pub struct Probed {
    /// Column and row in the view's format.
    pub pixel: [u32; 2],
    /// Which of the pixel's samples, from 0.
    pub sample: u32,
    /// [`ProjectState::version`] of the scene.
    pub state: u64,
    /// The view.
    pub view: View,
    /// The probe, or the error.
    pub result: Result<Probe, String>,
}

/// Where the back ends differ at a pixel.
#[derive(Clone, Debug)]
pub struct Diverged {
    /// Column and row in the view's format.
    pub pixel: [u32; 2],
    /// [`ProjectState::version`] of the scene.
    pub state: u64,
    /// The view.
    pub view: View,
    /// The divergence with its text, or the error.
    pub result: Result<(Divergence, String), String>,
}

/// A rendered image, complete or in progress.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Who drew it.
    pub backend: Backend,
    /// The back end and its device, for display.
    pub described: Arc<str>,
    /// [`ProjectState::version`] of what it shows.
    pub state: u64,
    /// True if its program is specialized for the scene.
    pub specialized: bool,
    /// The view.
    pub view: View,
    /// The image: of every `step`th pixel in x and y.
    pub image: Arc<Image>,
    /// 1 of the full resolution.
    pub step: u32,
    /// Samples per pixel so far.
    pub samples: u32,
    /// Samples per pixel when complete.
    pub wanted: u32,
    /// How long the pass took.
    pub pass: Duration,
    /// From the change of the view or the scene to this image.
    pub since_change: Duration,
    /// The profile of the pass.
    pub report: Arc<Report>,
}

impl Shown {
    /// True if nothing is left to draw.
    pub fn is_finished(&self) -> bool {
        self.step == 1 && self.samples >= self.wanted
    }
}
