//! The report of the hardware model: its numbers beside the published ones.

use super::config::{Config, FrontKind};
use super::flow::layer_name;
use super::hardware::{Chips, edge_bits, load, merger, published_examples, shift, words};
use super::merge::Case;
use super::processors::color;
use super::processors::instructions::Phase;
use super::processors::layout::words as memory_words;
use super::processors::transform::PER_OBJECT;
use super::shade;
use super::shape::{UnitKind, extra_mergers};
use super::simulate::Simulation;
use crate::polygons::model::Model;
use crate::rays::events::{Picoseconds, microseconds};
use crate::report::{Cell, Chart, Report, Section, entry};
use shadewright_base::plot::{Axis, Bars, Curve, Lines, Series};

/// The report of a simulation.
pub fn report(simulation: &Simulation, model: &Model, config: &Config) -> Report {
    let mut sections =
        vec![scene(simulation, model, config), front(simulation, model, config), instructions(simulation)];
    sections.extend([segments(simulation, config), layers(simulation), merging(simulation, config)]);
    sections.extend([time(simulation, config), hardware(simulation, model, config), splits()]);
    if !simulation.sweep.is_empty() {
        sections.push(sweep(simulation));
    }
    if !simulation.capacities.is_empty() {
        sections.push(capacity(simulation));
    }
    let mut notes = Vec::new();
    if !model.left_out.is_empty() {
        notes.push(format!("Not shown: {}.", model.left_out.join("; ")));
    }
    if simulation.groups.len() > 1 {
        notes.push(format!("{} groups, one after the other: not in real time.", simulation.groups.len()));
    }
    if config.segments.normals {
        notes.push("Segments carry a material number beside their normals: the thesis leaves the color out.".into());
    }
    let time = f64::from(simulation.program.len()) * config.front.instruction;
    if config.front.kind == FrontKind::Pipeline {
        notes.push("A common pipeline replaces the array, whose instructions are listed for comparison.".into());
    } else if time > config.frame_time() {
        notes.push("The program takes longer than a frame: frames are shown more than once.".into());
    }
    if simulation.groups.iter().any(|group| group.overflows > 0) {
        notes.push("Splitters' queues are too short for this scene: real hardware would stop.".into());
    }
    Report { sections, charts: charts(simulation), notes }
}

fn share(part: u64, of: u64) -> Cell {
    Cell::Number(100.0 * part as f64 / of.max(1) as f64, 1)
}

fn scene(simulation: &Simulation, model: &Model, config: &Config) -> Section {
    let [held, visible] = simulation.polygons;
    let pixels = u64::from(model.view.size[0]) * u64::from(model.view.size[1]);
    let waste = match config.front.kind {
        FrontKind::Array => "% of the leaves have a polygon that covers a scan line",
        FrontKind::Pipeline => "% of the leaves; polygons are culled before they are assigned",
    };
    Section::entries(
        "scene",
        "scene",
        vec![
            entry("polygons", "polygons", model.polygons.len(), "planar convex quadrilaterals and triangles"),
            entry("held", "in leaves", held, ""),
            entry("visible", "visible", visible, "polygons in leaves that cover a scan line"),
            entry("leaves", "leaves", simulation.shape.leaves, format!("{} groups", simulation.groups.len())),
            entry("used_leaves_percent", "leaves in use", Cell::Number(100.0 * simulation.used_leaves(), 1), waste),
            entry("pixels", "pixels", pixels, ""),
            entry("lines", "scan lines", simulation.lines, ""),
            entry("white", "white", f64::from(simulation.white), "linear value of the largest field, 4095"),
        ],
    )
}

fn front(simulation: &Simulation, model: &Model, config: &Config) -> Section {
    let program = &simulation.program;
    let frame = config.frame_time();
    let possible = (frame / config.front.instruction) as u64;
    let spare = possible.saturating_sub(program.len().into());
    let active = Cell::Number(100.0 * simulation.activity.active_overall(program), 1);
    let words = memory_words(config.fields() as usize);
    let mut entries = vec![
        entry("instructions", "instructions", program.len(), "broadcast in a frame").published(3652u64),
        entry("possible", "time for", possible, "instructions in a frame").published(5000u64),
        entry("spare", "to spare", spare, "").published(1400u64),
        entry(
            "moving_objects",
            "moving objects",
            spare / u64::from(PER_OBJECT),
            format!("more matrices that these can load, {PER_OBJECT} instructions each"),
        ),
        entry(
            "time_ms",
            "time",
            1e-3 * f64::from(program.len()) * config.front.instruction,
            "ms for all polygons at once",
        ),
        entry("active_percent", "processors active", active, "% over all instructions and processors"),
        entry("memory_words", "memory in use", words, "words of 32 bits").published(256u64),
    ];
    let held = simulation.polygons[0];
    if config.front.kind == FrontKind::Pipeline {
        let polygons = config.front.pipeline_polygons;
        let frames = model.polygons.len() as f64 / f64::from(polygons);
        entries.push(entry("pipeline_frames", "pipeline", frames, format!("frames, {polygons} polygons in each")));
        entries.push(entry("shift_us", "shift", shift(config), "us for a polygon from leaf to leaf"));
        let chains = format!("ms through {} chains", config.front.chains);
        entries.push(entry("load_ms", "loading the leaves", 1e-3 * load(config, held), chains));
        let needed = (load(config, held) * f64::from(config.front.chains) / frame).ceil() as u64;
        entries.push(entry("chains_needed", "chains needed", needed.max(1), "to load the leaves in a frame"));
    }
    Section::entries("front", "transformation and clipping", entries)
}

