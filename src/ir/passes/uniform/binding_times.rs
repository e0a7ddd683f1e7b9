//! Binding-time analysis: which values of a function are known when its uniform parameters are.
//!
//! A value is uniform when it is computed from uniform values by operations that depend on nothing
//! else; a block parameter also needs every branch that decides which jump reaches it to be
//! uniform. Everything else is varying. (Jones, Gomard, Sestoft: "Partial Evaluation and Automatic
//! Program Generation", 1993, chapter 4; divergence of branches as in Karrenberg and Hack,
//! "Whole-Function Vectorization", 2011.)

use crate::dominators::{self, Dominators};
use crate::{BlockId, Function, Op, Terminator, Value};
use shadewright_base::uniformity::Graph;
use std::collections::HashSet;
use std::sync::Arc;

/// The binding times of a function's values.
pub(super) struct BindingTimes {
    /// True if each value is varying.
    varying: Vec<bool>,
    /// True if a varying branch decides that a block runs.
    is_conditional: Vec<bool>,
    /// The immediate post-dominators.
    joins: Vec<Option<BlockId>>,
    /// Where each uniform value can first be computed.
    homes: Vec<BlockId>,
}

impl BindingTimes {
    /// The binding times of a function with these uniform parameters; `pure` are the functions
    /// whose results depend on their arguments alone.
    pub(super) fn new(func: &Function, tree: &Dominators, uniform: &[bool], pure: &HashSet<Arc<str>>) -> Self {
        let graph = dominators::graph(func);
        let mut times = Self {
            varying: vec![false; func.values.len()],
            is_conditional: vec![false; func.blocks.len()],
            joins: graph.post_dominators().into_iter().map(|b| b.map(BlockId)).collect(),
            homes: vec![BlockId(0); func.values.len()],
        };
        for (&param, _) in func.param_values().iter().zip(uniform).filter(|(_, uniform)| !**uniform) {
            times.varying[param.0 as usize] = true;
        }
        let mut diverged = vec![false; func.blocks.len()];
        times.propagate(func, tree, pure);
        while times.diverge(func, tree, &graph, &mut diverged) {
            times.propagate(func, tree, pure);
        }
        times.place(func, tree);
        times
    }

    /// True if a value is uniform.
    pub(super) fn is_uniform(&self, value: Value) -> bool {
        !self.varying[value.0 as usize]
    }

    /// The block in which a uniform value can first be computed. No varying branch decides that it
    /// runs.
    pub(super) fn home(&self, value: Value) -> BlockId {
        self.homes[value.0 as usize]
    }

    /// The block at which code that knows uniform values alone continues after a jump to `target`;
    /// `None` for the return.
    pub(super) fn resolve(&self, target: BlockId) -> Option<BlockId> {
        let mut at = target;
        while self.is_conditional[at.0 as usize] {
            at = self.joins[at.0 as usize]?;
        }
        Some(at)
    }

    /// [`Self::resolve`] after a block that ends with a varying branch.
    pub(super) fn after(&self, block: BlockId) -> Option<BlockId> {
        self.resolve(self.joins[block.0 as usize]?)
    }

    /// Finds what is computed from varying values.
    fn propagate(&mut self, func: &Function, tree: &Dominators, pure: &HashSet<Arc<str>>) {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            let mut vary = |varying: &mut Vec<bool>, value: Value| {
                changed |= !std::mem::replace(&mut varying[value.0 as usize], true);
            };
            for &id in tree.order() {
                let block = func.block(id);
                for inst in &block.insts {
                    let is_computed = match &inst.op {
                        Op::Call(name) => pure.contains(name),
                        Op::Load(_) | Op::Uniform(_) => false,
                        op => op.is_pure(),
                    };
                    if !is_computed || inst.args.iter().any(|a| self.varying[a.0 as usize]) {
                        inst.results.iter().for_each(|r| vary(&mut self.varying, *r));
                    }
                }
                for target in block.term.targets() {
                    let passed = func.block(target.block).params.iter().zip(&target.args);
                    for (param, arg) in passed {
                        if self.varying[arg.0 as usize] {
                            vary(&mut self.varying, *param);
                        }
                    }
                }
            }
        }
    }

    /// Marks what runs between each varying branch and the block where its paths meet, and the
    /// parameters of all those blocks. Returns whether there is a branch that is not among the
    /// `diverged` ones yet.
    fn diverge(&mut self, func: &Function, tree: &Dominators, graph: &Graph, diverged: &mut [bool]) -> bool {
        let mut found = false;
        for &id in tree.order() {
            let Terminator::Branch(condition, ..) = func.block(id).term else { continue };
            if self.is_uniform(condition) || std::mem::replace(&mut diverged[id.0 as usize], true) {
                continue;
            }
            found = true;
            let join = self.joins[id.0 as usize];
            join.iter().for_each(|join| self.vary(func, *join));
            for block in graph.region(id.0, join.map(|join| join.0)).into_iter().map(BlockId) {
                self.is_conditional[block.0 as usize] = true;
                self.vary(func, block);
            }
        }
        found
    }

    /// Makes the parameters of a block varying.
    fn vary(&mut self, func: &Function, block: BlockId) {
        func.block(block).params.iter().for_each(|p| self.varying[p.0 as usize] = true);
    }

    /// Finds where each uniform value can first be computed: in the deepest of the blocks of its
    /// operands, which all dominate it.
    fn place(&mut self, func: &Function, tree: &Dominators) {
        for &id in tree.order() {
            let block = func.block(id);
            block.params.iter().for_each(|p| self.homes[p.0 as usize] = id);
            for inst in &block.insts {
                let deeper = |home: BlockId, arg: &Value| {
                    let own = self.homes[arg.0 as usize];
                    if tree.dominates(home, own) { own } else { home }
                };
                let home = inst.args.iter().fold(BlockId(0), deeper);
                inst.results.iter().for_each(|r| self.homes[r.0 as usize] = home);
            }
        }
    }
}
