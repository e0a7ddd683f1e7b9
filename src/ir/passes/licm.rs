//! Loop-invariant code motion: hoists what every iteration of a loop computes alike to the
//! preheader.
//!
//! A pure operation whose operands come from outside the loop is hoisted when every iteration would
//! compute it. (Nothing traps, so a loop without iterations wastes time but breaks nothing; loads
//! are hoisted only where entering the loop implies the load.) A hoisted result is live throughout
//! the loop: it takes a register, and is saved and restored at every call and ray. So the pass
//! counts the components that are live around the loop: their number stays within
//! [`TargetInfo::loop_live_components`], or does not grow; in a loop that calls or suspends it
//! never grows. What back ends read in place is hoisted only with an operation that is worth it.

use super::cost::is_worth_keeping;
use super::natural_loops::{MAX_BLOCKS, NaturalLoop, natural_loops, preheader};
use crate::dominators::Dominators;
use crate::{BlockId, Function, Inst, Op, TargetInfo, Value};
use std::collections::HashSet;

/// Instructions that are looked at in one run, all loops together: deep nests would take quadratic
/// time.
const MAX_WORK: usize = 400_000;

/// Runs the pass; returns the number of instructions moved.
pub fn run(func: &mut Function, target: &TargetInfo) -> usize {
    let tree = Dominators::new(func);
    let preds = func.predecessors();
    let loops = natural_loops(func, &tree, &preds, MAX_BLOCKS);
    if loops.is_empty() {
        return 0;
    }
    let mut home = vec![BlockId(0); func.values.len()];
    for id in func.block_ids() {
        let block = func.block(id);
        let defined = block.params.iter().chain(block.insts.iter().flat_map(|i| &i.results));
        defined.for_each(|v| home[v.0 as usize] = id);
    }
    let in_place = values_read_in_place(func);
    let mut inside = vec![false; func.blocks.len()];
    // Blocks that got a new neighbor which the tree does not know: loops around them wait for the
    // next round.
    let mut changed: HashSet<BlockId> = HashSet::new();
    let (mut moved, mut work) = (0, 0);
    for found in loops.iter().rev() {
        work += found.blocks.iter().map(|b| func.block(*b).insts.len()).sum::<usize>();
        if work > MAX_WORK {
            break;
        }
        if found.blocks.iter().any(|b| changed.contains(b)) {
            continue;
        }
        found.blocks.iter().for_each(|b| inside[b.0 as usize] = true);
        let look = Look { func, tree: &tree, found, inside: &inside, home: &home, in_place: &in_place };
        let chosen = look.choose(target.loop_live_components);
        found.blocks.iter().for_each(|b| inside[b.0 as usize] = false);
        if chosen.is_empty() {
            continue;
        }
        let (ahead, is_new) = preheader(func, found, &preds);
        if is_new {
            changed.insert(found.header());
        }
        for block in in_order(&tree, found) {
            let insts = std::mem::take(&mut func.block_mut(block).insts);
            let (go, stay): (Vec<Inst>, Vec<Inst>) = insts.into_iter().partition(|i| is_chosen(&chosen, i));
            go.iter().flat_map(|i| &i.results).for_each(|r| home[r.0 as usize] = ahead);
            moved += go.len();
            func.block_mut(block).insts = stay;
            func.block_mut(ahead).insts.extend(go);
        }
    }
    moved
}

/// The loop's blocks so that definitions come before the uses that they dominate.
fn in_order(tree: &Dominators, found: &NaturalLoop) -> Vec<BlockId> {
    let mut blocks = found.blocks.clone();
    blocks.sort_by_key(|&b| tree.position(b));
    blocks
}

fn is_chosen(chosen: &HashSet<Value>, inst: &Inst) -> bool {
    inst.results.first().is_some_and(|r| chosen.contains(r))
}

/// Constants and program constants: they take no register.
fn values_read_in_place(func: &Function) -> Vec<bool> {
    let mut in_place = vec![false; func.values.len()];
    for inst in func.blocks.iter().flat_map(|b| &b.insts) {
        if matches!(inst.op, Op::Const(_) | Op::Uniform(_)) {
            inst.results.iter().for_each(|r| in_place[r.0 as usize] = true);
        }
    }
    in_place
}

/// A loop under consideration.
struct Look<'a> {
    func: &'a Function,
    tree: &'a Dominators,
    found: &'a NaturalLoop,
    /// True if each block lies in the loop.
    inside: &'a [bool],
    /// Where each value is defined.
    home: &'a [BlockId],
    /// Values that take no register.
    in_place: &'a [bool],
}

