//! The entry functions, which a back end finds by name.

use crate::collect::entries::{Constants, SurfaceEntry};
use crate::collect::instances::{Instance, Outputs, unpack};
use crate::collect::materials::MaterialMethods;
use crate::collect::primvars::{stored_for, stored_message};
use crate::collect::procedural::PrimitiveCores;
use crate::collect::shader_library::CompiledFunction;
use crate::layout::blocks::LinkedVolume;
use crate::options::Output;
use crate::records::RecordLayout;
use crate::records::surface_globals::SURFACE_GLOBALS;
use crate::records::visibility::has_matte;
use crate::synthesize::gather_outputs::GatherOutputs;
use crate::synthesize::materials::{emission_at, opacity_at};
use crate::synthesize::outputs::triple;
use crate::synthesize::surface_state::{SurfaceInputs, SurfaceState, frame_value};
use crate::synthesize::visibility;
use crate::synthesize::volumes::Passage;
use shadewright_ir::abi::frame::slots;
use shadewright_ir::abi::{EntryPoint, Input, Query, QuerySource, input, specialization_suffix};
use shadewright_ir::{Const, Control, Function, FunctionBuilder, Type, Value};
use shadewright_lang::types::SourceType;
use shadewright_scene::{HitMode, Integrator, Scene, ShaderId, Visibility};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A surface core, and those of the shaders around it, as one entry calls them.
#[derive(Clone, Debug)]
pub struct SurfaceVariant {
    /// The number of the entry.
    pub number: usize,
    /// The core, specialized for the object.
    pub core: Arc<str>,
    /// An instance of the shader; only its signature matters.
    pub instance: Arc<Instance>,
    /// The displacement shader; its parameters follow the surface's.
    pub displacement: Option<Displacement>,
    /// The core of the atmosphere, and the atmosphere itself.
    pub atmosphere: Option<(Arc<str>, LinkedVolume)>,
    /// How the object's records lie.
    pub layout: RecordLayout,
    /// The cores of the primitive, if the objects are procedural.
    pub primitive: Option<Arc<PrimitiveCores>>,
    /// The output that camera rays get in place of the color.
    pub output: Option<Output>,
    /// Which rays see the objects.
    pub visibility: Visibility,
    /// The methods of the surface's material.
    pub methods: MaterialMethods,
    /// Which of the object's parameters are constants of the entry, if any.
    pub constants: Option<Constants>,
    /// The cores again, copied for where there are no lights, where shadow rays evaluate the
    /// surface shader for its opacity.
    pub unlit: Option<Box<SurfaceVariant>>,
}

impl SurfaceVariant {
    /// That of an entry with this number. Where the image shows an `output`, camera rays return
    /// that.
    pub fn new(
        entry: &SurfaceEntry,
        number: usize,
        volumes: &BTreeMap<ShaderId, LinkedVolume>,
        output: Option<&Output>,
    ) -> Self {
        let core = |i: &Instance| specialized_core(i, entry.specialization);
        let atmosphere = entry.atmosphere.and_then(|id| volumes.get(&id));
        Self {
            atmosphere: atmosphere.map(|v| (core(&v.instance), v.clone())),
            output: output.cloned(),
            visibility: entry.visibility,
            methods: entry.methods.clone(),
            unlit: entry.unlit.map(|key| Self::specialized(entry, number, key).into()),
            ..Self::specialized(entry, number, entry.specialization)
        }
    }

    /// The cores of an entry that are specialized for a key, and nothing around them.
    fn specialized(entry: &SurfaceEntry, number: usize, key: usize) -> Self {
        Self {
            number,
            core: specialized_core(&entry.instance, key),
            instance: entry.instance.clone(),
            displacement: entry.displacement.clone().map(|bound| Displacement {
                core: specialized_core(&bound.instance, key),
                instance: bound.instance,
                done: bound.is_done,
                is_surface: bound.is_surface,
            }),
            atmosphere: None,
            layout: entry.layout.clone(),
            primitive: entry.primitive.clone(),
            output: None,
            visibility: Visibility::default(),
            methods: MaterialMethods { opacity: entry.methods.opacity.clone(), ..MaterialMethods::default() },
            constants: entry.constants.clone(),
            unlit: None,
        }
    }
}

