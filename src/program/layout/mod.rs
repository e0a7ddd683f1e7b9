//! Layout, the second phase of linking: gives records, parameter blocks, textures and tables their
//! addresses, and fills the memory image.
//!
//! Takes what [`super::collect`] bound and gives a [`Layout`], in which every address is known
//! before code is written that uses it.

pub mod alias_table;
pub mod area_lights;
pub mod blocks;
pub mod constants;
pub mod environment_map;
pub mod environments;
pub mod light_tables;
pub mod memory;
pub mod procedural;

use crate::collect::Collected;
use crate::collect::primvars::strings_by_name;
use crate::collect::shader_library::ShaderLibrary;
use crate::collect::string_origins;
use crate::options::{Failure, LinkOptions};
use crate::records::textures::Textures;
use crate::specialize::Fact;
use area_lights::AreaLights;
use blocks::Linked;
use constants::{frame_constants_around, set_options};
use environments::{Environment, distinct_grids, environments};
use memory::{MemoryImage, ObjectRecord};
use procedural::Primitives;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_ir::abi::frame::FrameConstants;
use shadewright_scene::Scene;
use std::sync::Arc;

/// Where a scene's data lie.
#[derive(Debug)]
pub struct Layout {
    /// The memory image.
    pub memory: MemoryImage,
    /// The program constants of the frame.
    pub constants: FrameConstants,
    /// The textures that shaders may look up.
    pub textures: Textures,
    /// Lights, volumes and co-shaders with the addresses of their blocks.
    pub linked: Linked,
    /// The emissive surfaces.
    pub area_lights: AreaLights,
    /// Address of the table of emissive surfaces.
    pub area_light_table: u32,
    /// The environment lights.
    pub environments: Vec<Environment>,
    /// Address of the table of each environment light.
    pub environment_tables: Vec<u32>,
    /// Address of the table of lights of each specialization key, where lights are data.
    pub light_tables: Vec<u32>,
    /// The procedural primitives, as ray traversal needs them.
    pub primitives: Primitives,
}

/// Lays out what was collected of a scene. Textures are read through `shaders`, which keeps decoded
/// images.
///
/// # Errors
///
/// When the shading data do not fit the address space.
pub fn lay_out(
    scene: &Scene,
    options: &LinkOptions,
    collected: &Collected,
    shaders: &mut ShaderLibrary,
    diagnostics: &mut Diagnostics,
) -> Result<Layout, Failure> {
    let placed = procedural::placed(collected);
    let area_lights = AreaLights::new(scene, collected, &placed);
    let textures = read_textures(scene, collected, shaders, diagnostics);
    let environments = environments(scene, &collected.lights, &textures);
    // The blocks, then the table of emissive surfaces, then those of environments.
    let mut blocks = blocks::blocks(collected);
    let emissive = blocks.len();
    blocks.push(vec![[0; 4]; area_lights.vectors()]);
    let (grid_numbers, grids) = distinct_grids(&environments);
    blocks.extend(grids.iter().map(|grid| grid.records.clone()));
    let first_table = blocks.len();
    if !options.specialize.has(Fact::Lights) {
        blocks.extend(light_tables::empty(collected));
    }
    let memory = MemoryImage::build(scene, &object_records(scene, collected, &area_lights), &blocks, &textures)?;
    // That table holds addresses of records.
    let table = area_lights.table(scene, &memory);
    let memory = memory.with_block(emissive, &table);
    let linked = blocks::link(collected, memory.blocks.iter().copied(), &environments);
    let (memory, light_tables) = fill_light_tables(memory, first_table, collected, &linked, !area_lights.is_empty());
    let primitives = procedural::primitives(scene, &memory, &placed, collected.primitive_kinds.len());
    let primitives = primitives.unwrap_or_else(|d| {
        diagnostics.push(d);
        Default::default()
    });
    let mut constants = frame_constants_around(scene, primitives.tree.bounds());
    if options.output.is_some() {
        // No background is shown where a variable is.
        set_options(&mut constants, scene.max_depth, [0.0; 4]);
    }
    Ok(Layout {
        constants,
        textures,
        linked,
        area_light_table: memory.blocks[emissive],
        environment_tables: grid_numbers.iter().map(|n| memory.blocks[emissive + 1 + n]).collect(),
        light_tables,
        area_lights,
        environments,
        primitives,
        memory,
    })
}

/// Fills the tables of lights, of which block `first` is the first one if there are any; returns
/// their addresses.
fn fill_light_tables(
    mut memory: MemoryImage,
    first: usize,
    collected: &Collected,
    linked: &Linked,
    has_area: bool,
) -> (MemoryImage, Vec<u32>) {
    let addresses = memory.blocks[first..].to_vec();
    for (number, key) in (first..memory.blocks.len()).zip(collected.specializations.keys()) {
        let lights: Vec<_> = key.lights.iter().filter_map(|&i| linked.lights.get(i as usize)).collect();
        memory.set_block(number, &light_tables::table(&light_tables::sampled(&lights), has_area));
    }
    (memory, addresses)
}

/// The records of the objects: the parameters, which the block of a procedural primitive follows.
fn object_records(scene: &Scene, collected: &Collected, area_lights: &AreaLights) -> Vec<ObjectRecord> {
    let objects = scene.objects.iter().zip(&collected.objects).enumerate();
    let records = objects.map(|(number, (object, bound))| {
        let mut params = bound.params.clone();
        if let (Some(record), Some(primitive)) = (bound.layout.procedural, &bound.primitive) {
            let params = Arc::make_mut(&mut params);
            params.extend(procedural::block(primitive, record.kind, object, area_lights.pdf_scale(number)));
        }
        ObjectRecord { entry: bound.entry, params, visibility: bound.visibility, layout: bound.layout.clone() }
    });
    records.collect()
}

/// Reads the textures that the shaders may look up.
fn read_textures(
    scene: &Scene,
    collected: &Collected,
    shaders: &mut ShaderLibrary,
    diagnostics: &mut Diagnostics,
) -> Textures {
    let instances = string_origins::instances(scene, collected);
    let names = string_origins::names(shaders.module(), instances, &strings_by_name(scene));
    let Some(names) = names else { return Textures::default() };
    let read = shaders.textures(scene, names);
    diagnostics.extend(read.remarks);
    read.textures
}
