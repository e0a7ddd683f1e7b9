//! Preparing to render a job before anyone waits for its picture: its kernels are compiled on another thread, and a render that follows finds them.
//!
//! A viewer prepares an edited scene while it goes on drawing the last good one, and renders the new one when [`Preparation::is_finished`]; nothing that it draws with is
//! replaced before.

use super::machine::{Machine, Setup};
use super::program::Program;
use super::renderer::compile;
use super::section_machine::{Compute, SectionMachine};
use super::warm::{self, Urgency, WarmUp};
use crate::bvh::{BuildOptions, Bvh};
use crate::codegen::wgsl::{FINISHED, PARAMS_UNIFORMS};
use crate::render::{Job, RenderError, Schedule};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Kernels that are being made ready on a thread of their own. Dropping it cancels what is left to do.
#[derive(Debug)]
pub struct Preparation {
    cancel: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<WarmUp, RenderError>>>,
}

impl Preparation {
    /// Starts to prepare for `job` on this device.
    pub(super) fn start(compute: Arc<Compute>, job: Arc<Job>, schedule: Schedule) -> Self {
        let cancel = Arc::new(AtomicBool::new(false));
        let asked = cancel.clone();
        let prepare = move || {
            let program = compile(compute.gpu(), &job, schedule)?;
            compute.prepare(&program, Urgency::Soon, &asked)
        };
        Self { cancel, thread: Some(std::thread::spawn(prepare)) }
    }

    /// Whether there is nothing left to wait for.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Asks it to end soon, ready or not.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// When the job cannot be rendered on the device; [`RenderError::Stopped`] after [`Preparation::cancel`].
    pub fn wait(mut self) -> Result<WarmUp, RenderError> {
        let lost = || RenderError::Device("the thread that compiles kernels was lost".to_string());
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_else(|| Err(lost()))
    }
}

impl Drop for Preparation {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Compute {
    /// Makes the kernels of a program of sections ready, and those that every such program needs.
    ///
    /// # Errors
    /// When the device does not take a kernel, or fails; [`RenderError::Stopped`] when `cancel` was set meanwhile.
    pub(super) fn prepare(
        &self,
        program: &Program,
        urgency: Urgency,
        cancel: &AtomicBool,
    ) -> Result<WarmUp, RenderError> {
        // A megakernel is one kernel: there is nothing to share out.
        let Program::Sections(program) = program else { return Ok(WarmUp::default()) };
        let common = || match self.exercised.swap(true, Ordering::Relaxed) {
            false => self.exercise(),
            true => Ok(()),
        };
        warm::warm_up(&self.gpu, &self.sections, &program.sections, urgency, cancel, &common)
    }

    /// Runs a program of no sections, so that the driver compiles what every program needs.
    fn exercise(&self) -> Result<(), RenderError> {
        let failed = |e: crate::bvh::BuildError| RenderError::Device(e.to_string());
        let tree = Bvh::build(&[], &BuildOptions::default()).map_err(failed)?;
        let setup = Setup {
            shader_starts: &[],
            rays_per_path: 1,
            frame_words: 0,
            memory: &[[0; 4]],
            triangles: 0,
            constants: &[[0.0; 4]; PARAMS_UNIFORMS],
            placed: &[],
            tree: &tree.into(),
            paths: 1,
        };
        SectionMachine::new(self, &[], &setup)?.run(FINISHED, &[], 1, 1).map(|_| ())
    }
}
