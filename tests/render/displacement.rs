//! True displacement: meshes that displacement shaders have moved, against worked-out shapes, and
//! without cracks.

use shadewright::displace::{Displaced, Displacer};
use shadewright::program::{LinkOptions, link};
use shadewright::project::{InstanceId, Outcome, Project, ProjectOptions, ProjectState, Source};
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Renderer, Window, prepare};
use shadewright::scene::{Object, OpenOptions, ParamValue, Scene, open};
use shadewright::text::source::SourceMap;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Moves every point to the height of a wave.
const WAVE: (&str, &str) = (
    "wave",
    "displacement wave(float height = 0.2; float frequency = 3) {
        point q = transform(\"shader\", P);
        P += vector \"shader\" (0, 0, height * sin(frequency * xcomp(q)));
    }",
);

/// Moves points along their normals by noise of where they are, which is another thing on each side
/// of an edge.
const ROUGH: (&str, &str) =
    ("rough", "displacement rough(float height = 0.4;) { P += height * (noise(5 * P) - 0.3) * normalize(N); }");

/// Turns normals, and moves nothing.
const BENT: (&str, &str) = ("bent", "displacement bent() { N = normalize(N + normal (0.5, 0, 0)); }");

/// Before `WorldBegin`: a camera that looks along z from the origin.
const CAMERA: &str = "Format 64 64 1 PixelSamples 1 1 Projection \"perspective\" \"fov\" [60] Translate 0 0 4";

fn write(folder: &Path, shaders: &[(&str, &str)], world: &str) -> std::path::PathBuf {
    for (name, text) in shaders {
        fs::write(folder.join(format!("{name}.sl")), text).expect("a writable folder");
    }
    let path = folder.join("scene.rib");
    fs::write(&path, format!("{CAMERA}\nWorldBegin\n{world}\nWorldEnd\n")).expect("a writable folder");
    path
}

/// A scene and what was made of it.
fn displaced(shaders: &[(&str, &str)], world: &str) -> (Scene, Displaced) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), shaders, world);
    let mut sources = SourceMap::new();
    let opened =
        open(&path, &OpenOptions::default(), &mut sources).unwrap_or_else(|e| panic!("{}", e.render(&sources)));
    assert!(opened.diagnostics.is_empty(), "{}", opened.diagnostics.render(&sources));
    let mut scene = opened.scene;
    let displaced = Displacer::default().displace(&mut scene, &mut sources, &LinkOptions::default());
    let displaced = displaced.unwrap_or_else(|e| panic!("{}", e.render(&sources)));
    (scene, displaced)
}

/// Edges of triangles that no other triangle has in the opposite direction, by the bits of their
/// ends.
fn open_edges<'a>(objects: impl IntoIterator<Item = &'a Object>) -> usize {
    let mut edges: HashMap<_, i32> = HashMap::new();
    for object in objects {
        for t in 0..object.mesh.triangles.len() {
            let c = object.mesh.corners(t).map(|p| p.to_array().map(f32::to_bits));
            for k in 0..3 {
                *edges.entry((c[k], c[(k + 1) % 3])).or_default() += 1;
                *edges.entry((c[(k + 1) % 3], c[k])).or_default() -= 1;
            }
        }
    }
    edges.values().filter(|n| **n > 0).count()
}

const BOUND: &str = "Attribute \"displacementbound\" \"float sphere\" [1]";

const BOX: &str = "PointsPolygons [4 4 4 4 4 4] [0 1 5 4  1 2 6 5  2 3 7 6  3 0 4 7  4 5 6 7  3 2 1 0]
    \"P\" [-1 -1 -1  1 -1 -1  1 -1 1  -1 -1 1  -1 1 -1  1 1 -1  1 1 1  -1 1 1]";

