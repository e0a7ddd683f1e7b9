//! `shadewright simulate SCENE`: how long the hardware would take, and why.

mod pixelflow;
pub mod polygons;
mod rays;

use super::args::{SimulateArgs, Size};
use super::backend::{rpu_options, set_up_process};
use super::failure::Failure;
use super::input::prepare_job;
use super::output::print_json_text;
use super::progress::{Work, with_progress};
use super::run::program::{self, Form};
use anyhow::Context;
use serde_json::{Map, Value, json};
use shadewright::compare::false_color;
use shadewright::image::Image;
use shadewright::image::file as image_file;
use shadewright::machines::models::Simulator;
use shadewright::render::rpu::breakdown::{Breakdown, GOOD_UTILIZATION, Places, Row, explain};
use shadewright::render::rpu::{Loaded, Simulation, StandaloneError, StandaloneProgram, simulate};
use shadewright::render::{Progress, RenderError};
use shadewright::rpu::timed::{Config, SLOT_PARTS, Stats};
use shadewright::scene::read_file;
use shadewright::text::source::SourceMap;
use std::fmt::Display;
use std::path::Path;

/// Width and height of the image of a program that runs by itself, unless others are asked for.
const PROGRAM_SIZE: Size = Size(128, 128);

const SIMULATING: Work<'static> = Work { what: "simulating", samples: None };

/// Simulates the scene and prints the report.
pub fn run(args: &SimulateArgs) -> Result<(), Failure> {
    let model = args.hardware.model;
    if args.hardware.print_config {
        print!("{}", model.default_text);
        return Ok(());
    }
    match model.simulator {
        Simulator::Rpu => {}
        Simulator::PixelFlow => return pixelflow::run(args),
        Simulator::Rays(hardware) => return rays::run(args, hardware),
        Simulator::Polygons(hardware) => return polygons::run(args, hardware),
    }
    for path in args.heatmap.iter().chain(&args.out) {
        image_file::check_writable(path)?;
    }
    set_up_process(&args.cpu)?;
    let config = args.hardware.config.as_deref().map_or(Ok(Config::default()), read_config)?;
    let program = args.scene.file.scene.as_deref().and_then(|path| Form::from_path(path).map(|form| (path, form)));
    let (simulation, places) = match program {
        Some((path, form)) => simulate_program(args, path, form, &config)?,
        None => simulate_scene(args, &config)?,
    };
    if let Some(path) = &args.out {
        image_file::write(path, &simulation.image)?;
    }
    let Image { width, height, .. } = simulation.image;
    let heat = |path: &Path| heat_map(path, [width, height], &simulation.cost);
    let scale = args.heatmap.as_deref().map(heat).transpose()?.map(|most| most as f64 / SLOT_PARTS as f64);
    let breakdown = Breakdown::new(&simulation.stats, &places);
    let reasons = explain(&simulation.stats, &places);
    if args.json {
        let mut report = json(&simulation.stats, &breakdown, &reasons, &config);
        if let Some(scale) = scale {
            report["heatmap"] = json!({ "black": 0.0, "brightest": scale });
        }
        print_json_text(&serde_json::to_string_pretty(&report).context("writing JSON")?);
    } else {
        print_report(&simulation.stats, &breakdown, &reasons, args.lines);
        if let (Some(scale), Some(path)) = (scale, &args.heatmap) {
            print_scale(path, "issue slots a pixel", scale);
        }
    }
    Ok(())
}

/// A scene with its shaders.
fn simulate_scene(args: &SimulateArgs, config: &Config) -> Result<(Simulation, Places), Failure> {
    let (job, _) = prepare_job(&args.scene)?;
    let options = rpu_options(&args.scene);
    let program = &job.program;
    let fail = |e: RenderError| Failure::render(&e, &program.sources);
    let loaded = Loaded::with_options(&program.module, program.constants.vectors(), program.surface_entries, &options);
    let loaded = loaded.map_err(fail)?.in_format(args.hardware.format);
    let simulation = with_progress(SIMULATING, |progress| simulate(&job, &loaded, config, progress)).map_err(fail)?;
    let places = Places::from_compiled(loaded.program(), &program.module, &program.sources);
    Ok((simulation, places))
}

