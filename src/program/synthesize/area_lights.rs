//! The functions by which surfaces and paths sample area lights, and one light among all of them.
//!
//! An area light here is an emissive surface of a material with an `emission` ([`AreaLights`]).
//! `lights.area(Ps, u, v) -> (L, Cl, t_max, pdf)` samples a point of one. To shaders all area
//! lights together are one more light of `lights.sample`, sampled at a point that depends on the
//! shading point. Where paths are traced, `lights.choices() -> f32` is the number of lights among
//! which `lights.direct(Ps, Ns, u, v) -> (L, Cl, t_max, pdf)` chooses, with equal probability:
//! those with a direction that illuminate the object, every environment light, and all area lights
//! as one. `Cl` is the radiance divided by the probability of the choice and the pdf of the point,
//! `pdf` that of the point by solid angle; 0 for delta lights, whose color is the radiance that a
//! white diffuse surface that faces them reflects, as in RISpec 3.2: their irradiance is π times
//! that. `t_max` is as `lights.sample` returns it.

use crate::layout::alias_table::{choose_uniformly, choose_up_to, resolve_alias};
use crate::layout::area_lights::{AreaLights, EmissiveSurface, RECORD};
use crate::synthesize::lights::{DIRECT_RESULTS, count_in_table, for_each_light};
use crate::synthesize::materials::{emission_at, opacity_at};
use crate::synthesize::surface_state::{SurfaceInputs, SurfaceState};
use shadewright_ir::abi::Intrinsic;
use shadewright_ir::abi::frame::slots;
use shadewright_ir::{Const, Control, Function, FunctionBuilder, Type, Value};
use std::f32::consts::PI;

/// The lights that light sampling may choose.
#[derive(Clone, Copy)]
enum Choice {
    /// The lights that have a direction.
    Point,
    /// The environment of that number.
    Environment(usize),
    /// The area lights.
    Area,
}

/// The functions that sample area lights, whose table lies at `table`.
pub fn functions(lights: &AreaLights, table: u32) -> Vec<Function> {
    if lights.is_empty() {
        return Vec::new();
    }
    let mut functions = vec![area_function(lights, table)];
    functions.extend((!lights.meshes.is_empty()).then(|| emitted_function(lights)));
    functions.extend((!lights.procedural.is_empty()).then(|| procedural_function(lights)));
    functions
}

/// `lights.area(Ps, u, v) -> (L, Cl, t_max, pdf)`.
fn area_function(lights: &AreaLights, table: u32) -> Function {
    let mut b = FunctionBuilder::linker(Intrinsic::LightArea);
    ["L", "Cl", "t_max", "pdf"].into_iter().zip(DIRECT_RESULTS).for_each(|(name, ty)| b.result(name, ty));
    let position = b.param("Ps", Type::Vec3);
    let numbers = ["u", "v"].map(|name| b.param(name, Type::F32));
    sample(&mut b, lights, table, position, numbers);
    b.finish()
}

/// `lights.procedural(kind, object, Ps, u, v) -> (L, Cl, t_max, pdf)`: samples a point of a
/// procedural primitive.
fn procedural_function(lights: &AreaLights) -> Function {
    let mut b = FunctionBuilder::linker(Intrinsic::LightProcedural);
    ["L", "Cl", "t_max", "pdf"].into_iter().zip(DIRECT_RESULTS).for_each(|(name, ty)| b.result(name, ty));
    let kind = b.param("kind", Type::U32);
    let object = b.param("object", Type::Ref);
    let position = b.param("Ps", Type::Vec3);
    let numbers = ["u", "v"].map(|name| b.param(name, Type::F32));
    for_each_light(&mut b, kind, lights.procedural.len(), |b, i| {
        let own = &lights.procedural[i];
        // The state before a direction is known, then that at the point.
        let (no_direction, no_hit) = (b.constant(Const::zero(Type::Vec3)), b.constant(Const::zero(Type::Vec4)));
        let nothing = b.constant(Const::Ref(0));
        let state = SurfaceState::at(own.inputs(b, position, no_direction), no_hit, [nothing, object]);
        let point = state.sampled_point(b, numbers).unwrap_or(position);
        let offset = b.sub(point, position);
        let distance = b.length(offset);
        let direction = b.normalize(offset);
        let zero = b.f32(0.0);
        let hit = b.compose(&[zero, zero, distance, zero]);
        let mut state = SurfaceState::at(own.inputs(b, position, direction), hit, [nothing, object]);
        let pdf = state.pdf_of_sampled_points(b).unwrap_or(zero);
        let is_possible = b.lt(zero, pdf);
        let is_black = b.not(is_possible);
        let emitted = own.emitted(b, &mut state);
        let inverse = b.rcp(pdf);
        let light = b.scale(emitted, inverse);
        let sample = AreaSample { direction, distance, light, pdf, is_black };
        sample.results(b)
    });
    b.finish()
}

