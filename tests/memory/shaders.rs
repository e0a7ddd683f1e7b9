//! Shaders that ask for much memory where they are compiled.

use crate::Case;

pub const CASES: &[Case] = &[];
