//! Primitive variables beyond the standard ones (RISpec 3.2, §5.1): named data of any type that a
//! primitive brings for the parameters of its shader.
//!
//! A [`Variable`] comes with the faces that a mesh is assembled from and may differ wherever a
//! [`Channel`] may; a [`Primvar`] is what the mesh keeps: values for the whole of it, for its
//! triangles or for its vertices. Nothing here knows who takes them.

use super::assemble::Channel;
use glam::{Mat4, Vec3};
use std::sync::Arc;

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrimvarType {
    /// A number.
    Float,
    /// Linear red, green, blue.
    Color,
    /// A position; it moves with the mesh.
    Point,
    /// A direction; it turns and stretches with the mesh.
    Vector,
    /// A direction that stays perpendicular to what it was perpendicular to.
    Normal,
    /// Sixteen numbers, as they were written.
    Matrix,
    /// A text.
    String,
}

impl PrimvarType {
    /// The name in RIB and RSL.
    pub fn name(self) -> &'static str {
        match self {
            PrimvarType::Float => "float",
            PrimvarType::Color => "color",
            PrimvarType::Point => "point",
            PrimvarType::Vector => "vector",
            PrimvarType::Normal => "normal",
            PrimvarType::Matrix => "matrix",
            PrimvarType::String => "string",
        }
    }

    /// Numbers (or strings) of one element.
    pub fn components(self) -> usize {
        match self {
            PrimvarType::Float | PrimvarType::String => 1,
            PrimvarType::Color | PrimvarType::Point | PrimvarType::Vector | PrimvarType::Normal => 3,
            PrimvarType::Matrix => 16,
        }
    }
}

/// Values one after the other.
#[derive(Clone, Debug, PartialEq)]
pub enum PrimvarValues {
    /// Of every type but string.
    Numbers(Vec<f32>),
    /// Strings.
    Strings(Vec<Arc<str>>),
}

impl PrimvarValues {
    /// The values at `places`, each `width` numbers or strings long.
    fn gather(&self, width: usize, places: impl Iterator<Item = u32>) -> Self {
        fn pick<T: Clone>(from: &[T], width: usize, places: impl Iterator<Item = u32>) -> Vec<T> {
            places.flat_map(|i| &from[i as usize * width..][..width]).cloned().collect()
        }
        match self {
            PrimvarValues::Numbers(v) => PrimvarValues::Numbers(pick(v, width, places)),
            PrimvarValues::Strings(v) => PrimvarValues::Strings(pick(v, width, places)),
        }
    }
}

/// The name of a variable, and the type of its values.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimvarKind {
    /// The name that shaders know it by.
    pub name: Arc<str>,
    /// The type of its elements.
    pub ty: PrimvarType,
    /// The number of its elements where it is an array.
    pub array: Option<u32>,
}

impl PrimvarKind {
    /// Numbers (or strings) of one value: all its elements.
    pub fn width(&self) -> usize {
        self.ty.components() * self.array.unwrap_or(1) as usize
    }
}

/// A variable over faces: a table of values, and which of them is where.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name and type.
    pub kind: PrimvarKind,
    /// Values, [`PrimvarKind::width`] numbers or strings each.
    pub values: PrimvarValues,
    /// The number of the value at each place; in range, and never absent.
    pub at: Channel<u32>,
}

/// Where over a mesh a variable may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrimvarPlace {
    /// Nowhere.
    Constant,
    /// Between triangles.
    Triangles,
    /// Between vertices; linear over a triangle.
    Vertices,
}

/// A primitive variable of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Primvar {
    /// The name and type.
    pub kind: PrimvarKind,
    /// The places that have a value each.
    pub place: PrimvarPlace,
    /// One value, or as many as there are triangles or vertices.
    pub values: PrimvarValues,
}

impl Variable {
    /// The variable of a mesh with so many vertices, at each of which it has the value with the
    /// number that `vertices` gives where it differs within triangles.
    pub(super) fn into_primvar(self, vertices: impl Iterator<Item = u32>) -> Primvar {
        let width = self.kind.width();
        let (place, values) = match &self.at {
            Channel::Constant(i) => (PrimvarPlace::Constant, self.values.gather(width, std::iter::once(*i))),
            Channel::PerTriangle(at) => (PrimvarPlace::Triangles, self.values.gather(width, at.iter().copied())),
            Channel::Absent | Channel::PerPoint(_) | Channel::PerCorner { .. } => {
                (PrimvarPlace::Vertices, self.values.gather(width, vertices))
            }
        };
        Primvar { kind: self.kind, place, values }
    }

