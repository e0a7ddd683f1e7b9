//! The worker threads without a window. All waiting is bounded, generously.

use super::*;
use shadewright_base::text::diagnostics::Severity;
use shadewright_image::Image;
use shadewright_project::{ProjectState, Source, View};
use shadewright_render::report::KernelTimes;
use shadewright_render::rpu::RpuRenderer;
use shadewright_render::sampling::Sampling;
use shadewright_render::{DEFAULT_BUDGET, Renderer};
use shadewright_scene::Format;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long anything may take before a test fails: a loaded machine compiles kernels for minutes.
const PATIENCE: Duration = Duration::from_secs(300);

/// The worker threads, and what a window does with them.
struct BackgroundWorker {
    workers: Workers,
    /// Events that are polled and not looked at, in order.
    events: VecDeque<Event>,
    woken: Arc<(Mutex<bool>, Condvar)>,
}

impl BackgroundWorker {
    fn new(backends: &[Backend]) -> Self {
        Self::with_project(backends, Default::default())
    }

    fn with_project(backends: &[Backend], project: project::ProjectOptions) -> Self {
        let woken: Arc<(Mutex<bool>, Condvar)> = Arc::default();
        let wakes = woken.clone();
        let wake: Wake = Arc::new(move || {
            *wakes.0.lock().unwrap() = true;
            wakes.1.notify_all();
        });
        let options = WorkerOptions { project, adapter: None, budget: DEFAULT_BUDGET, cache: None };
        let workers = Workers::start(options, wake);
        workers.send(Command::Draw(backends.to_vec()));
        Self { workers, events: VecDeque::new(), woken }
    }

    /// The first event of which `find` makes something.
    fn wait_for<T>(&mut self, mut find: impl FnMut(&Event) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            self.events.extend(self.workers.poll());
            while let Some(event) = self.events.pop_front() {
                if let Some(found) = find(&event) {
                    return found;
                }
            }
            let woken = self.woken.0.lock().unwrap();
            let (mut woken, waited) = self.woken.1.wait_timeout_while(woken, PATIENCE, |woken| !*woken).unwrap();
            *woken = false;
            assert!(!waited.timed_out() && start.elapsed() < PATIENCE, "nothing came");
        }
    }

    /// The next state of which `find` finds the event. A rendering thread may be quicker than the
    /// event: images of the state stay.
    fn state(&mut self, find: impl Fn(&Event) -> Option<Arc<ProjectState>>) -> Arc<ProjectState> {
        let mut images = Vec::new();
        let state = self.wait_for(|event| {
            if let Event::Image(shown) = event {
                images.push(shown.clone());
            }
            find(event)
        });
        let images = images.into_iter().rev().filter(|shown| shown.state == state.version);
        images.for_each(|shown| self.events.push_front(Event::Image(shown)));
        state
    }

    fn loaded(&mut self) -> Arc<ProjectState> {
        self.state(|event| match event {
            Event::Loaded(state) => Some(state.clone()),
            Event::Broken(failure) => panic!("{}", failure.render()),
            _ => None,
        })
    }

    /// The first image that is as asked.
    fn image(&mut self, is_it: impl Fn(&Shown) -> bool) -> Arc<Shown> {
        self.wait_for(|event| match event {
            Event::Image(shown) if is_it(shown) => Some(shown.clone()),
            Event::BackendFailed(backend, message) => panic!("{backend:?}: {message}"),
            _ => None,
        })
    }

    fn open_builtin(&mut self, name: &str) -> Arc<ProjectState> {
        self.workers.send(Command::Open(Source::BuiltIn(name.to_string())));
        self.loaded()
    }

    fn look(&self, view: &View) {
        self.workers.send(Command::Look(view.clone()));
    }
}

fn view(state: &ProjectState, width: u32, height: u32) -> View {
    View { format: Format { width, height, pixel_aspect: 1.0 }, ..state.view() }
}

/// Renders a state on the RPU.
fn rendered(state: &ProjectState, view: &View, samples: u32) -> Image {
    let sampling = Sampling { strata: Sampling::strata_of(samples), seed: 0 };
    RpuRenderer::new().render(&state.job(view, sampling, DEFAULT_BUDGET), &|_| {}).unwrap()
}

