//! Register allocation by graph coloring with interference and affinity (Węgrzanowski 2006, ch.
//! 8).
//!
//! The graph of [`super::interference`] is colored with places: components of `R0`–`R14` and of
//! the stack window `S0`–`S7`. What lives across a call can only be on the stack, where it is
//! computed directly, and `push` covers it; other values go there when the `R` registers run out.
//! Values that find no register go to the thread's memory ([`super::spill`]), and allocation restarts.

use super::conventions::{FREE, Preserved};
use super::interference::{
    Affinity, Interference, block_weight, components_of, for_each_across_call, node_of, position, vreg_of,
};
use super::liveness::{LiveSet, Liveness, step};
use super::vcode::{
    ALLOCATABLE, MArith, MFunc, MInst, MOp, MSrc, PHYSICAL_NODES, RegisterClass, RegisterOperand, VReg,
};
use super::{preserve, spill};
use shadewright_rpu::isa::{Component, Mask, Reg, STACK_WINDOW, Swizzle};
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};

/// Number of rows: `R0`–`R14`, then `S0`–`S7`.
const ROWS: usize = ALLOCATABLE as usize + STACK_WINDOW as usize;

/// A place for a virtual register: a row, and the component for scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    row: usize,
    component: Component,
}

impl Spot {
    fn register(self) -> Reg {
        match self.row.checked_sub(ALLOCATABLE as usize) {
            None => Reg::R(self.row as u8),
            Some(n) => Reg::Stack(n as u8),
        }
    }

    fn on_stack(self) -> bool {
        self.row >= ALLOCATABLE as usize
    }
}

/// The rules that allocation has to keep to.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Copies whose sides end in one place go.
    pub coalesce: bool,
    /// The input register that selection left for reloads, if it did.
    pub spill_register: Option<u8>,
    /// The components of registers that the function must leave as they were.
    pub preserved: Preserved,
    /// True to use few registers rather than to balance them, because callers keep values in the
    /// others.
    pub frugal: bool,
}

/// Allocates registers in a function, spilling where none is free.
///
/// When a value must go to memory and there is no register for reloads, the result is `None`, and
/// the caller selects again with one reserved.
pub fn allocate(mut f: MFunc, rules: &Rules) -> Option<MFunc> {
    super::specials::allocate(&mut f);
    let written = preserve::written(&f, &rules.preserved);
    let others =
        || (0..ALLOCATABLE).rev().filter(|n| !rules.preserved[usize::from(*n)].is_empty() && !written.contains(n));
    let mut best: Option<Allocated> = None;
    // Saving a register takes two copies: worth it where values that live across calls get in each
    // other's way on the stack (§7.3).
    for more in 0..=others().count() {
        let rows: Vec<u8> = written.iter().copied().chain(others().take(more)).collect();
        let found = allocate_with(f.clone(), rules, rows);
        let better = match (&found, &best) {
            (Some(a), Some(b)) => a.cost < b.cost,
            (found, None) => found.is_some(),
            (None, Some(_)) => false,
        };
        let worse = !better && best.is_some();
        if better {
            best = found;
        }
        if worse || best.as_ref().is_some_and(|b| b.extra == 0) {
            break;
        }
    }
    best.map(|b| b.f)
}

/// A function with registers.
struct Allocated {
    f: MFunc,
    /// Instructions, loops counted eightfold.
    cost: u64,
    /// Values that were copied or went to memory because no register was free.
    extra: usize,
}

