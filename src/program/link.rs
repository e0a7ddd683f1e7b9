//! Linking: a scene and its shaders become one [`Program`], in four phases.

use crate::collect::collect;
use crate::collect::shader_cache::ShaderCache;
use crate::collect::shader_library::ShaderLibrary;
use crate::layout::lay_out;
use crate::linked::Program;
use crate::optimize::optimize;
use crate::options::{Failure, LinkError, LinkOptions};
use crate::synthesize::baking::Baking;
use crate::synthesize::{coordinate_systems, synthesize, unit_checks};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::SourceMap;
use shadewright_ir::host;
use shadewright_ir::passes::Observer;
use shadewright_scene::Scene;

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
/// The errors of [`link`].
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
/// The errors of [`link`].
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
    let baking = Baking::new(&module, scene, &collected);
    let mut module = synthesize(scene, options, &collected, &layout, module, &baking, diagnostics);
    if options.debug {
        unit_checks::add(&mut module, |module, loc| shaders.place(module.locs[loc.0 as usize].span));
    }
    let (module, known) = optimize(options, &collected, &layout, module, observer, diagnostics)?;
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
