//! Integer hashing for random numbers: the same bits on every back end and at any number of threads.

/// A 32-bit mix with full avalanche ("lowbias32" of Wellons, 2018).
#[inline]
pub fn hash(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// The high 24 bits as a float in [0, 1).
#[inline]
pub fn unit(x: u32) -> f32 {
    (x >> 8) as f32 / 16_777_216.0
}
