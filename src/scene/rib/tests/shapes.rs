//! Patches, NURBS, curves, points, subdivision meshes, implicit surfaces and polygons with holes,
//! as users write them.

use super::{errors, scene, warnings};
use glam::{Vec2, Vec3};
use shadewright_geometry::Mesh;
use shadewright_geometry::primvar::PrimvarPlace;
use std::f64::consts::PI;

/// The one mesh of an image of 480 lines, seen from five units away.
fn mesh(requests: &str) -> Mesh {
    let text = format!("Projection \"perspective\" \"fov\" [40] Translate 0 0 5 WorldBegin {requests} WorldEnd");
    let mut objects = scene(&text).objects;
    assert_eq!(objects.len(), 1, "{requests}");
    objects.remove(0).mesh.as_ref().clone()
}

fn volume(m: &Mesh) -> f64 {
    let six = |t: usize| {
        let [a, b, c] = m.corners(t).map(|p| p.as_dvec3());
        a.dot(b.cross(c))
    };
    (0..m.triangles.len()).map(six).sum::<f64>() / 6.0
}

fn near(found: f64, exact: f64, relative: f64) {
    assert!((found / exact - 1.0).abs() < relative, "{found} against {exact}");
}

/// `u, v`, and `s, t` at a point.
fn at(m: &Mesh, p: Vec3) -> (Vec2, Vec2) {
    let i = m.positions.iter().position(|q| q.distance(p) < 1e-5).expect("a vertex there") as u32;
    (m.uv_at(i), m.st_at(i))
}

#[test]
fn patches_are_bilinear_bicubic_and_heights() {
    let flat = mesh("Patch \"bilinear\" \"P\" [0 0 0 2 0 0 0 1 0 2 1 0]");
    near(flat.area(), 2.0, 1e-6);
    assert_eq!(at(&flat, Vec3::new(2.0, 0.0, 0.0)).0, Vec2::X);
    assert!(flat.normals.iter().all(|n| *n == Vec3::Z));
    let heights = mesh("Patch \"bicubic\" \"Pz\" [0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]");
    near(heights.area(), 1.0, 1e-6);
    // A quarter of a cylinder: a Bézier arc is off by 0.03 % at most.
    let k = 0.552_284_7;
    let rows: String = [0.0, 1.0, 2.0, 3.0].iter().map(|y| format!("1 {y} 0 1 {y} {k} {k} {y} 1 0 {y} 1 ")).collect();
    near(mesh(&format!("Patch \"bicubic\" \"P\" [{rows}]")).area(), 1.5 * PI, 1e-3);
}

#[test]
fn meshes_of_patches_wrap_and_have_values_of_every_class() {
    let corner = |i: i32| {
        let (sin, cos) = (f64::from(i) * PI / 3.0).sin_cos();
        format!("{cos} {sin} ")
    };
    let ring = |z: i32| (0..6).map(|i| format!("{}{z} ", corner(i))).collect::<String>();
    let text = format!(
        "PatchMesh \"bilinear\" 6 \"periodic\" 2 \"nonperiodic\" \"P\" [{} {}] \"uniform float side\" [0 1 2 3 4 5] \
         \"varying float height\" [0 0 0 0 0 0 1 1 1 1 1 1]",
        ring(0),
        ring(1)
    );
    let m = mesh(&text);
    near(m.area(), 6.0, 1e-5);
    let side = m.primvars.iter().find(|p| &*p.kind.name == "side").unwrap();
    let height = m.primvars.iter().find(|p| &*p.kind.name == "height").unwrap();
    assert_eq!((side.place, height.place), (PrimvarPlace::Triangles, PrimvarPlace::Vertices));
    for (i, p) in m.positions.iter().enumerate() {
        assert!((height.numbers(i)[0] - p.z).abs() < 1e-6);
    }
    for t in 0..m.triangles.len() {
        let middle = m.corners(t).iter().sum::<Vec3>() / 3.0;
        let turn = middle.y.atan2(middle.x).rem_euclid(2.0 * PI as f32) / (PI as f32 / 3.0);
        assert_eq!(side.numbers(t), [turn.floor()]);
    }
    let spline = "Basis \"b-spline\" 1 \"b-spline\" 1 ";
    let flat: String = (0..16).map(|i| format!("{} {} 0 ", i % 4, i / 4)).collect();
    near(
        mesh(&format!("{spline} PatchMesh \"bicubic\" 4 \"nonperiodic\" 4 \"nonperiodic\" \"P\" [{flat}]")).area(),
        1.0,
        1e-5,
    );
}

