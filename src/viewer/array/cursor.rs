//! A position in a simulation, moved by playing, scrubbing and stepping.

use super::playback::{ArrayState, Playback};
use shadewright_machines::rays::events::Picoseconds;

/// Where in a simulation somebody is: a time, and how many of the events have happened. These are
/// all events until that time, except after a step to one of several events of the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    time: Picoseconds,
    position: usize,
}

impl Cursor {
    /// The time.
    pub fn time(&self) -> Picoseconds {
        self.time
    }

    /// The number of events that have happened.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Goes to a time, or to the end if that is earlier.
    pub fn seek(&mut self, playback: &Playback, time: Picoseconds) {
        self.time = time.min(playback.end());
        self.position = playback.position(self.time);
    }

    /// Goes on for so long. False at the end.
    pub fn play(&mut self, playback: &Playback, by: Picoseconds) -> bool {
        self.seek(playback, self.time.saturating_add(by));
        self.time < playback.end()
    }

    /// Goes to the next event.
    pub fn step(&mut self, playback: &Playback) {
        if let Some(event) = playback.events().get(self.position) {
            self.position += 1;
            self.time = event.time;
        }
    }

    /// Goes to the event before the last one.
    pub fn step_back(&mut self, playback: &Playback) {
        self.position = self.position.saturating_sub(1);
        let last = self.position.checked_sub(1).and_then(|number| playback.events().get(number));
        self.time = last.map_or(0, |event| event.time);
    }

    /// The state of the array.
    pub fn state(&self, playback: &Playback) -> ArrayState {
        playback.state(self.position, self.time)
    }
}
