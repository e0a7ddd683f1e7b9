//! Options, the camera, transforms, attributes, shaders and lights.

use super::{errors, scene, warnings, world};
use crate::{MAX_FOLDERS, OpenOptions, ParamValue, Projection, Scene, ShaderRole, Shadows, open_bytes};
use glam::{Mat4, Vec3};
use shadewright_base::text::source::SourceMap;
use std::path::PathBuf;

const TRIANGLE: &str = "Polygon \"P\" [0 0 0 1 0 0 0 1 0]";

/// Where the first object's first vertex lies.
fn origin(requests: &str) -> Vec3 {
    world(requests).objects[0].mesh.positions[0]
}

fn close(a: Vec3, b: Vec3) {
    assert!(a.distance(b) < 1e-5, "{a} is not {b}");
}

#[test]
fn options_describe_the_image() {
    let s = scene(&format!(
        "version 3.03 Display \"out.tif\" \"file\" \"rgba\" \"quality\" [3]\nFormat 320 200 1.5 PixelSamples 4 3\n\
         Option \"trace\" \"integer maxdepth\" [3] \"color background\" [0.1 0.2 0.3]\n\
         Clipping 0.5 100 ScreenWindow -1 2 -1 1 FrameAspectRatio 1.5\n\
         Projection \"perspective\" \"fov\" [40] FrameBegin 1 WorldBegin {TRIANGLE} WorldEnd FrameEnd"
    ));
    assert_eq!((s.format.width, s.format.height, s.format.pixel_aspect), (320, 200, 1.5));
    assert_eq!(s.pixel_samples, [4, 3]);
    assert_eq!(s.film.displays[0].name, "out.tif");
    assert_eq!(s.max_depth, 3);
    assert_eq!(s.background, [0.1, 0.2, 0.3, 1.0]);
    assert_eq!((s.camera.near, s.camera.far), (0.5, 100.0));
    assert_eq!(s.camera.screen_window, Some([-1.0, 2.0, -1.0, 1.0]));
    assert_eq!(s.camera.projection, Projection::Perspective { fov: 40.0 });
}

#[test]
fn search_paths_are_relative_to_the_scene_and_extend_one_another() {
    let text = format!(
        "Option \"searchpath\" \"shader\" [\"a:/b\"] Option \"searchpath\" \"shader\" [\"&:c\"] WorldBegin {TRIANGLE} WorldEnd"
    );
    let (scene, _) = in_folder(text);
    let expected = ["/scenes/a", "/b", "/scenes", "/scenes/c"].map(PathBuf::from);
    assert_eq!(scene.search_paths.shader, expected);
    assert_eq!(scene.search_paths.texture, [PathBuf::from("/scenes")]);
}

/// A scene in the folder `/scenes`, with its messages.
fn in_folder(text: String) -> (Scene, String) {
    let mut sources = SourceMap::new();
    let path = PathBuf::from("/scenes/s.rib");
    let input = super::Input { name: "s.rib", path: Some(&path), bytes: text.into_bytes() };
    let opened = super::super::read(input, &Default::default(), &mut sources).unwrap();
    (opened.scene, opened.diagnostics.render(&sources))
}

#[test]
fn search_paths_have_so_many_folders_and_the_scenes_own() {
    let list = |count: usize| (0..count).map(|i| format!("f{i}:")).collect::<String>();
    let read = |requests: String| in_folder(format!("{requests} WorldBegin {TRIANGLE} WorldEnd"));
    let option = |path: &str, folders: &str| format!("Option \"searchpath\" \"{path}\" [\"{folders}\"]\n");
    let many = option("texture", &(list(MAX_FOLDERS) + "f0:f1"));
    let (scene, said) = read(many);
    assert_eq!((scene.search_paths.texture.len(), &*said), (MAX_FOLDERS + 1, ""));
    let more = list(MAX_FOLDERS + 1);
    let (scene, said) = read(option("texture", &more) + &option("archive", &more));
    let [own, last] = ["/scenes", &format!("/scenes/f{}", MAX_FOLDERS - 1)].map(PathBuf::from);
    assert_eq!(scene.search_paths.texture[MAX_FOLDERS - 1..], [last, own]);
    assert_eq!(said.matches("a search path has 128 folders at most").count(), 1, "{said}");
    // Names of shaders add their folders.
    let shaders: String = (0..MAX_FOLDERS + 9).map(|i| format!("Surface \"d{i}/x\" {TRIANGLE}\n")).collect();
    let (scene, said) = in_folder(format!("WorldBegin {shaders} WorldEnd"));
    assert_eq!(scene.search_paths.shader.len(), MAX_FOLDERS);
    assert_eq!(said.matches("a search path has 128 folders at most").count(), 1, "{said}");
}

