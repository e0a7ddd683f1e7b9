//! Delay insertion: words of several nets made to begin together (Ullner 1983, §C.13).
//!
//! Three cases, of Figures C-29 to C-33. If the difference of the arrivals is known, a shift
//! register delays the earlier word. If one arrival is known to follow the others, those wait in
//! stoppable shift registers that its control releases. Otherwise all words wait in stoppable shift
//! registers: two of them release one another, more are released by a last-of cell.

use super::cells::CellKind;
use super::netlist::{Net, Netlist};
use super::timing::{Anchor, Anchors, Time};
use shadewright_base::text::source::Span;
use std::collections::BTreeMap;

/// A net and when its words begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The net.
    pub net: Net,
    /// The cycle of the first bit.
    pub time: Time,
}

/// The netlist that is being built, and the times of its nets.
#[derive(Debug, Default)]
pub struct Aligner {
    /// The netlist so far.
    pub netlist: Netlist,
    /// The events.
    pub anchors: Anchors,
    /// Delayed copies of a net, by the delay: two shift registers of the same word are one (§C.14).
    delayed: BTreeMap<Net, BTreeMap<u32, Net>>,
    /// Stoppable copies of a net, by what releases them.
    held: BTreeMap<(Net, Net), Net>,
    /// Words that were synchronized together.
    together: BTreeMap<Vec<Net>, (Vec<Net>, Anchor)>,
}

/// From this many cycles more than its bits on, a known delay is a stoppable register.
const WORTH_HOLDING: u32 = 8;

impl Aligner {
    /// Adds a cell, whose outputs begin `delays` cycles after `time`; each output is given with its
    /// width.
    pub fn cell(
        &mut self,
        kind: CellKind,
        inputs: &[Net],
        time: Time,
        outputs: &[(u32, u32)],
        place: Span,
    ) -> Vec<Value> {
        let widths: Vec<u32> = outputs.iter().map(|&(width, _)| width).collect();
        let earliest = self.anchors.earliest(time);
        let nets = self.netlist.add(kind, inputs.to_vec(), &widths, place, earliest);
        nets.into_iter().zip(outputs).map(|(net, &(_, delay))| Value { net, time: time.later(delay) }).collect()
    }

    /// Bits that a net's words take in time.
    pub fn length(&self, net: Net) -> u32 {
        self.netlist.width(net).max(1)
    }

    /// The same words some cycles later.
    pub fn delay(&mut self, value: Value, by: u32, place: Span) -> Value {
        if by == 0 {
            return value;
        }
        let taps = self.delayed.entry(value.net).or_default();
        let (from, done) = taps.range(..=by).next_back().map_or((value.net, 0), |(&done, &net)| (net, done));
        let time = value.time.later(by);
        if done == by {
            return Value { net: from, time };
        }
        let length = by - done;
        let width = self.netlist.width(value.net);
        let start = value.time.later(done);
        let delayed = self.cell(CellKind::Shift { length }, &[from], start, &[(width, length)], place)[0];
        self.delayed.entry(value.net).or_default().insert(by, delayed.net);
        Value { net: delayed.net, time }
    }

    /// The words in a stoppable register that the control of `trigger` releases, a cycle after it.
    fn hold(&mut self, value: Value, trigger: Value, place: Span) -> Value {
        let time = trigger.time.later(1);
        if let Some(&net) = self.held.get(&(value.net, trigger.net)) {
            return Value { net, time };
        }
        let net = self.register(value, trigger.net, place).0;
        self.held.insert((value.net, trigger.net), net);
        Value { net, time }
    }

    /// A stoppable register: its word and its ready level.
    fn register(&mut self, value: Value, trigger: Net, place: Span) -> (Net, Net) {
        let width = self.netlist.width(value.net);
        let kind = CellKind::Hold { width: width.max(1) };
        let outputs = self.cell(kind, &[value.net, trigger], value.time, &[(width, 0), (0, 0)], place);
        (outputs[0].net, outputs[1].net)
    }

    /// Words that begin in the same cycle.
    pub fn align(&mut self, values: &[Value], place: Span) -> Vec<Value> {
        let Some(first) = values.first() else { return Vec::new() };
        if values.iter().all(|value| value.time.anchor == first.time.anchor) {
            return self.align_known(values, place);
        }
        match self.last(values) {
            Some((last, wait)) => self.align_last(values, last, wait, place),
            None => self.align_all(values, place),
        }
    }

