//! Where to split a node: the binned search for the plane of least surface-area cost.
//!
//! It takes and reorders slices of [`Reference`]s and knows no nodes. What runs in parallel combines minima, maxima and counts,
//! so the result does not depend on the threads.

use super::bounds::Aabb;
use super::reference::{Extent, Reference, reduce};
use glam::Vec4;

/// Nodes of fewer references than this get [`FEW_BINS`] an axis, the others [`MANY_BINS`].
const MANY: usize = 32;
const FEW_BINS: usize = 8;
const MANY_BINS: usize = 16;

/// What came of looking for a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// So many references are on the left, and now come first; neither none nor all.
    At(usize),
    /// The best plane's cost was refused.
    Refused,
    /// No plane has references on both sides and a finite cost.
    Impossible,
}

/// Puts the references left of the best plane first, if `accept` takes its cost: area times count, summed over the sides, with
/// areas as [`Aabb::half_area`] gives them. Wants two references or more.
pub fn split_by_area(refs: &mut [Reference], extent: &Extent, scale: f32, accept: impl Fn(f32) -> bool) -> Split {
    match refs {
        [a, b] if accept(a.bounds().half_area(scale) + b.bounds().half_area(scale)) => Split::At(1),
        [_, _] => Split::Refused,
        _ if refs.len() < MANY => split_by_bins::<FEW_BINS>(refs, extent, scale, accept),
        _ => split_by_bins::<MANY_BINS>(refs, extent, scale, accept),
    }
}

fn split_by_bins<const N: usize>(
    refs: &mut [Reference],
    extent: &Extent,
    scale: f32,
    accept: impl Fn(f32) -> bool,
) -> Split {
    let binning = Binning::<N>::new(&extent.centroids);
    let bins = reduce(refs, |piece| Bins::fill(&binning, piece), Bins::join);
    let Some((cost, axis, bin)) = bins.best_plane(scale) else { return Split::Impossible };
    if !accept(cost) {
        return Split::Refused;
    }
    match partition(refs, |r| binning.bins(r)[axis] <= bin) {
        0 => Split::Impossible,
        middle if middle == refs.len() => Split::Impossible,
        middle => Split::At(middle),
    }
}

/// Maps centroids to `N` bins an axis (a power of two, at most 2²²), the same bins wherever it is asked.
struct Binning<const N: usize> {
    origin: Vec4,
    scale: Vec4,
}

impl<const N: usize> Binning<N> {
    fn new(centroids: &Aabb) -> Self {
        let extent = centroids.max - centroids.min;
        let scale = extent.to_array().map(|e| if e > 0.0 { N as f32 / e } else { 0.0 });
        Self { origin: centroids.min, scale: Vec4::from_array(scale) }
    }

    /// The bins of a reference on the three axes, each below `N`.
    #[inline]
    fn bins(&self, r: &Reference) -> [usize; 3] {
        let place = (r.centroid() - self.origin) * self.scale;
        let inside = place.min(Vec4::splat(N as f32 - 0.5)).max(Vec4::splat(0.5));
        // Between 2^23 and 2^24 a float's low bits are an integer: an addition rounds to it, several times as fast as Rust's
        // saturating conversion. The mask bounds what a NaN (from subnormal extents) may give.
        let bits = (inside + Vec4::splat(8_388_607.5)).to_array().map(f32::to_bits);
        [bits[0] as usize & (N - 1), bits[1] as usize & (N - 1), bits[2] as usize & (N - 1)]
    }
}

/// Boxes and counts of the bins of all three axes.
struct Bins<const N: usize> {
    boxes: [[Aabb; N]; 3],
    counts: [[u32; N]; 3],
}

impl<const N: usize> Bins<N> {
    fn fill(binning: &Binning<N>, refs: &[Reference]) -> Self {
        let mut all = Self { boxes: [[Aabb::EMPTY; N]; 3], counts: [[0; N]; 3] };
        for r in refs {
            for (axis, bin) in binning.bins(r).into_iter().enumerate() {
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

    /// The plane of least cost: that cost, its axis and the last bin to its left.
    fn best_plane(&self, scale: f32) -> Option<(f32, usize, usize)> {
        let mut best: Option<(f32, usize, usize)> = None;
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
                // False for infinite and NaN costs: such planes leave a side empty, or their areas overflow.
                if count > 0 && cost < least {
                    least = cost;
                    best = Some((cost, axis, bin));
                }
            }
        }
        best
    }
}

/// Puts the references for which `left` holds first, in place, and returns their number.
fn partition(refs: &mut [Reference], left: impl Fn(&Reference) -> bool) -> usize {
    let (mut low, mut high) = (0, refs.len());
    while low < high {
        if left(&refs[low]) {
            low += 1;
        } else {
            high -= 1;
            refs.swap(low, high);
        }
    }
    low
}

/// Puts the half with the lower centroids on the longest axis first, and returns its size.
pub fn median(refs: &mut [Reference], extent: &Extent) -> usize {
    let sides = (extent.centroids.max - extent.centroids.min).truncate();
    let axis = sides.max_position();
    let middle = refs.len() / 2;
    refs.select_nth_unstable_by(middle, |a, b| {
        let order = a.centroid()[axis].total_cmp(&b.centroid()[axis]);
        order.then(a.prim().cmp(&b.prim()))
    });
    middle
}
