//! Collecting, the first phase of linking: compiles the shaders that a scene names, binds their
//! parameters, and finds which surface entries the scene needs.
//!
//! Takes a [`Scene`] and a [`ShaderLibrary`], and gives a [`Collected`]: plain data, and no code
//! but what was compiled. Nothing here knows an address.

pub mod area_light_points;
pub mod binding;
pub mod copied_functions;
pub mod entries;
pub mod instances;
pub mod lights;
pub mod materials;
pub mod opacity;
pub mod primvars;
pub mod procedural;
mod room;
pub mod rtsl_objects;
pub mod scene_queries;
pub mod shader_cache;
pub mod shader_library;
pub mod shader_search;
pub mod string_origins;
pub mod uniform_code;

use crate::collect::primvars::{PrimvarMismatches, StoredPrimvars, parameters_of};
use crate::options::{Failure, LinkOptions, ProgramPurpose};
use crate::records::ProceduralRecord;
use crate::records::visibility;
use crate::records::{ParamBlock, RecordLayout};
use crate::specialize::Fact;
use binding::{Binder, BoundShaders, CoShaderCore};
use entries::{BoundDisplacement, SpecializationKey, SpecializationKeys, SurfaceEntries, SurfaceEntry};
use instances::Instance;
use lights::BoundLight;
use opacity::Opacities;
use procedural::{BoundPrimitive, PrimitiveCores};
use room::Room;
use shader_library::{CompiledFunction, ShaderLibrary};
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_generators::transport::{Transport, TransportKind};
use shadewright_scene::{Integrator, Object, Scene, ShaderId, Visibility};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The shaders and objects of a scene, compiled and bound.
#[derive(Debug)]
pub struct Collected {
    /// The scene's shader instances with their compiled shaders.
    pub shaders: BoundShaders,
    /// The lights, in the scene's order.
    pub lights: Vec<BoundLight>,
    /// The volume shaders that objects name, in the order of their blocks.
    pub volumes: BTreeMap<ShaderId, Arc<Instance>>,
    /// The co-shaders that objects know, each with all its cores.
    pub coshaders: BTreeMap<ShaderId, Vec<CoShaderCore>>,
    /// The objects, in the scene's order.
    pub objects: Vec<BoundObject>,
    /// The surface entries that the objects need, in the order of their numbers.
    pub entries: Vec<SurfaceEntry>,
    /// The keys that cores are specialized for, each with its number.
    pub specializations: BTreeMap<SpecializationKey, usize>,
    /// The kinds of procedural primitives, in the order of their intersection entries.
    pub primitive_kinds: Vec<Arc<PrimitiveCores>>,
    /// The source of the camera's rays.
    pub camera: CameraSource,
    /// The imager shader, if the image has one.
    pub imager: Option<Arc<Instance>>,
    /// True if surfaces are path traced.
    pub traces_paths: bool,
    /// True if some object is invisible to some rays, or transmits light ([`visibility`]).
    pub is_selective: bool,
}

/// An object with its shaders bound.
#[derive(Debug)]
pub struct BoundObject {
    /// The number of its surface entry.
    pub entry: u32,
    /// The parameters of its surface shader, then those of its displacement shader.
    pub params: Arc<ParamBlock>,
    /// Which rays see it, with a hit mode.
    pub visibility: Visibility,
    /// How its records lie.
    pub layout: RecordLayout,
    /// The primitive in place of a mesh, if the object is procedural.
    pub primitive: Option<BoundPrimitive>,
}

/// The source of a camera's rays.
#[derive(Debug)]
pub enum CameraSource {
    /// The standard library, from the scene's `Projection`.
    Library,
    /// An object of an RTSL camera class.
    Shader(Arc<Instance>),
    /// A shader function from raster positions to colors, in place of rays.
    RayFunction(CompiledFunction),
}

/// The name of ray generation in the standard library's source.
const CAMERA_SOURCE_NAME: &str = "__camera";
/// The name there of the function that shades a camera ray.
const CAMERA_RADIANCE_SOURCE_NAME: &str = "__camera_radiance";
/// The name there of the function that computes transmittance along a shadow ray.
const TRANSMITTANCE_SOURCE_NAME: &str = "__transmittance";

