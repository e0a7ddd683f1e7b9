//! Rewrites functions: shadows beside their values, and calls that pass and take them.

use super::super::replace::Replacements;
use super::super::unreachable::remove_unreachable;
use super::activity::Activity;
use super::demand::{Demand, Flow, Needs};
use super::is_operation;
use super::rules::{self, Shadow, or_zero};
use crate::abi::DERIVED;
use crate::emitter::Emitter;
use crate::{
    BlockId, Const, Function, Inst, Loc, Op, Param, ParamKind, ResultInfo, Slot, SlotId, Terminator, Type, Value,
};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// Parameters of entries that are the surface's own.
const SURFACE_PARAMETERS: [&str; 2] = ["u", "v"];
/// The suffixes of the names of shadows.
const DIRECTIONS: [&str; 2] = ["du", "dv"];

/// Which copy of a function is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    function: usize,
    /// The parameters that come with shadows.
    params: Vec<bool>,
    /// The results that go with shadows.
    results: Vec<bool>,
}

/// The copies of a module's functions that calls ask for.
pub(super) struct Copies<'a> {
    needs: Needs<'a>,
    names: HashMap<Key, Arc<str>>,
    waiting: VecDeque<Key>,
    rays: BTreeSet<Loc>,
}

impl<'a> Copies<'a> {
    pub(super) fn new(functions: &'a [Function]) -> Self {
        let needs = Needs::new(functions);
        Copies { needs, names: HashMap::new(), waiting: VecDeque::new(), rays: BTreeSet::new() }
    }

    /// The function as it is called by others than copies; `None` where it stays as it is.
    pub(super) fn plain(&mut self, function: usize) -> Option<Function> {
        let func = &self.needs.functions()[function];
        let own = |p: &Param| func.kind.is_entry() && p.ty == Type::F32 && SURFACE_PARAMETERS.contains(&&*p.name);
        let params: Vec<bool> = func.params.iter().map(own).collect();
        let touched = func.blocks.iter().flat_map(|b| &b.insts).any(|i| is_operation(&i.op));
        if !touched && !params.contains(&true) {
            return None;
        }
        let key = Key { function, params, results: vec![false; func.results.len()] };
        Some(self.make(&key, func.name.clone(), true))
    }

    /// The copies that calls asked for, and those that these ask for.
    pub(super) fn rest(&mut self) -> Vec<Function> {
        let mut made = Vec::new();
        while let Some(key) = self.waiting.pop_front() {
            let name = self.names[&key].clone();
            made.push(self.make(&key, name, false));
        }
        made
    }

    pub(super) fn into_rays(self) -> Vec<Loc> {
        self.rays.into_iter().collect()
    }

    /// The name of a copy, which is made later if it is new.
    fn name(&mut self, key: Key) -> Arc<str> {
        if let Some(name) = self.names.get(&key) {
            return name.clone();
        }
        let name: Arc<str> =
            format!("{}{DERIVED}{}", self.needs.functions()[key.function].name, self.names.len()).into();
        self.names.insert(key.clone(), name.clone());
        self.waiting.push_back(key);
        name
    }

    fn make(&mut self, key: &Key, name: Arc<str>, plain: bool) -> Function {
        let mut func = self.needs.functions()[key.function].clone();
        func.name = name;
        remove_unreachable(&mut func);
        let demand = Flow::new(&func).demand(&key.results, &self.needs);
        self.rays.extend(&demand.rays);
        let active = Activity::new(&func, &key.params, &self.needs);
        let mut writer = Writer::new(func, active, &demand);
        writer.parameters(key, plain);
        writer.block_parameters();
        for id in writer.func.reverse_postorder() {
            writer.block(id, self);
        }
        writer.ends(key);
        writer.finish()
    }
}

/// A function being written.
struct Writer {
    func: Function,
    /// The values of the function as it was that have derivatives which are asked for.
    wanted: Vec<bool>,
    active: Activity,
    /// Their derivatives, as far as they are written.
    shadows: Vec<Option<Shadow>>,
    /// The slots of elements' derivatives.
    slots: Vec<Option<[SlotId; 2]>>,
    same: Replacements,
    /// The derivatives of the surface's own parameters: constants at the start.
    own: Vec<Inst>,
}

