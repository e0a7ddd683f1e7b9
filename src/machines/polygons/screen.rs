//! Polygons in screen space: transformed, clipped to the visible volume and divided by `w` (§3.1), as
//! a host sends them to hardware that does not transform.

use super::model::{Model, Polygon, View};
use glam::{DVec3, DVec4, Vec3};

/// A vertex on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
    /// x and y from −1 to 1 (right and up), and the depth z from 0 to 1.
    pub position: DVec3,
    /// Linear red, green and blue.
    pub color: DVec3,
}

/// A convex polygon on the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct ScreenPolygon {
    /// 3 to 10 vertices in order around it: clockwise or not, as the polygon is seen.
    pub vertices: Vec<Vertex>,
    /// Index of the polygon in the model.
    pub source: u32,
}

/// The planes that bound the visible volume: their products with `[x y z w]` are not negative inside.
const PLANES: [[f64; 4]; 6] = [
    [1.0, 0.0, 0.0, 1.0],
    [-1.0, 0.0, 0.0, 1.0],
    [0.0, 1.0, 0.0, 1.0],
    [0.0, -1.0, 0.0, 1.0],
    [0.0, 0.0, 1.0, 0.0],
    [0.0, 0.0, -1.0, 1.0],
];

/// The polygons of a model that are in the visible volume, in its order, with the colors that
/// `color` gives for a polygon's corner.
pub fn screen_polygons(model: &Model, color: impl Fn(&Polygon, usize) -> Vec3) -> Vec<ScreenPolygon> {
    let numbered = (0..).zip(&model.polygons);
    let clip = |(source, polygon): (u32, &Polygon)| {
        let vertices = clipped(&model.view, polygon, &color);
        (vertices.len() >= 3).then_some(ScreenPolygon { vertices, source })
    };
    numbered.filter_map(clip).collect()
}

/// A polygon's vertices within the visible volume; fewer than 3 where nothing of it is.
fn clipped(view: &View, polygon: &Polygon, color: &impl Fn(&Polygon, usize) -> Vec3) -> Vec<Vertex> {
    let place = |(number, &corner): (usize, &Vec3)| {
        (view.to_clip.as_dmat4() * corner.as_dvec3().extend(1.0), color(polygon, number).as_dvec3())
    };
    let mut vertices: Vec<(DVec4, DVec3)> = polygon.corners().iter().enumerate().map(place).collect();
    for plane in PLANES.map(DVec4::from) {
        let around = vertices.iter().zip(vertices.iter().cycle().skip(1));
        let mut kept = Vec::with_capacity(vertices.len() + 2);
        for (from, to) in around {
            let [inside, next] = [plane.dot(from.0), plane.dot(to.0)];
            if inside >= 0.0 {
                kept.push(*from);
            }
            if (inside >= 0.0) != (next >= 0.0) {
                let t = inside / (inside - next);
                kept.push((from.0.lerp(to.0, t), from.1.lerp(to.1, t)));
            }
        }
        vertices = kept;
    }
    let divided = vertices.into_iter().filter(|(position, _)| position.w > 0.0);
    divided.map(|(position, color)| Vertex { position: position.truncate() / position.w, color }).collect()
}

