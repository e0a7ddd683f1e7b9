//! The function that computes some uniform values from the uniform parameters alone.

use super::binding_times::BindingTimes;
use super::loops;
use crate::dominators::Dominators;
use crate::passes::{calls, dce, fold, simplify_cfg};
use crate::{
    BlockId, Function, FunctionBuilder, FunctionKind, FunctionOrigin, Inst, Op, Target, Terminator, Value, Variable,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The code of a function's uniform values.
pub(super) struct Slice {
    /// Takes the parameters that it needs, and returns the values.
    pub(super) function: Function,
    /// The numbers of these parameters among those of the whole function.
    pub(super) params: Vec<usize>,
}

/// The function that computes `values`, which are uniform: the last value that each has. One whose
/// code does not run is zero. `pure` are the functions whose results depend on their arguments
/// alone.
pub(super) fn slice(
    func: &Function,
    tree: &Dominators,
    times: &BindingTimes,
    pure: &HashSet<Arc<str>>,
    values: &[Value],
    name: Arc<str>,
) -> Slice {
    let builder = FunctionBuilder::new(name, FunctionKind::Function).with_origin(FunctionOrigin::Linker);
    let mut function =
        Slicer { func, times, b: builder, values: HashMap::new(), blocks: HashMap::new() }.build(tree, values);
    function.loc = func.loc;
    loop {
        let changes = dce::run(&mut function) + calls::remove_unused(&mut function, pure) + fold::run(&mut function);
        if changes + simplify_cfg::run(&mut function) + loops::remove_empty(&mut function, |_| true) == 0 {
            break;
        }
    }
    let is_used = used(&function);
    let numbers = function.param_values().iter().enumerate().filter(|(_, p)| is_used[p.0 as usize]);
    let params = numbers.map(|(i, _)| i).collect();
    function.drop_unused_params(0);
    Slice { function, params }
}

/// True if each value is an operand. Variables that a debugger shows do not count: with them a shader
/// is split as without.
pub(super) fn used(func: &Function) -> Vec<bool> {
    let mut used = vec![false; func.values.len()];
    for block in &func.blocks {
        let insts = block.insts.iter().filter(|i| i.op.is_printed() || !matches!(i.op, Op::Debug(_)));
        insts.flat_map(|i| &i.args).for_each(|a| used[a.0 as usize] = true);
        block.term.for_each_arg(|a| used[a.0 as usize] = true);
    }
    used
}

struct Slicer<'a> {
    func: &'a Function,
    times: &'a BindingTimes,
    b: FunctionBuilder,
    /// The copies of values.
    values: HashMap<Value, Value>,
    /// The copies of blocks.
    blocks: HashMap<BlockId, BlockId>,
}

