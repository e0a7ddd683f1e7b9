//! The view of the image, driven by events on hand-made images.

use super::*;
use crate::model::tests::{loaded, shown};
use crate::workers::{Event as WorkerEvent, Probed};
use egui::{Event, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, TouchPhase, pos2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use shadewright_image::Image;
use shadewright_lang::types::SourceType;
use shadewright_project::probe::{Named, Probe, RayKind, RayRecord, Recording, Sample, SurfacePoint, Value};
use shadewright_render::sampling::Sampling;
use std::time::Instant;

/// An image in which every pixel encodes its position: its column and its row in hundredths.
fn image(width: u32, height: u32, blue: f32) -> Image {
    let pixel = |i: u32| [(i % width) as f32 * 0.01, (i / width) as f32 * 0.01, blue, 1.0];
    Image::new(width, height, (0..width * height).map(pixel).collect()).unwrap()
}

/// A model, its view, and what was asked for beside room and display.
struct Fixture {
    model: Model,
    view: ImageView,
    asked: Vec<Action>,
    pointed: Option<Pointed>,
}

/// A window of one view.
struct Window {
    harness: Harness<'static, Fixture>,
    /// The keys that are held.
    held: Modifiers,
}

const CONTROL: Modifiers = Modifiers { ctrl: true, command: true, ..Modifiers::NONE };

impl Window {
    fn open(pixels_per_point: f32) -> Self {
        let stage = Fixture { model: loaded(), view: ImageView::default(), asked: Vec::new(), pointed: None };
        let show = |ui: &mut Ui, stage: &mut Fixture| {
            let mut actions = Vec::new();
            stage.pointed = stage.view.pointed(ui.ctx(), &stage.model);
            stage.view.show(ui, &stage.model, &mut actions);
            for action in actions {
                match action {
                    Action::SetRoom(_) | Action::SetDisplay(_) => stage.model.apply(action),
                    action => stage.asked.push(action),
                }
            }
        };
        let builder = Harness::builder().with_size(vec2(276.0, 216.0)).with_step_dt(1.0 / 60.0);
        let builder = builder.with_pixels_per_point(pixels_per_point);
        let mut window = Self { harness: builder.build_ui_state(show, stage), held: Modifiers::NONE };
        window.harness.step();
        window
    }

    /// One with an image of the RPU's in it, drawn in blocks of `step` pixels.
    fn with_image(step: u32) -> Self {
        let mut window = Self::open(1.0);
        window.draws(Backend::RPU, step, 0.5);
        window
    }

    fn model(&mut self) -> &mut Model {
        &mut self.harness.state_mut().model
    }

    /// Has a back end draw the scene from where the camera is.
    fn draws(&mut self, backend: Backend, step: u32, blue: f32) {
        let gray = shown(self.model(), backend, step);
        let image = Arc::new(image(gray.image.width, gray.image.height, blue));
        let news = Shown { image, wanted: 1, ..(*gray).clone() };
        self.model().handle(WorkerEvent::Image(Arc::new(news)));
        self.harness.step();
    }

    fn compare(&mut self, comparison: Comparison) {
        let display = Display { comparison, ..self.model().display };
        self.model().apply(Action::SetDisplay(display));
        self.harness.step();
    }

    fn placement(&self) -> Placement {
        self.harness.state().view.placement.unwrap()
    }

    /// Takes the actions that were asked for since the last call.
    fn asked(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.harness.state_mut().asked)
    }

    fn hold(&mut self, modifiers: Modifiers) {
        self.held = modifiers;
        self.harness.event(Event::ModifiersChanged(modifiers));
        self.harness.step();
    }

    fn button(&mut self, pos: Pos2, button: PointerButton, pressed: bool) {
        self.harness.event(Event::PointerButton { pos, button, pressed, modifiers: self.held });
        self.harness.step();
    }

    fn drag(&mut self, button: PointerButton, from: Pos2, by: Vec2) {
        self.harness.hover_at(from);
        self.harness.step();
        self.button(from, button, true);
        for part in 1..=4 {
            self.harness.hover_at(from + by * part as f32 / 4.0);
            self.harness.step();
        }
        self.button(from + by, button, false);
    }

    fn click(&mut self, at: Pos2) {
        self.harness.hover_at(at);
        self.harness.step();
        self.button(at, PointerButton::Primary, true);
        self.button(at, PointerButton::Primary, false);
    }

    /// Turns the wheel, and waits until its motion, which is smooth, has ended.
    fn turn_wheel(&mut self, at: Pos2, lines: f32, modifiers: Modifiers) {
        self.harness.hover_at(at);
        self.hold(modifiers);
        let (unit, phase, source) = (MouseWheelUnit::Line, TouchPhase::Move, MouseWheelSource::Wheel);
        self.harness.event(Event::MouseWheel { unit, delta: vec2(0.0, lines), phase, source, modifiers });
        self.harness.run_steps(60);
        self.hold(Modifiers::NONE);
    }

    /// Runs frames until something is so; threads of the view need a while.
    fn until(&mut self, what: &str, is_so: impl Fn(&Harness<'static, Fixture>) -> bool) {
        let start = Instant::now();
        while !is_so(&self.harness) {
            assert!(start.elapsed() < Duration::from_secs(120), "never: {what}");
            std::thread::sleep(Duration::from_millis(1));
            self.harness.step();
        }
    }
}

/// The probe of a sample that hits something at (1, 2, 9).
fn probe(pixel: [u32; 2]) -> Probe {
    let position = Named { name: "P".into(), ty: SourceType::Point, value: Value::Triple([1.0, 2.0, 9.0]) };
    let hit = SurfacePoint {
        object: 0,
        name: "sphere".into(),
        triangle: 0,
        primitive: 0,
        barycentric: [0.0; 2],
        t: 3.0,
        distance: 6.0,
        shader: "plastic".into(),
        parameters: Vec::new(),
        globals: vec![position],
    };
    let ray = RayRecord {
        kind: RayKind::Camera,
        parent: None,
        layer: 0,
        origin: [1.0, 2.0, 3.0],
        direction: [0.0, 0.0, 2.0],
        interval: [0.0, 1e9],
        light: None,
        hit: Some(hit),
        returned: None,
        step: None,
        shader_step: None,
    };
    let sampling = Sampling { strata: [1, 1], seed: 0 };
    Probe {
        sample: Sample { pixel, number: 0, sampling, budget: 1000 },
        raster: [0.0; 2],
        color: [0.0; 3],
        alpha: 1.0,
        imaged: None,
        failure: None,
        rays: vec![ray],
        rays_truncated: false,
        printed: Vec::new(),
        recording: Recording::default(),
    }
}

/// The sum of the ways of some actions.
fn way(actions: &[Action], of: impl Fn(&Action) -> Option<glam::Vec2>) -> glam::Vec2 {
    actions.iter().map(|action| of(action).unwrap_or_else(|| panic!("{action:?}"))).sum()
}

#[test]
fn dragging_turns_about_the_scene_by_shares_of_the_images_height() {
    let mut window = Window::with_image(1);
    let (from, by) = (window.placement().visible().center(), vec2(40.0, 20.0));
    let share = by / window.placement().rect.height();
    window.drag(PointerButton::Primary, from, by);
    let asked = window.asked();
    let orbit = way(&asked, |action| if let Action::Orbit(by) = action { Some(*by) } else { None });
    assert!((orbit - glam::vec2(share.x, share.y)).length() < 1e-3, "{orbit}");
}

#[test]
fn shift_or_the_middle_button_moves_sideways_and_the_right_one_looks_around() {
    let mut window = Window::with_image(1);
    let (from, by) = (window.placement().visible().center(), vec2(40.0, 20.0));
    let is_pan = |action: &Action| if let Action::Pan(by) = action { Some(*by) } else { None };
    window.drag(PointerButton::Middle, from, by);
    let asked = window.asked();
    assert!(way(&asked, is_pan).x > 0.1);
    window.hold(Modifiers::SHIFT);
    window.drag(PointerButton::Primary, from, by);
    let asked = window.asked();
    assert!(way(&asked, is_pan).x > 0.1);
    window.hold(Modifiers::NONE);
    window.drag(PointerButton::Secondary, from, by);
    let asked = window.asked();
    assert!(way(&asked, |action| if let Action::LookAround(by) = action { Some(*by) } else { None }).x > 0.1);
}

#[test]
fn the_wheel_comes_nearer_and_with_ctrl_magnifies_only() {
    let mut window = Window::with_image(1);
    let at = window.placement().visible().center();
    window.turn_wheel(at, 1.0, Modifiers::NONE);
    let asked = window.asked();
    assert!(!asked.is_empty() && asked.iter().all(|action| matches!(action, Action::Dolly(by) if *by > 0.0)));
    assert_eq!(window.placement().scale, 1.0);
    window.turn_wheel(at, 8.0, CONTROL);
    assert_eq!(window.asked(), []);
    assert!(window.placement().scale > 2.0, "{}", window.placement().scale);
    assert!(window.harness.state().view.magnification().is_some_and(|times| times > 2.0));
}

#[test]
fn a_magnified_image_is_moved_by_dragging_with_ctrl_and_fitted_by_a_double_click() {
    let mut window = Window::with_image(1);
    let at = window.placement().visible().center();
    window.turn_wheel(at, 12.0, CONTROL);
    let before = window.placement();
    window.hold(CONTROL);
    window.drag(PointerButton::Primary, at, vec2(30.0, -10.0));
    assert!((window.placement().rect.min - before.rect.min - vec2(30.0, -10.0)).length() <= 2.0);
    window.click(at);
    window.click(at);
    window.hold(Modifiers::NONE);
    assert_eq!(window.placement().scale, 1.0);
    assert_eq!(window.asked(), []);
}

#[test]
fn a_click_picks_the_pixel_it_shows_magnified_or_not_and_of_coarse_images() {
    for step in [1, 4] {
        let mut window = Window::with_image(step);
        for magnified in [false, true] {
            if magnified {
                let at = window.placement().rect.min + vec2(41.5, 23.5);
                window.turn_wheel(at, 12.0, CONTROL);
                assert!(window.placement().scale >= 4.0);
            }
            let [x, y] = window.placement().visible_blocks(1).map(|seen| seen.start + 3);
            let (pixel, at) = ([x, y], window.placement().pixels([x, y], [x + 1, y + 1]).center());
            window.click(at);
            assert_eq!(window.asked(), [Action::Pick(pixel, 0)]);
            window.harness.step();
            let pointed = window.harness.state().pointed.unwrap();
            assert_eq!(pointed.pixel, pixel);
            let block = pixel.map(|x| (x / step) as f32 * 0.01);
            assert_eq!(pointed.values, [None, Some([block[0], block[1], 0.5, 1.0])]);
        }
    }
}

#[test]
fn a_click_on_the_difference_asks_where_it_comes_from() {
    let mut window = Window::with_image(1);
    window.draws(Backend::GPU, 1, 0.25);
    window.compare(Comparison::Difference);
    let placement = window.placement();
    let pixel = placement.pixel_at(placement.visible().center()).unwrap();
    window.click(placement.visible().center());
    assert_eq!(window.asked(), [Action::Pick(pixel, 0), Action::Diverge(pixel)]);
}

#[test]
fn a_double_click_turns_about_what_is_hit_there_once_that_is_known() {
    let mut window = Window::with_image(1);
    let placement = window.placement();
    let pixel = placement.pixel_at(placement.visible().center()).unwrap();
    window.click(placement.visible().center());
    window.click(placement.visible().center());
    // The action was not carried out, so the second click asks again.
    assert_eq!(window.asked(), [Action::Pick(pixel, 0), Action::Pick(pixel, 0)]);
    window.model().apply(Action::Pick(pixel, 0));
    window.harness.step();
    assert_eq!(window.asked(), []);
    let view = window.model().view().unwrap();
    let probed = Probed { pixel, sample: 0, state: 1, view, result: Ok(probe(pixel)) };
    window.model().handle(WorkerEvent::Probed(Arc::new(probed)));
    window.harness.step();
    assert_eq!(window.asked(), [Action::SetPivot(glam::vec3(1.0, 2.0, 9.0))]);
    window.harness.step();
    assert_eq!(window.asked(), []);
}

#[test]
fn a_pixel_of_the_image_is_a_pixel_of_a_dense_screen() {
    let mut window = Window::open(2.0);
    window.draws(Backend::RPU, 1, 0.5);
    let (placement, format) = (window.placement(), window.model().format().unwrap());
    assert!(format.width > 300 || format.height > 300, "{format:?}");
    assert_eq!(placement.rect.size() * 2.0, vec2(format.width as f32, format.height as f32));
}

#[test]
fn images_are_developed_beside_the_window_and_the_latest_is_shown() {
    let mut window = Window::with_image(4);
    for step in [2, 1] {
        window.draws(Backend::RPU, step, 0.25);
    }
    let latest = window.model().shown().unwrap().clone();
    let look = window.model().display.look;
    let shows = |harness: &Harness<'_, Fixture>, look| {
        let shows = harness.state().view.prints[Backend::RPU.index()].shows();
        shows.is_some_and(|(shown, how)| Arc::ptr_eq(shown, &latest) && how == look)
    };
    window.until("the image is developed", |harness| shows(harness, look));
    let look = Look { stops: 1.0, ..look };
    let display = Display { look, ..window.model().display };
    window.model().apply(Action::SetDisplay(display));
    window.until("another exposure is developed", |harness| shows(harness, look));
}

