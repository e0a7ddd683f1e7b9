//! A version of a project.

use super::Failure;
use super::parameters::Parameters;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::log::FileLog;
use shadewright_bvh::TwoLevel;
use shadewright_ir::passes::Observer;
use shadewright_program::{LinkOptions, Program, link_observed, set_view};
use shadewright_render::film::FilmSettings;
use shadewright_render::sampling::Sampling;
use shadewright_render::{Job, Window};
use shadewright_scene::{Camera, Format, Scene};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A project without errors. It never changes; what two states have in common lies in memory once.
#[derive(Clone, Debug)]
pub struct ProjectState {
    /// Rises with every state of a project and of those that take its place.
    pub version: u64,
    /// The scene, with the edits of parameters and options.
    pub scene: Arc<Scene>,
    /// The linked program; its constants are those of the scene's own view.
    pub program: Program,
    /// The trees.
    pub bvh: Arc<TwoLevel>,
    /// How samples become an image.
    pub film: FilmSettings,
    /// The parameters of all shaders, and the scene's options.
    pub parameters: Arc<Parameters>,
    /// Diagnostics of the scene and of the shaders, which point into the program's sources.
    pub diagnostics: Diagnostics,
    /// The triangles that displacement shaders have moved.
    pub displaced_triangles: usize,
    /// The [`shadewright_bvh::kernels::version`] that a GPU is to draw with.
    pub kernels: u64,
    /// The parts that are not those of the state before.
    pub redone: Redone,
    /// How long that took.
    pub times: Times,
    /// The scene as its files give it.
    pub(super) as_read: Arc<Scene>,
    pub(super) link: LinkOptions,
    /// The program that serves any view, once that was asked for; `None` in it where it fails to
    /// link.
    pub(super) any_view: Arc<OnceLock<Option<Program>>>,
    pub(super) specialized: Arc<OnceLock<Program>>,
    /// The files of the shaders.
    pub(super) files: Arc<FileLog>,
}

/// The work that was done to come to a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redone {
    /// The files that had changed; none for an edit of a parameter.
    pub files: Vec<PathBuf>,
    /// The scene was read.
    pub scene: bool,
    /// The program's functions are others.
    pub code: bool,
    /// The shading data are others.
    pub memory: bool,
    /// The tree was built.
    pub tree: bool,
    /// Hand-written kernels were edited.
    pub kernels: bool,
}

impl Redone {
    /// True if the state is an edit of the one before: no file was read for it.
    pub fn is_edit(&self) -> bool {
        self.files.is_empty() && !self.scene
    }
}

/// How long the parts took; zero for those that were not done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Reading the scene.
    pub open: Duration,
    /// Displacing meshes.
    pub displace: Duration,
    /// Compiling and linking shaders.
    pub link: Duration,
    /// Building the tree.
    pub tree: Duration,
}

/// From where, and how large, an image is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The camera.
    pub camera: Camera,
    /// The size.
    pub format: Format,
}

impl ProjectState {
    /// The scene's own view.
    pub fn view(&self) -> View {
        View { camera: self.scene.camera.clone(), format: self.scene.format }
    }

    /// The job of drawing the whole image from a view. It shares with the state all but the program
    /// constants.
    ///
    /// `budget` bounds the work of a sample, see [`Job::budget`].
    pub fn job(&self, view: &View, sampling: Sampling, budget: u32) -> Job {
        self.job_of(&self.program, view, sampling, budget)
    }

    /// The same with a program of this state.
    pub fn job_of(&self, program: &Program, view: &View, sampling: Sampling, budget: u32) -> Job {
        let mut program = program.clone();
        set_view(&mut program.constants, &view.camera, view.format);
        if !program.is_for(program.constants.vectors()) {
            program = self.program_for_any_view();
            set_view(&mut program.constants, &view.camera, view.format);
        }
        let window = Window::whole(view.format.width, view.format.height);
        let film = self.film.clone();
        Job { program, bvh: self.bvh.clone(), window, sampling, film, budget }
    }

    /// The program without what its own view makes constant: it links again, once.
    fn program_for_any_view(&self) -> Program {
        let specialize = self.link.specialize.for_any_view();
        let options = LinkOptions { specialize, ..self.link.clone() };
        let linked = self.any_view.get_or_init(|| self.link_again(&options, &mut ()).ok());
        // What has linked links again; without that, the view is the scene's own.
        linked.clone().unwrap_or_else(|| self.program.clone())
    }

    /// Keeps a program of the scene that has more of it in its code, for the views that begin later.
    /// The first one stays.
    pub fn specialize(&self, program: Program) {
        let _ = self.specialized.set(program);
    }

    /// The program that has more of the scene in its code, once it is linked. It has the parameters
    /// of this state, and no others.
    pub fn specialized(&self) -> Option<&Program> {
        self.specialized.get()
    }

    /// How the scene was linked.
    pub fn link_options(&self) -> &LinkOptions {
        &self.link
    }

    /// Links the scene once more, in another way: with other passes, or with records of variables
    /// ([`LinkOptions::debug`]). The shaders are those of this state, whatever became of their
    /// files since. `observer` looks at the program between passes.
    ///
    /// # Errors
    /// When they do not compile in that way.
    pub fn link_again(&self, options: &LinkOptions, observer: &mut dyn Observer) -> Result<Program, Failure> {
        let mut sources = self.program.sources.clone();
        sources.close(self.files.clone());
        link_observed(&self.scene, sources, options, observer)
            .map_err(|e| Failure { diagnostics: e.diagnostics, sources: e.sources })
    }
}
