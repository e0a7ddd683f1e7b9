//! Everything that the interface shows, as plain data, and how the user's actions and the worker
//! threads' events change it.
//!
//! Panels read a [`Model`] and answer with [`Action`]s; [`Model::apply`] performs them; at most it
//! queues [`Command`]s for the worker threads in [`Model::commands`]. [`Model::handle`] processes
//! their events. Nothing here draws, waits or touches files.

use super::array::{ArrayPhase, ArrayRequest, ArrayRun};
use super::camera::{Flight, Navigation};
use super::develop::Look;
use super::timing::History;
use super::workers::{Command, Diverged, Event, Probed, Shown};
use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};
use shadewright_project::inspect::Inspection;
use shadewright_project::{Failure, InstanceId, OptionEdits, ProjectState, Source, View};
use shadewright_render::Backend;
use shadewright_scene::{Format, ParamValue};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How the back ends' images are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Comparison {
    /// The image of the chosen back end.
    #[default]
    Single,
    /// The GPU's left of a divider, the RPU's right of it.
    Split,
    /// The images alternate.
    Blink,
    /// Where they differ, in false colors.
    Difference,
}

impl Comparison {
    /// All of them, in the order of the toolbar.
    pub const ALL: [Comparison; 4] = [Comparison::Single, Comparison::Split, Comparison::Blink, Comparison::Difference];

    /// The name in the toolbar.
    pub fn name(self) -> &'static str {
        match self {
            Comparison::Single => "One",
            Comparison::Split => "Split",
            Comparison::Blink => "Blink",
            Comparison::Difference => "Difference",
        }
    }
}

/// How many pixels are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resolution {
    /// As many as fit the panel, at the scene's aspect ratio.
    #[default]
    Fit,
    /// Half as many in each dimension.
    Half,
    /// The scene's `Format`.
    Scene,
}

impl Resolution {
    /// All of them, in the order of the menu.
    pub const ALL: [Resolution; 3] = [Resolution::Fit, Resolution::Half, Resolution::Scene];

    /// The name in the menu.
    pub fn name(self) -> &'static str {
        match self {
            Resolution::Fit => "Fit the window",
            Resolution::Half => "Half of the window",
            Resolution::Scene => "Size of the scene",
        }
    }
}

/// The smallest and the largest side of an image that follows the window, in pixels.
const SIDES: std::ops::RangeInclusive<f32> = 16.0..=4096.0;

/// How the image is shown; stored in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Display {
    /// The back end whose image is shown alone; `machine` in older settings.
    #[serde(alias = "machine")]
    pub backend: Backend,
    /// The way in which the two images are compared.
    pub comparison: Comparison,
    /// Where the divider of [`Comparison::Split`] is, from 0 to 1.
    pub divider: f32,
    /// The display transform.
    pub look: Look,
    /// How many pixels are drawn.
    pub resolution: Resolution,
}

impl Default for Display {
    fn default() -> Self {
        Self {
            backend: Backend::RPU,
            comparison: Comparison::default(),
            divider: 0.5,
            look: Look::default(),
            resolution: Resolution::default(),
        }
    }
}

/// The state of a back end.
#[derive(Clone, Debug)]
pub struct BackendState {
    /// The back end's latest image.
    pub shown: Option<Arc<Shown>>,
    /// True if it is compiling a program.
    pub preparing: bool,
    /// Kernels compiled, and their total; 0 while unknown.
    pub kernels: [usize; 2],
    /// Why it cannot render.
    pub failure: Option<String>,
    /// Times of its passes.
    pub passes: History,
}

/// Passes and frames whose times are plotted.
const PLOTTED: usize = 240;

impl Default for BackendState {
    fn default() -> Self {
        Self { shown: None, preparing: false, kernels: [0, 0], failure: None, passes: History::with_capacity(PLOTTED) }
    }
}

