//! The fourth phase: runs the passes over the linked module.

pub mod texture_lookups;
