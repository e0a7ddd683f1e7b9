//! Ranges of floats: the smallest and the largest number that a computation can give, from those of
//! its operands.
//!
//! Rounding to nearest is monotone, so the same operations on the ends of the ranges give the ends
//! exactly. The order is that of [`f32::total_cmp`], which distinguishes −0 from 0. A range says
//! nothing of NaN: a value lies in it or is NaN.

use crate::fold::eval_op;
use crate::{Const, Op, Type};
use std::cmp::Ordering;

/// All components of a value lie between these, or are NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    /// The smallest.
    pub(super) low: f32,
    /// The largest.
    pub(super) high: f32,
}

impl Range {
    /// Any number.
    pub(super) const ALL: Range = Range { low: f32::NEG_INFINITY, high: f32::INFINITY };
    /// No smaller than 0, which is not −0.
    const POSITIVE: Range = Range { low: 0.0, high: f32::INFINITY };
    const UNIT: Range = Range { low: 0.0, high: 1.0 };

    /// The least range with all of these numbers; everything when one is NaN.
    fn hull(numbers: &[f32]) -> Range {
        if numbers.is_empty() || numbers.iter().any(|x| x.is_nan()) {
            return Range::ALL;
        }
        let (mut low, mut high) = (numbers[0], numbers[0]);
        for &x in numbers {
            low = if lt(x, low) { x } else { low };
            high = if lt(high, x) { x } else { high };
        }
        Range { low, high }
    }

    /// The least range that holds both.
    pub(super) fn or(self, other: Range) -> Range {
        Range::hull(&[self.low, self.high, other.low, other.high])
    }

    /// True if every number of this range is below every one of the other or has the same bits.
    pub(super) fn is_below(self, other: Range) -> bool {
        let is_same_zero = self.is_not_negative() && other.is_not_negative();
        self.high < other.low || self.high == other.low && (self.high != 0.0 || is_same_zero)
    }

    /// True if every number of the range lies in 0 to 1, without −0.
    pub(super) fn is_saturated(self) -> bool {
        self.is_not_negative() && self.high <= 1.0
    }

    /// True if the sign bit of every number of the range is clear.
    pub(super) fn is_not_negative(self) -> bool {
        self.low.is_sign_positive()
    }

    /// A zero at the lower end whose sign rounding may have chosen counts as −0, one at the upper
    /// end as 0.
    fn with_any_zeros(self) -> Range {
        let low = if self.low == 0.0 { -0.0 } else { self.low };
        let high = if self.high == 0.0 { 0.0 } else { self.high };
        Range { low, high }
    }
}

fn lt(a: f32, b: f32) -> bool {
    a.total_cmp(&b) == Ordering::Less
}

/// The range of what `op` computes from operands in these ranges; `same` means that two operands
/// are one value. For operations without float results, everything.
pub(super) fn range_of(op: &Op, args: &[Range], same: bool, operand: Option<Type>) -> Range {
    match (op, args) {
        (Op::Const(c), _) => c.floats().map_or(Range::ALL, Range::hull),
        (Op::Neg, [a]) => Range { low: -a.high, high: -a.low },
        (Op::Abs, [a]) if a.is_not_negative() => *a,
        (Op::Abs, [a]) => Range { low: 0.0, high: a.low.abs().max(a.high.abs()) },
        (Op::Sat, [a]) => ends(op, *a),
        (Op::Frac, _) => Range::UNIT,
        (Op::Floor, [a]) => ends(op, *a).with_any_zeros(),
        // The root of a negative number is NaN, that of −0 is 0.
        (Op::Sqrt, [a]) if a.is_not_negative() => ends(op, *a),
        (Op::Sqrt, _) => Range::POSITIVE,
        // The reciprocals of −0 and 0 lie far apart.
        (Op::Rcp | Op::Rsq, [a]) if a.is_not_negative() => ends(op, *a),
        (Op::Rcp, [a]) if !(a.high.is_sign_positive()) => ends(op, *a),
        (Op::Add, [a, b]) => sum(*a, *b),
        (Op::Sub, [a, b]) => sum(*a, Range { low: -b.high, high: -b.low }).with_any_zeros(),
        (Op::Mul, [a, b]) => product(*a, *b, same),
        (Op::Min | Op::Max, [a, b]) => {
            let pick = |x: f32, y: f32| if (op == &Op::Min) == lt(x, y) { x } else { y };
            let picked = Range { low: pick(a.low, b.low), high: pick(a.high, b.high) };
            // Of two zeros either may come out.
            if a.is_not_negative() && b.is_not_negative() { picked } else { picked.with_any_zeros() }
        }
        (Op::Dot, [a, b]) => {
            let term = product(*a, *b, same);
            let lanes = operand.and_then(Type::lanes).unwrap_or(4);
            (1..lanes).fold(term, |total, _| sum(total, term))
        }
        (Op::Compose | Op::Insert(_), [first, rest @ ..]) => rest.iter().fold(*first, |all, &r| all.or(r)),
        (Op::Splat | Op::Extract(_), [a]) => *a,
        (Op::Select, [_, a, b]) => a.or(*b),
        (Op::ToFloat, _) if operand == Some(Type::U32) => Range { low: 0.0, high: u32::MAX as f32 },
        _ => Range::ALL,
    }
}

