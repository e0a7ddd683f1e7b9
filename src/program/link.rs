//! Linking: a scene and its shaders become one [`Program`].

use crate::ir::passes::{Observer, Pipeline, arguments, derivatives};
use crate::ir::{Function, Inlining, Loc, Module, Op};
use crate::lang::rsl::queries::Asked;
use crate::lang::rsl::{self, outline::Outline};
use crate::lang::rsl::{LIGHTS_CATEGORY, LIGHTS_MESSAGE, LIGHTS_SAMPLE};
use crate::lang::rtsl::state::Method;
use crate::lang::stdlib::sampling::{self, RANDOM_FUNCTION};
use crate::lang::stdlib::{PATH_FUNCTION, RADIANCE_FUNCTION};
use crate::program::collect::instances::{Instance, bind};
use crate::program::collect::procedural::{self, LinkedPrimitive, PrimitiveCores, Primitives, ProgramRecord, SHARE};
use crate::program::collect::scene_queries::is_option;
use crate::program::collect::shader_cache::Units;
use crate::program::collect::shader_library::ShaderLibrary;
use crate::program::layout::area_light_points;
use crate::program::layout::constants::{PROGRAM_CONSTANTS, frame_constants_around, set_options};
use crate::program::layout::memory::{MemoryError, MemoryImage, ObjectRecord, ParamBlock, RecordLayout};
use crate::program::layout::primvars::{Mismatches, Taken, parameters_of, texts_by_name};
use crate::program::layout::textures::{self, Textures};
use crate::program::optimise::texture_lookups;
use crate::program::synthesise::area_lights::{AreaLights, Shining};
use crate::program::synthesise::coordinate_systems;
use crate::program::synthesise::coshaders::{self, CoShaders, LinkedCoShader, LinkedCore};
use crate::program::synthesise::entries::{self, Displacement, SurfaceVariant};
use crate::program::synthesise::environments::Environments;
use crate::program::synthesise::gather_outputs::Questions;
use crate::program::synthesise::lights::{LightQuestions, LinkedLight, Shadows, ambient_there};
use crate::program::synthesise::outputs::Output;
use crate::program::synthesise::paths::{self, Methods, Paths, Scattering};
use crate::program::synthesise::specialisation::{Surroundings, add_surroundings, set_suffix};
use crate::program::synthesise::surface_state::SHUTTER;
use crate::program::synthesise::visibility;
use crate::program::synthesise::volumes::LinkedVolume;
use crate::program::{CAMERA_ENTRY, CameraOptions};
use crate::scene::{Integrator, Object, Scene, ShaderId, ShaderInstance, ShaderKind, Visibility};
use crate::text::diagnostics::{Diagnostic, Diagnostics};
use crate::text::source::{FileId, SourceMap};
use glam::Mat4;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// How to link.
#[derive(Clone, Debug, Default)]
pub struct LinkOptions {
    /// Folders to search for shaders before the scene's own.
    pub shader_paths: Vec<PathBuf>,
    /// The passes to run on the linked module, and the target: one that suits all machines that run the program ([`crate::ir::TargetInfo::common`]).
    pub pipeline: Pipeline,
    /// Shaders that are not searched for: names, and the files of the sources that define them.
    pub given: Vec<(String, FileId)>,
    /// A variable that the image shows in the place of colours; there is no background and no imager then.
    pub output: Option<Output>,
    /// Macros: names and replacement texts.
    pub defines: Vec<(String, String)>,
    /// What the program is for.
    pub stage: Stage,
    /// Whether variables leave `debug` instructions, and the program has outlines and entries for the globals at a hit. The memory image is the same.
    pub debug: bool,
}

/// The shader that an integrator puts in the place of all surfaces'.
fn shown_surface(integrator: Integrator) -> Option<&'static str> {
    match integrator {
        Integrator::AmbientOcclusion => Some("ambientocclusion"),
        Integrator::Normals => Some("shownormals"),
        Integrator::Whitted | Integrator::Path => None,
    }
}

/// What a program is linked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Images: it has entries for the camera, surfaces and the imager.
    #[default]
    Image,
    /// Moving the points of meshes: in the place of each surface entry it has the one that runs the object's displacement shader ([`crate::program::displacement_entry`]), and no other.
    Displacement,
}

