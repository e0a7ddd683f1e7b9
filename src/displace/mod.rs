//! True displacement: displacement shaders move the points of meshes, once, before trees are built.
//!
//! A [`Displacer`] takes a scene and gives the objects that ask for it ([`crate::scene::ObjectAttributes::true_displacement`]) other meshes: cut finely ([`rate`],
//! [`crate::geometry::refine`]), moved by their shaders, which run on the RPU whatever draws the picture, and joined where they were joined ([`weld`]). Machines know
//! nothing of it: they see more triangles. Whoever draws a scene runs this before linking it.

mod rate;
mod weld;

use crate::geometry::Mesh;
use crate::geometry::refine::refine;
use crate::lang::diag::{Diagnostic, Diagnostics};
use crate::lang::source::SourceMap;
use crate::program::{
    LinkOptions, MemoryImage, PROGRAM_CONSTANTS, Program, Stage, Units, displacement_entry, link_keeping,
};
use crate::render::DEFAULT_BUDGET;
use crate::render::rpu::{Batch, Hit, run_at_hits};
use crate::scene::{Camera, Format, MeshSpace, Object, Scene, ShaderId};
use glam::{Mat4, Vec3};
use rate::Dicer;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use weld::Weld;

/// Most triangles that all displaced objects of a scene are cut into. Each takes about 250 bytes of trees and shading data.
pub const MAX_TRIANGLES: usize = 1 << 23;

/// Displaces scenes, and knows what it made of the last one.
#[derive(Debug, Default)]
pub struct Displacer {
    units: Units,
    last: Option<Last>,
}

/// What was done to a scene.
#[derive(Clone, Debug, Default)]
pub struct Displaced {
    /// The triangles of displaced objects.
    pub triangles: usize,
    /// What there was to remark on.
    pub remarks: Vec<Diagnostic>,
}

/// What was made of a scene, and of what.
#[derive(Debug)]
struct Last {
    given: Vec<Given>,
    view: (Camera, Format),
    module: Arc<crate::ir::Module>,
    memory: Arc<MemoryImage>,
    constants: [[f32; 4]; PROGRAM_CONSTANTS],
    meshes: Vec<Arc<Mesh>>,
    displaced: Displaced,
}

/// An object to be displaced.
#[derive(Clone, Debug)]
struct Given {
    /// Its number.
    object: usize,
    shader: ShaderId,
    bound: f32,
    shading_rate: f32,
    mesh: Arc<Mesh>,
    space: MeshSpace,
    to_world: Mat4,
}

