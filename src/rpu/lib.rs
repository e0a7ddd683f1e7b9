//! The software Ray Processing Unit: its instruction set, the text and binary forms of its
//! programs, and the engines that run them (Węgrzanowski 2006, chapters 2 and 4).
//!
//! It takes a program (as assembly text, binary words or [`isa::Program`]), constants, a memory
//! image and a [`Tracer`], and gives the registers at the end of an entry point. It knows nothing
//! of shading languages, of scenes, or of how rays are traced.
//!
//! | module | holds |
//! |---|---|
//! | [`isa`], [`asm`], [`disasm`], [`binary`] | the instruction set, and the text and binary forms of programs |
//! | [`link`] | joins programs |
//! | [`machine`] | an executable with its data; limits, errors, reports |
//! | [`engine`] | the engines that run executables, and their table; `interpreter` is the first |
//! | [`block`] | the state of 64 threads, and its layout |
//! | `decode`, `step`, `arith`, `executor` | the decoded program, and how the interpreter executes it |
//! | [`timed`], [`depend`] | the timing model, and dependency flags |
//! | [`random`], [`agreement`] | random programs; comparisons of engines |

pub mod agreement;
#[cfg(test)]
mod arbitrary;
mod arith;
pub mod asm;
mod auto;
pub mod binary;
pub mod block;
mod column;
mod decode;
pub mod depend;
pub mod disasm;
pub mod engine;
mod executable;
mod executor;
pub mod format;
pub mod interface;
mod interpreter;
pub mod isa;
mod lanes;
pub mod launch;
pub mod limits;
pub mod link;
#[cfg(test)]
mod listings;
pub mod machine;
mod moves;
#[cfg(target_arch = "x86_64")]
pub mod native;
pub mod random;
mod recorder;
pub mod simd;
mod step;
pub mod texture;
pub mod timed;
pub mod tracing;

pub use block::Block;
pub use decode::DecodedProgram;
pub use engine::{ENGINES, Engine, EngineInfo};
pub use executable::Executable;
pub use lanes::BLOCK;
pub use machine::{Limits, Machine, MachineError, RunReport};
pub use texture::{TexelStore, Texture};
pub use tracing::{EmptyScene, HitBlock, RayBlock, Tracer};
