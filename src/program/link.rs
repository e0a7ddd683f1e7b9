//! Linking: a scene and its shaders become one [`Program`], in four phases.

use crate::Program;
use crate::collect::collect;
use crate::collect::shader_cache::ShaderCache;
use crate::collect::shader_library::ShaderLibrary;
use crate::layout::lay_out;
use crate::layout::memory::MemoryError;
use crate::math::Math;
use crate::optimise::optimise;
use crate::specialize::Specialize;
use crate::synthesise::baking::Baking;
use crate::synthesise::outputs::Output;
use crate::synthesise::{coordinate_systems, synthesise, unit_checks};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::{FileId, SourceMap};
use shadewright_ir::HostFunctions;
use shadewright_ir::host;
use shadewright_ir::passes::{Observer, Pipeline};
use shadewright_scene::{Scene, Unusable};
use std::path::PathBuf;

/// How to link.
#[derive(Clone, Debug, Default)]
pub struct LinkOptions {
    /// Folders to search for shaders before the scene's own.
    pub shader_paths: Vec<PathBuf>,
    /// The passes to run on the linked module, and the target: one that suits all machines that run
    /// the program ([`shadewright_ir::TargetInfo::common`]).
    pub pipeline: Pipeline,
    /// Shaders that are not searched for: names, and the source files that define them.
    pub given: Vec<(String, FileId)>,
    /// An arbitrary output variable that the image shows in place of colours; there is no
    /// background and no imager then.
    pub output: Option<Output>,
    /// Macros: names and replacement texts.
    pub defines: Vec<(String, String)>,
    /// What the program is for.
    pub stage: Stage,
    /// Whether variables leave `debug` instructions, and the program has outlines and entries for
    /// the globals at a hit. The memory image is the same.
    pub debug: bool,
    /// Whether textures that cannot be read, and functions that nothing defines, are errors of the
    /// link; otherwise they are black and 0, and the program's diagnostics have the messages.
    pub strict: bool,
    /// The transcendental functions that shaders call.
    pub math: Math,
    /// Functions of the host that shaders may call with uniform values.
    pub host: HostFunctions,
    /// Which facts of the scene the program is specialised for.
    pub specialize: Specialize,
}

/// What a program is linked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
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
    /// What they point into.
    pub sources: SourceMap,
    /// The shaders without which the scene may link ([`Scene::leave_out`]).
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

/// Links `scene`. `sources` holds the scene's files; the shaders' are added.
///
/// # Errors
/// Every shader that is missing or wrong, in one run.
pub fn link(scene: &Scene, sources: SourceMap, options: &LinkOptions) -> Result<Program, LinkError> {
    link_cached(scene, sources, options, &mut ShaderCache::default())
}

/// [`link`] with an observer, which sees the module between passes.
///
/// # Errors
/// Those of [`link`].
pub fn link_observed(
    scene: &Scene,
    sources: SourceMap,
    options: &LinkOptions,
    observer: &mut dyn Observer,
) -> Result<Program, LinkError> {
    run(scene, sources, options, &mut ShaderCache::default(), observer)
}

/// [`link`] with a cache: compiles only files that have changed since the last link, and keeps what
/// it compiles. The sources must be those of the program that was linked last.
///
/// # Errors
/// Those of [`link`].
pub fn link_cached(
    scene: &Scene,
    sources: SourceMap,
    options: &LinkOptions,
    cache: &mut ShaderCache,
) -> Result<Program, LinkError> {
    run(scene, sources, options, cache, &mut ())
}

fn run(
    scene: &Scene,
    mut sources: SourceMap,
    options: &LinkOptions,
    cache: &mut ShaderCache,
    observer: &mut dyn Observer,
) -> Result<Program, LinkError> {
    let (sources, mut diagnostics, program) = loop {
        let mut shaders = ShaderLibrary::new(sources, std::mem::take(cache), options, scene)
            .with_spaces(coordinate_systems::named(&scene.coordinate_systems));
        let mut diagnostics = Diagnostics::new();
        let program = link_phases(scene, options, &mut shaders, &mut diagnostics, observer);
        diagnostics.extend(shaders.take_warnings());
        let (used, kept) = shaders.into_parts();
        *cache = kept;
        if !matches!(program, Err(Failure::Endless)) {
            break (used, diagnostics, program);
        }
        sources = used;
    };
    match program {
        Ok(program) if !(options.strict && diagnostics.has_errors()) => Ok(Program { sources, diagnostics, ..program }),
        Err(Failure::Memory(error)) => {
            diagnostics.push(Diagnostic::error(error.to_string()).hint("use fewer or smaller meshes"));
            Err(LinkError { diagnostics, sources, unusable: Box::default() })
        }
        Err(Failure::Unusable(unusable)) => Err(LinkError { diagnostics, sources, unusable: unusable.into() }),
        _ => Err(LinkError { diagnostics, sources, unusable: Box::default() }),
    }
}

/// The phases. The program lacks its sources and diagnostics, which are complete only afterwards.
fn link_phases(
    scene: &Scene,
    options: &LinkOptions,
    shaders: &mut ShaderLibrary,
    diagnostics: &mut Diagnostics,
    observer: &mut dyn Observer,
) -> Result<Program, Failure> {
    let collected = collect(scene, options, shaders, diagnostics)?;
    let layout = lay_out(scene, options, &collected, shaders, diagnostics)?;
    if let Err(errors) = shaders.choose_math(options.math) {
        diagnostics.extend(errors);
        return Err(Failure::Reported);
    }
    let module = shaders.take_module();
    let baking = Baking::of(&module, scene, &collected);
    let mut module = synthesise(scene, options, &collected, &layout, module, &baking, diagnostics);
    if options.debug {
        unit_checks::add(&mut module, |module, loc| shaders.place(module.locs[loc.0 as usize].span));
    }
    let (module, known) = optimise(options, &collected, &layout, module, observer, diagnostics)?;
    // Debuggers run a program on the evaluator, which calls the host.
    if let Some((name, loc)) = host::left_over(&module).filter(|_| !options.debug) {
        let d = Diagnostic::error(format!("the host's `{name}` is called with values that are not known yet"));
        let d = module.span(loc).into_iter().fold(d, |d, span| d.at(span, "this call"));
        diagnostics.push(d.hint("call it where no condition varies, with constants and parameters of the shader"));
        return Err(Failure::Reported);
    }
    Ok(Program {
        module: module.into(),
        memory: layout.memory.into(),
        primitives: layout.primitives.into(),
        surface_entries: collected.entries.len(),
        has_imager: collected.imager.is_some(),
        prints: shaders.prints(),
        constants: layout.constants,
        sources: SourceMap::new(),
        diagnostics: Diagnostics::new(),
        instances: collected.shaders.in_order(scene),
        outlines: shaders.take_outlines().into(),
        specialize: options.specialize,
        known,
        uniform: shaders.uniform_counts(),
        baking: baking.into(),
    })
}
