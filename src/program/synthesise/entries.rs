//! The entry functions: what a back end is asked for by name.

use crate::abi::EntryPoint;
use crate::ir::{Const, Function, FunctionBuilder, Op, Type, Value};
use crate::lang::rsl::DISPLACED;
use crate::lang::rsl::queries::Asked;
use crate::program::collect::instances::{Instance, Outputs, unpack};
use crate::program::collect::procedural::PrimitiveCores;
use crate::program::collect::shader_library::CompiledFunction;
use crate::program::layout::memory::RecordLayout;
use crate::program::layout::primvars::{stored_for, stored_message};
use crate::program::synthesise::gather_outputs::Questions;
use crate::program::synthesise::outputs::{Output, triple};
use crate::program::synthesise::paths::{Methods, emission_at, opacity_at};
use crate::program::synthesise::surface_state::{SURFACE_GLOBALS, SurfaceInputs, SurfaceState, of_frame, scale};
use crate::program::synthesise::visibility;
use crate::program::synthesise::volumes::{LinkedVolume, Passage};
use crate::scene::{HitMode, Integrator, Scene, Visibility};
use std::sync::Arc;

/// A surface core, and those around it, as one entry calls them.
#[derive(Clone, Debug)]
pub struct SurfaceVariant {
    /// The core, renamed for what is around the object.
    pub core: Arc<str>,
    /// An instance of the shader; only its signature matters.
    pub instance: Arc<Instance>,
    /// The displacement shader; its parameters lie behind the surface's.
    pub displacement: Option<Displacement>,
    /// The core of the atmosphere, and the atmosphere itself.
    pub atmosphere: Option<(Arc<str>, LinkedVolume)>,
    /// How the object's records lie.
    pub layout: RecordLayout,
    /// The cores of the primitive, if the objects are programs.
    pub primitive: Option<Arc<PrimitiveCores>>,
    /// What camera rays get in the place of the colour.
    pub output: Option<Output>,
    /// Which rays see the objects.
    pub seen: Visibility,
    /// What the surface's class says beside how it is shaded.
    pub methods: Methods,
    /// The cores again, copied for where no light shines, where rays ask the surface shader for its opacity.
    pub dark: Option<Box<SurfaceVariant>>,
}

/// A displacement shader as an entry calls it.
#[derive(Clone, Debug)]
pub struct Displacement {
    /// Its core, renamed for what is around the object.
    pub core: Arc<str>,
    /// An instance of the shader; only its signature matters.
    pub instance: Arc<Instance>,
    /// Whether it has moved the points of the mesh already: it is not called then, and only tells its parameters.
    pub done: bool,
    /// Whether it is the class that the surface shader is, too: that displaces by itself, unless it is done.
    pub is_surface: bool,
}

/// The start of a function `(orig, dir, depth, ray)` that is called at a hit.
pub(in crate::program) fn at_a_hit(
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
    (b, SurfaceInputs { origin, direction, depth, ray, layout, differentiated, primitive })
}

/// `@surface.N(orig, dir, depth, ray) -> (Ci, Oi)`: fetches what the cores read at the current hit, and calls the displacement's, then the surface's, then the atmosphere's
/// for rays of the camera. With `differentiated` the state carries its derivatives by u and v.
pub fn surface(number: usize, variant: &SurfaceVariant, questions: &Questions, differentiated: bool) -> Function {
    surface_with(number, variant, questions, differentiated, Light::All)
}

/// Which light a surface's code gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::program) enum Light {
    /// All that leaves it.
    All,
    /// What its shader makes of other light: what its class sends itself counts by how it was found, where paths are traced.
    Reflected,
    /// None: rays only ask how much of it there is.
    Nothing,
}

