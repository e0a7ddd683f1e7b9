//! Surfaces that shine because the class of their material has an `emission`: a table of their triangles, from which points are drawn in proportion to area, and the functions by which surfaces look at them.
//!
//! `lights.area(Ps, u, v) -> (L, Cl, t_max, density)` looks at a point that two random numbers choose. To shaders all of it is one more light of `lights.sample`, at a point that the place lit decides on; where paths are traced,
//! `lights.choices() -> f32` is among how many lights `lights.direct(Ps, Ns, u, v) -> (L, Cl, t_max, density)` chooses, all alike: those of the surroundings that have a direction, every environment, and all triangles that
//! shine as one. `Cl` is what arrives divided by the density of the choice and of the point, `density` that of the point by solid angle; 0 for lights that cannot be hit, whose colour is what a white diffuse surface that faces them
//! has, as in RISpec 3.2: their irradiance is π times that. `t_max` is as `lights.sample` gives it.

use super::aliases::{aliases, chosen, stands_for};
use super::environments;
use super::instances::Instance;
use super::lights::{AREA, CHOICES, DIRECT, DIRECT_RESULTS, for_each_light};
use super::memory::{MemoryImage, RecordLayout};
use super::paths::{emission_at, opacity_at};
use super::state::{SurfaceInputs, SurfaceState, normalize, scale, xyz};
use crate::ir::{Class, Const, Function, FunctionBuilder, FunctionKind, Op, Type, Value};
use crate::lang::rsl::LIGHTS_SAMPLE;
use crate::scene::{MeshSpace, Scene};
use glam::{Mat4, Vec3};
use std::f32::consts::PI;
use std::sync::Arc;

/// The name of the function that gives the light that a triangle sends.
const EMITTED: &str = "lights.emitted";

/// Vectors of the table for a triangle.
const RECORD: u32 = 4;

/// A triangle that shines, in the world.
struct Emitter {
    corners: [Vec3; 3],
    /// The number of its object, and its own in the mesh.
    object: usize,
    triangle: usize,
    /// The number of its kind among [`AreaLights::kinds`].
    kind: u32,
    /// 0 where both sides are seen; else the sign of the side that is, along the normal of the corners' order.
    side: f32,
}

/// What surfaces of one entry that shine have in common.
#[derive(Clone, Debug)]
pub struct Shining {
    /// The entry's number.
    pub entry: usize,
    /// The class's `emission`.
    pub emission: Arc<Instance>,
    /// Its `opacity`, if it has one.
    pub opacity: Option<Arc<Instance>>,
    /// How the objects' records lie.
    pub layout: RecordLayout,
}

/// What a place may look at.
#[derive(Clone, Copy)]
enum Choice {
    /// The lights that have a direction.
    Point,
    /// The environment of that number.
    Environment(usize),
    /// The triangles that shine.
    Area,
}

/// The surfaces of a scene that shine.
#[derive(Default)]
pub struct AreaLights {
    kinds: Vec<Shining>,
    emitters: Vec<Emitter>,
    /// Of all triangles together.
    area: f32,
    /// Where the table lies.
    pub address: u32,
}

impl std::fmt::Debug for AreaLights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} triangles that shine, of area {}", self.emitters.len(), self.area)
    }
}

impl AreaLights {
    /// Those of a scene: `shining` tells of an object whether it shines.
    pub fn of(scene: &Scene, shining: impl Fn(usize) -> Option<Shining>) -> Self {
        let mut lights = Self::default();
        let mut area = 0.0f64;
        for (number, object) in scene.objects.iter().enumerate() {
            // Points of primitives that are programs are not drawn: rays find them.
            if object.mesh.triangles.is_empty() {
                continue;
            }
            let Some(own) = shining(number) else { continue };
            let known = lights.kinds.iter().position(|kind| kind.entry == own.entry);
            let kind = known.unwrap_or_else(|| {
                lights.kinds.push(own);
                lights.kinds.len() - 1
            });
            let to_world = if object.mesh_space == MeshSpace::Object { object.object_to_world } else { Mat4::IDENTITY };
            // A triangle's front stays its front in a mirrored instance.
            let front = if to_world.determinant() < 0.0 { -1.0 } else { 1.0 };
            for triangle in 0..object.mesh.triangles.len() {
                let corners = object.mesh.corners(triangle).map(|p| to_world.transform_point3(p));
                let own = f64::from(area_of(corners));
                if own.is_finite() && own > 0.0 {
                    area += own;
                    let side = if object.sides == 1 { front } else { 0.0 };
                    lights.emitters.push(Emitter { corners, object: number, triangle, kind: kind as u32, side });
                }
            }
        }
        lights.area = area as f32;
        lights
    }