fn instructions(simulation: &Simulation) -> Section {
    let why = |phase: Phase| match phase {
        Phase::Transform => "12 for a sum of products, and 2 for each element of the matrix".to_string(),
        Phase::Color => format!("{} with one light, 26 for the host's colors", color::with_one_light()),
        Phase::Clip => "edges that leave the volume are noted too, which the figures forget".to_string(),
        Phase::Divide => "14 for a vertex".to_string(),
        Phase::Preprocess => "the bottom vertex is searched too, and ends both sides".to_string(),
    };
    let row = |phase: Phase| -> Vec<Cell> {
        let program = &simulation.program;
        vec![
            phase.name().into(),
            program.count(phase).into(),
            phase.published().into(),
            Cell::Number(100.0 * simulation.activity.active(program, phase), 1),
            why(phase).into(),
        ]
    };
    let columns = [
        ("phase", "phase"),
        ("instructions", "instructions"),
        ("published", "published"),
        ("active_percent", "active %"),
        ("why", "why"),
    ];
    Section::table("instructions", "instructions by phase (figure 3-16)", &columns, Phase::ALL.map(row).to_vec())
}

fn segments(simulation: &Simulation, config: &Config) -> Section {
    let words = words(config);
    let entries = simulation.entries;
    let [first, last] = [simulation.layers.first(), simulation.layers.last()];
    let made = first.map_or(0, |layer| layer.outputs);
    let shown = last.map_or(0, |layer| layer.outputs);
    let most = simulation.groups.iter().map(|group| group.most[0]).max().unwrap_or(0);
    let lines = f64::from(simulation.lines) * simulation.groups.len() as f64;
    Section::entries(
        "segments",
        "segments",
        vec![
            entry("bits", "segment", words.total(), format!("bits: {} numbers, each on a wire", words.count))
                .published(132u64),
            entry("transfer_us", "transfer", config.transfer(), "us").published(1.8),
            entry("made", "from scan converters", made, ""),
            entry("shown", "at the roots", shown, ""),
            entry("mean_line", "a line", shown as f64 / lines.max(1.0), "at the roots"),
            entry("longest_line", "longest line", most, "segments at the roots"),
            entry("entries", "edge lists", entries, "entries for a polygon at most, both sides together")
                .published(10u64),
            entry("edge_bits", "memory of edge lists", edge_bits(config, 12), "bits for 12 entries").published(2048u64),
        ],
    )
}

fn layers(simulation: &Simulation) -> Section {
    let time: Picoseconds = simulation.time();
    let shape = &simulation.shape;
    let row = |layer: u32| -> Vec<Cell> {
        let sums = &simulation.layers[layer as usize];
        let of = |times: &dyn Fn(usize) -> Picoseconds| {
            let total = time as f64 * f64::from(shape.count(layer).max(1));
            Cell::Number(100.0 * times(layer as usize) as f64 / total.max(1.0), 2)
        };
        let sum = |group: &dyn Fn(usize) -> Picoseconds| (0..simulation.groups.len()).map(group).sum::<Picoseconds>();
        vec![
            layer_name(shape, layer).into(),
            shape.count(layer).into(),
            sums.inputs.into(),
            sums.outputs.into(),
            of(&|layer| sum(&|group| simulation.groups[group].busy[layer])),
            of(&|layer| sum(&|group| simulation.groups[group].blocked[layer])),
        ]
    };
    let columns = [
        ("layer", "layer"),
        ("processors", "processors"),
        ("inputs", "segments in"),
        ("outputs", "segments out"),
        ("busy_percent", "busy %"),
        ("blocked_percent", "blocked %"),
    ];
    Section::table("layers", "from the leaves to the roots", &columns, (0..shape.layers()).map(row).collect())
}