/// [`surface`], which gives some of the light.
pub(in crate::program) fn surface_with(
    number: usize,
    variant: &SurfaceVariant,
    questions: &Questions,
    differentiated: bool,
    light: Light,
) -> Function {
    let (mut b, inputs) = at_a_hit(EntryPoint::Surface(number as u32), variant, differentiated);
    b.result("Ci", Type::Vec3);
    b.result("Oi", Type::Vec3);
    visibility::begin(&mut b, variant.seen, inputs.ray, |b, mode| match (&variant.dark, mode) {
        (Some(dark), HitMode::Shader) if dark.instance.shader.sets_opacity() => {
            shade(b, number, dark, &Questions::default(), &inputs, light);
        }
        (Some(dark), HitMode::Shader) => {
            let (nothing, white) = (b.constant(Const::zero(Type::Vec3)), b.constant(Const::Vec3([1.0; 3])));
            let mut state = SurfaceState::new(b, inputs.clone());
            let opacity = dark.methods.opacity.as_deref();
            let opacity = opacity.map_or(white, |opacity| opacity_at(b, &mut state, &dark.layout, opacity));
            b.ret(vec![nothing, opacity]);
        }
        _ => {
            let mut state = SurfaceState::new(b, inputs.clone());
            let nothing = b.constant(Const::zero(Type::Vec3));
            let opacity = state.global(b, "Os").unwrap_or(nothing);
            b.ret(vec![nothing, opacity]);
        }
    });
    match light {
        Light::Nothing => {
            let (nothing, white) = (b.constant(Const::zero(Type::Vec3)), b.constant(Const::Vec3([1.0; 3])));
            b.ret(vec![nothing, white]);
        }
        Light::All | Light::Reflected => shade(&mut b, number, variant, questions, &inputs, light),
    }
    b.finish()
}

/// The code of [`surface`] for rays that see the object, up to its return.
fn shade(
    b: &mut FunctionBuilder,
    number: usize,
    variant: &SurfaceVariant,
    questions: &Questions,
    given: &SurfaceInputs,
    light: Light,
) {
    questions.answer_at_hit(b, given);
    let mut state = SurfaceState::new(b, given.clone());
    let own = variant.methods.emission.as_deref().filter(|_| light == Light::All);
    let own = own.map(|emission| emission_at(b, &mut state, &variant.layout, emission));
    let covers = variant.methods.opacity.as_deref();
    let covers = covers.map(|opacity| opacity_at(b, &mut state, &variant.layout, opacity));
    let shown = |b: &mut FunctionBuilder, color| visibility::color(b, variant.seen, given.ray, color);
    let instance = &variant.instance;
    if let Some(value) = variant.output.as_ref().and_then(|output| output.at_hit(b, &mut state, number)) {
        let results = vec![shown(b, value), b.constant(Const::Vec3([1.0; 3]))];
        return b.ret(results);
    }
    // All is read before a core is called, which may shoot rays and so lose the hit.
    let layout = &variant.layout;
    let mut args = inputs(b, &mut state, layout, instance, 0);
    let passage = variant.atmosphere.as_ref().map(|_| state.way(b));
    let of_surface = args.clone();
    let depth = variant.output.as_ref().and_then(|_| state.global(b, "raydepth"));
    let mut asked = questions.to(b, &mut state, given.ray);
    if let Some(displacement) = variant.displacement.as_ref().filter(|d| d.done || !d.is_surface) {
        let values = displacement_inputs(b, &mut state, variant, displacement, &of_surface);
        let moved = (!displacement.done).then(|| displacement.call(b, values.clone()));
        moved.iter().for_each(|moved| asked.displace(moved));
        for (arg, param) in args.iter_mut().zip(&instance.shader.core_params).skip(instance.shader.declared()) {
            let moved = moved.as_ref().filter(|_| matches!(&*param.name, "P" | "N"));
            if let Some(v) = moved.and_then(|moved| moved.get(&param.name)) {
                *arg = v;
            }
        }
        if displacement.is_surface {
            let inputs = args.iter_mut().zip(&instance.shader.core_params);
            inputs.filter(|(_, p)| *p.name == *DISPLACED).for_each(|(arg, _)| *arg = b.f32(1.0));
        }
        let say = |b: &mut FunctionBuilder, asked: &Asked<'_>| match stored_message(layout, asked) {
            Some(stored) if displacement.done => Some(state.primvar(b, stored, 0, asked.ty.ir()?)),
            _ => displacement.instance.message(asked, &values, moved.as_ref()),
        };
        answer(b, instance, &mut args, "displacement", say);
    }
    if let Some((_, atmosphere)) = &variant.atmosphere {
        answer(b, instance, &mut args, "atmosphere", |b, asked| atmosphere.parameter(b, asked));
    }
    let outputs = instance.call_with(b, &variant.core, args);
    // A shader that never sets its opacity is as opaque as the surface it sits on.
    let color = outputs.get("Ci").unwrap_or_else(|| b.constant(Const::zero(Type::Vec3)));
    let opacity = outputs.get("Oi").unwrap_or_else(|| b.constant(Const::Vec3([1.0; 3])));
    let color = own.map_or(color, |own| b.op(Op::Add, &[own, color]));
    let [color, opacity] = [color, opacity].map(|x| covers.map_or(x, |covers| b.op(Op::Mul, &[covers, x])));
    let [color, opacity] = asked.answer(b, instance, &of_surface, &outputs, [color, opacity]);
    if let (Some(Output::Parameter(name)), Some(depth)) = (&variant.output, depth) {
        let value = outputs.get(name).unwrap_or_else(|| b.f32(0.0));
        let value = triple(b, value);
        let seen = b.op(Op::Mul, &[value, opacity]);
        let zero = b.f32(0.0);
        let is_seen = b.op(Op::Eq, &[depth, zero]);
        let chosen = b.op(Op::Select, &[is_seen, seen, color]);
        let results = vec![shown(b, chosen), opacity];
        return b.ret(results);
    }
    if let (Some((core, atmosphere)), Some([origin, way, depth])) = (&variant.atmosphere, passage) {
        let zero = b.f32(0.0);
        let is_seen = b.op(Op::Eq, &[depth, zero]);
        let (seen, other) = (b.block(), b.block());
        b.branch(is_seen, seen, other);
        b.seal(seen);
        b.seal(other);
        b.switch_to(seen);
        let passage = Passage { origin, way, depth, light: [color, opacity] };
        let say = |asked: &Asked<'_>| instance.message(asked, &of_surface, Some(&outputs));
        let [color, opacity] = atmosphere.call(b, core, passage, say);
        let results = vec![shown(b, color), opacity];
        b.ret(results);
        b.switch_to(other);
    }
    let results = vec![shown(b, color), opacity];
    b.ret(results);
}

