//! The linked [`Program`]: what back ends compile and renderers run.

use crate::collect::instances::{Instance, bind};
use crate::collect::materials::MaterialMethods;
use crate::collect::opacity::Opacities;
use crate::collect::scene_queries::is_option;
use crate::collect::shader_library::CompiledParam;
use crate::collect::uniform_code::UniformCounts;
use crate::collect::{object_block, volume_ids};
use crate::layout::memory::MemoryImage;
use crate::layout::procedural::Primitives;
use crate::options::Output;
use crate::records::surface_globals::SURFACE_GLOBALS;
use crate::specialize::{Fact, Specialize};
use crate::synthesize::baking::Baking;
use crate::synthesize::entries::LENS_ARGUMENTS;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::SourceMap;
use shadewright_ir::abi::frame::{FrameConstants, slots};
use shadewright_ir::abi::{CAMERA_ENTRY, Query, QuerySource};
use shadewright_ir::passes::known_data::KnownData;
use shadewright_ir::{Module, Op, Type};
use shadewright_lang::outline::Outline;
use shadewright_scene::{Object, Scene, ShaderId, ShaderRole};
use std::sync::Arc;

/// A scene's shaders and data in one piece, ready for a back end. A clone shares the functions and
/// the shading data.
#[derive(Clone, Debug)]
pub struct Program {
    /// All functions; entry points are of kind [`shadewright_ir::FunctionKind::Entry`].
    pub module: Arc<Module>,
    /// The shading data.
    pub memory: Arc<MemoryImage>,
    /// The procedural primitives.
    pub primitives: Arc<Primitives>,
    /// Number of surface entries.
    pub surface_entries: usize,
    /// True if there is an imager entry.
    pub has_imager: bool,
    /// True if a shader may print; a program that was linked with [`super::LinkOptions::debug`] then
    /// leaves records of what is printed.
    pub prints: bool,
    /// The program constants.
    pub constants: FrameConstants,
    /// The text of everything that was compiled, for messages.
    pub sources: SourceMap,
    /// Warnings.
    pub diagnostics: Diagnostics,
    /// The scene's shader instances with their compiled shaders, in the scene's order; `None` for
    /// one that nothing uses.
    pub instances: Arc<[Option<Arc<Instance>>]>,
    /// With [`super::LinkOptions::debug`], the outlines of all that was compiled.
    pub outlines: Arc<[Outline]>,
    /// The calls and files by which surface shaders bake.
    pub baking: Arc<Baking>,
    /// Which facts of the scene are constants of the code.
    pub specialize: Specialize,
    /// The data that are constants of the code, so that other data need another program.
    pub known: Arc<KnownData>,
    /// The uniform code of its shaders, and how much of it this program, or the change that made
    /// it, ran.
    pub uniform: UniformCounts,
}

