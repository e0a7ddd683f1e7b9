//! The compiled forms of a shader: source, IR after each pass, and code of each back end, with the
//! source line and the cost of each line.
//!
//! Takes a [`ProjectState`] and an instance of a shader and gives [`Listings`] and a [`Cost`], which are
//! plain data. Nothing here knows a window; compiling and measuring are slow, so interactive
//! callers run them on another thread.
//!
//! A listing contains the code that belongs to the shader's file: its functions, entries into which
//! they were inlined, and the library functions that these call.
//!
//! | file | holds |
//! |---|---|
//! | [`listing`] | lines with their places |
//! | `extent` | what belongs to a shader |
//! | `stages` | the IR, pass by pass |
//! | `backend_code` | the code of the back ends |
//! | [`cost`] | cycles by source line |
//! | [`residual`] | what specialization leaves |

mod backend_code;
pub mod cost;
mod extent;
pub mod listing;
pub mod residual;
mod stages;

#[cfg(test)]
mod tests;

pub use cost::Cost;
pub use listing::{Line, Listing, Row, SourceLine};

use crate::{Failure, InstanceId, ProjectState, View};
use extent::Extent;
use listing::Interner;
use shadewright_ir::Module;
use shadewright_program::{self as program, LinkOptions};
use shadewright_render::RenderError;
use shadewright_render::rpu::Loaded;
use shadewright_scene::ShaderId;
use std::sync::Arc;
use thiserror::Error;

/// A shader at one moment of a project.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The instance that was asked for.
    pub instance: InstanceId,
    /// The code version of the scene's program, to detect stale results.
    pub code: Arc<Module>,
    /// The shader's compiled forms.
    pub listings: Arc<Listings>,
    /// The cost of its lines, or the error; `None` while it is being measured.
    pub cost: Option<Result<Arc<Cost>, String>>,
}

/// A shader in all its forms.
#[derive(Clone, Debug)]
pub struct Listings {
    /// The files that it is made of, its own first.
    pub source: Listing,
    /// The IR before the first pass, after each pass that changed it, and at the end.
    pub stages: Vec<PassListing>,
    /// The RPU's assembly, or why there is none.
    pub rpu: Result<Listing, String>,
    /// The code that the RPU's native engine makes of it on this CPU, or why it makes none.
    pub native: Result<Listing, String>,
    /// The GPU's kernels, or why there are none.
    pub wgsl: Result<Listing, String>,
}

/// The IR after a pass.
#[derive(Clone, Debug)]
pub struct PassListing {
    /// Which pass, in which round.
    pub name: String,
    /// The functions. Lines that were not there before are marked as changed.
    pub listing: Listing,
}

/// Why a shader cannot be inspected.
#[derive(Debug, Error)]
pub enum InspectError {
    /// Nothing in the scene uses it.
    #[error("no object of the scene uses this shader, so it has no code")]
    Unused,
    /// The scene does not link once more.
    #[error("{}", .0.render())]
    Link(Box<Failure>),
}

/// A shader with what is needed to measure it.
#[derive(Debug)]
pub struct Prepared {
    instance: InstanceId,
    code: Arc<Module>,
    listings: Arc<Listings>,
    extent: Extent,
    module: Arc<Module>,
    loaded: Result<Loaded, RenderError>,
    /// True if it displaced meshes before rendering and is not part of the rendered program.
    displaced: bool,
}

/// Links the scene again, and lists the compiled forms of an instance's shader.
///
/// # Errors
/// Nothing uses the instance, or the scene does not link, which a state that was linked before
/// does.
pub fn prepare(state: &ProjectState, instance: InstanceId) -> Result<Prepared, InspectError> {
    let extent = Extent::new(&state.program, instance.0 as usize).ok_or(InspectError::Unused)?;
    let mut lines = Interner::default();
    let source = extent.source(&mut lines);
    let mut stages = stages::Stages::new(&extent, &mut lines);
    let id = Some(ShaderId(instance.0));
    let displaced = state.scene.objects.iter().any(|o| o.attributes.displaced && o.attributes.displacement == id);
    let stage = if displaced { program::ProgramPurpose::Displacement } else { program::ProgramPurpose::Image };
    let options = LinkOptions { stage, ..state.link_options().clone() };
    let program = state.link_again(&options, &mut stages).map_err(|e| InspectError::Link(Box::new(e)))?;
    stages.end(&program.module);
    let stages = stages.into_list();
    let surfaces = if displaced { 0 } else { program.surface_entries };
    let loaded = Loaded::new(&program.module, program.constants.vectors(), surfaces);
    let rpu = match &loaded {
        Ok(loaded) => Ok(backend_code::rpu(&extent, &program.module, loaded.program(), &mut lines)),
        Err(error) => Err(error.to_string()),
    };
    let native = match &loaded {
        Ok(loaded) => backend_code::native(&extent, &program.module, loaded.program(), &mut lines),
        Err(error) => Err(error.to_string()),
    };
    let wgsl = backend_code::wgsl(&extent, &program, !state.program.memory.placed.is_empty(), &mut lines);
    let listings = Arc::new(Listings { source, stages, rpu, native, wgsl });
    let code = state.program.module.clone();
    Ok(Prepared { instance, code, listings, extent, module: program.module, loaded, displaced })
}

impl Prepared {
    /// True if it is still valid for this instance in this state.
    pub fn is_of(&self, state: &ProjectState, instance: InstanceId) -> bool {
        self.instance == instance && Arc::ptr_eq(&self.code, &state.program.module)
    }

    /// The shader as an inspector shows it, with a cost that was measured or not.
    pub fn inspection(&self, cost: Option<Result<Cost, RenderError>>) -> Inspection {
        Inspection {
            instance: self.instance,
            code: self.code.clone(),
            listings: self.listings.clone(),
            cost: cost.map(|cost| cost.map(Arc::new).map_err(|e| e.to_string())),
        }
    }

    /// Runs a small image of the state on the timed RPU and counts what each line of the shader
    /// took: nothing, where it has moved the points of meshes before.
    ///
    /// `budget` bounds the work of a sample, see [`shadewright_render::Job::budget`].
    ///
    /// # Errors
    /// The errors of rendering.
    pub fn measure(&self, state: &ProjectState, view: &View, budget: u32) -> Result<Cost, RenderError> {
        let unsupported = |e: &RenderError| RenderError::Unsupported { backend: "the RPU", reason: e.to_string() };
        if self.displaced {
            return Ok(Cost::default());
        }
        let loaded = self.loaded.as_ref().map_err(unsupported)?;
        cost::measure(state, view, budget, loaded, &|loc| self.extent.place(&self.module.locs, loc))
    }
}
