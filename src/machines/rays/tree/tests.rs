use super::super::model::Resolved;
use super::super::recording::Finder;
use super::*;
use crate::rays::ray::RayKind;
use shadewright_base::text::source::SourceMap;
use shadewright_bvh::TwoLevel;
use shadewright_program::{LinkOptions, link};
use shadewright_render::rpu::RpuRenderer;
use shadewright_render::sampling::Sampling;
use shadewright_render::{DEFAULT_BUDGET, Renderer, Window, prepare};
use shadewright_scene::{OpenOptions, open, open_bytes};
use std::path::Path;

/// The scene's own BVH: polygons are its triangles.
struct Own<'a>(&'a TwoLevel);

impl Finder for Own<'_> {
    fn find(&self, request: &Request) -> (Option<ModelHit>, Work) {
        let t_max = request.limit.min(f32::MAX);
        let ray = shadewright_bvh::Ray { t_max, ..shadewright_bvh::Ray::new(request.origin, request.direction) };
        let found = |hit: shadewright_bvh::Hit| ModelHit { index: hit.prim, t: hit.t, point: [hit.u, hit.v, 0.0] };
        let hit = match request.kind {
            RayKind::Any if !self.0.any_hit(&ray) => None,
            _ => self.0.closest_hit(&ray).map(found),
        };
        (hit, Work { tests: 1, ..Work::default() })
    }
}

fn resolved(found: &ModelHit) -> Resolved {
    let [u, v, _] = found.point;
    Resolved { primitive: found.index, u, v }
}

fn job_of(scene: &shadewright_scene::Scene, sources: SourceMap, options: &LinkOptions, strata: [u32; 2]) -> Job {
    let program = link(scene, sources, options).unwrap_or_else(|e| panic!("{:?}", e.diagnostics));
    let sampling = Sampling { strata, seed: 3 };
    let [width, height] = [scene.format.width, scene.format.height];
    prepare(program, scene, Window::whole(width, height), sampling, DEFAULT_BUDGET).expect("it fits")
}

/// The job of a scene among the assets.
fn asset(file: &str, size: (u32, u32), strata: [u32; 2]) -> Job {
    let mut sources = SourceMap::new();
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("assets/scenes").join(file);
    let options = OpenOptions { size: Some(size), ..OpenOptions::default() };
    let scene = open(&path, &options, &mut sources).expect("a scene").scene;
    let options = LinkOptions { shader_paths: vec![path.with_file_name("")], ..LinkOptions::default() };
    job_of(&scene, sources, &options, strata)
}

/// The job of a scene in RIB, with a surface shader `given`.
fn inline(rib: &str, given: &str) -> Job {
    let mut sources = SourceMap::new();
    let options = OpenOptions { size: Some((24, 18)), ..OpenOptions::default() };
    let scene = open_bytes("test.rib", rib.as_bytes().to_vec(), &options, &mut sources).expect("a scene").scene;
    let shader = sources.add("given.sl", None, given);
    let options = LinkOptions { given: vec![("given".to_string(), shader)], ..LinkOptions::default() };
    job_of(&scene, sources, &options, [1, 1])
}

fn tree_of(job: &Job, threshold: f32) -> RayTree {
    grow(job, &Own(&job.bvh), &resolved, Settings { threshold }, &|_| {}).expect("it grows")
}

/// The greatest difference of the tree's image from the RPU's.
fn difference(job: &Job, tree: &RayTree) -> f32 {
    let program = &job.program;
    let loaded = Loaded::new(&program.module, program.constants.vectors(), program.surface_entries).expect("compiles");
    let image = tree.image(job, &loaded).expect("develops");
    let plain = RpuRenderer::new().render(job, &|_| {}).expect("renders");
    let pairs = image.rgba.iter().zip(&plain.rgba);
    pairs.flat_map(|(a, b)| (0..4).map(move |i| (a[i] - b[i]).abs())).fold(0.0, f32::max)
}

fn assert_equal(name: &str, job: &Job, tree: &RayTree) {
    let off = difference(job, tree);
    assert!(off < 1e-5, "{name}: {off}");
    assert_eq!(tree.totals.nonaffine, 0, "{name}");
}

#[test]
fn the_results_of_all_rays_add_up_to_the_image_of_the_rpu() {
    for (file, strata) in [
        ("mirrors.rib", [1, 1]),
        ("glass.rib", [2, 2]),
        ("shapes.rib", [1, 1]),
        ("textures.rib", [1, 1]),
        ("showcase.rib", [1, 1]),
        ("instances.rib", [1, 1]),
        ("sepia.rib", [1, 1]),
    ] {
        let job = asset(file, (32, 24), strata);
        let tree = tree_of(&job, 0.0);
        assert_equal(file, &job, &tree);
        assert_eq!(tree.samples.len() as u32, 32 * 24 * strata[0] * strata[1]);
    }
}

