//! Uniform code: splits a function into what depends on its uniform parameters alone, which a host
//! computes once for each set of their values, and the rest, which takes the results as data.
//!
//! Olano 1998, "A Programmable Pipeline for Graphics Hardware", §4.3.2 and §4.5.5: uniform variables
//! take no memory of pixels, their code runs once for all pixels, and a change of one parameter
//! regenerates only what depends on it.

mod binding_times;
mod frontier;
mod loops;
mod packing;
mod slice;
mod splitter;
#[cfg(test)]
mod tests;
mod variants;

use super::inline::InlinePolicy;
use super::{calls, copy, dce, fold, inline, sccp, simplify_cfg, slots, unit_vectors, unreachable};
use crate::{Function, LocData, Module, Op, Param, TargetInfo, Type};
use packing::Packing;
use splitter::Made;
use std::collections::BTreeSet;
use std::sync::Arc;
use variants::Splits;

/// Rounds of simplification before a split.
const MAX_ROUNDS: usize = 8;

/// A function that is split by what its code depends on.
#[derive(Clone, Debug)]
pub struct Split {
    /// The rest: the function under another name, with a parameter more for each of `inputs`.
    pub rest: Function,
    /// The uniform code.
    pub stages: Vec<UniformFunction>,
    /// The parameters that the rest has more: vectors of four words, from left to right.
    pub inputs: Vec<Vec<Piece>>,
    /// Functions that these call beside those of the module.
    pub callees: Vec<Function>,
    /// Where the instructions of all these come from.
    pub locs: Vec<LocData>,
}

/// Uniform code that depends on the same parameters.
#[derive(Clone, Debug)]
pub struct UniformFunction {
    /// It takes `params`.
    pub function: Function,
    /// The numbers of these parameters of the function that was split.
    pub params: Vec<usize>,
}

/// A value of a stage as a part of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The number of the stage.
    pub stage: usize,
    /// The number of its result.
    pub result: usize,
    /// The type.
    pub ty: Type,
    /// The key of the value's computation: values with equal keys are equal wherever parameters of
    /// equal names are.
    pub key: u128,
}

/// Splits function `name` of a module whose parameters are uniform where `uniform` says so; the
/// rest is called `rest`, and its new parameters by `input`. `None` where that would save nothing.
///
/// The rest computes the same results as the function when its new parameters hold what the stages
/// return. Functions that it calls with some uniform arguments are split, too; what they leave is
/// called in their place. `target` is the back end that the rest is for.
pub fn split(
    module: &Module,
    name: &str,
    uniform: impl Fn(&Param) -> bool,
    rest: Arc<str>,
    input: impl Fn(usize) -> Arc<str>,
    target: &TargetInfo,
) -> Option<Split> {
    let whole = module.function(name)?;
    let uniform: Vec<bool> = whole.params.iter().map(uniform).collect();
    if !uniform.contains(&true) {
        return None;
    }
    let mut splits = Splits::new(prepared(module, name, target));
    let func = splits.module.function(name)?.clone();
    let Made { rest, stages, inputs, .. } = splits.split(func, &uniform, &rest, &input, Packing::Shared, 0)?;
    let is_called = |f: &Function| splits.made.contains(&f.name);
    let callees = splits.module.functions.iter().filter(|f| is_called(f)).cloned().collect();
    Some(Split { rest, stages, inputs, callees, locs: splits.module.locs })
}

/// The functions that `name` calls, and itself, simplified, with small ones inlined.
fn prepared(module: &Module, name: &str, target: &TargetInfo) -> Module {
    let index = module.index();
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    let mut work: Vec<usize> = index.get(name).copied().into_iter().collect();
    while let Some(f) = work.pop() {
        if kept.insert(f) {
            let insts = module.functions[f].blocks.iter().flat_map(|b| &b.insts);
            let callees = insts.filter_map(|i| if let Op::Call(callee) = &i.op { index.get(callee) } else { None });
            work.extend(callees);
        }
    }
    let functions = kept.into_iter().map(|f| module.functions[f].clone()).collect();
    let mut scratch = Module { functions, locs: module.locs.clone() };
    unit_vectors::propagate(&mut scratch);
    // Small functions are inlined anyway. Calls of others may be equal to calls of other functions,
    // and are merged then.
    let small = InlinePolicy { once: false, ..InlinePolicy::default() };
    for _ in 0..MAX_ROUNDS {
        let simplify = |func: &mut Function| {
            let changes = copy::run(func) + fold::run(func) + sccp::run(func) + simplify_cfg::run(func);
            changes + slots::run(func, target) + dce::run(func)
        };
        let changes: usize = scratch.functions.iter_mut().map(simplify).sum();
        let changes = changes + calls::run(&mut scratch);
        if changes + inline::run(&mut scratch, &small, target, inline::InlinePhase::Early) == 0 {
            break;
        }
    }
    scratch.functions.iter_mut().for_each(|f| _ = unreachable::remove_unreachable(f));
    scratch
}
