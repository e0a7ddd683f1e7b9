//! When segments are where: the tree as a network of units with bounded queues.
//!
//! Each unit takes its actions in a fixed order, each as soon as its inputs are there, and emits as
//! soon as the output has room. So every time is the maximum of other times plus a constant (a
//! max-plus recurrence), which no order of evaluation changes, and no clock is needed: a unit is
//! evaluated as far as the known times allow, and again when others follow.
//!
//! All actions of a line depend on the same and on earlier lines only, so lines are evaluated one
//! after the other, and streams of any length take the memory of one line. A test steps a clock through
//! all times instead, and finds the same.
//!
//! A stream also says when no more of its segments are on the line (a mark that takes no time and no
//! room). The thesis has no such mark. Without it, a merger whose one input is a splitter with
//! nothing on that side waits, its other input fills, and splitters that wait for each other's
//! mergers never go on. With it, queues of a line's segments cannot fill up in a circle. Shorter
//! queues can: then a splitter is let through, which is counted as an overflow, where real hardware
//! would stop.

use super::config::Config;
use super::flow::{Action, Line};
use super::merge::Case;
use super::shape::{Shape, Stream, UnitKind};
use crate::rays::events::{Picoseconds, picoseconds};
use std::collections::VecDeque;

/// The times of actions, and the sizes of queues.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    cases: [Picoseconds; 4],
    pass: Picoseconds,
    split: Picoseconds,
    transfer: Picoseconds,
    queue: usize,
    splitter_queue: usize,
}

/// When the pixel converters take the segments of a line.
#[derive(Clone, Copy, Debug)]
pub enum Display {
    /// At any time.
    Free,
    /// From `lead + line` times a line's time on, and in time if within one.
    Beam {
        /// A line.
        line: Picoseconds,
        /// The start of the first.
        lead: Picoseconds,
    },
}

impl Times {
    /// The times of a configuration.
    pub fn new(config: &Config) -> Self {
        Self {
            cases: Case::ALL.map(|case| picoseconds(config.merge_time(case))),
            pass: picoseconds(config.splitters.pass),
            split: picoseconds(config.splitters.split),
            transfer: picoseconds(config.transfer()),
            queue: config.mergers.queue as usize + 1,
            splitter_queue: config.splitters.queue as usize,
        }
    }

    fn get(&self, action: Action) -> Picoseconds {
        match action {
            Action::Convert => self.transfer,
            Action::Merge(step) => self.cases[step.case as usize],
            Action::Split([true, true]) => self.split,
            Action::Split(_) => self.pass,
        }
    }
}

/// A stream of segments.
#[derive(Clone, Debug, Default)]
struct Channel {
    /// Segments that may be on the way or in the queue.
    capacity: usize,
    /// When the last `capacity` segments were taken, by their number modulo `capacity`.
    taken: Vec<Picoseconds>,
    sent: u64,
    received: u64,
    /// When it was known that nothing more came on the line that is being evaluated or before it.
    ended: Picoseconds,
    /// On this line: when segments were sent, and arrived; and how many there will be.
    arrivals: Vec<Picoseconds>,
    read: usize,
    expected: usize,
    open: bool,
    /// The units that send and read, by their places in the line's work; nobody reads a root.
    sender: u32,
    reader: Option<u32>,
}

/// A unit's progress on a line.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    next: u32,
    done: bool,
    queued: bool,
}

/// The network.
#[derive(Debug)]
pub struct Network {
    times: Times,
    display: Display,
    channels: Vec<Channel>,
    /// When a unit is free.
    free: Vec<Picoseconds>,
    /// Time for which the units of a layer were at work, and for which they waited for room.
    pub busy: Vec<Picoseconds>,
    /// See [`Network::busy`].
    pub blocked: Vec<Picoseconds>,
    /// When each line ended at all roots.
    pub ends: Vec<Picoseconds>,
    /// Lines that were late at a root.
    pub missed: u64,
    /// The longest delay of a line.
    pub latest: Picoseconds,
    /// Segments that splitters sent although the queue was full.
    pub overflows: u64,
    /// The most segments in a splitter's queue.
    pub deepest: u64,
    /// For each right or left output of a splitter, when segments in its queue were taken.
    recent: Vec<VecDeque<Picoseconds>>,
    first_splitter: u32,
    progress: Vec<Progress>,
    agenda: VecDeque<u32>,
    /// Takings of a line in splitters' channels.
    line_taken: Vec<Vec<Picoseconds>>,
}

