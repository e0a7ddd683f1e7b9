//! The software Ray Processing Unit: its instruction set, the text and binary forms of its
//! programs, and the engines that run them (Węgrzanowski 2006, chapters 2 and 4).
//!
//! It takes a program (as assembly text, binary words or [`isa::Program`]), constants, a memory
//! image and a [`Tracer`], and gives the registers at the end of an entry point. It knows nothing
//! of shading languages, of scenes, or of how rays are traced.
//!
//! A row uses those above it, and none below; `tests/meta/layers.rs` holds the modules to that.
//!
//! | module | holds |
//! |---|---|
//! | [`isa`], [`asm`], [`disasm`], [`binary`], [`link`] | the instruction set, and the text and binary forms of programs |
//! | [`format`](mod@format), `lanes`, [`simd`] | number formats, lanes and vectors |
//! | [`texture`], [`tracing`], [`limits`] | what programs meet: textures, the tracer, limits and errors |
//! | `column`, `step`, `arith`, `moves`, `recorder`, `decode` | the decoded program and its arithmetic |
//! | [`block`], [`launch`], [`interface`] | the state of 64 threads; the input of a run; what an engine implements |
//! | `executor`, `interpreter`, `native`, `auto` | the execution of one instruction; the engines |
//! | [`engine`], `executable`, [`execution`] | the table of engines; a program that one has loaded, and with its data |
//! | `latencies`, [`depend`], [`timed`] | dependency flags, and the timing model |
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
pub mod execution;
mod executor;
pub mod format;
pub mod interface;
mod interpreter;
pub mod isa;
mod lanes;
mod latencies;
pub mod launch;
pub mod limits;
pub mod link;
#[cfg(test)]
mod listings;
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
pub use execution::{ExecutionContext, ExecutionError, Limits, RunReport};
pub use lanes::BLOCK;
pub use texture::{TexelStore, Texture};
pub use tracing::{EmptyScene, HitBlock, RayBlock, Tracer};
