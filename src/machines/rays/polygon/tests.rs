use super::*;
use shadewright_base::random::{hash, unit};

/// Random numbers in `[0, 1)`.
pub(crate) struct Random(pub u32);

impl Random {
    pub fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9);
        unit(hash(self.0))
    }

    pub fn point(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0
    }

    /// A direction, by rejection.
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let point = self.point();
            if point.length() > 0.1 && point.length() < 1.0 {
                return point.normalize();
            }
        }
    }

    /// Four points of a plane, in the order of a convex quadrilateral within a cube of edge 5:
    /// sines of its angles are at least 0.15, edges at least 0.2 long.
    pub fn quad(&mut self) -> [Vec3; 4] {
        loop {
            let normal = self.direction();
            let (x, y) = normal.any_orthonormal_pair();
            let center = self.point();
            let corners = [0; 4].map(|_| center + x * (self.unit() * 2.0 - 1.0) + y * (self.unit() * 2.0 - 1.0));
            let edges = [0, 1, 2, 3].map(|i| corners[(i + 1) % 4] - corners[i]);
            let turns = [0, 1, 2, 3].map(|i| edges[i].normalize().cross(edges[(i + 1) % 4].normalize()).dot(normal));
            let convex = turns.iter().all(|&turn| turn > 0.15) || turns.iter().all(|&turn| turn < -0.15);
            if convex && edges.iter().all(|edge| edge.length() > 0.2) {
                return corners;
            }
        }
    }
}

/// The coordinate's equation evaluated in double precision.
fn evaluate(equation: &Coordinate, p: Vec3) -> Vec<f64> {
    let p = p.as_dvec3();
    let plane = |n: [f32; 3], d: f32| DVec3::from_array(n.map(f64::from)).dot(p) + f64::from(d);
    let (b, c) = (plane(equation.n, equation.d1), plane(equation.m, equation.d0));
    match equation.case {
        Case::Parallel => vec![-c / b],
        Case::Quadratic => vec![-b - (b * b - c).sqrt(), -b + (b * b - c).sqrt()],
    }
}

/// Points of a grid on the unit square, its edges included.
fn grid() -> impl Iterator<Item = [f32; 2]> {
    (0..25).map(|i| [(i % 5) as f32 / 4.0, (i / 5) as f32 / 4.0])
}

fn assert_inverts(polygon: &Polygon, corners: [Vec3; 4], tolerance: f64) {
    for [u, v] in grid() {
        let p = bilinear(corners, [u, v]);
        let nearest = |equation: &Coordinate, x: f32| {
            evaluate(equation, p).into_iter().map(|root| (root - f64::from(x)).abs()).fold(f64::INFINITY, f64::min)
        };
        let (off_u, off_v) = (nearest(&polygon.u, u), nearest(&polygon.v, v));
        assert!(off_u < tolerance && off_v < tolerance, "({u}, {v}): {off_u:e}, {off_v:e}\n{corners:?}\n{polygon:?}");
    }
}

const SQUARE: [Vec3; 4] = [Vec3::ZERO, Vec3::new(1.0, 0.0, 0.0), Vec3::new(1.0, 1.0, 0.0), Vec3::new(0.0, 1.0, 0.0)];

#[test]
fn a_square_has_the_words_that_it_should() {
    let polygon = Polygon::from_quad(SQUARE, Sides::Two).unwrap();
    assert_eq!((polygon.n_p, polygon.d_p), ([0.0, 0.0, 1.0], 0.0));
    let u = Coordinate { case: Case::Parallel, n: [0.0; 3], d1: -1.0, m: [1.0, 0.0, 0.0], d0: 0.0 };
    assert_eq!(polygon.u, u);
    assert_eq!((polygon.v.d1.abs(), polygon.v.m.map(f32::abs)), (1.0, [0.0, 1.0, 0.0]));
    assert_eq!(polygon.words().len(), 20);
    assert_eq!(polygon.words()[8..11], polygon.u.m);
    assert_eq!(polygon.words()[19], polygon.v.d0);
}

#[test]
fn the_equations_invert_bilinear_interpolation_at_every_size() {
    let mut random = Random(1);
    let mut accepted = 0;
    while accepted < 20_000 {
        let quad = random.quad();
        for size in [0.001, 1.0, 1000.0] {
            let corners = quad.map(|corner| corner * size);
            let Ok(polygon) = Polygon::from_quad_for(Unit::Ieee, corners, Sides::Two) else { break };
            let quotient = polygon.u.case == Case::Parallel || polygon.v.case == Case::Parallel;
            assert_inverts(&polygon, corners, if quotient { 2.3e-4 } else { 1e-5 });
            accepted += 1;
        }
    }
}