/// Allocates registers in a function that saves the preserved registers `rows`, and uses no others
/// of them.
fn allocate_with(mut f: MFunc, rules: &Rules, mut rows: Vec<u8>) -> Option<Allocated> {
    rows.sort_unstable();
    let saved = preserve::save(&mut f, &rows, &rules.preserved);
    let mut forbidden = rules.preserved;
    rows.iter().for_each(|&n| forbidden[usize::from(n)] = Mask::NONE);
    let mut relief = Relief::default();
    let mut extra = relief.thin_out(&mut f, &saved, rules.spill_register)?;
    // Each round makes a live range shorter; one that does not end is an error of this module, and
    // better reported than waited for.
    let rounds = (8 * f.vregs.len() + 64).min(MOST_ROUNDS);
    let single = if f.vregs.len() > LONG { 0 } else { SINGLE_ROUNDS };
    for round in 0..rounds {
        let graph = Interference::new(&f);
        let at_once = if round < single { 1 } else { usize::MAX };
        match Coloring::run(&f, &graph, rules, &forbidden, &saved, &relief, at_once) {
            Ok(spots) => {
                set_pushes(&mut f, &spots);
                rewrite(&mut f, &spots);
                let cost = f.blocks.iter().map(|b| block_weight(b.depth) * b.insts.len() as u64).sum();
                return Some(Allocated { f, cost, extra });
            }
            Err(failures) => {
                extra += failures.len();
                relief.give(&mut f, &graph, &failures, rules.spill_register)?;
            }
        }
    }
    None
}

/// Rounds in which one register gets relief, and all others may fit then; after them all that find
/// no place get some, so that a long function takes few rounds.
const SINGLE_ROUNDS: usize = 16;

/// Functions with more registers have no such rounds: each makes the graph of all of them again.
const LONG: usize = 2048;

/// Rounds in which registers get relief, at most.
const MOST_ROUNDS: usize = 1000;

/// Registers that live at one point, at most, when the graph is made: it has the square of that for
/// each stretch of code. The RPU has places for some thirty vectors and sixty scalars.
const MOST_LIVE: usize = 512;

/// Registers that are left where there are more than [`MOST_LIVE`].
const LEFT_LIVE: usize = 256;

/// Affinities of another register that are looked at to guess where it will be, at most.
const MOST_AFFINITIES: usize = 256;

/// Why a coloring failed.
enum Failure {
    /// A register should be read from elsewhere than the stack, whose read port is taken by those
    /// that are `there` too.
    Port { v: VReg, there: HashSet<VReg> },
    /// A register should make room.
    Room(VReg),
}

impl Failure {
    /// The register that needs relief.
    fn register(&self) -> VReg {
        match self {
            Failure::Port { v, .. } | Failure::Room(v) => *v,
        }
    }
}

/// For each register that needs relief, the blocks that name it.
fn blocks_of(f: &MFunc, failures: &[Failure]) -> HashMap<VReg, Vec<usize>> {
    let mut blocks: HashMap<VReg, Vec<usize>> = failures.iter().map(|f| (f.register(), Vec::new())).collect();
    for (b, block) in f.blocks.iter().enumerate() {
        let mut note = |place: RegisterOperand, _: Mask| {
            if let RegisterOperand::V(v) = place
                && let Some(list) = blocks.get_mut(&v)
                && list.last() != Some(&b)
            {
                list.push(b);
            }
        };
        for (i, inst) in block.insts.iter().enumerate() {
            inst.for_each_use(block.tested(i), &mut note);
            inst.for_each_def(&mut note);
        }
    }
    blocks
}

/// How often each virtual register is read and written, loops counted eightfold.
fn accesses(f: &MFunc) -> Vec<u64> {
    let mut accesses = vec![0; f.vregs.len()];
    for block in &f.blocks {
        let mut note = |place: RegisterOperand, _: Mask| {
            if let RegisterOperand::V(v) = place {
                accesses[v.0 as usize] += block_weight(block.depth);
            }
        };
        for (i, inst) in block.insts.iter().enumerate() {
            inst.for_each_use(block.tested(i), &mut note);
            inst.for_each_def(&mut note);
        }
    }
    accesses
}

/// The measures for registers without a place.
#[derive(Default)]
struct Relief {
    /// Registers that spilling made. They are short and must not be spilled again.
    temporary: HashSet<VReg>,
    /// How often a register was copied because of the read port: first for who stands in the way,
    /// then for all.
    copied: HashMap<VReg, u32>,
    /// Copies that several instructions read.
    shared: HashSet<VReg>,
}

