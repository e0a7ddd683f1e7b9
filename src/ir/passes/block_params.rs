//! Removes block parameters to which every jump passes the same value.

use crate::{BlockId, Function, Value};
use std::collections::HashMap;

/// Replaces each parameter of a reachable block (the entry's excepted) whose arguments are all one
/// value, or the parameter itself, by that value. Repeats until nothing changes: this is what makes
/// SSA form minimal after naive construction. Returns how many were dropped.
pub fn remove_redundant_block_params(func: &mut Function) -> usize {
    let order = func.reverse_postorder();
    let mut reachable = vec![false; func.blocks.len()];
    order.iter().for_each(|b| reachable[b.0 as usize] = true);
    let mut preds = func.predecessors();
    preds.iter_mut().for_each(Vec::dedup);
    let all_preds = preds.clone();
    preds.iter_mut().for_each(|p| p.retain(|b| reachable[b.0 as usize]));
    let mut replaced: HashMap<Value, Value> = HashMap::new();
    let mut dropped = 0;
    loop {
        let before = dropped;
        for &block in order.iter().skip(1) {
            let mut stays = vec![true; func.block(block).params.len()];
            for (position, stays) in stays.iter_mut().enumerate() {
                if let Some(value) = only_argument(func, &preds[block.0 as usize], block, position, &replaced) {
                    replaced.insert(func.block(block).params[position], value);
                    *stays = false;
                    dropped += 1;
                }
            }
            if stays.contains(&false) {
                retain_positions(&mut func.block_mut(block).params, &stays);
                for &p in &all_preds[block.0 as usize] {
                    let targets = func.block_mut(p).term.targets_mut().filter(|t| t.block == block);
                    targets.for_each(|t| retain_positions(&mut t.args, &stays));
                }
            }
        }
        if dropped == before {
            break;
        }
    }
    if dropped > 0 {
        let map = |v: &mut Value| *v = resolve(&replaced, *v);
        for b in &mut func.blocks {
            b.insts.iter_mut().flat_map(|i| &mut i.args).for_each(map);
            b.term.for_each_arg_mut(map);
        }
    }
    dropped
}

/// Keeps those parameters of blocks (the entry's all stay) for which `keep` holds, and the
/// arguments that jumps pass to them. Nothing may use the others. Returns how many went.
pub(super) fn retain_params(func: &mut Function, keep: impl Fn(&Value) -> bool) -> usize {
    let mut kept: Vec<Option<Vec<bool>>> = vec![None; func.blocks.len()];
    let mut removed = 0;
    for (block, kept) in func.blocks.iter_mut().zip(&mut kept).skip(1) {
        if !block.params.iter().all(&keep) {
            *kept = Some(block.params.iter().map(&keep).collect());
            removed += block.params.len();
            block.params.retain(&keep);
            removed -= block.params.len();
        }
    }
    for target in func.blocks.iter_mut().flat_map(|b| b.term.targets_mut()) {
        if let Some(kept) = &kept[target.block.0 as usize] {
            let mut keep = kept.iter();
            target.args.retain(|_| keep.next().is_some_and(|&k| k));
        }
    }
    removed
}

/// Keeps the values at these positions.
fn retain_positions(values: &mut Vec<Value>, stays: &[bool]) {
    let mut stays = stays.iter();
    values.retain(|_| stays.next().is_none_or(|&s| s));
}

fn resolve(replaced: &HashMap<Value, Value>, mut value: Value) -> Value {
    while let Some(&v) = replaced.get(&value) {
        value = v;
    }
    value
}

/// The one value that all jumps from `preds` give parameter `position` of `block`, apart from the
/// parameter itself.
fn only_argument(
    func: &Function,
    preds: &[BlockId],
    block: BlockId,
    position: usize,
    replaced: &HashMap<Value, Value>,
) -> Option<Value> {
    let param = func.block(block).params[position];
    let mut same = None;
    for &p in preds {
        for t in func.block(p).term.targets().filter(|t| t.block == block) {
            let arg = resolve(replaced, *t.args.get(position)?);
            if arg == param || Some(arg) == same {
                continue;
            }
            if same.is_some() {
                return None;
            }
            same = Some(arg);
        }
    }
    same
}