/// A scene's shaders and data in one piece, ready for a back end. A clone shares the functions and the shading data.
#[derive(Clone, Debug)]
pub struct Program {
    /// All functions; entry points are of kind [`crate::ir::FunctionKind::Entry`].
    pub module: Arc<Module>,
    /// The shading data.
    pub memory: Arc<MemoryImage>,
    /// The primitives that are programs.
    pub primitives: Arc<Primitives>,
    /// Number of surface entries.
    pub surface_entries: usize,
    /// Whether there is an imager entry.
    pub has_imager: bool,
    /// Whether a shader may print; a program that was linked with [`LinkOptions::debug`] then leaves records of what is printed.
    pub prints: bool,
    /// The program constants.
    pub constants: [[f32; 4]; PROGRAM_CONSTANTS],
    /// The text of everything that was compiled, for messages.
    pub sources: SourceMap,
    /// What there was to remark on.
    pub warnings: Diagnostics,
    /// The scene's shader instances with their compiled shaders, in the scene's order; `None` for one that nothing uses.
    pub instances: Arc<[Option<Arc<Instance>>]>,
    /// With [`LinkOptions::debug`], the outlines of all that was compiled.
    pub outlines: Arc<[Outline]>,
}

impl Program {
    /// Whether some shader asks for options of the scene, so that their values are part of the shading data.
    pub fn asks_for_options(&self) -> bool {
        let instances = self.instances.iter().flatten();
        instances.flat_map(|i| &i.shader.core_params).any(|p| is_option(&p.name))
    }

    /// Whether a displacement shader asks for parameters of the surface shader.
    pub fn asks_for_surface(&self, displacement: ShaderId) -> bool {
        let instance = self.instances.get(displacement.0 as usize).and_then(Option::as_ref);
        let mut inputs = instance.into_iter().flat_map(|i| &i.shader.core_params);
        inputs.any(|p| Asked::parse(&p.name).is_some_and(|asked| asked.word == "surface"))
    }

    /// Whether a shader of the scene changes a predefined variable.
    pub fn changes(&self, shader: ShaderId, name: &str) -> bool {
        let instance = self.instances.get(shader.0 as usize).and_then(Option::as_ref);
        instance.is_some_and(|i| i.shader.changes(name))
    }

    /// Whether a shader or class asks for the time, so that the image is another at each moment of the shutter's opening, be the scene at rest.
    pub fn sees_time(&self) -> bool {
        let [_, open, close, _] = self.constants[SHUTTER as usize];
        let mut insts = self.module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
        open < close && insts.any(|inst| inst.op == Op::Uniform(SHUTTER))
    }

    /// How many of the camera's arguments the program takes for a sample (see [`crate::render::sampling::CameraSample::arguments`]).
    pub fn camera_arguments(&self) -> usize {
        self.module.function(CAMERA_ENTRY).map_or(0, |f| f.params.len())
    }

    /// The program of a scene that differs from this one's in the parameters of one shader instance: other data, the same functions. `None` where they
    /// are in the functions, as an imager's are, and where a string is another, as it may name a texture that is not read yet.
    pub fn with_parameters_of(&self, scene: &Scene, id: ShaderId) -> Option<Self> {
        let number = id.0 as usize;
        let given = &scene.shader_instances[number];
        // The parameters of a displacement shader that has moved the points of a mesh are in the mesh, as may be those of the surface that it asks for.
        let in_mesh = |o: &Object| {
            let own = &o.attributes;
            let asks = || own.displacement.is_some_and(|id| self.asks_for_surface(id));
            own.displaced && (own.displacement == Some(id) || o.surface == Some(id) && asks())
        };
        if given.class_file().is_some()
            || matches!(given.kind, ShaderKind::Imager | ShaderKind::CoShader)
            || scene.objects.iter().any(in_mesh)
        {
            return None;
        }
        let old = self.instances.get(number)?.as_ref()?;
        if !old.shader.is_for(given) {
            return None;
        }
        let bound = Arc::new(bind(old.shader.clone(), given, scene, &mut Vec::new()));
        // A string may name a texture, which is to be read then, or a category, with which the code compares.
        if !bound.strings().eq(old.strings()) {
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
        Some(program)
    }
}

/// The parameters in an object's record: those of its surface, then those of its displacement shader.
fn object_block(scene: &Scene, object: &Object, surface: &Instance, displacement: Option<&Instance>) -> ParamBlock {
    let mut block = parameters_of(scene, surface, object);
    block.extend(displacement.into_iter().flat_map(|d| parameters_of(scene, d, object)));
    block
}

/// The volume shaders that a scene's objects name, in the order of their blocks behind those of the lights.
fn volume_ids(scene: &Scene) -> BTreeSet<ShaderId> {
    let of_object = |o: &Object| [o.attributes.atmosphere, o.attributes.interior, o.attributes.exterior];
    scene.objects.iter().flat_map(of_object).flatten().collect()
}

/// A surface entry that objects want.
struct WantedEntry {
    instance: Arc<Instance>,
    /// The displacement shader, whether it has moved the points of the mesh already, and whether it is the class that the surface shader is.
    displacement: Option<(Arc<Instance>, bool, bool)>,
    atmosphere: Option<ShaderId>,
    /// The number of its surroundings.
    set: usize,
    layout: RecordLayout,
    primitive: Option<Arc<PrimitiveCores>>,
    seen: Visibility,
    methods: Methods,
    /// The number of the surroundings without lights, where rays ask the surface shader for its opacity.
    dark: Option<usize>,
}

impl WantedEntry {
    /// The shaders whose cores it calls.
    fn shaders(&self) -> impl Iterator<Item = &Arc<Instance>> {
        std::iter::once(&self.instance).chain(self.displacement.iter().map(|d| &d.0))
    }

