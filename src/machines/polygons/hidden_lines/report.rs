//! The report on a scene on the hidden-line pipeline.

use super::config::Config;
use super::edges::EdgeKind;
use super::numbers::Ratio;
use super::processors::{Intersection, Message};
use super::simulate::{SECTIONS, Simulation, Timing, bits, plane_bits};
use crate::polygons::model::Model;
use crate::report::{Cell, Report, Section, entry};

/// Planes of a four-sided polygon.
const PLANES_OF_FOUR: f64 = 5.0;

/// The area of a serial multiplier of 16 bits, in λ² (§3.4 takes Lyon's, of 1800 λ by 300 λ).
const MULTIPLIER: f64 = 1800.0 * 300.0;

/// Serial multipliers of a plane processor, and of a clean-up processor.
const MULTIPLIERS: [u64; 2] = [3, 2];

/// Hidden parts that a clean-up processor holds have this many ends.
const HELD: u32 = 4;

/// Wires of a processor: those of a segment's six numbers and of a plane's five, three requests and
/// two acknowledgements, for its input and for its output.
const WIRES: u64 = 2 * (6 + 5 + 3 + 2);

/// The report of a simulation.
pub fn report(simulation: &Simulation, model: &Model, config: &Config) -> Report {
    let sections = vec![
        scene(simulation, model),
        drawing(simulation, config),
        hardware(simulation, config),
        processor(config),
        time(simulation, config),
        messages(simulation),
        places(&simulation.timing),
        variants(simulation),
    ];
    Report { sections, charts: Vec::new(), notes: notes(simulation, model, config) }
}

fn percent(part: f64, whole: f64) -> Cell {
    Cell::Number(100.0 * part / whole.max(1.0), 1)
}

fn scene(simulation: &Simulation, model: &Model) -> Section {
    let load = &simulation.load;
    let mut entries = vec![
        entry("polygons", "polygons", model.polygons.len(), ""),
        entry("visible_polygons", "in the volume", load.polygons, "polygons, clipped"),
        entry("occluders", "that hide anything", load.occluders, "polygons, and triangles of those that are not flat"),
        entry("planes", "planes", load.planes, "one for each, and one for each of their edges"),
        entry("lines", "lines", simulation.lines.iter().sum::<usize>(), ""),
    ];
    const KEYS: [(&str, &str); 5] = [
        ("boundaries", "boundaries"),
        ("silhouettes", "silhouettes"),
        ("creases", "creases"),
        ("facets", "facets"),
        ("crossings", "crossings"),
    ];
    for (kind, (key, label)) in EdgeKind::ALL.into_iter().zip(KEYS) {
        entries.push(entry(key, label, simulation.lines[kind as usize], "lines"));
    }
    entries.push(entry("unseen", "unseen edges", simulation.unseen, "outside the image, or seen as a point"));
    Section::entries("scene", "scene", entries)
}

fn drawing(simulation: &Simulation, config: &Config) -> Section {
    let parts = &simulation.parts;
    let numbers = match config.numbers.bits {
        0 => "double precision".to_string(),
        bits => format!("{bits} bits"),
    };
    let entries = vec![
        entry("numbers", "numbers", numbers, ""),
        entry("visible_parts", "visible parts", parts.visible, "of lines, drawn"),
        entry("hidden_parts", "hidden parts", parts.hidden, ""),
        entry("hidden_lines", "hidden lines", parts.hidden_lines, "lines of which nothing is visible"),
        entry(
            "short_parts",
            "too short",
            parts.short,
            format!("visible parts below {} pixels", config.drawing.shortest),
        ),
        entry("polylines", "strokes", parts.polylines, "polylines, which the parts make"),
    ];
    Section::entries("drawing", "drawing", entries)
}

fn hardware(simulation: &Simulation, config: &Config) -> Section {
    let load = &simulation.load;
    let per_chip = config.hardware.plane_processors_per_chip as usize;
    let tail = config.hardware.tail as usize;
    let entries = vec![
        entry("plane_processors", "plane processors", load.plane_processors, "").published(10_000u64),
        entry("chips", "chips", load.plane_processors.div_ceil(per_chip), format!("of {per_chip}")).published(1000u64),
        entry("cleanup_processors", "clean-up processors", load.cleanup_processors + tail, {
            format!("one on each chip, and {tail} at the end")
        }),
        entry("capacity", "room for", load.plane_processors as f64 / PLANES_OF_FOUR, "four-sided polygons")
            .published(2000u64),
        entry("passes", "passes", load.passes, "over the lines, each with other planes"),
        entry("plane_bits", "plane message", plane_bits(config.hardware.bits_per_wire), "bits").published(65u64),
        entry("segment_bits", "segment message", bits(&Message::Segment(0), config.hardware.bits_per_wire), "bits")
            .published(96u64),
        entry("intersection_bits", "intersection message", bits(&INTERSECTION, config.hardware.bits_per_wire), "bits")
            .published(35u64),
        entry("tick_us", "tick", config.tick(), "us to pass a message on").published(8.0),
    ];
    Section::entries("hardware", "hidden-line pipeline", entries)
}