const CIRCLE: &str = "[0 0 0 1 1 2 2 3 3 4 4 4] 0 4";

/// A cylinder of radius 1 and height 2 as a NURBS.
fn cylinder(variables: &str) -> String {
    let h = std::f64::consts::FRAC_1_SQRT_2;
    let corners = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0)];
    let row = |z: f64| -> String {
        let weight = |i: usize| if i % 2 == 1 { h } else { 1.0 };
        let point = |(i, (x, y)): (usize, &(i32, i32))| {
            let w = weight(i);
            format!("{} {} {} {w} ", f64::from(*x) * w, f64::from(*y) * w, z * w)
        };
        corners.iter().enumerate().map(point).collect()
    };
    format!("NuPatch 9 3 {CIRCLE} 2 2 [0 0 1 1] 0 1 \"Pw\" [{} {}] {variables}", row(0.0), row(2.0))
}

#[test]
fn a_nurbs_cylinder_is_round_and_its_parameters_are_its_knots() {
    let m = mesh(&cylinder(""));
    near(m.area(), 4.0 * PI, 1e-3);
    for (p, n) in m.positions.iter().zip(&m.normals) {
        assert!((p.truncate().length() - 1.0).abs() < 1e-6 && n.distance(p.truncate().extend(0.0)) < 1e-4);
    }
    assert_eq!(at(&m, Vec3::new(-1.0, 0.0, 2.0)), (Vec2::new(2.0, 1.0), Vec2::new(2.0, 1.0)));
}

#[test]
fn trims_keep_the_inside_or_the_outside() {
    // A square of the parameters: a quarter of the way around, and half of the height.
    let trim = "TrimCurve [1] [2] [0 0 1 2 3 4 4] [0] [4] [5] [1 2 2 1 1] [0.25 0.25 0.75 0.75 0.25] [1 1 1 1 1]";
    near(mesh(&format!("{trim} {}", cylinder(""))).area(), PI / 2.0, 2e-3);
    let outside = "Attribute \"trimcurve\" \"sense\" [\"outside\"]";
    near(mesh(&format!("{trim} {outside} {}", cylinder(""))).area(), 3.5 * PI, 2e-3);
    // A trim belongs to its block.
    let left = mesh(&format!("AttributeBegin {trim} AttributeEnd {}", cylinder("")));
    near(left.area(), 4.0 * PI, 1e-3);
}

#[test]
fn texture_coordinates_of_the_corners_are_spread_over_parametric_surfaces() {
    let set = "TextureCoordinates 0 0 2 0 0 3 2 3";
    let m = mesh(&format!("{set} Patch \"bilinear\" \"P\" [0 0 0 1 0 0 0 1 0 1 1 0]"));
    assert_eq!(at(&m, Vec3::new(1.0, 1.0, 0.0)), (Vec2::ONE, Vec2::new(2.0, 3.0)));
    let m = mesh(&format!("{set} {}", cylinder("")));
    assert_eq!(at(&m, Vec3::new(-1.0, 0.0, 2.0)).1, Vec2::new(1.0, 3.0));
    let given = mesh(&format!("{set} Patch \"bilinear\" \"P\" [0 0 0 1 0 0 0 1 0 1 1 0] \"s\" [5 6 5 6]"));
    assert_eq!(at(&given, Vec3::new(1.0, 1.0, 0.0)).1, Vec2::new(6.0, 3.0));
}

