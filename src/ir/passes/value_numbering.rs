//! Value numbering: values that are known to be equal get one number.
//!
//! It takes a function and its dominator tree and returns which values are congruent; it changes
//! nothing. Two values are congruent when equal operations compute them from congruent operands,
//! and two parameters of a block when every jump passes them congruent arguments. All are assumed
//! congruent until shown otherwise (Alpern, Wegman, Zadeck: "Detecting Equality of Variables in
//! Programs", 1988), by walking the blocks in reverse postorder until nothing changes (Simpson:
//! "Value-Driven Redundancy Elimination", 1996): so congruent loop-carried variables are found.
//! Where the definitions of two congruent values both dominate a point, their values are equal
//! there.

use super::fold::is_commutative;
use crate::dominators::Dominators;
use crate::{BlockId, Const, Function, Inst, Op, SlotId, Type, Value};
use std::collections::HashMap;

/// The number of a congruence class: that of one of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Number(u32);

impl Number {
    /// No jump that was looked at has passed a value yet.
    const UNSEEN: Number = Number(u32::MAX);

    /// For tables indexed by numbers, which need as many entries as the function has values.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Walks after which nothing is believed any more. Each level of loops takes about one; programs
/// that need more are made to.
const MAX_WALKS: usize = 12;

/// The numbers of a function's values.
pub(super) struct Numbering {
    of: Vec<Number>,
    known: HashMap<Key, Number>,
}

/// The key that congruent values share.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Op(Op, Vec<Number>, Type),
    Param(BlockId, Vec<Number>),
    /// The so-many-eth hit that a block sees.
    Hit(Op, BlockId, u32),
}

impl Numbering {
    /// Numbers the values of reachable blocks.
    pub(super) fn new(func: &Function, tree: &Dominators) -> Self {
        let mut walk = Walk::new(func, tree);
        let is_cyclic = !tree.back_edges(func).is_empty();
        let believed = (0..MAX_WALKS).any(|_| !walk.all(Loops::Believed) || !is_cyclic);
        if !believed {
            walk.all(Loops::Opaque);
        }
        walk.numbering
    }

    /// The number of a value.
    pub(super) fn number(&self, value: Value) -> Number {
        self.of[value.0 as usize]
    }

    /// The number of what an operation computes from operands of these numbers, if some value has
    /// it.
    pub(super) fn find(&self, op: &Op, args: Vec<Number>, ty: Type) -> Option<Number> {
        self.known.get(&Key::op(op, args, ty)).copied()
    }
}

impl Key {
    fn op(op: &Op, mut args: Vec<Number>, ty: Type) -> Key {
        if is_commutative(op) {
            args.sort();
        }
        Key::Op(op.clone(), args, ty)
    }
}

/// The treatment of parameters of blocks in a walk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loops {
    /// Compares their arguments, those that come around loops as numbered so far.
    Believed,
    /// Nothing is congruent to them.
    Opaque,
}

struct Walk<'a> {
    func: &'a Function,
    tree: &'a Dominators,
    /// For each block, the reachable jumps to it: where from, and which of the two ways.
    jumps: Vec<Vec<(BlockId, usize)>>,
    /// Values of `u32` constants.
    indices: HashMap<Number, u32>,
    hit_is_fixed: bool,
    numbering: Numbering,
}

/// An element of a slot, as far as it is known.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
enum Index {
    Known(u32),
    Number(Number),
}

impl<'a> Walk<'a> {
    fn new(func: &'a Function, tree: &'a Dominators) -> Self {
        let insts = func.blocks.iter().flat_map(|b| &b.insts);
        let mut indices = HashMap::new();
        for inst in insts.clone() {
            if let (Op::Const(Const::U32(i)), [r]) = (&inst.op, &inst.results[..]) {
                indices.insert(Number(r.0), *i);
            }
        }
        Self {
            func,
            tree,
            jumps: jumps(func, tree),
            indices,
            hit_is_fixed: !insts.clone().any(|i| changes_hit(&i.op)),
            numbering: Numbering { of: vec![Number::UNSEEN; func.values.len()], known: HashMap::new() },
        }
    }

    /// Numbers everything once; returns whether a number changed.
    fn all(&mut self, loops: Loops) -> bool {
        self.numbering.known.clear();
        let mut changed = false;
        for &block in self.tree.order() {
            changed |= self.params(block, loops);
            changed |= self.insts(block);
        }
        changed
    }

