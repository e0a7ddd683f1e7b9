//! The table of engines, [`ENGINES`], and the choice of one.
//!
//! To add an engine, write a module with its [`Engine`], of the interface that
//! [`interface`](crate::interface) documents, and add a row: the command line, the renderers and
//! the tests that compare engines read the table.

use crate::auto::AUTO;
pub use crate::interface::{Code, Engine, EngineInfo, Unsupported};
pub use crate::interpreter::INTERPRETER;
pub use crate::launch::{Launch, Supply, Threads};
#[cfg(target_arch = "x86_64")]
use crate::native::NATIVE;

/// All engines; the last is the default.
pub static ENGINES: &[&EngineInfo] = &[
    &INTERPRETER,
    #[cfg(target_arch = "x86_64")]
    &NATIVE,
    &AUTO,
];

/// The engines that run on this CPU, the default last.
pub fn available() -> impl Iterator<Item = &'static EngineInfo> {
    ENGINES.iter().copied().filter(|engine| (engine.available)().is_ok())
}

/// The engine that runs where none is chosen.
pub fn default_engine() -> &'static EngineInfo {
    available().last().unwrap_or(&INTERPRETER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn engines_have_distinct_names_and_the_interpreter_is_always_available() {
        let names: HashSet<_> = ENGINES.iter().map(|engine| engine.name).collect();
        assert_eq!(names.len(), ENGINES.len());
        assert!(available().any(|engine| engine.name == INTERPRETER.name));
    }
}
