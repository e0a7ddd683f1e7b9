//! Time in the array's view: playing, scrubbing, and single events.

use crate::array::{Cursor, Playback};
use egui::{Button, Key, Modifiers, RichText, Slider, Ui};
use shadewright_machines::array::mapping::{Direction, Layout};
use shadewright_machines::array::trace::{Happening, TraceEvent};
use shadewright_machines::rays::events::{Picoseconds, microseconds, picoseconds};

/// Seconds in which a simulation is played at first.
const PLAYED_IN: f64 = 20.0;

/// The longest frame that moves time by its whole duration, in seconds.
const LONGEST_FRAME: f32 = 0.1;

/// Simulated microseconds in a second.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.1..=1e7;

/// Part of the time by which keys with Shift jump.
const JUMP: u64 = 100;

/// Where a simulation is, and whether it goes on.
#[derive(Clone, Copy, Debug)]
pub struct Transport {
    cursor: Cursor,
    is_playing: bool,
    /// Simulated microseconds in a second.
    speed: f64,
}

impl Default for Transport {
    fn default() -> Self {
        Self { cursor: Cursor::default(), is_playing: false, speed: 1.0 }
    }
}

/// The operation of a button or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Start,
    Back,
    Play,
    Next,
    End,
    JumpBack,
    Jump,
}

/// The buttons, in order.
const BUTTONS: [(Move, &str, &str); 5] = [
    (Move::Start, "|◀", "The start"),
    (Move::Back, "◀", "The event before (Left)"),
    (Move::Play, "Play", "Play (Space)"),
    (Move::Next, "▶", "The next event (Right)"),
    (Move::End, "▶|", "The end"),
];

/// The keys, those with modifiers first.
const KEYS: [(Modifiers, Key, Move); 5] = [
    (Modifiers::SHIFT, Key::ArrowLeft, Move::JumpBack),
    (Modifiers::SHIFT, Key::ArrowRight, Move::Jump),
    (Modifiers::NONE, Key::ArrowLeft, Move::Back),
    (Modifiers::NONE, Key::ArrowRight, Move::Next),
    (Modifiers::NONE, Key::Space, Move::Play),
];

impl Transport {
    /// The start of a simulation.
    pub fn new(playback: &Playback) -> Self {
        let speed = (microseconds(playback.end()) / PLAYED_IN).clamp(*SPEEDS.start(), *SPEEDS.end());
        Self { cursor: Cursor::default(), is_playing: false, speed }
    }

    /// Where it is.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Shows the controls, and lets time go on.
    pub fn show(&mut self, ui: &mut Ui, playback: &Playback) {
        self.keys(ui, playback);
        if self.is_playing {
            let seconds = f64::from(ui.input(|input| input.stable_dt).min(LONGEST_FRAME));
            self.is_playing = self.cursor.play(playback, picoseconds(self.speed * seconds));
            ui.ctx().request_repaint();
        }
        ui.horizontal(|ui| {
            for (way, name, hint) in BUTTONS {
                let (name, hint) = match way {
                    Move::Play if self.is_playing => ("Pause", "Pause (Space)"),
                    _ => (name, hint),
                };
                let button = Button::new(RichText::new(name).monospace());
                if ui.add(button).on_hover_text(hint).clicked() {
                    self.go(way, playback);
                }
            }
            let label = ui.label("Speed");
            let speed = Slider::new(&mut self.speed, SPEEDS).logarithmic(true).suffix(" µs/s");
            ui.add(speed).labelled_by(label.id).on_hover_text("Simulated time in a second");
            let label = ui.label("Time");
            // Beside the slider stands its value.
            ui.spacing_mut().slider_width = (ui.available_width() - 110.0).max(80.0);
            let mut time = microseconds(self.cursor.time());
            let end = microseconds(playback.end());
            let slider = Slider::new(&mut time, 0.0..=end).max_decimals(1).suffix(" µs");
            if ui.add(slider).labelled_by(label.id).changed() {
                self.cursor.seek(playback, picoseconds(time));
            }
        });
        let (position, count) = (self.cursor.position(), playback.events().len());
        let last = position.checked_sub(1).and_then(|number| playback.events().get(number));
        let what = last.map_or_else(|| "the start".to_string(), |event| describe(playback.layout(), event));
        ui.monospace(format!("event {position} of {count}: {what}"));
    }

    fn keys(&mut self, ui: &Ui, playback: &Playback) {
        // They belong to the widget that has the focus, if there is one.
        if ui.memory(|memory| memory.focused().is_some()) {
            return;
        }
        for (modifiers, key, way) in KEYS {
            if ui.input_mut(|input| input.consume_key(modifiers, key)) {
                self.go(way, playback);
            }
        }
    }

    fn go(&mut self, way: Move, playback: &Playback) {
        let (end, now) = (playback.end(), self.cursor.time());
        let jump: Picoseconds = (end / JUMP).max(1);
        match way {
            Move::Start => self.cursor = Cursor::default(),
            Move::Back => self.cursor.step_back(playback),
            Move::Next => self.cursor.step(playback),
            Move::End => self.cursor.seek(playback, end),
            Move::JumpBack => self.cursor.seek(playback, now.saturating_sub(jump)),
            Move::Jump => self.cursor.seek(playback, now.saturating_add(jump)),
            Move::Play => {
                // At the end it begins again.
                if !self.is_playing && now >= end {
                    self.cursor = Cursor::default();
                }
                self.is_playing = !self.is_playing;
                return;
            }
        }
        self.is_playing = false;
    }
}

/// An event in words.
fn describe(layout: &Layout, event: &TraceEvent) -> String {
    let TraceEvent { ray, node, kind, happening, .. } = *event;
    let [column, row] = layout.position(node);
    let what = match happening {
        Happening::Emitted => "is emitted by",
        Happening::Made => "is made in",
        Happening::Left(Direction::East) => "goes east from",
        Happening::Left(Direction::West) => "goes west from",
        Happening::Left(Direction::South) => "goes south from",
        Happening::Left(Direction::North) => "goes north from",
        Happening::Arrived => "arrives at",
        Happening::Tested => "enters the intersection unit of",
        Happening::Hit => "ends and is shaded in",
        Happening::Ended => "ends in",
        Happening::Shown => "is added to the frame buffer of",
        Happening::Lost => "is lost at",
    };
    format!("{} {ray} {what} node {column}, {row}", kind.name())
}
