//! The surfaces of RTSL materials with an `emission`, as light sampling chooses among them:
//! triangles, and procedural primitives that sample points of themselves, in proportion to area.
//!
//! The area of a procedural primitive is not known: half that of its bounding box stands for it.
//! That decides how often it is chosen and nothing else.

use crate::collect::Collected;
use crate::collect::instances::Instance;
use crate::collect::procedural::PrimitiveCores;
use crate::layout::alias_table::aliases;
use crate::layout::memory::MemoryImage;
use crate::layout::procedural::PlacedPrimitive;
use crate::records::RecordLayout;
use glam::{Mat4, Vec3};
use shadewright_scene::{MeshSpace, Object, Scene};
use std::sync::Arc;

/// Vectors of the table for an emitter.
pub const RECORD: u32 = 4;

/// A triangle or a procedural primitive that emits light.
struct Emitter {
    /// The number of its object.
    object: usize,
    /// Which of the emissive surfaces of its shape it is.
    kind: u32,
    /// The area of the emitter in the world.
    area: f64,
    shape: Shape,
}

/// The shape of an emitter, in the world.
enum Shape {
    /// A triangle: its number in the mesh, its corners, and 0 where both sides are visible; else
    /// the sign of the visible side, along the normal of the corners' order.
    Triangle { number: usize, corners: [Vec3; 3], side: f32 },
    /// A procedural primitive that samples points of itself, with the determinant of its transform
    /// to the world.
    Procedural { determinant: f64 },
}

/// How light sampling distributes points over the emissive surfaces of an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PointSampling {
    /// Uniformly, over triangles of this total area.
    Uniform(f32),
    /// As the procedural primitive samples them.
    Procedural,
}

/// The data that the emissive surfaces of one entry share.
#[derive(Clone, Debug)]
pub struct EmissiveSurface {
    /// The entry's number.
    pub entry: usize,
    /// The material's `emission`.
    pub emission: Arc<Instance>,
    /// The material's `opacity`, if it has one.
    pub opacity: Option<Arc<Instance>>,
    /// How the objects' records lie.
    pub layout: RecordLayout,
    /// The cores of the primitive, if the objects are procedural.
    pub primitive: Option<Arc<PrimitiveCores>>,
}

/// The emissive surfaces of a scene.
#[derive(Default)]
pub struct AreaLights {
    /// The emissive surfaces of triangles.
    pub meshes: Vec<EmissiveSurface>,
    /// The emissive surfaces of procedural primitives.
    pub procedural: Vec<EmissiveSurface>,
    emitters: Vec<Emitter>,
    /// The area of all together.
    pub area: f32,
}

impl std::fmt::Debug for AreaLights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} emissive triangles and primitives, of area {}", self.emitters.len(), self.area)
    }
}

impl AreaLights {
    /// The area lights of a scene with these procedural primitives.
    pub fn new(scene: &Scene, collected: &Collected, primitives: &[PlacedPrimitive]) -> Self {
        let mut lights = Self::default();
        for (number, object) in scene.objects.iter().enumerate() {
            let Some(surface) = emissive_surface(collected, number) else { continue };
            let samples = surface.primitive.as_ref().map(|cores| cores.sample.is_some());
            let known = match samples {
                None => &mut lights.meshes,
                Some(true) => &mut lights.procedural,
                // Only rays find it.
                Some(false) => continue,
            };
            let kind = known.iter().position(|kind| kind.entry == surface.entry).unwrap_or_else(|| {
                known.push(surface);
                known.len() - 1
            });
            let emitters = match samples {
                None => triangles(object),
                Some(_) => {
                    primitives.iter().filter(|p| p.object == number).take(1).map(|p| box_shape(object, p)).collect()
                }
            };
            for (area, shape) in emitters.into_iter().filter(|(area, _)| area.is_finite() && *area > 0.0) {
                lights.emitters.push(Emitter { object: number, kind: kind as u32, area, shape });
            }
        }
        lights.area = lights.emitters.iter().map(|e| e.area).sum::<f64>() as f32;
        lights
    }

    /// How the pdf of points is scaled that the procedural primitive of an object samples
    /// ([`super::procedural::PDF_SCALE`]); 0 where it emits nothing.
    pub fn pdf_scale(&self, object: usize) -> f32 {
        let of_object = self.emitters.iter().filter(|e| e.object == object);
        let scale = of_object.filter_map(|e| match e.shape {
            Shape::Procedural { determinant } => Some(e.area / (f64::from(self.area) * determinant)),
            Shape::Triangle { .. } => None,
        });
        scale.map(|scale| scale as f32).next().unwrap_or(0.0)
    }

