//! Uniform code: splits a function into what depends on its uniform parameters alone, which a host
//! computes once for each set of their values, and the rest, which takes the results as data.
//!
//! Olano 1998, "A Programmable Pipeline for Graphics Hardware", §4.3.2 and §4.5.5: uniform variables
//! take no memory of pixels, their code runs once for all pixels, and a change of one parameter
//! regenerates only what depends on it.

mod binding_times;
mod loops;
mod slice;
#[cfg(test)]
mod tests;

use super::cost::is_worth_keeping;
use super::inline::InlinePolicy;
use super::{calls, copy, dce, fold, inline, renumber, sccp, simplify_cfg, slots, unit_vectors, unreachable};
use crate::ir::cycles::Components;
use crate::ir::dominators::Dominators;
use crate::ir::{
    BlockId, Const, Function, Inst, Loc, LocData, Module, Op, Param, ParamKind, PrintOptions, ResultInfo, TargetInfo,
    Terminator, Type, Value, print_function,
};
use binding_times::BindingTimes;
use slice::{Slice, slice};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Values that are handed on, at most: they take registers where the rest runs.
const MAX_VALUES: usize = 96;

/// Functions of more instructions than this are not split.
const MAX_SIZE: usize = 40_000;

/// Rounds of simplification before a split.
const MAX_ROUNDS: usize = 8;

/// Calls within calls that are split.
const MAX_DEPTH: usize = 16;

/// Functions with sets of uniform parameters that are split for one shader.
const MAX_VARIANTS: usize = 256;

/// A function that is split by what its code depends on.
#[derive(Clone, Debug)]
pub struct Split {
    /// The rest: the function under another name, with a parameter more for each of `inputs`.
    pub rest: Function,
    /// The uniform code.
    pub stages: Vec<Stage>,
    /// What the parameters are that the rest has more: vectors of four words, from left to right.
    pub inputs: Vec<Vec<Piece>>,
    /// Functions that these call beside those of the module.
    pub callees: Vec<Function>,
    /// Where the instructions of all these come from.
    pub locs: Vec<LocData>,
}

/// Uniform code that depends on the same parameters.
#[derive(Clone, Debug)]
pub struct Stage {
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
    /// What it computes: values with equal keys are equal wherever parameters of equal names are.
    /// `None` for the results of loops and choices.
    pub key: Option<u128>,
}

/// Splits function `name` of a module whose parameters are uniform where `uniform` says so; the
/// rest is called `rest`, and its new parameters by `input`. `None` where that would save nothing.
///
/// The rest computes the same results as the function when its new parameters hold what the stages
/// return. Functions that it calls with some uniform arguments are split, too; what they leave is
/// called in their place. `target` is the machine that the rest is for.
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
        if changes + inline::run(&mut scratch, &small, target, inline::Stage::Early) == 0 {
            break;
        }
    }
    scratch.functions.iter_mut().for_each(|f| _ = unreachable::remove_unreachable(f));
    scratch
}

/// How stages share vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    /// Values of several stages may be in one.
    Shared,
    /// Each stage has its own, which are its results.
    Apart,
}

/// A function that is called with some uniform arguments, split.
#[derive(Clone)]
struct Variant {
    rest: Arc<str>,
    /// The names of the stages, with the parameters that each takes, and the number of vectors that
    /// it returns, in the order in which the rest takes them.
    stages: Vec<(Arc<str>, Vec<usize>, usize)>,
}

/// The functions of a module that are split.
struct Splits {
    /// The functions, with those that were made.
    module: Module,
    /// The functions whose results depend on their arguments alone.
    pure: HashSet<Arc<str>>,
    /// Those that call themselves, in the end.
    recursive: HashSet<Arc<str>>,
    variants: HashMap<(Arc<str>, Vec<bool>), Option<Variant>>,
    /// The names of the functions that were made.
    made: HashSet<Arc<str>>,
    /// The costs of functions.
    costs: HashMap<Arc<str>, usize>,
}