#[test]
fn a_scene_is_loaded_and_drawn_to_the_last_sample() {
    let mut worker = BackgroundWorker::new(&[Backend::RPU]);
    worker.workers.send(Command::Samples(Some(6)));
    let state = worker.open_builtin("sepia");
    let view = view(&state, 61, 40);
    worker.look(&view);
    let shown = worker.image(Shown::is_finished);
    assert_eq!((shown.backend, shown.state, shown.samples, shown.wanted), (Backend::RPU, state.version, 6, 6));
    assert_eq!(shown.view, view);
    assert!(*shown.image == rendered(&state, &view, 6));
    // More samples continue from what is shown: no coarse image comes again.
    worker.workers.send(Command::Samples(Some(9)));
    let shown = worker.image(|shown| {
        assert_eq!(shown.step, 1);
        shown.is_finished() && shown.wanted == 9
    });
    assert!(*shown.image == rendered(&state, &view, 9));
}

#[test]
fn a_new_view_ends_the_drawing_of_the_old_one() {
    let mut worker = BackgroundWorker::new(&[Backend::RPU]);
    // The old view would take hours.
    worker.workers.send(Command::Samples(Some(1 << 20)));
    let state = worker.open_builtin("sepia");
    worker.look(&view(&state, 640, 480));
    worker.image(|shown| shown.step == 1);
    let mut moved = view(&state, 64, 48);
    moved.camera.world_to_camera.w_axis.x += 0.5;
    worker.look(&moved);
    worker.workers.send(Command::Samples(Some(4)));
    let shown = worker.image(|shown| shown.view == moved && shown.is_finished());
    assert!(*shown.image == rendered(&state, &moved, 4));
    assert_eq!(shown.report.counts.iter().find(|c| c.name == "programs loaded").unwrap().count, 1);
}

#[test]
fn a_thousand_views_at_once_end_with_the_last_one() {
    let mut worker = BackgroundWorker::new(&[Backend::RPU]);
    let state = worker.open_builtin("noise");
    let mut last = view(&state, 96, 64);
    for _ in 0..1000 {
        last.camera.world_to_camera.w_axis.x += 0.001;
        worker.look(&last);
    }
    let shown = worker.image(|shown| shown.view == last && shown.is_finished());
    assert!(*shown.image == rendered(&state, &last, shown.wanted));
}

#[test]
fn the_gpu_draws_when_it_is_ready_and_the_rpu_until_then() {
    let mut worker = BackgroundWorker::new(&[Backend::GPU]);
    let state = worker.open_builtin("sepia");
    let view = view(&state, 61, 40);
    worker.look(&view);
    let by = |backend| move |shown: &Shown| shown.backend == backend && shown.is_finished();
    let (mut gpu, mut rpu, mut was_preparing) = (None, None, false);
    worker.wait_for(|event| {
        match event {
            Event::Preparing { backend: Backend::GPU, .. } => was_preparing = true,
            Event::Image(shown) if by(Backend::GPU)(shown) => gpu = Some(shown.clone()),
            Event::Image(shown) if by(Backend::RPU)(shown) => rpu = Some(shown.clone()),
            Event::BackendFailed(backend, message) => panic!("{backend:?}: {message}"),
            _ => {}
        }
        gpu.is_some().then_some(())
    });
    assert!(was_preparing);
    let (gpu, expected) = (gpu.unwrap(), rendered(&state, &view, gpu_samples(&state)));
    let is_close = |(a, b): (&[f32; 4], &[f32; 4])| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1.0e-3);
    let wrong = gpu.image.rgba.iter().zip(&expected.rgba).filter(|&pair| !is_close(pair)).count();
    assert!(wrong * 100 <= expected.rgba.len(), "{wrong} pixels differ");
    if let Some(rpu) = rpu {
        assert!(*rpu.image == expected);
    }
    worker.workers.send(Command::TimeKernels(true));
    let timed = |shown: &Shown| shown.report.kernels != KernelTimes::None;
    let again = worker.image(|shown| by(Backend::GPU)(shown) && timed(shown));
    assert!(again.image == gpu.image);
}

fn gpu_samples(state: &ProjectState) -> u32 {
    state.scene.pixel_samples.iter().product()
}

/// A scene of one polygon with a shader of its own, in files.
fn write_scene(folder: &Path, shader: &str) {
    let scene = "Format 32 24 1\nProjection \"perspective\"\nTranslate 0 0 2\nWorldBegin\nSurface \"own\"\n\
        Polygon \"P\" [-1 -1 0  1 -1 0  1 1 0  -1 1 0]\nWorldEnd\n";
    std::fs::write(folder.join("scene.rib"), scene).unwrap();
    std::fs::write(folder.join("own.sl"), shader).unwrap();
}

