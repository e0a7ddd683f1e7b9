//! The walk of a ray from cell to cell (Ullner 1983, App. B).
//!
//! Figures B-1 and B-2 do not work as printed. With cells counted from 1, the planes of axis `k` at
//! `t = a·i + b`, and `a = (x_max − x_min)/(n·d)`, `b = (x_min − r₀)/d` for a direction's component
//! `d`:
//!
//! - Cell `i` lies between the planes `i − 1` and `i`. The ray leaves it through the second if `a`
//!   is positive and through the first if not, at `a·i + b + max(0, −a)`. B-1 prints `+ |a|`, one
//!   cell too far where `a` is positive.
//! - The first cell is `⌊q⌋ + 1`, clamped to 1 and `n`, where `q = (t − b)/a`. B-1 prints `⌈q⌉`,
//!   which is 0 for rays that enter through the plane 0: they miss the scene.
//! - Where `d` is 0, `a` is infinite and `b` is infinite or 0/0. Such an axis has no crossings, the
//!   cell on it is that of the origin, and a ray outside misses the scene. With `q` found from the
//!   position, `(r(t) − x_min)/size`, which is the same number, all axes are alike.
//! - B-2 takes the step of the smallest `t` only if it is smaller than both others (`<`). Where a
//!   ray crosses two planes at once it never moves again. Here the lowest axis of several goes
//!   first.
//!
//! B-2 adds `|a|` for the next crossing. Here it is `a·i + b` again, a multiplication more, of which
//! the hardware has enough. The error then does not grow with the length of the walk, and the walk
//! is a function of the ray and the cell alone: in the array, where a node knows nothing else, the
//! node that a ray [comes to](Walk::resume) continues with the same bits.

use super::Lattice;
use crate::rays::ray::Request;
use crate::rays::volumes::line::Line;

/// A ray in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walk {
    cell: [u32; 3],
    counts: [u32; 3],
    /// `t` from one plane to the next; infinite on an axis that the ray does not move along.
    a: [f32; 3],
    /// `t` at plane 0.
    b: [f32; 3],
    /// `t` at the next crossing.
    next: [f32; 3],
}

impl Walk {
    /// A walk from the cell in which the ray enters the lattice, or starts. `None` if the ray
    /// misses the lattice or is not [traceable](Line::new). The limit of the ray does not matter.
    #[inline]
    pub fn start(lattice: &Lattice, request: &Request) -> Option<Self> {
        let line = Line::new(request)?;
        let mut walk = Self::along(lattice, &line);
        let (mut enter, mut leave) = (0.0f32, f32::INFINITY);
        for axis in 0..3 {
            let width = lattice.size[axis] * lattice.counts[axis] as f32;
            if walk.a[axis].is_infinite() {
                let along = line.origin[axis] - lattice.min[axis];
                if !(0.0..=width).contains(&along) {
                    return None;
                }
            } else {
                let ends = [walk.b[axis], walk.a[axis] * lattice.counts[axis] as f32 + walk.b[axis]];
                enter = enter.max(ends[0].min(ends[1]));
                leave = leave.min(ends[0].max(ends[1]));
            }
        }
        if enter > leave {
            return None;
        }
        for axis in 0..3 {
            let position = line.origin[axis] + enter * line.direction[axis];
            let q = (position - lattice.min[axis]) / lattice.size[axis];
            // The conversion clamps at 0 from below.
            walk.cell[axis] = (q as u32).min(lattice.counts[axis] - 1);
            walk.next[axis] = walk.crossing(axis);
        }
        Some(walk)
    }

    /// A walk from a cell that the ray has come to: where its walk from the start gets to that
    /// cell, the same state. `None` if there is no such cell, or the ray is not traceable.
    #[inline]
    pub fn resume(lattice: &Lattice, request: &Request, cell: [u32; 3]) -> Option<Self> {
        let line = Line::new(request)?;
        if (0..3).any(|axis| cell[axis] >= lattice.counts[axis]) {
            return None;
        }
        let mut walk = Self { cell, ..Self::along(lattice, &line) };
        walk.next = [0, 1, 2].map(|axis| walk.crossing(axis));
        Some(walk)
    }

    /// A walk along a line, in no cell yet.
    #[inline]
    fn along(lattice: &Lattice, line: &Line) -> Self {
        let (mut a, mut b) = ([f32::INFINITY; 3], [0.0; 3]);
        for axis in 0..3 {
            let component = line.direction[axis];
            if !line.is_parallel(component) {
                a[axis] = lattice.size[axis] / component;
                b[axis] = (lattice.min[axis] - line.origin[axis]) / component;
            }
        }
        Self { cell: [0; 3], counts: lattice.counts, a, b, next: [f32::INFINITY; 3] }
    }

    /// `t` at the next crossing of an axis: `a·i + b + max(0, −a)` in the thesis's count.
    #[inline]
    fn crossing(&self, axis: usize) -> f32 {
        let a = self.a[axis];
        if a.is_infinite() {
            return f32::INFINITY;
        }
        let plane = self.cell[axis] + u32::from(a > 0.0);
        a * plane as f32 + self.b[axis]
    }

    /// The axis of the next crossing, the lowest of several.
    #[inline]
    fn axis(&self) -> usize {
        let [x, y, z] = self.next;
        match () {
            () if x <= y && x <= z => 0,
            () if y <= z => 1,
            () => 2,
        }
    }

    /// The cell that the ray is in.
    #[inline]
    pub fn cell(&self) -> [u32; 3] {
        self.cell
    }

    /// The `t` at which the ray leaves the cell. Never smaller than that of the cell before, and
    /// may be a little smaller than the `t` at which the ray starts or enters the lattice.
    #[inline]
    pub fn exit(&self) -> f32 {
        self.next[self.axis()]
    }

    /// True if the best hit after the polygons of this cell, or the limit of the ray, is final: its
    /// `t` is not beyond the exit. See the [grid](super) for why.
    #[inline]
    pub fn settles(&self, best: f32) -> bool {
        best <= self.exit()
    }

    /// Goes on to the next cell, which shares a face with this one, and gives it. `None` if the ray
    /// leaves the lattice; it is then still in its last cell.
    #[inline]
    pub fn advance(&mut self) -> Option<[u32; 3]> {
        let axis = self.axis();
        let cell = if self.a[axis] > 0.0 { self.cell[axis] + 1 } else { self.cell[axis].wrapping_sub(1) };
        if cell >= self.counts[axis] {
            return None;
        }
        self.cell[axis] = cell;
        self.next[axis] = self.crossing(axis);
        Some(self.cell)
    }
}
