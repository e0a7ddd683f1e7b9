//! The compressed node: the boxes of eight children in steps of a grid, and where the children are.

use bytemuck::{Pod, Zeroable};

/// Children of a node.
pub const WIDTH: usize = 8;

/// The most triangles in a child that is a leaf: their number is in three bits of
/// [`CompressedNode::kinds`], one bit each.
pub const MAX_LEAF: u32 = 3;

/// Steps of the grid along an axis: the largest byte.
const STEPS: f64 = 255.0;

/// The number that is added to the slot of a child that is a node, to distinguish it from the first
/// triangle of a leaf.
const NODE_PLACE: u8 = 24;

/// A node (Ylitie, Karras & Laine 2017, §4.1; the planes are in another order). 80 bytes, five
/// vectors of the GPU's node buffer.
///
/// | bytes | field |
/// |---|---|
/// | 0..12 | the grid's origin |
/// | 12..15 | the grid's exponents, as in an IEEE float |
/// | 15 | which children are nodes |
/// | 16..20, 20..24 | the first child that is a node, the first triangle of the leaves |
/// | 24..32 | what each child is |
/// | 32..48 | lower planes of the eight boxes across x, upper ones |
/// | 48..64, 64..80 | the same across y and z |
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct CompressedNode {
    /// Lower corner of the box around all children.
    pub origin: [f32; 3],
    /// The size of a step along each axis is 2 to this power, less 127.
    pub exponents: [u8; 3],
    /// Bit `i`: the child in slot `i` is a node.
    pub nodes: u8,
    /// Index of the first of the children that are nodes; the others follow it in the order of
    /// their slots.
    pub first_node: u32,
    /// Index of the first triangle in the children that are leaves.
    pub first_triangle: u32,
    /// A child that is a node: `0b001` and, in the low five bits, 24 more than its slot. A leaf: as
    /// many bits of the high three as it has triangles, and the first of them, counted from
    /// `first_triangle`. Zero where there is no child.
    pub kinds: [u8; WIDTH],
    /// Across each axis the lower planes, then the upper ones, in steps from the origin.
    pub planes: [[[u8; WIDTH]; 2]; 3],
}

/// A box's lower and upper corner.
pub type Corners = [[f32; 3]; 2];

impl CompressedNode {
    /// A node without children, whose grid covers a box.
    pub fn new([low, high]: Corners) -> Self {
        let exponents = [0, 1, 2].map(|axis| exponent(f64::from(high[axis]) - f64::from(low[axis])));
        Self { origin: low, exponents, ..Self::default() }
    }

    /// Puts a child's box, which the grid must cover, into a slot. Rounded outwards: what comes
    /// back contains it, but for a rounding in double precision, 2⁻⁴⁵ of a step.
    pub fn set_box(&mut self, slot: usize, [low, high]: Corners) {
        for axis in 0..3 {
            let (origin, step) = (f64::from(self.origin[axis]), self.step(axis));
            let steps = |plane: f32| (f64::from(plane) - origin) / step;
            self.planes[axis][0][slot] = steps(low[axis]).floor() as u8;
            self.planes[axis][1][slot] = steps(high[axis]).ceil() as u8;
        }
    }

    /// Makes the child in a slot a node, which is after the nodes of lower slots.
    pub fn set_node(&mut self, slot: usize) {
        self.nodes |= 1 << slot;
        self.kinds[slot] = 1 << 5 | (NODE_PLACE + slot as u8);
    }

    /// Makes the child in a slot a leaf of `count` triangles, at most [`MAX_LEAF`], from the
    /// `first` of the node's on.
    pub fn set_leaf(&mut self, slot: usize, first: u32, count: u32) {
        debug_assert!(count <= MAX_LEAF && first + count <= MAX_LEAF * WIDTH as u32);
        self.kinds[slot] = ((1 << count) - 1) << 5 | first as u8;
    }

    /// The lower and upper corner of the box in a slot.
    pub fn decoded(&self, slot: usize) -> [[f64; 3]; 2] {
        let plane = |side: usize, axis: usize| {
            f64::from(self.origin[axis]) + f64::from(self.planes[axis][side][slot]) * self.step(axis)
        };
        [0, 1].map(|side| [0, 1, 2].map(|axis| plane(side, axis)))
    }

    /// The size of a step along an axis.
    fn step(&self, axis: usize) -> f64 {
        (f64::from(self.exponents[axis]) - 127.0).exp2()
    }
}

