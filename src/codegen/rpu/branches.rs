//! Turns selections into branches, moves what only one side needs into that side, and prepares
//! branches for the RPU, as IR.
//!
//! The RPU has no select: it decides by jumps that are free when paired with the comparison. So
//! a selection becomes a diamond whose arms hold the computations that only they use; `and`, `or`
//! and `not` become jumps; and each branch with arguments gets a block of its own on the edge,
//! where the copies go.

use super::legalize::{definitions, goto, split_block};
use shadewright_ir::{BlockId, Function, Inst, Op, Target, Terminator, Value};
use std::collections::{HashMap, HashSet};

/// Runs the whole of this module on a function; without `sink`, computations stay where they are.
pub fn lower_selections(f: &mut Function, sink: bool) {
    let mut uses = use_counts(f);
    let mut b = 0;
    while b < f.blocks.len() {
        let here = BlockId(b as u32);
        match next_selection(f, here, sink, &uses) {
            // One that waited and could not move into an arm is left in the block.
            Some(at) => make_diamond(f, here, at, sink, &mut uses),
            None => b += 1,
        }
    }
    short_circuit(f);
    split_edges(f);
}

fn use_counts(f: &Function) -> HashMap<Value, usize> {
    let mut uses = HashMap::new();
    for b in &f.blocks {
        b.insts.iter().flat_map(|i| &i.args).for_each(|&a| *uses.entry(a).or_default() += 1);
        b.term.for_each_arg(|a| *uses.entry(a).or_default() += 1);
    }
    uses
}

/// The selection of a block that becomes a diamond next. With `sink`, one that only an arm of a
/// later selection needs waits: it moves into that arm. `uses` counts the uses of each value.
fn next_selection(f: &Function, here: BlockId, sink: bool, uses: &HashMap<Value, usize>) -> Option<usize> {
    let insts = &f.block(here).insts;
    let mut selections = (0..insts.len()).filter(|&i| insts[i].op == Op::Select);
    let first = selections.next()?;
    if !sink {
        return Some(first);
    }
    let user: HashMap<Value, usize> =
        insts.iter().enumerate().flat_map(|(i, inst)| inst.args.iter().map(move |&a| (a, i))).collect();
    let waits = |at: usize| {
        let mut value = insts[at].results[0];
        // Users come later, so this ends.
        loop {
            let Some(&next) = user.get(&value).filter(|_| uses.get(&value) == Some(&1)) else { return false };
            match (&insts[next].op, &insts[next].results[..]) {
                (Op::Select, _) => return insts[next].args[0] != value,
                (op, [result]) if op.is_pure() => value = *result,
                _ => return false,
            }
        }
    };
    // The last selection of a row of waiting ones does not wait.
    std::iter::once(first).chain(selections).find(|&i| !waits(i))
}

/// Makes the selection at `at`, and the later ones of the block with the same condition whose
/// operands are there already, one diamond. `uses` counts the uses of each value, before and after.
fn make_diamond(f: &mut Function, here: BlockId, at: usize, sink: bool, uses: &mut HashMap<Value, usize>) {
    let insts = &f.block(here).insts;
    let condition = insts[at].args[0];
    let later: HashSet<Value> = insts[at..].iter().flat_map(|i| i.results.iter().copied()).collect();
    let group: Vec<usize> = (at..insts.len())
        .filter(|&i| insts[i].op == Op::Select && insts[i].args[0] == condition)
        .filter(|&i| !insts[i].args.iter().any(|a| later.contains(a)))
        .collect();
    let join = split_block(f, here, at);
    let loc = f.block(join).insts[0].loc;
    let mut selections = Vec::new();
    for &i in group.iter().rev() {
        selections.push(f.block_mut(join).insts.remove(i - at));
    }
    selections.reverse();
    f.block_mut(join).params = selections.iter().map(|s| s.results[0]).collect();
    let mut arms = [1, 2].map(|side| {
        let args: Vec<Value> = selections.iter().map(|s| s.args[side]).collect();
        (args, Vec::new())
    });
    if sink {
        let block = f.block_mut(here);
        let tested = tested_values(&block.insts, condition);
        for (args, moved) in &mut arms {
            *moved = sink_into(&mut block.insts, args, uses, &tested);
        }
    }
    let [then, otherwise] = arms.map(|(args, insts)| {
        let arm = f.new_block();
        let block = f.block_mut(arm);
        block.insts = insts;
        block.term = Terminator::Jump(Target { block: join, args });
        block.term_loc = loc;
        arm
    });
    let block = f.block_mut(here);
    block.term = Terminator::Branch(condition, goto(then), goto(otherwise));
    block.term_loc = loc;
    // The branch tests what each selection did; the arms pass on what these chose from.
    if let Some(tests) = uses.get_mut(&condition) {
        *tests -= selections.len() - 1;
    }
}

/// The operands of the comparison that computes a condition.
fn tested_values(insts: &[Inst], condition: Value) -> Vec<Value> {
    insts.iter().find(|i| i.results.first() == Some(&condition)).map(|i| i.args.clone()).unwrap_or_default()
}

