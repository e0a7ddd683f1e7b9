//! The surface's state at a hit: the globals of RISpec 3.2, table 12.1, each computed only when it
//! is used.
//!
//! [`SurfaceState`] writes the code into an entry function. Points and vectors are in world space;
//! entries of instances transform those of the mesh as they read them.

mod procedural;
mod ribbons;

use crate::collect::entries::Constants;
use crate::collect::instances::unpack;
use crate::collect::procedural::PrimitiveCores;
use crate::records::StoredPrimvar;
use crate::records::surface_globals::SURFACE_GLOBALS;
use crate::records::visibility::{DIFFUSE, LAST_REPORTED};
use crate::records::{
    COLORED_VERTEX_VECTORS, ColorStorage, INSTANCE_VECTORS, RecordLayout, TRIANGLE_DATA_VECTORS, VERTEX_VECTORS,
};
use shadewright_geometry::primvar::PrimvarType;
use shadewright_ir::abi::frame::slots;
use shadewright_ir::abi::{Input, input};
use shadewright_ir::{Const, FunctionBuilder, Type, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Parameters of a surface entry, and what the entry knows when it is built.
#[derive(Clone, Debug)]
pub struct SurfaceInputs {
    /// Origin of the ray.
    pub origin: Value,
    /// The direction of the ray.
    pub direction: Value,
    /// The ray depth.
    pub depth: Value,
    /// The ray as `call_shader` passes it: `(width, spread, pdf, kind)`.
    pub ray: Value,
    /// How the object's records lie.
    pub layout: RecordLayout,
    /// True if derivatives are used: the state then carries those by u and v.
    pub differentiated: bool,
    /// The cores of the primitive, if the object is procedural.
    pub primitive: Option<Arc<PrimitiveCores>>,
    /// Which of the object's parameters are constants of the entry, if any.
    pub constants: Option<Constants>,
}

/// Globals at the current hit. Must be made at the start of an entry, and all globals read there:
/// tracing a ray overwrites the hit.
#[derive(Debug)]
pub struct SurfaceState {
    inputs: SurfaceInputs,
    hit: Value,
    triangle: Value,
    object: Value,
    barycentric: Option<[Value; 2]>,
    at_hit: procedural::AtHitResults,
    known: HashMap<&'static str, Value>,
}

/// Named inputs of the ray that hit: the diameter of its cone at the hit, the growth of that per
/// unit of length, the kind of the ray, and the time as a fraction of the shutter interval.
const RAY_INPUTS: [&str; 4] = [input::RAY_FOOTPRINT, input::RAY_SPREAD, input::RAY_KIND, input::RAY_TIME];

impl SurfaceState {
    /// Reads the hit.
    pub fn new(b: &mut FunctionBuilder, inputs: SurfaceInputs) -> Self {
        let hit = b.hit();
        let (triangle, object) = (b.hit_tri(), b.hit_obj());
        Self::at(inputs, hit, [triangle, object])
    }

    /// The state at a given hit, which no ray need have found: `hit` as the operation returns it,
    /// and the addresses of the triangle's and the object's record.
    pub fn at(inputs: SurfaceInputs, hit: Value, [triangle, object]: [Value; 2]) -> Self {
        Self { inputs, hit, triangle, object, barycentric: None, at_hit: Default::default(), known: HashMap::new() }
    }

    /// The value of a global or of a named input of the ray; `None` when a surface has no such
    /// input.
    pub fn global(&mut self, b: &mut FunctionBuilder, name: &str) -> Option<Value> {
        match name {
            input::RAY_ORIGIN => return Some(self.inputs.origin),
            input::RAY_DIRECTION => return Some(self.inputs.direction),
            input::RAY_T => return Some(b.extract(self.hit, 2)),
            "uvw" => return Some(self.solid_texture_coordinates(b)),
            _ if matches!(Input::parse(name), Input::Scratch(_)) => return self.scratch(b, name),
            _ => {}
        }
        let names = SURFACE_GLOBALS.into_iter().map(|(n, _)| n).chain(RAY_INPUTS);
        let name = names.into_iter().find(|n| *n == name)?;
        Some(self.get(b, name))
    }

    /// Vector `i` of the surface instance's parameters, and of what follows them.
    pub fn parameter(&self, b: &mut FunctionBuilder, i: u32) -> Value {
        if let Some(Some(words)) = self.inputs.constants.as_ref().and_then(|constants| constants.get(i as usize)) {
            return b.constant(Const::Vec4(words.map(f32::from_bits)));
        }
        let before = if self.inputs.layout.instanced { INSTANCE_VECTORS } else { 0 };
        self.object_vector(b, before + i)
    }

    /// The ray that hit: its origin, the vector from there to the hit, and its depth.
    pub fn ray_to_hit(&mut self, b: &mut FunctionBuilder) -> [Value; 3] {
        let t = b.extract(self.hit, 2);
        [self.inputs.origin, b.scale(self.inputs.direction, t), self.inputs.depth]
    }

    /// Element `i` of a primitive variable that follows the records, as a value of type `ty`.
    pub fn primvar(&mut self, b: &mut FunctionBuilder, variable: &StoredPrimvar, i: u32, ty: Type) -> Value {
        let first = variable.offset + i * variable.vectors() / variable.array.unwrap_or(1);
        let value = if variable.per_triangle {
            let data = self.address(b, 3);
            unpack(b, ty, |b, k| b.load(data, TRIANGLE_DATA_VECTORS + first + k))
        } else {
            let first = self.inputs.layout.vertex_vectors() + first;
            match ty {
                Type::Mat4 => {
                    let rows = [0, 1, 2, 3].map(|k| self.interpolate(b, first + k, Part::Whole));
                    b.compose(&rows)
                }
                Type::F32 => self.interpolate(b, first, Part::Component(0)),
                _ => self.interpolate(b, first, Part::Xyz),
            }
        };
        match variable.ty {
            PrimvarType::Point if self.inputs.layout.instanced => self.point_to_world(b, value),
            PrimvarType::Vector => self.to_world(b, value, AXES),
            PrimvarType::Normal if self.inputs.layout.instanced => {
                let transformed = self.to_world(b, value, NORMAL_AXES);
                let first = self.object_vector(b, NORMAL_AXES);
                let length = b.extract(first, 3);
                b.scale(transformed, length)
            }
            _ => value,
        }
    }

    fn get(&mut self, b: &mut FunctionBuilder, name: &'static str) -> Value {
        if let Some(&v) = self.known.get(name) {
            return v;
        }
        let own = self.ribbon_value(b, name).or_else(|| self.primitive_value(b, name));
        let v = own.unwrap_or_else(|| self.compute(b, name));
        self.known.insert(name, v);
        v
    }

    fn compute(&mut self, b: &mut FunctionBuilder, name: &'static str) -> Value {
        match name {
            "P" => {
                let t = b.extract(self.hit, 2);
                let along = b.scale(self.inputs.direction, t);
                let p = b.add(self.inputs.origin, along);
                self.seeded(b, p, |state, b| ["dPdu", "dPdv"].map(|name| state.get(b, name)))
            }
            "Ng" => {
                let [ab, ac] = self.edges(b);
                let n = b.cross(ab, ac);
                let n = self.to_world(b, n, NORMAL_AXES);
                let n = b.normalize(n);
                // Where the normals of a mesh contradict the order of its corners, the normals
                // decide which side is the outside.
                let shading = self.get(b, "N");
                let (along, zero) = (b.dot(n, shading), b.f32(0.0));
                let inside = b.lt(along, zero);
                let flipped = b.neg(n);
                b.select(inside, flipped, n)
            }
            "N" => {
                let n = self.mesh_normal(b);
                b.normalize(n)
            }
            "I" => {
                let t = b.extract(self.hit, 2);
                let to_hit = b.scale(self.inputs.direction, t);
                self.seeded(b, to_hit, |state, b| {
                    let (directions, ts) = (state.derivatives_of_direction(b), state.derivatives_of_t(b));
                    [0, 1].map(|i| {
                        let turned = b.scale(directions[i], t);
                        let longer = b.scale(state.inputs.direction, ts[i]);
                        b.add(turned, longer)
                    })
                })
            }
            "E" => b.frame_xyz(slots::CAMERA_ORIGIN),
            "Cs" | "Os" => self.color(b, name == "Os"),
            "s" => self.interpolate(b, 2, Part::Component(0)),
            "t" => self.interpolate(b, 2, Part::Component(1)),
            "u" | "v" => {
                let x = self.interpolate(b, 2, Part::Component(if name == "u" { 2 } else { 3 }));
                let slopes = if name == "u" { [1.0, 0.0] } else { [0.0, 1.0] };
                self.seeded(b, x, |_, b| slopes.map(|slope| b.f32(slope)))
            }
            "dPdu" | "dPdv" => self.tangent(b, name == "dPdu"),
            "du" | "dv" => self.change(b, name == "du"),
            "raydepth" => self.inputs.depth,
            input::RAY_FOOTPRINT => {
                let length = b.length(self.inputs.direction);
                let t = b.extract(self.hit, 2);
                let distance = b.mul(t, length);
                let [width, spread] = [0, 1].map(|c| b.extract(self.inputs.ray, c));
                let growth = b.mul(spread, distance);
                b.add(width, growth)
            }
            input::RAY_SPREAD => b.extract(self.inputs.ray, 1),
            input::RAY_KIND => {
                let kind = b.extract(self.inputs.ray, 3);
                let [last, diffuse] = [LAST_REPORTED, DIFFUSE].map(|kind| b.f32(kind.into()));
                let is_internal = b.lt(last, kind);
                b.select(is_internal, diffuse, kind)
            }
            // Each time sample is a scene at rest.
            "Ci" | "Oi" | "dPdtime" => {
                let zero = b.f32(0.0);
                b.splat(zero, Type::Vec3)
            }
            _ => frame_value(b, name).unwrap_or_else(|| b.f32(0.0)),
        }
    }

    fn color(&mut self, b: &mut FunctionBuilder, opacity: bool) -> Value {
        let layout = &self.inputs.layout;
        let (storage, vertex) =
            if opacity { (layout.opacity, COLORED_VERTEX_VECTORS - 1) } else { (layout.color, VERTEX_VECTORS) };
        let v = match storage {
            ColorStorage::Vertices => return self.interpolate(b, vertex, Part::Xyz),
            ColorStorage::Triangles => {
                let data = self.address(b, 3);
                b.load(data, u32::from(opacity))
            }
            ColorStorage::Object => self.object_vector(b, COLORS + u32::from(opacity)),
        };
        b.xyz(v)
    }

    /// A point of the space of an instance's mesh in world space.
    fn point_to_world(&self, b: &mut FunctionBuilder, point: Value) -> Value {
        let rotated = self.to_world(b, point, AXES);
        let origin = [0, 1, 2].map(|axis| {
            let axis = self.object_vector(b, AXES + axis);
            b.extract(axis, 3)
        });
        let origin = b.compose(&origin);
        b.add(rotated, origin)
    }

    /// A vector of the mesh's space in world space, by the images of the axes from vector `axes` of
    /// the object on. Points are never moved: `P` lies on the ray.
    fn to_world(&self, b: &mut FunctionBuilder, v: Value, axes: u32) -> Value {
        if !self.inputs.layout.instanced {
            return v;
        }
        let [x, y, z] = [0, 1, 2].map(|i| {
            let axis = self.object_vector(b, axes + u32::from(i));
            let axis = b.xyz(axis);
            let along = b.extract(v, i);
            b.scale(axis, along)
        });
        let xy = b.add(x, y);
        b.add(xy, z)
    }

    /// Vector `i` after the first of the object's record.
    fn object_vector(&self, b: &mut FunctionBuilder, i: u32) -> Value {
        b.load(self.object, 1 + i)
    }

    /// The address of vertex 0, 1 or 2, or (3) of the triangle data.
    fn address(&mut self, b: &mut FunctionBuilder, i: u8) -> Value {
        let record = b.load(self.triangle, 0);
        let word = b.extract(record, i);
        b.bitcast(word, Type::Ref)
    }

    /// Vector `k` of each vertex record.
    fn vertex_vectors(&mut self, b: &mut FunctionBuilder, k: u32) -> [Value; 3] {
        [0, 1, 2].map(|i| {
            let vertex = self.address(b, i);
            b.load(vertex, k)
        })
    }

    /// Edges A→B and A→C in the mesh's space.
    fn edges(&mut self, b: &mut FunctionBuilder) -> [Value; 2] {
        self.differences(b, 0)
    }

    /// The differences of vector `k` of the vertex records from A to B and from A to C.
    fn differences(&mut self, b: &mut FunctionBuilder, k: u32) -> [Value; 2] {
        let [p, q, r] = self.vertex_vectors(b, k).map(|v| b.xyz(v));
        [b.sub(q, p), b.sub(r, p)]
    }

    /// Vector `k` of the vertices (or a part of it) at the hit's barycentric point: `a + u·(b − a) + v·(c − a)`.
    fn interpolate(&mut self, b: &mut FunctionBuilder, k: u32, part: Part) -> Value {
        let [p, q, r] = self.vertex_vectors(b, k).map(|v| match part {
            Part::Component(c) => b.extract(v, c),
            Part::Xyz => b.xyz(v),
            Part::Whole => v,
        });
        let [u, v] = self.barycentric(b);
        let ab = b.sub(q, p);
        let ac = b.sub(r, p);
        let along_ab = b.scale(ab, u);
        let along_ac = b.scale(ac, v);
        let near = b.add(p, along_ab);
        b.add(near, along_ac)
    }

    /// The value, with its derivatives by u and v where derivatives are used.
    fn seeded(
        &mut self,
        b: &mut FunctionBuilder,
        value: Value,
        derivatives: impl FnOnce(&mut Self, &mut FunctionBuilder) -> [Value; 2],
    ) -> Value {
        if !self.inputs.differentiated {
            return value;
        }
        let [by_u, by_v] = derivatives(self, b);
        b.seed(value, by_u, by_v)
    }

    /// The coordinates of the hit in its triangle, from which all that is interpolated has its
    /// derivatives.
    fn barycentric(&mut self, b: &mut FunctionBuilder) -> [Value; 2] {
        if let Some(known) = self.barycentric {
            return known;
        }
        let at = [0, 1].map(|c| b.extract(self.hit, c));
        let seeded = match self.inputs.differentiated {
            true => {
                let [by_u, by_v] = self.slopes(b);
                [0, 1].map(|i| b.seed(at[i], by_u[i], by_v[i]))
            }
            false => at,
        };
        *self.barycentric.insert(seeded)
    }

    /// The derivatives of the barycentric coordinates by u, and by v, from the corners' `u, v`.
    /// Where those are degenerate, the barycentric coordinates stand for u and v.
    fn slopes(&mut self, b: &mut FunctionBuilder) -> [[Value; 2]; 2] {
        let corner = self.vertex_vectors(b, 2).map(|v| [2, 3].map(|c| b.extract(v, c)));
        let [du1, dv1] = [0, 1].map(|c| b.sub(corner[1][c], corner[0][c]));
        let [du2, dv2] = [0, 1].map(|c| b.sub(corner[2][c], corner[0][c]));
        let (left, right) = (b.mul(du1, dv2), b.mul(dv1, du2));
        let det = b.sub(left, right);
        let reciprocal = b.rcp(det);
        let negative = b.neg(reciprocal);
        let (zero, one) = (b.f32(0.0), b.f32(1.0));
        let degenerate = b.eq(det, zero);
        let mut solve = |x, factor, otherwise| {
            let solved = b.mul(x, factor);
            b.select(degenerate, otherwise, solved)
        };
        let by_u = [solve(dv2, reciprocal, one), solve(dv1, negative, zero)];
        let by_v = [solve(du2, negative, zero), solve(du1, reciprocal, one)];
        [by_u, by_v]
    }

    /// `dPdu` or `dPdv`.
    ///
    /// A triangle approximates a smooth surface, whose tangents are perpendicular to the shading
    /// normal: the triangle's own tangent is projected into that plane. So `dPdu ^ dPdv` and
    /// `calculatenormal(P)` have the direction of `N`, displacement shows no facets, and on flat
    /// faces only rounding changes.
    fn tangent(&mut self, b: &mut FunctionBuilder, by_u: bool) -> Value {
        let flat = self.flat_tangent(b, by_u);
        let n = self.get(b, "N");
        perpendicular(b, flat, n)
    }

    /// The tangent of the triangle itself.
    fn flat_tangent(&mut self, b: &mut FunctionBuilder, by_u: bool) -> Value {
        let flat = self.change_of(b, 0, by_u);
        self.to_world(b, flat, AXES)
    }

    /// The derivative by u or v of vector `k` of the vertex records, in the mesh's space.
    fn change_of(&mut self, b: &mut FunctionBuilder, k: u32, by_u: bool) -> Value {
        let [ab, ac] = self.differences(b, k);
        let slopes = self.slopes(b)[usize::from(!by_u)];
        let (first, second) = (b.scale(ab, slopes[0]), b.scale(ac, slopes[1]));
        b.add(first, second)
    }

    /// The interpolated normal of the mesh, in world space: shorter than 1 between vertices whose
    /// normals differ.
    fn mesh_normal(&mut self, b: &mut FunctionBuilder) -> Value {
        let n = self.interpolate(b, 1, Part::Xyz);
        self.to_world(b, n, NORMAL_AXES)
    }

    /// The unit vector along the ray.
    fn along(&mut self, b: &mut FunctionBuilder) -> Value {
        b.normalize(self.inputs.direction)
    }

    /// The derivatives of the ray's parameter at the hit by u and v: the components of the tangents
    /// along the ray.
    fn derivatives_of_t(&mut self, b: &mut FunctionBuilder) -> [Value; 2] {
        let along = self.along(b);
        let length = b.length(self.inputs.direction);
        let inverse = b.rcp(length);
        ["dPdu", "dPdv"].map(|name| {
            let tangent = self.get(b, name);
            let component = b.dot(tangent, along);
            b.mul(component, inverse)
        })
    }

    /// The derivatives of the ray's direction by u and v: the rays of the cone come from its apex,
    /// which lies `width / spread` before the origin, and have the length of this one.
    fn derivatives_of_direction(&mut self, b: &mut FunctionBuilder) -> [Value; 2] {
        let along = self.along(b);
        let footprint = self.get(b, input::RAY_FOOTPRINT);
        let length = b.length(self.inputs.direction);
        let inverse = b.rcp(footprint);
        let spread = self.get(b, input::RAY_SPREAD);
        let per_length = b.mul(spread, inverse);
        let turn = b.mul(per_length, length);
        let zero = b.f32(0.0);
        let parallel = b.eq(footprint, zero);
        let turn = b.select(parallel, zero, turn);
        ["dPdu", "dPdv"].map(|name| {
            let tangent = self.get(b, name);
            let across = perpendicular(b, tangent, along);
            b.scale(across, turn)
        })
    }

    /// `du` or `dv`: the change of u or v between the centers of the footprints of adjacent samples.
    ///
    /// The footprint on the surface is what the ray's cone cuts out of the tangent plane: steps `(x, y)` in u and v with `|x·p + y·q| ≤ ½·footprint`, where `p` and `q` are `dPdu` and `dPdv` across the ray.
    /// The change is the width of that ellipse along u: `footprint · |q| / |p × q|`, which is `footprint / |dPdu|` at normal incidence on perpendicular tangents.
    fn change(&mut self, b: &mut FunctionBuilder, of_u: bool) -> Value {
        let along = self.along(b);
        let [u, v] = ["dPdu", "dPdv"].map(|name| self.get(b, name));
        let other = perpendicular(b, if of_u { v } else { u }, along);
        let other = b.length(other);
        let area = b.cross(u, v);
        // |p × q| is the component of dPdu × dPdv along the ray. The footprint of a grazing ray is unbounded.
        let across = b.dot(area, along);
        let across = b.abs(across);
        let size = b.length(area);
        let steepest = b.f32(LEAST_COSINE);
        let least = b.mul(size, steepest);
        let across = b.max(across, least);
        let inverse = b.rcp(across);
        let ratio = b.mul(other, inverse);
        let footprint = self.get(b, input::RAY_FOOTPRINT);
        let change = b.mul(footprint, ratio);
        let zero = b.f32(0.0);
        let nothing = b.eq(size, zero);
        b.select(nothing, zero, change)
    }
}

/// Components of a vector.
#[derive(Clone, Copy)]
enum Part {
    /// One number.
    Component(u8),
    /// The first three.
    Xyz,
    /// All four.
    Whole,
}

/// The smallest cosine between a ray and a normal for which footprints grow: that of a ray in the
/// plane of the surface is unbounded.
const LEAST_COSINE: f32 = 1.0e-4;

/// Vectors of an instance's object record, after its first: images of the axes, of normals along
/// them, `Cs` and `Os`.
const AXES: u32 = 0;
const NORMAL_AXES: u32 = 3;
const COLORS: u32 = 6;

/// The value of an input that is the same for all shaders of a frame, whatever their kind:
/// `ncomps`, `time`, `dtime`, or `ray.time`, the time as a fraction of the shutter interval.
pub fn frame_value(b: &mut FunctionBuilder, name: &str) -> Option<Value> {
    Some(match name {
        "ncomps" => b.f32(3.0),
        "time" => b.frame(slots::TIME),
        "dtime" => b.frame(slots::SHUTTER_TIME),
        input::RAY_TIME => {
            let [now, open, length] = [slots::TIME, slots::SHUTTER_OPEN, slots::SHUTTER_TIME].map(|slot| b.frame(slot));
            let since = b.sub(now, open);
            let inverse = b.rcp(length);
            let fraction = b.mul(since, inverse);
            let zero = b.f32(0.0);
            let is_still = b.eq(length, zero);
            b.select(is_still, zero, fraction)
        }
        _ => return None,
    })
}

/// The component of a vector perpendicular to a unit vector; all of it for the zero vector.
fn perpendicular(b: &mut FunctionBuilder, v: Value, to: Value) -> Value {
    let dot = b.dot(v, to);
    let part = b.scale(to, dot);
    b.sub(v, part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::RibbonCoordinates;
    use shadewright_ir::abi::EntryPoint;

    #[test]
    fn every_listed_global_has_the_type_that_the_table_says() {
        let storages = [ColorStorage::Vertices, ColorStorage::Triangles, ColorStorage::Object];
        let ribbons = [None, Some(RibbonCoordinates::Parameters), Some(RibbonCoordinates::Given)];
        let layouts = [false, true].into_iter().flat_map(|instanced| storages.map(|storage| (instanced, storage)));
        let layouts = layouts.flat_map(|(instanced, storage)| ribbons.map(|ribbons| (instanced, storage, ribbons)));
        for (instanced, storage, ribbons) in layouts {
            let layout = RecordLayout {
                instanced,
                color: storage,
                opacity: storage,
                ribbons,
                primvars: Default::default(),
                procedural: None,
            };
            let mut b = FunctionBuilder::entry(EntryPoint::Surface(0));
            let origin = b.param("orig", Type::Vec3);
            let direction = b.param("dir", Type::Vec3);
            let depth = b.param("depth", Type::F32);
            let ray = b.param("ray", Type::Vec4);
            let mut state = SurfaceState::new(
                &mut b,
                SurfaceInputs {
                    origin,
                    direction,
                    depth,
                    ray,
                    layout,
                    differentiated: true,
                    primitive: None,
                    constants: None,
                },
            );
            for (name, ty) in SURFACE_GLOBALS {
                let v = state.global(&mut b, name);
                assert_eq!(v.map(|v| b.ty(v)), Some(ty), "{name}");
            }
            assert_eq!(state.global(&mut b, "Cl"), None);
        }
    }
}
