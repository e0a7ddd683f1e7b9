//! The back ends: linked IR in, programs out.
//!
//! [`wgsl`] makes compute kernels for any GPU, [`rpu`] a program for the software ray processing
//! unit. Neither knows how its programs are run; that is `render`'s part.

pub mod rpu;
#[cfg(feature = "gpu")]
pub mod wgsl;

use shadewright_ir::TargetInfo;

/// The target that suits all back ends: that of programs that are linked once for both.
#[cfg(feature = "gpu")]
pub const SHARED_TARGET: TargetInfo = rpu::TARGET.common(wgsl::TARGET);
/// The target that suits all back ends: that of programs that are linked.
#[cfg(not(feature = "gpu"))]
pub const SHARED_TARGET: TargetInfo = rpu::TARGET;

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_program::MOST_LEFT_OVER;

    #[test]
    fn a_program_is_the_same_whether_a_target_is_named_or_not() {
        assert_eq!(SHARED_TARGET, TargetInfo::DEFAULT);
    }

    #[test]
    fn the_results_of_a_displacement_entry_fit_the_registers() {
        assert!(MOST_LEFT_OVER + 2 <= SHARED_TARGET.call_registers as usize);
    }
}
