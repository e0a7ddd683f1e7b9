//! The instances of cells in the top module: modules, parameters and connections.

use super::{port_names, side_pins};
use crate::circuit::serial::cells::{CellKind, Gate, Relation, Side, Sum};
use crate::circuit::serial::netlist::{Cell, Net, Netlist};
use shadewright_base::bits::Bits;
use std::fmt;

/// An instance of a module.
pub(super) struct Instance {
    /// The module.
    pub module: &'static str,
    name: String,
    parameters: Vec<(&'static str, String)>,
    connections: Vec<(String, String)>,
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "    {} ", self.module)?;
        if !self.parameters.is_empty() {
            let parameters: Vec<String> =
                self.parameters.iter().map(|(name, value)| format!(".{name}({value})")).collect();
            write!(f, "#({}) ", parameters.join(", "))?;
        }
        let connections: Vec<String> = self.connections.iter().map(|(name, wire)| format!(".{name}({wire})")).collect();
        write!(f, "{} (.clk(clk), .rst(rst), {});", self.name, connections.join(", "))
    }
}

impl Instance {
    fn connect(&mut self, pin: impl Into<String>, wire: String) {
        self.connections.push((pin.into(), wire));
    }
}

/// All instances of a netlist.
pub(super) fn instances(netlist: &Netlist) -> Vec<Instance> {
    netlist.cells.iter().enumerate().map(|(index, cell)| instance(netlist, index, cell)).collect()
}

/// The data wire of a net, low if there is none.
fn data(netlist: &Netlist, net: Net) -> String {
    if netlist.width(net) > 0 { format!("n{}_d", net.0) } else { "1'b0".into() }
}

fn control(net: Net) -> String {
    format!("n{}_c", net.0)
}

/// One wire that is high if one of these is.
fn any(wires: Vec<String>) -> String {
    if wires.is_empty() { "1'b0".into() } else { wires.join(" | ") }
}

/// Wires as a vector, the first at bit 0.
fn vector(wires: Vec<String>) -> String {
    let reversed: Vec<String> = wires.into_iter().rev().collect();
    format!("{{{}}}", reversed.join(", "))
}

/// A constant.
fn constant(value: &Bits, width: u32) -> String {
    format!("{width}'h{}", value.hexadecimal())
}

/// Words as one constant, the first at the low end.
fn constants(words: &[Bits], width: u32) -> String {
    vector(words.iter().map(|word| constant(word, width)).collect())
}

fn instance(netlist: &Netlist, index: usize, cell: &Cell) -> Instance {
    let mut instance = Instance {
        module: module(&cell.kind),
        name: format!("c{index}"),
        parameters: parameters(&cell.kind, cell),
        connections: Vec::new(),
    };
    match &cell.kind {
        CellKind::Merge => {
            instance.connect("a_d", vector(cell.inputs.iter().map(|net| data(netlist, *net)).collect()));
            instance.connect("a_c", vector(cell.inputs.iter().map(|net| control(*net)).collect()));
        }
        CellKind::LastOf { members } => {
            let (members, busy) = cell.inputs.split_at(*members as usize);
            instance.connect("a_c", vector(members.iter().map(|net| control(*net)).collect()));
            let busy: Vec<String> = busy.iter().map(|net| control(*net)).collect();
            instance.connect("busy_c", if busy.is_empty() { "1'b0".into() } else { vector(busy) });
        }
        CellKind::Port { .. } => return port(netlist, index, cell, instance),
        CellKind::Memory { ports, .. } => return memory(netlist, cell, ports, instance),
        kind => {
            for (input, (net, pin)) in cell.inputs.iter().zip(["a", "b"]).enumerate() {
                if kind.takes_data(input) {
                    instance.connect(format!("{pin}_d"), data(netlist, *net));
                }
                instance.connect(format!("{pin}_c"), control(*net));
            }
        }
    }
    if let CellKind::Decode { .. } = cell.kind {
        instance.connect("y_d", vector(cell.outputs.iter().map(|net| data(netlist, *net)).collect()));
        instance.connect("y_c", vector(cell.outputs.iter().map(|net| control(*net)).collect()));
        return instance;
    }
    for (net, pin) in cell.outputs.iter().zip(outputs(&cell.kind)) {
        if netlist.width(*net) > 0 {
            instance.connect(format!("{pin}_d"), data(netlist, *net));
        }
        instance.connect(format!("{pin}_c"), control(*net));
    }
    instance
}

