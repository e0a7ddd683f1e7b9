//! Finds unconditional recursion: functions that call themselves on every path, so that the call
//! never returns.
//!
//! Conditional recursion is allowed: a limit stops it at run time.

use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_ir::{BlockId, Function, Module, Op};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A function that cannot return, and its call that every path reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnconditionalCall {
    /// Index of the function.
    pub function: usize,
    /// Index of the function that it calls.
    pub callee: usize,
    /// Location of the call.
    pub call: shadewright_ir::Loc,
}

/// All functions on a cycle of calls that no path leaves.
pub fn find(module: &Module) -> Vec<UnconditionalCall> {
    let index = module.index();
    // A function returns if some path reaches a `return` and every call on it returns; calls out of
    // the module do.
    let mut returns = vec![false; module.functions.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (i, f) in module.functions.iter().enumerate().filter(|(i, _)| !returns[*i]).collect::<Vec<_>>() {
            if reaches_return(f, &index, &returns) {
                returns[i] = true;
                changed = true;
            }
        }
    }
    let all = vec![true; module.functions.len()];
    let mut found = Vec::new();
    for (i, f) in module.functions.iter().enumerate().filter(|(i, _)| !returns[*i]) {
        // A loop without an end is not this error: it is stopped when it runs.
        if !reaches_return(f, &index, &all) {
            continue;
        }
        for inst in f.blocks.iter().flat_map(|b| &b.insts) {
            let Op::Call(name) = &inst.op else { continue };
            let Some(&callee) = index.get(name).filter(|c| !returns[**c]) else { continue };
            if calls(module, &index, callee, i) {
                found.push(UnconditionalCall { function: i, callee, call: inst.loc });
                break;
            }
        }
    }
    found
}

/// Reports them as errors.
pub fn report(module: &Module, diags: &mut Diagnostics) {
    for e in find(module) {
        let (name, callee) = (&module.functions[e.function].name, &module.functions[e.callee].name);
        let message = match name == callee {
            true => format!("unconditional recursion of `{name}`"),
            false => format!("unconditional recursion of `{name}` through `{callee}`"),
        };
        let mut d = Diagnostic::error(message);
        if let Some(span) = module.span(e.call) {
            d = d.at(span, "this call is reached on every path");
        }
        if let Some(span) = module.span(module.functions[e.function].loc) {
            d = d.also(span, "the function");
        }
        diags.push(d.hint("some path must return without the call"));
    }
}

fn reaches_return(f: &Function, index: &HashMap<Arc<str>, usize>, returns: &[bool]) -> bool {
    let mut seen = HashSet::from([BlockId(0)]);
    let mut list = vec![BlockId(0)];
    while let Some(block) = list.pop() {
        let block = f.block(block);
        let comes_back = block.insts.iter().all(|inst| match &inst.op {
            Op::Call(name) => index.get(name).is_none_or(|c| returns[*c]),
            _ => true,
        });
        if !comes_back {
            continue;
        }
        if matches!(block.term, shadewright_ir::Terminator::Return(_)) {
            return true;
        }
        list.extend(block.term.targets().map(|t| t.block).filter(|b| seen.insert(*b)));
    }
    false
}

/// True if `from` is `to` or calls it, directly or not.
fn calls(module: &Module, index: &HashMap<Arc<str>, usize>, from: usize, to: usize) -> bool {
    let mut seen = HashSet::from([from]);
    let mut list = vec![from];
    while let Some(i) = list.pop() {
        if i == to {
            return true;
        }
        for inst in module.functions[i].blocks.iter().flat_map(|b| &b.insts) {
            if let Op::Call(name) = &inst.op {
                list.extend(index.get(name).copied().filter(|c| seen.insert(*c)));
            }
        }
    }
    false
}
