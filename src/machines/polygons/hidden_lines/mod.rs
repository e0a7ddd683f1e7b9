//! The hidden-line pipeline (Ullner, "Parallel Machines for Computer Graphics", 1983, §3.4): a chain
//! of processors, each with one plane of the volume that a polygon hides, past which the lines of a
//! drawing are streamed. What arrives at its end is a line drawing without its hidden lines.
//!
//! [`render()`] takes a model and gives the drawing, and [`simulate()`] the hardware's time too;
//! [`svg()`] and [`image()`] turn the drawing into files, and [`report()`] says what it costs.
//!
//! | file | holds |
//! |---|---|
//! | `config`, `default.toml` | the numbers of the hardware and of the drawing |
//! | `weld`, `edges`, `crossings` | the host: shared vertices, edges that are drawn, lines in which polygons cross |
//! | `space`, `numbers`, `planes`, `host` | what the host sends: coordinates with so many bits, planes, lines |
//! | `processors`, `display` | the hardware, message by message |
//! | `pipe` | the hardware in time |
//! | `tiles`, `visibility` | what the hardware computes, line by line, for large scenes |
//! | `variants` | the simpler pipelines, which compare polygons with edges or polygons |
//! | `drawing`, `join`, `svg`, `raster` | the drawing, its strokes, and its files |
//! | `simulate`, `report` | a scene on the hardware |

mod config;
mod crossings;
mod display;
mod drawing;
mod edges;
mod host;
mod join;
mod numbers;
mod pipe;
mod planes;
mod processors;
mod raster;
mod report;
mod simulate;
mod space;
mod svg;
mod tiles;
mod variants;
mod visibility;
mod weld;

pub use config::{Background, Color, Config, DEFAULT_TEXT, Edges, Hardware, Hidden, Limits, Numbers, Style};
pub use drawing::{Drawing, Group, Parts};
pub use edges::EdgeKind;
pub use host::{HiddenLineError, MOST_LINES, MOST_POLYGONS};
pub use processors::Counts;
pub use raster::image;
pub use report::report;
pub use simulate::{Load, Progress, SECTIONS, Section, Simulation, Timing, render, simulate};
pub use svg::svg;
pub use variants::Pipe;

#[cfg(test)]
mod scenes;
#[cfg(test)]
mod tests;