#[test]
fn the_camera_is_the_transform_before_the_world() {
    let s = scene(&format!("Projection \"orthographic\" Translate 0 0 5 WorldBegin {TRIANGLE} WorldEnd"));
    close(s.camera.world_to_camera.transform_point3(Vec3::ZERO), Vec3::new(0.0, 0.0, 5.0));
    close(s.camera_frame().origin, Vec3::new(0.0, 0.0, -5.0));
    close(s.coordinate_systems["camera"].transform_point3(Vec3::ZERO), Vec3::new(0.0, 0.0, -5.0));
    assert_eq!(s.coordinate_systems["world"], Mat4::IDENTITY);
    assert_eq!(s.objects[0].mesh.positions[0], Vec3::ZERO);
}

#[test]
fn transforms_apply_from_the_last_to_the_first() {
    close(origin("Translate 1 2 3"), Vec3::new(1.0, 2.0, 3.0));
    close(origin("Scale 2 2 2 Translate 1 2 3"), Vec3::new(2.0, 4.0, 6.0));
    close(origin("Rotate 90 0 0 1 Translate 1 0 0"), Vec3::Y);
    close(origin("Rotate 90 0 1 0 Translate 1 0 0"), -Vec3::Z);
    close(origin("ConcatTransform [1 0 0 0 0 1 0 0 0 0 1 0 7 8 9 1]"), Vec3::new(7.0, 8.0, 9.0));
    close(origin("Translate 5 5 5 Transform [1 0 0 0 0 1 0 0 0 0 1 0 7 8 9 1]"), Vec3::new(7.0, 8.0, 9.0));
    close(origin("Translate 5 5 5 Identity"), Vec3::ZERO);
}

#[test]
fn transform_blocks_restore_the_transform_and_attribute_blocks_both() {
    let s = world("Translate 1 0 0 TransformBegin Translate 1 0 0 Color 1 0 0 TransformEnd");
    close(s.objects[0].mesh.positions[0], Vec3::X);
    assert_eq!(s.objects[0].color, Vec3::X);
    let s = world("AttributeBegin Translate 1 0 0 Color [1 0 0] Opacity [0 0 0] Sides 1 AttributeEnd");
    close(s.objects[0].mesh.positions[0], Vec3::ZERO);
    assert_eq!((s.objects[0].color, s.objects[0].opacity, s.objects[0].sides), (Vec3::ONE, Vec3::ONE, 2));
}

#[test]
fn attributes_reach_the_objects_after_them() {
    let s = world("Color [0.1 0.2 0.3] Opacity 0.5 0.6 0.7 Sides 1 Attribute \"identifier\" \"name\" [\"it\"]");
    let o = &s.objects[0];
    assert_eq!((o.color, o.opacity), (Vec3::new(0.1, 0.2, 0.3), Vec3::new(0.5, 0.6, 0.7)));
    assert_eq!((o.sides, &*o.name), (1, "it"));
}

#[test]
fn named_coordinate_systems_go_to_world_space_from_either_side_of_the_camera() {
    let s = scene(&format!(
        "CoordinateSystem \"lens\" Translate 0 0 5 CoordinateSystem \"before\" WorldBegin\n\
         TransformBegin Translate 1 0 0 CoordinateSystem \"there\" TransformEnd\n\
         CoordSysTransform \"there\" {TRIANGLE} WorldEnd"
    ));
    let at = |name: &str| s.coordinate_systems[name].transform_point3(Vec3::ZERO);
    close(at("lens"), Vec3::new(0.0, 0.0, -5.0));
    close(at("before"), Vec3::ZERO);
    close(at("there"), Vec3::X);
    close(s.objects[0].mesh.positions[0], Vec3::X);
}

