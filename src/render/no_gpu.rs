//! Replaces `gpu` in builds without that feature: the same names, and one error.

use super::film::Film;
use super::progressive::{Pass, Progressive};
use super::samples::{RecordWindow, Recorded, SampleRunner};
use super::sampling::CameraSample;
use super::{AdapterInfo, Job, Progress, RenderError, Renderer, Schedule, report::Report};
use crate::call::Words;
use glam::Vec2;
use shadewright_bvh::gpu::kernel::Variant;
use shadewright_image::Image;
use shadewright_ir::Module;
use std::sync::atomic::AtomicBool;
use thiserror::Error;

/// The program cannot use a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("this shadewright was built without the feature `gpu`: render on the RPU, or build it with that feature")]
pub struct ComputeError;

impl From<ComputeError> for RenderError {
    fn from(error: ComputeError) -> Self {
        RenderError::Device(error.to_string())
    }
}

/// The adapters that can run the kernels: none.
pub fn adapters() -> Vec<AdapterInfo> {
    Vec::new()
}

/// True if there is an adapter that is not software: no.
pub fn has_hardware_adapter() -> bool {
    false
}

/// Compiles a job's program: there is no compiler to refuse it.
///
/// # Errors
/// None.
pub fn check(_job: &Job) -> Result<(), RenderError> {
    Ok(())
}

/// A GPU to compute on. None can be made.
#[derive(Debug)]
pub enum Compute {}

impl Compute {
    /// # Errors
    /// Always [`ComputeError`].
    pub fn new(_adapter: Option<&str>) -> Result<Self, ComputeError> {
        Err(ComputeError)
    }
}

/// Runs a function on the GPU.
///
/// # Errors
/// Never: there is no [`Compute`] to call it with.
pub fn run_function(
    compute: &Compute,
    _module: &Module,
    _name: &str,
    _calls: &[Words],
    _budget: u32,
    _schedule: Schedule,
) -> Result<Vec<Words>, RenderError> {
    match *compute {}
}

/// The GPU as a renderer. None can be made.
#[derive(Debug)]
pub enum GpuRenderer {}

impl GpuRenderer {
    /// # Errors
    /// Always [`ComputeError`].
    pub fn new(_adapter: Option<&str>) -> Result<Self, ComputeError> {
        Err(ComputeError)
    }

    /// Nothing: there is no renderer.
    pub fn set_schedule(&mut self, _schedule: Schedule) {
        match *self {}
    }

    /// Nothing: there is no renderer.
    pub fn set_sorting(&mut self, _on: bool) {
        match *self {}
    }

    /// Nothing: there is no renderer.
    pub fn set_traversal(&mut self, _variant: Variant) {
        match *self {}
    }
}

impl Renderer for GpuRenderer {
    fn describe(&self) -> String {
        match *self {}
    }

    fn render_into(&mut self, _job: &Job, _film: &mut Film, _progress: Progress<'_>) -> Result<Image, RenderError> {
        match *self {}
    }

    fn report(&self) -> Report {
        match *self {}
    }
}

/// Single samples on a GPU. None can be made.
#[derive(Debug)]
pub struct GpuSamples(GpuRenderer);

impl GpuSamples {
    /// Never called: there is no renderer.
    pub fn new(renderer: GpuRenderer) -> Self {
        Self(renderer)
    }
}

impl SampleRunner for GpuSamples {
    fn describe(&self) -> String {
        match self.0 {}
    }

    fn colors(&mut self, _job: &Job, _samples: &[CameraSample]) -> Result<Vec<[u32; 4]>, RenderError> {
        match self.0 {}
    }

    fn record(&mut self, _job: &Job, _sample: &CameraSample, _window: RecordWindow) -> Result<Recorded, RenderError> {
        match self.0 {}
    }
}

/// Progressive rendering on a GPU. None can be made.
#[derive(Debug)]
pub struct GpuProgressive(GpuRenderer);

impl GpuProgressive {
    /// Never called: there is no renderer.
    pub fn new(renderer: GpuRenderer) -> Self {
        Self(renderer)
    }
}

impl Progressive for GpuProgressive {
    fn describe(&self) -> String {
        match self.0 {}
    }

    fn load(&mut self, _job: &Job) -> Result<(), RenderError> {
        match self.0 {}
    }

    fn draw(&mut self, _pass: Pass, _film: &mut Film, _stop: &AtomicBool) -> Result<(), RenderError> {
        match self.0 {}
    }

    fn colors(&mut self, _positions: &[Vec2], _stop: &AtomicBool) -> Result<Vec<[f32; 4]>, RenderError> {
        match self.0 {}
    }

    fn finish(&mut self, _film: &Film, _step: u32, _stop: &AtomicBool) -> Result<Image, RenderError> {
        match self.0 {}
    }

    fn report(&self) -> Report {
        match self.0 {}
    }
}
