//! The cost of the compiler's choices: instructions, and cycles of the RPU timing model, for a set
//! of shaders and scenes, without each pass, with each calling convention, and with more or less
//! inlining (Węgrzanowski 2006, §13.4).
//!
//! Subjects are the standard shaders, those and the scenes of `assets`, and the two surfaces of
//! Węgrzanowski 2006, chapter 12, each rendered as one small image. The first variant of a list is
//! the baseline of the others.

use super::common::{diagnostics, files, repository, rounded};
use anyhow::anyhow;
use rayon::prelude::*;
use serde_json::{Value, json};
use shadewright::codegen::rpu::{self, Convention};
use shadewright::ir::passes::{PASSES, Pipeline};
use shadewright::lang::unit::ShaderInfo;
use shadewright::lang::{FrontEndOptions, rsl, stdlib};
use shadewright::program::{LinkOptions, Program, link, read_shader};
use shadewright::render::rpu::{Loaded, simulate};
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Job, Window, prepare};
use shadewright::rpu::timed::Config;
use shadewright::scene::{self, OpenOptions, Scene};
use shadewright::text::source::{FileId, SourceMap};

/// The size of each subject's image in pixels; one sample each.
const SIZE: (u32, u32) = (24, 18);

/// A relative change below this in every subject counts as none.
const REDUNDANT: f64 = 0.001;

/// The surfaces of Węgrzanowski 2006, chapter 12, with their names here.
const THESIS: [(&str, &str); 2] = [
    ("thesis depth", include_str!("../../tests/thesis/depth.sl")),
    ("thesis lit", include_str!("../../tests/thesis/lit.sl")),
];

/// A shader or scene to compile and run.
struct Subject {
    name: String,
    scene: Scene,
    /// Name and source of the shader, where it is not found by its name.
    given: Option<(String, String)>,
}

/// Options of the compiler.
struct Variant {
    name: String,
    pipeline: Pipeline,
    options: rpu::RpuOptions,
}

impl Variant {
    /// All defaults.
    fn plain(name: &str) -> Self {
        Variant { name: name.into(), pipeline: Pipeline::default(), options: rpu::RpuOptions::default() }
    }
}

/// Costs of a subject.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost {
    /// Instructions of the program.
    instructions: u64,
    /// Issue slots used.
    issued: u64,
    /// Cycles of the image.
    cycles: u64,
}

/// All passes of the IR and of the back end, and then all but one.
///
/// # Errors
/// When a subject has errors, or none has `only` in its name.
pub fn passes(only: Option<&str>, quiet: bool) -> anyhow::Result<Value> {
    let mut variants = vec![Variant::plain("all passes")];
    for pass in PASSES {
        let name = format!("-{}", pass.name);
        let pipeline = Pipeline::parse(&name).map_err(|e| anyhow!("{e}"))?;
        variants.push(Variant { pipeline, ..Variant::plain(&name) });
    }
    for name in rpu::Passes::NAMES {
        let mut variant = Variant::plain(&format!("-{name}"));
        variant.options.passes.set(name, false);
        variants.push(variant);
    }
    compare(only, quiet, &variants)
}

/// The simple calling convention and those that Węgrzanowski 2006, §7.3, proposes.
///
/// # Errors
/// As [`passes`].
pub fn conventions(only: Option<&str>, quiet: bool) -> anyhow::Result<Value> {
    let named = [
        ("simple", Convention::Simple),
        ("mixed", Convention::Mixed),
        ("interprocedural", Convention::Interprocedural),
    ];
    let variants = named.map(|(name, convention)| {
        let options = rpu::RpuOptions { convention, ..rpu::RpuOptions::default() };
        Variant { options, ..Variant::plain(name) }
    });
    compare(only, quiet, &variants)
}

/// The default inlining policy, none, and everything that fits.
///
/// # Errors
/// As [`passes`].
pub fn inlining(only: Option<&str>, quiet: bool) -> anyhow::Result<Value> {
    let nothing = Pipeline::parse("-inline").map_err(|e| anyhow!("{e}"))?;
    let mut everything = Variant::plain("everything");
    everything.pipeline.inline.small = usize::MAX;
    let nothing = Variant { pipeline: nothing, ..Variant::plain("nothing") };
    compare(only, quiet, &[Variant::plain("default"), everything, nothing])
}

