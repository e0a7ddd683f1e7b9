//! The grid of subvolumes (Ullner 1983, §2.3.4 and App. B).
//!
//! Space is divided into a [`Lattice`] of equal cells, each with the list of the polygons that
//! overlap it. A ray [walks](Walk) from cell to cell and is tested against the polygons of each
//! until its hit is final. The peripheral's auxiliary processor does so, and the array, whose nodes
//! own parts of the lattice and forward rays from one to the next.
//!
//! # When a hit is final
//!
//! The thesis accepts a hit "if the point of intersection lies within the subvolume", as a polygon
//! of this cell may be hit in a later one, behind the polygons of the cells between. A rounded
//! point on the border of two cells may lie in neither by this rule, and the hit is lost. Here a
//! hit is final once its `t` is not beyond that at which the ray leaves the cell
//! ([`Walk::settles`]):
//!
//! - The cells of a walk divide the ray into intervals of `t` without gaps: a cell is entered at
//!   the very float at which the one before is left.
//! - Throughout its interval the ray is within `2⁻²²·(2 s + r)` of the cell (`s` the scale of the
//!   box, `r` the distance of the origin), and a computed hit is within rounding of what counts of
//!   its polygon. Lists are made for cells enlarged by the [margin](super::volumes::bounds), which
//!   exceeds the sum. So the polygon of a hit is in the list of the cell in whose interval its `t`
//!   is.
//! - Hence no hit is lost. A hit beyond the exit is kept as the best so far and becomes final when
//!   the walk has come as far, unless a nearer one is found: no hit is taken early.

mod lattice;
#[cfg(test)]
mod printed;
#[cfg(test)]
mod tests;
mod walk;

pub use lattice::Lattice;
pub use walk::Walk;

use super::ray::Request;
use super::volumes::bounds::{Bounds, growth};
use super::volumes::outline::Outline;
use super::volumes::{Shape, Structure, StructureError, Visitor};
use glam::DVec3;
use std::ops::ControlFlow;

/// A lattice with the list of polygons of each cell.
#[derive(Clone, Debug)]
pub struct Grid {
    lattice: Lattice,
    /// Where the list of each cell starts, and the end of the last.
    starts: Vec<u32>,
    polygons: Vec<u32>,
}

impl Grid {
    /// The lists of polygons, and other primitives, in the cells of a lattice. They have at most
    /// `limit` entries together.
    ///
    /// # Errors
    /// [`StructureError::Outside`] if a polygon or its [slack](super::volumes::bounds::SLACK) is
    /// not inside the lattice, which would lose hits. [`StructureError::TooManyEntries`] beyond
    /// `limit`.
    pub fn new<P: Outline>(lattice: Lattice, polygons: &[P], limit: usize) -> Result<Self, StructureError> {
        let limit = limit.min(u32::MAX as usize);
        let mut starts = vec![0u32; lattice.cells() + 1];
        let mut entries = 0;
        for (index, polygon) in polygons.iter().enumerate() {
            if !lattice.bounds().contains(&Bounds::new(polygon).grown(growth(polygon))) {
                return Err(StructureError::Outside { polygon: index as u32 });
            }
            let flow = occupied(&lattice, polygon, &mut |cell| {
                entries += 1;
                starts[cell] += 1;
                if entries > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if flow.is_break() {
                return Err(StructureError::TooManyEntries { limit });
            }
        }
        // Each count becomes the end of its list; filled from the last polygon to the first, the
        // ends become starts and the lists ascend.
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut lists = vec![0; entries];
        for (index, polygon) in polygons.iter().enumerate().rev() {
            let _: ControlFlow<()> = occupied(&lattice, polygon, &mut |cell| {
                starts[cell] -= 1;
                lists[starts[cell] as usize] = index as u32;
                ControlFlow::Continue(())
            });
        }
        Ok(Self { lattice, starts, polygons: lists })
    }

    /// The grid of `cells` on each axis of the box around polygons.
    ///
    /// # Errors
    /// As [`Bounds::around`], [`Lattice::new`] and [`new`](Self::new).
    pub fn cube<P: Outline>(polygons: &[P], cells: u32, limit: usize) -> Result<Self, StructureError> {
        Self::new(Lattice::new(Bounds::around(polygons)?, [cells; 3])?, polygons, limit)
    }

    /// The cells.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// The polygons of a cell of the lattice, in ascending order. Empty for cells outside.
    #[inline]
    pub fn polygons(&self, cell: [u32; 3]) -> &[u32] {
        let index = self.lattice.index(cell);
        match self.starts.get(index..index + 2) {
            Some(&[start, end]) => &self.polygons[start as usize..end as usize],
            _ => &[],
        }
    }

    /// The entries of all lists together.
    pub fn entries(&self) -> usize {
        self.polygons.len()
    }

    /// The cells whose lists are not empty: `n_o` of Ullner 1983, §2.3.4.
    pub fn occupied(&self) -> usize {
        self.starts.windows(2).filter(|list| list[0] < list[1]).count()
    }
}

impl Structure for Grid {
    fn visit<V: Visitor>(&self, request: &Request, visitor: &mut V) {
        let Some(mut walk) = Walk::start(&self.lattice, request) else {
            return;
        };
        let mut best = request.limit;
        loop {
            let polygons = self.polygons(walk.cell());
            visitor.cell(polygons.len() as u32);
            for &polygon in polygons {
                best = visitor.polygon(polygon);
                if best < 0.0 {
                    return;
                }
            }
            if walk.settles(best) || walk.advance().is_none() {
                return;
            }
        }
    }
}

/// Calls `each` once with the number of every cell that a polygon overlaps, until it breaks.
fn occupied<P, F>(lattice: &Lattice, polygon: &P, each: &mut F) -> ControlFlow<()>
where
    P: Outline,
    F: FnMut(usize) -> ControlFlow<()>,
{
    let reach = f64::from(lattice.margin() + growth(polygon));
    let Bounds { min, max } = Bounds::new(polygon);
    let first = lattice.cell_of(min.as_dvec3() - reach);
    let last = lattice.cell_of(max.as_dvec3() + reach);
    if first == last {
        return each(lattice.index(first));
    }
    narrow(lattice, &Shape::new(polygon), reach, (first, last), each)
}

/// The same for the cells from `first` to `last`, both included. Halves the range while the polygon
/// overlaps it, so that the work is in proportion to the cells that it overlaps.
fn narrow<F>(
    lattice: &Lattice,
    shape: &Shape,
    reach: f64,
    (first, last): ([u32; 3], [u32; 3]),
    each: &mut F,
) -> ControlFlow<()>
where
    F: FnMut(usize) -> ControlFlow<()>,
{
    let corner = |cell: [u32; 3], next: u32| DVec3::from([0, 1, 2].map(|k| lattice.plane(k, cell[k] + next)));
    if !shape.meets(corner(first, 0) - reach, corner(last, 1) + reach) {
        return ControlFlow::Continue(());
    }
    let length = [0, 1, 2].map(|k| last[k] - first[k]);
    let axis = (0..3).fold(0, |longest, k| if length[k] > length[longest] { k } else { longest });
    if length[axis] == 0 {
        return each(lattice.index(first));
    }
    let middle = first[axis] + length[axis] / 2;
    let (mut lower, mut upper) = (last, first);
    lower[axis] = middle;
    upper[axis] = middle + 1;
    narrow(lattice, shape, reach, (first, lower), each)?;
    narrow(lattice, shape, reach, (upper, last), each)
}