/// A program of the RPU by itself, once a pixel.
fn simulate_program(
    args: &SimulateArgs,
    path: &Path,
    form: Form,
    config: &Config,
) -> Result<(Simulation, Places), Failure> {
    let mut sources = SourceMap::new();
    let (program, spans) = program::read(path, form, &mut sources)?;
    let bare = StandaloneProgram::new(&program).map_err(|e| program::failure(&e, &spans, &sources))?;
    let mut bare = bare.in_format(args.hardware.format);
    if let Some(world) = &args.program.world {
        program::set_scene(&mut bare, world, &spans, &mut sources)?;
    }
    for value in &args.program.set {
        value.words.iter().for_each(|&(component, bits)| bare.set(value.reg, component, bits));
    }
    let fail = |e: StandaloneError| program::failure(&e, &spans, &sources);
    let entry = bare.entry(&args.program.entry).map_err(fail)?;
    let Size(width, height) = args.scene.camera.size.size.unwrap_or(PROGRAM_SIZE);
    let run = |progress: Progress<'_>| bare.simulate(entry, [width, height], config, progress);
    let simulation = with_progress(SIMULATING, run).map_err(fail)?;
    Ok((simulation, Places::new(&program, |pc| spans.get(pc).copied(), &sources)))
}

/// Most bytes of a configuration.
const MAX_CONFIG: u64 = 1 << 20;

fn read_config(path: &Path) -> Result<Config, Failure> {
    read_config_with(path, Config::parse)
}

/// Reads a configuration of any model.
pub fn read_config_with<T, E: Display>(path: &Path, parse: impl Fn(&str) -> Result<T, E>) -> Result<T, Failure> {
    let name = path.display();
    let bytes = read_file(path, MAX_CONFIG).map_err(|e| Failure::input(format!("error: {e}")))?;
    let text = String::from_utf8(bytes).map_err(|e| Failure::input(format!("error: {name}: {e}")))?;
    parse(&text).map_err(|e| {
        let hint = "`shadewright simulate --print-config` shows every key";
        Failure::input(format!("error: {name}: {e}\nhint: {hint}"))
    })
}

/// Writes values in false colors, a pixel each; gives the brightest.
fn heat_map(path: &Path, [width, height]: [u32; 2], cost: &[u64]) -> Result<u64, Failure> {
    let most = cost.iter().copied().max().unwrap_or(0).max(1);
    let color = |&cost: &u64| {
        let [r, g, b] = false_color::color((cost as f64 / most as f64) as f32);
        [r, g, b, 1.0]
    };
    let image = Image::new(width, height, cost.iter().map(color).collect());
    image_file::write(path, &image.context("making the heat map")?)?;
    Ok(most)
}

/// The colors of a heat map whose brightest value is `scale`.
fn print_scale(path: &Path, what: &str, scale: f64) {
    println!("\n{} shows {what}, on a scale of square roots:", path.display());
    println!("  black 0, violet {:.0}, orange {:.0}, pale yellow {scale:.0}", scale / 9.0, scale * 4.0 / 9.0);
}

fn percent(part: u64, of: u64) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

