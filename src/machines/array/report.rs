//! The report on an image by the array.

use super::config::Config;
use super::estimate;
use super::message::MessageKind;
use super::render::{Rays, Rendered};
use super::statistics::{Ending, NodeCounts, Statistics};
use crate::rays::model::Model;
use crate::rays::sections;
use crate::report::{Cell, Chart, Report, Section, entry};
use shadewright_base::plot::{Axis, Bars, Curve, Lines, Series};

/// Bytes of a word.
const WORD_BYTES: f64 = 4.0;

/// The report of an image.
pub fn report(rendered: &Rendered, rays: &Rays, model: &Model, config: &Config) -> Report {
    let statistics = &rendered.simulation.statistics;
    let mut report = Report::default();
    report.sections.push(sections::scene(model, &rendered.image));
    report.sections.push(hardware(rendered, config));
    report.sections.push(time(statistics));
    report.sections.push(intersection(statistics, config));
    report.sections.push(messages(statistics));
    report.sections.push(nodes(statistics));
    let faults = &statistics.faults;
    if *faults != Default::default() {
        report.sections.push(Section::entries(
            "faults",
            "faults",
            vec![
                entry("dropped", "transfers with errors", faults.dropped, ""),
                entry("repeated", "transfers twice", faults.repeated, ""),
                entry("sent_again", "sent again", faults.sent_again, "after a time without an acknowledgement"),
                entry("lost_on_links", "lost on links", faults.lost_on_links, "messages"),
                entry("taken_twice", "taken twice", faults.taken_twice, "messages"),
                entry("deaths", "nodes that died", faults.deaths, ""),
                entry("lost_in_nodes", "lost in nodes", faults.lost_in_nodes, "rays and records that they held"),
                entry("lost_at_nodes", "lost at nodes", faults.lost_at_nodes, "messages to them"),
                entry("samples_not_begun", "samples not begun", faults.samples_not_begun, "of theirs"),
                entry("samples_lost", "samples lost", faults.samples_lost, "of their part of the frame buffer"),
                entry("polygons_lost", "polygons lost", faults.polygons_lost, "that only they had"),
                entry("samples_again", "samples again", faults.samples_again, "begun again"),
                entry("thrown_away", "thrown away", faults.thrown_away, "messages of earlier beginnings"),
            ],
        ));
    }
    report.charts = charts(statistics);
    notes(rendered, rays, model, config, &mut report.notes);
    report
}

fn hardware(rendered: &Rendered, config: &Config) -> Section {
    let statistics = &rendered.simulation.statistics;
    let [columns, rows] = statistics.sides;
    let nodes = statistics.nodes.len() as u32;
    let phases = &rendered.simulation.phases;
    let [x, y, z] = config.layout().cells;
    Section::entries(
        "hardware",
        format!("array of {columns} by {rows} nodes"),
        vec![
            entry("nodes", "nodes", nodes, ""),
            entry("cells", "cells", format!("{x}x{y}x{z}"), "of the modeling space"),
            entry("by_bandwidth", "memory bandwidth", estimate::by_bandwidth(nodes), "peripherals; 100 nodes: 2.5"),
            entry("equal_nodes", "nodes of a peripheral", estimate::nodes_of_a_peripheral(), "by bandwidth")
                .published(40u64),
            entry("ranks", "ranks of messages", u32::from(statistics.ranks), "the fewest buffers that cannot deadlock"),
            entry("buffers", "buffers", u32::from(statistics.buffers), "of each node"),
            entry("load_ms", "load", phases.load * 1e-3, "ms to broadcast and test the polygons"),
            entry("sort_ms", "sort", phases.sort * 1e-3, "ms to sort them into cells"),
            entry("most_polygons", "most polygons", phases.most_polygons, "in a node"),
            entry("most_bytes", "most memory", phases.most_bytes, format!("bytes, of {}", config.node.memory_bytes)),
            entry("too_small", "too small", phases.too_small, "nodes whose memory does not suffice"),
        ],
    )
}