    fn set(&mut self, value: Value, number: Number) -> bool {
        std::mem::replace(&mut self.numbering.of[value.0 as usize], number) != number
    }

    /// The number that `key` has already; else the value's own.
    fn number(&mut self, key: Key, value: Value) -> Number {
        *self.numbering.known.entry(key).or_insert(Number(value.0))
    }

    fn params(&mut self, block: BlockId, loops: Loops) -> bool {
        let mut changed = false;
        for (position, &param) in self.func.block(block).params.iter().enumerate() {
            let number = if block == BlockId(0) || loops == Loops::Opaque {
                Number(param.0)
            } else {
                let targets = self.jumps[block.0 as usize]
                    .iter()
                    .filter_map(|&(from, way)| self.func.block(from).term.targets().nth(way));
                let args: Vec<Number> = targets.map(|t| self.numbering.number(t.args[position])).collect();
                let mut seen = args.iter().filter(|&&n| n != Number::UNSEEN);
                match seen.next() {
                    Some(&first) if seen.all(|&n| n == first) => first,
                    _ => self.number(Key::Param(block, args), param),
                }
            };
            changed |= self.set(param, number);
        }
        changed
    }

    fn insts(&mut self, block: BlockId) -> bool {
        let func = self.func;
        let mut changed = false;
        let mut hits = 0;
        let mut slots: HashMap<(SlotId, Index), Number> = HashMap::new();
        for inst in &func.block(block).insts {
            hits += u32::from(changes_hit(&inst.op));
            match (&inst.op, &inst.results[..]) {
                (Op::SlotStore(slot), _) => self.store(*slot, inst, &mut slots),
                (Op::SlotLoad(slot), &[r]) => {
                    let index = self.index(*slot, inst.args[0]);
                    let number = *slots.entry((*slot, index)).or_insert(Number(r.0));
                    changed |= self.set(r, number);
                }
                (Op::Hit | Op::HitTri | Op::HitObj, &[r]) if !self.hit_is_fixed => {
                    let number = self.number(Key::Hit(inst.op.clone(), block, hits), r);
                    changed |= self.set(r, number);
                }
                (op, &[r]) if op.is_pure() || matches!(op, Op::Hit | Op::HitTri | Op::HitObj) => {
                    let args = inst.args.iter().map(|&a| self.numbering.number(a)).collect();
                    let number = self.number(Key::op(op, args, func.ty(r)), r);
                    changed |= self.set(r, number);
                }
                (_, results) => {
                    for &r in results {
                        changed |= self.set(r, Number(r.0));
                    }
                }
            }
        }
        changed
    }

    /// Which element a read sees: reads out of range see the last.
    fn index(&self, slot: SlotId, value: Value) -> Index {
        let number = self.numbering.number(value);
        match self.indices.get(&number) {
            Some(&i) => Index::Known(i.min(self.func.slots[slot.0 as usize].len - 1)),
            None => Index::Number(number),
        }
    }

    /// A write makes its element known, and others unknown unless they are surely other elements.
    fn store(&self, slot: SlotId, inst: &Inst, slots: &mut HashMap<(SlotId, Index), Number>) {
        let len = self.func.slots[slot.0 as usize].len;
        match self.indices.get(&self.numbering.number(inst.args[0])) {
            Some(&i) if i >= len => {}
            Some(&i) => {
                slots.retain(|&(s, index), _| s != slot || matches!(index, Index::Known(k) if k != i));
                slots.insert((slot, Index::Known(i)), self.numbering.number(inst.args[1]));
            }
            None => slots.retain(|&(s, _), _| s != slot),
        }
    }
}

/// For each block, the jumps to it from reachable blocks: where from, and which of the two ways.
pub(super) fn jumps(func: &Function, tree: &Dominators) -> Vec<Vec<(BlockId, usize)>> {
    let mut jumps = vec![Vec::new(); func.blocks.len()];
    for &from in tree.order() {
        for (way, target) in func.block(from).term.targets().enumerate() {
            jumps[target.block.0 as usize].push((from, way));
        }
    }
    jumps
}

/// True if the operation leaves another current hit.
fn changes_hit(op: &Op) -> bool {
    op.suspends() || matches!(op, Op::Call(_))
}
