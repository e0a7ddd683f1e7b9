//! A scene on the hidden-line pipeline: the drawing, and the time that the hardware takes for it.

use super::config::Config;
use super::display::Display;
use super::drawing::{Drawing, Parts, draw};
use super::host::{HiddenLineError, Host};
use super::pipe::{PipelineStage, passes, run, stages};
use super::processors::{Counts, Intersection, Message};
use super::variants::{Pipe, edge_pipe, polygon_pipe};
use super::visibility::{Part, evaluate};
use crate::polygons::model::Model;

/// Called with the share that is done, from 0 to 1.
pub type Progress<'a> = &'a (dyn Fn(f32) + Sync);

/// A scene on the hardware.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The drawing.
    pub drawing: Drawing,
    /// The counts of what was drawn.
    pub parts: Parts,
    /// Lines by kind, in the order of [`EdgeKind::ALL`](super::EdgeKind::ALL).
    pub lines: [usize; 5],
    /// Edges outside the visible volume, and those that the eye sees as a point.
    pub unseen: usize,
    /// The load of the hardware model.
    pub load: Load,
    /// The time that it takes.
    pub timing: Timing,
    /// The pipeline that compares edges with polygons.
    pub edge_pipe: Pipe,
    /// The pipeline that compares polygons with polygons.
    pub polygon_pipe: Pipe,
}

/// The load of the hardware model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Polygons within the visible volume.
    pub polygons: usize,
    /// Polygons among them that hide anything, and the triangles of those that are not flat.
    pub occluders: usize,
    /// Planes.
    pub planes: usize,
    /// Plane processors of the hardware.
    pub plane_processors: usize,
    /// Clean-up processors of its chips.
    pub cleanup_processors: usize,
    /// Passes over the lines.
    pub passes: usize,
}

/// The part of the pipeline whose processors are counted together: this many parts.
pub const SECTIONS: usize = 10;

/// The time that the hardware takes. Ticks are those of the lines that were simulated.
#[derive(Clone, Debug, Default)]
pub struct Timing {
    /// Lines that were simulated.
    pub simulated: usize,
    /// All lines.
    pub lines: usize,
    /// Until the first segment arrives, over all passes.
    pub latency: u64,
    /// From then on until all is done, over all passes.
    pub stream: u64,
    /// Messages that left the host, that of the end too, over all passes.
    pub sent: u64,
    /// Messages that arrived at the display.
    pub arrived: u64,
    /// Processors times messages that they received.
    pub hops: u64,
    /// Processors that were simulated, over all passes.
    pub processors: u64,
    /// The work of the processors, by their place in the pipeline; one after the other in all
    /// passes.
    pub sections: [Section; SECTIONS],
    /// Hidden parts that arrived at the display unmerged.
    pub unmerged: u64,
    /// Segments that arrived there although they are hidden.
    pub slipped: u64,
    /// Lines whose hidden parts are not those of the drawing: none.
    pub different: usize,
}

/// The work of the processors of a part of the pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Processors.
    pub processors: u64,
    /// Their messages.
    pub counts: Counts,
    /// Ticks in which they could not send.
    pub waited: u64,
    /// Ticks without a message between messages.
    pub idle: u64,
    /// Messages that they sent.
    pub sent: u64,
    /// Ticks from the first message of a pass to the last, times processors.
    pub ticks: u64,
}

impl Timing {
    /// Ticks for all lines.
    pub fn ticks(&self) -> f64 {
        let scale = self.lines as f64 / self.simulated.max(1) as f64;
        self.latency as f64 + scale * self.stream as f64
    }

    /// All sections together.
    pub fn total(&self) -> Section {
        self.sections.iter().fold(Section::default(), |mut all, section| {
            all.add(section);
            all
        })
    }
}

impl Section {
    fn add(&mut self, other: &Section) {
        self.processors += other.processors;
        self.counts.segments += other.counts.segments;
        self.counts.intersections += other.counts.intersections;
        self.counts.generated += other.counts.generated;
        self.counts.dropped += other.counts.dropped;
        self.waited += other.waited;
        self.idle += other.idle;
        self.sent += other.sent;
        self.ticks += other.ticks;
    }

    /// The share of time in which a processor receives a message.
    pub fn busy(&self) -> f64 {
        (self.counts.segments + self.counts.intersections) as f64 / self.ticks.max(1) as f64
    }
}

