//! The gallery, `assets/gallery`: shaders written for it, each with a scene of its own that renders
//! alike on both back ends and is worth looking at.
//!
//! `figures` has the figures of the RTSL paper, each by both integrators.
//!
//! `SHADEWRIGHT_BLESS=1 cargo test --test golden gallery::` writes the contact sheets `docs/gallery.png` and
//! `docs/figures.png` and their page `docs/gallery.md` again. The GPU part needs an adapter (Mesa's
//! software driver will do) and fails without one.

mod figures;

use crate::common::repository;
use shadewright::compare;
use shadewright::displace::Displacer;
use shadewright::image::Image;
use shadewright::image::{color, file as image_file};
use shadewright::program::{LinkOptions, link};
use shadewright::render::gpu::GpuRenderer;
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Job, Renderer, Window, prepare};
use shadewright::scene::{OpenOptions, open};
use shadewright::text::source::SourceMap;
use std::fmt::Write;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Images in a row of the contact sheet.
const COLUMNS: usize = 9;
/// The space between two images, in pixels.
const GAP: usize = 4;
/// Kinds of shaders, in the order of the sheet, and how many the gallery has at least.
const KINDS: [(&str, usize); 5] = [("surface", 26), ("light", 6), ("volume", 3), ("displacement", 3), ("imager", 3)];

/// A shader of the gallery.
struct Exhibit {
    name: String,
    /// The kind of shader.
    kind: &'static str,
    /// The shader's first comment, as one line.
    about: String,
}

/// All shaders, by kind and name.
fn exhibits() -> Vec<Exhibit> {
    let folder = fs::read_dir(repository("assets/gallery")).expect("the gallery is part of the repository");
    let paths = folder.map(|e| e.expect("a readable folder").path());
    let mut all: Vec<_> = paths.filter(|p| p.extension().is_some_and(|e| e == "sl")).map(|p| exhibit(&p)).collect();
    let rank = |e: &Exhibit| KINDS.iter().position(|(kind, _)| *kind == e.kind);
    all.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.name.cmp(&b.name)));
    all
}

fn exhibit(path: &Path) -> Exhibit {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let text = fs::read_to_string(path).expect("a readable shader");
    let declares = |kind: &str| text.lines().any(|line| line.starts_with(&format!("{kind} {name}(")));
    let kind = KINDS.iter().map(|(kind, _)| *kind).find(|kind| declares(kind));
    let kind = kind.unwrap_or_else(|| panic!("{name}.sl declares no shader of its name"));
    let comment = text.strip_prefix("/* ").and_then(|rest| rest.split_once("*/"));
    let (comment, _) = comment.unwrap_or_else(|| panic!("{name}.sl begins with no comment"));
    let about = comment.split_whitespace().collect::<Vec<_>>().join(" ");
    let about = about.strip_prefix(&format!("{name}: ")).unwrap_or_else(|| panic!("{name}.sl does not name itself"));
    Exhibit { kind, about: about.to_owned(), name }
}

/// The job of rendering a shader's scene, in a size and with a number of samples in x and y or
/// those of the scene.
fn job(name: &str, size: Option<(u32, u32)>, strata: Option<[u32; 2]>) -> Job {
    job_of(&format!("assets/gallery/{name}.rib"), &OpenOptions { size, ..OpenOptions::default() }, strata)
}

