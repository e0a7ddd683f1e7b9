//! Explains points of a sample in terms of the source: the operation, its operands, the variable,
//! and what a decision leads to.

use super::names::{Names, Variable};
use super::trace::{Activation, Execution, Point, Split, Tracer};
use super::values::{Shown, differs, distance};
use super::{MACHINES, Subject};
use crate::ir::passes::record::{End, Item, Segment, What, is_decision};
use crate::ir::print::inst_text;
use crate::ir::{BlockId, Const, Function, Inst, Loc, Module, Op, Terminator, Type, Value};
use crate::lang::outline::Outline;
use crate::program::memory::object_of;
use crate::render::RenderError;
use crate::text::source::{SourceMap, Span};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// The words of a value on each machine.
type Words = [Vec<u32>; MACHINES];

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The shader or function of the source, where known: `surface marble`.
    pub shader: Option<String>,
    /// The function of the program that holds the code.
    pub function: String,
    /// File, line and column; `None` of code that has no source.
    pub position: Option<String>,
    /// Whether the position is that of code near it, as it has none of its own.
    pub is_near: bool,
    /// The calls through which it was inlined, the innermost first.
    pub inlined_at: Vec<String>,
    /// The text that the position stands for.
    #[serde(skip)]
    pub span: Option<Span>,
}

/// An operand of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operand {
    /// A variable, a constant, or what computes it.
    pub name: String,
    /// Its value on each machine, where it was recorded.
    pub values: Option<[Shown; MACHINES]>,
    /// Whether it differs between the two machines.
    pub differs: bool,
    /// How many floats lie between the two values.
    pub ulps: Option<u64>,
}

/// An operation whose result differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// Where it is.
    pub place: Place,
    /// The functions that are running, the innermost call first.
    pub calls: Vec<String>,
    /// Its name.
    pub name: String,
    /// What it computes of its operands `a`, `b`, …
    pub meaning: String,
    /// Its text in the program.
    pub instruction: String,
    /// The variable that has the result.
    pub variable: Option<String>,
    /// Otherwise the nearest one that is computed from it.
    pub leads_to: Option<String>,
    /// What it computes from.
    pub operands: Vec<Operand>,
    /// The results.
    pub results: [Shown; MACHINES],
    /// How many floats lie between the two results.
    pub ulps: Option<u64>,
}

/// Where control goes after a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Effect {
    /// A branch goes one way or the other.
    Branch {
        /// Where it goes when its condition holds, and when not.
        ways: [Option<Place>; 2],
        /// The truth value at which a loop ends, if the branch is the condition of one.
        ends_loop_at: Option<bool>,
    },
    /// One of two values is taken.
    Select,
    /// A ray hits another primitive, or nothing.
    Hit {
        /// What it hits on each machine.
        objects: [String; MACHINES],
    },
    /// A number, such as an index, is another.
    Number,
}

/// A decision that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// The number of its record.
    pub record: u64,
    /// What decides.
    pub operation: Operation,
    /// For comparisons, the difference of the operands on each machine.
    pub margins: Option<[f32; MACHINES]>,
    /// What it decides.
    pub effect: Effect,
}

/// Where the machines execute different code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parted {
    /// The number of the last record that both have.
    pub record: Option<u64>,
    /// Where each goes on; `None` at the end of the sample.
    pub to: [Option<Place>; 2],
}

/// Explains the points of one sample.
pub struct Explainer<'a> {
    subject: Subject<'a>,
    names: Names,
}

impl<'a> Explainer<'a> {
    /// For a program, with names of variables where it was linked with them.
    pub fn new(subject: Subject<'a>) -> Self {
        let names = subject.debug.map(|debug| Names::new(&debug.module)).unwrap_or_default();
        Self { subject, names }
    }

