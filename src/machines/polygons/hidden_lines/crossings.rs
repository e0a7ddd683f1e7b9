//! Lines in which polygons cross each other. The hardware, which takes edges and polygons as
//! unrelated, does not find these; §3.4 proposes to compute them beforehand.

use super::edges::EdgeKind;
use super::host::{HiddenLineError, Line};
use super::weld::Mesh;
use crate::polygons::model::Model;
use crate::polygons::screen::ScreenPolygon;
use glam::DVec3;
use rayon::prelude::*;

/// How far from another polygon's plane a polygon must reach on both sides to cross it, on the
/// screen: polygons that stand on each other do not cross.
const REACH: f64 = 1e-6;

/// A polygon with its plane and box.
struct Solid<'a> {
    polygon: &'a ScreenPolygon,
    normal: DVec3,
    d: f64,
    low: DVec3,
    high: DVec3,
}

impl Solid<'_> {
    fn distance(&self, point: DVec3) -> f64 {
        self.normal.dot(point) + self.d
    }
}

fn solid(polygon: &ScreenPolygon) -> Option<Solid<'_>> {
    let points = || polygon.vertices.iter().map(|vertex| vertex.position);
    let origin = points().next()?;
    let sum: DVec3 = points().zip(points().cycle().skip(1)).map(|(a, b)| (a - origin).cross(b - origin)).sum();
    let normal = sum.try_normalize()?;
    let low = points().fold(DVec3::INFINITY, |low, p| low.min(p));
    let high = points().fold(DVec3::NEG_INFINITY, |high, p| high.max(p));
    Some(Solid { polygon, normal, d: -normal.dot(origin), low, high })
}

/// The lines in which polygons on the screen cross that share no vertex. Polygons are compared with
/// those whose boxes overlap in x, so many large ones take time with the square of their number.
///
/// # Errors
/// When there are more than `limit`.
pub fn crossings(
    model: &Model,
    mesh: &Mesh,
    polygons: &[ScreenPolygon],
    limit: usize,
) -> Result<Vec<Line>, HiddenLineError> {
    let mut solids: Vec<Solid<'_>> = polygons.iter().filter_map(solid).collect();
    solids.sort_by(|a, b| a.low.x.total_cmp(&b.low.x));
    let vertices =
        |solid: &Solid<'_>| mesh.faces.get(solid.polygon.source as usize).map_or(&[][..], |face| face.vertices());
    let found = std::sync::atomic::AtomicUsize::new(0);
    let lines_of = |number: usize| {
        let mut lines = Vec::new();
        let Some((first, others)) = solids.get(number..).and_then(<[_]>::split_first) else { return lines };
        for second in others.iter().take_while(|other| other.low.x <= first.high.x) {
            let apart = first.low.cmpgt(second.high).any() || second.low.cmpgt(first.high).any();
            if apart || vertices(first).iter().any(|vertex| vertices(second).contains(vertex)) {
                continue;
            }
            let object = model.polygons.get(first.polygon.source as usize).map_or(0, |polygon| polygon.object);
            lines.extend(crossing(first, second).map(|ends| Line { ends, object, kind: EdgeKind::Crossing }));
            if found.load(std::sync::atomic::Ordering::Relaxed) > limit {
                break;
            }
        }
        found.fetch_add(lines.len(), std::sync::atomic::Ordering::Relaxed);
        lines
    };
    let lines: Vec<Line> = (0..solids.len()).into_par_iter().flat_map_iter(lines_of).collect();
    if lines.len() > limit { Err(HiddenLineError::Lines) } else { Ok(lines) }
}

/// The line in which two polygons cross.
fn crossing(first: &Solid<'_>, second: &Solid<'_>) -> Option<[DVec3; 2]> {
    let [mut a, mut b] = [through(first, second)?, through(second, first)?];
    // All four ends are on one line.
    let direction = first.normal.cross(second.normal);
    for ends in [&mut a, &mut b] {
        if direction.dot(ends[1] - ends[0]) < 0.0 {
            ends.reverse();
        }
    }
    let begin = if direction.dot(b[0] - a[0]) > 0.0 { b[0] } else { a[0] };
    let end = if direction.dot(b[1] - a[1]) < 0.0 { b[1] } else { a[1] };
    (direction.dot(end - begin) > 0.0).then_some([begin, end])
}

/// The part of a polygon in the plane of another, which it crosses.
fn through(polygon: &Solid<'_>, plane: &Solid<'_>) -> Option<[DVec3; 2]> {
    let points: Vec<(DVec3, f64)> =
        polygon.polygon.vertices.iter().map(|v| (v.position, plane.distance(v.position))).collect();
    let reaches = |side: f64| points.iter().any(|(_, distance)| distance * side > REACH);
    if !(reaches(1.0) && reaches(-1.0)) {
        return None;
    }
    let around = points.iter().zip(points.iter().cycle().skip(1));
    let mut ends = around
        .filter(|(from, to)| (from.1 >= 0.0) != (to.1 >= 0.0))
        .map(|(from, to)| from.0.lerp(to.0, from.1 / (from.1 - to.1)));
    Some([ends.next()?, ends.next()?])
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::super::host::Host;
    use super::super::scenes::{Quad, cube, model, square};
    use super::*;

    fn found(quads: &[(u32, Quad)]) -> Vec<Line> {
        let config = Config::parse("[drawing]\nintersections = true").expect("a configuration");
        let host = Host::new(&model(quads), &config).expect("a small scene");
        host.lines.into_iter().filter(|line| line.kind == EdgeKind::Crossing).collect()
    }

    #[test]
    fn two_squares_cross_in_a_line() {
        let across = [[0.5, -0.5, 4.5], [0.5, 0.6, 4.5], [0.5, 0.6, 5.5], [0.5, -0.5, 5.5]];
        let lines = found(&[(0, square([0.0, 0.0, 5.0])), (1, across)]);
        assert_eq!(lines.len(), 1);
        let mut ends = lines[0].ends.map(|end| [end.x * 5.0, end.y * 5.0]);
        ends.sort_by(|a, b| a[1].total_cmp(&b[1]));
        let expected = [[0.5, 0.0], [0.5, 0.6]];
        for (end, expected) in ends.iter().flatten().zip(expected.iter().flatten()) {
            assert!((end - expected).abs() < 1e-6, "{ends:?}");
        }
    }

    #[test]
    fn faces_of_a_cube_and_cubes_that_stand_on_each_other_do_not_cross() {
        let mut quads = cube(0, [0.0, 0.0, 5.0], 1.0);
        assert!(found(&quads).is_empty());
        quads.extend(cube(1, [0.2, 1.0, 5.1], 1.0));
        assert!(found(&quads).is_empty());
        // Six faces against six: the corner of one is in the other.
        quads.extend(cube(2, [0.4, -0.4, 4.6], 1.0));
        assert_eq!(found(&quads).len(), 6);
    }
}
