//! Tests of the whole machine: against rays, and of what the thesis prints otherwise.

mod printed;
mod rays;
