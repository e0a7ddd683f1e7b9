//! The scene that a ray tracer renders to check a hardware model: its polygons, each with its
//! colors at its corners, and nothing else.

use super::model::{Model, Polygon};
use shadewright_geometry::Mesh;
use shadewright_image::{Image, SizeError};
use shadewright_lang::shader_ref::ShaderRef;

use glam::{Mat4, Vec2, Vec3};
use shadewright_scene::{
    Camera, FilterKind, Format, MeshSpace, Object, ObjectAttributes, PixelFilter, Scene, ShaderId, ShaderInstance,
    ShaderRole,
};
use std::sync::Arc;

/// The surface of all polygons: it has the color that the mesh gives it.
const SURFACE: &str = "constant";

impl Model {
    /// The model as a scene with these dimensions, seen by a camera.
    pub fn painted(&self, camera: &Camera, format: Format) -> Scene {
        let mut scene = Scene::empty("the hardware's polygons");
        scene.format = format;
        scene.camera = Camera { lens: None, ..camera.clone() };
        scene.film.filter = PixelFilter { kind: FilterKind::Box, width: [1.0; 2] };
        let [red, green, blue] = self.background.to_array();
        scene.background = [red, green, blue, 1.0];
        scene.shader_instances = vec![ShaderInstance {
            kind: ShaderRole::Surface,
            shader: ShaderRef::new(SURFACE),
            params: Vec::new(),
            to_world: Mat4::IDENTITY,
            span: None,
            objects: Arc::default(),
        }];
        scene.objects.push(Object {
            name: "polygons".into(),
            surface: Some(ShaderId(0)),
            attributes: Arc::new(ObjectAttributes::default()),
            lights: Arc::default(),
            sides: 2,
            color: Vec3::ONE,
            opacity: Vec3::ONE,
            mesh: Arc::new(mesh(&self.polygons)),
            mesh_space: MeshSpace::World,
            procedural: None,
            solid: None,
            object_to_world: Mat4::IDENTITY,
            span: None,
        });
        scene
    }
}

/// The raster positions of the samples of an image: `side`×`side` in a pixel, in the middles of
/// equal squares, pixel by pixel.
pub fn positions([width, height]: [u32; 2], side: u32) -> Vec<Vec2> {
    let step = 1.0 / side.max(1) as f32;
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
    let samples = move |[x, y]: [u32; 2]| {
        let places = (0..side).flat_map(move |j| (0..side).map(move |i| Vec2::new(i as f32, j as f32)));
        places.map(move |place| Vec2::new(x as f32, y as f32) + (place + 0.5) * step)
    };
    pixels.flat_map(samples).collect()
}

/// The image of which each pixel is the mean of `side`×`side` pixels of another.
///
/// # Errors
/// When the size is out of range.
pub fn reduced(samples: &Image, side: u32) -> Result<Image, SizeError> {
    let side = side.max(1);
    let size = [samples.width / side, samples.height / side];
    let of_pixel = |at: Vec2| samples.rgba[at.y as usize * samples.width as usize + at.x as usize];
    let places = positions(size, side).into_iter().map(|place| place * side as f32);
    image(size, side, &places.map(of_pixel).collect::<Vec<_>>())
}

/// The image of which each pixel is the mean of the colors of its samples, in the order of
/// [`positions`]. It is opaque.
///
/// # Errors
/// When the size is out of range.
pub fn image([width, height]: [u32; 2], side: u32, colors: &[[f32; 4]]) -> Result<Image, SizeError> {
    let samples = (side * side).max(1) as usize;
    let mean = |colors: &[[f32; 4]]| {
        let sum = colors.iter().fold(Vec3::ZERO, |sum, color| sum + Vec3::from_slice(color));
        (sum / samples as f32).extend(1.0).to_array()
    };
    Image::new(width, height, colors.chunks(samples).map(mean).collect())
}

/// The polygons as triangles around their first corners.
fn mesh(polygons: &[Polygon]) -> Mesh {
    let mut mesh = Mesh::default();
    for polygon in polygons {
        let first = mesh.positions.len() as u32;
        for (k, &corner) in polygon.corners().iter().enumerate() {
            mesh.positions.push(corner);
            mesh.normals.push(polygon.normals[k]);
            mesh.vertex_colors.push(polygon.colors[k]);
        }
        mesh.triangles.extend((2..polygon.count as u32).map(|k| [first, first + k - 1, first + k]));
    }
    mesh
}
