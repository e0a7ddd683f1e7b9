//! The timed machine: how long a program takes on processors that run chunks of four threads in lockstep (Węgrzanowski 2006, ch. 2).
//!
//! A [`Config`] says how fast each part of it is.

mod config;

pub use config::{Chunks, Config, ConfigError, DEFAULT_TEXT, Intervals, Latencies, Processors, Stack};
