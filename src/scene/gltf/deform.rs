//! Deformation of the vertices of a mesh: morph targets by their weights, then the joints of a skin
//! (glTF 2.0, §3.7.2.2 and §3.7.3).

use super::accessor::Elements;
use super::document::Document;
use glam::{Mat3, Mat4, Vec3, Vec4};
use gltf::json::accessor::Type;
use gltf::json::skin::Skin;
use gltf::json::{Index, Path as Place};
use shadewright_base::text::diagnostics::Diagnostic;

/// Most influences of a joint set on a vertex.
pub const SET: usize = 4;

/// How a node deforms its mesh.
#[derive(Clone, Debug, Default)]
pub struct Deform {
    /// The weights of the mesh's morph targets; those that are missing are 0.
    pub weights: Vec<f32>,
    /// Of each joint, from the mesh's bind pose to the world; `None` without a skin.
    pub joints: Option<Vec<Mat4>>,
}

impl Deform {
    /// True if the mesh stays as it is in the file.
    pub fn is_none(&self) -> bool {
        self.joints.is_none() && self.weights.iter().all(|&w| w == 0.0)
    }
}

/// The joints of a skin, of which `worlds` has the transforms of the document's nodes.
///
/// # Errors
/// When it has no joints, or they or their matrices do not exist.
pub fn joints(
    document: &Document<'_>,
    index: Index<Skin>,
    place: &Place,
    worlds: &[Mat4],
) -> Result<Vec<Mat4>, Diagnostic> {
    let skin = document.get(index, place)?;
    let own = Place::new().field("skins").index(index.value());
    let inverse = skin.inverse_bind_matrices;
    let inverse = inverse.map(|i| Elements::open(document, i, &own.field("inverseBindMatrices"), &[Type::Mat4]));
    let inverse = inverse.transpose()?;
    if let Some(matrices) = inverse.as_ref().filter(|m| m.len() < skin.joints.len()) {
        let what = format!("it has {} matrices for {} joints", matrices.len(), skin.joints.len());
        return Err(document.error(&own.field("inverseBindMatrices"), what));
    }
    let joint = |(i, index): (usize, &Index<_>)| {
        document.get(*index, &own.field("joints").index(i))?;
        let bind = inverse.as_ref().map_or(Mat4::IDENTITY, |m| Mat4::from_cols_array(&m.floats(i)));
        Ok(worlds[index.value()] * bind)
    };
    let joints: Vec<Mat4> = skin.joints.iter().enumerate().map(joint).collect::<Result<_, Diagnostic>>()?;
    match joints.is_empty() || joints.iter().any(|m| !m.is_finite()) {
        true => Err(document.error(&own, "it has no joints, or their matrices are not finite")),
        false => Ok(joints),
    }
}

/// The vertices of a mesh that a deformation moves.
pub struct Vertices<'a> {
    /// Positions.
    pub points: &'a mut [Vec3],
    /// Normals, if there are any.
    pub normals: &'a mut [Vec3],
    /// Tangents, if there are any; the fourth number is their side.
    pub tangents: &'a mut [Vec4],
}

impl Vertices<'_> {
    /// Moves the vertices by joints; `influences` has those of each vertex, as pairs of a joint and
    /// its weight. A vertex without weight stays.
    pub fn skin(&mut self, joints: &[Mat4], influences: &[Vec<(u32, f32)>]) {
        for (i, influences) in influences.iter().enumerate() {
            let sum: f32 = influences.iter().map(|(_, weight)| weight).sum();
            if sum.is_nan() || sum <= 0.0 {
                continue;
            }
            let matrix = influences.iter().fold(Mat4::ZERO, |m, &(j, weight)| m + joints[j as usize] * (weight / sum));
            self.points[i] = matrix.transform_point3(self.points[i]);
            let linear = Mat3::from_mat4(matrix);
            if let Some(normal) = self.normals.get_mut(i) {
                // The cofactors, which are the inverse transpose but for a factor.
                let [x, y, z] = [linear.x_axis, linear.y_axis, linear.z_axis];
                *normal = Mat3::from_cols(y.cross(z), z.cross(x), x.cross(y)) * *normal;
            }
            if let Some(tangent) = self.tangents.get_mut(i) {
                *tangent = (linear * tangent.truncate()).extend(tangent.w);
            }
        }
    }
}
