//! Polygons and quadrics: primitive variables of every class, orientation, shading normals.

use super::{errors, scene, warnings, world};
use glam::{Vec2, Vec3};
use shadewright_geometry::Mesh;
use shadewright_geometry::primvar::{PrimvarPlace, PrimvarType};

/// The mesh of requests inside a world.
fn mesh(requests: &str) -> Mesh {
    scene(&format!("WorldBegin {requests} WorldEnd")).objects.remove(0).mesh.as_ref().clone()
}

/// Two squares side by side over six points, in z = 0; `dPdu × dPdv` is +z.
fn squares(variables: &str) -> Mesh {
    mesh(&format!("PointsPolygons [4 4] [0 1 4 3 1 2 5 4] \"P\" [0 0 0 1 0 0 2 0 0 0 1 0 1 1 0 2 1 0] {variables}"))
}

#[test]
fn constant_values_belong_to_the_object() {
    let s = scene(
        "WorldBegin PointsPolygons [3 3] [0 1 2 0 2 3] \"P\" [0 0 0 1 0 0 1 1 0 0 1 0]\n\
         \"constant color Cs\" [1 0 0] \"constant color Os\" [0 1 0] WorldEnd",
    );
    let o = &s.objects[0];
    assert_eq!((o.color, o.opacity), (Vec3::X, Vec3::Y));
    assert!(o.mesh.vertex_colors.is_empty() && o.mesh.triangle_colors.is_empty());
}

#[test]
fn uniform_colors_belong_to_the_triangles_of_a_face() {
    let m = squares("\"uniform color Cs\" [1 0 0 0 1 0] \"uniform color Os\" [0 0 1 1 1 1]");
    assert_eq!(m.triangle_colors, [Vec3::X, Vec3::X, Vec3::Y, Vec3::Y]);
    assert_eq!(m.triangle_opacities, [Vec3::Z, Vec3::Z, Vec3::ONE, Vec3::ONE]);
    assert_eq!(m.positions.len(), 6);
}

#[test]
fn varying_and_vertex_colors_belong_to_the_points() {
    for class in ["varying", "vertex"] {
        let m = squares(&format!("\"{class} color Cs\" [1 0 0 0 1 0 0 0 1 1 1 0 0 1 1 1 0 1]"));
        assert_eq!(m.vertex_colors[1], Vec3::Y);
        assert_eq!(m.positions.len(), 6);
    }
}

#[test]
fn facevarying_colors_differ_between_the_faces_at_a_point() {
    let m = squares("\"facevarying color Cs\" [1 0 0 1 0 0 1 0 0 1 0 0 0 1 0 0 1 0 0 1 0 0 1 0]");
    assert_eq!(m.positions.len(), 8);
    let first: Vec<Vec3> = m.triangles[0].iter().map(|&i| m.vertex_colors[i as usize]).collect();
    let last: Vec<Vec3> = m.triangles[3].iter().map(|&i| m.vertex_colors[i as usize]).collect();
    assert_eq!((first, last), (vec![Vec3::X; 3], vec![Vec3::Y; 3]));
}

#[test]
fn texture_coordinates_come_as_st_as_s_and_t_or_from_u_and_v() {
    let at = |m: &Mesh, p: Vec3| m.st_at(m.positions.iter().position(|q| *q == p).unwrap() as u32);
    let corner = Vec3::new(2.0, 1.0, 0.0);
    assert_eq!(at(&squares(""), corner), Vec2::new(2.0, 1.0));
    let st = squares("\"varying float[2] st\" [0 0 0 0 0 0 0 0 0 0 5 6]");
    assert_eq!(at(&st, corner), Vec2::new(5.0, 6.0));
    let s_and_t = squares("\"s\" [0 0 0 0 0 3] \"facevarying float t\" [0 0 0 0 0 0 4 0]");
    assert_eq!(at(&s_and_t, corner), Vec2::new(3.0, 4.0));
    assert_eq!(at(&squares("\"s\" [0 0 0 0 0 3]"), corner), Vec2::new(3.0, 1.0));
    assert_eq!(at(&squares("\"constant float t\" [7]"), corner), Vec2::new(2.0, 7.0));
}

