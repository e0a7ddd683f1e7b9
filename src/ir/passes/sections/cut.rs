//! Where a function is cut, and what must be kept across each cut.

use crate::ir::{BlockId, Function, Inst, Op, SlotId, Value};
use std::collections::{BTreeSet, HashMap};

/// Operations that a value may take to compute again; more than that and it is kept.
const CHEAP: usize = 12;

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
    /// The piece that goes on behind it.
    pub next: usize,
    /// Values kept across it, in order.
    pub kept: Vec<Value>,
    /// Slots kept across it, in order.
    pub kept_slots: Vec<SlotId>,
}

/// A function with its suspend points.
pub(super) struct Cut<'a> {
    pub func: &'a Function,
    pub pieces: Vec<Piece>,
    pub points: Vec<Point>,
    /// The first piece of each reachable block.
    pub first: HashMap<BlockId, usize>,
    /// Values live where each piece starts, those that are computed again included.
    pub live: Vec<BTreeSet<Value>>,
    /// The instruction that computes a value which is cheap to compute again.
    pub recipes: HashMap<Value, &'a Inst>,
}

impl<'a> Cut<'a> {
    pub fn new(func: &'a Function, suspends: &dyn Fn(&Op) -> bool) -> Self {
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
        let recipes = recipes(func, &order);
        let mut cut = Self { func, pieces, points, first, live: Vec::new(), recipes };
        cut.find_live_values();
        let slots = cut.kept_slots();
        for (p, kept_slots) in slots.into_iter().enumerate() {
            let results = &cut.inst(p).results;
            let live = cut.live[cut.points[p].next].iter();
            let kept = live.filter(|v| !results.contains(v) && !cut.recipes.contains_key(v)).copied().collect();
            cut.points[p].kept = kept;
            cut.points[p].kept_slots = kept_slots;
        }
        cut
    }

    /// The instruction of a suspend point.
    pub fn inst(&self, point: usize) -> &'a Inst {
        let p = &self.points[point];
        &self.func.block(p.block).insts[p.inst]
    }

    /// The instructions of a piece that its sections carry out: not those that only tell a debugger something.
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
                        live.extend(&self.live[self.points[p].next]);
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

/// The values that take at most [`CHEAP`] operations to compute from nothing but constants, program constants and the memory image at known places.
fn recipes<'a>(func: &'a Function, order: &[BlockId]) -> HashMap<Value, &'a Inst> {
    // The operations that each value takes, itself included: an operation that serves twice is done once.
    let mut needed: HashMap<Value, BTreeSet<Value>> = HashMap::new();
    let mut recipes = HashMap::new();
    for inst in order.iter().flat_map(|&b| &func.block(b).insts) {
        let ([result], true) = (inst.results.as_slice(), inst.op.is_pure()) else { continue };
        let own = if matches!(inst.op, Op::Const(_)) { None } else { Some(*result) };
        let all = inst.args.iter().try_fold(BTreeSet::from_iter(own), |mut all, arg| {
            all.extend(needed.get(arg)?);
            Some(all)
        });
        if let Some(all) = all.filter(|all| all.len() <= CHEAP) {
            needed.insert(*result, all);
            recipes.insert(*result, inst);
        }
    }
    recipes
}
