//! The ray tracing peripheral (Ullner, "Parallel Machines for Computer Graphics", 1983, §2.3): a
//! pipelined intersector beside a host computer, and the small processors in front of it that choose
//! the polygons for each ray.

pub mod analysis;
mod config;
mod report;
mod search;
mod simulate;

pub use config::{Config, DEFAULT_TEXT, Waits};
pub use report::{BUS_BYTES, estimate_report, report, sweep_report};
pub use search::{Choice, Chooser, Peripheral, chooser, recommended_cells};
pub use simulate::{RayTimes, Simulation, SweepPoint, WAITS, simulate, sweep};

#[cfg(test)]
pub(crate) mod tests;
