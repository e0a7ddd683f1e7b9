//! Tensor-product surfaces: bilinear and bicubic patches and meshes of them, and NURBS.
//!
//! A [`Surface`] is two [`Direction`]s and their control points. It is diced patch by patch; what
//! two patches share is evaluated once, in one way, so that their points there are the same bits.

use super::basis::{Direction, Term};
use super::dice::{Fraction, Metric, Rates, SAMPLES};
use glam::{DVec3, DVec4, Vec2, Vec3, Vec4};
use rayon::prelude::*;
use std::collections::HashMap;

/// A surface over the unit square of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Along u.
    pub u: Direction,
    /// Along v.
    pub v: Direction,
    /// Homogeneous control points (`w·x, w·y, w·z, w`), row by row: those of equal index along v
    /// lie together.
    points: Vec<DVec4>,
    /// True if weights differ from 1.
    rational: bool,
}

/// A position on a surface: spans along u and v, and the position in them from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// The spans.
    pub span: [u32; 2],
    /// Where in them.
    pub at: [f64; 2],
}

/// A surface as triangles, in its own space.
#[derive(Clone, Debug, Default)]
pub struct Diced {
    /// Where each point lies on the surface.
    pub sites: Vec<Site>,
    /// The points.
    pub points: Vec<Vec3>,
    /// `dPdu × dPdv` at them, unit.
    pub normals: Vec<Vec3>,
    /// Their parameters, each from 0 to 1 over the surface.
    pub uv: Vec<Vec2>,
    /// Numbers of points; none has zero area.
    pub triangles: Vec<[u32; 3]>,
    /// The patch that each triangle belongs to, counted along u, then along v, by segments.
    pub patches: Vec<u32>,
}

impl Diced {
    /// Leaves out the triangles of which two points are one.
    pub fn drop_lines(&mut self) {
        let points = &self.points;
        let whole = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| points[i as usize]);
            a != b && b != c && c != a
        };
        let keep: Vec<bool> = self.triangles.iter().map(whole).collect();
        let mut flags = keep.iter();
        self.triangles.retain(|_| flags.next().copied().unwrap_or(false));
        let mut flags = keep.iter();
        self.patches.retain(|_| flags.next().copied().unwrap_or(false));
    }
}

impl Surface {
    /// A surface over control points, as many as the directions have together.
    pub fn new(u: Direction, v: Direction, points: &[Vec4]) -> Self {
        let points: Vec<DVec4> = points.iter().map(|p| p.as_dvec4()).collect();
        let rational = points.iter().any(|p| p.w != 1.0);
        Self { u, v, points, rational }
    }

    /// The way in which a site on the edge between two spans is evaluated: at the start of the
    /// later one.
    fn canonical(&self, site: Site) -> Site {
        let Site { mut span, mut at } = site;
        for (k, direction) in [&self.u, &self.v].into_iter().enumerate() {
            if at[k] == 1.0 {
                let next = span[k] as usize + 1;
                if next < direction.spans().len() {
                    (span[k], at[k]) = (next as u32, 0.0);
                } else if direction.is_periodic() {
                    (span[k], at[k]) = (0, 0.0);
                }
            }
        }
        Site { span, at }
    }

    /// The homogeneous point at a site, and its derivatives along the spans of u and v.
    fn evaluate(&self, site: Site, scratch: &mut [Vec<Term>; 2]) -> [DVec4; 3] {
        let [along_u, along_v] = scratch;
        self.u.terms(site.span[0] as usize, site.at[0], along_u);
        self.v.terms(site.span[1] as usize, site.at[1], along_v);
        let mut sum = [DVec4::ZERO; 3];
        for v in along_v.iter() {
            let row = v.index as usize * self.u.count();
            let (mut point, mut slope) = (DVec4::ZERO, DVec4::ZERO);
            for u in along_u.iter() {
                let p = self.points[row + u.index as usize];
                point += p * u.weight;
                slope += p * u.slope;
            }
            sum[0] += point * v.weight;
            sum[1] += slope * v.weight;
            sum[2] += point * v.slope;
        }
        sum
    }

    /// The point at a site.
    pub fn point(&self, site: Site) -> DVec3 {
        let [p, ..] = self.evaluate(self.canonical(site), &mut Default::default());
        if self.rational { p.truncate() / p.w } else { p.truncate() }
    }

