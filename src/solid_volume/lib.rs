//! The volumes of a scene's objects, by a raster of parallel rays and by the divergence theorem
//! (Ullner 1983, §2.1; Roth 1982, "Ray casting for modeling solids").
//!
//! A [`Body`] is an object, or what the pieces of a solid enclose together. Its [`Surface`] is
//! welded, and its faces are given sides: where a ray passes a face from outside, the net volume
//! that it is in rises by one, and where it leaves through a face, it falls by one. [`raster`] adds
//! up the lengths at which the net volume is above zero. The module takes meshes and a BVH; it must
//! not know shaders.
//!
//! | file | holds |
//! |---|---|
//! | [`surface`] | welding, sides of faces, closedness, the exact volume |
//! | [`raster`] | rays along an axis, with all their hits |

pub mod raster;
pub mod surface;

#[cfg(test)]
mod tests;

use glam::{DMat4, DVec3};
use raster::{Axis, Raster};
use serde::Serialize;
use shadewright_base::text::source::Span;
use shadewright_bvh::{BuildError, BuildOptions, Bvh};
use shadewright_scene::{MeshSpace, Object, Scene};
use std::collections::BTreeMap;
use surface::{Sides, Surface};

/// The rays of each raster as a share of those of the first. Rasters of one resolution would have the
/// same error in a body that looks the same along all axes, and none would show.
const SHARES: [f64; 3] = [1.0, 0.75, 0.5];

/// How much larger than the spread of the rasters the error of their mean may be. Lengths fall to
/// zero like a square root at a silhouette, which each raster overestimates by its cells' sides to
/// the power of 3/2: with these shares, the mean by 3.5 times the largest difference from it.
const BIAS: f64 = 4.0;

/// Different names of pieces that the name of a solid lists.
const NAMES: usize = 3;

/// The objects that enclose one volume.
#[derive(Clone, Debug)]
pub struct Body {
    /// The name in reports.
    pub name: String,
    /// The body's objects, as indices into [`Scene::objects`], ascending.
    pub objects: Vec<usize>,
    /// The number of its solid; `None` for an object that is no piece of one.
    pub solid: Option<u32>,
    /// The request that declared its first object, if a file did.
    pub span: Option<Span>,
}

/// The measured volume of a body. Volumes are in cubes of the units of the scene's world.
#[derive(Clone, Debug, Serialize)]
pub struct Volume {
    /// The body's name.
    pub name: String,
    /// How many objects it has.
    pub objects: usize,
    /// Their triangles with an area.
    pub triangles: usize,
    /// Edges at which the surface does not close; 0 of a closed one.
    pub open_edges: usize,
    /// The volume of the mesh by the divergence theorem; `None` where it is not closed. Where a mesh
    /// overlaps itself this counts the overlap as often as it is enclosed, and rays count it once.
    pub exact: Option<f64>,
    /// The mean of the rasters' estimates.
    pub estimate: f64,
    /// By how much the mean may be wrong: four times the largest difference between it and the
    /// estimate of an axis; `None` with one axis.
    pub error: Option<f64>,
    /// The rasters, by their axes.
    pub rasters: Vec<Raster>,
}

impl Volume {
    /// True if every ray leaves the body as often as it enters it.
    pub fn is_closed(&self) -> bool {
        self.open_edges == 0 && self.rasters.iter().all(|raster| raster.unbalanced == 0)
    }
}

/// The bodies of a scene: its objects with triangles in their order, the pieces of a solid together
/// where the first of them stands. Procedural primitives, which have no triangles, are none.
pub fn bodies(scene: &Scene) -> Vec<Body> {
    let mut solids: BTreeMap<u32, usize> = BTreeMap::new();
    let mut bodies: Vec<Body> = Vec::new();
    let objects = scene.objects.iter().enumerate();
    for (index, object) in objects.filter(|(_, object)| !object.mesh.triangles.is_empty()) {
        if let Some(&body) = object.solid.and_then(|number| solids.get(&number)) {
            bodies[body].objects.push(index);
            continue;
        }
        if let Some(number) = object.solid {
            solids.insert(number, bodies.len());
        }
        let name = object.name.to_string();
        bodies.push(Body { name, objects: vec![index], solid: object.solid, span: object.span });
    }
    for body in bodies.iter_mut().filter(|body| body.solid.is_some()) {
        body.name = solid_name(body, scene);
    }
    bodies
}

/// The names of a solid's pieces, each once.
fn solid_name(body: &Body, scene: &Scene) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in body.objects.iter().map(|&index| &*scene.objects[index].name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = if names.len() > NAMES { ", …" } else { "" };
    names.truncate(NAMES);
    format!("solid {} ({}{more})", body.solid.unwrap_or_default() + 1, names.join(", "))
}

/// Measures a body of a scene by rasters along `axes`, of which the first has about `rays` rays, on
/// the current rayon pool. The result is the same at any number of threads.
///
/// # Errors
/// When a BVH of so many triangles cannot be built.
pub fn measure(body: &Body, scene: &Scene, axes: &[Axis], rays: u32) -> Result<Volume, BuildError> {
    let to_world = scene.world_to_current().as_dmat4().inverse();
    let objects = body.objects.iter().map(|&index| &scene.objects[index]);
    let placed = objects.map(|object| triangles(object, to_world));
    let sides = if body.solid.is_some() { Sides::ByNesting } else { Sides::OfFaces };
    let (surface, bvh) = surface_and_bvh(placed.flatten(), sides)?;
    let share = |share: f64| ((share * f64::from(rays)).round() as u32).max(1);
    let rasters = axes.iter().zip(SHARES.into_iter().cycle());
    let rasters: Vec<Raster> = rasters.map(|(&axis, s)| raster::cast(&bvh, &surface, axis, share(s))).collect();
    let estimate = rasters.iter().map(|raster| raster.volume).sum::<f64>() / rasters.len().max(1) as f64;
    let error = rasters.iter().map(|raster| BIAS * (raster.volume - estimate).abs()).reduce(f64::max);
    Ok(Volume {
        name: body.name.clone(),
        objects: body.objects.len(),
        triangles: surface.triangles.len(),
        open_edges: surface.open_edges,
        exact: surface.volume(),
        estimate,
        error: error.filter(|_| rasters.len() > 1),
        rasters,
    })
}

/// The surface of triangles and the BVH over it, whose primitives are the surface's triangles.
fn surface_and_bvh(corners: impl Iterator<Item = [DVec3; 3]>, sides: Sides) -> Result<(Surface, Bvh), BuildError> {
    let mut surface = Surface::new(corners);
    let bvh = Bvh::build(surface.bvh_triangles(), &BuildOptions::default())?;
    surface.settle(sides, &bvh);
    Ok((surface, bvh))
}

/// The triangles of an object in world space.
fn triangles(object: &Object, to_world: DMat4) -> impl Iterator<Item = [DVec3; 3]> {
    let placed = match object.mesh_space {
        MeshSpace::World => to_world,
        MeshSpace::Object => to_world * object.object_to_world.as_dmat4(),
    };
    let mesh = object.mesh.clone();
    // A mirroring transform does not turn a surface inside out.
    let is_mirrored = object.mesh_space == MeshSpace::Object && object.object_to_world.determinant() < 0.0;
    (0..mesh.triangles.len()).map(move |index| {
        let [a, b, c] = mesh.corners(index).map(|corner| placed.transform_point3(corner.as_dvec3()));
        if is_mirrored { [a, c, b] } else { [a, b, c] }
    })
}
