//! Hardware models.

#[path = "../common/mod.rs"]
mod common;

mod pixelflow;
mod polygon_machines;
mod ray_machines;
mod silicon;
mod simulate;
