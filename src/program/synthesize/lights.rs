//! The lights of a scene as functions that surfaces call: `lights.count`, `lights.sample`,
//! `lights.ambient`, `lights.category` and `lights.message.…`.
//!
//! Which lights illuminate an object depends on `Illuminate`, so there is one set of functions for
//! each specialization key, whose suffix their names end with.

use crate::collect::area_light_points::POINTS;
use crate::collect::copied_functions::LightMessages;
use crate::collect::instances::{Outputs, unpack};
use crate::collect::lights::Shadows;
use crate::layout::blocks::LinkedLight;
use crate::layout::light_tables::{self, HEAD, LIGHT_RECORD, LightKinds};
use crate::records::visibility::TRANSMISSION;
use crate::synthesize::surface_state::frame_value;
use shadewright_ir::abi::frame::slots;
use shadewright_ir::abi::{DataType, Intrinsic, input, library};
use shadewright_ir::{Const, Function, FunctionBuilder, Type, Value};
use shadewright_lang::unit::LightKind;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The types of the results of [`Intrinsic::LightDirect`]: the direction, the radiance over the
/// pdf, the length of a shadow ray, the pdf.
pub const DIRECT_RESULTS: [Type; 4] = [Type::Vec3, Type::Vec3, Type::F32, Type::F32];

/// `lights.ambient.there() -> f32`: whether ambient lights are used; path tracing replaces them.
pub fn ambient_there(traces_paths: bool) -> Function {
    let mut b = FunctionBuilder::linker(Intrinsic::LightAmbientUsed);
    b.result("return", Type::F32);
    let is_used = b.f32(if traces_paths { 0.0 } else { 1.0 });
    b.ret(vec![is_used]);
    b.finish()
}

/// The exponent of `specular` where a scene has its sharpness: that over the roughness.
pub fn specular_exponent(sharpness: f32) -> Function {
    let mut b = FunctionBuilder::library(library::SPECULAR_EXPONENT);
    b.result("return", Type::F32);
    let roughness = b.param("roughness", Type::F32);
    let sharpness = b.f32(sharpness);
    let inverse = b.rcp(roughness);
    let exponent = b.mul(sharpness, inverse);
    b.ret(vec![exponent]);
    b.finish()
}

/// A light that `lights.sample` samples.
#[derive(Clone, Copy)]
enum Sampled<'a> {
    Light(&'a LinkedLight),
    /// All area lights of materials together, and how surfaces shadow them.
    Area(Shadows),
}

impl<'a> Sampled<'a> {
    fn light(self) -> Option<&'a LinkedLight> {
        if let Sampled::Light(light) = self { Some(light) } else { None }
    }
}

/// The functions for one set of lights. `area` is how area lights of materials are shadowed, if
/// there are any: they come after the lights. `table` is the address of the table of the lights,
/// where they are data.
pub fn light_functions(
    suffix: &str,
    lights: &[&LinkedLight],
    area: Option<Shadows>,
    messages: &LightMessages,
    table: Option<u32>,
) -> Vec<Function> {
    let is_ambient = |l: &&&LinkedLight| l.environment.is_none() && !l.bound.has_direction();
    let ambient: Vec<&LinkedLight> = lights.iter().filter(is_ambient).copied().collect();
    // Environment lights come after those that `lights.direct` samples by `lights.sample`.
    let lights = light_tables::sampled(lights);
    let sampled: Vec<Sampled<'_>> = lights.iter().copied().map(Sampled::Light).chain(area.map(Sampled::Area)).collect();
    let sample = match table {
        Some(table) => sample_from_table(suffix, &sampled, &LightKinds::new(&lights), table),
        None => sample(suffix, &sampled),
    };
    let mut functions = vec![
        count(suffix, sampled.len(), table),
        sample,
        ambient_sum(suffix, &ambient),
        category(suffix, &sampled, &messages.excluded),
    ];
    functions.extend(messages.types.iter().map(|(name, &ty)| message(suffix, &sampled, name, ty)));
    functions
}

fn count(suffix: &str, lights: usize, table: Option<u32>) -> Function {
    let mut b = FunctionBuilder::linker(format!("{}{suffix}", Intrinsic::LightCount));
    b.result("return", Type::U32);
    let n = match table {
        Some(table) => count_in_table(&mut b, table),
        None => b.u32(lights as u32),
    };
    b.ret(vec![n]);
    b.finish()
}

