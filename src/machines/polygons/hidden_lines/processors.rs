//! The two processors of the pipeline, message by message: figures 3-32 to 3-34, corrected.
//!
//! The corrections, each with a test that the form of the figures fails:
//! a plane that contains a line does not hide it (`t_n ≥ 0`, as the text has it);
//! the last plane of a polygon marks what it sends as hidden, whose flag `f` is that of the plane;
//! a clean-up processor swaps hidden parts as pairs, drops empty ones, and releases a segment of which
//! nothing is hidden.
//! A message that drains the pipeline follows the last segment: each processor keeps something of a
//! segment until the next message.

use super::numbers::{Format, Ratio};
use super::planes::{Plane, Segment};

/// A message of the data path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message {
    /// A line segment, by its index: 96 bits, the coordinates of both ends.
    Segment(u32),
    /// A place on the line of the last segment: 35 bits.
    Intersection(Intersection),
    /// The end: everything is to be sent on.
    Drain,
}

/// An intersection message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intersection {
    /// `t_n / t_d`.
    pub at: Ratio,
    /// True if the beginning of the line is visible up to here; if not, its end is from here.
    pub v: bool,
    /// True if the line is hidden on the other side, up to the message's mate.
    pub h: bool,
    /// True if it is the second of its polygon.
    pub p: bool,
}

/// The counts of processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segment messages that came.
    pub segments: u64,
    /// Intersection messages that came.
    pub intersections: u64,
    /// Intersections that were computed, or supplied where one was missing.
    pub generated: u64,
    /// Intersections that were redundant, or of a segment that is hidden.
    pub dropped: u64,
}

/// A plane processor (figures 3-32, 3-33).
#[derive(Clone, Copy, Debug)]
pub struct PlaneProcessor {
    plane: Plane,
    /// `f`: whether the plane is the last of its polygon.
    last: bool,
    /// The part that it keeps of the current segment, if any (`u`): the place, its flag `v`, and
    /// `p`.
    kept: Option<(Ratio, bool, bool)>,
}

impl PlaneProcessor {
    /// A processor that has been loaded.
    pub fn new(plane: Plane, last: bool) -> Self {
        Self { plane, last, kept: None }
    }

    /// Sends what it keeps.
    fn release(&mut self, out: &mut Vec<Message>) {
        if let Some((at, v, p)) = self.kept.take() {
            out.push(Message::Intersection(Intersection { at, v, h: self.last, p }));
        }
    }

    /// Takes a message, and appends those that it sends.
    pub fn receive(
        &mut self,
        message: Message,
        segments: &[Segment],
        format: Format,
        counts: &mut Counts,
        out: &mut Vec<Message>,
    ) {
        match message {
            Message::Drain => {
                self.release(out);
                out.push(message);
            }
            Message::Segment(id) => {
                counts.segments += 1;
                self.release(out);
                out.push(message);
                let meeting = segments.get(id as usize).and_then(|segment| self.plane.meet(segment, format));
                self.kept = meeting.map(|meeting| (meeting.at, meeting.v, false));
                counts.generated += u64::from(self.kept.is_some());
            }
            Message::Intersection(new) => {
                counts.intersections += 1;
                if new.h {
                    out.push(message);
                } else {
                    self.compare(new, counts, out);
                }
            }
        }
    }

    /// Compares an intersection of the same polygon with the one that is kept.
    fn compare(&mut self, new: Intersection, counts: &mut Counts, out: &mut Vec<Message>) {
        let Some((at, v, p)) = self.kept else {
            self.kept = Some((new.at, new.v, false));
            return;
        };
        let h = self.last;
        match (v, new.v) {
            (false, true) => {
                out.push(Message::Intersection(Intersection { at, v, h, p }));
                self.kept = Some((new.at, true, true));
            }
            (true, false) => {
                out.push(Message::Intersection(Intersection { h, p: false, ..new }));
                self.kept = Some((at, v, true));
            }
            (false, false) | (true, true) => {
                counts.dropped += 1;
                let supersedes = if v { at.before(new.at) } else { new.at.before(at) };
                if supersedes {
                    self.kept = Some((new.at, v, p));
                }
            }
        }
    }
}

/// A clean-up processor (figure 3-34).
#[derive(Clone, Copy, Debug)]
pub struct CleanupProcessor {
    segment: Option<u32>,
    /// True if the segment has been sent.
    sent: bool,
    /// True if all of it is hidden.
    suppressed: bool,
    /// The flag `p` of the last intersection.
    p: bool,
    /// Two hidden parts: the end and the beginning of each. The later part is first.
    held: [Ratio; 4],
    count: usize,
}

