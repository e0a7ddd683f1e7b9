//! The planes around the volume that a convex polygon hides (§3.4, figure 3-28): its own, and one
//! through each of its edges, perpendicular to the screen. Their positive sides are visible.
//!
//! Two rules keep rounding out of the drawing.
//! A polygon's own plane lies behind its corners by at least the guard, so that neither its edges nor
//! lines in its plane are ever behind it; with the guard 0 this is the thesis's rule `t_n ≥ 0`.
//! The planes through edges lie outside the polygon by the least step, so that no line shows through
//! between two polygons that share an edge.

use super::numbers::{Format, Ratio};
use super::space::Space;
use crate::polygons::screen::ScreenPolygon;
use glam::{DVec2, DVec3, Vec3Swizzles};

/// A plane `normal·p + d = 0`; with bits, `d` is a number of the format times the number for 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// `a`, `b`, `c`.
    pub normal: DVec3,
    /// `d`.
    pub d: f64,
}

/// Where a line meets a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meeting {
    /// The parameter, `t_n / t_d`.
    pub at: Ratio,
    /// True if the beginning of the line is on the visible side; if not, its end is.
    pub v: bool,
}

/// A line segment in the hardware's coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Where it begins, at the parameter 0.
    pub from: DVec3,
    /// Where it ends, at the parameter 1.
    pub to: DVec3,
}

impl Plane {
    /// Where the line of a segment meets the plane; nothing where all of it is behind (figure 3-32, with `t_n ≥ 0` as
    /// the text has it). A line in front of the plane and parallel to it is visible from its beginning.
    pub fn meet(&self, segment: &Segment, format: Format) -> Option<Meeting> {
        let [k1, k2] = [segment.from, segment.to].map(|end| self.normal.dot(end));
        let [t_n, t_d] = [k1 + self.d, k1 - k2];
        if t_d == 0.0 {
            return (t_n >= 0.0).then_some(Meeting { at: Ratio::NEGATIVE_END, v: false });
        }
        Some(Meeting { at: format.ratio(t_n, t_d), v: t_d > 0.0 })
    }
}

/// A polygon's planes among all, and bounds of what they hide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occluder {
    /// The first plane, the polygon's own.
    pub first: u32,
    /// How many it has.
    pub count: u32,
    /// The least x and y of what it hides.
    pub low: DVec2,
    /// The greatest.
    pub high: DVec2,
    /// The least depth of what it hides.
    pub nearest: f64,
    /// The polygon's index in the model.
    pub source: u32,
}

/// All planes of a scene.
#[derive(Clone, Debug, Default)]
pub struct Planes {
    /// The planes, polygon by polygon.
    pub planes: Vec<Plane>,
    /// The polygons that hide anything.
    pub occluders: Vec<Occluder>,
}

impl Planes {
    /// The planes of a polygon.
    pub fn get(&self, occluder: &Occluder) -> &[Plane] {
        let first = occluder.first as usize;
        self.planes.get(first..first + occluder.count as usize).unwrap_or(&[])
    }

    /// The planes of polygons on the screen, in their order. Polygons that are seen edge-on hide
    /// nothing and have none; those whose corners are in no plane are taken as triangles.
    pub fn new(polygons: &[ScreenPolygon], space: &Space) -> Self {
        let mut all = Self::default();
        for polygon in polygons {
            let corners: Vec<DVec3> = polygon.vertices.iter().map(|v| v.position).collect();
            if all.add(&corners, polygon.source, space, true) {
                continue;
            }
            for k in 2..corners.len() {
                all.add(&[corners[0], corners[k - 1], corners[k]], polygon.source, space, false);
            }
        }
        all
    }

    /// Adds a polygon. False when it is to be in a plane and its corners are in none.
    fn add(&mut self, screen: &[DVec3], source: u32, space: &Space, is_plane: bool) -> bool {
        let corners: Vec<DVec3> = screen.iter().map(|&corner| space.place(corner)).collect();
        let guard = screen.iter().fold(DVec3::ZERO, |guard, corner| guard.max(space.guard(corner.z)));
        let Some((own, is_flat)) = own_plane(&corners, guard, space) else { return true };
        if is_plane && corners.len() > 3 && !is_flat {
            return false;
        }
        let around = corners.iter().zip(corners.iter().cycle().skip(1));
        let center = corners.iter().sum::<DVec3>().xy() / corners.len().max(1) as f64;
        let side = |(a, b): (&DVec3, &DVec3)| edge_plane(a.xy(), b.xy(), center, space.format);
        let sides: Vec<Plane> = around.filter_map(side).collect();
        let first = self.planes.len() as u32;
        if let Some(occluder) = bounds(&own, &sides, space.format, first, source) {
            self.planes.push(own);
            self.planes.extend(sides);
            self.occluders.push(occluder);
        }
        true
    }
}

