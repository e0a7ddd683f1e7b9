//! What an object is declared under besides its surface, its lights and its colour.

use super::{ParamValue, ShaderId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How much light an object lets through on its way to a surface, where shadows, `transmission()` and `occlusion()` ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HitMode {
    /// None.
    #[default]
    Opaque,
    /// What its opacity `Os` leaves.
    Color,
    /// What the opacity that its surface shader gives leaves. The shader sees no light.
    Shader,
}

/// Which rays see an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Visibility {
    /// Rays of the camera.
    pub camera: bool,
    /// Rays of `trace`.
    pub specular: bool,
    /// Rays of `gather`, `occlusion` and `indirectdiffuse`.
    pub diffuse: bool,
    /// Rays between surfaces and lights, and those of `transmission`.
    pub transmission: bool,
    /// What those find.
    pub hit_mode: HitMode,
    /// What rays of `occlusion` find, if that is something else.
    pub diffuse_hit_mode: Option<HitMode>,
    /// Whether it hides what is behind it from the camera without being seen itself (`Matte`).
    pub matte: bool,
}

impl Default for Visibility {
    /// All see it, and it is opaque to shadows and `occlusion`.
    fn default() -> Self {
        Self {
            camera: true,
            specular: true,
            diffuse: true,
            transmission: true,
            hit_mode: HitMode::Opaque,
            diffuse_hit_mode: None,
            matte: false,
        }
    }
}

/// A shader that others call by its handle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoShader {
    /// What they call it.
    pub handle: String,
    /// The shader, of kind [`super::ShaderKind::CoShader`].
    pub shader: ShaderId,
}

/// The other shaders of an object, and the attributes that its shaders may ask for. Objects that are declared alike share one.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectAttributes {
    /// Moves its points and turns its normals before the surface shader runs.
    pub displacement: Option<ShaderId>,
    /// How far that may move points, in world space (`Attribute "displacementbound"`). Above 0 it moves the points of the mesh itself, else only those that are shaded.
    pub displacement_bound: f32,
    /// Whether the mesh is what the displacement shader has made of it, so that it does not run when the object is shaded.
    pub displaced: bool,
    /// The area in pixels that may be shaded alike (`ShadingRate`), above 0.
    pub shading_rate: f32,
    /// Changes what the camera sees of it on the way from there (RISpec 3.2, §5.4).
    pub atmosphere: Option<ShaderId>,
    /// Changes what arrives by rays that its surface shader traces into it.
    pub interior: Option<ShaderId>,
    /// Changes what arrives by rays that its surface shader traces away from it.
    pub exterior: Option<ShaderId>,
    /// The shaders that its own may call, no two with the same handle.
    pub coshaders: Arc<[CoShader]>,
    /// The area light that its surface shines for, as an index into [`super::Scene::lights`].
    pub emits: Option<u32>,
    /// Which rays see it.
    pub visibility: Visibility,
    /// How many rays at most lead to a specular and to a diffuse ray that its surface sends, where that is limited further than by the scene's [`super::Scene::max_depth`].
    pub ray_depths: [Option<u32>; 2],
    /// `Attribute "user"`: values by their names, as they were declared.
    pub user: BTreeMap<String, ParamValue>,
}

impl Default for ObjectAttributes {
    /// RISpec 3.2, tables 4.4 and 4.5.
    fn default() -> Self {
        Self {
            displacement: None,
            displacement_bound: 0.0,
            displaced: false,
            shading_rate: 1.0,
            atmosphere: None,
            interior: None,
            exterior: None,
            coshaders: Arc::default(),
            emits: None,
            visibility: Visibility::default(),
            ray_depths: [None; 2],
            user: BTreeMap::new(),
        }
    }
}

impl ObjectAttributes {
    /// The shader that is to move the points of the mesh itself.
    pub fn true_displacement(&self) -> Option<ShaderId> {
        self.displacement.filter(|_| self.displacement_bound > 0.0 && !self.displaced)
    }

    /// The shaders that it names.
    pub fn shaders(&self) -> impl Iterator<Item = ShaderId> {
        let own = [self.displacement, self.atmosphere, self.interior, self.exterior].into_iter().flatten();
        own.chain(self.coshaders.iter().map(|c| c.shader))
    }

    /// Replaces each shader that it names.
    pub fn renumber(&mut self, renumber: impl Fn(ShaderId) -> ShaderId) {
        let Self { displacement, atmosphere, interior, exterior, .. } = self;
        for id in [displacement, atmosphere, interior, exterior].into_iter().flatten() {
            *id = renumber(*id);
        }
        self.coshaders = self.coshaders.iter().map(|c| CoShader { shader: renumber(c.shader), ..c.clone() }).collect();
    }
}
