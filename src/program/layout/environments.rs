//! The environment lights of a scene, each with the distribution by which its directions are
//! sampled.

use crate::collect::lights::BoundLight;
use crate::layout::environment_map::SamplingGrid;
use crate::records::textures::Textures;
use glam::{Mat3, Vec3};
use shadewright_scene::Scene;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The parameter of a light that names its environment map.
const MAP: &str = "map";

/// An environment light that illuminates some object.
#[derive(Debug)]
pub struct Environment {
    /// The number among the scene's lights.
    pub light: usize,
    /// The orthonormal axes of its space in the world.
    pub axes: Mat3,
    /// How its directions are sampled: environments of one map share it.
    pub grid: Arc<SamplingGrid>,
}

/// The environments among the lights of a scene.
pub fn environments(scene: &Scene, lights: &[BoundLight], textures: &Textures) -> Vec<Environment> {
    // Objects share their sets of lights.
    let sets: HashMap<_, _> = scene.objects.iter().map(|o| (Arc::as_ptr(&o.lights), &o.lights)).collect();
    let used: HashSet<u32> = sets.values().flat_map(|set| set.iter().copied()).collect();
    let mut grids: HashMap<Option<&str>, Arc<SamplingGrid>> = HashMap::new();
    let own =
        lights.iter().enumerate().filter(|(number, light)| used.contains(&(*number as u32)) && light.is_environment());
    let environments = own.map(|(number, light)| {
        let map = light.instance.strings.iter().find(|(name, _)| name == MAP);
        let name = map.map(|(_, name)| &**name);
        let made = || Arc::new(SamplingGrid::new(name.and_then(|name| textures.get(name))));
        let grid = grids.entry(name).or_insert_with(made).clone();
        Environment { light: number, axes: orthonormal(Mat3::from_mat4(light.instance.to_world)), grid }
    });
    environments.collect()
}

/// For each environment the number of its grid, where those that share one count once, and the
/// grids in that order.
pub fn distinct_grids(environments: &[Environment]) -> (Vec<usize>, Vec<&SamplingGrid>) {
    let (mut known, mut grids) = (HashMap::new(), Vec::new());
    let numbers = environments.iter().map(|environment| {
        *known.entry(Arc::as_ptr(&environment.grid)).or_insert_with(|| {
            grids.push(&*environment.grid);
            grids.len() - 1
        })
    });
    (numbers.collect(), grids)
}

/// The Gram–Schmidt orthonormal axes that keep the direction of z, then of x, and the handedness.
fn orthonormal(axes: Mat3) -> Mat3 {
    let z = axes.z_axis.try_normalize().unwrap_or(Vec3::Z);
    let x = axes.x_axis.reject_from_normalized(z).try_normalize().unwrap_or_else(|| z.any_orthonormal_vector());
    let y = z.cross(x);
    Mat3::from_cols(x, if y.dot(axes.y_axis) < 0.0 { -y } else { y }, z)
}
