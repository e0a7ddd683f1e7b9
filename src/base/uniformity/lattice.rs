//! The lattice of uniformity, and what operations do to it.

use std::fmt;

/// How a value differs between lanes, among those that compute it together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Uniformity {
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

impl Uniformity {
    /// The same bits in all lanes.
    pub const UNIFORM: Uniformity = Uniformity::Affine { stride: 0, align: 0 };
    /// The number of the lane.
    pub const LANE: Uniformity = Uniformity::Affine { stride: 1, align: 32 };

    /// Bits that grow by `stride` from lane to lane.
    pub fn affine(stride: u32) -> Uniformity {
        Uniformity::Affine { stride, align: 0 }
    }

    /// The uniformity of a constant.
    pub fn constant(bits: u32) -> Uniformity {
        Uniformity::Affine { stride: 0, align: bits.trailing_zeros() as u8 }
    }

    /// True if all lanes have the same bits.
    pub fn is_uniform(self) -> bool {
        self.stride() == Some(0)
    }

    /// The difference from lane to lane; `None` when it is varying.
    pub fn stride(self) -> Option<u32> {
        match self {
            Uniformity::Affine { stride, .. } => Some(stride),
            Uniformity::Varying => None,
        }
    }

    /// The smallest uniformity that covers both.
    #[must_use]
    pub fn join(self, other: Uniformity) -> Uniformity {
        match (self, other) {
            (Uniformity::Affine { stride, align: a }, Uniformity::Affine { stride: other, align: b })
                if stride == other =>
            {
                Uniformity::Affine { stride, align: a.min(b) }
            }
            _ => Uniformity::Varying,
        }
    }

    /// The uniformity without what is known of the base.
    #[must_use]
    pub fn unaligned(self) -> Uniformity {
        self.join(Uniformity::Affine { stride: self.stride().unwrap_or(0), align: 0 })
    }

    /// The number of low bits in which `lanes` lanes differ from the base, when the base has zeros
    /// there: then no carry leaves them.
    fn low_bits(self, lanes: u32) -> Option<u32> {
        let Uniformity::Affine { stride, align } = self else { return None };
        let span = u64::from(lanes.saturating_sub(1)) * u64::from(stride);
        let bits = u64::BITS - span.leading_zeros();
        (bits <= u32::from(align)).then_some(bits)
    }
}

impl fmt::Display for Uniformity {
    /// `uniform`, `affine(2)`, `affine(1, aligned 4)` or `varying`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Uniformity::Varying => f.write_str("varying"),
            Uniformity::Affine { stride: 0, .. } => f.write_str("uniform"),
            Uniformity::Affine { stride, align: 0 } => write!(f, "affine({})", stride as i32),
            Uniformity::Affine { stride, align } => write!(f, "affine({}, aligned {})", stride as i32, 1u64 << align),
        }
    }
}

/// The function that an operation computes, as far as uniformity is concerned. Integers have 32
/// bits and wrap.
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
    /// This uniformity, whatever the operands.
    Given(Uniformity),
    /// `index, element →` writes an element of an array, which is the result; see
    /// [`super::Flow`].
    Store,
    /// The result of the function of that number for the operands.
    Call(usize),
}

/// An operand: its uniformity, and its bits where it is a constant.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The uniformity.
    pub uniformity: Uniformity,
    /// The bits of a constant.
    pub constant: Option<u32>,
}

