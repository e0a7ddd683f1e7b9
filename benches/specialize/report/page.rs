//! The results as a page: one HTML file with all plots in it, each plot as an SVG file, and the
//! numbers as JSON.

use super::tables::{devices, for_device, list, mean, orders, text};
use serde_json::Value;
use shadewright::image::file as image_file;
use shadewright::plot::{Axis, Bars, Curve, Lines, Series, escaped};
use std::fmt::Write;
use std::path::Path;

/// The page's file.
pub const NAME: &str = "index.html";

/// Style of the page, in both color schemes.
const STYLE: &str = ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}\
table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .7em;text-align:right;border-bottom:1px solid #8885}\
td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto;margin:1em 0;display:block}";

/// A plot and the name of its file.
struct Plot {
    name: String,
    svg: String,
}

/// Writes the page, the plots and the numbers to a folder that exists.
///
/// # Errors
/// When a file cannot be written.
pub fn write(report: &Value, folder: &Path) -> anyhow::Result<()> {
    let save = |name: &str, bytes: &[u8]| image_file::write_bytes(&folder.join(name), bytes);
    let plots = plots(report);
    for plot in &plots {
        save(&format!("{}.svg", plot.name), plot.svg.as_bytes())?;
    }
    save("results.json", format!("{report:#}\n").as_bytes())?;
    save(NAME, page(report, &plots).as_bytes())?;
    Ok(())
}

fn plots(report: &Value) -> Vec<Plot> {
    let mut plots = Vec::new();
    let mut add = |name: String, svg: String| plots.push(Plot { name, svg });
    if !list(&report["scenes"]).is_empty() {
        add("specialized".to_string(), specialized(report).svg());
        for device in devices(report) {
            add(format!("frames-{device}"), frames(report, device).svg());
        }
        for (key, title) in [("sorted", "sorted over unsorted"), ("wavefront", "wavefront over megakernel")] {
            let bars = schedules(report, key, title);
            if bars.series.iter().any(|s| s.values.iter().any(Option::is_some)) {
                add(key.to_string(), bars.svg());
            }
        }
    }
    for batch in list(&report["shading"]) {
        add(format!("shading-{}-{}", text(&batch["device"]), batch["rays"]), shading(batch).svg());
    }
    if list(&report["interfaces"]).iter().any(|row| !list(&row["facts"]).is_empty()) {
        add("interfaces".to_string(), interfaces(report).svg());
    }
    if !list(&report["compile"]).is_empty() {
        add("compile-time".to_string(), compile(report, "total_ms", "time to compile", "milliseconds").svg());
        add(
            "code-size".to_string(),
            compile(report, "rpu_instructions", "size of the program", "instructions of the RPU").svg(),
        );
    }
    plots
}

fn axis(label: &str) -> Axis {
    Axis { label: label.to_string(), logarithmic: false }
}

/// The scenes of a part, in order, once each.
fn scene_names(part: &Value) -> Vec<String> {
    let mut names: Vec<String> = list(part).iter().map(|row| text(&row["scene"]).to_string()).collect();
    names.dedup();
    names
}

fn specialized(report: &Value) -> Bars {
    let part = &report["scenes"];
    let mut series = Vec::new();
    for device in devices(report) {
        let rows: Vec<&Value> = for_device(part, device).collect();
        for order in orders(&rows) {
            let values = rows.iter().map(|row| row["specialized"][order].as_f64()).collect();
            series.push(Series { name: format!("{device}, {order}"), values });
        }
    }
    Bars {
        title: "Specialized programs: how many times as fast a frame is".to_string(),
        axis: axis("ratio"),
        groups: scene_names(part),
        series,
        mark: Some(1.0),
    }
}

fn modes(report: &Value) -> impl Iterator<Item = &str> {
    list(&report["modes"]).iter().map(text)
}

fn frames(report: &Value, device: &str) -> Bars {
    let rows: Vec<&Value> = for_device(&report["scenes"], device).collect();
    let of = |row: &Value, mode: &str| {
        list(&row["frames"]).iter().find(|frame| text(&frame["mode"]) == mode).and_then(|frame| frame["ms"].as_f64())
    };
    Bars {
        title: format!("Frames on {device}, in its default order"),
        axis: axis("milliseconds"),
        groups: rows.iter().map(|row| text(&row["scene"]).to_string()).collect(),
        series: modes(report)
            .map(|mode| Series { name: mode.to_string(), values: rows.iter().map(|row| of(row, mode)).collect() })
            .collect(),
        mark: None,
    }
}

fn schedules(report: &Value, key: &str, title: &str) -> Bars {
    let part = &report["scenes"];
    let rows: Vec<&Value> = list(part)
        .iter()
        .filter(|row| row[key].as_object().is_some_and(|m| m.values().any(Value::is_number)))
        .collect();
    Bars {
        title: format!("Frames on the GPU, {title}: how many times as fast"),
        axis: axis("ratio"),
        groups: rows.iter().map(|row| text(&row["scene"]).to_string()).collect(),
        series: modes(report)
            .map(|mode| Series {
                name: mode.to_string(),
                values: rows.iter().map(|row| row[key][mode].as_f64()).collect(),
            })
            .collect(),
        mark: Some(1.0),
    }
}

