//! Binding: the shader instances of a scene become compiled shaders with values for their
//! parameters, each once.

use crate::collect::area_light_points;
use crate::collect::instances::{Instance, bind};
use crate::collect::lights::{BoundLight, Shadows};
use crate::collect::materials::{MaterialMethods, Scattering, is_black, is_opaque};
use crate::collect::procedural::BoundPrimitive;
use crate::collect::room::Parameters;
use crate::collect::shader_library::{CompiledFunction, CompiledShader, ShaderLibrary};
use crate::options::DEFAULT_SURFACE;
use crate::records::RecordLayout;
use glam::Mat4;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_ir::Module;
use shadewright_lang::ShaderRef;
use shadewright_lang::rtsl::Scratch;
use shadewright_lang::rtsl::state::Method;
use shadewright_scene::{Integrator, Object, RayFunction, Scene, ShaderId, ShaderInstance, ShaderRole, Unusable};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The shader instances of a scene, bound.
#[derive(Debug)]
pub struct BoundShaders {
    /// By their numbers; the surface shader of objects that name none has no number. `None` stands
    /// for one that is wrong.
    instances: HashMap<Option<u32>, Option<Arc<Instance>>>,
    /// The materials that are primitive and material in one, by the numbers of the instances that
    /// give their parameters.
    of_primitives: HashMap<u32, Option<Arc<Instance>>>,
    /// The other cores of RTSL objects, by the numbers of their instances, each with the object's
    /// parameters.
    other_cores: HashMap<u32, Vec<Arc<Instance>>>,
}

impl BoundShaders {
    /// All bound shaders with a core that shades.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.instances.values().chain(self.of_primitives.values()).flatten()
    }

    /// All cores that an instance of the scene has.
    pub fn cores_of(&self, id: ShaderId) -> impl Iterator<Item = &Arc<Instance>> {
        let others = self.other_cores.get(&id.0).into_iter().flatten();
        let shading = [self.instances.get(&Some(id.0)), self.of_primitives.get(&id.0)];
        shading.into_iter().flatten().flatten().chain(others)
    }

    /// The instances of a scene in its order; `None` for one that nothing uses.
    pub fn in_order(&self, scene: &Scene) -> Arc<[Option<Arc<Instance>>]> {
        (0..scene.shader_instances.len() as u32).map(|id| self.instances.get(&Some(id)).cloned().flatten()).collect()
    }
}

/// A core of a co-shader.
#[derive(Clone, Debug)]
pub struct CoShaderCore {
    /// The name of the method; empty for the members.
    pub method: Arc<str>,
    /// The core with the parameters of the class.
    pub instance: Arc<Instance>,
}

/// Binds the shaders of a scene. What is wrong with them goes to `diagnostics`.
pub struct Binder<'a> {
    /// The scene.
    pub scene: &'a Scene,
    diagnostics: &'a mut Diagnostics,
    shaders: &'a mut ShaderLibrary,
    bound: BoundShaders,
    methods: HashMap<Material, MaterialMethods>,
    unusable: Unusable,
    primitives: HashMap<ShaderId, Option<BoundPrimitive>>,
    /// The room for the parameters of instances.
    parameters: Parameters,
    /// The shaders of instances by their cores: instances share them.
    compiled: HashMap<Arc<str>, Arc<CompiledShader>>,
}

/// The material of an object: the shader that shades it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Material {
    /// The instance that gives its parameters.
    id: ShaderId,
    /// True if it is the object's primitive, too.
    scratch: Scratch,
}

/// The surface shader that an integrator runs in place of every other.
fn integrator_surface(integrator: Integrator) -> Option<&'static str> {
    match integrator {
        Integrator::AmbientOcclusion => Some("ambientocclusion"),
        Integrator::Normals => Some("shownormals"),
        Integrator::Whitted | Integrator::Path => None,
    }
}

impl<'a> Binder<'a> {
    /// Of a scene, with shaders from a library.
    pub fn new(scene: &'a Scene, shaders: &'a mut ShaderLibrary, diagnostics: &'a mut Diagnostics) -> Self {
        let bound =
            BoundShaders { instances: HashMap::new(), of_primitives: HashMap::new(), other_cores: HashMap::new() };
        let (methods, primitives, unusable, parameters, compiled) = Default::default();
        Self { scene, diagnostics, shaders, bound, methods, unusable, primitives, parameters, compiled }
    }

