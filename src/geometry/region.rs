//! Triangles for what closed lines of the plane enclose: polygons with holes, and trimmed surfaces.
//!
//! Constrained Delaunay triangulation (the crate `spade`), of which the triangles are kept that an
//! odd number of lines goes around.

use glam::DVec2;
use spade::{ConstrainedDelaunayTriangulation, HasPosition, InsertionError, Point2, Triangulation};
use std::collections::{HashMap, VecDeque};

/// A point with its number.
struct Vertex {
    at: Point2<f64>,
    number: u32,
}

impl HasPosition for Vertex {
    type Scalar = f64;

    fn position(&self) -> Point2<f64> {
        self.at
    }
}

/// The triangles, counter-clockwise, over all `points` that lie within `loops`, each a list of
/// numbers of points, closed from its last to its first. Of points at one place the last stands for
/// all. A line that crosses an earlier one is left out. `None` where a coordinate is not finite.
pub fn triangulate(points: &[DVec2], loops: &[Vec<u32>]) -> Option<Vec<[u32; 3]>> {
    let mut cdt = ConstrainedDelaunayTriangulation::<Vertex>::new();
    let mut handles = Vec::with_capacity(points.len());
    for (number, p) in points.iter().enumerate() {
        // Numbers below what the crate takes are 0 to any polygon.
        let [x, y] = p.to_array().map(|c| if c.abs() < 1e-100 { 0.0 } else { c });
        let inserted: Result<_, InsertionError> = cdt.insert(Vertex { at: Point2::new(x, y), number: number as u32 });
        handles.push(inserted.ok()?);
    }
    let mut odd: HashMap<[usize; 2], bool> = HashMap::new();
    let key = |a: usize, b: usize| [a.min(b), a.max(b)];
    for line in loops {
        for (k, &from) in line.iter().enumerate() {
            let (from, to) = (handles[from as usize], handles[line[(k + 1) % line.len()] as usize]);
            if from == to {
                continue;
            }
            for edge in cdt.try_add_constraint(from, to) {
                let ends = cdt.directed_edge(edge).vertices().map(|v| v.index());
                *odd.entry(key(ends[0], ends[1])).or_insert(false) ^= true;
            }
        }
    }
    Some(enclosed(&cdt, |a, b| odd.get(&key(a, b)).copied().unwrap_or(false)))
}

/// The triangles on whose way to the outside an odd number of odd edges lies.
fn enclosed(cdt: &ConstrainedDelaunayTriangulation<Vertex>, is_odd: impl Fn(usize, usize) -> bool) -> Vec<[u32; 3]> {
    // True if a triangle is inside, once that is known.
    let mut inside: Vec<Option<bool>> = vec![None; cdt.num_all_faces()];
    let mut queue = VecDeque::from([cdt.outer_face().fix()]);
    inside[cdt.outer_face().index()] = Some(false);
    while let Some(face) = queue.pop_front() {
        let here = inside[face.index()].unwrap_or(false);
        let mut cross = |edge: spade::handles::DirectedEdgeHandle<'_, Vertex, (), spade::CdtEdge<()>, ()>| {
            let beyond = edge.rev().face();
            if inside[beyond.index()].is_none() {
                let ends = edge.vertices().map(|v| v.index());
                inside[beyond.index()] = Some(here ^ is_odd(ends[0], ends[1]));
                queue.push_back(beyond.fix());
            }
        };
        match cdt.face(face).as_inner() {
            Some(triangle) => triangle.adjacent_edges().into_iter().for_each(&mut cross),
            None => cdt.convex_hull().for_each(&mut cross),
        }
    }
    let kept = cdt.inner_faces().filter(|f| inside[f.index()] == Some(true));
    kept.map(|f| f.vertices().map(|v| v.data().number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(side: f64) -> [DVec2; 4] {
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| DVec2::new(x, y) * side)
    }

    fn area(points: &[DVec2], triangles: &[[u32; 3]]) -> f64 {
        let twice = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| points[i as usize]);
            (b - a).perp_dot(c - a)
        };
        assert!(triangles.iter().all(|t| twice(t) > 0.0));
        triangles.iter().map(twice).sum::<f64>() / 2.0
    }

    #[test]
    fn holes_and_islands_in_them_alternate() {
        let points: Vec<DVec2> = [3.0, 2.0, 1.0].into_iter().flat_map(square).collect();
        let outer = vec![0, 1, 2, 3];
        let loops = |n: usize| [outer.clone(), vec![4, 5, 6, 7], vec![11, 10, 9, 8]][..n].to_vec();
        for (n, expected) in [(1, 36.0), (2, 20.0), (3, 24.0)] {
            let triangles = triangulate(&points, &loops(n)).unwrap();
            assert_eq!(area(&points, &triangles), expected);
        }
    }

    #[test]
    fn holes_that_touch_the_rim_and_points_inside_are_no_trouble() {
        let mut points: Vec<DVec2> = square(1.0).to_vec();
        points.extend([DVec2::new(-1.0, 0.0), DVec2::new(0.0, -0.5), DVec2::new(0.0, 0.5), DVec2::new(0.5, 0.0)]);
        let triangles = triangulate(&points, &[vec![0, 1, 2, 3], vec![4, 5, 6]]).unwrap();
        assert_eq!(area(&points, &triangles), 3.5);
        assert!(triangles.iter().flatten().any(|&i| i == 7));
    }

    #[test]
    fn repeated_points_and_lines_that_cross_are_survived() {
        let points = [(0.0, 0.0), (2.0, 2.0), (2.0, 0.0), (0.0, 2.0), (0.0, 0.0), (1e-200, 0.0)];
        let points = points.map(|(x, y)| DVec2::new(x, y));
        assert!(triangulate(&points, &[vec![0, 1, 2, 3], vec![4, 5, 0], vec![3, 3], vec![]]).is_some());
        assert_eq!(triangulate(&[DVec2::NAN], &[]), None);
        assert_eq!(triangulate(&[], &[vec![]]), Some(vec![]));
    }
}