impl Splits {
    fn new(module: Module) -> Self {
        let components = module.call_components();
        let functions = module.functions.iter().enumerate();
        let recursive = functions.filter(|(i, _)| components.is_cyclic(*i)).map(|(_, f)| f.name.clone()).collect();
        let pure = calls::names_of_arguments(&module);
        let mut costs = HashMap::new();
        // Callees come before callers.
        for &f in components.members.iter().flatten() {
            let func = &module.functions[f as usize];
            let cost = cost(func, &costs);
            costs.insert(func.name.clone(), cost);
        }
        Self { module, pure, recursive, variants: HashMap::new(), made: HashSet::new(), costs }
    }

    /// Splits a function of the module.
    fn split(
        &mut self,
        func: Function,
        uniform: &[bool],
        rest: &Arc<str>,
        input: &dyn Fn(usize) -> Arc<str>,
        packing: Packing,
        depth: usize,
    ) -> Option<Made> {
        if func.inst_count() > MAX_SIZE {
            return None;
        }
        let (before, loaded) = (cost(&func, &self.costs), loads(&func));
        let func = self.with_split_calls(func, uniform, depth);
        let tree = Dominators::new(&func);
        let times = BindingTimes::new(&func, &tree, uniform, &self.pure);
        let uses = Uses::new(&func, &times);
        let splitter = Splitter { func: &func, tree: &tree, uses: &uses, pure: &self.pure, packing };
        let (made, needed) = splitter.split(&Frontier::new(&func, &uses).values(), rest, input);
        // Conditions of branches and loops that are gone need nothing any more.
        let (made, _) = if needed.len() < made.values { splitter.split(&needed, rest, input) } else { (made, needed) };
        let gain = before as isize - cost(&made.rest, &self.costs) as isize;
        let more = loads(&made.rest) as isize - loaded as isize;
        // A vector more is a load, and a register; for a callee also an argument of each call.
        let least = match packing {
            Packing::Shared => 2 * more.max(0),
            Packing::Apart => 4 + 4 * more.max(0),
        };
        (gain > least).then_some(made)
    }

    /// The function, in which calls with some uniform arguments call what is left of their callees
    /// without their uniform code, which is called before.
    fn with_split_calls(&mut self, mut func: Function, uniform: &[bool], depth: usize) -> Function {
        let tree = Dominators::new(&func);
        let times = BindingTimes::new(&func, &tree, uniform, &self.pure);
        let all = func.blocks.iter().flat_map(|b| &b.insts);
        let is_constant = |i: &&Inst| matches!(i.op, Op::Const(_));
        let constants: HashSet<Value> = all.filter(is_constant).flat_map(|i| i.results.iter().copied()).collect();
        for id in func.block_ids() {
            let insts = std::mem::take(&mut func.block_mut(id).insts);
            let mut kept = Vec::with_capacity(insts.len());
            for mut inst in insts {
                let is_varying = |v: &Value| !times.is_uniform(*v);
                if let Op::Call(callee) = &inst.op
                    && inst.results.iter().any(is_varying)
                {
                    // What follows from constants alone is found where functions are inlined.
                    let given: Vec<bool> =
                        inst.args.iter().map(|a| times.is_uniform(*a) && !constants.contains(a)).collect();
                    if let Some(variant) = self.variant(callee, given, depth) {
                        let args = inst.args.clone();
                        for (name, params, vectors) in variant.stages {
                            let results: Vec<Value> = (0..vectors).map(|_| func.new_value(Type::Vec4)).collect();
                            inst.args.extend(&results);
                            let args = params.iter().map(|p| args[*p]).collect();
                            kept.push(Inst { op: Op::Call(name), args, results, loc: inst.loc });
                        }
                        inst.op = Op::Call(variant.rest);
                    }
                }
                kept.push(inst);
            }
            func.block_mut(id).insts = kept;
        }
        func
    }

    /// A function that is called with these uniform arguments, split once.
    fn variant(&mut self, callee: &Arc<str>, uniform: Vec<bool>, depth: usize) -> Option<Variant> {
        if !uniform.contains(&true) || self.recursive.contains(callee) || depth >= MAX_DEPTH {
            return None;
        }
        let key = (callee.clone(), uniform);
        if let Some(known) = self.variants.get(&key) {
            return known.clone();
        }
        let made = if self.variants.len() < MAX_VARIANTS { self.make_variant(callee, &key.1, depth) } else { None };
        self.variants.insert(key, made.clone());
        made
    }

