//! `shadewright silicon FILE`: a circuit in Silicon as a graph, simulated, or laid out.

use super::args::{CircuitEmit, CircuitRadix, SiliconArgs};
use super::failure::Failure;
use shadewright::circuit::functional::{self, Limits, Outcome, Run};
use shadewright::circuit::stimuli::{Radix, Stimuli};
use shadewright::circuit::{Circuit, passes};
use shadewright::lang::silicon;
use shadewright::text::source::{FileId, SourceMap, decode};
use std::path::Path;

/// Compiles the file and prints what is asked for.
pub fn run(args: &SiliconArgs) -> Result<(), Failure> {
    let mut sources = SourceMap::new();
    let file = read(&args.file, &mut sources)?;
    let mut circuit = silicon::compile(&sources, file).map_err(|d| Failure::diagnostics(&d, &sources))?;
    let before = circuit.statistics();
    let prints = matches!(args.emit, CircuitEmit::Simulate | CircuitEmit::Graph | CircuitEmit::Dot);
    passes::run(&mut circuit, passes::Options { prints, optimise: !args.no_optimise });
    match args.emit {
        CircuitEmit::Graph => {
            print!("{}", circuit.to_text(Some(&sources)));
            let after = circuit.statistics();
            println!("-- {} nodes, {} before passes", after.total(), before.total());
            after.nodes.iter().for_each(|(name, count)| println!("-- {count:6} {name}"));
        }
        CircuitEmit::Dot => print!("{}", circuit.to_dot()),
        CircuitEmit::Simulate => return simulate(args, &circuit, &mut sources),
    }
    Ok(())
}

fn read(path: &Path, sources: &mut SourceMap) -> Result<FileId, Failure> {
    let bytes =
        std::fs::read(path).map_err(|e| Failure::input(format!("error: cannot read {}: {e}", path.display())))?;
    Ok(sources.add(path.display().to_string(), Some(path), decode(&bytes)))
}

fn simulate(args: &SiliconArgs, circuit: &Circuit, sources: &mut SourceMap) -> Result<(), Failure> {
    let mut stimuli = match &args.words {
        None => Stimuli::new(circuit),
        Some(path) => {
            let file = read(path, sources)?;
            let text = sources.get(file).map_or("", |source| &source.text);
            Stimuli::parse(circuit, file, text).map_err(|d| Failure::diagnostics(&d, sources))?
        }
    };
    let limits = Limits { cycles: args.cycles, ..Limits::default() };
    let result = functional::run(circuit, &mut stimuli, limits);
    let radix = match args.radix {
        CircuitRadix::Signed => Radix::Signed,
        CircuitRadix::Unsigned => Radix::Unsigned,
        CircuitRadix::Hexadecimal => Radix::Hexadecimal,
    };
    print!("{}", stimuli.report(radix));
    stimuli.prints(radix).iter().for_each(|line| println!("{line}"));
    let ending = ending(&result);
    println!("{ending}: {} cycles, {} operations", result.cycles, result.firings);
    result.waits.iter().for_each(|wait| println!("{}: {}", sources.describe(wait.span), wait.what));
    stimuli.left().iter().for_each(|(port, left)| println!("{port}: {left} words are not taken"));
    let mismatches = stimuli.mismatches(radix);
    if !mismatches.is_empty() {
        return Err(Failure::different(mismatches.join("\n")));
    }
    match result.outcome {
        Outcome::Deadlock | Outcome::Limit => Err(Failure::input(format!("error: {ending}"))),
        Outcome::Complete | Outcome::Starved | Outcome::Idle => Ok(()),
    }
}

fn ending(result: &Run) -> &'static str {
    match result.outcome {
        Outcome::Complete => "the circuit is done",
        Outcome::Starved => "the circuit waits for words that do not come",
        Outcome::Idle => "the circuit polls its ports, and no word passes any more",
        Outcome::Deadlock => "deadlock: parts of the circuit wait for each other, or an output is not taken",
        Outcome::Limit => "the cycles are over",
    }
}
