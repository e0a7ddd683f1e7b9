//! Inlining: replaces a call by a copy of its callee.
//!
//! A function with more parameters or results than a call can pass on the target is always inlined.
//! Callees come before their callers, so a callee is copied with everything that was inlined into
//! it. Recursive functions and entry points are never inlined. Every copied instruction gets a
//! location that leads to the call.

use super::unreachable::lay_out;
use crate::{
    Block, BlockId, Const, Filter, Function, FunctionKind, Inlining, Inst, Loc, LocData, Module, Op, SlotId, Target,
    TargetInfo, Terminator, Type, Value,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Which calls are inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinePolicy {
    /// Functions of at most this many instructions (constants and `debug` not counted, a branch
    /// [`TargetInfo::divergence_cost`] more) are inlined: the second threshold of Węgrzanowski
    /// 2006, §5.3. Those that are cheaper than a call, the first threshold, are too.
    pub small: usize,
    /// Functions of at most this many instructions that shoot shadow rays are inlined: the caller
    /// may shoot the same ones.
    pub medium: usize,
    /// A function does not grow beyond this many instructions by inlining.
    pub max_size: usize,
    /// True if functions with one call are inlined.
    pub once: bool,
}

impl Default for InlinePolicy {
    /// Small functions, those called from one place, and those that may become small; of them,
    /// those without branches, and those that wait for rays.
    fn default() -> Self {
        Self { small: 24, medium: 400, max_size: 20_000, once: true }
    }
}

/// When the pass runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InlinePhase {
    /// While other passes find something to do.
    Early,
    /// When nothing else changes: equal calls have been merged.
    Late,
}

/// Array elements of a callee that must be set to zero at the start of each activation, at most,
/// for a call in a loop to be inlined.
const MAX_ZEROED: u32 = 32;

/// Instructions of all functions together beyond which nothing is inlined any more.
const MAX_TOTAL: usize = 1 << 21;

/// Runs the pass; returns the number of calls inlined.
pub fn run(module: &mut Module, policy: &InlinePolicy, target: &TargetInfo, stage: InlinePhase) -> usize {
    let index = module.index();
    let components = module.call_components();
    let mut call_count = vec![0usize; module.functions.len()];
    for inst in module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts) {
        if let Op::Call(name) = &inst.op
            && let Some(&callee) = index.get(name)
        {
            call_count[callee] += 1;
        }
    }
    let mut inlined = 0;
    let total: usize = module.functions.iter().map(Function::inst_count).sum();
    let mut room = MAX_TOTAL.saturating_sub(total);
    for &caller in components.members.iter().flatten() {
        let placeholder = Function::new("", FunctionKind::Function);
        let func = std::mem::replace(&mut module.functions[caller as usize], placeholder);
        let constants = constants(&func);
        let wanted = |name: &Arc<str>, args: &[Value]| {
            let callee = *index.get(name)?;
            let f = &module.functions[callee];
            let is_special = f.inlining == Inlining::Late;
            let may_shrink = shoots(f) || is_special && args.iter().any(|a| constants.contains(a));
            let (size, branches) = (cost(f), branches(f) * target.divergence_cost);
            let is_wanted = f.inlining == Inlining::Always
                || f.filter == Filter::Always
                || passes_too_much(f, target)
                || policy.once && call_count[callee] == 1 && (waits(f) || branches <= policy.small)
                || size + branches <= policy.small.max(cost_of_call(f, target))
                || may_shrink && size <= policy.medium;
            let is_possible = !f.kind.is_entry()
                && f.inlining != Inlining::Native
                && f.host.is_none()
                && !components.is_cyclic(callee);
            let is_time = !is_special || stage == InlinePhase::Late;
            (is_wanted && is_possible && is_time).then_some(callee)
        };
        // What is worth inlining is decided once a caller, by the first call.
        let mut choice: HashMap<Arc<str>, Option<usize>> = HashMap::new();
        for inst in func.blocks.iter().flat_map(|b| &b.insts) {
            if let Op::Call(name) = &inst.op
                && !choice.contains_key(name)
            {
                choice.insert(name.clone(), wanted(name, &inst.args));
            }
        }
        let mut inliner = Inliner { functions: &module.functions, locs: &mut module.locs, func, inlined: 0, room };
        if choice.values().any(Option::is_some) {
            inliner.run(&choice, policy.max_size, target);
        }
        inlined += inliner.inlined;
        room = inliner.room;
        module.functions[caller as usize] = inliner.func;
    }
    inlined
}

