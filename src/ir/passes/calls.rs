//! Calls of pure functions: removes those without uses, evaluates those with constant arguments,
//! and replaces a call by an equal one that dominates it.
//!
//! A function is pure when it consists of pure operations, loads and stores of its own arrays, and
//! calls of pure functions. Sampling a light is such a call: two loops over the lights at one
//! position sample them once.

use super::replace::Replacements;
use crate::dominators::Dominators;
use crate::{BlockId, Const, EmptyWorld, Function, Inst, Limits, Module, Op, Value, eval};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The limits of a call that is worked out while compiling: about as much as a table of 16 noise
/// values.
const LIMITS: Limits = Limits { fuel: 4096, depth: 32 };

/// Runs the pass; returns the number of calls removed.
pub fn run(module: &mut Module) -> usize {
    let pure = pure_functions(module);
    let names = names_of(&pure);
    let unused: usize = module.functions.iter_mut().map(|f| remove_unused(f, &names)).sum();
    let known = work_out(module, &pure);
    unused + known + module.functions.iter_mut().map(|f| merge(f, &names)).sum::<usize>()
}

/// The functions whose results depend on their arguments, constants and memory alone.
pub fn pure_names(module: &Module) -> HashSet<Arc<str>> {
    names_of(&pure_functions(module))
}

/// The functions whose results depend on their arguments alone.
pub(super) fn names_of_arguments(module: &Module) -> HashSet<Arc<str>> {
    let pure = pure_functions(module).into_iter();
    pure.filter(|(_, purity)| *purity == Purity::Arguments).map(|(name, _)| name).collect()
}

fn names_of(pure: &HashMap<Arc<str>, Purity>) -> HashSet<Arc<str>> {
    pure.iter().filter(|(_, purity)| **purity > Purity::None).map(|(name, _)| name.clone()).collect()
}

/// The dependencies of the results of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Purity {
    /// On what happened before, or it does something besides giving results.
    None,
    /// On the arguments, and on constants and memory of the world.
    World,
    /// On the arguments alone.
    Arguments,
}

/// How pure each function is, by name. Those on cycles of the call graph do not count.
fn pure_functions(module: &Module) -> HashMap<Arc<str>, Purity> {
    let components = module.call_components();
    let mut pure: HashMap<Arc<str>, Purity> = HashMap::new();
    // Callees come before callers.
    for &f in components.members.iter().flatten() {
        let func = &module.functions[f as usize];
        let insts = func.blocks.iter().flat_map(|b| &b.insts);
        let least = insts.map(|i| match &i.op {
            Op::Call(callee) => pure.get(callee).copied().unwrap_or(Purity::None),
            Op::SlotLoad(_) | Op::SlotStore(_) | Op::Debug(_) => Purity::Arguments,
            Op::Uniform(_) | Op::Load(_) => Purity::World,
            op if op.is_pure() => Purity::Arguments,
            _ => Purity::None,
        });
        let least = least.min().unwrap_or(Purity::Arguments);
        let is_cyclic = components.is_cyclic(f as usize);
        pure.insert(func.name.clone(), if is_cyclic { Purity::None } else { least });
    }
    pure
}

/// Removes the calls of pure functions whose results nobody uses.
pub(super) fn remove_unused(func: &mut Function, pure: &HashSet<Arc<str>>) -> usize {
    let mut used: HashSet<Value> = HashSet::new();
    for block in &func.blocks {
        used.extend(block.insts.iter().flat_map(|i| &i.args));
        block.term.for_each_arg(|a| _ = used.insert(a));
    }
    let is_needed = |inst: &Inst| match &inst.op {
        Op::Call(name) if pure.contains(name) => inst.results.iter().any(|r| used.contains(r)),
        _ => true,
    };
    let before = func.inst_count();
    func.blocks.iter_mut().for_each(|b| b.insts.retain(is_needed));
    before - func.inst_count()
}

/// Replaces calls by their results where these depend on nothing but constants.
fn work_out(module: &mut Module, pure: &HashMap<Arc<str>, Purity>) -> usize {
    let mut found = Vec::new();
    for (f, func) in module.functions.iter().enumerate() {
        let insts = func.blocks.iter().flat_map(|b| &b.insts);
        let constants: HashMap<Value, &Const> = insts
            .filter_map(|i| match (&i.op, &i.results[..]) {
                (Op::Const(c), [r]) => Some((*r, c)),
                _ => None,
            })
            .collect();
        for (b, block) in func.blocks.iter().enumerate() {
            for (at, inst) in block.insts.iter().enumerate() {
                let Op::Call(name) = &inst.op else { continue };
                if pure.get(name) != Some(&Purity::Arguments) {
                    continue;
                }
                let args: Option<Vec<Const>> = inst.args.iter().map(|a| constants.get(a).copied().cloned()).collect();
                let results = args.and_then(|args| eval(module, name, &args, &mut EmptyWorld, LIMITS).ok());
                // The identifier of a string does not determine the string.
                let fits = |r: &Vec<Const>| r.iter().zip(&inst.results).all(|(c, &v)| c.ty() == func.ty(v));
                if let Some(results) = results.filter(fits) {
                    found.push((f, b, at, results));
                }
            }
        }
    }
    for (f, b, at, results) in found.iter().rev() {
        let insts = &mut module.functions[*f].blocks[*b].insts;
        let call = insts.remove(*at);
        for (c, r) in results.iter().zip(call.results).rev() {
            insts.insert(*at, Inst { op: Op::Const(c.clone()), args: vec![], results: vec![r], loc: call.loc });
        }
    }
    found.len()
}

