//! Synthesis, the third phase of linking: writes the entries that back ends run, and the functions
//! that shaders call but the linker defines.
//!
//! Takes what was collected and laid out, and the module of compiled shaders; gives that module
//! with everything in it. It writes IR and decides nothing about data.

pub mod area_lights;
pub mod baking;
pub mod coordinate_systems;
pub mod coshaders;
pub mod entries;
pub mod environments;
pub mod gather_outputs;
pub mod intersection;
pub mod lights;
pub mod materials;
pub mod outputs;
pub mod paths;
pub mod ray_depths;
pub mod specialization;
pub mod stand_alone;
pub mod surface_state;
pub mod texture_lookup;
pub mod unit_checks;
pub mod visibility;
pub mod volumes;

use crate::collect::copied_functions::{LightMessages, coshader_calls};
use crate::collect::lights::Shadows;
use crate::collect::primvars::strings_by_name;
use crate::collect::scene_queries::{is_query, query_value};
use crate::collect::string_origins::looks_for_textures;
use crate::collect::{CameraSource, Collected};
use crate::layout::Layout;
use crate::options::{LinkOptions, Output, ProgramPurpose};
use area_lights::Counts;
use baking::Baking;
use entries::{CameraOptions, SurfaceVariant};
use gather_outputs::GatherOutputs;
use paths::{PathSurface, Paths};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_ir::abi::{library, specialization_suffix};
use shadewright_ir::passes::derivatives;
use shadewright_ir::{Const, Function, Module, Type, colliding_strings};
use shadewright_lang::stdlib::{self, sampling};
use shadewright_scene::Scene;
use specialization::Specialized;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Writes what is missing from a module of compiled shaders and the standard library.
pub fn synthesize(
    scene: &Scene,
    options: &LinkOptions,
    collected: &Collected,
    layout: &Layout,
    mut module: Module,
    baking: &Baking,
    diagnostics: &mut Diagnostics,
) -> Module {
    if !baking.is_empty() {
        module.functions.extend(baking.functions(options.output == Some(Output::Baked)));
    }
    if looks_for_textures(&module) {
        module.functions.push(texture_lookup::find_texture_function(&layout.textures));
    }
    if needs_random_numbers(collected, layout) && module.function(library::RANDOM).is_none() {
        module.functions.extend(sampling::functions());
    }
    specialize(&mut module, options, collected, layout, diagnostics);
    module.functions.push(visibility::selective_function(collected.is_selective));
    module.functions.push(lights::ambient_there(collected.traces_paths));
    let outputs = GatherOutputs::new(&module);
    module.functions.extend(outputs.functions());
    let differentiated = derivatives::is_needed(&module);
    add_light_sampling(&mut module, scene, options, collected, layout);
    add_surfaces(&mut module, scene, options, collected, layout, &outputs, differentiated);
    let camera = camera(&module, scene, options, collected);
    module.functions.extend(camera);
    if options.stage == ProgramPurpose::Image {
        let kinds = collected.primitive_kinds.iter().enumerate();
        module.functions.extend(kinds.map(|(n, cores)| intersection::intersect(n, cores)));
    }
    let framed = scene.camera.frame_aspect.is_some();
    module.functions.extend(collected.imager.as_deref().map(|imager| entries::imager(imager, framed)));
    if scene.specular_sharpness != 1.0
        && let Some(exponent) = module.function_mut(library::SPECULAR_EXPONENT)
    {
        *exponent = lights::specular_exponent(scene.specular_sharpness);
    }
    coordinate_systems::check(&module, scene, diagnostics);
    module.functions.push(coordinate_systems::named(&scene.coordinate_systems));
    check_strings(&module, scene, collected, diagnostics);
    if collected.traces_paths {
        stdlib::add_built_functions(&mut module);
        paths::widen_calls(&mut module);
    }
    module
}

/// True if lights are sampled, or paths pass through surfaces by chance.
fn needs_random_numbers(collected: &Collected, layout: &Layout) -> bool {
    let samples_lights = !layout.environments.is_empty()
        || !layout.area_lights.is_empty()
        || collected.lights.iter().any(|light| !light.points.is_empty());
    samples_lights || collected.traces_paths && collected.entries.iter().any(|entry| entry.methods.opacity.is_some())
}

