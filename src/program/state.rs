//! The surface's state at a hit: the globals of RISpec 3.2, table 12.1, each computed only when something asks for it.
//!
//! [`SurfaceState`] writes the code into an entry function. Points and vectors are in world space; those of an instance's mesh are moved there
//! as they are read, which only entries of instances do.

use super::instances::unpack;
use super::memory::{
    COLORED_VERTEX_VECTORS, ColorPlace, INSTANCE_VECTORS, RecordLayout, TRIANGLE_DATA_VECTORS, VERTEX_VECTORS,
};
use super::primvars::StoredPrimvar;
use crate::geometry::primvar::PrimvarType;
use crate::ir::{FunctionBuilder, Op, Type, Value};
use std::collections::HashMap;

/// Parameters of a surface entry, and what the entry knows when it is built.
#[derive(Clone, Debug)]
pub struct SurfaceInputs {
    /// Origin of the ray.
    pub origin: Value,
    /// Its direction.
    pub direction: Value,
    /// How many rays led here.
    pub depth: Value,
    /// How the object's records lie.
    pub layout: RecordLayout,
}

/// Globals at the current hit. Must be made at the start of an entry, before any ray is shot, and all globals asked for there.
#[derive(Debug)]
pub struct SurfaceState {
    inputs: SurfaceInputs,
    hit: Value,
    triangle: Value,
    known: HashMap<&'static str, Value>,
}

/// The names that [`SurfaceState::global`] knows, with their types.
pub const SURFACE_GLOBALS: [(&str, Type); 21] = [
    ("P", Type::Vec3),
    ("N", Type::Vec3),
    ("Ng", Type::Vec3),
    ("I", Type::Vec3),
    ("E", Type::Vec3),
    ("Cs", Type::Vec3),
    ("Os", Type::Vec3),
    ("dPdu", Type::Vec3),
    ("dPdv", Type::Vec3),
    ("s", Type::F32),
    ("t", Type::F32),
    ("u", Type::F32),
    ("v", Type::F32),
    ("du", Type::F32),
    ("dv", Type::F32),
    ("ncomps", Type::F32),
    ("time", Type::F32),
    ("dtime", Type::F32),
    ("raydepth", Type::F32),
    ("Ci", Type::Vec3),
    ("Oi", Type::Vec3),
];

impl SurfaceState {
    /// Reads the hit.
    pub fn new(b: &mut FunctionBuilder, inputs: SurfaceInputs) -> Self {
        let hit = b.op(Op::Hit, &[]);
        let triangle = b.op(Op::HitTri, &[]);
        Self { inputs, hit, triangle, known: HashMap::new() }
    }

    /// The value of a global; `None` when a surface has no such global.
    pub fn global(&mut self, b: &mut FunctionBuilder, name: &str) -> Option<Value> {
        match name {
            "ray.origin" => return Some(self.inputs.origin),
            "ray.direction" => return Some(self.inputs.direction),
            _ => {}
        }
        let (name, _) = SURFACE_GLOBALS.into_iter().find(|(n, _)| *n == name)?;
        Some(self.get(b, name))
    }

    /// Vector `i` of the surface instance's parameters.
    pub fn parameter(&self, b: &mut FunctionBuilder, i: u32) -> Value {
        let before = if self.inputs.layout.instanced { INSTANCE_VECTORS } else { 0 };
        object_vector(b, before + i)
    }

    /// The ray that hit: where it starts, from there to the hit, and how many rays led to it.
    pub fn way(&mut self, b: &mut FunctionBuilder) -> [Value; 3] {
        let t = b.op(Op::Extract(2), &[self.hit]);
        [self.inputs.origin, scale(b, self.inputs.direction, t), self.inputs.depth]
    }

