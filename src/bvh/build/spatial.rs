//! The best spatial split of a node: the binned search for a plane that may split triangles (Stich,
//! Friedrich & Dietrich, "Spatial Splits in Bounding Volume Hierarchies", 2009), and the split
//! itself, with their reference unsplitting.

use super::super::triangle::Triangle;
use super::bounds::{Aabb, bins_of};
use super::clip::{Clipper, Corners, corners};
use super::reference::{Reference, reduce};
use glam::Vec4;

/// Planes tried on an axis are one less. Sixteen bins give trees with the same number of nodes a
/// ray (within 1 % on Sponza and the bunny) and take 1.3 to 1.6 times as long (`cargo bench --bench
/// bvh -- builders`).
const BINS: usize = 8;

/// The triangles of a build, and how to cut them.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    triangles: &'a [Triangle],
    clipper: Clipper,
    /// Multiplies lengths in areas.
    scale: f32,
}

/// A plane that parts a node's box.
pub struct SpatialSplit {
    /// Area times count, summed over the sides, where every triangle that meets the plane is on
    /// both.
    pub cost: f32,
    axis: usize,
    place: f32,
    /// Box and count of each side.
    sides: [(Aabb, usize); 2],
}

impl<'a> Source<'a> {
    /// For a scene with coordinates of at most `largest`, and with areas taken of lengths times
    /// `scale`.
    pub fn new(triangles: &'a [Triangle], largest: f32, scale: f32) -> Self {
        Self { triangles, clipper: Clipper::new(largest), scale }
    }

    #[inline]
    fn corners(&self, r: &Reference) -> Corners {
        corners(&self.triangles[r.prim() as usize])
    }

    /// The best plane through the references in a box; none where all planes leave a side empty or
    /// spare it nothing.
    pub fn best(&self, refs: &[Reference], bounds: &Aabb) -> Option<SpatialSplit> {
        let grid = Grid::new(bounds);
        let bins = reduce(refs, |piece| Bins::fill(self, &grid, piece), Bins::join);
        let mut best: Option<SpatialSplit> = None;
        for axis in 0..3 {
            for (last, sides) in bins.planes(axis).into_iter().enumerate() {
                let fewer = sides.iter().all(|side| side.1 > 0 && side.1 < refs.len());
                let cost = sides.iter().map(|side| side.0.half_area(self.scale) * side.1 as f32).sum::<f32>();
                if fewer && cost < best.as_ref().map_or(f32::INFINITY, |best| best.cost) {
                    best = Some(SpatialSplit { cost, axis, place: grid.place(axis, last + 1), sides });
                }
            }
        }
        best
    }

    /// Cuts the references `slots[..count]` at a plane. Afterwards those of the left side come
    /// first, then those of the right side; their numbers are given. The slots beyond `count` are
    /// room for triangles that are on both sides: one that finds none, or that costs more on both
    /// sides than on one, goes to one side whole.
    pub fn cut(&self, split: &SpatialSplit, slots: &mut [Reference], count: usize) -> [usize; 2] {
        let SpatialSplit { axis, place, sides: [mut left, mut right], .. } = *split;
        let area = |bounds: &Aabb| bounds.half_area(self.scale);
        let (mut low, mut high, mut end) = (0, count, count);
        while low < high {
            let whole = slots[low];
            let bounds = whole.bounds();
            let both = bounds.min[axis] < place && bounds.max[axis] > place;
            let goes_left = if both {
                let (on_left, on_right) = (left.0.join(bounds), right.0.join(bounds));
                let (n_left, n_right) = (left.1 as f32, right.1 as f32);
                let cost_both = area(&left.0) * n_left + area(&right.0) * n_right;
                let cost_left = area(&on_left) * n_left + area(&right.0) * (n_right - 1.0);
                let cost_right = area(&left.0) * (n_left - 1.0) + area(&on_right) * n_right;
                if cost_both <= cost_left.min(cost_right) && end < slots.len() {
                    let corners = self.corners(&whole);
                    let part = |low, high| self.clipper.between(&corners, &bounds, axis, low, high);
                    let parts = [part(bounds.min[axis], place), part(place, bounds.max[axis])];
                    match parts.map(|part| part.is_empty()) {
                        [false, false] => {
                            slots[low] = whole.within(parts[0]);
                            slots[end] = whole.within(parts[1]);
                            end += 1;
                            low += 1;
                            continue;
                        }
                        [left_is_empty, _] => !left_is_empty,
                    }
                } else {
                    cost_left < cost_right
                }
            } else {
                bounds.max[axis] <= place
            };
            if both && goes_left {
                left.0 = left.0.join(bounds);
                right.1 = right.1.saturating_sub(1);
            } else if both {
                right.0 = right.0.join(bounds);
                left.1 = left.1.saturating_sub(1);
            }
            if goes_left {
                low += 1;
            } else {
                high -= 1;
                slots.swap(low, high);
            }
        }
        [low, end - low]
    }
}