    fn make_variant(&mut self, callee: &Arc<str>, uniform: &[bool], depth: usize) -> Option<Variant> {
        let func = self.module.function(callee).filter(|f| f.host.is_none())?.clone();
        let set: String = uniform.iter().map(|u| if *u { 'u' } else { 'v' }).collect();
        let rest: Arc<str> = format!("{callee}.{set}").into();
        let input = |n| Arc::from(format!("uniform.{n}"));
        let made = self.split(func, uniform, &rest, &input, Packing::Apart, depth + 1)?;
        let mut variant = Variant { rest: rest.clone(), stages: Vec::new() };
        let is_pure = self.pure.contains(callee);
        for (number, Stage { mut function, params }) in made.stages.into_iter().enumerate() {
            let own = made.inputs.iter().filter(|pieces| pieces[0].stage == number);
            let vectors = return_vectors(&mut function, own);
            variant.stages.push((function.name.clone(), params, vectors));
            self.add(function, true);
        }
        self.add(made.rest, is_pure);
        Some(variant)
    }

    /// Adds a function that was made.
    fn add(&mut self, func: Function, is_pure: bool) {
        self.costs.insert(func.name.clone(), cost(&func, &self.costs));
        self.made.insert(func.name.clone());
        self.pure.extend(is_pure.then(|| func.name.clone()));
        self.module.functions.push(func);
    }
}

/// Makes a stage return the vectors that its results are the pieces of. Returns their number.
fn return_vectors<'a>(stage: &mut Function, vectors: impl Iterator<Item = &'a Vec<Piece>>) -> usize {
    let vectors: Vec<&Vec<Piece>> = vectors.collect();
    for id in stage.block_ids() {
        let Terminator::Return(values) = &stage.block(id).term else { continue };
        let (values, mut insts, mut returned) = (values.clone(), Vec::new(), Vec::new());
        for pieces in &vectors {
            let mut inst = |op: Op, args: Vec<Value>, ty: Type| {
                let result = stage.new_value(ty);
                insts.push(Inst { op, args, results: vec![result], loc: Loc::NONE });
                result
            };
            let mut words = Vec::with_capacity(4);
            for piece in *pieces {
                let value = values[piece.result];
                match piece.ty {
                    Type::F32 => words.push(value),
                    Type::I32 | Type::U32 => words.push(inst(Op::Bitcast, vec![value], Type::F32)),
                    ty => words.extend((0..ty.words() as u8).map(|i| inst(Op::Extract(i), vec![value], Type::F32))),
                }
            }
            while words.len() < 4 {
                words.push(inst(Op::Const(Const::F32(0.0)), vec![], Type::F32));
            }
            returned.push(inst(Op::Compose, words, Type::Vec4));
        }
        let block = stage.block_mut(id);
        block.insts.extend(insts);
        block.term = Terminator::Return(returned);
    }
    let result = |n: usize| ResultInfo { name: format!("value.{n}").into(), ty: Type::Vec4 };
    stage.results = (0..vectors.len()).map(result).collect();
    vectors.len()
}

/// Where one number stands for a uniform value.
struct Uses<'a> {
    times: &'a BindingTimes,
    components: Components,
}

impl<'a> Uses<'a> {
    fn new(func: &Function, times: &'a BindingTimes) -> Self {
        Self { times, components: func.components() }
    }

    /// Whether a use in a block sees the last value that a uniform value had: it has one, or the
    /// block is outside of the loops that compute it.
    fn sees_last(&self, value: Value, block: BlockId) -> bool {
        let (home, user) = (self.times.home(value).0 as usize, block.0 as usize);
        !self.components.is_cyclic(home) || self.components.of[home] != self.components.of[user]
    }
}

