//! Forward list scheduling of basic blocks (Węgrzanowski 2006, ch. 9): instructions that long computations wait for go first.
//!
//! It runs after register allocation. Traces and calls stay where they are, as does the instruction that a condition tests. Writes to the junk
//! register do not order instructions.

use super::vcode::{MFunc, MInst, MOp};
use crate::rpu::isa::{Mask, OpClass};

/// Cycles until the result of an instruction can be read. The machine is a model, so these are too; what matters is that memory is far.
pub fn latency(inst: &MInst) -> u32 {
    match &inst.op {
        MOp::Arith(a) if a.special.is_some() => 8,
        MOp::Arith(a) => match a.op.class() {
            OpClass::Dot => 5,
            OpClass::Componentwise => 4,
            OpClass::Integer | OpClass::ToInteger | OpClass::FromInteger => 3,
        },
        MOp::Load { .. } => 20,
        MOp::Store { .. } | MOp::Trace { .. } | MOp::Call { .. } => 1,
    }
}

/// Schedules every block of a function.
pub fn schedule(f: &mut MFunc) {
    for block in &mut f.blocks {
        let has_test = !block.term.tested().is_empty();
        let pinned = has_test.then(|| block.insts.pop()).flatten();
        let insts = std::mem::take(&mut block.insts);
        let mut region = Vec::new();
        for inst in insts {
            if matches!(inst.op, MOp::Trace { .. } | MOp::Call { .. }) {
                block.insts.append(&mut scheduled(std::mem::take(&mut region)));
                block.insts.push(inst);
            } else {
                region.push(inst);
            }
        }
        block.insts.append(&mut scheduled(region));
        block.insts.extend(pinned);
    }
}

/// The effects that order instructions.
struct Effects {
    reads: Vec<(usize, Mask)>,
    writes: Vec<(usize, Mask)>,
    memory_read: bool,
    memory_write: bool,
}

impl Effects {
    fn of(inst: &MInst) -> Effects {
        let mut e = Effects {
            reads: Vec::new(),
            writes: Vec::new(),
            memory_read: matches!(inst.op, MOp::Load { scratch: true, .. }),
            memory_write: matches!(inst.op, MOp::Store { .. }),
        };
        inst.for_each_use(Mask::NONE, |p, m| e.reads.extend(p.node().map(|n| (n, m))));
        inst.for_each_def(|p, m| e.writes.extend(p.node().map(|n| (n, m))));
        e
    }

    /// Whether `later` must wait for this to finish (`Some(true)`), only to start (`Some(false)`), or not at all.
    fn orders(&self, later: &Effects) -> Option<bool> {
        let meet = |a: &[(usize, Mask)], b: &[(usize, Mask)]| {
            a.iter().any(|(n, m)| b.iter().any(|(o, k)| n == o && m.bits() & k.bits() != 0))
        };
        if meet(&self.writes, &later.reads) {
            return Some(true);
        }
        let memory =
            self.memory_write && (later.memory_read || later.memory_write) || self.memory_read && later.memory_write;
        (meet(&self.reads, &later.writes) || meet(&self.writes, &later.writes) || memory).then_some(false)
    }
}

fn scheduled(insts: Vec<MInst>) -> Vec<MInst> {
    let n = insts.len();
    if n < 2 {
        return insts;
    }
    let effects: Vec<Effects> = insts.iter().map(Effects::of).collect();
    let mut successors: Vec<Vec<(usize, u32)>> = vec![Vec::new(); n];
    let mut waiting = vec![0usize; n];
    for j in 0..n {
        for i in (0..j).rev() {
            if let Some(finish) = effects[i].orders(&effects[j]) {
                successors[i].push((j, if finish { latency(&insts[i]) } else { 1 }));
                waiting[j] += 1;
            }
        }
    }
    let mut path = vec![0u32; n];
    for i in (0..n).rev() {
        let after = successors[i].iter().map(|&(j, delay)| path[j] + delay).max().unwrap_or(0);
        path[i] = after.max(latency(&insts[i]));
    }
    let mut ready_at = vec![0u32; n];
    let mut ready: Vec<usize> = (0..n).filter(|&i| waiting[i] == 0).collect();
    let mut order = Vec::with_capacity(n);
    let mut cycle = 0;
    while order.len() < n {
        let best = ready
            .iter()
            .enumerate()
            .filter(|(_, i)| ready_at[**i] <= cycle)
            .max_by_key(|(_, i)| (path[**i], successors[**i].len(), latency(&insts[**i]), std::cmp::Reverse(**i)))
            .map(|(k, _)| k);
        let Some(k) = best else {
            // Another thread runs meanwhile.
            cycle = ready.iter().map(|&i| ready_at[i]).min().unwrap_or(cycle + 1);
            continue;
        };
        let i = ready.swap_remove(k);
        order.push(i);
        for &(j, delay) in &successors[i] {
            ready_at[j] = ready_at[j].max(cycle + delay);
            waiting[j] -= 1;
            if waiting[j] == 0 {
                ready.push(j);
            }
        }
        cycle += 1;
    }
    let mut slots: Vec<Option<MInst>> = insts.into_iter().map(Some).collect();
    order.into_iter().filter_map(|i| slots[i].take()).collect()
}