#[test]
fn closed_shapes_stay_closed() {
    // A torus of four patches around, closed both ways.
    let ring = |k: usize| [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]][k % 4];
    let points: String = (0..16)
        .map(|i| {
            let ([c, s], [a, b]) = (ring(i / 4), ring(i % 4));
            let r = 1.2 + 0.6 * a;
            format!("{} {} {} ", r * c, r * s, 0.6 * b)
        })
        .collect();
    let torus = format!(
        "Basis \"b-spline\" 1 \"b-spline\" 1 PatchMesh \"bicubic\" 4 \"periodic\" 4 \"periodic\" \"P\" [{points}]"
    );
    for shape in ["Sphere 1 -1 1 360", "Torus 1 0.4 0 360 360", BOX, &torus] {
        let (scene, displaced) = displaced(&[ROUGH], &format!("{BOUND} Displacement \"rough\" {shape}"));
        let plain = displaced.triangles;
        assert!(plain > 2000, "{shape}: {plain}");
        assert_eq!(open_edges(&scene.objects), 0, "{shape}");
        assert!(displaced.remarks.is_empty());
        let moved = scene.objects[0].mesh.positions.iter().filter(|p| p.abs().max_element() > 1.001).count();
        assert!(moved > 0, "{shape} is as it was");
    }
}

#[test]
fn objects_that_share_an_edge_meet() {
    let faces = ["-1 -1 0  0 -1 0.5  0 1 0.5  -1 1 0", "0 -1 0.5  1 -1 0  1 1 0  0 1 0.5"];
    let world = faces.map(|face| format!("Polygon \"P\" [{face}]\n")).concat();
    let (scene, _) = displaced(&[ROUGH], &format!("{BOUND} Displacement \"rough\" {world}"));
    assert_eq!(scene.objects.len(), 2);
    let each: usize = scene.objects.iter().map(|o| open_edges([o])).sum();
    let both = open_edges(&scene.objects);
    assert!(both < each, "{both} of {each}");
    // What stays open is the outline: three sides of each.
    let middle = |o: &Object| o.mesh.positions.iter().filter(|p| p.x.abs() < 0.5 && p.y.abs() < 0.5).count();
    assert!(scene.objects.iter().all(|o| middle(o) > 10));
    let inner = |o: &Object| {
        o.mesh.positions.iter().map(|p| p.to_array().map(f32::to_bits)).collect::<std::collections::HashSet<_>>()
    };
    let common = inner(&scene.objects[0]).intersection(&inner(&scene.objects[1])).count();
    assert_eq!(each - both, 2 * (common - 1));
}

#[test]
fn a_plane_becomes_the_wave_that_its_shader_says() {
    let world = format!("{BOUND} Rotate 20 0 1 0 Displacement \"wave\" Polygon \"P\" [-1 -1 0  -1 1 0  1 1 0  1 -1 0]");
    let (scene, displaced) = displaced(&[WAVE], &world);
    let object = &scene.objects[0];
    assert!(object.attributes.displaced && displaced.triangles == object.mesh.triangles.len());
    let (sin, cos) = 20f32.to_radians().sin_cos();
    for (p, n) in object.mesh.positions.iter().zip(&object.mesh.normals) {
        // Back to the shader's space.
        let (x, z) = (cos * p.x - sin * p.z, sin * p.x + cos * p.z);
        assert!((z - 0.2 * (3.0 * x).sin()).abs() < 1e-5, "{p}");
        let (nx, nz) = (cos * n.x - sin * n.z, sin * n.x + cos * n.z);
        // The normal of the wave, (-0.6 cos 3x, 0, 1), on either side, but for the last triangles
        // at its ends.
        let slope = -nx / nz;
        assert!((slope - 0.6 * (3.0 * x).cos()).abs() < if x.abs() < 0.95 { 0.02 } else { 0.2 }, "{x}: {slope}");
    }
    // Two triangles a pixel: 64 pixels are 4.62 units at that distance.
    let expected = 2.0 * 4.0 * (64.0f64 / 4.62).powi(2);
    let triangles = displaced.triangles as f64;
    assert!((0.6 * expected..1.6 * expected).contains(&triangles), "{triangles} against {expected}");
}

#[test]
fn normals_of_the_moved_surface_come_from_derivatives() {
    let wave = ("wave", WAVE.1.replace("}", "N = calculatenormal(P); }"));
    let world = format!("{BOUND} Rotate 20 0 1 0 Displacement \"wave\" Polygon \"P\" [-1 -1 0  -1 1 0  1 1 0  1 -1 0]");
    let (scene, _) = displaced(&[(wave.0, &wave.1)], &world);
    let (sin, cos) = 20f32.to_radians().sin_cos();
    for (p, n) in scene.objects[0].mesh.positions.iter().zip(&scene.objects[0].mesh.normals) {
        let (x, nx, nz) = (cos * p.x - sin * p.z, cos * n.x - sin * n.z, sin * n.x + cos * n.z);
        assert!((-nx / nz - 0.6 * (3.0 * x).cos()).abs() < 1e-4, "{p} {n}");
    }
}

