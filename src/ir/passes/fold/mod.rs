//! Constant folding, algebraic simplification, and branches whose way is known.

mod algebra;

pub(super) use algebra::is_commutative;

use super::rewrite::{Definitions, Rewrite, rewrite};
use crate::fold::eval_op;
use crate::{Const, Function, Inst, Loc, Op, Target, Terminator, Type, Value};
use std::collections::HashMap;

/// Runs the pass; returns the number of changes.
pub fn run(func: &mut Function) -> usize {
    rewrite(func, rule) + branches(func)
}

fn rule(defs: &Definitions, op: &Op, args: &[Value], ty: Type) -> Option<Rewrite> {
    if !op.is_pure() || matches!(op, Op::Const(_)) {
        return None;
    }
    let constants: Option<Vec<&Const>> = args.iter().map(|&a| defs.constant(a)).collect();
    let folded = constants.filter(|c| !c.is_empty()).and_then(|c| eval_op(op, &c, ty));
    match folded {
        Some(c) => Some(Rewrite::Inst(Op::Const(c), vec![])),
        None => algebra::simplify(defs, op, args, ty),
    }
}

/// Turns branches that go one way, or to one block, into jumps.
fn branches(func: &mut Function) -> usize {
    let mut truths: HashMap<Value, bool> = HashMap::new();
    let mut negations: HashMap<Value, Value> = HashMap::new();
    for inst in func.blocks.iter().flat_map(|b| &b.insts) {
        match (&inst.op, &inst.args[..], &inst.results[..]) {
            (Op::Const(Const::Bool(b)), [], [r]) => drop(truths.insert(*r, *b)),
            (Op::Not, [a], [r]) => drop(negations.insert(*r, *a)),
            _ => {}
        }
    }
    let mut changes = 0;
    for id in func.block_ids() {
        let Terminator::Branch(condition, then, otherwise) = &func.block(id).term else { continue };
        let (condition, then, otherwise) = (*condition, then.clone(), otherwise.clone());
        let term = if let Some(&truth) = truths.get(&condition) {
            Terminator::Jump(if truth { then } else { otherwise })
        } else if then.block == otherwise.block {
            Terminator::Jump(join(func, id, condition, then, otherwise))
        } else if let Some(&inner) = negations.get(&condition) {
            Terminator::Branch(inner, otherwise, then)
        } else {
            continue;
        };
        func.block_mut(id).term = term;
        changes += 1;
    }
    changes
}