/// Measures every subject in every variant.
fn compare(only: Option<&str>, quiet: bool, variants: &[Variant]) -> anyhow::Result<Value> {
    let wanted = |s: &Subject| only.is_none_or(|part| s.name.contains(part));
    let subjects: Vec<Subject> = subjects()?.into_iter().filter(wanted).collect();
    if subjects.is_empty() {
        return Err(anyhow!("no subject has that in its name; `--json` without `--only` lists them"));
    }
    let of_subject = |subject: &Subject| {
        let mut known = None;
        variants.iter().map(|variant| measure(subject, variant, &mut known)).collect()
    };
    let measured: Vec<Vec<Result<Cost, String>>> = subjects.par_iter().map(of_subject).collect();
    let rows = variants.iter().enumerate().map(|(i, variant)| {
        let column: Vec<_> = measured.iter().map(|costs| &costs[i]).collect();
        let base: Vec<_> = measured.iter().map(|costs| &costs[0]).collect();
        row(&variant.name, &subjects, &base, &column)
    });
    let rows: Vec<Value> = rows.collect();
    if !quiet {
        print(&rows);
    }
    Ok(json!({
        "image": format!("{}x{}, 1 sample", SIZE.0, SIZE.1),
        "subjects": subjects.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(),
        "variants": rows,
    }))
}

/// One variant against the first: each subject's figures, the mean change of each figure in
/// percent, and the subject that changes most.
fn row(name: &str, subjects: &[Subject], base: &[&Result<Cost, String>], costs: &[&Result<Cost, String>]) -> Value {
    let figures = |f: fn(&Cost) -> u64| {
        let mut logs = 0.0;
        let (mut largest, mut subject) = (0.0f64, "");
        let (mut count, mut total) = (0, 0);
        for ((s, before), after) in subjects.iter().zip(base).zip(costs) {
            let (Ok(before), Ok(after)) = (before, after) else { continue };
            let ratio = f(after).max(1) as f64 / f(before).max(1) as f64;
            logs += ratio.ln();
            count += 1;
            total += f(after);
            if (ratio - 1.0).abs() > largest.abs() {
                (largest, subject) = (ratio - 1.0, &s.name);
            }
        }
        let mean = (logs / f64::from(count.max(1))).exp() - 1.0;
        (total, mean, largest, subject)
    };
    let report = |(total, mean, largest, subject): (u64, f64, f64, &str)| {
        let percent = |x: f64| rounded(100.0 * x);
        json!({ "total": total, "mean_percent": percent(mean), "most_percent": percent(largest), "most_in": subject })
    };
    let all = [figures(|c| c.instructions), figures(|c| c.issued), figures(|c| c.cycles)];
    let redundant = all.iter().all(|(_, _, largest, _)| largest.abs() < REDUNDANT);
    let failures: Vec<_> = subjects
        .iter()
        .zip(costs)
        .filter_map(|(s, cost)| Some(format!("{}: {}", s.name, cost.as_ref().as_ref().err()?)))
        .collect();
    let each: Vec<_> = costs
        .iter()
        .map(|cost| cost.as_ref().map_or(Value::Null, |c| json!([c.instructions, c.issued, c.cycles])))
        .collect();
    let [instructions, issued, cycles] = all.map(report);
    json!({
        "name": name,
        "instructions": instructions,
        "issued": issued,
        "cycles": cycles,
        "redundant": redundant && failures.is_empty(),
        "failures": failures,
        "each": each,
    })
}

fn print(rows: &[Value]) {
    println!("{:<18} {:>12} {:>9} {:>12} {:>9} {:>9}  most in", "", "instructions", "mean", "cycles", "mean", "most");
    for (i, row) in rows.iter().enumerate() {
        let total = |figure: &str| row[figure]["total"].to_string();
        let number = |figure: &str, key: &str| row[figure][key].as_f64().unwrap_or_default();
        let percent = |x: f64| format!("{x:+.2}%");
        let most = |figure: &str| number(figure, "most_percent");
        let largest = if most("cycles") == 0.0 { "instructions" } else { "cycles" };
        let note = match (row["redundant"].as_bool(), row["failures"].as_array().map_or(0, Vec::len)) {
            (_, failures @ 1..) => format!("{failures} FAIL"),
            (Some(true), _) if i > 0 => "redundant".to_string(),
            _ => row[largest]["most_in"].as_str().unwrap_or_default().to_string(),
        };
        println!(
            "{:<18} {:>12} {:>9} {:>12} {:>9} {:>9}  {note}",
            row["name"].as_str().unwrap_or_default(),
            total("instructions"),
            percent(number("instructions", "mean_percent")),
            total("cycles"),
            percent(number("cycles", "mean_percent")),
            percent(most(largest)),
        );
        for failure in row["failures"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            println!("    {failure}");
        }
    }
}