impl Relief {
    /// Changes the function so that the next coloring gets further; `None` if that takes a
    /// register for reloads, and there is none.
    fn give(&mut self, f: &mut MFunc, graph: &Interference, failures: &[Failure], input: Option<u8>) -> Option<()> {
        let mut blocks = blocks_of(f, failures);
        let mut to_memory = BTreeSet::new();
        // Copies that are made here are newer than the graph, and live for some instructions.
        let crosses_calls = |o: VReg| graph.across_call.get(node_of(o)).is_some_and(|&crosses| crosses);
        for failure in failures {
            let v = failure.register();
            // Each once: a second failure of it has the same cure.
            let Some(blocks) = blocks.remove(&v) else { continue };
            match failure {
                Failure::Port { there, .. } if self.may_copy(v) => {
                    let times = self.copied.entry(v).or_default();
                    *times += 1;
                    let all = *times > 1;
                    let hinders = |o: VReg| all || there.contains(&o) || crosses_calls(o);
                    self.shared.extend(spill::copy_for_reading(f, &blocks, v, hinders, &mut self.temporary));
                }
                Failure::Room(_) if self.shared.remove(&v) => {
                    spill::copy_for_each(f, &blocks, v, &mut self.temporary);
                }
                Failure::Port { .. } | Failure::Room(_) => drop(to_memory.insert(v)),
            }
        }
        if !to_memory.is_empty() {
            spill::to_memory(f, &to_memory, input?, &mut self.temporary);
        }
        Some(())
    }

    /// Moves registers to memory where very many live at once, those first that are used least.
    /// Returns how many; `None` if there is no register for reloads.
    fn thin_out(&mut self, f: &mut MFunc, saved: &HashSet<VReg>, input: Option<u8>) -> Option<usize> {
        let mut uses: Vec<u64> = Vec::new();
        let mut chosen: BTreeSet<VReg> = BTreeSet::new();
        let liveness = Liveness::new(f);
        let mut live = LiveSet::new(f.nodes());
        for block in &f.blocks {
            liveness.load_out(&block.term, &mut live);
            // Those that are chosen already, and live on, are counted once more when there are many.
            let mut most = MOST_LIVE;
            for i in (0..block.insts.len()).rev() {
                step(block, i, &mut live);
                if live.len() <= most {
                    continue;
                }
                if uses.is_empty() {
                    uses = accesses(f);
                }
                let registers = live.iter().filter_map(|(node, _)| vreg_of(node));
                let mut rest: Vec<VReg> = registers.filter(|v| !chosen.contains(v) && !saved.contains(v)).collect();
                if rest.len() > MOST_LIVE {
                    rest.sort_unstable_by_key(|&v| (std::cmp::Reverse(uses[v.0 as usize]), v));
                    chosen.extend(rest.drain(LEFT_LIVE..));
                }
                most = live.len() - rest.len() + MOST_LIVE;
            }
        }
        if !chosen.is_empty() {
            spill::to_memory(f, &chosen, input?, &mut self.temporary);
        }
        Some(chosen.len())
    }

    fn may_copy(&self, v: VReg) -> bool {
        self.copied.get(&v).is_none_or(|&n| n < 2)
    }
}

struct Coloring<'a> {
    f: &'a MFunc,
    graph: &'a Interference,
    rules: &'a Rules,
    /// Components of general registers that are not to be used.
    forbidden: &'a Preserved,
    /// Registers that must go to the stack.
    saved: &'a HashSet<VReg>,
    /// The place of each node that has one.
    spots: Vec<Option<Spot>>,
    /// Number of registers in each component of each row, to balance.
    load: Vec<[u32; 4]>,
    /// True if everything that lives across calls could have a register of the stack window to
    /// itself.
    roomy: bool,
    /// Number of scalars across calls in each component.
    across_in: [u32; 4],
}

