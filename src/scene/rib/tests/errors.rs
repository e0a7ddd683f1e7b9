//! Messages as they are shown.

use super::{errors, errors_after, scene, warnings};

/// The first line of each error.
fn heads(text: &str) -> Vec<String> {
    errors(text).lines().filter_map(|l| l.strip_prefix("error: ")).map(str::to_string).collect()
}

#[test]
fn an_error_shows_where_it_is_what_is_wrong_and_how_to_mend_it() {
    let shown = errors("WorldBegin\n  Translate 1 2 \"three\"\nWorldEnd\n");
    let expected = "\
error: Translate: expected three distances, found the string \"three\"
  --> scene.rib:2:17
  |
2 |   Translate 1 2 \"three\"
  |   ---------     ^^^^^^^ expected three distances
  |   |
  |   in this request
  |
  = hint: usage: Translate x y z
";
    let trim = |s: &str| s.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n");
    assert_eq!(trim(&shown), trim(expected), "{shown}");
}

#[test]
fn all_errors_of_a_file_are_reported_in_one_run() {
    let found = heads(
        "Format 0 480 1\nProjection \"fisheye\"\nWorldBegin\nSides 3\nOrientation \"up\"\nRotate 10 0 0 0\n\
         Sphere 1 2\nDeclare \"x\" \"uniform quaternion\"\nIlluminate 7 1\nPixelSamples 300 1\nColor [1 2]\nWorldEnd",
    );
    let expected = [
        "Format: an image of 0 × 480 pixels with aspect 1 is not possible",
        "Projection: there is no projection `fisheye`",
        "Sides: a surface has 1 or 2 sides, not 3",
        "Orientation: there is no orientation `up`",
        "Rotate: the axis has no length",
        "Sphere: expected radius, zmin, zmax and thetamax, found `Declare`",
        "Declare: `uniform quaternion` is not a declaration",
        "Illuminate: no light has the handle 7",
        "PixelSamples: samples must be at most 256 in each direction, and not negative",
        "Color: expected a color of three numbers, found 2 numbers",
    ];
    assert_eq!(found, expected);
}

#[test]
fn primitives_too_far_away_for_rays_are_told() {
    let shown = warnings("WorldBegin Sphere 1e30 -1e30 1e30 360 Scale 1e9 1e9 1e9\nSphere 1e9 -1e9 1e9 360 WorldEnd");
    assert!(shown.contains("is so far away that rays may miss it"), "{shown}");
    assert!(shown.contains("scene.rib:1:12") && shown.contains("beyond 1e12"), "{shown}");
    assert_eq!(warnings("WorldBegin Sphere 1e11 -1e11 1e11 360 WorldEnd"), "");
}

#[test]
fn an_unclosed_block_says_where_it_was_opened() {
    let shown = errors("WorldBegin\nAttributeBegin\nSphere 1 -1 1 360\n");
    assert!(shown.contains("error: `AttributeBegin` is never closed"), "{shown}");
    assert!(shown.contains("scene.rib:2:1"), "{shown}");
    assert!(shown.contains("hint: add the missing `AttributeEnd`"), "{shown}");
    assert!(shown.contains("error: `WorldBegin` is never closed"), "{shown}");
}

#[test]
fn an_end_of_the_wrong_kind_names_both_blocks() {
    let shown = errors("WorldBegin AttributeBegin TransformEnd Sphere 1 -1 1 360 AttributeEnd WorldEnd");
    assert!(shown.starts_with("error: `TransformEnd` cannot close `AttributeBegin`"), "{shown}");
    assert!(shown.contains("expected `AttributeEnd`"), "{shown}");
    assert_eq!(heads("WorldBegin TransformBegin WorldEnd"), ["`WorldEnd` cannot close `TransformBegin`"]);
    assert_eq!(heads("WorldBegin WorldEnd AttributeEnd"), ["`AttributeEnd` without `AttributeBegin`"]);
}

#[test]
fn a_deep_nest_is_refused_with_one_error_and_one_of_the_limit_is_read() {
    let nest = |n: usize| {
        format!("WorldBegin {} Sphere 1 -1 1 360 {} WorldEnd", "AttributeBegin ".repeat(n), "AttributeEnd ".repeat(n))
    };
    assert_eq!(heads(&nest(100_000)), ["AttributeBegin: blocks are nested more than 1000 deep"]);
    assert_eq!(scene(&nest(999)).objects.len(), 1);
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    let polygon = |x: &str| heads(&format!("WorldBegin Polygon \"P\" [0 0 0 {x} 0 0 0 1 0] WorldEnd"));
    assert_eq!(polygon("nan"), ["Polygon: `nan` is not a finite number"]);
    assert_eq!(polygon("-inf"), ["Polygon: `-inf` is not a finite number"]);
    assert_eq!(polygon("1e999"), ["Polygon: the number `1e999` is too large"]);
    assert_eq!(polygon("1..2"), ["Polygon: `1..2` is not a number"]);
    assert_eq!(heads("WorldBegin Translate nan 0 0 WorldEnd"), ["Translate: `nan` is not a finite number"]);
    assert_eq!(heads("Format 1e30 1 1 WorldBegin WorldEnd").len(), 1);
}

#[test]
fn sizes_that_cannot_be_rendered_name_the_limit() {
    for size in ["0 0", "100000 100000", "640 0"] {
        let shown = errors(&format!("Format {size} 1 WorldBegin WorldEnd"));
        assert!(shown.contains("hint: each side must be 1 to 16384 pixels"), "{shown}");
    }
}

