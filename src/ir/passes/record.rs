//! Instrumentation of a module: code that records what one sample computes, so that the runs of two
//! back ends can be compared value by value.
//!
//! Takes the module that is rendered, after all passes, and gives a copy with `record` instructions.
//! A function is divided into [`Segment`]s: what runs in one piece, up to the next ray, call of an
//! instrumented function, or end of a block. A segment records when it ends, so no record crosses
//! a suspend point, and the records of a sample are in the order of execution on every back end.
//!
//! Two forms ([`Recording`]) serve a search: hashes of all segments, which are cheap and show the
//! control flow, and all values of one segment. What the module computes is unchanged.
//!
//! A driver may rewrite expressions, such as `1 / (1 / x)`, where nothing else reads what is inside
//! them; a record would keep it from that. So hashes leave out *inner* values: those whose only use
//! is, in the same block, an operand of a call or of an operation that is hashed, or a copy that such
//! operands alone read. A difference in one shows in the result of that operation, unless the result is the same.

use crate::emitter::Emitter;
use crate::{BlockId, Const, Function, Inlining, Inst, Loc, Module, Op, Type, Value};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Words of a record of [`Recording::Hashes`]: the segment's number, the hash of its results, and
/// that of its decisions.
pub const HASH_WORDS: u32 = 3;

/// Words of a value that are recorded together: those of a texel, so that an RPU's log is the same
/// as if all were recorded at once.
const VECTOR_WORDS: usize = 4;

/// The multiplier of the hash: 2³² divided by the golden ratio, odd.
const MULTIPLIER: u32 = 0x9e37_79b1;

/// How far the hash's high bits are shifted, so that the sign bits of two values cannot cancel.
const SHIFT: u32 = 15;

/// The first value of a hash.
const START: u32 = 0x811c_9dc5;

/// A piece of a block that runs without a ray or a call of an instrumented function in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The function, by its place in the module.
    pub function: usize,
    /// The block.
    pub block: BlockId,
    /// The instructions in the block. The results of the ray or call before them belong to the
    /// segment.
    pub insts: Range<usize>,
    /// How it ends.
    pub end: End,
}

/// How a segment ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With the block.
    Block,
    /// At a `trace`, `occluded` or `visible`; the next segment continues.
    Ray,
    /// At a call of an instrumented function, by its place in the module.
    Call(usize),
    /// At a call of the shader that was hit, if any.
    Shader,
}

/// The segments of a module. A segment's number is its place in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments {
    /// The segments, those of a function together, those of a block in order.
    pub list: Vec<Segment>,
}

/// The data that a module records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording<'a> {
    /// Each segment records [`HASH_WORDS`] words.
    Hashes {
        /// The segments whose values are hashed; the others record that they are executed.
        of: &'a HashSet<u32>,
        /// True if all NaN hash alike, and zeros of both signs.
        canonical: bool,
        /// Which values are in the hash of decisions; that of results leaves inner ones out.
        decisions: Detail,
    },
    /// One segment records the words of its [`Segments::items`].
    Values {
        /// The number of the segment.
        segment: u32,
        /// Which of them.
        detail: Detail,
    },
}

/// Which values of a segment are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detail {
    /// All of them.
    All,
    /// The values that are not inner.
    Outer,
}

/// The kind of an item of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A value that the segment reads and that is from before it.
    Input(Value),
    /// A result of the instruction at this place in the block.
    Result(Value, usize),
    /// Barycentric coordinates and t of the hit of the `trace` at this place.
    Hit(usize),
    /// The address of the hit's triangle record.
    HitTriangle(usize),
    /// The address of the hit's object record.
    HitObject(usize),
}

/// A value that a segment records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The kind of item.
    pub what: What,
    /// The type.
    pub ty: Type,
    /// How many words of it are recorded, from the first on.
    pub words: u32,
}

