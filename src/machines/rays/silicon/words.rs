//! The numbers of the hardware as the programs' words.

/// Bits of a number: a validity bit before the 32 of a word.
pub const NUMBER: u32 = 33;

/// Bits of a word of a memory or of the host.
pub const WORD: u32 = 32;

/// The word of a number. One that is not valid has an exponent field of ones.
pub fn word(x: f32) -> u128 {
    x.to_bits().into()
}

/// The number of an output, NaN if its validity bit is clear.
pub fn number(bits: u128) -> f32 {
    if bits >> WORD & 1 == 1 { f32::from_bits(bits as u32) } else { f32::NAN }
}

/// True if two numbers are the same to the bit, or both not valid.
pub fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}
