//! Functions and images of programs in IR text, held to the same formulas and the same tree on the
//! CPU.

use super::{Compute, GpuRenderer};
use crate::film::FilmSettings;
use crate::report::KernelTimes;
use crate::sampling::Sampling;
use crate::{Job, RenderError, Renderer, Schedule, Window};
use glam::Vec3;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::{FileId, SourceMap};
use shadewright_bvh::{BuildOptions, Bvh, Ray, Triangle, TwoLevel};
use shadewright_image::Image;
use shadewright_ir::abi::frame::FrameConstants;
use shadewright_ir::{Module, parse};
use shadewright_program::{MemoryImage, Program};
use std::sync::{Arc, LazyLock};

static COMPUTE: LazyLock<Compute> =
    LazyLock::new(|| Compute::new(None).expect("these tests need a GPU adapter; the software driver of Mesa will do"));

fn module(text: &str) -> Module {
    parse(text, FileId(0)).unwrap_or_else(|e| panic!("{e:?}"))
}

/// Runs a function by both schedules, which must agree.
fn run_function(
    compute: &Compute,
    module: &Module,
    name: &str,
    arguments: &[Vec<u32>],
    budget: u32,
) -> Result<Vec<Vec<u32>>, RenderError> {
    let run = |schedule| super::run_function(compute, module, name, arguments, budget, schedule);
    let results = [Schedule::Wavefront, Schedule::Megakernel].map(run);
    assert_eq!(format!("{:?}", results[0]), format!("{:?}", results[1]));
    results.into_iter().next().expect("there are two")
}

#[test]
fn a_function_runs_once_for_each_set_of_arguments() {
    let module = module(
        "
fn f(v0 a: f32, v1 v: vec3) -> (sum: vec3, square: f32) {
b0:
  v2: vec3 = splat v0
  v3: vec3 = add v1, v2
  v4: f32 = mul v0, v0
  ret v3, v4
}
",
    );
    let arguments: Vec<Vec<u32>> = (0..200).map(|i| [i as f32, 1.0, 2.0, 3.0].map(f32::to_bits).to_vec()).collect();
    let results = run_function(&COMPUTE, &module, "f", &arguments, 100).unwrap();
    assert_eq!(results.len(), 200);
    for (i, words) in results.iter().enumerate() {
        let x = i as f32;
        assert_eq!(words, &[x + 1.0, x + 2.0, x + 3.0, x * x].map(f32::to_bits), "run {i}");
    }
}

#[test]
fn a_function_of_no_arguments_runs_as_often_as_asked() {
    let module = module("fn f() -> (r: f32) {\nb0:\n  v0: f32 = const 0.5\n  ret v0\n}\n");
    assert_eq!(run_function(&COMPUTE, &module, "f", &[vec![], vec![]], 1).unwrap(), [[0x3f00_0000], [0x3f00_0000]]);
    assert_eq!(run_function(&COMPUTE, &module, "f", &[], 1).unwrap(), Vec::<Vec<u32>>::new());
}

const ENDLESS: &str = "
fn f(v0 x: f32) -> (r: f32) {
b0:
  jump b1(v0)
b1(v1: f32):
  v2: f32 = add v1, v0
  v3: bool = le v1, v2
  br v3, b1(v2), b2
b2:
  ret v1
}
";

#[test]
fn a_loop_without_end_is_refused() {
    let error = run_function(&COMPUTE, &module(ENDLESS), "f", &[vec![0]], 1000).unwrap_err();
    assert_eq!(error.to_string(), "a shader did not end within 1000 loop iterations and calls");
}

#[test]
fn recursion_without_end_is_refused() {
    let module = module(
        "
fn f(v0 x: f32) -> (r: f32) {
b0:
  v1: f32 = call f(v0)
  v2: f32 = add v0, v1
  ret v2
}
",
    );
    let error = run_function(&COMPUTE, &module, "f", &[vec![0]], 1_000_000).unwrap_err();
    assert!(matches!(error, RenderError::StackOverflow { .. }), "{error}");
}

