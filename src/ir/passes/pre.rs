//! Partial redundancy elimination (Morel, Renvoise 1979, here on SSA form as in Kennedy et al.:
//! "Partial Redundancy Elimination in SSA Form", 1999): where all predecessors of a join but one
//! have computed what the join computes, the computation is inserted in that one, and a block
//! parameter carries the result.
//!
//! Every path computes at most what it did before: the join itself would have computed it. Where
//! all predecessors have the value (`h = b*c` in Węgrzanowski 2006, Figure 6.1), nothing is
//! inserted. Values are recognized by their congruence ([`super::value_numbering`]), with the
//! parameters of the join replaced by what each jump passes. Loop headers are left to `licm`, which
//! limits register pressure.

use super::cost::is_worth_keeping;
use super::replace::Replacements;
use super::value_numbering::{Number, Numbering, jumps};
use crate::dominators::Dominators;
use crate::{BlockId, Function, Inst, Op, Target, Terminator, Value};
use std::collections::{HashMap, HashSet};

/// Of values with one number, so many are tried as the one that is known at a jump.
const MAX_TRIED: usize = 8;

/// Jumps to a join, at most: it bounds the work.
const MAX_JUMPS: usize = 16;

/// Runs the pass; returns the number of instructions that became parameters or went.
pub fn run(func: &mut Function) -> usize {
    let tree = Dominators::new(func);
    let heads: HashSet<BlockId> = tree.back_edges(func).into_iter().map(|(_, head)| head).collect();
    let jumps = jumps(func, &tree);
    let is_join = |b: &BlockId| (2..=MAX_JUMPS).contains(&jumps[b.0 as usize].len()) && !heads.contains(b);
    let joins: Vec<BlockId> = tree.order().iter().copied().filter(is_join).collect();
    if joins.is_empty() {
        return 0;
    }
    let mut home = vec![BlockId(0); func.values.len()];
    for &id in tree.order() {
        let block = func.block(id);
        let defined = block.params.iter().chain(block.insts.iter().flat_map(|i| &i.results));
        defined.for_each(|v| home[v.0 as usize] = id);
    }
    let numbering = Numbering::new(func, &tree);
    let mut members: HashMap<Number, Vec<Value>> = HashMap::new();
    for &id in tree.order() {
        let block = func.block(id);
        for &v in block.params.iter().chain(block.insts.iter().flat_map(|i| &i.results)) {
            members.entry(numbering.number(v)).or_default().push(v);
        }
    }
    let mut pass =
        Pass { known: Known { tree, numbering, members, home }, replaced: Replacements::new(func), changes: 0 };
    for join in joins {
        pass.join(func, join, &jumps[join.0 as usize]);
    }
    let Pass { replaced, changes, .. } = pass;
    replaced.apply(func);
    changes
}

struct Pass {
    known: Known,
    replaced: Replacements,
    changes: usize,
}

/// Which values there were before the pass, and where.
struct Known {
    tree: Dominators,
    numbering: Numbering,
    members: HashMap<Number, Vec<Value>>,
    home: Vec<BlockId>,
}

impl Known {
    /// A value known at the end of `block` that equals what `inst` computes when its operands are
    /// `args`.
    fn find(&self, func: &Function, inst: &Inst, args: &[Value], block: BlockId) -> Option<Value> {
        let result = *inst.results.first()?;
        // Values that the pass made have no number.
        let is_old = |v: &Value| (v.0 as usize) < self.home.len();
        let numbers = args.iter().map(|v| is_old(v).then(|| self.numbering.number(*v))).collect::<Option<Vec<_>>>()?;
        let number = self.numbering.find(&inst.op, numbers, func.ty(result))?;
        let members = self.members.get(&number)?.iter().take(MAX_TRIED);
        members.copied().find(|v| self.tree.dominates(self.home[v.0 as usize], block))
    }
}

/// A jump to a join.
struct Way {
    /// The block that it comes from.
    from: BlockId,
    /// The block whose end holds the jump now, and which of its two ways it is: one that was made
    /// for it, if there was need.
    place: (BlockId, usize),
    /// The values that those of the join are when control comes this way; those without an entry
    /// are not known there.
    there: HashMap<Value, Value>,
}

impl Pass {
    fn join(&mut self, func: &mut Function, join: BlockId, jumps: &[(BlockId, usize)]) {
        let mut ways: Vec<Way> = Vec::with_capacity(jumps.len());
        for &(from, way) in jumps {
            let Some(target) = func.block(from).term.targets().nth(way) else { return };
            let there = func.block(join).params.iter().copied().zip(target.args.iter().copied()).collect();
            ways.push(Way { from, place: (from, way), there });
        }
        let insts = std::mem::take(&mut func.block_mut(join).insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            if self.becomes_known(func, join, &inst, &mut ways) {
                self.changes += 1;
            } else {
                kept.push(inst);
            }
        }
        func.block_mut(join).insts = kept;
    }