/// The picked pixel and its probe.
#[derive(Clone, Debug)]
pub struct Picked {
    /// Column and row.
    pub pixel: [u32; 2],
    /// The sample index, from 0.
    pub sample: u32,
    /// Width and height of the image then.
    pub size: [u32; 2],
    /// True if a probe is in progress.
    pub waiting: bool,
    /// The latest probe; a previous pixel's until this one's is complete.
    pub known: Option<Arc<Probed>>,
}

/// Where the back ends differ at a pixel.
#[derive(Clone, Debug, Default)]
pub struct DivergenceModel {
    /// Column and row of the pixel that was asked for.
    pub asked: Option<[u32; 2]>,
    /// The result for the pixel that was asked for last.
    pub found: Option<Arc<Diverged>>,
}

/// The inspected shader.
#[derive(Clone, Debug, Default)]
pub struct Inspected {
    /// The instance of the pending inspection.
    pub asked: Option<InstanceId>,
    /// The latest result; kept until the next.
    pub found: Option<Arc<Inspection>>,
    /// The error, if inspection failed.
    pub failure: Option<String>,
}

/// The simulated ray tracing array.
#[derive(Clone, Debug, Default)]
pub struct ArrayModel {
    /// The pending request.
    pub asked: Option<ArrayRequest>,
    /// The stage that the work on it has reached.
    pub stage: Option<ArrayPhase>,
    /// The latest simulation; kept until the next.
    pub run: Option<Arc<ArrayRun>>,
    /// The error, if the last one failed.
    pub failure: Option<String>,
}

/// A temporary status message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The text.
    pub text: String,
    /// True if something went wrong.
    pub is_error: bool,
}

/// A user action.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Shows a scene.
    Open(Source),
    /// Reloads everything.
    Reload,
    /// Orbits the camera about its pivot, in fractions of the image height.
    Orbit(Vec2),
    /// Looks around.
    LookAround(Vec2),
    /// Moves the camera sideways.
    Pan(Vec2),
    /// Dollies, in notches of the wheel.
    Dolly(f32),
    /// Flies for so many seconds.
    Fly(Flight, f32),
    /// Frames the whole scene.
    FrameAll,
    /// Resets to the scene's camera.
    SceneCamera,
    /// Dices displaced surfaces again for the current view.
    CutForView,
    /// Changes the field of view, in degrees.
    SetFov(f32),
    /// Sets the pivot.
    SetPivot(Vec3),
    /// Changes how the image is shown.
    SetDisplay(Display),
    /// Sets the samples per pixel; `None` for the scene's.
    SetSamples(Option<u32>),
    /// Sets the screen pixels available to the image.
    SetRoom([u32; 2]),
    /// Sets a parameter, or resets it to the scene's value.
    SetParameter(InstanceId, String, Option<ParamValue>),
    /// Sets the scene's options.
    SetOptions(OptionEdits),
    /// Probes a sample of a pixel.
    Pick([u32; 2], u32),
    /// Looks where the back ends differ at a pixel.
    Diverge([u32; 2]),
    /// Clears the picked pixel.
    Unpick,
    /// Lists the compiled forms of an instance's shader, and measures its cost.
    Inspect(InstanceId),
    /// Simulates the ray tracing array.
    Simulate(ArrayRequest),
    /// Retries a failed back end.
    Retry(Backend),
    /// Copies text to the clipboard; the second string is the message to show.
    Copy(String, String),
    /// Writes text into a file.
    SaveText(PathBuf, String),
    /// Writes the image that is shown into a file.
    SaveImage(PathBuf),
    /// Shows a message.
    Notify(Notice),
}

