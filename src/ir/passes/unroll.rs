//! Unrolling: a loop with a small constant trip count becomes that many copies of its body.
//!
//! Such loops come from gathering the lights of a scene, whose number is known when a program is
//! linked: the copies know which light they ask, and arrays indexed by the loop's counter become
//! values (see [`super::slots`]).
//!
//! A loop is unrolled when its header alone leaves it, by comparing a counter with a constant; the
//! counter starts at a constant and every way back adds the same constant to it, or subtracts it.
//! Counters may be floats, as those of RSL are: the constant folder counts, so rounding is that of
//! the loop. Such a loop ends, so the budget does not need its back edge.

use super::natural_loops::{NaturalLoop, natural_loops};
use super::unreachable::remove_unreachable;
use crate::dominators::Dominators;
use crate::fold::eval_op;
use crate::{BlockId, Const, Function, Inst, Op, Terminator, Type, Value};
use std::collections::{HashMap, HashSet};

/// Which loops are unrolled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnrollPolicy {
    /// Loops with a larger trip count stay.
    pub max_trips: u32,
    /// A loop whose copies would have more instructions than this together stays.
    pub max_copies: usize,
    /// True if loops that floats count are unrolled.
    pub floats: bool,
}

impl UnrollPolicy {
    /// For programs that are specialized for a scene, whose parameters bound loops.
    pub const OF_SCENE: UnrollPolicy = UnrollPolicy { max_trips: 32, max_copies: 1000, floats: true };
}

impl Default for UnrollPolicy {
    fn default() -> Self {
        Self { max_trips: 8, max_copies: 1000, floats: false }
    }
}

/// A function does not grow beyond this many instructions by unrolling.
const MAX_SIZE: usize = 20_000;

/// Loops of more blocks are not looked at: it bounds the work.
const MAX_BLOCKS: usize = 128;

/// Runs the pass; returns the number of loops unrolled, and of unreachable blocks, which go first.
pub fn run(func: &mut Function, policy: &UnrollPolicy) -> usize {
    let mut changes = remove_unreachable(func);
    let mut size = func.inst_count();
    let mut touched: HashSet<BlockId> = HashSet::new();
    for found in loops(func, policy) {
        let copies = found.size.saturating_mul(found.trips.saturating_sub(1) as usize);
        let overlaps = found.blocks.iter().any(|b| touched.contains(b));
        // A loop inside another one, or around one, waits for the next round.
        if !overlaps && copies <= policy.max_copies && size + copies <= MAX_SIZE {
            touched.extend(&found.blocks);
            size += copies;
            unroll(func, &found);
            changes += 1;
        }
    }
    changes + if touched.is_empty() { 0 } else { remove_unreachable(func) }
}

/// A loop that can be unrolled.
struct Counted {
    /// All blocks, the header first.
    blocks: Vec<BlockId>,
    /// How often the body runs.
    trips: u32,
    /// Instructions that take time.
    size: usize,
}

/// The loops with a small trip count, outer ones before inner ones.
fn loops(func: &Function, policy: &UnrollPolicy) -> Vec<Counted> {
    let tree = Dominators::new(func);
    let preds = func.predecessors();
    let found = natural_loops(func, &tree, &preds, MAX_BLOCKS);
    if found.is_empty() {
        return Vec::new();
    }
    let definitions = number_definitions(func, policy);
    found.into_iter().filter_map(|l| counted(func, &definitions, &preds, l, policy.max_trips)).collect()
}

/// The instructions that define and compare the numbers that may count, by result.
fn number_definitions<'a>(func: &'a Function, policy: &UnrollPolicy) -> HashMap<Value, &'a Inst> {
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    let kept = insts.filter(|i| match i.op {
        Op::Const(Const::U32(_) | Const::I32(_)) | Op::IAdd | Op::ISub | Op::ILt => true,
        Op::Const(Const::F32(_)) | Op::Add | Op::Sub | Op::Lt | Op::Le => policy.floats,
        _ => false,
    });
    kept.filter_map(|i| i.results.first().map(|&r| (r, i))).collect()
}

