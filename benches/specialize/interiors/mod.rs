//! Interiors: six procedural rooms for measurements, with one to fifty materials.
//!
//! They stand for the scenes of Pérard-Gayot (*Generating Renderers*, 2020, table 3.1): rooms whose
//! many materials have textures or none, with few lights. [`write()`] makes a folder of one: a RIB
//! file, the classes of its materials, and the images that they read. Nothing is random: the same
//! bytes every time. Each material is an object, as each geometry has a shader of its own there.
//! The classes are general and have many parameters, so that a program in which these are data is
//! the renderer that is not specialized.

mod furniture;
pub mod material;
pub mod mesh;
mod rooms;
pub mod textures;

use glam::Vec3;
use material::{Color, Material};
use mesh::Mesh;
use shadewright::image::file::{self as image_file, ImageFileError};
use shadewright::lang::stdlib;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The classes of the materials.
const CLASSES: &str = include_str!("interiors.rtsl");

/// The name of the file with the classes, as scenes name it.
const CLASSES_FILE: &str = "interiors.rtsl";

/// The file of standard classes that it includes.
const BASE_FILE: &str = "pbr.rtsl";

/// A room by its name, and how many materials it has.
#[derive(Clone, Copy, Debug)]
pub struct Interior {
    /// The name, which is that of its RIB file.
    pub name: &'static str,
    /// How many materials it has: shader graphs, where each has a program of its own.
    pub materials: usize,
    /// Furnishes the room.
    pub build: fn() -> Room,
}

/// The rooms, by their number of materials.
pub static INTERIORS: &[Interior] = &[
    Interior { name: "bedroom", materials: 1, build: rooms::bedroom },
    Interior { name: "staircase", materials: 4, build: rooms::staircase },
    Interior { name: "bathroom", materials: 8, build: rooms::bathroom },
    Interior { name: "dining-room", materials: 16, build: rooms::dining_room },
    Interior { name: "living-room", materials: 32, build: rooms::living_room },
    Interior { name: "kitchen", materials: 50, build: rooms::kitchen },
];

/// Writes a room to a folder, which is made where it is missing: its RIB file, whose path is
/// returned, the classes and the images.
///
/// # Errors
/// When a file cannot be written.
pub fn write(interior: &Interior, folder: &Path) -> Result<PathBuf, ImageFileError> {
    let room = (interior.build)();
    let images = folder.join("textures");
    std::fs::create_dir_all(&images).map_err(|source| ImageFileError::Write { path: images.clone(), source })?;
    let mut names: Vec<&str> = room.materials.iter().flat_map(Material::images).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        if let Some(image) = textures::image(name) {
            image_file::write(&images.join(format!("{name}.png")), &image)?;
        }
    }
    for (file, text) in [(CLASSES_FILE, Some(CLASSES)), (BASE_FILE, stdlib::class_source(BASE_FILE))] {
        image_file::write_bytes(&folder.join(file), text.unwrap_or_default().as_bytes())?;
    }
    let path = folder.join(format!("{}.rib", interior.name));
    image_file::write_bytes(&path, room.rib(interior.name).as_bytes())?;
    Ok(path)
}

/// The number of a material in its room.
pub type MaterialId = usize;

/// A mesh of one material and color.
pub struct Part {
    /// The number of the material.
    pub material: MaterialId,
    tint: Color,
    mesh: Mesh,
}

/// A room while it is furnished. The camera looks along +z; y is upwards.
pub struct Room {
    eye: [f32; 3],
    target: [f32; 3],
    /// The field of view along the shorter side of the image, in degrees.
    field: f32,
    /// The materials by their numbers.
    pub materials: Vec<Material>,
    /// The meshes.
    pub parts: Vec<Part>,
    /// Light sources without a surface, as RIB.
    lights: String,
    light_count: u32,
}

impl Room {
    fn new(eye: [f32; 3], target: [f32; 3], field: f32) -> Self {
        Self { eye, target, field, materials: Vec::new(), parts: Vec::new(), lights: String::new(), light_count: 0 }
    }

    fn material(&mut self, material: Material) -> MaterialId {
        self.materials.push(material);
        self.materials.len() - 1
    }

    /// Puts a mesh into the room.
    fn put(&mut self, material: MaterialId, mesh: Mesh) {
        self.put_tinted(material, [1.0; 3], mesh);
    }

