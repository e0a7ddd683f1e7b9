//! Images and point clouds that ask for much memory.

use crate::Case;

/// All cases.
pub fn cases() -> Vec<Case> {
    Vec::new()
}
