//! A scene as ray-tracing hardware stores it: convex planar quadrilaterals, and other surfaces.
//!
//! Takes a scene's meshes and gives polygons in world space, with what the host keeps of each: the
//! corners, and the triangles that it stands for, whose numbers and barycentric coordinates the
//! shaders ask for. Two triangles that follow each other in a mesh and make a planar convex
//! quadrilateral become one polygon, any other triangle a polygon of its own. Procedural primitives
//! become polygons or [`surfaces`](super::surfaces) where there is an intersector for their class;
//! the host intersects the others.

use super::arithmetic::{Ieee, Operations};
use super::intersector::{IntersectorRay, Outcome, intersect};
use super::polygon::{Case, Polygon, PolygonError, Sides, TriangleCorners, WORDS};
use super::ray::{ModelHit, RayKind, Request};
use super::surfaces::scene::{Held, has_intersector, held};
use super::surfaces::{Slots, Surface};
use super::volumes::outline::{Extent, Outline};
use glam::{DVec3, Mat4, Vec3};
use shadewright_base::random::{hash, unit};
use shadewright_bvh::{BATCH, Ray, RayBatch};
use shadewright_program::Program;
use shadewright_render::rpu::{Loaded, SceneTracer};
use shadewright_render::{Job, RenderError};
use shadewright_scene::{MeshSpace, Object, Scene};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Most bytes of a model: 24 million polygons.
const MOST_BYTES: u64 = 4 << 30;

/// Bytes of a word in the hardware's memory.
const WORD_BYTES: u64 = 4;

/// The host's side of a polygon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// The corners in order around it: p₀₀, p₁₀, p₁₁, p₀₁.
    pub corners: [Vec3; 4],
    /// The triangles: each its primitive number, and which corners its vertices are.
    triangles: [(u32, [u8; 3]); 2],
    /// 1 or 2; 0 where it is of the procedural primitive of the first number.
    count: u8,
}

/// Where a hit lies on a primitive of the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolved {
    /// The primitive number.
    pub primitive: u32,
    /// Weight of a triangle's second vertex, 0 to 1; 0 on a procedural primitive.
    pub u: f32,
    /// Weight of a triangle's third vertex, 0 to 1; 0 on a procedural primitive.
    pub v: f32,
}

/// A surface in the hardware's memory, and the host's side of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedSurface {
    /// The surface as the hardware model stores it.
    pub surface: Surface,
    /// The body around it in the world.
    pub extent: Extent,
    /// The primitive number.
    pub primitive: u32,
}

/// A scene in the form of the hardware. Primitives are numbered: first all polygons, then the
/// surfaces.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The parameters of the polygons, in the order of the scene's primitives.
    pub polygons: Vec<Polygon>,
    /// The host's side of each.
    pub faces: Vec<Face>,
    /// The other primitives.
    pub surfaces: Vec<PlacedSurface>,
    /// The polygons of each object that has any, with its index in the scene.
    pub objects: Vec<(usize, Range<u32>)>,
    /// The corners of the box around them; zero when there are none.
    pub bounds: (Vec3, Vec3),
    /// Which of the scene's procedural primitives are held, in their order; the host intersects the
    /// others.
    held: Vec<bool>,
    /// The parts of the scene that the hardware model does not hold, as text.
    pub left_out: Vec<String>,
}