    /// Returns the bound shaders, and those that could not be bound.
    pub fn finish(self) -> (BoundShaders, Unusable) {
        (self.bound, self.unusable)
    }

    /// The instance of that number, bound once.
    pub fn instance(&mut self, id: ShaderId) -> Option<Arc<Instance>> {
        if let Some(known) = self.bound.instances.get(&Some(id.0)) {
            return known.clone();
        }
        let bound = self.bind(&self.scene.shader_instances[id.0 as usize], Scratch::Declared);
        self.note(id, bound.is_some());
        self.bound.instances.insert(Some(id.0), bound.clone());
        bound
    }

    /// The surface shader of an object.
    pub fn surface(&mut self, object: &Object) -> Option<Arc<Instance>> {
        let of_integrator = integrator_surface(self.scene.integrator);
        match self.material(object) {
            Some(Material { id, scratch: Scratch::Declared }) => return self.instance(id),
            Some(Material { id, scratch: Scratch::OfHit }) => return self.material_of_primitive(id),
            None => {}
        }
        if let Some(known) = self.bound.instances.get(&None) {
            return known.clone();
        }
        let default = ShaderInstance {
            kind: ShaderRole::Surface,
            shader: ShaderRef::new(of_integrator.unwrap_or(DEFAULT_SURFACE)),
            params: Vec::new(),
            to_world: Mat4::IDENTITY,
            span: None,
            objects: Default::default(),
        };
        let bound = self.bind(&default, Scratch::Declared);
        self.bound.instances.insert(None, bound.clone());
        bound
    }

    /// The material of an object, if that is not the default surface or that of the integrator. A
    /// procedural primitive whose class is a material shades itself unless it has a surface; where
    /// the surface is of its own class, they are one object, too.
    fn material(&mut self, object: &Object) -> Option<Material> {
        if integrator_surface(self.scene.integrator).is_some() {
            return None;
        }
        let given = |id: ShaderId| &self.scene.shader_instances[id.0 as usize];
        let is_own = match (object.surface, object.procedural) {
            (Some(surface), Some(primitive)) => given(surface).shader == given(primitive).shader,
            (Some(_), None) | (None, None) => false,
            (None, Some(primitive)) => self.shaders.is_material(given(primitive)),
        };
        let id = object.surface.or(object.procedural.filter(|_| is_own))?;
        Some(Material { id, scratch: if is_own { Scratch::OfHit } else { Scratch::Declared } })
    }

    /// The instance that gives the parameters of a material that is a primitive, too.
    fn as_material(&self, id: ShaderId) -> ShaderInstance {
        ShaderInstance { kind: ShaderRole::Surface, ..self.scene.shader_instances[id.0 as usize].clone() }
    }

    fn material_of_primitive(&mut self, id: ShaderId) -> Option<Arc<Instance>> {
        if let Some(known) = self.bound.of_primitives.get(&id.0) {
            return known.clone();
        }
        let bound = self.bind(&self.as_material(id), Scratch::OfHit);
        self.note(id, bound.is_some());
        self.bound.of_primitives.insert(id.0, bound.clone());
        bound
    }

    fn bind(&mut self, instance: &ShaderInstance, scratch: Scratch) -> Option<Arc<Instance>> {
        let found = match instance.shader.is_class() {
            true => {
                let found = self.shaders.object_shader(self.scene, instance, scratch);
                found.map(|(shader, whole)| (shader, Cow::Owned(whole)))
            }
            false => self.shaders.shader(instance).map(|shader| (shader, Cow::Borrowed(instance))),
        };
        let (shader, instance) = self.reported(found)?;
        // The parameters of others are constants in their code.
        let is_split = matches!(
            instance.kind,
            ShaderRole::Surface | ShaderRole::Light | ShaderRole::Volume | ShaderRole::Displacement
        );
        let shader = if is_split { self.shaders.split(shader) } else { shader };
        let shader = self.shared(shader);
        let vectors = shader.core_params.len();
        if !self.parameters.take(vectors) {
            let d = Parameters::error("the shaders of the scene");
            let d = instance.span.into_iter().fold(d, |d, span| d.at(span, "the first for which there is no room"));
            self.remark(vec![d]);
            return None;
        }
        let mut remarks = Vec::new();
        let bound = bind(shader, &instance, self.scene, &mut remarks);
        self.remark(remarks);
        Some(Arc::new(bound))
    }