#[test]
fn the_divider_follows_the_pointer_and_does_not_turn_the_camera() {
    let mut window = Window::with_image(1);
    window.draws(Backend::GPU, 1, 0.5);
    window.compare(Comparison::Split);
    assert!(window.harness.query_by_label("GPU").is_some() && window.harness.query_by_label("RPU").is_some());
    let visible = window.placement().visible();
    window.drag(PointerButton::Primary, visible.center(), vec2(0.25 * visible.width(), 10.0));
    assert!((window.model().display.divider - 0.75).abs() < 0.02, "{}", window.model().display.divider);
    assert_eq!(window.asked(), []);
    let divider = pos2(visible.left() + 0.75 * visible.width(), 50.0);
    window.turn_wheel(divider, 1.0, Modifiers::NONE);
    assert!(matches!(window.asked()[..], [Action::Dolly(_), ..]), "the wheel works on the divider, too");
    window.drag(PointerButton::Primary, divider, vec2(999.0, 0.0));
    assert_eq!(window.model().display.divider, 1.0);
}

#[test]
fn both_back_ends_values_are_told_where_both_are_looked_at() {
    let mut window = Window::with_image(1);
    window.draws(Backend::GPU, 2, 0.75);
    window.compare(Comparison::Split);
    let at = window.placement().pixels([21, 11], [22, 12]).center();
    window.harness.hover_at(at);
    window.harness.run_steps(2);
    let pointed = window.harness.state().pointed.unwrap();
    let value = |column: u32, row: u32, blue| Some([column as f32 * 0.01, row as f32 * 0.01, blue, 1.0]);
    assert_eq!(pointed.values, [value(10, 5, 0.75), value(21, 11, 0.5)]);
}

