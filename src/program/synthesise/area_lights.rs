//! Surfaces that shine because the class of their material has an `emission`: a table of their triangles and of the primitives that are programs and choose points of themselves, from which points are drawn in proportion to area, and the functions
//! by which surfaces look at them. The area of a program is not known: half that of its box stands for it, which decides how often it is chosen and nothing else.
//!
//! `lights.area(Ps, u, v) -> (L, Cl, t_max, density)` looks at a point that two random numbers choose. To shaders all of it is one more light of `lights.sample`, at a point that the place lit decides on; where paths are traced,
//! `lights.choices() -> f32` is among how many lights `lights.direct(Ps, Ns, u, v) -> (L, Cl, t_max, density)` chooses, all alike: those of the surroundings that have a direction, every environment, and all triangles that
//! and primitives that shine as one. `Cl` is what arrives divided by the density of the choice and of the point, `density` that of the point by solid angle; 0 for lights that cannot be hit, whose colour is what a white diffuse surface that faces them
//! has, as in RISpec 3.2: their irradiance is π times that. `t_max` is as `lights.sample` gives it.

use crate::ir::{Const, Function, FunctionBuilder, Op, Type, Value};
use crate::lang::rsl::LIGHTS_SAMPLE;
use crate::program::collect::instances::Instance;
use crate::program::collect::procedural::{PrimitiveCores, ProgramRecord};
use crate::program::layout::alias_table::{aliases, chosen, stands_for};
use crate::program::layout::memory::{MemoryImage, RecordLayout};
use crate::program::synthesise::environments;
use crate::program::synthesise::lights::{AREA, CHOICES, DIRECT, DIRECT_RESULTS, for_each_light};
use crate::program::synthesise::paths::{emission_at, opacity_at};
use crate::program::synthesise::surface_state::{SurfaceInputs, SurfaceState, normalize, scale, xyz};
use crate::scene::{MeshSpace, Scene};
use glam::{Mat4, Vec3};
use std::f32::consts::PI;
use std::sync::Arc;

/// The name of the function that gives the light that a triangle sends.
const EMITTED: &str = "lights.emitted";

/// The name of the function that looks at a point of a primitive that is a program.
const PROGRAM: &str = "lights.program";

/// Vectors of the table for a triangle or a program.
const RECORD: u32 = 4;

/// Something that shines.
struct Emitter {
    /// The number of its object.
    object: usize,
    /// The number of its kind, among those of its sort.
    kind: u32,
    /// How large it is.
    area: f64,
    sort: Sort,
}

/// What shines, in the world.
enum Sort {
    /// A triangle: its number in the mesh, its corners, and 0 where both sides are seen; else the sign of the side that is, along the normal of the corners' order.
    Triangle { number: usize, corners: [Vec3; 3], side: f32 },
    /// A primitive that chooses points of itself, and how much larger a volume is in the world than in its own space.
    Program { growth: f64 },
}

/// How points lie on surfaces of an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// Evenly, on triangles among so much area.
    Even(f32),
    /// As the primitive says.
    OfProgram,
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
    /// The cores of the primitive, if the objects are programs.
    pub primitive: Option<Arc<PrimitiveCores>>,
}

/// What a place may look at.
#[derive(Clone, Copy)]
enum Choice {
    /// The lights that have a direction.
    Point,
    /// The environment of that number.
    Environment(usize),
    /// The triangles and programs that shine.
    Area,
}

/// The surfaces of a scene that shine.
#[derive(Default)]
pub struct AreaLights {
    meshes: Vec<Shining>,
    programs: Vec<Shining>,
    emitters: Vec<Emitter>,
    /// Of all together.
    area: f32,
    /// Where the table lies.
    pub address: u32,
}

/// A program of a scene: the number of its object, the place of its block, and its box in its own space.
pub type ProgramBounds = (usize, ProgramRecord, (Vec3, Vec3));

impl std::fmt::Debug for AreaLights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} triangles and programs that shine, of area {}", self.emitters.len(), self.area)
    }
}