/// Steps of merging processors by case, over all layers.
fn steps(simulation: &Simulation) -> [u64; 4] {
    let mut sums = [0; 4];
    for (layer, of) in (0..).zip(&simulation.layers) {
        if matches!(simulation.shape.kind(layer), UnitKind::Mergers | UnitKind::StageMergers) {
            sums.iter_mut().zip(of.steps).for_each(|(sum, more)| *sum += more);
        }
    }
    sums
}

fn merging(simulation: &Simulation, config: &Config) -> Section {
    let sums = steps(simulation);
    let all = sums.iter().sum();
    let row = |case: Case| -> Vec<Cell> {
        let count = sums[case as usize];
        let published = [3.0, 6.0, 6.0, 15.0][case as usize];
        vec![
            case.name().into(),
            count.into(),
            share(count, all),
            config.merge_time(case).into(),
            Cell::Number(published, 0),
        ]
    };
    let columns =
        [("case", "segments"), ("steps", "steps"), ("percent", "%"), ("us", "us"), ("published_us", "published us")];
    Section::table("merging", "steps of merging processors", &columns, Case::ALL.map(row).to_vec())
}

fn time(simulation: &Simulation, config: &Config) -> Section {
    let groups = &simulation.groups;
    let line = config.frame_time() / f64::from(simulation.lines);
    let sums = steps(simulation);
    let total: f64 = Case::ALL.iter().map(|&case| sums[case as usize] as f64 * config.merge_time(case)).sum();
    let step = total / sums.iter().sum::<u64>().max(1) as f64;
    let missed: u64 = groups.iter().map(|g| g.missed).sum();
    let most = |of: &dyn Fn(&super::frame::Summary) -> u64| groups.iter().map(of).max().unwrap_or(0);
    let lead = line * f64::from(config.display.lead) * groups.len() as f64;
    let frames = 1e6 / (microseconds(simulation.time()) - lead).max(1e-9);
    let frames = if missed == 0 && groups.len() == 1 { config.display.rate } else { frames.min(config.display.rate) };
    Section::entries(
        "time",
        "real time",
        vec![
            entry("line_us", "scan line", line, "us; 65 us for 512 lines").published(65.0),
            entry("step_us", "a step", step, "us of a merging processor on the average"),
            entry(
                "segments_per_line",
                "a root",
                line / config.merge_time(Case::Overlapping),
                "segments a line at 6 us",
            )
            .published("10-11"),
            entry(
                "missed",
                "missed lines",
                missed,
                format!("of {}", u64::from(simulation.lines) * groups.len() as u64),
            ),
            entry("latest_us", "latest line", microseconds(most(&|g| g.latest)), "us after its time"),
            entry("time_ms", "frame", 1e-3 * microseconds(simulation.time()), "ms until the last segment"),
            entry(
                "frames",
                "frames a second",
                frames,
                "of the tree, if missed lines wait in a frame store; it may show an image again",
            ),
            entry("queue", "splitters' queues", most(&|g| g.deepest), "segments at most").published(11u64),
            entry("overflows", "overflows", most(&|g| g.overflows), "segments sent into full queues"),
            entry("stored", "stored", simulation.stored, "segments between groups"),
        ],
    )
}

fn hardware(simulation: &Simulation, model: &Model, config: &Config) -> Section {
    let chips = Chips::new(&simulation.shape, config);
    let [multipliers, dividers, high, wide] = merger(config);
    let [large, small] = published_examples(config);
    let operations = shade::operations(config, model.lights.len() as u64);
    Section::entries(
        "hardware",
        "hardware",
        vec![
            entry("chips", "chips", chips.total(), "one for each processor"),
            entry("front", "transformation and clipping", chips.front, "chips"),
            entry("converters", "scan converters", chips.converters, ""),
            entry("mergers", "mergers", chips.mergers, ""),
            entry("splitters", "splitters", chips.splitters, ""),
            entry("pixels", "pixel converters", chips.pixels, "chips; one alone is a board"),
            entry("multipliers", "multipliers", multipliers, "serial ones of a merger").published(12u64),
            entry("dividers", "dividers", dividers, "of a merger").published(3u64),
            entry("merger_size", "a merger", format!("{high} x {wide}"), "lambda").published("4500 x 4200"),
            entry("pixel_operations", "arithmetic a pixel", operations, "additions, multiplications and roots"),
            entry("large", "2,500 polygons", large, "chips with 6 split levels; the CT-5 has 85,000")
                .published("< 10,000"),
            entry("small", "100 polygons", small, "chips of the tree").published("about 200"),
        ],
    )
}

