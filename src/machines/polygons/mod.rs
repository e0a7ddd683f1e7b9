//! Hardware that shows polygons in real time (Ullner, "Parallel Machines for Computer Graphics",
//! 1983, chapter 3). It transforms, clips and rasterizes the same scenes that the ray-tracing
//! hardware traces, and its images are held against a ray tracer's of the same polygons and colors.
//!
//! | file or folder | holds |
//! |---|---|
//! | [`model`] | the polygons, colors and lights of a scene, and its view |
//! | [`screen`] | what a host sends to hardware that takes polygons in screen space: clipping, culling |
//! | [`tree`] | the scan-line tree (§3.3) |
//! | [`hidden_lines`] | the hidden-line pipeline, which makes line drawings (§3.4) |
//! | [`prior`] | designs with depth buffers: Fuchs, Parke, Pixel-planes, Demetrescu (§3.2) |
//! | [`raster`] | which pixels a polygon covers, and its colors and depths there |
//! | [`scene_model`] | a scene as a model |
//! | [`colors`] | the colors that its shaders give at corners |
//! | [`painted`] | the scene that a ray tracer renders to check a hardware model: the same polygons and colors |

pub mod colors;
pub mod hidden_lines;
pub mod model;
pub mod painted;
pub mod prior;
pub mod raster;
pub mod scene_model;
pub mod screen;
pub mod tree;
