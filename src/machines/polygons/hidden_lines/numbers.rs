//! How the hardware represents numbers: parameters of lines as ratios, and coordinates with so many
//! bits, or exactly.
//!
//! With bits, coordinates and coefficients are integers below 2²³, which double precision holds
//! exactly with their products and the sums of three of them. So each comparison by cross
//! multiplication is exact, as it is in the hardware's multipliers.

/// A parameter of a line, `numerator / denominator`; the denominator is never negative, and 0 is for
/// the ends of the line at infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    numerator: f64,
    denominator: f64,
}

impl Ratio {
    /// The beginning of the line.
    pub const NEGATIVE_END: Self = Self { numerator: -1.0, denominator: 0.0 };
    /// The end of the line.
    pub const POSITIVE_END: Self = Self { numerator: 1.0, denominator: 0.0 };
    /// The beginning of the segment.
    pub const ZERO: Self = Self { numerator: 0.0, denominator: 1.0 };
    /// The end of the segment.
    pub const ONE: Self = Self { numerator: 1.0, denominator: 1.0 };

    /// The ratio of two numbers, not both 0. The flag `v` of a message has the sign of the
    /// denominator, so that messages carry no sign for it.
    pub fn new(numerator: f64, denominator: f64) -> Self {
        let sign = if denominator < 0.0 { -1.0 } else { 1.0 };
        Self { numerator: sign * numerator, denominator: sign * denominator }
    }

    /// True if this comes before `other` on the line, by cross multiplication.
    pub fn before(self, other: Self) -> bool {
        if self.denominator == 0.0 && other.denominator == 0.0 {
            return self.numerator < other.numerator;
        }
        self.numerator * other.denominator < other.numerator * self.denominator
    }

    /// The quotient, which the divider at the end of the pipeline computes.
    pub fn value(self) -> f64 {
        self.numerator / self.denominator
    }
}

/// Bits of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Double precision.
    Exact,
    /// Integers of so many bits, 8 to 24, with a sign.
    Bits(u32),
}

impl Format {
    /// The format of a setting: 0 is exact.
    pub fn with_bits(bits: u32) -> Self {
        if bits == 0 { Self::Exact } else { Self::Bits(bits.clamp(8, 24)) }
    }

    /// The number that stands for 1.
    pub fn one(self) -> f64 {
        match self {
            Self::Exact => 1.0,
            Self::Bits(bits) => f64::from((1u32 << (bits - 1)) - 1),
        }
    }

    /// A coordinate from −1 to 1 in this format.
    pub fn coordinate(self, value: f64) -> f64 {
        match self {
            Self::Exact => value,
            Self::Bits(_) => (value.clamp(-1.0, 1.0) * self.one()).round(),
        }
    }

    /// The ratio `numerator / denominator` as a message carries it; the denominator is not 0.
    ///
    /// With bits, both are shifted by as many places as the larger needs. A denominator that this
    /// would make 0 becomes ±1: to be parallel is a property of lines, and not of rounding. Without
    /// bits the division is done at once, so that equal parameters are equal numbers.
    pub fn ratio(self, numerator: f64, denominator: f64) -> Ratio {
        match self {
            // Within the range in which products are numbers.
            Self::Exact => Ratio::new((numerator / denominator).clamp(-1e150, 1e150), 1.0),
            Self::Bits(_) => {
                let larger = numerator.abs().max(denominator.abs());
                let places = (larger / self.one()).log2().ceil().max(0.0);
                let scale = (-places).exp2();
                let [numerator, rounded] = [numerator, denominator].map(|x| (x * scale).round());
                Ratio::new(numerator, if rounded == 0.0 { denominator.signum() } else { rounded })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_ordered_from_one_end_of_a_line_to_the_other() {
        let ordered = [
            Ratio::NEGATIVE_END,
            Ratio::new(3.0, -2.0),
            Ratio::ZERO,
            Ratio::new(1.0, 3.0),
            Ratio::new(-1.0, -2.0),
            Ratio::ONE,
            Ratio::POSITIVE_END,
        ];
        for (i, a) in ordered.iter().enumerate() {
            for (j, b) in ordered.iter().enumerate() {
                assert_eq!(a.before(*b), i < j, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn cross_multiplication_tells_neighboring_ratios_of_24_bits_apart() {
        let one = Format::Bits(24).one();
        assert!(Ratio::new(one - 2.0, one - 1.0).before(Ratio::new(one - 1.0, one)));
        assert!(!Ratio::new(one - 1.0, one).before(Ratio::new(one - 2.0, one - 1.0)));
    }

    #[test]
    fn a_ratio_keeps_the_bits_of_its_larger_number() {
        let ratio = Format::Bits(16).ratio(3.0 * 65536.0, -65536.0 * 32767.0);
        assert_eq!(ratio, Ratio::new(-3.0, 32767.0));
        // A line that is nearly parallel is no parallel one.
        assert_eq!(Format::Bits(16).ratio(1e9, -1.0).value(), -30518.0);
    }
}