impl Segments {
    /// Divides the functions of a set, by their places in the module. Left whole, as their calls may
    /// run other code or in another order on each back end, are functions that `others` reach, and
    /// those that a back end has of its own ([`Inlining::Native`]).
    pub fn new(module: &Module, functions: &HashSet<usize>, others: &[&str]) -> Self {
        let whole = reached(module, others);
        let is_divided = |f: usize| {
            functions.contains(&f) && !whole.contains(&f) && module.functions[f].inlining != Inlining::Native
        };
        let index = module.index();
        let mut list = Vec::new();
        for (function, func) in module.functions.iter().enumerate().filter(|(f, _)| is_divided(*f)) {
            let mut order = func.reverse_postorder();
            order.sort();
            for block in order {
                let insts = &func.block(block).insts;
                let mut start = 0;
                for (at, inst) in insts.iter().enumerate() {
                    let end = match &inst.op {
                        Op::Trace | Op::Occluded | Op::Visible(_) => End::Ray,
                        Op::CallShader(_) => End::Shader,
                        Op::Call(name) => match index.get(name) {
                            Some(&callee) if is_divided(callee) => End::Call(callee),
                            _ => continue,
                        },
                        _ => continue,
                    };
                    list.push(Segment { function, block, insts: start..at, end });
                    start = at + 1;
                }
                list.push(Segment { function, block, insts: start..insts.len(), end: End::Block });
            }
        }
        Self { list }
    }

    /// The items that a segment records of itself: first what it reads, then its results in the
    /// order of execution.
    pub fn items(&self, module: &Module, number: u32, detail: Detail) -> Vec<Item> {
        let segment = &self.list[number as usize];
        let func = &module.functions[segment.function];
        items(func, segment, &Facts::new(func), detail)
    }

    /// The items whose words are in the hash of a segment's results.
    pub fn hashed_items(&self, module: &Module, number: u32) -> Vec<Item> {
        let segment = &self.list[number as usize];
        let func = &module.functions[segment.function];
        let items = items(func, segment, &Facts::new(func), Detail::Outer).into_iter();
        items.filter(|item| is_in_hash(func, segment, item)).collect()
    }

    /// The segment that follows within the block, if any.
    pub fn next_in_block(&self, number: u32) -> Option<u32> {
        let next = self.list.get(number as usize + 1)?;
        let this = &self.list[number as usize];
        (next.function == this.function && next.block == this.block).then_some(number + 1)
    }

    /// The segment that records the results of the instruction at a place of a block, or that a block
    /// starts with, where there is no such instruction.
    pub fn holding(&self, function: usize, block: BlockId, at: usize) -> Option<u32> {
        let holds = |s: &Segment| {
            let starts = s.insts.start.saturating_sub(1);
            s.function == function && s.block == block && (at < s.insts.end || s.end == End::Block) && at >= starts
        };
        self.list.iter().position(holds).map(|n| n as u32)
    }
}

/// The functions that some functions reach by calls, those included.
fn reached(module: &Module, roots: &[&str]) -> HashSet<usize> {
    let index = module.index();
    let mut work: Vec<usize> = roots.iter().filter_map(|&name| index.get(name).copied()).collect();
    let mut seen = HashSet::new();
    while let Some(f) = work.pop() {
        if seen.insert(f) {
            let insts = module.functions[f].blocks.iter().flat_map(|b| &b.insts);
            work.extend(insts.filter_map(|i| match &i.op {
                Op::Call(name) => index.get(name).copied(),
                _ => None,
            }));
        }
    }
    seen
}

/// The facts that are known of a function's values.
struct Facts {
    /// Constants, which no back end computes.
    constants: HashSet<Value>,
    /// The fourth component of a hit and what comes of it: a back end's own name of the shader.
    own: HashSet<Value>,
    /// Values that are read in one place, from which hashed operations and calls have them.
    inner: HashSet<Value>,
}

impl Facts {
    fn new(func: &Function) -> Self {
        let mut facts = Self { constants: HashSet::new(), own: HashSet::new(), inner: HashSet::new() };
        let mut hits = HashSet::new();
        for inst in func.reverse_postorder().iter().flat_map(|&b| &func.block(b).insts) {
            let [result] = inst.results[..] else { continue };
            let is_own = match inst.op {
                Op::Const(_) => {
                    facts.constants.insert(result);
                    false
                }
                Op::Hit => {
                    hits.insert(result);
                    false
                }
                Op::Extract(3) if hits.contains(&inst.args[0]) => true,
                ref op => op.is_pure() && inst.args.iter().any(|a| facts.own.contains(a)),
            };
            if is_own {
                facts.own.insert(result);
            }
        }
        facts.inner = inner_values(func, &facts.own);
        facts
    }
}