    /// Whether nothing shines.
    pub fn is_empty(&self) -> bool {
        self.emitters.is_empty()
    }

    /// The area among which points are drawn, if surfaces of an entry shine.
    pub fn share(&self, entry: usize) -> Option<f32> {
        (!self.is_empty() && self.kinds.iter().any(|kind| kind.entry == entry)).then_some(self.area)
    }

    /// Vectors of the table.
    pub fn vectors(&self) -> usize {
        self.emitters.len() * RECORD as usize
    }

    /// The table, once the scene's records have addresses: of each triangle `(probability, other, triangle record, object record)`, then its first corner and its kind, and its two edges, the side that is seen behind the first.
    /// A triangle stands for itself with its probability, and else for the other (Walker 1977, "An Efficient Method for Generating Discrete Random Variables with General Distributions").
    pub fn table(&self, scene: &Scene, memory: &MemoryImage) -> Vec<[u32; 4]> {
        let areas: Vec<f64> = self.emitters.iter().map(|e| f64::from(area_of(e.corners))).collect();
        let first = first_primitives(scene);
        let with = |v: Vec3, word: u32| [v.x.to_bits(), v.y.to_bits(), v.z.to_bits(), word];
        let records = self.emitters.iter().zip(aliases(&areas)).flat_map(|(e, (probability, other))| {
            let [_, triangle, _] = memory.resolve(first[e.object] + e.triangle as u32);
            let [a, b, c] = e.corners;
            [
                [probability.to_bits(), other, triangle, memory.objects[e.object]],
                with(a, e.kind),
                with(b - a, e.side.to_bits()),
                with(c - a, 0),
            ]
        });
        records.collect()
    }

    /// The functions by which surfaces look at what shines.
    pub fn functions(&self) -> Vec<Function> {
        if self.is_empty() { Vec::new() } else { vec![self.emitted_function(), self.area_function()] }
    }

    /// `lights.area(Ps, u, v) -> (L, Cl, t_max, density)`.
    fn area_function(&self) -> Function {
        let mut b = FunctionBuilder::new(AREA, FunctionKind::Function);
        ["L", "Cl", "t_max", "density"].into_iter().zip(DIRECT_RESULTS).for_each(|(name, ty)| b.result(name, ty));
        let position = b.param("Ps", Type::Vec3, Class::Varying);
        let numbers = ["u", "v"].map(|name| b.param(name, Type::F32, Class::Varying));
        let results = self.sample(&mut b, position, numbers);
        b.ret(results);
        b.finish()
    }

    /// `lights.emitted(kind, triangle, object, u, v, t, from, direction) -> vec3`: what a triangle sends to a point from which a direction leads to it.
    fn emitted_function(&self) -> Function {
        let mut b = FunctionBuilder::new(EMITTED, FunctionKind::Function);
        b.result("return", Type::Vec3);
        let kind = b.param("kind", Type::U32, Class::Varying);
        let records = ["triangle", "object"].map(|name| b.param(name, Type::Ref, Class::Varying));
        let [u, v, t] = ["u", "v", "t"].map(|name| b.param(name, Type::F32, Class::Varying));
        let [origin, direction] = ["from", "direction"].map(|name| b.param(name, Type::Vec3, Class::Varying));
        for_each_light(&mut b, kind, self.kinds.len(), |b, i| {
            let Shining { emission, opacity, layout, .. } = &self.kinds[i];
            let (depth, ray) = (b.f32(0.0), b.constant(Const::zero(Type::Vec4)));
            let hit = b.op(Op::Compose, &[u, v, t, depth]);
            let inputs = SurfaceInputs {
                origin,
                direction,
                depth,
                ray,
                layout: layout.clone(),
                differentiated: false,
                primitive: None,
            };
            let mut state = SurfaceState::at(inputs, hit, records);
            let sent = emission_at(b, &mut state, layout, emission);
            let Some(opacity) = opacity else { return vec![sent] };
            let opacity = opacity_at(b, &mut state, layout, opacity);
            vec![b.op(Op::Mul, &[opacity, sent])]
        });
        b.finish()
    }

