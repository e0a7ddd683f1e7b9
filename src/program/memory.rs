//! The memory image: triangles, vertices, objects and lights as both machines read them (Węgrzanowski 2006, §12.2).
//!
//! The layout is the table in `docs/internals.md`. Records are laid out lights first, then objects, triangle data, vertices, and the triangle records
//! last, so that primitive `i` is at [`MemoryImage::triangles`]` + i`.

use crate::bvh;
use crate::scene::{Object, Scene};
use glam::Vec3;
use std::collections::HashMap;
use thiserror::Error;

/// Vectors of a vertex record without colours.
pub const VERTEX_VECTORS: u32 = 3;
/// Vectors of a vertex record with colours.
pub const COLORED_VERTEX_VECTORS: u32 = 5;

/// The image does not fit the address space.
#[derive(Debug, Error)]
#[error("the scene's shading data would take {vectors} vectors of 16 bytes; addresses end at {limit}", limit = MAX_VECTORS)]
pub struct MemoryError {
    /// What it would take.
    pub vectors: u64,
}

/// Addresses with the highest bit set are a thread's own scratch memory.
const MAX_VECTORS: u64 = 1 << 31;

/// One parameter block: a vector a parameter, four for a matrix.
pub type ParamBlock = Vec<[u32; 4]>;

/// What the linker knows of an object before the image is laid out.
#[derive(Clone, Debug)]
pub struct ObjectRecord {
    /// Index of its surface entry.
    pub entry: u32,
    /// Its surface instance's parameters.
    pub params: ParamBlock,
}

/// The shading data of a scene.
#[derive(Clone, Debug, Default)]
pub struct MemoryImage {
    /// The vectors; an address is an index.
    pub vectors: Vec<[u32; 4]>,
    /// Address of the first triangle record.
    pub triangles: u32,
    /// Number of triangle records.
    pub triangle_count: u32,
    /// Address of each light's parameter block.
    pub lights: Vec<u32>,
}

/// Whether an object's colours vary over its faces, so that its vertices carry them.
pub fn has_vertex_colors(object: &Object) -> bool {
    !object.mesh.vertex_colors.is_empty() || !object.mesh.vertex_opacities.is_empty()
}

impl MemoryImage {
    /// Lays out `scene` with one record an object and one parameter block a light.
    pub fn build(scene: &Scene, objects: &[ObjectRecord], lights: &[ParamBlock]) -> Result<Self, MemoryError> {
        let vectors = 1
            + lights.iter().map(|l| l.len() as u64).sum::<u64>()
            + objects.iter().map(|o| 1 + o.params.len() as u64).sum::<u64>()
            + scene.objects.iter().map(object_vectors).sum::<u64>();
        if vectors >= MAX_VECTORS {
            return Err(MemoryError { vectors });
        }
        let mut image = Self { vectors: Vec::with_capacity(vectors as usize), ..Self::default() };
        image.vectors.push([0; 4]);
        for block in lights {
            image.lights.push(image.next());
            image.vectors.extend_from_slice(block);
        }
        let mut pieces = Vec::with_capacity(objects.len());
        for (object, record) in scene.objects.iter().zip(objects) {
            let address = image.next();
            image.vectors.push([record.entry, 0, 0, 0]);
            image.vectors.extend_from_slice(&record.params);
            pieces.push(Pieces { vertices: 0, data: image.push_triangle_data(object, address) });
        }
        for (object, pieces) in scene.objects.iter().zip(&mut pieces) {
            pieces.vertices = image.push_vertices(object);
        }
        image.triangles = image.next();
        for (object, pieces) in scene.objects.iter().zip(&pieces) {
            let stride = if has_vertex_colors(object) { COLORED_VERTEX_VECTORS } else { VERTEX_VECTORS };
            image.vectors.extend(object.mesh.triangles.iter().enumerate().map(|(i, t)| {
                let [a, b, c] = t.map(|v| pieces.vertices + v * stride);
                [a, b, c, pieces.data.get(i).or(pieces.data.first()).copied().unwrap_or(0)]
            }));
        }
        image.triangle_count = image.next() - image.triangles;
        Ok(image)
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        std::mem::size_of_val(self.vectors.as_slice())
    }

