//! Where a function is cut, and what must be kept across each cut.

use crate::{BlockId, Function, Inst, Op, SlotId, TargetInfo, Type, Value};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A piece of a block without suspend points in it.
pub(super) struct Piece {
    pub block: BlockId,
    /// Range of its instructions.
    pub start: usize,
    pub end: usize,
    /// The suspend point that ends it; `None` when the block's terminator does.
    pub point: Option<usize>,
}

/// A suspend point.
pub(super) struct Point {
    /// Where its instruction stands.
    pub block: BlockId,
    pub inst: usize,
    /// The piece that continues after it.
    pub next: usize,
    /// Values kept across it, in order.
    pub kept: Vec<Value>,
    /// Slots kept across it, in order.
    pub kept_slots: Vec<SlotId>,
}

/// In a function with more suspend points values are kept, not computed again: the code of each
/// section would be nearly all of the function's.
const MOST_POINTS: usize = 128;

/// A function with its suspend points.
pub(super) struct Cut<'a> {
    pub func: &'a Function,
    pub pieces: Vec<Piece>,
    pub points: Vec<Point>,
    /// The first piece of each reachable block.
    pub first: HashMap<BlockId, usize>,
    /// Values live where each piece starts, those that are computed again included.
    pub live: Vec<BTreeSet<Value>>,
    /// The instruction that computes a value which is computed again rather than kept.
    pub recipes: HashMap<Value, &'a Inst>,
    /// The values among these that come from constants alone, so that they are the same wherever
    /// they are computed.
    pub fixed: HashSet<Value>,
}

impl<'a> Cut<'a> {
    /// With the names of `pure` functions, all that can be is computed again.
    pub fn new(
        func: &'a Function,
        suspends: &dyn Fn(&Op) -> bool,
        pure: Option<&HashSet<Arc<str>>>,
        target: &TargetInfo,
    ) -> Self {
        let order = func.reverse_postorder();
        let (mut pieces, mut points, mut first) = (Vec::new(), Vec::new(), HashMap::new());
        for &block in &order {
            first.insert(block, pieces.len());
            let insts = &func.block(block).insts;
            let mut start = 0;
            for (i, _) in insts.iter().enumerate().filter(|(_, inst)| suspends(&inst.op)) {
                pieces.push(Piece { block, start, end: i, point: Some(points.len()) });
                points.push(Point { block, inst: i, next: pieces.len(), kept: Vec::new(), kept_slots: Vec::new() });
                start = i + 1;
            }
            pieces.push(Piece { block, start, end: insts.len(), point: None });
        }
        let mut recipes = recipes(func, &order, target.rematerialized_operations);
        let fixed = recipes.keys().copied().collect();
        let mut cut = Self { func, pieces, points, first, live: Vec::new(), recipes: HashMap::new(), fixed };
        if let Some(pure) = pure.filter(|_| cut.points.len() <= MOST_POINTS) {
            recipes.extend(cut.derived(&order, pure));
        }
        cut.recipes = recipes;
        cut.find_live_values();
        let slots = cut.kept_slots();
        for (p, kept_slots) in slots.into_iter().enumerate() {
            let results = &cut.inst(p).results;
            let mut leaves = BTreeSet::new();
            cut.live[cut.points[p].next].iter().for_each(|&v| cut.add_leaves(v, &mut leaves));
            cut.points[p].kept = leaves.into_iter().filter(|v| !results.contains(v)).collect();
            cut.points[p].kept_slots = kept_slots;
        }
        cut
    }

