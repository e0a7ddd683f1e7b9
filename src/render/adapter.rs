//! The description of a GPU adapter, in builds with a GPU and without.

use serde::Serialize;

/// An adapter, for text and JSON output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdapterInfo {
    /// The name that the driver gives.
    pub name: String,
    /// `discrete`, `integrated`, `virtual`, `software` or `unknown`.
    pub kind: &'static str,
    /// The graphics API: `vulkan`, `metal`, `dx12`, `gl`.
    pub api: String,
    /// The driver and its version, as far as the system reports them.
    pub driver: String,
    /// The most bytes that a kernel can bind as one buffer.
    pub max_binding_bytes: u64,
}
