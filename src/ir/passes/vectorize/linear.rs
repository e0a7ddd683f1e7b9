//! The code of diverged lanes, until they reconverge: blocks one after the other, each under the
//! mask of the lanes that come to it.
//!
//! Blocks run in an order in which each comes after those that lead to it; a loop counts as one,
//! and runs until no lane is in it. A branch on a uniform condition stays a branch where what it
//! leads to can be reached through it alone. What must not run without lanes (loops, calls, and
//! what is printed) is skipped when no lane comes to it.

use super::VectorizeError;
use super::body::Body;
use crate::{BlockId, Op, Target, Terminator, Value};
use std::collections::BTreeSet;

/// Loops and branches within each other, at most.
const MAX_DEPTH: usize = 128;

/// Lanes that go to a block.
pub(super) struct Way<'t> {
    pub(super) target: &'t Target,
    pub(super) mask: Vec<Value>,
}

/// A step of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Block(BlockId),
    /// The loop of that number.
    Loop(u32),
}

/// Blocks that run one after the other: those of one iteration of a loop, or of a region outside
/// of loops.
struct Level {
    /// The loop, and its header.
    inside: Option<(u32, BlockId)>,
    items: Vec<Item>,
    /// Blocks of the level and of the loops in it.
    blocks: BTreeSet<BlockId>,
    /// Blocks to which lanes have gone: the next ones keep what those passed.
    entered: BTreeSet<BlockId>,
    /// Blocks that have been made.
    done: BTreeSet<BlockId>,
    /// Where the code continues when no lane is left in the loop.
    exit: Option<BlockId>,
    depth: usize,
}