/// The name of the copy of a core for a specialization key.
fn specialized_core(instance: &Instance, key: usize) -> Arc<str> {
    Arc::from(format!("{}{}", instance.shader.core, specialization_suffix(key)))
}

/// A displacement shader as an entry calls it.
#[derive(Clone, Debug)]
pub struct Displacement {
    /// The core of the shader, specialized for the object.
    pub core: Arc<str>,
    /// An instance of the shader; only its signature matters.
    pub instance: Arc<Instance>,
    /// True if it has displaced the mesh already: then it is not called, and only its parameters
    /// are read.
    pub done: bool,
    /// True if it is the class that the surface shader is, too: that displaces by itself, unless
    /// the mesh is displaced.
    pub is_surface: bool,
}

/// The start of a function `(orig, dir, depth, ray)` that is called at a hit.
pub(crate) fn at_a_hit(
    role: EntryPoint,
    variant: &SurfaceVariant,
    differentiated: bool,
) -> (FunctionBuilder, SurfaceInputs) {
    let mut b = FunctionBuilder::entry(role);
    let origin = b.param("orig", Type::Vec3);
    let direction = b.param("dir", Type::Vec3);
    let depth = b.param("depth", Type::F32);
    let ray = b.param("ray", Type::Vec4);
    let (layout, primitive) = (variant.layout.clone(), variant.primitive.clone());
    let constants = variant.constants.clone();
    (b, SurfaceInputs { origin, direction, depth, ray, layout, differentiated, primitive, constants })
}

/// `@surface.N(orig, dir, depth, ray) -> (Ci, Oi)`: reads the inputs of the cores at the current
/// hit, and calls that of the displacement shader, then of the surface shader, then, for camera
/// rays, of the atmosphere. With `differentiated` the state carries its derivatives by u and v.
pub fn surface(variant: &SurfaceVariant, outputs: &GatherOutputs, differentiated: bool) -> Function {
    surface_with(variant, outputs, differentiated, Light::All)
}

/// Which light a surface's code returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Light {
    /// All that leaves it.
    All,
    /// Without emission, which a path tracer weights.
    Reflected,
    /// None: rays only ask for the opacity.
    Nothing,
}

/// [`surface`], with some of the light.
pub(crate) fn surface_with(
    variant: &SurfaceVariant,
    outputs: &GatherOutputs,
    differentiated: bool,
    light: Light,
) -> Function {
    let (mut b, inputs) = at_a_hit(EntryPoint::Surface(variant.number as u32), variant, differentiated);
    b.result("Ci", Type::Vec3);
    b.result("Oi", Type::Vec3);
    visibility::begin(&mut b, variant.visibility, inputs.ray, |b, mode| match (&variant.unlit, mode) {
        (Some(unlit), HitMode::Shader) if unlit.instance.shader.sets_opacity() => {
            shade(b, unlit, &GatherOutputs::default(), &inputs, light);
        }
        (Some(unlit), HitMode::Shader) => {
            let (black, white) = (b.constant(Const::zero(Type::Vec3)), b.vec3([1.0; 3]));
            let mut state = SurfaceState::new(b, inputs.clone());
            let opacity = unlit.methods.opacity.as_deref();
            let opacity = opacity.map_or(white, |opacity| opacity_at(b, &mut state, &unlit.layout, opacity));
            b.ret(vec![black, opacity]);
        }
        _ => {
            let mut state = SurfaceState::new(b, inputs.clone());
            let black = b.constant(Const::zero(Type::Vec3));
            let opacity = state.global(b, "Os").unwrap_or(black);
            b.ret(vec![black, opacity]);
        }
    });
    match light {
        Light::Nothing => {
            let (black, white) = (b.constant(Const::zero(Type::Vec3)), b.vec3([1.0; 3]));
            b.ret(vec![black, white]);
        }
        Light::All | Light::Reflected => shade(&mut b, variant, outputs, &inputs, light),
    }
    b.finish()
}

