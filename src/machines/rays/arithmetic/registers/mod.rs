//! The register programs of appendix A.2 (Ullner 1983, figs. ), bit by bit and corrected.
//!
//! Bits of a register are numbered from the most significant, `⟨1⟩`. Fractions are `⟨1:24⟩` with
//! the binary point before `⟨1⟩`, which is set unless the number is zero. The figures leave signs
//! out; here they are kept beside the fractions. What is wrong in the printed programs, each shown
//! by a test:
//!
//! - **A-1, multiplication**, computes the right fraction, but gives a product of zero the exponent
//!   of any other product. Added to a smaller number, this zero shifts all its bits out. The last
//!   line of A-2 belongs here, too. Also, the 25th bit of the product register is the carry `⟨0⟩`,
//!   so the normalizing shift brings in a zero where a good bit was dropped: such products have 23
//!   bits.
//! - **A-2, addition**: `max(…, 24)` must be `min`, or each shift empties the register. Only
//!   unequal exponents set `e_s`. The loop that normalizes does not count, and does not end for a
//!   sum of zero. Its 24 shifts ask for a sum register `⟨1:25⟩`, in which halving the addends is
//!   wiring and costs no bit; in one of 24 bits the addends' last bits would be lost.
//! - **A-3, division**, shifts the divisor right, where the text shifts the dividend left: the
//!   divisor's bits fall out of the register, and every later bit of the quotient is a one. It
//!   normalizes the divisor instead of the quotient, and leaves out the zero of A-1.
//! - **A-4, root**, makes the exponent even, but never halves it. Its test `≥` is right and the
//!   text's "if the operand register is larger" is not: roots of squares would come out too small.
//!   The widths of 26 and 49 bits are just enough.

/// A number in registers: `±f⟨1:24⟩·2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// True if it is less than zero.
    pub negative: bool,
    /// From [`SMALLEST`] (for zero as well) to [`LARGEST`].
    pub exponent: i32,
    /// 24 bits; the first is set, or the number is zero.
    pub fraction: u32,
}

/// The smallest exponent, which is also that of zero.
pub const SMALLEST: i32 = -125;

/// The largest exponent.
pub const LARGEST: i32 = 128;

impl Registers {
    /// Loads a number. `None` if it is not valid (infinite or NaN).
    pub fn load(x: f32) -> Option<Registers> {
        let (biased, bits) = ((x.to_bits() >> 23 & 0xff) as i32, x.to_bits() & 0x7f_ffff);
        let number = Registers { negative: x < 0.0, exponent: biased - 126, fraction: bits | 1 << 23 };
        match biased {
            0 => Some(Registers { negative: false, exponent: SMALLEST, fraction: 0 }),
            255 => None,
            _ => Some(number),
        }
    }

    /// The number as a float. NaN if its exponent is too large; zero if it is too small or the
    /// fraction is not normalized.
    pub fn store(self) -> f32 {
        if bit::<24>(self.fraction.into(), 1) == 0 || self.exponent < SMALLEST {
            return 0.0;
        }
        if self.exponent > LARGEST {
            return f32::NAN;
        }
        let magnitude = ((self.exponent + 126) as u32) << 23 | self.fraction & 0x7f_ffff;
        f32::from_bits(u32::from(self.negative) << 31 | magnitude)
    }
}

/// Bit `⟨i⟩` of a register `⟨1:WIDTH⟩`.
fn bit<const WIDTH: u32>(register: u64, i: u32) -> u64 {
    register >> (WIDTH - i) & 1
}

/// A register `⟨1:WIDTH⟩` shifted left by one.
fn left<const WIDTH: u32>(register: u64) -> u64 {
    register << 1 & ((1 << WIDTH) - 1)
}

