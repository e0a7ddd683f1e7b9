//! The environment lights of a scene, each with the distribution by which its directions are
//! sampled.

use crate::program::collect::lights::BoundLight;
use crate::program::layout::environment_map::SamplingGrid;
use crate::program::layout::textures::Textures;
use crate::scene::Scene;
use glam::{Mat3, Vec3};

/// The parameter of a light that names its environment map.
const MAP: &str = "map";

/// An environment light that illuminates some object.
#[derive(Debug)]
pub struct Environment {
    /// Its number among the scene's lights.
    pub light: usize,
    /// The orthonormal axes of its space in the world.
    pub axes: Mat3,
    /// How its directions are sampled.
    pub grid: SamplingGrid,
}

/// The environments among the lights of a scene.
pub fn environments(scene: &Scene, lights: &[BoundLight], textures: &Textures) -> Vec<Environment> {
    let illuminates = |light: usize| scene.objects.iter().any(|object| object.lights.contains(&(light as u32)));
    let own = lights.iter().enumerate().filter(|(number, light)| illuminates(*number) && light.is_environment());
    let environments = own.map(|(number, light)| {
        let map = light.instance.strings.iter().find(|(name, _)| name == MAP);
        let grid = SamplingGrid::of(map.and_then(|(_, name)| textures.get(name)));
        Environment { light: number, axes: orthonormal(Mat3::from_mat4(light.instance.to_world)), grid }
    });
    environments.collect()
}

/// The Gram–Schmidt orthonormal axes that keep the direction of z, then of x, and the handedness.
fn orthonormal(axes: Mat3) -> Mat3 {
    let z = axes.z_axis.try_normalize().unwrap_or(Vec3::Z);
    let x = axes.x_axis.reject_from_normalized(z).try_normalize().unwrap_or_else(|| z.any_orthonormal_vector());
    let y = z.cross(x);
    Mat3::from_cols(x, if y.dot(axes.y_axis) < 0.0 { -y } else { y }, z)
}