/// The key by which two calls are equal: the function and its arguments.
type Call = (Arc<str>, Vec<Value>);

/// Merges the equal calls of one function.
fn merge(func: &mut Function, pure: &HashSet<Arc<str>>) -> usize {
    let calls = func.blocks.iter().flat_map(|b| &b.insts);
    let pure_calls = calls.filter(|i| matches!(&i.op, Op::Call(name) if pure.contains(name))).count();
    if pure_calls < 2 {
        return 0;
    }
    let tree = Dominators::new(func);
    let mut known: HashMap<Call, Vec<(BlockId, Vec<Value>)>> = HashMap::new();
    let mut replaced = Replacements::new(func);
    let mut removed = 0;
    // A block comes after those that dominate it.
    for &block in tree.order() {
        let mut insts = std::mem::take(&mut func.block_mut(block).insts);
        insts.retain(|inst| {
            let Op::Call(name) = &inst.op else { return true };
            if !pure.contains(name) {
                return true;
            }
            let args = inst.args.iter().map(|&a| replaced.get(a)).collect();
            let equal = known.entry((name.clone(), args)).or_default();
            match equal.iter().find(|(b, _)| tree.dominates(*b, block)) {
                Some((_, results)) => {
                    inst.results.iter().zip(results).for_each(|(&from, &to)| replaced.set(from, to));
                    removed += 1;
                    false
                }
                None => {
                    equal.push((block, inst.results.clone()));
                    true
                }
            }
        });
        func.block_mut(block).insts = insts;
    }
    replaced.apply(func);
    removed
}

#[cfg(test)]
mod tests {
    use super::super::testing::check_module;

    const PURE: &str = "fn g(v0 x: f32) -> (a: f32, b: f32) {
  slot s0 t: f32[1]
b0:
  v1: u32 = const 0
  slot_store s0, v1, v0
  v2: f32 = slot_load s0, v1
  ret v2, v0
}
";

    const SHOOTS: &str = "fn g(v0 x: f32) -> (a: f32, b: f32) {
b0:
  v1: vec4 = hit
  ret v0, v0
}
";

    const CALLER: &str = "
fn f(v0 x: f32, v1 y: f32) -> (p: f32, q: f32, r: f32) {
b0:
  v2: f32, v3: f32 = call g(v0)
  jump b1
b1:
  v4: f32, v5: f32 = call g(v0)
  v6: f32, v7: f32 = call g(v1)
  ret v2, v5, v6
}";

    #[test]
    fn a_pure_function_is_called_once_for_the_same_arguments() {
        let merged =
            CALLER.replace("  v4: f32, v5: f32 = call g(v0)\n", "").replace("ret v2, v5, v6", "ret v2, v3, v6");
        check_module(super::run, &format!("{PURE}{CALLER}"), &format!("{PURE}{merged}"));
    }

    #[test]
    fn calls_with_constants_are_worked_out_and_unused_ones_go() {
        let before = "
fn f(v0 x: f32) -> (p: f32) {
b0:
  v1: f32, v2: f32 = call g(v0)
  v3: f32 = const 2.5
  v4: f32, v5: f32 = call g(v3)
  v6: f32 = add v4, v5
  ret v6
}";
        let after = "
fn f(v0 x: f32) -> (p: f32) {
b0:
  v3: f32 = const 2.5
  v4: f32 = const 2.5
  v5: f32 = const 2.5
  v6: f32 = add v4, v5
  ret v6
}";
        check_module(super::run, &format!("{PURE}{before}"), &format!("{PURE}{after}"));
    }

    #[test]
    fn a_call_that_reads_memory_or_may_never_end_is_not_worked_out() {
        for body in [
            "b0:\n  v1: ref = bitcast v0\n  v2: vec4 = load v1, 0\n  v3: f32 = extract.x v2\n  ret v3, v3",
            "b0:\n  jump b1\nb1:\n  v1: bool = eq v0, v0\n  br v1, b1, b2\nb2:\n  ret v0, v0",
        ] {
            let text = format!(
                "fn g(v0 x: f32) -> (a: f32, b: f32) {{\n{body}\n}}\n\nfn f() -> (p: f32) {{\nb0:\n  v0: f32 = const 2.5\n  v1: f32, v2: f32 = call g(v0)\n  ret v2\n}}"
            );
            check_module(super::run, &text, &text);
        }
    }

    #[test]
    fn a_function_that_reads_the_current_hit_is_called_each_time() {
        let text = format!("{SHOOTS}{CALLER}");
        check_module(super::run, &text, &text);
    }
}