impl AreaLights {
    /// Those of a scene: `boxes` are those of its programs, with the numbers of their objects, and `shining` tells of an object whether it shines.
    pub fn of(scene: &Scene, boxes: &[ProgramBounds], shining: impl Fn(usize) -> Option<Shining>) -> Self {
        let mut lights = Self::default();
        for (number, object) in scene.objects.iter().enumerate() {
            let Some(own) = shining(number) else { continue };
            let is_program = own.primitive.as_ref().map(|cores| cores.sample.is_some());
            let known = match is_program {
                None => &mut lights.meshes,
                Some(true) => &mut lights.programs,
                // Rays find it.
                Some(false) => continue,
            };
            let kind = known.iter().position(|kind| kind.entry == own.entry).unwrap_or_else(|| {
                known.push(own);
                known.len() - 1
            });
            let mut add = |area: f64, sort: Sort| {
                if area.is_finite() && area > 0.0 {
                    lights.emitters.push(Emitter { object: number, kind: kind as u32, area, sort });
                }
            };
            if is_program.is_some() {
                let of_object = boxes.iter().find(|(object, ..)| *object == number);
                let Some((_, _, bounds)) = of_object else { continue };
                let growth = f64::from(object.object_to_world.determinant().abs());
                add(half_of_box(object.object_to_world, *bounds), Sort::Program { growth });
                continue;
            }
            let to_world = if object.mesh_space == MeshSpace::Object { object.object_to_world } else { Mat4::IDENTITY };
            // A triangle's front stays its front in a mirrored instance.
            let front = if to_world.determinant() < 0.0 { -1.0 } else { 1.0 };
            let side = if object.sides == 1 { front } else { 0.0 };
            for triangle in 0..object.mesh.triangles.len() {
                let corners = object.mesh.corners(triangle).map(|p| to_world.transform_point3(p));
                add(f64::from(area_of(corners)), Sort::Triangle { number: triangle, corners, side });
            }
        }
        lights.area = lights.emitters.iter().map(|e| e.area).sum::<f64>() as f32;
        lights
    }

    /// What the blocks of programs that shine hold in the word [`crate::program::collect::procedural::SHARE`].
    pub fn shares<'a>(&'a self, boxes: &'a [ProgramBounds]) -> impl Iterator<Item = (usize, ProgramRecord, f32)> + 'a {
        let programs = self.emitters.iter().filter_map(|e| match e.sort {
            Sort::Program { growth } => Some((e.object, e.area / (f64::from(self.area) * growth))),
            Sort::Triangle { .. } => None,
        });
        programs.filter_map(|(object, share)| {
            let (_, record, _) = boxes.iter().find(|(number, ..)| *number == object)?;
            Some((object, *record, share as f32))
        })
    }

    /// Whether nothing shines.
    pub fn is_empty(&self) -> bool {
        self.emitters.is_empty()
    }

    /// How points lie on surfaces of an entry, if they shine and places look at them.
    pub fn spread(&self, entry: usize) -> Option<Spread> {
        let has = |kinds: &[Shining]| kinds.iter().any(|kind| kind.entry == entry);
        match self.is_empty() {
            false if has(&self.meshes) => Some(Spread::Even(self.area)),
            false if has(&self.programs) => Some(Spread::OfProgram),
            _ => None,
        }
    }

    /// Vectors of the table.
    pub fn vectors(&self) -> usize {
        self.emitters.len() * RECORD as usize
    }

    /// The table, once the scene's records have addresses: of each triangle `(probability, other, triangle record, object record)`, then its first corner and its kind, and its two edges, the side that is seen behind the first.
    /// Of a program the address of the triangle is 0, and of the vectors behind it only the kind is told. Each stands for itself with its probability, and else for the other (Walker 1977, "An Efficient Method for Generating Discrete Random Variables with
    /// General Distributions").
    pub fn table(&self, scene: &Scene, memory: &MemoryImage) -> Vec<[u32; 4]> {
        let areas: Vec<f64> = self.emitters.iter().map(|e| e.area).collect();
        let first = first_primitives(scene);
        let with = |v: Vec3, word: u32| [v.x.to_bits(), v.y.to_bits(), v.z.to_bits(), word];
        let records = self.emitters.iter().zip(aliases(&areas)).flat_map(|(e, (probability, other))| {
            let object = memory.objects[e.object];
            let head = |triangle| [probability.to_bits(), other, triangle, object];
            match e.sort {
                Sort::Triangle { number, corners: [a, b, c], side } => {
                    let [_, triangle, _] = memory.resolve(first[e.object] + number as u32);
                    [head(triangle), with(a, e.kind), with(b - a, side.to_bits()), with(c - a, 0)]
                }
                Sort::Program { .. } => [head(0), with(Vec3::ZERO, e.kind), [0; 4], [0; 4]],
            }
        });
        records.collect()
    }