    fn variant(&self, volumes: &BTreeMap<ShaderId, LinkedVolume>, output: Option<&Output>) -> SurfaceVariant {
        let core = |i: &Instance, set: usize| Arc::from(format!("{}{}", i.shader.core, set_suffix(set)));
        let of_set = |set: usize| SurfaceVariant {
            core: core(&self.instance, set),
            instance: self.instance.clone(),
            displacement: self.displacement.clone().map(|(d, done, is_surface)| Displacement {
                core: core(&d, set),
                instance: d,
                done,
                is_surface,
            }),
            atmosphere: None,
            layout: self.layout.clone(),
            primitive: self.primitive.clone(),
            output: None,
            seen: Visibility::default(),
            methods: Methods { opacity: self.methods.opacity.clone(), ..Methods::default() },
            dark: None,
        };
        let atmosphere = self.atmosphere.and_then(|id| volumes.get(&id));
        SurfaceVariant {
            atmosphere: atmosphere.map(|v| (core(&v.instance, self.set), v.clone())),
            output: output.cloned(),
            seen: self.seen,
            methods: self.methods.clone(),
            dark: self.dark.map(|set| of_set(set).into()),
            ..of_set(self.set)
        }
    }
}

/// Why a scene could not be linked, with the sources that the messages point into.
#[derive(Debug)]
pub struct LinkError {
    /// The messages.
    pub diagnostics: Diagnostics,
    /// What they point into.
    pub sources: SourceMap,
}

/// The surface of objects that name none, as RISpec 3.2 leaves it to the renderer.
pub const DEFAULT_SURFACE: &str = "defaultsurface";

/// The name of ray generation in the standard library's source.
const CAMERA_SOURCE_NAME: &str = "__camera";
/// The name there of what a ray of the camera sees.
const SEEN_SOURCE_NAME: &str = "__seen";
/// The name there of the path tracer.
const PATH_SOURCE_NAME: &str = "__path";
/// The name there of what asks how much light gets through.
const OPEN_SOURCE_NAME: &str = "__open";

/// Links `scene`. `sources` holds the scene's files; the shaders' are added.
///
/// # Errors
/// Every shader that is missing or wrong, in one run.
pub fn link(scene: &Scene, sources: SourceMap, options: &LinkOptions) -> Result<Program, LinkError> {
    link_keeping(scene, sources, options, &mut Units::default())
}

/// [`link`], with somebody who looks at the program between passes.
///
/// # Errors
/// Those of [`link`].
pub fn link_observed(
    scene: &Scene,
    sources: SourceMap,
    options: &LinkOptions,
    observer: &mut dyn Observer,
) -> Result<Program, LinkError> {
    run(scene, sources, options, &mut Units::default(), observer)
}

/// [`link`], which compiles only files that have changed since `units` were kept, and keeps what it compiles. The sources must be those that came out of the
/// linking before.
///
/// # Errors
/// Those of [`link`].
pub fn link_keeping(
    scene: &Scene,
    sources: SourceMap,
    options: &LinkOptions,
    units: &mut Units,
) -> Result<Program, LinkError> {
    run(scene, sources, options, units, &mut ())
}

fn run(
    scene: &Scene,
    sources: SourceMap,
    options: &LinkOptions,
    units: &mut Units,
    observer: &mut dyn Observer,
) -> Result<Program, LinkError> {
    let mut linker = Linker {
        shaders: ShaderLibrary::new(sources, std::mem::take(units), options, &scene.search_paths.shader)
            .with_spaces(coordinate_systems::named(&scene.coordinate_systems)),
        diagnostics: Diagnostics::new(),
        instances: HashMap::new(),
        methods: HashMap::new(),
        parts: HashMap::new(),
    };
    let program = linker.link(scene, options, observer);
    let Linker { mut shaders, mut diagnostics, .. } = linker;
    diagnostics.extend(shaders.take_warnings());
    let (sources, kept) = shaders.into_parts();
    *units = kept;
    match program {
        Ok(parts) if !diagnostics.has_errors() => Ok(Program { sources, warnings: diagnostics, ..parts }),
        Ok(_) => Err(LinkError { diagnostics, sources }),
        Err(error) => {
            if !diagnostics.has_errors() {
                diagnostics.push(Diagnostic::error(error.to_string()).hint("use fewer or smaller meshes"));
            }
            Err(LinkError { diagnostics, sources })
        }
    }
}

struct Linker {
    shaders: ShaderLibrary,
    diagnostics: Diagnostics,
    instances: HashMap<Option<u32>, Option<Arc<Instance>>>,
    /// What the classes of surfaces say beside how they shade.
    methods: HashMap<ShaderId, Methods>,
    /// The other cores of the scene's objects of classes, each with the object's parameters.
    parts: HashMap<u32, Vec<Arc<Instance>>>,
}

impl Linker {
    fn link(
        &mut self,
        scene: &Scene,
        options: &LinkOptions,
        observer: &mut dyn Observer,
    ) -> Result<Program, MemoryError> {
        let mut lights = self.lights(scene);
        let mut volumes: BTreeMap<ShaderId, LinkedVolume> = volume_ids(scene)
            .into_iter()
            .filter_map(|id| Some((id, LinkedVolume { instance: self.instance(scene, id.0)?, address: 0 })))
            .collect();
        let mut coshaders = self.coshaders(scene);
        let surfaces: Vec<_> = scene.objects.iter().map(|o| self.surface(scene, o)).collect();
        // A variable is shown where camera rays meet surfaces: no path goes on from there.
        let traces_paths =
            scene.integrator == Integrator::Path && options.stage == Stage::Image && options.output.is_none();
        let mut shaders: Vec<Vec<Arc<Instance>>> = surfaces.iter().map(|s| s.iter().cloned().collect()).collect();
        for (object, shaders) in scene.objects.iter().zip(&mut shaders) {
            shaders.extend(object.attributes.displacement.and_then(|id| self.instance(scene, id.0)));
        }
        let imager = scene.imager.filter(|_| options.output.is_none()).and_then(|id| self.instance(scene, id.0));

        // One entry for each distinct combination of cores, surroundings and layout of the records.
        let mut wanted = Vec::new();
        let mut surroundings: BTreeMap<Surroundings, usize> = BTreeMap::new();
        let mut keys = HashMap::new();
        let mut records = Vec::with_capacity(scene.objects.len());
        let taken = Taken::of(scene, &shaders);
        let mut mismatches = Mismatches::default();
        let (mut kinds, mut boxes): (Vec<Arc<PrimitiveCores>>, Vec<_>) = Default::default();
        for (number, (object, instance)) in scene.objects.iter().zip(&surfaces).enumerate() {
            let Some(instance) = instance else { continue };
            let next = surroundings.len();
            let set = *surroundings.entry(Surroundings::of(object)).or_insert(next);
            let mut layout = taken.layout(object);
            let displacement = object.attributes.displacement.and_then(|id| self.instance(scene, id.0));
            for shader in std::iter::once(instance).chain(&displacement) {
                mismatches.of(object, shader).into_iter().for_each(|d| self.diagnostics.push(d));
            }
            let displaced = object.attributes.displaced;
            let name = |id: ShaderId| &scene.shader_instances[id.0 as usize].name;
            let is_surface =
                object.surface.zip(object.attributes.displacement).is_some_and(|(s, d)| name(s) == name(d));
            let cores =
                (instance.shader.core.clone(), displacement.as_ref().map(|d| (d.shader.core.clone(), displaced)));
            let atmosphere = object.attributes.atmosphere;
            let mut params = object_block(scene, object, instance, displacement.as_deref());
            let primitive = match object.program {
                Some(id) => {
                    let Some(primitive) = self.primitive(scene, id) else { continue };
                    let known =
                        kinds.iter().position(|k| k.intersect.shader.core == primitive.cores.intersect.shader.core);
                    let kind = known.unwrap_or_else(|| {
                        kinds.push(primitive.cores.clone());
                        kinds.len() - 1
                    });
                    let record = ProgramRecord { kind: kind as u32, offset: params.len() as u32 };
                    params.extend(primitive.block(record.kind, object));
                    layout.program = Some(record);
                    boxes.push((number, record, primitive.bounds));
                    Some(kinds[kind].clone())
                }
                None => None,
            };
            let seen = object.attributes.visibility;
            let dark = Surroundings { lights: Arc::new([]), ..Surroundings::of(object) };
            let next = surroundings.len();
            let dark = visibility::asks_shader(seen).then(|| *surroundings.entry(dark).or_insert(next));
            let own = object.surface.filter(|_| shown_surface(scene.integrator).is_none());
            let methods = own.map(|id| self.methods(scene, id, traces_paths)).unwrap_or_default();
            let says = [methods.emission.is_some(), methods.opacity.is_some()];
            let entry = *keys.entry((cores, atmosphere, set, layout.clone(), seen, says)).or_insert_with(|| {
                wanted.push(WantedEntry {
                    instance: instance.clone(),
                    displacement: displacement.map(|d| (d, displaced, is_surface)),
                    atmosphere,
                    set,
                    layout: layout.clone(),
                    primitive,
                    seen,
                    methods,
                    dark,
                });
                wanted.len() as u32 - 1
            });
            records.push(ObjectRecord { entry, params, layout });
        }
        let ray_program = scene.ray_program.as_ref().and_then(|program| {
            self.shaders.ray_program(program).map_err(|errors| self.diagnostics.extend(errors)).ok()
        });
        let camera_shader = scene.camera_shader.and_then(|id| self.instance(scene, id.0));
        if self.diagnostics.has_errors() {
            return Ok(self.empty());
        }
        let of_volumes = volumes.values().map(|v| v.instance.block.clone());
        let of_coshaders = coshaders.values().flat_map(|c| &c.cores).map(|core| core.instance.block.clone());
        let mut blocks: Vec<_> = lights.iter().map(LinkedLight::block).chain(of_volumes).chain(of_coshaders).collect();
        let selective = visibility::is_selective(scene);
        let mut asked = vec![CAMERA_SOURCE_NAME, SEEN_SOURCE_NAME];
        asked.extend(selective.then_some(OPEN_SOURCE_NAME));
        asked.extend(traces_paths.then_some(PATH_SOURCE_NAME));
        if let Err(errors) = self.shaders.add_standard(&asked) {
            self.diagnostics.extend(errors);
        }
        let mut module = self.shaders.take_module();
        if traces_paths {
            take_place(&mut module, PATH_FUNCTION, RADIANCE_FUNCTION);
        }
        let mut area_lights = AreaLights::of(scene, &boxes, |number| {
            let record: &ObjectRecord = records.get(number)?;
            let WantedEntry { methods, primitive, .. } = &wanted[record.entry as usize];
            let Methods { emission, opacity, .. } = methods.clone();
            let (layout, primitive) = (record.layout.clone(), primitive.clone());
            Some(Shining { entry: record.entry as usize, emission: emission?, opacity, layout, primitive })
        });
        for (object, place, share) in area_lights.shares(&boxes) {
            records[object].params[place.offset as usize][usize::from(SHARE)] = share.to_bits();
        }
        let textures = self.add_textures(scene, &mut module);
        let mut environments = Environments::of(scene, &mut lights, &textures);
        let chooses =
            environments.count() > 0 || !area_lights.is_empty() || lights.iter().any(|l| !l.points.is_empty());
        let passes = traces_paths && wanted.iter().any(|w| w.methods.opacity.is_some());
        if (chooses || passes) && module.function(RANDOM_FUNCTION).is_none() {
            module.functions.extend(sampling::functions());
        }
        let behind = blocks.len();
        blocks.push(vec![[0; 4]; area_lights.vectors()]);
        blocks.extend(environments.tables());
        let mut memory = MemoryImage::build(scene, &records, &blocks, &textures)?;
        area_lights.address = memory.blocks[behind];
        memory.set_block(behind, &area_lights.table(scene, &memory));
        environments.addresses = memory.blocks[behind + 1..].to_vec();
        let cores = coshaders.values_mut().flat_map(|c| &mut c.cores).map(|core| &mut core.address);
        let addressed = lights.iter_mut().map(|l| &mut l.address).chain(volumes.values_mut().map(|v| &mut v.address));
        let addressed = addressed.chain(cores);
        for (place, address) in addressed.zip(&memory.blocks) {
            *place = *address;
        }
        let tree = procedural::tree(scene, &memory, &boxes).unwrap_or_else(|d| {
            self.diagnostics.push(d);
            Default::default()
        });

        let texts = self.instances.values().flatten().flat_map(|i| &i.texts).map(|(_, text)| text);
        let questions = LightQuestions::of(&module, texts);
        coshaders::misfits(&coshaders::asked(&module), &coshaders).into_iter().for_each(|d| self.diagnostics.push(d));
        let area = match (area_lights.is_empty(), selective) {
            (true, _) => None,
            (false, true) => Some(Shadows::Dimming),
            (false, false) => Some(Shadows::Opaque),
        };
        let target = &options.pipeline.target;
        add_surroundings(&mut module, &lights, area, &questions, &volumes, &coshaders, &surroundings, target);
        module.functions.push(visibility::selective_function(scene));
        module.functions.push(ambient_there(traces_paths));
        let to_surfaces = Questions::of(&module);
        module.functions.extend(to_surfaces.functions());
        let differentiated = derivatives::is_needed(&module);
        if traces_paths {
            for (around, &number) in &surroundings {
                let points = around.lights.iter().filter(|&&i| lights[i as usize].has_direction()).count();
                let direct = area_lights.direct_functions(&set_suffix(number), points, environments.count());
                module.functions.extend(direct);
            }
        }
        let estimator = traces_paths.then_some(scene.estimator);
        module.functions.extend(environments.functions(&lights, estimator, options.output.is_none()));
        module.functions.extend(area_lights.functions());
        for (number, wanted) in wanted.iter().enumerate() {
            let variant = &wanted.variant(&volumes, options.output.as_ref());
            match options.stage {
                Stage::Image if traces_paths => {
                    let paths = Paths { estimator: scene.estimator, area_lights: &area_lights, selective };
                    let set = set_suffix(wanted.set);
                    let own = paths::surface(number, variant, &set, &to_surfaces, differentiated, paths);
                    module.functions.extend(own);
                }
                Stage::Image => {
                    module.functions.push(entries::surface(number, variant, &to_surfaces, differentiated));
                }
                Stage::Displacement => {
                    module.functions.push(entries::displacement(number, variant, differentiated));
                }
            }
            if options.debug {
                module.functions.push(entries::globals(number, variant));
            }
        }
        let camera = match &ray_program {
            _ if options.stage == Stage::Displacement => None,
            Some(function) => Some(entries::ray_program(function)),
            None if let Some(camera) = &camera_shader => module
                .function(crate::lang::stdlib::SEEN_FUNCTION)
                .map(|function| entries::camera_of(camera, function, CameraOptions::of(scene))),
            None => module
                .function(crate::lang::stdlib::CAMERA_FUNCTION)
                .map(|function| entries::camera(function, CameraOptions::of(scene))),
        };
        module.functions.extend(camera);
        if options.stage == Stage::Image {
            module.functions.extend(kinds.iter().enumerate().map(|(n, cores)| procedural::intersect(n, cores)));
        }
        if let Some(imager) = &imager {
            module.functions.push(entries::imager(imager));
        }
        coordinate_systems::check(&module, scene, &mut self.diagnostics);
        module.functions.push(coordinate_systems::named(&scene.coordinate_systems));
        self.check_strings(&module);
        if traces_paths {
            rsl::add_built_functions(&mut module);
            paths::widen_calls(&mut module);
            let methods = wanted.iter().flat_map(|w| w.methods.at_one_place());
            texture_lookups::share(&mut module, &methods.map(|i| i.shader.core.clone()).collect());
        }
        arguments::drop_unneeded(&mut module);
        // What a light gives is asked once for each place, and then worked out where the light is known.
        let asks_light = |f: &&mut Function| {
            [LIGHTS_SAMPLE, LIGHTS_MESSAGE, LIGHTS_CATEGORY].iter().any(|name| f.name.starts_with(name))
        };
        module.functions.iter_mut().filter(asks_light).for_each(|f| f.inlining = Inlining::Late);
        // A core with more parameters than a call passes becomes a part of its entry.
        let call_registers = options.pipeline.target.call_registers;
        let passed = |i: &Instance| i.shader.core_params.iter().map(|p| p.ty.words().div_ceil(4)).sum::<u32>();
        let mut inlined: HashSet<Arc<str>> = kinds.iter().flat_map(|cores| cores.names().cloned()).collect();
        for wanted in &wanted {
            let large = wanted.methods.all().filter(|i| passed(i) > call_registers);
            inlined.extend(large.map(|i| i.shader.core.clone()));
            let large = wanted.shaders().filter(|i| passed(i) > call_registers);
            let sets = || std::iter::once(wanted.set).chain(wanted.dark).map(set_suffix);
            let cores = large.flat_map(|i| sets().map(|set| Arc::from(format!("{}{set}", i.shader.core))));
            inlined.extend(cores);
        }
        let cores = module.functions.iter_mut().filter(|f| inlined.contains(&f.name));
        cores.for_each(|f| f.inlining = Inlining::Always);
        let constants = frame_constants_around(scene, tree.bounds());
        match options.pipeline.run(&mut module, observer) {
            Ok(report) => report.rays.into_iter().for_each(|loc| self.warn_of_ray(&module, loc)),
            Err(error) => self.diagnostics.push(Diagnostic::error(format!("internal error: {error}"))),
        }
        if options.stage == Stage::Image {
            procedural::split_by_origin(&mut module, kinds.len(), &options.pipeline.target);
        }
        Ok(Program {
            module: module.into(),
            memory: memory.into(),
            surface_entries: wanted.len(),
            has_imager: imager.is_some(),
            primitives: Arc::new(Primitives { tree, kinds: kinds.len() }),
            constants: match options.output {
                None => constants,
                Some(_) => without_background(constants),
            },
            prints: self.shaders.prints(),
            instances: self.instances_of(scene),
            outlines: self.shaders.take_outlines().into(),
            ..self.empty()
        })
    }