impl Default for CleanupProcessor {
    fn default() -> Self {
        Self { segment: None, sent: false, suppressed: false, p: true, held: [Ratio::ZERO; 4], count: 0 }
    }
}

impl CleanupProcessor {
    /// Takes a message, and appends those that it sends.
    pub fn receive(&mut self, message: Message, counts: &mut Counts, out: &mut Vec<Message>) {
        match message {
            Message::Drain => {
                self.flush(counts, out);
                *self = Self::default();
                out.push(message);
            }
            Message::Segment(id) => {
                counts.segments += 1;
                self.flush(counts, out);
                *self = Self { segment: Some(id), ..Self::default() };
            }
            Message::Intersection(new) => {
                counts.intersections += 1;
                if new.h {
                    self.take(new, counts, out);
                } else {
                    self.flush(counts, out);
                    match self.suppressed {
                        true => counts.dropped += 1,
                        false => out.push(message),
                    }
                }
            }
        }
    }

    /// Takes an end of a hidden part, and the mate of one that came alone.
    fn take(&mut self, new: Intersection, counts: &mut Counts, out: &mut Vec<Message>) {
        let mut p = new.p;
        if p == self.p {
            // The last one was visible from its place on only: it is hidden from the beginning.
            self.insert(Ratio::NEGATIVE_END, true, counts, out);
            counts.generated += 1;
        }
        if !p && new.v {
            self.insert(Ratio::POSITIVE_END, false, counts, out);
            counts.generated += 1;
            p = true;
        }
        self.insert(new.at, p, counts, out);
    }

    /// Adds an end of a part to those that are held.
    fn insert(&mut self, at: Ratio, p: bool, counts: &mut Counts, out: &mut Vec<Message>) {
        if self.count == 4 {
            self.make_space(counts, out);
        }
        self.held[self.count] = at;
        self.count += 1;
        self.p = p;
        if self.count.is_multiple_of(2) && !self.held[self.count - 1].before(self.held[self.count - 2]) {
            // What is visible from both ends overlaps: the polygon hides nothing of the line.
            self.count -= 2;
            counts.dropped += 2;
        }
        if self.count == 4 {
            self.sort_and_merge(counts);
        }
    }

    /// Puts the later of two parts first, and makes one of parts that overlap or touch.
    fn sort_and_merge(&mut self, counts: &mut Counts) {
        if self.held[0].before(self.held[2]) {
            self.held.swap(0, 2);
            self.held.swap(1, 3);
        }
        if !self.held[2].before(self.held[1]) {
            if self.held[3].before(self.held[1]) {
                self.held[1] = self.held[3];
            }
            self.count -= 2;
            counts.dropped += 2;
        }
    }

    /// Sends the first part, as far as it is on the segment.
    fn make_space(&mut self, counts: &mut Counts, out: &mut Vec<Message>) {
        let [end, begin, ..] = self.held;
        let end = if Ratio::ONE.before(end) { Ratio::ONE } else { end };
        let begin = if begin.before(Ratio::ZERO) { Ratio::ZERO } else { begin };
        let hides = begin.before(end);
        let hides_all = !end.before(Ratio::ONE) && !Ratio::ZERO.before(begin);
        self.suppressed |= hides_all && !self.sent;
        if hides && !self.suppressed {
            self.send_segment(out);
            for (at, v) in [(end, false), (begin, true)] {
                out.push(Message::Intersection(Intersection { at, v, h: true, p: v }));
            }
        } else {
            counts.dropped += 2;
        }
        self.held.rotate_left(2);
        self.count -= 2;
    }

    /// Sends the segment, if it has not been sent.
    fn send_segment(&mut self, out: &mut Vec<Message>) {
        if let Some(id) = self.segment.filter(|_| !self.sent) {
            out.push(Message::Segment(id));
            self.sent = true;
        }
    }

    /// Sends all that is held, and the segment unless all of it is hidden.
    fn flush(&mut self, counts: &mut Counts, out: &mut Vec<Message>) {
        while self.count > 1 {
            self.make_space(counts, out);
        }
        if self.count == 1 {
            counts.generated += 1;
            self.insert(Ratio::NEGATIVE_END, true, counts, out);
            if self.count == 2 {
                self.make_space(counts, out);
            }
        }
        if !self.suppressed {
            self.send_segment(out);
        }
    }
}