/// The exponent of the smallest step that is a normal number, [`STEPS`] of which are no less than a
/// length.
fn exponent(length: f64) -> u8 {
    let fits = |exponent: f64| STEPS * (exponent - 127.0).exp2() >= length;
    let about = ((length / STEPS).log2().ceil() + 127.0).clamp(1.0, 254.0);
    // The logarithm may have been rounded to the other side of a power of two.
    (if fits(about) { about } else { about + 1.0 }) as u8
}

#[cfg(test)]
mod tests {
    use super::super::super::super::random::Random;
    use super::*;

    /// Asserts that boxes are within what their node gives back, and that this is at most a step
    /// larger on each side.
    fn check(boxes: &[Corners]) {
        let mut around = boxes[0];
        for [low, high] in boxes {
            for axis in 0..3 {
                around[0][axis] = around[0][axis].min(low[axis]);
                around[1][axis] = around[1][axis].max(high[axis]);
            }
        }
        let mut node = CompressedNode::new(around);
        for (slot, corners) in boxes.iter().enumerate() {
            node.set_box(slot, *corners);
        }
        for (slot, [low, high]) in boxes.iter().enumerate() {
            let [below, above] = node.decoded(slot);
            for axis in 0..3 {
                let (low, high) = (f64::from(low[axis]), f64::from(high[axis]));
                let step = node.step(axis);
                let rounding = step * 45.0f64.exp2().recip();
                assert!(below[axis] <= low + rounding && above[axis] >= high - rounding, "{boxes:?}, {slot}, {axis}");
                assert!(low - below[axis] <= step && above[axis] - high <= step, "{boxes:?}, {slot}, {axis}");
            }
        }
        // The grid is the finest: with steps of half the size it would not cover the box.
        for (axis, (low, high)) in around[0].iter().zip(around[1]).enumerate() {
            let length = f64::from(high) - f64::from(*low);
            assert!(node.exponents[axis] == 1 || 0.5 * STEPS * node.step(axis) < length, "{boxes:?}, {axis}");
        }
    }

    /// Eight boxes of random place and size, all lengths times `scale`, `offset` away from the
    /// origin.
    fn random_boxes(random: &mut Random, scale: f32, offset: f32) -> Vec<Corners> {
        let one = |random: &mut Random| {
            let (a, b) = (random.point(), random.point());
            [a.min(b), a.max(b)].map(|corner| (corner * scale + offset).to_array())
        };
        (0..WIDTH).map(|_| one(random)).collect()
    }

    #[test]
    fn boxes_are_contained_at_any_scale_and_far_from_the_origin() {
        let mut random = Random(1);
        for _ in 0..200 {
            for scale in [1.0, 1.0e-3, 1.0e-30, 1.0e-40, 1.0e30, 1.0e38] {
                check(&random_boxes(&mut random, scale, 0.0));
            }
            for (scale, offset) in [(1.0, 1.0e6), (1.0e-3, -1.0e3), (1.0, 3.0e7), (1.0e-20, 1.0), (1.0e30, 2.0e38)] {
                check(&random_boxes(&mut random, scale, offset));
            }
        }
    }

    #[test]
    fn flat_boxes_and_points_are_contained() {
        check(&[[[1.0, 2.0, 3.0], [5.0, 2.0, 9.0]], [[1.5, 2.0, 3.0], [1.5, 2.0, 3.1]]]);
        check(&[[[7.0; 3]; 2]]);
        check(&[[[0.0; 3]; 2]]);
    }

    #[test]
    fn boxes_of_very_different_sizes_are_contained() {
        let mut random = Random(2);
        for _ in 0..200 {
            let mut boxes = random_boxes(&mut random, 1.0, 0.0);
            for (power, corners) in boxes.iter_mut().enumerate() {
                let scale = 10.0f32.powi(-6 * power as i32);
                corners.iter_mut().flatten().for_each(|x| *x *= scale);
            }
            check(&boxes);
        }
        check(&[[[f32::MIN; 3], [f32::MAX; 3]], [[-1.0e-30; 3], [1.0e-30; 3]]]);
    }

    #[test]
    fn lengths_that_are_255_steps_take_255_steps() {
        assert_eq!(exponent(255.0), 127);
        assert_eq!(exponent(255.0f64.next_up()), 128);
        assert_eq!(exponent(0.0), 1);
        assert_eq!(exponent(2.0 * f64::from(f32::MAX)), 249);
    }
}
