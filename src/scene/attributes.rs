//! Attributes of an object besides its surface shader, its lights and its color.

use super::{ShaderId, UserValues};
use std::sync::Arc;

/// How shadow rays, `transmission()` and `occlusion()` treat an object (hit mode).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HitMode {
    /// None.
    #[default]
    Opaque,
    /// Transmits by its attribute `Os`.
    Color,
    /// Transmits by the opacity that its surface shader computes; the shader sees no lights.
    Shader,
}

/// Visibility of an object by kind of ray.
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
    /// The hit mode of the rays of `transmission`; `None` for the opacity that other rays see.
    pub hit_mode: Option<HitMode>,
    /// The hit mode of the rays of `occlusion`, if it is another one.
    pub diffuse_hit_mode: Option<HitMode>,
    /// True if it is a holdout (`Matte`): it hides objects behind it from the camera but is not
    /// visible itself.
    pub matte: bool,
}

impl Default for Visibility {
    /// All see it, and its opacity counts.
    fn default() -> Self {
        Self {
            camera: true,
            specular: true,
            diffuse: true,
            transmission: true,
            hit_mode: None,
            diffuse_hit_mode: None,
            matte: false,
        }
    }
}

/// A co-shader: other shaders call it by its handle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoShader {
    /// The handle by which other shaders call it.
    pub handle: Arc<str>,
    /// The shader, of kind [`super::ShaderRole::CoShader`].
    pub shader: ShaderId,
}

/// The other shaders of an object, and the attributes that its shaders may query. Objects with
/// equal attributes share one instance.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectAttributes {
    /// The displacement shader.
    pub displacement: Option<ShaderId>,
    /// The displacement bound in world space (`Attribute "displacementbound"`), which shaders may
    /// ask for. Meshes are displaced before BVHs are built, so nothing depends on it.
    pub displacement_bound: f32,
    /// True if the mesh is already displaced, so that the displacement shader does not run during
    /// shading.
    pub displaced: bool,
    /// `ShadingRate`: area in pixels, above 0.
    pub shading_rate: f32,
    /// The atmosphere shader (RISpec 3.2, §5.4).
    pub atmosphere: Option<ShaderId>,
    /// The interior volume shader, for rays that its surface shader traces into it.
    pub interior: Option<ShaderId>,
    /// The exterior volume shader, for rays that its surface shader traces away from it.
    pub exterior: Option<ShaderId>,
    /// The co-shaders of the object; handles are unique.
    pub coshaders: Arc<[CoShader]>,
    /// The area light that this object is an emitter of, as an index into [`super::Scene::lights`].
    pub emits: Option<u32>,
    /// Which rays see it.
    pub visibility: Visibility,
    /// Maximum specular and diffuse ray depth, where lower than the scene's
    /// [`super::Scene::max_depth`].
    pub ray_depths: [Option<u32>; 2],
    /// `Attribute "user"`: values by their names, as they were declared.
    pub user: UserValues,
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
            user: UserValues::default(),
        }
    }
}

impl ObjectAttributes {
    /// The shader that is to move the points of the mesh itself.
    pub fn true_displacement(&self) -> Option<ShaderId> {
        self.displacement.filter(|_| !self.displaced)
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