/// The values whose only use is an operand of a call or of a hashed operation, or of a copy that has
/// no other readers. Those that end elsewhere through copies, such as in what a function returns,
/// would be in no hash. What is computed from a back end's own values is in none, either. A value that
/// another block reads, such as the bound of a loop, is hashed where it is computed, too.
fn inner_values(func: &Function, own: &HashSet<Value>) -> HashSet<Value> {
    // For each value the number of uses, and whether all are of that kind.
    let mut uses: HashMap<Value, (usize, bool)> = HashMap::new();
    let add = |uses: &mut HashMap<Value, (usize, bool)>, value: Value, is_inside: bool| {
        let (count, all) = uses.entry(value).or_insert((0, true));
        *count += 1;
        *all &= is_inside;
    };
    let blocks = func.block_ids().flat_map(|id| func.block(id).insts.iter().map(move |inst| (id, inst)));
    let defined: HashMap<Value, BlockId> = blocks.flat_map(|(id, i)| i.results.iter().map(move |&r| (r, id))).collect();
    // Backwards: the readers of a copy are known before what it copies.
    for id in func.reverse_postorder().into_iter().rev() {
        let block = func.block(id);
        block.term.for_each_arg(|a| add(&mut uses, a, false));
        for inst in block.insts.iter().rev().filter(|i| !matches!(i.op, Op::Debug(_))) {
            let is_read = |result: &Value| uses.get(result).is_some_and(|(_, all)| *all);
            let is_inside = match &inst.op {
                Op::Call(_) => true,
                op if !op.is_pure() || inst.results.iter().any(|r| own.contains(r)) => false,
                op => is_hashed(op) || inst.results.iter().all(is_read),
            };
            let is_here = |value: &Value| defined.get(value).is_none_or(|block| *block == id);
            inst.args.iter().for_each(|&a| add(&mut uses, a, is_inside && is_here(&a)));
        }
    }
    uses.into_iter().filter(|(_, (count, all))| *count == 1 && *all).map(|(value, _)| value).collect()
}

fn items(func: &Function, segment: &Segment, facts: &Facts, detail: Detail) -> Vec<Item> {
    let is_wanted =
        |value: &Value| !facts.own.contains(value) && (detail == Detail::All || !facts.inner.contains(value));
    let block = func.block(segment.block);
    let Range { start, end } = segment.insts;
    let mut results = Vec::new();
    let before = start.checked_sub(1);
    if let Some(at) = before.filter(|&at| block.insts[at].op == Op::Trace) {
        let hit = |what, ty, words| Item { what, ty, words };
        results.push(hit(What::Hit(at), Type::Vec4, 3));
        results.push(hit(What::HitTriangle(at), Type::Ref, 1));
        results.push(hit(What::HitObject(at), Type::Ref, 1));
    }
    let mut here: HashSet<Value> = HashSet::new();
    for at in before.unwrap_or(start)..end {
        let inst = &block.insts[at];
        here.extend(&inst.results);
        if matches!(inst.op, Op::Const(_) | Op::Debug(_)) {
            continue;
        }
        for &value in inst.results.iter().filter(|v| is_wanted(v)) {
            let ty = func.ty(value);
            let words = if inst.op == Op::Hit { 3 } else { ty.words() };
            results.push(Item { what: What::Result(value, at), ty, words });
        }
    }
    let mut inputs = Vec::new();
    let mut read = |value: Value| {
        if !facts.constants.contains(&value) && is_wanted(&value) && here.insert(value) {
            let ty = func.ty(value);
            inputs.push(Item { what: What::Input(value), ty, words: ty.words() });
        }
    };
    let insts = block.insts[start..end].iter().filter(|i| !matches!(i.op, Op::Debug(_)));
    insts.flat_map(|i| &i.args).for_each(|&a| read(a));
    match segment.end {
        End::Block => {
            // A branch reads its condition; what it passes on is copied.
            block.term.for_each_arg(&mut read);
        }
        End::Ray | End::Call(_) | End::Shader => block.insts[end].args.iter().for_each(|&a| read(a)),
    }
    inputs.extend(results);
    inputs
}

/// True if a result goes into the hash of its segment. Copies do not: what they copy does, or what
/// is computed from them. [`Recording::Values`] has them all.
pub fn is_hashed(op: &Op) -> bool {
    !matches!(
        op,
        Op::Const(_)
            | Op::Neg
            | Op::Abs
            | Op::Compose
            | Op::Splat
            | Op::Extract(_)
            | Op::Insert(_)
            | Op::Select
            | Op::Bitcast
            | Op::SlotLoad(_)
            | Op::Uniform(_)
            | Op::Load(_)
            | Op::Hit
            | Op::HitTri
            | Op::HitObj
            | Op::Not
            | Op::And
            | Op::Or
    )
}

