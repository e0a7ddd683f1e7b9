//! What a primitive of a class tells of a hit: its methods run for what somebody asks of the state, and no others.
//!
//! Where the class has no method for it, its normal is that of its tangents, its tangents are any two across its normal, and its texture coordinates are those of the point in the world
//! (Parker et al. 2007, §3.4).

use super::{AXES, NORMAL_AXES, SurfaceState, normalize, scale, xyz};
use crate::ir::{Const, FunctionBuilder, Op, Type, Value};
use crate::lang::rtsl::AtHit;
use crate::program::collect::procedural::{BLOCK_VECTORS, SHARE};
use std::collections::HashMap;
use std::sync::Arc;

/// Results of cores that were called, by their names.
#[derive(Debug, Default)]
pub(super) struct Told {
    known: HashMap<(AtHit, bool), HashMap<Arc<str>, Value>>,
}

/// `intersect` looks for the hit again from this share of its distance on.
const AGAIN_FROM: f32 = 0.999;

/// Components of normals along an axis beyond which another axis makes tangents.
const STEEP: f32 = 0.5;

impl SurfaceState {
    /// The value of a global of a primitive that is a program, where it is its own.
    pub(super) fn of_primitive(&mut self, b: &mut FunctionBuilder, name: &'static str) -> Option<Value> {
        self.inputs.layout.program?;
        Some(match name {
            "N" | "Ng" => self.told_normal(b, name, true),
            "dPdu" | "dPdv" => {
                let [u, v] = self.told_tangents(b);
                if name == "dPdu" { u } else { v }
            }
            "u" | "v" => {
                let place = self.told_place(b);
                let (i, slopes) = if name == "u" { (0, [1.0, 0.0]) } else { (1, [0.0, 1.0]) };
                let x = b.op(Op::Extract(i), &[place]);
                self.seeded(b, x, |_, b| slopes.map(|slope| b.f32(slope)))
            }
            "s" | "t" => {
                let place = self.told_place(b);
                let (i, slopes) = if name == "s" { (0, ["dsdu", "dsdv"]) } else { (1, ["dtdu", "dtdv"]) };
                let x = b.op(Op::Extract(i), &[place]);
                match slopes.map(|slope| self.told(b, AtHit::Texture, false, slope)) {
                    [Some(by_u), Some(by_v)] => self.seeded(b, x, |_, _| [by_u, by_v]),
                    // It follows the point.
                    _ => x,
                }
            }
            _ => return None,
        })
    }

    /// Texture coordinates in three dimensions.
    pub(super) fn place(&mut self, b: &mut FunctionBuilder) -> Value {
        self.told(b, AtHit::Texture, true, "uvw").unwrap_or_else(|| self.get(b, "P"))
    }

    /// Texture coordinates in two dimensions, at least; those of the point in the world have its derivatives.
    fn told_place(&mut self, b: &mut FunctionBuilder) -> Value {
        self.told(b, AtHit::Texture, false, "uv").unwrap_or_else(|| self.get(b, "P"))
    }

    /// `dPdu` and `dPdv`, which have no derivatives.
    fn told_tangents(&mut self, b: &mut FunctionBuilder) -> [Value; 2] {
        let told = ["dPdu", "dPdv"].map(|name| self.told(b, AtHit::Derivatives, false, name));
        if let [Some(u), Some(v)] = told {
            return [u, v].map(|v| self.to_world(b, v, AXES));
        }
        let normal = self.told_normal(b, "N", false);
        let along = b.op(Op::Extract(0), &[normal]);
        let along = b.op(Op::Abs, &[along]);
        let steep = b.f32(STEEP);
        let is_steep = b.op(Op::Lt, &[steep, along]);
        let [x, y] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(|axis| b.constant(Const::Vec3(axis)));
        let axis = b.op(Op::Select, &[is_steep, y, x]);
        let u = b.op(Op::Cross, &[axis, normal]);
        let u = normalize(b, u);
        let v = b.op(Op::Cross, &[normal, u]);
        [u, v]
    }

    /// A normal of length 1 in the world.
    fn told_normal(&mut self, b: &mut FunctionBuilder, name: &str, seeded: bool) -> Value {
        let normal = self.own_normal(b, name, seeded);
        let normal = self.to_world(b, normal, NORMAL_AXES);
        // One that tells none faces the ray.
        let back = b.op(Op::Neg, &[self.inputs.direction]);
        let normal = unless_zero(b, normal, back);
        normalize(b, normal)
    }

    /// The normal in the primitive's space, of any length; 0 where the class tells none.
    fn own_normal(&mut self, b: &mut FunctionBuilder, name: &str, seeded: bool) -> Value {
        let zero = b.constant(Const::zero(Type::Vec3));
        let told = [name, if name == "N" { "Ng" } else { "N" }].map(|n| self.told(b, AtHit::Normal, seeded, n));
        let [own, other] = told.map(|n| n.unwrap_or(zero));
        let mut normal = unless_zero(b, own, other);
        let tangents = ["dPdu", "dPdv"].map(|n| self.told(b, AtHit::Normal, seeded, n));
        if let [Some(u), Some(v)] = tangents {
            let across = b.op(Op::Cross, &[u, v]);
            normal = unless_zero(b, normal, across);
        }
        normal
    }

