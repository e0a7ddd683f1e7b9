//! From a primitive of a glTF mesh to a triangle mesh in the mesh's own space (glTF 2.0, §3.7.2).
//!
//! Only vertices that triangles use are read, so primitives that share one large set of vertices
//! stay small.

use super::Making;
use super::accessor::Elements;
use super::deform::{Deform, SET, Vertices};
use super::document::Document;
use super::material::{Coordinates, Material};
use crate::MAX_TRIANGLES;
use glam::{Affine2, Vec2, Vec3, Vec4};
use gltf::json::accessor::Type;
use gltf::json::mesh::{Mode, Primitive, Semantic};
use gltf::json::validation::Checked;
use gltf::json::{Index, Path as Place, accessor::Accessor};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::primvar::{PrimvarKind, PrimvarType, PrimvarValues, Variable};
use shadewright_geometry::{Channel, Faces, Mesh, assemble, tangents};

/// The shader's parameters for the texture coordinates after `s` and `t`.
const COORDINATES: [&str; 2] = ["texcoord1", "texcoord2"];
/// The shader's parameters for the tangents of a normal map.
const TANGENTS: [&str; 2] = ["tangent", "bitangent"];

/// Reads a primitive for the material that it is shown with, deformed as its node asks. `None`: it
/// shows no surface.
///
/// # Errors
/// When its accessors cannot be read.
pub fn read(
    document: &Document<'_>,
    primitive: &Primitive,
    place: &Place,
    material: &Material,
    deform: &Deform,
    making: &mut Making,
) -> Result<Option<Mesh>, Diagnostic> {
    let source = Source { document, primitive, place };
    let positions = source
        .open(Semantic::Positions, &[Type::Vec3])?
        .ok_or_else(|| document.error(place, "it has no attribute POSITION"))?;
    let Some(mut corners) = source.triangles(positions.len(), making)? else { return Ok(None) };
    let used = compact(&mut corners);
    let count = used.len() as u32;
    if used.last().is_some_and(|&last| last as usize >= positions.len()) {
        let what = format!("there is no vertex {}: there are {}", used[used.len() - 1], positions.len());
        return Err(document.error(&place.field("indices"), what));
    }
    let points = source.values(Semantic::Positions, &positions, &used)?;
    let mut points: Vec<Vec3> = points.into_iter().map(Vec3::from_array).collect();
    let same = |semantic| source.open_for(semantic, &positions);
    let mut normals: Option<Vec<Vec3>> = None;
    if let Some(given) = same(Semantic::Normals)? {
        let values = source.values(Semantic::Normals, &given, &used)?;
        normals = Some(values.into_iter().map(Vec3::from_array).collect());
    }
    // Where normals are missing, tangents do not count.
    let wants_tangents = material.wants_tangents && normals.is_some();
    let given = if wants_tangents { same(Semantic::Tangents)? } else { None };
    let mut frames: Vec<Vec4> = Vec::new();
    if let Some(given) = &given {
        let values: Vec<[f32; 4]> = source.values(Semantic::Tangents, given, &used)?;
        frames = values.into_iter().map(Vec4::from_array).collect();
    }
    if !deform.is_none() {
        let normals = normals.as_deref_mut().unwrap_or_default();
        let mut vertices = Vertices { points: &mut points, normals, tangents: &mut frames };
        source.morph(deform, &mut vertices, &positions, &used)?;
        if let Some(joints) = &deform.joints {
            let influences = source.influences(joints.len(), &positions, &used)?;
            vertices.skin(joints, &influences);
        }
        if vertices.points.iter().any(|p| !p.is_finite()) {
            return Err(document.error(place, "its skin or morph targets move vertices to no finite place"));
        }
    }
    making.triangles += corners.len();
    let mut faces = Faces { points, triangles: corners, ..Faces::default() };
    if let Some(normals) = normals {
        faces.normals = Channel::PerPoint(normals);
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
    if let (Some(_), Channel::PerPoint(normals)) = (&given, &faces.normals) {
        let tangents = frames.iter().map(|t| t.truncate().normalize_or_zero());
        let sides = frames.iter().zip(normals).map(|(t, n)| n.cross(t.truncate()).normalize_or_zero() * t.w.signum());
        let both: [Vec<f32>; 2] =
            [tangents.flat_map(|v| v.to_array()).collect(), sides.flat_map(|v| v.to_array()).collect()];
        for (name, values) in TANGENTS.into_iter().zip(both) {
            faces.variables.push(per_point(name, PrimvarType::Vector, None, values, count));
        }
    }
    let mut mesh = assemble::assemble(faces, 0.0).mesh;
    if material.wants_tangents && given.is_none() {
        let uv = coordinates_of(&mesh, material.tangent_coordinates);
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
            Semantic::Tangents | Semantic::Joints(_) | Semantic::Weights(_) => &[Type::Vec4],
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

    /// Adds the morph targets by their weights to vertices, of which `used` are the numbers.
    fn morph(
        &self,
        deform: &Deform,
        vertices: &mut Vertices<'_>,
        positions: &Elements<'_>,
        used: &[u32],
    ) -> Result<(), Diagnostic> {
        let targets = self.primitive.targets.as_deref().unwrap_or_default();
        for (k, (target, &weight)) in targets.iter().zip(&deform.weights).enumerate().filter(|(_, t)| *t.1 != 0.0) {
            let place = self.place.field("targets").index(k);
            let parts = [(target.positions, "POSITION"), (target.normals, "NORMAL"), (target.tangents, "TANGENT")];
            for (part, (index, name)) in parts.into_iter().enumerate() {
                let Some(index) = index else { continue };
                let place = place.field(name);
                let moves = Elements::open(self.document, index, &place, &[Type::Vec3])?;
                if moves.len() != positions.len() {
                    let what = format!("it has {} values, and there are {} positions", moves.len(), positions.len());
                    return Err(self.document.error(&place, what));
                }
                let moved = used.iter().map(|&i| weight * Vec3::from_array(moves.floats(i as usize)));
                match part {
                    0 => vertices.points.iter_mut().zip(moved).for_each(|(p, by)| *p += by),
                    1 => vertices.normals.iter_mut().zip(moved).for_each(|(n, by)| *n += by),
                    _ => vertices.tangents.iter_mut().zip(moved).for_each(|(t, by)| *t += by.extend(0.0)),
                }
            }
        }
        Ok(())
    }

    /// The joints that move each of the vertices that are used, with their weights; there are
    /// `count` joints.
    fn influences(
        &self,
        count: usize,
        positions: &Elements<'_>,
        used: &[u32],
    ) -> Result<Vec<Vec<(u32, f32)>>, Diagnostic> {
        let mut all: Vec<Vec<(u32, f32)>> = vec![Vec::new(); used.len()];
        for set in 0.. {
            let [joints, weights] = [Semantic::Joints(set), Semantic::Weights(set)];
            let place = self.place_of(&joints);
            let (Some(joints), Some(weights)) = (self.open_for(joints, positions)?, self.open_for(weights, positions)?)
            else {
                break;
            };
            for (influences, &vertex) in all.iter_mut().zip(used) {
                let shares: [f32; SET] = weights.floats(vertex as usize);
                for (k, share) in shares.into_iter().enumerate().filter(|(_, share)| *share > 0.0) {
                    let joint = joints.whole(vertex as usize, k);
                    if joint >= count as u64 || !share.is_finite() {
                        let what = format!("vertex {vertex} names joint {joint}, and there are {count}");
                        return Err(self.document.error(&place, what));
                    }
                    influences.push((joint as u32, share));
                }
            }
        }
        Ok(all)
    }

    /// The corners of its triangles as numbers of vertices, of which there are so many; `None`
    /// where it has no triangles.
    fn triangles(&self, vertices: usize, making: &mut Making) -> Result<Option<Vec<[u32; 3]>>, Diagnostic> {
        let Checked::Valid(mode) = self.primitive.mode else {
            return Err(self.document.error(&self.place.field("mode"), "unknown value"));
        };
        let place = self.place.field("indices");
        let indices = match self.primitive.indices {
            Some(index) => {
                let elements = Elements::open(self.document, index, &place, &[Type::Scalar])?;
                if !elements.are_whole() {
                    return Err(self.document.error(&place, "indices are whole numbers without a sign"));
                }
                Some(elements)
            }
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
        let most = making.most_triangles.min(MAX_TRIANGLES);
        if triangles > most.saturating_sub(making.triangles) {
            let error = format_args!("with it the scene has more than {most} triangles");
            return Err(self.document.error(self.place, error).hint("--max-triangles N allows more"));
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