/// True if a result decides what happens next: which way a branch goes, which element is taken.
pub fn is_decision(op: &Op) -> bool {
    matches!(op, Op::Lt | Op::Le | Op::Eq | Op::Ne | Op::ILt | Op::IEq | Op::ToInt | Op::Occluded | Op::Visible(_))
}

/// True if an item is in the hash of a segment's results, if it is not an inner value.
fn is_in_hash(func: &Function, segment: &Segment, item: &Item) -> bool {
    match item.what {
        What::Result(_, at) => is_hashed(&func.block(segment.block).insts[at].op),
        What::Input(_) => false,
        What::Hit(_) | What::HitTriangle(_) | What::HitObject(_) => true,
    }
}

/// True if an item is a decision.
fn decides(func: &Function, segment: &Segment, item: &Item) -> bool {
    match item.what {
        What::Result(_, at) => is_decision(&func.block(segment.block).insts[at].op),
        What::Input(_) | What::Hit(_) => false,
        What::HitTriangle(_) | What::HitObject(_) => true,
    }
}

/// The module with `record` instructions.
pub fn instrument(module: &Module, segments: &Segments, recording: Recording<'_>) -> Module {
    let mut module = module.clone();
    let mut rest = (0u32..).zip(&segments.list).peekable();
    while let Some((_, first)) = rest.peek() {
        let function = first.function;
        let func = &mut module.functions[function];
        let mut instrumenter = Instrumenter { facts: Facts::new(func), constants: HashMap::new(), new: Vec::new() };
        // Segments of a block are in order: those from the last on leave the places before them.
        let mut own = Vec::new();
        while let Some(segment) = rest.next_if(|(_, s)| s.function == function) {
            own.push(segment);
        }
        for (number, segment) in own.into_iter().rev() {
            match recording {
                Recording::Hashes { of, canonical, decisions } => {
                    let decisions = of.contains(&number).then_some(decisions);
                    instrumenter.hashes(func, number, segment, canonical, decisions);
                }
                Recording::Values { segment: wanted, detail } if wanted == number => {
                    instrumenter.values(func, segment, detail);
                }
                Recording::Values { .. } => {}
            }
        }
        let new = std::mem::take(&mut instrumenter.new);
        func.blocks[0].insts.splice(0..0, new);
    }
    module
}

/// Instruments one function.
struct Instrumenter {
    facts: Facts,
    /// Constants that were made, which stand at the start of the function.
    constants: HashMap<u32, Value>,
    new: Vec<Inst>,
}

impl Instrumenter {
    fn constant(&mut self, func: &mut Function, word: u32) -> Value {
        *self.constants.entry(word).or_insert_with(|| {
            let value = func.new_value(Type::U32);
            self.new.push(Inst { op: Op::Const(Const::U32(word)), args: vec![], results: vec![value], loc: Loc::NONE });
            value
        })
    }

    /// The words of items, with the instructions that make them: first those that must run where
    /// the segment starts.
    fn words(&mut self, func: &mut Function, items: &[Item]) -> ([Vec<Inst>; 2], Vec<Vec<Value>>) {
        let [mut start, mut end] = [Vec::new(), Vec::new()];
        let mut words = Vec::new();
        for item in items {
            let read = match item.what {
                What::Input(value) | What::Result(value, _) => Ok(value),
                What::Hit(_) => Err(Op::Hit),
                What::HitTriangle(_) => Err(Op::HitTri),
                What::HitObject(_) => Err(Op::HitObj),
            };
            let mut e = Emitter::new(func, Loc::NONE);
            let (value, to) = match read {
                Ok(value) => (value, &mut end),
                Err(op) => (e.op(op, &[], item.ty), &mut start),
            };
            let parts = match item.ty {
                Type::F32 => vec![value],
                Type::Vec2 | Type::Vec3 | Type::Vec4 => {
                    (0..item.words as u8).map(|k| e.op(Op::Extract(k), &[value], Type::F32)).collect()
                }
                _ => vec![value],
            };
            let bits = |e: &mut Emitter, part| match e.ty(part) {
                Type::U32 => part,
                _ => e.op(Op::Bitcast, &[part], Type::U32),
            };
            words.push(parts.into_iter().map(|part| bits(&mut e, part)).collect());
            to.append(&mut e.out);
        }
        ([start, end], words)
    }

