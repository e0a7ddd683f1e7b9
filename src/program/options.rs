//! The choices of linking, and how linking fails: all phases know them.

use crate::math::Math;
use crate::records::MemoryError;
use crate::records::surface_globals::SURFACE_GLOBALS;
use crate::specialize::Specialize;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::{FileId, SourceMap};
use shadewright_ir::HostFunctions;
use shadewright_ir::passes::Pipeline;
use shadewright_scene::Unusable;
use std::path::PathBuf;
use std::sync::Arc;

/// How to link.
#[derive(Clone, Debug, Default)]
pub struct LinkOptions {
    /// Folders to search for shaders before the scene's own.
    pub shader_paths: Vec<PathBuf>,
    /// The passes to run on the linked module, and the target: one that suits all back ends that run
    /// the program ([`shadewright_ir::TargetInfo::common`]).
    pub pipeline: Pipeline,
    /// Shaders that are not searched for: names, and the source files that define them.
    pub given: Vec<(String, FileId)>,
    /// An arbitrary output variable that the image shows in place of colors; there is no
    /// background and no imager then.
    pub output: Option<Output>,
    /// Macros: names and replacement texts.
    pub defines: Vec<(String, String)>,
    /// The purpose of the program.
    pub stage: ProgramPurpose,
    /// True if variables leave `debug` instructions, and the program has outlines and entries for
    /// the globals at a hit. The memory image is the same.
    pub debug: bool,
    /// True if textures that cannot be read, and functions that nothing defines, are errors of the
    /// link; otherwise they are black and 0, and the program's diagnostics have the messages.
    pub strict: bool,
    /// The transcendental functions that shaders call.
    pub math: Math,
    /// Functions of the host that shaders may call with uniform values.
    pub host: HostFunctions,
    /// Which facts of the scene the program is specialized for.
    pub specialize: Specialize,
}

/// The purpose of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramPurpose {
    /// Images: it has entries for the camera, surfaces and the imager.
    #[default]
    Image,
    /// Displacement of meshes: in place of each surface entry it has the one that runs the object's
    /// displacement shader ([`crate::displacement_entry`]), and no other.
    Displacement,
}

/// Why a scene could not be linked, with the sources that the messages point into.
#[derive(Debug)]
pub struct LinkError {
    /// The messages.
    pub diagnostics: Diagnostics,
    /// The sources that they point into.
    pub sources: SourceMap,
    /// The shaders without which the scene may link ([`shadewright_scene::Scene::leave_out`]).
    pub unusable: Box<Unusable>,
}

/// The surface of objects that name none, as RISpec 3.2 leaves it to the renderer.
pub const DEFAULT_SURFACE: &str = "defaultsurface";

/// Why a phase of linking stops.
#[derive(Debug)]
pub enum Failure {
    /// The diagnostics have an error.
    Reported,
    /// Some shaders cannot be used, for reasons that the diagnostics have.
    Unusable(Unusable),
    /// The memory image is too large.
    Memory(MemoryError),
    /// Uniform code of a shader did not come to an end: the next attempt links that shader as a
    /// whole, so that its budget ends it.
    Endless,
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error)
    }
}

/// A variable that an image can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A predefined variable of surface shaders: its value before the shader runs.
    Global(&'static str),
    /// The distance along the camera's z (`z`, `depth`).
    Depth,
    /// The number of the surface shader among those of the image, from 1; 0 where there is none
    /// (`shaderid`).
    ShaderNumber,
    /// An output parameter of surface shaders.
    Parameter(Arc<str>),
    /// A part of what surface shaders bake ([`crate::Baking`]).
    Baked,
}

impl Output {
    /// The variable of that name.
    pub fn named(name: &str) -> Self {
        match name {
            "z" | "depth" => Self::Depth,
            "shaderid" => Self::ShaderNumber,
            "albedo" => Self::Global("Cs"),
            "normal" => Self::Global("N"),
            _ => match SURFACE_GLOBALS.into_iter().find(|(n, _)| *n == name && !matches!(*n, "Ci" | "Oi")) {
                Some((global, _)) => Self::Global(global),
                None => Self::Parameter(name.into()),
            },
        }
    }

    /// True if averages of it are meaningless, so that a pixel has one sample, at its center.
    pub fn is_sampled_once(&self) -> bool {
        matches!(self, Self::Depth | Self::ShaderNumber | Self::Baked)
    }
}
