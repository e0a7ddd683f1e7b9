//! Whose derivatives are asked for: backwards from `du` and `dv`, and from the results of a
//! function whose derivatives its caller wants.

use super::super::value_def::{ValueDef, value_defs};
use super::activity::{differentiable, is_float};
use crate::cycles::Components;
use crate::{BlockId, Function, Loc, Op, Terminator, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The derivatives that are asked for in a function.
#[derive(Debug)]
pub(super) struct Demand {
    /// For each value, whether something asks for its derivatives.
    pub(super) derived: Vec<bool>,
    /// For each slot, whether something asks for those of its elements.
    pub(super) slots: Vec<bool>,
    /// Where rays bring back what was asked for.
    pub(super) rays: Vec<Loc>,
}

/// Of which parameters a function needs the derivatives.
#[derive(Clone, Debug)]
struct Summary {
    /// For the derivatives that it takes itself.
    own: Vec<bool>,
    /// For those of each of its results.
    results: Vec<Vec<bool>>,
}

/// The needs of calls, for all functions of a module.
#[derive(Debug)]
pub(super) struct Needs<'a> {
    index: HashMap<Arc<str>, usize>,
    functions: &'a [Function],
    known: Vec<Option<Summary>>,
    /// The needs of a function while they are not known, within a cycle of calls: all that there
    /// is.
    all: Vec<Vec<bool>>,
}

impl<'a> Needs<'a> {
    /// Looks at all functions, callees first.
    pub(super) fn new(functions: &'a [Function]) -> Self {
        let index: HashMap<Arc<str>, usize> = functions.iter().enumerate().map(|(i, f)| (f.name.clone(), i)).collect();
        let callees = |f: &Function| -> Vec<u32> {
            let insts = f.blocks.iter().flat_map(|b| &b.insts);
            insts
                .filter_map(|i| if let Op::Call(name) = &i.op { Some(*index.get(name)? as u32) } else { None })
                .collect()
        };
        let edges: Vec<Vec<u32>> = functions.iter().map(callees).collect();
        let all = functions.iter().map(|f| f.params.iter().map(|p| is_float(p.ty)).collect()).collect();
        let mut needs = Needs { index, functions, known: vec![None; functions.len()], all };
        for f in Components::new(&edges).members.into_iter().flatten().map(|f| f as usize) {
            let func = &functions[f];
            let flow = Flow::new(func);
            let of_params = |demand: Demand| -> Vec<bool> {
                func.param_values().iter().map(|p| demand.derived[p.0 as usize]).collect()
            };
            let mut wanted = vec![false; func.results.len()];
            let own = of_params(flow.demand(&wanted, &needs));
            let results = func.results.iter().enumerate().map(|(i, result)| {
                if !is_float(result.ty) {
                    return vec![false; func.params.len()];
                }
                wanted[i] = true;
                let needed = of_params(flow.demand(&wanted, &needs));
                wanted[i] = false;
                needed
            });
            let results = results.collect();
            needs.known[f] = Some(Summary { own, results });
        }
        needs
    }

    /// The number of the function of that name.
    pub(super) fn function(&self, name: &Arc<str>) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// The functions.
    pub(super) fn functions(&self) -> &'a [Function] {
        self.functions
    }

    /// The parameters whose derivatives feed those of result `i`, or derivatives that the function
    /// takes itself.
    pub(super) fn by_result(&self, function: usize, i: usize) -> &[bool] {
        self.known[function].as_ref().map_or(&self.all[function], |s| &s.results[i])
    }

    /// The parameters whose derivatives feed those that the function takes itself.
    pub(super) fn by_itself(&self, function: usize) -> &[bool] {
        self.known[function].as_ref().map_or(&self.all[function], |s| &s.own)
    }

    /// The parameters whose derivatives are needed when those of some results are wanted.
    pub(super) fn params(&self, function: usize, results: &[bool]) -> Vec<bool> {
        let mut needed = self.by_itself(function).to_vec();
        for (i, _) in results.iter().enumerate().filter(|(_, wanted)| **wanted) {
            needed.iter_mut().zip(self.by_result(function, i)).for_each(|(n, more)| *n |= more);
        }
        needed
    }
}

/// How values of a function come about, to be walked backwards.
pub(super) struct Flow<'a> {
    func: &'a Function,
    defs: Vec<ValueDef>,
    predecessors: Vec<Vec<BlockId>>,
    /// The values that are written into each slot.
    stores: Vec<Vec<Value>>,
}

/// The purpose for which a value is needed.
#[derive(Clone, Copy)]
enum Need {
    Value,
    Derivatives,
}

/// The walk.
struct Walk<'a> {
    needs: &'a Needs<'a>,
    live: Vec<bool>,
    demand: Demand,
    work: Vec<(Value, Need)>,
}

impl Walk<'_> {
    fn live(&mut self, values: &[Value]) {
        self.work.extend(values.iter().map(|&v| (v, Need::Value)));
    }

    fn derive(&mut self, values: &[Value]) {
        self.work.extend(values.iter().map(|&v| (v, Need::Derivatives)));
    }
}

