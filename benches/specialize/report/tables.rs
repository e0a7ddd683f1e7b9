//! The results as tables of text.

use super::compile::PHASES;
use serde_json::Value;

/// The geometric mean of the ratios that there are; `None` without any.
pub fn mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let ratios: Vec<f64> = ratios.filter(|ratio| *ratio > 0.0).collect();
    let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (logarithms / ratios.len() as f64).exp())
}

/// The elements of a list.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A string, empty where it is none.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

/// A ratio such as `1.25x`; a dash where there is none.
pub fn ratio(value: &Value) -> String {
    value.as_f64().map_or("-".to_string(), |ratio| format!("{ratio:.2}x"))
}

/// A number with a decimal; a dash where there is none.
pub fn number(value: &Value) -> String {
    value.as_f64().map_or("-".to_string(), |x| if x.fract() == 0.0 { format!("{x}") } else { format!("{x:.1}") })
}

/// The names of the devices.
pub fn devices(report: &Value) -> impl Iterator<Item = &str> {
    list(&report["devices"]).iter().map(|device| text(&device["name"]))
}

/// The rows of a part that are a device's.
pub fn for_device<'a>(part: &'a Value, device: &'a str) -> impl Iterator<Item = &'a Value> {
    list(part).iter().filter(move |row| text(&row["device"]) == device)
}

/// The orders in which the frames of some scenes were rendered, once each.
pub fn orders<'a>(rows: &[&'a Value]) -> Vec<&'a str> {
    let mut known = Vec::new();
    for frame in rows.iter().flat_map(|row| list(&row["frames"])) {
        let order = text(&frame["order"]);
        if !known.contains(&order) {
            known.push(order);
        }
    }
    known
}

/// Prints all parts.
pub fn print(report: &Value) {
    for device in list(&report["devices"]) {
        println!("{}: {}", text(&device["name"]), text(&device["description"]));
    }
    scenes(report);
    shading(report);
    interfaces(report);
    compile(report);
}

fn modes(report: &Value) -> Vec<&str> {
    list(&report["modes"]).iter().map(text).collect()
}

fn scenes(report: &Value) {
    if list(&report["scenes"]).is_empty() {
        return;
    }
    let (width, height) = (&report["size"][0], &report["size"][1]);
    println!("\nwhole frames, {width}x{height}, {} spp, milliseconds", report["spp"]);
    let modes = modes(report);
    for device in devices(report) {
        print!("\n{device:<14} {:>9}  {:<20}", "materials", "order");
        modes.iter().for_each(|mode| print!(" {mode:>10}"));
        println!("  specialized");
        for row in for_device(&report["scenes"], device) {
            scene(row, &modes);
        }
        let rows: Vec<&Value> = for_device(&report["scenes"], device).collect();
        for name in orders(&rows) {
            let ratios = rows.iter().filter_map(|row| row["specialized"][name].as_f64());
            if let Some(mean) = mean(ratios) {
                println!("{:<14} {:>9}  {name:<20} {mean:.2}x", "mean", "");
            }
        }
    }
    println!("\nspecialized: {} against {}", modes.last().unwrap_or(&""), modes.first().unwrap_or(&""));
    println!("the RPU has one order of its work: it sorts no rays, and has no wavefront");
}

fn scene(row: &Value, modes: &[&str]) {
    for order in orders(&[row]) {
        print!("{:<14} {:>9}  {order:<20}", text(&row["scene"]), number(&row["materials"]));
        for mode in modes {
            let frame = list(&row["frames"]).iter().find(|f| text(&f["mode"]) == *mode && text(&f["order"]) == order);
            print!(" {:>10}", frame.map_or("-".to_string(), |frame| number(&frame["ms"])));
        }
        println!("  {:>11}", ratio(&row["specialized"][order]));
    }
    for (name, against) in [("sorted", "unsorted"), ("wavefront", "megakernel")] {
        let ratios: Vec<String> = modes.iter().map(|mode| ratio(&row[name][*mode])).collect();
        if ratios.iter().any(|ratio| ratio != "-") {
            print!("{:<14} {:>9}  {:<20}", "", "", format!("{name}/{against}"));
            ratios.iter().for_each(|ratio| print!(" {ratio:>10}"));
            println!();
        }
    }
}

fn shading(report: &Value) {
    for batch in list(&report["shading"]) {
        println!("\nshading of {} rays on {}, ns a ray", batch["rays"], text(&batch["device"]));
        for case in list(&batch["cases"]) {
            print!("{:<10}", text(&case["case"]));
            for (mode, ns) in case["ns_a_ray"].as_object().into_iter().flatten() {
                print!(" {mode:>10} {:>8}", number(ns));
            }
            println!("  specialized {}", ratio(&case["specialized"]));
        }
        let sorted = batch["sorted"].as_object().into_iter().flatten();
        println!(
            "sorted/unsorted: {}",
            sorted.map(|(mode, r)| format!("{mode} {}", ratio(r))).collect::<Vec<_>>().join(", ")
        );
    }
}

fn interfaces(report: &Value) {
    for row in list(&report["interfaces"]) {
        println!("\nfacts of interfaces on {}, {} rays", text(&row["device"]), row["rays"]);
        for fact in list(&row["facts"]) {
            println!(
                "{:<10} {:>10} ms {:>8}",
                text(&fact["facts"]),
                number(&fact["frame_ms"]),
                ratio(&fact["specialized"])
            );
        }
    }
}

fn compile(report: &Value) {
    if list(&report["compile"]).is_empty() {
        return;
    }
    println!("\ncompiling on one thread, milliseconds, and size of the code");
    print!("{:<14} {:<10}", "scene", "facts");
    PHASES.iter().for_each(|phase| print!(" {:>8}", phase.trim_end_matches("_ms")));
    println!(
        " {:>8} {:>8} {:>8} {:>8} {:>9} {:>8} {:>9}",
        "total", "entries", "IR", "RPU", "native B", "kernels", "WGSL B"
    );
    for row in list(&report["compile"]) {
        print!("{:<14} {:<10}", text(&row["scene"]), text(&row["mode"]));
        PHASES.iter().chain(&["total_ms", "surface_entries", "ir_instructions", "rpu_instructions"]).for_each(|key| {
            print!(" {:>8}", number(&row[*key]));
        });
        println!(
            " {:>9} {:>8} {:>9}",
            number(&row["native_bytes"]),
            number(&row["wgsl_kernels"]),
            number(&row["wgsl_bytes"])
        );
    }
}