/// Any intersection.
const INTERSECTION: Message = Message::Intersection(Intersection { at: Ratio::ZERO, v: false, h: false, p: false });

fn processor(config: &Config) -> Section {
    let word = config.hardware.bits_per_wire;
    let memory = bits(&Message::Segment(0), word) + HELD * bits(&INTERSECTION, word);
    let [planes, cleanup] = MULTIPLIERS;
    // Doubled for adders, registers and control.
    let area = 2.0 * planes as f64 * MULTIPLIER * 1e-6;
    let entries = vec![
        entry("wires", "wires", WIRES, "for messages, of each processor").published(32u64),
        entry("plane_multipliers", "multipliers", planes, "of a plane processor, serial").published(3u64),
        entry("cleanup_multipliers", "in clean-up", cleanup, "multipliers").published(2u64),
        entry("plane_area", "plane processor", area, "million square lambda; 900 by 3600").published(3.24),
        entry("cleanup_memory", "clean-up memory", memory, "bits: a segment and four intersections; below 300"),
    ];
    Section::entries("processor", "a processor", entries)
}

fn time(simulation: &Simulation, config: &Config) -> Section {
    let Simulation { timing, load, .. } = simulation;
    let (tick, frame) = (config.tick(), config.hardware.frame * 1e6);
    let milliseconds = |ticks: f64| ticks * tick * 1e-3;
    let lines = timing.lines.max(1) as f64;
    let scale = lines / timing.simulated.max(1) as f64;
    let stream = timing.stream as f64 * scale;
    // Each four-sided polygon takes its planes' ticks, the clean-up processors' two, and its share of the lines' time.
    let chip = 1.0 + 2.0 / f64::from(config.hardware.plane_processors_per_chip);
    let of_a_polygon = PLANES_OF_FOUR * chip + stream / load.passes as f64 / load.occluders.max(1) as f64;
    let by_planes = frame / (PLANES_OF_FOUR * tick);
    let entries = vec![
        entry("load_ms", "loading planes", milliseconds(load.planes as f64), "ms, while the scene before is drawn"),
        entry("planes_ms", "plane processors", milliseconds(load.plane_processors as f64), "ms through all of them")
            .published(80.0),
        entry("latency_ms", "latency", milliseconds(timing.latency as f64), "ms to the first line, over all passes"),
        entry("stream_ms", "lines", milliseconds(stream), "ms from the first to the last"),
        entry("image_ms", "image", milliseconds(timing.ticks()), "ms"),
        entry("line_ticks", "ticks a line", timing.stream as f64 / timing.simulated.max(1) as f64, "over all passes"),
        entry("frame_polygons", "polygons a frame", Cell::Number(by_planes, 0), {
            format!("four-sided ones whose planes take {:.1} ms", frame * 1e-3)
        })
        .published("800-900"),
        entry("frame_polygons_drawn", "with lines", Cell::Number(frame / (of_a_polygon * tick), 0), {
            "polygons a frame whose lines have passed too, as many for each as here"
        }),
        entry("images_per_second", "images a second", 1e6 / (stream * tick).max(tick), "one after the other"),
    ];
    Section::entries("time", "time", entries)
}

fn messages(simulation: &Simulation) -> Section {
    let timing = &simulation.timing;
    let all = timing.total();
    let ticks = all.ticks as f64;
    let received = all.counts.segments + all.counts.intersections;
    let note = "of the time from a processor's first message to its last";
    let entries = vec![
        entry("lines", "lines simulated", timing.simulated, format!("of {}", timing.lines)),
        entry("processors", "processors", timing.processors, "over all passes"),
        entry("received", "messages", received, "that processors received"),
        entry("segments", "segments", all.counts.segments, ""),
        entry("intersections", "intersections", all.counts.intersections, ""),
        entry("generated", "generated", all.counts.generated, "intersections"),
        entry("dropped", "dropped", all.counts.dropped, "intersections"),
        entry("busy_percent", "receiving", percent(received as f64, ticks), format!("% {note}")),
        entry(
            "waited_percent",
            "held up",
            percent(all.waited as f64, ticks),
            "% with a message that could not be sent",
        ),
        entry("idle_percent", "gaps", percent(all.idle as f64, ticks), "% without a message"),
        entry(
            "unmerged",
            "unmerged parts",
            timing.unmerged,
            "hidden parts at the display that more clean-up would join",
        ),
        entry("slipped", "slipped through", timing.slipped, "hidden lines at the display"),
        entry("different", "different lines", timing.different, "whose parts are not those of the drawing"),
    ];
    Section::entries("messages", "messages", entries)
}

