//! The surface state of procedural primitives: methods of the class run for the globals that are
//! used, and no others.
//!
//! Where the class has no method, the normal is that of the tangents, the tangents are any two
//! perpendicular to the normal, and texture coordinates are the point in world space (Parker et al.
//! 2007, §3.4).

use super::{AXES, NORMAL_AXES, SurfaceState};
use crate::layout::procedural::{BLOCK_VECTORS, PDF_SCALE};
use shadewright_ir::abi::input;
use shadewright_ir::{Const, FunctionBuilder, Type, Value};
use shadewright_lang::rtsl::AtHit;
use std::collections::HashMap;
use std::sync::Arc;

/// The results of cores that were called, by their names.
#[derive(Debug, Default)]
pub(super) struct AtHitResults {
    known: HashMap<(AtHit, bool), HashMap<Arc<str>, Value>>,
}

/// `intersect` searches for the hit again from this fraction of its distance on.
const RESUME_AT: f32 = 0.999;

/// Components of normals along an axis beyond which another axis makes tangents.
const STEEP: f32 = 0.5;

impl SurfaceState {
    /// The value of a global that the procedural primitive computes itself.
    pub(super) fn primitive_value(&mut self, b: &mut FunctionBuilder, name: &'static str) -> Option<Value> {
        self.inputs.layout.procedural?;
        Some(match name {
            "N" | "Ng" => self.world_normal(b, name, true),
            "dPdu" | "dPdv" => {
                let [u, v] = self.tangents(b);
                if name == "dPdu" { u } else { v }
            }
            "u" | "v" => {
                let coordinates = self.texture_coordinates(b);
                let (i, slopes) = if name == "u" { (0, [1.0, 0.0]) } else { (1, [0.0, 1.0]) };
                let x = b.extract(coordinates, i);
                self.seeded(b, x, |_, b| slopes.map(|slope| b.f32(slope)))
            }
            "s" | "t" => {
                let coordinates = self.texture_coordinates(b);
                let (i, slopes) = if name == "s" { (0, ["dsdu", "dsdv"]) } else { (1, ["dtdu", "dtdv"]) };
                let x = b.extract(coordinates, i);
                match slopes.map(|slope| self.at_hit_result(b, AtHit::Texture, false, slope)) {
                    [Some(by_u), Some(by_v)] => self.seeded(b, x, |_, _| [by_u, by_v]),
                    // Its derivatives are those of the point.
                    _ => x,
                }
            }
            _ => return None,
        })
    }

    /// Texture coordinates in three dimensions.
    pub(super) fn solid_texture_coordinates(&mut self, b: &mut FunctionBuilder) -> Value {
        self.at_hit_result(b, AtHit::Texture, true, "uvw").unwrap_or_else(|| self.get(b, "P"))
    }

    /// Returns the value that `intersect` has left in a `scratch` variable, by the name of its
    /// input.
    pub(super) fn scratch(&mut self, b: &mut FunctionBuilder, name: &str) -> Option<Value> {
        self.at_hit_result(b, AtHit::Scratch, false, name)
    }

    /// Texture coordinates in two dimensions at least; where they are the point in world space they
    /// have its derivatives.
    fn texture_coordinates(&mut self, b: &mut FunctionBuilder) -> Value {
        self.at_hit_result(b, AtHit::Texture, false, "uv").unwrap_or_else(|| self.get(b, "P"))
    }

    /// `dPdu` and `dPdv`, which have no derivatives.
    fn tangents(&mut self, b: &mut FunctionBuilder) -> [Value; 2] {
        let own = ["dPdu", "dPdv"].map(|name| self.at_hit_result(b, AtHit::Derivatives, false, name));
        if let [Some(u), Some(v)] = own {
            return [u, v].map(|v| self.to_world(b, v, AXES));
        }
        let normal = self.world_normal(b, "N", false);
        let along = b.extract(normal, 0);
        let along = b.abs(along);
        let steep = b.f32(STEEP);
        let is_steep = b.lt(steep, along);
        let [x, y] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(|axis| b.vec3(axis));
        let axis = b.select(is_steep, y, x);
        let u = b.cross(axis, normal);
        let u = b.normalize(u);
        let v = b.cross(normal, u);
        [u, v]
    }

    /// A unit normal in world space.
    fn world_normal(&mut self, b: &mut FunctionBuilder, name: &str, seeded: bool) -> Value {
        let normal = self.own_normal(b, name, seeded);
        let normal = self.to_world(b, normal, NORMAL_AXES);
        // Without one the surface faces the ray.
        let back = b.neg(self.inputs.direction);
        let normal = unless_zero(b, normal, back);
        b.normalize(normal)
    }

    /// The normal in the primitive's space, of any length; 0 where the class computes none.
    fn own_normal(&mut self, b: &mut FunctionBuilder, name: &str, seeded: bool) -> Value {
        let zero = b.constant(Const::zero(Type::Vec3));
        let own = [name, if name == "N" { "Ng" } else { "N" }].map(|n| self.at_hit_result(b, AtHit::Normal, seeded, n));
        let [own, other] = own.map(|n| n.unwrap_or(zero));
        let mut normal = unless_zero(b, own, other);
        let tangents = ["dPdu", "dPdv"].map(|n| self.at_hit_result(b, AtHit::Normal, seeded, n));
        if let [Some(u), Some(v)] = tangents {
            let across = b.cross(u, v);
            normal = unless_zero(b, normal, across);
        }
        normal
    }