impl Body<'_, '_> {
    /// Runs the lanes of some ways until all have come to the block `join`, which gets its
    /// parameters.
    pub(super) fn linear(&mut self, from: BlockId, join: BlockId, ways: &[Way<'_>]) -> Result<(), VectorizeError> {
        let mut blocks = BTreeSet::new();
        let mut work: Vec<BlockId> = ways.iter().map(|w| w.target.block).collect();
        while let Some(block) = work.pop() {
            if self.uniformity.is_masked(block) && blocks.insert(block) {
                work.extend(self.func.block(block).term.targets().map(|t| t.block));
            }
        }
        let loops = &self.uniformity.solution().loops;
        let is_outside = |l: &u32| !self.uniformity.is_masked(BlockId(loops.all[*l as usize].header));
        let first = ways.iter().map(|w| w.target.block).find(|b| self.uniformity.is_masked(*b)).unwrap_or(from);
        let mut level = self.level(loops.around(first.0).find(is_outside), &blocks, 0);
        self.start(&level);
        for way in ways {
            self.enter(&mut level, from, way);
        }
        self.run(&mut level)?;
        debug_assert!(level.entered.contains(&join), "all lanes reconverge");
        Ok(())
    }

    /// The level of the blocks whose innermost loop is `around`.
    fn level(&self, around: Option<u32>, blocks: &BTreeSet<BlockId>, depth: usize) -> Level {
        let solution = self.uniformity.solution();
        let position = |b: BlockId| solution.graph.position[b.0 as usize];
        let mut items: Vec<(Option<u32>, Item)> = Vec::new();
        let mut inner = BTreeSet::new();
        for &block in blocks {
            let mut at = solution.loops.innermost[block.0 as usize];
            let mut child = None;
            while at != around
                && let Some(l) = at
            {
                (child, at) = (Some(l), solution.loops.all[l as usize].parent);
            }
            match child {
                None => items.push((position(block), Item::Block(block))),
                Some(l) if inner.insert(l) => {
                    items.push((position(BlockId(solution.loops.all[l as usize].header)), Item::Loop(l)));
                }
                Some(_) => {}
            }
        }
        items.sort_by_key(|(position, _)| *position);
        let items = items.into_iter().map(|(_, item)| item).collect();
        let (entered, done) = (BTreeSet::new(), BTreeSet::new());
        Level { inside: None, items, blocks: blocks.clone(), entered, done, exit: None, depth }
    }

    /// The block at which an item is entered.
    fn head(&self, item: Item) -> BlockId {
        match item {
            Item::Block(block) => block,
            Item::Loop(l) => BlockId(self.uniformity.solution().loops.all[l as usize].header),
        }
    }

    /// The blocks of an item.
    fn blocks_of(&self, level: &Level, item: Item) -> Vec<BlockId> {
        match item {
            Item::Block(block) => vec![block],
            Item::Loop(l) => {
                let loops = &self.uniformity.solution().loops;
                level.blocks.iter().copied().filter(|b| loops.holds(l, b.0)).collect()
            }
        }
    }

    /// No lane is in a level yet.
    fn start(&mut self, level: &Level) {
        for item in &level.items {
            let head = self.head(*item);
            if level.inside.is_none_or(|(_, header)| header != head) {
                self.write_mask(head, &vec![self.truth[0]; self.width]);
            }
        }
    }

    fn write_mask(&mut self, block: BlockId, mask: &[Value]) {
        use crate::Type::Bool;
        let (b, width) = (&mut self.b, self.width);
        let variables = self.masks.entry(block).or_insert_with(|| (0..width).map(|_| b.variable(Bool)).collect());
        variables.clone().into_iter().zip(mask).for_each(|(v, lane)| self.b.write(v, *lane));
    }

    fn mask(&mut self, block: BlockId) -> Vec<Value> {
        let variables = self.masks.get(&block).cloned().unwrap_or_default();
        variables.into_iter().map(|v| self.b.read(v)).collect()
    }

    /// Lanes go from a block to another.
    fn enter(&mut self, level: &mut Level, from: BlockId, way: &Way<'_>) {
        let Way { target: Target { block: to, args }, mask } = way;
        let is_first = level.entered.insert(*to);
        if self.uniformity.is_masked(*to) {
            let old = self.mask(*to);
            let new: Vec<Value> = old.into_iter().zip(mask).map(|(old, lane)| self.or(old, *lane)).collect();
            self.write_mask(*to, &new);
        }
        // What the first lanes pass is overwritten for those that come later, unless the block is
        // outside of the loop: others may have gone there in an earlier iteration.
        let is_here = match level.inside {
            Some((l, header)) => *to != header && self.uniformity.solution().loops.holds(l, to.0),
            None => true,
        };
        // What a header is passed for the next iteration must not change what lanes that left the
        // loop in this one took with them.
        let is_only = level.inside.is_some_and(|(_, header)| header == *to && self.latches(header) == 1)
            && !self.outlives.contains(to);
        let kept = if (is_first && is_here) || is_only { None } else { Some(mask.clone()) };
        self.pass(from, *to, args, &kept);
    }

    /// The edges that lead back to a header.
    fn latches(&self, header: BlockId) -> usize {
        let solution = self.uniformity.solution();
        let position = |n: u32| solution.graph.position[n as usize];
        let before = solution.graph.predecessors[header.0 as usize].iter();
        before.filter(|p| position(**p).is_some() && position(**p) >= position(header.0)).count()
    }

    /// Makes the items of a level.
    fn run(&mut self, level: &mut Level) -> Result<(), VectorizeError> {
        for item in level.items.clone() {
            if !level.done.contains(&self.head(item)) {
                self.item(level, item)?;
            }
        }
        Ok(())
    }

    fn item(&mut self, level: &mut Level, item: Item) -> Result<(), VectorizeError> {
        let blocks = self.blocks_of(level, item);
        level.done.extend(blocks.iter().copied());
        match item {
            Item::Block(block) => {
                let mask = self.mask(block);
                let is_last = matches!(level.inside, Some((_, header)) if header == block);
                if is_last {
                    // The mask of the header is that of the next iteration from here on.
                    self.write_mask(block, &vec![self.truth[0]; self.width]);
                }
                self.guarded(self.needs_lanes(block), &mask.clone(), |body| {
                    body.instructions(block, &Some(mask.clone()))
                })?;
                self.b.loc = self.func.block(block).term_loc;
                self.part(level, block, mask)
            }
            Item::Loop(l) => {
                let header = self.head(item);
                let mask = self.mask(header);
                let blocks: BTreeSet<BlockId> = blocks.into_iter().collect();
                let depth = level.depth + 1;
                let mut entered = BTreeSet::new();
                self.guarded(true, &mask, |body| body.repeat(l, header, &blocks, depth, &mut entered))?;
                level.entered.extend(entered);
                Ok(())
            }
        }
    }

    /// Makes code that is skipped when no lane runs it, if `is_needed`.
    fn guarded(
        &mut self,
        is_needed: bool,
        mask: &[Value],
        make: impl FnOnce(&mut Self) -> Result<(), VectorizeError>,
    ) -> Result<(), VectorizeError> {
        if !is_needed {
            return make(self);
        }
        let any = self.any(mask);
        if any == self.truth[1] {
            return make(self);
        }
        let (run, skip) = (self.b.block(), self.b.block());
        self.b.branch(any, run, skip);
        self.b.seal(run);
        self.b.switch_to(run);
        make(self)?;
        self.b.jump(skip, vec![]);
        self.b.seal(skip);
        self.b.switch_to(skip);
        Ok(())
    }

    /// True if a block must not run without lanes: what it calls might never return.
    fn needs_lanes(&self, block: BlockId) -> bool {
        let insts = &self.func.block(block).insts;
        insts.iter().any(|i| matches!(i.op, Op::Call(_)) && !self.is_between_lanes(i))
    }

    /// The end of a block of a level.
    fn part(&mut self, level: &mut Level, block: BlockId, mask: Vec<Value>) -> Result<(), VectorizeError> {
        let func = self.func;
        match &func.block(block).term {
            Terminator::Return(_) => Ok(()),
            Terminator::Jump(target) => {
                self.enter(level, block, &Way { target, mask });
                Ok(())
            }
            Terminator::Branch(condition, then, otherwise) => {
                if !self.uniformity.diverges(block)
                    && let Some(arms) = self.arms(level, block, [then.block, otherwise.block])
                {
                    let condition = self.first(*condition, block);
                    return self.choose(level, block, condition, [then, otherwise], arms, mask);
                }
                let (taken, left) = self.divided(*condition, block, Some(mask));
                let ways = [Way { target: then, mask: taken }, Way { target: otherwise, mask: left }];
                for way in &ways {
                    self.enter(level, block, way);
                }
                self.leave_early(level, block, &ways);
                Ok(())
            }
        }
    }

    /// Leaves a loop when no lane continues in it, where that shows in the middle: all lanes that
    /// are in it went one of the ways from a block.
    fn leave_early(&mut self, level: &Level, block: BlockId, ways: &[Way<'_>; 2]) {
        let (Some(exit), Some((l, header))) = (level.exit, level.inside) else { return };
        let stays = |w: &&Way<'_>| self.uniformity.solution().loops.holds(l, w.target.block.0);
        let staying: Vec<&Way<'_>> = ways.iter().filter(stays).collect();
        let [way] = staying[..] else { return };
        let pending = |b: &BlockId| {
            let ahead = |t: &Target| level.blocks.contains(&t.block) && !level.done.contains(&t.block);
            *b != block && self.func.block(*b).term.targets().any(|t| ahead(t) || t.block == header)
        };
        if way.target.block == header || level.done.iter().any(pending) {
            return;
        }
        let any = self.any(&way.mask.clone());
        let rest = self.b.block();
        self.b.branch(any, rest, exit);
        self.b.seal(rest);
        self.b.switch_to(rest);
    }

    /// The blocks that each edge of a branch leads to, if all of them are reached through it alone.
    fn arms(&self, level: &Level, block: BlockId, targets: [BlockId; 2]) -> Option<[BTreeSet<BlockId>; 2]> {
        if targets[0] == targets[1] || level.depth >= MAX_DEPTH {
            return None;
        }
        let header = level.inside.map(|(_, header)| header);
        let join = self.uniformity.solution().reconvergence[block.0 as usize].map(BlockId);
        let arm = |target: BlockId| {
            let mut arm = BTreeSet::new();
            let mut work = vec![target];
            while let Some(b) = work.pop() {
                let is_inside = level.blocks.contains(&b) && !level.done.contains(&b);
                if is_inside && Some(b) != join && Some(b) != header && arm.insert(b) {
                    work.extend(self.func.block(b).term.targets().map(|t| t.block));
                }
            }
            arm
        };
        let arms = targets.map(arm);
        let is_empty = arms.iter().all(BTreeSet::is_empty);
        let is_alone = |arm: &BTreeSet<BlockId>| {
            let before = |b: &BlockId| self.uniformity.solution().graph.predecessors[b.0 as usize].iter();
            arm.iter().all(|b| before(b).all(|p| *p == block.0 || arm.contains(&BlockId(*p))))
        };
        (!is_empty && arms[0].is_disjoint(&arms[1]) && arms.iter().all(is_alone)).then_some(arms)
    }

    /// A branch on a uniform condition that stays one.
    fn choose(
        &mut self,
        level: &mut Level,
        block: BlockId,
        condition: Value,
        targets: [&Target; 2],
        arms: [BTreeSet<BlockId>; 2],
        mask: Vec<Value>,
    ) -> Result<(), VectorizeError> {
        let made = [self.b.block(), self.b.block()];
        let after = self.b.block();
        self.b.branch(condition, made[0], made[1]);
        level.depth += 1;
        // Between the paths nothing is left early: each is but a part of what lanes run.
        let exit = level.exit.take();
        for ((made, target), arm) in made.into_iter().zip(targets).zip(&arms) {
            self.b.seal(made);
            self.b.switch_to(made);
            self.enter(level, block, &Way { target, mask: mask.clone() });
            for item in level.items.clone() {
                if arm.contains(&self.head(item)) && !level.done.contains(&self.head(item)) {
                    self.item(level, item)?;
                }
            }
            self.b.jump(after, vec![]);
        }
        level.exit = exit;
        level.depth -= 1;
        self.b.seal(after);
        self.b.switch_to(after);
        Ok(())
    }

    /// A loop: it runs until no lane is in it.
    fn repeat(
        &mut self,
        number: u32,
        header: BlockId,
        blocks: &BTreeSet<BlockId>,
        depth: usize,
        entered: &mut BTreeSet<BlockId>,
    ) -> Result<(), VectorizeError> {
        if depth > MAX_DEPTH {
            let (function, width) = (self.func.name.clone(), self.width as u32);
            return Err(VectorizeError::TooLarge { function, width });
        }
        let (head, exit) = (self.b.block(), self.b.block());
        self.b.jump(head, vec![]);
        self.b.switch_to(head);
        let mut level = self.level(Some(number), blocks, depth);
        level.inside = Some((number, header));
        level.exit = Some(exit);
        self.start(&level);
        self.run(&mut level)?;
        let again = self.mask(header);
        let any = self.any(&again);
        self.b.branch(any, head, exit);
        self.b.seal(head);
        self.b.seal(exit);
        self.b.switch_to(exit);
        entered.extend(level.entered);
        Ok(())
    }
}