    fn module(&self) -> &'a Module {
        &self.subject.job.program.module
    }

    fn sources(&self) -> &'a SourceMap {
        &self.subject.job.program.sources
    }

    /// The first value of a point that differs between two machines: with `decisions`, the first
    /// decision. `None` where the values are equal.
    pub fn difference(
        &self,
        tracer: &mut Tracer<'_, '_>,
        point: &Point,
        pair: [usize; 2],
        decisions: bool,
    ) -> Result<Option<(Item, Operation)>, RenderError> {
        let recorded = Recorded::new(tracer, self.module(), point)?;
        let insts = &self.segment_block(tracer, point.at.segment).insts;
        let is_wanted = |item: &Item| match item.what {
            _ if !decisions => true,
            What::Result(_, at) => is_decision(&insts[at].op),
            What::HitTriangle(_) | What::HitObject(_) => true,
            What::Input(_) | What::Hit(_) => false,
        };
        let differing = |(item, words): &&(Item, Words)| differs(item.ty, &words[pair[0]], &words[pair[1]]);
        let found = recorded.items.iter().filter(|(item, _)| is_wanted(item)).find(differing);
        let Some((item, words)) = found else { return Ok(None) };
        Ok(Some((*item, self.operation(tracer, point, item, words, &recorded, pair))))
    }

    fn segment_block(&self, tracer: &Tracer<'_, '_>, segment: u32) -> &'a crate::ir::Block {
        let Segment { function, block, .. } = tracer.segments.list[segment as usize];
        self.module().functions[function].block(block)
    }

    fn operation(
        &self,
        tracer: &Tracer<'_, '_>,
        point: &Point,
        item: &Item,
        words: &Words,
        recorded: &Recorded,
        pair: [usize; 2],
    ) -> Operation {
        let Segment { function, block, .. } = tracer.segments.list[point.at.segment as usize];
        let func = &self.module().functions[function];
        let insts = &func.block(block).insts;
        let (inst, value) = match item.what {
            What::Result(value, at) => (Some((block, at)), Some(value)),
            What::Hit(at) | What::HitTriangle(at) | What::HitObject(at) => (Some((block, at)), None),
            What::Input(value) => (definition(func, value), Some(value)),
        };
        let at = inst.map(|(block, at)| &func.block(block).insts[at]);
        let place = match inst {
            Some((block, at)) => self.place(function, block, at),
            None => self.place(function, block, 0),
        };
        let variable = value.and_then(|value| self.names.nearest(self.module(), func, value));
        let (variable, leads_to) = match variable {
            Some(Variable::Is(name)) => (Some(name.to_string()), None),
            Some(Variable::From(name)) => (None, Some(name.to_string())),
            None => (None, None),
        };
        let (name, meaning) = match (item.what, at) {
            (What::HitTriangle(_), _) => ("trace".to_string(), "the primitive that a ray hits".to_string()),
            (What::HitObject(_), _) => ("trace".to_string(), "the object that a ray hits".to_string()),
            (What::Hit(_), _) => ("trace".to_string(), "u, v and t where a ray hits".to_string()),
            (_, Some(inst)) => (inst.op.name().to_string(), meaning(&inst.op)),
            (_, None) => ("parameter".to_string(), "a value that is passed".to_string()),
        };
        let operand = |&value: &Value| {
            let ty = func.ty(value);
            let words = recorded.words(func, value);
            let differing = words.as_ref().is_some_and(|w| differs(ty, &w[pair[0]], &w[pair[1]]));
            Operand {
                name: self.name(function, insts, value),
                ulps: words.as_ref().and_then(|w| distance(ty, &w[pair[0]], &w[pair[1]])),
                values: words.map(|w| w.map(|words| Shown::of(ty, &words))),
                differs: differing,
            }
        };
        Operation {
            place,
            calls: self.calls(tracer, &point.stack),
            name,
            meaning,
            instruction: at.map_or(String::new(), |inst| inst_text(func, inst)),
            variable,
            leads_to,
            operands: at.into_iter().flat_map(|inst| &inst.args).map(operand).collect(),
            results: words.each_ref().map(|words| Shown::of(item.ty, words)),
            ulps: distance(item.ty, &words[pair[0]], &words[pair[1]]),
        }
    }

    /// The decision at a point, if there is one that differs.
    ///
    /// # Errors
    /// Those of rendering.
    pub fn decision(
        &self,
        tracer: &mut Tracer<'_, '_>,
        point: &Point,
        pair: [usize; 2],
    ) -> Result<Option<Decision>, RenderError> {
        let Some((item, operation)) = self.difference(tracer, point, pair, true)? else { return Ok(None) };
        let Segment { function, block, .. } = tracer.segments.list[point.at.segment as usize];
        let func = &self.module().functions[function];
        let recorded = Recorded::new(tracer, self.module(), point)?;
        let effect = match item.what {
            What::Result(value, _) if func.ty(value) == Type::Bool => self.effect(function, value),
            What::HitTriangle(_) | What::HitObject(_) => Effect::Hit { objects: self.objects(&recorded) },
            _ => Effect::Number,
        };
        let margins = match item.what {
            What::Result(_, at) => margins(func, &func.block(block).insts[at], &recorded),
            _ => None,
        };
        Ok(Some(Decision { record: point.record, operation, margins, effect }))
    }

    /// The names of the objects that a ray hits on each machine.
    fn objects(&self, recorded: &Recorded) -> [String; MACHINES] {
        let word = |wanted: fn(&What) -> bool, machine: usize| {
            let found = recorded.items.iter().find(|(item, _)| wanted(&item.what));
            found.and_then(|(_, words)| words[machine].first().copied()).unwrap_or(0)
        };
        std::array::from_fn(|machine| {
            let triangle = word(|what| matches!(what, What::HitTriangle(_)), machine);
            let object = word(|what| matches!(what, What::HitObject(_)), machine);
            if object == 0 {
                return "nothing".to_string();
            }
            let memory = &self.subject.job.program.memory;
            let primitive = memory.primitive(triangle, object);
            match object_of(self.subject.scene, primitive) {
                Some((number, part)) => {
                    let name = &self.subject.scene.objects[number].name;
                    let name = if name.is_empty() { format!("object {number}") } else { format!("{name} (object {number})") };
                    format!("{name}, triangle {part}")
                }
                None => format!("primitive {primitive}"),
            }
        })
    }

    /// What a truth value decides.
    fn effect(&self, function: usize, value: Value) -> Effect {
        let func = &self.module().functions[function];
        // What is computed from it by connectives alone.
        let mut truths = HashSet::from([value]);
        let mut selects = false;
        for id in func.reverse_postorder() {
            for inst in &func.block(id).insts {
                match inst.op {
                    Op::Not | Op::And | Op::Or if inst.args.iter().any(|a| truths.contains(a)) => {
                        truths.extend(&inst.results);
                    }
                    Op::Select if truths.contains(&inst.args[0]) => selects = true,
                    _ => {}
                }
            }
        }
        let branches = func.reverse_postorder().into_iter();
        let found = branches.filter_map(|id| match &func.block(id).term {
            Terminator::Branch(c, t, e) if truths.contains(c) => Some((id, *c, t.block, e.block)),
            _ => None,
        });
        let Some((from, condition, then, otherwise)) = { found }.next() else {
            return if selects { Effect::Select } else { Effect::Number };
        };
        let way = |block: BlockId| Some(self.place(function, block, 0)).filter(|_| condition == value);
        let comes_back = [then, otherwise].map(|block| reaches(func, block, from));
        let ends_loop_at = match comes_back {
            [true, false] => Some(false),
            [false, true] => Some(true),
            _ => None,
        };
        Effect::Branch {
            ways: [way(then), way(otherwise)],
            ends_loop_at: ends_loop_at.filter(|_| condition == value),
        }
    }

    /// Where two machines go on differently.
    pub fn parted(&self, tracer: &Tracer<'_, '_>, split: &Split) -> Parted {
        let to = |segment: &Option<u32>| {
            let Segment { function, block, insts, .. } = tracer.segments.list.get((*segment)? as usize)?;
            Some(self.place(*function, *block, insts.start))
        };
        Parted { record: split.after.as_ref().map(|p| p.record), to: split.next.each_ref().map(to) }
    }

    /// The place of a segment.
    pub fn segment_place(&self, tracer: &Tracer<'_, '_>, execution: Execution) -> Place {
        let Segment { function, block, insts, .. } = &tracer.segments.list[execution.segment as usize];
        self.place(*function, *block, insts.start)
    }

    /// The running calls, the innermost first.
    fn calls(&self, tracer: &Tracer<'_, '_>, stack: &[Activation]) -> Vec<String> {
        let call = |activation: &Activation| {
            let Segment { function, block, insts, end } = &tracer.segments.list[activation.called_by? as usize];
            let place = self.place(*function, *block, insts.end);
            let what = match end {
                End::Shader => "shader of a hit",
                _ => "function",
            };
            let name = &self.module().functions[activation.function].name;
            Some(format!("{what} {name}, called {place}"))
        };
        stack.iter().rev().filter_map(call).collect()
    }

    /// The place of an instruction of a block, of its end, or of what is near it.
    fn place(&self, function: usize, block: BlockId, at: usize) -> Place {
        let func = &self.module().functions[function];
        let insts = &func.block(block).insts;
        let own = insts.get(at).map_or(func.block(block).term_loc, |inst| inst.loc);
        let has_source = |loc: &Loc| self.module().span(*loc).is_some();
        let after = insts.iter().skip(at).map(|inst| inst.loc).chain([func.block(block).term_loc]);
        let before = insts.iter().take(at).rev().map(|inst| inst.loc);
        let near = after.chain(before).chain([func.loc]).find(has_source);
        let loc = Some(own).filter(has_source).or(near);
        let span = loc.and_then(|loc| self.module().span(loc));
        let mut inlined_at = Vec::new();
        let mut next = loc.and_then(|loc| self.module().locs[loc.0 as usize].inlined_at);
        while let Some(data) = next.map(|loc| self.module().locs[loc.0 as usize]) {
            inlined_at.extend(data.span.map(|span| self.sources().describe(span)));
            next = data.inlined_at;
        }
        // Code without a source of its own has the place of its call.
        inlined_at.retain(|position| span.is_none_or(|span| *position != self.sources().describe(span)));
        Place {
            shader: span.and_then(|span| self.shader(span)),
            function: func.name.to_string(),
            position: span.map(|span| self.sources().describe(span)),
            is_near: !has_source(&own),
            inlined_at,
            span,
        }
    }

    /// The shader or function whose text holds a place.
    fn shader(&self, span: Span) -> Option<String> {
        let outlines = &self.subject.debug?.outlines;
        let around = outlines.iter().filter(|o| crate::lang::outline::holds(o.extent, span));
        around.min_by_key(|o| o.extent.end - o.extent.start).map(Outline::title)
    }

    /// What a value is called: by its variable, its constant, or the operation that computes it.
    fn name(&self, function: usize, insts: &[Inst], value: Value) -> String {
        let func = &self.module().functions[function];
        if let Some(number) = func.param_values().iter().position(|p| *p == value) {
            return func.params[number].name.to_string();
        }
        let Some((block, at)) = definition(func, value) else { return format!("value {value} of a loop or branch") };
        let inst = &func.block(block).insts[at];
        if let Some(name) = self.names.of_result(self.module(), inst) {
            return name.to_string();
        }
        match &inst.op {
            Op::Const(_) => "constant".to_string(),
            Op::Call(name) => format!("result of {name}"),
            op if insts.iter().any(|i| i.results.contains(&value)) => format!("result of {} above", op.name()),
            op => format!("result of {}", op.name()),
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.position {
            Some(position) if self.is_near => write!(f, "near {position}"),
            Some(position) => write!(f, "at {position}"),
            None => write!(f, "in {}", self.function),
        }
    }
}

