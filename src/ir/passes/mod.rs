//! Analyses and transformations, one file each.

pub mod params;
