//! Which node of the array keeps which cell of the modeling space (Ullner 1983, §2.5.3).
//!
//! Space is a grid of cells, `[columns, rows, layers]`, and the nodes are a rectangle. A cell belongs
//! to the node at its column and row, moved by what the [`Mapping`] shifts its layer. When there are
//! more columns or rows of cells than of nodes, a node has a block of them. Cells that touch in space
//! are always in the same node or in two that have a link, because rays go from cell to cell and
//! messages only along links.

use serde::{Deserialize, Serialize};
use shadewright_base::named::{Named, Row};

/// How layers of cells are laid over the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mapping {
    /// Every layer alike: a node has a column of cells in depth (fig. 2-26).
    #[default]
    Plain,
    /// Each layer is one node further to the right than the layer before it, and the left and the
    /// right edge are linked (fig. 2-31).
    Skew,
    /// Layers go one node to the right and one down alternately, never both at once, and opposite
    /// edges are linked (fig. 2-32).
    Torus,
}

impl Named for Mapping {
    const TABLE: &'static [Row<Self>] = &[
        ("plain", "A node has the cells behind one another", Self::Plain),
        ("skew", "Each layer is shifted to the left by one node", Self::Skew),
        ("torus", "Layers are shifted to the left and down alternately", Self::Torus),
    ];
}

/// The four ports of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// To the next column.
    East,
    /// To the column before.
    West,
    /// To the next row.
    South,
    /// To the row before.
    North,
}

impl Direction {
    /// All of them, in the order in which routes prefer them: along the row first.
    pub const ALL: [Self; 4] = [Self::East, Self::West, Self::South, Self::North];

    /// The direction in which the other end of a link sends back.
    pub fn opposite(self) -> Self {
        match self {
            Self::East => Self::West,
            Self::West => Self::East,
            Self::South => Self::North,
            Self::North => Self::South,
        }
    }
}

/// An array and the cells that are laid over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// How.
    pub mapping: Mapping,
    /// Nodes in a row and in a column; 1 or more.
    pub sides: [u16; 2],
    /// Cells on each axis; at least as many columns and rows as the array has.
    pub cells: [u16; 3],
}

/// Which way a ray goes along each axis: true towards higher numbers of cells.
pub type Heading = [bool; 3];

impl Layout {
    /// Nodes in all.
    pub fn nodes(&self) -> usize {
        usize::from(self.sides[0]) * usize::from(self.sides[1])
    }

    /// Cells in all.
    pub fn cell_count(&self) -> usize {
        self.cells.iter().map(|&n| usize::from(n)).product()
    }

    /// The index of a cell: columns first, then rows, then layers.
    pub fn index(&self, [x, y, z]: [u16; 3]) -> u32 {
        let [nx, ny] = [self.cells[0], self.cells[1]].map(u32::from);
        u32::from(x) + nx * (u32::from(y) + ny * u32::from(z))
    }

    /// The cell of an index.
    pub fn cell(&self, index: u32) -> [u16; 3] {
        let [nx, ny] = [self.cells[0], self.cells[1]].map(u32::from);
        [(index % nx) as u16, (index / nx % ny) as u16, (index / (nx * ny)) as u16]
    }

    /// By how many nodes a layer is moved to the right and down.
    fn shift(&self, layer: u16) -> [u16; 2] {
        match self.mapping {
            Mapping::Plain => [0, 0],
            Mapping::Skew => [layer, 0],
            Mapping::Torus => [layer.div_ceil(2), layer / 2],
        }
    }

    /// The block of columns or rows that a cell is in: the node, before layers are shifted.
    fn block(&self, axis: usize, position: u16) -> u16 {
        (u32::from(position) * u32::from(self.sides[axis]) / u32::from(self.cells[axis])) as u16
    }

    /// The node that keeps a cell.
    pub fn node(&self, [x, y, z]: [u16; 3]) -> u16 {
        let [right, down] = self.shift(z);
        let [width, height] = self.sides.map(u32::from);
        let column = (u32::from(self.block(0, x)) + u32::from(right)) % width;
        let row = (u32::from(self.block(1, y)) + u32::from(down)) % height;
        (column + width * row) as u16
    }

