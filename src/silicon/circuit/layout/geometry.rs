//! A layout as data, and the rules for it.
//!
//! All lengths are in λ, half the least width of a line (Mead and Conway, "Introduction to VLSI
//! Systems", 1980, chapter 2). x grows to the right, y upwards.

use std::sync::Arc;

/// The layers of the wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Metal: all horizontal lines.
    Metal,
    /// Polysilicon: the vertical lines in channels.
    Poly,
    /// Contact cuts between both.
    Cut,
}

impl Layer {
    /// The name of the layer in CIF, in nMOS.
    pub fn cif(self) -> &'static str {
        match self {
            Layer::Metal => "NM",
            Layer::Poly => "NP",
            Layer::Cut => "NC",
        }
    }

    /// The least width of what is drawn.
    pub fn width(self) -> i64 {
        match self {
            Layer::Metal => 3,
            Layer::Poly | Layer::Cut => 2,
        }
    }

    /// The least distance of what is not connected.
    pub fn spacing(self) -> i64 {
        match self {
            Layer::Metal => 3,
            Layer::Poly | Layer::Cut => 2,
        }
    }
}

/// By how much metal and polysilicon surround a contact cut.
pub const CUT_MARGIN: i64 = 1;

/// A wire of the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wire {
    /// The data wire of a net.
    Data(u32),
    /// The control wire of a net.
    Control(u32),
    /// The positive supply.
    Power,
    /// Ground.
    Ground,
    /// A clock: φ1 or φ2.
    Clock(u8),
}

/// A rectangle on a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rect {
    /// The layer.
    pub layer: Layer,
    /// The left, bottom, right and top edges.
    pub edges: [i64; 4],
    /// The wire that it is part of.
    pub wire: Wire,
}

impl Rect {
    /// A rectangle.
    pub fn new(layer: Layer, wire: Wire, x: [i64; 2], y: [i64; 2]) -> Self {
        Self { layer, edges: [x[0].min(x[1]), y[0].min(y[1]), x[0].max(x[1]), y[0].max(y[1])], wire }
    }
}

/// Where a wire meets a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinPlace {
    /// The wire.
    pub wire: Wire,
    /// The point, on metal.
    pub at: [i64; 2],
}

/// The box of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellBox {
    /// The cell, by its index in the netlist.
    pub cell: u32,
    /// The kind of the cell.
    pub kind: &'static str,
    /// The variable or port that it implements.
    pub name: Option<Arc<str>>,
    /// The left, bottom, right and top edges.
    pub edges: [i64; 4],
    /// The places of the pins.
    pub pins: Vec<PinPlace>,
}

/// A layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The width and height.
    pub size: [i64; 2],
    /// The boxes of the cells.
    pub boxes: Vec<CellBox>,
    /// The wires.
    pub rects: Vec<Rect>,
    /// The length of all wires between cells.
    pub wire_length: i64,
    /// The area of all boxes.
    pub cell_area: i64,
}

impl Layout {
    /// Sizes as text.
    pub fn report(&self) -> String {
        let [width, height] = self.size;
        let area = width * height;
        let cells = 100.0 * self.cell_area as f64 / area.max(1) as f64;
        format!(
            "{width} λ by {height} λ: {area} λ², {cells:.0} % of it cells\n{} λ of wires between {} cells\n",
            self.wire_length,
            self.boxes.len()
        )
    }
}

/// The options that the user chooses.
#[derive(Clone, Copy, Debug)]
pub struct LayoutOptions {
    /// How much wider than high the layout should be.
    pub aspect: f64,
    /// Passes that improve the placement.
    pub passes: u32,
}

impl Default for LayoutOptions {
    fn default() -> Self {
        Self { aspect: 1.4, passes: 12 }
    }
}