    /// A point of the primitive in the world, which two random numbers choose for the place where the ray starts; `None` where the class chooses none.
    pub fn chosen_point(&self, b: &mut FunctionBuilder, numbers: [Value; 2]) -> Option<Value> {
        let offset = self.inputs.layout.program?.offset;
        let cores = self.inputs.primitive.clone()?;
        let core = cores.sample.as_ref()?;
        let origin = self.to_own_space(b, offset, self.inputs.origin, true);
        let args = core.inputs(b, |b, slot, param| match (slot, &*param.name) {
            (Some(slot), _) => super::unpack(b, param.ty, |b, k| self.parameter(b, offset + BLOCK_VECTORS + slot + k)),
            (None, "ray.origin") => origin,
            (None, "ray.t") => b.f32(f32::MAX),
            (None, "seed.x") => numbers[0],
            (None, "seed.y") => numbers[1],
            (None, name) => super::of_frame(b, name).unwrap_or_else(|| b.constant(Const::zero(param.ty))),
        });
        let point = core.call_with(b, &core.shader.core, args).get("P")?;
        Some(self.point_to_world(b, point))
    }

    /// How densely points of the primitive that are chosen for the place where the ray starts lie in the direction of the ray, which has length 1, by solid angle; `None` where the class chooses none.
    ///
    /// A piece of the surface `dA` in the primitive's own space that a cone `dω` cuts out at the distance `t` is as large as the volume that the cone sweeps there in a unit of distance, `t² dω`, in that space, over the cosine of the direction there to the normal.
    pub fn density_of_points(&mut self, b: &mut FunctionBuilder) -> Option<Value> {
        let offset = self.inputs.layout.program?.offset;
        let density = self.told(b, AtHit::Density, false, "pdf")?;
        let direction = self.to_own_space(b, offset, self.inputs.direction, false);
        let normal = self.own_normal(b, "Ng", false);
        let normal = unless_zero(b, normal, direction);
        let normal = normalize(b, normal);
        let cosine = b.op(Op::Dot, &[normal, direction]);
        let cosine = b.op(Op::Abs, &[cosine]);
        let least = b.f32(f32::MIN_POSITIVE);
        let cosine = b.op(Op::Max, &[cosine, least]);
        let head = self.parameter(b, offset);
        let share = b.op(Op::Extract(SHARE), &[head]);
        let density = b.op(Op::Mul, &[density, share]);
        let t = b.op(Op::Extract(2), &[self.hit]);
        let square = b.op(Op::Mul, &[t, t]);
        let density = b.op(Op::Mul, &[density, square]);
        let reciprocal = b.op(Op::Rcp, &[cosine]);
        Some(b.op(Op::Mul, &[density, reciprocal]))
    }

    /// A point or a vector of the world in the space of the primitive whose block lies behind so many vectors of parameters.
    fn to_own_space(&self, b: &mut FunctionBuilder, offset: u32, v: Value, is_point: bool) -> Value {
        let parts = [0, 1, 2].map(|i| {
            let row = self.parameter(b, offset + 1 + i);
            let axis = xyz(b, row);
            let along = b.op(Op::Dot, &[axis, v]);
            match is_point {
                true => {
                    let origin = b.op(Op::Extract(3), &[row]);
                    b.op(Op::Add, &[along, origin])
                }
                false => along,
            }
        });
        b.op(Op::Compose, &parts)
    }

    /// A result of the core that answers a question, as it is in the primitive's space; `None` where its class leaves the question to the renderer. With `seeded` it has its derivatives by u and v.
    fn told(&mut self, b: &mut FunctionBuilder, part: AtHit, seeded: bool, name: &str) -> Option<Value> {
        let seeded = seeded && self.inputs.differentiated;
        if let Some(known) = self.told.known.get(&(part, seeded)) {
            return known.get(name).copied();
        }
        let offset = self.inputs.layout.program?.offset;
        let cores = self.inputs.primitive.clone()?;
        let core = cores.at(part)?;
        let way = self.way(b);
        let world = if seeded { self.get(b, "P") } else { b.op(Op::Add, &[way[0], way[1]]) };
        let point = self.to_own_space(b, offset, world, true);
        let origin = self.to_own_space(b, offset, self.inputs.origin, true);
        let direction = self.to_own_space(b, offset, self.inputs.direction, false);
        let t = b.op(Op::Extract(2), &[self.hit]);
        let share = b.f32(AGAIN_FROM);
        let t_min = scale(b, t, share);
        let args = core.inputs(b, |b, slot, param| match (slot, &*param.name) {
            (Some(slot), _) => super::unpack(b, param.ty, |b, k| self.parameter(b, offset + BLOCK_VECTORS + slot + k)),
            (None, "ray.origin") => origin,
            (None, "ray.direction") => direction,
            (None, "ray.t_min") => t_min,
            (None, "ray.t") => t,
            (None, "P") => point,
            (None, "uvw") => world,
            (None, name) => super::of_frame(b, name).unwrap_or_else(|| b.constant(Const::zero(param.ty))),
        });
        let outputs = core.call_with(b, &core.shader.core, args);
        let results = core.shader.core_results.iter();
        let known = results.filter_map(|r| Some((Arc::from(&*r.name), outputs.get(&r.name)?))).collect();
        self.told.known.entry((part, seeded)).or_insert(known).get(name).copied()
    }
}

/// A vector, and another in its place where it is 0.
fn unless_zero(b: &mut FunctionBuilder, v: Value, other: Value) -> Value {
    let (square, nothing) = (b.op(Op::Dot, &[v, v]), b.f32(0.0));
    let is_zero = b.op(Op::Eq, &[square, nothing]);
    b.op(Op::Select, &[is_zero, other, v])
}
