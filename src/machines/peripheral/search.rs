//! The peripheral's way to find hits: a structure gives the primitives, the intersectors test them.

use super::config::{Config, MOST_CELLS};
use crate::peripheral::analysis;
use crate::rays::arithmetic::{Commercial, Custom, Ieee, Operations, Unit};
use crate::rays::grid::{Grid, Lattice};
use crate::rays::intersector::IntersectorRay;
use crate::rays::model::Model;
use crate::rays::ray::{ModelHit, RayKind, Request};
use crate::rays::recording::{Finder, Work};
use crate::rays::volumes::bounds::Bounds;
use crate::rays::volumes::hierarchy::Hierarchy;
use crate::rays::volumes::oriented::OrientedBox;
use crate::rays::volumes::{All, Structure, StructureError, Visitor, octree, oriented, ours};

/// Most polygons in the lists of all cells together.
const MOST_ENTRIES: usize = 1 << 27;

/// How the peripheral chooses polygons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Every polygon, for every ray (Ullner 1983, §2.3.2).
    All,
    /// The polygons in a grid's cells (§2.3.4).
    Grid,
    /// By oriented bounding boxes (Rubin & Whitted 1980).
    Boxes,
    /// The polygons in an octree's cells (Reddy & Rubin 1978).
    Octree,
    /// By our own BVH, built for the least expected cost of a ray.
    Bvh,
}

/// The structure that chooses polygons for a scene.
#[derive(Debug)]
pub enum Chooser {
    /// [`Choice::All`].
    All(All),
    /// [`Choice::Grid`].
    Grid(Grid),
    /// [`Choice::Boxes`].
    Boxes(Hierarchy<OrientedBox>),
    /// [`Choice::Octree`] and [`Choice::Bvh`].
    Hierarchy(Hierarchy<Bounds>),
}

/// The peripheral with a scene in its memory.
#[derive(Debug)]
pub struct Peripheral<'a> {
    model: &'a Model,
    chooser: Chooser,
    unit: Unit,
}

/// The polygons that are chosen for a model, with `cells` on each axis of a grid.
///
/// # Errors
/// When the structure cannot be built for the model.
pub fn chooser(choice: Choice, model: &Model, cells: u32, config: &Config) -> Result<Chooser, StructureError> {
    if model.is_empty() {
        return Ok(Chooser::All(All { polygons: 0 }));
    }
    let extents = if choice == Choice::All { Vec::new() } else { model.extents() };
    Ok(match choice {
        Choice::All => Chooser::All(All { polygons: model.len() as u32 }),
        Choice::Grid => {
            let lattice = Lattice::new(Bounds::around(&extents)?, [cells; 3])?;
            Chooser::Grid(Grid::new(lattice, &extents, MOST_ENTRIES)?)
        }
        Choice::Boxes => Chooser::Boxes(oriented::build(&extents, config.boxes.leaf as usize)?),
        Choice::Octree => {
            let most = config.octree.polygons as usize;
            let options = octree::OctreeOptions { most, levels: config.octree.levels, limit: MOST_ENTRIES };
            Chooser::Hierarchy(octree::build(&extents, &options)?)
        }
        Choice::Bvh => Chooser::Hierarchy(ours::build(&extents)?),
    })
}

/// The number of cells on an axis that the estimate of §2.3.4 recommends for a scene: for rays that
/// cross half of it, and the polygons' area in units of a face of the scene's box.
pub fn recommended_cells(model: &Model, config: &Config) -> u32 {
    analysis::best(&estimated_scene(model, config, 0.5), MOST_CELLS).cells
}

/// A scene as the estimate of §2.3.4 sees it, where rays go `distance` of its box before they hit.
pub(super) fn estimated_scene(model: &Model, config: &Config, distance: f64) -> analysis::Scene {
    let (low, high) = model.bounds;
    let extent = f64::from((high - low).max_element().max(f32::MIN_POSITIVE));
    analysis::Scene {
        polygons: model.polygons.len() as f64 + f64::from(model.slots().all()),
        area: model.area() / extent.powi(2),
        distance,
        step: config.grid.step,
        test: 1.0 / config.intersector.rate,
        latency: config.latency(),
    }
}

impl<'a> Peripheral<'a> {
    /// The peripheral with a model in its memory.
    pub fn new(model: &'a Model, chooser: Chooser, unit: Unit) -> Self {
        Self { model, chooser, unit }
    }

    fn through<O: Operations>(&self, operations: O, request: &Request) -> (Option<ModelHit>, Work) {
        let mut search = Search::new(self.model, operations, request);
        match &self.chooser {
            Chooser::All(all) => all.visit(request, &mut search),
            Chooser::Grid(grid) => grid.visit(request, &mut search),
            Chooser::Boxes(boxes) => boxes.visit(request, &mut search),
            Chooser::Hierarchy(hierarchy) => hierarchy.visit(request, &mut search),
        }
        (search.found, search.work)
    }
}

impl Finder for Peripheral<'_> {
    fn find(&self, request: &Request) -> (Option<ModelHit>, Work) {
        match self.unit {
            Unit::Commercial => self.through(Commercial, request),
            Unit::Custom => self.through(Custom, request),
            Unit::Ieee => self.through(Ieee, request),
        }
    }
}

/// The intersector at work on a ray.
struct Search<'a, O> {
    model: &'a Model,
    operations: O,
    ray: IntersectorRay,
    kind: RayKind,
    best: f32,
    found: Option<ModelHit>,
    work: Work,
}

impl<'a, O: Operations> Search<'a, O> {
    fn new(model: &'a Model, operations: O, request: &Request) -> Self {
        let ray = IntersectorRay::from_request(request);
        let (kind, best) = (request.kind, request.limit);
        Self { model, operations, ray, kind, best, found: None, work: Work::default() }
    }
}

impl<O: Operations> Visitor for Search<'_, O> {
    fn polygon(&mut self, index: u32) -> f32 {
        self.work.test(self.model, index);
        // Of hits at equal distance that of the lower polygon counts, whatever comes first.
        let wins_ties = self.found.is_some_and(|found| index < found.index);
        let best = if wins_ties { self.best.next_up() } else { self.best };
        if let Some(found) = self.model.test(self.operations, index, &self.ray, best) {
            self.work.updates += 1;
            self.best = found.t;
            self.found = Some(found);
            if self.kind == RayKind::Any {
                self.best = f32::NEG_INFINITY;
            }
        }
        self.best
    }

    fn boxes(&mut self, count: u32) {
        self.work.boxes += count;
        self.work.waits += 1;
    }

    fn cell(&mut self, polygons: u32) {
        self.work.cells += 1;
        if polygons > 0 {
            self.work.occupied += 1;
            self.work.waits += 1;
        }
    }
}
