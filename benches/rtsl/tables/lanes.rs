//! Numbers and vectors of `N` rays for the hand-written routines, with the operations of the
//! shading languages: a quotient is a product with the inverse, a root the inverse of the inverse
//! root, and nothing is fused, so that bits agree with the RPU's. All is for the compiler to make
//! instructions on vectors of.

use super::super::common::arrays::{each, map, mask, select, square_root};
use std::ops::{Add, BitAnd, Div, Index, Mul, Neg, Not, Sub};

/// A number a ray.
#[derive(Clone, Copy)]
pub struct Wide<const N: usize>(pub [f32; N]);

/// A truth value a ray: all bits, or none.
#[derive(Clone, Copy)]
pub struct Mask<const N: usize>([u32; N]);

/// A vector a ray.
#[derive(Clone, Copy)]
pub struct Vector<const N: usize>(pub [Wide<N>; 3]);

macro_rules! operators {
    ($($trait:ident $name:ident $op:tt),*) => {$(
        impl<const N: usize> $trait for Wide<N> {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Self(each(|i| self.0[i] $op other.0[i]))
            }
        }
        impl<const N: usize> $trait for Vector<N> {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Self(each(|c| self.0[c] $op other.0[c]))
            }
        }
        impl<const N: usize> $trait<Wide<N>> for Vector<N> {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Wide<N>) -> Self {
                Self(each(|c| self.0[c] $op other))
            }
        }
    )*};
}

operators!(Add add +, Sub sub -, Mul mul *);

impl<const N: usize> Div for Wide<N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Mul::mul(self, other.inverse())
    }
}

impl<const N: usize> Div<Wide<N>> for Vector<N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Wide<N>) -> Self {
        Mul::mul(self, other.inverse())
    }
}

impl<const N: usize> Neg for Wide<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(map(self.0, |x| -x))
    }
}

impl<const N: usize> Neg for Vector<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(map(self.0, |x| -x))
    }
}

impl<const N: usize> BitAnd for Mask<N> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(each(|i| self.0[i] & other.0[i]))
    }
}

impl<const N: usize> Not for Mask<N> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(map(self.0, |bits| !bits))
    }
}

impl<const N: usize> Index<usize> for Vector<N> {
    type Output = Wide<N>;
    #[inline(always)]
    fn index(&self, axis: usize) -> &Wide<N> {
        &self.0[axis]
    }
}

impl<const N: usize> Mask<N> {
    /// True if some ray has it.
    #[inline(always)]
    pub fn any(self) -> bool {
        self.0.iter().fold(0, |any, bits| any | bits) != 0
    }

    /// Where both are the same.
    #[inline(always)]
    pub fn equals(self, other: Self) -> Self {
        Self(each(|i| !(self.0[i] ^ other.0[i])))
    }

    /// One number where it holds, else the other.
    #[inline(always)]
    pub fn select(self, yes: Wide<N>, no: Wide<N>) -> Wide<N> {
        Wide(each(|i| select(self.0[i], yes.0[i], no.0[i])))
    }

    /// One vector where it holds, else the other.
    #[inline(always)]
    pub fn choose(self, yes: Vector<N>, no: Vector<N>) -> Vector<N> {
        Vector(each(|c| self.select(yes.0[c], no.0[c])))
    }
}

impl<const N: usize> Wide<N> {
    /// The same for all rays.
    #[inline(always)]
    pub fn splat(x: f32) -> Self {
        Self([x; N])
    }

    #[inline(always)]
    fn inverse(self) -> Self {
        Self(map(self.0, |x| 1.0 / x))
    }

    #[inline(always)]
    fn inverse_root(self) -> Self {
        Self(map(self.0, |x| 1.0 / x.sqrt()))
    }

    /// The square root.
    #[inline(always)]
    pub fn root(self) -> Self {
        Self(map(self.0, square_root))
    }

    /// The absolute value.
    #[inline(always)]
    pub fn abs(self) -> Self {
        Self(map(self.0, f32::abs))
    }

    /// The greatest whole number that is not greater.
    #[inline(always)]
    pub fn floor(self) -> Self {
        Self(map(self.0, f32::floor))
    }

    /// Where it is less.
    #[inline(always)]
    pub fn less(self, other: Self) -> Mask<N> {
        Mask(each(|i| mask(self.0[i] < other.0[i])))
    }

    /// Where it is not greater.
    #[inline(always)]
    pub fn at_most(self, other: Self) -> Mask<N> {
        Mask(each(|i| mask(self.0[i] <= other.0[i])))
    }

    /// Where both are equal.
    #[inline(always)]
    pub fn equals(self, other: Self) -> Mask<N> {
        Mask(each(|i| mask(self.0[i] == other.0[i])))
    }

    /// The smaller.
    #[inline(always)]
    pub fn min(self, other: Self) -> Self {
        other.less(self).select(other, self)
    }