#[test]
fn wrong_arguments_are_refused() {
    let module = module(ENDLESS);
    let refused =
        |name, arguments: Vec<u32>| run_function(&COMPUTE, &module, name, &[arguments], 1).unwrap_err().to_string();
    let start = "the program cannot be compiled for the GPU: ";
    assert_eq!(refused("g", vec![0]), format!("{start}there is no function g"));
    assert_eq!(refused("f", vec![0, 0]), format!("{start}f takes 1 words of arguments, not 2"));
}

/// Shoots along z; a miss is transparent. The surface is `(u, v, t/16)` and, as long as a second
/// ray along −x+z from the hit point hits too, half of that plus half of what it sees.
const PROGRAM: &str = "
entry(camera) @camera(v0 x: f32, v1 y: f32) -> (color: vec3, alpha: f32) {
b0:
  v2: f32 = const 0
  v3: f32 = const 1
  v4: vec3 = compose v0, v1, v2
  v5: vec3 = compose v2, v2, v3
  v6: vec4 = uniform 0
  trace v4, v5, v6
  v7: vec4 = hit
  v8: f32 = extract.z v7
  v9: bool = lt v8, v2
  br v9, b1, b2
b1:
  v10: vec3 = splat v2
  ret v10, v2
b2:
  v11: vec3, v12: vec3 = call_shader v4, v5, v2
  ret v11, v3
}
entry(surface 0) @surface.0(v0 orig: vec3, v1 dir: vec3, v2 depth: f32) -> (Ci: vec3, Oi: vec3) {
b0:
  v3: vec4 = hit
  v4: f32 = extract.x v3
  v5: f32 = extract.y v3
  v6: f32 = extract.z v3
  v7: f32 = const 0.0625
  v8: f32 = mul v6, v7
  v9: vec3 = compose v4, v5, v8
  v10: f32 = const 1
  v11: vec3 = splat v10
  v12: f32 = const 3
  v13: bool = lt v2, v12
  br v13, b1, b2
b1:
  v14: vec3 = splat v6
  v15: vec3 = mul v1, v14
  v16: vec3 = add v0, v15
  v17: f32 = const 0
  v18: f32 = neg v10
  v19: vec3 = compose v18, v17, v10
  v20: vec4 = uniform 0
  trace v16, v19, v20
  v21: vec4 = hit
  v22: f32 = extract.z v21
  v23: bool = lt v22, v17
  br v23, b2, b3
b2:
  ret v9, v11
b3:
  v24: f32 = add v2, v10
  v25: vec3, v26: vec3 = call_shader v16, v19, v24
  v27: vec3 = add v9, v25
  v28: f32 = const 0.5
  v29: vec3 = splat v28
  v30: vec3 = mul v27, v29
  ret v30, v11
}
entry(imager) @imager(v0 x: f32, v1 y: f32, v2 Ci: vec3, v3 alpha: f32) -> (Ci: vec3, alpha: f32) {
b0:
  v4: f32 = const 100
  v5: bool = lt v0, v4
  br v5, b1, b2
b1:
  ret v2, v3
b2:
  v6: vec3 = compose v0, v1, v3
  v7: f32 = const 0.25
  ret v6, v7
}
";

/// Triangles here and there in front of an image of 150×50 pixels.
fn triangles() -> Vec<Triangle> {
    let mut random = (1..).map(|i: u32| (i.wrapping_mul(0x9e37_79b9) >> 16) as f32 / 65536.0);
    let mut next = |scale: f32| random.next().expect("an endless sequence") * scale;
    (0..300)
        .map(|_| {
            let a = Vec3::new(next(150.0), next(50.0), 1.0 + next(60.0));
            let mut corner = || a + Vec3::new(next(60.0) - 30.0, next(60.0) - 30.0, next(4.0));
            Triangle::new(a, corner(), corner())
        })
        .collect()
}