/// Finds the uniform values that varying code needs.
struct Frontier<'a> {
    func: &'a Function,
    uses: &'a Uses<'a>,
    /// What defines each value: an instruction and its block, or none where it is a parameter of a
    /// block.
    defs: Vec<Option<(BlockId, &'a Inst)>>,
}

impl<'a> Frontier<'a> {
    fn new(func: &'a Function, uses: &'a Uses<'a>) -> Self {
        let mut defs = vec![None; func.values.len()];
        for id in func.block_ids() {
            for inst in &func.block(id).insts {
                inst.results.iter().for_each(|r| defs[r.0 as usize] = Some((id, inst)));
            }
        }
        Self { func, uses, defs }
    }

    /// The values, in the order of their definitions. Those that cost nothing are left to the rest,
    /// which computes them from others.
    fn values(&self) -> Vec<Value> {
        let is_uniform = |value: Value| self.uses.times.is_uniform(value);
        let mut passed: HashMap<Value, Vec<(Value, BlockId)>> = HashMap::new();
        // Values with the blocks that use them.
        let mut work: Vec<(Value, BlockId)> = Vec::new();
        for id in self.func.block_ids() {
            let block = self.func.block(id);
            let is_varying = |i: &&Inst| !i.results.first().is_some_and(|r| is_uniform(*r));
            let kept = |i: &&Inst| is_varying(i) && (i.op.is_printed() || !matches!(i.op, Op::Debug(_)));
            work.extend(block.insts.iter().filter(kept).flat_map(|i| &i.args).map(|a| (*a, id)));
            for target in block.term.targets() {
                // What is passed to uniform parameters is needed when these are.
                for (param, arg) in self.func.block(target.block).params.iter().zip(&target.args) {
                    match is_uniform(*param) {
                        true => passed.entry(*param).or_default().push((*arg, id)),
                        false => work.push((*arg, id)),
                    }
                }
            }
            match &block.term {
                Terminator::Branch(condition, ..) => work.push((*condition, id)),
                Terminator::Return(values) => work.extend(values.iter().map(|v| (*v, id))),
                Terminator::Jump(_) => {}
            }
        }
        let mut seen: HashSet<(Value, bool)> = HashSet::new();
        let mut found: BTreeSet<Value> = BTreeSet::new();
        while let Some((value, user)) = work.pop() {
            let is_handed_on = self.is_worth(value) && self.uses.sees_last(value, user);
            if !is_uniform(value) || !seen.insert((value, is_handed_on)) {
                continue;
            }
            if is_handed_on && (found.len() < MAX_VALUES || found.contains(&value)) {
                found.insert(value);
            } else {
                match self.defs[value.0 as usize] {
                    Some((block, inst)) => work.extend(inst.args.iter().map(|a| (*a, block))),
                    None => work.extend(passed.get(&value).into_iter().flatten()),
                }
            }
        }
        found.into_iter().collect()
    }

    /// Whether a value is better handed on than computed.
    fn is_worth(&self, value: Value) -> bool {
        let ty = self.func.ty(value);
        let is_word = matches!(ty, Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 | Type::I32 | Type::U32);
        is_word
            && match self.defs[value.0 as usize] {
                Some((_, inst)) => matches!(inst.op, Op::Call(_)) || is_worth_keeping(&inst.op, ty),
                None => !self.func.param_values().contains(&value),
            }
    }
}

/// A result of a stage: the numbers of both.
type Place = (usize, usize);

/// A function that is split at some values.
struct Made {
    rest: Function,
    stages: Vec<Stage>,
    inputs: Vec<Vec<Piece>>,
    /// The number of values.
    values: usize,
}