#[test]
fn normals_of_every_class_are_used() {
    let n = |m: Mesh, t: usize| m.normals[m.triangles[t][0] as usize];
    assert_eq!(n(squares("\"constant normal N\" [0 2 0]"), 0), Vec3::Y);
    let uniform = squares("\"uniform normal N\" [1 0 0 0 1 0]");
    assert_eq!((n(uniform.clone(), 0), n(uniform, 2)), (Vec3::X, Vec3::Y));
    assert_eq!(n(squares("\"N\" [1 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0]"), 3), Vec3::X);
    let corners = "0 1 0 ".repeat(4) + &"1 0 0 ".repeat(4);
    assert_eq!(n(squares(&format!("\"facevarying normal N\" [{corners}]")), 3), Vec3::X);
}

#[test]
fn given_normals_follow_the_inverse_transpose() {
    let m = mesh("Scale 2 1 1 Polygon \"P\" [0 0 0 1 0 0 0 1 0] \"N\" [1 1 0 1 1 0 1 1 0]");
    assert!(m.normals[0].distance(Vec3::new(0.5, 1.0, 0.0).normalize()) < 1e-6);
}

#[test]
fn a_lone_polygon_is_flat_and_a_mesh_smooth_up_to_its_crease_angle() {
    let roof = "PointsPolygons [4 4] [0 1 4 3 1 2 5 4] \"P\" [-1 0 0 0 0.3 0 1 0 0 -1 0 1 0 0.3 1 1 0 1]";
    assert_eq!(mesh(roof).positions.len(), 6);
    assert_eq!(mesh(&format!("Attribute \"shade\" \"creaseangle\" [20] {roof}")).positions.len(), 8);
    let bent = mesh("Polygon \"P\" [0 0 0 1 0 0 1 1 0.2 0 1 0]");
    assert!(bent.normals.iter().all(|n| *n == bent.normals[0]));
}

#[test]
fn concave_polygons_are_covered_once() {
    let m = mesh("Polygon \"P\" [0 0 0 4 0 0 4 3 0 2 1 0 0 3 0]");
    assert!((m.area() - 8.0).abs() < 1e-6);
    assert!((0..3).all(|t| m.scaled_normal(t).z > 0.0));
}

/// The geometric normal of a polygon and of a disk, both +z in object space, under some requests.
fn geometric_normals(requests: &str) -> [Vec3; 2] {
    let s = scene(&format!("WorldBegin {requests} Polygon \"P\" [0 0 0 1 0 0 1 1 0 0 1 0] Disk 0 1 360 WorldEnd"));
    [0, 1].map(|i| {
        let m = &s.objects[i].mesh;
        let n = m.scaled_normal(0).normalize();
        assert!(m.normals.iter().all(|shading| shading.distance(n) < 1e-5), "{requests}");
        n
    })
}

#[test]
fn orientation_turns_the_geometric_normal_and_a_mirroring_transform_does_not() {
    // Object space is left-handed here, as camera space is; a mirroring Scale makes it
    // right-handed.
    let cases = [
        ("", Vec3::Z),
        ("Orientation \"outside\"", Vec3::Z),
        ("Orientation \"inside\"", -Vec3::Z),
        ("ReverseOrientation", -Vec3::Z),
        ("Orientation \"lh\"", Vec3::Z),
        ("Orientation \"rh\"", -Vec3::Z),
        ("Scale -1 1 1", Vec3::Z),
        ("Scale 1 1 -1", -Vec3::Z),
        ("Orientation \"inside\" Scale -1 1 1", -Vec3::Z),
        ("Scale -1 1 1 Orientation \"rh\"", Vec3::Z),
        ("Scale -1 1 1 Orientation \"lh\"", -Vec3::Z),
    ];
    for (requests, expected) in cases {
        for n in geometric_normals(requests) {
            assert!(n.distance(expected) < 1e-5, "{requests}: {n}");
        }
    }
}

#[test]
fn handedness_is_counted_from_the_camera() {
    let text = "Scale 1 1 -1 WorldBegin Orientation \"lh\" Polygon \"P\" [0 0 0 1 0 0 0 1 0] WorldEnd";
    assert_eq!(scene(text).objects[0].mesh.scaled_normal(0), -Vec3::Z);
}