/// The color in the middle of an image.
fn middle(shown: &Shown) -> [f32; 4] {
    let image = &shown.image;
    image.rgba[(image.height / 2 * image.width + image.width / 2) as usize]
}

#[test]
fn a_shader_that_is_saved_broken_is_told_of_and_the_mended_one_drawn() {
    let folder = tempfile::tempdir().unwrap();
    write_scene(folder.path(), "surface own() { Ci = color(1, 0, 0); }");
    let mut worker = BackgroundWorker::new(&[Backend::RPU]);
    worker.workers.send(Command::Open(Source::File(folder.path().join("scene.rib"))));
    let first = worker.loaded();
    worker.look(&first.view());
    assert_eq!(middle(&worker.image(Shown::is_finished)), [1.0, 0.0, 0.0, 1.0]);

    write_scene(folder.path(), "surface own() { Ci = color(0, 1, 0; }");
    let failure = worker.wait_for(|event| match event {
        Event::Broken(failure) => Some(failure.clone()),
        _ => None,
    });
    assert!(failure.diagnostics.iter().any(|d| d.severity == Severity::Error));

    write_scene(folder.path(), "surface own() { Ci = color(0, 1, 0); }");
    // A file may be read while it is written: errors of that moment go by.
    let fixed = worker.state(|event| match event {
        Event::Loaded(state) if state.version > first.version => Some(state.clone()),
        _ => None,
    });
    let shown = worker.image(|shown| shown.state == fixed.version && shown.is_finished());
    assert_eq!(middle(&shown), [0.0, 1.0, 0.0, 1.0]);
}

#[test]
fn a_shader_without_end_is_an_error_with_its_line_until_it_is_mended() {
    let folder = tempfile::tempdir().unwrap();
    write_scene(folder.path(), "surface own() {\n  float x = 1;\n  while (x > 0) x += 1;\n  Ci = x;\n}");
    let mut worker = BackgroundWorker::new(&[Backend::RPU]);
    worker.workers.send(Command::Open(Source::File(folder.path().join("scene.rib"))));
    let state = worker.loaded();
    worker.look(&state.view());
    let message = worker.wait_for(|event| match event {
        Event::BackendFailed(Backend::RPU, message) => Some(message.clone()),
        _ => None,
    });
    assert!(message.contains("own.sl:3") && message.contains("while (x > 0)"), "{message}");
    write_scene(folder.path(), "surface own() { Ci = 1; }");
    worker.workers.send(Command::Reload);
    assert_eq!(middle(&worker.image(Shown::is_finished)), [1.0; 4]);
}

#[test]
fn a_gpu_that_is_not_there_fails_and_the_rpu_draws_in_its_place() {
    let options = WorkerOptions {
        project: Default::default(),
        adapter: Some("no such adapter".to_string()),
        budget: DEFAULT_BUDGET,
        cache: None,
    };
    let mut worker = BackgroundWorker::new(&[]);
    worker.workers = Workers::start(options, worker.workers.outbox.wake());
    worker.workers.send(Command::Draw(vec![Backend::GPU]));
    let state = worker.open_builtin("sepia");
    worker.look(&view(&state, 32, 24));
    let (mut failed, mut drawn) = (0, None);
    worker.wait_for(|event| {
        match event {
            Event::BackendFailed(Backend::GPU, message) => {
                assert!(message.contains("no such adapter"), "{message}");
                failed += 1;
            }
            Event::Image(shown) if shown.is_finished() => drawn = Some(shown.backend),
            _ => {}
        }
        (failed > 0 && drawn == Some(Backend::RPU)).then_some(())
    });
    // It is tried again when the user says so.
    worker.workers.send(Command::Retry(Backend::GPU));
    worker.wait_for(|event| matches!(event, Event::BackendFailed(Backend::GPU, _)).then_some(()));
}