/// The work of processors by their place in the pipeline.
fn places(timing: &Timing) -> Section {
    let columns = [
        ("from_percent", "from %"),
        ("segments", "segments"),
        ("intersections", "intersections"),
        ("generated", "generated"),
        ("dropped", "dropped"),
        ("busy_percent", "receiving %"),
        ("waited_percent", "held up %"),
        ("idle_percent", "gaps %"),
    ];
    let row = |(number, section): (usize, &super::simulate::Section)| {
        // Of a processor.
        let mean = |count: u64| Cell::Number(count as f64 / section.processors.max(1) as f64, 1);
        let ticks = section.ticks as f64;
        vec![
            (number * 100 / SECTIONS).into(),
            mean(section.counts.segments),
            mean(section.counts.intersections),
            mean(section.counts.generated),
            mean(section.counts.dropped),
            percent((section.counts.segments + section.counts.intersections) as f64, ticks),
            percent(section.waited as f64, ticks),
            percent(section.idle as f64, ticks),
        ]
    };
    let used = timing.sections.iter().enumerate().filter(|(_, section)| section.processors > 0);
    Section::table("places", "a processor, by its place in the pipeline", &columns, used.map(row).collect())
}

/// The simpler pipelines: their processors are fewer, and each does more.
fn variants(simulation: &Simulation) -> Section {
    let columns = [
        ("pipeline", "processors compare"),
        ("processors", "processors"),
        ("sent", "sent"),
        ("received", "messages"),
        ("per_sent", "a processor, of each sent"),
        ("arrived", "arrive"),
    ];
    let all = simulation.timing.total();
    let planes = super::variants::Pipe {
        processors: simulation.load.planes,
        sent: simulation.timing.simulated,
        received: all.counts.segments + all.counts.intersections,
        arrived: simulation.timing.arrived,
    };
    let row = |name: &str, pipe: &super::variants::Pipe| {
        let of_each = pipe.received as f64 / (pipe.processors.max(1) * pipe.sent.max(1)) as f64;
        vec![
            name.into(),
            pipe.processors.into(),
            pipe.sent.into(),
            pipe.received.into(),
            Cell::Number(of_each, 2),
            pipe.arrived.into(),
        ]
    };
    let rows = vec![
        row("lines with planes", &planes),
        row("edges with polygons", &simulation.edge_pipe),
        row("polygons with polygons", &simulation.polygon_pipe),
    ];
    Section::table("pipelines", "the three pipelines of section 3.4", &columns, rows)
}

fn notes(simulation: &Simulation, model: &Model, config: &Config) -> Vec<String> {
    let Simulation { timing, load, .. } = simulation;
    let mut notes: Vec<String> = Vec::new();
    if load.passes > 1 {
        notes.push(format!(
            "The planes of the scene take {} passes of {} plane processors: what arrives is sent through again.",
            load.passes, load.plane_processors
        ));
    }
    if timing.simulated < timing.lines {
        notes.push(format!(
            "Times are those of {} of {} lines, evenly chosen; the drawing has all (`simulation.hops`).",
            timing.simulated, timing.lines
        ));
    }
    if !config.drawing.intersections {
        notes.push("Lines in which polygons cross are not drawn (`drawing.intersections`).".into());
    }
    notes.extend(model.left_out.iter().map(|what| format!("Left out: {what}")));
    notes
}

#[cfg(test)]
mod tests {
    use super::super::scenes::{cubes, model};
    use super::super::simulate::simulate;
    use super::*;

    #[test]
    fn published_numbers_are_ours() {
        let model = model(&cubes(10, 1.0, 1));
        let config = Config::default();
        let simulation = simulate(&model, &[], &config, &|_| ()).expect("a small scene");
        let json = report(&simulation, &model, &config).json();
        let published = json["published"].as_object().expect("published numbers");
        assert!(published.len() >= 12);
        for (path, number) in published {
            let (section, key) = path.split_once('.').expect("a section and a key");
            let ours = json[section][key].as_f64().expect("a number");
            match number.as_f64() {
                Some(number) => assert!((ours / number - 1.0).abs() < 1e-6, "{path}: {ours}, not {number}"),
                None => assert!(path == "time.frame_polygons" && (800.0..=900.0).contains(&ours), "{path}: {ours}"),
            }
        }
    }

    #[test]
    fn notes_say_what_is_not_shown() {
        let mut model = model(&cubes(10, 1.0, 1));
        model.left_out.push("a sphere".into());
        let config = Config::parse(
            "[drawing]\nintersections = false\n[hardware]\nplane-processors = 50\n[simulation]\nhops = 1000",
        )
        .expect("numbers");
        let simulation = simulate(&model, &[], &config, &|_| ()).expect("a small scene");
        assert_eq!(report(&simulation, &model, &config).notes.len(), 4);
    }
}
