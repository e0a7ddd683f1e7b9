//! Bit-serial implementation of a circuit (Ullner 1983, §C.13).
//!
//! [`build()`] translates a dataflow graph into a [`Netlist`] of serial cells: it chooses the cells
//! and inserts delays so that words that are used together arrive together. [`simulate()`] runs the
//! netlist cycle by cycle. The Verilog back end and the layout take the same netlist.
//!
//! - [`cells`]: the kinds of cells; `step` and `ports`: what they do in one cycle.
//! - [`netlist`]: cells, nets and pads as data.
//! - `timing`, `align`: when words begin, and the delays that make them begin together.
//! - `build`, `operations`: the translation, loops and ports, and single operations.
//! - `simulate`, `outside`: the simulator, and what is at the other side of the pads.
//! - [`statistics`]: cells, registers, area, and the time that words take.

mod align;
mod build;
pub mod cells;
pub mod netlist;
mod operations;
mod outside;
mod ports;
mod simulate;
pub mod statistics;
mod step;
mod timing;

pub use build::build;
pub use netlist::Netlist;
pub use simulate::{Limits, Run, simulate};
pub use step::Fault;

#[cfg(test)]
mod tests;
