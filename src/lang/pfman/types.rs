//! The types of pfman (Olano 1998, §4.1.1), and the types of intermediate results of fixed point
//! (§4.3.3).
//!
//! A fixed-point number of `size` bits and an exponent stands for `stored · 2⁻ᵉˣᵖᵒⁿᵉⁿᵗ`. The sign
//! bit is not counted. What an operation gives exactly is a type that these rules state; what of
//! that is kept is decided from the other end, by [`Fixed::limited`].

use shadewright_ir as ir;
use std::fmt;

/// Most bits of a number with its sign: those of a register.
pub const MAX_BITS: u32 = 32;

/// Most elements of an array: each is a value of its own.
pub const MAX_ELEMENTS: u32 = 1024;

/// Most dimensions of an array.
pub const MAX_RANK: usize = 8;

/// Exponents lie between this and its negative, so that powers of two are numbers in single
/// precision.
pub const MAX_EXPONENT: i32 = 126;

/// A class of fixed-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fixed {
    /// True if there are negative ones.
    pub signed: bool,
    /// Bits without the sign.
    pub size: u32,
    /// The exponent: a number is what is stored, divided by two to this power.
    pub exponent: i32,
}

impl Fixed {
    /// Whole numbers from 0 to what this many bits hold.
    pub const fn whole(size: u32) -> Self {
        Self { signed: false, size, exponent: 0 }
    }

    /// Bits of the whole part; negative for numbers all below one half, a quarter, ….
    pub fn whole_bits(self) -> i32 {
        self.size as i32 - self.exponent
    }

    /// Bits with the sign.
    pub fn bits(self) -> u32 {
        self.size + u32::from(self.signed)
    }

    /// Bytes in the memory of hardware that works on whole bytes.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8).max(1)
    }

    /// The type of so many bits before and after the point.
    fn new(signed: bool, whole_bits: i32, exponent: i32) -> Self {
        Self { signed, size: (whole_bits + exponent).max(1) as u32, exponent }
    }

    /// The smallest value.
    pub fn min(self) -> f64 {
        if self.signed { -self.scaled(2f64.powi(self.size as i32)) } else { 0.0 }
    }

    /// The largest value.
    pub fn max(self) -> f64 {
        self.scaled(2f64.powi(self.size as i32) - 1.0)
    }

    fn scaled(self, stored: f64) -> f64 {
        stored * 2f64.powi(-self.exponent)
    }

    /// The number that is stored for a value: the digits beyond the last are cut off. `None` for a
    /// value that the type does not hold.
    pub fn stored(self, value: f64) -> Option<i64> {
        let stored = (value * 2f64.powi(self.exponent)).trunc();
        let value = self.scaled(stored);
        (self.min() <= value && value <= self.max()).then_some(stored as i64)
    }

    /// The value that is stored so.
    pub fn value(self, stored: i64) -> f64 {
        self.scaled(stored as f64)
    }

    /// The exact sum.
    pub fn sum(self, other: Self) -> Self {
        let whole = self.whole_bits().max(other.whole_bits()) + 1;
        Self::new(self.signed || other.signed, whole, self.exponent.max(other.exponent))
    }

    /// The exact difference. That of two numbers without signs is no larger than they are.
    pub fn difference(self, other: Self) -> Self {
        let whole = self.whole_bits().max(other.whole_bits()) + i32::from(self.signed || other.signed);
        Self::new(true, whole, self.exponent.max(other.exponent))
    }

    /// The exact product: sizes and exponents add.
    pub fn product(self, other: Self) -> Self {
        Self {
            signed: self.signed || other.signed,
            size: self.size + other.size,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The quotient: the largest is the largest number divided by the smallest, the smallest the
    /// other way round; digits beyond that are cut off.
    pub fn quotient(self, other: Self) -> Self {
        Self {
            signed: self.signed || other.signed,
            size: self.size + other.size,
            exponent: self.exponent + other.size as i32 - other.exponent,
        }
    }

    /// The remainder of a division, which has the sign of the first number.
    pub fn remainder(self, other: Self) -> Self {
        let exponent = self.exponent.max(other.exponent);
        Self::new(self.signed, self.whole_bits().min(other.whole_bits()), exponent)
    }

    /// The negative of any number of the type.
    pub fn negated(self) -> Self {
        Self { signed: true, size: self.size + u32::from(self.signed), ..self }
    }

    /// A type that holds the numbers of both.
    pub fn common(self, other: Self) -> Self {
        let whole = self.whole_bits().max(other.whole_bits());
        Self::new(self.signed || other.signed, whole, self.exponent.max(other.exponent))
    }

    /// The sum of `n` numbers of the type.
    pub fn sum_of(self, n: u32) -> Self {
        Self { size: self.size + n.max(1).next_power_of_two().trailing_zeros(), ..self }
    }

    /// No more than is needed for a result of another type: digits beyond its last, and bits of the
    /// whole part that it has no place for.
    pub fn limited(self, result: Self) -> Self {
        let whole = self.whole_bits().min(result.whole_bits());
        Self::new(self.signed, whole, self.exponent.min(result.exponent))
    }

    /// The type of the part that a register holds: digits after the point go first.
    pub fn in_register(self) -> Self {
        let excess = self.bits().saturating_sub(MAX_BITS);
        Self { size: self.size - excess, exponent: self.exponent - excess as i32, ..self }
    }
}

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.signed { "" } else { "unsigned " };
        write!(f, "{sign}fixed<{},{}>", self.size, self.exponent)
    }
}

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// The result of a comparison: 0 or 1. It cannot be declared.
    Bool,
    /// Single precision.
    Float,
    /// Fixed point.
    Fixed(Fixed),
}