    fn empty(&self) -> Program {
        Program {
            module: Arc::default(),
            memory: Arc::default(),
            primitives: Arc::default(),
            surface_entries: 0,
            has_imager: false,
            prints: false,
            constants: [[0.0; 4]; PROGRAM_CONSTANTS],
            sources: SourceMap::new(),
            warnings: Diagnostics::new(),
            instances: Arc::default(),
            outlines: Arc::default(),
        }
    }

    /// What was bound of the scene's instances.
    fn instances_of(&self, scene: &Scene) -> Arc<[Option<Arc<Instance>>]> {
        (0..scene.shader_instances.len() as u32).map(|id| self.instances.get(&Some(id)).cloned().flatten()).collect()
    }

    /// The instance of a scene's shader, bound once.
    fn instance(&mut self, scene: &Scene, id: u32) -> Option<Arc<Instance>> {
        if let Some(known) = self.instances.get(&Some(id)) {
            return known.clone();
        }
        let bound = self.bind(scene, &scene.shader_instances[id as usize]);
        self.instances.insert(Some(id), bound.clone());
        bound
    }

    /// What the class of an object's surface says of it beside how it is shaded; with how it scatters light where paths are traced.
    fn methods(&mut self, scene: &Scene, id: ShaderId, traces_paths: bool) -> Methods {
        if let Some(known) = self.methods.get(&id) {
            return known.clone();
        }
        let made = self.made_methods(scene, id, traces_paths);
        self.parts.insert(id.0, made.all().cloned().collect());
        self.methods.insert(id, made.clone());
        made
    }

