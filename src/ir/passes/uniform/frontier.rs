//! The frontier: the uniform values that varying code needs.

use super::binding_times::BindingTimes;
use crate::cycles::Components;
use crate::passes::cost::is_worth_keeping;
use crate::{BlockId, Function, Inst, Op, Terminator, Type, Value};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Values that are handed on, at most: they take registers where the rest runs.
const MAX_VALUES: usize = 96;

/// Where one number stands for a uniform value.
pub(super) struct Uses<'a> {
    pub(super) times: &'a BindingTimes,
    components: Components,
}

impl<'a> Uses<'a> {
    pub(super) fn new(func: &Function, times: &'a BindingTimes) -> Self {
        Self { times, components: func.components() }
    }

    /// True if a use in a block sees the last value that a uniform value had: it has one, or the
    /// block is outside of the loops that compute it.
    pub(super) fn sees_last(&self, value: Value, block: BlockId) -> bool {
        let (home, user) = (self.times.home(value).0 as usize, block.0 as usize);
        !self.components.is_cyclic(home) || self.components.of[home] != self.components.of[user]
    }
}

/// Finds the uniform values that varying code needs.
pub(super) struct Frontier<'a> {
    func: &'a Function,
    uses: &'a Uses<'a>,
    /// The definition of each value: an instruction and its block, or none where it is a parameter
    /// of a block.
    defs: Vec<Option<(BlockId, &'a Inst)>>,
}

impl<'a> Frontier<'a> {
    pub(super) fn new(func: &'a Function, uses: &'a Uses<'a>) -> Self {
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
    pub(super) fn values(&self) -> Vec<Value> {
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

    /// True if a value is better handed on than computed.
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