#[test]
fn quadrics_are_placed_and_face_outwards() {
    let requests =
        ["Sphere 1 -1 1 360", "Sphere 1 -0.5 0.5 360", "Sphere [1 -1 1 360]", "Cylinder 1 0 2 360", "Cone 2 1 360"];
    for request in requests {
        let m = mesh(&format!("Translate 0 0 10 {request}"));
        for t in 0..m.triangles.len() {
            let [a, b, c] = m.corners(t).map(|p| p - Vec3::new(0.0, 0.0, 10.0));
            let middle = (a + b + c) / 3.0;
            assert!(m.scaled_normal(t).dot(Vec3::new(middle.x, middle.y, 0.0)) > -1e-6, "{request}");
        }
    }
    let disk = mesh("Disk 0.5 1 360");
    assert!(disk.positions.iter().all(|p| p.z == 0.5));
}

#[test]
fn quadric_variables_are_interpolated_over_u_and_v() {
    let m = mesh("Cylinder 1 0 1 360 \"varying color Cs\" [0 0 0 1 0 0 0 1 0 1 1 0] \"s\" [0 2 0 2]");
    for (i, uv) in m.uv.iter().enumerate() {
        assert!(m.vertex_colors[i].distance(Vec3::new(uv.x, uv.y, 0.0)) < 1e-6);
        assert!(m.st_at(i as u32).distance(Vec2::new(2.0 * uv.x, uv.y)) < 1e-6);
    }
    assert!(mesh("Disk 0 1 360 \"uniform color Cs\" [1 0 0]").vertex_colors.is_empty());
}

#[test]
fn quadrics_are_finer_where_they_are_larger_on_the_image() {
    let triangles = |z: i32| {
        let text = format!("Projection \"perspective\" Translate 0 0 {z} WorldBegin Sphere 1 -1 1 360 WorldEnd");
        scene(&text).triangle_count()
    };
    assert!(triangles(3) > 4 * triangles(60));
    assert!(triangles(0) < 200_000);
}

#[test]
fn zero_area_triangles_are_skipped_with_one_warning_that_counts_them() {
    let text = "WorldBegin PointsPolygons [3 3] [0 1 2 0 1 1] \"P\" [0 0 0 1 0 0 0 1 0]\n\
                Polygon \"P\" [0 0 0 1 1 1 2 2 2] Scale 0 1 1 Polygon \"P\" [0 0 0 1 0 0 0 1 0] WorldEnd";
    let (opened, _) = super::read(text);
    assert_eq!(opened.unwrap().scene.triangle_count(), 1);
    let shown = warnings(text);
    assert_eq!(shown.matches("warning").count(), 1, "{shown}");
    assert!(shown.starts_with("warning: 3 zero-area triangles skipped\n"), "{shown}");
    assert!(shown.contains("scene.rib:1:12"), "{shown}");
}

#[test]
fn class_sizes_are_checked_with_expected_and_found_counts() {
    let text = |variable: &str| {
        errors(&format!(
            "WorldBegin PointsPolygons [4 3] [0 1 2 3 0 2 4] \"P\" [0 0 0 1 0 0 1 1 0 0 1 0 5 5 5] {variable} WorldEnd"
        ))
    };
    let cases = [
        ("\"constant color Cs\" [1 0]", "`Cs` is `constant color` and needs 3 numbers here, but has 2"),
        ("\"uniform color Cs\" [1 0 0]", "`Cs` is `uniform color` and needs 6 (2 × 3) numbers here, but has 3"),
        ("\"varying float s\" [1 2 3]", "`s` is `varying float` and needs 5 numbers here, but has 3"),
        ("\"vertex float t\" [1]", "`t` is `vertex float` and needs 5 numbers here, but has 1"),
        (
            "\"facevarying float[2] st\" [1 2]",
            "`st` is `facevarying float[2]` and needs 14 (7 × 2) numbers here, but has 2",
        ),
        ("\"N\" [0 0 1]", "`N` is `varying normal` and needs 15 (5 × 3) numbers here, but has 3"),
    ];
    for (variable, expected) in cases {
        let shown = text(variable);
        assert!(shown.contains(expected), "{variable}: {shown}");
    }
    let quadric = errors("WorldBegin Sphere 1 -1 1 360 \"varying color Cs\" [1 0 0] WorldEnd");
    assert!(quadric.contains("needs 12 (4 × 3) numbers here, but has 3"), "{quadric}");
}

