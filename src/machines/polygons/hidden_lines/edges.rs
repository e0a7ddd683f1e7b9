//! The edges of polygons, and which of them are drawn.
//!
//! Nothing here depends on the order of a polygon's corners, so a mesh whose polygons turn either way
//! has the same edges.

use super::config::{Edges, Style};
use super::weld::Mesh;
use crate::polygons::model::Model;
use glam::DVec3;

/// Why a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    /// An edge of one polygon only.
    Boundary,
    /// An edge between a polygon that the eye sees from one side, and one that it sees from the other.
    Silhouette,
    /// An edge at which polygons bend by more than the angle of a crease, or where three or more meet.
    Crease,
    /// Any other edge between polygons that are not in one plane.
    Facet,
    /// A line in which two polygons cross.
    Crossing,
}

impl EdgeKind {
    /// All of them.
    pub const ALL: [EdgeKind; 5] =
        [EdgeKind::Boundary, EdgeKind::Silhouette, EdgeKind::Crease, EdgeKind::Facet, EdgeKind::Crossing];
}

/// A line of the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The ends in world space.
    pub ends: [DVec3; 2],
    /// The object that it belongs to.
    pub object: u32,
    /// Why it is drawn.
    pub kind: EdgeKind,
}

/// Faces at an edge that leave it in the same direction, as the cosine of the angle between them:
/// copies of one polygon.
const SAME: f64 = 1.0 - 1e-9;

/// The sine of the angle below which a polygon is seen edge-on.
const EDGE_ON: f64 = 1e-9;

/// The edges that are drawn, in the order of the vertices.
pub fn edges(model: &Model, mesh: &Mesh, style: &Style) -> Vec<Edge> {
    let mut sides: Vec<([u32; 2], u32)> = Vec::new();
    for (number, face) in (0..).zip(&mesh.faces) {
        sides.extend(face.edges().map(|[a, b]| ([a.min(b), a.max(b)], number)));
    }
    sides.sort_unstable();
    let classify = |sides: &[([u32; 2], u32)]| {
        let ([a, b], first) = *sides.first()?;
        let ends = [mesh.vertex(a), mesh.vertex(b)];
        let object = model.polygons.get(first as usize)?.object;
        let faces = sides.iter().filter_map(|&(_, face)| mesh.faces.get(face as usize));
        let directions = directions(ends, faces.map(|face| mesh.center(face)));
        let kind = kind(ends, &directions, model.view.eye.as_dvec3(), style)?;
        Some(Edge { ends, object, kind })
    };
    sides.chunk_by(|a, b| a.0 == b.0).filter_map(classify).collect()
}

/// The directions in which the faces with these centers leave an edge, perpendicular to it, copies of
/// a face left out.
fn directions([from, to]: [DVec3; 2], centers: impl Iterator<Item = DVec3>) -> Vec<DVec3> {
    let along = (to - from).normalize_or_zero();
    let mut directions: Vec<DVec3> = Vec::new();
    for center in centers {
        let direction = (center - from).reject_from_normalized(along).normalize_or_zero();
        if direction != DVec3::ZERO && directions.iter().all(|d| d.dot(direction) < SAME) {
            directions.push(direction);
        }
    }
    directions
}

/// Why an edge is drawn that these faces leave, if it is.
fn kind([from, to]: [DVec3; 2], faces: &[DVec3], eye: DVec3, style: &Style) -> Option<EdgeKind> {
    let &[first, second] = faces else {
        return Some(if faces.len() < 2 { EdgeKind::Boundary } else { EdgeKind::Crease });
    };
    // Continuing each other, they leave in opposite directions.
    let bend = (-first.dot(second)).clamp(-1.0, 1.0).acos().to_degrees();
    if bend < style.flat {
        return None;
    }
    if bend > style.crease {
        return Some(EdgeKind::Crease);
    }
    // The plane through the eye and the edge has both faces on one side.
    let plane = (to - from).cross(eye - from).normalize_or_zero();
    let sides = [plane.dot(first), plane.dot(second)];
    let edge_on = sides.iter().any(|side| side.abs() < EDGE_ON);
    if edge_on || sides[0] * sides[1] > 0.0 {
        return Some(EdgeKind::Silhouette);
    }
    (style.edges == Edges::All).then_some(EdgeKind::Facet)
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::super::scenes::{cube, model, roof};
    use super::super::weld::weld;
    use super::*;

    fn kinds(model: &Model, text: &str) -> Vec<EdgeKind> {
        let config = Config::parse(text).expect("a configuration");
        let mut kinds: Vec<EdgeKind> =
            edges(model, &weld(model, 1e-6), &config.drawing).iter().map(|edge| edge.kind).collect();
        kinds.sort_unstable();
        kinds
    }

    #[test]
    fn a_cube_has_twelve_creases() {
        let model = model(&cube(0, [0.0, 0.0, 5.0], 1.0));
        assert_eq!(kinds(&model, ""), [EdgeKind::Crease; 12]);
    }

    #[test]
    fn two_polygons_in_one_plane_have_no_edge_between_them() {
        assert_eq!(kinds(&model(&roof(0.0)), "[drawing]\nedges = \"all\""), [EdgeKind::Boundary; 6]);
    }

    #[test]
    fn a_small_bend_is_a_facet_and_a_large_one_a_crease() {
        let all = "[drawing]\nedges = \"all\"";
        assert_eq!(kinds(&model(&roof(0.1)), all)[6..], [EdgeKind::Facet]);
        assert_eq!(kinds(&model(&roof(0.1)), ""), [EdgeKind::Boundary; 6]);
        assert_eq!(kinds(&model(&roof(0.5)), "")[6..], [EdgeKind::Crease]);
        assert_eq!(kinds(&model(&roof(0.5)), "[drawing]\ncrease = 80").len(), 6);
    }

    #[test]
    fn a_bend_that_the_eye_sees_from_both_sides_is_a_silhouette() {
        // The ridge, turned so that one slope faces away.
        let mut turned = roof(0.1);
        for (_, corners) in &mut turned {
            for corner in corners {
                *corner = [corner[0] + 2.0, 5.0 - corner[2], corner[1] + 5.0];
            }
        }
        assert_eq!(kinds(&model(&turned), "")[6..], [EdgeKind::Silhouette]);
    }

    #[test]
    fn a_polygon_that_is_there_twice_has_the_edges_of_one() {
        let mut twice = roof(0.1);
        twice.extend(roof(0.1));
        assert_eq!(kinds(&model(&twice), ""), [EdgeKind::Boundary; 6]);
    }
}
