//! Speculation: both sides of a short branch are computed, and `select` takes one.
//!
//! It takes a function and gives one with fewer blocks, for [`super::sections`]: what a select
//! gives can be recomputed after a ray, what a branch gives is live across it. It is no pass of the
//! pipeline: a back end with independent threads runs the short side alone.

use super::simplify_cfg;
use crate::{BlockId, Function, Inst, Op, Target, Terminator, Value};

/// Runs it on branches whose sides take at most `max_operations`, constants not counted
/// ([`crate::TargetInfo::speculated_operations`]); returns the number of branches that went.
pub fn run(func: &mut Function, max_operations: usize) -> usize {
    let mut count = 0;
    loop {
        let mut entered = vec![0; func.blocks.len()];
        func.blocks.iter().flat_map(|b| b.term.targets()).for_each(|t| entered[t.block.0 as usize] += 1);
        let found = func.block_ids().find_map(|block| Some((block, choice(func, block, &entered, max_operations)?)));
        let Some((block, choice)) = found else { return count };
        choose(func, block, choice);
        simplify_cfg::run(func);
        count += 1;
    }
}

/// A branch whose sides meet at once: what is computed on the way, and what the block where they
/// meet gets from either.
struct Choice {
    condition: Value,
    insts: Vec<Inst>,
    meet: BlockId,
    then: Vec<Value>,
    otherwise: Vec<Value>,
}

fn choice(func: &Function, block: BlockId, entered: &[usize], max_operations: usize) -> Option<Choice> {
    let Terminator::Branch(condition, then, otherwise) = &func.block(block).term else { return None };
    let [then_way, other_way] = [then, otherwise].map(|target| way(func, target, entered, max_operations));
    let direct = |target: &Target| (Vec::new(), target.clone());
    let ((mut insts, then), (more, otherwise)) = match (then_way, other_way) {
        (Some(a), Some(b)) if a.1.block == b.1.block => (a, b),
        (Some(a), _) if a.1.block == otherwise.block => (a, direct(otherwise)),
        (_, Some(b)) if b.1.block == then.block => (direct(then), b),
        _ => return None,
    };
    insts.extend(more);
    let meet = then.block;
    // A loop keeps its one way back.
    (meet != block).then_some(Choice { condition: *condition, insts, meet, then: then.args, otherwise: otherwise.args })
}

/// A block that nothing but the branch enters and that does little: what it computes, and where it
/// goes.
fn way(func: &Function, target: &Target, entered: &[usize], max_operations: usize) -> Option<(Vec<Inst>, Target)> {
    let block = func.block(target.block);
    let Terminator::Jump(next) = &block.term else { return None };
    let insts: Vec<Inst> = block.insts.iter().filter(|i| !matches!(i.op, Op::Debug(_))).cloned().collect();
    let is_quick = |inst: &Inst| inst.op.is_pure() && !matches!(inst.op, Op::Load(_));
    let operations = insts.iter().filter(|i| !matches!(i.op, Op::Const(_))).count();
    let is_short = operations <= max_operations && insts.iter().all(is_quick);
    let is_own = entered[target.block.0 as usize] == 1 && block.params.is_empty() && next.block != target.block;
    (is_short && is_own).then(|| (insts, next.clone()))
}

fn choose(func: &mut Function, block: BlockId, choice: Choice) {
    let loc = func.block(block).term_loc;
    let mut insts = choice.insts;
    let mut args = Vec::new();
    for (&then, &otherwise) in choice.then.iter().zip(&choice.otherwise) {
        if then == otherwise {
            args.push(then);
            continue;
        }
        let result = func.new_value(func.ty(then));
        let operands = vec![choice.condition, then, otherwise];
        insts.push(Inst { op: Op::Select, args: operands, results: vec![result], loc });
        args.push(result);
    }
    let block = func.block_mut(block);
    block.insts.extend(insts);
    block.term = Terminator::Jump(Target { block: choice.meet, args });
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn a_branch_around_a_few_operations_becomes_a_choice() {
        check(
            |f| super::run(f, 8),
            "fn f(v0 c: bool, v1 x: f32) -> (r: f32) {
b0:
  br v0, b1, b2(v1)
b1:
  v2: f32 = neg v1
  jump b2(v2)
b2(v3: f32):
  v4: f32 = add v3, v1
  ret v4
}",
            "fn f(v0 c: bool, v1 x: f32) -> (r: f32) {
b0:
  v2: f32 = neg v1
  v5: f32 = select v0, v2, v1
  v4: f32 = add v5, v1
  ret v4
}",
        );
    }

    #[test]
    fn both_sides_may_do_something_and_branches_may_lie_within_one_another() {
        check(
            |f| super::run(f, 8),
            "fn f(v0 c: bool, v1 d: bool, v2 x: f32) -> (r: f32) {
b0:
  br v0, b1, b4
b1:
  br v1, b2, b3(v2)
b2:
  v3: f32 = neg v2
  jump b3(v3)
b3(v4: f32):
  jump b5(v4)
b4:
  v5: f32 = abs v2
  jump b5(v5)
b5(v6: f32):
  ret v6
}",
            "fn f(v0 c: bool, v1 d: bool, v2 x: f32) -> (r: f32) {
b0:
  v3: f32 = neg v2
  v7: f32 = select v1, v3, v2
  v5: f32 = abs v2
  v8: f32 = select v0, v7, v5
  ret v8
}",
        );
    }

    #[test]
    fn calls_loads_rays_and_loops_stay_behind_their_branches() {
        for side in
            ["v3: vec4 = load v2, 0", "v3: f32 = call g(v1)", "v3: bool = occluded v4, v4, v5", "slot_store s0, v6, v1"]
        {
            let text = format!(
                "fn g(v0 x: f32) -> (r: f32) {{
b0:
  v1: f32 = neg v0
  ret v1
}}

fn f(v0 c: bool, v1 x: f32, v2 a: ref, v4 p: vec3, v5 q: vec4, v6 i: u32) -> (r: f32) {{
  slot s0 t: f32[2]
b0:
  br v0, b1, b2
b1:
  {side}
  jump b2
b2:
  ret v1
}}"
            );
            let mut module = super::super::testing::module(&text);
            assert_eq!(super::run(&mut module.functions[1], 8), 0, "{side}");
        }
    }
}
