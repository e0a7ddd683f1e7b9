//! Paths of light: estimators that agree with each other and with one written for itself, energy
//! that is kept, images that do not depend on how they are cut up, and both back ends.

mod environments;
mod finite;
mod gltf;
mod gltf_layers;
mod opacity;
mod primitives;
mod same_bits;

use crate::common::{repository, shadewright, stderr};
use shadewright::image::Image;
use shadewright::image::file as image_file;
use shadewright::program::{LinkOptions, link};
use shadewright::render::film::Film;
use shadewright::render::progressive::{Pass, Progressive};
use shadewright::render::rpu::{RpuProgressive, RpuRenderer};
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Job, Window, prepare};
use shadewright::scene::{self, Estimator, OpenOptions};
use shadewright::text::source::SourceMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// Corners of a box of diffuse walls, each with its reflectance, then of the light in its ceiling.
/// Corners go around.
type Wall = ([[f64; 3]; 4], [f64; 3]);

const WALLS: [Wall; 7] = [
    ([[-1.0, 0.0, 0.0], [-1.0, 0.0, 2.0], [1.0, 0.0, 2.0], [1.0, 0.0, 0.0]], [0.7, 0.7, 0.7]),
    ([[-1.0, 2.0, 0.0], [1.0, 2.0, 0.0], [1.0, 2.0, 2.0], [-1.0, 2.0, 2.0]], [0.7, 0.7, 0.7]),
    ([[-1.0, 0.0, 2.0], [-1.0, 2.0, 2.0], [1.0, 2.0, 2.0], [1.0, 0.0, 2.0]], [0.7, 0.7, 0.7]),
    ([[-1.0, 0.0, 0.0], [-1.0, 2.0, 0.0], [-1.0, 2.0, 2.0], [-1.0, 0.0, 2.0]], [0.6, 0.1, 0.1]),
    ([[1.0, 0.0, 0.0], [1.0, 0.0, 2.0], [1.0, 2.0, 2.0], [1.0, 2.0, 0.0]], [0.1, 0.5, 0.2]),
    // A shelf in the middle, so that there are shadows.
    ([[-0.6, 0.8, 0.6], [-0.6, 0.8, 1.4], [0.2, 0.8, 1.4], [0.2, 0.8, 0.6]], [0.4, 0.4, 0.9]),
    LIGHT,
];
const LIGHT: Wall = ([[-0.5, 1.9, 0.5], [0.5, 1.9, 0.5], [0.5, 1.9, 1.5], [-0.5, 1.9, 1.5]], [4.0, 3.0, 2.0]);

/// The most places behind the first.
const DEPTH: u32 = 4;

fn numbers(list: impl IntoIterator<Item = f64>) -> String {
    list.into_iter().map(|x| format!("{x} ")).collect()
}

/// The box as a scene.
fn box_scene() -> String {
    let mut text = format!(
        "Format 16 16 1\nPixelFilter \"box\" 1 1\nProjection \"perspective\" \"fov\" [36]\nIntegrator \"path\" \"p\" \"int maxPathLength\" [{DEPTH}]\nTranslate 0 -1 3.9\nWorldBegin\n"
    );
    for (i, (corners, color)) in WALLS.iter().enumerate() {
        let (class, name) = if i + 1 == WALLS.len() { ("Emitter", "radiance") } else { ("Lambert", "diffuse") };
        let sides = if class == "Emitter" { "\"float one_sided\" [0]" } else { "" };
        text += &format!(
            "AttributeBegin\nSurface \"pbr.rtsl:{class}\" \"color {name}\" [{}] {sides}\nPolygon \"P\" [{}]\nAttributeEnd\n",
            numbers(*color),
            numbers(corners.iter().flatten().copied())
        );
    }
    text + "WorldEnd\n"
}

fn image(text: &str, estimator: Option<Estimator>, samples: u32, seed: u32) -> Image {
    images(text, estimator, samples, [seed]).remove(0)
}

/// The images of a scene by several seeds.
fn images(text: &str, estimator: Option<Estimator>, samples: u32, seeds: impl IntoIterator<Item = u32>) -> Vec<Image> {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    fs::write(folder.path().join("scene.rib"), text).expect("the folder can be written");
    drawn(folder.path(), estimator, samples, seeds)
}

/// The images of `scene.rib` in a folder.
fn drawn(
    folder: &Path,
    estimator: Option<Estimator>,
    samples: u32,
    seeds: impl IntoIterator<Item = u32>,
) -> Vec<Image> {
    drawn_as(&folder.join("scene.rib"), &OpenOptions { estimator, ..OpenOptions::default() }, samples, seeds)
}