/// The code of [`surface`] for rays to which the object is visible, up to its return.
fn shade(
    b: &mut FunctionBuilder,
    variant: &SurfaceVariant,
    outputs: &GatherOutputs,
    given: &SurfaceInputs,
    light: Light,
) {
    outputs.return_at_hit(b, given);
    let mut state = SurfaceState::new(b, given.clone());
    let emission = variant.methods.emission.as_deref().filter(|_| light == Light::All);
    let emission = emission.map(|emission| emission_at(b, &mut state, &variant.layout, emission));
    let coverage = variant.methods.opacity.as_deref();
    let coverage = coverage.map(|opacity| opacity_at(b, &mut state, &variant.layout, opacity));
    let visible = |b: &mut FunctionBuilder, color| visibility::color(b, variant.visibility, given.ray, color);
    let instance = &variant.instance;
    if let Some(value) = variant.output.as_ref().and_then(|output| output.at_hit(b, &mut state, variant.number)) {
        let results = vec![visible(b, value), b.vec3([1.0; 3])];
        return b.ret(results);
    }
    // Everything is read before a core is called, which may trace rays and so overwrite the hit.
    let layout = &variant.layout;
    let mut args = core_arguments(b, &mut state, layout, instance, 0);
    let passage = variant.atmosphere.as_ref().map(|_| state.ray_to_hit(b));
    let of_surface = args.clone();
    let depth = variant.output.as_ref().and_then(|_| state.global(b, "raydepth"));
    let mut gathered = outputs.at(b, &mut state, given.ray);
    if let Some(displacement) = variant.displacement.as_ref().filter(|d| d.done || !d.is_surface) {
        let values = displacement_inputs(b, &mut state, variant, displacement, &of_surface);
        let moved = (!displacement.done).then(|| displacement.call(b, values.clone()));
        moved.iter().for_each(|moved| gathered.displace(moved));
        for (arg, param) in args.iter_mut().zip(&instance.shader.core_params).skip(instance.shader.declared()) {
            let moved = moved.as_ref().filter(|_| matches!(&*param.name, "P" | "N"));
            if let Some(v) = moved.and_then(|moved| moved.get(&param.name)) {
                *arg = v;
            }
        }
        if displacement.is_surface {
            let inputs = args.iter_mut().zip(&instance.shader.core_params);
            inputs.filter(|(_, p)| *p.name == *input::DISPLACED).for_each(|(arg, _)| *arg = b.f32(1.0));
        }
        let message = |b: &mut FunctionBuilder, asked: &Query<'_>| match stored_message(layout, asked) {
            Some(stored) if displacement.done => Some(state.primvar(b, stored, 0, SourceType::from(asked.ty).ir()?)),
            _ => displacement.instance.message(asked, &values, moved.as_ref()),
        };
        pass_messages(b, instance, &mut args, QuerySource::Displacement, message);
    }
    if let Some((_, atmosphere)) = &variant.atmosphere {
        pass_messages(b, instance, &mut args, QuerySource::Atmosphere, |b, asked| atmosphere.parameter(b, asked));
    }
    let results = instance.call_with(b, &variant.core, args);
    // A shader that never sets its opacity is as opaque as the surface it sits on.
    let color = results.get("Ci").unwrap_or_else(|| b.constant(Const::zero(Type::Vec3)));
    let opacity = results.get("Oi").unwrap_or_else(|| b.vec3([1.0; 3]));
    let color = emission.map_or(color, |emission| b.add(emission, color));
    let [color, opacity] = [color, opacity].map(|x| coverage.map_or(x, |coverage| b.mul(coverage, x)));
    let [color, opacity] = gathered.select(b, instance, &of_surface, &results, [color, opacity]);
    if let (Some(output), Some(depth)) = (&variant.output, depth) {
        let name = if let Output::Parameter(name) = output { name } else { input::BAKED };
        let value = results.get(name).unwrap_or_else(|| b.f32(0.0));
        let value = triple(b, value);
        // What is baked is a number of its own, and not a part of what a pixel shows.
        let (value, opacity) = match output {
            Output::Baked => (value, b.vec3([1.0; 3])),
            _ => (b.mul(value, opacity), opacity),
        };
        let zero = b.f32(0.0);
        let is_camera_ray = b.eq(depth, zero);
        let chosen = b.select(is_camera_ray, value, color);
        let returned = vec![visible(b, chosen), opacity];
        return b.ret(returned);
    }
    if let (Some((core, atmosphere)), Some([origin, direction, depth])) = (&variant.atmosphere, passage) {
        let zero = b.f32(0.0);
        let is_camera_ray = b.eq(depth, zero);
        b.leave_if(is_camera_ray, |b| {
            let passage = Passage { origin, to_end: direction, depth, light: [color, opacity] };
            let message = |asked: &Query<'_>| instance.message(asked, &of_surface, Some(&results));
            let [color, opacity] = atmosphere.call(b, core, passage, message);
            let returned = vec![visible(b, color), opacity];
            b.ret(returned);
        });
    }
    let returned = vec![visible(b, color), opacity];
    b.ret(returned);
}