/// The job of rendering a scene of the repository, of which nothing is to be remarked.
fn job_of(name: &str, options: &OpenOptions, strata: Option<[u32; 2]>) -> Job {
    let mut sources = SourceMap::new();
    let opened = open(&repository(name), options, &mut sources)
        .unwrap_or_else(|errors| panic!("{name}: {}", errors.render(&sources)));
    assert!(opened.diagnostics.is_empty(), "{name}: {}", opened.diagnostics.render(&sources));
    let mut scene = opened.scene;
    let displaced = Displacer::default().displace(&mut scene, &mut sources, &LinkOptions::default());
    let displaced = displaced.unwrap_or_else(|errors| panic!("{name}: {}", errors.render(&sources)));
    assert!(displaced.remarks.is_empty(), "{name}: {:?}", displaced.remarks);
    let program = link(&scene, sources, &LinkOptions::default());
    let program = program.unwrap_or_else(|e| panic!("{name}: {}", e.diagnostics.render(&e.sources)));
    assert!(program.diagnostics.is_empty(), "{name}: {}", program.diagnostics.render(&program.sources));
    let sampling = Sampling { strata: strata.unwrap_or(scene.pixel_samples), seed: 0 };
    let window = Window::whole(scene.format.width, scene.format.height);
    prepare(program, &scene, window, sampling, DEFAULT_BUDGET).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Calls `work` for everything shown, on as many threads as there are cores; each thread makes its
/// own `tools`.
fn for_all<E: Sync, T, R: Send>(
    exhibits: &[E],
    tools: impl Fn() -> T + Sync,
    work: impl Fn(&mut T, &E) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZeroUsize::get) {
            scope.spawn(|| {
                let mut tools = tools();
                while let Some((i, exhibit)) = exhibits.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(&mut tools, exhibit);
                    results.lock().unwrap().push((i, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The mean and the standard deviation of the lumas in the middle half of an image, as 8-bit files
/// encode them, 0 to 1.
fn middle(image: &Image) -> (f32, f32) {
    let (width, height) = (image.width as usize, image.height as usize);
    let inside = |i: &usize| (i % width * 4 / width, i / width * 4 / height);
    let luma = |[r, g, b, _]: [f32; 4]| color::encode_srgb((0.2126 * r + 0.7152 * g + 0.0722 * b).clamp(0.0, 1.0));
    let places = (0..width * height).filter(|i| matches!(inside(i), (1 | 2, 1 | 2)));
    let lumas: Vec<f32> = places.map(|i| luma(image.rgba[i])).collect();
    let mean = lumas.iter().sum::<f32>() / lumas.len() as f32;
    let variance = lumas.iter().map(|l| (l - mean) * (l - mean)).sum::<f32>() / lumas.len() as f32;
    (mean, variance.sqrt())
}

#[test]
fn the_gallery_has_forty_shaders_of_every_kind_each_with_a_scene() {
    let exhibits = exhibits();
    assert!(exhibits.len() >= 40, "{} shaders", exhibits.len());
    for (kind, least) in KINDS {
        let count = exhibits.iter().filter(|e| e.kind == kind).count();
        assert!(count >= least, "{count} shaders of the kind {kind}");
    }
    for entry in fs::read_dir(repository("assets/gallery")).unwrap() {
        let path = entry.unwrap().path();
        let partner = match path.extension().and_then(|e| e.to_str()) {
            Some("sl") => "rib",
            Some("rib") => "sl",
            _ => continue,
        };
        assert!(path.with_extension(partner).exists(), "{} has no .{partner}", path.display());
    }
}

/// The most by which a channel of a scene, as displayed, may differ between the back ends on a software
/// driver: twice what was measured on lavapipe, 6.0e-6 of `brick` and less of the others. The normals
/// of two scenes come from differences of neighboring positions, which amplify rounding: 9.1e-3 of
/// `dents`, 6.8e-4 of `fractalglass`.
fn bound(name: &str) -> f64 {
    match name {
        "dents" => 2e-2,
        "fractalglass" => 1.5e-3,
        _ => 1.2e-5,
    }
}

/// Describes the faults of a scene: back ends that differ by more than the bound on a software
/// driver, or next to nothing to be seen.
fn faults(name: &str, job: &Job, gpu: &mut GpuRenderer, (metric, bound): (compare::Metric, f64)) -> String {
    let on_rpu = RpuRenderer::new().render(job, &|_| ()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let on_gpu = gpu.render(job, &|_| ()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let report = compare::compare(&on_rpu, &on_gpu).unwrap_or_else(|e| panic!("{name}: {e}"));
    let verdict = match gpu.adapter().is_some_and(|adapter| adapter.kind == "software") {
        true => metric.judge(&report, bound),
        false => compare::Tolerance::default().judge(&report),
    };
    let (mean, spread) = middle(&on_rpu);
    let shows = mean > 0.06 && mean < 0.94 && spread > 0.03;
    let mut wrong = String::new();
    if !verdict.passed {
        writeln!(wrong, "{name}: the back ends differ\n{report}{verdict}").unwrap();
    }
    if !shows {
        writeln!(wrong, "{name}: next to nothing is to be seen: lumas {mean} ± {spread}").unwrap();
    }
    wrong
}

fn adapter() -> GpuRenderer {
    GpuRenderer::new(None).expect("an adapter")
}

#[test]
fn every_scene_of_the_gallery_shows_something_and_is_one_image_on_both_back_ends() {
    let wrong = for_all(&exhibits(), adapter, |gpu, Exhibit { name, .. }| {
        faults(name, &job(name, Some((48, 36)), Some([1, 1])), gpu, (compare::Metric::Max, bound(name)))
    });
    assert!(wrong.iter().all(String::is_empty), "{}", wrong.concat());
}

/// `assets/pfman`: the shaders of its language, alone and beside those of the others.
#[test]
fn every_scene_in_pfman_shows_something_and_is_one_image_on_both_back_ends() {
    let folder = fs::read_dir(repository("assets/pfman")).expect("it is part of the repository");
    let paths = folder.map(|e| e.expect("a readable folder").path());
    let scenes = paths.filter(|p| p.extension().is_some_and(|e| e == "rib"));
    let names: Vec<String> = scenes.map(|p| format!("assets/pfman/{}", p.file_name().unwrap().display())).collect();
    assert!(names.len() >= 6, "{names:?}");
    let options = OpenOptions { size: Some((48, 36)), ..OpenOptions::default() };
    let wrong = for_all(&names, adapter, |gpu, name| {
        faults(name, &job_of(name, &options, Some([1, 1])), gpu, (compare::Metric::Max, bound(name)))
    });
    assert!(wrong.iter().all(String::is_empty), "{}", wrong.concat());
}

/// The text of `docs/gallery.md`.
fn page(exhibits: &[Exhibit]) -> String {
    let mut page = String::from(
        "# The gallery\n\n\
        Shaders to start from, in [assets/gallery](../assets/gallery), each with its own scene.\n\
        `shadewright assets/gallery/oak.rib` opens one in the window, whose panel changes its parameters.\n\
        The stage that most scenes share is in `assets/gallery/stage`.\n\n\
        ![All scenes of the gallery, in the order of the table](gallery.png)\n\n",
    );
    writeln!(
        page,
        "In reading order, {COLUMNS} in a row:\n\n| row | shader | kind | what it shows |\n|---|---|---|---|"
    )
    .unwrap();
    for (i, Exhibit { name, kind, about }) in exhibits.iter().enumerate() {
        let place = format!("{}.{}", i / COLUMNS + 1, i % COLUMNS + 1);
        writeln!(page, "| {place} | [{name}](../assets/gallery/{name}.sl) | {kind} | {about} |").unwrap();
    }
    page + &figures::section()
}

/// A sheet of images of one size.
struct Sheet {
    columns: usize,
    tile: (usize, usize),
}

impl Sheet {
    /// The size of the sheet in pixels.
    fn size(&self, images: usize) -> (usize, usize) {
        let Self { columns, tile } = self;
        (columns * (tile.0 + GAP) + GAP, images.div_ceil(*columns) * (tile.1 + GAP) + GAP)
    }

    /// The images in reading order.
    fn compose(&self, images: &[Image]) -> Image {
        let Self { columns, tile } = self;
        let (width, height) = self.size(images.len());
        let mut rgba = vec![[1.0, 1.0, 1.0, 1.0]; width * height];
        for (i, image) in images.iter().enumerate() {
            assert_eq!((image.width as usize, image.height as usize), *tile, "image {i}");
            let (left, top) = (GAP + i % columns * (tile.0 + GAP), GAP + i / columns * (tile.1 + GAP));
            for (y, row) in image.rgba.chunks_exact(tile.0).enumerate() {
                let start = (top + y) * width + left;
                rgba[start..start + tile.0].copy_from_slice(row);
            }
        }
        Image::new(width as u32, height as u32, rgba).expect("a small sheet")
    }

    /// Holds the file to a number of images, for what a repository may hold.
    fn check(&self, path: &Path, images: usize) {
        let sheet = image_file::read(path).unwrap();
        assert_eq!((sheet.width as usize, sheet.height as usize), self.size(images));
        assert!(fs::metadata(path).unwrap().len() <= 1 << 20, "{} is larger than 1 MiB", path.display());
    }
}

const SHEET: Sheet = Sheet { columns: COLUMNS, tile: (128, 96) };

/// All scenes on one sheet.
fn sheet(exhibits: &[Exhibit]) -> Image {
    SHEET.compose(&for_all(exhibits, RpuRenderer::new, |rpu, Exhibit { name, .. }| {
        rpu.render(&job(name, None, None), &|_| ()).unwrap_or_else(|e| panic!("{name}: {e}"))
    }))
}

#[test]
fn the_contact_sheet_shows_every_shader_of_the_gallery() {
    let exhibits = exhibits();
    let (page_path, sheet_path) = (repository("docs/gallery.md"), repository("docs/gallery.png"));
    if std::env::var_os("SHADEWRIGHT_BLESS").is_some() {
        image_file::write(&sheet_path, &sheet(&exhibits)).unwrap();
        fs::write(&page_path, page(&exhibits)).unwrap();
    }
    assert_eq!(fs::read_to_string(&page_path).unwrap(), page(&exhibits));
    SHEET.check(&sheet_path, exhibits.len());
}
