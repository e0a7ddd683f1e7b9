//! Polyvariant specialization, the treatment of calls by the partial evaluator (Pérard-Gayot 2020,
//! §1.2.3): a call with constant arguments goes to a *variant* of its callee, in which these
//! parameters are the constants.
//!
//! The variant is folded at once, so that constants reach the calls in it: a recursion that
//! constants decide ends in one run. Calls with the same constants share a variant. What the callee
//! says ([`Filter`]) decides which calls are specialized; [`force`] makes the calls that the caller
//! forces ([`Op::ForcedCall`]) calls of copies that always are.
//!
//! It is undecidable whether specialization ends, so a [`VariantPolicy`] bounds how many variants of a
//! function there are and how long all are together. Where a recursion meets the bound, all its
//! calls go back to the function as it was, and the [`Log`] keeps the chain of calls that led there.

use super::dead_arguments::fix_params;
use super::{copy, fold, sccp, simplify_cfg};
use crate::{Const, Filter, Function, FunctionKind, Inlining, Inst, Loc, Module, Op, Value};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Which variants are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantPolicy {
    /// True if functions without a filter get variants.
    pub automatic: bool,
    /// Variants of a function, at most.
    pub most: usize,
    /// Instructions of all variants, at most.
    pub most_instructions: usize,
}

impl VariantPolicy {
    /// Variants of functions with a filter only.
    pub const FILTERS: VariantPolicy = VariantPolicy { automatic: false, most: 64, most_instructions: 100_000 };
    /// Variants for what a scene makes constant.
    pub const OF_SCENE: VariantPolicy = VariantPolicy { automatic: true, ..Self::FILTERS };
}

/// The log of specialization, across the runs of a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// How many variants were made.
    pub made: usize,
    /// The recursions that did not come to an end.
    pub unfinished: Vec<Unfinished>,
    origins: HashMap<Arc<str>, Origin>,
    /// Functions that get no variants any more.
    blocked: HashSet<Arc<str>>,
    counts: HashMap<Arc<str>, usize>,
    instructions: usize,
}

/// A recursion whose specialization met the bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// The chain of calls, the outermost first, each with the constants that it passes. Of a long
    /// one the middle is left out.
    pub chain: Vec<String>,
    /// The last call.
    pub loc: Loc,
}

/// Where a variant comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    /// Whose call it was made for first.
    caller: Arc<str>,
    /// The function that it is a variant of, which may be a variant.
    callee: Arc<str>,
    /// For each parameter of that, the constant that it is.
    values: Vec<Option<Const>>,
    /// The function and the constants as text.
    shown: String,
}

/// Calls that a chain shows, at either end.
const SHOWN_CALLS: usize = 3;

/// Between a function's name and what tells its variants apart.
const SEPARATOR: &str = ".v";

/// Digits after it.
const DIGITS: usize = 16;

/// After the name of a copy that is always specialized.
const FORCED: &str = ".forced";

/// The function that a function is a variant of, or itself.
fn root(name: &str) -> &str {
    match name.rsplit_once(SEPARATOR) {
        Some((root, key)) if key.len() == DIGITS && key.bytes().all(|b| b.is_ascii_hexdigit()) => root,
        _ => name,
    }
}

/// Makes forced calls plain calls of copies of their callees, which are specialized and inlined
/// wherever some argument is constant. Returns the number of calls.
pub fn force(module: &mut Module) -> usize {
    let mut forced: Vec<Arc<str>> = Vec::new();
    let mut calls = 0;
    for inst in module.functions.iter_mut().flat_map(|f| &mut f.blocks).flat_map(|b| &mut b.insts) {
        if let Op::ForcedCall(name) = &inst.op {
            if !forced.contains(name) {
                forced.push(name.clone());
            }
            inst.op = Op::Call(format!("{name}{FORCED}").into());
            calls += 1;
        }
    }
    for name in forced {
        let copied: Arc<str> = format!("{name}{FORCED}").into();
        if module.function(&copied).is_some() {
            continue;
        }
        let Some(mut copy) = module.function(&name).cloned() else { continue };
        copy.name = copied.clone();
        copy.kind = FunctionKind::Function;
        copy.filter = Filter::Always;
        for inst in copy.blocks.iter_mut().flat_map(|b| &mut b.insts).filter(|i| i.op == Op::Call(name.clone())) {
            inst.op = Op::Call(copied.clone());
        }
        module.functions.push(copy);
    }
    calls
}

