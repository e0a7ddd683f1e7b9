//! The simpler pipelines of §3.4, a processor for each polygon. Past them flow edges (figure 3-27), of
//! which each sends on the parts that its polygon does not hide, or polygons (figure 3-26), of which it
//! sends on the convex pieces that its own does not hide. The image is the same as the main pipeline's.

use super::host::Host;
use super::planes::{Occluder, Plane};
use super::tiles::{Search, Tiles};
use super::visibility::{hidden_by, merge, visible};
use glam::{DVec2, DVec3, Vec3Swizzles};

/// Messages of a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pipe {
    /// Processors.
    pub processors: usize,
    /// Edges or polygons that were sent.
    pub sent: usize,
    /// Messages that all processors together received: parts of edges, or pieces of polygons.
    pub received: u64,
    /// Messages that arrived at the end.
    pub arrived: u64,
}

/// Follows some lines past the polygons, in the order in which the hardware holds them.
pub fn edge_pipe(host: &Host, lines: &[u32]) -> Pipe {
    let planes = &host.planes;
    let format = host.space.format;
    let tiles = Tiles::new(planes, format.one());
    let mut search = Search::new(planes.occluders.len());
    let mut pipe = Pipe { processors: planes.occluders.len(), sent: lines.len(), ..Pipe::default() };
    for segment in lines.iter().filter_map(|&id| host.segments.get(id as usize)) {
        let mut near = Vec::new();
        tiles.near(segment, planes, &mut search, |number| {
            near.push(number);
            true
        });
        near.sort_unstable();
        let mut hidden = Vec::new();
        // The parts between one polygon that hides some of them and the next.
        let (mut count, mut passed) = (1u64, 0u64);
        for number in near {
            let Some(polygon) = planes.occluders.get(number as usize) else { continue };
            let Some(part) = hidden_by(planes.get(polygon), segment, format) else { continue };
            pipe.received += count * (u64::from(number) + 1 - passed);
            passed = u64::from(number) + 1;
            hidden.push(part);
            merge(&mut hidden);
            count = visible(&hidden).count() as u64;
        }
        pipe.received += count * (planes.occluders.len() as u64 - passed);
        pipe.arrived += count;
    }
    pipe
}

/// A convex piece of a polygon.
type Piece = Vec<DVec3>;

/// Pieces of one polygon that are followed at most.
const MOST_PIECES: usize = 1000;

/// Follows some polygons, evenly chosen, past all; `work` limits how many with how many.
pub fn polygon_pipe(host: &Host, work: u32) -> Pipe {
    let planes = &host.planes;
    let count = planes.occluders.len();
    let sent = (work as usize / 16 / count.max(1)).clamp(1, host.polygons.len().max(1)).min(host.polygons.len());
    let mut pipe = Pipe { processors: count, sent, ..Pipe::default() };
    let step = host.polygons.len() as f64 / sent.max(1) as f64;
    let chosen = (0..sent).filter_map(|k| host.polygons.get((k as f64 * step) as usize));
    for polygon in chosen {
        let place = |vertex: &crate::polygons::screen::Vertex| host.space.place(vertex.position);
        let mut pieces: Vec<Piece> = vec![polygon.vertices.iter().map(place).collect()];
        for occluder in &planes.occluders {
            pipe.received += pieces.len() as u64;
            if occluder.source != polygon.source && pieces.len() <= MOST_PIECES {
                pieces = pieces.into_iter().flat_map(|piece| left_by(piece, occluder, planes.get(occluder))).collect();
            }
        }
        pipe.arrived += pieces.len() as u64;
    }
    pipe
}

/// The pieces of a piece that a polygon does not hide.
fn left_by(piece: Piece, occluder: &Occluder, planes: &[Plane]) -> Vec<Piece> {
    let low = piece.iter().fold(DVec2::INFINITY, |low, p| low.min(p.xy()));
    let high = piece.iter().fold(DVec2::NEG_INFINITY, |high, p| high.max(p.xy()));
    let deepest = piece.iter().map(|p| p.z).fold(f64::NEG_INFINITY, f64::max);
    let apart = occluder.low.cmpgt(high).any() || occluder.high.cmplt(low).any();
    if apart || occluder.nearest > deepest {
        return vec![piece];
    }
    let (mut left, mut rest) = (Vec::new(), piece.clone());
    for plane in planes {
        let [visible, behind] = split(&rest, plane);
        if behind.len() < 3 {
            return vec![piece];
        }
        if visible.len() >= 3 {
            left.push(visible);
        }
        rest = behind;
    }
    left
}