impl Model {
    /// The primitives of a job's scene. Procedural primitives whose class has an intersector are held
    /// if that finds the hits that the intersection shader finds, for some hundred rays; a class that
    /// bears such a name and is something else is left to the host.
    ///
    /// # Errors
    /// When they take more than 4 GiB; as rendering, where intersection shaders fail.
    pub fn from_job(scene: &Scene, job: &Job, loaded: &Loaded) -> Result<Self, RenderError> {
        let mut model = Self::from_meshes(scene)?;
        let stop = AtomicBool::new(false);
        let data = loaded.data(&job.program.memory.vectors);
        let tracer = SceneTracer::for_job(job, loaded, &data, &stop)?;
        let (mut unfit, mut different) = (0, 0);
        // It is made in the primitive's own space: instances share it.
        let mut agreeing = HashMap::new();
        let procedural = scene.objects.iter().filter_map(|object| Some((object, object.procedural?)));
        for (number, ((object, id), placed)) in procedural.zip(&job.program.primitives.placed).enumerate() {
            let instance = &scene.shader_instances[id.0 as usize];
            let candidate =
                |to_world: Mat4| held(instance, to_world).and_then(|held| Candidate::new(held, placed.number));
            let shader = |rays: &RayBatch| tracer.intersect_primitive(number, rays);
            let mut agrees = || candidate(Mat4::IDENTITY).map(|own| own.agrees(placed.bounds, shader));
            let agrees = *agreeing.entry(id).or_insert_with(&mut agrees);
            match (candidate(object.object_to_world), agrees) {
                (Some(here), Some(true)) => model.hold(here),
                (Some(_), Some(false)) => different += 1,
                _ => unfit += usize::from(has_intersector(instance)),
            }
            if model.held.len() <= number {
                model.held.push(false);
            }
        }
        if let Some(error) = tracer.failure() {
            return Err(loaded.explain(error, &job.program.module));
        }
        match model.held.iter().filter(|is_held| !**is_held).count() {
            0 => {}
            1 => model.left_out.push("a procedural primitive, which the host intersects".to_string()),
            n => model.left_out.push(format!("{n} procedural primitives, which the host intersects")),
        }
        if different > 0 {
            model.left_out.push(format!("of these, {different} not hit as the intersector for their class would"));
        }
        if unfit > 0 {
            model
                .left_out
                .push(format!("of these, {unfit} with parameters that the intersector for their class does not take"));
        }
        model.bounds = model.box_around();
        Ok(model)
    }

    /// The polygons of a scene's meshes.
    ///
    /// # Errors
    /// When they take more than 4 GiB.
    pub fn from_meshes(scene: &Scene) -> Result<Self, RenderError> {
        let triangles: u64 = scene.objects.iter().map(|o| o.mesh.triangles.len() as u64).sum();
        let needed = triangles * (size_of::<Polygon>() + size_of::<Face>()) as u64;
        if needed > MOST_BYTES {
            return Err(RenderError::TooLarge { what: "the hardware's scene model", needed, limit: MOST_BYTES });
        }
        let mut model = Self::default();
        let (mut first, mut flat) = (0, 0);
        for space in [MeshSpace::World, MeshSpace::Object] {
            for (index, object) in scene.objects.iter().enumerate().filter(|(_, o)| o.mesh_space == space) {
                let start = model.polygons.len() as u32;
                flat += model.add(object, first);
                first += object.mesh.triangles.len() as u32;
                let end = model.polygons.len() as u32;
                if end > start {
                    model.objects.push((index, start..end));
                }
            }
        }
        model.bounds = model.box_around();
        if flat > 0 {
            model.left_out.push(format!("{flat} triangles too thin for a plane"));
        }
        Ok(model)
    }

