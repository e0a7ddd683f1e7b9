//! Which values change from point to point of a surface: forwards from seeds and parameters.

use super::demand::Needs;
use crate::{Function, Op, Type, Value};

/// The values and slots that may have derivatives other than 0.
#[derive(Debug)]
pub(super) struct Activity {
    /// For each value, whether it changes.
    pub(super) values: Vec<bool>,
    /// For each slot, whether an element changes.
    pub(super) slots: Vec<bool>,
}

/// True if a value of the type can have a derivative.
pub(super) fn is_float(ty: Type) -> bool {
    ty.lanes().is_some()
}

/// The operands through which the operation passes changes on.
pub(super) fn differentiable<'a>(op: &Op, args: &'a [Value]) -> &'a [Value] {
    match op {
        Op::Neg | Op::Abs | Op::Add | Op::Sub | Op::Mul | Op::Rcp | Op::Rsq | Op::Sqrt | Op::Frac => args,
        Op::Min | Op::Max | Op::Sat | Op::Dot | Op::Cross => args,
        Op::Compose | Op::Splat | Op::Extract(_) | Op::Insert(_) => args,
        Op::Select => &args[1..],
        _ => &[],
    }
}

impl Activity {
    /// In a function some of whose parameters change.
    pub(super) fn new(func: &Function, params: &[bool], needs: &Needs<'_>) -> Self {
        let mut active = Activity { values: vec![false; func.values.len()], slots: vec![false; func.slots.len()] };
        for (&value, &changes) in func.param_values().iter().zip(params) {
            active.values[value.0 as usize] = changes;
        }
        let order = func.reverse_postorder();
        // Loops take several rounds; values only ever become active.
        let mut changed = true;
        while changed {
            changed = false;
            for &id in &order {
                let block = func.block(id);
                for inst in &block.insts {
                    changed |= active.instruction(func, inst, needs);
                }
                for target in block.term.targets() {
                    for (&arg, &param) in target.args.iter().zip(&func.block(target.block).params) {
                        changed |= active.raise(param, active.is(arg));
                    }
                }
            }
        }
        active
    }

    /// True if the value changes.
    pub(super) fn is(&self, value: Value) -> bool {
        self.values[value.0 as usize]
    }

    fn raise(&mut self, value: Value, active: bool) -> bool {
        active && !std::mem::replace(&mut self.values[value.0 as usize], true)
    }

    fn instruction(&mut self, func: &Function, inst: &crate::Inst, needs: &Needs<'_>) -> bool {
        match (&inst.op, &inst.results[..]) {
            (Op::SlotStore(slot), _) => {
                let active = self.is(inst.args[1]);
                active && !std::mem::replace(&mut self.slots[slot.0 as usize], true)
            }
            (Op::SlotLoad(slot), &[result]) => self.raise(result, self.slots[slot.0 as usize]),
            (Op::Seed, &[result]) => self.raise(result, true),
            (Op::Call(name), results) => {
                let Some(callee) = needs.function(name) else { return false };
                let mut changed = false;
                for (i, &result) in results.iter().enumerate().filter(|(_, r)| is_float(func.ty(**r))) {
                    let mut fed = needs.by_result(callee, i).iter().zip(&inst.args);
                    let active = fed.any(|(&needed, &arg)| needed && self.is(arg));
                    changed |= self.raise(result, active);
                }
                changed
            }
            (op, &[result]) => {
                let active = differentiable(op, &inst.args).iter().any(|&a| self.is(a));
                self.raise(result, active)
            }
            _ => false,
        }
    }
}