/// True if a function takes or gives so much that it must become a part of its callers.
fn passes_too_much(func: &Function, target: &TargetInfo) -> bool {
    let (params, results) = (func.params.iter().map(|p| p.ty), func.results.iter().map(|r| r.ty));
    registers(params).max(registers(results)) > target.call_registers
}

/// The registers that values are passed in: a vector and a scalar share one, what has four
/// components takes one for itself.
fn registers(types: impl Iterator<Item = Type>) -> u32 {
    let (vectors, scalars) = types.fold((0u32, 0u32), |(vectors, scalars), ty| match ty.words() {
        1 => (vectors, scalars + 1),
        2 | 3 => (vectors + 1, scalars),
        words => (vectors.max(scalars) + words / 4, vectors.max(scalars) + words / 4),
    });
    vectors.max(scalars)
}

/// Instructions that take time.
fn cost(func: &Function) -> usize {
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    insts.filter(|i| !matches!(i.op, Op::Const(_) | Op::Debug(_))).count()
}

/// Branches: where threads that run together may part.
fn branches(func: &Function) -> usize {
    func.blocks.iter().filter(|b| matches!(b.term, Terminator::Branch(..))).count()
}

/// True if a function may wait for rays itself.
fn waits(func: &Function) -> bool {
    func.blocks.iter().flat_map(|b| &b.insts).any(|i| i.op.suspends())
}

/// Instructions that calling a function takes, with a copy of each argument and result
/// (Węgrzanowski 2006, §5.3, the first threshold: below it a copy of the body is smaller than the
/// call).
fn cost_of_call(func: &Function, target: &TargetInfo) -> usize {
    target.call_cost + func.params.len() + func.results.len()
}

/// The constants of a function.
fn constants(func: &Function) -> HashSet<Value> {
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    insts.filter(|i| matches!(i.op, Op::Const(_))).filter_map(|i| i.results.first().copied()).collect()
}

/// True if a function shoots shadow rays itself.
fn shoots(func: &Function) -> bool {
    func.blocks.iter().flat_map(|b| &b.insts).any(|i| matches!(i.op, Op::Visible(_)))
}

struct Inliner<'a> {
    functions: &'a [Function],
    locs: &'a mut Vec<LocData>,
    func: Function,
    inlined: usize,
    /// Instructions that all functions together may grow by.
    room: usize,
}

