//! Everything that the interface shows, as plain data, and how the user's actions and the worker threads' news change it.
//!
//! Panels read a [`Model`] and answer with [`Action`]s; [`Model::apply`] carries them out, which at most puts [`Command`]s for the worker threads into [`Model::commands`].
//! [`Model::hear`] takes their news. Nothing here draws, waits or touches files.

use super::camera::{Flight, Navigation};
use super::develop::Look;
use super::engine::{Command, Event, Machine, Shown};
use super::timing::History;
use crate::probe::Probe;
use crate::project::{Failure, InstanceId, OptionEdits, Source, State, View};
use crate::scene::{Format, ParamValue};
use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// How the machines' pictures are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Comparison {
    /// The picture of the chosen machine.
    #[default]
    Single,
    /// The GPU's left of a divider, the RPU's right of it.
    Split,
    /// One after the other.
    Blink,
    /// Where they differ, in false colours.
    Difference,
}

impl Comparison {
    /// All of them, in the order of the toolbar.
    pub const ALL: [Comparison; 4] = [Comparison::Single, Comparison::Split, Comparison::Blink, Comparison::Difference];

    /// Its name.
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
    /// As many as fit the panel, in the scene's shape.
    #[default]
    Fit,
    /// Half as many each way.
    Half,
    /// The scene's `Format`.
    Scene,
}

impl Resolution {
    /// All of them, in the order of the menu.
    pub const ALL: [Resolution; 3] = [Resolution::Fit, Resolution::Half, Resolution::Scene];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Resolution::Fit => "Fit the window",
            Resolution::Half => "Half of the window",
            Resolution::Scene => "Size of the scene",
        }
    }
}

/// The smallest and the largest side of a picture that follows the window, in pixels.
const SIDES: std::ops::RangeInclusive<f32> = 16.0..=4096.0;

/// How the picture is shown. It is remembered from one day to the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Display {
    /// Whose picture is looked at alone.
    pub machine: Machine,
    /// What is shown of the two.
    pub comparison: Comparison,
    /// Where the divider of [`Comparison::Split`] is, from 0 to 1.
    pub divider: f32,
    /// How light becomes codes.
    pub look: Look,
    /// How many pixels are drawn.
    pub resolution: Resolution,
}

impl Default for Display {
    fn default() -> Self {
        Self {
            machine: Machine::Rpu,
            comparison: Comparison::default(),
            divider: 0.5,
            look: Look::default(),
            resolution: Resolution::default(),
        }
    }
}

/// How a machine is doing.
#[derive(Clone, Debug)]
pub struct MachineModel {
    /// Its latest picture.
    pub shown: Option<Arc<Shown>>,
    /// Whether it is getting ready for a program.
    pub preparing: bool,
    /// Why it cannot draw.
    pub failure: Option<String>,
    /// Times of its passes.
    pub passes: History,
}

/// Passes and frames whose times are plotted.
const PLOTTED: usize = 240;

impl Default for MachineModel {
    fn default() -> Self {
        Self { shown: None, preparing: false, failure: None, passes: History::of(PLOTTED) }
    }
}

/// What is known of the pixel that was picked.
#[derive(Clone, Debug, Default)]
pub enum Picked {
    /// None was.
    #[default]
    Nothing,
    /// It is being looked into.
    Asked {
        /// Column and row.
        pixel: [u32; 2],
    },
    /// What it is made of.
    Found(Arc<Probe>),
    /// Why that is not known.
    Failed(String),
}

/// A line that tells what was done, for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The text.
    pub text: String,
    /// Whether something went wrong.
    pub is_error: bool,
}

