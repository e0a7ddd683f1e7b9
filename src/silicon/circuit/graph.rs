//! The dataflow graph of a circuit (Ullner 1983, C.9 to C.12).
//!
//! # What a graph means
//!
//! Nodes are operations, values are the arcs between them. A *token* flows along an arc: a word, or
//! an empty token that only says that something has happened ([`DataKind::Token`]). A node fires when
//! each input that it needs holds a token, takes them, and puts one token on each of its outputs.
//! An output with several users gives each its own copy. These operations differ:
//!
//! - [`Op::IfYes`] and [`Op::IfNo`] take both inputs, and give the second one on or drop it.
//! - [`Op::Merge`] takes a token from whichever input holds one; at most one branch sends one.
//! - [`Op::LoopMerge`] is the head of a loop. All heads of a loop fire together: all take their
//!   first input (the loop begins), or all take their second (it goes round).
//! - [`Op::Reset`] gives one empty token when the circuit starts. Everything else follows from it:
//!   a [`Op::Constant`] gives its word each time a token of any kind triggers it.
//! - [`Op::Undefined`] never gives a token. Folding removes it.
//!
//! # Ports
//!
//! A port is used in the order of the program. Each operation on it takes an empty token, the state
//! of the port, and gives it on when it is done. The chain starts at [`Op::Open`]. Ports of one
//! channel inside the circuit have a chain for each end.
//!
//! # Words
//!
//! Words are bits without a sign. `Add`, `Sub` and `Mul` give the low bits, which are the same for
//! signed and unsigned numbers. Comparisons take words as two's complement numbers. The size of a
//! value is unknown until sizes are inferred; [`Circuit::verify`] checks the rules of [`Op`].

use super::ports::Port;
use shadewright_base::bits::Bits;
use shadewright_base::text::source::Span;
use std::sync::Arc;

/// A node of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A value: one output of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// A port, or a port of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortId(pub u32);

/// A memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(pub u32);

/// A loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u32);

/// The most nodes of a circuit.
pub const MAX_NODES: usize = 1 << 20;

/// The kind of data that flows along an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataKind {
    /// Words.
    Word,
    /// Empty tokens: Reset, and the states of ports and memories.
    Token,
}

/// A comparison of two's complement numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `~=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// A number whose size is not known yet. It fits a size if it does as a signed or as an
    /// unsigned number.
    Number(i128),
    /// A word; the size is that of the value.
    Word(Bits),
}

/// An operation: inputs → outputs. Inputs are words of one size, and the word that comes out has
/// that size, unless the line says otherwise. "bit" is a word of size 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// → token, once.
    Reset,
    /// → anything, never.
    Undefined(DataKind),
    /// trigger (word or token) → word.
    Constant(Constant),
    /// a, b → sum, carry out (bit).
    Add,
    /// a, b → a − b, carry out of a + NOT b + 1 (bit).
    Sub,
    /// a, b → low half of the product.
    Mul,
    /// a, b → word.
    And,
    /// a, b → word.
    Or,
    /// a, b → word: ones where the bits are equal.
    Eqv,
    /// a → word.
    Not,
    /// a, b → bit.
    Compare(Comparison),
    /// word → bits `high` to `low` of it. The input has more than `high` bits.
    Extract {
        /// The highest bit.
        high: u32,
        /// The lowest bit.
        low: u32,
    },
    /// word of any size → its low bits, or the word with copies of its sign bit above, of the
    /// output's size.
    Resize,
    /// high, low, of any sizes → the bits of both; the sizes add up.
    Concat,
    /// condition (bit), value of any kind → the value, if the condition is 1.
    IfYes,
    /// condition (bit), value of any kind → the value, if the condition is 0.
    IfNo,
    /// two or more values of one kind and size → the one that is there.
    Merge,
    /// first, next, of one kind and size → the value of this iteration.
    LoopMerge(LoopId),
    /// selector → a bit for each label, in their order, and last a bit for no label. One of the
    /// bits is 1. Labels are different words of the selector's size, or numbers before sizes are
    /// inferred.
    Case(Vec<Constant>),
    /// token → token: the port, or memory port, begins.
    Open(PortId),
    /// token → word, token.
    Get(PortId),
    /// token, word → token.
    Put(PortId),
    /// token → bit, token: whether a word waits to be taken.
    Ready(PortId),
    /// token → bit, token: whether the other end waits for a word.
    Waiting(PortId),
    /// token of the first port, token of the second → both, when both are there.
    Wait(PortId, PortId),
    /// token → token, so many cycles later.
    Delay(PortId, u32),
    /// token, address → word, token. The address has [`Memory::address_width`] bits.
    Fetch(PortId),
    /// token, address, word → token.
    Store(PortId),
    /// token, word → token: a simulation prints the text and the word. Nothing else depends on it.
    Print(Arc<str>),
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// The inputs, in the order of [`Op`].
    pub inputs: Vec<ValueId>,
    /// The outputs, in the order of [`Op`].
    pub outputs: Vec<ValueId>,
    /// Where the program says so.
    pub span: Span,
}

