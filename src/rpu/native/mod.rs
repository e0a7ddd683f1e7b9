//! The native engine: translates programs to vector code of the CPU.
//!
//! It runs what the interpreter runs, and gives the same bits: the same operations in the same
//! order, none fused or estimated. A block's 64 lanes are vectors of 8 (AVX2) or 16 (AVX-512)
//! lanes, which run one after the other; where lanes of one diverge, code runs from lower to higher
//! addresses with a mask of active lanes (see [`functions`]), so that lanes reconverge as the
//! interpreter's do. What waits for rays returns to the engine, which traces the rays of all
//! vectors together (see [`run`]).
//!
//! Generated code reads and writes the registers of its lanes, its frames and the context, at
//! addresses that are fixed when it is generated or checked against the ends of the stack and the
//! frames; it reads the memory image within checked bounds. It is written before its memory becomes
//! executable. Calls to code that is not translated, such as an address that a program computes,
//! continue on the interpreter.
//!
//! | module | holds |
//! |---|---|
//! | `functions`, `liveness` | programs as functions of blocks; what is read later |
//! | `translator`, `cache`, `stubs` | the state of a translation; values in registers; code that seldom runs |
//! | `translate` | programs, functions and blocks |
//! | `control`, `conditions` | jumps, calls and returns; tests of results |
//! | `arithmetic`, `access` | operations; loads, stores, rays and textures |
//! | `assembler`, `vectors`, `avx2`, `avx512` | machine code: labels; the interface to an instruction set, and the sets |
//! | `context`, `memory`, `run` | what code shares with the engine; executable memory; the engine |
//! | `listing`, `perf_map` | generated code as text; its names for profilers |
//! | `uniformity` | what lanes have in common, which listings show |

mod access;
mod arithmetic;
mod assembler;
mod avx2;
mod avx512;
mod cache;
mod conditions;
mod context;
mod control;
mod functions;
mod listing;
mod liveness;
mod memory;
mod perf_map;
mod run;
mod stubs;
#[cfg(test)]
mod tests;
mod translate;
mod translator;
mod uniformity;
mod vectors;

use crate::arith::Mode;
use crate::block::Block;
use crate::decode::DecodedProgram;
use crate::format::Format;
use crate::interface::{Code, Engine, EngineInfo, Unsupported};
use crate::interpreter::Interpreter;
use crate::launch::{Launch, Threads};
use crate::limits::{ExecutionError, RunReport};
use crate::simd::InstructionSet;
pub use listing::{ListingError, NativeCode, NativeLine, NativeLineKind, code, listing, write_listing};
pub use perf_map::write_perf_map;

use memory::Executable;
use std::sync::{Arc, LazyLock};
use vectors::Vectors;

const NO_VECTORS: &str = "there is neither AVX2 nor AVX-512";

/// Translates programs.
#[derive(Debug, Clone, Copy)]
pub struct Native;

/// The native engine.
pub static NATIVE: EngineInfo = EngineInfo {
    name: "native",
    description: "runs programs translated to vector code of this CPU",
    runs_with: || best().map_or("", |vectors| vectors.name()),
    available: || {
        static ALLOWED: LazyLock<bool> = LazyLock::new(memory::is_allowed);
        best().ok_or(NO_VECTORS)?;
        ALLOWED.then_some(()).ok_or("the system gives no executable memory")
    },
    formats: &[Format::F32],
    engine: &Native,
};

/// The widest instruction set of this CPU.
fn best() -> Option<&'static dyn Vectors> {
    vectors_for(InstructionSet::detect())
}

/// The vectors of an instruction set, where the CPU has what generated code needs.
fn vectors_for(set: InstructionSet) -> Option<&'static dyn Vectors> {
    match set {
        InstructionSet::Avx512(_) if avx512::is_available() => Some(&avx512::Avx512),
        InstructionSet::Avx512(_) | InstructionSet::Avx2(_) if avx2::is_available() => Some(&avx2::Avx2),
        _ => None,
    }
}

/// A translated program.
#[derive(Debug)]
struct Translated {
    code: Executable,
    /// Lanes of a vector.
    width: usize,
}

impl Engine for Native {
    fn load(&self, program: &Arc<DecodedProgram>) -> Result<Arc<dyn Code>, Unsupported> {
        let unsupported = |reason: String| Unsupported { engine: NATIVE.name, reason };
        let Mode::F32(set) = program.mode else {
            return Err(unsupported("it computes in single precision alone".into()));
        };
        let vectors = vectors_for(set).ok_or_else(|| unsupported(NO_VECTORS.into()))?;
        let translation = translate::translate(program, vectors);
        let code = Executable::new(translation, program.code.len())
            .map_err(|error| unsupported(format!("the system gives no executable memory: {error}")))?;
        perf_map::add(|| code.symbols(program));
        Ok(Arc::new(Translated { code, width: vectors.lanes() }))
    }
}

impl Translated {
    /// True if code is translated from an address on, and nothing counts its instructions.
    fn runs(&self, block: &Block, entry: u32) -> bool {
        !block.is_profiled() && self.code.entries().get(entry as usize).is_some_and(|&address| address != 0)
    }
}

impl Code for Translated {
    fn run(
        &self,
        launch: &Launch<'_>,
        block: &mut Block,
        entry: u32,
        threads: Threads<'_, '_>,
    ) -> Result<RunReport, ExecutionError> {
        if !self.runs(block, entry) {
            return Interpreter.run(launch, block, entry, threads);
        }
        let (active, supply) = threads.begin(block);
        block.begin();
        block.prepare(&launch.program.steps, launch.constants);
        run::Run::new(launch, &self.code, self.width, block, entry, active, supply).finish()
    }
}
