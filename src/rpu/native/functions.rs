//! Functions as the translator sees them: blocks in the order of their addresses, and where lanes
//! can wait.
//!
//! A function is what jumps reach from an address that is called. Its code runs from lower to
//! higher addresses, for the lanes that are there; the others wait at the block that they jumped
//! to, and join when the code comes to it. So lanes reconverge as the interpreter's do. Jumps
//! backwards wait, too: the code returns to a loop's header when it comes to the last of them, the
//! *end of the loop*, as long as lanes wait at the header.
//!
//! An [`Item`] is a block or the end of a loop. What this module decides about jumps follows from
//! one question: at which items can lanes wait?

use super::context::FRAME_HEAD;
use crate::decode::{DecodedControl, DecodedInstr, Flow};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Items that one jump leaves out, at most: what is looked at for each jump of a program stays
/// bounded.
const FARTHEST: usize = 1 << 10;

/// A step of a function's code, in the order of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Block(usize),
    /// The end of the loop whose header is this block.
    LoopEnd(usize),
}

/// Instructions that are entered at the first alone.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// The address of the first instruction, and the one after the last.
    pub start: u32,
    pub end: u32,
    /// Where lanes wait for it, if any can: a number in the function's frame.
    pub slot: Option<usize>,
    /// The index of the block's item.
    pub item: usize,
    /// Items of the jumps to it.
    sources: BTreeSet<usize>,
}

/// A function.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub entry: u32,
    pub blocks: Vec<Block>,
    pub items: Vec<Item>,
    /// The number of slots.
    pub slots: usize,
    /// For each header of a loop, the address of the last jump back to it, and how many there are.
    loops: BTreeMap<u32, (u32, usize)>,
    /// For each call of a register, the slot of the lanes that call another function than the one
    /// that runs.
    rests: BTreeMap<u32, usize>,
}

fn calls_register(flow: Flow) -> bool {
    matches!(flow.control(), Some(DecodedControl::CallReg { .. }))
}

/// True if some lanes wait behind a call while others are in it.
fn splits_at_call(flow: Flow) -> bool {
    calls_register(flow) || matches!(flow, Flow::If(DecodedControl::Call { .. }))
}

/// The addresses that jumps reach from an entry.
fn reachable(code: &[DecodedInstr], entry: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut left = vec![entry];
    while let Some(mut pc) = left.pop() {
        while let Some(instr) = code.get(pc as usize)
            && found.insert(pc)
        {
            left.extend(instr.flow.jump_target());
            if instr.flow.never_falls_through() {
                break;
            }
            pc += 1;
        }
    }
    found
}

impl Function {
    /// The function at an address.
    pub fn at(code: &[DecodedInstr], entry: u32) -> Function {
        let addresses = reachable(code, entry);
        let mut loops = BTreeMap::new();
        let mut leaders = BTreeSet::from([entry]);
        let mut waited_for = BTreeSet::new();
        for &pc in &addresses {
            let flow = code[pc as usize].flow;
            if let Some(target) = flow.jump_target() {
                leaders.insert(target);
                waited_for.insert(target);
                if target <= pc {
                    let (last, count) = loops.entry(target).or_insert((pc, 0));
                    *last = pc.max(*last);
                    *count += 1;
                }
            }
            if splits_at_call(flow) {
                leaders.insert(pc + 1);
                waited_for.insert(pc + 1);
            }
        }
        for (last, _) in loops.values() {
            leaders.insert(last + 1);
            waited_for.insert(last + 1);
        }
        let ends: BTreeMap<u32, u32> = loops.iter().map(|(&header, &(last, _))| (last, header)).collect();
        let mut blocks: Vec<Block> = Vec::new();
        for &pc in &addresses {
            match blocks.last_mut() {
                Some(block) if block.end == pc && !leaders.contains(&pc) => block.end += 1,
                _ => blocks.push(Block { start: pc, end: pc + 1, slot: None, item: 0, sources: BTreeSet::new() }),
            }
        }
        let mut slots = 0;
        let mut items = Vec::new();
        let by_start: BTreeMap<u32, usize> = blocks.iter().enumerate().map(|(i, block)| (block.start, i)).collect();
        for (i, block) in blocks.iter_mut().enumerate() {
            if waited_for.contains(&block.start) {
                block.slot = Some(slots);
                slots += 1;
            }
            block.item = items.len();
            items.push(Item::Block(i));
            if let Some(header) = ends.get(&(block.end - 1)) {
                items.push(Item::LoopEnd(by_start[header]));
            }
        }
        let mut rests = BTreeMap::new();
        for &pc in addresses.iter().filter(|&&pc| calls_register(code[pc as usize].flow)) {
            rests.insert(pc, slots);
            slots += 1;
        }
        let mut function = Function { entry, blocks, items, slots, loops, rests };
        for i in 0..function.blocks.len() {
            let Block { start, end, item, .. } = function.blocks[i];
            for pc in start..end {
                if let Some(target) = code[pc as usize].flow.jump_target() {
                    function.blocks[by_start[&target]].sources.insert(item);
                }
            }
            if splits_at_call(code[end as usize - 1].flow)
                && let Some(next) = by_start.get(&end)
            {
                function.blocks[*next].sources.insert(item);
            }
            // Lanes that leave a loop wait behind its end.
            if let Some(Item::LoopEnd(_)) = function.items.get(item + 1)
                && let Some(next) = by_start.get(&end)
            {
                function.blocks[*next].sources.extend([item, item + 1]);
            }
        }
        function
    }

