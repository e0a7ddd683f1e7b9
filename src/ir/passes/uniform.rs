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
use super::{calls, copy, dce, fold, inline, sccp, simplify_cfg, slots, unit_vectors, unreachable};
use crate::ir::cycles::Components;
use crate::ir::dominators::Dominators;
use crate::ir::passes::manager::Pipeline;
use crate::ir::{BlockId, Function, Inst, Loc, LocData, Module, Op, Param, ParamKind, Terminator, Type, Value};
use binding_times::BindingTimes;
use slice::{Slice, slice};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Values that are handed on, at most: they take registers where the rest runs.
const MAX_VALUES: usize = 96;

/// Functions of more instructions than this are not split: inlining made them as large as they may
/// be.
const MAX_SIZE: usize = 40_000;

/// A function that is split by what its code depends on.
#[derive(Clone, Debug)]
pub struct Split {
    /// The rest: the function under another name, with a parameter more for each of `inputs`.
    pub rest: Function,
    /// The uniform code.
    pub stages: Vec<Stage>,
    /// What the parameters are that the rest has more: vectors of four words, from left to right.
    pub inputs: Vec<Vec<Piece>>,
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
}

/// Splits function `name` of a module whose parameters are uniform where `uniform` says so; the
/// rest is called `rest`, and its new parameters by `input`. `None` where that would save nothing.
///
/// The rest computes the same results as the function when its new parameters hold what the stages
/// return. The module is prepared as `pipeline` does for its target; its settings of passes have no
/// effect here.
pub fn split(
    module: &Module,
    name: &str,
    uniform: impl Fn(&Param) -> bool,
    rest: Arc<str>,
    input: impl Fn(usize) -> Arc<str>,
    pipeline: &Pipeline,
) -> Option<Split> {
    let whole = module.function(name)?;
    let uniform: Vec<bool> = whole.params.iter().map(uniform).collect();
    if !uniform.contains(&true) {
        return None;
    }
    let mut scratch = prepared(module, name, pipeline);
    let at = scratch.functions.iter().position(|f| &*f.name == name)?;
    let func = scratch.functions.swap_remove(at);
    if func.inst_count() > MAX_SIZE {
        return None;
    }
    let pure = calls::names_of_arguments(&scratch);
    let tree = Dominators::new(&func);
    let times = BindingTimes::new(&func, &tree, &uniform, &pure);
    let uses = Uses::new(&func, &times);
    let splitter = Splitter { func: &func, tree: &tree, uses: &uses, pure: &pure };
    let (made, needed) = splitter.split(&Frontier::new(&func, &uses).values(), &rest, &input);
    // Conditions of branches and loops that are gone need nothing any more.
    let (made, _) = if needed.len() < made.values { splitter.split(&needed, &rest, &input) } else { (made, needed) };
    let Made { rest, stages, inputs, .. } = made;
    let gain = cost(&func, &scratch) as isize - cost(&rest, &scratch) as isize;
    let more = loads(&rest) as isize - loads(&func) as isize;
    (gain > more.max(0)).then_some(Split { rest, stages, inputs, locs: scratch.locs })
}

/// The functions that `name` calls, and itself, inlined and simplified.
fn prepared(module: &Module, name: &str, pipeline: &Pipeline) -> Module {
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
    let mut scratch = Module { functions, locs: module.locs.clone(), ..module.clone() };
    unit_vectors::propagate(&mut scratch);
    for _ in 0..pipeline.max_rounds {
        let mut changes = 0;
        for func in &mut scratch.functions {
            changes += copy::run(func) + fold::run(func) + sccp::run(func) + simplify_cfg::run(func);
            changes += slots::run(func, &pipeline.target) + dce::run(func);
        }
        changes += calls::run(&mut scratch);
        changes += inline::run(&mut scratch, &pipeline.inline, &pipeline.target, inline::Stage::Early);
        if changes == 0 {
            break;
        }
    }
    scratch.functions.iter_mut().for_each(|f| _ = unreachable::remove_unreachable(f));
    scratch
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

/// The values in as few vectors as first-fit packing gives, those that change together side by
/// side.
fn packed(func: &Function, values: &[Value], places: &HashMap<Value, Place>) -> Vec<Vec<Piece>> {
    let mut pieces: Vec<Piece> = values
        .iter()
        .map(|value| Piece { stage: places[value].0, result: places[value].1, ty: func.ty(*value) })
        .collect();
    pieces.sort_by_key(|p| (std::cmp::Reverse(p.ty.words()), p.stage, p.result));
    let words = |vector: &[Piece]| vector.iter().map(|p| p.ty.words()).sum::<u32>();
    let mut vectors: Vec<Vec<Piece>> = Vec::new();
    for piece in pieces {
        let fits = |v: &&mut Vec<Piece>| words(v) + piece.ty.words() <= 4;
        let of_stage = |v: &&mut Vec<Piece>| v.iter().any(|p| p.stage == piece.stage);
        let vector = match vectors.iter_mut().filter(fits).position(|v| of_stage(&&mut *v)) {
            Some(_) => vectors.iter_mut().find(|v| fits(v) && of_stage(v)),
            None => vectors.iter_mut().find(fits),
        };
        match vector {
            Some(vector) => vector.push(piece),
            None => vectors.push(vec![piece]),
        }
    }
    vectors
}

/// Splits a function.
struct Splitter<'a> {
    func: &'a Function,
    tree: &'a Dominators,
    uses: &'a Uses<'a>,
    pure: &'a HashSet<Arc<str>>,
}

impl Splitter<'_> {
    /// Splits it at some values; the second result are those that the rest needs.
    fn split(&self, values: &[Value], rest: &Arc<str>, input: &impl Fn(usize) -> Arc<str>) -> (Made, Vec<Value>) {
        let (stages, places) = self.stages(values, rest);
        let inputs = packed(self.func, values, &places);
        let mut function = Function { name: rest.clone(), ..self.func.clone() };
        let copies = replace(&mut function, self.uses, values, &places, &inputs, input);
        self.remove_dead(&mut function, &self.ended_loops(values));
        let is_used = slice::used(&function);
        let needed = values.iter().filter(|v| is_used.get(copies[v].0 as usize) == Some(&true)).copied().collect();
        (Made { rest: function, stages, inputs, values: values.len() }, needed)
    }

    /// The stages that compute values, and where each value is.
    fn stages(&self, values: &[Value], rest: &str) -> (Vec<Stage>, HashMap<Value, Place>) {
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
        (stages, places)
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
    name: &impl Fn(usize) -> Arc<str>,
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

/// Operations that take time, with those of the functions that are called.
fn cost(func: &Function, module: &Module) -> usize {
    let one = |inst: &Inst| match &inst.op {
        Op::Call(name) => 1 + module.function(name).map_or(0, Function::inst_count),
        op => usize::from(is_worth_keeping(op, inst.results.first().map_or(Type::Bool, |r| func.ty(*r)))),
    };
    let components = func.components();
    let of_block = |id: BlockId| {
        let once: usize = func.block(id).insts.iter().map(one).sum();
        if components.is_cyclic(id.0 as usize) { ITERATIONS * once } else { once }
    };
    func.block_ids().map(of_block).sum()
}

/// Vectors of data that the parameters which a function uses take.
fn loads(func: &Function) -> usize {
    let is_used = slice::used(func);
    let params = func.params.iter().zip(func.param_values()).filter(|(_, v)| is_used[v.0 as usize]);
    params.map(|(p, _)| p.ty.words().div_ceil(4) as usize).sum()
}