    /// Element `i` of a primitive variable that lies behind the records, as a value of type `ty`.
    pub fn primvar(&mut self, b: &mut FunctionBuilder, variable: &StoredPrimvar, i: u32, ty: Type) -> Value {
        let first = variable.offset + i * variable.vectors() / variable.array.unwrap_or(1);
        let value = if variable.per_triangle {
            let data = self.address(b, 3);
            unpack(b, ty, |b, k| b.op(Op::Load(TRIANGLE_DATA_VECTORS + first + k), &[data]))
        } else {
            let first = self.inputs.layout.vertex_vectors() + first;
            match ty {
                Type::Mat4 => {
                    let rows = [0, 1, 2, 3].map(|k| self.interpolate(b, first + k, Part::Whole));
                    b.op(Op::Compose, &rows)
                }
                Type::F32 => self.interpolate(b, first, Part::Component(0)),
                _ => self.interpolate(b, first, Part::Xyz),
            }
        };
        match variable.ty {
            PrimvarType::Point if self.inputs.layout.instanced => {
                let turned = self.to_world(b, value, AXES);
                let origin = [0, 1, 2].map(|axis| {
                    let axis = object_vector(b, AXES + axis);
                    b.op(Op::Extract(3), &[axis])
                });
                let origin = b.op(Op::Compose, &origin);
                b.op(Op::Add, &[turned, origin])
            }
            PrimvarType::Vector => self.to_world(b, value, AXES),
            PrimvarType::Normal if self.inputs.layout.instanced => {
                let turned = self.to_world(b, value, NORMAL_AXES);
                let first = object_vector(b, NORMAL_AXES);
                let length = b.op(Op::Extract(3), &[first]);
                scale(b, turned, length)
            }
            _ => value,
        }
    }

    fn get(&mut self, b: &mut FunctionBuilder, name: &'static str) -> Value {
        if let Some(&v) = self.known.get(name) {
            return v;
        }
        let v = self.compute(b, name);
        self.known.insert(name, v);
        v
    }

    fn compute(&mut self, b: &mut FunctionBuilder, name: &'static str) -> Value {
        match name {
            "P" => {
                let t = b.op(Op::Extract(2), &[self.hit]);
                let along = scale(b, self.inputs.direction, t);
                b.op(Op::Add, &[self.inputs.origin, along])
            }
            "Ng" => {
                let [ab, ac] = self.edges(b);
                let n = b.op(Op::Cross, &[ab, ac]);
                let n = self.to_world(b, n, NORMAL_AXES);
                normalize(b, n)
            }
            "N" => {
                let n = self.interpolate(b, 1, Part::Xyz);
                let n = self.to_world(b, n, NORMAL_AXES);
                normalize(b, n)
            }
            "I" => self.inputs.direction,
            "E" => {
                let origin = b.op(Op::Uniform(5), &[]);
                xyz(b, origin)
            }
            "Cs" | "Os" => self.color(b, name == "Os"),
            "s" => self.interpolate(b, 2, Part::Component(0)),
            "t" => self.interpolate(b, 2, Part::Component(1)),
            "u" => self.interpolate(b, 2, Part::Component(2)),
            "v" => self.interpolate(b, 2, Part::Component(3)),
            "dPdu" | "dPdv" => {
                let derivative = self.derivative(b, name == "dPdu");
                self.to_world(b, derivative, AXES)
            }
            "raydepth" => self.inputs.depth,

            // There are no ray differentials: a sample stands for no area.
            "Ci" | "Oi" => {
                let zero = b.f32(0.0);
                b.op_as(Op::Splat, &[zero], Type::Vec3)
            }
            _ => of_frame(b, name).unwrap_or_else(|| b.f32(0.0)),
        }
    }

    fn color(&mut self, b: &mut FunctionBuilder, opacity: bool) -> Value {
        let layout = &self.inputs.layout;
        let (place, vertex) =
            if opacity { (layout.opacity, COLORED_VERTEX_VECTORS - 1) } else { (layout.color, VERTEX_VECTORS) };
        let v = match place {
            ColorPlace::Vertices => return self.interpolate(b, vertex, Part::Xyz),
            ColorPlace::Triangles => {
                let data = self.address(b, 3);
                b.op(Op::Load(u32::from(opacity)), &[data])
            }
            ColorPlace::Object => object_vector(b, COLORS + u32::from(opacity)),
        };
        xyz(b, v)
    }