    /// The block that begins at an address.
    pub fn block_at(&self, start: u32) -> Option<usize> {
        self.blocks.binary_search_by_key(&start, |block| block.start).ok()
    }

    /// The number of instructions.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|block| (block.end - block.start) as usize).sum()
    }

    /// Bytes of its frame: a multiple of 16.
    pub fn frame_size(&self) -> i32 {
        (FRAME_HEAD + 4 * self.slots as i32 + 15) & !15
    }

    /// True if a jump at an address is the last one back to its target, and whether the only one.
    pub fn ends_loop(&self, pc: u32, target: u32) -> Option<bool> {
        self.loops.get(&target).filter(|(last, _)| *last == pc).map(|(_, count)| *count == 1)
    }

    /// The slot of the lanes that a call of a register has not called yet.
    pub fn rest_slot(&self, pc: u32) -> Option<usize> {
        self.rests.get(&pc).copied()
    }

    /// The calls of registers, with their slots.
    pub fn rests(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        self.rests.iter().map(|(&pc, &slot)| (pc, slot))
    }

    /// The header of the loop that ends last, if the function has loops, lanes enter that one at its
    /// header alone, and no jump leads from inside it to a header ahead of it: then all lanes that are
    /// in it are at the header together. A refilled batch starts other threads when lanes have left it.
    pub fn last_loop(&self) -> Option<usize> {
        let (&start, &(last, _)) = self.loops.iter().max_by_key(|(_, (last, _))| *last)?;
        let header = self.block_at(start)?;
        let range = start..=last;
        let is_outside = |source: &usize| match self.items[*source] {
            Item::Block(block) => !range.contains(&self.blocks[block].start),
            Item::LoopEnd(_) => false,
        };
        let mut inside = self.blocks[header + 1..].iter().take_while(|block| block.start <= last);
        let is_entered = inside.any(|block| block.sources.iter().any(is_outside));
        let is_crossed = self.loops.range(..start).any(|(_, (last, _))| range.contains(last));
        (!is_entered && !is_crossed).then_some(header)
    }

    /// True if one jump alone leads back to the header of a loop: no lane waits at the loop's end.
    pub fn is_single(&self, header: usize) -> bool {
        self.loops.get(&self.blocks[header].start).is_some_and(|(_, count)| *count == 1)
    }

    /// The first item of a range where lanes can wait, given that none run in the range, and which
    /// sources of an item's lanes count as idle.
    ///
    /// An idle source may yet have left lanes behind the end of a loop before the code turned back
    /// from there to a header ahead of the range: they wait.
    fn first_waiting(&self, mut range: Range<usize>, is_idle: impl Fn(usize, usize) -> bool) -> Option<usize> {
        let start = range.start;
        let mut turned = false;
        range.find(|&item| match self.items[item] {
            Item::Block(b) => {
                let Block { slot, sources, .. } = &self.blocks[b];
                slot.is_some() && (turned || !sources.iter().all(|&source| is_idle(source, item)))
            }
            Item::LoopEnd(header) => {
                let around = self.blocks[header].item < start;
                turned |= around;
                around && !self.is_single(header)
            }
        })
    }

    /// Where the code continues when no lane is at an item: the next one where lanes can wait, or the
    /// number of items for the function's end.
    pub fn after_idle(&self, item: usize) -> usize {
        let is_idle = |source, at| (item..=at).contains(&source);
        // Any later item would do.
        let end = self.items.len().min(item + 1 + FARTHEST);
        self.first_waiting(item + 1..end, is_idle).unwrap_or(end)
    }

    /// True if all lanes can go from an item directly to a later one (or to the end), as none wait
    /// in between.
    pub fn is_direct(&self, from: usize, to: usize) -> bool {
        let between = from + 1..to;
        between.len() <= FARTHEST
            && self.first_waiting(between.clone(), |source, _| between.contains(&source)).is_none()
    }
}