impl Displacement {
    fn call(&self, b: &mut FunctionBuilder, args: Vec<Value>) -> Outputs<'_> {
        self.instance.call_with(b, &self.core, args)
    }
}

/// The arguments of a displacement shader's core, where these are the surface's.
fn displacement_inputs(
    b: &mut FunctionBuilder,
    state: &mut SurfaceState,
    variant: &SurfaceVariant,
    displacement: &Displacement,
    of_surface: &[Value],
) -> Vec<Value> {
    let surface = &variant.instance;
    let offset = surface.block.len() as u32;
    let mut given = core_arguments(b, state, &variant.layout, &displacement.instance, offset);
    let message = |_: &mut FunctionBuilder, asked: &Query<'_>| surface.message(asked, of_surface, None);
    pass_messages(b, &displacement.instance, &mut given, QuerySource::Surface, message);
    given
}

/// `@displace.N(orig, dir, depth, ray) -> (P, N, …)`: the displaced point at the current hit, the
/// normal there, and output parameters of the displacement shader (`CompiledShader::left_over`).
pub fn displacement(variant: &SurfaceVariant, differentiated: bool) -> Function {
    let (mut b, given) = at_a_hit(EntryPoint::Displacement(variant.number as u32), variant, differentiated);
    let mut state = SurfaceState::new(&mut b, given);
    let names = ["P", "N"];
    names.iter().for_each(|name| b.result(*name, Type::Vec3));
    let before = names.map(|name| state.global(&mut b, name).unwrap_or_else(|| b.constant(Const::zero(Type::Vec3))));
    let of_surface = core_arguments(&mut b, &mut state, &variant.layout, &variant.instance, 0);
    let mut results = before.to_vec();
    if let Some(displacement) = &variant.displacement {
        let values = displacement_inputs(&mut b, &mut state, variant, displacement, &of_surface);
        let moved = displacement.call(&mut b, values);
        results = names.iter().zip(before).map(|(name, before)| moved.get(name).unwrap_or(before)).collect();
        for param in displacement.instance.shader.left_over() {
            b.result(param.name.as_str(), param.ty);
            results.push(moved.get(&param.name).unwrap_or_else(|| b.constant(Const::zero(param.ty))));
        }
    }
    b.ret(results);
    b.finish()
}

