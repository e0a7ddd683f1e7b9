//! The ray tracing pipeline (Ullner, "Parallel Machines for Computer Graphics", 1983, §2.4): a chain
//! of intersection processors, one for each polygon, past which the rays are streamed.

mod config;
mod report;
mod simulate;

pub use config::{Config, DEFAULT_TEXT};
pub use report::report;
pub use simulate::{Simulation, simulate};

#[cfg(test)]
mod tests;
