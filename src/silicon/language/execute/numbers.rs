//! Numbers that are known while compiling.
//!
//! A number without a size is an integer of 128 bits with a sign; a sum that does not fit is an
//! error. Beside a number of a known size it takes that size.

use crate::circuit::evaluate::{Sizes, evaluate, holds};
use crate::circuit::graph::{Comparison, Op};
use shadewright_base::bits::{Bits, MAX_WIDTH};

/// A number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    /// Without a size.
    Free(i128),
    /// Of a size.
    Sized(Bits, u32),
}

/// True if a number fits a size, as a signed or as an unsigned number.
pub fn fits(number: i128, size: u32) -> bool {
    size >= 128 || (number >= -(1 << (size - 1)) && number < 1 << size)
}

impl Number {
    /// A number of one bit.
    pub fn bit(value: bool) -> Self {
        Self::Sized(Bits::bit(value), 1)
    }

    /// The integer: of a size, the one without a sign.
    pub fn index(&self) -> Option<i128> {
        match self {
            Self::Free(number) => Some(*number),
            Self::Sized(bits, _) => bits.to_u128().and_then(|number| number.try_into().ok()),
        }
    }

    /// As a condition: 0 or 1, of one bit or without a size.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Self::Free(0) => Some(false),
            Self::Free(1) => Some(true),
            Self::Sized(bits, 1) => Some(bits.any()),
            _ => None,
        }
    }

    /// The bits in a size.
    pub fn sized(&self, size: u32) -> Result<Bits, String> {
        match self {
            Self::Free(number) if fits(*number, size) => Ok(Bits::from_i128(*number, size)),
            Self::Free(number) => Err(format!("the number {number} does not fit {size} bits")),
            Self::Sized(bits, own) if *own == size => Ok(bits.clone()),
            Self::Sized(_, own) => Err(format!("the sizes differ: {own} and {size} bits")),
        }
    }

    /// `value#size`: another size, with the same value if it fits.
    pub fn resized(&self, size: u32) -> Result<Self, String> {
        Ok(Self::Sized(
            match self {
                Self::Free(_) => self.sized(size)?,
                Self::Sized(bits, own) => bits.resize(*own, size),
            },
            size,
        ))
    }

    /// Bits `high` to `low`.
    pub fn slice(&self, high: u32, low: u32) -> Result<Self, String> {
        let bits = match self {
            Self::Free(number) => Bits::from_i128(*number, high + 1),
            Self::Sized(_, size) if high >= *size => {
                return Err(format!("bit {high} of a number of {size} bits"));
            }
            Self::Sized(bits, _) => bits.clone(),
        };
        Ok(Self::Sized(bits.extract(low, high - low + 1), high - low + 1))
    }

    /// `-x`
    pub fn negated(&self) -> Result<Self, String> {
        match self {
            Self::Free(number) => number.checked_neg().map(Self::Free).ok_or_else(too_large),
            Self::Sized(bits, size) => Ok(Self::Sized(Bits::zero(*size).sub(bits, *size).0, *size)),
        }
    }

    /// `NOT x`
    pub fn complement(&self) -> Self {
        match self {
            Self::Free(number) => Self::Free(!number),
            Self::Sized(bits, size) => Self::Sized(bits.not(*size), *size),
        }
    }
}

fn too_large() -> String {
    "a number without a size has at most 128 bits".to_string()
}

/// The result of an operation on two numbers, and the carry; none if sizes must be known first.
pub fn binary(op: &Op, a: &Number, b: &Number) -> Result<Option<(Number, Option<Number>)>, String> {
    let (a, b, size) = match (op, a, b) {
        (Op::Concat, Number::Sized(a, high), Number::Sized(b, low)) => {
            let output = high + low;
            if output > MAX_WIDTH {
                return Err(format!("a word has at most {MAX_WIDTH} bits"));
            }
            return Ok(Some((Number::Sized(a.concat(b, *low, output), output), None)));
        }
        (Op::Concat, ..) => return Ok(None),
        (_, Number::Free(a), Number::Free(b)) => return free(op, *a, *b).map(|number| Some((number, None))),
        (_, Number::Sized(_, size), _) | (_, _, Number::Sized(_, size)) => (a.sized(*size)?, b.sized(*size)?, *size),
    };
    let output = if matches!(op, Op::Compare(_)) { 1 } else { size };
    let sizes = Sizes { inputs: [size; 2], output };
    Ok(evaluate(op, &a, Some(&b), sizes)
        .map(|(word, carry)| (Number::Sized(word, output), carry.map(|bit| Number::Sized(bit, 1)))))
}

fn free(op: &Op, a: i128, b: i128) -> Result<Number, String> {
    let compare = |comparison: Comparison| Number::bit(holds(comparison, a.cmp(&b)));
    let number = match op {
        Op::Add => a.checked_add(b),
        Op::Sub => a.checked_sub(b),
        Op::Mul => a.checked_mul(b),
        Op::And => Some(a & b),
        Op::Or => Some(a | b),
        Op::Eqv => Some(!(a ^ b)),
        Op::Compare(comparison) => return Ok(compare(*comparison)),
        _ => None,
    };
    number.map(Number::Free).ok_or_else(too_large)
}