/// Checks one loop.
fn counted(
    func: &Function,
    definitions: &HashMap<Value, &Inst>,
    preds: &[Vec<BlockId>],
    natural: NaturalLoop,
    max_trips: u32,
) -> Option<Counted> {
    let constant = |v: Value| match &definitions.get(&v)?.op {
        Op::Const(c) => Some(c.clone()),
        _ => None,
    };
    let header = natural.header();
    let blocks = natural.blocks;
    let Terminator::Branch(condition, body, _) = &func.block(header).term else { return None };
    let test = definitions.get(condition).filter(|i| matches!(i.op, Op::ILt | Op::Lt | Op::Le))?;
    // The counter on either side of the comparison.
    let params = &func.block(header).params;
    let side = test.args.iter().position(|arg| params.contains(arg))?;
    let (counter, limit) = (test.args[side], constant(test.args[1 - side])?);
    let position = params.iter().position(|&p| p == counter)?;
    let inside: HashSet<BlockId> = blocks.iter().copied().collect();
    let leaves = |b: &BlockId| {
        let term = &func.block(*b).term;
        matches!(term, Terminator::Return(_)) || term.targets().any(|t| !inside.contains(&t.block))
    };
    let Terminator::Branch(_, _, exit) = &func.block(header).term else { return None };
    if !inside.contains(&body.block) || inside.contains(&exit.block) || blocks.iter().skip(1).any(leaves) {
        return None;
    }
    // Where the counter starts, and how it changes: the same for every way in and back.
    let mut start: Option<Const> = None;
    let mut step: Option<Step> = None;
    for &from in &preds[header.0 as usize] {
        for target in func.block(from).term.targets().filter(|t| t.block == header) {
            let arg = target.args[position];
            let is_as_before = if inside.contains(&from) {
                let found = Step::from_inst(definitions.get(&arg)?, counter, constant)?;
                *step.get_or_insert(found.clone()) == found
            } else {
                let found = constant(arg)?;
                *start.get_or_insert(found.clone()) == found
            };
            if !is_as_before {
                return None;
            }
        }
    }
    let goes_on = |counter: &Const| {
        let args = if side == 0 { [counter, &limit] } else { [&limit, counter] };
        eval_op(&test.op, &args, Type::Bool) == Some(Const::Bool(true))
    };
    let trips = trips(start?, &step?, goes_on, max_trips)?;
    let size = blocks.iter().flat_map(|b| &func.block(*b).insts).filter(|i| !matches!(i.op, Op::Const(_))).count();
    Some(Counted { blocks, trips, size })
}

/// How a counter changes from one iteration to the next.
#[derive(Clone, PartialEq)]
struct Step {
    op: Op,
    by: Const,
}

impl Step {
    fn from_inst(inst: &Inst, counter: Value, constant: impl Fn(Value) -> Option<Const>) -> Option<Self> {
        let by = match (&inst.op, &inst.args[..]) {
            (Op::IAdd | Op::Add | Op::ISub | Op::Sub, [a, b]) if *a == counter => *b,
            (Op::IAdd | Op::Add, [a, b]) if *b == counter => *a,
            _ => return None,
        };
        Some(Self { op: inst.op.clone(), by: constant(by)? })
    }
}

/// The trip count of a loop by its counter; `None` where it is too large.
fn trips(start: Const, step: &Step, goes_on: impl Fn(&Const) -> bool, max_trips: u32) -> Option<u32> {
    let mut counter = start;
    for trips in 0..=max_trips {
        if !goes_on(&counter) {
            return Some(trips);
        }
        counter = eval_op(&step.op, &[&counter, &step.by], counter.ty())?;
    }
    None
}