/// A value.
#[derive(Clone, Debug)]
pub struct Value {
    /// The node that gives it.
    pub node: NodeId,
    /// Which output of the node it is.
    pub index: u32,
    /// The kind of data.
    pub kind: DataKind,
    /// Bits of the word, from 1 to [`shadewright_base::bits::MAX_WIDTH`], when they are known.
    pub size: Option<u32>,
    /// A variable that names it, for messages.
    pub name: Option<Arc<str>>,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Where it is.
    pub span: Span,
    /// The loop around it.
    pub parent: Option<LoopId>,
}

/// A memory, which one or two ports access.
#[derive(Clone, Debug)]
pub struct Memory {
    /// A variable that names it, for messages.
    pub name: Arc<str>,
    /// Bits of a word.
    pub width: u32,
    /// The words at the start; as many as the memory has.
    pub words: Vec<Bits>,
    /// True if it can be written.
    pub writable: bool,
}

impl Memory {
    /// Bits of an address: as many as the last one needs.
    pub fn address_width(&self) -> u32 {
        let last = self.words.len().max(2) - 1;
        usize::BITS - last.leading_zeros()
    }
}

/// A circuit. Ids are indices into its lists.
#[derive(Clone, Debug, Default)]
pub struct Circuit {
    /// The name of the circuit.
    pub name: String,
    nodes: Vec<Node>,
    values: Vec<Value>,
    /// Ports, in the order of their creation.
    pub ports: Vec<Port>,
    /// Memories.
    pub memories: Vec<Memory>,
    /// Loops, outer ones first.
    pub loops: Vec<Loop>,
}

