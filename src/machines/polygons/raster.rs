//! Which pixels a polygon covers, and what it has there: the rule by which designs with a depth
//! buffer sample polygons, so that their images are the same.
//!
//! Vertices are rounded to 1/256 of a pixel, and everything that decides coverage is exact from
//! there on: a pixel belongs to the polygon whose inside holds its middle, and of two polygons that
//! share an edge through it, to the one on the right or below. Depths and colors are interpolated
//! along the edges and then along the row, as Gouraud does ("Continuous shading of curved surfaces",
//! 1971).

use super::screen::ScreenPolygon;
use glam::{DVec2, DVec3, DVec4};
use std::ops::Range;

/// Parts of a pixel to which vertices are rounded.
const PARTS: f64 = 256.0;

/// The middle of a pixel, in parts.
const MIDDLE: i64 = PARTS as i64 / 2;

/// A polygon in pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct RasterPolygon {
    /// Vertices in order around it: positions in parts of a pixel from the upper left corner, and
    /// color and depth.
    vertices: Vec<([i64; 2], DVec4)>,
    /// Index of the polygon in the model.
    pub source: u32,
}

/// The pixels of a row that a polygon covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The row.
    pub y: u32,
    /// The first column.
    pub start: u32,
    /// The column after the last.
    pub end: u32,
    /// Where the polygon begins and ends on the row, in pixels.
    across: [f64; 2],
    /// Color and depth there.
    values: [DVec4; 2],
}

impl Span {
    /// The linear color, and the depth from 0 to 1, in the middle of a column.
    pub fn at(&self, x: u32) -> (DVec3, f64) {
        let [from, to] = self.across;
        let share = if to > from { ((f64::from(x) + 0.5 - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 };
        let value = self.values[0].lerp(self.values[1], share);
        (value.truncate(), value.w)
    }

    /// The columns.
    pub fn columns(&self) -> Range<u32> {
        self.start..self.end
    }

    /// The part within columns.
    pub fn within(&self, columns: &Range<u32>) -> Option<Self> {
        let (start, end) = (self.start.max(columns.start), self.end.min(columns.end));
        (start < end).then_some(Self { start, end, ..*self })
    }
}

impl RasterPolygon {
    /// A polygon on the screen, for an image of so many columns and rows.
    pub fn new(polygon: &ScreenPolygon, [width, height]: [u32; 2]) -> Self {
        let place = |x: f64, size: u32| (0.5 * x * f64::from(size) * PARTS).round() as i64;
        let vertices = polygon.vertices.iter().map(|vertex| {
            let at = vertex.position;
            ([place(at.x + 1.0, width), place(1.0 - at.y, height)], vertex.color.extend(at.z))
        });
        Self { vertices: vertices.collect(), source: polygon.source }
    }

    /// The number of vertices.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// True if it has no vertices.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// The vertices: position in pixels, color and depth.
    pub fn vertices(&self) -> impl Iterator<Item = (DVec2, DVec4)> + '_ {
        let place = |x: i64| x as f64 / PARTS;
        self.vertices.iter().map(move |&([x, y], value)| (DVec2::new(place(x), place(y)), value))
    }

    /// The rows whose middles it reaches, of an image of so many rows.
    pub fn rows(&self, height: u32) -> Range<u32> {
        let ys = self.vertices.iter().map(|&([_, y], _)| y);
        let bounds = ys.fold((i64::MAX, i64::MIN), |(low, high), y| (low.min(y), high.max(y)));
        let row = |y: i64| first(y, 1).clamp(0, i64::from(height)) as u32;
        if bounds.0 > bounds.1 { 0..0 } else { row(bounds.0)..row(bounds.1) }
    }

    /// The pixels that it covers, row by row, of an image of so many columns and rows.
    pub fn spans(&self, [width, height]: [u32; 2]) -> impl Iterator<Item = Span> + '_ {
        self.rows(height).filter_map(move |y| self.span(y, width))
    }

    /// The pixels of a row that it covers, of so many columns.
    pub fn span(&self, y: u32, width: u32) -> Option<Span> {
        let middle = i64::from(y) * PARTS as i64 + MIDDLE;
        let mut found: Option<([Crossing; 2], [i64; 2])> = None;
        let edges = self.vertices.iter().zip(self.vertices.iter().cycle().skip(1));
        for (from, to) in edges {
            // Downwards, so that both polygons of an edge round it alike.
            let (from, to) = if from.0[1] <= to.0[1] { (from, to) } else { (to, from) };
            if !(from.0[1] <= middle && middle < to.0[1]) {
                continue;
            }
            let crossing = Crossing::between(from, to, middle);
            found = Some(match found {
                None => ([crossing; 2], [crossing.column; 2]),
                Some(([left, right], [start, end])) => (
                    [
                        if crossing.x < left.x { crossing } else { left },
                        if crossing.x > right.x { crossing } else { right },
                    ],
                    [start.min(crossing.column), end.max(crossing.column)],
                ),
            });
        }
        let ([left, right], columns) = found?;
        let [start, end] = columns.map(|column| column.clamp(0, i64::from(width)) as u32);
        let across = [left.x, right.x];
        (start < end).then_some(Span { y, start, end, across, values: [left.value, right.value] })
    }
}

