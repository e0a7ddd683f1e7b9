//! The pipeline in time. Processors pass messages on at their own pace (§3.4): a transfer takes a
//! tick, and begins when the sender has the message and the receiver can take one.
//!
//! A processor receives a message while it sends the last of those that the one before made it send.
//! So one message in and one out keep a tick; a processor that sends more delays those behind it, and
//! where messages are dropped there are gaps, which close where others wait.
//!
//! Each message is followed to where it ends before the next leaves the host. What a processor does
//! with a message depends only on messages before it, so this gives the times of a simulation tick by
//! tick (a test holds both together), with memory for the processors and for what they are about to send.

use super::config::Hardware;
use super::numbers::Format;
use super::planes::{Planes, Segment};
use super::processors::{CleanupProcessor, Counts, Message, PlaneProcessor};
use std::ops::Range;

/// A processor of either kind.
#[derive(Clone, Copy, Debug)]
pub enum Processor {
    /// Of a plane.
    Plane(PlaneProcessor),
    /// Of clean-up.
    Cleanup(CleanupProcessor),
}

impl Processor {
    /// Takes a message, and appends those that it sends.
    pub fn receive(
        &mut self,
        message: Message,
        segments: &[Segment],
        format: Format,
        counts: &mut Counts,
        out: &mut Vec<Message>,
    ) {
        match self {
            Self::Plane(processor) => processor.receive(message, segments, format, counts, out),
            Self::Cleanup(processor) => processor.receive(message, counts, out),
        }
    }
}

/// A processor and its times, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct PipelineStage {
    processor: Processor,
    /// When it can begin to receive.
    free: u64,
    /// When it can begin to send.
    ready: u64,
    /// The counts of the processor.
    pub counts: Counts,
    /// Ticks for which it had a message and the next processor was not ready.
    pub waited: u64,
    /// Ticks for which it was ready and no message came, from its first message to its last.
    pub idle: u64,
    /// Messages that it sent.
    pub sent: u64,
    /// When it received its first message, and when its last.
    began: Option<u64>,
    ended: u64,
}

impl PipelineStage {
    fn new(processor: Processor) -> Self {
        let counts = Counts::default();
        Self { processor, free: 0, ready: 0, counts, waited: 0, idle: 0, sent: 0, began: None, ended: 0 }
    }

    /// Ticks from its first message to its last.
    pub fn span(&self) -> u64 {
        self.ended - self.began.unwrap_or(self.ended)
    }

    /// Messages that it received.
    pub fn received(&self) -> u64 {
        self.counts.segments + self.counts.intersections
    }
}

/// The polygons of each pass: as many as have their planes in the hardware. Planes of a polygon are
/// in the same pass.
pub fn passes(planes: &Planes, processors: usize) -> Vec<Range<usize>> {
    let mut passes = Vec::new();
    let (mut first, mut held) = (0, 0);
    for (number, polygon) in planes.occluders.iter().enumerate() {
        let count = polygon.count as usize;
        if held + count > processors && held > 0 {
            passes.push(first..number);
            (first, held) = (number, 0);
        }
        held += count;
    }
    passes.push(first..planes.occluders.len());
    passes
}

/// The processors of a pass: a clean-up processor after so many planes, and some at the end.
pub fn stages(planes: &Planes, pass: Range<usize>, hardware: &Hardware) -> Vec<PipelineStage> {
    let mut stages = Vec::new();
    let mut held = 0;
    for polygon in planes.occluders.get(pass).unwrap_or(&[]) {
        let all = planes.get(polygon);
        for (number, &plane) in all.iter().enumerate() {
            stages.push(PipelineStage::new(Processor::Plane(PlaneProcessor::new(plane, number + 1 == all.len()))));
            held += 1;
            if held % hardware.plane_processors_per_chip == 0 {
                stages.push(PipelineStage::new(Processor::Cleanup(CleanupProcessor::default())));
            }
        }
    }
    let tail = (0..hardware.tail).map(|_| PipelineStage::new(Processor::Cleanup(CleanupProcessor::default())));
    stages.extend(tail);
    stages
}

/// When messages arrived at the end, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The end of the first.
    pub first: u64,
    /// The end of the last.
    pub last: u64,
    /// Messages.
    pub messages: u64,
}

