//! Arithmetic on arrays of `N` lanes, in loops that the compiler vectorizes. Operations are those
//! of the shading language, to the bit.

/// Something for each lane or component. Not a function of the standard library, here and in
/// [`map`]: where one stays a call, it is compiled without AVX2, and the eight lanes of `noisy`
/// took 1.7 times as long.
#[inline(always)]
pub fn each<T: Copy, const N: usize>(mut f: impl FnMut(usize) -> T) -> [T; N] {
    let mut all = [f(0); N];
    for (i, to) in all.iter_mut().enumerate().skip(1) {
        *to = f(i);
    }
    all
}

/// A function of each.
#[inline(always)]
pub fn map<T: Copy, U: Copy, const N: usize>(x: [T; N], mut f: impl FnMut(T) -> U) -> [U; N] {
    each(|i| f(x[i]))
}

/// The language's square root: the reciprocal of the reciprocal root.
#[inline(always)]
pub fn square_root(x: f32) -> f32 {
    select(mask(x == 0.0), 0.0, 1.0 / (1.0 / x.sqrt()))
}

/// All bits where a condition holds: what the compiler makes vectors of, unlike truth values.
#[inline(always)]
pub fn mask(condition: bool) -> u32 {
    if condition { u32::MAX } else { 0 }
}

/// `yes` where the mask is set, else `no`.
#[inline(always)]
pub fn select(mask: u32, yes: f32, no: f32) -> f32 {
    f32::from_bits(yes.to_bits() & mask | no.to_bits() & !mask)
}