    /// The number of primitives.
    pub fn len(&self) -> usize {
        self.polygons.len() + self.surfaces.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if the host intersects some of the scene's primitives.
    pub fn leaves_some(&self) -> bool {
        self.held.contains(&false)
    }

    /// The job without the procedural primitives that the hardware holds: the renderer's part.
    pub fn rest_of(&self, job: &Job) -> Job {
        let primitives = job.program.primitives.only(|number| !self.held.get(number).copied().unwrap_or(false));
        Job { program: Program { primitives: Arc::new(primitives), ..job.program.clone() }, ..job.clone() }
    }

    /// The bodies around all primitives.
    pub fn extents(&self) -> Vec<Extent> {
        let polygons = self.faces.iter().map(|face| Extent::Polygon(face.corners));
        polygons.chain(self.surfaces.iter().map(|surface| surface.extent.clone())).collect()
    }

    /// The surface of that number; `None` where it is a polygon's.
    pub fn surface(&self, index: u32) -> Option<&Surface> {
        let place = (index as usize).checked_sub(self.polygons.len())?;
        self.surfaces.get(place).map(|placed| &placed.surface)
    }

    /// The hit of a ray on a primitive, if it is nearer than `best`.
    #[inline]
    pub fn test<O: Operations>(&self, ops: O, index: u32, ray: &IntersectorRay, best: f32) -> Option<ModelHit> {
        match self.polygons.get(index as usize) {
            Some(polygon) => match intersect(ops, polygon, ray, best) {
                Outcome::Hit(hit) => Some(ModelHit { index, t: hit.t, point: hit.point }),
                _ => None,
            },
            None => {
                let t = self.surface(index)?.intersect(ops, ray, best)?;
                Some(ModelHit { index, t, point: super::intersector::point(ops, ray, t) })
            }
        }
    }

    /// The intersector slots that testing all surfaces takes.
    pub fn slots(&self) -> Slots {
        self.surfaces.iter().map(|placed| placed.surface.slots()).fold(Slots::default(), Slots::plus)
    }

    /// Words of a primitive's parameters.
    pub fn words(&self, index: u32) -> u32 {
        self.surface(index).map_or(WORDS as u32, Surface::words)
    }

    /// How many polygons' memory a primitive takes.
    pub fn weight(&self, index: u32) -> u32 {
        self.words(index).div_ceil(WORDS as u32)
    }

    /// Bytes of the parameters of all primitives.
    pub fn bytes(&self) -> u64 {
        let surfaces: u64 = self.surfaces.iter().map(|placed| u64::from(placed.surface.words())).sum();
        (self.polygons.len() as u64 * WORDS as u64 + surfaces) * WORD_BYTES
    }

    fn box_around(&self) -> (Vec3, Vec3) {
        let corners = self.faces.iter().flat_map(|face| &face.corners);
        let corners = corners.chain(self.surfaces.iter().flat_map(|placed| placed.extent.corners()));
        let joined = corners.map(|&p| (p, p)).reduce(|(low, high), (p, _)| (low.min(p), high.max(p)));
        joined.unwrap_or_default()
    }

    /// Adds what a procedural primitive is.
    fn hold(&mut self, candidate: Candidate) {
        let Candidate { polygons, surface, primitive } = candidate;
        for (polygon, corners) in polygons {
            self.polygons.push(polygon);
            self.faces.push(Face { corners, triangles: [(primitive, [0; 3]); 2], count: 0 });
        }
        self.held.push(true);
        self.surfaces.extend(surface.map(|(surface, extent)| PlacedSurface { surface, extent, primitive }));
    }

    /// Adds an object, whose first primitive has the number `first`; gives the number of triangles
    /// that have no plane.
    fn add(&mut self, object: &Object, first: u32) -> usize {
        let is_one_sided = object.sides == 1 || object.mesh.ribbons;
        let sides = if is_one_sided { Sides::One } else { Sides::Two };
        let placement = object.mesh_to_world();
        let mesh = &object.mesh;
        let mirrored = placement.determinant() < 0.0;
        let corners = |triangle: usize| mesh.corners(triangle).map(|p| placement.transform_point3(p));
        let (mut triangle, mut flat) = (0, 0);
        while triangle < mesh.triangles.len() {
            let second = (triangle + 1 < mesh.triangles.len()).then(|| pair(corners(triangle), corners(triangle + 1)));
            let number = first + triangle as u32;
            let quad = second.flatten().and_then(|(quad, own, other)| {
                let polygon = Polygon::from_quad(oriented(quad, mirrored), sides).ok().filter(needs_no_root)?;
                let maps = [own, other].map(|map| map.map(|c| mirrored_corner(c, mirrored)));
                Some((polygon, oriented(quad, mirrored), [(number, maps[0]), (number + 1, maps[1])]))
            });
            if let Some((polygon, corners, triangles)) = quad {
                self.polygons.push(polygon);
                self.faces.push(Face { corners, triangles, count: 2 });
                triangle += 2;
                continue;
            }
            let vertices = corners(triangle);
            let [a, b, c] = vertices;
            let ordered = if mirrored { [a, c, b] } else { vertices };
            match Polygon::from_triangle(ordered, sides) {
                Ok(polygon) => {
                    let corners = TriangleCorners::new(ordered).corners;
                    let corner = |p: Vec3| corners.iter().position(|&q| q == p).unwrap_or(0) as u8;
                    let map = (number, vertices.map(corner));
                    self.polygons.push(polygon);
                    self.faces.push(Face { corners, triangles: [map; 2], count: 1 });
                }
                Err(_) => flat += 1,
            }
            triangle += 1;
        }
        flat
    }

    /// Adds a polygon that stands for no triangle of a scene.
    #[cfg(test)]
    pub(crate) fn add_polygon(&mut self, polygon: Polygon, corners: [Vec3; 4]) {
        self.polygons.push(polygon);
        self.faces.push(Face { corners, triangles: [(0, [0, 1, 3]); 2], count: 1 });
    }

    /// The triangle of the scene that a hit lies on.
    pub fn resolve(&self, found: &ModelHit) -> Resolved {
        match self.faces.get(found.index as usize) {
            Some(face) => face.resolve(found.point),
            None => {
                let place = found.index as usize - self.faces.len();
                Resolved { primitive: self.surfaces[place].primitive, u: 0.0, v: 0.0 }
            }
        }
    }

    /// The sum of the polygons' areas, and those of the largest sides of the bodies around surfaces.
    pub fn area(&self) -> f64 {
        let surfaces = self.surfaces.iter().map(|placed| area(placed.extent.face()));
        self.faces.iter().map(|face| area(face.corners)).chain(surfaces).fold(0.0, |sum, area| sum + area)
    }
}

/// The forms in which a hardware model may hold a procedural primitive.
struct Candidate {
    polygons: Vec<(Polygon, [Vec3; 4])>,
    surface: Option<(Surface, Extent)>,
    primitive: u32,
}

impl Candidate {
    /// `None` where a quadrilateral is none that the hardware can hold.
    fn new(held: Held, primitive: u32) -> Option<Self> {
        let mut candidate = Self { polygons: Vec::new(), surface: None, primitive };
        match held {
            Held::Surface(surface, extent) => candidate.surface = Some((surface, extent)),
            Held::Polygons(all) => {
                for corners in all {
                    candidate.polygons.extend(quadrilateral(corners).ok()?);
                }
            }
        }
        Some(candidate)
    }