/// The number of lights that a table has.
pub(crate) fn count_in_table(b: &mut FunctionBuilder, table: u32) -> Value {
    let table = b.constant(Const::Ref(table));
    let head = b.load(table, 0);
    let count = b.extract(head, 0);
    b.bitcast(count, Type::U32)
}

/// `lights.sample` where the lights are data: the table gives the kind of light `i`, and where its
/// parameters lie; the code has each kind once.
fn sample_from_table(suffix: &str, lights: &[Sampled<'_>], kinds: &LightKinds, table: u32) -> Function {
    let (mut b, index, point) = sample_builder(suffix);
    if lights.is_empty() {
        return no_sample(b);
    }
    let (size, first) = (b.u32(LIGHT_RECORD), b.u32(table + HEAD));
    let offset = b.imul(index, size);
    let record = b.iadd(first, offset);
    let record = b.bitcast(record, Type::Ref);
    let [head, origin, axis] = [0, 1, 2].map(|k| b.load(record, k));
    let [kind, block] = [(0, Type::U32), (1, Type::Ref)].map(|(lane, ty)| {
        let word = b.extract(head, lane);
        b.bitcast(word, ty)
    });
    let [origin, axis] = [origin, axis].map(|v| b.xyz(v));
    let of_kind: Vec<Sampled<'_>> = kinds.first.iter().map(|&i| lights[i]).chain(area_of(lights)).collect();
    for_each_light(&mut b, kind, of_kind.len(), |b, i| {
        sample_by_code(b, of_kind[i], point, |_, _| LightPlace { block, origin, axis })
    });
    b.finish()
}

/// The area lights of materials among the lights.
fn area_of<'a>(lights: &[Sampled<'a>]) -> Option<Sampled<'a>> {
    lights.last().copied().filter(|last| matches!(last, Sampled::Area(_)))
}

/// The beginning of `lights.sample`: the number of the light, and the point that is lit.
fn sample_builder(suffix: &str) -> (FunctionBuilder, Value, ShadingPoint) {
    let mut b = FunctionBuilder::linker(format!("{}{suffix}", Intrinsic::LightSample));
    for (name, ty) in [("L", Type::Vec3), ("Cl", Type::Vec3), ("t_max", Type::F32)] {
        b.result(name, ty);
    }
    let index = b.param("i", Type::U32);
    let point = surface_params(&mut b);
    (b, index, point)
}

/// `lights.sample` without lights.
fn no_sample(mut b: FunctionBuilder) -> Function {
    let zero = b.constant(Const::zero(Type::Vec3));
    let none = b.f32(-1.0);
    b.ret(vec![zero, zero, none]);
    b.finish()
}

/// Samples a light whose code is that of `light`.
fn sample_by_code(
    b: &mut FunctionBuilder,
    light: Sampled<'_>,
    point: ShadingPoint,
    place: impl FnOnce(&mut FunctionBuilder, &LinkedLight) -> LightPlace,
) -> Vec<Value> {
    match light {
        Sampled::Light(light) => match light.environment {
            Some(number) => sample_environment(b, number, light.bound.shadows, point),
            None => {
                let place = place(b, light);
                sample_one(b, light, place, point)
            }
        },
        Sampled::Area(shadows) => sample_area(b, shadows, point),
    }
}

/// Where the data of a light lie.
#[derive(Clone, Copy)]
struct LightPlace {
    /// Address of its block.
    block: Value,
    /// The origin of its shader space.
    origin: Value,
    /// The z axis of that space.
    axis: Value,
}

impl LightPlace {
    /// That of a light in the code.
    fn new(b: &mut FunctionBuilder, light: &LinkedLight) -> Self {
        let to_world = light.bound.instance.to_world;
        let block = b.constant(Const::Ref(light.address));
        let [origin, axis] = [to_world.w_axis, to_world.z_axis].map(|v| b.vec3(v.truncate().to_array()));
        Self { block, origin, axis }
    }
}

fn surface_params(b: &mut FunctionBuilder) -> ShadingPoint {
    let position = b.param("Ps", Type::Vec3);
    let normal = b.param("Ns", Type::Vec3);
    ShadingPoint { position, normal }
}

/// The point that is lit.
#[derive(Clone, Copy)]
struct ShadingPoint {
    position: Value,
    normal: Value,
}