/// Three panes, one above the other, over a floor: they dim the light, and the highest hides from
/// shadow rays. The sphere is `given`.
const PANES: &str = r#"
Format 24 18 1
Projection "perspective" "fov" [50]
Option "trace" "color background" [0.2 0.3 0.5]
Translate 0 -1 5
Rotate -20 1 0 0
WorldBegin
LightSource "ambientlight" 1 "intensity" [0.2]
LightSource "distantlight" 2 "intensity" [0.8] "from" [0.3 2 -1] "to" [0 0 0]
LightSource "pointlight" 3 "intensity" [9] "from" [1 3 -1]
Surface "matte"
Polygon "P" [-3 0 -3  3 0 -3  3 0 3  -3 0 3]
AttributeBegin
Color [0.3 0.9 0.4] Opacity [0.5 0.2 0.4]
Polygon "P" [-1.5 1 -1  0.5 1 -1  0.5 1 1  -1.5 1 1]
Color [0.9 0.3 0.4] Opacity [0.1 0.8 0.6]
Polygon "P" [-1 1.4 -1  1 1.4 -1  1 1.4 1  -1 1.4 1]
Attribute "visibility" "integer transmission" [0]
Polygon "P" [-0.5 1.8 -1  1.5 1.8 -1  1.5 1.8 1  -0.5 1.8 1]
AttributeEnd
AttributeBegin
Surface "given"
Translate 0.8 0.5 -0.6
Sphere 0.5 -0.5 0.5 360
AttributeEnd
WorldEnd
"#;

const MIRROR: &str = "surface given() { Ci = 0.7 * trace(P, reflect(normalize(I), normalize(N))); Oi = 1; }";

#[test]
fn transparent_surfaces_pass_vision_rays_on_and_dim_shadow_rays() {
    let gathers = r#"surface given() { color sum = 0; color hit = 0;
        gather("illuminance", P, normalize(N), PI / 2, 8, "surface:Ci", hit) { sum += hit; }
        Ci = sum / 8; Oi = 1; }"#;
    for given in [
        MIRROR,
        "surface given() { Ci = transmission(P, P + vector (0, 3, 0)); Oi = 1; }",
        "surface given() { Ci = indirectdiffuse(P, normalize(N), 8); Oi = 1; }",
        "surface given() { Ci = 0.5; Oi = color(0.5, 0, 1); Ci *= Oi; }",
        gathers,
    ] {
        let job = inline(PANES, given);
        let tree = tree_of(&job, 0.0);
        assert_equal(given, &job, &tree);
        assert!(tree.totals.through > 0, "{given}");
        let dimmed =
            |ray: &Ray| ray.kind == RayPurpose::Shadow && tree.rays[ray.parent as usize].kind == RayPurpose::Shadow;
        assert!(tree.rays.iter().any(dimmed), "{given}");
    }
}

#[test]
fn lenses_filters_with_negative_lobes_and_matte_objects_have_their_share_of_alpha() {
    let lens =
        PANES.replace("Translate 0 -1 5", "DepthOfField 2 0.3 4\nPixelFilter \"catmull-rom\" 3 3\nTranslate 0 -1 5");
    let matte = PANES.replace("Surface \"given\"", "Matte 1\nSurface \"given\"");
    let all_matte = PANES.replace("Color [0.3 0.9 0.4]", "Matte 1 Color [0.3 0.9 0.4]");
    for (name, rib) in [("lens", lens), ("matte", matte), ("all matte", all_matte)] {
        let job = inline(&rib.replace("Option \"trace\" \"color background\" [0.2 0.3 0.5]", ""), MIRROR);
        assert_equal(name, &job, &tree_of(&job, 0.0));
    }
}

#[test]
fn shaders_that_branch_on_an_answer_or_mix_its_channels_are_counted() {
    let steps = "surface given() { color c = trace(P, reflect(normalize(I), normalize(N)));
        Ci = comp(c, 0) > 0.4 ? 1 : 0; Oi = 1; }";
    let mixes = "surface given() { Ci = occlusion(P, normalize(N), 4); Oi = 1; }";
    let totals = |given| tree_of(&inline(PANES, given), 0.0).totals;
    let (stepped, mixed) = (totals(steps), totals(mixes));
    assert!(stepped.nonaffine > 10 && stepped.mixing == 0, "{stepped:?}");
    assert!(mixed.mixing > 10 && mixed.nonaffine == 0, "{mixed:?}");
    let tones = "surface given() { color c = diffuse(normalize(N)); Ci = comp(c, 0) > 0.9 ? 1 : 0.2; Oi = 1; }";
    let opaque = PANES.replace("Opacity", "#").replace("Attribute \"visibility\"", "#");
    let toned = tree_of(&inline(&opaque, tones), 0.0).totals;
    assert!(toned.nonaffine > 2 && toned.mixing == 0, "{toned:?}");
    // Gray light has nothing to mix.
    let gray = PANES.replace("Opacity [0.5 0.2 0.4]", "Opacity [0.4 0.4 0.4]").replace("Opacity [0.1 0.8 0.6]", "");
    let job = inline(&gray, mixes);
    assert_equal("gray", &job, &tree_of(&job, 0.0));
}