/// What the machines recorded at a point.
struct Recorded {
    items: Vec<(Item, Words)>,
    known: HashMap<Value, Words>,
}

impl Recorded {
    fn new(tracer: &mut Tracer<'_, '_>, module: &Module, point: &Point) -> Result<Self, RenderError> {
        let mut known = HashMap::new();
        // The operands of a ray or a call are in the segment that it ends.
        if let Some(before) = point.before {
            let items = items_with(tracer, module, before)?;
            known.extend(items.into_iter().filter_map(|(item, words)| Some((value_of(&item)?, words))));
        }
        let items = items_with(tracer, module, point.at)?;
        known.extend(items.iter().filter_map(|(item, words)| Some((value_of(item)?, words.clone()))));
        Ok(Self { items, known })
    }

    /// The words of a value of the function, if they are known.
    fn words(&self, func: &Function, value: Value) -> Option<Words> {
        if let Some(words) = self.known.get(&value) {
            return Some(words.clone());
        }
        let (block, at) = definition(func, value)?;
        match &func.block(block).insts[at].op {
            Op::Const(c) => Some(std::array::from_fn(|_| Const::bits(c))),
            _ => None,
        }
    }
}

fn value_of(item: &Item) -> Option<Value> {
    match item.what {
        What::Input(value) | What::Result(value, _) => Some(value),
        What::Hit(_) | What::HitTriangle(_) | What::HitObject(_) => None,
    }
}