/// `lights.sample(i, Ps, Ns) -> (L, Cl, t_max)`: a binary search for the light.
fn sample(suffix: &str, lights: &[Sampled<'_>]) -> Function {
    let (mut b, index, point) = sample_builder(suffix);
    if lights.is_empty() {
        return no_sample(b);
    }
    for_each_light(&mut b, index, lights.len(), |b, i| sample_by_code(b, lights[i], point, LightPlace::new));
    b.finish()
}

/// Finds light `index` of `count` by a binary search, and returns the results of `leaf` for it.
pub(crate) fn for_each_light(
    b: &mut FunctionBuilder,
    index: Value,
    count: usize,
    mut leaf: impl FnMut(&mut FunctionBuilder, usize) -> Vec<Value>,
) {
    // Ranges still to be split, each with the block that does it.
    let mut work = vec![(0, count, b.current())];
    while let Some((low, high, block)) = work.pop() {
        b.switch_to(block);
        if high - low == 1 {
            let results = leaf(b, low);
            b.ret(results);
            continue;
        }
        let middle = low + (high - low) / 2;
        let bound = b.u32(middle as u32);
        let below = b.ilt(index, bound);
        let (lower, upper) = (b.block(), b.block());
        b.branch(below, lower, upper);
        b.seal(lower);
        b.seal(upper);
        work.push((middle, high, upper));
        work.push((low, middle, lower));
    }
}

/// `lights.category(i, name) -> bool`: whether `illuminance (name, …)` includes light `i`.
fn category(suffix: &str, lights: &[Sampled<'_>], excluded: &BTreeSet<Arc<str>>) -> Function {
    let mut b = FunctionBuilder::linker(format!("{}{suffix}", Intrinsic::LightCategory));
    b.result("return", Type::Bool);
    let index = b.param("i", Type::U32);
    let name = b.param("name", Type::String);
    if lights.is_empty() {
        let no = b.bool(false);
        b.ret(vec![no]);
        return b.finish();
    }
    for_each_light(&mut b, index, lights.len(), |b, i| {
        let own = lights[i].light().map(|light| light.bound.categories()).unwrap_or_default();
        let others = excluded.iter().filter(|c| !own.contains(&***c)).map(|c| format!("-{c}"));
        let included = own.iter().map(|c| (*c).to_string()).chain(others);
        let mut result = None;
        for category in std::iter::once(String::new()).chain(included) {
            let category = b.constant(Const::String(category.into()));
            let equal = b.ieq(name, category);
            result = Some(result.map_or(equal, |r| b.or(r, equal)));
        }
        result.into_iter().collect()
    });
    b.finish()
}

/// `lights.message.T.NAME(i, Ps, Ns) -> (found, value)`: a light's output or parameter of that name
/// and type.
fn message(suffix: &str, lights: &[Sampled<'_>], name: &Arc<str>, ty: Type) -> Function {
    let mut b = FunctionBuilder::linker(format!("{name}{suffix}"));
    b.result("found", Type::F32);
    b.result("value", ty);
    let index = b.param("i", Type::U32);
    let point = surface_params(&mut b);
    let message = match Intrinsic::parse(name) {
        Some(Intrinsic::LightMessage(ty, name)) => Some((ty, name)),
        _ => None,
    };
    let answer = |l: &Sampled<'_>| message.as_ref().and_then(|(ty, name)| Answer::new(l.light()?, *ty, name));
    let answers: Vec<Option<Answer>> = lights.iter().map(answer).collect();
    if answers.iter().all(Option::is_none) {
        let results = vec![b.f32(0.0), b.constant(Const::zero(ty))];
        b.ret(results);
        return b.finish();
    }
    for_each_light(&mut b, index, lights.len(), |b, i| {
        let value = match lights[i].light().zip(answers[i].as_ref()) {
            Some((light, Answer::Output(name))) => call_for(b, light, point, name),
            Some((light, Answer::Parameter(slot))) => {
                let block = b.constant(Const::Ref(light.address));
                Some(unpack(b, ty, |b, k| b.load(block, *slot + k)))
            }
            None => None,
        };
        let found = b.f32(if value.is_some() { 1.0 } else { 0.0 });
        vec![found, value.unwrap_or_else(|| b.constant(Const::zero(ty)))]
    });
    b.finish()
}

/// Where a light has a message.
#[derive(Clone, Debug)]
enum Answer {
    /// In the output of that name.
    Output(Arc<str>),
    /// In the parameter at that offset of its block.
    Parameter(u32),
}

impl Answer {
    fn new(light: &LinkedLight, ty: DataType, name: &Arc<str>) -> Option<Self> {
        let shader = &light.bound.instance.shader;
        let has_output = shader.core_results.iter().any(|r| r.name == *name);
        // `Ol` is no parameter, and a color.
        if &**name == "Ol" {
            return (ty == DataType::Color && has_output).then(|| Answer::Output(name.clone()));
        }
        let (i, _) = shader.asked(ty.into(), name)?;
        if has_output {
            return Some(Answer::Output(name.clone()));
        }
        light.bound.instance.slot(i).map(Answer::Parameter)
    }
}

/// Calls one light: `L` towards it, its color, and how far a shadow ray goes.
fn sample_one(b: &mut FunctionBuilder, light: &LinkedLight, place: LightPlace, point: ShadingPoint) -> Vec<Value> {
    let outputs = call_at(b, light, place, point);
    let outputs = LightOutputs::new(b, &outputs);
    let (from_light, color) = (outputs.direction, outputs.color);
    let towards = b.neg(from_light);
    let t_max = match (light.bound.shadows, light.bound.instance.shader.light) {
        (Shadows::None, _) | (_, LightKind::Ambient) => b.f32(-1.0),
        (_, LightKind::Directional) => b.f32(f32::MAX),
        (_, LightKind::Positional) => {
            let length = outputs.distance.unwrap_or_else(|| b.length(towards));
            let bias = b.frame(slots::RAY_BIAS);
            b.sub(length, bias)
        }
    };
    // A black light needs no shadow ray.
    let zero = b.f32(0.0);
    let square = b.dot(color, color);
    let is_black = b.eq(square, zero);
    let no_ray = b.f32(-1.0);
    let t_max = b.select(is_black, no_ray, t_max);
    if light.bound.shadows != Shadows::Dimming {
        return vec![towards, color, t_max];
    }
    let direction = b.normalize(towards);
    vec![towards, attenuated(b, point, direction, color, t_max), no_ray]
}

/// A light's color times the transmittance of its shadow ray, in scenes where surfaces transmit
/// light.
fn attenuated(b: &mut FunctionBuilder, point: ShadingPoint, direction: Value, color: Value, t_max: Value) -> Value {
    let bias = b.frame(slots::RAY_BIAS);
    let kind = b.f32(TRANSMISSION.into());
    let transmittance =
        b.call(library::TRANSMITTANCE, vec![point.position, direction, bias, t_max, kind], &[Type::Vec3])[0];
    b.mul(color, transmittance)
}

/// Samples an area light, with random numbers that depend on the shading point.
fn sample_area(b: &mut FunctionBuilder, shadows: Shadows, point: ShadingPoint) -> Vec<Value> {
    let random = b.call(library::RANDOM, vec![point.position], &[Type::Vec3])[0];
    let [u, v] = [0, 1].map(|i| b.extract(random, i));
    let sample = b.call(Intrinsic::LightArea, vec![point.position, u, v], &DIRECT_RESULTS);
    as_light(b, &sample, shadows, point)
}

/// Samples an environment light, with random numbers that depend on the shading point.
fn sample_environment(b: &mut FunctionBuilder, number: usize, shadows: Shadows, point: ShadingPoint) -> Vec<Value> {
    let random = b.call(library::RANDOM, vec![point.position], &[Type::Vec3])[0];
    let [u, v] = [1, 2].map(|i| b.extract(random, i));
    let sample = b.call(Intrinsic::LightEnvironment(number as u32), vec![u, v], &DIRECT_RESULTS);
    as_light(b, &sample, shadows, point)
}

/// A sample of radiance by solid angle as the results of `lights.sample`.
fn as_light(b: &mut FunctionBuilder, sample: &[Value], shadows: Shadows, point: ShadingPoint) -> Vec<Value> {
    // The radiance of a white diffuse surface that faces it is the irradiance over π.
    let inverse_pi = b.f32(std::f32::consts::FRAC_1_PI);
    let color = b.scale(sample[1], inverse_pi);
    let square = b.dot(color, color);
    let (zero, no_ray) = (b.f32(0.0), b.f32(-1.0));
    let is_black = b.eq(square, zero);
    let t_max = b.select(is_black, no_ray, sample[2]);
    match shadows {
        Shadows::Dimming => vec![sample[0], attenuated(b, point, sample[0], color, t_max), no_ray],
        Shadows::Opaque => vec![sample[0], color, t_max],
        Shadows::None => vec![sample[0], color, no_ray],
    }
}

/// `lights.ambient(Ps, Ns) -> vec3`: the sum of the lights without a direction.
fn ambient_sum(suffix: &str, lights: &[&LinkedLight]) -> Function {
    let mut b = FunctionBuilder::linker(format!("{}{suffix}", Intrinsic::LightAmbient));
    b.result("return", Type::Vec3);
    let point = surface_params(&mut b);
    let mut sum = None;
    for light in lights {
        let color = call(&mut b, light, point).color;
        sum = Some(sum.map_or(color, |s| b.add(s, color)));
    }
    let sum = sum.unwrap_or_else(|| b.constant(Const::zero(Type::Vec3)));
    b.ret(vec![sum]);
    b.finish()
}

/// The results of a light: the direction from it, its color, and its distance where that is not
/// the length of the direction.
struct LightOutputs {
    direction: Value,
    color: Value,
    distance: Option<Value>,
}

/// Calls a light for one of its outputs.
fn call_for(b: &mut FunctionBuilder, light: &LinkedLight, point: ShadingPoint, output: &str) -> Option<Value> {
    outputs(b, light, point).get(output)
}

/// Calls a light's core with its parameters from memory and the globals of RISpec 3.2, table 12.2.
fn outputs<'l>(b: &mut FunctionBuilder, light: &'l LinkedLight, point: ShadingPoint) -> Outputs<'l> {
    let place = LightPlace::new(b, light);
    call_at(b, light, place, point)
}

/// The same for a light whose data lie at a place.
fn call_at<'l>(b: &mut FunctionBuilder, light: &'l LinkedLight, place: LightPlace, point: ShadingPoint) -> Outputs<'l> {
    let instance = &light.bound.instance;
    instance.call(b, &instance.shader.core, |b, slot, param| match slot {
        Some(slot) => unpack(b, param.ty, |b, k| b.load(place.block, slot + k)),
        None => global(b, light, place, point, &param.name, param.ty),
    })
}