#[test]
fn a_parameter_is_edited_and_a_wrong_one_refused() {
    let mut worker = BackgroundWorker::new(&[Backend::RPU]);
    let state = worker.open_builtin("sepia");
    worker.look(&view(&state, 32, 24));
    worker.image(Shown::is_finished);
    let instance = state.parameters.instances.iter().find(|i| i.params.iter().any(|p| p.name == "Kd")).unwrap().id;
    let set = |value| Command::SetParameter { instance, name: "Kd".to_string(), value: Some(value) };
    worker.workers.send(set(shadewright_scene::ParamValue::Float(vec![0.25])));
    let edited = worker.loaded();
    let shown = worker.image(|shown| shown.state == edited.version && shown.is_finished());
    assert!(*shown.image == rendered(&edited, &view(&edited, 32, 24), shown.wanted));
    worker.workers.send(set(shadewright_scene::ParamValue::String(vec!["much".to_string()])));
    let refused = worker.wait_for(|event| match event {
        Event::Refused(message) => Some(message.clone()),
        _ => None,
    });
    assert!(refused.contains("Kd"), "{refused}");
}

#[test]
fn displaced_surfaces_are_cut_for_the_view_that_is_asked_for() {
    let mut worker = BackgroundWorker::new(&[Backend::RPU]);
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("up.sl", "displacement up() { P += 0.1 * normalize(N); }");
    write(
        "scene.rib",
        "Format 20 20 1 Projection \"perspective\" \"fov\" [40] Translate 0 0 5 WorldBegin \
         Attribute \"displacementbound\" \"float sphere\" [0.1] Displacement \"up\" Sphere 1 -1 1 360 WorldEnd",
    );
    worker.workers.send(Command::Open(Source::File(folder.path().join("scene.rib"))));
    let first = worker.loaded();
    worker.workers.send(Command::CutFor(view(&first, 80, 80)));
    let finer = worker.loaded();
    assert!(first.displaced_triangles > 0 && finer.displaced_triangles > 4 * first.displaced_triangles);
}

#[test]
fn a_pixel_is_looked_into() {
    let mut worker = BackgroundWorker::new(&[Backend::RPU]);
    worker.workers.send(Command::Samples(Some(1)));
    let state = worker.open_builtin("glass");
    let view = view(&state, 40, 30);
    worker.look(&view);
    let shown = worker.image(Shown::is_finished);
    for pixel in [[20, 15], [3, 28]] {
        worker.workers.send(Command::Probe { pixel, sample: 0 });
        let probed = worker.wait_for(|event| match event {
            Event::Probed(probed) => Some(probed.clone()),
            _ => None,
        });
        assert_eq!((probed.pixel, probed.state, &probed.view), (pixel, state.version, &view));
        let probe = probed.result.as_ref().expect("the pixel exists");
        assert_eq!(probe.color, shown.image.rgba[(pixel[1] * 40 + pixel[0]) as usize][..3]);
    }
    worker.workers.send(Command::Probe { pixel: [40, 0], sample: 0 });
    worker.wait_for(|event| matches!(event, Event::Probed(probed) if probed.result.is_err()).then_some(()));
}

#[test]
fn back_ends_are_compared_on_the_samples_of_a_pixel() {
    let mut worker = BackgroundWorker::new(&[]);
    worker.workers.send(Command::Samples(Some(2)));
    let state = worker.open_builtin("mirrors");
    let view = view(&state, 40, 30);
    worker.look(&view);
    let mut diverged = |pixel| {
        worker.workers.send(Command::Diverge(pixel));
        worker.wait_for(|event| match event {
            Event::Diverged(diverged) => Some(diverged.clone()),
            _ => None,
        })
    };
    let found = diverged([20, 15]);
    assert_eq!((found.pixel, found.state, &found.view), ([20, 15], state.version, &view));
    let (divergence, text) = found.result.as_ref().expect("the pixel exists");
    assert_eq!((&divergence.runners[..2], divergence.samples), (&["gpu".to_string(), "rpu".to_string()][..], 2));
    assert_eq!(divergence.evaluator[1], "equal to the evaluator");
    assert!(text.starts_with("pixel 20,15, sample "), "{text}");
    assert!(diverged([40, 0]).result.is_err());
}

