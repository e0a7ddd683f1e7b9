//! Lifetimes of the values in a function's frame.
//!
//! Instructions are numbered in the order of [`Flow::order`], two points each: operands are read at
//! the first, results written at the second. A value is alive from where it is written to where it
//! is last read, on every path; the memory of a pixel that does not run an instruction is untouched
//! by it, so that the two sides of a branch may use the same bytes.

use super::flow::Flow;
use super::homes::{Home, Sources};
use shadewright_ir::{BlockId, Function, Terminator, Value};

/// Half-open intervals of points, in order.
pub type Intervals = Vec<(u32, u32)>;

/// The lifetimes of a function's values.
#[derive(Clone, Debug)]
pub struct Lifetimes {
    /// When each value is alive; empty for those that are not in the frame.
    pub of: Vec<Intervals>,
    /// The first point of each block, in the order of the blocks.
    pub start: Vec<u32>,
    /// One more than the last point.
    pub end: u32,
}

/// The values of the frame that a terminator reads: its condition, what it returns, and the
/// arguments of parameters that are in the frame or results.
pub fn terminator_reads(f: &Function, homes: &[Home], sources: &Sources, term: &Terminator) -> Vec<Value> {
    let mut reads = Vec::new();
    match term {
        Terminator::Branch(c, ..) => reads.extend(sources.get(homes, *c)),
        Terminator::Return(values) => values.iter().for_each(|v| reads.extend(sources.get(homes, *v))),
        Terminator::Jump(_) => {}
    }
    for t in term.targets() {
        for (&p, &a) in f.block(t.block).params.iter().zip(&t.args) {
            if homes[p.0 as usize] != Home::Uniform {
                reads.extend(sources.get(homes, a));
            }
        }
    }
    reads
}

/// The values of the frame that are alive where a block ends, for each block.
pub fn live_out(f: &Function, flow: &Flow, homes: &[Home], sources: &Sources) -> Vec<Vec<Value>> {
    let words = f.values.len().div_ceil(64);
    let mut live_in = vec![vec![0u64; words]; f.blocks.len()];
    let set = |bits: &mut Vec<u64>, v: Value| bits[v.0 as usize / 64] |= 1 << (v.0 % 64);
    let clear = |bits: &mut Vec<u64>, v: Value| bits[v.0 as usize / 64] &= !(1 << (v.0 % 64));
    let out = |f: &Function, live_in: &[Vec<u64>], id: BlockId| {
        let mut bits = vec![0u64; words];
        for t in f.block(id).term.targets() {
            bits.iter_mut().zip(&live_in[t.block.0 as usize]).for_each(|(b, i)| *b |= i);
        }
        bits
    };
    loop {
        let mut changed = false;
        for &id in flow.order.iter().rev() {
            let mut live = out(f, &live_in, id);
            let block = f.block(id);
            terminator_reads(f, homes, sources, &block.term).into_iter().for_each(|v| set(&mut live, v));
            for inst in block.insts.iter().rev() {
                inst.results.iter().for_each(|&r| clear(&mut live, r));
                if inst.results.is_empty() || inst.results.iter().any(|r| homes[r.0 as usize] != Home::Virtual) {
                    inst.args.iter().for_each(|&a| sources.get(homes, a).into_iter().for_each(|v| set(&mut live, v)));
                }
            }
            block.params.iter().for_each(|&p| clear(&mut live, p));
            if live != live_in[id.0 as usize] {
                live_in[id.0 as usize] = live;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let list = |bits: Vec<u64>| {
        let is = |i: &usize| bits[i / 64] >> (i % 64) & 1 == 1;
        (0..f.values.len()).filter(is).map(|i| Value(i as u32)).collect()
    };
    f.block_ids().map(|id| list(out(f, &live_in, id))).collect()
}

impl Lifetimes {
    /// The lifetimes of the values of a function.
    pub fn new(f: &Function, flow: &Flow, homes: &[Home]) -> Self {
        let sources = Sources::new(f, flow, homes);
        let live_out = live_out(f, flow, homes, &sources);
        let mut of: Vec<Intervals> = vec![Vec::new(); f.values.len()];
        let mut start = vec![0; f.blocks.len()];
        let mut point = 0u32;
        // One past the last point at which each value of the current block is read.
        let mut last = vec![0u32; f.values.len()];
        for &id in &flow.order {
            let block = f.block(id);
            let first = point;
            start[id.0 as usize] = first;
            let end = first + 2 * block.insts.len() as u32 + 3;
            let mut seen: Vec<Value> = Vec::new();
            let mut read = |last: &mut Vec<u32>, v: Value, to: u32| {
                if last[v.0 as usize] == 0 {
                    seen.push(v);
                }
                last[v.0 as usize] = last[v.0 as usize].max(to);
            };
            live_out[id.0 as usize].iter().for_each(|&v| read(&mut last, v, end));
            terminator_reads(f, homes, &sources, &block.term).into_iter().for_each(|v| read(&mut last, v, end - 1));
            for (i, inst) in block.insts.iter().enumerate() {
                let is_virtual =
                    !inst.results.is_empty() && inst.results.iter().all(|r| homes[r.0 as usize] == Home::Virtual);
                if !is_virtual {
                    let at = first + 1 + 2 * i as u32;
                    let args = inst.args.iter().flat_map(|&a| sources.get(homes, a));
                    args.for_each(|v| read(&mut last, v, at + 1));
                }
            }
            let mut add = |v: Value, from: u32, to: u32| match of[v.0 as usize].last_mut() {
                Some((_, before)) if *before == from => *before = to,
                _ => of[v.0 as usize].push((from, to)),
            };
            let mut defined = Vec::new();
            for &p in block.params.iter().filter(|p| homes[p.0 as usize] == Home::Frame) {
                add(p, first, last[p.0 as usize].max(first + 1));
                defined.push(p);
            }
            for (i, inst) in block.insts.iter().enumerate() {
                for &r in inst.results.iter().filter(|r| homes[r.0 as usize] == Home::Frame) {
                    let at = first + 2 + 2 * i as u32;
                    add(r, at, last[r.0 as usize].max(at + 1));
                    defined.push(r);
                }
            }
            for &v in seen.iter().filter(|v| !defined.contains(v)) {
                add(v, first, last[v.0 as usize]);
            }
            seen.iter().for_each(|v| last[v.0 as usize] = 0);
            point = end;
        }
        Self { of, start, end: point }
    }

    /// The point at which instruction `i` of a block reads its operands.
    pub fn reads_at(&self, block: BlockId, i: usize) -> u32 {
        self.start[block.0 as usize] + 1 + 2 * i as u32
    }
}

/// True if two lists of intervals have a point in common.
pub fn overlap(a: &Intervals, b: &Intervals) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.0 < y.1 && y.0 < x.1 {
            return true;
        }
        if x.1 <= y.1 {
            i += 1;
        } else {
            j += 1;
        }
    }
    false
}

/// Both lists as one.
pub fn union(a: &Intervals, b: &Intervals) -> Intervals {
    let mut all: Vec<(u32, u32)> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    let mut joined: Intervals = Vec::new();
    for (from, to) in all {
        match joined.last_mut() {
            Some((_, end)) if from <= *end => *end = to.max(*end),
            _ => joined.push((from, to)),
        }
    }
    joined
}
