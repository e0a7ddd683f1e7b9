//! Checks that a circuit keeps the rules of [`super::graph::Op`].

use super::graph::{Circuit, Constant, DataKind, Node, NodeId, Op, ValueId};
use super::ports::PortKind;
use shadewright_base::bits::MAX_WIDTH;

impl Circuit {
    /// Checks kinds and numbers of inputs and outputs, ports, loops, and those sizes that are known.
    ///
    /// # Errors
    /// The first rule that is broken, with the node.
    pub fn verify(&self) -> Result<(), String> {
        for (id, node) in self.nodes() {
            self.check(id, node).map_err(|what| format!("node {} ({}): {what}", id.0, node.op.name()))?;
        }
        Ok(())
    }

    /// As [`Circuit::verify`], and all sizes are known.
    ///
    /// # Errors
    /// The first rule that is broken, or the first word whose size is not known.
    pub fn verify_sized(&self) -> Result<(), String> {
        self.verify()?;
        match self.values().find(|(_, value)| value.kind == DataKind::Word && value.size.is_none()) {
            Some((id, _)) => Err(format!("value {} has no size", id.0)),
            None => Ok(()),
        }
    }

    fn check(&self, id: NodeId, node: &Node) -> Result<(), String> {
        let count = self.values().len();
        if node.inputs.iter().chain(&node.outputs).any(|value| value.0 as usize >= count) {
            return Err("a value that there is not".into());
        }
        let outputs = node.outputs.iter().enumerate();
        for (index, value) in outputs.map(|(index, output)| (index, self.value(*output))) {
            if (value.node, value.index as usize) != (id, index) {
                return Err("an output belongs to another node".into());
            }
            if value.size.is_some_and(|size| size == 0 || size > MAX_WIDTH || value.kind == DataKind::Token) {
                return Err("an output has no possible size".into());
            }
        }
        self.check_kinds(node)?;
        self.check_ports(node)?;
        self.check_sizes(node)
    }

    fn check_kinds(&self, node: &Node) -> Result<(), String> {
        use DataKind::{Token, Word};
        let kinds: Vec<DataKind> = node.inputs.iter().map(|value| self.value(*value).kind).collect();
        let right = match (&node.op, &kinds[..]) {
            (Op::Reset | Op::Undefined(_), []) | (Op::Constant(_), [_]) => true,
            (Op::Add | Op::Sub | Op::Mul | Op::And | Op::Or | Op::Eqv | Op::Compare(_) | Op::Concat, kinds) => {
                kinds == [Word, Word]
            }
            (Op::Not | Op::Extract { .. } | Op::Resize | Op::Case(_), kinds) => kinds == [Word],
            (Op::IfYes | Op::IfNo, kinds) => matches!(kinds, [Word, _]),
            (Op::Merge, [first, _, ..]) => kinds.iter().all(|kind| kind == first),
            (Op::LoopMerge(id), [first, next]) => first == next && (id.0 as usize) < self.loops.len(),
            (Op::Wait(..), kinds) => kinds == [Token, Token],
            (Op::Put(_) | Op::Fetch(_) | Op::Print(_), kinds) => kinds == [Token, Word],
            (Op::Store(_), kinds) => kinds == [Token, Word, Word],
            (Op::Open(_) | Op::Get(_) | Op::Ready(_) | Op::Waiting(_) | Op::Delay(..), kinds) => kinds == [Token],
            _ => false,
        };
        if right { Ok(()) } else { Err(format!("inputs {kinds:?}")) }
    }

    fn check_ports(&self, node: &Node) -> Result<(), String> {
        let port = |id: &super::graph::PortId, has: fn(PortKind) -> bool| match self.ports.get(id.0 as usize) {
            Some(port) if has(port.kind) => Ok(()),
            Some(port) => Err(format!("no operation of port {}", port.name)),
            None => Err("a port that there is not".to_string()),
        };
        match &node.op {
            Op::Get(id) => port(id, PortKind::has_get),
            Op::Put(id) => port(id, PortKind::has_put),
            Op::Ready(id) => port(id, PortKind::has_ready),
            Op::Waiting(id) => port(id, PortKind::has_waiting),
            Op::Fetch(id) | Op::Store(id) => port(id, |kind| matches!(kind, PortKind::Memory(_))),
            Op::Open(id) | Op::Delay(id, _) => port(id, |_| true),
            Op::Wait(one, other) => port(one, |_| true).and(port(other, |_| true)),
            _ => Ok(()),
        }
    }

    fn check_sizes(&self, node: &Node) -> Result<(), String> {
        let input = |i: usize| node.inputs.get(i).and_then(|value| self.value(*value).size);
        let size = |value: &ValueId| self.value(*value).size;
        let output = node.outputs.first().and_then(size);
        let same = |sizes: &[Option<u32>]| {
            let mut known = sizes.iter().flatten();
            known.next().is_none_or(|first| known.all(|size| size == first))
        };
        let width = |port: &super::graph::PortId| Some(self.port(*port).width);
        let address = |port| self.memory(port).map(super::graph::Memory::address_width);
        let right = match &node.op {
            Op::Add | Op::Sub | Op::Mul | Op::And | Op::Or | Op::Eqv => same(&[input(0), input(1), output]),
            Op::Not => same(&[input(0), output]),
            Op::Compare(_) => same(&[input(0), input(1)]),
            Op::IfYes | Op::IfNo => same(&[input(0), Some(1)]) && same(&[input(1), output]),
            Op::Merge | Op::LoopMerge(_) => {
                let mut all: Vec<Option<u32>> = node.inputs.iter().map(size).collect();
                all.push(output);
                same(&all)
            }
            Op::Extract { high, low } => {
                input(0).is_none_or(|size| size > *high) && same(&[output, Some(high - low + 1)])
            }
            Op::Concat => match (input(0), input(1), output) {
                (Some(high), Some(low), Some(output)) => high + low == output,
                _ => true,
            },
            Op::Put(port) => same(&[input(1), width(port)]),
            Op::Get(port) => same(&[output, width(port)]),
            Op::Fetch(port) => same(&[input(1), address(*port)]) && same(&[output, width(port)]),
            Op::Store(port) => same(&[input(1), address(*port)]) && same(&[input(2), width(port)]),
            Op::Constant(Constant::Word(_)) => output.is_some(),
            _ => true,
        };
        if right { Ok(()) } else { Err("sizes do not agree".into()) }
    }
}
