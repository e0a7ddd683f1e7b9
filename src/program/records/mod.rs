//! The layout of the records of objects. All phases know it: code that reads records is written
//! before any of them has an address.

pub mod surface_globals;
pub mod textures;
pub mod visibility;

use glam::Vec3;
use shadewright_geometry::Mesh;
use shadewright_geometry::primvar::PrimvarType;
use shadewright_scene::{MeshSpace, Object};
use std::sync::Arc;
use thiserror::Error;

/// Vectors of a vertex record without colors.
pub const VERTEX_VECTORS: u32 = 3;

/// Vectors of a vertex record with colors.
pub const COLORED_VERTEX_VECTORS: u32 = 5;

/// Vectors of a triangle's data without primitive variables.
pub const TRIANGLE_DATA_VECTORS: u32 = 2;

/// Vectors of an instance's object record between its first and its parameters.
pub const INSTANCE_VECTORS: u32 = 8;

/// The image does not fit the address space.
#[derive(Debug, Error)]
#[error("the scene's shading data would take {vectors} vectors of 16 bytes; addresses end at {limit}", limit = MAX_VECTORS)]
pub struct MemoryError {
    /// The vectors that it would take.
    pub vectors: u64,
}

/// Addresses with the highest bit set are a thread's own scratch memory.
pub const MAX_VECTORS: u64 = 1 << 31;

/// One parameter block: a vector a parameter, four for a matrix.
pub type ParamBlock = Vec<[u32; 4]>;

/// Where a color of a surface is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColorStorage {
    /// In the vertex records.
    Vertices,
    /// In the triangle data.
    Triangles,
    /// In the object record, of an instance.
    Object,
}

/// How the records of an object lie, as its surface entry must know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordLayout {
    /// True if the object is an instance: its mesh's records are in object space, and the object
    /// record holds the transform to the world.
    pub instanced: bool,
    /// Where `Cs` lies.
    pub color: ColorStorage,
    /// Where `Os` lies.
    pub opacity: ColorStorage,
    /// Where texture coordinates come from, if the mesh represents ribbons ([`Mesh::ribbons`]).
    pub ribbons: Option<RibbonCoordinates>,
    /// The primitive variables that follow the records of triangles and vertices.
    pub primvars: Arc<[StoredPrimvar]>,
    /// Where the object's record holds its procedural primitive, if it is one.
    pub procedural: Option<ProceduralRecord>,
}

impl RecordLayout {
    /// The layout of an object that more objects share: vertices have colors even where the mesh
    /// has none.
    #[must_use]
    pub fn general(self, object: &Object) -> Self {
        let mesh = &*object.mesh;
        let is_plain = object.mesh_space == MeshSpace::World && object.procedural.is_none();
        if !is_plain || !mesh.triangle_colors.is_empty() || !mesh.triangle_opacities.is_empty() {
            return self;
        }
        Self { color: ColorStorage::Vertices, opacity: ColorStorage::Vertices, ..self }
    }

    /// That of an object, with these stored primitive variables.
    pub fn new(object: &Object, primvars: Arc<[StoredPrimvar]>) -> Self {
        let mesh = &*object.mesh;
        let coordinates = if mesh.st.is_empty() { RibbonCoordinates::Parameters } else { RibbonCoordinates::Given };
        let ribbons = mesh.ribbons.then_some(coordinates);
        if object.mesh_space == MeshSpace::World {
            let storage = if has_vertex_colors(mesh) { ColorStorage::Vertices } else { ColorStorage::Triangles };
            return Self { instanced: false, color: storage, opacity: storage, ribbons, primvars, procedural: None };
        }
        let storage = |vertices: &[Vec3], triangles: &[Vec3]| match (vertices, triangles) {
            ([], []) => ColorStorage::Object,
            ([], _) => ColorStorage::Triangles,
            _ => ColorStorage::Vertices,
        };
        Self {
            instanced: true,
            color: storage(&mesh.vertex_colors, &mesh.triangle_colors),
            opacity: storage(&mesh.vertex_opacities, &mesh.triangle_opacities),
            ribbons,
            primvars,
            procedural: None,
        }
    }

    /// Vectors of a vertex record without primitive variables.
    pub fn vertex_vectors(&self) -> u32 {
        let colored = self.color == ColorStorage::Vertices || self.opacity == ColorStorage::Vertices;
        if colored { COLORED_VERTEX_VECTORS } else { VERTEX_VECTORS }
    }

    /// Vectors of the primitive variables that follow the data of a triangle, or a vertex.
    pub fn primvar_vectors(&self, per_triangle: bool) -> u32 {
        self.primvars.iter().filter(|v| v.per_triangle == per_triangle).map(StoredPrimvar::vectors).sum()
    }
}

/// True if a mesh's colors vary over its faces, so that its vertices carry them.
pub fn has_vertex_colors(mesh: &Mesh) -> bool {
    !mesh.vertex_colors.is_empty() || !mesh.vertex_opacities.is_empty()
}

/// Where the texture coordinates of ribbons come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RibbonCoordinates {
    /// They are `u, v`.
    Parameters,
    /// The mesh has them.
    Given,
}

/// Where the record of an object holds its procedural primitive: what surface entries must know of
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProceduralRecord {
    /// Which of the program's kinds of procedural primitives it is.
    pub kind: u32,
    /// Vectors of the object's parameters before its block.
    pub offset: u32,
}

/// A primitive variable whose values follow the records of its mesh.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoredPrimvar {
    /// The number among the variables of the mesh.
    pub number: usize,
    /// The name in the scene.
    pub name: Arc<str>,
    /// The type of an element.
    pub ty: PrimvarType,
    /// The number of its elements where it is an array.
    pub array: Option<u32>,
    /// True if it is uniform: its values follow the data of triangles, else the vertices.
    pub per_triangle: bool,
    /// Vectors between the end of the record proper and its first.
    pub offset: u32,
}

impl StoredPrimvar {
    /// Vectors of memory that a value takes: one for each element, four where that is a matrix.
    pub fn vectors(&self) -> u32 {
        self.array.unwrap_or(1) * element_vectors(self.ty)
    }
}

fn element_vectors(ty: PrimvarType) -> u32 {
    ty.components().div_ceil(4) as u32
}