#[test]
fn exactly_one_root_is_on_the_polygon() {
    let mut random = Random(2);
    let mut tested = 0;
    while tested < 20_000 {
        let corners = random.quad();
        let Ok(polygon) = Polygon::from_quad(corners, Sides::Two) else { continue };
        for _ in 0..4 {
            let p = bilinear(corners, [0.01 + 0.98 * random.unit(), 0.01 + 0.98 * random.unit()]);
            for equation in [&polygon.u, &polygon.v] {
                let inside = |root: &f64| (0.0..=1.0).contains(root);
                assert_eq!(evaluate(equation, p).iter().filter(|root| inside(root)).count(), 1, "{corners:?}");
            }
        }
        tested += 1;
    }
}

/// With `n_a/2d_u1` in place of `n_a/2d_u2`, as the list of words is printed in §2.3.2.
#[test]
fn the_printed_word_with_the_linear_term_in_the_denominator_fails() {
    let mut random = Random(3);
    let (mut tested, mut wrong) = (0, 0);
    while tested < 1000 {
        let corners = random.quad();
        let Ok(polygon) = Polygon::from_quad(corners, Sides::Two) else { continue };
        if polygon.u.case != Case::Quadratic {
            continue;
        }
        // d1 is d_u1/2d_u2, so n_a/2d_u1 is n/2·d1.
        let printed = Coordinate { n: polygon.u.n.map(|x| x / (2.0 * polygon.u.d1)), ..polygon.u };
        let u = 0.25 + 0.5 * random.unit();
        let p = bilinear(corners, [u, 0.25 + 0.5 * random.unit()]);
        let right = |equation: &Coordinate| evaluate(equation, p).iter().any(|x| (x - f64::from(u)).abs() < 1e-3);
        assert!(right(&polygon.u));
        wrong += usize::from(!right(&printed));
        tested += 1;
    }
    assert!(wrong > 990, "{wrong} of {tested}");
}

#[test]
fn the_quotient_is_that_of_the_thesis_where_the_edges_of_constant_v_are_parallel() {
    let corners = [Vec3::ZERO, Vec3::new(4.0, 0.0, 0.0), Vec3::new(3.0, 1.0, 0.0), Vec3::new(1.0, 1.0, 0.0)];
    let polygon = Polygon::from_quad(corners, Sides::Two).unwrap();
    assert_eq!(polygon.u.case, Case::Parallel);
    let [p00, p10, p11, p01] = corners;
    let (p_a, p_b, p_c, n_p) = (p00 - p01 + p11 - p10, p10 - p00, p01 - p00, Vec3::Z);
    let (n_a, n_c) = (p_a.cross(n_p), p_c.cross(n_p));
    let (d_1, d_0) = (-(n_a.dot(p00) + n_c.dot(p_b)), -n_c.dot(p00));
    for [u, v] in grid() {
        let p = bilinear(corners, [u, v]);
        let thesis = -(n_c.dot(p) + d_0) / (n_a.dot(p) + d_1);
        assert!((thesis - u).abs() < 1e-6);
        assert!((evaluate(&polygon.u, p)[0] as f32 - thesis).abs() < 1e-6);
    }
    // The edges of constant u are not, but v grows linearly.
    assert_eq!(polygon.v.case, Case::Parallel);
    assert!(polygon.v.n.iter().all(|x| x.abs() < 1e-6));
    assert_inverts(&polygon, corners, 1e-6);
}

#[test]
fn a_slight_taper_needs_no_root() {
    // A patch of a sphere of 400 by 200: both roots for v would be 100 apart and more.
    let corners =
        [Vec3::new(-1.0, 0.0, 3.0), Vec3::new(1.0, 0.0, 3.0), Vec3::new(0.99, 1.0, 2.9), Vec3::new(-0.99, 1.0, 2.9)];
    let polygon = Polygon::from_quad(corners, Sides::Two).unwrap();
    assert_eq!((polygon.u.case, polygon.v.case), (Case::Parallel, Case::Parallel));
    assert_inverts(&polygon, corners, 1e-5);
}

#[test]
fn quadrilaterals_that_the_hardware_cannot_hold_are_errors() {
    let [a, b, c, d] = SQUARE;
    let of = |corners| Polygon::from_quad(corners, Sides::Two);
    assert_eq!(of([a, b, b, a]), Err(PolygonError::Degenerate));
    assert_eq!(of([a, b, c, c]), Err(PolygonError::Degenerate));
    assert_eq!(of([a, (a + b) / 2.0, b, b * 0.75]), Err(PolygonError::Degenerate));
    assert_eq!(of([a, b, Vec3::NAN, d]), Err(PolygonError::Degenerate));
    assert_eq!(of([a, b, Vec3::INFINITY, d]), Err(PolygonError::Degenerate));
    assert_eq!(of(SQUARE.map(|corner| corner * 1e-39)), Err(PolygonError::Degenerate));
    assert_eq!(of([a, b, c + Vec3::Z * 0.01, d]), Err(PolygonError::NotPlanar));
    assert_eq!(of([a, b, Vec3::new(0.3, 0.3, 0.0), d]), Err(PolygonError::Concave));
    assert_eq!(of([a, c, b, d]), Err(PolygonError::Degenerate));
    assert_eq!(of([a, c, b, d * 2.0]), Err(PolygonError::Concave));
    // A root of 12 bits is not precise enough; one of 24 bits is.
    let nearly = [a, b, Vec3::new(0.9, 0.85, 0.0), d];
    assert_eq!(of(nearly), Err(PolygonError::NearlyParallel));
    let polygon = Polygon::from_quad_for(Unit::Custom, nearly, Sides::Two).unwrap();
    assert_inverts(&polygon, nearly, 1e-5);
}

