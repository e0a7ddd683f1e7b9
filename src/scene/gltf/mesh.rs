//! From a primitive of a glTF mesh to a triangle mesh in the mesh's own space (glTF 2.0, §3.7.2).
//!
//! Only vertices that triangles use are read, so primitives that share one large set of vertices
//! stay small.

use super::Making;
use super::accessor::Elements;
use super::document::Document;
use super::material::{Coordinates, Material};
use crate::geometry::primvar::{PrimvarKind, PrimvarType, PrimvarValues, Variable};
use crate::geometry::{Channel, Faces, Mesh, assemble, tangents};
use crate::scene::MAX_TRIANGLES;
use crate::text::diagnostics::Diagnostic;
use glam::{Affine2, Vec2, Vec3, Vec4};
use gltf::json::accessor::Type;
use gltf::json::mesh::{Mode, Primitive, Semantic};
use gltf::json::validation::Checked;
use gltf::json::{Index, Path as Place, accessor::Accessor};

/// The shader's parameters for the texture coordinates after `s` and `t`.
const COORDINATES: [&str; 2] = ["texcoord1", "texcoord2"];
/// The shader's parameters for the tangents of a normal map.
const TANGENTS: [&str; 2] = ["tangent", "bitangent"];

/// Reads a primitive for the material that it is shown with. `None`: it shows no surface.
///
/// # Errors
/// What is wrong with its accessors.
pub fn read(
    document: &Document<'_>,
    primitive: &Primitive,
    place: &Place,
    material: &Material,
    making: &mut Making,
) -> Result<Option<Mesh>, Diagnostic> {
    let source = Source { document, primitive, place };
    let positions = source
        .open(Semantic::Positions, &[Type::Vec3])?
        .ok_or_else(|| document.error(place, "it has no attribute POSITION"))?;
    let Some(mut corners) = source.triangles(positions.len(), making)? else { return Ok(None) };
    making.triangles += corners.len();
    let used = compact(&mut corners);
    let count = used.len() as u32;
    if used.last().is_some_and(|&last| last as usize >= positions.len()) {
        let what = format!("there is no vertex {}: there are {}", used[used.len() - 1], positions.len());
        return Err(document.error(&place.field("indices"), what));
    }
    let points = source.values(Semantic::Positions, &positions, &used)?;
    let mut faces =
        Faces { points: points.into_iter().map(Vec3::from_array).collect(), triangles: corners, ..Faces::default() };
    let same = |semantic| source.open_for(semantic, &positions);
    if let Some(normals) = same(Semantic::Normals)? {
        let values = source.values(Semantic::Normals, &normals, &used)?;
        faces.normals = Channel::PerPoint(values.into_iter().map(Vec3::from_array).collect());
    }
    if let Some(colors) = same(Semantic::Colors(0))? {
        let values: Vec<Vec4> =
            source.values(Semantic::Colors(0), &colors, &used)?.into_iter().map(Vec4::from_array).collect();
        if colors.components() == 4 {
            faces.opacities = Channel::PerPoint(values.iter().map(|c| Vec3::splat(c.w)).collect());
        }
        faces.colors = Channel::PerPoint(values.iter().map(|c| c.truncate()).collect());
    }
    let mut coordinates = Vec::new();
    // A material without textures may get one from whoever edits it.
    let plain = [Coordinates { tex_coord: 0, transform: Affine2::IDENTITY }];
    let is_plain = material.coordinates.is_empty() && source.index(&Semantic::TexCoords(0)).is_some();
    for set in if is_plain { &plain[..] } else { &material.coordinates } {
        let semantic = Semantic::TexCoords(set.tex_coord);
        let Some(read) = same(semantic.clone())? else {
            let what = format!(
                "its material asks for TEXCOORD_{}, which it has not: all of the texture is one texel",
                set.tex_coord
            );
            making.warn(document.warning(place, what));
            coordinates.push(vec![Vec2::ZERO; used.len()]);
            continue;
        };
        let values: Vec<[f32; 2]> = source.values(semantic, &read, &used)?;
        coordinates.push(values.into_iter().map(|uv| set.transform.transform_point2(uv.into())).collect());
    }
    for (name, values) in COORDINATES.into_iter().zip(coordinates.iter().skip(1)) {
        faces.variables.push(per_point(
            name,
            PrimvarType::Float,
            Some(2),
            values.iter().flat_map(|v| v.to_array()),
            count,
        ));
    }
    if let Some(first) = coordinates.first_mut() {
        faces.st = Channel::PerPoint(std::mem::take(first));
    }
    // Where normals are missing, tangents do not count.
    let given = match (&material.normal_coordinates, &faces.normals) {
        (Some(_), Channel::PerPoint(_)) => same(Semantic::Tangents)?,
        _ => None,
    };
    if let (Some(given), Channel::PerPoint(normals)) = (&given, &faces.normals) {
        let values: Vec<[f32; 4]> = source.values(Semantic::Tangents, given, &used)?;
        let tangents = values.iter().map(|t| Vec3::from_slice(t).normalize_or_zero());
        let sides =
            values.iter().zip(normals).map(|(t, n)| n.cross(Vec3::from_slice(t)).normalize_or_zero() * t[3].signum());
        let both: [Vec<f32>; 2] =
            [tangents.flat_map(|v| v.to_array()).collect(), sides.flat_map(|v| v.to_array()).collect()];
        for (name, values) in TANGENTS.into_iter().zip(both) {
            faces.variables.push(per_point(name, PrimvarType::Vector, None, values, count));
        }
    }
    let mut mesh = assemble::assemble(faces, 0.0).mesh;
    if let (Some(set), None) = (material.normal_coordinates, given) {
        let uv = coordinates_of(&mesh, set);
        tangents::add_frames(&mut mesh, &uv, TANGENTS);
    }
    Ok(Some(mesh).filter(|m| !m.triangles.is_empty()))
}

