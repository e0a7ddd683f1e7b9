//! The lattice of shapes, and what operations do to them.

use std::fmt;

/// How a value differs between lanes, among those that compute it together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// Lane `l` has the bits `base + l · stride`, modulo 2³², of a `base` that is a multiple of
    /// `2^align`, with `align` up to 32. A stride of 0 makes it uniform; only integers have others.
    Affine {
        /// The difference from lane to lane.
        stride: u32,
        /// The known number of low zero bits of the first lane's value.
        align: u8,
    },
    /// Any bits in each lane.
    Varying,
}

impl Shape {
    /// The same bits in all lanes.
    pub const UNIFORM: Shape = Shape::Affine { stride: 0, align: 0 };
    /// The number of the lane.
    pub const LANE: Shape = Shape::Affine { stride: 1, align: 32 };

    /// Bits that grow by `stride` from lane to lane.
    pub fn affine(stride: u32) -> Shape {
        Shape::Affine { stride, align: 0 }
    }

    /// The shape of a constant.
    pub fn constant(bits: u32) -> Shape {
        Shape::Affine { stride: 0, align: bits.trailing_zeros() as u8 }
    }

    /// True if all lanes have the same bits.
    pub fn is_uniform(self) -> bool {
        self.stride() == Some(0)
    }

    /// The difference from lane to lane; `None` when it is varying.
    pub fn stride(self) -> Option<u32> {
        match self {
            Shape::Affine { stride, .. } => Some(stride),
            Shape::Varying => None,
        }
    }

    /// The smallest shape that covers both.
    #[must_use]
    pub fn join(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Affine { stride, align: a }, Shape::Affine { stride: other, align: b }) if stride == other => {
                Shape::Affine { stride, align: a.min(b) }
            }
            _ => Shape::Varying,
        }
    }

    /// The shape without what is known of the base.
    #[must_use]
    pub fn unaligned(self) -> Shape {
        self.join(Shape::Affine { stride: self.stride().unwrap_or(0), align: 0 })
    }

    /// The number of low bits in which `lanes` lanes differ from the base, when the base has zeros
    /// there: then no carry leaves them.
    fn low_bits(self, lanes: u32) -> Option<u32> {
        let Shape::Affine { stride, align } = self else { return None };
        let span = u64::from(lanes.saturating_sub(1)) * u64::from(stride);
        let bits = u64::BITS - span.leading_zeros();
        (bits <= u32::from(align)).then_some(bits)
    }
}

impl fmt::Display for Shape {
    /// `uniform`, `affine(2)`, `affine(1, aligned 4)` or `varying`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Shape::Varying => f.write_str("varying"),
            Shape::Affine { stride: 0, .. } => f.write_str("uniform"),
            Shape::Affine { stride, align: 0 } => write!(f, "affine({})", stride as i32),
            Shape::Affine { stride, align } => write!(f, "affine({}, aligned {})", stride as i32, 1u64 << align),
        }
    }
}

/// The function that an operation computes, as far as shapes are concerned. Integers have 32 bits
/// and wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Any function of the operands alone.
    Pure,
    /// The operand's bits.
    Copy,
    /// `a + b`
    Add,
    /// `a − b`
    Sub,
    /// `a · b`
    Mul,
    /// `a << (b & 31)`
    ShiftLeft,
    /// `a >> (b & 31)`, of either kind.
    ShiftRight,
    /// `a & b`
    And,
    /// True if the bits of two operands are equal.
    Equal,
    /// `condition, a, b → a or b`
    Select,
    /// This shape, whatever the operands.
    Given(Shape),
    /// `index, element →` writes an element of an array, which is the result; see
    /// [`super::Flow`].
    Store,
    /// The result of the function of that number for the operands.
    Call(usize),
}

/// An operand: its shape, and its bits where it is a constant.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The shape.
    pub shape: Shape,
    /// The bits of a constant.
    pub constant: Option<u32>,
}

impl Rule {
    /// The shape of the result for `lanes` lanes. ([`Rule::Store`] and [`Rule::Call`] depend on
    /// more than the operands and give varying results here.)
    pub fn apply(self, operands: &[Operand], lanes: u32) -> Shape {
        use Shape::{Affine, Varying};
        let all_uniform = operands.iter().all(|o| o.shape.is_uniform());
        let pure = if all_uniform { Shape::UNIFORM } else { Varying };
        match (self, operands) {
            (Rule::Given(shape), _) => shape,
            (Rule::Copy, [a]) => a.shape,
            (Rule::Add | Rule::Sub, [a, b]) => match (a.shape, b.shape) {
                (Affine { stride: s, align: a }, Affine { stride: t, align: b }) => {
                    let stride = if self == Rule::Add { s.wrapping_add(t) } else { s.wrapping_sub(t) };
                    Affine { stride, align: a.min(b) }
                }
                _ => Varying,
            },
            (Rule::Mul, [a, b]) => match (a.shape, b.shape) {
                (Affine { stride, align: a_align }, Affine { stride: other, align: b_align }) => {
                    let align = (a_align + b_align).min(32);
                    match (stride, other, a.constant, b.constant) {
                        (0, 0, ..) => Affine { stride: 0, align },
                        (_, 0, _, Some(by)) => Affine { stride: stride.wrapping_mul(by), align },
                        (0, _, Some(by), _) => Affine { stride: other.wrapping_mul(by), align },
                        _ => Varying,
                    }
                }
                _ => Varying,
            },
            (Rule::ShiftLeft, [a, b]) => match (a.shape, b.constant) {
                (Affine { stride, align }, Some(by)) => {
                    let by = by & 31;
                    Affine { stride: stride << by, align: (align + by as u8).min(32) }
                }
                _ => pure,
            },
            (Rule::ShiftRight, [a, b]) => match (a.shape.low_bits(lanes), b.constant) {
                (Some(bits), Some(by)) if bits <= by & 31 => Shape::UNIFORM,
                _ => pure,
            },
            (Rule::And, [a, b]) => match (a.constant, b.constant) {
                (_, Some(mask)) => masked(a.shape, mask, lanes).unwrap_or(pure),
                (Some(mask), _) => masked(b.shape, mask, lanes).unwrap_or(pure),
                _ => pure,
            },
            (Rule::Equal, [a, b]) if a.shape.stride().is_some() && a.shape.stride() == b.shape.stride() => {
                Shape::UNIFORM
            }
            (Rule::Select, [condition, a, b]) if condition.shape.is_uniform() => a.shape.join(b.shape),
            (Rule::Store | Rule::Call(_), _) => Varying,
            _ => pure,
        }
    }
}