    /// The shader that all instances with its core share. Those of objects are made for each.
    fn shared(&mut self, shader: CompiledShader) -> Arc<CompiledShader> {
        if shader.is_object {
            return Arc::new(shader);
        }
        self.compiled.entry(shader.core.clone()).or_insert_with(|| Arc::new(shader)).clone()
    }

    /// The module with the cores that are bound so far.
    pub fn module(&self) -> &Module {
        self.shaders.module()
    }

    /// Notes objects for which there is no room.
    pub fn leave_out(&mut self, objects: BTreeSet<usize>) {
        self.unusable.objects = objects;
    }

    /// The methods of an object's material beside the one that shades; those that scatter light
    /// where paths are traced.
    pub fn material_methods(&mut self, object: &Object, traces_paths: bool) -> MaterialMethods {
        let Some(material) = self.material(object) else { return MaterialMethods::default() };
        if let Some(known) = self.methods.get(&material) {
            return known.clone();
        }
        let errors = self.diagnostics.error_count();
        let methods = self.bind_methods(&self.as_material(material.id), material.scratch, traces_paths);
        let methods = self.share_block(material, methods);
        self.note(material.id, self.diagnostics.error_count() == errors);
        self.bound.other_cores.entry(material.id.0).or_default().extend(methods.all().cloned());
        self.methods.insert(material, methods.clone());
        methods
    }

    fn bind_methods(&mut self, given: &ShaderInstance, scratch: Scratch, traces_paths: bool) -> MaterialMethods {
        if !given.shader.is_class() {
            return MaterialMethods::default();
        }
        let mut method = |method: Method| {
            let found = self.shaders.object_method(self.scene, given, method, scratch);
            let (shader, whole) = self.reported(found)??;
            // What is wrong with the values was reported with the shader.
            let shader = Arc::new(self.shaders.split(shader));
            Some(Arc::new(bind(shader, &whole, self.scene, &mut Vec::new())))
        };
        let emission = method(Method::Emission).filter(|emission| !is_black(emission));
        let opacity = method(Method::Opacity).filter(|opacity| !is_opaque(opacity));
        if !traces_paths {
            return MaterialMethods { scattering: None, emission, opacity };
        }
        let scattering = match [Method::Bsdf, Method::SampleBsdf, Method::EvaluatePdf].map(method) {
            [Some(bsdf), Some(sample), Some(pdf)] => Some(Scattering { bsdf, sample, pdf }),
            _ => None,
        };
        MaterialMethods { scattering, emission, opacity }
    }

    /// Puts the results of the methods' uniform code into the block of the method that shades,
    /// which all of them read.
    fn share_block(&mut self, material: Material, methods: MaterialMethods) -> MaterialMethods {
        let bound = match material.scratch {
            Scratch::Declared => self.instance(material.id),
            Scratch::OfHit => self.material_of_primitive(material.id),
        };
        let Some(surface) = bound.filter(|_| methods.all().any(|m| m.shader.uniform.is_some())) else {
            return methods;
        };
        let (surface, methods) = methods.sharing_the_block_of(&surface);
        let surface = Some(Arc::new(surface));
        match material.scratch {
            Scratch::Declared => _ = self.bound.instances.insert(Some(material.id.0), surface),
            Scratch::OfHit => _ = self.bound.of_primitives.insert(material.id.0, surface),
        }
        methods
    }

    /// The procedural primitive of that instance, bound once.
    pub fn primitive(&mut self, id: ShaderId) -> Option<BoundPrimitive> {
        if let Some(known) = self.primitives.get(&id) {
            return known.clone();
        }
        let bound = self.bind_primitive(id);
        self.primitives.insert(id, bound.clone());
        bound
    }

