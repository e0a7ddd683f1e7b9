//! The lattice of sample positions, and the samples that are known on it.
//!
//! A unit of the lattice is the side of the smallest square: `1 / 2^depth` of a pixel. Points are
//! numbered in Morton order (Morton 1966), so that points in order are near each other: the rays of
//! a batch are coherent. Columns and rows are below 2³¹.

/// A point's number: the bits of column and row alternate.
pub type Key = u64;

/// The number of a point.
pub fn key(column: u32, row: u32) -> Key {
    spread(column) | spread(row) << 1
}

/// Column and row of a point.
pub fn point(key: Key) -> [u32; 2] {
    [gather(key), gather(key >> 1)]
}

/// Bit `i` of the result's bit `2i`.
fn spread(word: u32) -> u64 {
    let shifts = [16, 8, 4, 2, 1];
    shifts.into_iter().fold(u64::from(word), |x, shift| (x | x << shift) & every_other(shift))
}

/// The inverse of [`spread`]; odd bits are left out.
fn gather(key: u64) -> u32 {
    let shifts = [(0, 1), (1, 2), (2, 4), (4, 8), (8, 16), (16, 32)];
    let packed = shifts.into_iter().fold(key, |x, (shift, group)| {
        (x | x >> shift) & if group == 32 { u64::from(u32::MAX) } else { every_other(group) }
    });
    packed as u32
}

/// Groups of `group` set bits with as many clear bits between them.
fn every_other(group: u32) -> u64 {
    u64::MAX / ((1u64 << group) + 1)
}

/// Samples by their points, in order.
#[derive(Clone, Debug, Default)]
pub struct Known(Vec<(Key, [f32; 4])>);

impl Known {
    /// Adds samples; their points are new.
    pub fn extend(&mut self, samples: impl IntoIterator<Item = (Key, [f32; 4])>) {
        self.0.extend(samples);
        self.0.sort_unstable_by_key(|(key, _)| *key);
    }

    /// Keeps the samples whose points satisfy a condition.
    pub fn retain(&mut self, keep: impl Fn([u32; 2]) -> bool) {
        self.0.retain(|(key, _)| keep(point(*key)));
    }

    /// The sample at a point.
    pub fn get(&self, key: Key) -> Option<[f32; 4]> {
        let found = self.0.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        Some(self.0[found].1)
    }

    /// The samples, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Key, [f32; 4])> + '_ {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_has_its_own_number() {
        for at in [[0, 0], [1, 0], [0, 1], [3, 5], [1 << 20, 77], [(1 << 31) - 1, 12_345]] {
            assert_eq!(point(key(at[0], at[1])), at);
        }
        assert_eq!((key(1, 0), key(0, 1), key(3, 2)), (1, 2, 13));
    }

    #[test]
    fn samples_are_found_by_their_points_whatever_the_order_in_which_they_come() {
        let mut known = Known::default();
        known.extend([(key(4, 4), [4.0; 4]), (key(1, 1), [1.0; 4])]);
        known.extend([(key(2, 3), [2.0; 4])]);
        assert_eq!(known.get(key(2, 3)), Some([2.0; 4]));
        assert_eq!(known.get(key(4, 4)), Some([4.0; 4]));
        assert_eq!(known.get(key(9, 9)), None);
        known.retain(|[_, row]| row > 1);
        assert_eq!(known.iter().map(|(_, color)| color[0]).collect::<Vec<_>>(), [2.0, 4.0]);
    }
}