    /// Inserts instructions at the start and the end of a segment.
    fn insert(func: &mut Function, segment: &Segment, [start, end]: [Vec<Inst>; 2]) {
        let insts = &mut func.block_mut(segment.block).insts;
        insts.splice(segment.insts.end..segment.insts.end, end);
        insts.splice(segment.insts.start..segment.insts.start, start);
    }

    /// Records values as soon as they are known, a vector of words at a time: kept until the segment
    /// ends, they would all need registers at once.
    fn values(&mut self, func: &mut Function, segment: &Segment, detail: Detail) {
        let items = items(func, segment, &self.facts, detail);
        let Range { start, .. } = segment.insts;
        let mut new: Vec<(usize, Inst)> = Vec::new();
        let mut vector = Vec::new();
        let record = |args| Inst { op: Op::Record, args, results: vec![], loc: Loc::NONE };
        let mut place = start;
        for item in &items {
            if let What::Result(_, at) = item.what {
                place = start.max(at + 1);
            }
            let (insts, words) = self.words(func, std::slice::from_ref(item));
            new.extend(insts.into_iter().flatten().map(|inst| (place, inst)));
            for word in words.into_iter().flatten() {
                vector.push(word);
                if vector.len() == VECTOR_WORDS {
                    new.push((place, record(std::mem::take(&mut vector))));
                }
            }
        }
        if !vector.is_empty() {
            new.push((place, record(vector)));
        }
        // Items are in the order of execution: places, too.
        let insts = &mut func.block_mut(segment.block).insts;
        for (place, inst) in new.into_iter().rev() {
            insts.insert(place, inst);
        }
    }

    /// Records the hashes of a segment; without `decisions` those of nothing.
    fn hashes(
        &mut self,
        func: &mut Function,
        number: u32,
        segment: &Segment,
        canonical: bool,
        decisions: Option<Detail>,
    ) {
        let is_outer = |item: &Item, inner: &HashSet<Value>| match item.what {
            What::Input(value) | What::Result(value, _) => !inner.contains(&value),
            What::Hit(_) | What::HitTriangle(_) | What::HitObject(_) => true,
        };
        let mut all_items = items(func, segment, &self.facts, Detail::All);
        // True if each is among the results and the decisions.
        let kinds = |item: &Item| {
            let is_outer = is_outer(item, &self.facts.inner);
            let is_result = is_outer && is_in_hash(func, segment, item);
            [is_result, (is_outer || decisions == Some(Detail::All)) && decides(func, segment, item)]
        };
        all_items.retain(|item| decisions.is_some() && kinds(item) != [false; 2]);
        let kinds: Vec<[bool; 2]> = all_items.iter().map(kinds).collect();
        let ([start, mut end], words) = self.words(func, &all_items);
        let [mut all, mut decided] = [self.constant(func, START); 2];
        for ((item, words), [is_result, is_decision]) in all_items.iter().zip(words).zip(kinds) {
            for word in words {
                let word = match canonical && item.ty.lanes().is_some() {
                    true => self.canonical(func, word, &mut end),
                    false => word,
                };
                if is_result {
                    all = self.mix(func, all, word, &mut end);
                }
                if is_decision {
                    decided = self.mix(func, decided, word, &mut end);
                }
            }
        }
        let args = vec![self.constant(func, number), all, decided];
        end.push(Inst { op: Op::Record, args, results: vec![], loc: Loc::NONE });
        Self::insert(func, segment, [start, end]);
    }

    /// One step of the hash.
    fn mix(&mut self, func: &mut Function, hash: Value, word: Value, out: &mut Vec<Inst>) -> Value {
        let (by, shift) = (self.constant(func, MULTIPLIER), self.constant(func, SHIFT));
        let mut e = Emitter::new(func, Loc::NONE);
        let joined = e.op(Op::IXor, &[hash, word], Type::U32);
        let product = e.op(Op::IMul, &[joined, by], Type::U32);
        let high = e.op(Op::IShr, &[product, shift], Type::U32);
        let mixed = e.op(Op::IXor, &[product, high], Type::U32);
        out.append(&mut e.out);
        mixed
    }