/// The range between the results at both ends.
fn ends(op: &Op, a: Range) -> Range {
    let at = |x: f32| match eval_op(op, &[&Const::F32(x)], Type::F32) {
        Some(Const::F32(y)) => y,
        _ => f32::NAN,
    };
    Range::hull(&[at(a.low), at(a.high)])
}

fn sum(a: Range, b: Range) -> Range {
    let (low, high) = (a.low + b.low, a.high + b.high);
    let total = Range {
        low: if low.is_nan() { f32::NEG_INFINITY } else { low },
        high: if high.is_nan() { f32::INFINITY } else { high },
    };
    // x + −x is 0, not −0.
    if a.is_not_negative() && b.is_not_negative() { total } else { total.with_any_zeros() }
}

fn product(a: Range, b: Range, same: bool) -> Range {
    // 0 times an infinite end: the numbers before the end give 0.
    let times = |x: f32, y: f32| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
    if same {
        let (x, y) = (a.low * a.low, a.high * a.high);
        let nearest = if a.low > 0.0 || a.high < 0.0 { x.min(y) } else { 0.0 };
        return Range { low: nearest, high: x.max(y) };
    }
    let all = Range::hull(&[times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)]);
    if a.is_not_negative() && b.is_not_negative() { all } else { all.with_any_zeros() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A number of any size and sign, often a special one.
    fn number(random: &mut Random) -> f32 {
        const SPECIAL: [f32; 8] = [0.0, -0.0, 1.0, -1.0, f32::MIN_POSITIVE, f32::MAX, -f32::MAX, 1e-45];
        match random.below(3) {
            0 => SPECIAL[random.below(SPECIAL.len())],
            1 => random.float(),
            _ => Some(f32::from_bits(random.bits() as u32)).filter(|x| !x.is_nan()).unwrap_or(0.5),
        }
    }

    #[test]
    fn what_is_computed_lies_in_the_range() {
        let unary = [Op::Neg, Op::Abs, Op::Sat, Op::Frac, Op::Floor, Op::Sqrt, Op::Rcp, Op::Rsq];
        let binary = [Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max];
        let mut random = Random::new(7);
        for turn in 0..200_000 {
            let numbers: Vec<f32> = (0..4).map(|_| number(&mut random)).collect();
            let ranges = [Range::hull(&numbers[..2]), Range::hull(&numbers[2..])];
            let pick = |random: &mut Random, r: Range, i: usize| match random.below(4) {
                0 if r.low <= 0.0 && r.high >= 0.0 && (r.low.is_sign_negative() && r.high.is_sign_positive()) => 0.0,
                n => numbers[2 * i + n % 2],
            };
            let (a, b) = (pick(&mut random, ranges[0], 0), pick(&mut random, ranges[1], 1));
            let (op, args, range) = match turn % 3 {
                0 => {
                    let op = &unary[random.below(unary.len())];
                    (op, vec![a], range_of(op, &ranges[..1], false, None))
                }
                1 => {
                    let op = &binary[random.below(binary.len())];
                    (op, vec![a, b], range_of(op, &ranges, false, None))
                }
                _ => (&Op::Mul, vec![a, a], range_of(&Op::Mul, &[ranges[0]; 2], true, None)),
            };
            let operands: Vec<Const> = args.iter().map(|&x| Const::F32(x)).collect();
            let Some(Const::F32(x)) = eval_op(op, &operands.iter().collect::<Vec<_>>(), Type::F32) else {
                panic!("{op:?} of {args:?}")
            };
            assert!(
                x.is_nan() || !lt(x, range.low) && !lt(range.high, x),
                "{op:?} of {args:?} is {x:?}, not in {range:?}"
            );
        }
    }

    #[test]
    fn squares_and_saturated_numbers_have_tight_ranges() {
        let any = Range::ALL;
        assert_eq!(range_of(&Op::Dot, &[any, any], true, Some(Type::Vec3)), Range::POSITIVE);
        assert_eq!(range_of(&Op::Dot, &[any, any], false, Some(Type::Vec3)), any);
        assert!(range_of(&Op::Sat, &[any], false, None).is_saturated());
        assert!(range_of(&Op::Mul, &[Range::UNIT, Range::UNIT], false, None).is_saturated());
        assert!(!range_of(&Op::Mul, &[Range::UNIT, any], false, None).is_not_negative());
    }
}