/// Sends messages through the processors, to the display.
pub fn run(
    stages: &mut [PipelineStage],
    messages: impl Iterator<Item = Message>,
    segments: &[Segment],
    format: Format,
    display: &mut dyn FnMut(Message),
) -> Times {
    let mut times = Times::default();
    // When the host can send.
    let mut host = 0;
    // Messages on their way, with the stages that they go to: the next to be followed is the last.
    let mut ways: Vec<(usize, Message)> = Vec::new();
    let mut out: Vec<Message> = Vec::new();
    for message in messages {
        ways.push((0, message));
        while let Some((number, message)) = ways.pop() {
            let ready = number.checked_sub(1).map_or(host, |sender| stages[sender].ready);
            let free = stages.get(number).map_or(0, |stage| stage.free);
            let begin = ready.max(free);
            match number.checked_sub(1) {
                None => host = begin + 1,
                Some(sender) => {
                    let sender = &mut stages[sender];
                    sender.waited += begin - ready;
                    sender.sent += 1;
                    sender.ready = begin + 1;
                    // While it sends its last message it can receive.
                    sender.free = sender.free.max(begin);
                }
            }
            let Some(stage) = stages.get_mut(number) else {
                let end = begin + 1;
                if times.messages == 0 {
                    times.first = end;
                }
                times.last = end;
                times.messages += 1;
                display(message);
                continue;
            };
            match stage.began {
                None => stage.began = Some(begin),
                Some(_) => stage.idle += begin - free,
            }
            stage.ended = begin + 1;
            stage.free = begin + 1;
            stage.ready = stage.ready.max(begin + 1);
            stage.processor.receive(message, segments, format, &mut stage.counts, &mut out);
            ways.extend(out.drain(..).rev().map(|message| (number + 1, message)));
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::super::display::Display;
    use super::super::host::Host;
    use super::super::scenes::{cubes, loose, model};
    use super::super::visibility::evaluate;
    use super::*;
    use std::collections::VecDeque;

    fn segments_then_drain(count: usize) -> impl Iterator<Item = Message> {
        (0..count as u32).map(Message::Segment).chain([Message::Drain])
    }

    #[test]
    fn what_arrives_is_what_is_computed_line_by_line() {
        for (bits, per_chip) in [(0, 10), (16, 3), (12, 1), (0, 7)] {
            let text = format!("[numbers]\nbits = {bits}\n[hardware]\nplane-processors-per-chip = {per_chip}");
            let config = Config::parse(&text).expect("a configuration");
            let mut quads = cubes(20, 1.5, 5);
            quads.extend(loose(60, 3.0, 6));
            let host = Host::new(&model(&quads), &config).expect("a small scene");
            let mut stages = stages(&host.planes, 0..host.planes.occluders.len(), &config.hardware);
            let mut display = Display::default();
            let format = host.space.format;
            run(&mut stages, segments_then_drain(host.segments.len()), &host.segments, format, &mut |message| {
                display.receive(message)
            });
            let expected = evaluate(&host.segments, &host.planes, format, &|_| ());
            assert_eq!(display.parts(host.segments.len()), expected, "{bits} bits");
        }
    }

    /// A processor of a simulation that goes tick by tick.
    struct Clocked {
        processor: Processor,
        counts: Counts,
        /// The messages that it has to send.
        queue: VecDeque<Message>,
        /// The message on the wires to it.
        receives: Option<Message>,
    }

    /// Ticks until the last message has arrived: in each, all transfers that can begin do.
    fn clocked(stages: &[PipelineStage], messages: Vec<Message>, segments: &[Segment], format: Format) -> u64 {
        let start = |stage: &PipelineStage| {
            let counts = Counts::default();
            Clocked { processor: stage.processor, counts, queue: VecDeque::new(), receives: None }
        };
        let mut all: Vec<Clocked> = stages.iter().map(start).collect();
        let mut host: VecDeque<Message> = messages.into();
        let (mut tick, mut out) = (0, Vec::new());
        loop {
            // From the end, so that a processor which begins to send its last message can receive.
            for number in (0..=all.len()).rev() {
                let free = all.get(number).is_none_or(|to| to.receives.is_none() && to.queue.is_empty());
                let queue = if number == 0 { &mut host } else { &mut all[number - 1].queue };
                if !free {
                    continue;
                }
                let Some(message) = queue.pop_front() else { continue };
                match all.get_mut(number) {
                    Some(to) => to.receives = Some(message),
                    None if message == Message::Drain => return tick + 1,
                    None => {}
                }
            }
            tick += 1;
            for stage in &mut all {
                if let Some(message) = stage.receives.take() {
                    stage.processor.receive(message, segments, format, &mut stage.counts, &mut out);
                    stage.queue.extend(out.drain(..));
                }
            }
        }
    }

    #[test]
    fn times_are_those_of_a_simulation_tick_by_tick() {
        for seed in 0..4 {
            let config = Config::parse("[hardware]\nplane-processors-per-chip = 6\ntail = 3").expect("a configuration");
            let host = Host::new(&model(&loose(12, 8.0, seed)), &config).expect("a small scene");
            let start = stages(&host.planes, 0..host.planes.occluders.len(), &config.hardware);
            let messages: Vec<Message> = segments_then_drain(host.segments.len()).collect();
            let expected = clocked(&start, messages.clone(), &host.segments, Format::Exact);
            let mut display = Display::default();
            let times = run(&mut start.clone(), messages.into_iter(), &host.segments, Format::Exact, &mut |message| {
                display.receive(message)
            });
            assert_eq!(times.last, expected, "seed {seed}");
        }
    }

    #[test]
    fn a_clean_up_processor_keeps_a_segment_until_the_next_message() {
        let config = Config::parse("[hardware]\ntail = 5").expect("a configuration");
        let mut stages = stages(&Planes::default(), 0..0, &config.hardware);
        let segment = Segment { from: glam::DVec3::ZERO, to: glam::DVec3::ONE };
        let mut display = Display::default();
        let times = run(&mut stages, segments_then_drain(1), &[segment], Format::Exact, &mut |message| {
            display.receive(message)
        });
        // A tick to each of them and one to wait there, then one to the display.
        assert_eq!((times.first, times.last, times.messages), (11, 12, 2));
        assert_eq!(display.arrived, [(0, vec![])]);
    }

    #[test]
    fn polygons_are_in_one_pass_with_all_their_planes() {
        let host = Host::new(&model(&cubes(5, 1.0, 1)), &Config::default()).expect("a small scene");
        let passes = passes(&host.planes, 17);
        assert_eq!(passes.len(), 10);
        assert!(passes.iter().all(|pass| pass.len() == 3), "{passes:?}");
        assert_eq!((passes[0].start, passes[9].end), (0, 30));
    }
}
