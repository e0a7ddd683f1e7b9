//! T.
pub mod config;
pub mod processors;
pub mod segment;
pub mod scan;
pub mod merge;
pub mod split;
pub mod pixels;
pub mod shape;
pub mod flow;
pub mod timing;
pub mod leaves;
pub mod front;
pub mod film;
