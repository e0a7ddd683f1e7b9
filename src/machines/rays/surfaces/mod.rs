//! Primitives that are no planar convex quadrilaterals: quadrics, volumes that quadrics enclose
//! together, and general polygons (Ullner 1983, §2.1, §2.6).
//!
//! Each has an intersector of its own beside that for polygons, a pipeline in the hardware's
//! arithmetic. A quadric, and an edge of a polygon, takes one slot of it. All of them compute in the
//! space of the primitive's box, which is the cube from −1 to 1 there: numbers have the size of the
//! primitive, wherever it is, so that 24 bits are enough. The distance `t` is the same in each space.
//!
//! | module | about |
//! |---|---|
//! | [`placement`] | from the world to the box |
//! | [`quadric`] | quadrics, and the hits of a ray |
//! | [`net`] | what quadrics of positive and negative volume enclose |
//! | [`general`] | polygons that may be concave, or not planar |
//! | [`scene`] | the primitives of a scene that are such surfaces |

pub mod general;
pub mod net;
pub mod placement;
pub mod quadric;
pub mod scene;
#[cfg(test)]
mod tests;

use super::arithmetic::Operations;
use super::intersector::IntersectorRay;
use general::General;
use net::Net;
use placement::Placement;
use quadric::Quadric;

/// A surface in the hardware's memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// From the world to its box.
    pub placement: Placement,
    /// The shape in the box.
    pub shape: Shape,
}

/// The shape in the box of a surface.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// The part of a quadric within the box.
    Quadric(Quadric),
    /// The volume that several quadrics enclose within the box.
    Net(Net),
    /// A general polygon.
    General(General),
}

/// The slots of its intersector that a test of a surface takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// Quadrics.
    pub quadrics: u32,
    /// Edges of polygons.
    pub edges: u32,
}

impl Slots {
    /// The sum.
    pub fn plus(self, other: Self) -> Self {
        Self { quadrics: self.quadrics + other.quadrics, edges: self.edges + other.edges }
    }

    /// All of them.
    pub fn all(self) -> u32 {
        self.quadrics + self.edges
    }
}

impl Surface {
    /// The nearest hit with `0 ≤ t < best`.
    pub fn intersect<O: Operations>(&self, ops: O, ray: &IntersectorRay, best: f32) -> Option<f32> {
        let ray = self.placement.local(ops, ray);
        let counts = |t: &f32| *t >= 0.0 && *t < best;
        match &self.shape {
            Shape::Quadric(quadric) => quadric.hits(ops, &ray).into_iter().find(counts),
            Shape::Net(net) => net.hit(ops, &ray, counts),
            Shape::General(polygon) => polygon.hit(ops, &ray).filter(counts),
        }
    }

    /// The intersector slots that a test takes.
    pub fn slots(&self) -> Slots {
        match &self.shape {
            Shape::Quadric(_) => Slots { quadrics: 1, edges: 0 },
            Shape::Net(net) => Slots { quadrics: net.terms.len() as u32, edges: 0 },
            Shape::General(polygon) => Slots { quadrics: 0, edges: polygon.corners.len() as u32 },
        }
    }

    /// Words of its parameters: the placement, and those of its shape. Signs of volumes are bits
    /// beside them.
    pub fn words(&self) -> u32 {
        let shape = match &self.shape {
            Shape::Quadric(_) => quadric::WORDS,
            Shape::Net(net) => quadric::WORDS * net.terms.len(),
            Shape::General(polygon) => general::CORNER_WORDS * polygon.corners.len(),
        };
        (placement::WORDS + shape) as u32
    }
}