/// Emits `trips` copies of the body in sequence, each after a copy of the header, and one more
/// header at the end.
fn unroll(func: &mut Function, found: &Counted) {
    let originals: Vec<_> = found.blocks.iter().map(|&b| func.block(b).clone()).collect();
    let inside: HashSet<BlockId> = found.blocks.iter().copied().collect();
    // The first iteration is the loop itself; of the last copy only the header is needed.
    let mut before = found.blocks.clone();
    let mut values: HashMap<Value, Value> = HashMap::new();
    for iteration in 1..=found.trips {
        let count = if iteration == found.trips { 1 } else { originals.len() };
        values = HashMap::new();
        let first = func.blocks.len() as u32;
        let number: HashMap<BlockId, BlockId> =
            found.blocks[..count].iter().enumerate().map(|(i, &b)| (b, BlockId(first + i as u32))).collect();
        for block in &originals[..count] {
            let defined = block.params.iter().chain(block.insts.iter().flat_map(|i| &i.results));
            for &v in defined {
                let copy = func.new_value(func.ty(v));
                values.insert(v, copy);
            }
        }
        let renamed = |v: &mut Value| *v = values.get(v).copied().unwrap_or(*v);
        for block in &originals[..count] {
            let mut copy = block.clone();
            copy.params.iter_mut().for_each(renamed);
            copy.insts.iter_mut().for_each(|i| i.args.iter_mut().chain(&mut i.results).for_each(renamed));
            copy.term.for_each_arg_mut(renamed);
            copy.term.targets_mut().for_each(|t| t.block = number.get(&t.block).copied().unwrap_or(t.block));
            func.blocks.push(copy);
        }
        // The previous iteration continues here.
        let next = BlockId(first);
        let old_header = before[0];
        for &b in &before {
            func.block_mut(b).term.targets_mut().filter(|t| t.block == old_header).for_each(|t| t.block = next);
        }
        enter(func, old_header, true);
        before = (first..func.blocks.len() as u32).map(BlockId).collect();
    }
    enter(func, before[0], false);
    // After the loop the header's values are those of its last copy; other blocks of the loop
    // dominate nothing there.
    let copies: HashSet<BlockId> =
        (func.blocks.len() - copies_of(found)..func.blocks.len()).map(|b| BlockId(b as u32)).collect();
    let renamed = |v: &mut Value| *v = values.get(v).copied().unwrap_or(*v);
    for id in func.block_ids().filter(|b| !inside.contains(b) && !copies.contains(b)) {
        let block = func.block_mut(id);
        block.insts.iter_mut().flat_map(|i| &mut i.args).for_each(renamed);
        block.term.for_each_arg_mut(renamed);
    }
}

/// How many blocks unrolling adds.
fn copies_of(found: &Counted) -> usize {
    match found.trips as usize {
        0 => 0,
        trips => (trips - 1) * found.blocks.len() + 1,
    }
}

