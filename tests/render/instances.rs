//! Retained objects, from RIB to images: instances look like the triangles that they stand for, and
//! cost little more than one.

use crate::common::bunny;
use shadewright::bvh::BuildOptions;
use shadewright::image::Image;
use shadewright::program::{LinkOptions, Program, link, memory};
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Job, Renderer, Window, prepare};
use shadewright::scene::{OpenOptions, Opened, Scene, open};
use shadewright::text::source::SourceMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A shader that shows what a surface knows of its place: of the normals, the derivatives and
/// object space.
const SHOW: &str = "surface show(float what = 0;) {
    normal n = normalize(N);
    normal g = normalize(Ng);
    point o = point \"object\" (1, 0.5, 0.25);
    if (what == 0) Ci = Cs * Os * (0.5 + 0.5 * color(xcomp(n), ycomp(n), zcomp(n)));
    else if (what == 1) Ci = 0.5 + 0.5 * color(xcomp(g), ycomp(g), zcomp(g));
    else if (what == 2) Ci = 0.5 + 0.25 * color(xcomp(dPdu), ycomp(dPdu), zcomp(dPdv));
    else Ci = 0.5 + 0.1 * color(xcomp(o), ycomp(o), zcomp(o));
}";

/// Two retained objects, one with colors of its own, and a dozen instances of each.
fn scene_text(what: u32) -> String {
    let beads = "Translate 0.3 0.2 0.1 Sphere 0.5 -0.5 0.5 360 ".repeat(6);
    let mut text = format!(
        "Format 96 72 1\nPixelSamples 1 1\nProjection \"perspective\" \"fov\" [40]\nTranslate 0 0 9\n\
         ObjectBegin 1 Sphere 1 -0.5 1 300 {beads} Translate 0 0 1 Cylinder 0.3 0 1 360 \"constant color Cs\" [1 0.3 0.2] ObjectEnd\n\
         ObjectBegin 2 {beads} Translate -1.8 -1.2 -0.6 Sphere 1 -1 1 360 \"varying color Cs\" [1 0 0 0 1 0 0 0 1 1 1 0] \
         \"varying color Os\" [1 0 0 0 1 0 0 0 1 1 1 0] ObjectEnd\n\
         WorldBegin LightSource \"ambientlight\" 1 Surface \"show\" \"uniform float what\" [{what}]\n\
         Color [0.8 0.7 0.6] Polygon \"P\" [-5 -5 3 5 -5 3 5 5 3 -5 5 3]\n"
    );
    for i in 0..12 {
        let (x, y) = (f64::from(i % 4) * 1.7 - 2.5, f64::from(i / 4) * 1.7 - 1.7);
        let mirror = if i % 2 == 0 { 1.0 } else { -1.0 };
        let sides = 1 + i % 2;
        let color = f64::from(i) / 12.0;
        for object in [1, 2] {
            let z = f64::from(object) - 1.5;
            writeln!(
                text,
                "AttributeBegin Sides {sides} Color [{color} 0.5 0.9] Translate {x} {y} {z} Rotate {} 1 2 3 \
                 Scale {mirror} 0.6 0.4 Scale 0.7 0.7 0.7 ObjectInstance {object} AttributeEnd",
                i * 40 + object * 7
            )
            .expect("a string takes it");
        }
    }
    text + "WorldEnd\n"
}

fn read(folder: &Path, text: &str) -> (Scene, SourceMap) {
    fs::write(folder.join("show.sl"), SHOW).expect("a writable folder");
    let path = folder.join("scene.rib");
    fs::write(&path, text).expect("a writable folder");
    let mut sources = SourceMap::new();
    match open(&path, &OpenOptions::default(), &mut sources) {
        Ok(Opened { scene, .. }) => (scene, sources),
        Err(errors) => panic!("{}", errors.render(&sources)),
    }
}

fn linked(scene: &Scene, sources: SourceMap) -> Program {
    link(scene, sources, &LinkOptions::default()).unwrap_or_else(|e| panic!("{}", e.diagnostics.render(&e.sources)))
}

fn job(scene: &Scene, sources: SourceMap) -> Job {
    let window = Window::whole(scene.format.width, scene.format.height);
    let sampling = Sampling { strata: scene.pixel_samples, seed: 0 };
    prepare(linked(scene, sources), scene, window, sampling, DEFAULT_BUDGET).expect("a small scene")
}

/// Pixels in which two images differ by more than `tolerance`.
fn differences(a: &Image, b: &Image, tolerance: f32) -> usize {
    let is_close = |(a, b): (&[f32; 4], &[f32; 4])| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance);
    a.rgba.iter().zip(&b.rgba).filter(|&pair| !is_close(pair)).count()
}

#[test]
fn instances_look_like_the_triangles_that_they_stand_for() {
    let folder = tempfile::tempdir().expect("a folder");
    for what in 0..4 {
        let (mut scene, sources) = read(folder.path(), &scene_text(what));
        assert!(scene.has_instances());
        let instanced = job(&scene, sources.clone());
        scene.flatten().expect("a small scene");
        let flat = job(&scene, sources);
        assert_eq!(instanced.bvh.primitive_count(), flat.bvh.primitive_count());
        let render = |job: &Job| RpuRenderer::new().render(job, &|_| {}).expect("an image");
        let (a, b) = (render(&instanced), render(&flat));
        // An instance's shading normals are interpolated before they are moved, those written out
        // are moved before: uneven scales part them by up to 0.015. Tangents lie in the plane of
        // the shading normal, and are up to 2π · 0.7 long: a quarter of that is shown.
        let tolerance = if what == 0 || what == 2 { 2e-2 } else { 2e-3 };
        let different = differences(&a, &b, tolerance);
        // A sample at an edge may fall to either side of it; there are 6912 pixels.
        assert!(different < 20, "{different} pixels show different values, of kind {what}");
        let seen = differences(&a, &Image { rgba: vec![a.rgba[0]; a.rgba.len()], ..a.clone() }, tolerance);
        assert!(seen > 1000, "the image is empty");
    }
}

#[test]
fn a_thousand_instances_of_the_stanford_bunny_take_little_more_memory_than_one() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(bunny(), folder.path().join("bunny.ply")).expect("a copy");
    let bytes = |count: usize| {
        let mut text =
            "WorldBegin ObjectBegin 1 ReadArchive \"bunny.ply\" ObjectEnd\n".to_string() + "Surface \"plastic\"\n";
        for i in 0..count {
            let (x, y) = (i % 32, i / 32);
            writeln!(text, "AttributeBegin Translate {x} {y} 0 Rotate {i} 0 1 0 ObjectInstance 1 AttributeEnd")
                .expect("a string takes it");
        }
        let (scene, sources) = read(folder.path(), &(text + "WorldEnd\n"));
        let tree = memory::build_tree(&scene, &BuildOptions::default()).expect("trees");
        assert_eq!(tree.primitive_count(), 69_451 * count as u64);
        tree.bytes() + linked(&scene, sources).memory.bytes()
    };
    let (one, thousand) = (bytes(1), bytes(1000));
    assert!(thousand < 2 * one, "{thousand} bytes, {one} for one");
}