    fn made_methods(&mut self, scene: &Scene, id: ShaderId, traces_paths: bool) -> Methods {
        let given = &scene.shader_instances[id.0 as usize];
        if given.class_file().is_none() {
            return Methods::default();
        }
        let mut method = |method: Method| match self.shaders.object_method(scene, given, method) {
            Ok(found) => {
                let (shader, whole) = found?;
                // What is wrong with the values was told of the shader.
                Some(Arc::new(bind(Arc::new(shader), &whole, scene, &mut Vec::new())))
            }
            Err(errors) => {
                self.diagnostics.extend(errors);
                None
            }
        };
        let emission = method(Method::Emission).filter(|emission| !paths::is_black(emission));
        let opacity = method(Method::Opacity).filter(|opacity| !paths::is_opaque(opacity));
        if !traces_paths {
            return Methods { scattering: None, emission, opacity };
        }
        let parts = [Method::Bsdf, Method::SampleBsdf, Method::EvaluatePdf].map(method);
        let scattering = match parts {
            [Some(value), Some(sample), Some(density)] => Some(Scattering { value, sample, density }),
            _ => None,
        };
        Methods { scattering, emission, opacity }
    }

    fn surface(&mut self, scene: &Scene, object: &Object) -> Option<Arc<Instance>> {
        let shown = shown_surface(scene.integrator);
        if let (Some(id), None) = (object.surface, shown) {
            return self.instance(scene, id.0);
        }
        if let Some(known) = self.instances.get(&None) {
            return known.clone();
        }
        let default = ShaderInstance {
            kind: ShaderKind::Surface,
            name: shown.unwrap_or(DEFAULT_SURFACE).to_string(),
            params: Vec::new(),
            to_world: Mat4::IDENTITY,
            span: None,
            objects: Default::default(),
        };
        let bound = self.bind(scene, &default);
        self.instances.insert(None, bound.clone());
        bound
    }