#[test]
fn blinking_shows_one_after_the_other() {
    let mut window = Window::with_image(1);
    window.draws(Backend::GPU, 1, 0.5);
    window.compare(Comparison::Blink);
    let mut seen = [false; 2];
    for _ in 0..600 {
        window.harness.step();
        let labels = Backend::INTERACTIVE.map(|backend| window.harness.query_by_label(backend.title()).is_some());
        assert_ne!(labels[0], labels[1]);
        seen = [seen[0] || labels[0], seen[1] || labels[1]];
    }
    assert_eq!(seen, [true, true]);
}

#[test]
fn the_difference_says_what_it_waits_for_and_then_how_the_images_compare() {
    let mut window = Window::with_image(1);
    window.compare(Comparison::Difference);
    assert!(window.harness.query_by_label("Waiting for the GPU's image…").is_some());
    window.draws(Backend::GPU, 4, 0.5);
    assert!(window.harness.query_by_label("Waiting for the GPU's image in full resolution…").is_some());
    window.draws(Backend::GPU, 1, 0.5);
    let says = |text: &'static str| move |harness: &Harness<'_, Fixture>| harness.query_by_label(text).is_some();
    window.until("the verdict", says("The images agree"));
    assert!(window.harness.query_by_label("FLIP mean").is_some() && window.harness.query_by_label("0.00000").is_some());
    window.draws(Backend::GPU, 1, 0.9);
    window.until("another verdict", says("The images differ"));
    let at = window.placement().visible().center();
    window.harness.hover_at(at);
    window.harness.run_steps(2);
    assert!(window.harness.state().pointed.unwrap().flip.is_some_and(|flip| flip > 0.01));
}

