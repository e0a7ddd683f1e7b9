//! Brings functions into the form that vectorization takes: reducible, with one return, without
//! matrices.

use super::VectorizeError;
use crate::passes::{matrices, reducible, unreachable};
use crate::{Function, Module, Op, Target, Terminator};
use std::collections::BTreeSet;

/// A function of a module and those that it calls, prepared.
pub(super) fn prepare(module: &Module, name: &str) -> Result<Module, VectorizeError> {
    let index = module.index();
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    let mut work: Vec<usize> = index.get(name).copied().into_iter().collect();
    while let Some(f) = work.pop() {
        if kept.insert(f) {
            let insts = module.functions[f].blocks.iter().flat_map(|b| &b.insts);
            work.extend(insts.filter_map(|i| if let Op::Call(callee) = &i.op { index.get(callee) } else { None }));
        }
    }
    let functions = kept.into_iter().map(|f| module.functions[f].clone()).collect();
    let mut prepared = Module { functions, locs: module.locs.clone() };
    matrices::lower(&mut prepared);
    for func in &mut prepared.functions {
        unreachable::remove_unreachable(func);
        reducible::make_reducible(func);
        unify_returns(func);
    }
    Ok(prepared)
}

/// Makes all returns but one jumps.
fn unify_returns(func: &mut Function) {
    let returns = |t: &Terminator| matches!(t, Terminator::Return(_));
    if func.blocks.iter().filter(|b| returns(&b.term)).count() < 2 {
        return;
    }
    let block = func.new_block();
    let types: Vec<_> = func.results.iter().map(|r| r.ty).collect();
    let params: Vec<_> = types.into_iter().map(|ty| func.new_value(ty)).collect();
    for from in func.block_ids().filter(|id| *id != block) {
        if let Terminator::Return(args) = &mut func.block_mut(from).term {
            let args = std::mem::take(args);
            func.block_mut(from).term = Terminator::Jump(Target { block, args });
        }
    }
    func.block_mut(block).params = params.clone();
    func.block_mut(block).term = Terminator::Return(params);
}