/// Compiles and runs. `known` is the job of the last pipeline that was linked: the back end's
/// variants share one.
fn measure(subject: &Subject, variant: &Variant, known: &mut Option<(Pipeline, Job)>) -> Result<Cost, String> {
    if known.as_ref().is_none_or(|(pipeline, _)| *pipeline != variant.pipeline) {
        *known = Some((variant.pipeline.clone(), job(subject, &variant.pipeline)?));
    }
    let Some((_, job)) = known else { return Err("not linked".into()) };
    let Program { module, constants, surface_entries, .. } = &job.program;
    let loaded = Loaded::with_options(module, constants.vectors(), *surface_entries, &variant.options)
        .map_err(|e| e.to_string())?;
    let stats = simulate(job, &loaded, &Config::default(), &|_| {}).map_err(|e| e.to_string())?.stats;
    let instructions = loaded.program().program.code.len() as u64;
    Ok(Cost { instructions, issued: stats.issued, cycles: stats.cycles })
}

/// The subject linked with a pipeline, ready to render.
fn job(subject: &Subject, pipeline: &Pipeline) -> Result<Job, String> {
    let mut sources = SourceMap::new();
    let given = subject.given.iter().map(|(name, text)| (name.clone(), sources.add("<subject>", None, text.as_str())));
    let given: Vec<(String, FileId)> = given.collect();
    let options = LinkOptions { pipeline: pipeline.clone(), given, ..LinkOptions::default() };
    let program = link(&subject.scene, sources, &options).map_err(|e| e.diagnostics.render(&e.sources))?;
    let sampling = Sampling { strata: [1, 1], seed: 0 };
    prepare(program, &subject.scene, Window::whole(SIZE.0, SIZE.1), sampling, DEFAULT_BUDGET).map_err(|e| e.to_string())
}

/// Everything that is measured, in a fixed order.
fn subjects() -> anyhow::Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    for (name, text) in THESIS {
        subjects.extend(shaders(name, text)?);
    }
    for name in stdlib::shader_names() {
        let text = stdlib::shader_source(name).unwrap_or_default();
        subjects.extend(shaders(name, text)?);
    }
    let assets = repository("assets");
    for path in files(&assets.join("shaders"), "sl")? {
        let text = read_shader(&path).map_err(|e| anyhow!("{e}"))?;
        let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        subjects.extend(shaders(&stem, &text)?);
    }
    for path in files(&assets.join("scenes"), "rib")? {
        let mut sources = SourceMap::new();
        let options = OpenOptions { size: Some(SIZE), ..OpenOptions::default() };
        let opened = scene::open(&path, &options, &mut sources).map_err(|errors| diagnostics(&errors, &sources))?;
        let name = path.file_name().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        subjects.push(Subject { name, scene: opened.scene, given: None });
    }
    Ok(subjects)
}

/// The shaders of a file, each on one triangle with lights.
fn shaders(name: &str, text: &str) -> anyhow::Result<Vec<Subject>> {
    let mut sources = SourceMap::new();
    let file = sources.add(name, None, text);
    let unit = rsl::compile(&mut sources, file, &FrontEndOptions::default())
        .map_err(|errors| diagnostics(&errors, &sources))?;
    let subject = |shader: &ShaderInfo| {
        let mut scene = scene::shader_scene(&shader.name, shader.kind.into());
        (scene.format.width, scene.format.height) = SIZE;
        let given = Some((shader.name.to_string(), text.to_string()));
        Subject { name: format!("{name}.sl"), scene, given }
    };
    Ok(unit.shaders.iter().map(subject).collect())
}