/// The sets of parameters that each result of a slice depends on, as numbers of the whole
/// function's. What chooses between values depends on all conditions.
fn dependences(slice: &Slice) -> Vec<BTreeSet<usize>> {
    let func = &slice.function;
    let mut operands: Vec<Vec<Value>> = vec![Vec::new(); func.values.len()];
    let mut is_chosen = vec![false; func.values.len()];
    let mut conditions = Vec::new();
    let mut results: Vec<Vec<Value>> = vec![Vec::new(); func.results.len()];
    for block in &func.blocks {
        for inst in &block.insts {
            inst.results.iter().for_each(|r| operands[r.0 as usize].extend(&inst.args));
        }
        for target in block.term.targets() {
            for (param, arg) in func.block(target.block).params.iter().zip(&target.args) {
                operands[param.0 as usize].push(*arg);
                is_chosen[param.0 as usize] = true;
            }
        }
        match &block.term {
            Terminator::Branch(condition, ..) => conditions.push(*condition),
            Terminator::Return(values) => values.iter().zip(&mut results).for_each(|(v, r)| r.push(*v)),
            Terminator::Jump(_) => {}
        }
    }
    let several = func.blocks.iter().filter(|b| matches!(b.term, Terminator::Return(_))).count() > 1;
    let depends = |mut work: Vec<Value>| {
        if several {
            work.extend(&conditions);
        }
        let mut seen: HashSet<Value> = HashSet::new();
        while let Some(value) = work.pop() {
            if seen.insert(value) {
                work.extend(&operands[value.0 as usize]);
                work.extend(conditions.iter().filter(|_| is_chosen[value.0 as usize]));
            }
        }
        let params = func.param_values().iter().zip(&slice.params);
        params.filter(|(value, _)| seen.contains(value)).map(|(_, number)| *number).collect()
    };
    results.into_iter().map(depends).collect()
}

/// What a slice with one result computes, where that is the result of a loop or a choice: the hash
/// of its text.
fn text_key(slice: Slice) -> u128 {
    let mut function = slice.function;
    renumber::renumber(&mut function);
    let text = print_function(&function, &[], PrintOptions::default());
    hash(|h| text.hash(h))
}

/// A hash of 128 bits.
fn hash(what: impl Fn(&mut DefaultHasher)) -> u128 {
    let half = |seed: u64| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(seed);
        what(&mut hasher);
        u128::from(hasher.finish())
    };
    half(1) << 64 | half(2)
}

/// What the results of a slice compute, as hashes of their operations down to the parameters.
fn keys(slice: &Function) -> Vec<Option<u128>> {
    let mut known: HashMap<Value, u128> = HashMap::new();
    for (param, value) in slice.params.iter().zip(slice.param_values()) {
        known.insert(*value, hash(|h| (&param.name, param.ty).hash(h)));
    }
    for inst in slice.reverse_postorder().into_iter().flat_map(|id| &slice.block(id).insts) {
        let args: Option<Vec<u128>> = inst.args.iter().map(|a| known.get(a).copied()).collect();
        let Some(args) = args else { continue };
        for (number, result) in inst.results.iter().enumerate() {
            known.insert(*result, hash(|h| (&inst.op, &args, number, slice.ty(*result)).hash(h)));
        }
    }
    let mut returns = slice.blocks.iter().filter_map(|b| match &b.term {
        Terminator::Return(values) => Some(values),
        _ => None,
    });
    match (returns.next(), returns.next()) {
        (Some(values), None) => values.iter().map(|v| known.get(v).copied()).collect(),
        _ => vec![None; slice.results.len()],
    }
}

/// The values in as few vectors as first-fit packing gives, those that change together side by
/// side.
fn packed(
    func: &Function,
    values: &[Value],
    places: &HashMap<Value, Place>,
    keys: &[Option<u128>],
    packing: Packing,
) -> Vec<Vec<Piece>> {
    let piece = |(value, key): (&Value, &Option<u128>)| Piece {
        stage: places[value].0,
        result: places[value].1,
        ty: func.ty(*value),
        key: *key,
    };
    let mut pieces: Vec<Piece> = values.iter().zip(keys).map(piece).collect();
    pieces.sort_by_key(|p| (std::cmp::Reverse(p.ty.words()), p.stage, p.result));
    let words = |vector: &[Piece]| vector.iter().map(|p| p.ty.words()).sum::<u32>();
    let mut vectors: Vec<Vec<Piece>> = Vec::new();
    for piece in pieces {
        let fits = |v: &&mut Vec<Piece>| words(v) + piece.ty.words() <= 4;
        let of_stage = |v: &&mut Vec<Piece>| v.iter().any(|p| p.stage == piece.stage);
        let vector = match vectors.iter_mut().filter(fits).position(|v| of_stage(&&mut *v)) {
            Some(_) => vectors.iter_mut().find(|v| fits(v) && of_stage(v)),
            None => vectors.iter_mut().find(fits).filter(|_| packing == Packing::Shared),
        };
        match vector {
            Some(vector) => vector.push(piece),
            None => vectors.push(vec![piece]),
        }
    }
    if packing == Packing::Apart {
        // Callers pass the results of one stage after those of another.
        vectors.sort_by_key(|vector| vector[0].stage);
    }
    vectors
}

