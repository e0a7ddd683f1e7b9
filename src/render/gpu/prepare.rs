//! Preparing to render a job before anyone waits for its image: its kernels are compiled on another thread, and a render that follows finds them.
//!
//! A viewer prepares an edited scene while it goes on drawing the last good one, and renders the new one when [`Preparation::is_finished`]; nothing that it draws with is
//! replaced before.

use super::machine::{Machine, Setup};
use super::program::Program;
use super::renderer::compile;
use super::section_machine::{Compute, SectionMachine};
use super::warm::{self, Course, Urgency, WarmUp};
use crate::bvh::two_level::programs::Programs;
use crate::bvh::{BuildOptions, Bvh};
use crate::codegen::wgsl::{FINISHED, PARAMS_UNIFORMS};
use crate::render::{Job, RenderError, Schedule};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

/// Kernels that are being made ready on a thread of their own. Dropping it cancels what is left to do.
#[derive(Debug)]
pub struct Preparation {
    course: Arc<Course>,
    thread: Option<JoinHandle<Result<WarmUp, RenderError>>>,
}

impl Preparation {
    /// Starts to prepare for `job` on this device.
    pub(super) fn start(compute: Arc<Compute>, job: Arc<Job>, schedule: Schedule) -> Self {
        let course = Arc::new(Course::default());
        let asked = course.clone();
        let prepare = move || {
            let program = compile(compute.gpu(), &job, schedule)?;
            compute.prepare(&program, Urgency::Soon, &asked)
        };
        Self { course, thread: Some(std::thread::spawn(prepare)) }
    }

    /// Whether there is nothing left to wait for.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Kernels that are ready, and how many there will be; 0 of 0 as long as that is not known, or where the driver compiles all at once.
    pub fn progress(&self) -> [usize; 2] {
        self.course.progress()
    }

    /// Asks it to end soon, ready or not.
    pub fn cancel(&self) {
        self.course.cancel();
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
    /// When the device does not take a kernel, or fails; [`RenderError::Stopped`] when it was cancelled meanwhile.
    pub(super) fn prepare(&self, program: &Program, urgency: Urgency, course: &Course) -> Result<WarmUp, RenderError> {
        // A megakernel is one kernel: there is nothing to share out.
        let Program::Sections(program) = program else { return Ok(WarmUp::default()) };
        let common = || match self.exercised.swap(true, Ordering::Relaxed) {
            false => self.exercise(),
            true => Ok(()),
        };
        warm::warm_up(&self.gpu, &self.sections, &program.sections, urgency, course, &common)
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
            programs: &Programs::default(),
            paths: 1,
        };
        SectionMachine::new(self, &[], &setup)?.run(FINISHED, &[], 1, 1).map(|_| ())
    }
}
