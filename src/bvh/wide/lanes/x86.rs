//! The parts that the lanes of x86-64's instruction sets share: the arithmetic, which has the same
//! intrinsics for all registers of a size.

use std::arch::x86_64::*;

/// The bytes of a cache line.
const LINE: usize = 64;

/// Asks for all lines of a value, which need not exist.
#[inline(always)]
pub fn prefetch<T>(value: *const T) {
    let start = value.cast::<i8>();
    let mut at = 0;
    while at < size_of::<T>() {
        // SAFETY: every x86-64 processor has the instruction, which reads nothing and faults at no
        // address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(at)) };
        at += LINE;
    }
}

/// Declares a type of lanes in one register and implements [`Lanes`](super::Lanes) for it:
/// arithmetic by the intrinsics given, comparisons and masks by the functions at the end. The type
/// must only be used by code compiled for the instruction set.
macro_rules! lanes_in_register {
    (
        $(#[$doc:meta])* $name:ident: $width:literal in $register:ty, mask $mask:ty;
        $set1:ident $load:ident $store:ident $add:ident $sub:ident $mul:ident $div:ident $fma:ident $min:ident $max:ident;
        $($masks:tt)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name($register);

        // SAFETY, of every block below: the type is used only by code that is compiled for the
        // instruction set and runs where it was detected; loads and stores go through references to
        // arrays of as many floats, and need no alignment.
        impl Lanes<$width> for $name {
            type Mask = $mask;

            #[inline(always)]
            fn splat(value: f32) -> Self {
                // SAFETY: see above.
                Self(unsafe { $set1(value) })
            }
            #[inline(always)]
            fn load(values: &[f32; $width]) -> Self {
                // SAFETY: see above.
                Self(unsafe { $load(values.as_ptr()) })
            }
            #[inline(always)]
            fn store(self) -> [f32; $width] {
                let mut values = [0.0; $width];
                // SAFETY: see above.
                unsafe { $store(values.as_mut_ptr(), self.0) };
                values
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $add(self.0, other.0) })
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $sub(self.0, other.0) })
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $mul(self.0, other.0) })
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $div(self.0, other.0) })
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $fma(self.0, factor.0, term.0) })
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $min(self.0, other.0) })
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $max(self.0, other.0) })
            }
            $($masks)*
        }
    };
}

pub(super) use lanes_in_register;
