//! The primitive of the hardware: a planar convex quadrilateral in the 20 words that the
//! intersector reads (Ullner 1983, §2.2, §2.3.2).
//!
//! Corners come in order around the quadrilateral, `[p₀₀, p₁₀, p₁₁, p₀₁]`: the corners of the unit
//! square at `(u, v)` = (0, 0), (1, 0), (1, 1), (0, 1). In between, `p(u, v)` is [bilinear]. The
//! host inverts that function: it computes the coefficients of two equations, for `u` and for `v`,
//! in double precision and rounds each once.

use glam::{DVec3, Vec3};

use super::arithmetic::{Unit, flushed};

/// Words of a polygon: 5 vectors and 5 scalars, one from each of the peripheral's 20 memories.
pub const WORDS: usize = 20;

/// A planar convex quadrilateral.
///
/// The plane is `n_p·p + d_p = 0` with a unit normal `n_p`, so that `n_p·(r₀ − r₁)` and the
/// distance of `r₀` from the plane have the size of the scene, whatever that of the polygon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polygon {
    /// The plane's normal, of length 1, in the direction of `(p₁₀ − p₀₀) × (p₀₁ − p₀₀)`.
    pub n_p: [f32; 3],
    /// The plane's offset.
    pub d_p: f32,
    /// The equation for `u`.
    pub u: Coordinate,
    /// The equation for `v`.
    pub v: Coordinate,
    /// Hits where `n_p·(r₀ − r₁) ≤ 0` do not count. One bit beside the words, not in the thesis
    /// (RenderMan Interface 3.2.1, `Sides 1`).
    pub one_sided: bool,
}

/// The equation for one coordinate of a point `p` on a polygon (Ullner 1983, fig. 2-12), with
/// `B = n·p + d1` and `C = m·p + d0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinate {
    /// The applicable branch. A validity bit that the host presets, not a word.
    pub case: Case,
    /// `n_a`, or `n_a/2d₂`.
    pub n: [f32; 3],
    /// `d₁`, or `d₁/2d₂`.
    pub d1: f32,
    /// `n_c` for `u` and `n_b` for `v`, or that divided by `d₂`.
    pub m: [f32; 3],
    /// `d₀`, or `d₀/d₂`.
    pub d0: f32,
}

/// The two branches of the equation for a coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// `−C/B`. For `u`, where the edges `v = 0` and `v = 1` are parallel, as in the thesis, and
    /// also where the edges `u = 0` and `u = 1` are: there one solution of the quadratic equation
    /// is constant, and a quotient is good to 12 bits where a root of 12 bits need not be.
    Parallel,
    /// `−B ± √(B² − C)`, of which one lies in `[0, 1]` if `p` is inside.
    Quadratic,
}

/// The sides of a polygon that rays hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// The one that `n_p` points to.
    One,
    /// Both.
    Two,
}

/// Why a quadrilateral is not a polygon of the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolygonError {
    /// No area, corners that coincide, or sizes beyond the exponents' range.
    #[error("the polygon has no area")]
    Degenerate,
    /// The corners are not in a plane.
    #[error("the corners are not in a plane: split the quadrilateral into triangles")]
    NotPlanar,
    /// The edges do not turn the same way at each corner, or hardly turn.
    #[error("the quadrilateral is not strictly convex: split it into triangles")]
    Concave,
    /// Opposite edges are so nearly parallel that a root is not precise enough.
    #[error("opposite edges are nearly, but not quite, parallel: split the quadrilateral into triangles")]
    NearlyParallel,
}

/// Least length of an edge in diameters, and twice the least area in squares of the diameter.
const SLENDER: f64 = 1.0 / 1_048_576.0;

/// Tolerated distance of a corner from the plane, in diameters.
const FLATNESS: f64 = 1.0 / 16384.0;

/// The same in units of the largest coordinate: what rounding the corners to 24 bits can do.
const ROUNDING: f64 = 1.0 / 4_194_304.0;

/// Tolerated error of a coordinate: a little less than the intersector's margin.
const TOLERANCE: f64 = 15.0 / 65536.0;

/// Relative error of a root of 12 bits.
const COMMERCIAL_ROOT: f64 = 0.625 / 4096.0;

/// Relative error of a root of 24 bits, whose operand is a difference of products with as many.
const FULL_ROOT: f64 = 1.0 / 4_194_304.0;

/// The sine of the angle by which edges turn at a corner that counts as straight. There `B² − C` is
/// zero, and rounding would move its root by more than the intersector's margin.
const STRAIGHT: f64 = 1.0 / 64.0;