fn time(statistics: &Statistics) -> Section {
    let rays = statistics.rays.max(1) as f64;
    Section::entries(
        "time",
        "time",
        vec![
            entry(
                "image_s",
                "image",
                statistics.total * 1e-6,
                "s, until its end is announced or nothing is left to do",
            ),
            entry("last_result_s", "last result", statistics.last_result * 1e-6, "s"),
            entry("rounds", "termination rounds", statistics.rounds, ""),
            entry("rays", "rays", statistics.rays, "that enter the scene's box"),
            entry("ray_us", "ray", statistics.total / rays, "us"),
            entry("rays_per_second", "rays a second", 1e6 * statistics.rays as f64 / statistics.total.max(1e-9), ""),
            entry("peripherals", "peripherals", statistics.peripherals(), "times the tests of one that is always busy"),
            entry("busy_percent", "busy", Cell::Number(100.0 * statistics.busy(), 1), "% of the nodes' time"),
            entry("imbalance", "imbalance", statistics.imbalance(), "the busiest node against the mean"),
        ],
    )
}

fn intersection(statistics: &Statistics, config: &Config) -> Section {
    let unit = &statistics.unit;
    let rays = statistics.rays.max(1) as f64;
    let (words, share) = unit.words(config.unit.pointer_words);
    let share_of = |count: u64| Cell::Number(100.0 * count as f64 / unit.polygons().max(1) as f64, 1);
    let mut entries = vec![entry("tests_per_ray", "tests a ray", unit.polygons() as f64 / rays, "of polygons")];
    if unit.surfaces > 0 {
        let surfaces = format!("{} others were tested, {} hit", unit.surfaces, unit.surface_hits);
        entries.push(entry("quadrics_per_ray", "quadrics a ray", unit.quadrics as f64 / rays, surfaces));
        entries.push(entry("edges_per_ray", "edges a ray", unit.edges as f64 / rays, "of general polygons"));
    }
    entries.extend([
        entry("killed_t_percent", "ended by t", share_of(unit.no_distance), "% after 4 words"),
        entry("killed_u_percent", "ended by u", share_of(unit.outside_u), "% after 12 words"),
        entry("killed_v_percent", "ended by v", share_of(unit.outside_v), "% after 20 words"),
        entry("hits_percent", "hits", share_of(unit.polygon_hits()), "% of the tests of polygons"),
        entry("words", "words fetched", words, format!("{:.1} % of all of what was tested", 100.0 * share)),
        entry("memory_bytes_per_ray", "memory a ray", words as f64 * WORD_BYTES / rays, "bytes"),
    ]);
    Section::entries("unit", "intersection units", entries)
}

fn messages(statistics: &Statistics) -> Section {
    // A new ray becomes a vision ray where it enters space.
    let sent = |kind: MessageKind| match kind {
        MessageKind::Vision => statistics.kind(MessageKind::Vision).made + statistics.kind(MessageKind::New).made,
        kind => statistics.kind(kind).made,
    };
    let rows = MessageKind::ALL.iter().filter(|kind| sent(**kind) > 0).map(|&kind| {
        let hops = statistics.kind(kind).hops;
        vec![kind.name().into(), sent(kind).into(), hops.into(), (hops as f64 / sent(kind) as f64).into()]
    });
    let columns = [("kind", "messages"), ("count", "count"), ("hops", "hops"), ("mean_hops", "hops each")];
    Section::table("messages", "messages", &columns, rows.collect())
}

fn nodes(statistics: &Statistics) -> Section {
    let peak = |of: fn(&NodeCounts) -> u16| statistics.nodes.iter().map(of).max().unwrap_or(0);
    let links = || statistics.links.iter().flatten();
    let words: u64 = links().map(|link| link.words).sum();
    Section::entries(
        "nodes",
        "nodes and links",
        vec![
            entry("buffers_peak", "buffers in use", u32::from(peak(|n| n.buffers_peak)), "at most in a node"),
            entry("arrived_peak", "messages waiting", u32::from(peak(|n| n.arrived_peak)), "for a processor, at most"),
            entry("rays_peak", "rays waiting", u32::from(peak(|n| n.rays_peak)), "for an intersection unit, at most"),
            entry("link_peak", "messages for a link", u32::from(peak(|n| n.link_peak)), "at most"),
            entry(
                "busiest_link_percent",
                "busiest link",
                Cell::Number(100.0 * statistics.busiest_link(), 1),
                "% of the time",
            ),
            entry(
                "link_bytes_per_ray",
                "links a ray",
                words as f64 * WORD_BYTES / statistics.rays.max(1) as f64,
                "bytes",
            ),
        ],
    )
}

