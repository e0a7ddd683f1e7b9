//! Parts of an image that different processes render, and that join to the bits of one process.
//!
//! An image is divided into tiles, and the samples of its pixels into shares of whole batches
//! ([`super::batches`]). A part ([`PartFile`]) holds one share of a tile: the finished means of the
//! pixels where it has all samples, else the sum of each batch, and a record by which parts of
//! different images are distinguished. [`plan`] orders the parts of an image, or reports what is missing
//! or does not belong to it; [`join`] makes the image. Nothing here knows files or prints.

mod file;
mod join;
mod plan;
mod share;
#[cfg(test)]
mod tests;

pub use file::{Content, PartError, PartFile, PartInfo, PartRecord};
pub use join::{Joined, join};
pub use plan::{Plan, Problem, difference, plan};
pub use share::{Grid, Share, ShareError};
