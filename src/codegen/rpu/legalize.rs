//! Rewrites IR operations that the RPU lacks into those that it has, as IR.
//!
//! It takes a verified function and gives one that computes the same bits, in which none of these
//! are left: `min max abs floor sqrt`, `rcp` and `rsq` of vectors, `dot` of `vec2`, `occluded`,
//! `visible`, array accesses out of range, comparisons whose truth value is kept, `debug`. The
//! diamonds that selections become are made later, by [`super::diamond`].

use super::TARGET;
use shadewright_ir::dominators::Dominators;
use shadewright_ir::emitter::Emitter;
use shadewright_ir::passes::{block_params, copy, dce, fold, gvn, simplify_cfg, slots};
use shadewright_ir::{BlockId, Const, Function, Inst, Loc, Op, SlotId, Target, Terminator, Type, Value};
use std::collections::{HashMap, HashSet};

/// Runs the whole of this module on a function. With `share`, what the expansions compute twice is
/// computed once: a length and the normalized vector share one `rsq`.
pub fn legalize(f: &mut Function, share: bool) {
    debug_assert!(!f.values.contains(&Type::Mat4), "matrices are lowered before any back end");
    remove_unreachable(f);
    expand_short_visible(f);
    // Arrays first: what the others make keeps its indices in range by itself.
    guard_stores(f);
    expand_operations(f);
    if share {
        gvn::run(f);
        // It may have decided a branch.
        remove_unreachable(f);
    }
    expand_visible(f);
    clear_slots(f);
    keep_truth_values(f);
}

/// Drops blocks that cannot be reached.
pub fn remove_unreachable(f: &mut Function) {
    let mut order = f.reverse_postorder();
    order.sort();
    let renumber: HashMap<BlockId, BlockId> =
        order.iter().enumerate().map(|(new, &old)| (old, BlockId(new as u32))).collect();
    let mut id = 0;
    f.blocks.retain(|_| {
        id += 1;
        renumber.contains_key(&BlockId(id - 1))
    });
    for b in &mut f.blocks {
        b.term.targets_mut().for_each(|t| t.block = renumber[&t.block]);
    }
}

/// The instruction that defines each value, by value.
pub fn definitions(f: &Function) -> HashMap<Value, Inst> {
    f.blocks.iter().flat_map(|b| &b.insts).flat_map(|i| i.results.iter().map(move |&r| (r, i.clone()))).collect()
}

fn expand_operations(f: &mut Function) {
    let bounds = IndexBounds::new(f);
    for b in 0..f.blocks.len() {
        let insts = std::mem::take(&mut f.blocks[b].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            let mut e = Emitter::new(f, inst.loc);
            if expand(&mut e, &inst, BlockId(b as u32), &bounds) {
                out.append(&mut e.out);
            } else {
                out.push(inst);
            }
        }
        f.blocks[b].insts = out;
    }
}

/// Writes the expansion of an instruction; `false` when the RPU has it.
fn expand(e: &mut Emitter, inst: &Inst, block: BlockId, bounds: &IndexBounds) -> bool {
    let defs = &bounds.defs;
    let result = inst.results.first().copied().unwrap_or(Value(0));
    let args = &inst.args;
    match &inst.op {
        Op::Debug(_) => {}
        Op::Min | Op::Max => {
            let max = inst.op == Op::Max;
            e.componentwise(args, result, move |e, a, into| {
                let (less, than) = if max { (a[0], a[1]) } else { (a[1], a[0]) };
                let c = e.op(Op::Lt, &[less, than], Type::Bool);
                e.scalar(Op::Select, &[c, a[1], a[0]], into);
            });
        }
        Op::Abs => e.componentwise(args, result, |e, a, into| {
            let bits = e.op(Op::Bitcast, &[a[0]], Type::U32);
            let mask = e.constant(Const::U32(0x7fff_ffff));
            let bits = e.op(Op::IAnd, &[bits, mask], Type::U32);
            e.scalar(Op::Bitcast, &[bits], into);
        }),
        Op::Floor => {
            let ty = e.ty(result);
            let frac = e.op(Op::Frac, args, ty);
            e.push(Op::Sub, &[args[0], frac], vec![result]);
        }
        Op::Sqrt => e.componentwise(args, result, |e, a, into| {
            // Adding 0 turns −0 into 0, whose root is then 0 and not −0; a sum of squares is never
            // −0.
            let square = |i: &Inst| i.op == Op::Dot && i.args[0] == i.args[1];
            let x = if defs.get(&a[0]).is_some_and(square) {
                a[0]
            } else {
                let zero = e.constant(Const::F32(0.0));
                e.op(Op::Add, &[a[0], zero], Type::F32)
            };
            let r = e.op(Op::Rsq, &[x], Type::F32);
            e.scalar(Op::Rcp, &[r], into);
        }),
        Op::Rcp | Op::Rsq if e.ty(result) != Type::F32 => {
            let op = inst.op.clone();
            e.componentwise(args, result, |e, a, into| e.scalar(op.clone(), a, into));
        }
        Op::Dot if e.ty(args[0]) == Type::Vec2 => {
            let (a, b) = (e.components(args[0]), e.components(args[1]));
            let x = e.op(Op::Mul, &[a[0], b[0]], Type::F32);
            let y = e.op(Op::Mul, &[a[1], b[1]], Type::F32);
            e.push(Op::Add, &[x, y], vec![result]);
        }
        Op::Occluded => {
            let arg = any_hit_argument(e, args[2], defs);
            e.push(Op::Trace, &[args[0], args[1], arg], vec![]);
            let hit = e.op(Op::Hit, &[], Type::Vec4);
            let t = e.op(Op::Extract(2), &[hit], Type::F32);
            let zero = e.constant(Const::F32(0.0));
            e.push(Op::Le, &[zero, t], vec![result]);
        }
        Op::SlotLoad(slot) => {
            let index = clamped_index(e, *slot, args[0], block, bounds);
            e.push(inst.op.clone(), &[index], inst.results.clone());
        }
        _ => return false,
    }
    true
}