    /// The instruction of a suspend point.
    pub fn inst(&self, point: usize) -> &'a Inst {
        let p = &self.points[point];
        &self.func.block(p.block).insts[p.inst]
    }

    /// The instructions of a piece that its sections carry out: not those that only inform a
    /// debugger something.
    pub fn insts(&self, piece: &Piece) -> impl DoubleEndedIterator<Item = &'a Inst> + use<'a> {
        let insts = &self.func.block(piece.block).insts[piece.start..piece.end];
        insts.iter().filter(|i| !matches!(i.op, Op::Debug(_)))
    }

    /// Pieces that follow without a suspend point between, once for each jump.
    pub fn successors(&self, piece: usize) -> Vec<usize> {
        let p = &self.pieces[piece];
        match p.point {
            Some(_) => Vec::new(),
            None => self.func.block(p.block).term.targets().map(|t| self.first[&t.block]).collect(),
        }
    }

    /// Backward data flow to a fixed point, through suspend points too.
    fn find_live_values(&mut self) {
        self.live = vec![BTreeSet::new(); self.pieces.len()];
        loop {
            let mut changed = false;
            for i in (0..self.pieces.len()).rev() {
                let piece = &self.pieces[i];
                let mut live = BTreeSet::new();
                match piece.point {
                    Some(p) => {
                        let next = &self.live[self.points[p].next];
                        live.extend(next);
                        next.iter().for_each(|&v| self.add_leaves(v, &mut live));
                        let inst = self.inst(p);
                        inst.results.iter().for_each(|r| {
                            live.remove(r);
                        });
                        live.extend(&inst.args);
                    }
                    None => {
                        let term = &self.func.block(piece.block).term;
                        for t in term.targets() {
                            let params = &self.func.block(t.block).params;
                            let target = &self.live[self.first[&t.block]];
                            live.extend(target.iter().filter(|v| !params.contains(v)));
                        }
                        term.for_each_arg(|v| {
                            live.insert(v);
                        });
                    }
                }
                for inst in self.insts(piece).rev() {
                    inst.results.iter().for_each(|r| {
                        live.remove(r);
                    });
                    live.extend(&inst.args);
                }
                if live != self.live[i] {
                    self.live[i] = live;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Adds to a set of values those that the recipe of `value` starts from.
    fn add_leaves(&self, value: Value, all: &mut BTreeSet<Value>) {
        let (mut seen, mut work) = (HashSet::new(), vec![value]);
        while let Some(v) = work.pop() {
            match self.recipes.get(&v) {
                Some(inst) => work.extend(inst.args.iter().filter(|&&a| seen.insert(a))),
                None => {
                    all.insert(v);
                }
            }
        }
    }

    /// The instructions of all values that pure operations and calls give, but for two kinds that
    /// are kept: calls whose results the function needs before it waits the last time, which may
    /// take long, and what is [`interpolated`].
    fn derived(&self, order: &[BlockId], pure: &HashSet<Arc<str>>) -> HashMap<Value, &'a Inst> {
        let early = self.early();
        let state = interpolated(self.func, order);
        let insts = order.iter().flat_map(|&b| &self.func.block(b).insts);
        let again = insts.filter(|inst| match &inst.op {
            Op::Call(name) => pure.contains(name) && !inst.results.iter().any(|r| early.contains(r)),
            op => op.is_pure(),
        });
        let all = again.flat_map(|inst| inst.results.iter().map(move |&r| (r, inst)));
        all.filter(|(result, _)| !state.contains(result)).collect()
    }

    /// The values that decide which suspend points are reached, and with which operands.
    fn early(&self) -> HashSet<Value> {
        let mut reaches: Vec<bool> = self.pieces.iter().map(|p| p.point.is_some()).collect();
        loop {
            let more = |i: &usize| !reaches[*i] && self.successors(*i).iter().any(|&s| reaches[s]);
            let more: Vec<usize> = (0..self.pieces.len()).filter(more).collect();
            if more.is_empty() {
                break;
            }
            more.into_iter().for_each(|i| reaches[i] = true);
        }
        let mut work: Vec<Value> = Vec::new();
        for (piece, _) in self.pieces.iter().zip(&reaches).filter(|(_, reaches)| **reaches) {
            match piece.point {
                Some(p) => work.extend(&self.inst(p).args),
                None => self.func.block(piece.block).term.for_each_arg(|v| work.push(v)),
            }
            let stores = self.insts(piece).filter(|i| matches!(i.op, Op::SlotStore(_)));
            work.extend(stores.flat_map(|i| &i.args));
        }
        let insts = self.func.blocks.iter().flat_map(|b| &b.insts);
        let origin: HashMap<Value, &Inst> = insts.flat_map(|i| i.results.iter().map(move |&r| (r, i))).collect();
        let mut early: HashSet<Value> = HashSet::new();
        while let Some(v) = work.pop() {
            if early.insert(v) {
                work.extend(origin.get(&v).into_iter().flat_map(|i| &i.args));
            }
        }
        early
    }

    /// For each suspend point the slots that may hold something that may be read later.
    fn kept_slots(&self) -> Vec<Vec<SlotId>> {
        let count = self.pieces.len();
        let (mut written, mut read) = (vec![BTreeSet::new(); count], vec![BTreeSet::new(); count]);
        for (i, piece) in self.pieces.iter().enumerate() {
            let end = piece.point.map(|p| self.inst(p));
            for inst in self.insts(piece).chain(end) {
                match inst.op {
                    Op::SlotLoad(s) | Op::Visible(s) => {
                        read[i].insert(s);
                    }
                    Op::SlotStore(s) => {
                        written[i].insert(s);
                    }
                    _ => {}
                }
            }
        }
        let next: Vec<Vec<usize>> = (0..count)
            .map(|i| self.pieces[i].point.map_or_else(|| self.successors(i), |p| vec![self.points[p].next]))
            .collect();
        let mut changed = true;
        while changed {
            changed = false;
            for i in 0..count {
                for &n in &next[i] {
                    let (from, to): (BTreeSet<SlotId>, BTreeSet<SlotId>) = (written[i].clone(), read[n].clone());
                    let before = (written[n].len(), read[i].len());
                    written[n].extend(from);
                    read[i].extend(to);
                    changed |= before != (written[n].len(), read[i].len());
                }
            }
        }
        let at = |piece: usize, p: usize| written[piece].intersection(&read[self.points[p].next]).copied().collect();
        let ends = self.pieces.iter().enumerate().filter_map(|(i, piece)| piece.point.map(|p| at(i, p)));
        ends.collect()
    }
}

/// The values that take at most `cheap` operations to compute from nothing but constants, program
/// constants and the memory image at known places.
fn recipes<'a>(func: &'a Function, order: &[BlockId], cheap: usize) -> HashMap<Value, &'a Inst> {
    // The operations that each value takes, itself included: an operation that serves twice is done
    // once.
    let mut needed: HashMap<Value, BTreeSet<Value>> = HashMap::new();
    let mut recipes = HashMap::new();
    for inst in order.iter().flat_map(|&b| &func.block(b).insts) {
        let ([result], true) = (inst.results.as_slice(), inst.op.is_pure()) else { continue };
        let own = if matches!(inst.op, Op::Const(_)) { None } else { Some(*result) };
        let all = inst.args.iter().try_fold(BTreeSet::from_iter(own), |mut all, arg| {
            all.extend(needed.get(arg)?);
            Some(all)
        });
        if let Some(all) = all.filter(|all| all.len() <= cheap) {
            needed.insert(*result, all);
            recipes.insert(*result, inst);
        }
    }
    recipes
}