/// Collects what `scene` needs. The compiled functions are in `shaders`.
///
/// # Errors
///
/// When a shader is missing or wrong: `diagnostics` has every such error.
pub fn collect(
    scene: &Scene,
    options: &LinkOptions,
    shaders: &mut ShaderLibrary,
    diagnostics: &mut Diagnostics,
) -> Result<Collected, Failure> {
    // A variable is shown where camera rays meet surfaces: no path continues from there.
    let traces_paths =
        scene.integrator == Integrator::Path && options.stage == ProgramPurpose::Image && options.output.is_none();
    let mut binder = Binder::new(scene, shaders, diagnostics);
    let mut lights = binder.lights();
    let volumes: BTreeMap<_, _> =
        volume_ids(scene).into_iter().filter_map(|id| Some((id, binder.instance(id)?))).collect();
    let coshaders = binder.coshaders();
    let surfaces: Vec<_> = scene.objects.iter().map(|o| binder.surface(o)).collect();
    let displacements: Vec<_> =
        scene.objects.iter().map(|o| o.attributes.displacement.and_then(|id| binder.instance(id))).collect();
    let imager = scene.imager.filter(|_| options.output.is_none()).and_then(|id| binder.instance(id));
    let are_fixed = options.specialize.has(Fact::Layouts);
    let bound = BoundBefore { surfaces: &surfaces, displacements: &displacements, lights: &lights, volumes: &volumes };
    let mut needed = bind_objects(&mut binder, bound, traces_paths, are_fixed);
    if let Some((objects, error)) = needed.room.take().and_then(Room::left_out) {
        binder.leave_out(objects);
        binder.remark(vec![error]);
    }
    if options.specialize.fixes_parameters() {
        // From so many shaders on, GPUs do some of their work twice.
        let splits = options.specialize.has(Fact::Zeros);
        let limit = splits.then_some(options.pipeline.target.sharing_shaders);
        entries::fix_parameters(&mut needed.objects, limit);
    }
    let (objects, entries) = number_entries(needed.objects);
    let is_selective = objects.iter().any(|o| visibility::is_selective(o.visibility));
    if is_selective {
        lights.iter_mut().for_each(BoundLight::dim);
    }
    let ray_function = scene.ray_function.as_ref().and_then(|function| binder.ray_function(function));
    let camera_shader = scene.camera_shader.and_then(|id| binder.instance(id));
    let camera = match (ray_function, camera_shader) {
        (Some(function), _) => CameraSource::RayFunction(function),
        (None, Some(camera)) => CameraSource::Shader(camera),
        (None, None) => CameraSource::Library,
    };
    let (bound, unusable) = binder.finish();
    if shaders.has_refused() {
        return Err(Failure::Endless);
    }
    if !unusable.is_empty() || diagnostics.has_errors() {
        return Err(Failure::Unusable(unusable));
    }
    let kind = if traces_paths { TransportKind::Paths } else { TransportKind::Compositing };
    let transport = Transport { kind, has_mattes: visibility::has_matte(scene) };
    add_library(shaders, transport, is_selective, diagnostics);
    Ok(Collected {
        shaders: bound,
        lights,
        volumes,
        coshaders,
        objects,
        entries,
        specializations: needed.specializations.numbers,
        primitive_kinds: needed.primitive_kinds,
        camera,
        imager,
        traces_paths,
        is_selective,
    })
}

/// Adds the standard library's functions that entries call, and the integrator.
fn add_library(shaders: &mut ShaderLibrary, transport: Transport, is_selective: bool, diagnostics: &mut Diagnostics) {
    let mut names = vec![CAMERA_SOURCE_NAME, CAMERA_RADIANCE_SOURCE_NAME];
    names.extend(is_selective.then_some(TRANSMITTANCE_SOURCE_NAME));
    if let Err(errors) = shaders.add_standard(&names) {
        diagnostics.extend(errors);
    }
    shaders.replace_function(transport.function());
}

/// The objects of a scene, and what they need together.
#[derive(Default)]
struct Needed {
    /// The room that is left for objects.
    room: Option<Room>,
    /// With the entries that they need, whose numbers are not known yet.
    objects: Vec<(SurfaceEntry, BoundObject)>,
    specializations: SpecializationKeys,
    primitive_kinds: Vec<Arc<PrimitiveCores>>,
}

impl Needed {
    /// The number of a kind of procedural primitives.
    fn kind_of(&mut self, cores: &Arc<PrimitiveCores>) -> usize {
        let core = &cores.intersect.shader.core;
        let known = self.primitive_kinds.iter().position(|kind| kind.intersect.shader.core == *core);
        known.unwrap_or_else(|| {
            self.primitive_kinds.push(cores.clone());
            self.primitive_kinds.len() - 1
        })
    }
}

/// The parts that are bound before objects are.
#[derive(Clone, Copy)]
struct BoundBefore<'a> {
    /// The surface shader of each object.
    surfaces: &'a [Option<Arc<Instance>>],
    /// The displacement shader of each object.
    displacements: &'a [Option<Arc<Instance>>],
    lights: &'a [BoundLight],
    volumes: &'a BTreeMap<ShaderId, Arc<Instance>>,
}