/// The items of an execution with their words.
fn items_with(
    tracer: &mut Tracer<'_, '_>,
    module: &Module,
    at: Execution,
) -> Result<Vec<(Item, Words)>, RenderError> {
    let words = tracer.values(at)?;
    let mut first = 0;
    let items = tracer.segments.items(module, at.segment).into_iter();
    let with_words = items.map(|item| {
        let range = first..first + item.words as usize;
        first = range.end;
        (item, words.each_ref().map(|w| w.get(range.clone()).unwrap_or_default().to_vec()))
    });
    Ok(with_words.collect())
}

/// The instruction that defines a value.
fn definition(func: &Function, value: Value) -> Option<(BlockId, usize)> {
    func.block_ids().find_map(|id| {
        let at = func.block(id).insts.iter().position(|inst| inst.results.contains(&value))?;
        Some((id, at))
    })
}

/// Whether control may come from one block to another.
fn reaches(func: &Function, from: BlockId, to: BlockId) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![from]);
    while let Some(block) = work.pop() {
        if block == to {
            return true;
        }
        if seen.insert(block) {
            work.extend(func.block(block).term.targets().map(|t| t.block));
        }
    }
    false
}

/// For a comparison of floats, the difference of its operands on each machine.
fn margins(func: &Function, inst: &Inst, recorded: &Recorded) -> Option<[f32; MACHINES]> {
    if !matches!(inst.op, Op::Lt | Op::Le | Op::Eq | Op::Ne) {
        return None;
    }
    let [a, b] = [inst.args[0], inst.args[1]].map(|value| recorded.words(func, value));
    let (a, b) = (a?, b?);
    let float = |words: &[u32]| f32::from_bits(words.first().copied().unwrap_or(0));
    Some(std::array::from_fn(|machine| float(&a[machine]) - float(&b[machine])))
}

