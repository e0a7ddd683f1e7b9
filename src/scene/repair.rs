//! A scene without the shaders that cannot be used: what can be shown is shown.

use super::{CoShader, Object, ObjectAttributes, Scene, ShaderId, ShaderKind};
use crate::lang::ShaderRef;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The surface of objects whose own shader cannot be used: magenta, so that it is seen.
const REPLACEMENT_SURFACE: &str = "missingsurface";
/// The light in place of one whose shader cannot be used: none.
const REPLACEMENT_LIGHT: &str = "nulllight";

/// What a scene names that is missing or wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unusable {
    /// Shader instances.
    pub shaders: BTreeSet<ShaderId>,
    /// Whether it is the function that replaces the camera.
    pub ray_function: bool,
}

impl Unusable {
    /// Whether everything can be used.
    pub fn is_empty(&self) -> bool {
        self.shaders.is_empty() && !self.ray_function
    }
}

impl Scene {
    /// Replaces what is unusable: a surface by a magenta one; lights, displacements, volumes,
    /// imagers, co-shaders and cameras are left out, and procedural primitives with their objects.
    /// Shader instances keep their numbers.
    pub fn leave_out(&mut self, unusable: &Unusable) {
        if unusable.ray_function {
            self.ray_function = None;
        }
        let is_out = |id: ShaderId| unusable.shaders.contains(&id);
        for id in &unusable.shaders {
            let instance = &mut self.shader_instances[id.0 as usize];
            let replacement = match instance.kind {
                ShaderKind::Surface => REPLACEMENT_SURFACE,
                ShaderKind::Light => REPLACEMENT_LIGHT,
                _ => continue,
            };
            instance.shader = ShaderRef::new(replacement);
            instance.params.clear();
            instance.objects = Arc::default();
        }
        self.imager = self.imager.filter(|id| !is_out(*id));
        self.camera_shader = self.camera_shader.filter(|id| !is_out(*id));
        self.objects.retain(|o| !o.procedural.is_some_and(is_out));
        let kept = |list: &Arc<[CoShader]>| -> Arc<[CoShader]> {
            list.iter().filter(|c| !is_out(c.shader)).cloned().collect()
        };
        let uses = |attributes: &ObjectAttributes| attributes.shaders().any(is_out);
        let affected: Vec<&mut Object> = self.objects.iter_mut().filter(|o| uses(&o.attributes)).collect();
        for object in affected {
            let attributes = Arc::make_mut(&mut object.attributes);
            for place in [
                &mut attributes.displacement,
                &mut attributes.atmosphere,
                &mut attributes.interior,
                &mut attributes.exterior,
            ] {
                *place = place.filter(|id| !is_out(*id));
            }
            attributes.coshaders = kept(&attributes.coshaders);
        }
        for instance in &mut self.shader_instances {
            if instance.objects.iter().any(|c| is_out(c.shader)) {
                instance.objects = kept(&instance.objects);
            }
        }
    }

    /// Whether an image would show nothing.
    pub fn shows_nothing(&self) -> bool {
        self.objects.is_empty() && self.ray_function.is_none() && self.imager.is_none()
    }
}