    /// True if no surface emits light.
    pub fn is_empty(&self) -> bool {
        self.emitters.is_empty()
    }

    /// How many emitters there are.
    pub fn count(&self) -> u32 {
        self.emitters.len() as u32
    }

    /// How points are distributed over the surfaces of an entry, if light sampling may choose them.
    pub fn point_sampling(&self, entry: usize) -> Option<PointSampling> {
        let has = |kinds: &[EmissiveSurface]| kinds.iter().any(|kind| kind.entry == entry);
        match self.is_empty() {
            false if has(&self.meshes) => Some(PointSampling::Uniform(self.area)),
            false if has(&self.procedural) => Some(PointSampling::Procedural),
            _ => None,
        }
    }

    /// Vectors of the table.
    pub fn vectors(&self) -> usize {
        self.emitters.len() * RECORD as usize
    }

    /// The table, once the scene's records have addresses: an alias table (Walker 1977, "An
    /// Efficient Method for Generating Discrete Random Variables with General Distributions") with,
    /// for each triangle, the vectors `(probability, alias, triangle record, object record)`,
    /// `(first corner, kind)`, `(first edge, visible side)` and `(second edge, 0)`. Of a procedural
    /// primitive the address of the triangle is 0, and of the other vectors only the kind is set.
    pub fn table(&self, scene: &Scene, memory: &MemoryImage) -> Vec<[u32; 4]> {
        let areas: Vec<f64> = self.emitters.iter().map(|e| e.area).collect();
        let first = first_primitives(scene);
        let with = |v: Vec3, word: u32| [v.x.to_bits(), v.y.to_bits(), v.z.to_bits(), word];
        let records = self.emitters.iter().zip(aliases(&areas)).flat_map(|(e, (probability, alias))| {
            let object = memory.objects[e.object];
            let head = |triangle| [probability.to_bits(), alias, triangle, object];
            match e.shape {
                Shape::Triangle { number, corners: [a, b, c], side } => {
                    let [_, triangle, _] = memory.resolve(first[e.object] + number as u32);
                    [head(triangle), with(a, e.kind), with(b - a, side.to_bits()), with(c - a, 0)]
                }
                Shape::Procedural { .. } => [head(0), with(Vec3::ZERO, e.kind), [0; 4], [0; 4]],
            }
        });
        records.collect()
    }
}

/// The emissive surface of an object, if it has one.
fn emissive_surface(collected: &Collected, object: usize) -> Option<EmissiveSurface> {
    let bound = collected.objects.get(object)?;
    let entry = &collected.entries[bound.entry as usize];
    Some(EmissiveSurface {
        entry: bound.entry as usize,
        emission: entry.methods.emission.clone()?,
        opacity: entry.methods.opacity.clone(),
        layout: bound.layout.clone(),
        primitive: entry.primitive.clone(),
    })
}

/// The areas and shapes of an object's triangles.
fn triangles(object: &Object) -> Vec<(f64, Shape)> {
    let to_world = if object.mesh_space == MeshSpace::Object { object.object_to_world } else { Mat4::IDENTITY };
    // A triangle's front stays its front in a mirrored instance.
    let front = if to_world.determinant() < 0.0 { -1.0 } else { 1.0 };
    let side = if object.sides == 1 { front } else { 0.0 };
    let triangles = (0..object.mesh.triangles.len()).map(|number| {
        let corners = object.mesh.corners(number).map(|p| to_world.transform_point3(p));
        (f64::from(triangle_area(corners)), Shape::Triangle { number, corners, side })
    });
    triangles.collect()
}

/// The area that stands for a procedural primitive's: half that of its bounding box.
fn box_shape(object: &Object, primitive: &PlacedPrimitive) -> (f64, Shape) {
    let (low, high) = primitive.bounds;
    let to_world = object.object_to_world;
    let sides = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| to_world.transform_vector3(axis * (high - low)));
    let area = [(0, 1), (1, 2), (2, 0)].iter().map(|&(i, k)| f64::from(sides[i].cross(sides[k]).length())).sum();
    (area, Shape::Procedural { determinant: f64::from(to_world.determinant().abs()) })
}

fn triangle_area([a, b, c]: [Vec3; 3]) -> f32 {
    0.5 * (b - a).cross(c - a).length()
}

/// The number of each object's first primitive: those of instances come after all others.
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