impl Rule {
    /// The uniformity of the result for `lanes` lanes. ([`Rule::Store`] and [`Rule::Call`] depend
    /// on more than the operands and give varying results here.)
    pub fn apply(self, operands: &[Operand], lanes: u32) -> Uniformity {
        use Uniformity::{Affine, Varying};
        let all_uniform = operands.iter().all(|o| o.uniformity.is_uniform());
        let pure = if all_uniform { Uniformity::UNIFORM } else { Varying };
        match (self, operands) {
            (Rule::Given(uniformity), _) => uniformity,
            (Rule::Copy, [a]) => a.uniformity,
            (Rule::Add | Rule::Sub, [a, b]) => match (a.uniformity, b.uniformity) {
                (Affine { stride: s, align: a }, Affine { stride: t, align: b }) => {
                    let stride = if self == Rule::Add { s.wrapping_add(t) } else { s.wrapping_sub(t) };
                    Affine { stride, align: a.min(b) }
                }
                _ => Varying,
            },
            (Rule::Mul, [a, b]) => match (a.uniformity, b.uniformity) {
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
            (Rule::ShiftLeft, [a, b]) => match (a.uniformity, b.constant) {
                (Affine { stride, align }, Some(by)) => {
                    let by = by & 31;
                    Affine { stride: stride << by, align: (align + by as u8).min(32) }
                }
                _ => pure,
            },
            (Rule::ShiftRight, [a, b]) => match (a.uniformity.low_bits(lanes), b.constant) {
                (Some(bits), Some(by)) if bits <= by & 31 => Uniformity::UNIFORM,
                _ => pure,
            },
            (Rule::And, [a, b]) => match (a.constant, b.constant) {
                (_, Some(mask)) => masked(a.uniformity, mask, lanes).unwrap_or(pure),
                (Some(mask), _) => masked(b.uniformity, mask, lanes).unwrap_or(pure),
                _ => pure,
            },
            (Rule::Equal, [a, b])
                if a.uniformity.stride().is_some() && a.uniformity.stride() == b.uniformity.stride() =>
            {
                Uniformity::UNIFORM
            }
            (Rule::Select, [condition, a, b]) if condition.uniformity.is_uniform() => a.uniformity.join(b.uniformity),
            (Rule::Store | Rule::Call(_), _) => Varying,
            _ => pure,
        }
    }
}

/// The uniformity of `x & mask`, where no lane's difference from the base is cut in two.
fn masked(x: Uniformity, mask: u32, lanes: u32) -> Option<Uniformity> {
    let Uniformity::Affine { stride, align } = x else { return None };
    let bits = x.low_bits(lanes)?;
    let low = if bits >= 32 { u32::MAX } else { (1 << bits) - 1 };
    let align = align.max(mask.trailing_zeros() as u8);
    match mask & low {
        0 => Some(Uniformity::Affine { stride: 0, align }),
        kept if kept == low => Some(Uniformity::Affine { stride, align }),
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

    fn covers(uniformity: Uniformity, values: &[u32]) -> bool {
        let Uniformity::Affine { stride, align } = uniformity else { return true };
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
                let uniformity = constant.map_or(Uniformity::Affine { stride, align }, Uniformity::constant);
                let values: Vec<u32> = (0..lanes).map(|l| base.wrapping_add(stride.wrapping_mul(l))).collect();
                (Operand { uniformity, constant }, values)
            };
            let ((a, xs), (b, ys)) = (operand(), operand());
            for rule in rules {
                let result = rule.apply(&[a, b], lanes);
                let values: Vec<u32> = xs.iter().zip(&ys).map(|(x, y)| evaluate(rule, *x, *y)).collect();
                assert!(covers(result, &values), "{rule:?} {a:?} {b:?} gives {result:?}, but {values:?}");
                precise += usize::from(result != Uniformity::Varying);
            }
        }
        assert!(precise > 100_000, "{precise} results are known");
    }

    #[test]
    fn the_number_of_a_lanes_group_is_uniform_and_its_place_in_the_group_affine() {
        let index = Operand { uniformity: Uniformity::Affine { stride: 1, align: 3 }, constant: None };
        let constant = |bits: u32| Operand { uniformity: Uniformity::constant(bits), constant: Some(bits) };
        assert!(Rule::ShiftRight.apply(&[index, constant(3)], 8).is_uniform());
        assert_eq!(Rule::ShiftRight.apply(&[index, constant(2)], 8), Uniformity::Varying);
        assert_eq!(Rule::And.apply(&[index, constant(7)], 8).stride(), Some(1));
        assert!(Rule::And.apply(&[index, constant(!7)], 8).is_uniform());
        assert_eq!(Rule::And.apply(&[index, constant(6)], 8), Uniformity::Varying);
    }

    #[test]
    fn joins_go_up_only() {
        let uniformities = [
            Uniformity::UNIFORM,
            Uniformity::constant(8),
            Uniformity::LANE,
            Uniformity::affine(1),
            Uniformity::Varying,
        ];
        for a in uniformities {
            for b in uniformities {
                assert_eq!(a.join(b), b.join(a));
                assert_eq!(a.join(b).join(b), a.join(b));
            }
        }
        assert_eq!(Uniformity::constant(8).join(Uniformity::LANE), Uniformity::Varying);
    }
}
