//! Cuts a function in two at given values.

use super::frontier::Uses;
use super::packing::{Packing, ResultIndex, keys, packed, text_key};
use super::slice::{self, Slice, slice};
use super::{Piece, UniformFunction, loops};
use crate::dominators::Dominators;
use crate::passes::{calls, dce, fold, simplify_cfg};
use crate::{BlockId, Function, Inst, Loc, Op, Param, ParamKind, Terminator, Type, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A function that is split at some values.
pub(super) struct Made {
    pub(super) rest: Function,
    pub(super) stages: Vec<UniformFunction>,
    pub(super) inputs: Vec<Vec<Piece>>,
    /// The number of values.
    pub(super) values: usize,
}

/// Splits a function.
pub(super) struct Splitter<'a> {
    pub(super) func: &'a Function,
    pub(super) tree: &'a Dominators,
    pub(super) uses: &'a Uses<'a>,
    /// The functions whose results depend on their arguments alone.
    pub(super) pure: &'a HashSet<Arc<str>>,
    pub(super) packing: Packing,
}

impl Splitter<'_> {
    /// Splits it at some values; the second result are those that the rest needs.
    pub(super) fn split(
        &self,
        values: &[Value],
        rest: &Arc<str>,
        input: &dyn Fn(usize) -> Arc<str>,
    ) -> (Made, Vec<Value>) {
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
    fn stages(&self, values: &[Value], rest: &str) -> (Vec<UniformFunction>, HashMap<Value, ResultIndex>, Vec<u128>) {
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
            stages.push(UniformFunction { function, params });
        }
        let key_of =
            |(value, key): (&Value, Option<u128>)| key.unwrap_or_else(|| text_key(slice(&[*value], "".into())));
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

/// Replaces values of a function by what new parameters hold. Returns the copy that stands for each.
fn replace(
    rest: &mut Function,
    uses: &Uses<'_>,
    values: &[Value],
    places: &HashMap<Value, ResultIndex>,
    inputs: &[Vec<Piece>],
    name: &dyn Fn(usize) -> Arc<str>,
) -> HashMap<Value, Value> {
    let by_place: HashMap<ResultIndex, Value> = values.iter().map(|v| (places[v], *v)).collect();
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