/// Draws a scene. `names` are those of the objects, where they have one.
///
/// # Errors
/// When the scene has too many polygons or lines, or the image a size that none can have.
pub fn render(
    model: &Model,
    names: &[Option<String>],
    config: &Config,
    progress: Progress<'_>,
) -> Result<Drawing, HiddenLineError> {
    let rendered = rendered(model, names, config, progress)?;
    progress(1.0);
    Ok(rendered.drawing)
}

/// A scene and its drawing.
struct Rendered {
    host: Host,
    hidden: Vec<Vec<Part>>,
    drawing: Drawing,
    parts: Parts,
}

fn rendered(
    model: &Model,
    names: &[Option<String>],
    config: &Config,
    progress: Progress<'_>,
) -> Result<Rendered, HiddenLineError> {
    shadewright_image::check_size(model.view.size[0], model.view.size[1])?;
    let host = Host::new(model, config)?;
    progress(0.2);
    let hidden = evaluate(&host.segments, &host.planes, host.space.format, &|share| progress(0.2 + 0.5 * share));
    let (drawing, parts) = draw(&host, &hidden, model, names, config);
    Ok(Rendered { host, hidden, drawing, parts })
}

/// Draws a scene, and times the hardware with it. `names` are those of the objects, where they have
/// one.
///
/// # Errors
/// As [`render`].
pub fn simulate(
    model: &Model,
    names: &[Option<String>],
    config: &Config,
    progress: Progress<'_>,
) -> Result<Simulation, HiddenLineError> {
    let Rendered { host, hidden, drawing, parts } = rendered(model, names, config, progress)?;
    progress(0.75);
    let mut lines = [0; 5];
    for line in &host.lines {
        lines[line.kind as usize] += 1;
    }
    let load = load(&host, config);
    let chosen = chosen(&host, &hidden, config);
    let timing = time(&host, &hidden, &chosen, config);
    progress(0.95);
    let edge_pipe = edge_pipe(&host, &chosen);
    let polygon_pipe = polygon_pipe(&host, config.simulation.hops);
    progress(1.0);
    Ok(Simulation { drawing, parts, lines, unseen: host.unseen, load, timing, edge_pipe, polygon_pipe })
}

/// The load that a scene puts on the hardware model.
fn load(host: &Host, config: &Config) -> Load {
    let planes = host.planes.planes.len();
    let plane_processors = match config.hardware.plane_processors as usize {
        0 => planes.max(1),
        count => count,
    };
    Load {
        polygons: host.polygons.len(),
        occluders: host.planes.occluders.len(),
        planes,
        plane_processors,
        cleanup_processors: plane_processors / config.hardware.plane_processors_per_chip as usize,
        passes: passes(&host.planes, plane_processors).len(),
    }
}

/// Lines with which the time that a simulation takes is estimated.
const PILOT: usize = 4;

/// The lines with which the hardware is timed: all, or some that are evenly spread.
fn chosen(host: &Host, hidden: &[Vec<Part>], config: &Config) -> Vec<u32> {
    let lines = host.segments.len();
    let some = |count: usize| -> Vec<u32> {
        let step = lines as f64 / count.max(1) as f64;
        (0..count.min(lines)).map(|k| (k as f64 * step) as u32).collect()
    };
    let pilot = time(host, hidden, &some(PILOT), config);
    let of_a_line = pilot.hops / pilot.simulated.max(1) as u64 + 1;
    some((u64::from(config.simulation.hops) / of_a_line).clamp(1, lines.max(1) as u64) as usize)
}

/// Runs lines through the hardware, pass by pass. What arrives after a pass is sent again in the
/// next.
fn time(host: &Host, hidden: &[Vec<Part>], chosen: &[u32], config: &Config) -> Timing {
    let load = load(host, config);
    let per_chip = config.hardware.plane_processors_per_chip as usize;
    let mut timing = Timing { simulated: chosen.len(), lines: host.segments.len(), ..Timing::default() };
    let mut messages: Vec<Message> = chosen.iter().map(|&id| Message::Segment(id)).collect();
    let mut display = Display::default();
    for pass in passes(&host.planes, load.plane_processors) {
        let mut stages = stages(&host.planes, pass, &config.hardware);
        display = Display::default();
        timing.sent += messages.len() as u64 + 1;
        let all = messages.drain(..).chain([Message::Drain]);
        let mut collected = Vec::new();
        let times = run(&mut stages, all, &host.segments, host.space.format, &mut |message| {
            display.receive(message);
            collected.push(message);
        });
        // Processors without a plane pass messages on: a tick each, and two in clean-up.
        let loaded = stages.len() - config.hardware.tail as usize;
        let planes = loaded - loaded / (per_chip + 1);
        let unused = load.plane_processors - planes.min(load.plane_processors);
        let unused_chips = load.cleanup_processors - (planes / per_chip).min(load.cleanup_processors);
        timing.latency += times.first + (unused + 2 * unused_chips) as u64;
        timing.stream += times.last - times.first;
        timing.arrived += times.messages;
        timing.add(&stages);
        messages.extend(collected.into_iter().filter(|message| *message != Message::Drain));
    }
    (timing.unmerged, timing.slipped) = (display.unmerged, display.slipped);
    let parts = display.parts(host.segments.len());
    let differs = |&&id: &&u32| parts.get(id as usize) != hidden.get(id as usize);
    timing.different = chosen.iter().filter(differs).count();
    timing
}

