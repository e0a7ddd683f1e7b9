//! What a trap of the section machine means to the user.

use crate::codegen::wgsl::{Interface, Trap, TrapCode};
use crate::ir::Module;
use crate::render::RenderError;

/// The error that stands for `trap`, with its place in the source of `module`, from which the program of that `interface` was compiled.
pub(super) fn trap_error(trap: Trap, interface: &Interface, module: &Module, budget: u32, limit: u32) -> RenderError {
    let span = interface.locations.get(trap.location as usize).and_then(|&loc| module.span(loc));
    match trap.code {
        TrapCode::Budget => RenderError::Budget { budget, span },
        TrapCode::Stack => RenderError::StackOverflow { limit, span },
    }
}