#[test]
fn distances_are_answered_and_counted() {
    let given = "surface given() { Ci = trace(P, normalize(N)) < 2 ? 1 : 0.2; Oi = 1; }";
    let job = inline(PANES, given);
    let tree = tree_of(&job, 0.0);
    assert_equal(given, &job, &tree);
    assert!(tree.totals.queries > 10);
}

#[test]
fn each_lookup_in_a_map_is_seen_with_its_place() {
    let rib = r#"
Format 24 18 1
Projection "perspective" "fov" [50]
Translate 0 0 2
WorldBegin
LightSource "ambientlight" 1 "intensity" [1]
Surface "given"
Polygon "P" [-3 -3 0  3 -3 0  3 3 0  -3 3 0] "st" [0 0 1 0 1 1 0 1]
WorldEnd
"#;
    let given = "surface given(string map = \"map.tx\") { Ci = texture(map, s, t); Oi = 1; }";
    let tree = tree_of(&inline(rib, given), 0.0);
    assert_eq!((tree.totals.shaded, tree.lookups.len()), (24 * 18, 24 * 18));
    for ray in &tree.rays {
        let hit = ray.request.origin + ray.request.direction * ray.hit.map_or(0.0, |found| found.t);
        let lookup = &tree.lookups[ray.lookups.start as usize..ray.lookups.end as usize][0];
        let expected = [hit.x / 6.0 + 0.5, hit.y / 6.0 + 0.5];
        let near = (0..2).all(|i| (lookup.st[i] - expected[i]).abs() < 1e-4);
        assert!(near && lookup.area[0] > 0.0, "{lookup:?} {expected:?}");
    }
    let job = asset("textures.rib", (24, 18), [1, 1]);
    assert!(tree_of(&job, 0.0).lookups.len() > 300);
}

#[test]
fn children_name_their_parents_and_carry_no_more_than_they_can_bring() {
    let job = asset("showcase.rib", (32, 24), [1, 1]);
    let tree = tree_of(&job, 0.0);
    for (number, ray) in tree.rays.iter().enumerate() {
        for child in ray.children.clone() {
            let child = &tree.rays[child as usize];
            assert_eq!((child.parent, child.sample), (number as u32, ray.sample));
            let at = ray.request.origin + ray.request.direction * ray.hit.map_or(0.0, |found| found.t);
            assert!(child.request.origin.distance(at) < 0.05, "{:?} {at}", child.request);
        }
        assert!(ray.hit.is_some() || ray.children.is_empty());
    }
    for (level, range) in tree.levels.windows(2).enumerate() {
        let is_level = |ray: &Ray| ray.parent != NO_RAY;
        assert!(tree.rays[range[0] as usize..range[1] as usize].iter().all(|ray| is_level(ray) == (level > 0)));
    }
}

#[test]
fn a_threshold_ends_dark_rays_and_says_what_is_lost() {
    let job = asset("mirrors.rib", (32, 24), [1, 1]);
    let (all, some) = (tree_of(&job, 0.0), tree_of(&job, 0.5));
    assert!(some.rays.len() < all.rays.len() && some.totals.dark > all.totals.dark);
    assert!(some.totals.lost[0] > 0.0 && all.totals.lost == [0.0; 3]);
    let most = difference(&job, &some);
    assert!(most > 0.01 && most < 1.0, "{most}");
}

#[test]
fn the_tree_does_not_depend_on_the_number_of_threads() {
    let trees = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| tree_of(&inline(PANES, MIRROR), 0.0))
    });
    assert!(trees[0].rays == trees[1].rays && trees[0].samples == trees[1].samples);
}

#[test]
fn paths_are_refused() {
    let rtsl = |file: &str| {
        let mut sources = SourceMap::new();
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("assets/rtsl").join(file);
        let options = OpenOptions { size: Some((16, 12)), ..OpenOptions::default() };
        let scene = open(&path, &options, &mut sources).expect("a scene").scene;
        let options = LinkOptions { shader_paths: vec![path.with_file_name("")], ..LinkOptions::default() };
        job_of(&scene, sources, &options, [1, 1])
    };
    let job = rtsl("cornell.rib");
    let error = grow(&job, &Own(&job.bvh), &resolved, Settings { threshold: 0.0 }, &|_| {}).expect_err("a path tracer");
    assert!(error.to_string().contains("path"), "{error}");
}