impl Writer {
    fn new(mut func: Function, active: Activity, demand: &Demand) -> Self {
        let both = |a: &[bool], b: &[bool]| -> Vec<bool> { a.iter().zip(b).map(|(a, b)| *a && *b).collect() };
        let wanted = both(&active.values, &demand.derived);
        let same = Replacements::new(&func);
        let slots = both(&active.slots, &demand.slots);
        let slots = slots.into_iter().enumerate().map(|(i, wanted)| {
            wanted.then(|| {
                DIRECTIONS.map(|d| {
                    let Slot { name, ty, len } = func.slots[i].clone();
                    func.slots.push(Slot { name: format!("{name}.{d}").into(), ty, len });
                    SlotId(func.slots.len() as u32 - 1)
                })
            })
        });
        let slots = slots.collect();
        let shadows = vec![None; wanted.len()];
        Writer { func, wanted, active, shadows, slots, same, own: Vec::new() }
    }

    fn is_wanted(&self, value: Value) -> bool {
        self.wanted[value.0 as usize]
    }

    fn shadow(&self, value: Value) -> Option<Shadow> {
        self.shadows[value.0 as usize]
    }

    /// Gives the parameters their shadows: more parameters, or for a function that is called from
    /// outside the derivatives of u and v by themselves.
    fn parameters(&mut self, key: &Key, plain: bool) {
        let func = &mut self.func;
        let changing: Vec<(Value, Param)> = func
            .param_values()
            .iter()
            .copied()
            .zip(func.params.clone())
            .zip(&key.params)
            .filter(|(_, changes)| **changes)
            .map(|(param, _)| param)
            .collect();
        for (value, param) in changing.into_iter().filter(|(v, _)| !plain || self.wanted[v.0 as usize]) {
            let shadow = DIRECTIONS.map(|_| func.new_value(param.ty));
            for ((shadow, direction), own) in shadow.into_iter().zip(DIRECTIONS).zip(SURFACE_PARAMETERS) {
                if plain {
                    let one = if *param.name == *own { 1.0 } else { 0.0 };
                    let op = Op::Const(Const::F32(one));
                    self.own.push(Inst { op, args: Vec::new(), results: vec![shadow], loc: Loc::NONE });
                } else {
                    let name = format!("{}.{direction}", param.name).into();
                    func.params.push(Param { name, ty: param.ty, kind: ParamKind::Implicit });
                    func.blocks[0].params.push(shadow);
                }
            }
            self.shadows[value.0 as usize] = Some(shadow);
        }
    }

    fn block_parameters(&mut self) {
        for block in 1..self.func.blocks.len() {
            for value in self.func.blocks[block].params.clone() {
                if self.is_wanted(value) {
                    let ty = self.func.ty(value);
                    let shadow = DIRECTIONS.map(|_| self.func.new_value(ty));
                    self.func.blocks[block].params.extend(shadow);
                    self.shadows[value.0 as usize] = Some(shadow);
                }
            }
        }
    }

    fn block(&mut self, id: BlockId, copies: &mut Copies<'_>) {
        let insts = std::mem::take(&mut self.func.block_mut(id).insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            self.instruction(inst, &mut out, copies);
        }
        self.func.block_mut(id).insts = out;
    }

    /// Writes an instruction and what its derivatives take.
    fn instruction(&mut self, mut inst: Inst, out: &mut Vec<Inst>, copies: &mut Copies<'_>) {
        let loc = inst.loc;
        match &inst.op {
            Op::Du | Op::Dv => {
                let (result, direction) = (inst.results[0], usize::from(inst.op == Op::Dv));
                let by = self.shadow(inst.args[0]).map(|s| s[direction]);
                let ty = self.func.ty(result);
                let mut e = Emitter::new(&mut self.func, loc);
                let value = or_zero(&mut e, by, ty);
                out.append(&mut e.out);
                self.same.set(result, value);
            }
            Op::Seed => {
                let result = inst.results[0];
                self.shadows[result.0 as usize] = Some([inst.args[1], inst.args[2]]);
                self.same.set(result, inst.args[0]);
            }
            Op::Call(name) => {
                if let Some(callee) = copies.needs.function(name) {
                    self.call(callee, &mut inst, copies);
                }
                out.push(inst);
            }
            &Op::SlotLoad(slot) => {
                let result = inst.results[0];
                let index = inst.args[0];
                out.push(inst);
                if let Some(slots) = self.slots[slot.0 as usize].filter(|_| self.is_wanted(result)) {
                    let ty = self.func.ty(result);
                    let mut e = Emitter::new(&mut self.func, loc);
                    self.shadows[result.0 as usize] = Some(slots.map(|s| e.op(Op::SlotLoad(s), &[index], ty)));
                    out.append(&mut e.out);
                }
            }
            &Op::SlotStore(slot) => {
                let (index, value) = (inst.args[0], inst.args[1]);
                out.push(inst);
                if let Some(slots) = self.slots[slot.0 as usize] {
                    let (shadow, ty) = (self.shadow(value), self.func.ty(value));
                    let mut e = Emitter::new(&mut self.func, loc);
                    for (k, slot) in slots.into_iter().enumerate() {
                        let element = or_zero(&mut e, shadow.map(|s| s[k]), ty);
                        e.push(Op::SlotStore(slot), &[index, element], Vec::new());
                    }
                    out.append(&mut e.out);
                }
            }
            _ => {
                let result = inst.results.first().copied().filter(|&r| self.is_wanted(r));
                if let Some(result) = result {
                    let given: Vec<Option<Shadow>> = inst.args.iter().map(|&a| self.shadow(a)).collect();
                    let mut e = Emitter::new(&mut self.func, loc);
                    self.shadows[result.0 as usize] = Some(rules::shadow(&mut e, &inst, &given));
                    let mut more = e.out;
                    out.push(inst);
                    out.append(&mut more);
                } else {
                    out.push(inst);
                }
            }
        }
    }