    /// The functions by which surfaces look at what shines.
    pub fn functions(&self) -> Vec<Function> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut functions = vec![self.area_function()];
        functions.extend((!self.meshes.is_empty()).then(|| self.emitted_function()));
        functions.extend((!self.programs.is_empty()).then(|| self.program_function()));
        functions
    }

    /// `lights.area(Ps, u, v) -> (L, Cl, t_max, density)`.
    fn area_function(&self) -> Function {
        let mut b = FunctionBuilder::linker(AREA);
        ["L", "Cl", "t_max", "density"].into_iter().zip(DIRECT_RESULTS).for_each(|(name, ty)| b.result(name, ty));
        let position = b.param("Ps", Type::Vec3);
        let numbers = ["u", "v"].map(|name| b.param(name, Type::F32));
        self.sample(&mut b, position, numbers);
        b.finish()
    }

    /// `lights.program(kind, object, Ps, u, v) -> (L, Cl, t_max, density)`: looks at a point of a program.
    fn program_function(&self) -> Function {
        let mut b = FunctionBuilder::linker(PROGRAM);
        ["L", "Cl", "t_max", "density"].into_iter().zip(DIRECT_RESULTS).for_each(|(name, ty)| b.result(name, ty));
        let kind = b.param("kind", Type::U32);
        let object = b.param("object", Type::Ref);
        let position = b.param("Ps", Type::Vec3);
        let numbers = ["u", "v"].map(|name| b.param(name, Type::F32));
        for_each_light(&mut b, kind, self.programs.len(), |b, i| {
            let own = &self.programs[i];
            // The state before there is a direction, and that at the point.
            let (nowhere, no_hit) = (b.constant(Const::zero(Type::Vec3)), b.constant(Const::zero(Type::Vec4)));
            let nothing = b.constant(Const::Ref(0));
            let state = SurfaceState::at(own.inputs(b, position, nowhere), no_hit, [nothing, object]);
            let point = state.chosen_point(b, numbers).unwrap_or(position);
            let way = b.op(Op::Sub, &[point, position]);
            let square = b.op(Op::Dot, &[way, way]);
            let distance = b.op(Op::Sqrt, &[square]);
            let direction = normalize(b, way);
            let zero = b.f32(0.0);
            let hit = b.op(Op::Compose, &[zero, zero, distance, zero]);
            let mut state = SurfaceState::at(own.inputs(b, position, direction), hit, [nothing, object]);
            let density = state.density_of_points(b).unwrap_or(zero);
            let is_possible = b.op(Op::Lt, &[zero, density]);
            let is_dark = b.op(Op::Not, &[is_possible]);
            let sent = own.sent(b, &mut state);
            let inverse = b.op(Op::Rcp, &[density]);
            let light = scale(b, sent, inverse);
            seen_at(b, direction, distance, light, density, is_dark)
        });
        b.finish()
    }

    /// `lights.emitted(kind, triangle, object, u, v, t, from, direction) -> vec3`: what a triangle sends to a point from which a direction leads to it.
    fn emitted_function(&self) -> Function {
        let mut b = FunctionBuilder::linker(EMITTED);
        b.result("return", Type::Vec3);
        let kind = b.param("kind", Type::U32);
        let records = ["triangle", "object"].map(|name| b.param(name, Type::Ref));
        let [u, v, t] = ["u", "v", "t"].map(|name| b.param(name, Type::F32));
        let [origin, direction] = ["from", "direction"].map(|name| b.param(name, Type::Vec3));
        for_each_light(&mut b, kind, self.meshes.len(), |b, i| {
            let own = &self.meshes[i];
            let zero = b.f32(0.0);
            let hit = b.op(Op::Compose, &[u, v, t, zero]);
            let mut state = SurfaceState::at(own.inputs(b, origin, direction), hit, records);
            vec![own.sent(b, &mut state)]
        });
        b.finish()
    }

    /// `lights.choices` and `lights.direct` for surroundings with so many lights that have a direction, in a scene with so many environments.
    pub fn direct_functions(&self, suffix: &str, lights: usize, environments: usize) -> Vec<Function> {
        let points = (0..usize::from(lights > 0)).map(|_| Choice::Point);
        let areas = (0..usize::from(!self.is_empty())).map(|_| Choice::Area);
        let kinds: Vec<Choice> = points.chain((0..environments).map(Choice::Environment)).chain(areas).collect();
        let choices = lights + kinds.iter().filter(|kind| !matches!(kind, Choice::Point)).count();
        let mut count = FunctionBuilder::linker(format!("{CHOICES}{suffix}"));
        count.result("return", Type::F32);
        let n = count.f32(choices.max(1) as f32);
        count.ret(vec![n]);

        let mut b = FunctionBuilder::linker(format!("{DIRECT}{suffix}"));
        ["L", "Cl", "t_max", "density"].into_iter().zip(DIRECT_RESULTS).for_each(|(name, ty)| b.result(name, ty));
        let [position, normal] = ["Ps", "Ns"].map(|name| b.param(name, Type::Vec3));
        let [u, v] = ["u", "v"].map(|name| b.param(name, Type::F32));
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

    /// Returns a point by two random numbers, as `lights.area` gives it.
    fn sample(&self, b: &mut FunctionBuilder, position: Value, [u, v]: [Value; 2]) {
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
        let first = record(b, number, 1);
        let kind = b.op(Op::Extract(3), &[first]);
        let kind = b.op_as(Op::Bitcast, &[kind], Type::U32);
        let of_program = |b: &mut FunctionBuilder| {
            let results = b.call(PROGRAM, vec![kind, object, position, u, v], &DIRECT_RESULTS);
            b.ret(results);
        };
        if self.meshes.is_empty() {
            return of_program(b);
        }
        if !self.programs.is_empty() {
            let (address, none) = (b.op_as(Op::Bitcast, &[triangle], Type::U32), b.u32(0));
            let is_program = b.op(Op::IEq, &[address, none]);
            let (program, mesh) = (b.block(), b.block());
            b.branch(is_program, program, mesh);
            b.seal(program);
            b.seal(mesh);
            b.switch_to(program);
            of_program(b);
            b.switch_to(mesh);
        }
        let [second, third] = [2, 3].map(|k| record(b, number, k));
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
        let results = seen_at(b, direction, distance, light, density, is_dark);
        b.ret(results);
    }
}

