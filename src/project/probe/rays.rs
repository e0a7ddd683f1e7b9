//! The ray tree of a sample: hits and returned colors.

use super::value::Named;
use serde::Serialize;

/// Maximum number of recorded rays, the first ones.
pub const MAX_RAYS: usize = 20_000;

/// The kind of a ray.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RayKind {
    /// A camera ray.
    Camera,
    /// A reflected ray: leaves the surface on the side it arrived from.
    Reflected,
    /// A transmitted ray: leaves the surface on the other side.
    Transmitted,
    /// A shadow ray.
    Shadow,
}

impl RayKind {
    /// The display name.
    pub fn name(self) -> &'static str {
        match self {
            RayKind::Camera => "camera",
            RayKind::Reflected => "reflected",
            RayKind::Transmitted => "transmitted",
            RayKind::Shadow => "shadow",
        }
    }
}

/// A ray of a sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RayRecord {
    /// The kind of ray.
    pub kind: RayKind,
    /// The index of its parent ray, at whose hit it was traced. Parents come before their children.
    pub parent: Option<u32>,
    /// Number of transparent surfaces it passed: such a ray continues after the previous hit, from
    /// the same origin.
    pub layer: u32,
    /// Where it starts, in world space.
    pub origin: [f32; 3],
    /// Where it goes; of any length.
    pub direction: [f32; 3],
    /// The open interval of `t`, in units of the direction.
    pub interval: [f32; 2],
    /// For a shadow ray, the light.
    pub light: Option<LightRef>,
    /// The hit; for a shadow ray, the occluder.
    pub hit: Option<SurfacePoint>,
    /// The returned color and opacity; the background's for a miss. A shadow ray has none.
    pub returned: Option<Returned>,
    /// The step that traced it, if recorded.
    pub step: Option<u32>,
    /// The first step of the shader at its hit, if recorded.
    pub shader_step: Option<u32>,
}

impl RayRecord {
    /// True if a shadow ray reaches its light; of other rays, whether they hit nothing.
    pub fn is_free(&self) -> bool {
        self.hit.is_none()
    }

    /// A one-line description of the outcome.
    pub fn outcome(&self) -> String {
        match (&self.hit, self.kind) {
            (None, RayKind::Shadow) => "visible".to_string(),
            (Some(hit), RayKind::Shadow) => format!("blocked by {}", hit.subject()),
            (None, _) => "hits nothing".to_string(),
            (Some(hit), _) => format!("hits {}", hit.subject()),
        }
    }
}

/// Parent and child relations of rays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RayTree {
    /// The root rays, in order: camera rays.
    pub roots: Vec<u32>,
    /// For each ray, its children, in order.
    pub children: Vec<Vec<u32>>,
}

impl RayTree {
    /// Builds the tree of rays sorted with parents first.
    pub fn new(rays: &[RayRecord]) -> Self {
        let mut tree = Self { roots: Vec::new(), children: vec![Vec::new(); rays.len()] };
        for (index, ray) in (0..).zip(rays) {
            match ray.parent.and_then(|p| tree.children.get_mut(p as usize)) {
                Some(siblings) => siblings.push(index),
                None => tree.roots.push(index),
            }
        }
        tree
    }
}

/// A light of the scene.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LightRef {
    /// The number among the scene's lights, from 0.
    pub number: u32,
    /// The name of its shader.
    pub shader: String,
}

/// The result of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Returned {
    /// `Ci`.
    pub color: [f32; 3],
    /// `Oi`.
    pub opacity: [f32; 3],
}

/// A surface hit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SurfacePoint {
    /// The object's number in the scene, from 0.
    pub object: u32,
    /// The object's name.
    pub name: String,
    /// The triangle's number in the object's mesh, from 0.
    pub triangle: u32,
    /// The primitive's index in the BVH, from 0.
    pub primitive: u32,
    /// Barycentric weights of the triangle's second and third corner.
    pub barycentric: [f32; 2],
    /// `t` at the hit, in units of the ray's direction.
    pub t: f32,
    /// The distance along the ray in scene units.
    pub distance: f32,
    /// Name of the surface shader.
    pub shader: String,
    /// The shader's parameters; empty where the shader did not run.
    pub parameters: Vec<Named>,
    /// All predefined surface variables, `P` first.
    pub globals: Vec<Named>,
}

impl SurfacePoint {
    /// The value of a predefined variable with three components, such as `P`.
    pub fn triple(&self, name: &str) -> Option<[f32; 3]> {
        let found = self.globals.iter().find(|g| g.name == name)?;
        if let super::Value::Triple(v) = found.value { Some(v) } else { None }
    }

    /// A short description of the object and the triangle.
    pub fn subject(&self) -> String {
        let name = if self.name.is_empty() { "object" } else { &self.name };
        format!("{name} #{}, triangle {}", self.object, self.triangle)
    }
}