/// A ray argument with `any` set.
fn any_hit_argument(e: &mut Emitter, arg: Value, defs: &HashMap<Value, Inst>) -> Value {
    match defs.get(&arg).map(|i| (&i.op, &i.args)) {
        Some((Op::Const(Const::Vec4([a, b, _, d])), _)) => e.constant(Const::Vec4([*a, *b, 1.0, *d])),
        Some((Op::Compose, parts)) => {
            let one = e.constant(Const::F32(1.0));
            e.op(Op::Compose, &[parts[0], parts[1], one, parts[3]], Type::Vec4)
        }
        _ => {
            let one = e.constant(Const::F32(1.0));
            e.op(Op::Insert(2), &[arg, one], Type::Vec4)
        }
    }
}

/// The bounds of array indices: a value's largest value by its definition, and exclusive bounds
/// that comparisons put on values in the blocks after them.
struct IndexBounds {
    defs: HashMap<Value, Inst>,
    after: HashMap<(BlockId, Value), u32>,
}

impl IndexBounds {
    fn new(f: &Function) -> IndexBounds {
        let mut bounds = IndexBounds { defs: definitions(f), after: HashMap::new() };
        let tree = Dominators::new(f);
        let preds = f.predecessors();
        for x in f.block_ids() {
            let [from] = preds[x.0 as usize][..] else { continue };
            let Terminator::Branch(c, then, _) = &f.block(from).term else { continue };
            let Some(Inst { op: Op::ILt, args, .. }) = bounds.defs.get(c).filter(|_| then.block == x) else { continue };
            let (index, most) = (args[0], bounds.largest(args[1]));
            if f.ty(index) == Type::U32 && most < u32::MAX {
                let dominated: Vec<BlockId> = f.block_ids().filter(|&b| tree.dominates(x, b)).collect();
                for b in dominated {
                    let bound = bounds.after.entry((b, index)).or_insert(most);
                    *bound = most.min(*bound);
                }
            }
        }
        bounds
    }

    fn constant(&self, v: Value) -> Option<u32> {
        match &self.defs.get(&v)?.op {
            Op::Const(c @ (Const::U32(_) | Const::I32(_))) => Some(c.bits()[0]),
            _ => None,
        }
    }

    /// The largest value that `v` can have, as far as its definition shows.
    fn largest(&self, v: Value) -> u32 {
        let constant = |v| self.constant(v).unwrap_or(u32::MAX);
        match self.defs.get(&v) {
            Some(Inst { op: Op::IAnd, args, .. }) => constant(args[0]).min(constant(args[1])),
            // `a < k ? a : d`
            Some(Inst { op: Op::Select, args, .. }) => match self.defs.get(&args[0]) {
                Some(Inst { op: Op::ILt, args: test, .. }) if test[0] == args[1] => {
                    constant(test[1]).max(constant(args[2]))
                }
                _ => u32::MAX,
            },
            _ => constant(v),
        }
    }

