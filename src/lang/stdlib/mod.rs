//! The standard library: functions and shaders that every program may use without naming a file.
//!
//! Most of it is written in RSL (`*.sl` here) and compiled by the same compiler as everything else;
//! [`noise`], [`bits`], [`fixed`], [`fixed_noise`], [`sampling`], [`sobol`] and [`texture`], which need integers that RSL
//! lacks, are built as IR. Ray generation (`camera.sl`) is here too, and the integrator is generated
//! ([`shadewright_generators::transport`]): what an image means is a program, not part of a renderer.

pub mod bits;
pub mod fixed;
pub mod fixed_noise;
pub mod noise;
pub mod sampling;
pub mod sobol;
pub mod texture;
mod unit;

use super::language::FrontEndOptions;
use super::rsl;
use super::unit::ShaderUnit;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::SourceMap;
use shadewright_generators::transport::{Transport, TransportKind};
use shadewright_ir::{Function, Module, Op};
use std::collections::HashSet;

/// The library's source files, by name.
pub const SOURCES: [(&str, &str); 12] = [
    ("math.sl", include_str!("math.sl")),
    ("exact.sl", include_str!("exact.sl")),
    ("fast.sl", include_str!("fast.sl")),
    ("color.sl", include_str!("color.sl")),
    ("derivatives.sl", include_str!("derivatives.sl")),
    ("geometry.sl", include_str!("geometry.sl")),
    ("lighting.sl", include_str!("lighting.sl")),
    ("texture.sl", include_str!("texture.sl")),
    ("points.sl", include_str!("points.sl")),
    ("spaces.sl", include_str!("spaces.sl")),
    ("rays.sl", include_str!("rays.sl")),
    ("camera.sl", include_str!("camera.sl")),
];

/// The standard shaders of RISpec 3.2, appendix A, the renderer's default surface, the
/// one in place of a surface that is missing or wrong, a surface and a light that do nothing, those of glTF scenes, and those that take the place of all surfaces
/// (`scene::Integrator`).
const SHADERS: [(&str, &str); 24] = [
    ("constant", include_str!("shaders/constant.sl")),
    ("matte", include_str!("shaders/matte.sl")),
    ("metal", include_str!("shaders/metal.sl")),
    ("shinymetal", include_str!("shaders/shinymetal.sl")),
    ("plastic", include_str!("shaders/plastic.sl")),
    ("paintedplastic", include_str!("shaders/paintedplastic.sl")),
    ("defaultsurface", include_str!("shaders/defaultsurface.sl")),
    ("missingsurface", include_str!("shaders/missingsurface.sl")),
    ("ambientlight", include_str!("shaders/ambientlight.sl")),
    ("distantlight", include_str!("shaders/distantlight.sl")),
    ("pointlight", include_str!("shaders/pointlight.sl")),
    ("spotlight", include_str!("shaders/spotlight.sl")),
    ("envlight", include_str!("shaders/envlight.sl")),
    ("nulllight", include_str!("shaders/nulllight.sl")),
    ("bumpy", include_str!("shaders/bumpy.sl")),
    ("depthcue", include_str!("shaders/depthcue.sl")),
    ("fog", include_str!("shaders/fog.sl")),
    ("background", include_str!("shaders/background.sl")),
    ("null", include_str!("shaders/null.sl")),
    ("gltf", include_str!("shaders/gltf.sl")),
    ("ambientocclusion", include_str!("shaders/ambientocclusion.sl")),
    ("shownormals", include_str!("shaders/shownormals.sl")),
    ("mtl", include_str!("shaders/mtl.sl")),
    ("gltflight", include_str!("shaders/gltflight.sl")),
];

/// The source of a standard shader.
pub fn shader_source(name: &str) -> Option<&'static str> {
    SHADERS.iter().find(|(n, _)| *n == name).map(|(_, source)| *source)
}

/// The files of standard classes in RTSL: physically based materials.
const CLASSES: [(&str, &str); 1] = [("pbr.rtsl", include_str!("../assets/pbr.rtsl"))];

/// The source of a file of standard classes.
pub fn class_source(file: &str) -> Option<&'static str> {
    CLASSES.iter().find(|(n, _)| *n == file).map(|(_, source)| *source)
}

/// The names of the standard shaders.
pub fn shader_names() -> impl Iterator<Item = &'static str> {
    SHADERS.iter().map(|(n, _)| *n)
}

/// Compiles functions of the library by their names in its source (`__camera`), with all that they
/// call.
///
/// # Errors
/// None, unless the library itself is wrong.
pub fn compile(sources: &mut SourceMap, names: &[&str], options: &FrontEndOptions) -> Result<ShaderUnit, Diagnostics> {
    rsl::compile_library(sources, names, options)
}

pub use unit::checked as checked_unit;

/// Adds the functions of the library that are built as IR, where they are called.
pub fn add_built_functions(module: &mut Module) {
    let mut available: Vec<Function> = [
        noise::functions(),
        bits::functions(),
        fixed::functions(),
        fixed_noise::functions(),
        sampling::functions(),
        sobol::functions(),
        texture::functions(),
        unit::functions(),
        vec![Transport::new(TransportKind::Compositing).function()],
    ]
    .concat();
    loop {
        let known: HashSet<&str> = module.functions.iter().map(|f| &*f.name).collect();
        let insts = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
        let called: HashSet<&str> = insts
            .filter_map(|i| match &i.op {
                Op::Call(name) if !known.contains(&**name) => Some(&**name),
                _ => None,
            })
            .collect();
        let (add, rest): (Vec<_>, Vec<_>) = available.into_iter().partition(|f| called.contains(&*f.name));
        if add.is_empty() {
            return;
        }
        module.functions.extend(add);
        available = rest;
    }
}
