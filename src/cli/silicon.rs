//! `shadewright silicon FILE`: a circuit in Silicon as a graph, simulated, laid out, or as Verilog.

use super::args::{CircuitEmit, SiliconArgs};
use super::failure::Failure;
use shadewright::circuit::functional::{self, Outcome, Run};
use shadewright::circuit::layout::{self, Layout};
use shadewright::circuit::serial::netlist::Netlist;
use shadewright::circuit::serial::{self, statistics};
use shadewright::circuit::stimuli::{MAX_OUTPUT, Stimuli};
use shadewright::circuit::{Circuit, passes, verilog};
use shadewright::image::file as image_file;
use shadewright::scene::read_file;
use shadewright::silicon::language;
use shadewright::text::diagnostics::Diagnostic;
use shadewright::text::source::{FileId, SourceMap, decode};
use std::fmt::Write;
use std::path::Path;

/// Most bytes of a program, or of the words for its ports.
const MAX_BYTES: u64 = 64 << 20;

/// Compiles the file and prints what is asked for.
pub fn run(args: &SiliconArgs) -> Result<(), Failure> {
    if let Some(path) = &args.out {
        image_file::check_replaceable(path)?;
    }
    let mut sources = SourceMap::new();
    let file = read(&args.file, &mut sources)?;
    let mut circuit = language::compile(&sources, file).map_err(|d| Failure::diagnostics(&d, &sources))?;
    let before = circuit.statistics();
    let prints = matches!(args.emit, CircuitEmit::Simulate | CircuitEmit::Graph | CircuitEmit::Dot);
    passes::run(&mut circuit, passes::PassOptions { prints, optimize: !args.no_optimize });
    let mut compiled = Compiled { args, circuit, sources, stem: stem(&args.file) };
    let (text, ended) = match args.emit {
        CircuitEmit::Graph => {
            let after = compiled.circuit.statistics();
            let mut text = compiled.circuit.to_text(Some(&compiled.sources));
            let _ = writeln!(text, "-- {} nodes, {} before passes", after.total(), before.total());
            after.nodes.iter().for_each(|(name, count)| {
                let _ = writeln!(text, "-- {count:6} {name}");
            });
            (text, Ok(()))
        }
        CircuitEmit::Dot => (compiled.circuit.to_dot(), Ok(())),
        CircuitEmit::Simulate => compiled.simulate()?,
        CircuitEmit::Serial => compiled.serial()?,
        CircuitEmit::Cif => (layout::cif(&compiled.layout()?), Ok(())),
        CircuitEmit::Svg => (layout::svg(&compiled.layout()?), Ok(())),
        CircuitEmit::Verilog => (verilog::module(&compiled.netlist()?, &compiled.stem), Ok(())),
        CircuitEmit::Testbench => (compiled.testbench()?, Ok(())),
    };
    match &args.out {
        Some(path) => image_file::write_bytes(path, text.as_bytes())?,
        None => print!("{text}"),
    }
    ended
}

/// The file's name without its extension: that of the module.
fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

fn read(path: &Path, sources: &mut SourceMap) -> Result<FileId, Failure> {
    let bytes = read_file(path, MAX_BYTES).map_err(|e| Failure::input(format!("error: {e}")))?;
    Ok(sources.add(path.display().to_string(), Some(path), decode(&bytes)))
}

/// A text, and whether what it reports is a success.
type Shown = (String, Result<(), Failure>);

/// A compiled circuit.
struct Compiled<'a> {
    args: &'a SiliconArgs,
    circuit: Circuit,
    sources: SourceMap,
    stem: String,
}

