//! Forward list scheduling of basic blocks (Węgrzanowski 2006, ch. 9): instructions that long
//! computations wait for go first, and two that fit share an issue slot (§9.3).
//!
//! It runs after register allocation. Calls stay where they are. The instruction that a condition
//! tests is issued last, but what it reads is wanted first; when a block starts, it is known when
//! the results of the blocks before it will be there (§9.4).
//!
//! Each piece of code is scheduled in several ways, which differ in how long an instruction may be
//! held back for a partner, and the cheapest is taken: many threads hide waiting, and nothing hides
//! a slot.

use super::conventions::{FREE, Preserved};
use super::dependence::{Access, CELLS, Graph, cells};
use super::liveness::{LiveSet, Liveness, step};
use super::lower;
use super::pairing::join;
use super::rename::{Renamer, spread};
use super::vcode::{MArith, MFunc, MInst, MOp, MSplit, RegisterOperand};
use shadewright_rpu::isa::{Mask, Reg};
use shadewright_rpu::timed::Latencies;
use std::cmp::Reverse;

/// The weight of the instruction that a condition tests beyond its latency, in cycles: the thread
/// waits for it, while the block's other results can come later.
const CONDITION_WEIGHT: u32 = 8;

/// The least weight of an instruction that cannot carry control, in cycles: more than arithmetic,
/// so that a jump finds some to ride on.
const CARRIER_WEIGHT: u32 = 9;

/// The cost of a slot, in cycles of one thread, when ways to schedule are compared.
const SLOT_COST: u32 = 8;

/// How many of the most wanted instructions are tried when a pair is looked for.
const CANDIDATES: usize = 24;

/// How an instruction is chosen.
#[derive(Clone, Copy, Debug)]
struct Policy {
    /// How many cycles an instruction may be held back for a partner; `None` for one instruction a
    /// slot.
    patience: Option<u32>,
    /// True if a pair goes before a single instruction that is wanted more.
    pairs_first: bool,
}

const SINGLE: [Policy; 1] = [Policy { patience: None, pairs_first: false }];

const PAIRED: [Policy; 4] = [
    Policy { patience: Some(0), pairs_first: false },
    Policy { patience: Some(0), pairs_first: true },
    Policy { patience: Some(6), pairs_first: true },
    Policy { patience: Some(1000), pairs_first: true },
];

/// The rules of scheduling.
pub struct Rules<'a> {
    /// True if two operations may share an issue slot.
    pub split: bool,
    /// When results are there.
    pub latencies: &'a Latencies,
    /// The components of registers that the function must leave as they were, unless it changes
    /// them already.
    pub preserved: &'a Preserved,
    /// True if callers profit from registers that the function does not use.
    pub frugal: bool,
}

impl Rules<'_> {
    /// For each cell, whether a value may move there while it is free.
    fn usable(&self, f: &MFunc) -> Vec<bool> {
        let mut written = vec![false; CELLS];
        for inst in f.blocks.iter().flat_map(|b| &b.insts).filter(|i| !matches!(i.op, MOp::Call { .. })) {
            Access::new(inst, Mask::NONE).writes.into_iter().for_each(|cell| written[cell] = true);
        }
        let mut usable = written.clone();
        for (n, preserved) in self.preserved.iter().enumerate() {
            if !self.frugal || n < usize::from(FREE) || cells(n, Mask::XYZW).any(|cell| written[cell]) {
                cells(n, Mask::from_bits(!preserved.bits())).for_each(|cell| usable[cell] = true);
            }
        }
        if let Some(special) = RegisterOperand::P(Reg::Special).node() {
            cells(special, Mask::XYZW).for_each(|cell| usable[cell] = true);
        }
        usable
    }
}

