//! Optimization, the fourth phase of linking: runs the passes over the module, with hints about
//! what to inline.

pub mod common_origin;
pub mod texture_lookups;

use crate::collect::Collected;
use crate::collect::instances::Instance;
use crate::layout::{Layout, blocks};
use crate::options::{Failure, LinkOptions, ProgramPurpose};
use crate::specialize::{Fact, Specialize};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_ir::abi::frame::slots;
use shadewright_ir::abi::{Input, Intrinsic, specialization_suffix};
use shadewright_ir::passes::known_data::{KnownConstant, KnownData, KnownMemory};
use shadewright_ir::passes::unroll::UnrollPolicy;
use shadewright_ir::passes::variants::{Unfinished, VariantPolicy};
use shadewright_ir::passes::{Observer, Pipeline, dead_arguments};
use shadewright_ir::{Function, Inlining, Loc, Module, Param};
use std::collections::HashSet;
use std::sync::Arc;

/// Optimizes a linked module. `observer` sees it between passes.
///
/// # Errors
/// A pass that leaves the module invalid, which is an internal error.
pub fn optimize(
    options: &LinkOptions,
    collected: &Collected,
    layout: &Layout,
    mut module: Module,
    observer: &mut dyn Observer,
    diagnostics: &mut Diagnostics,
) -> Result<(Module, Arc<KnownData>), Failure> {
    if collected.traces_paths {
        let methods = collected.entries.iter().flat_map(|entry| entry.methods.evaluated_repeatedly());
        texture_lookups::share_lookups(&mut module, &methods.map(|i| i.shader.core.clone()).collect());
    }
    dead_arguments::eliminate_dead_arguments(&mut module);
    set_inlining(&mut module, collected, &options.pipeline);
    let mut pipeline = options.pipeline.clone();
    let known = Arc::new(known_data(options.specialize, collected, layout));
    if options.specialize.makes_variants() {
        pipeline.variants = VariantPolicy::OF_SCENE;
        pipeline.unroll = UnrollPolicy::OF_SCENE;
        pipeline.known = known.clone();
    }
    match pipeline.run(&mut module, observer) {
        Ok(report) => {
            report.rays.into_iter().for_each(|loc| diagnostics.push(derivative_of_ray(&module, loc)));
            report.variants.unfinished.iter().for_each(|endless| diagnostics.push(unfinished(&module, endless)));
        }
        Err(error) => {
            diagnostics.push(Diagnostic::error(format!("internal error: {error}")));
            return Err(Failure::Reported);
        }
    }
    if options.stage == ProgramPurpose::Image {
        common_origin::split_by_origin(&mut module, collected.primitive_kinds.len(), &options.pipeline.target);
    }
    Ok((module, known))
}

/// The data that a program is specialized for.
fn known_data(specialize: Specialize, collected: &Collected, layout: &Layout) -> KnownData {
    let image = &layout.memory;
    let mut memory = Vec::new();
    if specialize.has(Fact::LightParameters) {
        let blocks = blocks::blocks(collected);
        memory.extend(
            image.blocks.iter().zip(blocks).map(|(&address, block)| KnownMemory { address, vectors: block.into() }),
        );
    }
    if specialize.has(Fact::Textures) {
        memory.extend(layout.textures.descriptors(&image.vectors));
    }
    // What each fact makes known; fields of several facts may share a program constant.
    let image = [slots::WIDTH, slots::HEIGHT, slots::INVERSE_WIDTH, slots::INVERSE_HEIGHT];
    let size = [slots::IMAGE_WIDTH, slots::IMAGE_HEIGHT];
    let is_pinhole = layout.constants.lens_radius == 0.0;
    let known = [
        (Fact::Image, &image[..]),
        (Fact::Camera, &[slots::LENS_RADIUS][..usize::from(is_pinhole)]),
        (Fact::Camera, &[slots::ORTHOGRAPHIC]),
        (Fact::Limits, &[slots::MAX_DEPTH]),
        (Fact::Limits, &[slots::CLAMP]),
        (Fact::Image, &size),
    ];
    let mut constants: Vec<KnownConstant> = Vec::new();
    for (_, slots) in known.into_iter().filter(|(fact, _)| specialize.has(*fact)) {
        for slot in slots {
            let at = constants.iter().position(|constant| constant.number == slot.vector).unwrap_or_else(|| {
                constants.push(KnownConstant { number: slot.vector, words: [None; 4] });
                constants.len() - 1
            });
            let lane = usize::from(slot.lane);
            constants[at].words[lane] = Some(layout.constants.vectors()[slot.vector as usize][lane].to_bits());
        }
    }
    KnownData::new(memory, constants)
}

/// The warning that the specialization of a recursion was given up.
fn unfinished(module: &Module, Unfinished { chain, loc }: &Unfinished) -> Diagnostic {
    let d = Diagnostic::warning("specialization of a recursion does not end, so its calls stay general");
    let d = module.span(*loc).into_iter().fold(d, |d, span| d.at(span, "this call has new constants each time"));
    d.hint(format!("the chain of calls is {}", chain.join(" → ")))
}

/// Sets what the linker knows of inlining.
fn set_inlining(module: &mut Module, collected: &Collected, pipeline: &Pipeline) {
    // A light is sampled once for each shading point, and then evaluated where its number is known.
    let is_of_lights = |f: &&mut Function| {
        let asked = Intrinsic::parse(&f.name);
        matches!(asked, Some(Intrinsic::LightSample | Intrinsic::LightMessage(..) | Intrinsic::LightCategory))
    };
    module.functions.iter_mut().filter(is_of_lights).for_each(|f| f.inlining = Inlining::Late);
    // A core with more parameters than a call passes becomes a part of its entry. Results of uniform
    // code stand for some of the parameters.
    let call_registers = pipeline.target.call_registers;
    let is_declared = |p: &&Param| !matches!(Input::parse(&p.name), Input::Uniform(_));
    let passed =
        |i: &Instance| i.shader.core_params.iter().filter(is_declared).map(|p| p.ty.words().div_ceil(4)).sum::<u32>();
    let mut inlined: HashSet<Arc<str>> =
        collected.primitive_kinds.iter().flat_map(|cores| cores.names().cloned()).collect();
    for entry in &collected.entries {
        let large = entry.methods.all().filter(|i| passed(i) > call_registers);
        inlined.extend(large.map(|i| i.shader.core.clone()));
        let large = entry.shaders().filter(|i| passed(i) > call_registers);
        let suffixes = || std::iter::once(entry.specialization).chain(entry.unlit).map(specialization_suffix);
        let cores = large.flat_map(|i| suffixes().map(|suffix| Arc::from(format!("{}{suffix}", i.shader.core))));
        inlined.extend(cores);
    }
    let cores = module.functions.iter_mut().filter(|f| inlined.contains(&f.name));
    cores.for_each(|f| f.inlining = Inlining::Always);
}

/// The warning that the derivative of a traced ray's result is 0.
fn derivative_of_ray(module: &Module, loc: Loc) -> Diagnostic {
    let d = Diagnostic::warning("the derivative of a traced ray's result is 0");
    module.span(loc).into_iter().fold(d, |d, span| d.at(span, "this is the result of a ray"))
}