impl Given {
    fn of((number, object): (usize, &Object)) -> Option<Self> {
        let own = &object.attributes;
        Some(Self {
            object: number,
            shader: own.true_displacement()?,
            bound: own.displacement_bound,
            shading_rate: own.shading_rate,
            mesh: object.mesh.clone(),
            space: object.mesh_space,
            to_world: object.object_to_world,
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        let key = |g: &Self| (g.object, g.shader, g.bound, g.shading_rate, g.space, g.to_world);
        key(self) == key(other) && Arc::ptr_eq(&self.mesh, &other.mesh)
    }
}

impl Displacer {
    /// Gives the objects of a scene that are to be displaced their meshes, those of the last time where nothing has changed.
    /// The shaders are compiled as for [`crate::program::link`], and their texts are added to `sources`.
    ///
    /// # Errors
    /// What is wrong with the objects' shaders, a shader that does not end, and objects with more than [`MAX_TRIANGLES`] triangles of their own.
    pub fn displace(
        &mut self,
        scene: &mut Scene,
        sources: &mut SourceMap,
        options: &LinkOptions,
    ) -> Result<Displaced, Diagnostics> {
        let mut given: Vec<Given> = scene.objects.iter().enumerate().filter_map(Given::of).collect();
        if given.is_empty() {
            self.last = None;
            return Ok(Displaced::default());
        }
        // Objects as they are tell which shaders move points at all, and whether all is as it was.
        let mut stage = scene_of(scene, &given);
        let mut program = self.link(&stage, sources, options)?;
        given.retain(|g| program.changes(g.shader, "P"));
        let mut asks = false;
        stage = scene_of(scene, &given);
        for (object, given) in stage.objects.iter_mut().zip(&given).filter(|(_, g)| program.asks_for_surface(g.shader))
        {
            (object.surface, asks) = (scene.objects[given.object].surface, true);
        }
        if asks {
            program = self.link(&stage, sources, options)?;
        }
        let view = (scene.camera.clone(), scene.format);
        let is_last = |last: &Last| {
            last.view == view
                && last.constants == program.constants
                && last.given.len() == given.len()
                && last.given.iter().zip(&given).all(|(a, b)| a.is_same(b))
                && *last.module == *program.module
                && *last.memory == *program.memory
        };
        if !self.last.as_ref().is_some_and(is_last) {
            let mut displaced = Displaced::default();
            let dicer = dice(&mut stage, &mut displaced)?;
            let fine = self.link(&stage, sources, options)?;
            let meshes = moved(&stage, &fine, &given, &dicer, &mut displaced.remarks)?;
            displaced.triangles = meshes.iter().map(|m| m.triangles.len()).sum();
            let Program { module, memory, constants, .. } = program;
            self.last = Some(Last { given, view, module, memory, constants, meshes, displaced });
        }
        let Some(last) = &self.last else { return Ok(Displaced::default()) };
        let numbers = last.given.iter().map(|g| g.object);
        set_meshes(scene, numbers.zip(last.meshes.iter().cloned()));
        Ok(last.displaced.clone())
    }

    fn link(&mut self, stage: &Scene, sources: &mut SourceMap, options: &LinkOptions) -> Result<Program, Diagnostics> {
        let options = LinkOptions { stage: Stage::Displacement, output: None, ..options.clone() };
        match link_keeping(stage, std::mem::take(sources), &options, &mut self.units) {
            Ok(program) => {
                *sources = program.sources.clone();
                Ok(program)
            }
            Err(error) => {
                *sources = error.sources;
                Err(error.diagnostics)
            }
        }
    }
}

/// Gives a scene that was read anew, or edited, the displaced meshes of another with the same objects.
pub fn keep_meshes(scene: &mut Scene, displaced: &Scene) {
    let displaced = displaced.objects.iter().enumerate().filter(|(_, o)| o.attributes.displaced);
    set_meshes(scene, displaced.map(|(number, object)| (number, object.mesh.clone())));
}

/// Gives objects, by their numbers, displaced meshes.
fn set_meshes(scene: &mut Scene, meshes: impl Iterator<Item = (usize, Arc<Mesh>)>) {
    // Objects that share their attributes go on sharing them.
    let mut known = HashMap::new();
    for (number, mesh) in meshes {
        let object = &mut scene.objects[number];
        (object.mesh, object.mesh_space) = (mesh, MeshSpace::World);
        let own = object.attributes.clone();
        let displaced = known.entry(Arc::as_ptr(&own)).or_insert_with(|| {
            let attributes = crate::scene::ObjectAttributes { displaced: true, ..(*own).clone() };
            (own, Arc::new(attributes))
        });
        object.attributes = displaced.1.clone();
    }
}

/// The scene with these objects only, without lights and surfaces: what most displacement shaders depend on.
fn scene_of(scene: &Scene, given: &[Given]) -> Scene {
    let bare = |g: &Given| Object { lights: Arc::new([]), surface: None, ..scene.objects[g.object].clone() };
    let objects = given.iter().map(bare).collect();
    Scene { objects, lights: Vec::new(), imager: None, ray_program: None, ..scene.clone() }
}

/// Moves the objects to world space and cuts them as finely as the camera asks, or as there is room for.
fn dice(stage: &mut Scene, displaced: &mut Displaced) -> Result<Dicer, Diagnostics> {
    let triangles: usize = stage.objects.iter().map(|o| o.mesh.triangles.len()).sum();
    if triangles > MAX_TRIANGLES {
        let message = format!("the objects to displace have {triangles} triangles; {MAX_TRIANGLES} is the limit");
        let hint = "without Attribute \"displacementbound\" their shaders turn normals only";
        return Err(Diagnostic::error(message).hint(hint).into());
    }
    stage.objects.iter_mut().for_each(Object::flatten);
    let mut dicer = Dicer::new(&stage.camera, stage.format);
    let mut coarser = 1.0;
    loop {
        let made = AtomicUsize::new(0);
        let cut = |object: &Object| {
            let rate = object.attributes.shading_rate;
            refine(&object.mesh, &|a, b| dicer.is_long(a, b, rate), &made, MAX_TRIANGLES)
        };
        let meshes: Option<Vec<Mesh>> = stage.objects.par_iter().map(cut).collect();
        if let Some(meshes) = meshes {
            stage.objects.iter_mut().zip(meshes).for_each(|(object, mesh)| object.mesh = Arc::new(mesh));
            break;
        }
        coarser *= 2.0;
        dicer = dicer.coarser(coarser);
    }
    if coarser > 1.0 {
        let message = format!(
            "the displaced objects would have more than {MAX_TRIANGLES} triangles: their edges are {coarser} times as long as ShadingRate asks"
        );
        displaced.remarks.push(Diagnostic::warning(message).hint("a larger ShadingRate makes do with fewer"));
    }
    Ok(dicer)
}

/// The meshes of a stage as the shaders of its program leave them.
fn moved(
    stage: &Scene,
    program: &Program,
    given: &[Given],
    dicer: &Dicer,
    remarks: &mut Vec<Diagnostic>,
) -> Result<Vec<Arc<Mesh>>, Diagnostics> {
    let meshes: Vec<Mesh> = stage.objects.iter().map(|o| (*o.mesh).clone()).collect();
    let mut results = run(stage, program, dicer, &meshes)?;
    let shaders: Vec<u32> = given.iter().map(|g| g.shader.0).collect();
    let weld = Weld::of(&meshes, &shaders);
    let before = || meshes.iter().flat_map(|m| &m.positions);
    let mut lost = 0usize;
    for (point, &before) in results.points.iter_mut().zip(before()) {
        if !point.is_finite() {
            (*point, lost) = (before, lost + 1);
        }
    }
    if lost > 0 {
        let message = format!("displacement shaders move {lost} points to no finite place");
        remarks.push(Diagnostic::warning(message).hint("these points stay where they are"));
    }
    weld.places.average(&mut results.points);
    let computed = weld.sides.normals(&meshes, &results.points);
    let mut made = Vec::with_capacity(meshes.len());
    let mut farthest: BTreeMap<ShaderId, (f32, f32)> = BTreeMap::new();
    let mut first = 0;
    for (mesh, given) in meshes.into_iter().zip(given) {
        let vertices = first..first + mesh.positions.len();
        first = vertices.end;
        let positions = results.points[vertices.clone()].to_vec();
        let far = positions.iter().zip(&mesh.positions).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        let known = farthest.entry(given.shader).or_insert((far, given.bound));
        if far / given.bound > known.0 / known.1 {
            *known = (far, given.bound);
        }
        let from_shader = program.changes(given.shader, "N");
        let normal = |(i, own): (usize, &Vec3)| {
            let left = results.normals[i].try_normalize().filter(|_| from_shader);
            left.or(computed[i].try_normalize()).unwrap_or(*own)
        };
        let normals = vertices.zip(&mesh.normals).map(normal).collect();
        made.push(Arc::new(Mesh { positions, normals, ..mesh }));
    }
    for (shader, (far, bound)) in farthest.into_iter().filter(|(_, (far, bound))| far > bound) {
        let instance = &stage.shader_instances[shader.0 as usize];
        let message = format!(
            "`{}` moves points by up to {far} units of the world, and its displacementbound is {bound}",
            instance.name
        );
        let d = Diagnostic::warning(message).hint("nothing is cut off here; other renderers need the true bound");
        remarks.push(match instance.span {
            Some(span) => d.at(span, "named here"),
            None => d,
        });
    }
    Ok(made)
}

/// What the shaders make of the vertices of all meshes.
struct Results {
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
}

/// Runs the shaders at all vertices.
fn run(stage: &Scene, program: &Program, dicer: &Dicer, meshes: &[Mesh]) -> Result<Results, Diagnostics> {
    let image = &program.memory;
    let frame = stage.camera_frame();
    let mut first = 0;
    let mut runs = Vec::with_capacity(meshes.len());
    for (object, mesh) in stage.objects.iter().zip(meshes) {
        let [entry, triangle, record] = image.resolve(first);
        first += mesh.triangles.len() as u32;
        let corners = corner_of_each_vertex(mesh);
        let width_of = f64::from(object.attributes.shading_rate).sqrt();
        let hit = move |i: usize| {
            let point = mesh.positions[i];
            let (number, corner) = corners[i];
            Hit {
                point,
                direction: if frame.orthographic { frame.z } else { point - frame.origin },
                // What a pixel shows, and so what there is between two samples.
                width: (width_of / dicer.pixels(point.as_dvec3(), 1.0)) as f32,
                barycentric: [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]][usize::from(corner)],
                triangle: triangle + number,
                object: record,
            }
        };
        runs.push((displacement_entry(entry as usize), mesh.positions.len(), hit));
    }
    let batches: Vec<Batch<'_>> = runs.iter().map(|(entry, count, hit)| Batch { entry, count: *count, hit }).collect();
    let words = run_at_hits(program, &batches, DEFAULT_BUDGET).map_err(|e| Diagnostics::from(e.diagnostic()))?;
    let vector = |words: &[u32]| Vec3::from_array(std::array::from_fn(|i| f32::from_bits(words[i])));
    let rows = || words.iter().flat_map(|words| words.chunks_exact(6));
    Ok(Results {
        points: rows().map(|row| vector(&row[..3])).collect(),
        normals: rows().map(|row| vector(&row[3..])).collect(),
    })
}

/// For each vertex of a mesh, the first triangle that has it, and as which corner.
fn corner_of_each_vertex(mesh: &Mesh) -> Vec<(u32, u8)> {
    let mut corners = vec![(0, 0); mesh.positions.len()];
    for (number, triangle) in mesh.triangles.iter().enumerate().rev() {
        for (corner, &vertex) in (0..).zip(triangle) {
            corners[vertex as usize] = (number as u32, corner);
        }
    }
    corners
}