/// Schedules every block of a function whose registers are allocated.
pub fn schedule(f: &mut MFunc, rules: &Rules) {
    let policies: &[Policy] = if rules.split { &PAIRED } else { &SINGLE };
    let usable = rules.usable(f);
    let liveness = Liveness::new(f);
    let mut live = LiveSet::new(f.nodes());
    let preds = f.predecessors();
    // For each block, when the values at its end can be read, in cycles from there.
    let mut ready: Vec<Option<Vec<u32>>> = vec![None; f.blocks.len()];
    for b in f.reverse_postorder() {
        let mut available = vec![0; CELLS];
        for earlier in preds[b].iter().filter_map(|&p| ready[p].as_ref()) {
            available.iter_mut().zip(earlier).for_each(|(a, &e)| *a = (*a).max(e));
        }
        liveness.load_out(&f.blocks[b].term, &mut live);
        let pieces = pieces(f, b, &mut live, &usable);
        let tested = f.blocks[b].term.tested();
        let last = pieces.len() - 1;
        let mut insts = Vec::with_capacity(f.blocks[b].insts.len());
        for (k, piece) in pieces.into_iter().enumerate() {
            let tested = if k == last { tested } else { Mask::NONE };
            let task = Task { insts: piece.insts, tested, taken: piece.taken, available };
            let spread = task.spread();
            let best = [&task, &spread]
                .into_iter()
                .flat_map(|t| policies.iter().map(|&policy| t.run(policy, rules.latencies)))
                .min_by_key(|s| (s.insts.len() as u32 * SLOT_COST + s.cycles, s.insts.len()));
            available = vec![0; CELLS];
            if let Some(best) = best {
                insts.extend(best.insts);
                if k == last {
                    available = best.available;
                }
            }
            insts.extend(piece.call);
        }
        f.blocks[b].insts = insts;
        ready[b] = Some(available);
    }
}

/// Straight code up to a call or the block's end.
struct Piece {
    insts: Vec<MInst>,
    /// The call after it.
    call: Option<MInst>,
    /// True if each cell is needed after it, or must not be used at all.
    taken: Vec<bool>,
}

/// The pieces of a block, at least one, given what is `live` at its end; it becomes what is live at
/// the start. The last piece has no call, and may be empty.
fn pieces(f: &MFunc, b: usize, live: &mut LiveSet, usable: &[bool]) -> Vec<Piece> {
    let block = &f.blocks[b];
    let flags = |live: &LiveSet| {
        let mut flags: Vec<bool> = usable.iter().map(|&u| !u).collect();
        live.iter().flat_map(|(n, mask)| cells(n, mask)).for_each(|c| flags[c] = true);
        flags
    };
    let mut pieces = vec![Piece { insts: Vec::new(), call: None, taken: flags(live) }];
    for (i, inst) in block.insts.iter().enumerate().rev() {
        step(block, i, live);
        match inst.op {
            MOp::Call { .. } => {
                pieces.push(Piece { insts: Vec::new(), call: Some(inst.clone()), taken: flags(live) });
            }
            _ => {
                if let Some(piece) = pieces.last_mut() {
                    piece.insts.push(inst.clone());
                }
            }
        }
    }
    pieces.iter_mut().for_each(|p| p.insts.reverse());
    pieces.reverse();
    pieces
}

/// A piece of code to be scheduled.
struct Task {
    insts: Vec<MInst>,
    /// The positions of the last instruction's result that the condition tests.
    tested: Mask,
    /// True if each cell is needed after it, or must not be used at all.
    taken: Vec<bool>,
    /// For each cell, the cycle in which its value from before can be read.
    available: Vec<u32>,
}

/// A piece of code in its new order.
#[derive(Debug)]
struct Scheduled {
    insts: Vec<MInst>,
    /// The cycle in which the last result is there.
    cycles: u32,
    /// For each cell, how many cycles after the piece its value can be read.
    available: Vec<u32>,
}

impl Task {
    /// The same with its short-lived values in as many registers as possible.
    fn spread(&self) -> Task {
        let mut insts = self.insts.clone();
        spread(&mut insts, self.tested, &self.taken);
        Task { insts, tested: self.tested, taken: self.taken.clone(), available: self.available.clone() }
    }