/// Passes messages from another shader of the object to a core that asks for them by `word`.
fn pass_messages(
    b: &mut FunctionBuilder,
    instance: &Instance,
    args: &mut [Value],
    source: QuerySource,
    mut message: impl FnMut(&mut FunctionBuilder, &Query<'_>) -> Option<Value>,
) {
    for (arg, param) in args.iter_mut().zip(&instance.shader.core_params) {
        let asked = Query::parse(&param.name).filter(|asked| asked.source == source);
        if let Some((asked, value)) = asked.and_then(|asked| Some((asked, message(b, &asked)?))) {
            *arg = if asked.found { b.f32(1.0) } else { value };
        }
    }
}

/// The arguments of a core of the object at the hit, whose parameters follow the first `offset`
/// vectors of the object's.
pub(crate) fn core_arguments(
    b: &mut FunctionBuilder,
    state: &mut SurfaceState,
    layout: &RecordLayout,
    instance: &Instance,
    offset: u32,
) -> Vec<Value> {
    let mut params = 0..;
    let mut args = instance.inputs(b, |b, slot, param| match slot {
        Some(slot) => match params.next().and_then(|i| stored_for(layout, &instance.shader, i)) {
            Some((variable, element)) => state.primvar(b, variable, element, param.ty),
            None => unpack(b, param.ty, |b, k| state.parameter(b, offset + slot + k)),
        },
        None => match state.global(b, &param.name) {
            Some(v) if b.ty(v) == param.ty => v,
            _ => b.constant(Const::zero(param.ty)),
        },
    });
    run_varying_stages(b, layout, instance, &mut args);
    args
}

/// Replaces what uniform code gave for the instance where a parameter that it depends on varies over
/// the primitive: that code runs at the hit then.
fn run_varying_stages(b: &mut FunctionBuilder, layout: &RecordLayout, instance: &Instance, args: &mut [Value]) {
    let shader = &instance.shader;
    let Some(code) = &shader.uniform else { return };
    let results: Vec<Option<Vec<Value>>> = code
        .stages()
        .iter()
        .map(|stage| {
            stage.varies(layout, shader).then(|| {
                let own = stage.params.iter().map(|&p| args[p]).collect();
                b.call(stage.name.clone(), own, &stage.results)
            })
        })
        .collect();
    for (arg, param) in args.iter_mut().zip(&shader.core_params) {
        let Input::Uniform(n) = Input::parse(&param.name) else { continue };
        let mut word = 0;
        for piece in code.pieces(n) {
            if let Some(results) = &results[piece.stage] {
                *arg = with_words(b, *arg, word, results[piece.result]);
            }
            word += piece.ty.words() as u8;
        }
    }
}

/// A vector with the words of a value from number `first` on.
fn with_words(b: &mut FunctionBuilder, vector: Value, first: u8, value: Value) -> Value {
    let ty = b.ty(value);
    let words = match ty.lanes() {
        Some(1) => vec![value],
        Some(n) => (0..n as u8).map(|i| b.extract(value, i)).collect(),
        None => vec![b.bitcast(value, Type::F32)],
    };
    words.into_iter().zip(first..).fold(vector, |vector, (word, i)| b.insert(vector, word, i))
}

/// `@globals.N(orig, dir, depth, ray) -> (P, N, …)`: all globals that a shader of this entry could
/// read at the current hit, for a debugger.
pub fn globals(variant: &SurfaceVariant) -> Function {
    let (mut b, inputs) = at_a_hit(EntryPoint::Globals(variant.number as u32), variant, false);
    let mut state = SurfaceState::new(&mut b, inputs);
    let mut values = Vec::new();
    for (name, ty) in SURFACE_GLOBALS {
        b.result(name, ty);
        values.push(state.global(&mut b, name).unwrap_or_else(|| b.constant(Const::zero(ty))));
    }
    b.ret(values);
    b.finish()
}

/// The features of a scene's camera entry beyond generating rays through a pinhole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CameraOptions {
    /// Rays pass through a lens, at the point given by two further arguments.
    pub lens: bool,
    /// There are clipping planes.
    pub clipped: bool,
    /// Some objects are matte.
    pub matte: bool,
    /// Samples have a weight, the argument after the lens, which multiplies the results.
    pub weighted: bool,
    /// The image may be smaller than the format.
    pub framed: bool,
    /// Samples are numbered, by the last arguments: the camera takes all arguments then.
    pub numbered: bool,
}

