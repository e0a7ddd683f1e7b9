//! Materials and lights of RIS.

use super::warnings_and_scene;
use crate::ParamValue;
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

/// The surface shader of a scene's first object, and a parameter of it.
fn surface_of(requests: &str, param: &str) -> (String, Option<ParamValue>) {
    let (_, scene) = warnings_and_scene(&format!("WorldBegin {requests} Sphere 1 -1 1 360 WorldEnd"));
    let surface = scene.objects[0].surface.expect("a surface");
    let instance = &scene.shader_instances[surface.0 as usize];
    let value = instance.params.iter().find(|(name, _)| name == param).map(|(_, value)| value.clone());
    (instance.shader.name().to_string(), value)
}

#[test]
fn a_connected_pattern_is_the_mean_of_its_colors() {
    let color = |patterns: &str| {
        let material =
            "Bxdf \"PxrSurface\" \"b\" \"reference color diffuseColor\" [\"p:resultRGB\"] \"float diffuseGain\" [0.5]";
        surface_of(&format!("{patterns} {material}"), "baseColorFactor").1
    };
    let gray = |x: f32| Some(ParamValue::Color(vec![Vec3::splat(x)]));
    let checker = "Pattern \"PxrChecker\" \"p\" \"color colorA\" [1 1 1] \"color colorB\" [0.5 0.5 0.5]";
    assert_eq!(color(checker), gray(0.375));
    assert_eq!(color("Pattern \"PxrFractal\" \"p\" \"int layers\" [4]"), gray(0.25));
    let ramp = "Pattern \"PxrRamp\" \"p\" \"color[2] colors\" [0 0 0 1 1 1] \"color colorScale\" [9 9 9]";
    assert_eq!(color(ramp), gray(0.25));
    let chain = "Pattern \"PxrTexture\" \"t\" \"string filename\" [\"bark.<UDIM>.tex\"] Pattern \"PxrHSL\" \"p\" \"reference color inputRGB\" [\"t:resultRGB\"]";
    assert_eq!(color(chain), gray(0.5), "the texture is multiplied by the gain");
    let (_, scene) = warnings_and_scene(&format!(
        "WorldBegin {chain} Bxdf \"PxrDiffuse\" \"b\" \"reference color diffuseColor\" [\"p:resultRGB\"] Sphere 1 -1 1 360 WorldEnd"
    ));
    let texture = ("baseColorTexture".to_string(), ParamValue::String(vec!["bark.1001.tex".to_string()]));
    assert!(scene.shader_instances.iter().any(|s| s.params.contains(&texture)));
}

#[test]
fn combined_and_refracting_materials_are_the_nearest() {
    let lama = "Bxdf \"LamaDiffuse\" \"a\" \"color color\" [1 0 0] Bxdf \"LamaConductor\" \"m\" \"color reflectivity\" [0 1 0] \
        Bxdf \"LamaLayer\" \"l\" \"reference bxdf materialTop\" [\"m:out\"] \"reference bxdf materialBase\" [\"a:out\"] \
        Bxdf \"LamaSurface\" \"s\" \"reference bxdf materialFront\" [\"l:out\"]";
    assert_eq!(surface_of(lama, "baseColorFactor").1, Some(ParamValue::Color(vec![Vec3::X])));
    let glass =
        "Bxdf \"PxrSurface\" \"g\" \"float refractionGain\" [1] \"float diffuseGain\" [0] \"float glassIor\" [1.3]";
    assert_eq!(surface_of(glass, "ior"), ("Dielectric".to_string(), Some(ParamValue::Float(vec![1.3]))));
    let mesh_light = "Light \"PxrMeshLight\" \"l\" \"float intensity\" [2]";
    assert_eq!(surface_of(mesh_light, "emissiveFactor").1, Some(ParamValue::Color(vec![Vec3::splat(2.0)])));
}

#[test]
fn integrators_and_cameras_of_ris_are_the_nearest() {
    let (text, scene) = warnings_and_scene(
        "Integrator \"PxrVCM\" \"i\" \"int maxPathLength\" [3] \"int mergePaths\" [1] Projection \"PxrCamera\" \"float fov\" [40] WorldBegin Sphere 1 -1 1 360 WorldEnd",
    );
    assert!(text.contains("the integrator `PxrVCM` is not supported"), "{text}");
    assert_eq!((scene.integrator, scene.max_depth), (crate::Integrator::Path, 3));
    assert!(matches!(scene.camera.projection, crate::Projection::Perspective { fov: 40.0 }));
}