    /// The first case: shift registers; for a long wait, a stoppable one, which is no longer than
    /// its word.
    fn align_known(&mut self, values: &[Value], place: Span) -> Vec<Value> {
        let Some(last) = values.iter().copied().max_by_key(|value| value.time.offset) else { return Vec::new() };
        let wait = |value: &Value| last.time.offset - value.time.offset;
        if values.iter().any(|value| wait(value) > self.length(value.net) + WORTH_HOLDING) {
            return self.align_last(values, last, 0, place);
        }
        values.iter().map(|value| self.delay(*value, wait(value), place)).collect()
    }

    /// The second case: the value that follows all others, and by how much it must be delayed so
    /// that all others are in their registers when it comes.
    fn last(&self, values: &[Value]) -> Option<(Value, u32)> {
        let candidates = values.iter().filter(|value| {
            values.iter().all(|other| other.time.anchor != value.time.anchor || other.time.offset <= value.time.offset)
        });
        let waits = candidates.filter_map(|&last| {
            let mut wait = 0;
            for value in values.iter().filter(|value| value.time.anchor != last.time.anchor) {
                let lead = self.anchors.lead(last.time, value.time.anchor)?;
                wait = wait.max((value.time.offset + self.length(value.net)).saturating_sub(lead));
            }
            Some((last, wait))
        });
        waits.min_by_key(|&(_, wait)| wait)
    }

    fn align_last(&mut self, values: &[Value], last: Value, wait: u32, place: Span) -> Vec<Value> {
        let trigger = self.delay(last, wait, place);
        let known = |value: &Value| value.time.anchor == last.time.anchor;
        let far = |value: &Value, length: u32| trigger.time.offset - value.time.offset > length + WORTH_HOLDING;
        let mut aligned = Vec::new();
        for &value in values {
            let length = self.length(value.net);
            aligned.push(if known(&value) && !far(&value, length) {
                self.delay(value, trigger.time.offset + 1 - value.time.offset, place)
            } else {
                self.hold(value, trigger, place)
            });
        }
        aligned
    }

    /// The third case: all words wait for one another.
    fn align_all(&mut self, values: &[Value], place: Span) -> Vec<Value> {
        let mut nets: Vec<Net> = values.iter().map(|value| value.net).collect();
        nets.sort_unstable();
        nets.dedup();
        if !self.together.contains_key(&nets) {
            let distinct: Vec<Value> =
                nets.iter().filter_map(|net| values.iter().copied().find(|value| value.net == *net)).collect();
            let coupled = distinct.len() == 2;
            let (held, anchor, _) = self.release_together(&distinct, coupled, place);
            self.together.insert(nets.clone(), (held, anchor));
        }
        let (held, anchor) = &self.together[&nets];
        let time = Time { anchor: *anchor, offset: 0 };
        values
            .iter()
            .filter_map(|value| nets.binary_search(&value.net).ok())
            .map(|index| Value { net: held[index], time })
            .collect()
    }

    /// Puts words into stoppable registers that are released together when all are there, and
    /// returns them with the event and the last-of cell. Two of them release one another if
    /// `coupled`; then there is no last-of cell.
    pub fn release_together(
        &mut self,
        values: &[Value],
        coupled: bool,
        place: Span,
    ) -> (Vec<Net>, Anchor, Option<usize>) {
        let first = self.netlist.cells.len();
        let registers: Vec<(Net, Net)> = values.iter().map(|&value| self.register(value, value.net, place)).collect();
        let full: Vec<Time> = values.iter().map(|value| value.time.later(self.length(value.net))).collect();
        let levels: Vec<Net> = registers.iter().map(|register| register.1).collect();
        let last_of = self.netlist.cells.len();
        let (triggers, later) = match (levels.as_slice(), coupled) {
            (&[a, b], true) => (vec![b, a], 1),
            _ => {
                let kind = CellKind::LastOf { members: levels.len() as u32 };
                let earliest = full.iter().map(|time| self.anchors.earliest(*time)).max().unwrap_or(0);
                let level = self.netlist.add(kind, levels.clone(), &[0], place, earliest);
                (level.repeat(levels.len()), 2)
            }
        };
        for (index, trigger) in triggers.into_iter().enumerate() {
            self.netlist.cells[first + index].inputs[1] = trigger;
        }
        let times: Vec<Time> = full.into_iter().map(|time| time.later(later)).collect();
        let anchor = self.anchors.after(&times);
        (registers.into_iter().map(|register| register.0).collect(), anchor, (later == 2).then_some(last_of))
    }
}