impl Circuit {
    /// An empty circuit.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// All nodes with their ids, in the order of their creation.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = (NodeId, &Node)> + ExactSizeIterator {
        self.nodes.iter().enumerate().map(|(i, node)| (NodeId(i as u32), node))
    }

    /// All values with their ids.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = (ValueId, &Value)> + ExactSizeIterator {
        self.values.iter().enumerate().map(|(i, value)| (ValueId(i as u32), value))
    }

    /// A node. The id is of this circuit.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// A value. The id is of this circuit.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.0 as usize]
    }

    /// The node that gives a value.
    pub fn source(&self, id: ValueId) -> &Node {
        self.node(self.value(id).node)
    }

    /// A port. The id is of this circuit.
    pub fn port(&self, id: PortId) -> &Port {
        &self.ports[id.0 as usize]
    }

    /// The memory that a port accesses, if it does.
    pub fn memory(&self, id: PortId) -> Option<&Memory> {
        match self.port(id).kind {
            super::ports::PortKind::Memory(memory) => self.memories.get(memory.0 as usize),
            _ => None,
        }
    }

    /// Adds a port.
    pub fn add_port(&mut self, port: Port) -> PortId {
        self.ports.push(port);
        PortId(self.ports.len() as u32 - 1)
    }

    /// Adds a memory.
    pub fn add_memory(&mut self, memory: Memory) -> MemoryId {
        self.memories.push(memory);
        MemoryId(self.memories.len() as u32 - 1)
    }

    /// Adds a loop.
    pub fn add_loop(&mut self, span: Span, parent: Option<LoopId>) -> LoopId {
        self.loops.push(Loop { span, parent });
        LoopId(self.loops.len() as u32 - 1)
    }

    /// Adds a node with as many outputs as `op` has. Sizes that `op` fixes are set; others are not
    /// known. `Constant(Word)`, `Resize` and `Undefined` get their size with [`Circuit::set_size`].
    /// The head of a loop is added with its first value; the second is its own output until
    /// [`Circuit::set_input`] gives another.
    pub fn add(&mut self, op: Op, inputs: &[ValueId], span: Span) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        let kind = inputs.last().map_or(DataKind::Token, |input| self.value(*input).kind);
        let outputs: Vec<ValueId> = op
            .results(self, kind)
            .into_iter()
            .enumerate()
            .map(|(index, (kind, size))| {
                self.values.push(Value { node: id, index: index as u32, kind, size, name: None });
                ValueId(self.values.len() as u32 - 1)
            })
            .collect();
        let mut inputs = inputs.to_vec();
        if let (Op::LoopMerge(_), [_], [output]) = (&op, &inputs[..], &outputs[..]) {
            inputs.push(*output);
        }
        self.nodes.push(Node { op, inputs, outputs, span });
        id
    }

    /// As [`Circuit::add`]: the first output.
    pub fn add_value(&mut self, op: Op, inputs: &[ValueId], span: Span) -> ValueId {
        let node = self.add(op, inputs, span);
        self.node(node).outputs[0]
    }

    /// Replaces one input of a node.
    pub fn set_input(&mut self, node: NodeId, index: usize, value: ValueId) {
        self.nodes[node.0 as usize].inputs[index] = value;
    }

    /// Replaces the operation of a node, and its inputs. The outputs stay as they are, so the new
    /// operation has as many.
    pub fn set_op(&mut self, node: NodeId, op: Op, inputs: Vec<ValueId>) {
        let node = &mut self.nodes[node.0 as usize];
        node.op = op;
        node.inputs = inputs;
    }

    /// Sets the size of a value.
    pub fn set_size(&mut self, value: ValueId, size: u32) {
        self.values[value.0 as usize].size = Some(size);
    }

    /// Names a value, unless it has a name.
    pub fn set_name(&mut self, value: ValueId, name: &Arc<str>) {
        self.values[value.0 as usize].name.get_or_insert_with(|| name.clone());
    }

    /// For each value, the inputs that it feeds: nodes in order, with the index of the input.
    pub fn users(&self) -> Vec<Vec<(NodeId, usize)>> {
        let mut users = vec![Vec::new(); self.values.len()];
        for (id, node) in self.nodes() {
            for (index, input) in node.inputs.iter().enumerate() {
                users[input.0 as usize].push((id, index));
            }
        }
        users
    }

    /// Keeps the nodes for which `keep` holds, with the loops that have heads and the loops around
    /// them; ports and memories stay. Ids of nodes, values and loops change, their order does not.
    /// No kept node has an input from a node that goes.
    pub fn retain(&mut self, keep: impl Fn(NodeId, &Node) -> bool) {
        let kept: Vec<bool> = self.nodes().map(|(id, node)| keep(id, node)).collect();
        let loops = self.retain_loops(&kept);
        let old = std::mem::take(&mut self.nodes);
        let old_values = std::mem::take(&mut self.values);
        let mut renamed = vec![None; old_values.len()];
        let mut nodes = Vec::new();
        for (mut node, _) in old.into_iter().zip(&kept).filter(|(_, kept)| **kept) {
            for output in &mut node.outputs {
                let id = ValueId(self.values.len() as u32);
                let value = old_values[output.0 as usize].clone();
                self.values.push(Value { node: NodeId(nodes.len() as u32), ..value });
                renamed[output.0 as usize] = Some(id);
                *output = id;
            }
            if let Op::LoopMerge(id) = &mut node.op {
                *id = loops[id.0 as usize].unwrap_or(*id);
            }
            nodes.push(node);
        }
        for input in nodes.iter_mut().flat_map(|node| &mut node.inputs) {
            debug_assert!(renamed[input.0 as usize].is_some(), "a kept node uses a value that goes");
            *input = renamed[input.0 as usize].unwrap_or(*input);
        }
        self.nodes = nodes;
    }

    /// Keeps the loops with heads among the kept nodes, and those around them; the new ids.
    fn retain_loops(&mut self, kept: &[bool]) -> Vec<Option<LoopId>> {
        let mut used = vec![false; self.loops.len()];
        for (node, _) in self.nodes.iter().zip(kept).filter(|(_, kept)| **kept) {
            let mut next = if let Op::LoopMerge(id) = node.op { Some(id) } else { None };
            while let Some(id) = next.filter(|id| !std::mem::replace(&mut used[id.0 as usize], true)) {
                next = self.loops[id.0 as usize].parent;
            }
        }
        let mut renamed = vec![None; used.len()];
        let old = std::mem::take(&mut self.loops);
        for (i, of) in old.into_iter().enumerate().filter(|(i, _)| used[*i]) {
            renamed[i] = Some(LoopId(self.loops.len() as u32));
            let parent = of.parent.and_then(|parent| renamed[parent.0 as usize]);
            self.loops.push(Loop { parent, ..of });
        }
        renamed
    }
}

impl Op {
    /// The outputs: kinds, and sizes that are known without those of the inputs. `kind` is that of
    /// the last input.
    fn results(&self, circuit: &Circuit, kind: DataKind) -> Vec<(DataKind, Option<u32>)> {
        let (word, bit, token) = ((DataKind::Word, None), (DataKind::Word, Some(1)), (DataKind::Token, None));
        match self {
            Self::Reset | Self::Open(_) | Self::Put(_) | Self::Delay(..) | Self::Store(_) | Self::Print(_) => {
                vec![token]
            }
            Self::Undefined(kind) => vec![(*kind, None)],
            Self::Constant(_) | Self::Mul | Self::And | Self::Or | Self::Eqv | Self::Not => vec![word],
            Self::Resize | Self::Concat => vec![word],
            Self::Add | Self::Sub => vec![word, bit],
            Self::Compare(_) => vec![bit],
            Self::Extract { high, low } => vec![(DataKind::Word, Some(high - low + 1))],
            Self::IfYes | Self::IfNo | Self::Merge | Self::LoopMerge(_) => vec![(kind, None)],
            Self::Case(labels) => vec![bit; labels.len() + 1],
            Self::Get(port) | Self::Fetch(port) => vec![(DataKind::Word, Some(circuit.port(*port).width)), token],
            Self::Ready(_) | Self::Waiting(_) => vec![bit, token],
            Self::Wait(..) => vec![token, token],
        }
    }

