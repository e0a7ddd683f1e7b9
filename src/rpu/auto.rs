//! The engine that runs a program at once and fast: on the interpreter until its translation, which
//! another thread makes meanwhile, is there.
//!
//! Engines give the same bits, so it does not matter when the change comes.

use crate::block::Block;
use crate::decode::DecodedProgram;
use crate::format::Format;
use crate::interface::{Code, Engine, EngineInfo, Unsupported};
use crate::interpreter::{INTERPRETER, Interpreter};
use crate::launch::{Launch, Threads};
use crate::limits::{ExecutionError, RunReport};
#[cfg(target_arch = "x86_64")]
use crate::native::NATIVE;
use std::sync::{Arc, OnceLock};
use std::thread;

/// Runs programs on the interpreter, then on the native engine.
#[derive(Debug, Clone, Copy)]
pub struct Auto;

/// The automatic choice.
pub static AUTO: EngineInfo = EngineInfo {
    name: "auto",
    description: "runs on the interpreter until the translation to native code is there",
    runs_with: || fastest().map_or(INTERPRETER.runs_with, |native| native.runs_with)(),
    available: || Ok(()),
    formats: &[Format::F32, Format::F24],
    engine: &Auto,
};

/// The engine that translates, where there is one.
fn fastest() -> Option<&'static EngineInfo> {
    #[cfg(target_arch = "x86_64")]
    return (NATIVE.available)().is_ok().then_some(&NATIVE);
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// The result of a translation: none where the engine cannot run the program.
type Translation = Arc<OnceLock<Option<Arc<dyn Code>>>>;

/// A program whose translation begins with its first run.
#[derive(Debug)]
struct Starting {
    program: Arc<DecodedProgram>,
    begun: OnceLock<()>,
    translation: Translation,
}

impl Engine for Auto {
    fn load(&self, program: &Arc<DecodedProgram>) -> Result<Arc<dyn Code>, Unsupported> {
        match fastest() {
            Some(native) if native.formats.contains(&program.format()) => {
                Ok(Arc::new(Starting { program: program.clone(), begun: OnceLock::new(), translation: Arc::default() }))
            }
            _ => Interpreter.load(program),
        }
    }
}

impl Starting {
    /// The fastest code that is there.
    fn code(&self) -> &dyn Code {
        self.begun.get_or_init(|| {
            let (program, translation) = (self.program.clone(), self.translation.clone());
            // Where no thread can be had, the interpreter continues.
            let _ = thread::Builder::new().name("translator".into()).spawn(move || {
                // Nobody waits for a program that is gone.
                if Arc::strong_count(&translation) > 1 {
                    let code = fastest().and_then(|native| native.engine.load(&program).ok());
                    let _ = translation.set(code);
                }
            });
        });
        match self.translation.get() {
            Some(Some(code)) => &**code,
            Some(None) | None => &Interpreter,
        }
    }
}

impl Code for Starting {
    fn run(
        &self,
        launch: &Launch<'_>,
        block: &mut Block,
        entry: u32,
        threads: Threads<'_, '_>,
    ) -> Result<RunReport, ExecutionError> {
        self.code().run(launch, block, entry, threads)
    }
}
