//! The back ends: linked IR in, programs for one of the two machines out.
//!
//! [`wgsl`] makes compute kernels for any GPU, [`rpu`] a program for the software ray processing unit. Neither back end knows how its machine is driven; that is
//! `render`'s part.

pub mod rpu;
#[cfg(feature = "gpu")]
pub mod wgsl;