/// The names of a cell's outputs.
fn outputs(kind: &CellKind) -> &'static [&'static str] {
    match kind {
        CellKind::Sum { .. } => &["y", "carry"],
        CellKind::Hold { .. } => &["y", "ready"],
        CellKind::Get => &["y", "next", "request"],
        CellKind::Fetch => &["y", "next", "address"],
        CellKind::Store => &["address", "y", "next"],
        CellKind::Put | CellKind::Send | CellKind::Probe => &["y", "next"],
        _ => &["y"],
    }
}

fn module(kind: &CellKind) -> &'static str {
    match kind {
        CellKind::Start => "cell_start",
        CellKind::Constant { .. } => "cell_constant",
        CellKind::Along(pattern) => match pattern {
            crate::circuit::serial::cells::Pattern::Zero => "cell_zero",
            crate::circuit::serial::cells::Pattern::One => "cell_one",
            crate::circuit::serial::cells::Pattern::Ones => "cell_ones",
        },
        CellKind::Sum { .. } => "cell_sum",
        CellKind::Not => "cell_not",
        CellKind::Gate(_) => "cell_gate",
        CellKind::Multiply { .. } => "cell_multiply",
        CellKind::Compare { .. } => "cell_compare",
        CellKind::Slice { .. } => "cell_slice",
        CellKind::Concatenate => "cell_concatenate",
        CellKind::Extend { .. } => "cell_extend",
        CellKind::Switch { .. } => "cell_switch",
        CellKind::Merge => "cell_merge",
        CellKind::Decode { .. } => "cell_case",
        CellKind::Shift { .. } => "cell_shift",
        CellKind::Hold { .. } => "cell_hold",
        CellKind::LastOf { .. } => "cell_last_of",
        CellKind::Pending => "cell_pending",
        CellKind::Get => "cell_get",
        CellKind::Fetch => "cell_fetch",
        CellKind::Store => "cell_store",
        CellKind::Put => "cell_put",
        CellKind::Send => "cell_send",
        CellKind::Probe => "cell_probe",
        CellKind::Memory { .. } => "cell_memory",
        CellKind::Port { side, .. } => match side {
            Side::Internal | Side::SerialOut => "cell_port",
            Side::SerialIn | Side::SyncIn => "cell_serial_in",
            Side::SyncOut => "cell_sync_out",
            Side::Parallel => "cell_parallel",
        },
    }
}

fn parameters(kind: &CellKind, cell: &Cell) -> Vec<(&'static str, String)> {
    match kind {
        CellKind::Constant { value, width } => vec![("W", width.to_string()), ("VALUE", constant(value, *width))],
        CellKind::Sum { sum, .. } => vec![("SUBTRACT", u32::from(*sum == Sum::Subtract).to_string())],
        CellKind::Gate(gate) => {
            let table = match gate {
                Gate::And => "4'b1000",
                Gate::Or => "4'b1110",
                Gate::Xor => "4'b0110",
                Gate::Xnor => "4'b1001",
            };
            vec![("TABLE", table.into())]
        }
        CellKind::Multiply { width } | CellKind::Hold { width } => vec![("W", width.to_string())],
        CellKind::Compare { relation } => {
            let relation = match relation {
                Relation::Equal => "3'b001",
                Relation::NotEqual => "3'b101",
                Relation::Less => "3'b010",
                Relation::LessEqual => "3'b011",
                Relation::Greater => "3'b111",
                Relation::GreaterEqual => "3'b110",
            };
            vec![("RELATION", relation.into())]
        }
        CellKind::Slice { low, high } => vec![("LOW", low.to_string()), ("HIGH", high.to_string())],
        CellKind::Extend { by, signed } => vec![("BY", by.to_string()), ("SIGNED", u32::from(*signed).to_string())],
        CellKind::Switch { pass } => vec![("PASS", u32::from(*pass).to_string())],
        CellKind::Merge => vec![("N", cell.inputs.len().to_string())],
        CellKind::Decode { width, labels } => {
            vec![("W", width.to_string()), ("N", labels.len().to_string()), ("LABELS", constants(labels, *width))]
        }
        CellKind::Shift { length } => vec![("L", length.to_string())],
        CellKind::LastOf { members } => {
            let busy = cell.inputs.len() - *members as usize;
            vec![("N", members.to_string()), ("B", busy.max(1).to_string())]
        }
        CellKind::Port { side: side @ (Side::Internal | Side::SerialOut), width, buffer, .. } => vec![
            ("W", width.to_string()),
            ("BUFFER", buffer.to_string()),
            ("OUTSIDE", u32::from(*side == Side::SerialOut).to_string()),
        ],
        CellKind::Port { side: Side::Parallel, width, .. } => vec![("W", width.to_string())],
        CellKind::Memory { width, words, address, ports } => vec![
            ("W", width.to_string()),
            ("A", address.to_string()),
            ("N", words.len().to_string()),
            ("P", ports.len().to_string()),
            ("START", constants(words, *width)),
        ],
        _ => Vec::new(),
    }
}