    /// The name in the circuit's text.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Undefined(_) => "undefined",
            Self::Constant(_) => "constant",
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::And => "and",
            Self::Or => "or",
            Self::Eqv => "eqv",
            Self::Not => "not",
            Self::Compare(Comparison::Equal) => "equal",
            Self::Compare(Comparison::NotEqual) => "notEqual",
            Self::Compare(Comparison::Less) => "less",
            Self::Compare(Comparison::LessEqual) => "lessEqual",
            Self::Compare(Comparison::Greater) => "greater",
            Self::Compare(Comparison::GreaterEqual) => "greaterEqual",
            Self::Extract { .. } => "extract",
            Self::Resize => "resize",
            Self::Concat => "concat",
            Self::IfYes => "ifYes",
            Self::IfNo => "ifNo",
            Self::Merge => "merge",
            Self::LoopMerge(_) => "loopMerge",
            Self::Case(_) => "case",
            Self::Open(_) => "open",
            Self::Get(_) => "get",
            Self::Put(_) => "put",
            Self::Ready(_) => "ready",
            Self::Waiting(_) => "waiting",
            Self::Wait(..) => "wait",
            Self::Delay(..) => "delay",
            Self::Fetch(_) => "fetch",
            Self::Store(_) => "store",
            Self::Print(_) => "print",
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::circuit::ports::PortKind;

    /// `i:= asyncSerIn(16,0); o:= asyncSerOut(16,0); sum:= 0; DO { sum:= sum + i.get; o.put(sum) }`
    pub(crate) fn running_sum() -> Circuit {
        let at = Span::default();
        let mut c = Circuit::new("running sum");
        let port = |name: &str, kind| Port { name: name.into(), kind, width: 16, span: at };
        let i = c.add_port(port("i", PortKind::AsyncSerIn { buffer: 0 }));
        let o = c.add_port(port("o", PortKind::AsyncSerOut { buffer: 0 }));
        let reset = c.add_value(Op::Reset, &[], at);
        let opened = [i, o].map(|port| c.add_value(Op::Open(port), &[reset], at));
        let zero = c.add_value(Op::Constant(Constant::Word(Bits::zero(16))), &[reset], at);
        c.set_size(zero, 16);
        let round = c.add_loop(at, None);
        let heads = [zero, opened[0], opened[1]].map(|first| c.add(Op::LoopMerge(round), &[first], at));
        let [sum, input, output] = heads.map(|head| c.node(head).outputs[0]);
        c.set_size(sum, 16);
        c.set_name(sum, &"sum".into());
        let get = c.add(Op::Get(i), &[input], at);
        let [word, input] = [0, 1].map(|index| c.node(get).outputs[index]);
        let total = c.add_value(Op::Add, &[sum, word], at);
        c.set_size(total, 16);
        let output = c.add_value(Op::Put(o), &[output, total], at);
        for (head, next) in heads.into_iter().zip([total, input, output]) {
            c.set_input(head, 1, next);
        }
        c
    }

    #[test]
    fn values_know_their_nodes_and_users_theirs() {
        let c = running_sum();
        let sum = c.values().find(|(_, value)| value.name.is_some()).expect("named").0;
        assert!(matches!(c.source(sum).op, Op::LoopMerge(LoopId(0))));
        let users = c.users();
        let [(adder, 0)] = users[sum.0 as usize][..] else { panic!("{users:?}") };
        let carry = c.node(adder).outputs[1];
        assert_eq!((c.value(carry).size, users[carry.0 as usize].len()), (Some(1), 0));
    }

    #[test]
    fn nodes_that_go_leave_the_rest_connected() {
        let mut c = running_sum();
        let at = Span::default();
        let spare = c.add_loop(at, None);
        let (reset, _) = c.values().next().expect("a value");
        c.add(Op::LoopMerge(spare), &[reset], at);
        let before = running_sum();
        c.retain(|_, node| !matches!(node.op, Op::LoopMerge(LoopId(1))));
        assert_eq!((c.loops.len(), c.nodes().len()), (1, before.nodes().len()));
        assert!(c.nodes().zip(before.nodes()).all(|((_, a), (_, b))| a.inputs == b.inputs && a.op == b.op));
    }
}