impl CameraOptions {
    /// The features that a scene needs.
    pub fn new(scene: &Scene) -> Self {
        let weighted = scene.film.filter.kind.has_negative_lobes();
        let (lens, clipped) = (scene.camera.lens.is_some() || weighted, scene.camera.is_clipped());
        let numbered = scene.integrator == Integrator::Path;
        let framed = scene.camera.frame_aspect.is_some();
        Self { lens, clipped, matte: has_matte(scene), weighted, framed, numbered }
    }
}

/// The arguments of a camera's entry that are the position on the lens.
pub const LENS_ARGUMENTS: [&str; 2] = ["lens_x", "lens_y"];

/// The arguments of a camera's entry.
struct CameraArguments {
    raster: [Value; 2],
    /// The point on the lens, if samples have one.
    lens: Option<[Value; 2]>,
    weight: Option<Value>,
    /// The pixel and the sample's number.
    numbers: [Value; 2],
}

impl CameraArguments {
    /// Declares those that a program takes: as many of the first of
    /// `render::sampling::CameraSample::arguments` as it needs.
    fn declare(b: &mut FunctionBuilder, options: CameraOptions, has_lens: bool) -> Self {
        let declare = |b: &mut FunctionBuilder, name: &str| b.param(name, Type::F32);
        let raster = ["x", "y"].map(|name| declare(b, name));
        let takes_lens = has_lens || options.weighted || options.numbered;
        let lens = takes_lens.then(|| LENS_ARGUMENTS.map(|name| declare(b, name)));
        let weight = (options.weighted || options.numbered).then(|| declare(b, "weight"));
        let numbers = options.numbered.then(|| ["pixel", "index"].map(|name| declare(b, name)));
        b.result("color", Type::Vec3);
        b.result("alpha", Type::F32);
        Self {
            raster,
            lens: lens.filter(|_| has_lens),
            weight: weight.filter(|_| options.weighted),
            numbers: numbers.unwrap_or_else(|| [(); 2].map(|()| b.f32(0.0))),
        }
    }

    /// Calls the library function that integrates a camera ray, and returns its results.
    fn integrate(&self, b: &mut FunctionBuilder, options: CameraOptions, function: &Function, mut args: Vec<Value>) {
        args.extend([options.clipped, options.matte].map(|on| b.f32(if on { 1.0 } else { 0.0 })));
        args.extend(self.numbers);
        // Outputs start at zero.
        let rest: Vec<Value> = function.params.iter().skip(args.len()).map(|p| b.constant(Const::zero(p.ty))).collect();
        args.extend(rest);
        let types: Vec<Type> = function.results.iter().map(|r| r.ty).collect();
        let mut results = b.call(function.name.clone(), args, &types);
        if let Some(weight) = self.weight {
            results = results.into_iter().map(|value| b.scale(value, weight)).collect();
        }
        b.ret(results);
    }
}

/// `@camera(x, y, …) -> (color, alpha)`: the standard library's ray generation under the entry's
/// name. What a scene does not need has constant arguments, and is optimized away.
pub fn camera(library_function: &Function, options: CameraOptions) -> Function {
    let mut b = FunctionBuilder::entry(EntryPoint::Camera);
    let given = CameraArguments::declare(&mut b, options, options.lens);
    let lens = given.lens.unwrap_or_else(|| [(); 2].map(|()| b.f32(0.0)));
    if options.framed {
        return_outside(&mut b, given.raster);
    }
    given.integrate(&mut b, options, library_function, [given.raster, lens].concat());
    b.finish()
}

