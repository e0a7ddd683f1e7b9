//! Functions that are called with some uniform arguments are split for these, from callers to
//! callees; what is left of them is called in their place.

use super::binding_times::BindingTimes;
use super::frontier::{Frontier, Uses};
use super::packing::Packing;
use super::splitter::{Made, Splitter};
use super::{Piece, UniformFunction, slice};
use crate::dominators::Dominators;
use crate::passes::calls;
use crate::passes::cost::is_worth_keeping;
use crate::{BlockId, Const, Function, Inst, Loc, Module, Op, ResultInfo, Terminator, Type, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Functions of more instructions than this are not split.
const MAX_SIZE: usize = 40_000;

/// Calls within calls that are split.
const MAX_DEPTH: usize = 16;

/// Functions with sets of uniform parameters that are split for one shader.
const MAX_VARIANTS: usize = 256;

/// A function that is called with some uniform arguments, split.
#[derive(Clone)]
struct Variant {
    rest: Arc<str>,
    /// The names of the stages, with the parameters that each takes, and the number of vectors that
    /// it returns, in the order in which the rest takes them.
    stages: Vec<(Arc<str>, Vec<usize>, usize)>,
}

/// The functions of a module that are split.
pub(super) struct Splits {
    /// The functions, with those that were made.
    pub(super) module: Module,
    /// The functions whose results depend on their arguments alone.
    pure: HashSet<Arc<str>>,
    /// The functions that call themselves, in the end.
    recursive: HashSet<Arc<str>>,
    variants: HashMap<(Arc<str>, Vec<bool>), Option<Variant>>,
    /// The names of the functions that were made.
    pub(super) made: HashSet<Arc<str>>,
    /// The costs of functions.
    costs: HashMap<Arc<str>, usize>,
}

impl Splits {
    pub(super) fn new(module: Module) -> Self {
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
    pub(super) fn split(
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
        let tree = Dominators::new(&func);
        let func = self.with_split_calls(func, &tree, uniform, depth);
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
    fn with_split_calls(&mut self, mut func: Function, tree: &Dominators, uniform: &[bool], depth: usize) -> Function {
        let times = BindingTimes::new(&func, tree, uniform, &self.pure);
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
        for (number, UniformFunction { mut function, params }) in made.stages.into_iter().enumerate() {
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
