//! Arguments of `silicon`.

use super::*;
use clap::{Args, ValueEnum};
use shadewright::circuit::stimuli::Radix;
use std::path::PathBuf;

/// `silicon`.
#[derive(Debug, Args)]
pub struct SiliconArgs {
    /// A circuit in Silicon (.si)
    pub file: PathBuf,
    /// Form in which the circuit is written
    #[arg(long, value_enum, default_value_t = CircuitEmit::Graph, help_heading = heading::OUTPUT)]
    pub emit: CircuitEmit,
    /// Write it to this file; standard output by default
    #[arg(short, long, value_name = "OUT", help_heading = heading::OUTPUT)]
    pub out: Option<PathBuf>,
    /// Words for the ports, a line each: `port: words`; those of an output are expected of it, and
    /// the exit status is 1 if others leave
    #[arg(long, value_name = "FILE", help_heading = heading::MODEL)]
    pub words: Option<PathBuf>,
    /// How words are written
    #[arg(long, value_parser = choice_of::<Radix>(), default_value = "signed", help_heading = heading::OUTPUT)]
    pub radix: Radix,
    /// Cycles of a simulation at most
    #[arg(long, value_name = "N", default_value_t = 10_000_000, help_heading = heading::MODEL)]
    pub cycles: u64,
    /// Leave out the passes that make the graph smaller
    #[arg(long, alias = renamed::NO_OPTIMIZE, help_heading = heading::MODEL)]
    pub no_optimize: bool,
}

/// The output of `silicon`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CircuitEmit {
    /// The dataflow graph as text, with the numbers of its nodes
    Graph,
    /// The dataflow graph for Graphviz
    Dot,
    /// The words that it puts out, simulated as a dataflow machine
    Simulate,
    /// The words that its bit-serial implementation puts out, cycle by cycle, and its numbers
    Serial,
    /// The layout of that as CIF
    Cif,
    /// The layout as an image
    Svg,
    /// The bit-serial implementation as structural Verilog
    Verilog,
    /// A module `testbench` in Verilog, which feeds that with --words and prints what leaves
    Testbench,
}