    /// A vector of the mesh's space in world space, by the images of the axes from vector `axes` of the object on. Points are never moved: `P` lies on the ray.
    fn to_world(&self, b: &mut FunctionBuilder, v: Value, axes: u32) -> Value {
        if !self.inputs.layout.instanced {
            return v;
        }
        let [x, y, z] = [0, 1, 2].map(|i| {
            let axis = object_vector(b, axes + u32::from(i));
            let axis = xyz(b, axis);
            let along = b.op(Op::Extract(i), &[v]);
            scale(b, axis, along)
        });
        let xy = b.op(Op::Add, &[x, y]);
        b.op(Op::Add, &[xy, z])
    }

    /// The address of vertex 0, 1 or 2, or (3) of the triangle data.
    fn address(&mut self, b: &mut FunctionBuilder, i: u8) -> Value {
        let record = b.op(Op::Load(0), &[self.triangle]);
        let word = b.op(Op::Extract(i), &[record]);
        b.op_as(Op::Bitcast, &[word], Type::Ref)
    }

    /// Vector `k` of each vertex record.
    fn vertex_vectors(&mut self, b: &mut FunctionBuilder, k: u32) -> [Value; 3] {
        [0, 1, 2].map(|i| {
            let vertex = self.address(b, i);
            b.op(Op::Load(k), &[vertex])
        })
    }

    /// Edges A→B and A→C in the mesh's space.
    fn edges(&mut self, b: &mut FunctionBuilder) -> [Value; 2] {
        let [p, q, r] = self.vertex_vectors(b, 0).map(|v| xyz(b, v));
        [b.op(Op::Sub, &[q, p]), b.op(Op::Sub, &[r, p])]
    }

    /// Vector `k` of the vertices (or a part of it) at the hit's barycentric point: `a + u·(b − a) + v·(c − a)`.
    fn interpolate(&mut self, b: &mut FunctionBuilder, k: u32, part: Part) -> Value {
        let [p, q, r] = self.vertex_vectors(b, k).map(|v| match part {
            Part::Component(c) => b.op(Op::Extract(c), &[v]),
            Part::Xyz => xyz(b, v),
            Part::Whole => v,
        });
        let [u, v] = [0, 1].map(|c| b.op(Op::Extract(c), &[self.hit]));
        let ab = b.op(Op::Sub, &[q, p]);
        let ac = b.op(Op::Sub, &[r, p]);
        let along_ab = scale(b, ab, u);
        let along_ac = scale(b, ac, v);
        let near = b.op(Op::Add, &[p, along_ab]);
        b.op(Op::Add, &[near, along_ac])
    }

    /// `dPdu` or `dPdv` in the mesh's space from the triangle's corners and their `u, v`; an edge where those do not span a plane.
    fn derivative(&mut self, b: &mut FunctionBuilder, by_u: bool) -> Value {
        let [ab, ac] = self.edges(b);
        let corner = self.vertex_vectors(b, 2).map(|v| [2, 3].map(|c| b.op(Op::Extract(c), &[v])));
        let sub = |b: &mut FunctionBuilder, x, y| b.op(Op::Sub, &[x, y]);
        let mul = |b: &mut FunctionBuilder, x, y| b.op(Op::Mul, &[x, y]);
        let [du1, dv1] = [0, 1].map(|c| sub(b, corner[1][c], corner[0][c]));
        let [du2, dv2] = [0, 1].map(|c| sub(b, corner[2][c], corner[0][c]));
        let (left, right) = (mul(b, du1, dv2), mul(b, dv1, du2));
        let det = sub(b, left, right);
        let (first, second, fallback) = if by_u { ((ab, dv2), (ac, dv1), ab) } else { ((ac, du1), (ab, du2), ac) };
        let (first, second) = (scale(b, first.0, first.1), scale(b, second.0, second.1));
        let numerator = sub(b, first, second);
        let reciprocal = b.op(Op::Rcp, &[det]);
        let solved = scale(b, numerator, reciprocal);
        let zero = b.f32(0.0);
        let degenerate = b.op(Op::Eq, &[det, zero]);
        b.op(Op::Select, &[degenerate, fallback, solved])
    }
}