/// Specializes the cores for what differs from object to object.
fn specialize(
    module: &mut Module,
    options: &LinkOptions,
    collected: &Collected,
    layout: &Layout,
    diagnostics: &mut Diagnostics,
) {
    let strings = collected.shaders.iter().flat_map(|i| &i.strings).map(|(_, string)| string);
    let messages = LightMessages::new(module, strings);
    let calls = coshader_calls(module);
    for remark in coshaders::mismatched_calls(&calls, &layout.linked.coshaders) {
        diagnostics.push(remark);
    }
    let area_shadows = match (layout.area_lights.is_empty(), collected.is_selective) {
        (true, _) => None,
        (false, true) => Some(Shadows::Dimming),
        (false, false) => Some(Shadows::Opaque),
    };
    let target = &options.pipeline.target;
    let light_tables = &layout.light_tables;
    let linked = &layout.linked;
    let specialized = Specialized { linked, area_shadows, messages: &messages, calls: &calls, light_tables, target };
    specialized.add(module, &collected.specializations);
}

/// Adds the functions by which surfaces and paths sample lights.
fn add_light_sampling(
    module: &mut Module,
    scene: &Scene,
    options: &LinkOptions,
    collected: &Collected,
    layout: &Layout,
) {
    let Layout { environments, area_lights, .. } = layout;
    if collected.traces_paths {
        for (i, (key, &number)) in collected.specializations.iter().enumerate() {
            let lights = key.lights.iter().map(|&i| &layout.linked.lights[i as usize]);
            let points = lights.filter(|light| light.bound.has_direction()).count();
            let suffix = specialization_suffix(number);
            let table = layout.light_tables.get(i).copied();
            let counts = Counts { lights: points, environments: environments.len(), table };
            module.functions.extend(area_lights::direct_functions(area_lights, &suffix, counts));
        }
    }
    let estimator = collected.traces_paths.then_some(scene.estimator);
    module.functions.extend(environments::functions(layout, estimator, options.output.is_none()));
    module.functions.extend(area_lights::functions(area_lights, layout.area_light_table));
}

/// Adds the surface entries.
fn add_surfaces(
    module: &mut Module,
    scene: &Scene,
    options: &LinkOptions,
    collected: &Collected,
    layout: &Layout,
    outputs: &GatherOutputs,
    differentiated: bool,
) {
    for (number, entry) in collected.entries.iter().enumerate() {
        let variant = &SurfaceVariant::new(entry, number, &layout.linked.volumes, options.output.as_ref());
        match options.stage {
            ProgramPurpose::Image if collected.traces_paths => {
                let suffix = specialization_suffix(entry.specialization);
                let paths = Paths {
                    estimator: scene.estimator,
                    area_lights: &layout.area_lights,
                    is_selective: collected.is_selective,
                };
                let surface = PathSurface { variant, suffix: &suffix, outputs, differentiated, paths };
                module.functions.extend(paths::surface(surface));
            }
            ProgramPurpose::Image => module.functions.push(entries::surface(variant, outputs, differentiated)),
            ProgramPurpose::Displacement => module.functions.push(entries::displacement(variant, differentiated)),
        }
        if options.debug {
            module.functions.push(entries::globals(variant));
        }
    }
}

/// The camera entry, where the stage has one.
fn camera(module: &Module, scene: &Scene, options: &LinkOptions, collected: &Collected) -> Option<Function> {
    if options.stage == ProgramPurpose::Displacement {
        return None;
    }
    let camera = CameraOptions::new(scene);
    match &collected.camera {
        CameraSource::RayFunction(function) => Some(entries::ray_function(function)),
        CameraSource::Shader(shader) => {
            module.function(library::CAMERA_RAY).map(|function| entries::camera_of(shader, function, camera))
        }
        CameraSource::Library => module.function(library::CAMERA).map(|function| entries::camera(function, camera)),
    }
}

/// Reports different strings with the same identifier, which would compare equal: among those of
/// the module, of the instances' parameters, of primitive variables, and of the attributes and
/// options that shaders query.
fn check_strings(module: &Module, scene: &Scene, collected: &Collected, diagnostics: &mut Diagnostics) {
    let mut strings: BTreeSet<Arc<str>> = module.strings().cloned().collect();
    let mut queries: BTreeSet<Arc<str>> = BTreeSet::new();
    for instance in collected.shaders.iter() {
        strings.extend(instance.strings.iter().map(|(_, string)| string.clone()));
        strings.extend(instance.made.iter().filter_map(string));
        let asked = instance.shader.core_params.iter().filter(|p| p.ty == Type::String && is_query(&p.name));
        queries.extend(asked.map(|p| p.name.clone()));
    }
    strings.extend(strings_by_name(scene).into_values().flatten());
    for input in &queries {
        let objects = scene.objects.iter().map(Some).chain([None]);
        strings.extend(objects.filter_map(|object| string(&query_value(input, Type::String, scene, object))));
    }
    if let Some((first, second)) = colliding_strings(strings.iter().map(|s| &**s)) {
        diagnostics.push(Diagnostic::colliding_strings(first, second));
    }
}

fn string(value: &Const) -> Option<Arc<str>> {
    if let Const::String(string) = value { Some(string.clone()) } else { None }
}