/// The state that the interface shows.
#[derive(Debug)]
pub struct Model {
    /// The requested scene.
    pub source: Source,
    /// The work that keeps the worker threads busy.
    pub busy: Option<String>,
    /// How long the program of the scene took to specialize; `None` while it is not.
    pub specialized_in: Option<Duration>,
    /// The last scene that linked.
    pub state: Option<Arc<ProjectState>>,
    /// Why the current scene cannot be rendered.
    pub failure: Option<Arc<Failure>>,
    /// One for each of [`Backend::INTERACTIVE`], in its order.
    backends: [BackendState; Backend::INTERACTIVE.len()],
    /// How the image is shown.
    pub display: Display,
    /// Samples per pixel set by the user; `None` for the scene's.
    pub samples: Option<u32>,
    /// The pixel that was picked.
    pub picked: Option<Picked>,
    /// Where the back ends differ at a pixel.
    pub divergence: DivergenceModel,
    /// The inspected shader.
    pub inspected: Inspected,
    /// The simulated array.
    pub array: ArrayModel,
    /// Times of the interface's own frames.
    pub frames: History,
    /// Status messages, the latest last.
    pub notices: Vec<Notice>,
    /// Commands for the worker threads.
    pub commands: Vec<Command>,
    navigation: Option<Navigation>,
    /// Screen pixels available to the image.
    room: [u32; 2],
    /// The back ends that were asked to render.
    drawing: Vec<Backend>,
    /// The view last sent to the worker threads.
    sent_view: Option<View>,
    /// The version of the last state of the scene that was shown before this one, 0 when there was
    /// none.
    left: u64,
}

impl Model {
    /// An empty model that requests a scene.
    pub fn new(source: Source, display: Display) -> Self {
        let mut model = Self {
            source: source.clone(),
            busy: None,
            specialized_in: None,
            state: None,
            failure: None,
            backends: Default::default(),
            display,
            samples: None,
            picked: None,
            divergence: DivergenceModel::default(),
            inspected: Inspected::default(),
            array: ArrayModel::default(),
            frames: History::with_capacity(PLOTTED),
            notices: Vec::new(),
            commands: Vec::new(),
            navigation: None,
            room: [0, 0],
            drawing: Vec::new(),
            sent_view: None,
            left: 0,
        };
        model.choose_backends();
        model.apply(Action::Open(source));
        model
    }

    /// A back end.
    pub fn backend(&self, backend: Backend) -> &BackendState {
        &self.backends[backend.index()]
    }

    /// The camera, once a scene is there.
    pub fn navigation(&self) -> Option<&Navigation> {
        self.navigation.as_ref()
    }

    /// Where the scene is seen from, once it is there and the image has a place.
    pub fn view(&self) -> Option<View> {
        let navigation = self.navigation.as_ref()?;
        Some(View { camera: navigation.camera().clone(), format: self.format()? })
    }

    /// Where the pixel that was picked is in the image as it is now: panels that open beside it
    /// change its size.
    pub fn picked_pixel(&self) -> Option<[u32; 2]> {
        let Picked { pixel, size, .. } = self.picked.as_ref()?;
        let format = self.format()?;
        let along = |pixel: u32, then: u32, now: u32| {
            let middle = (f64::from(pixel) + 0.5) / f64::from(then.max(1));
            ((middle * f64::from(now)) as u32).min(now.saturating_sub(1))
        };
        Some([along(pixel[0], size[0], format.width), along(pixel[1], size[1], format.height)])
    }

    /// The image's size.
    pub fn format(&self) -> Option<Format> {
        let own = self.state.as_ref()?.scene.format;
        let scale = match self.display.resolution {
            Resolution::Scene => return Some(own),
            Resolution::Fit => 1.0,
            Resolution::Half => 0.5,
        };
        let [width, height] = self.room.map(|side| side as f32 * scale);
        if width < 1.0 || height < 1.0 {
            return None;
        }
        // As wide or as high as there is room for, in the shape of the scene's image.
        let aspect = own.frame_aspect();
        let wide = width.min(height * aspect);
        let side = |x: f32| x.round().clamp(*SIDES.start(), *SIDES.end()) as u32;
        Some(Format { width: side(wide), height: side(wide / aspect), pixel_aspect: 1.0 })
    }

