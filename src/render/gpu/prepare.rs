//! Background warm-up of a job: its kernels are compiled on another thread, and a render that
//! follows finds them in the cache.
//!
//! A viewer prepares an edited scene while it renders the last good one, and switches when
//! [`Preparation::is_finished`].

use super::executor::{PathExecutor, Setup};
use super::program::Program;
use super::renderer::compile;
use super::warm_up::{self, Priority, WarmUp, WarmUpProgress};
use super::wavefront::{Compute, WavefrontExecutor};
use crate::{Job, RenderError, Schedule};
use shadewright_bvh::two_level::procedural::ProceduralBvh;
use shadewright_bvh::{BuildOptions, Bvh};
use shadewright_codegen::wgsl::{FINISHED, PARAMS_UNIFORMS};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

/// A warm-up on a thread of its own. Dropping it cancels the rest.
#[derive(Debug)]
pub struct Preparation {
    course: Arc<WarmUpProgress>,
    thread: Option<JoinHandle<Result<WarmUp, RenderError>>>,
}

impl Preparation {
    /// Starts to prepare for `job` on this device.
    pub(super) fn start(compute: Arc<Compute>, job: Arc<Job>, schedule: Schedule) -> Self {
        let course = Arc::new(WarmUpProgress::default());
        let asked = course.clone();
        let prepare = move || {
            let program = compile(compute.gpu(), &job, schedule)?;
            compute.prepare(&program, Priority::Background, &asked)
        };
        Self { course, thread: Some(std::thread::spawn(prepare)) }
    }

    /// True if it has finished.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Kernels that are compiled, and their total; 0 of 0 until that is known, or where the driver
    /// compiles all at once.
    pub fn progress(&self) -> [usize; 2] {
        self.course.progress()
    }

    /// Cancels it.
    pub fn cancel(&self) {
        self.course.cancel();
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// When the job cannot be rendered on the device; [`RenderError::Stopped`] after
    /// [`Preparation::cancel`].
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
    /// Warms up the kernels of a program of sections, and those that every such program needs.
    ///
    /// # Errors
    /// When the device does not take a kernel, or fails; [`RenderError::Stopped`] when it was
    /// canceled meanwhile.
    pub(super) fn prepare(
        &self,
        program: &Program,
        priority: Priority,
        course: &WarmUpProgress,
    ) -> Result<WarmUp, RenderError> {
        // A megakernel is one kernel: there is nothing to distribute.
        let Program::Sections(program) = program else { return Ok(WarmUp::default()) };
        let common = || match self.exercised.swap(true, Ordering::Relaxed) {
            false => self.exercise(),
            true => Ok(()),
        };
        warm_up::warm_up(&self.gpu, &self.sections, &program.sections, priority, course, &common)
    }

    /// Runs a program without sections, so that the driver compiles the kernels that every program
    /// needs.
    fn exercise(&self) -> Result<(), RenderError> {
        let failed = |e: shadewright_bvh::BuildError| RenderError::Device(e.to_string());
        let tree = Bvh::build(&[], &BuildOptions::default()).map_err(failed)?;
        let setup = Setup {
            shader_starts: &[],
            rays_per_path: 1,
            frame_words: 0,
            record_words: 0,
            memory: &[[0; 4]],
            triangles: 0,
            constants: &[[0.0; 4]; PARAMS_UNIFORMS],
            placed: &[],
            tree: &tree.into(),
            tree_is_known: false,
            procedural: &ProceduralBvh::default(),
            paths: 1,
        };
        WavefrontExecutor::new(self, &[], &setup)?.run(FINISHED, &[], 1, 1).map(|_| ())
    }
}