#[test]
fn an_engine_that_is_dropped_ends_its_threads() {
    let mut worker = BackgroundWorker::new(&[Backend::RPU]);
    worker.workers.send(Command::Samples(Some(1 << 20)));
    let state = worker.open_builtin("showcase");
    worker.look(&view(&state, 640, 480));
    worker.image(|shown| shown.step == 1);
    let outbox = Arc::downgrade(&worker.workers.outbox);
    drop(worker);
    let start = Instant::now();
    while outbox.strong_count() > 0 {
        assert!(start.elapsed() < PATIENCE, "a thread still has its outbox");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_shader_is_listed_first_and_measured_then() {
    let mut worker = BackgroundWorker::new(&[]);
    let state = worker.open_builtin("sepia");
    worker.look(&state.view());
    let used = |i: &&shadewright_project::Instance| state.program.instances[i.id.0 as usize].is_some();
    let instance = state.parameters.instances.iter().find(used).unwrap().id;
    worker.workers.send(Command::Inspect(instance));
    let mut found = Vec::new();
    worker.wait_for(|event| {
        if let Event::Inspected(inspection) = event {
            found.push(inspection.clone());
        }
        found.iter().any(|inspection| inspection.cost.is_some()).then_some(())
    });
    let last = found.last().unwrap();
    assert!(last.instance == instance && Arc::ptr_eq(&last.code, &state.program.module));
    assert!(last.cost.as_ref().unwrap().is_ok());
}

#[test]
fn a_specialized_program_draws_the_rest_of_an_image() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("test.rib"), crate::model::tests::SPHERE).unwrap();
    let options =
        project::ProjectOptions { specialize: shadewright_program::Specialize::CONSTANTS, ..Default::default() };
    let mut worker = BackgroundWorker::with_project(&[Backend::RPU], options);
    // More than are drawn before the scene counts as at rest.
    worker.workers.send(Command::Samples(Some(1_000_000)));
    worker.workers.send(Command::Open(Source::File(folder.path().join("test.rib"))));
    let state = worker.loaded();
    worker.look(&view(&state, 32, 24));
    let mut general = None;
    worker.wait_for(|event| {
        let Event::Image(shown) = event else { return None };
        if !shown.specialized {
            general = Some(shown.samples);
            return None;
        }
        // It continues from the samples that are there.
        assert!(general.is_some_and(|drawn| shown.samples >= drawn), "{general:?}, {}", shown.samples);
        Some(())
    });
    worker.look(&view(&state, 16, 12));
    worker.workers.send(Command::Samples(Some(4)));
    let shown = worker.image(|shown| shown.view.format.width == 16 && shown.is_finished());
    assert!(shown.specialized && *shown.image == rendered(&state, &shown.view, 4));
}

#[test]
fn a_scene_at_rest_is_drawn_by_a_specialized_program_and_an_edit_by_the_general_one_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("test.rib"), crate::model::tests::SPHERE).unwrap();
    let specialize = shadewright_program::Specialize::CONSTANTS;
    for backend in Backend::INTERACTIVE {
        let options = project::ProjectOptions { specialize, ..Default::default() };
        let mut worker = BackgroundWorker::with_project(&[backend], options);
        worker.workers.send(Command::Samples(Some(1)));
        worker.workers.send(Command::Open(Source::File(folder.path().join("test.rib"))));
        let state = worker.loaded();
        let is_specialized = |version: u64| {
            move |event: &Event| matches!(event, Event::Specialized { state, .. } if *state == version).then_some(())
        };
        worker.wait_for(is_specialized(state.version));
        // A GPU compiles first: some view is the first one that the program draws.
        let mut width = 16;
        let shown = loop {
            worker.look(&view(&state, width, 12));
            let shown = worker.image(|shown| shown.view.format.width == width && shown.is_finished());
            if shown.specialized {
                break shown;
            }
            width += 1;
        };
        let general = rendered(&state, &shown.view, 1);
        let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-4;
        assert!(shown.image.rgba.as_flattened().iter().zip(general.rgba.as_flattened()).all(close));
        // The parameter is a constant of the program that is loaded.
        let instance = state.parameters.instances.iter().find(|i| i.shader == "plastic").unwrap().id;
        let value = Some(shadewright_scene::ParamValue::Float(vec![0.75]));
        worker.workers.send(Command::SetParameter { instance, name: "Ks".to_string(), value });
        let edited = worker.loaded();
        assert!(Arc::ptr_eq(&edited.program.module, &state.program.module), "nothing was compiled");
        let (mut first, mut is_ready) = (None, false);
        worker.wait_for(|event| {
            is_ready |= is_specialized(edited.version)(event).is_some();
            if let Event::Image(shown) = event
                && shown.state == edited.version
                && shown.is_finished()
            {
                first.get_or_insert(shown.clone());
            }
            (is_ready && first.is_some()).then_some(())
        });
        let first = first.unwrap();
        assert!(!first.specialized && *first.image != general);
    }
}
