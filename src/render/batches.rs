//! The division of a pixel's samples into batches, each summed for itself.
//!
//! The sum of a pixel is the sum of its batches, in order: so processes that render different batches
//! make the bits of one process, and the means of the batches show how much the pixel's mean varies.
//! The division depends on the number of samples alone.

use std::ops::Range;

/// The most batches of a pixel, and so the most processes that can divide its samples. Each costs a
/// share's file 16 bytes for a pixel; with 16 of them, the estimate of a variance has 15 degrees of
/// freedom, where Student's t for a significance of 1 % is 1.13 times the normal distribution's.
pub const MAX_BATCHES: u32 = 16;

/// The batches of a pixel with a number of samples: of equal size, or differing by one. The default is
/// one batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batches {
    samples: u32,
}

impl Batches {
    /// The batches of `samples` samples, at most 2²⁷.
    #[must_use]
    pub fn new(samples: u32) -> Self {
        Self { samples }
    }

    /// The number of samples.
    #[must_use]
    pub fn samples(self) -> u32 {
        self.samples
    }

    /// How many there are: as many as samples, but one at least and [`MAX_BATCHES`] at most.
    #[must_use]
    pub fn count(self) -> u32 {
        self.samples.clamp(1, MAX_BATCHES)
    }

    /// The samples of a batch, counted from 0.
    #[must_use]
    pub fn range(self, batch: u32) -> Range<u32> {
        let start = |batch| batch * self.samples / self.count();
        start(batch)..start(batch + 1)
    }

    /// The batch of a sample.
    #[must_use]
    pub fn batch(self, index: u32) -> u32 {
        if self.samples == 0 {
            return 0;
        }
        // The greatest k with ⌊k samples / count⌋ ≤ index.
        (((index + 1) * self.count() - 1) / self.samples).min(self.count() - 1)
    }

    /// Some samples, batch by batch.
    pub fn split(self, samples: Range<u32>) -> impl Iterator<Item = Range<u32>> {
        let mut start = samples.start;
        std::iter::from_fn(move || {
            let end = match self.batch(start) {
                batch if batch + 1 < self.count() => self.range(batch).end.min(samples.end),
                _ => samples.end,
            };
            let part = start..end;
            start = end;
            (!part.is_empty()).then_some(part)
        })
    }

    /// The batches of share `number` of `shares` shares, from 0 on.
    #[must_use]
    pub fn share(self, number: u32, shares: u32) -> Range<u32> {
        let start = |number| number * self.count() / shares.max(1);
        start(number)..start(number + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_in_one_batch() {
        for samples in (0..70).chain([100, 1000, 65_535, 65_536]) {
            let batches = Batches::new(samples);
            let ranges: Vec<_> = (0..batches.count()).map(|k| batches.range(k)).collect();
            assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, samples));
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
            let lengths: Vec<_> = ranges.iter().map(|range| range.len()).collect();
            assert!(lengths.iter().max() <= lengths.iter().min().map(|least| least + 1).as_ref(), "{lengths:?}");
            for (k, range) in (0..).zip(ranges) {
                assert!(range.clone().all(|index| batches.batch(index) == k), "{range:?} of {samples}");
            }
        }
    }

    #[test]
    fn a_range_is_split_where_batches_begin() {
        let split = |samples, range| Batches::new(samples).split(range).collect::<Vec<_>>();
        assert_eq!(split(64, 2..10), [2..4, 4..8, 8..10]);
        assert_eq!(split(3, 0..3), [0..1, 1..2, 2..3]);
        let one = |range: Range<u32>| vec![range];
        assert_eq!((split(1, 0..1), split(0, 0..7)), (one(0..1), one(0..7)));
        assert!(split(64, 5..5).is_empty());
    }

    #[test]
    fn shares_have_all_batches() {
        for (samples, shares) in [(64, 1), (64, 3), (64, 16), (5, 4), (1, 1)] {
            let batches = Batches::new(samples);
            let all: Vec<u32> = (0..shares).flat_map(|k| batches.share(k, shares)).collect();
            assert!(all.into_iter().eq(0..batches.count()), "{samples} in {shares}");
        }
    }
}
