//! How finely curved shapes are diced, and the grids that they are diced into.
//!
//! A [`Metric`] says for a curve into how many straight segments it is diced, by its size on the
//! image and by nothing but the curve: two patches that share an edge dice it alike. A [`Grid`]
//! fills a patch whose four edges and whose inside have rates of their own; the inside is joined to
//! each edge by a strip of triangles, so that there are no cracks.

use glam::{DMat4, DVec3};

/// Most pieces of one edge.
pub const MAX_RATE: u32 = 128;

/// How often rates are halved at most: every rate is 1 then.
pub const MAX_HALVINGS: u32 = MAX_RATE.ilog2();

/// Samples of a curve, from end to end, that a metric looks at.
pub const SAMPLES: usize = 9;

/// Most degrees that the segments of a curve turn from one to the next, however small they are on
/// the image: 24 segments make a circle.
const MAX_TURN: f64 = 15.0;

/// How large things are on the image, and how exact they must be there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    view: View,
    /// How far a piece may be from the curve, in pixels.
    flatness: f64,
    /// How often rates are halved.
    halvings: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum View {
    /// Of a camera: object space to camera space and by how much that stretches, the pixels of a
    /// unit at distance 1, and whether they shrink with distance.
    Camera { to_camera: DMat4, scale: f64, pixels: f64, perspective: bool },
    /// Of none: every curve is that many pixels long.
    Anywhere { pixels: f64 },
}

impl Metric {
    /// For shapes of a space that `to_camera` takes to camera space, where a unit at distance 1
    /// (with `perspective`; anywhere without) is so many pixels.
    pub fn for_camera(to_camera: DMat4, pixels: f64, perspective: bool, flatness: f64) -> Self {
        let scale = to_camera.determinant().abs().cbrt();
        Self { view: View::Camera { to_camera, scale, pixels, perspective }, flatness, halvings: 0 }
    }

    /// For shapes that may be seen at any size: as if each of their edges were so many pixels long.
    pub fn for_any_size(pixels: f64, flatness: f64) -> Self {
        Self { view: View::Anywhere { pixels }, flatness, halvings: 0 }
    }

    /// The same with rates that are halved so often, whatever they are: for scenes with too many
    /// shapes.
    #[must_use]
    pub fn halved(self, halvings: u32) -> Self {
        Self { halvings, ..self }
    }

    /// A rate as often halved as this metric asks, at least 1.
    pub fn halve(&self, rate: u32) -> u32 {
        halved(rate, self.halvings)
    }

    /// A level of subdivision, each of which doubles rates, lowered as often.
    pub fn lower(&self, level: usize) -> usize {
        level.saturating_sub(self.halvings as usize)
    }

    /// Pixels that a length at a place takes, where something of this `size` lies around the place.
    pub fn pixels(&self, at: DVec3, length: f64, size: f64) -> f64 {
        match self.view {
            View::Camera { to_camera, scale, pixels, perspective } => {
                // Something around or behind the camera may still be seen in a mirror: its own size
                // stands for its distance.
                let distance = to_camera.transform_point3(at).length().max(0.25 * size * scale);
                length * scale * pixels / if perspective { distance } else { 1.0 }
            }
            View::Anywhere { pixels } => pixels * length / size,
        }
    }

    /// How far a piece may be from the curve, in pixels.
    pub fn flatness(&self) -> f64 {
        self.flatness
    }

    /// The number of segments for an edge of a patch. Straight ones are diced too where they are
    /// long: the patch may be twisted, which the edge does not show, and is joined to it by
    /// triangles as long as its pieces.
    pub fn edge_rate(&self, edge: &[DVec3; SAMPLES]) -> u32 {
        const PIXELS: f64 = 8.0;
        let (start, end) = (edge[0], edge[SAMPLES - 1]);
        let length = self.pixels((start + end) / 2.0, start.distance(end), start.distance(end));
        let least = if length.is_finite() { (length / PIXELS).sqrt().ceil() as u32 } else { 1 };
        self.rate(edge).max(self.halve(least.min(MAX_RATE)))
    }

