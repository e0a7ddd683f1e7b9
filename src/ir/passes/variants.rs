//! Polyvariant specialisation: a call with constant arguments goes to a variant of its callee, in
//! which these parameters are the constants.
//!
//! It is the partial evaluator's treatment of calls (Pérard-Gayot 2020, §1.2.3, with the filter
//! "when this argument is known"); the other passes fold what has become constant in the variant,
//! unroll its loops and decide its branches. Calls with the same constants share a variant. Whether
//! that ends is undecidable, so a [`VariantPolicy`] bounds how many variants of a function there are
//! at a time and how long all are together, and the pipeline how often it runs; what is beyond stays
//! as it was.

use super::dead_arguments::fix_params;
use crate::ir::{Const, Function, Inlining, Module, Op, Value};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Which variants are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantPolicy {
    /// Variants of a function at a time, at most.
    pub most: usize,
    /// Instructions of all variants at a time, at most.
    pub most_instructions: usize,
}

impl VariantPolicy {
    /// No variants.
    pub const NONE: VariantPolicy = VariantPolicy { most: 0, most_instructions: 0 };
    /// Variants for what a scene makes constant.
    pub const OF_SCENE: VariantPolicy = VariantPolicy { most: 64, most_instructions: 100_000 };
}

/// Between a function's name and what tells its variants apart.
const SEPARATOR: &str = ".v";

/// Digits behind it.
const DIGITS: usize = 16;

/// The function that a function is a variant of, or itself.
fn root(name: &str) -> &str {
    match name.rsplit_once(SEPARATOR) {
        Some((root, key)) if key.len() == DIGITS && key.bytes().all(|b| b.is_ascii_hexdigit()) => root,
        _ => name,
    }
}

/// Runs the pass; returns the number of calls that go to variants now.
pub fn run(module: &mut Module, policy: &VariantPolicy) -> usize {
    if policy.most == 0 {
        return 0;
    }
    let mut known: HashMap<Arc<str>, usize> = module.index();
    let mut counts: HashMap<Arc<str>, usize> = HashMap::new();
    let mut instructions = 0;
    for f in &module.functions {
        let root = root(&f.name);
        if *root != *f.name {
            *counts.entry(root.into()).or_default() += 1;
            instructions += f.inst_count();
        }
    }
    let mut changes = 0;
    let mut caller = 0;
    // Variants are callers, too: they follow the functions that were there.
    while caller < module.functions.len() {
        let calls = calls_with_constants(&module.functions[caller]);
        for Call { block, at, values } in calls {
            let Op::Call(name) = &module.functions[caller].blocks[block].insts[at].op else { continue };
            let Some(&number) = known.get(name) else { continue };
            let callee = &module.functions[number];
            if callee.inlining == Inlining::Native || callee.inlining == Inlining::Late || callee.host.is_some() {
                continue;
            }
            let variant = name_of_variant(callee, &values);
            if !known.contains_key(&variant) {
                let count = counts.entry(root(name).into()).or_default();
                let size = callee.inst_count();
                if *count >= policy.most || instructions + size > policy.most_instructions {
                    continue;
                }
                (*count, instructions) = (*count + 1, instructions + size);
                let mut made = callee.clone();
                made.name = variant.clone();
                fix_params(&mut made, &values);
                known.insert(variant.clone(), module.functions.len());
                module.functions.push(made);
            }
            let call = &mut module.functions[caller].blocks[block].insts[at];
            call.op = Op::Call(variant);
            let mut values = values.iter();
            call.args.retain(|_| values.next().is_none_or(Option::is_none));
            changes += 1;
        }
        caller += 1;
    }
    changes
}

/// A call with constant arguments.
struct Call {
    block: usize,
    at: usize,
    /// For each argument, the constant that it is.
    values: Vec<Option<Const>>,
}