/// Something the user asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Shows a scene.
    Open(Source),
    /// Reads everything again.
    Reload,
    /// Turns the camera about its pivot, in shares of the picture's height.
    Orbit(Vec2),
    /// Looks around.
    LookAround(Vec2),
    /// Moves the camera sideways.
    Pan(Vec2),
    /// Comes nearer, in notches of the wheel.
    Dolly(f32),
    /// Flies for so many seconds.
    Fly(Flight, f32),
    /// Shows all of the scene.
    FrameAll,
    /// Looks through the scene's camera.
    SceneCamera,
    /// Changes the field of view, in degrees.
    SetFov(f32),
    /// Turns about this point from now on.
    SetPivot(Vec3),
    /// Changes how the picture is shown.
    SetDisplay(Display),
    /// Takes so many samples a pixel; `None` as many as the scene asks for.
    SetSamples(Option<u32>),
    /// The picture has so many pixels of the screen to fill.
    SetRoom([u32; 2]),
    /// Gives a parameter a value, or the scene's again.
    SetParameter(InstanceId, String, Option<ParamValue>),
    /// Gives the scene's options these values.
    SetOptions(OptionEdits),
    /// Looks into a sample of a pixel.
    Pick([u32; 2], u32),
    /// Forgets the pixel that was looked into.
    Unpick,
    /// Tries a machine again.
    Retry(Machine),
    /// Puts text on the clipboard; the second is what to tell the user.
    Copy(String, String),
    /// Writes text into a file.
    SaveText(PathBuf, String),
    /// Writes the picture that is shown into a file.
    SavePicture(PathBuf),
    /// Tells the user something.
    Tell(Notice),
}

/// What the interface shows.
#[derive(Debug)]
pub struct Model {
    /// What was asked to be shown.
    pub source: Source,
    /// What the worker threads are reading, compiling or building.
    pub busy: Option<String>,
    /// The last scene that could be drawn.
    pub state: Option<Arc<State>>,
    /// Why the scene as it is now cannot be drawn.
    pub failure: Option<Arc<Failure>>,
    /// The GPU and the RPU, in the order of [`Machine::ALL`].
    machines: [MachineModel; 2],
    /// How the picture is shown.
    pub display: Display,
    /// Samples a pixel that the user wants instead of the scene's.
    pub samples: Option<u32>,
    /// The pixel that was picked.
    pub picked: Picked,
    /// Times of the interface's own frames.
    pub frames: History,
    /// What to tell the user, the latest last.
    pub notices: Vec<Notice>,
    /// What to tell the worker threads.
    pub commands: Vec<Command>,
    navigation: Option<Navigation>,
    /// Pixels of the screen that the picture may fill.
    room: [u32; 2],
    /// The machines that were told to draw.
    drawing: Vec<Machine>,
    /// The view that the worker threads were told of.
    told: Option<View>,
}

impl Model {
    /// A model that shows nothing yet and asks for a scene.
    pub fn new(source: Source, display: Display) -> Self {
        let mut model = Self {
            source: source.clone(),
            busy: None,
            state: None,
            failure: None,
            machines: Default::default(),
            display,
            samples: None,
            picked: Picked::default(),
            frames: History::of(PLOTTED),
            notices: Vec::new(),
            commands: Vec::new(),
            navigation: None,
            room: [0, 0],
            drawing: Vec::new(),
            told: None,
        };
        model.choose_machines();
        model.apply(Action::Open(source));
        model
    }

    /// A machine.
    pub fn machine(&self, machine: Machine) -> &MachineModel {
        &self.machines[machine as usize]
    }

    /// The camera, once a scene is there.
    pub fn navigation(&self) -> Option<&Navigation> {
        self.navigation.as_ref()
    }

    /// Where the scene is seen from, once it is there and the picture has a place.
    pub fn view(&self) -> Option<View> {
        let navigation = self.navigation.as_ref()?;
        Some(View { camera: navigation.camera().clone(), format: self.format()? })
    }