/// Code that returns a color and an alpha of 0 at raster positions outside of the image, where
/// that is smaller than the format; the builder continues inside of it.
fn return_outside(b: &mut FunctionBuilder, raster: [Value; 2]) {
    let size = b.frame_vector(slots::IMAGE_WIDTH);
    let sides = [(raster[0], slots::IMAGE_WIDTH), (raster[1], slots::IMAGE_HEIGHT)];
    let [x, y] = sides.map(|(at, slot)| {
        let side = b.extract(size, slot.lane);
        b.lt(at, side)
    });
    let is_inside = b.and(x, y);
    let (inside, outside) = (b.block(), b.block());
    b.branch(is_inside, inside, outside);
    b.enter(outside);
    let (black, clear) = (b.constant(Const::zero(Type::Vec3)), b.f32(0.0));
    b.ret(vec![black, clear]);
    b.enter(inside);
}

/// `@camera(x, y, …) -> (color, alpha)` where an object of an RTSL camera class generates the rays,
/// in camera space. The width of a ray comes from that of the next pixel.
pub fn camera_of(camera: &Instance, integrator: &Function, options: CameraOptions) -> Function {
    let mut b = FunctionBuilder::entry(EntryPoint::Camera);
    let has_lens = camera.shader.core_params.iter().any(|p| [input::LENS_X, input::LENS_Y].contains(&&*p.name));
    let given = CameraArguments::declare(&mut b, options, has_lens || options.lens);
    let lens = given.lens.map(|lens| {
        lens.map(|x| {
            let (half, middle) = (b.f32(0.5), b.f32(0.5));
            let scaled = b.mul(x, half);
            b.add(scaled, middle)
        })
    });
    let [x, y] = given.raster;
    let one = b.f32(1.0);
    let next = b.add(x, one);
    let [(ray, reach), (other, _)] = [x, next].map(|x| camera_ray(&mut b, camera, [x, y], lens));
    let distance = |b: &mut FunctionBuilder, p: Value, q: Value| {
        let difference = b.sub(p, q);
        b.length(difference)
    };
    let width = distance(&mut b, ray[0], other[0]);
    let directions = [ray[1], other[1]].map(|d| b.normalize(d));
    let spread = distance(&mut b, directions[0], directions[1]);
    given.integrate(&mut b, options, integrator, vec![ray[0], ray[1], width, spread, reach]);
    b.finish()
}

/// The ray that a camera's core generates for a raster position, in the world: its origin and
/// direction, and where it ends, in lengths of its direction.
fn camera_ray(
    b: &mut FunctionBuilder,
    camera: &Instance,
    raster: [Value; 2],
    lens: Option<[Value; 2]>,
) -> ([Value; 2], Value) {
    let [across, down] = on_image(b, raster);
    let one = b.f32(1.0);
    let up = b.sub(one, down);
    let outputs = camera.call(b, &camera.shader.core, |b, slot, param| match (slot, &*param.name) {
        // There is one camera.
        (Some(slot), _) => camera.constant_parameter(b, slot, param.ty),
        (None, input::SCREEN_X) => across,
        (None, input::SCREEN_Y) => up,
        (None, input::LENS_X) => lens.map_or_else(|| b.f32(0.5), |lens| lens[0]),
        (None, input::LENS_Y) => lens.map_or_else(|| b.f32(0.5), |lens| lens[1]),
        (None, name) => frame_value(b, name).unwrap_or_else(|| b.constant(Const::zero(param.ty))),
    });
    let zero = b.constant(Const::zero(Type::Vec3));
    let [origin, direction] = ["origin", "direction"].map(|name| outputs.get(name).unwrap_or(zero));
    let axes = [slots::CAMERA_X, slots::CAMERA_Y, slots::CAMERA_Z, slots::CAMERA_ORIGIN].map(|slot| b.frame_xyz(slot));
    let to_world = |b: &mut FunctionBuilder, v: Value| {
        let parts = [0, 1, 2].map(|i| {
            let along = b.extract(v, i);
            b.scale(axes[usize::from(i)], along)
        });
        let sum = b.add(parts[0], parts[1]);
        b.add(sum, parts[2])
    };
    let (offset, direction) = (to_world(b, origin), to_world(b, direction));
    let reach = outputs.get("t").unwrap_or_else(|| b.f32(f32::MAX));
    ([b.add(axes[3], offset), direction], reach)
}

