//! Space as the array divides it: cells with their polygons, and a ray's way through the cells of
//! one node.

use super::config::{Axis, Bound};
use super::mapping::{Heading, Layout};
use super::unit::{Counts, Goal, Passage, Tests, Unit, UnitTimes};
use crate::rays::arithmetic::Operations;
use crate::rays::grid::{Grid, Lattice, Walk};
use crate::rays::intersector::{IntersectorRay, accepts, coordinate, distance, point};
use crate::rays::model::Model;
use crate::rays::polygon::{Coordinate, Polygon};
use crate::rays::ray::{ModelHit, RayKind, Request};
use crate::rays::surfaces::Slots;
use crate::rays::volumes::StructureError;
use crate::rays::volumes::bounds::Bounds;

/// Most polygons in the lists of all cells together.
const MOST_ENTRIES: usize = 1 << 27;

/// The cells of an array with a scene in them.
#[derive(Debug)]
pub struct Space<'a, O> {
    /// Nodes and cells.
    pub layout: Layout,
    operations: O,
    model: &'a Model,
    /// `None` when there are no primitives.
    grid: Option<Grid>,
    /// The axes of space that are columns, rows and layers.
    order: [usize; 3],
}

/// The visit of a ray to a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    /// The intersection unit's part; nothing if the first cell is empty.
    pub passage: Passage,
    /// Cells that the ray was in: the first, and empty ones of the same node after it.
    pub cells: u32,
    /// How it ended.
    pub end: VisitEnd,
}

/// How a visit ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VisitEnd {
    /// With a hit that counts.
    Hit(ModelHit),
    /// The ray goes on in this cell.
    Next(u32),
    /// It has left space, or come to its limit.
    Left,
}

impl<'a, O: Operations> Space<'a, O> {
    /// Sorts the primitives of a model into the cells of a layout.
    ///
    /// # Errors
    /// As [`Grid::new`].
    pub fn new(layout: Layout, depth: Axis, operations: O, model: &'a Model) -> Result<Self, StructureError> {
        let order = depth.order();
        let mut counts = [1; 3];
        for (axis, &of_space) in order.iter().enumerate() {
            counts[of_space] = u32::from(layout.cells[axis]);
        }
        let grid = match model.is_empty() {
            true => None,
            false => {
                let extents = model.extents();
                let lattice = Lattice::new(Bounds::around(&extents)?, counts)?;
                Some(Grid::new(lattice, &extents, MOST_ENTRIES)?)
            }
        };
        Ok(Self { layout, operations, model, grid, order })
    }

    /// The array's cell of a cell of the lattice.
    fn cell(&self, cell: [u32; 3]) -> u32 {
        self.layout.index(self.order.map(|axis| cell[axis] as u16))
    }

    /// The other way round.
    fn lattice_cell(&self, cell: u32) -> [u32; 3] {
        let mut lattice = [0; 3];
        for (axis, position) in self.layout.cell(cell).into_iter().enumerate() {
            lattice[self.order[axis]] = u32::from(position);
        }
        lattice
    }

    /// The cell in which a ray enters space, and which way it goes; `None` if it passes by.
    pub fn entry(&self, request: &Request) -> Option<(u32, Heading)> {
        let walk = Walk::start(self.grid.as_ref()?.lattice(), request)?;
        Some((self.cell(walk.cell()), self.order.map(|axis| request.direction[axis] >= 0.0)))
    }

    /// The words of each primitive.
    pub fn words(&self) -> Vec<u32> {
        (0..self.model.len() as u32).map(|index| self.model.words(index)).collect()
    }

    /// The polygons of a cell.
    pub fn list(&self, cell: u32) -> &[u32] {
        self.grid.as_ref().map_or(&[], |grid| grid.polygons(self.lattice_cell(cell)))
    }

