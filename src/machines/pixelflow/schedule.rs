//! The order of instructions that keeps few bytes alive.
//!
//! Two steps. Values that take no more room than what they are computed from are computed where
//! they are first needed, on the side of a branch that needs them. Then each block is ordered from
//! its end: of the instructions whose results all have been used, the one that frees most is next
//! (the order of Sethi and Ullman 1970 on expression trees, found greedily where values are
//! shared). Ties are broken in several ways, and the order with the fewest bytes is kept.

use super::flow::Flow;
use super::homes::{Home, Sources};
use super::lifetimes::{live_out, terminator_reads};
use super::widths::Width;
use shadewright_ir::dominators::Dominators;
use shadewright_ir::random::Random;
use shadewright_ir::{BlockId, Function, Inst, Op, Value};
use std::collections::HashMap;

/// Orders that are tried for a block, at most, and the instructions times tries that it may take.
const TRIES: usize = 120;
const WORK: usize = 30_000;

/// The facts that the scheduler knows of a function.
pub struct Facts<'a> {
    /// The shape of the function.
    pub flow: &'a Flow,
    /// Where values are kept.
    pub homes: &'a [Home],
    /// How large they are.
    pub widths: &'a [Width],
}

impl Facts<'_> {
    fn bytes(&self, v: Value) -> i64 {
        match self.homes[v.0 as usize] {
            Home::Frame => i64::from(self.widths[v.0 as usize].bytes),
            _ => 0,
        }
    }
}

/// True if an instruction may be moved among others.
fn is_movable(inst: &Inst) -> bool {
    (inst.op.is_pure() || matches!(inst.op, Op::Call(_))) && !matches!(inst.op, Op::Const(_))
}

/// Moves instructions into the blocks that need their results.
pub fn sink(f: &mut Function, facts: &Facts<'_>) {
    let tree = Dominators::new(f);
    let flow = facts.flow;
    let mut used_in: Vec<Vec<BlockId>> = vec![Vec::new(); f.values.len()];
    for &id in flow.order.iter().rev() {
        let uses = |f: &Function, used_in: &mut Vec<Vec<BlockId>>| {
            f.block(id).term.for_each_arg(|v| used_in[v.0 as usize].push(id));
        };
        uses(f, &mut used_in);
        let mut kept = Vec::new();
        for inst in std::mem::take(&mut f.block_mut(id).insts).into_iter().rev() {
            let uses: Vec<BlockId> = inst.results.iter().flat_map(|r| used_in[r.0 as usize].iter().copied()).collect();
            let given: i64 = inst.results.iter().map(|&r| facts.bytes(r)).sum();
            let taken: i64 = inst.args.iter().map(|&a| facts.bytes(a)).sum();
            let is_useful = is_movable(&inst) && !uses.is_empty() && taken <= given && given > 0;
            let to = if is_useful { destination(&tree, flow, id, &uses) } else { id };
            inst.args.iter().for_each(|a| used_in[a.0 as usize].push(to));
            if to == id {
                kept.push(inst);
            } else {
                // Those moved there before need its result, or do not depend on it.
                f.block_mut(to).insts.insert(0, inst);
            }
        }
        kept.reverse();
        let moved = std::mem::take(&mut f.block_mut(id).insts);
        debug_assert!(moved.is_empty());
        f.block_mut(id).insts = kept;
    }
}

/// The last block before all uses that is in no further loop.
fn destination(tree: &Dominators, flow: &Flow, from: BlockId, uses: &[BlockId]) -> BlockId {
    let mut to = uses[0];
    for &u in &uses[1..] {
        while !tree.dominates(to, u) {
            match tree.immediate(to) {
                Some(up) => to = up,
                None => return from,
            }
        }
    }
    while flow.depth[to.0 as usize] > flow.depth[from.0 as usize] {
        match tree.immediate(to) {
            Some(up) => to = up,
            None => return from,
        }
    }
    if tree.dominates(from, to) { to } else { from }
}

/// Orders the instructions of each block. `frame_of` gives the bytes of a function's own frame.
pub fn order(f: &mut Function, facts: &Facts<'_>, frame_of: &dyn Fn(&Inst) -> u32) {
    let sources = Sources::new(f, facts.flow, facts.homes);
    let out = live_out(f, facts.flow, facts.homes, &sources);
    for &id in &facts.flow.order {
        let mut live = out[id.0 as usize].clone();
        live.extend(terminator_reads(f, facts.homes, &sources, &f.block(id).term));
        live.sort();
        live.dedup();
        let insts = std::mem::take(&mut f.block_mut(id).insts);
        f.block_mut(id).insts = Block::new(insts, live, facts, &sources, frame_of).ordered();
    }
}

/// The cost of an order, the most important part first.
type Cost = (i64, i64, i64);

struct Block<'a> {
    insts: Vec<Inst>,
    live_out: Vec<Value>,
    /// For each instruction, the values of the frame that it reads and writes.
    reads: Vec<Vec<Value>>,
    writes: Vec<Vec<Value>>,
    /// For each instruction, those that come before it, and how many come after it.
    before: Vec<Vec<usize>>,
    after: Vec<usize>,
    frames: Vec<i64>,
    facts: &'a Facts<'a>,
}

