//! Whole renders through the peripheral: image, work and time.

use super::*;
use crate::rays::events::microseconds;
use crate::rays::model::Model;
use crate::rays::ray::RayKind;
use crate::rays::recording::{Subject, Work};
use shadewright_base::text::source::SourceMap;
use shadewright_program::{LinkOptions, link};
use shadewright_render::adaptive::AdaptiveSampler;
use shadewright_render::rpu::{Loaded, RpuProgressive, RpuRenderer};
use shadewright_render::sampling::Sampling;
use shadewright_render::{DEFAULT_BUDGET, Job, Renderer, Window, prepare};
use shadewright_scene::{OpenOptions, Scene, open};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A small image of a scene of the repository.
pub(crate) fn job_of(file: &str, size: [u32; 2]) -> (Scene, Job) {
    let mut sources = SourceMap::new();
    let options = OpenOptions { size: Some((size[0], size[1])), ..OpenOptions::default() };
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(file);
    let scene = open(&path, &options, &mut sources).expect("a scene").scene;
    let options = LinkOptions { shader_paths: vec![path.with_file_name("")], ..LinkOptions::default() };
    let program = link(&scene, sources, &options).expect("its shaders compile");
    let sampling = Sampling { strata: [1, 1], seed: 0 };
    let window = Window::whole(size[0], size[1]);
    let job = prepare(program, &scene, window, sampling, DEFAULT_BUDGET).expect("it fits");
    (scene, job)
}

/// The job's program.
pub(crate) fn loaded(job: &Job) -> Loaded {
    let program = &job.program;
    Loaded::new(&program.module, program.constants.vectors(), program.surface_entries).expect("it compiles")
}

/// The share of pixels that differ by more than one part in a hundred.
pub(crate) fn different(a: &shadewright_image::Image, b: &shadewright_image::Image) -> f64 {
    let far = |(a, b): (&[f32; 4], &[f32; 4])| a.iter().zip(b).any(|(x, y)| (x - y).abs() > 0.01);
    a.rgba.iter().zip(&b.rgba).filter(|&pair| far(pair)).count() as f64 / a.rgba.len() as f64
}

const MIRRORS: &str = "assets/scenes/mirrors.rib";
const CHOICES: [Choice; 5] = [Choice::All, Choice::Grid, Choice::Boxes, Choice::Octree, Choice::Bvh];

#[test]
fn every_structure_finds_the_same_hits_with_less_work_than_none() {
    let (scene, job) = job_of(MIRRORS, [24, 18]);
    let (loaded, model) = (loaded(&job), Model::from_meshes(&scene).expect("it fits"));
    let config = Config::default();
    let run = |choice| {
        simulate(&Subject { job: &job, loaded: &loaded, model: &model, sampler: None }, choice, &config, None, &|_| {})
            .expect("it renders")
    };
    let all = run(Choice::All);
    let polygons = model.polygons.len() as u64;
    let whole = all.recording.rays.iter().filter(|r| r.hit.is_none() || r.request.kind == RayKind::Nearest);
    assert!(whole.map(|r| u64::from(r.work.tests)).all(|tests| tests == polygons), "every polygon for every ray");
    for choice in CHOICES {
        let other = run(choice);
        for (ours, theirs) in other.recording.rays.iter().zip(&all.recording.rays) {
            assert_eq!(ours.request, theirs.request, "{choice:?}");
            match ours.request.kind {
                RayKind::Nearest => assert_eq!(ours.hit, theirs.hit, "{choice:?}: {:?}", ours.request),
                RayKind::Any => assert_eq!(
                    ours.hit.is_some(),
                    theirs.hit.is_some(),
                    "{choice:?}: {:?} {:?} {:?}",
                    ours.request,
                    ours.hit,
                    theirs.hit
                ),
            }
        }
        assert!(other.recording.image == all.recording.image, "{choice:?}");
        if choice != Choice::All {
            assert!(other.totals.tests * 2 < all.totals.tests, "{choice:?}: {:?}", other.totals);
            assert!(other.occupied[0] < all.occupied[0], "{choice:?}");
        }
    }
}

#[test]
fn the_image_is_that_of_the_rpu_but_for_the_arithmetic() {
    let (scene, job) = job_of(MIRRORS, [32, 24]);
    let (loaded, model) = (loaded(&job), Model::from_meshes(&scene).expect("it fits"));
    let expected = RpuRenderer::new().render(&job, &|_| {}).expect("it renders");
    for (unit, most) in [("ieee", 0.004), ("commercial", 0.02), ("custom", 0.02)] {
        let config = Config::parse(&format!("[intersector]\narithmetic = \"{unit}\"")).expect("settings");
        let run = simulate(
            &Subject { job: &job, loaded: &loaded, model: &model, sampler: None },
            Choice::Bvh,
            &config,
            None,
            &|_| {},
        )
        .expect("it renders");
        let share = different(&run.recording.image, &expected);
        assert!(share <= most, "{unit}: {share} of the pixels differ");
    }
}