    /// The number of segments for a curve through these points, which lie at equal steps of its
    /// parameter.
    pub fn rate(&self, curve: &[DVec3; SAMPLES]) -> u32 {
        let placed = match self.view {
            View::Camera { to_camera, .. } => curve.map(|p| to_camera.transform_point3(p)),
            View::Anywhere { .. } => *curve,
        };
        let steps = SAMPLES as f64 - 1.0;
        let chords: Vec<DVec3> = placed.windows(2).map(|p| p[1] - p[0]).collect();
        let length: f64 = chords.iter().map(|c| c.length()).sum();
        // Not so for what is not a number.
        if !(length > 0.0 && length.is_finite()) {
            return 1;
        }
        let scale = |at: DVec3| match self.view {
            View::Camera { pixels, perspective: true, .. } => pixels / at.length().max(0.25 * length),
            View::Camera { pixels, .. } => pixels,
            View::Anywhere { pixels } => pixels / length,
        };
        let bent =
            chords.windows(2).zip(&placed[1..]).map(|(c, p)| (c[1] - c[0]).length() * scale(*p)).fold(0.0, f64::max);
        // A piece of a curve with second derivative c is at most c h² / 8 from it, h its length in
        // the parameter.
        let pieces = (bent * steps * steps / (8.0 * self.flatness)).sqrt();
        let turn: f64 = chords.windows(2).map(|c| c[0].angle_between(c[1])).filter(|a| a.is_finite()).sum();
        let least = turn.to_degrees() / MAX_TURN;
        self.halve((pieces.max(least).ceil() as u32).clamp(1, MAX_RATE))
    }
}

/// A rate that is halved so often, rounded up, at least 1.
pub fn halved(rate: u32, halvings: u32) -> u32 {
    rate.div_ceil(1 << halvings.min(MAX_HALVINGS)).max(1)
}

/// A side of a patch: its pieces, where its points lie, and the inner points along it.
type Side<'a> = (u32, Box<dyn Fn(u32) -> [Fraction; 2] + 'a>, Vec<u32>);

/// A fraction of a patch's side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fraction(pub u32, pub u32);

impl Fraction {
    /// The value of the fraction; exactly 0 and 1 at the ends.
    pub fn value(self) -> f64 {
        f64::from(self.0) / f64::from(self.1)
    }
}

/// How many segments the edges and the inside of a patch are diced into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// The edges at v = 0 and v = 1, along u.
    pub along_u: [u32; 2],
    /// The edges at u = 0 and u = 1, along v.
    pub along_v: [u32; 2],
    /// The inside along u and v.
    pub inside: [u32; 2],
}

/// Points of the unit square and the triangles between them, counter-clockwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// `u, v` of each point.
    pub points: Vec<[Fraction; 2]>,
    /// Numbers of points.
    pub triangles: Vec<[u32; 3]>,
}

impl Rates {
    /// Triangles of the grid, at most.
    pub fn triangles(&self) -> usize {
        let [u, v] = self.inside.map(|n| n.max(2) as usize);
        let edges: usize = self.along_u.iter().chain(&self.along_v).map(|&n| n as usize).sum();
        2 * u * v + edges
    }

    /// The grid with these rates.
    pub fn grid(&self) -> Grid {
        let [nu, nv] = self.inside;
        if self.along_u == [nu; 2] && self.along_v == [nv; 2] {
            return even_grid(nu, nv);
        }
        self.stitched()
    }