/// Planes at equal distances across a box.
struct Grid {
    origin: Vec4,
    step: Vec4,
    scale: Vec4,
}

impl Grid {
    fn new(bounds: &Aabb) -> Self {
        let extent = bounds.max - bounds.min;
        let scale = extent.to_array().map(|e| if e > 0.0 { BINS as f32 / e } else { 0.0 });
        Self { origin: bounds.min, step: extent * (1.0 / BINS as f32), scale: Vec4::from_array(scale) }
    }

    /// Where a bin starts.
    #[inline]
    fn place(&self, axis: usize, bin: usize) -> f32 {
        self.origin[axis] + self.step[axis] * bin as f32
    }

    #[inline]
    fn bins(&self, place: Vec4) -> [usize; 3] {
        bins_of((place - self.origin) * self.scale, BINS)
    }
}

/// The contents of the bins of all three axes: the box of each, and how many triangles begin and
/// end there.
struct Bins {
    boxes: [[Aabb; BINS]; 3],
    begin: [[u32; BINS]; 3],
    end: [[u32; BINS]; 3],
}

impl Bins {
    fn fill(source: &Source<'_>, grid: &Grid, refs: &[Reference]) -> Self {
        let mut all = Self { boxes: [[Aabb::EMPTY; BINS]; 3], begin: [[0; BINS]; 3], end: [[0; BINS]; 3] };
        for r in refs {
            let bounds = r.bounds();
            let (first, last) = (grid.bins(bounds.min), grid.bins(bounds.max));
            for axis in 0..3 {
                all.begin[axis][first[axis]] += 1;
                all.end[axis][last[axis]] += 1;
            }
            let within = [0, 1, 2].map(|axis| first[axis] == last[axis]);
            for axis in (0..3).filter(|&axis| within[axis]) {
                all.boxes[axis][first[axis]] = all.boxes[axis][first[axis]].join(bounds);
            }
            if within != [true; 3] {
                let corners = source.corners(r).map(|corner| (corner, grid.bins(corner)));
                for axis in (0..3).filter(|&axis| !within[axis]) {
                    all.chop(grid, &corners, &bounds, axis, [first[axis], last[axis]]);
                }
            }
        }
        all
    }

    /// Adds the pieces of a triangle to the bins from `first` to `last`, which its box is in.
    /// Corners come with their bins. The pieces serve to estimate areas; they are not conservative.
    fn chop(
        &mut self,
        grid: &Grid,
        corners: &[(Vec4, [usize; 3]); 3],
        bounds: &Aabb,
        axis: usize,
        [first, last]: [usize; 2],
    ) {
        let (low, high) = (bounds.min[axis], bounds.max[axis]);
        let mut pieces = [Aabb::EMPTY; BINS];
        let mut add = |bin: usize, point: Vec4| {
            let piece = &mut pieces[bin & (BINS - 1)];
            *piece = piece.join(Aabb { min: point, max: point });
        };
        let [a, b, c] = corners;
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let (from, to) = if from.0[axis] <= to.0[axis] { (from, to) } else { (to, from) };
            let (start, end) = (from.0[axis], to.0[axis]);
            if end < low || start > high {
                continue;
            }
            let slope = (to.0 - from.0) / (end - start);
            let at = |place: f32| from.0 + slope * (place - start);
            let (begin, finish) = (from.1[axis].max(first), to.1[axis].min(last));
            add(begin, if start >= low { from.0 } else { at(low) });
            add(finish, if end <= high { to.0 } else { at(high) });
            for bin in begin + 1..=finish {
                let point = at(grid.place(axis, bin));
                add(bin - 1, point);
                add(bin, point);
            }
        }
        for (bin, piece) in pieces.iter().enumerate().take(last + 1).skip(first) {
            let piece = piece.meet(*bounds);
            if !piece.is_empty() {
                self.boxes[axis][bin] = self.boxes[axis][bin].join(piece);
            }
        }
    }

    fn join(mut self, other: Self) -> Self {
        for axis in 0..3 {
            for bin in 0..BINS {
                self.boxes[axis][bin] = self.boxes[axis][bin].join(other.boxes[axis][bin]);
                self.begin[axis][bin] += other.begin[axis][bin];
                self.end[axis][bin] += other.end[axis][bin];
            }
        }
        self
    }

    /// Boxes and counts of both sides of each plane across an axis.
    fn planes(&self, axis: usize) -> [[(Aabb, usize); 2]; BINS - 1] {
        let none = (Aabb::EMPTY, 0);
        let mut planes = [[none; 2]; BINS - 1];
        let (mut left, mut right) = (none, none);
        for i in 0..BINS - 1 {
            left = (left.0.join(self.boxes[axis][i]), left.1 + self.begin[axis][i] as usize);
            planes[i][0] = left;
            let bin = BINS - 1 - i;
            right = (right.0.join(self.boxes[axis][bin]), right.1 + self.end[axis][bin] as usize);
            planes[bin - 1][1] = right;
        }
        planes
    }
}