/// `lights.emitted(kind, triangle, object, u, v, t, from, direction) -> vec3`: the radiance that a
/// triangle emits towards a point from which a direction leads to it.
fn emitted_function(lights: &AreaLights) -> Function {
    let mut b = FunctionBuilder::linker(Intrinsic::LightEmitted);
    b.result("return", Type::Vec3);
    let kind = b.param("kind", Type::U32);
    let records = ["triangle", "object"].map(|name| b.param(name, Type::Ref));
    let [u, v, t] = ["u", "v", "t"].map(|name| b.param(name, Type::F32));
    let [origin, direction] = ["from", "direction"].map(|name| b.param(name, Type::Vec3));
    for_each_light(&mut b, kind, lights.meshes.len(), |b, i| {
        let own = &lights.meshes[i];
        let zero = b.f32(0.0);
        let hit = b.compose(&[u, v, t, zero]);
        let mut state = SurfaceState::at(own.inputs(b, origin, direction), hit, records);
        vec![own.emitted(b, &mut state)]
    });
    b.finish()
}

/// How many lights of which kinds illuminate an object.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Lights with a direction.
    pub lights: usize,
    /// Environment lights of the scene.
    pub environments: usize,
    /// The table that has the number of lights that `lights.sample` samples, where they are data.
    pub table: Option<u32>,
}

/// The number of lights, as a program knows it.
struct LightCount {
    /// Lights among which `lights.direct` chooses.
    choices: usize,
    /// Lights among these that have a direction.
    lights: usize,
    table: Option<u32>,
}

impl LightCount {
    /// The number of choices less `minus`, as an integer.
    fn choices(&self, b: &mut FunctionBuilder, minus: u32) -> Value {
        match self.table {
            None => b.u32(self.choices as u32 - minus),
            Some(table) => {
                // The table's lights are the choices: area lights are one of them in both.
                let all = count_in_table(b, table);
                let minus = b.u32(minus);
                b.isub(all, minus)
            }
        }
    }

    /// The same as a float.
    fn float(&self, b: &mut FunctionBuilder, minus: u32) -> Value {
        match self.table {
            None => b.f32((self.choices as u32 - minus) as f32),
            Some(_) => {
                let choices = self.choices(b, minus);
                b.to_float(choices)
            }
        }
    }

    /// The number of lights with a direction, less `minus`.
    fn lights(&self, b: &mut FunctionBuilder, minus: u32) -> Value {
        let others = (self.choices - self.lights) as u32;
        match self.table {
            None => b.u32(self.lights as u32 - minus),
            Some(_) => self.choices(b, others + minus),
        }
    }
}

