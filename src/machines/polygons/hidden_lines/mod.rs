//! The hidden-line pipeline.

pub mod config;
pub mod crossings;
pub mod display;
pub mod drawing;
pub mod edges;
pub mod host;
pub mod join;
pub mod numbers;
pub mod pipe;
pub mod planes;
pub mod processors;
pub mod raster;
pub mod simulate;
pub mod space;
pub mod svg;
pub mod tiles;
pub mod variants;
pub mod visibility;
pub mod weld;

#[cfg(test)]
mod scenes;
#[cfg(test)]
mod tests;