    /// The shown image: the chosen back end's, or the other's while that has none of this scene.
    pub fn shown(&self) -> Option<&Arc<Shown>> {
        let chosen = self.backend(self.display.backend).shown.as_ref();
        let current = self.state.as_ref().map(|s| s.version);
        let is_current = |shown: &&Arc<Shown>| Some(shown.state) == current;
        let others =
            || Backend::INTERACTIVE.into_iter().filter_map(|m| self.backend(m).shown.as_ref()).find(is_current);
        chosen.filter(is_current).or_else(others).or(chosen)
    }

    /// Performs a user action.
    pub fn apply(&mut self, action: Action) {
        match action {
            Action::Open(source) => {
                self.source = source.clone();
                self.left = self.state.take().map_or(self.left, |state| state.version);
                self.failure = None;
                self.navigation = None;
                self.sent_view = None;
                self.picked = None;
                self.divergence = DivergenceModel::default();
                self.inspected = Inspected::default();
                self.array = ArrayModel::default();
                self.backends.iter_mut().for_each(|m| m.shown = None);
                self.busy = Some("reading the scene".to_string());
                self.commands.push(Command::Open(source));
            }
            Action::Reload => self.commands.push(Command::Reload),
            Action::Orbit(by) => self.navigate(|n, _| n.orbit(by)),
            Action::LookAround(by) => self.navigate(|n, _| n.look(by)),
            Action::Pan(by) => self.navigate(|n, format| n.pan(by, format)),
            Action::Dolly(steps) => self.navigate(|n, format| n.dolly(steps, format)),
            Action::Fly(flight, seconds) => self.navigate(|n, _| n.fly(flight, seconds)),
            Action::FrameAll => self.navigate(|n, format| n.frame_all(format)),
            Action::SceneCamera => self.navigate(|n, _| n.reset()),
            Action::CutForView => {
                let view = self.view().map(Command::CutFor);
                self.commands.extend(view);
            }
            Action::SetFov(degrees) => self.navigate(|n, _| n.set_fov(degrees)),
            Action::SetPivot(point) => self.navigate(|n, _| n.set_pivot(point)),
            Action::SetDisplay(display) => {
                self.display = display;
                self.choose_backends();
                self.send_view();
            }
            Action::SetSamples(samples) => {
                self.samples = samples;
                self.commands.push(Command::Samples(samples));
            }
            Action::SetRoom(room) => {
                self.room = room;
                self.send_view();
            }
            Action::SetParameter(instance, name, value) => {
                self.commands.push(Command::SetParameter { instance, name, value });
            }
            Action::SetOptions(edits) => self.commands.push(Command::SetOptions(edits)),
            Action::Pick(pixel, sample) => {
                let known = self.picked.take().and_then(|p| p.known);
                let size = self.format().map_or([0, 0], |f| [f.width, f.height]);
                self.picked = Some(Picked { pixel, sample, size, waiting: true, known });
                self.commands.push(Command::Probe { pixel, sample });
            }
            Action::Diverge(pixel) => {
                self.divergence = DivergenceModel { asked: Some(pixel), found: None };
                self.commands.push(Command::Diverge(pixel));
            }
            Action::Unpick => {
                self.picked = None;
                if self.divergence.asked.is_some() {
                    self.commands.push(Command::EndDivergence);
                }
                self.divergence = DivergenceModel::default();
            }
            Action::Inspect(instance) => {
                self.inspected.asked = Some(instance);
                self.inspected.failure = None;
                self.commands.push(Command::Inspect(instance));
            }
            Action::Simulate(request) => {
                self.array.asked = Some(request);
                (self.array.stage, self.array.failure) = (None, None);
                self.commands.push(Command::Simulate(request));
            }
            Action::Retry(backend) => {
                self.backends[backend.index()].failure = None;
                self.commands.push(Command::Retry(backend));
            }
            Action::Notify(notice) => self.notices.push(notice),
            // The interface has the clipboard and the files.
            Action::Copy(..) | Action::SaveText(..) | Action::SaveImage(..) => {}
        }
    }

