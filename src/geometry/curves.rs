//! Curves with a width (RISpec 3.2, §5.6): ribbons where normals say which way they face, else
//! round tubes, which stand for ribbons that face whoever looks at them
//! ([`Mesh::ribbons`](super::Mesh::ribbons)).
//!
//! `v` runs along a curve and `u` around its tube, or across its ribbon. A ring of points stands at
//! each place that a curve is diced at; what varies along a curve is the same all around it. Tubes
//! are open at their ends.

use super::basis::{Direction, Term};
use super::dice::{Metric, SAMPLES};
use super::tensor::Diced;
use glam::{DVec3, Vec2, Vec3};

/// Fewest and most sides of a tube.
const SIDES: (f64, f64) = (4.0, 32.0);

/// A curve's course over its control points.
#[derive(Clone, Copy, Debug)]
pub struct Curve<'a> {
    /// The direction that gives the control points their meaning.
    pub course: &'a Direction,
    /// The first of its control points among those of all curves.
    pub first: usize,
    /// The first of its values of class varying among those of all curves.
    pub first_varying: usize,
}

/// A position on a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    /// The curve.
    pub curve: u32,
    /// The span of its course.
    pub span: u32,
    /// Where in it, from 0 to 1.
    pub at: f64,
}

/// Where rings of points stand around curves.
#[derive(Clone, Debug, Default)]
pub struct Rings {
    /// The rings, curve after curve, each from its start to its end.
    pub rings: Vec<Ring>,
    /// For each curve, the end of its rings.
    ends: Vec<usize>,
}

/// Curves as triangles.
#[derive(Clone, Debug, Default)]
pub struct Tubes {
    /// Points, normals, `u, v` and triangles; `patches` holds the curve of each triangle, and there
    /// are no sites.
    pub shape: Diced,
    /// The ring that each point belongs to.
    pub ring_of: Vec<u32>,
}