/// `lights.choices` and `lights.direct` for an object that so many lights illuminate.
pub fn direct_functions(area_lights: &AreaLights, suffix: &str, counts: Counts) -> Vec<Function> {
    let Counts { lights, environments, table } = counts;
    let points = (0..usize::from(lights > 0)).map(|_| Choice::Point);
    let areas = (0..usize::from(!area_lights.is_empty())).map(|_| Choice::Area);
    let kinds: Vec<Choice> = points.chain((0..environments).map(Choice::Environment)).chain(areas).collect();
    let choices = lights + kinds.iter().filter(|kind| !matches!(kind, Choice::Point)).count();
    // Environments that do not illuminate the object are chosen, too, and not in its table.
    let of = LightCount { choices, lights, table: table.filter(|_| choices > 0 && environments == 0) };
    let mut count = FunctionBuilder::linker(format!("{}{suffix}", Intrinsic::LightChoices));
    count.result("return", Type::F32);
    let n = if choices == 0 { count.f32(1.0) } else { of.float(&mut count, 0) };
    count.ret(vec![n]);

    let mut b = FunctionBuilder::linker(format!("{}{suffix}", Intrinsic::LightDirect));
    ["L", "Cl", "t_max", "pdf"].into_iter().zip(DIRECT_RESULTS).for_each(|(name, ty)| b.result(name, ty));
    let [position, normal] = ["Ps", "Ns"].map(|name| b.param(name, Type::Vec3));
    let [u, v] = ["u", "v"].map(|name| b.param(name, Type::F32));
    if kinds.is_empty() {
        let (black, no_ray) = (b.constant(Const::zero(Type::Vec3)), b.f32(-1.0));
        let zero = b.f32(0.0);
        b.ret(vec![black, black, no_ray, zero]);
        return vec![count.finish(), b.finish()];
    }
    let [n, last] = [0, 1].map(|minus| of.float(&mut b, minus));
    let (number, rest) = choose_up_to(&mut b, u, n, last);
    // The lights with a direction are one kind, the first; each of the others is its own.
    let kind = match lights {
        0 => number,
        _ => {
            let [bound, before] = [0, 1].map(|minus| of.lights(&mut b, minus));
            let is_point = b.ilt(number, bound);
            let after = b.isub(number, before);
            let first = b.u32(0);
            b.select(is_point, first, after)
        }
    };
    for_each_light(&mut b, kind, kinds.len(), |b, i| match kinds[i] {
        Choice::Point => {
            let types = [Type::Vec3, Type::Vec3, Type::F32];
            let sample = b.call(format!("{}{suffix}", Intrinsic::LightSample), vec![number, position, normal], &types);
            let direction = b.normalize(sample[0]);
            let pi = b.f32(PI);
            let factor = b.mul(n, pi);
            let light = b.scale(sample[1], factor);
            let delta = b.f32(0.0);
            vec![direction, light, sample[2], delta]
        }
        Choice::Environment(number) => {
            let mut results = b.call(Intrinsic::LightEnvironment(number as u32), vec![rest, v], &DIRECT_RESULTS);
            results[1] = b.scale(results[1], n);
            results
        }
        Choice::Area => {
            let mut results = b.call(Intrinsic::LightArea, vec![position, rest, v], &DIRECT_RESULTS);
            results[1] = b.scale(results[1], n);
            results
        }
    });
    vec![count.finish(), b.finish()]
}