/// Where an edge crosses the middle of a row.
#[derive(Clone, Copy)]
struct Crossing {
    /// In pixels.
    x: f64,
    /// The first column whose middle is not to the left of it.
    column: i64,
    value: DVec4,
}

impl Crossing {
    /// Of an edge that goes down through the middle of a row.
    fn between(from: &([i64; 2], DVec4), to: &([i64; 2], DVec4), middle: i64) -> Self {
        let ([x0, y0], [x1, y1]) = (from.0, to.0);
        let height = y1 - y0;
        // x = numerator / height; coordinates have 25 bits, so that products have 51.
        let numerator = x0 * height + (x1 - x0) * (middle - y0);
        let share = (middle - y0) as f64 / height as f64;
        Self {
            x: numerator as f64 / height as f64 / PARTS,
            column: first(numerator, height),
            value: from.1.lerp(to.1, share),
        }
    }
}

/// The first pixel whose middle is at `numerator / denominator` parts or after it.
fn first(numerator: i64, denominator: i64) -> i64 {
    let after = numerator - MIDDLE * denominator;
    let size = PARTS as i64 * denominator;
    after.div_euclid(size) + i64::from(after.rem_euclid(size) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polygons::screen::Vertex;
    use shadewright_base::random::{hash, unit};

    fn polygon(points: &[[f64; 3]]) -> RasterPolygon {
        let vertex = |&[x, y, z]: &[f64; 3]| Vertex { position: DVec3::new(x, y, z), color: DVec3::new(x, y, z) };
        RasterPolygon::new(&ScreenPolygon { vertices: points.iter().map(vertex).collect(), source: 0 }, [20, 10])
    }

    #[test]
    fn a_square_covers_the_middles_inside_it_and_has_its_values_there() {
        let spans: Vec<Span> = polygon(&[[-0.5, -0.5, 0.25], [0.5, -0.5, 0.75], [0.5, 0.5, 0.75], [-0.5, 0.5, 0.25]])
            .spans([20, 10])
            .collect();
        // From row 2.5 to 7.5: the middle of row 2 is on its upper edge and in, that of row 7 out.
        assert_eq!(spans.iter().map(|s| s.y).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
        assert!(spans.iter().all(|s| s.columns() == (5..15)));
        let (color, depth) = spans[0].at(9);
        assert!((color.x + 0.05).abs() < 1e-9 && (depth - 0.475).abs() < 1e-9, "{color} {depth}");
    }

    /// Triangles around random points cover each pixel of the square once.
    #[test]
    fn polygons_that_share_edges_share_no_pixel_and_leave_none_out() {
        for seed in 0..200u32 {
            let mut n = seed * 64;
            let mut random = || {
                n += 1;
                f64::from(unit(hash(n))) * 2.0 - 1.0
            };
            let middle = [random() * 0.7, random() * 0.7, 0.5];
            let mut angles: Vec<f64> = (0..7).map(|_| random() * std::f64::consts::PI).collect();
            angles.sort_by(f64::total_cmp);
            let rim: Vec<[f64; 3]> = angles.iter().map(|a| [0.9 * a.cos(), 0.9 * a.sin(), 0.5]).collect();
            let mut covered = vec![0; 200];
            let around = rim.iter().zip(rim.iter().cycle().skip(1));
            let parts = around.map(|(&a, &b)| polygon(&[middle, a, b]));
            // A triangle that turns back overlaps others: it counts against them.
            let area = |p: &RasterPolygon| {
                let v: Vec<DVec2> = p.vertices().map(|(at, _)| at).collect();
                (v[1] - v[0]).perp_dot(v[2] - v[0]).signum() as i32
            };
            for part in parts {
                for span in part.spans([20, 10]) {
                    span.columns().for_each(|x| covered[(span.y * 20 + x) as usize] += area(&part));
                }
            }
            let whole = polygon(&rim);
            let mut expected = vec![0; 200];
            for span in whole.spans([20, 10]) {
                span.columns().for_each(|x| expected[(span.y * 20 + x) as usize] += -1);
            }
            assert_eq!(covered, expected, "seed {seed}");
        }
    }
}
