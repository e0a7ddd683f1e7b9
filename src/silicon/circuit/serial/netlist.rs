//! The netlist of the bit-serial implementation (Ullner 1983, §C.13): cells and the nets between them.
//!
//! A word takes two wires: data, the least significant bit first, and control, which is high while
//! the data wire carries the word. The data wire is low between words, and at least one cycle lies
//! between two words. A value without bits (a port's turn, the start of the program) is a control
//! wire alone that is high for one cycle. All cells have registers at their outputs: a cell that
//! takes a bit in one cycle gives its result in the next one at the earliest.

use super::cells::{CellKind, Side};
use crate::circuit::graph::PortId;
use shadewright_base::text::source::Span;
use std::sync::Arc;

/// A net, by its index in [`Netlist::nets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Net(pub u32);

impl Net {
    /// The index in [`Netlist::nets`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The width and the driver of a net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetInfo {
    /// Bits of its words; 0 for a net that is a control wire alone.
    pub width: u32,
    /// The cell that drives it, and which of the cell's outputs it is.
    pub driver: (u32, u32),
}

/// A cell of the netlist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The kind of the cell.
    pub kind: CellKind,
    /// The nets at its inputs, in the order that [`CellKind`] states.
    pub inputs: Vec<Net>,
    /// The nets at its outputs, in the order that [`CellKind`] states.
    pub outputs: Vec<Net>,
    /// The place in the source program that it implements.
    pub place: Span,
    /// A variable or port that it implements, for people who read the layout.
    pub name: Option<Arc<str>>,
    /// The earliest cycle at which it is active, when all variable delays are zero.
    pub earliest: u32,
}

/// A port of the chip: the pads of one of its cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pads {
    /// The name of the port in the source program.
    pub name: Arc<str>,
    /// The port in the circuit.
    pub port: PortId,
    /// The cell, by its index in [`Netlist::cells`].
    pub cell: u32,
    /// Bits of a word.
    pub width: u32,
    /// The other end of the port.
    pub side: Side,
}

/// Cells, nets and ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Netlist {
    /// The cells.
    pub cells: Vec<Cell>,
    /// The nets.
    pub nets: Vec<NetInfo>,
    /// The ports, in the order of the source program.
    pub pads: Vec<Pads>,
}

/// Most cells of a netlist.
pub const MAX_CELLS: usize = 200_000;

/// Most bits of storage in all cells of a netlist.
pub const MAX_REGISTERS: u64 = 1 << 26;

impl Netlist {
    /// Adds a cell with new nets of these widths at its outputs, and returns those.
    pub fn add(&mut self, kind: CellKind, inputs: Vec<Net>, widths: &[u32], place: Span, earliest: u32) -> Vec<Net> {
        let cell = self.cells.len() as u32;
        let first = self.nets.len() as u32;
        self.nets.extend(widths.iter().enumerate().map(|(pin, &width)| NetInfo { width, driver: (cell, pin as u32) }));
        let outputs: Vec<Net> = (first..first + widths.len() as u32).map(Net).collect();
        self.cells.push(Cell { kind, inputs, outputs: outputs.clone(), place, name: None, earliest });
        outputs
    }

    /// Bits of the words of a net; 0 for a control wire alone.
    pub fn width(&self, net: Net) -> u32 {
        self.nets[net.index()].width
    }

    /// The pins of each net that read it: pairs of cell and input, in order.
    pub fn readers(&self) -> Vec<Vec<(u32, u32)>> {
        let mut readers = vec![Vec::new(); self.nets.len()];
        for (index, cell) in self.cells.iter().enumerate() {
            for (pin, net) in cell.inputs.iter().enumerate() {
                readers[net.index()].push((index as u32, pin as u32));
            }
        }
        readers
    }

    /// The ports of a cell.
    pub fn pads_of(&self, cell: usize) -> Option<&Pads> {
        self.pads.iter().find(|pads| pads.cell as usize == cell)
    }
}