    /// The nearest hit of a ray, in single precision.
    fn hit(&self, request: &Request) -> Option<f32> {
        let ray = IntersectorRay::from_request(request);
        let polygons =
            self.polygons.iter().filter_map(|(polygon, _)| match intersect(Ieee, polygon, &ray, request.limit) {
                Outcome::Hit(hit) => Some(hit.t),
                _ => None,
            });
        let surface = self.surface.iter().filter_map(|(surface, _)| surface.intersect(Ieee, &ray, request.limit));
        polygons.chain(surface).reduce(f32::min)
    }

    /// True if rays hit it where a `shader` has them hit; both in the primitive's own space, in which
    /// the shader's box has these corners. Rays come from around the box and from inside. Half of them
    /// go anywhere in it, and the others to places that were hit: so small surfaces in large boxes are
    /// met, too. What is never hit is not known to be the same.
    fn agrees(&self, (low, high): (Vec3, Vec3), shader: impl Fn(&RayBatch) -> Option<[f32; BATCH]>) -> bool {
        let mut seed = 0;
        let mut random = || {
            seed += 1;
            unit(hash(seed))
        };
        let extents = self.polygons.iter().flat_map(|(_, corners)| corners);
        let extents = extents.chain(self.surface.iter().flat_map(|(_, extent)| extent.corners()));
        let (low, high) = extents.fold((low, high), |(low, high), p| (low.min(*p), high.max(*p)));
        // Of one size on all axes, or rays would meet a flat primitive edge on.
        let (middle, size) = ((low + high) * 0.5, (high - low).max_element());
        let mut point = || Vec3::new(random(), random(), random()) - 0.5;
        let (mut places, mut hits, mut differ) = (Vec::new(), 0, 0);
        for round in 0..ROUNDS {
            let mut rays = RayBatch::default();
            for lane in 0..BATCH {
                let from = middle + point() * size * if lane % 2 == 0 { 4.0 } else { 1.0 };
                let anywhere = middle + point() * (high - low);
                let place = places.get(if round % 2 == 0 { usize::MAX } else { lane });
                rays.set(lane, &Ray::new(from, place.copied().unwrap_or(anywhere) - from));
            }
            let Some(expected) = shader(&rays) else { return false };
            for (lane, &expected) in expected.iter().enumerate() {
                let ray = rays.ray(lane);
                let (origin, direction) = (ray.origin, ray.dir);
                let request = Request { origin, direction, limit: f32::INFINITY, kind: RayKind::Nearest };
                let expected = Some(expected).filter(|t| *t >= 0.0);
                places.extend(expected.map(|t| origin + direction * t));
                let found = self.hit(&request);
                hits += usize::from(found.is_some() || expected.is_some());
                differ += usize::from(match (found, expected) {
                    (Some(t), Some(expected)) => (t - expected).abs() * direction.length() > SAME * size,
                    (None, None) => false,
                    _ => true,
                });
            }
            places.reverse();
        }
        hits >= LEAST_HITS && differ as f32 <= DIFFERENT * hits as f32
    }
}

/// Batches of rays for [`Candidate::agrees`].
const ROUNDS: usize = 6;

/// By how much places may differ there, in sizes of the primitive.
const SAME: f32 = 1e-3;

/// Hits that are needed.
const LEAST_HITS: usize = 24;

/// The share of them that may differ: a few rays pass an edge on its other side.
const DIFFERENT: f32 = 0.03;

/// A planar convex quadrilateral as one polygon, or as two where its coordinates need roots.
fn quadrilateral(corners: [Vec3; 4]) -> Result<Vec<(Polygon, [Vec3; 4])>, PolygonError> {
    let whole = match Polygon::from_quad(corners, Sides::Two) {
        Ok(polygon) if needs_no_root(&polygon) => return Ok(vec![(polygon, corners)]),
        Ok(_) | Err(PolygonError::NearlyParallel) => corners,
        Err(error) => return Err(error),
    };
    let [a, b, c, d] = whole;
    let half = |corners| Ok((Polygon::from_triangle(corners, Sides::Two)?, TriangleCorners::new(corners).corners));
    [[a, b, c], [c, d, a]].into_iter().map(half).collect()
}

/// The area of a quadrilateral.
fn area([a, b, c, d]: [Vec3; 4]) -> f64 {
    let [p, q] = [c - a, d - b].map(Vec3::as_dvec3);
    0.5 * p.cross(q).length()
}

impl Face {
    /// The triangles that it stands for, each its primitive number, and which corners its vertices
    /// are; none for a procedural primitive's.
    pub(crate) fn triangles(&self) -> &[(u32, [u8; 3])] {
        &self.triangles[..usize::from(self.count)]
    }

