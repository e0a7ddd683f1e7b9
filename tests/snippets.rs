//! Runs every snippet of the language table against its one expected result.

#[path = "snippets/table.rs"]
mod table;

use shadewright::ir::eval::{EmptyWorld, Limits, eval};
use shadewright::ir::{Const, Module};
use shadewright::lang::rsl::{Options, compile};
use shadewright::lang::source::SourceMap;
use table::{Arg, SNIPPETS, Snippet};

fn constant(arg: &Arg) -> Const {
    match arg {
        Arg::F(x) => Const::F32(*x),
        Arg::V(v) => Const::Vec3(*v),
        Arg::S(s) => Const::String((*s).into()),
    }
}

/// The module of a snippet.
fn module(snippet: &Snippet) -> Result<Module, String> {
    let mut sources = SourceMap::new();
    let file = sources.add("snippet.sl", None, snippet.source);
    let unit = compile(&mut sources, file, &Options::default()).map_err(|d| d.render(&sources))?;
    shadewright::ir::verify::verify(&unit.module).map_err(|e| format!("{e:?}"))?;
    Ok(unit.module)
}

/// What the evaluator gives for a snippet.
fn on_evaluator(snippet: &Snippet) -> Result<Vec<f32>, String> {
    let module = module(snippet)?;
    let args: Vec<Const> = snippet.args.iter().map(constant).collect();
    let results = eval(&module, "f", &args, &mut EmptyWorld, Limits::default()).map_err(|e| e.to_string())?;
    results[0].floats().map(<[f32]>::to_vec).ok_or_else(|| format!("not a float: {results:?}"))
}

/// What is wrong with a result, if anything.
fn complaint(snippet: &Snippet, result: Result<Vec<f32>, String>) -> Option<String> {
    let got = match result {
        Ok(got) => got,
        Err(e) => return Some(format!("{}: {e}", snippet.name)),
    };
    let expected = constant(&snippet.expected);
    let expected = expected.floats().unwrap_or(&[]);
    let close = |(g, e): (&f32, &f32)| (g - e).abs() <= snippet.tolerance * e.abs().max(1.0);
    let fits = got.len() == expected.len() && got.iter().zip(expected).all(close);
    (!fits).then(|| format!("{}: {got:?}, expected {expected:?}", snippet.name))
}

#[test]
fn every_snippet_gives_its_expected_result_on_the_evaluator() {
    let complaints: Vec<String> = SNIPPETS.iter().filter_map(|s| complaint(s, on_evaluator(s))).collect();
    assert!(complaints.is_empty(), "{} of {} fail:\n{}", complaints.len(), SNIPPETS.len(), complaints.join("\n"));
}

#[test]
fn the_table_is_large_and_names_each_snippet_once() {
    let names: std::collections::HashSet<&str> = SNIPPETS.iter().map(|s| s.name).collect();
    assert_eq!(names.len(), SNIPPETS.len());
    assert!(names.len() >= 160, "{}", names.len());
}