    /// Finds what an instruction of the join computes on each way. Whether it went: its result
    /// comes as a parameter, or was known.
    fn becomes_known(&mut self, func: &mut Function, join: BlockId, inst: &Inst, ways: &mut [Way]) -> bool {
        let (true, &[result]) = (inst.op.is_pure() && !matches!(inst.op, Op::Const(_)), &inst.results[..]) else {
            return false;
        };
        let mut lacking = Vec::new();
        for (i, way) in ways.iter_mut().enumerate() {
            let operand = |v: &Value| match way.there.get(v) {
                Some(&there) => Some(there),
                None => Some(*v).filter(|v| self.known.home[v.0 as usize] != join),
            };
            let args = inst.args.iter().map(operand).collect::<Option<Vec<Value>>>();
            match args.as_ref().and_then(|args| self.known.find(func, inst, args, way.from)) {
                Some(value) => drop(way.there.insert(result, value)),
                None => lacking.push((i, args)),
            }
        }
        let ty = func.ty(result);
        if lacking.len() > 1 || !is_worth_keeping(&inst.op, ty) {
            return false;
        }
        if let Some((i, args)) = lacking.pop() {
            let Some(args) = args else { return false };
            let value = func.new_value(ty);
            let copy = Inst { args, results: vec![value], ..inst.clone() };
            let place = own_end(func, join, &mut ways[i]);
            func.block_mut(place).insts.push(copy);
            ways[i].there.insert(result, value);
        }
        let values: Vec<Value> = ways.iter().filter_map(|w| w.there.get(&result).copied()).collect();
        if values.iter().all(|v| *v == values[0]) {
            // It comes from above all ways, so it dominates the join.
            self.replaced.set(result, values[0]);
            return true;
        }
        let param = func.new_value(ty);
        func.block_mut(join).params.push(param);
        for (way, value) in ways.iter().zip(values) {
            let (block, which) = way.place;
            if let Some(target) = func.block_mut(block).term.targets_mut().nth(which) {
                target.args.push(value);
            }
        }
        self.replaced.set(result, param);
        true
    }
}

/// The block at whose end instructions run when control comes this way, and only then.
fn own_end(func: &mut Function, join: BlockId, way: &mut Way) -> BlockId {
    let (from, which) = way.place;
    let loc = func.block(from).term_loc;
    if let Terminator::Jump(_) = func.block(from).term {
        return from;
    }
    let made = func.new_block();
    let detour = Target { block: made, args: Vec::new() };
    let target = func.block_mut(from).term.targets_mut().nth(which);
    let args = target.map_or(Vec::new(), |t| std::mem::replace(t, detour).args);
    let block = func.block_mut(made);
    (block.term, block.term_loc) = (Terminator::Jump(Target { block: join, args }), loc);
    way.place = (made, 0);
    made
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, module};
    use crate::{Const, EmptyWorld, eval};

    #[test]
    fn what_every_way_has_computed_is_not_computed_again() {
        // Węgrzanowski 2006, Figure 6.1: e or f holds b*c, depending on the way.
        check(
            super::run,
            "fn f(v0 b: f32, v1 c: f32, v2 x: bool) -> (p: f32, q: f32) {
b0:
  br v2, b1, b2
b1:
  v3: f32 = mul v0, v1
  v4: f32 = rcp v3
  jump b3(v4)
b2:
  v5: f32 = mul v0, v1
  v6: f32 = rsq v5
  jump b3(v6)
b3(v7: f32):
  v8: f32 = mul v1, v0
  ret v7, v8
}",
            "fn f(v0 b: f32, v1 c: f32, v2 x: bool) -> (p: f32, q: f32) {
b0:
  br v2, b1, b2
b1:
  v3: f32 = mul v0, v1
  v4: f32 = rcp v3
  jump b3(v4, v3)
b2:
  v5: f32 = mul v0, v1
  v6: f32 = rsq v5
  jump b3(v6, v5)
b3(v7: f32, v9: f32):
  ret v7, v9
}",
        );
    }

    #[test]
    fn what_one_way_lacks_is_computed_there_with_the_values_it_passes() {
        check(
            super::run,
            "fn f(v0 b: f32, v1 c: f32, v2 x: bool) -> (p: f32, q: f32) {
b0:
  v3: f32 = rcp v0
  br v2, b1, b2(v0, v3)
b1:
  v4: f32 = mul v1, v0
  jump b2(v1, v4)
b2(v5: f32, v6: f32):
  v7: f32 = mul v5, v0
  v8: f32 = add v7, v6
  ret v6, v8
}",
            "fn f(v0 b: f32, v1 c: f32, v2 x: bool) -> (p: f32, q: f32) {
b0:
  v3: f32 = rcp v0
  br v2, b1, b3
b1:
  v4: f32 = mul v1, v0
  jump b2(v1, v4, v4)
b2(v5: f32, v6: f32, v10: f32):
  v8: f32 = add v10, v6
  ret v6, v8
b3:
  v9: f32 = mul v0, v0
  jump b2(v0, v3, v9)
}",
        );
    }

    #[test]
    fn what_no_way_has_stays_and_no_path_becomes_longer() {
        let text = "fn f(v0 b: f32, v1 c: f32, v2 x: bool) -> (p: f32) {
b0:
  br v2, b1, b2
b1:
  v3: f32 = mul v0, v1
  ret v3
b2:
  br v2, b3, b4(v0)
b3:
  jump b4(v1)
b4(v4: f32):
  v5: f32 = mul v0, v1
  v6: f32 = mul v4, v1
  v7: f32 = add v5, v6
  ret v7
}";
        check(super::run, text, text);
    }

    #[test]
    fn results_of_both_ways_stay() {
        let text = "fn f(v0 b: f32, v1 c: f32, v2 x: bool) -> (p: f32, q: f32) {
b0:
  br v2, b1, b2(v1)
b1:
  v3: f32 = mul v0, v0
  jump b2(v0)
b2(v4: f32):
  v5: f32 = mul v4, v0
  v6: f32 = rcp v5
  ret v5, v6
}";
        let original = module(text);
        let mut m = original.clone();
        assert_eq!(super::run(&mut m.functions[0]), 1);
        for x in [true, false] {
            let args = [Const::F32(3.0), Const::F32(5.0), Const::Bool(x)];
            let value = |m| eval(m, "f", &args, &mut EmptyWorld, Default::default());
            assert_eq!(value(&m), value(&original));
        }
    }
}