    /// A float's bits, with one pattern for all NaN and one for both zeros. Without a `select`,
    /// which is a branch on some back ends: −1 where a condition holds, as the sign of a difference.
    fn canonical(&mut self, func: &mut Function, bits: Value, out: &mut Vec<Inst>) -> Value {
        let [magnitude, infinity, nan, one, sign] =
            [0x7fff_ffff, f32::INFINITY.to_bits(), f32::NAN.to_bits(), 1, 31].map(|word| self.constant(func, word));
        let all_ones = self.constant(func, u32::MAX);
        let mut e = Emitter::new(func, Loc::NONE);
        let without_sign = e.op(Op::IAnd, &[bits, magnitude], Type::U32);
        let mask = |e: &mut Emitter, from: Value, less: Value| {
            let difference = e.op(Op::ISub, &[from, less], Type::U32);
            let signed = e.op(Op::Bitcast, &[difference], Type::I32);
            let by = e.op(Op::Bitcast, &[sign], Type::I32);
            let mask = e.op(Op::IShr, &[signed, by], Type::I32);
            e.op(Op::Bitcast, &[mask], Type::U32)
        };
        let is_nan = mask(&mut e, infinity, without_sign);
        let is_zero = mask(&mut e, without_sign, one);
        let special = e.op(Op::IOr, &[is_nan, is_zero], Type::U32);
        let others = e.op(Op::IXor, &[special, all_ones], Type::U32);
        let kept = e.op(Op::IAnd, &[bits, others], Type::U32);
        let replaced = e.op(Op::IAnd, &[nan, is_nan], Type::U32);
        let canonical = e.op(Op::IOr, &[kept, replaced], Type::U32);
        out.append(&mut e.out);
        canonical
    }
}

