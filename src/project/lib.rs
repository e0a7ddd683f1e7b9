//! Projects: a scene with every file that it depends on, kept up to date while files are edited.
//!
//! A [`Project`] takes a [`Source`] and gives a [`ProjectState`]: the scene, its linked program and its
//! BVHs, ready to render from any [`View`]. [`Project::refresh`] checks the files and rebuilds what
//! depends on those that changed, no more; what did not change keeps its address, so that a
//! consumer can compare by [`std::sync::Arc::ptr_eq`]. [`parameters`] describes the shaders'
//! parameters, whose values can be edited over those of the files; [`rib`] writes edits as RIB.
//!
//! It knows no back end, window or terminal. A project lives on one thread; its states are
//! immutable and can be sent anywhere.

mod edits;
pub mod inspect;
mod options;
pub mod parameters;
pub mod probe;
mod reload;
pub mod rib;
mod state;
mod watcher;

pub use options::{OptionEdits, OptionValues};
pub use parameters::{EditError, Hint, Instance, InstanceId, Parameter, Parameters};
pub use reload::Project;
pub use state::{ProjectState, Redone, Times, View};
pub use watcher::Watcher;

use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::SourceMap;
use shadewright_bvh::Quality;
use shadewright_ir::HostFunctions;
use shadewright_ir::passes::Pipeline;
use shadewright_program::{Math, Specialize};
use shadewright_scene::{self as scene, OpenOptions, Opened};
use std::path::PathBuf;
use std::sync::Arc;

/// The source of a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// One that comes with the program, by its name (see [`shadewright_scene::builtin::SCENES`]).
    BuiltIn(String),
    /// A RIB or glTF file or a mesh.
    File(PathBuf),
}

impl Source {
    /// Reads the scene.
    ///
    /// # Errors
    /// The errors of [`scene::open`] and [`scene::open_builtin`].
    pub fn open(&self, options: &OpenOptions, sources: &mut SourceMap) -> Result<Opened, Diagnostics> {
        match self {
            Source::File(path) => scene::open(path, options, sources),
            Source::BuiltIn(name) => scene::open_builtin(name, options, sources),
        }
    }
}

/// How a scene is read and linked.
#[derive(Clone, Debug, Default)]
pub struct ProjectOptions {
    /// The size of the image, and folders that the scene may read.
    pub open: OpenOptions,
    /// Folders to search for shaders before the scene's own.
    pub shader_paths: Vec<PathBuf>,
    /// The passes to run.
    pub pipeline: Pipeline,
    /// The transcendental functions that shaders call.
    pub math: Math,
    /// Which facts of the scene its program is specialized for.
    pub specialize: Specialize,
    /// Functions of the host that shaders may call with uniform values.
    pub host: HostFunctions,
    /// The builder of the tree; else [`shadewright_render::default_quality`] chooses by the samples that
    /// an image takes.
    pub tree: Option<Quality>,
    /// Pixels of an image, where they are not those of the scene's format. Only the choice of the
    /// tree looks at it.
    pub pixels: Option<u64>,
    /// Samples a pixel, where they are not the scene's. Only the choice of the tree looks at it.
    pub samples: Option<u32>,
    /// True if the hand-written kernels in `wgsl/` are watched, too, where the program runs from a
    /// checkout.
    pub kernels: bool,
}

/// The outcome of an update.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// All is as it was.
    Unchanged,
    /// There is a new state.
    Ready(Arc<ProjectState>),
    /// The files have errors. The state before, if any, stays valid.
    Broken(Arc<Failure>),
}

/// All that is wrong with a project's files.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The errors, with warnings between them.
    pub diagnostics: Diagnostics,
    /// The sources that they point into.
    pub sources: SourceMap,
}

impl Failure {
    /// The messages as source excerpts.
    pub fn render(&self) -> String {
        self.diagnostics.render(&self.sources)
    }
}

#[cfg(test)]
mod tests;
