//! Uniformity analysis: how the values that several threads compute together differ between them.
//!
//! Threads that run one program in lock step are the *lanes* of a vector. A value has the same bits
//! in all lanes (uniform), bits that grow evenly from lane to lane (affine), or any bits (varying).
//! [`Uniformity`] is that lattice, with what each operation does to it. [`solve`] finds the
//! uniformity of the values of a program in SSA form that a [`Flow`] describes, and which of its
//! branches diverge. It knows neither the IR nor the RPU: both describe their programs as flows.
//!
//! Pérard-Gayot, "Generating Renderers", 2020, §1.2.3; Karrenberg and Hack, "Whole-Function
//! Vectorization", 2011; Rosemann, Moll and Hack, "An Abstract Interpretation for SPMD Divergence
//! on Reducible Control Flow Graphs", 2021.

pub mod graph;
mod lattice;
mod solver;

pub use graph::Graph;
pub use lattice::{Operand, Rule, Uniformity};
pub use solver::{Edge, Flow, Node, Solution, Step, solve};