/// The radiance of an environment light from a direction of length 1.
pub(crate) fn environment_radiance(b: &mut FunctionBuilder, light: &LinkedLight, direction: Value) -> Value {
    let position = b.constant(Const::zero(Type::Vec3));
    call(b, light, ShadingPoint { position, normal: direction }).color
}

/// Calls a light.
fn call(b: &mut FunctionBuilder, light: &LinkedLight, point: ShadingPoint) -> LightOutputs {
    let outputs = outputs(b, light, point);
    LightOutputs::new(b, &outputs)
}

impl LightOutputs {
    fn new(b: &mut FunctionBuilder, outputs: &Outputs<'_>) -> Self {
        let zero = b.constant(Const::zero(Type::Vec3));
        let [direction, color] = ["L", "Cl"].map(|name| outputs.get(name).unwrap_or(zero));
        Self { direction, color, distance: outputs.get(input::LIGHT_DISTANCE) }
    }
}

/// A light's global. `P` is the origin of its shader space and `N` its z axis, as for a light
/// without a surface of its own; those of an area light are a point of its surface and the normal
/// there.
fn global(
    b: &mut FunctionBuilder,
    light: &LinkedLight,
    place: LightPlace,
    point: ShadingPoint,
    name: &str,
    ty: Type,
) -> Value {
    match name {
        "Ps" => point.position,
        "Ns" => point.normal,
        "P" | "N" | "Ng" if !light.bound.points.is_empty() => surface_point(b, light, place, point, name != "P"),
        "P" => place.origin,
        "N" | "Ng" => b.normalize(place.axis),
        "E" => b.frame_xyz(slots::CAMERA_ORIGIN),
        _ => frame_value(b, name).unwrap_or_else(|| b.constant(Const::zero(ty))),
    }
}

/// The point of an area light's surface that represents it at a shading point, or the normal there:
/// one of its points, chosen at random by the shading point.
fn surface_point(
    b: &mut FunctionBuilder,
    light: &LinkedLight,
    place: LightPlace,
    point: ShadingPoint,
    normal: bool,
) -> Value {
    let random = b.call(library::RANDOM, vec![point.position], &[Type::Vec3])[0];
    let u = b.extract(random, 0);
    let count = b.f32(POINTS as f32);
    let number = b.mul(u, count);
    let number = b.to_int(number, Type::U32);
    let offset = b.iadd(number, number);
    let block = b.bitcast(place.block, Type::U32);
    let length = b.u32(light.bound.instance.block.len() as u32);
    let first = b.iadd(block, length);
    let address = b.iadd(first, offset);
    let address = b.bitcast(address, Type::Ref);
    let vector = b.load(address, u32::from(normal));
    b.xyz(vector)
}