    fn bind(&mut self, scene: &Scene, instance: &ShaderInstance) -> Option<Arc<Instance>> {
        let found = match instance.class_file() {
            Some(_) => self.shaders.object_shader(scene, instance).map(|(shader, whole)| (shader, Cow::Owned(whole))),
            None => self.shaders.shader(instance).map(|shader| (shader, Cow::Borrowed(instance))),
        };
        match found {
            Ok((shader, instance)) => {
                let mut remarks = Vec::new();
                let bound = bind(Arc::new(shader), &instance, scene, &mut remarks);
                remarks.into_iter().for_each(|r| self.diagnostics.push(r));
                Some(Arc::new(bound))
            }
            Err(errors) => {
                self.diagnostics.extend(errors);
                None
            }
        }
    }

    /// The primitive that an object is in the place of a mesh.
    fn primitive(&mut self, scene: &Scene, id: ShaderId) -> Option<LinkedPrimitive> {
        let given = &scene.shader_instances[id.0 as usize];
        let mut remarks = Vec::new();
        let linked = self
            .shaders
            .primitive(scene, given)
            .and_then(|(shaders, whole)| Ok(LinkedPrimitive::new(shaders, &whole, scene, &mut remarks)?));
        remarks.into_iter().for_each(|r| self.diagnostics.push(r));
        match linked {
            Ok(linked) => {
                self.instances.insert(Some(id.0), Some(linked.cores.intersect.clone()));
                self.parts.insert(id.0, linked.cores.others().cloned().collect());
                Some(linked)
            }
            Err(errors) => {
                self.diagnostics.extend(errors);
                None
            }
        }
    }

