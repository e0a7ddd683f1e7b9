//! Gives every loop one entry, which is what structured control flow can express.
//!
//! A loop with several entries gets a new header: a block that takes the number of the entry and
//! the arguments of all entries, and branches. The code grows by a few blocks for each entry, where
//! node splitting may double it for each nested loop. The sections pass makes such loops (a section
//! may resume in the middle of one); front ends do not.

use crate::{BlockId, Const, Function, Inst, Loc, Op, Target, Terminator, Type, Value};

/// Rewrites the reachable loops that have more than one entry. Returns how many there were.
pub fn make_reducible(func: &mut Function) -> usize {
    let mut rewritten = 0;
    let mut regions = vec![func.reverse_postorder()];
    while let Some(region) = regions.pop() {
        for component in cycles(func, &region) {
            let entries = entries(func, &component);
            let header = match entries.as_slice() {
                [] => continue,
                [one] => Some(*one),
                _ => {
                    add_header(func, &entries);
                    rewritten += 1;
                    None
                }
            };
            // What is left of the loop without the way through its header may hold inner loops.
            regions.push(component.into_iter().filter(|&b| Some(b) != header).collect());
        }
    }
    rewritten
}

/// Blocks of the component that are reached from outside it, in order.
fn entries(func: &Function, component: &[BlockId]) -> Vec<BlockId> {
    let mut inside = vec![false; func.blocks.len()];
    component.iter().for_each(|b| inside[b.0 as usize] = true);
    let mut entered = vec![false; func.blocks.len()];
    for from in func.reverse_postorder() {
        if !inside[from.0 as usize] {
            func.block(from).term.targets().for_each(|t| entered[t.block.0 as usize] = true);
        }
    }
    component.iter().copied().filter(|b| entered[b.0 as usize]).collect()
}

/// Sends all jumps to `entries` through one new block.
fn add_header(func: &mut Function, entries: &[BlockId]) {
    let sources = func.reverse_postorder();
    let types: Vec<Vec<Type>> =
        entries.iter().map(|&e| func.block(e).params.iter().map(|&p| func.ty(p)).collect()).collect();
    let header = func.new_block();
    let which = func.new_value(Type::U32);
    let params: Vec<Vec<Value>> =
        types.iter().map(|types| types.iter().map(|&t| func.new_value(t)).collect()).collect();
    func.block_mut(header).params = std::iter::once(which).chain(params.iter().flatten().copied()).collect();
    for &from in &sources {
        let mut term = func.block(from).term.clone();
        for target in term.targets_mut() {
            let Some(number) = entries.iter().position(|&e| e == target.block) else { continue };
            let mut args = vec![constant(func, from, Const::U32(number as u32))];
            for (i, types) in types.iter().enumerate() {
                match i == number {
                    true => args.append(&mut target.args),
                    false => args.extend(types.iter().map(|&t| constant(func, from, Const::zero(t)))),
                }
            }
            *target = Target { block: header, args };
        }
        func.block_mut(from).term = term;
    }
    let mut at = header;
    for (i, &entry) in entries.iter().enumerate() {
        let target = Target { block: entry, args: params[i].clone() };
        if i + 1 == entries.len() {
            func.block_mut(at).term = Terminator::Jump(target);
            break;
        }
        let number = constant(func, at, Const::U32(i as u32));
        let wanted = func.new_value(Type::Bool);
        let inst = Inst { op: Op::IEq, args: vec![which, number], results: vec![wanted], loc: Loc::NONE };
        func.block_mut(at).insts.push(inst);
        let next = func.new_block();
        let otherwise = Target { block: next, args: vec![] };
        func.block_mut(at).term = Terminator::Branch(wanted, target, otherwise);
        at = next;
    }
}

/// A constant at the end of a block.
fn constant(func: &mut Function, block: BlockId, value: Const) -> Value {
    let result = func.new_value(value.ty());
    let inst = Inst { op: Op::Const(value), args: vec![], results: vec![result], loc: Loc::NONE };
    func.block_mut(block).insts.push(inst);
    result
}

/// The strongly connected components of the graph between the blocks of `region` that hold a cycle,
/// each in the region's order (Tarjan 1972, without recursion).
fn cycles(func: &Function, region: &[BlockId]) -> Vec<Vec<BlockId>> {
    const OUTSIDE: u32 = u32::MAX;
    const NEW: u32 = u32::MAX - 1;
    let mut number = vec![OUTSIDE; func.blocks.len()];
    region.iter().for_each(|b| number[b.0 as usize] = NEW);
    let mut low = vec![0u32; func.blocks.len()];
    let mut open = vec![false; func.blocks.len()];
    let (mut clock, mut stack, mut found) = (0, Vec::new(), Vec::new());
    for &root in region {
        if number[root.0 as usize] != NEW {
            continue;
        }
        let mut walk = vec![(root, 0usize)];
        while let Some((block, next)) = walk.last_mut() {
            let (block, b) = (*block, block.0 as usize);
            if *next == 0 {
                (number[b], low[b], open[b]) = (clock, clock, true);
                clock += 1;
                stack.push(block);
            }
            let target = func.block(block).term.targets().nth(*next).map(|t| t.block);
            *next += 1;
            match target.map(|t| (t, t.0 as usize)) {
                Some((t, i)) if number[i] == NEW => walk.push((t, 0)),
                Some((_, i)) => {
                    if number[i] != OUTSIDE && open[i] {
                        low[b] = low[b].min(number[i]);
                    }
                }
                None => {
                    walk.pop();
                    if let Some((parent, _)) = walk.last() {
                        let p = parent.0 as usize;
                        low[p] = low[p].min(low[b]);
                    }
                    if low[b] == number[b] {
                        let start = stack.iter().rposition(|&s| s == block).unwrap_or(0);
                        let component = stack.split_off(start);
                        component.iter().for_each(|c| open[c.0 as usize] = false);
                        let to_itself = func.block(block).term.targets().any(|t| t.block == block);
                        if component.len() > 1 || to_itself {
                            found.push(component);
                        }
                    }
                }
            }
        }
    }
    let mut place = vec![0; func.blocks.len()];
    region.iter().enumerate().for_each(|(i, b)| place[b.0 as usize] = i);
    found.iter_mut().for_each(|c| c.sort_by_key(|b| place[b.0 as usize]));
    found
}