    /// True if an index in a block is below `len`.
    fn inside(&self, block: BlockId, index: Value, len: u32) -> bool {
        self.largest(index) < len || self.after.get(&(block, index)).is_some_and(|&bound| bound <= len)
    }
}

fn clamped_index(e: &mut Emitter, slot: SlotId, index: Value, block: BlockId, bounds: &IndexBounds) -> Value {
    let len = e.function().slots[slot.0 as usize].len;
    if bounds.inside(block, index, len) {
        return index;
    }
    let len_value = e.constant(Const::U32(len));
    let last = e.constant(Const::U32(len - 1));
    let inside = e.op(Op::ILt, &[index, len_value], Type::Bool);
    e.op(Op::Select, &[inside, index, last], Type::U32)
}

// --- arrays ---

/// Splits a block before instruction `at`; the second half, which it returns, keeps the terminator.
pub fn split_block(f: &mut Function, b: BlockId, at: usize) -> BlockId {
    let tail = f.new_block();
    let block = f.block_mut(b);
    let insts = block.insts.split_off(at);
    let term = std::mem::replace(&mut block.term, Terminator::Jump(Target { block: tail, args: vec![] }));
    let loc = block.term_loc;
    let t = f.block_mut(tail);
    t.insts = insts;
    t.term = term;
    t.term_loc = loc;
    tail
}

/// Longest array that is cleared by a store for each element, which is a fifth of the work of a
/// loop.
const UNROLLED: u32 = 32;

/// Makes array elements zero where the function starts: by a store each for short arrays, else by a
/// loop.
fn clear_slots(f: &mut Function) {
    let slots: Vec<(Op, Type, u32)> =
        f.slots.iter().enumerate().map(|(s, slot)| (Op::SlotStore(SlotId(s as u32)), slot.ty, slot.len)).collect();
    let (short, long): (Vec<_>, Vec<_>) = slots.into_iter().partition(|&(.., len)| len <= UNROLLED);
    // All at once: a function may have thousands, and what follows them moves.
    let mut e = Emitter::new(f, Loc::NONE);
    for (op, ty, len) in short.into_iter().rev() {
        let zero = e.constant(Const::zero(ty));
        for i in 0..len {
            let i = e.constant(Const::U32(i));
            e.push(op.clone(), &[i, zero], vec![]);
        }
    }
    let mut out = e.out;
    out.append(&mut f.blocks[0].insts);
    f.blocks[0].insts = out;
    for (op, ty, len) in long {
        let tail = split_block(f, BlockId(0), 0);
        let body = f.new_block();
        let i = f.new_value(Type::U32);
        let mut e = Emitter::new(f, Loc::NONE);
        let start = e.constant(Const::U32(0));
        f.blocks[0].insts = std::mem::take(&mut e.out);
        f.blocks[0].term = Terminator::Jump(Target { block: body, args: vec![start] });
        let mut e = Emitter::new(f, Loc::NONE);
        let zero = e.constant(Const::zero(ty));
        e.push(op, &[i, zero], vec![]);
        let one = e.constant(Const::U32(1));
        let next = e.op(Op::IAdd, &[i, one], Type::U32);
        let len = e.constant(Const::U32(len));
        let more = e.op(Op::ILt, &[next, len], Type::Bool);
        let out = e.out;
        let block = f.block_mut(body);
        block.params = vec![i];
        block.insts = out;
        block.term = Terminator::Branch(more, Target { block: body, args: vec![next] }, goto(tail));
    }
}