impl Polygon {
    /// The quadrilateral with those corners for hardware with roots of 12 bits
    /// ([`Unit::Commercial`]), which any other hardware can trace as well.
    ///
    /// # Errors
    ///
    /// If it is degenerate (two corners that coincide included), not planar within 2^−14 of its
    /// diameter, not convex, or if opposite edges are nearly parallel. The last happens to most
    /// quadrilaterals without parallel edges. The answer to all but the first is two
    /// [triangles](Self::from_triangle), though not with the same `u` and `v`.
    pub fn from_quad(corners: [Vec3; 4], sides: Sides) -> Result<Polygon, PolygonError> {
        Polygon::from_quad_for(Unit::Commercial, corners, sides)
    }

    /// The quadrilateral with those corners for hardware with that arithmetic.
    ///
    /// The error of a coordinate is that of the root, `√(B² − C)`, which is half the distance of
    /// the two solutions. They may be 3 apart if roots have 12 bits, 1920 if they have 24: precise
    /// enough for all but one in two thousand random quadrilaterals. Parallel edges, of which one
    /// solution is at infinity, need no root.
    ///
    /// # Errors
    ///
    /// As [`of_quad`](Self::from_quad).
    pub fn from_quad_for(unit: Unit, corners: [Vec3; 4], sides: Sides) -> Result<Polygon, PolygonError> {
        let root_error = match unit {
            Unit::Commercial => COMMERCIAL_ROOT,
            Unit::Custom | Unit::Ieee => FULL_ROOT,
        };
        polygon_from_corners(corners.map(Vec3::as_dvec3), sides, root_error)
    }

    /// A triangle as the quadrilateral with the corners of [`TriangleCorners`], without roots:
    /// `u` is a linear function, `v` a quotient.
    ///
    /// # Errors
    ///
    /// If the triangle is degenerate.
    pub fn from_triangle(corners: [Vec3; 3], sides: Sides) -> Result<Polygon, PolygonError> {
        let [a, b, c] = TriangleCorners::new(corners).rotated(corners).map(Vec3::as_dvec3);
        let (from, to) = (c - b, a - b);
        let normal = from.cross(to);
        let diameter = from.length().max(to.length()).max((a - c).length());
        // The comparison fails if a corner is not finite.
        let has_area = normal.length() > SLENDER * diameter * diameter;
        if !has_area {
            return Err(PolygonError::Degenerate);
        }
        let normal = normal.normalize();
        let center = (a + b + c) / 3.0;
        let (n_p, d_p) = rounded(normal, 0.0, center);
        // Distances from the apex along the height, and from the first of the two sides that meet
        // there, both in units of the longest side.
        let (height, aside) = ((a - c).cross(normal), from.cross(normal));
        let [whole, at_center] = [c, center].map(|p| height.dot(p - b));
        let (m, d0) = rounded(height / whole, at_center / whole, center);
        let u = Coordinate { case: Case::Parallel, n: [0.0; 3], d1: -1.0, m, d0 };
        let scale = 1.0 / at_center.abs();
        let (n, d1) = rounded(height * scale, at_center * scale, center);
        let (m, d0) = rounded(aside * scale, aside.dot(center - b) * scale, center);
        let v = Coordinate { case: Case::Parallel, n, d1, m, d0 };
        let polygon = Polygon { n_p, d_p, u, v, one_sided: sides == Sides::One };
        if polygon.words().iter().all(|word| word.is_finite()) { Ok(polygon) } else { Err(PolygonError::Degenerate) }
    }

    /// The words in the order of §2.3.2: `n_p`, `d_p`, then `n`, `d1`, `m`, `d0` for `u` and for
    /// `v`.
    pub fn words(&self) -> [f32; WORDS] {
        let mut words = [0.0; WORDS];
        words[..3].copy_from_slice(&self.n_p);
        words[3] = self.d_p;
        for (words, coordinate) in words[4..].chunks_exact_mut(8).zip([&self.u, &self.v]) {
            words[..3].copy_from_slice(&coordinate.n);
            words[3] = coordinate.d1;
            words[4..7].copy_from_slice(&coordinate.m);
            words[7] = coordinate.d0;
        }
        words
    }
}

