//! Programs loaded by an engine.

use crate::arith::Mode;
use crate::decode::DecodedProgram;
use crate::engine;
use crate::format::Format;
use crate::interface::{Code, EngineInfo, Unsupported};
use crate::interpreter::{INTERPRETER, Interpreter};
use crate::isa::{IsaError, Program};
use crate::simd::InstructionSet;
use std::sync::Arc;

/// A program ready to run. Holds no state of a run; a clone shares what was loaded.
#[derive(Debug, Clone)]
pub struct Executable {
    decoded: Arc<DecodedProgram>,
    code: Arc<dyn Code>,
    engine: &'static EngineInfo,
}

impl Executable {
    /// Checks, decodes and loads a program that has no imports: for the default engine, in single
    /// precision, with the best instruction set of this CPU.
    ///
    /// # Errors
    /// When the program is not valid, or has an import.
    pub fn new(program: &Program) -> Result<Executable, IsaError> {
        let decoded = Arc::new(DecodedProgram::new(program, Mode::F32(InstructionSet::detect()))?);
        Ok(Executable::loaded(decoded, engine::default_engine()))
    }

    /// The same program for an engine.
    ///
    /// # Errors
    /// When the engine cannot run the program in its number format.
    pub fn on_engine(self, engine: &'static EngineInfo) -> Result<Executable, Unsupported> {
        let code = engine.engine.load(&self.decoded)?;
        Ok(Executable { code, engine, ..self })
    }

    /// The same program on the interpreter, which counts instructions.
    #[must_use]
    pub fn interpreted(&self) -> Executable {
        Executable { decoded: self.decoded.clone(), code: Arc::new(Interpreter), engine: &INTERPRETER }
    }

    /// The same program, computing in a number format. Where its engine does not support the
    /// format, the interpreter runs it.
    #[must_use]
    pub fn in_format(self, format: Format) -> Executable {
        self.in_mode(match format {
            Format::F32 => Mode::F32(InstructionSet::detect()),
            Format::F24 => Mode::F24,
        })
    }

    /// The same program in single precision, compiled for an instruction set of this CPU.
    #[must_use]
    pub fn with_instruction_set(self, set: InstructionSet) -> Executable {
        self.in_mode(Mode::F32(set))
    }

    fn in_mode(mut self, mode: Mode) -> Executable {
        Arc::make_mut(&mut self.decoded).set_mode(mode);
        Executable::loaded(self.decoded, self.engine)
    }

    fn loaded(decoded: Arc<DecodedProgram>, engine: &'static EngineInfo) -> Executable {
        let (code, engine) = match engine.engine.load(&decoded) {
            Ok(code) => (code, engine),
            Err(Unsupported { .. }) => (Arc::new(Interpreter) as Arc<dyn Code>, &INTERPRETER),
        };
        Executable { decoded, code, engine }
    }

    /// The engine that runs it.
    pub fn engine(&self) -> &'static EngineInfo {
        self.engine
    }

    /// The decoded program.
    pub(super) fn decoded(&self) -> &DecodedProgram {
        &self.decoded
    }

    /// The code that the engine made of the program.
    pub(super) fn code(&self) -> &dyn Code {
        &*self.code
    }

    /// The number of instructions.
    pub fn len(&self) -> usize {
        self.decoded.code.len()
    }

    /// True if there are no instructions.
    pub fn is_empty(&self) -> bool {
        self.decoded.code.is_empty()
    }
}
