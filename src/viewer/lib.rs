//! The desktop viewer: a window that shows a scene, redraws it when a file that it depends on is
//! saved, and inspects its pixels.
//!
//! [`run`] opens the window. [`model`] is everything that it shows, as plain data; `ui` draws it
//! with egui and returns the user's actions; [`workers`] has the worker threads that read, compile,
//! render and simulate; [`array`](mod@array) is the simulation that the array's view plays; `app`
//! and `screen` know the window system and its device. Only these last three know winit or wgpu, and
//! nothing here prints.
#![cfg(feature = "window")]

mod app;
pub mod array;
pub mod camera;
pub mod develop;
mod interface;
pub mod model;
mod screen;
pub mod settings;
pub mod timing;
pub mod ui;
pub mod workers;

pub use app::run;
pub use screen::ScreenError;

use shadewright_base::cache::DiskCache;
use shadewright_project::{self as project, Source};
use shadewright_render::Backend;
use std::time::Duration;
use thiserror::Error;

/// How to open the window.
#[derive(Clone, Debug)]
pub struct ViewerOptions {
    /// The scene.
    pub source: Source,
    /// How it is read and linked.
    pub project: project::ProjectOptions,
    /// The back end whose image is shown at first; `None` for the last one used.
    pub backend: Option<Backend>,
    /// Part of the name of the GPU adapter to draw on; `None` for the best one.
    pub adapter: Option<String>,
    /// Samples a pixel; `None` for the scene's.
    pub samples: Option<u32>,
    /// Back edges and calls that a sample may take.
    pub budget: u32,
    /// Where compiled programs of the RPU are kept; `None` keeps none.
    pub cache: Option<DiskCache>,
}

/// Times of the interface's frames, from events to submission, without waiting for the window
/// system.
#[derive(Clone, Copy, Debug)]
pub struct Statistics {
    /// Number of frames measured, the latest ones.
    pub frames: usize,
    /// The median frame time.
    pub median: Duration,
    /// The 99th percentile.
    pub slowest_percent: Duration,
}

/// There is no window.
#[derive(Debug, Error)]
pub enum ViewerError {
    /// The window system cannot be reached.
    #[error("cannot open a window: {0}\nhint: render without one: --render OUT.png")]
    NoDisplay(String),
    /// Nothing can draw on it.
    #[error(transparent)]
    Screen(#[from] ScreenError),
}
