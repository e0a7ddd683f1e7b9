//! Equal calls: a call of a pure function with the arguments of a call that dominates it becomes that call's results.
//!
//! A function is pure when it consists of pure operations, reads and writes of its own arrays, and calls of pure functions. Asking a light for its sample is such a call:
//! two loops over the lights of one position then ask once.

use super::replace::Replacements;
use crate::ir::dominators::Dominators;
use crate::ir::{BlockId, Function, Module, Op, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Runs the pass; returns the number of calls removed.
pub fn run(module: &mut Module) -> usize {
    let pure = pure_functions(module);
    module.functions.iter_mut().map(|f| merge(f, &pure)).sum()
}

/// The pure functions, by name. Those on cycles of the call graph do not count.
fn pure_functions(module: &Module) -> HashMap<Arc<str>, bool> {
    let components = module.call_components();
    let mut pure: HashMap<Arc<str>, bool> = HashMap::new();
    // Callees come before callers.
    for &f in components.members.iter().flatten() {
        let func = &module.functions[f as usize];
        let insts = func.blocks.iter().flat_map(|b| &b.insts);
        let is_pure = !components.is_cyclic(f as usize)
            && insts.into_iter().all(|i| match &i.op {
                Op::Call(callee) => pure.get(callee).copied().unwrap_or(false),
                Op::SlotLoad(_) | Op::SlotStore(_) | Op::Debug(_) => true,
                op => op.is_pure(),
            });
        pure.insert(func.name.clone(), is_pure);
    }
    pure
}

/// What makes two calls equal: the function and its arguments.
type Call = (Arc<str>, Vec<Value>);

/// Merges the equal calls of one function.
fn merge(func: &mut Function, pure: &HashMap<Arc<str>, bool>) -> usize {
    let calls = func.blocks.iter().flat_map(|b| &b.insts);
    let pure_calls = calls.filter(|i| matches!(&i.op, Op::Call(name) if pure.get(name) == Some(&true))).count();
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
            if pure.get(name) != Some(&true) {
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

    const PURE: &str = "fn g(v0 x: varying f32) -> (a: f32, b: f32) {
  slot s0 t: f32[1]
b0:
  v1: u32 = const 0
  slot_store s0, v1, v0
  v2: f32 = slot_load s0, v1
  ret v2, v0
}
";

    const SHOOTS: &str = "fn g(v0 x: varying f32) -> (a: f32, b: f32) {
b0:
  v1: vec4 = hit
  ret v0, v0
}
";

    const CALLER: &str = "
fn f(v0 x: varying f32, v1 y: varying f32) -> (p: f32, q: f32, r: f32) {
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
    fn a_function_that_reads_the_current_hit_is_called_each_time() {
        let text = format!("{SHOOTS}{CALLER}");
        check_module(super::run, &text, &text);
    }
}
