//! Layout of a bit-serial netlist (Ullner 1983, §C.13 and §C.14): cells as boxes with pins, power
//! and clock lines, and wires between the cells.
//!
//! [`place_and_route()`] places the cells in columns, from left to right in the order in which they
//! are active, and routes the wires in the channels between the columns. [`cif()`] and [`svg()`]
//! write the result. [`check`] extracts the netlist from the geometry and tests the design rules.
//! The inside of cells is not drawn, and there are no pads, as in the thesis.
//!
//! - [`geometry`]: rectangles on layers, and the rules of Mead and Conway for them.
//! - `sizes`: how large cells are. `place`: columns and slots. `route`: channels.

pub mod check;
mod cif;
pub mod geometry;
mod place;
mod route;
mod sizes;
mod svg;

pub use cif::cif;
pub use geometry::{CellBox, Layer, Layout, LayoutOptions, Rect, Wire};
pub use route::place_and_route;
pub use svg::svg;

#[cfg(test)]
mod tests;