/// Puts array writes whose index may be out of range under a test.
fn guard_stores(f: &mut Function) {
    let bounds = IndexBounds::new(f);
    let slots = &f.slots;
    // A constant index beyond the end writes nothing, and may not fit the offset of a store.
    let writes_nothing = |i: &Inst| match i.op {
        Op::SlotStore(s) => bounds.constant(i.args[0]).is_some_and(|index| index >= slots[s.0 as usize].len),
        _ => false,
    };
    for block in &mut f.blocks {
        block.insts.retain(|i| !writes_nothing(i));
    }
    let mut guarded = HashSet::new();
    let mut b = 0;
    while b < f.blocks.len() {
        let here = BlockId(b as u32);
        b += 1;
        let may_miss = |i: &Inst| match i.op {
            Op::SlotStore(s) => !bounds.inside(here, i.args[0], f.slots[s.0 as usize].len),
            _ => false,
        };
        let Some(at) = f.block(here).insts.iter().position(may_miss).filter(|_| !guarded.contains(&here)) else {
            continue;
        };
        // The tail is a new block, which this loop reaches later.
        let tail = split_block(f, here, at + 1);
        let Some(store) = f.block_mut(here).insts.pop() else { continue };
        let Op::SlotStore(slot) = store.op else { continue };
        let len = f.slots[slot.0 as usize].len;
        let mut e = Emitter::new(f, store.loc);
        let len = e.constant(Const::U32(len));
        let inside = e.op(Op::ILt, &[store.args[0], len], Type::Bool);
        let mut test = e.out;
        let then = f.new_block();
        guarded.insert(then);
        let block = f.block_mut(here);
        block.insts.append(&mut test);
        block.term = Terminator::Branch(inside, goto(then), goto(tail));
        block.term_loc = store.loc;
        f.block_mut(then).insts.push(store);
        f.block_mut(then).term = Terminator::Jump(goto(tail));
    }
}

/// A jump without arguments.
pub fn goto(block: BlockId) -> Target {
    Target { block, args: vec![] }
}

// --- batches of shadow rays ---

/// More rays than this are shot in a loop.
const SHORT: u32 = 8;

/// Shoots the rays of each `visible` with a small constant number of them one after the other; then
/// their array may become values.
fn expand_short_visible(f: &mut Function) {
    let defs = definitions(f);
    let short = |f: &Function, i: &Inst| match i.op {
        Op::Visible(slot) => match defs.get(&i.args[1]).map(|d| &d.op) {
            Some(Op::Const(Const::U32(n))) => {
                Some((slot, *n)).filter(|_| *n <= SHORT.min(f.slots[slot.0 as usize].len))
            }
            _ => None,
        },
        _ => None,
    };
    let mut any = false;
    let mut b = 0;
    while b < f.blocks.len() {
        let here = BlockId(b as u32);
        b += 1;
        let found = f.block(here).insts.iter().enumerate().find_map(|(at, i)| Some((at, short(f, i)?)));
        if let Some((at, (slot, count))) = found {
            let tail = split_block(f, here, at + 1);
            if let Some(inst) = f.block_mut(here).insts.pop() {
                visible_row(f, here, tail, &inst, slot, count);
                any = true;
            }
        }
    }
    if any {
        for pass in [
            |f: &mut _| slots::run(f, &TARGET),
            copy::run,
            fold::run,
            block_params::remove_redundant_block_params,
            simplify_cfg::run,
            dce::run,
        ] {
            pass(f);
        }
    }
}

/// Shoots `count` rays between the end of `here` and `tail`.
fn visible_row(f: &mut Function, here: BlockId, tail: BlockId, inst: &Inst, slot: SlotId, count: u32) {
    let mut at = here;
    let mut seen: Option<Value> = None;
    for i in 0..count {
        let (shoot, next) = (f.new_block(), f.new_block());
        let bit = f.new_value(Type::U32);
        let mut e = Emitter::new(f, inst.loc);
        let index = e.constant(Const::U32(i));
        let open = e.constant(Const::U32(1 << i));
        let blocked = e.constant(Const::U32(0));
        let ray = e.op(Op::SlotLoad(slot), &[index], Type::Vec4);
        let t_max = e.op(Op::Extract(3), &[ray], Type::F32);
        let zero = e.constant(Const::F32(0.0));
        let none = e.op(Op::Lt, &[t_max, zero], Type::Bool);
        let mut out = e.out;
        f.block_mut(at).insts.append(&mut out);
        let lit = Target { block: next, args: vec![open] };
        f.block_mut(at).term = Terminator::Branch(none, lit.clone(), goto(shoot));

        let mut e = Emitter::new(f, inst.loc);
        let missed = shoot_shadow_ray(&mut e, inst.args[0], ray, t_max);
        let out = e.out;
        let dark = Target { block: next, args: vec![blocked] };
        finish_block(f, shoot, vec![], out, Terminator::Branch(missed, lit, dark));

        f.block_mut(next).params = vec![bit];
        let mut e = Emitter::new(f, inst.loc);
        seen = Some(seen.map_or(bit, |seen| e.op(Op::IOr, &[seen, bit], Type::U32)));
        let mut out = e.out;
        f.block_mut(next).insts.append(&mut out);
        at = next;
    }
    let mut e = Emitter::new(f, inst.loc);
    let seen = seen.unwrap_or_else(|| e.constant(Const::U32(0)));
    e.push(Op::Bitcast, &[seen], inst.results.clone());
    let mut out = e.out;
    f.block_mut(at).insts.append(&mut out);
    f.block_mut(at).term = Terminator::Jump(goto(tail));
}