impl Shining {
    /// The state's inputs where a direction leads from a point to the surface.
    fn inputs(&self, b: &mut FunctionBuilder, origin: Value, direction: Value) -> SurfaceInputs {
        let (depth, ray) = (b.f32(0.0), b.constant(Const::zero(Type::Vec4)));
        let (layout, primitive) = (self.layout.clone(), self.primitive.clone());
        SurfaceInputs { origin, direction, depth, ray, layout, differentiated: false, primitive }
    }

    /// What the surface sends against the ray.
    fn sent(&self, b: &mut FunctionBuilder, state: &mut SurfaceState) -> Value {
        let sent = emission_at(b, state, &self.layout, &self.emission);
        let Some(opacity) = &self.opacity else { return sent };
        let opacity = opacity_at(b, state, &self.layout, opacity);
        b.op(Op::Mul, &[opacity, sent])
    }
}

/// What `lights.area` gives for a point that far away, which may not be seen.
fn seen_at(
    b: &mut FunctionBuilder,
    direction: Value,
    distance: Value,
    light: Value,
    density: Value,
    is_dark: Value,
) -> Vec<Value> {
    let one = b.f32(1.0);
    let nothing = b.constant(Const::zero(Type::Vec3));
    let light = b.op(Op::Select, &[is_dark, nothing, light]);
    let density = b.op(Op::Select, &[is_dark, one, density]);
    let default = b.op(Op::Uniform(0), &[]);
    let bias = b.op(Op::Extract(0), &[default]);
    let reach = b.op(Op::Sub, &[distance, bias]);
    vec![direction, light, reach, density]
}

/// Half the area of a box that stands there.
fn half_of_box(to_world: Mat4, (low, high): (Vec3, Vec3)) -> f64 {
    let sides = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| to_world.transform_vector3(axis * (high - low)));
    [(0, 1), (1, 2), (2, 0)].iter().map(|&(i, k)| f64::from(sides[i].cross(sides[k]).length())).sum()
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
