//! General polygons by two planes through the ray (Ullner 1983, §2.6, fig. 2-33): they may be
//! concave, and not planar.
//!
//! The pipeline takes an edge after the other: the distances of its ends from the first plane say
//! whether it crosses that, the place of the crossing and its distance from the second plane on
//! which side of the ray that is. The nearest crossing on each side is kept, and their number. The
//! ray meets the polygon between them if it is odd on both sides.

use super::placement::{LocalRay, along, cross, dot, minus};
use crate::rays::arithmetic::Operations;

/// Most corners of a polygon.
pub const MOST_CORNERS: usize = 16;

/// Words of a corner.
pub const CORNER_WORDS: usize = 3;

/// A polygon in the space of its box.
#[derive(Clone, Debug, PartialEq)]
pub struct General {
    /// Three corners or more, in order around it.
    pub corners: Vec<[f32; 3]>,
}

/// The two planes through a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planes {
    /// The normal of the plane that crosses edges: it holds the ray and the direction of the first
    /// edge.
    pub first: [f32; 3],
    /// The normal of the plane across it.
    pub second: [f32; 3],
}

impl Planes {
    /// The planes of a ray, for a polygon with such a first edge: 12 products and 9 differences.
    #[inline(always)]
    pub fn new<O: Operations>(ops: O, ray: &LocalRay, [from, to]: [[f32; 3]; 2]) -> Self {
        let first = cross(ops, ray.direction, minus(ops, to, from));
        Self { first, second: cross(ops, first, ray.direction) }
    }
}

/// A corner before a ray: from the ray's origin, and its distance from the first plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    place: [f32; 3],
    distance: f32,
}

/// Where an edge crosses the first plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The point, from the ray's origin.
    pub place: [f32; 3],
    /// The distance of the point from the second plane.
    pub away: f32,
}

/// The corner before a ray: 3 products and 5 sums.
#[inline(always)]
pub fn corner<O: Operations>(ops: O, ray: &LocalRay, planes: &Planes, corner: [f32; 3]) -> Corner {
    let place = minus(ops, corner, ray.origin);
    Corner { place, distance: dot(ops, planes.first, place) }
}

/// The crossing of an edge: 6 products, 9 sums and a division.
#[inline(always)]
pub fn crossing<O: Operations>(ops: O, planes: &Planes, from: &Corner, to: &Corner) -> Crossing {
    let at = ops.divide(from.distance, ops.sub(from.distance, to.distance));
    let place = along(ops, from.place, minus(ops, to.place, from.place), at);
    Crossing { place, away: dot(ops, planes.second, place) }
}

/// The distance at which a ray passes between the crossings on both sides of it: 9 products, 11 sums
/// and two divisions.
#[inline(always)]
pub fn between<O: Operations>(ops: O, ray: &LocalRay, below: &Crossing, above: &Crossing) -> f32 {
    let at = ops.divide(below.away, ops.sub(below.away, above.away));
    let place = along(ops, below.place, minus(ops, above.place, below.place), at);
    ops.divide(dot(ops, place, ray.direction), dot(ops, ray.direction, ray.direction))
}

impl General {
    /// The hit of a ray.
    pub fn hit<O: Operations>(&self, ops: O, ray: &LocalRay) -> Option<f32> {
        let &[start, next, ..] = &self.corners[..] else { return None };
        let planes = Planes::new(ops, ray, [start, next]);
        // Of the crossings below and above the second plane: the nearest, and whether there is an odd
        // number.
        let mut sides: [(Option<Crossing>, bool); 2] = [(None, false); 2];
        let first = corner(ops, ray, &planes, start);
        let mut from = first;
        let ends = self.corners[1..].iter().map(|&end| corner(ops, ray, &planes, end));
        for to in ends.chain([first]) {
            if (from.distance < 0.0) != (to.distance < 0.0) {
                let crossing = crossing(ops, &planes, &from, &to);
                let (nearest, is_odd) = &mut sides[usize::from(crossing.away >= 0.0)];
                *is_odd = !*is_odd;
                if nearest.is_none_or(|known| crossing.away.abs() < known.away.abs()) {
                    *nearest = Some(crossing);
                }
            }
            from = to;
        }
        match sides {
            [(Some(below), true), (Some(above), true)] => Some(between(ops, ray, &below, &above)),
            _ => None,
        }
    }
}
