//! The programs of figures 3-32 to 3-34 as they are printed, fault by fault: each fault alone makes
//! wrong parts, and without them the programs and the hardware agree.

use super::super::config::Config;
use super::super::display::Display;
use super::super::host::Host;
use super::super::numbers::{Format, Ratio};
use super::super::planes::{Plane, Segment};
use super::super::processors::{CleanupProcessor, Counts, Intersection, Message, PlaneProcessor};
use super::super::scenes::{Quad, cubes, loose, model, square};
use super::super::visibility::{Part, evaluate};

/// The part that is printed differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Nothing.
    None,
    /// Figure 3-32 uses an intersection of a parallel line where `t_n > 0` only.
    OwnPlane,
    /// Figure 3-33 sends the flag of the message that came, and not that of its plane.
    Flag,
    /// Figure 3-34 swaps the ends of two hidden parts, and not their beginnings.
    Swap,
    /// It never releases a segment of which nothing is hidden.
    Release,
    /// It keeps parts of which both visible regions overlap until they are to be sent.
    Empty,
    /// Nothing follows the last segment.
    Drain,
}

/// A plane processor as printed.
struct PrintedPlane {
    plane: Plane,
    f: bool,
    fault: Fault,
    kept: Option<Intersection>,
}

impl PrintedPlane {
    fn meet(&self, segment: &Segment) -> Option<Intersection> {
        let [k1, k2] = [segment.from, segment.to].map(|end| self.plane.normal.dot(end));
        let [t_n, t_d] = [k1 + self.plane.d, k1 - k2];
        let used = t_d != 0.0 || t_n > 0.0 || (t_n == 0.0 && self.fault != Fault::OwnPlane);
        let at = if t_d == 0.0 { Ratio::NEGATIVE_END } else { Format::Bits(16).ratio(t_n, t_d) };
        used.then_some(Intersection { at, v: t_d > 0.0, h: self.f, p: false })
    }

    fn receive(&mut self, message: Message, segments: &[Segment], out: &mut Vec<Message>) {
        let new = match message {
            Message::Segment(_) | Message::Drain => {
                out.extend(self.kept.take().map(Message::Intersection));
                out.push(message);
                if let Message::Segment(id) = message {
                    self.kept = self.meet(&segments[id as usize]);
                }
                return;
            }
            Message::Intersection(new) if new.h => return out.push(message),
            Message::Intersection(new) => new,
        };
        let h = if self.fault == Fault::Flag { new.h } else { self.f };
        let Some(kept) = &mut self.kept else {
            self.kept = Some(Intersection { h: self.f, ..new });
            return;
        };
        match (kept.v, new.v) {
            (false, false) if new.at.before(kept.at) => kept.at = new.at,
            (true, true) if kept.at.before(new.at) => kept.at = new.at,
            (false, true) => {
                out.push(Message::Intersection(Intersection { h, ..*kept }));
                *kept = Intersection { h, p: true, ..new };
            }
            (true, false) => {
                out.push(Message::Intersection(Intersection { h, ..new }));
                *kept = Intersection { h, p: true, ..*kept };
            }
            _ => {}
        }
    }
}

/// A clean-up processor as printed.
struct PrintedCleanup {
    fault: Fault,
    segment: Option<u32>,
    sent: bool,
    suppress: bool,
    p: bool,
    parts: Vec<Ratio>,
}

impl PrintedCleanup {
    fn new(fault: Fault) -> Self {
        Self { fault, segment: None, sent: false, suppress: false, p: true, parts: Vec::new() }
    }

    fn receive(&mut self, message: Message, out: &mut Vec<Message>) {
        match message {
            Message::Segment(_) | Message::Drain => {
                self.flush(out);
                *self = Self::new(self.fault);
                match message {
                    Message::Segment(id) => self.segment = Some(id),
                    _ => out.push(message),
                }
            }
            Message::Intersection(new) if new.h => {
                if new.p == self.p {
                    self.insert(Ratio::NEGATIVE_END, true, out);
                }
                let mut p = new.p;
                if !p && new.v {
                    self.insert(Ratio::POSITIVE_END, false, out);
                    p = true;
                }
                self.insert(new.at, p, out);
            }
            Message::Intersection(_) => {
                self.flush(out);
                if !self.suppress {
                    out.push(message);
                }
            }
        }
    }

