//! Defaults for files without a camera or lights: a camera that frames the objects in three-quarter
//! view, lights, a surface.

use super::{Camera, CoShader, Light, MeshSpace, Object, ObjectAttributes, Projection, Scene, ShaderId, ShaderRole};
use crate::ParamValue;
use glam::{Mat4, Vec3};
use shadewright_geometry::Mesh;
use std::f32::consts::PI;
use std::sync::Arc;

/// Field of view of the camera, in degrees.
const FOV: f32 = 35.0;
/// Room around the mesh, as a factor on its size.
const MARGIN: f32 = 1.08;
/// From the mesh to the camera: y is up and the mesh looks along +z, as in most mesh files.
const TOWARDS_CAMERA: Vec3 = Vec3::new(0.45, 0.35, 1.0);

/// Intensities of the default lights and the background.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lit {
    /// Intensities of the light from the side of the camera and of the one from the other side.
    beams: [f32; 2],
    /// Ambient light.
    ambient: Vec3,
    /// Background color, linear.
    background: Vec3,
}

impl Lit {
    /// For the standard surfaces, which reflect a fraction of `Cl`. The background is gray-blue.
    pub(super) const PLAIN: Lit =
        Lit { beams: [0.9, 0.2], ambient: Vec3::splat(0.25), background: Vec3::new(0.07, 0.085, 0.11) };
    /// For materials with a BSDF under path tracing, where white in front of a light has the color
    /// of that light: as bright as the other. Rays that leave the scene find the background, which
    /// takes the place of the ambient light.
    pub(super) const TRACED: Lit =
        Lit { beams: [0.9, 0.2], ambient: Vec3::new(0.2, 0.215, 0.24), background: Vec3::new(0.2, 0.215, 0.24) };
    /// For shaders in RSL that take lux, so that white reflects `Cl`/π: the same.
    pub(super) const LUX: Lit = Lit { beams: [0.9 * PI, 0.2 * PI], ..Lit::TRACED };
}

/// Makes a scene of one mesh, whose coordinates are right-handed.
pub(super) fn frame(mut scene: Scene, mesh: Mesh) -> Scene {
    let (low, high) = mesh.bounds().unwrap_or((Vec3::ZERO, Vec3::ZERO));
    let view = look_at(&mut scene, low, high, Handedness::Right);
    light(&mut scene, 0.5 * (low + high), view, Lit::PLAIN);
    add_plain(&mut scene, mesh);
    scene
}

/// Adds a mesh in world space with the default surface, lit by all lights.
pub(super) fn add_plain(scene: &mut Scene, mesh: Mesh) {
    let params = vec![
        ("Ks".to_string(), ParamValue::Float(vec![0.2])),
        ("Kd".to_string(), ParamValue::Float(vec![0.75])),
        ("roughness".to_string(), ParamValue::Float(vec![0.15])),
    ];
    let surface = scene.add_shader(ShaderRole::Surface, "plastic", params);
    let lights: Arc<[u32]> = (0..scene.lights.len() as u32).collect();
    scene.objects.push(Object {
        name: scene.name.as_str().into(),
        surface: Some(surface),
        attributes: Arc::default(),
        lights,
        sides: 2,
        color: Vec3::new(0.75, 0.72, 0.68),
        opacity: Vec3::ONE,
        mesh: Arc::new(mesh),
        mesh_space: MeshSpace::World,
        procedural: None,
        solid: None,
        object_to_world: Mat4::IDENTITY,
        span: None,
    });
}

/// Which way the z axis of a file points where x points to the right and y up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handedness {
    /// Towards the viewer, as in most mesh files.
    Right,
    /// Away from the viewer, as in RIB.
    Left,
}

