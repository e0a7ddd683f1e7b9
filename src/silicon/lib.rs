//! Hardware: circuits as dataflow graphs, and the language in which they are written.

pub mod circuit;
pub mod language;
