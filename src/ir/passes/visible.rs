//! Common shadow rays: a `visible` with the same rays as one that dominates it is replaced by that
//! one's result.
//!
//! Two loops over the lights at one position trace the same shadow rays. All elements of both
//! arrays must be known: each element up to the constant number of rays is stored by one
//! instruction, at a constant index, that dominates the `visible`, and by no other. Equal values
//! are equal rays, and the scene does not change during a frame.
//!
//! As that one store dominates the `visible`, the element holds the stored value whenever control
//! arrives, around loops too: a path from a newer value to the `visible` that avoids the store
//! would start at the entry as well.

use super::replace::Replacements;
use crate::dominators::Dominators;
use crate::{BlockId, Const, Function, Inst, Op, SlotId, Value};
use std::collections::HashMap;

/// The key by which two batches of rays are equal: the origin and the elements.
type Rays = (Value, Vec<Value>);

/// A place in a function: a block, and the number of the instruction.
type InstPosition = (BlockId, usize);

/// The writes of an array's elements, by index.
type Writes = HashMap<u32, Vec<(InstPosition, Value)>>;

/// Runs the pass; returns the number of instructions removed.
pub fn run(func: &mut Function) -> usize {
    let batches: Vec<(InstPosition, Inst)> = instructions(func)
        .filter(|(_, i)| matches!(i.op, Op::Visible(_)))
        .map(|(place, i)| (place, i.clone()))
        .collect();
    if batches.len() < 2 {
        return 0;
    }
    let tree = Dominators::new(func);
    let elements = elements(func);
    let dominates = |a: InstPosition, b: InstPosition| if a.0 == b.0 { a.1 < b.1 } else { tree.dominates(a.0, b.0) };
    let mut first: HashMap<Rays, Vec<(InstPosition, Value)>> = HashMap::new();
    let mut replaced = Replacements::new(func);
    let mut removed: HashMap<BlockId, Vec<usize>> = HashMap::new();
    // In the order of the tree, so that a `visible` comes after those that dominate it.
    let position = |p: InstPosition| (tree.position(p.0), p.1);
    let mut ordered = batches;
    ordered.retain(|(place, _)| tree.is_reachable(place.0));
    ordered.sort_by_key(|&(place, _)| position(place));
    for (place, inst) in ordered {
        let Some(rays) = rays(&inst, place, &elements, &dominates) else { continue };
        let known = first.entry(rays).or_default();
        match known.iter().find(|(p, _)| dominates(*p, place)) {
            Some(&(_, value)) => {
                replaced.set(inst.results[0], value);
                removed.entry(place.0).or_default().push(place.1);
            }
            None => known.push((place, inst.results[0])),
        }
    }
    for (block, places) in removed {
        let mut at = 0;
        func.block_mut(block).insts.retain(|_| {
            at += 1;
            !places.contains(&(at - 1))
        });
    }
    replaced.apply(func)
}

fn instructions(func: &Function) -> impl Iterator<Item = (InstPosition, &Inst)> {
    func.block_ids().flat_map(|b| func.block(b).insts.iter().enumerate().map(move |(i, inst)| ((b, i), inst)))
}

/// The facts that are known of the arrays of a function.
struct Elements {
    /// Values of `u32` constants.
    constants: HashMap<Value, u32>,
    /// For each array, its elements' writes; `None` when one has an unknown index.
    writes: HashMap<SlotId, Option<Writes>>,
}

fn elements(func: &Function) -> Elements {
    let mut constants = HashMap::new();
    for (_, inst) in instructions(func) {
        if let (Op::Const(Const::U32(u)), [r]) = (&inst.op, &inst.results[..]) {
            constants.insert(*r, *u);
        }
    }
    let mut writes: HashMap<SlotId, Option<Writes>> = HashMap::new();
    for (place, inst) in instructions(func) {
        let Op::SlotStore(slot) = inst.op else { continue };
        let known = writes.entry(slot).or_insert_with(|| Some(HashMap::new()));
        match constants.get(&inst.args[0]) {
            Some(&index) => {
                if let Some(known) = known {
                    known.entry(index).or_default().push((place, inst.args[1]));
                }
            }
            None => *known = None,
        }
    }
    Elements { constants, writes }
}

/// The rays of a `visible`, when they are known.
fn rays(
    inst: &Inst,
    place: InstPosition,
    elements: &Elements,
    dominates: &dyn Fn(InstPosition, InstPosition) -> bool,
) -> Option<Rays> {
    let Op::Visible(slot) = inst.op else { return None };
    let count = *elements.constants.get(&inst.args[1])?;
    let writes = elements.writes.get(&slot)?.as_ref()?;
    let element = |i: u32| match writes.get(&i)?[..] {
        [(at, value)] if dominates(at, place) => Some(value),
        _ => None,
    };
    // An array has fewer elements with a write of their own than any larger count asks for.
    let values: Option<Vec<Value>> = (0..count).map(element).collect();
    Some((inst.args[0], values?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    /// Two batches of one ray; `second` is the ray of the other one.
    fn two(second: &str) -> String {
        format!(
            "fn f(v0 p: vec3, v1 r: vec4, v2 q: vec4, v3 i: u32) -> (a: u32, b: u32) {{
  slot s0 first: vec4[2]
  slot s1 second: vec4[3]
b0:
  v4: u32 = const 0
  v5: u32 = const 1
  slot_store s0, v4, v1
  v6: u32 = visible s0, v0, v5
  jump b1
b1:
  {second}
  v7: u32 = visible s1, v0, v5
  ret v6, v7
}}"
        )
    }

    #[test]
    fn the_same_rays_are_shot_once() {
        let text = two("slot_store s1, v4, v1");
        let after = text.replace("  v7: u32 = visible s1, v0, v5\n", "").replace("ret v6, v7", "ret v6, v6");
        check(super::run, &text, &after);
    }

    #[test]
    fn rays_that_differ_or_may_differ_are_shot() {
        for second in
            ["slot_store s1, v4, v2", "slot_store s1, v3, v1", "slot_store s1, v4, v1\n  slot_store s1, v4, v1"]
        {
            check(super::run, &two(second), &two(second));
        }
    }

    #[test]
    fn a_batch_on_another_way_is_shot() {
        let text = "fn f(v0 p: vec3, v1 r: vec4, v2 c: bool) -> (a: u32) {
  slot s0 a: vec4[1]
  slot s1 b: vec4[1]
b0:
  v3: u32 = const 0
  v4: u32 = const 1
  slot_store s0, v3, v1
  slot_store s1, v3, v1
  br v2, b1, b2
b1:
  v5: u32 = visible s0, v0, v4
  ret v5
b2:
  v6: u32 = visible s1, v0, v4
  ret v6
}";
        check(super::run, text, text);
    }
}
