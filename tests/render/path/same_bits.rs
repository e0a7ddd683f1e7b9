//! Images are the same bits by any number of threads, in pieces, in passes, and where what is there
//! already comes out of a file.

use super::{by_the_program, job};
use shadewright::image::Image;
use shadewright::render::checkpoint;
use shadewright::render::film::Film;
use shadewright::render::gpu::{GpuProgressive, GpuRenderer};
use shadewright::render::progressive::{Pass, Progressive};
use shadewright::render::record::Subject;
use shadewright::render::rpu::{RpuProgressive, RpuRenderer};
use shadewright::render::sampling::{Pattern, Sampling};
use shadewright::render::{Job, Renderer};
use shadewright::scene::OpenOptions;
use std::fs;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// Many kinds of materials, lamps and primitives, in an image whose sides are no multiples of
/// anything.
const ROOM: &str = "Format 23 17 1
Projection \"perspective\" \"fov\" [40]
Integrator \"path\" \"p\" \"int maxPathLength\" [5]
Option \"trace\" \"color background\" [0.1 0.1 0.15]
Translate 0 -1 4
WorldBegin
AttributeBegin
Surface \"pbr.rtsl:Emitter\" \"color radiance\" [9 7 5]
Polygon \"P\" [-0.4 1.98 0.6  0.4 1.98 0.6  0.4 1.98 1.4  -0.4 1.98 1.4]
AttributeEnd
AttributeBegin
Surface \"pbr.rtsl:Emitter\" \"color radiance\" [1 3 6]
Translate 0.6 1.2 0.9
Geometry \"primitives.rtsl:Sphere\" \"float radius\" [0.15]
AttributeEnd
AttributeBegin
Surface \"pbr.rtsl:OrenNayar\" \"color diffuse\" [0.7 0.6 0.5] \"float roughness\" [0.6]
Polygon \"P\" [-1.5 0 -0.5  -1.5 0 2  1.5 0 2  1.5 0 -0.5]
AttributeEnd
AttributeBegin
Shader \"pbr.rtsl:Metal\" \"metal\" \"color reflectance\" [0.9 0.7 0.4] \"float roughness\" [0.3]
Shader \"pbr.rtsl:Lambert\" \"paint\" \"color diffuse\" [0.2 0.5 0.2]
Surface \"pbr.rtsl:Mix\" \"string first\" [\"metal\"] \"string second\" [\"paint\"] \"float weight\" [0.4]
Polygon \"P\" [-1.5 0 2  -1.5 2 2  1.5 2 2  1.5 0 2]
AttributeEnd
AttributeBegin
Surface \"pbr.rtsl:Glass\" \"float ior\" [1.5] \"color absorption\" [1 0.3 0.2]
Translate 0.5 0.45 0.5
Sphere 0.4 -0.4 0.4 360
AttributeEnd
AttributeBegin
Surface \"pbr.rtsl:Conductor\" \"float roughness\" [0.2]
Translate -0.6 0.5 0.9
Rotate 60 1 0 0
Geometry \"primitives.rtsl:Torus\" \"float major\" [0.4] \"float minor\" [0.15]
AttributeEnd
AttributeBegin
Surface \"veil.rtsl:Veil\"
Polygon \"P\" [-1.2 0.2 0.2  -0.4 0.2 0.2  -0.4 1.4 0.2  -1.2 1.4 0.2]
AttributeEnd
WorldEnd
";

/// A material that is there by chance.
const VEIL: &str = "class Veil : rt_Material;
public color diffuse = color(0.6, 0.2, 0.2);
void BSDF() { rt_BSDFValue = diffuse / PI; }
void opacity() { rt_SampleOpacity = color(0.25, 0.25, 0.25); }
";

