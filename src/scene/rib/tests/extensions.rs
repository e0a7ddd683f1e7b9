//! Tests of the attributes by which the RIB of an export says more than the specification allows.

use super::{errors, scene, world};
use crate::{ParamValue, TextureSource};
use glam::{Mat4, Vec3};
use shadewright_image::Reading;

#[test]
fn a_space_belongs_to_objects_and_shaders_and_leaves_points_where_they_are() {
    let scene = world(
        "Attribute \"shadewright\" \"matrix space\" [2 0 0 0 0 2 0 0 0 0 2 0 5 0 0 1]\n\
         LightSource \"pointlight\" 1 \"from\" [1 2 3]\n\
         Polygon \"P\" [0 0 0 1 0 0 0 1 0]\n\
         Attribute \"shadewright\" \"matrix space\" [1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1]\n\
         Translate 0 3 0",
    );
    let space = Mat4::from_translation(5.0 * Vec3::X) * Mat4::from_scale(Vec3::splat(2.0));
    let light = &scene.shader_instances[scene.lights[0].shader.0 as usize];
    assert_eq!((light.to_world, &light.params[0].1), (space, &ParamValue::Point(vec![Vec3::new(1.0, 2.0, 3.0)])));
    assert_eq!((scene.objects[0].object_to_world, scene.objects[0].mesh.positions[1]), (space, Vec3::X));
    // The identity gives the transform its meaning back.
    assert_eq!(scene.objects[1].object_to_world, Mat4::from_translation(3.0 * Vec3::Y));
    let flat = "WorldBegin\nAttribute \"shadewright\" \"matrix space\" [1 0 0 0 0 0 0 0 0 0 1 0 0 0 0 1]\nSphere 1 -1 1 360\nWorldEnd";
    assert!(errors(flat).contains("`space` must be a matrix that can be inverted"));
}

#[test]
fn unit_normals_are_taken_as_they_are() {
    // Neither of these has exactly length 1.
    let normal = "0.57735 0.57735 0.57735";
    let mesh = format!("PointsPolygons [3] [0 1 2] \"P\" [0 0 0 1 0 0 0 1 0] \"N\" [{normal} {normal} {normal}]");
    let plain = world(&mesh);
    let exact = world(&format!("Attribute \"shadewright\" \"int unitnormals\" [1]\n{mesh}"));
    assert_eq!(exact.objects[0].mesh.normals, [Vec3::splat(0.57735); 3]);
    assert_ne!(plain.objects[0].mesh.normals, exact.objects[0].mesh.normals);
    assert!(world(&format!("Attribute \"shadewright\" \"int ribbons\" [1]\n{mesh}")).objects[0].mesh.ribbons);
}

#[test]
fn objects_may_be_emitters_of_an_area_light_that_is_declared_elsewhere() {
    let area = "AttributeBegin\nAreaLightSource \"pointlight\" \"a\"\nAttributeEnd\n";
    let scene = world(&format!("{area}Attribute \"shadewright\" \"string emits\" [\"a\"]"));
    assert_eq!(scene.objects[0].attributes.emits, Some(0));
    let missing = "WorldBegin\nAttribute \"shadewright\" \"string emits\" [\"b\"]\nSphere 1 -1 1 360\nWorldEnd";
    assert!(errors(missing).contains("no area light has the handle b"));
}

#[test]
fn textures_say_what_their_numbers_are() {
    let make = |reading: &str| {
        format!(
            "MakeTexture \"a.png\" \"a\" \"clamp\" \"black\" \"box\" 1 1 {reading}\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\n"
        )
    };
    for reading in Reading::ALL {
        let scene = scene(&make(&format!("\"string reading\" [\"{}\"]", reading.name())));
        assert!(matches!(scene.texture("a"), TextureSource::Image { reading: found, .. } if found == reading));
    }
    assert!(matches!(scene(&make("")).texture("a"), TextureSource::Image { reading: Reading::Color, .. }));
    assert!(errors(&make("\"string reading\" [\"depth\"]")).contains("an image is not read as \"depth\""));
}

#[test]
fn a_far_plane_at_infinity_hides_nothing() {
    let far = |far: &str| scene(&format!("Clipping 0.5 {far}\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\n")).camera.far;
    assert_eq!((far("1e38"), far("100")), (f32::INFINITY, 100.0));
}
