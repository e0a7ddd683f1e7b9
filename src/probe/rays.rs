//! The tree of rays that a sample shoots: what each hit and what came back.

use super::value::Named;
use serde::Serialize;

/// Most rays that are kept, the first ones.
pub const MAX_RAYS: usize = 20_000;

/// What a ray is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RayKind {
    /// Leaves the camera.
    Camera,
    /// Leaves a surface on the side from which that was seen.
    Reflected,
    /// Leaves a surface on its other side.
    Transmitted,
    /// Asks whether a light is visible.
    Shadow,
}

impl RayKind {
    /// The word for people.
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
    /// What it is for.
    pub kind: RayKind,
    /// The ray at whose hit it was shot: its index. Parents stand before their children.
    pub parent: Option<u32>,
    /// How many surfaces it went through, which were not opaque: such a ray goes on where the one before ended, from the same origin.
    pub layer: u32,
    /// Where it starts, in world space.
    pub origin: [f32; 3],
    /// Where it goes; of any length.
    pub direction: [f32; 3],
    /// The open interval of `t`, in units of the direction, that it looks at.
    pub interval: [f32; 2],
    /// For a shadow ray, the light that is asked about.
    pub light: Option<LightRef>,
    /// What it hit: of a shadow ray, what blocks it.
    pub hit: Option<SurfacePoint>,
    /// The colour and opacity that came back: of a ray that hit nothing, the background's. A shadow ray has none.
    pub returned: Option<Returned>,
    /// The recording's step that shot it, when it is one.
    pub step: Option<u32>,
    /// The first step of the shader at its hit, if that was recorded.
    pub shader_step: Option<u32>,
}

impl RayRecord {
    /// Whether a shadow ray reaches its light; of other rays, whether they hit nothing.
    pub fn is_free(&self) -> bool {
        self.hit.is_none()
    }

    /// One line about what became of it.
    pub fn outcome(&self) -> String {
        match (&self.hit, self.kind) {
            (None, RayKind::Shadow) => "visible".to_string(),
            (Some(hit), RayKind::Shadow) => format!("blocked by {}", hit.subject()),
            (None, _) => "hits nothing".to_string(),
            (Some(hit), _) => format!("hits {}", hit.subject()),
        }
    }
}

/// Who was shot at whose hit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RayTree {
    /// The rays that no other ray led to, in order: those of the camera.
    pub roots: Vec<u32>,
    /// For each ray, those that were shot at its hit, in order.
    pub children: Vec<Vec<u32>>,
}

impl RayTree {
    /// Of rays whose parents stand before them.
    pub fn of(rays: &[RayRecord]) -> Self {
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
    /// Its number among the scene's lights, from 0.
    pub number: u32,
    /// The name of its shader.
    pub shader: String,
}

/// What a shader gave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Returned {
    /// `Ci`.
    pub color: [f32; 3],
    /// `Oi`.
    pub opacity: [f32; 3],
}

/// A point of a surface that a ray met.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SurfacePoint {
    /// The object's number in the scene, from 0.
    pub object: u32,
    /// Its name.
    pub name: String,
    /// The triangle's number in the object's mesh, from 0.
    pub triangle: u32,
    /// The primitive's number in the scene's tree, from 0.
    pub primitive: u32,
    /// Barycentric weights of the triangle's second and third corner.
    pub barycentric: [f32; 2],
    /// `t` at the hit, in units of the ray's direction.
    pub t: f32,
    /// The way along the ray in scene units.
    pub distance: f32,
    /// Name of the surface shader.
    pub shader: String,
    /// The shader's parameters; empty where the shader did not run.
    pub parameters: Vec<Named>,
    /// All variables that a surface shader has without declaring them, `P` first.
    pub globals: Vec<Named>,
}

impl SurfacePoint {
    /// The value of a predefined variable with three components, such as `P`.
    pub fn triple(&self, name: &str) -> Option<[f32; 3]> {
        let found = self.globals.iter().find(|g| g.name == name)?;
        if let super::Value::Triple(v) = found.value { Some(v) } else { None }
    }

    /// The object and the triangle in a few words.
    pub fn subject(&self) -> String {
        let name = if self.name.is_empty() { "object" } else { &self.name };
        format!("{name} #{}, triangle {}", self.object, self.triangle)
    }
}