#[test]
fn shader_parameters_keep_their_declared_types() {
    let s = world(
        "Declare \"bumps\" \"uniform integer\" Declare \"seeds\" \"float[2]\"\n\
         Surface \"mine\" \"Kd\" 0.5 \"bumps\" [3] \"seeds\" [1 2] \"uniform color tint\" [1 0 0] \"string map\" \"a.tx\"\n\
         \"uniform matrix m\" [1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1] \"Kd\" [0.25]",
    );
    assert_eq!(s.shader_instances.len(), 1);
    let shader = &s.shader_instances[0];
    assert_eq!((shader.kind, shader.shader.as_str()), (ShaderRole::Surface, "mine"));
    let expected = [
        ("bumps", ParamValue::Integer(vec![3])),
        ("seeds", ParamValue::Float(vec![1.0, 2.0])),
        ("tint", ParamValue::Color(vec![Vec3::X])),
        ("map", ParamValue::String(vec!["a.tx".to_string()])),
        ("m", ParamValue::Matrix(vec![Mat4::IDENTITY])),
        ("Kd", ParamValue::Float(vec![0.25])),
    ];
    assert_eq!(shader.params, expected.map(|(n, v)| (n.to_string(), v)));
}

#[test]
fn points_vectors_and_normals_of_shaders_are_given_in_world_space() {
    let s = world(
        "Translate 1 0 0 Scale 2 1 1\n\
         Surface \"mine\" \"point p\" [1 1 0] \"vector v\" [1 1 0] \"normal n\" [1 1 0]",
    );
    let value = |i: usize| s.shader_instances[0].params[i].1.clone();
    assert_eq!(value(0), ParamValue::Point(vec![Vec3::new(3.0, 1.0, 0.0)]));
    assert_eq!(value(1), ParamValue::Vector(vec![Vec3::new(2.0, 1.0, 0.0)]));
    assert_eq!(value(2), ParamValue::Normal(vec![Vec3::new(0.5, 1.0, 0.0)]));
    close(s.shader_instances[0].to_world.transform_point3(Vec3::ZERO), Vec3::X);
}