/// Returns a point sampled by two random numbers, as `lights.area` does.
fn sample(b: &mut FunctionBuilder, lights: &AreaLights, table: u32, position: Value, [u, v]: [Value; 2]) {
    let (number, rest) = choose_uniformly(b, u, lights.count());
    let record = |b: &mut FunctionBuilder, number: Value, k: u32| {
        let (size, first) = (b.u32(RECORD), b.u32(table));
        let offset = b.imul(number, size);
        let address = b.iadd(first, offset);
        let address = b.bitcast(address, Type::Ref);
        b.load(address, k)
    };
    let head = record(b, number, 0);
    let (number, u) = resolve_alias(b, head, number, rest);

    let head = record(b, number, 0);
    let [triangle, object] = [2, 3].map(|i| {
        let word = b.extract(head, i);
        b.bitcast(word, Type::Ref)
    });
    let first = record(b, number, 1);
    let kind = b.extract(first, 3);
    let kind = b.bitcast(kind, Type::U32);
    let of_primitive = |b: &mut FunctionBuilder| {
        let results = b.call(Intrinsic::LightProcedural, vec![kind, object, position, u, v], &DIRECT_RESULTS);
        b.ret(results);
    };
    if lights.meshes.is_empty() {
        return of_primitive(b);
    }
    if !lights.procedural.is_empty() {
        let (address, none) = (b.bitcast(triangle, Type::U32), b.u32(0));
        let is_procedural = b.ieq(address, none);
        b.leave_if(is_procedural, of_primitive);
    }
    let [second, third] = [2, 3].map(|k| record(b, number, k));
    let side = b.extract(second, 3);
    let [corner, ab, ac] = [first, second, third].map(|v| b.xyz(v));
    // Uniform over a triangle (Turk 1990, "Generating Random Points in Triangles").
    let root = b.sqrt(u);
    let to_c = b.mul(root, v);
    let to_b = b.sub(root, to_c);
    let [along_b, along_c] = [(ab, to_b), (ac, to_c)].map(|(edge, by)| b.scale(edge, by));
    let moved = b.add(along_b, along_c);
    let point = b.add(corner, moved);
    let offset = b.sub(point, position);
    let distance = b.length(offset);
    let reciprocal = b.rcp(distance);
    let direction = b.scale(offset, reciprocal);
    let normal = b.cross(ab, ac);
    let normal = b.normalize(normal);
    let along = b.dot(direction, normal);
    let zero = b.f32(0.0);
    let against = b.mul(along, side);
    let is_hidden = b.lt(zero, against);
    let cosine = b.abs(along);
    let area = b.f32(lights.area);
    let projected = b.mul(cosine, area);
    let falloff = b.mul(reciprocal, reciprocal);
    let inverse = b.mul(projected, falloff);
    let is_edge_on = b.le(inverse, zero);
    let pdf = b.rcp(inverse);
    let args = vec![kind, triangle, object, to_b, to_c, distance, position, direction];
    let emitted = b.call(Intrinsic::LightEmitted, args, &[Type::Vec3])[0];
    let light = b.scale(emitted, inverse);
    let is_black = b.or(is_hidden, is_edge_on);
    let results = AreaSample { direction, distance, light, pdf, is_black }.results(b);
    b.ret(results);
}

impl EmissiveSurface {
    /// The inputs of the state where a direction leads from a point to the surface.
    fn inputs(&self, b: &mut FunctionBuilder, origin: Value, direction: Value) -> SurfaceInputs {
        let (depth, ray) = (b.f32(0.0), b.constant(Const::zero(Type::Vec4)));
        let (layout, primitive) = (self.layout.clone(), self.primitive.clone());
        SurfaceInputs { origin, direction, depth, ray, layout, differentiated: false, primitive, constants: None }
    }

    /// The radiance that the surface emits against the ray.
    fn emitted(&self, b: &mut FunctionBuilder, state: &mut SurfaceState) -> Value {
        let emitted = emission_at(b, state, &self.layout, &self.emission);
        let Some(opacity) = &self.opacity else { return emitted };
        let opacity = opacity_at(b, state, &self.layout, opacity);
        b.mul(opacity, emitted)
    }
}

/// A point of an area light that was sampled.
struct AreaSample {
    direction: Value,
    distance: Value,
    /// The radiance over the pdf.
    light: Value,
    pdf: Value,
    /// True if the point emits nothing in this direction.
    is_black: Value,
}

impl AreaSample {
    /// The results of `lights.area`.
    fn results(self, b: &mut FunctionBuilder) -> Vec<Value> {
        let Self { direction, distance, light, pdf, is_black } = self;
        let one = b.f32(1.0);
        let black = b.constant(Const::zero(Type::Vec3));
        let light = b.select(is_black, black, light);
        let pdf = b.select(is_black, one, pdf);
        let bias = b.frame(slots::RAY_BIAS);
        let t_max = b.sub(distance, bias);
        vec![direction, light, t_max, pdf]
    }
}
