//! Infers the sizes of words (C.11).
//!
//! Values that an operation needs in one size are one class. Sizes come from ports, from constants
//! of a given size, and from operations such as comparisons; those of a concatenation add up. Where
//! that leaves a class without a size, the first of these that applies gives one: a `Resize` of it,
//! the highest bit that is taken of it, or, for debug output alone, the constants in it.

use crate::circuit::graph::{Circuit, Constant, DataKind, Memory, Node, NodeId, Op, ValueId};
use shadewright_base::bits::{Bits, MAX_WIDTH, storage};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::Span;
use std::collections::BTreeMap;

/// The most bits of all words of a circuit and of all labels of its `CASE`s, each counted as
/// [`storage`] does: a simulation keeps them two or three times.
const MAX_BITS: u64 = 1 << 30;

/// Gives each word of a circuit its size, and each constant its bits.
///
/// # Errors
/// Where sizes contradict each other or are not known, numbers that do not fit, bits beyond a word,
/// and words of more than [`MAX_BITS`] in all.
pub fn infer(circuit: &mut Circuit) -> Result<(), Diagnostics> {
    let count = circuit.values().len();
    let mut inference = Inference {
        circuit,
        parent: (0..count as u32).collect(),
        known: vec![None; count],
        concats: BTreeMap::new(),
        work: Vec::new(),
        diags: Diagnostics::new(),
    };
    inference.unite_all();
    inference.fix_all();
    inference.propagate();
    inference.default_sizes();
    inference.finish();
    let diags = inference.diags;
    if diags.has_errors() { Err(diags) } else { Ok(()) }
}

struct Inference<'a> {
    circuit: &'a mut Circuit,
    /// A forest: the root of a value stands for its class.
    parent: Vec<u32>,
    /// For roots: the size, and the place that it comes from.
    known: Vec<Option<(u32, Span)>>,
    /// Concatenations that a class takes part in.
    concats: BTreeMap<u32, Vec<NodeId>>,
    /// Concatenations of whose words a size has become known.
    work: Vec<NodeId>,
    diags: Diagnostics,
}

