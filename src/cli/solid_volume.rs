//! `shadewright solid-volume SCENE`: the volumes of a scene's objects.

use super::args::SolidVolumeArgs;
use super::backend::set_thread_count;
use super::failure::Failure;
use super::input::open_scene;
use super::output::print_json;
use anyhow::Context;
use serde_json::{Value, json};
use shadewright::solid_volume::{Body, Volume, bodies, measure};
use shadewright::text::diagnostics::{Diagnostic, Diagnostics};

/// Measures every object and prints a table, or JSON. What is not closed gives a warning.
pub fn run(args: &SolidVolumeArgs) -> Result<(), Failure> {
    set_thread_count(args.threads)?;
    let (scene, sources) = open_scene(&args.scene())?;
    let mut warnings = Diagnostics::new();
    let mut volumes = Vec::new();
    for body in bodies(&scene) {
        let volume = measure(&body, &scene, args.axis, args.rays)
            .map_err(|error| Failure::input(format!("error: {}: {error}", body.name)))?;
        if !volume.is_closed() {
            warnings.push(not_closed(&body, &volume));
        }
        volumes.push(volume);
    }
    for object in scene.objects.iter().filter(|object| object.procedural.is_some()) {
        let warning = Diagnostic::warning(format!("{}: a procedural primitive has no mesh to measure", object.name));
        warnings.push(object.span.into_iter().fold(warning, |warning, span| warning.at(span, "left out")));
    }
    eprint!("{}", warnings.render(&sources));
    if args.json {
        let volumes: Result<Vec<Value>, Failure> = volumes.iter().map(report).collect();
        return print_json(&json!({ "volumes": volumes? }));
    }
    print_table(&volumes);
    Ok(())
}

/// The warning that a body's volume means little.
fn not_closed(body: &Body, volume: &Volume) -> Diagnostic {
    let rays: u64 = volume.rasters.iter().map(|raster| raster.rays).sum();
    let unbalanced: u64 = volume.rasters.iter().map(|raster| raster.unbalanced).sum();
    let message = format!(
        "{}: not closed: {} edges do not have exactly two faces, and {unbalanced} of {rays} rays leave it more or less often \
         than they enter it",
        body.name, volume.open_edges
    );
    let warning = Diagnostic::warning(message);
    let Some(span) = body.span else { return warning };
    let warning = warning.at(span, "its volume is not defined");
    match body.solid {
        Some(_) => warning,
        None => {
            warning.hint("SolidBegin \"primitive\" … SolidEnd around primitives that close together makes one solid")
        }
    }
}

/// A volume as JSON.
fn report(volume: &Volume) -> Result<Value, Failure> {
    let mut value = serde_json::to_value(volume).context("writing JSON")?;
    value["closed"] = volume.is_closed().into();
    Ok(value)
}

fn print_table(volumes: &[Volume]) {
    let width = volumes.iter().map(|volume| volume.name.chars().count()).max().unwrap_or(0).max("object".len());
    println!(
        "{:<width$}  {:>9}  {:>13}  {:>13}  {:>10}  {:>6}",
        "object", "triangles", "by faces", "by rays", "error", "closed"
    );
    for volume in volumes {
        let exact = volume.exact.map_or_else(|| "-".to_string(), number);
        let error = volume.error.map_or_else(|| "-".to_string(), |error| format!("{error:.1e}"));
        let closed = if volume.is_closed() { "yes" } else { "no" };
        let (name, triangles, estimate) = (&volume.name, volume.triangles, number(volume.estimate));
        println!("{name:<width$}  {triangles:>9}  {exact:>13}  {estimate:>13}  {error:>10}  {closed:>6}");
    }
}

/// A number with seven significant digits, or nearly.
fn number(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e7).contains(&value.abs()) {
        return format!("{value:.6e}");
    }
    let digits = value.abs().max(1.0).log10().floor() as usize;
    format!("{value:.*}", 6usize.saturating_sub(digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_seven_digits() {
        let shown = [0.0, 4.18879, 1234.5678, 12345678.0, 1e-5].map(number);
        assert_eq!(shown, ["0.000000", "4.188790", "1234.568", "1.234568e7", "1.000000e-5"]);
    }
}