fn print_report(stats: &Stats, breakdown: &Breakdown, reasons: &[String], lines: usize) {
    let cycles = stats.processor_cycles;
    let per_processor = cycles as f64 / f64::from(stats.processors.max(1));
    println!(
        "cycles                {:>14}   ({} processors, {per_processor:.0} each on average)",
        stats.cycles, stats.processors
    );
    println!("instructions          {:>14}   (issue slots used, each for a chunk)", stats.issued);
    println!(
        "utilization           {:>13.1} %  (issue slots used, of all cycles of all processors)",
        100.0 * stats.utilization()
    );
    println!("thread instructions   {:>14}   ({:.2} a cycle of a processor, of 4)", stats.executed, stats.ipc());
    println!(
        "active threads        {:>14.2}   (of 4, an instruction: the coherence of chunks)",
        stats.active_threads()
    );
    println!("switches              {:>14}", stats.switches);
    println!("divergences           {:>14}   (reconvergences {})", stats.divergences, stats.reconvergences);
    println!("chunks                {:>14}   (threads {})", stats.chunks, stats.threads);
    println!("traces                {:>14}   (rays {})", stats.traces, stats.rays);
    println!("call depth            {:>14}   (stack {} vectors)", stats.call_depth, stats.stack_depth);
    println!("stack spills          {:>14}   (restored {})", stats.spilled, stats.restored);

    println!("\nstalls                        cycles       %");
    for (cause, n) in stats.stalls.ranked() {
        println!("  {:<20} {n:>13} {:>7.2}", cause.name(), percent(n, cycles));
    }
    println!("  {:<20} {:>13} {:>7.2}", "all", stats.stalls.total(), percent(stats.stalls.total(), cycles));
    let tables = [
        ("operations", &breakdown.operations),
        ("functions", &breakdown.functions),
        ("source lines", &breakdown.lines),
    ];
    for (title, rows) in tables {
        println!("\n{title:<40} {:>13} {:>13} {:>7} {:>7}", "issued", "stalled", "cycles", "active");
        for Row { name, at } in rows.iter().take(lines) {
            let active = at.threads as f64 / at.issued.max(1) as f64;
            let share = percent(at.cycles(), cycles);
            println!("  {name:<38} {:>13} {:>13} {share:>5.1} % {active:>7.2}", at.issued, at.stalls.total());
        }
        if rows.len() > lines {
            println!("  … and {} more (--lines N)", rows.len() - lines);
        }
    }
    println!();
    if reasons.is_empty() {
        println!("Utilization is at least {:.0} %: the chunks hide the waiting.", 100.0 * GOOD_UTILIZATION);
    } else {
        println!("Why utilization is below {:.0} %:", 100.0 * GOOD_UTILIZATION);
        reasons.iter().for_each(|reason| println!("  {reason}"));
    }
}

fn json(stats: &Stats, breakdown: &Breakdown, reasons: &[String], config: &Config) -> Value {
    let stalls = |stalls: &shadewright::rpu::timed::Stalls| -> Map<String, Value> {
        stalls.ranked().into_iter().map(|(cause, n)| (cause.name().to_string(), json!(n))).collect()
    };
    let rows = |rows: &[Row]| -> Vec<Value> {
        let row = |Row { name, at }: &Row| json!({ "name": name, "issued": at.issued, "threads": at.threads, "cycles": at.cycles(), "stalls": stalls(&at.stalls) });
        rows.iter().map(row).collect()
    };
    json!({
        "config": config,
        "cycles": stats.cycles,
        "processors": stats.processors,
        "processor_cycles": stats.processor_cycles,
        "instructions": stats.issued,
        "thread_instructions": stats.executed,
        "utilization": stats.utilization(),
        "ipc": stats.ipc(),
        "active_threads": stats.active_threads(),
        "switches": stats.switches,
        "divergences": stats.divergences,
        "reconvergences": stats.reconvergences,
        "chunks": stats.chunks,
        "threads": stats.threads,
        "traces": stats.traces,
        "rays": stats.rays,
        "call_depth": stats.call_depth,
        "stack_depth": stats.stack_depth,
        "spilled": stats.spilled,
        "restored": stats.restored,
        "stalls": stalls(&stats.stalls),
        "operations": rows(&breakdown.operations),
        "functions": rows(&breakdown.functions),
        "lines": rows(&breakdown.lines),
        "explanation": reasons,
    })
}