    /// `dPdu` and `dPdv` at a site of its own span, in lengths a span.
    pub fn tangents(&self, site: Site) -> [DVec3; 2] {
        let [p, du, dv] = self.evaluate(site, &mut Default::default());
        if !self.rational {
            return [du.truncate(), dv.truncate()];
        }
        // The quotient rule, up to a positive factor for positive weights.
        let point = p.truncate() / p.w;
        [du, dv].map(|d| (d.truncate() - point * d.w) / p.w)
    }

    /// The unit normal at a site; beside the site where the surface has none there, as at a pole.
    fn normal(&self, site: Site) -> Vec3 {
        let inwards = |step: f64| Site { at: site.at.map(|t| t + (0.5 - t) * step), ..site };
        for step in [0.0, 1e-4, 1e-2] {
            let [du, dv] = self.tangents(inwards(step));
            let n = du.cross(dv);
            if n.length() > 1e-9 * du.length().max(dv.length()).powi(2) {
                return n.normalize().as_vec3();
            }
        }
        Vec3::ZERO
    }

    /// `u, v` of a site.
    fn uv(&self, site: Site) -> Vec2 {
        let [u, v] = [(&self.u, 0), (&self.v, 1)].map(|(d, k)| d.parameter(site.span[k] as usize, site.at[k]) as f32);
        Vec2::new(u, v)
    }

    /// The number of patches along u and v, by which values of class uniform are counted.
    pub fn patches(&self) -> [usize; 2] {
        [self.u.segments(), self.v.segments()]
    }

    /// The rates of each span's patch, along u within v.
    fn rates(&self, metric: &Metric) -> Vec<Rates> {
        let (nu, nv) = (self.u.spans().len(), self.v.spans().len());
        let curve = |span: [usize; 2], place: fn(f64, f64) -> [f64; 2], across: f64| -> u32 {
            let span = span.map(|s| s as u32);
            let along = |i: usize| i as f64 / (SAMPLES - 1) as f64;
            metric.edge_rate(&std::array::from_fn(|i| self.point(Site { span, at: place(along(i), across) })))
        };
        let along_u: fn(f64, f64) -> [f64; 2] = |along, across| [along, across];
        let along_v: fn(f64, f64) -> [f64; 2] = |along, across| [across, along];
        (0..nu * nv)
            .into_par_iter()
            .map(|k| {
                let span = [k % nu, k / nu];
                let edges_u = [0.0, 1.0].map(|v| curve(span, along_u, v));
                let edges_v = [0.0, 1.0].map(|u| curve(span, along_v, u));
                let within = |place| [0.25, 0.5, 0.75].map(|across| curve(span, place, across)).into_iter().max();
                let mut inside = [
                    edges_u.into_iter().chain(within(along_u)).max().unwrap_or(1),
                    edges_v.into_iter().chain(within(along_v)).max().unwrap_or(1),
                ];
                self.untwist(metric, span, &mut inside);
                Rates { along_u: edges_u, along_v: edges_v, inside }
            })
            .collect()
    }

    /// Raises the rates of a patch's inside until its cells are flat across too: a cell whose
    /// corners are `d` out of one plane bulges by `d / 4`.
    fn untwist(&self, metric: &Metric, span: [usize; 2], rates: &mut [u32; 2]) {
        let span = span.map(|s| s as u32);
        let corner = |u: f64, v: f64| self.point(Site { span, at: [u, v] });
        let [a, b, c, d] = [corner(0.0, 0.0), corner(1.0, 0.0), corner(0.0, 1.0), corner(1.0, 1.0)];
        let twist = (a + d - b - c).length();
        let size = (d - a).length().max((c - b).length());
        let bulge = metric.pixels((a + b + c + d) / 4.0, twist, size) / 4.0;
        let cells = bulge / metric.flatness();
        let now = f64::from(rates[0]) * f64::from(rates[1]);
        if cells.is_finite() && cells > now {
            let factor = (cells / now).sqrt();
            let raised = |n: u32| ((f64::from(n) * factor).ceil() as u32).min(super::dice::MAX_RATE);
            // The rates so far are halved already.
            *rates = rates.map(|n| n.max(metric.halve(raised(n))));
        }
    }