    /// Which triangle a point lies on, and where. The point has 24 bits, of which `u` and `v` keep 12.
    fn resolve(&self, point: [f32; 3]) -> Resolved {
        if self.count == 0 {
            return Resolved { primitive: self.triangles[0].0, u: 0.0, v: 0.0 };
        }
        let point = Vec3::from(point).as_dvec3();
        let at = |k: usize| {
            let (primitive, map) = self.triangles[k];
            let [a, b, c] = map.map(|i| self.corners[usize::from(i)].as_dvec3());
            (primitive, weights(point, [a, b, c]))
        };
        let (mut primitive, mut w) = at(0);
        if self.count == 2 {
            let (second, other) = at(1);
            // Inside its triangle the least of the three weights is not negative.
            let least = |[v, w]: [f64; 2]| v.min(w).min(1.0 - v - w);
            if least(other) > least(w) {
                (primitive, w) = (second, other);
            }
        }
        let [v1, v2] = w.map(|x| x.clamp(0.0, 1.0));
        let over = (v1 + v2).max(1.0);
        Resolved { primitive, u: (v1 / over) as f32, v: (v2 / over) as f32 }
    }
}

/// True if both coordinates are quotients. A root of 12 bits is wrong by a part of itself, and far from
/// the polygon roots are large: points many sizes away would count as hits.
fn needs_no_root(polygon: &Polygon) -> bool {
    [polygon.u.case, polygon.v.case] == [Case::Parallel; 2]
}

/// The weights of the second and the third corner at a point of a triangle's plane.
fn weights(point: DVec3, [a, b, c]: [DVec3; 3]) -> [f64; 2] {
    let (e, f, p) = (b - a, c - a, point - a);
    let n = e.cross(f);
    let inverse = 1.0 / n.length_squared();
    let [v, w] = [p.cross(f).dot(n) * inverse, e.cross(p).dot(n) * inverse];
    [v, w].map(|x| if x.is_finite() { x } else { 0.0 })
}

/// The quadrilateral of two triangles that share an edge in opposite directions: its corners in
/// order, and which of them the vertices of each triangle are. It may be no polygon that the
/// hardware can hold.
fn pair(first: [Vec3; 3], second: [Vec3; 3]) -> Option<([Vec3; 4], [u8; 3], [u8; 3])> {
    for k in 0..3 {
        // The edge from b to c is the second's from c to b.
        let [a, b, c] = [first[k], first[(k + 1) % 3], first[(k + 2) % 3]];
        for j in 0..3 {
            let [d, e, f] = [second[j], second[(j + 1) % 3], second[(j + 2) % 3]];
            if e == c && f == b {
                let mut own = [0u8; 3];
                let mut other = [0u8; 3];
                for (place, corner) in [0u8, 1, 3].into_iter().enumerate() {
                    own[(k + place) % 3] = corner;
                }
                for (place, corner) in [2u8, 3, 1].into_iter().enumerate() {
                    other[(j + place) % 3] = corner;
                }
                return Some(([a, b, d, c], own, other));
            }
        }
    }
    None
}

/// The corners in the order that gives the normal of the triangles; a placement that mirrors turns
/// it round.
fn oriented([a, b, c, d]: [Vec3; 4], mirrored: bool) -> [Vec3; 4] {
    if mirrored { [a, d, c, b] } else { [a, b, c, d] }
}

/// Where a corner is after [`oriented`].
fn mirrored_corner(corner: u8, mirrored: bool) -> u8 {
    if mirrored { (4 - corner) % 4 } else { corner }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rays::polygon::bilinear;
    use shadewright_base::text::source::SourceMap;
    use shadewright_geometry::Mesh;
    use shadewright_scene::{OpenOptions, open};
    use std::path::Path;
    use std::sync::Arc;

    fn scene_of(meshes: Vec<(Mesh, MeshSpace, Mat4)>) -> Scene {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("assets/scenes/mirrors.rib");
        let mut scene = open(&path, &OpenOptions::default(), &mut SourceMap::new()).expect("a scene").scene;
        let object = scene.objects[0].clone();
        let with = |(mesh, mesh_space, object_to_world)| Object {
            mesh: Arc::new(mesh),
            mesh_space,
            object_to_world,
            procedural: None,
            ..object.clone()
        };
        scene.objects = meshes.into_iter().map(with).collect();
        scene
    }

    /// A unit square in two triangles and a triangle beside it.
    fn square() -> Mesh {
        let positions = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 0.3]];
        Mesh {
            positions: positions.map(|[x, y]| Vec3::new(x, y, 0.5)).to_vec(),
            triangles: vec![[0, 1, 2], [2, 3, 0], [1, 4, 2]],
            ..Mesh::default()
        }
    }

    #[test]
    fn triangles_of_a_square_make_one_polygon_that_knows_both() {
        for placement in [Mat4::IDENTITY, Mat4::from_scale(Vec3::new(-2.0, 1.0, 1.0))] {
            let scene = scene_of(vec![(square(), MeshSpace::Object, placement)]);
            let model = Model::from_meshes(&scene).expect("it fits");
            assert_eq!((model.polygons.len(), model.left_out.len()), (2, 0));
            let mesh = square();
            for step in 0..100 {
                let [u, v] = [(step % 10) as f32 / 9.0, (step / 10) as f32 / 9.0];
                for polygon in 0..2 {
                    let expected = bilinear(model.faces[polygon as usize].corners, [u, v]);
                    let hit = model.resolve(&ModelHit { index: polygon, t: 1.0, point: expected.to_array() });
                    let [a, b, c] = mesh.corners(hit.primitive as usize).map(|p| placement.transform_point3(p));
                    let point = a + (b - a) * hit.u + (c - a) * hit.v;
                    assert!(point.distance(expected) < 1e-5, "{u} {v}: {point} {expected}");
                    assert!(hit.u >= 0.0 && hit.v >= 0.0 && hit.u + hit.v < 1.0001);
                    assert_eq!(hit.primitive == 2, polygon == 1);
                }
            }
            let normal = Vec3::from(model.polygons[0].n_p);
            let [a, b, c] = mesh.corners(0);
            let flipped = placement.determinant() < 0.0;
            let geometric = placement.inverse().transpose().transform_vector3((b - a).cross(c - a));
            let facing = normal.dot(geometric);
            assert!(facing > 0.0, "mirrored {flipped}: {facing}");
        }
    }

    #[test]
    fn thin_triangles_are_counted_and_numbers_go_on_after_them() {
        let mut mesh = square();
        mesh.triangles.insert(0, [0, 1, 1]);
        let world = (mesh, MeshSpace::World, Mat4::IDENTITY);
        let scene = scene_of(vec![(square(), MeshSpace::Object, Mat4::IDENTITY), world]);
        let model = Model::from_meshes(&scene).expect("it fits");
        assert!(model.left_out[0].starts_with("1 triangles"), "{:?}", model.left_out);
        // Objects in world space come first.
        let at = |index: u32| bilinear(model.faces[index as usize].corners, [0.2; 2]).to_array();
        let primitive = |index| model.resolve(&ModelHit { index, t: 0.0, point: at(index) }).primitive;
        let primitives: Vec<u32> = (0..4).map(primitive).collect();
        assert_eq!(primitives, [1, 3, 4, 6]);
        assert_eq!(model.objects, [(1, 0..2), (0, 2..4)]);
    }
}
