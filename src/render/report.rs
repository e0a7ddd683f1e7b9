//! Statistics of a renderer's last image: times and counts, as plain data.

use serde::{Serialize, Serializer};
use std::time::Duration;

/// Statistics of an image.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The phases of [`Renderer::render`](super::Renderer::render), in order.
    pub phases: Vec<Phase>,
    /// Counts, by name.
    pub counts: Vec<Count>,
    /// Kernel times by the device's clock, where it has one and
    /// [`Renderer::set_profiling`](super::Renderer::set_profiling) is on.
    pub kernels: KernelTimes,
}

/// A phase of the work, timed by the host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// The name of the phase.
    pub name: &'static str,
    /// The time of the phase, in milliseconds.
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub time: Duration,
}

/// A count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Count {
    /// The name of what is counted.
    pub name: &'static str,
    /// The count.
    pub count: u64,
}

/// The time of every kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum KernelTimes {
    /// Profiling is off, or the back end has no kernels.
    #[default]
    None,
    /// The device has no clock that kernels can read.
    Unavailable,
    /// Measured by the device.
    Measured {
        /// The kernels that ran, the longest first.
        kernels: Vec<KernelTime>,
        /// The time between submissions in which the device had nothing to do, in milliseconds.
        #[serde(rename = "idle_ms", serialize_with = "milliseconds")]
        idle: Duration,
    },
}

/// The time of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelTime {
    /// The name of the kernel.
    pub name: String,
    /// The time of all its dispatches, in milliseconds.
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub time: Duration,
    /// The longest of them, in milliseconds.
    #[serde(rename = "longest_ms", serialize_with = "milliseconds")]
    pub longest: Duration,
    /// The number of its dispatches, empty ones included.
    pub dispatches: u64,
}

/// Serializes a time in milliseconds.
///
/// # Errors
/// The errors of the serializer.
pub fn milliseconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64() * 1000.0)
}