    /// `lights.choices` and `lights.direct` for surroundings with so many lights that have a direction, in a scene with so many environments.
    pub fn direct_functions(&self, suffix: &str, lights: usize, environments: usize) -> Vec<Function> {
        let points = (0..usize::from(lights > 0)).map(|_| Choice::Point);
        let areas = (0..usize::from(!self.is_empty())).map(|_| Choice::Area);
        let kinds: Vec<Choice> = points.chain((0..environments).map(Choice::Environment)).chain(areas).collect();
        let choices = lights + kinds.iter().filter(|kind| !matches!(kind, Choice::Point)).count();
        let mut count = FunctionBuilder::new(format!("{CHOICES}{suffix}"), FunctionKind::Function);
        count.result("return", Type::F32);
        let n = count.f32(choices.max(1) as f32);
        count.ret(vec![n]);

        let mut b = FunctionBuilder::new(format!("{DIRECT}{suffix}"), FunctionKind::Function);
        ["L", "Cl", "t_max", "density"].into_iter().zip(DIRECT_RESULTS).for_each(|(name, ty)| b.result(name, ty));
        let [position, normal] = ["Ps", "Ns"].map(|name| b.param(name, Type::Vec3, Class::Varying));
        let [u, v] = ["u", "v"].map(|name| b.param(name, Type::F32, Class::Varying));
        if kinds.is_empty() {
            let (nothing, none) = (b.constant(Const::zero(Type::Vec3)), b.f32(-1.0));
            let zero = b.f32(0.0);
            b.ret(vec![nothing, nothing, none, zero]);
            return vec![count.finish(), b.finish()];
        }
        let n = b.f32(choices as f32);
        let (number, rest) = chosen(&mut b, u, choices as u32);
        // All that are points are one kind, the first; each of the others is one.
        let kind = match lights {
            0 => number,
            _ => {
                let (bound, before) = (b.u32(lights as u32), b.u32(lights as u32 - 1));
                let is_point = b.op(Op::ILt, &[number, bound]);
                let behind = b.op(Op::ISub, &[number, before]);
                let first = b.u32(0);
                b.op(Op::Select, &[is_point, first, behind])
            }
        };
        for_each_light(&mut b, kind, kinds.len(), |b, i| match kinds[i] {
            Choice::Point => {
                let types = [Type::Vec3, Type::Vec3, Type::F32];
                let sample = b.call(format!("{LIGHTS_SAMPLE}{suffix}"), vec![number, position, normal], &types);
                let direction = normalize(b, sample[0]);
                let factor = b.f32(choices as f32 * PI);
                let light = scale(b, sample[1], factor);
                let exact = b.f32(0.0);
                vec![direction, light, sample[2], exact]
            }
            Choice::Environment(number) => {
                let mut results = b.call(environments::function_name(number), vec![rest, v], &DIRECT_RESULTS);
                results[1] = scale(b, results[1], n);
                results
            }
            Choice::Area => {
                let mut results = b.call(AREA, vec![position, rest, v], &DIRECT_RESULTS);
                results[1] = scale(b, results[1], n);
                results
            }
        });
        vec![count.finish(), b.finish()]
    }