/// Splits a function.
struct Splitter<'a> {
    func: &'a Function,
    tree: &'a Dominators,
    uses: &'a Uses<'a>,
    pure: &'a HashSet<Arc<str>>,
    packing: Packing,
}

impl Splitter<'_> {
    /// Splits it at some values; the second result are those that the rest needs.
    fn split(&self, values: &[Value], rest: &Arc<str>, input: &dyn Fn(usize) -> Arc<str>) -> (Made, Vec<Value>) {
        let (stages, places, keys) = self.stages(values, rest);
        let inputs = packed(self.func, values, &places, &keys, self.packing);

        let mut function = Function { name: rest.clone(), ..self.func.clone() };
        let copies = replace(&mut function, self.uses, values, &places, &inputs, input);
        self.remove_dead(&mut function, &self.ended_loops(values));
        let is_used = slice::used(&function);
        let needed = values.iter().filter(|v| is_used.get(copies[v].0 as usize) == Some(&true)).copied().collect();
        (Made { rest: function, stages, inputs, values: values.len() }, needed)
    }

    /// The stages that compute values, where each value is, and the values' keys.
    fn stages(&self, values: &[Value], rest: &str) -> (Vec<Stage>, HashMap<Value, Place>, Vec<Option<u128>>) {
        let slice = |values: &[Value], name| slice(self.func, self.tree, self.uses.times, self.pure, values, name);
        let together = slice(values, Arc::from(""));
        let mut by_params: BTreeMap<BTreeSet<usize>, Vec<Value>> = BTreeMap::new();
        for (value, params) in values.iter().zip(dependences(&together)) {
            by_params.entry(params).or_default().push(*value);
        }
        let mut places = HashMap::new();
        let mut stages = Vec::new();
        for (number, values) in by_params.into_values().enumerate() {
            values.iter().enumerate().for_each(|(result, value)| _ = places.insert(*value, (number, result)));
            let Slice { function, params } = slice(&values, Arc::from(format!("{rest}.{number}")));
            stages.push(Stage { function, params });
        }
        let key_of = |(value, key): (&Value, Option<u128>)| key.or_else(|| Some(text_key(slice(&[*value], "".into()))));
        let keys = values.iter().zip(keys(&together.function)).map(key_of).collect();
        (stages, places, keys)
    }

    /// The headers of the loops that stages run: those in which a part of a value is computed.
    fn ended_loops(&self, values: &[Value]) -> HashSet<BlockId> {
        let func = self.func;
        let mut operands: HashMap<Value, Vec<Value>> = HashMap::new();
        for block in &func.blocks {
            for inst in &block.insts {
                inst.results.iter().for_each(|r| operands.entry(*r).or_default().extend(&inst.args));
            }
            for target in block.term.targets() {
                let passed = func.block(target.block).params.iter().zip(&target.args);
                passed.for_each(|(p, a)| operands.entry(*p).or_default().push(*a));
            }
        }
        let mut work = values.to_vec();
        let mut seen: HashSet<Value> = HashSet::new();
        while let Some(value) = work.pop() {
            if seen.insert(value) {
                work.extend(operands.get(&value).into_iter().flatten());
            }
        }
        let is_run =
            |id: &BlockId| func.block(*id).params.iter().any(|p| seen.contains(p) && self.uses.times.is_uniform(*p));
        func.block_ids().filter(is_run).collect()
    }

    /// Removes what only computed the values, and the loops of these headers, which stages run.
    fn remove_dead(&self, rest: &mut Function, ended: &HashSet<BlockId>) {
        while dce::run(rest) + calls::remove_unused(rest, self.pure) > 0 {}
        debug_assert_eq!(rest.blocks.len(), self.func.blocks.len(), "headers are named by their numbers");
        loops::remove_empty(rest, |header| ended.contains(&header));
        while dce::run(rest) + fold::run(rest) + simplify_cfg::run(rest) + calls::remove_unused(rest, self.pure) > 0 {}
    }
}