#[test]
fn shading_rates_say_how_fine() {
    let count = |rate: &str| {
        displaced(&[WAVE], &format!("{BOUND} {rate} Displacement \"wave\" Polygon \"P\" [-1 -1 0 -1 1 0 1 1 0 1 -1 0]"))
            .1
            .triangles
    };
    let (fine, usual, coarse) = (count("ShadingRate 0.25"), count(""), count("ShadingRate 4"));
    for ratio in [fine as f64 / usual as f64, usual as f64 / coarse as f64] {
        assert!((3.5..4.5).contains(&ratio), "{coarse} {usual} {fine}");
    }
}

#[test]
fn geometry_is_the_same_with_and_without_a_bound() {
    let positions = |bound: &str| {
        let (scene, displaced) = displaced(&[ROUGH], &format!("{bound} Displacement \"rough\" Sphere 1 -1 1 360"));
        assert!(displaced.remarks.is_empty() && scene.objects[0].attributes.displaced, "{bound}");
        scene.objects[0].mesh.positions.clone()
    };
    let without = positions("");
    assert!(without.iter().any(|p| p.length() > 1.01));
    assert_eq!(without, positions(BOUND));
    assert_eq!(without, positions("Attribute \"displacementbound\" \"float sphere\" [0]"));
}

#[test]
fn meshes_whose_points_no_shader_moves_stay_as_they_are() {
    for (bound, shader) in [("", BENT), (BOUND, BENT)] {
        let world = format!("{bound} Displacement \"{}\" {BOX}", shader.0);
        let (scene, displaced) = displaced(&[shader], &world);
        assert_eq!((displaced.triangles, scene.triangle_count()), (0, 12), "{world}");
        assert!(!scene.objects[0].attributes.displaced);
    }
}

#[test]
fn bounds_are_lengths_in_the_space_that_they_name() {
    let bound = |attribute: &str| {
        let world = format!("Scale 3 3 3 CoordinateSystem \"big\" Scale 0.1 0.1 0.1 {attribute} Sphere 1 -1 1 360");
        displaced(&[], &world).0.objects[0].attributes.displacement_bound
    };
    let attribute = "Attribute \"displacementbound\" \"sphere\" [0.5]";
    let near = |a: f32, b: f32| assert!((a - b).abs() < 1e-6, "{a} {b}");
    near(bound(attribute), 0.15);
    near(bound(&format!("{attribute} \"coordinatesystem\" \"big\"")), 1.5);
    near(bound(&format!("{attribute} \"string coordinatesystem\" [\"world\"]")), 0.5);
    near(bound(""), 0.0);
}

#[test]
fn a_point_beyond_the_bound_is_told_with_the_distance() {
    let world = "Attribute \"displacementbound\" \"float sphere\" [0.1] Displacement \"wave\" \"uniform float height\" [0.5] \
         Polygon \"P\" [-1 -1 0 -1 1 0 1 1 0 1 -1 0]";
    let (_, displaced) = displaced(&[WAVE], world);
    let [remark] = displaced.remarks.as_slice() else { panic!("{:?}", displaced.remarks) };
    assert!(
        remark.message.contains("`wave` moves points by up to 0.49") || remark.message.contains("up to 0.5 "),
        "{}",
        remark.message
    );
    let nowhere = ("nowhere", "displacement nowhere() { P += vector (1, 0, 0) * (1 / (xcomp(P) - xcomp(P))); }");
    let (scene, displaced) = self::displaced(&[nowhere], &format!("{BOUND} Displacement \"nowhere\" {BOX}"));
    assert!(displaced.remarks[0].message.contains("to no finite place"), "{:?}", displaced.remarks);
    assert!(scene.objects[0].mesh.positions.iter().all(|p| p.is_finite()));
}

