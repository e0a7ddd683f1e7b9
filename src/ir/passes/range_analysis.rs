//! Range analysis: removes clamps and absolute values, and folds comparisons, that the range of a
//! value decides.
//!
//! One walk in reverse postorder computes the range of each float ([`super::range`]) from those of
//! its operands. A block parameter has the union of the ranges that jumps pass; one of a loop
//! header has no bounds. Then `max(0, dot(v, v))` is `dot(v, v)`, and `dot(v, v) < 0` is false.
//!
//! Comparisons are folded only where NaN would give the same; the other rules may let a NaN through
//! that a clamp would have replaced, and change nothing else.

use super::range::{Range, range_of};
use super::replace::Replacements;
use crate::dominators::Dominators;
use crate::{BlockId, Const, Function, Inst, Op, Value};

/// Runs the pass; returns the number of instructions decided.
pub fn run(func: &mut Function) -> usize {
    let tree = Dominators::new(func);
    let mut ranges = vec![Range::ALL; func.values.len()];
    let mut seen = vec![false; func.values.len()];
    let mut done = vec![false; func.blocks.len()];
    let incoming = super::value_numbering::jumps(func, &tree);
    let mut replaced = Replacements::new(func);
    let mut decided = 0;
    for &id in tree.order() {
        if id != BlockId(0) && incoming[id.0 as usize].iter().all(|(from, _)| done[from.0 as usize]) {
            for &(from, way) in &incoming[id.0 as usize] {
                let Some(target) = func.block(from).term.targets().nth(way) else { continue };
                for (&param, &arg) in func.block(id).params.iter().zip(&target.args) {
                    let range = ranges[arg.0 as usize];
                    let known = &mut ranges[param.0 as usize];
                    *known = if std::mem::replace(&mut seen[param.0 as usize], true) { known.or(range) } else { range };
                }
            }
        }
        let mut insts = std::mem::take(&mut func.block_mut(id).insts);
        insts.retain_mut(|inst| {
            let &[result] = &inst.results[..] else { return true };
            let of = |v: &Value| ranges[v.0 as usize];
            match decide(inst, of) {
                Some(Decision::Is(value)) => {
                    replaced.set(result, value);
                    ranges[result.0 as usize] = of(&value);
                    decided += 1;
                    return false;
                }
                Some(Decision::Never(truth)) => {
                    (inst.op, inst.args) = (Op::Const(Const::Bool(truth)), Vec::new());
                    decided += 1;
                }
                None if inst.op.is_pure() => {
                    let args: Vec<Range> = inst.args.iter().map(of).collect();
                    let same = inst.args.windows(2).all(|w| w[0] == w[1]);
                    let operand = inst.args.first().map(|&a| func.ty(a));
                    ranges[result.0 as usize] = range_of(&inst.op, &args, same, operand);
                }
                None => {}
            }
            true
        });
        func.block_mut(id).insts = insts;
        done[id.0 as usize] = true;
    }
    replaced.apply(func);
    decided
}

/// The decision on an instruction that follows from ranges.
enum Decision {
    /// The result is this operand.
    Is(Value),
    /// The difference it tests never is so, NaN included; its result is this.
    Never(bool),
}

fn decide(inst: &Inst, of: impl Fn(&Value) -> Range) -> Option<Decision> {
    let is = |v: Value| Some(Decision::Is(v));
    match (&inst.op, &inst.args[..]) {
        // The sign of a NaN is lost.
        (Op::Abs, &[a]) if of(&a).is_not_negative() => is(a),
        // NaN stays NaN.
        (Op::Sat, &[a]) if of(&a).is_saturated() => is(a),
        // `b < a ? b : a`: of equal numbers, zeros of different sign among them, the first; NaN as
        // the second gives the first.
        (Op::Min, &[a, b]) if of(&a).high <= of(&b).low => is(a),
        (Op::Min, &[a, b]) if of(&b).is_below(of(&a)) => is(b),
        (Op::Max, &[a, b]) if of(&b).high <= of(&a).low => is(a),
        (Op::Max, &[a, b]) if of(&a).is_below(of(&b)) => is(b),
        // a − b < 0.
        (Op::Lt, [a, b]) if of(b).high <= of(a).low => Some(Decision::Never(false)),
        // b − a >= 0.
        (Op::Le, [a, b]) if of(b).high < of(a).low => Some(Decision::Never(false)),
        (Op::Eq | Op::Ne, [a, b]) if of(a).high < of(b).low || of(b).high < of(a).low => {
            Some(Decision::Never(inst.op == Op::Ne))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn clamps_and_comparisons_that_a_range_decides_go() {
        check(
            super::run,
            "fn f(v0 p: vec3, v1 x: f32) -> (a: f32, b: f32, c: f32, d: bool, e: bool, g: bool) {
b0:
  v2: f32 = const 0.0
  v3: f32 = const 1.0
  v4: f32 = dot v0, v0
  v5: f32 = max v2, v4
  v6: f32 = sqrt v5
  v7: f32 = abs v6
  v8: f32 = sat v1
  v9: f32 = mul v8, v8
  v10: f32 = sat v9
  v11: f32 = min v10, v3
  v12: bool = lt v7, v2
  v13: f32 = add v4, v3
  v14: bool = eq v13, v2
  v15: bool = le v2, v4
  ret v7, v11, v4, v12, v14, v15
}",
            "fn f(v0 p: vec3, v1 x: f32) -> (a: f32, b: f32, c: f32, d: bool, e: bool, g: bool) {
b0:
  v2: f32 = const 0.0
  v3: f32 = const 1.0
  v4: f32 = dot v0, v0
  v6: f32 = sqrt v4
  v8: f32 = sat v1
  v9: f32 = mul v8, v8
  v12: bool = const false
  v13: f32 = add v4, v3
  v14: bool = const false
  v15: bool = le v2, v4
  ret v6, v9, v4, v12, v14, v15
}",
        );
    }

    #[test]
    fn a_parameter_holds_what_the_jumps_bring_and_around_a_loop_anything() {
        let text = |limit: &str| {
            format!(
                "fn f(v0 x: f32, v1 c: bool) -> (p: f32, q: f32) {{
b0:
  v2: f32 = const 0.0
  v3: f32 = sat v0
  v4: f32 = frac v0
  br v1, b1(v3), b1(v4)
b1(v5: f32):
{limit}  jump b2(v5)
b2(v7: f32):
  v8: f32 = max v2, v7
  v9: f32 = sub v8, v3
  br v1, b2(v9), b3
b3:
  ret {}, v9
}}",
                if limit.is_empty() { "v5" } else { "v6" }
            )
        };
        check(super::run, &text("  v6: f32 = max v2, v5\n"), &text(""));
    }

    #[test]
    fn a_zero_of_unknown_sign_keeps_what_tells_it() {
        // −0 comes out of the negation, so the magnitude and the clamp are needed.
        let text = "fn f(v0 x: f32) -> (p: f32, q: f32) {
b0:
  v1: f32 = const 0.0
  v2: f32 = sat v0
  v3: f32 = neg v2
  v4: f32 = max v3, v1
  v5: f32 = abs v4
  ret v4, v5
}";
        check(super::run, text, text);
    }
}