#[test]
fn a_difference_without_one_of_the_back_ends_says_why() {
    let mut window = Window::with_image(1);
    window.compare(Comparison::Difference);
    window.model().handle(WorkerEvent::Preparing { backend: Backend::GPU, done: 0, of: 0 });
    window.harness.step();
    assert!(window.harness.query_by_label("The GPU is compiling…").is_some());
    window.model().handle(WorkerEvent::BackendFailed(Backend::GPU, "no device".into()));
    window.harness.step();
    assert!(window.harness.query_by_label("The GPU cannot render this.").is_some());
}

#[test]
fn a_image_of_the_other_back_end_says_so() {
    let mut window = Window::with_image(1);
    let display = Display { backend: Backend::GPU, ..window.model().display };
    window.model().apply(Action::SetDisplay(display));
    window.model().handle(WorkerEvent::Preparing { backend: Backend::GPU, done: 0, of: 0 });
    window.harness.step();
    assert!(window.harness.query_by_label("GPU: compiling. This is the RPU's image.").is_some());
    window.draws(Backend::GPU, 1, 0.5);
    assert!(window.harness.query_by_label_contains("compiling").is_none());
}

#[test]
fn a_image_that_stays_out_of_date_says_so_after_a_while() {
    let mut window = Window::with_image(1);
    window.model().apply(Action::Orbit(glam::vec2(0.1, 0.0)));
    window.harness.step();
    assert!(window.harness.query_by_label("drawing…").is_none());
    window.harness.run_steps(60);
    assert!(window.harness.query_by_label("drawing…").is_some());
    window.draws(Backend::RPU, 1, 0.5);
    assert!(window.harness.query_by_label("drawing…").is_none());
}