#[test]
fn where_there_is_no_room_for_all_triangles_edges_are_longer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), &[ROUGH], &format!("{BOUND} Displacement \"rough\" {BOX}"));
    let mut sources = SourceMap::new();
    let scene = open(&path, &OpenOptions::default(), &mut sources).expect("a scene").scene;
    let mut within = |most: usize| {
        let mut scene = scene.clone();
        let displaced = Displacer::new(most).displace(&mut scene, &mut sources, &LinkOptions::default());
        displaced.map(|d| (d.triangles, open_edges(&scene.objects), d.remarks)).map_err(|e| e.render(&sources))
    };
    let (all, _, remarks) = within(1 << 20).expect("room");
    assert!(remarks.is_empty());
    let (fewer, open, remarks) = within(all / 10).expect("some room");
    assert!(fewer <= all / 10 && fewer > all / 80 && open == 0, "{fewer} of {all}");
    assert!(remarks[0].message.contains("4 times as long as ShadingRate asks"), "{}", remarks[0].message);
    let (none, _, remarks) = within(11).expect("shading points move");
    assert_eq!(none, 0);
    let message = &remarks[0].message;
    assert!(message.contains("the objects to displace have 12 triangles; 11 is the limit"), "{message}");
}

#[test]
fn what_is_wrong_with_a_shader_is_told_once_with_its_line() {
    for (text, expected) in [
        ("displacement rough() { P += hieght * N; }", "hieght"),
        ("displacement rough() { while (1 > 0) P += N; }", "a shader did not end within"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = write(folder.path(), &[("rough", text)], &format!("{BOUND} Displacement \"rough\" {BOX}"));
        let open = OpenOptions { strict: true, ..OpenOptions::default() };
        let mut project = Project::new(Source::File(path), ProjectOptions { open, ..ProjectOptions::default() });
        let Outcome::Broken(failure) = project.refresh() else { panic!("{text} is wrong") };
        let shown = failure.diagnostics.render(&failure.sources);
        assert!(shown.contains(expected) && shown.contains("rough.sl:1"), "{shown}");
        assert_eq!(failure.diagnostics.error_count(), 1, "{shown}");
    }
}

#[test]
fn instances_are_displaced_where_they_stand() {
    let world = format!(
        "ObjectBegin 1 Sphere 0.5 -0.5 0.5 360 ObjectEnd {BOUND} Displacement \"rough\" \
         TransformBegin Translate -1 0 0 ObjectInstance 1 TransformEnd \
         TransformBegin Translate 1 0 0 ObjectInstance 1 TransformEnd"
    );
    let (scene, _) = displaced(&[ROUGH], &world);
    let [a, b] = scene.objects.as_slice() else { panic!("two objects") };
    assert!(!Arc::ptr_eq(&a.mesh, &b.mesh) && !scene.has_instances());
    assert!(
        a.mesh.bounds().is_some_and(|(_, high)| high.x < 0.0) && b.mesh.bounds().is_some_and(|(low, _)| low.x > 0.0)
    );
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let mesh = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| displaced(&[ROUGH], &format!("{BOUND} Displacement \"rough\" {BOX} Sphere 1.3 -1.3 1.3 360")).0)
    };
    let (one, three) = (mesh(1), mesh(3));
    for (a, b) in one.objects.iter().zip(&three.objects) {
        assert_eq!(a.mesh, b.mesh);
    }
}

#[test]
fn the_shader_does_not_move_points_again_when_they_are_shaded() {
    // A plane at z = 0 is moved to -1, so its distance from the camera is 3.
    let lift = (
        "lift",
        "displacement lift(float by = 1; output varying point from = 0; output varying float twice = 0;) {
            from = P; twice = 2 * by; P -= by * vector (0, 0, 1);
        }",
    );
    let show = (
        "show",
        "surface show() {
            float by = 0;
            float twice = 0;
            point from = 0;
            float there = displacement(\"by\", by) * displacement(\"twice\", twice) * displacement(\"from\", from);
            Oi = 1;
            Ci = color (0.1 * (4 + zcomp(P)), by / 4, there * (zcomp(from) - zcomp(P)) * twice / 2);
        }",
    );
    let [r, g, b, _] = middle_of_plane(&[lift, show], "Surface \"show\" Displacement \"lift\"");
    assert!((r - 0.3).abs() < 1e-5 && (g - 0.25).abs() < 1e-6 && (b - 1.0).abs() < 1e-5, "{r} {g} {b}");
}

#[test]
fn a_class_that_has_moved_the_points_does_not_move_them_again_but_keeps_what_its_method_leaves() {
    let lifted = (
        "lifted",
        "class lifted(float by = 1) {
            float twice = 0;
            public void displacement(output point P; output normal N) { twice = 2 * by; P -= by * vector (0, 0, 1); }
            public void surface(output color Ci, Oi) { Oi = 1; Ci = color (0.1 * (4 + zcomp(P)), twice / 4, 0); }
        }",
    );
    let [r, g, ..] = middle_of_plane(&[lifted], "Surface \"lifted\" Displacement \"lifted\"");
    assert!((r - 0.3).abs() < 1e-5 && (g - 0.5).abs() < 1e-6, "{r} {g}");
}

