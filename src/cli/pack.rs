//! `shadewright pack SCENE -o DIR`: everything that a scene reads, in one folder.

use super::args::{Frames, PackArgs};
use super::failure::Failure;
use super::interrupt;
use super::messages::{Problems, messages};
use super::output::print_json;
use super::progress::{Work, with_progress};
use serde_json::{Map, Value, json};
use shadewright::pack::{PackError, PackOptions, Packed, Step, Watch, pack};
use shadewright::scene::OpenOptions;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Packs the scene.
pub fn run(args: &PackArgs) -> Result<(), Failure> {
    let packed = packed(&args.scene, &args.out, &options(args))?;
    if args.json {
        return print_json(&summary(args, &packed).into());
    }
    eprint!("{}", packed.diagnostics.render(&packed.sources));
    print(args, &packed);
    eprint!("{}", Problems::from_diagnostics(&packed.diagnostics));
    Ok(())
}

/// Packs a scene into a folder, and shows how far that is.
pub fn packed(scene: &Path, out: &Path, options: &PackOptions) -> Result<Packed, Failure> {
    let stop = interrupt::watched()?;
    let packed = with_progress(Work { what: "packing", samples: None }, |progress| {
        let watch = |step| {
            progress(part_done(step));
            if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        pack(scene, out, options, Watch(&watch))
    });
    packed.map_err(refused)
}

fn options(args: &PackArgs) -> PackOptions {
    let open = OpenOptions {
        allow_read: args.access.allow_read.clone(),
        allow_run: args.access.allow_run,
        integrator: args.integrator,
        strict: args.strict,
        max_triangles: Some(args.limit.max_triangles),
        ..OpenOptions::default()
    };
    let frames = args.frames.map(|Frames { first, last }| [first, last]);
    PackOptions { open, shader_paths: args.shaders.shader_paths.clone(), frames, dry_run: args.dry_run }
}

/// The part of all work that is done before a step: each kind of step is taken for a third.
fn part_done(step: Step) -> f32 {
    let (third, done, of) = match step {
        Step::Reading { done, of } => (0.0, done, of),
        Step::Copying { done, of } => (1.0, done, of),
        Step::Verifying { done, of } => (2.0, done, of),
    };
    (third + done as f32 / of.max(1) as f32) / 3.0
}

fn refused(error: PackError) -> Failure {
    match error {
        PackError::Scene { diagnostics, sources } => Failure::diagnostics(&diagnostics, &sources),
        PackError::Interrupted => Failure::interrupted(format!("error: {error}")),
        other => Failure::input(format!("error: {other}")),
    }
}

/// Prints what was packed.
fn print(args: &PackArgs, packed: &Packed) {
    let manifest = &packed.manifest;
    if args.dry_run {
        for file in &manifest.files {
            let note = if file.rewritten { ", rewritten" } else { "" };
            println!("{:>12}  {}  ({}{note})", file.bytes, file.path, file.original);
        }
    }
    let (files, bytes) = (manifest.files.len(), manifest.bytes());
    let plural = if files == 1 { "" } else { "s" };
    match args.dry_run {
        true => println!("would pack {files} file{plural}, {bytes} bytes, as {}", packed.scene.display()),
        false => {
            let (written, kept) = (files - packed.kept, packed.kept);
            println!("packed {files} file{plural}, {bytes} bytes, as {}", packed.scene.display());
            if kept > 0 {
                println!("{written} of them written, {kept} unchanged");
            }
        }
    }
    if !manifest.options.is_empty() {
        println!("to render it, in its folder: shadewright render {} {}", manifest.scene, manifest.options.join(" "));
    }
}

/// A summary of the pack, as JSON.
fn summary(args: &PackArgs, packed: &Packed) -> Map<String, Value> {
    let manifest = &packed.manifest;
    let mut summary = Problems::from_diagnostics(&packed.diagnostics).json();
    let fields = [
        ("scene", Value::from(packed.scene.display().to_string())),
        ("folder", packed.folder.display().to_string().into()),
        ("original", manifest.original.clone().into()),
        ("dry_run", args.dry_run.into()),
        ("files", json!(manifest.files)),
        ("bytes", manifest.bytes().into()),
        ("unchanged", packed.kept.into()),
        ("options", json!(manifest.options)),
        ("missing", json!(manifest.missing)),
        ("diagnostics", messages(&packed.diagnostics, &packed.sources)),
    ];
    summary.extend(fields.map(|(name, value)| (name.to_string(), value)));
    summary
}