    /// Shader entry, triangle record and object record of a primitive.
    pub fn resolve(&self, primitive: u32) -> [u32; 3] {
        let triangle = self.triangles + primitive;
        let at = |address: u32, word: usize| self.vectors.get(address as usize).map_or(0, |v| v[word]);
        let object = at(at(triangle, 3), 3);
        [at(object, 0), triangle, object]
    }

    fn next(&self) -> u32 {
        self.vectors.len() as u32
    }

    /// Pushes the triangle data of an object and returns the address for each triangle; one for all when they agree.
    fn push_triangle_data(&mut self, object: &Object, address: u32) -> Vec<u32> {
        let mesh = &object.mesh;
        let at = |values: &[Vec3], i: usize, otherwise: Vec3| values.get(i).copied().unwrap_or(otherwise);
        let per_triangle = !mesh.triangle_colors.is_empty() || !mesh.triangle_opacities.is_empty();
        let count = if per_triangle { mesh.triangles.len() } else { 1 };
        let mut known = HashMap::new();
        (0..count)
            .map(|i| {
                let color = with_word(at(&mesh.triangle_colors, i, object.color), address);
                let opacity = with_word(at(&mesh.triangle_opacities, i, object.opacity), 0);
                *known.entry((color, opacity)).or_insert_with(|| {
                    self.vectors.extend([color, opacity]);
                    self.next() - 2
                })
            })
            .collect()
    }

    fn push_vertices(&mut self, object: &Object) -> u32 {
        let mesh = &object.mesh;
        let first = self.next();
        let colored = has_vertex_colors(object);
        for (i, &p) in mesh.positions.iter().enumerate() {
            let (st, uv) = (mesh.st_at(i as u32), mesh.uv_at(i as u32));
            self.vectors.push(with_word(p, 0));
            self.vectors.push(with_word(mesh.normals.get(i).copied().unwrap_or(Vec3::ZERO), 0));
            self.vectors.push([st.x, st.y, uv.x, uv.y].map(f32::to_bits));
            if colored {
                self.vectors.push(with_word(mesh.vertex_colors.get(i).copied().unwrap_or(object.color), 0));
                self.vectors.push(with_word(mesh.vertex_opacities.get(i).copied().unwrap_or(object.opacity), 0));
            }
        }
        first
    }
}

/// Where an object's records lie.
struct Pieces {
    vertices: u32,
    data: Vec<u32>,
}

fn with_word(v: Vec3, word: u32) -> [u32; 4] {
    [v.x.to_bits(), v.y.to_bits(), v.z.to_bits(), word]
}

/// An upper bound of the vectors that an object's mesh takes.
fn object_vectors(object: &Object) -> u64 {
    let mesh = &object.mesh;
    let stride = if has_vertex_colors(object) { COLORED_VERTEX_VECTORS } else { VERTEX_VECTORS };
    let data =
        if mesh.triangle_colors.is_empty() && mesh.triangle_opacities.is_empty() { 1 } else { mesh.triangles.len() };
    mesh.positions.len() as u64 * u64::from(stride) + mesh.triangles.len() as u64 + 2 * data as u64
}

/// The scene's triangles as the acceleration structure takes them, in the order of the image's triangle records.
pub fn bvh_triangles(scene: &Scene) -> Vec<bvh::Triangle> {
    let mut triangles = Vec::with_capacity(scene.triangle_count());
    for object in &scene.objects {
        let flags = if object.sides == 1 { bvh::CULL_BACK } else { 0 };
        triangles.extend((0..object.mesh.triangles.len()).map(|i| {
            let [a, b, c] = object.mesh.corners(i);
            bvh::Triangle { a, b, c, flags }
        }));
    }
    triangles
}
