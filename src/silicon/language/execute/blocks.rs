//! Symbol tables: what names mean at each point of a program, and the `ifYes`, `ifNo` and `Merge`
//! nodes that values pass on their way.
//!
//! A block is a stretch of a program without branches. It binds what is assigned in it. Anything
//! else is looked up in the blocks before it when it is first used, so nodes are added only for
//! what is used. Numbers that are known pass freely; they become nodes where they are used.
//!
//! | block | a value from before |
//! |---|---|
//! | branch | passes `ifYes` or `ifNo` |
//! | head of a loop | passes `LoopMerge`, whose second input is connected at the end of the body |
//! | join | what no branch assigns bypasses it; else `Merge` of what it is in each branch |
//! | after a loop without end | what the loop does not assign bypasses it; the rest never leaves |

use super::Executor;
use super::numbers::Number;
use crate::circuit::graph::{Constant, DataKind, LoopId, NodeId, Op, PortId, ValueId};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// An interned name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

/// A key that can be looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// The token that triggers constants: one comes each time the program passes.
    Reset,
    /// The token that keeps debug output in order.
    Print,
    /// The state of a port.
    Token(PortId),
    /// A variable of a scope.
    Name(u32, Symbol),
    /// The value of an expression that branches.
    Temporary(u32),
}

/// The meaning of a key.
#[derive(Clone, Debug)]
pub enum Datum {
    /// A number that is known.
    Number(Number),
    /// A word.
    Word(ValueId),
    /// An empty token.
    Token(ValueId),
    /// A port.
    Port(PortId),
    /// Nothing of use.
    Poison(Rc<Poison>),
}

/// Why a name means nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Poison {
    /// The error is reported already.
    Reported,
    /// A branch of this statement does not assign it.
    Unassigned(Span),
    /// This loop assigns it and has no end.
    Trapped(Span),
    /// Branches of this statement make it different ports.
    Ports(Span, [Arc<str>; 2]),
    /// Branches of this statement make it a port and a number.
    Mixed(Span),
    /// The carry of a sum of numbers without sizes.
    NoCarry,
}

/// A block, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockId(pub u32);

/// A block.
pub struct Block {
    /// The keys that are assigned in it, and those that have been looked up.
    pub bindings: HashMap<Key, Datum>,
    /// The blocks that come before it.
    pub kind: BlockKind,
}

impl Block {
    /// A block that binds nothing yet.
    pub fn new(kind: BlockKind) -> Self {
        Self { bindings: HashMap::new(), kind }
    }
}

/// The blocks that come before a block.
#[derive(Clone)]
pub enum BlockKind {
    /// Nothing.
    Entry,
    /// Another block, if the condition is 1 (`yes`) or 0.
    Branch { parent: BlockId, condition: ValueId, yes: bool },
    /// Another block, or the end of the loop's body.
    Head(Rc<Head>),
    /// One of several. If they are all the ways from a block to here, that is `dominator`, and
    /// `assigned` is what they assign.
    Join { dominator: Option<BlockId>, parents: Rc<[BlockId]>, assigned: Rc<BTreeSet<Key>>, span: Span },
    /// A loop without end, which assigns something.
    Endless { before: BlockId, assigned: Rc<BTreeSet<Key>>, span: Span },
}

/// The head of a loop.
pub struct Head {
    /// The block before the loop.
    pub before: BlockId,
    /// The loop.
    pub id: LoopId,
    /// The variables of this scope that the body may assign.
    pub assigned: BTreeSet<Symbol>,
    /// The scope of the loop.
    pub scope: u32,
    /// Where it is.
    pub span: Span,
}

/// Most look-ups inside each other: blocks that a value passes at once.
const MAX_LOOKUPS: usize = 20_000;

