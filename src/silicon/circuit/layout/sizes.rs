//! How large cells are.
//!
//! The thesis gives one size: Lyon's serial multiplier for 16 bits takes 1800 λ by 300 λ (Ullner
//! 1983, §3.3.3); §C.14 leaves the devices of the compiler undesigned. A multiplier here has a slice
//! of that width for each bit. The other widths are estimates: a bit of storage for data and control
//! takes two dynamic registers of 12 λ each side by side, and a full adder with its registers about
//! 100 λ.

use super::geometry::Wire;
use crate::circuit::serial::cells::CellKind;
use crate::circuit::serial::netlist::{NetInfo, Netlist};

/// λ of a multiplier's slice of one bit: 1800 / 16, upwards.
const MULTIPLIER_SLICE: i64 = 113;

/// λ of the height of a multiplier.
const MULTIPLIER_HEIGHT: i64 = 300;

/// λ of the height of a slot, the room of a cell with two wires at each side, without wires that
/// pass it.
pub const SLOT: i64 = 64;

/// λ of the widest row of storage.
const WIDEST: i64 = 300;

/// λ of a bit of storage for data and control.
const STAGE: i64 = 24;

/// λ of a few gates and their registers.
const LOGIC: i64 = 60;

/// The width of a cell's content in λ, in one row.
fn row(kind: &CellKind) -> i64 {
    let bits = |bits: u32| STAGE * i64::from(bits);
    match kind {
        CellKind::Multiply { width } => MULTIPLIER_SLICE * i64::from(*width),
        CellKind::Shift { length } => bits(*length).max(LOGIC / 2),
        CellKind::Hold { width } => bits(*width) + LOGIC,
        CellKind::Constant { width, .. } => bits(*width) + LOGIC,
        CellKind::Slice { high, .. } => bits(*high + 1) / 2 + LOGIC,
        CellKind::Extend { by, .. } => bits(*by) / 2 + LOGIC,
        CellKind::Decode { width, labels } => bits(*width) / 2 + 12 * labels.len() as i64 + LOGIC,
        CellKind::Sum { .. } | CellKind::Compare { .. } => 100,
        CellKind::Port { width, buffer, .. } => 2 * bits(*width) + bits(*width) * i64::from((*buffer).min(64)) + LOGIC,
        CellKind::Memory { width, words, ports, .. } => {
            let cells = (words.len() as f64 * f64::from(*width)).sqrt().ceil() as i64;
            20 * cells + bits(*width) * ports.len() as i64 + LOGIC
        }
        _ => LOGIC,
    }
}

/// The width of a cell in λ, and the slots that it takes at least: storage that is wider than
/// [`WIDEST`] is folded into several rows.
pub fn size(kind: &CellKind) -> (i64, usize) {
    let row = row(kind);
    if matches!(kind, CellKind::Multiply { .. }) {
        return (row, ((MULTIPLIER_HEIGHT + SLOT - 1) / SLOT) as usize);
    }
    let rows = (row + WIDEST - 1) / WIDEST;
    ((row + rows - 1) / rows, rows as usize)
}

/// The wires of a netlist that have readers: which nets have a data and which a control wire.
pub fn wires(netlist: &Netlist) -> Vec<[bool; 2]> {
    let mut used = vec![[false; 2]; netlist.nets.len()];
    for cell in &netlist.cells {
        for (input, net) in cell.inputs.iter().enumerate() {
            let NetInfo { width, .. } = netlist.nets[net.index()];
            used[net.index()][1] = true;
            used[net.index()][0] |= width > 0 && cell.kind.takes_data(input);
        }
    }
    used
}

/// The wires at the left and at the right side of a cell, from the top.
pub fn pins(netlist: &Netlist, cell: usize, used: &[[bool; 2]]) -> [Vec<Wire>; 2] {
    let cell = &netlist.cells[cell];
    let mut sides = [Vec::new(), Vec::new()];
    for (input, net) in cell.inputs.iter().enumerate() {
        if netlist.width(*net) > 0 && cell.kind.takes_data(input) {
            sides[0].push(Wire::Data(net.0));
        }
        sides[0].push(Wire::Control(net.0));
    }
    for net in &cell.outputs {
        if used[net.index()][0] {
            sides[1].push(Wire::Data(net.0));
        }
        if used[net.index()][1] {
            sides[1].push(Wire::Control(net.0));
        }
    }
    sides
}
