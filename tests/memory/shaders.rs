//! Shaders that ask for much memory where they are compiled.

use crate::Case;

/// All cases.
pub const CASES: &[Case] = &[];