    /// The same with a color that multiplies the material's.
    fn put_tinted(&mut self, material: MaterialId, tint: Color, mesh: Mesh) {
        match self.parts.iter_mut().find(|part| part.material == material && part.tint == tint) {
            Some(part) => part.mesh.add(mesh),
            None => self.parts.push(Part { material, tint, mesh }),
        }
    }

    /// Puts a mesh of a new material into the room.
    fn put_new(&mut self, material: Material, mesh: Mesh) {
        let material = self.material(material);
        self.put(material, mesh);
    }

    /// Adds a light without a surface: its intensity is the light at a distance of one meter.
    fn point_light(&mut self, intensity: f32, [r, g, b]: Color, [x, y, z]: [f32; 3]) {
        self.light_count += 1;
        // Writing to a string does not fail.
        let _ = writeln!(
            self.lights,
            "LightSource \"pointlight\" {} \"float intensity\" [{intensity}] \"color lightcolor\" [{r} {g} {b}] \"point from\" [{x} {y} {z}]",
            self.light_count
        );
    }

    /// The scene as RIB.
    fn rib(&self, name: &str) -> String {
        let mut rib = String::new();
        let materials = self.materials.len();
        let triangles: usize = self.parts.iter().map(|part| part.mesh.triangles()).sum();
        // Writing to a string does not fail.
        let _ = write!(
            rib,
            "# An interior with {materials} materials and {triangles} triangles, made by `cargo bench --bench specialize -- --write`.\n\
             Display \"{name}.png\" \"file\" \"rgba\"\nFormat 320 240 1\nPixelSamples 8 8\n\
             Projection \"perspective\" \"fov\" [{}]\nIntegrator \"path\" \"main\" \"int maxPathLength\" [6] \"float clamp\" [4]\n{}WorldBegin\n{}",
            self.field,
            self.camera(),
            self.lights
        );
        for part in &self.parts {
            let [r, g, b] = part.tint;
            let _ = writeln!(rib, "AttributeBegin\nColor [{r} {g} {b}]\n{}", self.materials[part.material]);
            polygons(&mut rib, &part.mesh);
            rib.push_str("AttributeEnd\n");
        }
        rib.push_str("WorldEnd\n");
        rib
    }

    /// The transform from the world to the camera, in rows for row vectors.
    fn camera(&self) -> String {
        let [eye, target] = [self.eye, self.target].map(Vec3::from);
        let forward = (target - eye).normalize();
        let right = Vec3::Y.cross(forward).normalize();
        let up = forward.cross(right);
        let [x, y, z] = [right, up, forward].map(|axis| -axis.dot(eye));
        format!(
            "ConcatTransform [{} {} {} 0 {} {} {} 0 {} {} {} 0 {x} {y} {z} 1]\n",
            right.x, up.x, forward.x, right.y, up.y, forward.y, right.z, up.z, forward.z
        )
    }
}

/// A mesh as `PointsPolygons`. Numbers have four decimals, so that the text is the same wherever
/// the last bits of a sine differ.
fn polygons(rib: &mut String, mesh: &Mesh) {
    let integers = |list: &mut dyn Iterator<Item = u32>| list.map(|i| i.to_string()).collect::<Vec<_>>().join(" ");
    let counts = integers(&mut mesh.faces.iter().map(|face| face.len() as u32));
    let indices = integers(&mut mesh.faces.iter().flatten().copied());
    // Writing to a string does not fail.
    let _ = write!(rib, "PointsPolygons [{counts}] [{indices}]");
    let mut list = |name: &str, numbers: &mut dyn Iterator<Item = f32>| {
        let _ = write!(rib, " {name}[");
        for (i, x) in numbers.enumerate() {
            let x = (x * 1e4).round() / 1e4;
            let _ = write!(rib, "{}{}", if i == 0 { "" } else { " " }, if x == 0.0 { 0.0 } else { x });
        }
        rib.push(']');
    };
    list("\"P\" ", &mut mesh.points.iter().flat_map(|p| p.to_array()));
    list("\"N\" ", &mut mesh.normals.iter().flat_map(|n| n.to_array()));
    list("\"st\" ", &mut mesh.places.iter().flat_map(|p| p.to_array()));
    rib.push('\n');
}
