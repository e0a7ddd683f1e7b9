//! Derivatives by the surface's parameters: each `du` and `dv` becomes the code that computes it.
//!
//! It takes a verified module without matrices and leaves one without `du`, `dv` and `seed`, by
//! forward-mode differentiation (Wengert 1964; Griewank & Walther 2008, chapter 3): beside a value
//! that changes from point to point, and whose derivatives something asks for, stand two *shadows*,
//! its derivatives by u and by v. `seed` says where changes begin: an entry gives the state of the
//! surface at a hit its derivatives. (In a function that is called, a seed counts as far as it
//! depends on the derivatives of parameters.) An entry's own parameters are constants, but for
//! those called `u` and `v`, which are the surface's. Like [`super::matrices`] this is no
//! optimization and cannot be switched off: it says what a program means, so all back ends and all
//! choices of passes compute the same bits.
//!
//! Only the slice that feeds a derivative is differentiated: [`demand`] finds backwards what is
//! asked for, [`activity`] forwards what changes at all, and shadows stand where both hold. A call
//! whose results need shadows goes to a copy of the callee that has more parameters and results
//! ([`copy`]). Block parameters and array slots have shadows as values have.
//!
//! Everything that is not differentiable counts as constant: `floor`, comparisons, integers, reads
//! of memory, and what rays bring back. `select` and branches are those of the point itself. A
//! derivative of a derivative counts as 0 too: the width of a filter changes slowly, and a bumped
//! surface may be made of filtered noise. Where what rays bring back is asked for, it is said.

mod activity;
mod copy;
mod demand;
mod rules;
#[cfg(test)]
mod tests;

use super::replace::Replacements;
use crate::{Const, Function, Loc, Module, Op};
use copy::Copies;

/// The effects of [`expand`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expansion {
    /// Instructions replaced, and functions copied.
    pub changes: usize,
    /// Where rays bring back what something asks for the derivative of, each place once.
    pub rays: Vec<Loc>,
}

fn is_operation(op: &Op) -> bool {
    matches!(op, Op::Du | Op::Dv | Op::Seed)
}

/// True if a function asks for a derivative by itself. One with seeds asks only when it is
/// differentiated: they say by what rule.
fn asks(func: &Function) -> bool {
    let has = |op: fn(&Op) -> bool| func.blocks.iter().flat_map(|b| &b.insts).any(|i| op(&i.op));
    has(|op| matches!(op, Op::Du | Op::Dv)) && !has(|op| *op == Op::Seed)
}

/// True if something in the module asks for a derivative, so that seeds are worth computing.
pub fn is_needed(module: &Module) -> bool {
    module.functions.iter().any(asks)
}

/// Replaces the derivative operations of a module by what computes them.
pub fn expand(module: &mut Module) -> Expansion {
    let count = |f: &Function| f.blocks.iter().flat_map(|b| &b.insts).filter(|i| is_operation(&i.op)).count();
    let operations = module.functions.iter().map(count).sum();
    let mut expansion = Expansion { changes: operations, rays: Vec::new() };
    if operations == 0 {
        return expansion;
    }
    if !is_needed(module) {
        module.functions.iter_mut().for_each(drop_operations);
        return expansion;
    }
    let originals = std::mem::take(&mut module.functions);
    let mut copies = Copies::new(&originals);
    let made: Vec<Option<Function>> = (0..originals.len()).map(|f| copies.plain(f)).collect();
    let more = copies.rest();
    expansion.changes += more.len();
    expansion.rays = copies.into_rays();
    module.functions = originals.into_iter().zip(made).map(|(old, new)| new.unwrap_or(old)).chain(more).collect();
    expansion
}

/// Leaves the values that seeds stand for; derivatives, which then only seeds ask for, are 0.
fn drop_operations(func: &mut Function) {
    let mut same = Replacements::new(func);
    for block in &mut func.blocks {
        for inst in block.insts.iter_mut().filter(|i| matches!(i.op, Op::Du | Op::Dv)) {
            inst.op = Op::Const(Const::zero(func.values[inst.results[0].0 as usize]));
            inst.args.clear();
        }
        block.insts.retain(|inst| {
            let is_seed = inst.op == Op::Seed;
            if is_seed {
                same.set(inst.results[0], inst.args[0]);
            }
            !is_seed
        });
    }
    same.apply(func);
}