impl Inference<'_> {
    fn root(&mut self, value: ValueId) -> u32 {
        let mut root = value.0;
        while self.parent[root as usize] != root {
            let up = self.parent[self.parent[root as usize] as usize];
            self.parent[root as usize] = up;
            root = up;
        }
        root
    }

    fn size(&mut self, value: ValueId) -> Option<u32> {
        let root = self.root(value);
        self.known[root as usize].map(|(size, _)| size)
    }

    fn unite_all(&mut self) {
        let nodes: Vec<NodeId> = self.circuit.nodes().map(|(id, _)| id).collect();
        for id in nodes {
            for values in same(self.circuit.node(id)) {
                let words = values.iter().filter(|value| self.circuit.value(**value).kind == DataKind::Word);
                let words: Vec<ValueId> = words.copied().collect();
                for pair in words.windows(2) {
                    let (a, b) = (self.root(pair[0]), self.root(pair[1]));
                    self.parent[a.max(b) as usize] = a.min(b);
                }
            }
        }
    }

    /// Sets the sizes that are given.
    fn fix_all(&mut self) {
        let nodes: Vec<NodeId> = self.circuit.nodes().map(|(id, _)| id).collect();
        for id in &nodes {
            let node = self.circuit.node(*id).clone();
            if node.op == Op::Concat {
                for value in node.inputs.iter().chain(&node.outputs) {
                    let root = self.root(*value);
                    self.concats.entry(root).or_default().push(*id);
                }
            }
        }
        for id in nodes {
            let node = self.circuit.node(id).clone();
            // What an operation only passes on comes from somewhere else.
            if same(&node).is_empty() || matches!(node.op, Op::Compare(_)) {
                for output in &node.outputs {
                    if let Some(size) = self.circuit.value(*output).size {
                        self.fix(*output, size, node.span, id);
                    }
                }
            }
            for (value, size) in needs(self.circuit, &node) {
                self.fix(value, size, node.span, id);
            }
        }
    }

    fn fix(&mut self, value: ValueId, size: u32, span: Span, node: NodeId) {
        let root = self.root(value);
        match self.known[root as usize] {
            None if size > MAX_WIDTH || size == 0 => {
                let message = format!("a word has 1 to {MAX_WIDTH} bits, and this would have {size}");
                self.diags.push(Diagnostic::error(message).at(span, "not possible"));
            }
            None => {
                self.known[root as usize] = Some((size, span));
                self.work.extend(self.concats.get(&root).into_iter().flatten());
            }
            Some((known, _)) if known == size => {}
            Some((known, place)) => {
                let what = match &self.circuit.value(value).name {
                    Some(name) => format!("`{name}` has"),
                    None => "this has".to_string(),
                };
                let message = match &self.circuit.node(node).op {
                    Op::Put(port) => {
                        format!("{what} {known} bits, and port `{}` {size}", self.circuit.port(*port).name)
                    }
                    _ => format!("{what} {known} bits, and {size} are needed"),
                };
                let d = Diagnostic::error(message).at(span, format!("{size} bits"));
                let d = if place == span { d } else { d.also(place, format!("{known} bits")) };
                self.diags.push(d);
            }
        }
    }

    /// Adds and subtracts the sizes of concatenations.
    fn propagate(&mut self) {
        while let Some(id) = self.work.pop() {
            let Node { inputs, outputs, span, .. } = self.circuit.node(id).clone();
            let ([high, low], [output]) = (&inputs[..], &outputs[..]) else { continue };
            match (self.size(*high), self.size(*low), self.size(*output)) {
                (Some(a), Some(b), _) => self.fix(*output, a + b, span, id),
                (Some(part), None, Some(all)) => self.fix(*low, all.saturating_sub(part), span, id),
                (None, Some(part), Some(all)) => self.fix(*high, all.saturating_sub(part), span, id),
                _ => {}
            }
        }
    }

    fn default_sizes(&mut self) {
        let nodes: Vec<(NodeId, Node)> = self.circuit.nodes().map(|(id, node)| (id, node.clone())).collect();
        for (id, node) in nodes.iter().filter(|(_, node)| node.op == Op::Resize) {
            if let (None, Some(size)) = (self.size(node.inputs[0]), self.size(node.outputs[0])) {
                self.fix(node.inputs[0], size, node.span, *id);
                self.propagate();
            }
        }
        let mut highest: BTreeMap<u32, (u32, NodeId)> = BTreeMap::new();
        for (id, node) in &nodes {
            let Op::Extract { high, .. } = node.op else { continue };
            if self.size(node.inputs[0]).is_none() {
                let root = self.root(node.inputs[0]);
                let entry = highest.entry(root).or_insert((high, *id));
                *entry = (entry.0.max(high), entry.1);
            }
        }
        for (root, (high, id)) in highest {
            if self.known[root as usize].is_none() {
                self.fix(ValueId(root), high + 1, self.circuit.node(id).span, id);
                self.propagate();
            }
        }
        let natural = self.natural(&nodes);
        for (id, node) in nodes.iter().filter(|(_, node)| matches!(node.op, Op::Print(_))) {
            if self.size(node.inputs[1]).is_none() {
                let root = self.root(node.inputs[1]);
                self.fix(node.inputs[1], natural.get(&root).copied().unwrap_or(1), node.span, *id);
                self.propagate();
            }
        }
    }

    /// For each class, the least size in which all its constants are signed numbers.
    fn natural(&mut self, nodes: &[(NodeId, Node)]) -> BTreeMap<u32, u32> {
        let mut sizes = BTreeMap::new();
        for (_, node) in nodes {
            if let Op::Constant(Constant::Number(number)) = node.op {
                let bits = 128 - if number < 0 { (!number).leading_zeros() } else { number.leading_zeros() };
                let size = sizes.entry(self.root(node.outputs[0])).or_insert(1);
                *size = (bits + 1).max(*size);
            }
        }
        sizes
    }

    /// Writes the sizes into the circuit.
    fn finish(&mut self) {
        let mut unknown = BTreeMap::new();
        for i in 0..self.parent.len() {
            let id = ValueId(i as u32);
            if self.circuit.value(id).kind == DataKind::Token {
                continue;
            }
            match self.size(id) {
                Some(size) => self.circuit.set_size(id, size),
                None => {
                    let root = self.root(id);
                    let is_constant = matches!(self.circuit.source(id).op, Op::Constant(_));
                    let entry = unknown.entry(root).or_insert((id, is_constant));
                    if is_constant && !entry.1 {
                        *entry = (id, true);
                    }
                }
            }
        }
        for (value, is_constant) in unknown.into_values() {
            let what = match &self.circuit.value(value).name {
                Some(name) if !is_constant => format!("the size of `{name}` is not known"),
                _ if is_constant => "the size of this number is not known".to_string(),
                _ => "the size of this word is not known".to_string(),
            };
            let d = Diagnostic::error(what).at(self.circuit.source(value).span, "how many bits?");
            self.diags.push(d.hint("write `#` and the number of bits after it"));
        }
        let nodes: Vec<NodeId> = self.circuit.nodes().map(|(id, _)| id).collect();
        let mut bits = 0;
        for &id in &nodes {
            bits += self.bits(id);
            if bits > MAX_BITS {
                let message = format!("the words of the circuit have more than {MAX_BITS} bits");
                let d = Diagnostic::error(message).at(self.circuit.node(id).span, "with this operation");
                self.diags.push(d.hint("a word counts for at least 256 bits: use fewer operations, or narrower words"));
                return;
            }
        }
        for id in nodes {
            self.finish_node(id);
        }
    }

    /// The bits that a node's words and labels count for.
    fn bits(&mut self, id: NodeId) -> u64 {
        let node = self.circuit.node(id);
        let labels = if let Op::Case(labels) = &node.op { labels.len() as u64 } else { 0 };
        let (selector, outputs) = (node.inputs.first().copied(), node.outputs.clone());
        let words: u64 = outputs.into_iter().filter_map(|value| self.size(value)).map(storage).sum();
        let selector = if labels > 0 { selector.and_then(|value| self.size(value)) } else { None };
        words + labels * selector.map_or(0, storage)
    }

    fn finish_node(&mut self, id: NodeId) {
        let node = self.circuit.node(id).clone();
        match &node.op {
            Op::Constant(constant) => {
                let Some(size) = self.size(node.outputs[0]) else { return };
                if let Some(constant) = self.sized(constant, size, node.outputs[0], node.span) {
                    self.circuit.set_op(id, Op::Constant(constant), node.inputs);
                }
            }
            Op::Case(labels) => {
                let Some(size) = self.size(node.inputs[0]) else { return };
                let sized = labels.iter().map(|label| self.sized(label, size, node.inputs[0], node.span)).collect();
                if let Some(labels) = sized {
                    self.circuit.set_op(id, Op::Case(labels), node.inputs);
                }
            }
            Op::Extract { high, .. } => {
                let Some(size) = self.size(node.inputs[0]).filter(|size| high >= size) else { return };
                let message = format!("bit {high} of a word of {size} bits");
                self.diags.push(Diagnostic::error(message).at(node.span, "no such bit"));
            }
            _ => {}
        }
    }

    fn sized(&mut self, constant: &Constant, size: u32, of: ValueId, span: Span) -> Option<Constant> {
        let number = match constant {
            Constant::Word(_) => return Some(constant.clone()),
            Constant::Number(number) => *number,
        };
        let fits = size >= 128 || (number >= -(1 << (size - 1)) && number < 1 << size);
        if fits {
            return Some(Constant::Word(Bits::from_i128(number, size)));
        }
        let root = self.root(of);
        let message = format!("the number {number} does not fit {size} bits");
        let d = Diagnostic::error(message).at(span, "too large");
        self.diags.push(match self.known[root as usize] {
            Some((_, place)) if place != span => d.also(place, format!("{size} bits")),
            _ => d,
        });
        None
    }
}