impl Network {
    /// A network at the start of a frame.
    pub fn new(shape: &Shape, times: Times, display: Display) -> Self {
        let units = shape.units() as usize;
        let mut channels = vec![Channel::default(); 2 * units];
        let mut first_splitter = shape.units();
        for layer in 0..shape.layers() {
            let is_splitter = shape.kind(layer) == UnitKind::Splitters;
            let start = shape.unit(layer, 0);
            let end = if layer + 1 < shape.layers() { shape.unit(layer + 1, 0) } else { shape.units() };
            let capacity = times.queue + if is_splitter { times.splitter_queue } else { 0 };
            if is_splitter {
                first_splitter = first_splitter.min(start);
            }
            for channel in &mut channels[2 * start as usize..2 * end as usize] {
                channel.capacity = capacity;
            }
        }
        let layers = shape.layers() as usize;
        let splitter_channels = 2 * (shape.units() - first_splitter) as usize;
        Self {
            times,
            display,
            channels,
            free: vec![0; units],
            busy: vec![0; layers],
            blocked: vec![0; layers],
            ends: Vec::new(),
            missed: 0,
            latest: 0,
            overflows: 0,
            deepest: 0,
            recent: vec![VecDeque::new(); splitter_channels],
            first_splitter,
            progress: Vec::new(),
            agenda: VecDeque::new(),
            line_taken: vec![Vec::new(); splitter_channels],
        }
    }

    /// Evaluates a line, which is the next.
    pub fn line(&mut self, shape: &Shape, line: &Line) {
        self.open(line);
        loop {
            while let Some(place) = self.agenda.pop_front() {
                self.progress[place as usize].queued = false;
                self.advance(shape, line, place, false);
            }
            if !self.let_one_through(shape, line) {
                break;
            }
        }
        self.close(line);
    }

    /// Where full queues wait in a circle, lets the first splitter that has no room emit a segment.
    /// False if nothing waits.
    fn let_one_through(&mut self, shape: &Shape, line: &Line) -> bool {
        for place in 0..line.work.len() {
            let is_splitter = matches!(self.action(line, place), Some(Action::Split(_)));
            if self.progress[place].done || !is_splitter {
                continue;
            }
            let before = self.progress[place].next;
            self.advance(shape, line, place as u32, true);
            if self.progress[place].next > before {
                self.overflows += 1;
                return true;
            }
        }
        false
    }

    fn action(&self, line: &Line, place: usize) -> Option<Action> {
        let work = &line.work[place];
        let next = work.actions.start + self.progress[place].next;
        if next < work.actions.end { line.actions.get(next as usize).copied() } else { None }
    }

    /// Prepares the channels of a line.
    fn open(&mut self, line: &Line) {
        self.progress.clear();
        self.progress.resize(line.work.len(), Progress::default());
        for (place, work) in (0u32..).zip(&line.work) {
            let mut sent = [0; 2];
            for action in &line.actions[work.actions.start as usize..work.actions.end as usize] {
                let [left, right] = emissions(*action);
                sent[0] += usize::from(left);
                sent[1] += usize::from(right);
            }
            for (side, expected) in sent.into_iter().enumerate() {
                let channel = &mut self.channels[2 * work.unit as usize + side];
                (channel.expected, channel.read, channel.open) = (expected, 0, true);
                (channel.sender, channel.reader) = (place, None);
                channel.arrivals.clear();
            }
            for &input in work.inputs.iter().flatten() {
                self.channels[input as usize].reader = Some(place);
            }
            self.progress[place as usize].queued = true;
            self.agenda.push_back(place);
        }
    }

    /// When the head of a stream is there, or it is known that there is none; `None` if not known.
    fn ready(&self, input: Option<Stream>) -> Option<Picoseconds> {
        let Some(input) = input else { return Some(0) };
        let channel = &self.channels[input as usize];
        if channel.read < channel.expected {
            return channel.arrivals.get(channel.read).copied();
        }
        (!channel.open).then_some(channel.ended)
    }

    /// When a stream has room for the next segment.
    fn room(&self, output: Stream) -> Option<Picoseconds> {
        let channel = &self.channels[output as usize];
        let capacity = channel.capacity as u64;
        let Some(before) = channel.sent.checked_sub(capacity) else { return Some(0) };
        if channel.received <= before {
            return None;
        }
        Some(channel.taken.get((before % capacity) as usize).copied().unwrap_or(0))
    }

