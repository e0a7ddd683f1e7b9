//! Trimmed surfaces: what closed curves in their parameters leave of them (RISpec 3.2, §4.2 and
//! §5.3).

use super::basis::Direction;
use super::dice::{Metric, SAMPLES};
use super::region;
use super::tensor::{Diced, Site, Surface};
use glam::{DVec2, DVec3};

/// A NURBS curve in the parameters of a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct TrimCurve {
    /// The curve's course over its control points.
    pub course: Direction,
    /// Homogeneous control points `(w·u, w·v, w)`.
    pub points: Vec<DVec3>,
}

/// Loops of curves, each closed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trim {
    /// The loops.
    pub loops: Vec<Vec<TrimCurve>>,
    /// True if what the loops go around an odd number of times is removed, and not the rest.
    pub outside: bool,
}

impl TrimCurve {
    /// The parameters at a parameter in a span.
    fn place(&self, span: usize, at: f64) -> DVec2 {
        let mut terms = Vec::new();
        self.course.terms(span, at, &mut terms);
        let sum: DVec3 = terms.iter().map(|t| self.points[t.index as usize] * t.weight).sum();
        sum.truncate() / sum.z
    }
}

impl Trim {
    /// The loops as lines in the unit square, diced finely enough for the surface above them.
    fn lines(&self, surface: &Surface, metric: &Metric) -> Vec<Vec<DVec2>> {
        let ranges = [surface.u.range(), surface.v.range()];
        let unit = |p: DVec2| {
            let [u, v] =
                [(p.x, ranges[0]), (p.y, ranges[1])].map(|(x, (from, to))| ((x - from) / (to - from)).clamp(0.0, 1.0));
            // What is not a number has to be somewhere.
            DVec2::new(if u.is_nan() { 0.0 } else { u }, if v.is_nan() { 0.0 } else { v })
        };
        let cut = |curve: &TrimCurve| -> Vec<DVec2> {
            let span = |span: usize| {
                let place = |at: f64| unit(curve.place(span, at));
                let sample = |i: usize| surface.point(surface.find(place(i as f64 / (SAMPLES - 1) as f64)));
                let flat = |i: usize| place(i as f64 / (SAMPLES - 1) as f64).extend(0.0);
                let bent = metric.rate(&std::array::from_fn(sample));
                // A line over a plane may be bent where the surface along it is straight.
                let turned = Metric::for_any_size(1.0, 0.01).rate(&std::array::from_fn(flat));
                let rate = bent.max(turned.min(16));
                (0..rate).map(move |k| f64::from(k) / f64::from(rate)).map(place).collect::<Vec<_>>()
            };
            (0..curve.course.spans().len()).flat_map(span).collect()
        };
        self.loops.iter().map(|curves| curves.iter().flat_map(cut).collect()).collect()
    }
}

impl Surface {
    /// The site at a point of the unit square.
    pub fn find(&self, place: DVec2) -> Site {
        let ((u, at_u), (v, at_v)) = (self.u.find(place.x), self.v.find(place.y));
        Site { span: [u as u32, v as u32], at: [at_u, at_v] }
    }

    /// The part of the surface that a trim leaves; the surface was diced before.
    pub fn trimmed(&self, whole: Diced, trim: &Trim, metric: &Metric) -> Diced {
        let parameter = |site: &Site| {
            let [u, v] = [(&self.u, 0), (&self.v, 1)].map(|(d, k)| d.parameter(site.span[k] as usize, site.at[k]));
            DVec2::new(u, v)
        };
        let mut sites = whole.sites;
        let mut places: Vec<DVec2> = sites.iter().map(parameter).collect();
        let mut lines = trim.lines(self, metric);
        if trim.outside {
            lines.push(vec![DVec2::ZERO, DVec2::X, DVec2::ONE, DVec2::Y]);
        }
        let mut loops = Vec::new();
        for line in &lines {
            let first = places.len() as u32;
            places.extend_from_slice(line);
            sites.extend(line.iter().map(|&p| self.find(p)));
            loops.push((first..places.len() as u32).collect());
        }
        // All points are in the unit square.
        let triangles = region::triangulate(&places, &loops).unwrap_or_default();
        let patch = |t: &[u32; 3]| {
            let middle = t.iter().map(|&i| places[i as usize]).sum::<DVec2>() / 3.0;
            let Site { span: [u, v], .. } = self.find(middle);
            let [u, v] = [self.u.spans()[u as usize], self.v.spans()[v as usize]].map(|s| s.segment);
            v * self.u.segments() as u32 + u
        };
        let patches = triangles.iter().map(patch).collect();
        let mut out = Diced { sites, triangles, patches, ..Diced::default() };
        self.place(&mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::circle;
    use super::*;
    use glam::{DMat4, Vec4};
    use std::f64::consts::PI;

    /// A circle about the middle of the parameters from 0 to 2.
    fn circle(radius: f64) -> TrimCurve {
        let place = |(x, y, w)| DVec3::new(1.0 + radius * x, 1.0 + radius * y, 1.0) * w;
        TrimCurve { course: circle::direction(), points: circle::POINTS.map(place).to_vec() }
    }

    /// A square of side 4 over the parameters from 0 to 2.
    fn square() -> Surface {
        let line = || Direction::nurbs(2, &[0.0, 0.0, 1.0, 2.0, 2.0], 3, (0.0, 2.0)).unwrap();
        let points: Vec<Vec4> =
            (0..9).map(|k| Vec4::new((k % 3) as f32 * 2.0, (k / 3) as f32 * 2.0, 0.0, 1.0)).collect();
        Surface::new(line(), line(), &points)
    }

    fn area(loops: Vec<Vec<TrimCurve>>, outside: bool) -> f64 {
        let metric = Metric::for_camera(DMat4::from_translation(DVec3::Z * 5.0), 500.0, true, 0.05);
        let surface = square();
        let whole = surface.dice(&metric, 1000).unwrap();
        let left = surface.trimmed(whole, &Trim { loops, outside }, &metric);
        let twice = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| left.points[i as usize].as_dvec3());
            let n = (b - a).cross(c - a);
            assert!(n.z > 0.0);
            n.z
        };
        assert!(left.normals.iter().all(|n| n.z > 0.999));
        left.triangles.iter().map(twice).sum::<f64>() / 2.0
    }

    #[test]
    fn a_circle_leaves_what_is_inside_or_what_is_outside() {
        let disk = PI * 4.0 * 0.25;
        assert!((area(vec![vec![circle(0.5)]], false) - disk).abs() < 0.01);
        assert!((area(vec![vec![circle(0.5)]], true) - (16.0 - disk)).abs() < 0.01);
    }

    #[test]
    fn loops_within_loops_alternate() {
        let ring = area(vec![vec![circle(0.75)], vec![circle(0.5)]], false);
        assert!((ring - PI * 4.0 * (0.5625 - 0.25)).abs() < 0.02, "{ring}");
    }

    #[test]
    fn loops_beyond_the_surface_end_at_its_rim() {
        assert!((area(vec![vec![circle(3.0)]], false) - 16.0).abs() < 1e-6);
        assert_eq!(area(vec![], false), 0.0);
    }
}