fn drawn_as(scene: &Path, options: &OpenOptions, samples: u32, seeds: impl IntoIterator<Item = u32>) -> Vec<Image> {
    let mut job = job(scene, options, Sampling { strata: Sampling::strata_of(samples), seed: 0 });
    // Code is made once.
    let (mut renderer, stop) = (RpuProgressive::new(RpuRenderer::new()), AtomicBool::new(false));
    let of_seed = |seed| {
        job.sampling.seed = seed;
        renderer.load(&job).expect("it compiles");
        let mut film =
            Film::with_samples(job.window.width, job.window.height, job.sampling.count()).expect("it is small");
        renderer.draw(Pass::whole(job.sampling), &mut film, &stop).expect("it ends");
        renderer.finish(&film, 1, &stop).expect("it ends")
    };
    seeds.into_iter().map(of_seed).collect()
}

/// The job of a scene, which back ends render.
fn job(scene: &Path, options: &OpenOptions, sampling: Sampling) -> Job {
    let mut sources = SourceMap::new();
    let scene = scene::open(scene, options, &mut sources).expect("the scene is right").scene;
    let linking = LinkOptions { shader_paths: vec![repository("assets/rtsl")], ..LinkOptions::default() };
    let program = link(&scene, sources, &linking).expect("its classes compile");
    let window = Window::whole(scene.format.width, scene.format.height);
    prepare(program, &scene, window, sampling, DEFAULT_BUDGET).expect("it is small")
}

/// The image that the program itself draws of `scene.rib` in a folder, as floats.
fn by_the_program(folder: &TempDir, more: &[&str]) -> Image {
    let classes = repository("assets/rtsl").display().to_string();
    let args = ["scene.rib", "-I", &classes, "--pattern", "sobol", "--render", "out.exr"];
    let output = shadewright(folder.path(), &[&args[..], more].concat());
    assert!(output.status.success(), "{more:?}: {}", stderr(&output));
    image_file::read(&folder.path().join("out.exr")).expect("an image was written")
}

/// The mean of an image's colors.
fn mean(image: &Image) -> [f64; 3] {
    let count = image.rgba.len() as f64;
    [0, 1, 2].map(|i| image.rgba.iter().map(|p| f64::from(p[i])).sum::<f64>() / count)
}

/// A mean of several estimates and its standard error, for each color.
fn estimate(values: &[[f64; 3]]) -> [(f64, f64); 3] {
    let n = values.len() as f64;
    [0, 1, 2].map(|i| {
        let mean = values.iter().map(|v| v[i]).sum::<f64>() / n;
        let variance = values.iter().map(|v| (v[i] - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, (variance / n).sqrt())
    })
}

/// The mean of several images' colors.
fn means(images: &[Image]) -> [(f64, f64); 3] {
    estimate(&images.iter().map(mean).collect::<Vec<_>>())
}

/// The mean over pixels of the variance between images.
fn variance(images: &[Image]) -> f64 {
    let pixels = images[0].rgba.len();
    let of_pixel = |i: usize| {
        let values = images.iter().map(|p| f64::from(p.rgba[i][1]));
        let mean = values.clone().sum::<f64>() / images.len() as f64;
        values.map(|v| (v - mean).powi(2)).sum::<f64>() / (images.len() - 1) as f64
    };
    (0..pixels).map(of_pixel).sum::<f64>() / pixels as f64
}

fn agree(what: &str, a: [(f64, f64); 3], b: [(f64, f64); 3]) {
    for (i, (a, b)) in a.into_iter().zip(b).enumerate() {
        let error = a.1.hypot(b.1);
        assert!(error < 0.02 * a.0, "{what}: the estimates of color {i} are too rough: {a:?}, {b:?}");
        assert!((a.0 - b.0).abs() < 4.5 * error, "{what}: color {i} is {a:?} by one and {b:?} by the other");
    }
}

fn estimated(estimator: Estimator) -> [(f64, f64); 3] {
    means(&images(&box_scene(), Some(estimator), 36, 0..8))
}

#[test]
fn light_found_by_lights_by_materials_and_by_both_is_the_same() {
    let power = estimated(Estimator::Power);
    agree("balance", power, estimated(Estimator::Balance));
    agree("lights", power, estimated(Estimator::Lights));
    agree("scattering", power, estimated(Estimator::Scattering));
}

/// SplitMix64 (Steele, Lea & Flood 2014).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| a[i] - b[i])
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    a.map(|x| x / dot(a, a).sqrt())
}