/// Binds the objects. Objects whose shaders could
/// not be bound are left out: their errors are reported; and so are those for which there is no
/// [room](Room). `layouts_are_fixed` lays out records as
/// each mesh needs them.
fn bind_objects(
    binder: &mut Binder<'_>,
    bound: BoundBefore<'_>,
    traces_paths: bool,
    layouts_are_fixed: bool,
) -> Needed {
    let scene = binder.scene;
    let BoundBefore { surfaces, displacements, lights, volumes } = bound;
    let mut room = Room::new(binder.module());
    let shaders: Vec<Vec<Arc<Instance>>> =
        surfaces.iter().zip(displacements).map(|(s, d)| s.iter().chain(d).cloned().collect()).collect();
    let stored = StoredPrimvars::new(scene, &shaders);
    let mut mismatches = PrimvarMismatches::default();
    let mut opacities = Opacities::default();
    let mut needed = Needed::default();
    for (number, ((object, surface), displacement)) in scene.objects.iter().zip(surfaces).zip(displacements).enumerate()
    {
        let Some(surface) = surface else { continue };
        let attributes = &object.attributes;
        if !needed.specializations.has(object) && !room.take_key(SpecializationKey::new(object), lights) {
            room.leave_out(number, object);
            continue;
        }
        let specialization = needed.specializations.intern(object);
        for shader in std::iter::once(surface).chain(displacement) {
            binder.remark(mismatches.check(object, shader));
        }
        let own_layout = stored.layout(object);
        let mut layout = if layouts_are_fixed { own_layout } else { own_layout.general(object) };
        let methods = binder.material_methods(object, traces_paths);
        if methods.emission.is_some() && !room.take_emitters(object) {
            room.leave_out(number, object);
            continue;
        }
        // Its block has the results of the methods' uniform code now.
        let Some(surface) = &binder.surface(object) else { continue };
        for shader in std::iter::once(surface).chain(displacement).chain(methods.all()) {
            binder.run_varying_stages(&layout, &shader.shader);
        }
        let params = object_block(scene, object, surface, displacement.as_deref());
        let Some(params) = room.take_parameters(params) else {
            room.leave_out(number, object);
            continue;
        };
        let mut primitive = None;
        if let Some(id) = object.procedural {
            let Some(bound) = binder.primitive(id) else { continue };
            let kind = needed.kind_of(&bound.cores) as u32;
            layout.procedural = Some(ProceduralRecord { kind, offset: params.len() as u32 });
            primitive = Some(bound);
        }
        let visible = opacities.visibility(object, surface, &methods);
        let unlit = visibility::is_shaded_for_transmittance(visible)
            .then(|| needed.specializations.number(SpecializationKey::unlit(object)));
        let name = |id: ShaderId| &scene.shader_instances[id.0 as usize].shader;
        let is_surface = object.surface.zip(attributes.displacement).is_some_and(|(s, d)| name(s) == name(d));
        let displacement = displacement.clone().map(|instance| BoundDisplacement {
            instance,
            is_done: attributes.displaced,
            is_surface,
        });
        let kind = layout.procedural.map(|record| needed.primitive_kinds[record.kind as usize].clone());
        let entry = SurfaceEntry {
            instance: surface.clone(),
            displacement,
            atmosphere: attributes.atmosphere,
            specialization,
            layout: layout.clone(),
            primitive: kind,
            visibility: visible,
            methods,
            unlit,
            constants: None,
        };
        if !room.take_entry(&entry, volumes) {
            room.leave_out(number, object);
            continue;
        }
        needed.objects.push((entry, BoundObject { entry: 0, params, visibility: visible, layout, primitive }));
    }
    needed.room = Some(room);
    needed
}

/// Numbers the entries that objects need.
fn number_entries(objects: Vec<(SurfaceEntry, BoundObject)>) -> (Vec<BoundObject>, Vec<SurfaceEntry>) {
    let mut entries = SurfaceEntries::default();
    let numbered = |(entry, object)| BoundObject { entry: entries.number(entry), ..object };
    (objects.into_iter().map(numbered).collect(), entries.list)
}

/// The parameters in an object's record: those of its surface, then those of its displacement
/// shader.
pub fn object_block(scene: &Scene, object: &Object, surface: &Instance, displacement: Option<&Instance>) -> ParamBlock {
    let mut block = parameters_of(scene, surface, object);
    block.extend(displacement.into_iter().flat_map(|d| parameters_of(scene, d, object)));
    block
}

/// The volume shaders that a scene's objects name, in the order of their blocks, which follow those
/// of the lights.
pub fn volume_ids(scene: &Scene) -> BTreeSet<ShaderId> {
    let of_object = |o: &Object| [o.attributes.atmosphere, o.attributes.interior, o.attributes.exterior];
    scene.objects.iter().flat_map(of_object).flatten().collect()
}