/// Little code: software drivers take long for much of it.
const CORNER: &str = "Format 13 11 1
Projection \"perspective\" \"fov\" [40]
Integrator \"path\" \"p\" \"int maxPathLength\" [2]
Translate 0 0 4
WorldBegin
AttributeBegin
Surface \"pbr.rtsl:Emitter\" \"color radiance\" [9 7 5]
Polygon \"P\" [-0.4 0.98 -0.4  0.4 0.98 -0.4  0.4 0.98 0.4  -0.4 0.98 0.4]
AttributeEnd
Surface \"pbr.rtsl:Lambert\" \"color diffuse\" [0.7 0.6 0.5]
Polygon \"P\" [-1 -1 -1  -1 -1 1  1 -1 1  1 -1 -1]
Polygon \"P\" [-1 -1 1  -1 1 1  1 1 1  1 -1 1]
WorldEnd
";

fn folder(scene: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    fs::write(folder.path().join("scene.rib"), scene).expect("the folder can be written");
    fs::write(folder.path().join("veil.rtsl"), VEIL).expect("the folder can be written");
    folder
}

/// The bits of an image's pixels in this column and row and those behind, as many as a window of it
/// has.
fn bits(image: &Image, [x, y]: [u32; 2], [width, height]: [u32; 2]) -> Vec<[u32; 4]> {
    let places = (y..y + height).flat_map(|y| (x..x + width).map(move |x| (y * image.width + x) as usize));
    places.map(|place| image.rgba[place].map(f32::to_bits)).collect()
}

#[track_caller]
fn assert_same(what: &str, found: &Image, expected: &Image) {
    let size = [expected.width, expected.height];
    assert_eq!([found.width, found.height], size, "{what}");
    let different = bits(found, [0; 2], size).iter().zip(bits(expected, [0; 2], size)).filter(|(a, b)| *a != b).count();
    assert_eq!(different, 0, "{what}: pixels differ");
}

#[test]
fn threads_change_no_bit_and_seeds_do() {
    let folder = folder(ROOM);
    let by = |more: &[&str]| by_the_program(&folder, &[&["--backend", "rpu", "--spp", "16"], more].concat());
    let one = by(&["--threads", "1"]);
    for threads in ["2", "3"] {
        assert_same(threads, &by(&["--threads", threads]), &one);
    }
    let other = by(&["--seed", "4"]);
    let different = other.rgba.iter().zip(&one.rgba).filter(|(a, b)| a != b).count();
    // Half of the pixels have the background alone.
    assert!(different > one.rgba.len() / 3, "{different} pixels differ by another seed");
}

/// Draws the pieces of an image that lines at a column and a row cut it into.
fn pieces_are_the_whole(scene: &str, backend: &str, [x, y]: [u32; 2]) {
    let folder = folder(scene);
    let with = |more: &[&str]| by_the_program(&folder, &[&["--backend", backend, "--spp", "4"], more].concat());
    let whole = with(&[]);
    let (columns, rows) = ([0, x, whole.width], [0, y, whole.height]);
    for (left, right) in columns.into_iter().zip(columns.into_iter().skip(1)) {
        for (upper, lower) in rows.into_iter().zip(rows.into_iter().skip(1)) {
            let crop = format!("{left},{upper},{right},{lower}");
            let piece = with(&["--crop", &crop]);
            let size = [right - left, lower - upper];
            assert_eq!([piece.width, piece.height], size, "{backend}: {crop}");
            let same = bits(&piece, [0; 2], size) == bits(&whole, [left, upper], size);
            assert!(same, "{backend}: the piece {crop} differs");
        }
    }
}

#[test]
fn pieces_put_together_are_the_whole() {
    pieces_are_the_whole(ROOM, "rpu", [9, 6]);
    pieces_are_the_whole(CORNER, "gpu", [5, 7]);
}

/// A scene's job.
fn job_of(folder: &TempDir, count: u32) -> Job {
    let sampling = Sampling { strata: Sampling::strata_of(count), seed: 3 };
    let mut job = job(&folder.path().join("scene.rib"), &OpenOptions::default(), sampling);
    job.film.pattern = Pattern::Sobol;
    job
}

/// Passes of so many samples.
fn passes(counts: &[u32]) -> Vec<Pass> {
    let mut first = 0;
    let pass = |&count: &u32| {
        first += count;
        Pass { step: 1, first: first - count, count }
    };
    counts.iter().map(pass).collect()
}