/// The nearest wall on a ray: how far, which, and its normal.
fn nearest(origin: [f64; 3], direction: [f64; 3]) -> Option<(f64, usize, [f64; 3])> {
    let mut found: Option<(f64, usize, [f64; 3])> = None;
    for (i, ([a, b, _, d], _)) in WALLS.iter().enumerate() {
        let (along, up) = (minus(*b, *a), minus(*d, *a));
        let normal = unit(cross(along, up));
        let t = dot(minus(*a, origin), normal) / dot(direction, normal);
        let p = minus([0, 1, 2].map(|k| origin[k] + t * direction[k]), *a);
        let [u, v] = [along, up].map(|side| dot(p, side) / dot(side, side));
        let inside = (0.0..=1.0).contains(&u) && (0.0..=1.0).contains(&v);
        if t > 1e-6 && inside && found.is_none_or(|f| t < f.0) {
            found = Some((t, i, normal));
        }
    }
    found
}

/// The light along a ray by walking at random, in directions that are all alike: no light is looked
/// at, and no material chooses.
fn walked(random: &mut Random, mut origin: [f64; 3], mut direction: [f64; 3]) -> [f64; 3] {
    let mut weight = [1.0; 3];
    for _ in 0..=DEPTH {
        let Some((t, wall, normal)) = nearest(origin, direction) else { return [0.0; 3] };
        let color = WALLS[wall].1;
        if wall + 1 == WALLS.len() {
            return [0, 1, 2].map(|i| weight[i] * color[i]);
        }
        origin = [0, 1, 2].map(|k| origin[k] + t * direction[k]);
        let side = if dot(normal, direction) < 0.0 { 1.0 } else { -1.0 };
        let z = 2.0 * random.unit() - 1.0;
        let (angle, r) = (std::f64::consts::TAU * random.unit(), (1.0 - z * z).sqrt());
        let new = [r * angle.cos(), r * angle.sin(), z];
        let cosine = side * dot(normal, new);
        direction = if cosine < 0.0 { new.map(|x| -x) } else { new };
        // albedo / π times the cosine, over the density 1 / 2π.
        weight = [0, 1, 2].map(|i| weight[i] * color[i] * 2.0 * cosine.abs());
    }
    [0.0; 3]
}

#[test]
fn a_box_has_the_light_that_walking_at_random_finds() {
    let mut random = Random(7);
    let half = 18.0f64.to_radians().tan();
    let batches: Vec<[f64; 3]> = (0..24)
        .map(|_| {
            let mut sum = [0.0; 3];
            for _ in 0..20_000 {
                let [x, y] = [0, 1].map(|_| (2.0 * random.unit() - 1.0) * half);
                let light = walked(&mut random, [0.0, 1.0, -3.9], [x, y, 1.0]);
                sum = [0, 1, 2].map(|i| sum[i] + light[i]);
            }
            sum.map(|s| s / 20_000.0)
        })
        .collect();
    agree("walking", estimated(Estimator::Power), estimate(&batches));
}

#[test]
fn every_pixel_and_every_seed_draws_numbers_of_its_own() {
    // One sample lies in the middle of a pixel: the images differ by what paths draw alone.
    let two = images(&box_scene(), None, 1, 0..2);
    let [one, other] = [0, 1].map(|seed| &two[seed]);
    let different = one.rgba.iter().zip(&other.rgba).filter(|(a, b)| a != b).count();
    assert!(different > one.rgba.len() / 2, "{different} pixels differ");
}

/// A box that sends back all light, in light that is the same everywhere.
const FURNACE: &str = "Format 12 12 1
Projection \"perspective\" \"fov\" [30]
Option \"trace\" \"color background\" [1 1 1]
Integrator \"path\" \"p\"
Translate 0 0 6
Rotate 30 1 1 0
WorldBegin
Surface \"pbr.rtsl:Lambert\" \"color diffuse\" [1 1 1]
PointsPolygons [4 4 4 4 4 4] [0 1 2 3 4 5 6 7 0 4 5 1 1 5 6 2 2 6 7 3 3 7 4 0] \"P\" [-1 -1 -1 1 -1 -1 1 -1 1 -1 -1 1 -1 1 -1 1 1 -1 1 1 1 -1 1 1]
WorldEnd
";

#[test]
fn white_in_white_light_is_not_seen() {
    let image = image(FURNACE, None, 4, 0);
    for p in &image.rgba {
        assert!(p[..3].iter().all(|x| (x - 1.0).abs() < 1e-5), "{p:?}");
    }
}

