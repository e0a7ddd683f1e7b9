//! Materials and lights of RIS.

use super::warnings_and_scene;
use crate::scene::ParamValue;
use glam::Vec3;

#[test]
fn a_material_has_the_values_of_the_node() {
    let (text, scene) = warnings_and_scene(
        "WorldBegin Bxdf \"PxrDisney\" \"b\" \"color baseColor\" [1 0.5 0.25] \"float metallic\" [1]\n\
         Bxdf \"PxrSurface\" \"c\" \"float diffuseGain\" [0.5] \"color diffuseColor\" [1 1 0] Sphere 1 -1 1 360 WorldEnd",
    );
    assert_eq!(text.matches("is approximated by").count(), 2, "{text}");
    let surface = scene.objects[0].surface.expect("a surface");
    let instance = &scene.shader_instances[surface.0 as usize];
    assert_eq!(instance.shader.name(), "gltf");
    assert!(
        instance.params.contains(&("baseColorFactor".to_string(), ParamValue::Color(vec![Vec3::new(0.5, 0.5, 0.0)])))
    );
}

#[test]
fn the_power_of_an_area_light_grows_with_its_area() {
    let intensity = |requests: &str| {
        let (_, scene) = warnings_and_scene(&format!(
            "WorldBegin {requests} Light \"PxrRectLight\" \"l\" \"float intensity\" [2] \"float exposure\" [1]\nIdentity Sphere 1 -1 1 360 WorldEnd"
        ));
        let light = &scene.shader_instances[scene.lights[0].shader.0 as usize];
        light.params.iter().find(|(name, _)| name == "intensity").map(|(_, value)| value.clone())
    };
    assert_eq!(intensity(""), Some(ParamValue::Float(vec![4.0])));
    assert_eq!(intensity("Scale 2 3 1"), Some(ParamValue::Float(vec![24.0])));
}

#[test]
fn a_connected_texture_is_the_material_s() {
    let (_, scene) = warnings_and_scene(
        "WorldBegin Pattern \"PxrTexture\" \"t\" \"string filename\" [\"bark.tex\"]\n\
         Bxdf \"PxrDiffuse\" \"b\" \"reference color diffuseColor\" [\"t:resultRGB\"] Sphere 1 -1 1 360 WorldEnd",
    );
    let surface = scene.objects[0].surface.expect("a surface");
    let params = &scene.shader_instances[surface.0 as usize].params;
    let expected = ("baseColorTexture".to_string(), ParamValue::String(vec!["bark.tex".to_string()]));
    assert!(params.contains(&expected), "{params:?}");
}
