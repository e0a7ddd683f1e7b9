//! The scan-line tree (Ullner, "Parallel Machines for Computer Graphics", 1983, §3.3): polygons are
//! transformed by a SIMD array and scan converted in the leaves of a binary tree, whose nodes merge
//! segments of scan lines and remove what is hidden; at the roots segments become pixels.
//!
//! The data goes through the files in this order:
//!
//! | file or folder | holds |
//! |---|---|
//! | [`config`] | the hardware's numbers and switches |
//! | [`processors`] | transformation and clipping: the array, its instructions, its programs |
//! | [`front`] | a scene through the array, or a common pipeline |
//! | [`leaves`] | which polygon is in which leaf, in which group |
//! | [`segment`], [`scan`] | segments, and the scan converters that make them |
//! | [`merge`](mod@merge), [`split`](mod@split) | the processors of the tree |
//! | [`shape`], [`flow`] | which processors there are, and what each does on a scan line |
//! | [`timing`] | when |
//! | [`pixels`], [`shade`], [`film`] | samples, their colors, and the image |
//! | [`frame`], [`simulate`](mod@simulate) | a group through the tree, and a scene |
//! | [`capacity`], [`hardware`], [`report`](mod@report) | what roots can take, what there is, and all numbers |

pub mod capacity;
pub mod config;
pub mod film;
pub mod flow;
pub mod frame;
pub mod front;
pub mod hardware;
pub mod leaves;
pub mod merge;
pub mod pixels;
pub mod processors;
pub mod report;
pub mod scan;
pub mod segment;
pub mod shade;
pub mod shape;
pub mod simulate;
pub mod split;
pub mod timing;

pub use config::{Config, DEFAULT_TEXT};
pub use report::report;
pub use simulate::{Simulation, TreeError, simulate};

#[cfg(test)]
mod tests;