#[test]
fn impossible_polygons_are_errors() {
    let shown = |request: &str| errors(&format!("WorldBegin {request} WorldEnd"));
    let cases = [
        ("Polygon \"P\" [0 0 0 1 1 1]", "Polygon: a polygon needs at least 3 vertices, this has 2"),
        ("Polygon \"P\" [0 0 0 1 1 1 2 2 0 5]", "Polygon: `P` has 10 numbers, which is no multiple of 3"),
        ("Polygon \"Cs\" [1 0 0]", "Polygon: no positions"),
        ("Polygon \"uniform point P\" [1 0 0]", "`P` must be `vertex point`, not `uniform point`"),
        ("Polygon \"vertex float P\" [1 0 0]", "`P` must be a point, not `vertex float`"),
        ("PointsPolygons [2] [0 1] \"P\" [0 0 0 1 0 0 1 1 0]", "PointsPolygons: face 0 has 2 vertices"),
        ("PointsPolygons [3] [0 1] \"P\" [0 0 0 1 0 0 1 1 0]", "the faces have 3 vertices, but there are 2 indices"),
        ("PointsPolygons [3] [0 1 3] \"P\" [0 0 0 1 0 0 1 1 0]", "index 3 is out of range: there are 3 points"),
        ("PointsPolygons [3] [0 1 -1] \"P\" [0 0 0 1 0 0 1 1 0]", "index -1 is out of range"),
        ("Sphere 0 0 0 360", "Sphere: the radius must not be 0"),
        ("Scale 1e30 1 1 Scale 1e30 1 1 Sphere 1 -1 1 360", "has no finite place in the world"),
    ];
    for (request, expected) in cases {
        let shown = shown(request);
        assert!(shown.contains(expected), "{request}: {shown}");
    }
}

#[test]
fn variables_of_every_class_go_along_for_the_shader() {
    let m = squares(
        "\"constant string label\" [\"left\"] \"uniform float[2] range\" [0 1 2 3] \"vertex point rest\" [0 0 0 1 0 0 2 0 0 0 1 0 1 1 0 2 1 0] \
         \"facevarying integer side\" [0 0 0 0 1 1 1 1]",
    );
    let shown: Vec<_> = m.primvars.iter().map(|p| (&*p.kind.name, p.kind.ty, p.kind.array, p.place)).collect();
    assert_eq!(
        shown,
        [
            ("label", PrimvarType::String, None, PrimvarPlace::Constant),
            ("range", PrimvarType::Float, Some(2), PrimvarPlace::Triangles),
            ("rest", PrimvarType::Point, None, PrimvarPlace::Vertices),
            ("side", PrimvarType::Float, None, PrimvarPlace::Vertices),
        ]
    );
    assert_eq!((&*m.primvars[0].strings(0)[0], m.primvars[1].numbers(3)), ("left", [2.0, 3.0].as_slice()));
    for (i, p) in m.positions.iter().enumerate() {
        assert_eq!(m.primvars[2].numbers(i), p.to_array());
    }
    // The points between the faces have a value for each.
    assert_eq!(m.positions.len(), 8);
}

#[test]
fn texts_that_would_have_to_be_interpolated_are_errors() {
    let shown =
        errors("WorldBegin Polygon \"P\" [0 0 0 1 0 0 0 1 0] \"varying string label\" [\"a\" \"b\" \"c\"] WorldEnd");
    assert!(shown.contains("`label` is `varying string`: a string cannot vary over a face"), "{shown}");
}

#[test]
fn positions_may_be_homogeneous_and_parameters_given() {
    let m = mesh("Polygon \"Pw\" [0 0 0 2 2 0 0 2 0 3 0 3] \"u\" [5 6 7] \"varying float v\" [1 2 3]");
    assert_eq!(m.positions, [Vec3::ZERO, Vec3::X, Vec3::Y]);
    assert_eq!((m.uv_at(1), m.st_at(2)), (Vec2::new(6.0, 2.0), Vec2::new(7.0, 3.0)));
    assert!(errors("WorldBegin Polygon \"Pw\" [0 0 0 0 2 0 0 2 0 3 0 3] WorldEnd").contains("point 0 is not finite"));
}

#[test]
fn objects_are_named_after_their_request() {
    assert_eq!(&*world("Sphere 1 -1 1 360").objects[0].name, "Sphere");
}