    /// Turns a call to the copy of the callee that takes and gives the derivatives.
    fn call(&mut self, callee: usize, inst: &mut Inst, copies: &mut Copies<'_>) {
        let results: Vec<bool> = inst.results.iter().map(|&r| self.is_wanted(r)).collect();
        let needed = copies.needs.params(callee, &results);
        let params: Vec<bool> = inst.args.iter().zip(needed).map(|(&a, needed)| needed && self.active.is(a)).collect();
        if !params.contains(&true) {
            return;
        }
        let shadows = inst.args.iter().zip(&params).filter(|(_, passed)| **passed).filter_map(|(&a, _)| self.shadow(a));
        let more: Vec<Value> = shadows.flatten().collect();
        inst.args.extend(more);
        for (i, _) in results.iter().enumerate().filter(|(_, wanted)| **wanted) {
            let value = inst.results[i];
            let ty = self.func.ty(value);
            let shadow = DIRECTIONS.map(|_| self.func.new_value(ty));
            inst.results.extend(shadow);
            self.shadows[value.0 as usize] = Some(shadow);
        }
        inst.op = Op::Call(copies.name(Key { function: callee, params, results }));
    }

    /// Passes shadows along jumps, and returns those that are wanted.
    fn ends(&mut self, key: &Key) {
        let wanted: Vec<Vec<(usize, Type)>> = self
            .func
            .blocks
            .iter()
            .enumerate()
            .map(|(b, block)| {
                let params = block
                    .params
                    .iter()
                    .enumerate()
                    .filter(|(_, p)| b > 0 && self.wanted.get(p.0 as usize) == Some(&true));
                params.map(|(i, &p)| (i, self.func.ty(p))).collect()
            })
            .collect();
        let of_results = key.results.iter().enumerate().filter(|(_, wanted)| **wanted);
        let of_results: Vec<(usize, Type)> = of_results.map(|(i, _)| (i, self.func.results[i].ty)).collect();
        for &(i, ty) in &of_results {
            let name = self.func.results[i].name.clone();
            self.func.results.extend(DIRECTIONS.map(|d| ResultInfo { name: format!("{name}.{d}").into(), ty }));
        }
        for b in 0..self.func.blocks.len() {
            let mut term = std::mem::replace(&mut self.func.blocks[b].term, Terminator::Return(Vec::new()));
            let loc = self.func.blocks[b].term_loc;
            let mut e = Emitter::new(&mut self.func, loc);
            let mut passed = |list: &mut Vec<Value>, places: &mut dyn Iterator<Item = (usize, Type)>| {
                for (i, ty) in places {
                    let shadow = self.shadows[list[i].0 as usize];
                    list.extend([0, 1].map(|k| or_zero(&mut e, shadow.map(|s| s[k]), ty)));
                }
            };
            match &mut term {
                Terminator::Return(values) => passed(values, &mut of_results.iter().copied()),
                term => {
                    for target in term.targets_mut() {
                        passed(&mut target.args, &mut wanted[target.block.0 as usize].iter().copied());
                    }
                }
            }
            let mut more = e.out;
            self.func.blocks[b].insts.append(&mut more);
            self.func.blocks[b].term = term;
        }
    }

    fn finish(mut self) -> Function {
        self.func.blocks[0].insts.splice(0..0, self.own);
        self.same.apply(&mut self.func);
        self.func
    }
}