/// What is wanted of a vector.
#[derive(Clone, Copy)]
enum Part {
    /// One number.
    Component(u8),
    /// The first three.
    Xyz,
    /// All four.
    Whole,
}

/// Vectors of an instance's object record, behind its first: images of the axes, of normals along them, `Cs` and `Os`.
const AXES: u32 = 0;
const NORMAL_AXES: u32 = 3;
const COLORS: u32 = 6;

/// Vector `i` behind the first of the object record at the hit.
fn object_vector(b: &mut FunctionBuilder, i: u32) -> Value {
    let object = b.op(Op::HitObj, &[]);
    b.op(Op::Load(1 + i), &[object])
}

/// The first three components of a `vec4`.
pub fn xyz(b: &mut FunctionBuilder, v: Value) -> Value {
    let parts = [0, 1, 2].map(|c| b.op(Op::Extract(c), &[v]));
    b.op(Op::Compose, &parts)
}

/// The value of a global that is the same for all shaders of a frame, whatever their kind: `ncomps`, `time` or `dtime`.
pub fn of_frame(b: &mut FunctionBuilder, name: &str) -> Option<Value> {
    let component = match name {
        "ncomps" => return Some(b.f32(3.0)),
        "time" => 0,
        "dtime" => 3,
        _ => return None,
    };
    let shutter = b.op(Op::Uniform(9), &[]);
    Some(b.op(Op::Extract(component), &[shutter]))
}

/// A vector times a float; a float times a float.
pub fn scale(b: &mut FunctionBuilder, v: Value, by: Value) -> Value {
    let ty = b.ty(v);
    let by = if ty == Type::F32 { by } else { b.op_as(Op::Splat, &[by], ty) };
    b.op(Op::Mul, &[v, by])
}

/// `v / |v|`, and 0 for 0.
pub fn normalize(b: &mut FunctionBuilder, v: Value) -> Value {
    let square = b.op(Op::Dot, &[v, v]);
    let zero = b.f32(0.0);
    let is_zero = b.op(Op::Eq, &[square, zero]);
    let inverse = b.op(Op::Rsq, &[square]);
    let unit = scale(b, v, inverse);
    b.op(Op::Select, &[is_zero, v, unit])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Class, FunctionKind};

    #[test]
    fn every_listed_global_has_the_type_that_the_table_says() {
        let places = [ColorPlace::Vertices, ColorPlace::Triangles, ColorPlace::Object];
        let layouts = [false, true].into_iter().flat_map(|instanced| places.map(|place| (instanced, place)));
        for (instanced, place) in layouts {
            let layout = RecordLayout { instanced, color: place, opacity: place, primvars: Default::default() };
            let mut b = FunctionBuilder::new("entry", FunctionKind::Entry);
            let origin = b.param("orig", Type::Vec3, Class::Varying);
            let direction = b.param("dir", Type::Vec3, Class::Varying);
            let depth = b.param("depth", Type::F32, Class::Varying);
            let mut state = SurfaceState::new(&mut b, SurfaceInputs { origin, direction, depth, layout });
            for (name, ty) in SURFACE_GLOBALS {
                let v = state.global(&mut b, name);
                assert_eq!(v.map(|v| b.ty(v)), Some(ty), "{name}");
            }
            assert_eq!(state.global(&mut b, "Cl"), None);
        }
    }
}
