//! Makes the function of one section.
//!
//! Every value of the original function becomes a variable of the new one, so that a value which is
//! both loaded from the frame and defined again inside the section (in a loop) gets the block
//! parameters it needs.

use super::cut::{Cut, Piece};
use super::{Callee, Exit, ExitKind, Rays, Resume, Section};
use crate::{
    BlockId, Const, FunctionBuilder, FunctionKind, Inst, Loc, Op, SlotId, Target, Terminator, Type, Value, Variable,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The section after a suspend point of the function, or the one that starts it. `first` is the
/// number of the section after suspend point 0.
pub(super) fn section(cut: &Cut, point: Option<usize>, entries: &BTreeMap<Arc<str>, u32>, first: u32) -> Section {
    let func = cut.func;
    let start = point.map_or(0, |p| cut.points[p].next);
    let (resume, name) = match point {
        None => (Resume::Entry, func.name.to_string()),
        Some(p) => {
            let inst = cut.inst(p);
            let resume = match &inst.op {
                Op::Trace => Resume::Trace,
                Op::Occluded => Resume::Occluded,
                Op::Visible(slot) => Resume::Visible(ray_count(cut, inst, *slot)),
                _ => Resume::Call(inst.results.iter().map(|&r| func.ty(r)).collect()),
            };
            (resume, format!("{} after {} {p}", func.name, inst.op.name()))
        }
    };
    let mut builder = SectionBuilder {
        cut,
        entries,
        first,
        b: FunctionBuilder::new(name.clone(), FunctionKind::Function),
        variables: HashMap::new(),
        slots: HashMap::new(),
        blocks: HashMap::new(),
        again: HashMap::new(),
        exits: Vec::new(),
    };
    let frame = builder.start(point, start);
    builder.pieces(start);
    let SectionBuilder { b, exits, .. } = builder;
    Section { name, function: func.name.clone(), body: b.finish(), frame, resume, exits, shared: false }
}

fn slot_len(cut: &Cut, slot: SlotId) -> u32 {
    cut.func.slots[slot.0 as usize].len
}

/// The most rays that a `visible` shoots: what its slot holds, or its count where that is a
/// constant.
fn ray_count(cut: &Cut, inst: &Inst, slot: SlotId) -> u32 {
    let count = inst.args.get(1).and_then(|count| cut.recipes.get(count));
    let known = count.and_then(|count| if let Op::Const(Const::U32(n)) = count.op { Some(n) } else { None });
    slot_len(cut, slot).min(known.unwrap_or(u32::MAX))
}

struct SectionBuilder<'c, 'a> {
    cut: &'c Cut<'a>,
    entries: &'c BTreeMap<Arc<str>, u32>,
    first: u32,
    b: FunctionBuilder,
    variables: HashMap<Value, Variable>,
    slots: HashMap<SlotId, SlotId>,
    /// The new block of each piece of the section.
    blocks: HashMap<usize, BlockId>,
    /// Values that the section computes again where it starts.
    again: HashMap<Value, Value>,
    exits: Vec<Exit>,
}

impl SectionBuilder<'_, '_> {
    /// Makes the parameters, fills the slots and computes the cheap values. Returns the frame.
    fn start(&mut self, point: Option<usize>, start: usize) -> Vec<Type> {
        let cut = self.cut;
        let mut frame = Vec::new();
        let Some(point) = point else {
            for (p, &v) in cut.func.params.iter().zip(cut.func.param_values()) {
                frame.push(p.ty);
                let value = self.b.param_of(p.name.clone(), p.ty, p.kind);
                self.write(v, value);
            }
            return frame;
        };
        for &v in &cut.points[point].kept {
            frame.push(cut.func.ty(v));
            let value = self.b.param(format!("v{}", v.0), cut.func.ty(v));
            self.write(v, value);
        }
        let mut elements = Vec::new();
        for &slot in &cut.points[point].kept_slots {
            let data = &cut.func.slots[slot.0 as usize];
            for i in 0..data.len {
                frame.push(data.ty);
                let name = format!("{}.{i}", data.name);
                elements.push((slot, i, self.b.param(name, data.ty)));
            }
        }
        for &r in &cut.inst(point).results {
            let value = self.b.param(format!("v{}", r.0), cut.func.ty(r));
            self.write(r, value);
        }
        for (slot, i, value) in elements {
            let slot = self.slot(slot);
            let index = self.b.u32(i);
            self.b.effect(Op::SlotStore(slot), &[index, value]);
        }
        let mut copies = HashMap::new();
        for &v in cut.live[start].iter().filter(|v| cut.recipes.contains_key(v)) {
            let value = self.compute(v, &mut copies);
            if cut.fixed.contains(&v) {
                self.again.insert(v, value);
            } else {
                self.write(v, value);
            }
        }
        frame
    }

    /// Computes a value from what was kept.
    fn compute(&mut self, value: Value, copies: &mut HashMap<Value, Value>) -> Value {
        let mut work = vec![value];
        while let Some(&next) = work.last() {
            match self.cut.recipes.get(&next) {
                _ if copies.contains_key(&next) => {
                    work.pop();
                }
                None => {
                    let kept = self.read(next);
                    copies.insert(next, kept);
                }
                Some(inst) => {
                    let before = work.len();
                    work.extend(inst.args.iter().filter(|a| !copies.contains_key(a)));
                    if work.len() == before {
                        let args = inst.args.iter().map(|a| copies[a]).collect();
                        let types: Vec<Type> = inst.results.iter().map(|&r| self.cut.func.ty(r)).collect();
                        self.b.loc = inst.loc;
                        let results = self.b.inst(inst.op.clone(), args, &types);
                        copies.extend(inst.results.iter().copied().zip(results));
                    }
                }
            }
        }
        copies[&value]
    }

    fn variable(&mut self, value: Value) -> Variable {
        let ty = self.cut.func.ty(value);
        *self.variables.entry(value).or_insert_with(|| self.b.variable(ty))
    }

    fn write(&mut self, value: Value, now: Value) {
        let variable = self.variable(value);
        self.b.write(variable, now);
    }

    fn read(&mut self, value: Value) -> Value {
        if let Some(&v) = self.again.get(&value) {
            return v;
        }
        let variable = self.variable(value);
        self.b.read(variable)
    }

    fn read_all(&mut self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|&v| self.read(v)).collect()
    }

    fn slot(&mut self, slot: SlotId) -> SlotId {
        let data = &self.cut.func.slots[slot.0 as usize];
        *self.slots.entry(slot).or_insert_with(|| self.b.slot(data.name.clone(), data.ty, data.len))
    }

    /// Copies all pieces that the section reaches.
    fn pieces(&mut self, start: usize) {
        let cut = self.cut;
        let order = reverse_postorder(cut, start);
        let mut unseen: HashMap<usize, usize> = HashMap::new();
        for &p in &order {
            cut.successors(p).into_iter().for_each(|s| *unseen.entry(s).or_default() += 1);
        }
        for &p in order.iter().skip(1) {
            let block = self.b.block();
            self.blocks.insert(p, block);
        }
        let mut sealed: HashSet<usize> = HashSet::new();
        for &p in &order {
            if let Some(&block) = self.blocks.get(&p) {
                self.b.switch_to(block);
            }
            self.piece(&cut.pieces[p]);
            for s in cut.successors(p) {
                let left = unseen.entry(s).or_default();
                *left -= 1;
                if *left == 0 && sealed.insert(s) {
                    self.b.seal(self.blocks[&s]);
                }
            }
        }
    }

    fn piece(&mut self, piece: &Piece) {
        let cut = self.cut;
        for inst in cut.insts(piece) {
            self.inst(inst);
        }
        if let Some(p) = piece.point {
            return self.suspend(p);
        }
        let block = cut.func.block(piece.block);
        self.b.loc = block.term_loc;
        match &block.term {
            Terminator::Jump(t) => self.jump(t),
            Terminator::Branch(_, t, e) if t == e => self.jump(t),
            Terminator::Branch(c, t, e) => {
                let c = self.read(*c);
                // A jump that hands on arguments gets a block of its own to do it in.
                let same = t.block == e.block;
                let mut sides = [t, e].map(|t| (t, same || !t.args.is_empty(), BlockId(0)));
                for (t, own, block) in &mut sides {
                    *block = if *own { self.b.block() } else { self.blocks[&cut.first[&t.block]] };
                }
                self.b.branch(c, sides[0].2, sides[1].2);
                for (t, own, block) in sides {
                    if own {
                        self.b.seal(block);
                        self.b.switch_to(block);
                        self.jump(t);
                    }
                }
            }
            Terminator::Return(values) => {
                let number = self.exit(Exit { kind: ExitKind::Return, loc: Loc::NONE });
                let mut all = vec![number];
                all.extend(self.read_all(values));
                self.b.ret(all);
            }
        }
    }

    fn inst(&mut self, inst: &Inst) {
        if inst.results.iter().any(|r| self.again.contains_key(r)) {
            return;
        }
        let args = self.read_all(&inst.args);
        let types: Vec<Type> = inst.results.iter().map(|&r| self.cut.func.ty(r)).collect();
        let op = match inst.op {
            Op::SlotLoad(s) => Op::SlotLoad(self.slot(s)),
            Op::SlotStore(s) => Op::SlotStore(self.slot(s)),
            ref op => op.clone(),
        };
        self.b.loc = inst.loc;
        let results = self.b.inst(op, args, &types);
        for (&r, now) in inst.results.iter().zip(results) {
            self.write(r, now);
        }
    }

    fn jump(&mut self, target: &Target) {
        let values = self.read_all(&target.args);
        for (&p, now) in self.cut.func.block(target.block).params.iter().zip(values) {
            self.write(p, now);
        }
        self.b.jump(self.blocks[&self.cut.first[&target.block]], vec![]);
    }

    /// The number of an exit as a constant.
    fn exit(&mut self, exit: Exit) -> Value {
        let number = self.exits.iter().position(|e| *e == exit).unwrap_or(self.exits.len());
        if number == self.exits.len() {
            self.exits.push(exit);
        }
        self.b.u32(number as u32)
    }

    fn suspend(&mut self, point: usize) {
        let cut = self.cut;
        let inst = cut.inst(point);
        self.b.loc = inst.loc;
        let resume = self.first + point as u32;
        let kind = match &inst.op {
            Op::Trace => ExitKind::Wait { rays: Rays::Trace, resume },
            Op::Occluded => ExitKind::Wait { rays: Rays::Occluded, resume },
            Op::Visible(slot) => ExitKind::Wait { rays: Rays::Visible(ray_count(cut, inst, *slot)), resume },
            Op::Call(name) => ExitKind::Call { callee: Callee::Section(self.entries[name]), resume },
            _ => ExitKind::Call { callee: Callee::Shader, resume },
        };
        let mut all = vec![self.exit(Exit { kind, loc: inst.loc })];
        all.extend(self.read_all(&cut.points[point].kept));
        for &slot in &cut.points[point].kept_slots {
            self.elements(slot, slot_len(cut, slot), &mut all);
        }
        all.extend(self.read_all(&inst.args));
        if let Op::Visible(slot) = inst.op {
            self.elements(slot, ray_count(cut, inst, slot), &mut all);
        }
        self.b.ret(all);
    }

    /// The first `count` elements of a slot.
    fn elements(&mut self, slot: SlotId, count: u32, out: &mut Vec<Value>) {
        let (ty, new) = (self.cut.func.slots[slot.0 as usize].ty, self.slot(slot));
        for i in 0..count {
            let index = self.b.u32(i);
            out.push(self.b.op_as(Op::SlotLoad(new), &[index], ty));
        }
    }
}

/// The pieces reached from `start` without a suspend point between, in reverse postorder.
fn reverse_postorder(cut: &Cut, start: usize) -> Vec<usize> {
    let (mut seen, mut order, mut stack) = (HashSet::from([start]), Vec::new(), vec![(start, cut.successors(start))]);
    while let Some((piece, left)) = stack.last_mut() {
        match left.pop() {
            Some(next) => {
                if seen.insert(next) {
                    stack.push((next, cut.successors(next)));
                }
            }
            None => {
                order.push(*piece);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