impl Compiled<'_> {
    fn fail(&self, diagnostic: Diagnostic) -> Failure {
        Failure::diagnostics(&diagnostic.into(), &self.sources)
    }

    fn netlist(&self) -> Result<Netlist, Failure> {
        serial::build(&self.circuit).map_err(|d| self.fail(d))
    }

    fn layout(&self) -> Result<Layout, Failure> {
        let netlist = self.netlist()?;
        let layout = layout::place_and_route(&netlist, layout::LayoutOptions::default()).map_err(|d| self.fail(d))?;
        eprint!("{}", layout.report());
        Ok(layout)
    }

    /// The words that the arguments name; none without.
    fn stimuli(&mut self) -> Result<Stimuli, Failure> {
        let Some(path) = &self.args.words else { return Ok(Stimuli::new(&self.circuit)) };
        let file = read(path, &mut self.sources)?;
        let text = self.sources.get(file).map_or("", |source| &source.text);
        Stimuli::parse(&self.circuit, file, text).map_err(|d| Failure::diagnostics(&d, &self.sources))
    }

    /// The limits of a simulation of single cycles.
    fn limits(&self) -> serial::Limits {
        serial::Limits { cycles: self.args.cycles, ..serial::Limits::default() }
    }

    fn simulate(&mut self) -> Result<Shown, Failure> {
        let mut stimuli = self.stimuli()?;
        let limits = functional::Limits { cycles: self.args.cycles, ..functional::Limits::default() };
        let result = functional::run(&self.circuit, &mut stimuli, limits);
        let mut text = stimuli.report(self.args.radix);
        for line in stimuli.prints(self.args.radix) {
            let _ = writeln!(text, "{line}");
        }
        let ending = ending(&result);
        let _ = writeln!(text, "{ending}: {} cycles, {} operations", result.cycles, result.firings);
        for wait in &result.waits {
            let _ = writeln!(text, "{}: {}", self.sources.describe(wait.span), wait.what);
        }
        let outcome = match result.outcome {
            Outcome::Deadlock | Outcome::Limit => Err(Failure::input(format!("error: {ending}"))),
            Outcome::Complete | Outcome::Starved | Outcome::Idle => Ok(()),
        };
        Ok(self.judged(text, &stimuli, outcome))
    }

    /// Adds the words that were not taken; fails where others left than are expected.
    fn judged(&self, mut text: String, stimuli: &Stimuli, outcome: Result<(), Failure>) -> Shown {
        let outcome = if stimuli.is_full() {
            let message = format!("error: the words that leave have more than {MAX_OUTPUT} bits");
            Err(Failure::input(message + "\nhint: `--cycles N` ends the simulation before"))
        } else {
            outcome
        };
        for (port, left) in stimuli.left() {
            let _ = writeln!(text, "{port}: {left} words are not taken");
        }
        let mismatches = stimuli.mismatches(self.args.radix);
        match mismatches.is_empty() {
            true => (text, outcome),
            false => (text, Err(Failure::different(mismatches.join("\n")))),
        }
    }

    fn serial(&mut self) -> Result<Shown, Failure> {
        let mut stimuli = self.stimuli()?;
        let netlist = self.netlist()?;
        let result = serial::simulate(&netlist, &mut stimuli, self.limits()).map_err(|d| self.fail(d))?;
        let mut text = stimuli.report(self.args.radix);
        text.push_str(&statistics::report(&netlist, Some(&result)));
        text.push_str(match result.ended {
            true => "the chip waits or repeats itself, and no word passes any more\n",
            false => "the cycles are over\n",
        });
        let limit = match result.ended {
            true => Ok(()),
            false => Err(Failure::input("error: the cycles are over (--cycles)")),
        };
        Ok(self.judged(text, &stimuli, limit))
    }

    fn testbench(&mut self) -> Result<String, Failure> {
        let mut stimuli = self.stimuli()?;
        let netlist = self.netlist()?;
        let feeds = verilog::feeds(&netlist, &stimuli);
        // Verilog does not know when the chip repeats itself: the testbench runs as long as this does.
        let run = serial::simulate(&netlist, &mut stimuli, self.limits()).map_err(|d| self.fail(d))?;
        let limits = serial::Limits { cycles: run.simulated, idle: run.simulated };
        Ok(verilog::testbench(&netlist, &self.stem, &feeds, limits))
    }
}

fn ending(result: &Run) -> &'static str {
    match result.outcome {
        Outcome::Complete => "the circuit is done",
        Outcome::Starved => "the circuit waits for words that do not come",
        Outcome::Idle => "the circuit repeats itself, and no word passes any more",
        Outcome::Deadlock => "deadlock: parts of the circuit wait for each other, or an output is not taken",
        Outcome::Limit => "the cycles are over",
    }
}