fn charts(statistics: &Statistics) -> Vec<Chart> {
    let [columns, rows] = statistics.sides;
    let name = |node: usize| format!("{},{}", node % usize::from(columns.max(1)), node / usize::from(columns.max(1)));
    let series = |name: &str, of: &dyn Fn(&NodeCounts) -> f64| Series {
        name: name.to_string(),
        values: statistics.nodes.iter().map(|node| Some(of(node) * 1e-3)).collect(),
    };
    let bars = Bars {
        title: format!("Time of the nodes, {columns} by {rows}"),
        axis: Axis { label: "ms".into(), ..Axis::default() },
        groups: (0..statistics.nodes.len()).map(name).collect(),
        series: vec![
            series("processor", &|n| n.time.both + n.time.processor),
            series("intersection unit", &|n| n.time.both + n.time.unit),
            series("waiting", &|n| n.time.waiting),
            series("idle", &|n| n.time.idle),
        ],
        mark: None,
    };
    vec![Chart { name: "nodes".into(), svg: bars.svg() }]
}

fn notes(rendered: &Rendered, rays: &Rays, model: &Model, config: &Config, notes: &mut Vec<String>) {
    let statistics = &rendered.simulation.statistics;
    notes.push(match statistics.ending {
        Ending::Announced => "The array announced the end of the image.".to_string(),
        Ending::Deadlock => "The array deadlocked: nodes wait for each other's buffers.".to_string(),
        Ending::Unnoticed => "The array never noticed the end: messages were lost.".to_string(),
    });
    if let Some(why) = &rays.why_answers {
        notes.push(format!("Hits return to the node of the pixel, which shades them: {why}."));
    }
    if let Some(totals) = rays.tree.filter(|totals| totals.queries > 0) {
        notes.push(format!("{} rays of shaders for a distance were answered by the host.", totals.queries));
    }
    let phases = &rendered.simulation.phases;
    if phases.too_small > 0 {
        notes.push(format!(
            "The scene does not fit: {} of {} nodes need more than the {} bytes of `node.memory_bytes`, {} at most. \
             The times are those of nodes with enough memory.",
            phases.too_small,
            statistics.nodes.len(),
            config.node.memory_bytes,
            phases.most_bytes
        ));
    }
    if statistics.mismatches > 0 {
        notes.push(format!("{} rays hit what their shader did not see.", statistics.mismatches));
    }
    notes.push(sections::left_out(model));
}

/// The activity of each node, for a heat map: the part of the time in which it was busy, in
/// thousandths.
pub fn busy_of_nodes(statistics: &Statistics) -> Vec<u64> {
    statistics.nodes.iter().map(|node| (1000.0 * node.time.busy()).round() as u64).collect()
}

/// Arrays of several sizes on the same rays.
pub fn sizes_report(runs: &[Statistics]) -> Report {
    let alone = runs.first().map_or(1.0, |s| s.total * s.nodes.len() as f64);
    let row = |s: &Statistics| {
        vec![
            format!("{}x{}", s.sides[0], s.sides[1]).into(),
            s.nodes.len().into(),
            (s.total * 1e-6).into(),
            (alone / s.total).into(),
            (100.0 * alone / s.total / s.nodes.len() as f64).into(),
            s.peripherals().into(),
            estimate::by_bandwidth(s.nodes.len() as u32).into(),
            (100.0 * s.busy()).into(),
            s.imbalance().into(),
        ]
    };
    let columns = [
        ("sides", "array"),
        ("nodes", "nodes"),
        ("image_s", "image (s)"),
        ("speed_up", "speed-up"),
        ("efficiency_percent", "efficiency (%)"),
        ("peripherals", "peripherals"),
        ("by_bandwidth", "by bandwidth"),
        ("busy_percent", "busy (%)"),
        ("imbalance", "imbalance"),
    ];
    let table = Section::table("sizes", "arrays of several sizes", &columns, runs.iter().map(row).collect());
    let curve = |name: &str, of: &dyn Fn(&Statistics) -> f64| Curve {
        name: name.to_string(),
        points: runs.iter().map(|s| [s.nodes.len() as f64, of(s)]).collect(),
    };
    let lines = Lines {
        title: "Arrays against the peripheral".to_string(),
        x: Axis { label: "nodes".into(), logarithmic: true },
        y: Axis { label: "peripherals".into(), logarithmic: true },
        curves: vec![
            curve("simulated", &|s| s.peripherals()),
            curve("by memory bandwidth", &|s| estimate::by_bandwidth(s.nodes.len() as u32)),
        ],
    };
    Report { sections: vec![table], charts: vec![Chart { name: "sizes".into(), svg: lines.svg() }], notes: Vec::new() }
}