/// Takes out of a block the instructions that only `args` need. `uses` counts all uses, those by
/// `args` included.
///
/// The reciprocals of what the condition tests stay: they come with the test for free.
fn sink_into(insts: &mut Vec<Inst>, args: &[Value], uses: &HashMap<Value, usize>, tested: &[Value]) -> Vec<Inst> {
    let mut wanted: HashMap<Value, usize> = HashMap::new();
    args.iter().for_each(|&a| *wanted.entry(a).or_default() += 1);
    let mut moved = Vec::new();
    for i in (0..insts.len()).rev() {
        let inst = &insts[i];
        let free = matches!(inst.op, Op::Rcp | Op::Rsq) && inst.args.iter().any(|a| tested.contains(a));
        let [result] = inst.results[..] else { continue };
        let here = wanted.get(&result).copied().unwrap_or(0);
        let all = uses.get(&result).copied().unwrap_or(0);
        if !inst.op.is_pure() || free || here == 0 || here < all {
            continue;
        }
        inst.args.iter().for_each(|&a| *wanted.entry(a).or_default() += 1);
        moved.push(insts.remove(i));
    }
    moved.reverse();
    moved
}

/// Makes branches on `not`, `and` and `or` branches on what these combine.
fn short_circuit(f: &mut Function) {
    let defs = definitions(f);
    let mut b = 0;
    while b < f.blocks.len() {
        let here = BlockId(b as u32);
        let Terminator::Branch(c, then, otherwise) = f.block(here).term.clone() else {
            b += 1;
            continue;
        };
        let loc = f.block(here).term_loc;
        match defs.get(&c).map(|d| (&d.op, &d.args)) {
            Some((Op::Not, args)) => f.block_mut(here).term = Terminator::Branch(args[0], otherwise, then),
            Some((op @ (Op::And | Op::Or), args)) => {
                let second = f.new_block();
                let block = f.block_mut(second);
                block.term = Terminator::Branch(args[1], then.clone(), otherwise.clone());
                block.term_loc = loc;
                let (t, e) = if *op == Op::And { (goto(second), otherwise) } else { (then, goto(second)) };
                f.block_mut(here).term = Terminator::Branch(args[0], t, e);
            }
            _ => b += 1,
        }
    }
}

/// Blocks with more instructions are cut before anything else: passes of this back end that look
/// back and forth within a block take time with its square, and instructions that move to their users
/// keep registers until then.
const LONGEST: usize = 512;

/// Instructions of the pieces of a block that is cut.
const PIECE: usize = 128;

/// Cuts long blocks into pieces that follow each other.
pub fn cut_long_blocks(f: &mut Function) {
    for b in f.block_ids().filter(|&b| f.block(b).insts.len() > LONGEST).collect::<Vec<_>>() {
        let insts = std::mem::take(&mut f.block_mut(b).insts);
        let mut insts = insts.into_iter().peekable();
        let mut here = b;
        loop {
            f.block_mut(here).insts = insts.by_ref().take(PIECE).collect();
            if insts.peek().is_none() {
                break;
            }
            here = split_block(f, here, f.block(here).insts.len());
        }
    }
}

/// Puts a block on each edge of a branch that passes arguments.
fn split_edges(f: &mut Function) {
    for b in 0..f.blocks.len() {
        let mut term = f.blocks[b].term.clone();
        if let Terminator::Branch(_, then, otherwise) = &mut term {
            for t in [then, otherwise] {
                if !t.args.is_empty() {
                    let edge = f.new_block();
                    let loc = f.blocks[b].term_loc;
                    f.block_mut(edge).term_loc = loc;
                    f.block_mut(edge).term = Terminator::Jump(std::mem::replace(t, goto(edge)));
                }
            }
        }
        f.blocks[b].term = term;
    }
}

/// Reorders the pure instructions of each block to stand in front of their first user, operands
/// that need more work first (Sethi and Ullman 1970): short live ranges, and loads next to what
/// they are for.
pub fn order_by_use(f: &mut Function) {
    for block in &mut f.blocks {
        let insts = std::mem::take(&mut block.insts);
        let definer: HashMap<Value, usize> =
            insts.iter().enumerate().flat_map(|(i, inst)| inst.results.iter().map(move |&r| (r, i))).collect();
        let size = tree_sizes(&insts, &definer);
        let mut placed = vec![false; insts.len()];
        let mut order = Vec::with_capacity(insts.len());
        let mut place = |root: usize| {
            // Explicit stack: an instruction is pushed again as `ready` below its operands.
            let mut stack = vec![(root, false)];
            while let Some((i, ready)) = stack.pop() {
                if placed[i] {
                    continue;
                }
                if ready {
                    placed[i] = true;
                    order.push(i);
                    continue;
                }
                stack.push((i, true));
                let mut operands: Vec<usize> = insts[i].args.iter().filter_map(|a| definer.get(a).copied()).collect();
                // The last pushed is placed first.
                operands.sort_by_key(|&o| size[o]);
                stack.extend(operands.into_iter().map(|o| (o, false)));
            }
        };
        let roots = (0..insts.len()).filter(|&i| !insts[i].op.is_pure());
        roots.for_each(&mut place);
        let mut last = Vec::new();
        block.term.for_each_arg(|a| last.extend(definer.get(&a)));
        (0..insts.len()).filter(|i| !last.contains(i)).for_each(&mut place);
        last.into_iter().for_each(&mut place);
        let mut slots: Vec<Option<Inst>> = insts.into_iter().map(Some).collect();
        block.insts = order.into_iter().filter_map(|i| slots[i].take()).collect();
    }
}

/// For each instruction, the size of the tree of pure instructions below it, shared parts counted
/// again (saturating).
fn tree_sizes(insts: &[Inst], definer: &HashMap<Value, usize>) -> Vec<u32> {
    let mut size = vec![1u32; insts.len()];
    for (i, inst) in insts.iter().enumerate() {
        for a in &inst.args {
            if let Some(&o) = definer.get(a) {
                size[i] = size[i].saturating_add(size[o]);
            }
        }
    }
    size
}