/// Draws the samples in passes, all by one back end or the later ones by another, which has those
/// before out of a file.
fn passes_make_the_render(
    job: &Job,
    [drawing, other]: [&mut dyn Progressive; 2],
    renderer: &mut dyn Renderer,
    cuts: &[&[u32]],
) {
    let (size, stop) = ([job.window.width, job.window.height], AtomicBool::new(false));
    let film = || Film::with_samples(size[0], size[1], job.sampling.count()).expect("it is small");
    let whole = renderer.render(job, &|_| {}).expect("it ends");
    let subject = Subject::new(job, 0, "a back end");
    drawing.load(job).expect("it compiles");
    other.load(job).expect("it compiles");
    for counts in cuts {
        assert_eq!(counts.iter().sum::<u32>(), job.sampling.count());
        let (mut drawn, mut resumed) = (film(), film());
        for (number, pass) in passes(counts).into_iter().enumerate() {
            if number > 0 && resumed.pixels().all(|pixel| pixel.weight == 0.0) {
                let bytes = checkpoint::to_bytes(subject, &drawn, pass.first);
                assert_eq!(checkpoint::from_bytes(&bytes, subject, &mut resumed), Ok(pass.first));
            }
            drawing.draw(pass, &mut drawn, &stop).expect("it ends");
            if number > 0 {
                other.draw(pass, &mut resumed, &stop).expect("it ends");
            }
        }
        assert_same(&format!("{counts:?}"), &drawing.finish(&drawn, 1, &stop).expect("it ends"), &whole);
        if counts.len() > 1 {
            assert_same(&format!("{counts:?}, resumed"), &other.finish(&resumed, 1, &stop).expect("it ends"), &whole);
        }
    }
}

#[test]
fn passes_and_what_goes_on_from_a_file_are_one_render() {
    let job = job_of(&folder(ROOM), 20);
    let two: [&mut dyn Progressive; 2] = [
        &mut RpuProgressive::new(RpuRenderer::new()),
        &mut RpuProgressive::new(RpuRenderer::new()).on_own_threads(3).expect("threads"),
    ];
    passes_make_the_render(&job, two, &mut RpuRenderer::new(), &[&[20], &[1, 2, 4, 8, 5], &[7, 13], &[1; 20]]);
}

#[test]
fn passes_of_a_gpu_are_one_render() {
    let job = job_of(&folder(CORNER), 12);
    let gpu = || GpuRenderer::new(None).expect("an adapter");
    let two: [&mut dyn Progressive; 2] = [&mut GpuProgressive::new(gpu()), &mut GpuProgressive::new(gpu())];
    passes_make_the_render(&job, two, &mut gpu(), &[&[12], &[1, 2, 4, 5], &[7, 5]]);
}

#[test]
fn a_render_that_ends_early_is_one_of_fewer_samples() {
    for (scene, backend) in [(ROOM, "rpu"), (CORNER, "gpu")] {
        let folder = folder(scene);
        let with = |more: &[&str]| by_the_program(&folder, &[&["--backend", backend], more].concat());
        let (few, all) = (with(&["--spp", "15"]), with(&["--spp", "40"]));
        assert!(few != all);
        // Any error is good enough: 15 samples are the fewest for an estimate. They are summed in the
        // batches of 40 samples, so sums are rounded otherwise. None is as small as the other.
        let early = with(&["--spp", "40", "--target-error", "1000"]);
        let values = |image: &Image| image.rgba.iter().flatten().copied().collect::<Vec<f32>>();
        let close = |(a, b): (f32, f32)| (a - b).abs() <= 1e-6 * a.abs().max(1e-3);
        assert!(values(&early).into_iter().zip(values(&few)).all(close), "{backend}");
        assert_same(backend, &with(&["--spp", "40", "--target-error", "0"]), &all);
        assert_same(backend, &with(&["--spp", "40", "--resume", "film"]), &all);
    }
}