/// The shape of `x & mask`, where no lane's difference from the base is cut in two.
fn masked(x: Shape, mask: u32, lanes: u32) -> Option<Shape> {
    let Shape::Affine { stride, align } = x else { return None };
    let bits = x.low_bits(lanes)?;
    let low = if bits >= 32 { u32::MAX } else { (1 << bits) - 1 };
    let align = align.max(mask.trailing_zeros() as u8);
    match mask & low {
        0 => Some(Shape::Affine { stride: 0, align }),
        kept if kept == low => Some(Shape::Affine { stride, align }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    /// The integer operations on bits.
    fn evaluate(rule: Rule, a: u32, b: u32) -> u32 {
        match rule {
            Rule::Add => a.wrapping_add(b),
            Rule::Sub => a.wrapping_sub(b),
            Rule::Mul => a.wrapping_mul(b),
            Rule::ShiftLeft => a << (b & 31),
            Rule::ShiftRight => a >> (b & 31),
            Rule::And => a & b,
            Rule::Equal => u32::from(a == b),
            other => unreachable!("{other:?} is not tested here"),
        }
    }

    fn covers(shape: Shape, values: &[u32]) -> bool {
        let Shape::Affine { stride, align } = shape else { return true };
        let fits = |(l, v): (usize, &u32)| *v == values[0].wrapping_add(stride.wrapping_mul(l as u32));
        values.iter().enumerate().all(fits) && values[0].trailing_zeros() >= u32::from(align)
    }

    #[test]
    fn every_rule_covers_what_the_operation_computes() {
        let rules = [Rule::Add, Rule::Sub, Rule::Mul, Rule::ShiftLeft, Rule::ShiftRight, Rule::And, Rule::Equal];
        let mut state = 1u32;
        let mut next = move || {
            state = random::hash(state);
            state
        };
        let mut precise = 0;
        for _ in 0..40_000 {
            let lanes = [2, 4, 8][next() as usize % 3];
            let mut operand = || {
                let align = [0, 2, 3, 8][next() as usize % 4];
                let base = match next() % 3 {
                    0 => (next() % 64) << align,
                    _ => next() << align,
                };
                let stride = [0, 1, 2, 4, u32::MAX, 12][next() as usize % 6];
                let constant = (stride == 0 && next() % 2 == 0).then_some(base);
                let shape = constant.map_or(Shape::Affine { stride, align }, Shape::constant);
                let values: Vec<u32> = (0..lanes).map(|l| base.wrapping_add(stride.wrapping_mul(l))).collect();
                (Operand { shape, constant }, values)
            };
            let ((a, xs), (b, ys)) = (operand(), operand());
            for rule in rules {
                let result = rule.apply(&[a, b], lanes);
                let values: Vec<u32> = xs.iter().zip(&ys).map(|(x, y)| evaluate(rule, *x, *y)).collect();
                assert!(covers(result, &values), "{rule:?} {a:?} {b:?} gives {result:?}, but {values:?}");
                precise += usize::from(result != Shape::Varying);
            }
        }
        assert!(precise > 100_000, "{precise} results are known");
    }

    #[test]
    fn the_number_of_a_lanes_group_is_uniform_and_its_place_in_the_group_affine() {
        let index = Operand { shape: Shape::Affine { stride: 1, align: 3 }, constant: None };
        let constant = |bits: u32| Operand { shape: Shape::constant(bits), constant: Some(bits) };
        assert!(Rule::ShiftRight.apply(&[index, constant(3)], 8).is_uniform());
        assert_eq!(Rule::ShiftRight.apply(&[index, constant(2)], 8), Shape::Varying);
        assert_eq!(Rule::And.apply(&[index, constant(7)], 8).stride(), Some(1));
        assert!(Rule::And.apply(&[index, constant(!7)], 8).is_uniform());
        assert_eq!(Rule::And.apply(&[index, constant(6)], 8), Shape::Varying);
    }

    #[test]
    fn joins_go_up_only() {
        let shapes = [Shape::UNIFORM, Shape::constant(8), Shape::LANE, Shape::affine(1), Shape::Varying];
        for a in shapes {
            for b in shapes {
                assert_eq!(a.join(b), b.join(a));
                assert_eq!(a.join(b).join(b), a.join(b));
            }
        }
        assert_eq!(Shape::constant(8).join(Shape::LANE), Shape::Varying);
    }
}