#[test]
fn the_square_of_the_error_falls_at_least_as_the_number_of_samples_grows() {
    let text = box_scene();
    let of = |samples: u32| variance(&images(&text, None, samples, 0..6));
    let (few, many) = (of(4), of(36));
    assert!(many < few / 9.0 * 1.3, "{few} with 4 samples, {many} with 36");
}

#[test]
fn both_back_ends_follow_the_same_paths() {
    compared(&repository("assets/rtsl/cornell.rib"), &[]);
}

/// The most by which a channel of these scenes, as displayed, may differ between the back ends on a
/// software driver: twice what was measured on lavapipe, 6.4e-5 of one scene with layers and at most
/// 2e-6 of the others.
const DISPLAYED: &str = "1.5e-4";

/// Both back ends draw a scene, in both ways to run on a GPU.
fn compared(scene: &Path, more: &[&str]) {
    for schedule in ["wavefront", "megakernel"] {
        compared_on(schedule, scene, more);
    }
}

/// Both back ends draw a scene, in one way to run on a GPU.
fn compared_on(schedule: &str, scene: &Path, more: &[&str]) {
    let scene = scene.display().to_string();
    let classes = repository("assets/rtsl").display().to_string();
    let args = ["compare", &scene, "-I", &classes, "--size", "24x24", "--spp", "2", "--schedule", schedule];
    let judge = ["--metric", "max", "--threshold", DISPLAYED];
    let output = shadewright(Path::new("."), &[&args[..], &judge, more].concat());
    assert!(output.status.success(), "{schedule}: {}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
}

/// The success and the output of the program for the furnace with another integrator.
fn said(integrator: &str) -> (bool, String, String) {
    said_with(integrator, &[])
}

/// The same with more options.
fn said_with(integrator: &str, more: &[&str]) -> (bool, String, String) {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    let text = FURNACE.replace("Integrator \"path\" \"p\"", integrator);
    fs::write(folder.path().join("scene.rib"), text).expect("the folder can be written");
    let classes = repository("assets/rtsl").display().to_string();
    let args = ["scene.rib", "-I", &classes, "--backend", "rpu", "--spp", "1", "--render", "out.png", "--strict"];
    let output = shadewright(folder.path(), &[&args[..], more].concat());
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned(), stderr(&output))
}

#[test]
fn other_integrators_draw_and_unknown_ones_are_told() {
    for name in ["whitted", "ao", "normals"] {
        let (drawn, _, said) = said(&format!("Integrator \"{name}\" \"i\""));
        assert!(drawn, "{name}: {said}");
    }
    let (drawn, _, message) = said("Integrator \"bidirectional\" \"i\"");
    assert!(!drawn && message.contains("unknown integrator `bidirectional`"), "{message}");
    assert!(message.contains("scene.rib:4") && message.contains("\"path\""), "{message}");
    let (drawn, _, message) = said("Integrator \"path\" \"i\" \"string estimator\" [\"luck\"]");
    assert!(!drawn && message.contains("there is no estimator `luck`"), "{message}");
}

#[test]
fn integrators_that_show_no_materials_show_none_of_their_light() {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    let drawn = |integrator: &str, surface: &str| {
        let scene = format!(
            "Format 8 8 1\nPixelSamples 1 1\nIntegrator \"{integrator}\" \"i\"\nWorldBegin\n{surface}\nSphere 1 -1 1 360\nTranslate 0 0 1.5\nSphere 1 -1 1 360\nWorldEnd\n"
        );
        fs::write(folder.path().join("scene.rib"), scene).expect("the folder can be written");
        let classes = repository("assets/rtsl").display().to_string();
        let output =
            shadewright(folder.path(), &["scene.rib", "-I", &classes, "--backend", "rpu", "--render", "out.png"]);
        assert!(output.status.success(), "{}", stderr(&output));
        image::open(folder.path().join("out.png")).expect("an image was written").to_rgba8()
    };
    for integrator in ["ao", "normals"] {
        let shining = drawn(integrator, "Surface \"pbr.rtsl:Emitter\" \"color radiance\" [3 5 7]");
        assert_eq!(shining, drawn(integrator, "Surface \"matte\""), "{integrator}");
    }
}

#[test]
fn clamping_is_told_and_takes_light_away() {
    let (_, _, plain) = said("Integrator \"path\" \"p\"");
    let (drawn, _, clamped) = said("Integrator \"path\" \"p\" \"float clamp\" [0.5]");
    assert!(drawn && clamped.contains("held to 0.5") && !plain.contains("held to"), "{clamped}");
    let (drawn, _, off) = said_with("Integrator \"path\" \"p\" \"float clamp\" [0.5]", &["--clamp", "0"]);
    assert!(drawn && !off.contains("held to"), "{off}");
}