impl Inliner<'_> {
    fn run(&mut self, choice: &HashMap<Arc<str>, Option<usize>>, max_size: usize, target: &TargetInfo) {
        let components = self.func.components();
        let mut size = self.func.inst_count();
        let mut layout = Vec::new();
        for id in self.func.block_ids() {
            layout.push(id);
            let in_loop = components.is_cyclic(id.0 as usize);
            let insts = std::mem::take(&mut self.func.block_mut(id).insts);
            let mut current = id;
            for inst in insts {
                let callee = match &inst.op {
                    Op::Call(name) => choice.get(name).copied().flatten().map(|c| &self.functions[c]),
                    _ => None,
                };
                let fits = |f: &&Function| {
                    let zeroed = f.slots.iter().fold(0u32, |n, s| n.saturating_add(s.len));
                    size + f.inst_count() <= max_size
                        && f.inst_count() <= self.room
                        && !(in_loop && zeroed > MAX_ZEROED && !passes_too_much(f, target))
                };
                match callee.filter(fits) {
                    Some(callee) => {
                        size += callee.inst_count();
                        self.room -= callee.inst_count();
                        current = self.inline(current, inst, callee, in_loop, &mut layout);
                        self.inlined += 1;
                    }
                    None => self.func.block_mut(current).insts.push(inst),
                }
            }
        }
        lay_out(&mut self.func, &layout);
    }

    /// Ends `block` with a copy of `callee` in place of the call and returns the block that
    /// continues after it. It takes over the end of `block`.
    fn inline(
        &mut self,
        block: BlockId,
        call: Inst,
        callee: &Function,
        in_loop: bool,
        layout: &mut Vec<BlockId>,
    ) -> BlockId {
        let first_block = self.func.blocks.len() as u32;
        let mut copy = Copier {
            values: HashMap::new(),
            first_block,
            first_slot: self.func.slots.len() as u32,
            places: HashMap::new(),
            call_loc: call.loc,
        };
        self.func.slots.extend(callee.slots.iter().cloned());
        // The entry's parameters are the arguments; all other values are new.
        copy.values.extend(callee.param_values().iter().copied().zip(call.args.iter().copied()));
        for b in &callee.blocks {
            let defined = b.params.iter().chain(b.insts.iter().flat_map(|i| &i.results));
            for &v in defined {
                copy.values.entry(v).or_insert_with(|| self.func.new_value(callee.ty(v)));
            }
        }
        let next = BlockId(first_block + callee.blocks.len() as u32);
        for (i, b) in callee.blocks.iter().enumerate() {
            let mut copied = copy.block(b, self.locs, next);
            if i == 0 {
                copied.params.clear();
                if in_loop {
                    let zeros = self.zeros(callee, copy.first_slot, call.loc);
                    copied.insts.splice(0..0, zeros);
                }
            }
            self.func.blocks.push(copied);
            layout.push(BlockId(first_block + i as u32));
        }
        let enter = Terminator::Jump(Target { block: BlockId(first_block), args: Vec::new() });
        let before = self.func.block_mut(block);
        let term = std::mem::replace(&mut before.term, enter);
        let term_loc = std::mem::replace(&mut before.term_loc, call.loc);
        self.func.blocks.push(Block { params: call.results, insts: Vec::new(), term, term_loc });
        layout.push(next);
        next
    }

    /// Instructions that set the callee's slots to zero: an activation's slots start so, and a loop
    /// comes here again.
    fn zeros(&mut self, callee: &Function, first_slot: u32, loc: Loc) -> Vec<Inst> {
        let mut insts = Vec::new();
        for (s, slot) in callee.slots.iter().enumerate() {
            let slot_id = SlotId(first_slot + s as u32);
            let mut constant = |c: Const| {
                let value = self.func.new_value(c.ty());
                insts.push(Inst { op: Op::Const(c), args: vec![], results: vec![value], loc });
                value
            };
            let zero = constant(Const::zero(slot.ty));
            let indices: Vec<Value> = (0..slot.len).map(|i| constant(Const::U32(i))).collect();
            for i in indices {
                insts.push(Inst { op: Op::SlotStore(slot_id), args: vec![i, zero], results: vec![], loc });
            }
        }
        insts
    }
}

/// Renames what a callee's blocks name to what the caller calls it.
struct Copier {
    values: HashMap<Value, Value>,
    first_block: u32,
    first_slot: u32,
    places: HashMap<Loc, Loc>,
    call_loc: Loc,
}

impl Copier {
    fn value(&self, v: Value) -> Value {
        self.values.get(&v).copied().unwrap_or(v)
    }

    fn block(&mut self, block: &Block, locs: &mut Vec<LocData>, next: BlockId) -> Block {
        let insts = block.insts.iter().map(|i| self.inst(i, locs)).collect();
        let mut term = block.term.clone();
        term.for_each_arg_mut(|v| *v = self.value(*v));
        term.targets_mut().for_each(|t| t.block.0 += self.first_block);
        if let Terminator::Return(args) = term {
            term = Terminator::Jump(Target { block: next, args });
        }
        let params = block.params.iter().map(|&p| self.value(p)).collect();
        Block { params, insts, term, term_loc: self.place(block.term_loc, locs) }
    }

    fn inst(&mut self, inst: &Inst, locs: &mut Vec<LocData>) -> Inst {
        let mut copy = inst.clone();
        copy.args.iter_mut().chain(&mut copy.results).for_each(|v| *v = self.value(*v));
        copy.loc = self.place(inst.loc, locs);
        if let Op::SlotLoad(s) | Op::SlotStore(s) | Op::Visible(s) = &mut copy.op {
            s.0 += self.first_slot;
        }
        copy
    }

    /// The place with the call at the end of its chain. What has no place, as functions that were
    /// not made from text, gets that of the call.
    fn place(&mut self, loc: Loc, locs: &mut Vec<LocData>) -> Loc {
        if loc == Loc::NONE || self.call_loc == Loc::NONE {
            return if loc == Loc::NONE { self.call_loc } else { loc };
        }
        if let Some(&known) = self.places.get(&loc) {
            return known;
        }
        // Chains are as long as calls are nested, which recursion does not deepen: it is never
        // inlined.
        let mut chain = vec![loc];
        while let Some(at) = locs[chain[chain.len() - 1].0 as usize].inlined_at {
            chain.push(at);
        }
        let mut outer = self.call_loc;
        for link in chain.into_iter().rev() {
            outer = match self.places.get(&link) {
                Some(&known) => known,
                None => {
                    locs.push(LocData { span: locs[link.0 as usize].span, inlined_at: Some(outer) });
                    let made = Loc(locs.len() as u32 - 1);
                    self.places.insert(link, made);
                    made
                }
            };
        }
        outer
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_module, module};
    use super::*;
    use crate::{PrintOptions, print_module};