#[test]
fn integers_must_be_whole_and_in_range() {
    let indices =
        |i: &str| heads(&format!("WorldBegin PointsPolygons [3] [0 1 {i}] \"P\" [0 0 0 1 0 0 0 1 0] WorldEnd"));
    assert_eq!(indices("1.5"), ["PointsPolygons: 1.5 is not an integer"]);
    assert_eq!(indices("99999999999"), ["PointsPolygons: 99999999999 is too large for an integer"]);
}

#[test]
fn undeclared_parameters_say_how_to_declare_them() {
    let shown = errors("WorldBegin Sphere 1 -1 1 360 \"frequency\" [3] \"__mine\" [3] WorldEnd");
    assert!(shown.starts_with("error: the parameter `frequency` is not declared"), "{shown}");
    assert!(shown.contains("\"uniform float frequency\""), "{shown}");
    let shown = errors("WorldBegin Surface \"mine\" \"unifrom float frequency\" [3] WorldEnd");
    assert!(shown.starts_with("error: `unifrom float frequency` is not a declaration and a name"), "{shown}");
}

#[test]
fn parameters_of_the_wrong_kind_or_number_are_errors() {
    let surface = |p: &str| heads(&format!("WorldBegin Surface \"mine\" {p} Sphere 1 -1 1 360 WorldEnd"));
    assert_eq!(surface("\"Kd\" [\"half\"]"), ["Surface: expected a number, found the string \"half\""]);
    assert_eq!(surface("\"texturename\" [3]"), ["Surface: expected a string, found the number 3"]);
    assert_eq!(surface("\"Kd\" [1 2]"), ["`Kd` is `uniform float` and needs 1 number here, but has 2"]);
    assert_eq!(
        surface("\"specularcolor\" [1]"),
        ["`specularcolor` is `uniform color` and needs 3 numbers here, but has 1"]
    );
    assert_eq!(surface("\"Kd\" [1 Identity"), ["Surface: expected a number or `]`, found `Identity`"]);
    assert_eq!(surface("\"Kd\" ]"), ["Surface: expected a number, found `]`"]);
}

#[test]
fn arguments_too_many_are_told() {
    assert_eq!(heads("WorldBegin Sides 1 2 WorldEnd"), ["expected a request after `Sides`, found the number 2"]);
}

#[test]
fn geometry_outside_the_world_and_a_missing_world_are_told() {
    assert_eq!(heads("Sphere 1 -1 1 360 WorldBegin WorldEnd"), ["geometry before `WorldBegin` is not shown"]);
    assert_eq!(heads("Format 64 64 1"), ["the scene has no `WorldBegin`"]);
    assert_eq!(heads("once upon a time"), ["`scene.rib` holds no RIB request"]);
    assert_eq!(heads("WorldBegin WorldBegin WorldEnd"), ["WorldBegin: worlds cannot be nested"]);
}

#[test]
fn binary_noise_is_no_scene() {
    let noise: Vec<u8> = (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let input = super::Input { name: "noise.rib", path: None, bytes: noise };
    let mut sources = shadewright_base::text::source::SourceMap::new();
    let shown = super::super::read(input, &Default::default(), &mut sources).unwrap_err().render(&sources);
    assert!(shown.starts_with("error: `noise.rib` is neither text RIB nor binary RIB: "), "{shown}");
}

#[test]
fn a_camera_that_cannot_be_inverted_is_an_error() {
    assert_eq!(heads("Scale 0 1 1 WorldBegin WorldEnd"), ["WorldBegin: the camera's transform cannot be inverted"]);
}

#[test]
fn reading_stops_after_many_errors() {
    let found =
        heads(&format!("WorldBegin {} WorldEnd", (0..50).map(|i| format!("Sides {}\n", i + 3)).collect::<String>()));
    assert_eq!(found.len(), 21);
    assert_eq!(found[20], "20 errors: the rest of the scene is not read");
}

#[test]
fn text_in_other_encodings_and_old_line_ends_is_read() {
    let text = b"# caf\xe9\r\nWorldBegin\r\nSphere 1 -1 1 360\r\nWorldEnd\r\n".to_vec();
    let mut sources = shadewright_base::text::source::SourceMap::new();
    let input = super::Input { name: "latin.rib", path: None, bytes: text };
    assert!(super::super::read(input, &Default::default(), &mut sources).is_ok());
}

#[test]
fn text_that_is_mostly_not_ascii_is_still_text() {
    assert_eq!(scene(&format!("# {}\nWorldBegin Sphere 1 -1 1 360 WorldEnd", "シーン".repeat(600))).objects.len(), 1);
}

#[test]
fn too_many_lights_are_refused() {
    let lights: String = (0..5000).map(|i| format!("LightSource \"pointlight\" {i}\n")).collect();
    assert_eq!(heads(&format!("WorldBegin {lights} WorldEnd")), ["LightSource: more than 4096 lights in one scene"]);
}

#[test]
fn many_unknown_requests_are_summed_up() {
    let unknown: String = (0..30).map(|i| format!("Frobnicate{i} 1\n")).collect();
    let shown = warnings(&format!("{unknown} WorldBegin Sphere 1 -1 1 360 WorldEnd"));
    assert!(shown.contains("10 more kinds of unknown requests skipped"), "{shown}");
}

#[test]
fn a_request_has_at_most_65536_parameters() {
    let shown = errors(&format!("WorldBegin Surface \"plastic\" {}WorldEnd", "\"Kd\" 1 ".repeat(65_537)));
    assert!(shown.contains("Surface: more than 65536 parameters"), "{shown}");
}

#[test]
fn the_meshes_of_a_scene_have_at_most_2_to_the_26_triangles() {
    let triangle = "WorldBegin Polygon \"P\" [0 0 0 1 0 0 0 1 0] WorldEnd";
    let shown = errors_after(|r| r.triangles = 1 << 26, triangle);
    assert!(shown.contains("the scene has more than 67108864 triangles"), "{shown}");
}