/// Frames the objects of a scene without a camera, whose coordinates are left-handed; adds lights
/// unless there are any.
pub(super) fn frame_objects(scene: &mut Scene) {
    let (low, high) = scene.bounds().unwrap_or((Vec3::ZERO, Vec3::ZERO));
    let view = look_at(scene, low, high, Handedness::Left);
    if scene.lights.is_empty() {
        light(scene, 0.5 * (low + high), view, Lit::PLAIN);
        illuminate_all(scene);
    }
}

/// Adds a light that travels in the direction of view, without shadows.
pub(super) fn add_headlight(scene: &mut Scene) {
    let to_world = scene.coordinate_systems.get("camera").copied().unwrap_or(Mat4::IDENTITY);
    let (origin, forward) = (to_world.transform_point3(Vec3::ZERO), to_world.transform_vector3(Vec3::Z));
    add_beam(scene, 1.0, origin + forward, forward, false);
    illuminate_all(scene);
}

/// All lights illuminate all objects.
fn illuminate_all(scene: &mut Scene) {
    let lights: Arc<[u32]> = (0..scene.lights.len() as u32).collect();
    scene.objects.iter_mut().for_each(|o| o.lights = lights.clone());
}

/// Gives the scene a camera that frames a box; its directions to the right, up and into the image.
pub(super) fn look_at(scene: &mut Scene, low: Vec3, high: Vec3, handedness: Handedness) -> [Vec3; 3] {
    let center = 0.5 * (low + high);
    let z = if handedness == Handedness::Right { 1.0 } else { -1.0 };
    let forward = -TOWARDS_CAMERA.normalize() * Vec3::new(1.0, 1.0, z);
    let right = z * forward.cross(Vec3::Y).normalize();
    let up = z * right.cross(forward);

    let half_high = (0.5 * FOV).to_radians().tan();
    let half_wide = half_high * scene.format.frame_aspect().max(1.0);
    let half_high = half_high / scene.format.frame_aspect().min(1.0);
    // How far back every corner of the bounds must be seen from.
    let distance = (0..8)
        .map(|i| {
            let pick = |bit: usize, axis: usize| if i >> bit & 1 == 1 { high[axis] } else { low[axis] };
            let corner = Vec3::new(pick(0, 0), pick(1, 1), pick(2, 2)) - center;
            let across = (corner.dot(right).abs() / half_wide).max(corner.dot(up).abs() / half_high);
            across * MARGIN - corner.dot(forward)
        })
        .fold(f32::MIN_POSITIVE, f32::max);
    let origin = center - forward * distance;
    let camera_to_world = Mat4::from_cols(right.extend(0.0), up.extend(0.0), forward.extend(0.0), origin.extend(1.0));
    scene.camera = Camera {
        projection: Projection::Perspective { fov: FOV },
        world_to_camera: camera_to_world.inverse(),
        ..Camera::default()
    };
    scene.coordinate_systems.insert("camera".to_string(), camera_to_world);
    [right, up, forward]
}

/// Adds two lights and one from everywhere around a place, for a camera with these directions to
/// the right, up and into the image; and what lies behind.
pub(super) fn light(scene: &mut Scene, center: Vec3, [right, up, forward]: [Vec3; 3], lit: Lit) {
    scene.background = lit.background.extend(1.0).to_array();
    // Directions in which light travels.
    let key = 0.7 * forward + 0.55 * right - 0.6 * up;
    let fill = 0.6 * forward - 0.8 * right - 0.1 * up;
    let [bright, dim] = lit.beams;
    add_beam(scene, bright, center, key, true);
    add_beam(scene, dim, center, fill, false);
    let params = vec![("lightcolor".to_string(), ParamValue::Color(vec![lit.ambient]))];
    let shader = scene.add_shader(ShaderRole::Light, "ambientlight", params);
    push_light(scene, shader, false);
}