    fn run(&self, policy: Policy, latencies: &Latencies) -> Scheduled {
        let n = self.insts.len();
        let pinned = (!self.tested.is_empty()).then(|| n.wrapping_sub(1));
        let tested_at = |i: usize| if Some(i) == pinned { self.tested } else { Mask::NONE };
        let accesses: Vec<Access> =
            self.insts.iter().enumerate().map(|(i, inst)| Access::new(inst, tested_at(i))).collect();
        let cycles: Vec<u32> =
            self.insts.iter().map(|inst| lower::instr(inst).map_or(1, |i| latencies.instruction(&i))).collect();
        let graph = Graph::new(&accesses, &cycles, &self.available);
        let mut weights = cycles.clone();
        for (weight, inst) in weights.iter_mut().zip(&self.insts) {
            if inst.arith().is_none() {
                *weight = CARRIER_WEIGHT.max(*weight);
            }
        }
        if let Some(weight) = pinned.and_then(|p| weights.get_mut(p)) {
            *weight += CONDITION_WEIGHT;
        }
        let ready = (0..n).filter(|&i| graph.waiting[i] == 0).collect();
        let mut list = List {
            task: self,
            policy,
            pinned,
            path: graph.paths(&weights),
            waiting: graph.waiting.clone(),
            start: graph.earliest.clone(),
            graph,
            latencies: cycles,
            renamer: Renamer::new(&self.insts, accesses, self.tested, self.taken.clone()),
            insts: self.insts.clone(),
            ready,
            left: n,
            cycle: 0,
            end: 0,
            available: self.available.clone(),
            order: Vec::with_capacity(n),
        };
        while list.left > 0 {
            list.step();
        }
        list.finish()
    }
}

/// A schedule in the making.
struct List<'a> {
    task: &'a Task,
    policy: Policy,
    /// The instruction that stays last.
    pinned: Option<usize>,
    graph: Graph,
    latencies: Vec<u32>,
    /// For each instruction, how long computations are that wait for it.
    path: Vec<u32>,
    /// For each instruction, the number of those before it that are not issued.
    waiting: Vec<usize>,
    /// For each instruction, the first cycle in which it could issue, as far as known.
    start: Vec<u32>,
    renamer: Renamer,
    /// The instructions, with results renamed.
    insts: Vec<MInst>,
    /// Instructions that wait for no other to be issued.
    ready: Vec<usize>,
    /// Number of instructions still to be issued.
    left: usize,
    cycle: u32,
    /// The cycle in which all results so far are there.
    end: u32,
    /// For each cell, the cycle in which its value can be read.
    available: Vec<u32>,
    order: Vec<MInst>,
}

/// Two instructions in one slot.
struct Couple {
    split: MSplit,
    partner: usize,
    /// An instruction whose result moved, and its new form.
    renamed: Option<(usize, MArith)>,
}