/// Replaces values of a function by what new parameters hold. Returns the copy that stands for each.
fn replace(
    rest: &mut Function,
    uses: &Uses<'_>,
    values: &[Value],
    places: &HashMap<Value, Place>,
    inputs: &[Vec<Piece>],
    name: &dyn Fn(usize) -> Arc<str>,
) -> HashMap<Value, Value> {
    let by_place: HashMap<Place, Value> = values.iter().map(|v| (places[v], *v)).collect();
    let mut copies = HashMap::new();
    let mut unpacking = Vec::new();
    for (number, pieces) in inputs.iter().enumerate() {
        let vector = rest.new_value(Type::Vec4);
        rest.params.push(Param { name: name(number), ty: Type::Vec4, kind: ParamKind::Implicit });
        rest.blocks[0].params.push(vector);
        let mut word = 0;
        for piece in pieces {
            let copy = unpack(rest, vector, word, piece.ty, &mut unpacking);
            let value = by_place[&(piece.stage, piece.result)];
            copies.insert(value, copy);
            word += piece.ty.words() as u8;
        }
    }
    for id in rest.block_ids() {
        let here = |a: &mut Value| {
            if let Some(copy) = copies.get(a).filter(|_| uses.sees_last(*a, id)) {
                *a = *copy;
            }
        };
        let block = rest.block_mut(id);
        block.insts.iter_mut().flat_map(|i| &mut i.args).for_each(here);
        block.term.for_each_arg_mut(here);
    }
    rest.blocks[0].insts.splice(0..0, unpacking);
    copies
}

/// A value of a type from the words of a vector.
fn unpack(rest: &mut Function, vector: Value, first: u8, ty: Type, insts: &mut Vec<Inst>) -> Value {
    if ty == Type::Vec4 {
        return vector;
    }
    let mut inst = |op: Op, args: Vec<Value>, ty: Type| {
        let result = rest.new_value(ty);
        insts.push(Inst { op, args, results: vec![result], loc: Loc::NONE });
        result
    };
    let words: Vec<Value> =
        (0..ty.words() as u8).map(|i| inst(Op::Extract(first + i), vec![vector], Type::F32)).collect();
    match ty {
        Type::F32 => words[0],
        Type::I32 | Type::U32 => inst(Op::Bitcast, words, ty),
        _ => inst(Op::Compose, words, ty),
    }
}

/// How often a loop is believed to iterate.
const ITERATIONS: usize = 8;

/// Operations that take time, with those of the functions that are called, as far as their costs
/// are known.
fn cost(func: &Function, costs: &HashMap<Arc<str>, usize>) -> usize {
    let one = |inst: &Inst| match &inst.op {
        Op::Call(name) => costs.get(name).copied().unwrap_or(0).saturating_add(1),
        op => usize::from(is_worth_keeping(op, inst.results.first().map_or(Type::Bool, |r| func.ty(*r)))),
    };
    let components = func.components();
    let of_block = |id: BlockId| {
        let once = func.block(id).insts.iter().map(one).fold(0, usize::saturating_add);
        if components.is_cyclic(id.0 as usize) { once.saturating_mul(ITERATIONS) } else { once }
    };
    func.block_ids().map(of_block).fold(0, usize::saturating_add).min(isize::MAX as usize)
}

/// Vectors of data that the parameters which a function uses take.
fn loads(func: &Function) -> usize {
    let is_used = slice::used(func);
    let params = func.params.iter().zip(func.param_values()).filter(|(_, v)| is_used[v.0 as usize]);
    params.map(|(p, _)| p.ty.words().div_ceil(4) as usize).sum()
}
