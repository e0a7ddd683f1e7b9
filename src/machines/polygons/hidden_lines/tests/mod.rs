//! Tests of the whole hardware: against rays, and of what the thesis prints otherwise.

mod printed;
mod rays;