impl Look<'_> {
    /// The results of the instructions to move, together with what they need.
    fn choose(&self, max_waiting: u32) -> HashSet<Value> {
        let invariant = self.invariant();
        let before = self.waiting(&HashSet::new());
        let limit = if self.suspends() { before } else { before.max(max_waiting) };
        let choice = self.closure(&invariant);
        if choice.is_empty() || self.waiting(&choice) <= limit { choice } else { HashSet::new() }
    }

    fn insts(&self) -> impl Iterator<Item = &Inst> {
        self.found.blocks.iter().flat_map(|&b| &self.func.block(b).insts)
    }

    /// Blocks that the pass made lead into other loops.
    fn is_inside(&self, block: BlockId) -> bool {
        self.inside.get(block.0 as usize).is_some_and(|&inside| inside)
    }

    fn is_outside(&self, value: Value) -> bool {
        !self.is_inside(self.home[value.0 as usize])
    }

    /// The invariant values: results of pure operations on values from outside, or on each other.
    fn invariant(&self) -> HashSet<Value> {
        let dominates_all = |b: BlockId, others: &[BlockId]| others.iter().all(|&o| self.tree.dominates(b, o));
        let leaves = |b: &BlockId| self.func.block(*b).term.targets().any(|t| !self.is_inside(t.block));
        let ends: Vec<BlockId> = self.found.blocks.iter().copied().filter(leaves).collect();
        let mut invariant = HashSet::new();
        for block in in_order(self.tree, self.found).into_iter().filter(|&b| dominates_all(b, &self.found.latches)) {
            let is_certain = dominates_all(block, &ends);
            for inst in &self.func.block(block).insts {
                let may_move = inst.op.is_pure() && (is_certain || !matches!(inst.op, Op::Load(_)));
                if let &[result] = &inst.results[..]
                    && may_move
                    && inst.args.iter().all(|&a| self.is_outside(a) || invariant.contains(&a))
                {
                    invariant.insert(result);
                }
            }
        }
        invariant
    }

    /// The invariant values that are worth moving, and those that they are made from.
    fn closure(&self, invariant: &HashSet<Value>) -> HashSet<Value> {
        let mut chosen: HashSet<Value> = HashSet::new();
        let insts = in_order(self.tree, self.found).into_iter().flat_map(|b| &self.func.block(b).insts);
        let movable: Vec<&Inst> = insts.filter(|i| is_chosen(invariant, i)).collect();
        // Uses come before what they use.
        for inst in movable.into_iter().rev() {
            let result = inst.results[0];
            if chosen.contains(&result) || is_worth_keeping(&inst.op, self.func.ty(result)) {
                chosen.insert(result);
                chosen.extend(inst.args.iter().filter(|a| invariant.contains(a)));
            }
        }
        chosen
    }

    /// Components of values from outside the loop that it uses, once `chosen` have moved out.
    fn waiting(&self, chosen: &HashSet<Value>) -> u32 {
        let mut used: HashSet<Value> = HashSet::new();
        let mut note = |v: Value| {
            if (self.is_outside(v) || chosen.contains(&v)) && !self.in_place[v.0 as usize] {
                used.insert(v);
            }
        };
        for inst in self.insts().filter(|i| !is_chosen(chosen, i) && !matches!(i.op, Op::Debug(_))) {
            inst.args.iter().for_each(|&a| note(a));
        }
        self.found.blocks.iter().for_each(|&b| self.func.block(b).term.for_each_arg(&mut note));
        used.iter().map(|&v| self.func.ty(v).words()).sum()
    }

    /// True if an iteration may call or suspend.
    fn suspends(&self) -> bool {
        self.insts().any(|i| i.op.suspends() || matches!(i.op, Op::Call(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use crate::TargetInfo;

    #[test]
    fn what_every_turn_computes_alike_is_computed_before_the_loop() {
        check(
            |f| super::run(f, &TargetInfo::DEFAULT),
            "fn f(v0 x: f32, v1 n: f32) -> (return: f32) {
b0:
  v2: f32 = const 0.0
  jump b1(v2, v2)
b1(v3: f32, v4: f32):
  v5: bool = lt v3, v1
  br v5, b2, b3
b2:
  v6: f32 = neg v0
  v7: f32 = rsq v6
  v8: f32 = add v4, v7
  v9: f32 = add v3, v0
  jump b1(v9, v8)
b3:
  ret v4
}",
            "fn f(v0 x: f32, v1 n: f32) -> (return: f32) {
b0:
  v2: f32 = const 0.0
  v6: f32 = neg v0
  v7: f32 = rsq v6
  jump b1(v2, v2)
b1(v3: f32, v4: f32):
  v5: bool = lt v3, v1
  br v5, b2, b3
b2:
  v8: f32 = add v4, v7
  v9: f32 = add v3, v0
  jump b1(v9, v8)
b3:
  ret v4
}",
        );
    }

    #[test]
    fn what_only_some_turns_compute_or_a_loop_may_not_read_stays() {
        let text = "fn f(v0 x: f32, v1 n: f32, v2 p: ref, v3 c: bool) -> (return: f32) {
b0:
  v4: f32 = const 0.0
  jump b1(v4)
b1(v5: f32):
  v6: bool = lt v5, v1
  br v6, b2, b5
b2:
  v7: vec4 = load v2, 0
  v8: f32 = extract.x v7
  br v3, b3, b4(v8)
b3:
  v9: f32 = rsq v0
  jump b4(v9)
b4(v10: f32):
  v11: f32 = add v5, v10
  jump b1(v11)
b5:
  ret v5
}";
        check(|f| super::run(f, &TargetInfo::DEFAULT), text, text);
    }

    #[test]
    fn a_loop_that_is_entered_from_two_sides_gets_a_block_ahead() {
        check(
            |f| super::run(f, &TargetInfo::DEFAULT),
            "fn f(v0 x: f32, v1 c: bool) -> (return: f32) {
b0:
  br v1, b1, b2(v0)
b1:
  v2: f32 = neg v0
  jump b2(v2)
b2(v3: f32):
  v4: f32 = rcp v0
  v5: f32 = add v3, v4
  v6: bool = lt v5, v0
  br v6, b2(v5), b3
b3:
  ret v5
}",
            "fn f(v0 x: f32, v1 c: bool) -> (return: f32) {
b0:
  br v1, b1, b4(v0)
b1:
  v2: f32 = neg v0
  jump b4(v2)
b2(v3: f32):
  v5: f32 = add v3, v4
  v6: bool = lt v5, v0
  br v6, b2(v5), b3
b3:
  ret v5
b4(v7: f32):
  v4: f32 = rcp v0
  jump b2(v7)
}",
        );
    }

    #[test]
    fn a_loop_that_waits_for_rays_keeps_what_would_be_saved_around_them() {
        let ray = |inside: &str, outside: &str| {
            format!(
                "fn f(v0 p: vec3, v1 a: vec4, v2 x: f32) -> (return: f32) {{
b0:
{outside}  jump b1(v2)
b1(v3: f32):
{inside}  v6: bool = occluded v0, v0, v1
  v7: f32 = mul v3, v2
  v8: f32 = mul v7, v5
  br v6, b1(v8), b2
b2:
  ret v8
}}"
            )
        };
        // `x` is needed in the loop anyway: its reciprocal would come on top.
        let text = ray("  v5: f32 = rcp v2\n", "");
        check(|f| super::run(f, &TargetInfo::DEFAULT), &text, &text);
        // A product that takes the place of its factor is as good to keep.
        let add = |text: &str| text.replace("p: vec3,", "p: vec3, v9 q: vec3,");
        let before = add(&ray("  v5: f32 = dot v9, v0\n", ""));
        check(|f| super::run(f, &TargetInfo::DEFAULT), &before, &add(&ray("", "  v5: f32 = dot v9, v0\n")));
    }

    #[test]
    fn the_inner_of_two_loops_hands_on_to_the_outer_one() {
        check(
            |f| super::run(f, &TargetInfo::DEFAULT),
            "fn f(v0 x: f32, v1 n: f32) -> (return: f32) {
b0:
  jump b1(v1)
b1(v2: f32):
  jump b2(v2)
b2(v3: f32):
  v4: f32 = rcp v0
  v5: f32 = add v3, v4
  v6: bool = lt v5, v0
  br v6, b2(v5), b3
b3:
  v7: bool = lt v5, v1
  br v7, b1(v5), b4
b4:
  ret v5
}",
            "fn f(v0 x: f32, v1 n: f32) -> (return: f32) {
b0:
  v4: f32 = rcp v0
  jump b1(v1)
b1(v2: f32):
  jump b2(v2)
b2(v3: f32):
  v5: f32 = add v3, v4
  v6: bool = lt v5, v0
  br v6, b2(v5), b3
b3:
  v7: bool = lt v5, v1
  br v7, b1(v5), b4
b4:
  ret v5
}",
        );
    }
}