    /// The co-shaders that objects know, with all that can be asked of them.
    fn coshaders(&mut self, scene: &Scene) -> CoShaders {
        let named: BTreeSet<ShaderId> =
            scene.objects.iter().flat_map(|o| o.attributes.coshaders.iter()).map(|c| c.shader).collect();
        let mut linked = CoShaders::new();
        for id in named {
            let given = &scene.shader_instances[id.0 as usize];
            // Objects of RTSL are known to those that refer to them.
            if given.class_file().is_some() {
                continue;
            }
            let cores = match self.shaders.coshader(given) {
                Ok(cores) => cores,
                Err(errors) => {
                    self.diagnostics.extend(errors);
                    continue;
                }
            };
            let mut remarks = Vec::new();
            let bound = cores.into_iter().map(|(name, shader)| {
                // All have the parameters of the class: what is wrong with those that the scene gives is told once.
                remarks.clear();
                let instance = Arc::new(bind(Arc::new(shader), given, scene, &mut remarks));
                LinkedCore { id, name, instance, address: 0 }
            });
            let cores: Vec<LinkedCore> = bound.collect();
            remarks.into_iter().for_each(|r| self.diagnostics.push(r));
            let members = cores.iter().find(|c| c.name.is_empty()).map(|c| c.instance.clone());
            self.instances.insert(Some(id.0), members);
            linked.insert(id, LinkedCoShader { cores });
        }
        linked
    }