impl Displacement {
    fn call(&self, b: &mut FunctionBuilder, args: Vec<Value>) -> Outputs<'_> {
        self.instance.call_with(b, &self.core, args)
    }
}

/// The arguments of a displacement shader's core, where the surface's own are those.
fn displacement_inputs(
    b: &mut FunctionBuilder,
    state: &mut SurfaceState,
    variant: &SurfaceVariant,
    displacement: &Displacement,
    of_surface: &[Value],
) -> Vec<Value> {
    let surface = &variant.instance;
    let behind = surface.block.len() as u32;
    let mut given = inputs(b, state, &variant.layout, &displacement.instance, behind);
    let say = |_: &mut FunctionBuilder, asked: &Asked<'_>| surface.message(asked, of_surface, None);
    answer(b, &displacement.instance, &mut given, "surface", say);
    given
}

/// `@displace.N(orig, dir, depth, ray) -> (P, N, …)`: where the displacement shader moves the point at the current hit, the normal that it leaves there, and what it leaves in output parameters
/// (`CompiledShader::left_over`).
pub fn displacement(number: usize, variant: &SurfaceVariant, differentiated: bool) -> Function {
    let (mut b, given) = at_a_hit(EntryPoint::Displacement(number as u32), variant, differentiated);
    let mut state = SurfaceState::new(&mut b, given);
    let names = ["P", "N"];
    names.iter().for_each(|name| b.result(*name, Type::Vec3));
    let before = names.map(|name| state.global(&mut b, name).unwrap_or_else(|| b.constant(Const::zero(Type::Vec3))));
    let of_surface = inputs(&mut b, &mut state, &variant.layout, &variant.instance, 0);
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

/// Puts what another shader of the object says into the arguments of a core that asks for it by `word`.
fn answer(
    b: &mut FunctionBuilder,
    instance: &Instance,
    args: &mut [Value],
    word: &str,
    mut say: impl FnMut(&mut FunctionBuilder, &Asked<'_>) -> Option<Value>,
) {
    for (arg, param) in args.iter_mut().zip(&instance.shader.core_params) {
        let asked = Asked::parse(&param.name).filter(|asked| asked.word == word);
        if let Some((asked, value)) = asked.and_then(|asked| Some((asked, say(b, &asked)?))) {
            *arg = if asked.whether { b.f32(1.0) } else { value };
        }
    }
}

/// The arguments of a core of the object at the hit, whose parameters lie behind the first `behind` vectors of the object's.
pub(in crate::program) fn inputs(
    b: &mut FunctionBuilder,
    state: &mut SurfaceState,
    layout: &RecordLayout,
    instance: &Instance,
    behind: u32,
) -> Vec<Value> {
    let mut params = 0..;
    instance.inputs(b, |b, slot, param| match slot {
        Some(slot) => match params.next().and_then(|i| stored_for(layout, &instance.shader, i)) {
            Some((variable, element)) => state.primvar(b, variable, element, param.ty),
            None => unpack(b, param.ty, |b, k| state.parameter(b, behind + slot + k)),
        },
        None => match state.global(b, &param.name) {
            Some(v) if b.ty(v) == param.ty => v,
            _ => b.constant(Const::zero(param.ty)),
        },
    })
}

/// `@globals.N(orig, dir, depth, ray) -> (P, N, …)`: all globals that a shader of this entry could read at the current hit, for people who look at it.
pub fn globals(number: usize, variant: &SurfaceVariant) -> Function {
    let (mut b, inputs) = at_a_hit(EntryPoint::Globals(number as u32), variant, false);
    let mut state = SurfaceState::new(&mut b, inputs);
    let mut values = Vec::new();
    for (name, ty) in SURFACE_GLOBALS {
        b.result(name, ty);
        values.push(state.global(&mut b, name).unwrap_or_else(|| b.constant(Const::zero(ty))));
    }
    b.ret(values);
    b.finish()
}

/// What a scene's camera entry has to do beside shooting rays through a pinhole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CameraOptions {
    /// Rays pass through a lens, at the place that two further arguments say.
    pub lens: bool,
    /// Clipping planes hide what is before and behind them.
    pub clipped: bool,
    /// Some objects hide what is behind them without being seen themselves.
    pub matte: bool,
    /// Samples have a weight, the argument behind the lens, which multiplies the results.
    pub weighted: bool,
    /// Samples have numbers, the last arguments: the camera takes all arguments then.
    pub numbered: bool,
}

impl CameraOptions {
    /// Those of a scene.
    pub fn of(scene: &Scene) -> Self {
        let weighted = scene.film.filter.kind.has_negative_lobes();
        let (lens, clipped) = (scene.camera.lens.is_some() || weighted, scene.camera.is_clipped());
        let numbered = scene.integrator == Integrator::Path;
        Self { lens, clipped, matte: visibility::has_matte(scene), weighted, numbered }
    }
}

/// The arguments of a camera's entry.
struct CameraArguments {
    raster: [Value; 2],
    /// The place on the lens, if samples have one.
    lens: Option<[Value; 2]>,
    weight: Option<Value>,
    /// The pixel and the sample's number.
    numbers: [Value; 2],
}

impl CameraArguments {
    /// Declares those that a program takes: as many of the first of [`crate::render::sampling::CameraSample::arguments`] as it needs.
    fn declare(b: &mut FunctionBuilder, options: CameraOptions, has_lens: bool) -> Self {
        let declare = |b: &mut FunctionBuilder, name: &str| b.param(name, Type::F32);
        let raster = ["x", "y"].map(|name| declare(b, name));
        let takes_lens = has_lens || options.weighted || options.numbered;
        let lens = takes_lens.then(|| ["lens_x", "lens_y"].map(|name| declare(b, name)));
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

    /// Calls the function of the library that looks along a ray, and returns what it sees.
    fn look(&self, b: &mut FunctionBuilder, options: CameraOptions, function: &Function, mut args: Vec<Value>) {
        args.extend([options.clipped, options.matte].map(|on| b.f32(if on { 1.0 } else { 0.0 })));
        args.extend(self.numbers);
        // Outputs start at zero.
        let rest: Vec<Value> = function.params.iter().skip(args.len()).map(|p| b.constant(Const::zero(p.ty))).collect();
        args.extend(rest);
        let types: Vec<Type> = function.results.iter().map(|r| r.ty).collect();
        let mut results = b.call(function.name.clone(), args, &types);
        if let Some(weight) = self.weight {
            results = results.into_iter().map(|value| scale(b, value, weight)).collect();
        }
        b.ret(results);
    }
}

/// `@camera(x, y, …) -> (color, alpha)`: the standard library's ray generation under the entry's name. What a scene does not need costs it nothing: its arguments are constants.
pub fn camera(library_function: &Function, options: CameraOptions) -> Function {
    let mut b = FunctionBuilder::entry(EntryPoint::Camera);
    let given = CameraArguments::declare(&mut b, options, options.lens);
    let lens = given.lens.unwrap_or_else(|| [(); 2].map(|()| b.f32(0.0)));
    given.look(&mut b, options, library_function, [given.raster, lens].concat());
    b.finish()
}

/// `@camera(x, y, …) -> (color, alpha)` where an object of a class makes the rays, in camera space. How wide a ray is comes from the one a pixel beside it.
pub fn camera_of(camera: &Instance, seen: &Function, options: CameraOptions) -> Function {
    let mut b = FunctionBuilder::entry(EntryPoint::Camera);
    let has_lens = camera.shader.core_params.iter().any(|p| p.name.starts_with("lens."));
    let given = CameraArguments::declare(&mut b, options, has_lens || options.lens);
    let lens = given.lens.map(|lens| {
        lens.map(|x| {
            let (half, middle) = (b.f32(0.5), b.f32(0.5));
            let scaled = b.op(Op::Mul, &[x, half]);
            b.op(Op::Add, &[scaled, middle])
        })
    });
    let [x, y] = given.raster;
    let one = b.f32(1.0);
    let beside = b.op(Op::Add, &[x, one]);
    let [ray, other] = [x, beside].map(|x| camera_ray(&mut b, camera, [x, y], lens));
    let apart = |b: &mut FunctionBuilder, p: Value, q: Value| {
        let way = b.op(Op::Sub, &[p, q]);
        crate::program::synthesise::surface_state::length(b, way)
    };
    let width = apart(&mut b, ray[0], other[0]);
    let directions = [ray[1], other[1]].map(|d| crate::program::synthesise::surface_state::normalize(&mut b, d));
    let spread = apart(&mut b, directions[0], directions[1]);
    given.look(&mut b, options, seen, vec![ray[0], ray[1], width, spread]);
    b.finish()
}

/// The ray of a raster position as a camera's core makes it, in the world: where it starts, and its direction.
fn camera_ray(b: &mut FunctionBuilder, camera: &Instance, raster: [Value; 2], lens: Option<[Value; 2]>) -> [Value; 2] {
    let [across, down] = on_image(b, raster);
    let one = b.f32(1.0);
    let up = b.op(Op::Sub, &[one, down]);
    let outputs = camera.call(b, &camera.shader.core, |b, slot, param| match (slot, &*param.name) {
        // There is one camera.
        (Some(slot), _) => constant_parameter(b, camera, slot, param.ty),
        (None, "screen.x") => across,
        (None, "screen.y") => up,
        (None, "lens.x") => lens.map_or_else(|| b.f32(0.5), |lens| lens[0]),
        (None, "lens.y") => lens.map_or_else(|| b.f32(0.5), |lens| lens[1]),
        (None, name) => of_frame(b, name).unwrap_or_else(|| b.constant(Const::zero(param.ty))),
    });
    let nothing = b.constant(Const::zero(Type::Vec3));
    let [origin, direction] = ["origin", "direction"].map(|name| outputs.get(name).unwrap_or(nothing));
    let axes = [2, 3, 4, 5].map(|k| {
        let axis = b.op(Op::Uniform(k), &[]);
        crate::program::synthesise::surface_state::xyz(b, axis)
    });
    let turned = |b: &mut FunctionBuilder, v: Value| {
        let parts = [0, 1, 2].map(|i| {
            let along = b.op(Op::Extract(i), &[v]);
            scale(b, axes[usize::from(i)], along)
        });
        let sum = b.op(Op::Add, &[parts[0], parts[1]]);
        b.op(Op::Add, &[sum, parts[2]])
    };
    let (moved, direction) = (turned(b, origin), turned(b, direction));
    [b.op(Op::Add, &[axes[3], moved]), direction]
}

/// A raster position as a part of the image: from 0 to 1 across, and down.
fn on_image(b: &mut FunctionBuilder, raster: [Value; 2]) -> [Value; 2] {
    let format = b.op(Op::Uniform(1), &[]);
    [0, 1].map(|i| {
        let reciprocal = b.op(Op::Extract(2 + i), &[format]);
        b.op(Op::Mul, &[raster[usize::from(i)], reciprocal])
    })
}

/// The parameter in that place of an instance's block, of a shader that has one instance only: a constant.
pub(in crate::program) fn constant_parameter(
    b: &mut FunctionBuilder,
    instance: &Instance,
    slot: u32,
    ty: Type,
) -> Value {
    unpack(b, ty, |b, k| {
        let words = instance.block[(slot + k) as usize];
        b.constant(Const::Vec4(words.map(f32::from_bits)))
    })
}

/// `@camera` as a shader function sees it: from a position on the image to an opaque colour.
pub fn ray_program(function: &CompiledFunction) -> Function {
    let mut b = FunctionBuilder::entry(EntryPoint::Camera);
    let x = b.param("x", Type::F32);
    let y = b.param("y", Type::F32);
    b.result("color", Type::Vec3);
    b.result("alpha", Type::F32);
    let [across, down] = on_image(&mut b, [x, y]);
    let zero = b.f32(0.0);
    let position = b.op(Op::Compose, &[across, down, zero]);
    let hidden: Vec<_> = function.params.iter().skip(1).map(|&ty| b.constant(Const::zero(ty))).collect();
    let args = [position].into_iter().chain(hidden).collect();
    let color = b.call(function.name.clone(), args, &function.results)[0];
    let opaque = b.f32(1.0);
    b.ret(vec![color, opaque]);
    b.finish()
}

/// `@imager(x, y, Ci, alpha) -> (Ci, alpha)`: calls an imager's core with the globals of RISpec 3.2, table 12.5.
pub fn imager(instance: &Instance) -> Function {
    let mut b = FunctionBuilder::entry(EntryPoint::Imager);
    let x = b.param("x", Type::F32);
    let y = b.param("y", Type::F32);
    let color = b.param("Ci", Type::Vec3);
    let alpha = b.param("alpha", Type::F32);
    b.result("Ci", Type::Vec3);
    b.result("alpha", Type::F32);
    let outputs = instance.call(&mut b, &instance.shader.core, |b, slot, param| match (slot, &*param.name) {
        // An imager has one instance.
        (Some(slot), _) => constant_parameter(b, instance, slot, param.ty),
        (None, "P") => {
            let zero = b.f32(0.0);
            b.op(Op::Compose, &[x, y, zero])
        }
        (None, "Ci") => color,
        (None, "Oi") => b.op_as(Op::Splat, &[alpha], Type::Vec3),
        (None, "alpha") => alpha,
        (None, name) => of_frame(b, name).unwrap_or_else(|| b.constant(Const::zero(param.ty))),
    });
    let results = vec![outputs.get("Ci").unwrap_or(color), outputs.get("alpha").unwrap_or(alpha)];
    b.ret(results);
    b.finish()
}