impl Executor<'_> {
    /// Adds a block.
    pub(super) fn block(&mut self, kind: BlockKind) -> BlockId {
        self.blocks.push(Block::new(kind));
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// The meaning of a key at the end of a block; none if nothing has ever been assigned.
    pub(super) fn lookup(&mut self, key: Key, at: BlockId) -> Option<Datum> {
        let mut block = at;
        let datum = loop {
            let Block { bindings, kind } = &self.blocks[block.0 as usize];
            if let Some(datum) = bindings.get(&key) {
                break datum.clone();
            }
            match kind {
                BlockKind::Entry => return None,
                BlockKind::Join { dominator: Some(before), assigned, .. } if !assigned.contains(&key) => {
                    block = *before;
                }
                BlockKind::Endless { before, assigned, span } => {
                    if assigned.contains(&key) && key != Key::Print {
                        break Datum::Poison(Rc::new(Poison::Trapped(*span)));
                    }
                    block = *before;
                }
                _ => {
                    let kind = kind.clone();
                    break self.pass(key, block, kind)?;
                }
            }
        };
        self.blocks[at.0 as usize].bindings.insert(key, datum.clone());
        Some(datum)
    }

    /// Lets what a key means pass into a block.
    fn pass(&mut self, key: Key, block: BlockId, kind: BlockKind) -> Option<Datum> {
        if self.lookups >= MAX_LOOKUPS || self.circuit.nodes().len() > self.limits.nodes {
            self.report(Diagnostic::error("the program is too large: a value passes too many branches"));
            self.stopped = true;
        }
        if self.stopped {
            return Some(Datum::Poison(Rc::new(Poison::Reported)));
        }
        self.lookups += 1;
        let datum = match kind {
            BlockKind::Branch { parent, condition, yes } => self.pass_branch(key, parent, condition, yes),
            BlockKind::Head(head) => self.pass_head(key, block, &head),
            BlockKind::Join { parents, span, .. } => self.pass_join(key, &parents, span),
            BlockKind::Entry | BlockKind::Endless { .. } => None,
        };
        self.lookups -= 1;
        if let Some(datum) = &datum {
            self.blocks[block.0 as usize].bindings.insert(key, datum.clone());
        }
        datum
    }

    fn pass_branch(&mut self, key: Key, parent: BlockId, condition: ValueId, yes: bool) -> Option<Datum> {
        let datum = self.lookup(key, parent)?;
        let op = if yes { Op::IfYes } else { Op::IfNo };
        let span = self.circuit.source(condition).span;
        let gate = |value: ValueId| {
            let output = self.circuit.add_value(op, &[condition, value], span);
            self.follow(output, value);
            output
        };
        Some(match datum {
            Datum::Word(value) => Datum::Word(gate(value)),
            Datum::Token(value) => Datum::Token(gate(value)),
            other => other,
        })
    }

    /// Gives a value the size and the name of another, which it is on some path.
    fn follow(&mut self, value: ValueId, other: ValueId) {
        let (size, name) = (self.circuit.value(other).size, self.circuit.value(other).name.clone());
        if let (Some(size), None) = (size, self.circuit.value(value).size) {
            self.circuit.set_size(value, size);
        }
        if let Some(name) = name {
            self.circuit.set_name(value, &name);
        }
    }

    fn pass_head(&mut self, key: Key, block: BlockId, head: &Rc<Head>) -> Option<Datum> {
        let datum = self.lookup(key, head.before)?;
        let changes = matches!(key, Key::Name(scope, symbol)
            if scope == head.scope && head.assigned.contains(&symbol));
        let first = match datum {
            Datum::Word(value) | Datum::Token(value) => value,
            Datum::Number(number) if changes => self.materialize(&number, head.before, head.span),
            Datum::Port(_) if changes => {
                self.open(head.id).ports.push(key);
                return Some(datum);
            }
            other => return Some(other),
        };
        let node = self.circuit.add(Op::LoopMerge(head.id), &[first], head.span);
        let output = self.circuit.node(node).outputs[0];
        self.follow(output, first);
        let datum = match self.circuit.value(output).kind {
            DataKind::Word => Datum::Word(output),
            DataKind::Token => Datum::Token(output),
        };
        self.blocks[block.0 as usize].bindings.insert(key, datum.clone());
        let state = self.open(head.id);
        match state.end {
            None => state.heads.push((key, node)),
            Some(Some(end)) => self.connect(key, node, end, head.span),
            Some(None) => self.disconnect(node),
        }
        Some(datum)
    }

    fn pass_join(&mut self, key: Key, parents: &[BlockId], span: Span) -> Option<Datum> {
        let data: Vec<Option<Datum>> = parents.iter().map(|parent| self.lookup(key, *parent)).collect();
        if data.iter().all(Option::is_none) {
            return None;
        }
        let Some(data) = data.into_iter().collect::<Option<Vec<Datum>>>() else {
            return Some(Datum::Poison(Rc::new(Poison::Unassigned(span))));
        };
        if let Some(poison) = data.iter().find(|datum| matches!(datum, Datum::Poison(_))) {
            return Some(poison.clone());
        }
        let poison = |poison| Some(Datum::Poison(Rc::new(poison)));
        match &data[0] {
            Datum::Port(port) => {
                for other in &data[1..] {
                    match other {
                        Datum::Port(other) if other == port => {}
                        Datum::Port(other) => {
                            let names = [*port, *other].map(|port| self.circuit.port(port).name.clone());
                            return poison(Poison::Ports(span, names));
                        }
                        _ => return poison(Poison::Mixed(span)),
                    }
                }
                return Some(data[0].clone());
            }
            Datum::Number(number) if data.iter().all(|d| matches!(d, Datum::Number(other) if other == number)) => {
                return Some(data[0].clone());
            }
            _ => {}
        }
        let mut values = Vec::new();
        for (datum, parent) in data.iter().zip(parents) {
            match datum {
                Datum::Word(value) | Datum::Token(value) => values.push(*value),
                Datum::Number(number) => values.push(self.materialize(number, *parent, span)),
                Datum::Port(_) | Datum::Poison(_) => return poison(Poison::Mixed(span)),
            }
        }
        let is_token = matches!(data[0], Datum::Token(_));
        let output = match &values[..] {
            [one] => *one,
            _ => self.circuit.add_value(Op::Merge, &values, span),
        };
        values.iter().for_each(|value| self.follow(output, *value));
        Some(if is_token { Datum::Token(output) } else { Datum::Word(output) })
    }

    /// The word of a number, each time the program passes a block.
    pub(super) fn materialize(&mut self, number: &Number, at: BlockId, span: Span) -> ValueId {
        let trigger = match self.lookup(Key::Reset, at) {
            Some(Datum::Token(value)) => value,
            _ => self.reset,
        };
        let (constant, size) = match number {
            Number::Free(number) => (Constant::Number(*number), None),
            Number::Sized(bits, size) => (Constant::Word(bits.clone()), Some(*size)),
        };
        let output = self.circuit.add_value(Op::Constant(constant), &[trigger], span);
        if let Some(size) = size {
            self.circuit.set_size(output, size);
        }
        output
    }

    /// Ends the body of a loop at a block; none if the loop never repeats.
    pub(super) fn seal(&mut self, head: &Rc<Head>, block: BlockId, end: Option<BlockId>) {
        self.open(head.id).end = Some(end);
        let heads = std::mem::take(&mut self.open(head.id).heads);
        let Some(end) = end else {
            return heads.into_iter().for_each(|(_, node)| self.disconnect(node));
        };
        // Connecting heads can add heads, which are connected at once.
        for (key, node) in heads {
            self.connect(key, node, end, head.span);
        }
        for key in std::mem::take(&mut self.open(head.id).ports) {
            let ends = [block, end].map(|block| self.lookup(key, block));
            if !matches!(ends, [Some(Datum::Port(first)), Some(Datum::Port(next))] if first == next) {
                let message = "a variable names another port in the next iteration of a loop";
                self.report(Diagnostic::error(message).at(head.span, "which port is not known while compiling"));
            }
        }
    }

    /// Lets a head have no second value: its loop never repeats.
    fn disconnect(&mut self, node: NodeId) {
        let (output, span) = (self.circuit.node(node).outputs[0], self.circuit.node(node).span);
        let undefined = self.circuit.add_value(Op::Undefined(self.circuit.value(output).kind), &[], span);
        self.follow(undefined, output);
        self.circuit.set_input(node, 1, undefined);
    }

    /// Connects what a key means at the end of a loop's body to its head.
    fn connect(&mut self, key: Key, node: NodeId, end: BlockId, span: Span) {
        let output = self.circuit.node(node).outputs[0];
        let value = match (self.lookup(key, end), self.circuit.value(output).kind) {
            (Some(Datum::Word(value)), DataKind::Word) | (Some(Datum::Token(value)), DataKind::Token) => value,
            (Some(Datum::Number(number)), DataKind::Word) => self.materialize(&number, end, span),
            (Some(Datum::Poison(poison)), _) if *poison == Poison::Reported => return,
            (Some(Datum::Poison(poison)), _) => {
                let name = self.key_name(key, output);
                let d = match &*poison {
                    Poison::Trapped(inner) => {
                        let d = Diagnostic::error(format!("this loop never repeats: `{name}` is needed again"));
                        d.at(span, "this loop").also(*inner, "a loop without end inside it uses it")
                    }
                    _ => Diagnostic::error(format!("`{name}` has no value at the end of an iteration"))
                        .at(span, "this loop"),
                };
                return self.report(d);
            }
            _ => {
                let name = self.key_name(key, output);
                let message = format!("`{name}` is a number before an iteration, and none after it");
                return self.report(Diagnostic::error(message).at(span, "this loop"));
            }
        };
        self.circuit.set_input(node, 1, value);
        self.follow(output, value);
    }

    fn key_name(&self, key: Key, value: ValueId) -> Arc<str> {
        match key {
            Key::Token(port) => self.circuit.port(port).name.clone(),
            _ => self.circuit.value(value).name.clone().unwrap_or_else(|| "a value".into()),
        }
    }
}