    /// Processes an event.
    pub fn handle(&mut self, event: Event) {
        match event {
            Event::Busy(what) => self.busy = Some(what),
            // An event of a scene that was closed meanwhile.
            Event::Loaded(state) if state.version <= self.left => {}
            Event::Image(shown) if shown.state <= self.left => {}
            Event::Loaded(state) => self.load(state),
            Event::Broken(failure) => {
                self.busy = None;
                self.failure = Some(failure);
            }
            Event::Image(shown) => {
                let backend = &mut self.backends[shown.backend.index()];
                backend.preparing = false;
                backend.failure = None;
                backend.passes.push(shown.pass);
                backend.shown = Some(shown);
            }
            Event::Refused(text) => self.notices.push(Notice { text, is_error: true }),
            Event::Probed(probed) => {
                if let Some(picked) =
                    self.picked.as_mut().filter(|p| (p.pixel, p.sample) == (probed.pixel, probed.sample))
                {
                    picked.waiting = false;
                    picked.known = Some(probed);
                }
            }
            Event::Diverged(diverged) => {
                if self.divergence.asked == Some(diverged.pixel) && self.is_current(diverged.state) {
                    self.divergence.found = Some(diverged);
                }
            }
            Event::Preparing { backend, done, of } => {
                let backend = &mut self.backends[backend.index()];
                backend.preparing = true;
                backend.kernels = [done, of];
            }
            Event::BackendFailed(backend, message) => {
                let failed = &mut self.backends[backend.index()];
                failed.preparing = false;
                failed.failure = Some(message);
            }
            Event::Inspected(inspection) => {
                self.inspected.asked.take_if(|asked| *asked == inspection.instance);
                self.inspected.found = Some(inspection);
            }
            Event::Specialized { state, time } => {
                if self.is_current(state) {
                    self.specialized_in = Some(time);
                }
            }
            Event::Simulating(stage) => self.array.stage = Some(stage),
            Event::Simulated(run) => {
                if self.is_current(run.state) {
                    self.array = ArrayModel { run: Some(run), ..ArrayModel::default() };
                }
            }
            Event::SimulationFailed { state, message } => {
                if self.is_current(state) {
                    (self.array.asked, self.array.stage) = (None, None);
                    self.array.failure = Some(message);
                }
            }
            Event::InspectFailed(message) => {
                self.inspected = Inspected { failure: Some(message), ..Inspected::default() };
            }
        }
    }

    fn is_current(&self, state: u64) -> bool {
        self.state.as_ref().is_some_and(|known| known.version == state)
    }

    fn load(&mut self, state: Arc<ProjectState>) {
        self.busy = None;
        self.specialized_in = None;
        // Errors in files remain after an edit of the last good state.
        if !state.redone.is_edit() {
            self.failure = None;
        }
        let (camera, bounds) = (&state.scene.camera, state.scene.bounds());
        match &mut self.navigation {
            Some(navigation) => navigation.rebase(camera, bounds),
            None => self.navigation = Some(Navigation::new(camera, bounds)),
        }
        self.state = Some(state);
        self.send_view();
        // The probed sample may change with the edit.
        if let (Some(pixel), Some(Picked { sample, .. })) = (self.picked_pixel(), &self.picked) {
            self.apply(Action::Pick(pixel, *sample));
        }
        if let (Some(_), None, Some(pixel)) = (self.divergence.asked, &self.divergence.found, self.picked_pixel()) {
            self.apply(Action::Diverge(pixel));
        }
        // A simulation of the state before is given up.
        if let Some(request) = self.array.asked {
            self.apply(Action::Simulate(request));
        }
    }

    fn navigate(&mut self, change: impl FnOnce(&mut Navigation, Format)) {
        let Some(format) = self.format() else { return };
        if let Some(navigation) = &mut self.navigation {
            change(navigation, format);
            self.send_view();
        }
    }

    /// Sends a new view to the worker threads.
    fn send_view(&mut self) {
        let view = self.view();
        if view.is_some() && view != self.sent_view {
            self.sent_view = view.clone();
            self.commands.extend(view.map(Command::Look));
        }
    }

