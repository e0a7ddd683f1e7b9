//! Scenes with errors: what can be shown is shown.

use super::super::super::{OpenOptions, Opened, ParamValue};
use super::{Input, errors, scene, warnings, warnings_and_scene};
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::SourceMap;

const TRIANGLE: &str = "Polygon \"P\" [0 0 0 1 0 0 0 1 0]";

fn lenient(text: &str, options: &OpenOptions) -> Result<(Opened, String), Diagnostics> {
    let mut sources = SourceMap::new();
    let input = Input { name: "scene.rib", path: None, bytes: text.as_bytes().to_vec() };
    let opened = super::super::read(input, options, &mut sources)?;
    let shown = opened.diagnostics.render(&sources);
    Ok((opened, shown))
}

fn shown(text: &str) -> (Opened, String) {
    lenient(text, &OpenOptions::default()).unwrap_or_else(|e| panic!("{}", e.render(&SourceMap::new())))
}

#[test]
fn a_request_with_an_error_is_reported_and_left_out() {
    let (opened, text) = shown(&format!(
        "WorldBegin Rotate 10 0 \"a\"\n{TRIANGLE}\nPolygon \"P\" [0 0]\nSides 7\nIlluminate 9 1\n{TRIANGLE} WorldEnd"
    ));
    assert_eq!((opened.scene.objects.len(), opened.diagnostics.error_count()), (2, 4), "{text}");
}

#[test]
fn a_parameter_with_an_error_costs_itself_alone() {
    let (opened, text) = shown(&format!(
        "WorldBegin Surface \"matte\" \"Kd\" [\"x\" 2] \"Ka\" [0.5]\nPolygon \"P\" [0 0 0 1 0 0 0 1 0] \"bogus\" [1 2] \"Cs\" [1 0 0 0 1 0 0 0 1]\n{TRIANGLE} \"bogus\" [1] WorldEnd"
    ));
    assert_eq!((opened.scene.objects.len(), opened.diagnostics.error_count()), (2, 2), "{text}");
    assert_eq!(opened.scene.shader_instances[0].params, [("Ka".to_string(), ParamValue::Float(vec![0.5]))]);
    assert_eq!(opened.scene.objects[0].mesh.vertex_colors.len(), 3);
    assert_eq!(text.matches("the parameter `bogus` is not declared").count(), 1, "{text}");
}

#[test]
fn shaders_type_the_parameters_that_nothing_declares() {
    let s = scene(&format!(
        "WorldBegin Surface \"mine\" \"frequency\" [3] \"tint\" [1 0 0] \"kind\" \"wood\" {TRIANGLE} WorldEnd"
    ));
    let expected = [
        ("frequency".to_string(), ParamValue::Numbers(vec![3.0])),
        ("tint".to_string(), ParamValue::Numbers(vec![1.0, 0.0, 0.0])),
        ("kind".to_string(), ParamValue::String(vec!["wood".to_string()])),
    ];
    assert_eq!(s.shader_instances[0].params, expected);
}

#[test]
fn options_and_attributes_of_exporters_are_silent() {
    let text = format!(
        "Camera \"persp\" \"shutteropening\" [0 1]\nOption \"statistics\" \"endofframe\" [1]\nOption \"limits\" \"bucketsize\" [16 16]\nWorldBegin \
         ScopedCoordinateSystem \"here\" Attribute \"identifier\" \"shadinggroup\" [\"a\"] {TRIANGLE} WorldEnd"
    );
    assert_eq!(warnings(&text), "");
}

#[test]
fn geometry_without_a_world_is_framed_and_lit() {
    let s = scene("Sphere 1 -1 1 360 Translate 3 0 0 Sphere 1 -1 1 360");
    assert_eq!((s.objects.len(), s.lights.len()), (2, 3));
    assert!(s.objects.iter().all(|o| o.lights.len() == 3));
    for o in &s.objects {
        for p in &o.mesh.positions {
            let c = s.camera.world_to_camera.transform_point3(*p);
            let f = s.camera_frame();
            assert!(c.z > 0.0 && c.x.abs() < c.z * f.half_width && c.y.abs() < c.z * f.half_height, "{p}");
        }
    }
    assert!(s.camera.world_to_camera.determinant() > 0.0, "RIB is left-handed");
    assert_eq!(scene("LightSource \"pointlight\" 1 Sphere 1 -1 1 360").lights.len(), 1);
}

#[test]
fn a_headlight_lights_scenes_without_lights() {
    let options = OpenOptions { headlight: true, ..OpenOptions::default() };
    let lights = |text: &str| lenient(text, &options).map(|(o, _)| o.scene.lights.len()).unwrap_or(99);
    assert_eq!(lights(&format!("WorldBegin {TRIANGLE} WorldEnd")), 1);
    assert_eq!(lights(&format!("WorldBegin LightSource \"pointlight\" 1 {TRIANGLE} WorldEnd")), 1);
}

#[test]
fn single_values_may_stand_in_brackets() {
    let s = scene(&format!(
        "ShadingRate [2] WorldBegin LightSource \"pointlight\" [1] Illuminate [1] [0] Sides [1] Surface [\"matte\"] {TRIANGLE} WorldEnd"
    ));
    assert_eq!((s.objects[0].sides, s.objects[0].lights.len()), (1, 0));
}

