//! Which processors a tree has, and how they are connected (figures 3-9 and 3-24).
//!
//! Leaves are placed in bit-reversed order, so that the subtrees of a level have equally many, or one
//! more. A node without a leaf in its right part is a wire. At the top, `n` levels of mergers
//! are replaced by `n` stages of `2ⁿ` splitters and `2ⁿ` mergers: stage `s` joins pairs of groups of
//! subtrees, each with `2^(s−1)` strips, to groups with `2^s` strips.

/// A unit: a scan converter, a merging or a splitting processor.
pub type Unit = u32;
/// A stream: two for each unit, of which only splitters have the second.
pub type Stream = u32;

/// The stream of a unit, or the left one of a splitter (`side` 0), or its right one.
pub fn stream(unit: Unit, side: u32) -> Stream {
    2 * unit + side
}

/// A tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Leaves.
    pub leaves: u32,
    /// Levels of nodes above the leaves, split ones included.
    pub levels: u32,
    /// Levels that are split.
    pub split: u32,
    /// The first unit of each layer: scan converters, the levels of mergers, and for each stage its
    /// splitters and its mergers.
    bases: Vec<u32>,
    units: u32,
}

/// The kind of a layer's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitKind {
    /// Scan conversion processors.
    Converters,
    /// Merging processors of a level of the tree.
    Mergers,
    /// Splitting processors of a stage.
    Splitters,
    /// Merging processors of a stage.
    StageMergers,
}

impl Shape {
    /// A tree with so many leaves, at least 1, whose upper levels are split.
    pub fn new(leaves: u32, split: u32) -> Self {
        let leaves = leaves.max(1);
        let levels = leaves.next_power_of_two().trailing_zeros().max(split);
        let mut shape = Self { leaves, levels, split, bases: Vec::new(), units: 0 };
        for layer in 0..shape.layers() {
            shape.bases.push(shape.units);
            shape.units += match layer {
                _ if layer <= levels - split => 1 << (levels - layer),
                _ => 1 << split,
            };
        }
        shape
    }

    /// Layers from the scan converters to the roots.
    pub fn layers(&self) -> u32 {
        1 + self.levels - self.split + 2 * self.split
    }

    /// The kind of a layer's units.
    pub fn kind(&self, layer: u32) -> UnitKind {
        let tree = self.levels - self.split;
        match layer {
            0 => UnitKind::Converters,
            _ if layer <= tree => UnitKind::Mergers,
            _ if (layer - tree) % 2 == 1 => UnitKind::Splitters,
            _ => UnitKind::StageMergers,
        }
    }

    /// Units that a layer really has.
    pub fn count(&self, layer: u32) -> u32 {
        match self.kind(layer) {
            UnitKind::Converters => self.leaves,
            UnitKind::Mergers => {
                (0..1 << (self.levels - layer)).filter(|&node| self.merges(layer, node)).count() as u32
            }
            UnitKind::Splitters | UnitKind::StageMergers => 1 << self.split,
        }
    }

    /// All units' numbers are below this.
    pub fn units(&self) -> u32 {
        self.units
    }

    /// The strips of the image, and the roots.
    pub fn strips(&self) -> u32 {
        1 << self.split
    }

    /// Where a leaf is among the `2^levels` places from left to right.
    pub fn position(&self, leaf: u32) -> u32 {
        reversed(leaf, self.levels)
    }

    /// True if a node of a level has leaves.
    fn exists(&self, level: u32, node: u32) -> bool {
        reversed(node, self.levels - level) < self.leaves
    }

    /// True if a node of a level, from 1, has leaves on both sides.
    pub fn merges(&self, level: u32, node: u32) -> bool {
        self.exists(level - 1, 2 * node + 1)
    }

    /// The unit of a leaf, or of a node of a level.
    pub fn unit(&self, layer: u32, node: u32) -> Unit {
        self.bases[layer as usize] + node
    }

    /// The layer of a unit.
    pub fn layer(&self, unit: Unit) -> u32 {
        self.bases.partition_point(|&base| base <= unit) as u32 - 1
    }

    /// The stream that leaves a node upwards; `None` if it has no leaves.
    pub fn output(&self, mut level: u32, mut node: u32) -> Option<Stream> {
        if !self.exists(level, node) {
            return None;
        }
        while level > 0 && !self.merges(level, node) {
            (level, node) = (level - 1, 2 * node);
        }
        Some(stream(self.unit(level, node), 0))
    }

    /// The layer of a stage's splitters, from 1; its mergers are in the next.
    pub fn stage(&self, stage: u32) -> u32 {
        self.levels - self.split + 2 * stage - 1
    }

    /// Merging processors in all.
    pub fn mergers(&self) -> u32 {
        let is_merger = |&layer: &u32| matches!(self.kind(layer), UnitKind::Mergers | UnitKind::StageMergers);
        (0..self.layers()).filter(is_merger).map(|layer| self.count(layer)).sum()
    }

    /// Splitting processors: `n·2ⁿ` (§3.3.5).
    pub fn splitters(&self) -> u32 {
        self.split << self.split
    }
}

/// The lowest bits of a number in the opposite order.
fn reversed(number: u32, bits: u32) -> u32 {
    if bits == 0 { 0 } else { number.reverse_bits() >> (32 - bits) }
}

/// Mergers beyond those of a tree that is not split: `(n − 1)·2ⁿ + 1` (§3.3.5).
pub fn extra_mergers(split: u32) -> u32 {
    (split << split) + 1 - (1 << split)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_costs_what_the_thesis_says() {
        let extra = [0, 1, 5, 17, 49, 129, 321];
        for split in 0..=6 {
            let [plain, split_tree] = [0, split].map(|n| Shape::new(2500, n));
            assert_eq!(split_tree.mergers() - plain.mergers(), extra[split as usize]);
            assert_eq!(extra_mergers(split), extra[split as usize]);
        }
        assert_eq!(Shape::new(2500, 6).splitters(), 384);
        assert_eq!(Shape::new(2500, 0).mergers(), 2499);
    }

    #[test]
    fn nodes_without_leaves_on_their_right_are_wires() {
        let shape = Shape::new(5, 0);
        assert_eq!((shape.levels, shape.mergers()), (3, 4));
        assert_eq!([0, 1, 2, 3, 4].map(|leaf| shape.position(leaf)), [0, 4, 2, 6, 1]);
        assert_eq!(shape.output(1, 3), Some(stream(shape.unit(0, 6), 0)));
        assert_eq!(shape.output(0, 7), None);
        assert_eq!(shape.layer(shape.unit(3, 0)), 3);
    }
}