/// A triangle's corners as those of a quadrilateral.
///
/// The triangle is rotated, which keeps its orientation, until its longest side runs from the third
/// corner to the first. The corner opposite that side, the apex, is two corners of the
/// quadrilateral: the sequence around is `[b, c, a, b]`. Lines of constant `u` are parallel to the
/// longest side, those of constant `v` meet in the apex, where `v` is not defined. A fourth corner on
/// a side would not do: on the line of a side with a straight corner two of the equations hold
/// everywhere, so that points far outside the triangle would count as hits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleCorners {
    /// In order around; the first and the last are the apex.
    pub corners: [Vec3; 4],
    /// Which of the triangle's corners is `a`, 0 to 2.
    pub first: usize,
}

impl TriangleCorners {
    /// The corners of a triangle. Of equally long sides, the one from the last corner to the first
    /// comes first, then the one from the first to the second.
    pub fn new(triangle: [Vec3; 3]) -> TriangleCorners {
        let length = |first: usize| triangle[first].distance_squared(triangle[(first + 2) % 3]);
        let first = if length(1) > length(0) { 1 } else { 0 };
        let first = if length(2) > length(first) { 2 } else { first };
        let [a, b, c] = [0, 1, 2].map(|i| triangle[(first + i) % 3]);
        TriangleCorners { corners: [b, c, a, b], first }
    }

    /// The triangle's values (or corners) in the order `a`, `b`, `c`.
    pub fn rotated<T: Copy>(&self, values: [T; 3]) -> [T; 3] {
        [0, 1, 2].map(|i| values[(self.first + i) % 3])
    }

    /// Barycentric coordinates of a point on the polygon, in the order of the triangle's corners.
    pub fn barycentric(&self, u: f32, v: f32) -> [f32; 3] {
        let rotated = [u * v, 1.0 - u, u * (1.0 - v)];
        [0, 1, 2].map(|i| rotated[(i + 3 - self.first) % 3])
    }
}

/// The normals of a polygon, interpolated between those of its corners (Ullner 1983, §2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalPatch {
    /// `n₀₀ − n₀₁ + n₁₁ − n₁₀`.
    pub n_a: Vec3,
    /// `n₁₀ − n₀₀`.
    pub n_b: Vec3,
    /// `n₀₁ − n₀₀`.
    pub n_c: Vec3,
    /// `n₀₀`.
    pub n_d: Vec3,
}

impl NormalPatch {
    /// From the normals of the corners, in the order of the corners: `[n₀₀, n₁₀, n₁₁, n₀₁]`.
    pub fn from_corners([n00, n10, n11, n01]: [Vec3; 4]) -> NormalPatch {
        NormalPatch { n_a: n00 - n01 + n11 - n10, n_b: n10 - n00, n_c: n01 - n00, n_d: n00 }
    }

    /// `n_a·uv + n_b·u + n_c·v + n_d`: the direction of the normal, of any length.
    pub fn at(&self, u: f32, v: f32) -> Vec3 {
        self.n_a * (u * v) + self.n_b * u + self.n_c * v + self.n_d
    }
}

/// `p(u, v)`: the corners, in order around, weighted bilinearly (Ullner 1983, §2.2).
pub fn bilinear([p00, p10, p11, p01]: [Vec3; 4], [u, v]: [f32; 2]) -> Vec3 {
    (p00 * (1.0 - u) + p10 * u) * (1.0 - v) + (p01 * (1.0 - u) + p11 * u) * v
}

/// The words of a quadrilateral for hardware with that relative error of roots.
fn polygon_from_corners(corners: [DVec3; 4], sides: Sides, root_error: f64) -> Result<Polygon, PolygonError> {
    let [p00, p10, p11, p01] = corners;
    let edges = [p10 - p00, p11 - p10, p01 - p11, p00 - p01];
    let diagonals = [p11 - p00, p01 - p10];
    let diameter = edges.iter().chain(&diagonals).map(|span| span.length()).fold(0.0, f64::max);
    let normal = diagonals[0].cross(diagonals[1]);
    // Both comparisons fail if a corner is not finite.
    let has_area = normal.length() > SLENDER * diameter * diameter;
    if !(has_area && edges.iter().all(|edge| edge.length() > SLENDER * diameter)) {
        return Err(PolygonError::Degenerate);
    }
    let normal = normal.normalize();
    let center = (p00 + p10 + p11 + p01) / 4.0;
    let largest = corners.iter().map(|corner| corner.abs().max_element()).fold(0.0, f64::max);
    let tolerance = FLATNESS * diameter + ROUNDING * largest;
    if corners.iter().any(|corner| (corner - center).dot(normal).abs() > tolerance) {
        return Err(PolygonError::NotPlanar);
    }
    let turns = |a: DVec3, b: DVec3| a.cross(b).dot(normal) > STRAIGHT * a.length() * b.length();
    if !(0..4).all(|i| turns(edges[i], edges[(i + 1) % 4])) {
        return Err(PolygonError::Concave);
    }
    let (n_p, d_p) = rounded(normal, 0.0, center);
    let polygon = Polygon {
        n_p,
        d_p,
        u: coordinate([p00, p10, p11, p01], normal, root_error)?,
        // The equation for v is that for u of the reflected polygon.
        v: coordinate([p00, p01, p11, p10], normal, root_error)?,
        one_sided: sides == Sides::One,
    };
    if polygon.words().iter().all(|word| word.is_finite()) { Ok(polygon) } else { Err(PolygonError::Degenerate) }
}