/// The connections of a port, and its pads.
fn port(netlist: &Netlist, index: usize, cell: &Cell, mut instance: Instance) -> Instance {
    let CellKind::Port { side, puts, .. } = cell.kind else { return instance };
    let (puts, gets) = cell.inputs.split_at(puts as usize);
    if !matches!(side, Side::SerialIn | Side::SyncIn) {
        instance.connect("put_d", any(puts.iter().map(|net| data(netlist, *net)).collect()));
        instance.connect("put_c", any(puts.iter().map(|net| control(*net)).collect()));
    }
    if side != Side::SyncOut {
        instance.connect("request_c", any(gets.iter().map(|net| control(*net)).collect()));
    }
    let outputs: &[(usize, &str)] = match side {
        Side::Internal | Side::SerialOut => &[(0, "y"), (1, "done"), (2, "available"), (3, "wanted")],
        Side::SerialIn | Side::SyncIn => &[(0, "y"), (2, "available")],
        Side::SyncOut => &[],
        Side::Parallel => &[(0, "y"), (1, "done"), (2, "available")],
    };
    for &(output, pin) in outputs {
        let net = cell.outputs[output];
        if netlist.width(net) > 0 {
            instance.connect(format!("{pin}_d"), data(netlist, net));
        }
        instance.connect(format!("{pin}_c"), control(net));
    }
    if side == Side::Internal {
        instance.connect("pad_want", "1'b0".into());
    }
    let names = port_names(netlist);
    let position = netlist.pads.iter().position(|pads| pads.cell as usize == index);
    if let Some(name) = position.and_then(|position| names.get(position)) {
        for (suffix, ..) in side_pins(side) {
            instance.connect(format!("pad_{suffix}"), format!("{name}_{suffix}"));
        }
    }
    instance
}

/// The connections of a memory: for each port, what any of its operations gives.
fn memory(netlist: &Netlist, cell: &Cell, ports: &[(u32, u32)], mut instance: Instance) -> Instance {
    let mut inputs = cell.inputs.as_slice();
    let mut fetches = Vec::new();
    let mut addresses = Vec::new();
    let mut words = Vec::new();
    for &(fetch, store) in ports {
        let (from, rest) = inputs.split_at(fetch as usize);
        let (to, rest) = rest.split_at(2 * store as usize);
        inputs = rest;
        fetches.push(from.to_vec());
        addresses.push(to.iter().copied().step_by(2).collect());
        words.push(to.iter().copied().skip(1).step_by(2).collect());
    }
    for (pin, nets) in [("fetch", fetches), ("store", addresses), ("word", words)] {
        let nets: Vec<Vec<Net>> = nets;
        let wires = |wire: &dyn Fn(Net) -> String| {
            vector(nets.iter().map(|nets| any(nets.iter().map(|net| wire(*net)).collect())).collect())
        };
        instance.connect(format!("{pin}_d"), wires(&|net| data(netlist, net)));
        instance.connect(format!("{pin}_c"), wires(&control));
    }
    instance.connect("y_d", vector(cell.outputs.iter().map(|net| data(netlist, *net)).collect()));
    instance.connect("y_c", vector(cell.outputs.iter().map(|net| control(*net)).collect()));
    instance
}