impl List<'_> {
    /// Issues what goes into the next slot.
    fn step(&mut self) {
        let horizon = self.cycle.saturating_add(self.policy.patience.unwrap_or(0));
        let mut open: Vec<usize> =
            self.ready.iter().copied().filter(|&i| self.left == 1 || Some(i) != self.pinned).collect();
        open.sort_unstable_by_key(|&i| Reverse(self.priority(i)));
        let now: Vec<usize> = open.iter().copied().filter(|&i| self.start[i] <= self.cycle).collect();
        let Some(&best) = now.first() else {
            // Another thread runs meanwhile.
            self.cycle = open.iter().map(|&i| self.start[i]).min().unwrap_or(self.cycle + 1).max(self.cycle + 1);
            return;
        };
        if self.policy.patience.is_none() {
            return self.issue(best, None);
        }
        let firsts: Vec<usize> = if self.policy.pairs_first {
            open.iter().copied().filter(|&i| self.start[i] <= horizon).take(CANDIDATES).collect()
        } else {
            vec![best]
        };
        for first in firsts {
            if let Some(couple) = self.couple(first, &open, horizon) {
                return self.issue(first, Some(couple));
            }
        }
        self.issue(best, None);
    }

    /// The priority of an instruction, greatest first: long computations, then what many wait for,
    /// then the slow, then the first (§9).
    fn priority(&self, i: usize) -> (u32, usize, u32, Reverse<usize>) {
        (self.path[i], self.graph.successors[i].len(), self.latencies[i], Reverse(i))
    }

    /// The most wanted instruction that can share an issue slot with `first`.
    fn couple(&mut self, first: usize, open: &[usize], horizon: u32) -> Option<Couple> {
        self.insts[first].arith()?;
        let at = self.cycle.max(self.start[first]);
        let horizon = if self.policy.pairs_first { horizon } else { at };
        // What only overwrites a source of `first` may share its slot.
        let freed =
            self.graph.successors[first].iter().filter(|e| e.delay == 0 && self.waiting[e.to] == 1).map(|e| e.to);
        let pinned = self.pinned.filter(|&p| self.left == 2 && first != p && self.ready.contains(&p));
        let mut partners: Vec<usize> = open
            .iter()
            .copied()
            .filter(|&i| i != first)
            .chain(freed.filter(|&i| Some(i) != self.pinned || self.left == 2))
            .chain(pinned)
            .filter(|&i| Some(i) == self.pinned || self.start[i] <= horizon)
            .collect();
        partners.sort_unstable_by_key(|&i| Reverse(self.priority(i)));
        partners.truncate(CANDIDATES);
        partners.into_iter().find_map(|partner| self.fit(first, partner))
    }

    /// Puts two instructions into one slot, moving one result to another component if need be.
    fn fit(&mut self, first: usize, partner: usize) -> Option<Couple> {
        let tested = |i: usize| if Some(i) == self.pinned { self.task.tested } else { Mask::NONE };
        let (a, b) = (self.insts[first].arith()?, self.insts[partner].arith()?);
        if let Some(split) = join((a, tested(first)), (b, tested(partner))) {
            return Some(Couple { split, partner, renamed: None });
        }
        for (moving, fixed) in [(partner, first), (first, partner)] {
            let stays = self.insts[fixed].arith()?;
            for form in self.renamer.forms(&self.insts, moving, fixed) {
                if let Some(split) = join((stays, tested(fixed)), (&form, tested(moving))) {
                    return Some(Couple { split, partner, renamed: Some((moving, form)) });
                }
            }
        }
        None
    }

    fn issue(&mut self, first: usize, couple: Option<Couple>) {
        let partner = couple.as_ref().map(|c| c.partner);
        for i in [Some(first), partner].into_iter().flatten() {
            self.cycle = self.cycle.max(self.start[i]);
        }
        if let Some(Couple { split, partner, renamed }) = couple {
            if let Some((i, form)) = renamed {
                self.renamer.apply(&mut self.insts, self.task.tested, i, form);
            }
            let slowest = self.latencies[first].max(self.latencies[partner]);
            (self.latencies[first], self.latencies[partner]) = (slowest, slowest);
            self.order.push(MInst { op: MOp::Split(split), loc: self.insts[first].loc });
        } else {
            self.order.push(self.insts[first].clone());
        }
        for i in [Some(first), partner].into_iter().flatten() {
            self.account(i);
        }
        self.cycle += 1;
    }

    /// Marks an instruction as issued in this cycle.
    fn account(&mut self, i: usize) {
        self.ready.retain(|&r| r != i);
        self.left -= 1;
        self.renamer.scheduled(i);
        let done = self.cycle + self.latencies[i];
        self.end = self.end.max(done);
        let tested = if Some(i) == self.pinned { self.task.tested } else { Mask::NONE };
        for cell in Access::new(&self.insts[i], tested).writes {
            self.available[cell] = done;
        }
        for k in 0..self.graph.successors[i].len() {
            let edge = self.graph.successors[i][k];
            self.start[edge.to] = self.start[edge.to].max(self.cycle + edge.delay);
            self.waiting[edge.to] -= 1;
            if self.waiting[edge.to] == 0 {
                self.ready.push(edge.to);
            }
        }
    }

    fn finish(mut self) -> Scheduled {
        // A conditional jump waits for what it tests.
        let over =
            self.pinned.and_then(|p| self.latencies.get(p)).map_or(self.cycle, |l| self.cycle.max(self.cycle - 1 + l));
        self.available.iter_mut().for_each(|a| *a = a.saturating_sub(over));
        Scheduled { insts: self.order, cycles: self.end, available: self.available }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpu::vcode::MSrc;
    use shadewright_ir::Loc;
    use shadewright_rpu::disasm::disassemble;
    use shadewright_rpu::isa::{Component, Control, EntryPoint, Instr, Op, Program, Waits};
    use shadewright_rpu::timed::{self, CHUNK, Chunk, Config, Source, Timing};
    use shadewright_rpu::{EmptyScene, Executable, ExecutionContext, Limits, depend};
    use std::sync::atomic::AtomicBool;

    fn reg(n: u8) -> MSrc {
        MSrc::place(RegisterOperand::P(Reg::R(n)))
    }

    fn component(n: u8, c: Component) -> MSrc {
        MSrc::component(RegisterOperand::P(Reg::R(n)), c)
    }

    fn inst(op: Op, to: u8, mask: Mask, sources: &[MSrc]) -> MInst {
        MInst { op: MOp::Arith(MArith::new(op, RegisterOperand::P(Reg::R(to)), mask, sources)), loc: Loc::default() }
    }

    /// A piece of code that starts when everything is there; `live` registers are needed after it.
    fn task(insts: Vec<MInst>, tested: Mask, live: &[u8]) -> Task {
        let mut taken = vec![false; CELLS];
        live.iter().flat_map(|&n| cells(n.into(), Mask::XYZW)).for_each(|c| taken[c] = true);
        Task { insts, tested, taken, available: vec![0; CELLS] }
    }

    fn text(s: &Scheduled) -> String {
        let code = s.insts.iter().map(|i| lower::instr(i).expect("a machine instruction")).collect();
        disassemble(&Program { code, ..Program::default() })
    }

    fn best(task: &Task) -> Scheduled {
        let latencies = Config::default().latencies;
        let ways = PAIRED.iter().map(|&p| task.run(p, &latencies));
        ways.min_by_key(|s| (s.insts.len(), s.cycles)).expect("there are several")
    }

    /// Węgrzanowski 2006, figure 9.1: A and B are R0 and R1; X, Y, Z, D, E, F are R2 to R7.
    fn figure() -> Vec<MInst> {
        let all = Mask::XYZW;
        vec![
            inst(Op::Add, 2, all, &[reg(0), MSrc::float(1.0)]),
            inst(Op::Dp3, 3, all, &[reg(1), reg(1)]),
            inst(Op::Mul, 4, all, &[reg(2), reg(3)]),
            inst(Op::Dp3, 5, all, &[reg(0), reg(1)]),
            inst(Op::Mul, 6, all, &[reg(0), MSrc::float(5.0)]),
            inst(Op::Add, 7, all, &[reg(5), reg(6)]),
        ]
    }

    #[test]
    fn the_published_example_takes_11_cycles() {
        let scheduled = task(figure(), Mask::NONE, &[4, 7]).run(SINGLE[0], &Config::default().latencies);
        assert_eq!(scheduled.cycles, 11);
        let original = figure();
        let order: Vec<usize> =
            scheduled.insts.iter().filter_map(|i| original.iter().position(|o| o == i)).map(|n| n + 1).collect();
        assert_eq!(order, [2, 4, 5, 1, 3, 6]);
    }

    /// One chunk of threads that starts with zeros.
    struct Once(bool);

    impl Source for Once {
        fn start(&mut self, _: &mut Chunk<'_>) -> Option<u8> {
            std::mem::take(&mut self.0).then_some(15)
        }

        fn finish(&mut self, _: u64, _: &Chunk<'_>, _: [u64; CHUNK]) {}
    }

    /// The cycle in which the timed simulator has the last result of instructions that one chunk
    /// issues in this order.
    fn timed_cycles(insts: &[MInst]) -> u64 {
        let mut code: Vec<Instr> = insts.iter().map(|i| lower::instr(i).expect("a machine instruction")).collect();
        code.push(Instr::Control(Control::Return));
        let (config, entries) = (Config::default(), vec![EntryPoint { name: "f".into(), address: 0 }]);
        let mut program = Program { code, entries, ..Program::default() };
        program.waits = depend::flags(&program, &[], &config.latencies);
        // The return waits for everything.
        if let Some(last) = program.waits.last_mut() {
            *last = Waits::ALL;
        }
        let context = ExecutionContext {
            program: &Executable::new(&program).expect("valid"),
            constants: &[[0; 4]; 32],
            memory: &[],
            textures: &[],
            shaders: &[],
            tracer: &EmptyScene,
            limits: Limits::default(),
            stop: &AtomicBool::new(false),
        };
        let stats = timed::run(&context, &Timing::new(&program, &config), 0, &mut Once(true)).expect("it ends");
        stats.cycles - u64::from(config.latencies.control)
    }

    #[test]
    fn the_published_example_takes_11_cycles_of_the_timed_simulator_and_16_as_it_is() {
        let scheduled = task(figure(), Mask::NONE, &[4, 7]).run(SINGLE[0], &Config::default().latencies);
        assert_eq!((timed_cycles(&scheduled.insts), timed_cycles(&figure())), (11, 16));
    }

    #[test]
    fn a_scalar_shares_the_slot_of_a_vector() {
        let vector = inst(Op::Add, 2, Mask::XYZ, &[reg(0), reg(1)]);
        let scalar = inst(Op::Mul, 3, Mask::W, &[component(0, Component::W), component(1, Component::W)]);
        let scheduled = best(&task(vec![vector, scalar], Mask::NONE, &[2, 3]));
        assert_eq!(text(&scheduled), "    add R2.xyz, R0, R1 | mul R3.w, R0.w, R1.w\n");
    }

    #[test]
    fn a_scalar_that_nobody_else_sees_moves_to_another_component_to_share_a_slot() {
        let c = |n| component(n, Component::W);
        let insts = vec![
            inst(Op::Add, 2, Mask::W, &[c(0), c(1)]),
            inst(Op::Mul, 3, Mask::W, &[c(0), c(1)]),
            inst(Op::Mul, 4, Mask::W, &[c(2), c(3)]),
        ];
        let scheduled = best(&task(insts.clone(), Mask::NONE, &[4]));
        assert_eq!(scheduled.insts.len(), 2, "{}", text(&scheduled));
        let kept = best(&task(insts, Mask::NONE, &[2, 3, 4]));
        assert_eq!(kept.insts.len(), 3, "{}", text(&kept));
    }

    #[test]
    fn what_overwrites_a_source_may_share_the_slot_of_its_reader_but_not_precede_it() {
        let reader = inst(Op::Add, 2, Mask::XYZ, &[component(3, Component::W), reg(1)]);
        let writer = inst(Op::Mul, 3, Mask::W, &[component(1, Component::W), component(1, Component::X)]);
        let scheduled = best(&task(vec![reader.clone(), writer.clone()], Mask::NONE, &[2, 3]));
        assert_eq!(scheduled.insts.len(), 1, "{}", text(&scheduled));
        let single = task(vec![reader.clone(), writer.clone()], Mask::NONE, &[2, 3])
            .run(SINGLE[0], &Config::default().latencies);
        assert_eq!(single.insts, [reader, writer]);
    }

    #[test]
    fn what_a_condition_tests_is_last_and_what_it_needs_is_first() {
        let insts = vec![
            inst(Op::Mul, 2, Mask::XYZW, &[reg(0), reg(0)]),
            inst(Op::Mul, 3, Mask::XYZW, &[reg(2), reg(0)]),
            inst(Op::Add, 4, Mask::XYZW, &[reg(1), reg(1)]),
            inst(Op::Add, 5, Mask::XYZW, &[reg(4), reg(1)]),
        ];
        let scheduled = task(insts.clone(), Mask::W, &[3, 5]).run(SINGLE[0], &Config::default().latencies);
        let order: Vec<_> = [2, 0, 1, 3].iter().map(|&i| insts[i].clone()).collect();
        assert_eq!(scheduled.insts, order);
    }
}
