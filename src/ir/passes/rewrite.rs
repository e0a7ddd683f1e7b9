//! The walk of peephole passes: it offers each instruction, after the definitions of its operands,
//! to a rule.

use super::replace::Replacements;
use crate::{Const, Function, Inst, Op, Type, Value};

/// The result of a rule for an instruction.
pub(super) enum Rewrite {
    /// The instruction's result is this value.
    Value(Value),
    /// It computes this instead.
    Inst(Op, Vec<Value>),
}

/// How the values that have been walked over are computed.
pub(super) struct Definitions {
    of: Vec<Option<(Op, Vec<Value>)>>,
    types: Vec<Type>,
}

impl Definitions {
    /// Operation and operands of a value that an instruction defines alone.
    pub(super) fn get(&self, value: Value) -> Option<(&Op, &[Value])> {
        self.of[value.0 as usize].as_ref().map(|(op, args)| (op, &args[..]))
    }

    /// The operands of a value that `op` computes.
    pub(super) fn args_of(&self, value: Value, op: &Op) -> Option<&[Value]> {
        self.get(value).filter(|d| d.0 == op).map(|d| d.1)
    }

    /// The constant that a value is.
    pub(super) fn constant(&self, value: Value) -> Option<&Const> {
        match self.get(value) {
            Some((Op::Const(c), _)) => Some(c),
            _ => None,
        }
    }

    /// The type of a value.
    pub(super) fn ty(&self, value: Value) -> Type {
        self.types[value.0 as usize]
    }
}

/// Rules may apply to each other's results; this bounds how often at one instruction.
const MAX_STEPS: usize = 8;

/// Offers every instruction with one result to `rule` until it declines, and replaces what it
/// replaces. Returns the number of rewrites.
///
/// Reachable blocks are walked in reverse postorder, so definitions come before the uses that they
/// dominate.
pub(super) fn rewrite(
    func: &mut Function,
    rule: impl Fn(&Definitions, &Op, &[Value], Type) -> Option<Rewrite>,
) -> usize {
    let mut replaced = Replacements::new(func);
    let mut defs = Definitions { of: vec![None; func.values.len()], types: func.values.clone() };
    let mut rewrites = 0;
    for id in func.reverse_postorder() {
        let insts = std::mem::take(&mut func.block_mut(id).insts);
        let mut kept: Vec<Inst> = Vec::with_capacity(insts.len());
        for mut inst in insts {
            inst.args.iter_mut().for_each(|a| *a = replaced.get(*a));
            if let [result] = inst.results[..] {
                let mut gone = false;
                for _ in 0..MAX_STEPS {
                    match rule(&defs, &inst.op, &inst.args, defs.ty(result)) {
                        None => break,
                        Some(Rewrite::Inst(op, args)) => (inst.op, inst.args) = (op, args),
                        Some(Rewrite::Value(value)) => {
                            replaced.set(result, value);
                            gone = true;
                        }
                    }
                    rewrites += 1;
                    if gone {
                        break;
                    }
                }
                if gone {
                    continue;
                }
                defs.of[result.0 as usize] = Some((inst.op.clone(), inst.args.clone()));
            }
            kept.push(inst);
        }
        func.block_mut(id).insts = kept;
    }
    replaced.apply(func);
    rewrites
}