impl Coloring<'_> {
    fn run(
        f: &MFunc,
        graph: &Interference,
        rules: &Rules,
        forbidden: &Preserved,
        saved: &HashSet<VReg>,
        relief: &Relief,
        at_most: usize,
    ) -> Result<HashMap<VReg, Spot>, Vec<Failure>> {
        let across = (PHYSICAL_NODES..f.nodes()).filter(|&n| graph.accesses[n] > 0 && graph.across_call[n]).count();
        let roomy = across <= usize::from(STACK_WINDOW);
        let (spots, load) = (vec![None; f.nodes()], vec![[0; 4]; ROWS]);
        let mut c = Coloring { f, graph, rules, forbidden, saved, spots, load, roomy, across_in: [0; 4] };
        for n in 0..ALLOCATABLE as usize {
            c.spots[n] = Some(Spot { row: n, component: Component::X });
        }
        let mut failures = Vec::new();
        for node in c.order().into_iter().rev() {
            c.place(node, relief, at_most, &mut failures);
            if failures.len() >= at_most {
                break;
            }
        }
        if !failures.is_empty() {
            return Err(failures);
        }
        let placed = c.spots.into_iter().enumerate();
        Ok(placed.filter_map(|(n, spot)| Some((vreg_of(n)?, spot?))).collect())
    }

    /// Gives a node a place, or adds to `failures` who needs relief for it to have one. Those that
    /// follow find the places as the relief will leave them: else each of them would name the same
    /// few registers again, and a long function would take many rounds.
    fn place(&mut self, node: usize, relief: &Relief, at_most: usize, failures: &mut Vec<Failure>) {
        loop {
            match self.choose(node, true) {
                Ok(spot) => return self.put(node, spot),
                Err(true) => {
                    failures.push(self.port_victim(node, relief));
                    if let Ok(spot) = self.choose(node, false) {
                        self.put(node, spot);
                    }
                    return;
                }
                Err(false) => {
                    let victim = self.victim(node, relief);
                    failures.push(Failure::Room(victim));
                    let Some(spot) = self.spots[node_of(victim)].take_if(|_| failures.len() < at_most) else { return };
                    self.count(node_of(victim), spot, |count| count - 1);
                }
            }
        }
    }

    fn put(&mut self, node: usize, spot: Spot) {
        self.spots[node] = Some(spot);
        self.count(node, spot, |count| count + 1);
    }

    /// Changes the counts of registers at the place of a node.
    fn count(&mut self, node: usize, spot: Spot, change: impl Fn(u32) -> u32) {
        for p in self.occupied(node, spot).components() {
            let load = &mut self.load[spot.row][p.index()];
            *load = change(*load);
        }
        if self.graph.across_call[node] && self.class(node) == RegisterClass::Scalar {
            let across = &mut self.across_in[spot.component.index()];
            *across = change(*across);
        }
    }

    /// The nodes by rising difficulty: fewest neighbors first, then fewest affinities (ch. 8).
    /// Unused registers are left out.
    fn order(&self) -> Vec<usize> {
        let nodes: Vec<usize> = (PHYSICAL_NODES..self.f.nodes()).filter(|&n| self.graph.accesses[n] > 0).collect();
        let mut degree: Vec<Option<usize>> = vec![None; self.f.nodes()];
        nodes.iter().for_each(|&n| degree[n] = Some(self.graph.neighbors[n].len()));
        let copies: Vec<u32> = (0..self.f.nodes()).map(|n| self.graph.copies(n)).collect();
        let key = |n: usize, d: usize| std::cmp::Reverse((d, copies[n], n));
        let mut heap: BinaryHeap<_> = nodes.iter().map(|&n| key(n, self.graph.neighbors[n].len())).collect();
        let mut order = Vec::with_capacity(nodes.len());
        while let Some(std::cmp::Reverse((d, _, n))) = heap.pop() {
            // Entries with an old degree are passed over.
            if degree[n] != Some(d) {
                continue;
            }
            degree[n] = None;
            order.push(n);
            for e in self.graph.neighbors[n].keys() {
                if let Some(d) = &mut degree[e] {
                    *d -= 1;
                    heap.push(key(e, *d));
                }
            }
        }
        order
    }

    fn class(&self, node: usize) -> RegisterClass {
        vreg_of(node).map_or(RegisterClass::Wide, |v| self.f.vregs[v.0 as usize])
    }

    fn occupied(&self, node: usize, spot: Spot) -> Mask {
        match self.class(node) {
            RegisterClass::Wide => Mask::XYZW,
            RegisterClass::Scalar | RegisterClass::ScalarW | RegisterClass::Special => spot.component.into(),
        }
    }

    /// For each row, the components that the node cannot be at because of the neighbors that `by`
    /// holds for: for wide nodes all or nothing.
    fn blocked(&self, node: usize, by: impl Fn(usize) -> bool) -> Vec<Mask> {
        let mut blocked = vec![Mask::NONE; ROWS];
        let class = self.class(node);
        let is_saved = vreg_of(node).is_some_and(|v| self.saved.contains(&v));
        for (row, &forbidden) in self.forbidden.iter().enumerate() {
            let whole = is_saved || class == RegisterClass::Wide && !forbidden.is_empty();
            blocked[row] = if whole { Mask::XYZW } else { forbidden };
        }
        for (neighbor, pairs) in self.graph.neighbors[node].iter().filter(|(e, _)| by(*e)) {
            let Some(spot) = self.spots[neighbor] else { continue };
            let theirs = self.class(neighbor);
            for (mine, other) in components_of(pairs) {
                let at = position(theirs, other, spot.component);
                if class != RegisterClass::Wide {
                    blocked[spot.row] = blocked[spot.row].union(at.into());
                } else if at == mine {
                    blocked[spot.row] = Mask::XYZW;
                }
            }
        }
        blocked
    }

    /// The best free place; `Err(true)` when only the read port of the stack is in the way, which
    /// counts with `ports` alone.
    fn choose(&self, node: usize, ports: bool) -> Result<Spot, bool> {
        let blocked = self.blocked(node, |_| true);
        let class = self.class(node);
        let across = self.graph.across_call[node];
        let components: &[Component] = match class {
            RegisterClass::Wide => &[Component::X],
            RegisterClass::ScalarW => &[Component::W],
            RegisterClass::Scalar | RegisterClass::Special => &[Component::W, Component::X, Component::Y, Component::Z],
        };
        // Copies around calls share a slot if they are in different halves of registers. A scalar
        // outside w takes a register of the window from the vectors, so that is for windows with
        // room.
        let [in_x, .., in_w] = self.across_in;
        let favorite = if across && self.roomy && in_w > in_x { Component::X } else { Component::W };
        let mut port = false;
        let mut best = None;
        for (row, &blocked) in blocked.iter().enumerate() {
            for &component in components {
                let spot = Spot { row, component };
                let allowed = class == RegisterClass::Wide || self.graph.allowed[node].contains(component);
                if blocked.contains(component) || !allowed {
                    continue;
                }
                if spot.on_stack() && ports && !self.port_is_free(node, spot) {
                    port |= across;
                    continue;
                }
                // Fewer is better: stack after registers, affinities, w for scalars, registers in
                // use for the frugal, then the emptiest, then the first. On the stack the first is
                // better than the emptiest, so that calls push little.
                let affinities = if self.rules.coalesce { self.affinity(node, spot) } else { 0 };
                let wrong = class == RegisterClass::Scalar && component != favorite;
                let loads = || self.occupied(node, spot).components().map(|c| self.load[row][c.index()]);
                let fresh =
                    if self.rules.frugal && row >= usize::from(FREE) { loads().filter(|&l| l == 0).count() } else { 0 };
                let occupancy: u32 = if spot.on_stack() { 0 } else { loads().sum() };
                let key = (spot.on_stack(), std::cmp::Reverse(affinities), wrong, fresh, occupancy, spot);
                if best.is_none_or(|b| key < b) {
                    best = Some(key);
                }
            }
        }
        best.map(|(.., spot)| spot).ok_or(port)
    }

    /// True if no register that is read together with the node is in another register of the stack.
    fn port_is_free(&self, node: usize, spot: Spot) -> bool {
        self.graph.ports[node]
            .keys()
            .filter_map(|&n| self.spots[n])
            .all(|other| !other.on_stack() || other.row == spot.row)
    }

    /// How much the affinities that a place satisfies save: those to placed nodes fully, and a
    /// little for their placed affinities, which will want to be there too.
    fn affinity(&self, node: usize, spot: Spot) -> u64 {
        let class = self.class(node);
        let agrees = |pairs, other: usize, at: Spot| {
            at.row == spot.row
                && components_of(pairs).all(|(mine, theirs)| {
                    position(class, mine, spot.component) == position(self.class(other), theirs, at.component)
                })
        };
        // Those that are read together may both be on the stack if they are in one register of it.
        let together =
            self.graph.ports[node].iter().filter(|(n, _)| self.spots[**n].is_some_and(|s| s.row == spot.row));
        let mut score: u64 = if spot.on_stack() { together.map(|(_, weight)| weight).sum() } else { 0 };
        let mates = self.graph.mates[node].iter().filter(|(n, _)| self.spots[**n].is_some_and(|s| s.row == spot.row));
        score += mates.map(|(_, weight)| 4 * weight).sum::<u64>();
        for affinity in &self.graph.affinities[node] {
            match self.spots[affinity.other] {
                Some(at) if agrees(affinity.pairs, affinity.other, at) => score += 8 * u64::from(affinity.weight),
                Some(_) => {}
                None => {
                    let near = |g: &&Affinity| {
                        self.spots[g.other].is_some_and(|at| at.row == spot.row) && class == RegisterClass::Wide
                    };
                    let others = self.graph.affinities[affinity.other].iter().take(MOST_AFFINITIES);
                    let copies: u64 = others.filter(near).map(|g| u64::from(g.copies)).sum();
                    score += copies * u64::from(affinity.copies);
                }
            }
        }
        score
    }

    /// Whom to copy when the read port keeps `node` from the stack: it or one of those that are
    /// there, whichever is read less often together with others that are.
    fn port_victim(&self, node: usize, relief: &Relief) -> Failure {
        let is_there = |n: &usize| self.spots[*n].is_some_and(|s| s.on_stack());
        let reads = |n: &usize| -> u64 {
            let others = self.graph.ports[*n].iter().filter(|(o, _)| self.graph.across_call[**o] || is_there(o));
            others.map(|(_, weight)| weight).sum()
        };
        let there: Vec<usize> = self.graph.ports[node].keys().copied().filter(is_there).collect();
        let candidates =
            there.iter().copied().chain([node]).filter(|&n| vreg_of(n).is_some_and(|v| relief.may_copy(v)));
        let victim = candidates.min_by_key(|n| (reads(n), *n != node, *n)).unwrap_or(node);
        let v = vreg_of(victim).unwrap_or(VReg(0));
        Failure::Port { v, there: there.into_iter().chain([node]).filter_map(vreg_of).collect() }
    }

    /// Whom to spill when `node` finds no place: a shared copy, it, or one of its neighbors,
    /// whichever is used least for the room it takes.
    fn victim(&self, node: usize, relief: &Relief) -> VReg {
        // Only a neighbor in a place that the node could have is of use.
        let blocked = self.blocked(node, |e| vreg_of(e).is_none());
        let in_the_way = |e: &usize| {
            self.spots[*e].is_some_and(|s| {
                let free = Mask::from_bits(Mask::XYZW.bits() & !blocked[s.row].bits());
                !free.is_empty()
            })
        };
        let candidates: BTreeSet<usize> = self.graph.neighbors[node]
            .keys()
            .filter(in_the_way)
            .chain([node])
            .filter(|&n| vreg_of(n).is_some_and(|v| !relief.temporary.contains(&v)))
            .collect();
        let cost = |n: &usize| {
            let room = self.graph.neighbors[*n].len() as u64 + 1;
            let shared = vreg_of(*n).is_some_and(|v| relief.shared.contains(&v));
            (!shared, self.graph.accesses[*n].saturating_mul(1000) / room, *n)
        };
        let victim = candidates.into_iter().min_by_key(cost).unwrap_or(node);
        vreg_of(victim).unwrap_or(VReg(0))
    }
}

