//! What a renderer tells of its last image: where the time went and what was done. Plain data, for whoever prints it.

use serde::{Serialize, Serializer};
use std::time::Duration;

/// Where the time of an image went.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The parts of [`Renderer::render`](super::Renderer::render), in order.
    pub phases: Vec<Phase>,
    /// What was done, by name.
    pub counts: Vec<Count>,
    /// The device's own clock, where there is one and [`Renderer::set_profiling`](super::Renderer::set_profiling) asked for it.
    pub kernels: KernelTimes,
}

/// A part of the work, timed by the host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// What it is.
    pub name: &'static str,
    /// How long it took, in milliseconds.
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub time: Duration,
}

/// How often something was done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Count {
    /// What.
    pub name: &'static str,
    /// How often.
    pub count: u64,
}

/// The time of every kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum KernelTimes {
    /// Nobody asked, or the machine has no kernels.
    #[default]
    None,
    /// The device has no clock that kernels can read.
    Unavailable,
    /// As the device measured it.
    Measured {
        /// Those that ran, the longest first.
        kernels: Vec<KernelTime>,
        /// The time between submissions in which the device had nothing to do, in milliseconds.
        #[serde(rename = "idle_ms", serialize_with = "milliseconds")]
        idle: Duration,
    },
}

/// The time of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelTime {
    /// Its name.
    pub name: String,
    /// All its dispatches together, in milliseconds.
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub time: Duration,
    /// The longest of them, in milliseconds.
    #[serde(rename = "longest_ms", serialize_with = "milliseconds")]
    pub longest: Duration,
    /// How often it was dispatched, empty dispatches included.
    pub dispatches: u64,
}

/// Writes a time as its milliseconds.
///
/// # Errors
/// Those of the serializer.
pub fn milliseconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64() * 1000.0)
}