/// Runs the pass; returns the number of calls that it changed.
pub fn run(module: &mut Module, policy: &VariantPolicy, log: &mut Log) -> usize {
    if !policy.automatic && module.functions.iter().all(|f| f.filter == Filter::Automatic) {
        return 0;
    }
    let mut changes = 0;
    let mut known: HashMap<Arc<str>, usize> = module.index();
    let mut caller = 0;
    let mut endless: Vec<Arc<str>> = Vec::new();
    // Variants are callers, too: they follow the functions that were there.
    while caller < module.functions.len() {
        for call in calls_with_constants(&module.functions[caller]) {
            let Call { block, at, values } = call;
            let inst = &module.functions[caller].blocks[block].insts[at];
            let Op::Call(name) = &inst.op else { continue };
            let (name, loc) = (name.clone(), inst.loc);
            let Some(&number) = known.get(&name) else { continue };
            let callee = &module.functions[number];
            if !is_specialized(callee, &values, policy) || log.blocked.contains(root(&name)) {
                continue;
            }
            let variant = name_of_variant(callee, &values);
            if !known.contains_key(&variant) {
                let origin = Origin {
                    caller: module.functions[caller].name.clone(),
                    callee: name.clone(),
                    shown: shown(callee, &values, log),
                    values: values.clone(),
                };
                let count = log.counts.entry(root(&name).into()).or_default();
                let size = callee.inst_count();
                if *count >= policy.most || log.instructions + size > policy.most_instructions {
                    if log.is_recursion(&origin) {
                        let root: Arc<str> = root(&name).into();
                        log.unfinished.push(Unfinished { chain: log.chain(&origin), loc });
                        log.blocked.insert(root.clone());
                        endless.push(root);
                    }
                    continue;
                }
                (*count, log.instructions, log.made) = (*count + 1, log.instructions + size, log.made + 1);
                log.origins.insert(variant.clone(), origin);
                let made = specialized(callee, variant.clone(), &values);
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
    for root in endless {
        changes += generalize(module, &root, log);
    }
    changes
}

/// True if calls of a function with these arguments go to variants.
fn is_specialized(callee: &Function, values: &[Option<Const>], policy: &VariantPolicy) -> bool {
    if matches!(callee.inlining, Inlining::Native | Inlining::Late) || callee.host.is_some() || callee.kind.is_entry() {
        return false;
    }
    match &callee.filter {
        Filter::Automatic => policy.automatic,
        Filter::Always => true,
        Filter::Known(params) => params.iter().all(|&p| values.get(p as usize).is_some_and(Option::is_some)),
        Filter::Never => false,
    }
}

/// The variant of a function for constants, folded.
fn specialized(callee: &Function, name: Arc<str>, values: &[Option<Const>]) -> Function {
    let mut made = callee.clone();
    made.name = name;
    if callee.filter != Filter::Automatic {
        made.inlining = Inlining::Always;
    }
    // What had to be known is known from here on.
    if let Filter::Known(_) = &callee.filter {
        made.filter = Filter::Always;
    }
    fix_params(&mut made, values);
    copy::run(&mut made);
    sccp::run(&mut made);
    fold::run(&mut made);
    simplify_cfg::run(&mut made);
    made
}

impl Log {
    /// The variant of a call, then that in which it was made, and so on.
    fn ancestors<'a>(&'a self, of: &'a Origin) -> impl Iterator<Item = &'a Origin> {
        std::iter::successors(Some(of), |origin| self.origins.get(&origin.caller)).take(self.origins.len() + 1)
    }

    /// True if a call is one of a function in a variant of itself, through others or not.
    fn is_recursion(&self, origin: &Origin) -> bool {
        self.ancestors(origin).skip(1).any(|other| root(&other.callee) == root(&origin.callee))
    }

    /// The chain of calls that led to one.
    fn chain(&self, origin: &Origin) -> Vec<String> {
        let mut calls: Vec<String> = self.ancestors(origin).map(|o| o.shown.clone()).collect();
        calls.extend(self.ancestors(origin).last().map(|o| root(&o.caller).to_string()));
        calls.reverse();
        if calls.len() > 2 * SHOWN_CALLS {
            let left_out = calls.len() - 2 * SHOWN_CALLS;
            let middle = format!("… {left_out} more …");
            calls.splice(SHOWN_CALLS..SHOWN_CALLS + left_out, [middle]);
        }
        calls
    }
}

/// Makes the calls of all variants of a function calls of the function again; returns how many.
fn generalize(module: &mut Module, function: &str, log: &Log) -> usize {
    let mut changes = 0;
    for func in &mut module.functions {
        for block in 0..func.blocks.len() {
            let insts = std::mem::take(&mut func.blocks[block].insts);
            let mut kept: Vec<Inst> = Vec::with_capacity(insts.len());
            for mut inst in insts {
                while let Op::Call(name) = &inst.op
                    && root(name) == function
                    && let Some(origin) = log.origins.get(name)
                {
                    let mut open = std::mem::take(&mut inst.args).into_iter();
                    for value in &origin.values {
                        let arg = match value {
                            Some(constant) => {
                                let result = func.values.len() as u32;
                                func.values.push(constant.ty());
                                let op = Op::Const(constant.clone());
                                kept.push(Inst { op, args: Vec::new(), results: vec![Value(result)], loc: inst.loc });
                                Some(Value(result))
                            }
                            None => open.next(),
                        };
                        inst.args.extend(arg);
                    }
                    inst.op = Op::Call(origin.callee.clone());
                    changes += 1;
                }
                kept.push(inst);
            }
            func.blocks[block].insts = kept;
        }
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

/// A call as a message shows it: the function, and its parameters that are constant.
fn shown(callee: &Function, values: &[Option<Const>], log: &Log) -> String {
    let given = callee.params.iter().zip(values);
    let given = given.filter_map(|(param, value)| value.as_ref().map(|value| format!("{} = {value}", param.name)));
    let mut given: Vec<String> = given.collect();
    // What a variant has fixed already comes first.
    let mut of = log.origins.get(&callee.name);
    while let Some(origin) = of {
        if let Some((_, list)) = origin.shown.split_once('(') {
            given.insert(0, list.trim_end_matches(')').to_string());
            break;
        }
        of = log.origins.get(&origin.callee);
    }
    let name = root(&callee.name);
    format!("{}({})", name.strip_suffix(FORCED).unwrap_or(name), given.join(", "))
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
    use crate::passes::Pipeline;

    /// The module that a pipeline with this policy makes of a text, and the log of the variants.
    fn specialized(text: &str, variants: VariantPolicy) -> (Module, Log) {
        let mut m = module(text);
        let mut pipeline = Pipeline::default();
        pipeline.variants = variants;
        let report = pipeline.run(&mut m, &mut ()).expect("the passes keep the rules");
        (m, report.variants)
    }

    /// The pipeline's result as text.
    fn text_of(text: &str, variants: VariantPolicy) -> String {
        specialized(text, variants).0.to_string()
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

    /// z⁵ as the thesis writes it: `w = z * z; z * w * w`, the products in the order of squaring.
    const FIFTH_POWER: &str = "entry main(v0 z: f32) -> (return: f32) {
b0:
  v1: f32 = mul v0, v0
  v2: f32 = mul v1, v1
  v3: f32 = mul v0, v2
  ret v3
}
";

    #[test]
    fn a_recursion_whose_end_is_known_becomes_what_it_computes() {
        assert_eq!(text_of(POWER, VariantPolicy::OF_SCENE), FIFTH_POWER);
    }

    #[test]
    fn filters_decide_which_calls_are_specialized() {
        let with = |filter: &str| text_of(&POWER.replacen("fn power", filter, 1), VariantPolicy::FILTERS);
        let unspecialized = with("fn power");
        assert_ne!(unspecialized, FIFTH_POWER);
        assert_eq!(with("specialize_always fn power"), FIFTH_POWER);
        assert_eq!(with("specialize_known(1) fn power"), FIFTH_POWER);
        // The base is not known.
        let open = with("specialize_known(0, 1) fn power");
        assert_eq!(open.replace("specialize_known(0, 1) ", ""), unspecialized);
        let never = text_of(&POWER.replacen("fn power", "specialize_never fn power", 1), VariantPolicy::OF_SCENE);
        assert_eq!(never.replace("specialize_never ", ""), unspecialized);
    }

    #[test]
    fn a_caller_forces_a_call() {
        let forced = POWER.replace("v2: f32 = call power(v0, v1)", "v2: f32 = force_call power(v0, v1)");
        let never = forced.replacen("fn power", "specialize_never fn power", 1);
        for text in [forced, never] {
            assert_eq!(text_of(&text, VariantPolicy::FILTERS), FIFTH_POWER);
        }
    }

    #[test]
    fn a_recursion_that_does_not_end_stays_as_it_was_and_the_chain_of_its_calls_is_known() {
        let endless = POWER.replace("floor v14", "add v1, v5");
        let (m, log) = specialized(&endless, VariantPolicy { most: 9, ..VariantPolicy::OF_SCENE });
        let variants = m.functions.iter().filter(|f| root(&f.name) != &*f.name).count();
        assert!(m.function("power").is_some() && variants == 0, "{m}");
        let [Unfinished { chain, .. }] = &log.unfinished[..] else { panic!("{log:?}") };
        let ends = ["main", "power(n = 5.0)", "power(n = 7.0)", "… 5 more …"];
        assert_eq!(chain[..4], ends);
        assert_eq!(chain[4..], ["power(n = 19.0)", "power(n = 21.0)", "power(n = 23.0)"]);
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
        let mut log = Log::default();
        assert_eq!(run(&mut m, &VariantPolicy::OF_SCENE, &mut log), 2);
        assert_eq!((m.functions.len(), log.made), (3, 1));
        assert_eq!(run(&mut m, &VariantPolicy::OF_SCENE, &mut log), 0);
        assert_eq!(run(&mut module(text), &VariantPolicy::FILTERS, &mut Log::default()), 0);
    }
}