/// Makes each call protect the stack registers that live across it.
fn set_pushes(f: &mut MFunc, spots: &HashMap<VReg, Spot>) {
    let mut pushes: Vec<(usize, usize, u8)> = Vec::new();
    for_each_across_call(f, |b, i, node| {
        let Some(spot) = vreg_of(node).and_then(|v| spots.get(&v)).filter(|s| s.on_stack()) else { return };
        let depth = (spot.row - ALLOCATABLE as usize + 1) as u8;
        match pushes.last_mut() {
            Some((block, at, push)) if (*block, *at) == (b, i) => *push = depth.max(*push),
            _ => pushes.push((b, i, depth)),
        }
    });
    for block in &mut f.blocks {
        for inst in &mut block.insts {
            if let MOp::Call { push, .. } = &mut inst.op {
                *push = 0;
            }
        }
    }
    for (b, i, depth) in pushes {
        if let MOp::Call { push, .. } = &mut f.blocks[b].insts[i].op {
            *push = depth;
        }
    }
}

/// Replaces virtual registers by their places and drops copies of a place to itself.
fn rewrite(f: &mut MFunc, spots: &HashMap<VReg, Spot>) {
    let classes = f.vregs.clone();
    for block in &mut f.blocks {
        let count = block.insts.len();
        let has_test = !block.term.tested().is_empty();
        for inst in &mut block.insts {
            rewrite_inst(inst, spots, &classes);
        }
        let mut i = 0;
        block.insts.retain(|inst| {
            i += 1;
            (has_test && i == count) || !inst.arith().is_some_and(is_useless)
        });
    }
    debug_assert!(spots.keys().all(|v| node_of(*v) >= PHYSICAL_NODES));
}