#[test]
fn coarser_shading_rates_and_flatness_make_fewer_triangles() {
    let count = |attribute: &str| mesh(&format!("{attribute} {}", cylinder(""))).triangles.len();
    let usual = count("");
    assert!(count("ShadingRate 16") < usual && count("ShadingRate 0.25") > usual);
    assert_eq!(count("GeometricApproximation \"flatness\" 0.1"), usual);
    assert!(count("GeometricApproximation \"flatness\" 1") < usual);
    assert_eq!(count("GeometricApproximation \"motionfactor\" 3"), usual);
}

#[test]
fn curves_are_tubes_or_ribbons_of_their_width() {
    let line = "\"P\" [0 0 0 0 2 0]";
    near(mesh(&format!("Curves \"linear\" [2] \"nonperiodic\" {line} \"constantwidth\" [0.5]")).area(), PI, 0.03);
    let taper = mesh(&format!("Curves \"linear\" [2] \"nonperiodic\" {line} \"width\" [0.5 0]"));
    near(taper.area(), PI / 2.0, 0.05);
    let ribbon =
        mesh(&format!("Curves \"linear\" [2] \"nonperiodic\" {line} \"constantwidth\" [0.5] \"N\" [0 0 1 0 0 1]"));
    near(ribbon.area(), 1.0, 1e-6);
    assert!(ribbon.normals.iter().all(|n| *n == Vec3::Z));
    let two = "Curves \"linear\" [2 3] \"nonperiodic\" \"P\" [0 0 0 0 1 0 1 0 0 1 1 0 1 2 0] \"width\" [0.1 0.1 0.2 0.2 0.2] \
               \"uniform color Cs\" [1 0 0 0 1 0] \"varying float along\" [0 1 5 6 7]";
    let m = mesh(two);
    assert!(m.triangle_colors.contains(&Vec3::X) && m.triangle_colors.contains(&Vec3::Y));
    for (i, p) in m.positions.iter().enumerate() {
        let exact = if p.x > 0.5 { 5.0 + p.y } else { p.y };
        assert!((m.primvars[0].numbers(i)[0] - exact).abs() < 1e-5, "{p}");
    }
    let cubic = "Basis \"catmull-rom\" 1 \"catmull-rom\" 1 Curves \"cubic\" [4] \"nonperiodic\" \"P\" [0 0 0 0 1 0 0 2 0 0 3 0] \"constantwidth\" [0.5]";
    near(mesh(cubic).area(), PI * 0.5, 0.03);
}

#[test]
fn points_are_balls() {
    let m = mesh(
        "Points \"P\" [0 0 0 1 1 0] \"width\" [1 0.5] \"varying color Cs\" [1 0 0 0 1 0] \"vertex float heat\" [3 4]",
    );
    near(m.area(), 1.25 * PI, 0.01);
    near(volume(&m), PI / 6.0 * 1.125, 0.01);
    assert_eq!((m.primvars[0].numbers(0), m.triangle_colors[0]), ([3.0].as_slice(), Vec3::X));
    assert_eq!(mesh("Points \"P\" [0 0 0] \"constantwidth\" [2]").bounds().unwrap().1, Vec3::ONE);
}

const CUBE: &str = "[4 4 4 4 4 4] [0 2 3 1 4 5 7 6 0 1 5 4 2 6 7 3 0 4 6 2 1 3 7 5]";
const CORNERS: &str = "\"P\" [-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 1 1 1 1 1]";