/// Both ways lead to one block: the arguments that differ become selections.
fn join(func: &mut Function, block: crate::BlockId, condition: Value, then: Target, otherwise: Target) -> Target {
    let loc: Loc = func.block(block).term_loc;
    let mut args = Vec::with_capacity(then.args.len());
    for (a, b) in then.args.into_iter().zip(otherwise.args) {
        if a == b {
            args.push(a);
            continue;
        }
        let result = func.new_value(func.ty(a));
        let inst = Inst { op: Op::Select, args: vec![condition, a, b], results: vec![result], loc };
        func.block_mut(block).insts.push(inst);
        args.push(result);
    }
    Target { block: then.block, args }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    /// Compares the expression `v9` on `x: f32`, `i: i32`, `c: bool`.
    #[track_caller]
    fn expression(before: &str, after: &str) {
        let result = |text: &str| {
            text.lines().last().and_then(|l| l.split_once(": ")?.1.split_once(' ')).map(|s| s.0.to_string())
        };
        let ty = result(before).unwrap_or_default();
        let function = |body: &str, value: &str| {
            let head = "fn f(v0 x: f32, v1 i: i32, v2 c: bool, v3 p: vec3) -> (return: ";
            let lines: String = body.lines().map(|l| format!("  {}\n", l.trim())).collect();
            format!("{head}{ty}) {{\nb0:\n{lines}  ret {value}\n}}")
        };
        let (kept, value) = after.rsplit_once('\n').unwrap_or(("", after));
        check(super::run, &function(before, "v9"), &function(kept, value.trim()));
    }

    #[test]
    fn constants_fold_through_every_kind_of_operation() {
        check(
            super::run,
            "fn f() -> (return: f32) {
b0:
  v0: f32 = const 2.0
  v1: f32 = rcp v0
  v2: vec3 = splat v1
  v3: f32 = dot v2, v2
  v4: i32 = to_int v3
  v5: f32 = to_float v4
  ret v5
}",
            "fn f() -> (return: f32) {
b0:
  v0: f32 = const 2.0
  v1: f32 = const 0.5
  v2: vec3 = const (0.5, 0.5, 0.5)
  v3: f32 = const 0.75
  v4: i32 = const 0
  v5: f32 = const 0.0
  ret v5
}",
        );
    }

    #[test]
    fn neutral_operands_vanish() {
        expression("v8: f32 = const 0.0\nv9: f32 = add v8, v0", "v8: f32 = const 0.0\nv0");
        expression("v8: f32 = const 1.0\nv9: f32 = mul v0, v8", "v8: f32 = const 1.0\nv0");
        expression("v8: vec3 = const (1.0, 1.0, 1.0)\nv9: vec3 = mul v3, v8", "v8: vec3 = const (1.0, 1.0, 1.0)\nv3");
        expression("v8: i32 = const 0\nv9: i32 = ior v1, v8", "v8: i32 = const 0\nv1");
        expression("v8: i32 = const -1\nv9: i32 = iand v8, v1", "v8: i32 = const -1\nv1");
        expression("v8: bool = const true\nv9: bool = and v2, v8", "v8: bool = const true\nv2");
    }

    #[test]
    fn products_with_zero_and_minus_one_are_known() {
        expression("v8: f32 = const 0.0\nv9: f32 = mul v0, v8", "v8: f32 = const 0.0\nv9: f32 = const 0.0\nv9");
        expression("v8: f32 = const -1.0\nv9: f32 = mul v8, v0", "v8: f32 = const -1.0\nv9: f32 = neg v0\nv9");
        expression("v8: i32 = const 0\nv9: i32 = imul v1, v8", "v8: i32 = const 0\nv9: i32 = const 0\nv9");
        expression("v9: i32 = ixor v1, v1", "v9: i32 = const 0\nv9");
    }

    #[test]
    fn negations_cancel_and_move_into_sums() {
        expression("v8: f32 = neg v0\nv9: f32 = neg v8", "v8: f32 = neg v0\nv0");
        expression("v8: vec3 = neg v3\nv9: vec3 = add v3, v8", "v8: vec3 = neg v3\nv9: vec3 = sub v3, v3\nv9");
        expression("v8: f32 = neg v0\nv9: f32 = sub v0, v8", "v8: f32 = neg v0\nv9: f32 = add v0, v0\nv9");
        expression("v8: f32 = neg v0\nv9: f32 = abs v8", "v8: f32 = neg v0\nv9: f32 = abs v0\nv9");
        expression("v8: bool = not v2\nv9: bool = not v8", "v8: bool = not v2\nv2");
    }

    #[test]
    fn clamps_to_the_unit_interval_become_saturation() {
        let constants = "v5: f32 = const 0.0\nv6: f32 = const 1.0\n";
        for clamp in [
            "v8: f32 = min v6, v0\nv9: f32 = max v5, v8",
            "v8: f32 = min v0, v6\nv9: f32 = max v8, v5",
            "v8: f32 = max v0, v5\nv9: f32 = min v8, v6",
            "v8: f32 = max v5, v0\nv9: f32 = min v6, v8",
        ] {
            let inner = clamp.lines().next().unwrap_or_default();
            expression(&format!("{constants}{clamp}"), &format!("{constants}{inner}\nv9: f32 = sat v0\nv9"));
        }
    }

    #[test]
    fn a_choice_of_the_smaller_or_larger_number_is_their_minimum_or_maximum() {
        let zero = "v6: f32 = const 0.0\n";
        for (test, chosen, result) in [
            ("lt v0, v6", "v6, v0", "max v0, v6"),
            ("lt v0, v6", "v0, v6", "min v6, v0"),
            ("lt v6, v0", "v6, v0", "min v0, v6"),
            ("lt v6, v0", "v0, v6", "max v6, v0"),
        ] {
            let test = format!("{zero}v8: bool = {test}");
            let before = format!("{test}\nv9: f32 = select v8, {chosen}");
            expression(&before, &format!("{test}\nv9: f32 = {result}\nv9"));
        }
    }

    #[test]
    fn a_choice_between_truth_values_is_the_condition() {
        let constants = "v7: bool = const true\nv8: bool = const false\n";
        expression(&format!("{constants}v9: bool = select v2, v7, v8"), &format!("{constants}v2"));
        expression(&format!("{constants}v9: bool = select v2, v8, v7"), &format!("{constants}v9: bool = not v2\nv9"));
        expression("v8: bool = const false\nv9: f32 = select v8, v0, v0", "v8: bool = const false\nv0");
    }

    #[test]
    fn a_comparison_of_a_float_with_itself_stays_as_it_tests_for_nan() {
        expression("v9: bool = eq v0, v0", "v9: bool = eq v0, v0\nv9");
        expression("v9: bool = ieq v1, v1", "v9: bool = const true\nv9");
    }

    #[test]
    fn a_branch_whose_way_is_known_becomes_a_jump() {
        check(
            super::run,
            "fn f(v0 x: f32, v1 c: bool) -> (return: f32) {
b0:
  v2: bool = const false
  br v2, b1, b2
b1:
  ret v0
b2:
  v3: bool = not v1
  br v3, b3(v0), b4
b3(v4: f32):
  ret v4
b4:
  v5: f32 = neg v0
  br v1, b3(v0), b3(v5)
}",
            "fn f(v0 x: f32, v1 c: bool) -> (return: f32) {
b0:
  v2: bool = const false
  jump b2
b1:
  ret v0
b2:
  v3: bool = not v1
  br v1, b4, b3(v0)
b3(v4: f32):
  ret v4
b4:
  v5: f32 = neg v0
  v6: f32 = select v1, v0, v5
  jump b3(v6)
}",
        );
    }
}
