//! Hardware models that run whole scenes: each runs the linked program in its own way, renders
//! with it, and says what that costs.
//!
//! | folder | hardware model |
//! |---|---|
//! | [`pixelflow`] | PixelFlow (Olano 1998): SIMD pixels that shade |
//! | [`peripheral`] | a pipelined intersector beside a host (Ullner 1983, §2.3), with a grid and other structures |
//! | [`pipeline`] | a processor for each polygon, past which rays are streamed (§2.4) |
//! | [`array`](mod@array) | a mesh of processors, each with a part of space, that pass rays on (§2.5) |
//! | [`comparison`] | all of them beside each other, then and today |
//! | [`polygons`] | hardware that shows polygons in real time (chapter 3) |
//! | [`models`] | the table of all models |
//! | [`rays`] | the parts that the three ray-tracing models share |
//! | [`report`] | the reports of hardware models |

pub mod array;
pub mod comparison;
pub mod models;
pub mod peripheral;
pub mod pipeline;
pub mod pixelflow;
pub mod polygons;
pub mod rays;
pub mod report;
