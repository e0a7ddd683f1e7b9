//! Arguments of `silicon`.

use super::*;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `silicon`.
#[derive(Debug, Args)]
pub struct SiliconArgs {
    /// A circuit in Silicon (.si)
    pub file: PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value_t = CircuitEmit::Graph)]
    pub emit: CircuitEmit,
    /// Words for the ports, a line each: `port: words`; those of an output are expected of it
    #[arg(long, value_name = "FILE")]
    pub words: Option<PathBuf>,
    /// How words are written
    #[arg(long, value_enum, default_value_t = CircuitRadix::Signed)]
    pub radix: CircuitRadix,
    /// Cycles of a simulation at most
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    pub cycles: u64,
    /// Leave out the passes that make the graph smaller
    #[arg(long)]
    pub no_optimise: bool,
}

/// What `silicon` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CircuitEmit {
    /// The dataflow graph as text, with the numbers of its nodes
    Graph,
    /// The dataflow graph for Graphviz
    Dot,
    /// The words that the circuit puts out, simulated as a dataflow machine
    Simulate,
}

/// How `silicon` writes words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CircuitRadix {
    /// Decimal numbers with a sign
    Signed,
    /// Decimal numbers without a sign
    Unsigned,
    /// Hexadecimal numbers
    Hexadecimal,
}