/// Fig. A-1, corrected: 24 additions, 25 shifts.
pub fn multiply(a: Registers, b: Registers) -> Registers {
    let mut exponent = a.exponent + b.exponent;
    let (f_a, mut f_b) = (u64::from(a.fraction), u64::from(b.fraction));
    // ⟨0:24⟩: the sum of two fractions carries.
    let mut f_p = 0;
    for _ in 0..24 {
        if bit::<24>(f_b, 24) == 1 {
            f_p += f_a;
        }
        f_p >>= 1;
        f_b >>= 1;
    }
    if bit::<24>(f_p, 1) == 0 {
        f_p = left::<24>(f_p);
        exponent -= 1;
    }
    if bit::<24>(f_p, 1) == 0 {
        exponent = SMALLEST;
    }
    Registers { negative: a.negative != b.negative, exponent, fraction: f_p as u32 }
}

/// Fig. A-2, corrected: 1 addition, at most 48 shifts. A subtraction where the signs differ.
pub fn add(a: Registers, b: Registers) -> Registers {
    let (mut f_a, mut f_b) = (u64::from(a.fraction), u64::from(b.fraction));
    for _ in 0..(a.exponent - b.exponent).clamp(0, 24) {
        f_b >>= 1;
    }
    for _ in 0..(b.exponent - a.exponent).clamp(0, 24) {
        f_a >>= 1;
    }
    let mut exponent = a.exponent.max(b.exponent) + 1;
    // ⟨1:25⟩: half of ⟨1:24⟩ is ⟨2:25⟩.
    let (mut f_s, negative) = if a.negative == b.negative {
        (f_a + f_b, a.negative)
    } else if f_a >= f_b {
        (f_a - f_b, a.negative)
    } else {
        (f_b - f_a, b.negative)
    };
    let mut i = 0;
    while bit::<25>(f_s, 1) == 0 && i < 24 {
        f_s = left::<25>(f_s);
        exponent -= 1;
        i += 1;
    }
    if bit::<25>(f_s, 1) == 0 {
        exponent = SMALLEST;
    }
    Registers { negative, exponent, fraction: (f_s >> 1) as u32 }
}

/// Fig. A-3, corrected: 24 additions, 25 shifts. `None` for a divisor of zero.
pub fn divide(a: Registers, b: Registers) -> Option<Registers> {
    if b.fraction == 0 {
        return None;
    }
    let mut exponent = a.exponent - b.exponent + 1;
    // ⟨0:24⟩: twice what remains is less than twice the divisor.
    let mut f_a = u64::from(a.fraction);
    let f_b = u64::from(b.fraction);
    // ⟨1:25⟩.
    let mut f_q = 0;
    for _ in 0..24 {
        if f_a >= f_b {
            f_q |= 1;
            f_a -= f_b;
        }
        f_q = left::<25>(f_q);
        f_a <<= 1;
    }
    if bit::<25>(f_q, 1) == 0 {
        f_q = left::<25>(f_q);
        exponent -= 1;
    }
    if bit::<25>(f_q, 1) == 0 {
        exponent = SMALLEST;
    }
    Some(Registers { negative: a.negative != b.negative, exponent, fraction: (f_q >> 1) as u32 })
}

/// Fig. A-4, corrected: 24 additions, 25 shifts. `None` for a number less than zero.
pub fn root(a: Registers) -> Option<Registers> {
    if a.fraction == 0 {
        return Some(a);
    }
    if a.negative {
        return None;
    }
    let mut exponent = a.exponent;
    // ⟨1:49⟩: the remainder ⟨1:24⟩, the fraction ⟨25:48⟩ and a bit for its shift.
    let mut f_o = u64::from(a.fraction) << 1;
    if exponent & 1 == 1 {
        exponent += 1;
        f_o >>= 1;
    }
    exponent /= 2;
    // ⟨1:26⟩, of which ⟨25:26⟩ are fixed.
    let mut f_r = 0b01;
    for _ in 0..24 {
        let next = u64::from(f_o >> 23 >= f_r);
        f_o -= next * (f_r << 23);
        f_o = left::<49>(left::<49>(f_o));
        f_r = left::<24>(f_r >> 2) << 2 | next << 2 | 0b01;
    }
    Some(Registers { negative: false, exponent, fraction: (f_r >> 2) as u32 })
}

#[cfg(test)]
mod tests;