impl<'a> Block<'a> {
    fn new(
        insts: Vec<Inst>,
        live_out: Vec<Value>,
        facts: &'a Facts<'a>,
        sources: &Sources,
        frame_of: &dyn Fn(&Inst) -> u32,
    ) -> Self {
        let is_frame = |v: &&Value| facts.homes[v.0 as usize] == Home::Frame;
        let mut definer: HashMap<Value, usize> = HashMap::new();
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); insts.len()];
        let mut after = vec![0; insts.len()];
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        // What must stay in order: accesses to an array, of which one is a write.
        let mut last_store: HashMap<u32, usize> = HashMap::new();
        let mut loads: HashMap<u32, Vec<usize>> = HashMap::new();
        for (i, inst) in insts.iter().enumerate() {
            let mut needed: Vec<usize> = inst.args.iter().filter_map(|a| definer.get(a).copied()).collect();
            match inst.op {
                Op::SlotLoad(s) => {
                    needed.extend(last_store.get(&s.0));
                    loads.entry(s.0).or_default().push(i);
                }
                Op::SlotStore(s) => {
                    needed.extend(last_store.insert(s.0, i));
                    needed.extend(loads.remove(&s.0).unwrap_or_default());
                }
                _ => {}
            }
            needed.sort_unstable();
            needed.dedup();
            needed.iter().for_each(|&n| after[n] += 1);
            before[i] = needed;
            inst.results.iter().for_each(|&r| {
                definer.insert(r, i);
            });
            let is_virtual =
                !inst.results.is_empty() && inst.results.iter().all(|r| facts.homes[r.0 as usize] == Home::Virtual);
            let mut read: Vec<Value> = match is_virtual {
                true => Vec::new(),
                false => inst.args.iter().flat_map(|&a| sources.get(facts.homes, a)).collect(),
            };
            read.sort();
            read.dedup();
            reads.push(read);
            writes.push(inst.results.iter().filter(is_frame).copied().collect());
        }
        let frames = insts.iter().map(|i| i64::from(frame_of(i))).collect();
        Self { insts, live_out, reads, writes, before, after, frames, facts }
    }

    fn ordered(self) -> Vec<Inst> {
        let n = self.insts.len();
        if n == 0 {
            return self.insts;
        }
        let mut best: Vec<usize> = (0..n).collect();
        let mut least = self.cost(&best);
        let mut random = Random::new(7);
        let tries = (WORK / n).clamp(1, TRIES);
        for attempt in 0..tries {
            let found = self.greedy(attempt, &mut random);
            let cost = self.cost(&found);
            if cost < least {
                (least, best) = (cost, found);
            }
        }
        let mut insts: Vec<Option<Inst>> = self.insts.into_iter().map(Some).collect();
        best.into_iter().filter_map(|i| insts[i].take()).collect()
    }

    /// The most bytes alive, the most with the frames of called functions, and their sum over all
    /// instructions.
    fn cost(&self, order: &[usize]) -> Cost {
        let mut live = Live::new(self);
        let (mut own, mut all, mut sum) = (live.bytes, live.bytes, 0);
        for &i in order.iter().rev() {
            own = own.max(live.bytes + live.missing(&self.writes[i]));
            live.remove(&self.writes[i]);
            let through = live.bytes;
            live.add(&self.reads[i]);
            own = own.max(live.bytes);
            all = all.max(live.bytes.max(through) + self.frames[i]);
            sum += live.bytes;
        }
        (own, all.max(own), sum)
    }

    fn greedy(&self, attempt: usize, random: &mut Random) -> Vec<usize> {
        let mut waiting = self.after.clone();
        let mut ready: Vec<usize> = (0..self.insts.len()).filter(|&i| waiting[i] == 0).collect();
        let mut live = Live::new(self);
        let mut order = Vec::with_capacity(self.insts.len());
        while !ready.is_empty() {
            let noise = |random: &mut Random| match attempt {
                0 | 1 => 0,
                _ => random.below(1 + attempt % 5) as i64,
            };
            let mut choice: Option<((i64, i64), usize)> = None;
            for (at, &i) in ready.iter().enumerate() {
                let freed: i64 =
                    self.writes[i].iter().filter(|v| live.is[v.0 as usize]).map(|&v| self.facts.bytes(v)).sum();
                let added = live.missing(&self.reads[i]);
                // Ties: the last in the code, or, in other attempts, the first.
                let tie = if attempt.is_multiple_of(2) { -(i as i64) } else { i as i64 };
                let key = (added - freed + noise(random), tie);
                if choice.is_none_or(|(least, _)| key < least) {
                    choice = Some((key, at));
                }
            }
            let Some((_, at)) = choice else { break };
            let i = ready.swap_remove(at);
            order.push(i);
            live.remove(&self.writes[i]);
            live.add(&self.reads[i]);
            for &b in &self.before[i] {
                waiting[b] -= 1;
                if waiting[b] == 0 {
                    ready.push(b);
                }
            }
        }
        order.reverse();
        order
    }
}

/// The values that are alive while a block is walked from its end.
struct Live<'a> {
    is: Vec<bool>,
    bytes: i64,
    facts: &'a Facts<'a>,
}

impl<'a> Live<'a> {
    fn new(block: &Block<'a>) -> Self {
        let mut live = Self { is: vec![false; block.facts.homes.len()], bytes: 0, facts: block.facts };
        live.add(&block.live_out);
        live
    }

    fn add(&mut self, values: &[Value]) {
        for v in values {
            if !std::mem::replace(&mut self.is[v.0 as usize], true) {
                self.bytes += self.facts.bytes(*v);
            }
        }
    }

    fn remove(&mut self, values: &[Value]) {
        for v in values {
            if std::mem::replace(&mut self.is[v.0 as usize], false) {
                self.bytes -= self.facts.bytes(*v);
            }
        }
    }

    fn missing(&self, values: &[Value]) -> i64 {
        values.iter().filter(|v| !self.is[v.0 as usize]).map(|&v| self.facts.bytes(v)).sum()
    }
}