fn job(has_imager: bool, window: Window, sampling: Sampling) -> Job {
    let triangles = triangles();
    let bvh = Bvh::build(&triangles, &BuildOptions::default()).unwrap();
    let mut vectors = vec![[0; 4], [0; 4], [0, 0, 0, 1], [0; 4]];
    vectors.extend(triangles.iter().map(|_| [0, 0, 0, 2]));
    let constants = FrameConstants { ray_bias: 1.0e-3, ray_end: f32::MAX, max_depth: 4.0, ..FrameConstants::default() };
    let program = Program {
        primitives: Arc::default(),
        module: module(PROGRAM).into(),
        memory: MemoryImage { vectors, triangles: 4, triangle_count: triangles.len() as u32, ..MemoryImage::default() }
            .into(),
        surface_entries: 1,
        has_imager,
        prints: false,
        constants,
        sources: SourceMap::new(),
        diagnostics: Diagnostics::new(),
        instances: Default::default(),
        baking: Default::default(),
        uniform: Default::default(),
        outlines: Default::default(),
        specialize: Default::default(),
        known: Default::default(),
    };
    Job { program, bvh: TwoLevel::from(bvh).into(), window, sampling, film: FilmSettings::default(), budget: 1000 }
}

fn surface(bvh: &Bvh, orig: Vec3, dir: Vec3, depth: u32) -> Option<Vec3> {
    let mut ray = Ray::new(orig, dir);
    (ray.t_min, ray.t_max) = (1.0e-3, f32::MAX);
    let hit = bvh.closest_hit(&ray)?;
    let color = Vec3::new(hit.u, hit.v, hit.t * 0.0625);
    let next = if depth < 3 { surface(bvh, orig + dir * hit.t, Vec3::new(-1.0, 0.0, 1.0), depth + 1) } else { None };
    Some(next.map_or(color, |next| (color + next) * 0.5))
}

/// The image without imager, by the CPU.
fn expected(job: &Job) -> Vec<[f32; 4]> {
    let count = job.sampling.count();
    let pixel = |x, y| {
        let mut sum = [0.0; 4];
        for sample in 0..count {
            let position = job.sampling.sample(&job.film, x, y, sample).raster;
            if let Some(c) = surface(job.bvh.plain(), position.extend(0.0), Vec3::Z, 0) {
                [c.x, c.y, c.z, 1.0].iter().zip(&mut sum).for_each(|(c, sum)| *sum += c);
            }
        }
        sum.map(|c| c / count as f32)
    };
    let Window { x, y, width, height } = job.window;
    (y..y + height).flat_map(|y| (x..x + width).map(move |x| (x, y))).map(|(x, y)| pixel(x, y)).collect()
}

fn render(job: &Job) -> Image {
    GpuRenderer::new(None).unwrap().render(job, &|_| {}).unwrap()
}

/// Fused multiplications may differ in the last bits, and rays that graze an edge may miss it.
fn assert_same(found: &Image, expected: &[[f32; 4]]) {
    assert_eq!(found.rgba.len(), expected.len());
    let is_close = |a: &[f32; 4], b: &[f32; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1.0e-4);
    let wrong = found.rgba.iter().zip(expected).filter(|(a, b)| !is_close(a, b)).count();
    assert!(wrong * 1000 <= expected.len(), "{wrong} of {} pixels", expected.len());
}

#[test]
fn a_image_is_that_of_the_cpu() {
    let job = job(false, Window::whole(150, 50), Sampling { strata: [1, 1], seed: 0 });
    let expected = expected(&job);
    let hits = expected.iter().filter(|p| p[3] > 0.0).count();
    assert!(hits > expected.len() / 4 && hits < expected.len(), "{hits} of {} pixels", expected.len());
    assert_same(&render(&job), &expected);
}

#[test]
fn a_window_of_many_samples_is_that_of_the_cpu() {
    let job = job(false, Window { x: 37, y: 11, width: 50, height: 20 }, Sampling { strata: [3, 2], seed: 5 });
    assert_same(&render(&job), &expected(&job));
}

#[test]
fn the_imager_runs_on_the_means() {
    let job = job(true, Window { x: 90, y: 0, width: 20, height: 20 }, Sampling { strata: [2, 2], seed: 5 });
    let mut expected = expected(&job);
    for (i, pixel) in expected.iter_mut().enumerate() {
        let (x, y) = (90 + i % 20, i / 20);
        if x >= 100 {
            *pixel = [x as f32 + 0.5, y as f32 + 0.5, pixel[3], 0.25];
        }
    }
    assert_same(&render(&job), &expected);
}