    /// Cuts the surface into triangles; `None` where there would be more than `limit`.
    pub fn dice(&self, metric: &Metric, limit: usize) -> Option<Diced> {
        let rates = self.rates(metric);
        if rates.iter().map(Rates::triangles).sum::<usize>() > limit {
            return None;
        }
        let nu = self.u.spans().len();
        let mut grids = HashMap::new();
        let mut out = Diced::default();
        for (k, rates) in rates.iter().enumerate() {
            let grid = grids.entry((rates.along_u, rates.along_v, rates.inside)).or_insert_with(|| rates.grid());
            let span = [(k % nu) as u32, (k / nu) as u32];
            let first = out.sites.len() as u32;
            out.sites.extend(grid.points.iter().map(|p| Site { span, at: p.map(Fraction::value) }));
            out.triangles.extend(grid.triangles.iter().map(|t| t.map(|i| first + i)));
            let segment = [&self.u.spans()[k % nu], &self.v.spans()[k / nu]].map(|s| s.segment);
            let patch = segment[1] * self.u.segments() as u32 + segment[0];
            out.patches.resize(out.triangles.len(), patch);
        }
        self.place(&mut out);
        Some(out)
    }

    /// Fills in what follows from the sites, and drops the triangles that have become lines.
    pub fn place(&self, diced: &mut Diced) {
        let known: Vec<(Vec3, Vec3, Vec2)> = diced
            .sites
            .par_iter()
            .map(|&site| (self.point(site).as_vec3(), self.normal(site), self.uv(site)))
            .collect();
        diced.points = known.iter().map(|k| k.0).collect();
        diced.normals = known.iter().map(|k| k.1).collect();
        diced.uv = known.iter().map(|k| k.2).collect();
        diced.drop_lines();
    }

    /// Values of class vertex, `width` numbers each, at sites.
    pub fn blend_vertex(&self, sites: &[Site], values: &[f32], width: usize) -> Vec<f32> {
        let mut out = vec![0.0; sites.len() * width];
        let mut sum = vec![0.0; width];
        let [mut along_u, mut along_v]: [Vec<Term>; 2] = Default::default();
        for (site, out) in sites.iter().zip(out.chunks_exact_mut(width.max(1))) {
            let site = self.canonical(*site);
            self.u.terms(site.span[0] as usize, site.at[0], &mut along_u);
            self.v.terms(site.span[1] as usize, site.at[1], &mut along_v);
            sum.fill(0.0);
            let mut total = 0.0;
            for v in &along_v {
                for u in &along_u {
                    let i = v.index as usize * self.u.count() + u.index as usize;
                    let share = u.weight * v.weight * if self.rational { self.points[i].w } else { 1.0 };
                    total += share;
                    for (sum, x) in sum.iter_mut().zip(&values[i * width..]) {
                        *sum += share * f64::from(*x);
                    }
                }
            }
            let scale = if self.rational { 1.0 / total } else { 1.0 };
            out.iter_mut().zip(&sum).for_each(|(out, sum)| *out = (sum * scale) as f32);
        }
        out
    }

    /// Values of class varying at sites: between the four at the ends of each segment.
    pub fn blend_varying(&self, sites: &[Site], values: &[f32], width: usize) -> Vec<f32> {
        let [ends_u, ends_v] = [&self.u, &self.v].map(|d| d.segment_ends() as u32);
        self.blend_corners(sites, values, width, |segment, corner| {
            (segment[1] + corner[1]) % ends_v * ends_u + (segment[0] + corner[0]) % ends_u
        })
    }

    /// Values of class facevarying at sites: between the four that each segment has for itself.
    pub fn blend_face_varying(&self, sites: &[Site], values: &[f32], width: usize) -> Vec<f32> {
        let row = self.u.segments() as u32;
        self.blend_corners(sites, values, width, |segment, corner| {
            4 * (segment[1] * row + segment[0]) + 2 * corner[1] + corner[0]
        })
    }