    /// True if the variable differs between the corners of a triangle.
    pub(super) fn is_interpolated(&self) -> bool {
        matches!(self.at, Channel::PerPoint(_) | Channel::PerCorner { .. })
    }

    /// Moves the values by an affine transform, as their type asks.
    pub fn transform(&mut self, m: Mat4) {
        transform(self.kind.ty, &mut self.values, m);
    }
}

impl Primvar {
    /// The numbers of value `i`; none of a variable of strings.
    pub fn numbers(&self, i: usize) -> &[f32] {
        let width = self.kind.width();
        match &self.values {
            PrimvarValues::Numbers(v) => &v[i * width..][..width],
            PrimvarValues::Strings(_) => &[],
        }
    }

    /// The strings of value `i`; none of a variable of numbers.
    pub fn strings(&self, i: usize) -> &[Arc<str>] {
        let width = self.kind.width();
        match &self.values {
            PrimvarValues::Strings(v) => &v[i * width..][..width],
            PrimvarValues::Numbers(_) => &[],
        }
    }

    /// Moves the values by an affine transform, as their type asks.
    pub(super) fn transform(&mut self, m: Mat4) {
        transform(self.kind.ty, &mut self.values, m);
    }

    /// Gives a variable of vertices those of other vertices, each a copy of one that there is.
    pub(super) fn gather_vertices(&mut self, sources: &[u32]) {
        if self.place == PrimvarPlace::Vertices {
            self.values = self.values.gather(self.kind.width(), sources.iter().copied());
        }
    }

    /// The variable of a mesh whose triangles were subdivided: after its vertices lie others, each
    /// between two that come before it, and each triangle is a part of one of `sources`.
    pub(super) fn refined(&self, between: &[[u32; 2]], sources: &[u32]) -> Primvar {
        let width = self.kind.width();
        let values = match (self.place, &self.values) {
            (PrimvarPlace::Triangles, values) => values.gather(width, sources.iter().copied()),
            (PrimvarPlace::Vertices, PrimvarValues::Numbers(numbers)) => {
                let mut all = numbers.clone();
                for [a, b] in between.iter().map(|ends| ends.map(|i| i as usize * width)) {
                    all.extend((0..width).map(|k| (all[a + k] + all[b + k]) * 0.5).collect::<Vec<_>>());
                }
                PrimvarValues::Numbers(all)
            }
            // A text is never between two others.
            (PrimvarPlace::Constant | PrimvarPlace::Vertices, values) => values.clone(),
        };
        Primvar { kind: self.kind.clone(), place: self.place, values }
    }

    /// Adds the values of a variable of the same kind and place after its own.
    pub(super) fn append(&mut self, other: Primvar) {
        match (&mut self.values, other.values) {
            (PrimvarValues::Numbers(a), PrimvarValues::Numbers(b)) => a.extend(b),
            (PrimvarValues::Strings(a), PrimvarValues::Strings(b)) => a.extend(b),
            _ => {}
        }
    }
}

/// Points go where the transform takes them, vectors without its translation, normals by the
/// inverse transpose.
fn transform(ty: PrimvarType, values: &mut PrimvarValues, m: Mat4) {
    let PrimvarValues::Numbers(numbers) = values else { return };
    let inverse_transpose = m.inverse().transpose();
    let moved = |v: Vec3| match ty {
        PrimvarType::Point => m.transform_point3(v),
        PrimvarType::Vector => m.transform_vector3(v),
        PrimvarType::Normal => inverse_transpose.transform_vector3(v),
        _ => v,
    };
    if !matches!(ty, PrimvarType::Point | PrimvarType::Vector | PrimvarType::Normal) {
        return;
    }
    for triple in numbers.chunks_exact_mut(3) {
        triple.copy_from_slice(&moved(Vec3::from_slice(triple)).to_array());
    }
}