    /// Evaluates a unit as far as possible. `force` lets it emit one segment without room.
    fn advance(&mut self, shape: &Shape, line: &Line, place: u32, mut force: bool) {
        let work = &line.work[place as usize];
        let unit = work.unit as usize;
        let layer = shape.layer(work.unit) as usize;
        while let Some(action) = self.action(line, place as usize) {
            let [Some(a), Some(b)] = work.inputs.map(|input| self.ready(input)) else { return };
            let start = self.free[unit].max(a).max(b);
            let finish = start + self.times.get(action);
            let mut done = finish;
            let outputs = emissions(action);
            for (side, _) in outputs.iter().enumerate().filter(|(_, emits)| **emits) {
                match self.room(2 * work.unit + side as u32) {
                    Some(room) => done = done.max(room),
                    None if force => {}
                    None => return,
                }
            }
            force = false;
            self.busy[layer] += finish - start;
            self.blocked[layer] += done - finish;
            self.free[unit] = done;
            self.progress[place as usize].next += 1;
            match action {
                Action::Convert => {}
                Action::Split(_) => self.take(work.inputs[0], done),
                Action::Merge(step) => {
                    if let Some(side) = step.taken {
                        self.take(work.inputs[usize::from(side)], done);
                    }
                }
            }
            for (side, _) in outputs.iter().enumerate().filter(|(_, emits)| **emits) {
                self.send(2 * work.unit + side as u32, done);
            }
        }
        if self.progress[place as usize].done {
            return;
        }
        let [Some(a), Some(b)] = work.inputs.map(|input| self.ready(input)) else { return };
        self.progress[place as usize].done = true;
        for side in 0..2 {
            let channel = &mut self.channels[2 * unit + side];
            channel.open = false;
            channel.ended = self.free[unit].max(a).max(b);
            let reader = channel.reader;
            self.wake(reader);
        }
    }

    fn wake(&mut self, place: Option<u32>) {
        if let Some(place) = place {
            let progress = &mut self.progress[place as usize];
            if !progress.queued && !progress.done {
                progress.queued = true;
                self.agenda.push_back(place);
            }
        }
    }

    /// Takes the head of a stream.
    fn take(&mut self, input: Option<Stream>, time: Picoseconds) {
        let Some(input) = input else { return };
        let channel = &mut self.channels[input as usize];
        let slot = (channel.received % channel.capacity as u64) as usize;
        if channel.taken.len() <= slot {
            channel.taken.resize(slot + 1, 0);
        }
        channel.taken[slot] = time;
        channel.received += 1;
        channel.read += 1;
        let first = 2 * self.first_splitter;
        // The sender may wait for room.
        let sender = channel.sender;
        if input >= first {
            self.line_taken[(input - first) as usize].push(time);
        }
        self.wake(Some(sender));
    }

    /// Sends a segment.
    fn send(&mut self, output: Stream, time: Picoseconds) {
        let arrival = time + self.times.transfer;
        let channel = &mut self.channels[output as usize];
        channel.sent += 1;
        channel.arrivals.push(arrival);
        match channel.reader {
            Some(reader) => self.wake(Some(reader)),
            None => {
                let from = match self.display {
                    Display::Free => 0,
                    Display::Beam { line, lead } => lead + line * self.ends.len() as u64,
                };
                self.take(Some(output), arrival.max(from));
            }
        }
    }

    /// Ends a line: its time, and how deep queues were.
    fn close(&mut self, line: &Line) {
        let mut end = self.ends.last().copied().unwrap_or(0);
        let mut last = 0;
        for work in &line.work {
            for side in 0..2 {
                let output = 2 * work.unit + side;
                let channel = &self.channels[output as usize];
                if channel.reader.is_none() {
                    last = last.max(channel.arrivals.last().copied().unwrap_or(0));
                }
                if work.unit >= self.first_splitter {
                    self.note_depth(output);
                }
            }
        }
        end = end.max(last);
        if let Display::Beam { line, lead } = self.display {
            let deadline = lead + line * (self.ends.len() as u64 + 1);
            self.missed += u64::from(last > deadline);
            self.latest = self.latest.max(last.saturating_sub(deadline));
        }
        self.ends.push(end);
    }

    /// How many segments waited in a splitter when it sent another.
    fn note_depth(&mut self, output: Stream) {
        let place = (output - 2 * self.first_splitter) as usize;
        let taken = std::mem::take(&mut self.line_taken[place]);
        let beyond = self.times.queue as u64;
        for (&arrival, &time) in self.channels[output as usize].arrivals.iter().zip(&taken) {
            let sent = arrival - self.times.transfer;
            while self.recent[place].pop_front_if(|earlier| *earlier <= sent).is_some() {}
            self.recent[place].push_back(time);
            self.deepest = self.deepest.max((self.recent[place].len() as u64).saturating_sub(beyond));
        }
        self.line_taken[place] = taken;
        self.line_taken[place].clear();
    }

    /// When the last line ended.
    pub fn end(&self) -> Picoseconds {
        self.ends.last().copied().unwrap_or(0)
    }
}

/// True if an action emits a segment to the left, or the only, output, and to the right one.
fn emissions(action: Action) -> [bool; 2] {
    match action {
        Action::Convert => [true, false],
        Action::Merge(step) => [step.emitted, false],
        Action::Split(sides) => sides,
    }
}

#[cfg(test)]
mod tests;
