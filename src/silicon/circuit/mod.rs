//! Circuits as dataflow graphs: what the language Silicon compiles to, and what back ends build on
//! (Ullner 1983, appendix C).
//!
//! A [`graph::Circuit`] is data: operations, the values that flow between them, ports and memories.
//! It knows no language and no layout. [`functional`] simulates it, [`passes`] make it smaller,
//! [`ports`] are its channels, [`stimuli`] the words that a simulation sends through them.
//!
//! This folder uses [`shadewright_base::text`] for places in the source and diagnostics, and nothing else.

pub mod evaluate;
pub mod functional;
pub mod graph;
pub mod layout;
pub mod passes;
pub mod ports;
mod print;
mod repetition;
pub mod serial;
pub mod statistics;
pub mod stimuli;
mod verify;
pub mod verilog;

pub use graph::{Circuit, NodeId, Op, PortId, ValueId};
pub use shadewright_base::bits::Bits;
pub use statistics::Statistics;
