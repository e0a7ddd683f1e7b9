//! Simulates a circuit as an ideal dataflow machine (Ullner 1983, C.12).
//!
//! A cycle has two phases: first each node that has its inputs, and whose last outputs are taken,
//! computes; then all of them take their inputs and publish their outputs. An arc holds one token.
//! All heads of a loop go on together, so that no part of a loop runs ahead of another.
//!
//! Cycles are not those of a chip: each operation takes one, whatever its size. A channel inside
//! the circuit that holds no words passes one when both ends are there.
//!
//! [`simulator`] is the simulation, [`Environment`] what is outside of the circuit.

mod channel;
mod rounds;
mod simulator;
mod step;
#[cfg(test)]
mod tests;
mod waits;

pub use waits::Wait;

use super::graph::{Circuit, PortId};
use shadewright_base::bits::Bits;
use simulator::FunctionalSimulator;

/// The outside of a circuit.
pub trait Environment {
    /// Takes the next word of an input, if it is there in this cycle. The word has the size of the
    /// port.
    fn get(&mut self, port: PortId, cycle: u64) -> Option<Bits>;

    /// True if [`Environment::get`] would give a word.
    fn ready(&mut self, port: PortId, cycle: u64) -> bool;

    /// Takes a word from an output; false if it is not accepted in this cycle.
    fn put(&mut self, port: PortId, word: &Bits, cycle: u64) -> bool;

    /// True if [`Environment::put`] would accept a word.
    fn waiting(&mut self, _port: PortId, _cycle: u64) -> bool {
        true
    }

    /// Debug output: the text, and a word of this size.
    fn print(&mut self, _text: &str, _word: &Bits, _size: u32) {}

    /// The next cycle after this one in which an input gets a word or an output accepts one by
    /// itself; none if that never happens again.
    fn next_event(&self, _cycle: u64) -> Option<u64> {
        None
    }
}

/// The limits of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Cycles.
    pub cycles: u64,
    /// Cycles in which no word passes a port, after which the simulation looks whether the circuit
    /// repeats itself.
    pub idle: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { cycles: 10_000_000, idle: 1_000 }
    }
}

/// How a simulation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing is left to do.
    Complete,
    /// The circuit waits for words that do not come.
    Starved,
    /// The circuit goes on, but repeats itself, and no word passes a port any more: it polls.
    Idle,
    /// The circuit waits, and not for its inputs: parts of it wait for each other, or an output is
    /// not taken.
    Deadlock,
    /// The cycles were not enough.
    Limit,
}

/// A simulation.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub outcome: Outcome,
    /// Cycles.
    pub cycles: u64,
    /// How often nodes fired.
    pub firings: u64,
    /// The cycle of the last word at a port.
    pub last_word: u64,
    /// Operations on ports that wait at the end, in the order of the graph.
    pub waits: Vec<Wait>,
}

/// Simulates a circuit whose sizes are known, until nothing happens any more or a limit is reached.
pub fn run(circuit: &Circuit, environment: &mut dyn Environment, limits: Limits) -> Run {
    FunctionalSimulator::new(circuit).run(environment, limits)
}