/// Makes a header's branch a jump: into the body, or out of the loop.
fn enter(func: &mut Function, header: BlockId, body: bool) {
    let block = func.block_mut(header);
    if let Terminator::Branch(_, then, otherwise) = &block.term {
        block.term = Terminator::Jump(if body { then.clone() } else { otherwise.clone() });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::UnrollPolicy;
    use crate::Function;

    fn run(func: &mut Function) -> usize {
        super::run(func, &UnrollPolicy::default())
    }

    #[test]
    fn a_loop_of_two_turns_becomes_two_copies_and_what_follows_sees_the_last_values() {
        check(
            run,
            "fn f(v0 x: f32) -> (p: f32) {
b0:
  v1: u32 = const 0
  v2: u32 = const 2
  v3: u32 = const 1
  jump b1(v1, v0)
b1(v4: u32, v5: f32):
  v6: bool = ilt v4, v2
  br v6, b2, b3
b2:
  v7: f32 = add v5, v0
  v8: u32 = iadd v4, v3
  jump b1(v8, v7)
b3:
  ret v5
}",
            "fn f(v0 x: f32) -> (p: f32) {
b0:
  v1: u32 = const 0
  v2: u32 = const 2
  v3: u32 = const 1
  jump b1(v1, v0)
b1(v4: u32, v5: f32):
  v6: bool = ilt v4, v2
  jump b2
b2:
  v7: f32 = add v5, v0
  v8: u32 = iadd v4, v3
  jump b4(v8, v7)
b3:
  ret v15
b4(v9: u32, v10: f32):
  v11: bool = ilt v9, v2
  jump b5
b5:
  v12: f32 = add v10, v0
  v13: u32 = iadd v9, v3
  jump b6(v13, v12)
b6(v14: u32, v15: f32):
  v16: bool = ilt v14, v2
  jump b3
}",
        );
    }

    /// A loop whose counter goes from `start` while below `limit` in steps of `step`, left early
    /// when `leave`.
    fn counting(start: &str, step: &str, limit: &str, early: &str) -> String {
        format!(
            "fn f(v0 n: u32, v1 c: bool) -> (p: u32) {{
b0:
  v2: u32 = const {start}
  v3: u32 = const {step}
  v4: u32 = const {limit}
  v5: u32 = const 7
  jump b1(v2)
b1(v6: u32):
  v7: bool = ilt v6, v4
  br v7, b2, b4
b2:
  {early}
b3:
  v8: u32 = iadd v6, v3
  jump b1(v8)
b4:
  ret v5
}}"
        )
    }

    #[test]
    fn a_loop_that_turns_often_or_for_ever_or_is_left_early_stays() {
        let stays = |text: String| check(run, &text, &text);
        stays(counting("0", "1", "9", "jump b3"));
        stays(counting("0", "0", "4", "jump b3"));
        stays(counting("0", "1", "4", "br v1, b3, b4"));
    }

    #[test]
    fn a_loop_that_is_never_entered_goes() {
        check(
            run,
            &counting("4", "1", "4", "jump b3"),
            "fn f(v0 n: u32, v1 c: bool) -> (p: u32) {
b0:
  v2: u32 = const 4
  v3: u32 = const 1
  v4: u32 = const 4
  v5: u32 = const 7
  jump b1(v2)
b1(v6: u32):
  v7: bool = ilt v6, v4
  jump b2
b2:
  ret v5
}",
        );
    }

    #[test]
    fn a_loop_whose_number_of_turns_is_not_known_stays() {
        let text = counting("0", "1", "4", "jump b3").replace("ilt v6, v4", "ilt v6, v0");
        check(run, &text, &text);
    }

    #[test]
    fn loops_that_floats_count_up_or_down_are_unrolled_where_a_scene_is_specialized() {
        let floats = |start: &str, by: &str, test: &str, step: &str| {
            format!(
                "fn f(v0 x: f32) -> (p: f32) {{
b0:
  v1: f32 = const {start}
  v2: f32 = const {by}
  v3: f32 = const 3.0
  jump b1(v1, v0)
b1(v4: f32, v5: f32):
  v6: bool = {test}
  br v6, b2, b3
b2:
  v7: f32 = mul v5, v0
  v8: f32 = {step}
  jump b1(v8, v7)
b3:
  ret v5
}}"
            )
        };
        let copies = |text: &str, policy: &UnrollPolicy| {
            let mut module = super::super::testing::module(text);
            super::run(&mut module.functions[0], policy);
            module.to_string().matches("mul").count()
        };
        let cases = [
            (floats("0.0", "1.0", "lt v4, v3", "add v4, v2"), 3),
            (floats("0.0", "1.0", "le v4, v3", "add v2, v4"), 4),
            // Thirty times 0.1, rounded each time, is still below 3.
            (floats("0.0", "0.1", "lt v4, v3", "add v4, v2"), 31),
            (floats("9.0", "2.0", "lt v3, v4", "sub v4, v2"), 3),
            (floats("0.0", "-1.0", "lt v4, v3", "add v4, v2"), 1),
        ];
        for (text, expected) in cases {
            assert_eq!(copies(&text, &UnrollPolicy::OF_SCENE), expected, "{text}");
            assert_eq!(copies(&text, &UnrollPolicy::default()), 1);
        }
    }
}