/// The part of a line within the visible volume, in screen coordinates; an end that is visible has the
/// position that the same corner of a polygon has.
pub fn screen_line(view: &View, ends: [DVec3; 2]) -> Option<[DVec3; 2]> {
    let [from, to] = ends.map(|end| view.to_clip.as_dmat4() * end.extend(1.0));
    let (mut first, mut last) = (0.0f64, 1.0f64);
    for plane in PLANES.map(DVec4::from) {
        let [start, end] = [plane.dot(from), plane.dot(to)];
        match (start >= 0.0, end >= 0.0) {
            (true, true) => {}
            (false, false) => return None,
            (false, true) => first = first.max(start / (start - end)),
            (true, false) => last = last.min(start / (start - end)),
        }
    }
    if first > last {
        return None;
    }
    let at = |t: f64| match t {
        0.0 => from,
        1.0 => to,
        t => from.lerp(to, t),
    };
    let [from, to] = [at(first), at(last)];
    (from.w > 0.0 && to.w > 0.0).then(|| [from.truncate() / from.w, to.truncate() / to.w])
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Mat4;

    /// A model of one triangle, seen from the origin along z with a right angle, from 1 to 9 away.
    fn model(corners: [[f32; 3]; 3]) -> Model {
        let [a, b, c] = corners.map(Vec3::from);
        let polygon = Polygon {
            corners: [a, b, c, c],
            count: 3,
            normals: [Vec3::NEG_Z; 4],
            reflectance: Vec3::ONE,
            colors: [Vec3::X, Vec3::Y, Vec3::Z, Vec3::Z],
            object: 0,
        };
        let (near, far) = (1.0, 9.0);
        let scale = far / (far - near);
        let to_clip = Mat4::from_cols_array_2d(&[
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, scale, 1.0],
            [0.0, 0.0, -near * scale, 0.0],
        ]);
        let view = View { to_clip, eye: Vec3::ZERO, size: [16, 16] };
        Model {
            polygons: vec![polygon],
            ambient: Vec3::ZERO,
            lights: Vec::new(),
            view,
            background: Vec3::ZERO,
            left_out: Vec::new(),
        }
    }

    #[test]
    fn what_is_inside_is_kept_whole_and_divided() {
        let polygons =
            screen_polygons(&model([[-1.0, 0.0, 2.0], [1.0, 0.0, 2.0], [0.0, 1.0, 2.0]]), |p, k| p.colors[k]);
        let vertices = &polygons[0].vertices;
        assert_eq!(vertices.len(), 3);
        assert!((vertices[0].position - DVec3::new(-0.5, 0.0, 9.0 / 16.0)).length() < 1e-6);
        assert_eq!(vertices[1].color, DVec3::Y);
    }

    #[test]
    fn a_vertex_behind_the_eye_is_cut_off_before_the_division() {
        let polygons =
            screen_polygons(&model([[-1.0, 0.0, 2.0], [1.0, 0.0, 2.0], [0.0, 0.0, -2.0]]), |p, k| p.colors[k]);
        let vertices = &polygons[0].vertices;
        assert_eq!(vertices.len(), 4);
        let near = vertices.iter().filter(|v| v.position.z.abs() < 1e-9).count();
        assert_eq!(near, 2);
        // At depth 1 the sides are a quarter of the way from the front to the back.
        assert!(vertices.iter().all(|v| v.position.x.abs() <= 0.75 + 1e-6), "{vertices:?}");
    }

    #[test]
    fn a_line_is_cut_where_it_leaves_the_volume() {
        let view = model([[0.0; 3]; 3]).view;
        let line = |ends: [[f64; 3]; 2]| screen_line(&view, ends.map(DVec3::from));
        let [from, to] = line([[0.0, 0.0, 2.0], [4.0, 0.0, 2.0]]).expect("half of it is visible");
        assert!((from - DVec3::new(0.0, 0.0, 9.0 / 16.0)).length() < 1e-6);
        assert!((to - DVec3::new(1.0, 0.0, 9.0 / 16.0)).length() < 1e-6);
        let [near, _] = line([[0.0, 0.0, -2.0], [0.0, 0.0, 3.0]]).expect("it begins behind the eye");
        assert!(near.z.abs() < 1e-6, "{near}");
        assert_eq!(line([[5.0, 0.0, 2.0], [0.0, 5.0, 2.0]]), None);
        assert_eq!(line([[3.0, 0.0, 2.0], [4.0, 0.0, 2.0]]), None);
    }

    #[test]
    fn what_is_outside_is_left_out() {
        let away = |x: f32| model([[x - 1.0, 0.0, 2.0], [x + 1.0, 0.0, 2.0], [x, 1.0, 2.0]]);
        assert_eq!(screen_polygons(&away(0.0), |p, k| p.colors[k]).len(), 1);
        assert_eq!(screen_polygons(&away(4.0), |p, k| p.colors[k]).len(), 0);
    }
}