impl Program {
    /// The names of the channels of an output variable in a file, one or three; `None` where no
    /// surface shader has such an output parameter, or it is neither a number nor a triple.
    pub fn output_channels(&self, output: &Output) -> Option<&'static [&'static str]> {
        const NUMBER: &[&str] = &["Y"];
        const POINT: &[&str] = &["X", "Y", "Z"];
        const COLOR: &[&str] = &["R", "G", "B"];
        match output {
            Output::Depth => Some(&["Z"]),
            Output::Baked => None,
            Output::ShaderNumber => Some(NUMBER),
            Output::Global("Cs" | "Os") => Some(COLOR),
            Output::Global(name) => {
                let is_number = SURFACE_GLOBALS.iter().any(|(n, ty)| n == name && *ty == Type::F32);
                Some(if is_number { NUMBER } else { POINT })
            }
            Output::Parameter(name) => {
                let shaders = self.instances.iter().flatten().map(|instance| &instance.shader);
                let is_result = |p: &CompiledParam| *p.name == **name;
                let with_results = shaders.filter(|s| s.core_results.iter().any(|r| r.name == *name));
                let type_name = with_results.flat_map(|s| &s.params).find(|p| is_result(p))?.type_name;
                match type_name {
                    "float" => Some(NUMBER),
                    "color" => Some(COLOR),
                    "point" | "vector" | "normal" => Some(POINT),
                    _ => None,
                }
            }
        }
    }

    /// True if some shader queries options of the scene, so that their values are part of the
    /// shading data.
    pub fn reads_options(&self) -> bool {
        let instances = self.instances.iter().flatten();
        instances.flat_map(|i| &i.shader.core_params).any(|p| is_option(&p.name))
    }

    /// True if a displacement shader reads parameters of the surface shader.
    pub fn reads_surface(&self, displacement: ShaderId) -> bool {
        let instance = self.instances.get(displacement.0 as usize).and_then(Option::as_ref);
        let mut inputs = instance.into_iter().flat_map(|i| &i.shader.core_params);
        inputs.any(|p| Query::parse(&p.name).is_some_and(|asked| asked.source == QuerySource::Surface))
    }

    /// True if a shader of the scene changes a predefined variable.
    pub fn changes(&self, shader: ShaderId, name: &str) -> bool {
        let instance = self.instances.get(shader.0 as usize).and_then(Option::as_ref);
        instance.is_some_and(|i| i.shader.changes(name))
    }

    /// True if a shader or class reads the time, so that the image differs between time samples
    /// even of a scene at rest.
    pub fn reads_time(&self) -> bool {
        let mut insts = self.module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
        self.constants.shutter_open < self.constants.shutter_close
            && insts.any(|inst| inst.op == Op::Uniform(slots::TIME.vector))
    }

    /// True if the camera reads positions on the lens.
    pub fn reads_lens(&self) -> bool {
        let Some(camera) = self.module.function(CAMERA_ENTRY) else { return false };
        let params = camera.params.iter().zip(camera.param_values());
        let lens: Vec<_> =
            params.filter(|(p, _)| LENS_ARGUMENTS.contains(&&*p.name)).map(|(_, value)| *value).collect();
        let mut is_read = false;
        for block in &camera.blocks {
            is_read |= block.insts.iter().flat_map(|inst| &inst.args).any(|arg| lens.contains(arg));
            block.term.for_each_arg(|arg| is_read |= lens.contains(&arg));
        }
        is_read
    }

    /// How many of the camera's arguments the program takes for a sample (see
    /// `render::sampling::CameraSample::arguments`).
    pub fn camera_arguments(&self) -> usize {
        self.module.function(CAMERA_ENTRY).map_or(0, |f| f.params.len())
    }

    /// True if parameters of a shader instance are constants in the code.
    fn fixes_parameters_of(&self, scene: &Scene, id: ShaderId) -> bool {
        let shades = |o: &Object| o.surface == Some(id) || o.attributes.displacement == Some(id);
        let lights = || scene.lights.iter().any(|light| light.shader == id) || volume_ids(scene).contains(&id);
        self.specialize.fixes_parameters() && scene.objects.iter().any(shades)
            || self.specialize.has(Fact::LightParameters) && lights()
    }

    /// True if the code holds for these program constants.
    pub fn is_for(&self, constants: &[[f32; 4]]) -> bool {
        self.known.holds(constants)
    }

    /// The program of a scene that differs from this one's in the parameters of one shader
    /// instance: other data, the same functions. `None` where the parameters are constants in the
    /// functions, as an imager's are, and where a string differs, as it may name a texture that is
    /// not read yet.
    pub fn with_parameters_of(&self, scene: &Scene, id: ShaderId) -> Option<Self> {
        let number = id.0 as usize;
        let given = &scene.shader_instances[number];
        // The mesh depends on the parameters of the displacement shader that displaced it, and on
        // those of the surface shader that this reads.
        let in_mesh = |o: &Object| {
            let own = &o.attributes;
            let reads = || own.displacement.is_some_and(|id| self.reads_surface(id));
            own.displaced && (own.displacement == Some(id) || o.surface == Some(id) && reads())
        };
        if given.shader.is_class()
            || self.fixes_parameters_of(scene, id)
            || matches!(given.kind, ShaderRole::Imager | ShaderRole::CoShader)
            || scene.objects.iter().any(in_mesh)
        {
            return None;
        }
        let old = self.instances.get(number)?.as_ref()?;
        if !old.shader.is_for(given) {
            return None;
        }
        let counts = || old.uniform_code().map(|code| code.counts()).fold(UniformCounts::default(), UniformCounts::and);
        let counts_before = counts();
        let bound = Arc::new(bind(old.shader.clone(), given, scene, &mut Vec::new()));
        // A string may name a texture, which must be read then, or a category, which is a constant
        // in the code.
        if !bound.strings().eq(old.strings()) {
            return None;
        }
        // The hit modes that opacities imply are in the code.
        let (mut before, mut after) = (Opacities::default(), Opacities::default());
        let mode = |object: &Object, opacities: &mut Opacities, surface: &Arc<Instance>| {
            opacities.visibility(object, surface, &MaterialMethods::default())
        };
        let mut shaded = scene.objects.iter().filter(|o| o.surface == Some(id));
        if shaded.any(|o| mode(o, &mut before, old) != mode(o, &mut after, &bound)) {
            return None;
        }
        let mut program = self.clone();
        let memory = Arc::make_mut(&mut program.memory);
        Arc::make_mut(&mut program.instances)[number] = Some(bound.clone());
        let instance = |id: ShaderId| program.instances[id.0 as usize].as_deref();
        for (number, object) in scene.objects.iter().enumerate() {
            let displacement = object.attributes.displacement;
            if object.surface == Some(id) || displacement == Some(id) {
                let block = object_block(scene, object, instance(object.surface?)?, displacement.and_then(instance));
                memory.set_object_params(number, object, &block);
            }
        }
        for (number, _) in scene.lights.iter().enumerate().filter(|(_, light)| light.shader == id) {
            memory.set_block(number, &bound.block);
        }
        if let Some(number) = volume_ids(scene).iter().position(|volume| *volume == id) {
            memory.set_block(scene.lights.len() + number, &bound.block);
        }
        if bound.uniform_code().any(|code| code.is_refused()) {
            return None;
        }
        let ran = counts().since(counts_before);
        program.uniform = UniformCounts { runs: ran.runs, reuses: ran.reuses, ..program.uniform };
        Some(program)
    }
}
