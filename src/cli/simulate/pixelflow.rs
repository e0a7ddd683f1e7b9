//! `--model pixelflow`: a frame on the model of PixelFlow.

use super::super::args::SimulateArgs;
use super::super::backend::set_up_process;
use super::super::failure::Failure;
use super::super::input::prepare_job;
use super::super::output::print_json;
use super::super::progress::with_progress;
use super::super::run::program::Form;
use super::{SIMULATING, read_config_with};
use serde_json::{Value, json};
use shadewright::image::file as image_file;
use shadewright::machines::pixelflow::{Frame, ShaderUse, Times, render, shader_name};
use shadewright::render::{Job, RenderError};
use shadewright::scene::Shadows;

/// Renders the scene on the model and prints the report.
pub fn run(args: &SimulateArgs) -> Result<(), Failure> {
    if args.scene.file.scene.as_deref().is_some_and(|path| Form::from_path(path).is_some()) {
        return Err(Failure::input("error: programs of the RPU do not run on PixelFlow: name a scene"));
    }
    if let Some(path) = &args.out {
        image_file::check_writable(path)?;
    }
    set_up_process(&args.cpu)?;
    let times =
        args.hardware.config.as_deref().map_or(Ok(Times::default()), |path| read_config_with(path, Times::parse))?;
    // The model compiles the program itself, and has no rays to look for shadows with.
    let mut scene = args.scene.clone();
    (scene.compiler.passes, scene.integrator.shadows) = (Some("none".to_string()), Shadows::Off);
    let (job, _) = prepare_job(&scene)?;
    let fail = |e: RenderError| Failure::render(&e, &job.program.sources);
    let frame = with_progress(SIMULATING, |progress| render(&job, &times, progress)).map_err(fail)?;
    if let Some(path) = &args.out {
        image_file::write(path, &frame.image)?;
    }
    if args.json {
        return print_json(&report_json(&frame, &times, &job));
    }
    print_report(&frame, &times, &job);
    Ok(())
}

/// Microseconds.
fn us(picoseconds: u64) -> f64 {
    picoseconds as f64 * 1e-6
}

/// The stages of figure 4.20 that take time, with that of all regions in picoseconds and the node
/// that runs them.
fn stages(frame: &Frame) -> Vec<(&'static str, u64, &'static str)> {
    let phases = &frame.phases;
    let mut stages = vec![
        ("post-rast, pre-shade", frame.post_rasterize, "parameters and position, from the surface that is seen"),
        ("compress", frame.expansion, "rendering node"),
        ("uncompress", frame.expansion, "shading node"),
        ("pre-illum", phases.before, "shading node"),
        ("light", phases.lights, "shading node, for all shaders at once"),
        ("illum, shared", phases.shared, "shading node: the Phong phase, for all shaders at once"),
        ("illum", phases.illuminance, "shading node"),
        ("post-illum", phases.after, "shading node"),
        ("fog", frame.fog, "shading node: what follows the surface's shader"),
    ];
    if phases.lookup_runs > 0 {
        stages.insert(4, ("texture", phases.lookups, "shading node: lookups, for all shaders at once"));
    }
    stages
}

/// A shader's bytes a pixel in a transfer.
fn transfer(used: &ShaderUse, times: &Times) -> u32 {
    times.pixel.header + times.composition.depth_bytes + used.code.sent
}