/// A scene of one triangle that uses a shader, under the lights of [`frame`].
pub(super) fn shader_scene(name: &str, kind: ShaderRole) -> Scene {
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let mesh = Mesh { positions: corners, normals: vec![Vec3::Z; 3], triangles: vec![[0, 1, 2]], ..Mesh::default() };
    let mut scene = frame(Scene::empty(name), mesh);
    let shader = scene.add_shader(kind, name, Vec::new());
    match kind {
        ShaderRole::Surface => scene.objects.iter_mut().for_each(|o| o.surface = Some(shader)),
        ShaderRole::Volume => {
            let attributes = Arc::new(ObjectAttributes { atmosphere: Some(shader), ..Default::default() });
            scene.objects.iter_mut().for_each(|o| o.attributes = attributes.clone());
        }
        ShaderRole::Camera => scene.camera_shader = Some(shader),
        ShaderRole::Primitive => scene.objects.iter_mut().for_each(|o| {
            (o.mesh, o.mesh_space, o.procedural) = (Arc::default(), MeshSpace::Object, Some(shader));
        }),
        ShaderRole::Displacement => {
            let attributes = Arc::new(ObjectAttributes { displacement: Some(shader), ..Default::default() });
            scene.objects.iter_mut().for_each(|o| o.attributes = attributes.clone());
        }
        ShaderRole::Light => push_light(&mut scene, shader, true),
        ShaderRole::Imager => scene.imager = Some(shader),
        ShaderRole::CoShader => {
            let coshaders = [CoShader { handle: name.into(), shader }].into();
            let attributes = Arc::new(ObjectAttributes { coshaders, ..Default::default() });
            scene.objects.iter_mut().for_each(|o| o.attributes = attributes.clone());
        }
    }
    scene
}

/// Adds light that travels in one direction, through a point.
fn add_beam(scene: &mut Scene, intensity: f32, at: Vec3, direction: Vec3, shadows: bool) {
    let params = vec![
        ("intensity".to_string(), ParamValue::Float(vec![intensity])),
        ("from".to_string(), ParamValue::Point(vec![at - direction])),
        ("to".to_string(), ParamValue::Point(vec![at])),
    ];
    let shader = scene.add_shader(ShaderRole::Light, "distantlight", params);
    push_light(scene, shader, shadows);
}

/// Adds a light, called by its number from 1.
fn push_light(scene: &mut Scene, shader: ShaderId, shadows: bool) {
    let handle = (scene.lights.len() + 1).to_string();
    scene.lights.push(Light { shader, handle, shadows: Some(shadows), area: false });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    #[test]
    fn every_vertex_is_in_the_image_whatever_its_shape() {
        let positions = vec![Vec3::new(-5.0, 100.0, 7.0), Vec3::new(3.0, 101.0, 7.5), Vec3::new(0.0, 100.5, -9.0)];
        let mesh = Mesh { positions, triangles: vec![[0, 1, 2]], ..Mesh::default() };
        for (width, height) in [(640, 480), (100, 900), (900, 100)] {
            let mut scene = Scene::empty("m");
            scene.format = Format { width, height, pixel_aspect: 1.0 };
            let scene = frame(scene, mesh.clone());
            let f = scene.camera_frame();
            let mut widest: f32 = 0.0;
            for p in &mesh.positions {
                let c = scene.camera.world_to_camera.transform_point3(*p);
                let at = (c.x / c.z / f.half_width).abs().max((c.y / c.z / f.half_height).abs());
                assert!(c.z > 0.0 && at < 1.0, "{width}×{height}: {at}");
                widest = widest.max(at);
            }
            assert!(widest > 0.6, "{width}×{height}: {widest}");
        }
    }

    #[test]
    fn the_image_is_not_mirrored() {
        let mesh = Mesh { positions: vec![Vec3::ZERO, Vec3::ONE], ..Mesh::default() };
        let scene = frame(Scene::empty("m"), mesh);
        // Seen from in front, +x of a right-handed mesh is on the right.
        let x = scene.camera.world_to_camera.transform_vector3(Vec3::X);
        assert!(x.x > 0.5, "{x}");
        assert!(scene.camera.world_to_camera.determinant() < 0.0);
    }
}
