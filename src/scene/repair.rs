//! A scene without the shaders that cannot be used: what can be shown is shown.

use super::{CoShader, Object, ObjectAttributes, ParamValue, Scene, ShaderId, ShaderInstance, ShaderRole};
use shadewright_lang::ShaderRef;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The surface of objects whose own shader cannot be used: magenta, so that it is seen.
const REPLACEMENT_SURFACE: &str = "missingsurface";
/// The light in place of a standard one whose shader cannot be used: none.
const NO_LIGHT: &str = "nulllight";
/// Parameters that lights have in common, which a replacement keeps.
const LIGHT_PARAMETERS: [&str; 7] =
    ["intensity", "lightcolor", "from", "to", "coneangle", "conedeltaangle", "beamdistribution"];

/// The missing or faulty things that a scene names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unusable {
    /// Shader instances.
    pub shaders: BTreeSet<ShaderId>,
    /// True if it is the function that replaces the camera.
    pub ray_function: bool,
    /// Objects for whose code or parameters there is no room, as indices into [`Scene::objects`].
    pub objects: BTreeSet<usize>,
}

impl Unusable {
    /// True if everything can be used.
    pub fn is_empty(&self) -> bool {
        self.shaders.is_empty() && !self.ray_function && self.objects.is_empty()
    }
}

/// The standard light that a light's name and parameters speak of, and those of its parameters that
/// are kept. A light is better than none: without any, an image is black.
fn standard_light(instance: &ShaderInstance) -> (&'static str, &'static [&'static str]) {
    let name = instance.shader.name().to_lowercase();
    let is_called = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let has = |wanted: &str| instance.params.iter().any(|(name, _)| name == wanted);
    if is_called(&["amb", "env", "dome", "sky", "hemi", "indirect", "occlusion", "bounce", "irradiance"]) {
        ("ambientlight", &LIGHT_PARAMETERS[..2])
    } else if is_called(&["spot", "slide", "gobo", "barn"]) || has("coneangle") {
        ("spotlight", &LIGHT_PARAMETERS[..7])
    } else if is_called(&["dist", "sun", "solar", "direct", "parallel"]) || (has("to") && !has("from")) {
        ("distantlight", &LIGHT_PARAMETERS[..4])
    } else {
        ("pointlight", &LIGHT_PARAMETERS[..3])
    }
}

impl Scene {
    /// Replaces what is unusable: a surface by a magenta one, a light by the standard one that is most
    /// like it; displacements, volumes, imagers, co-shaders and cameras are left out, and procedural
    /// primitives with their objects; and so are the objects for which there is no room.
    /// Shader instances keep their numbers.
    pub fn leave_out(&mut self, unusable: &Unusable) {
        if unusable.ray_function {
            self.ray_function = None;
        }
        let mut number = 0..;
        self.objects.retain(|_| number.next().is_none_or(|number| !unusable.objects.contains(&number)));
        let is_out = |id: ShaderId| unusable.shaders.contains(&id);
        for id in &unusable.shaders {
            let instance = &mut self.shader_instances[id.0 as usize];
            let (replacement, kept): (&str, &[&str]) = match instance.kind {
                ShaderRole::Surface => (REPLACEMENT_SURFACE, &[]),
                ShaderRole::Light => match standard_light(instance) {
                    // It is that light which cannot be used.
                    (name, _) if instance.shader == *name => (NO_LIGHT, &[]),
                    light => light,
                },
                _ => continue,
            };
            instance.shader = ShaderRef::new(replacement);
            instance.params.retain(|(name, value)| kept.contains(&&**name) && !matches!(value, ParamValue::String(_)));
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

    /// True if an image would show nothing.
    pub fn shows_nothing(&self) -> bool {
        self.objects.is_empty() && self.ray_function.is_none() && self.imager.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParamValue;
    use glam::{Mat4, Vec3};

    #[test]
    fn objects_for_which_there_is_no_room_are_left_out() {
        let mut scene = crate::shader_scene("matte", ShaderRole::Surface);
        let object = scene.objects[0].clone();
        scene.objects = (0..5).map(|i| Object { name: format!("{i}").into(), ..object.clone() }).collect();
        let unusable = Unusable { objects: [1, 3].into(), ..Unusable::default() };
        assert!(!unusable.is_empty());
        scene.leave_out(&unusable);
        let names: Vec<&str> = scene.objects.iter().map(|o| &*o.name).collect();
        assert_eq!(names, ["0", "2", "4"]);
    }

    #[test]
    fn a_light_that_cannot_be_used_is_the_most_similar_standard_one() {
        let instance = |name: &str, params: &[&str]| ShaderInstance {
            kind: ShaderRole::Light,
            shader: ShaderRef::new(name),
            params: params.iter().map(|name| (name.to_string(), ParamValue::Float(vec![1.0]))).collect(),
            to_world: Mat4::IDENTITY,
            span: None,
            objects: Arc::default(),
        };
        for (name, params, expected) in [
            ("mtorSpotLight", &[][..], "spotlight"),
            ("show_key", &["from", "coneangle"], "spotlight"),
            ("mtorDirectionalLight", &[], "distantlight"),
            ("key", &["to"], "distantlight"),
            ("key", &["from", "to"], "pointlight"),
            ("skydome", &["map"], "ambientlight"),
            ("uberlight", &[], "pointlight"),
        ] {
            assert_eq!(standard_light(&instance(name, params)).0, expected, "{name} {params:?}");
        }
        let mut scene = Scene::empty("test");
        scene.shader_instances.push(instance("key", &["intensity", "blur"]));
        scene.shader_instances[0].params.push(("lightcolor".to_string(), ParamValue::Color(vec![Vec3::X])));
        let unusable = Unusable { shaders: [ShaderId(0)].into(), ..Unusable::default() };
        scene.leave_out(&unusable);
        let names: Vec<&str> = scene.shader_instances[0].params.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            (scene.shader_instances[0].shader.name(), &*names),
            ("pointlight", &["intensity", "lightcolor"][..])
        );
        // One that is standard already, and wrong, shines not at all.
        scene.leave_out(&unusable);
        assert_eq!(scene.shader_instances[0].shader.name(), "nulllight");
    }
}