/// Values of a node that have one size.
fn same(node: &Node) -> Vec<Vec<ValueId>> {
    let all = |inputs: &[ValueId]| vec![inputs.iter().chain(node.outputs.first()).copied().collect()];
    match node.op {
        Op::Add | Op::Sub | Op::Mul | Op::And | Op::Or | Op::Eqv | Op::Not => all(&node.inputs),
        Op::Merge | Op::LoopMerge(_) => all(&node.inputs),
        Op::IfYes | Op::IfNo => all(&node.inputs[1..]),
        Op::Compare(_) => vec![node.inputs.clone()],
        _ => Vec::new(),
    }
}

/// Inputs of a node whose size the operation gives; and the carry.
fn needs(circuit: &Circuit, node: &Node) -> Vec<(ValueId, u32)> {
    let address = |port| circuit.memory(port).map_or(1, Memory::address_width);
    match &node.op {
        Op::Add | Op::Sub => vec![(node.outputs[1], 1)],
        Op::IfYes | Op::IfNo => vec![(node.inputs[0], 1)],
        Op::Put(port) => vec![(node.inputs[1], circuit.port(*port).width)],
        Op::Fetch(port) => vec![(node.inputs[1], address(*port))],
        Op::Store(port) => vec![(node.inputs[1], address(*port)), (node.inputs[2], circuit.port(*port).width)],
        _ => Vec::new(),
    }
}