fn rewrite_inst(inst: &mut MInst, spots: &HashMap<VReg, Spot>, classes: &[RegisterClass]) {
    let source = |s: &mut MSrc| {
        if let MSrc::Reg { place, swizzle, .. } = s
            && let RegisterOperand::V(v) = *place
        {
            let Some(spot) = spots.get(&v) else { return };
            *place = RegisterOperand::P(spot.register());
            let class = classes[v.0 as usize];
            *swizzle = Swizzle(swizzle.0.map(|c| position(class, c, spot.component)));
        }
    };
    match &mut inst.op {
        MOp::Arith(a) => {
            a.src.iter_mut().for_each(source);
            if let RegisterOperand::V(v) = a.dst {
                match spots.get(&v) {
                    Some(spot) => {
                        a.dst = RegisterOperand::P(spot.register());
                        if classes[v.0 as usize] != RegisterClass::Wide {
                            a.mask = spot.component.into();
                        }
                    }
                    None => a.dst = super::vcode::JUNK,
                }
            }
        }
        MOp::Trace { src } => src.iter_mut().for_each(source),
        MOp::Store { src, .. } | MOp::Record { src, .. } => source(src),
        // Splits are made later.
        MOp::Load { .. } | MOp::Call { .. } | MOp::Split(_) => {}
    }
}

/// True if an instruction copies a place to itself.
fn is_useless(a: &MArith) -> bool {
    a.is_copy()
        && match a.src[0] {
            MSrc::Reg { place, swizzle, .. } => {
                place == a.dst && a.mask.components().all(|c| swizzle.0[c.index()] == c)
            }
            MSrc::Lit(_) => false,
        }
}