/// A primitive in its document.
struct Source<'a> {
    document: &'a Document<'a>,
    primitive: &'a Primitive,
    place: &'a Place,
}

impl<'a> Source<'a> {
    fn index(&self, semantic: &Semantic) -> Option<Index<Accessor>> {
        self.primitive.attributes.get(&Checked::Valid(semantic.clone())).copied()
    }

    fn place_of(&self, semantic: &Semantic) -> Place {
        self.place.field("attributes").field(&semantic.to_string())
    }

    /// An attribute, if the primitive has it.
    fn open(&self, semantic: Semantic, types: &[Type]) -> Result<Option<Elements<'a>>, Diagnostic> {
        let Some(index) = self.index(&semantic) else { return Ok(None) };
        Elements::open(self.document, index, &self.place_of(&semantic), types).map(Some)
    }

    /// An attribute beside the positions, which has a value for each of these.
    fn open_for(&self, semantic: Semantic, positions: &Elements<'_>) -> Result<Option<Elements<'a>>, Diagnostic> {
        let types: &[Type] = match semantic {
            Semantic::TexCoords(_) => &[Type::Vec2],
            Semantic::Colors(_) => &[Type::Vec3, Type::Vec4],
            Semantic::Tangents => &[Type::Vec4],
            _ => &[Type::Vec3],
        };
        let place = self.place_of(&semantic);
        let elements = self.open(semantic, types)?;
        if let Some(elements) = elements.as_ref().filter(|e| e.len() != positions.len()) {
            let what = format!("it has {} values, and there are {} positions", elements.len(), positions.len());
            return Err(self.document.error(&place, what));
        }
        Ok(elements)
    }

    /// The values of an attribute at the vertices that are used.
    fn values<const N: usize>(
        &self,
        semantic: Semantic,
        elements: &Elements<'_>,
        used: &[u32],
    ) -> Result<Vec<[f32; N]>, Diagnostic> {
        let values: Vec<[f32; N]> = used.iter().map(|&i| elements.floats(i as usize)).collect();
        match values.iter().position(|v| v.iter().any(|x| !x.is_finite())) {
            Some(i) => Err(self
                .document
                .error(&self.place_of(&semantic), format_args!("value {} is not a finite number", used[i]))),
            None => Ok(values),
        }
    }

    /// The corners of its triangles as numbers of vertices, of which there are so many; `None`
    /// where it has no triangles.
    fn triangles(&self, vertices: usize, making: &mut Making) -> Result<Option<Vec<[u32; 3]>>, Diagnostic> {
        let Checked::Valid(mode) = self.primitive.mode else {
            return Err(self.document.error(&self.place.field("mode"), "unknown value"));
        };
        let place = self.place.field("indices");
        let indices = match self.primitive.indices {
            Some(index) => Some(Elements::open(self.document, index, &place, &[Type::Scalar])?),
            None => None,
        };
        let count = indices.as_ref().map_or(vertices, Elements::len);
        let triangles = match mode {
            Mode::Triangles => count / 3,
            Mode::TriangleStrip | Mode::TriangleFan => count.saturating_sub(2),
            Mode::Points | Mode::Lines | Mode::LineLoop | Mode::LineStrip => {
                making.warn(Diagnostic::warning(format!("`{}`: points and lines are not shown", self.document.name)));
                return Ok(None);
            }
        };
        if triangles > MAX_TRIANGLES - making.triangles {
            return Err(self
                .document
                .error(self.place, format_args!("with it the scene has more than {MAX_TRIANGLES} triangles")));
        }
        let vertex = |i: usize| indices.as_ref().map_or(i as u32, |e| e.index(i));
        let corners = |t: usize| match mode {
            Mode::TriangleStrip => [t, t + 1 + t % 2, t + 2 - t % 2],
            Mode::TriangleFan => [t + 1, t + 2, 0],
            _ => [3 * t, 3 * t + 1, 3 * t + 2],
        };
        Ok(Some((0..triangles).map(|t| corners(t).map(vertex)).collect()))
    }
}

/// Renumbers corners so that the vertices they use follow one another; gives the numbers that those
/// had, ascending.
fn compact(corners: &mut [[u32; 3]]) -> Vec<u32> {
    let mut used: Vec<u32> = corners.as_flattened().to_vec();
    used.sort_unstable();
    used.dedup();
    if used.last().is_some_and(|&last| last as usize >= used.len()) {
        let number = |vertex: u32| used.binary_search(&vertex).unwrap_or_default() as u32;
        corners.as_flattened_mut().iter_mut().for_each(|v| *v = number(*v));
    }
    used
}

fn per_point(
    name: &str,
    ty: PrimvarType,
    array: Option<u32>,
    values: impl IntoIterator<Item = f32>,
    count: u32,
) -> Variable {
    Variable {
        kind: PrimvarKind { name: name.into(), ty, array },
        values: PrimvarValues::Numbers(values.into_iter().collect()),
        at: Channel::PerPoint((0..count).collect()),
    }
}

/// The texture coordinates of a mesh's vertices, by the number that the material gives them.
fn coordinates_of(mesh: &Mesh, set: usize) -> Vec<Vec2> {
    let variable = set.checked_sub(1).and_then(|i| mesh.primvars.iter().find(|v| *v.kind.name == *COORDINATES[i]));
    let at = |i: usize| variable.map_or_else(|| mesh.st_at(i as u32), |v| Vec2::from_slice(v.numbers(i)));
    (0..mesh.positions.len()).map(at).collect()
}