/// The hash of the words of items as [`Recording::Hashes`] records it.
pub fn hash(items: &[(Item, &[u32])], canonical: bool) -> u32 {
    let one = |is_float: bool, word: u32| match canonical && is_float {
        true if f32::from_bits(word).is_nan() => f32::NAN.to_bits(),
        true if f32::from_bits(word) == 0.0 => 0,
        _ => word,
    };
    let words = items.iter().flat_map(|(item, words)| words.iter().map(|&word| one(item.ty.lanes().is_some(), word)));
    words.fold(START, |hash, word| {
        let product = (hash ^ word).wrapping_mul(MULTIPLIER);
        product ^ product >> SHIFT
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::module;
    use super::*;
    use crate::eval::{EmptyWorld, Limits, Observer, eval, eval_observed};
    use crate::random::{self, Random, Shape};
    use crate::verify;

    /// An observer that keeps the words that a module records.
    #[derive(Default)]
    struct Reader(Vec<Vec<u32>>);

    impl Observer for Reader {
        fn record(&mut self, words: &[u32]) {
            self.0.push(words.to_vec());
        }
    }

    fn records(module: &Module, entry: &str, args: &[Const]) -> (Vec<Vec<u32>>, Vec<Const>) {
        let mut reader = Reader::default();
        let results = eval_observed(module, entry, args, &mut EmptyWorld, Limits::default(), &mut reader);
        (reader.0, results.expect("it ends"))
    }

    /// All functions but those that nothing reaches.
    fn divided(module: &Module) -> Segments {
        let functions = (0..module.functions.len()).filter(|&f| &*module.functions[f].name != "unreached");
        Segments::new(module, &functions.collect(), &[])
    }

    /// All segments.
    fn all(segments: &Segments) -> HashSet<u32> {
        (0..segments.list.len() as u32).collect()
    }

    const PROGRAM: &str = "entry main(v0 x: f32, v1 d: vec3) -> (r: f32) {
b0:
  v2: f32 = const 2.0
  v3: vec4 = uniform 0
  v4: f32 = mul v0, v2
  trace v1, v1, v3
  v5: vec4 = hit
  v6: f32 = extract.w v5
  v7: u32 = bitcast v6
  v8: f32 = call helper(v4)
  v9: bool = lt v8, v2
  br v9, b1, b2
b1:
  v10: f32 = to_float v7
  ret v10
b2:
  ret v8
}

fn helper(v0 x: f32) -> (r: f32) {
b0:
  v1: f32 = add v0, v0
  v2: f32 = add v1, v0
  ret v2
}

fn unreached() {
b0:
  ret
}";

    #[test]
    fn a_function_is_divided_at_rays_calls_and_ends_of_blocks() {
        let module = module(PROGRAM);
        let segments = divided(&module);
        let list: Vec<_> = segments.list.iter().map(|s| (s.function, s.block.0, s.insts.clone(), s.end)).collect();
        let expected = [
            (0, 0, 0..3, End::Ray),
            (0, 0, 4..7, End::Call(1)),
            (0, 0, 8..9, End::Block),
            (0, 1, 0..1, End::Block),
            (0, 2, 0..0, End::Block),
            (1, 0, 0..2, End::Block),
        ];
        assert_eq!(list, expected);
        let holding = |block, at| segments.holding(0, BlockId(block), at);
        // The call is at 7, its result with what follows.
        assert_eq!(
            [holding(0, 0), holding(0, 6), holding(0, 7), holding(0, 8), holding(2, 0)],
            [0, 1, 2, 2, 4].map(Some)
        );
        assert_eq!([0, 1, 2].map(|n| segments.next_in_block(n)), [Some(1), Some(2), None]);
    }

    #[test]
    fn functions_of_others_and_native_ones_stay_whole() {
        let mut module = module(PROGRAM);
        let whole = |module: &Module, others: &[&str]| {
            Segments::new(module, &(0..2).collect(), others)
                .list
                .iter()
                .all(|s| s.function == 0 && s.end != End::Call(1))
        };
        assert!(whole(&module, &["helper"]) && !whole(&module, &[]));
        module.functions[1].inlining = Inlining::Native;
        assert!(whole(&module, &[]));
    }

    #[test]
    fn values_of_a_segment_are_what_it_reads_and_computes_but_for_a_back_ends_name_of_the_shader() {
        let module = module(PROGRAM);
        let segments = divided(&module);
        let items = |number, detail| -> Vec<What> {
            segments.items(&module, number, detail).into_iter().map(|item| item.what).collect()
        };
        let after_ray = [What::Input(Value(4)), What::Hit(3), What::HitTriangle(3), What::HitObject(3)];
        assert_eq!(items(1, Detail::All), [&after_ray[..], &[What::Result(Value(5), 4)]].concat());
        // v4 is inside of the call's argument; v5 is extracted from, and that is not hashed.
        assert_eq!(items(1, Detail::Outer), [&after_ray[1..], &[What::Result(Value(5), 4)]].concat());
        assert_eq!(items(2, Detail::All), [What::Result(Value(8), 7), What::Result(Value(9), 8)]);
        assert_eq!(segments.items(&module, 1, Detail::All)[4].words, 3);
    }

    #[test]
    fn hashes_are_inserted_where_segments_end_and_values_where_they_are_known() {
        let module = module(
            "entry main(v0 x: f32) -> (r: f32) {
b0:
  v1: f32 = rsq v0
  v2: f32 = rcp v1
  br_if_not_zero
b1:
  ret v2
}"
            .replace("  br_if_not_zero", "  jump b1")
            .as_str(),
        );
        let segments = divided(&module);
        let values = instrument(&module, &segments, Recording::Values { segment: 0, detail: Detail::All });
        verify(&values).expect("it keeps the rules");
        assert_eq!(
            values.to_string(),
            "entry main(v0 x: f32) -> (r: f32) {
b0:
  v3: u32 = bitcast v0
  v1: f32 = rsq v0
  v4: u32 = bitcast v1
  v2: f32 = rcp v1
  v5: u32 = bitcast v2
  record v3, v4, v5
  jump b1
b1:
  ret v2
}
"
        );
        let hashes = instrument(
            &module,
            &segments,
            Recording::Hashes { of: &all(&segments), canonical: false, decisions: Detail::All },
        );
        verify(&hashes).expect("it keeps the rules");
        // v1 is an inner value: only v2 is hashed.
        assert_eq!(
            hashes.to_string(),
            "entry main(v0 x: f32) -> (r: f32) {
b0:
  v3: u32 = const 2166136261
  v4: u32 = const 1
  v6: u32 = const 2654435761
  v7: u32 = const 15
  v12: u32 = const 0
  v1: f32 = rsq v0
  v2: f32 = rcp v1
  v5: u32 = bitcast v2
  v8: u32 = ixor v3, v5
  v9: u32 = imul v8, v6
  v10: u32 = ishr v9, v7
  v11: u32 = ixor v9, v10
  record v12, v11, v3
  jump b1
b1:
  record v4, v3, v3
  ret v2
}
"
        );
    }

    #[test]
    fn what_reaches_a_result_through_copies_is_hashed_where_it_is_computed() {
        let text = "entry main(v0 x: f32, v1 y: f32) -> (r: vec3) {
b0:
  v2: f32 = rsq v0
  v3: f32 = sqrt v1
  v4: f32 = neg v3
  v5: vec3 = compose v2, v4, v0
  LAST
  ret v6
}";
        let hashed = |last: &str| -> Vec<What> {
            let module = module(&text.replace("LAST", last));
            divided(&module).hashed_items(&module, 0).into_iter().map(|item| item.what).collect()
        };
        let roots = [What::Result(Value(2), 0), What::Result(Value(3), 1)];
        assert_eq!(hashed("v6: vec3 = neg v5"), roots);
        // The product alone has all of it.
        assert_eq!(hashed("v6: vec3 = mul v5, v5"), [What::Result(Value(6), 4)]);
        assert_eq!(hashed("v6: vec3 = abs v5\n  v7: f32 = extract.x v6"), roots);
    }

    #[test]
    fn a_segment_that_is_not_hashed_records_that_it_runs() {
        let module = module("entry main(v0 x: f32) -> (r: f32) {\nb0:\n  v1: f32 = rsq v0\n  ret v1\n}");
        let of = HashSet::new();
        let recording = Recording::Hashes { of: &of, canonical: false, decisions: Detail::All };
        let (records, _) = records(&instrument(&module, &divided(&module), recording), "main", &[Const::F32(2.0)]);
        assert_eq!(records, [[0, START, START]]);
    }

    #[test]
    fn the_recorded_hash_is_that_of_the_recorded_values() {
        let module = module(
            "entry main(v0 x: f32, v1 y: f32) -> (r: f32, s: bool) {
b0:
  v2: f32 = sub v0, v1
  v3: f32 = mul v2, v2
  v4: f32 = rcp v2
  v5: bool = lt v3, v4
  ret v4, v5
}",
        );
        let segments = divided(&module);
        let hashed = segments.hashed_items(&module, 0);
        let recorded = segments.items(&module, 0, Detail::All);
        let values = instrument(&module, &segments, Recording::Values { segment: 0, detail: Detail::All });
        let zero = [0.0, -0.0].map(f32::to_bits);
        let nan = [0x7fc0_0000, 0xffc0_0001];
        for canonical in [false, true] {
            let hashes = instrument(
                &module,
                &segments,
                Recording::Hashes { of: &all(&segments), canonical, decisions: Detail::Outer },
            );
            let mut seen = HashSet::new();
            for x in [zero, nan].concat().into_iter().chain([1.0f32.to_bits(), 7.5f32.to_bits()]) {
                let args = [Const::F32(f32::from_bits(x)), Const::F32(0.0)];
                let (records_of_values, _) = records(&values, "main", &args);
                let all_words = records_of_values.concat();
                let mut words = all_words.as_slice();
                let mut by_item = HashMap::new();
                for item in &recorded {
                    let (own, rest) = words.split_at(item.words as usize);
                    by_item.insert(item.what, own);
                    words = rest;
                }
                let pairs: Vec<_> = hashed.iter().map(|item| (*item, by_item[&item.what])).collect();
                let (records_of_hashes, _) = records(&hashes, "main", &args);
                assert_eq!(records_of_hashes[0][1], hash(&pairs, canonical), "{x:#x}, canonical: {canonical}");
                seen.insert(records_of_hashes[0][1]);
            }
            // The two NaN hash alike only if canonical; zeros differ in their reciprocals.
            assert_eq!(seen.len(), if canonical { 5 } else { 6 });
        }
    }

    #[test]
    fn instrumented_modules_compute_the_same() {
        let mut random = Random::new(7);
        for _ in 0..40 {
            let program = random::module(&mut random, Shape::default());
            let args = random::arguments(&mut random);
            let expected = eval(&program, "f", &args, &mut EmptyWorld, Limits::default()).expect("it ends");
            let segments = divided(&program);
            // Of the entry, which is last: the others may not be called.
            let first = segments.list.iter().position(|s| s.function + 1 == program.functions.len());
            let first = first.expect("the entry has a segment") as u32;
            for recording in [
                Recording::Hashes { of: &all(&segments), canonical: true, decisions: Detail::All },
                Recording::Values { segment: first, detail: Detail::All },
            ] {
                let module = instrument(&program, &segments, recording);
                verify(&module).unwrap_or_else(|e| panic!("{e:?}\n{module}"));
                let (records, results) = records(&module, "f", &args);
                assert_eq!(results, expected, "{module}");
                assert!(!records.is_empty() || segments.items(&program, first, Detail::All).is_empty());
            }
        }
    }
}