impl Slicer<'_> {
    fn build(mut self, tree: &Dominators, wanted: &[Value]) -> Function {
        let (func, times) = (self.func, self.times);
        for (param, &value) in func.params.iter().zip(func.param_values()) {
            let copy = self.b.implicit_param(param.name.clone(), param.ty);
            self.values.insert(value, copy);
        }
        let variables: Vec<_> = wanted.iter().map(|v| self.b.variable(func.ty(*v))).collect();
        for (i, value) in wanted.iter().enumerate() {
            self.b.result(format!("value.{i}"), func.ty(*value));
        }
        let order = self.reached();
        self.blocks.insert(BlockId(0), BlockId(0));
        for &id in order.iter().skip(1) {
            let block = self.b.block();
            self.blocks.insert(id, block);
            for &param in func.block(id).params.iter().filter(|p| times.is_uniform(**p)) {
                let copy = self.b.block_param(block, func.ty(param));
                self.values.insert(param, copy);
            }
        }
        let mut insts: HashMap<BlockId, Vec<&Inst>> = HashMap::new();
        for inst in tree.order().iter().flat_map(|id| &func.block(*id).insts) {
            if let Some(&first) = inst.results.first().filter(|r| times.is_uniform(**r)) {
                insts.entry(times.home(first)).or_default().push(inst);
            }
        }
        // A definition comes before its uses in reverse postorder, and the order of blocks here is a
        // part of that.
        for &id in &order {
            self.b.switch_to(self.blocks[&id]);
            insts.get(&id).into_iter().flatten().for_each(|inst| self.copy(inst));
            for (variable, value) in variables.iter().zip(wanted) {
                if times.home(*value) == id {
                    self.b.write(*variable, self.values[value]);
                }
            }
            self.end(id, &variables);
        }
        self.b.finish()
    }

    /// The blocks that uniform code passes, in reverse postorder.
    fn reached(&self) -> Vec<BlockId> {
        let mut reached = vec![false; self.func.blocks.len()];
        let mut work = vec![BlockId(0)];
        while let Some(id) = work.pop() {
            if !std::mem::replace(&mut reached[id.0 as usize], true) {
                work.extend(self.successors(id));
            }
        }
        let order = self.func.reverse_postorder();
        order.into_iter().filter(|id| reached[id.0 as usize]).collect()
    }

    /// The blocks at which uniform code continues.
    fn successors(&self, id: BlockId) -> Vec<BlockId> {
        match &self.func.block(id).term {
            Terminator::Branch(condition, ..) if !self.times.is_uniform(*condition) => {
                self.times.after(id).into_iter().collect()
            }
            term => term.targets().filter_map(|t| self.times.resolve(t.block)).collect(),
        }
    }

    fn copy(&mut self, inst: &Inst) {
        let args = inst.args.iter().map(|a| self.values[a]).collect();
        let types: Vec<_> = inst.results.iter().map(|r| self.func.ty(*r)).collect();
        self.b.loc = inst.loc;
        let copies = self.b.inst(inst.op.clone(), args, &types);
        self.values.extend(inst.results.iter().copied().zip(copies));
    }

    /// Ends the copy of a block.
    fn end(&mut self, id: BlockId, variables: &[Variable]) {
        self.b.loc = self.func.block(id).term_loc;
        let edges = match &self.func.block(id).term {
            Terminator::Return(_) => Vec::new(),
            Terminator::Branch(condition, ..) if !self.times.is_uniform(*condition) => {
                self.times.after(id).map(|to| (to, Vec::new())).into_iter().collect()
            }
            Terminator::Branch(condition, then, otherwise) => {
                let edges = [then, otherwise].map(|t| self.edge(t));
                let condition = self.values[condition];
                let ways = edges.map(|edge| (self.b.block(), edge));
                self.b.branch(condition, ways[0].0, ways[1].0);
                for (block, edge) in ways {
                    self.b.switch_to(block);
                    self.leave(edge, variables);
                }
                return;
            }
            Terminator::Jump(target) => self.edge(target).into_iter().collect(),
        };
        self.leave(edges.into_iter().next(), variables);
    }

    /// Where a jump leads, with its arguments; `None` for the return.
    fn edge(&self, target: &Target) -> Option<(BlockId, Vec<Value>)> {
        let to = self.times.resolve(target.block)?;
        if to != target.block {
            // Paths that varying branches choose meet there, so its parameters are varying.
            return Some((to, Vec::new()));
        }
        let passed = self.func.block(to).params.iter().zip(&target.args);
        let uniform = passed.filter(|(param, _)| self.times.is_uniform(**param));
        Some((to, uniform.map(|(_, arg)| self.values[arg]).collect()))
    }

    /// Ends the current block with a jump, or with the return of the results.
    fn leave(&mut self, edge: Option<(BlockId, Vec<Value>)>, variables: &[Variable]) {
        match edge {
            Some((to, args)) => self.b.jump(self.blocks[&to], args),
            None => {
                let results = variables.iter().map(|v| self.b.read(*v)).collect();
                self.b.ret(results);
            }
        }
    }
}