    /// Sends the set of visible back ends to the worker threads.
    fn choose_backends(&mut self) {
        let wanted = match self.display.comparison {
            Comparison::Single => vec![self.display.backend],
            _ => Backend::INTERACTIVE.to_vec(),
        };
        if wanted != self.drawing {
            self.drawing.clone_from(&wanted);
            self.commands.push(Command::Draw(wanted));
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use shadewright_image::Image;
    use shadewright_project::{self as project, Outcome, Project};
    use shadewright_render::report::Report;
    use std::time::Duration;

    /// A state of a small scene.
    pub fn state(text: &str) -> Arc<ProjectState> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scene.rib");
        std::fs::write(&path, text).unwrap();
        match Project::new(Source::File(path), project::ProjectOptions::default()).refresh() {
            Outcome::Ready(state) => state,
            other => panic!("{other:?}"),
        }
    }

    /// A sphere before a perspective camera.
    pub const SPHERE: &str = r#"
        Format 200 100 1
        Projection "perspective" "fov" [40]
        Translate 0 0 5
        WorldBegin
        LightSource "pointlight" 1 "point from" [0 4 -4] "intensity" [20]
        Color [1 0 0]
        Surface "plastic" "float Ks" [0.25]
        Sphere 1 -1 1 360
        WorldEnd
    "#;

    /// An image of one color.
    pub fn shown(model: &Model, backend: Backend, step: u32) -> Arc<Shown> {
        let view = model.view().unwrap();
        let [width, height] = [view.format.width.div_ceil(step), view.format.height.div_ceil(step)];
        let rgba = vec![[0.5, 0.25, 0.125, 1.0]; (width * height) as usize];
        Arc::new(Shown {
            backend,
            described: "a back end".into(),
            state: model.state.as_ref().unwrap().version,
            specialized: false,
            view,
            image: Arc::new(Image::new(width, height, rgba).unwrap()),
            step,
            samples: 1,
            wanted: 4,
            pass: Duration::from_millis(5),
            since_change: Duration::from_millis(7),
            report: Arc::new(Report::default()),
        })
    }

    /// A model of [`SPHERE`] that has room for its image.
    pub fn loaded() -> Model {
        let mut model = Model::new(Source::BuiltIn("test".into()), Display::default());
        model.apply(Action::SetRoom([400, 400]));
        model.handle(Event::Loaded(state(SPHERE)));
        model
    }

    /// The views that the worker threads get.
    fn views(model: &mut Model) -> Vec<View> {
        let commands = model.commands.drain(..);
        commands.filter_map(|c| if let Command::Look(view) = c { Some(view) } else { None }).collect()
    }

    #[test]
    fn a_new_model_asks_for_its_scene_and_for_the_back_end_that_is_looked_at() {
        let model = Model::new(Source::BuiltIn("glass".into()), Display::default());
        let is_open = |c: &Command| matches!(c, Command::Open(Source::BuiltIn(name)) if name == "glass");
        assert!(model.commands.iter().any(is_open));
        assert!(model.commands.iter().any(|c| matches!(c, Command::Draw(m) if *m == [Backend::RPU])));
        assert!(model.busy.is_some() && model.shown().is_none());
    }

    #[test]
    fn a_image_fills_the_room_in_the_shape_of_the_scenes() {
        let mut model = loaded();
        let size = |model: &Model| model.format().map(|f| (f.width, f.height));
        assert_eq!(size(&model), Some((400, 200)));
        assert_eq!(views(&mut model).len(), 1);
        model.apply(Action::SetRoom([400, 100]));
        assert_eq!(size(&model), Some((200, 100)));
        model.apply(Action::SetDisplay(Display { resolution: Resolution::Half, ..model.display }));
        assert_eq!(size(&model), Some((100, 50)));
        model.apply(Action::SetRoom([100_000, 100_000]));
        model.apply(Action::SetDisplay(Display { resolution: Resolution::Fit, ..model.display }));
        assert_eq!(size(&model), Some((4096, 4096)), "a screen of any size has an image that can be drawn");
        model.apply(Action::SetDisplay(Display { resolution: Resolution::Scene, ..model.display }));
        assert_eq!(size(&model), Some((200, 100)));
    }

    #[test]
    fn the_worker_threads_are_told_of_every_new_view_once() {
        let mut model = loaded();
        views(&mut model);
        model.apply(Action::Orbit(Vec2::new(0.1, 0.0)));
        assert_eq!(views(&mut model).len(), 1);
        model.apply(Action::Orbit(Vec2::ZERO));
        model.apply(Action::SetRoom([400, 400]));
        assert_eq!(views(&mut model).len(), 0);
        model.apply(Action::SceneCamera);
        assert_eq!(views(&mut model), [model.view().unwrap()]);
    }

    #[test]
    fn the_other_back_ends_image_stands_in_until_the_chosen_one_has_drawn_the_scene() {
        let mut model = loaded();
        model.apply(Action::SetDisplay(Display { backend: Backend::GPU, ..model.display }));
        assert!(model.shown().is_none());
        let of_rpu = shown(&model, Backend::RPU, 4);
        model.handle(Event::Image(of_rpu.clone()));
        assert!(Arc::ptr_eq(model.shown().unwrap(), &of_rpu));
        let of_gpu = shown(&model, Backend::GPU, 1);
        model.handle(Event::Image(of_gpu.clone()));
        assert!(Arc::ptr_eq(model.shown().unwrap(), &of_gpu));
    }

    #[test]
    fn a_search_for_a_difference_is_asked_for_again_when_its_scene_is_replaced() {
        let mut model = loaded();
        model.apply(Action::Pick([3, 4], 0));
        model.apply(Action::Diverge([3, 4]));
        let asked = |model: &mut Model| {
            let commands = std::mem::take(&mut model.commands);
            commands.iter().filter(|command| matches!(command, Command::Diverge(_))).count()
        };
        assert_eq!(asked(&mut model), 1);
        let state = model.state.clone().unwrap();
        model.handle(Event::Loaded(state.clone()));
        assert_eq!(asked(&mut model), 1);
        let view = model.view().unwrap();
        let found = |pixel, state| {
            Event::Diverged(Arc::new(Diverged {
                pixel,
                state,
                view: view.clone(),
                result: Err("no device".to_string()),
            }))
        };
        model.handle(found([9, 9], state.version));
        model.handle(found([3, 4], state.version + 1));
        assert!(model.divergence.found.is_none(), "of another pixel, of another scene");
        model.handle(found([3, 4], state.version));
        assert!(model.divergence.found.is_some());
        // What was found stays.
        model.handle(Event::Loaded(state));
        assert_eq!(asked(&mut model), 0);
        model.apply(Action::Unpick);
        assert!(model.divergence.asked.is_none() && model.divergence.found.is_none());
    }

    #[test]
    fn a_broken_scene_keeps_the_last_good_one_and_a_mended_one_clears_the_errors() {
        let mut model = loaded();
        let failure = project::Failure {
            diagnostics: shadewright_base::text::diagnostics::Diagnostic::error("broken").into(),
            sources: shadewright_base::text::source::SourceMap::new(),
        };
        model.handle(Event::Broken(Arc::new(failure)));
        assert!(model.failure.is_some() && model.state.is_some());
        let good = state(SPHERE);
        let mut edited = (*good).clone();
        edited.redone = project::Redone { memory: true, ..Default::default() };
        model.handle(Event::Loaded(Arc::new(edited)));
        assert!(model.failure.is_some(), "an edit fixes no file");
        model.handle(Event::Loaded(good));
        assert!(model.failure.is_none());
    }

    #[test]
    fn another_scene_forgets_all_of_the_first() {
        let mut model = loaded();
        let image = shown(&model, Backend::RPU, 1);
        model.handle(Event::Image(image));
        model.apply(Action::Pick([3, 4], 0));
        let before = model.state.clone().unwrap();
        let late = shown(&model, Backend::GPU, 1);
        model.apply(Action::Open(Source::BuiltIn("glass".into())));
        assert!(model.state.is_none() && model.shown().is_none() && model.navigation().is_none());
        assert!(model.picked.is_none());
        model.handle(Event::Image(late));
        model.handle(Event::Loaded(before));
        assert!(model.state.is_none() && model.shown().is_none(), "late news of the scene before");
    }

    #[test]
    fn a_picked_pixel_is_looked_into_again_when_the_scene_changes_and_answers_to_others_are_ignored() {
        let mut model = loaded();
        let probes = |model: &mut Model| {
            let commands = model.commands.drain(..);
            commands.filter(|c| matches!(c, Command::Probe { pixel: [3, 4], sample: 1 })).count()
        };
        model.apply(Action::Pick([3, 4], 1));
        assert_eq!(probes(&mut model), 1);
        let view = model.view().unwrap();
        let probed =
            |pixel| Arc::new(Probed { pixel, sample: 1, state: 1, view: view.clone(), result: Err("no".into()) });
        model.handle(Event::Probed(probed([9, 9])));
        assert!(model.picked.as_ref().is_some_and(|p| p.waiting && p.known.is_none()));
        model.handle(Event::Probed(probed([3, 4])));
        assert!(model.picked.as_ref().is_some_and(|p| !p.waiting && p.known.is_some()));
        model.handle(Event::Loaded(state(SPHERE)));
        assert_eq!(probes(&mut model), 1);
        assert!(
            model.picked.as_ref().is_some_and(|p| p.waiting && p.known.is_some()),
            "the old answer stays until then"
        );
    }

    #[test]
    fn a_back_end_that_failed_says_why_until_it_draws_again() {
        let mut model = loaded();
        model.handle(Event::BackendFailed(Backend::GPU, "the device was lost".into()));
        assert!(model.backend(Backend::GPU).failure.is_some());
        let image = shown(&model, Backend::GPU, 1);
        model.handle(Event::Image(image));
        assert!(model.backend(Backend::GPU).failure.is_none());
    }

    #[test]
    fn a_simulation_that_the_scene_outruns_is_asked_for_again_and_late_answers_are_ignored() {
        let mut model = loaded();
        let asks = |model: &mut Model| {
            let commands = model.commands.drain(..);
            commands.filter(|c| matches!(c, Command::Simulate(request) if request.side == 4)).count()
        };
        model.apply(Action::Simulate(ArrayRequest { side: 4, ..ArrayRequest::default() }));
        assert_eq!(asks(&mut model), 1);
        let mut next = (*state(SPHERE)).clone();
        next.version += 1;
        let now = next.version;
        model.handle(Event::Loaded(Arc::new(next.clone())));
        assert_eq!(asks(&mut model), 1);
        model.handle(Event::SimulationFailed { state: now - 1, message: "late".into() });
        assert!(model.array.asked.is_some() && model.array.failure.is_none());
        model.handle(Event::SimulationFailed { state: now, message: "too large".into() });
        assert!(model.array.asked.is_none());
        assert_eq!(model.array.failure.as_deref(), Some("too large"));
        model.handle(Event::Loaded(Arc::new(next)));
        assert_eq!(asks(&mut model), 0);
    }

    #[test]
    fn a_picked_pixel_keeps_its_place_when_a_panel_takes_room_from_the_image() {
        let mut model = loaded();
        model.apply(Action::Pick([300, 50], 0));
        assert_eq!(model.picked_pixel(), Some([300, 50]));
        model.apply(Action::SetRoom([200, 400]));
        assert_eq!(model.picked_pixel(), Some([150, 25]));
    }

    #[test]
    fn comparing_draws_on_both_back_ends() {
        let mut model = loaded();
        model.commands.clear();
        model.apply(Action::SetDisplay(Display { comparison: Comparison::Split, ..model.display }));
        assert!(matches!(model.commands.as_slice(), [Command::Draw(backends)] if *backends == Backend::INTERACTIVE));
    }
}