    #[track_caller]
    fn check(before: &str, after: &str) {
        check_module(|m| run(m, &InlinePolicy::default(), &TargetInfo::DEFAULT, InlinePhase::Early), before, after);
    }

    const SQUARE: &str = "fn square(v0 x: f32) -> (return: f32) {\nb0:\n  v1: f32 = mul v0, v0\n  ret v1\n}\n";

    #[test]
    fn a_call_becomes_a_copy_of_the_callee() {
        let caller = "
fn f(v0 y: f32) -> (return: f32) {
b0:
  v1: f32 = call square(v0)
  v2: f32 = call square(v1)
  ret v2
}";
        let inlined = "
fn f(v0 y: f32) -> (return: f32) {
b0:
  jump b1
b1:
  v3: f32 = mul v0, v0
  jump b2(v3)
b2(v1: f32):
  jump b3
b3:
  v4: f32 = mul v1, v1
  jump b4(v4)
b4(v2: f32):
  ret v2
}";
        check(&format!("{SQUARE}{caller}"), &format!("{SQUARE}{inlined}"));
    }

    #[test]
    fn copied_instructions_know_where_they_were_inlined() {
        let text = "fn a(v0 x: f32) -> (return: f32) {\nb0:\n  v1: f32 = neg v0 @0:1..2\n  ret v1 @0:3..4\n}
fn b(v0 x: f32) -> (return: f32) {\nb0:\n  v1: f32 = call a(v0) @0:5..6\n  ret v1\n}
fn c(v0 x: f32) -> (return: f32) {\nb0:\n  v1: f32 = call b(v0) @0:7..8\n  ret v1\n}";
        let mut m = module(text);
        assert_eq!(run(&mut m, &InlinePolicy::default(), &TargetInfo::DEFAULT, InlinePhase::Early), 2);
        let printed = print_module(&m, PrintOptions { locations: true });
        assert!(printed.contains("neg v0 @0:1..2 in @0:5..6 in @0:7..8"), "{printed}");
    }

