//! Runs every snippet of the language table on every function runner, against its one expected
//! result.
//!
//! The GPU part needs an adapter (Mesa's software driver will do) and fails without one.

mod pfman;
mod table;

use rayon::prelude::*;
use shadewright::abi::EntryPoint;
use shadewright::ir::passes::{Pipeline, derivatives};
use shadewright::ir::{Const, FunctionKind, Module};
use shadewright::lang::unit::ShaderUnit;
use shadewright::lang::{FrontEndOptions, Unit, registry};
use shadewright::render::BackendOptions;
use shadewright::render::call::{Agreement, Evaluator, FunctionRunner, RunnerInfo, Words, runners};
use shadewright::text::source::SourceMap;
use std::path::Path;
use table::{Arg, SNIPPETS, Snippet};

/// Devices that the snippets are shared out to: a software driver compiles each device's kernels
/// one after the other.
const DEVICES: usize = 2;

fn constant(arg: &Arg) -> Const {
    match arg {
        Arg::F(x) => Const::F32(*x),
        Arg::V(v) => Const::Vec3(*v),
        Arg::S(s) => Const::String((*s).into()),
    }
}

fn arguments(snippet: &Snippet) -> Vec<Const> {
    snippet.args.iter().map(constant).collect()
}

/// The module of a snippet as the front end makes it.
fn module(snippet: &Snippet) -> Result<Module, String> {
    let mut sources = SourceMap::new();
    let file = sources.add(snippet.file, None, snippet.source);
    let language = registry::for_path(Path::new(snippet.file)).ok_or("no language has this extension")?;
    let unit = language.compile(&mut sources, file, &FrontEndOptions::default()).map_err(|d| d.render(&sources))?;
    let Unit::Shaders(ShaderUnit { mut module, .. }) = unit else { return Err("the file defines classes".into()) };
    shadewright::ir::verify(&module).map_err(|e| format!("{e:?}"))?;
    module.function_mut("f").ok_or("there is no `f`")?.kind = FunctionKind::Entry(EntryPoint::Other);
    Ok(module)
}

/// The module of a snippet after the passes.
fn optimized(snippet: &Snippet) -> Result<Module, String> {
    let mut module = module(snippet)?;
    Pipeline::default().run(&mut module, &mut ()).map_err(|e| e.to_string())?;
    Ok(module)
}

/// Checks the words of a result against the expected value.
fn check(snippet: &Snippet, words: &[u32]) -> Result<(), String> {
    let got: Vec<f32> = words.iter().map(|w| f32::from_bits(*w)).collect();
    let expected = constant(&snippet.expected);
    let expected = expected.floats().unwrap_or(&[]);
    let close = |(g, e): (&f32, &f32)| (g - e).abs() <= snippet.tolerance * e.abs().max(1.0);
    let fits = got.len() == expected.len() && got.iter().zip(expected).all(close);
    if fits { Ok(()) } else { Err(format!("{got:?}, expected {expected:?}")) }
}

/// Bits to compare: a NaN's payload and sign are ignored.
fn bits(words: &[u32]) -> Words {
    words.iter().map(|&w| if f32::from_bits(w).is_nan() { f32::NAN.to_bits() } else { w }).collect()
}

/// Checks a snippet on the evaluator, before the passes.
fn before_the_passes(snippet: &Snippet) -> Result<(), String> {
    let mut module = module(snippet)?;
    derivatives::expand(&mut module);
    let words = Evaluator.run(&module, "f", &[arguments(snippet)]).map_err(|e| e.to_string())?;
    check(snippet, &words.concat())
}

/// Checks a snippet on a runner, against the expected value and, where the runner promises that,
/// the evaluator's bits.
fn on_runner(snippet: &Snippet, row: &RunnerInfo, runner: &dyn FunctionRunner) -> Result<(), String> {
    let (module, calls) = (optimized(snippet)?, [arguments(snippet)]);
    let words = runner.run(&module, "f", &calls).map_err(|e| format!("{}: {e}", row.name))?.concat();
    check(snippet, &words).map_err(|e| format!("{}: {e}", row.name))?;
    if row.agreement == Agreement::Bits {
        let reference = Evaluator.run(&module, "f", &calls).map_err(|e| e.to_string())?.concat();
        if bits(&words) != bits(&reference) {
            return Err(format!("{} gives {words:08x?}, the evaluator {reference:08x?}", row.name));
        }
    }
    Ok(())
}

/// Of the snippets, one in this many also runs where a software driver compiles slowly: a second or
/// two each.
const SLOW_EVERY: usize = 24;

/// The snippets of all languages.
fn snippets() -> Vec<&'static Snippet> {
    SNIPPETS.iter().chain(pfman::SNIPPETS).collect()
}

/// Fails with the complaints about snippets.
fn all(snippets: impl ParallelIterator<Item = (&'static Snippet, Result<(), String>)>) {
    let failed = |(s, result): (&Snippet, Result<(), String>)| result.err().map(|e| format!("{}: {e}", s.name));
    let complaints: Vec<String> = snippets.filter_map(failed).collect();
    assert!(complaints.is_empty(), "{} fail:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn every_snippet_gives_its_expected_result_before_the_passes() {
    all(snippets().into_par_iter().map(|s| (s, before_the_passes(s))));
}

#[test]
fn every_snippet_gives_its_expected_result_on_every_runner_of_the_cpu() {
    for row in runners().iter().filter(|row| !row.uses_gpu) {
        all(snippets().into_par_iter().map(|s| {
            let runner = row.open(&BackendOptions::default()).expect("the CPU is there");
            (s, on_runner(s, row, &*runner))
        }));
    }
}

#[test]
fn every_snippet_gives_its_expected_result_on_every_runner_of_the_gpu() {
    crate::common::adapter();
    for row in runners().iter().filter(|row| row.uses_gpu) {
        let every = if row.compiles_slowly { SLOW_EVERY } else { 1 };
        let snippets: Vec<&'static Snippet> = snippets().into_iter().step_by(every).collect();
        all(snippets.par_chunks(snippets.len().div_ceil(DEVICES)).flat_map_iter(|share| {
            let runner = row
                .open(&BackendOptions::default())
                .expect("this test needs a GPU adapter; the software driver of Mesa (lavapipe) will do");
            share.iter().map(|&s| (s, on_runner(s, row, &*runner))).collect::<Vec<_>>()
        }));
    }
}

#[test]
fn the_table_is_large_and_names_each_snippet_once() {
    let names: std::collections::HashSet<&str> = snippets().iter().map(|s| s.name).collect();
    assert_eq!(names.len(), snippets().len());
    assert!(SNIPPETS.len() >= 160 && pfman::SNIPPETS.len() >= 24, "{}", names.len());
}