impl Scalar {
    /// The type as fixed point, where it is not `float`.
    pub fn fixed(self) -> Option<Fixed> {
        match self {
            Scalar::Bool => Some(Fixed::whole(1)),
            Scalar::Fixed(fixed) => Some(fixed),
            Scalar::Float => None,
        }
    }

    /// The type of which both are part.
    pub fn common(self, other: Self) -> Self {
        match (self, other) {
            (Scalar::Bool, Scalar::Bool) => Scalar::Bool,
            _ => match (self.fixed(), other.fixed()) {
                (Some(a), Some(b)) => Scalar::Fixed(a.common(b)),
                _ => Scalar::Float,
            },
        }
    }

    /// Bytes in the memory of hardware that works on whole bytes.
    pub fn bytes(self) -> u32 {
        self.fixed().map_or(4, Fixed::bytes)
    }

    /// The type of its values in the IR.
    pub fn ir(self) -> ir::Type {
        match self {
            Scalar::Bool => ir::Type::Bool,
            Scalar::Float => ir::Type::F32,
            Scalar::Fixed(Fixed { signed: true, .. }) => ir::Type::I32,
            Scalar::Fixed(_) => ir::Type::U32,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool => f.write_str("a truth value"),
            Scalar::Float => f.write_str("float"),
            Scalar::Fixed(fixed) => fixed.fmt(f),
        }
    }
}

/// The type of a value: a number, an array of any rank, or nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value.
    Void,
    /// Numbers of a type: one, or as many as these lengths say, outermost first.
    Numbers(Scalar, Vec<u32>),
}

impl Type {
    /// A number in single precision.
    pub const FLOAT: Type = Type::Numbers(Scalar::Float, Vec::new());
    /// The type of the result of a comparison.
    pub const BOOL: Type = Type::Numbers(Scalar::Bool, Vec::new());

    /// A number of a type.
    pub const fn number(scalar: Scalar) -> Self {
        Type::Numbers(scalar, Vec::new())
    }

    /// As many numbers in single precision.
    pub fn floats(n: u32) -> Self {
        Type::Numbers(Scalar::Float, vec![n])
    }

    /// The type of its numbers; that of `void` is no matter.
    pub fn scalar(&self) -> Scalar {
        match self {
            Type::Void => Scalar::Float,
            Type::Numbers(scalar, _) => *scalar,
        }
    }

    /// The lengths, outermost first; none of a number.
    pub fn dims(&self) -> &[u32] {
        match self {
            Type::Void => &[],
            Type::Numbers(_, dims) => dims,
        }
    }