fn calls_with_constants(caller: &Function) -> Vec<Call> {
    let mut constants: HashMap<Value, &Const> = HashMap::new();
    for inst in caller.blocks.iter().flat_map(|b| &b.insts) {
        if let (Op::Const(c), [result]) = (&inst.op, &inst.results[..]) {
            constants.insert(*result, c);
        }
    }
    let mut calls = Vec::new();
    for (block, insts) in caller.blocks.iter().map(|b| &b.insts).enumerate() {
        for (at, inst) in insts.iter().enumerate().filter(|(_, inst)| matches!(inst.op, Op::Call(_))) {
            let values: Vec<Option<Const>> = inst.args.iter().map(|a| constants.get(a).copied().cloned()).collect();
            if values.iter().any(Option::is_some) {
                calls.push(Call { block, at, values });
            }
        }
    }
    calls
}

/// A name that says what is constant: the same in every round, though the function changes.
fn name_of_variant(callee: &Function, values: &[Option<Const>]) -> Arc<str> {
    // A standard hasher without keys gives the same number in every process.
    let mut hasher = DefaultHasher::new();
    callee.name.hash(&mut hasher);
    for value in values {
        match value {
            Some(Const::String(text)) => text.hash(&mut hasher),
            Some(value) => value.bits().hash(&mut hasher),
            None => u64::MAX.hash(&mut hasher),
        }
    }
    format!("{}{SEPARATOR}{:0DIGITS$x}", root(&callee.name), hasher.finish()).into()
}

#[cfg(test)]
mod tests {
    use super::super::testing::module;
    use super::*;
    use crate::ir::passes::Pipeline;

    fn specialised(text: &str, most: usize) -> Module {
        let mut m = module(text);
        let mut pipeline = Pipeline::default();
        pipeline.variants = VariantPolicy { most, ..VariantPolicy::OF_SCENE };
        pipeline.run(&mut m, &mut ()).expect("the passes keep the rules");
        m
    }

    /// `z` to a whole power, by squaring.
    const POWER: &str = "fn power(v0 z: f32, v1 n: f32) -> (return: f32) {
b0:
  v2: f32 = const 0.0
  v3: bool = eq v1, v2
  br v3, b1, b2
b1:
  v4: f32 = const 1.0
  ret v4
b2:
  v5: f32 = const 2.0
  v13: f32 = const 0.5
  v14: f32 = mul v1, v13
  v6: f32 = floor v14
  v7: f32 = mul v6, v5
  v8: f32 = sub v1, v7
  v9: f32 = call power(v0, v6)
  v10: f32 = mul v9, v9
  v11: bool = eq v8, v2
  br v11, b3, b4
b3:
  ret v10
b4:
  v12: f32 = mul v0, v10
  ret v12
}
entry main(v0 z: f32) -> (return: f32) {
b0:
  v1: f32 = const 5.0
  v2: f32 = call power(v0, v1)
  ret v2
}";

    #[test]
    fn a_recursion_whose_end_is_known_becomes_what_it_computes() {
        let m = specialised(POWER, 64);
        assert_eq!(
            m.to_string(),
            "entry main(v0 z: f32) -> (return: f32) {
b0:
  v1: f32 = mul v0, v0
  v2: f32 = mul v1, v1
  v3: f32 = mul v0, v2
  ret v3
}
"
        );
    }

    #[test]
    fn a_recursion_that_does_not_end_stays_after_some_variants() {
        let endless = POWER.replace("floor v14", "add v1, v5");
        let m = specialised(&endless, 5);
        let variants = m.functions.iter().filter(|f| root(&f.name) != &*f.name).count();
        assert!(m.function("power").is_some() && (1..=5).contains(&variants), "{m}");
    }

    #[test]
    fn calls_with_the_same_constants_share_a_variant() {
        let text = "fn f(v0 x: f32, v1 y: f32) -> (return: f32) {
b0:
  v2: f32 = sub v0, v1
  ret v2
}
entry main(v0 z: f32) -> (p: f32, q: f32, r: f32) {
b0:
  v1: f32 = const 5.0
  v2: f32 = call f(v0, v1)
  v3: f32 = call f(v2, v1)
  v4: f32 = call f(v3, v0)
  ret v2, v3, v4
}";
        let mut m = module(text);
        assert_eq!(run(&mut m, &VariantPolicy::OF_SCENE), 2);
        assert_eq!(m.functions.len(), 3);
        assert_eq!(run(&mut m, &VariantPolicy::OF_SCENE), 0);
        assert_eq!(run(&mut module(text), &VariantPolicy::NONE), 0);
    }
}
