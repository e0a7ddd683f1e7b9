//! Placement: each cell gets a column and a place in it.
//!
//! The horizontal position is the cycle in which a cell is active when all variable delays are zero
//! (Ullner 1983, §C.13); inputs are at the left, outputs at the right. Vertically, a cell is near
//! the cells that it is connected to: the order in each column is that of the mean place of those
//! (barycenter), and then neighbors are exchanged where that makes wires shorter.

use super::geometry::LayoutOptions;
use super::sizes;
use crate::circuit::serial::cells::{CellKind, Side};
use crate::circuit::serial::netlist::Netlist;

/// A placement.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// The cells of each column, from the bottom.
    pub columns: Vec<Vec<u32>>,
    /// For each cell, its column.
    pub column: Vec<usize>,
    /// For each cell, its lowest slot.
    pub slot: Vec<usize>,
    /// For each cell, how many slots it takes.
    pub slots: Vec<usize>,
    /// Slots of the highest column.
    pub height: usize,
}

/// Places all cells in about so many columns.
pub fn place(netlist: &Netlist, count: usize, options: LayoutOptions) -> Placement {
    let used = sizes::wires(netlist);
    let slots: Vec<usize> = (0..netlist.cells.len())
        .map(|cell| {
            let [left, right] = sizes::pins(netlist, cell, &used);
            left.len().max(right.len()).div_ceil(2).max(sizes::size(&netlist.cells[cell].kind).1)
        })
        .collect();
    let columns = columns(netlist, &slots, count);
    let mut placement = Placement {
        column: vec![0; slots.len()],
        slot: vec![0; slots.len()],
        height: columns.iter().map(|column| stacked(column, &slots)).max().unwrap_or(0),
        columns,
        slots,
    };
    for (index, column) in placement.columns.iter().enumerate() {
        for &cell in column {
            placement.column[cell as usize] = index;
        }
    }
    for column in 0..placement.columns.len() {
        stack(&mut placement, column, None);
    }
    let neighbors = neighbors(netlist, &used);
    for pass in 0..options.passes {
        let count = placement.columns.len();
        for step in 0..count {
            let column = if pass % 2 == 0 { step } else { count - 1 - step };
            order(&mut placement, column, &neighbors);
        }
    }
    for _ in 0..options.passes {
        if !(0..placement.columns.len())
            .fold(false, |better, column| exchange(&mut placement, column, &neighbors) | better)
        {
            break;
        }
    }
    placement
}

fn stacked(column: &[u32], slots: &[usize]) -> usize {
    column.iter().map(|cell| slots[*cell as usize]).sum()
}

/// The cells in the order of their activity, cut into columns of about the same height.
fn columns(netlist: &Netlist, slots: &[usize], count: usize) -> Vec<Vec<u32>> {
    let latest = netlist.cells.iter().map(|cell| cell.earliest).max().unwrap_or(0);
    let time = |cell: u32| match netlist.cells[cell as usize].kind {
        CellKind::Port { side: Side::SerialOut | Side::SyncOut, .. } => latest.saturating_add(1),
        CellKind::Port { side: Side::SerialIn | Side::SyncIn | Side::Parallel, .. } => 0,
        CellKind::Port { .. } | CellKind::Memory { .. } => latest / 2,
        _ => netlist.cells[cell as usize].earliest,
    };
    let mut cells: Vec<u32> = (0..netlist.cells.len() as u32).collect();
    cells.sort_by_key(|&cell| (time(cell), cell));
    let all: usize = slots.iter().sum();
    let mut columns: Vec<Vec<u32>> = vec![Vec::new()];
    let (target, mut height) = (all.div_ceil(count.max(1)), 0);
    for &cell in &cells {
        let size = slots[cell as usize];
        if height > 0 && height + size / 2 > target && columns.len() < count {
            columns.push(Vec::new());
            height = 0;
        }
        if let Some(column) = columns.last_mut() {
            column.push(cell);
        }
        height += size;
    }
    columns
}

