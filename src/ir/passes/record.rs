//! Instrumentation of a module: code that records what one sample computes, so that the runs of two
//! machines can be compared value by value.
//!
//! Takes the module that is rendered, after all passes, and gives a copy with `record` instructions.
//! A function is divided into [`Segment`]s: what runs in one piece, up to the next ray, call of an
//! instrumented function, or end of a block. A segment records when it ends, so no record crosses
//! a suspend point, and the records of a sample are in the order of execution on every machine.
//!
//! Two forms ([`Recording`]) serve a search: hashes of all segments, which are cheap and show the
//! control flow, and all values of one segment. What the module computes is unchanged.

use crate::ir::emitter::Emitter;
use crate::ir::{BlockId, Const, Function, Inlining, Inst, Loc, Module, Op, Type, Value};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Words of a record of [`Recording::Hashes`]: the segment's number, the hash of its results, and
/// that of its decisions.
pub const HASH_WORDS: u32 = 3;

/// The multiplier of the hash: 2³² divided by the golden ratio, odd.
const MULTIPLIER: u32 = 0x9e37_79b1;

/// How far the hash's high bits are shifted, so that the sign bits of two values cannot cancel.
const SHIFT: u32 = 15;

/// The first value of a hash.
const START: u32 = 0x811c_9dc5;

/// A piece of a block that runs without a ray or a call of an instrumented function in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its function, by the place in the module.
    pub function: usize,
    /// Its block.
    pub block: BlockId,
    /// Its instructions in the block. The results of the ray or call before them belong to it.
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

/// What a module records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// Each segment records [`HASH_WORDS`] words.
    Hashes {
        /// Whether all NaN hash alike, and zeros of both signs.
        canonical: bool,
    },
    /// One segment, by its number, records the words of its [`Segments::items`].
    Values(u32),
}

/// What an item of a segment is.
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
    /// What it is.
    pub what: What,
    /// Its type.
    pub ty: Type,
    /// How many words of it are recorded, from the first on.
    pub words: u32,
}