    /// A point of the triangles by two random numbers, as `lights.area` gives it.
    fn sample(&self, b: &mut FunctionBuilder, position: Value, [u, v]: [Value; 2]) -> Vec<Value> {
        let (number, rest) = chosen(b, u, self.emitters.len() as u32);
        let record = |b: &mut FunctionBuilder, number: Value, k: u32| {
            let (size, first) = (b.u32(RECORD), b.u32(self.address));
            let offset = b.op(Op::IMul, &[number, size]);
            let address = b.op(Op::IAdd, &[first, offset]);
            let address = b.op_as(Op::Bitcast, &[address], Type::Ref);
            b.op(Op::Load(k), &[address])
        };
        let head = record(b, number, 0);
        let (number, u) = stands_for(b, head, number, rest);

        let head = record(b, number, 0);
        let [triangle, object] = [2, 3].map(|i| {
            let word = b.op(Op::Extract(i), &[head]);
            b.op_as(Op::Bitcast, &[word], Type::Ref)
        });
        let [first, second, third] = [1, 2, 3].map(|k| record(b, number, k));
        let kind = b.op(Op::Extract(3), &[first]);
        let kind = b.op_as(Op::Bitcast, &[kind], Type::U32);
        let side = b.op(Op::Extract(3), &[second]);
        let [corner, ab, ac] = [first, second, third].map(|v| xyz(b, v));
        // Evenly over a triangle (Turk 1990, "Generating Random Points in Triangles").
        let root = b.op(Op::Sqrt, &[u]);
        let to_c = b.op(Op::Mul, &[root, v]);
        let to_b = b.op(Op::Sub, &[root, to_c]);
        let [along_b, along_c] = [(ab, to_b), (ac, to_c)].map(|(edge, by)| scale(b, edge, by));
        let moved = b.op(Op::Add, &[along_b, along_c]);
        let point = b.op(Op::Add, &[corner, moved]);
        let way = b.op(Op::Sub, &[point, position]);
        let square = b.op(Op::Dot, &[way, way]);
        let distance = b.op(Op::Sqrt, &[square]);
        let reciprocal = b.op(Op::Rcp, &[distance]);
        let direction = scale(b, way, reciprocal);
        let normal = b.op(Op::Cross, &[ab, ac]);
        let normal = normalize(b, normal);
        let along = b.op(Op::Dot, &[direction, normal]);
        let zero = b.f32(0.0);
        let against = b.op(Op::Mul, &[along, side]);
        let is_hidden = b.op(Op::Lt, &[zero, against]);
        let cosine = b.op(Op::Abs, &[along]);
        let area = b.f32(self.area);
        let seen = b.op(Op::Mul, &[cosine, area]);
        let closeness = b.op(Op::Mul, &[reciprocal, reciprocal]);
        let inverse = b.op(Op::Mul, &[seen, closeness]);
        let is_edge_on = b.op(Op::Le, &[inverse, zero]);
        let density = b.op(Op::Rcp, &[inverse]);
        let args = vec![kind, triangle, object, to_b, to_c, distance, position, direction];
        let emitted = b.call(EMITTED, args, &[Type::Vec3])[0];
        let light = scale(b, emitted, inverse);
        let is_dark = b.op(Op::Or, &[is_hidden, is_edge_on]);
        let one = b.f32(1.0);
        let nothing = b.constant(Const::zero(Type::Vec3));
        let light = b.op(Op::Select, &[is_dark, nothing, light]);
        let density = b.op(Op::Select, &[is_dark, one, density]);
        let default = b.op(Op::Uniform(0), &[]);
        let bias = b.op(Op::Extract(0), &[default]);
        let reach = b.op(Op::Sub, &[distance, bias]);
        vec![direction, light, reach, density]
    }
}

fn area_of([a, b, c]: [Vec3; 3]) -> f32 {
    0.5 * (b - a).cross(c - a).length()
}

/// The number of each object's first primitive: those of instances come behind all others.
fn first_primitives(scene: &Scene) -> Vec<u32> {
    let mut first = vec![0; scene.objects.len()];
    let mut next = 0u32;
    for space in [MeshSpace::World, MeshSpace::Object] {
        for (number, object) in scene.objects.iter().enumerate().filter(|(_, o)| o.mesh_space == space) {
            first[number] = next;
            next += object.mesh.triangles.len() as u32;
        }
    }
    first
}
