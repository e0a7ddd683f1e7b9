//! `shadewright compile FILE --specialize FACTS`: the program that specialization leaves, and what it
//! removes of the one that serves every scene.

use super::linked;
use crate::cli::args::CompileArgs;
use crate::cli::failure::Failure;
use shadewright::inspect::residual::{CodeSize, Residual};
use shadewright::ir::Module;
use shadewright::program::Specialize;
use std::fmt::Write as _;

/// Links the file with no fact of it in the code, then as asked.
fn both(args: &CompileArgs) -> Result<(Residual, Module), Failure> {
    let general = CompileArgs { specialize: Some(Specialize::NONE), ..args.clone() };
    let (before, sources) = linked(&general)?;
    let (after, own_sources) = linked(args)?;
    Ok((Residual::new((&before, &sources), (&after, &own_sources)), after))
}

/// The lines that are gone, each after a prefix.
fn gone(residual: &Residual, prefix: &str) -> String {
    let mut text = String::new();
    for line in &residual.gone {
        let _ = writeln!(text, "{prefix}gone: {}:{}: {}", line.file, line.line, line.text);
    }
    if residual.gone_built_in > 0 {
        let _ = writeln!(text, "{prefix}gone: {} lines of built-in functions", residual.gone_built_in);
    }
    text
}

/// The IR, after comments that say what is gone.
pub fn ir(args: &CompileArgs) -> Result<String, Failure> {
    let (residual, module) = both(args)?;
    let pairs = residual.before.rows().into_iter().zip(residual.after.rows());
    let counts: Vec<String> = pairs.map(|((name, was), (_, is))| format!("{name} {was} to {is}")).collect();
    let facts = args.specialize.unwrap_or_default();
    Ok(format!("; specialized for {facts}: {}\n{}{module}", counts.join(", "), gone(&residual, "; ")))
}

/// How much code there is before and after, and the lines that are gone.
pub fn report(args: &CompileArgs) -> Result<String, Failure> {
    let (residual, module) = both(args)?;
    let facts = args.specialize.unwrap_or_default();
    let mut text = format!("specialized for {facts}\n{:<14} {:>8} {:>11} {:>6}\n", "", "none", "specialized", "ratio");
    for ((name, was), (_, is)) in residual.before.rows().into_iter().zip(residual.after.rows()) {
        let _ = writeln!(text, "{name:<14} {was:>8} {is:>11} {:>6}", ratio(is, was));
    }
    let left = residual.lines - residual.gone.len() - residual.gone_built_in;
    let lines = residual.lines;
    let _ = writeln!(text, "{:<14} {lines:>8} {left:>11} {:>6}", "source lines", ratio(left, lines));
    text += &gone(&residual, "");
    for f in &module.functions {
        let size = CodeSize::new(&Module { functions: vec![f.clone()], ..Module::default() });
        let _ = writeln!(text, "{:<40} {:>6} instructions, {} blocks", f.name, size.instructions, f.blocks.len());
    }
    Ok(text)
}

fn ratio(is: usize, was: usize) -> String {
    if was == 0 { "-".to_string() } else { format!("{:.2}", is as f64 / was as f64) }
}
