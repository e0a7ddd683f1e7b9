//! The intersector as a program in Silicon, the language of Ullner 1983, appendix C: 54 floating-point
//! operations (§2.3.2) written as macros over integers (appendix A), compiled to a circuit.
//!
//! The programs ([`programs`]) are held to the arithmetic that the simulators run
//! ([`super::arithmetic`], [`super::intersector`]): simulations of the circuits give the same bits
//! ([`run`], [`words`]), and the circuits have as many operations as the thesis says ([`counts`]).

pub mod counts;
pub mod programs;
pub mod run;
pub mod words;

#[cfg(test)]
mod tests;