/// For each cell, the cells that it shares wires with, and how many.
fn neighbors(netlist: &Netlist, used: &[[bool; 2]]) -> Vec<Vec<(u32, f64)>> {
    let mut neighbors = vec![Vec::new(); netlist.cells.len()];
    for (index, cell) in netlist.cells.iter().enumerate() {
        for (input, net) in cell.inputs.iter().enumerate() {
            let wires = if cell.kind.takes_data(input) && used[net.index()][0] { 2.0 } else { 1.0 };
            let driver = netlist.nets[net.index()].driver.0;
            if driver as usize != index {
                neighbors[index].push((driver, wires));
                neighbors[driver as usize].push((index as u32, wires));
            }
        }
    }
    neighbors
}

/// Stacks a column: each cell at its wish or above the one below, and not above the top.
fn stack(placement: &mut Placement, column: usize, wishes: Option<&[f64]>) {
    let cells = &placement.columns[column];
    let free = placement.height - stacked(cells, &placement.slots);
    let mut below = 0;
    let mut used = 0;
    for (index, &cell) in cells.iter().enumerate() {
        let size = placement.slots[cell as usize];
        let wish = wishes.map_or(free as f64 / 2.0 + below as f64, |wishes| wishes[index] - size as f64 / 2.0);
        // The gaps below a cell are never more than there are in all.
        let slot = (wish.round().max(0.0) as usize).clamp(below + used, below + free);
        used = slot - below;
        placement.slot[cell as usize] = slot;
        below += size;
    }
}

fn middle(placement: &Placement, cell: u32) -> f64 {
    placement.slot[cell as usize] as f64 + placement.slots[cell as usize] as f64 / 2.0
}

/// Orders a column by the mean place of each cell's neighbors.
fn order(placement: &mut Placement, column: usize, neighbors: &[Vec<(u32, f64)>]) {
    let mut wished: Vec<(f64, u32)> = placement.columns[column]
        .iter()
        .map(|&cell| {
            let (sum, weight) = neighbors[cell as usize].iter().fold((0.0, 0.0), |(sum, all), &(other, weight)| {
                (sum + weight * middle(placement, other), all + weight)
            });
            (if weight > 0.0 { sum / weight } else { middle(placement, cell) }, cell)
        })
        .collect();
    wished.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    placement.columns[column] = wished.iter().map(|(_, cell)| *cell).collect();
    let wishes: Vec<f64> = wished.iter().map(|(wish, _)| *wish).collect();
    stack(placement, column, Some(&wishes));
}

/// The vertical length of a cell's wires.
fn length(placement: &Placement, cell: u32, neighbors: &[Vec<(u32, f64)>]) -> f64 {
    let here = middle(placement, cell);
    neighbors[cell as usize].iter().map(|&(other, weight)| weight * (middle(placement, other) - here).abs()).sum()
}

/// Exchanges neighbors in a column where that makes wires shorter; whether it did.
fn exchange(placement: &mut Placement, column: usize, neighbors: &[Vec<(u32, f64)>]) -> bool {
    let mut better = false;
    for index in 1..placement.columns[column].len() {
        let (low, high) = (placement.columns[column][index - 1], placement.columns[column][index]);
        let (low_slot, high_slot) = (placement.slot[low as usize], placement.slot[high as usize]);
        let cost = |placement: &Placement| length(placement, low, neighbors) + length(placement, high, neighbors);
        let before = cost(placement);
        placement.slot[high as usize] = low_slot;
        placement.slot[low as usize] = high_slot + placement.slots[high as usize] - placement.slots[low as usize];
        if cost(placement) + 1e-9 < before {
            placement.columns[column].swap(index - 1, index);
            better = true;
        } else {
            (placement.slot[low as usize], placement.slot[high as usize]) = (low_slot, high_slot);
        }
    }
    better
}