/// The values that are fetched from the scene through more than one address, and sums and products
/// of these, of the function's parameters and of the hit, where they take no more words than what
/// they are made of: the position, the normal and the like. A load counts as two words of a frame
/// and more, as does what it takes to compile one.
fn interpolated(func: &Function, order: &[BlockId]) -> HashSet<Value> {
    let words = |v: &Value| func.ty(*v).words();
    let mut kept: HashSet<Value> = HashSet::new();
    // Of what each value is a sum or product.
    let mut parts: HashMap<Value, BTreeSet<Value>> = HashMap::new();
    parts.extend(func.param_values().iter().map(|&v| (v, BTreeSet::from([v]))));
    let mut loaded: HashSet<Value> = HashSet::new();
    for inst in order.iter().flat_map(|&b| &func.block(b).insts) {
        let [result] = inst.results[..] else { continue };
        let from_load = inst.args.iter().any(|a| loaded.contains(a));
        match inst.op {
            Op::Hit => {
                parts.insert(result, BTreeSet::from([result]));
            }
            Op::Load(_) if from_load => {
                kept.insert(result);
                parts.insert(result, BTreeSet::from([result]));
            }
            Op::Load(_) => {
                loaded.insert(result);
            }
            Op::Extract(_) | Op::Bitcast if from_load => {
                loaded.insert(result);
            }
            Op::Add | Op::Sub | Op::Mul | Op::Splat | Op::Extract(_) | Op::Compose => {
                let all: Option<Vec<_>> = inst.args.iter().map(|a| parts.get(a)).collect();
                let Some(all) = all else { continue };
                let mut own: BTreeSet<Value> = all.into_iter().flatten().copied().collect();
                let sum: u32 = own.iter().map(words).sum();
                let of_vector = matches!(inst.op, Op::Extract(_)) && func.ty(inst.args[0]) == Type::Vec4;
                if own.len() > 1 && words(&result) <= sum || of_vector {
                    kept.insert(result);
                    own = BTreeSet::from([result]);
                }
                parts.insert(result, own);
            }
            _ => {}
        }
    }
    kept
}