#[test]
fn subdivision_meshes_are_smooth_sharp_or_open_as_their_tags_say() {
    let smooth = mesh(&format!("SubdivisionMesh \"catmull-clark\" {CUBE} {CORNERS}"));
    assert!(volume(&smooth) > 2.5 && volume(&smooth) < 4.5, "{}", volume(&smooth));
    assert_eq!(smooth.positions.iter().filter(|p| p.abs().max_element() > 0.99).count(), 0);
    let around = "2 6 7 3 2 0 1 5 4 0";
    let tags = format!("[\"crease\" \"crease\"] [5 1 5 1] [{around}] [10 10]");
    let drum = mesh(&format!("SubdivisionMesh \"catmull-clark\" {CUBE} {tags} {CORNERS}"));
    // The creases keep the two squares at the top and the bottom flat: curves of B-splines around
    // squares of side 2.
    let flat = (0..drum.triangles.len()).filter(|&t| drum.corners(t).iter().all(|p| (p.y - 1.0).abs() < 1e-5)).count();
    assert!(flat > 10);
    let open = mesh(&format!("SubdivisionMesh \"catmull-clark\" {CUBE} [\"hole\"] [1 0] [3] [] {CORNERS}"));
    near(smooth.area() - open.area(), smooth.area() / 6.0, 1e-3);
    let square = "[4] [0 1 2 3]";
    let points = "\"P\" [0 0 0 1 0 0 1 1 0 0 1 0]";
    let kept =
        mesh(&format!("SubdivisionMesh \"catmull-clark\" {square} [\"interpolateboundary\"] [0 0] [] [] {points}"));
    near(kept.area(), 1.0, 1e-5);
    assert_eq!(at(&kept, Vec3::ONE.with_z(0.0)).0, Vec2::ONE);
    let text = format!("WorldBegin SubdivisionMesh \"catmull-clark\" {square} {points} WorldEnd");
    assert!(warnings(&text).contains("no visible object"));
}

#[test]
fn values_over_subdivision_meshes_follow_their_class() {
    let variables = "\"uniform float side\" [0 1 2 3 4 5] \"vertex point rest\" [-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 1 1 1 1 1] \
                     \"varying float x\" [-1 1 -1 1 -1 1 -1 1]";
    let m = mesh(&format!("SubdivisionMesh \"catmull-clark\" {CUBE} {CORNERS} {variables}"));
    let find = |name: &str| m.primvars.iter().find(|p| &*p.kind.name == name).unwrap();
    for (i, p) in m.positions.iter().enumerate() {
        assert!(Vec3::from_slice(find("rest").numbers(i)).distance(*p) < 1e-5);
        let x = find("x").numbers(i)[0];
        assert!((-1.0..=1.0).contains(&x) && x * p.x >= -1e-6);
    }
    for t in 0..m.triangles.len() {
        let middle = m.corners(t).iter().sum::<Vec3>();
        let exact = [-Vec3::Z, Vec3::Z, -Vec3::Y, Vec3::Y, -Vec3::X, Vec3::X];
        assert!(exact[find("side").numbers(t)[0] as usize].dot(middle) > 0.0);
    }
}

#[test]
fn blobs_melt_together() {
    let unit = "1 0 0 0 0 1 0 0 0 0 1 0";
    let m = mesh(&format!(
        "Blobby 2 [1001 0 1001 16 0 2 0 1] [{unit} -0.3 0 0 1 {unit} 0.3 0 0 1] [\"\"] \"varying color Cs\" [1 0 0 0 0 1]"
    ));
    assert!(volume(&m) > 1.2 * PI / 6.0 && volume(&m) < 2.6 * PI / 6.0, "{}", volume(&m));
    for (p, c) in m.positions.iter().zip(&m.vertex_colors) {
        assert!((c.x + c.z - 1.0).abs() < 1e-5 && (c.x - 0.5) * p.x <= 1e-6);
    }
}