/// The color in the middle of the image of a plane at z = 0 that may be moved.
fn middle_of_plane(shaders: &[(&str, &str)], requests: &str) -> [f32; 4] {
    let folder = tempfile::tempdir().expect("a folder");
    let world = format!("{BOUND} {requests} Polygon \"P\" [-9 -9 0 -9 9 0 9 9 0 9 -9 0]");
    let path = write(folder.path(), shaders, &world);
    let mut sources = SourceMap::new();
    let mut scene = open(&path, &OpenOptions::default(), &mut sources).expect("a scene").scene;
    let options = LinkOptions::default();
    Displacer::default().displace(&mut scene, &mut sources, &options).expect("a shader that compiles");
    let program = link(&scene, sources, &options).unwrap_or_else(|e| panic!("{}", e.diagnostics.render(&e.sources)));
    let sampling = Sampling { strata: [1, 1], seed: 0 };
    let job = prepare(program, &scene, Window::whole(64, 64), sampling, DEFAULT_BUDGET).expect("a job");
    let image = RpuRenderer::new().render(&job, &|_| {}).expect("an image");
    image.rgba[32 * 64 + 32]
}

#[test]
fn a_project_displaces_again_what_an_edit_moves_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let world =
        format!("{BOUND} Surface \"matte\" Displacement \"wave\" {BOX} Displacement \"rough\" Translate 3 0 0 {BOX}");
    let path = write(folder.path(), &[WAVE, ROUGH], &world);
    let mut project = Project::new(Source::File(path.clone()), ProjectOptions::default());
    let ready = |outcome: Outcome| -> Arc<ProjectState> {
        match outcome {
            Outcome::Ready(state) => state,
            Outcome::Broken(failure) => panic!("{}", failure.diagnostics.render(&failure.sources)),
            Outcome::Unchanged => panic!("nothing has changed"),
        }
    };
    let first = ready(project.refresh());
    assert!(first.displaced_triangles == first.scene.triangle_count() && first.displaced_triangles > 2000);
    let id = |name: &str| {
        let number = first.scene.shader_instances.iter().position(|i| i.shader == name).expect("an instance");
        InstanceId(number as u32)
    };
    let number = |x| Some(ParamValue::Float(vec![x]));
    // From twice as near there are four times as many triangles, until the scene is read again.
    let mut near = first.view();
    near.camera.world_to_camera.w_axis.z = 2.0;
    let finer = ready(project.cut_for(&near));
    assert!(finer.displaced_triangles > 2 * first.displaced_triangles && finer.redone.tree && !finer.redone.code);
    assert_eq!(finer.view(), first.view());
    let text = fs::read_to_string(&path).expect("the scene");
    fs::write(&path, text + "\n# read me again\n").expect("a writable file");
    let first = ready(project.refresh());
    assert!(first.displaced_triangles * 2 < finer.displaced_triangles);
    // A surface's parameter is data.
    let edited = ready(project.set_parameter(id("matte"), "Kd", number(0.5)).expect("a parameter"));
    assert!(Arc::ptr_eq(&edited.bvh, &first.bvh) && edited.redone.memory && !edited.redone.code);
    // A displacement's is geometry.
    let edited = ready(project.set_parameter(id("wave"), "height", number(0.4)).expect("a parameter"));
    assert!(edited.redone.tree && edited.displaced_triangles == first.displaced_triangles);
    assert_ne!(edited.scene.objects[0].mesh, first.scene.objects[0].mesh);
    assert_eq!(edited.scene.objects[1].mesh, first.scene.objects[1].mesh);
    // So is its text; that of another shader is not.
    fs::write(folder.path().join("matte.sl"), "surface matte(float Kd = 1;) { Ci = Kd; Oi = 1; }")
        .expect("a writable file");
    let again = ready(project.refresh());
    assert!(again.redone.code && Arc::ptr_eq(&again.bvh, &edited.bvh));
    fs::write(folder.path().join("wave.sl"), WAVE.1.replace("sin", "cos")).expect("a writable file");
    assert!(ready(project.refresh()).redone.tree);
}