    /// True if it is one number.
    pub fn is_number(&self) -> bool {
        matches!(self, Type::Numbers(_, dims) if dims.is_empty())
    }

    /// How many numbers it has.
    pub fn count(&self) -> usize {
        match self {
            Type::Void => 0,
            Type::Numbers(_, dims) => dims.iter().map(|&n| n as usize).product(),
        }
    }

    /// The same with numbers of another type.
    pub fn with_scalar(&self, scalar: Scalar) -> Self {
        match self {
            Type::Void => Type::Void,
            Type::Numbers(_, dims) => Type::Numbers(scalar, dims.clone()),
        }
    }

    /// The type that `n` indices give.
    pub fn element(&self, n: usize) -> Self {
        Type::Numbers(self.scalar(), self.dims().get(n..).unwrap_or_default().to_vec())
    }

    /// Bytes in the memory of hardware that works on whole bytes.
    pub fn bytes(&self) -> u32 {
        self.scalar().bytes() * self.count() as u32
    }

    /// The types of the IR's values that stand for it: a `vec3` for three floats that lie together,
    /// else one for each number.
    pub fn values(&self) -> Vec<ir::Type> {
        match (self.scalar(), self.dims().split_last()) {
            (Scalar::Float, Some((3, outer))) => {
                vec![ir::Type::Vec3; outer.iter().map(|&n| n as usize).product()]
            }
            (scalar, _) => vec![scalar.ir(); self.count()],
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Void => f.write_str("void"),
            Type::Numbers(scalar, dims) => {
                scalar.fmt(f)?;
                dims.iter().try_for_each(|n| write!(f, "[{n}]"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(size: u32, exponent: i32) -> Fixed {
        Fixed { signed: true, size, exponent }
    }

    /// Figure 4.8 of the thesis: `r = x*y + z`.
    #[test]
    fn sizes_are_those_of_the_thesis() {
        let (x, z, r) = (fixed(10, 10), fixed(15, 12), fixed(15, 12));
        let product = x.product(x);
        assert_eq!(product, fixed(20, 20));
        let sum = product.sum(z);
        assert_eq!(sum, fixed(24, 20));
        let sum = sum.limited(r);
        assert_eq!(sum, fixed(15, 12));
        assert_eq!(product.limited(sum), fixed(12, 12));
    }

    #[test]
    fn results_of_extreme_operands_fit_their_types() {
        let types = [
            fixed(4, 0),
            fixed(3, 5),
            fixed(4, -2),
            Fixed { signed: false, size: 4, exponent: 2 },
            Fixed { signed: false, size: 3, exponent: 9 },
        ];
        for a in types {
            for b in types {
                for x in [a.min(), a.max()] {
                    for y in [b.min(), b.max()] {
                        let holds = |ty: Fixed, value: f64| ty.stored(value).map(|s| ty.value(s)) == Some(value);
                        assert!(holds(a.sum(b), x + y), "{x} + {y}");
                        assert!(holds(a.difference(b), x - y), "{x} - {y}");
                        // Of the two smallest numbers the product is one beyond the largest.
                        let is_smallest = x == a.min() && y == b.min() && a.signed && b.signed;
                        assert!(is_smallest || holds(a.product(b), x * y), "{x} * {y}");
                        assert!(holds(a.common(b), x) && holds(a.common(b), y), "{x}, {y}");
                        assert!(holds(a.negated(), -x), "-{x}");
                    }
                }
            }
        }
    }

    #[test]
    fn types_are_written_as_in_source() {
        let color = Type::Numbers(Scalar::Fixed(Fixed { signed: false, size: 8, exponent: 8 }), vec![3]);
        assert_eq!(color.to_string(), "unsigned fixed<8,8>[3]");
        assert_eq!(color.bytes(), 3);
        assert_eq!(fixed(15, 0).bytes(), 2);
        assert_eq!(Type::Numbers(Scalar::Float, vec![2, 3]).values(), [ir::Type::Vec3; 2]);
        assert_eq!(color.values(), [ir::Type::U32; 3]);
    }
}
