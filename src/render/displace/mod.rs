//! True displacement: displacement shaders move the points of meshes, once, before acceleration
//! structures are built.
//!
//! A [`Displacer`] takes a scene and gives the objects that ask for it
//! ([`shadewright_scene::ObjectAttributes::true_displacement`]) other meshes: diced finely ([`rate`],
//! [`shadewright_geometry::refine`]), moved by their shaders ([`points`]), which run on the RPU whatever
//! draws the image, and joined where they were joined ([`weld`]). Back ends know nothing of it: they
//! see more triangles. Whoever draws a scene runs this before linking it.

mod points;
mod rate;
mod weld;

use glam::Mat4;
use rate::Dicer;
use rayon::prelude::*;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::SourceMap;
use shadewright_geometry::Mesh;
use shadewright_geometry::refine::refine;
use shadewright_ir::abi::frame::FrameConstants;
use shadewright_program::{LinkOptions, MemoryImage, Program, ProgramPurpose, ShaderCache, link_cached};
use shadewright_scene::{Camera, DEFAULT_TRIANGLES, Format, MeshSpace, Object, ObjectAttributes, Scene, ShaderId};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// Displaces scenes, and knows what it made of the last one.
///
/// A triangle that it makes takes 180 bytes of BVH and shading data, and a core 1 µs before BVHs
/// are built (`--render --stats --threads 1` of `assets/scenes/displaced.rib` at 640x480, where
/// they are 1.56 million).
#[derive(Debug)]
pub struct Displacer {
    most_triangles: usize,
    /// The camera that surfaces are diced for, instead of the scene's own view.
    view: Option<(Camera, Format)>,
    units: ShaderCache,
    last: Option<Last>,
}

impl Default for Displacer {
    fn default() -> Self {
        Self::new(DEFAULT_TRIANGLES)
    }
}

/// A summary of the displacement of a scene.
#[derive(Clone, Debug, Default)]
pub struct Displaced {
    /// The triangles of displaced objects.
    pub triangles: usize,
    /// Diagnostics of the displacement.
    pub remarks: Vec<Diagnostic>,
}

/// The last displaced scene, and the input that it was made of.
#[derive(Debug)]
struct Last {
    given: Vec<Given>,
    view: (Camera, Format),
    module: Arc<shadewright_ir::Module>,
    memory: Arc<MemoryImage>,
    constants: FrameConstants,
    meshes: Vec<Arc<Mesh>>,
    displaced: Displaced,
}

/// An object to be displaced.
#[derive(Clone, Debug)]
struct Given {
    /// The object's number in the scene.
    object: usize,
    shader: ShaderId,
    /// How far the scene says that the shader moves points; 0 where it does not say.
    bound: f32,
    shading_rate: f32,
    mesh: Arc<Mesh>,
    space: MeshSpace,
    to_world: Mat4,
}