    /// The cells that a node keeps, in order of their index.
    pub fn cells_of(&self, node: u16) -> impl Iterator<Item = [u16; 3]> + '_ {
        (0..self.cell_count() as u32).map(|index| self.cell(index)).filter(move |&cell| self.node(cell) == node)
    }

    /// The node at a column and a row.
    pub fn at(&self, [column, row]: [u16; 2]) -> u16 {
        column + self.sides[0] * row
    }

    /// The column and the row of a node.
    pub fn position(&self, node: u16) -> [u16; 2] {
        [node % self.sides[0], node / self.sides[0]]
    }

    /// The node at the other end of a link, if there is a link: the edges are open unless the
    /// mapping joins them.
    pub fn neighbor(&self, node: u16, direction: Direction) -> Option<u16> {
        let [column, row] = self.position(node);
        let [width, height] = self.sides;
        let wraps = match self.mapping {
            Mapping::Plain => [false, false],
            Mapping::Skew => [true, false],
            Mapping::Torus => [true, true],
        };
        let step = |position: u16, side: u16, forward: bool, wraps: bool| match (forward, wraps) {
            (true, _) if position + 1 < side => Some(position + 1),
            (false, _) if position > 0 => Some(position - 1),
            (true, true) => Some(0),
            (false, true) => Some(side - 1),
            (_, false) => None,
        };
        let other = match direction {
            Direction::East => [step(column, width, true, wraps[0])?, row],
            Direction::West => [step(column, width, false, wraps[0])?, row],
            Direction::South => [column, step(row, height, true, wraps[1])?],
            Direction::North => [column, step(row, height, false, wraps[1])?],
        };
        // A ring of one node has no link.
        (other != [column, row]).then(|| self.at(other))
    }

    /// Links that a ray with this heading may have crossed when it comes to a cell: it grows by one
    /// with each step to another node, is the same after a step within a node or grows, and is less
    /// than [`longest_walk`](Self::longest_walk).
    pub fn progress(&self, cell: [u16; 3], heading: Heading) -> u16 {
        self.progress_at(self.place(cell), heading)
    }

    /// The column and the row of a cell's node, before layers are shifted, and its layer.
    pub fn place(&self, [x, y, z]: [u16; 3]) -> [u16; 3] {
        [self.block(0, x), self.block(1, y), z]
    }

    /// The [progress](Self::progress) of a ray in a cell, given the cell's [place](Self::place).
    #[inline]
    pub fn progress_at(&self, [column, row, layer]: [u16; 3], heading: Heading) -> u16 {
        let along = |position: u16, count: u16, forward: bool| if forward { position } else { count - 1 - position };
        let depth = match self.mapping {
            Mapping::Plain => 0,
            Mapping::Skew | Mapping::Torus => along(layer, self.cells[2], heading[2]),
        };
        along(column, self.sides[0], heading[0]) + along(row, self.sides[1], heading[1]) + depth
    }

    /// The number of values that [`progress`](Self::progress) has.
    pub fn longest_walk(&self) -> u16 {
        let depth = match self.mapping {
            Mapping::Plain => 0,
            Mapping::Skew | Mapping::Torus => self.cells[2] - 1,
        };
        self.sides[0] + self.sides[1] - 1 + depth
    }

    /// The node whose frame buffer has a pixel of an image: blocks of pixels lie as the nodes do.
    pub fn owner(&self, pixel: [u32; 2], size: [u32; 2]) -> u16 {
        let place = |axis: usize| {
            let [pixel, size, side] = [pixel[axis], size[axis].max(1), u32::from(self.sides[axis])].map(u64::from);
            (pixel * side / size).min(side - 1) as u16
        };
        self.at([place(0), place(1)])
    }

    /// The node that keeps the part of a map around a point, each coordinate from 0 to 1.
    pub fn map_owner(&self, [u, v]: [f32; 2]) -> u16 {
        let place = |position: f32, side: u16| ((position * f32::from(side)).max(0.0) as u16).min(side - 1);
        self.at([place(u, self.sides[0]), place(v, self.sides[1])])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPPINGS: [Mapping; 3] = [Mapping::Plain, Mapping::Skew, Mapping::Torus];

    fn layouts() -> impl Iterator<Item = Layout> {
        let sizes = (1..=8).flat_map(|w| (1..=8).map(move |h| [w, h]));
        sizes.flat_map(|sides| {
            let [w, h] = sides;
            let cells = [[w, h, w], [w, h, 2 * w + 1], [2 * w, 2 * h, 5], [w + 1, 2 * h + 1, 3]];
            cells.into_iter().flat_map(move |cells| MAPPINGS.map(|mapping| Layout { mapping, sides, cells }))
        })
    }

    fn steps(layout: &Layout, cell: [u16; 3]) -> impl Iterator<Item = ([u16; 3], usize)> {
        let cells = layout.cells;
        (0..3).filter(move |&axis| cell[axis] + 1 < cells[axis]).map(move |axis| {
            let mut next = cell;
            next[axis] += 1;
            (next, axis)
        })
    }

    #[test]
    fn cells_that_touch_are_in_one_node_or_in_two_that_have_a_link() {
        for layout in layouts() {
            for index in 0..layout.cell_count() as u32 {
                let cell = layout.cell(index);
                assert_eq!(layout.index(cell), index);
                for (next, _) in steps(&layout, cell) {
                    let (a, b) = (layout.node(cell), layout.node(next));
                    let linked = Direction::ALL.iter().any(|&d| layout.neighbor(a, d) == Some(b));
                    assert!(a == b || linked, "{layout:?} {cell:?} {next:?}");
                }
            }
        }
    }

    #[test]
    fn links_go_both_ways_and_join_edges_only_where_the_mapping_needs_it() {
        for layout in layouts() {
            let [width, height] = layout.sides;
            for node in 0..layout.nodes() as u16 {
                for direction in Direction::ALL {
                    if let Some(other) = layout.neighbor(node, direction) {
                        assert_eq!(layout.neighbor(other, direction.opposite()), Some(node));
                    }
                }
                let [column, row] = layout.position(node);
                let east = column + 1 < width || (layout.mapping != Mapping::Plain && width > 1);
                let south = row + 1 < height || (layout.mapping == Mapping::Torus && height > 1);
                assert_eq!(layout.neighbor(node, Direction::East).is_some(), east);
                assert_eq!(layout.neighbor(node, Direction::South).is_some(), south);
            }
        }
    }

    #[test]
    fn every_cell_is_in_the_list_of_its_node_and_of_no_other() {
        for layout in layouts() {
            let total: usize = (0..layout.nodes() as u16).map(|node| layout.cells_of(node).count()).sum();
            assert_eq!(total, layout.cell_count());
        }
        let layout = Layout { mapping: Mapping::Plain, sides: [3, 2], cells: [3, 2, 4] };
        assert_eq!(layout.cells_of(4).collect::<Vec<_>>(), [[1, 1, 0], [1, 1, 1], [1, 1, 2], [1, 1, 3]]);
    }

    #[test]
    fn progress_grows_by_one_with_each_link_that_a_ray_crosses() {
        for layout in layouts() {
            for number in 0..8 {
                let heading = [0, 1, 2].map(|axis| number >> axis & 1 == 1);
                for index in 0..layout.cell_count() as u32 {
                    for (next, axis) in steps(&layout, layout.cell(index)) {
                        let (low, high) = (layout.cell(index), next);
                        let (from, to) = if heading[axis] { (low, high) } else { (high, low) };
                        let [before, after] = [from, to].map(|cell| layout.progress(cell, heading));
                        assert!(after < layout.longest_walk());
                        let crossed = layout.node(from) != layout.node(to);
                        assert!(after >= before && (!crossed || after == before + 1), "{layout:?} {from:?} {to:?}");
                    }
                }
            }
        }
    }

    /// How many of a face's cells the busiest node has, over the mean.
    fn imbalance(layout: &Layout, axis: usize) -> f64 {
        let mut counts = vec![0u32; layout.nodes()];
        for index in 0..layout.cell_count() as u32 {
            let cell = layout.cell(index);
            if cell[axis] == 0 {
                counts[usize::from(layout.node(cell))] += 1;
            }
        }
        let total: u32 = counts.iter().sum();
        f64::from(counts.into_iter().max().unwrap_or(0)) * layout.nodes() as f64 / f64::from(total)
    }

    #[test]
    fn faces_are_spread_as_figures_2_29_to_2_32_show() {
        let faces = |mapping, layers| {
            let layout = Layout { mapping, sides: [8, 8], cells: [8, 8, layers] };
            [0, 1, 2].map(|axis| imbalance(&layout, axis))
        };
        // From the front all are alike. From the right, and from above, one edge has all the rays.
        assert_eq!(faces(Mapping::Plain, 8), [8.0, 8.0, 1.0]);
        assert_eq!(faces(Mapping::Skew, 8), [1.0, 8.0, 1.0]);
        // "It takes n_s horizontal shifts and n_s vertical shifts" for six even faces.
        assert_eq!(faces(Mapping::Torus, 16), [1.0, 1.0, 1.0]);
        let half = faces(Mapping::Torus, 8);
        assert!(half.iter().all(|&x| x <= 2.0), "{half:?}");
    }

    #[test]
    fn pixels_and_maps_are_kept_in_blocks_by_position() {
        let layout = Layout { mapping: Mapping::Plain, sides: [4, 2], cells: [4, 2, 1] };
        assert_eq!(layout.owner([0, 0], [64, 64]), 0);
        assert_eq!(layout.owner([63, 63], [64, 64]), 7);
        assert_eq!(layout.owner([16, 31], [64, 64]), 1);
        assert_eq!(layout.map_owner([0.0, 0.0]), 0);
        assert_eq!(layout.map_owner([1.0, f32::NAN]), 3);
    }
}