#[test]
fn every_triangle_is_a_quadrilateral_whose_first_edge_is_a_point() {
    let mut random = Random(4);
    for _ in 0..5000 {
        let triangle = [random.point(), random.point(), random.point()];
        let corners = TriangleCorners::new(triangle);
        let [b, c, a, apex] = corners.corners;
        assert_eq!(corners.rotated(triangle), [a, b, c]);
        assert_eq!(apex, b);
        assert!(a.distance(c) >= a.distance(b).max(b.distance(c)));
        let [p, q, r] = triangle;
        assert!((c - b).cross(a - b).dot((q - p).cross(r - p)) > 0.0, "the orientation");
        let Ok(polygon) = Polygon::from_triangle(triangle, Sides::One) else { continue };
        assert!(polygon.one_sided);
        for [u, v] in grid() {
            let [x, y, z] = corners.barycentric(u, v);
            let p = p * x + q * y + r * z;
            assert!((bilinear(corners.corners, [u, v]) - p).length() < 1e-6);
        }
    }
}

#[test]
fn equations_of_triangles_invert_interpolation_without_roots() {
    let mut random = Random(5);
    for _ in 0..5000 {
        let triangle = [random.point(), random.point(), random.point()];
        if (triangle[1] - triangle[0]).cross(triangle[2] - triangle[0]).length() < 0.1 {
            continue;
        }
        let polygon = Polygon::from_triangle(triangle, Sides::Two).unwrap();
        assert_eq!([polygon.u.case, polygon.v.case], [Case::Parallel; 2]);
        let corners = TriangleCorners::new(triangle).corners;
        for _ in 0..10 {
            // Where the lines of constant v meet, v is worth less.
            let [u, v] = [0.02 + 0.98 * random.unit(), random.unit()];
            let p = bilinear(corners, [u, v]);
            for (equation, x) in [(&polygon.u, u), (&polygon.v, v)] {
                let values = evaluate(equation, p);
                assert!(values.iter().all(|value| (value - f64::from(x)).abs() < 1e-3), "{x} {values:?}");
            }
        }
    }
}

#[test]
fn a_quadrilateral_with_a_straight_corner_is_an_error() {
    let [a, b, c] = [Vec3::ZERO, Vec3::X, Vec3::Y];
    assert_eq!(Polygon::from_quad([b, c, a, (a + b) / 2.0], Sides::Two), Err(PolygonError::Concave));
    assert_eq!(Polygon::from_quad([b, c, a, (a + b) / 2.0 - c * 0.001], Sides::Two), Err(PolygonError::Concave));
}

#[test]
fn degenerate_triangles_are_errors() {
    let of = |corners| Polygon::from_triangle(corners, Sides::Two);
    assert_eq!(of([Vec3::ZERO, Vec3::X, Vec3::X * 2.0]), Err(PolygonError::Degenerate));
    assert_eq!(of([Vec3::ZERO; 3]), Err(PolygonError::Degenerate));
}

#[test]
fn words_are_the_best_at_the_polygon_not_at_the_origin() {
    // At a distance of 1000 sizes, equations with each coefficient rounded by itself are off by
    // 10^−4.
    let offset = Vec3::new(700.0, -600.0, 300.0);
    let mut random = Random(6);
    let mut worst = 0.0f64;
    for _ in 0..2000 {
        let corners = random.quad().map(|corner| corner + offset);
        let Ok(polygon) = Polygon::from_quad(corners, Sides::Two) else { continue };
        let normal = DVec3::from_array(polygon.n_p.map(f64::from));
        for corner in corners {
            worst = worst.max((normal.dot(corner.as_dvec3()) + f64::from(polygon.d_p)).abs());
        }
    }
    // Half a unit in the last place of 1000, and what rounded the corners out of their plane.
    assert!(worst < 1e-4, "{worst}");
}

#[test]
fn normals_are_interpolated_like_corners() {
    let mut random = Random(7);
    let normals = [0; 4].map(|_| random.direction());
    let patch = NormalPatch::from_corners(normals);
    for [u, v] in grid() {
        assert!((patch.at(u, v) - bilinear(normals, [u, v])).length() < 1e-6);
    }
    assert_eq!(patch.at(0.0, 0.0), normals[0]);
}