    fn insert(&mut self, at: Ratio, p: bool, out: &mut Vec<Message>) {
        if self.parts.len() == 4 {
            self.make_space(out);
        }
        self.p = p;
        self.parts.push(at);
        let n = self.parts.len();
        if n.is_multiple_of(2) && self.fault != Fault::Empty && !self.parts[n - 1].before(self.parts[n - 2]) {
            self.parts.truncate(n - 2);
        }
        if self.parts.len() == 4 {
            if self.parts[0].before(self.parts[2]) {
                self.parts.swap(0, 2);
                if self.fault != Fault::Swap {
                    self.parts.swap(1, 3);
                }
            }
            if !self.parts[2].before(self.parts[1]) {
                if self.parts[3].before(self.parts[1]) {
                    self.parts[1] = self.parts[3];
                }
                self.parts.truncate(2);
            }
        }
    }

    fn send_segment(&mut self, out: &mut Vec<Message>) {
        if !self.sent {
            out.extend(self.segment.map(Message::Segment));
            self.sent = true;
        }
    }

    fn make_space(&mut self, out: &mut Vec<Message>) {
        let end = if Ratio::ONE.before(self.parts[0]) { Ratio::ONE } else { self.parts[0] };
        let begin = if self.parts[1].before(Ratio::ZERO) { Ratio::ZERO } else { self.parts[1] };
        if begin.before(end) {
            self.suppress |= end == Ratio::ONE && begin == Ratio::ZERO && !self.sent;
            if !self.suppress {
                self.send_segment(out);
                for (at, v) in [(end, false), (begin, true)] {
                    out.push(Message::Intersection(Intersection { at, v, h: true, p: v }));
                }
            }
        }
        self.parts.drain(..2);
    }

    fn flush(&mut self, out: &mut Vec<Message>) {
        while self.parts.len() > 1 {
            self.make_space(out);
        }
        if self.parts.len() == 1 {
            self.insert(Ratio::NEGATIVE_END, true, out);
            if self.parts.len() == 2 {
                self.make_space(out);
            }
        }
        if !self.suppress && self.fault != Fault::Release {
            self.send_segment(out);
        }
    }
}

/// A scene of 16 bits without a guard, so that lines are in planes exactly.
fn host(quads: &[(u32, Quad)]) -> Host {
    let config = Config::parse("[numbers]\nbits = 16\nguard-units = 0").expect("a configuration");
    Host::new(&model(quads), &config).expect("a small scene")
}

/// Hidden parts of a scene's lines after the printed programs, a clean-up processor after so many
/// planes and eight at the end; and how many messages the plane processors received.
fn printed(host: &Host, fault: Fault, per_cleanup: usize) -> (Vec<Vec<Part>>, usize) {
    let count = host.segments.len() as u32;
    let mut messages: Vec<Message> = (0..count).map(Message::Segment).collect();
    if fault != Fault::Drain {
        messages.push(Message::Drain);
    }
    let mut received = 0;
    let clean = |messages: Vec<Message>| {
        let (mut processor, mut out) = (PrintedCleanup::new(fault), Vec::new());
        messages.into_iter().for_each(|message| processor.receive(message, &mut out));
        out
    };
    let mut number = 0;
    for polygon in &host.planes.occluders {
        let planes = host.planes.get(polygon);
        for (k, &plane) in planes.iter().enumerate() {
            let mut processor = PrintedPlane { plane, f: k + 1 == planes.len(), fault, kept: None };
            let mut out = Vec::new();
            received += messages.len();
            messages.into_iter().for_each(|message| processor.receive(message, &host.segments, &mut out));
            messages = out;
            number += 1;
            if number % per_cleanup == 0 {
                messages = clean(messages);
            }
        }
    }
    for _ in 0..8 {
        messages = clean(messages);
    }
    let mut display = Display::default();
    messages.into_iter().for_each(|message| display.receive(message));
    (display.parts(count as usize), received)
}