impl Rings {
    /// Cuts curves over control points finely enough; `None` where there would be more than `limit`
    /// rings.
    pub fn cut(curves: &[Curve<'_>], points: &[Vec3], metric: &Metric, limit: usize) -> Option<Self> {
        let mut out = Self::default();
        for (number, curve) in curves.iter().enumerate() {
            for span in 0..curve.course.spans().len() {
                let at = |i: usize| curve.place(points, span, i as f64 / (SAMPLES - 1) as f64)[0];
                let rate = metric.rate(&std::array::from_fn(at));
                let ring =
                    |k: u32| Ring { curve: number as u32, span: span as u32, at: f64::from(k) / f64::from(rate) };
                let last = span + 1 == curve.course.spans().len();
                out.rings.extend((0..rate + u32::from(last)).map(ring));
                if out.rings.len() > limit {
                    return None;
                }
            }
            out.ends.push(out.rings.len());
        }
        Some(out)
    }

    /// Values of class vertex, `width` numbers each, at the rings.
    pub fn blend_vertex(&self, curves: &[Curve<'_>], values: &[f32], width: usize) -> Vec<f32> {
        let mut out = Vec::with_capacity(self.rings.len() * width);
        let mut terms = Vec::new();
        for ring in &self.rings {
            let curve = &curves[ring.curve as usize];
            curve.course.terms(ring.span as usize, ring.at, &mut terms);
            out.extend((0..width).map(|k| {
                let at = |t: &Term| t.weight * f64::from(values[(curve.first + t.index as usize) * width + k]);
                terms.iter().map(at).sum::<f64>() as f32
            }));
        }
        out
    }

    /// Values of class varying at the rings.
    pub fn blend_varying(&self, curves: &[Curve<'_>], values: &[f32], width: usize) -> Vec<f32> {
        let mut out = Vec::with_capacity(self.rings.len() * width);
        for ring in &self.rings {
            let curve = &curves[ring.curve as usize];
            let ends = curve.course.segment_ends();
            let [low, high] = [0, 1].map(|k| (curve.first_varying + (ring.span as usize + k) % ends) * width);
            let t = ring.at as f32;
            out.extend((0..width).map(|k| values[low + k] * (1.0 - t) + values[high + k] * t));
        }
        out
    }

    /// Points around the rings, whose widths are given; with normals (of any length) at them
    /// ribbons, else tubes. `None` where there would be more triangles than `limit`.
    pub fn surround(
        &self,
        curves: &[Curve<'_>],
        points: &[Vec3],
        widths: &[f32],
        normals: Option<&[Vec3]>,
        metric: &Metric,
        limit: usize,
    ) -> Option<Tubes> {
        let mut out = Tubes::default();
        let mut start = 0;
        for (number, &end) in self.ends.iter().enumerate() {
            let rings = start..end;
            start = end;
            let curve = &curves[number];
            let places: Vec<[DVec3; 2]> =
                self.rings[rings.clone()].iter().map(|r| curve.place(points, r.span as usize, r.at)).collect();
            let frames = match normals {
                Some(normals) => facing(&places, &normals[rings.clone()]),
                None => carried(&places, curve.course.is_periodic()),
            };
            let widths = &widths[rings.clone()];
            let sides = if normals.is_some() { 1 } else { sides(&places, widths, metric) };
            if out.shape.triangles.len() + 2 * sides as usize * rings.len() > limit {
                return None;
            }
            let first = out.shape.points.len() as u32;
            for (k, ([center, _], frame)) in places.iter().zip(&frames).enumerate() {
                let ring = &self.rings[rings.start + k];
                let v = curve.course.parameter(ring.span as usize, ring.at) as f32;
                let half = f64::from(widths[k]) / 2.0;
                for side in 0..=sides {
                    let u = f64::from(side) / f64::from(sides);
                    let (offset, normal) = if normals.is_some() {
                        (frame.across * (2.0 * u - 1.0), frame.out)
                    } else {
                        // The seam is closed to the bit.
                        let (sin, cos) = (f64::from(side % sides) / f64::from(sides) * std::f64::consts::TAU).sin_cos();
                        let out = frame.out * cos + frame.across * sin;
                        (out, out)
                    };
                    out.shape.points.push((*center + offset * half).as_vec3());
                    out.shape.normals.push(normal.as_vec3());
                    out.shape.uv.push(Vec2::new(u as f32, v));
                    out.ring_of.push((rings.start + k) as u32);
                }
            }
            let row = sides + 1;
            for k in 0..rings.len().saturating_sub(1) as u32 {
                for side in 0..sides {
                    let a = first + k * row + side;
                    out.shape.triangles.extend([[a, a + 1, a + row + 1], [a, a + row + 1, a + row]]);
                }
            }
            out.shape.patches.resize(out.shape.triangles.len(), number as u32);
        }
        out.shape.drop_lines();
        Some(out)
    }
}

impl Curve<'_> {
    /// The point at a position, and its derivative along the span.
    fn place(&self, points: &[Vec3], span: usize, at: f64) -> [DVec3; 2] {
        let mut terms = Vec::new();
        // A closed curve ends where it starts, to the bit.
        let closes = self.course.is_periodic() && at == 1.0 && span + 1 == self.course.spans().len();
        let (span, at) = if closes { (0, 0.0) } else { (span, at) };
        self.course.terms(span, at, &mut terms);
        let sum = |weight: fn(&Term) -> f64| {
            terms.iter().map(|t| points[self.first + t.index as usize].as_dvec3() * weight(t)).sum()
        };
        [sum(|t| t.weight), sum(|t| t.slope)]
    }
}

/// How a ring stands: two unit vectors across the curve, with `out × across` along it.
#[derive(Clone, Copy)]
struct Frame {
    out: DVec3,
    across: DVec3,
}

/// The direction of the curve at each of its places; where it rests, that towards the next place.
fn directions(places: &[[DVec3; 2]]) -> Vec<DVec3> {
    let chord = |i: usize| {
        let (a, b) = (i.min(places.len().saturating_sub(2)), (i + 1).min(places.len() - 1));
        places[b][0] - places[a][0]
    };
    (0..places.len())
        .map(|i| places[i][1].try_normalize().or_else(|| chord(i).try_normalize()).unwrap_or(DVec3::Z))
        .collect()
}

/// Frames that turn as little as they can from each to the next, and around a closed curve come
/// back to the first.
fn carried(places: &[[DVec3; 2]], closed: bool) -> Vec<Frame> {
    let directions = directions(places);
    let mut frames: Vec<Frame> = Vec::with_capacity(places.len());
    for along in &directions {
        let flat = frames.last().map(|f| f.out - *along * f.out.dot(*along));
        let out = flat.and_then(|f| f.try_normalize()).unwrap_or_else(|| along.any_orthonormal_vector());
        frames.push(Frame { out, across: along.cross(out) });
    }
    if let (true, [first, .., last]) = (closed, frames.as_slice()) {
        let missing = first.out.dot(last.across).atan2(first.out.dot(last.out));
        let count = frames.len() as f64 - 1.0;
        for (i, frame) in frames.iter_mut().enumerate() {
            let (sin, cos) = (missing * i as f64 / count).sin_cos();
            let Frame { out, across } = *frame;
            *frame = Frame { out: out * cos + across * sin, across: across * cos - out * sin };
        }
        let end = frames.len() - 1;
        frames[end] = frames[0];
    }
    frames
}

/// Frames that look along given normals, as far as the curve lets them.
fn facing(places: &[[DVec3; 2]], normals: &[Vec3]) -> Vec<Frame> {
    let frame = |(along, normal): (DVec3, &Vec3)| {
        let normal = normal.as_dvec3();
        let out =
            (normal - along * normal.dot(along)).try_normalize().unwrap_or_else(|| along.any_orthonormal_vector());
        Frame { out, across: along.cross(out) }
    };
    directions(places).into_iter().zip(normals).map(frame).collect()
}

/// Sides of a curve's tube, by the largest of its rings on the image.
fn sides(places: &[[DVec3; 2]], widths: &[f32], metric: &Metric) -> u32 {
    let radius = |(place, width): (&[DVec3; 2], &f32)| {
        let radius = 0.5 * f64::from(width.abs());
        metric.pixels(place[0], radius, places.first().map_or(radius, |p| p[0].distance(place[0])).max(radius))
    };
    let pixels = places.iter().zip(widths).map(radius).fold(0.0, f64::max);
    // The sagitta of a chord over 2a is r (1 - cos a).
    let ratio = (1.0 - metric.flatness() / pixels.max(1e-6)).clamp(-1.0, 1.0);
    let sides = (std::f64::consts::PI / ratio.acos().max(1e-6)).ceil().clamp(SIDES.0, SIDES.1) as u32;
    metric.halve(sides).max(3)
}

#[cfg(test)]
mod tests {
    use super::super::basis::{B_SPLINE, BEZIER};
    use super::super::mesh::Mesh;
    use super::*;
    use std::f64::consts::PI;

    fn metric() -> Metric {
        Metric::for_camera(glam::DMat4::from_translation(DVec3::Z * 4.0), 2000.0, true, 0.05)
    }

    fn tubes(course: &Direction, points: &[Vec3], width: f32, normal: Option<Vec3>) -> (Rings, Mesh) {
        let curves = [Curve { course, first: 0, first_varying: 0 }];
        let rings = Rings::cut(&curves, points, &metric(), 10_000).unwrap();
        let widths = vec![width; rings.rings.len()];
        let normals = normal.map(|n| vec![n; rings.rings.len()]);
        let tubes = rings.surround(&curves, points, &widths, normals.as_deref(), &metric(), 1 << 20).unwrap();
        let Diced { points: positions, normals, uv, triangles, .. } = tubes.shape;
        (rings, Mesh { positions, normals, uv, triangles, ..Mesh::default() })
    }

    #[test]
    fn a_straight_tube_is_a_cylinder_seen_from_outside() {
        let points = [Vec3::ZERO, Vec3::new(0.0, 0.0, 2.0)];
        let (rings, mesh) = tubes(&Direction::linear(2, false).unwrap(), &points, 0.5, None);
        assert_eq!(rings.rings.len(), 2);
        assert!((mesh.area() - PI).abs() < 0.03, "{}", mesh.area());
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            for &i in triangle {
                let (p, n) = (mesh.positions[i as usize], mesh.normals[i as usize]);
                assert!((p.truncate().length() - 0.25).abs() < 1e-6 && n.dot(p * Vec3::new(4.0, 4.0, 0.0)) > 0.999);
                assert!(n.dot(mesh.scaled_normal(t).normalize()) > 0.9);
            }
        }
    }

    #[test]
    fn a_closed_tube_meets_itself() {
        let points: Vec<Vec3> = (0..7)
            .map(|i| {
                let (sin, cos) = (i as f32 * 2.0 * PI as f32 / 7.0).sin_cos();
                Vec3::new(cos, sin, 0.4 * (i % 3) as f32)
            })
            .collect();
        let (_, mesh) = tubes(&Direction::cubic(B_SPLINE, 1, 7, true).unwrap(), &points, 0.1, None);
        let mut edges = std::collections::HashMap::new();
        for t in 0..mesh.triangles.len() {
            let c = mesh.corners(t).map(|p| (p * 1e4).round().as_ivec3());
            for k in 0..3 {
                *edges.entry((c[k], c[(k + 1) % 3])).or_insert(0) += 1;
                *edges.entry((c[(k + 1) % 3], c[k])).or_insert(0) -= 1;
            }
        }
        assert!(edges.values().all(|&n| n == 0));
    }

    #[test]
    fn a_ribbon_faces_its_normal_and_is_as_wide_as_said() {
        let points = [Vec3::ZERO, Vec3::X, Vec3::new(2.0, 1.0, 0.0), Vec3::new(2.0, 2.0, 0.0)];
        let (rings, mesh) = tubes(&Direction::cubic(BEZIER, 3, 4, false).unwrap(), &points, 0.25, Some(Vec3::Z));
        assert!(rings.rings.len() > 4);
        assert!(mesh.normals.iter().all(|n| n.distance(Vec3::Z) < 1e-6));
        assert!((0..mesh.triangles.len()).all(|t| mesh.scaled_normal(t).z > 0.0));
        assert!(mesh.positions.chunks(2).all(|p| (p[0].distance(p[1]) - 0.25).abs() < 1e-6));
        // The curve starts along x, so u goes towards -y: dPdu × dPdv is the normal.
        assert!((mesh.positions[1] - mesh.positions[0]).normalize().distance(-Vec3::Y) < 1e-6);
    }

    #[test]
    fn values_run_along_the_curve() {
        let course = Direction::linear(3, false).unwrap();
        let curves = [
            Curve { course: &course, first: 0, first_varying: 0 },
            Curve { course: &course, first: 3, first_varying: 3 },
        ];
        let points: Vec<Vec3> = (0..6).map(|i| Vec3::new((i % 3) as f32, (i / 3) as f32, 0.0)).collect();
        let rings = Rings::cut(&curves, &points, &metric(), 100).unwrap();
        let values = [0.0, 1.0, 4.0, 10.0, 11.0, 14.0];
        assert_eq!(rings.blend_vertex(&curves, &values, 1), values);
        assert_eq!(rings.blend_varying(&curves, &values, 1), values);
        assert!(Rings::cut(&curves, &points, &metric(), 3).is_none());
    }

    #[test]
    fn a_curve_that_rests_in_a_point_makes_nothing() {
        let (_, mesh) = tubes(&Direction::linear(2, false).unwrap(), &[Vec3::ONE; 2], 0.0, None);
        assert!(mesh.triangles.is_empty());
    }
}
