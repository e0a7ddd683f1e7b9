//! The data that the host sends to the hardware: the lines to draw and the planes around what
//! polygons hide, both clipped to the visible volume, in the coordinates of the hardware.

use super::config::Config;
use super::crossings::crossings;
use super::edges::{Edge, EdgeKind, edges};
use super::planes::{Planes, Segment};
use super::space::Space;
use super::weld::{Mesh, weld};
use crate::polygons::model::{Model, Polygon};
use crate::polygons::screen::{ScreenPolygon, screen_line, screen_polygons};
use glam::{DVec3, Vec3, Vec3Swizzles};
use thiserror::Error;

/// The most polygons of a scene: 2²².
pub const MOST_POLYGONS: usize = 1 << 22;

/// The most lines: 2²⁴.
pub const MOST_LINES: usize = 1 << 24;

/// Why the hardware does not run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HiddenLineError {
    /// There are more polygons than [`MOST_POLYGONS`].
    #[error("the scene has {0} polygons; hidden-line drawings are limited to {MOST_POLYGONS}")]
    Polygons(usize),
    /// There are more lines than [`MOST_LINES`].
    #[error("the drawing has more than {MOST_LINES} lines; `edges = \"features\"` draws fewer")]
    Lines,
    /// The drawing is no image.
    #[error(transparent)]
    Size(#[from] shadewright_image::SizeError),
}

/// A line on the screen, clipped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The ends: x and y from −1 to 1, depth from 0 to 1.
    pub ends: [DVec3; 2],
    /// The object that it belongs to.
    pub object: u32,
    /// Why it is drawn.
    pub kind: EdgeKind,
}

/// A scene as the host sends it.
#[derive(Clone, Debug)]
pub struct Host {
    /// The hardware's coordinates.
    pub space: Space,
    /// The polygons within the visible volume, on the screen.
    pub polygons: Vec<ScreenPolygon>,
    /// The planes.
    pub planes: Planes,
    /// The lines.
    pub lines: Vec<Line>,
    /// The lines in the hardware's coordinates.
    pub segments: Vec<Segment>,
    /// Edges outside the visible volume, and those that the eye sees as a point.
    pub unseen: usize,
}

impl Host {
    /// Prepares a scene.
    ///
    /// # Errors
    /// When there are too many polygons or lines.
    pub fn new(model: &Model, config: &Config) -> Result<Self, HiddenLineError> {
        if model.polygons.len() > MOST_POLYGONS {
            return Err(HiddenLineError::Polygons(model.polygons.len()));
        }
        let mesh = weld(model, config.numbers.weld);
        let polygons = clipped(model, &mesh);
        let edges = edges(model, &mesh, &config.drawing);
        let all = edges.len();
        let line = |edge: &Edge| -> Option<Line> {
            let ends = screen_line(&model.view, edge.ends)?;
            Some(Line { ends, object: edge.object, kind: edge.kind })
        };
        let mut lines: Vec<Line> = edges.iter().filter_map(line).collect();
        if config.drawing.intersections {
            lines.extend(crossings(model, &mesh, &polygons, MOST_LINES)?);
        }
        if lines.len() > MOST_LINES {
            return Err(HiddenLineError::Lines);
        }
        let space = Space::new(&model.view, depths(&polygons), &config.numbers);
        let planes = Planes::new(&polygons, &space);
        let place = |line: &Line| {
            let [from, to] = line.ends.map(|end| space.place(end));
            Segment { from, to }
        };
        let is_point = |line: &Line| {
            let Segment { from, to } = place(line);
            (from - to).xy().abs().max_element() <= 1e-12 * space.format.one()
        };
        lines.retain(|line| !is_point(line));
        let segments = lines.iter().map(place).collect();
        let drawn = lines.iter().filter(|line| line.kind != EdgeKind::Crossing).count();
        Ok(Self { space, polygons, planes, lines, segments, unseen: all - drawn })
    }
}

/// The polygons within the visible volume, with the vertices that they share.
fn clipped(model: &Model, mesh: &Mesh) -> Vec<ScreenPolygon> {
    let joined = |(polygon, face): (&Polygon, &super::weld::Face)| {
        let mut polygon = Polygon { count: face.vertices().len(), ..*polygon };
        for (corner, &vertex) in polygon.corners.iter_mut().zip(face.vertices()) {
            *corner = mesh.vertex(vertex).as_vec3();
        }
        polygon
    };
    let polygons = model.polygons.iter().zip(&mesh.faces).map(joined).collect();
    let model = Model { polygons, lights: Vec::new(), left_out: Vec::new(), ..*model };
    screen_polygons(&model, |_, _| Vec3::ZERO)
}

/// The least and the greatest depth of polygons.
fn depths(polygons: &[ScreenPolygon]) -> [f64; 2] {
    let all = polygons.iter().flat_map(|polygon| &polygon.vertices).map(|vertex| vertex.position.z);
    let [low, high] = all.fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], z| [l.min(z), h.max(z)]);
    if low < high { [low, high] } else { [0.0, 1.0] }
}

#[cfg(test)]
mod tests {
    use super::super::scenes::{cube, model, square};
    use super::*;

    #[test]
    fn a_cube_has_thirty_planes_and_twelve_lines() {
        let host = Host::new(&model(&cube(0, [0.9, 0.8, 5.0], 1.0)), &Config::default()).expect("a small scene");
        assert_eq!((host.planes.planes.len(), host.segments.len()), (30, 12));
    }

    #[test]
    fn what_is_outside_the_volume_is_left_out() {
        let host = Host::new(&model(&[(0, square([0.0, 0.0, -3.0]))]), &Config::default()).expect("a small scene");
        assert_eq!((host.polygons.len(), host.planes.planes.len(), host.segments.len(), host.unseen), (0, 0, 0, 4));
    }

    #[test]
    fn a_polygon_seen_edge_on_hides_nothing() {
        let edge_on = [[0.0, -1.0, 4.0], [0.0, 1.0, 4.0], [0.0, 1.0, 6.0], [0.0, -1.0, 6.0]];
        let host = Host::new(&model(&[(0, edge_on)]), &Config::default()).expect("a small scene");
        assert_eq!((host.polygons.len(), host.planes.planes.len(), host.segments.len()), (1, 0, 4));
    }
}
