//! Numbers about a netlist, for reports.

use super::cells::CellKind;
use super::netlist::Netlist;
use super::simulate::Run;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The clock of Lyon's serial devices, in MHz (Ullner 1983, §3.3.3).
pub const CLOCK_MHZ: f64 = 12.0;

/// Numbers about a netlist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Cells of each kind, by its name.
    pub cells: BTreeMap<&'static str, usize>,
    /// Bits of storage in all cells.
    pub registers: u64,
    /// Wires: two for a word, one for a control wire alone.
    pub wires: usize,
}

/// The numbers of a netlist.
pub fn statistics(netlist: &Netlist) -> Statistics {
    let mut statistics = Statistics::default();
    for cell in &netlist.cells {
        *statistics.cells.entry(cell.kind.name()).or_default() += 1;
        statistics.registers += registers(&cell.kind);
    }
    let readers = netlist.readers();
    let used = netlist.nets.iter().zip(&readers).filter(|(_, readers)| !readers.is_empty());
    statistics.wires = used.map(|(net, _)| if net.width > 0 { 2 } else { 1 }).sum();
    statistics
}

/// Bits of storage of a cell, as in its Verilog module.
pub fn registers(kind: &CellKind) -> u64 {
    let wide = u64::from;
    match kind {
        CellKind::Start
        | CellKind::Not
        | CellKind::Gate(_)
        | CellKind::Concatenate
        | CellKind::Merge
        | CellKind::Along(_)
        | CellKind::Probe => 2,
        CellKind::Constant { width, .. } => 2 * wide(*width) + 3,
        CellKind::Sum { carry, .. } => 3 + 2 * u64::from(*carry),
        CellKind::Multiply { width } => 4 * wide(*width) + 2,
        CellKind::Compare { .. } => 6,
        CellKind::Slice { high, .. } => wide(*high) + 3,
        CellKind::Extend { by, .. } => wide(*by) + 4,
        CellKind::Switch { .. } => 4,
        CellKind::Send => 3,
        CellKind::Decode { width, labels } => wide(*width) + labels.len() as u64 + 3,
        CellKind::Shift { length } => 2 * wide(*length),
        CellKind::Hold { width } => 2 * wide(*width) + 3,
        CellKind::LastOf { .. } => 1,
        CellKind::Pending => 2,
        CellKind::Get => 5,
        CellKind::Fetch => 6,
        CellKind::Put | CellKind::Store => 5,
        CellKind::Memory { width, words, address, ports } => {
            wide(*width) * words.len() as u64 + ports.len() as u64 * (4 * wide(*width) + 4 * wide(*address) + 2)
        }
        CellKind::Port { width, buffer, .. } => wide(*width) * (4 + wide(*buffer)) + 4,
    }
}

/// How fast a port's words leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    /// The cycle in which the first word has left.
    pub first: u64,
    /// Cycles between two words, on average; none if there is one word.
    pub between: Option<f64>,
}

impl Throughput {
    /// Microseconds of a number of cycles.
    pub fn microseconds(cycles: f64) -> f64 {
        cycles / CLOCK_MHZ
    }
}

/// How fast the words of each port left; ports without words are not there.
pub fn throughput(run: &Run) -> BTreeMap<String, Throughput> {
    let ports = run.left.iter().filter_map(|(name, words)| {
        let (first, last) = (words.first()?.0, words.last()?.0);
        let between = (words.len() > 1).then(|| (last - first) as f64 / (words.len() - 1) as f64);
        Some((name.to_string(), Throughput { first, between }))
    });
    ports.collect()
}

/// The numbers of a netlist, and of a simulation of it, as text.
pub fn report(netlist: &Netlist, run: Option<&Run>) -> String {
    let all = statistics(netlist);
    let used = run.map(|run| utilization(netlist, run)).unwrap_or_default();
    let mut text = format!("{} cells, {} bits of storage, {} wires\n", netlist.cells.len(), all.registers, all.wires);
    for (name, count) in &all.cells {
        let _ = write!(text, "{name:16}{count:8}");
        if let Some(part) = used.get(name) {
            let _ = write!(text, "{:8.1} % of cycles", 100.0 * part);
        }
        text.push('\n');
    }
    let Some(run) = run else { return text };
    let time =
        |cycles: f64| format!("{cycles:.1} cycles, {:.2} µs at {CLOCK_MHZ} MHz", Throughput::microseconds(cycles));
    let _ = match run.cycles {
        0 => writeln!(text, "no word has passed"),
        cycles => writeln!(text, "{}", time(cycles as f64)),
    };
    for (port, throughput) in throughput(run) {
        let _ = writeln!(text, "{port}: first word after {}", time(throughput.first as f64));
        if let Some(between) = throughput.between {
            let _ = writeln!(text, "{port}: a word in {}", time(between));
        }
    }
    text
}

/// The part of the cycles in which the cells of each kind gave a bit.
pub fn utilization(netlist: &Netlist, run: &Run) -> BTreeMap<&'static str, f64> {
    let mut sums: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
    for (cell, active) in netlist.cells.iter().zip(&run.active) {
        let sum = sums.entry(cell.kind.name()).or_default();
        *sum = (sum.0 + active, sum.1 + 1);
    }
    let all = run.simulated.max(1) as f64;
    sums.into_iter().map(|(name, (active, cells))| (name, active as f64 / (all * cells as f64))).collect()
}