/// How many lines of a scene have other hidden parts after the printed programs with a fault.
fn wrong(quads: &[(u32, Quad)], fault: Fault) -> usize {
    let host = host(quads);
    let expected = evaluate(&host.segments, &host.planes, host.space.format, &|_| ());
    printed(&host, fault, 4).0.iter().zip(&expected).filter(|(found, expected)| found != expected).count()
}

fn scene() -> Vec<(u32, Quad)> {
    let mut quads = loose(60, 5.0, 3);
    quads.extend(cubes(15, 1.5, 4));
    quads.push((1000, square([0.0, 0.0, 3.0])));
    quads
}

#[test]
fn corrected_programs_find_what_the_hardware_finds() {
    assert_eq!(wrong(&scene(), Fault::None), 0);
}

#[test]
fn a_polygon_hides_its_own_edges_where_a_line_in_a_plane_is_not_in_front_of_it() {
    let square = [(0, square([0.1, 0.1, 3.0]))];
    assert_eq!(wrong(&square, Fault::None), 0);
    assert_eq!(wrong(&square, Fault::OwnPlane), 4);
}

#[test]
fn a_polygon_with_two_intersections_hides_nothing_without_the_flag_of_its_last_plane() {
    let lines = scene().len();
    let found = wrong(&scene(), Fault::Flag);
    assert!(found > lines / 4, "{found}");
}

#[test]
fn swapping_ends_without_beginnings_makes_other_parts() {
    assert!(wrong(&scene(), Fault::Swap) > 10);
}

#[test]
fn a_segment_of_which_nothing_is_hidden_is_lost_when_it_is_not_released() {
    let square = [(0, square([0.1, 0.1, 3.0]))];
    assert_eq!(wrong(&square, Fault::Release), 4);
}

#[test]
fn empty_parts_that_are_kept_only_cost_messages() {
    // They end before they begin, so merging never takes one for a part; but they hold places, and parts go unmerged.
    let host = host(&scene());
    let [(kept, kept_messages), (dropped, messages)] =
        [Fault::Empty, Fault::None].map(|fault| printed(&host, fault, 60));
    assert_eq!(kept, dropped);
    assert!(kept_messages > messages, "{kept_messages} {messages}");
}

#[test]
fn the_last_segment_stays_in_the_pipeline_when_nothing_follows() {
    let square = [(0, square([0.1, 0.1, 3.0]))];
    // Each of the clean-up processors keeps one.
    assert_eq!(wrong(&square, Fault::Drain), 4);
}

#[test]
fn the_hardware_itself_marks_parts_and_supplies_mates() {
    // One plane, the last of its polygon: the line is hidden from its beginning up to the plane.
    let plane = Plane { normal: glam::DVec3::X, d: 0.0 };
    let segment = Segment { from: -glam::DVec3::X, to: glam::DVec3::X };
    let (mut counts, mut first, mut last) = (Counts::default(), Vec::new(), Vec::new());
    let mut processor = PlaneProcessor::new(plane, true);
    for message in [Message::Segment(0), Message::Drain] {
        processor.receive(message, &[segment], Format::Exact, &mut counts, &mut first);
    }
    let mut cleanup = CleanupProcessor::default();
    for message in first {
        cleanup.receive(message, &mut counts, &mut last);
    }
    let end = |at: Ratio, v: bool| Message::Intersection(Intersection { at, v, h: true, p: v });
    let half = Format::Exact.ratio(1.0, 2.0);
    assert_eq!(last, [Message::Segment(0), end(half, false), end(Ratio::ZERO, true), Message::Drain]);
}