impl Segments {
    /// Divides the functions that `roots` reach by calls. Left whole, as their calls may run other
    /// code or in another order on each machine, are functions that `others` reach too, and those
    /// that a back end has of its own ([`Inlining::Native`]).
    pub fn of(module: &Module, roots: &[&str], others: &[&str]) -> Self {
        let (reached, whole) = (reached(module, roots), reached(module, others));
        let is_divided = |f: usize| {
            reached.contains(&f) && !whole.contains(&f) && module.functions[f].inlining != Inlining::Native
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

    /// What a segment records of itself: first what it reads, then its results in the order of
    /// execution.
    pub fn items(&self, module: &Module, number: u32) -> Vec<Item> {
        let segment = &self.list[number as usize];
        let func = &module.functions[segment.function];
        items(func, segment, &Facts::of(func))
    }

    /// The segment that follows within the block, if any.
    pub fn next_in_block(&self, number: u32) -> Option<u32> {
        let next = self.list.get(number as usize + 1)?;
        let this = &self.list[number as usize];
        (next.function == this.function && next.block == this.block).then_some(number + 1)
    }

    /// The segment that starts a function.
    pub fn first_of(&self, function: usize) -> Option<u32> {
        let starts = |s: &Segment| s.function == function && s.block == BlockId(0);
        self.list.iter().position(starts).map(|n| n as u32)
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

/// What is known of a function's values.
struct Facts {
    /// Constants, which no machine computes.
    constants: HashSet<Value>,
    /// The fourth component of a hit and what comes of it: a machine's own name of the shader.
    own: HashSet<Value>,
}

impl Facts {
    fn of(func: &Function) -> Self {
        let mut facts = Self { constants: HashSet::new(), own: HashSet::new() };
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
        facts
    }
}

fn items(func: &Function, segment: &Segment, facts: &Facts) -> Vec<Item> {
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
        for &value in inst.results.iter().filter(|v| !facts.own.contains(v)) {
            let ty = func.ty(value);
            let words = if inst.op == Op::Hit { 3 } else { ty.words() };
            results.push(Item { what: What::Result(value, at), ty, words });
        }
    }
    let mut inputs = Vec::new();
    let mut read = |value: Value| {
        if !facts.constants.contains(&value) && !facts.own.contains(&value) && here.insert(value) {
            let ty = func.ty(value);
            inputs.push(Item { what: What::Input(value), ty, words: ty.words() });
        }
    };
    let insts = block.insts[start..end].iter().filter(|i| !matches!(i.op, Op::Debug(_)));
    insts.flat_map(|i| &i.args).for_each(|&a| read(a));
    match segment.end {
        End::Block => {
            // A branch reads its condition; what it passes on is copied.
            block.term.for_each_arg(|a| read(a));
        }
        End::Ray | End::Call(_) | End::Shader => block.insts[end].args.iter().for_each(|&a| read(a)),
    }
    inputs.extend(results);
    inputs
}

/// Whether a result goes into the hash of its segment. Copies do not: what they copy does, and what
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

/// Whether a result decides what happens next: which way a branch goes, which element is taken.
pub fn is_decision(op: &Op) -> bool {
    matches!(
        op,
        Op::Lt | Op::Le | Op::Eq | Op::Ne | Op::ILt | Op::IEq | Op::ToInt | Op::Occluded | Op::Visible(_)
    )
}

/// The module with `record` instructions.
pub fn instrument(module: &Module, segments: &Segments, recording: Recording) -> Module {
    let mut module = module.clone();
    let mut rest = (0u32..).zip(&segments.list).peekable();
    while let Some((_, first)) = rest.peek() {
        let function = first.function;
        let func = &mut module.functions[function];
        let mut instrumenter = Instrumenter { facts: Facts::of(func), constants: HashMap::new(), new: Vec::new() };
        // Segments of a block are in order: those from the last on leave the places before them.
        let mut own = Vec::new();
        while let Some(segment) = rest.next_if(|(_, s)| s.function == function) {
            own.push(segment);
        }
        for (number, segment) in own.into_iter().rev() {
            match recording {
                Recording::Hashes { canonical } => instrumenter.hashes(func, number, segment, canonical),
                Recording::Values(wanted) if wanted == number => instrumenter.values(func, segment),
                Recording::Values(_) => {}
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
            self.new.push(Inst {
                op: Op::Const(Const::U32(word)),
                args: vec![],
                results: vec![value],
                loc: Loc::NONE,
            });
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

    fn values(&mut self, func: &mut Function, segment: &Segment) {
        let items = items(func, segment, &self.facts);
        let ([start, mut end], words) = self.words(func, &items);
        let words: Vec<Value> = words.into_iter().flatten().collect();
        if !words.is_empty() {
            end.push(Inst { op: Op::Record, args: words, results: vec![], loc: Loc::NONE });
        }
        Self::insert(func, segment, [start, end]);
    }

    fn hashes(&mut self, func: &mut Function, number: u32, segment: &Segment, canonical: bool) {
        let insts = &func.block(segment.block).insts;
        let op = |item: &Item| match item.what {
            What::Result(_, at) => is_hashed(&insts[at].op),
            What::Input(_) => false,
            What::Hit(_) | What::HitTriangle(_) | What::HitObject(_) => true,
        };
        let decides = |item: &Item| match item.what {
            What::Result(_, at) => is_decision(&insts[at].op),
            What::Input(_) | What::Hit(_) => false,
            What::HitTriangle(_) | What::HitObject(_) => true,
        };
        let items: Vec<Item> = items(func, segment, &self.facts).into_iter().filter(op).collect();
        let decisions: Vec<bool> = items.iter().map(decides).collect();
        let ([start, mut end], words) = self.words(func, &items);
        let [mut all, mut decided] = [self.constant(func, START); 2];
        for ((item, words), is_decision) in items.iter().zip(words).zip(decisions) {
            for word in words {
                let word = match canonical && item.ty.lanes().is_some() {
                    true => self.canonical(func, word, &mut end),
                    false => word,
                };
                all = self.mix(func, all, word, &mut end);
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
    /// which is a branch on some machines: −1 where a condition holds, as the sign of a difference.
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

/// The hash of words as [`Recording::Hashes`] records it.
#[cfg(test)]
fn hash(words: &[u32]) -> u32 {
    words.iter().fold(START, |hash, word| {
        let product = (hash ^ word).wrapping_mul(MULTIPLIER);
        product ^ product >> SHIFT
    })
}
