//! T.
pub mod processors;
pub mod segment;
pub mod scan;
pub mod merge;
pub mod split;
