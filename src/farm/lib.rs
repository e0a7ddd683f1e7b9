//! Jobs for the engines of render farms: the division of a sequence into tasks, and the files that
//! an engine needs to run them.
//!
//! A [`Job`] says what is rendered and how it is divided. [`openjd`] and [`slurm`] write it as text
//! for an engine: a bundle of Open Job Description, or scripts around `sbatch`. The tasks call the
//! program's own commands (`render --part`, `merge`). Nothing here reads a scene, touches a file or
//! runs anything.

mod job;
pub mod openjd;
mod shell;
pub mod slurm;
mod yaml;

pub use job::{FrameSet, Job, JobError, MAX_TASKS, Scene, Settings};

/// A file of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The name in the folder of the job.
    pub name: &'static str,
    /// The content of the file.
    pub text: String,
    /// True if users run it.
    pub is_executable: bool,
}