/// The equation for the `u` of a quadrilateral (Ullner 1983, §2.2).
fn coordinate(corners: [DVec3; 4], n_p: DVec3, root_error: f64) -> Result<Coordinate, PolygonError> {
    let center = corners.iter().sum::<DVec3>() / 4.0;
    let [p00, p10, p11, p01] = corners.map(|corner| corner - center);
    // Distances from the edges u = 0 and u = 1 in units of the edges' lengths; positive inside.
    let n_0 = (p01 - p00).cross(n_p);
    let n_1 = (p10 - p11).cross(n_p);
    let from_0 = |p: DVec3| n_0.dot(p - p00);
    let from_1 = |p: DVec3| n_1.dot(p - p10);
    // Along the edges v = 0 and v = 1, and along the line between them, these distances grow with u
    // and 1 − u. If they do so at the same ratio for every v, u is from_0/(from_0 + ratio·from_1):
    // where the lines of constant u meet in a point, or are parallel. Otherwise that is off by half
    // of this:
    let ratio = (from_0(p10) + from_0(p11)) / (from_1(p00) + from_1(p01));
    let deviation = |from_0: f64, from_1: f64| ((from_0 - ratio * from_1) / (from_0 + ratio * from_1)).abs();
    let quotient_error = deviation(from_0(p10), from_1(p00)).max(deviation(from_0(p11), from_1(p01))) / 2.0;

    let (p_a, p_b) = (p00 - p01 + p11 - p10, p10 - p00);
    let (n_a, n_c) = (p_a.cross(n_p), n_0);
    let d_2 = -n_a.dot(p_b);
    let d_1 = -(n_a.dot(p00) + n_c.dot(p_b));
    let d_0 = -n_c.dot(p00);
    // Half the distance of the two solutions, √(B² − C), is that of one from −B. As B² − C is
    // convex, it is greatest at a corner.
    let half = |p: DVec3, u: f64| (u + (n_a.dot(p) + d_1) / (2.0 * d_2)).abs();
    let halves = [half(p00, 0.0), half(p10, 1.0), half(p11, 1.0), half(p01, 0.0)];
    let root_error = root_error * halves.into_iter().fold(0.0, f64::max);

    if quotient_error.min(root_error) > TOLERANCE {
        return Err(PolygonError::NearlyParallel);
    }
    if quotient_error <= root_error {
        let denominator = -(from_0(DVec3::ZERO) + ratio * from_1(DVec3::ZERO));
        let scale = 1.0 / denominator.abs();
        let (n, d1) = rounded(-(n_0 + ratio * n_1) * scale, denominator * scale, center);
        let (m, d0) = rounded(n_0 * scale, from_0(DVec3::ZERO) * scale, center);
        return Ok(Coordinate { case: Case::Parallel, n, d1, m, d0 });
    }
    let (n, m) = (n_a / (2.0 * d_2), n_c / d_2);
    let (n, d1) = rounded(n, d_1 / (2.0 * d_2), center);
    let (m, d0) = rounded(m, d_0 / d_2, center);
    Ok(Coordinate { case: Case::Quadratic, n, d1, m, d0 })
}

/// Words for the linear function with that gradient and that value at `center`. The rounded
/// function has the same value there to the last bit of the offset, so that rounding does not grow
/// with the distance of the polygon from the origin.
fn rounded(gradient: DVec3, value: f64, center: DVec3) -> ([f32; 3], f32) {
    let words = gradient.to_array().map(|x| flushed(x as f32));
    let offset = value - DVec3::from_array(words.map(f64::from)).dot(center);
    (words, flushed(offset as f32))
}

#[cfg(test)]
pub(super) mod tests;