/// Shoots one shadow ray, `(direction, t_max)`; gives whether it hits nothing.
fn shoot_shadow_ray(e: &mut Emitter, origin: Value, ray: Value, t_max: Value) -> Value {
    let parts: Vec<Value> = (0..3).map(|k| e.op(Op::Extract(k), &[ray], Type::F32)).collect();
    let direction = e.op(Op::Compose, &parts, Type::Vec3);
    let default = e.op(Op::Uniform(0), &[], Type::Vec4);
    let t_min = e.op(Op::Extract(0), &[default], Type::F32);
    let time = e.op(Op::Extract(3), &[default], Type::F32);
    let any = e.constant(Const::F32(1.0));
    let arg = e.op(Op::Compose, &[t_min, t_max, any, time], Type::Vec4);
    e.push(Op::Trace, &[origin, direction, arg], vec![]);
    let hit = e.op(Op::Hit, &[], Type::Vec4);
    let t = e.op(Op::Extract(2), &[hit], Type::F32);
    let zero = e.constant(Const::F32(0.0));
    e.op(Op::Lt, &[t, zero], Type::Bool)
}

/// Makes each `visible` a loop over its rays: a `trace` each, and a bit for each ray that hits
/// nothing.
fn expand_visible(f: &mut Function) {
    let mut b = 0;
    while b < f.blocks.len() {
        let here = BlockId(b as u32);
        b += 1;
        let is_visible = |i: &Inst| matches!(i.op, Op::Visible(_));
        if let Some(at) = f.block(here).insts.iter().position(is_visible) {
            let tail = split_block(f, here, at + 1);
            if let Some(inst) = f.block_mut(here).insts.pop() {
                visible_loop(f, here, tail, &inst);
            }
        }
    }
}

fn visible_loop(f: &mut Function, here: BlockId, tail: BlockId, inst: &Inst) {
    let Op::Visible(slot) = inst.op else { return };
    let len = f.slots[slot.0 as usize].len.min(32);
    let (head, body, shoot, open, next) = (f.new_block(), f.new_block(), f.new_block(), f.new_block(), f.new_block());
    let u32s = |f: &mut Function| f.new_value(Type::U32);
    let (i, seen, joined) = (u32s(f), u32s(f), u32s(f));
    let (origin, count) = (inst.args[0], inst.args[1]);
    let jump = |block, args| Terminator::Jump(Target { block, args });

    let mut e = Emitter::new(f, inst.loc);
    let len = e.constant(Const::U32(len));
    let fits = e.op(Op::ILt, &[count, len], Type::Bool);
    let count = e.op(Op::Select, &[fits, count, len], Type::U32);
    let zero = e.constant(Const::U32(0));
    let mut start = e.out;
    f.block_mut(here).insts.append(&mut start);
    f.block_mut(here).term = jump(head, vec![zero, zero]);

    let mut e = Emitter::new(f, inst.loc);
    let more = e.op(Op::ILt, &[i, count], Type::Bool);
    let out = e.out;
    finish_block(f, head, vec![i, seen], out, Terminator::Branch(more, goto(body), goto(tail)));
    f.block_mut(tail)
        .insts
        .insert(0, Inst { op: Op::Bitcast, args: vec![seen], results: inst.results.clone(), loc: inst.loc });

    let mut e = Emitter::new(f, inst.loc);
    let ray = e.op(Op::SlotLoad(slot), &[i], Type::Vec4);
    let t_max = e.op(Op::Extract(3), &[ray], Type::F32);
    let zero = e.constant(Const::F32(0.0));
    let none = e.op(Op::Lt, &[t_max, zero], Type::Bool);
    let out = e.out;
    finish_block(f, body, vec![], out, Terminator::Branch(none, goto(open), goto(shoot)));

    let mut e = Emitter::new(f, inst.loc);
    let missed = shoot_shadow_ray(&mut e, origin, ray, t_max);
    let out = e.out;
    let blocked = Target { block: next, args: vec![seen] };
    finish_block(f, shoot, vec![], out, Terminator::Branch(missed, goto(open), blocked));

    let mut e = Emitter::new(f, inst.loc);
    let one = e.constant(Const::U32(1));
    let bit = e.op(Op::IShl, &[one, i], Type::U32);
    let with = e.op(Op::IOr, &[seen, bit], Type::U32);
    let out = e.out;
    finish_block(f, open, vec![], out, jump(next, vec![with]));

    let mut e = Emitter::new(f, inst.loc);
    let one = e.constant(Const::U32(1));
    let after = e.op(Op::IAdd, &[i, one], Type::U32);
    let out = e.out;
    finish_block(f, next, vec![joined], out, jump(head, vec![after, joined]));
}

