//! The same network by a clock that steps through all times: every unit looks at its inputs and
//! outputs at each step, with as many lines on the way as there is room for. It knows nothing of the
//! recurrence, nor of lines that are evaluated one after the other.

use super::super::super::flow::{Action, Line};
use super::super::emissions;
use std::collections::{BTreeMap, VecDeque};

/// Times in steps of the clock.
#[derive(Clone, Copy)]
pub struct Steps {
    pub cases: [u64; 4],
    pub pass: u64,
    pub split: u64,
    pub transfer: u64,
    /// Segments on the way to, or at, a reader; more at splitters' outputs.
    pub capacity: usize,
    pub splitter: usize,
}

#[derive(Clone, Copy)]
enum Event {
    Act(Action),
    /// The end of a line.
    Mark,
}

struct Unit {
    number: u32,
    inputs: [Option<u32>; 2],
    script: Vec<(usize, Event)>,
    next: usize,
    finish: Option<u64>,
}

#[derive(Default)]
struct Channel {
    /// When segments arrive, and on which line they are.
    waiting: VecDeque<(u64, usize)>,
    has_reader: bool,
    capacity: usize,
    /// The lines on which it has segments, and how many of them have ended.
    lines: Vec<usize>,
    ended: usize,
}

impl Channel {
    /// True if nothing more comes on a line.
    fn has_ended(&self, line: usize) -> bool {
        self.lines.get(self.ended).is_none_or(|&next| next > line)
    }
}

/// When the last segment of each line arrives below the roots.
pub fn ends(lines: &[Line], steps: Steps) -> Vec<u64> {
    let mut units: BTreeMap<u32, Unit> = BTreeMap::new();
    let mut channels: BTreeMap<u32, Channel> = BTreeMap::new();
    for (number, line) in lines.iter().enumerate() {
        for work in &line.work {
            let new = || Unit { number: work.unit, inputs: work.inputs, script: Vec::new(), next: 0, finish: None };
            let unit = units.entry(work.unit).or_insert_with(new);
            let actions = &line.actions[work.actions.start as usize..work.actions.end as usize];
            unit.script.extend(actions.iter().map(|&action| (number, Event::Act(action))));
            unit.script.push((number, Event::Mark));
            let is_splitter = actions.iter().any(|action| matches!(action, Action::Split(_)));
            for side in 0..2 {
                let channel = channels.entry(2 * work.unit + side).or_default();
                channel.capacity = steps.capacity + if is_splitter { steps.splitter } else { 0 };
                channel.lines.push(number);
            }
            for input in work.inputs.into_iter().flatten() {
                channels.entry(input).or_default().has_reader = true;
            }
        }
    }
    let mut ends = vec![0; lines.len()];
    let mut time = 0;
    let is_busy = |units: &BTreeMap<u32, Unit>| units.values().any(|unit| unit.next < unit.script.len());
    while is_busy(&units) || channels.values().any(|channel| !channel.waiting.is_empty()) {
        assert!(time < 1_000_000, "the network stops");
        // What happens at a time may let something else happen at the same time.
        loop {
            let mut any = empty_roots(&mut channels, &mut ends, time);
            for unit in units.values_mut() {
                any |= unit.step(&mut channels, steps, time);
            }
            if !any {
                break;
            }
        }
        time += 1;
    }
    ends
}

/// Takes what arrived at the roots.
fn empty_roots(channels: &mut BTreeMap<u32, Channel>, ends: &mut [u64], time: u64) -> bool {
    let mut any = false;
    for channel in channels.values_mut().filter(|channel| !channel.has_reader) {
        while let Some(&(_, line)) = channel.waiting.front().filter(|&&(arrival, _)| arrival <= time) {
            channel.waiting.pop_front();
            ends[line] = ends[line].max(time);
            any = true;
        }
    }
    any
}

impl Unit {
    /// One change, if any is possible now.
    fn step(&mut self, channels: &mut BTreeMap<u32, Channel>, steps: Steps, time: u64) -> bool {
        let Some(&(line, event)) = self.script.get(self.next) else { return false };
        let is_ready = |input: &u32| match channels[input].waiting.front() {
            Some(&(arrival, of)) if of == line => arrival <= time,
            _ => channels[input].has_ended(line),
        };
        let ready = self.inputs.iter().flatten().all(is_ready);
        let outputs = [0, 1].map(|side| 2 * self.number + side);
        let Event::Act(action) = event else {
            if ready {
                self.next += 1;
                outputs.iter().for_each(|&output| channels.entry(output).or_default().ended += 1);
            }
            return ready;
        };
        let Some(finish) = self.finish else {
            if ready {
                self.finish = Some(time + steps.get(action));
            }
            return ready;
        };
        let emits: Vec<u32> = outputs.into_iter().zip(emissions(action)).filter(|(_, e)| *e).map(|(o, _)| o).collect();
        let has_room = |output: &u32| channels[output].waiting.len() < channels[output].capacity;
        if time < finish || !emits.iter().all(has_room) {
            return false;
        }
        let taken = match action {
            Action::Convert => None,
            Action::Split(_) => self.inputs[0],
            Action::Merge(step) => step.taken.and_then(|side| self.inputs[usize::from(side)]),
        };
        if let Some(channel) = taken.and_then(|input| channels.get_mut(&input)) {
            channel.waiting.pop_front();
        }
        for output in emits {
            channels.entry(output).or_default().waiting.push_back((time + steps.transfer, line));
        }
        (self.finish, self.next) = (None, self.next + 1);
        true
    }
}

impl Steps {
    fn get(self, action: Action) -> u64 {
        match action {
            Action::Convert => self.transfer,
            Action::Merge(step) => self.cases[step.case as usize],
            Action::Split([true, true]) => self.split,
            Action::Split(_) => self.pass,
        }
    }
}
