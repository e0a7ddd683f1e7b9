//! Explains points of a sample in terms of the source: the operation, its operands, the variable,
//! and what a decision leads to.

use super::names::{Names, Variable, assigned};
use super::trace::{Activation, Execution, Failure, Point, Split, Tracer};
use super::values::{Shown, differs, distance};
use super::{RUNNERS, Subject};
use serde::Serialize;
use shadewright_base::text::source::{SourceMap, Span};
use shadewright_ir::passes::record::{Detail, End, Item, Segment, Segments, What, is_decision};
use shadewright_ir::print::inst_text;
use shadewright_ir::{BlockId, Const, Function, Inst, Loc, Module, Op, Terminator, Type, Value};
use shadewright_lang::outline::Outline;
use shadewright_program::memory::object_of;
use std::collections::{HashMap, HashSet};

/// How many segments a value is followed back at most.
const MAX_STEPS_BACK: usize = 16;

/// The words of a value on each runner.
type Words = [Vec<u32>; RUNNERS];

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceLocation {
    /// The shader or function of the source, where known: `surface marble`.
    pub shader: Option<String>,
    /// The function of the program that holds the code.
    pub function: String,
    /// The block of that function.
    pub block: String,
    /// File, line and column; `None` of code that has no source.
    pub position: Option<String>,
    /// True if the position is that of code near it, as it has none of its own.
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
    /// The value on each runner, where it was recorded.
    pub values: Option<[Shown; RUNNERS]>,
    /// True if it differs between the two runners.
    pub differs: bool,
    /// How many floats lie between the two values.
    pub ulps: Option<u64>,
}

/// An operation whose result differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// Where it is.
    pub place: SourceLocation,
    /// The functions that are running, the innermost call first.
    pub calls: Vec<String>,
    /// The name of the operation.
    pub name: String,
    /// The formula of the result, in terms of the operands `a`, `b`, …
    pub meaning: String,
    /// The instruction's text in the program.
    pub instruction: String,
    /// The variable that has the result.
    pub variable: Option<String>,
    /// Otherwise the nearest one that is computed from it.
    pub leads_to: Option<String>,
    /// The operands of the operation.
    pub operands: Vec<Operand>,
    /// The results.
    pub results: [Shown; RUNNERS],
    /// How many floats lie between the two results.
    pub ulps: Option<u64>,
}

/// Where control goes after a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a report has three at most")]
pub enum Effect {
    /// A branch goes one way or the other.
    Branch {
        /// Where it goes where the decision is true, and where it is false; `None` where other parts
        /// of the branch's condition decide that.
        ways: [Option<SourceLocation>; 2],
        /// The truth value of the decision at which a loop ends, if the branch is that of one.
        ends_loop_at: Option<bool>,
    },
    /// One of two values is taken.
    Select,
    /// Something lies on a ray, or nothing does.
    Shadow,
    /// A ray hits another primitive, or nothing.
    Hit {
        /// The object that it hits on each runner.
        objects: [String; RUNNERS],
    },
    /// A number, such as an index, is another.
    Number,
}

/// A decision that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// The number of its record.
    pub record: u64,
    /// The operation that decides.
    pub operation: Operation,
    /// For comparisons, the difference of the operands on each runner.
    pub margins: Option<[f32; RUNNERS]>,
    /// The effect on where control goes.
    pub effect: Effect,
}