/// What an operation computes of its operands.
fn meaning(op: &Op) -> String {
    let text = match op {
        Op::Neg => "−a",
        Op::Abs => "|a|",
        Op::Add | Op::IAdd => "a + b",
        Op::Sub | Op::ISub => "a − b",
        Op::Mul | Op::IMul => "a · b",
        Op::Rcp => "1 / a",
        Op::Rsq => "1 / √a",
        Op::Sqrt => "√a",
        Op::Frac => "a − ⌊a⌋",
        Op::Floor => "⌊a⌋",
        Op::Min => "the smaller of a and b",
        Op::Max => "the larger of a and b",
        Op::Sat => "a, clamped to [0, 1]",
        Op::Dot => "the dot product of a and b",
        Op::Cross => "the cross product of a and b",
        Op::Compose => "a vector of its operands",
        Op::Splat => "a vector of equal components",
        Op::Extract(_) => "a component of a",
        Op::Insert(_) => "a with one component replaced by b",
        Op::Lt | Op::ILt => "a < b",
        Op::Le => "a <= b",
        Op::Eq | Op::IEq => "a == b",
        Op::Ne => "a != b",
        Op::IAnd | Op::And => "a and b",
        Op::IOr | Op::Or => "a or b",
        Op::IXor => "a xor b",
        Op::IShl => "a << b",
        Op::IShr => "a >> b",
        Op::IReverse => "the bits of a in reverse",
        Op::Not => "not a",
        Op::Select => "b if a holds, else c",
        Op::ToInt => "a, truncated to an integer",
        Op::ToFloat => "a as a float",
        Op::Bitcast => "the bits of a",
        Op::Load(_) => "a vector of the scene's data at address a",
        Op::Uniform(_) => "a constant of the frame",
        Op::SlotLoad(_) => "element a of an array",
        Op::Hit | Op::HitTri | Op::HitObj => "the current hit",
        Op::Occluded => "whether anything lies on the ray from a along b",
        Op::Visible(_) => "which shadow rays from a reach their lights",
        Op::Call(name) => return format!("the value of {name}"),
        Op::CallShader(_) => "the colour of what was hit",
        other => return other.name().to_string(),
    };
    text.to_string()
}
