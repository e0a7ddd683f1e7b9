//! Checks of vectors that classes declare `unit`, in programs for a debugger.
//!
//! Each call that declares a unit vector calls a function of its own instead, which prints the place
//! where the length is not 1.

use shadewright_ir::abi::library;
use shadewright_ir::{Loc, Module, Op};
use shadewright_lang::stdlib;
use std::sync::Arc;

/// Replaces the calls of a module; `place` describes where an instruction comes from.
pub fn add(module: &mut Module, place: impl Fn(&Module, Loc) -> String) {
    let mut checked = Vec::new();
    let mut functions = std::mem::take(&mut module.functions);
    for func in &mut functions {
        for i in 0..func.blocks.len() {
            for k in 0..func.blocks[i].insts.len() {
                let inst = &func.blocks[i].insts[k];
                let Op::Call(name) = &inst.op else { continue };
                if !library::is_unit(name) {
                    continue;
                }
                let own: Arc<str> = format!("{name}.{}", checked.len()).into();
                checked.push(stdlib::checked_unit(&own, func.ty(inst.args[0]), &place(module, inst.loc)));
                func.blocks[i].insts[k].op = Op::Call(own);
            }
        }
    }
    functions.extend(checked);
    module.functions = functions;
}