#[test]
fn words_after_the_last_request_are_reported() {
    assert!(warnings(&format!("WorldBegin {TRIANGLE} WorldEnd junk 1 2")).contains("the request `junk`"));
}

#[test]
fn the_teapot_is_built_in() {
    let s = scene(
        "WorldBegin Color [1 0 0] Geometry \"teapot\" Translate 9 0 0 Geometry \"teapot\" Geometry \"sphere\" WorldEnd",
    );
    assert_eq!(s.objects.len(), 2 * 32 + 1);
    let (low, high) =
        s.objects[..32].iter().filter_map(|o| o.bounds()).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap();
    assert!(low.x > -3.1 && high.x < 3.6 && low.z > -0.01 && (high.z - 3.15).abs() < 0.01, "{low} {high}");
    assert!(s.objects.iter().all(|o| o.color.x == 1.0), "attributes are those of the place");
}

#[test]
fn a_repeated_error_is_counted() {
    let many: String = (0..30_000).map(|_| "Illuminate 9 1\n").collect();
    let (opened, text) = shown(&format!("WorldBegin {many} {TRIANGLE} WorldEnd"));
    assert_eq!(opened.diagnostics.error_count(), 30_000);
    assert!(text.contains("29995 more like this") && text.len() < 5_000, "{}", text.len());
}

#[test]
fn what_shows_nothing_is_refused() {
    assert!(lenient("WorldBegin Polygon \"P\" [0 0] WorldEnd", &OpenOptions::default()).is_err());
    assert!(errors("once upon a time").contains("holds no RIB request"));
}

#[test]
fn faces_that_fit_are_kept() {
    let points = "\"P\" [0 0 0 1 0 0 1 1 0 0 1 0]";
    for (faces, triangles) in [
        ("PointsPolygons [3 2 3] [0 1 2 0 1 0 2 3]", 2),
        ("PointsPolygons [4 4] [0 1 2 3 0 1]", 2),
        ("PointsPolygons [3] [0 1 2 0 2 3]", 1),
        ("PointsPolygons [3 3] [0 1 9 0 2 3]", 1),
    ] {
        let (opened, text) = shown(&format!("WorldBegin {faces} {points} WorldEnd"));
        assert_eq!(
            (opened.scene.triangle_count(), opened.diagnostics.error_count()),
            (triangles, 1),
            "{faces}: {text}"
        );
    }
}

#[test]
fn motion_blocks_of_other_lengths_have_what_both_have() {
    for block in [
        "MotionBegin [0 0.5 1] Translate 5 0 0 Translate 6 0 0 MotionEnd",
        "MotionBegin [0 1] Translate 5 0 0 Rotate 9 0 0 1 MotionEnd",
    ] {
        let (opened, text) = shown(&format!("WorldBegin {block} {TRIANGLE} WorldEnd"));
        assert_eq!(opened.diagnostics.error_count(), 1, "{text}");
        assert!(opened.scene.bounds().is_some_and(|(low, _)| low.x >= 5.0), "{text}");
    }
}

#[test]
fn paths_of_compiled_shaders_name_their_shaders() {
    for name in ["matte.sl", "matte.slo", "shaders/matte.sdl", r"C:\\lib\\matte.slx", "../x/matte"] {
        let s = scene(&format!("WorldBegin Surface \"{name}\" {TRIANGLE} WorldEnd"));
        assert_eq!(s.shader_instances[0].shader.name(), "matte", "{name}");
    }
}

#[test]
fn meshes_and_procedurals_of_newer_versions_are_those_of_older_ones() {
    let cube = "[4 4 4 4 4 4] [0 1 3 2 2 3 5 4 4 5 7 6 6 7 1 0 1 7 5 3 6 0 2 4] [\"interpolateboundary\" \"crease\"] [1 0 0 2 1 0] [1 0 1] [3] [] \
        \"P\" [-1 -1 1 1 -1 1 -1 1 1 1 1 1 -1 1 -1 1 1 -1 -1 -1 -1 1 -1 -1]";
    let old = scene(&format!("WorldBegin SubdivisionMesh \"catmull-clark\" {cube} WorldEnd"));
    let new = scene(&format!("WorldBegin HierarchicalSubdivisionMesh \"catmull-clark\" {cube} WorldEnd"));
    assert_eq!(old.triangle_count(), new.triangle_count());
    let inline = "ArchiveBegin \"a\" Sphere 1 -1 1 360 ArchiveEnd";
    let s = scene(&format!(
        "WorldBegin {inline} Procedural2 \"DelayedReadArchive2\" \"SimpleBound\" \"float[6] __bound\" [-1 1 -1 1 -1 1] \"string filename\" [\"a\"] WorldEnd"
    ));
    assert_eq!(s.objects.len(), 1);
    assert!(
        errors(&format!("WorldBegin Procedural2 \"DynamicLoad2\" \"BoundNone\" {TRIANGLE} WorldEnd"))
            .contains("`DynamicLoad2` is left out")
    );
    let blobby = "Blobby 1 [1001 0] [1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1]";
    let (_, s) = warnings_and_scene(&format!("WorldBegin {blobby} WorldEnd"));
    assert_eq!(s.objects.len(), 1, "its strings may be missing");
}