fn finish_block(f: &mut Function, b: BlockId, params: Vec<Value>, insts: Vec<Inst>, term: Terminator) {
    let block = f.block_mut(b);
    block.params = params;
    block.insts = insts;
    block.term = term;
}

// --- truth values ---

/// True if an operation compares.
pub fn is_comparison(op: &Op) -> bool {
    matches!(op, Op::Lt | Op::Le | Op::Eq | Op::Ne | Op::ILt | Op::IEq)
}

/// True if an operation combines truth values.
pub fn is_connective(op: &Op) -> bool {
    matches!(op, Op::Not | Op::And | Op::Or)
}

/// Gives each comparison that is used as a value, and not to decide where to go, a selection of
/// `true` or `false`.
///
/// Deciding are the conditions of branches and selections, and the operands of connectives that
/// only decide.
fn keep_truth_values(f: &mut Function) {
    let defs = definitions(f);
    let mut kept: HashSet<Value> = HashSet::new();
    let mut work: Vec<Value> = Vec::new();
    for b in &f.blocks {
        for i in &b.insts {
            match i.op {
                Op::Select => work.extend(&i.args[1..]),
                _ if is_connective(&i.op) => {}
                _ => work.extend(&i.args),
            }
        }
        match &b.term {
            Terminator::Return(values) => work.extend(values),
            term => term.targets().for_each(|t| work.extend(&t.args)),
        }
    }
    // A connective used as a value uses its operands as values.
    while let Some(v) = work.pop() {
        if f.ty(v) == Type::Bool
            && let Some(def) = defs.get(&v)
            && kept.insert(v)
            && is_connective(&def.op)
        {
            work.extend(&def.args);
        }
    }
    kept.retain(|v| defs.get(v).is_some_and(|d| is_comparison(&d.op)));
    let mut renamed: Vec<(Value, Value)> = kept.iter().map(|&v| (v, Value(0))).collect();
    renamed.sort();
    for (_, new) in &mut renamed {
        *new = f.new_value(Type::Bool);
    }
    let renamed: HashMap<Value, Value> = renamed.into_iter().collect();
    let value = |v: &mut Value| {
        if let Some(&new) = renamed.get(v) {
            *v = new;
        }
    };
    for b in 0..f.blocks.len() {
        let insts = std::mem::take(&mut f.blocks[b].insts);
        let mut out = Vec::with_capacity(insts.len());
        for mut inst in insts {
            let deciding = if inst.op == Op::Select { 1 } else { 0 };
            inst.args.iter_mut().skip(deciding).for_each(value);
            let made = inst.results.first().and_then(|r| renamed.get(r).map(|&new| (*r, new)));
            let loc = inst.loc;
            out.push(inst);
            if let Some((condition, new)) = made {
                let mut e = Emitter::new(f, loc);
                let yes = e.constant(Const::Bool(true));
                let no = e.constant(Const::Bool(false));
                e.push(Op::Select, &[condition, yes, no], vec![new]);
                out.append(&mut e.out);
            }
        }
        f.blocks[b].insts = out;
        match &mut f.blocks[b].term {
            Terminator::Return(values) => values.iter_mut().for_each(value),
            term => term.targets_mut().for_each(|t| t.args.iter_mut().for_each(value)),
        }
    }
}

/// Drops instructions without effects whose results nobody uses.
pub fn drop_unused(f: &mut Function) {
    let defs = definitions(f);
    let mut used: HashSet<Value> = HashSet::new();
    let mut work: Vec<Value> = Vec::new();
    for b in &f.blocks {
        b.insts.iter().filter(|i| !i.op.is_removable()).for_each(|i| work.extend(&i.args));
        b.term.for_each_arg(|a| work.push(a));
    }
    while let Some(v) = work.pop() {
        if used.insert(v)
            && let Some(def) = defs.get(&v)
        {
            work.extend(&def.args);
        }
    }
    for b in &mut f.blocks {
        b.insts.retain(|i| !i.op.is_removable() || i.results.iter().any(|r| used.contains(r)));
    }
}