    fn lights(&mut self, scene: &Scene) -> Vec<LinkedLight> {
        let selective = visibility::is_selective(scene);
        scene
            .lights
            .iter()
            .zip(0..)
            .filter_map(|(light, number)| {
                let instance = self.instance(scene, light.shader.0)?;
                let points = if light.area { area_light_points::points(scene, number) } else { Vec::new() };
                if light.area && points.is_empty() {
                    let message = format!("no object shines for the area light {}", light.handle);
                    self.diagnostics.push(Diagnostic::warning(message).hint("it shines from its origin; objects that stand behind AreaLightSource in its attribute block shine for it"));
                }
                let shadows = match (light.shadows, selective) {
                    (false, _) => Shadows::None,
                    (true, false) => Shadows::Opaque,
                    (true, true) => Shadows::Dimming,
                };
                Some(LinkedLight { instance, shadows, address: 0, points, environment: None })
            })
            .collect()
    }

    /// Reads the textures that the module's shaders may ask for, and adds the function that finds them.
    fn add_textures(&mut self, scene: &Scene, module: &mut Module) -> Textures {
        let instances = scene.shader_instances.iter().zip(0..).flat_map(|(given, id)| {
            let bound =
                self.instances.get(&Some(id)).into_iter().flatten().chain(self.parts.get(&id).into_iter().flatten());
            bound.map(move |bound| (&**bound, given))
        });
        let Some(names) = textures::names(module, instances, &texts_by_name(scene)) else { return Textures::default() };
        let read = self.shaders.textures(scene, names);
        self.diagnostics.extend(read.remarks);
        module.functions.push(read.textures.find_function());
        read.textures
    }

    /// Tells that a derivative of what a ray brings back counts as 0.
    fn warn_of_ray(&mut self, module: &Module, loc: Loc) {
        let d = Diagnostic::warning("a derivative of what a ray brings back counts as 0");
        self.diagnostics.push(match module.span(loc) {
            Some(span) => d.at(span, "this comes by a ray"),
            None => d,
        });
    }

    /// Reports different strings that the machines could not tell apart.
    fn check_strings(&mut self, module: &Module) {
        let mut known: HashMap<u32, Arc<str>> = HashMap::new();
        for inst in module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts) {
            let Op::Const(crate::ir::Const::String(text)) = &inst.op else { continue };
            let id = crate::ir::string_id(text);
            let first = known.entry(id).or_insert_with(|| text.clone());
            if first != text {
                let message =
                    format!("the strings \"{first}\" and \"{text}\" have the same identifier and would compare equal");
                self.diagnostics.push(Diagnostic::warning(message).hint("rename one of them"));
            }
        }
    }
}

/// The constants with nothing behind the scene.
fn without_background(mut constants: [[f32; 4]; PROGRAM_CONSTANTS]) -> [[f32; 4]; PROGRAM_CONSTANTS] {
    let max_depth = constants[6][3] as u32;
    set_options(&mut constants, max_depth, [0.0; 4]);
    constants
}

/// Puts a function of the library in the place of another that takes and gives the same.
fn take_place(module: &mut Module, new: &str, old: &str) {
    module.functions.retain(|f| *f.name != *old);
    for f in module.functions.iter_mut().filter(|f| *f.name == *new) {
        f.name = old.into();
    }
}