impl<'a> Flow<'a> {
    pub(super) fn new(func: &'a Function) -> Self {
        let mut stores = vec![Vec::new(); func.slots.len()];
        for inst in func.blocks.iter().flat_map(|b| &b.insts) {
            if let Op::SlotStore(slot) = inst.op {
                stores[slot.0 as usize].push(inst.args[1]);
            }
        }
        Flow { func, defs: value_defs(func), predecessors: func.predecessors(), stores }
    }

    /// The demand when the derivatives of some results are wanted.
    pub(super) fn demand(&self, wanted: &[bool], needs: &Needs<'_>) -> Demand {
        let func = self.func;
        let demand =
            Demand { derived: vec![false; func.values.len()], slots: vec![false; func.slots.len()], rays: Vec::new() };
        let mut walk = Walk { needs, live: vec![false; func.values.len()], demand, work: Vec::new() };
        for block in &func.blocks {
            for inst in
                block.insts.iter().filter(|i| i.op.is_printed() || !i.op.is_pure() && !matches!(i.op, Op::Debug(_)))
            {
                walk.live(&inst.args);
                if let Op::Call(name) = &inst.op
                    && let Some(callee) = needs.function(name)
                {
                    let fed = needs.by_itself(callee).iter().zip(&inst.args).filter(|(needed, _)| **needed);
                    fed.for_each(|(_, &arg)| walk.derive(&[arg]));
                }
            }
            match &block.term {
                Terminator::Branch(condition, ..) => walk.live(&[*condition]),
                Terminator::Return(values) => {
                    walk.live(values);
                    let derived = values.iter().zip(wanted).filter(|(_, wanted)| **wanted);
                    derived.for_each(|(&value, _)| walk.derive(&[value]));
                }
                Terminator::Jump(_) => {}
            }
        }
        while let Some((value, need)) = walk.work.pop() {
            match need {
                Need::Value => self.need_value(&mut walk, value),
                Need::Derivatives => self.need_derivatives(&mut walk, value),
            }
        }
        walk.demand.rays.sort_unstable();
        walk.demand.rays.dedup();
        walk.demand
    }

    /// The arguments that jumps pass to a block parameter.
    fn arguments(&self, block: BlockId, position: u32) -> impl Iterator<Item = Value> {
        self.predecessors[block.0 as usize].iter().flat_map(move |&p| {
            let targets = self.func.block(p).term.targets().filter(move |t| t.block == block);
            targets.map(move |t| t.args[position as usize])
        })
    }

    fn need_value(&self, walk: &mut Walk<'_>, value: Value) {
        if std::mem::replace(&mut walk.live[value.0 as usize], true) {
            return;
        }
        match self.defs[value.0 as usize] {
            ValueDef::Undefined | ValueDef::Param(BlockId(0), _) => {}
            ValueDef::Param(block, i) => self.arguments(block, i).for_each(|arg| walk.live(&[arg])),
            ValueDef::Inst(block, i) => {
                let inst = &self.func.block(block).insts[i as usize];
                match inst.op {
                    Op::Du | Op::Dv => walk.derive(&inst.args),
                    Op::Seed => walk.live(&inst.args[..1]),
                    // The operands of what has effects are needed anyway.
                    _ => walk.live(&inst.args),
                }
            }
        }
    }

    fn need_derivatives(&self, walk: &mut Walk<'_>, value: Value) {
        let ty = self.func.ty(value);
        if !is_float(ty) || std::mem::replace(&mut walk.demand.derived[value.0 as usize], true) {
            return;
        }
        match self.defs[value.0 as usize] {
            ValueDef::Undefined | ValueDef::Param(BlockId(0), _) => {}
            ValueDef::Param(block, i) => self.arguments(block, i).for_each(|arg| walk.derive(&[arg])),
            ValueDef::Inst(block, i) => {
                let inst = &self.func.block(block).insts[i as usize];
                match &inst.op {
                    Op::Seed => walk.live(&inst.args[1..]),
                    // A derivative of a derivative counts as 0.
                    Op::Du | Op::Dv => {}
                    Op::SlotLoad(slot) => {
                        walk.demand.slots[slot.0 as usize] = true;
                        walk.derive(&self.stores[slot.0 as usize]);
                    }
                    Op::Call(name) => {
                        let Some(callee) = walk.needs.function(name) else { return };
                        let Some(i) = inst.results.iter().position(|r| *r == value) else { return };
                        let needs = walk.needs;
                        let fed = needs.by_result(callee, i).iter().zip(&inst.args).filter(|(needed, _)| **needed);
                        fed.for_each(|(_, &arg)| walk.derive(&[arg]));
                    }
                    Op::CallShader(_) => walk.demand.rays.push(inst.loc),
                    // An entry reads the hit that it was called for, which its seeds stand before.
                    Op::Hit if !self.func.kind.is_entry() => {
                        walk.demand.rays.push(inst.loc);
                    }
                    op => {
                        let through = differentiable(op, &inst.args);
                        walk.derive(through);
                        if !through.is_empty() {
                            // The chain rule multiplies by the operands' values.
                            walk.live(&inst.args);
                        }
                    }
                }
            }
        }
    }
}