    /// The grid whose inside is joined to its edges.
    fn stitched(&self) -> Grid {
        let [nu, nv] = self.inside.map(|n| n.max(2));
        let inner = |n: u32| 1..n;
        let mut grid = Grid::default();
        for j in inner(nv) {
            grid.points.extend(inner(nu).map(|i| [Fraction(i, nu), Fraction(j, nv)]));
        }
        let columns = nu - 1;
        for j in 0..nv - 2 {
            for i in 0..columns - 1 {
                push_cell(&mut grid.triangles, j * columns + i, columns);
            }
        }
        let inside = |i: u32, j: u32| (j - 1) * columns + i - 1;
        let [bottom, top] = self.along_u;
        let [left, right] = self.along_v;
        let zero = |n: u32| Fraction(0, n);
        let one = |n: u32| Fraction(n, n);
        // Around the square, counter-clockwise: each side's points without its last, and the inner
        // points along it.
        let sides: [Side<'_>; 4] = [
            (bottom, Box::new(move |k| [Fraction(k, bottom), zero(1)]), inner(nu).map(|i| inside(i, 1)).collect()),
            (right, Box::new(move |k| [one(1), Fraction(k, right)]), inner(nv).map(|j| inside(nu - 1, j)).collect()),
            (
                top,
                Box::new(move |k| [Fraction(top - k, top), one(1)]),
                inner(nu).rev().map(|i| inside(i, nv - 1)).collect(),
            ),
            (
                left,
                Box::new(move |k| [zero(1), Fraction(left - k, left)]),
                inner(nv).rev().map(|j| inside(1, j)).collect(),
            ),
        ];
        let start = grid.points.len() as u32;
        let around: u32 = sides.iter().map(|s| s.0).sum();
        let mut first = 0;
        for (count, point, inner) in &sides {
            grid.points.extend((0..*count).map(point));
            let outer: Vec<u32> = (0..=*count).map(|k| start + (first + k) % around).collect();
            strip(&mut grid.triangles, &outer, inner);
            first += count;
        }
        grid
    }
}

/// The grid of `nu` times `nv` cells.
fn even_grid(nu: u32, nv: u32) -> Grid {
    let mut grid = Grid::default();
    for j in 0..=nv {
        grid.points.extend((0..=nu).map(|i| [Fraction(i, nu), Fraction(j, nv)]));
    }
    for j in 0..nv {
        for i in 0..nu {
            push_cell(&mut grid.triangles, j * (nu + 1) + i, nu + 1);
        }
    }
    grid
}

/// The two triangles of the cell whose corner of least `u, v` is point `a`, where rows have so many
/// points.
fn push_cell(triangles: &mut Vec<[u32; 3]>, a: u32, row: u32) {
    let (b, c, d) = (a + 1, a + row + 1, a + row);
    triangles.extend([[a, b, c], [a, c, d]]);
}