impl Given {
    fn from_object((number, object): (usize, &Object)) -> Option<Self> {
        if object.procedural.is_some() {
            return None;
        }
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
    /// One that dices the objects of a scene into so many triangles at most.
    pub fn new(most_triangles: usize) -> Self {
        Self { most_triangles, view: None, units: ShaderCache::default(), last: None }
    }

    /// Cuts surfaces for another view than the scene's from now on; `None` for the scene's again.
    pub fn set_view(&mut self, view: Option<(Camera, Format)>) {
        self.view = view;
    }

    /// Gives the objects of a scene that are to be displaced their meshes, those of the last time
    /// where nothing has changed. The shaders are compiled as for [`shadewright_program::link`], and
    /// their texts are added to `sources`.
    ///
    /// # Errors
    /// The errors in the objects' shaders, and a shader that does not end.
    pub fn displace(
        &mut self,
        scene: &mut Scene,
        sources: &mut SourceMap,
        options: &LinkOptions,
    ) -> Result<Displaced, Diagnostics> {
        let mut given: Vec<Given> = scene.objects.iter().enumerate().filter_map(Given::from_object).collect();
        if given.is_empty() {
            self.last = None;
            return Ok(Displaced::default());
        }
        // The original objects determine which shaders move points at all, and whether all is as it
        // was.
        let mut stage = scene_of(scene, &given);
        let mut program = self.link(&stage, sources, options)?;
        given.retain(|g| program.changes(g.shader, "P"));
        if given.is_empty() {
            self.last = None;
            return Ok(Displaced::default());
        }
        let mut asks = false;
        stage = scene_of(scene, &given);
        for (object, given) in stage.objects.iter_mut().zip(&given).filter(|(_, g)| program.reads_surface(g.shader)) {
            (object.surface, asks) = (scene.objects[given.object].surface, true);
        }
        if asks {
            program = self.link(&stage, sources, options)?;
        }
        let triangles: usize = given.iter().map(|g| g.mesh.triangles.len()).sum();
        let most = self.room(scene, &given);
        if triangles > most {
            self.last = None;
            return Ok(Displaced { triangles: 0, remarks: vec![too_many(triangles, most)] });
        }
        let view = self.view.clone().unwrap_or_else(|| (scene.camera.clone(), scene.format));
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
            let dicer = dice(&mut stage, most, &view, &mut displaced);
            let fine = self.link(&stage, sources, options)?;
            let meshes = points::moved(stage, &fine, &given, &dicer, &mut displaced.remarks)?;
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
        let options = LinkOptions { stage: ProgramPurpose::Displacement, output: None, ..options.clone() };
        match link_cached(stage, std::mem::take(sources), &options, &mut self.units) {
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

    /// The triangles that objects of a scene may be diced into: all that others leave, or an eighth.
    fn room(&self, scene: &Scene, given: &[Given]) -> usize {
        let mut known: HashSet<_> = given.iter().map(|g| Arc::as_ptr(&g.mesh)).collect();
        let others = scene.objects.iter().filter(|o| known.insert(Arc::as_ptr(&o.mesh)));
        let others: usize = others.map(|o| o.mesh.triangles.len()).sum();
        self.most_triangles.saturating_sub(others).max(self.most_triangles / 8)
    }
}

/// Moves the objects to world space and dices them as finely as the view asks, or as there is room
/// for.
fn dice(stage: &mut Scene, most: usize, (camera, format): &(Camera, Format), displaced: &mut Displaced) -> Dicer {
    stage.objects.iter_mut().for_each(Object::flatten);
    let mut dicer = Dicer::new(camera, *format);
    let mut coarser = 1.0;
    let objects = &stage.objects;
    let meshes = loop {
        if let Some(meshes) = cut(objects, &dicer, most) {
            break meshes;
        }
        // Many steps may be too fine by far. Edges that are PROBE times as long tell at little
        // cost.
        loop {
            coarser *= 2.0;
            dicer = dicer.coarser(coarser);
            if may_fit(objects, &dicer.coarser(coarser * PROBE), most) {
                break;
            }
        }
    };
    stage.objects.iter_mut().zip(meshes).for_each(|(object, mesh)| object.mesh = Arc::new(mesh));
    if coarser > 1.0 {
        let message = format!(
            "the displaced objects would have more than {most} triangles: their edges are {coarser} times as long as ShadingRate asks"
        );
        displaced.remarks.push(
            Diagnostic::warning(message)
                .hint("a larger ShadingRate makes do with fewer; --max-triangles N allows more"),
        );
    }
    dicer
}

/// The edges of the probe, which estimates the number of triangles, are this many times as long.
const PROBE: f64 = 16.0;

/// The objects' meshes, diced; `None` when they have more triangles in all than `most`.
fn cut(objects: &[Object], dicer: &Dicer, most: usize) -> Option<Vec<Mesh>> {
    let made = AtomicUsize::new(0);
    let mesh = |object: &Object| {
        let rate = object.attributes.shading_rate;
        refine(&object.mesh, &|a, b| dicer.is_long(a, b, rate), &made, most)
    };
    objects.par_iter().map(mesh).collect()
}

/// True if objects may have at most as many triangles when they are diced, where `probe` dices them
/// with edges that are [`PROBE`] times as long, into that square fewer triangles. The guess may be
/// wrong by a half; the triangles decide.
fn may_fit(objects: &[Object], probe: &Dicer, most: usize) -> bool {
    let own: usize = objects.iter().map(|o| o.mesh.triangles.len()).sum();
    let more = 1.5 * most.saturating_sub(own) as f64 / (PROBE * PROBE);
    cut(objects, probe, own + more as usize).is_some()
}

/// The warning about objects with more triangles of their own than there may be after dicing.
fn too_many(triangles: usize, most: usize) -> Diagnostic {
    let message = format!(
        "the objects to displace have {triangles} triangles; {most} is the limit: their geometry stays as it is"
    );
    Diagnostic::warning(message).hint("their displacement shaders change shading points and normals only")
}

/// Gives a scene that was read again, or edited, the displaced meshes of another with the same
/// objects.
pub fn keep_meshes(scene: &mut Scene, displaced: &Scene) {
    let displaced = displaced.objects.iter().enumerate().filter(|(_, o)| o.attributes.displaced);
    set_meshes(scene, displaced.map(|(number, object)| (number, object.mesh.clone())));
}

/// Gives objects, by their numbers, displaced meshes.
fn set_meshes(scene: &mut Scene, meshes: impl Iterator<Item = (usize, Arc<Mesh>)>) {
    // Objects that share their attributes keep sharing them.
    let mut known = HashMap::new();
    for (number, mesh) in meshes {
        let object = &mut scene.objects[number];
        (object.mesh, object.mesh_space) = (mesh, MeshSpace::World);
        let own = object.attributes.clone();
        let displaced = known.entry(Arc::as_ptr(&own)).or_insert_with(|| {
            let attributes = ObjectAttributes { displaced: true, ..(*own).clone() };
            (own, Arc::new(attributes))
        });
        object.attributes = displaced.1.clone();
    }
}

/// The scene with these objects only, without lights and surfaces: what most displacement shaders
/// depend on.
fn scene_of(scene: &Scene, given: &[Given]) -> Scene {
    let bare = |g: &Given| Object { lights: Arc::new([]), surface: None, ..scene.objects[g.object].clone() };
    let objects = given.iter().map(bare).collect();
    Scene { objects, lights: Vec::new(), imager: None, ray_function: None, camera_shader: None, ..scene.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    /// A scene of an object of so many triangles.
    fn scene(triangles: usize) -> Scene {
        let mesh = Mesh { triangles: vec![[0, 1, 2]; triangles], ..Mesh::default() };
        let mut scene = Scene::empty("others");
        scene.objects.push(Object {
            name: "".into(),
            surface: None,
            attributes: Arc::default(),
            lights: Arc::new([]),
            sides: 2,
            color: Vec3::ONE,
            opacity: Vec3::ONE,
            mesh: Arc::new(mesh),
            mesh_space: MeshSpace::World,
            procedural: None,
            solid: None,
            object_to_world: Mat4::IDENTITY,
            span: None,
        });
        scene
    }

    #[test]
    fn displaced_objects_have_the_room_that_others_leave_or_an_eighth_of_all() {
        let displacer = Displacer::new(800);
        let room = [0, 300, 700, 701, 10_000].map(|others| displacer.room(&scene(others), &[]));
        assert_eq!(room, [800, 500, 100, 100, 100]);
        assert_eq!(Displacer::default().room(&scene(0), &[]), 4_194_304);
    }
}