/// The plane of a polygon, its positive side to the eye, behind all corners by the guard; and
/// whether the corners are in it. Nothing where the polygon is seen edge-on.
fn own_plane(corners: &[DVec3], guard: DVec3, space: &Space) -> Option<(Plane, bool)> {
    let around = corners.iter().zip(corners.iter().cycle().skip(1));
    let origin = *corners.first()?;
    let sum: DVec3 = around.map(|(&a, &b)| (a - origin).cross(b - origin)).sum();
    let length = sum.abs().element_sum();
    // Nothing has a length that is no number.
    if length.is_nan() || sum.z.abs() <= 1e-12 * length {
        return None;
    }
    if space.format != Format::Exact && sum.z.abs() < THINNEST * longest(corners) {
        return None;
    }
    let normal = -sum.z.signum() * sum / length;
    let one = space.format.one();
    let normal = if space.format == Format::Exact { normal } else { (normal * one).round() };
    let distances = corners.iter().map(|&corner| normal.dot(corner));
    let (low, high) = distances.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), k| (l.min(k), h.max(k)));
    let (d, allowed) = match space.format {
        Format::Exact => {
            let guard = normal.abs().dot(guard);
            (guard - low, 2.0 * guard.max(1e-12))
        }
        Format::Bits(_) => {
            let d = (-low / one).ceil() + space.guard_units();
            (one * d.clamp(-one, one), 4.0 * one)
        }
    };
    (normal.z != 0.0).then_some((Plane { normal, d }, high - low <= allowed))
}

/// With bits, polygons that are thinner than this hide nothing: twice their area by their longest edge,
/// in last places. Rounding can turn all their edges the same way, so that they would hide half of the screen.
const THINNEST: f64 = 8.0;

/// The longest edge on the screen.
fn longest(corners: &[DVec3]) -> f64 {
    let around = corners.iter().zip(corners.iter().cycle().skip(1));
    around.map(|(a, b)| a.xy().distance(b.xy())).fold(0.0, f64::max)
}

/// How far the planes through edges are outside their polygon, without bits.
const OUTSIDE: f64 = 1e-10;

/// The plane through an edge, perpendicular to the screen; nothing where the edge has no length.
///
/// Both polygons at an edge have the same plane, with its sides exchanged, but for the step by which it
/// is outside each. With bits, only planes along an axis are: others hold no line exactly, and a step
/// would put what is beside a narrow polygon behind the next one.
fn edge_plane(a: DVec2, b: DVec2, center: DVec2, format: Format) -> Option<Plane> {
    let (from, to) = if (a.x, a.y) < (b.x, b.y) { (a, b) } else { (b, a) };
    let across = (to - from).perp();
    let length = across.abs().element_sum();
    if length <= 0.0 || length.is_nan() {
        return None;
    }
    let one = format.one();
    let across = if format == Format::Exact { across / length } else { (across * (one / length)).round() };
    let outward = if across.dot(center - from) > 0.0 { -across } else { across };
    let d = match format {
        Format::Exact => -outward.dot(from) - OUTSIDE,
        Format::Bits(_) => {
            let step = if outward.x == 0.0 || outward.y == 0.0 { 1.0 } else { 0.0 };
            one * ((-outward.dot(0.5 * (from + to)) / one).round() - step).clamp(-one, one)
        }
    };
    Some(Plane { normal: outward.extend(0.0), d })
}

/// How far from what planes hide a line can be that they are still found to hide: rounding of its
/// parameters moves it. In the units of `normal·p + d`.
fn slack(format: Format) -> f64 {
    match format {
        Format::Exact => 1e-9,
        Format::Bits(_) => 4.0 * format.one(),
    }
}

/// Bounds of what a polygon hides. Nothing where it hides nothing.
fn bounds(own: &Plane, sides: &[Plane], format: Format, first: u32, source: u32) -> Option<Occluder> {
    let (slack, reach) = (slack(format), 2.0 * format.one());
    let corner = |x: f64, y: f64| DVec2::new(x, y) * reach;
    let mut region = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    for side in sides {
        let inside = |p: DVec2| slack - side.d - side.normal.xy().dot(p);
        let around = region.iter().zip(region.iter().cycle().skip(1));
        let mut kept = Vec::with_capacity(region.len() + 1);
        for (&from, &to) in around {
            let [start, end] = [inside(from), inside(to)];
            if start >= 0.0 {
                kept.push(from);
            }
            if (start >= 0.0) != (end >= 0.0) {
                kept.push(from.lerp(to, start / (start - end)));
            }
        }
        region = kept;
    }
    let depth = |p: &DVec2| (own.normal.xy().dot(*p) + own.d - slack) / -own.normal.z;
    let nearest = region.iter().map(depth).fold(f64::INFINITY, f64::min);
    let low = region.iter().fold(DVec2::INFINITY, |low, &p| low.min(p));
    let high = region.iter().fold(DVec2::NEG_INFINITY, |high, &p| high.max(p));
    let count = 1 + sides.len() as u32;
    (region.len() >= 3).then_some(Occluder { first, count, low, high, nearest, source })
}
