//! The bit-serial netlist as structural Verilog (Verilog-2001).
//!
//! [`module()`] gives one module for each kind of cell that is used, and a top module that connects
//! them. Words have a data wire `_d` and a control wire `_c`. The clock is `clk`, the reset `rst`,
//! active high and synchronous. [`testbench()`] gives a module that feeds a simulation with words
//! and prints those that leave.

mod instances;
mod testbench;

pub use testbench::{Feed, feeds, recorded, testbench};

use super::serial::cells::Side;
use super::serial::netlist::{Netlist, Pads};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

/// The modules of the cells.
const CELLS: [&str; 2] = [include_str!("cells.v"), include_str!("ports.v")];

/// The top module, called [`top`] of `name`, after the modules of the cells that it has.
pub fn module(netlist: &Netlist, name: &str) -> String {
    let instances = instances::instances(netlist);
    let used: BTreeSet<&str> = instances.iter().map(|instance| instance.module).collect();
    let mut text = String::from("// A bit-serial implementation: cells, and the module that connects them.\n");
    for source in CELLS {
        for part in source.split_inclusive("endmodule\n") {
            let start = part.find("module cell_").map_or(part, |at| &part[at + 7..]);
            let module = start.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("");
            if used.contains(module) {
                text.push_str(part);
            }
        }
    }
    let _ = write!(text, "\nmodule {} (\n    input clk, input rst", top(name));
    for pin in pins(netlist) {
        let _ = write!(text, ",\n    {} {}{}", pin.direction, range(pin.width), pin.name);
    }
    text.push_str("\n);\n");
    for (index, net) in netlist.nets.iter().enumerate() {
        let data = if net.width > 0 { format!("n{index}_d, ") } else { String::new() };
        let _ = writeln!(text, "    wire {data}n{index}_c;");
    }
    for instance in &instances {
        let _ = writeln!(text, "{instance}");
    }
    text.push_str("endmodule\n");
    text
}

/// A pin of the top module.
struct Pin {
    direction: &'static str,
    width: u32,
    name: String,
}

/// A bit range of a declaration, for more than one bit.
fn range(width: u32) -> String {
    if width == 1 { String::new() } else { format!("[{}:0] ", width - 1) }
}

/// A name that Verilog takes: letters, digits and underscores, with a letter in front.
fn identifier(name: &str) -> String {
    let clean: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let clean: String = clean.chars().take(MAX_NAME).collect();
    if clean.starts_with(|c: char| c.is_ascii_alphabetic()) { clean } else { format!("x{clean}") }
}

/// The name of the top module for a program of this name: one that Verilog takes, that is no
/// reserved word of any version, and that no other module has.
pub fn top(name: &str) -> String {
    let name = identifier(name);
    let is_taken = KEYWORDS.split(' ').any(|word| word == name) || name.starts_with("cell_") || name == "testbench";
    if is_taken { format!("{name}_chip") } else { name }
}

/// The reserved words of SystemVerilog (IEEE 1800-2017, Annex B), which has those of Verilog-2005, and
/// three more of Icarus Verilog.
const KEYWORDS: &str = "\
    accept_on alias always always_comb always_ff always_latch and assert assign assume automatic \
    before begin bind bins binsof bit bool break buf bufif0 bufif1 byte case casex casez cell \
    chandle checker class clocking cmos config const constraint context continue cover covergroup \
    coverpoint cross deassign default defparam design disable dist do edge else end endcase \
    endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface \
    endmodule endpackage endprimitive endprogram endproperty endsequence endspecify endtable endtask \
    enum event eventually expect export extends extern final first_match for force foreach forever \
    fork forkjoin function generate genvar global highz0 highz1 if iff ifnone ignore_bins \
    illegal_bins implements implies import incdir include initial inout input inside instance int \
    integer interconnect interface intersect join join_any join_none large let liblist library local \
    localparam logic longint macromodule matches medium modport module nand negedge nettype new \
    nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos \
    posedge primitive priority program property protected pull0 pull1 pulldown pullup \
    pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence rcmos real realtime \
    ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always \
    s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled \
    signed small soft solve specify specparam static string strong strong0 strong1 struct super \
    supply0 supply1 sync_accept_on sync_reject_on table tagged task this throughout time \
    timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union \
    unique unique0 unsigned until until_with untyped use uwire var vectored virtual void wait \
    wait_order wand weak weak0 weak1 while wildcard wire with within wone wor wreal xnor xor";

/// Most characters of a name: a simulator may have no more than 1024, and those of pins are longer.
const MAX_NAME: usize = 200;

/// The names of the ports; a number makes those different that would be the same.
fn port_names(netlist: &Netlist) -> Vec<String> {
    let (mut names, mut taken) = (Vec::new(), HashSet::new());
    // The next number that a name is given where it is taken.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for pads in &netlist.pads {
        let name = identifier(&pads.name);
        let next = numbers.entry(name.clone()).or_insert(1);
        let mut free = name.clone();
        while !taken.insert(free.clone()) {
            free = format!("{name}_{next}");
            *next += 1;
        }
        names.push(free);
    }
    names
}

/// The pins of each side: suffix, direction, and whether it is as wide as a word.
fn side_pins(side: Side) -> &'static [(&'static str, &'static str, bool)] {
    match side {
        Side::Internal => &[],
        Side::SerialIn | Side::SyncIn => &[
            ("data", "input", false),
            ("control", "input", false),
            ("ready", "input", false),
            ("take", "output", false),
        ],
        Side::SerialOut => &[("data", "output", false), ("control", "output", false), ("want", "input", false)],
        Side::SyncOut => &[("data", "output", false), ("control", "output", false)],
        Side::Parallel => &[
            ("in", "input", true),
            ("ready", "input", false),
            ("take", "output", false),
            ("out", "output", true),
            ("drive", "output", false),
            ("strobe", "output", false),
        ],
    }
}

/// The pins of all ports.
fn pins(netlist: &Netlist) -> Vec<Pin> {
    let mut pins = Vec::new();
    for (pads, port) in netlist.pads.iter().zip(port_names(netlist)) {
        pins.extend(
            side_pins(pads.side).iter().map(|&(suffix, direction, word)| pin(pads, &port, suffix, direction, word)),
        );
    }
    pins
}

fn pin(pads: &Pads, port: &str, suffix: &str, direction: &'static str, word: bool) -> Pin {
    Pin { direction, width: if word { pads.width } else { 1 }, name: format!("{port}_{suffix}") }
}

#[cfg(test)]
mod tests;