impl Timing {
    /// Adds what the processors of a pass did.
    fn add(&mut self, stages: &[PipelineStage]) {
        self.processors += stages.len() as u64;
        for (number, stage) in stages.iter().enumerate() {
            self.hops += stage.received();
            let section = Section {
                processors: 1,
                counts: stage.counts,
                waited: stage.waited,
                idle: stage.idle,
                sent: stage.sent,
                ticks: stage.span(),
            };
            self.sections[number * SECTIONS / stages.len()].add(&section);
        }
    }
}

/// Bits of a message: the coordinates of both ends of a segment, or an intersection's two numbers and flags.
pub fn bits(message: &Message, word: u32) -> u32 {
    match message {
        Message::Segment(_) | Message::Drain => 6 * word,
        Message::Intersection(Intersection { .. }) => 2 * word + 3,
    }
}

/// Bits of a plane message: four numbers and the flag `f`.
pub fn plane_bits(word: u32) -> u32 {
    4 * word + 1
}

#[cfg(test)]
mod tests {
    use super::super::scenes::{cubes, loose, model};
    use super::*;

    fn simulated(text: &str) -> Simulation {
        let config = Config::parse(text).expect("a configuration");
        let mut quads = cubes(20, 1.5, 7);
        quads.extend(loose(40, 3.0, 8));
        simulate(&model(&quads), &[], &config, &|_| ()).expect("a small scene")
    }

    #[test]
    fn a_scene_in_several_passes_has_the_same_drawing() {
        let whole = simulated("");
        assert_eq!((whole.load.passes, whole.timing.different), (1, 0));
        for text in ["[hardware]\nplane-processors = 100", "[hardware]\nplane-processors = 16\ntail = 1"] {
            let passes = simulated(text);
            assert!(passes.load.passes > 4, "{:?}", passes.load);
            assert_eq!(passes.timing.different, 0);
            assert_eq!(passes.drawing, whole.drawing);
        }
    }

    #[test]
    fn threads_change_nothing() {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| simulated(""))
        };
        let (one, three) = (with(1), with(3));
        assert_eq!(one.drawing, three.drawing);
        assert_eq!(one.lines, three.lines);
    }

    #[test]
    fn part_of_the_lines_gives_about_the_time_of_all() {
        let (all, part) = (simulated(""), simulated("[simulation]\nhops = 200000"));
        assert!(part.timing.simulated < all.timing.simulated / 2 && part.timing.simulated > 20);
        assert_eq!(part.drawing, all.drawing);
        let ratio = part.timing.ticks() / all.timing.ticks();
        assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    }

    #[test]
    fn each_message_that_is_sent_comes_from_one_that_came_or_was_generated() {
        let Simulation { timing, .. } = simulated("");
        let all = timing.total();
        // Each pass keeps nothing: what came and was generated is sent on, dropped, or a hidden segment.
        let came = all.counts.segments + all.counts.intersections + all.counts.generated;
        let drains = all.processors;
        assert!(all.sent <= came + drains - all.counts.dropped, "{all:?}");
        assert!(all.busy() > 0.3 && all.busy() <= 1.0);
    }

    #[test]
    fn an_empty_scene_has_an_empty_drawing() {
        let simulation = simulate(&model(&[]), &[], &Config::default(), &|_| ()).expect("nothing to draw");
        assert!(simulation.drawing.groups.is_empty());
        assert_eq!(simulation.timing.lines, 0);
    }

    #[test]
    fn messages_have_the_bits_of_the_thesis() {
        let intersection = Intersection { at: super::super::numbers::Ratio::ZERO, v: false, h: false, p: false };
        assert_eq!(bits(&Message::Segment(0), 16), 96);
        assert_eq!(bits(&Message::Intersection(intersection), 16), 35);
        assert_eq!(plane_bits(16), 65);
    }
}