/// Where the runners execute different code.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parted {
    /// The number of the last record that both have.
    pub record: Option<u64>,
    /// The decision on where they go, where it was recorded.
    pub decision: Option<Decision>,
    /// Where each goes on; `None` at the end of the sample.
    pub to: [Option<SourceLocation>; 2],
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

    /// The first value of a point that differs between two runners, or the one before it that it
    /// comes from; `None` where all are equal.
    ///
    /// # Errors
    /// The errors of rendering.
    pub fn difference(
        &self,
        tracer: &mut Tracer<'_, '_>,
        point: &Point,
        pair: [usize; 2],
        detail: Detail,
    ) -> Result<Option<Operation>, Failure> {
        let mut point = point.clone();
        let mut found = None;
        for _ in 0..MAX_STEPS_BACK {
            let Some((item, operation)) = self.first_difference(tracer, &point, pair, detail, |_| true)? else { break };
            found = Some(operation);
            let earlier = match item.what {
                // An inner value of an earlier segment: it was not hashed there.
                What::Input(value) => self.origin(tracer, &point, value),
                What::Result(_, at) => returning(tracer.segments, &point, at),
                What::Hit(_) | What::HitTriangle(_) | What::HitObject(_) => None,
            };
            let Some(earlier) = earlier else { break };
            point = earlier;
        }
        Ok(found)
    }

    /// Where a value that a segment reads comes from.
    fn origin(&self, tracer: &Tracer<'_, '_>, point: &Point, value: Value) -> Option<Point> {
        let segments = tracer.segments;
        let Segment { function, .. } = segments.list[point.at.segment as usize];
        let func = &self.module().functions[function];
        let activation = point.stack.last()?;
        let in_activation = |at: Execution| Point { at, ..point.clone() };
        if let Some((block, at)) = definition(func, value) {
            let segment = segments.holding(function, block, at)?;
            let number = *activation.executed.get(&segment)?;
            return Some(in_activation(Execution { segment, number }));
        }
        let block = func.block_ids().find(|&id| func.block(id).params.contains(&value))?;
        if block != BlockId(0) {
            // What ran before the block passed the value on.
            let first = segments.holding(function, block, 0)?;
            return activation.before.get(&first).copied().map(in_activation);
        }
        let (called, callers) = point.stack.split_last()?;
        Some(Point { at: called.called_by?, stack: callers.to_vec(), ..point.clone() })
    }

    /// The first of the wanted items of a point that differs between two runners.
    fn first_difference(
        &self,
        tracer: &mut Tracer<'_, '_>,
        point: &Point,
        pair: [usize; 2],
        detail: Detail,
        is_wanted: impl Fn(&Item) -> bool,
    ) -> Result<Option<(Item, Operation)>, Failure> {
        let recorded = Recorded::new(tracer, self.module(), point, detail)?;
        let differing = |(item, words): &&(Item, Words)| differs(item.ty, &words[pair[0]], &words[pair[1]]);
        let found = recorded.items.iter().filter(|(item, _)| is_wanted(item)).find(differing);
        let Some((item, words)) = found else { return Ok(None) };
        Ok(Some((*item, self.operation(tracer, point, item, words, &recorded, pair))))
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
        let variable = variable.or_else(|| self.assigned(&place).filter(|_| value.is_some()));
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
                values: words.map(|w| w.map(|words| Shown::new(ty, &words))),
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
            results: words.each_ref().map(|words| Shown::new(item.ty, words)),
            ulps: distance(item.ty, &words[pair[0]], &words[pair[1]]),
        }
    }

    /// The first decision at a point that differs between two runners.
    ///
    /// # Errors
    /// The errors of rendering.
    pub fn decision(
        &self,
        tracer: &mut Tracer<'_, '_>,
        point: &Point,
        pair: [usize; 2],
    ) -> Result<Option<Decision>, Failure> {
        let Segment { function, block, .. } = tracer.segments.list[point.at.segment as usize];
        let insts = &self.module().functions[function].block(block).insts;
        self.first_decision(tracer, point, pair, |item| match item.what {
            What::Result(_, at) => is_decision(&insts[at].op),
            What::HitTriangle(_) | What::HitObject(_) => true,
            What::Input(_) | What::Hit(_) => false,
        })
    }

    /// The decision on where control goes after a point: the hit whose shader is called, or the
    /// first value that differs of those that the condition of a branch consists of.
    fn turn(&self, tracer: &mut Tracer<'_, '_>, point: &Point, pair: [usize; 2]) -> Result<Option<Decision>, Failure> {
        let Segment { function, block, end, .. } = tracer.segments.list[point.at.segment as usize];
        let func = &self.module().functions[function];
        let condition = match (&func.block(block).term, end) {
            (Terminator::Branch(condition, ..), End::Block) => Some(*condition),
            _ => None,
        };
        let parts = condition.map(|condition| connected(func, condition)).unwrap_or_default();
        self.first_decision(tracer, point, pair, |item| match item.what {
            What::Result(value, _) | What::Input(value) => parts.contains(&value),
            What::HitTriangle(_) | What::HitObject(_) => end == End::Shader,
            What::Hit(_) => false,
        })
    }

    fn first_decision(
        &self,
        tracer: &mut Tracer<'_, '_>,
        point: &Point,
        pair: [usize; 2],
        is_wanted: impl Fn(&Item) -> bool,
    ) -> Result<Option<Decision>, Failure> {
        let mut found = self.first_difference(tracer, point, pair, Detail::All, &is_wanted)?;
        if found.is_none() {
            // Looking at all values may have changed them.
            found = self.first_difference(tracer, point, pair, Detail::Outer, &is_wanted)?;
        }
        let Some((item, operation)) = found else { return Ok(None) };
        let Segment { function, block, .. } = tracer.segments.list[point.at.segment as usize];
        let func = &self.module().functions[function];
        let recorded = Recorded::new(tracer, self.module(), point, Detail::All)?;
        let casts = |at: usize| matches!(func.block(block).insts[at].op, Op::Occluded | Op::Visible(_));
        let effect = match item.what {
            What::Result(_, at) if casts(at) => Effect::Shadow,
            What::Result(value, _) | What::Input(value) if func.ty(value) == Type::Bool => self.effect(function, value),
            What::HitTriangle(_) | What::HitObject(_) => Effect::Hit { objects: self.objects(&recorded) },
            _ => Effect::Number,
        };
        let def = match item.what {
            What::Result(value, _) | What::Input(value) => definition(func, value),
            _ => None,
        };
        let margins = def.and_then(|(block, at)| margins(func, &func.block(block).insts[at], &recorded));
        Ok(Some(Decision { record: point.record, operation, margins, effect }))
    }

    /// The names of the objects that a ray hits on each runner.
    fn objects(&self, recorded: &Recorded) -> [String; RUNNERS] {
        let word = |wanted: fn(&What) -> bool, runner: usize| {
            let found = recorded.items.iter().find(|(item, _)| wanted(&item.what));
            found.and_then(|(_, words)| words[runner].first().copied()).unwrap_or(0)
        };
        std::array::from_fn(|runner| {
            let triangle = word(|what| matches!(what, What::HitTriangle(_)), runner);
            let object = word(|what| matches!(what, What::HitObject(_)), runner);
            if object == 0 {
                return "nothing".to_string();
            }
            let memory = &self.subject.job.program.memory;
            let primitive = memory.primitive(triangle, object);
            match object_of(self.subject.scene, primitive) {
                Some((number, part)) => {
                    let name = &self.subject.scene.objects[number].name;
                    let name =
                        if name.is_empty() { format!("object {number}") } else { format!("{name} (object {number})") };
                    format!("{name}, triangle {part}")
                }
                None => format!("primitive {primitive}"),
            }
        })
    }

    /// The effect of a truth value on where control goes.
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
        // The condition where the decision is true, and where it is false.
        let conditions = [true, false].map(|truth| implied(func, condition, (value, truth)));
        let way = |holds: bool| self.place(function, if holds { then } else { otherwise }, 0);
        let ends_loop_with = match [then, otherwise].map(|block| reaches(func, block, from)) {
            [true, false] => Some(false),
            [false, true] => Some(true),
            _ => None,
        };
        let ends_loop = |&truth: &bool| ends_loop_with.is_some() && conditions[usize::from(!truth)] == ends_loop_with;
        Effect::Branch {
            ways: conditions.map(|condition| condition.map(way)),
            ends_loop_at: [true, false].into_iter().find(ends_loop),
        }
    }

    /// Where two runners go on differently.
    ///
    /// # Errors
    /// The errors of rendering.
    pub fn parted(&self, tracer: &mut Tracer<'_, '_>, split: &Split, pair: [usize; 2]) -> Result<Parted, Failure> {
        let decision = match &split.after {
            Some(point) => self.turn(tracer, point, pair)?,
            None => None,
        };
        let to = |segment: &Option<u32>| {
            let Segment { function, block, insts, .. } = tracer.segments.list.get((*segment)? as usize)?;
            Some(self.place(*function, *block, insts.start))
        };
        Ok(Parted { record: split.after.as_ref().map(|p| p.record), decision, to: split.next.each_ref().map(to) })
    }

    /// The place of a segment.
    pub fn segment_place(&self, tracer: &Tracer<'_, '_>, execution: Execution) -> SourceLocation {
        let Segment { function, block, insts, .. } = &tracer.segments.list[execution.segment as usize];
        self.place(*function, *block, insts.start)
    }

    /// The running calls, the innermost first.
    fn calls(&self, tracer: &Tracer<'_, '_>, stack: &[Activation]) -> Vec<String> {
        let call = |activation: &Activation| {
            let Segment { function, block, insts, end } = &tracer.segments.list[activation.called_by?.segment as usize];
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
    fn place(&self, function: usize, block: BlockId, at: usize) -> SourceLocation {
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
        SourceLocation {
            shader: span.and_then(|span| self.shader(span)),
            function: func.name.to_string(),
            block: block.to_string(),
            position: span.map(|span| self.sources().describe(span)),
            is_near: !has_source(&own),
            inlined_at,
            span,
        }
    }

    /// The variable to which the text at a place assigns.
    fn assigned(&self, place: &SourceLocation) -> Option<Variable> {
        let span = place.span.filter(|_| !place.is_near)?;
        let text = &self.sources().get(span.file)?.text;
        assigned(text, span.start as usize, span.end as usize)
    }

    /// The shader or function whose text holds a place.
    fn shader(&self, span: Span) -> Option<String> {
        let outlines = &self.subject.debug?.outlines;
        let around = outlines.iter().filter(|o| shadewright_lang::outline::holds(o.extent, span));
        around.min_by_key(|o| o.extent.end - o.extent.start).map(Outline::title)
    }

    /// The name of a value: its variable, its constant, or the operation that computes it.
    fn name(&self, function: usize, insts: &[Inst], value: Value) -> String {
        let func = &self.module().functions[function];
        if let Some(number) = func.param_values().iter().position(|p| *p == value) {
            return func.params[number].name.to_string();
        }
        let Some((block, at)) = definition(func, value) else { return format!("value {value} of a loop or branch") };
        let inst = &func.block(block).insts[at];
        if let Some(name) = self.names.result(self.module(), inst) {
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

impl std::fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.position {
            Some(position) if self.is_near => write!(f, "near {position}"),
            Some(position) => write!(f, "at {position}"),
            None => write!(f, "in {}", self.function),
        }
    }
}

/// The values that the runners recorded at a point.
struct Recorded {
    items: Vec<(Item, Words)>,
    known: HashMap<Value, Words>,
}

impl Recorded {
    fn new(tracer: &mut Tracer<'_, '_>, module: &Module, point: &Point, detail: Detail) -> Result<Self, Failure> {
        let mut known = HashMap::new();
        // The operands of a ray or a call are in the segment that it ends.
        let before = point.stack.last().and_then(|activation| activation.before.get(&point.at.segment));
        let follows = |before: &&Execution| tracer.segments.next_in_block(before.segment) == Some(point.at.segment);
        if let Some(&before) = before.filter(follows) {
            let items = items_with(tracer, module, before, detail)?;
            known.extend(items.into_iter().filter_map(|(item, words)| Some((value_of(&item)?, words))));
        }
        let items = items_with(tracer, module, point.at, detail)?;
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

/// The end of the function whose call at a place of the block gives a result of a point: it may
/// return what it was given, or copies of that.
fn returning(segments: &Segments, point: &Point, at: usize) -> Option<Point> {
    let Segment { insts, .. } = &segments.list[point.at.segment as usize];
    let activation = point.stack.last()?;
    let returned = activation.returned.as_deref().filter(|_| at + 1 == insts.start)?;
    // A ray that hits nothing calls no shader.
    let is_it = returned.called_by.is_some() && returned.called_by.as_ref() == activation.before.get(&point.at.segment);
    let stack = point.stack.iter().chain([returned]).cloned().collect();
    returned.last.filter(|_| is_it).map(|at| Point { at, stack, ..point.clone() })
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
    detail: Detail,
) -> Result<Vec<(Item, Words)>, Failure> {
    let words = tracer.values(at, detail)?;
    let mut first = 0;
    let items = tracer.segments.items(module, at.segment, detail).into_iter();
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

/// The truth values that a condition consists of by connectives, itself included.
fn connected(func: &Function, condition: Value) -> HashSet<Value> {
    let mut parts = HashSet::new();
    let mut work = vec![condition];
    while let Some(value) = work.pop() {
        if parts.insert(value)
            && let Some((block, at)) = definition(func, value)
            && let inst = &func.block(block).insts[at]
            && matches!(inst.op, Op::Not | Op::And | Op::Or)
        {
            work.extend(&inst.args);
        }
    }
    parts
}

/// The truth value of a condition where one of the values that it consists of is known, if that
/// decides it.
fn implied(func: &Function, condition: Value, known: (Value, bool)) -> Option<bool> {
    if condition == known.0 {
        return Some(known.1);
    }
    let (block, at) = definition(func, condition)?;
    let Inst { op, args, .. } = &func.block(block).insts[at];
    let part = |k: usize| implied(func, args[k], known);
    // What one operand alone decides with.
    let either = |decides: bool| match [part(0), part(1)] {
        parts if parts.contains(&Some(decides)) => Some(decides),
        [Some(_), Some(_)] => Some(!decides),
        _ => None,
    };
    match op {
        Op::Not => part(0).map(|truth| !truth),
        Op::And => either(false),
        Op::Or => either(true),
        _ => None,
    }
}

/// True if control may come from one block to another.
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

/// For a comparison of floats, the difference of its operands on each runner.
fn margins(func: &Function, inst: &Inst, recorded: &Recorded) -> Option<[f32; RUNNERS]> {
    if !matches!(inst.op, Op::Lt | Op::Le | Op::Eq | Op::Ne) {
        return None;
    }
    let [a, b] = [inst.args[0], inst.args[1]].map(|value| recorded.words(func, value));
    let (a, b) = (a?, b?);
    let float = |words: &[u32]| f32::from_bits(words.first().copied().unwrap_or(0));
    Some(std::array::from_fn(|runner| float(&a[runner]) - float(&b[runner])))
}

/// The formula of an operation's result, in terms of its operands.
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
        Op::CallShader(_) => "the color of what was hit",
        other => return other.name().to_string(),
    };
    text.to_string()
}
