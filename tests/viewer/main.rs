//! The window, with real input events, and kernels that are edited while it runs.

#[path = "../desktop/mod.rs"]
mod desktop;

mod kernels;
mod viewer;