#[test]
fn a_ray_takes_the_time_that_its_work_gives() {
    let config = Config::default();
    let work = Work { cells: 6, occupied: 2, waits: 2, tests: 9, ..Default::default() };
    let times = RayTimes::new(&config);
    let time = |waits| microseconds(times.service(waits, &work).latency);
    let latency = config.latency();
    assert!((time(Waits::Ray) - (6.0 + 3.0 + latency)).abs() < 1e-5);
    assert!((time(Waits::Cell) - (9.0 + 2.0 * latency)).abs() < 1e-5);
    let free = times.service(Waits::Never, &work);
    assert!((microseconds(free.occupancy) - 9.0).abs() < 1e-5);
    assert!(free.latency > free.occupancy);
}

#[test]
fn a_sweep_of_one_size_repeats_the_simulation() {
    let (scene, job) = job_of(MIRRORS, [16, 12]);
    let (loaded, model) = (loaded(&job), Model::from_meshes(&scene).expect("it fits"));
    let config = Config::parse("[grid]\ncells = 9").expect("settings");
    let run = simulate(
        &Subject { job: &job, loaded: &loaded, model: &model, sampler: None },
        Choice::Grid,
        &config,
        None,
        &|_| {},
    )
    .expect("it renders");
    let points = sweep(&run.recording, &model, &config, &[1, 9]).expect("grids");
    let rays = run.totals.rays() as f64;
    assert!((points[1].tests - run.totals.tests as f64 / rays).abs() < 1e-9);
    assert!((points[1].time[0] - run.occupied[0] / rays).abs() < 1e-6);
    assert!(points[1].tests < points[0].tests && points[1].entered > points[0].entered);
    let text = sweep_report(&points, &run, &model, &config);
    assert_eq!(text.charts.len(), 3);
    assert!(text.text().contains("n_d"));
}

#[test]
fn two_thread_counts_give_the_same_bits() {
    let (scene, job) = job_of(MIRRORS, [20, 20]);
    let (loaded, model) = (loaded(&job), Model::from_meshes(&scene).expect("it fits"));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            simulate(
                &Subject { job: &job, loaded: &loaded, model: &model, sampler: None },
                Choice::Grid,
                &Config::default(),
                None,
                &|_| {},
            )
            .expect("renders")
        })
    };
    let (one, three) = (run(1), run(3));
    assert!(one.recording.image == three.recording.image);
    assert_eq!((one.totals, one.timeline), (three.totals, three.timeline));
}

#[test]
fn the_adaptive_sampler_gives_the_image_that_it_gives_on_the_rpu() {
    let (scene, job) = job_of(MIRRORS, [20, 15]);
    let (loaded, model) = (loaded(&job), Model::from_meshes(&scene).expect("it fits"));
    let sampler = AdaptiveSampler::new(&job, &scene, Default::default()).expect("a sampler");
    let subject = Subject { job: &job, loaded: &loaded, model: &model, sampler: Some(&sampler) };
    let config = Config::parse("[intersector]\narithmetic = \"ieee\"").expect("settings");
    let run = simulate(&subject, Choice::Bvh, &config, None, &|_| {}).expect("it renders");
    let stop = AtomicBool::new(false);
    let mut rpu = RpuProgressive::new(RpuRenderer::new());
    let (expected, statistics) = sampler.draw(&mut rpu, &job, &stop, &|_| {}).expect("it renders");
    let share = different(&run.recording.image, &expected);
    assert!(share < 0.02, "{share} of the pixels differ");
    let samples = run.recording.samples.len() as f64;
    assert!((samples / statistics.samples as f64 - 1.0).abs() < 0.02, "{samples} {statistics:?}");
}

/// Surfaces lie in structures by the bodies around them.
#[test]
fn every_structure_finds_the_same_hits_on_surfaces() {
    let (scene, job) = job_of("assets/rtsl/polygons.rib", [24, 15]);
    let loaded = loaded(&job);
    let model = Model::from_job(&scene, &job, &loaded).expect("it fits");
    assert!(model.surfaces.len() == 9 && model.left_out.is_empty(), "{:?}", model.left_out);
    let subject = Subject { job: &job, loaded: &loaded, model: &model, sampler: None };
    let config = Config::default();
    let run = |choice| simulate(&subject, choice, &config, None, &|_| {}).expect("it renders");
    let all = run(Choice::All);
    assert!(all.totals.quadrics > 0 && all.totals.edges > 0);
    for choice in CHOICES {
        let other = run(choice);
        for (a, b) in all.recording.rays.iter().zip(&other.recording.rays) {
            let is_any = a.request.kind == RayKind::Any;
            assert!(
                a.request == b.request && (a.hit == b.hit || is_any && a.hit.is_some() == b.hit.is_some()),
                "{choice:?}: {a:?} {b:?}"
            );
        }
        assert!(choice == Choice::All || other.totals.slots() < all.totals.slots(), "{choice:?}");
    }
}