fn print_report(frame: &Frame, times: &Times, job: &Job) {
    let (regions, samples) = (frame.regions_of_sample, job.sampling.count());
    println!(
        "image                 {:>10}   ({regions} regions of {}x{}, {samples} a pixel; {} samples show a surface)",
        format!("{}x{}", job.window.width, job.window.height),
        times.region.width,
        times.region.height,
        frame.shaded
    );
    println!("\nstages                             us   of all regions (rasterize is not modeled)");
    for (name, time, note) in stages(frame) {
        println!("  {name:<24} {:>10.2}   {note}", us(time));
    }
    println!("  {:<24} {:>10.2}   shading node", "blend", us(frame.blending));
    let pixels = f64::from(times.region.width) * f64::from(times.region.height) * frame.regions.len() as f64;
    let copied = pixels * f64::from(times.composition.color_bytes) / (times.composition.gigabytes_per_second * 1e3);
    println!("  {:<24} {copied:>10.2}   {} bytes a pixel", "frame-buffer", times.composition.color_bytes);

    let phases = &frame.phases;
    println!("\nexecutions                     shared   separate");
    println!("  {:<24} {:>10} {:>10}", "lights", phases.light_runs, phases.separate_light_runs);
    println!("  {:<24} {:>10} {:>10}", "shared Phong phase", phases.shared_runs, phases.separate_shared_runs);
    if phases.lookup_runs > 0 {
        println!(
            "  {:<24} {:>10} {:>10}   ({:.2} us, {:.2} separate; {:.2} may overlap with lights and illum)",
            "texture phases",
            phases.lookup_runs,
            phases.separate_lookup_runs,
            us(phases.lookups),
            us(phases.separate_lookups),
            us(phases.overlap)
        );
    }
    let (run, separate): (u64, u64) =
        frame.shaders.values().fold((0, 0), |(a, b), s| (a + s.executions, b + s.separate_executions));
    println!("  {:<24} {run:>10} {separate:>10}   (groups of instances with equal uniform parameters)", "shaders");
    let groups: u64 = frame.shaders.values().map(|s| s.groups.len() as u64).sum();
    let all = groups * frame.regions.len() as u64;
    println!("  {:<24} {run:>10} {all:>10}   (enable-OR: only shaders that are seen in a region)", "active shaders");

    println!(
        "\n{:<24} {:>9} {:>7} {:>7} {:>6} {:>8} {:>9} {:>6} {:>12}",
        "shader", "allocated", "params", "results", "free", "regions", "instances", "groups", "us a region"
    );
    for (name, used) in &frame.shaders {
        let free = used.code.free(&times.pixel);
        println!(
            "{:<24} {:>9} {:>7} {:>7} {:>6} {:>8} {:>9} {:>6} {:>12.2}",
            shader_name(name),
            used.code.code.allocation.frame,
            used.code.params,
            used.code.results,
            free.max(0),
            used.executions,
            used.instances.len(),
            used.groups.len(),
            us(used.time) / used.executions.max(1) as f64
        );
        if free < 0 {
            println!(
                "  does not fit: it takes {} bytes more than {} (`compile FILE --emit memory` shows where)",
                -free, times.pixel.memory
            );
        }
    }
    println!(
        "highest byte in use   {:>10}   (of {}, shared functions and lights included)",
        frame.top, times.pixel.memory
    );

    if frame.top > times.pixel.memory {
        let more = frame.top - times.pixel.memory;
        println!("  the shaders of a region, run together, take {more} bytes more than there are");
    }

    let composition = &times.composition;
    println!("\ncomposition           {:>10}   bytes a pixel at most", frame.transfer());
    for (name, used) in &frame.shaders {
        println!(
            "  {:<20} {:>10}   (without the position, {} bytes, and bound parameters, {})",
            shader_name(name),
            transfer(used, times),
            used.code.params - used.code.sent,
            used.code.bound
        );
    }
    println!(
        "  budget at {} frames/s {:>7}   in one direction, {} in two",
        times.nodes.frames_per_second, composition.budget_one_way, composition.budget_two_way
    );
    println!("  time                {:>10.2}   us a frame", frame.composition_time(times) * 1e6);

    let total: u64 = frame.regions.iter().sum();
    let longest = frame.regions.iter().copied().max().unwrap_or(0);
    let mean = us(total) / frame.regions.len().max(1) as f64;
    println!("\nregions               {mean:>10.2}   us on average, {:.2} the longest", us(longest));
    println!("shading nodes    frames/s");
    for &nodes in &times.nodes.shading {
        println!("  {nodes:<14} {:>8.1}", frame.frames_per_second(times, nodes));
    }
    let left_out = frame.left_out.iter().map(String::as_str);
    println!("\nleft out: {}", ["shadows"].into_iter().chain(left_out).collect::<Vec<_>>().join("; "));
}

fn report_json(frame: &Frame, times: &Times, job: &Job) -> Value {
    let shader = |(name, used): (&std::sync::Arc<str>, &ShaderUse)| {
        json!({
            "name": shader_name(name),
            "allocated": used.code.code.allocation.frame,
            "with_called": used.code.code.depth,
            "parameters": used.code.params,
            "bound_parameters": used.code.bound,
            "results": used.code.results,
            "free": used.code.free(&times.pixel),
            "transfer": transfer(used, times),
            "pixels": used.pixels,
            "executions": used.executions,
            "separate_executions": used.separate_executions,
            "instances": used.instances.len(),
            "groups": used.groups.len(),
            "us": us(used.time),
        })
    };
    let stages: serde_json::Map<String, Value> =
        stages(frame).into_iter().map(|(name, time, _)| (name.to_string(), json!(us(time)))).collect();
    let nodes: Vec<Value> = times
        .nodes
        .shading
        .iter()
        .map(|&n| json!({ "nodes": n, "frames_per_second": frame.frames_per_second(times, n) }))
        .collect();
    let phases = &frame.phases;
    json!({
        "width": job.window.width,
        "height": job.window.height,
        "samples": job.sampling.count(),
        "regions": frame.regions.iter().map(|&t| us(t)).collect::<Vec<f64>>(),
        "stages": stages,
        "textures": {
            "shared": phases.lookup_runs,
            "separate": phases.separate_lookup_runs,
            "shared_us": us(phases.lookups),
            "separate_us": us(phases.separate_lookups),
            "overlap_us": us(phases.overlap),
        },
        "lights": { "shared": phases.light_runs, "separate": phases.separate_light_runs },
        "phong": { "shared": phases.shared_runs, "separate": phases.separate_shared_runs },
        "shaders": frame.shaders.iter().map(shader).collect::<Vec<Value>>(),
        "highest_byte": frame.top,
        "transfer": frame.transfer(),
        "composition_us": frame.composition_time(times) * 1e6,
        "nodes": nodes,
        "left_out": frame.left_out,
        "config": times,
    })
}