fn splits() -> Section {
    let published = [None, None, None, None, None, None, Some((384u64, 321u64))];
    let row = |n: u32| -> Vec<Cell> {
        let of = published[n as usize];
        vec![
            n.into(),
            (1u32 << n).into(),
            (n << n).into(),
            of.map_or(Cell::None, |p| p.0.into()),
            extra_mergers(n).into(),
            of.map_or(Cell::None, |p| p.1.into()),
        ]
    };
    let columns = [
        ("split", "split levels"),
        ("roots", "roots"),
        ("splitters", "splitters"),
        ("published_splitters", "published"),
        ("extra_mergers", "extra mergers"),
        ("published_extra", "published"),
    ];
    Section::table("splits", "splitting the root", &columns, (0..=6).map(row).collect())
}

fn sweep(simulation: &Simulation) -> Section {
    let row = |of: &super::simulate::Split| -> Vec<Cell> {
        let summary = &of.summary;
        let roots = summary.layers.last();
        let root = |times: &[Picoseconds]| {
            let total = summary.end as f64 * f64::from(of.shape.strips());
            Cell::Number(100.0 * times.last().copied().unwrap_or(0) as f64 / total.max(1.0), 1)
        };
        vec![
            of.split.into(),
            roots.map_or(0, |layer| layer.outputs).into(),
            summary.most[0].into(),
            summary.most[1].into(),
            root(&summary.busy),
            summary.deepest.into(),
            summary.overflows.into(),
            summary.missed.into(),
            Cell::Number(1e-3 * microseconds(summary.end), 2),
        ]
    };
    let columns = [
        ("split", "split levels"),
        ("segments", "segments"),
        ("longest_line", "longest line"),
        ("longest_at_root", "at one root"),
        ("root_busy_percent", "roots busy %"),
        ("queue", "queue"),
        ("overflows", "overflows"),
        ("missed", "missed lines"),
        ("time_ms", "ms"),
    ];
    let title = "this scene with other roots (the first group)";
    Section::table("sweep", title, &columns, simulation.sweep.iter().map(row).collect())
}

fn capacity(simulation: &Simulation) -> Section {
    let row = |of: &super::capacity::Capacity| -> Vec<Cell> {
        let number = |value: f64| Cell::Number(value, 1);
        let published = of.published.map_or(Cell::None, |value| Cell::Number(value, 0));
        vec![of.split.into(), number(of.touching), published, number(of.covering), number(of.apart)]
    };
    let columns = [
        ("split", "split levels"),
        ("touching", "touching"),
        ("published", "published"),
        ("covering", "in front of another"),
        ("apart", "apart"),
    ];
    let title = "segments that the roots take in a line of 65 us";
    Section::table("capacity", title, &columns, simulation.capacities.iter().map(row).collect())
}

fn charts(simulation: &Simulation) -> Vec<Chart> {
    let groups = (0..simulation.shape.layers()).map(|layer| layer_name(&simulation.shape, layer)).collect();
    let series = |name: &str, of: &dyn Fn(&super::flow::Layer) -> u64| Series {
        name: name.to_string(),
        values: simulation.layers.iter().map(|layer| Some(of(layer) as f64)).collect(),
    };
    let bars = Bars {
        title: "Segments from the leaves to the roots".into(),
        axis: Axis { label: "segments".into(), ..Axis::default() },
        groups,
        series: vec![series("in", &|layer| layer.inputs), series("out", &|layer| layer.outputs)],
        mark: None,
    };
    let mut charts = vec![Chart { name: "tree-layers".into(), svg: bars.svg() }];
    let lines = |name: &str, title: &str, label: &str, curves: Vec<Curve>, logarithmic: bool| Chart {
        name: name.to_string(),
        svg: Lines {
            title: title.to_string(),
            x: Axis { label: "split levels".into(), ..Axis::default() },
            y: Axis { label: label.to_string(), logarithmic },
            curves,
        }
        .svg(),
    };
    if !simulation.sweep.is_empty() {
        let points = simulation.sweep.iter().map(|s| [f64::from(s.split), s.summary.missed as f64]).collect();
        let curve = Curve { name: "missed lines".into(), points };
        charts.push(lines("tree-missed", "Scan lines that come too late", "lines", vec![curve], false));
    }
    if !simulation.capacities.is_empty() {
        let curve = |name: &str, of: &dyn Fn(&super::capacity::Capacity) -> Option<f64>| Curve {
            name: name.to_string(),
            points: simulation.capacities.iter().filter_map(|c| Some([f64::from(c.split), of(c)?])).collect(),
        };
        let curves = vec![
            curve("touching", &|c| Some(c.touching)),
            curve("published", &|c| c.published),
            curve("in front of another", &|c| Some(c.covering)),
            curve("apart", &|c| Some(c.apart)),
        ];
        charts.push(lines("tree-capacity", "Segments that the roots take in a line", "segments", curves, true));
    }
    charts
}
