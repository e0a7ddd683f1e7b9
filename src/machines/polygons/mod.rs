//! Machines that show polygons in real time (Ullner, "Parallel Machines for Computer Graphics",
//! 1983, chapter 3). They transform, clip and rasterise the same scenes that the ray-tracing machines
//! trace, and their images are held against a ray tracer's of the same polygons and colours.
//!
//! | file or folder | holds |
//! |---|---|
//! | [`model`] | the polygons, colours and lights of a scene, and its view |
//! | [`screen`] | what a host sends to machines that take polygons in screen space: clipping, culling |
//! | [`of_job`] | a scene as a model |
//! | [`colors`] | the colours that its shaders give at corners |
//! | [`hidden_lines`] | the hidden-line pipeline, and line drawings |
//! | `painted` | the scene that a ray tracer renders to check a machine: the same polygons and colours |

pub mod colors;
pub mod hidden_lines;
pub mod model;
pub mod of_job;
mod painted;
pub mod screen;