/// A raster position as a part of the image: from 0 to 1 across, and down.
fn on_image(b: &mut FunctionBuilder, raster: [Value; 2]) -> [Value; 2] {
    let format = b.frame_vector(slots::INVERSE_WIDTH);
    [(raster[0], slots::INVERSE_WIDTH), (raster[1], slots::INVERSE_HEIGHT)].map(|(at, slot)| {
        let reciprocal = b.extract(format, slot.lane);
        b.mul(at, reciprocal)
    })
}

/// `@camera` where a shader function replaces it: from a position on the image to an opaque color.
pub fn ray_function(function: &CompiledFunction) -> Function {
    let mut b = FunctionBuilder::entry(EntryPoint::Camera);
    let x = b.param("x", Type::F32);
    let y = b.param("y", Type::F32);
    b.result("color", Type::Vec3);
    b.result("alpha", Type::F32);
    let [across, down] = on_image(&mut b, [x, y]);
    let zero = b.f32(0.0);
    let position = b.compose(&[across, down, zero]);
    let hidden: Vec<_> = function.params.iter().skip(1).map(|&ty| b.constant(Const::zero(ty))).collect();
    let args = [position].into_iter().chain(hidden).collect();
    let color = b.call(function.name.clone(), args, &function.results)[0];
    let opaque = b.f32(1.0);
    b.ret(vec![color, opaque]);
    b.finish()
}

/// `@imager(x, y, Ci, alpha) -> (Ci, alpha)`: calls an imager's core with the globals of RISpec
/// 3.2, table 12.5. With `framed` the image may be smaller than the format.
pub fn imager(instance: &Instance, framed: bool) -> Function {
    let mut b = FunctionBuilder::entry(EntryPoint::Imager);
    let x = b.param("x", Type::F32);
    let y = b.param("y", Type::F32);
    let color = b.param("Ci", Type::Vec3);
    let alpha = b.param("alpha", Type::F32);
    b.result("Ci", Type::Vec3);
    b.result("alpha", Type::F32);
    if framed {
        return_outside(&mut b, [x, y]);
    }
    let outputs = instance.call(&mut b, &instance.shader.core, |b, slot, param| match (slot, &*param.name) {
        // An imager has one instance.
        (Some(slot), _) => instance.constant_parameter(b, slot, param.ty),
        (None, "P") => {
            let zero = b.f32(0.0);
            b.compose(&[x, y, zero])
        }
        // The image's parameters go from 0 to 1, as in NDC space.
        (None, "s" | "t") => {
            let (at, slot) = if &*param.name == "s" { (x, slots::INVERSE_WIDTH) } else { (y, slots::INVERSE_HEIGHT) };
            let pixel = b.frame(slot);
            b.mul(at, pixel)
        }
        (None, "Ci") => color,
        (None, "Oi") => b.splat(alpha, Type::Vec3),
        (None, "alpha") => alpha,
        (None, name) => frame_value(b, name).unwrap_or_else(|| b.constant(Const::zero(param.ty))),
    });
    let results = vec![outputs.get("Ci").unwrap_or(color), outputs.get("alpha").unwrap_or(alpha)];
    b.ret(results);
    b.finish()
}