/// How far from a plane a corner is in it, as a part of the largest coordinate.
const IN_PLANE: f64 = 1e-8;

/// The parts of a convex piece on the visible side of a plane, and behind it.
fn split(piece: &Piece, plane: &Plane) -> [Piece; 2] {
    let tolerance = IN_PLANE * plane.normal.abs().element_sum();
    let distances: Vec<f64> = piece.iter().map(|&p| plane.normal.dot(p) + plane.d).collect();
    let part = |sign: f64| -> Piece {
        if distances.iter().all(|d| d * sign <= tolerance) {
            return Piece::new();
        }
        let corners = || piece.iter().zip(&distances);
        let mut kept = Piece::new();
        for ((&from, &start), (&to, &end)) in corners().zip(corners().cycle().skip(1)) {
            if start * sign >= 0.0 {
                kept.push(from);
            }
            if (start * sign > 0.0 && end * sign < 0.0) || (start * sign < 0.0 && end * sign > 0.0) {
                kept.push(from.lerp(to, start / (start - end)));
            }
        }
        kept
    };
    [part(1.0), part(-1.0)]
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::super::scenes::{Quad, Random, loose, model, square};
    use super::*;

    fn host(quads: &[(u32, Quad)]) -> Host {
        Host::new(&model(quads), &Config::default()).expect("a small scene")
    }

    /// A narrow rectangle before the middle of a wide one.
    fn cross() -> [(u32, Quad); 2] {
        let behind = [[-4.0, -1.0, 10.0], [4.0, -1.0, 10.0], [4.0, 1.0, 10.0], [-4.0, 1.0, 10.0]];
        let front = [[-0.2, -2.0, 5.0], [0.2, -2.0, 5.0], [0.2, 2.0, 5.0], [-0.2, 2.0, 5.0]];
        [(0, front), (1, behind)]
    }

    #[test]
    fn a_polygon_that_hides_the_middle_of_an_edge_makes_two_of_it() {
        let pipe = edge_pipe(&host(&cross()), &[0, 1, 2, 3, 4, 5, 6, 7]);
        // Eight edges to the first processor, two of them in two parts to the second and to the end.
        assert_eq!(pipe, Pipe { processors: 2, sent: 8, received: 18, arrived: 10 });
        assert_eq!(edge_pipe(&host(&[(0, square([0.0, 0.0, 5.0]))]), &[0, 1, 2, 3]).arrived, 4);
    }

    #[test]
    fn a_polygon_that_hides_the_middle_of_another_makes_two_of_it() {
        let pipe = polygon_pipe(&host(&cross()), 1 << 20);
        assert_eq!(pipe, Pipe { processors: 2, sent: 2, received: 2 + 3, arrived: 3 });
    }

    #[test]
    fn pieces_cover_what_is_visible_of_a_polygon() {
        let host = host(&loose(30, 10.0, 5));
        let mut random = Random(1);
        for polygon in &host.polygons {
            let whole: Piece = polygon.vertices.iter().map(|v| host.space.place(v.position)).collect();
            let others = || host.planes.occluders.iter().filter(|o| o.source != polygon.source);
            let pieces = others().fold(vec![whole.clone()], |pieces, occluder| {
                pieces.into_iter().flat_map(|piece| left_by(piece, occluder, host.planes.get(occluder))).collect()
            });
            for _ in 0..200 {
                // A point of a triangle of the polygon.
                let k = 1 + (random.unit() * (whole.len() - 2) as f32) as usize;
                let [mut a, mut b] = [(); 2].map(|()| f64::from(random.unit()));
                if a + b > 1.0 {
                    (a, b) = (1.0 - a, 1.0 - b);
                }
                let point = whole[0] + a * (whole[k] - whole[0]) + b * (whole[k + 1] - whole[0]);
                let is_behind = |plane: &Plane| plane.normal.dot(point) + plane.d < 0.0;
                let is_hidden = others().any(|occluder| host.planes.get(occluder).iter().all(is_behind));
                let covers = |piece: &Piece| {
                    let around = piece.iter().zip(piece.iter().cycle().skip(1));
                    let sides: Vec<f64> = around.map(|(p, q)| (q - p).xy().perp_dot((point - p).xy())).collect();
                    sides.iter().all(|&side| side >= -1e-9) || sides.iter().all(|&side| side <= 1e-9)
                };
                assert_eq!(pieces.iter().any(covers), !is_hidden, "{point}");
            }
        }
    }
}