    fn blend_corners(
        &self,
        sites: &[Site],
        values: &[f32],
        width: usize,
        number: impl Fn([u32; 2], [u32; 2]) -> u32,
    ) -> Vec<f32> {
        let mut out = Vec::with_capacity(sites.len() * width);
        for site in sites {
            let segment = [&self.u.spans()[site.span[0] as usize], &self.v.spans()[site.span[1] as usize]];
            let segment = segment.map(|s| s.segment);
            let [u, v] = site.at.map(|t| t as f32);
            let [a, b, c, d] = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|corner| number(segment, corner) as usize * width);
            out.extend((0..width).map(|k| {
                let low = values[a + k] * (1.0 - u) + values[b + k] * u;
                let high = values[c + k] * (1.0 - u) + values[d + k] * u;
                low * (1.0 - v) + high * v
            }));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::basis::{B_SPLINE, BEZIER};
    use super::super::circle;
    use super::super::mesh::Mesh;
    use super::*;
    use std::f64::consts::PI;

    /// For shapes about a unit wide, seen a thousand pixels large.
    fn metric(flatness: f64) -> Metric {
        Metric::for_camera(glam::DMat4::from_translation(DVec3::Z * 4.0), 1000.0, true, flatness)
    }

    fn bezier(count: usize) -> Direction {
        Direction::cubic(BEZIER, 3, count, false).unwrap()
    }

    fn mesh(diced: &Diced) -> Mesh {
        Mesh {
            positions: diced.points.clone(),
            normals: diced.normals.clone(),
            uv: diced.uv.clone(),
            triangles: diced.triangles.clone(),
            ..Mesh::default()
        }
    }

    /// Edges that one triangle alone has, by the bits of their ends.
    fn open_edges(mesh: &Mesh) -> usize {
        let mut edges: HashMap<[[u32; 3]; 2], i32> = HashMap::new();
        for t in 0..mesh.triangles.len() {
            let c = mesh.corners(t).map(|p| (p + Vec3::ZERO).to_array().map(f32::to_bits));
            for k in 0..3 {
                *edges.entry([c[k], c[(k + 1) % 3]]).or_default() += 1;
                *edges.entry([c[(k + 1) % 3], c[k]]).or_default() -= 1;
            }
        }
        edges.values().filter(|n| **n > 0).count()
    }

    /// A torus of radii 1 and 1/4 as a NURBS surface: u around the axis, v around the tube.
    fn torus() -> Surface {
        let points: Vec<Vec4> = circle::POINTS
            .iter()
            .flat_map(|&(a, z, wv)| {
                circle::POINTS.iter().map(move |&(x, y, wu)| {
                    let r = 1.0 + 0.25 * a;
                    (DVec4::new(x * r, y * r, 0.25 * z, 1.0) * (wu * wv)).as_vec4()
                })
            })
            .collect();
        Surface::new(circle::direction(), circle::direction(), &points)
    }

    #[test]
    fn a_nurbs_circle_is_exact() {
        let surface = torus();
        for k in 0..=40 {
            let (span, at) = surface.u.find(f64::from(k) / 40.0);
            let p = surface.point(Site { span: [span as u32, 0], at: [at, 0.0] });
            assert!((p.truncate().length() - 1.25).abs() < 1e-7 && p.z.abs() < 1e-12, "{p}");
        }
    }

    #[test]
    fn a_nurbs_torus_is_closed_and_has_its_area_and_normals() {
        let exact = 4.0 * PI * PI * 0.25;
        let errors = [0.4, 0.1].map(|flatness| {
            let diced = torus().dice(&metric(flatness), 1 << 20).unwrap();
            let mesh = mesh(&diced);
            assert_eq!(open_edges(&mesh), 0);
            for (p, n) in mesh.positions.iter().zip(&mesh.normals) {
                let center = p.truncate().normalize().extend(0.0);
                assert!(n.distance((*p - center) * 4.0) < 1e-4, "{p}: {n}");
            }
            1.0 - mesh.area() / exact
        });
        assert!(errors[1] > 0.0 && errors[1] < 1e-3 && errors[1] < errors[0] / 2.5, "{errors:?}");
    }

    #[test]
    fn patches_of_a_mesh_meet_without_cracks_whatever_their_rates() {
        // A mesh of 3 × 2 Bézier patches, one of them much more curved than its neighbors.
        let (nu, nv) = (10, 7);
        let points: Vec<Vec4> = (0..nu * nv)
            .map(|k| {
                let (i, j) = (k % nu, k / nu);
                let z = if (i, j) == (4, 5) { 3.0 } else { 0.1 * ((i * i + 3 * j) % 4) as f32 };
                Vec4::new(i as f32 * 0.1, j as f32 * 0.1, z, 1.0)
            })
            .collect();
        let surface = Surface::new(bezier(nu), bezier(nv), &points);
        let rates = surface.rates(&metric(0.1));
        assert!(rates.iter().any(|r| r.along_u != [r.inside[0]; 2]), "no patch is stitched");
        let mesh = mesh(&surface.dice(&metric(0.1), 1 << 20).unwrap());
        let sides: u32 = (0..3).map(|k| rates[k].along_u[0] + rates[3 + k].along_u[1]).sum::<u32>()
            + [0, 3].map(|k| rates[k].along_v[0] + rates[k + 2].along_v[1]).iter().sum::<u32>();
        assert_eq!(open_edges(&mesh), sides as usize);
    }

    #[test]
    fn a_periodic_mesh_closes() {
        let ring = Direction::cubic(B_SPLINE, 1, 6, true).unwrap();
        let points: Vec<Vec4> = (0..24)
            .map(|k| {
                let (sin, cos) = (k as f32 % 6.0 * PI as f32 / 3.0).sin_cos();
                Vec4::new(cos, sin, (k / 6) as f32, 1.0)
            })
            .collect();
        let surface = Surface::new(ring, Direction::linear(4, false).unwrap(), &points);
        let diced = surface.dice(&metric(0.1), 1 << 20).unwrap();
        // Each of the six patches at a rim has one point more there than edges.
        let rims = diced.points.iter().filter(|p| p.z == 0.0 || p.z == 3.0).count();
        assert_eq!(open_edges(&mesh(&diced)), rims - 12);
        assert!(diced.uv.iter().any(|uv| uv.x == 1.0));
    }

    #[test]
    fn a_twisted_bilinear_patch_is_flat_in_small() {
        let line = || Direction::linear(2, false).unwrap();
        let points = [(0.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (1.0, 1.0, 0.0)];
        let points: Vec<Vec4> = points.iter().map(|&(x, y, z)| Vec4::new(x, y, z, 1.0)).collect();
        let surface = Surface::new(line(), line(), &points);
        let mesh = mesh(&surface.dice(&metric(0.1), 1 << 20).unwrap());
        for t in 0..mesh.triangles.len() {
            let p = mesh.corners(t).iter().sum::<Vec3>() / 3.0;
            // Half a pixel at the strips along the edges.
            assert!((p.x + p.y - 2.0 * p.x * p.y - p.z).abs() < 2e-3, "{p}");
        }
        let rates = surface.rates(&metric(0.1))[0];
        let rim: u32 = rates.along_u.iter().chain(&rates.along_v).sum();
        assert_eq!(open_edges(&mesh), rim as usize);
    }

    #[test]
    fn a_pole_has_a_normal_and_no_empty_triangles() {
        // A quarter of a paraboloid, its edge at v = 0 drawn together in the origin.
        let mut points = Vec::new();
        for j in 0..4 {
            for i in 0..4 {
                let (r, angle) = (j as f32 / 3.0, i as f32 / 3.0 * std::f32::consts::FRAC_PI_2);
                points.push(Vec4::new(r * angle.cos(), r * angle.sin(), r * r, 1.0));
            }
        }
        let diced = Surface::new(bezier(4), bezier(4), &points).dice(&metric(0.1), 1 << 20).unwrap();
        for (p, n) in diced.points.iter().zip(&diced.normals).filter(|(p, _)| p.length() == 0.0) {
            assert!((n.length() - 1.0).abs() < 1e-5 && n.z < -0.9, "{p}: {n}");
        }
        let mesh = mesh(&diced);
        assert!((0..mesh.triangles.len()).all(|t| mesh.scaled_normal(t) != Vec3::ZERO));
    }

    #[test]
    fn values_of_every_class_lie_where_they_belong() {
        let line = |n| Direction::linear(n, false).unwrap();
        let points: Vec<Vec4> = (0..6).map(|k| Vec4::new((k % 3) as f32, (k / 3) as f32, 0.0, 1.0)).collect();
        let surface = Surface::new(line(3), line(2), &points);
        let sites = [Site { span: [1, 0], at: [0.5, 0.25] }];
        let xs: Vec<f32> = points.iter().map(|p| p.x).collect();
        assert_eq!(surface.blend_vertex(&sites, &xs, 1), [1.5]);
        assert_eq!(surface.blend_varying(&sites, &xs, 1), [1.5]);
        let corners = [0.0, 0.0, 0.0, 0.0, 1.0, 3.0, 1.0, 7.0];
        assert_eq!(surface.blend_face_varying(&sites, &corners, 1), [2.0 * 0.75 + 4.0 * 0.25]);
        assert_eq!(surface.patches(), [2, 1]);
    }

    #[test]
    fn more_triangles_than_allowed_are_not_made() {
        assert!(torus().dice(&metric(0.001), 1000).is_none());
    }
}