#[test]
fn the_megakernel_gives_the_image_of_the_wavefront() {
    let job = job(true, Window::whole(150, 50), Sampling { strata: [2, 2], seed: 3 });
    let by = |schedule| {
        let mut renderer = GpuRenderer::new(None).unwrap();
        renderer.set_schedule(schedule);
        renderer.render(&job, &|_| {}).unwrap()
    };
    let (one, other) = (by(Schedule::Wavefront), by(Schedule::Megakernel));
    assert_same(&one, &other.rgba);
    if !COMPUTE.gpu().is_hardware() {
        // Mesa's software driver fuses nothing.
        let bits = |p: &Image| p.rgba.iter().flatten().map(|c| c.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&one), bits(&other));
    }
}

#[test]
fn two_renders_give_the_same_bits() {
    let job = job(true, Window::whole(150, 50), Sampling { strata: [2, 1], seed: 1 });
    let bits = |p: &Image| p.rgba.iter().flatten().map(|c| c.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&render(&job)), bits(&render(&job)));
}

#[test]
fn progress_grows_to_one() {
    let job = job(true, Window::whole(40, 40), Sampling { strata: [2, 2], seed: 1 });
    let seen = std::sync::Mutex::new(Vec::new());
    let mut renderer = GpuRenderer::new(None).unwrap();
    renderer.render(&job, &|share| seen.lock().unwrap().push(share)).unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(seen.is_sorted() && seen.iter().all(|share| (0.0..=1.0).contains(share)), "{seen:?}");
    assert!(seen.contains(&0.8) && seen.last() == Some(&1.0), "{seen:?}");
    assert_eq!(renderer.stats().executor.waves, 2);
}

#[test]
fn kernels_are_timed_when_asked_for() {
    let job = job(true, Window::whole(40, 40), Sampling { strata: [1, 1], seed: 1 });
    let mut renderer = GpuRenderer::new(None).unwrap();
    renderer.render(&job, &|_| {}).unwrap();
    assert_eq!(renderer.report().kernels, KernelTimes::None);
    renderer.set_profiling(true);
    let image = renderer.render(&job, &|_| {}).unwrap();
    let report = renderer.report();
    let KernelTimes::Measured { kernels, .. } = &report.kernels else { panic!("{report:?}") };
    let sections = renderer.stats().executor.sections as usize;
    assert_eq!(kernels.len(), sections + 3, "{kernels:?}");
    assert!(kernels.iter().any(|kernel| kernel.name == "traversal" && kernel.dispatches > 0), "{kernels:?}");
    assert_eq!(image.rgba, render(&job).rgba);
}

#[test]
fn a_image_after_a_preparation_is_the_same_and_makes_no_pipeline() {
    let job = Arc::new(job(true, Window::whole(150, 50), Sampling { strata: [1, 1], seed: 0 }));
    let mut renderer = GpuRenderer::new(None).unwrap();
    let prepared = renderer.prepare(job.clone()).wait().unwrap();
    assert!(prepared.kernels.made > 0);
    assert_eq!(renderer.render(&job, &|_| {}).unwrap(), render(&job));
    let warm_up = renderer.stats().warm_up;
    assert_eq!((warm_up.kernels.made, warm_up.kernels.found), (0, prepared.kernels.made));
}

#[test]
fn a_preparation_that_is_canceled_does_not_harm_the_image() {
    let job = Arc::new(job(false, Window::whole(40, 40), Sampling { strata: [1, 1], seed: 0 }));
    let mut renderer = GpuRenderer::new(None).unwrap();
    let preparation = renderer.prepare(job.clone());
    preparation.cancel();
    let ended = preparation.wait();
    assert!(matches!(ended, Ok(_) | Err(RenderError::Stopped)), "{ended:?}");
    assert_eq!(renderer.render(&job, &|_| {}).unwrap(), render(&job));
}
