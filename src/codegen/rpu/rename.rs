//! Scalars that can move to another component of a register after allocation, so that two
//! operations share an issue slot.
//!
//! It takes a straight piece of code on the RPU's registers and what is needed after it. A
//! *web* is one instruction that writes one component, with all its readers, where nobody else sees
//! the value. While the code is scheduled, [`Renamer`] knows which components no instruction that
//! is still to come touches: a web can move there. It knows nothing of time.

use super::dependence::{Access, CELLS};
use super::vcode::{ALLOCATABLE, JUNK, MArith, MInst, MOp, MSrc, RegisterOperand};
use shadewright_rpu::isa::{Component, Mask, OpClass, Reg, Swizzle};
use std::collections::BTreeMap;

/// A value in one component, seen by nobody outside the piece.
#[derive(Clone, Debug)]
struct Web {
    /// Where it is: a general register or `S`.
    reg: Reg,
    /// The sources that read it: instruction and number of the source.
    uses: Vec<(usize, usize)>,
}

/// Which instructions still to be scheduled touch which cells, and which values can move.
#[derive(Clone, Debug)]
pub struct Renamer {
    webs: Vec<Option<Web>>,
    accesses: Vec<Access>,
    /// For each cell, the number of instructions still to be scheduled that read or write it.
    touches: Vec<u32>,
    /// True if a cell is needed after the piece, or must not be used at all.
    taken: Vec<bool>,
}

/// The one component of a mask.
fn only(mask: Mask) -> Option<Component> {
    let mut components = mask.components();
    components.next().filter(|_| components.next().is_none())
}

/// The general register or `S` whose one component is all that an instruction changes.
fn scalar_result(a: &MArith) -> Option<(Reg, Component)> {
    let component = only(a.mask)?;
    match (a.special, a.dst) {
        (None, RegisterOperand::P(reg @ Reg::R(n))) if n < ALLOCATABLE => Some((reg, component)),
        (Some(_), JUNK) => Some((Reg::Special, component)),
        _ => None,
    }
}

fn cell(reg: Reg, component: Component) -> Option<usize> {
    Some(4 * RegisterOperand::P(reg).node()? + component.index())
}

/// The instruction with its result in another component of another register; [`scalar_result`] must
/// have named one.
fn moved(a: &MArith, reg: Reg, to: Component) -> MArith {
    let mut a = a.clone();
    let from = only(a.mask).unwrap_or(Component::W);
    if a.op.class() == OpClass::Componentwise {
        // `S` gets the reciprocal of `w`, wherever it goes.
        let computed = if a.special.is_some() { Component::W } else { from };
        for s in &mut a.src {
            *s = s.swizzled(Swizzle::splat(computed));
        }
    }
    a.mask = to.into();
    match &mut a.special {
        Some(special) => special.mask = to.into(),
        None => a.dst = RegisterOperand::P(reg),
    }
    a
}

impl Renamer {
    /// For a piece of code, whose last instruction is tested at `tested`; that one does not move.
    pub fn new(insts: &[MInst], accesses: Vec<Access>, tested: Mask, taken: Vec<bool>) -> Renamer {
        let mut touches = vec![0; CELLS];
        for access in &accesses {
            access.reads.iter().chain(&access.writes).for_each(|&c| touches[c] += 1);
        }
        let webs = webs(insts, &accesses, tested, &taken);
        Renamer { webs, accesses, touches, taken }
    }

    fn count(&mut self, i: usize, by: i32) {
        let access = &self.accesses[i];
        for &c in access.reads.iter().chain(&access.writes) {
            self.touches[c] = self.touches[c].wrapping_add_signed(by);
        }
    }

    /// Records that an instruction is in the schedule.
    pub fn scheduled(&mut self, i: usize) {
        self.count(i, -1);
    }

    /// The forms that instruction `i` may take when it goes into the next slot with `partner`: its
    /// result in each other component that is free in some register.
    pub fn forms(&mut self, insts: &[MInst], i: usize, partner: usize) -> Vec<MArith> {
        let (Some(web), Some(a)) = (&self.webs[i], insts[i].arith()) else { return Vec::new() };
        if a.op.is_scalar() {
            return Vec::new();
        }
        let (reg, from) = (web.reg, only(a.mask));
        // What the two read may be overwritten: sources are read before anything is written.
        self.count(i, -1);
        self.count(partner, -1);
        let free =
            |reg: Reg, c: Component| cell(reg, c).is_some_and(|cell| self.touches[cell] == 0 && !self.taken[cell]);
        let writes_of_partner = &self.accesses[partner].writes;
        let place = |c: Component| {
            let others = (0..ALLOCATABLE).map(Reg::R).filter(|_| reg != Reg::Special);
            std::iter::once(reg)
                .chain(others)
                .find(|&r| free(r, c) && !cell(r, c).is_some_and(|cell| writes_of_partner.contains(&cell)))
        };
        let order = [Component::W, Component::X, Component::Y, Component::Z];
        let forms =
            order.into_iter().filter(|&c| Some(c) != from).filter_map(|c| Some(moved(a, place(c)?, c))).collect();
        self.count(i, 1);
        self.count(partner, 1);
        forms
    }

    /// Gives instruction `i` one of its [`Renamer::forms`], and its readers with it.
    pub fn apply(&mut self, insts: &mut [MInst], tested: Mask, i: usize, form: MArith) {
        let Some(web) = self.webs[i].take() else { return };
        let changed = web.replace(insts, i, form);
        changed.iter().for_each(|&j| self.count(j, -1));
        for &j in &changed {
            let pinned = j + 1 == insts.len();
            self.accesses[j] = Access::new(&insts[j], if pinned { tested } else { Mask::NONE });
            self.count(j, 1);
        }
    }
}

