//! A function of the IR as a flow of the uniformity analysis.

use crate::abi::{Intrinsic, LaneIntrinsic};
use crate::{Const, Function, Inlining, Inst, Module, Op, Terminator, Type};
use shadewright_base::uniformity::{Edge, Flow, Node, Rule, Step, Uniformity};
use std::collections::HashMap;
use std::sync::Arc;

/// A function as a flow. Its values keep their numbers; arrays, and the results at the end, follow.
pub(super) struct Described {
    flow: Flow,
    params: Vec<u32>,
    /// The values of the results.
    pub(super) results: Vec<u32>,
    /// The functions of calls.
    pub(super) callees: Vec<usize>,
}

impl Described {
    /// The flow for parameters of this uniformity.
    pub(super) fn with_params(&self, uniformities: &[Uniformity]) -> Flow {
        let mut flow = self.flow.clone();
        self.params.iter().zip(uniformities).for_each(|(p, s)| flow.given[*p as usize] = Some(*s));
        flow
    }
}

/// The flow of a function: a node for each block, and one after the last for the end.
pub(super) fn describe(func: &Function, module: &Module, index: &HashMap<Arc<str>, usize>, lanes: u32) -> Described {
    let values = func.values.len();
    let (slots, results) = (func.slots.len(), func.results.len());
    let count = values + slots + results;
    let first_result = (values + slots) as u32;
    let end = func.blocks.len() as u32;
    let mut flow = Flow { given: vec![None; count], constants: vec![None; count], nodes: Vec::new(), lanes };
    // Arrays start with zeros.
    flow.given[values..values + slots].fill(Some(Uniformity::UNIFORM));
    let mut callees = Vec::new();
    for block in &func.blocks {
        let mut node = Node { params: block.params.iter().map(|p| p.0).collect(), ..Node::default() };
        for inst in &block.insts {
            if let (Op::Const(c), [r]) = (&inst.op, &inst.results[..])
                && is_integer(c.ty())
            {
                flow.constants[r.0 as usize] = c.bits().first().copied();
            }
            node.steps.push(step(func, inst, module, index, &mut callees));
        }
        match &block.term {
            Terminator::Return(values) => {
                node.edges = vec![Edge { to: end, args: values.iter().map(|v| v.0).collect() }];
            }
            term => {
                let edge = |t: &crate::Target| Edge { to: t.block.0, args: t.args.iter().map(|a| a.0).collect() };
                node.edges = term.targets().map(edge).collect();
                node.condition = if let Terminator::Branch(c, ..) = term { Some(c.0) } else { None };
            }
        }
        flow.nodes.push(node);
    }
    let results: Vec<u32> = (first_result..first_result + results as u32).collect();
    flow.nodes.push(Node { params: results.clone(), ..Node::default() });
    let params = func.param_values().iter().map(|p| p.0).collect();
    // The entry's parameters are given, as no edge leads to it.
    Described { flow, params, results, callees }
}

/// True if values of a type are integers, as far as bits are concerned.
pub(in crate::passes) fn is_integer(ty: Type) -> bool {
    matches!(ty, Type::I32 | Type::U32 | Type::Ref)
}

fn step(
    func: &Function,
    inst: &Inst,
    module: &Module,
    index: &HashMap<Arc<str>, usize>,
    callees: &mut Vec<usize>,
) -> Step {
    let mut args: Vec<u32> = inst.args.iter().map(|a| a.0).collect();
    let mut results: Vec<u32> = inst.results.iter().map(|r| r.0).collect();
    let slot = |s: crate::SlotId| func.values.len() as u32 + s.0;
    let rule = match &inst.op {
        Op::Const(c) => Rule::Given(constant(c)),
        Op::IAdd => Rule::Add,
        Op::ISub => Rule::Sub,
        Op::IMul => Rule::Mul,
        Op::IShl => Rule::ShiftLeft,
        Op::IShr => Rule::ShiftRight,
        Op::IAnd => Rule::And,
        Op::IEq => Rule::Equal,
        Op::Select => Rule::Select,
        Op::Bitcast if is_integer(func.ty(inst.args[0])) && is_integer(func.ty(inst.results[0])) => Rule::Copy,
        Op::SlotLoad(s) => {
            args.push(slot(*s));
            Rule::Pure
        }
        Op::SlotStore(s) => {
            results = vec![slot(*s)];
            Rule::Store
        }
        Op::Hit | Op::HitTri | Op::HitObj | Op::Occluded | Op::Visible(_) | Op::CallShader(_) => {
            Rule::Given(Uniformity::Varying)
        }
        Op::Call(name) => match LaneIntrinsic::parse(name) {
            Some((intrinsic, _)) => lane_rule(intrinsic),
            None => match index.get(name) {
                Some(&callee) if !is_opaque(&module.functions[callee]) => {
                    callees.push(callee);
                    Rule::Call(callees.len() - 1)
                }
                Some(_) => Rule::Pure,
                // What the linker will define depends on its arguments and on the scene.
                None if Intrinsic::parse(name).is_some() => Rule::Pure,
                None => Rule::Given(Uniformity::Varying),
            },
        },
        _ => Rule::Pure,
    };
    Step { rule, args, results }
}

/// True if a function is called as it is, once for each lane: its results depend on its arguments
/// alone, and another function may stand for its blocks.
pub(in crate::passes) fn is_opaque(func: &Function) -> bool {
    func.host.is_some() || func.inlining == Inlining::Native
}

fn constant(c: &Const) -> Uniformity {
    if is_integer(c.ty()) { Uniformity::constant(c.bits().first().copied().unwrap_or(0)) } else { Uniformity::UNIFORM }
}

fn lane_rule(intrinsic: LaneIntrinsic) -> Rule {
    match intrinsic {
        LaneIntrinsic::Index => Rule::Given(Uniformity::LANE),
        LaneIntrinsic::Shuffle => Rule::Pure,
        _ => Rule::Given(Uniformity::UNIFORM),
    }
}