    #[test]
    fn recursion_and_entries_are_not_inlined() {
        let text = "fn a(v0 x: f32) -> (return: f32) {
b0:
  v1: f32 = call b(v0)
  ret v1
}

fn b(v0 x: f32) -> (return: f32) {
b0:
  v1: f32 = call a(v0)
  v2: f32 = call e(v1)
  ret v2
}

entry e(v0 x: f32) -> (return: f32) {
b0:
  ret v0
}";
        check(text, text);
    }

    #[test]
    fn a_large_function_called_from_two_places_is_not_copied_unless_its_prefix_asks() {
        let body: String = (1..40).map(|i| format!("  v{i}: f32 = neg v{}\n", i - 1)).collect();
        let text = format!(
            "fn std.big(v0 x: f32) -> (return: f32) {{\nb0:\n{body}  ret v39\n}}
fn f(v0 x: f32) -> (return: f32) {{\nb0:\n  v1: f32 = call std.big(v0)\n  v2: f32 = call std.big(v1)\n  ret v2\n}}"
        );
        assert_eq!(run(&mut module(&text), &InlinePolicy::default(), &TargetInfo::DEFAULT, InlinePhase::Early), 0);
        let always = text.replace("fn std.big", "inline fn std.big");
        assert_eq!(run(&mut module(&always), &InlinePolicy::default(), &TargetInfo::DEFAULT, InlinePhase::Early), 2);
        let full = InlinePolicy { max_size: 60, ..InlinePolicy::default() };
        assert_eq!(run(&mut module(&always), &full, &TargetInfo::DEFAULT, InlinePhase::Early), 1);
    }

    #[test]
    fn a_function_with_branches_stays_a_call_unless_it_waits_for_rays() {
        let text = |test: &str| {
            format!(
                "fn g(v0 x: f32, v1 p: vec3, v2 a: vec4) -> (return: f32) {{
b0:
  v3: bool = {test}
  br v3, b1, b2
b1:
  v4: f32 = neg v0
  ret v4
b2:
  ret v0
}}
fn f(v0 x: f32, v1 p: vec3, v2 a: vec4) -> (return: f32) {{
b0:
  v3: f32 = call g(v0, v1, v2)
  ret v3
}}"
            )
        };
        let inlined = |text: &str, divergence_cost| {
            let target = TargetInfo { divergence_cost, ..TargetInfo::DEFAULT };
            run(&mut module(text), &InlinePolicy::default(), &target, InlinePhase::Early)
        };
        let weight = TargetInfo::DEFAULT.divergence_cost;
        assert_eq!(inlined(&text("lt v0, v0"), weight), 0);
        assert_eq!(inlined(&text("lt v0, v0"), 0), 1);
        assert_eq!(inlined(&text("occluded v1, v1, v2"), weight), 1);
    }

    #[test]
    fn a_function_cheaper_than_its_call_is_inlined_whatever_the_thresholds() {
        // Nine operations replace a call with two arguments and a result (Węgrzanowski 2006, §5.3).
        let text = |body: u32| {
            let body: String = (2..body + 2).map(|i| format!("  v{i}: f32 = mul v0, v1\n")).collect();
            format!(
                "fn g(v0 x: f32, v1 y: f32) -> (return: f32) {{\nb0:\n{body}  ret v2\n}}
fn f(v0 x: f32) -> (return: f32) {{\nb0:\n  v1: f32 = call g(v0, v0)\n  v2: f32 = call g(v1, v0)\n  ret v2\n}}"
            )
        };
        let policy = InlinePolicy { small: 0, ..InlinePolicy::default() };
        assert_eq!(run(&mut module(&text(9)), &policy, &TargetInfo::DEFAULT, InlinePhase::Early), 2);
        assert_eq!(run(&mut module(&text(10)), &policy, &TargetInfo::DEFAULT, InlinePhase::Early), 0);
    }

    #[test]
    fn a_specialized_function_waits_and_is_then_copied_where_an_argument_is_known() {
        let body: String = (2..40).map(|i| format!("  v{i}: f32 = mul v0, v{}\n", i - 1)).collect();
        let text = |arg: &str| {
            format!(
                "inline_late fn sample(v0 i: f32, v1 x: f32) -> (return: f32) {{\nb0:\n{body}  ret v39\n}}
fn f(v0 y: f32) -> (return: f32) {{\nb0:\n  v1: f32 = const 2.0\n  v2: f32 = call sample({arg}, v0)\n  v3: f32 = call sample({arg}, v2)\n  ret v3\n}}"
            )
        };
        let policy = InlinePolicy::default();
        assert_eq!(run(&mut module(&text("v1")), &policy, &TargetInfo::DEFAULT, InlinePhase::Early), 0);
        assert_eq!(run(&mut module(&text("v1")), &policy, &TargetInfo::DEFAULT, InlinePhase::Late), 2);
        assert_eq!(run(&mut module(&text("v0")), &policy, &TargetInfo::DEFAULT, InlinePhase::Late), 0);
    }

    #[test]
    fn slots_of_a_callee_in_a_loop_start_at_zero_each_time() {
        let text = "fn g(v0 x: f32) -> (return: f32) {
  slot s0 a: f32[1]
b0:
  v1: u32 = const 0
  v2: f32 = slot_load s0, v1
  v3: f32 = add v2, v0
  slot_store s0, v1, v3
  ret v3
}

fn f(v0 x: f32) -> (return: f32) {
  slot s0 mine: f32[1]
b0:
  v1: f32 = const 0.0
  jump b1(v1)
b1(v2: f32):
  v3: f32 = call g(v0)
  v4: f32 = add v2, v3
  v5: f32 = const 9.0
  v6: bool = lt v4, v5
  br v6, b1(v4), b2
b2:
  ret v4
}";
        let m = module(text);
        let mut inlined = m.clone();
        assert_eq!(run(&mut inlined, &InlinePolicy::default(), &TargetInfo::DEFAULT, InlinePhase::Early), 1);
        crate::verify(&inlined).expect("inlining keeps the rules");
        let value = |m| {
            let args = [Const::F32(1.0)];
            crate::eval(m, "f", &args, &mut crate::EmptyWorld, Default::default())
        };
        assert_eq!(value(&inlined), value(&m));
        assert_eq!(value(&m), Ok(vec![Const::F32(9.0)]));
    }
}