impl Web {
    /// Puts the value that instruction `i` computes elsewhere, and lets its readers read it there;
    /// reports which instructions changed, each once.
    fn replace(self, insts: &mut [MInst], i: usize, form: MArith) -> Vec<usize> {
        let reg = if form.special.is_some() { Reg::Special } else { form.dst.register().unwrap_or(self.reg) };
        let component = only(form.mask).unwrap_or(Component::W);
        let mut changed = vec![i];
        changed.extend(self.uses.iter().map(|&(j, _)| j));
        changed.sort_unstable();
        changed.dedup();
        insts[i].op = MOp::Arith(form);
        for (j, k) in self.uses {
            let mut number = 0;
            insts[j].for_each_source_mut(|source| {
                if let MSrc::Reg { place, swizzle, .. } = source
                    && number == k
                {
                    *place = RegisterOperand::P(reg);
                    *swizzle = Swizzle::splat(component);
                }
                number += 1;
            });
        }
        changed
    }
}

/// The events of a cell, by the number of the instruction: whether it is read, and whether it is
/// written.
type Events = BTreeMap<usize, (bool, bool)>;

/// Moves each value that nobody else sees to the free component that was touched longest ago, so
/// that fewer instructions wait for a register only because its name is used again. The order
/// stays; `taken` cells are needed after the piece, or must not be used.
pub fn spread(insts: &mut [MInst], tested: Mask, taken: &[bool]) {
    let last = insts.len().wrapping_sub(1);
    let access = |insts: &[MInst], i: usize| Access::new(&insts[i], if i == last { tested } else { Mask::NONE });
    let mut accesses: Vec<Access> = (0..insts.len()).map(|i| access(insts, i)).collect();
    let mut events: Vec<Events> = vec![Events::new(); CELLS];
    let note = |events: &mut [Events], i: usize, access: &Access| {
        access.reads.iter().for_each(|&c| events[c].entry(i).or_default().0 = true);
        access.writes.iter().for_each(|&c| events[c].entry(i).or_default().1 = true);
    };
    for (i, access) in accesses.iter().enumerate() {
        note(&mut events, i, access);
    }
    for (i, web) in webs(insts, &accesses, tested, taken).into_iter().enumerate() {
        let (Some(web), Some(a)) = (web, insts[i].arith().cloned()) else { continue };
        let end = web.uses.iter().map(|&(j, _)| j).max().unwrap_or(i);
        let free = |cell: usize| {
            let next = events[cell].range(i + 1..).next();
            !events[cell].get(&i).is_some_and(|e| e.1)
                && next.map_or(!taken[cell], |(&at, &(read, _))| at >= end && !read)
        };
        let components: &[Component] = if a.op.is_scalar() { &[Component::W] } else { &Component::ALL };
        let registers: Vec<Reg> =
            if web.reg == Reg::Special { vec![Reg::Special] } else { (0..ALLOCATABLE).map(Reg::R).collect() };
        let oldest = registers
            .iter()
            .flat_map(|&r| components.iter().map(move |&c| (r, c)))
            .filter_map(|(r, c)| Some((cell(r, c)?, r, c)))
            .filter(|&(cell, ..)| free(cell))
            .min_by_key(|&(cell, ..)| events[cell].range(..=i).next_back().map(|(&at, _)| at));
        let Some((_, reg, component)) = oldest else { continue };
        for j in web.replace(insts, i, moved(&a, reg, component)) {
            for &c in accesses[j].reads.iter().chain(&accesses[j].writes) {
                events[c].remove(&j);
            }
            accesses[j] = access(insts, j);
            note(&mut events, j, &accesses[j]);
        }
    }
}

/// For each instruction, the web that it starts.
fn webs(insts: &[MInst], accesses: &[Access], tested: Mask, taken: &[bool]) -> Vec<Option<Web>> {
    let mut webs: Vec<Option<Web>> = vec![None; insts.len()];
    // For each cell, the web that it holds at this point.
    let mut holder: Vec<Option<usize>> = vec![None; CELLS];
    for (j, inst) in insts.iter().enumerate() {
        let pinned = j + 1 == insts.len() && !tested.is_empty();
        for &cell in &accesses[j].reads {
            let Some(i) = holder[cell] else { continue };
            let found =
                webs[i].as_ref().and_then(|web| uses_of(inst, web.reg, cell, if pinned { tested } else { Mask::NONE }));
            match (found, &mut webs[i]) {
                (Some(found), Some(web)) => web.uses.extend(found.into_iter().map(|k| (j, k))),
                (None, web) => *web = None,
                _ => {}
            }
        }
        for &cell in &accesses[j].writes {
            holder[cell] = None;
        }
        if let Some((reg, c)) = inst.arith().filter(|_| !pinned).and_then(scalar_result)
            && let Some(cell) = cell(reg, c)
        {
            webs[j] = Some(Web { reg, uses: Vec::new() });
            holder[cell] = Some(j);
        }
    }
    for (cell, &needed) in taken.iter().enumerate() {
        if let Some(i) = holder[cell].filter(|_| needed) {
            webs[i] = None;
        }
    }
    webs
}

/// The sources of an instruction that read a cell of a register, if none of them reads another
/// component too and nothing else of it does.
fn uses_of(inst: &MInst, reg: Reg, cell: usize, tested: Mask) -> Option<Vec<usize>> {
    let component = Component::from_index((cell % 4) as u8);
    let mut found = Vec::new();
    for (k, (s, positions)) in inst.sources(tested).into_iter().enumerate() {
        if s.as_place() != Some(RegisterOperand::P(reg)) {
            continue;
        }
        let read = s.read_mask(positions);
        if read.contains(component) {
            if read != component.into() {
                return None;
            }
            found.push(k);
        }
    }
    (!found.is_empty()).then_some(found)
}