    /// A point sampled on the primitive, in world space, as seen from the ray's origin; `None`
    /// where the class does not sample points.
    pub fn sampled_point(&self, b: &mut FunctionBuilder, numbers: [Value; 2]) -> Option<Value> {
        let offset = self.inputs.layout.procedural?.offset;
        let cores = self.inputs.primitive.clone()?;
        let core = cores.sample.as_ref()?;
        let origin = self.to_own_space(b, offset, self.inputs.origin, true);
        let args = core.inputs(b, |b, slot, param| match (slot, &*param.name) {
            (Some(slot), _) => super::unpack(b, param.ty, |b, k| self.parameter(b, offset + BLOCK_VECTORS + slot + k)),
            (None, input::RAY_ORIGIN) => origin,
            (None, input::RAY_T) => b.f32(f32::MAX),
            (None, input::SEED_X) => numbers[0],
            (None, input::SEED_Y) => numbers[1],
            (None, name) => super::frame_value(b, name).unwrap_or_else(|| b.constant(Const::zero(param.ty))),
        });
        let point = core.call_with(b, &core.shader.core, args).get("P")?;
        Some(self.point_to_world(b, point))
    }

    /// The pdf of [`Self::sampled_point`] by solid angle, in the direction of the ray, which has
    /// length 1; `None` where the class does not sample points.
    ///
    /// A cone `dω` sweeps a volume of `t² dω` per unit of distance at the distance `t`. In the
    /// primitive's own space it cuts the area `dA` out of the surface: that volume, transformed to
    /// that space, over the cosine between direction and normal there.
    pub fn pdf_of_sampled_points(&mut self, b: &mut FunctionBuilder) -> Option<Value> {
        let offset = self.inputs.layout.procedural?.offset;
        let pdf = self.at_hit_result(b, AtHit::Pdf, false, "pdf")?;
        let direction = self.to_own_space(b, offset, self.inputs.direction, false);
        let normal = self.own_normal(b, "Ng", false);
        let normal = unless_zero(b, normal, direction);
        let normal = b.normalize(normal);
        let cosine = b.dot(normal, direction);
        let cosine = b.abs(cosine);
        let least = b.f32(f32::MIN_POSITIVE);
        let cosine = b.max(cosine, least);
        let head = self.parameter(b, offset);
        let pdf_scale = b.extract(head, PDF_SCALE);
        let pdf = b.mul(pdf, pdf_scale);
        let t = b.extract(self.hit, 2);
        let square = b.mul(t, t);
        let pdf = b.mul(pdf, square);
        let reciprocal = b.rcp(cosine);
        Some(b.mul(pdf, reciprocal))
    }

    /// A point or a vector of world space in the space of the primitive, whose block follows
    /// `offset` vectors of parameters.
    fn to_own_space(&self, b: &mut FunctionBuilder, offset: u32, v: Value, is_point: bool) -> Value {
        let parts = [0, 1, 2].map(|i| {
            let row = self.parameter(b, offset + 1 + i);
            let axis = b.xyz(row);
            let along = b.dot(axis, v);
            match is_point {
                true => {
                    let origin = b.extract(row, 3);
                    b.add(along, origin)
                }
                false => along,
            }
        });
        b.compose(&parts)
    }

    /// A result of the core that computes a part of the state, in the primitive's space; `None`
    /// where its class leaves that to the renderer. With `seeded` it has its derivatives by u and
    /// v.
    fn at_hit_result(&mut self, b: &mut FunctionBuilder, part: AtHit, seeded: bool, name: &str) -> Option<Value> {
        let seeded = seeded && self.inputs.differentiated;
        if let Some(known) = self.at_hit.known.get(&(part, seeded)) {
            return known.get(name).copied();
        }
        let offset = self.inputs.layout.procedural?.offset;
        let cores = self.inputs.primitive.clone()?;
        let core = cores.at(part)?;
        let ray = self.ray_to_hit(b);
        let world = if seeded { self.get(b, "P") } else { b.add(ray[0], ray[1]) };
        let point = self.to_own_space(b, offset, world, true);
        let origin = self.to_own_space(b, offset, self.inputs.origin, true);
        let direction = self.to_own_space(b, offset, self.inputs.direction, false);
        let t = b.extract(self.hit, 2);
        let fraction = b.f32(RESUME_AT);
        let t_min = b.scale(t, fraction);
        let args = core.inputs(b, |b, slot, param| match (slot, &*param.name) {
            (Some(slot), _) => super::unpack(b, param.ty, |b, k| self.parameter(b, offset + BLOCK_VECTORS + slot + k)),
            (None, input::RAY_ORIGIN) => origin,
            (None, input::RAY_DIRECTION) => direction,
            (None, input::RAY_T_MIN) => t_min,
            (None, input::RAY_T) => t,
            (None, "P") => point,
            (None, "uvw") => world,
            (None, name) => super::frame_value(b, name).unwrap_or_else(|| b.constant(Const::zero(param.ty))),
        });
        let outputs = core.call_with(b, &core.shader.core, args);
        let results = core.shader.core_results.iter();
        let known = results.filter_map(|r| Some((Arc::from(&*r.name), outputs.get(&r.name)?))).collect();
        self.at_hit.known.entry((part, seeded)).or_insert(known).get(name).copied()
    }
}

/// A vector, or another where it is 0.
fn unless_zero(b: &mut FunctionBuilder, v: Value, other: Value) -> Value {
    let (square, zero) = (b.dot(v, v), b.f32(0.0));
    let is_zero = b.eq(square, zero);
    b.select(is_zero, other, v)
}
