//! What is told of a GPU adapter, in builds with a GPU and without.

use serde::Serialize;

/// An adapter, for people and for JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdapterInfo {
    /// The driver's name of it.
    pub name: String,
    /// `discrete`, `integrated`, `virtual`, `software` or `unknown`.
    pub kind: &'static str,
    /// The interface it is reached through: `vulkan`, `metal`, `dx12`, `gl`.
    pub api: String,
    /// The most bytes that a kernel can bind as one buffer.
    pub max_binding_bytes: u64,
}
