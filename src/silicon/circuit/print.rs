//! A circuit as text, and as a Graphviz drawing.

use super::graph::{Circuit, Constant, DataKind, Node, Op, ValueId};
use shadewright_base::text::source::SourceMap;
use std::fmt::Write;

impl Circuit {
    /// The circuit as text, a node a line: `%4:16 sum, %5:1 = add %2, %3`. A number after `:` is a
    /// size, `?` one that is not known; tokens have none. With `sources`, each line ends with the
    /// place in the program.
    pub fn to_text(&self, sources: Option<&SourceMap>) -> String {
        let mut text = format!("circuit {}\n", self.name);
        for (i, port) in self.ports.iter().enumerate() {
            writeln!(text, "port {i} {port}").expect("writing to a string");
        }
        for (i, memory) in self.memories.iter().enumerate() {
            let kind = if memory.writable { "RAM" } else { "ROM" };
            let (name, words) = (&memory.name, memory.words.len());
            writeln!(text, "memory {i} {name}: {kind}({words}, {})", memory.width).expect("writing to a string");
        }
        for (_, node) in self.nodes() {
            let mut line = self.outputs(node);
            write!(line, " = {}", self.describe(node)).expect("writing to a string");
            for (i, input) in node.inputs.iter().enumerate() {
                write!(line, "{}%{}", if i == 0 { " " } else { ", " }, input.0).expect("writing to a string");
            }
            if let Some(sources) = sources {
                write!(line, "  -- {}", sources.describe(node.span)).expect("writing to a string");
            }
            text += &line;
            text += "\n";
        }
        text
    }

    fn outputs(&self, node: &Node) -> String {
        let outputs: Vec<String> = node.outputs.iter().map(|output| self.output(*output)).collect();
        outputs.join(", ")
    }

    fn output(&self, id: ValueId) -> String {
        let value = self.value(id);
        let size = match (value.kind, value.size) {
            (DataKind::Token, _) => String::new(),
            (DataKind::Word, Some(size)) => format!(":{size}"),
            (DataKind::Word, None) => ":?".to_string(),
        };
        let name = value.name.as_ref().map_or(String::new(), |name| format!(" {name}"));
        format!("%{}{size}{name}", id.0)
    }

    /// An operation with what belongs to it besides its inputs: `get a`, `extract[7:4]`.
    pub fn describe(&self, node: &Node) -> String {
        let name = node.op.name();
        let port = |id: &super::graph::PortId| self.ports.get(id.0 as usize).map_or("?", |port| &*port.name);
        match &node.op {
            Op::Constant(constant) => {
                let size = node.outputs.first().and_then(|output| self.value(*output).size);
                format!("{name} {}", show(constant, size))
            }
            Op::Extract { high, low } => format!("{name}[{high}:{low}]"),
            Op::LoopMerge(id) => format!("{name}({})", id.0),
            Op::Case(labels) => {
                let size = node.inputs.first().and_then(|input| self.value(*input).size);
                let labels: Vec<String> = labels.iter().map(|label| show(label, size)).collect();
                format!("{name}({})", labels.join(", "))
            }
            Op::Open(id) | Op::Get(id) | Op::Put(id) | Op::Ready(id) | Op::Waiting(id) => {
                format!("{name} {}", port(id))
            }
            Op::Fetch(id) | Op::Store(id) => format!("{name} {}", port(id)),
            Op::Wait(one, other) => format!("{name} {} {}", port(one), port(other)),
            Op::Delay(id, cycles) => format!("{name}({cycles}) {}", port(id)),
            Op::Print(text) => format!("{name} \"{text}\""),
            _ => name.to_string(),
        }
    }

    /// The circuit as a Graphviz drawing: `dot -Tsvg`. Empty tokens are dashed.
    pub fn to_dot(&self) -> String {
        let mut text = String::from("digraph circuit {\n  node [shape=box, fontname=\"monospace\"];\n");
        for (id, node) in self.nodes() {
            let shape = match node.op {
                Op::IfYes | Op::IfNo | Op::Merge | Op::LoopMerge(_) | Op::Case(_) => ", shape=ellipse",
                Op::Get(_) | Op::Put(_) | Op::Ready(_) | Op::Waiting(_) | Op::Open(_) => ", shape=cds",
                _ => "",
            };
            let label = self.describe(node).replace('\\', "\\\\").replace('"', "\\\"");
            writeln!(text, "  n{} [label=\"{label}\"{shape}];", id.0).expect("writing to a string");
        }
        for (id, node) in self.nodes() {
            for input in &node.inputs {
                let value = self.value(*input);
                let size = value.size.map_or(String::new(), |size| size.to_string());
                let label = match &value.name {
                    Some(name) => format!("{name}:{size}"),
                    None => size,
                };
                let style = if value.kind == DataKind::Token { ", style=dashed" } else { "" };
                let ends = format!("n{} -> n{}", value.node.0, id.0);
                writeln!(text, "  {ends} [label=\"{label}\"{style}];").expect("writing to a string");
            }
        }
        text + "}\n"
    }
}

/// A constant; a word as a signed number.
fn show(constant: &Constant, size: Option<u32>) -> String {
    match (constant, size) {
        (Constant::Number(number), _) => number.to_string(),
        (Constant::Word(bits), Some(size)) => bits.signed(size),
        (Constant::Word(bits), None) => bits.unsigned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::tests::running_sum;

    #[test]
    fn a_node_is_a_line_with_its_outputs_and_inputs() {
        let text = running_sum().to_text(None);
        let expected = "circuit running sum
port 0 i: asyncSerIn(16, 0)
port 1 o: asyncSerOut(16, 0)
%0 = reset
%1 = open i %0
%2 = open o %0
%3:16 = constant 0 %0
%4:16 sum = loopMerge(0) %3, %9
%5 = loopMerge(0) %1, %8
%6 = loopMerge(0) %2, %11
%7:16, %8 = get i %5
%9:16, %10:1 = add %4, %7
%11 = put o %6, %9
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_drawing_has_a_line_for_each_node_and_each_input() {
        let circuit = running_sum();
        let dot = circuit.to_dot();
        let inputs: usize = circuit.nodes().map(|(_, node)| node.inputs.len()).sum();
        assert_eq!(dot.matches(" -> ").count(), inputs);
        assert_eq!(dot.matches(" [label=").count(), inputs + circuit.nodes().len());
        assert_eq!(circuit.verify_sized(), Ok(()));
    }
}