#[test]
fn objects_carry_the_shaders_that_they_are_declared_under() {
    let s = world(&format!(
        "Atmosphere \"fog\" AttributeBegin Displacement \"dents\" Interior \"glass\" Exterior \"haze\" {TRIANGLE} {TRIANGLE} AttributeEnd\n\
         Exterior \"unused\" Exterior \"air\" {TRIANGLE}"
    ));
    let named = |object: usize| {
        let ids = s.objects[object].attributes.shaders();
        ids.map(|id| s.shader_instances[id.0 as usize].shader.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(named(0), ["dents", "fog", "glass", "haze"]);
    assert_eq!(named(2), ["fog", "air"]);
    assert!(std::sync::Arc::ptr_eq(&s.objects[0].attributes, &s.objects[1].attributes));
    assert!(s.shader_instances.iter().all(|i| i.shader != "unused"));
}

#[test]
fn a_light_on_the_camera_moves_with_it() {
    let s =
        scene(&format!("LightSource \"pointlight\" 1 \"from\" [1 0 0] Translate 0 0 5 WorldBegin {TRIANGLE} WorldEnd"));
    let light = &s.shader_instances[s.lights[0].shader.0 as usize];
    assert_eq!(light.params[0].1, ParamValue::Point(vec![Vec3::new(1.0, 0.0, -5.0)]));
    assert_eq!(s.objects[0].lights.as_ref(), [0]);
}

#[test]
fn a_handle_names_the_last_co_shader_that_was_given_it() {
    let s = world(&format!(
        "Shader \"old\" \"a\" Shader \"other\" \"b\" AttributeBegin Shader \"new\" \"a\" {TRIANGLE} AttributeEnd {TRIANGLE}"
    ));
    let named = |object: usize| -> Vec<(&str, &str)> {
        let list = s.objects[object].attributes.coshaders.iter();
        list.map(|c| (&*c.handle, s.shader_instances[c.shader.0 as usize].shader.as_str())).collect()
    };
    assert_eq!((named(0), named(1)), (vec![("b", "other"), ("a", "new")], vec![("a", "old"), ("b", "other")]));
    let many: String = (0..65).map(|i| format!("Shader \"one\" \"{i}\" ")).collect();
    let messages = errors(&format!("WorldBegin {many}{TRIANGLE} WorldEnd"));
    assert!(messages.contains("more than 64 co-shaders for one object"), "{messages}");
}

#[test]
fn illuminate_switches_lights_within_the_block() {
    let s = scene(&format!(
        "WorldBegin LightSource \"ambientlight\" 1 LightSource \"pointlight\" \"key\"\n\
         AttributeBegin Illuminate 1 0 {TRIANGLE} Illuminate \"key\" 0 {TRIANGLE} Illuminate 1 1 {TRIANGLE} AttributeEnd\n\
         AttributeBegin LightSource \"distantlight\" 3 {TRIANGLE} AttributeEnd {TRIANGLE} WorldEnd"
    ));
    let lights: Vec<&[u32]> = s.objects.iter().map(|o| o.lights.as_ref()).collect();
    let expected: [&[u32]; 5] = [&[1], &[], &[0], &[0, 1, 2], &[0, 1]];
    assert_eq!(lights, expected);
}

#[test]
fn shadows_are_an_attribute_of_the_light() {
    let text = "WorldBegin LightSource \"pointlight\" 1 Attribute \"light\" \"string shadows\" [\"off\"] LightSource \"pointlight\" 2\n\
         Attribute \"light\" \"shadows\" \"on\" LightSource \"pointlight\" 3 WorldEnd";
    for (shadows, expected) in [
        (Shadows::On, [None, Some(false), Some(true)]),
        (Shadows::Asked, [Some(false), Some(false), Some(true)]),
        (Shadows::Off, [Some(false); 3]),
    ] {
        let options = OpenOptions { shadows, ..OpenOptions::default() };
        let opened = open_bytes("lights", text.into(), &options, &mut SourceMap::new()).expect("a scene");
        assert_eq!(opened.scene.lights.iter().map(|l| l.shadows).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn only_the_surfaces_that_objects_use_are_kept() {
    let s = scene(&format!(
        "WorldBegin Surface \"unused\" Imager \"grade\" LightSource \"pointlight\" 1 Surface \"used\" {TRIANGLE} WorldEnd"
    ));
    let name = |id: crate::ShaderId| s.shader_instances[id.0 as usize].shader.as_str();
    assert_eq!(s.shader_instances.len(), 3);
    assert_eq!(name(s.objects[0].surface.unwrap()), "used");
    assert_eq!(name(s.lights[0].shader), "pointlight");
    assert_eq!(name(s.imager.unwrap()), "grade");
}

#[test]
fn unknown_requests_and_parameters_warn_once_and_are_skipped() {
    let text = warnings(&format!(
        "Glow 1 1 Halo \"hidden\" Glow 2 2 sides 1 Option \"ours\" \"integer bucketsize\" [16 16]\n\
         Option \"ours\" \"integer bucketsize\" [8 8]\n\
         WorldBegin Polygon \"P\" [0 0 0 1 0 0 0 1 0] \"vertex float heat\" [1 2 3]\n\
         Geometry \"kettle\" {TRIANGLE} WorldEnd"
    ));
    let lines: Vec<&str> = text.lines().filter(|l| l.starts_with("warning")).collect();
    let expected = [
        "warning: the request `Glow` is not supported",
        "warning: the request `Halo` is not supported",
        "warning: the request `sides` is not supported",
        "warning: Option \"ours\" is not supported",
        "warning: there is no geometry `kettle`",
    ];
    assert_eq!(lines, expected, "{text}");
    assert!(text.contains("hint: did you mean `Sides`?"), "{text}");
}

#[test]
fn of_several_frames_the_first_is_read() {
    let frame = |n: i32, x: i32| {
        format!("FrameBegin {n} Format {n}0 10 1 WorldBegin Translate {x} 0 0 {TRIANGLE} WorldEnd FrameEnd\n")
    };
    let text = frame(1, 3) + &frame(2, 4);
    let (opened, _) = super::read(&text);
    let scene = opened.unwrap().scene;
    assert_eq!((scene.format.width, scene.objects.len()), (10, 1));
    close(scene.objects[0].mesh.positions[0], Vec3::new(3.0, 0.0, 0.0));
    assert!(warnings(&text).contains("the file has 2 frames, of which only frame 1 is read"));
}

#[test]
fn an_empty_world_is_a_scene_with_a_warning() {
    assert!(warnings("WorldBegin WorldEnd").contains("the scene has no visible object"));
}