#[test]
fn polygons_have_holes() {
    let points = "\"P\" [0 0 0 4 0 0 4 4 0 0 4 0 1 1 0 3 1 0 3 3 0 1 3 0]";
    let lone = mesh(&format!("GeneralPolygon [4 4] {points}"));
    near(lone.area(), 12.0, 1e-6);
    assert!(lone.normals.iter().all(|n| *n == Vec3::Z));
    let two =
        format!("PointsGeneralPolygons [2 1] [4 4 4] [0 1 2 3 4 5 6 7 4 5 6 7] {points} \"uniform float which\" [1 2]");
    let m = mesh(&two);
    near(m.area(), 16.0, 1e-6);
    for t in 0..m.triangles.len() {
        let middle = m.corners(t).iter().sum::<Vec3>() / 3.0;
        let inner = (middle - Vec3::new(2.0, 2.0, 0.0)).abs().max_element() < 1.0;
        assert_eq!(m.primvars[0].numbers(t), [if inner { 2.0 } else { 1.0 }]);
    }
    assert!((0..m.triangles.len()).all(|t| m.scaled_normal(t).z > 0.0));
}

#[test]
fn of_several_levels_of_detail_one_is_shown() {
    let shown = |distance: f64| {
        let text = format!(
            "Projection \"perspective\" \"fov\" [90] Format 100 100 1 Translate 0 0 {distance} WorldBegin \
             Detail -1 1 -1 1 0 0 DetailRange 0 0 50 150 Sphere 1 -1 1 360 DetailRange 50 150 1e9 1e9 Disk 0 1 360 WorldEnd"
        );
        scene(&text).objects.iter().map(|o| o.name.to_string()).collect::<Vec<_>>()
    };
    // A box of 2 × 2 at a distance d is (100 / d)² pixels large.
    assert_eq!((shown(5.0), shown(20.0)), (vec!["Disk".to_string()], vec!["Sphere".to_string()]));
    let half = "RelativeDetail 0.0001 Projection \"orthographic\" WorldBegin Detail -1 1 -1 1 0 0 DetailRange 0 0 50 150 Sphere 1 -1 1 360 WorldEnd";
    assert_eq!(scene(half).objects.len(), 1);
    assert_eq!(scene("WorldBegin Bound -1 1 -1 1 -1 1 DetailRange 0 0 1 1 Sphere 1 -1 1 360 DetailRange 0 0 1e38 1e38 Disk 0 1 360 WorldEnd").objects.len(), 1);
}