    /// The larger.
    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        self.less(other).select(other, self)
    }

    /// Between two bounds.
    #[inline(always)]
    pub fn clamp(self, low: f32, high: f32) -> Self {
        self.max(Self::splat(low)).min(Self::splat(high))
    }

    /// The polynomial with these coefficients, the highest first.
    #[inline(always)]
    fn polynomial(self, coefficients: &[f32]) -> Self {
        let mut sum = Self::splat(coefficients[0]);
        for &next in &coefficients[1..] {
            sum = sum * self + Self::splat(next);
        }
        sum
    }

    /// The number times a power of two, by the sum of the exponents.
    #[inline(always)]
    fn scaled(self, n: Self) -> Self {
        Self(each(|i| f32::from_bits((self.0[i].to_bits() as i32).wrapping_add((n.0[i] as i32) << 23) as u32)))
    }

    /// The standard library's `exp` (`lang/stdlib/exact.sl`).
    #[inline(always)]
    pub fn exp(self) -> Self {
        let x = self.min(Self::splat(88.7));
        let n = (x * Self::splat(std::f32::consts::LOG2_E) + Self::splat(0.5)).floor();
        let r = (x - n * Self::splat(0.693_359_4)) + n * Self::splat(2.121_944_4e-4);
        let p = r.polynomial(&[1.382_253_6e-3, 8.368_668e-3, 4.166_824_7e-2, 1.666_652_1e-1, 4.999_999_4e-1, 1.0, 1.0]);
        Self::splat(-87.3).less(self).select(p.scaled(n), Self::splat(0.0))
    }

    /// The standard library's `exp2`.
    #[inline(always)]
    fn exp2(self) -> Self {
        let x = self.min(Self::splat(127.999_99));
        let n = (x + Self::splat(0.5)).floor();
        let p = (x - n).polynomial(&[
            1.533_077_7e-4,
            1.339_097_3e-3,
            9.618_496_5e-3,
            5.550_359_6e-2,
            2.402_264_8e-1,
            6.931_472e-1,
            1.0,
        ]);
        Self::splat(-126.0).at_most(self).select(p.scaled(n), Self::splat(0.0))
    }

    /// The standard library's `log2`.
    #[inline(always)]
    fn log2(self) -> Self {
        const ROOT_HALF: i32 = 0x3f35_04f3;
        let bits = map(self.0, |x| x.to_bits() as i32);
        let exponent = map(bits, |b| b.wrapping_sub(ROOT_HALF) >> 23);
        let mantissa = Self(each(|i| f32::from_bits(bits[i].wrapping_sub(exponent[i] << 23) as u32)));
        let r = mantissa - Self::splat(1.0);
        let p = r.polynomial(&[
            -1.160_849_2e-1,
            1.867_589_5e-1,
            -1.883_458_3e-1,
            2.041_863e-1,
            -2.399_438e-1,
            2.886_163_6e-1,
            -3.606_828_2e-1,
            4.808_965_6e-1,
            -7.213_475e-1,
            4.426_950_5e-1,
        ]);
        let result = Self(map(exponent, |e| e as f32)) + (r * p + r);
        self.less(Self::splat(f32::MIN_POSITIVE)).select(Self::splat(-3.4e38), result)
    }

    /// The standard library's `pow` for numbers that are not negative.
    #[inline(always)]
    pub fn power(self, exponent: Self) -> Self {
        let zero = Self::splat(0.0);
        let result = zero.less(self).select((exponent * self.log2()).exp2(), zero);
        exponent.equals(zero).select(Self::splat(1.0), result)
    }
}

impl<const N: usize> Vector<N> {
    /// The same for all rays.
    #[inline(always)]
    pub fn uniform(v: [f32; 3]) -> Self {
        Self(map(v, Wide::splat))
    }

    /// The same in each component.
    #[inline(always)]
    pub fn splat(x: Wide<N>) -> Self {
        Self([x; 3])
    }

    /// The scalar product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> Wide<N> {
        let [x, y, z] = (self * other).0;
        x + y + z
    }

    /// The vector product.
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        let ([x, y, z], [u, v, w]) = (self.0, other.0);
        Self([y * w - z * v, z * u - x * w, x * v - y * u])
    }

    /// The vector of length 1; that of length 0 stays what it is.
    #[inline(always)]
    pub fn normalize(self) -> Self {
        let square = self.dot(self);
        square.equals(Wide::splat(0.0)).choose(self, self * square.inverse_root())
    }

    /// One over each component.
    #[inline(always)]
    pub fn inverse(self) -> Self {
        Self(map(self.0, Wide::inverse))
    }

    /// A function of each component.
    #[inline(always)]
    pub fn each(self, f: impl Fn(Wide<N>) -> Wide<N>) -> Self {
        Self(map(self.0, f))
    }

    /// The smaller of each component.
    #[inline(always)]
    pub fn min(self, other: Self) -> Self {
        Self(each(|c| self.0[c].min(other.0[c])))
    }

    /// The larger of each component.
    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        Self(each(|c| self.0[c].max(other.0[c])))
    }

    /// The least component.
    #[inline(always)]
    pub fn least(self) -> Wide<N> {
        self.0[0].min(self.0[1]).min(self.0[2])
    }

    /// The greatest component.
    #[inline(always)]
    pub fn greatest(self) -> Wide<N> {
        self.0[0].max(self.0[1]).max(self.0[2])
    }

    /// Between two vectors.
    #[inline(always)]
    pub fn mix(self, other: Self, share: Wide<N>) -> Self {
        self * (Wide::splat(1.0) - share) + other * share
    }

    /// Some vector at a right angle.
    #[inline(always)]
    pub fn perpendicular(self) -> Self {
        let ([x, y, z], zero) = (self.0, Wide::splat(0.0));
        x.abs().less(y.abs()).choose(Self([zero, -z, y]), Self([z, zero, -x]))
    }

    /// How it comes back from a mirror with that normal.
    #[inline(always)]
    pub fn reflect(self, n: Self) -> Self {
        let along = n.dot(self);
        self - n * (along + along)
    }
}