/// Fills between the points of an edge and those of the inside along it, both counter-clockwise
/// around the square. Inner point `i` of `n` lies at `(i + 1) / (n + 1)` of the edge.
fn strip(triangles: &mut Vec<[u32; 3]>, outer: &[u32], inner: &[u32]) {
    let (pieces, inner_pieces) = (outer.len() - 1, inner.len() - 1);
    let (mut i, mut j) = (0, 0);
    while i < pieces || j < inner_pieces {
        // The chain whose next piece has its middle first continues: (i + ½) / pieces against (j +
        // 1½) / (inner_pieces + 2).
        let outer_first = (2 * i + 1) * (inner_pieces + 2) <= (2 * j + 3) * pieces;
        if j == inner_pieces || (i < pieces && outer_first) {
            triangles.push([outer[i], outer[i + 1], inner[j]]);
            i += 1;
        } else {
            triangles.push([outer[i], inner[j + 1], inner[j]]);
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn circle(radius: f64, depth: f64) -> [DVec3; SAMPLES] {
        std::array::from_fn(|i| {
            let angle = i as f64 / 8.0 * std::f64::consts::FRAC_PI_2;
            DVec3::new(radius * angle.cos(), radius * angle.sin(), depth)
        })
    }

    #[test]
    fn grids_of_any_rates_cover_the_square_once() {
        for rates in [
            Rates { along_u: [1, 1], along_v: [1, 1], inside: [1, 1] },
            Rates { along_u: [3, 3], along_v: [2, 2], inside: [3, 2] },
            Rates { along_u: [1, 7], along_v: [5, 2], inside: [4, 3] },
            Rates { along_u: [9, 1], along_v: [1, 1], inside: [1, 1] },
            Rates { along_u: [2, 2], along_v: [8, 8], inside: [128, 2] },
        ] {
            let Grid { points, triangles } = rates.grid();
            assert!(triangles.len() <= rates.triangles(), "{rates:?}");
            let at = |i: u32| points[i as usize].map(Fraction::value);
            let mut area = 0.0;
            let mut edges = HashMap::new();
            for t in &triangles {
                let [a, b, c] = t.map(at);
                let twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
                assert!(twice > 0.0, "{rates:?}: {t:?}");
                area += twice / 2.0;
                for k in 0..3 {
                    *edges.entry((t[k], t[(k + 1) % 3])).or_insert(0) += 1;
                }
            }
            assert!((area - 1.0).abs() < 1e-9, "{rates:?}: {area}");
            // Every edge of a triangle has a neighbor but those of the square's sides, which are
            // as many as the rates say.
            let open = edges.keys().filter(|&&(a, b)| !edges.contains_key(&(b, a))).count() as u32;
            assert_eq!(open, rates.along_u.iter().chain(&rates.along_v).sum::<u32>());
            assert!(edges.values().all(|&n| n == 1));
        }
    }

    #[test]
    fn a_curve_is_cut_by_how_far_its_pieces_are_from_it() {
        let metric = Metric::for_camera(DMat4::IDENTITY, 500.0, true, 0.1);
        let (near, far) = (metric.rate(&circle(1.0, 5.0)), metric.rate(&circle(1.0, 80.0)));
        assert!(near > far, "{near} {far}");
        // The sagitta of a piece, in pixels.
        let sagitta =
            |pieces: u32, pixels: f64| pixels * (1.0 - (std::f64::consts::FRAC_PI_4 / f64::from(pieces)).cos());
        let exact = sagitta(near, 500.0 / 26f64.sqrt());
        assert!((0.05..=0.105).contains(&exact), "{exact}");
        assert_eq!(metric.rate(&circle(1e-3, 5.0)), 6);
    }

    #[test]
    fn halved_rates_are_half_as_high_down_to_one() {
        let metric = Metric::for_camera(DMat4::IDENTITY, 500.0, true, 0.1);
        let rate = |halvings: u32| metric.halved(halvings).rate(&circle(1.0, 5.0));
        assert!((1..=MAX_HALVINGS).all(|n| rate(n) == rate(n - 1).div_ceil(2)));
        let finest = Metric::for_any_size(1e9, 0.1).halved(MAX_HALVINGS);
        assert_eq!((finest.rate(&circle(1e30, 1.0)), finest.edge_rate(&circle(1e30, 1.0))), (1, 1));
    }

    #[test]
    fn a_curve_is_cut_alike_from_either_end() {
        let metric = Metric::for_any_size(120.0, 0.1);
        let mut curve = circle(3.0, 0.0);
        curve[7] += DVec3::splat(0.3);
        let forward = metric.rate(&curve);
        curve.reverse();
        assert_eq!(forward, metric.rate(&curve));
    }

    #[test]
    fn lines_points_and_nonsense_are_one_piece() {
        let metric = Metric::for_camera(DMat4::IDENTITY, 500.0, true, 0.1);
        assert_eq!(metric.rate(&std::array::from_fn(|i| DVec3::new(i as f64, 1.0, 2.0))), 1);
        assert_eq!(metric.rate(&[DVec3::ONE; SAMPLES]), 1);
        assert_eq!(metric.rate(&[DVec3::NAN; SAMPLES]), 1);
        assert_eq!(Metric::for_any_size(1e9, 0.1).rate(&circle(1e30, 1.0)), MAX_RATE);
    }
}