    fn bind_primitive(&mut self, id: ShaderId) -> Option<BoundPrimitive> {
        let given = &self.scene.shader_instances[id.0 as usize];
        let mut remarks = Vec::new();
        let found = self.shaders.primitive(self.scene, given).map(|(made, whole)| (made.split(self.shaders), whole));
        let bound =
            found.and_then(|(shaders, whole)| Ok(BoundPrimitive::new(shaders, &whole, self.scene, &mut remarks)?));
        self.remark(remarks);
        let bound = self.reported(bound);
        self.note(id, bound.is_some());
        let bound = bound?;
        self.bound.instances.insert(Some(id.0), Some(bound.cores.intersect.clone()));
        self.bound.other_cores.entry(id.0).or_default().extend(bound.cores.others().cloned());
        Some(bound)
    }

    /// The co-shaders that objects know, with all their cores.
    pub fn coshaders(&mut self) -> BTreeMap<ShaderId, Vec<CoShaderCore>> {
        let known = self.scene.objects.iter().flat_map(|o| o.attributes.coshaders.iter());
        let known: BTreeSet<ShaderId> = known.map(|c| c.shader).collect();
        let mut coshaders = BTreeMap::new();
        for id in known {
            let given = &self.scene.shader_instances[id.0 as usize];
            // Objects of RTSL are known to those that refer to them.
            if given.shader.is_class() {
                continue;
            }
            let found = self.shaders.coshader(given);
            let compiled = self.reported(found);
            self.note(id, compiled.is_some());
            let Some(compiled) = compiled else { continue };
            let mut remarks = Vec::new();
            let mut cores = Vec::with_capacity(compiled.len());
            for (method, shader) in compiled {
                // All cores have the parameters of the class: what is wrong with their values is
                // reported once.
                remarks.clear();
                let instance = Arc::new(bind(Arc::new(shader), given, self.scene, &mut remarks));
                cores.push(CoShaderCore { method, instance });
            }
            self.remark(remarks);
            let members = cores.iter().find(|c| c.method.is_empty()).map(|c| c.instance.clone());
            self.bound.instances.insert(Some(id.0), members);
            coshaders.insert(id, cores);
        }
        coshaders
    }

    /// The lights, as opaque surfaces shadow them.
    pub fn lights(&mut self) -> Vec<BoundLight> {
        let mut lights = Vec::with_capacity(self.scene.lights.len());
        for (light, number) in self.scene.lights.iter().zip(0..) {
            let Some(instance) = self.instance(light.shader) else { continue };
            let points = if light.area { area_light_points::points(self.scene, number) } else { Vec::new() };
            if light.area && points.is_empty() {
                let message = format!("the area light {} has no geometry", light.handle);
                let hint = "it is a point light at its origin; primitives that follow AreaLightSource in its attribute block are its geometry";
                self.diagnostics.push(Diagnostic::warning(message).hint(hint));
            }
            let shadows = if light.shadows.unwrap_or(true) { Shadows::Opaque } else { Shadows::None };
            lights.push(BoundLight { instance, shadows, points });
        }
        lights
    }

    /// The function that makes the image in place of a camera.
    pub fn ray_function(&mut self, function: &RayFunction) -> Option<CompiledFunction> {
        let found = self.shaders.ray_function(function);
        let function = self.reported(found);
        self.unusable.ray_function = function.is_none();
        function
    }

    /// Notes whether a shader can be used.
    fn note(&mut self, id: ShaderId, is_usable: bool) {
        if !is_usable {
            self.unusable.shaders.insert(id);
        }
    }

    /// Adds the uniform code of a shader that entries run at each hit, as a parameter varies over the
    /// primitive.
    pub fn run_varying_stages(&mut self, layout: &RecordLayout, shader: &CompiledShader) {
        if let Some(code) =
            shader.uniform.as_ref().filter(|code| code.stages().iter().any(|s| s.varies(layout, shader)))
        {
            self.shaders.add_stages(code);
        }
    }

    fn reported<T>(&mut self, result: Result<T, Diagnostics>) -> Option<T> {
        result.map_err(|errors| self.diagnostics.extend(errors)).ok()
    }

    /// Adds warnings.
    pub fn remark(&mut self, remarks: Vec<Diagnostic>) {
        remarks.into_iter().for_each(|remark| self.diagnostics.push(remark));
    }
}
