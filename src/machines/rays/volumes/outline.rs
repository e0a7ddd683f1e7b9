//! The outline that structures know of a primitive: a convex body around all of its hits.

use glam::{DVec3, Vec3};

/// Axes on which a body and a box may be apart: three of the box, and those of the body.
pub const AXES: usize = 16;

/// A convex body around a primitive.
pub trait Outline {
    /// The corners; some may coincide.
    fn corners(&self) -> &[Vec3];

    /// The largest of its faces: corners in order around it.
    fn face(&self) -> [Vec3; 4];

    /// The edges, one of each direction, and after them the normals of the faces, so that
    /// [`Shape`](super::Shape) finds the axes on which it may be apart from a box. At most 4 edges
    /// and `AXES − 3·(edges + 1)` normals.
    fn directions(&self) -> ([DVec3; 4], usize, [DVec3; 3], usize);
}

/// A planar convex quadrilateral, with corners in order around it.
impl Outline for [Vec3; 4] {
    fn corners(&self) -> &[Vec3] {
        self
    }

    fn face(&self) -> [Vec3; 4] {
        *self
    }

    fn directions(&self) -> ([DVec3; 4], usize, [DVec3; 3], usize) {
        let [a, b, c, d] = self.map(|corner| corner.as_dvec3());
        let normal = (c - a).cross(d - b);
        ([b - a, c - b, d - c, a - d], 4, [normal; 3], 1)
    }
}

/// The body around any primitive of a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Extent {
    /// A polygon is its own, with corners in order around it.
    Polygon([Vec3; 4]),
    /// The parallelepiped around a surface. Bit `k` of a corner's number says on which of the two
    /// sides of axis `k` it is.
    Solid(Box<[Vec3; 8]>),
}

impl Outline for Extent {
    fn corners(&self) -> &[Vec3] {
        match self {
            Extent::Polygon(corners) => corners,
            Extent::Solid(corners) => &**corners,
        }
    }

    fn face(&self) -> [Vec3; 4] {
        match self {
            Extent::Polygon(corners) => *corners,
            Extent::Solid(p) => {
                let area = |[a, b, c, _]: [Vec3; 4]| (b - a).cross(c - b).length_squared();
                let faces = [[p[0], p[1], p[3], p[2]], [p[0], p[2], p[6], p[4]], [p[0], p[4], p[5], p[1]]];
                faces.into_iter().fold(faces[0], |best, face| if area(face) > area(best) { face } else { best })
            }
        }
    }

    fn directions(&self) -> ([DVec3; 4], usize, [DVec3; 3], usize) {
        match self {
            Extent::Polygon(corners) => corners.directions(),
            Extent::Solid(p) => {
                let [x, y, z] = [1, 2, 4].map(|k: usize| p[k].as_dvec3() - p[0].as_dvec3());
                ([x, y, z, DVec3::ZERO], 3, [x.cross(y), y.cross(z), z.cross(x)], 3)
            }
        }
    }
}
