//! Textures: rectangles of vectors in the memory image, and what a run has stored into them.
//!
//! A run reads texels as the image has them at its start. Stores are logged, and the caller of the
//! run applies the log afterwards: no thread sees what another one stores, and an image does not
//! depend on which threads ran together.

use crate::lanes::BLOCK;
use std::ops::Range;

/// Texels that the threads of a block can store in one run.
pub const MAX_TEXEL_STORES: usize = 1 << 18;

/// A rectangle of vectors in the memory image, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Texture {
    /// The address of its first vector.
    pub base: u32,
    /// Texels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Texture {
    /// The address of the texel at (x, y), both truncated; `None` outside the rectangle.
    pub fn address(&self, x: f32, y: f32) -> Option<usize> {
        let within = |value: f32, size: u32| {
            let value = value.trunc();
            // A float-to-integer cast saturates, so that no large coordinate comes out small.
            (value >= 0.0 && (value as u64) < u64::from(size)).then_some(value as u64)
        };
        let (column, row) = (within(x, self.width)?, within(y, self.height)?);
        usize::try_from(u64::from(self.base) + row * u64::from(self.width) + column).ok()
    }
}

/// A texel that a thread stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TexelStore {
    /// The thread's lane, below [`BLOCK`].
    pub lane: u8,
    /// The texel's address.
    pub address: usize,
    /// The new value of the texel.
    pub value: [u32; 4],
}

/// The stores of one run.
#[derive(Debug, Default)]
pub(super) struct TexelLog {
    stores: Vec<TexelStore>,
    /// The stores of a run that are kept, by their numbers; `None` for all.
    pub kept: Option<Range<u64>>,
    /// The stores of this run so far.
    pub made: u64,
}

impl TexelLog {
    /// Logs a store; `false` when the log is full.
    pub fn push(&mut self, lane: usize, address: usize, value: [u32; 4]) -> bool {
        let number = self.made;
        self.made += 1;
        if self.kept.as_ref().is_some_and(|kept| !kept.contains(&number)) {
            return true;
        }
        let room = self.stores.len() < MAX_TEXEL_STORES;
        if room {
            self.stores.push(TexelStore { lane: (lane % BLOCK) as u8, address, value });
        }
        room
    }

    /// The stores of the lanes in `mask`, in the order in which they were made.
    pub fn stores(&self, mask: u64) -> impl Iterator<Item = TexelStore> {
        self.stores.iter().copied().filter(move |store| mask >> store.lane & 1 != 0)
    }

    /// Removes the stores of the lanes in `mask`.
    pub fn remove(&mut self, mask: u64) {
        self.stores.retain(|store| mask >> store.lane & 1 == 0);
    }

    /// Removes all stores, for the next run.
    pub fn clear(&mut self) {
        self.stores.clear();
        self.made = 0;
    }

    /// Empties the log: the stores lane by lane, each lane's in the order in which it made them.
    /// That order does not depend on which lanes ran together.
    pub fn take(&mut self) -> Vec<TexelStore> {
        let mut stores = std::mem::take(&mut self.stores);
        stores.sort_by_key(|store| store.lane);
        stores
    }
}

/// Applies stores to a memory image: of two to one address, the later wins. Stores outside the
/// image are dropped.
pub fn apply(stores: &[TexelStore], memory: &mut [[u32; 4]]) {
    for store in stores {
        if let Some(vector) = memory.get_mut(store.address) {
            *vector = store.value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_texel_is_found_by_its_truncated_column_and_row() {
        let texture = Texture { base: 100, width: 4, height: 2 };
        assert_eq!(texture.address(0.0, 0.0), Some(100));
        assert_eq!(texture.address(3.9, 1.9), Some(107));
        assert_eq!(texture.address(-0.9, 0.0), Some(100));
        for (x, y) in [(4.0, 0.0), (0.0, 2.0), (-1.0, 0.0), (f32::NAN, 0.0), (0.0, f32::INFINITY), (1e30, 0.0)] {
            assert_eq!(texture.address(x, y), None, "{x} {y}");
        }
    }

    #[test]
    fn stores_are_ordered_by_lane_and_the_last_one_wins() {
        let mut log = TexelLog::default();
        assert!(log.push(5, 0, [1; 4]) && log.push(2, 0, [2; 4]) && log.push(5, 1, [3; 4]) && log.push(2, 9, [4; 4]));
        let stores = log.take();
        assert_eq!(stores.iter().map(|s| s.value[0]).collect::<Vec<_>>(), [2, 4, 1, 3]);
        let mut memory = [[0; 4]; 2];
        apply(&stores, &mut memory);
        assert_eq!(memory, [[1; 4], [3; 4]]);
        assert_eq!(log.take(), []);
    }

    #[test]
    fn lanes_are_read_and_removed_separately() {
        let mut log = TexelLog::default();
        assert!((0..6).all(|i| log.push(i, i, [i as u32; 4])));
        assert_eq!(log.stores(0b1010).map(|s| s.address).collect::<Vec<_>>(), [1, 3]);
        log.remove(0b1111);
        assert_eq!(log.take().iter().map(|s| s.address).collect::<Vec<_>>(), [4, 5]);
    }

    #[test]
    fn a_range_of_the_stores_can_be_kept() {
        let mut log = TexelLog { kept: Some(2..4), ..TexelLog::default() };
        for _ in 0..2 {
            assert!((0..6).all(|i| log.push(0, i, [0; 4])));
            assert_eq!(log.made, 6);
            assert_eq!(log.take().iter().map(|s| s.address).collect::<Vec<_>>(), [2, 3]);
            log.clear();
        }
    }

    #[test]
    fn the_log_is_bounded() {
        let mut log = TexelLog::default();
        assert!((0..MAX_TEXEL_STORES).all(|i| log.push(0, i, [0; 4])));
        assert!(!log.push(0, 0, [0; 4]));
    }
}
