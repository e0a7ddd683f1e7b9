//! The lights of a scene as functions that surfaces call: `lights.count`, `lights.sample`, `lights.ambient`.
//!
//! Which lights shine depends on the object (`Illuminate`), so there is one set of functions for each distinct set of lights, told apart by a suffix.

use super::instances::{Instance, unpack};
use super::state::normalize;
use crate::ir::{Class, Const, Function, FunctionBuilder, FunctionKind, Op, Type, Value};
use crate::lang::rsl::{LIGHTS_AMBIENT, LIGHTS_COUNT, LIGHTS_SAMPLE, LightKind};
use std::sync::Arc;

/// A light, ready to be called.
#[derive(Clone, Debug)]
pub struct LinkedLight {
    /// Its shader with its parameters.
    pub instance: Arc<Instance>,
    /// Whether surfaces shadow it.
    pub shadows: bool,
    /// Address of its parameter block.
    pub address: u32,
}

/// The names by which cores call lights, before the linker adds the set's suffix.
pub const LIGHT_FUNCTIONS: [&str; 3] = [LIGHTS_COUNT, LIGHTS_SAMPLE, LIGHTS_AMBIENT];

/// The functions for one set of lights.
pub fn light_functions(suffix: &str, lights: &[&LinkedLight]) -> Vec<Function> {
    let (ambient, shining): (Vec<_>, Vec<_>) =
        lights.iter().copied().partition(|l| l.instance.shader.light == LightKind::Ambient);
    vec![count(suffix, shining.len()), sample(suffix, &shining), ambient_sum(suffix, &ambient)]
}

fn count(suffix: &str, lights: usize) -> Function {
    let mut b = FunctionBuilder::new(format!("{LIGHTS_COUNT}{suffix}"), FunctionKind::Function);
    b.result("return", Type::U32);
    let n = b.u32(lights as u32);
    b.ret(vec![n]);
    b.finish()
}

fn surface_params(b: &mut FunctionBuilder) -> Place {
    let position = b.param("Ps", Type::Vec3, Class::Varying);
    let normal = b.param("Ns", Type::Vec3, Class::Varying);
    Place { position, normal }
}

/// Where a light shines on.
#[derive(Clone, Copy)]
struct Place {
    position: Value,
    normal: Value,
}

/// `lights.sample(i, Ps, Ns) -> (L, Cl, t_max)`: a binary search for the light.
fn sample(suffix: &str, lights: &[&LinkedLight]) -> Function {
    let mut b = FunctionBuilder::new(format!("{LIGHTS_SAMPLE}{suffix}"), FunctionKind::Function);
    for (name, ty) in [("L", Type::Vec3), ("Cl", Type::Vec3), ("t_max", Type::F32)] {
        b.result(name, ty);
    }
    let index = b.param("i", Type::U32, Class::Varying);
    let place = surface_params(&mut b);
    match lights {
        [] => {
            let zero = b.constant(Const::zero(Type::Vec3));
            let none = b.f32(-1.0);
            b.ret(vec![zero, zero, none]);
        }
        _ => {
            // Ranges still to be told apart, each with the block that does it.
            let mut work = vec![(0, lights.len(), b.current())];
            while let Some((low, high, block)) = work.pop() {
                b.switch_to(block);
                if high - low == 1 {
                    let results = sample_one(&mut b, lights[low], place);
                    b.ret(results);
                    continue;
                }
                let middle = low + (high - low) / 2;
                let bound = b.u32(middle as u32);
                let below = b.op(Op::ILt, &[index, bound]);
                let (lower, upper) = (b.block(), b.block());
                b.branch(below, lower, upper);
                b.seal(lower);
                b.seal(upper);
                work.push((middle, high, upper));
                work.push((low, middle, lower));
            }
        }
    }
    b.finish()
}

/// Calls one light: `L` towards it, its colour, and how far a shadow ray goes.
fn sample_one(b: &mut FunctionBuilder, light: &LinkedLight, place: Place) -> Vec<Value> {
    let outputs = call(b, light, place);
    let (from_light, color) = (outputs.direction, outputs.color);
    let towards = b.op(Op::Neg, &[from_light]);
    let t_max = match (light.shadows, light.instance.shader.light) {
        (false, _) | (_, LightKind::Ambient) => b.f32(-1.0),
        (true, LightKind::Directional) => b.f32(f32::MAX),
        (true, LightKind::Positional) => {
            let square = b.op(Op::Dot, &[towards, towards]);
            let length = b.op(Op::Sqrt, &[square]);
            let default = b.op(Op::Uniform(0), &[]);
            let bias = b.op(Op::Extract(0), &[default]);
            b.op(Op::Sub, &[length, bias])
        }
    };
    // Where no light arrives there is nothing to shadow.
    let zero = b.f32(0.0);
    let square = b.op(Op::Dot, &[color, color]);
    let dark = b.op(Op::Eq, &[square, zero]);
    let none = b.f32(-1.0);
    let t_max = b.op(Op::Select, &[dark, none, t_max]);
    vec![towards, color, t_max]
}

/// `lights.ambient(Ps, Ns) -> vec3`: the sum of the lights without a direction.
fn ambient_sum(suffix: &str, lights: &[&LinkedLight]) -> Function {
    let mut b = FunctionBuilder::new(format!("{LIGHTS_AMBIENT}{suffix}"), FunctionKind::Function);
    b.result("return", Type::Vec3);
    let place = surface_params(&mut b);
    let mut sum = None;
    for light in lights {
        let color = call(&mut b, light, place).color;
        sum = Some(sum.map_or(color, |s| b.op(Op::Add, &[s, color])));
    }
    let sum = sum.unwrap_or_else(|| b.constant(Const::zero(Type::Vec3)));
    b.ret(vec![sum]);
    b.finish()
}

/// What a light gives: the way from it, and its colour.
struct Emission {
    direction: Value,
    color: Value,
}

/// Calls a light's core with its parameters from memory and the globals of RISpec 3.2, table 12.2.
fn call(b: &mut FunctionBuilder, light: &LinkedLight, place: Place) -> Emission {
    let instance = &light.instance;
    let block = b.constant(Const::Ref(light.address));
    let outputs = instance.call(b, &instance.shader.core, |b, slot, param| match slot {
        Some(slot) => unpack(b, param.ty, |b, k| b.op(Op::Load(slot + k), &[block])),
        None => global(b, instance, place, &param.name, param.ty),
    });
    let zero = b.constant(Const::zero(Type::Vec3));
    Emission { direction: outputs.get("L").unwrap_or(zero), color: outputs.get("Cl").unwrap_or(zero) }
}

/// A light's global. `P` is the origin of its shader space and `N` its z axis, as for a light without a surface of its own.
fn global(b: &mut FunctionBuilder, instance: &Instance, place: Place, name: &str, ty: Type) -> Value {
    match name {
        "Ps" => place.position,
        "Ns" => place.normal,
        "P" => b.constant(Const::Vec3(instance.to_world.w_axis.truncate().to_array())),
        "N" | "Ng" => {
            let axis = b.constant(Const::Vec3(instance.to_world.z_axis.truncate().to_array()));
            normalize(b, axis)
        }
        "E" => {
            let origin = b.op(Op::Uniform(5), &[]);
            super::state::xyz(b, origin)
        }
        "ncomps" => b.f32(3.0),
        _ => b.constant(Const::zero(ty)),
    }
}
