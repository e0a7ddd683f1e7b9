//! The best object split of a node's references: the binned search for the plane of least
//! surface-area cost.
//!
//! It takes and reorders slices of [`Reference`]s and knows no nodes. What runs in parallel
//! combines minima, maxima and counts, so the result does not depend on the threads.

use super::bounds::{Aabb, bins_of};
use super::reference::{Extent, Reference, partition, reduce};
use glam::Vec4;

/// Nodes of fewer references than this get [`FEW_BINS`] an axis, the others [`MANY_BINS`].
const MANY: usize = 32;
const FEW_BINS: usize = 8;
const MANY_BINS: usize = 16;

/// A way to deal references to two sides.
pub struct ObjectSplit {
    /// Area times count, summed over the sides, with areas as [`Aabb::half_area`] gives them.
    pub cost: f32,
    /// Half the surface of what both sides' boxes have in common.
    pub overlap: f32,
    rule: Rule,
}

/// Which references are on the left.
enum Rule {
    /// The first.
    First,
    /// The references in a bin up to this one, on an axis.
    Bins { binning: Binning, axis: usize, last: usize },
}

impl ObjectSplit {
    /// The best split of two references or more, if there is any of finite cost.
    pub fn best(refs: &[Reference], extent: &Extent, scale: f32) -> Option<Self> {
        match refs {
            [a, b] => Some(Self::new([a.bounds(), b.bounds()], [1, 1], scale, Rule::First)),
            _ if refs.len() < MANY => Self::by_bins::<FEW_BINS>(refs, extent, scale),
            _ => Self::by_bins::<MANY_BINS>(refs, extent, scale),
        }
    }

    fn by_bins<const N: usize>(refs: &[Reference], extent: &Extent, scale: f32) -> Option<Self> {
        let binning = Binning::new(&extent.centroids, N);
        let bins = reduce(refs, |piece| Bins::<N>::fill(&binning, piece), Bins::join);
        let (axis, last) = bins.best_plane(scale)?;
        let (boxes, counts) = bins.sides(axis, last);
        Some(Self::new(boxes, counts, scale, Rule::Bins { binning, axis, last }))
    }

    fn new([left, right]: [Aabb; 2], counts: [u32; 2], scale: f32, rule: Rule) -> Self {
        let cost = left.half_area(scale) * counts[0] as f32 + right.half_area(scale) * counts[1] as f32;
        let common = left.meet(right);
        let overlap = if common.is_empty() { 0.0 } else { common.half_area(scale) };
        Self { cost, overlap, rule }
    }

    /// Puts the references of the left side first, and returns their number.
    pub fn apply(&self, refs: &mut [Reference]) -> usize {
        match &self.rule {
            Rule::First => 1,
            Rule::Bins { binning, axis, last } => partition(refs, |r| binning.bins(r)[*axis] <= *last),
        }
    }
}

/// Maps centroids to bins on each axis (a power of two of them, at most 2²²), the same bins
/// wherever it is asked.
struct Binning {
    origin: Vec4,
    scale: Vec4,
    count: usize,
}

impl Binning {
    fn new(centroids: &Aabb, count: usize) -> Self {
        let extent = centroids.max - centroids.min;
        let scale = extent.to_array().map(|e| if e > 0.0 { count as f32 / e } else { 0.0 });
        Self { origin: centroids.min, scale: Vec4::from_array(scale), count }
    }

    /// The bins of a reference on the three axes.
    #[inline]
    fn bins(&self, r: &Reference) -> [usize; 3] {
        bins_of((r.centroid() - self.origin) * self.scale, self.count)
    }
}

/// Boxes and counts of the bins of all three axes.
struct Bins<const N: usize> {
    boxes: [[Aabb; N]; 3],
    counts: [[u32; N]; 3],
}

impl<const N: usize> Bins<N> {
    fn fill(binning: &Binning, refs: &[Reference]) -> Self {
        let mut all = Self { boxes: [[Aabb::EMPTY; N]; 3], counts: [[0; N]; 3] };
        for r in refs {
            for (axis, bin) in binning.bins(r).into_iter().enumerate() {
                // The mask is for the compiler, which then sees that the index is in range.
                let bin = bin & (N - 1);
                all.boxes[axis][bin] = all.boxes[axis][bin].join(r.bounds());
                all.counts[axis][bin] += 1;
            }
        }
        all
    }

    fn join(mut self, other: Self) -> Self {
        for axis in 0..3 {
            for bin in 0..N {
                self.boxes[axis][bin] = self.boxes[axis][bin].join(other.boxes[axis][bin]);
                self.counts[axis][bin] += other.counts[axis][bin];
            }
        }
        self
    }

    /// The plane of least cost: its axis and the last bin to its left.
    fn best_plane(&self, scale: f32) -> Option<(usize, usize)> {
        let mut best = None;
        let mut least = f32::INFINITY;
        for (axis, (boxes, counts)) in self.boxes.iter().zip(&self.counts).enumerate() {
            let mut right_cost = [0.0; N];
            let (mut sum, mut count) = (Aabb::EMPTY, 0);
            for bin in (1..N).rev() {
                sum = sum.join(boxes[bin]);
                count += counts[bin];
                right_cost[bin] = if count == 0 { f32::INFINITY } else { sum.half_area(scale) * count as f32 };
            }
            let (mut sum, mut count) = (Aabb::EMPTY, 0);
            for bin in 0..N - 1 {
                sum = sum.join(boxes[bin]);
                count += counts[bin];
                let cost = sum.half_area(scale) * count as f32 + right_cost[bin + 1];
                // False for infinite and NaN costs: such planes leave a side empty, or their areas
                // overflow.
                if count > 0 && cost < least {
                    least = cost;
                    best = Some((axis, bin));
                }
            }
        }
        best
    }

    /// The boxes and counts of the two sides of a plane.
    fn sides(&self, axis: usize, last: usize) -> ([Aabb; 2], [u32; 2]) {
        let side = |bins: std::ops::Range<usize>| {
            let bounds = self.boxes[axis][bins.clone()].iter().fold(Aabb::EMPTY, |sum, &b| sum.join(b));
            (bounds, self.counts[axis][bins].iter().sum())
        };
        let (left, right) = (side(0..last + 1), side(last + 1..N));
        ([left.0, right.0], [left.1, right.1])
    }
}