    /// The picture's size.
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
        // As wide or as high as there is room for, in the shape of the scene's picture.
        let aspect = own.frame_aspect();
        let wide = width.min(height * aspect);
        let side = |x: f32| x.round().clamp(*SIDES.start(), *SIDES.end()) as u32;
        Some(Format { width: side(wide), height: side(wide / aspect), pixel_aspect: 1.0 })
    }

    /// The picture that is looked at: the chosen machine's, or while it has none of this scene, the other's.
    pub fn shown(&self) -> Option<&Arc<Shown>> {
        let chosen = self.machine(self.display.machine).shown.as_ref();
        let current = self.state.as_ref().map(|s| s.version);
        let is_current = |shown: &&Arc<Shown>| Some(shown.state) == current;
        let others = || Machine::ALL.into_iter().filter_map(|m| self.machine(m).shown.as_ref()).find(is_current);
        chosen.filter(is_current).or_else(others).or(chosen)
    }

    /// Does what the user asks for.
    pub fn apply(&mut self, action: Action) {
        match action {
            Action::Open(source) => {
                self.source = source.clone();
                self.state = None;
                self.failure = None;
                self.navigation = None;
                self.told = None;
                self.picked = Picked::Nothing;
                self.machines.iter_mut().for_each(|m| m.shown = None);
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
            Action::SetFov(degrees) => self.navigate(|n, _| n.set_fov(degrees)),
            Action::SetPivot(point) => self.navigate(|n, _| n.set_pivot(point)),
            Action::SetDisplay(display) => {
                self.display = display;
                self.choose_machines();
                self.tell_view();
            }
            Action::SetSamples(samples) => {
                self.samples = samples;
                self.commands.push(Command::Samples(samples));
            }
            Action::SetRoom(room) => {
                self.room = room;
                self.tell_view();
            }
            Action::SetParameter(instance, name, value) => {
                self.commands.push(Command::SetParameter { instance, name, value });
            }
            Action::SetOptions(edits) => self.commands.push(Command::SetOptions(edits)),
            Action::Pick(pixel, sample) => {
                self.picked = Picked::Asked { pixel };
                self.commands.push(Command::Probe { pixel, sample });
            }
            Action::Unpick => self.picked = Picked::Nothing,
            Action::Retry(machine) => {
                self.machines[machine as usize].failure = None;
                self.commands.push(Command::Retry(machine));
            }
            Action::Tell(notice) => self.notices.push(notice),
            // The interface has the clipboard and the files.
            Action::Copy(..) | Action::SaveText(..) | Action::SavePicture(..) => {}
        }
    }

    /// Takes news.
    pub fn hear(&mut self, event: Event) {
        match event {
            Event::Busy(what) => self.busy = Some(what),
            Event::Loaded(state) => self.load(state),
            Event::Broken(failure) => {
                self.busy = None;
                self.failure = Some(failure);
            }
            Event::Picture(shown) => {
                let machine = &mut self.machines[shown.machine as usize];
                machine.preparing = false;
                machine.failure = None;
                machine.passes.push(shown.pass);
                machine.shown = Some(shown);
            }
            Event::Refused(text) => self.notices.push(Notice { text, is_error: true }),
            Event::Preparing(machine) => self.machines[machine as usize].preparing = true,
            Event::MachineFailed(machine, message) => {
                let failed = &mut self.machines[machine as usize];
                failed.preparing = false;
                failed.failure = Some(message);
            }
            Event::Probed(probe) => {
                if !matches!(self.picked, Picked::Nothing) {
                    self.picked = Picked::Found(probe);
                }
            }
            Event::ProbeFailed(message) => self.picked = Picked::Failed(message),
        }
    }

    fn load(&mut self, state: Arc<State>) {
        self.busy = None;
        self.failure = None;
        let (camera, bounds) = (&state.scene.camera, state.scene.bounds());
        match &mut self.navigation {
            Some(navigation) => navigation.rebase(camera, bounds),
            None => self.navigation = Some(Navigation::new(camera, bounds)),
        }
        self.state = Some(state);
        self.tell_view();
    }

    fn navigate(&mut self, change: impl FnOnce(&mut Navigation, Format)) {
        let Some(format) = self.format() else { return };
        if let Some(navigation) = &mut self.navigation {
            change(navigation, format);
            self.tell_view();
        }
    }

    /// Tells the worker threads of a new view.
    fn tell_view(&mut self) {
        let view = self.view();
        if view.is_some() && view != self.told {
            self.told = view.clone();
            self.commands.extend(view.map(Command::Look));
        }
    }

    /// Tells the worker threads which machines are looked at.
    fn choose_machines(&mut self) {
        let wanted = match self.display.comparison {
            Comparison::Single => vec![self.display.machine],
            _ => Machine::ALL.to_vec(),
        };
        if wanted != self.drawing {
            self.drawing.clone_from(&wanted);
            self.commands.push(Command::Draw(wanted));
        }
    }
}