    /// A ray's visit to a node, from a cell of it on. `is_here` says which cells the node has.
    pub fn visit(
        &self,
        request: &Request,
        cell: u32,
        unit: &mut Unit,
        (times, bound): (&UnitTimes, Bound),
        is_here: impl Fn(u32) -> bool,
    ) -> Visit {
        let nothing = Passage { latency: 0, front: 0, counts: Counts::default(), nearest: None };
        let mut visit = Visit { passage: nothing, cells: 1, end: VisitEnd::Left };
        let Some(grid) = &self.grid else { return visit };
        let Some(mut walk) = Walk::resume(grid.lattice(), request, self.lattice_cell(cell)) else { return visit };
        let list = grid.polygons(walk.cell());
        if !list.is_empty() {
            let mut tests = Listed { space: self, list, ray: IntersectorRay::from_request(request) };
            let exit = walk.exit();
            let nearest = match bound {
                Bound::Ray => request.limit,
                Bound::Cell => request.limit.min(exit.next_up()),
            };
            let (goal, best) = match request.kind {
                RayKind::Nearest => (Goal::Nearest, nearest),
                RayKind::Any => (Goal::Any, request.limit),
            };
            visit.passage = unit.run(times, list.len() as u32, best, goal, &mut tests);
            let found = visit.passage.nearest.filter(|n| goal == Goal::Any || n.t <= exit);
            if let Some(n) = found {
                let point = point(self.operations, &tests.ray, n.t);
                visit.end = VisitEnd::Hit(ModelHit { index: list[n.place as usize], t: n.t, point });
                return visit;
            }
        }
        loop {
            if walk.settles(request.limit) {
                return visit;
            }
            let Some(next) = walk.advance() else { return visit };
            let next = self.cell(next);
            if !is_here(next) || !grid.polygons(walk.cell()).is_empty() {
                visit.end = VisitEnd::Next(next);
                return visit;
            }
            visit.cells += 1;
        }
    }
}

/// A cell's list of polygons before a ray.
struct Listed<'a, O> {
    space: &'a Space<'a, O>,
    list: &'a [u32],
    ray: IntersectorRay,
}

impl<O: Operations> Listed<'_, O> {
    fn polygon(&self, place: u32) -> Option<&Polygon> {
        self.space.model.polygons.get(self.list[place as usize] as usize)
    }

    /// The coordinate of the point at a distance, if it is in range; any on other primitives.
    fn on(&self, place: u32, t: f32, equation: impl Fn(&Polygon) -> &Coordinate) -> Option<f32> {
        let operations = self.space.operations;
        let Some(polygon) = self.polygon(place) else { return Some(0.0) };
        let x = coordinate(operations, equation(polygon), point(operations, &self.ray, t));
        (!x.is_nan()).then_some(x)
    }
}

impl<O: Operations> Tests for Listed<'_, O> {
    fn distance(&mut self, place: u32) -> Option<f32> {
        let Some(polygon) = self.polygon(place) else {
            let surface = self.space.model.surface(self.list[place as usize])?;
            return surface.intersect(self.space.operations, &self.ray, f32::INFINITY);
        };
        let distance = distance(self.space.operations, polygon, &self.ray);
        accepts(polygon, distance, f32::INFINITY).then_some(distance.t)
    }

    fn surface(&self, place: u32) -> Option<(u32, Slots)> {
        let surface = self.space.model.surface(self.list[place as usize])?;
        Some((surface.words(), surface.slots()))
    }

    fn u(&mut self, place: u32, t: f32) -> Option<f32> {
        self.on(place, t, |polygon| &polygon.u)
    }

    fn v(&mut self, place: u32, t: f32) -> Option<f32> {
        self.on(place, t, |polygon| &polygon.v)
    }
}

#[cfg(test)]
mod hits {
    use super::*;
    use crate::rays::recording::{Finder, Work};

    /// The hardware's hits, without its time: cell by cell, and in each the nearest that counts
    /// there.
    impl<O: Operations> Finder for Space<'_, O> {
        fn find(&self, request: &Request) -> (Option<ModelHit>, Work) {
            let mut work = Work::default();
            let walk = self.grid.as_ref().and_then(|grid| Some((grid, Walk::start(grid.lattice(), request)?)));
            let Some((grid, mut walk)) = walk else { return (None, work) };
            let ray = IntersectorRay::from_request(request);
            loop {
                let list = grid.polygons(walk.cell());
                work.cells += 1;
                work.occupied += u32::from(!list.is_empty());
                let (mut best, mut found) = (request.limit, None);
                for &polygon in list {
                    work.test(self.model, polygon);
                    if let Some(hit) = self.model.test(self.operations, polygon, &ray, best) {
                        work.updates += 1;
                        best = hit.t;
                        found = Some(hit);
                        if request.kind == RayKind::Any {
                            return (found, work);
                        }
                    }
                }
                if found.is_some_and(|found| walk.settles(found.t)) {
                    return (found, work);
                }
                if walk.settles(request.limit) || walk.advance().is_none() {
                    return (None, work);
                }
            }
        }
    }
}