fn shading(batch: &Value) -> Bars {
    let cases = list(&batch["cases"]);
    let modes: Vec<&String> =
        cases.first().and_then(|case| case["ns_a_ray"].as_object()).into_iter().flat_map(|m| m.keys()).collect();
    Bars {
        title: format!("Shading of {} rays on {}", batch["rays"], text(&batch["device"])),
        axis: axis("nanoseconds a ray"),
        groups: cases.iter().map(|case| text(&case["case"]).to_string()).collect(),
        series: modes
            .into_iter()
            .map(|mode| Series {
                name: mode.clone(),
                values: cases.iter().map(|case| case["ns_a_ray"][mode.as_str()].as_f64()).collect(),
            })
            .collect(),
        mark: None,
    }
}

fn interfaces(report: &Value) -> Bars {
    let rows = list(&report["interfaces"]);
    let facts = rows.first().map_or(&[][..], |row| list(&row["facts"]));
    let value = |row: &Value, i: usize| row["facts"][i]["frame_ms"].as_f64();
    Bars {
        title: "One surface with an image: which interfaces are specialized".to_string(),
        axis: Axis { label: "milliseconds a frame".to_string(), logarithmic: true },
        groups: rows.iter().map(|row| text(&row["device"]).to_string()).collect(),
        series: facts
            .iter()
            .enumerate()
            .map(|(i, fact)| Series {
                name: text(&fact["facts"]).to_string(),
                values: rows.iter().map(|row| value(row, i)).collect(),
            })
            .collect(),
        mark: None,
    }
}

fn compile(report: &Value, key: &str, title: &str, unit: &str) -> Lines {
    let rows = list(&report["compile"]);
    let curve = |mode: &str| Curve {
        name: mode.to_string(),
        points: rows
            .iter()
            .filter(|row| text(&row["mode"]) == mode)
            .filter_map(|row| Some([row["materials"].as_f64()?, row[key].as_f64()?]))
            .collect(),
    };
    Lines {
        title: format!("Interiors by their number of materials: {title}"),
        x: Axis { label: "materials".to_string(), logarithmic: true },
        y: Axis { label: unit.to_string(), logarithmic: true },
        curves: modes(report).map(curve).collect(),
    }
}

fn page(report: &Value, plots: &[Plot]) -> String {
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Specialized programs</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>Specialized programs</h1>\n<p>Frames of {}×{} pixels, {} spp; medians of {} runs, \
         alternately, on {} threads.</p>\n<ul>\n",
        report["size"][0], report["size"][1], report["spp"], report["runs"], report["threads"]
    );
    for device in list(&report["devices"]) {
        // Writing to a string does not fail.
        let _ =
            writeln!(html, "<li>{}: {}</li>", escaped(text(&device["name"])), escaped(text(&device["description"])));
    }
    html.push_str("</ul>\n");
    means(&mut html, report);
    for plot in plots {
        html.push_str(&plot.svg);
    }
    costs(&mut html, report);
    html.push_str("</body>\n</html>\n");
    html
}

/// A table, whose first row is the head.
fn table(html: &mut String, rows: &[Vec<String>]) {
    html.push_str("<table>\n");
    for (i, row) in rows.iter().enumerate() {
        let tag = if i == 0 { "th" } else { "td" };
        let cells: String = row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect();
        // Writing to a string does not fail.
        let _ = writeln!(html, "<tr>{cells}</tr>");
    }
    html.push_str("</table>\n");
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "–".to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// How many times as fast frames are, over all scenes.
fn means(html: &mut String, report: &Value) {
    let bars = specialized(report);
    if bars.series.is_empty() {
        return;
    }
    html.push_str("<h2>How many times as fast a specialized frame is</h2>\n");
    let mut rows = vec![["device and order", "mean", "least", "most"].map(String::from).to_vec()];
    for series in &bars.series {
        let values = || series.values.iter().flatten().copied();
        let shown = |value: Option<f64>| value.map_or("–".to_string(), |v| format!("{v:.2}"));
        rows.push(vec![
            series.name.clone(),
            shown(mean(values())),
            shown(values().reduce(f64::min)),
            shown(values().reduce(f64::max)),
        ]);
    }
    table(html, &rows);
}

fn costs(html: &mut String, report: &Value) {
    let rows = list(&report["compile"]);
    if rows.is_empty() {
        return;
    }
    html.push_str("<h2>Compile times, in milliseconds, and sizes of the code</h2>\n");
    let keys = [
        "scene",
        "mode",
        "link_ms",
        "passes_ms",
        "rpu_ms",
        "native_ms",
        "wgsl_ms",
        "total_ms",
        "surface_entries",
        "ir_instructions",
        "rpu_instructions",
        "native_bytes",
        "wgsl_kernels",
        "wgsl_bytes",
    ];
    let head = keys.iter().map(|key| key.trim_end_matches("_ms").replace('_', " ")).collect();
    let body = rows.iter().map(|row| keys.iter().map(|key| cell(&row[*key])).collect());
    table(html, &std::iter::once(head).chain(body).collect::<Vec<_>>());
}
