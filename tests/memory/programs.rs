//! Programs of the RPU, hardware descriptions and listings that ask for much memory.

use crate::Case;

pub const CASES: &[Case] = &[];
