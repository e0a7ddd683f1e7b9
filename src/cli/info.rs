//! `shadewright info FILE…`: how images were rendered.

use super::args::InfoArgs;
use super::failure::Failure;
use super::output::print_json;
use super::render::is_exr;
use serde_json::{Map, Value, json};
use shadewright::image::channels::Header;
use shadewright::image::file as image_file;
use shadewright::image::{image_size, rendering};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufReader;
use std::path::Path;

/// Prints the size, the layers and the record of each file that can be read.
///
/// # Errors
/// A line for each of the others.
pub fn run(args: &InfoArgs) -> Result<(), Failure> {
    let (mut documents, mut errors) = (Vec::new(), Vec::new());
    for path in &args.files {
        match document(path) {
            Ok(document) => documents.push(document),
            Err(error) => errors.push(error.to_string()),
        }
    }
    match (args.json, documents.as_slice()) {
        // Nothing for programs where there is nothing.
        (true, []) => {}
        (true, [one]) if args.files.len() == 1 => print_json(one)?,
        (true, all) => print_json(&all.into())?,
        (false, all) => all.iter().for_each(|document| print!("{}", text(document))),
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(Failure::input(errors.join("\n"))),
    }
}

/// The known facts about a file, as JSON.
fn document(path: &Path) -> Result<Value, Failure> {
    let mut reader = BufReader::new(image_file::open(path)?);
    let name = path.display().to_string();
    if !is_exr(path) {
        let Some(size) = image_size(&mut reader) else {
            return Err(Failure::input(format!("error: `{name}` is not an image, or damaged")));
        };
        return Ok(json!({ "file": name, "size": size, "record": Value::Null }));
    }
    let header = Header::read(&mut reader).map_err(|error| rendering::corrupt(path, &error))?;
    let mut layers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for channel in &header.channels {
        let (layer, name) = channel.rsplit_once('.').unwrap_or(("", channel));
        layers.entry(layer).or_default().push(name);
    }
    let record = header.record.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    Ok(json!({ "file": name, "size": header.size, "origin": header.origin, "layers": layers, "record": record }))
}

/// A document as lines of names and values.
fn text(document: &Value) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a string does not fail.
        let _ = writeln!(out, "{name:<12}{value}");
    };
    line("file", plain(&document["file"]));
    line("size", pair(&document["size"]));
    if let Some(layers) = document["layers"].as_object() {
        let layer = |(name, channels): (&String, &Value)| {
            let channels: Vec<_> = channels.as_array().into_iter().flatten().map(plain).collect();
            let name = if name.is_empty() { "colors" } else { name };
            format!("{name} ({})", channels.join(" "))
        };
        line("layers", layers.iter().map(layer).collect::<Vec<_>>().join(", "));
    }
    let Some(record) = document["record"].as_object() else {
        line("record", "none: it was not rendered by shadewright, or is not an .exr file".to_string());
        return out;
    };
    write_record(record, &mut line);
    out
}

fn write_record(record: &Map<String, Value>, line: &mut impl FnMut(&str, String)) {
    for (name, value) in record {
        match (name.as_str(), value) {
            ("size", value) => line("image", pair(value)),
            ("part", Value::Object(part)) => write_part(part, line),
            ("options" | "hashes", Value::Object(fields)) => {
                let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name} {}", plain(value))).collect();
                line(name, if fields.is_empty() { "none".to_string() } else { fields.join(", ") });
            }
            (name, value) => line(name, plain(value)),
        }
    }
}

fn write_part(part: &Map<String, Value>, line: &mut impl FnMut(&str, String)) {
    let share = part.get("share").and_then(|share| serde_json::from_value(share.clone()).ok());
    if let Some(share) = share {
        let share: shadewright::render::part::Share = share;
        line("part", share.to_string());
    }
    for (name, key) in [("pixels", "window"), ("imager", "imager"), ("folder", "folder"), ("content", "content")] {
        if let Some(value) = part.get(key) {
            line(name, plain(value));
        }
    }
    if let Some(words) = part.get("command").and_then(Value::as_array) {
        line("command", words.iter().map(plain).collect::<Vec<_>>().join(" "));
    }
}

/// A value without quotation marks and brackets.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(","),
        value => value.to_string(),
    }
}

fn pair(value: &Value) -> String {
    value.as_array().into_iter().flatten().map(plain).collect::<Vec<_>>().join("x")
}
