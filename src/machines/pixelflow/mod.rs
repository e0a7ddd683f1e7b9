//! PixelFlow (Olano 1998, "A Programmable Pipeline for Graphics Hardware", chapter 4).

mod allocate;
mod camera;
mod compile;
mod flow;
mod frame;
mod homes;
mod lifetimes;
pub mod memory;
pub mod memory_map;
pub mod phases;
mod prepare;
pub mod rows;
mod scalar;
mod schedule;
mod shaders;
pub mod task;
mod times;
mod widths;

pub use compile::{Compiled, Compiler};
pub use frame::{Frame, ShaderUse, render};
pub use prepare::{Prepared, prepare};
pub use shaders::{Budget, ShaderCode, Shaders, shader_name};
pub use times::{DEFAULT_TEXT, Times};

#[cfg(test)]
mod tests;