#[test]
fn what_cannot_be_is_an_error_that_says_why() {
    let cases = [
        ("Patch \"trilinear\" \"P\" [0 0 0]", "there is no type of patch `trilinear`"),
        (
            "Patch \"bilinear\" \"P\" [0 0 0 1 0 0 0 1 0]",
            "`P` is `vertex point` and needs 12 (4 × 3) numbers here, but has 9",
        ),
        ("Patch \"bilinear\"", "no positions"),
        ("Patch \"bilinear\" \"Pw\" [0 0 0 0 1 0 0 1 0 1 0 1 1 1 0 1]", "control point 0 has the weight 0"),
        (
            "PatchMesh \"bicubic\" 5 \"nonperiodic\" 4 \"nonperiodic\" \"P\" [0 0 0]",
            "along u: 5 control points do not make whole segments",
        ),
        ("PatchMesh \"bilinear\" -3 \"nonperiodic\" 4 \"nonperiodic\" \"P\" [0 0 0]", "-3 control points along u"),
        ("PatchMesh \"bilinear\" 2 \"wrapped\" 4 \"nonperiodic\" \"P\" [0 0 0]", "a mesh cannot wrap as `wrapped`"),
        (
            "PatchMesh \"bilinear\" 2000000000 \"nonperiodic\" 2000000000 \"nonperiodic\" \"P\" [0 0 0]",
            "2000000000 control points along u",
        ),
        ("Basis \"cubic\" 1 \"bezier\" 3", "there is no basis `cubic`"),
        ("Basis \"bezier\" 0 \"bezier\" 3", "a step of 0 is not possible"),
        ("NuPatch 2 2 [0 0 1] 0 1 2 2 [0 0 1 1] 0 1 \"P\" [0 0 0]", "along u: 3 knots; 4 are needed"),
        ("NuPatch 2 99 [0] 0 1 2 2 [0 0 1 1] 0 1 \"P\" [0 0 0]", "an order of 99; 2 to 32 are possible"),
        ("TrimCurve [1] [2] [0 0 1 1] [0] [1] [2 2] [0] [0] [1]", "the loops have 1 curves, but there are 1 orders"),
        ("TrimCurve [1] [2] [0 0 1 1] [0] [1] [2] [0] [0 1] [1 1]", "there are fewer points than the curves have"),
        (
            "Curves \"cubic\" [3] \"nonperiodic\" \"P\" [0 0 0 1 0 0 2 0 0]",
            "curve 0: 3 control points do not make whole segments",
        ),
        (
            "Curves \"linear\" [2 2] \"nonperiodic\" \"P\" [0 0 0 1 0 0]",
            "the curves have 4 control points, but there are 2 points",
        ),
        (
            "Curves \"linear\" [2] \"nonperiodic\" \"P\" [0 0 0 1 0 0] \"width\" [1]",
            "`width` is `varying float` and needs 2 numbers here, but has 1",
        ),
        ("Points \"P\" [0 0 0] \"width\" [1 2]", "`width` is `varying float` and needs 1 number here, but has 2"),
        ("SubdivisionMesh \"doo-sabin\" [4] [0 1 2 3] \"P\" [0 0 0]", "there is no scheme `doo-sabin`"),
        (
            "SubdivisionMesh \"loop\" [4] [0 1 2 3] \"P\" [0 0 0 1 0 0 1 1 0 0 1 0]",
            "the scheme `loop` takes triangles only",
        ),
        (
            "SubdivisionMesh \"catmull-clark\" [4] [0 1 2 2] \"P\" [0 0 0 1 0 0 1 1 0]",
            "face 0 names the point 2 more than once",
        ),
        (
            "SubdivisionMesh \"catmull-clark\" [3] [0 1 2] [\"crease\"] [3 1] [0 1] [1] \"P\" [0 0 0 1 0 0 1 1 0]",
            "the tag \"crease\" has fewer arguments",
        ),
        (
            "SubdivisionMesh \"catmull-clark\" [3] [0 1 2] [\"hole\"] [1 0] [7] [] \"P\" [0 0 0 1 0 0 1 1 0]",
            "there is no hole face 7",
        ),
        ("Blobby 1 [42 0 0] [0] [\"\"]", "the operation 42, which is not supported"),
        ("Blobby 2 [1000 0] [0] [\"\"]", "2 leaves are announced, and 1 are there"),
        ("GeneralPolygon [4 2] \"P\" [0 0 0 1 0 0 1 1 0 0 1 0 0 0 0 1 1 1]", "face 1 has 2 vertices"),
        (
            "PointsGeneralPolygons [2] [3] [0 1 2] \"P\" [0 0 0 1 0 0 1 1 0]",
            "the faces have 2 loops, but there are 1 counts",
        ),
        ("Torus 0 0 0 360 360", "the radius must not be 0"),
        ("Paraboloid 1 -1 1 360", "there is no paraboloid"),
        ("ShadingRate 0", "the shading rate must be above 0"),
        ("DetailRange 3 2 1 0", "the sizes must ascend"),
    ];
    for (request, expected) in cases {
        let shown = errors(&format!("WorldBegin\n{request}\nWorldEnd"));
        assert!(shown.contains(expected) && shown.contains("scene.rib:2:"), "{request}: {shown}");
    }
}

#[test]
fn shapes_of_too_many_triangles_are_refused() {
    let heights: String = (0..64 * 64).map(|i| format!("{} ", i * 7 % 5)).collect();
    let mesh = format!("PatchMesh \"bicubic\" 64 \"periodic\" 64 \"periodic\" \"Pz\" [{heights}]");
    let text = format!(
        "Translate 0 0 5 WorldBegin GeometricApproximation \"flatness\" 1e-30 Basis \"b-spline\" 1 \"b-spline\" 1 {mesh} WorldEnd"
    );
    assert!(errors(&text).contains("more than 4194304 triangles are needed for this primitive"));
}
